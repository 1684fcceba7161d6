//! Certificates that cannot be shown for a host are refused, each with what is to blame.

use std::path::Path;
use std::sync::Arc;

use hence_closure::certificate::Certificate;
use hence_closure::checks::CERTIFICATE;
use hence_closure::closure::{self, Closure, Now, Published};
use hence_closure::host::Host;
use hence_closure::publish::MISSING;
use hence_closure::server::Server;
use hence_closure::site::dormant;
use hence_closure::words::Subject;
use hence_ledger::Hash;
use hence_model::diagnostic::Diagnostic;
use hence_store::{Memory, Refused};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use crate::disk::{Disk, ROOT, Survivor};
use crate::generate::certificate;
use crate::real;

/// A day: year, month, day.
type Day = (i32, u8, u8);

/// A certificate that is valid between two days.
fn between(names: &[&str], from: Day, until: Day) -> Certificate {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.not_before = date_time_ymd(from.0, from.1, from.2);
    params.not_after = date_time_ymd(until.0, until.1, until.2);
    let key = KeyPair::generate().unwrap();
    let made = params.self_signed(&key).unwrap();
    Certificate::read(made.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap()
}

pub fn open(disk: &Disk) -> Closure<'_> {
    let memory = Survivor(Arc::new(Memory::default()));
    Closure::on(disk, Path::new(ROOT), Box::new(memory)).unwrap()
}

/// What becomes of a certificate for `foo.test`, and what is said about it. Today is 31 January 2026.
fn asserted(certificate: &Certificate) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    let hash = closure.certificates().stage(certificate).unwrap();
    commit(&mut closure, hash)
}

fn commit(closure: &mut Closure<'_>, hash: Hash) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let everything = real::all(&[
        "listen 127.0.0.1:8443 tls",
        "host foo.test",
        "alias foo.test www.foo.test",
        &format!("cert foo.test 127.0.0.1:8443 cert:{hash}"),
    ]);
    match real::commit(closure, &[everything]) {
        Ok(Published::New {
            now: Now::Stopped,
            warnings,
            ..
        }) => Ok(warnings),
        Err(Refused::Because(troubles)) => Err(troubles),
        other => panic!("{other:?}"),
    }
}

const NAMES: [&str; 2] = ["foo.test", "www.foo.test"];

#[test]
fn a_certificate_is_shown_while_it_is_valid() {
    let told = asserted(&between(&NAMES, (2025, 1, 1), (2027, 1, 1)));
    assert_eq!(told, Ok(Vec::new()));
    for (from, until, said) in [
        ((2025, 1, 1), (2026, 1, 31), "not valid any more"),
        ((2026, 2, 1), (2027, 1, 1), "not valid yet"),
    ] {
        let troubles = asserted(&between(&NAMES, from, until)).unwrap_err();
        assert_eq!(troubles.len(), 1, "{troubles:?}");
        assert_eq!(troubles[0].code, CERTIFICATE);
        assert!(troubles[0].message.contains(said), "{troubles:?}");
        let blamed = troubles[0].path.as_deref();
        assert_eq!(blamed, Some("cert foo.test 127.0.0.1:8443"));
    }
    for (until, days) in [((2026, 3, 1), 28), ((2026, 2, 1), 0)] {
        let warnings = asserted(&between(&NAMES, (2025, 1, 1), until)).unwrap();
        let message = &warnings[0].message;
        assert!(
            message.contains(&format!("for {days} more days")),
            "{message}"
        );
        assert!(!warnings[0].is_error());
    }
    let told = asserted(&between(&NAMES, (2025, 1, 1), (2026, 3, 3)));
    assert_eq!(told, Ok(Vec::new()), "30 days and more are enough");
}

#[test]
fn a_certificate_is_for_all_names_of_the_host() {
    let troubles = asserted(&certificate(&["foo.test"])).unwrap_err();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].message.ends_with("is not for `www.foo.test`"));
    assert!(troubles[0].help[0].contains("retract alias foo.test www.foo.test"));
    let troubles = asserted(&certificate(&["bar.test"])).unwrap_err();
    assert_eq!(troubles.len(), 2, "{troubles:?}");
    assert_eq!(
        asserted(&certificate(&["*.foo.test", "foo.test"])),
        Ok(Vec::new())
    );
}

#[test]
fn a_certificate_that_is_not_staged_is_missed() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let troubles = commit(&mut open(&disk), Hash::of(b"none")).unwrap_err();
    assert_eq!(troubles[0].code, MISSING);
}

#[test]
fn what_time_has_done_does_not_keep_a_server_down() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    let old = closure
        .certificates()
        .stage(&between(&NAMES, (2025, 1, 1), (2026, 2, 1)));
    commit(&mut closure, old.unwrap()).unwrap();
    let new = closure.certificates().stage(&certificate(&NAMES));
    commit(&mut closure, new.unwrap()).unwrap();
    disk.advance(40);
    // It may be served again, and somebody else may say something; who asserts it anew is refused.
    disk.remove(&Path::new(ROOT).join("current")).unwrap();
    closure.restore(&real::request(), 1).unwrap();
    closure.recover().unwrap();
    let (key, value) = real::says("alias foo.test www.foo.test");
    let gone = Subject::of(&key).unwrap().retracted();
    real::commit(&mut closure, &[gone]).unwrap();
    let owner = "site".into();
    let alias = hence_ledger::Command::Assert { owner, key, value };
    let Ok(Published::New {
        now: Now::Stopped,
        warnings,
        ..
    }) = real::commit(&mut closure, &[alias])
    else {
        panic!("it was refused");
    };
    assert!(warnings[0].message.contains("not valid any more"));
}

#[test]
fn a_host_without_a_certificate_sleeps_where_tls_is_spoken() {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    let mut closure = open(&disk);
    let hash = closure
        .certificates()
        .stage(&certificate(&["foo.test"]))
        .unwrap();
    let everything = real::all(&[
        "listen 127.0.0.1:8080",
        "listen 127.0.0.1:8443 tls",
        "host foo.test",
        "host bar.test",
        "host baz.test on 127.0.0.1:8443",
        &format!("cert foo.test 127.0.0.1:8443 cert:{hash}"),
        &format!("cert foo.test 127.0.0.1:8080 cert:{hash}"),
        "default 127.0.0.1:8443 bar.test",
    ]);
    let Ok(Published::New {
        now: Now::Stopped,
        warnings,
        ..
    }) = real::commit(&mut closure, &[everything])
    else {
        panic!("it was refused");
    };
    // Only who is named to be there is missed there.
    let told: Vec<&str> = warnings.iter().map(|one| &*one.message).collect();
    let [default, cert, missed] = told[..] else {
        panic!("{told:?}");
    };
    assert!(default.starts_with("`default 127.0.0.1:8443` has no effect yet"));
    assert!(cert.starts_with("`cert foo.test 127.0.0.1:8080` has no effect yet"));
    assert!(missed.starts_with("`baz.test` has no certificate"));
    let site = closure.site();
    let why = dormant(closure.repository().state(), &site, closure.content());
    let why: Vec<String> = why
        .iter()
        .map(|(key, asleep)| match asleep.partly {
            true => format!("in part {key}: {asleep}"),
            false => format!("{key}: {asleep}"),
        })
        .collect();
    assert_eq!(
        why,
        [
            "default/127.0.0.1:8443: there is no `cert bar.test 127.0.0.1:8443` to show",
            "in part host/bar.test: at 127.0.0.1:8443, where TLS is spoken, it has no `cert`",
            "host/baz.test: at 127.0.0.1:8443, where TLS is spoken, it has no `cert`",
            "host/foo.test/cert/127.0.0.1:8080: TLS is not spoken there",
        ]
    );
}
