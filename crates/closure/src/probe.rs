//! Asks a running server, and holds what it shows and answers against what was promised.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hence_ledger::Hash;

use crate::address::{Endpoint, Name, Url, decode};
use crate::host::{Host, Wanted};
use crate::model::{Answer, Body};
use crate::server::{GENERATION, LEAST};

/// How long an answer may take.
pub const LIMIT: Duration = Duration::from_secs(60);
/// No more is unpacked.
const MOST: u64 = 4 << 30;

/// Something that a server is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probe {
    /// Where.
    pub endpoint: Endpoint,
    /// Which host is named before a certificate is shown, where TLS is spoken.
    pub named: Option<Name>,
    /// Which host is meant.
    pub host: Name,
    /// Which of its paths.
    pub path: String,
}

impl Probe {
    /// What a browser asks: it names the host that it means.
    pub fn new(endpoint: Endpoint, host: Name, path: impl Into<String>) -> Self {
        Self {
            endpoint,
            named: Some(host.clone()),
            host,
            path: path.into(),
        }
    }
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers, their names in small letters.
    pub headers: Vec<(String, String)>,
    /// What is in it.
    pub body: Vec<u8>,
}

impl Response {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The generation that answered.
    pub fn generation(&self) -> Option<u64> {
        self.header(GENERATION)?.parse().ok()
    }

    /// What was received, if it is HTTP.
    pub fn parse(bytes: &[u8], wanted: Wanted) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_lowercase(), value.trim().to_owned()))
        };
        let headers: Vec<(String, String)> = lines.filter_map(header).collect();
        let is_chunked = headers.iter().any(|(name, value)| {
            name == "transfer-encoding" && value.eq_ignore_ascii_case("chunked")
        });
        let body = match wanted {
            Wanted::Head => Vec::new(),
            Wanted::Whole if is_chunked => joined(&bytes[end + 4..])?,
            Wanted::Whole => bytes[end + 4..].to_vec(),
        };
        Some(Self {
            status,
            headers,
            body,
        })
    }
}

/// What was sent in chunks.
fn joined(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&bytes[..end]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        let rest = bytes.get(end + 2..)?;
        body.extend_from_slice(rest.get(..size)?);
        bytes = rest.get(size + 2..)?;
    }
}

/// Asks for a path of a host.
pub fn ask(host: &dyn Host, endpoint: Endpoint, name: &str, path: &str) -> io::Result<Response> {
    ask_for(host, endpoint, name, path, Wanted::Whole)
}

/// Asks for a path of a host, for so much of the answer.
pub fn ask_for(
    host: &dyn Host,
    endpoint: Endpoint,
    name: &str,
    path: &str,
    wanted: Wanted,
) -> io::Result<Response> {
    let request = request(name, path, Form::AsItIs);
    let bytes = host.exchange(near(endpoint), request.as_bytes(), wanted, LIMIT)?;
    response(&bytes, wanted)
}

/// Asks for a path of a host where TLS is spoken. With what is answered comes the certificate that was shown.
pub fn ask_secured(
    host: &dyn Host,
    endpoint: Endpoint,
    named: Option<&str>,
    name: &str,
    path: &str,
    wanted: Wanted,
) -> io::Result<(Vec<u8>, Response)> {
    let request = request(name, path, Form::AsItIs);
    let (endpoint, request) = (near(endpoint), request.as_bytes());
    let secured = host.exchange_secured(endpoint, named, request, wanted, LIMIT)?;
    Ok((secured.certificate, response(&secured.bytes, wanted)?))
}

/// Asks for a path of a host, compressed.
pub fn ask_compressed(
    host: &dyn Host,
    endpoint: Endpoint,
    named: Option<Option<&str>>,
    name: &str,
    path: &str,
) -> io::Result<Response> {
    let request = request(name, path, Form::Compressed);
    let (endpoint, request, wanted) = (near(endpoint), request.as_bytes(), Wanted::Whole);
    let bytes = match named {
        Some(named) => {
            host.exchange_secured(endpoint, named, request, wanted, LIMIT)?
                .bytes
        }
        None => host.exchange(endpoint, request, wanted, LIMIT)?,
    };
    response(&bytes, wanted)
}

/// How content is to be sent.
#[derive(Clone, Copy)]
enum Form {
    AsItIs,
    Compressed,
}

fn request(name: &str, path: &str, form: Form) -> String {
    let accept = match form {
        Form::AsItIs => "",
        Form::Compressed => "Accept-Encoding: gzip\r\n",
    };
    format!("GET {path} HTTP/1.1\r\nHost: {name}\r\n{accept}Connection: close\r\n\r\n")
}

fn response(bytes: &[u8], wanted: Wanted) -> io::Result<Response> {
    Response::parse(bytes, wanted).ok_or_else(|| io::Error::other("the answer is no HTTP"))
}

/// Where a server that listens there is asked from here, and from which address that is.
pub fn near(endpoint: Endpoint) -> Endpoint {
    match endpoint.ip() {
        ip if !ip.is_unspecified() => endpoint,
        IpAddr::V4(_) => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), endpoint.port()),
        IpAddr::V6(_) => SocketAddr::new(Ipv6Addr::LOCALHOST.into(), endpoint.port()),
    }
}

/// What is wrong with an answer that should be compressed, expected first; nothing if it unpacks to what is promised.
pub fn unpacks(promised: Hash, response: &Response) -> Option<String> {
    let varies = response.header("vary").unwrap_or("").to_ascii_lowercase();
    let is_small = response.body.len() < LEAST;
    let mut unpacked = Vec::new();
    match response.header("content-encoding") {
        Some("gzip") => {
            let unpack = flate2::read::GzDecoder::new(response.body.as_slice());
            if let Err(error) = unpack.take(MOST).read_to_end(&mut unpacked) {
                return Some(format!("expected what can be unpacked, got {error}"));
            }
        }
        None if is_small => unpacked.clone_from(&response.body),
        other => {
            let other = other.unwrap_or("none");
            return Some(format!("expected the encoding `gzip`, got `{other}`"));
        }
    }
    if !is_small && !varies.contains("accept-encoding") {
        return Some("expected `Vary: Accept-Encoding`, got none".to_owned());
    }
    let got = Hash::of(&unpacked);
    (got != promised).then(|| format!("expected blob:{promised} compressed, got blob:{got}"))
}

/// What is wrong with an answer, expected first; nothing if it is as promised.
pub fn differs(promised: &Answer, response: &Response) -> Option<String> {
    if let Body::Other(upstream, path) = &promised.body {
        let at = upstream.endpoint;
        let probe = upstream.probe.as_ref().map(|probe| probe.to_string());
        let probe = probe.map(|probe| format!("{}{}", upstream.path, &probe[1..]));
        return match response.status {
            502..=504 => Some(format!("{at} does not answer")),
            status @ 400.. if probe.as_ref() == Some(path) => {
                Some(format!("{at} should be well, and answers {status}"))
            }
            _ => None,
        };
    }
    if promised.status != response.status {
        return Some(format!(
            "expected status {}, got {}",
            promised.status, response.status
        ));
    }
    if let Some(location) = &promised.location {
        let got = response.header("location").unwrap_or("");
        if !leads_to(location, got) {
            return Some(format!("expected a way to `{location}`, got `{got}`"));
        }
    }
    match &promised.body {
        Body::Content(hash) => {
            let got = Hash::of(&response.body);
            if got != *hash {
                return Some(format!("expected blob:{hash}, got blob:{got}"));
            }
            let expected = promised.media.as_ref().map(|media| media.as_str());
            let got = response.header("content-type");
            if expected != got {
                let (expected, got) = (expected.unwrap_or("none"), got.unwrap_or("none"));
                return Some(format!("expected type `{expected}`, got `{got}`"));
            }
        }
        Body::Listing(names) => {
            let listed = listed(&String::from_utf8_lossy(&response.body));
            if let Some(missing) = names.iter().find(|name| !listed.contains(*name)) {
                return Some(format!("expected `{missing}` in the listing"));
            }
            // Apache shows dots with one odd character behind them.
            let is_more = |name: &&String| !names.contains(name) && name.len() > 2;
            if let Some(more) = listed.iter().find(is_more) {
                return Some(format!("expected no `{more}` in the listing"));
            }
        }
        Body::Words | Body::Other(..) => {}
    }
    None
}

/// The names to which a page leads that are in its own directory.
fn listed(page: &str) -> BTreeSet<String> {
    let ways = page.split("href=\"").skip(1);
    let ways = ways.filter_map(|rest| rest.split('"').next());
    let plain = |way: &str| {
        let entities = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&amp;", "&"),
        ];
        entities
            .iter()
            .fold(way.to_owned(), |way, (entity, character)| {
                way.replace(entity, character)
            })
    };
    let ways = ways.map(plain);
    // These lead out of it.
    let ways = ways.filter(|way| !way.starts_with('/') && !way.starts_with("../"));
    ways.filter_map(|way| {
        // A name with a colon would be taken for an address.
        decode(way.strip_prefix("./").unwrap_or(&way))
    })
    .collect()
}

/// Whether a location is the promised one, whether or not it begins with the server's own name.
fn leads_to(promised: &str, got: &str) -> bool {
    if promised == got {
        return true;
    }
    let path = got
        .strip_prefix("http://")
        .or_else(|| got.strip_prefix("https://"))
        .and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    let path = path.unwrap_or(got);
    promised.starts_with('/') && Url::requested(promised) == Url::requested(path)
}
