//! A compiled configuration, in whichever language it was written.

use std::io::{self, Write};
use std::sync::MutexGuard;

use hence_model::explanation::{Explanation, NoSuchPath};
use hence_model::path::{Path, Segment};
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;
use hence_model::value::{Builder, Map, Sink, Value};
use hence_puppet::Site;
use hence_smartfrog::printer::SmartFrog;
use hence_smartfrog::written;

/// A configuration, and all that is known about it.
pub enum Configuration<'w> {
    /// SmartFrog.
    SmartFrog(Box<hence_smartfrog::Compiled>),
    /// CF2.
    Cf2(Box<hence_cf2::Compiled<'w>>),
    /// Puppet: a catalog.
    Puppet(Box<Catalog<'w>>),
}

/// A catalog, and the texts it was compiled from.
pub struct Catalog<'w> {
    /// The catalog.
    pub compiled: hence_puppet::Compiled<'w>,
    /// The site it was compiled for.
    pub site: &'w Site<'w>,
    /// The texts; not here while more may be read.
    pub unit: Option<MutexGuard<'w, Unit>>,
}

impl<'w> Catalog<'w> {
    fn unit(&self) -> &Unit {
        self.unit.as_deref().expect("nobody reads now")
    }

    /// Sends the catalog with all that an agent wants to know.
    pub fn send_whole(&self, sink: &mut impl Sink) {
        match &self.unit {
            Some(unit) => self.compiled.send_whole(&unit.sources, sink),
            None => self.compiled.send_whole(&self.site.unit().sources, sink),
        }
    }

    /// Asks something that may have to read further files. If the texts were here, they are again afterwards.
    fn ask<T>(&mut self, question: impl FnOnce(&mut hence_puppet::Compiled<'w>) -> T) -> T {
        let mistakes = self
            .unit
            .take()
            .map(|mut unit| std::mem::take(&mut unit.diagnostics));
        let answer = question(&mut self.compiled);
        self.unit = mistakes.map(|mistakes| {
            let mut unit = self.site.unit();
            unit.diagnostics = mistakes;
            unit
        });
        answer
    }
}

impl Configuration<'_> {
    /// Its sources, and what is wrong with them.
    pub fn unit(&self) -> &Unit {
        match self {
            Configuration::SmartFrog(compiled) => &compiled.unit,
            Configuration::Cf2(compiled) => compiled.unit(),
            Configuration::Puppet(catalog) => catalog.unit(),
        }
    }

    /// Whether there is a result.
    pub fn is_good(&self) -> bool {
        match self {
            Configuration::SmartFrog(compiled) => compiled.configuration.is_some(),
            Configuration::Cf2(compiled) => compiled.is_good(),
            Configuration::Puppet(catalog) => catalog.compiled.is_good(),
        }
    }

    /// Sends it to a sink.
    pub fn send(&self, sink: &mut impl Sink) {
        match self {
            Configuration::SmartFrog(compiled) => compiled.send(sink),
            Configuration::Cf2(compiled) => compiled.send(sink),
            Configuration::Puppet(catalog) => catalog.compiled.send(sink),
        }
    }

    /// Its values, by the paths that they are asked for: of a catalog, resources with their attributes.
    pub fn outputs(&self) -> Value {
        let mut builder = Builder::default();
        match self {
            Configuration::Puppet(catalog) => catalog.compiled.send_unmarked(&mut builder),
            _ => self.send(&mut builder),
        }
        let whole = builder.finish().unwrap_or(Value::Null);
        match self {
            Configuration::Puppet(_) => by_reference(&whole),
            _ => whole,
        }
    }

    /// Whether the order of names in a block has a meaning.
    pub fn is_ordered(&self) -> bool {
        matches!(self, Configuration::SmartFrog(_))
    }

    /// Whether some of its values may be secret.
    pub fn has_secrets(&self) -> bool {
        !matches!(self, Configuration::SmartFrog(_))
    }

    /// Prints it in the language that it was written in.
    pub fn print_native(&self, writer: &mut dyn Write) -> io::Result<()> {
        match self {
            Configuration::SmartFrog(compiled) => {
                let mut smartfrog = SmartFrog::new(writer, compiled.dialect);
                compiled.send(&mut smartfrog);
                smartfrog.finish()?;
            }
            Configuration::Cf2(compiled) => {
                let mut cf2 = hence_cf2::printer::Cf2::new(writer);
                compiled.send(&mut cf2);
                cf2.finish()?;
            }
            Configuration::Puppet(catalog) => catalog.compiled.print_native(writer)?,
        }
        Ok(())
    }

    /// Why the value at a path is what it is.
    pub fn explain(&mut self, path: &Path) -> Result<Explanation, NoSuchPath> {
        match self {
            Configuration::SmartFrog(compiled) => compiled.explain(path),
            Configuration::Cf2(compiled) => compiled.explain(path),
            Configuration::Puppet(catalog) => catalog.ask(|compiled| compiled.explain(path)),
        }
    }

    /// Names every value that depends on what is written in a stretch of source.
    pub fn impact(&mut self, place: Span, name: &mut dyn FnMut(&[Segment])) {
        match self {
            Configuration::SmartFrog(compiled) => compiled.impact(place, name),
            Configuration::Cf2(compiled) => compiled.impact(place, name),
            Configuration::Puppet(catalog) => {
                catalog.ask(|compiled| compiled.impact(place, name));
            }
        }
    }

    /// Who signed what is written in a place, by the signatures that were checked.
    pub fn signers(&self, place: Span) -> &[String] {
        match self {
            Configuration::Cf2(compiled) => compiled.signers(place).unwrap_or_default(),
            Configuration::SmartFrog(_) | Configuration::Puppet(_) => &[],
        }
    }

    /// Whether the result itself says that the value at a path is a secret.
    pub fn is_marked_secret(&self, path: &Path) -> bool {
        match self {
            Configuration::Puppet(catalog) => catalog.compiled.is_sensitive(path),
            Configuration::SmartFrog(_) | Configuration::Cf2(_) => false,
        }
    }

    /// The stretch that is meant by a line, or by a column of it; none if nothing is written there.
    pub fn meant(&self, file: FileId, line: u32, column: Option<u32>) -> Option<Span> {
        match self {
            Configuration::SmartFrog(compiled) => {
                written::meant(&compiled.unit, file, line, column, compiled.dialect)
            }
            Configuration::Cf2(compiled) => compiled.meant(file, line, column),
            Configuration::Puppet(catalog) => {
                catalog.compiled.meant(catalog.unit(), file, line, column)
            }
        }
    }

    /// Whether what stands at a column only holds values together, as an operator does.
    pub fn is_joint(&self, file: FileId, line: u32, column: u32) -> bool {
        match self {
            Configuration::SmartFrog(compiled) => {
                written::is_joint(&compiled.unit, file, line, column, compiled.dialect)
            }
            Configuration::Cf2(compiled) => compiled.is_joint(file, line, column),
            Configuration::Puppet(catalog) => {
                catalog
                    .compiled
                    .is_joint(catalog.unit(), file, line, column)
            }
        }
    }

    /// The literals that are written in a stretch of source, in order.
    pub fn literals(&mut self, stretch: Span) -> Vec<Span> {
        match self {
            Configuration::SmartFrog(compiled) => {
                written::literals(&compiled.unit, stretch, compiled.dialect)
            }
            Configuration::Cf2(compiled) => compiled.literals(stretch),
            Configuration::Puppet(catalog) => {
                let inside =
                    |literal: &Span| stretch.start <= literal.start && literal.end <= stretch.end;
                let literals = catalog.ask(|compiled| compiled.literals_written());
                literals.into_iter().filter(inside).collect()
            }
        }
    }

    /// What a written path may mean, likeliest first.
    pub fn readings(&self, text: &str) -> Vec<Path> {
        match self {
            Configuration::Puppet(catalog) => vec![catalog.compiled.read_path(text)],
            Configuration::Cf2(_) => Path::readings(text),
            Configuration::SmartFrog(_) => hence_smartfrog::readings(text),
        }
    }

    /// What stands between the names of a path in the language.
    pub fn separator(&self) -> char {
        match self {
            Configuration::SmartFrog(_) => ':',
            Configuration::Cf2(_) | Configuration::Puppet(_) => '.',
        }
    }

    /// A path as the language writes it.
    pub fn path(&self, path: &Path) -> String {
        path.joined(self.separator())
    }

    /// What the configuration itself is called.
    pub fn title(&self) -> &'static str {
        match self {
            Configuration::SmartFrog(_) => "sfConfig",
            Configuration::Cf2(_) => "the configuration",
            Configuration::Puppet(_) => "the catalog",
        }
    }
}

/// The resources of a catalog by their references, with their attributes.
fn by_reference(catalog: &Value) -> Value {
    let mut outputs = Map::default();
    let resources = match catalog {
        Value::Map(catalog) => catalog.get("resources"),
        _ => None,
    };
    if let Some(Value::List(resources)) = resources {
        for resource in resources.as_slice() {
            if let Value::Map(resource) = resource
                && let (Some(Value::Text(kind)), Some(Value::Text(title)), Some(attributes)) = (
                    resource.get("type"),
                    resource.get("title"),
                    resource.get("parameters"),
                )
            {
                outputs.insert(format!("{kind}[{title}]"), attributes.clone());
            }
        }
    }
    Value::Map(outputs)
}
