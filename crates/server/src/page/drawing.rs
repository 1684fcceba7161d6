//! Pictures: boxes in columns, and lines between them from left to right. Everything in one is also said beside it.

use super::html::{Html, html, shortened};

const WIDTH: i32 = 200;
const HEIGHT: i32 = 48;
const BESIDE: i32 = 48;
const BELOW: i32 = 14;
const MARGIN: i32 = 8;
/// So many letters fit into a box.
const LETTERS: usize = 23;

/// A picture that is being made.
#[derive(Default)]
pub(crate) struct Picture {
    shapes: Vec<Shape>,
    lines: Vec<Line>,
}

/// A line from a box to another.
struct Line {
    from: usize,
    /// The columns that it goes through, and in which row of each.
    through: Vec<(usize, usize)>,
    to: usize,
    class: &'static str,
}

/// A box of a picture.
pub(crate) struct Shape {
    /// From the left.
    pub column: usize,
    /// From the top, in half boxes.
    pub row: usize,
    /// What it is like, for its looks.
    pub class: &'static str,
    pub title: String,
    pub detail: String,
    /// Where it leads.
    pub to: Option<String>,
}

/// So often boxes are put in order.
const SWEEPS: usize = 6;

/// In which row each box goes, in half boxes, so that few lines cross: every column is ordered by where those are that its
/// boxes are joined with, again and again, to the right and back. Columns with fewer boxes have more room between them.
pub(crate) fn rows(columns: &[Vec<usize>], lines: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = columns.to_vec();
    let tallest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let count = columns.iter().flatten().max().map_or(0, |last| last + 1);
    let mut joined = vec![Vec::new(); count];
    for &(from, to) in lines {
        joined[from].push(to);
        joined[to].push(from);
    }
    let mut rows = vec![0; count];
    let place = |column: &[usize], rows: &mut [usize]| {
        for (at, &shape) in column.iter().enumerate() {
            rows[shape] = (2 * at + 1) * tallest / column.len() - 1;
        }
    };
    for column in &columns {
        place(column, &mut rows);
    }
    for sweep in 0..SWEEPS {
        let mut order: Vec<usize> = (0..columns.len()).collect();
        if sweep % 2 == 1 {
            order.reverse();
        }
        for at in order {
            columns[at].sort_by_key(|&shape| match joined[shape].as_slice() {
                [] => 10 * rows[shape],
                others => {
                    let sum: usize = others.iter().map(|&other| rows[other]).sum();
                    10 * sum / others.len()
                }
            });
            place(&columns[at], &mut rows);
        }
    }
    rows
}

impl Picture {
    /// Adds a box, and says which it is.
    pub fn shape(&mut self, shape: Shape) -> usize {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }

    /// Adds a line between two boxes.
    pub fn line(&mut self, from: usize, to: usize, class: &'static str) {
        self.route(from, Vec::new(), to, class);
    }

    /// Adds a line between two boxes that goes through other columns in these rows, where no boxes are.
    pub fn route(
        &mut self,
        from: usize,
        through: Vec<(usize, usize)>,
        to: usize,
        class: &'static str,
    ) {
        let line = Line {
            from,
            through,
            to,
            class,
        };
        self.lines.push(line);
    }

    /// The picture under a name.
    pub fn drawn(&self, name: &str) -> Html {
        let shapes = self.shapes.iter().map(|shape| (shape.column, shape.row));
        let bends = self.lines.iter().flat_map(|line| &line.through);
        let spots = shapes.chain(bends.copied()).map(spot);
        let right = spots.clone().map(|(x, _)| x).max().unwrap_or(0);
        let bottom = spots.map(|(_, y)| y).max().unwrap_or(0);
        let (width, height) = (right + WIDTH + MARGIN, bottom + HEIGHT + MARGIN);
        let mut inside = Html::default();
        for line in &self.lines {
            inside.add(
                "<path class=\"line {}\" d=\"{}\"/>\n",
                &[&line.class, &self.way(line)],
            );
        }
        for shape in &self.shapes {
            inside.add("{}", &[&drawn(shape)]);
        }
        html(
            "<div class=\"canvas\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\
             <svg class=\"picture\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n{}</svg></div>\n",
            &[&name, &width, &height, &width, &height, &inside],
        )
    }

    /// From the right of a box to the left of the next, and level through the columns between.
    fn way(&self, line: &Line) -> String {
        let place = |at: usize| (self.shapes[at].column, self.shapes[at].row);
        let (x, y) = spot(place(line.from));
        let (mut x, mut y) = (x + WIDTH, y + HEIGHT / 2);
        let mut way = format!("M{x} {y}");
        let is_last = |at: usize| at == line.through.len();
        let through = line.through.iter().copied().chain([place(line.to)]);
        for (at, stop) in through.enumerate() {
            let (right, up) = spot(stop);
            let (up, middle) = (up + HEIGHT / 2, (x + right) / 2);
            way.push_str(&format!("C{middle} {y} {middle} {up} {right} {up}"));
            (x, y) = (right + WIDTH, up);
            if !is_last(at) {
                way.push_str(&format!("H{x}"));
            }
        }
        way
    }
}

fn spot((column, row): (usize, usize)) -> (i32, i32) {
    let (column, row) = (column as i32, row as i32);
    let x = MARGIN + column * (WIDTH + BESIDE);
    (x, MARGIN + row * (HEIGHT + BELOW) / 2)
}

fn drawn(shape: &Shape) -> Html {
    let (x, y) = spot((shape.column, shape.row));
    let (title, detail) = (
        shortened(&one_line(&shape.title), LETTERS),
        shortened(&one_line(&shape.detail), LETTERS + 4),
    );
    let level = match shape.detail.is_empty() {
        true => HEIGHT / 2 + 5,
        false => 20,
    };
    let inside = html(
        "<g class=\"box {}\" transform=\"translate({} {})\"><title>{} {}</title>\
         <rect width=\"{}\" height=\"{}\" rx=\"6\"/><text class=\"title\" x=\"12\" y=\"{}\">{}</text>\
         <text class=\"detail\" x=\"12\" y=\"37\">{}</text></g>",
        &[
            &shape.class,
            &x,
            &y,
            &shape.title,
            &shape.detail,
            &WIDTH,
            &HEIGHT,
            &level,
            &title,
            &detail,
        ],
    );
    match &shape.to {
        Some(to) => html("<a href=\"{}\">{}</a>\n", &[to, &inside]),
        None => inside,
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_stand_beside_those_that_they_are_joined_with() {
        // Each of three is joined with one of the other three, the other way round.
        let columns = [vec![0, 1, 2], vec![3, 4, 5]];
        let rows = rows(&columns, &[(0, 5), (1, 4), (2, 3)]);
        assert_eq!([rows[0], rows[1], rows[2]], [rows[5], rows[4], rows[3]]);
        let mut taken = rows[..3].to_vec();
        taken.sort();
        assert_eq!(taken, [0, 2, 4], "no two are in one place");
    }

    #[test]
    fn lines_go_from_the_right_of_a_box_to_the_left_of_the_next() {
        let mut picture = Picture::default();
        let shape = |column, title: &str| Shape {
            column,
            row: 0,
            class: "feature",
            title: title.to_owned(),
            detail: String::new(),
            to: None,
        };
        let one = picture.shape(shape(0, "<one>"));
        let other = picture.shape(shape(1, "other"));
        picture.line(one, other, "stands");
        let drawn = picture.drawn("both").into_string();
        assert!(
            drawn.contains("d=\"M208 32C232 32 232 32 256 32\""),
            "{drawn}"
        );
        assert!(drawn.contains(">&lt;one&gt;</text>"), "{drawn}");
        // Past a column it goes level, in a row where no box is.
        let far = picture.shape(shape(2, "far"));
        picture.route(one, vec![(1, 2)], far, "stands");
        let drawn = picture.drawn("all").into_string();
        let way = "d=\"M208 32C232 32 232 94 256 94H456C480 94 480 32 504 32\"";
        assert!(drawn.contains(way), "{drawn}");
    }
}
