//! Groups, entries and fields under the names that a configuration uses.
//!
//! A key is a title, or the name of a group or a field, in which every character that no identifier
//! of CF2 has there is replaced by a star: `entry-1` is `entry★1`. What has no name at all is `★`.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};

use zeroize::Zeroizing;

use crate::document::{self, Document, Field};
use crate::{Duplicate, Kind, Named, Trouble};

/// A group: what it holds, each under its key, in the order of the database.
#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    /// The keys, no two the same, and what they stand for.
    pub members: Vec<(String, Member)>,
}

/// What a group holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Member {
    /// A group inside the group.
    Group(Group),
    /// An entry.
    Entry(Entry),
}

/// An entry: its fields, each under its key. Values are wiped when it is dropped.
#[derive(PartialEq, Eq)]
pub struct Entry {
    fields: Vec<(String, Zeroizing<String>)>,
}

impl Entry {
    /// The fields and their values: `Title`, `Password`, `UserName`, `URL` and `Notes`, which every
    /// entry has, then those of its own by name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl Debug for Entry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.fields().map(|(key, _)| key))
            .finish()
    }
}

/// The tree of a document, without its recycle bin.
pub fn tree(mut document: Document) -> Result<Group, Trouble> {
    let root = document.root.take();
    let root = root.ok_or(Trouble::Corrupt("it has no root group"))?;
    group(root, &document, &mut Vec::new())
}

// Recursion is as deep as groups are nested, and the reader of the document bounds that.
fn group(
    group: document::Group,
    document: &Document,
    path: &mut Vec<String>,
) -> Result<Group, Trouble> {
    let mut keys = Keys::default();
    let mut members = Vec::with_capacity(group.members.len());
    for member in group.members {
        let (kind, member) = match member {
            document::Member::Group(inner) if document.is_recycle_bin(&inner.uuid) => continue,
            document::Member::Group(inner) => {
                path.push(inner.name.clone());
                (
                    Kind::Group,
                    Member::Group(self::group(inner, document, path)?),
                )
            }
            document::Member::Entry(fields) => {
                let title = fields.iter().find(|field| field.name == "Title");
                path.push(title.map_or(String::new(), |field| field.value.to_string()));
                (Kind::Entry, Member::Entry(entry(fields, path)?))
            }
        };
        let name = path.pop().expect("the name that was pushed above");
        members.push((keys.take(kind, name, path)?, member));
    }
    Ok(Group { members })
}

fn entry(mut fields: Vec<Field>, path: &[String]) -> Result<Entry, Trouble> {
    // The order of fields means nothing in a database: whoever saves it may change it.
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    let standard = ["Title", "Password", "UserName", "URL", "Notes"];
    let mut ordered = Vec::with_capacity(standard.len() + fields.len());
    for name in standard {
        let at = fields.iter().position(|field| field.name == name);
        ordered.push(at.map_or_else(|| Field::empty(name), |at| fields.remove(at)));
    }
    ordered.append(&mut fields);
    let mut keys = Keys::default();
    let fields = ordered.into_iter().map(|Field { name, value }| {
        let key = keys.take(Kind::Field, name, path)?;
        Ok((key, value))
    });
    let fields = fields.collect::<Result<_, _>>()?;
    Ok(Entry { fields })
}

/// The keys that are taken in a block, and by whom.
#[derive(Default)]
struct Keys(HashMap<String, Named>);

impl Keys {
    fn take(&mut self, kind: Kind, name: String, path: &[String]) -> Result<String, Trouble> {
        let key = starred(&name);
        let second = Named { kind, name };
        match self.0.remove(&key) {
            None => {
                self.0.insert(key.clone(), second);
                Ok(key)
            }
            Some(first) => {
                let path = path.to_vec();
                let duplicate = Duplicate {
                    key,
                    path,
                    first,
                    second,
                };
                Err(Trouble::Duplicate(Box::new(duplicate)))
            }
        }
    }
}

fn starred(name: &str) -> String {
    if name.is_empty() {
        return '★'.to_string();
    }
    let fits = |at: usize, char: char| match char {
        '0'..='9' => at > 0,
        'A'..='Z' | 'a'..='z' | '_' | '\u{80}'.. => true,
        _ => false,
    };
    name.chars()
        .enumerate()
        .map(|(at, char)| if fits(at, char) { char } else { '★' })
        .collect()
}
