//! Policies: held against random programs, against the history of a real repository, and made to hurt.
//!
//! For random programs, `… not from file X` is against exactly those values whose dependences touch X; and a value
//! that it lets pass stays what it is, whichever literal in X is replaced. `HENCE_CASES` says how many programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hence::configuration::{Catalog, Configuration};
use hence::difference::{leaves, written};
use hence::policy::Policy;
use hence::policy::judge::{Compilation, Judge};
use hence_cf2::generate::{Random, program};
use hence_model::path;
use hence_model::source::{Files, ReadError};
use hence_puppet::{Layout, Node, Site};
use regex::Regex;

/// Files that are in no folder.
#[derive(Clone)]
struct Memory(Vec<(String, String)>);

impl Files for Memory {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let tidy = name.trim_start_matches("./");
        let found = self.0.iter().find(|(known, _)| known == tidy);
        text.push_str(&found.ok_or(ReadError::Missing)?.1);
        Ok(())
    }
}

impl hence_cf2::World for Memory {
    fn list(&self, directory: &str) -> Option<Vec<String>> {
        Some(hence_puppet::World::list(self, directory))
    }
}

impl hence_puppet::World for Memory {
    fn list(&self, directory: &str) -> Vec<String> {
        let inside = |(name, _): &(String, String)| {
            let rest = match directory.trim_start_matches("./").trim_end_matches('/') {
                "" | "." => name.as_str(),
                directory => name.strip_prefix(directory)?.strip_prefix('/')?,
            };
            Some(match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => rest.to_owned(),
            })
        };
        let names: BTreeSet<String> = self.0.iter().filter_map(inside).collect();
        names.into_iter().collect()
    }
}

/// The values of a configuration by path, as text.
type Leaves = Vec<(path::Path, String)>;

fn leaves_of(compiled: &Configuration<'_>) -> Leaves {
    let outputs = compiled.outputs();
    let leaves = leaves(&outputs).into_iter();
    leaves.map(|(path, value)| (path, written(value))).collect()
}

/// The values whose dependences touch a file, by number.
fn touching(compiled: &mut Configuration<'_>, leaves: &Leaves, file: &str) -> BTreeSet<usize> {
    let mut touching = BTreeSet::new();
    for (number, (path, _)) in leaves.iter().enumerate() {
        let explanation = compiled
            .explain(path)
            .expect("every value can be explained");
        let sources = &compiled.unit().sources;
        let mut spans = explanation.depends.iter().map(|one| one.span);
        let is_in = |offset| sources.name(sources.file_at(offset)) == file;
        let place = explanation.place;
        if spans.any(|span| is_in(span.start)) || place.is_some_and(|place| is_in(place.start)) {
            touching.insert(number);
        }
    }
    touching
}

/// The values that a policy with a rule for each is against, by number. A rule for all of them is against as many.
fn violating(compiled: &mut Configuration<'_>, leaves: &Leaves, file: &str) -> BTreeSet<usize> {
    let quoted = |path: &path::Path| {
        let text = path.joined('.').replace('\\', "\\\\").replace('*', "\\*");
        match text.contains('"') {
            true => format!("'{text}'"),
            false => format!("\"{text}\""),
        }
    };
    let rules = leaves
        .iter()
        .map(|(path, _)| format!("{} not from file \"{file}\"\n", quoted(path)));
    let policies = [read(&rules.collect::<String>())];
    let mut judge = Judge::new(&policies, PathBuf::new());
    let compilation = Compilation {
        entry: "main",
        node: None,
    };
    judge.look_at(compiled, &compilation, &mut |_, _| {});
    let (sources, violations) = judge.told(&compiled.unit().sources);
    let line = |label: &hence_model::diagnostic::Label| sources.line_number(label.span.start);
    let found = violations.iter().map(|violation| {
        assert_eq!(violation.code.name, "policy.violation");
        let rule = violation.labels.last().expect("the rule is shown");
        line(rule) as usize - 1
    });
    let found: BTreeSet<usize> = found.collect();

    let policies = [read(&format!("** not from file \"{file}\""))];
    let mut judge = Judge::new(&policies, PathBuf::new());
    judge.look_at(compiled, &compilation, &mut |_, _| {});
    let (_, violations) = judge.told(&compiled.unit().sources);
    let more = Regex::new("` and ([0-9]+) more may not").unwrap();
    let count = violations.iter().map(|violation| {
        let more = more.captures(&violation.message);
        1 + more.map_or(0, |more| more[1].parse::<usize>().unwrap())
    });
    // Blocks that depend on it, though nothing in them does, are told too.
    assert!(count.sum::<usize>() >= found.len());
    found
}

fn read(text: &str) -> Policy {
    let files = Memory(vec![("test.policy".to_owned(), text.to_owned())]);
    let policy = Policy::read(&files, "test.policy", Default::default());
    assert!(policy.unit.diagnostics.is_empty(), "{text}");
    policy
}

/// A text with each of its literals replaced, one at a time.
fn mutations(text: &str) -> Vec<String> {
    let literal =
        Regex::new(r#"\b[0-9]+\b|\btrue\b|\bfalse\b|'[a-z ]*'|"[a-z ]*"|=> [a-z]+\b|: [a-z]+\b"#);
    let mut mutations = Vec::new();
    for found in literal.unwrap().find_iter(text) {
        let other = match found.as_str() {
            "true" => "false".to_owned(),
            "false" => "true".to_owned(),
            number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{}", number.parse::<u64>().unwrap_or(0) + 1)
            }
            word if word.ends_with(['\'', '"']) => {
                let (inner, quote) = word.split_at(word.len() - 1);
                format!("{inner}x{quote}")
            }
            word => format!("{word}x"),
        };
        mutations.push([&text[..found.start()], &other, &text[found.end()..]].concat());
    }
    mutations
}

/// How many cases to try: so many, or as `HENCE_CASES` says, of which they are a share.
fn cases(usual: u64) -> u64 {
    let number = std::env::var("HENCE_CASES").ok();
    let number = number.and_then(|number| number.parse::<u64>().ok());
    number.map_or(usual, |number| number * usual / 10_000)
}

#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    against: usize,
    clean: usize,
    mutations: usize,
}

fn cf2(files: &Memory) -> Configuration<'_> {
    let main = &files.0[0].0;
    let options = hence_cf2::Options {
        topdir: "/srv/top".into(),
        ..Default::default()
    };
    Configuration::Cf2(Box::new(hence_cf2::compile_file(files, main, &options)))
}

#[test]
fn what_a_policy_lets_pass_in_cf2_does_not_depend_on_the_file() {
    let mut tally = Tally::default();
    for seed in 0..cases(60) {
        let texts = program(seed, 1 + Random::new(seed).below(10)).texts();
        let mut files = Memory(texts.0.clone());
        let main = texts.main().to_owned();
        files.0.sort_by_key(|(name, _)| *name != main);
        let mut compiled = cf2(&files);
        if !compiled.is_good() {
            continue;
        }
        tally.programs += 1;
        let before = leaves_of(&compiled);
        for (number, (name, text)) in files.0.iter().enumerate().skip(1) {
            let touching = touching(&mut compiled, &before, name);
            let violating = violating(&mut compiled, &before, name);
            assert_eq!(touching, violating, "seed {seed}, {name}");
            tally.against += violating.len();
            tally.clean += before.len() - violating.len();
            for mutated in mutations(text) {
                let mut files = files.clone();
                files.0[number].1 = mutated.clone();
                let compiled = cf2(&files);
                if !compiled.is_good() {
                    continue;
                }
                tally.mutations += 1;
                let after = leaves_of(&compiled);
                for (number, leaf) in before.iter().enumerate() {
                    let is_same = after.contains(leaf);
                    assert!(
                        is_same || violating.contains(&number),
                        "seed {seed}: {} in {name} as\n{mutated}",
                        leaf.0
                    );
                }
            }
        }
    }
    println!("{tally:?}");
    assert!(
        tally.against > 0 && tally.clean > 0 && tally.mutations > 0,
        "{tally:?}"
    );
}

fn puppet<T>(files: &Memory, then: impl FnOnce(&mut Configuration<'_>) -> T) -> Option<T> {
    let layout = Layout {
        manifest: "site.pp".into(),
        modulepath: Vec::new(),
        environment: None,
        hiera: files
            .0
            .iter()
            .any(|(name, _)| name == "hiera.yaml")
            .then(|| "hiera.yaml".into()),
    };
    let site = Site::new(files, layout, Default::default());
    let facts = hence_puppet::facts::read(&site, files, "facts.json").ok()?;
    let node = Node::new("web1.example.org", facts);
    let options = Default::default();
    let compiled = hence_puppet::compile(&site, &node, &options);
    if !compiled.is_good() {
        return None;
    }
    let unit = Some(site.unit());
    let catalog = Catalog {
        compiled,
        site: &site,
        unit,
    };
    Some(then(&mut Configuration::Puppet(Box::new(catalog))))
}

#[test]
fn what_a_policy_lets_pass_in_puppet_does_not_depend_on_the_file() {
    let mut tally = Tally::default();
    for seed in 0..cases(40) {
        let made = hence_puppet::generate::site(seed, 1 + Random::new(seed).below(8));
        let mut files = Memory(vec![
            ("site.pp".into(), made.manifest.clone()),
            ("facts.json".into(), made.facts.clone()),
        ]);
        files.0.extend(made.data.clone());
        let names = files.0.iter().map(|(name, _)| name.clone()).skip(1);
        let names: Vec<String> = names.filter(|name| name != "hiera.yaml").collect();
        for name in names {
            let judged = puppet(&files, |compiled| {
                let before = leaves_of(compiled);
                let touching = touching(compiled, &before, &name);
                let violating = violating(compiled, &before, &name);
                assert_eq!(touching, violating, "seed {seed}, {name}");
                (before, violating)
            });
            let Some((before, violating)) = judged else {
                continue;
            };
            tally.programs += 1;
            tally.against += violating.len();
            tally.clean += before.len() - violating.len();
            let number = files.0.iter().position(|(known, _)| *known == name);
            let number = number.expect("it is one of them");
            for mutated in mutations(&files.0[number].1) {
                let mut files = files.clone();
                files.0[number].1 = mutated.clone();
                let Some(after) = puppet(&files, |compiled| leaves_of(compiled)) else {
                    continue;
                };
                tally.mutations += 1;
                for (number, leaf) in before.iter().enumerate() {
                    assert!(
                        after.contains(leaf) || violating.contains(&number),
                        "seed {seed}: {} in {name} as\n{mutated}\n{}",
                        leaf.0,
                        made.manifest
                    );
                }
            }
        }
    }
    println!("{tally:?}");
    assert!(
        tally.against > 0 && tally.clean > 0 && tally.mutations > 0,
        "{tally:?}"
    );
}

/// A folder of its own, in which commands are run.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.join(format!("policy-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(&self.0)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(["-c", "user.name=ops", "-c", "user.email=ops@example.org"])
            .args(arguments)
            .output()
            .expect("git is installed");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {words}");
    }

    fn commit(&self, author: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "A change", "--author", author]);
    }

    /// Checks a file, and gives whether it is fine and what is said.
    fn check(&self, file: &str, policy: &str) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_hence"))
            .current_dir(&self.0)
            .args(["check", file, "--policy", policy])
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.stdout.is_empty());
        (output.status.success(), words)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_authors_of_lines_are_those_that_git_knows() {
    let folder = Folder::new("authors");
    folder.git(&["init", "-q"]);
    folder.write(
        "site.cf2",
        "Users => { root => { uid => 0 } }\nWeb => { port => 80 }\nSum => $Web.port + 1\n",
    );
    folder.write("only.policy", "** only from author ops@example.org\n");
    folder.write("not.policy", "** not from author 'web team'\n");
    folder.commit("ops <ops@example.org>");
    assert_eq!(folder.check("site.cf2", "only.policy"), (true, "".into()));
    assert_eq!(folder.check("site.cf2", "not.policy"), (true, "".into()));

    folder.write(
        "site.cf2",
        "Users => { root => { uid => 0 } }\nWeb => { port => 8080 }\nSum => $Web.port + 1\n",
    );
    let (good, words) = folder.check("site.cf2", "only.policy");
    assert!(!good, "{words}");
    let nobody = "`Web.port` and 1 more may depend only on author ops@example.org, and depends on \
                  `site.cf2`, which is not committed, and so by nobody";
    assert!(words.contains(nobody), "{words}");
    assert!(words.contains("the same is true of `Sum`"), "{words}");
    assert!(!words.contains("Users"), "{words}");
    assert_eq!(folder.check("site.cf2", "not.policy"), (true, "".into()));

    folder.commit("web team <web@example.org>");
    let (good, words) = folder.check("site.cf2", "only.policy");
    assert!(
        !good && words.contains(", written by web@example.org in "),
        "{words}"
    );
    let (good, words) = folder.check("site.cf2", "not.policy");
    assert!(
        !good && words.contains("`Web.port` and 1 more may not depend on"),
        "{words}"
    );
    folder.write(
        "both.policy",
        "** only from author ops@example.org, *@example.org\n",
    );
    assert_eq!(folder.check("site.cf2", "both.policy"), (true, "".into()));
}

#[test]
fn without_a_history_nobody_wrote_anything() {
    // Outside of the repository that this is.
    let folder = Folder(std::env::temp_dir().join(format!("hence-policy-{}", std::process::id())));
    fs::create_dir_all(&folder.0).unwrap();
    folder.write("site.cf2", "A => 1\n");
    folder.write("only.policy", "A only from author ops@example.org\n");
    folder.write("not.policy", "A not from author ops@example.org\n");
    let (good, words) = folder.check("site.cf2", "only.policy");
    assert!(!good && words.contains("by nobody"), "{words}");
    let (good, words) = folder.check("site.cf2", "not.policy");
    assert!(
        good && words.contains("warning[policy.unmatched]"),
        "{words}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_to_a_forbidden_file_is_forbidden() {
    let folder = Folder::new("links");
    folder.write("delegated.cf2", "Shell => zsh\n");
    std::os::unix::fs::symlink("delegated.cf2", folder.0.join("innocent.cf2")).unwrap();
    folder.write("site.cf2", "import(innocent)\n");
    folder.write("not.policy", "** not from file delegated.cf2\n");
    let (good, words) = folder.check("site.cf2", "not.policy");
    assert!(
        !good && words.contains("`Shell` may not depend on `innocent.cf2`"),
        "{words}"
    );
    folder.write("only.policy", "** only from file delegated.cf2, site.cf2\n");
    let (good, words) = folder.check("site.cf2", "only.policy");
    assert!(!good, "{words}");
}

#[test]
fn names_start_in_the_folder_of_the_policy() {
    let folder = Folder::new("names");
    fs::create_dir_all(folder.0.join("site/rules")).unwrap();
    folder.write("site/delegated.cf2", "Shell => zsh\n");
    folder.write("site/site.cf2", "import('site/delegated')\n");
    folder.write("site/near.policy", "** not from file delegated.cf2\n");
    folder.write(
        "site/rules/far.policy",
        "** not from file ./../delegated.cf2\n",
    );
    for policy in [
        "site/near.policy",
        "./site/near.policy",
        "site/rules/../near.policy",
    ] {
        let (good, words) = folder.check("site/site.cf2", policy);
        assert!(
            !good && words.contains("`site/delegated.cf2`"),
            "{policy}: {words}"
        );
    }
    let (good, words) = folder.check("./site/../site/site.cf2", "site/rules/far.policy");
    assert!(!good && words.contains("delegated.cf2"), "{words}");
}

#[test]
fn no_policy_takes_long() {
    let folder = Folder::new("hostile");
    let wide: String = (0..200)
        .map(|i| format!("B{i} => {{ a => {i} }}\n"))
        .collect();
    folder.write("site.cf2", &wide);
    let hostile = [
        format!("{}a not from file x\n", "*".repeat(1 << 20)),
        format!("{}b not from file x\n", "*a".repeat(1 << 18)),
        format!("{}b not from file x\n", "**.".repeat(1 << 18)),
        format!("** not from file {}x\n", "**/*".repeat(1 << 18)),
        "B*.** not from file x*\n".repeat(2_000),
        format!("{} no secret\n", "[".repeat(1 << 20)),
        "'".repeat(1 << 20),
        "a only from file x,\n".repeat(20_000),
        ",".repeat(1 << 20),
        "\u{0}\u{1}\u{feff}é [\u{202e}] no secret\n".to_owned(),
        "\\".repeat(1 << 20),
    ];
    for text in hostile {
        folder.write("hostile.policy", &text);
        let start = Instant::now();
        let (_, words) = folder.check("site.cf2", "hostile.policy");
        let shown: String = text.chars().take(40).collect();
        assert!(!words.contains("panicked"), "{shown}: {words}");
        assert!(start.elapsed() < Duration::from_secs(20), "{shown}");
    }
}
