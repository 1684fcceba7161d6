//! Tokens over the network: how a newcomer gets its own, and how administrators give and take them.

use std::sync::Arc;

use axum::extract::State;
use hence_api::words::{self, Doing, Enrolled, Enrolment};
use hence_fleet::Kind;
use hence_fleet::token::{Bearer, Role, TOKEN, Token};
use hence_ledger::key::fold;
use hence_ledger::{Command, Key, Keys, Value, Vocabulary};
use hence_model::diagnostic::Diagnostic;
use hence_service::Leave;
use hence_store::Request;
use serde::{Deserialize, Serialize};

use super::{At, Sent};
use crate::access::Access;
use crate::answer::{Answer, No, done, json};
use crate::hub::Hub;
use crate::{BAD_REQUEST, ENROLLED, NOT_FOUND, new_token, sum};

/// Whose assertions tokens are.
const OWNER: &str = "access";

/// Trades an enrolment token for a node's own. Each node does that once.
pub async fn enrol(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Sent(Enrolment { node }): Sent<Enrolment>,
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
    let own = new_token(&*hub.parts.random);
    let key = Key::new([TOKEN, &format!("node-{}", fold(&node))]);
    let assert = |key: &Key, value: Value| Command::Assert {
        owner: OWNER.into(),
        key: key.clone(),
        value,
    };
    let commands = [
        assert(&key, Value::text(sum(&own))),
        assert(&key.child("node"), Value::text(fold(&node))),
    ];
    let request = hub.request(&access.0, Doing::default(), &format!("enrol {node}"));
    let name = hub.work(move |service| {
        if service.state().get(&key).is_some() {
            let message = format!("the node `{node}` has a token of its own already");
            let no = No::new(ENROLLED, message);
            return Err(no.help("an administrator can take it: `hence token revoke node-NODE`"));
        }
        service.walk_in(&request, &node, &commands)?;
        let spelling = service.head().spelling(Kind::Node, &node);
        Ok(spelling.map_or(node, |name| name.to_string()))
    });
    Ok(json(&Enrolled {
        node: name.await?,
        token: own,
    }))
}

/// What a new token is to be.
#[derive(Deserialize)]
pub struct Wanted {
    name: String,
    #[serde(default)]
    may: Vec<Grant>,
    owner: Option<String>,
    /// It trades itself for a node's own.
    #[serde(default)]
    join: bool,
    node: Option<String>,
    /// After so many seconds it is worth nothing.
    lasts: Option<u64>,
}

#[derive(Deserialize)]
struct Grant {
    role: String,
    #[serde(default)]
    keys: Vec<String>,
}

#[derive(Serialize)]
struct Made {
    name: String,
    /// Told this once.
    token: String,
}

pub async fn add(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Sent(wanted): Sent<Wanted>,
) -> Answer {
    access.must(Role::Administer)?;
    let token = new_token(&*hub.parts.random);
    let commands = wanted.commands(&token, hub.now())?;
    let request = asked(&hub, &access.0, &format!("token add {}", wanted.name));
    let name = wanted.name;
    let key = Key::new([TOKEN, &fold(&name)]);
    hub.work(move |service| {
        if service.state().get(&key).is_some() {
            let message = format!(
                "there is a token `{}` already",
                key.names().nth(1).unwrap_or_default()
            );
            return Err(No::new(hence_ledger::admission::TAKEN, message)
                .help("`hence token revoke` takes it"));
        }
        service.commit(&request, &commands, &Leave::default())?;
        Ok(())
    })
    .await?;
    Ok(json(&Made { name, token }))
}

impl Wanted {
    fn commands(&self, token: &str, now: u64) -> Result<Vec<Command>, No> {
        let mut commands = Vec::new();
        let mut assert = |below: &[&str], value: Value| {
            let names = [TOKEN, &self.name].into_iter().chain(below.iter().copied());
            let names: Vec<String> = names.map(str::to_owned).collect();
            let meant = hence_fleet::Words.assertion(&names, value);
            let (key, value) = meant.map_err(|fault| No::from(Diagnostic::from(fault)))?;
            let owner = OWNER.into();
            commands.push(Command::Assert { owner, key, value });
            Ok::<(), No>(())
        };
        assert(&[], Value::text(sum(token)))?;
        for grant in &self.may {
            let Some(role) = Role::of(&grant.role) else {
                return Err(No::new(
                    BAD_REQUEST,
                    format!("there is no role `{}`", grant.role),
                ));
            };
            let value = match grant.keys.is_empty() {
                true => Value::Nothing,
                false => Value::text(grant.keys.join(" ")),
            };
            assert(&["may", role.word()], value)?;
        }
        if let Some(owner) = &self.owner {
            assert(&["owner"], Value::text(owner.as_str()))?;
        }
        if let Some(node) = &self.node {
            assert(&["node"], Value::text(node.as_str()))?;
        }
        if self.join {
            assert(&["join"], Value::Nothing)?;
        }
        if let Some(lasts) = self.lasts {
            let end = now.saturating_add(lasts.saturating_mul(1000));
            assert(&["expires"], Value::text(end.to_string()))?;
        }
        Ok(commands)
    }
}

fn asked(hub: &Hub, token: &Token, words: &str) -> Request {
    let doing = Doing {
        owner: OWNER.to_owned(),
        ..Doing::default()
    };
    hub.request(token, doing, words)
}

#[derive(Serialize)]
struct Told {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    may: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<u64>,
}

pub async fn list(State(hub): State<Arc<Hub>>, access: Access) -> Answer {
    access.must(Role::Administer)?;
    let view = hub.view();
    let told = |token: &Token| {
        let (kind, may, node) = match &token.bearer {
            Bearer::Node(node) => ("node", Vec::new(), Some(node.clone())),
            Bearer::Newcomer(node) => ("join", Vec::new(), node.clone()),
            Bearer::Someone { may, .. } => {
                let may = may.iter().map(|(role, keys)| {
                    let keys = keys.iter().map(|key| format!(" {key}"));
                    format!("{}{}", role.word(), keys.collect::<String>())
                });
                ("bearer", may.collect(), None)
            }
        };
        Told {
            name: token.name.clone(),
            kind,
            may,
            node,
            expires: token.expires,
        }
    };
    let mut tokens: Vec<Told> = view.tokens.values().map(|token| told(token)).collect();
    tokens.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(json(&tokens))
}

pub async fn revoke(State(hub): State<Arc<Hub>>, access: Access, At(name): At<String>) -> Answer {
    access.must(Role::Administer)?;
    let key = Key::new([TOKEN, &fold(&name)]);
    let request = asked(&hub, &access.0, &format!("token revoke {name}"));
    let told: words::Done = hub
        .work(move |service| {
            if service.state().get(&key).is_none() {
                return Err(No::new(NOT_FOUND, format!("there is no token `{name}`")));
            }
            let leave = Leave {
                take: vec![key.clone()],
                ..Leave::default()
            };
            let receipt =
                service.commit(&request, &[Command::Retract(Keys::Under(key))], &leave)?;
            Ok(done(&receipt, &[]))
        })
        .await?;
    Ok(json(&told))
}
