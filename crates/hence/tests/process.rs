//! What only a real process shows: closed pipes, deep stacks, exit codes.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn hence(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    hence(arguments).output().expect("hence can be run")
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the target directory can be written");
    path.to_str().expect("the path is text").to_owned()
}

#[test]
fn a_reader_that_leaves_early_is_no_trouble() {
    let attributes: String = (0..100_000).map(|i| format!("a{i} {i};")).collect();
    let source = file("wide.sf", &format!("sfConfig extends {{ {attributes} }}"));
    for arguments in [["compile", &source], ["parse", &source]] {
        let mut command = hence(&arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("hence can be run");
        let mut start = [0; 10];
        let mut stdout = child.stdout.take().expect("it is piped");
        stdout.read_exact(&mut start).expect("something is printed");
        drop(stdout);
        let output = child.wait_with_output().expect("hence ends");
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty(), "nobody is there to be told");
    }
}

#[test]
fn a_hundred_thousand_levels_are_a_diagnostic_or_a_result() {
    let levels = 100_000;
    let blocks = format!(
        "sfConfig extends {{ {}{}",
        "a extends {".repeat(levels),
        "}".repeat(levels + 1)
    );
    let vectors = format!(
        "sfConfig extends {{ v {}{}; }}",
        "[".repeat(levels),
        "]".repeat(levels)
    );
    for (name, text) in [("blocks.sf", blocks), ("vectors.sf", vectors)] {
        let source = file(name, &text);
        for command in ["compile", "check", "parse"] {
            let refused = run(&[command, &source]);
            assert_eq!(refused.status.code(), Some(1), "{command} {name}");
            let words = String::from_utf8_lossy(&refused.stderr);
            assert!(words.contains("limit.depth"), "{command} {name}: {words}");

            let allowed = run(&[command, &source, "--max-depth", "1000000"]);
            assert_eq!(allowed.status.code(), Some(0), "{command} {name}");
        }
    }
}

#[test]
fn an_answer_grows_no_faster_than_what_it_is_about() {
    let sizes = [1_000, 10_000].map(|terms| {
        let names: Vec<String> = (0..terms).map(|term| format!("$T{term}")).collect();
        let definitions = (0..terms).map(|term| format!("private T{term} => {term}\n"));
        let definitions: String = definitions.collect();
        let text = format!("{definitions}Sum => {}\n", names.join(" + "));
        let source = file("terms.cf2", &text);
        let size = |options: &[&str]| {
            let answer = run(&[&["why", &source, "Sum"], options].concat());
            assert_eq!(answer.status.code(), Some(0), "{options:?}");
            answer.stdout.len()
        };
        let short = [&[][..], &["--format", "html"], &["--format", "dot"]].map(size);
        assert!(
            short[0] < 10_000,
            "the answer for people is short: {}",
            short[0]
        );
        assert!(short[1] < 3_000_000 && short[2] < 100_000, "{short:?}");
        [&["--full"][..], &["--format", "json"]].map(size)
    });
    for (small, large) in sizes[0].iter().zip(sizes[1]) {
        assert!(large < 15 * small, "{small} became {large}");
    }
}

#[cfg(unix)]
#[test]
fn what_the_system_refuses_is_not_the_fault_of_the_input() {
    let source = file("small.sf", "sfConfig extends { a 1; }");
    // Writing to this device always fails.
    if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
        let output = hence(&["compile", &source]).stdout(full).output();
        let output = output.expect("hence can be run");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("output.unwritable"));
    }
}

#[test]
fn a_result_is_written_whole_or_not_at_all() {
    let source = file("replaced.sf", "sfConfig extends { a 1; }");
    let result = file("replaced.json", "as it was");
    let written = run(&["compile", &source, "--out", &result]);
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(fs::read_to_string(&result).unwrap(), "{\"a\":1}\n");

    let mut source_file = fs::File::options().append(true).open(&source).unwrap();
    source_file.write_all(b"b nothing;").unwrap();
    let refused = run(&["compile", &source, "--out", &result]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&result).unwrap(), "{\"a\":1}\n");
}

#[test]
fn shells_and_manuals_are_served() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&script.stdout).contains("compile"));
    }
    let page = run(&["man"]);
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH hence 1"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man");
    fs::create_dir_all(&folder).unwrap();
    run(&["man", folder.to_str().unwrap()]);
    assert!(folder.join("hence-compile.1").is_file());
}
