//! Many paths, told so that they can be read: in groups, with counts, and only the first of them.

use std::collections::HashMap;
use std::fmt::Write;

use hence_model::path::{Path, Segment};

use crate::configuration::Configuration;

/// So few lines are all shown.
const FEW: usize = 30;
/// How many groups are shown, and how many lines of each.
const GROUPS: usize = 20;
const LINES: usize = 5;

/// How the paths of a configuration are told.
#[derive(Clone, Copy)]
pub struct Manner {
    /// What stands between names.
    pub separator: char,
    /// What the configuration is called, for what lies in no group.
    title: &'static str,
    /// Whether the first name is a resource, and its type the group.
    of_resources: bool,
}

impl Manner {
    /// The manner of a configuration.
    pub fn of(compiled: &Configuration<'_>) -> Self {
        Self {
            separator: compiled.separator(),
            title: compiled.title(),
            of_resources: matches!(compiled, Configuration::Puppet(_)),
        }
    }

    /// The group of a path: the type of a resource, or the block at the top that it lies in.
    fn group(self, path: &Path) -> Option<&str> {
        match path.0.as_slice() {
            [Segment::Key(name), ..] if self.of_resources => name.split('[').next(),
            [Segment::Key(name), Segment::Key(_), ..] => Some(name),
            _ => None,
        }
    }

    /// Lines by the groups of their paths, in the order of the first of each.
    pub fn grouped<L>(self, lines: impl IntoIterator<Item = (Path, L)>) -> Vec<Group<L>> {
        let mut groups: Vec<Group<L>> = Vec::new();
        let mut known: HashMap<Option<String>, usize> = HashMap::new();
        for (path, line) in lines {
            let name = self.group(&path).map(str::to_owned);
            let number = *known.entry(name.clone()).or_insert_with(|| {
                groups.push(Group {
                    name,
                    lines: Vec::new(),
                });
                groups.len() - 1
            });
            groups[number].lines.push(line);
        }
        groups
    }

    /// Tells groups, indented.
    pub fn tell(self, groups: &[Group<String>], full: bool, indent: &str) -> String {
        let count: usize = groups.iter().map(|group| group.lines.len()).sum();
        let full = full || count <= FEW;
        let mut text = String::new();
        let shown = if full { groups.len() } else { GROUPS };
        for group in groups.iter().take(shown) {
            let name = group.name.as_deref().unwrap_or(self.title);
            let count = group.lines.len();
            let _ = writeln!(text, "{indent}{name}: {}", values(count));
            let shown = if full { count } else { LINES.min(count) };
            for line in &group.lines[..shown] {
                let _ = writeln!(text, "{indent}  {line}");
            }
            if shown < count {
                let _ = writeln!(text, "{indent}  … and {} more", count - shown);
            }
        }
        if let Some(rest) = groups.get(shown..).filter(|rest| !rest.is_empty()) {
            let count: usize = rest.iter().map(|group| group.lines.len()).sum();
            let _ = writeln!(
                text,
                "{indent}… and {} more groups with {}: --full",
                rest.len(),
                values(count)
            );
        }
        text
    }
}

/// Lines that belong together.
pub struct Group<L> {
    /// What they have in common; none for what lies at the top.
    pub name: Option<String>,
    /// The lines.
    pub lines: Vec<L>,
}

/// `1 value`, `2 values`
pub fn values(count: usize) -> String {
    match count {
        1 => "1 value".to_owned(),
        count => format!("{count} values"),
    }
}
