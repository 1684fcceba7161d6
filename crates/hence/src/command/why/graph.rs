//! An explanation as a graph: what leads to the value, and how.
//!
//! It is a tree. The value is its root; below it stand the operations, their operands and the ways of those, from
//! the value back to the literals. What lost stands below the value, and conditions below what they decided.

use std::collections::HashMap;

use hence_model::explanation::{Expression, Step, StepKind};
use hence_model::source::Span;

use super::{Answer, is_around, one_line};

/// So many nodes a graph has at most.
const MOST: usize = 500;

/// The graph of an explanation.
pub struct Graph {
    /// The nodes, the value first, each behind the one it leads to.
    pub nodes: Vec<Node>,
    /// How many more there would be.
    pub left_out: usize,
}

/// Something that leads to the value.
pub struct Node {
    /// The value, the operation or the reference, if it is one.
    pub title: Option<String>,
    /// What happened there.
    pub words: String,
    /// Where that is.
    pub span: Span,
    /// The node it leads to; the value leads to itself.
    pub to: usize,
    /// How it leads there.
    pub line: Line,
    /// Whether it is told only to those who ask about conditions.
    pub further: bool,
}

/// How a node leads to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// The value flows.
    Flow,
    /// It would have been the value.
    Lost,
    /// It decides.
    Control,
}

impl Line {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Line::Flow => "flow",
            Line::Lost => "lost",
            Line::Control => "control",
        }
    }
}

/// A part of the expression, and the steps that are about it.
struct Part<'e> {
    expression: &'e Expression,
    /// The operation that it is an operand of.
    of: Option<usize>,
    /// The step in which it is written or computed.
    head: Option<&'e Step>,
    /// Its way to that operation, from it outwards.
    way: Vec<&'e Step>,
    /// The conditions that chose it, and what each of them depends on.
    conditions: Vec<(&'e Step, Vec<&'e Step>)>,
}

impl Graph {
    /// The graph of an answer. Conditions are part of it, and with `full` all steps are.
    pub fn of(answer: &Answer<'_>, full: bool) -> Self {
        let explanation = answer.explanation;
        let mut parts = parts(&explanation.expression);
        let path = answer.compiled.path(&explanation.path);
        let around = assign(&mut parts, answer.steps(full, true), &path);
        let mut graph = Self {
            nodes: Vec::new(),
            left_out: 0,
        };
        let value = graph.add(Node {
            title: Some(answer.value(&explanation.value)),
            words: format!("`{}`", answer.path()),
            span: explanation.place.unwrap_or(explanation.expression.span),
            to: 0,
            line: Line::Flow,
            further: false,
        });
        let mut places: Vec<Option<usize>> = Vec::with_capacity(parts.len());
        for part in &parts {
            let to = match part.of {
                Some(of) => places[of],
                None => value,
            };
            places.push(graph.part(answer, part, to));
        }
        for step in around {
            let line = match step.control || decides(&step.kind) {
                true => Line::Control,
                false => Line::Flow,
            };
            graph.step(answer, step, value, line);
        }
        for lost in &explanation.lost {
            let rule = lost.rule.sentence();
            graph.add_to(value, |to| Node {
                title: Some(answer.lost(lost)),
                words: format!("lost{}: {rule}", answer.through(lost)),
                span: lost.span,
                to,
                line: Line::Lost,
                further: false,
            });
        }
        graph
    }

    /// The nodes to begin with: at most so many, the way of the value before what lost, and that before what decides,
    /// which is left for later unless it is asked for.
    pub fn first(&self, most: usize, control: bool) -> Vec<bool> {
        let mut depths = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            depths[at] = depths[node.to] + 1;
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&at| (self.nodes[at].line, depths[at], at));
        let mut shown = vec![false; self.nodes.len()];
        let wanted = |at: &&usize| control || !self.nodes[**at].further;
        for &at in order.iter().filter(wanted).take(most) {
            shown[at] = true;
        }
        shown
    }

    fn add(&mut self, node: Node) -> Option<usize> {
        if self.nodes.len() >= MOST {
            self.left_out += 1;
            return None;
        }
        self.nodes.push(node);
        Some(self.nodes.len() - 1)
    }

    /// Adds what leads to a node, if that one is there.
    fn add_to(&mut self, to: Option<usize>, node: impl FnOnce(usize) -> Node) -> Option<usize> {
        match to {
            Some(to) => self.add(node(to)),
            None => {
                self.left_out += 1;
                None
            }
        }
    }

    fn step(
        &mut self,
        answer: &Answer<'_>,
        step: &Step,
        to: Option<usize>,
        line: Line,
    ) -> Option<usize> {
        let is_named = names(&step.kind) || step.control;
        let title = is_named.then(|| one_line(answer.source(step.span)));
        self.add_to(to, |to| Node {
            title,
            words: answer.words(step),
            span: step.span,
            to,
            line,
            further: step.control,
        })
    }

    /// A part of the expression behind the steps of its way, of which the last is nearest to the value.
    fn part(&mut self, answer: &Answer<'_>, part: &Part<'_>, to: Option<usize>) -> Option<usize> {
        let mut steps = part.head.iter().chain(&part.way);
        let line = match steps.any(|step| step.control) {
            true => Line::Control,
            false => Line::Flow,
        };
        let mut next = to;
        for step in part.way.iter().rev() {
            next = self.step(answer, step, next, line);
        }
        let expression = part.expression;
        // What is written or computed nowhere is only there as the value.
        if part.head.is_none() && part.of.is_none() && expression.operator.is_none() {
            return next;
        }
        let value = answer.value(&expression.value);
        let title = match expression.operator.as_deref() {
            Some(operator) => format!("{operator} = {value}"),
            None => value,
        };
        let words = match (part.head, expression.operator.as_deref()) {
            (Some(head), _) => answer.words(head),
            (None, Some(operator)) => format!("computed by `{operator}`"),
            (None, None) => "written here".to_owned(),
        };
        let own = self.add_to(next, |to| Node {
            title: Some(title),
            words,
            span: expression.span,
            to,
            line,
            further: line == Line::Control,
        });
        for (condition, reasons) in &part.conditions {
            let condition = self.step(answer, condition, own, Line::Control);
            for reason in reasons {
                self.step(answer, reason, condition, Line::Control);
            }
        }
        own
    }
}

/// Whether a step decides about a value that flows elsewhere.
fn decides(kind: &StepKind) -> bool {
    matches!(kind, StepKind::Condition | StepKind::Order)
}

/// Whether what is written in the place of a step names what it is about.
fn names(kind: &StepKind) -> bool {
    matches!(
        kind,
        StepKind::Link { .. }
            | StepKind::Prototype
            | StepKind::Include
            | StepKind::Import
            | StepKind::Condition
            | StepKind::Macro
    )
}

/// All parts of an expression, each behind the operation that it is an operand of.
fn parts(expression: &Expression) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut pending = vec![(expression, None)];
    while let Some((expression, of)) = pending.pop() {
        let at = parts.len();
        parts.push(Part {
            expression,
            of,
            head: None,
            way: Vec::new(),
            conditions: Vec::new(),
        });
        let operands = expression.operands.iter().rev();
        pending.extend(operands.map(|operand| (operand, Some(at))));
    }
    parts
}

/// Finds out which part of the expression each step is about. Steps come as the explainers tell them: an operation,
/// then its operands in order, and each of these followed by its way outwards. Those about what is around the value
/// are returned.
fn assign<'e>(
    parts: &mut [Part<'e>],
    steps: impl Iterator<Item = &'e Step>,
    path: &str,
) -> Vec<&'e Step> {
    let mut places: HashMap<Span, Vec<usize>> = HashMap::new();
    for (at, part) in parts.iter().enumerate() {
        places.entry(part.expression.span).or_default().push(at);
    }
    let mut around: Vec<&Step> = Vec::new();
    // The part whose way is being told, those behind it that were not told yet, and whether its way has come to the
    // operation that it belongs to.
    let mut current = 0;
    let mut untold = 0;
    let mut arrived = false;
    let mut in_condition = false;
    for step in steps {
        if in_condition && step.control {
            let conditions = parts[current].conditions.last_mut();
            conditions.expect("a condition was told").1.push(step);
            continue;
        }
        in_condition = false;
        if is_head(&step.kind)
            && let Some(found) = places.get(&step.span)
            && let Some(&at) = found.get(found.partition_point(|&at| at < untold))
        {
            parts[at].head = Some(step);
            current = at;
            untold = at + 1;
            arrived = parts[at]
                .of
                .is_none_or(|of| contains(&parts[of], step.span));
            continue;
        }
        let is_around = is_around(&step.path, path) && !step.path.is_empty();
        let is_outside = match step.kind {
            // What a block was merged from stands side by side.
            StepKind::Mutation(_) => parts[current].of.is_none() && parts[current].head.is_none(),
            StepKind::Condition => step.control,
            StepKind::Order => true,
            StepKind::Block | StepKind::Told(_) => is_around,
            _ => false,
        };
        if is_outside || !around.is_empty() {
            around.push(step);
            continue;
        }
        // Behind the place where an operand is used, the way is that of the operation.
        while arrived
            && let Some(of) = parts[current].of
            && !contains(&parts[of], step.span)
        {
            current = of;
            arrived = parts[of]
                .of
                .is_none_or(|above| contains(&parts[above], parts[of].expression.span));
        }
        if step.kind == StepKind::Condition {
            parts[current].conditions.push((step, Vec::new()));
            in_condition = true;
            continue;
        }
        // A mutation is where a value is joined with others; elsewhere an operand is used inside of its operation.
        arrived |= match (parts[current].of, &step.kind) {
            (_, StepKind::Mutation(_)) => true,
            (Some(of), _) => contains(&parts[of], step.span),
            (None, _) => false,
        };
        parts[current].way.push(step);
    }
    around
}

/// Whether a step is the one in which a part of an expression begins.
fn is_head(kind: &StepKind) -> bool {
    matches!(
        kind,
        StepKind::Written
            | StepKind::Placed
            | StepKind::Operation(_)
            | StepKind::Block
            | StepKind::Import
    )
}

fn contains(part: &Part<'_>, span: Span) -> bool {
    let whole = part.expression.span;
    whole.start <= span.start && span.end <= whole.end
}
