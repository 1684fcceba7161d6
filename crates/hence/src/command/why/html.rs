//! The answer as a page: one file that needs nothing else and asks nobody.
//!
//! Everything is in the text of the page: the sentence, the table, the picture, the sources, and the same as a list.
//! The script only makes the picture and the sources follow each other, and lets the picture grow.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use hence_model::explanation::{Dependence, Lost, Role};
use hence_model::source::{FileId, Span};
use sha2::{Digest, Sha256};

use super::graph::{Graph, Line, Node};
use super::{Answer, Element, drawing, json, one_line};
use crate::places::Places;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// So many nodes are in the picture at first.
const FIRST: usize = 50;
/// So many rows a table or a list has.
const ROWS: usize = 100;
/// So many dependences of one role are listed.
const OF_A_ROLE: usize = 50;
/// So many lines around a place are shown, and of a long stretch so many from its beginning.
const CONTEXT: u32 = 2;
const LINES: u32 = 6;
/// So many bytes of a line are shown.
const LONGEST: usize = 600;
/// How deep lists stand in lists; there is little room on a telephone.
const DEEPEST: usize = 10;
/// So many bytes of JSON are worth carrying along.
const LARGEST: usize = 2 << 20;

/// The whole page.
pub fn answer(answer: &Answer<'_>, full: bool, control: bool) -> String {
    let graph = Graph::of(answer, full);
    let shown = graph.first(FIRST, control);
    let mut page = Page::of(answer, &graph);
    let picture = drawing::picture(&graph, &shown, &page.names);
    let left_out = match graph.left_out {
        0 => String::new(),
        more => format!(
            "<p class=\"note\">The picture leaves out {more} more; <code>--format json</code> has them.</p>\n"
        ),
    };
    let legend = legend(&graph);
    let layers = page.layers();
    let elements = page.elements();
    let list = page.list();
    let depends = page.depends();
    let sources = page.sources();
    let (json, copy) = match json::answer(answer) {
        json if json.len() > LARGEST => (String::new(), " hidden"),
        json => (json.replace('<', "\\u003c"), ""),
    };
    let json = json
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}' '{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE),
        hash(drawing::STYLE)
    );
    let path = escaped(&answer.path());
    let value = escaped(&answer.value(&answer.explanation.value));
    let sentence = format!("{path} = {value}, {}", escaped(&answer.how()));
    let how = page.linked(&answer.how());
    let length = match value.len() > 40 {
        true => " long",
        false => "",
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>Why {path} = {value}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<p class=\"kicker\">Why is this value what it is?</p>\n\
         <h1 aria-label=\"{sentence}\"><span class=\"path\">{path}</span> <span class=\"is\">=</span> \
         <span class=\"result{length}\">{value}</span></h1>\n<p class=\"how\">{how}</p>\n</header>\n<main>\n\
         {layers}{elements}\
         <div class=\"sides\">\n<section aria-labelledby=\"graph-name\" class=\"graph\">\n\
         <h2 id=\"graph-name\">How it came here</h2>\n\
         <ul class=\"legend\">{legend}</ul>\n\
         <div class=\"tools\" role=\"toolbar\" aria-label=\"The picture\" hidden>\
         <button type=\"button\" id=\"grow\">Show everything</button>\
         <button type=\"button\" id=\"fold\" aria-pressed=\"false\">Fold by file</button>\
         <button type=\"button\" id=\"save\">Save SVG</button>\
         <button type=\"button\" id=\"copy\"{copy}>Copy JSON</button><output id=\"done\"></output></div>\n\
         <div class=\"frame\"><div class=\"canvas\">\n{picture}</div></div>\n{left_out}\
         <p id=\"chosen\" class=\"tells\" aria-live=\"polite\"></p>\n</section>\n\
         {sources}</div>\n\
         <section aria-labelledby=\"list-name\" class=\"list\">\n<h2 id=\"list-name\">The same as a list</h2>\n\
         {list}{depends}</section>\n</main>\n\
         <footer><p>Made by <code>hence why --format html</code>. The page is one file and asks nobody.</p></footer>\n\
         <script type=\"application/json\" id=\"answer\">{}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        json.trim_end()
    )
}

/// What the lines of a picture mean, of those that are in it.
fn legend(graph: &Graph) -> String {
    let meanings = [
        (Line::Flow, "the value flows"),
        (Line::Control, "a condition decides"),
        (Line::Lost, "lost"),
    ];
    let mut html = String::new();
    for (line, meaning) in meanings {
        if graph.nodes.iter().any(|node| node.line == line) {
            let _ = write!(html, "<li class=\"{}\">{meaning}</li>", line.word());
        }
    }
    html
}

/// What the pieces of the page have in common: which places there are, and what they are called.
struct Page<'a> {
    answer: &'a Answer<'a>,
    graph: &'a Graph,
    places: Places<'a>,
    /// Where each node is, in words.
    names: Vec<String>,
    /// The files that are shown, in the order in which they are first mentioned.
    files: Vec<FileId>,
    numbers: HashMap<FileId, usize>,
    /// The lines to show, by file and number, with the stretches that are marked there.
    lines: BTreeMap<(usize, u32), Vec<Mark>>,
}

/// A stretch of a source that is spoken of.
#[derive(Clone, Copy)]
struct Mark {
    span: Span,
    /// The node that speaks of it.
    node: Option<usize>,
}

impl<'a> Page<'a> {
    fn of(answer: &'a Answer<'a>, graph: &'a Graph) -> Self {
        let mut page = Self {
            answer,
            graph,
            places: Places::new(&answer.sources),
            names: Vec::new(),
            files: Vec::new(),
            numbers: HashMap::new(),
            lines: BTreeMap::new(),
        };
        for (at, node) in graph.nodes.iter().enumerate() {
            page.mark(node.span, Some(at));
            let name = page.name(node.span);
            page.names.push(name);
        }
        page
    }

    fn name(&mut self, span: Span) -> String {
        let place = self.places.of(span);
        format!("{}:{}:{}", self.answer.file(span), place.line, place.column)
    }

    /// Takes note that a stretch is spoken of, and which lines it is shown in.
    fn mark(&mut self, span: Span, node: Option<usize>) {
        let file = self.answer.sources.file_at(span.start);
        let files = &mut self.files;
        let number = *self.numbers.entry(file).or_insert_with(|| {
            files.push(file);
            files.len() - 1
        });
        let place = self.places.of(span);
        for line in place.line..=place.end_line.min(place.line + LINES - 1) {
            let marks = self.lines.entry((number, line)).or_default();
            marks.push(Mark { span, node });
        }
    }

    /// A link to a place; `node` is the one that is chosen there.
    fn link(&mut self, span: Span, node: Option<usize>, words: &str) -> String {
        let number = self.numbers[&self.answer.sources.file_at(span.start)];
        let line = self.places.of(span).line;
        let node = node.map_or(String::new(), |node| format!(" data-node=\"{node}\""));
        format!("<a href=\"#l{number}-{line}\"{node}>{}</a>", escaped(words))
    }

    /// How the value came to be, with its place as a link.
    fn linked(&mut self, how: &str) -> String {
        let root = &self.graph.nodes[0];
        let place = self.names[0].clone();
        match how.split_once(place.as_str()) {
            Some((before, after)) => {
                let link = self.link(root.span, Some(0), &place);
                format!("{}{link}{}", escaped(before), escaped(after))
            }
            None => escaped(how),
        }
    }

    /// All that was said about the value: what counts, then what lost, and by which rule.
    fn layers(&mut self) -> String {
        let explanation = self.answer.explanation;
        let value = escaped(&self.answer.value(&explanation.value));
        let place = self.names[0].clone();
        let place = self.link(self.graph.nodes[0].span, Some(0), &place);
        let first = self
            .graph
            .nodes
            .iter()
            .position(|node| node.line == Line::Lost);
        let mut rows = format!(
            "<tr class=\"won\"><td><b><code>{value}</code></b></td><td>{place}</td><td>counts</td></tr>\n"
        );
        for (at, lost) in explanation.lost.iter().enumerate().take(ROWS) {
            // A node that is not in the picture has no number.
            let node = first.map(|first| first + at);
            let node = node.filter(|&node| node < self.graph.nodes.len());
            let value = escaped(&self.answer.lost(lost));
            let place = self.lost_place(lost, node);
            let rule = escaped(lost.rule.sentence());
            let _ = writeln!(
                rows,
                "<tr class=\"beaten\"><td><s><code>{value}</code></s></td><td>{place}</td><td>lost: {rule}</td></tr>"
            );
        }
        let more = match explanation.lost.len() {
            0 => "<p class=\"note\">Nothing else was said about it.</p>\n".to_owned(),
            count => more(count, ROWS),
        };
        format!(
            "<section aria-labelledby=\"layers-name\" class=\"layers\">\n<h2 id=\"layers-name\">What was said</h2>\n\
             <div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Value</th><th scope=\"col\">Source</th>\
             <th scope=\"col\">Rule</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{more}</section>\n"
        )
    }

    fn lost_place(&mut self, lost: &Lost, node: Option<usize>) -> String {
        self.mark(lost.span, None);
        let place = self.name(lost.span);
        let link = self.link(lost.span, node, &place);
        format!("{link}{}", coded(&self.answer.through(lost)))
    }

    /// The parts of a list or of a block, where each comes from, and what it beat.
    fn elements(&mut self) -> String {
        let answer = self.answer;
        if answer.elements.is_empty() {
            return String::new();
        }
        let beaten = answer.elements.iter();
        let beaten = beaten.filter(|element| !element.lost.is_empty()).count();
        let mut rows = String::new();
        for element in &answer.elements {
            rows.push_str(&self.element(element, beaten > 0));
        }
        let heading = match beaten {
            0 => "",
            _ => "<th scope=\"col\">Lost to it</th>",
        };
        let filter = match beaten > 0 && beaten < answer.elements.len() {
            false => "",
            true => {
                "<p class=\"filter\"><label><input type=\"checkbox\" id=\"only\"> only overridden</label></p>\n"
            }
        };
        let more = match answer.further_elements() {
            0 => String::new(),
            more => format!("<p class=\"note\">And {more} more.</p>\n"),
        };
        format!(
            "<section aria-labelledby=\"parts-name\" class=\"parts\">\n<h2 id=\"parts-name\">What it is made of</h2>\n{filter}\
             <div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Value</th>\
             <th scope=\"col\">Source</th>{heading}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n\
             {more}</section>\n"
        )
    }

    fn element(&mut self, element: &Element, tells_lost: bool) -> String {
        self.mark(element.place, None);
        let place = self.name(element.place);
        let place = self.link(element.place, None, &place);
        let lost = element.lost.iter().take(ROWS).map(|lost| {
            let value = escaped(&self.answer.lost(lost));
            let place = self.lost_place(lost, None);
            let rule = escaped(lost.rule.sentence());
            format!("<s><code>{value}</code></s> {place}: {rule}")
        });
        let lost: Vec<String> = lost.collect();
        let beaten = match tells_lost {
            true => format!("<td>{}</td>", lost.join("<br>")),
            false => String::new(),
        };
        let class = if lost.is_empty() {
            " class=\"plain\""
        } else {
            ""
        };
        format!(
            "<tr{class}><th scope=\"row\"><code>{}</code></th><td><b><code>{}</code></b></td><td>{place}</td>{beaten}</tr>\n",
            escaped(&element.name),
            escaped(&self.answer.value(&element.value))
        )
    }

    /// The graph as lists in lists, from the value back to what is written.
    fn list(&mut self) -> String {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.graph.nodes.len()];
        for (at, node) in self.graph.nodes.iter().enumerate().skip(1) {
            children[node.to].push(at);
        }
        let mut html = String::from("<ul class=\"tree\">\n");
        self.item(0, &children, 0, &mut html);
        html.push_str("</ul>\n");
        html
    }

    /// A node, and what leads to it: inside of it, or behind it where that would be too deep.
    fn item(&mut self, at: usize, children: &[Vec<usize>], depth: usize, html: &mut String) {
        let entry = self.entry(at);
        let line = self.graph.nodes[at].line.word();
        let _ = write!(html, "<li class=\"{line}\">{entry}");
        let is_inside = depth < DEEPEST && !children[at].is_empty();
        html.push_str(if is_inside { "\n<ul>\n" } else { "</li>\n" });
        for &child in &children[at] {
            self.item(child, children, depth + usize::from(is_inside), html);
        }
        if is_inside {
            html.push_str("</ul></li>\n");
        }
    }

    fn entry(&mut self, at: usize) -> String {
        let node: &Node = &self.graph.nodes[at];
        let place = self.names[at].clone();
        let link = self.link(node.span, Some(at), &place);
        let words = coded(&node.words);
        match (&node.title, node.line) {
            (Some(title), _) if at == 0 => {
                format!("<b>{words} = <code>{}</code></b> {link}", escaped(title))
            }
            (Some(title), Line::Lost) => {
                format!("<s><code>{}</code></s>: {words} {link}", escaped(title))
            }
            (Some(title), _) => format!("<code>{}</code>: {words} {link}", escaped(title)),
            (None, _) => format!("{words} {link}"),
        }
    }

    /// Everything written that the value depends on, by role.
    fn depends(&mut self) -> String {
        let mut roles: Vec<(Role, Vec<&Dependence>)> = Vec::new();
        for dependence in &self.answer.explanation.depends {
            match roles.iter_mut().find(|(role, _)| *role == dependence.role) {
                Some((_, found)) => found.push(dependence),
                None => roles.push((dependence.role, vec![dependence])),
            }
        }
        let count = self.answer.explanation.depends.len();
        let mut html = format!(
            "<h3>Everything it depends on</h3>\n<p class=\"note\">Change nothing of these {count}, and the value cannot change.</p>\n<dl>\n"
        );
        for (role, found) in roles {
            let _ = write!(html, "<dt>{}</dt>\n<dd><ul>\n", role.word());
            for dependence in found.iter().take(OF_A_ROLE) {
                self.mark(dependence.span, None);
                let place = self.name(dependence.span);
                let link = self.link(dependence.span, None, &place);
                let source = escaped(&one_line(self.answer.source(dependence.span)));
                let _ = writeln!(html, "<li><code>{source}</code> {link}</li>");
            }
            let more = more(found.len(), OF_A_ROLE);
            let _ = writeln!(html, "</ul>{more}</dd>");
        }
        html.push_str("</dl>\n");
        html
    }

    /// The lines that are spoken of, with some around them, file by file.
    fn sources(&mut self) -> String {
        let spoken: Vec<(usize, u32)> = self.lines.keys().copied().collect();
        for (number, line) in spoken {
            if self.is_discreet(self.files[number]) {
                continue;
            }
            for near in line.saturating_sub(CONTEXT).max(1)..=line + CONTEXT {
                if self.answer.sources.line(self.files[number], near).is_some() {
                    self.lines.entry((number, near)).or_default();
                }
            }
        }
        let mut html = String::from(
            "<section aria-labelledby=\"sources-name\" class=\"sources\">\n<h2 id=\"sources-name\">Sources</h2>\n\
             <div class=\"pane\" tabindex=\"0\" role=\"group\" aria-labelledby=\"sources-name\">\n",
        );
        let mut before = None;
        for (&(number, line), marks) in &self.lines {
            if before.is_none_or(|(file, _)| file != number) {
                if before.is_some() {
                    html.push_str("</div>\n");
                }
                let name = escaped(self.answer.sources.name(self.files[number]));
                let _ = write!(html, "<h3>{name}</h3>\n<div class=\"file\">\n");
            } else if before.is_some_and(|(_, last)| last + 1 < line) {
                html.push_str("<div class=\"gap\">⋮</div>\n");
            }
            let text = self.line(self.files[number], line, marks);
            let class = if marks.is_empty() {
                "line near"
            } else {
                "line"
            };
            let _ = writeln!(
                html,
                "<div class=\"{class}\" id=\"l{number}-{line}\"><span class=\"number\">{line}</span><code>{text}</code></div>"
            );
            before = Some((number, line));
        }
        html.push_str("</div>\n</div>\n</section>\n");
        html
    }

    /// Whether only those lines of a file are shown that are spoken of: around them stand data that nobody asked about.
    fn is_discreet(&self, file: FileId) -> bool {
        let name = self.answer.sources.name(file);
        ![".sf", ".cf2", ".pp"].iter().any(|end| name.ends_with(end))
    }

    /// A line, cut where something that is spoken of begins or ends.
    fn line(&self, file: FileId, line: u32, marks: &[Mark]) -> String {
        let sources = &self.answer.sources;
        let whole = sources.line(file, line).expect("the line was found");
        let first = marks.iter().map(|mark| mark.span.start).min();
        let seen = window(
            sources.slice(whole),
            first.map_or(0, |at| at.saturating_sub(whole.start)),
        );
        let (start, end) = (
            whole.start + seen.start as u32,
            whole.start + seen.end as u32,
        );
        let mut cuts = vec![start, end];
        for mark in marks {
            cuts.extend([mark.span.start, mark.span.end].map(|at| at.clamp(start, end)));
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut html = String::from(if start > whole.start { "…" } else { "" });
        for pair in cuts.windows(2) {
            let piece = Span::new(pair[0], pair[1]);
            let mut around: Vec<&Mark> = marks
                .iter()
                .filter(|mark| mark.span.start <= piece.start && piece.end <= mark.span.end)
                .collect();
            around.sort_by_key(|mark| mark.span.end - mark.span.start);
            let text = escaped(sources.slice(piece));
            let mut nodes: Vec<String> = Vec::new();
            for node in around.iter().filter_map(|mark| mark.node).take(20) {
                nodes.push(node.to_string());
            }
            let _ = match (around.is_empty(), nodes.is_empty()) {
                (true, _) => write!(html, "{text}"),
                (_, true) => write!(html, "<mark>{text}</mark>"),
                _ => write!(
                    html,
                    "<mark data-nodes=\"{}\">{text}</mark>",
                    nodes.join(" ")
                ),
            };
        }
        if end < whole.end {
            html.push('…');
        }
        html
    }
}

/// The stretch of a line that is shown: all of it, or what stands around an offset.
fn window(line: &str, offset: u32) -> std::ops::Range<usize> {
    if line.len() <= LONGEST {
        return 0..line.len();
    }
    let start = (offset as usize).saturating_sub(LONGEST / 4);
    let start = line.floor_char_boundary(start);
    start..line.floor_char_boundary(start + LONGEST)
}

/// How many there are beyond those shown.
fn more(count: usize, shown: usize) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        more => format!("<p class=\"note\">And {more} more.</p>\n"),
    }
}

/// A text in HTML. What cannot be seen, or changes how its surroundings are seen, is written out.
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '\t' | '\n' => html.push(letter),
            letter if is_unseen(letter) => {
                let _ = write!(html, "⟨U+{:04X}⟩", letter as u32);
            }
            letter => html.push(letter),
        }
    }
    html
}

/// Words in HTML, with what stands between backticks as code.
fn coded(words: &str) -> String {
    let mut html = String::new();
    for (at, piece) in words.split('`').enumerate() {
        let piece = escaped(piece);
        let _ = match at % 2 {
            0 => write!(html, "{piece}"),
            _ => write!(html, "<code>{piece}</code>"),
        };
    }
    html
}

/// Whether a character is a control character, changes the direction of writing, or takes no room.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The name of a text in a content security policy.
fn hash(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut name = String::from("sha256-");
    for three in digest.chunks(3) {
        let bits = three
            .iter()
            .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - three.len()));
        for letter in 0..4 {
            name.push(match letter <= three.len() {
                true => LETTERS[(bits >> (18 - 6 * letter) & 63) as usize] as char,
                false => '=',
            });
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_the_text_it_stands_in() {
        assert_eq!(escaped("</script>&\"'"), "&lt;/script&gt;&amp;&quot;&#39;");
        assert_eq!(
            escaped("a\u{202e}b\u{2028}\u{7}"),
            "a⟨U+202E⟩b⟨U+2028⟩⟨U+0007⟩"
        );
        assert_eq!(escaped("é ★ \u{5d0}"), "é ★ \u{5d0}");
    }

    #[test]
    fn a_policy_names_texts_by_their_hash() {
        let known = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        assert_eq!(hash(""), known);
    }

    #[test]
    fn a_long_line_is_shown_around_what_is_spoken_of() {
        let line = "é".repeat(10_000);
        let seen = window(&line, 9_001);
        assert!(seen.len() <= LONGEST && seen.contains(&9_001));
        assert_eq!(window("short", 3), 0..5);
    }
}
