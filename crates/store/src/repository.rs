//! A ledger on a store: what is asserted now, what was asserted before, and how it came about.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hence_ledger::entry::{Active, Nodes, Origin, Scope, Snapshot};
use hence_ledger::rights::Rights;
use hence_ledger::{
    Act, Admission, Admitted, Assertion, Change, Command, Entry, Hash, Key, Keys, Rollout, State,
    Vocabulary, admit,
};
use hence_model::diagnostic::{Code, Diagnostic};

use crate::{Appended, Error, Store, UNDO_MOVED};

/// The newest version is not the one that was expected.
pub const MOVED: Code = Code::new("ledger.moved");
/// There is no such version.
pub const NO_SUCH_VERSION: Code = Code::new("ledger.no-such-version");
/// Another version has the name.
pub const NAME_TAKEN: Code = Code::new("ledger.name-taken");
/// No version has the name.
pub const NO_SUCH_NAME: Code = Code::new("ledger.no-such-name");

/// So many objects are looked at together.
const TOGETHER: usize = 256;

/// A ledger on a store.
pub struct Repository {
    store: Box<dyn Store>,
    head: Option<Head>,
    state: State,
}

/// The newest entry, and the hash that the next one will name it by.
struct Head {
    entry: Entry,
    hash: Hash,
}

/// Who asks for something, when, why, and by what means.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who.
    pub author: String,
    /// On whose behalf: what is written belongs to this owner, and so does the right to write it.
    pub owner: String,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// Why, in the author's words.
    pub message: String,
    /// By what means.
    pub origin: Origin,
    /// What the origin speaks of, to be kept with the entry.
    pub objects: Vec<(Hash, Vec<u8>)>,
    /// The newest version that the author knows; another one is a reason to refuse.
    pub if_version: Option<u64>,
}

/// What is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// By which commands.
    pub commands: &'a [Command],
    /// Keys that may be taken from their owners, with all below them.
    pub take: &'a [Key],
    /// Whether something may be asserted that has no effect yet.
    pub dormant: bool,
}

/// What a change is held against.
pub struct Rules<'a> {
    /// Who may write where.
    pub rights: &'a Rights,
    /// What keys mean.
    pub vocabulary: &'a dyn Vocabulary,
    /// What else is wrong with a state that some changes led to.
    pub check: &'a mut dyn FnMut(&State, &[Change]) -> Vec<Diagnostic>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It would have changed nothing, so there is no entry.
    Nothing,
    /// There is a new entry.
    Done(Done),
}

/// What a new entry did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its number.
    pub version: u64,
    /// What it changed, whom that cost something, and what no longer has an effect.
    pub admitted: Admitted,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Something is wrong with what was asked.
    Because(Vec<Diagnostic>),
    /// The store failed.
    Failed(Error),
}

impl Refused {
    /// Whether this is the one reason.
    pub fn is(&self, code: Code) -> bool {
        match self {
            Self::Because(troubles) => matches!(&troubles[..], [only] if only.code == code),
            Self::Failed(error) => error.code == code,
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Diagnostic> for Refused {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Because(vec![diagnostic])
    }
}

impl Repository {
    /// The ledger on a store. Its newest entries and all that is asserted are read, and compared with their hashes.
    pub fn open(store: Box<dyn Store>) -> Result<Self, Error> {
        let mut repository = Self {
            store,
            head: None,
            state: State::default(),
        };
        repository.reload()?;
        Ok(repository)
    }

    /// The store that it is on.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The newest entry.
    pub fn head(&self) -> Option<&Entry> {
        self.head.as_ref().map(|head| &head.entry)
    }

    /// The number of the newest entry; 0 if there is none.
    pub fn version(&self) -> u64 {
        self.head().map_or(0, |entry| entry.version)
    }

    /// What is asserted.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What nodes are to run.
    pub fn active(&self) -> &Active {
        static NOTHING: Active = Active {
            base: 0,
            apart: BTreeMap::new(),
        };
        self.head().map_or(&NOTHING, |entry| &entry.active)
    }

    /// What was asserted at a version; nothing at version 0.
    pub fn state_at(&self, version: u64) -> Result<State, Refused> {
        if version == 0 {
            return Ok(State::default());
        }
        let entry = self.entry(version)?.ok_or_else(|| self.no_such(version))?;
        Ok(self.read(&entry)?)
    }

    /// What was asserted about a key at a version, without reading the rest.
    pub fn assertion_at(&self, version: u64, key: &Key) -> Result<Option<Assertion>, Error> {
        match self.entry(version)? {
            Some(entry) => self.assertion_in(entry.address, key),
            None => Ok(None),
        }
    }

    /// What is asserted about a key in the state with this address.
    pub fn assertion_in(&self, address: Hash, key: &Key) -> Result<Option<Assertion>, Error> {
        let mut object = |hash| {
            self.store
                .object(hash)?
                .ok_or_else(|| self.object_damaged(hash))
        };
        let found = hence_ledger::state::find(address, key, &mut object)?;
        found.map_err(|damaged| self.object_damaged(damaged.0))
    }

    /// The entry with this number.
    pub fn entry(&self, version: u64) -> Result<Option<Entry>, Error> {
        if version == 0 || version > self.version() {
            return Ok(None);
        }
        Ok(Some(self.stored(version)?.entry))
    }

    /// The object with this hash, such as what an entry says it came from.
    pub fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        match self.store.object(hash)? {
            Some(bytes) if Hash::of(&bytes) != hash => Err(self.object_damaged(hash)),
            object => Ok(object),
        }
    }

    /// All entries, the newest first, each compared with the hash that the next one has of it.
    pub fn log(&self) -> Log<'_> {
        Log {
            repository: self,
            next: self.version(),
            hash: self.head.as_ref().map(|head| head.hash),
        }
    }

    /// Goes through the whole history and every object of it, and compares all with their hashes.
    pub fn check(&self) -> Result<(), Error> {
        let mut objects = HashSet::new();
        for some in self.store.hashes()?.chunks(TOGETHER) {
            for (hash, bytes) in some.iter().zip(self.store.objects(some)?) {
                if bytes.map(|bytes| Hash::of(&bytes)) != Some(*hash) {
                    return Err(self.object_damaged(*hash));
                }
                objects.insert(*hash);
            }
        }
        let mut state = State::default();
        let mut previous = None;
        for version in 1..=self.version() {
            let Head { entry, hash } = self.stored(version)?;
            if entry.previous != previous {
                return Err(self.entry_damaged(version - 1));
            }
            previous = Some(hash);
            // Only what an entry made anew is looked at; the rest was there with the one before it.
            if let Act::Commit { changes, .. } = &entry.act {
                state.make(changes);
            }
            let (address, written) = state.objects();
            if let Some((lost, _)) = written.iter().find(|(hash, _)| !objects.contains(hash))
                && address == entry.address
            {
                return Err(self.object_damaged(*lost));
            }
            if address != entry.address || state.identity() != entry.identity {
                state = self.read(&entry)?;
            }
        }
        match previous == self.head.as_ref().map(|head| head.hash) {
            true => Ok(()),
            false => Err(self.entry_damaged(self.version())),
        }
    }

    /// Takes in what others added.
    pub fn follow(&mut self) -> Result<(), Error> {
        let newest = self.store.head()?;
        if newest < self.version() {
            let place = self.store.place();
            let message = format!(
                "{place} has {newest} entries, and had {} before",
                self.version()
            );
            return Err(Error::damaged(message));
        }
        for version in self.version() + 1..=newest {
            let next = self.stored(version)?;
            if next.entry.previous != self.head.as_ref().map(|head| head.hash) {
                return Err(self.entry_damaged(version));
            }
            if let Act::Commit { changes, .. } = &next.entry.act {
                self.state.make(changes);
                if self.state.objects().0 != next.entry.address {
                    self.state.take_back(changes);
                    return self.reload();
                }
            }
            self.head = Some(next);
        }
        Ok(())
    }

    /// Changes what is asserted, or says why not.
    pub fn commit(
        &mut self,
        request: &Request,
        proposal: &Proposal<'_>,
        rules: &mut Rules<'_>,
    ) -> Result<Receipt, Refused> {
        loop {
            self.expect(request)?;
            let admission = Admission {
                owner: &request.owner,
                commands: proposal.commands,
                take: proposal.take,
                dormant: proposal.dormant,
                rights: rules.rights,
                version: self.version() + 1,
            };
            let admitted = admit(&mut self.state, &admission, rules.vocabulary, rules.check);
            let admitted = admitted.map_err(Refused::Because)?;
            if admitted.changes.is_empty() {
                // What was said and taken back within one commit is as old as before.
                self.settle()?;
                return Ok(Receipt::Nothing);
            }
            let act = commit_of(&admitted, None);
            // Commands do not read, so they mean the same behind whatever came first.
            if let Some(receipt) = self.add(request, self.next(request, act), admitted)? {
                return Ok(receipt);
            }
        }
    }

    /// Makes what is asserted what it was at a version.
    pub fn restore(
        &mut self,
        request: &Request,
        version: u64,
        rules: &mut Rules<'_>,
    ) -> Result<Receipt, Refused> {
        let target = self.state_at(version)?;
        loop {
            self.expect(request)?;
            let mut changes = State::difference(&self.state, &target);
            changes.retain(|change| !rules.vocabulary.endures(&change.key));
            if changes.is_empty() {
                return Ok(Receipt::Nothing);
            }
            let admitted = self.admit_exactly(request, changes, rules)?;
            let act = commit_of(&admitted, None);
            if let Some(receipt) = self.add(request, self.next(request, act), admitted)? {
                return Ok(receipt);
            }
        }
    }

    /// Makes what was asserted at a version the target of nodes, some of which get another configuration by it. Which these
    /// are was worked out for the newest version that is known here, so it is refused if there is a newer one.
    pub fn activate(
        &mut self,
        request: &Request,
        target: u64,
        scope: Scope,
        changed: Nodes,
        gone: BTreeSet<String>,
    ) -> Result<Receipt, Refused> {
        if target > self.version() {
            return Err(self.no_such(target).into());
        }
        let active = self.active().after(target, &scope);
        if active == *self.active() {
            self.expect(request)?;
            return Ok(Receipt::Nothing);
        }
        let act = Act::Activation {
            target,
            scope,
            changed,
            gone,
        };
        self.turn(request, act, active, None)
    }

    /// Goes on with an activation in stages: how far it is now, and what nodes are to run by that. It is meant for the
    /// newest version that is known here, and refused if there is a newer one.
    pub fn roll_out(
        &mut self,
        request: &Request,
        act: Act,
        active: Active,
        rollout: Rollout,
    ) -> Result<Receipt, Refused> {
        self.turn(request, act, active, Some(rollout))
    }

    fn turn(
        &mut self,
        request: &Request,
        act: Act,
        active: Active,
        rollout: Option<Rollout>,
    ) -> Result<Receipt, Refused> {
        self.expect(request)?;
        let known = self.version();
        let mut entry = self.next(request, act);
        entry.active = active;
        entry.rollout = rollout;
        match self.add(request, entry, nothing())? {
            Some(receipt) => Ok(receipt),
            None => Err(self.moved(known).into()),
        }
    }

    /// Gives a version a name.
    pub fn name(
        &mut self,
        request: &Request,
        name: &str,
        version: u64,
        annotation: &str,
    ) -> Result<Receipt, Refused> {
        let snapshot = Snapshot {
            version,
            annotation: annotation.to_owned(),
        };
        loop {
            self.expect(request)?;
            if version > self.version() {
                return Err(self.no_such(version).into());
            }
            match self.head().and_then(|entry| entry.snapshots.get(name)) {
                Some(there) if *there == snapshot => return Ok(Receipt::Nothing),
                Some(there) => {
                    let message = format!("version {} is named `{name}` already", there.version);
                    let help =
                        format!("`hence forget {name}` takes that name away; or choose another");
                    return Err(Diagnostic::error(NAME_TAKEN, message).help(help).into());
                }
                None => {}
            }
            let mut entry = self.next(request, naming(name));
            entry.snapshots.insert(name.to_owned(), snapshot.clone());
            if let Some(receipt) = self.add(request, entry, nothing())? {
                return Ok(receipt);
            }
        }
    }

    /// Takes a name away.
    pub fn unname(&mut self, request: &Request, name: &str) -> Result<Receipt, Refused> {
        loop {
            self.expect(request)?;
            let mut entry = self.next(request, naming(name));
            if entry.snapshots.remove(name).is_none() {
                let message = format!("no version is named `{name}`");
                return Err(Diagnostic::error(NO_SUCH_NAME, message).into());
            }
            if let Some(receipt) = self.add(request, entry, nothing())? {
                return Ok(receipt);
            }
        }
    }

    /// Refuses if the newest version is not the one that the author knows.
    pub(crate) fn expect(&self, request: &Request) -> Result<(), Refused> {
        match request.if_version {
            Some(expected) if expected != self.version() => Err(self.moved(expected).into()),
            _ => Ok(()),
        }
    }

    pub(crate) fn moved(&self, expected: u64) -> Diagnostic {
        let message = format!(
            "the newest version is expected to be {expected}, and is {}",
            self.version()
        );
        Diagnostic::error(MOVED, message).help("look at what changed, and try again")
    }

    /// There is no such version.
    pub fn no_such(&self, version: u64) -> Diagnostic {
        let message = match self.version() {
            0 => format!("there is no version {version}, nor any other yet"),
            newest => format!("there is no version {version}; the newest is {newest}"),
        };
        Diagnostic::error(NO_SUCH_VERSION, message)
    }

    /// Admits changes as they are: what comes back is as old as it was when it went.
    pub(crate) fn admit_exactly(
        &mut self,
        request: &Request,
        changes: Vec<Change>,
        rules: &mut Rules<'_>,
    ) -> Result<Admitted, Refused> {
        let gone = changes.iter().filter(|change| change.after.is_none());
        let retract = |change: &Change| Command::Retract(Keys::Only(change.key.clone()));
        let mut commands: Vec<Command> = gone.map(retract).collect();
        for change in &changes {
            if let Some(assertion) = &change.after {
                commands.push(Command::Assert {
                    owner: assertion.owner.clone(),
                    key: change.key.clone(),
                    value: assertion.value.clone(),
                });
            }
        }
        let take: Vec<Key> = changes.iter().map(|change| change.key.clone()).collect();
        let admission = Admission {
            owner: &request.owner,
            commands: &commands,
            take: &take,
            dormant: true,
            rights: rules.rights,
            version: self.version() + 1,
        };
        let admitted = admit(&mut self.state, &admission, rules.vocabulary, rules.check);
        let admitted = admitted.map_err(Refused::Because)?;
        if admitted.changes != changes {
            self.state.take_back(&admitted.changes);
            self.settle()?;
            let others = admitted.changes.iter().map(|change| &change.key);
            let others = others.filter(|key| take.binary_search(key).is_err());
            let others: Vec<String> = others.map(|key| format!("`{key}`")).collect();
            let message = format!(
                "what would come back cannot stand beside {}",
                others.join(", ")
            );
            return Err(Diagnostic::error(UNDO_MOVED, message).into());
        }
        self.state.make(&changes);
        Ok(Admitted {
            changes,
            ..admitted
        })
    }

    /// Adds the next entry, whose changes are in the state already; `None` if somebody else was first.
    pub(crate) fn add(
        &mut self,
        request: &Request,
        mut entry: Entry,
        admitted: Admitted,
    ) -> Result<Option<Receipt>, Error> {
        let version = entry.version;
        let (address, mut objects) = self.state.objects();
        objects.extend(request.objects.iter().cloned());
        entry.identity = self.state.identity();
        entry.address = address;
        let bytes = entry.to_bytes();
        let appended = self.store.append(version, &bytes, &objects);
        if appended == Ok(Appended::Done) {
            let hash = Hash::of(&bytes);
            self.head = Some(Head { entry, hash });
            return Ok(Some(Receipt::Done(Done { version, admitted })));
        }
        // What was touched is written again with the next entry, so nothing counts as written that is not.
        self.state.take_back(&admitted.changes);
        if self.head.is_none() {
            self.state = State::default();
        }
        appended?;
        self.follow()?;
        Ok(None)
    }

    /// The next entry, as far as it is like the newest; the state after it is filled in when it is added.
    pub(crate) fn next(&self, request: &Request, act: Act) -> Entry {
        let unknown = Hash::of(b"");
        Entry {
            version: self.version() + 1,
            previous: self.head.as_ref().map(|head| head.hash),
            author: request.author.clone(),
            time: request.time,
            message: request.message.clone(),
            origin: request.origin.clone(),
            act,
            identity: unknown,
            address: unknown,
            active: self.active().clone(),
            rollout: self.head().and_then(|entry| entry.rollout.clone()),
            snapshots: self
                .head()
                .map(|entry| entry.snapshots.clone())
                .unwrap_or_default(),
        }
    }

    /// Reads the state again if it is not to the letter the one after the newest entry.
    fn settle(&mut self) -> Result<(), Error> {
        let address = self.state.objects().0;
        match self.head() {
            Some(entry) if entry.address == address => Ok(()),
            _ => self.reload(),
        }
    }

    fn reload(&mut self) -> Result<(), Error> {
        let newest = self.store.head()?;
        if newest == 0 {
            self.head = None;
            self.state = State::default();
            return Ok(());
        }
        let head = self.stored(newest)?;
        if newest > 1 && head.entry.previous != Some(self.stored(newest - 1)?.hash) {
            return Err(self.entry_damaged(newest - 1));
        }
        self.state = self.read(&head.entry)?;
        self.head = Some(head);
        Ok(())
    }

    /// An entry that must be there.
    fn stored(&self, version: u64) -> Result<Head, Error> {
        let bytes = self.store.entry(version)?;
        let bytes = bytes.ok_or_else(|| self.entry_damaged(version))?;
        match Entry::from_bytes(&bytes) {
            Some(entry) if entry.version == version => Ok(Head {
                entry,
                hash: Hash::of(&bytes),
            }),
            _ => Err(self.entry_damaged(version)),
        }
    }

    fn entry_damaged(&self, version: u64) -> Error {
        let place = self.store.place();
        let what = "is missing, or not what was written";
        Error::damaged(format!("{place} is damaged: entry {version} {what}"))
    }

    fn object_damaged(&self, hash: Hash) -> Error {
        let place = self.store.place();
        let what = "is missing, or not what was written";
        Error::damaged(format!("{place} is damaged: object {hash} {what}"))
    }

    /// The state after an entry.
    fn read(&self, entry: &Entry) -> Result<State, Error> {
        let mut objects = |hashes: &[Hash]| {
            let found = self.store.objects(hashes)?.into_iter().zip(hashes);
            found
                .map(|(found, hash)| found.ok_or_else(|| self.object_damaged(*hash)))
                .collect()
        };
        let state = State::read(entry.address, &mut objects)?;
        let mut state = state.map_err(|damaged| self.object_damaged(damaged.0))?;
        match state.identity() == entry.identity {
            true => Ok(state),
            false => Err(self.object_damaged(entry.address)),
        }
    }
}

/// Entries, the newest first.
pub struct Log<'r> {
    repository: &'r Repository,
    /// The number of the next one; 0 at the end.
    next: u64,
    /// The hash that it must have.
    hash: Option<Hash>,
}

impl Iterator for Log<'_> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let version = self.next;
        self.next = version.checked_sub(1)?;
        let stored = match self.repository.stored(version) {
            Ok(stored) if Some(stored.hash) == self.hash => stored,
            Ok(_) => {
                self.next = 0;
                return Some(Err(self.repository.entry_damaged(version)));
            }
            Err(error) => {
                self.next = 0;
                return Some(Err(error));
            }
        };
        self.hash = stored.entry.previous;
        Some(Ok(stored.entry))
    }
}

/// The act of a commit with these changes.
pub(crate) fn commit_of(admitted: &Admitted, undoes: Option<u64>) -> Act {
    Act::Commit {
        changes: admitted.changes.clone(),
        undoes,
    }
}

/// What an entry did that changed nothing that is asserted.
fn nothing() -> Admitted {
    Admitted {
        changes: Vec::new(),
        lost: Vec::new(),
        dormant: Vec::new(),
    }
}

fn naming(name: &str) -> Act {
    Act::Naming {
        name: name.to_owned(),
    }
}
