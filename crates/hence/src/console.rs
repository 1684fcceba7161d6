//! Where a command's data and words go.

use std::collections::HashSet;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use hence_model::diagnostic::Diagnostic;
use hence_model::legible;
use hence_model::source::Sources;

use crate::World;
use crate::disk::Disk;
use crate::render;

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people: source excerpts with carets
    Text,
    /// For programs: one line of JSON each
    Json,
}

/// When words are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// If a terminal shows them
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How diagnostics are worded.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    form: Form,
    colour: bool,
}

impl Wording {
    /// The words for a diagnostic.
    pub fn word(self, sources: &Sources, diagnostic: &Diagnostic) -> String {
        match self.form {
            Form::Text => render::text(sources, diagnostic, self.colour),
            Form::Json => render::json(sources, diagnostic),
        }
    }
}

/// What standard input is called where files are named.
pub const STANDARD_INPUT: &str = "standard input";

const CLEAR_LINE: &str = "\r\x1b[K";

/// Data goes to standard output, words to standard error.
pub struct Console<'w> {
    world: &'w mut World,
    form: Form,
    colour: bool,
    /// Where the ledger of all commands is, if that is said.
    data_directory: Option<String>,
    /// What standard input holds, if it was read as a file.
    input: Option<Vec<u8>>,
    /// Whether the last line of the terminal says how far a command is.
    in_progress: bool,
}

impl<'w> Console<'w> {
    /// A console on the world's streams.
    pub fn new(world: &'w mut World, form: Form, colour: Colour) -> Self {
        let colour = match colour {
            Colour::Auto => world.colour,
            Colour::Always => true,
            Colour::Never => false,
        };
        Self {
            world,
            form,
            colour,
            data_directory: None,
            input: None,
            in_progress: false,
        }
    }

    /// Where questions are answered.
    pub fn input(&mut self) -> &mut dyn BufRead {
        &mut *self.world.stdin
    }

    /// Reads standard input, of which at most `limit` bytes are taken. From then on it is among the files of the world,
    /// as [`STANDARD_INPUT`].
    pub fn read_input(&mut self, limit: u64) -> io::Result<()> {
        if self.input.is_none() {
            let mut bytes = Vec::new();
            // One more tells that there are more.
            let mut input = self.input().take(limit.saturating_add(1));
            input.read_to_end(&mut bytes)?;
            self.input = Some(bytes);
        }
        Ok(())
    }

    /// Whether a person types the answers.
    pub fn is_typed(&self) -> bool {
        self.world.typed
    }

    /// Where data goes.
    pub fn data(&mut self) -> &mut dyn Write {
        &mut *self.world.stdout
    }

    /// A line of data for people, whatever others put into it.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.world.stdout, "{}", legible::line(line))
    }

    /// How diagnostics are worded here.
    pub fn wording(&self) -> Wording {
        Wording {
            form: self.form,
            colour: self.colour,
        }
    }

    /// Shows what is wrong.
    pub fn show(&mut self, sources: &Sources, diagnostics: &[Diagnostic]) {
        let wording = self.wording();
        // A file that is included twice has each of its mistakes twice.
        let mut said = HashSet::new();
        for diagnostic in diagnostics {
            let words = wording.word(sources, diagnostic);
            if said.insert(words.clone()) {
                self.words(&words);
            }
        }
    }

    /// Shows words. That nobody can read them any more is no trouble.
    pub fn words(&mut self, words: &str) {
        self.end_progress();
        let _ = self.world.stderr.write_all(words.as_bytes());
        let _ = self.world.stderr.flush();
    }

    /// Shows trouble that has no place in a source.
    pub fn refuse(&mut self, diagnostic: &Diagnostic) {
        self.show(&Sources::default(), std::slice::from_ref(diagnostic));
    }

    /// Says something about the data.
    pub fn say(&mut self, words: &str) {
        if self.form == Form::Text {
            let _ = writeln!(self.world.stderr, "{}", legible::lines(words));
        }
    }

    /// Whether data for people may be coloured.
    pub fn is_colourful(&self) -> bool {
        self.colour
    }

    /// Whether a person is watching the words as they appear.
    pub fn is_attended(&self) -> bool {
        self.world.attended
    }

    /// Shows how far a long command is, if somebody is watching.
    pub fn progress(&mut self, words: &str) {
        if self.world.attended && self.form == Form::Text {
            let _ = write!(self.world.stderr, "{CLEAR_LINE}{words}");
            let _ = self.world.stderr.flush();
            self.in_progress = true;
        }
    }

    /// Takes away what [`Console::progress`] showed.
    pub fn end_progress(&mut self) {
        if std::mem::take(&mut self.in_progress) {
            let _ = write!(self.world.stderr, "{CLEAR_LINE}");
        }
    }

    /// Does something in the same world, with nobody listening.
    pub fn unheard<T>(&self, work: impl FnOnce(&mut Console<'_>) -> T) -> T {
        let directory = self.world.directory.clone();
        let mut world = World::unheard(directory, self.world.variable, self.world.now);
        let mut console = Console::new(&mut world, self.form, Colour::Never);
        console.set_data_directory(self.data_directory.clone());
        console.input = self.input.clone();
        work(&mut console)
    }

    /// The files of the world, of which at most `limit` bytes are read.
    pub fn disk(&self, limit: u64) -> Disk {
        let disk = Disk::new(self.world.directory.clone(), limit);
        match &self.input {
            Some(input) => disk.with(STANDARD_INPUT, input.clone()),
            None => disk,
        }
    }

    /// Says where the ledger of all commands is.
    pub fn set_data_directory(&mut self, directory: Option<String>) {
        self.data_directory = directory;
    }

    /// Where the ledger of all commands is, if that was said before the command.
    pub fn data_directory(&self) -> Option<&str> {
        self.data_directory.as_deref()
    }

    /// A variable of the environment.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.world.variable)(name)
    }

    /// The time, in milliseconds since 1970.
    pub fn now(&self) -> u64 {
        (self.world.now)()
    }

    /// What tells that time, for those who ask later.
    pub fn clock(&self) -> fn() -> u64 {
        self.world.now
    }

    /// A path that was given, as the process sees it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.world.directory.join(name)
    }

    /// A text about paths as the process sees them, with the paths as they were given.
    pub fn as_given(&self, text: &str) -> String {
        match self.directory() {
            Some(directory) => text.replace(&format!("{}/", directory.display()), ""),
            None => text.to_owned(),
        }
    }

    /// Where commands are run.
    pub fn directory(&self) -> Option<PathBuf> {
        let directory = &self.world.directory;
        (!directory.as_os_str().is_empty()).then(|| directory.clone())
    }
}
