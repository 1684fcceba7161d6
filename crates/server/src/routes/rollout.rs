//! Activations in stages.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use hence_api::words::{self, Doing};
use hence_fleet::token::Role;
use hence_service::rollout::{NONE, Order};

use super::{At, Sent, if_match};
use crate::NOT_FOUND;
use crate::access::Access;
use crate::answer::{Answer, No, done, json};
use crate::hub::Hub;

/// How far it is.
pub async fn rollout(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Read)?;
    let told = hub.work(|service| Ok(service.rollout_told()?)).await?;
    match told {
        Some(told) => Ok(json(&told)),
        None => {
            let message = "there is no rollout, or something else was activated since";
            Err(No::new(NONE, message))
        }
    }
}

pub async fn begin(
    State(hub): State<Arc<Hub>>,
    access: Access,
    headers: HeaderMap,
    Sent(mut wanted): Sent<words::NewRollout>,
) -> Answer {
    access.must(Role::Activate)?;
    let mut doing = std::mem::take(&mut wanted.doing);
    doing.if_version = doing.if_version.or(if_match(&headers)?);
    let request = hub.request(&access.0, doing, "rollout start");
    let done = hub.work(move |service| {
        let receipt = service.begin_rollout(&request, &wanted)?;
        Ok(done(&receipt, &[]))
    });
    Ok(json(&done.await?))
}

pub async fn order(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(order): At<String>,
    headers: HeaderMap,
    Sent(mut doing): Sent<Doing>,
) -> Answer {
    access.must(Role::Activate)?;
    let Some(order) = Order::of(&order) else {
        return Err(No::new(NOT_FOUND, "a rollout cannot be told that"));
    };
    doing.if_version = doing.if_version.or(if_match(&headers)?);
    let request = hub.request(&access.0, doing, &format!("rollout {}", order.word()));
    let done = hub.work(move |service| {
        let receipt = service.order_rollout(&request, order)?;
        Ok(done(&receipt, &[]))
    });
    Ok(json(&done.await?))
}
