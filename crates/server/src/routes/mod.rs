//! What can be asked.

mod change;
mod events;
mod ledger;
mod nodes;
mod plain;
mod rollout;
mod tokens;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use hence_api::{VERSION, words};
use hence_model::diagnostic::similar;
use serde::de::{DeserializeOwned, IgnoredAny};
use tokio::sync::watch;

use crate::answer::{No, typed};
use crate::hub::Hub;
use crate::page;
use crate::{BAD_REQUEST, NOT_FOUND, OTHER_API, TOO_LARGE, TOO_SLOW};

/// The document that describes all of this.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

/// Every route.
pub(crate) fn router(hub: &Arc<Hub>, stopped: watch::Receiver<bool>) -> Router {
    let api = Router::new()
        .route("/", get(ledger::about))
        .route(
            "/openapi.json",
            get(|| async { typed("application/json", OPENAPI) }),
        )
        .route("/entries", get(ledger::entries))
        .route("/entries/{version}", get(ledger::entry))
        .route("/entries/{version}/bytes", get(ledger::entry_bytes))
        .route("/objects", get(ledger::hashes).post(ledger::objects))
        .route("/objects/{hash}", get(ledger::object))
        .route("/state", get(ledger::state))
        .route("/validation", get(ledger::validation))
        .route("/plan", get(ledger::plan))
        .route("/commits", post(change::commit))
        .route("/undo", post(change::undo))
        .route("/restore", post(change::restore))
        .route("/snapshots", get(ledger::snapshots))
        .route(
            "/snapshots/{name}",
            put(change::name).delete(change::unname),
        )
        .route("/activations", post(change::activate))
        .route("/rollout", get(rollout::rollout).post(rollout::begin))
        .route("/rollout/{order}", post(rollout::order))
        .route("/seal", post(change::seal))
        .route("/nodes", get(nodes::list))
        .route("/nodes/{node}", get(nodes::node))
        .route("/nodes/{node}/config", get(nodes::config))
        .route("/nodes/{node}/changes", get(nodes::changes))
        .route("/nodes/{node}/contents", post(nodes::contents))
        .route("/nodes/{node}/explain", get(nodes::explain))
        .route("/nodes/{node}/report", get(nodes::report))
        .route("/nodes/{node}/check-in", post(nodes::check_in))
        .route("/reports", get(nodes::reports))
        .route("/enrolments", post(tokens::enrol))
        .route("/tokens", get(tokens::list).post(tokens::add))
        .route("/tokens/{name}", delete(tokens::revoke))
        .route("/events", get(events::events));
    Router::new()
        .nest("/api/v1", api)
        .route("/api/v1/", get(ledger::about))
        .route("/config/{node}", get(plain::config))
        .route("/config/{node}/at/{version}", get(plain::config_at))
        .route("/current-config/{node}", get(plain::current_config))
        .route("/changes-to/{node}/since/{version}", get(plain::changes))
        .route("/metrics", get(plain::metrics))
        .route("/health", get(plain::health))
        .route("/ready", get(plain::ready))
        .merge(page::router(hub))
        .fallback(nothing)
        .method_not_allowed_fallback(|| async {
            let no = No::new(NOT_FOUND, "that cannot be done with this address");
            no.with(StatusCode::METHOD_NOT_ALLOWED)
        })
        .layer(DefaultBodyLimit::max(hub.parts.limits.body))
        .layer(axum::Extension(stopped))
        .with_state(hub.clone())
}

/// Where there is nothing, people are shown that, and programs are told.
async fn nothing(State(hub): State<Arc<Hub>>, request: Request) -> Response {
    match page::is_for_people(&request) {
        true => page::nothing(&hub, &request),
        false => match asked_version(request.uri().path()) {
            Some(version) => other_api(&hub, version).into_response(),
            None => No::new(NOT_FOUND, "there is nothing at this address").into_response(),
        },
    }
}

/// The version of the API that a path is of, if it is not ours.
fn asked_version(path: &str) -> Option<u32> {
    let version = path.strip_prefix("/api/v")?.split('/').next()?;
    version.parse().ok().filter(|version| *version != VERSION)
}

/// Whoever speaks another version is told by both sides' words what to do: every version of a client shows what it is told.
fn other_api(hub: &Hub, version: u32) -> No {
    let release = hub.parts.release;
    let message =
        format!("this server, Hence {release}, speaks version {VERSION} of the API, not {version}");
    No::new(OTHER_API, message).help(&match version > VERSION {
        true => format!("upgrade the server, or use Hence {release} here"),
        false => format!("upgrade Hence here to {release}"),
    })
}

/// What was sent, in JSON.
pub(crate) struct Sent<T>(pub T);

impl<T: DeserializeOwned + words::Asked> FromRequest<Arc<Hub>> for Sent<T> {
    type Rejection = No;

    async fn from_request(request: Request, hub: &Arc<Hub>) -> Result<Self, No> {
        let read =
            tokio::time::timeout(hub.parts.limits.patience, Bytes::from_request(request, hub))
                .await;
        let bytes = match read {
            Err(_) => return Err(No::new(TOO_SLOW, "what was sent took too long to arrive")),
            Ok(Err(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                let most = hub.parts.limits.body;
                let message = format!("more was sent than the {most} bytes that are read");
                return Err(No::new(TOO_LARGE, message));
            }
            Ok(Err(error)) => return Err(No::new(BAD_REQUEST, error.body_text())),
            Ok(Ok(bytes)) => bytes,
        };
        let body = match bytes.is_empty() {
            true => b"{}",
            false => &bytes[..],
        };
        // A list would be taken for the fields in their order, which is nobody's promise.
        if body.trim_ascii_start().first() == Some(&b'[') {
            let message = "what was sent is a list, and must be an object";
            return Err(No::new(BAD_REQUEST, message));
        }
        let unclear = |error: serde_json::Error| {
            let message = format!("what was sent cannot be understood: {error}");
            No::new(BAD_REQUEST, message)
        };
        // A field that is misspelt is not told to be missing.
        let fields: BTreeMap<String, IgnoredAny> = serde_json::from_slice(body).map_err(unclear)?;
        must_be_known(&fields, T::FIELDS)?;
        serde_json::from_slice(body).map(Sent).map_err(unclear)
    }
}

/// Every field that is sent must have a meaning.
fn must_be_known(sent: &BTreeMap<String, IgnoredAny>, known: &[&[&str]]) -> Result<(), No> {
    let known: Vec<&str> = known.concat();
    let mut unknown = sent.keys().filter(|field| !known.contains(&field.as_str()));
    match unknown.next() {
        Some(field) if !known.is_empty() => {
            let no = No::new(BAD_REQUEST, format!("there is no field `{field}` here"));
            Err(
                no.help(&match similar(field, known.iter().copied()).first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are `{}`", known.join("`, `")),
                }),
            )
        }
        _ => Ok(()),
    }
}

/// What stands behind the question mark.
pub(crate) struct Asked<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Hub>> for Asked<T> {
    type Rejection = No;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, No> {
        let read = Query::<T>::from_request_parts(parts, hub).await;
        let read = read.map_err(|error| {
            let text = error.body_text();
            // The library's words before the reason say nothing to whoever asks.
            let reason = text
                .rsplit_once("query string: ")
                .map_or(&*text, |(_, why)| why);
            let message = format!("what stands behind `?` cannot be understood: {reason}");
            No::new(BAD_REQUEST, message)
        });
        read.map(|Query(asked)| Self(asked))
    }
}

/// What is in the path.
pub(crate) struct At<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<Hub>> for At<T> {
    type Rejection = No;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, No> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, hub).await;
        let read = read.map_err(|_| {
            let message = "something in this address is not what belongs there, such as a number";
            No::new(BAD_REQUEST, message)
        });
        read.map(|axum::extract::Path(at)| Self(at))
    }
}

/// The version that `If-Match` asks for.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<Option<u64>, No> {
    let Some(value) = headers.get(header::IF_MATCH) else {
        return Ok(None);
    };
    let version = value.to_str().ok().map(|text| text.trim_matches('"'));
    match version.and_then(|text| text.parse().ok()) {
        Some(version) => Ok(Some(version)),
        None => Err(No::new(
            BAD_REQUEST,
            "`If-Match` holds the version of the ledger in quotes",
        )),
    }
}

/// How much is on a page, if nobody says.
const PAGE: usize = 100;
/// How much is on a page at most.
const LONGEST_PAGE: usize = 1000;

/// How many are wanted.
pub(crate) fn limit(wanted: Option<usize>) -> Result<usize, No> {
    match wanted {
        Some(0) => Err(No::new(BAD_REQUEST, "`limit` is at least 1")),
        wanted => Ok(wanted.unwrap_or(PAGE).min(LONGEST_PAGE)),
    }
}
