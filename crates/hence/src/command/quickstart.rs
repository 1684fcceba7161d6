//! `hence quickstart`: all of it on this machine, for a first look.
//!
//! The example of the corner shop is compiled and pushed; a service with its page, three agents and, where a web server is
//! installed, closures run it, each a process of its own as they would be elsewhere. All of it ends with this command.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Args;
use hence_closure::closure::{self, Closure};
use hence_closure::host::Machine;
use hence_closure::server::Server;
use hence_model::diagnostic::{Code, Diagnostic};

use crate::console::Console;
use crate::result::{secretly, unwritable};
use crate::{Exit, Stop, signals};

/// The first look did not come about.
pub const QUICKSTART: Code = Code::new("quickstart.failed");

/// Run the example of a small organisation on this machine, and say what to try
#[derive(Args)]
pub struct Quickstart {
    /// Keep everything in this directory, which must be empty; without it, nothing is left behind
    #[arg(long, value_name = "DIRECTORY")]
    keep: Option<String>,
    /// Where the service and its page listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
}

/// The files of the example.
const FILES: [(&str, &str); 5] = [
    (
        "fleet.cf2",
        include_str!("../../../../examples/shop/fleet.cf2"),
    ),
    (
        "database.sf",
        include_str!("../../../../examples/shop/database.sf"),
    ),
    (
        "machines.pp",
        include_str!("../../../../examples/shop/machines.pp"),
    ),
    (
        "www/index.html",
        include_str!("../../../../examples/shop/www/index.html"),
    ),
    (
        "www/products/index.html",
        include_str!("../../../../examples/shop/www/products/index.html"),
    ),
];

const NODES: [&str; 3] = ["web1", "web2", "web3"];

/// So long all nodes may take to run what is activated.
const PATIENCE: Duration = Duration::from_secs(60);

impl Quickstart {
    /// Runs it until somebody ends it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        // Whoever ends it while it starts ends all that has started.
        let (ended, end) = mpsc::channel();
        signals::heed(move || {
            let _ = ended.send(());
        });
        if !self.listen.ip().is_loopback() {
            let message = format!("`{}` is not on this machine alone", self.listen);
            let help = "`hence serve --listen` is for others, too";
            return Err(refused(message, help));
        }
        let program = std::env::current_exe().map_err(unstarted)?;
        let mut shop = Shop {
            folder: self.folder(console)?,
            is_kept: self.keep.is_some(),
            program,
            server: String::new(),
            processes: Vec::new(),
            sites: Vec::new(),
        };
        let ran = shop.run(console, self.listen, &end);
        // Whoever ends all of it at once, as Ctrl-C does, also ends what it was just waiting for.
        let is_ended = matches!(ran, Ok(()) | Err(Stop::Closed)) || end.try_recv().is_ok();
        console.end_progress();
        shop.close();
        match shop.is_kept {
            true => console.say(&format!(
                "ended; all of it is in `{}`",
                shop.folder.display()
            )),
            false => console.say("ended; nothing is left behind"),
        }
        match is_ended {
            true => Ok(Exit::Done),
            false => ran.map(|()| Exit::Done),
        }
    }

    /// An empty directory, in which web servers can be configured.
    fn folder(&self, console: &Console<'_>) -> Result<PathBuf, Stop> {
        let path = match &self.keep {
            Some(name) => console.path(name),
            None => std::env::temp_dir(),
        };
        let shown = path.display().to_string();
        if let Some(odd) = closure::odd(&path) {
            let message =
                format!("no web server can serve from `{shown}`, which has `{odd}` in it");
            let help = "`--keep DIRECTORY` names another one";
            return Err(refused(message, help));
        }
        let made = match &self.keep {
            Some(_) => {
                if fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some()) {
                    let help = "name a directory that is not there yet";
                    return Err(refused(format!("`{shown}` is not empty"), help));
                }
                fs::create_dir_all(&path).map(|()| path)
            }
            None => of_our_own(&path),
        };
        let made = made.and_then(fs::canonicalize);
        made.map_err(|error| unwritable(&shown, &error))
    }
}

/// A directory that nobody else has made: what is written there is to be trusted.
fn of_our_own(above: &Path) -> io::Result<PathBuf> {
    for attempt in 0.. {
        let path = above.join(format!("hence-quickstart-{}-{attempt}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Everything that runs.
struct Shop {
    folder: PathBuf,
    is_kept: bool,
    program: PathBuf,
    server: String,
    /// The service first.
    processes: Vec<Child>,
    /// Nodes that serve web sites, by which server, and where.
    sites: Vec<(&'static str, Server, SocketAddr)>,
}

impl Shop {
    /// Starts all of it, says what to try, and waits until somebody ends it.
    fn run(
        &mut self,
        console: &mut Console<'_>,
        listen: SocketAddr,
        end: &Receiver<()>,
    ) -> Result<(), Stop> {
        if self.open(console, listen, end)? {
            self.tell(console)?;
            // If nobody can end it, nobody will.
            let _ = end.recv();
        }
        Ok(())
    }

    /// Starts all of it; `false` if somebody ended it meanwhile.
    fn open(
        &mut self,
        console: &mut Console<'_>,
        listen: SocketAddr,
        end: &Receiver<()>,
    ) -> Result<bool, Stop> {
        for (name, text) in FILES {
            self.write(name, text)?;
        }
        for (file, more) in [
            ("fleet.cf2", &[][..]),
            ("database.sf", &[]),
            ("machines.pp", &["--node", "web1"]),
        ] {
            console.progress(&format!("compiling {file}"));
            self.hence(&[&["check", file], more].concat())?;
        }
        console.progress("starting the service");
        self.serve(listen)?;
        self.hence(&["push", "fleet.cf2", "--owner", "shop"])?;
        self.hence(&["push", "database.sf", "--owner", "database"])?;
        self.hence(&["activate"])?;
        for node in NODES {
            console.progress(&format!("starting the agent of {node}"));
            self.join(node)?;
        }
        let env = secretly(&self.folder.join("env"), self.environment().as_bytes());
        env.map_err(|error| unwritable("env", &error))?;
        let limit = Instant::now() + PATIENCE;
        loop {
            let inventory = self.hence(&["inventory", "--format", "json"])?;
            let nodes: serde_json::Value = serde_json::from_str(&inventory).unwrap_or_default();
            let mut nodes = nodes.as_array().into_iter().flatten();
            let is_done = nodes.all(|node| node["applied_version"] == node["last_updated_version"]);
            console.progress("waiting for the agents");
            match end.recv_timeout(Duration::from_millis(200)) {
                Ok(()) => return Ok(false),
                Err(RecvTimeoutError::Timeout) => {}
                // Nobody can end it, so it waits without being told.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
            if is_done {
                console.end_progress();
                return Ok(true);
            }
            if Instant::now() > limit {
                let message = "the agents do not run what is activated";
                return Err(broken(message, &self.hence(&["inventory"])?));
            }
        }
    }

    fn serve(&mut self, listen: SocketAddr) -> Result<(), Stop> {
        let listen = listen.to_string();
        let log = fs::File::create(self.folder.join("log"));
        let mut serving = self
            .command(&["serve", "--listen", &listen, "--data", "ledger"])
            .args(["--log", "none", "--admin-token-file", "token"])
            .stdout(Stdio::piped())
            .stderr(log.map_err(|error| unwritable("log", &error))?)
            .spawn()
            .map_err(unstarted)?;
        let mut line = String::new();
        if let Some(stdout) = &mut serving.stdout {
            // A service that says nothing has not started.
            let _ = BufReader::new(stdout).read_line(&mut line);
        }
        self.processes.push(serving);
        match line.trim().strip_prefix("listening at ") {
            Some(server) => server.clone_into(&mut self.server),
            None => {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                return Err(broken("the service does not start", &log));
            }
        }
        Ok(())
    }

    /// Starts the agent of a node. The nodes take turns with the web servers that are installed.
    fn join(&mut self, node: &'static str) -> Result<(), Stop> {
        let installed = [Server::Apache, Server::Nginx]
            .into_iter()
            .filter(|server| {
                let mut programs = server.programs().iter();
                programs.any(|program| Path::new(program).exists())
            });
        let installed: Vec<Server> = installed.collect();
        let mut settings = format!(
            "node => {node}\ndirectory => 'state'\ninterval => 2\nretry => 5\n\
             files => {{ shop => {{ path => 'shop.conf' }} }}\n\
             // What a web server would be told to do: here nothing has to be done.\n\
             subsystems => {{ httpd => {{ restart => 'true' }} }}\n"
        );
        if let Some(server) = installed.get(self.sites.len() % installed.len().max(1)) {
            let endpoint = hence_loopback::reserve().map_err(unstarted)?;
            settings.push_str(&format!(
                "http => {{ root => 'web', server => {}, listen => '{endpoint}' }}\n",
                server.word()
            ));
            self.sites.push((node, *server, endpoint));
        }
        self.write(&format!("{node}/agent.cf2"), &settings)?;
        // Web servers that root starts are somebody else, and must get to what they serve.
        self.admit("", 0o755)?;
        self.admit(node, 0o755)?;
        let word = self.hence(&["token", "join", "--node", node])?;
        let log = fs::File::create(self.folder.join(node).join("log"));
        let agent = self
            .command(&["agent", "--config", "agent.cf2", "--join", "-"])
            .current_dir(self.folder.join(node))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log.map_err(|error| unwritable("log", &error))?)
            .spawn();
        let mut agent = agent.map_err(unstarted)?;
        let stdin = agent.stdin.take();
        self.processes.push(agent);
        // An agent that ended already says why in its log.
        let _ = stdin.expect("it is piped").write_all(word.as_bytes());
        Ok(())
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Stop> {
        let path = self.folder.join(name);
        let above = path.parent().unwrap_or(&self.folder);
        let written = fs::create_dir_all(above).and_then(|()| fs::write(&path, text));
        written.map_err(|error| unwritable(name, &error))
    }

    fn admit(&self, name: &str, mode: u32) -> Result<(), Stop> {
        let path = self.folder.join(name);
        let set = fs::set_permissions(&path, fs::Permissions::from_mode(mode));
        set.map_err(|error| unwritable(name, &error))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.folder);
        for variable in ours() {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null());
        command
    }

    /// What a command prints that goes well.
    fn hence(&self, words: &[&str]) -> Result<String, Stop> {
        let mut command = self.command(words);
        if !self.server.is_empty() {
            command.env("HENCE_SERVER", &self.server);
            command.env("HENCE_TOKEN", self.token());
        }
        let output = command.output().map_err(unstarted)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(broken(
                    &format!("`hence {}` failed", words.join(" ")),
                    &said,
                ))
            }
        }
    }

    /// The token of the administrator.
    fn token(&self) -> String {
        let token = fs::read_to_string(self.folder.join("token")).unwrap_or_default();
        token.trim().to_owned()
    }

    /// What a shell reads so that `hence` is this one, and speaks to this service.
    fn environment(&self) -> String {
        let program = self.program.parent().unwrap_or(Path::new("."));
        let elsewhere: String = ours().map(|name| format!("unset {name}\n")).collect();
        format!(
            "cd {}\nPATH={}:$PATH\nexport PATH\n{elsewhere}export HENCE_SERVER={}\nexport HENCE_TOKEN={}\n",
            quoted(&self.folder),
            quoted(program),
            self.server,
            self.token()
        )
    }

    /// Says what runs, and what to try.
    fn tell(&self, console: &mut Console<'_>) -> Result<(), Stop> {
        let data = console.data();
        writeln!(
            data,
            "The corner shop is open: a service, and three nodes that run what it says.\n"
        )?;
        writeln!(data, "  page   {}/   token {}", self.server, self.token())?;
        for (node, server, endpoint) in &self.sites {
            writeln!(
                data,
                "  {node}   http://{endpoint}/   by {}, for the host shop.test",
                server.word()
            )?;
        }
        if self.sites.is_empty() {
            writeln!(
                data,
                "  Neither Apache nor nginx is installed here, so its web sites are not served."
            )?;
        }
        writeln!(
            data,
            "\nIn another terminal:\n\n  . {}\n",
            quoted(&self.folder.join("env"))
        )?;
        for (question, commands) in self.trials() {
            writeln!(data, "{question}")?;
            for command in commands {
                writeln!(data, "  {command}")?;
            }
        }
        writeln!(data, "\nCtrl-C ends it.")?;
        data.flush()?;
        Ok(())
    }

    /// Questions, and commands that answer them.
    fn trials(&self) -> Vec<(&'static str, Vec<String>)> {
        let words = |commands: &[&str]| commands.iter().map(|one| (*one).to_owned()).collect();
        let ask = |path: &str| {
            let (_, _, endpoint) = self.sites.first()?;
            Some(format!(
                "curl -s -w '\\n' -H 'Host: shop.test' http://{endpoint}{path}"
            ))
        };
        let mut of_urls: Vec<String> = ask("/hours").into_iter().collect();
        of_urls.push("hence why http://shop.test/hours".to_owned());
        let mut change: Vec<String> = words(&[
            "sed -i.old 's/nine to five/ten to six/' fleet.cf2",
            "hence push fleet.cf2 --owner shop",
            "hence plan",
            "hence activate",
            "hence inventory",
        ]);
        change.extend(ask("/hours"));
        vec![
            (
                "Why is this value what it is? In CF2, SmartFrog and Puppet:",
                words(&[
                    "hence why fleet.cf2 features.Shop.parameters.WORKERS",
                    "hence why database.sf fleet:default:parameters:DB_POOL",
                    "hence why machines.pp 'Cron[backup].hour' --node web1",
                ]),
            ),
            (
                "Why does a node have this parameter?",
                words(&["hence explain web1 LOG_LEVEL"]),
            ),
            ("Why does a URL answer this?", of_urls),
            (
                "What will this change do, and where? Nodes run it within seconds:",
                change,
            ),
            (
                "A mistake is refused, and says why:",
                words(&["hence set group web param WORKERS=many"]),
            ),
            (
                "And all of it is taken back:",
                words(&["hence undo", "hence activate"]),
            ),
        ]
    }

    /// Ends everything, the agents before the service.
    fn close(&mut self) {
        while let Some(mut process) = self.processes.pop() {
            // A process that has ended needs no word.
            let number = i32::try_from(process.id()).ok();
            if let Some(number) = number.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(number, rustix::process::Signal::TERM);
            }
            let _ = process.wait();
        }
        for (node, ..) in &self.sites {
            let root = self.folder.join(node).join("web");
            if let Ok(mut closure) = Closure::open(&Machine, &root) {
                let _ = closure.stop();
            }
        }
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// What is set here for commands of ours, and is not about this example.
fn ours() -> impl Iterator<Item = String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.starts_with("HENCE_"))
}

fn refused(message: String, help: &str) -> Stop {
    Stop::Refused(Box::new(Diagnostic::error(QUICKSTART, message).help(help)))
}

fn broken(message: &str, said: &str) -> Stop {
    let mut trouble = Diagnostic::error(QUICKSTART, message);
    let said = said.trim();
    if !said.is_empty() {
        trouble = trouble.help(said.to_owned());
    }
    Stop::Failed(Box::new(trouble))
}

fn unstarted(error: io::Error) -> Stop {
    broken("a process cannot be started", &error.to_string())
}

/// A path as one word for a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/._-".contains(character);
    match path.chars().all(is_plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}
