//! The one service behind all connections.
//!
//! Changes go through it one by one. What most requests want, tokens and configurations of nodes, is read from a view of the
//! version that was published last, without waiting for anybody.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use hence_api::words;
use hence_fleet::explain::write_parameter;
use hence_fleet::token::{self, Token};
use hence_fleet::{Config, Kind};
use hence_ledger::entry::Nodes;
use hence_ledger::key::fold;
use hence_ledger::rollout::Status;
use hence_ledger::value::Sealed;
use hence_ledger::{Act, Entry};
use hence_model::legible;
use hence_service::Service;
use hence_service::history::STRANGERS;
use hence_service::report::CheckIn;
use hence_service::secrets::{Keeper, unreadable_for};
use hence_store::{Error, FAILED, Refused, Request, Store};
use tokio::sync::{Semaphore, broadcast, oneshot, watch};

use crate::access::Access;
use crate::answer::No;
use crate::limits::Counts;
use crate::metrics::Metrics;
use crate::{Limits, Parts, Stop};

/// The one service behind all connections.
pub struct Hub {
    service: Mutex<Service>,
    view: RwLock<Arc<View>>,
    pub(crate) happened: broadcast::Sender<Arc<Happened>>,
    /// How often nodes reported.
    pub(crate) reported: watch::Sender<u64>,
    pub(crate) parts: Rest,
    pub(crate) counts: Counts,
    pub(crate) metrics: Metrics,
    pub(crate) connections: Arc<Semaphore>,
    /// Nodes that check in, and wait for the service.
    waiting: Mutex<Vec<(CheckIn, Telling)>>,
    /// When a store that is shared was last heard of.
    heard: Mutex<Instant>,
}

/// Takes what a node is told.
type Telling = oneshot::Sender<Result<words::CheckedIn, No>>;

/// What else a server is made of.
pub(crate) struct Rest {
    pub seal: Option<hence_service::seal::Seal>,
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    pub random: Arc<crate::Random>,
    pub log: Arc<crate::Log>,
    pub limits: Limits,
    pub release: &'static str,
    pub shared: bool,
}

/// A version as most requests want it.
pub(crate) struct View {
    pub version: u64,
    pub nodes: usize,
    /// Whether an activation in stages goes on.
    rolls: bool,
    /// By their sums.
    pub tokens: HashMap<String, Arc<Token>>,
    served: Mutex<HashMap<(String, Reader), Arc<Served>>>,
}

/// Who reads a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reader {
    /// The node itself, which sees secrets.
    Itself,
    /// Anybody else.
    Other,
}

/// A configuration, as it is sent.
pub(crate) struct Served {
    pub text: axum::body::Bytes,
    pub json: axum::body::Bytes,
    pub tag: HeaderValue,
}

/// Something that happened, as watchers are told.
pub(crate) struct Happened {
    pub version: u64,
    pub kind: &'static str,
    pub data: String,
    /// Whose configurations changed.
    changed: Option<Nodes>,
}

impl Happened {
    /// Whether it is of interest to a node.
    pub fn concerns(&self, node: &str) -> bool {
        let changed = self.changed.as_ref();
        changed.is_some_and(|nodes| nodes.contains(node) || nodes.contains(STRANGERS))
    }
}

/// So long news are waited for before it is asked whether to go on.
const PATIENCE: Duration = Duration::from_secs(2);
/// After so long without news, a store is away.
const SILENCE: Duration = Duration::from_secs(10);
/// So long a store that failed is left alone, and a rollout until it is looked at again.
const PAUSE: Duration = Duration::from_millis(500);

/// So many events may be behind; whoever is further behind reads the history.
const BACKLOG: usize = 1024;

impl Hub {
    /// The hub of a server.
    pub fn new(mut parts: Parts) -> Arc<Self> {
        let keeper = parts.seal.clone().map_or(Keeper::Nobody, Keeper::Us);
        parts.service.is_kept_by(keeper);
        let view = view(&parts.service);
        Arc::new(Self {
            view: RwLock::new(Arc::new(view)),
            service: Mutex::new(parts.service),
            happened: broadcast::channel(BACKLOG).0,
            reported: watch::Sender::new(0),
            counts: Counts::default(),
            metrics: Metrics::default(),
            connections: Arc::new(Semaphore::new(parts.limits.connections)),
            waiting: Mutex::default(),
            heard: Mutex::new(Instant::now()),
            parts: Rest {
                seal: parts.seal,
                clock: parts.clock,
                random: parts.random,
                log: parts.log,
                limits: parts.limits,
                release: parts.release,
                shared: parts.shared,
            },
        })
    }

    /// What was published last.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What somebody may who has a token, if it is known and has not expired.
    pub(crate) fn access(&self, token: &str) -> Option<Access> {
        let token = self.view().tokens.get(&crate::sum(token)).cloned()?;
        let lasts = token.expires.is_none_or(|end| self.now() < end);
        lasts.then_some(Access(token))
    }

    /// Whether a secret was handed in with a token of late, here or at another server of this ledger. Whoever knows a secret
    /// may say it anywhere; whoever only read it sealed may not.
    pub(crate) fn has_receipt(&self, token: &Token, handed_in: &words::Sealed) -> bool {
        let sealed = Sealed {
            fingerprint: handed_in.fingerprint.as_str().into(),
            content: handed_in.content.as_str().into(),
        };
        let seal = self.parts.seal.as_ref();
        seal.is_some_and(|seal| seal.knows(&handed_in.receipt, &sealed, &token.name, self.now()))
    }

    pub(crate) fn now(&self) -> u64 {
        (self.parts.clock)()
    }

    /// Does something with the service, apart from the threads that answer, and publishes what came of it.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl FnOnce(&mut Service) -> Result<T, No> + Send + 'static,
    ) -> Result<T, No> {
        let hub = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut service = hub.service();
            // If the store is away, what is known is told, and nobody waits to hear so once more; a change will fail by
            // itself. Those who keep following find out when it is back.
            if hub.parts.shared && hub.is_ready() {
                let _ = service.follow();
            }
            let result = task(&mut service);
            hub.publish(&service);
            result
        });
        done.await.unwrap_or_else(|_| Err(given_up()))
    }

    /// Looks at what only the store knows, in the same way. While it is away, nobody waits to hear that.
    pub(crate) async fn look_up<T: Send + 'static>(
        self: &Arc<Self>,
        task: impl FnOnce(&mut Service) -> Result<T, No> + Send + 'static,
    ) -> Result<T, No> {
        let hub = self.clone();
        self.work(move |service| {
            hub.must_be_ready(service)?;
            task(service)
        })
        .await
    }

    /// The store must be there.
    pub(crate) fn must_be_ready(&self, service: &Service) -> Result<(), Error> {
        if self.is_ready() {
            return Ok(());
        }
        let place = service.repository().store().place();
        let error = Error::new(FAILED, format!("{place} does not answer"));
        Err(error.help("it is asked again and again: try later"))
    }

    /// Notes what a node says. Whoever comes while the service is busy goes along with the first of them, so that one write
    /// keeps what all of them say.
    pub(crate) async fn check_in(
        self: &Arc<Self>,
        check_in: CheckIn,
    ) -> Result<words::CheckedIn, No> {
        let (telling, told) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting();
            waiting.push((check_in, telling));
            waiting.len() == 1
        };
        if is_first {
            let hub = self.clone();
            let work = self.work(move |service| {
                let waiting = std::mem::take(&mut *hub.waiting());
                let (check_ins, telling): (Vec<CheckIn>, Vec<Telling>) =
                    waiting.into_iter().unzip();
                let told = service.check_in_all(&check_ins);
                // Whoever is told finds it in what is served.
                hub.publish(service);
                hub.reported.send_modify(|times| *times += 1);
                for (telling, told) in telling.into_iter().zip(told) {
                    // A node that has left will come again.
                    let _ = telling.send(told.map_err(No::from));
                }
                Ok(())
            });
            work.await?;
        }
        told.await.unwrap_or_else(|_| Err(given_up()))
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(CheckIn, Telling)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what other servers add to the store, until it is stopped. The store is opened once more for it, so that
    /// waiting keeps nobody else waiting.
    pub fn keep_following(self: &Arc<Self>, stop: &Stop, store: Box<dyn Store>) {
        let (hub, stop) = (self.clone(), stop.clone());
        std::thread::spawn(move || {
            while !stop.is_stopped() {
                let news = store.wait(hub.view().version, PATIENCE);
                if news.is_ok() {
                    *hub.heard() = Instant::now();
                }
                let followed = match news {
                    Ok(newest) if newest > hub.view().version => hub.follow().is_ok(),
                    news => news.is_ok(),
                };
                if !followed {
                    // The store is away; it is asked again, and meanwhile what is known is served.
                    std::thread::sleep(PAUSE);
                }
            }
        });
    }

    /// Whether the store is there. If it is away, what is known is served, and nothing changes.
    pub(crate) fn is_ready(&self) -> bool {
        !self.parts.shared || self.heard().elapsed() < SILENCE
    }

    fn heard(&self) -> MutexGuard<'_, Instant> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with the rollout, if there is one, until it is stopped. Any server of a cluster can, so the end of one is not
    /// the end of a rollout.
    pub fn keep_rolling(self: &Arc<Self>, stop: &Stop) {
        let (hub, stop) = (self.clone(), stop.clone());
        std::thread::spawn(move || {
            while !stop.is_stopped() {
                let mut pause = PAUSE;
                if hub.view().rolls {
                    let begun = Instant::now();
                    // What fails now is tried again.
                    let _ = hub.roll();
                    // In a large fleet it takes a while to look at all reports.
                    pause = pause.max(begun.elapsed() * 20);
                }
                std::thread::sleep(pause);
            }
        });
    }

    fn roll(&self) -> Result<(), Refused> {
        let mut service = self.service();
        let result = service.step_rollout(self.now());
        self.publish(&service);
        result.map(drop)
    }

    fn follow(&self) -> Result<(), Refused> {
        let mut service = self.service();
        service.follow()?;
        self.publish(&service);
        Ok(())
    }

    fn service(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, service: &Service) {
        let before = self.view().version;
        let version = service.repository().version();
        if version == before {
            return;
        }
        // Whoever told of it is there.
        *self.heard() = Instant::now();
        let new = Arc::new(view(service));
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = new;
        for version in before + 1..=version {
            if let Ok(Some(entry)) = service.repository().entry(version) {
                // Nobody may be watching.
                let _ = self.happened.send(Arc::new(happened(&entry)));
            }
        }
    }

    /// The configuration of a node as it is sent; nothing if there is no such node.
    pub(crate) async fn served(
        self: &Arc<Self>,
        node: &str,
        reader: Reader,
    ) -> Result<Option<Arc<Served>>, No> {
        let view = self.view();
        let key = (fold(node), reader);
        if let Some(served) = view.served().get(&key) {
            return Ok(Some(served.clone()));
        }
        let hub = self.clone();
        let folded = key.0.clone();
        let served = self
            .work(move |service| {
                let Some(configuration) = hub.configuration(service, &folded, None, reader)? else {
                    return Ok(None);
                };
                Ok(Some(Arc::new(Served::new(&configuration))))
            })
            .await?;
        if let Some(served) = &served {
            view.served().insert(key, served.clone());
        }
        Ok(served)
    }

    /// What a node is to run, now or at a version.
    pub(crate) fn configuration(
        &self,
        service: &mut Service,
        node: &str,
        at: Option<u64>,
        reader: Reader,
    ) -> Result<Option<words::Configuration>, No> {
        let version = at.unwrap_or_else(|| service.repository().version());
        let config = match at {
            None => service.config(node)?,
            Some(at) => service.config_at(node, at)?,
        };
        let Some(config) = config else {
            return Ok(None);
        };
        let version = service.version_of_at(node, version)?;
        Ok(Some(self.told(service, node, version, config, reader)?))
    }

    /// A configuration in words.
    pub(crate) fn told(
        &self,
        service: &Service,
        node: &str,
        version: u64,
        config: Config,
        reader: Reader,
    ) -> Result<words::Configuration, No> {
        let open = |sealed: &Sealed| self.parts.seal.as_ref()?.open(sealed);
        let mut parameters = std::collections::BTreeMap::new();
        let mut secrets = Vec::new();
        for (name, value) in config {
            if value.sealed.is_some() {
                secrets.push(name.to_string());
            }
            let secret = value.sealed.as_ref().filter(|_| reader == Reader::Itself);
            let text = match secret {
                None => value.to_string(),
                Some(sealed) => {
                    // A node that got the sealed text would run it.
                    let opened = open(sealed).ok_or_else(|| unreadable_for(node, &name))?;
                    format!("{opened}{}", value.text)
                }
            };
            parameters.insert(name.to_string(), text);
        }
        let spelling = service.head().spelling(Kind::Node, node);
        let [features, groups] = service.memberships(node)?.map(|names| {
            let names = names.into_iter();
            names.map(|name| name.to_string()).collect()
        });
        Ok(words::Configuration {
            node: spelling.map_or_else(|| node.to_owned(), |name| name.to_string()),
            version,
            parameters,
            secrets,
            features,
            groups,
        })
    }

    /// What a change says of itself when it came over the network.
    pub(crate) fn request(&self, token: &Token, doing: words::Doing, command: &str) -> Request {
        let command = || hence_ledger::entry::Origin::Command(command.to_owned());
        Request {
            author: token.name.clone(),
            owner: doing.owner,
            time: self.now(),
            message: doing.message,
            origin: doing.origin.unwrap_or_else(command),
            objects: Vec::new(),
            if_version: doing.if_version,
        }
    }
}

fn given_up() -> No {
    hence_store::Error::new(hence_store::FAILED, "the request was given up").into()
}

impl View {
    fn served(&self) -> MutexGuard<'_, HashMap<(String, Reader), Arc<Served>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Served {
    fn new(configuration: &words::Configuration) -> Self {
        let json = serde_json::to_vec(configuration).expect("a configuration can be written");
        let sum = blake3::hash(&json).to_hex();
        let tag = format!("\"{}-{}\"", configuration.version, &sum[..16]);
        Self {
            text: text(configuration).into(),
            json: json.into(),
            tag: HeaderValue::from_str(&tag).expect("a tag is plain"),
        }
    }
}

/// A configuration file.
pub(crate) fn text(configuration: &words::Configuration) -> String {
    let node = legible::line(&configuration.node);
    let mut text = format!("# {node}, version {}\n", configuration.version);
    for (name, value) in &configuration.parameters {
        write_parameter(&mut text, name, value).expect("a string can be written to");
    }
    text
}

fn view(service: &Service) -> View {
    let tokens = token::tokens(service.state()).into_iter();
    let rollout = service.rollout();
    View {
        version: service.repository().version(),
        nodes: service.head().node_count(),
        rolls: rollout.is_some_and(|rollout| rollout.status == Status::Running),
        tokens: tokens.map(|(sum, token)| (sum, Arc::new(token))).collect(),
        served: Mutex::default(),
    }
}

/// What watchers are told of an entry.
pub(crate) fn happened(entry: &Entry) -> Happened {
    let (kind, more, changed) = match &entry.act {
        Act::Commit { changes, .. } => {
            ("commit", serde_json::json!({ "keys": changes.len() }), None)
        }
        Act::Activation {
            target, changed, ..
        } => (
            "activation",
            serde_json::json!({ "target": target }),
            Some(changed.clone()),
        ),
        Act::Naming { name } => ("naming", serde_json::json!({ "name": name }), None),
        Act::Rollout => ("rollout", serde_json::json!({}), None),
    };
    let mut data = more;
    data["version"] = entry.version.into();
    data["author"] = entry.author.as_str().into();
    data["message"] = entry.message.as_str().into();
    Happened {
        version: entry.version,
        kind,
        data: data.to_string(),
        changed,
    }
}

/// Counts while it lives.
pub(crate) struct Counted {
    hub: Arc<Hub>,
    which: fn(&Metrics) -> &AtomicU64,
}

impl Counted {
    pub fn new(hub: &Arc<Hub>, which: fn(&Metrics) -> &AtomicU64) -> Self {
        which(&hub.metrics).fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Self {
            hub: hub.clone(),
            which,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.which)(&self.hub.metrics).fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}
