//! `hence parse`: the syntax tree, for other programs. `docs/syntax-tree.md` describes it.

mod cf2;
mod nodes;
mod puppet;
mod smartfrog;

use clap::{Args, ValueEnum};
use hence_cf2::syntax::Tree;
use hence_model::print::json::Json;
use hence_model::unit::Unit;

use super::source::{Language, SourceOptions};
use crate::console::Console;
use crate::places::Places;
use crate::{Exit, Stop};
use nodes::Nodes;

/// Print the syntax tree of a file
#[derive(Args)]
#[command(after_help = "`docs/syntax-tree.md` describes what is printed.")]
pub struct Parse {
    /// The file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// What to print
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
    /// Indent it
    #[arg(long)]
    pretty: bool,
    #[command(flatten)]
    source: SourceOptions,
}

/// How a tree is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON
    Json,
}

impl Parse {
    /// Prints the tree, also of a file with mistakes: then what could be read.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Format::Json = self.format;
        let name = self.source.named(console, &self.file)?;
        let language = self.source.language(name)?;
        let options = self.source.smartfrog();
        let outside = self.source.outside(console);
        let mut limits = options.limits;
        if language == Language::Cf2 {
            limits.depth = limits.depth.min(hence_cf2::compile::DEEPEST);
        }
        let mut unit = Unit::with_limits(limits);
        let file = match unit.load(&outside, name) {
            Ok(file) => file,
            Err(diagnostic) => {
                console.show(&unit.sources, &[*diagnostic]);
                return Ok(outside.blame());
            }
        };
        let read = match language {
            Language::SmartFrog => {
                let dialect = options.semantics.dialect();
                Read::SmartFrog(smartfrog::read(&mut unit, &outside, file, dialect))
            }
            Language::Cf2 => {
                let mut tree = Tree::default();
                let body = hence_cf2::parser::parse(&mut unit, &mut tree, file);
                Read::Cf2(tree, body)
            }
            Language::Puppet => Read::Puppet(hence_puppet::parser::parse(&mut unit, file)),
        };
        console.show(&unit.sources, &unit.diagnostics);
        let json = match self.pretty {
            true => Json::pretty(console.data()),
            false => Json::compact(console.data()),
        };
        let mut nodes = Nodes {
            unit: &unit,
            places: Places::new(&unit.sources),
            json,
        };
        match read {
            Read::SmartFrog(body) => smartfrog::print(&mut nodes, file, body),
            Read::Cf2(tree, body) => cf2::print(&mut nodes, file, &tree, body),
            Read::Puppet(program) => puppet::print(&mut nodes, file, &program),
        }
        nodes.json.finish()?;
        Ok(match unit.has_errors() {
            true => outside.blame(),
            false => Exit::Done,
        })
    }
}

/// What was read.
enum Read {
    SmartFrog(hence_smartfrog::tree::Body),
    Cf2(Tree, hence_cf2::syntax::BodyId),
    Puppet(hence_puppet::syntax::Program),
}
