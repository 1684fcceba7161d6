//! Finding things by a part of their name, and values by a part of them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use hence_fleet::Kind;
use hence_fleet::token::{Role, is_access};
use hence_ledger::key::fold;
use hence_service::Service;
use serde::Deserialize;

use super::fleet::more;
use super::html::{Html, address, html, link, shortened};
use super::session::Signed;
use super::shell::{Area, Sheet, Shown};
use crate::hub::Hub;
use crate::routes::Asked;

/// So much of each kind is told.
const MOST: usize = 50;
/// So long a question may be.
const LONGEST: usize = 200;

#[derive(Deserialize)]
pub(crate) struct Question {
    #[serde(default)]
    q: String,
}

pub async fn search(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    Asked(Question { q }): Asked<Question>,
) -> Shown {
    signed.access.must(Role::Read)?;
    let question = shortened(q.trim(), LONGEST);
    let form = html(
        "<h1>Search</h1>\n<form class=\"decision\" role=\"search\" action=\"/search\">\
         <label for=\"question\">Part of a name or of a value</label>\n\
         <input id=\"question\" name=\"q\" type=\"search\" value=\"{}\" spellcheck=\"false\">\n<button class=\"main\">Search</button></form>\n",
        &[&question],
    );
    let found = match question.is_empty() {
        true => Html::default(),
        false => {
            hub.work(move |service| Ok(found(service, &question)))
                .await?
        }
    };
    let body = html("{}{}", &[&form, &found]);
    Ok(Sheet::new("Search", Area::Other, body).into_response())
}

fn found(service: &Service, question: &str) -> Html {
    let wanted = fold(question);
    let mut sections = Html::default();
    for (kind, words) in [
        (Kind::Node, "Nodes"),
        (Kind::Group, "Groups"),
        (Kind::Feature, "Features"),
        (Kind::Param, "Parameters"),
    ] {
        let names = service.head().names(kind).into_iter();
        let names: Vec<_> = names.filter(|name| fold(name).contains(&wanted)).collect();
        let mut list = Html::default();
        for name in names.iter().take(MOST) {
            let item = match kind {
                Kind::Node => link(&address(&["nodes", name]), name),
                Kind::Group => link(&address(&["groups", name]), name),
                Kind::Feature => link(&address(&["features", name]), name),
                Kind::Param | Kind::Subsystem => html("<code>{}</code>", &[name]),
            };
            list.add("<li>{}</li>\n", &[&item]);
        }
        sections.add("{}", &[&section(words, names.len(), &list)]);
    }
    let mut list = Html::default();
    let mut count = 0;
    for (key, assertion) in service.state().iter() {
        let names: Vec<_> = key.names().collect();
        let (Some(value), [kind, name, _, ..]) = (assertion.value.as_text(), names.as_slice())
        else {
            continue;
        };
        if is_access(key) || !fold(value).contains(&wanted) {
            continue;
        }
        count += 1;
        if count > MOST {
            continue;
        }
        let key = match kind.as_ref() {
            "node" => link(&address(&["nodes", name]), &key.as_str()),
            "group" => link(&address(&["groups", name]), &key.as_str()),
            "feature" => link(&address(&["features", name]), &key.as_str()),
            _ => html("{}", &[&key.as_str()]),
        };
        list.add(
            "<li><code>{} = {}</code></li>\n",
            &[&key, &shortened(value, LONGEST)],
        );
    }
    sections.add("{}", &[&section("Values", count, &list)]);
    match sections.is_empty() {
        true => html(
            "<p class=\"empty\" role=\"status\">Nothing has “{}” in its name or in its value.</p>\n",
            &[&question],
        ),
        false => sections,
    }
}

fn section(words: &'static str, all: usize, list: &Html) -> Html {
    if all == 0 {
        return Html::default();
    }
    html(
        "<section>\n<h2>{} <span class=\"aside\">{}</span></h2>\n<ul class=\"found\">\n{}</ul>\n{}</section>\n",
        &[&words, &all, list, &more(all, MOST, "are like these")],
    )
}
