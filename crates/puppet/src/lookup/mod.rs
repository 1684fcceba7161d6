//! Data for manifests: what a key means for a node (Hiera 5).
//!
//! configuration  hiera.yaml: which levels there are
//! locate         the files of a level, for this node
//! data           a data file, read once for all nodes
//! yaml, scalar   YAML as Ruby reads it, with places
//! key            `a.b.0`
//! interpolate    `%{…}` in paths and values
//! merge          several values for one key
//! options        `lookup_options`: how a key is merged and converted
//!
//! Three layers are asked in turn: the hiera.yaml of the site, that of the environment, and that of the module that a
//! key is named after; if none has a value, the `default_hierarchy` of the module is.

mod configuration;
mod data;
mod interpolate;
mod key;
mod locate;
mod merge;
mod options;
pub(crate) mod scalar;
pub(crate) mod yaml;

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, Severity};
use hence_model::source::Span;
use hence_model::work;
use rustc_hash::FxHashMap;

pub use configuration::{BACKEND, Configuration, HIERA, Layer};
pub use data::Data;
pub use interpolate::INTERPOLATION;
pub(crate) use key::Key;
pub use merge::{MERGE, Strategy};
pub use options::OPTIONS;
pub use yaml::{DATA, DUPLICATE_KEY};

use configuration::{Backend, Level};
use interpolate::Place;
use key::NoWay;
use locate::{Located, LocatedFile};
use options::{Options, Sources};

use crate::evaluate::{Evaluator, Outcome, Stop, failed};
use crate::trace::{DefinitionId, Making, Node, Origin, Source};
use crate::value::{Datum, Entry, Hash, Value};

/// A key whose value needs the key itself.
pub const RECURSIVE: Code = Code::new("puppet.recursive-lookup");
/// A key that makes no sense, or leads nowhere.
pub const KEY: Code = Code::new("puppet.lookup-key");
/// Data of a module with a key that is not its own.
pub const FOREIGN_KEY: Code = Code::new("puppet.foreign-key");

/// A question to the data, and what came of it so far.
pub(crate) struct Query<'q> {
    /// Who asks.
    pub(crate) span: Span,
    /// Where the key comes from.
    pub(crate) key: Origin,
    /// Values that count more than all data.
    pub(crate) overrides: &'q Hash,
    /// Values that count less than all data.
    pub(crate) defaults: &'q Hash,
    /// How far it goes.
    pub(crate) reach: Reach,
    /// What decided the answer.
    pub(crate) decided: Vec<Origin>,
    /// The keys that are being looked up.
    asking: Vec<EcoString>,
    /// The variables that were used.
    used: Vec<(EcoString, Option<DefinitionId>)>,
}

/// Which layers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All.
    All,
    /// That of the site only.
    Global,
}

impl<'q> Query<'q> {
    pub(crate) fn new(span: Span, key: Origin, overrides: &'q Hash, defaults: &'q Hash) -> Self {
        Self {
            span,
            key,
            overrides,
            defaults,
            reach: Reach::All,
            decided: Vec::new(),
            asking: Vec::new(),
            used: Vec::new(),
        }
    }

    /// A question that the answer to this one needs.
    fn inner(&self, key: Origin) -> Query<'q> {
        Query {
            span: self.span,
            key,
            overrides: self.overrides,
            defaults: self.defaults,
            reach: self.reach,
            decided: Vec::new(),
            asking: self.asking.clone(),
            used: Vec::new(),
        }
    }
}

/// What was found out about data for a node.
#[derive(Default)]
pub(crate) struct Lookups<'t> {
    /// The hiera.yaml of each module that was asked.
    modules: FxHashMap<EcoString, Option<&'t Configuration>>,
    /// The files of each hierarchy, by its address.
    located: FxHashMap<usize, Arc<Located<'t>>>,
    /// The `lookup_options` for keys of a module, or of none.
    options: FxHashMap<(Option<EcoString>, bool), Arc<Options>>,
    /// The nodes of the trace for files that lack a key, by where the files begin.
    lacking: FxHashMap<u32, Origin>,
    /// The files that were asked, by where they begin.
    files: FxHashMap<u32, &'t Data>,
}

/// The levels that are asked, and by which hiera.yaml.
struct Hierarchy<'t, 'm> {
    configuration: &'t Configuration,
    levels: &'t [Level],
    /// The module whose data they are.
    module: Option<&'m str>,
}

impl<'t> Evaluator<'t> {
    /// Where a value stands in the data, if one level decided it.
    pub(crate) fn written_in_data(&self, origin: Origin) -> Option<u32> {
        let origin = self.handed_on_by(origin);
        match self.trace.source(origin) {
            Source::Node(Node::Made {
                by: Making::Interpolation | Making::Conversion,
                operands,
            }) => {
                let made_of = self.trace.operands(*operands).first()?;
                self.written_in_data(made_of.origin)
            }
            _ => origin.offset(),
        }
    }

    /// The key of the data that leads to what is written at an offset, also inside hashes.
    pub(crate) fn key_of_written(&self, at: u32) -> Option<Key> {
        let mut files = self.lookups.files.values();
        let data = files.find(|data| (data.span.start..data.span.end).contains(&at))?;
        let mut pending: Vec<(Vec<Datum>, &Hash)> = vec![(Vec::new(), &data.entries)];
        while let Some((around, hash)) = pending.pop() {
            for (key, Entry { value, .. }) in hash.iter() {
                work::step();
                let mut way = around.clone();
                way.push(key.clone());
                match &value.datum {
                    _ if value.origin.offset() == Some(at) => return Key::new(way),
                    Datum::Hash(inner) => pending.push((way, inner)),
                    _ => {}
                }
            }
        }
        None
    }

    /// What each level of the data says about a key, as it is written there, the highest first. It is for those who ask
    /// afterwards, and leaves no trace.
    pub(crate) fn levels_about(&mut self, key: &Key, span: Span) -> Vec<Value> {
        let nothing = Hash::default();
        let query = Query::new(span, Origin::written(span.start), &nothing, &nothing);
        let located = self.lookups.located.clone();
        let mut said = Vec::new();
        for layer in [Layer::Global, Layer::Environment, Layer::Module] {
            let configuration = self.configuration(layer, key.module());
            let Some(configuration) = configuration.filter(|known| known.mistake.is_none()) else {
                continue;
            };
            let last_resort = configuration.default_hierarchy.as_deref();
            let last_resort = last_resort.filter(|_| layer == Layer::Module);
            for levels in [Some(configuration.hierarchy.as_slice()), last_resort] {
                let levels = levels.map(|levels| self.located(&query, configuration, levels));
                let Some(Ok(located)) = levels else {
                    continue;
                };
                let files = located.levels.iter().flat_map(|level| &level.files);
                let data = files.filter_map(|file| file.data);
                let found = data.filter_map(|data| data.entries.position(&key.root));
                let found = found.filter_map(|(_, value)| key.dig(value).ok());
                said.extend(found.cloned());
            }
        }
        self.lookups.located = located;
        said
    }

    /// What the data say about a parameter of a class.
    pub(crate) fn automatic(&mut self, key: &str, span: Span) -> Outcome<Option<Value>> {
        let nothing = Hash::default();
        let at = Origin::written(span.start);
        let mut query = Query::new(span, at, &nothing, &nothing);
        let found = self.look_up(&mut query, key, None)?;
        let decided = query.decided;
        match found {
            None => {
                self.trace.miss(span, decided);
                Ok(None)
            }
            Some(value) => {
                let origin = self.trace.found(value.origin, at, decided);
                Ok(Some(Value { origin, ..value }))
            }
        }
    }

    /// Looks up a key in all layers. What decided the answer is in the query.
    pub(crate) fn look_up(
        &mut self,
        query: &mut Query<'_>,
        key: &str,
        merge: Option<&Strategy>,
    ) -> Outcome<Option<Value>> {
        if key == options::NAME || key.starts_with("lookup_options.") {
            return Ok(None);
        }
        let Some(key) = Key::read(key) else {
            let message = format!("`{key}` is no key: quotes and dots must part it into names");
            let trouble = Diagnostic::error(KEY, message);
            return Err(failed(query.blame(trouble, query.key)));
        };
        let options = self.lookup_options(query, &key)?;
        let strategy = match (merge, &options) {
            (Some(strategy), _) => strategy.clone(),
            (None, Some(options)) => self.strategy_of(query, &key, options)?,
            (None, None) => Strategy::First,
        };
        let found = self.in_layers(query, &key, &strategy)?;
        let found = match found {
            Some(value) => Some(value),
            None if query.reach == Reach::Global => None,
            None => self.in_default_hierarchy(query, &key)?,
        };
        let Some(value) = found else {
            return Ok(None);
        };
        match options {
            Some(options) => self.converted(query, &key, value, &options).map(Some),
            None => Ok(Some(value)),
        }
    }

    /// The value of a key in the three layers.
    fn in_layers(
        &mut self,
        query: &mut Query<'_>,
        key: &Key,
        strategy: &Strategy,
    ) -> Outcome<Option<Value>> {
        let layers: &[Layer] = match query.reach {
            Reach::All => &[Layer::Global, Layer::Environment, Layer::Module],
            Reach::Global => &[Layer::Global],
        };
        let found = match query.reach {
            Reach::All => self.combined(query, strategy, layers, |evaluator, query, layer| {
                evaluator.in_layer(query, key, *layer, key.module(), strategy)
            })?,
            Reach::Global => self.in_layer(query, key, Layer::Global, None, strategy)?,
        };
        self.dug(query, key, found)
    }

    /// The way into a value that a key with dots names.
    fn dug(
        &mut self,
        query: &Query<'_>,
        key: &Key,
        value: Option<Value>,
    ) -> Outcome<Option<Value>> {
        let Some(value) = value else {
            return Ok(None);
        };
        match key.dig(&value) {
            Ok(found) => Ok(Some(found.clone())),
            Err(NoWay::Absent) => Ok(None),
            Err(NoWay::Unfit(segment)) => {
                let message = format!(
                    "`{}`: what is found before `{segment}` has no such element",
                    key.whole
                );
                let trouble = Diagnostic::error(KEY, message);
                Err(failed(query.blame(trouble, value.origin)))
            }
        }
    }

    /// What some places have for a key, merged. One place may be enough.
    fn combined<T>(
        &mut self,
        query: &mut Query<'_>,
        strategy: &Strategy,
        places: &[T],
        mut ask: impl FnMut(&mut Self, &mut Query<'_>, &T) -> Outcome<Option<Value>>,
    ) -> Outcome<Option<Value>> {
        if let ([place], true) = (places, *strategy != Strategy::First) {
            let found = ask(self, query, place)?;
            return Ok(found.map(|value| strategy.single(&mut self.trace, value)));
        }
        let mut memo: Option<Value> = None;
        for place in places {
            let Some(value) = ask(self, query, place)? else {
                continue;
            };
            memo = Some(match memo {
                None if *strategy == Strategy::First => return Ok(Some(value)),
                None => strategy.begin(&mut self.trace, value),
                Some(memo) => self.merged_data(query, strategy, memo, value)?,
            });
        }
        Ok(memo)
    }

    fn merged_data(
        &mut self,
        query: &Query<'_>,
        strategy: &Strategy,
        first: Value,
        second: Value,
    ) -> Outcome {
        let (above, below) = (first.origin, second.origin);
        let merged = strategy.merge(&mut self.trace, first, second);
        merged.map_err(|message| {
            let mut trouble = Diagnostic::error(MERGE, message);
            for place in [above, below] {
                if let Some(at) = self.trace.begins(place) {
                    trouble = trouble.label(Span::at(at), "one of the values");
                }
            }
            failed(query.blame(trouble, query.key))
        })
    }

    /// Whose data are asked, in a layer.
    fn configuration(&mut self, layer: Layer, module: Option<&str>) -> Option<&'t Configuration> {
        let site = self.site;
        let path = match layer {
            Layer::Global => site.layout.hiera.clone()?,
            Layer::Environment => site.layout.of_environment("hiera.yaml")?,
            Layer::Module => return self.module_configuration(module?),
        };
        site.configuration(&path, layer)
    }

    fn module_configuration(&mut self, module: &str) -> Option<&'t Configuration> {
        if let Some(known) = self.lookups.modules.get(module) {
            return *known;
        }
        let directory = self.site.module_directory(module);
        let configuration = directory.and_then(|directory| {
            let path = format!("{directory}/hiera.yaml");
            self.site.configuration(&path, Layer::Module)
        });
        self.lookups.modules.insert(module.into(), configuration);
        configuration
    }

    /// Whether there are any data in which something about a class could be found.
    pub(crate) fn has_data(&mut self, class: &str) -> bool {
        let module = class.split("::").next();
        self.site.layout.hiera.is_some()
            || self.configuration(Layer::Environment, None).is_some()
            || self.configuration(Layer::Module, module).is_some()
    }

    /// Whether the environment has a hiera.yaml of its own.
    pub(crate) fn has_environment_data(&mut self) -> bool {
        let own = self.configuration(Layer::Environment, None);
        own.is_some_and(|own| own.mistake.is_none())
    }

    fn in_layer(
        &mut self,
        query: &mut Query<'_>,
        key: &Key,
        layer: Layer,
        module: Option<&str>,
        strategy: &Strategy,
    ) -> Outcome<Option<Value>> {
        let Some(configuration) = self.configuration(layer, module) else {
            if let (Layer::Global, Some(path)) = (layer, &self.site.layout.hiera) {
                let message = format!("there is no file `{path}`");
                return Err(failed(Diagnostic::error(HIERA, message)));
            }
            return Ok(None);
        };
        if let Some(mistake) = &configuration.mistake {
            if mistake.severity == Severity::Warning && !self.options.strict {
                self.warn(mistake.clone());
                return Ok(None);
            }
            return Err(self.asked(query, mistake.clone()));
        }
        let hierarchy = Hierarchy {
            configuration,
            levels: &configuration.hierarchy,
            module: module.filter(|_| layer == Layer::Module),
        };
        self.in_hierarchy(query, key, &hierarchy, strategy)
    }

    /// The last resort for keys of a module.
    fn in_default_hierarchy(&mut self, query: &mut Query<'_>, key: &Key) -> Outcome<Option<Value>> {
        let Some(module) = key.module() else {
            return Ok(None);
        };
        let Some(configuration) = self.configuration(Layer::Module, Some(module)) else {
            return Ok(None);
        };
        let Some(levels) = &configuration.default_hierarchy else {
            return Ok(None);
        };
        let hierarchy = Hierarchy {
            configuration,
            levels,
            module: Some(module),
        };
        let name = Key::read(options::NAME).expect("it is a key");
        let mut inner = query.inner(query.key);
        let options = self.in_hierarchy(&mut inner, &name, &hierarchy, &Strategy::Hash)?;
        let options = match options {
            Some(value) => {
                let mut sources = Sources::default();
                self.options_said(inner.decided, &mut sources);
                let options = self.options_of(query, &value, Some(module), sources)?;
                query.decided.extend(options.decided(&key.root));
                options.of(&key.root)
            }
            None => None,
        };
        let strategy = match options {
            Some(options) => self.strategy_of(query, key, &options)?,
            None => Strategy::First,
        };
        let found = self.in_hierarchy(query, key, &hierarchy, &strategy)?;
        self.dug(query, key, found)
    }

    fn in_hierarchy(
        &mut self,
        query: &mut Query<'_>,
        key: &Key,
        hierarchy: &Hierarchy<'t, '_>,
        strategy: &Strategy,
    ) -> Outcome<Option<Value>> {
        let located = self.located(query, hierarchy.configuration, hierarchy.levels)?;
        let module = hierarchy.module;
        self.while_asking(query, &key.whole.clone(), |evaluator, query| {
            evaluator.combined(
                query,
                strategy,
                &located.levels,
                |evaluator, query, level| {
                    if let Backend::Refused(trouble) = &level.level.backend {
                        return Err(evaluator.asked(query, (**trouble).clone()));
                    }
                    evaluator.combined(query, strategy, &level.files, |evaluator, query, file| {
                        query.decided.extend(file.made_of.iter().copied());
                        evaluator.in_file(query, key, level.level, file, module)
                    })
                },
            )
        })
    }

    /// What a data file has for a key.
    fn in_file(
        &mut self,
        query: &mut Query<'_>,
        key: &Key,
        level: &Level,
        file: &LocatedFile<'t>,
        module: Option<&str>,
    ) -> Outcome<Option<Value>> {
        let Some(data) = file.data else {
            query.decided.extend(file.absent);
            return Ok(None);
        };
        if let Some(mistake) = &data.mistake {
            return Err(self.asked(query, mistake.clone()));
        }
        for warning in &data.warnings {
            self.warn(warning.clone());
        }
        if let Some(module) = module {
            self.warn_of_foreign_keys(data, module);
        }
        let start = data.span.start;
        self.lookups.files.insert(start, data);
        let Some((before, value)) = data.entries.position(&key.root) else {
            let lacking = self.lacking(start);
            query.decided.push(lacking);
            return Ok(None);
        };
        let before = before as u32;
        query
            .decided
            .push(self.trace.add(Node::Having { start, before }));
        if let Some(unfit) = data.unfit(&key.root) {
            return Err(self.asked(query, unfit.clone()));
        }
        if let Backend::Eyaml = level.backend
            && let Some(at) = encrypted(value)
        {
            let message = format!("the value of `{}` is encrypted", key.root);
            let trouble = Diagnostic::error(BACKEND, message);
            let trouble = query.blame(trouble, at);
            let help =
                "it can be read only with the private key, which this compiler never asks for";
            return Err(failed(trouble.help(help)));
        }
        match data.is_interpolated(&key.root) {
            true => self.interpolate(query, value, Place::Value).map(Some),
            false => Ok(Some(value.clone())),
        }
    }

    fn lacking(&mut self, start: u32) -> Origin {
        let trace = &mut self.trace;
        let known = self.lookups.lacking.entry(start);
        *known.or_insert_with(|| trace.add(Node::Lacking { start }))
    }

    /// Where a key of a data file comes from.
    pub(crate) fn key_of_data(&self, start: u32, before: u32) -> Option<Origin> {
        self.said_in_data(start, before).map(|(key, _)| key)
    }

    /// Where a key of a data file comes from, and what it means.
    fn said_in_data(&self, start: u32, before: u32) -> Option<(Origin, Datum)> {
        let data = self.lookups.files.get(&start)?;
        let (_, entry) = data.entries.at(before as usize)?;
        Some((entry.key, entry.value.datum.clone()))
    }

    /// Where the text of a data file ends.
    pub(crate) fn end_of_data(&self, start: u32) -> u32 {
        let data = self.lookups.files.get(&start);
        data.map_or(start, |data| data.span.end)
    }

    /// What the data files say that were asked.
    pub(crate) fn data_read(&self) -> impl Iterator<Item = &Hash> + '_ {
        let located = self.lookups.located.values();
        let levels = located.flat_map(|located| &located.levels);
        let files = levels.flat_map(|level| &level.files);
        files.filter_map(|file| file.data.map(|data| &data.entries))
    }

    fn warn_of_foreign_keys(&mut self, data: &Data, module: &str) {
        for (key, entry) in data.entries.iter() {
            let text = crate::text::text(key);
            let is_own = text
                .strip_prefix(module)
                .is_some_and(|rest| rest.starts_with("::"));
            if !is_own && text != options::NAME {
                let message =
                    format!("`{text}` is no key of module `{module}`, so nobody asks for it here");
                let mut warning = Diagnostic::warning(FOREIGN_KEY, message);
                if let Some(at) = entry.key.offset() {
                    warning = warning.at(Span::at(at));
                }
                self.warn(warning.help(format!("its keys begin with `{module}::`")));
            }
        }
    }

    /// Does something for which a key is looked up: it must not need that key again.
    fn while_asking<T>(
        &mut self,
        query: &mut Query<'_>,
        name: &str,
        work: impl FnOnce(&mut Self, &mut Query<'_>) -> Outcome<T>,
    ) -> Outcome<T> {
        if query.asking.iter().any(|asked| asked == name) {
            let message = format!("the value of `{name}` needs `{name}` itself");
            let chain = query.asking.join(" needs ");
            let trouble = Diagnostic::error(RECURSIVE, message);
            let trouble = query.blame(trouble, query.key);
            return Err(failed(trouble.help(format!("{chain} needs {name}"))));
        }
        query.asking.push(name.into());
        let result = self.deeper(query.span, |evaluator| work(evaluator, query));
        query.asking.pop();
        result
    }

    /// A mistake in data, and who asked for them.
    fn asked(&self, query: &Query<'_>, trouble: Diagnostic) -> Box<Stop> {
        failed(trouble.label(query.span, "asked for here"))
    }
}

/// Where an encrypted value stands.
fn encrypted(value: &Value) -> Option<Origin> {
    match &value.datum {
        Datum::Text(text) => {
            let (_, behind) = text.split_once("ENC[")?;
            behind.contains(']').then_some(value.origin)
        }
        Datum::Array(array) => array.iter().find_map(encrypted),
        Datum::Hash(hash) => hash.iter().find_map(|(_, entry)| encrypted(&entry.value)),
        _ => None,
    }
}
