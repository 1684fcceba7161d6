//! What was done, by whom, when and why; and taking it back.

use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use hence_api::words::Doing;
use hence_fleet::token::{Bearer, Role, Token};
use hence_ledger::entry::{Nodes, Origin, Scope};
use hence_ledger::{Act, Assertion, Change, Entry};
use hence_service::explained::shown;
use hence_service::moment::moment;
use hence_store::{NO_SUCH_VERSION, Receipt};
use serde::Deserialize;

use super::fleet::more;
use super::html::{Html, address, count, html, link, shortened};
use super::nodes::{further, version, when};
use super::session::{Filled, Signed, see};
use super::shell::{Area, Live, Sheet, Shown};
use crate::answer::No;
use crate::hub::Hub;
use crate::routes::{Asked, At};

/// So many entries are on a page.
const ENTRIES: u64 = 100;
/// So many keys of a change, and so many nodes, are told.
const KEYS: usize = 500;
const NODES: usize = 200;
/// So much of a value is told.
const LONGEST: usize = 300;

#[derive(Deserialize)]
pub(crate) struct Pages {
    before: Option<u64>,
}

/// All that was done, the newest first.
pub async fn list(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    Asked(Pages { before }): Asked<Pages>,
) -> Shown {
    signed.access.must(Role::Read)?;
    let now = hub.now();
    let body = hub.work(move |service| {
        let newest = service.repository().version();
        let from = before.map_or(newest, |before| before.saturating_sub(1).min(newest));
        let last = from.saturating_sub(ENTRIES);
        let mut rows = Html::default();
        for version in (last + 1..=from).rev() {
            if let Some(entry) = service.repository().entry(version)? {
                rows.add("{}", &[&row(&entry, now)]);
            }
        }
        let next = (last > 0).then(|| further(&format!("/history?before={}", last + 1)));
        Ok(html(
            "<h1>History <span class=\"aside\">{}</span></h1>\n<div class=\"wide\"><table class=\"history\">\n\
             <caption class=\"unseen\">Versions, the newest first</caption>\n<thead><tr>\
             <th scope=\"col\" class=\"number\">Version</th><th scope=\"col\">What</th><th scope=\"col\">Why</th>\
             <th scope=\"col\">Who</th><th scope=\"col\">When</th></tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n{}",
            &[&count(newest as usize, "version"), &rows, &next],
        ))
    });
    let sheet = Sheet::new("History", Area::History, body.await?);
    Ok(sheet.live(Live::Follows).into_response())
}

fn row(entry: &Entry, now: u64) -> Html {
    html(
        "<tr><th scope=\"row\" class=\"number\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        &[
            &version(entry.version),
            &act(entry),
            &shortened(&entry.message, LONGEST),
            &entry.author,
            &when(entry.time, now),
        ],
    )
}

/// What was done, in a few words.
fn act(entry: &Entry) -> Html {
    let (class, words) = match &entry.act {
        Act::Commit {
            undoes: Some(undone),
            ..
        } => {
            return html(
                "<span class=\"state calm\">undo</span> of {}",
                &[&version(*undone)],
            );
        }
        Act::Commit { changes, .. } => ("calm", format!("{} changed", count(changes.len(), "key"))),
        Act::Activation {
            target, changed, ..
        } => {
            let nodes = match changed {
                Nodes::Only(nodes) => format!(
                    " on {}",
                    count(nodes.iter().filter(|name| is_node(name)).count(), "node")
                ),
                Nodes::AllBut(_) => " on most nodes".to_owned(),
            };
            return html(
                "<span class=\"state good\">activated</span> {}{}",
                &[&version(*target), &nodes],
            );
        }
        Act::Naming { name } => ("calm", format!("named “{name}”")),
        Act::Rollout => ("calm", "a step of a rollout".to_owned()),
    };
    html("<span class=\"{}\">{}</span>", &[&class, &words])
}

/// Whether a name is that of a node that was there.
fn is_node(name: &str) -> bool {
    name != hence_service::history::STRANGERS
}

#[derive(Deserialize)]
pub(crate) struct Looking {
    done: Option<String>,
}

/// One version: what it changed.
pub async fn entry(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At(version): At<u64>,
    Asked(Looking { done }): Asked<Looking>,
) -> Shown {
    signed.access.must(Role::Read)?;
    let body = hub.work(move |service| {
        let entry = service
            .repository()
            .entry(version)?
            .ok_or_else(|| No::new(NO_SUCH_VERSION, format!("there is no version {version}")))?;
        Ok(page(&entry, &signed, done.as_deref()))
    });
    let sheet = Sheet::new(&format!("Version {version}"), Area::History, body.await?);
    Ok(sheet.into_response())
}

fn page(entry: &Entry, signed: &Signed, done: Option<&str>) -> Html {
    let flash = match done {
        Some("activated") => html(
            "<p class=\"flash good\" role=\"status\">Activated. <a href=\"/\">See the nodes report</a></p>\n",
            &[],
        ),
        Some("undone") => html(
            "<p class=\"flash good\" role=\"status\">Taken back. Nodes follow when it is activated: \
             <a href=\"/plan\">look at the plan</a></p>\n",
            &[],
        ),
        _ => Html::default(),
    };
    let message = match entry.message.is_empty() {
        true => html("<span class=\"calm\">–</span>", &[]),
        false => html("{}", &[&entry.message]),
    };
    let origin = match &entry.origin {
        Origin::Command(command) => {
            let command = fingerprints(command);
            html("<code>{}</code>", &[&shortened(&command, LONGEST)])
        }
        Origin::Sources(_) => html("compiled sources", &[]),
    };
    let (details, button) = match &entry.act {
        Act::Commit { changes, .. } => (changed(changes), undo_form(entry, signed)),
        Act::Activation { scope, changed, .. } => (activated(scope, changed), Html::default()),
        Act::Naming { .. } | Act::Rollout => (Html::default(), Html::default()),
    };
    let neighbours = html(
        "<nav class=\"choice\" aria-label=\"Versions\">{}{}</nav>\n",
        &[
            &(entry.version > 1).then(|| {
                let before = entry.version - 1;
                html(
                    "<a rel=\"prev\" href=\"/history/{}\">Version {}</a>",
                    &[&before, &before],
                )
            }),
            &html("<a href=\"/history\">All versions</a>", &[]),
        ],
    );
    html(
        "{}<p class=\"kicker\"><a href=\"/history\">History</a></p>\n<h1>Version {}</h1>\n\
         <dl class=\"facts\">\n<div><dt>What</dt><dd>{}</dd></div>\n<div><dt>Who</dt><dd>{}</dd></div>\n\
         <div><dt>When</dt><dd>{} UTC</dd></div>\n<div><dt>Why</dt><dd>{}</dd></div>\n<div><dt>How</dt><dd>{}</dd></div>\n\
         </dl>\n{}{}{}",
        &[
            &flash,
            &entry.version,
            &act(entry),
            &entry.author,
            &moment(entry.time),
            &message,
            &origin,
            &button,
            &details,
            &neighbours,
        ],
    )
}

/// A command, of whose secrets only the fingerprints are shown.
fn fingerprints(command: &str) -> String {
    let mut pieces = command.split("sealed(");
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (sealed, rest) = piece.split_once(')').unwrap_or((piece, ""));
        let fingerprint = sealed.split(' ').next().unwrap_or_default();
        shown.push_str(&format!("sealed({fingerprint}){rest}"));
    }
    shown
}

fn undo_form(entry: &Entry, signed: &Signed) -> Html {
    if signed.access.must_write().is_err() {
        return Html::default();
    }
    html(
        "<form class=\"decision\" method=\"post\" action=\"/history/{}/undo\">{}\
         <button>Undo version {}</button> <span class=\"note\">Adds a version that takes it back; nodes follow when that is \
         activated.</span></form>\n",
        &[&entry.version, &signed.field(), &entry.version],
    )
}

fn changed(changes: &[Change]) -> Html {
    let mut rows = Html::default();
    for change in changes.iter().take(KEYS) {
        let owner = change.after.as_ref().or(change.before.as_ref());
        rows.add(
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\">{}</td><td class=\"value\">{}</td><td>{}</td></tr>\n",
            &[
                &change.key.as_str(),
                &side(change.before.as_ref(), Side::Before),
                &side(change.after.as_ref(), Side::After),
                &owner.map(|assertion| assertion.owner.clone()),
            ],
        );
    }
    html(
        "<h2>Changes <span class=\"aside\">{}</span></h2>\n<div class=\"wide\"><table class=\"diff\">\n\
         <caption class=\"unseen\">Keys that changed</caption>\n<thead><tr><th scope=\"col\">Key</th>\
         <th scope=\"col\">Before</th><th scope=\"col\">After</th><th scope=\"col\">Owner</th></tr></thead>\n\
         <tbody>\n{}</tbody>\n</table></div>\n{}",
        &[
            &count(changes.len(), "key"),
            &rows,
            &more(changes.len(), KEYS, "are not shown"),
        ],
    )
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

fn side(assertion: Option<&Assertion>, side: Side) -> Html {
    let Some(assertion) = assertion else {
        return html("<span class=\"calm\">not asserted</span>", &[]);
    };
    let Some(value) = shown(&assertion.value) else {
        return html("asserted", &[]);
    };
    let value = shortened(&value, LONGEST);
    match side {
        Side::Before => html("<code><del>{}</del></code>", &[&value]),
        Side::After => html("<code><ins>{}</ins></code>", &[&value]),
    }
}

fn activated(scope: &Scope, changed: &Nodes) -> Html {
    let meant = match scope {
        Scope::Everything => "All nodes were meant".to_owned(),
        Scope::Only(nodes) => format!("{} were meant", count(nodes.len(), "node")),
    };
    let (words, names) = match changed {
        Nodes::Only(names) => ("these got another configuration", names),
        Nodes::AllBut(names) => ("all got another configuration but these", names),
    };
    let names: Vec<&String> = names.iter().filter(|name| is_node(name)).collect();
    let mut list = Html::default();
    for (number, name) in names.iter().take(NODES).enumerate() {
        if number > 0 {
            list.add(", ", &[]);
        }
        list.add("{}", &[&link(&address(&["nodes", name]), *name)]);
    }
    if list.is_empty() {
        list = html("<span class=\"calm\">none</span>", &[]);
    }
    html(
        "<h2>Nodes</h2>\n<p>{}; {}: {}</p>\n{}",
        &[
            &meant,
            &words,
            &list,
            &more(names.len(), NODES, "are not shown"),
        ],
    )
}

#[derive(Deserialize)]
pub(crate) struct Undoing {
    #[serde(default)]
    form: String,
}

/// Takes a version back.
pub async fn undo(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At(version): At<u64>,
    Filled(undoing): Filled<Undoing>,
) -> Shown {
    signed.must_be_ours(&undoing.form)?;
    signed.access.must_write()?;
    let token = signed.access.0;
    let doing = Doing {
        owner: owner(&token),
        ..Doing::default()
    };
    let request = hub.request(&token, doing, &format!("undo {version}"));
    let done = hub.work(move |service| {
        let receipt = service.undo(&request, Some(version), Some(&token))?;
        Ok(match receipt {
            Receipt::Done(done) => done.version,
            Receipt::Nothing => version,
        })
    });
    Ok(see(&format!("/history/{}?done=undone", done.await?)))
}

/// For whom a token writes.
fn owner(token: &Token) -> String {
    match &token.bearer {
        Bearer::Someone {
            owner: Some(owner), ..
        } => owner.clone(),
        _ => Doing::default().owner,
    }
}

#[cfg(test)]
mod tests {
    use super::fingerprints;

    #[test]
    fn of_what_is_sealed_only_the_fingerprint_is_shown() {
        let shown = fingerprints("assert a sealed(f1 00ff) ; assert b sealed(f2 ff00)");
        assert_eq!(shown, "assert a sealed(f1) ; assert b sealed(f2)");
        assert_eq!(fingerprints("undo 3"), "undo 3");
    }
}
