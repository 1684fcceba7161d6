//! Dumps of Wallaby's store: YAML to assertions.
//!
//! A dump is one object of Ruby with five lists. In the parameters of a feature the number `0` asks for the default, while
//! the text `'0'` is a value. The identity group of a node is named by the MD5 of the node's name.

mod yaml;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hence_ledger::key::fold;
use hence_ledger::{Key, Value, Vocabulary};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::{FileId, Sources, Span};
use md5::{Digest, Md5};

use crate::kind::ValueKind;
use crate::words::{DEFAULT, SKELETON, SKELETON_SPELLED, Words};
pub use yaml::UNREADABLE;
use yaml::{Shape, Yaml};

/// Something in a dump is not what a dump has there.
pub const UNEXPECTED: Code = Code::new("wallaby.unexpected");
/// Two things have names that differ in case alone.
pub const SAME_NAME: Code = Code::new("wallaby.same-name");
/// Something in a dump has no place here, and is left out.
pub const LEFT_OUT: Code = Code::new("wallaby.left-out");

/// No store is as large as this, but lists that stand for each other can be.
const MOST: usize = 5_000_000;

/// What a dump says.
#[derive(Debug)]
pub struct Imported {
    /// The assertions, in the order of their keys.
    pub assertions: Vec<(Key, Value)>,
    /// What is doubtful.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a dump.
pub fn read(sources: &Sources, file: FileId) -> Result<Imported, Vec<Diagnostic>> {
    let span = sources.span(file);
    let store = yaml::read(sources.slice(span), span.start).map_err(|trouble| vec![*trouble])?;
    let mut importer = Importer::default();
    importer.store(&store);
    match importer.troubles.is_empty() {
        true => {
            importer.fit_kinds();
            Ok(Imported {
                assertions: importer.assertions.into_iter().collect(),
                warnings: importer.warnings,
            })
        }
        false => Err(importer.troubles),
    }
}

#[derive(Default)]
struct Importer {
    assertions: BTreeMap<Key, Value>,
    /// Where the name of each thing stands, by its key.
    named: HashMap<Key, u32>,
    /// Nodes by the name of their identity group.
    identities: HashMap<String, String>,
    /// The kinds that parameters are said to have, and where.
    kinds: Vec<(String, String, u32)>,
    troubles: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl Importer {
    fn store(&mut self, store: &Rc<Yaml>) {
        for list in ["nodes", "groups", "features", "params", "subsystems"] {
            if store.get(list).is_none() {
                let message = format!("a dump of a store has `{list}`, this has not");
                let trouble = Diagnostic::error(UNEXPECTED, message).at(store.span());
                self.troubles
                    .push(trouble.help("`wallaby dump` writes such files"));
                return;
            }
        }
        for node in self.objects(store, "nodes") {
            self.node(&node);
        }
        for group in self.objects(store, "groups") {
            self.group(&group);
        }
        for feature in self.objects(store, "features") {
            self.feature(&feature);
        }
        for parameter in self.objects(store, "params") {
            self.parameter(&parameter);
        }
        for subsystem in self.objects(store, "subsystems") {
            self.subsystem(&subsystem);
        }
    }

    fn node(&mut self, node: &Rc<Yaml>) {
        let Some(name) = self.thing("node", node) else {
            return;
        };
        self.identities.insert(identity(&name), name.clone());
        if node
            .get("provisioned")
            .is_some_and(|value| value.is_plain("false"))
        {
            self.say(node.at, &["node", &name, "walk-in"], Value::Nothing);
        }
        let groups = self.names(node, "membership");
        let groups: Vec<_> = groups
            .into_iter()
            .filter(|(group, _)| fold(group) != DEFAULT && !is_identity(group))
            .collect();
        self.ranked(&["node", &name, "group"], &groups);
    }

    fn group(&mut self, group: &Rc<Yaml>) {
        let Some((name, at)) = self.name(group) else {
            return;
        };
        let path: [String; 2] = match fold(&name).as_str() {
            DEFAULT => ["group".to_owned(), DEFAULT.to_owned()],
            SKELETON => {
                self.say(at, &["group", SKELETON], Value::text(SKELETON_SPELLED));
                ["group".to_owned(), SKELETON.to_owned()]
            }
            _ if is_identity(&name) => match self.identities.get(&name) {
                Some(node) => ["node".to_owned(), node.clone()],
                None => {
                    self.leave_out(at, format!("no node has the identity group `{name}`"));
                    return;
                }
            },
            _ => match self.thing("group", group) {
                Some(name) => ["group".to_owned(), name],
                None => return,
            },
        };
        let [kind, name] = [path[0].as_str(), path[1].as_str()];
        if kind == "group" && name.starts_with("+++") {
            self.annotation(kind, name, group);
        }
        let features = self.names(group, "features");
        self.ranked(&[kind, name, "feature"], &features);
        self.parameters(kind, name, group);
    }

    fn feature(&mut self, feature: &Rc<Yaml>) {
        let Some(name) = self.thing("feature", feature) else {
            return;
        };
        let included = self.names(feature, "included");
        self.ranked(&["feature", &name, "include"], &included);
        self.related("feature", &name, feature);
        self.parameters("feature", &name, feature);
    }

    fn parameter(&mut self, parameter: &Rc<Yaml>) {
        let Some(name) = self.thing("param", parameter) else {
            return;
        };
        let is_set = |field: &str| {
            parameter
                .get(field)
                .is_some_and(|value| value.is_plain("true"))
        };
        let must_change = is_set("must_change");
        if must_change {
            self.say(
                parameter.at,
                &["param", &name, "must-change"],
                Value::Nothing,
            );
        }
        if is_set("needs_restart") {
            self.say(parameter.at, &["param", &name, "restart"], Value::Nothing);
        }
        for (field, property) in [
            ("default_val", "default"),
            ("description", "description"),
            ("level", "level"),
        ] {
            let value = parameter.get(field);
            let Some(text) = value.and_then(|value| value.text()) else {
                continue;
            };
            // The default of a parameter that must be changed was never used.
            if !(text.is_empty() || property == "default" && must_change) {
                let at = value.map_or(parameter.at, |value| value.at);
                self.say(at, &["param", &name, property], Value::text(text));
            }
        }
        if let Some(kind) = parameter.get("kind")
            && let Some(text) = kind.text().filter(|text| !text.is_empty())
        {
            self.kinds.push((name.clone(), text.to_owned(), kind.at));
        }
        self.related("param", &name, parameter);
    }

    fn subsystem(&mut self, subsystem: &Rc<Yaml>) {
        let Some(name) = self.thing("subsystem", subsystem) else {
            return;
        };
        for (parameter, at) in self.names(subsystem, "params") {
            self.say(
                at,
                &["subsystem", &name, "param", &parameter],
                Value::Nothing,
            );
        }
    }

    /// What a feature or a parameter needs, and cannot be together with.
    fn related(&mut self, kind: &str, name: &str, thing: &Rc<Yaml>) {
        for (field, relation) in [("depends", "depend"), ("conflicts", "conflict")] {
            for (other, at) in self.names(thing, field) {
                self.say(at, &[kind, name, relation, &other], Value::Nothing);
            }
        }
    }

    fn parameters(&mut self, kind: &str, name: &str, thing: &Rc<Yaml>) {
        let Some(parameters) = thing.get("params").cloned() else {
            return;
        };
        let Shape::Map(entries) = &parameters.shape else {
            if parameters.text().is_some() || matches!(parameters.shape, Shape::List(_)) {
                self.unexpected(parameters.at, "parameters are a mapping");
            }
            return;
        };
        for (parameter, value) in entries {
            let Some(parameter) = parameter.text() else {
                self.unexpected(parameter.at, "the name of a parameter is text");
                continue;
            };
            let said = match value.text() {
                // A number is no text, and the only one that there can be asks for the default.
                _ if value.is_plain("0") => Value::Nothing,
                Some(text) => Value::text(text),
                None if matches!(value.shape, Shape::Scalar { .. }) => Value::Nothing,
                None => {
                    self.unexpected(value.at, "the value of a parameter is text");
                    continue;
                }
            };
            self.say(value.at, &[kind, name, "param", parameter], said);
        }
    }

    fn ranked(&mut self, path: &[&str; 3], names: &[(String, u32)]) {
        for (number, (name, at)) in names.iter().enumerate() {
            let [kind, thing, relation] = path;
            let key = Key::new([kind, &*fold(thing), relation, &*fold(name)]);
            // Of what stands there twice, the first place counts.
            if !self.assertions.contains_key(&key) {
                let rank = Value::text(((number + 1) * 10).to_string());
                self.say(*at, &[kind, thing, relation, name], rank);
            }
        }
    }

    /// A thing with a name and an annotation.
    fn thing(&mut self, kind: &str, thing: &Rc<Yaml>) -> Option<String> {
        let (name, at) = self.name(thing)?;
        let key = Key::new([kind, &*fold(&name)]);
        if let Some(Value::Text(other)) = self.assertions.get(&key) {
            let message = match *other == name {
                true => format!("there are two {kind}s `{name}`"),
                false => format!("the {kind}s `{other}` and `{name}` differ in case alone"),
            };
            let other = Span::at(self.named[&key]);
            let trouble = Diagnostic::error(SAME_NAME, message);
            let trouble = trouble.at(Span::at(at)).label(other, "the other");
            self.troubles
                .push(trouble.help("names are found regardless of case here"));
            return None;
        }
        self.named.insert(key, at);
        self.say(at, &[kind, &name], Value::text(name.as_str()));
        self.annotation(kind, &name, thing);
        Some(name)
    }

    fn annotation(&mut self, kind: &str, name: &str, thing: &Rc<Yaml>) {
        if let Some(annotation) = thing.get("annotation")
            && let Some(text) = annotation.text().filter(|text| !text.is_empty())
        {
            self.say(
                annotation.at,
                &[kind, name, "annotation"],
                Value::text(text),
            );
        }
    }

    fn name(&mut self, thing: &Rc<Yaml>) -> Option<(String, u32)> {
        match thing.get("name").map(|name| (name.text(), name.at)) {
            Some((Some(name), at)) if !name.is_empty() => Some((name.to_owned(), at)),
            _ => {
                self.unexpected(thing.at, "this has no name");
                None
            }
        }
    }

    /// The objects of a list of the store.
    fn objects(&mut self, store: &Rc<Yaml>, list: &str) -> Vec<Rc<Yaml>> {
        let objects = store.get(list).expect("it was looked for");
        match &objects.shape {
            Shape::List(objects) => objects.clone(),
            _ if objects.text().is_none() && !matches!(objects.shape, Shape::Map(_)) => Vec::new(),
            _ => {
                self.unexpected(objects.at, &format!("`{list}` are a list"));
                Vec::new()
            }
        }
    }

    /// The names in a list, or in the keys of a mapping, of an object.
    fn names(&mut self, thing: &Rc<Yaml>, field: &str) -> Vec<(String, u32)> {
        let Some(names) = thing.get(field) else {
            return Vec::new();
        };
        let parts: Vec<&Rc<Yaml>> = match &names.shape {
            Shape::List(names) => names.iter().collect(),
            Shape::Map(entries) => entries.iter().map(|(name, _)| name).collect(),
            Shape::Scalar { .. } if names.text().is_none() => Vec::new(),
            Shape::Scalar { .. } => {
                self.unexpected(names.at, &format!("`{field}` is a list of names"));
                Vec::new()
            }
        };
        let mut found = Vec::with_capacity(parts.len());
        for part in parts {
            match part.text() {
                Some(name) => found.push((name.to_owned(), part.at)),
                None => self.unexpected(part.at, "a name is expected"),
            }
        }
        found
    }

    fn say(&mut self, at: u32, names: &[&str], value: Value) {
        if self.assertions.len() >= MOST {
            if self.troubles.is_empty() {
                self.unexpected(at, &format!("a dump says at most {MOST} things"));
            }
            return;
        }
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        match Words.assertion(&names, value) {
            Ok((key, value)) => {
                self.assertions.insert(key, value);
            }
            Err(fault) => self.unexpected(at, &fault.message),
        }
    }

    fn unexpected(&mut self, at: u32, message: &str) {
        let at = Span::at(at);
        self.troubles
            .push(Diagnostic::error(UNEXPECTED, message).at(at));
    }

    fn leave_out(&mut self, at: u32, message: String) {
        let at = Span::at(at);
        self.warnings
            .push(Diagnostic::warning(LEFT_OUT, message).at(at));
    }

    /// Kinds were free text that nobody checked. One is kept if there is such a kind, and all values of the parameter
    /// are of it; otherwise its values are texts.
    fn fit_kinds(&mut self) {
        let mut values: HashMap<String, Vec<&Value>> = HashMap::new();
        for (key, value) in &self.assertions {
            let names: Vec<_> = key.names().collect();
            let parameter = match names.as_slice() {
                [kind, parameter, field] if kind == "param" && field == "default" => parameter,
                [kind, _, relation, parameter] if kind != "subsystem" && relation == "param" => {
                    parameter
                }
                _ => continue,
            };
            values
                .entry(parameter.clone().into_owned())
                .or_default()
                .push(value);
        }
        let mut fitting = Vec::new();
        for (name, said, at) in &self.kinds {
            let kind = fold(said);
            let of_it = values.get(&fold(name));
            let mut texts = of_it
                .into_iter()
                .flatten()
                .filter_map(|value| value.as_text());
            let known = ValueKind::parse(&kind).ok();
            match known.is_some_and(|known| texts.all(|text| known.objection(text).is_none())) {
                true => fitting.push((name.clone(), kind)),
                false => {
                    let message = format!("not all values of `{name}` are of the kind `{said}`");
                    let at = Span::at(*at);
                    let warning = Diagnostic::warning(LEFT_OUT, message).at(at);
                    self.warnings.push(warning.help("they are taken as texts"));
                    fitting.push((name.clone(), "string".to_owned()));
                }
            }
        }
        for (name, kind) in fitting {
            let key = Key::new(["param", &*fold(&name), "kind"]);
            self.assertions.insert(key, Value::text(kind));
        }
    }
}

/// The name of a node's identity group.
pub fn identity(node: &str) -> String {
    let digest = Md5::digest(node.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("+++{hex}")
}

fn is_identity(group: &str) -> bool {
    let hex = group.strip_prefix("+++");
    hex.is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
