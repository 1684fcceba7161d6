//! Every code of a diagnostic has a page that explains it and a specification that raises it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hence::pages::PAGES;
use hence_model::source::{Files, ReadError};
use hence_model::unit::Unit;
use hence_smartfrog::{Compiled, Options, Semantics, compile};

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
        .collect();
    assert!(
        never.is_empty(),
        "no file of the specification raises {never:?}"
    );
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

#[test]
fn the_examples_of_the_language_compile() {
    let page = fs::read_to_string(workspace().join("docs/smartfrog.md")).unwrap();
    for example in examples(&page) {
        let raised = raised_by(&example);
        assert!(raised.is_empty(), "{raised:?} in {}", example.text);
    }
}

struct Example {
    semantics: Semantics,
    text: String,
}

/// The blocks of a page that are SmartFrog: ```` ```sf ````, and the semantics if it is not the core.
fn examples(page: &str) -> Vec<Example> {
    let blocks = page.split("```").skip(1).step_by(2);
    let smartfrog = blocks.filter_map(|block| block.strip_prefix("sf"));
    smartfrog
        .map(|block| {
            let (semantics, text) = block.split_once('\n').expect("a block has lines");
            let semantics = match semantics.trim() {
                "" => Semantics::Core,
                "forward" => Semantics::Forward,
                "production" => Semantics::Production,
                other => panic!("no such semantics: {other}"),
            };
            let text = text.to_owned();
            Example { semantics, text }
        })
        .collect()
}

/// The codes of what is wrong with an example.
fn raised_by(example: &Example) -> Vec<&'static str> {
    let mut unit = Unit::default();
    let file = unit.sources.add("example.sf", &example.text).unwrap();
    let options = Options {
        semantics: example.semantics,
        ..Options::default()
    };
    let compiled: Compiled = compile(unit, &NoFiles, file, &options);
    let diagnostics = compiled.unit.diagnostics.iter();
    diagnostics.map(|diagnostic| diagnostic.code.name).collect()
}

struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str, _: &mut String) -> Result<(), ReadError> {
        Err(ReadError::Missing)
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
