//! `hence why`: where a value comes from, and what it beat.
//!
//! A language explains; here the explanation is asked for, and its pieces are worded. Each way to answer has a file.

mod dot;
mod drawing;
mod graph;
mod html;
mod json;
mod line;
pub mod secrets;
mod text;
pub mod url;

use std::borrow::Cow;
use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::explanation::{
    Explanation, Expression, Lost, NoSuchPath, SELECTION, Shown, Step, StepKind,
};
use hence_model::path::{Path, Segment};
use hence_model::print::json::Json;
use hence_model::source::{Sources, Span};
use hence_model::value::Value;

use super::fleet::{self, Ledger};
use super::source::SourceOptions;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::{Exit, Stop};

/// There is no value at a path.
pub const NO_SUCH_PATH: Code = Code::new("why.no-such-path");

/// The operator of a text with values in it.
const INTERPOLATION: &str = "\"…\"";
/// The operator of what is taken out of something.
const ACCESS: &str = "[…]";

/// So many parts of a list or a block are explained one by one.
const ELEMENTS: usize = 100;

/// So many characters of a value are shown in a line.
const WIDTH: usize = 60;

/// Say why a value is what it is
#[derive(Args)]
pub struct Why {
    /// A file that is compiled (`-` for standard input), a node of the fleet, a line of its plan such as `p1`, or a URL that is served
    #[arg(value_name = "SUBJECT", required_unless_present = "line")]
    file: Option<String>,
    /// The value: `s2:web:running`, `s2.web.running`, `ports[0]`; of a node, the parameter; of a URL, the node
    path: Option<String>,
    /// Instead, a line of a file that an agent wrote on this node
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["file", "path"])]
    line: Option<String>,
    /// The settings of that agent
    #[arg(long, value_name = "FILE", default_value = super::agent::SETTINGS)]
    agent: String,
    /// The map of that file, if it is not where the agent keeps it
    #[arg(long, value_name = "FILE", requires = "line")]
    map: Option<String>,
    /// Of a URL: the root of the closure that serves it [default: `$HENCE_HTTP_ROOT`, or as the agent's settings say]
    #[arg(long, value_name = "DIRECTORY")]
    root: Option<String>,
    /// Answer one question only
    #[arg(long, value_enum)]
    form: Option<Form>,
    /// How to answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Show every step
    #[arg(long)]
    full: bool,
    /// Show so many steps
    #[arg(long, value_name = "STEPS", default_value_t = 5)]
    depth: usize,
    /// Show what conditions depend on, too
    #[arg(long)]
    control: bool,
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    ledger: Ledger,
}

/// A way to read where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The literal that it is; none if it was computed
    Where,
    /// The operations over the literals
    Expression,
    /// Everything written that it depends on
    Dependency,
}

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
    /// A graph for Graphviz
    Dot,
    /// A page for a browser, in one file
    Html,
}

impl Why {
    /// The file, node or line of a plan that it is about.
    fn file(&self) -> &str {
        self.file.as_deref().unwrap_or_default()
    }

    /// Answers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        if let Some(line) = &self.line {
            return self.line(console, line);
        }
        if self.file().starts_with("http://") || self.file().starts_with("https://") {
            return self.url(console);
        }
        if is_about_fleet(console, &self.source, &self.ledger, self.file()) {
            return self.fleet(console);
        }
        let Some(path) = &self.path else {
            let message = format!("which value of `{}` is not said", self.file());
            let trouble = Diagnostic::error(NO_SUCH_PATH, message);
            let help = format!("`hence blame {}` shows all of them", self.file());
            return Err(Stop::Refused(Box::new(trouble.help(help))));
        };
        let file = self.source.named(console, self.file())?;
        let outside = self.source.outside(console);
        self.source
            .compile_last(console, &outside, file, |console, compiled| {
                if !compiled.is_good() {
                    return Ok(outside.blame());
                }
                let explanation = explained(compiled, path)?;
                let elements = match (self.format, self.form) {
                    (Format::Dot, _) | (Format::Text, Some(_)) => Vec::new(),
                    _ => elements(compiled, &explanation),
                };
                let answer = Answer::new(compiled, &explanation, elements);
                let text = match (self.format, self.form) {
                    (Format::Json, _) => json::answer(&answer),
                    (Format::Dot, _) => dot::answer(&answer, self.full, self.control),
                    (Format::Html, _) => html::answer(&answer, self.full, self.control),
                    (Format::Text, None) => {
                        let shown = text::Extent {
                            steps: if self.full { usize::MAX } else { self.depth },
                            control: self.control,
                            full: self.full,
                        };
                        text::answer(&answer, shown, console.is_colourful())
                    }
                    (Format::Text, Some(Form::Where)) => text::place(&answer),
                    (Format::Text, Some(Form::Expression)) => text::expression(&answer),
                    (Format::Text, Some(Form::Dependency)) => text::dependency(&answer),
                };
                console.data().write_all(text.as_bytes())?;
                Ok(Exit::Done)
            })
    }
}

impl Why {
    fn fleet(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut service = self.ledger.open(console)?;
        let format = match self.format {
            Format::Json => fleet::Format::Json,
            _ => fleet::Format::Text,
        };
        let line = self
            .file()
            .strip_prefix('p')
            .and_then(|number| number.parse().ok());
        if let (Some(line), None) = (line, &self.path) {
            return fleet::explain::line(console, &mut service, format, line);
        }
        let parameters: Vec<String> = self.path.iter().cloned().collect();
        fleet::explain::node(console, &service, &None, format, self.file(), &parameters)
    }
}

/// Whether a question is about a node or a plan: there is a ledger, and no such file.
pub fn is_about_fleet(
    console: &Console<'_>,
    source: &SourceOptions,
    ledger: &Ledger,
    subject: &str,
) -> bool {
    let path = console.path(subject);
    // A node may be called as a folder, where its agent keeps its files.
    let is_file =
        subject == "-" || path.exists() && !path.is_dir() || source.language(subject).is_ok();
    !is_file && ledger.is_there(console)
}

/// Explains the value at a path, in whichever reading of it there is one.
pub fn explain(compiled: &mut Configuration<'_>, path: &str) -> Result<Explanation, NoSuchPath> {
    let mut nearest = None;
    for reading in compiled.readings(path) {
        match compiled.explain(&reading) {
            Ok(explanation) => return Ok(explanation),
            // What leads further was rather meant.
            Err(missing) => {
                let is_further = |than: &NoSuchPath| missing.known.0.len() > than.known.0.len();
                if nearest.as_ref().is_none_or(is_further) {
                    nearest = Some(missing);
                }
            }
        }
        // The configuration's own name may be written, and need not.
        if let Some((Segment::Key(name), rest)) = reading.0.split_first()
            && name == "sfConfig"
            && let Ok(explanation) = compiled.explain(&Path(rest.to_vec()))
        {
            return Ok(explanation);
        }
    }
    Err(nearest.expect("a path has a reading"))
}

/// The same; if there is none, with the names that are near.
pub fn explained(compiled: &mut Configuration<'_>, path: &str) -> Result<Explanation, Stop> {
    explain(compiled, path).map_err(|missing| {
        let known = compiled.path(&missing.known);
        let readings = compiled.readings(path);
        Stop::Refused(Box::new(no_such_path(path, &readings, &known, &missing)))
    })
}

/// There is something at `known`, but not at `path`.
pub(super) fn no_such_path(
    path: &str,
    readings: &[Path],
    known: &str,
    missing: &NoSuchPath,
) -> Diagnostic {
    let place = match known {
        "" => "the configuration".to_owned(),
        known => format!("`{known}`"),
    };
    let diagnostic = Diagnostic::error(NO_SUCH_PATH, format!("there is no `{path}`"));
    if missing.names.is_empty() {
        return diagnostic.help(format!("{place} has nothing inside it"));
    }
    let wanted = readings.iter().filter_map(|reading| {
        let segment = reading.0.get(missing.known.0.len())?;
        match segment {
            Segment::Key(name) => Some(name),
            Segment::Index(_) => None,
        }
    });
    let names = missing.names.iter().map(String::as_str);
    let near = wanted.filter_map(|wanted| similar(wanted, names.clone()).first().copied());
    match near.map(str::to_owned).next() {
        Some(near) => diagnostic.help(format!("did you mean `{near}` in {place}?")),
        None => {
            let shown: Vec<&str> = names.clone().take(10).collect();
            let dots = if missing.names.len() > shown.len() {
                ", …"
            } else {
                ""
            };
            diagnostic.help(format!("{place} has {}{dots}", shown.join(", ")))
        }
    }
}

/// A part of a list or of a block, and where it comes from.
struct Element {
    /// Its key, or its index in brackets.
    name: String,
    value: Shown,
    /// Where it is written or computed.
    place: Span,
    /// What it beat.
    lost: Vec<Lost>,
}

/// The first parts of a value that has parts, each explained for itself.
fn elements(compiled: &mut Configuration<'_>, explanation: &Explanation) -> Vec<Element> {
    let segments: Vec<Segment> = match &explanation.value {
        Shown::Value(Value::List(list)) => {
            let count = list.as_slice().len().min(ELEMENTS);
            (0..count).map(Segment::Index).collect()
        }
        Shown::Value(Value::Map(map)) => {
            let keys = map.iter().take(ELEMENTS);
            keys.map(|(key, _)| Segment::Key(key.to_owned())).collect()
        }
        _ => Vec::new(),
    };
    let mut elements = Vec::with_capacity(segments.len());
    for segment in segments {
        let mut path = explanation.path.clone();
        path.0.push(segment.clone());
        let Ok(explained) = compiled.explain(&path) else {
            continue;
        };
        elements.push(Element {
            name: match segment {
                Segment::Key(key) => key,
                Segment::Index(index) => format!("[{index}]"),
            },
            place: explained.place.unwrap_or(explained.expression.span),
            value: explained.value,
            lost: explained.lost,
        });
    }
    elements
}

/// What happened in a step of an explanation, as a label for its place.
pub fn step_words(compiled: &Configuration<'_>, explanation: &Explanation, step: &Step) -> String {
    let answer = Answer {
        compiled,
        explanation,
        elements: Vec::new(),
        sources: Cow::Borrowed(&compiled.unit().sources),
    };
    answer.words(step)
}

/// The operations over the literals, if there are any.
pub fn computed(compiled: &Configuration<'_>, explanation: &Explanation) -> Option<String> {
    explanation.expression.operator.as_ref()?;
    let answer = Answer::new(compiled, explanation, Vec::new());
    let expression = answer.expression(&explanation.expression);
    Some(shortened(&expression, 3 * WIDTH))
}

/// An explanation, with what is needed to word it.
struct Answer<'a> {
    compiled: &'a Configuration<'a>,
    explanation: &'a Explanation,
    elements: Vec<Element>,
    /// The sources, without what is secret in them.
    sources: Cow<'a, Sources>,
}

impl<'a> Answer<'a> {
    fn new(
        compiled: &'a Configuration<'a>,
        explanation: &'a Explanation,
        elements: Vec<Element>,
    ) -> Self {
        let sources = &compiled.unit().sources;
        let secrets = secrets::written(compiled, explanation);
        let sources = match secrets.is_empty() {
            true => Cow::Borrowed(sources),
            false => Cow::Owned(sources.without(&secrets)),
        };
        Self {
            compiled,
            explanation,
            elements,
            sources,
        }
    }

    /// How many parts the value has that are not among the elements.
    fn further_elements(&self) -> usize {
        let count = match &self.explanation.value {
            Shown::Value(Value::List(list)) => list.as_slice().len(),
            Shown::Value(Value::Map(map)) => map.len(),
            _ => 0,
        };
        count - self.elements.len().min(count)
    }

    /// The path, or what the configuration itself is called.
    fn path(&self) -> String {
        match self.compiled.path(&self.explanation.path) {
            path if path.is_empty() => self.compiled.title().to_owned(),
            path => path,
        }
    }

    /// `s2:web:running = false   placed at site.sf:13:17`
    fn headline(&self) -> String {
        let value = self.value(&self.explanation.value);
        format!("{} = {value}   {}", self.path(), self.how())
    }

    /// `placed at site.sf:13:17`
    fn how(&self) -> String {
        let explanation = self.explanation;
        let first = explanation.steps.first().map(|step| &step.kind);
        let expression = &explanation.expression;
        let place = explanation.place.unwrap_or(expression.span);
        let place = self.location(place);
        let word = match first {
            Some(StepKind::Operation(_) | StepKind::Mutation(_) | StepKind::Written)
                if explanation.place.is_none() =>
            {
                return match expression.operator {
                    Some(_) => {
                        let expression = shortened(&self.expression(expression), 3 * WIDTH);
                        format!("computed at {place} as {expression}")
                    }
                    None => format!("computed at {place}"),
                };
            }
            Some(StepKind::Placed) => "placed",
            Some(StepKind::Block) => "defined",
            Some(StepKind::Mutation(operator)) if operator == "~>" => "merged",
            Some(StepKind::Told(_)) if self.is_resource() => "declared",
            _ => "set",
        };
        format!("{word} at {place}")
    }

    /// Whether a whole resource of a catalog was asked about.
    fn is_resource(&self) -> bool {
        matches!(self.compiled, Configuration::Puppet(_)) && self.explanation.path.0.len() == 1
    }

    /// The steps that are worth telling: of the blocks, those on the path; where prototypes and targets are defined
    /// is less so.
    fn steps(&self, full: bool, control: bool) -> impl Iterator<Item = &'a Step> + use<'a> {
        let path = self.compiled.path(&self.explanation.path);
        let steps = self.explanation.steps.iter();
        steps.filter(move |step| {
            let is_telling = full
                || step.kind != StepKind::Block
                || path.is_empty()
                || is_around(&step.path, &path);
            is_telling && (control || !step.control)
        })
    }

    /// What happened in a step, as a label for its place.
    fn words(&self, step: &Step) -> String {
        let path = &step.path;
        match &step.kind {
            StepKind::Written if step.control => "a condition depends on this".into(),
            StepKind::Written => "written here".into(),
            StepKind::Placed => "placed from here".into(),
            StepKind::Block => format!("`{path}` is defined here"),
            StepKind::Prototype => format!("`{path}` is inherited through this"),
            StepKind::Include => format!("`{path}` came through this file"),
            StepKind::Operation(operator) => format!("computed by `{operator}`"),
            StepKind::Order => "its place follows this".into(),
            StepKind::Import => format!("`{path}` came through this import"),
            StepKind::Condition => "chosen by this condition".into(),
            StepKind::Told(words) => words.to_string(),
            StepKind::Macro => "made by this macro".into(),
            StepKind::Mutation(operator) => {
                format!("`{operator}` joins it with what other files say")
            }
            StepKind::Link { passed, .. } => {
                // An operand has no name.
                let link = match path.as_str() {
                    "" => "a link to it".to_owned(),
                    path => format!("`{path}` is a link to it"),
                };
                let name = self
                    .source(step.span)
                    .split(':')
                    .next()
                    .unwrap_or("")
                    .trim();
                match passed.first() {
                    None => link,
                    Some(&nearer) => {
                        let nearer = self.location(nearer);
                        format!("{link}; the nearer `{name}` at {nearer} does not fit")
                    }
                }
            }
        }
    }

    /// A value in one line.
    fn value(&self, value: &Shown) -> String {
        let value = match value.seen() {
            Ok(value) => value,
            Err(instead) => return instead.to_owned(),
        };
        let mut json = Json::compact(Vec::new());
        value.send(&mut json);
        let bytes = json.finish().expect("a vector takes everything");
        let text = String::from_utf8(bytes).expect("JSON is text");
        shortened(text.trim_end(), WIDTH)
    }

    /// What lost, in one line: its value, or how it is written.
    fn lost(&self, lost: &Lost) -> String {
        match &lost.value {
            Some(value) => self.value(value),
            None => one_line(self.source(lost.span)),
        }
    }

    /// `, through `WebServer`` if that is how something would have come.
    fn through(&self, lost: &Lost) -> String {
        let through = lost.through.iter().copied();
        let through: Vec<String> = through
            .map(|span| format!("`{}`", one_line(self.source(span))))
            .collect();
        match through.is_empty() {
            true => String::new(),
            false => format!(", through {}", through.join(", ")),
        }
    }

    fn location(&self, span: Span) -> String {
        self.sources.location(span.start).to_string()
    }

    fn file(&self, span: Span) -> &str {
        self.sources.name(self.sources.file_at(span.start))
    }

    fn source(&self, span: Span) -> &str {
        self.sources.slice(span)
    }

    /// The operations over the literals, values filled in.
    fn expression(&self, expression: &Expression) -> String {
        let Some(operator) = expression.operator.as_deref() else {
            return match &expression.value {
                Shown::Value(Value::Reference(path)) => path.clone(),
                value => self.value(value),
            };
        };
        if operator == INTERPOLATION {
            return self.interpolated(expression);
        }
        if operator == SELECTION {
            return self.selected(expression);
        }
        let is_between = stands_between(operator);
        let operands = expression.operands.iter();
        let operands: Vec<String> = operands
            .map(|operand| match operand.operator.as_deref() {
                Some("IF" | "SWITCH") if is_between => format!("({})", self.expression(operand)),
                Some(inner) if is_between && stands_between(inner) => {
                    format!("({})", self.expression(operand))
                }
                _ => self.expression(operand),
            })
            .collect();
        match (operator, operands.as_slice()) {
            ("[ ]", elements) => format!("[{}]", elements.join(", ")),
            ("{ }", parts) => {
                let entries = parts.chunks(2).map(|entry| entry.join(": "));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
            (ACCESS, [of, keys @ ..]) => format!("{of}[{}]", keys.join(", ")),
            // If none of the conditions holds, there is no value behind them.
            ("IF" | "SWITCH", [.., condition, value])
                if condition == "true" || operator == "IF" =>
            {
                format!("IF {condition} THEN {value}")
            }
            // The left side was enough.
            ("and" | "or", [left]) => left.clone(),
            // What stands too deep is not told further.
            (_, []) if is_between => self.value(&expression.value),
            (sign, [operand]) if is_between => format!("{sign}{operand}"),
            (operator, operands) if is_between => operands.join(&format!(" {operator} ")),
            (word, operands) => format!("{word}({})", operands.join(", ")),
        }
    }

    /// `address("db").Ports[0]`
    fn selected(&self, expression: &Expression) -> String {
        let mut text = String::new();
        for (number, operand) in expression.operands.iter().enumerate() {
            match &operand.value {
                _ if number == 0 => text.push_str(&self.expression(operand)),
                Shown::Value(Value::Text(name)) => {
                    let _ = write!(text, ".{name}");
                }
                _ => {
                    let _ = write!(text, "[{}]", self.value(&operand.value));
                }
            }
        }
        text
    }

    /// `"port ${124 + 1}"`
    fn interpolated(&self, expression: &Expression) -> String {
        let mut text = String::from("\"");
        for operand in &expression.operands {
            match (&operand.operator, &operand.value) {
                (None, Shown::Value(Value::Text(_))) => {
                    let piece = self.value(&operand.value);
                    text.push_str(piece.trim_matches('"'));
                }
                _ => {
                    let _ = write!(text, "${{{}}}", self.expression(operand));
                }
            }
        }
        text.push('"');
        text
    }
}

/// A text cut to so many characters.
fn shortened(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The beginning of a stretch of source, its lines joined.
fn one_line(text: &str) -> String {
    let enough = text
        .char_indices()
        .nth(4 * WIDTH)
        .map_or(text.len(), |(end, _)| end);
    let words: Vec<&str> = text[..enough].split_whitespace().collect();
    shortened(&words.join(" "), WIDTH)
}

/// One thing, or several of them.
fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// Whether an operator is written between its operands, or before the only one.
fn stands_between(operator: &str) -> bool {
    match operator {
        "in" | "and" | "or" => true,
        "[ ]" | "{ }" | ACCESS | INTERPOLATION | SELECTION => false,
        other => !other.starts_with(char::is_alphabetic),
    }
}

/// Whether a path leads to a value or to a block around it.
fn is_around(outer: &str, path: &str) -> bool {
    let rest = path.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.', '[']))
}
