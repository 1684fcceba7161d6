//! `hiera.yaml`: which files are asked for data, and in which order.

use ecow::EcoString;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::source::{FileId, Span};
use hence_model::unit::Unit;

use super::data::Format;
use super::yaml;
use crate::value::{Datum, Hash, Value};

/// A hiera.yaml that cannot be followed.
pub const HIERA: Code = Code::new("puppet.hiera");
/// A level of the hierarchy that asks something else than YAML and JSON files.
pub const BACKEND: Code = Code::new("puppet.backend");

/// Whose hiera.yaml it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// That of the whole site.
    Global,
    /// That of an environment.
    Environment,
    /// That of a module.
    Module,
}

/// What a hiera.yaml says.
#[derive(Debug)]
pub struct Configuration {
    /// The levels, in the order in which they are asked.
    pub hierarchy: Vec<Level>,
    /// The levels of a module that are asked when nothing else has a value.
    pub default_hierarchy: Option<Vec<Level>>,
    /// The directory that paths are relative to.
    pub directory: String,
    /// Where the file begins.
    pub start: u32,
    /// What is wrong with it; an error if it cannot be followed.
    pub mistake: Option<Diagnostic>,
}

/// A level of a hierarchy.
#[derive(Debug)]
pub struct Level {
    /// Its name.
    pub name: EcoString,
    /// The directory of its files.
    pub datadir: Written,
    /// Its files.
    pub locations: Locations,
    /// How they are read.
    pub backend: Backend,
}

/// Something written in a hiera.yaml.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text.
    pub text: EcoString,
    /// Where it stands.
    pub at: u32,
}

/// Which files belong to a level.
#[derive(Debug)]
pub enum Locations {
    /// `path`, `paths`
    Paths(Vec<Written>),
    /// `glob`, `globs`
    Globs(Vec<Written>),
    /// `mapped_paths`: a variable, the name for one of its elements, and a path with that name in it.
    Mapped(Box<[Written; 3]>),
}

/// How the files of a level are read.
#[derive(Debug)]
pub enum Backend {
    /// As they are.
    Files(Format),
    /// As YAML in which some values are encrypted.
    Eyaml,
    /// Not at all, for this reason.
    Refused(Box<Diagnostic>),
}

const BACKENDS: [&str; 4] = ["data_hash", "lookup_key", "data_dig", "hiera3_backend"];
const LOCATIONS: [&str; 7] = [
    "path",
    "paths",
    "glob",
    "globs",
    "uri",
    "uris",
    "mapped_paths",
];

impl Configuration {
    /// Reads a hiera.yaml.
    pub fn read(unit: &Unit, file: FileId, layer: Layer) -> Self {
        let span = unit.sources.span(file);
        let name = unit.sources.name(file);
        let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut configuration = Self {
            hierarchy: Vec::new(),
            default_hierarchy: None,
            directory: directory.to_owned(),
            start: span.start,
            mistake: None,
        };
        let read = yaml::read(unit.sources.slice(span), span.start);
        let filled = read.and_then(|document| configuration.fill(&document.value, layer));
        configuration.mistake = filled.err().map(|mistake| *mistake);
        configuration
    }

    /// A hiera.yaml that could not even be loaded.
    pub fn wrong(mistake: Diagnostic) -> Self {
        Self {
            hierarchy: Vec::new(),
            default_hierarchy: None,
            directory: String::new(),
            start: 0,
            mistake: Some(mistake),
        }
    }

    fn fill(&mut self, whole: &Value, layer: Layer) -> Result<(), Box<Diagnostic>> {
        let Datum::Hash(hash) = &whole.datum else {
            let trouble = wrong("a hiera.yaml begins with `version: 5`", whole);
            return Err(Box::new(trouble));
        };
        let version = hash.get_text("version");
        match version.map(|version| &version.datum) {
            Some(Datum::Integer(5)) => {}
            other => {
                let message = match other {
                    None => {
                        "this hiera.yaml says no version, and so is one of version 3".to_owned()
                    }
                    Some(version) => format!(
                        "this hiera.yaml is of version {}, and only version 5 can be read",
                        crate::text::text(version)
                    ),
                };
                let trouble = wrong(message, version.unwrap_or(whole));
                let help = "convert it: `version: 5`, and a name and a path for each level";
                let ignored =
                    layer != Layer::Global && matches!(other, None | Some(Datum::Integer(3)));
                let trouble = match ignored {
                    // The real compiler passes by what a module keeps for other versions of itself.
                    true => Diagnostic {
                        severity: hence_model::diagnostic::Severity::Warning,
                        message: format!("{}; it is ignored", trouble.message),
                        ..trouble
                    },
                    false => trouble,
                };
                return Err(Box::new(trouble.help(help)));
            }
        }
        let known = [
            "version",
            "defaults",
            "hierarchy",
            "plan_hierarchy",
            "default_hierarchy",
        ];
        only(hash, &known, "a hiera.yaml")?;
        let nothing = Hash::default();
        let defaults = match hash.get_text("defaults") {
            None => None,
            Some(defaults) => Some(as_hash(defaults, "`defaults`")?),
        };
        if let Some(defaults) = defaults {
            let known = ["data_hash", "lookup_key", "data_dig", "datadir", "options"];
            only(defaults, &known, "`defaults`")?;
            at_most_one(defaults, &BACKENDS, "`defaults`")?;
            no_reserved_option(defaults)?;
        }
        let defaults = Defaults {
            given: defaults.unwrap_or(&nothing),
            backend: defaults.is_none().then_some("yaml_data"),
            start: self.start,
        };
        self.hierarchy = match hash.get_text("hierarchy") {
            Some(levels) => defaults.levels(levels)?,
            None => vec![defaults.common()?],
        };
        if let Some(levels) = hash.get_text("default_hierarchy") {
            if layer != Layer::Module {
                let message = "only the hiera.yaml of a module has a `default_hierarchy`";
                return Err(Box::new(wrong(message, levels)));
            }
            self.default_hierarchy = Some(defaults.levels(levels)?);
        }
        Ok(())
    }
}

/// What holds for all levels that do not say otherwise.
struct Defaults<'h> {
    given: &'h Hash,
    /// The backend, if `defaults` is not written at all.
    backend: Option<&'static str>,
    start: u32,
}

impl Defaults<'_> {
    fn levels(&self, value: &Value) -> Result<Vec<Level>, Box<Diagnostic>> {
        let Datum::Array(array) = &value.datum else {
            return Err(Box::new(wrong("a hierarchy is a list of levels", value)));
        };
        let mut levels: Vec<Level> = Vec::with_capacity(array.len());
        for value in array.iter() {
            let level = self.level(value)?;
            if levels.iter().any(|other| other.name == level.name) {
                let message = format!("two levels are named `{}`", level.name);
                return Err(Box::new(wrong(message, value)));
            }
            levels.push(level);
        }
        Ok(levels)
    }

    /// The level of a hiera.yaml without a hierarchy.
    fn common(&self) -> Result<Level, Box<Diagnostic>> {
        let at = self.start;
        let text = "common.yaml".into();
        Ok(Level {
            name: "Common".into(),
            datadir: self.datadir(&Hash::default())?,
            locations: Locations::Paths(vec![Written { text, at }]),
            backend: self.backend(&Hash::default(), "Common", true, self.start)?,
        })
    }

    fn level(&self, value: &Value) -> Result<Level, Box<Diagnostic>> {
        let hash = as_hash(value, "a level")?;
        let at = value.origin.offset().unwrap_or(self.start);
        let mut known = vec!["name", "options", "datadir"];
        known.extend(BACKENDS);
        known.extend(LOCATIONS);
        only(hash, &known, "a level")?;
        let Some(name) = hash.get_text("name") else {
            return Err(Box::new(wrong("this level has no `name`", value)));
        };
        let name = text(name, "the name of a level")?.text;
        at_most_one(hash, &BACKENDS, &format!("level `{name}`"))?;
        at_most_one(hash, &LOCATIONS, &format!("level `{name}`"))?;
        no_reserved_option(hash)?;
        let locations = locations(hash)?;
        let backend = self.backend(hash, &name, locations.is_some(), at)?;
        Ok(Level {
            datadir: self.datadir(hash)?,
            locations: locations.unwrap_or(Locations::Paths(Vec::new())),
            backend,
            name,
        })
    }

    fn datadir(&self, hash: &Hash) -> Result<Written, Box<Diagnostic>> {
        let own = hash.get_text("datadir");
        match own.or_else(|| self.given.get_text("datadir")) {
            Some(datadir) => text(datadir, "a directory"),
            None => Ok(Written {
                text: "data".into(),
                at: self.start,
            }),
        }
    }

    fn backend(
        &self,
        hash: &Hash,
        name: &str,
        has_files: bool,
        at: u32,
    ) -> Result<Backend, Box<Diagnostic>> {
        let said = |hash: &Hash| {
            let kinds = BACKENDS.iter();
            kinds
                .copied()
                .find_map(|kind| Some((kind, hash.get_text(kind)?.clone())))
        };
        let (kind, function) = match said(hash).or_else(|| said(self.given)) {
            Some((kind, value)) => (kind, text(&value, "the name of a function")?),
            None => match self.backend {
                Some(text) => (
                    "data_hash",
                    Written {
                        text: text.into(),
                        at,
                    },
                ),
                None => {
                    let message = format!("level `{name}` does not say how its data are read");
                    let trouble = Diagnostic::error(HIERA, message).at(Span::at(at));
                    return Err(Box::new(
                        trouble.help("`data_hash: yaml_data` reads YAML files"),
                    ));
                }
            },
        };
        let place = Span::at(function.at);
        let refused = |message: String, help: &str| {
            let trouble = Diagnostic::error(BACKEND, message).at(place).help(help);
            Ok(Backend::Refused(Box::new(trouble)))
        };
        let addressed = hash.get_text("uri").or_else(|| hash.get_text("uris"));
        if addressed.is_some() {
            let message = format!("level `{name}` asks an address, and only files can be read");
            return refused(message, "keep what it answers in a YAML or JSON file");
        }
        let own = hash.get_text("options");
        let options = own.or_else(|| self.given.get_text("options"));
        let has_options = options
            .is_some_and(|options| matches!(&options.datum, Datum::Hash(hash) if !hash.is_empty()));
        let files = match (kind, function.text.as_str()) {
            ("data_hash", "yaml_data") => Backend::Files(Format::Yaml),
            ("data_hash", "json_data") => Backend::Files(Format::Json),
            ("lookup_key", "eyaml_lookup_key") => Backend::Eyaml,
            ("data_hash", "hocon_data") => {
                let message = format!("level `{name}` is written in HOCON, which cannot be read");
                return refused(message, "convert the files to YAML or JSON");
            }
            (kind, function) => {
                let message = format!(
                    "level `{name}` asks `{function}` (`{kind}`), which would have to be run as Ruby"
                );
                let help = "`yaml_data` and `json_data` can be read; keep the data in such files";
                return refused(message, help);
            }
        };
        if !has_files {
            let message = format!("level `{name}` names no file: it has no `path`");
            return refused(
                message,
                "say `path`, `paths`, `glob`, `globs` or `mapped_paths`",
            );
        }
        if has_options && matches!(files, Backend::Files(_)) {
            let message = format!(
                "level `{name}` has options, and `{}` takes none",
                function.text
            );
            return refused(message, "remove `options`");
        }
        Ok(files)
    }
}

fn locations(hash: &Hash) -> Result<Option<Locations>, Box<Diagnostic>> {
    if let Some(path) = hash.get_text("path") {
        return Ok(Some(Locations::Paths(vec![text(path, "a path")?])));
    }
    if let Some(paths) = hash.get_text("paths") {
        return Ok(Some(Locations::Paths(texts(paths, "`paths`")?)));
    }
    if let Some(glob) = hash.get_text("glob") {
        return Ok(Some(Locations::Globs(vec![text(glob, "a path")?])));
    }
    if let Some(globs) = hash.get_text("globs") {
        return Ok(Some(Locations::Globs(texts(globs, "`globs`")?)));
    }
    if let Some(mapped) = hash.get_text("mapped_paths") {
        let texts = texts(mapped, "`mapped_paths`")?;
        let Ok(three) = Box::try_from(texts.into_boxed_slice()) else {
            let message = "`mapped_paths` is a variable, a name for its elements, and a path";
            return Err(Box::new(wrong(message, mapped)));
        };
        return Ok(Some(Locations::Mapped(three)));
    }
    Ok(None)
}

fn text(value: &Value, what: &str) -> Result<Written, Box<Diagnostic>> {
    match &value.datum {
        Datum::Text(text) if !text.is_empty() => Ok(Written {
            text: text.clone(),
            at: value.origin.offset().unwrap_or(0),
        }),
        _ => Err(Box::new(wrong(format!("expected text for {what}"), value))),
    }
}

fn texts(value: &Value, what: &str) -> Result<Vec<Written>, Box<Diagnostic>> {
    match &value.datum {
        Datum::Array(array) if !array.is_empty() => {
            array.iter().map(|value| text(value, what)).collect()
        }
        _ => Err(Box::new(wrong(format!("{what} is a list of texts"), value))),
    }
}

fn as_hash<'v>(value: &'v Value, what: &str) -> Result<&'v Hash, Box<Diagnostic>> {
    match &value.datum {
        Datum::Hash(hash) => Ok(hash),
        _ => Err(Box::new(wrong(
            format!("{what} has keys and values"),
            value,
        ))),
    }
}

fn only(hash: &Hash, known: &[&str], what: &str) -> Result<(), Box<Diagnostic>> {
    for (key, entry) in hash.iter() {
        let key_text = crate::text::text(key);
        if !known.contains(&key_text.as_str()) {
            let message = format!("{what} has no `{key_text}`");
            let trouble = wrong(message, &Value::new(key.clone(), entry.key));
            let near = similar(&key_text, known.iter().copied());
            return Err(Box::new(match near.first() {
                Some(near) => trouble.help(format!("did you mean `{near}`?")),
                None => trouble,
            }));
        }
    }
    Ok(())
}

fn at_most_one(hash: &Hash, keys: &[&str], what: &str) -> Result<(), Box<Diagnostic>> {
    let mut said = keys
        .iter()
        .filter_map(|key| Some((*key, hash.entry(&Datum::from(*key))?)));
    if let (Some((first, _)), Some((second, entry))) = (said.next(), said.next()) {
        let message = format!("{what} says both `{first}` and `{second}`");
        return Err(Box::new(wrong(message, &Value::new(second, entry.key))));
    }
    Ok(())
}

/// `path` and `uri` are set for each file that is read.
fn no_reserved_option(hash: &Hash) -> Result<(), Box<Diagnostic>> {
    let Some(options) = hash.get_text("options") else {
        return Ok(());
    };
    let options = as_hash(options, "`options`")?;
    for key in ["path", "uri"] {
        if let Some(entry) = options.entry(&Datum::from(key)) {
            let message = format!("an option cannot be named `{key}`");
            return Err(Box::new(wrong(message, &Value::new(key, entry.key))));
        }
    }
    Ok(())
}

fn wrong(message: impl Into<String>, value: &Value) -> Diagnostic {
    let place = Span::at(value.origin.offset().unwrap_or(0));
    Diagnostic::error(HIERA, message).at(place)
}
