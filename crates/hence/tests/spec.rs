//! Runs the executable specification: the files below `spec/`.
//!
//!     spec/sf/<topic>/<sentence>.sf     a specification (or spec/cf2/…/….cf2, spec/puppet/…/….pp), and beside it
//!                                       what must come of it:
//!         <sentence>.expect             the configuration as JSON
//!         <sentence>.diagnostics        what is said about it
//!         <sentence>.yaml, .native      the configuration in other formats, if its first lines ask
//!         <sentence>.why                questions about it, and their answers: a session
//!     spec/cli/<topic>.session          commands and their answers
//!     …/parts/                          what others include or use; not run by itself
//!     spec/puppet/<topic>/<sentence>/   the modules, hiera.yaml and facts.json of a manifest
//!
//! Everything that should stand beside an input is made again and compared with what does. With
//! `SPEC_UPDATE=1` it is written instead: then read it, and commit it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hence::{Exit, STACK, World};

#[test]
fn the_specification_holds() {
    let test = std::thread::Builder::new().stack_size(STACK).spawn(|| {
        let spec = workspace().join("spec");
        let files = files_below(&spec);
        let made = make_all(&files);
        let stands: BTreeSet<&PathBuf> = files.iter().filter(|file| is_expectation(file)).collect();
        if std::env::var_os("SPEC_UPDATE").is_some() {
            update(&made, &stands);
        } else {
            compare(&spec, &made, &stands);
        }
    });
    let ended = test.expect("a thread can be started").join();
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// What should stand beside the inputs, by path.
fn make_all(files: &[PathBuf]) -> BTreeMap<PathBuf, String> {
    let mut made = BTreeMap::new();
    for file in files {
        match extension(file) {
            "sf" | "cf2" | "pp" => specification(file, &mut made),
            "session" | "why" => drop(made.insert(file.clone(), session(file))),
            _ if is_expectation(file) => {}
            _ => panic!("nobody runs {}: move it to `parts/`", file.display()),
        }
    }
    made
}

fn is_expectation(file: &Path) -> bool {
    ["expect", "diagnostics", "yaml", "native", "session", "why"].contains(&extension(file))
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// Writes what should stand there, and removes what should not.
fn update(made: &BTreeMap<PathBuf, String>, stands: &BTreeSet<&PathBuf>) {
    for (path, text) in made {
        let before = fs::read_to_string(path).ok();
        if before.as_ref() != Some(text) {
            println!("updated {}", path.display());
            fs::write(path, text).expect("the specification can be written");
        }
    }
    for stale in stands.iter().filter(|path| !made.contains_key(**path)) {
        println!("removed {}", stale.display());
        fs::remove_file(stale).expect("the specification can be written");
    }
}

/// Fails if anything is not as it stands.
fn compare(spec: &Path, made: &BTreeMap<PathBuf, String>, stands: &BTreeSet<&PathBuf>) {
    let name = |path: &Path| format!("spec/{}", path.strip_prefix(spec).unwrap().display());
    let mut troubles = Vec::new();
    for (path, text) in made {
        let before = fs::read_to_string(path).unwrap_or_default();
        if before != *text {
            let name = name(path);
            let diff = similar::TextDiff::from_lines(&before, text);
            let diff = diff.unified_diff().header(&name, "now").to_string();
            troubles.push(diff);
        }
    }
    for path in stands.iter().filter(|path| !made.contains_key(**path)) {
        troubles.push(format!(
            "{} has no input, or is not what comes of it\n",
            name(path)
        ));
    }
    assert!(
        troubles.is_empty(),
        "\n{}\nIf this is as it should be: SPEC_UPDATE=1 cargo spec\n",
        troubles.join("\n")
    );
}

/// Compiles a specification as its first lines ask.
fn specification(file: &Path, made: &mut BTreeMap<PathBuf, String>) {
    let folder = file.parent().expect("a file is in a folder");
    let name = file.file_name().unwrap().to_str().unwrap();
    let text = fs::read_to_string(file).unwrap_or_default();
    let beside = surroundings(file);
    let compile = |format: &[&str]| {
        let mut words = vec!["hence", "compile", name];
        words.extend(format);
        words.extend(beside.iter().map(String::as_str));
        words.extend(asked(&text, "options"));
        for semantics in asked(&text, "semantics") {
            words.extend(["--semantics", semantics]);
        }
        run(folder, &words)
    };
    let (exit, data, words) = compile(&["--pretty"]).apart();
    if exit == Exit::Done {
        made.insert(file.with_extension("expect"), data);
        for format in asked(&text, "formats") {
            let (_, data, _) = compile(&["--format", format]).apart();
            made.insert(file.with_extension(format), data);
        }
    }
    if !words.is_empty() {
        made.insert(file.with_extension("diagnostics"), words);
    }
}

/// The options of a manifest: for a node, with what lies in the folder of its name.
fn surroundings(file: &Path) -> Vec<String> {
    if extension(file) != "pp" {
        return Vec::new();
    }
    let mut options = Vec::new();
    let text = fs::read_to_string(file).unwrap_or_default();
    if !asked(&text, "options").contains(&"--node") {
        options.extend(["--node", "web1.example.org"].map(str::to_owned));
    }
    let name = file.file_stem().unwrap().to_str().unwrap();
    let beside = [
        ("--modulepath", "modules"),
        ("--hiera", "hiera.yaml"),
        ("--facts", "facts.json"),
    ];
    for (option, what) in beside {
        if file.with_extension("").join(what).exists() {
            options.extend([option.to_owned(), format!("{name}/{what}")]);
        }
    }
    options
}

/// The words behind `// key:` or `# key:` in the comment lines that a specification begins with.
fn asked<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let comment = |line: &'a str| line.strip_prefix("// ").or_else(|| line.strip_prefix("# "));
    let comments = text.lines().map_while(comment);
    let values = comments.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    values.flat_map(str::split_whitespace).collect()
}

/// Runs the commands of a transcript in a copy of its folder, and writes the transcript again. What
/// stands before the first command is prose, and stays. A command may read a file: `$ hence … < FILE`.
fn session(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a session is text");
    let folder = Copy::of(file.parent().expect("a file is in a folder"));
    let prose = text.lines().take_while(|line| !line.starts_with("$ "));
    let mut transcript: String = prose.flat_map(|line| [line, "\n"]).collect();
    let commands = text.lines().filter_map(|line| line.strip_prefix("$ "));
    for (number, command) in commands.enumerate() {
        if number > 0 {
            transcript.push('\n');
        }
        transcript.push_str(&format!("$ {command}\n"));
        let words = shell_words::split(command).expect("the words of a command");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let answer = match words.as_slice() {
            ["hence", .., "<", input] => {
                let input = fs::read(folder.0.join(input)).expect("the input is there");
                answer_to(&folder.0, &words[..words.len() - 2], input).together()
            }
            ["hence", ..] => run(&folder.0, &words).together(),
            ["cat", name] => {
                fs::read_to_string(folder.0.join(name)).unwrap_or_else(|error| format!("{error}\n"))
            }
            _ => panic!(
                "{}: only `hence` and `cat` can be run: {command}",
                file.display()
            ),
        };
        // The empty line behind a diagnostic parts it from the next one, which is not here.
        let answer = answer.trim_end_matches('\n');
        transcript.push_str(answer);
        if !answer.is_empty() {
            transcript.push('\n');
        }
    }
    transcript
}

/// A temporary copy of a folder, with `examples/` in it, that goes away when it is dropped.
struct Copy(PathBuf);

impl Copy {
    fn of(folder: &Path) -> Self {
        static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("session-{}-{number}", std::process::id());
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        copy_below(folder, &copy);
        copy_below(&workspace().join("examples"), &copy.join("examples"));
        Self(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A copy that is left behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy_below(from: &Path, to: &Path) {
    let Ok(entries) = fs::read_dir(from) else {
        return;
    };
    fs::create_dir_all(to).expect("the target directory can be written");
    for entry in entries {
        let path = entry.expect("the specification can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_below(&path, &target);
        } else {
            fs::copy(&path, &target).expect("the specification can be copied");
        }
    }
}

/// What a command did.
struct Answer {
    exit: Exit,
    output: Vec<Piece>,
}

/// Something that a command wrote.
struct Piece {
    stream: Stream,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Data,
    Words,
}

impl Answer {
    /// Data and words, each for themselves.
    fn apart(&self) -> (Exit, String, String) {
        let only = |stream| self.text(|piece| piece.stream == stream);
        (self.exit, only(Stream::Data), only(Stream::Words))
    }

    /// As on a terminal, and the exit code if it is not 0.
    fn together(&self) -> String {
        let text = self.text(|_| true);
        match self.exit {
            Exit::Done => text,
            exit => format!("{text}[exit {}]\n", exit.code()),
        }
    }

    fn text(&self, wanted: impl Fn(&Piece) -> bool) -> String {
        let pieces = self.output.iter().filter(|piece| wanted(piece));
        let bytes = pieces.flat_map(|piece| piece.bytes.iter().copied());
        String::from_utf8(bytes.collect()).expect("output is text")
    }
}

/// Runs a command within this process, with nothing to read.
fn run(directory: &Path, words: &[&str]) -> Answer {
    answer_to(directory, words, Vec::new())
}

/// Runs a command within this process.
fn answer_to(directory: &Path, words: &[&str], input: Vec<u8>) -> Answer {
    let output = Rc::new(RefCell::new(Vec::new()));
    let writer = |stream| {
        let output = Rc::clone(&output);
        Box::new(Writer { stream, output })
    };
    let mut world = World {
        directory: directory.to_owned(),
        stdout: writer(Stream::Data),
        stderr: writer(Stream::Words),
        attended: false,
        typed: false,
        colour: false,
        variable: |_| None,
        stdin: Box::new(io::Cursor::new(input)),
        now: || 1_769_860_800_000,
    };
    let exit = hence::run(words.iter().map(OsString::from), &mut world);
    drop(world);
    let output = output.take();
    Answer { exit, output }
}

/// Keeps what is written to a stream, in order with what is written to the other.
struct Writer {
    stream: Stream,
    output: Rc<RefCell<Vec<Piece>>>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.borrow_mut().push(Piece {
            stream: self.stream,
            bytes: bytes.to_vec(),
        });
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The files below a folder that are run, sorted.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the specification can be read") {
            let path = entry.expect("the specification can be read").path();
            if !path.is_dir() {
                files.push(path);
            } else if path.file_name().is_some_and(|name| name != "parts")
                && !path.with_extension("pp").exists()
            {
                folders.push(path);
            }
        }
    }
    files.sort();
    files
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
