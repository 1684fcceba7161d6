//! Puppet against the real compiler, live: every manifest below `spec/puppet`, and random ones.
//!
//! Both compile each manifest for the same node, with the same facts, modules and data. Either both give the
//! same catalog, or both fail, and `messages.txt` says which of our codes the real compiler's message stands for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use hence::{STACK, World};
use hence_puppet::generate::site;
use serde_json::{Value, json};

#[test]
fn catalogs_are_those_of_the_real_compiler() {
    let test = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/puppet");
        let cases = manifests_below(&spec);
        let mut real = Real::start();
        let messages = messages();
        let mut troubles = Vec::new();
        for case in &cases {
            let theirs = real.ask(case);
            let ours = Ours::of(case);
            if let Some(trouble) = difference(&theirs, &ours, &messages) {
                let name = case.strip_prefix(&spec).expect("it is below");
                troubles.push(format!("spec/puppet/{}: {trouble}", name.display()));
            }
        }
        println!("{} manifests, {} differ", cases.len(), troubles.len());
        assert!(troubles.is_empty(), "\n{}\n", troubles.join("\n"));
    });
    let ended = test.expect("a thread can be started").join();
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// Random manifests, most of them with a catalog. `HENCE_CASES` says how many.
#[test]
fn random_manifests_have_the_same_catalogs() {
    let test = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let cases = std::env::var("HENCE_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok());
        let cases: u64 = cases.unwrap_or(2_000);
        let name = format!("random-puppet-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut real = Real::start();
        let messages = messages();
        let mut good = 0;
        let mut troubles = Vec::new();
        for seed in 0..cases {
            let site = site(seed, 1 + (seed % 12) as usize);
            let case = folder.join(format!("case{seed}.pp"));
            let beside = case.with_extension("");
            let write = |file: &Path, text: &str| {
                fs::create_dir_all(file.parent().expect("it is in a folder"))
                    .and_then(|()| fs::write(file, text))
                    .expect("the target directory can be written");
            };
            write(&case, &site.manifest);
            write(&beside.join("facts.json"), &site.facts);
            for (name, text) in &site.data {
                write(&beside.join(name), text);
            }
            let ours = Ours::of(&case);
            let theirs = real.ask(&case);
            good += usize::from(ours.catalog.is_some());
            if let Some(trouble) = difference(&theirs, &ours, &messages) {
                let data = &site.data;
                troubles.push(format!(
                    "seed {seed}: {trouble}\n{}\n{data:#?}",
                    site.manifest
                ));
            }
            if troubles.len() >= 5 {
                break;
            }
        }
        // What is left behind does no harm.
        let _ = fs::remove_dir_all(&folder);
        println!("{cases} manifests, {good} with a catalog");
        assert!(troubles.is_empty(), "\n{}\n", troubles.join("\n"));
        assert!(
            good * 10 >= cases as usize * 6,
            "only {good} have a catalog"
        );
    });
    let ended = test.expect("a thread can be started").join();
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// What `--format native` prints is compiled by both, and declares what the manifest did, without what is around it.
#[test]
fn printed_manifests_declare_the_same() {
    let test = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/puppet");
        let name = format!("printed-puppet-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).expect("the target directory can be written");
        let mut real = Real::start();
        let messages = messages();
        let mut troubles = Vec::new();
        for (number, case) in manifests_below(&spec).iter().enumerate() {
            let Some(catalog) = Ours::of(case).catalog else {
                continue;
            };
            let text = fs::read_to_string(case).expect("it was compiled");
            let options = text.lines().find(|line| line.starts_with("# options: "));
            let (printed, _) = Ours::said_to(case, &["--format", "native"]);
            let again = folder.join(format!("case{number}.pp"));
            let text = format!("{}\n{printed}", options.unwrap_or("# options:"));
            fs::write(&again, &text).expect("the target directory can be written");
            let beside = case.with_extension("");
            if beside.is_dir() {
                std::os::unix::fs::symlink(beside, again.with_extension(""))
                    .expect("the target directory can be written");
            }
            let ours = Ours::of(&again);
            let theirs = real.ask(&again);
            let trouble = match &ours.catalog {
                None => Some(ours.said.clone()),
                Some(printed) => {
                    difference(&theirs, &ours, &messages).or_else(|| undeclared(&catalog, printed))
                }
            };
            if let Some(trouble) = trouble {
                troubles.push(format!("{}: {trouble}\n{text}", case.display()));
            }
        }
        // What is left behind does no harm.
        let _ = fs::remove_dir_all(&folder);
        assert!(troubles.is_empty(), "\n{}\n", troubles.join("\n"));
    });
    let ended = test.expect("a thread can be started").join();
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// A resource of a printed catalog that the first one has not, or has otherwise.
fn undeclared(catalog: &Value, printed: &Value) -> Option<String> {
    let relations = ["require", "before", "notify", "subscribe"];
    let known = |resource: &Value| {
        let mut resource = resource.clone();
        if let Some(parameters) = resource["parameters"].as_object_mut() {
            parameters.retain(|name, _| !relations.contains(&name.as_str()));
        }
        (
            resource["type"].clone(),
            resource["title"].clone(),
            resource["parameters"].clone(),
        )
    };
    let of = |catalog: &Value| catalog["resources"].as_array().expect("it is one").clone();
    let first: Vec<_> = of(catalog).iter().map(known).collect();
    let second = of(printed);
    let missing = second
        .iter()
        .filter(|it| !["Class", "Stage", "Node"].contains(&it["type"].as_str().unwrap_or("")))
        .find(|it| !first.contains(&known(it)))?;
    Some(format!("the catalog has nothing like {missing}"))
}

/// The real agent takes our catalog, and makes what it says.
#[test]
fn puppet_applies_our_catalogs() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("apply-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let file = folder.join("made");
    let manifest = format!(
        "define note(String $text) {{ file {{ '{}': ensure => file, content => $text, mode => '0640' }} }}\n\
         class greeting($who = 'world') {{ note {{ 'n': text => \"hello ${{who}}\\n\" }} }}\n\
         class {{ 'greeting': who => 'fleet' }}\n",
        file.display()
    );
    fs::write(folder.join("site.pp"), manifest).expect("it can be written");
    let words = [
        "hence",
        "compile",
        "site.pp",
        "--node",
        "web1",
        "--format",
        "catalog",
        "--out",
        "catalog.json",
    ];
    let (_, said) = run(&folder, &words.map(str::to_owned));
    assert_eq!(said, "");
    let places = ["conf", "var", "public", "run", "log", "code"]
        .map(|kind| format!("--{kind}dir={}", folder.join(kind).display()));
    let applied = Command::new("puppet")
        .args(["apply", "--catalog", "catalog.json"])
        .args(places)
        .current_dir(&folder)
        .output()
        .expect("apt-get install -y --no-install-recommends puppet-agent");
    let said = String::from_utf8_lossy(&applied.stderr).into_owned();
    assert!(applied.status.success(), "{said}");
    assert_eq!(fs::read_to_string(&file).expect(&said), "hello fleet\n");
    // What is left behind does no harm.
    let _ = fs::remove_dir_all(&folder);
}

/// How the two answers differ, if they do.
fn difference(theirs: &Value, ours: &Ours, messages: &[(regex::Regex, String)]) -> Option<String> {
    match (theirs.get("catalog"), &ours.catalog) {
        (Some(theirs), Some(ours)) => first_difference("", theirs, ours),
        (None, None) => {
            let message = theirs["error"].as_str().unwrap_or("");
            let meant: Vec<&String> = messages
                .iter()
                .filter(|(pattern, _)| pattern.is_match(message))
                .map(|(_, code)| code)
                .collect();
            match meant.iter().any(|code| ours.codes.contains(code)) {
                true => None,
                false => Some(format!(
                    "the real compiler says\n    {message}\n  which stands for {meant:?}, and we say {:?}\n    {}",
                    ours.codes, ours.said
                )),
            }
        }
        (Some(_), None) => Some(format!(
            "only the real compiler has a catalog; we say {}",
            ours.said
        )),
        (None, Some(_)) => Some(format!(
            "only we have a catalog; the real compiler says {}",
            theirs["error"]
        )),
    }
}

fn first_difference(path: &str, theirs: &Value, ours: &Value) -> Option<String> {
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let order: Vec<&String> = a.keys().filter(|key| b.contains_key(*key)).collect();
            let ours: Vec<&String> = b.keys().filter(|key| a.contains_key(*key)).collect();
            if order != ours {
                return Some(format!(
                    "{path} has {order:?} in the real catalog, and {ours:?} in ours"
                ));
            }
            let further = b.keys().filter(|key| !a.contains_key(*key));
            a.keys().chain(further).find_map(|key| {
                let absent = Value::String("(absent)".into());
                let a = a.get(key).unwrap_or(&absent);
                let b = b.get(key).unwrap_or(&absent);
                first_difference(&format!("{path}.{key}"), a, b)
            })
        }
        (Value::Array(a), Value::Array(b)) => {
            let absent = Value::String("(absent)".into());
            (0..a.len().max(b.len())).find_map(|at| {
                let (a, b) = (a.get(at).unwrap_or(&absent), b.get(at).unwrap_or(&absent));
                first_difference(&format!("{path}[{at}]"), a, b)
            })
        }
        (a, b) if a == b => None,
        (a, b) => Some(format!(
            "{path} is {a} in the real catalog, and {b} in ours"
        )),
    }
}

/// What our codes stand for: `pattern -> code`, one to a line.
fn messages() -> Vec<(regex::Regex, String)> {
    let lines = include_str!("puppet/messages.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let (code, pattern) = row.split_once(' ').expect("a code and a pattern");
        let pattern = regex::Regex::new(pattern.trim()).expect("a pattern");
        (pattern, code.to_owned())
    })
    .collect()
}

/// The manifests below a folder, without those that belong to another one.
fn manifests_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the specification can be read") {
            let path = entry.expect("the specification can be read").path();
            if path.is_dir() {
                if !path.with_extension("pp").exists() && !path.ends_with("parts") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "pp") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What belongs to a manifest: the options in its first lines, and what lies in the folder of its name.
struct Surroundings {
    node: String,
    strict: bool,
    modules: Option<PathBuf>,
    hiera: Option<PathBuf>,
    facts: Option<PathBuf>,
}

impl Surroundings {
    fn of(case: &Path) -> Self {
        let text = fs::read_to_string(case).unwrap_or_default();
        let options = text
            .lines()
            .find_map(|line| line.strip_prefix("# options: "));
        let options: Vec<&str> = options.unwrap_or("").split(' ').collect();
        let node = options.iter().position(|option| *option == "--node");
        let beside = |name: &str| {
            let path = case.with_extension("").join(name);
            path.exists().then_some(path)
        };
        Self {
            node: node
                .map_or("web1.example.org", |at| options[at + 1])
                .to_owned(),
            strict: options.contains(&"--strict"),
            modules: beside("modules"),
            hiera: beside("hiera.yaml"),
            facts: beside("facts.json"),
        }
    }
}

/// The real compiler, at work.
struct Real {
    process: Child,
    answers: io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Real {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/puppet/real.rb");
        let started = Command::new("ruby")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = started.expect(
            "the real compiler is needed: apt-get install -y --no-install-recommends puppet-agent",
        );
        let answers = BufReader::new(process.stdout.take().expect("it is piped")).lines();
        Self { process, answers }
    }

    fn ask(&mut self, case: &Path) -> Value {
        let around = Surroundings::of(case);
        let facts = around.facts.map_or(json!({}), |facts| {
            let text = fs::read_to_string(facts).expect("facts can be read");
            serde_json::from_str(&text).expect("facts are JSON")
        });
        let absolute = |path: PathBuf| path.canonicalize().expect("it exists");
        let request = json!({
            "file": absolute(case.to_owned()),
            "node": around.node,
            "facts": facts,
            "strict": around.strict,
            "modulepath": around.modules.map(absolute).into_iter().collect::<Vec<_>>(),
            "hiera": around.hiera.map(absolute),
        });
        let input = self.process.stdin.as_mut().expect("it is piped");
        writeln!(input, "{request}").expect("the real compiler listens");
        let answer = self.answers.next().expect("the real compiler answers");
        serde_json::from_str(&answer.expect("the answer can be read")).expect("it is JSON")
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// What we say to a manifest.
struct Ours {
    catalog: Option<Value>,
    codes: Vec<String>,
    said: String,
}

impl Ours {
    fn of(case: &Path) -> Self {
        let (data, said) = Self::said_to(case, &[]);
        let lines = said
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let errors = lines.filter(|line| line["severity"] == "error");
        let codes = errors.filter_map(|line| Some(line["code"].as_str()?.to_owned()));
        Self {
            catalog: serde_json::from_str(&data).ok(),
            codes: codes.collect(),
            said,
        }
    }

    /// The data and the words of `hence compile`, with some options more.
    fn said_to(case: &Path, options: &[&str]) -> (String, String) {
        let around = Surroundings::of(case);
        let folder = case.parent().expect("a file is in a folder");
        let name = case.file_name().unwrap().to_str().unwrap();
        let mut words: Vec<String> = ["hence", "--diagnostics", "json", "compile", name, "--node"]
            .map(str::to_owned)
            .to_vec();
        words.push(around.node);
        if around.strict {
            words.push("--strict".into());
        }
        let beside = [
            ("--modulepath", around.modules),
            ("--hiera", around.hiera),
            ("--facts", around.facts),
        ];
        for (option, path) in beside {
            if let Some(path) = path {
                words.extend([option.to_owned(), path.display().to_string()]);
            }
        }
        words.extend(options.iter().map(|option| (*option).to_owned()));
        run(folder, &words)
    }
}

/// Runs a command within this process: its data, and its words.
fn run(directory: &Path, words: &[String]) -> (String, String) {
    let (data, said) = (Rc::default(), Rc::default());
    let mut world = World {
        directory: directory.to_owned(),
        stdout: Box::new(Writer(Rc::clone(&data))),
        stderr: Box::new(Writer(Rc::clone(&said))),
        attended: false,
        typed: false,
        colour: false,
        variable: |_| None,
        stdin: Box::new(std::io::empty()),
        now: || 1_769_860_800_000,
    };
    hence::run(words.iter().map(OsString::from), &mut world);
    drop(world);
    let text = |bytes: Rc<RefCell<Vec<u8>>>| String::from_utf8(bytes.take()).expect("it is text");
    (text(data), text(said))
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

/// Each of our codes that the real compiler has a message for is in the table once.
#[test]
fn the_table_of_messages_is_sorted() {
    let lines = include_str!("puppet/messages.txt").lines();
    let rows: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut sorted: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        *sorted.entry(row).or_default() += 1;
    }
    let sorted: Vec<&str> = sorted.into_keys().collect();
    assert_eq!(rows, sorted);
}
