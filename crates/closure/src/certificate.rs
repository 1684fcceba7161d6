//! Certificates and their keys. A key is a secret, so they are kept apart from other content, and nothing shows more of
//! them than a hash.
//!
//! ```text
//! secret/HASH     what was staged: the chain, the host's own certificate first, and its key     for the closure alone
//! key/HASH        the same once more, for the server to read                                    for the server alone
//! key/unknown     a certificate that is nobody's, for clients that name nobody
//! ```

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use hence_ledger::Hash;
use hence_model::diagnostic::Diagnostic;
use hence_store::Refused;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;

use crate::address::Name;
use crate::closure::{Closure, failed};
use crate::host::Host;
use crate::integrity::{Closed, DRIFT, misuse};
use crate::settings::User;

/// A certificate with the chain that leads to it, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// In PEM, with nothing between the parts.
    text: String,
    /// The host's own certificate.
    own: CertificateDer<'static>,
    /// From when on it is valid, in milliseconds since 1970.
    pub from: u64,
    /// Until when.
    pub until: u64,
}

impl Certificate {
    /// What somebody has in two files, or what is wrong with them.
    pub fn read(chain: &[u8], key: &[u8]) -> Result<Self, String> {
        let mut text = blocks(chain, |kind| kind == "CERTIFICATE");
        text.push_str(&blocks(key, |kind| kind.ends_with("PRIVATE KEY")));
        Self::of(text.as_bytes())
    }

    /// What is kept in one.
    fn of(text: &[u8]) -> Result<Self, String> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
        let chain = chain.map_err(|_| "they are not in PEM, or not all of it is there")?;
        let Some(own) = chain.first().cloned() else {
            return Err(
                "there is no certificate in it: it begins with `-----BEGIN CERTIFICATE-----`"
                    .to_owned(),
            );
        };
        let key = PrivateKeyDer::from_pem_slice(text).map_err(|_| {
            "there is no private key that can be read without a password".to_owned()
        })?;
        let provider = rustls::crypto::ring::default_provider();
        CertifiedKey::from_der(chain, key, &provider).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                "the key is not that of the certificate".to_owned()
            }
            error => format!("the key cannot be used: {error}"),
        })?;
        let (from, until) =
            validity(&own).ok_or("the certificate does not say how long it is valid")?;
        let text = String::from_utf8_lossy(text).into_owned();
        Ok(Self {
            text,
            own,
            from,
            until,
        })
    }

    /// What is the same for equal ones.
    pub fn hash(&self) -> Hash {
        Hash::of(self.text.as_bytes())
    }

    /// Whether it is one for a host of this name.
    pub fn covers(&self, name: &Name) -> bool {
        let name = ServerName::try_from(name.as_str());
        let own = ParsedCertificate::try_from(&self.own);
        match (name, own) {
            (Ok(name), Ok(own)) => verify_server_name(&own, &name).is_ok(),
            _ => false,
        }
    }
}

/// The parts of a text in PEM that are of some kind, without what stands around them.
fn blocks(text: &[u8], is_meant: impl Fn(&str) -> bool) -> String {
    let text = String::from_utf8_lossy(text);
    let mut kept = String::new();
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        let kind = |line: &str, word: &str| {
            let rest = line.strip_prefix("-----")?.strip_prefix(word)?;
            rest.strip_suffix("-----").map(|kind| is_meant(kind.trim()))
        };
        inside |= kind(line, "BEGIN ") == Some(true);
        if inside {
            kept.push_str(line);
            kept.push('\n');
        }
        inside &= kind(line, "END ").is_none();
    }
    kept
}

/// From when until when a certificate is valid, in milliseconds since 1970 (RFC 5280, 4.1).
fn validity(certificate: &[u8]) -> Option<(u64, u64)> {
    const VERSION: u8 = 0xa0;
    let (_, certificate, _) = element(certificate)?;
    let (_, mut rest, _) = element(certificate)?;
    if rest.first() == Some(&VERSION) {
        (_, _, rest) = element(rest)?;
    }
    // The serial number, how it is signed, and by whom.
    for _ in 0..3 {
        (_, _, rest) = element(rest)?;
    }
    let (_, validity, _) = element(rest)?;
    let (kind, from, rest) = element(validity)?;
    let from = time(kind, from)?;
    let (kind, until, _) = element(rest)?;
    Some((from, time(kind, until)?))
}

/// The first element of a text in DER: its kind, what is in it, and what comes behind it.
fn element(text: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, rest) = text.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        ..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            let add = |length: usize, digit: &u8| length << 8 | usize::from(*digit);
            (digits.iter().fold(0, add), rest)
        }
        _ => return None,
    };
    let (inside, behind) = rest.split_at_checked(length)?;
    Some((kind, inside, behind))
}

/// A time in DER, in milliseconds since 1970; one before that is 1970.
fn time(kind: u8, text: &[u8]) -> Option<u64> {
    const UTC_TIME: u8 = 0x17;
    const GENERALIZED_TIME: u8 = 0x18;
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    let (year, rest) = text.split_at_checked(match kind {
        UTC_TIME => 2,
        GENERALIZED_TIME => 4,
        _ => return None,
    })?;
    let year: i64 = match (kind, year.parse().ok()?) {
        (UTC_TIME, year @ 50..) => 1900 + year,
        (UTC_TIME, year) => 2000 + year,
        (_, year) => year,
    };
    let mut pairs = [0; 5];
    if rest.len() != 10 || !rest.is_ascii() {
        return None;
    }
    for (at, pair) in pairs.iter_mut().enumerate() {
        *pair = rest[2 * at..2 * at + 2].parse::<i64>().ok()?;
    }
    let [month @ 1..=12, day, hour, minute, second] = pairs else {
        return None;
    };
    // Years begin in March, so that the day that not all of them have is the last one.
    let (year, month) = match month {
        ..3 => (year - 1, month + 9),
        month => (year, month - 3),
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(u64::try_from(seconds).unwrap_or(0) * 1000)
}

/// The certificates below the root of a closure.
pub struct Certificates<'h> {
    host: &'h dyn Host,
    root: PathBuf,
    /// Who may read what the server reads, if not we.
    server: Option<User>,
}

impl<'h> Certificates<'h> {
    /// The certificates below a root.
    pub fn new(host: &'h dyn Host, root: &Path, server: Option<User>) -> Self {
        let root = root.to_owned();
        Self { host, root, server }
    }

    /// Keeps a certificate and its key.
    pub fn stage(&self, certificate: &Certificate) -> io::Result<Hash> {
        let hash = certificate.hash();
        let path = self.secret(hash);
        if self.host.look(&path)?.is_none() {
            self.put(&path, certificate.text.as_bytes(), 0o600, None)?;
        }
        Ok(hash)
    }

    /// One that was staged.
    pub fn get(&self, hash: Hash) -> io::Result<Option<Certificate>> {
        let text = self.host.read(&self.secret(hash))?;
        let text = text.filter(|text| Hash::of(text) == hash);
        Ok(text.and_then(|text| Certificate::of(&text).ok()))
    }

    /// Whether this is what a server showed, that should show one, or the one that is nobody's.
    pub fn is_shown(&self, promised: Option<Hash>, shown: &[u8]) -> io::Result<bool> {
        let promised = match promised {
            Some(hash) => self.get(hash)?,
            None => {
                let text = self.host.read(&unknown(&self.root))?;
                text.and_then(|text| Certificate::of(&text).ok())
            }
        };
        Ok(promised.is_some_and(|promised| &*promised.own == shown))
    }

    /// Puts one where the server reads it. `None` if it is not staged.
    pub fn show(&self, hash: Hash) -> io::Result<Option<()>> {
        let path = self.file(hash);
        if self.host.look(&path)?.is_some() {
            return Ok(Some(()));
        }
        let Some(certificate) = self.get(hash)? else {
            return Ok(None);
        };
        let text = certificate.text.as_bytes();
        self.put(&path, text, 0o400, self.server.as_ref())?;
        Ok(Some(()))
    }

    /// Makes the certificate that is nobody's, if there is none that can be shown. No client believes it.
    pub fn show_unknown(&self) -> io::Result<()> {
        let path = unknown(&self.root);
        if self.unknown_differs()?.is_none() {
            return Ok(());
        }
        let names = vec![crate::server::UNKNOWN.to_owned()];
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let text = made.cert.pem() + &made.signing_key.serialize_pem();
        self.put(&path, text.as_bytes(), 0o400, self.server.as_ref())
    }

    /// What is not as it was made of what the server reads: other content, or for others to read, or not for the server.
    pub fn differs(&self, hash: Hash) -> io::Result<Option<String>> {
        let is_it = |text: &[u8]| Hash::of(text) == hash;
        let ours = self.server.as_ref().map(|_| 0);
        let staged = self.is_misused(&self.secret(hash), 0o600, ours, &is_it)?;
        let shown = || self.is_misused(&self.file(hash), 0o400, self.reader(), &is_it);
        staged.map_or_else(shown, |wrong| Ok(Some(wrong)))
    }

    /// The same of the certificate that is nobody's: any will do.
    pub fn unknown_differs(&self) -> io::Result<Option<String>> {
        let is_one = |text: &[u8]| Certificate::of(text).is_ok();
        self.is_misused(&unknown(&self.root), 0o400, self.reader(), &is_one)
    }

    /// Whose it is what the server reads, if that is not ourselves.
    fn reader(&self) -> Option<u32> {
        self.server.as_ref().map(|user| user.user)
    }

    fn is_misused(
        &self,
        path: &Path,
        mode: u32,
        owner: Option<u32>,
        is_it: &dyn Fn(&[u8]) -> bool,
    ) -> io::Result<Option<String>> {
        let name = path.display();
        let Some(entry) = self.host.look(path)? else {
            return Ok(Some(format!("{name} is gone")));
        };
        let text = self.host.read(path)?;
        if !text.is_some_and(|text| is_it(&text)) {
            return Ok(Some(format!("{name} was changed")));
        }
        Ok(misuse(path, &entry, mode, owner))
    }

    /// Puts one where the server reads it, instead of what is there, from whichever copy is still what it was. `None` if
    /// none is.
    pub fn show_again(&self, hash: Hash) -> io::Result<Option<()>> {
        let staged = self.get(hash)?;
        let served = self.host.read(&self.file(hash))?;
        let served = served.filter(|text| Hash::of(text) == hash);
        let served = served.and_then(|text| Certificate::of(&text).ok());
        let Some(certificate) = staged.or(served) else {
            return Ok(None);
        };
        self.host.remove(&self.secret(hash))?;
        self.stage(&certificate)?;
        self.host.remove(&self.file(hash))?;
        self.show(hash)
    }

    fn put(&self, path: &Path, text: &[u8], mode: u32, to: Option<&User>) -> io::Result<()> {
        let new = path.with_extension("new");
        self.host.write(&new, text, mode)?;
        if let Some(to) = to {
            self.host.give(&new, to.user, to.group)?;
        }
        self.host.synchronise(std::slice::from_ref(&new))?;
        self.host.rename(&new, path)?;
        let directory = path.parent().unwrap_or(&self.root).to_owned();
        self.host.synchronise(&[directory])
    }

    fn secret(&self, hash: Hash) -> PathBuf {
        self.root.join("secret").join(hash.to_string())
    }

    fn file(&self, hash: Hash) -> PathBuf {
        file(&self.root, Some(hash))
    }
}

impl Closure<'_> {
    /// What is not as it was staged of the certificates that are asserted.
    pub(crate) fn certificates_differ(&self) -> Result<Vec<Diagnostic>, Refused> {
        let mut drift = Vec::new();
        for hash in self.certs() {
            let wrong = self.certificates.differs(hash).map_err(failed)?;
            drift.extend(wrong.map(|wrong| Diagnostic::error(DRIFT, wrong)));
        }
        if !self.site().secured.is_empty() {
            let wrong = self.certificates.unknown_differs().map_err(failed)?;
            drift.extend(wrong.map(|wrong| Diagnostic::error(DRIFT, wrong)));
        }
        Ok(drift)
    }

    /// Makes again what is not as it was staged of them, and says what it was. The server reads it when it is told to.
    pub(crate) fn repair_certificates(&self) -> Result<Vec<Diagnostic>, Refused> {
        let mut drift = self.closed("key", Closed::Opened)?;
        drift.extend(self.closed("secret", Closed::Opened)?);
        drift.extend(self.certificates_differ()?);
        if drift.is_empty() {
            return Ok(drift);
        }
        self.certificates.show_unknown().map_err(failed)?;
        for hash in self.certs() {
            if self
                .certificates
                .show_again(hash)
                .map_err(failed)?
                .is_none()
            {
                let message = format!("what was staged as cert:{hash} is damaged, too");
                let trouble = Diagnostic::error(DRIFT, message);
                return Err(trouble.help("post it again").into());
            }
        }
        Ok(drift)
    }

    fn certs(&self) -> BTreeSet<Hash> {
        let site = self.site();
        let certs = site.hosts.values().flat_map(|host| host.certs.values());
        certs.copied().collect()
    }
}

/// Where the server reads a certificate and its key, or those that are nobody's.
pub fn file(root: &Path, hash: Option<Hash>) -> PathBuf {
    match hash {
        Some(hash) => root.join("key").join(hash.to_string()),
        None => unknown(root),
    }
}

fn unknown(root: &Path) -> PathBuf {
    root.join("key/unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(names: &[&str]) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn a_certificate_is_the_same_whatever_stands_around_it() {
        let (chain, key) = made(&["foo.test", "*.foo.test"]);
        let plain = Certificate::read(chain.as_bytes(), key.as_bytes()).unwrap();
        let both = format!(
            "Subject: foo\r\n{}\nkey:\n{key}",
            chain.replace('\n', "\r\n")
        );
        let other = Certificate::read(both.as_bytes(), both.as_bytes()).unwrap();
        assert_eq!(plain.hash(), other.hash());
        let covers = |name: &str| plain.covers(&Name::read(name).unwrap());
        assert!(covers("foo.test") && covers("www.foo.test"));
        assert!(!covers("bar.test") && !covers("a.b.foo.test"));
    }

    #[test]
    fn what_is_no_certificate_with_its_key_is_refused() {
        let (chain, key) = made(&["foo.test"]);
        let (_, other) = made(&["foo.test"]);
        for (chain, key, why) in [
            ("", key.as_str(), "no certificate"),
            (&chain, "", "no private key"),
            (&chain, &other, "not that of the certificate"),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                &key,
                "",
            ),
            ("-----BEGIN CERTIFICATE-----\n", &key, ""),
        ] {
            let said = Certificate::read(chain.as_bytes(), key.as_bytes()).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn whatever_a_certificate_holds_it_is_read_without_harm() {
        let (chain, key) = made(&["foo.test"]);
        let whole = Certificate::read(chain.as_bytes(), key.as_bytes()).unwrap();
        let bytes = whole.own.to_vec();
        assert_eq!(validity(&bytes), Some((whole.from, whole.until)));
        let mut changed = 0;
        for at in 0..bytes.len() {
            assert_eq!(validity(&bytes[..at]), None, "not all of it is there");
            for byte in [0, 0x7f, 0x80, 0x84, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] = byte;
                changed += usize::from(validity(&bytes) != Some((whole.from, whole.until)));
            }
        }
        assert!(changed > 0);
    }

    #[test]
    fn a_time_is_read_in_both_forms() {
        let at = |kind, text: &str| time(kind, text.as_bytes());
        assert_eq!(at(0x17, "700101000000Z"), Some(0));
        assert_eq!(at(0x17, "500101000000Z"), Some(0));
        assert_eq!(at(0x18, "20260131120000Z"), Some(1_769_860_800_000));
        assert_eq!(at(0x17, "000229235959Z"), Some(951_868_799_000));
        assert_eq!(at(0x17, "001329235959Z"), None);
        assert_eq!(at(0x18, "2026013112000é"), None);
    }
}
