//! A fleet on a store, as calls: change what is asserted, look at what nodes should be, plan, activate, explain.
//!
//! Two pools are kept current, change by change: what the newest version says (*head*), and what most nodes are to run
//! (*active*). Whatever is asked about another version is read from the store.

pub mod access;
pub mod activation;
mod aim;
pub mod changes;
pub mod explained;
pub mod history;
pub mod moment;
pub mod pushed;
mod remote;
pub mod report;
pub mod rollout;
pub mod seal;
pub mod secrets;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use hence_fleet::edit::{self, Edit};
use hence_fleet::name::{NAME, must_be_name, must_be_named};
use hence_fleet::token::{Bearer, Role, Token};
use hence_fleet::{Pool, Words, check, words};
use hence_ledger::admission::{FACTS, FORBIDDEN, WALK_IN};
use hence_ledger::{Change, Command, Hash, Key, Keys, State, Vocabulary};
use hence_model::diagnostic::{Diagnostic, Severity};
use hence_store::{Proposal, Receipt, Refused, Repository, Request, Rules, Store};

pub use activation::{Activated, Extent, Pair, Planned};
use history::{Activations, Past};
use remote::Remote;
use secrets::Keeper;

/// A fleet on a store.
pub struct Service {
    repository: Repository,
    /// What the newest version says.
    head: Pool,
    /// What nodes are to run that are not apart, and the version that says it.
    active: Pool,
    base: u64,
    /// What became of each key between the two.
    pending: BTreeMap<Key, Change>,
    activations: Activations,
    /// What versions said that nodes were to run before.
    past: Past,
    /// The version of the newest commit; 0 if there is none.
    committed: u64,
    /// The version up to which all of this is known; 0 if it must be read anew.
    known: u64,
    /// Who makes changes, if not this process.
    remote: Option<Remote>,
    keeper: Keeper,
}

/// What a change may do that would otherwise be refused.
#[derive(Clone, Debug, Default)]
pub struct Leave {
    /// Take these keys from their owners, with all below them.
    pub take: Vec<Key>,
    /// Assert what has no effect yet.
    pub dormant: bool,
    /// The token that must allow every change.
    pub bearer: Option<Token>,
    /// Secrets that were handed in to be sealed, with receipts.
    pub handed_in: Vec<hence_api::words::Sealed>,
}

impl Service {
    /// The fleet on a store.
    pub fn open(store: Box<dyn Store>) -> Result<Self, Refused> {
        let repository = Repository::open(store)?;
        let mut service = Self {
            head: Pool::new(&State::default()),
            active: Pool::default(),
            base: 0,
            pending: BTreeMap::new(),
            activations: Activations::default(),
            past: Past::default(),
            committed: 0,
            known: 0,
            remote: None,
            keeper: Keeper::default(),
            repository,
        };
        service.catch_up()?;
        Ok(service)
    }

    /// The ledger.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// What is asserted.
    pub fn state(&self) -> &State {
        self.repository.state()
    }

    /// Words for people: where they name content by its hash, and that is a short text, the text.
    pub fn legible(&self, words: &str) -> String {
        self.legible_with(words, &BTreeMap::new())
    }

    /// Words for people, some of whose content is not in the ledger yet.
    pub fn legible_with(&self, words: &str, coming: &BTreeMap<Hash, Vec<u8>>) -> String {
        let mut parts = words.split("blob:");
        let mut legible = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_hexdigit());
            let (hash, rest) = part.split_at(end.unwrap_or(part.len()));
            let text = Hash::from_hex(hash).and_then(|hash| match coming.get(&hash) {
                Some(bytes) => short_text(bytes),
                None => short_text(&self.repository.store().object(hash).ok()??),
            });
            match text {
                Some(text) => legible.push_str(&format!("{text:?}{rest}")),
                None => legible.push_str(&format!("blob:{part}")),
            }
        }
        legible
    }

    /// The fleet as the newest version has it.
    pub fn head(&self) -> &Pool {
        &self.head
    }

    /// The fleet as it was asserted at a version.
    pub fn pool_at(&self, version: u64) -> Result<Pool, Refused> {
        Ok(Pool::new(&self.repository.state_at(version)?))
    }

    /// Does commands, as one change.
    pub fn commit(
        &mut self,
        request: &Request,
        commands: &[Command],
        leave: &Leave,
    ) -> Result<Receipt, Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.commit(request, commands, leave, false))
        {
            return done.map(|(receipt, _)| receipt);
        }
        let bearer = leave.bearer.as_ref();
        allowed(bearer, commands)?;
        must_be_name("owner", &request.owner).map_err(Diagnostic::from)?;
        must_be_named(self.state(), commands).map_err(Diagnostic::from)?;
        self.must_open(commands)?;
        let proposal = Proposal {
            commands,
            take: &leave.take,
            dormant: leave.dormant,
        };
        let said = Said::Anew(&leave.handed_in);
        let mut checks = Checks::Refuse;
        self.change(request, bearer, said, &mut checks, |repository, rules| {
            repository.commit(request, &proposal, rules)
        })
    }

    /// Does commands that come from elsewhere, as one change. What a change of ours would be refused for is taken as it is,
    /// and told: validation will find what matters of it.
    pub fn import(
        &mut self,
        request: &Request,
        commands: &[Command],
        leave: &Leave,
    ) -> Result<(Receipt, Vec<Diagnostic>), Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.commit(request, commands, leave, true)) {
            return done;
        }
        let bearer = leave.bearer.as_ref();
        allowed(bearer, commands)?;
        must_be_name("owner", &request.owner).map_err(Diagnostic::from)?;
        must_be_named(self.state(), commands).map_err(Diagnostic::from)?;
        self.must_open(commands)?;
        let proposal = Proposal {
            commands,
            take: &leave.take,
            dormant: true,
        };
        let said = Said::Anew(&leave.handed_in);
        self.change_telling(request, bearer, said, |repository, rules| {
            repository.commit(request, &proposal, rules)
        })
    }

    /// Makes an edit. It reads what is asserted now; if that moves meanwhile, it is translated again, unless the author
    /// knows a version that it must be.
    pub fn edit(
        &mut self,
        request: &Request,
        edits: &[Edit],
        leave: &Leave,
    ) -> Result<Receipt, Refused> {
        self.until_first(request, |service, request| {
            let commands = service.translate(&request.owner, edits)?;
            let result = service.commit(request, &commands, leave);
            result.map_err(|refused| as_typed(refused, edits))
        })
    }

    /// The commands that edits come to, given what is asserted now.
    pub fn translate(&self, owner: &str, edits: &[Edit]) -> Result<Vec<Command>, Refused> {
        // Each edit sees what the ones before it did; a single one needs no copy for that.
        let mut after: Option<State> = None;
        let mut commands = Vec::new();
        for (number, edit) in edits.iter().enumerate() {
            let state = after.as_ref().unwrap_or(self.state());
            let more = edit::commands(state, owner, edit)
                .map_err(|fault| Refused::Because(vec![fault.into()]))?;
            if number + 1 < edits.len() {
                let after = after.get_or_insert_with(|| self.state().clone());
                for command in &more {
                    after.perform(command, 0, &Words);
                }
            }
            commands.extend(more);
        }
        Ok(commands)
    }

    /// Takes back a commit, or the newest one that stands. What comes back was there, however it came in, so what is wrong
    /// with it is told, as [`import`](Self::import) does.
    pub fn undo(
        &mut self,
        request: &Request,
        version: Option<u64>,
        bearer: Option<&Token>,
    ) -> Result<(Receipt, Vec<Diagnostic>), Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.undo(request, version)) {
            return done;
        }
        self.change_telling(request, bearer, Said::Before, |repository, rules| {
            repository.undo(request, version, rules)
        })
    }

    /// Makes what is asserted what it was at a version, and tells what is wrong with it.
    pub fn restore(
        &mut self,
        request: &Request,
        version: u64,
        bearer: Option<&Token>,
    ) -> Result<(Receipt, Vec<Diagnostic>), Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.restore(request, version)) {
            return done;
        }
        self.change_telling(request, bearer, Said::Before, |repository, rules| {
            repository.restore(request, version, rules)
        })
    }

    /// Gives a version a name.
    pub fn name(
        &mut self,
        request: &Request,
        name: &str,
        version: u64,
        annotation: &str,
    ) -> Result<Receipt, Refused> {
        let elsewhere = self.elsewhere(|remote| remote.name(request, name, version, annotation));
        if let Some(done) = elsewhere {
            return done;
        }
        must_be_name("snapshot", name).map_err(Diagnostic::from)?;
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("a snapshot cannot be named `{name}`: that is a version");
            let help = "choose a name that is no number";
            return Err(Diagnostic::error(NAME, message).help(help).into());
        }
        let result = self.repository.name(request, name, version, annotation);
        self.notice(&result);
        result
    }

    /// Takes a name from its version.
    pub fn unname(&mut self, request: &Request, name: &str) -> Result<Receipt, Refused> {
        if let Some(done) = self.elsewhere(|remote| remote.unname(name)) {
            return done;
        }
        let result = self.repository.unname(request, name);
        self.notice(&result);
        result
    }

    /// Notes that an entry came which changed nothing that is kept here. What others added before it is taken in; if that
    /// fails now, it will be with the next change.
    pub(crate) fn notice(&mut self, result: &Result<Receipt, Refused>) {
        match result {
            Ok(Receipt::Done(done)) if done.version == self.known + 1 => self.known = done.version,
            _ => drop(self.catch_up()),
        }
    }

    /// Changes the ledger, and tells what a change of ours would be refused for.
    fn change_telling(
        &mut self,
        request: &Request,
        bearer: Option<&Token>,
        said: Said<'_>,
        change: impl FnOnce(&mut Repository, &mut Rules<'_>) -> Result<Receipt, Refused>,
    ) -> Result<(Receipt, Vec<Diagnostic>), Refused> {
        let mut checks = Checks::Tell(Vec::new());
        let receipt = self.change(request, bearer, said, &mut checks, change)?;
        let told = match (checks, &receipt) {
            (Checks::Tell(told), Receipt::Done(_)) => told,
            _ => Vec::new(),
        };
        Ok((receipt, told))
    }

    /// Changes the ledger, and keeps the pool in step: it is changed where the change is checked, and changed back if
    /// nothing comes of it.
    fn change(
        &mut self,
        request: &Request,
        bearer: Option<&Token>,
        said: Said<'_>,
        checks: &mut Checks,
        change: impl FnOnce(&mut Repository, &mut Rules<'_>) -> Result<Receipt, Refused>,
    ) -> Result<Receipt, Refused> {
        self.catch_up()?;
        let before = self.repository.version();
        let rights = words::rights(self.repository.state());
        let head = &mut self.head;
        let mut step = Step::Before;
        let mut check = |state: &State, changes: &[Change]| {
            if let Some(bearer) = bearer {
                let mut troubles = beyond(bearer, changes);
                troubles.extend(of_others(bearer, changes));
                if let Said::Anew(handed_in) = said {
                    troubles.extend(secrets::carried(bearer, handed_in, changes));
                }
                troubles.extend(access::nobody_left(state, changes));
                if !troubles.is_empty() {
                    return troubles;
                }
            }
            match step {
                Step::Before => head.apply(changes),
                // Somebody else was first, and the state has their changes too.
                Step::Behind => *head = Pool::new(state),
            }
            let mut troubles = check::check(head, changes);
            if let Checks::Tell(told) = checks {
                for trouble in &mut troubles {
                    trouble.severity = Severity::Warning;
                }
                *told = troubles.clone();
            }
            if let Step::Behind = step {
                // They may have changed who may write where.
                troubles.extend(no_longer(state, &request.owner, changes));
            }
            match troubles.iter().any(Diagnostic::is_error) {
                true => head.take_back(changes),
                false => step = Step::Behind,
            }
            troubles
        };
        let mut rules = Rules {
            rights: &rights,
            vocabulary: &Words,
            check: &mut check,
        };
        let result = change(&mut self.repository, &mut rules);
        match (&result, step) {
            (Ok(Receipt::Done(done)), _) if done.version == before + 1 => {
                add(&mut self.pending, &done.admitted.changes);
                self.committed = done.version;
                self.known = done.version;
            }
            // Nothing came of what was admitted.
            (Ok(Receipt::Nothing) | Err(_), Step::Behind) => {
                self.head = Pool::new(self.repository.state());
            }
            _ => {}
        }
        if self.known != self.repository.version() {
            // Others were first, and the pool may have their changes already.
            self.known = 0;
        }
        // What came of this is no less true if that cannot be read now.
        let _ = self.catch_up();
        result
    }
}

/// Adds later changes to what became of each key.
fn add(became: &mut BTreeMap<Key, Change>, changes: &[Change]) {
    for change in changes {
        match became.entry(change.key.clone()) {
            Entry::Vacant(first) => drop(first.insert(change.clone())),
            Entry::Occupied(mut earlier) => {
                earlier.get_mut().after = change.after.clone();
                if earlier.get().before == earlier.get().after {
                    earlier.remove();
                }
            }
        }
    }
}

/// A refusal whose advice to make a thing has its name as the author of an edit spelled it: keys do not know that.
fn as_typed(refused: Refused, edits: &[Edit]) -> Refused {
    let Refused::Because(mut troubles) = refused else {
        return refused;
    };
    for thing in edits.iter().flat_map(Edit::others) {
        let making = Words.making(&thing.key());
        let typed = format!("`hence add {}`", thing.words());
        for help in troubles.iter_mut().flat_map(|trouble| &mut trouble.help) {
            if let Some(making) = &making {
                *help = help.replace(&format!("`{making}`"), &typed);
            }
        }
    }
    Refused::Because(troubles)
}

/// Bytes as a text that can stand in a line, if they are one.
fn short_text(bytes: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = str::from_utf8(bytes).ok()?.trim_end();
    let is_text = text.chars().all(|c| c == '\n' || !c.is_control());
    (text.len() <= LONGEST && is_text).then(|| text.to_owned())
}

/// A token must allow what commands say that they write; this is known before anything happens.
fn allowed(bearer: Option<&Token>, commands: &[Command]) -> Result<(), Refused> {
    let Some(bearer) = bearer else {
        return Ok(());
    };
    let written = commands.iter().flat_map(|command| command.writes(&Words));
    let troubles = forbidden(bearer, written);
    match troubles.is_empty() {
        true => Ok(()),
        false => Err(Refused::Because(troubles)),
    }
}

/// It must also allow what they come to: what an owner no longer says, and what is undone, stand in no command.
fn beyond(bearer: &Token, changes: &[Change]) -> Vec<Diagnostic> {
    let keys = changes.iter();
    forbidden(bearer, keys.map(|change| Keys::Only(change.key.clone())))
}

/// A token that writes for one owner must leave what others say, and said, to them. What came by itself is nobody's.
fn of_others(bearer: &Token, changes: &[Change]) -> Vec<Diagnostic> {
    let Bearer::Someone {
        owner: Some(only), ..
    } = &bearer.bearer
    else {
        return Vec::new();
    };
    let is_free = |owner: &str| owner == only || owner == WALK_IN || owner == FACTS;
    let trouble = |change: &Change| {
        let sides = [&change.before, &change.after];
        let mut owners = sides.into_iter().flatten().map(|held| &held.owner);
        let other = owners.find(|owner| !is_free(owner))?;
        let (name, key) = (&bearer.name, &change.key);
        let message =
            format!("the token `{name}` writes for `{only}` only, and `{key}` is of `{other}`");
        Some(Diagnostic::error(FORBIDDEN, message).path(key.as_str()))
    };
    changes.iter().filter_map(trouble).collect()
}

/// What an owner may not write any more.
fn no_longer(state: &State, owner: &str, changes: &[Change]) -> Vec<Diagnostic> {
    let rights = words::rights(state);
    let keys = changes.iter().map(|change| Keys::Only(change.key.clone()));
    let keys = keys.flat_map(|key| rights.forbidden(owner, &Command::Retract(key), &Words));
    keys.map(|keys| {
        let (Keys::Only(key) | Keys::Under(key)) = keys;
        let message = format!("`{owner}` may not write `{key}`");
        Diagnostic::error(FORBIDDEN, message).path(key.as_str())
    })
    .collect()
}

fn forbidden(bearer: &Token, keys: impl Iterator<Item = Keys>) -> Vec<Diagnostic> {
    let keys = keys.filter(|keys| !bearer.may(Role::Write, keys));
    keys.map(|keys| {
        let (Keys::Only(key) | Keys::Under(key)) = keys;
        let message = format!("the token `{}` may not write `{key}`", bearer.name);
        Diagnostic::error(FORBIDDEN, message).path(key.as_str())
    })
    .collect()
}

/// When what a change says was said.
#[derive(Clone, Copy)]
enum Said<'s> {
    /// Now, with these secrets handed in to be sealed.
    Anew(&'s [hence_api::words::Sealed]),
    /// In an earlier version, under the same keys.
    Before,
}

/// How far the pool is with a change.
enum Step {
    /// As the newest version has it.
    Before,
    /// As it will be.
    Behind,
}

/// What becomes of what is wrong with a change.
enum Checks {
    /// It is refused.
    Refuse,
    /// It is told.
    Tell(Vec<Diagnostic>),
}
