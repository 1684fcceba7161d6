//! Tokens over the network: how a newcomer gets its own, and how administrators give and take them.

use std::sync::Arc;

use axum::extract::State;
use hence_api::words::{Doing, Enrolled, Enrolment, ListedToken, MadeToken, NewToken};
use hence_fleet::Kind;
use hence_fleet::token::{Bearer, Role, TOKEN};
use hence_ledger::key::fold;
use hence_ledger::{Command, Key, Value, Vocabulary};
use hence_model::diagnostic::Diagnostic;
use hence_model::legible;
use hence_service::access::{self, OWNER};

use super::{At, Sent};
use crate::access::Access;
use crate::answer::{Answer, No, done, json};
use crate::hub::Hub;
use crate::{BAD_REQUEST, ENROLLED, is_token, new_token, sum};

/// Takes, for an enrolment token, the one that a node made for itself. Each node does that once; whoever got no answer may
/// say the same again.
pub async fn enrol(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Sent(Enrolment { node, token }): Sent<Enrolment>,
) -> Answer {
    match &access.0.bearer {
        Bearer::Newcomer(None) => {}
        Bearer::Newcomer(Some(only)) if *only == fold(&node) => {}
        Bearer::Newcomer(Some(only)) => {
            return Err(access.no(&format!("is for the node `{only}` only")));
        }
        _ => return Err(access.no("is no enrolment token")),
    }
    let names = ["node".to_owned(), node.clone()];
    hence_fleet::Words
        .key(&names)
        .map_err(|fault| No::from(Diagnostic::from(fault)))?;
    if !is_token(&token) {
        let message = "a node's token is `hence_` and 64 hexadecimal digits, made by chance";
        return Err(No::new(BAD_REQUEST, message));
    }
    let own = Value::text(sum(&token));
    let key = Key::new([TOKEN, &format!("node-{}", fold(&node))]);
    let assert = |key: &Key, value: Value| Command::Assert {
        owner: OWNER.into(),
        key: key.clone(),
        value,
    };
    let commands = [
        assert(&key, own.clone()),
        assert(&key.child("node"), Value::text(fold(&node))),
    ];
    let request = hub.request(&access.0, Doing::default(), &format!("enrol {node}"));
    let name = hub.work(move |service| {
        match service.state().get(&key) {
            None => service.walk_in(&request, &node, &commands)?,
            // Nobody else knows it.
            Some(assertion) if assertion.value == own => {}
            Some(_) => {
                let message = format!("the node `{node}` has a token of its own already");
                let no = No::new(ENROLLED, message);
                let token = format!("node-{}", fold(&node));
                let token = legible::word(&token);
                return Err(no.help(&format!(
                    "an administrator can take it: `hence token revoke {token}`"
                )));
            }
        }
        let spelling = service.head().spelling(Kind::Node, &node);
        Ok(spelling.map_or(node, |name| name.to_string()))
    });
    Ok(json(&Enrolled { node: name.await? }))
}

pub async fn add(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Sent(wanted): Sent<NewToken>,
) -> Answer {
    access.must(Role::Administer)?;
    let token = new_token(&*hub.parts.random);
    let sum = sum(&token);
    let request = hub.request(
        &access.0,
        Doing::default(),
        &format!("token add {}", wanted.name),
    );
    let name = wanted.name.clone();
    hub.work(move |service| Ok(service.add_token(&request, &wanted, &sum)?))
        .await?;
    Ok(json(&MadeToken { name, token }))
}

pub async fn list(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Administer)?;
    let view = hub.view();
    let mut tokens: Vec<ListedToken> = view
        .tokens
        .values()
        .map(|token| access::listed(token))
        .collect();
    tokens.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(json(&tokens))
}

pub async fn revoke(State(hub): State<Arc<Hub>>, access: Access, At(name): At<String>) -> Answer {
    access.must(Role::Administer)?;
    let request = hub.request(&access.0, Doing::default(), &format!("token revoke {name}"));
    let token = access.0;
    let told = hub.work(move |service| {
        let receipt = service.revoke_token(&request, &name, Some(&token))?;
        Ok(done(&receipt, &[]))
    });
    Ok(json(&told.await?))
}
