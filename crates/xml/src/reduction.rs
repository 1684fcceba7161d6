//! Which commands of a sequence are still in effect at its end.
//!
//! Two commands that write something in common can have to do with each other in three ways. The later *covers* the earlier:
//! all that the earlier writes is written again, so it is left out. The earlier is the *wider* one, and the later an exception
//! to it: both stay, the wider one first. Or neither: then a part of the earlier would be in effect and a part would not, and
//! which part depends on the order alone. This is refused. So what stays is a set: in any order that has wider commands
//! first, it does the same.
//!
//! Of two commands, the one with the wider step is the wider one, where their paths first differ: `/r/c/d` is wider than
//! `/r/c[@k='1']`. As names are wider than keys, and no two keys are each wider than the other, no commands are wider than
//! each other in a circle.

use std::collections::HashMap;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::Sources;
use hence_model::work;

use crate::command::{Command, Write};
use crate::document::Tree;
use crate::dtd::Dtd;
use crate::entities::Expansion;
use crate::path::{By, Step};

/// Two commands of a transaction undo each other by half.
pub const CROSSING: Code = Code::new("xml.crossing");

/// The commands that are in effect at the end, in the order in which they were given.
pub fn reduce<'c>(
    sources: &Sources,
    commands: &'c [Command],
) -> Result<Vec<&'c Command>, Vec<Diagnostic>> {
    let mut kept: Vec<Option<&Command>> = Vec::new();
    let mut meetings = Meetings::default();
    let mut troubles = Vec::new();
    for command in commands {
        let target = command.target();
        // Most commands of a long script have nothing to do with each other.
        let mut near = meetings.with(&target, &kept);
        near.sort_unstable();
        near.retain(|number| match kept[*number] {
            Some(earlier) if covers(command, earlier) => {
                kept[*number] = None;
                false
            }
            earlier => earlier.is_some(),
        });
        let mut near = near.into_iter().filter_map(|number| kept[number]);
        let against = near.find(|earlier| !stand_together(sources, earlier, command));
        if let Some(earlier) = against {
            let message = "this would take back a part of another command, and leave the rest";
            let trouble = Diagnostic::error(CROSSING, message).at(command.span);
            let trouble = trouble.label(earlier.span, "the other command");
            troubles.push(
                trouble.help("put the wider command first, or say in the other one what is meant"),
            );
        }
        meetings.add(&target, kept.len());
        kept.push(Some(command));
    }
    match troubles.is_empty() {
        true => Ok(kept.into_iter().flatten().collect()),
        false => Err(troubles),
    }
}

/// Commands by the steps to what they write, so that those are found which a target may meet, and no others.
#[derive(Default)]
struct Meetings<'c> {
    /// The commands that write exactly here.
    here: Vec<usize>,
    /// By names, and by positions if these are said.
    next: HashMap<&'c str, HashMap<Option<usize>, Meetings<'c>>>,
    /// By names, and names of attributes.
    keyed: HashMap<&'c str, HashMap<Vec<&'c str>, ByValues<'c>>>,
}

/// By the values of attributes.
type ByValues<'c> = HashMap<Vec<&'c str>, Meetings<'c>>;

impl<'c> Meetings<'c> {
    fn add(&mut self, target: &[&'c Step], number: usize) {
        let Some((step, rest)) = target.split_first() else {
            self.here.push(number);
            return;
        };
        let name = step.name.as_str();
        match &step.by {
            By::Key(pairs) => {
                let (names, values) = halves(pairs);
                let keyed = self.keyed.entry(name).or_default();
                let keyed = keyed.entry(names).or_default();
                keyed.entry(values).or_default().add(rest, number);
            }
            by => {
                let next = self.next.entry(name).or_default();
                next.entry(place(by)).or_default().add(rest, number);
            }
        }
    }

    /// The commands that write something around, at or in a target, of those that are kept.
    fn with(&mut self, target: &[&'c Step], kept: &[Option<&Command>]) -> Vec<usize> {
        let mut found = Vec::new();
        let mut pending = vec![(self, target)];
        while let Some((here, target)) = pending.pop() {
            work::step();
            here.here.retain(|number| kept[*number].is_some());
            found.extend(&here.here);
            let Some((step, rest)) = target.split_first() else {
                let next = here.next.values_mut().flat_map(HashMap::values_mut);
                let keyed = here.keyed.values_mut().flat_map(HashMap::values_mut);
                let keyed = keyed.flat_map(HashMap::values_mut);
                pending.extend(next.chain(keyed).map(|next| (next, target)));
                continue;
            };
            let name = step.name.as_str();
            if let Some(next) = here.next.get_mut(name) {
                match place(&step.by) {
                    None => pending.extend(next.values_mut().map(|next| (next, rest))),
                    wanted => {
                        let met = next.get_disjoint_mut([&None, &wanted]).into_iter();
                        pending.extend(met.flatten().map(|next| (next, rest)));
                    }
                }
            }
            for (names, by_values) in here.keyed.get_mut(name).into_iter().flatten() {
                let By::Key(pairs) = &step.by else {
                    pending.extend(by_values.values_mut().map(|next| (next, rest)));
                    continue;
                };
                let (wanted, values) = halves(pairs);
                if wanted == *names {
                    // The same attributes meet with the same values, and with no others.
                    pending.extend(by_values.get_mut(&values).map(|next| (next, rest)));
                    continue;
                }
                for (values, next) in by_values {
                    let mut said = names.iter().zip(values);
                    let meets = |(name, value): (&&str, &&str)| {
                        let mut same = pairs.iter().filter(|(other, _)| other == name);
                        same.all(|(_, other)| other == value)
                    };
                    if said.all(meets) {
                        pending.push((next, rest));
                    }
                }
            }
        }
        found
    }
}

/// The place that is meant, if it is one.
fn place(by: &By) -> Option<usize> {
    match by {
        By::Position(place) => Some(*place),
        By::Name | By::Key(_) => None,
    }
}

/// Names and values apart.
fn halves(pairs: &[(String, String)]) -> (Vec<&str>, Vec<&str>) {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .unzip()
}

/// Whether all that the other writes is written by one, too.
pub fn covers(one: &Command, other: &Command) -> bool {
    let (steps, others) = (one.target(), other.target());
    let is_around = leads(&steps, &others);
    let is_whole = !matches!(one.write, Write::Content(_));
    let is_content = matches!(other.write, Write::Content(_));
    is_around && (steps.len() < others.len() || is_whole || is_content)
}

/// Whether every element that the first steps mean is around, or is, one that the others mean.
fn leads(steps: &[&Step], others: &[&Step]) -> bool {
    let mut pairs = steps.iter().zip(others);
    steps.len() <= others.len() && pairs.all(|(step, other)| step.covers(other))
}

/// Whether one must come before the other when both are in effect: the first step in which they differ decides.
pub fn is_wider(one: &Command, other: &Command) -> bool {
    let (steps, others) = (one.target(), other.target());
    if !meet(&steps, &others) || commute(one, other) {
        return false;
    }
    let mut pairs = steps.iter().zip(&others);
    match pairs.find(|(step, other)| !(step.covers(other) && other.covers(step))) {
        Some((step, other)) => step.covers(other),
        None if steps.len() != others.len() => steps.len() < others.len(),
        None => !matches!(one.write, Write::Content(_)) && matches!(other.write, Write::Content(_)),
    }
}

/// Whether some element could be, or be around, what both mean.
fn meet(steps: &[&Step], others: &[&Step]) -> bool {
    let mut pairs = steps.iter().zip(others);
    pairs.all(|(step, other)| step.meets(other))
}

/// Whether both orders do the same, though both write: what is gone has no content.
fn commute(one: &Command, other: &Command) -> bool {
    let gone = |one: &Command, other: &Command| {
        let (depth, within) = (one.target().len(), other.target().len());
        let is_content = matches!(other.write, Write::Content(_));
        matches!(one.write, Write::Without(_)) && (within > depth || within == depth && is_content)
    };
    let both_gone = matches!(
        (&one.write, &other.write),
        (Write::Without(_), Write::Without(_))
    );
    gone(one, other) || gone(other, one) || both_gone
}

/// Whether two commands that meet can both be in effect.
fn stand_together(sources: &Sources, earlier: &Command, later: &Command) -> bool {
    commute(earlier, later) || is_wider(earlier, later) && !takes_back(sources, earlier, later)
}

/// Whether something that the earlier command brings in is subtracted by the later one.
fn takes_back(sources: &Sources, earlier: &Command, later: &Command) -> bool {
    let (Write::Content(tree) | Write::Member(_, tree), Write::Without(_)) =
        (&earlier.write, &later.write)
    else {
        return false;
    };
    let depth = match &earlier.write {
        Write::Member(..) => earlier.target().len() - 1,
        _ => earlier.target().len(),
    };
    let steps = later.target();
    steps
        .get(depth..)
        .is_some_and(|steps| holds(sources, tree, steps))
}

/// Whether steps lead to an element of a tree.
fn holds(sources: &Sources, tree: &Tree, steps: &[&Step]) -> bool {
    let nothing = Dtd::default();
    let has = |id: usize, name: &str, value: &str| {
        let Some(element) = tree.element(id) else {
            return false;
        };
        element.attributes.iter().any(|attribute| {
            sources.slice(attribute.name) == name
                && Expansion::new(&nothing)
                    .attribute(sources, attribute)
                    .is_ok_and(|found| found == value)
        })
    };
    let mut found = tree.top.clone();
    for (number, step) in steps.iter().enumerate() {
        if number > 0 {
            let children = found.iter().flat_map(|id| tree.children(Some(*id)));
            found = children.copied().collect();
        }
        found.retain(|id| {
            let element = tree.element(*id);
            element.is_some_and(|element| sources.slice(element.name) == step.name)
                && match &step.by {
                    By::Name | By::Position(_) => true,
                    By::Key(pairs) => pairs.iter().all(|(name, value)| has(*id, name, value)),
                }
        });
    }
    !found.is_empty()
}

#[cfg(test)]
mod tests {
    use hence_model::work::steps_of;

    use super::*;
    use crate::command;

    #[test]
    fn commands_about_other_members_are_not_looked_at() {
        let lines = (0..100).map(|number| format!("add /r @k <c k='{number}'/>\n"));
        let script: String = lines.collect();
        let mut sources = Sources::default();
        let more = "add /r @k <c k='7'>again</c>\nassert /r/c[@k='8']/d text\nassert /r/c text\n";
        let file = sources.add("script", &(script + more)).unwrap();
        let commands = command::parse(&sources, file).unwrap();
        let mut meetings = Meetings::default();
        let mut met = Vec::new();
        let kept: Vec<Option<&Command>> = commands.iter().map(Some).collect();
        for (number, command) in commands.iter().enumerate() {
            met.push(meetings.with(&command.target(), &kept).len());
            meetings.add(&command.target(), number);
        }
        assert!(met[..100].iter().all(|met| *met == 0));
        assert_eq!(met[100..], [1, 1, 102]);
    }

    #[test]
    fn commands_at_other_positions_are_not_looked_at() {
        let lines = (1..=100).map(|number| format!("assert /r/c[{number}]/d text\n"));
        let mut sources = Sources::default();
        let file = sources.add("script", &lines.collect::<String>()).unwrap();
        let commands = command::parse(&sources, file).unwrap();
        let kept: Vec<Option<&Command>> = commands.iter().map(Some).collect();
        let mut meetings = Meetings::default();
        for (number, command) in commands.iter().enumerate() {
            let target = command.target();
            let steps = steps_of(|| assert_eq!(meetings.with(&target, &kept), []));
            assert!(steps <= 3, "{steps}");
            meetings.add(&command.target(), number);
        }
    }
}
