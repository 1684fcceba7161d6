//! `hence why`: where a value comes from, and what it beat.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::explanation::{Explanation, Expression, Lost, NoSuchPath, Shown, Step, StepKind};
use hence_model::path::{Path, Segment};
use hence_model::print::json::Json;
use hence_model::source::Span;
use hence_model::value::{List, Map, Value};

use super::source::SourceOptions;
use crate::configuration::Configuration;
use crate::console::Console;
use crate::render::{self, Excerpt};
use crate::{Exit, Stop};

/// There is no value at a path.
pub const NO_SUCH_PATH: Code = Code::new("why.no-such-path");

/// The operator of a text with values in it.
const INTERPOLATION: &str = "\"…\"";

/// What is shown of a secret.
const SECRET: &str = "‹secret›";

/// Say why a value is what it is
#[derive(Args)]
pub struct Why {
    /// The file that is compiled
    file: String,
    /// The value: `s2:web:running`, `s2.web.running`, `ports[0]`
    path: String,
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
}

impl Why {
    /// Answers.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let outside = self.source.outside(console);
        self.source
            .compile(console, &outside, &self.file, |console, compiled| {
                if !compiled.is_good() {
                    return Ok(outside.blame());
                }
                let explanation = match explain(compiled, &self.path) {
                    Ok(explanation) => explanation,
                    Err(missing) => {
                        let known = compiled.path(&missing.known);
                        let diagnostic = no_such_path(
                            &self.path,
                            &compiled.readings(&self.path),
                            &known,
                            &missing,
                        );
                        return Err(Stop::Refused(Box::new(diagnostic)));
                    }
                };
                let answer = Answer {
                    compiled,
                    explanation: &explanation,
                };
                let text = match (self.format, self.form) {
                    (Format::Json, _) => answer.json(),
                    (Format::Dot, _) => answer.dot(self.control),
                    (Format::Text, None) => self.text(&answer, console.is_colourful()),
                    (Format::Text, Some(Form::Where)) => match explanation.place {
                        Some(place) => format!("{}\n", answer.location(place)),
                        None => "nowhere: it was computed; `--form expression` says how\n".into(),
                    },
                    (Format::Text, Some(Form::Expression)) => {
                        let expression = answer.expression(&explanation.expression);
                        match explanation.expression.operator {
                            Some(_) => {
                                format!("{expression} = {}\n", answer.value(&explanation.value))
                            }
                            None => format!("{expression}\n"),
                        }
                    }
                    (Format::Text, Some(Form::Dependency)) => answer.dependency(),
                };
                console.data().write_all(text.as_bytes())?;
                Ok(Exit::Done)
            })
    }

    /// The answer in one line, then the way with excerpts, then what lost.
    fn text(&self, answer: &Answer<'_>, colour: bool) -> String {
        let explanation = answer.explanation;
        let steps = explanation.steps.iter();
        // The blocks on the path are worth a line; where prototypes and targets are defined is less so.
        let path = answer.compiled.path(&explanation.path);
        let is_telling = |step: &&Step| {
            self.full
                || step.kind != StepKind::Block
                || path.is_empty()
                || is_around(&step.path, &path)
        };
        let steps: Vec<_> = steps
            .filter(|step| self.control || !step.control)
            .filter(is_telling)
            .collect();
        let shown = if self.full { steps.len() } else { self.depth };
        let excerpts = steps.iter().take(shown).map(|step| Excerpt {
            span: step.span,
            text: answer.words(step),
        });
        let mut text = render::excerpts_under(
            &answer.compiled.unit().sources,
            &answer.headline(),
            excerpts.collect(),
            colour,
        );
        if steps.len() > shown {
            let more = steps.len() - shown;
            let steps = if more == 1 { "step" } else { "steps" };
            let _ = writeln!(text, "({more} more {steps}: --full)");
        }
        if !explanation.lost.is_empty() {
            text.push_str("\nlost to it:\n");
            for lost in &explanation.lost {
                let value = answer.lost(lost);
                let place = answer.location(lost.span);
                let through: Vec<String> = lost
                    .through
                    .iter()
                    .map(|&span| format!("`{}`", answer.source(span)))
                    .collect();
                let through = match through.is_empty() {
                    true => String::new(),
                    false => format!(", through {}", through.join(", ")),
                };
                let rule = lost.rule.sentence();
                let value = if colour {
                    format!("\x1b[9m{value}\x1b[0m")
                } else {
                    value
                };
                let _ = writeln!(text, "  {value}   {place}{through}: {rule}");
            }
        }
        text
    }
}

/// Explains the value at a path, in whichever reading of it there is one.
pub fn explain(compiled: &mut Configuration<'_>, path: &str) -> Result<Explanation, NoSuchPath> {
    let mut first = None;
    for reading in compiled.readings(path) {
        match compiled.explain(&reading) {
            Ok(explanation) => return Ok(explanation),
            Err(missing) => first = first.or(Some(missing)),
        }
        // The configuration's own name may be written, and need not.
        if let Some((Segment::Key(name), rest)) = reading.0.split_first()
            && name == "sfConfig"
            && let Ok(explanation) = compiled.explain(&Path(rest.to_vec()))
        {
            return Ok(explanation);
        }
    }
    Err(first.expect("a path has a reading"))
}

/// What happened in a step of an explanation, as a label for its place.
pub fn step_words(compiled: &Configuration<'_>, explanation: &Explanation, step: &Step) -> String {
    let answer = Answer {
        compiled,
        explanation,
    };
    answer.words(step)
}

/// There is something at `known`, but not at `path`.
fn no_such_path(path: &str, readings: &[Path], known: &str, missing: &NoSuchPath) -> Diagnostic {
    let place = match known {
        "" => "the configuration".to_owned(),
        known => format!("`{known}`"),
    };
    let diagnostic = Diagnostic::error(NO_SUCH_PATH, format!("there is no `{path}`"));
    if missing.names.is_empty() {
        return diagnostic.help(format!("{place} has nothing inside it"));
    }
    let wanted = match readings[0].0.get(missing.known.0.len()) {
        Some(Segment::Key(name)) => name.clone(),
        _ => String::new(),
    };
    let names = missing.names.iter().map(String::as_str);
    match similar(&wanted, names.clone()).first() {
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

/// An explanation, with what is needed to word it.
struct Answer<'a> {
    compiled: &'a Configuration<'a>,
    explanation: &'a Explanation,
}

impl Answer<'_> {
    /// `s2:web:running = false   placed at site.sf:13:17`
    fn headline(&self) -> String {
        let explanation = self.explanation;
        let value = self.value(&explanation.value);
        let how = match explanation.steps.first().map(|step| &step.kind) {
            Some(StepKind::Operation(_) | StepKind::Mutation(_) | StepKind::Written)
                if explanation.place.is_none() =>
            {
                let span = explanation.expression.span;
                let expression = self.expression(&explanation.expression);
                format!("computed at {} as {expression}", self.location(span))
            }
            first => {
                let word = match first {
                    Some(StepKind::Placed) => "placed",
                    Some(StepKind::Block) => "defined",
                    _ => "set",
                };
                let place = explanation.place.unwrap_or(explanation.expression.span);
                format!("{word} at {}", self.location(place))
            }
        };
        let path = match self.compiled.path(&explanation.path) {
            path if path.is_empty() => self.compiled.title().to_owned(),
            path => path,
        };
        format!("{path} = {value}   {how}")
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

    fn value(&self, value: &Shown) -> String {
        let Shown::Value(value) = value else {
            return SECRET.to_owned();
        };
        let mut json = Json::compact(Vec::new());
        value.send(&mut json);
        let bytes = json.finish().expect("a vector takes everything");
        let text = String::from_utf8(bytes).expect("JSON is text");
        let text = text.trim_end();
        match text.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }
    }

    fn lost(&self, lost: &Lost) -> String {
        match &lost.value {
            Some(value) => self.value(value),
            None => self.source(lost.span).to_owned(),
        }
    }

    fn owned(&self, value: &Shown) -> Value {
        match value {
            Shown::Value(value) => value.clone(),
            Shown::Secret => Value::Text(SECRET.to_owned()),
        }
    }

    fn location(&self, span: Span) -> String {
        self.compiled
            .unit()
            .sources
            .location(span.start)
            .to_string()
    }

    fn source(&self, span: Span) -> &str {
        self.compiled.unit().sources.slice(span)
    }

    /// The operations over the literals, values filled in.
    fn expression(&self, expression: &Expression) -> String {
        let Some(operator) = expression.operator.as_deref() else {
            return self.value(&expression.value);
        };
        let operands: Vec<String> = expression
            .operands
            .iter()
            .map(|operand| match operand.operator.as_deref() {
                Some("[ ]") | None => self.expression(operand),
                Some(_) => format!("({})", self.expression(operand)),
            })
            .collect();
        match (operator, operands.as_slice()) {
            ("[ ]", elements) => format!("[{}]", elements.join(", ")),
            (INTERPOLATION, _) => self.interpolated(expression),
            ("!", [operand]) => format!("!{operand}"),
            // If none of the conditions holds, there is no value behind them.
            ("IF" | "SWITCH", [.., condition, value])
                if condition == "true" || operator == "IF" =>
            {
                format!("IF {condition} THEN {value}")
            }
            (word, operands) if word.starts_with(char::is_alphabetic) => {
                format!("{word}({})", operands.join(", "))
            }
            (operator, operands) => operands.join(&format!(" {operator} ")),
        }
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

    fn dependency(&self) -> String {
        let mut text = String::new();
        for dependence in &self.explanation.depends {
            let place = self.location(dependence.span);
            let source = self.source(dependence.span).lines().next().unwrap_or("");
            let _ = writeln!(text, "{place}  {}  {source}", dependence.role.word());
        }
        text
    }

    fn json(&self) -> String {
        let explanation = self.explanation;
        let text = |text: &str| Value::Text(text.to_owned());
        let place = |span: Span| {
            let location = self.compiled.unit().sources.location(span.start);
            let mut map = Map::default();
            map.insert("file".into(), Value::Text(location.file));
            map.insert("line".into(), Value::Integer(location.line.into()));
            map.insert("column".into(), Value::Integer(location.column.into()));
            map
        };
        let list = |values: Vec<Value>| Value::List(List::from(values));
        let mut answer = Map::default();
        answer.insert("path".into(), text(&self.compiled.path(&explanation.path)));
        answer.insert("value".into(), self.owned(&explanation.value));
        let place_of_value = explanation.place.map(|span| Value::Map(place(span)));
        answer.insert("where".into(), place_of_value.unwrap_or(Value::Null));

        let mut expression = Map::default();
        let words = self.expression(&explanation.expression);
        expression.insert("text".into(), text(&words));
        let mut leaves = Vec::new();
        gather(&explanation.expression, &mut leaves);
        let operands = leaves.into_iter().map(|leaf| {
            let mut map = place(leaf.span);
            map.insert("value".into(), self.owned(&leaf.value));
            map.insert("text".into(), text(self.source(leaf.span)));
            Value::Map(map)
        });
        expression.insert("operands".into(), list(operands.collect()));
        answer.insert("expression".into(), Value::Map(expression));

        let depends = explanation.depends.iter().map(|dependence| {
            let mut map = place(dependence.span);
            map.insert("role".into(), text(dependence.role.word()));
            Value::Map(map)
        });
        answer.insert("depends".into(), list(depends.collect()));
        let steps = explanation.steps.iter().map(|step| {
            let mut map = Map::default();
            map.insert("step".into(), text(kind(&step.kind)));
            map.insert("text".into(), text(&self.words(step)));
            for (key, value) in place(step.span).iter() {
                map.insert(key.into(), value.clone());
            }
            map.insert("path".into(), text(&step.path));
            map.insert("control".into(), Value::Bool(step.control));
            Value::Map(map)
        });
        answer.insert("steps".into(), list(steps.collect()));
        let lost = explanation.lost.iter().map(|lost| {
            let mut map = Map::default();
            let value = lost.value.as_ref().map(|value| self.owned(value));
            map.insert("value".into(), value.unwrap_or(Value::Null));
            for (key, value) in place(lost.span).iter() {
                map.insert(key.into(), value.clone());
            }
            map.insert("rule".into(), text(lost.rule.sentence()));
            let through = lost.through.iter().map(|&span| Value::Map(place(span)));
            map.insert("through".into(), list(through.collect()));
            Value::Map(map)
        });
        answer.insert("lost".into(), list(lost.collect()));

        let mut json = Json::compact(Vec::new());
        Value::Map(answer).send(&mut json);
        let bytes = json.finish().expect("a vector takes everything");
        String::from_utf8(bytes).expect("JSON is text")
    }

    /// A graph: solid arrows for values, dashed ones for control, grey for what lost.
    fn dot(&self, control: bool) -> String {
        let explanation = self.explanation;
        let mut dot = String::from("digraph why {\n  rankdir=LR;\n  node [shape=box];\n");
        let quoted =
            |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let path = self.compiled.path(&explanation.path);
        let value = format!("{path} = {}", self.value(&explanation.value));
        let _ = writeln!(dot, "  value [label={}, penwidth=2];", quoted(&value));
        let steps = explanation
            .steps
            .iter()
            .filter(|step| control || !step.control);
        let mut target = "value".to_owned();
        let steps: Vec<_> = steps.collect();
        for (i, step) in steps.iter().enumerate().rev() {
            let place = format!("{}\n{}", self.location(step.span), self.words(step));
            let label = quoted(&place).replace('\n', "\\n");
            let _ = writeln!(dot, "  step{i} [label={label}];");
            let style = if step.control { " [style=dashed]" } else { "" };
            let _ = writeln!(dot, "  step{i} -> {target}{style};");
            if !step.control {
                target = format!("step{i}");
            }
        }
        for (i, lost) in explanation.lost.iter().enumerate() {
            let label = format!(
                "{} {}\n{}",
                self.lost(lost),
                self.location(lost.span),
                lost.rule.sentence()
            );
            let label = quoted(&label).replace('\n', "\\n");
            let _ = writeln!(
                dot,
                "  lost{i} [label={label}, color=grey, fontcolor=grey];"
            );
            let _ = writeln!(dot, "  lost{i} -> value [color=grey, style=dotted];");
        }
        dot.push_str("}\n");
        dot
    }
}

/// Whether a path leads to a value or to a block around it.
fn is_around(outer: &str, path: &str) -> bool {
    let rest = path.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.', '[']))
}

/// The word for a step in JSON.
fn kind(kind: &StepKind) -> &'static str {
    match kind {
        StepKind::Written => "written",
        StepKind::Placed => "placed",
        StepKind::Block => "block",
        StepKind::Prototype => "prototype",
        StepKind::Include => "include",
        StepKind::Operation(_) => "operation",
        StepKind::Order => "order",
        StepKind::Import => "import",
        StepKind::Condition => "condition",
        StepKind::Macro => "macro",
        StepKind::Mutation(_) => "mutation",
        StepKind::Link { .. } => "link",
        StepKind::Told(_) => "told",
    }
}

/// The literals that an expression is made of, in order.
fn gather<'e>(expression: &'e Expression, leaves: &mut Vec<&'e Expression>) {
    if expression.operator.is_none() {
        leaves.push(expression);
    }
    for operand in &expression.operands {
        gather(operand, leaves);
    }
}
