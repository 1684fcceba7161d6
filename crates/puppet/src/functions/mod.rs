//! The functions of the language.
//!
//! declare     classes, resources, tags, what is defined
//! iterate     each, map, filter …
//! group       group_by, partition, index, step, tree_each
//! flow        next, return, break, fail, and messages
//! data        lookup, and the older hiera functions
//! templates   epp, file, and what is not run: ERB, programs
//! erb         what stands for a template in ERB
//! words       texts: letters, lengths, parts
//! patterns    split, regsubst, match, versioncmp
//! format      sprintf
//! paths       dirname, shellquote, uriescape …
//! json        to_json, parsejson
//! yaml        to_yaml, parseyaml, to_toml
//! numbers     abs, round, min, max, compare
//! times       strftime
//! arrays      sort, unique, flatten, difference …
//! hashes      keys, values, merge …
//! find        dig, get, getvar, pick, facts
//! convert     types and values as values of other types
//! check       is_…, validate_…
//! digest      md5, sha256, base64, fqdn_rand
//! refused     what there is not, and why
//! arguments   what functions get, and what they give back
//! ruby        values as Ruby has them
//!
//! Each function is a row of a table: its name, how many arguments it takes, whether it takes a lambda, what it
//! does in a sentence, and the code.

mod arguments;
mod arrays;
mod check;
mod convert;
mod data;
mod declare;
mod digest;
mod erb;
mod find;
mod flow;
mod format;
mod group;
mod hashes;
mod iterate;
pub(crate) mod json;
mod numbers;
mod paths;
mod patterns;
mod refused;
pub(crate) mod ruby;
mod templates;
mod times;
mod words;
mod yaml;

use std::sync::OnceLock;

use hence_model::diagnostic::Code;
use rustc_hash::FxHashMap;

use crate::evaluate::{ARGUMENTS, Evaluator, Invocation, Outcome, counted, fail};

pub use flow::MISPLACED;

/// An argument that a function cannot take.
pub const ARGUMENT: Code = Code::new("puppet.argument");

/// A function of the language.
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How many arguments it takes: at least, at most.
    pub arguments: (usize, usize),
    /// Whether it takes a lambda.
    pub lambda: Takes,
    /// How it is called, and what it does.
    pub about: &'static str,
    /// What it does.
    pub run: for<'t> fn(&mut Evaluator<'t>, Invocation<'t>) -> Outcome,
}

/// Whether a function takes a lambda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No.
    None,
    /// It may.
    Optional,
    /// It must.
    Required,
}

/// Any number.
pub(crate) const ANY: usize = usize::MAX;

impl Function {
    /// Whether a call has the arguments that it needs.
    pub fn check(&self, call: &Invocation<'_>) -> Outcome<()> {
        let (least, most) = self.arguments;
        let given = call.arguments.len();
        if given < least || given > most {
            let expected = match (least, most) {
                (least, most) if least == most => counted(least, "argument"),
                (least, ANY) => format!("at least {}", counted(least, "argument")),
                (least, most) => format!("{least} to {most} arguments"),
            };
            let message = format!("`{}` takes {expected}, and gets {given}", self.name);
            return fail(ARGUMENTS, message, call.at.span);
        }
        match (self.lambda, call.lambda) {
            (Takes::None, Some(lambda)) => {
                let message = format!("`{}` takes no lambda", self.name);
                fail(ARGUMENTS, message, lambda.span)
            }
            (Takes::Required, None) => {
                let message = format!("`{}` needs a lambda", self.name);
                fail(ARGUMENTS, message, call.at.span)
            }
            _ => Ok(()),
        }
    }
}

/// A function that takes no lambda.
const fn plain(
    name: &'static str,
    arguments: (usize, usize),
    about: &'static str,
    run: for<'t> fn(&mut Evaluator<'t>, Invocation<'t>) -> Outcome,
) -> Function {
    Function {
        name,
        arguments,
        lambda: Takes::None,
        about,
        run,
    }
}

/// Functions that belong together.
pub struct Topic {
    /// What they are about.
    pub name: &'static str,
    /// The functions.
    pub functions: &'static [Function],
}

/// All functions, by topic.
pub const TOPICS: &[Topic] = &[
    topic("Classes, resources and tags", declare::FUNCTIONS),
    topic("Iteration", iterate::FUNCTIONS),
    topic("Groups, steps and trees", group::FUNCTIONS),
    topic("Leaving, failing, telling", flow::FUNCTIONS),
    topic("Data", data::FUNCTIONS),
    topic("Templates and files", templates::FUNCTIONS),
    topic("Texts", words::FUNCTIONS),
    topic("Regular expressions and versions", patterns::FUNCTIONS),
    topic("Formats", format::FUNCTIONS),
    topic("Paths, shells and other places", paths::FUNCTIONS),
    topic("JSON and code of other languages", json::FUNCTIONS),
    topic("YAML and TOML", yaml::FUNCTIONS),
    topic("Numbers", numbers::FUNCTIONS),
    topic("Times", times::FUNCTIONS),
    topic("Arrays", arrays::FUNCTIONS),
    topic("Hashes", hashes::FUNCTIONS),
    topic("Finding", find::FUNCTIONS),
    topic("Types and conversions", convert::FUNCTIONS),
    topic("Checks", check::FUNCTIONS),
    topic("Digests and repeatable random numbers", digest::FUNCTIONS),
    topic("Refused", refused::FUNCTIONS),
];

const fn topic(name: &'static str, functions: &'static [Function]) -> Topic {
    Topic { name, functions }
}

/// All functions, by topic.
pub fn all() -> impl Iterator<Item = &'static Function> {
    TOPICS.iter().flat_map(|topic| topic.functions)
}

/// The names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|function| function.name)
}

/// A function.
pub fn find(name: &str) -> Option<&'static Function> {
    static TABLE: OnceLock<FxHashMap<&'static str, &'static Function>> = OnceLock::new();
    let table = TABLE.get_or_init(|| all().map(|function| (function.name, function)).collect());
    table.get(name).copied()
}

/// Whether a function of that name may declare or change something, besides coming to a value.
pub(crate) fn declares(name: &str) -> bool {
    let mut names = declare::FUNCTIONS.iter().map(|function| function.name);
    match name {
        "hiera_include" | "call" => true,
        "defined" | "tagged" => false,
        _ => names.any(|declaring| declaring == name),
    }
}

/// Whether a function of that name may take elements out of an iterator: it goes through what it is given.
pub(crate) fn takes_elements(name: &str) -> bool {
    let Some(function) = find(name) else {
        return true;
    };
    let mut words = words::FUNCTIONS.iter();
    function.lambda != Takes::None || words.any(|word| word.name == name)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// What `docs/puppet-functions.md` says: each function by its topic, in the order of the tables.
    fn documentation() -> String {
        let mut page = String::from(
            "# Functions of Puppet\n\nWhat manifests can call, by topic. This page is made of the table in the compiler: \
             `SPEC_UPDATE=1 cargo test -p hence-puppet` writes it anew.\n",
        );
        for topic in TOPICS {
            let _ = write!(page, "\n## {}\n\n", topic.name);
            for function in topic.functions {
                let (signature, words) =
                    function.about.split_once(": ").expect("a sentence follows");
                let _ = writeln!(page, "- `{signature}`: {words}");
            }
        }
        page
    }

    #[test]
    fn the_page_about_functions_is_current() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/puppet-functions.md"
        );
        let page = documentation();
        if std::env::var_os("SPEC_UPDATE").is_some() {
            std::fs::write(path, &page).expect("the page can be written");
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(written, page, "SPEC_UPDATE=1 writes the page anew");
    }

    #[test]
    fn each_function_has_one_name_and_begins_its_sentence_with_it() {
        let mut seen = rustc_hash::FxHashSet::default();
        for function in all() {
            assert!(
                seen.insert(function.name),
                "{} is there twice",
                function.name
            );
            let begins = function.about.starts_with(&format!("{}(", function.name));
            assert!(begins, "{}: {}", function.name, function.about);
        }
    }
}
