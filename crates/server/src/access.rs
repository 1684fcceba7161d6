//! Whose token it is, and what it may.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hence_fleet::Kind;
use hence_fleet::token::{Bearer, Role, Token};
use hence_ledger::key::fold;
use hence_ledger::{Key, Keys};

use crate::answer::No;
use crate::connection::Transport;
use crate::hub::{Hub, Reader};
use crate::{FORBIDDEN, UNAUTHORISED};

/// From where a request came.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub IpAddr);

/// Whose token a request bears. The log learns its name.
#[derive(Clone)]
pub(crate) struct Access(pub Arc<Token>);

/// The name of the token, for the log.
#[derive(Clone, Default)]
pub(crate) struct Name(pub Arc<std::sync::OnceLock<String>>);

impl FromRequestParts<Arc<Hub>> for Access {
    type Rejection = No;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, No> {
        let access = bearer(parts).and_then(|bearer| hub.access(&bearer));
        let Some(access) = access else {
            if let Some(Peer(from)) = parts.extensions.get().copied() {
                hub.counts.guess(from, hub.now());
            }
            let no = No::new(
                UNAUTHORISED,
                "a token is needed that is known and has not expired",
            );
            return Err(
                no.help("`Authorization: Bearer TOKEN`, or the token as the password of any user")
            );
        };
        if let Some(Name(name)) = parts.extensions.get() {
            let _ = name.set(access.0.name.clone());
        }
        Ok(access)
    }
}

/// The token that is sent along: as a bearer's, or as somebody's password.
fn bearer(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, value) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.trim().to_owned());
    }
    if scheme.eq_ignore_ascii_case("basic") {
        let pair = STANDARD.decode(value.trim()).ok()?;
        let pair = String::from_utf8(pair).ok()?;
        return Some(pair.split_once(':')?.1.to_owned());
    }
    None
}

impl Access {
    /// It must allow something with all keys.
    pub fn must(&self, role: Role) -> Result<(), No> {
        match self.0.may_everywhere(role) {
            true => Ok(()),
            false => Err(self.no(&format!("may not {} everything", role.word()))),
        }
    }

    /// It must allow something with these keys.
    pub fn must_with(&self, role: Role, keys: &Keys) -> Result<(), No> {
        let (Keys::Only(key) | Keys::Under(key)) = keys;
        match self.0.may(role, keys) {
            true => Ok(()),
            false => Err(self.no(&format!("may not {} `{key}`", role.word()))),
        }
    }

    /// It must be that of the node, or of somebody who may look at it.
    pub fn must_see(&self, node: &str) -> Result<Reader, No> {
        if self.is_of(node) {
            return Ok(Reader::Itself);
        }
        let key = Kind::Node.key(node);
        self.must_with(Role::Read, &Keys::Under(key))?;
        Ok(Reader::Other)
    }

    /// It must be that of the node, or of somebody who may speak for it.
    pub fn must_speak_for(&self, node: &str) -> Result<(), No> {
        match self.is_of(node) {
            true => Ok(()),
            false => self.must_with(Role::Write, &Keys::Under(Kind::Node.key(node))),
        }
    }

    /// It must be allowed to write for an owner.
    pub fn must_own(&self, owner: &str) -> Result<(), No> {
        match &self.0.bearer {
            Bearer::Someone {
                owner: Some(only), ..
            } if only != owner => {
                Err(self.no(&format!("writes for `{only}` only, not for `{owner}`")))
            }
            Bearer::Someone { .. } => Ok(()),
            _ => Err(self.no("may not write")),
        }
    }

    /// It must be allowed to make changes somewhere.
    pub fn must_write(&self) -> Result<(), No> {
        let writes = match &self.0.bearer {
            Bearer::Someone { may, .. } => {
                may.contains_key(&Role::Write) || may.contains_key(&Role::Administer)
            }
            _ => false,
        };
        match writes {
            true => Ok(()),
            false => Err(self.no("may not write")),
        }
    }

    /// It must be allowed to see the key, if one is given, or everything.
    pub fn must_see_under(&self, key: Option<&Key>) -> Result<(), No> {
        match key {
            Some(key) => self.must_with(Role::Read, &Keys::Under(key.clone())),
            None => self.must(Role::Read),
        }
    }

    fn is_of(&self, node: &str) -> bool {
        matches!(&self.0.bearer, Bearer::Node(own) if *own == fold(node))
    }

    /// It does not.
    pub fn no(&self, what: &str) -> No {
        No::new(FORBIDDEN, format!("the token `{}` {what}", self.0.name))
    }
}

/// Puts what the log and pages want to know beside a request.
pub(crate) fn mark(request: &mut Request, peer: IpAddr, transport: Transport) -> Name {
    let name = Name::default();
    request.extensions_mut().insert(Peer(peer));
    request.extensions_mut().insert(transport);
    request.extensions_mut().insert(name.clone());
    name
}
