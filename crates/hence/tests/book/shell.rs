//! A shell for one page, in a folder of its own and on a machine that nobody else is on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a command came to.
pub struct Done {
    /// What it printed, on both ways.
    pub said: String,
    /// How it ended.
    pub code: i32,
}

/// A folder with the examples, and what is to be done in it.
pub struct Shell {
    folder: PathBuf,
    commands: Vec<String>,
}

impl Shell {
    /// An empty session for a page.
    pub fn new(name: &str) -> Self {
        // Web servers that are started by root must get there.
        let folder = format!("hence-book-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let commands = Vec::new();
        Self { folder, commands }
    }

    /// Has a command done, behind the others; the number of its answer.
    pub fn command(&mut self, command: &str) -> usize {
        self.commands.push(command.to_owned());
        self.commands.len() - 1
    }

    /// Does everything, and says what came of each command; if one ends the shell, it is the last.
    ///
    /// Each page has its own network, so addresses may be fixed, and its own processes, which end with it.
    pub fn run(self) -> Vec<Done> {
        fs::create_dir_all(self.folder.join("home")).expect("a temporary folder can be made");
        copy_below(&workspace().join("examples"), &self.folder.join("examples"));
        let quote = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let mut script = String::from("exec 2>&1\n");
        for command in &self.commands {
            script.push_str("printf '\\036'\n");
            script.push_str(&format!("eval {} </dev/null\n", quote(command)));
            script.push_str("printf '\\037%s' $?\n");
        }
        fs::write(self.folder.join("home/page.sh"), script).expect("the folder is ours");
        let hosts = "127.0.0.1 localhost hub.example.org\n";
        fs::write(self.folder.join("home/hosts"), hosts).expect("the folder is ours");
        let is_root = rustix::process::getuid().is_root();
        let (user, group) = (
            rustix::process::getuid().as_raw(),
            rustix::process::getgid().as_raw(),
        );
        let (allowed, machine) = match is_root {
            true => ("", "exec".to_owned()),
            // Whoever is not root is it for a moment, to make the network and folders, and then again who they are.
            false => (
                "--map-root-user",
                format!("exec unshare --user --map-user={user} --map-group={group}"),
            ),
        };
        let output = self.folder.join("home/output");
        let into = fs::File::create(&output).expect("the folder is ours");
        let hence = Path::new(env!("CARGO_BIN_EXE_hence"));
        let path = [
            hence.parent().expect("a program is in a folder"),
            &self.folder.join("home/bin"),
        ]
        .map(|folder| folder.display().to_string())
        .join(":");
        let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
        let ended = Command::new("timeout")
            .args(["--signal=KILL", "300", "unshare"])
            .args(allowed.split_whitespace())
            .args(["--net", "--pid", "--mount", "--mount-proc", "--fork"])
            .args(["--kill-child", "sh", "-c"])
            .arg(format!(
                "ip link set lo up && mount --bind home/hosts /etc/hosts && mount -t tmpfs -o mode=755 none /srv \
                 && {machine} bash home/page.sh"
            ))
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.join("home"))
            .env("GNUPGHOME", self.folder.join("home/gnupg"))
            .env("PROJECT", workspace())
            .env("PYTHONPATH", workspace().join("clients/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs([("USER", "ann"), ("LOGNAME", "ann"), ("TZ", "UTC")])
            .envs([("LC_ALL", "C.UTF-8"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .stdin(Stdio::null())
            .stdout(into)
            .stderr(Stdio::inherit())
            .status()
            .expect("a shell can be started");
        let said = fs::read(&output).expect("the folder is ours");
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut done = Vec::new();
        for answer in said.split('\u{1e}').skip(1) {
            let (said, code) = answer.split_once('\u{1f}').unwrap_or((answer, ""));
            // Whoever works in the background may speak behind the number.
            let code: String = code.chars().take_while(char::is_ascii_digit).collect();
            let code = code.parse().unwrap_or(ended.code().unwrap_or(1).max(1));
            let said = said.to_owned();
            done.push(Done { said, code });
        }
        assert!(!done.is_empty(), "no shell could be started: {ended}");
        let _ = fs::remove_dir_all(&self.folder);
        done
    }
}

/// The folder of the whole project.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn copy_below(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder is ours");
    for entry in fs::read_dir(from).expect("the examples are there") {
        let path = entry.expect("the examples can be read").path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        match path.is_dir() {
            true => copy_below(&path, &target),
            false => drop(fs::copy(&path, &target).expect("the examples can be copied")),
        }
    }
}
