//! Nodes: what they are to run, what they say they run, and why.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hence_api::words::{self, Changes, Page, Report, frames};
use hence_fleet::Kind;
use hence_fleet::edit::NO_SUCH;
use hence_fleet::token::Role;
use hence_ledger::Hash;
use hence_ledger::key::fold;
use hence_service::explained::told;
use hence_service::pushed::Archive;
use hence_service::report::CheckIn;
use hence_service::{Service, activation};
use serde::Deserialize;

use super::{Asked, At, Sent, limit};
use crate::access::Access;
use crate::answer::{Answer, No, json, typed};
use crate::hub::{Hub, Reader};
use crate::{BAD_REQUEST, NOT_FOUND};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    after: Option<String>,
    limit: Option<usize>,
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Asked(pages): Asked<Pages>,
) -> Answer {
    access.must(Role::Read)?;
    let most = limit(pages.limit)?;
    let page = hub.work(move |service| {
        let after = pages.after.as_deref().map(fold).unwrap_or_default();
        let mut names: Vec<(String, String)> = service
            .head()
            .nodes()
            .iter()
            .map(|name| (fold(name), name.to_string()))
            .collect();
        names.sort();
        names.retain(|(folded, _)| *folded > after);
        let next = (names.len() > most).then(|| names[most - 1].1.clone());
        names.truncate(most);
        let items: Result<Vec<words::Node>, No> = names
            .into_iter()
            .map(|(_, name)| about(service, name))
            .collect();
        Ok(Page {
            items: items?,
            next,
        })
    });
    Ok(json(&page.await?))
}

fn about(service: &mut Service, name: String) -> Result<words::Node, No> {
    let report = service.report_of(&name)?;
    Ok(words::Node {
        desired: service.version_of(&name)?,
        applied: report.as_ref().and_then(|report| report.applied),
        report,
        name,
    })
}

pub async fn node(State(hub): State<Arc<Hub>>, access: Access, At(node): At<String>) -> Answer {
    access.must_see(&node)?;
    let about = hub.work(move |service| {
        let name = there(service, &node)?;
        about(service, name)
    });
    Ok(json(&about.await?))
}

/// The node, as it is spelled.
fn there(service: &Service, node: &str) -> Result<String, No> {
    match service.head().spelling(Kind::Node, node) {
        Some(name) => Ok(name.to_string()),
        None => Err(activation::no_such(service.state(), Kind::Node, node).into()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    at: Option<u64>,
    #[serde(default)]
    head: bool,
}

/// What a node is to run; at a version; or what it would be to run if all were activated.
pub async fn config(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
    Asked(which): Asked<Which>,
    headers: HeaderMap,
) -> Answer {
    let reader = access.must_see(&node)?;
    if which.at.is_none() && !which.head {
        let served = hub
            .served(&node, reader)
            .await?
            .ok_or_else(|| no_node(&node))?;
        if is_known(&headers, &served.tag) {
            return Ok(unchanged(served.tag.clone()));
        }
        let mut response = typed("application/json", served.json.clone());
        response
            .headers_mut()
            .insert(header::ETAG, served.tag.clone());
        return Ok(response);
    }
    Ok(json(&configuration(&hub, node, which, reader).await?))
}

/// What a node was, or would be, to run.
pub(super) async fn configuration(
    hub: &Arc<Hub>,
    node: String,
    which: Which,
    reader: Reader,
) -> Result<words::Configuration, No> {
    let other = hub.clone();
    hub.work(move |service| {
        let found = match which.head {
            false => other.configuration(service, &node, which.at, reader)?,
            true => match service.head().config(&node) {
                Some(config) => Some(other.told(service, &node, 0, config, reader)?),
                None => None,
            },
        };
        found.ok_or_else(|| no_node(&node))
    })
    .await
}

impl Which {
    pub fn at(version: u64) -> Self {
        Self {
            at: Some(version),
            head: false,
        }
    }

    pub fn head() -> Self {
        Self {
            at: None,
            head: true,
        }
    }
}

pub(super) fn no_node(node: &str) -> No {
    No::new(NO_SUCH, format!("there is no node `{node}`"))
}

/// Whether who asks has it already.
pub(super) fn is_known(headers: &HeaderMap, tag: &axum::http::HeaderValue) -> bool {
    let known = headers
        .get(header::IF_NONE_MATCH)
        .map(|known| known.as_bytes());
    known.is_some_and(|known| {
        known
            .split(|byte| *byte == b',')
            .any(|one| one.trim_ascii() == tag.as_bytes())
    })
}

pub(super) fn unchanged(tag: axum::http::HeaderValue) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    response.headers_mut().insert(header::ETAG, tag);
    response
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    since: u64,
}

/// So much content is sent at once, and a single one whatever its size.
const MOST_CONTENT: usize = 16 << 20;

/// Content that the configuration of a node names, or a list that it names. Nothing else is a node's to read.
pub async fn contents(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
    Sent(wanted): Sent<words::Wanted>,
) -> Answer {
    let reader = access.must_see(&node)?;
    let other = hub.clone();
    let bytes = hub.work(move |service| {
        let configuration = other.configuration(service, &node, None, reader)?;
        let configuration = configuration.ok_or_else(|| no_node(&node))?;
        let object = |hash: Hash| service.repository().object(hash);
        let mut named = HashSet::new();
        for value in configuration.parameters.values() {
            for hash in hashes(value) {
                if named.insert(hash) && value.starts_with("tree:") {
                    let list = object(hash)?.unwrap_or_default();
                    named.extend(hashes(&String::from_utf8_lossy(&list)));
                }
            }
        }
        let mut bytes = Vec::new();
        let mut size = 0;
        for hash in wanted.hashes {
            let content = match named.contains(&hash) && size < MOST_CONTENT {
                true => object(hash)?,
                false => None,
            };
            let length = content.as_ref().map_or(0, Vec::len);
            let fits = size == 0 || size + length <= MOST_CONTENT;
            size += if fits { length } else { MOST_CONTENT };
            frames::push(&mut bytes, content.filter(|_| fits).as_deref());
        }
        Ok(bytes)
    });
    Ok(typed("application/octet-stream", bytes.await?))
}

/// The hashes that are named in a text.
fn hashes(text: &str) -> impl Iterator<Item = Hash> {
    text.split(|character: char| !character.is_ascii_alphanumeric())
        .filter_map(Hash::from_hex)
}

/// What changed for a node, and what that means for its processes.
pub async fn changes(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
    Asked(Since { since }): Asked<Since>,
) -> Answer {
    access.must_see(&node)?;
    Ok(json(&changed(&hub, node, since).await?))
}

pub(super) async fn changed(hub: &Arc<Hub>, node: String, since: u64) -> Result<Changes, No> {
    hub.work(move |service| {
        let newest = service.repository().version();
        let difference = service.difference_between(&node, since, newest)?;
        let difference = difference.ok_or_else(|| no_node(&node))?;
        let (parameters, restart, reread) = super::ledger::told(&difference);
        Ok(Changes {
            since,
            version: service.version_of(&node)?,
            parameters,
            restart,
            reread,
        })
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    parameter: Option<String>,
}

/// Why a value is what it is, down to the line that says it.
pub async fn explain(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
    Asked(subject): Asked<Subject>,
) -> Answer {
    access.must(Role::Read)?;
    let explained = hub.work(move |service| {
        let name = there(service, &node)?;
        let explanations = match &subject.parameter {
            None => service.head().explain_all(&name).unwrap_or_default(),
            Some(parameter) => {
                let found = service.head().explain(&name, parameter);
                let none = || {
                    No::new(
                        NO_SUCH,
                        format!("`{parameter}` is not in the configuration of `{name}`"),
                    )
                };
                vec![found.ok_or_else(none)?]
            }
        };
        let archive = Archive::new(service);
        let told: Vec<_> = explanations.iter().map(|one| told(&archive, one)).collect();
        Ok(serde_json::to_vec(&told).expect("answers can be written"))
    });
    Ok(typed("application/json", explained.await?))
}

pub async fn report(State(hub): State<Arc<Hub>>, access: Access, At(node): At<String>) -> Answer {
    access.must_see(&node)?;
    let name = node.clone();
    let report = hub
        .look_up(move |service| Ok(service.report_of(&name)?))
        .await?;
    let none = || No::new(NOT_FOUND, format!("`{node}` has not reported yet"));
    Ok(json(&report.ok_or_else(none)?))
}

pub async fn reports(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Read)?;
    let reports = hub.look_up(|service| Ok(service.reports()?)).await?;
    let reports: Vec<(String, Report)> = reports.into_iter().collect();
    Ok(json(&reports))
}

/// What a report may hold.
const LONGEST_TEXT: usize = 10_000;
const MOST_FACTS: usize = 200;

pub async fn check_in(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
    Sent(mut report): Sent<Report>,
) -> Answer {
    access.must_speak_for(&node)?;
    let texts = report
        .error
        .iter()
        .chain(&report.drift)
        .chain(report.facts.keys())
        .chain(report.facts.values());
    if report.facts.len() > MOST_FACTS || texts.map(String::len).any(|length| length > LONGEST_TEXT)
    {
        let message =
            format!("a report has at most {MOST_FACTS} facts, and texts of {LONGEST_TEXT} bytes");
        return Err(No::new(BAD_REQUEST, message));
    }
    report.time = hub.now();
    hub.metrics.check_ins.fetch_add(1, Ordering::Relaxed);
    let request = hub.request(
        &access.0,
        words::Doing::default(),
        &format!("check-in {node}"),
    );
    let check_in = CheckIn {
        request,
        node,
        report,
    };
    Ok(json(&hub.check_in(check_in).await?))
}
