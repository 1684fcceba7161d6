//! What was done, by whom, when and why; and taking it back.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use hence_api::words::Doing;
use hence_fleet::token::{Bearer, Role, Token, is_access};
use hence_ledger::entry::{Nodes, Origin, Scope};
use hence_ledger::{Act, Assertion, Change, Entry};
use hence_service::Service;
use hence_service::explained::shown;
use hence_service::moment::moment;
use hence_store::{NO_SUCH_VERSION, Receipt};
use serde::Deserialize;

use super::fleet::more;
use super::html::{Html, address, breaking, count, html, link, shortened};
use super::nodes::{further, version, when};
use super::session::{Filled, Signed, see};
use super::shell::{Area, Live, Sheet, Shown};
use super::value::{legible, shown as in_words};
use crate::answer::No;
use crate::hub::Hub;
use crate::routes::{Asked, At};

/// So many entries are on a page.
const ENTRIES: u64 = 100;
/// So many keys of a change, and so many nodes, are told.
const KEYS: usize = 500;
const NODES: usize = 200;
/// So much of a value is told, and so much of it in the list.
const LONGEST: usize = 300;
const BRIEF: usize = 60;
const LONGEST_KEY: usize = 100;
/// So far back it is looked whether something was undone.
const LOOKED_BACK: u64 = 1000;

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
        let mut entries = Vec::new();
        for version in (last + 1..=from).rev() {
            entries.extend(service.repository().entry(version)?);
        }
        let undone = undone(service, last + 1)?;
        // A column in which nothing stands is none.
        let says_why = entries.iter().any(|entry| !entry.message.is_empty());
        let why = says_why.then(|| html("<th scope=\"col\">Why</th>", &[]));
        let mut rows = Html::default();
        for entry in &entries {
            let by = undone.get(&entry.version).copied();
            rows.add("{}", &[&row(service, entry, by, says_why, now)]);
        }
        let next = (last > 0).then(|| format!("/history?before={}", last + 1));
        let start = before.map(|_| "/history".to_owned());
        Ok(html(
            "<h1>History <span class=\"aside\">{}</span></h1>\n<div class=\"wide\"><table class=\"history\">\n\
             <caption class=\"unseen\">Versions, the newest first</caption>\n<thead><tr>\
             <th scope=\"col\" class=\"number\">Version</th><th scope=\"col\">What</th>{}\
             <th scope=\"col\">Who</th><th scope=\"col\">When</th></tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n{}",
            &[
                &count(newest as usize, "version"),
                &why,
                &rows,
                &further(start, next),
            ],
        ))
    });
    let sheet = Sheet::new("History", Area::History, body.await?);
    Ok(sheet.live(Live::Follows).into_response())
}

fn row(service: &Service, entry: &Entry, undone: Option<u64>, says_why: bool, now: u64) -> Html {
    let what = match &entry.act {
        Act::Commit {
            changes,
            undoes: None,
        } => first(service, changes),
        _ => act(entry),
    };
    let undone = undone.map(|by| {
        html(
            " <span class=\"state calm\">undone</span> by {}",
            &[&version(by)],
        )
    });
    let why = says_why.then(|| html("<td>{}</td>", &[&shortened(&entry.message, LONGEST)]));
    html(
        "<tr><th scope=\"row\" class=\"number\">{}</th><td>{}{}</td>{}<td>{}</td><td>{}</td></tr>\n",
        &[
            &version(entry.version),
            &what,
            &undone,
            &why,
            &entry.author,
            &when(entry.time, now),
        ],
    )
}

/// The first key that changed, and how many more.
fn first(service: &Service, changes: &[Change]) -> Html {
    let Some(change) = changes.first() else {
        return html("<span class=\"calm\">nothing changed</span>", &[]);
    };
    let key = breaking(&shortened(change.key.as_str(), LONGEST_KEY));
    // What is kept of a token says nothing to anybody.
    let value = change.after.as_ref().filter(|_| !is_access(&change.key));
    let said = match (&change.after, value.and_then(|after| shown(&after.value))) {
        (None, _) => html("<code><del>{}</del></code>", &[&key]),
        (_, None) => html("<code>{}</code>", &[&key]),
        (_, Some(value)) => {
            let value = shortened(&legible(service, &value), BRIEF);
            html("<code>{} = {}</code>", &[&key, &value])
        }
    };
    match changes.len() - 1 {
        0 => said,
        more => html(
            "{} <span class=\"calm\">and {} more</span>",
            &[&said, &more],
        ),
    }
}

/// Which versions were undone and by which, down to one. An undo that was undone itself does not count.
fn undone(service: &Service, down_to: u64) -> Result<HashMap<u64, u64>, No> {
    let newest = service.repository().version();
    let mut undone: HashMap<u64, u64> = HashMap::new();
    for version in (down_to.max(newest.saturating_sub(LOOKED_BACK))..=newest).rev() {
        if let Some(entry) = service.repository().entry(version)?
            && let Act::Commit {
                undoes: Some(of), ..
            } = entry.act
            && !undone.contains_key(&version)
        {
            undone.entry(of).or_insert(version);
        }
    }
    Ok(undone)
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
            let (Nodes::Only(names) | Nodes::AllBut(names)) = changed;
            let many = names.iter().filter(|name| is_node(name)).count();
            let nodes = match changed {
                Nodes::Only(_) => format!(" on {}", count(many, "node")),
                Nodes::AllBut(_) if many == 0 => " on all nodes".to_owned(),
                Nodes::AllBut(_) => format!(" on all nodes but {many}"),
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
        let undone = undone(service, version)?.get(&version).copied();
        Ok(page(service, &entry, undone, &signed, done.as_deref()))
    });
    let sheet = Sheet::new(&format!("Version {version}"), Area::History, body.await?);
    Ok(sheet.into_response())
}

fn page(
    service: &Service,
    entry: &Entry,
    undone: Option<u64>,
    signed: &Signed,
    done: Option<&str>,
) -> Html {
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
        Act::Commit { changes, .. } => (
            changed(service, changes),
            undo_form(entry, changes, undone, signed),
        ),
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

/// The button that takes it back, or why there is none.
fn undo_form(entry: &Entry, changes: &[Change], undone: Option<u64>, signed: &Signed) -> Html {
    if let Some(by) = undone {
        return html(
            "<p class=\"flash soon\">It was undone by version {}.</p>\n",
            &[&version(by)],
        );
    }
    if signed.access.must_write().is_err() {
        return Html::default();
    }
    // Who may do what counts at once, so no plan would show what an undo of it means.
    if changes.iter().all(|change| is_access(&change.key)) {
        return html(
            "<p class=\"note\">This says who may do what, and counted at once. <code>hence token list</code> shows all tokens, \
             and <code>hence token revoke NAME</code> takes one back.</p>\n",
            &[],
        );
    }
    html(
        "<form class=\"decision\" method=\"post\" action=\"/history/{}/undo\">{}\
         <button>Undo version {}</button> <span class=\"note\">Adds a version that takes it back; nodes follow when that is \
         activated.</span></form>\n",
        &[&entry.version, &signed.field(), &entry.version],
    )
}

fn changed(service: &Service, changes: &[Change]) -> Html {
    let mut rows = Html::default();
    for change in changes.iter().take(KEYS) {
        let owner = change.after.as_ref().or(change.before.as_ref());
        rows.add(
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\" data-of=\"Before\">{}</td>\
             <td class=\"value\" data-of=\"After\">{}</td><td data-of=\"Owner\">{}</td></tr>\n",
            &[
                &breaking(change.key.as_str()),
                &side(service, change.before.as_ref(), Side::Before),
                &side(service, change.after.as_ref(), Side::After),
                &owner.map(|assertion| assertion.owner.clone()),
            ],
        );
    }
    html(
        "<h2>Changes <span class=\"aside\">{}</span></h2>\n<div class=\"wide\"><table class=\"diff keys\">\n\
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

fn side(service: &Service, assertion: Option<&Assertion>, side: Side) -> Html {
    let Some(assertion) = assertion else {
        return html("<span class=\"calm\">not asserted</span>", &[]);
    };
    let Some(value) = shown(&assertion.value) else {
        return html("asserted", &[]);
    };
    let value = in_words(service, &value, LONGEST);
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
    if let (Nodes::AllBut(_), true) = (changed, list.is_empty()) {
        return html(
            "<h2>Nodes</h2>\n<p>{}; all got another configuration.</p>\n",
            &[&meant],
        );
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
        let (receipt, _) = service.undo(&request, Some(version), Some(&token))?;
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
