//! Random literals.

use super::program::Text;
use super::{Type, Writer};

const WORDS: [&str; 14] = [
    "a",
    "b",
    "web01",
    "trueish",
    "größe",
    "'two words'",
    "''",
    "'it\\'s'",
    "'a\\nb\\tc'",
    "'\\\\'",
    "'// no { comment'",
    "'true'",
    "'7'",
    "'😀 ★'",
];

impl Writer {
    /// A literal, or a list or block of literals.
    pub(super) fn literal(&mut self, type_: Type) -> Text {
        match type_ {
            Type::Number => self.number().into(),
            Type::Text => (*self.random.pick(&WORDS)).into(),
            Type::Bool => (*self.random.pick(&["true", "false"])).into(),
            Type::Numbers => self.list(Type::Number),
            Type::Texts => self.list(Type::Text),
            Type::Table => self.list(Type::Numbers),
            Type::Block => {
                let (x, y) = (self.literal(Type::Number), self.literal(Type::Text));
                let mut body = self.body();
                body.say(Text::from("x => ") + x);
                body.say(Text::from("y => ") + y);
                body.into()
            }
        }
    }

    fn number(&mut self) -> String {
        match self.random.below(12) {
            0 => format!("{}.{}", self.random.below(50), self.random.below(100)),
            1 => format!("-{}", self.random.below(100)),
            2 => format!("00{}", self.random.below(10)),
            3 => (self.random.number() >> 50).to_string(),
            _ => self.random.below(30).to_string(),
        }
    }

    fn list(&mut self, element: Type) -> Text {
        let count = 2 + self.random.below(3);
        let elements: Vec<Text> = (0..count).map(|_| self.literal(element)).collect();
        let between = *self.random.pick(&[", ", ",", "\n  "]);
        Text::from("[") + Text::joined(elements, between) + "]"
    }
}
