//! The answer for programs, as `docs/why.schema.json` describes it.

use hence_model::explanation::{Expression, Lost, Shown, StepKind};
use hence_model::print::json::Json;
use hence_model::source::Span;
use hence_model::value::{List, Map, Value};

use super::{Answer, shortened};
use crate::places::Places;

/// How answers are written; fields that the schema does not know, or no longer has, mean another number.
const FORMAT: i64 = 1;
/// So many characters of what is written are told.
const LONGEST: usize = 1_000;

/// The whole answer as a line of JSON.
pub fn answer(answer: &Answer<'_>) -> String {
    let explanation = answer.explanation;
    let mut writer = Writer {
        answer,
        places: Places::new(&answer.sources),
    };
    let mut map = Map::default();
    map.insert("format".into(), Value::Integer(FORMAT));
    let path = answer.compiled.path(&explanation.path);
    map.insert("path".into(), Value::Text(path));
    map.insert("value".into(), explanation.value.to_value());
    let place = explanation.place.map(|span| Value::Map(writer.place(span)));
    map.insert("where".into(), place.unwrap_or(Value::Null));

    let mut expression = Map::default();
    let words = answer.expression(&explanation.expression);
    expression.insert("text".into(), Value::Text(words));
    let mut leaves = Vec::new();
    gather(&explanation.expression, &mut leaves);
    let operands = leaves.into_iter().map(|leaf| {
        let mut map = writer.place(leaf.span);
        map.insert("value".into(), leaf.value.to_value());
        map.insert(
            "text".into(),
            text(&shortened(answer.source(leaf.span), LONGEST)),
        );
        Value::Map(map)
    });
    expression.insert("operands".into(), list(operands.collect()));
    let tree = writer.tree(&explanation.expression);
    expression.insert("tree".into(), tree);
    map.insert("expression".into(), Value::Map(expression));

    let depends = explanation.depends.iter().map(|dependence| {
        let mut map = writer.place(dependence.span);
        map.insert("role".into(), text(dependence.role.word()));
        Value::Map(map)
    });
    map.insert("depends".into(), list(depends.collect()));
    let steps = explanation.steps.iter().map(|step| {
        let mut map = Map::default();
        map.insert("step".into(), text(kind(&step.kind)));
        map.insert("text".into(), text(&answer.words(step)));
        writer.add_place(step.span, &mut map);
        map.insert("path".into(), text(&step.path));
        map.insert("control".into(), Value::Bool(step.control));
        Value::Map(map)
    });
    map.insert("steps".into(), list(steps.collect()));
    map.insert("lost".into(), writer.lost(&explanation.lost));

    let elements = answer.elements.iter().map(|element| {
        let mut map = Map::default();
        map.insert("name".into(), text(&element.name));
        map.insert("value".into(), element.value.to_value());
        writer.add_place(element.place, &mut map);
        map.insert("lost".into(), writer.lost(&element.lost));
        Value::Map(map)
    });
    map.insert("elements".into(), list(elements.collect()));
    let further = answer.further_elements() as i64;
    map.insert("further_elements".into(), Value::Integer(further));

    let mut json = Json::compact(Vec::new());
    Value::Map(map).send(&mut json);
    let bytes = json.finish().expect("a vector takes everything");
    String::from_utf8(bytes).expect("JSON is text")
}

struct Writer<'a> {
    answer: &'a Answer<'a>,
    places: Places<'a>,
}

impl Writer<'_> {
    fn place(&mut self, span: Span) -> Map {
        let mut map = Map::default();
        self.add_place(span, &mut map);
        map
    }

    fn add_place(&mut self, span: Span, map: &mut Map) {
        map.insert("file".into(), text(self.answer.file(span)));
        self.places.of(span).add_to(map);
    }

    /// An operation with its operands, or a literal.
    fn tree(&mut self, expression: &Expression) -> Value {
        let mut map = Map::default();
        let operator = expression.operator.as_deref().map(text);
        map.insert("operator".into(), operator.unwrap_or(Value::Null));
        map.insert("value".into(), expression.value.to_value());
        self.add_place(expression.span, &mut map);
        let operands = expression.operands.iter();
        let operands = operands.map(|operand| self.tree(operand));
        map.insert("operands".into(), list(operands.collect()));
        Value::Map(map)
    }

    fn lost(&mut self, lost: &[Lost]) -> Value {
        let lost = lost.iter().map(|lost| {
            let mut map = Map::default();
            let value = lost.value.as_ref().map(Shown::to_value);
            map.insert("value".into(), value.unwrap_or(Value::Null));
            self.add_place(lost.span, &mut map);
            map.insert("rule".into(), text(lost.rule.sentence()));
            let through = lost.through.iter();
            let through = through.map(|&span| Value::Map(self.place(span)));
            map.insert("through".into(), list(through.collect()));
            Value::Map(map)
        });
        list(lost.collect())
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn list(values: Vec<Value>) -> Value {
    Value::List(List::from(values))
}

/// The word for a step.
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
