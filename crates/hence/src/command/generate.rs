//! `hence generate`: specifications that nobody wrote, to try compilers with.

use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use hence_smartfrog::generate::{Kind, specification};

use crate::console::Console;
use crate::disk::{replace, unwritable};
use crate::{Exit, Stop};

/// Write a random specification
#[derive(Args)]
pub struct Generate {
    /// The language
    #[arg(value_enum)]
    language: Language,
    /// Which one: the same seed and size give the same specification
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// About how many statements
    #[arg(long, default_value_t = 30)]
    size: usize,
    /// For which semantics it is made; most have a value, some a mistake
    #[arg(long, value_enum, default_value = "core")]
    semantics: Semantics,
    /// Write its files to this folder instead of the first one to standard output
    #[arg(long, value_name = "DIR")]
    out: Option<String>,
}

/// A language in which specifications can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Language {
    /// SmartFrog
    #[value(name = "sf")]
    SmartFrog,
}

/// A semantics for which specifications can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Semantics {
    /// As the published semantics defines it
    Core,
    /// Links may look ahead
    Forward,
}

impl Generate {
    /// Writes it.
    pub fn run(&self, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Language::SmartFrog = self.language;
        let kind = match self.semantics {
            Semantics::Core => Kind::Core,
            Semantics::Forward => Kind::Forward,
        };
        let specification = specification(kind, self.seed, self.size);
        let Some(out) = &self.out else {
            console
                .data()
                .write_all(specification.files[0].1.as_bytes())?;
            let others: Vec<&str> = specification.files[1..]
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            if !others.is_empty() {
                let others = others.join(", ");
                console.say(&format!(
                    "it includes {others}; `--out DIR` writes all of it"
                ));
            }
            return Ok(Exit::Done);
        };
        for (name, text) in &specification.files {
            let path = console.path(&Path::new(out).join(name).to_string_lossy());
            let folder = path.parent().unwrap_or(Path::new(""));
            std::fs::create_dir_all(folder)
                .and_then(|()| replace(&path, |file| file.write_all(text.as_bytes())))
                .map_err(|error| unwritable(out, &error))?;
        }
        Ok(Exit::Done)
    }
}
