//! How Puppet is compiled from the command line: which node, which modules, which data.

use clap::{Args, ValueEnum};
use hence_model::diagnostic::Diagnostic;
use hence_model::source::Sources;
use hence_model::unit::Limits;
use hence_puppet::{Layout, Node, Options, Recording, Site};

use super::source::{Afterwards, NO_DIRECTORY, SourceOptions, directories};
use crate::Stop;
use crate::configuration::{Catalog, Configuration};
use crate::console::Console;
use crate::outside::Outside;

/// How to read Puppet.
#[derive(Args, Clone, Debug)]
pub struct PuppetOptions {
    /// The node whose catalog is compiled
    #[arg(long, value_name = "NAME", default_value = "default")]
    node: String,
    /// For many nodes: a file with a name on each line, or `all`; `compile` needs `--out DIR` then
    #[arg(long, value_name = "FILE|all", conflicts_with = "node")]
    pub(super) nodes: Option<String>,
    /// The facts of many nodes, each in a file `NAME.json`
    #[arg(long, value_name = "DIR", requires = "nodes")]
    pub(super) facts_dir: Option<String>,
    /// Directories with modules
    #[arg(long, value_name = "DIR:…")]
    modulepath: Option<String>,
    /// The directory of an environment: its `modules`, `hiera.yaml`, `functions` and `types` are used
    #[arg(long, value_name = "DIR")]
    environment: Option<String>,
    /// The hiera.yaml that is asked first
    #[arg(long, value_name = "FILE")]
    hiera: Option<String>,
    /// Refuse unknown variables, and text in the place of numbers
    #[arg(long)]
    strict: bool,
    /// When the bodies of defined types run
    #[arg(long, value_enum, default_value = "lazy")]
    define_order: DefineOrder,
    /// Go on without what templates in ERB would render: a text stands for it that changes when the template does, or a
    /// variable that it names
    #[arg(long)]
    pub(super) without_erb: bool,
}

/// When the bodies of defined types run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DefineOrder {
    /// After the classes, as in the real compiler
    Lazy,
    /// Where they are declared, as in the thesis
    InPlace,
}

impl PuppetOptions {
    /// The site of a manifest. A site has one environment, so it must be there; of the directories with modules,
    /// which may be those of many machines, each that is missing is warned of.
    pub(super) fn site<'a>(
        &self,
        console: &mut Console<'_>,
        outside: &'a Outside,
        manifest: &str,
        limits: Limits,
    ) -> Result<Site<'a>, Stop> {
        let missing = |option: &str, directory: &str| match outside.has_directory(directory) {
            true => None,
            false => Some(format!(
                "`--{option}` names `{directory}`, which is no directory"
            )),
        };
        let environment = self.environment.as_deref();
        if let Some(message) = environment.and_then(|it| missing("environment", it)) {
            let trouble = Diagnostic::error(NO_DIRECTORY, message).help(
                "an environment is a directory with `modules`, `hiera.yaml` and the like in it",
            );
            return Err(Stop::Refused(Box::new(trouble)));
        }
        let named = self.modulepath.as_deref().map(directories);
        let troubles: Vec<Diagnostic> = named
            .iter()
            .flatten()
            .filter_map(|directory| missing("modulepath", directory))
            .map(|message| Diagnostic::warning(NO_DIRECTORY, message))
            .collect();
        console.show(&Sources::default(), &troubles);
        Ok(Site::new(outside, self.layout(manifest), limits))
    }

    /// Where the files of a site are.
    pub(super) fn layout(&self, manifest: &str) -> Layout {
        let mut modulepath = self
            .modulepath
            .as_deref()
            .map(directories)
            .unwrap_or_default();
        let mut layout = Layout {
            manifest: manifest.to_owned(),
            environment: self.environment.clone(),
            hiera: self.hiera.clone(),
            ..Layout::default()
        };
        modulepath.extend(layout.of_environment("modules"));
        layout.modulepath = modulepath;
        layout
    }

    /// The same for another node.
    pub(super) fn of_node(&self, name: &str) -> Self {
        Self {
            node: name.to_owned(),
            nodes: None,
            facts_dir: None,
            ..self.clone()
        }
    }

    pub(super) fn options(&self, limits: Limits) -> Options {
        Options {
            strict: self.strict,
            in_place: self.define_order == DefineOrder::InPlace,
            without_erb: self.without_erb,
            depth: limits.depth,
            steps: limits.steps,
            recording: Recording::Everything,
        }
    }
}

/// Compiles the catalog of a node, and hands it on.
pub fn compile<T>(
    options: &SourceOptions,
    console: &mut Console<'_>,
    outside: &Outside,
    file: &str,
    then: impl FnOnce(&mut Console<'_>, &mut Configuration<'_>) -> Result<T, Stop>,
    afterwards: Afterwards,
) -> Result<T, Stop> {
    let puppet = &options.puppet;
    let limits = options.limits();
    let site = puppet.site(console, outside, file, limits)?;
    let facts = match &options.facts {
        Some(facts) => hence_puppet::facts::read(&site, outside, facts),
        None => Ok(Default::default()),
    };
    let how = puppet.options(limits);
    let (facts, trouble) = match facts {
        Ok(facts) => (facts, None),
        Err(trouble) => (Default::default(), Some(*trouble)),
    };
    let node = Node::new(&puppet.node, facts);
    let mut compiled = match trouble {
        Some(trouble) => hence_puppet::compile::refused(&site, &node, &how, trouble),
        None => hence_puppet::compile(&site, &node, &how),
    };
    for (level, message, span) in &compiled.evaluator.log {
        let place = site.unit().sources.location(span.start);
        console.say(&format!("{level}: {message} ({place})"));
    }
    let mut unit = site.unit();
    unit.diagnostics = std::mem::take(&mut compiled.diagnostics);
    console.show(&unit.sources, &unit.diagnostics);
    let mut configuration = Configuration::Puppet(Box::new(Catalog {
        compiled,
        site: &site,
        unit: Some(unit),
    }));
    let result = then(console, &mut configuration);
    afterwards.release(configuration);
    afterwards.release(site);
    result
}
