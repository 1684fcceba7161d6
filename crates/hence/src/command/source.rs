//! What every command that reads sources has in common: which language, what it means, how far to go.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use clap::{Args, ValueEnum};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::source::ReadError;
use hence_model::unit::{Limits, Unit};
use hence_smartfrog::parts::parts;
use hence_smartfrog::{Options, ordering};

use super::puppet::{self, PuppetOptions};
use crate::Stop;
use crate::configuration::Configuration;
use crate::console::{Console, STANDARD_INPUT};
use crate::disk::Disk;
use crate::git::Revision;
use crate::gpg::Gpg;
use crate::outside::{Outside, Password};

/// The language of a file is not known.
pub const UNKNOWN_LANGUAGE: Code = Code::new("input.unknown-language");
/// There is nothing to compile in a folder.
pub const NO_SOURCES: Code = Code::new("input.no-sources");
/// A directory that was named is not there.
pub const NO_DIRECTORY: Code = Code::new("input.no-directory");

/// How to read sources.
#[derive(Args, Clone, Debug)]
pub struct SourceOptions {
    /// The language; without it, the file's extension tells
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Option<Language>,
    /// What a SmartFrog specification means
    #[arg(long, value_enum, default_value = "core")]
    semantics: Semantics,
    /// Most bytes of source text, all files together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().source)]
    max_source: u64,
    /// Most levels of nesting, written or computed
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().depth)]
    max_depth: u32,
    /// Most bytes of output, about
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().output)]
    max_output: u64,
    /// Most steps: expressions that are evaluated for a node of Puppet; a call of a CF2 macro counts as 32
    #[arg(long, value_name = "STEPS", default_value_t = Limits::default().steps)]
    max_steps: u64,
    /// Warn of something that may be meant, and may not
    #[arg(short = 'W', long, value_enum, value_name = "LINT")]
    warn: Vec<Lint>,
    /// Refuse it
    #[arg(long, value_enum, value_name = "LINT")]
    deny: Vec<Lint>,
    /// A JSON file of facts, which sources can import as `facts`
    #[arg(long, value_name = "FILE")]
    pub(super) facts: Option<String>,
    #[command(flatten, next_help_heading = "CF2")]
    cf2: Cf2Options,
    #[command(flatten, next_help_heading = "Puppet")]
    pub(super) puppet: PuppetOptions,
}

/// How to read CF2.
#[derive(Args, Clone, Debug)]
pub struct Cf2Options {
    /// Directories in which imported files are searched [env: CF2PATH]
    #[arg(long = "path", value_name = "DIR:…")]
    search: Option<String>,
    /// The directory of a project, for `import('NAME:file')`; without a name, of the current one
    /// [env: CF2PROJECTS, separated by `:`]
    #[arg(long, value_name = "[NAME=]DIR")]
    project: Vec<String>,
    /// What `topdir()` answers; without it, the working directory
    #[arg(long, value_name = "DIR")]
    topdir: Option<String>,
    /// Directories with functions of yours, `NAME.rhai`
    #[arg(short = 'F', long, value_name = "DIR:…")]
    functions: Option<String>,
    /// Treat private resources as all others
    #[arg(short = 'p', long)]
    private: bool,
    /// Write each step of the evaluation to standard error
    #[arg(short = 'D', long, value_enum, value_name = "WHAT")]
    debug: Option<Debug>,
    /// Ask for the passwords of KeePass databases
    #[arg(short = 'P', long = "password", conflicts_with_all = ["password_file", "password_command"])]
    ask_password: bool,
    /// Read the password of KeePass databases from the first line of this file
    #[arg(long, value_name = "FILE", conflicts_with = "password_command")]
    password_file: Option<String>,
    /// Read the password of KeePass databases from the first line that this command prints
    #[arg(long, value_name = "COMMAND")]
    password_command: Option<String>,
    /// The directory of gpg, with the keys
    #[arg(long, value_name = "DIR")]
    gpghome: Option<String>,
    /// A file of public keys, as `gpg --export` writes it, to check signatures with instead of gpg's own
    #[arg(long, value_name = "FILE")]
    keyring: Option<String>,
    /// A file with the pass phrase of the key that signs
    #[arg(long, value_name = "FILE")]
    gpgpass_file: Option<String>,
}

/// What can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Debug {
    /// Each resource as it is evaluated
    Eval,
}

/// Something that may be meant, and may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Lint {
    /// The order of attributes is not the one written in a prototype (SmartFrog)
    Order,
    /// A resource is defined twice in a file (CF2)
    Dup,
}

/// A language that can be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// SmartFrog, `.sf`
    #[value(name = "sf")]
    SmartFrog,
    /// CF2, `.cf2`
    Cf2,
    /// Puppet, `.pp`
    #[value(name = "pp")]
    Puppet,
}

/// What a SmartFrog specification means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Semantics {
    /// As the published semantics defines it
    Core,
    /// Links may look ahead
    Forward,
    /// As the production compiler does it, with its larger language
    Production,
}

impl SourceOptions {
    /// The options of the SmartFrog compiler.
    pub fn smartfrog(&self) -> Options {
        let semantics = match self.semantics {
            Semantics::Core => hence_smartfrog::Semantics::Core,
            Semantics::Forward => hence_smartfrog::Semantics::Forward,
            Semantics::Production => hence_smartfrog::Semantics::Production,
        };
        Options {
            semantics,
            limits: self.limits(),
            order: match self.lint(Lint::Order) {
                (true, _) => ordering::Lint::Deny,
                (false, true) => ordering::Lint::Warn,
                (false, false) => ordering::Lint::Allow,
            },
            facts: self.facts.clone(),
        }
    }

    /// The options of the CF2 compiler.
    pub fn cf2(&self, console: &Console<'_>) -> hence_cf2::Options {
        let cf2 = &self.cf2;
        let path = cf2.search.clone().or_else(|| console.variable("CF2PATH"));
        let mut projects: Vec<(String, String)> = Vec::new();
        let from_environment = console.variable("CF2PROJECTS").unwrap_or_default();
        for project in cf2
            .project
            .iter()
            .cloned()
            .chain(directories(&from_environment))
        {
            projects.push(match project.split_once('=') {
                Some((name, directory)) => (name.to_owned(), directory.to_owned()),
                None => (String::new(), project),
            });
        }
        let current = projects.iter().find(|project| project.0.is_empty());
        let topdir = match &cf2.topdir {
            Some(topdir) => topdir.clone(),
            None => {
                let directory = std::path::absolute(console.path("."));
                directory.unwrap_or_default().display().to_string()
            }
        };
        let (deny, warn) = self.lint(Lint::Dup);
        hence_cf2::Options {
            limits: self.limits(),
            search: path.as_deref().map(directories).unwrap_or_default(),
            project: current.map(|current| current.1.clone()).unwrap_or_default(),
            projects,
            topdir,
            facts: self.facts.clone(),
            show_private: cf2.private,
            duplicates: match (deny, warn) {
                (true, _) => hence_cf2::compile::Lint::Deny,
                (false, true) => hence_cf2::compile::Lint::Warn,
                (false, false) => hence_cf2::compile::Lint::Allow,
            },
            trace: cf2.debug == Some(Debug::Eval),
        }
    }

    /// Whether something is refused, and whether it is warned of.
    fn lint(&self, lint: Lint) -> (bool, bool) {
        (self.deny.contains(&lint), self.warn.contains(&lint))
    }

    pub(super) fn limits(&self) -> Limits {
        Limits {
            source: self.max_source,
            depth: self.max_depth,
            output: self.max_output,
            steps: self.max_steps,
        }
    }

    /// What a compilation with these options may ask for.
    pub fn outside(&self, console: &Console<'_>) -> Outside {
        self.outside_on(console, console.disk(self.max_source))
    }

    /// The same, with files that are not, or not all, as they are.
    pub fn outside_on(&self, console: &Console<'_>, disk: Disk) -> Outside {
        let cf2 = &self.cf2;
        let path = |name: &Option<String>| name.as_ref().map(|name| console.path(name));
        let gpg = Gpg {
            home: path(&cf2.gpghome),
            // Gpg takes a bare name for one in its own directory.
            keyring: path(&cf2.keyring).and_then(|path| std::path::absolute(path).ok()),
            passphrase: path(&cf2.gpgpass_file),
        };
        let password = match (&cf2.password_file, &cf2.password_command) {
            (Some(file), _) => Password::File(file.clone()),
            (_, Some(command)) => Password::Command(command.clone()),
            _ if cf2.ask_password => Password::Asked,
            _ => Password::Unknown,
        };
        let functions = cf2.functions.as_deref().map(directories);
        Outside::new(disk, gpg, password, functions.unwrap_or_default())
    }

    /// The files as they would be if one of them said something else.
    pub fn disk_with(&self, console: &Console<'_>, name: &str, text: String) -> Disk {
        console.disk(self.max_source).with(name, text)
    }

    /// The files as they were in a revision. Facts belong to the question, and need not be in it.
    pub fn disk_at(&self, console: &Console<'_>, revision: Revision) -> Disk {
        let apart = [&self.facts, &self.puppet.facts_dir];
        let apart = apart.into_iter().flatten().cloned().collect();
        console.disk(self.max_source).at(revision, apart)
    }

    /// The name by which a file is read that was named in a command: `-` is standard input, which is read now.
    pub fn named<'n>(&self, console: &mut Console<'_>, file: &'n str) -> Result<&'n str, Stop> {
        if file != "-" {
            return Ok(file);
        }
        self.language(file)?;
        match console.read_input(self.max_source) {
            Ok(()) => Ok(STANDARD_INPUT),
            Err(error) => {
                let error = ReadError::Refused(error.to_string());
                let trouble = Unit::default().unreadable(STANDARD_INPUT, error);
                Err(Stop::Failed(Box::new(trouble)))
            }
        }
    }

    /// Compiles a file, says what is wrong with it, and hands the result on.
    pub fn compile<T>(
        &self,
        console: &mut Console<'_>,
        outside: &Outside,
        file: &str,
        then: impl FnOnce(&mut Console<'_>, &mut Configuration<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.compile_and(console, outside, file, then, Afterwards::Free)
    }

    /// The same, as the last thing that a command does. What was compiled is not taken apart then, which can take a
    /// tenth of all the time: it goes with the process.
    pub fn compile_last<T>(
        &self,
        console: &mut Console<'_>,
        outside: &Outside,
        file: &str,
        then: impl FnOnce(&mut Console<'_>, &mut Configuration<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.compile_and(console, outside, file, then, Afterwards::Leave)
    }

    fn compile_and<T>(
        &self,
        console: &mut Console<'_>,
        outside: &Outside,
        file: &str,
        then: impl FnOnce(&mut Console<'_>, &mut Configuration<'_>) -> Result<T, Stop>,
        afterwards: Afterwards,
    ) -> Result<T, Stop> {
        let language = self.language(file).map_err(|unknown| {
            // What is not there has no language.
            match Unit::default().load(outside, file) {
                Err(missing) => Stop::Refused(missing),
                Ok(_) => unknown,
            }
        });
        let mut compiled = match language? {
            Language::SmartFrog => {
                let options = self.smartfrog();
                let compiled = hence_smartfrog::compile_file(outside, file, &options);
                Configuration::SmartFrog(Box::new(compiled))
            }
            Language::Cf2 => {
                finds_functions(outside)?;
                let options = self.cf2(console);
                let compiled = hence_cf2::compile_file(outside, file, &options);
                for step in compiled.steps() {
                    console.say(step);
                }
                Configuration::Cf2(Box::new(compiled))
            }
            Language::Puppet => {
                return puppet::compile(self, console, outside, file, then, afterwards);
            }
        };
        let unit = compiled.unit();
        console.show(&unit.sources, &unit.diagnostics);
        let result = then(console, &mut compiled);
        afterwards.release(compiled);
        result
    }

    /// Those files of a folder that mean something on their own: without those that others of them include, and
    /// that have no result.
    pub fn without_parts(
        &self,
        outside: &Outside,
        folder: &str,
        mut files: Vec<String>,
    ) -> Vec<String> {
        let is_smartfrog = |name: &String| matches!(self.language(name), Ok(Language::SmartFrog));
        let names = files.iter().map(|file| join(folder, file));
        let names: Vec<String> = names.filter(is_smartfrog).collect();
        let parts = parts(outside, &names, self.smartfrog().semantics.dialect());
        files.retain(|file| !parts.contains(join(folder, file).as_str()));
        files
    }

    /// Whether everything is read as Puppet: then a folder is one manifest in several files.
    pub fn is_puppet(&self) -> bool {
        self.lang == Some(Language::Puppet)
    }

    /// The language of a file: as it was said, or by its extension.
    pub fn language(&self, file: &str) -> Result<Language, Stop> {
        if let Some(language) = self.lang {
            return Ok(language);
        }
        if file == "-" {
            return Err(Stop::Refused(Box::new(unsaid_language())));
        }
        let extension = Path::new(file).extension().and_then(|e| e.to_str());
        match extension {
            Some("sf") => Ok(Language::SmartFrog),
            Some("cf2") => Ok(Language::Cf2),
            Some("pp") => Ok(Language::Puppet),
            _ => Err(Stop::Refused(Box::new(unknown_language(file, extension)))),
        }
    }
}

/// What becomes of something large that is not needed any more.
#[derive(Clone, Copy)]
pub enum Afterwards {
    /// Its memory is given back.
    Free,
    /// It stays until the process ends.
    Leave,
}

impl Afterwards {
    /// It is not needed any more.
    pub fn release<T>(self, large: T) {
        match self {
            Self::Free => drop(large),
            Self::Leave => std::mem::forget(large),
        }
    }
}

fn unsaid_language() -> Diagnostic {
    Diagnostic::error(
        UNKNOWN_LANGUAGE,
        "standard input does not tell its language",
    )
    .help("say it: `--lang sf` for SmartFrog, `--lang cf2` for CF2, `--lang pp` for Puppet")
}

fn unknown_language(file: &str, extension: Option<&str>) -> Diagnostic {
    let message = match extension {
        Some(extension) => format!("no language has files that end in `.{extension}`: `{file}`"),
        None => format!("the name of `{file}` does not tell its language"),
    };
    Diagnostic::error(UNKNOWN_LANGUAGE, message)
        .help("SmartFrog files end in `.sf`, CF2 files in `.cf2`, Puppet manifests in `.pp`")
        .help("`--lang sf`, `--lang cf2` and `--lang pp` read any file as that")
}

/// How the names of files end that mean something each on its own; a folder of Puppet is one manifest.
pub const SPECIFICATIONS: &[&str] = &["sf", "cf2"];

/// The sources below a folder, which are the files with one of these extensions, sorted, as names relative to it.
/// What lies in `except`, a folder below it, is left out.
pub fn sources_below(
    console: &Console<'_>,
    folder: &str,
    except: Option<&str>,
    extensions: &[&str],
) -> Result<Vec<String>, Stop> {
    let is_source = |name: &str| {
        let extension = Path::new(name).extension();
        extension.is_some_and(|it| extensions.iter().any(|known| it == *known))
    };
    let except = except.and_then(|except| fs::canonicalize(console.path(except)).ok());
    let mut found = Vec::new();
    let mut has_manifests = false;
    let mut folders = vec![String::new()];
    while let Some(inner) = folders.pop() {
        let name = join(folder, &inner);
        let path = console.path(&name);
        if !inner.is_empty() && except.is_some() && fs::canonicalize(&path).ok() == except {
            continue;
        }
        for (entry, kind) in entries(&path).map_err(|error| unreadable(&name, &error))? {
            let entry = join(&inner, &entry);
            // Links to folders are not followed: they may lead in a circle.
            if kind.is_dir() {
                folders.push(entry);
            } else if is_source(&entry) && is_text(&console.path(&join(folder, &entry)), kind) {
                found.push(entry);
            } else {
                has_manifests |= entry.ends_with(".pp");
            }
        }
    }
    found.sort();
    if found.is_empty() {
        let names: Vec<String> = extensions.iter().map(|it| format!("`.{it}`")).collect();
        let message = format!("there is no {} file below `{folder}`", names.join(" or "));
        let help = match has_manifests {
            true => "there are Puppet manifests: `--lang pp` reads them",
            false => "name the folder that holds the specifications, or one file",
        };
        let trouble = Diagnostic::error(NO_SOURCES, message).help(help);
        return Err(Stop::Refused(Box::new(trouble)));
    }
    Ok(found)
}

/// Whether there is a text to read: a pipe or a device of that name would keep its reader waiting. A link that leads
/// nowhere counts, so that somebody is told.
fn is_text(path: &Path, kind: fs::FileType) -> bool {
    kind.is_file()
        || kind.is_symlink() && fs::metadata(path).map_or(true, |target| target.is_file())
}

/// The names in a folder. One that is not UTF-8 is no source: no source could include it.
fn entries(folder: &Path) -> io::Result<Vec<(String, fs::FileType)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            entries.push((name, entry.file_type()?));
        }
    }
    Ok(entries)
}

/// Directories that are separated by colons.
pub(super) fn directories(path: &str) -> Vec<String> {
    let directories = path.split(':').filter(|directory| !directory.is_empty());
    directories.map(str::to_owned).collect()
}

/// Whether functions can be searched where somebody said.
pub(super) fn finds_functions(outside: &Outside) -> Result<(), Stop> {
    let Some(missing) = outside.missing_directory() else {
        return Ok(());
    };
    let message = format!("there is no directory `{missing}`");
    let help = "`-F` names directories with functions of yours, with `:` between them";
    let diagnostic = Diagnostic::error(NO_DIRECTORY, message).help(help);
    Err(Stop::Refused(Box::new(diagnostic)))
}

/// The name of a file in a folder.
pub fn join(folder: &str, file: &str) -> String {
    match folder {
        "" => file.to_owned(),
        folder if file.is_empty() => folder.to_owned(),
        folder => format!("{}/{file}", folder.trim_end_matches('/')),
    }
}

fn unreadable(folder: &str, error: &io::Error) -> Stop {
    let message = format!("the folder `{folder}` cannot be read: {error}");
    let diagnostic = Box::new(Diagnostic::error(hence_model::unit::UNREADABLE, message));
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Stop::Refused(diagnostic),
        _ => Stop::Failed(diagnostic),
    }
}
