//! A few sites, served by a closure and by a configuration that somebody wrote by hand, from the same content.
//!
//! The configuration by hand is as its author would have it: a root for each site, its index by name, one file of another
//! type, one redirect. The logs, how long connections are kept open and how files are read are the same.

use super::Size;
use hence_closure::address::Endpoint;
use hence_closure::closure::{self, Closure, Manner, Published};
use hence_closure::host::{Host, Machine, Signal};
use hence_closure::server::Server;
use hence_closure::words::{Subject, Words};
use hence_ledger::entry::Origin;
use hence_ledger::{Command, Key, Value};
use hence_store::{Refused, Request};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// So many sites there are.
const SITES: usize = 10;
/// So many directories each has.
const DIRECTORIES: usize = 5;
/// So many files each of these has.
const FILES: usize = 20;

/// A site about which very many types are said.
pub const TYPED: &str = "typed.test";

/// The name of a site.
pub fn name(number: usize) -> String {
    format!("site{number}.test")
}

/// Content for a site.
pub fn write_content(directory: &Path) -> io::Result<()> {
    for number in 0..DIRECTORIES {
        let below = directory.join(format!("d{number}"));
        fs::create_dir_all(&below)?;
        fs::write(below.join("index.html"), format!("<p>directory {number}\n"))?;
        fs::write(below.join("odd.dat"), [number as u8; 1000])?;
        for file in 0..FILES {
            let text = format!("<p>file {file} of {number}\n").repeat(150);
            fs::write(below.join(format!("f{file}.html")), text)?;
        }
    }
    fs::write(directory.join("index.html"), "<p>welcome\n")
}

/// A closure whose server stops when it is no longer needed.
pub struct Served {
    root: PathBuf,
}

impl Served {
    /// A new one.
    pub fn new(root: &Path, server: Server) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        let root = closure::init(&Machine, root, server).map_err(refused)?;
        Ok(Self { root })
    }

    /// Opens it.
    pub fn open(&self) -> io::Result<Closure<'static>> {
        Closure::open(&Machine, &self.root).map_err(refused)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.open().map(|mut closure| closure.stop());
    }
}

/// Asserts all of this, and nothing else.
pub fn commit(closure: &mut Closure<'_>, assertions: &[String]) -> io::Result<()> {
    let set = assertions.iter().map(|words| says(words));
    let command = Command::apply("bench", set.collect::<io::Result<_>>()?, &Words);
    change(closure, &command)
}

/// Commits a command.
pub fn change(closure: &mut Closure<'_>, command: &Command) -> io::Result<()> {
    let request = Request {
        author: "bench".to_owned(),
        owner: "bench".to_owned(),
        time: 0,
        message: String::new(),
        origin: Origin::Command("bench".to_owned()),
        objects: Vec::new(),
        if_version: None,
    };
    let manner = Manner {
        take: &[],
        dormant: true,
    };
    match closure.commit(&request, std::slice::from_ref(command), manner) {
        Ok(Published::New { .. }) => Ok(()),
        Ok(other) => Err(io::Error::other(format!("{other:?}"))),
        Err(error) => Err(refused(error)),
    }
}

/// The assertion that is written so.
pub fn says(words: &str) -> io::Result<(Key, Value)> {
    let wrong = |fault| io::Error::other(format!("{words}: {fault:?}"));
    let words: Vec<&str> = words.split(' ').collect();
    let (subject, rest) = Subject::read(&words).map_err(wrong)?;
    let said = subject.said(rest).map_err(wrong)?;
    Ok((subject.key(), Value::from(&said)))
}

/// The sites, as they are asserted.
pub fn assertions(
    closure: &Closure<'_>,
    content: &Path,
    endpoint: Endpoint,
    size: Size,
) -> io::Result<Vec<String>> {
    let stage = |path: &Path| {
        let bytes = fs::read(path)?;
        closure.content().stage_bytes(&bytes)
    };
    let tree = match closure.content().stage(content) {
        Ok(hence_closure::content::Staged::Tree(tree)) => tree,
        other => return Err(io::Error::other(format!("{other:?}"))),
    };
    let mut said = vec![format!("listen {endpoint}")];
    let names = (0..SITES).map(name).chain([TYPED.to_owned()]);
    for name in names {
        said.push(format!("host {name}"));
        said.push(format!("tree {name} / tree:{tree}"));
        said.push(format!("redirect {name} /old 301 /d0/"));
        said.push(format!("type {name} /d0/odd.dat application/x-odd"));
        let index = stage(&content.join("index.html"))?;
        said.push(format!("index {name} / blob:{index} text/html"));
        for number in 0..DIRECTORIES {
            let index = stage(&content.join(format!("d{number}/index.html")))?;
            said.push(format!("index {name} /d{number}/ blob:{index} text/html"));
        }
    }
    for number in 0..size.types {
        let directory = number % DIRECTORIES;
        said.push(format!(
            "type {TYPED} /d{directory}/x{number}.dat application/x-odd"
        ));
    }
    Ok(said)
}

/// A server with a configuration that was written by hand; it stops when it is no longer needed.
pub struct ByHand {
    process: PathBuf,
}

impl ByHand {
    /// Writes it into a directory of its own, and starts the server as the closure does its own.
    pub fn start(
        closure: &Closure<'_>,
        directory: &Path,
        content: &Path,
        endpoint: Endpoint,
    ) -> io::Result<Self> {
        let settings = closure.settings();
        for name in ["log", "run"] {
            let path = directory.join(name);
            fs::create_dir_all(&path)?;
            if let Some(user) = &settings.user {
                Machine.give(&path, user.user, user.group)?;
            }
        }
        let text = match settings.server {
            Server::Apache => apache(closure, directory, content, endpoint)?,
            Server::Nginx => nginx(directory, content, endpoint),
        };
        let main = directory.join(settings.server.main_file());
        fs::write(&main, text)?;
        let command = settings.server.start(&settings.program, directory, &main);
        let ran = Machine.run(&settings.as_server(command), LIMIT)?;
        ran.well().map_err(io::Error::other)?;
        let process = directory.join("run/server.pid");
        Ok(Self { process })
    }
}

/// How long a server may take to start.
const LIMIT: Duration = Duration::from_secs(60);

impl Drop for ByHand {
    fn drop(&mut self) {
        let process = fs::read_to_string(&self.process).ok();
        if let Some(process) = process.and_then(|process| process.trim().parse().ok()) {
            let _ = Machine.signal(process, Signal::End);
        }
    }
}

/// The modules that it needs are where the closure found them.
fn apache(
    closure: &Closure<'_>,
    directory: &Path,
    content: &Path,
    endpoint: Endpoint,
) -> io::Result<String> {
    let ours = closure.root().join("current/httpd.conf");
    let ours = fs::read_to_string(ours)?;
    let mut text = String::new();
    for line in ours.lines().filter(|line| {
        line.starts_with("LoadModule") && !line.contains("rewrite") && !line.contains("headers")
    }) {
        let _ = writeln!(text, "{line}");
    }
    let (directory, content) = (directory.display(), content.display());
    let _ = write!(
        text,
        r#"TypesConfig /dev/null
AddType text/html .html
ServerRoot "{directory}"
ServerName localhost
PidFile "{directory}/run/server.pid"
DefaultRuntimeDir "{directory}/run"
Mutex "file:{directory}/run" default
ErrorLog "{directory}/log/error.log"
LogFormat "%h %l %u %t \"%r\" %>s %b" common
CustomLog "{directory}/log/access.log" common
ServerTokens Prod
KeepAliveTimeout 2
EnableMMAP Off
Listen {endpoint}
<Directory "/">
  Options FollowSymLinks
  AllowOverride None
  Require all denied
</Directory>
<Directory "{content}">
  Require all granted
</Directory>
"#
    );
    for number in 0..SITES {
        let _ = write!(
            text,
            r#"<VirtualHost {endpoint}>
  ServerName {}
  DocumentRoot "{content}"
  DirectoryIndex index.html
  Redirect 301 /old /d0/
  <Directory "{content}/d0">
    <Files "odd.dat">
      ForceType application/x-odd
    </Files>
  </Directory>
</VirtualHost>
"#,
            name(number)
        );
    }
    Ok(text)
}

fn nginx(directory: &Path, content: &Path, endpoint: Endpoint) -> String {
    let (directory, content) = (directory.display(), content.display());
    let mut text = format!(
        "pid {directory}/run/server.pid;\nworker_processes 2;\nevents {{\n  worker_connections 1024;\n}}\nhttp {{\n  \
         access_log {directory}/log/access.log combined;\n  sendfile on;\n  tcp_nopush on;\n  server_tokens off;\n  \
         keepalive_timeout 5;\n  default_type application/octet-stream;\n  types {{\n    text/html html;\n  }}\n"
    );
    for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        let _ = writeln!(text, "  {name}_temp_path {directory}/run/{name};");
    }
    for number in 0..SITES {
        let _ = write!(
            text,
            "  server {{\n    listen {endpoint};\n    server_name {};\n    root {content};\n    index index.html;\n    \
             location = /old {{ return 301 /d0/; }}\n    location = /d0/odd.dat {{ types {{ }} default_type \
             application/x-odd; }}\n  }}\n",
            name(number)
        );
    }
    text.push_str("}\n");
    text
}

/// Why a closure does not do something.
pub fn refused(refused: Refused) -> io::Error {
    io::Error::other(format!("{refused:?}"))
}
