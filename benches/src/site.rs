//! Very many nodes over one site of Puppet: sixty classes in modules, each with a template and a resource of a defined
//! type, and about three hundred resources a node.
//!
//! One command compiles the catalogs of all nodes, and compares them with the files that are there: as nothing has
//! changed, they stay. It is compared with what the real compiler needs for three of them, when it has compiled one before
//! and is warm; what that prints goes nowhere.

use crate::contenders::{Agreement, Contender, Programs, compare};
use crate::measure::{CommandLine, measure};
use crate::rounds::{Measurements, Purpose, milliseconds};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The word by which it is asked for.
pub const NAME: &str = "site";

/// So many nodes over so many classes.
#[derive(Clone, Copy)]
pub struct Site {
    /// How many nodes.
    pub nodes: usize,
    /// How many classes.
    pub classes: usize,
}

/// What is measured.
pub const SITE: Site = Site {
    nodes: 1_000,
    classes: 60,
};

/// The real compiler is warm after one node,
pub const WARM: usize = 1;
/// and is measured by as many more.
pub const MORE: usize = 3;

impl Site {
    /// The same at a size that takes no time, to check what is written.
    pub fn small(self) -> Site {
        Site {
            nodes: WARM + MORE,
            ..self
        }
    }

    fn manifest(self) -> String {
        let names = (0..self.classes).map(class_name);
        let names: Vec<String> = names.collect();
        format!("include {}\n", names.join(", "))
    }

    fn class(self, number: usize) -> String {
        let class = CLASS.replace("NAME", &class_name(number));
        let version = format!("{}.{}", number % 7, number % 10);
        class.replace("VERSION", &version)
    }

    fn facts(self, number: usize) -> String {
        let role = ["web", "database", "cache"][number % 3];
        let memory = 1024 << (number % 6);
        format!(
            "{{\"role\": \"{role}\", \"memory\": {memory}, \"rack\": {}}}\n",
            number / 40
        )
    }
}

/// What the real compiler needs for a few nodes when it is warm, in milliseconds.
pub fn warm(measured: &Measurements) -> Option<f64> {
    let nodes = |count| measured.usage(Purpose::Site(count, Contender::Puppet));
    Some(milliseconds(nodes(WARM + MORE)?) - milliseconds(nodes(WARM)?))
}

const CLASS: &str = r##"# What a node has of NAME.
class NAME(
  String[1] $version = 'VERSION',
  Integer[1] $workers = 4,
  Boolean $enabled = true,
  Optional[String] $comment = undef,
) {
  case $facts['role'] {
    'web': { $mode = '0644' }
    'database': { $mode = '0600' }
    default: { $mode = '0640' }
  }
  if $facts['memory'] > 8192 {
    $threads = $workers * 4
  } else {
    $threads = $workers
  }
  package { 'NAME':
    ensure => $version,
  }
  file { '/etc/NAME.conf':
    ensure  => file,
    mode    => $mode,
    content => epp('NAME/conf.epp', { 'threads' => $threads, 'comment' => $comment }),
    require => Package['NAME'],
  }
  limits::files { 'NAME':
    most => $threads * 1024,
  }
  service { 'NAME':
    ensure    => running,
    enable    => $enabled,
    subscribe => File['/etc/NAME.conf'],
  }
}
"##;

const TEMPLATE: &str = r##"<%- | Integer $threads, Optional[String] $comment | -%>
# <%= $comment %>
host = <%= $facts['fqdn'] %>
<% if $facts['role'] == 'web' { -%>
rack = <%= $facts['rack'] %>
<% } -%>
threads = <%= $threads %>
"##;

const DEFINED_TYPE: &str = r##"# How many files a service may open.
define limits::files(
  Integer[1] $most,
  Enum['soft', 'hard'] $kind = 'soft',
) {
  file { "/etc/security/limits.d/${title}.conf":
    ensure  => file,
    content => "${title} ${kind} nofile ${most}\n",
  }
}
"##;

fn class_name(number: usize) -> String {
    format!("part{number:02}")
}

fn node_name(number: usize) -> String {
    format!("n{number:04}.example.org")
}

/// A site that was written down.
pub struct Written {
    site: Site,
    directory: PathBuf,
}

const MODULES: &str = "modules";
const FACTS: &str = "facts";
const RESULTS: &str = "results";

impl Written {
    /// Writes the classes and the facts of the nodes.
    pub fn write(site: Site, directory: &Path) -> io::Result<Written> {
        for inner in [FACTS, RESULTS] {
            // Nodes of another size would be compiled, too.
            let inner = directory.join(inner);
            if inner.exists() {
                fs::remove_dir_all(&inner)?;
            }
            fs::create_dir_all(inner)?;
        }
        fs::write(directory.join("site.pp"), site.manifest())?;
        let write = |path: String, text: &str| {
            let file = directory.join(MODULES).join(path);
            fs::create_dir_all(file.parent().expect("it lies in a module"))?;
            fs::write(file, text)
        };
        write("limits/manifests/files.pp".into(), DEFINED_TYPE)?;
        for number in 0..site.classes {
            let module = class_name(number);
            write(format!("{module}/manifests/init.pp"), &site.class(number))?;
            write(format!("{module}/templates/conf.epp"), TEMPLATE)?;
        }
        for number in 0..site.nodes {
            let file = directory.join(format!("{FACTS}/{}.json", node_name(number)));
            fs::write(file, site.facts(number))?;
        }
        Ok(Written {
            site,
            directory: directory.to_path_buf(),
        })
    }

    fn path(&self, inner: &str) -> OsString {
        self.directory.join(inner).into_os_string()
    }

    fn compile_all(&self, programs: &Programs) -> CommandLine {
        let mut arguments: Vec<OsString> = vec!["compile".into(), self.path("site.pp")];
        for (option, value) in [
            ("--modulepath", self.path(MODULES)),
            ("--facts-dir", self.path(FACTS)),
            ("--nodes", "all".into()),
            ("--out", self.path(RESULTS)),
        ] {
            arguments.extend([option.into(), value]);
        }
        CommandLine::new(&programs.hence, arguments)
    }

    fn compile_really(&self, programs: &Programs, nodes: usize) -> CommandLine {
        let mut arguments = vec![self.path("site.pp")];
        for (option, value) in [("--modules", MODULES), ("--facts", FACTS)] {
            arguments.extend([option.into(), self.path(value)]);
        }
        arguments.extend((0..nodes).map(|number| node_name(number).into()));
        programs.real_compiler(arguments)
    }

    /// What is run in a round.
    pub fn commands(&self, programs: &Programs) -> Vec<(Purpose, CommandLine)> {
        let mut commands = vec![(
            Purpose::Site(self.site.nodes, Contender::HencePuppet),
            self.compile_all(programs),
        )];
        commands.extend([WARM, WARM + MORE].map(|nodes| {
            let purpose = Purpose::Site(nodes, Contender::Puppet);
            (purpose, self.compile_really(programs, nodes))
        }));
        commands
    }

    /// Compiles all nodes, and some of them with the real compiler, and compares the catalogs.
    pub fn check(&self, programs: &Programs) -> io::Result<Agreement> {
        measure(&self.compile_all(programs), Path::new("/dev/null"))?;
        let really = self.directory.join("puppet.out");
        let nodes = WARM + MORE;
        measure(&self.compile_really(programs, nodes), &really)?;
        let expected = fs::read_to_string(&really)?;
        for (number, expected) in expected.lines().enumerate() {
            let name = node_name(number);
            let result = self.directory.join(format!("{RESULTS}/{name}.json"));
            let printed = fs::read_to_string(result)?;
            if let Agreement::Differs(how) = compare(expected, printed.trim_end()) {
                return Ok(Agreement::Differs(format!("{name}: {how}")));
            }
        }
        Ok(Agreement::Agrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_about_three_hundred_resources() {
        let kinds = ["package {", "file {", "limits::files {", "service {"];
        let each = |text: &str| {
            let counts = kinds.iter().map(|kind| text.matches(kind).count());
            counts.sum::<usize>()
        };
        assert_eq!((each(CLASS) + each(DEFINED_TYPE)) * SITE.classes, 300);
    }

    #[test]
    fn every_class_is_included_and_has_its_name() {
        assert!(SITE.manifest().starts_with("include part00, part01, "));
        assert!(SITE.class(7).contains("class part07("));
        assert!(!SITE.class(7).contains("NAME"));
    }
}
