//! What the README and the pages about Puppet, questions, the fleet and XML files show is what Hence answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_answer_that_is_shown_is_a_real_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let parts = folder.join("examples/parts");
    fs::create_dir_all(&parts).expect("the target directory can be written");
    let copy = |name: &str| {
        fs::copy(root.join(name), folder.join(name)).expect("the examples are there");
    };
    copy("examples/site.sf");
    copy("examples/site.cf2");
    copy("examples/site.pp");
    copy("examples/production.sf");
    fs::create_dir_all(folder.join("examples/policy"))
        .expect("the target directory can be written");
    for name in ["base.cf2", "delegated.cf2", "site.cf2", "site.policy"] {
        copy(&format!("examples/policy/{name}"));
    }
    for part in fs::read_dir(root.join("examples/parts")).expect("the examples are there") {
        let name = part.expect("the examples can be read").file_name();
        copy(&format!("examples/parts/{}", name.display()));
    }
    // The mistake of which the README speaks, in the same example.
    let site = fs::read_to_string(root.join("examples/site.sf")).expect("it was just copied");
    let typo = site
        .replace("web1:web:port", "web1:web:prot")
        .replace("\"parts/", "\"examples/parts/");
    fs::write(folder.join("typo.sf"), typo).expect("the target directory can be written");

    make_history(&folder);
    for ledger in [".hence", "pool"] {
        let _ = fs::remove_dir_all(folder.join(ledger));
    }
    copy_below(
        &root.join("examples/htcondor"),
        &folder.join("examples/htcondor"),
    );

    copy_below(&root.join("examples/xml"), &folder.join("examples/xml"));

    let read = |name: &str| fs::read_to_string(root.join(name)).expect("the page is there");
    let pages = [
        "README.md",
        "docs/puppet.md",
        "docs/why.md",
        "docs/impact.md",
        "docs/diff.md",
        "docs/fleet.md",
        "docs/policy.md",
        "docs/xml.md",
    ]
    .map(read)
    .concat();
    let mut shown = 0;
    for session in pages.split("    $ hence ").skip(1) {
        let (command, rest) = session.split_once('\n').expect("an answer follows");
        let answer: String = rest
            .lines()
            .take_while(|line| line.is_empty() || line.starts_with("    "))
            .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
            .collect();
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .args(shell_words::split(command).expect("the words of a command"))
            .current_dir(&folder)
            .output()
            .expect("hence can be run");
        let real = [output.stdout, output.stderr].concat();
        let real = String::from_utf8(real).expect("answers are text");
        assert_eq!(answer.trim_end(), real.trim_end(), "hence {command}");
        shown += 1;
    }
    assert_eq!(shown, 50);
}

fn copy_below(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the target directory can be written");
    for entry in fs::read_dir(from).expect("the examples are there") {
        let path = entry.expect("the examples can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        match path.is_dir() {
            true => copy_below(&path, &target),
            false => drop(fs::copy(&path, &target).expect("the examples can be copied")),
        }
    }
}

/// A default is changed while an override hides it, then the override is removed: `docs/diff.md` asks what happened.
fn make_history(folder: &Path) {
    let git = |who: &str, arguments: &[&str]| {
        let mail = format!("{who}@example.org");
        let status = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs([("GIT_AUTHOR_NAME", who), ("GIT_AUTHOR_EMAIL", &mail)])
            .envs([("GIT_COMMITTER_NAME", who), ("GIT_COMMITTER_EMAIL", &mail)])
            .env("GIT_AUTHOR_DATE", "2026-01-31T12:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-31T12:00:00Z")
            .status()
            .expect("git can be run");
        assert!(status.success(), "git {arguments:?}");
    };
    let site = |mode: &str, over: &str| {
        let base = format!("class base {{\n  file {{ '/etc/motd': mode => '{mode}' }}\n}}\n");
        format!("{base}class strict inherits base {{\n{over}}}\ninclude strict\n")
    };
    let over = "  File['/etc/motd'] { mode => '0600' }\n";
    let _ = fs::remove_dir_all(folder.join(".git"));
    git("ops", &["init", "--quiet"]);
    for (who, subject, text) in [
        ("ops", "Set up", site("0644", over)),
        ("ann", "Tighten the default", site("0640", over)),
        (
            "bob",
            "The override is not needed any more",
            site("0640", ""),
        ),
    ] {
        fs::write(folder.join("site.pp"), text).expect("the target directory can be written");
        git(who, &["add", "site.pp"]);
        git(who, &["commit", "--quiet", "--message", subject]);
    }
}
