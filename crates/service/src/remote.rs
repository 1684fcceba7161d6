//! A ledger behind a server, used as one that is here: what is read comes by its hash and is compared with it, and changes
//! are made by the server.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ecow::EcoString;
use hence_api::words::{self, Doing, frames};
use hence_api::{Client, Failure};
use hence_ledger::admission::Dormant;
use hence_ledger::{Admitted, Command, Hash, Key};
use hence_model::diagnostic::Diagnostic;
use hence_store::{Appended, Done, Error, Receipt, Refused, Request, Store};

use crate::activation::{Activated, Extent, Pair};
use crate::rollout::Order;
use crate::{Leave, Service};

/// A ledger behind a server.
#[derive(Clone)]
pub(crate) struct Remote(Client);

impl Service {
    /// The fleet behind a server.
    pub fn connect(client: Client) -> Result<Self, Refused> {
        let store = Window {
            client: client.clone(),
            objects: Mutex::default(),
        };
        let mut service = Self::open(Box::new(store))?;
        service.remote = Some(Remote(client));
        Ok(service)
    }

    /// Takes in what others added.
    pub fn follow(&mut self) -> Result<bool, Refused> {
        self.repository.follow()?;
        let is_news = self.known != self.repository.version();
        self.catch_up()?;
        Ok(is_news)
    }

    /// Whether changes are made by a server.
    pub fn is_elsewhere(&self) -> bool {
        self.remote.is_some()
    }

    /// Lets the server make a change, and takes in what it did.
    pub(crate) fn elsewhere<T>(
        &mut self,
        change: impl FnOnce(&Remote) -> Result<T, Failure>,
    ) -> Option<Result<T, Refused>> {
        let remote = self.remote.clone()?;
        let done = change(&remote).map_err(refused);
        if done.is_ok() {
            // It is done, also if that cannot be read now.
            let _ = self.follow();
        }
        Some(done)
    }
}

impl Remote {
    pub fn commit(
        &self,
        request: &Request,
        commands: &[Command],
        leave: &Leave,
        import: bool,
    ) -> Result<(Receipt, Vec<Diagnostic>), Failure> {
        let objects = request.objects.iter();
        let commit = words::Commit {
            commands: words::Commands::List(commands.to_vec()),
            doing: doing(request),
            objects: objects
                .map(|(hash, content)| words::Object {
                    hash: *hash,
                    content: content.clone(),
                })
                .collect(),
            take: leave.take.iter().map(Key::to_string).collect(),
            dormant: leave.dormant,
            import,
            handed_in: leave.handed_in.clone(),
        };
        let done = self.0.post("commits", &commit)?;
        Ok(receipt_and_told(done))
    }

    pub fn undo(
        &self,
        request: &Request,
        version: Option<u64>,
    ) -> Result<(Receipt, Vec<Diagnostic>), Failure> {
        let doing = doing(request);
        let done = self.0.post("undo", &words::Undo { version, doing })?;
        Ok(receipt_and_told(done))
    }

    pub fn restore(
        &self,
        request: &Request,
        version: u64,
    ) -> Result<(Receipt, Vec<Diagnostic>), Failure> {
        let doing = doing(request);
        let done = self.0.post("restore", &words::Restore { version, doing })?;
        Ok(receipt_and_told(done))
    }

    pub fn name(
        &self,
        request: &Request,
        name: &str,
        version: u64,
        annotation: &str,
    ) -> Result<Receipt, Failure> {
        let naming = words::Naming {
            version,
            annotation: annotation.to_owned(),
            doing: doing(request),
        };
        let path = format!("snapshots/{}", hence_api::client::escaped(name));
        Ok(receipt(self.0.put(&path, &naming)?))
    }

    pub fn unname(&self, name: &str) -> Result<Receipt, Failure> {
        let path = format!("snapshots/{}", hence_api::client::escaped(name));
        Ok(receipt(self.0.delete(&path)?))
    }

    pub fn check_in(
        &self,
        node: &str,
        report: &words::Report,
    ) -> Result<words::CheckedIn, Failure> {
        let path = format!("nodes/{}/check-in", hence_api::client::escaped(node));
        self.0.post(&path, report)
    }

    pub fn activate(
        &self,
        request: &Request,
        extent: &Extent,
        seen: Option<Pair>,
    ) -> Result<Activated, Failure> {
        let activation = words::Activation {
            extent: extent.into(),
            plan: seen.map(|pair| pair.to_string()),
            doing: doing(request),
        };
        let done: words::Activated = self.0.post("activations", &activation)?;
        let changed = done.changed.iter().map(EcoString::from);
        Ok(Activated {
            receipt: receipt(words::Done {
                version: done.version,
                ..words::Done::default()
            }),
            pair: done.plan.parse().unwrap_or_default(),
            changed: changed.collect(),
        })
    }

    pub fn begin_rollout(
        &self,
        request: &Request,
        wanted: &words::NewRollout,
    ) -> Result<Receipt, Failure> {
        let wanted = words::NewRollout {
            doing: doing(request),
            ..wanted.clone()
        };
        Ok(receipt(self.0.post("rollout", &wanted)?))
    }

    pub fn order_rollout(&self, request: &Request, order: Order) -> Result<Receipt, Failure> {
        let path = format!("rollout/{}", order.word());
        Ok(receipt(self.0.post(&path, &doing(request))?))
    }
}

fn doing(request: &Request) -> Doing {
    Doing {
        owner: request.owner.clone(),
        message: request.message.clone(),
        origin: Some(request.origin.clone()),
        if_version: request.if_version,
    }
}

fn receipt_and_told(done: words::Done) -> (Receipt, Vec<Diagnostic>) {
    let told = done.told.iter().cloned().map(Diagnostic::from).collect();
    (receipt(done), told)
}

fn receipt(done: words::Done) -> Receipt {
    let Some(version) = done.version else {
        return Receipt::Nothing;
    };
    let lost = done.lost.into_iter();
    let dormant = done.dormant.into_iter().map(|dormant| Dormant {
        key: Key::from_text(&dormant.key),
        owner: dormant.owner.into(),
        missing: dormant
            .missing
            .iter()
            .map(|key| Key::from_text(key))
            .collect(),
    });
    Receipt::Done(Done {
        version,
        admitted: Admitted {
            changes: done.changes,
            lost: lost
                .map(|lost| (lost.owner.into(), Key::from_text(&lost.key)))
                .collect(),
            dormant: dormant.collect(),
        },
    })
}

fn refused(failure: Failure) -> Refused {
    match failure {
        Failure::Refused(_, troubles) => Refused::Because(troubles),
        Failure::Unreachable(trouble) => Refused::Failed((*trouble).into()),
    }
}

/// So many objects are asked for at once.
const BATCH: usize = 2048;

/// What can be seen of a ledger behind a server.
struct Window {
    client: Client,
    /// Each object comes once.
    objects: Mutex<HashMap<Hash, Vec<u8>>>,
}

impl Window {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.client.bytes(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Failure::Refused(404, _)) => Ok(None),
            Err(failure) => Err(failed(failure)),
        }
    }
}

fn failed(failure: Failure) -> Error {
    let mut troubles = failure.diagnostics();
    troubles.remove(0).into()
}

impl Store for Window {
    fn place(&self) -> String {
        self.client.server().to_owned()
    }

    fn head(&self) -> Result<u64, Error> {
        let about: words::About = self.client.get("").map_err(failed)?;
        Ok(about.version)
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        self.read(&format!("entries/{version}/bytes"))
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(object) = objects.get(&hash) {
            return Ok(Some(object.clone()));
        }
        let object = self.read(&format!("objects/{hash}"))?;
        if let Some(object) = &object {
            objects.insert(hash, object.clone());
        }
        Ok(object)
    }

    fn objects(&self, hashes: &[Hash]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = hashes.iter().filter(|hash| !objects.contains_key(hash));
        let missing: Vec<Hash> = missing.copied().collect();
        for some in missing.chunks(BATCH) {
            let hashes = some.to_vec();
            let bytes = self.client.exchange("objects", &words::Wanted { hashes });
            let contents = frames::read(&bytes.map_err(failed)?).unwrap_or_default();
            for (hash, content) in some.iter().zip(contents) {
                objects.extend(content.map(|content| (*hash, content)));
            }
        }
        let objects = hashes.iter().map(|hash| objects.get(hash).cloned());
        Ok(objects.collect())
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        let hashes: Result<Vec<Hash>, Failure> = self.client.get("objects");
        hashes.map_err(failed)
    }

    fn append(&self, _: u64, _: &[u8], _: &[(Hash, Vec<u8>)]) -> Result<Appended, Error> {
        unreachable!("changes are made by the server")
    }

    fn report(&self, _: &str, _: &[u8]) -> Result<(), Error> {
        unreachable!("reports are taken by the server")
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        self.read(&format!(
            "nodes/{}/report",
            hence_api::client::escaped(node)
        ))
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let reports: Result<Vec<(String, words::Report)>, Failure> = self.client.get("reports");
        let reports = reports.map_err(failed)?.into_iter();
        let written =
            |report: &words::Report| serde_json::to_vec(report).expect("it can be written");
        Ok(reports
            .map(|(node, report)| (node, written(&report)))
            .collect())
    }
}
