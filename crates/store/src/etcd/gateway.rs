//! Asking a cluster: one question at a time, of whichever member answers.
//!
//! A question that got no answer is asked again, of the next member. Whether it was heard the first time is not known,
//! so only questions are asked here that may be asked twice.

use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

use super::address::{Address, Credentials};
use super::messages::{Authenticate, Authenticated, Failure, Told, Watch};
use crate::Error;
use crate::error::{DENIED, FAILED};

const CONNECT: Duration = Duration::from_secs(3);
/// A member that stands still is known by its silence; one at work answers within this time, if only to say that it cannot.
const ANSWER: Duration = Duration::from_secs(5);
/// For the bodies, which may be large.
const TRANSFER: Duration = Duration::from_secs(20);
/// How long a cluster may be without a leader before that is an error.
const PATIENCE: Duration = Duration::from_secs(20);
/// So often nobody at all may be there.
const NOBODY: u32 = 3;
/// No answer is larger: rows are small, and asked for in pages.
const LARGEST: u64 = 64 << 20;

pub(super) struct Gateway {
    agent: Agent,
    provider: Arc<CryptoProvider>,
    address: Address,
    password: String,
    /// The member that answered last.
    member: AtomicUsize,
    /// What shows that the user is who they say.
    token: Mutex<Option<String>>,
}

/// Why a member did not answer.
enum Trouble {
    /// Another one would say the same.
    Final(Error),
    /// Another one may know better.
    Elsewhere { what: String, was_reached: bool },
    /// What shows who the user is has expired.
    Unknown,
}

/// Nobody answered a question.
pub(super) struct Silence {
    pub error: Error,
    /// Whether somebody may have heard the question all the same.
    pub may_be_heard: bool,
}

impl Gateway {
    pub fn new(address: Address, credentials: &Credentials) -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_resolve(Some(ANSWER))
            .timeout_connect(Some(CONNECT))
            .timeout_send_request(Some(ANSWER))
            .timeout_send_body(Some(TRANSFER))
            .timeout_recv_response(Some(ANSWER))
            .timeout_recv_body(Some(TRANSFER));
        if address.secure {
            config = config.tls_config(tls(&provider, credentials)?);
        }
        if address.user.is_some() && credentials.password.is_none() {
            let message = format!("there is no password for `{address}`");
            return Err(
                Error::new(DENIED, message).help("put it into the variable HENCE_ETCD_PASSWORD")
            );
        }
        Ok(Self {
            agent: config.build().new_agent(),
            provider,
            address,
            password: credentials.password.clone().unwrap_or_default(),
            member: AtomicUsize::new(0),
            token: Mutex::new(None),
        })
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Bytes that nobody else has.
    pub fn random(&self) -> Result<[u8; 16], Error> {
        let mut bytes = [0; 16];
        let filled = self.provider.secure_random.fill(&mut bytes);
        filled.map_err(|_| Error::new(FAILED, "the system has no random numbers"))?;
        Ok(bytes)
    }

    /// Asks until somebody answers, or nobody does for too long.
    pub fn ask<A: DeserializeOwned>(
        &self,
        path: &str,
        question: &impl Serialize,
    ) -> Result<A, Error> {
        let answer = self.try_to_ask(path, question);
        answer.map_err(|silence| silence.error)
    }

    /// The same, for whom it matters what may have come of a question without an answer.
    pub fn try_to_ask<A: DeserializeOwned>(
        &self,
        path: &str,
        question: &impl Serialize,
    ) -> Result<A, Silence> {
        let question = serde_json::to_vec(question).expect("questions can be written");
        let members = self.address.members.len();
        let start = Instant::now();
        let mut nobody = 0;
        let mut may_be_heard = false;
        let silence = |error: Error, may_be_heard: bool| Silence {
            error,
            may_be_heard,
        };
        let mut pause = Duration::from_millis(25);
        loop {
            let mut nobody_was_reached = true;
            let mut last = String::new();
            let first = self.member.load(Ordering::Relaxed);
            for member in (first..first + members).map(|member| member % members) {
                match self.ask_one(member, path, &question) {
                    Ok(answer) => {
                        self.member.store(member, Ordering::Relaxed);
                        return Ok(answer);
                    }
                    Err(Trouble::Final(error)) => return Err(silence(error, may_be_heard)),
                    Err(Trouble::Elsewhere { what, was_reached }) => {
                        nobody_was_reached &= !was_reached;
                        may_be_heard |= was_reached;
                        last = format!("{}: {what}", self.address.members[member]);
                    }
                    Err(Trouble::Unknown) => {
                        nobody_was_reached = false;
                        last = format!("{}: it forgets who asks", self.address.members[member]);
                    }
                }
            }
            nobody += u32::from(nobody_was_reached);
            if nobody >= NOBODY || start.elapsed() > PATIENCE {
                let message = format!("`{}` does not answer: {last}", self.address);
                let error = Error::new(FAILED, message)
                    .help("look after the cluster, then start again: what was committed is kept");
                return Err(silence(error, may_be_heard));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    fn ask_one<A: DeserializeOwned>(
        &self,
        member: usize,
        path: &str,
        question: &[u8],
    ) -> Result<A, Trouble> {
        let token = self.token(member)?;
        match self.send(member, path, question, token.as_deref()) {
            Err(Trouble::Unknown) if token.is_some() => {
                self.forget(token.as_deref());
                let token = self.token(member)?;
                self.send(member, path, question, token.as_deref())
            }
            answer => answer,
        }
    }

    fn send<A: DeserializeOwned>(
        &self,
        member: usize,
        path: &str,
        question: &[u8],
        token: Option<&str>,
    ) -> Result<A, Trouble> {
        let mut request = self.agent.post(self.url(member, path));
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let mut response = request.send(question).map_err(|error| self.lost(error))?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(LARGEST);
        let body = body.read_to_vec().map_err(|error| self.lost(error))?;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|_| self.unheard_of(status.as_u16()));
        }
        match serde_json::from_slice(&body) {
            Ok(failure) => Err(self.trouble(failure)),
            Err(_) => Err(self.unheard_of(status.as_u16())),
        }
    }

    /// Returns when something is said about a key, or after some time; not all that is said comes through, so whoever waits
    /// looks again.
    pub fn listen(&self, watch: &Watch, limit: Duration) {
        let member = self.member.load(Ordering::Relaxed) % self.address.members.len();
        let Ok(token) = self.token(member) else {
            return;
        };
        let mut request = self.agent.post(self.url(member, "watch"));
        if let Some(token) = token {
            request = request.header("Authorization", token);
        }
        let request = request.config().timeout_recv_body(Some(limit)).build();
        let question = serde_json::to_vec(watch).expect("questions can be written");
        let Ok(response) = request.send(&question[..]) else {
            return;
        };
        let body = response.into_body().into_reader().take(LARGEST);
        for line in BufReader::new(body).split(b'\n') {
            let Ok(line) = line else { return };
            let told = serde_json::from_slice(&line).ok();
            let Some(Told { result: Some(news) }) = told else {
                return;
            };
            if news.canceled || !news.events.is_empty() {
                return;
            }
        }
    }

    fn url(&self, member: usize, path: &str) -> String {
        let scheme = match self.address.secure {
            true => "https",
            false => "http",
        };
        format!("{scheme}://{}/v3/{path}", self.address.members[member])
    }

    /// What shows who the user is, if there are users.
    fn token(&self, member: usize) -> Result<Option<String>, Trouble> {
        let Some(name) = &self.address.user else {
            return Ok(None);
        };
        // One thread asks, and the others wait for its answer.
        let mut kept = self.kept();
        if kept.is_none() {
            let question = Authenticate {
                name,
                password: &self.password,
            };
            let question = serde_json::to_vec(&question).expect("questions can be written");
            let answer: Authenticated = self.send(member, "auth/authenticate", &question, None)?;
            *kept = Some(answer.token);
        }
        Ok(kept.clone())
    }

    fn forget(&self, token: Option<&str>) {
        let mut kept = self.kept();
        if kept.as_deref() == token {
            *kept = None;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<String>> {
        // It is written in one step, so what a panic left behind is whole.
        self.token
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }

    /// What a failure of gRPC means.
    fn trouble(&self, failure: Failure) -> Trouble {
        const INVALID_ARGUMENT: u32 = 3;
        const PERMISSION_DENIED: u32 = 7;
        const RESOURCE_EXHAUSTED: u32 = 8;
        const FAILED_PRECONDITION: u32 = 9;
        const UNIMPLEMENTED: u32 = 12;
        const UNAUTHENTICATED: u32 = 16;
        let Failure { message, code } = failure;
        let what = message.strip_prefix("etcdserver: ").unwrap_or(&message);
        let denied = |help: &str| {
            let message = format!("`{}` refuses: {what}", self.address);
            Trouble::Final(Error::new(DENIED, message).help(help))
        };
        match code {
            UNAUTHENTICATED => Trouble::Unknown,
            INVALID_ARGUMENT if what.contains("revision of auth store is old") => Trouble::Unknown,
            INVALID_ARGUMENT if what.contains("user name is empty") => {
                denied("this cluster has users: write `USER@` before the first host")
            }
            INVALID_ARGUMENT if what.contains("authentication failed") => {
                denied("look at the user and the password")
            }
            FAILED_PRECONDITION if what.contains("authentication is not enabled") => {
                denied("this cluster has no users: leave out `USER@`")
            }
            PERMISSION_DENIED => denied(&format!(
                "the user needs a role that may read and write all keys that begin with `{}:`",
                self.address.prefix
            )),
            RESOURCE_EXHAUSTED if what.contains("space") => {
                let message = format!("`{}` is full: {what}", self.address);
                let help = "compact and defragment the cluster, and raise its quota";
                Trouble::Final(Error::new(FAILED, message).help(help))
            }
            INVALID_ARGUMENT | FAILED_PRECONDITION | UNIMPLEMENTED => {
                let message = format!("`{}` refuses: {what}", self.address);
                Trouble::Final(Error::new(FAILED, message))
            }
            // What it cannot do now, it or another one can soon.
            _ => Trouble::Elsewhere {
                what: what.to_owned(),
                was_reached: true,
            },
        }
    }

    /// An answer that etcd does not give; what stands before it may, for a while.
    fn unheard_of(&self, status: u16) -> Trouble {
        let what = format!("it does not answer as etcd does (HTTP status {status})");
        match status {
            500.. => Trouble::Elsewhere {
                what,
                was_reached: true,
            },
            _ => {
                let message = format!("`{}` is no store: {what}", self.address);
                Trouble::Final(
                    Error::new(FAILED, message)
                        .help("etcd 3.4 or newer is expected, with its gateway"),
                )
            }
        }
    }

    /// What a connection that broke, or was never made, means.
    fn lost(&self, error: ureq::Error) -> Trouble {
        use std::io::ErrorKind::{
            ConnectionRefused, HostUnreachable, InvalidData, NetworkUnreachable,
        };
        let what = error.to_string();
        let was_reached = match error {
            ureq::Error::BodyExceedsLimit(_) | ureq::Error::BadUri(_) => {
                let message = format!("`{}` is no store: {what}", self.address);
                return Trouble::Final(Error::new(FAILED, message));
            }
            // A certificate does not become another by asking again, but the next member may have a good one.
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::HostNotFound => false,
            ureq::Error::ConnectionFailed => false,
            ureq::Error::Timeout(ureq::Timeout::Connect) => false,
            // The last is how trouble with TLS looks from here.
            ureq::Error::Io(error) => !matches!(
                error.kind(),
                ConnectionRefused | HostUnreachable | NetworkUnreachable | InvalidData
            ),
            _ => true,
        };
        Trouble::Elsewhere { what, was_reached }
    }
}

/// Whom to trust, and whom to be.
fn tls(provider: &Arc<CryptoProvider>, credentials: &Credentials) -> Result<TlsConfig, Error> {
    let wrong = |what: String| Error::new(FAILED, what);
    let Some(authorities) = &credentials.authorities else {
        let message = "there is no certificate that those of the cluster go back to";
        return Err(Error::new(FAILED, message).help("name its file in the variable HENCE_ETCD_CA"));
    };
    let authorities = certificates(authorities).ok_or_else(|| {
        wrong("the file with the authorities of the cluster holds no certificate as PEM".into())
    })?;
    let mut config = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::clone(provider))
        .root_certs(RootCerts::from(authorities.iter().map(owned)));
    let own = match (&credentials.certificate, &credentials.key) {
        (None, None) => return Ok(config.build()),
        (Some(certificate), Some(key)) => certificates(certificate).zip(Some(key)),
        _ => None,
    };
    let Some((chain, pem)) = own else {
        let message = "a certificate to show to the cluster takes its key, and both are PEM";
        return Err(Error::new(FAILED, message)
            .help("name their files in the variables HENCE_ETCD_CERT and HENCE_ETCD_KEY"));
    };
    let key = PrivateKeyDer::from_pem_slice(pem);
    let key = key.map_err(|error| wrong(format!("the key of the certificate: {error}")))?;
    // The HTTP library takes it for granted that they fit.
    let fit = rustls::ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(rustls::RootCertStore::empty()))
        .and_then(|builder| builder.with_client_auth_cert(chain.clone(), key));
    fit.map_err(|error| wrong(format!("the certificate and its key do not fit: {error}")))?;
    let key = PrivateKey::from_pem(pem);
    let key = key.map_err(|error| wrong(format!("the key of the certificate: {error}")))?;
    let chain: Vec<Certificate<'static>> = chain.iter().map(owned).collect();
    config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    Ok(config.build())
}

/// The certificates in a file, if it is one with some.
fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    read.ok().filter(|read| !read.is_empty())
}

fn owned(certificate: &CertificateDer<'static>) -> Certificate<'static> {
    Certificate::from_der(certificate).to_owned()
}
