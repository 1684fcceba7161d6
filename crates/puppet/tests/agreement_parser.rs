//! What the real parser accepts is accepted here, as the same syntax, and what it refuses is refused.
//!
//! The texts are in `agreement/`: one in each line of `lines.txt`, several lines between two `----` in
//! `blocks.txt`, templates likewise in `templates.txt`. `HENCE_MANIFESTS` names a folder with more of both.

mod outline;
mod texts;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hence_model::unit::Unit;
use hence_puppet::parser::{parse, parse_template};
use outline::outline;
use texts::{cases, corpus, random_text};

const INSTALL: &str = "the real compiler is needed to compare with: \
     apt-get install -y --no-install-recommends puppet-agent";

struct Case {
    is_template: bool,
    text: String,
    /// Where it is, if it is in a file of its own.
    path: Option<PathBuf>,
}

#[test]
fn every_text_is_read_as_the_real_parser_reads_it() {
    let mut cases = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("the texts are there");
    let case = |text: &str, is_template| Case {
        is_template,
        text: text.to_owned(),
        path: None,
    };
    for line in read("lines.txt").lines() {
        cases.push(case(line, false));
        // The end of a line changes nothing.
        cases.push(case(&line.replace(' ', "\r\n"), false));
    }
    for block in read("blocks.txt").split("----\n") {
        cases.push(case(block, false));
        cases.push(case(&block.replace('\n', "\r\n"), false));
        cases.push(case(block.trim_end_matches('\n'), false));
    }
    for block in read("templates.txt").split("----\n") {
        cases.push(case(block, true));
        cases.push(case(&block.replace('\n', "\r\n"), true));
        cases.push(case(block.trim_end_matches('\n'), true));
    }
    assert!(cases.len() > 1_000, "{} texts", cases.len());
    compare(&cases);
}

#[test]
fn every_file_of_a_folder_is_read_as_the_real_parser_reads_it() {
    let Ok(folder) = std::env::var("HENCE_MANIFESTS") else {
        return;
    };
    let mut cases = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            let is_template = match extension {
                _ if path.is_dir() => {
                    folders.push(path);
                    continue;
                }
                Some("pp") => false,
                Some("epp") => true,
                _ => continue,
            };
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            cases.push(Case {
                is_template,
                text,
                path: Some(path),
            });
        }
    }
    println!("{} files", cases.len());
    compare(&cases);
}

#[test]
fn random_texts_are_read_as_the_real_parser_reads_them() {
    let corpus = corpus();
    let texts = (0..cases(3_000)).map(|seed| Case {
        is_template: seed % 4 == 3,
        text: random_text(&corpus, seed),
        path: None,
    });
    compare(&texts.collect::<Vec<Case>>());
}

fn compare(cases: &[Case]) {
    let answers = real(cases);
    assert_eq!(answers.len(), cases.len(), "{INSTALL}");
    let mut differences = Vec::new();
    for (case, answer) in cases.iter().zip(&answers) {
        let ours = ours(case);
        let agrees = match answer.strip_prefix("ok ") {
            Some(outline) => ours.as_deref() == Ok(outline),
            None => ours.is_err(),
        };
        if !agrees {
            let ours = ours.unwrap_or_else(|why| format!("refused {why}"));
            let name = match &case.path {
                Some(path) => path.display().to_string(),
                None => format!("{:?}", case.text),
            };
            differences.push(format!("{name}\n  real: {answer}\n  ours: {ours}\n"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {} differ\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
}

fn ours(case: &Case) -> Result<String, String> {
    let mut unit = Unit::default();
    let file = unit.sources.add("text", &case.text).expect("it is small");
    let program = match case.is_template {
        true => parse_template(&mut unit, file),
        false => parse(&mut unit, file),
    };
    let mut errors = unit.diagnostics.iter().filter(|one| one.is_error());
    match errors.next() {
        Some(error) => Err(format!("[{}] {}", error.code.name, error.message)),
        None => Ok(outline(&program)),
    }
}

/// What the real parser makes of all texts.
fn real(cases: &[Case]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agreement/parser.rb");
    let mut process = Command::new("ruby")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("ruby cannot be run ({error}); {INSTALL}"));
    let mut input = process.stdin.take().expect("it is a pipe");
    let lines: String = cases
        .iter()
        .map(|case| {
            let kind = match case.is_template {
                true => "template",
                false => "manifest",
            };
            match &case.path {
                Some(path) => format!("{kind} @{}\n", path.display()),
                None => format!("{kind} {}\n", json(&case.text)),
            }
        })
        .collect();
    // It answers while it reads: both must not wait for each other.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = process.wait_with_output().expect("it ends");
    let _ = writer.join().expect("writing does not panic");
    let answers = String::from_utf8(output.stdout).expect("it answers in UTF-8");
    answers.lines().map(str::to_owned).collect()
}

fn json(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '\0'..='\x1f' => quoted.push_str(&format!("\\u{:04x}", character as u32)),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
