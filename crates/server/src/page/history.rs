//! What was done, by whom, when and why; and taking it back.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use hence_api::words::Doing;
use hence_fleet::token::{Bearer, Role, Token, is_access};
use hence_ledger::entry::{Nodes, Origin, Scope};
use hence_ledger::{Act, Assertion, Change, Entry, Hash};
use hence_service::Service;
use hence_service::changes::counted;
use hence_service::explained::shown;
use hence_service::moment::moment;
use hence_store::{NO_SUCH_VERSION, Receipt};
use serde::Deserialize;

use super::html::{Html, address, breaking, count, grouped, html, link, shortened, spelled};
use super::nodes::{further, pages, version, when};
use super::plan::{del, ins};
use super::session::{Filled, Signed, see};
use super::shell::{Area, Live, Sheet, Shown};
use super::value::{compared, legible, shown as in_words};
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
const LONGEST_OPENED: usize = 5000;
const BRIEF: usize = 160;
const LONGEST_KEY: usize = 100;
/// So many bytes of what pushes kept are read to say which files they compiled.
const READ: usize = 64 << 20;
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
        let mut means = Means::of(service);
        for entry in &entries {
            let by = undone.get(&entry.version).copied();
            rows.add("{}", &[&row(&mut means, entry, by, says_why, now)]);
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

fn row(
    means: &mut Means<'_>,
    entry: &Entry,
    undone: Option<u64>,
    says_why: bool,
    now: u64,
) -> Html {
    let what = match &entry.act {
        Act::Commit { changes, .. } => html(
            "{} <span class=\"calm\">{}</span>",
            &[
                &means.said(entry, changes, BRIEF),
                &counted(changes, grouped),
            ],
        ),
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

/// By what means things were done, in the words of the command.
struct Means<'s> {
    service: &'s Service,
    /// So much may still be read of what pushes kept.
    left: usize,
}

impl<'s> Means<'s> {
    fn of(service: &'s Service) -> Self {
        Self {
            service,
            left: READ,
        }
    }

    /// What somebody said who changed something.
    fn said(&mut self, entry: &Entry, changes: &[Change], most: usize) -> Html {
        match (&entry.act, &entry.origin) {
            (
                Act::Commit {
                    undoes: Some(undone),
                    ..
                },
                _,
            ) => html("<code>undo {}</code>", &[&version(*undone)]),
            (_, Origin::Command(command)) => match command.trim() {
                "" => self.first(changes),
                command => {
                    let command = legible(self.service, &fingerprints(command));
                    html("<code>{}</code>", &[&shortened(&command, most)])
                }
            },
            (_, Origin::Sources(list)) => {
                let file = self.compiled(*list);
                let file = file.map(|file| html(" {}", &[&shortened(&file, most)]));
                html("<code>push{}</code>{}", &[&file, &by_owner(changes)])
            }
        }
    }

    /// The file that a push compiled, unless too much was read already.
    fn compiled(&mut self, list: Hash) -> Option<String> {
        #[derive(Deserialize)]
        struct Pushed {
            entry: String,
        }
        if self.left == 0 {
            return None;
        }
        let bytes = self.service.repository().object(list).ok()??;
        self.left = self.left.saturating_sub(bytes.len());
        let pushed: Pushed = serde_json::from_slice(&bytes).ok()?;
        Some(pushed.entry)
    }

    /// The first key that changed.
    fn first(&self, changes: &[Change]) -> Html {
        let Some(change) = changes.first() else {
            return html("<span class=\"calm\">nothing changed</span>", &[]);
        };
        let key = breaking(&shortened(change.key.as_str(), LONGEST_KEY));
        // What is kept of a token says nothing to anybody.
        let value = change.after.as_ref().filter(|_| !is_access(&change.key));
        match (&change.after, value.and_then(|after| shown(&after.value))) {
            (None, _) => html("<code><del>{}</del></code>", &[&key]),
            (_, None) => html("<code>{}</code>", &[&key]),
            (_, Some(value)) => {
                let value = shortened(&legible(self.service, &value), BRIEF);
                html("<code>{} = {}</code>", &[&key, &value])
            }
        }
    }
}

/// On whose behalf a push was.
fn by_owner(changes: &[Change]) -> Html {
    let after = changes.iter().find_map(|change| change.after.as_ref());
    let before = || changes.iter().find_map(|change| change.before.as_ref());
    match after.or_else(before) {
        Some(assertion) => html(" by owner {}", &[&assertion.owner.as_str()]),
        None => Html::default(),
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
        Act::Commit { changes, .. } => ("calm", counted(changes, grouped)),
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
    #[serde(default)]
    from: usize,
}

/// One version: what it changed.
pub async fn entry(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At(version): At<u64>,
    Asked(looking): Asked<Looking>,
) -> Shown {
    signed.access.must(Role::Read)?;
    let body = hub.work(move |service| {
        let entry = service
            .repository()
            .entry(version)?
            .ok_or_else(|| No::new(NO_SUCH_VERSION, format!("there is no version {version}")))?;
        let undone = undone(service, version)?.get(&version).copied();
        Ok(page(service, &entry, undone, &signed, &looking))
    });
    let sheet = Sheet::new(&format!("Version {version}"), Area::History, body.await?);
    Ok(sheet.into_response())
}

fn page(
    service: &Service,
    entry: &Entry,
    undone: Option<u64>,
    signed: &Signed,
    looking: &Looking,
) -> Html {
    let from = looking.from;
    let flash = match looking.done.as_deref() {
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
    let mut means = Means::of(service);
    let (origin, details, button) = match &entry.act {
        Act::Commit { changes, .. } => (
            means.said(entry, changes, LONGEST),
            changed(service, entry.version, changes, from),
            undo_form(entry, changes, undone, signed),
        ),
        Act::Activation { scope, changed, .. } => (
            means.said(entry, &[], LONGEST),
            activated(entry.version, scope, changed, from),
            Html::default(),
        ),
        Act::Naming { .. } | Act::Rollout => (
            means.said(entry, &[], LONGEST),
            Html::default(),
            Html::default(),
        ),
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
         <div><dt>When</dt><dd>{}</dd></div>\n<div><dt>Why</dt><dd>{}</dd></div>\n<div><dt>How</dt><dd>{}</dd></div>\n\
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

fn changed(service: &Service, of: u64, changes: &[Change], from: usize) -> Html {
    let mut rows = Html::default();
    for change in changes.iter().skip(from).take(KEYS) {
        let [before, after] = sides(service, change);
        let owner = change.after.as_ref().or(change.before.as_ref());
        rows.add(
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\" data-of=\"Before\">{}</td>\
             <td class=\"value\" data-of=\"After\">{}</td><td data-of=\"Owner\">{}</td></tr>\n",
            &[
                &breaking(change.key.as_str()),
                &before,
                &after,
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
            &pages(&format!("/history/{of}"), from, KEYS, changes.len()),
        ],
    )
}

/// What was asserted before and after; of long values what is around the difference.
fn sides(service: &Service, change: &Change) -> [Html; 2] {
    let value = |assertion: &Option<Assertion>| shown(&assertion.as_ref()?.value);
    match (value(&change.before), value(&change.after)) {
        (Some(before), Some(after)) if before.len().max(after.len()) > LONGEST => {
            let [before, after] = [before, after].map(|value| legible(service, &value));
            compared(&before, &after, LONGEST_OPENED, [del, ins])
        }
        _ => [
            side(service, change.before.as_ref(), Side::Before),
            side(service, change.after.as_ref(), Side::After),
        ],
    }
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

fn activated(of: u64, scope: &Scope, changed: &Nodes, from: usize) -> Html {
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
    for (number, name) in names.iter().skip(from).take(NODES).enumerate() {
        if number > 0 {
            list.add(", ", &[]);
        }
        list.add("{}", &[&link(&address(&["nodes", name]), &spelled(name))]);
    }
    if let (Nodes::AllBut(_), true) = (changed, names.is_empty()) {
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
            &pages(&format!("/history/{of}"), from, NODES, names.len()),
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
