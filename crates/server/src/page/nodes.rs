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

use super::html::{Html, address, count, encoded, html, link};
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
/// So much of a value stands in a table.
const LONGEST_VALUE: usize = 300;

#[derive(Deserialize)]
pub(crate) struct Pages {
    after: Option<String>,
}

/// All nodes that somebody may look at.
pub async fn list(
    State(hub): State<Arc<Hub>>,
    signed: Signed,
    Asked(Pages { after }): Asked<Pages>,
) -> Shown {
    let token = signed.access.0.clone();
    if let Bearer::Node(_) = token.bearer {
        return Ok(see(&home(&token)));
    }
    let now = hub.now();
    let body = hub.work(move |service| {
        let sees_all = token.may_everywhere(Role::Read);
        let may_see =
            |folded: &str| sees_all || token.may(Role::Read, &Keys::Under(Kind::Node.key(folded)));
        let mut names: Vec<(String, EcoString)> = service
            .head()
            .nodes()
            .into_iter()
            .map(|name| (fold(&name), name))
            .filter(|(folded, _)| may_see(folded))
            .collect();
        names.sort();
        let all = names.len();
        let mut ranked = Vec::new();
        let mut counts: BTreeMap<Standing, usize> = BTreeMap::new();
        if all <= COUNTED {
            let reports = service.reports()?;
            for (folded, name) in names {
                let desired = service.version_of(&folded)?;
                let standing = Standing::of(desired, reports.get(&folded), now);
                *counts.entry(standing).or_default() += 1;
                ranked.push((format!("{}{folded}", standing.rank()), name));
            }
            ranked.sort();
        } else {
            ranked = names;
        }
        let start = after.as_ref().map(|_| "/".to_owned());
        let after = after.unwrap_or_default();
        ranked.retain(|(place, _)| *place > after);
        let next = ranked.get(NODES - 1).filter(|_| ranked.len() > NODES);
        let next = next.map(|(place, _)| format!("/?after={}", encoded(place)));
        ranked.truncate(NODES);
        let mut rows = Html::default();
        for (_, name) in &ranked {
            let desired = service.version_of(name)?;
            let report = service.report_of(name)?;
            rows.add("{}", &[&row(name, desired, report.as_ref(), now, sees_all)]);
        }
        Ok(match all {
            0 => html(
                "<h1>Nodes</h1>\n<p class=\"empty\">There are no nodes yet that you may see. \
                 <code>hence add node NAME</code> makes one; <code>hence token join</code> lets one come by itself.</p>\n",
                &[],
            ),
            _ => html(
                "<h1>Nodes <span class=\"aside\">{}</span></h1>\n{}\
                 <div class=\"wide\"><table class=\"nodes\">\n<caption class=\"unseen\">Nodes, what they are to run and what they \
                 run</caption>\n<thead><tr><th scope=\"col\">Node</th><th scope=\"col\">State</th>\
                 <th scope=\"col\" class=\"number\">Desired</th><th scope=\"col\" class=\"number\">Applied</th>\
                 <th scope=\"col\">Heard</th></tr></thead>\n<tbody>\n{}</tbody>\n</table></div>\n{}",
                &[
                    &count(all, "node"),
                    &counted(&counts),
                    &rows,
                    &further(start, next),
                ],
            ),
        })
    });
    let sheet = Sheet::new("Nodes", Area::Nodes, body.await?);
    Ok(sheet.live(Live::Follows).into_response())
}

/// How many nodes stand how.
fn counted(counts: &BTreeMap<Standing, usize>) -> Html {
    let mut list = Html::default();
    for (standing, count) in counts {
        list.add("<li>{} {}</li>\n", &[&standing.shown(), count]);
    }
    match list.is_empty() {
        true => list,
        false => html("<ul class=\"counts\">\n{}</ul>\n", &[&list]),
    }
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

fn row(name: &str, desired: u64, report: Option<&Report>, now: u64, with_links: bool) -> Html {
    let applied = report.and_then(|report| report.applied);
    html(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\" data-of=\"Desired\">{}</td>\
         <td class=\"number\" data-of=\"Applied\">{}</td><td>{}</td></tr>\n",
        &[
            &link(&address(&["nodes", name]), &name),
            &Standing::of(desired, report, now).shown(),
            &told(desired, with_links),
            &told(applied.unwrap_or(0), with_links),
            &heard(report, now),
        ],
    )
}

/// A version, as a link for who may look at it.
fn told(number: u64, with_links: bool) -> Html {
    match with_links || number == 0 {
        true => version(number),
        false => html("{}", &[&number]),
    }
}

/// How a node stands to what it is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// It could not, and what it runs is not what it should be.
    Failed,
    /// It could not, and runs what it had.
    RolledBack,
    /// It runs it, but something was changed on it since.
    Drifted,
    /// It has said nothing for long, so nobody knows.
    Unheard,
    /// It has not said so yet.
    Waits,
    /// It never said anything.
    Silent,
    /// It runs it.
    Runs,
    /// There is nothing that it is to run.
    Idle,
}

impl Standing {
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
            Standing::Failed | Standing::RolledBack | Standing::Drifted => 0,
            Standing::Unheard => 1,
            _ => 2,
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
        "<time datetime=\"{}Z\" title=\"{} UTC\">{}</time>",
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
                "<p class=\"kicker\">Node</p>\n<h1>{}</h1>\n{}{}{}{}",
                &[&name, &note, &summary, &choice, &table],
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
                true => list.add("{}", &[&link(&address(&[under, name]), name)]),
                false => list.add("{}", &[name]),
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
                (link(&why, name), html(cells, &[&from, &source]))
            }
            false => (html("{}", &[name]), Html::default()),
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
}
