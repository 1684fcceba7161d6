//! Compiling with the trace and without: what recording where values come from costs.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use hence_model::print::json::Json;
use hence_model::source::{Files, ReadError};
use hence_model::trace::{NoTrace, Recorder, Trace};
use hence_smartfrog::{Options, compile_file};

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// Where every value comes from, as users have it.
    Trace,
    /// Nothing.
    None,
}

impl Recording {
    /// Both.
    pub const ALL: [Recording; 2] = [Recording::Trace, Recording::None];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Recording::Trace => "trace",
            Recording::None => "none",
        }
    }
}

/// Compiles a SmartFrog file and prints it.
pub fn compile(file: &Path, recording: Recording) -> io::Result<()> {
    match recording {
        Recording::Trace => compile_with::<Trace>(file),
        Recording::None => compile_with::<NoTrace>(file),
    }
}

fn compile_with<R: Recorder>(file: &Path) -> io::Result<()> {
    let name = file.to_string_lossy();
    let compiled = compile_file::<R>(&Disk, &name, &Options::default());
    if compiled.configuration.is_none() {
        return Err(io::Error::other(format!("{name} does not compile")));
    }
    let descriptor = io::stdout().as_fd().try_clone_to_owned()?;
    let mut json = Json::compact(File::from(descriptor));
    compiled.send(&mut json);
    json.finish().map(drop)
}

struct Disk;

impl Files for Disk {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        let read = File::open(name).and_then(|mut file| file.read_to_string(text));
        read.map(drop)
            .map_err(|error| ReadError::Refused(error.to_string()))
    }
}
