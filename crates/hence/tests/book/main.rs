//! The book: every command and every block of its pages is run, and what is shown is what comes of it.
//!
//! `docs/SUMMARY.md` lists the pages; the README is one more. A page is run from its top to its end, in a folder of its own
//! with the examples. With `SPEC_UPDATE=1` answers that differ are written into the page: then read it, and commit it.

mod page;
mod reference;
mod shell;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use page::{Block, agrees, blocks, undefined};
use shell::{Done, Shell, workspace};

#[test]
fn every_command_and_every_block_does_what_the_page_says() {
    let pages = pages();
    let next = AtomicUsize::new(0);
    let troubles = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    troubles.lock().unwrap().extend(run(page));
                }
            });
        }
    });
    let mut troubles = troubles.into_inner().unwrap();
    troubles.sort();
    assert!(
        troubles.is_empty(),
        "\n{}\nIf answers are as they should be: SPEC_UPDATE=1 cargo test -p hence --test book\n",
        troubles.join("\n")
    );
}

#[test]
fn the_summary_lists_every_page_and_links_lead_somewhere() {
    let docs = workspace().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    let mut files = BTreeSet::new();
    for folder in ["", "tutorials", "decisions", "diagnostics"] {
        for entry in fs::read_dir(docs.join(folder)).expect("the book is there") {
            let name = entry.expect("the book can be read").file_name();
            let name = name.into_string().expect("names are text");
            if name.ends_with(".md") && name != "SUMMARY.md" {
                files.insert(Path::new(folder).join(name).display().to_string());
            }
        }
    }
    assert_eq!(files, listed, "docs/ and docs/SUMMARY.md");
    let mut broken = Vec::new();
    for name in &files {
        let text = fs::read_to_string(docs.join(name)).unwrap();
        let folder = docs
            .join(name)
            .parent()
            .expect("a page is in docs")
            .to_owned();
        for link in links(&text) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file.is_empty() {
                true => docs.join(name),
                false => folder.join(file),
            };
            let inside = target
                .canonicalize()
                .is_ok_and(|target| target.starts_with(docs.canonicalize().unwrap()));
            let anchored = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                anchors(&text).iter().any(|known| known == anchor)
            };
            if !inside || !anchor.is_empty() && !anchored() {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_reference_of_the_api_is_what_a_server_says_of_itself() {
    let document = workspace().join("crates/server/src/routes/openapi.json");
    let document = fs::read_to_string(document).expect("the server has a document");
    let page = reference::page(&serde_json::from_str(&document).expect("it is JSON"));
    let path = workspace().join("docs/api-reference.md");
    if std::env::var_os("SPEC_UPDATE").is_some() {
        fs::write(&path, &page).expect("the book can be written");
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "SPEC_UPDATE=1 writes docs/api-reference.md anew"
    );
}

/// The pages that have something to run: those of the book, and the README.
fn pages() -> Vec<PathBuf> {
    let docs = workspace().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("there is a book");
    let asked = std::env::var("HENCE_PAGES").unwrap_or_default();
    let mut pages = vec![workspace().join("README.md")];
    pages.extend(links(&summary).iter().map(|name| docs.join(name)));
    pages.retain(|page| page.display().to_string().contains(&asked));
    pages
}

/// Runs a page; what is not as it is shown.
fn run(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("the summary lists pages");
    let root = workspace().canonicalize().expect("the project is there");
    let name = path.canonicalize().expect("the page is there");
    let name = name.strip_prefix(root).expect("pages are in the project");
    let name = name.display().to_string();
    let found = match blocks(&text) {
        Ok(found) => found,
        Err(trouble) => return vec![format!("{name}: {trouble}")],
    };
    let is_diagnostic = name.contains("diagnostics/");
    let mut shell = Shell::new(&name.replace(['/', '.'], "-"));
    let (mut wanted, mut troubles) = (Vec::new(), Vec::new());
    let grammar = found.iter().filter(|block| block.language() == "ebnf");
    let grammar: String = grammar.map(|block| block.text.as_str()).collect();
    let names = undefined(&grammar);
    if !names.is_empty() {
        troubles.push(format!("{name}: nothing in its grammar defines {names:?}"));
    }
    for block in &found {
        let is_named = |name: &str| text[..block.place.start].contains(&format!("`{name}`"));
        if block.file().is_some_and(|name| !is_named(name)) {
            let line = block.line;
            troubles.push(format!(
                "{name}:{line}: a reader does not see which file this is"
            ));
        }
        match wants(block, is_diagnostic, &mut shell) {
            Ok(all) => wanted.extend(all.into_iter().map(|(number, want)| (block, number, want))),
            Err(trouble) => troubles.push(format!("{name}:{}: {trouble}", block.line)),
        }
    }
    if wanted.is_empty() {
        return troubles;
    }
    let done = shell.run();
    if done.len() < wanted.len() {
        let (block, ..) = wanted[done.len() - 1];
        let said = &done[done.len() - 1].said;
        troubles.push(format!("{name}:{}: ends the page\n{said}", block.line));
        return troubles;
    }
    let mut page = text.clone();
    for block in found.iter().rev() {
        let mut answers = String::new();
        let mut differs = false;
        for (_, number, want) in wanted.iter().filter(|(of, ..)| std::ptr::eq(*of, block)) {
            let Done { said, code } = &done[*number];
            match want {
                Want::Success if *code != 0 => {
                    troubles.push(format!("{name}:{}: ended with {code}\n{said}", block.line));
                }
                Want::Success => {}
                Want::Answer(command, shown) => {
                    let same = agrees(shown, said);
                    differs |= !same;
                    let told = if same { shown } else { said };
                    let told = told.trim_end();
                    let line = if told.is_empty() { "" } else { "\n" };
                    answers.push_str(&format!("$ {command}\n{told}{line}\n"));
                }
            }
        }
        if differs {
            let new = format!("{}\n", answers.trim_end());
            if std::env::var_os("SPEC_UPDATE").is_some() {
                page.replace_range(block.place.clone(), &new);
            } else {
                let diff = similar::TextDiff::from_lines(&block.text, &new);
                let diff = diff.unified_diff().to_string();
                troubles.push(format!("{name}:{}:\n{diff}", block.line));
            }
        }
    }
    if page != text {
        fs::write(path, page).expect("the book can be written");
    }
    troubles
}

/// What a command must come to.
enum Want {
    /// It succeeds.
    Success,
    /// The command, and what it answers.
    Answer(String, String),
}

/// Has done what a block asks for: the numbers of its commands, and what they must come to.
fn wants(
    block: &Block,
    is_diagnostic: bool,
    shell: &mut Shell,
) -> Result<Vec<(usize, Want)>, String> {
    let mut succeeds = |command: &str| Ok(vec![(shell.command(command), Want::Success)]);
    let file = |name: &str| {
        let folder = Path::new(name)
            .parent()
            .map(|folder| folder.display().to_string());
        let folder = folder
            .filter(|folder| !folder.is_empty())
            .unwrap_or(".".into());
        let text = block.text.replace('\'', r"'\''");
        format!("mkdir -p {folder}\nprintf %s '{text}' > {name}")
    };
    if let Some(name) = block.file() {
        return succeeds(&file(name));
    }
    match block.language() {
        "console" => Ok(block
            .exchanges()
            .into_iter()
            .map(|exchange| {
                let number = shell.command(&exchange.command);
                (number, Want::Answer(exchange.command, exchange.answer))
            })
            .collect()),
        "sh" if block.words.len() > 1 => match block.words[1].as_str() {
            "system" => Ok(Vec::new()),
            other => Err(format!("nobody runs `sh {other}`")),
        },
        "sh" => succeeds(&format!("set -e\n{}\nset +e", block.text)),
        // The mistakes on these pages are looked at where the codes are.
        "sf" | "cf2" | "pp" if is_diagnostic => Ok(Vec::new()),
        "sf" | "cf2" | "pp" => {
            let name = format!("example-{}.{}", block.line, block.language());
            let options = match block.words.get(1).map(String::as_str) {
                Some(semantics @ ("forward" | "production")) => format!("--semantics {semantics}"),
                _ => block.words[1..].join(" "),
            };
            succeeds(&format!("{}\nhence check {options} {name}", file(&name)))
        }
        "python" => {
            let name = format!("example-{}.py", block.line);
            succeeds(&format!("{}\npython3 {name}", file(&name)))
        }
        "json" => serde_json::from_str::<serde_json::Value>(&block.text)
            .map(|_| Vec::new())
            .map_err(|error| error.to_string()),
        // These have tests of their own, which read them here.
        "rhai" if !is_diagnostic => Ok(Vec::new()),
        "ebnf" | "text" => Ok(Vec::new()),
        other => Err(format!("nobody runs `{other}`")),
    }
}

/// Where the links of a page lead.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut fenced = false;
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if !fenced {
            let parts = line.split("](").skip(1);
            let parts = parts.filter_map(|part| part.split_once(')'));
            links.extend(parts.map(|(link, _)| link.to_owned()));
        }
    }
    links
}

/// The anchors of a page, as mdBook and others make them of headlines.
fn anchors(page: &str) -> Vec<String> {
    let heads = page.lines().filter(|line| line.starts_with('#'));
    let anchor = |head: &str| {
        let words = head.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        });
        kept.collect::<String>()
    };
    heads.map(anchor).collect()
}
