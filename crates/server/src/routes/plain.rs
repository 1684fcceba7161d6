//! Plain text, for those who only read.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use hence_fleet::token::Role;

use super::At;
use super::nodes::{self, Which};
use crate::access::Access;
use crate::answer::{Answer, text, typed};
use crate::hub::{self, Hub};
use crate::metrics::Gauges;

/// What a node is to run.
pub async fn config(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
    headers: HeaderMap,
) -> Answer {
    let reader = access.must_see(&node)?;
    let served = hub
        .served(&node, reader)
        .await?
        .ok_or_else(|| nodes::no_node(&node))?;
    if nodes::is_known(&headers, &served.tag) {
        return Ok(nodes::unchanged(served.tag.clone()));
    }
    let mut response = text(served.text.clone());
    response
        .headers_mut()
        .insert(header::ETAG, served.tag.clone());
    Ok(response)
}

/// What it was to run at a version.
pub async fn config_at(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At((node, version)): At<(String, u64)>,
) -> Answer {
    let reader = access.must_see(&node)?;
    let configuration = nodes::configuration(&hub, node, Which::at(version), reader).await?;
    Ok(text(hub::text(&configuration)))
}

/// What it would be to run if all that is asserted were activated.
pub async fn current_config(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(node): At<String>,
) -> Answer {
    let reader = access.must_see(&node)?;
    let configuration = nodes::configuration(&hub, node, Which::head(), reader).await?;
    let written = hub::text(&configuration).replacen(", version 0\n", ", not activated\n", 1);
    Ok(text(written))
}

/// What changed since a version, as comments, and then what it is to run now.
pub async fn changes(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At((node, since)): At<(String, u64)>,
) -> Answer {
    let reader = access.must_see(&node)?;
    let changes = nodes::changed(&hub, node.clone(), since).await?;
    let mut written = String::new();
    for (name, difference) in &changes.parameters {
        let (sign, value) = match (&difference.before, &difference.after) {
            (Some(before), None) => ("-", before),
            (None, Some(after)) => ("+", after),
            (_, Some(after)) => ("~", after),
            (None, None) => continue,
        };
        let _ = writeln!(
            written,
            "# {sign} {name} = {}",
            value.replace('\n', "\n#   ")
        );
    }
    for (verb, subsystems) in [("restart", &changes.restart), ("re-read", &changes.reread)] {
        if !subsystems.is_empty() {
            let _ = writeln!(written, "# {verb} {}", subsystems.join(", "));
        }
    }
    let now = nodes::configuration(&hub, node, Which::at(hub.view().version), reader).await?;
    written.push_str(&hub::text(&now));
    Ok(text(written))
}

/// What is counted.
pub async fn metrics(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Read)?;
    let view = hub.view();
    let gauges = Gauges {
        version: view.version,
        nodes: view.nodes,
        tokens: view.tokens.len(),
    };
    Ok(typed(
        "text/plain; version=0.0.4",
        hub.metrics.text(&gauges),
    ))
}

/// Whether it answers; that, and whether it can do more, is all that is told to everybody.
pub async fn health() -> Answer {
    Ok(text("ok\n"))
}

/// Whether it can change the ledger, and knows what others did to it.
pub async fn ready(State(hub): State<Arc<Hub>>) -> Answer {
    match hub.is_ready() {
        true => Ok(text("ready\n")),
        false => {
            let away = "the store of the ledger does not answer: what is known is served";
            Err(hence_store::Error::new(hence_store::FAILED, away).into())
        }
    }
}
