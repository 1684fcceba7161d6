//! Nodes: what each is to run, whether it does, and where every value comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::IntoResponse;
use ecow::EcoString;
use hence_api::words::{Outcome, Report};
use hence_fleet::explain::{Contribution, Effect, Membership};
use hence_fleet::token::{Bearer, Role};
use hence_fleet::{Explanation, Kind, Pool};
use hence_ledger::Keys;
use hence_ledger::key::fold;
use hence_service::Service;
use hence_service::activation::no_such;
use hence_service::moment::moment;
use hence_service::pushed::Archive;
use serde::Deserialize;

use super::fleet::{called, more};
use super::html::{Html, address, coded, count, encoded, html, link, shortened, spelled};
use super::session::{Signed, see};
use super::shell::{Area, Live, Sheet, Shown, home};
use super::value::shown;
use crate::answer::No;
use crate::hub::{Hub, Reader};
use crate::routes::{Asked, At};

/// So many nodes are on a page.
const NODES: usize = 200;
/// Among so many those who need somebody come first, and all are counted; more are only listed.
const COUNTED: usize = 5000;
/// Who was not heard for so many milliseconds may be gone. A node asks every few minutes.
const LONG: u64 = 60 * 60 * 1000;
/// So many parameters are on a page.
const PARAMETERS: usize = 500;
/// So many facts that a node says are on its page; more than a few wait until somebody wants them.
const FACTS: usize = 200;
const FEW_FACTS: usize = 6;
/// So much of a value stands in a table, and so much of what went wrong in a list.
const LONGEST_VALUE: usize = 300;
const LONGEST_TROUBLE: usize = 120;
/// So many groups of a node stand in a list.
const GROUPS: usize = 3;

#[derive(Deserialize)]
pub(crate) struct Asking {
    after: Option<String>,
    state: Option<Standing>,
    group: Option<String>,
}

/// All nodes that somebody may look at, or those of a group, or those that stand alike.
pub async fn list(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    Asked(asking): Asked<Asking>,
) -> Shown {
    let token = signed.access.0.clone();
    if let Bearer::Node(_) = token.bearer {
        return Ok(see(&home(&token)));
    }
    let now = hub.now();
    let body = hub.work(move |service| {
        let sees_all = token.may_everywhere(Role::Read);
        let may_see =
            |name: &str| sees_all || token.may(Role::Read, &Keys::Under(Kind::Node.key(name)));
        let mut names = match &asking.group {
            None => service.head().nodes(),
            Some(group) => service.head().members(group),
        };
        names.retain(|name| may_see(&fold(name)));
        let all = names.len();
        let group = asking.group.as_ref().map(|group| {
            let group = service.head().spelling(Kind::Group, group);
            group.unwrap_or_else(|| asking.group.as_deref().unwrap_or_default().into())
        });
        let within = group.as_ref().map(|group| {
            let name = called(group);
            let group = match sees_all {
                true => link(&address(&["groups", group]), &spelled(&name)),
                false => spelled(&name),
            };
            html(
                "<p class=\"kicker\">In the group {}, of <a href=\"/\">all nodes</a></p>\n",
                &[&group],
            )
        });
        let chosen = Chosen {
            group: group.clone(),
            state: asking.state,
            after: asking.after,
            most: NODES,
        };
        let nodes = standing(service, names, &chosen, now, sees_all)?;
        let empty = match (all, group) {
            (0, None) => html(
                "<p class=\"empty\">There are no nodes yet that you may see. \
                 <code>hence add node NAME</code> makes one; <code>hence token join</code> lets one come by itself.</p>\n",
                &[],
            ),
            (0, Some(_)) => html(
                "<p class=\"empty\">There is no such group, or no node in it that you may see.</p>\n",
                &[],
            ),
            _ => Html::default(),
        };
        let count = (all > 0).then(|| html(" <span class=\"aside\">{}</span>", &[&count(all, "node")]));
        Ok(html(
            "{}<h1>Nodes{}</h1>\n{}{}",
            &[&within, &count, &empty, &nodes],
        ))
    });
    let sheet = Sheet::new("Nodes", Area::Nodes, body.await?);
    Ok(sheet.live(Live::Follows).into_response())
}

/// Which nodes somebody wants to see, and from which on.
#[derive(Default)]
pub(super) struct Chosen {
    pub group: Option<EcoString>,
    pub state: Option<Standing>,
    pub after: Option<String>,
    pub most: usize,
}

impl Chosen {
    /// The address of those that stand so, from the first or from behind a place.
    fn address(&self, state: Option<Standing>, after: Option<&str>) -> String {
        let group = self
            .group
            .as_ref()
            .map(|group| format!("group={}", encoded(group)));
        let state = state.map(|state| format!("state={}", state.word()));
        let after = after.map(|after| format!("after={}", encoded(after)));
        let said: Vec<String> = [group, state, after].into_iter().flatten().collect();
        match said.is_empty() {
            true => "/".to_owned(),
            false => format!("/?{}", said.join("&")),
        }
    }
}

/// How nodes stand: how many do how, and a page of them, those first who need somebody.
pub(super) fn standing(
    service: &mut Service,
    names: Vec<EcoString>,
    chosen: &Chosen,
    now: u64,
    with_links: bool,
) -> Result<Html, No> {
    if names.is_empty() {
        return Ok(Html::default());
    }
    let mut names: Vec<(String, EcoString)> =
        names.into_iter().map(|name| (fold(&name), name)).collect();
    names.sort();
    let all = names.len();
    let after = chosen.after.as_deref().unwrap_or_default();
    let is_chosen = |standing| chosen.state.is_none_or(|state| state == standing);
    let mut counts: Option<BTreeMap<Standing, usize>> = None;
    let mut ranked = Vec::new();
    // Where the page ends, if something is behind it.
    let mut last = None;
    if all <= COUNTED {
        let reports = reports(service, &names)?;
        let counts = counts.insert(BTreeMap::new());
        for (folded, name) in names {
            let desired = service.version_of(&folded)?;
            let standing = Standing::of(desired, reports.get(&folded), now);
            *counts.entry(standing).or_default() += 1;
            let place = format!("{}{folded}", standing.rank());
            if place.as_str() > after && is_chosen(standing) {
                ranked.push((place, name));
            }
        }
        ranked.sort();
    } else {
        let behind = names.into_iter();
        let behind = behind.filter(|(folded, _)| folded.as_str() > after);
        let mut looked_at = None;
        for (looked, (folded, name)) in behind.enumerate() {
            if ranked.len() > chosen.most {
                break;
            }
            if looked == COUNTED {
                last = looked_at;
                break;
            }
            let is_one = match chosen.state {
                None => true,
                Some(_) => {
                    let desired = service.version_of(&folded)?;
                    let report = service.report_of(&folded)?;
                    is_chosen(Standing::of(desired, report.as_ref(), now))
                }
            };
            looked_at = Some(folded.clone());
            if is_one {
                ranked.push((folded, name));
            }
        }
    }
    if ranked.len() > chosen.most {
        ranked.truncate(chosen.most);
        last = ranked.last().map(|(place, _)| place.clone());
    }
    let mut rows = Html::default();
    for (_, name) in &ranked {
        rows.add("{}", &[&row(service, name, now, with_links)?]);
    }
    let start = chosen
        .after
        .as_ref()
        .map(|_| chosen.address(chosen.state, None));
    let next = last.map(|last| chosen.address(chosen.state, Some(&last)));
    let table = match rows.is_empty() {
        true => html("<p class=\"empty\">None of these.</p>\n", &[]),
        false => html(
            "<div class=\"wide\"><table class=\"nodes\">\n<caption class=\"unseen\">Nodes, what they are to run and what they \
             run</caption>\n<thead><tr><th scope=\"col\">Node</th><th scope=\"col\">State</th><th scope=\"col\">Groups</th>\
             <th scope=\"col\" class=\"number\">Desired</th><th scope=\"col\" class=\"number\">Applied</th>\
             <th scope=\"col\">Heard</th></tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
            &[&rows],
        ),
    };
    Ok(html(
        "{}{}{}",
        &[
            &choices(chosen, all, counts.as_ref()),
            &table,
            &further(start, next),
        ],
    ))
}

/// What nodes said last; of few, without looking at what all others said.
fn reports(
    service: &Service,
    names: &[(String, EcoString)],
) -> Result<BTreeMap<String, Report>, No> {
    if names.len() > NODES {
        return Ok(service.reports()?);
    }
    let mut reports = BTreeMap::new();
    for (folded, _) in names {
        if let Some(report) = service.report_of(folded)? {
            reports.insert(folded.clone(), report);
        }
    }
    Ok(reports)
}

/// How many nodes stand how, each leading to these; of very many, only where to look.
fn choices(chosen: &Chosen, all: usize, counts: Option<&BTreeMap<Standing, usize>>) -> Html {
    let item = |state: Option<Standing>, words: &Html, count: Option<usize>| {
        let to = chosen.address(state, None);
        let current = match state == chosen.state {
            true => html(" aria-current=\"page\"", &[]),
            false => Html::default(),
        };
        let count = count.map(|count| html(" {}", &[&count]));
        html(
            "<li><a href=\"{}\"{}>{}{}</a></li>\n",
            &[&to, &current, words, &count],
        )
    };
    let mut list = item(None, &html("all", &[]), Some(all));
    for standing in Standing::ALL {
        let count = counts.map(|counts| counts.get(&standing).copied().unwrap_or(0));
        // The chosen one stays, so that it can be seen what was chosen.
        if count != Some(0) || chosen.state == Some(standing) {
            list.add("{}", &[&item(Some(standing), &standing.shown(), count)]);
        }
    }
    html(
        "<nav aria-label=\"Nodes by their state\"><ul class=\"counts\">\n{}</ul></nav>\n",
        &[&list],
    )
}

/// Links to what did not fit, and back to where it begins.
pub(super) fn further(start: Option<String>, next: Option<String>) -> Html {
    if start.is_none() && next.is_none() {
        return Html::default();
    }
    let start = start.map(|to| html("<a href=\"{}\">From the beginning</a> ", &[&to]));
    let next = next.map(|to| html("<a rel=\"next\" href=\"{}\">More</a>", &[&to]));
    html("<p class=\"further\">{}{}</p>\n", &[&start, &next])
}

/// Links to the other pages of a list, of which so many are on each.
pub(super) fn pages(here: &str, from: usize, most: usize, all: usize) -> Html {
    let join = if here.contains('?') { '&' } else { '?' };
    let behind = from.saturating_add(most);
    let start = (from > 0).then(|| here.to_owned());
    let next = (behind < all).then(|| format!("{here}{join}from={behind}"));
    further(start, next)
}

fn row(service: &mut Service, name: &str, now: u64, with_links: bool) -> Result<Html, No> {
    let desired = service.version_of(name)?;
    let report = service.report_of(name)?;
    let report = report.as_ref();
    let applied = report.and_then(|report| report.applied);
    let standing = Standing::of(desired, report, now);
    let trouble = report.and_then(|report| match standing {
        Standing::Failed | Standing::RolledBack => report.error.as_deref(),
        Standing::Drifted => report.drift.as_deref(),
        _ => None,
    });
    let trouble = trouble.and_then(|trouble| trouble.lines().find(|line| !line.trim().is_empty()));
    let trouble = trouble.map(|line| {
        html(
            " <span class=\"said\">{}</span>",
            &[&coded(&shortened(line.trim(), LONGEST_TROUBLE))],
        )
    });
    let groups = service.head().memberships(name).unwrap_or_default();
    Ok(html(
        "<tr><th scope=\"row\">{}</th><td>{}{}</td><td class=\"groups\" data-of=\"Groups\">{}</td>\
         <td class=\"number\" data-of=\"Desired\">{}</td>\
         <td class=\"number\" data-of=\"Applied\">{}</td><td>{}</td></tr>\n",
        &[
            &link(&address(&["nodes", name]), &spelled(name)),
            &standing.shown(),
            &trouble,
            &few(&groups, with_links),
            &told(desired, with_links),
            &told(applied.unwrap_or(0), with_links),
            &heard(report, now),
        ],
    ))
}

/// The first groups of a node, and how many more.
fn few(groups: &[EcoString], with_links: bool) -> Html {
    let mut list = Html::default();
    for group in groups.iter().take(GROUPS) {
        if !list.is_empty() {
            list.add(", ", &[]);
        }
        match with_links {
            true => list.add(
                "{}",
                &[&link(&address(&["groups", group]), &spelled(group))],
            ),
            false => list.add("{}", &[&spelled(group)]),
        }
    }
    match groups.len().saturating_sub(GROUPS) {
        0 => list,
        more => html(
            "{} <span class=\"calm\">+{}<span class=\"unseen\"> more</span></span>",
            &[&list, &more],
        ),
    }
}

/// A version, as a link for who may look at it.
fn told(number: u64, with_links: bool) -> Html {
    match with_links || number == 0 {
        true => version(number),
        false => html("{}", &[&number]),
    }
}

/// How a node stands to what it is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Standing {
    /// It could not, and what it runs is not what it should be.
    Failed,
    /// It could not, and runs what it had.
    RolledBack,
    /// It runs it, but something was changed on it since.
    Drifted,
    /// It has not said so yet.
    #[serde(rename = "not-yet")]
    Waits,
    /// It has said nothing for long, so nobody knows.
    #[serde(rename = "not-heard")]
    Unheard,
    /// It never said anything.
    #[serde(rename = "never-heard")]
    Silent,
    /// It runs it.
    Runs,
    /// There is nothing that it is to run.
    Idle,
}

impl Standing {
    const ALL: [Standing; 8] = [
        Standing::Failed,
        Standing::RolledBack,
        Standing::Drifted,
        Standing::Waits,
        Standing::Unheard,
        Standing::Silent,
        Standing::Runs,
        Standing::Idle,
    ];

    fn of(desired: u64, report: Option<&Report>, now: u64) -> Self {
        let Some(report) = report else {
            return match desired {
                0 => Standing::Idle,
                _ => Standing::Silent,
            };
        };
        let has_refused = report.refused == Some(desired) && desired > 0;
        match report.outcome {
            Some(Outcome::Failed) => Standing::Failed,
            // Who refuses and says why has not run it, whether or not it says what came of it.
            None if has_refused && report.error.is_some() => Standing::Failed,
            Some(Outcome::RolledBack) if has_refused => Standing::RolledBack,
            _ if report.drift.is_some() => Standing::Drifted,
            _ if desired == 0 => Standing::Idle,
            _ if now.saturating_sub(report.time) > LONG => Standing::Unheard,
            _ if report.applied == Some(desired) => Standing::Runs,
            _ => Standing::Waits,
        }
    }

    /// Those who need somebody come first.
    fn rank(self) -> usize {
        match self {
            Standing::Failed => 0,
            Standing::RolledBack => 1,
            Standing::Drifted => 2,
            Standing::Waits => 3,
            Standing::Unheard => 4,
            Standing::Silent | Standing::Runs | Standing::Idle => 5,
        }
    }

    /// The word for it in an address.
    fn word(self) -> &'static str {
        match self {
            Standing::Failed => "failed",
            Standing::RolledBack => "rolled-back",
            Standing::Drifted => "drifted",
            Standing::Waits => "not-yet",
            Standing::Unheard => "not-heard",
            Standing::Silent => "never-heard",
            Standing::Runs => "runs",
            Standing::Idle => "idle",
        }
    }

    fn shown(self) -> Html {
        let (class, words) = match self {
            Standing::Runs => ("good", "runs it"),
            Standing::Drifted => ("bad", "drifted"),
            Standing::Waits => ("soon", "not yet"),
            Standing::RolledBack => ("bad", "rolled back"),
            Standing::Failed => ("bad", "failed"),
            Standing::Unheard => ("soon", "not heard lately"),
            Standing::Silent => ("calm", "never heard"),
            Standing::Idle => ("calm", "nothing to run"),
        };
        html("<span class=\"state {}\">{}</span>", &[&class, &words])
    }
}

/// A version, as a link to what it did.
pub(super) fn version(version: u64) -> Html {
    match version {
        0 => html("<span class=\"calm\">–</span>", &[]),
        _ => html("<a href=\"/history/{}\">{}</a>", &[&version, &version]),
    }
}

fn heard(report: Option<&Report>, now: u64) -> Html {
    match report {
        None => html("<span class=\"calm\">–</span>", &[]),
        Some(report) => when(report.time, now),
    }
}

/// How long ago something was, and when.
pub(super) fn when(time: u64, now: u64) -> Html {
    let seconds = now.saturating_sub(time) / 1000;
    let ago = match seconds {
        0..60 => "a moment ago".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    };
    let exactly = moment(time);
    html(
        "<time datetime=\"{}\" title=\"{}\">{}</time>",
        &[&exactly.replace(' ', "T"), &exactly, &ago],
    )
}

/// Which fleet a value is looked at in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// What the node is to run.
    Active,
    /// What it would be to run if all that is asserted were activated.
    Asserted,
}

#[derive(Deserialize)]
pub(crate) struct Looking {
    of: Option<String>,
    after: Option<String>,
}

impl Which {
    pub fn of(word: Option<&str>) -> Self {
        match word {
            Some("asserted") => Which::Asserted,
            _ => Which::Active,
        }
    }

    /// What stands behind an address.
    pub fn query(self) -> &'static str {
        match self {
            Which::Active => "",
            Which::Asserted => "?of=asserted",
        }
    }

    /// Does something with the fleet and the archive of its version.
    pub fn look<T>(
        self,
        service: &Service,
        node: &str,
        look: impl FnOnce(&Pool, &Archive<'_>) -> T,
    ) -> Result<T, No> {
        let active = service.repository().active();
        let target = active.target(&fold(node));
        Ok(match self {
            Which::Asserted => look(service.head(), &Archive::new(service)),
            Which::Active if target == active.base => {
                look(service.active(), &Archive::at(service, Some(target)))
            }
            Which::Active => {
                let pool = service.pool_at(target)?;
                look(&pool, &Archive::at(service, Some(target)))
            }
        })
    }
}

/// The node, as it is spelled.
pub(super) fn there(service: &Service, kind: Kind, name: &str) -> Result<EcoString, No> {
    let spelling = service.head().spelling(kind, name);
    spelling.ok_or_else(|| no_such(service.state(), kind, name).into())
}

/// A node: what it is to run, with where each value comes from beside it.
pub async fn node(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    At(node): At<String>,
    Asked(looking): Asked<Looking>,
) -> Shown {
    let reader = signed.access.must_see(&node)?;
    let sees_all = signed.access.0.may_everywhere(Role::Read);
    let now = hub.now();
    let which = match sees_all {
        true => Which::of(looking.of.as_deref()),
        false => Which::Active,
    };
    let (name, body) = hub
        .work(move |service| {
            let name = there(service, Kind::Node, &node)?;
            let summary = summary(service, &name, now, sees_all)?;
            let facts = service.report_of(&name)?.map(|report| facts(&report));
            let service = &*service;
            // What people note about a node is not for the node.
            let note = match reader {
                Reader::Other => annotation(service, Kind::Node, &name),
                Reader::Itself => Html::default(),
            };
            let table = which.look(service, &name, |pool, archive| {
                let looked = Looked {
                    service,
                    pool,
                    archive,
                    which,
                };
                table(&looked, &name, looking.after.as_deref(), sees_all)
            })?;
            let choice = match sees_all {
                true => choice(service, &name, which)?,
                false => Html::default(),
            };
            let body = html(
                "<p class=\"kicker\">Node</p>\n<h1>{}</h1>\n{}{}{}{}{}",
                &[&name, &note, &summary, &choice, &table, &facts],
            );
            Ok((name, body))
        })
        .await?;
    let sheet = Sheet::new(&name, Area::Nodes, body).live(Live::Follows);
    Ok(sheet.into_response())
}

/// What somebody noted about a thing.
pub(super) fn annotation(service: &Service, kind: Kind, name: &str) -> Html {
    let noted = service.state().get(&kind.key(name).child("annotation"));
    match noted.and_then(|noted| noted.value.as_text()) {
        None | Some("") => Html::default(),
        Some(note) => html("<p class=\"lead\">{}</p>\n", &[&note]),
    }
}

fn summary(service: &mut Service, node: &str, now: u64, with_links: bool) -> Result<Html, No> {
    let desired = service.version_of(node)?;
    let report = service.report_of(node)?;
    let report = report.as_ref();
    let [features, groups] = service.memberships(node)?;
    let names = |under: &str, names: &[EcoString]| -> Html {
        let mut list = Html::default();
        for (number, name) in names.iter().enumerate() {
            if number > 0 {
                list.add(", ", &[]);
            }
            match with_links {
                true => list.add("{}", &[&link(&address(&[under, name]), &spelled(name))]),
                false => list.add("{}", &[&spelled(name)]),
            }
        }
        match list.is_empty() {
            true => html("<span class=\"calm\">none</span>", &[]),
            false => list,
        }
    };
    let applied = report.and_then(|report| report.applied).unwrap_or(0);
    let mut summary = html(
        "<dl class=\"facts\">\n<div><dt>State</dt><dd>{}</dd></div>\n<div><dt>Desired</dt><dd>{}</dd></div>\n\
         <div><dt>Applied</dt><dd>{}</dd></div>\n<div><dt>Heard</dt><dd>{}</dd></div>\n\
         <div><dt>Groups</dt><dd>{}</dd></div>\n<div class=\"broad\"><dt>Features</dt><dd>{}</dd></div>\n</dl>\n",
        &[
            &Standing::of(desired, report, now).shown(),
            &told(desired, with_links),
            &told(applied, with_links),
            &heard(report, now),
            &names("groups", &groups),
            &names("features", &features),
        ],
    );
    let troubles = [
        (
            "It could not be applied",
            report.and_then(|report| report.error.as_deref()),
        ),
        (
            "Changed on the node",
            report.and_then(|report| report.drift.as_deref()),
        ),
    ];
    for (words, trouble) in troubles {
        if let Some(trouble) = trouble {
            summary.add(
                "<div class=\"flash wrong\"><b>{}</b><pre>{}</pre></div>\n",
                &[&words, &trouble],
            );
        }
    }
    Ok(summary)
}

/// What a node says that it is like.
fn facts(report: &Report) -> Html {
    let mut list = Html::default();
    for (name, fact) in report.facts.iter().take(FACTS) {
        list.add(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            &[&spelled(name), &shortened(fact, LONGEST_VALUE)],
        );
    }
    let many = report.facts.len();
    let list = html(
        "<dl class=\"facts\">\n{}</dl>\n{}",
        &[&list, &more(many, FACTS, "are not shown")],
    );
    match many {
        0 => Html::default(),
        1..=FEW_FACTS => html("<h2>What it says that it is like</h2>\n{}", &[&list]),
        _ => html(
            "<h2>What it says that it is like</h2>\n<details class=\"told\"><summary>{}</summary>\n{}</details>\n",
            &[&count(many, "fact"), &list],
        ),
    }
}

/// Which of two configurations is looked at, if they differ.
fn choice(service: &Service, node: &str, which: Which) -> Result<Html, No> {
    let active = service.config(node)?.unwrap_or_default();
    let asserted = service.head().config(node).unwrap_or_default();
    if active == asserted && which == Which::Active {
        return Ok(Html::default());
    }
    let here = address(&["nodes", node]);
    let current = |of: Which| match of == which {
        true => html(" aria-current=\"page\"", &[]),
        false => Html::default(),
    };
    Ok(html(
        "<nav class=\"choice\" aria-label=\"Configuration\"><a href=\"{}\"{}>To run now</a>\
         <a href=\"{}?of=asserted\"{}>After the next activation</a> <a class=\"apart\" href=\"/plan\">What would change</a></nav>\n",
        &[
            &here,
            &current(Which::Active),
            &here,
            &current(Which::Asserted),
        ],
    ))
}

/// What is looked at.
struct Looked<'a> {
    service: &'a Service,
    pool: &'a Pool,
    archive: &'a Archive<'a>,
    which: Which,
}

fn table(looked: &Looked<'_>, node: &str, after: Option<&str>, with_origins: bool) -> Html {
    let (pool, which) = (looked.pool, looked.which);
    // A node that came since has what strangers have.
    let config = pool.config(node);
    let config = config.unwrap_or_else(|| pool.stranger_config());
    let first = after.unwrap_or_default();
    let mut parameters = config.iter().skip_while(|(name, _)| name.as_str() <= first);
    let mut rows = Html::default();
    let mut last = None;
    for (name, value) in parameters.by_ref().take(PARAMETERS) {
        let value = shown(looked.service, &value.to_string(), LONGEST_VALUE);
        let why = format!(
            "{}{}",
            address(&["nodes", node, "why", name]),
            which.query()
        );
        let (name_cell, origin) = match with_origins {
            true => {
                let explanation = pool.explain(node, name);
                let [from, source] = explanation
                    .map(|explanation| gutter(looked.archive, &explanation))
                    .unwrap_or_default();
                let cells = "<td class=\"from\">{}</td><td class=\"from\">{}</td>";
                (link(&why, &spelled(name)), html(cells, &[&from, &source]))
            }
            false => (spelled(name), Html::default()),
        };
        rows.add(
            "<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\"><code>{}</code></td>{}</tr>\n",
            &[&name_cell, &value, &origin],
        );
        last = Some(name.clone());
    }
    let here = address(&["nodes", node]);
    let next = parameters.next().and(last).map(|last| {
        let join = match which {
            Which::Active => "?",
            Which::Asserted => "?of=asserted&",
        };
        format!("{here}{join}after={}", encoded(&last))
    });
    let start = after.map(|_| format!("{here}{}", which.query()));
    if rows.is_empty() {
        return html(
            "<h2>Configuration</h2>\n<p class=\"empty\">It is empty.</p>\n",
            &[],
        );
    }
    let origins = with_origins.then(|| {
        html(
            "<th scope=\"col\">From</th><th scope=\"col\">Written</th>",
            &[],
        )
    });
    html(
        "<h2>Configuration <span class=\"aside\">{}</span></h2>\n\
         <div class=\"wide\"><table class=\"config\">\n<caption class=\"unseen\">Parameters, their values and where they come \
         from</caption>\n<thead><tr><th scope=\"col\">Parameter</th><th scope=\"col\">Value</th>{}</tr></thead>\n\
         <tbody>\n{}</tbody>\n</table></div>\n{}",
        &[
            &count(config.len(), "parameter"),
            &origins,
            &rows,
            &further(start, next),
        ],
    )
}

/// What decides a value: the last that stands, or the last that was said.
pub(super) fn deciding(explanation: &Explanation) -> Option<&Contribution> {
    let standing = explanation.standing().last();
    standing.or_else(|| explanation.chain.last())
}

/// Who says a value, and where that is written.
fn gutter(archive: &Archive<'_>, explanation: &Explanation) -> [Html; 2] {
    let Some(contribution) = deciding(explanation) else {
        return [Html::default(), Html::default()];
    };
    let others = explanation.chain.len() - 1;
    let lost = explanation.chain.iter();
    let lost = lost.filter(|one| one.effect == Effect::Lost).count();
    let aside = match (others, lost) {
        (0, _) => Html::default(),
        (_, 0) => html(" <span class=\"calm\">and {} more</span>", &[&others]),
        (_, lost) => html(" <span class=\"calm\">over {}</span>", &[&lost]),
    };
    let from = html("{}{}", &[&who(contribution), &aside]);
    let Some(assertion) = archive.assertion(&contribution.key) else {
        return [from, Html::default()];
    };
    let made = archive.made(&assertion);
    let author = made.map(|made| made.author.clone()).unwrap_or_default();
    let by = html(
        "<span class=\"by\">{} in {}</span>",
        &[&author, &version(assertion.since)],
    );
    let source = match archive.written(&contribution.key, &assertion) {
        Some(written) => html(
            "<code class=\"place\">{}</code> {}",
            &[&line_of(&written.place), &by],
        ),
        None => by,
    };
    [from, source]
}

/// The file and the line of a place.
pub(super) fn line_of(place: &str) -> &str {
    place.rsplit_once(':').map_or(place, |(line, _)| line)
}

/// The feature and the group that say something.
pub(super) fn who(contribution: &Contribution) -> Html {
    let feature = contribution.features.last();
    let feature = feature.map(|name| html("{} on ", &[&link(&address(&["features", name]), name)]));
    let group = &contribution.group;
    let group = match contribution.membership {
        Membership::Identity => html("the node itself", &[]),
        Membership::Default => link(&address(&["groups", group]), &"all nodes"),
        _ => link(&address(&["groups", group]), group),
    };
    html("{}{}", &[&feature, &group])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_not_heard_for_long_does_not_look_well() {
        let report = |outcome| Report {
            time: 1000,
            applied: Some(4),
            outcome,
            ..Report::default()
        };
        let well = report(Some(Outcome::Applied));
        assert_eq!(Standing::of(4, Some(&well), 1000 + LONG), Standing::Runs);
        assert_eq!(Standing::of(4, Some(&well), 1001 + LONG), Standing::Unheard);
        assert_eq!(Standing::of(5, Some(&well), 1001 + LONG), Standing::Unheard);
        // What is known to be wrong stays wrong.
        let failed = report(Some(Outcome::Failed));
        assert_eq!(
            Standing::of(4, Some(&failed), 1001 + LONG),
            Standing::Failed
        );
        assert_eq!(Standing::of(0, None, 0), Standing::Idle);
    }

    #[test]
    fn who_refuses_and_says_why_has_failed() {
        let refused = |version| Report {
            applied: Some(3),
            refused: Some(version),
            error: Some("the disk is full".to_owned()),
            ..Report::default()
        };
        assert_eq!(Standing::of(4, Some(&refused(4)), 0), Standing::Failed);
        // What it refused is no longer what it is to run.
        assert_eq!(Standing::of(5, Some(&refused(4)), 0), Standing::Waits);
    }

    #[test]
    fn every_state_has_one_word() {
        for standing in Standing::ALL {
            let word = serde_json::Value::from(standing.word());
            let read: Standing = serde_json::from_value(word).unwrap();
            assert_eq!(read, standing);
        }
    }
}
