//! Every code of a diagnostic has a page that explains it and a specification that raises it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hence::pages::PAGES;
use hence_model::diagnostic::Diagnostic;
use hence_model::source::{Files, ReadError};
use hence_smartfrog::Semantics;

#[test]
fn every_code_has_a_page() {
    let codes: BTreeSet<String> = codes().into_iter().map(|(code, _)| code).collect();
    let pages = PAGES.iter().map(|(code, _)| (*code).to_owned());
    assert_eq!(
        codes,
        pages.collect::<BTreeSet<_>>(),
        "codes and `src/pages.rs`"
    );
    let folder = files_below(&workspace().join("docs/diagnostics"));
    let files = folder
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned());
    assert_eq!(
        codes,
        files.collect::<BTreeSet<_>>(),
        "codes and `docs/diagnostics`"
    );
}

#[test]
fn every_code_is_raised_by_a_specification() {
    let spec = files_below(&workspace().join("spec"));
    let answers = spec.iter().filter(|file| {
        let extension = file.extension().unwrap_or_default();
        extension == "diagnostics" || extension == "session" || extension == "why"
    });
    let answers: String = answers
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let never: Vec<String> = codes()
        .into_iter()
        .map(|(code, _)| code)
        .filter(|code| !answers.contains(&format!("[{code}]")))
        .filter(|code| !is_raised_elsewhere(code))
        .collect();
    assert!(
        never.is_empty(),
        "no file of the specification raises {never:?}"
    );
}

/// What takes two processes, or a file of another version, is raised by tests of the store; what takes another program,
/// by those that run real ones.
fn is_raised_elsewhere(code: &str) -> bool {
    let (word, tests) = match code {
        "rollout.terms" => ("TERMS", "crates/service/tests/rollout.rs"),
        "store.locked" => ("LOCKED", "crates/store/src/tests"),
        "store.format" => ("FORMAT", "crates/store/src/tests"),
        "store.unknown" => (code, "crates/hence/tests/service"),
        "input.elsewhere" | "input.no-token" | "server.address" | "server.certificate"
        | "server.listen" | "server.unreachable" => (code, "crates/hence/tests/server.rs"),
        "server.untrusted" => (code, "crates/hence/tests/agent.rs"),
        code if code.starts_with("server.") => (code, "crates/server/tests"),
        "xml.moved" => ("Replaced::Moved", "crates/xml/tests"),
        "plugin.cannot-run" => (code, "crates/hence/tests/process.rs"),
        "agent.failed" | "agent.rolled-back" => (code, "crates/hence/tests/agent.rs"),
        "http.broken-promise" | "http.drift" | "http.endpoint-taken" | "http.unconfirmed" => {
            (code, "crates/hence/tests/http.rs")
        }
        "quickstart.failed" => (code, "crates/hence/tests/quickstart.rs"),
        "http.failed" => ("FAILED", "crates/closure/tests"),
        "http.modules" => ("MODULES", "crates/closure/tests"),
        "http.names" => ("NAMES", "crates/closure/tests"),
        "http.no-room" => ("NO_ROOM", "crates/closure/tests"),
        "http.no-server" => ("NO_SERVER", "crates/closure/tests"),
        "http.test-failed" => ("TEST_FAILED", "crates/closure/tests"),
        _ => return false,
    };
    let tests = workspace().join(tests);
    let mut tests = match tests.is_dir() {
        true => files_below(&tests).into_iter(),
        false => vec![tests].into_iter(),
    };
    tests.any(|file| fs::read_to_string(file).unwrap().contains(word))
}

#[test]
fn a_page_names_its_code_and_its_rule() {
    for (code, rule) in codes() {
        let page = hence::pages::page(&code).unwrap_or_default();
        assert!(
            page.starts_with(&format!("# {code}\n")),
            "{code}: the headline"
        );
        match rule {
            Some(rule) => {
                let sentence = format!("Rule {rule} of the published semantics.");
                assert!(page.contains(&sentence), "{code}: {sentence}");
            }
            None => assert!(
                !page.contains("of the published semantics."),
                "{code} has no rule"
            ),
        }
    }
}

#[test]
fn the_examples_of_a_page_show_the_mistake_and_then_none() {
    for (code, page) in PAGES {
        for (number, example) in examples(page).into_iter().enumerate() {
            let raised = raised_by(&example);
            match number {
                0 => assert_eq!(raised, [*code], "the first example of {code}"),
                _ => assert!(raised.is_empty(), "a later example of {code}: {raised:?}"),
            }
        }
    }
}

struct Example {
    language: Language,
    text: String,
}

enum Language {
    SmartFrog(Semantics),
    Cf2(hence_cf2::compile::Lint),
    Puppet(hence_puppet::Options),
}

/// The blocks of a page that can be compiled: ```` ```sf ````, and the semantics if it is not the core;
/// ```` ```cf2 ````, and `-Wdup` if that is asked for; ```` ```pp ````, and `--strict`.
fn examples(page: &str) -> Vec<Example> {
    let blocks = page.split("```").skip(1).step_by(2);
    let example = |block: &str| {
        let (words, text) = block.split_once('\n').expect("a block has lines");
        let words: Vec<&str> = words.split_whitespace().collect();
        let language = match words[..] {
            ["sf"] => Language::SmartFrog(Semantics::Core),
            ["sf", "forward"] => Language::SmartFrog(Semantics::Forward),
            ["sf", "production"] => Language::SmartFrog(Semantics::Production),
            ["cf2"] => Language::Cf2(hence_cf2::compile::Lint::Allow),
            ["cf2", "-Wdup"] => Language::Cf2(hence_cf2::compile::Lint::Warn),
            ["pp"] => Language::Puppet(hence_puppet::Options::default()),
            ["pp", "--strict"] => Language::Puppet(hence_puppet::Options {
                strict: true,
                ..Default::default()
            }),
            // A file that commands on the page use, which are run with all of the book.
            [_, file] if file.contains('.') => return None,
            ["sf" | "cf2" | "pp", ..] => panic!("nobody compiles {words:?}"),
            _ => return None,
        };
        let text = text.to_owned();
        Some(Example { language, text })
    };
    blocks.filter_map(example).collect()
}

/// The codes of what is wrong with an example.
fn raised_by(example: &Example) -> Vec<&'static str> {
    let codes = |diagnostics: &[Diagnostic]| {
        let mut codes: Vec<&str> = diagnostics.iter().map(|one| one.code.name).collect();
        codes.dedup();
        codes
    };
    match example.language {
        Language::SmartFrog(semantics) => {
            let options = hence_smartfrog::Options {
                semantics,
                ..Default::default()
            };
            let compiled: hence_smartfrog::Compiled =
                hence_smartfrog::compile_file(example, Example::NAME, &options);
            codes(&compiled.unit.diagnostics)
        }
        Language::Cf2(duplicates) => {
            let options = hence_cf2::Options {
                duplicates,
                ..Default::default()
            };
            let compiled = hence_cf2::compile_file(example, Example::NAME, &options);
            codes(&compiled.unit().diagnostics)
        }
        Language::Puppet(options) => {
            let layout = hence_puppet::Layout {
                manifest: Example::NAME.into(),
                modulepath: vec!["modules".into()],
                hiera: Some("hiera.yaml".into()),
                environment: None,
            };
            let site = hence_puppet::Site::new(example, layout, Default::default());
            let facts = hence_puppet::facts::read(&site, example, "facts.json");
            let node = hence_puppet::Node::new("web1.example.org", facts.expect("they are JSON"));
            codes(&hence_puppet::compile(&site, &node, &options).diagnostics)
        }
    }
}

impl Example {
    /// The file with the example.
    const NAME: &str = "example";

    /// What examples of Puppet find beside them.
    const BESIDE: [(&str, &str); 7] = [
        ("facts.json", r#"{ "os": { "family": "Debian" } }"#),
        (
            "hiera.yaml",
            "version: 5\nhierarchy:\n  - { name: all, paths: [people.yaml, common.yaml] }\n",
        ),
        (
            "data/common.yaml",
            "key: k\nusers: { alice.smith: { uid: 1000 } }\n",
        ),
        (
            "data/people.yaml",
            "users: { alice.smith: { uid: 1001 } }\n",
        ),
        (
            "modules/apache/manifests/init.pp",
            "class apache($port) { }",
        ),
        ("modules/base/files/motd", "Welcome"),
        (
            "modules/web/templates/vhost.epp",
            "<%- | $port | -%>\nlisten <%= $port %>\n",
        ),
    ];
}

impl Files for Example {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let beside = Example::BESIDE.iter().find(|(file, _)| *file == name);
        match (name, beside) {
            (Example::NAME, _) => text.push_str(&self.text),
            (_, Some((_, found))) => text.push_str(found),
            _ => return Err(ReadError::Missing),
        }
        Ok(())
    }
}

impl hence_cf2::World for Example {}

impl hence_puppet::World for Example {
    fn list(&self, directory: &str) -> Vec<String> {
        let inside = |file: &str| {
            let rest = file.strip_prefix(directory)?.strip_prefix('/')?;
            Some(match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => rest.to_owned(),
            })
        };
        let names = Example::BESIDE.iter().filter_map(|(file, _)| inside(file));
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// The codes that the crates define, and their rules, found in the text of the crates.
fn codes() -> Vec<(String, Option<String>)> {
    let mut codes = Vec::new();
    for file in files_below(&workspace().join("crates")) {
        if file.extension().is_none_or(|extension| extension != "rs")
            || file.components().any(|part| part.as_os_str() == "tests")
        {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for definition in text.split(": Code =").skip(1) {
            let definition = definition.split(';').next().unwrap_or_default();
            let mut quoted = definition.split('"').skip(1).step_by(2).map(str::to_owned);
            let code = quoted.next().expect("a code has a name");
            codes.push((code, quoted.next()));
        }
    }
    codes.sort();
    codes
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the workspace can be read") {
            let path = entry.expect("the workspace can be read").path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
