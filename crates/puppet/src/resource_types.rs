//! The built-in types of resources, with the attributes that each can have.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A built-in type of resources.
#[derive(Clone, Debug)]
pub struct ResourceType {
    names: Vec<String>,
    naming: Naming,
    titles: Titles,
    attributes: Vec<String>,
    /// Whether there may be further attributes, which only running Ruby would tell.
    is_open: bool,
}

/// How many resources can have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    /// One.
    Unique,
    /// One, if all attributes that name it are the same. The title stands for the first of them.
    Together,
    /// Any number, or it is not known how the title tells the names.
    Many,
}

/// What a title says about the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Titles {
    /// It is the name.
    Names,
    /// It is a path, which may end in slashes.
    Paths,
}

impl ResourceType {
    /// The attributes that resources of the type can have, besides metaparameters.
    pub fn attributes(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(String::as_str)
    }

    /// Whether resources of the type can have an attribute.
    pub fn has(&self, attribute: &str) -> bool {
        self.is_open || self.attributes.iter().any(|known| known == attribute)
    }

    /// The attribute that stands for the title: the one that names a resource, or `name` if there are several.
    pub fn named_by(&self) -> &str {
        match &self.names[..] {
            [name] => name,
            _ => "name",
        }
    }

    /// The attribute that names a resource, if it alone does and no two resources can have the same.
    pub fn unique_name(&self) -> Option<&str> {
        match &self.names[..] {
            [name] if self.naming == Naming::Unique => Some(name),
            _ => None,
        }
    }

    /// The attributes that name a resource together, if no two resources can have them all the same.
    pub fn names_together(&self) -> Option<&[String]> {
        (self.naming == Naming::Together).then_some(&self.names)
    }

    /// The name that a title stands for: a path without the slashes at its end, `/` and `C:/` as they are.
    pub fn name_of<'a>(&self, title: &'a str) -> &'a str {
        let path = title.trim_end_matches('/');
        if self.titles == Titles::Names || path.len() == title.len() {
            return title;
        }
        let is_root = path.is_empty() || path.len() > 1 && path.ends_with(':');
        &title[..path.len() + usize::from(is_root)]
    }

    /// Reads a type of a module: a Ruby file, whose text is looked at and never run.
    pub fn read(ruby: &str) -> Self {
        let mut attributes: Vec<String> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut last: Option<String> = None;
        let mut is_open = false;
        let mut indent = usize::MAX;
        for line in ruby.lines() {
            let depth = line.len() - line.trim_start().len();
            let line = line.trim();
            if line.starts_with('#') {
                continue;
            }
            let new = ["newproperty", "newparam"].iter().find_map(|word| {
                let rest = line.strip_prefix(word)?.trim_start_matches(['(', ' ']);
                let rest = rest
                    .strip_prefix(':')
                    .or_else(|| rest.strip_prefix(['\'', '"']))?;
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                Some((&rest[..end.unwrap_or(rest.len())], rest))
            });
            if new.is_none() && computes_attributes(line, depth > indent) {
                is_open = true;
                // What follows names what is computed.
                last = None;
            }
            if new.is_some() || defines_attribute(line) {
                indent = depth;
            }
            if let Some((name, rest)) = new {
                attributes.push(name.to_owned());
                if rest.contains("namevar") {
                    names.push(name.to_owned());
                }
                last = Some(name.to_owned());
            } else if line == "isnamevar" || line.starts_with("isnamevar ") {
                names.extend(last.clone());
            } else if line == "ensurable" || line.starts_with("ensurable ") {
                attributes.push("ensure".to_owned());
            }
        }
        attributes.push("provider".to_owned());
        if names.is_empty() {
            names.push("name".to_owned());
        }
        attributes.push("name".to_owned());
        Self {
            names,
            naming: Naming::Unique,
            titles: Titles::Names,
            attributes,
            is_open,
        }
    }
}

/// Whether a line of Ruby names an attribute, in whichever way.
fn defines_attribute(line: &str) -> bool {
    line.contains("newproperty") || line.contains("newparam")
}

/// Whether a line of Ruby gives a type attributes whose names are not written in it, or may do so. What is mixed into one
/// attribute concerns that one alone.
fn computes_attributes(line: &str, is_within_attribute: bool) -> bool {
    let mixes_in = ["extend ", "include ", "class_eval", "instance_eval"];
    let is_own = line.contains(" Puppet::");
    let mixes_in = mixes_in.iter().any(|word| line.starts_with(word)) && !is_own;
    let is_derived = line.contains("newtype(") && line.contains("parent");
    // The attributes of such a type are in a schema.
    let has_schema = line.contains("ResourceApi.register_type");
    defines_attribute(line) || is_derived || has_schema || mixes_in && !is_within_attribute
}

/// A type of the distribution.
pub fn find(name: &str) -> Option<&'static ResourceType> {
    table().get(name)
}

/// The names of the distribution's types.
pub fn names() -> impl Iterator<Item = &'static str> {
    table().keys().copied()
}

fn table() -> &'static BTreeMap<&'static str, ResourceType> {
    static TABLE: OnceLock<BTreeMap<&'static str, ResourceType>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let lines = include_str!("resource_types.txt").lines();
        let types = lines.filter(|line| !line.starts_with('#') && !line.is_empty());
        types.map(read_line).collect()
    })
}

fn read_line(line: &'static str) -> (&'static str, ResourceType) {
    let mut words = line.split(' ');
    let mut word = || words.next().expect("a line has at least three words");
    let (name, names, naming) = (word(), word(), word());
    let kind = ResourceType {
        names: names.split('+').map(str::to_owned).collect(),
        naming: match naming {
            "unique" => Naming::Unique,
            "together" => Naming::Together,
            _ => Naming::Many,
        },
        titles: match name {
            "file" => Titles::Paths,
            _ => Titles::Names,
        },
        attributes: words.map(str::to_owned).collect(),
        is_open: false,
    };
    (name, kind)
}

/// The attributes that all resources have.
const METAPARAMETERS: [&str; 11] = [
    "noop",
    "schedule",
    "audit",
    "loglevel",
    "alias",
    "tag",
    "require",
    "subscribe",
    "before",
    "notify",
    "stage",
];

/// Whether all resources have an attribute.
pub fn is_metaparameter(name: &str) -> bool {
    METAPARAMETERS.contains(&name)
}

/// The attributes that all resources have.
pub fn metaparameters<'a>() -> impl Iterator<Item = &'a str> {
    let names: [&'a str; 11] = METAPARAMETERS;
    names.into_iter()
}

/// The metaparameters that a container hands on to what it contains.
pub fn inherited() -> impl Iterator<Item = &'static str> {
    METAPARAMETERS
        .into_iter()
        .filter(|name| !is_relationship(name))
}

/// Whether an attribute connects resources.
pub fn is_relationship(name: &str) -> bool {
    matches!(name, "require" | "subscribe" | "before" | "notify")
}
