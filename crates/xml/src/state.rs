//! A document as the commands that make it: one for the document, and one for each member that a key tells from others.
//!
//! These commands take nothing back and write nothing in common but what they are in, so they may be done in any order that
//! has the document first.

use std::collections::HashSet;

use hence_model::source::Sources;

use crate::document::{Document, Id};
use crate::dtd::Dtd;
use crate::transaction::Work;

/// The commands, in the language in which they are read.
pub fn commands(sources: &Sources, document: &Document, dtd: &Dtd) -> String {
    let root = document.root();
    let mut work = Work::new(sources, document.clone(), dtd);
    let tree = &work.document.tree;
    let named = |id: Id| tree.element(id).map(|element| sources.slice(element.name));
    let mut seen = HashSet::new();
    let mut members: Vec<(Id, String)> = Vec::new();
    for name in tree.children(Some(root)).iter().filter_map(|id| named(*id)) {
        if !seen.insert(name) {
            continue;
        }
        let family = tree.children(Some(root)).iter().copied();
        let family: Vec<Id> = family.filter(|id| named(*id) == Some(name)).collect();
        if let Some(attribute) = work.told_apart_by(&family) {
            // A command has its key in itself, and no entities of a document.
            let is_plain = |id: &Id| {
                let element = tree.element(*id).expect("it has a name");
                let attributes = element.attributes.iter();
                let mut attributes = attributes.filter(|one| sources.slice(one.name) == attribute);
                attributes.all(|one| !sources.slice(one.value).contains('&'))
            };
            if family.iter().all(is_plain) {
                members.extend(family.into_iter().map(|id| (id, attribute.clone())));
            }
        }
    }
    let root_name = named(root).unwrap_or_default();
    let mut added = String::new();
    for (id, attribute) in &members {
        added.push_str(&format!("add /{root_name} @{attribute} "));
        tree.write(sources, &[*id], &mut added);
        added.push('\n');
    }
    let gone: HashSet<Id> = members.iter().map(|(id, _)| *id).collect();
    work.remove(root, &gone);
    let mut text = "assert / ".to_owned();
    work.document.tree.write(sources, &[root], &mut text);
    text.push('\n');
    text + &added
}
