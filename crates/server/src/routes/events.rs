//! What happens, as it happens: server-sent events. Whoever was away says which version they heard of last, and hears the
//! rest first.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use hence_fleet::token::Role;
use hence_ledger::key::fold;
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::Asked;
use crate::BAD_REQUEST;
use crate::access::Access;
use crate::answer::{Answer, No, typed};
use crate::hub::{Counted, Happened, Hub, happened};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whom {
    node: Option<String>,
}

/// After so long without news, a word that there are none.
const SILENCE: Duration = Duration::from_secs(15);

/// So many versions are looked back at in one step: whoever was away for long keeps nobody else waiting for long.
const PAGE: u64 = 100;

pub async fn events(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Asked(whom): Asked<Whom>,
    Extension(stopped): Extension<watch::Receiver<bool>>,
    headers: HeaderMap,
) -> Answer {
    match &whom.node {
        Some(node) => drop(access.must_see(node)?),
        None => access.must(Role::Read)?,
    }
    let last = heard_last(&headers)?;
    // First listen, then look back: nothing falls between.
    let news = hub.happened.subscribe();
    let newest = hub.view().version;
    let heard = match last {
        // Whoever heard of what is still to come heard it of another ledger, such as one that was lost: all is new to them.
        Some(last) if last > newest => 0,
        Some(last) => last,
        None => newest,
    };
    let missed = missed(&hub, heard, newest).await?;
    let watcher = Watcher {
        node: whom.node.as_deref().map(fold),
        heard,
        missed,
        upto: newest,
        news,
        stopped,
        hub: hub.clone(),
        greeted: false,
        _counted: Counted::new(&hub, |metrics| &metrics.watchers),
    };
    let mut response = typed("text/event-stream", Body::from_stream(stream(watcher)));
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The version that somebody heard of last.
fn heard_last(headers: &HeaderMap) -> Result<Option<u64>, No> {
    let Some(id) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let version = id.to_str().ok().and_then(|id| id.parse().ok());
    match version {
        Some(version) => Ok(Some(version)),
        None => Err(No::new(
            BAD_REQUEST,
            "`Last-Event-ID` holds the version that was heard of last",
        )),
    }
}

/// The first of what happened behind a version, up to another, the oldest last.
async fn missed(hub: &Arc<Hub>, heard: u64, upto: u64) -> Result<Vec<Arc<Happened>>, No> {
    if heard >= upto {
        return Ok(Vec::new());
    }
    hub.look_up(move |service| {
        let last = upto.min(heard.saturating_add(PAGE));
        let mut missed = Vec::new();
        for version in (heard + 1..=last).rev() {
            let entry = service.repository().entry(version)?;
            missed.extend(entry.map(|entry| Arc::new(happened(&entry))));
        }
        Ok(missed)
    })
    .await
}

struct Watcher {
    node: Option<String>,
    heard: u64,
    /// What is to be told next, the oldest last.
    missed: Vec<Arc<Happened>>,
    /// The version up to which the history is to be told before what is news.
    upto: u64,
    news: broadcast::Receiver<Arc<Happened>>,
    stopped: watch::Receiver<bool>,
    hub: Arc<Hub>,
    greeted: bool,
    _counted: Counted,
}

fn stream(watcher: Watcher) -> impl futures_core::Stream<Item = Result<Bytes, Infallible>> {
    futures_util::stream::unfold(watcher, |mut watcher| async move {
        let bytes = watcher.next().await?;
        Some((Ok(bytes), watcher))
    })
}

impl Watcher {
    /// The next words; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.greeted {
            self.greeted = true;
            return Some(Bytes::from_static(b": watching\n\n"));
        }
        loop {
            let event = match self.missed.pop() {
                Some(event) => event,
                None if self.heard < self.upto => {
                    self.missed = missed(&self.hub, self.heard, self.upto).await.ok()?;
                    // A history without a next entry is at its end.
                    if self.missed.is_empty() {
                        return None;
                    }
                    continue;
                }
                None => tokio::select! {
                    news = self.news.recv() => match news {
                        Ok(event) => event,
                        Err(RecvError::Closed) => return None,
                        Err(RecvError::Lagged(_)) => {
                            self.upto = self.hub.view().version;
                            continue;
                        }
                    },
                    () = stop(&mut self.stopped) => return None,
                    () = tokio::time::sleep(SILENCE) => return Some(Bytes::from_static(b": nothing new\n\n")),
                },
            };
            if event.version <= self.heard {
                continue;
            }
            self.heard = event.version;
            if self.node.as_ref().is_none_or(|node| event.concerns(node)) {
                let Happened {
                    version,
                    kind,
                    data,
                    ..
                } = &*event;
                return Some(format!("id: {version}\nevent: {kind}\ndata: {data}\n\n").into());
            }
        }
    }
}

/// Until the server stops.
async fn stop(stopped: &mut watch::Receiver<bool>) {
    // If nobody is left who could say it, it is over, too.
    let _ = stopped.wait_for(|stopped| *stopped).await.map(|_| ());
}
