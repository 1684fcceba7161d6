//! Programs as trees: the statements of a block can be told apart, and brought into another order.

use std::ops::Add;

use hence_model::random::Random;
use hence_model::source::{Files, ReadError};

use crate::world::World;

/// A program of several files. The first is the one to compile.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Their names and contents.
    pub files: Vec<(String, Body)>,
}

/// The statements of a file, or between two braces.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The statements.
    pub statements: Vec<Statement>,
    /// Whether commas separate them; newlines if not.
    pub commas: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it says.
    pub text: Text,
    /// Whether it defines a macro, and so must stand before those that use it.
    pub is_macro: bool,
}

/// Text with blocks in it.
#[derive(Clone, Debug, Default)]
pub struct Text(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Written(String),
    Block(Body),
}

impl Program {
    /// The texts of the files.
    pub fn texts(&self) -> Texts {
        let text = |(name, body): &(String, Body)| (name.clone(), body.text());
        Texts(self.files.iter().map(text).collect())
    }

    /// The same statements in another order, in every block of every file.
    pub fn shuffled(&self, random: &mut Random) -> Program {
        let mut shuffled = self.clone();
        for (_, body) in &mut shuffled.files {
            body.shuffle(random);
        }
        shuffled
    }
}

impl Body {
    /// Adds a statement.
    pub fn say(&mut self, text: impl Into<Text>) {
        self.statements.push(Statement {
            text: text.into(),
            is_macro: false,
        });
    }

    /// The statements as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    fn write(&self, text: &mut String, level: usize) {
        for (number, statement) in self.statements.iter().enumerate() {
            if self.commas && number > 0 {
                text.push_str(", ");
            }
            if !self.commas {
                text.push_str(&"  ".repeat(level));
            }
            statement.text.write(text, level);
            if !self.commas {
                text.push('\n');
            }
        }
    }

    fn shuffle(&mut self, random: &mut Random) {
        for statement in &mut self.statements {
            statement.text.shuffle(random);
        }
        // Macros stay first, and among each other as they are: one may use another.
        let (mut statements, mut others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.statements)
            .into_iter()
            .partition(|statement| statement.is_macro);
        for last in (1..others.len()).rev() {
            others.swap(last, random.below(last + 1));
        }
        statements.extend(others);
        self.statements = statements;
    }
}

impl Text {
    fn write(&self, text: &mut String, level: usize) {
        for piece in &self.0 {
            match piece {
                Piece::Written(written) => text.push_str(written),
                Piece::Block(body) if body.commas => {
                    text.push_str("{ ");
                    body.write(text, level);
                    text.push_str(" }");
                }
                Piece::Block(body) => {
                    text.push_str("{\n");
                    body.write(text, level + 1);
                    text.push_str(&"  ".repeat(level));
                    text.push('}');
                }
            }
        }
    }

    /// What is written.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    fn shuffle(&mut self, random: &mut Random) {
        for piece in &mut self.0 {
            if let Piece::Block(body) = piece {
                body.shuffle(random);
            }
        }
    }

    /// Texts with something between them.
    pub fn joined(texts: impl IntoIterator<Item = Text>, between: &str) -> Text {
        let mut texts = texts.into_iter();
        let first = texts.next().unwrap_or_default();
        texts.fold(first, |joined, text| joined + between + text)
    }
}

impl From<&str> for Text {
    fn from(written: &str) -> Self {
        Text(vec![Piece::Written(written.to_owned())])
    }
}

impl From<String> for Text {
    fn from(written: String) -> Self {
        Text(vec![Piece::Written(written)])
    }
}

impl From<Body> for Text {
    fn from(body: Body) -> Self {
        Text(vec![Piece::Block(body)])
    }
}

impl<T: Into<Text>> Add<T> for Text {
    type Output = Text;

    fn add(mut self, other: T) -> Text {
        self.0.append(&mut other.into().0);
        self
    }
}

/// Files by name; the first is the one to compile.
#[derive(Clone, Debug)]
pub struct Texts(pub Vec<(String, String)>);

impl Texts {
    /// The name of the file to compile.
    pub fn main(&self) -> &str {
        &self.0[0].0
    }
}

impl Files for Texts {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let file = self.0.iter().find(|(file, _)| file == name);
        text.push_str(&file.ok_or(ReadError::Missing)?.1);
        Ok(())
    }
}

impl World for Texts {
    fn list(&self, directory: &str) -> Option<Vec<String>> {
        let names = self.0.iter().map(|(name, _)| name.clone());
        Some(match directory {
            "" => names.collect(),
            _ => Vec::new(),
        })
    }
}
