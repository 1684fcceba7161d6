//! What only a real process shows: closed pipes, deep stacks, exit codes, plug-ins.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn hence(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    hence(arguments).output().expect("hence can be run")
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the target directory can be written");
    path.to_str().expect("the path is text").to_owned()
}

#[test]
fn a_reader_that_leaves_early_is_no_trouble() {
    let attributes: String = (0..100_000).map(|i| format!("a{i} {i};")).collect();
    let source = file("wide.sf", &format!("sfConfig extends {{ {attributes} }}"));
    for arguments in [["compile", &source], ["parse", &source]] {
        let mut command = hence(&arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("hence can be run");
        let mut start = [0; 10];
        let mut stdout = child.stdout.take().expect("it is piped");
        stdout.read_exact(&mut start).expect("something is printed");
        drop(stdout);
        let output = child.wait_with_output().expect("hence ends");
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty(), "nobody is there to be told");
    }
}

#[test]
fn a_hundred_thousand_levels_are_a_diagnostic_or_a_result() {
    let levels = 100_000;
    let blocks = format!(
        "sfConfig extends {{ {}{}",
        "a extends {".repeat(levels),
        "}".repeat(levels + 1)
    );
    let vectors = format!(
        "sfConfig extends {{ v {}{}; }}",
        "[".repeat(levels),
        "]".repeat(levels)
    );
    for (name, text) in [("blocks.sf", blocks), ("vectors.sf", vectors)] {
        let source = file(name, &text);
        for command in ["compile", "check", "parse"] {
            let refused = run(&[command, &source]);
            assert_eq!(refused.status.code(), Some(1), "{command} {name}");
            let words = String::from_utf8_lossy(&refused.stderr);
            assert!(words.contains("limit.depth"), "{command} {name}: {words}");

            let allowed = run(&[command, &source, "--max-depth", "1000000"]);
            assert_eq!(allowed.status.code(), Some(0), "{command} {name}");
        }
    }
}

#[test]
fn an_answer_grows_no_faster_than_what_it_is_about() {
    let sizes = [1_000, 10_000].map(|terms| {
        let names: Vec<String> = (0..terms).map(|term| format!("$T{term}")).collect();
        let definitions = (0..terms).map(|term| format!("private T{term} => {term}\n"));
        let definitions: String = definitions.collect();
        let text = format!("{definitions}Sum => {}\n", names.join(" + "));
        let source = file("terms.cf2", &text);
        let size = |options: &[&str]| {
            let answer = run(&[&["why", &source, "Sum"], options].concat());
            assert_eq!(answer.status.code(), Some(0), "{options:?}");
            answer.stdout.len()
        };
        let short = [&[][..], &["--format", "html"], &["--format", "dot"]].map(size);
        assert!(
            short[0] < 10_000,
            "the answer for people is short: {}",
            short[0]
        );
        assert!(short[1] < 3_000_000 && short[2] < 100_000, "{short:?}");
        [&["--full"][..], &["--format", "json"]].map(size)
    });
    for (small, large) in sizes[0].iter().zip(sizes[1]) {
        assert!(large < 15 * small, "{small} became {large}");
    }
}

#[cfg(unix)]
#[test]
fn what_the_system_refuses_is_not_the_fault_of_the_input() {
    let source = file("small.sf", "sfConfig extends { a 1; }");
    // Writing to this device always fails.
    if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
        let output = hence(&["compile", &source]).stdout(full).output();
        let output = output.expect("hence can be run");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("output.unwritable"));
    }
}

#[test]
fn a_result_is_written_whole_or_not_at_all() {
    let source = file("replaced.sf", "sfConfig extends { a 1; }");
    let result = file("replaced.json", "as it was");
    let written = run(&["compile", &source, "--out", &result]);
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(fs::read_to_string(&result).unwrap(), "{\"a\":1}\n");

    let mut source_file = fs::File::options().append(true).open(&source).unwrap();
    source_file.write_all(b"b nothing;").unwrap();
    let refused = run(&["compile", &source, "--out", &result]);
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(fs::read_to_string(&result).unwrap(), "{\"a\":1}\n");
}

#[test]
fn manuals_are_served() {
    let page = run(&["man"]);
    assert!(String::from_utf8_lossy(&page.stdout).contains(".TH hence 1"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man");
    fs::create_dir_all(&folder).unwrap();
    run(&["man", folder.to_str().unwrap()]);
    assert!(folder.join("hence-compile.1").is_file());
}

#[cfg(unix)]
#[test]
fn a_script_is_heard_while_it_runs() {
    use std::os::unix::process::ExitStatusExt;
    let folder = folder("heard");
    let loops = "print(\"begun\"); let sum = 0; loop { sum += [1, 2, 3].sum(); }";
    let source = file("loops.rhai", loops);
    let mut command = hence(&["console", &source]);
    let command = command.current_dir(&folder).env_remove("HENCE_DATA");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .expect("hence can be run");
    let mut begun = [0; 6];
    let stdout = child.stdout.as_mut().expect("it is piped");
    stdout.read_exact(&mut begun).expect("something is printed");
    assert_eq!(&begun, b"begun\n");
    // It has not come to its end when this is read.
    child.kill().expect("it is ours");
    let ended = child.wait().expect("it ends");
    assert_eq!((ended.code(), ended.signal()), (None, Some(9)));
}

#[test]
fn a_script_that_nobody_hears_does_its_work() {
    let folder = folder("unheard");
    let text = "for n in 1..=30000 { print(`line ${n}`); } fleet.add(\"node\", \"n1\");";
    let source = file("unheard.rhai", text);
    let mut command = hence(&["console", &source]);
    let command = command.current_dir(&folder).env_remove("HENCE_DATA");
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("hence can be run");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("hence ends");
    assert_eq!(output.status.code(), Some(0));
    let mut list = hence(&["list", "nodes"]);
    let list = list.current_dir(&folder).env_remove("HENCE_DATA").output();
    assert_eq!(list.expect("hence can be run").stdout, b"n1\n");
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    folder
}

/// Writes an executable script.
#[cfg(unix)]
fn script(folder: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    fs::write(&path, text).expect("the target directory can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Runs a command with a folder in front of the PATH.
#[cfg(unix)]
fn run_with(plugins: &Path, arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let rest = std::env::var("PATH").unwrap_or_default();
    let mut command = hence(arguments);
    command
        .env("PATH", format!("{}:{rest}", plugins.display()))
        .env_remove("HENCE_DATA")
        .current_dir(plugins)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("hence can be run");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin
        .write_all(input.as_bytes())
        .expect("somebody reads it");
    drop(stdin);
    let output = child.wait_with_output().expect("hence ends");
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[cfg(unix)]
#[test]
fn a_program_on_the_path_is_a_command() {
    let bin = folder("plugins");
    let greet = "#!/bin/sh\nread line\necho \"$line, $*\"\necho words >&2\nexit 7\n";
    script(&bin, "hence-greet", greet);
    let (code, data, words) = run_with(&bin, &["greet", "--of", "us all"], "hello\n");
    assert_eq!(
        (code, data.as_str(), words.as_str()),
        (Some(7), "hello, --of us all\n", "words\n")
    );

    let back = "#!/bin/sh\ncd /\n\"$HENCE\" list nodes\n";
    script(&bin, "hence-back", back);
    run_with(&bin, &["--data", "pool", "add", "nodes", "n1", "n2"], "");
    let (code, data, _) = run_with(&bin, &["--data", "pool", "back"], "");
    assert_eq!((code, data.as_str()), (Some(0), "n1\nn2\n"));

    script(&bin, "hence-dies", "#!/bin/sh\nkill -9 $$\n");
    let (code, _, words) = run_with(&bin, &["dies"], "");
    assert_eq!(code, Some(2));
    assert!(words.contains("`hence-dies` was killed"), "{words}");

    script(&bin, "hence-broken", "#!/no/such/program\n");
    let (code, _, words) = run_with(&bin, &["broken"], "");
    assert_eq!(code, Some(2));
    assert!(words.contains("plugin.cannot-run"), "{words}");
}

#[cfg(unix)]
#[test]
fn help_knows_plug_ins() {
    let bin = folder("listed");
    script(&bin, "hence-greet", "#!/bin/sh\necho \"about $1\"\n");
    script(&bin, "hence-list", "#!/bin/sh\necho not me\n");
    fs::write(bin.join("hence-notes"), "not a program").expect("the folder is ours");
    script(&bin, "hence-\u{1b}[31mred", "#!/bin/sh\n");
    for ask in ["help", "--help", "-h"] {
        let (_, data, _) = run_with(&bin, &[ask], "");
        assert!(data.contains("\nPlug-ins:\n  greet\n\n"), "{ask}: {data}");
        let (commands, below) = data.split_once("\nPlug-ins:").expect("it was found");
        assert!(commands.contains("\n  compile"), "{ask}: {data}");
        assert!(below.contains("\nExit codes: "), "{ask}: {data}");
    }
    let (_, data, _) = run_with(&bin, &["compile", "--help"], "");
    assert!(!data.contains("Plug-ins"), "{data}");
    let (code, data, _) = run_with(&bin, &["help", "greet"], "");
    assert_eq!((code, data.as_str()), (Some(0), "about --help\n"));

    let (code, _, words) = run_with(&bin, &["gret"], "");
    assert_eq!(code, Some(1));
    assert!(words.contains("'greet'"), "{words}");
    let (code, data, _) = run_with(&bin, &["list", "nodes"], "");
    assert_eq!(
        (code, data.as_str()),
        (Some(1), ""),
        "our own commands come first"
    );
}

#[cfg(unix)]
#[test]
fn a_path_may_be_as_it_likes() {
    let bin = folder("odd");
    script(&bin, "hence-greet", "#!/bin/sh\n");
    std::os::unix::fs::symlink("nowhere", bin.join("hence-gone")).expect("the folder is ours");
    fs::create_dir(bin.join("hence-folder")).expect("the folder is ours");
    let file = bin.join("hence-greet");
    let path = format!("/no/such/folder::{}:{}", file.display(), bin.display());
    let output = hence(&["--help"]).env("PATH", path).output();
    let output = output.expect("hence can be run");
    let data = String::from_utf8(output.stdout).expect("output is text");
    assert!(data.contains("\nPlug-ins:\n  greet\n\n"), "{data}");
    assert!(output.stderr.is_empty());
    let output = hence(&["--help"]).env_remove("PATH").output();
    let data = output.expect("hence can be run").stdout;
    assert!(!String::from_utf8_lossy(&data).contains("Plug-ins"));
}

#[test]
fn a_guide_stays_when_somebody_else_holds_the_ledger() {
    let folder = folder("held");
    let mut add = hence(&["add", "node", "n1"]);
    let added = add.current_dir(&folder).env_remove("HENCE_DATA").output();
    assert!(added.expect("hence can be run").status.success());

    let mut holder = Guide::begin(&folder);
    holder.answers("1", "which (nothing: back): ");
    let mut other = Guide::begin(&folder);
    other.answers("1", "what to do (nothing: the menu): ");
    drop(holder);
    other.answers("1", "which (nothing: back): ");
    let words = other.end();
    assert_eq!(words.matches("store.locked").count(), 1, "{words}");
}

/// A guide that is answered line by line.
struct Guide {
    child: std::process::Child,
    heard: Vec<u8>,
}

impl Guide {
    fn begin(folder: &Path) -> Self {
        let mut command = hence(&["guide"]);
        let command = command.current_dir(folder).env_remove("HENCE_DATA");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::piped()).spawn();
        let child = child.expect("hence can be run");
        let heard = Vec::new();
        let mut guide = Self { child, heard };
        guide.hears("what to do (nothing: the menu): ");
        guide
    }

    /// Answers, and reads until the next question.
    fn answers(&mut self, answer: &str, question: &str) {
        let stdin = self.child.stdin.as_mut().expect("it is piped");
        writeln!(stdin, "{answer}").expect("somebody reads it");
        self.hears(question);
    }

    fn hears(&mut self, question: &str) {
        let stdout = self.child.stdout.as_mut().expect("it is piped");
        self.heard.clear();
        while !self.heard.ends_with(question.as_bytes()) {
            let mut byte = [0];
            let read = stdout.read_exact(&mut byte);
            let heard = String::from_utf8_lossy(&self.heard);
            assert!(read.is_ok(), "`{question}` is not heard, but {heard}");
            self.heard.extend(byte);
        }
    }

    /// Leaves; what was wrong is what it said beside its questions.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut words = String::new();
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        stderr.read_to_string(&mut words).expect("words are text");
        let ended = self.child.wait().expect("it ends");
        assert_eq!(ended.code(), Some(0), "{words}");
        words
    }
}

impl Drop for Guide {
    fn drop(&mut self) {
        // Without an answer it leaves, and without us it would wait for one.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_new_command_works_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let bin = folder("new_commands");
    run_with(&bin, &["--data", "pool", "add", "nodes", "n1", "n2"], "");
    // Whatever is said about it, it stays a program.
    let said = "What we'd \"all\" like: $HOME, `id`, \\n";
    for (name, language) in [("from-sh", "sh"), ("from-python", "python")] {
        let new = ["new-command", name, "--language", language, "-d", said];
        let (code, _, words) = run_with(&bin, &new, "");
        assert_eq!(code, Some(0), "{words}");
        let data = fs::metadata(bin.join(format!("hence-{name}"))).expect("it was written");
        assert_eq!(data.permissions().mode() & 0o777, 0o755);
        if language == "python" && Command::new("python3").arg("--version").output().is_err() {
            continue;
        }
        let (code, data, words) = run_with(&bin, &["--data", "pool", name], "");
        assert_eq!((code, data.as_str()), (Some(0), "n1\nn2\n"), "{words}");
        let (code, data, _) = run_with(&bin, &["help", name], "");
        assert_eq!(code, Some(0));
        assert!(
            data.contains(said) && data.contains(&format!("hence {name}")),
            "{data}"
        );
        let (code, data, words) = run_with(&bin, &[name, "--wrong"], "");
        assert_eq!((code, data.as_str()), (Some(1), ""));
        assert!(words.contains("--wrong"), "{words}");
        let (code, _, words) = run_with(&bin, &["--data", "nowhere", name], "");
        assert_eq!(code, Some(1));
        assert!(words.contains("input.no-ledger"), "{words}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_no_source() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("with_a_pipe");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target directory can be written");
    fs::write(folder.join("a.sf"), "sfConfig extends { a 1; }").expect("it can be written");
    let pipe = folder.join("b.sf");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo can be run").success());
    let folder = folder.to_str().expect("the path is text");
    let checked = run(&["check", folder]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
}

#[test]
fn what_an_import_with_a_computed_name_finds_in_the_working_directory_counts() {
    let folder = folder("computed_import");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("the target directory can be written");
    };
    write("x.cf2", "Port => 80\n");
    write("y.cf2", "Port => 81\n");
    write("m.cf2", "N => x\nimport($N)\n");
    let answer = |arguments: &[&str]| {
        let output = hence(arguments).current_dir(&folder).output();
        let output = output.expect("hence can be run");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).expect("it is text")
    };
    let impact = answer(&["impact", "m.cf2:1:6", "--in", "m.cf2"]);
    assert!(impact.contains("Port"), "{impact}");
    let why = answer(&["why", "m.cf2", "Port", "--form", "dependency"]);
    assert!(why.contains("m.cf2:1:6"), "{why}");
}
