//! What may stand in a file of a module: definitions whose names lead to it.
//!
//! Nothing else in it would ever be evaluated, and nothing of another name be found.

use ecow::EcoString;
use hence_model::diagnostic::Diagnostic;

use crate::parser::TOP_LEVEL;
use crate::syntax::{Definition, DefinitionKind, Kind, Program};

/// Where a file of a module is.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    /// The module.
    pub(crate) module: EcoString,
    /// The folder in it: `manifests`, `functions` or `types`.
    pub(crate) folder: &'static str,
    /// The name that leads to the file, in lower case: of classes, those that begin with it are found there, too.
    pub(crate) name: EcoString,
}

impl Home {
    /// What is in the file and cannot be there.
    pub(crate) fn mistakes(&self, program: &Program) -> Vec<Diagnostic> {
        let statements = program.body.statements.iter();
        let code = statements.filter(|statement| !matches!(statement.kind, Kind::Nothing));
        let code = code.map(|statement| {
            let message = "only definitions stand in a file of a module";
            let help = "put it into a class of the module, or into the manifest of the site";
            let trouble = Diagnostic::error(TOP_LEVEL, message);
            trouble.at(statement.span).help(help)
        });
        let definitions = program.definitions.iter();
        let strangers = definitions.filter(|definition| !self.holds(definition));
        let strangers = strangers.map(|definition| {
            let (name, place) = (definition.shown_name(), place_of(definition));
            let (message, help) = match place {
                Some(place) => (
                    format!("`{name}` cannot be defined in this file"),
                    format!("it is looked for in `{place}`"),
                ),
                None => (
                    "a node cannot be defined in a module".to_owned(),
                    "put it into the manifest of the site".to_owned(),
                ),
            };
            let trouble = Diagnostic::error(TOP_LEVEL, message);
            trouble.at(definition.name_span).help(help)
        });
        code.chain(strangers).collect()
    }

    fn holds(&self, definition: &Definition) -> bool {
        let name = definition.name.to_lowercase();
        match (&definition.kind, self.folder) {
            (DefinitionKind::Node { .. }, _) => false,
            // Types are found by what was read, wherever.
            (DefinitionKind::Alias { .. }, "manifests") => true,
            (_, "manifests") => name.starts_with(self.name.as_str()),
            _ => name == self.name,
        }
    }
}

/// Where a definition is looked for.
fn place_of(definition: &Definition) -> Option<String> {
    let folder = match &definition.kind {
        DefinitionKind::Class { .. } | DefinitionKind::Define => "manifests",
        DefinitionKind::Function { .. } => "functions",
        DefinitionKind::Alias { .. } => "types",
        DefinitionKind::Node { .. } => return None,
    };
    let (module, rest) = match definition.name.split_once("::") {
        Some((module, rest)) => (module, rest.replace("::", "/")),
        None => (definition.name.as_str(), "init".to_owned()),
    };
    Some(format!("{module}/{folder}/{rest}.pp"))
}
