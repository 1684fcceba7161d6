//! Giving and taking tokens.

use hence_api::words::{ListedToken, NewToken};
use hence_fleet::Words;
use hence_fleet::token::{self, Bearer, Role, TOKEN, Token};
use hence_ledger::admission::TAKEN;
use hence_ledger::key::fold;
use hence_ledger::{Change, Command, Fault, Key, Keys, State, Value, Vocabulary};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Receipt, Refused, Request};

use crate::{Leave, Service};

/// Nobody would be left who may administer.
pub const LAST_ADMINISTRATOR: Code = Code::new("server.last-administrator");

/// Whose assertions tokens are.
pub const OWNER: &str = "access";

impl Service {
    /// Gives a token, by its sum.
    pub fn add_token(
        &mut self,
        request: &Request,
        token: &NewToken,
        sum: &str,
    ) -> Result<Receipt, Refused> {
        let commands = commands(token, sum, request.time).map_err(Diagnostic::from)?;
        let key = Key::new([TOKEN, &fold(&token.name)]);
        if self.state().get(&key).is_some() {
            let message = format!("there is a token `{}` already", token.name);
            let trouble = Diagnostic::error(TAKEN, message).path(key.as_str());
            return Err(trouble
                .help(format!("`hence token revoke {}` takes it", token.name))
                .into());
        }
        self.commit(&owned(request), &commands, &Leave::default())
    }

    /// Takes a token.
    pub fn revoke_token(
        &mut self,
        request: &Request,
        name: &str,
        bearer: Option<&Token>,
    ) -> Result<Receipt, Refused> {
        let key = Key::new([TOKEN, &fold(name)]);
        if self.state().get(&key).is_none() {
            let message = format!("there is no token `{name}`");
            let trouble = Diagnostic::error(hence_fleet::edit::NO_SUCH, message);
            return Err(trouble.help("`hence token list` shows all").into());
        }
        let leave = Leave {
            take: vec![key.clone()],
            bearer: bearer.cloned(),
            ..Leave::default()
        };
        let retract = Command::Retract(Keys::Under(key));
        self.commit(&owned(request), &[retract], &leave)
    }
}

/// Over a network nobody takes the last token that administers: nobody there could give another.
pub(crate) fn nobody_left(state: &State, changes: &[Change]) -> Option<Diagnostic> {
    let mut keys = changes.iter().map(|change| &change.key);
    let administers = |token: &Token| match &token.bearer {
        Bearer::Someone { may, .. } => may.contains_key(&Role::Administer),
        _ => false,
    };
    let is_left = || token::tokens(state).values().any(administers);
    if !keys.any(token::is_access) || is_left() {
        return None;
    }
    let message = "nobody would be left who may administer";
    let help = "`hence token add NAME --may administer` first makes somebody who may";
    Some(Diagnostic::error(LAST_ADMINISTRATOR, message).help(help))
}

fn owned(request: &Request) -> Request {
    Request {
        owner: OWNER.to_owned(),
        ..request.clone()
    }
}

fn commands(token: &NewToken, sum: &str, now: u64) -> Result<Vec<Command>, Fault> {
    let mut commands = Vec::new();
    let mut assert = |below: &[&str], value: Value| {
        let names = [TOKEN, &token.name].into_iter();
        let names = names.chain(below.iter().copied());
        let names: Vec<String> = names.map(str::to_owned).collect();
        let (key, value) = Words.assertion(&names, value)?;
        let owner = OWNER.into();
        commands.push(Command::Assert { owner, key, value });
        Ok::<(), Fault>(())
    };
    assert(&[], Value::text(sum))?;
    for grant in &token.may {
        let Some(role) = Role::of(&grant.role) else {
            let roles = Role::ALL.map(Role::word).join("`, `");
            let fault = Fault::new(format!("there is no role `{}`", grant.role));
            return Err(fault.help(format!("there are `{roles}`")));
        };
        let value = match grant.keys.is_empty() {
            true => Value::Nothing,
            false => Value::text(grant.keys.join(" ")),
        };
        assert(&["may", role.word()], value)?;
    }
    if let Some(owner) = &token.owner {
        assert(&["owner"], Value::text(owner.as_str()))?;
    }
    if let Some(node) = &token.node {
        assert(&["node"], Value::text(node.as_str()))?;
    }
    if token.join {
        assert(&["join"], Value::Nothing)?;
    }
    if token.lasts == Some(0) {
        let fault = Fault::new(format!("the token `{}` would be over at once", token.name));
        return Err(fault.help("leave out how long it lasts, or make that a second at least"));
    }
    if let Some(lasts) = token.lasts {
        let end = now.saturating_add(lasts.saturating_mul(1000));
        assert(&["expires"], Value::text(end.to_string()))?;
    }
    Ok(commands)
}

/// A token as it is listed.
pub fn listed(token: &Token) -> ListedToken {
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
    ListedToken {
        name: token.name.clone(),
        kind: kind.to_owned(),
        may,
        node,
        expires: token.expires,
    }
}
