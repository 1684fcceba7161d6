//! `impact --what-if` and `why-not`, tried on random programs of all languages.
//!
//! A literal of a program is replaced by another, as `--what-if` does it: nothing that was not announced changes, and what is
//! said to change is what the edited files come to. Then the program is asked why a value is not what it became: there is
//! an edit that gives it, if the value is the literal, and every edit that is shown gives it when it is made by hand.
//! `HENCE_CASES` says how many programs of each language.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hence::{Exit, STACK, World};
use hence_model::random::Random;
use serde_json::Value;

#[test]
fn smartfrog() {
    let tally = over("sf", |seed| {
        let kind = hence_smartfrog::generate::Kind::Core;
        let made = hence_smartfrog::generate::specification(kind, seed, size(seed, 12));
        let main = made.files[0].0.clone();
        let arguments = vec![main];
        (made.files, arguments)
    });
    assert!(tally.values > 0, "{tally:?}");
}

#[test]
fn cf2() {
    let tally = over("cf2", |seed| {
        let made = hence_cf2::generate::program(seed, size(seed, 8)).texts();
        let arguments = vec![made.main().to_owned()];
        (made.0, arguments)
    });
    assert!(tally.values > 0, "{tally:?}");
}

#[test]
fn puppet() {
    let tally = over("puppet", |seed| {
        let made = hence_puppet::generate::site(seed, size(seed, 6));
        let mut files = vec![
            ("site.pp".to_owned(), made.manifest),
            ("facts.json".to_owned(), made.facts),
        ];
        let mut arguments: Vec<String> = ["site.pp", "--node", "web1", "--facts", "facts.json"]
            .map(str::to_owned)
            .to_vec();
        if !made.data.is_empty() {
            arguments.extend(["--hiera".to_owned(), "hiera.yaml".to_owned()]);
        }
        files.extend(made.data);
        (files, arguments)
    });
    assert!(tally.values > 0, "{tally:?}");
}

#[test]
fn ten_thousand_paths_can_be_read() {
    let machines: String = (0..10_000)
        .map(|i| format!("m{i} extends Machine;\n"))
        .collect();
    let text = format!("Machine extends {{ port 80; }}\nsfConfig extends {{\n{machines}}}\n");
    let text = text.replace("Machine;", "Machine");
    let files = vec![("site.sf".to_owned(), text)];
    let program = Program::new("fleet", files, vec!["site.sf".to_owned()]);
    let (exit, data, told) = program.run(&["impact", "site.sf:1", "--in", "site.sf"]);
    assert_eq!(exit, Exit::Done, "{told}");
    assert_eq!(told, "10000 values depend on site.sf:1\n");
    assert!(data.lines().count() < 50, "{data}");
    assert!(
        data.ends_with("… and 9980 more groups with 9980 values: --full\n"),
        "{data}"
    );
    let (_, data, _) = program.run(&["impact", "site.sf:1", "--in", "site.sf", "--full"]);
    assert_eq!(data.lines().count(), 20_000);
    let (_, data, _) = program.what_if("site.sf:1", "81");
    let answer: Value = serde_json::from_str(&data).expect("it is JSON");
    assert_eq!(answer["changed"].as_array().map(Vec::len), Some(10_000));
    assert_eq!(answer["outside"].as_array().map(Vec::len), Some(0));
}

#[test]
fn whatever_is_asked_ends_with_words() {
    let work = || {
        let deep = "[".repeat(100_000);
        let long = "9".repeat(100_000);
        let hostile = [
            "",
            " ",
            "\n",
            "'",
            "\"",
            "\\",
            "{",
            "}",
            ";",
            "]",
            "é★",
            "\u{0}",
            "-",
            "--",
            "0x",
            "1e999",
            "null",
            "%{",
            "${",
            "<%=",
            "/*",
            "#include \"site.sf\"",
            "import('site')",
            "include site",
            "- - -",
            "&a *a",
            "!!binary x",
            &deep,
            &long,
        ];
        let programs = [
            ("site.sf", "sfConfig extends {\n  port 80;\n}\n", "port"),
            ("site.cf2", "Port => 80\n", "Port"),
            (
                "site.pp",
                "notify { 'n': message => 80 }\n",
                "Notify[n].message",
            ),
        ];
        for (name, text, path) in programs {
            let place = if name == "site.sf" {
                "site.sf:2".to_owned()
            } else {
                format!("{name}:1:{}", text.find("80").unwrap() + 1)
            };
            let files = vec![(name.to_owned(), text.to_owned())];
            let program = Program::new(&format!("hostile-{name}"), files, vec![name.to_owned()]);
            for words in hostile {
                let questions = [
                    vec!["impact", &place, "--in", name, "--what-if", words],
                    vec!["impact", words, "--in", name],
                    vec!["why-not", name, path, words],
                    vec!["why-not", name, words, "80"],
                ];
                for question in questions {
                    let (exit, data, told) = program.run(&question);
                    assert_ne!(exit, Exit::World, "{question:?}: {told}");
                    assert!(!data.is_empty() || !told.is_empty(), "{question:?}");
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    if let Err(panic) = thread.expect("a thread can be started").join() {
        std::panic::resume_unwind(panic);
    }
}

fn size(seed: u64, most: usize) -> usize {
    1 + Random::new(seed).below(most)
}

/// How many programs, and how many literals of each.
fn cases() -> u64 {
    let cases = std::env::var("HENCE_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(25)
}
const LITERALS: usize = 6;

#[derive(Debug, Default)]
struct Tally {
    programs: usize,
    /// Literals that were replaced, and those after which there is a result.
    replaced: usize,
    compiled: usize,
    /// Values that are such a literal and became another: `why-not` must find the edit.
    values: usize,
    /// Other values that changed, and those of them for which an edit was found.
    others: usize,
    found: usize,
    /// Edits that were shown, and made by hand.
    edits: usize,
}

/// Runs on a stack that is large enough.
fn over(
    language: &'static str,
    make: impl Fn(u64) -> (Vec<(String, String)>, Vec<String>) + Send + 'static,
) -> Tally {
    let work = move || {
        let mut tally = Tally::default();
        for seed in 0..cases() {
            let (files, arguments) = make(seed);
            let program = Program::new(language, files, arguments);
            program.check(seed, &mut tally);
        }
        println!("{language}: {tally:?}");
        tally
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    match thread.expect("a thread can be started").join() {
        Ok(tally) => tally,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// A program in a folder of its own.
struct Program {
    folder: PathBuf,
    files: Vec<(String, String)>,
    /// The file that is compiled, and how.
    arguments: Vec<String>,
}

impl Program {
    fn new(language: &str, files: Vec<(String, String)>, arguments: Vec<String>) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("what-if-{language}"));
        // What an earlier program left there.
        let _ = fs::remove_dir_all(&folder);
        let program = Self {
            folder,
            files,
            arguments,
        };
        program
            .files
            .iter()
            .for_each(|(name, text)| program.write(name, text));
        program
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        let folder = path.parent().expect("a file is in a folder");
        fs::create_dir_all(folder).expect("the target directory can be written");
        fs::write(path, text).expect("the target directory can be written");
    }

    fn run(&self, words: &[&str]) -> (Exit, String, String) {
        let (data, told) = (Rc::default(), Rc::default());
        let mut world = World {
            directory: self.folder.clone(),
            stdout: Box::new(Kept(Rc::clone(&data))),
            stderr: Box::new(Kept(Rc::clone(&told))),
            attended: false,
            typed: false,
            colour: false,
            variable: |_| None,
            stdin: Box::new(std::io::empty()),
            now: || 1_769_860_800_000,
        };
        let words = ["hence"].iter().chain(words);
        let exit = hence::run(words.map(OsString::from), &mut world);
        drop(world);
        let text = |kept: Rc<RefCell<Vec<u8>>>| String::from_utf8(kept.take()).expect("it is text");
        (exit, text(data), text(told))
    }

    fn options(&self) -> impl Iterator<Item = &str> {
        self.arguments[1..].iter().map(String::as_str)
    }

    /// The values by path; none if there is no result.
    fn outputs(&self) -> Option<BTreeMap<String, Value>> {
        let mut words = vec!["compile", &self.arguments[0]];
        words.extend(self.options());
        let (exit, data, _) = self.run(&words);
        (exit == Exit::Done).then(|| leaves(&serde_json::from_str(&data).expect("it is JSON")))
    }

    fn what_if(&self, place: &str, text: &str) -> (Exit, String, String) {
        let mut words = vec!["impact", place, "--in", &self.arguments[0]];
        words.extend(["--what-if", text, "--format", "json"]);
        words.extend(self.options());
        self.run(&words)
    }

    fn check(&self, seed: u64, tally: &mut Tally) {
        let Some(before) = self.outputs() else {
            return;
        };
        tally.programs += 1;
        let mut random = Random::new(seed);
        for _ in 0..LITERALS {
            let (name, text) = random.pick(&self.files);
            let literals = literals(text);
            if literals.is_empty() {
                continue;
            }
            let (at, literal) = *random.pick(&literals);
            let other = other(literal, &mut random);
            let line = text[..at].matches('\n').count() + 1;
            let column = text[..at].rsplit('\n').next().unwrap_or("").chars().count() + 1;
            let place = format!("{name}:{line}:{column}");
            self.replace(&before, (name, text), (&place, at, literal), &other, tally);
        }
    }

    fn replace(
        &self,
        before: &BTreeMap<String, Value>,
        (name, text): (&str, &str),
        (place, at, literal): (&str, usize, &str),
        other: &str,
        tally: &mut Tally,
    ) {
        let (exit, data, told) = self.what_if(place, other);
        assert_ne!(exit, Exit::World, "{place} {other}:\n{told}\n{text}");
        // It is no literal for the language, or has no result.
        let Ok(answer) = serde_json::from_str::<Value>(&data) else {
            return;
        };
        tally.replaced += 1;
        assert!(
            answer["outside"].as_array().unwrap().is_empty(),
            "{place} {other}:\n{told}\n{text}"
        );
        if answer["replaced"]["old"] != literal {
            return;
        }
        tally.compiled += 1;
        let edited = [&text[..at], other, &text[at + literal.len()..]].concat();
        self.write(name, &edited);
        let after = self.outputs().expect("it was compiled");
        self.write(name, text);
        for change in answer["changed"].as_array().unwrap() {
            let path = path(&change["path"]);
            let elements = path.contains('[') && !path.starts_with(char::is_uppercase);
            if !elements {
                assert_eq!(
                    Some(&change["old"]),
                    before.get(&path),
                    "{path} {place} {other}\n{text}"
                );
                assert_eq!(
                    Some(&change["new"]),
                    after.get(&path),
                    "{path} {place} {other}\n{text}"
                );
            }
        }
        let same = answer["changed"].as_array().unwrap().is_empty()
            && answer["added"].as_array().unwrap().is_empty()
            && answer["removed"].as_array().unwrap().is_empty();
        assert_eq!(same, *before == after, "{place} {other}\n{text}");
        for change in answer["changed"].as_array().unwrap().iter().take(2) {
            self.ask(change, place, tally);
        }
    }

    /// Asks why a value is not what it became.
    fn ask(&self, change: &Value, place: &str, tally: &mut Tally) {
        let path = path(&change["path"]);
        let wanted = change["new"].to_string();
        let mut words = vec!["why-not", &self.arguments[0], &path, &wanted];
        words.extend(["--format", "json", "--full"]);
        words.extend(self.options());
        let (exit, data, told) = self.run(&words);
        let Ok(answer) = serde_json::from_str::<Value>(&data) else {
            // A path may not be what it is written as: a name can hold a separator.
            assert!(told.contains("no-such-path"), "{path} {wanted}: {told}");
            return;
        };
        if answer["value"] != change["old"] || answer["wanted"] != change["new"] {
            return;
        }
        let edits = answer["edits"].as_array().expect("there is a list");
        let is_value = {
            let literal = &answer["where"];
            let there = format!(
                "{}:{}:{}",
                literal["file"].as_str().unwrap(),
                literal["line"],
                literal["column"]
            );
            there == place
        };
        match is_value {
            true => {
                tally.values += 1;
                assert!(!edits.is_empty(), "no edit gives {path} {wanted}: {data}");
            }
            false => {
                tally.others += 1;
                tally.found += usize::from(!edits.is_empty());
            }
        }
        assert_eq!(exit == Exit::Done, !edits.is_empty());
        for edit in edits {
            tally.edits += 1;
            let name = edit["file"].as_str().unwrap();
            let (_, text) = self
                .files
                .iter()
                .find(|(file, _)| file == name)
                .expect("it is known");
            let (from, to) = (
                offset(text, &edit["line"], &edit["column"]),
                offset(text, &edit["end_line"], &edit["end_column"]),
            );
            assert_eq!(edit["old"], text[from..to]);
            let new = edit["new"].as_str().unwrap();
            self.write(name, &[&text[..from], new, &text[to..]].concat());
            let mut words = vec!["why", &self.arguments[0], &path, "--format", "json"];
            words.extend(self.options());
            let (_, data, told) = self.run(&words);
            self.write(name, text);
            let value: Value = serde_json::from_str(&data).unwrap_or_default();
            assert_eq!(value["value"], change["new"], "{path} by {edit}: {told}");
        }
    }
}

struct Kept(Rc<RefCell<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a line and a column are.
fn offset(text: &str, line: &Value, column: &Value) -> usize {
    let (line, column) = (
        line.as_u64().unwrap() as usize,
        column.as_u64().unwrap() as usize,
    );
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let rest = text[start..].char_indices().map(|(at, _)| at);
    start
        + rest
            .chain([text.len() - start])
            .nth(column - 1)
            .expect("the line is long enough")
}

/// What looks like a number, a word of truth or a text in quotes.
fn literals(text: &str) -> Vec<(usize, &str)> {
    let pattern = regex::Regex::new(r#"\b\d+\b|\btrue\b|\bfalse\b|'[a-z ]*'|"[a-z ]*""#);
    let pattern = pattern.expect("it is a pattern");
    pattern
        .find_iter(text)
        .map(|one| (one.start(), one.as_str()))
        .collect()
}

/// Another literal of the same kind.
fn other(literal: &str, random: &mut Random) -> String {
    match literal {
        "true" => "false".into(),
        "false" => "true".into(),
        text if text.starts_with(['\'', '"']) => format!("{0}mutated{0}", &text[..1]),
        number => match random.below(3) {
            0 => format!("{}", number.parse::<i64>().unwrap_or(0).wrapping_add(1)),
            1 => "0".into(),
            _ => "1000003".into(),
        },
    }
}

/// A path as it is asked for.
fn path(segments: &Value) -> String {
    let mut path = String::new();
    for segment in segments.as_array().expect("a path is a list") {
        match segment.as_str() {
            Some(name) if path.is_empty() => path.push_str(name),
            Some(name) => path.push_str(&format!(".{name}")),
            None => path.push_str(&format!("[{segment}]")),
        }
    }
    path
}

/// The values of a configuration by path; of a catalog, the attributes of resources.
fn leaves(value: &Value) -> BTreeMap<String, Value> {
    let mut leaves = BTreeMap::new();
    let mut pending = match value.get("resources").and_then(Value::as_array) {
        Some(resources) if value.get("edges").is_some() => {
            let named = resources.iter().map(|resource| {
                let word = |key: &str| resource[key].as_str().unwrap_or("").to_owned();
                let name = format!("{}[{}]", word("type"), word("title"));
                (vec![Value::String(name)], &resource["parameters"])
            });
            named.collect()
        }
        _ => vec![(Vec::new(), value)],
    };
    while let Some((path_here, value)) = pending.pop() {
        let child = |segment: Value| [&path_here[..], &[segment]].concat();
        match value {
            Value::Object(map) if !map.is_empty() => {
                pending.extend(
                    map.iter()
                        .map(|(key, value)| (child(key.as_str().into()), value)),
                );
            }
            Value::Array(list) if !list.is_empty() => {
                let elements = list.iter().enumerate();
                pending.extend(elements.map(|(at, value)| (child(at.into()), value)));
            }
            leaf => drop(leaves.insert(path(&Value::Array(path_here)), leaf.clone())),
        }
    }
    leaves
}
