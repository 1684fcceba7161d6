//! `lookup_options`: what data say about their own keys, how they are merged and what they are converted to.

use std::sync::Arc;

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic};
use rustc_hash::FxHashMap;

use super::configuration::Layer;
use super::key::Key;
use super::merge::Strategy;
use super::{Query, Reach};
use crate::evaluate::{Evaluator, Outcome, Stop, failed};
use crate::pattern::Pattern;
use crate::trace::{Making, Node, Origin, Source as Place};
use crate::value::{Datum, Hash, Value};

/// `lookup_options` that cannot be followed.
pub const OPTIONS: Code = Code::new("puppet.lookup-options");

/// The key that they stand under; nobody can look it up.
pub(super) const NAME: &str = "lookup_options";

/// The options of all keys.
#[derive(Default)]
pub(super) struct Options {
    by_key: FxHashMap<EcoString, Hash>,
    /// With where the patterns come from.
    by_pattern: Vec<(Pattern, Origin, Hash)>,
    sources: Sources,
}

/// Which data files say something about options.
#[derive(Default)]
pub(super) struct Sources {
    /// Those that do, the one that counts most first.
    files: Vec<Source>,
    /// What the paths of data files were made from.
    paths: Vec<Origin>,
}

/// What a data file says about options.
struct Source {
    /// Where the key comes from that they stand under.
    name: Origin,
    /// What stands there, by key.
    entries: Hash,
    /// That something else could.
    unsaid: Origin,
}

impl Options {
    /// What decides the options of a key: what is said about it, and where something else could be.
    pub(super) fn decided(&self, root: &str) -> Vec<Origin> {
        let mut decided = self.sources.paths.clone();
        for file in &self.sources.files {
            let Some((position, own)) = file.entries.position(root) else {
                decided.push(file.unsaid);
                continue;
            };
            decided.push(file.name);
            // Of several entries with the same key the last counts.
            let keys = file.entries.iter().skip(position);
            decided.extend(keys.map(|(_, entry)| entry.key));
            origins(own, &mut decided);
            return decided;
        }
        let mut patterns = self.by_pattern.iter();
        if let Some((_, key, own)) = patterns.find(|(pattern, ..)| pattern.is_match(root)) {
            decided.push(*key);
            origins(&Value::new(own.clone(), *key), &mut decided);
        }
        decided
    }

    /// The options of a key.
    pub(super) fn of(&self, root: &str) -> Option<Hash> {
        if let Some(own) = self.by_key.get(root) {
            return Some(own.clone());
        }
        let mut patterns = self.by_pattern.iter();
        let (.., options) = patterns.find(|(pattern, ..)| pattern.is_match(root))?;
        Some(options.clone())
    }
}

impl<'t> Evaluator<'t> {
    /// The options of a key.
    pub(super) fn lookup_options(
        &mut self,
        query: &mut Query<'_>,
        key: &Key,
    ) -> Outcome<Option<Hash>> {
        let module = match query.reach {
            Reach::All => key.module(),
            Reach::Global => None,
        };
        let name = (module.map(EcoString::from), query.reach == Reach::Global);
        let options = match self.lookups.options.get(&name) {
            Some(known) => known.clone(),
            None => {
                let options = Arc::new(self.all_options(query, module)?);
                self.lookups.options.insert(name, options.clone());
                options
            }
        };
        query.decided.extend(options.decided(&key.root));
        Ok(options.of(&key.root))
    }

    /// The options in all layers; those of the site count most.
    fn all_options(&mut self, query: &Query<'_>, module: Option<&str>) -> Outcome<Options> {
        let key = Key::read(NAME).expect("it is a key");
        let layers: &[Layer] = match (query.reach, module) {
            (Reach::Global, _) => &[Layer::Global],
            (Reach::All, None) => &[Layer::Global, Layer::Environment],
            (Reach::All, Some(_)) => &[Layer::Global, Layer::Environment, Layer::Module],
        };
        let mut all: Option<Value> = None;
        let mut sources = Sources::default();
        for layer in layers {
            let mut inner = query.inner(query.key);
            let found = self.in_layer(&mut inner, &key, *layer, module, &Strategy::Hash)?;
            self.options_said(inner.decided, &mut sources);
            let Some(found) = found else {
                continue;
            };
            let own = (*layer == Layer::Module).then_some(module).flatten();
            self.check_options(query, &found, own)?;
            all = Some(match all {
                None => found,
                Some(all) => self.merged_data(query, &Strategy::Hash, all, found)?,
            });
        }
        match all {
            Some(all) => self.options_of(query, &all, None, sources),
            None => Ok(Options::default()),
        }
    }

    /// The data files that say something about options, among all that decided what these are.
    pub(super) fn options_said(&mut self, decided: Vec<Origin>, sources: &mut Sources) {
        for origin in decided {
            let (start, before) = match self.trace.source(origin) {
                Place::Node(Node::Having { start, before }) => (*start, *before),
                Place::Node(Node::Lacking { .. }) => continue,
                _ => {
                    sources.paths.push(origin);
                    continue;
                }
            };
            let Some((name, Datum::Hash(entries))) = self.said_in_data(start, before) else {
                continue;
            };
            let next = self.key_of_data(start, before + 1).and_then(Origin::offset);
            let stretch = Node::Unsaid {
                start: name.offset().unwrap_or(start),
                end: next.unwrap_or(self.end_of_data(start)),
            };
            let unsaid = self.trace.add(stretch);
            sources.files.push(Source {
                name,
                entries,
                unsaid,
            });
        }
    }

    /// A module can say something about its own keys only.
    fn check_options(&self, query: &Query<'_>, value: &Value, module: Option<&str>) -> Outcome<()> {
        let wrong = |message: String, origin: Origin| {
            let trouble = Diagnostic::error(OPTIONS, message);
            Err(failed(query.blame(trouble, origin)))
        };
        let Datum::Hash(hash) = &value.datum else {
            let message = "`lookup_options` has keys, each with its options".to_owned();
            return wrong(message, value.origin);
        };
        let Some(module) = module else {
            return Ok(());
        };
        for (key, entry) in hash.iter() {
            let text = crate::text::text(key);
            let name = text.strip_prefix('^').unwrap_or(&text);
            let rest = name.strip_prefix(module);
            if !rest.is_some_and(|rest| rest.starts_with("::")) {
                let message = format!("`{text}` is no key of module `{module}`");
                return wrong(message, entry.key);
            }
        }
        Ok(())
    }

    /// The options that a value says, by key and by pattern.
    pub(super) fn options_of(
        &self,
        query: &Query<'_>,
        value: &Value,
        module: Option<&str>,
        sources: Sources,
    ) -> Outcome<Options> {
        self.check_options(query, value, module)?;
        let mut options = Options {
            sources,
            ..Options::default()
        };
        let Datum::Hash(hash) = &value.datum else {
            return Ok(options);
        };
        for (key, entry) in hash.iter() {
            let text = crate::text::text(key);
            let Datum::Hash(own) = &entry.value.datum else {
                continue;
            };
            if !text.starts_with('^') {
                options.by_key.insert(text, own.clone());
                continue;
            }
            match Pattern::new(&text) {
                Ok(pattern) => options.by_pattern.push((pattern, entry.key, own.clone())),
                Err(why) => {
                    let message = format!("`{text}` is no regular expression: {why}");
                    let trouble = Diagnostic::error(OPTIONS, message);
                    return Err(failed(query.blame(trouble, entry.key)));
                }
            }
        }
        Ok(options)
    }

    /// How the options of a key want it to be merged.
    pub(super) fn strategy_of(
        &self,
        query: &Query<'_>,
        key: &Key,
        options: &Hash,
    ) -> Outcome<Strategy> {
        let Some(merge) = options.get_text("merge").filter(|merge| !merge.is_undef()) else {
            return Ok(Strategy::First);
        };
        Strategy::read(&merge.datum).map_err(|why| {
            let message = format!("the options of `{}`: {why}", key.root);
            let trouble = Diagnostic::error(OPTIONS, message);
            failed(query.blame(trouble, merge.origin))
        })
    }

    /// A value, converted as the options of its key want it.
    pub(super) fn converted(
        &mut self,
        query: &Query<'_>,
        key: &Key,
        value: Value,
        options: &Hash,
    ) -> Outcome {
        let Some(convert) = options.get_text("convert_to") else {
            return Ok(value);
        };
        let mut words = match &convert.datum {
            Datum::Undef => return Ok(value),
            Datum::Array(array) => array.as_slice().to_vec().into_iter(),
            _ => vec![convert.clone()].into_iter(),
        };
        let wrong = |message: String, origin: Origin| {
            let message = format!("the options of `{}`: {message}", key.root);
            let trouble = Diagnostic::error(OPTIONS, message);
            Err(failed(query.blame(trouble, origin)))
        };
        let kind = words.next();
        let Some((Datum::Text(text), place)) = kind.map(|kind| (kind.datum, kind.origin)) else {
            return wrong(
                "`convert_to` is the name of a type".to_owned(),
                convert.origin,
            );
        };
        let Some(at) = self.site.type_in_data(&text) else {
            return wrong(format!("`{text}` is no type"), place);
        };
        let kind = self.nested(at)?;
        let mut arguments = vec![kind, value.clone()];
        arguments.extend(words);
        match self.call_by_name(at, "new", arguments, None) {
            Ok(made) => {
                let operands = [value, Value::new(text, place)];
                let origin = self.trace.made(Making::Conversion, operands);
                Ok(Value { origin, ..made })
            }
            Err(stop) => Err(match *stop {
                Stop::Failed(trouble) => failed(trouble.label(query.span, "asked for here")),
                other => Box::new(other),
            }),
        }
    }
}

/// Where a value and all that is in it comes from.
fn origins(value: &Value, into: &mut Vec<Origin>) {
    into.push(value.origin);
    match &value.datum {
        Datum::Array(array) => array.iter().for_each(|value| origins(value, into)),
        Datum::Hash(hash) => {
            for (_, entry) in hash.iter() {
                into.push(entry.key);
                origins(&entry.value, into);
            }
        }
        _ => {}
    }
}
