//! `hence serve`: the service over HTTP.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hence_api::words::{Grant, NewToken};
use hence_fleet::token::{Bearer, Role, tokens};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_server::{Hub, Limits, Parts, Record, ServerConfig, Signals};
use hence_service::Service;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Serialize;

use super::fleet::store::Place;
use super::fleet::{Changing, stop};
use super::token::random;
use crate::console::Console;
use crate::result::secretly;
use crate::{Exit, Stop, readiness};

/// It cannot be served there.
pub const LISTEN: Code = Code::new("server.listen");
/// The certificate, or its key, cannot be used.
pub const CERTIFICATE: Code = Code::new("server.certificate");

/// Serve the ledger and its fleet over HTTP
#[derive(Args)]
pub struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    listen: SocketAddr,
    /// The certificate in PEM; without it, one is made and kept beside the ledger, where it is needed
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<String>,
    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<String>,
    /// Use TLS also on an address of this machine only; elsewhere it is always used
    #[arg(long)]
    tls: bool,
    /// A name of this server, for the certificate that is made
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Where the administrator's token goes at the first start, instead of standard output
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<String>,
    /// Requests in a second from one address; 0 for any number
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().rate)]
    rate: u64,
    /// Connections at once
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().connections)]
    connections: usize,
    /// Bytes in the body of a request
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().body)]
    body: usize,
    /// How requests are logged on standard error
    #[arg(long, value_enum, default_value = "text")]
    log: Log,
    #[command(flatten)]
    changing: Changing,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Log {
    /// For people
    Text,
    /// For programs: a line of JSON each
    Json,
    /// Not at all
    None,
}

#[derive(Serialize)]
struct Line<'a> {
    time: u64,
    peer: IpAddr,
    token: Option<&'a str>,
    method: &'a str,
    path: &'a str,
    status: u16,
    micros: u64,
}

impl Serve {
    /// Serves until it is told to end.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        // Who cannot be asked makes no ledger, and no token that nobody would see.
        let unusable = |error: std::io::Error| {
            let message = format!("{} cannot be listened at: {error}", self.listen);
            Stop::Refused(Box::new(Diagnostic::error(LISTEN, message)))
        };
        let listener = TcpListener::bind(self.listen).map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let place = self.changing.ledger.here(console)?;
        let mut service = self.changing.ledger.make(console)?;
        let seal = match (self.changing.ledger.seal(console, &service), &place) {
            (Ok(seal), _) => Some(seal),
            // A ledger in a cluster may have no secrets, and then needs no key.
            (Err(Stop::Refused(refusal)), Place::Cluster(_)) => match service.had_secrets() {
                Ok(false) => None,
                Ok(true) => return Err(Stop::Refused(refusal)),
                Err(error) => return Err(Stop::Failed(Box::new(error.into()))),
            },
            (Err(stop), _) => return Err(stop),
        };
        self.first_token(console, &mut service)?;
        let tls = match self.tls || self.tls_cert.is_some() || !address.ip().is_loopback() {
            true => Some(Arc::new(self.certificate(console, &place, address)?)),
            false => None,
        };
        self.raise_limit(console);
        let scheme = if tls.is_some() { "https" } else { "http" };
        writeln!(console.data(), "listening at {scheme}://{address}")?;
        console.data().flush()?;
        let (log, clock) = (self.log, console.clock());
        let hub = Hub::new(Parts {
            service,
            seal,
            clock: Arc::new(clock),
            random: Arc::new(random),
            log: Arc::new(move |record| write(log, clock(), record)),
            limits: Limits {
                body: self.body,
                connections: self.connections,
                rate: self.rate,
                ..Limits::default()
            },
            release: env!("CARGO_PKG_VERSION"),
            shared: matches!(place, Place::Cluster(_)),
        });
        let stop = hence_server::Stop::new();
        if let Place::Cluster(_) = place {
            hub.keep_following(&stop, self.changing.ledger.here(console)?.open(console)?);
        }
        hub.keep_rolling(&stop);
        readiness::tell(console.variable("NOTIFY_SOCKET"));
        let served = hence_server::serve(&hub, listener, tls, &stop, Signals::Heeded);
        served.map_err(|error| {
            let message = format!("the server failed: {error}");
            Stop::Failed(Box::new(Diagnostic::error(LISTEN, message)))
        })?;
        console.say("ended");
        Ok(Exit::Done)
    }

    /// Where nobody may administer, somebody gets a token for it.
    fn first_token(&self, console: &mut Console<'_>, service: &mut Service) -> Result<(), Stop> {
        let administers = |bearer: &Bearer| match bearer {
            Bearer::Someone { may, .. } => may.contains_key(&Role::Administer),
            _ => false,
        };
        let known = tokens(service.state());
        if known.values().any(|token| administers(&token.bearer)) {
            return Ok(());
        }
        let token = hence_server::new_token(&random);
        let wanted = NewToken {
            name: "admin".to_owned(),
            may: vec![Grant {
                role: Role::Administer.word().to_owned(),
                keys: Vec::new(),
            }],
            ..NewToken::default()
        };
        // It is kept before it is worth anything: a server that is killed in between makes another.
        if let Some(name) = &self.admin_token_file {
            secretly(&console.path(name), format!("{token}\n").as_bytes())
                .map_err(|error| crate::result::unwritable(name, &error))?;
        }
        let request = self.changing.request(console, "serve");
        let result = service.add_token(&request, &wanted, &hence_server::sum(&token));
        result.map_err(|refused| stop(console, refused))?;
        if self.admin_token_file.is_none() {
            let words = "the administrator's token, shown this once";
            writeln!(console.data(), "{words}: {token}")?;
        }
        Ok(())
    }

    /// What the server shows to be recognised by.
    fn certificate(
        &self,
        console: &mut Console<'_>,
        place: &Place,
        address: SocketAddr,
    ) -> Result<ServerConfig, Stop> {
        let unusable =
            |message: String| Stop::Refused(Box::new(Diagnostic::error(CERTIFICATE, message)));
        let (cert, key) = match (&self.tls_cert, &self.tls_key, place) {
            (Some(cert), Some(key), _) => (cert.clone(), key.clone()),
            (_, _, Place::Cluster(_)) => {
                let message = "several servers of one cluster need certificates of their own";
                return Err(unusable(message.to_owned()));
            }
            (_, _, Place::Directory(directory)) => {
                let (cert, key) = (
                    format!("{directory}/tls.pem"),
                    format!("{directory}/tls.key"),
                );
                if !console.path(&cert).exists() {
                    self.make_certificate(console, &cert, &key, address)
                        .map_err(|error| {
                            unusable(format!("no certificate can be made: {error}"))
                        })?;
                }
                console.say(&format!(
                    "clients recognise it by {cert}: `--ca {cert}`, or `$HENCE_CA`"
                ));
                (cert, key)
            }
        };
        let read = |name: &str| {
            let bytes = std::fs::read(console.path(name));
            bytes.map_err(|error| unusable(format!("`{name}` cannot be read: {error}")))
        };
        let chain: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(&read(&cert)?).collect();
        let chain =
            chain.map_err(|error| unusable(format!("`{cert}` is no certificate: {error}")))?;
        let private = PrivateKeyDer::from_pem_slice(&read(&key)?)
            .map_err(|error| unusable(format!("`{key}` is no key: {error}")))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.and_then(|config| {
            config
                .with_no_client_auth()
                .with_single_cert(chain, private)
        });
        config.map_err(|error| unusable(format!("`{cert}` and `{key}` do not serve: {error}")))
    }

    fn make_certificate(
        &self,
        console: &Console<'_>,
        cert: &str,
        key: &str,
        address: SocketAddr,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut names = self.name.clone();
        names.push("localhost".to_owned());
        names.push("127.0.0.1".to_owned());
        if !address.ip().is_unspecified() {
            names.push(address.ip().to_string());
        }
        names.sort();
        names.dedup();
        let made = rcgen::generate_simple_self_signed(names)?;
        secretly(
            &console.path(key),
            made.signing_key.serialize_pem().as_bytes(),
        )?;
        // Where there is a certificate, it is whole, and so is its key.
        let part = console.path(&format!("{cert}.part"));
        std::fs::write(&part, made.cert.pem())?;
        std::fs::rename(&part, console.path(cert))?;
        Ok(())
    }

    /// As many descriptors as the system allows: each connection takes one.
    fn raise_limit(&self, console: &mut Console<'_>) {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        let _ = setrlimit(Resource::Nofile, limit);
        let now = getrlimit(Resource::Nofile).current;
        if let Some(now) = now.filter(|now| *now < self.connections as u64 + 64) {
            console.say(&format!(
                "only {now} descriptors are allowed, so there will be fewer connections than {}",
                self.connections
            ));
        }
    }
}

/// A request in the log.
fn write(log: Log, time: u64, record: &Record<'_>) {
    let line = match log {
        Log::None => return,
        Log::Text => format!(
            "{} {} {} {} {} {} {} µs",
            super::fleet::moment(time),
            record.peer,
            record.token.unwrap_or("-"),
            record.method,
            record.path.escape_debug(),
            record.status,
            record.micros,
        ),
        Log::Json => {
            let line = Line {
                time,
                peer: record.peer,
                token: record.token,
                method: record.method,
                path: record.path,
                status: record.status,
                micros: record.micros,
            };
            serde_json::to_string(&line).expect("a line can be written")
        }
    };
    // A log that nobody reads any more is no trouble.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{line}\n").as_bytes());
}
