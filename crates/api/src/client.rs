//! A blocking client.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::time::Duration;

use hence_model::diagnostic::{Code, Diagnostic};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::VERSION;
use crate::trouble::Troubles;

/// A server cannot be reached, or does not answer as one.
pub const UNREACHABLE: Code = Code::new("server.unreachable");
/// What answers does not show a certificate that is trusted.
pub const UNTRUSTED: Code = Code::new("server.untrusted");
/// The address of a server, or what it is to be recognised by, cannot be used.
pub const ADDRESS: Code = Code::new("server.address");

/// No answer is longer than this.
const LONGEST: u64 = 1 << 30;
/// So long a server may think.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a server is, and how it is spoken to.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// `http://…` on this machine, `https://…` elsewhere.
    pub server: String,
    /// The token.
    pub token: String,
    /// The certificates in PEM that the server's must be one of, or be vouched for by one of.
    pub certificates: Option<String>,
}

/// Somebody who speaks to a server.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    address: Address,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The server says no, with a status and reasons.
    Refused(u16, Vec<Diagnostic>),
    /// There is no server, or none that can be trusted.
    Unreachable(Box<Diagnostic>),
}

impl Failure {
    /// What to tell.
    pub fn diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Failure::Refused(_, troubles) => troubles,
            Failure::Unreachable(trouble) => vec![*trouble],
        }
    }
}

impl Client {
    /// Somebody who will speak to the server at an address. Nothing is sent yet.
    pub fn new(address: Address) -> Result<Self, Box<Diagnostic>> {
        Self::with_limit(address, None)
    }

    /// The same, for whom no answer may take longer than this, from the first byte to the last.
    pub fn limited(address: Address, whole: Duration) -> Result<Self, Box<Diagnostic>> {
        Self::with_limit(address, Some(whole))
    }

    fn with_limit(address: Address, whole: Option<Duration>) -> Result<Self, Box<Diagnostic>> {
        let wrong = |message: String| Box::new(Diagnostic::error(ADDRESS, message));
        let server = address.server.trim_end_matches('/').to_owned();
        if !server.starts_with("https://") && !is_here(&server) {
            let message = format!("`{server}` is not the address of a server");
            return Err(Box::new(wrong(message).help(
                "`https://HOST:PORT`; without TLS only on this machine, as `http://127.0.0.1:PORT`",
            )));
        }
        let mut roots = Vec::new();
        for item in parse_pem(
            address
                .certificates
                .as_deref()
                .unwrap_or_default()
                .as_bytes(),
        ) {
            match item {
                Ok(PemItem::Certificate(certificate)) => roots.push(certificate),
                Ok(_) => {}
                Err(error) => {
                    return Err(wrong(format!("the certificate cannot be read: {error}")));
                }
            }
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(
                roots as Vec<Certificate<'static>>,
            )))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_send_body(Some(PATIENCE))
            .timeout_global(whole)
            .build();
        Ok(Self {
            agent: config.new_agent(),
            address: Address { server, ..address },
        })
    }

    /// The server's address.
    pub fn server(&self) -> &str {
        &self.address.server
    }

    /// The certificates in PEM that the server is recognised by.
    pub fn certificates(&self) -> Option<&str> {
        self.address.certificates.as_deref()
    }

    /// Reads something below `/api/v1`.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let bytes = self.bytes(path)?;
        self.parsed(path, &bytes)
    }

    /// Reads bytes below `/api/v1`.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let request = self.agent.get(self.address_of(path));
        let request = request.header("authorization", self.bearer());
        self.answer(path, request.call(), Asked::ToRead)
    }

    /// Sends something, and reads what came of it.
    pub fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        let bytes = self.exchange(path, body)?;
        self.parsed(path, &bytes)
    }

    /// Sends something, and reads bytes.
    pub fn exchange(&self, path: &str, body: &impl Serialize) -> Result<Vec<u8>, Failure> {
        let request = self.agent.post(self.address_of(path));
        let sent = send(request.header("authorization", self.bearer()), body);
        self.answer(path, sent, Asked::ToChange)
    }

    /// Puts something in its place.
    pub fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        let request = self.agent.put(self.address_of(path));
        let sent = send(request.header("authorization", self.bearer()), body);
        let bytes = self.answer(path, sent, Asked::ToChange)?;
        self.parsed(path, &bytes)
    }

    /// Takes something away.
    pub fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        let request = self.agent.delete(self.address_of(path));
        let request = request.header("authorization", self.bearer());
        let bytes = self.answer(path, request.call(), Asked::ToChange)?;
        self.parsed(path, &bytes)
    }

    /// What happens from now on, or from behind a version: for all, or for one node.
    pub fn events(&self, node: Option<&str>, after: Option<u64>) -> Result<Events, Failure> {
        let path = match node {
            Some(node) => format!("events?node={}", escaped(node)),
            None => "events".to_owned(),
        };
        let request = self.agent.get(self.address_of(&path));
        let mut request = request
            .header("authorization", self.bearer())
            .header("accept", "text/event-stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let response = request.call();
        let response = response.map_err(|error| self.unreachable(&error, Asked::ToRead))?;
        if !response.status().is_success() {
            self.answer(&path, Ok(response), Asked::ToRead)?;
            return Err(self.nonsense(&path));
        }
        let reader: Box<dyn Read + Send> = Box::new(response.into_body().into_reader());
        Ok(Events {
            lines: BufReader::new(reader),
        })
    }

    fn address_of(&self, path: &str) -> String {
        format!("{}/api/v{VERSION}/{path}", self.address.server)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.address.token)
    }

    fn answer(
        &self,
        path: &str,
        response: Result<Response<Body>, ureq::Error>,
        asked: Asked,
    ) -> Result<Vec<u8>, Failure> {
        let mut response = response.map_err(|error| self.unreachable(&error, asked))?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(LONGEST);
        let bytes = body
            .read_to_vec()
            .map_err(|error| self.unreachable(&error, asked))?;
        if status.is_success() {
            return Ok(bytes);
        }
        match serde_json::from_slice::<Troubles>(&bytes) {
            Ok(troubles) if !troubles.errors.is_empty() => {
                let errors = troubles.errors.into_iter().map(Diagnostic::from);
                Err(Failure::Refused(status.as_u16(), errors.collect()))
            }
            _ => Err(self.nonsense(path)),
        }
    }

    fn parsed<T: DeserializeOwned>(&self, path: &str, bytes: &[u8]) -> Result<T, Failure> {
        serde_json::from_slice(bytes).map_err(|_| self.nonsense(path))
    }

    fn unreachable(&self, error: &ureq::Error, asked: Asked) -> Failure {
        Failure::Unreachable(Box::new(match is_mistrust(error) {
            true => {
                let message = format!(
                    "{} does not show the certificate that is expected: {error}",
                    self.server()
                );
                Diagnostic::error(UNTRUSTED, message)
                    .help("nothing was sent: somebody else may stand in its place")
                    .help("if its certificate is another one now, name that: `--ca FILE`, or the setting `ca` of an agent")
            }
            false => {
                let message = format!("{} cannot be reached: {error}", self.server());
                let trouble = Diagnostic::error(UNREACHABLE, message);
                match asked == Asked::ToChange && may_be_heard(error) {
                    true => trouble
                        .help("it may have done what it was asked for: look before you try again"),
                    false => trouble,
                }
            }
        }))
    }

    fn nonsense(&self, path: &str) -> Failure {
        let message = format!(
            "{} does not answer `{path}` as a server of Hence does",
            self.server()
        );
        let trouble = Diagnostic::error(UNREACHABLE, message).help(
            "is it a server of Hence, of the same release or nearly so? `hence --version`, there and here",
        );
        Failure::Unreachable(Box::new(trouble))
    }
}

/// What a server is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// To tell something.
    ToRead,
    /// To do something.
    ToChange,
}

/// Whether the other side may have heard a question that it did not answer.
fn may_be_heard(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => false,
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => false,
        ureq::Error::Io(error) => error.kind() != std::io::ErrorKind::ConnectionRefused,
        _ => true,
    }
}

/// Whether a connection was given up because of what the other side showed.
fn is_mistrust(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        // This is how it looks when it was found out while something was sent.
        ureq::Error::Io(error) => error
            .get_ref()
            .is_some_and(|inner| inner.is::<rustls::Error>()),
        _ => false,
    }
}

/// Whether an address without TLS stays on this machine.
fn is_here(server: &str) -> bool {
    let Some(rest) = server.strip_prefix("http://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host);
    let number: Option<std::net::Ipv4Addr> = host.parse().ok();
    matches!(host, "localhost" | "[::1]") || number.is_some_and(|number| number.is_loopback())
}

fn send(
    request: ureq::RequestBuilder<ureq::typestate::WithBody>,
    body: &impl Serialize,
) -> Result<Response<Body>, ureq::Error> {
    let body = serde_json::to_vec(body).expect("what is sent can be written");
    request
        .header("content-type", "application/json")
        .send(&body[..])
}

/// A name as a part of a path or a query.
pub fn escaped(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(byte as char);
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The version.
    pub version: u64,
    /// What: `commit`, `activation`, `naming`.
    pub kind: String,
    /// More about it, in JSON.
    pub data: String,
}

/// What happens, as it happens.
pub struct Events {
    lines: BufReader<Box<dyn Read + Send>>,
}

/// No line of an event is longer.
const LONGEST_LINE: u64 = 1 << 20;

impl Iterator for Events {
    type Item = std::io::Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut event = Event {
            version: 0,
            kind: String::new(),
            data: String::new(),
        };
        loop {
            let mut line = String::new();
            match self.lines.by_ref().take(LONGEST_LINE).read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                if !event.kind.is_empty() {
                    return Some(Ok(event));
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "id" => event.version = value.parse().unwrap_or(0),
                "event" => event.kind = value.to_owned(),
                "data" => event.data.push_str(value),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_do_not_leave_the_machine_in_the_open() {
        for server in [
            "http://127.0.0.1:80",
            "http://localhost",
            "http://[::1]:7",
            "https://hub",
        ] {
            let address = Address {
                server: server.to_owned(),
                ..Address::default()
            };
            assert!(Client::new(address).is_ok(), "{server}");
        }
        for server in [
            "http://hub:80",
            "http://127.0.0.1.evil:80@hub",
            "hub",
            "ftp://hub",
            "",
        ] {
            let address = Address {
                server: server.to_owned(),
                ..Address::default()
            };
            assert!(Client::new(address).is_err(), "{server}");
        }
    }

    #[test]
    fn events_are_read_line_by_line() {
        let text = ": hello\n\nid: 7\nevent: activation\ndata: {}\n\nid: 8\nevent: commit\ndata: {\ndata: }\n\nid: 9";
        let reader: Box<dyn Read + Send> = Box::new(text.as_bytes());
        let events = Events {
            lines: BufReader::new(reader),
        };
        let events: Vec<Event> = events.map(Result::unwrap).collect();
        assert_eq!(events.len(), 2);
        assert_eq!(
            (events[0].version, events[0].kind.as_str()),
            (7, "activation")
        );
        assert_eq!(events[1].data, "{}");
    }
}
