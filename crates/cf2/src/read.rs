//! Values of a configuration, from a program: by path, with their types.
//!
//! A [`Conf`] is compiled when it is first asked for something. What the paper writes as `Conf->Users->[0]`
//! is `conf.get("Users[0]")?.text()?`; each step says what is wrong in words that name the path.
//!
//! ```
//! use hence_cf2::read::Conf;
//! use hence_cf2::{Options, World};
//! use hence_model::source::{Files, ReadError};
//!
//! /// The files of a program that has them in memory; another would read them from a disk.
//! struct Memory;
//!
//! impl Files for Memory {
//!     fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
//!         match name {
//!             "site.cf2" => text.push_str("Users => [ann,ben]\nUIDs => { ann => 1, ben => 2 }"),
//!             _ => return Err(ReadError::Missing),
//!         }
//!         Ok(())
//!     }
//! }
//!
//! impl World for Memory {}
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let conf = Conf::new(&Memory, "site.cf2", Options::default());
//!     assert_eq!(conf.get("Users[0]")?.text()?, "ann");
//!     assert_eq!(conf.get("UIDs.ben")?.integer()?, 2);
//!     let users: Vec<&str> = conf.get("Users")?.elements()?.map(|user| user.text()).collect::<Result<_, _>>()?;
//!     assert_eq!(users, ["ann", "ben"]);
//!
//!     let trouble = conf.get("UIDs.bem").unwrap_err();
//!     assert_eq!(trouble.to_string(), "there is no `UIDs.bem` in site.cf2: did you mean `ben`?");
//!     let trouble = conf.get("UIDs")?.integer().unwrap_err();
//!     assert_eq!(trouble.to_string(), "`UIDs` in site.cf2 is a block, not a whole number");
//!     Ok(())
//! }
//! ```

use std::fmt;
use std::sync::OnceLock;

use hence_model::cell::{Cell, Content};
use hence_model::diagnostic::{Diagnostic, similar};
use hence_model::path::{Path, Segment};
use hence_model::value::{Builder, Value};

use crate::compile::{Compiled, Options, compile_file, known};
use crate::datum::{Datum, EntryId, Form, State};
use crate::evaluate::{form, literal_datum};
use crate::world::World;

/// A configuration that is compiled when somebody reads it.
pub struct Conf<'w> {
    world: &'w dyn World,
    name: String,
    options: Options,
    compiled: OnceLock<Compiled<'w>>,
}

/// A value in a configuration.
#[derive(Clone)]
pub struct Place<'c> {
    compiled: &'c Compiled<'c>,
    name: &'c str,
    path: Path,
    datum: Datum,
}

impl fmt::Debug for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of {}", self.path.joined('.'), self.name)
    }
}

/// Why there is no such value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The configuration has mistakes.
    Mistakes {
        /// The file.
        file: String,
        /// What is wrong, as `FILE:LINE:COLUMN: message`.
        mistakes: Vec<String>,
    },
    /// Nothing is at a path.
    Missing {
        /// The file.
        file: String,
        /// The path.
        path: String,
        /// What may have been meant.
        near: Option<String>,
    },
    /// Something else is at a path.
    Type {
        /// The file.
        file: String,
        /// The path.
        path: String,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::Mistakes { file, mistakes } => {
                write!(f, "{file} cannot be compiled: {}", mistakes.join("; "))
            }
            Trouble::Missing { file, path, near } => {
                write!(f, "there is no `{path}` in {file}")?;
                match near {
                    Some(near) => write!(f, ": did you mean `{near}`?"),
                    None => Ok(()),
                }
            }
            Trouble::Type {
                file,
                path,
                expected,
                found,
            } => write!(f, "`{path}` in {file} is {found}, not {expected}"),
        }
    }
}

impl std::error::Error for Trouble {}

impl<'w> Conf<'w> {
    /// The configuration of a file, which is not read yet.
    pub fn new(world: &'w dyn World, name: &str, options: Options) -> Self {
        Self {
            world,
            name: name.to_owned(),
            options,
            compiled: OnceLock::new(),
        }
    }

    /// What came of it: for those who want the diagnostics, or explanations.
    pub fn compiled(&self) -> &Compiled<'w> {
        self.compiled
            .get_or_init(|| compile_file(self.world, &self.name, &self.options))
    }

    /// All of it.
    pub fn root(&self) -> Result<Place<'_>, Trouble> {
        let compiled = self.compiled();
        let Some(root) = compiled.root else {
            let unit = compiled.unit();
            let errors = unit.diagnostics.iter().filter(|one| one.is_error());
            let words = |diagnostic: &Diagnostic| match diagnostic.labels.first() {
                Some(label) => {
                    let place = unit.sources.location(label.span.start);
                    format!("{place}: {}", diagnostic.message)
                }
                None => diagnostic.message.clone(),
            };
            return Err(Trouble::Mistakes {
                file: self.name.clone(),
                mistakes: errors.map(words).collect(),
            });
        };
        Ok(Place {
            compiled,
            name: &self.name,
            path: Path::default(),
            datum: form(Form::Block(root)),
        })
    }

    /// The value at a path: `Users[0]`, `UIDs.jane`.
    pub fn get(&self, path: &str) -> Result<Place<'_>, Trouble> {
        self.root()?.get(path)
    }
}

impl<'c> Place<'c> {
    /// The value at a path below this one.
    pub fn get(&self, path: &str) -> Result<Place<'c>, Trouble> {
        let mut place = self.clone();
        for segment in &Path::readings(path)[0].0 {
            place = place.step(segment)?;
        }
        Ok(place)
    }

    fn step(&self, segment: &Segment) -> Result<Place<'c>, Trouble> {
        let evaluator = &self.compiled.evaluator;
        let index = match segment {
            Segment::Index(index) => Some(*index),
            Segment::Key(key) => key.parse().ok(),
        };
        let found = match (self.datum.form, segment, index) {
            (Form::Block(block), Segment::Key(key), _) => {
                let name = evaluator.unit.symbols.get(&evaluator.unit.sources, key);
                let entry = name.and_then(|name| evaluator.visible_entry(block, name));
                entry.map(|entry| evaluator.entry(entry).state)
            }
            (Form::List(list), _, Some(index)) => {
                evaluator.lists[list.0 as usize].states.get(index).copied()
            }
            (Form::Literals(cell), _, Some(index)) => {
                let items = evaluator.unit.literals.elements(cell);
                items
                    .get(index)
                    .map(|item| State::Done(literal_datum(item.cell)))
            }
            _ => None,
        };
        let segment = match (self.datum.form, index) {
            (Form::List(_) | Form::Literals(_), Some(index)) => Segment::Index(index),
            _ => segment.clone(),
        };
        let path = self.path.child(segment.clone());
        if let Some(State::Done(datum)) = found {
            return Ok(Place {
                path,
                datum,
                ..self.clone()
            });
        }
        let names: Vec<&str> = match self.datum.form {
            Form::Block(_) => {
                let name = |entry| evaluator.name(evaluator.entry(entry).name);
                self.visible().map(name).collect()
            }
            _ => Vec::new(),
        };
        let near = match &segment {
            Segment::Key(key) => similar(key, names).first().map(|&near| near.to_owned()),
            Segment::Index(_) => None,
        };
        Err(Trouble::Missing {
            file: self.name.to_owned(),
            path: path.joined('.'),
            near,
        })
    }

    fn visible(&self) -> impl Iterator<Item = EntryId> + use<'c> {
        let entries = match self.datum.form {
            Form::Block(block) => self.compiled.evaluator.visible(block),
            _ => Vec::new(),
        };
        entries.into_iter()
    }

    fn scalar(&self) -> Option<Cell> {
        match self.datum.form {
            Form::Scalar(cell) => Some(cell),
            _ => None,
        }
    }

    fn content(&self) -> Option<Content> {
        let literals = &self.compiled.evaluator.unit.literals;
        self.scalar().map(|cell| cell.content(literals))
    }

    fn wrong<T>(&self, expected: &'static str) -> Result<T, Trouble> {
        Err(Trouble::Type {
            file: self.name.to_owned(),
            path: self.path.joined('.'),
            expected,
            found: self.compiled.evaluator.type_name(self.datum),
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a secret flowed into it.
    pub fn is_secret(&self) -> bool {
        self.compiled.evaluator.has_secret(self.datum)
    }

    /// Text.
    pub fn text(&self) -> Result<&'c str, Trouble> {
        let unit = &self.compiled.evaluator.unit;
        match self.content() {
            Some(Content::Text(text)) => Ok(unit.literals.read(&unit.sources, text)),
            _ => self.wrong("text"),
        }
    }

    /// A whole number.
    pub fn integer(&self) -> Result<i64, Trouble> {
        match self.content() {
            Some(Content::Integer(integer)) => Ok(integer),
            _ => self.wrong("a whole number"),
        }
    }

    /// Any number.
    pub fn number(&self) -> Result<f64, Trouble> {
        match self.content() {
            Some(Content::Integer(integer)) => Ok(integer as f64),
            Some(Content::Float(float)) => Ok(float),
            _ => self.wrong("a number"),
        }
    }

    /// True or false.
    pub fn bool(&self) -> Result<bool, Trouble> {
        match self.content() {
            Some(Content::Bool(bool)) => Ok(bool),
            _ => self.wrong("a boolean"),
        }
    }

    /// The elements of a list.
    pub fn elements(&self) -> Result<impl Iterator<Item = Place<'c>> + use<'c>, Trouble> {
        let evaluator = &self.compiled.evaluator;
        let count = match self.datum.form {
            Form::List(list) => evaluator.lists[list.0 as usize].states.len(),
            Form::Literals(cell) => evaluator.unit.literals.elements(cell).len(),
            _ => return self.wrong("a list"),
        };
        let this = self.clone();
        Ok((0..count).map(move |index| {
            let element = this.step(&Segment::Index(index));
            element.expect("the list is that long")
        }))
    }

    /// The names and values of a block.
    pub fn entries(&self) -> Result<impl Iterator<Item = (&'c str, Place<'c>)> + use<'c>, Trouble> {
        let Form::Block(_) = self.datum.form else {
            return self.wrong("a block");
        };
        let this = self.clone();
        Ok(self.visible().map(move |entry| {
            let evaluator = &this.compiled.evaluator;
            let entry = evaluator.entry(entry);
            let name = evaluator.name(entry.name);
            let place = Place {
                path: this.path.child(Segment::Key(name.to_owned())),
                datum: known(entry.state),
                ..this.clone()
            };
            (name, place)
        }))
    }

    /// A copy of it, with all that is in it.
    pub fn value(&self) -> Value {
        let mut builder = Builder::default();
        self.compiled.evaluator.send(self.datum, &mut builder);
        builder.finish().unwrap_or(Value::Null)
    }
}
