//! The table in `ARCHITECTURE.md` says what uses what; so do the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_table_of_crates_agrees_with_the_manifests() {
    assert_eq!(table(), manifests());
}

/// Rows such as `` | `smartfrog` | text → value | `model` | ``.
fn table() -> Uses {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        let mut names = names(cells[0]);
        let uses = names_of(cells.last().expect("a row has cells"));
        (names.pop().expect("a row names its crate"), uses)
    })
    .collect()
}

fn names_of(cell: &str) -> BTreeSet<String> {
    names(cell).into_iter().collect()
}

fn names(cell: &str) -> Vec<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The crates of ours that each crate of ours depends on, other than for tests.
fn manifests() -> Uses {
    let crates = fs::read_dir(workspace().join("crates")).unwrap();
    crates
        .map(|entry| {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
            let dependencies = dependencies.split("\n[").next().unwrap_or_default();
            let ours = dependencies
                .lines()
                .filter_map(|line| line.strip_prefix("hence-"));
            let ours = ours.map(|line| {
                line.split(['.', ' ', '='])
                    .next()
                    .unwrap_or(line)
                    .to_owned()
            });
            (name, ours.collect())
        })
        .collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
