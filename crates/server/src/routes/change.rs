//! Changes. What a token may is decided by the keys that are written, before anything happens.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use hence_api::words::{self, Commands, Doing};
use hence_fleet::token::Role;
use hence_fleet::{Kind, Words};
use hence_ledger::{Command, Hash, Key, Keys, Value, Vocabulary, parser};
use hence_model::diagnostic::Diagnostic;
use hence_model::source::Sources;
use hence_service::{Extent, Leave, Pair};
use hence_store::{Receipt, Refused};

use super::{At, Sent, if_match};
use crate::access::Access;
use crate::answer::{Answer, No, done, json};
use crate::hub::Hub;
use crate::{BAD_REQUEST, NOT_FOUND};

/// So long somebody may take to assert what they handed in, in milliseconds.
const RECEIPT_LASTS: u64 = 600_000;

pub async fn commit(
    State(hub): State<Arc<Hub>>,
    access: Access,
    headers: HeaderMap,
    Sent(commit): Sent<words::Commit>,
) -> Answer {
    access.must_write()?;
    let mut doing = commit.doing;
    doing.if_version = doing.if_version.or(if_match(&headers)?);
    let commands = commands(commit.commands, &doing.owner)?;
    for owner in owners(&commands, &doing.owner) {
        access.must_own(owner)?;
    }
    let take: Result<Vec<Key>, No> = commit.take.iter().map(|key| read_key(key)).collect();
    let mut handed_in = commit.handed_in;
    handed_in.retain(|one| hub.has_receipt(&access.0, one));
    let leave = Leave {
        take: take?,
        dormant: commit.dormant,
        bearer: Some((*access.0).clone()),
        handed_in,
    };
    let words: Vec<String> = commands.iter().map(Command::to_string).collect();
    let mut request = hub.request(&access.0, doing, &words.join("; "));
    for object in commit.objects {
        if Hash::of(&object.content) != object.hash {
            return Err(No::new(
                BAD_REQUEST,
                "an object does not have the hash that it came with",
            ));
        }
        request.objects.push((object.hash, object.content));
    }
    let import = commit.import;
    let done = hub.work(move |service| {
        let (receipt, told) = match import {
            false => (service.commit(&request, &commands, &leave)?, Vec::new()),
            true => service.import(&request, &commands, &leave)?,
        };
        Ok(done(&receipt, &told))
    });
    Ok(json(&done.await?))
}

/// The commands that were sent, every key in its one spelling.
fn commands(sent: Commands, owner: &str) -> Result<Vec<Command>, No> {
    match sent {
        Commands::Text(text) => {
            let mut sources = Sources::default();
            let file = sources
                .add("commands", &text)
                .map_err(|_| No::new(BAD_REQUEST, "the commands are too long"))?;
            let script = parser::parse(&sources, file, owner, &Words);
            let script = script.map_err(|mut troubles| {
                for trouble in &mut troubles {
                    // The text is on the other side: where it is wrong is told in words.
                    if let Some(label) = trouble.labels.first() {
                        let place = sources.location(label.span.start);
                        trouble.message = format!(
                            "line {}, column {}: {}",
                            place.line, place.column, trouble.message
                        );
                    }
                    trouble.labels.clear();
                }
                Refused::Because(troubles)
            })?;
            Ok(script.commands)
        }
        Commands::List(commands) => {
            for command in &commands {
                match command {
                    Command::Assert { key, value, .. } => same(key, value)?,
                    Command::Retract(Keys::Only(key) | Keys::Under(key)) => {
                        if read_key(key.as_str())? != *key {
                            return Err(misspelt(key));
                        }
                    }
                    Command::Apply { set, .. } => {
                        for (key, value) in set {
                            same(key, value)?;
                        }
                    }
                }
            }
            Ok(commands)
        }
    }
}

/// It must mean what it says.
fn same(key: &Key, value: &Value) -> Result<(), No> {
    let names = Key::names_in(key.as_str()).ok_or_else(|| misspelt(key))?;
    let meant = Words.assertion(&names, value.clone());
    let meant = meant.map_err(|fault| No::from(Diagnostic::from(fault)))?;
    match meant == (key.clone(), value.clone()) {
        true => Ok(()),
        false => Err(misspelt(key)),
    }
}

fn misspelt(key: &Key) -> No {
    No::new(BAD_REQUEST, format!("`{key}` is not in its one spelling"))
}

pub(super) fn read_key(text: &str) -> Result<Key, No> {
    let names = Key::names_in(text)
        .ok_or_else(|| No::new(BAD_REQUEST, format!("`{text}` is not a key")))?;
    Words
        .key(&names)
        .map_err(|fault| Diagnostic::from(fault).into())
}

/// On whose behalf commands write.
fn owners<'c>(commands: &'c [Command], owner: &'c str) -> Vec<&'c str> {
    let mut owners = vec![owner];
    for command in commands {
        match command {
            Command::Assert { owner, .. } | Command::Apply { owner, .. } => owners.push(owner),
            Command::Retract(_) => {}
        }
    }
    owners.dedup();
    owners
}

pub async fn undo(
    State(hub): State<Arc<Hub>>,
    access: Access,
    headers: HeaderMap,
    Sent(undo): Sent<words::Undo>,
) -> Answer {
    access.must_write()?;
    let mut doing = undo.doing;
    doing.if_version = doing.if_version.or(if_match(&headers)?);
    access.must_own(&doing.owner)?;
    let request = hub.request(&access.0, doing, "undo");
    let token = access.0;
    let done = hub.work(move |service| {
        let (receipt, told) = service.undo(&request, undo.version, Some(&token))?;
        Ok(done(&receipt, &told))
    });
    Ok(json(&done.await?))
}

pub async fn restore(
    State(hub): State<Arc<Hub>>,
    access: Access,
    headers: HeaderMap,
    Sent(restore): Sent<words::Restore>,
) -> Answer {
    access.must_write()?;
    let mut doing = restore.doing;
    doing.if_version = doing.if_version.or(if_match(&headers)?);
    access.must_own(&doing.owner)?;
    let request = hub.request(&access.0, doing, &format!("restore {}", restore.version));
    let token = access.0;
    let done = hub.work(move |service| {
        let (receipt, told) = service.restore(&request, restore.version, Some(&token))?;
        Ok(done(&receipt, &told))
    });
    Ok(json(&done.await?))
}

pub async fn name(
    State(hub): State<Arc<Hub>>,
    access: Access,
    At(name): At<String>,
    Sent(naming): Sent<words::Naming>,
) -> Answer {
    access.must(Role::Write)?;
    let request = hub.request(&access.0, naming.doing, &format!("snapshot {name}"));
    let done = hub.work(move |service| {
        let receipt = service.name(&request, &name, naming.version, &naming.annotation)?;
        Ok(done(&receipt, &[]))
    });
    Ok(json(&done.await?))
}

pub async fn unname(State(hub): State<Arc<Hub>>, access: Access, At(name): At<String>) -> Answer {
    access.must(Role::Write)?;
    let request = hub.request(&access.0, Doing::default(), &format!("forget {name}"));
    let done = hub.work(move |service| {
        let receipt = service.unname(&request, &name)?;
        Ok(done(&receipt, &[]))
    });
    Ok(json(&done.await?))
}

/// Which nodes are meant.
pub(super) fn extent(said: words::Extent) -> Result<Extent, No> {
    Extent::try_from(said).map_err(|message| No::new(BAD_REQUEST, message))
}

pub async fn activate(
    State(hub): State<Arc<Hub>>,
    access: Access,
    headers: HeaderMap,
    Sent(activation): Sent<words::Activation>,
) -> Answer {
    let mut doing = activation.doing;
    doing.if_version = doing.if_version.or(if_match(&headers)?);
    let extent = extent(activation.extent)?;
    match &extent {
        Extent::Some { nodes, groups } => {
            let nodes = nodes.iter().map(|node| Kind::Node.key(node));
            let groups = groups.iter().map(|group| Kind::Group.key(group));
            for key in nodes.chain(groups) {
                access.must_with(Role::Activate, &Keys::Under(key))?;
            }
        }
        Extent::Everything | Extent::Percent(_) => access.must(Role::Activate)?,
    }
    let plan: Option<Pair> = match activation.plan.as_deref().map(str::parse) {
        None => None,
        Some(Ok(plan)) => Some(plan),
        Some(Err(message)) => return Err(No::new(BAD_REQUEST, message)),
    };
    let request = hub.request(&access.0, doing, "activate");
    let activated = hub.work(move |service| {
        let activated = service.activate(&request, &extent, plan)?;
        Ok(words::Activated {
            version: match &activated.receipt {
                Receipt::Done(done) => Some(done.version),
                Receipt::Nothing => None,
            },
            plan: activated.pair.to_string(),
            changed: activated.changed.iter().map(ToString::to_string).collect(),
        })
    });
    Ok(json(&activated.await?))
}

pub async fn seal(
    State(hub): State<Arc<Hub>>,
    access: Access,
    Sent(secret): Sent<words::Secret>,
) -> Answer {
    access.must_write()?;
    let Some(seal) = &hub.parts.seal else {
        return Err(No::new(NOT_FOUND, "this server has no key to seal with"));
    };
    let sealed = seal.seal(&secret.text);
    let until = hub.now().saturating_add(RECEIPT_LASTS);
    Ok(json(&words::Sealed {
        receipt: seal.receipt(&sealed, &access.0.name, until),
        fingerprint: sealed.fingerprint.to_string(),
        content: sealed.content.to_string(),
    }))
}
