//! `xmllint`, many documents at a time; and what Hence says of the same documents.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hence_model::diagnostic::Diagnostic;
use hence_model::source::Sources;
use hence_xml::document::Document;
use hence_xml::dtd::Dtd;
use hence_xml::{document, entities, validity};

/// So many documents one process gets.
const BATCH: usize = 400;

/// What is said of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What is wrong with it, line by line.
    pub troubles: Vec<String>,
}

impl Verdict {
    /// Whether a kind of trouble was found.
    pub fn has(&self, what: &str) -> bool {
        self.troubles.iter().any(|trouble| trouble.contains(what))
    }

    /// Whether it is no XML.
    pub fn is_malformed(&self) -> bool {
        let is_fatal = |trouble: &String| {
            trouble.contains(" error :")
                && !trouble.contains("namespace error :")
                && !trouble.contains("validity error :")
                // It goes on after these.
                && !trouble.contains("Invalid URI")
                && !trouble.contains("Fragment not allowed")
        };
        self.troubles.iter().any(is_fatal)
    }
}

/// A folder of its own for a test.
pub fn folder(name: &str) -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// What `xmllint` says of documents.
pub fn xmllint(name: &str, options: &[&str], documents: &[String]) -> Vec<Verdict> {
    xmllint_beside(name, options, documents, &[])
}

/// What `xmllint` says of documents beside which other files stand.
pub fn xmllint_beside(
    name: &str,
    options: &[&str],
    documents: &[String],
    beside: &[(String, String)],
) -> Vec<Verdict> {
    let folder = folder(name);
    for (name, text) in beside {
        fs::write(folder.join(name), text).expect("the target directory can be written");
    }
    let mut verdicts = Vec::new();
    for (number, batch) in documents.chunks(BATCH).enumerate() {
        let names: Vec<String> = (0..batch.len())
            .map(|place| format!("{number}-{place}.xml"))
            .collect();
        for (name, text) in names.iter().zip(batch) {
            fs::write(folder.join(name), text).expect("the target directory can be written");
        }
        let output = Command::new("xmllint")
            .args(["--noout", "--nonet"])
            .args(options)
            .args(&names)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("xmllint is there: `./test` installs it");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut said: HashMap<&str, Vec<String>> = HashMap::new();
        for line in words.lines() {
            if let Some((name, _)) = line.split_once(':') {
                said.entry(name).or_default().push(line.to_owned());
            }
        }
        verdicts.extend(names.iter().map(|name| Verdict {
            troubles: said.remove(name.as_str()).unwrap_or_default(),
        }));
    }
    let _ = fs::remove_dir_all(folder);
    verdicts
}

/// Documents in their canonical form, one behind the other.
pub fn canonical(name: &str, documents: &[String]) -> String {
    let folder = folder(name);
    let mut text = String::new();
    for batch in documents.chunks(BATCH) {
        let names: Vec<String> = (0..batch.len())
            .map(|place| format!("{place}.xml"))
            .collect();
        for (name, document) in names.iter().zip(batch) {
            fs::write(folder.join(name), document).expect("the target directory can be written");
        }
        let output = Command::new("xmllint")
            .args(["--nonet", "--c14n"])
            .args(&names)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .expect("xmllint is there: `./test` installs it");
        text.push_str(&String::from_utf8(output.stdout).expect("documents are text"));
    }
    let _ = fs::remove_dir_all(folder);
    text
}

/// A document that Hence has read.
pub struct Read {
    pub sources: Sources,
    pub document: Document,
    pub dtd: Dtd,
}

/// Reads a document, and looks whether it is well-formed.
pub fn read(text: &str) -> Result<Read, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let file = sources.add("document.xml", text).expect("it is small");
    let (document, dtd) = document::read(&sources, file).map_err(|trouble| vec![*trouble])?;
    let troubles = entities::check(&sources, &document.tree, &dtd);
    match troubles.is_empty() {
        true => Ok(Read {
            sources,
            document,
            dtd,
        }),
        false => Err(troubles),
    }
}

impl Read {
    /// What is against the type of the document.
    pub fn invalid(&self) -> Vec<Diagnostic> {
        validity::check(&self.sources, &self.document, &self.dtd)
    }
}
