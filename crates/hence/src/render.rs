//! How a diagnostic looks: to people, and to programs.

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use hence_model::diagnostic::{Diagnostic, Label, Severity};
use hence_model::print::json::Json;
use hence_model::source::{Sources, Span};
use hence_model::value::{List, Map, Value};

use crate::places::Places;

/// A diagnostic for people: headline, excerpts with carets, what to do.
pub fn text(sources: &Sources, diagnostic: &Diagnostic, colour: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let headline = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.name);
    let excerpts = excerpts(sources, &diagnostic.labels);
    let help = diagnostic
        .help
        .iter()
        .map(|help| (Level::HELP, help.clone()));
    let advice = help.chain(notes(diagnostic).map(|note| (Level::NOTE, note)));

    let renderer = match colour {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    let mut text = String::new();
    if excerpts.is_empty() {
        // Without an excerpt there is no margin to hang advice on: each has a line of its own.
        let advice = advice.map(|(level, words)| level.secondary_title(words));
        for title in std::iter::once(headline).chain(advice) {
            text.push_str(&renderer.render(&[Group::with_title(title)]));
            text.push('\n');
        }
    } else {
        let advice = advice.map(|(level, words)| level.message(words));
        let group = Group::with_title(headline).elements(excerpts);
        text.push_str(&renderer.render(&[group.elements(advice)]));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// A place, and what to see there.
pub struct Excerpt {
    /// The place.
    pub span: Span,
    /// What to see.
    pub text: String,
}

/// A headline, and places to look at under it: drawn as a diagnostic is.
pub fn excerpts_under(
    sources: &Sources,
    headline: &str,
    places: Vec<Excerpt>,
    colour: bool,
) -> String {
    let labels: Vec<Label> = places
        .into_iter()
        .map(|Excerpt { span, text }| Label { span, text })
        .collect();
    let mut group = Group::with_title(Level::NOTE.no_name().primary_title(headline));
    for excerpt in excerpts(sources, &labels) {
        group = group.element(excerpt);
    }
    let renderer = match colour {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

fn notes(diagnostic: &Diagnostic) -> impl Iterator<Item = String> {
    // What the headline names is not said again.
    let is_news =
        |path: &&str| !path.is_empty() && !diagnostic.message.contains(&format!("`{path}`"));
    let path = diagnostic.path.as_deref().filter(is_news);
    let path = path.map(|path| format!("this is in `{path}`"));
    let rule = diagnostic.code.rule;
    let rule = rule.map(|rule| {
        let rules = if rule.contains(',') { "rules" } else { "rule" };
        format!("{rules} {rule} of the published semantics")
    });
    path.into_iter().chain(rule)
}

/// A line longer than this is not shown; only its place is.
const LONGEST: u32 = 1 << 20;

/// Places in a line that are farther apart than this have excerpts of their own: all between them would be shown.
const APART: u32 = 1000;

/// The places to look at in their lines. Labels in the same lines share an excerpt; the first label is
/// the one to look at first.
fn excerpts<'a>(sources: &'a Sources, labels: &'a [Label]) -> Vec<Element<'a>> {
    let mut groups: Vec<(Span, Vec<&Label>)> = Vec::new();
    for label in labels {
        let own = lines(sources, label.span);
        let around = |(lines, labels): &&mut (Span, Vec<&Label>)| {
            let apart = labels[0].span.start.abs_diff(label.span.start);
            lines.start <= own.start && own.end <= lines.end && apart <= APART
        };
        match groups.iter_mut().find(around) {
            Some((_, labels)) => labels.push(label),
            None => groups.push((own, vec![label])),
        }
    }
    let first = labels.first();
    let excerpt = |(lines, labels): (Span, Vec<&'a Label>)| {
        let place = sources.location(labels[0].span.start);
        if lines.end - lines.start > LONGEST {
            let origin = Origin::path(place.file).line(place.line as usize);
            return origin.char_column(place.column as usize).into();
        }
        let within = |offset: u32| (offset.clamp(lines.start, lines.end) - lines.start) as usize;
        let annotations = labels.into_iter().map(|label| {
            let kind = match first.is_some_and(|first| std::ptr::eq(first, label)) {
                true => AnnotationKind::Primary,
                false => AnnotationKind::Context,
            };
            let annotation = kind.span(within(label.span.start)..within(label.span.end));
            match label.text.as_str() {
                "" => annotation,
                text => annotation.label(text),
            }
        });
        Snippet::source(sources.slice(lines))
            .path(place.file)
            .line_start(place.line as usize)
            .annotations(annotations)
            .into()
    };
    groups.into_iter().map(excerpt).collect()
}

/// The whole lines that a span touches.
fn lines(sources: &Sources, span: Span) -> Span {
    let file = sources.file_at(span.start);
    let line = |offset: u32| {
        let number = sources.location(offset).line;
        sources.line(file, number).expect("a place is in a line")
    };
    let lines = line(span.start).to(line(span.end));
    // A byte order mark is no column.
    match sources.slice(lines).strip_prefix('\u{feff}') {
        Some(text) => Span::new(lines.end - text.len() as u32, lines.end),
        None => lines,
    }
}

/// A diagnostic for programs: one line of JSON.
pub fn json(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let text = |text: &str| Value::Text(text.to_owned());
    let optional = |word: Option<&str>| word.map_or(Value::Null, text);
    let mut places = Places::new(sources);
    let labels: Vec<Map> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let mut map = Map::default();
            let file = sources.name(sources.file_at(label.span.start));
            map.insert("file".into(), text(file));
            places.of(label.span).add_to(&mut map);
            map
        })
        .collect();

    let mut line = Map::default();
    line.insert("severity".into(), text(diagnostic.severity.word()));
    line.insert("code".into(), text(diagnostic.code.name));
    line.insert("rule".into(), optional(diagnostic.code.rule));
    line.insert("message".into(), text(&diagnostic.message));
    for key in ["file", "line", "column", "end_line", "end_column"] {
        let first = labels.first().and_then(|label| label.get(key));
        line.insert(key.into(), first.cloned().unwrap_or(Value::Null));
    }
    let labels = labels.into_iter().zip(&diagnostic.labels);
    let labels: Vec<Value> = labels
        .map(|(mut map, label)| {
            map.insert("text".into(), text(&label.text));
            Value::Map(map)
        })
        .collect();
    line.insert("labels".into(), Value::List(List::from(labels)));
    let help: Vec<Value> = diagnostic.help.iter().map(|help| text(help)).collect();
    line.insert("help".into(), Value::List(List::from(help)));
    line.insert("path".into(), optional(diagnostic.path.as_deref()));

    let mut printer = Json::compact(Vec::new());
    Value::Map(line).send(&mut printer);
    let bytes = printer.finish().expect("a vector takes everything");
    String::from_utf8(bytes).expect("JSON is text")
}
