//! A document as the commands that make it: one for the document, and one for each member that a key tells from others and
//! that stands in one line with its family. The first of a family stays in the document, where it shows the place of the
//! others.
//!
//! These commands take nothing back and write nothing in common but what they are in, so they may be done in any order that
//! has the document first. In the order in which they are written they make the document as it is, to the last blank.

use std::collections::{HashMap, HashSet};

use hence_model::source::Sources;

use crate::document::{Document, Id, Tree, Written};
use crate::dtd::Dtd;
use crate::transaction::{Work, is_space};

/// The commands, in the language in which they are read.
pub fn commands(sources: &Sources, document: Document, dtd: &Dtd) -> String {
    let root = document.root();
    let names: Vec<Option<&str>> = {
        let (tree, children) = (&document.tree, document.tree.children(Some(root)));
        let elements = children.iter().map(|id| tree.element(*id));
        let named = elements.map(|element| Some(sources.slice(element?.name)));
        named.collect()
    };
    let mut families: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    for (place, name) in names.iter().enumerate() {
        let Some(name) = name else {
            continue;
        };
        let number = *numbers.entry(name).or_insert(families.len());
        match families.get_mut(number) {
            Some((_, places)) => places.push(place),
            None => families.push((name, vec![place])),
        }
    }
    let mut work = Work::new(sources, document, dtd);
    let keys = families.iter();
    let keys = keys.map(|(name, _)| work.told_apart_by(Some(root), name));
    let keys: Vec<Option<String>> = keys.collect();
    let tree = &work.document.tree;
    let children = tree.children(Some(root));
    let is_spaced = children.iter().all(|id| is_space(sources, tree, *id));
    let mut members: Vec<(Id, String)> = Vec::new();
    for ((_, places), attribute) in families.into_iter().zip(keys) {
        let family: Vec<Id> = places.iter().map(|place| children[*place]).collect();
        let Some(attribute) = attribute else {
            continue;
        };
        // A command has its key in itself, and no entities of a document.
        let is_plain = |id: &Id| {
            let element = tree.element(*id).expect("it has a name");
            let attributes = element.attributes.iter();
            let mut attributes = attributes.filter(|one| sources.slice(one.name) == attribute);
            attributes.all(|one| !sources.slice(one.value).contains('&'))
        };
        if family.iter().all(is_plain) && are_in_line(sources, tree, children, &places, is_spaced) {
            let others = family.into_iter().skip(1);
            members.extend(others.map(|id| (id, attribute.clone())));
        }
    }
    let root_name = tree.element(root).map(|root| sources.slice(root.name));
    let root_name = root_name.unwrap_or_default();
    let mut added = Written::default();
    for (id, attribute) in &members {
        added
            .text
            .push_str(&format!("add /{root_name} @{attribute} "));
        tree.write(sources, &[*id], &mut added);
        added.text.push('\n');
    }
    let gone: HashSet<Id> = members.iter().map(|(id, _)| *id).collect();
    work.remove(root, &gone);
    let mut written = Written::default();
    written.text.push_str("assert / ");
    let tree = &work.document.tree;
    tree.write(sources, &tree.top, &mut written);
    written.text + "\n" + &added.text
}

/// Whether there is nothing between the members of a family but the white space that stands before the first: then each is
/// where a new member would be put behind those before it.
fn are_in_line(
    sources: &Sources,
    tree: &Tree,
    children: &[Id],
    places: &[usize],
    is_spaced: bool,
) -> bool {
    let text = |id: Id| sources.slice(tree.node(id).span);
    let before = places[0].checked_sub(1).map(|before| children[before]);
    let blank = before.filter(|id| is_spaced && tree.is_blank(sources, *id));
    places
        .windows(2)
        .all(|pair| match (blank, &children[pair[0] + 1..pair[1]]) {
            (None, []) => true,
            (Some(blank), [between]) => {
                tree.is_blank(sources, *between) && text(*between) == text(blank)
            }
            _ => false,
        })
}
