//! Names that lead elsewhere: told, refused, or held until they lead here.

use std::path::Path;

use hence_closure::address::Name;
use hence_closure::checks::NAMES;
use hence_closure::closure::{self, Closure, Manner, Now, Published};
use hence_closure::host::{Host, Machine};
use hence_closure::server::Server;
use hence_closure::words::Subject;
use hence_ledger::{Change, Command};
use hence_model::diagnostic::Diagnostic;
use hence_store::Refused;

use crate::certificates::open;
use crate::disk::{Disk, ROOT};
use crate::real;

fn disk() -> Disk {
    let disk = Disk::new(false);
    closure::init(&disk, Path::new(ROOT), Server::Nginx).unwrap();
    disk
}

fn leads(disk: &Disk, name: &str, to: &[&str]) {
    let to = to.iter().map(|to| to.parse().unwrap()).collect();
    disk.names.borrow_mut().insert(name.to_owned(), to);
}

/// What a change did, and what is told about it.
fn served(published: Result<Published, Refused>) -> (Vec<String>, Vec<Diagnostic>) {
    match published {
        Ok(Published::New {
            now: Now::Stopped,
            done,
            warnings,
            ..
        }) => {
            let told = |change: &Change| match &change.after {
                Some(after) => format!("+ {} {}", change.key, after.value),
                None => format!("- {}", change.key),
            };
            (done.changes.iter().map(told).collect(), warnings)
        }
        Ok(Published::Nothing) => Default::default(),
        other => panic!("{other:?}"),
    }
}

fn commit(closure: &mut Closure<'_>, said: &[&str]) -> Result<Published, Refused> {
    real::commit(closure, &[real::all(said)])
}

#[test]
fn a_name_that_leads_elsewhere_is_told() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "good.org", &["198.51.100.7", "192.0.2.1"]);
    leads(&disk, "bad.org", &["198.51.100.7"]);
    let (_, warnings) = served(commit(
        &mut closure,
        &[
            "listen 192.0.2.1:80",
            "host good.org",
            "host bad.org",
            "alias bad.org none.org",
            "host foo.test",
        ],
    ));
    let told: Vec<&str> = warnings.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`bad.org` leads to 198.51.100.7, and is served at 192.0.2.1:80",
            "`none.org` leads nowhere, and is served at 192.0.2.1:80: nobody knows this name",
        ]
    );
    let blamed: Vec<&str> = warnings
        .iter()
        .filter_map(|one| one.path.as_deref())
        .collect();
    assert_eq!(blamed, ["host bad.org", "alias bad.org none.org"]);
    assert!(
        closure
            .site()
            .hosts
            .values()
            .all(|host| host.held.is_none())
    );
    // Only what is new is looked up.
    assert_eq!(disk.asked.get(), 3);
    let (key, value) = real::says("host other.test");
    let owner = "site".into();
    served(real::commit(
        &mut closure,
        &[Command::Assert { owner, key, value }],
    ));
    assert_eq!(disk.asked.get(), 3);
}

#[test]
fn every_address_of_the_machine_is_here_where_all_are_listened_at() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "good.org", &["192.0.2.1"]);
    leads(&disk, "bad.org", &["198.51.100.7"]);
    leads(&disk, "six.org", &["2001:db8::1"]);
    let said = [
        "listen 0.0.0.0:80",
        "host good.org",
        "host bad.org",
        "host six.org",
    ];
    let (_, warnings) = served(commit(&mut closure, &said));
    let blamed: Vec<&str> = warnings
        .iter()
        .filter_map(|one| one.path.as_deref())
        .collect();
    assert_eq!(blamed, ["host bad.org", "host six.org"]);
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "bad.org", &["198.51.100.7"]);
    let said = ["names refuse", "listen 192.0.2.1:80", "host bad.org"];
    let Err(Refused::Because(troubles)) = commit(&mut closure, &said) else {
        panic!("it was not refused");
    };
    assert_eq!(troubles.len(), 1);
    assert_eq!(troubles[0].code, NAMES);
    assert_eq!(closure.repository().version(), 0);
    // For the machine itself it is only told, whatever is said about names.
    for policy in ["names refuse", "names hold", "names warn", "host good.test"] {
        let said = [policy, "listen 127.0.0.1:80", "host bad.org"];
        let (changes, warnings) = served(commit(&mut closure, &said));
        assert!(!changes.iter().any(|change| change.contains("/hold ")));
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].message.contains("leads to 198.51.100.7"));
        served(commit(&mut closure, &["listen 127.0.0.1:80"]));
    }
    // What was served once may be served again.
    let said = ["listen 127.0.0.1:80"];
    served(commit(&mut closure, &said));
    served(closure.restore(&real::request(), 1));
}

#[test]
fn a_host_whose_name_leads_elsewhere_is_held_until_it_leads_here() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "bad.org", &["198.51.100.7"]);
    leads(&disk, "good.org", &["192.0.2.1"]);
    let said = [
        "names hold",
        "listen 192.0.2.1:80",
        "host bad.org",
        "host good.org",
        "right ada good.org /",
    ];
    let (changes, warnings) = served(commit(&mut closure, &said));
    let hold = changes.iter().find(|change| change.contains("/hold "));
    assert!(
        hold.is_some_and(|hold| hold.contains("leads to 198.51.100.7")),
        "{changes:?}"
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let held = |closure: &Closure<'_>| {
        let site = closure.site();
        let held = site.hosts.iter().filter(|(_, host)| host.held.is_some());
        held.map(|(name, _)| name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(held(&closure), ["bad.org"]);
    assert_eq!(closure.site().names(real::free_endpoints(1)[0]).len(), 1);
    // What is said about it by others, and again, changes nothing.
    let (changes, _) = served(commit(&mut closure, &said));
    assert_eq!(changes, [""; 0]);
    // Whoever commits next after the name has moved lets it be served, whatever they may write.
    leads(&disk, "bad.org", &["192.0.2.1"]);
    let (key, value) = real::says("redirect good.org /a 301 /b");
    let owner = "ada".into();
    let request = hence_store::Request {
        owner: "ada".to_owned(),
        ..real::request()
    };
    let command = Command::Assert { owner, key, value };
    let (changes, _) = served(closure.commit(&request, &[command], Manner::default()));
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert!(
        changes.contains(&"- host/bad.org/hold".to_owned()),
        "{changes:?}"
    );
    assert_eq!(held(&closure), [""; 0]);
    // What somebody else holds stays.
    let (key, value) = real::says("hold bad.org it is being repaired");
    let owner = "site".into();
    served(real::commit(
        &mut closure,
        &[Command::Assert { owner, key, value }],
    ));
    served(real::commit(&mut closure, &[]));
    assert_eq!(held(&closure), ["bad.org"]);
}

#[test]
fn names_are_held_no_more_when_that_is_not_asserted_any_more() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "bad.org", &["198.51.100.7"]);
    served(commit(
        &mut closure,
        &["names hold", "listen 192.0.2.1:80", "host bad.org"],
    ));
    assert!(
        closure
            .site()
            .hosts
            .values()
            .all(|host| host.held.is_some())
    );
    served(commit(
        &mut closure,
        &["names warn", "listen 192.0.2.1:80", "host bad.org"],
    ));
    assert!(
        closure
            .site()
            .hosts
            .values()
            .all(|host| host.held.is_none())
    );
}

#[test]
fn a_host_that_is_retracted_is_not_held_any_more() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "bad.org", &["198.51.100.7"]);
    let said = ["names hold", "listen 192.0.2.1:80", "host bad.org"];
    served(commit(&mut closure, &said));
    let retract = Subject::Host(Name::read("bad.org").unwrap()).retracted();
    let (changes, _) = served(closure.commit(&real::request(), &[retract], Manner::default()));
    assert_eq!(changes, ["- host/bad.org", "- host/bad.org/hold"]);
    // The same when it goes because its owner does not assert it any more.
    served(commit(&mut closure, &said));
    let (changes, _) = served(commit(&mut closure, &said[..2]));
    assert_eq!(changes, ["- host/bad.org", "- host/bad.org/hold"]);
}

#[test]
fn what_cannot_be_looked_up_in_time_is_served() {
    for policy in ["refuse", "hold"] {
        let disk = disk();
        let mut closure = open(&disk);
        disk.slow.set(true);
        let policy = format!("names {policy}");
        let said = [
            &policy,
            "listen 192.0.2.1:80",
            "host bad.org",
            "host worse.org",
        ];
        let (_, warnings) = served(commit(&mut closure, &said));
        let told: Vec<&str> = warnings.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(told, ["2 names could not be looked up in time"]);
        assert!(
            closure
                .site()
                .hosts
                .values()
                .all(|host| host.held.is_none())
        );
    }
}

#[test]
fn who_listens_elsewhere_holds_nobody() {
    let disk = disk();
    let mut closure = open(&disk);
    leads(&disk, "good.org", &["192.0.2.1"]);
    let said = ["names hold", "listen 192.0.2.1:80", "host good.org"];
    let (_, warnings) = served(commit(&mut closure, &said));
    assert_eq!(warnings.len(), 0);
    // The name is known to nobody for a moment, and somebody else changes where the server listens.
    disk.names.borrow_mut().clear();
    let (key, value) = real::says("listen 192.0.2.1:81");
    let owner = "site".into();
    let (changes, warnings) = served(real::commit(
        &mut closure,
        &[Command::Assert { owner, key, value }],
    ));
    assert_eq!(
        (changes.len(), warnings.len()),
        (1, 1),
        "{changes:?} {warnings:?}"
    );
}

#[test]
fn the_machine_itself_knows_where_names_lead() {
    let addresses = |name: &str| Machine.addresses(name, real::LIMIT);
    let here = addresses("localhost").unwrap();
    assert!(
        !here.is_empty() && here.iter().all(|to| to.is_loopback()),
        "{here:?}"
    );
    assert!(addresses("unknown.invalid").is_err());
    assert!(Machine.room(&std::env::temp_dir()).unwrap() > 0);
    assert!(Machine.room(Path::new("/nowhere/at/all")).is_err());
}
