//! A database that KeePassXC makes now, with whatever version of it is installed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use hence_kdbx::{Member, open};

const PASSWORD: &str = "correct horse";

#[test]
fn what_keepassxc_makes_now_opens() {
    if Command::new("keepassxc-cli")
        .arg("--version")
        .output()
        .is_err()
    {
        println!("skipped: keepassxc-cli is not installed");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let database = folder.join(format!("fresh-{}.kdbx", std::process::id()));
    let path = database
        .to_str()
        .expect("the path of the target folder is text");
    // The least time that it takes for deriving keys is 100 milliseconds.
    keepassxc(
        &["db-create", "-q", "-p", "-t", "100", path],
        &[PASSWORD, PASSWORD],
    );
    keepassxc(&["mkdir", "-q", path, "Web servers"], &[PASSWORD]);
    keepassxc(
        &["add", "-q", "-u", "mary", "-p", path, "Web servers/entry-1"],
        &[PASSWORD, "s€cret"],
    );
    let bytes = fs::read(&database).unwrap();
    fs::remove_file(&database).unwrap();

    let tree = open(&bytes, PASSWORD).unwrap();
    let [(group, Member::Group(servers))] = &tree.members[..] else {
        panic!("{tree:?}")
    };
    assert_eq!(group, "Web★servers");
    let [(entry, Member::Entry(mary))] = &servers.members[..] else {
        panic!("{tree:?}")
    };
    assert_eq!(entry, "entry★1");
    let fields: Vec<_> = mary.fields().take(3).collect();
    assert_eq!(
        fields,
        [
            ("Title", "entry-1"),
            ("Password", "s€cret"),
            ("UserName", "mary")
        ]
    );
}

fn keepassxc(arguments: &[&str], answers: &[&str]) {
    let mut command = Command::new("keepassxc-cli");
    command
        .args(arguments)
        .env("LC_ALL", "C.UTF-8")
        .env("QT_QPA_PLATFORM", "offscreen");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut running = command.spawn().unwrap();
    for answer in answers {
        writeln!(running.stdin.as_ref().expect("it is piped"), "{answer}").unwrap();
    }
    drop(running.stdin.take());
    let output = running.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "keepassxc-cli {arguments:?}: {output:?}"
    );
}
