//! Questions about changes, in real repositories made with the real git.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use hence::{Exit, World};
use hence_model::random::Random;
use serde_json::Value;

/// A repository in a directory of its own, which goes with it.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let directory = directory.join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).expect("the target directory can be written");
        let repository = Self(directory);
        repository.git("ops", &["init", "--quiet"]);
        repository
    }

    fn git(&self, who: &str, arguments: &[&str]) -> String {
        let mail = format!("{who}@example.org");
        let output = Command::new("git")
            .current_dir(&self.0)
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", who)
            .env("GIT_AUTHOR_EMAIL", &mail)
            .env("GIT_COMMITTER_NAME", who)
            .env("GIT_COMMITTER_EMAIL", &mail)
            .env("GIT_AUTHOR_DATE", "2026-01-31T12:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-31T12:00:00Z")
            .output()
            .expect("git can be run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("git prints text")
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }

    /// Commits everything, as somebody, and answers with the hash.
    fn commit(&self, who: &str, subject: &str) -> String {
        self.git(who, &["add", "--all"]);
        self.git(who, &["commit", "--quiet", "--message", subject]);
        self.git(who, &["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Runs a command: how it ended, its data, and its words.
    fn hence(&self, words: &[&str]) -> (Exit, String, String) {
        let (data, said) = (Rc::default(), Rc::default());
        let mut world = World {
            directory: self.0.clone(),
            stdout: Box::new(Writer(Rc::clone(&data))),
            stderr: Box::new(Writer(Rc::clone(&said))),
            attended: false,
            typed: false,
            colour: false,
            variable: |_| None,
            stdin: Box::new(std::io::empty()),
            now: || 1_769_860_800_000,
        };
        let words = std::iter::once(&"hence").chain(words).map(OsString::from);
        let exit = hence::run(words, &mut world);
        drop(world);
        let text = |bytes: Rc<RefCell<Vec<u8>>>| String::from_utf8(bytes.take()).expect("text");
        (exit, text(data), text(said))
    }

    fn json(&self, words: &[&str]) -> Value {
        let (_, data, said) = self.hence(words);
        serde_json::from_str(&data).unwrap_or_else(|_| panic!("{words:?}: {data}\n{said}"))
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Writer(Rc<RefCell<Vec<u8>>>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A default that an override hides: the two texts of it, and the one without the override.
struct Opening {
    file: &'static str,
    path: &'static str,
    texts: [&'static str; 3],
}

const OPENINGS: [Opening; 3] = [
    Opening {
        file: "site.pp",
        path: "File[/etc/motd].mode",
        texts: [
            "class base {\n  file { '/etc/motd': mode => '0644' }\n}\nclass strict inherits base {\n  File['/etc/motd'] { mode => '0600' }\n}\ninclude strict\n",
            "class base {\n  file { '/etc/motd': mode => '0640' }\n}\nclass strict inherits base {\n  File['/etc/motd'] { mode => '0600' }\n}\ninclude strict\n",
            "class base {\n  file { '/etc/motd': mode => '0640' }\n}\nclass strict inherits base {\n}\ninclude strict\n",
        ],
    },
    Opening {
        file: "site.sf",
        path: "motd:mode",
        texts: [
            "Base extends {\n  mode \"0644\";\n}\nsfConfig extends {\n  motd extends Base, {\n    mode \"0600\";\n  }\n}\n",
            "Base extends {\n  mode \"0640\";\n}\nsfConfig extends {\n  motd extends Base, {\n    mode \"0600\";\n  }\n}\n",
            "Base extends {\n  mode \"0640\";\n}\nsfConfig extends {\n  motd extends Base, {\n  }\n}\n",
        ],
    },
    Opening {
        file: "site.cf2",
        path: "motd.mode",
        texts: [
            "Base => {\n  mode => '0644'\n}\nmotd => {\n  mode => if ($strict) then '0600' else $Base.mode\n}\nstrict => true\n",
            "Base => {\n  mode => '0640'\n}\nmotd => {\n  mode => if ($strict) then '0600' else $Base.mode\n}\nstrict => true\n",
            "Base => {\n  mode => '0640'\n}\nmotd => {\n  mode => $Base.mode\n}\nstrict => true\n",
        ],
    },
];

/// The opening problem of the thesis: a default is changed while an override hides it, and nobody sees anything.
/// Later the override is removed. Both are named, each with its commit.
#[test]
fn a_change_that_was_hidden_is_named_when_it_shows() {
    for opening in &OPENINGS {
        let repository = Repository::new("opening");
        let [first, second, third] = opening.texts;
        repository.write(opening.file, first);
        repository.commit("ops", "Begin");
        repository.write(opening.file, second);
        let changed = repository.commit("dev", "Let the group read it");
        repository.write(opening.file, third);
        let removed = repository.commit("ops", "Drop the override");

        let between = |old: &str, new: &str| {
            let old = format!("{old}:{}", opening.file);
            let new = format!("{new}:{}", opening.file);
            repository.json(&["diff", &old, &new, "--why", "--format", "json"])
        };
        let hidden = between("HEAD~2", "HEAD~1");
        let changes = hidden["changes"].as_array().expect("there is a list");
        let about = |change: &&Value| change["path"] == opening.path;
        assert!(!changes.iter().any(|change| about(&change)), "{hidden}");

        let shown = between("HEAD~2", "HEAD");
        let changes = shown["changes"].as_array().expect("there is a list");
        let change = changes.iter().find(about).expect("it changed");
        assert_eq!(
            (&change["old"], &change["new"]),
            (&"0600".into(), &"0640".into())
        );
        let causes = change["causes"].as_array().expect("there is a list").iter();
        let commits: Vec<&str> = causes
            .map(|cause| &shown["edits"][cause.as_u64().expect("a number") as usize])
            .filter_map(|edit| edit["commit"]["hash"].as_str())
            .collect();
        assert!(
            commits.contains(&changed.as_str()),
            "{}: {shown}",
            opening.file
        );
        assert!(
            commits.contains(&removed.as_str()),
            "{}: {shown}",
            opening.file
        );
    }
}

#[test]
fn blame_tells_who_wrote_what_counts() {
    let repository = Repository::new("blame");
    repository.write("site.pp", OPENINGS[0].texts[0]);
    repository.commit("ops", "Begin");
    repository.write("site.pp", OPENINGS[0].texts[1]);
    repository.commit("dev", "Let the group read it");
    let (exit, data, _) = repository.hence(&["blame", "site.pp", "File[/etc/motd]"]);
    assert_eq!(exit, Exit::Done);
    assert!(data.contains("site.pp:5:31"), "{data}");
    assert!(
        data.contains("2026-01-31  ops │ File[/etc/motd].mode = \"0600\"   beats 1"),
        "{data}"
    );
    // What is not committed is by nobody.
    repository.write("site.pp", OPENINGS[0].texts[2]);
    let rows = repository.json(&["blame", "site.pp", "--format", "json"]);
    let rows = rows.as_array().expect("there is a list");
    let mode = rows
        .iter()
        .find(|row| row["path"] == "File[/etc/motd].mode");
    assert_eq!(mode.expect("it is there")["commit"]["author"], "dev");
}

#[test]
fn what_is_included_is_read_from_the_revision_too() {
    let repository = Repository::new("included");
    repository.write(
        "site.sf",
        "#include \"parts/base.sf\"\nsfConfig extends { a PORT; }\n",
    );
    repository.write("parts/base.sf", "PORT 80;\n");
    repository.commit("ops", "Begin");
    repository.write("parts/base.sf", "PORT 81;\n// a note\n");
    let words = ["diff", "HEAD:site.sf", "site.sf", "--why"];
    let (exit, data, _) = repository.hence(&words);
    assert_eq!(exit, Exit::Input);
    let expected = "~ a   80 → 81\n    caused by parts/base.sf:1   80 → 81   in: PORT 81;\n\n\
                    edits that caused nothing:\n    parts/base.sf:2   added: // a note\n\n\
                    1 value differs; 2 edits, 1 without effect\n";
    assert_eq!(data, expected);
    // A file that is gone is missing, even if the revision has it.
    fs::remove_file(repository.0.join("parts/base.sf")).expect("it is there");
    let (exit, _, said) = repository.hence(&words);
    assert_eq!(exit, Exit::Input);
    assert!(said.contains("sf.include-unreadable"), "{said}");
    repository.commit("ops", "Without it");
    let (exit, _, said) = repository.hence(&["diff", "HEAD:site.sf", "HEAD~1:site.sf"]);
    assert_eq!(exit, Exit::Input);
    assert!(said.contains("sf.include-unreadable"), "{said}");
}

#[test]
fn folders_are_compared_file_by_file() {
    let repository = Repository::new("folders");
    repository.write("site/a.sf", "sfConfig extends { x 1; }\n");
    repository.write("site/gone.sf", "sfConfig extends { y 1; }\n");
    repository.commit("ops", "Begin");
    repository.write("site/a.sf", "sfConfig extends { x 2; }\n");
    repository.write("site/sub/new.cf2", "z => 1\n");
    fs::remove_file(repository.0.join("site/gone.sf")).expect("it is there");
    let (exit, data, _) = repository.hence(&["diff", "HEAD:site", "site"]);
    assert_eq!(exit, Exit::Input);
    let expected = "~ x   1 → 2\n    in a.sf\n- sfConfig   {\"y\":1}\n    in gone.sf\n\
                    + the configuration   {\"z\":1}\n    in sub/new.cf2\n\n3 values differ\n";
    assert_eq!(data, expected);
}

#[test]
fn many_nodes_share_what_changes_for_them() {
    let repository = Repository::new("nodes");
    let site = |mode: &str| {
        format!(
            "node 'a', 'b', 'c' {{ include base }}\n\
             class base {{ file {{ '/etc/motd': mode => $facts['mode'] ? {{ undef => '{mode}', default => $facts['mode'] }} }} }}\n"
        )
    };
    repository.write("site.pp", &site("0644"));
    repository.write("facts/c.json", "{\"mode\": \"0600\"}");
    repository.commit("ops", "Begin");
    repository.write("site.pp", &site("0640"));
    let nodes = ["--nodes", "all", "--facts-dir", "facts"];
    let words = [&["diff", "HEAD:site.pp", "site.pp", "--why"][..], &nodes].concat();
    let (exit, data, said) = repository.hence(&words);
    assert_eq!(exit, Exit::Input, "{said}");
    assert!(
        data.starts_with("~ File[/etc/motd].mode   \"0644\" → \"0640\"\n    in a, b\n"),
        "{data}"
    );
    assert!(data.ends_with("1 value differs; 1 edit\n"), "{data}");
}

#[test]
fn what_git_does_not_know_is_told() {
    let repository = Repository::new("unknown");
    repository.write("site.sf", "sfConfig extends { x 1; }\n");
    repository.commit("ops", "Begin");
    let (exit, _, said) = repository.hence(&["diff", "v9:site.sf", "site.sf"]);
    assert_eq!(exit, Exit::Input);
    assert!(
        said.contains("error[git.no-answer]: there is no revision `v9`"),
        "{said}"
    );
    let (exit, data, _) = repository.hence(&["diff", "HEAD:site.sf", "site.sf", "--why"]);
    assert_eq!(
        (exit, data.as_str()),
        (Exit::Done, "nothing differs; no edits\n")
    );
}

/// Random programs in all languages, edited in two lines: whatever one of the edits changes by itself names it.
/// `HENCE_CASES` says how many.
#[test]
fn whoever_changes_a_value_is_named() {
    let test = std::thread::Builder::new()
        .stack_size(hence::STACK)
        .spawn(|| {
            let cases = std::env::var("HENCE_CASES").ok();
            let cases = cases.and_then(|cases| cases.parse().ok()).unwrap_or(100);
            let mut tally = Tally::default();
            let directory = Repository::new("edited");
            for seed in 0..cases {
                let site = hence_puppet::generate::site(seed, 6);
                directory.write("facts.json", &site.facts);
                for (name, text) in &site.data {
                    directory.write(name, text);
                }
                let mut words = vec!["--node", "web1.example.org", "--facts", "facts.json"];
                if !site.data.is_empty() {
                    words.extend(["--hiera", "hiera.yaml"]);
                }
                let files = vec![("site.pp".to_owned(), site.manifest)];
                edited_twice(&directory, seed, files, &words, &mut tally);
                let program = hence_cf2::generate::program(seed, 12).texts().0;
                edited_twice(&directory, seed, program, &[], &mut tally);
                let kind = hence_smartfrog::generate::Kind::Core;
                let specification = hence_smartfrog::generate::specification(kind, seed, 20);
                edited_twice(&directory, seed, specification.files, &[], &mut tally);
            }
            println!("{tally:?}");
            assert!(tally.named > cases as usize, "{tally:?}");
        });
    let ended = test.expect("a thread can be started").join();
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    without_result: usize,
    /// Changes that name an edit that makes them by itself.
    named: usize,
    /// Edits that are named, and by themselves change something else only.
    needless: usize,
}

/// Edits two lines of a program, one by one and together.
fn edited_twice(
    directory: &Repository,
    seed: u64,
    files: Vec<(String, String)>,
    words: &[&str],
    tally: &mut Tally,
) {
    let mut random = Random::new(seed);
    let mut edit = || {
        let file = random.below(files.len().min(2));
        let (line, text) = edited(&files[file].1, &mut random)?;
        Some((file, line, text))
    };
    let (Some(one), Some(other)) = (edit(), edit()) else {
        return;
    };
    if (one.0, one.1) == (other.0, other.1) {
        return;
    }
    let write = |name: &str, edits: &[&(usize, usize, String)]| {
        for (number, (file, text)) in files.iter().enumerate() {
            let mut lines: Vec<&str> = text.split('\n').collect();
            for (_, line, text) in edits.iter().filter(|edit| edit.0 == number) {
                lines[*line] = text;
            }
            directory.write(&format!("{name}/{file}"), &lines.join("\n"));
        }
    };
    write("old", &[]);
    write("one", &[&one]);
    write("other", &[&other]);
    write("both", &[&one, &other]);
    let entry = &files[0].0;
    let compare = |new: &str| -> Option<Value> {
        let (old, new) = (format!("old/{entry}"), format!("{new}/{entry}"));
        let checked = [&["check", &old, &new][..], words].concat();
        if directory.hence(&checked).0 != Exit::Done {
            return None;
        }
        let mut all = vec!["diff", &old, &new, "--why", "--format", "json"];
        all.extend(words);
        Some(directory.json(&all))
    };
    tally.programs += 1;
    let (Some(first), Some(second), Some(both)) =
        (compare("one"), compare("other"), compare("both"))
    else {
        tally.without_result += 1;
        return;
    };
    let paths = |answer: &Value| -> Vec<(Value, Value)> {
        let changes = answer["changes"]
            .as_array()
            .expect("there is a list")
            .iter();
        changes
            .map(|change| (change["path"].clone(), change["new"].clone()))
            .collect()
    };
    let (by_one, by_other) = (paths(&first), paths(&second));
    let number = |edit: &(usize, usize, String)| {
        let edits = both["edits"].as_array().expect("there is a list").iter();
        let is_this = |told: &Value| told["new"]["line"] == edit.1 + 1;
        let names: Vec<usize> = edits
            .enumerate()
            .filter(|(_, told)| is_this(told) && told["file"] == files[edit.0].0.as_str())
            .map(|(number, _)| number)
            .collect();
        names.first().copied()
    };
    let (Some(one), Some(other)) = (number(&one), number(&other)) else {
        return;
    };
    for change in both["changes"].as_array().expect("there is a list") {
        let key = (change["path"].clone(), change["new"].clone());
        let causes = change["causes"].as_array().expect("there is a list");
        let has = |number: usize| causes.iter().any(|cause| cause == number);
        for (edit, by, not_by) in [(one, &by_one, &by_other), (other, &by_other, &by_one)] {
            if by.contains(&key) && !not_by.iter().any(|(path, _)| *path == key.0) {
                assert!(has(edit), "seed {seed}: {} names not {edit}\n{both}", key.0);
                tally.named += 1;
            } else if has(edit) && !by.iter().any(|(path, _)| *path == key.0) {
                tally.needless += 1;
            }
        }
    }
}

/// A line of a text with another word or number in it.
fn edited(text: &str, random: &mut Random) -> Option<(usize, String)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let words = regex::Regex::new(r#"\b\d+\b|(?:'|")[a-z]+(?:'|")|\btrue\b|\bfalse\b"#);
    let words = words.expect("it is a pattern");
    let candidates: Vec<usize> = (0..lines.len())
        .filter(|&line| words.is_match(lines[line]) && !lines[line].contains("include"))
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let line = candidates[random.below(candidates.len())];
    let found: Vec<regex::Match<'_>> = words.find_iter(lines[line]).collect();
    let word = &found[random.below(found.len())];
    let other = match word.as_str() {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        quoted if !quoted.starts_with(|char: char| char.is_ascii_digit()) => {
            let quote = &quoted[..1];
            format!("{quote}edited{quote}")
        }
        number => format!("{number}7"),
    };
    let mut changed = lines[line].to_owned();
    changed.replace_range(word.range(), &other);
    Some((line, changed))
}
