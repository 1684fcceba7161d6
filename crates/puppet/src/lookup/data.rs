//! Data files: YAML or JSON, each read once for all nodes.

use ecow::EcoString;
use hence_model::diagnostic::Diagnostic;
use hence_model::source::FileId;
use hence_model::source::Span;
use hence_model::unit::Unit;
use rustc_hash::{FxHashMap, FxHashSet};

use super::yaml::{self, DATA};
use crate::facts;
use crate::site::Site;
use crate::value::{Datum, Hash, Value};

/// How a data file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `yaml_data`
    Yaml,
    /// `json_data`
    Json,
}

/// A data file.
#[derive(Debug)]
pub struct Data {
    /// What it says, by key.
    pub entries: Hash,
    /// Where its text stands.
    pub span: Span,
    /// The keys that have `%{…}` somewhere in their values.
    interpolated: FxHashSet<EcoString>,
    /// What no manifest can have, by key.
    unfit: FxHashMap<EcoString, Diagnostic>,
    /// What is doubtful in it.
    pub warnings: Vec<Diagnostic>,
    /// Why nothing could be read.
    pub mistake: Option<Diagnostic>,
}

impl Data {
    /// A data file of a site, if there is one.
    pub fn find<'s>(site: &'s Site<'_>, path: &str, format: Format) -> Option<&'s Data> {
        site.data(path, |unit, file| Self::read(unit, file, format))
    }

    /// A data file that could not even be loaded.
    pub fn unreadable(span: Span, mistake: Diagnostic) -> Self {
        Self {
            entries: Hash::default(),
            span,
            interpolated: FxHashSet::default(),
            unfit: FxHashMap::default(),
            warnings: Vec::new(),
            mistake: Some(mistake),
        }
    }

    fn read(unit: &mut Unit, file: FileId, format: Format) -> Self {
        let span = unit.sources.span(file);
        let read = match format {
            Format::Yaml => Self::read_yaml(unit, file),
            Format::Json => facts::values(unit, file)
                .map(|entries| Self::of(entries, span))
                .map_err(|trouble| Box::new(about_json(*trouble))),
        };
        read.unwrap_or_else(|mistake| Self::unreadable(span, *mistake))
    }

    fn read_yaml(unit: &Unit, file: FileId) -> Result<Self, Box<Diagnostic>> {
        let span = unit.sources.span(file);
        let document = yaml::read(unit.sources.slice(span), span.start)?;
        let mut data = match document.value.datum {
            Datum::Hash(entries) => Self::of(entries, span),
            other => {
                let mut data = Self::of(Hash::default(), span);
                // A file of comments only is one that somebody has not written yet.
                if !matches!(other, Datum::Undef) {
                    let message = format!(
                        "`{}` has no keys at its top, so nothing is found in it",
                        unit.sources.name(file)
                    );
                    let place = document.value.origin.offset().unwrap_or(span.start);
                    let warning = Diagnostic::warning(DATA, message).at(Span::at(place));
                    data.warnings.push(warning);
                }
                data
            }
        };
        data.unfit = document.unfit;
        data.warnings.extend(document.warnings);
        Ok(data)
    }

    fn of(entries: Hash, span: Span) -> Self {
        let mut interpolated = FxHashSet::default();
        for (key, entry) in entries.iter() {
            if let Datum::Text(key) = key
                && has_interpolation(&entry.value)
            {
                interpolated.insert(key.clone());
            }
        }
        Self {
            entries,
            span,
            interpolated,
            unfit: FxHashMap::default(),
            warnings: Vec::new(),
            mistake: None,
        }
    }

    /// Whether anything has to be replaced in the value of a key.
    pub fn is_interpolated(&self, key: &str) -> bool {
        self.interpolated.contains(key)
    }

    /// Why no manifest can have the value of a key.
    pub fn unfit(&self, key: &str) -> Option<&Diagnostic> {
        self.unfit.get(key)
    }
}

fn has_interpolation(value: &Value) -> bool {
    match &value.datum {
        Datum::Text(text) => text.contains("%{"),
        Datum::Array(array) => array.iter().any(has_interpolation),
        Datum::Hash(hash) => hash.iter().any(|(key, entry)| {
            matches!(key, Datum::Text(key) if key.contains("%{")) || has_interpolation(&entry.value)
        }),
        _ => false,
    }
}

/// The reader of facts found it; here it is about data.
fn about_json(mut trouble: Diagnostic) -> Diagnostic {
    trouble.code = DATA;
    trouble.help.clear();
    if trouble.message.starts_with("expected an object") {
        trouble.message = "expected an object of data: `{ \"key\": value }`".to_owned();
    }
    trouble
}
