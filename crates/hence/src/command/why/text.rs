//! The answer for people at a terminal: one line, the way with excerpts, what it is made of, what lost.

use std::collections::HashMap;
use std::fmt::Write as _;

use hence_model::explanation::Step;
use hence_model::source::FileId;

use super::{Answer, Element, counted};
use crate::places::Places;
use crate::render::{self, Excerpt};

/// So many parts of a value are listed, if not all are asked for.
const PARTS: usize = 10;

/// So many labels a line has; with more, nobody would find theirs.
const LABELS: usize = 20;

/// How much is told.
pub struct Extent {
    /// How many steps.
    pub steps: usize,
    /// Whether those of conditions are among them.
    pub control: bool,
    /// Whether everything is.
    pub full: bool,
}

/// The answer in one line, then the way with excerpts, then what it is made of, then what lost.
pub fn answer(answer: &Answer<'_>, extent: Extent, colour: bool) -> String {
    let steps: Vec<&Step> = answer.steps(extent.full, extent.control).collect();
    let mut lines: HashMap<(FileId, u32), usize> = HashMap::new();
    let mut crowded = 0;
    let mut excerpts = Vec::new();
    for step in steps.iter().take(extent.steps) {
        let sources = &answer.sources;
        let line = sources.line_number(step.span.start);
        let labels = lines.entry((sources.file_at(step.span.start), line));
        let labels = labels.or_default();
        *labels += 1;
        match *labels > LABELS {
            true => crowded += 1,
            false => excerpts.push(Excerpt {
                span: step.span,
                text: answer.words(step),
            }),
        }
    }
    let mut text = render::excerpts_under(&answer.sources, &answer.headline(), excerpts, colour);
    if crowded > 0 {
        let more = counted(crowded, "more step", "more steps");
        let _ = writeln!(text, "({more} in these lines: --format json)");
    }
    if steps.len() > extent.steps {
        let more = counted(steps.len() - extent.steps, "more step", "more steps");
        let _ = writeln!(text, "({more}: --full)");
    }
    if !answer.elements.is_empty() {
        parts(answer, extent.full, &mut text);
    }
    if !answer.explanation.lost.is_empty() {
        text.push_str("\nlost to it:\n");
        for lost in &answer.explanation.lost {
            let value = struck(&answer.lost(lost), colour);
            let place = answer.location(lost.span);
            let through = answer.through(lost);
            let rule = lost.rule.sentence();
            let _ = writeln!(text, "  {value}   {place}{through}: {rule}");
        }
    }
    text
}

/// The parts of a list or of a block in columns: name, value, place, what they beat.
fn parts(answer: &Answer<'_>, full: bool, text: &mut String) {
    let shown = if full { answer.elements.len() } else { PARTS };
    let rows = answer.elements.iter().take(shown).map(|element| {
        let place = answer.location(element.place);
        [element.name.clone(), answer.value(&element.value), place]
    });
    let rows: Vec<[String; 3]> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let (names, values) = (width(0), width(1));
    text.push_str("\nmade of:\n");
    for ([name, value, place], element) in rows.iter().zip(&answer.elements) {
        let beaten = beaten(answer, element);
        let _ = writeln!(text, "  {name:names$}  {value:values$}  {place}{beaten}");
    }
    let rest = answer.elements.len().saturating_sub(shown);
    let further = rest + answer.further_elements();
    match (rest, further) {
        (_, 0) => {}
        (0, further) => {
            let _ = writeln!(text, "  (and {further} more)");
        }
        (_, further) => {
            let _ = writeln!(text, "  ({further} more: --full)");
        }
    }
}

/// `, beat 80 at site.sf:3:8`
fn beaten(answer: &Answer<'_>, element: &Element) -> String {
    let lost = element.lost.iter().map(|lost| {
        let place = answer.location(lost.span);
        format!("{} at {place}", answer.lost(lost))
    });
    let lost: Vec<String> = lost.collect();
    match lost.is_empty() {
        true => String::new(),
        false => format!(", beat {}", lost.join(", ")),
    }
}

fn struck(value: &str, colour: bool) -> String {
    match colour {
        true => format!("\x1b[9m{value}\x1b[0m"),
        false => value.to_owned(),
    }
}

/// Where the literal is written that the value is.
pub fn place(answer: &Answer<'_>) -> String {
    match answer.explanation.place {
        Some(place) => format!("{}\n", answer.location(place)),
        None => "nowhere: it was computed; `--form expression` says how\n".into(),
    }
}

/// The operations over the literals.
pub fn expression(answer: &Answer<'_>) -> String {
    let explanation = answer.explanation;
    let expression = answer.expression(&explanation.expression);
    match explanation.expression.operator {
        Some(_) => format!("{expression} = {}\n", answer.value(&explanation.value)),
        None => format!("{expression}\n"),
    }
}

/// Everything written that the value depends on, in a line each.
pub fn dependency(answer: &Answer<'_>) -> String {
    let mut text = String::new();
    let mut places = Places::new(&answer.sources);
    for dependence in &answer.explanation.depends {
        let place = places.of(dependence.span);
        let file = answer.file(dependence.span);
        let source = answer.source(dependence.span).lines().next().unwrap_or("");
        let (line, column) = (place.line, place.column);
        let role = dependence.role.word();
        let _ = writeln!(text, "{file}:{line}:{column}  {role}  {source}");
    }
    text
}
