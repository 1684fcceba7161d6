//! A store in an etcd cluster: any number of processes at a time, on any number of machines.
//!
//! ```text
//! PREFIX:format               how rows are written
//! PREFIX:head                 the number of the newest entry
//! PREFIX:entry/NUMBER         rows: entries, objects by their hashes, what nodes report
//! PREFIX:object/HASH
//! PREFIX:report/NODE
//! PREFIX:part/ROW/TOKEN/N     what is too large for a row
//! ```
//!
//! An entry is added by a transaction that compares the head, puts the entry and moves the head: the one visible step. The
//! objects come before it, in the same transaction if they fit, else in others that compare the head as well. Every append has
//! a token of its own in the entry's row. Who asked and got no answer asks again, and knows by it whether the entry
//! that is there now is theirs.

mod address;
mod gateway;
mod messages;

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hence_ledger::Hash;

pub use address::{Address, Credentials};

use self::gateway::Gateway;
use self::messages::{
    Bytes, Compare, Delete, Found, Number, Operation, Put, Range, Transacted, Transaction, Watch,
    Watched,
};
use crate::error::{FORMAT, UNKNOWN};
use crate::sum::{sum, summed};
use crate::{Appended, Error, Store};

/// How rows are written, and what is in them, as in a directory; another one means that something could be misread.
const FORMAT_NUMBER: &[u8] = b"1";
/// etcd refuses more than 128 operations in a transaction.
const OPERATIONS: usize = 120;
/// etcd refuses requests of more than 1.5 MiB.
const REQUEST: usize = 1 << 20;
/// What is larger is kept in parts, so that a page of rows is never too large.
const ROW: usize = 64 << 10;
const PART: usize = 512 << 10;
/// So many rows, names or parts are read at once.
const PAGE_OF_ROWS: u64 = 256;
const PAGE_OF_NAMES: u64 = 8192;
const PAGE_OF_PARTS: u32 = 8;
const AHEAD: u64 = 63;
/// So often a report is read that others replace meanwhile.
const ATTEMPTS: u32 = 20;
/// A watch may be deaf without knowing, so it is looked again after this time.
const LISTENING: Duration = Duration::from_secs(10);

/// What a row begins with.
const WHOLE: u8 = 0;
const IN_PARTS: u8 = 1;

type Token = [u8; 16];

/// A store in an etcd cluster.
pub struct Etcd {
    gateway: Gateway,
    ahead: Mutex<Ahead>,
}

/// Rows of entries, which never change, that were read before they were asked for: whoever reads one after another,
/// forwards or backwards, does not wait for each.
#[derive(Default)]
struct Ahead {
    /// The entry that was asked for last.
    last: u64,
    rows: HashMap<u64, Vec<u8>>,
}

impl Etcd {
    /// The store in a cluster, which is made if there is none.
    pub fn open(address: &Address, credentials: &Credentials) -> Result<Self, Error> {
        let store = Self::at(address, credentials)?;
        if !store.look_over()? {
            // Somebody else may be first, who means the same.
            let key = store.key(b"format");
            let made = Transaction {
                compare: vec![never_put(&key)],
                success: vec![put(key, FORMAT_NUMBER.to_vec())],
                failure: Vec::new(),
            };
            store.transact(&made)?;
            store.look_over()?;
        }
        Ok(store)
    }

    /// Whether there is a store at an address.
    pub fn is_there(address: &Address, credentials: &Credentials) -> Result<bool, Error> {
        Self::at(address, credentials)?.look_over()
    }

    fn at(address: &Address, credentials: &Credentials) -> Result<Self, Error> {
        Ok(Self {
            gateway: Gateway::new(address.clone(), credentials)?,
            ahead: Mutex::default(),
        })
    }

    /// Whether there is a store. One that was written by another version, or that lost its newest entries, is refused.
    fn look_over(&self) -> Result<bool, Error> {
        let entries = || self.under(b"entry/");
        let look = [
            self.one(b"format"),
            self.one(b"head"),
            Range {
                count_only: true,
                ..entries()
            },
            Range {
                keys_only: true,
                limit: Some(Number(1)),
                sort_order: Some("DESCEND"),
                ..entries()
            },
        ];
        let mut found = self.read(look.to_vec())?.into_iter();
        let mut next = || found.next().unwrap_or_default();
        let (format, head, entries, last) = (next(), next(), next(), next());
        let Some(format) = format.kvs.into_iter().next() else {
            let anything = Range {
                count_only: true,
                ..self.under(b"")
            };
            // Who makes a store begins with its format.
            let found = self.read(vec![anything, self.one(b"format")])?;
            return match found[0].count.0 == 0 || !found[1].kvs.is_empty() {
                true => Ok(false),
                false => Err(self.foreign("no format, and is no store".to_owned())),
            };
        };
        if format.value.0 != FORMAT_NUMBER {
            let format = String::from_utf8_lossy(&format.value.0).into_owned();
            return Err(self.foreign(format!("format {format}")));
        }
        let head = self.head_in(&head)?;
        let last = last.kvs.first().map(|pair| pair.key.clone());
        let expected = (head > 0).then(|| Bytes(self.key(&entry_name(head))));
        match entries.count.0 == head && last == expected {
            true => Ok(true),
            false => Err(self.damaged(format!(
                "{head} entries were written, and {} are there",
                entries.count.0
            ))),
        }
    }

    fn key(&self, name: &[u8]) -> Vec<u8> {
        let prefix = self.gateway.address().prefix.as_bytes();
        [prefix, b":", name].concat()
    }

    /// The row of this name.
    fn one(&self, name: &[u8]) -> Range {
        Range {
            key: Bytes(self.key(name)),
            ..Range::default()
        }
    }

    /// All rows whose names begin so.
    fn under(&self, name: &[u8]) -> Range {
        let key = self.key(name);
        Range {
            range_end: Some(Bytes(after(&key))),
            key: Bytes(key),
            ..Range::default()
        }
    }

    fn transact(&self, transaction: &Transaction) -> Result<Transacted, Error> {
        self.gateway.ask("kv/txn", transaction)
    }

    /// Reads several ranges at one moment.
    fn read(&self, ranges: Vec<Range>) -> Result<Vec<Found>, Error> {
        let asked = ranges.len();
        let transaction = Transaction {
            success: ranges.into_iter().map(Operation::RequestRange).collect(),
            ..Transaction::default()
        };
        let answer = self.transact(&transaction)?;
        self.answers(answer, asked)
    }

    fn answers(&self, answer: Transacted, asked: usize) -> Result<Vec<Found>, Error> {
        let answers = answer.responses.into_iter();
        let answers: Vec<Found> = answers.map(|answer| answer.response_range).collect();
        match answers.len() == asked {
            true => Ok(answers),
            false => Err(self.damaged("its answer is not what was asked for".to_owned())),
        }
    }

    /// All pairs of a range, page by page.
    fn pages(
        &self,
        mut range: Range,
        each: &mut dyn FnMut(messages::Pair) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let found: Found = self.gateway.ask("kv/range", &range)?;
            let Some(last) = found.kvs.last() else {
                return Ok(());
            };
            // The key after it.
            let mut next = last.key.0.clone();
            next.push(0);
            if next <= range.key.0 {
                return Err(self.damaged("its keys are in no order".to_owned()));
            }
            let is_last = found.count.0 <= found.kvs.len() as u64;
            found.kvs.into_iter().try_for_each(&mut *each)?;
            if is_last {
                return Ok(());
            }
            range.key = Bytes(next);
        }
    }

    fn head_in(&self, found: &Found) -> Result<u64, Error> {
        let Some(pair) = found.kvs.first() else {
            return Ok(0);
        };
        let text = std::str::from_utf8(&pair.value.0).ok();
        let head = text.and_then(|text| text.parse().ok());
        head.ok_or_else(|| self.damaged("its head is not what was written".to_owned()))
    }

    /// Holds if this entry is the newest.
    fn newest_is(&self, version: u64) -> Compare {
        let key = self.key(b"head");
        match version {
            0 => never_put(&key),
            _ => Compare::Value {
                key: Bytes(key),
                value: Bytes(version.to_string().into_bytes()),
            },
        }
    }

    /// What keeps some bytes under a name: the parts that come first, and the row.
    fn row(&self, name: &[u8], token: Token, bytes: &[u8]) -> Vec<Put> {
        let mut row = vec![WHOLE];
        row.extend(token);
        row.extend(sum(&about(name, token), bytes).as_bytes());
        let mut puts = Vec::new();
        match bytes.len() <= ROW {
            true => row.extend(bytes),
            false => {
                row[0] = IN_PARTS;
                for (number, part) in (0_u32..).zip(bytes.chunks(PART)) {
                    let key = self.key(&part_name(name, token, number));
                    puts.push(plain(key, part.to_vec()));
                }
                row.extend((puts.len() as u32).to_be_bytes());
            }
        }
        puts.push(plain(self.key(name), row));
        puts
    }

    /// What a row keeps; `None` if it is not what was written.
    fn kept(&self, name: &[u8], row: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some((kind, token, rest)) = opened(row) else {
            return Ok(None);
        };
        let about = about(name, token);
        match kind {
            WHOLE => Ok(summed(&about, rest).map(<[u8]>::to_vec)),
            IN_PARTS => {
                let mut joined = Vec::new();
                let Some((noted, count)) = rest.split_first_chunk::<32>() else {
                    return Ok(None);
                };
                let Ok(count) = <[u8; 4]>::try_from(count).map(u32::from_be_bytes) else {
                    return Ok(None);
                };
                joined.extend(noted);
                let mut number = 0;
                while number < count {
                    let some = number..count.min(number.saturating_add(PAGE_OF_PARTS));
                    let ranges = some.map(|number| self.one(&part_name(name, token, number)));
                    for found in self.read(ranges.collect())? {
                        let Some(part) = found.kvs.into_iter().next() else {
                            return Ok(None);
                        };
                        joined.extend(part.value.0);
                        number += 1;
                    }
                }
                Ok(summed(&about, &joined).map(<[u8]>::to_vec))
            }
            _ => Ok(None),
        }
    }

    /// The row of a name, and what it keeps; rows that are never replaced.
    fn lasting(&self, name: &[u8], found: Found) -> Result<Option<Vec<u8>>, Error> {
        let Some(pair) = found.kvs.into_iter().next() else {
            return Ok(None);
        };
        match self.kept(name, &pair.value.0)? {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(self.not_as_written(name)),
        }
    }

    /// The row of an entry, and with it the next ones, if they are asked for one after another.
    fn entry_row(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        let last = {
            let mut ahead = self.ahead();
            let last = std::mem::replace(&mut ahead.last, version);
            if let Some(row) = ahead.rows.get(&version) {
                return Ok(Some(row.clone()));
            }
            last
        };
        let from = match last == version.saturating_add(1) {
            true => version.saturating_sub(AHEAD),
            false => version,
        };
        let to = match last.saturating_add(1) == version {
            true => version.saturating_add(AHEAD),
            false => version,
        };
        let range = Range {
            range_end: Some(Bytes(after(&self.key(&entry_name(to))))),
            limit: Some(Number(AHEAD + 1)),
            ..self.one(&entry_name(from))
        };
        let found: Found = self.gateway.ask("kv/range", &range)?;
        let mut rows = HashMap::new();
        for pair in found.kvs {
            let digits = pair.key.0.rsplit(|byte| *byte == b'/').next();
            let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
            if let Some(version) = digits.and_then(|digits| digits.parse().ok()) {
                rows.insert(version, pair.value.0);
            }
        }
        let row = rows.get(&version).cloned();
        self.ahead().rows = rows;
        Ok(row)
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        // It is written in whole steps, so what a panic left behind is whole.
        self.ahead
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }

    /// Which of some objects are not there yet.
    fn missing<'o>(&self, objects: Vec<&'o Object>) -> Result<Vec<&'o Object>, Error> {
        let mut missing = Vec::new();
        for some in objects.chunks(OPERATIONS) {
            let count = |object: &&Object| Range {
                count_only: true,
                ..self.one(&object_name(object.0))
            };
            let found = self.read(some.iter().map(count).collect())?;
            let found = some.iter().zip(found);
            missing.extend(
                found
                    .filter(|(_, found)| found.count.0 == 0)
                    .map(|(o, _)| *o),
            );
        }
        Ok(missing)
    }

    /// Puts something, if the entry is still the newest one.
    fn put_behind(&self, newest: u64, batch: Batch) -> Result<Appended, Error> {
        let transaction = Transaction {
            compare: vec![self.newest_is(newest)],
            success: batch.puts.into_iter().map(Operation::RequestPut).collect(),
            failure: vec![Operation::RequestRange(self.one(b"head"))],
        };
        let answer = self.transact(&transaction)?;
        if answer.succeeded {
            return Ok(Appended::Done);
        }
        let found = self.answers(answer, 1)?;
        Ok(Appended::Moved(self.head_in(&found[0])?))
    }

    /// The visible step: puts the entry and what is left, and moves the head.
    fn put_entry(&self, version: u64, token: Token, batch: Batch) -> Result<Appended, Error> {
        let name = entry_name(version);
        let entry = self.key(&name);
        let mut success: Vec<Operation> =
            batch.puts.into_iter().map(Operation::RequestPut).collect();
        success.push(put(self.key(b"head"), version.to_string().into_bytes()));
        let transaction = Transaction {
            compare: vec![self.newest_is(version - 1), never_put(&entry)],
            success,
            failure: vec![
                Operation::RequestRange(self.one(b"head")),
                Operation::RequestRange(self.one(&name)),
            ],
        };
        let answer = self.gateway.try_to_ask("kv/txn", &transaction);
        let answer: Transacted = answer.map_err(|silence| match silence.may_be_heard {
            true => unknown(version, &silence.error),
            false => silence.error,
        })?;
        if answer.succeeded {
            return Ok(Appended::Done);
        }
        let found = self.answers(answer, 2)?;
        let head = self.head_in(&found[0])?;
        let there = found[1].kvs.first().and_then(|pair| opened(&pair.value.0));
        match there {
            // It was heard the first time, when there was no answer.
            Some((_, there, _)) if there == token && head >= version => Ok(Appended::Done),
            _ if head == version - 1 => Err(self.not_as_written(&name)),
            _ => Ok(Appended::Moved(head)),
        }
    }

    fn foreign(&self, what: String) -> Error {
        let expected = String::from_utf8_lossy(FORMAT_NUMBER);
        let address = self.gateway.address();
        let message = format!("`{address}` has {what}; format {expected} is expected");
        Error::new(FORMAT, message)
            .help("use the release of Hence that wrote it, or a later one, or another prefix")
    }

    fn not_as_written(&self, name: &[u8]) -> Error {
        let name = String::from_utf8_lossy(name);
        self.damaged(format!("`{name}` is not what was written"))
    }

    fn damaged(&self, what: String) -> Error {
        Error::damaged(format!("`{}` is damaged: {what}", self.gateway.address()))
    }
}

impl Store for Etcd {
    fn place(&self) -> String {
        format!("`{}`", self.gateway.address())
    }

    fn head(&self) -> Result<u64, Error> {
        self.head_in(&self.gateway.ask("kv/range", &self.one(b"head"))?)
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        let name = entry_name(version);
        let Some(row) = self.entry_row(version)? else {
            return Ok(None);
        };
        let entry = self.kept(&name, &row)?;
        entry.map_or_else(|| Err(self.not_as_written(&name)), |entry| Ok(Some(entry)))
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        let name = object_name(hash);
        let found = self.gateway.ask("kv/range", &self.one(&name))?;
        self.lasting(&name, found)
    }

    fn objects(&self, hashes: &[Hash]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let mut objects = Vec::with_capacity(hashes.len());
        for some in hashes.chunks(OPERATIONS) {
            let names = some.iter().map(|hash| object_name(*hash));
            let names: Vec<Vec<u8>> = names.collect();
            let found = self.read(names.iter().map(|name| self.one(name)).collect())?;
            for (name, found) in names.iter().zip(found) {
                objects.push(self.lasting(name, found)?);
            }
        }
        Ok(objects)
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        let range = Range {
            keys_only: true,
            limit: Some(Number(PAGE_OF_NAMES)),
            ..self.under(b"object/")
        };
        let start = range.key.0.len();
        let mut hashes = Vec::new();
        self.pages(range, &mut |pair| {
            let text = pair.key.0.get(start..).unwrap_or_default();
            let hash = std::str::from_utf8(text).ok().and_then(Hash::from_hex);
            hashes.push(hash.ok_or_else(|| self.not_as_written(&pair.key.0))?);
            Ok(())
        })?;
        Ok(hashes)
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error> {
        let Some(newest) = version.checked_sub(1) else {
            return Ok(Appended::Moved(self.head()?));
        };
        let token = self.gateway.random()?;
        // A transaction puts each key once.
        let mut seen = HashSet::new();
        let once = objects.iter().filter(|(hash, _)| seen.insert(*hash));
        let mut objects: Vec<&Object> = once.collect();
        let size: usize = objects.iter().map(|(_, bytes)| bytes.len()).sum();
        // What takes several requests is worth the question what is there already.
        if objects.len() > OPERATIONS / 2 || size > REQUEST / 2 {
            objects = self.missing(objects)?;
        }
        let rows = objects
            .into_iter()
            .flat_map(|(hash, bytes)| self.row(&object_name(*hash), object_token(*hash), bytes));
        let mut batch = Batch::default();
        for put in rows.chain(self.row(&entry_name(version), token, entry)) {
            if !batch.has_room_for(&put) {
                let batch = std::mem::take(&mut batch);
                if let Appended::Moved(head) = self.put_behind(newest, batch)? {
                    return Ok(Appended::Moved(head));
                }
            }
            batch.add(put);
        }
        // The row of the entry came last, so it is in what is left.
        self.put_entry(version, token, batch)
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error> {
        let name = report_name(node);
        let token = self.gateway.random()?;
        let mut puts = self.row(&name, token, report);
        let row = puts.pop().expect("the row comes last");
        for part in puts {
            self.gateway.ask::<serde::de::IgnoredAny>("kv/put", &part)?;
        }
        let row = Put {
            prev_kv: true,
            ..row
        };
        let replaced: messages::Replaced = self.gateway.ask("kv/put", &row)?;
        let before = replaced.prev_kv.as_ref();
        let before = before.and_then(|before| opened(&before.value.0));
        if let Some((IN_PARTS, before, _)) = before
            && before != token
        {
            let key = self.key(&parts_name(&name, before));
            let parts = Delete {
                range_end: Bytes(after(&key)),
                key: Bytes(key),
            };
            self.gateway
                .ask::<serde::de::IgnoredAny>("kv/deleterange", &parts)?;
        }
        Ok(())
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        let name = report_name(node);
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let found: Found = self.gateway.ask("kv/range", &self.one(&name))?;
            let Some(pair) = found.kvs.into_iter().next() else {
                return Ok(None);
            };
            if let Some(report) = self.kept(&name, &pair.value.0)? {
                return Ok(Some(report));
            }
            // Its parts go when another one comes; the same one twice is damaged.
            if before.replace(pair.value.clone()) == Some(pair.value) {
                break;
            }
        }
        Err(self.not_as_written(&name))
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let range = Range {
            limit: Some(Number(PAGE_OF_ROWS)),
            ..self.under(b"report/")
        };
        let start = range.key.0.len();
        let mut reports = Vec::new();
        self.pages(range, &mut |pair| {
            let node = pair.key.0.get(start..).unwrap_or_default().to_vec();
            let node = String::from_utf8(node);
            let node = node.map_err(|_| self.not_as_written(&pair.key.0))?;
            let report = self.kept(&report_name(&node), &pair.value.0)?;
            let report = match report {
                Some(report) => Some(report),
                // It was replaced meanwhile, or it is damaged.
                None => self.report_of(&node)?,
            };
            reports.extend(report.map(|report| (node, report)));
            Ok(())
        })?;
        Ok(reports)
    }

    fn wait(&self, than: u64, limit: Duration) -> Result<u64, Error> {
        let start = Instant::now();
        loop {
            let found: Found = self.gateway.ask("kv/range", &self.one(b"head"))?;
            let head = self.head_in(&found)?;
            let left = limit.saturating_sub(start.elapsed());
            if head > than || left.is_zero() {
                return Ok(head);
            }
            let watch = Watch {
                create_request: Watched {
                    key: Bytes(self.key(b"head")),
                    start_revision: Number(found.header.revision.0.saturating_add(1)),
                },
            };
            let listened = Instant::now();
            self.gateway.listen(&watch, left.min(LISTENING));
            // A watch that ended at once would be asked for again without end.
            let least = left.min(Duration::from_millis(20));
            std::thread::sleep(least.saturating_sub(listened.elapsed()));
        }
    }
}

type Object = (Hash, Vec<u8>);

/// What is put at once, below the limits of a request.
#[derive(Default)]
struct Batch {
    puts: Vec<Put>,
    size: usize,
}

impl Batch {
    fn has_room_for(&self, put: &Put) -> bool {
        self.puts.len() < OPERATIONS && self.size + size_of(put) <= REQUEST
    }

    fn add(&mut self, put: Put) {
        self.size += size_of(&put);
        self.puts.push(put);
    }
}

/// With what surrounds it.
fn size_of(put: &Put) -> usize {
    put.key.0.len() + put.value.0.len() + 32
}

/// The cluster may have added an entry, and did not say so.
fn unknown(version: u64, error: &Error) -> Error {
    let message = format!(
        "it is not known whether version {version} was added: {}",
        error.message
    );
    Error::new(UNKNOWN, message).help(
        "when the cluster answers again, `hence log` shows whether it was: look before you try again",
    )
}

fn entry_name(version: u64) -> Vec<u8> {
    format!("entry/{version:020}").into_bytes()
}

fn object_name(hash: Hash) -> Vec<u8> {
    format!("object/{hash}").into_bytes()
}

fn report_name(node: &str) -> Vec<u8> {
    format!("report/{node}").into_bytes()
}

/// All parts of a row begin so.
fn parts_name(name: &[u8], token: Token) -> Vec<u8> {
    let token = token.map(|byte| format!("{byte:02x}")).concat();
    format!("part/{}/{token}/", Hash::of(name)).into_bytes()
}

fn part_name(name: &[u8], token: Token, number: u32) -> Vec<u8> {
    let mut part = parts_name(name, token);
    part.extend(format!("{number:08}").into_bytes());
    part
}

/// Whoever writes an object writes the same rows.
fn object_token(hash: Hash) -> Token {
    *hash.as_bytes().first_chunk().expect("a hash has 32 bytes")
}

/// What the sum of a row is about, beside what it keeps.
fn about(name: &[u8], token: Token) -> Vec<u8> {
    [name, &token].concat()
}

/// The kind of a row, its token, and the rest of it.
fn opened(row: &[u8]) -> Option<(u8, Token, &[u8])> {
    let (kind, rest) = row.split_first()?;
    let (token, rest) = rest.split_first_chunk()?;
    Some((*kind, *token, rest))
}

/// The first key that does not begin so; there is one, for prefixes are text.
fn after(key: &[u8]) -> Vec<u8> {
    let mut end = key.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}

fn plain(key: Vec<u8>, value: Vec<u8>) -> Put {
    Put {
        key: Bytes(key),
        value: Bytes(value),
        prev_kv: false,
    }
}

fn put(key: Vec<u8>, value: Vec<u8>) -> Operation {
    Operation::RequestPut(plain(key, value))
}

fn never_put(key: &[u8]) -> Compare {
    Compare::Version {
        key: Bytes(key.to_vec()),
        version: Number(0),
    }
}
