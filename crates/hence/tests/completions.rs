//! What a shell is answered while somebody types.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory that goes with the test, with a small fleet in it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("completions-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let directory = Self(path);
        std::fs::write(directory.0.join("site.sf"), "sfConfig extends {}\n").unwrap();
        for words in [
            "add params PORT PATH",
            "add feature Web",
            "add group web",
            "add nodes web1 web2 db1",
            "snapshot monday",
        ] {
            let done = directory.hence().args(words.split(' ')).output().unwrap();
            assert!(done.status.success(), "{words}");
        }
        directory
    }

    fn hence(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hence"));
        command.current_dir(&self.0);
        for variable in ["HENCE_DATA", "HENCE_SERVER", "HENCE_TOKEN"] {
            command.env_remove(variable);
        }
        command
    }

    /// What could come next, as a shell that shows explanations is told.
    fn next(&self, typed: &str) -> Vec<String> {
        let output = self
            .hence()
            .env("HENCE_COMPLETE", "fish")
            .args(["--", "hence"])
            .args(typed.split(' '))
            .output()
            .unwrap();
        assert!(output.status.success(), "{typed}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let words = lines.lines().map(|line| line.split('\t').next());
        words.flatten().map(str::to_owned).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_could_come_next_is_known_in_each_place() {
    let here = Directory::new("places");
    for (typed, next) in [
        ("exp", "explain export"),
        ("explain web", "web1 web2"),
        ("explain web1 P", "PATH PORT"),
        ("explain --at m", "monday"),
        ("--data .hence explain d", "db1"),
        ("explain --data nowhere n", ""),
        ("show n", "node"),
        ("show node d", "db1"),
        ("list n", "nodes"),
        ("restore ", "monday"),
        (
            "add ",
            "default feature group node param skeleton subsystem",
        ),
        ("add node web1 ", "feature group param"),
        ("add node web1 feature ", "Web"),
        ("add nodes w", "web1 web2"),
        ("set default ", "feature node param"),
        ("set -m why default f", "feature"),
        ("remove nonsense n", ""),
        ("completions ", "bash elvish fish powershell zsh"),
        ("plan --data .hence --p", "--percent"),
        ("state --form", "--format"),
        ("help sf.parent", "sf.parent-missing sf.parent-not-block"),
        ("help what", ""),
        ("compile s", "site.sf"),
        ("why s", "site.sf"),
        ("why w", "web1 web2"),
        ("why site.sf --format d", "dot"),
        ("--diag", "--diagnostics"),
    ] {
        let mut answer = here.next(typed);
        answer.sort();
        assert_eq!(answer.join(" "), next, "{typed}");
    }
}

#[test]
fn who_asks_nothing_is_told_nothing() {
    let here = Directory::new("nothing");
    for (shell, words) in [
        ("fish", &[][..]),
        ("fish", &["--"]),
        ("bash", &["--"]),
        ("cmd", &["--", "hence", "w"]),
    ] {
        let output = here
            .hence()
            .env("HENCE_COMPLETE", shell)
            .args(words)
            .output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{shell} {words:?}");
        assert!(output.stdout.is_empty() && output.stderr.is_empty());
    }
}

#[test]
fn a_shell_completes_by_the_script() {
    let here = Directory::new("bash");
    let script = here.hence().args(["completions", "bash"]).output().unwrap();
    assert!(script.status.success());
    std::fs::write(here.0.join("hence.bash"), script.stdout).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_hence")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let completed = Command::new("bash")
        .args(["--norc", "-c"])
        .arg(
            "source ./hence.bash; COMP_WORDS=(hence explain web); COMP_CWORD=2
             $(complete -p hence | sed 's/.*-F \\([^ ]*\\).*/\\1/') hence web explain
             printf '%s\\n' \"${COMPREPLY[@]}\"",
        )
        .current_dir(&here.0)
        .env("PATH", format!("{}:{path}", program.display()))
        .env_remove("HENCE_SERVER")
        .env_remove("HENCE_DATA")
        .output()
        .unwrap();
    let answer = String::from_utf8(completed.stdout).unwrap();
    let words = String::from_utf8(completed.stderr).unwrap();
    assert_eq!(answer.trim(), "web1\nweb2", "{words}");
}
