//! What nodes say about themselves: kept beside the ledger, the last word of each.

use std::collections::BTreeMap;

use hence_api::words::{CheckedIn, Report};
use hence_fleet::Kind;
use hence_fleet::edit::{Edit, Thing};
use hence_fleet::tags::{Tagged, tagged};
use hence_ledger::admission::{FACTS, WALK_IN};
use hence_ledger::key::fold;
use hence_ledger::{Command, Value};
use hence_store::{Error, Refused, Request};

use crate::{Leave, Service};

/// What a node says when it checks in.
#[derive(Clone, Debug)]
pub struct CheckIn {
    /// By whom it is said, should the node have to be made.
    pub request: Request,
    /// The node.
    pub node: String,
    /// What it says.
    pub report: Report,
}

impl Service {
    /// Notes what a node says. One that nobody knows walks in.
    pub fn check_in(
        &mut self,
        request: &Request,
        node: &str,
        report: &Report,
    ) -> Result<CheckedIn, Refused> {
        if let Some(told) = self.elsewhere(|remote| remote.check_in(node, report)) {
            return told;
        }
        self.walk_in(request, node, &[])?;
        self.tag(request, node, &report.facts)?;
        let (node, bytes) = row(node, report);
        self.repository().store().report(&node, &bytes)?;
        self.checked_in(&node)
    }

    /// Notes what many nodes say, in one step of the store. What is wrong with one is no trouble for the others.
    pub fn check_in_all(&mut self, check_ins: &[CheckIn]) -> Vec<Result<CheckedIn, Refused>> {
        let mut rows = Vec::new();
        let walk_in = |check_in: &CheckIn| {
            let CheckIn {
                request,
                node,
                report,
            } = check_in;
            self.walk_in(request, node, &[])?;
            self.tag(request, node, &report.facts)?;
            rows.push(row(node, report));
            Ok(())
        };
        let walked: Vec<Result<(), Refused>> = check_ins.iter().map(walk_in).collect();
        let kept = self.repository().store().report_all(&rows);
        let told = walked.into_iter().zip(check_ins);
        told.map(|(walked, check_in)| {
            walked?;
            kept.clone()?;
            self.checked_in(&check_in.node)
        })
        .collect()
    }

    /// What a node is told.
    fn checked_in(&mut self, node: &str) -> Result<CheckedIn, Refused> {
        let spelling = self.head().spelling(Kind::Node, node);
        Ok(CheckedIn {
            node: spelling.map_or_else(|| node.to_owned(), |name| name.to_string()),
            version: self.version_of(node)?,
        })
    }

    /// Puts a node into the groups that its facts say, and out of those that they say no more. Who says no facts leaves
    /// it as it is.
    fn tag(
        &mut self,
        request: &Request,
        node: &str,
        facts: &BTreeMap<String, String>,
    ) -> Result<(), Refused> {
        if facts.is_empty() {
            return Ok(());
        }
        let Tagged { commands, message } = tagged(self.state(), node, facts);
        if commands.is_empty() {
            return Ok(());
        }
        let request = Request {
            owner: FACTS.to_owned(),
            message,
            ..request.clone()
        };
        match self.commit(&request, &commands, &Leave::default()) {
            // What facts may not say is not said; that is no reason to send the node away.
            Err(Refused::Because(_)) => Ok(()),
            result => result.map(drop),
        }
    }

    /// Makes a node that nobody knows, and does what belongs to that in the same change.
    pub fn walk_in(
        &mut self,
        request: &Request,
        node: &str,
        also: &[Command],
    ) -> Result<(), Refused> {
        let mut commands = Vec::new();
        if self.head().spelling(Kind::Node, node).is_none() {
            let thing = Thing {
                kind: Kind::Node,
                name: node.to_owned(),
            };
            let key = thing.key().child("walk-in");
            commands = self.translate(WALK_IN, &[Edit::Create(thing, Vec::new())])?;
            commands.push(Command::Assert {
                owner: WALK_IN.into(),
                key,
                value: Value::Nothing,
            });
        }
        commands.extend_from_slice(also);
        if !commands.is_empty() {
            let mut request = request.clone();
            request.owner = WALK_IN.to_owned();
            self.commit(&request, &commands, &Leave::default())?;
        }
        Ok(())
    }

    /// What a node said last.
    pub fn report_of(&self, node: &str) -> Result<Option<Report>, Error> {
        let bytes = self.repository().store().report_of(&fold(node))?;
        Ok(bytes.map(|bytes| serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    /// What each node said last, by their folded names.
    pub fn reports(&self) -> Result<BTreeMap<String, Report>, Error> {
        let reports = self.repository().store().reports()?.into_iter();
        let read = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap_or_default();
        Ok(reports.map(|(node, bytes)| (node, read(&bytes))).collect())
    }
}

/// A report, as it is kept.
fn row(node: &str, report: &Report) -> (String, Vec<u8>) {
    let bytes = serde_json::to_vec(report).expect("a report can be written");
    (fold(node), bytes)
}
