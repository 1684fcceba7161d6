//! What depends on a place on many nodes: nodes with the same answer are told together.

use std::collections::{HashMap, HashSet};

use hence_model::source::Span;
use hence_model::value::{Map, Value};
use hence_puppet::{Compiled, Site};

use super::listing::values;
use super::place::{Place, Replaceable};
use super::what_if::{self, Effect, Told};
use super::{Answer, Format, Impact, depend};
use crate::command::nodes::{Catalogs, Outcome, names};
use crate::configuration::{Catalog, Configuration};
use crate::console::Console;
use crate::difference::written;
use crate::replacement::Replacement;
use crate::{Exit, Stop};

/// How many names of nodes are shown before a common answer.
const NAMES: usize = 5;

/// Answers for many nodes.
pub fn run(
    command: &Impact,
    console: &mut Console<'_>,
    entry: &str,
    place: &Place<'_>,
    nodes: &str,
) -> Result<Exit, Stop> {
    let outside = command.source.outside(console);
    let puppet = &command.source.puppet;
    let limits = command.source.limits();
    let site = puppet.site(console, &outside, entry, limits)?;
    let nodes = names(&command.source, console, &site, nodes)?;
    let catalogs = Catalogs::new(&command.source, console, &outside, &site);

    let directory = console.path("");
    let replaces = command.what_if.is_some();
    let look = |_: &str, compiled: Compiled<'_>| {
        let mut configuration = Configuration::Puppet(Box::new(Catalog {
            compiled,
            site: &site,
            unit: Some(site.unit()),
        }));
        let file = place.file(&directory, &configuration.unit().sources);
        let meant = file.map(|file| match replaces {
            true => place.replaceable(&mut configuration, file),
            false => place
                .stretch(&configuration, file)
                .ok_or(Replaceable::Nothing),
        });
        // Whoever works for another node reads now, too.
        if let Configuration::Puppet(catalog) = &mut configuration {
            catalog.unit = None;
        }
        let answer = match meant {
            Some(Ok(span)) => Answer::of(&mut configuration, span),
            _ => Answer::nothing(&configuration),
        };
        Ok((meant, answer))
    };
    let mut said = HashSet::new();
    let mut seen: Vec<(String, Seen)> = Vec::new();
    let mut take = |name: &str, one| seen.push((name.to_owned(), one));
    let mut exit = catalogs.each(console, &nodes, &mut said, &look, &mut take)?;
    let (span, mut answers) = gather(place, &site, seen, exit)?;
    let Some(span) = span else {
        return Ok(exit);
    };
    let Some(text) = &command.what_if else {
        report(command, console, &answers, None)?;
        return Ok(exit);
    };

    let replacement = Replacement {
        span,
        text: text.clone(),
    };
    let (mut told, (name, text)) = {
        let sources = &site.unit().sources;
        (Told::of(&replacement, sources), replacement.made(sources))
    };
    let edited = outside.on(command.source.disk_with(console, &name, text));
    let edited_site = Site::new(&edited, puppet.layout(entry), limits);
    let edited_catalogs = Catalogs::new(&command.source, console, &edited, &edited_site);
    let announced: HashMap<&str, &Answer> = answers
        .iter()
        .map(|(name, answer)| (name.as_str(), answer))
        .collect();
    let compare = |name: &str, compiled: Compiled<'_>| {
        let mut old = without_texts(compiled, &site);
        let paths = announced
            .get(name)
            .map_or(&[][..], |answer| &answer.paths[..]);
        Ok(edited_catalogs.of(name, |compiled| {
            let mut new = without_texts(compiled, &edited_site);
            let is = {
                let (old, new) = (site.unit(), edited_site.unit());
                replacement.span_in(&old.sources, &new.sources)
            };
            what_if::compare(&mut old, &mut new, paths, span, is)
        }))
    };
    let mut outcomes: Vec<(String, Outcome<Effect>)> = Vec::new();
    let mut take = |name: &str, one| outcomes.push((name.to_owned(), one));
    exit = exit.max(catalogs.each(console, &nodes, &mut said, &compare, &mut take)?);
    let mut by_name: HashMap<&str, &mut Answer> = answers
        .iter_mut()
        .map(|(name, answer)| (name.as_str(), answer))
        .collect();
    for (name, outcome) in outcomes {
        for words in outcome.words {
            if said.insert(words.clone()) {
                console.words(&words);
            }
        }
        let answer = by_name.get_mut(name.as_str());
        match outcome.made {
            Ok(effect) => answer.expect("it had a catalog before").effect = Some(effect),
            Err(fault) => exit = exit.max(fault),
        }
    }
    // A node that has no catalog any more has nothing to compare.
    let all = answers.len();
    answers.retain(|(_, answer)| answer.effect.is_some());
    let lost = all - answers.len();
    let effects: Vec<&Effect> = answers
        .iter()
        .filter_map(|(_, one)| one.effect.as_ref())
        .collect();
    if effects.iter().any(|effect| effect.has_secret()) {
        told.hide();
    }
    let changed = effects.iter().filter(|effect| !effect.changes.is_empty());
    let on = on_nodes(changed.count());
    let (mut words, end) = told.conclude(&effects, &on);
    match lost {
        0 => {}
        1 => words.push_str("; 1 node has no catalog with it"),
        lost => words.push_str(&format!("; {lost} nodes have no catalog with it")),
    }
    report(command, console, &answers, Some((&told, &words)))?;
    end.map(|end| end.max(exit))
}

/// What a node knows about the place, if it reads the file; and what depends on it there.
type Seen = (Option<Result<Span, Replaceable>>, Answer);

/// The answers of nodes, by their names.
type Answers = Vec<(String, Answer)>;

/// The answers of all nodes, and the stretch that they are about: the site is the same for all of them.
fn gather(
    place: &Place<'_>,
    site: &Site<'_>,
    seen: Vec<(String, Seen)>,
    exit: Exit,
) -> Result<(Option<Span>, Answers), Stop> {
    let mut found = None;
    let mut refused = None;
    let mut answers = Answers::new();
    for (name, (meant, answer)) in seen {
        match meant {
            Some(Ok(span)) => found = found.or(Some(span)),
            Some(Err(why)) => refused = refused.or(Some(why)),
            None => {}
        }
        answers.push((name, answer));
    }
    let sources = &site.unit().sources;
    match (found, refused) {
        (Some(_), _) => Ok((found, answers)),
        (None, Some(why)) => Err(place.not_replaceable(sources, &why)),
        (None, None) if exit == Exit::Done => Err(place.not_involved(sources)),
        // It may be read for a node that has no catalog.
        (None, None) => Ok((None, answers)),
    }
}

/// A catalog whose site is shared with others that read.
fn without_texts<'w>(compiled: Compiled<'w>, site: &'w Site<'w>) -> Configuration<'w> {
    Configuration::Puppet(Box::new(Catalog {
        compiled,
        site,
        unit: None,
    }))
}

fn report(
    command: &Impact,
    console: &mut Console<'_>,
    answers: &[(String, Answer)],
    tried: Option<(&Told, &str)>,
) -> Result<(), Stop> {
    let count: usize = answers.iter().map(|(_, answer)| answer.paths.len()).sum();
    if command.format == Format::Json {
        let mut nodes = Map::default();
        for (name, answer) in answers {
            nodes.insert(name.clone(), Value::Map(answer.map()));
        }
        let mut map = Map::default();
        map.insert("nodes".into(), Value::Map(nodes));
        map.insert("count".into(), Value::Integer(count as i64));
        if let Some((told, _)) = tried {
            map.insert("replaced".into(), told.value());
        }
        let text = written(&Value::Map(map));
        console.data().write_all(format!("{text}\n").as_bytes())?;
        return Ok(());
    }
    // Nodes that say the same, in the order of the first of each.
    let mut alike: Vec<(String, Vec<&str>, usize)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (name, answer) in answers {
        let text = answer.text(command.full, "  ");
        if text.is_empty() {
            continue;
        }
        let lines = match &answer.effect {
            None => answer.paths.len(),
            Some(effect) => effect.changes.len(),
        };
        let number = *known.entry(text.clone()).or_insert_with(|| {
            alike.push((text, Vec::new(), lines));
            alike.len() - 1
        });
        alike[number].1.push(name);
    }
    let mut text = String::new();
    for (body, names, lines) in &alike {
        let each = if names.len() == 1 { "" } else { " each" };
        let shown = if command.full {
            names.len()
        } else {
            NAMES.min(names.len())
        };
        let mut listed = names[..shown].join(", ");
        if shown < names.len() {
            listed.push_str(&format!(" and {} more", names.len() - shown));
        }
        text.push_str(&format!("{listed}: {}{each}\n{body}", values(*lines)));
    }
    console.data().write_all(text.as_bytes())?;
    match tried {
        Some((_, words)) => console.say(words),
        None => {
            let on = answers
                .iter()
                .filter(|(_, answer)| !answer.paths.is_empty());
            let on = on_nodes(on.count());
            console.say(&depend(count, &on, &command.place));
        }
    }
    Ok(())
}

/// ` on 3 nodes`
fn on_nodes(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " on 1 node".to_owned(),
        count => format!(" on {count} nodes"),
    }
}
