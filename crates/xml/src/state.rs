//! A document as the commands that make it: one for the document, and one for each member that a key tells from others and
//! that stands in one line with its family. The first of a family stays in the document, where it shows the place of the
//! others.
//!
//! These commands take nothing back and write nothing in common but what they are in, so they may be done in any order that
//! has the document first. In the order in which they are written they make the document as it is, to the last blank.

use std::collections::HashSet;

use hence_model::source::Sources;

use crate::document::{Document, Id, Tree};
use crate::dtd::Dtd;
use crate::transaction::{Work, is_space};

/// The commands, in the language in which they are read.
pub fn commands(sources: &Sources, document: &Document, dtd: &Dtd) -> String {
    let root = document.root();
    let mut work = Work::new(sources, document.clone(), dtd);
    let tree = &document.tree;
    let named = |id: Id| tree.element(id).map(|element| sources.slice(element.name));
    let children = tree.children(Some(root));
    let is_spaced = children.iter().all(|id| is_space(sources, tree, *id));
    let mut seen = HashSet::new();
    let mut members: Vec<(Id, String)> = Vec::new();
    for name in children.iter().filter_map(|id| named(*id)) {
        if !seen.insert(name) {
            continue;
        }
        let places = 0..children.len();
        let places: Vec<usize> = places
            .filter(|place| named(children[*place]) == Some(name))
            .collect();
        let family: Vec<Id> = places.iter().map(|place| children[*place]).collect();
        let Some(attribute) = work.told_apart_by(&family) else {
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
    let tree = &work.document.tree;
    tree.write(sources, &tree.top, &mut text);
    text.push('\n');
    text + &added
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
