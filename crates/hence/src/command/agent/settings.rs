//! What is configured on a node, written in CF2.

use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf, absolute};
use std::time::Duration;

use hence_agent::{File, Form, Settings, Subsystem, Web};
use hence_cf2::Compiled;
use hence_closure::address::endpoint;
use hence_closure::server::Server;
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::path::{Path, Segment};
use hence_model::value::{Builder, Map, Value};

/// A setting is missing, unknown, or not what it should be.
pub const SETTING: Code = Code::new("agent.setting");

/// What is configured, with what only this program needs.
pub struct Configured {
    /// What the agent needs.
    pub settings: Settings,
    /// Whether the name of the node is written there.
    pub named: bool,
    /// Where the server is, if it is not where it was.
    pub server: Option<String>,
    /// The file with the certificates that the server's must be one of, if they are others than it enrolled with.
    pub certificates: Option<PathBuf>,
    /// A file that is compiled on the node.
    pub compile: Option<String>,
}

const NAMES: [&str; 16] = [
    "node",
    "server",
    "ca",
    "directory",
    "interval",
    "retry",
    "limit",
    "files",
    "survival",
    "advertise",
    "overrides",
    "subsystems",
    "restart_all",
    "facts",
    "compile",
    "http",
];
const FILE_NAMES: [&str; 4] = ["path", "template", "mode", "validate"];
const SUBSYSTEM_NAMES: [&str; 2] = ["restart", "reread"];
const HTTP_NAMES: [&str; 3] = ["root", "server", "listen"];

/// Reads settings from what was compiled; relative paths begin at `base`. All that is wrong is told.
pub fn read(compiled: &mut Compiled<'_>, base: &FilePath) -> Result<Configured, Vec<Diagnostic>> {
    let mut builder = Builder::default();
    compiled.send(&mut builder);
    let whole = match builder.finish() {
        Some(Value::Map(map)) => map,
        _ => Map::default(),
    };
    let mut reader = Reader {
        compiled,
        base,
        mistakes: Vec::new(),
    };
    let top = Path::default();
    reader.only(&top, &whole, &NAMES);
    let seconds = |reader: &mut Reader<'_, '_>, name: &str, usual: u64| {
        Duration::from_secs(reader.seconds(&top, &whole, name).unwrap_or(usual))
    };
    let interval = seconds(&mut reader, "interval", 300);
    let retry = seconds(&mut reader, "retry", 3600);
    let limit = seconds(&mut reader, "limit", 60);
    let node = reader.text(&top, &whole, "node");
    let directory = reader.text(&top, &whole, "directory");
    let directory = directory.unwrap_or_else(|| "/var/lib/hence".to_owned());
    let overrides = reader.text(&top, &whole, "overrides");
    let settings = Settings {
        node: node.clone().unwrap_or_default(),
        directory: reader.place(&directory),
        interval,
        retry,
        limit,
        files: reader.files(&top, &whole),
        survival: reader.texts(&top, &whole, "survival"),
        advertise: reader.texts(&top, &whole, "advertise"),
        overrides: overrides.map(|name| reader.place(&name)),
        subsystems: reader.subsystems(&top, &whole),
        restart_all: reader.text(&top, &whole, "restart_all"),
        facts: reader.command(&top, &whole, "facts"),
        web: reader.web(&top, &whole),
    };
    let server = reader.text(&top, &whole, "server");
    let certificates = reader.text(&top, &whole, "ca");
    let certificates = certificates.map(|name| reader.place(&name));
    let compile = reader.text(&top, &whole, "compile");
    if settings.files.is_empty() && settings.web.is_none() && reader.mistakes.is_empty() {
        let message = "it is not said which files to write, or which web sites to serve";
        let help = "`files => { site => { path => '/etc/site.conf' } }`";
        reader
            .mistakes
            .push(Diagnostic::error(SETTING, message).help(help));
    }
    if let Some(all) = &settings.restart_all
        && !settings.subsystems.contains_key(all)
    {
        let path = top.child(Segment::Key("restart_all".to_owned()));
        reader.mistake(
            &path,
            format!("there is no subsystem `{all}` in `subsystems`"),
        );
    }
    let compile = compile.map(|name| base.join(name).display().to_string());
    match reader.mistakes.is_empty() {
        true => Ok(Configured {
            named: node.is_some(),
            settings,
            server,
            certificates,
            compile,
        }),
        false => Err(reader.mistakes),
    }
}

struct Reader<'r, 'w> {
    compiled: &'r mut Compiled<'w>,
    base: &'r FilePath,
    mistakes: Vec<Diagnostic>,
}

impl Reader<'_, '_> {
    /// Notes what is wrong with the value at a path, where that is written.
    fn mistake(&mut self, path: &Path, message: String) {
        let mut mistake = Diagnostic::error(SETTING, message).path(path.joined('.'));
        if let Ok(explanation) = self.compiled.explain(path)
            && let Some(place) = explanation.place
        {
            mistake = mistake.at(place);
        }
        self.mistakes.push(mistake);
    }

    /// A block must have no other names than these.
    fn only(&mut self, at: &Path, block: &Map, names: &[&str]) {
        for (name, _) in block.iter().filter(|(name, _)| !names.contains(name)) {
            let path = at.child(Segment::Key(name.to_owned()));
            self.mistake(&path, format!("there is no setting `{}`", path.joined('.')));
            let help = match similar(name, names.iter().copied()).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", names.join("`, `")),
            };
            let mistake = self.mistakes.pop().expect("it was just noted");
            self.mistakes.push(mistake.help(help));
        }
    }

    fn wrong(&mut self, path: &Path, expected: &str) {
        self.mistake(path, format!("`{}` must be {expected}", path.joined('.')));
    }

    fn text(&mut self, at: &Path, block: &Map, name: &str) -> Option<String> {
        match block.get(name)? {
            Value::Text(text) if !text.is_empty() => Some(text.clone()),
            _ => {
                self.wrong(&at.child(Segment::Key(name.to_owned())), "text");
                None
            }
        }
    }

    fn seconds(&mut self, at: &Path, block: &Map, name: &str) -> Option<u64> {
        match block.get(name)? {
            Value::Integer(seconds @ 1..=31_536_000) => Some(*seconds as u64),
            _ => {
                let expected = "a number of seconds, from 1 to those of a year";
                self.wrong(&at.child(Segment::Key(name.to_owned())), expected);
                None
            }
        }
    }

    fn texts(&mut self, at: &Path, block: &Map, name: &str) -> Vec<String> {
        let texts = match block.get(name) {
            None => return Vec::new(),
            Some(Value::List(list)) => texts(list.as_slice()),
            Some(_) => None,
        };
        texts.unwrap_or_else(|| {
            self.wrong(&at.child(Segment::Key(name.to_owned())), "a list of texts");
            Vec::new()
        })
    }

    /// A command: a list of words, or a text that is split into words. No shell is asked.
    fn command(&mut self, at: &Path, block: &Map, name: &str) -> Option<Vec<String>> {
        let words = match block.get(name)? {
            Value::Text(text) => shell_words::split(text).ok(),
            Value::List(list) => texts(list.as_slice()),
            _ => None,
        };
        match words.filter(|words| !words.is_empty()) {
            Some(words) => Some(words),
            None => {
                let expected = "a command: its words, in one text or in a list";
                self.wrong(&at.child(Segment::Key(name.to_owned())), expected);
                None
            }
        }
    }

    /// The blocks in a block.
    fn blocks<'v>(
        &mut self,
        at: &Path,
        block: &'v Map,
        name: &str,
    ) -> Vec<(&'v str, Path, &'v Map)> {
        let path = at.child(Segment::Key(name.to_owned()));
        let Some(value) = block.get(name) else {
            return Vec::new();
        };
        let Value::Map(inner) = value else {
            self.wrong(&path, "a block");
            return Vec::new();
        };
        let mut blocks = Vec::new();
        for (name, value) in inner.iter() {
            let path = path.child(Segment::Key(name.to_owned()));
            match value {
                Value::Map(map) => blocks.push((name, path, map)),
                _ => self.wrong(&path, "a block"),
            }
        }
        blocks
    }

    fn files(&mut self, at: &Path, block: &Map) -> Vec<File> {
        let mut files: Vec<File> = Vec::new();
        for (_, at, block) in self.blocks(at, block, "files") {
            self.only(&at, block, &FILE_NAMES);
            let Some(path) = self.text(&at, block, "path") else {
                if block.get("path").is_none() {
                    self.mistake(&at, format!("`{}.path` is missing", at.joined('.')));
                }
                continue;
            };
            let path = self.place(&path).display().to_string();
            if files.iter().any(|file| file.path == path) {
                self.mistake(&at, format!("`{path}` is written twice"));
                continue;
            }
            let template = self.text(&at, block, "template");
            let mode = self.text(&at, block, "mode");
            let mode = mode.map(|mode| {
                u32::from_str_radix(&mode, 8)
                    .ok()
                    .filter(|mode| *mode <= 0o777)
            });
            if mode == Some(None) {
                let expected = "text of three octal digits, such as '600'";
                self.wrong(&at.child(Segment::Key("mode".to_owned())), expected);
            }
            files.push(File {
                form: match template {
                    None => Form::Parameters,
                    Some(name) => Form::Template(self.place(&name)),
                },
                mode: mode.flatten(),
                validate: self.command(&at, block, "validate"),
                path,
            });
        }
        files
    }

    fn subsystems(&mut self, at: &Path, block: &Map) -> BTreeMap<String, Subsystem> {
        let mut subsystems = BTreeMap::new();
        for (name, at, block) in self.blocks(at, block, "subsystems") {
            self.only(&at, block, &SUBSYSTEM_NAMES);
            let subsystem = Subsystem {
                restart: self.command(&at, block, "restart"),
                reread: self.command(&at, block, "reread"),
            };
            subsystems.insert(name.to_owned(), subsystem);
        }
        subsystems
    }

    /// The closure that serves web sites.
    fn web(&mut self, at: &Path, block: &Map) -> Option<Web> {
        let at = at.child(Segment::Key("http".to_owned()));
        let block = match block.get("http")? {
            Value::Map(block) => block,
            _ => {
                self.wrong(&at, "a block");
                return None;
            }
        };
        self.only(&at, block, &HTTP_NAMES);
        let root = self.text(&at, block, "root");
        if block.get("root").is_none() {
            self.mistake(&at, "`http.root` is missing".to_owned());
        }
        let server = self.text(&at, block, "server");
        let server = Server::of(server.as_deref().unwrap_or("apache"));
        if server.is_none() {
            let path = at.child(Segment::Key("server".to_owned()));
            self.wrong(&path, "`apache` or `nginx`");
        }
        let listen = match block.get("listen") {
            Some(Value::Text(one)) => vec![one.clone()],
            _ => self.texts(&at, block, "listen"),
        };
        let listen: Result<Vec<_>, _> = listen.iter().map(|text| endpoint(text)).collect();
        if listen.as_ref().is_ok_and(Vec::is_empty) || listen.is_err() {
            let path = at.child(Segment::Key("listen".to_owned()));
            self.wrong(
                &path,
                "where the server listens, such as '127.0.0.1:8080', or a list of such",
            );
        }
        Some(Web {
            root: self.place(&root?),
            server: server?,
            listen: listen.ok()?,
        })
    }

    fn place(&self, name: &str) -> PathBuf {
        let path = self.base.join(name);
        absolute(&path).unwrap_or(path)
    }
}

fn texts(values: &[Value]) -> Option<Vec<String>> {
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    values.iter().map(text).collect()
}
