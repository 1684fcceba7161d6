//! Catalogs of Puppet: a class that declares very many things, compiled by Hence and by the real compiler.
//!
//! Each thing is of a defined type with typed parameters, a `case`, an `if` and interpolations, and is one file.

use crate::contenders::{Agreement, Contender, Programs, compare};
use crate::measure::{CommandLine, measure};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The word by which all of them are asked for.
pub const FAMILY: &str = "defines";

/// A class with a name to ask for.
#[derive(Clone, Copy)]
pub struct Defines {
    /// As in the tables: `defines-1000`.
    pub name: &'static str,
    /// How many things it declares.
    pub count: usize,
    /// Who compiles it.
    pub contenders: &'static [Contender],
}

/// What is compared with the real compiler, and asked questions about.
pub const LARGE: &str = "defines-10000";
/// How far the growth is measured.
pub const LARGEST: &str = "defines-50000";

/// Every class, small before large. The real compiler needs minutes for the largest.
pub const DEFINES: [Defines; 3] = [
    Defines {
        name: "defines-1000",
        count: 1_000,
        contenders: &[Contender::HencePuppet, Contender::Puppet],
    },
    Defines {
        name: LARGE,
        count: 10_000,
        contenders: &[Contender::HencePuppet, Contender::Puppet],
    },
    Defines {
        name: LARGEST,
        count: 50_000,
        contenders: &[Contender::HencePuppet],
    },
];

impl Defines {
    /// The same at a size that takes no time, to check that both compilers print the same.
    pub fn small(self) -> Defines {
        Defines {
            count: 20,
            contenders: &Contender::OF_CATALOGS,
            ..self
        }
    }

    fn manifest(self) -> String {
        let mut text = format!("{DEFINED_TYPE}\nclass fleet {{\n");
        for number in 0..self.count {
            let port = 1024 + number % 60_000;
            let role = ROLES[number % ROLES.len()];
            let secure = number.is_multiple_of(2);
            let thing = thing_name(number);
            writeln!(
                text,
                "  vhost {{ '{thing}':\n    port   => {port},\n    role   => '{role}',\n    secure => {secure},\n  }}"
            )
            .expect("a string takes any text");
        }
        text.push_str("}\n\ninclude fleet\n");
        text
    }
}

const DEFINED_TYPE: &str = r##"define vhost(
  Integer[1, 65535] $port,
  Enum['web', 'database', 'cache'] $role,
  Boolean $secure = false,
  String[1] $owner = 'root',
  Optional[String] $comment = undef,
) {
  case $role {
    'web': { $group = 'www-data' }
    'database': { $group = 'postgres' }
    default: { $group = 'daemon' }
  }
  if $secure {
    $scheme = 'https'
  } else {
    $scheme = 'http'
  }
  file { "/etc/vhosts/${title}.conf":
    ensure  => file,
    owner   => $owner,
    group   => $group,
    mode    => '0640',
    content => "# ${comment}\nlisten ${port}\nurl ${scheme}://${title}.example.org:${port}/\n",
  }
}
"##;

/// A literal of the defined type on which a value of every thing depends.
const SHARED_LITERAL: &str = "'0640'";

const ROLES: [&str; 3] = ["web", "database", "cache"];

fn thing_name(number: usize) -> String {
    format!("v{number:05}")
}

/// A manifest that was written down.
pub struct Written {
    directory: PathBuf,
    manifest: String,
    count: usize,
}

impl Written {
    /// Writes a class into a directory of its own.
    pub fn write(defines: Defines, directory: &Path) -> io::Result<Written> {
        let manifest = defines.manifest();
        Written::manifest(manifest, defines.count, directory)
    }

    /// Writes a manifest that says nothing.
    pub fn empty(directory: &Path) -> io::Result<Written> {
        Written::manifest(String::new(), 0, directory)
    }

    fn manifest(manifest: String, count: usize, directory: &Path) -> io::Result<Written> {
        fs::create_dir_all(directory)?;
        let written = Written {
            directory: directory.to_path_buf(),
            manifest,
            count,
        };
        fs::write(written.file(), &written.manifest)?;
        Ok(written)
    }

    /// How much there is to read, in bytes.
    pub fn source_bytes(&self) -> usize {
        self.manifest.len()
    }

    /// Where its files are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn file(&self) -> OsString {
        self.directory.join("site.pp").into_os_string()
    }

    /// The command by which a contender prints the catalog.
    pub fn compile(&self, programs: &Programs, contender: Contender) -> CommandLine {
        match contender {
            Contender::Puppet => programs.real_compiler([self.file(), "default".into()]),
            _ => CommandLine::new(&programs.hence, ["compile".into(), self.file()]),
        }
    }

    /// Compiles with all contenders, and compares what they print.
    pub fn check(&self, programs: &Programs, contenders: &[Contender]) -> io::Result<Agreement> {
        let mut printed = Vec::new();
        for contender in contenders {
            let output = self.directory.join(format!("{}.out", contender.name()));
            measure(&self.compile(programs, *contender), &output)?;
            printed.push(fs::read_to_string(&output)?);
        }
        match &printed[..] {
            [ours, real] => Ok(compare(real, ours)),
            _ => Ok(Agreement::Agrees),
        }
    }

    /// The command that asks why one of the last values is what it is.
    pub fn why(&self, programs: &Programs) -> CommandLine {
        let thing = thing_name(self.count - 1);
        let value = format!("File[/etc/vhosts/{thing}.conf].content");
        CommandLine::new(&programs.hence, ["why".into(), self.file(), value.into()])
    }

    /// The command that asks what a literal of the defined type reaches.
    pub fn impact(&self, programs: &Programs) -> CommandLine {
        let mut place = self.file();
        place.push(format!(":{}", position(&self.manifest, SHARED_LITERAL)));
        let arguments = ["impact".into(), place, "--in".into(), self.file()];
        CommandLine::new(&programs.hence, arguments)
    }
}

/// Where something is first written, as `line:column`.
fn position(text: &str, wanted: &str) -> String {
    let at = text.find(wanted).expect("the defined type has it");
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = at - before.rfind('\n').map_or(0, |end| end + 1) + 1;
    format!("{line}:{column}")
}

/// Whether the real compiler is installed here.
pub fn is_installed() -> bool {
    let tried = Command::new("ruby")
        .args(["-r", "puppet", "-e", ""])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_is_declared() {
        let manifest = DEFINES[0].small().manifest();
        assert_eq!(manifest.matches("  vhost { 'v").count(), 20);
        assert!(manifest.contains(
            "  vhost { 'v00019':\n    port   => 1043,\n    role   => 'database',\n    secure => false,\n  }\n"
        ));
    }

    #[test]
    fn the_shared_literal_is_found() {
        let manifest = DEFINES[0].small().manifest();
        let place = position(&manifest, SHARED_LITERAL);
        assert_eq!(place, "22:16");
        let line = manifest.lines().nth(21).expect("it has that many lines");
        assert!(line[15..].starts_with(SHARED_LITERAL));
    }
}
