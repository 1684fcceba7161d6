//! Which way a decision goes, whatever else one of its operands were.
//!
//! `$facts['os'] == 'web'` does not hold for Debian, and it would not with any other key either, if no fact is `web`:
//! then the key is no reason. Neither is what `$a ? { 1 => 'x', default => 'y' } == 'z'` chooses by. So a test is tried
//! with what an operand could be instead, as far as that is known without running anything else.

use ecow::EcoString;

use crate::compare;
use crate::compile::Recording;
use crate::evaluate::{Evaluator, unwrapped};
use crate::functions;
use crate::leaving::Leaving;
use crate::syntax::{Block, Case, Expression, Kind, Lambda, Operator};
use crate::trace::{Code, Node, Origin, Source};
use crate::value::{Datum, Value};

/// Containers with more elements are not gone through.
const MOST_ELEMENTS: u64 = 4_096;

/// Something that is decided by a value, others staying as they are.
#[derive(Debug)]
pub(crate) struct Decision<'t> {
    by: By<'t>,
    /// What it comes to.
    result: Datum,
    /// What that decides in turn.
    then: Option<u32>,
}

/// What is done with a value to decide something.
#[derive(Debug)]
enum By<'t> {
    /// It is an operand of an operation: which one, and what all of them are.
    Operation(&'t Expression, usize, Vec<Value>),
    /// An element is taken out of it.
    Access(Datum),
    /// It is the condition of a conditional.
    Truth,
}

/// What comes of trying something else.
enum Tried {
    Value(Datum),
    /// There is no catalog then.
    Fails,
    Unknown,
}

/// All decisions that were looked into, by number.
#[derive(Debug, Default)]
pub(crate) struct Decisions<'t> {
    all: Vec<Decision<'t>>,
}

impl<'t> Decisions<'t> {
    fn add(&mut self, by: By<'t>, now: &Datum, then: Option<u32>) -> Option<u32> {
        let Tried::Value(result) = tried(&by, now) else {
            return None;
        };
        self.all.push(Decision { by, result, then });
        Some(self.all.len() as u32 - 1)
    }

    /// What an operand of an operation decides; none if that is not known well.
    pub(crate) fn operation(
        &mut self,
        at: &'t Expression,
        operands: &[Value],
        which: usize,
        then: Option<u32>,
    ) -> Option<u32> {
        let by = By::Operation(at, which, operands.to_vec());
        self.add(by, &operands[which].datum, then)
    }

    /// What a container decides, of which an element decides something.
    pub(crate) fn access(&mut self, container: &Value, key: &Value, then: u32) -> Option<u32> {
        let by = By::Access(key.datum.clone());
        self.add(by, &container.datum, Some(then))
    }

    /// What a condition decides that holds or does not.
    pub(crate) fn truth(&mut self, holds: bool) -> u32 {
        let result = Datum::Bool(holds);
        let by = By::Truth;
        let then = None;
        self.all.push(Decision { by, result, then });
        self.all.len() as u32 - 1
    }

    /// The key of the element that alone matters for a decision.
    pub(crate) fn key(&self, number: u32) -> Option<&Datum> {
        match &self.all[number as usize].by {
            By::Access(key) => Some(key),
            _ => None,
        }
    }

    /// Whether everything stays as it is with something else in the place of the value.
    pub(crate) fn stays(&self, number: u32, other: &Datum) -> bool {
        let mut decision = &self.all[number as usize];
        let mut other = other.clone();
        loop {
            match tried(&decision.by, &other) {
                Tried::Fails => return true,
                Tried::Unknown => return false,
                Tried::Value(result) if result == decision.result => return true,
                Tried::Value(result) => match decision.then {
                    Some(then) => {
                        decision = &self.all[then as usize];
                        other = result;
                    }
                    None => return false,
                },
            }
        }
    }
}

fn tried(by: &By<'_>, value: &Datum) -> Tried {
    match by {
        By::Truth => Tried::Value(Datum::Bool(value.is_true())),
        By::Access(key) => element(value, key),
        By::Operation(at, which, operands) => {
            let of = |number: usize| match number == *which {
                true => Some(value),
                false => operands.get(number).map(|operand| &operand.datum),
            };
            operation(at, &of, operands.len())
        }
    }
}

/// What an element of something is.
fn element(container: &Datum, key: &Datum) -> Tried {
    match (container, key) {
        (Datum::Hash(hash), key) => {
            let found = hash.get(key);
            Tried::Value(found.map_or(Datum::Undef, |found| found.datum.clone()))
        }
        (Datum::Array(array), Datum::Integer(at @ 0..)) => {
            let found = array.get(*at as usize);
            Tried::Value(found.map_or(Datum::Undef, |found| found.datum.clone()))
        }
        (Datum::Text(text), Datum::Integer(at @ 0..)) => {
            let char = text.chars().skip(*at as usize).take(1);
            Tried::Value(Datum::Text(char.collect()))
        }
        (Datum::Undef | Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_), _) => Tried::Fails,
        _ => Tried::Unknown,
    }
}

fn operation<'a>(
    at: &Expression,
    operand: &dyn Fn(usize) -> Option<&'a Datum>,
    count: usize,
) -> Tried {
    let truth = |holds: bool| Tried::Value(Datum::Bool(holds));
    match (&at.kind, operand(0), operand(1)) {
        (Kind::Not(_), Some(value), None) => truth(!value.is_true()),
        (Kind::Binary(operator, _), Some(left), Some(right)) => match operator {
            Operator::And => truth(left.is_true() && right.is_true()),
            Operator::Or => truth(left.is_true() || right.is_true()),
            Operator::Equal => truth(compare::equal(left, right)),
            Operator::NotEqual => truth(!compare::equal(left, right)),
            Operator::In => match left {
                Datum::Pattern(_) => Tried::Unknown,
                _ => truth(compare::included(left, right)),
            },
            Operator::Match | Operator::NoMatch => match (left, right) {
                // A match brings `$1` and the like, which is more than a decision.
                (Datum::Text(text), Datum::Pattern(pattern)) => match pattern.is_match(text) {
                    true => Tried::Unknown,
                    false => truth(*operator == Operator::NoMatch),
                },
                (_, Datum::Pattern(_)) => Tried::Fails,
                _ => Tried::Unknown,
            },
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => ordered(*operator, left, right),
            _ => Tried::Unknown,
        },
        // The other side was not looked at: it is, if this one leaves it open.
        (Kind::Binary(operator @ (Operator::And | Operator::Or), _), Some(left), None) => {
            match left.is_true() == (*operator == Operator::Or) {
                true => truth(left.is_true()),
                false => Tried::Unknown,
            }
        }
        (Kind::Case(_) | Kind::Selector(_), Some(test), _) => {
            for number in 1..count {
                match operand(number).map(|option| fits(test, option)) {
                    Some(Some(false)) => {}
                    Some(Some(true)) => return Tried::Value(Datum::Integer(number as i64)),
                    _ => return Tried::Unknown,
                }
            }
            Tried::Value(Datum::Integer(0))
        }
        _ => Tried::Unknown,
    }
}

fn ordered(operator: Operator, left: &Datum, right: &Datum) -> Tried {
    if matches!(left, Datum::Type(_)) || matches!(right, Datum::Type(_)) {
        return Tried::Unknown;
    }
    let Ok(ordering) = compare::compare(left, right) else {
        return Tried::Fails;
    };
    Tried::Value(Datum::Bool(match operator {
        Operator::Less => ordering.is_lt(),
        Operator::LessOrEqual => ordering.is_le(),
        Operator::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    }))
}

/// Whether an option fits; none if that is more than a decision, or not known.
fn fits(test: &Datum, option: &Datum) -> Option<bool> {
    match option {
        Datum::Default => Some(true),
        Datum::Pattern(pattern) => match test {
            Datum::Text(text) => (!pattern.is_match(text)).then_some(false),
            _ => Some(false),
        },
        Datum::Type(kind) => Some(kind.instance(test)),
        Datum::Array(_) | Datum::Hash(_) => None,
        other => Some(compare::matches(test, other)),
    }
}

/// What decides which option a case takes: what is looked at, and what it was compared with. By which of its values the
/// option is found does not matter, but for `$1`.
pub(crate) fn needed(case: &Case, tried: &[Value]) -> Vec<Value> {
    let beside = beside(case, tried);
    let needed = tried.iter().enumerate().filter(|(number, value)| {
        !beside.contains(number) || matches!(value.datum, Datum::Pattern(_))
    });
    needed.map(|(_, value)| value.clone()).collect()
}

/// The values of the option that a case took, besides the one that fits.
fn beside(case: &Case, tried: &[Value]) -> Vec<usize> {
    let mut options = Vec::new();
    let mut default = None;
    for (number, option) in case.options.iter().enumerate() {
        for value in &option.values {
            match unwrapped(value).kind {
                Kind::Default => default = Some(number),
                Kind::Splat(_) => return Vec::new(),
                _ => options.push(number),
            }
        }
    }
    let [test, values @ ..] = tried else {
        return Vec::new();
    };
    let fitting = values.last().map(|last| fits(&test.datum, &last.datum));
    let (taken, others) = match fitting {
        Some(Some(true)) => (options.get(values.len() - 1).copied(), values.len() - 1),
        Some(Some(false)) if values.len() == options.len() => (default, values.len()),
        _ => (None, 0),
    };
    let is_beside = |number: &usize| taken.is_some() && options.get(number - 1).copied() == taken;
    (1..=others).filter(is_beside).collect()
}

/// All that a written key could name instead: the elements, and nothing.
pub(crate) fn elements(container: &Datum) -> Option<Vec<&Datum>> {
    let elements: Vec<&Datum> = match container {
        Datum::Array(array) => array.iter().map(|value| &value.datum).collect(),
        Datum::Hash(hash) => hash.iter().map(|(_, entry)| &entry.value.datum).collect(),
        _ => return None,
    };
    Some([&Datum::Undef].into_iter().chain(elements).collect())
}

impl<'t> Evaluator<'t> {
    /// Whether a container is what is written in one place, with all that is in it: no key that is written elsewhere
    /// is part of it.
    pub(crate) fn is_fixed(&self, container: &Value) -> bool {
        let mut value = container;
        loop {
            match self.trace.source(value.origin) {
                Source::Nowhere | Source::Written(_) | Source::Node(Node::Outside(_)) => break,
                Source::Node(Node::Variable { definition, .. }) => {
                    value = &self.trace.definition(*definition).value;
                    match self.trace.source(value.origin) {
                        Source::Node(Node::Outside(_)) => {}
                        Source::Node(_) => return false,
                        _ => {}
                    }
                }
                Source::Node(Node::Element { operands, .. }) => {
                    match self.trace.operands(*operands) {
                        [_, around, _] => value = around,
                        _ => return false,
                    }
                }
                Source::Node(_) => return false,
            }
        }
        container.datum.size() <= MOST_ELEMENTS && is_written(container)
    }

    /// What an expression comes to that needs nothing but itself.
    pub(crate) fn constant(&mut self, at: &'t Expression) -> Option<Datum> {
        if !is_constant(at, &mut Vec::new()) {
            return None;
        }
        let recording = self.trace.record(Recording::Nothing);
        let warnings = self.warnings.len();
        let value = self.leavable(|evaluator| evaluator.guarded(|inner| inner.nested(at)));
        self.warnings.truncate(warnings);
        self.trace.record(recording);
        value.ok().map(|value| value.datum)
    }
}

/// Whether everything in a value is written in its place.
fn is_written(value: &Value) -> bool {
    let written = |origin: Origin| origin.node().is_none();
    match &value.datum {
        Datum::Array(array) => array
            .iter()
            .all(|one| written(one.origin) && is_written(one)),
        Datum::Hash(hash) => hash.iter().all(|(_, entry)| {
            written(entry.key) && written(entry.value.origin) && is_written(&entry.value)
        }),
        Datum::Sensitive(_) | Datum::Object(_) => false,
        _ => true,
    }
}

/// Whether an expression is made of literals alone. `own` are the parameters of lambdas in it.
fn is_constant<'t>(at: &'t Expression, own: &mut Vec<&'t EcoString>) -> bool {
    match &at.kind {
        Kind::Undef | Kind::Bool(_) | Kind::Integer(_) | Kind::Float(_) | Kind::Text(_) => true,
        Kind::Name(_) | Kind::Pattern(_) => true,
        Kind::Variable(name) => own.contains(&name),
        Kind::Interpolated(inner) | Kind::Array(inner) => {
            inner.iter().all(|one| is_constant(one, own))
        }
        Kind::Parenthesised(inner) | Kind::Not(inner) | Kind::Minus(inner) | Kind::Splat(inner) => {
            is_constant(inner, own)
        }
        Kind::Hash(entries) => entries
            .iter()
            .all(|(key, value)| is_constant(key, own) && is_constant(value, own)),
        Kind::Binary(_, both) => both.iter().all(|one| is_constant(one, own)),
        Kind::Access(of, keys) => {
            is_constant(of, own) && keys.iter().all(|key| is_constant(key, own))
        }
        Kind::Selector(selector) => {
            let constant = |one: &'t Expression, own: &mut Vec<&'t EcoString>| {
                matches!(unwrapped(one).kind, Kind::Default) || is_constant(one, own)
            };
            is_constant(&selector.test, own)
                && selector
                    .options
                    .iter()
                    .all(|(option, value)| constant(option, own) && is_constant(value, own))
        }
        Kind::If(conditional) => {
            let otherwise = conditional.otherwise.as_ref();
            is_constant(&conditional.condition, own)
                && only(&conditional.then).is_some_and(|one| is_constant(one, own))
                && otherwise
                    .is_none_or(|block| only(block).is_some_and(|one| is_constant(one, own)))
        }
        Kind::Call(call) => {
            let Kind::Name(name) = &call.function.kind else {
                return false;
            };
            let is_plain = match name.as_str() {
                "upcase" | "downcase" | "capitalize" | "length" | "size" | "empty" => {
                    call.lambda.is_none()
                }
                "map" | "filter" | "reduce" => match &call.lambda {
                    Some(lambda) => is_constant_lambda(lambda, own),
                    None => false,
                },
                _ => false,
            };
            is_plain
                && functions::find(name).is_some()
                && call.arguments.iter().all(|one| is_constant(one, own))
        }
        _ => false,
    }
}

fn is_constant_lambda<'t>(lambda: &'t Lambda, own: &mut Vec<&'t EcoString>) -> bool {
    let parameters = lambda.parameters.iter();
    let is_bare = parameters
        .clone()
        .all(|one| one.default.is_none() && !one.rest);
    let known = own.len();
    own.extend(parameters.map(|parameter| &parameter.name));
    let body = only(&lambda.body).is_some_and(|one| is_constant(one, own));
    own.truncate(known);
    is_bare && lambda.returns.is_none() && body
}

/// The only statement of a body.
fn only(block: &Block) -> Option<&Expression> {
    match block.statements.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// What a conditional could come to.
pub(crate) struct Way<'t> {
    /// The code.
    pub(crate) code: Code<'t>,
    /// What its value is said by; none if it is more than an expression.
    pub(crate) value: Option<&'t Expression>,
}

/// The ways of a conditional, and whether there is one more, which comes to `undef`.
pub(crate) fn ways(at: &Expression) -> (Vec<Way<'_>>, bool) {
    let of_block = |block| Way {
        code: Code::Block(block),
        value: only(block),
    };
    match &at.kind {
        Kind::If(conditional) => {
            let otherwise = conditional.otherwise.as_ref();
            let blocks = [&conditional.then].into_iter().chain(otherwise);
            (blocks.map(of_block).collect(), otherwise.is_none())
        }
        Kind::Case(case) => {
            let is_default = |value: &Expression| matches!(unwrapped(value).kind, Kind::Default);
            let mut values = case.options.iter().flat_map(|option| &option.values);
            let open = !values.any(is_default);
            let bodies = case.options.iter().map(|option| &option.body);
            (bodies.map(of_block).collect(), open)
        }
        Kind::Selector(selector) => {
            let values = selector.options.iter().map(|(_, value)| Way {
                code: Code::Expression(value),
                value: Some(value),
            });
            (values.collect(), false)
        }
        _ => (Vec::new(), true),
    }
}

/// How many elements an array has that is written out, whatever they are.
pub(crate) fn written_length(at: &Expression) -> Option<usize> {
    match &at.kind {
        Kind::Parenthesised(inner) => written_length(inner),
        Kind::Array(elements) => {
            let apart = |one: &Expression| match &unwrapped(one).kind {
                Kind::Splat(inner) => written_length(inner),
                _ => Some(1),
            };
            elements.iter().map(apart).sum()
        }
        Kind::Binary(Operator::Add, both) => {
            let [left, right] = &**both;
            Some(written_length(left)? + written_length(right)?)
        }
        Kind::Call(call) => match &call.function.kind {
            Kind::Name(name) if name == "map" => {
                let leaving = Leaving::of(Code::Lambda(call.lambda.as_ref()?));
                let body = Leaving::of(Code::Block(&call.lambda.as_ref()?.body));
                let ends = leaving.is_possible() || !body.ends_round_only();
                (!ends).then(|| written_length(call.arguments.first()?))?
            }
            _ => None,
        },
        _ => None,
    }
}
