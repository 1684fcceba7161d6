//! The page of the service: what it knows, for people with a browser.
//!
//! ```text
//! html       markup is ours, everything else is text
//! session    who is signed in; forms are ours
//! shell      what is around every page, and how they are sent
//! value      values as people read them
//! nodes why fleet plan history search     the pages
//! events     when to look again
//! ```
//!
//! Everything is rendered here and works without a script; with one, what is shown follows what happens.

mod drawing;
mod events;
mod fleet;
mod history;
mod html;
mod nodes;
mod plan;
mod search;
mod session;
mod shell;
mod value;
mod why;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::hub::Hub;

pub(crate) use shell::{is_for_people, nothing};

/// So many bytes a form may have.
const LARGEST_FORM: usize = 64 << 10;

/// Every page.
pub(crate) fn router(hub: &Arc<Hub>) -> Router<Arc<Hub>> {
    Router::new()
        .route("/", get(nodes::list))
        .route("/nodes/{node}", get(nodes::node))
        .route("/nodes/{node}/why/{parameter}", get(why::why))
        .route("/fleet", get(fleet::fleet))
        .route("/groups/{name}", get(fleet::group))
        .route("/features/{name}", get(fleet::feature))
        .route("/plan", get(plan::plan).post(plan::activate))
        .route("/history", get(history::list))
        .route("/history/{version}", get(history::entry))
        .route("/history/{version}/undo", post(history::undo))
        .route("/search", get(search::search))
        .route("/sign-in", get(session::form).post(session::sign_in))
        .route("/sign-out", post(session::sign_out))
        .route("/events", get(events::events))
        .route("/assets/{name}", get(shell::asset))
        .layer(DefaultBodyLimit::max(LARGEST_FORM))
        .layer(from_fn_with_state(hub.clone(), shell::dress))
}
