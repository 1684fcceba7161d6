//! Finding things by a part of their name, and values by a part of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use hence_fleet::Kind;
use hence_fleet::token::{Role, is_access};
use hence_ledger::Key;
use hence_ledger::key::fold;
use hence_service::Service;
use serde::Deserialize;

use super::fleet::called;
use super::html::{Html, address, breaking, encoded, html, link, shortened, spelled};
use super::nodes::pages;
use super::session::Signed;
use super::shell::{Area, Sheet, Shown};
use super::value::{has, names_content, shown};
use crate::hub::Hub;
use crate::routes::Asked;

/// So much of each kind is told.
const MOST: usize = 50;
/// So many of those who set a parameter are told.
const SETTING: usize = 8;
/// So much content is looked into.
const CONTENTS: usize = 500;
/// So long a question may be.
const LONGEST: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Question {
    #[serde(default)]
    q: String,
    /// Only these, from so many on.
    of: Option<Sort>,
    #[serde(default)]
    from: usize,
}

/// What is found.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    Nodes,
    Groups,
    Features,
    Parameters,
    Values,
}

impl Sort {
    fn title(self) -> &'static str {
        match self {
            Sort::Nodes => "Nodes",
            Sort::Groups => "Groups",
            Sort::Features => "Features",
            Sort::Parameters => "Parameters",
            Sort::Values => "Values",
        }
    }

    /// The word for it in an address, and among other words.
    fn word(self) -> &'static str {
        match self {
            Sort::Nodes => "nodes",
            Sort::Groups => "groups",
            Sort::Features => "features",
            Sort::Parameters => "parameters",
            Sort::Values => "values",
        }
    }
}

/// Which part of what is found is shown.
struct Part {
    question: String,
    of: Option<Sort>,
    from: usize,
}

impl Part {
    /// Whether these are shown.
    fn has(&self, sort: Sort) -> bool {
        self.of.is_none_or(|of| of == sort)
    }

    /// The address of all that is found, or of these.
    fn address(&self, of: Option<Sort>) -> String {
        let all = format!("/search?q={}", encoded(&self.question));
        match of {
            None => all,
            Some(of) => format!("{all}&of={}", of.word()),
        }
    }
}

pub async fn search(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    Asked(Question { q, of, from }): Asked<Question>,
) -> Shown {
    signed.access.must(Role::Read)?;
    let question = shortened(q.trim(), LONGEST);
    let form = html(
        "<h1>Search</h1>\n<form class=\"decision\" action=\"/search\">\
         <label for=\"question\">Part of a name or of a value</label>\n\
         <input id=\"question\" name=\"q\" type=\"search\" value=\"{}\" spellcheck=\"false\">\n<button class=\"main\">Search</button></form>\n",
        &[&question],
    );
    let found = match question.is_empty() {
        true => Html::default(),
        false => {
            let from = if of.is_some() { from } else { 0 };
            let part = Part { question, of, from };
            hub.work(move |service| Ok(found(service, &part))).await?
        }
    };
    let body = html("{}{}", &[&form, &found]);
    Ok(Sheet::new("Search", Area::Other, body).into_response())
}

fn found(service: &Service, part: &Part) -> Html {
    let wanted = fold(&part.question);
    let mut sections = Html::default();
    for (kind, sort) in [
        (Kind::Node, Sort::Nodes),
        (Kind::Group, Sort::Groups),
        (Kind::Feature, Sort::Features),
        (Kind::Param, Sort::Parameters),
    ] {
        if !part.has(sort) {
            continue;
        }
        let names = service.head().names(kind).into_iter();
        let names: Vec<_> = names.filter(|name| fold(name).contains(&wanted)).collect();
        let seen = names.iter().skip(part.from).take(MOST);
        let mut list = Html::default();
        let setting = match kind {
            Kind::Param => setting(service, seen.clone().map(|name| fold(name))),
            _ => BTreeMap::new(),
        };
        for name in seen {
            let item = match kind {
                Kind::Node => link(&address(&["nodes", name]), &spelled(name)),
                Kind::Group => link(&address(&["groups", name]), &spelled(name)),
                Kind::Feature => link(&address(&["features", name]), &spelled(name)),
                Kind::Param | Kind::Subsystem => {
                    let by = setting.get(&fold(name)).map_or(&[][..], Vec::as_slice);
                    html("<code>{}</code> {}", &[name, &set_by(service, name, by)])
                }
            };
            list.add("<li>{}</li>\n", &[&item]);
        }
        sections.add("{}", &[&section(part, sort, names.len(), &list)]);
    }
    if part.has(Sort::Values) {
        sections.add("{}", &[&values(service, part, &wanted)]);
    }
    match sections.is_empty() {
        true => html(
            "<p class=\"empty\" role=\"status\">Nothing has “{}” in its name or in its value.</p>\n",
            &[&part.question],
        ),
        false => sections,
    }
}

/// What is asserted that has the question in its value.
fn values(service: &Service, part: &Part, wanted: &str) -> Html {
    let mut list = Html::default();
    let (mut count, mut looked) = (0, 0);
    for (key, assertion) in service.state().iter() {
        let names: Vec<_> = key.names().collect();
        let (Some(value), [kind, name, _, ..]) = (assertion.value.as_text(), names.as_slice())
        else {
            continue;
        };
        if is_access(key) {
            continue;
        }
        let text = match names_content(value) && looked < CONTENTS {
            true => {
                looked += 1;
                Some(service.legible(value)).filter(|text| text != value)
            }
            false => None,
        };
        let is_in_text = text.is_some_and(|text| fold(&text).contains(wanted));
        if !is_in_text && !has(&fold(value), wanted) {
            continue;
        }
        count += 1;
        if count <= part.from || count > part.from.saturating_add(MOST) {
            continue;
        }
        let words = breaking(key.as_str());
        let key = match kind.as_ref() {
            "node" => link(&address(&["nodes", name]), &words),
            "group" => link(&address(&["groups", name]), &words),
            "feature" => link(&address(&["features", name]), &words),
            _ => words,
        };
        list.add(
            "<li><code>{} = {}</code></li>\n",
            &[&key, &shown(service, value, LONGEST)],
        );
    }
    section(part, Sort::Values, count, &list)
}

/// Who sets parameters, by their folded names.
fn setting(
    service: &Service,
    parameters: impl Iterator<Item = String>,
) -> BTreeMap<String, Vec<Key>> {
    let mut setting: BTreeMap<String, Vec<Key>> =
        parameters.map(|name| (name, Vec::new())).collect();
    for (key, _) in service.state().iter() {
        let names: Vec<_> = key.names().collect();
        if let [kind, _, word, parameter] = names.as_slice()
            && ["node", "group", "feature"].contains(&kind.as_ref())
            && word == "param"
            && let Some(keys) = setting.get_mut(parameter.as_ref())
        {
            keys.push(key.clone());
        }
    }
    setting
}

/// Links to those who set a parameter: to what a node says about it, or to all that a group or a feature sets.
fn set_by(service: &Service, parameter: &str, keys: &[Key]) -> Html {
    let mut list = Html::default();
    for key in keys.iter().take(SETTING) {
        let names: Vec<_> = key.names().take(2).collect();
        let [kind, name] = names.as_slice() else {
            continue;
        };
        let spelled = |kind| {
            let spelling = service.head().spelling(kind, name);
            spelling.unwrap_or_else(|| name.as_ref().into())
        };
        if !list.is_empty() {
            list.add(", ", &[]);
        }
        match kind.as_ref() {
            "node" => {
                let name = spelled(Kind::Node);
                let why = address(&["nodes", &name, "why", parameter]);
                list.add("{}", &[&link(&format!("{why}?of=asserted"), &name)]);
            }
            "group" => {
                let name = spelled(Kind::Group);
                list.add("{}", &[&link(&address(&["groups", &name]), &called(&name))]);
            }
            _ => {
                let name = spelled(Kind::Feature);
                list.add("{}", &[&link(&address(&["features", &name]), &name)]);
            }
        }
    }
    let more = match keys.len().saturating_sub(SETTING) {
        0 => Html::default(),
        more => html(" and {} more", &[&more]),
    };
    match list.is_empty() {
        true => html("<span class=\"calm\">set by nobody</span>", &[]),
        false => html("<span class=\"calm\">set by</span> {}{}", &[&list, &more]),
    }
}

/// What is found of a sort; what does not fit is on pages of its own.
fn section(part: &Part, sort: Sort, all: usize, list: &Html) -> Html {
    if all == 0 {
        return Html::default();
    }
    let here = part.address(Some(sort));
    let pages = match (part.of, all.saturating_sub(MOST)) {
        (Some(_), _) => html(
            "{}<p class=\"note\"><a href=\"{}\">All that was found</a></p>\n",
            &[&pages(&here, part.from, MOST, all), &part.address(None)],
        ),
        (None, 0) => Html::default(),
        (None, more) => html(
            "<p class=\"further\"><a href=\"{}&amp;from={}\">{} more {}</a></p>\n",
            &[&here, &MOST, &more, &sort.word()],
        ),
    };
    html(
        "<section>\n<h2>{} <span class=\"aside\">{}</span></h2>\n<ul class=\"found\">\n{}</ul>\n{}</section>\n",
        &[&sort.title(), &all, list, &pages],
    )
}
