//! What is asserted, and how it came about.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use hence_api::words::{self, About, Page, frames};
use hence_fleet::token::Role;
use hence_fleet::{Resolved, Words};
use hence_ledger::{Hash, Key, Keys, Vocabulary};
use serde::{Deserialize, Serialize};

use super::{Asked, At, Sent, limit};
use crate::access::Access;
use crate::answer::{Answer, No, json, text, typed};
use crate::hub::Hub;
use crate::{BAD_REQUEST, NOT_FOUND};

pub async fn about(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    let version = hub.view().version;
    let mut response = json(&About {
        service: "hence".to_owned(),
        release: hub.parts.release.to_owned(),
        version,
        token: access.0.name.clone(),
    });
    let tag = HeaderValue::from_str(&format!("\"{version}\"")).expect("a number is plain");
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    after: Option<u64>,
    limit: Option<usize>,
}

/// The history, the newest first; the next page is below `next`.
pub async fn entries(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Asked(pages): Asked<Pages>,
) -> Answer {
    access.must(Role::Read)?;
    let most = limit(pages.limit)?;
    let page = hub.look_up(move |service| {
        let newest = service.repository().version();
        let from = pages
            .after
            .map_or(newest, |after| after.saturating_sub(1).min(newest));
        let last = from.saturating_sub(most as u64);
        let mut items = Vec::new();
        for version in (last + 1..=from).rev() {
            items.extend(service.repository().entry(version)?);
        }
        let next = (last > 0).then(|| (last + 1).to_string());
        Ok(Page { items, next })
    });
    Ok(json(&page.await?))
}

pub async fn entry(State(hub): State<Arc<Hub>>, access: Access, At(version): At<u64>) -> Answer {
    access.must(Role::Read)?;
    let entry = hub
        .look_up(move |service| Ok(service.repository().entry(version)?))
        .await?;
    Ok(json(&entry.ok_or_else(|| no_version(version))?))
}

/// An entry as it is kept, to be compared with the hash that the next one has of it.
pub async fn entry_bytes(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(version): At<u64>,
) -> Answer {
    access.must(Role::Read)?;
    let bytes = hub
        .look_up(move |service| Ok(service.repository().store().entry(version)?))
        .await?;
    Ok(typed(
        "application/octet-stream",
        bytes.ok_or_else(|| no_version(version))?,
    ))
}

fn no_version(version: u64) -> No {
    No::new(
        hence_store::NO_SUCH_VERSION,
        format!("there is no version {version}"),
    )
}

pub async fn object(State(hub): State<Arc<Hub>>, access: Access, At(hash): At<String>) -> Answer {
    access.must(Role::Read)?;
    let hash = Hash::from_hex(&hash);
    let hash = hash.ok_or_else(|| No::new(BAD_REQUEST, "a hash has 64 hexadecimal digits"))?;
    let bytes = hub
        .work(move |service| Ok(service.repository().object(hash)?))
        .await?;
    let bytes = bytes.ok_or_else(|| No::new(NOT_FOUND, "there is no such object"))?;
    Ok(typed("application/octet-stream", bytes))
}

/// How many objects are sent at once.
const MOST_OBJECTS: usize = 4096;

pub async fn objects(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Sent(wanted): Sent<words::Wanted>,
) -> Answer {
    access.must(Role::Read)?;
    if wanted.hashes.len() > MOST_OBJECTS {
        return Err(No::new(
            BAD_REQUEST,
            format!("at most {MOST_OBJECTS} objects are sent at once"),
        ));
    }
    let bytes = hub.work(move |service| {
        let mut bytes = Vec::new();
        for hash in wanted.hashes {
            let object = service.repository().object(hash)?;
            frames::push(&mut bytes, object.as_deref());
        }
        Ok(bytes)
    });
    Ok(typed("application/octet-stream", bytes.await?))
}

pub async fn hashes(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Read)?;
    let hashes = hub
        .work(|service| Ok(service.repository().store().hashes()?))
        .await?;
    Ok(json(&hashes))
}

pub async fn snapshots(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Read)?;
    let snapshots = hub.work(|service| {
        let head = service.repository().head();
        Ok(head
            .map(|entry| entry.snapshots.clone())
            .unwrap_or_default())
    });
    Ok(json(&snapshots.await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looking {
    at: Option<u64>,
    under: Option<String>,
}

/// What is asserted, in the language of the commands.
pub async fn state(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Asked(looking): Asked<Looking>,
) -> Answer {
    let under = match &looking.under {
        None => None,
        Some(under) => {
            let names = Key::names_in(under)
                .ok_or_else(|| No::new(BAD_REQUEST, format!("`{under}` is not a key")))?;
            let key = Words
                .key(&names)
                .map_err(|fault| No::from(hence_model::diagnostic::Diagnostic::from(fault)))?;
            Some(key)
        }
    };
    access.must_see_under(under.as_ref())?;
    let past_hub = hub.clone();
    let written = hub.work(move |service| {
        let newest = service.repository().version();
        let past = match looking.at.filter(|at| *at != newest) {
            None => None,
            Some(at) => {
                past_hub.must_be_ready(service)?;
                Some(service.repository().state_at(at)?)
            }
        };
        let state = past.as_ref().unwrap_or(service.state());
        Ok(match under {
            None => state.to_string(),
            Some(key) => {
                let mut only = hence_ledger::State::default();
                for (key, assertion) in state.among(Keys::Under(key)) {
                    let command = hence_ledger::Command::Assert {
                        owner: assertion.owner.clone(),
                        key: key.clone(),
                        value: assertion.value.clone(),
                    };
                    only.perform(&command, assertion.since, &Words);
                }
                only.to_string()
            }
        })
    });
    Ok(text(written.await?))
}

#[derive(Serialize)]
struct Validation {
    nodes: BTreeMap<String, Vec<Wrong>>,
}

/// What is wrong on a node.
#[derive(Serialize)]
struct Wrong {
    code: &'static str,
    names: Vec<String>,
    message: String,
}

fn wrong(failures: &[hence_fleet::Failure]) -> BTreeMap<String, Vec<Wrong>> {
    let mut nodes: BTreeMap<String, Vec<Wrong>> = BTreeMap::new();
    for failure in failures {
        nodes
            .entry(failure.node.to_string())
            .or_default()
            .push(Wrong {
                code: failure.code.name,
                names: failure.names.iter().map(ToString::to_string).collect(),
                message: failure.message(),
            });
    }
    nodes
}

/// What stands in the way of an activation, on every node.
pub async fn validation(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Read)?;
    let failures = hub.work(|service| Ok(service.head().validate())).await?;
    Ok(json(&Validation {
        nodes: wrong(&failures),
    }))
}

#[derive(Serialize)]
struct Planned {
    plan: String,
    nodes: BTreeMap<String, PlannedNode>,
    gone: Vec<String>,
    failures: BTreeMap<String, Vec<Wrong>>,
}

#[derive(Serialize)]
struct PlannedNode {
    parameters: BTreeMap<String, words::Difference>,
    restart: Vec<String>,
    reread: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Where {
    node: Option<String>,
    group: Option<String>,
    percent: Option<u8>,
}

/// What an activation would do.
pub async fn plan(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Asked(wanted): Asked<Where>,
) -> Answer {
    access.must(Role::Read)?;
    let extent = super::change::extent(words::Extent {
        nodes: wanted.node.into_iter().collect(),
        groups: wanted.group.into_iter().collect(),
        percent: wanted.percent,
    })?;
    let planned = hub.work(move |service| {
        let planned = service.plan(&extent)?;
        let mut nodes = BTreeMap::new();
        for (node, difference) in &planned.plan.nodes {
            let (parameters, restart, reread) = told(difference);
            nodes.insert(
                node.to_string(),
                PlannedNode {
                    parameters,
                    restart,
                    reread,
                },
            );
        }
        Ok(Planned {
            plan: planned.pair.to_string(),
            nodes,
            gone: planned.plan.gone.iter().map(ToString::to_string).collect(),
            failures: wrong(&planned.failures),
        })
    });
    Ok(json(&planned.await?))
}

/// A difference in words.
pub(super) fn told(
    difference: &hence_fleet::Difference,
) -> (
    BTreeMap<String, words::Difference>,
    Vec<String>,
    Vec<String>,
) {
    let value = |value: &Option<Resolved>| value.as_ref().map(ToString::to_string);
    let parameters = difference.parameters.iter().map(|changed| {
        let difference = words::Difference {
            before: value(&changed.before),
            after: value(&changed.after),
        };
        (changed.name.to_string(), difference)
    });
    let names = |names: &[ecow::EcoString]| names.iter().map(ToString::to_string).collect();
    (
        parameters.collect(),
        names(&difference.restart),
        names(&difference.reread),
    )
}
