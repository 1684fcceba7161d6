//! From a site and a node to a catalog.

use ecow::EcoString;
use hence_model::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

use crate::evaluate::{Evaluator, Outcome, Stop, failed};
use crate::explain::Asked;
use crate::resource::{Attribute, Resource, ResourceKind, Said};
use crate::resource_types;
use crate::scope::{Scope, ScopeId, ScopeKind, Variables};
use crate::site::Site;
use crate::syntax::{Definition, DefinitionKind, Form, NodeMatchKind};
use crate::trace::{
    Cause, ControlId, Definition as Defined, How, Node as Trail, Origin, ResourceId,
};
use crate::value::{Datum, Hash, Value};

/// How manifests are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether an unknown variable is a mistake, and text is no number.
    pub strict: bool,
    /// Whether bodies of defined types run where they are declared, as in the thesis, and not after the classes,
    /// as in the real compiler.
    pub in_place: bool,
    /// Whether a stand-in takes the place of what a template in ERB would render, and such a template is no mistake.
    pub without_erb: bool,
    /// So deep may evaluation nest.
    pub depth: u32,
    /// So many expressions may be evaluated.
    pub steps: u64,
    /// What is recorded on the way.
    pub recording: Recording,
}

/// What is recorded while a catalog is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Where everything comes from.
    Everything,
    /// Nothing, as nobody will ask: mistakes are found, but not told how it came to them.
    Nothing,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: false,
            in_place: false,
            without_erb: false,
            depth: 10_000,
            steps: 1 << 28,
            recording: Recording::Everything,
        }
    }
}

/// A node, and what is known about it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its facts, each with its place.
    pub facts: Hash,
    /// The name of its environment.
    pub environment: String,
}

/// A catalog, and all that is known about how it came to be.
pub struct Compiled<'t> {
    /// What evaluated it.
    pub evaluator: Evaluator<'t>,
    /// What is wrong: there is no catalog if there is an error.
    pub diagnostics: Vec<Diagnostic>,
    good: bool,
    pub(crate) asked: Asked,
}

impl Compiled<'_> {
    /// Whether there is a catalog.
    pub fn is_good(&self) -> bool {
        self.good
    }
}

impl Node {
    /// A node with facts of its own, and those that its name tells.
    pub fn new(name: &str, facts: Hash) -> Self {
        let origin = Origin::NOWHERE;
        let text = |text: &str| Value::new(text, origin);
        let host = name.split('.').next().unwrap_or(name);
        let networking: Hash = [(text("hostname"), text(host)), (text("fqdn"), text(name))]
            .into_iter()
            .collect();
        let known = [
            (text("hostname"), text(host)),
            (text("fqdn"), text(name)),
            (text("clientcert"), text(name)),
            (text("networking"), Value::new(networking, origin)),
        ];
        let known: Hash = known.into_iter().collect();
        Self {
            name: name.to_owned(),
            facts: crate::evaluate::merged(&known, &facts),
            environment: "production".to_owned(),
        }
    }
}

/// Compiles the catalog of a node.
pub fn compile<'t>(site: &'t Site<'t>, node: &'t Node, options: &'t Options) -> Compiled<'t> {
    on_stack(options.depth, || compile_here(site, node, options))
}

/// There is no catalog, because something is wrong before anything is evaluated.
pub fn refused<'t>(
    site: &'t Site<'t>,
    node: &'t Node,
    options: &'t Options,
    trouble: Diagnostic,
) -> Compiled<'t> {
    Compiled {
        evaluator: Evaluator::new(site, node, options),
        diagnostics: vec![trouble],
        good: false,
        asked: Asked::default(),
    }
}

/// Compiles the catalog of a node on the stack that is there: see [`on_stack`].
pub fn compile_here<'t>(site: &'t Site<'t>, node: &'t Node, options: &'t Options) -> Compiled<'t> {
    let mut evaluator = Evaluator::new(site, node, options);
    let result = evaluator.catalog();
    site.took(evaluator.room());
    let mut diagnostics = std::mem::take(&mut evaluator.warnings);
    if let Err(stop) = result {
        diagnostics.push(match *stop {
            Stop::Failed(trouble) => trouble,
            Stop::Break(span) => misplaced("break", span),
            Stop::Next(_, span) => misplaced("next", span),
            Stop::Return(_, span) => misplaced("return", span),
        });
        diagnostics.append(&mut evaluator.further);
    }
    let good = !diagnostics.iter().any(Diagnostic::is_error);
    Compiled {
        evaluator,
        diagnostics,
        good,
        asked: Asked::default(),
    }
}

/// The nodes that the manifests have a definition for by name.
pub fn named_nodes(site: &Site<'_>) -> Result<Vec<String>, Box<Diagnostic>> {
    let mut names = Vec::new();
    for loaded in site.manifests()? {
        for definition in &loaded.program.definitions {
            if let DefinitionKind::Node { matches } = &definition.kind {
                names.extend(matches.iter().filter_map(|one| match &one.kind {
                    NodeMatchKind::Name(name) => Some(name.to_string()),
                    _ => None,
                }));
            }
        }
    }
    Ok(names)
}

/// Stack that one level of evaluation may take.
const STACK_OF_LEVEL: usize = 4 << 10;

/// Does something that evaluates, on a stack that is as deep as the limit says.
pub fn on_stack<T: Send>(depth: u32, work: impl FnOnce() -> T + Send) -> T {
    hence_model::stack::with((depth as usize * STACK_OF_LEVEL).max(8 << 20), work)
}

fn misplaced(what: &str, span: hence_model::source::Span) -> Diagnostic {
    let message = format!("`{what}()` stands where nothing can be left");
    Diagnostic::error(crate::functions::MISPLACED, message).at(span)
}

impl<'t> Evaluator<'t> {
    /// Evaluates everything, in the order of the real compiler: the main manifests, the node definition, then
    /// collectors and defined types in turn, then relationships, overrides that had to wait, and checks.
    fn catalog(&mut self) -> Outcome<()> {
        let manifests = self.site.manifests().map_err(|trouble| failed(*trouble))?;
        self.begin();
        for loaded in &manifests {
            self.learn(loaded)?;
        }
        self.check_nodes()?;
        let main = ResourceId::from_index(2);
        self.enter_stage(main)?;
        self.at_large(ScopeId::TOP, |evaluator| {
            evaluator.under(Cause::Declared(main), |evaluator| {
                // (TopScope, MSeq)
                for loaded in &manifests {
                    evaluator.block(&loaded.program.body)?;
                }
                Ok(())
            })
        })?;
        self.node_definition(main)?;
        self.generate()?;
        self.relate()?;
        self.late_overrides()?;
        self.check_virtual()?;
        self.settle_attributes()?;
        self.hand_down();
        self.check_collectors()?;
        self.check_relationships()?;
        let cycles = self.cycles();
        self.warnings.extend(cycles);
        Ok(())
    }

    /// What is there before any manifest: the main stage, the settings, the main class, facts.
    fn begin(&mut self) {
        let top = Scope {
            kind: ScopeKind::Top,
            parent: None,
            inherits: None,
            resource: ResourceId::from_index(2),
            source: EcoString::new(),
            module: None,
            variables: Variables::default(),
            defaults: FxHashMap::default(),
        };
        let top = self.new_scope(top);
        let name = self.outside("the main class");
        let stage = self.special("Stage", "main", true, name);
        let settings = self.special("Class", "settings", false, name);
        self.special("Class", "main", true, name);
        self.edges.push((stage, settings));
        self.classes.push("settings".into());
        self.bind_facts(top);
    }

    fn outside(&mut self, what: &str) -> Origin {
        self.trace.add(Trail::Outside(what.into()))
    }

    fn special(&mut self, type_name: &str, title: &str, named: bool, origin: Origin) -> ResourceId {
        let id = ResourceId::from_index(self.resources.len());
        let mut resource = Resource {
            kind: ResourceKind::Special,
            type_name: type_name.into(),
            title: title.into(),
            title_origin: origin,
            scope: ScopeId::TOP,
            source: EcoString::new(),
            span: None,
            control: ControlId::NONE,
            passed: 0,
            attributes: Vec::new(),
            has_metaparameters: false,
            form: Form::Regular,
            is_virtual: false,
            evaluated: true,
            rare: None,
        };
        if named {
            resource.set(Attribute {
                name: "name".into(),
                value: Value::new(title, origin),
                span: hence_model::source::Span::at(0),
                how: Said::Declared,
                scope: ScopeId::TOP,
                control: ControlId::NONE,
                adds: false,
            });
        }
        self.register(type_name, title, id);
        self.resources.push(resource);
        id
    }

    /// Facts are variables at the top, and `$facts`; `$trusted` and `$server_facts` come from the compiler.
    fn bind_facts(&mut self, top: ScopeId) {
        let node = self.node;
        let bind = |evaluator: &mut Self, name: &str, value: Value| {
            let definition = Defined {
                value,
                control: ControlId::NONE,
                how: How::Language,
            };
            evaluator.bind(top, name, definition);
        };
        for (key, entry) in node.facts.iter() {
            if let Datum::Text(name) = key
                && name != "environment"
            {
                bind(self, name, entry.value.clone());
            }
        }
        let name = self.outside("the name of the node");
        let text = |text: &str| Value::new(text, name);
        let environment = self.outside("the environment");
        let server = self.outside("this compiler");
        bind(
            self,
            "environment",
            Value::new(node.environment.as_str(), environment),
        );
        let (host, domain) = match node.name.split_once('.') {
            Some((host, domain)) => (host, Some(domain)),
            None => (node.name.as_str(), None),
        };
        let domain = domain.map_or(Value::new(Datum::Undef, name), text);
        let none = || Value::new(Hash::default(), name);
        let trusted = [
            ("authenticated", text("remote")),
            ("certname", text(&node.name)),
            ("extensions", none()),
            ("hostname", text(host)),
            ("domain", domain),
            ("external", none()),
        ];
        let trusted: Hash = trusted
            .into_iter()
            .map(|(key, value)| (text(key), value))
            .collect();
        bind(self, "trusted", Value::new(trusted, name));
        let facts = [
            ("serverversion", crate::PUPPET),
            ("servername", "hence"),
            ("serverip", "127.0.0.1"),
        ];
        let facts = facts.map(|(key, value)| (Value::new(key, server), Value::new(value, server)));
        for (key, value) in &facts {
            if let Datum::Text(key) = &key.datum {
                bind(self, key, value.clone());
            }
        }
        let environment = (
            Value::new("environment", server),
            Value::new(node.environment.as_str(), environment),
        );
        let facts: Hash = facts.into_iter().chain([environment]).collect();
        bind(self, "server_facts", Value::new(facts, server));
        bind(self, "facts", Value::new(node.facts.clone(), name));
        let main = self.outside("the main class");
        // The top is the body of `Class[main]`, which nobody calls.
        for (name, value) in [("title", "main"), ("name", "main"), ("module_name", "")] {
            bind(self, name, Value::new(value, main));
        }
    }

    /// The node definition that is for this node runs in a scope of its own (NodeMatch, NodeNoMatch).
    fn node_definition(&mut self, main: ResourceId) -> Outcome<()> {
        if self.nodes.is_empty() {
            return Ok(());
        }
        let Some(definition) = self.find_node(&self.node.name) else {
            let message = format!("no node definition is for `{}`", self.node.name);
            let trouble = Diagnostic::error(crate::evaluate::NO_NODE, message);
            let trouble = trouble.at(self.nodes[0].name_span);
            return Err(failed(
                trouble.help("`node default { … }` is for all other nodes"),
            ));
        };
        let title = node_title(definition, &self.node.name);
        let origin = self.outside("the name of the node");
        let id = self.special("Node", &title, false, origin);
        self.edges.push((main, id));
        let scope = self.new_scope(Scope {
            kind: ScopeKind::Node,
            parent: Some(ScopeId::TOP),
            inherits: None,
            resource: id,
            source: title.clone(),
            module: None,
            variables: Variables::default(),
            defaults: FxHashMap::default(),
        });
        self.classes.push(title.clone());
        let none = EcoString::new();
        let own = [
            ("name", &title),
            ("title", &title),
            ("module_name", &none),
            ("caller_module_name", &none),
        ];
        for (name, value) in own {
            let definition = Defined {
                value: Value::new(value.clone(), origin),
                control: ControlId::NONE,
                how: How::Language,
            };
            self.bind(scope, name, definition);
        }
        self.at_large(scope, |evaluator| {
            evaluator.under(Cause::Node(definition), |evaluator| {
                let first = evaluator.frames.len();
                let by_pattern = evaluator.match_node(definition, origin);
                evaluator.block(&definition.body)?;
                if by_pattern {
                    evaluator.frames.truncate(first);
                }
                Ok(())
            })
        })?;
        Ok(())
    }

    /// Metaparameters of a container are those of what it contains, unless that has its own.
    fn hand_down(&mut self) {
        let hands_down = |resource: &Resource<'_>| {
            let mut attributes = resource.metaparameters();
            attributes.any(|attribute| !resource_types::is_relationship(&attribute.name))
        };
        if !self.resources.iter().any(hands_down) {
            return;
        }
        let mut contained: Vec<Vec<ResourceId>> = vec![Vec::new(); self.resources.len()];
        for (container, id) in &self.edges {
            contained[container.index()].push(*id);
        }
        let main = ResourceId::from_index(2);
        let mut seen = vec![false; self.resources.len()];
        let mut pending = std::collections::VecDeque::from([main]);
        while let Some(container) = pending.pop_front() {
            if std::mem::replace(&mut seen[container.index()], true) {
                continue;
            }
            let handed: Vec<Attribute> = resource_types::inherited()
                .filter_map(|name| self.resources[container.index()].attribute(name).cloned())
                .filter(|attribute| !attribute.value.is_undef())
                .collect();
            for id in &contained[container.index()] {
                for attribute in &handed {
                    let resource = &mut self.resources[id.index()];
                    let own = resource.attribute(&attribute.name);
                    if own.is_none_or(|own| own.value.is_undef()) {
                        let how = Said::Container;
                        resource.set(Attribute {
                            how,
                            ..attribute.clone()
                        });
                    }
                }
                pending.push_back(*id);
            }
        }
    }
}

/// What the resource of a node definition is called.
fn node_title(definition: &Definition, node: &str) -> EcoString {
    let DefinitionKind::Node { matches } = &definition.kind else {
        return EcoString::new();
    };
    let node = node.to_lowercase();
    let by_name = matches.iter().find_map(|one| match &one.kind {
        NodeMatchKind::Name(name) if name.to_lowercase() == node => Some(node.as_str().into()),
        _ => None,
    });
    let by_pattern = || {
        matches.iter().find_map(|one| match &one.kind {
            NodeMatchKind::Pattern(pattern) if pattern.is_match(&node) => {
                let kept = |c: &char| c.is_alphanumeric() || "-_:.".contains(*c);
                let source = pattern.source().to_lowercase();
                let name: String = source.chars().filter(kept).collect();
                let name = name.trim_start_matches('.');
                Some(format!("__node_regexp__{name}").into())
            }
            _ => None,
        })
    };
    by_name
        .or_else(by_pattern)
        .unwrap_or_else(|| "default".into())
}
