//! Statements as people type them at a terminal: lines that can be edited, completed and called back.
//!
//! What is typed is kept beside the ledger, where only its owner can read it. A line is not kept if it begins with a blank,
//! or names something whose value is a secret.

use std::cell::RefCell;
use std::path::PathBuf;

use hence_functions::interpreter::{Completeness, Interpreter};
use hence_model::diagnostic::Diagnostic;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};

use super::completion::complete;
use super::fleet::Fleet;
use crate::Stop;
use crate::result::UNWRITABLE;

/// So many lines are kept.
const KEPT: usize = 1_000;

/// Somebody at a terminal.
pub struct Typist<'i> {
    editor: Editor<Reader<'i>, FileHistory>,
    fleet: Fleet,
    history: PathBuf,
}

/// What somebody has typed.
pub enum Typed {
    /// A statement, which may have many lines.
    Statement(String),
    /// Something that they thought better of.
    Abandoned,
    /// Nothing more.
    End,
}

impl<'i> Typist<'i> {
    /// Whoever is at the terminal, with what was typed before.
    pub fn new(
        interpreter: &'i RefCell<Interpreter>,
        fleet: &Fleet,
        history: PathBuf,
    ) -> Result<Self, Stop> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .history_ignore_space(true)
            // What is typed is shown on the terminal, also when data goes elsewhere.
            .behavior(Behavior::PreferTerm);
        let config = config.max_history_size(KEPT).map(|config| config.build());
        let mut editor = config.and_then(Editor::with_config).map_err(|error| {
            let message = format!("the terminal cannot be used: {error}");
            Stop::Failed(Box::new(Diagnostic::error(UNWRITABLE, message)))
        })?;
        editor.set_helper(Some(Reader {
            interpreter,
            fleet: fleet.clone(),
        }));
        // The first time there is none; and one that cannot be read is no reason not to work.
        let _ = editor.load_history(&history);
        let fleet = fleet.clone();
        Ok(Self {
            editor,
            fleet,
            history,
        })
    }

    /// What is typed next.
    pub fn next(&mut self) -> Typed {
        match self.editor.readline("hence> ") {
            Ok(text) => {
                self.remember(&text);
                Typed::Statement(text)
            }
            Err(ReadlineError::Interrupted) => Typed::Abandoned,
            Err(_) => Typed::End,
        }
    }

    /// Keeps what was typed at once, for who knows how this ends.
    fn remember(&mut self, text: &str) {
        if self.fleet.session().is_about_secrets(text) {
            return;
        }
        // Without a history the console is as good as one that was never used.
        let _ = self.editor.add_history_entry(text);
        let _ = self.editor.append_history(&self.history);
    }
}

/// Reads along while somebody types.
struct Reader<'i> {
    interpreter: &'i RefCell<Interpreter>,
    fleet: Fleet,
}

impl Completer for Reader<'_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let (interpreter, session) = (self.interpreter.borrow(), self.fleet.session());
        Ok(complete(&line[..cursor], &interpreter, session.pool()))
    }
}

impl Validator for Reader<'_> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let last = text.rsplit('\n').next().unwrap_or_default();
        // An empty line ends what seems to have no end.
        let is_over = last.trim().is_empty()
            || self.interpreter.borrow().completeness(text) == Completeness::Whole;
        Ok(match is_over {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Helper for Reader<'_> {}
impl Highlighter for Reader<'_> {}
impl Hinter for Reader<'_> {
    type Hint = String;
}
