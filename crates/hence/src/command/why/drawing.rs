//! The graph of an explanation as a picture: sources on the left, the value on the right.
//!
//! The page's script draws the same picture again when nodes come and go; `the_picture_stays_where_it_is` in
//! `tests/browser/why.rs` keeps the two alike.

use std::fmt::Write as _;

use super::graph::{Graph, Node};
use super::html::escaped;

const WIDTH: i32 = 188;
const HEIGHT: i32 = 58;
const BESIDE: i32 = 36;
const BELOW: i32 = 14;
const MARGIN: i32 = 18;

/// What the picture looks like, also where it is saved.
pub const STYLE: &str = include_str!("drawing.css");

/// Draws a graph. Of the nodes only those `shown` are seen; `places` says where each is.
pub fn picture(graph: &Graph, shown: &[bool], places: &[String]) -> String {
    let spots = layout(graph, shown);
    let right = spots.iter().map(|spot| spot.0).max().unwrap_or(0);
    let bottom = spots.iter().map(|spot| spot.1).max().unwrap_or(0);
    let width = right + WIDTH + 2 * MARGIN;
    let height = bottom + HEIGHT + 2 * MARGIN;
    let mut svg = format!(
        "<svg id=\"picture\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"group\" aria-labelledby=\"graph-name\">\n\
         <style>{STYLE}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
    );
    for (at, node) in graph.nodes.iter().enumerate().skip(1) {
        let class = class(node, shown[at]);
        let curve = curve(spots[at], spots[node.to]);
        let _ = writeln!(
            svg,
            "<path id=\"e{at}\" class=\"edge {class}\" d=\"{curve}\"/>"
        );
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        let (x, y) = spots[at];
        let class = class(node, shown[at]);
        let value = if at == 0 { " value" } else { "" };
        let file = places[at].rsplitn(3, ':').last().unwrap_or("");
        let name = name(node, &places[at]);
        let hidden = graph.nodes.iter().enumerate().skip(1);
        let hidden = hidden.filter(|(child, node)| node.to == at && !shown[*child]);
        let more = match hidden.count() {
            0 => String::new(),
            count => format!("+{count}"),
        };
        let _ = writeln!(
            svg,
            "<g id=\"n{at}\" class=\"node {class}{value}\" data-to=\"{}\" data-line=\"{}\" data-file=\"{}\" \
             data-name=\"{}\" transform=\"translate({x} {y})\"><title>{}</title>\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>",
            node.to,
            node.line.word(),
            escaped(file),
            escaped(&name),
            escaped(&name),
        );
        let words = node.words.replace('`', "");
        let place = ending(&places[at], 24);
        let lines = match &node.title {
            Some(title) => vec![
                ("title", beginning(title, 22)),
                ("words", beginning(&words, 26)),
                ("place", place),
            ],
            None => vec![("said", beginning(&words, 24)), ("place", place)],
        };
        let top = if lines.len() == 3 { 20 } else { 26 };
        for (row, (class, text)) in lines.into_iter().enumerate() {
            let y = top + 15 * row;
            let text = escaped(&text);
            let _ = write!(
                svg,
                "<text class=\"{class}\" x=\"12\" y=\"{y}\">{text}</text> "
            );
        }
        let _ = writeln!(svg, "<text class=\"more\" y=\"-4\">{more}</text></g>");
    }
    svg.push_str("</svg>\n");
    svg
}

/// What a node is called where it cannot be seen.
fn name(node: &Node, place: &str) -> String {
    let words = node.words.replace('`', "");
    match &node.title {
        Some(title) => format!("{title}, {words}, {place}"),
        None => format!("{words}, {place}"),
    }
}

fn class(node: &Node, shown: bool) -> String {
    let away = if shown { "" } else { " away" };
    format!("{}{away}", node.line.word())
}

/// Where nodes stand: each left of the one it leads to, between those that lead to it.
fn layout(graph: &Graph, shown: &[bool]) -> Vec<(i32, i32)> {
    let count = graph.nodes.len();
    let mut depths = vec![0; count];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, node) in graph.nodes.iter().enumerate().skip(1) {
        if shown[at] {
            depths[at] = depths[node.to] + 1;
            children[node.to].push(at);
        }
    }
    let deepest = depths.iter().copied().max().unwrap_or(0);
    let mut rows = vec![0; count];
    let mut next = 0;
    let mut pending = vec![(0, false)];
    while let Some((at, placed)) = pending.pop() {
        match (children[at].first(), children[at].last()) {
            (Some(&first), Some(&last)) if placed => rows[at] = (rows[first] + rows[last]) / 2,
            (Some(_), _) => {
                pending.push((at, true));
                pending.extend(children[at].iter().rev().map(|&child| (child, false)));
            }
            _ => {
                rows[at] = next;
                next += HEIGHT + BELOW;
            }
        }
    }
    let spot = |at: usize| {
        (
            MARGIN + (deepest - depths[at]) * (WIDTH + BESIDE),
            MARGIN + rows[at],
        )
    };
    (0..count).map(spot).collect()
}

fn curve(from: (i32, i32), to: (i32, i32)) -> String {
    let (x, y) = (from.0 + WIDTH, from.1 + HEIGHT / 2);
    let (end, level) = (to.0, to.1 + HEIGHT / 2);
    let middle = (x + end) / 2;
    format!("M{x} {y}C{middle} {y} {middle} {level} {end} {level}")
}

fn beginning(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn ending(text: &str, letters: usize) -> String {
    match text.char_indices().rev().nth(letters) {
        Some((start, letter)) => format!("…{}", &text[start + letter.len_utf8()..]),
        None => text.to_owned(),
    }
}
