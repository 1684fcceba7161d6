//! Web servers: how each is configured for a site, started, and told that its configuration is another one.

pub mod apache;
pub mod nginx;

use std::path::{Path, PathBuf};

use hence_ledger::Hash;

use crate::host::Signal;
use crate::site::Site;

/// A kind of web server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Apache's HTTP server.
    Apache,
    /// nginx.
    Nginx,
}

/// What a configuration is made for.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The root of the closure, without any links in its way.
    pub root: PathBuf,
    /// The number of the generation.
    pub generation: u64,
}

/// A configuration. What it includes is kept by its hash, so generations share what does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The file that the server begins with.
    pub main: String,
    /// The files that it includes.
    pub parts: Vec<(Hash, String)>,
}

impl Configuration {
    /// Adds a part, and says where it will be.
    fn part(&mut self, root: &Path, text: String) -> String {
        let hash = Hash::of(text.as_bytes());
        self.parts.push((hash, text));
        format!("{}/part/{hash}", root.display())
    }
}

/// Content of fewer bytes need not be sent compressed.
pub const LEAST: usize = 256;

/// The name of the host that answers for all names that nobody asserted.
pub const UNKNOWN: &str = "unknown.invalid";

/// The header by which an answer says to which generation it belongs.
pub const GENERATION: &str = "X-Hence-Generation";

impl Server {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Apache, Self::Nginx];

    /// The server with this name.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|server| server.word() == word)
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Server::Apache => "apache",
            Server::Nginx => "nginx",
        }
    }

    /// Where its program may be.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Server::Apache => &["/usr/sbin/apache2", "/usr/sbin/httpd", "/usr/bin/httpd"],
            Server::Nginx => &["/usr/sbin/nginx", "/usr/bin/nginx"],
        }
    }

    /// The package of Debian that it is in.
    pub fn package(self) -> &'static str {
        match self {
            Server::Apache => "apache2",
            Server::Nginx => "nginx-light",
        }
    }

    /// The name of the file that it begins with.
    pub fn main_file(self) -> &'static str {
        match self {
            Server::Apache => "httpd.conf",
            Server::Nginx => "nginx.conf",
        }
    }

    /// The configuration for a site.
    pub fn configure(self, site: &Site, setting: &Setting) -> Configuration {
        match self {
            Server::Apache => apache::configure(site, setting),
            Server::Nginx => nginx::configure(site, setting),
        }
    }

    /// The command that tests a configuration.
    pub fn test(self, program: &str, root: &Path, configuration: &Path) -> Vec<String> {
        let mut command = self.command(program, root, configuration);
        command.push("-t".to_owned());
        command
    }

    /// The command that starts the server.
    pub fn start(self, program: &str, root: &Path, configuration: &Path) -> Vec<String> {
        let mut command = self.command(program, root, configuration);
        if self == Server::Apache {
            command.extend(["-k", "start"].map(str::to_owned));
        }
        command
    }

    fn command(self, program: &str, root: &Path, configuration: &Path) -> Vec<String> {
        let root = root.display().to_string();
        let configuration = configuration.display().to_string();
        let log = format!("{root}/log/error.log");
        let words: Vec<&str> = match self {
            Server::Apache => vec![program, "-d", &root, "-f", &configuration],
            Server::Nginx => vec![program, "-p", &root, "-c", &configuration, "-e", &log],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// What tells a running server to read its configuration again, without dropping a request.
    pub fn reload(self) -> Signal {
        match self {
            Server::Apache => Signal::User1,
            Server::Nginx => Signal::HangUp,
        }
    }
}
