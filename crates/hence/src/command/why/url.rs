//! Why a URL answers what it does: from the answer to an assertion, and from there to who wrote the line.
//!
//! On a node the closure is asked, and its server. Anywhere else what nodes are to serve is read from the ledger, and the
//! answer is computed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use hence_closure::address::{Endpoint, Name, Url};
use hence_closure::closure::Closure;
use hence_closure::content::{Tree, Trees};
use hence_closure::host::Machine;
use hence_closure::language::{Address, said};
use hence_closure::model::{Request, behaviour};
use hence_closure::part::{OWNER, Part, parameter};
use hence_closure::site::Site;
use hence_closure::words::{Subject, Words};
use hence_fleet::{Config, Explanation, Pool};
use hence_ledger::key::fold;
use hence_ledger::{Command, Hash, Key, State, Value};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_service::Service;
use hence_service::explained::{text, told};
use hence_service::pushed::Archive;
use serde::Serialize;

use super::{Format, Why, fleet};
use crate::command::agent;
use crate::command::http;
use crate::command::http::why::{Told, all, worded};
use crate::console::Console;
use crate::{Exit, Stop};

/// No node serves a host.
pub const NOT_SERVED: Code = Code::new("why.not-served");

impl Why {
    /// Says why a URL answers what it does.
    pub(super) fn url(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let address = Address::asked(self.file()).map_err(fleet::faulty)?;
        match self.closure_root(console) {
            Some(root) => self.served(console, &root, &address),
            None => self.promised(console, &address),
        }
    }

    /// The root of the closure on this machine, if one is named.
    fn closure_root(&self, console: &mut Console<'_>) -> Option<PathBuf> {
        let named = self.root.clone();
        let named = named.or_else(|| console.variable(http::ROOT));
        if let Some(root) = named {
            return Some(console.path(&root));
        }
        if self.path.is_some() || !console.path(&self.agent).exists() {
            return None;
        }
        let configured = agent::configured(console, &self.agent).ok()??;
        Some(configured.settings.web?.root)
    }

    /// As a closure serves it, and the fleet behind it says so.
    fn served(
        &self,
        console: &mut Console<'_>,
        root: &std::path::Path,
        address: &Address,
    ) -> Result<Exit, Stop> {
        let opened = Closure::open(&Machine, root);
        let closure = opened.map_err(|refused| fleet::stop(console, refused))?;
        let answers = all(&closure, address)?;
        let service = match self.ledger.is_there(console) {
            true => Some(self.ledger.open(console)?),
            false => None,
        };
        let mut active = service.as_ref().map(Active::new);
        let mut json = Vec::new();
        for answer in &answers {
            if self.format != Format::Json {
                answer.write(console)?;
            }
            let Some(by) = answer.by.as_ref().filter(|by| by.owner == OWNER) else {
                json.push(Whole {
                    answer,
                    fleet: None,
                });
                continue;
            };
            let (node, parameter) = (&by.author, parameter(&by.subject));
            let reason = match &mut active {
                Some(active) => active.reason(console, node, &parameter)?,
                None => None,
            };
            match (&reason, &service) {
                _ if self.format == Format::Json => {}
                (Some(reason), Some(service)) => {
                    write!(console.data(), "{}", reason.text(service))?;
                }
                _ => writeln!(
                    console.data(),
                    "  the fleet says so: `hence explain {node} '{parameter}'` says why, with `--server` and a token that may read"
                )?,
            }
            let fleet = reason.as_ref().zip(service.as_ref());
            let fleet = fleet.map(|(reason, service)| reason.value(service));
            json.push(Whole { answer, fleet });
        }
        if self.format == Format::Json {
            fleet::print_json(console, &json)?;
        }
        Ok(Exit::Done)
    }

    /// As nodes are to serve it.
    fn promised(&self, console: &mut Console<'_>, address: &Address) -> Result<Exit, Stop> {
        let Address { host, url, .. } = address;
        let service = self.ledger.open(console)?;
        let mut active = Active::new(&service);
        let nodes: Vec<String> = match &self.path {
            Some(node) => vec![node.clone()],
            None => {
                // Who is asserted no more serves on until that is activated.
                let mut nodes = service.head().nodes();
                nodes.extend(service.active().nodes());
                nodes.sort();
                nodes.dedup();
                nodes.iter().map(ToString::to_string).collect()
            }
        };
        let mut hosts: Vec<String> = Vec::new();
        let mut found: Vec<Promise> = Vec::new();
        for node in nodes {
            let config = service.config(&node);
            let config = config.map_err(|refused| fleet::stop(console, refused))?;
            let Some(config) = config else {
                return Err(fleet::config::no_node(console, &service, &node));
            };
            let Some(site) = site(&config) else { continue };
            hosts.extend(site.hosts.keys().map(|name| name.as_str().to_owned()));
            if site.host(SOMEWHERE, host).is_none() {
                continue;
            }
            let mut promise = promise(&service, &config, &site, node, host, url);
            let parameter = parameter(&promise.subject);
            promise.reason = active.reason(console, &promise.nodes[0], &parameter)?;
            match found.iter_mut().find(|other| other.is_like(&promise)) {
                Some(other) => other.nodes.extend(promise.nodes),
                None => found.push(promise),
            }
        }
        if found.is_empty() {
            let message = match &self.path {
                None => format!("no node serves `{host}`"),
                Some(node) => format!("`{node}` does not serve `{host}`"),
            };
            let trouble = Diagnostic::error(NOT_SERVED, message);
            let near = similar(host.as_str(), hosts.iter().map(String::as_str));
            let help = match near.first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => "what is not activated is not served yet: `hence plan`".to_owned(),
            };
            return Err(Stop::Refused(Box::new(trouble.help(help))));
        }
        if self.format == Format::Json {
            let answers: Vec<_> = found.iter().map(|one| one.value(&service)).collect();
            fleet::print_json(console, &answers)?;
            return Ok(Exit::Done);
        }
        for promise in &found {
            let (nodes, answer) = (promise.nodes.join(", "), &promise.answer);
            let by = &promise.assertion;
            // By which of the two a node listens is its own affair.
            let scheme = match address.is_secured {
                true => "https",
                false => "http",
            };
            let words = format!("{scheme}://{host}{url} on {nodes} answers {answer}\n  by `{by}`");
            writeln!(console.data(), "{}", service.legible(&words))?;
            if let Some(reason) = &promise.reason {
                write!(console.data(), "{}", reason.text(&service))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// What a closure answers, and why the fleet wants it so.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    answer: &'a Told,
    #[serde(skip_serializing_if = "Option::is_none")]
    fleet: Option<serde_json::Value>,
}

/// Why a parameter of a node has its value, as of the version that the node is to run.
struct Reason {
    version: u64,
    explanation: Explanation,
}

impl Reason {
    fn text(&self, service: &Service) -> String {
        service.legible(&text(&self.archive(service), &self.explanation))
    }

    fn value(&self, service: &Service) -> serde_json::Value {
        let told = told(&self.archive(service), &self.explanation);
        serde_json::to_value(told).unwrap_or_default()
    }

    fn archive<'s>(&self, service: &'s Service) -> Archive<'s> {
        Archive::at(service, Some(self.version))
    }
}

/// The fleet as it is active: in a rollout, not the same for all nodes.
struct Active<'s> {
    service: &'s Service,
    pools: BTreeMap<u64, Pool>,
}

impl<'s> Active<'s> {
    fn new(service: &'s Service) -> Self {
        Self {
            service,
            pools: BTreeMap::new(),
        }
    }

    fn reason(
        &mut self,
        console: &mut Console<'_>,
        node: &str,
        parameter: &str,
    ) -> Result<Option<Reason>, Stop> {
        let version = self.service.repository().active().target(&fold(node));
        let pool = match self.pools.entry(version) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let pool = self.service.pool_at(version);
                place.insert(pool.map_err(|refused| fleet::stop(console, refused))?)
            }
        };
        let explanation = pool.explain(node, parameter);
        Ok(explanation.map(|explanation| Reason {
            version,
            explanation,
        }))
    }
}

/// What nodes are to answer.
struct Promise {
    nodes: Vec<String>,
    answer: String,
    subject: Subject,
    assertion: String,
    /// Why the first of them is to.
    reason: Option<Reason>,
}

impl Promise {
    /// Whether others answer the same for the same reasons.
    fn is_like(&self, other: &Promise) -> bool {
        let keys = |promise: &Promise| -> Vec<Key> {
            let reasons = promise.reason.iter();
            let chain = reasons.flat_map(|reason| &reason.explanation.chain);
            chain.map(|step| step.key.clone()).collect()
        };
        self.answer == other.answer
            && self.assertion == other.assertion
            && keys(self) == keys(other)
    }

    fn value(&self, service: &Service) -> serde_json::Value {
        serde_json::json!({
            "nodes": self.nodes,
            "answer": self.answer,
            "assertion": self.assertion,
            "fleet": self.reason.as_ref().map(|reason| reason.value(service)),
        })
    }
}

/// Where a node listens is its own affair: what it serves does not depend on it.
const SOMEWHERE: Endpoint = Endpoint::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 80);

/// The web sites in a configuration, if there are any and nothing is wrong with them.
fn site(config: &Config) -> Option<Site> {
    let values: Vec<(String, String)> = config
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let parameters = values
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let part = Part::read(parameters).ok()?;
    if part.is_empty() {
        return None;
    }
    let mut set = part.set();
    set.push((Subject::Listen(SOMEWHERE).key(), Value::Nothing));
    let mut state = State::default();
    state.perform(&Command::apply(OWNER, set, &Words), 1, &Words);
    Some(Site::of(&state))
}

fn promise(
    service: &Service,
    config: &Config,
    site: &Site,
    node: String,
    host: &Name,
    url: &Url,
) -> Promise {
    let path = url.to_string();
    let request = Request {
        endpoint: SOMEWHERE,
        named: None,
        host: host.as_str(),
        path: &path,
        from: SOMEWHERE.ip(),
        user: None,
    };
    let answer = behaviour(site, &Kept(service), &request);
    let by = answer.by.clone();
    let subject = by.unwrap_or_else(|| Subject::Host(host.clone()));
    let parameter = parameter(&subject);
    let value = config
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(&parameter));
    let value = value.map_or(Value::Nothing, |(_, value)| match value.to_string() {
        yes if yes == "yes" => Value::Nothing,
        words => Value::text(words),
    });
    Promise {
        nodes: vec![node],
        answer: worded(&answer),
        assertion: said(&subject.key(), &value),
        subject,
        reason: None,
    }
}

/// Directories that are kept in a ledger.
struct Kept<'s>(&'s Service);

impl Trees for Kept<'_> {
    fn tree(&self, hash: Hash) -> Option<Arc<Tree>> {
        let list = self.0.repository().object(hash).ok()??;
        Tree::from_text(std::str::from_utf8(&list).ok()?).map(Arc::new)
    }
}
