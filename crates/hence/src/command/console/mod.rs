//! `hence console`: a fleet in the language of functions, for scripts and for people.
//!
//! ```text
//! for number in 1..=20 { fleet.add("feature", "F" + number); }
//! ```
//!
//! What a script changes is committed when it ends, as one change; a script that fails changes nothing.

mod completion;
mod fleet;
mod session;
mod typed;

use std::cell::RefCell;
use std::sync::mpsc::channel;
use std::thread::Builder;

use clap::Args;
use hence_functions::Mistake;
use hence_functions::interpreter::{Broken, Interpreter, show as shown};
use hence_model::diagnostic::Diagnostic;
use hence_model::source::{FileId, Sources, Span};
use rhai::{Array, Dynamic};

use super::fleet::{Changing, read, tell};
use crate::console::Console as Streams;
use crate::{Exit, STACK, Stop};
use fleet::{Fleet, Thrown};
use session::{Place, SCRIPT, Said, Session, Trouble};
use typed::{Typed, Typist};

/// What was typed is kept in this file of the ledger's directory.
const HISTORY: &str = "console-history";

/// Run a script on a fleet, or type one
#[derive(Args)]
pub struct Console {
    /// The script; without it, or as `-`, it is read from standard input
    script: Option<String>,
    /// What the script knows as `args`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
    #[command(flatten)]
    changing: Changing,
}

impl Console {
    /// Runs it.
    pub fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
        let script = self.script.as_deref().unwrap_or("-");
        let is_typed = script == "-" && streams.is_typed();
        let given = match is_typed {
            true => None,
            false => match read(streams, script) {
                Ok(given) => Some(given),
                Err(exit) => return Ok(exit),
            },
        };
        let leave = self.changing.leave()?;
        let request = self.changing.request(streams, format!("console {script}"));
        let service = self.changing.ledger.make(streams)?;
        let fleet = Fleet::new(Session::new(service, request, leave));
        let mut interpreter = Interpreter::new(|engine| fleet::register(engine, &fleet));
        let arguments = self.arguments.iter().map(|word| word.as_str().into());
        interpreter.name("args", arguments.collect::<Array>());
        interpreter.name("fleet", Dynamic::from(fleet.clone()));
        match given {
            Some((sources, file)) => self.script(streams, &fleet, &mut interpreter, &sources, file),
            None => self.dialogue(streams, &fleet, interpreter),
        }
    }

    /// Runs a whole text, and commits what it changed.
    fn script(
        &self,
        streams: &mut Streams<'_>,
        fleet: &Fleet,
        interpreter: &mut Interpreter,
        sources: &Sources,
        file: FileId,
    ) -> Result<Exit, Stop> {
        let text = sources.slice(sources.span(file));
        // The system reads this line, and finds the interpreter in it.
        let commented = text.strip_prefix("#!").map(|rest| format!("//{rest}"));
        let text = commented.as_deref().unwrap_or(text);
        let result = self.aloud(streams, fleet, || match interpreter.run(text) {
            Ok(_) => fleet.session().commit(None),
            Err(broken) => Err(trouble(broken)),
        })?;
        Ok(match result {
            Ok(()) => Exit::Done,
            Err((trouble, place)) => show(streams, sources, file, trouble, place),
        })
    }

    /// Runs statements as they are typed. One that fails has said nothing; the others are committed at the end.
    fn dialogue(
        &self,
        streams: &mut Streams<'_>,
        fleet: &Fleet,
        interpreter: Interpreter,
    ) -> Result<Exit, Stop> {
        let interpreter = RefCell::new(interpreter);
        let history = self.changing.ledger.beside(streams, HISTORY);
        let mut typist = Typist::new(&interpreter, fleet, history)?;
        loop {
            let text = match typist.next() {
                Typed::Statement(text) => text,
                Typed::Abandoned => continue,
                Typed::End => break,
            };
            let before = fleet.session().uncommitted();
            let interpreter = &mut *interpreter.borrow_mut();
            match self.aloud(streams, fleet, || interpreter.run(&text))? {
                Ok(value) if value.is_unit() => {}
                Ok(value) => writeln!(streams.data(), "{}", shown(&value))?,
                Err(broken) => {
                    fleet.session().keep(before);
                    let (trouble, place) = trouble(broken);
                    let mut sources = Sources::default();
                    let file = sources.add("console", &text);
                    let file = file.expect("what somebody types is shorter than any limit");
                    show(streams, &sources, file, trouble, place);
                }
            }
        }
        let result = self.aloud(streams, fleet, || fleet.session().commit(None));
        let Err((trouble, _)) = result? else {
            return Ok(Exit::Done);
        };
        for reason in &trouble.reasons {
            streams.refuse(reason);
        }
        Ok(trouble.exit)
    }

    /// Does something, and says meanwhile what it has to say. It is done on a thread of its own: what scripts call may be
    /// called on any, and the streams are only on this one.
    fn aloud<T: Send>(
        &self,
        streams: &mut Streams<'_>,
        fleet: &Fleet,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, Stop> {
        let (speaker, said) = channel();
        fleet.session().heard_by(Some(speaker));
        std::thread::scope(|scope| {
            let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, || {
                hence_model::stack::begin(STACK);
                let _end = Silence(fleet);
                work()
            });
            let thread = thread.expect("a thread can be started");
            let mut shown = Ok(());
            for said in said {
                // What nobody sees any more is done all the same.
                if shown.is_ok() {
                    shown = self.say(streams, said);
                }
            }
            match thread.join() {
                Ok(done) => shown.map(|()| done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn say(&self, streams: &mut Streams<'_>, said: Said) -> Result<(), Stop> {
        match said {
            Said::Printed(line) => writeln!(streams.data(), "{line}")?,
            Said::Words(words) => streams.say(&words),
            Said::Changed(receipt) => drop(tell(streams, self.changing.format, &receipt)?),
        }
        Ok(())
    }
}

/// Nothing more is said when this goes, however it goes; so nobody listens for ever.
struct Silence<'f>(&'f Fleet);

impl Drop for Silence<'_> {
    fn drop(&mut self) {
        self.0.session().heard_by(None);
    }
}

/// What broke a script: what a function of the console threw, or a mistake.
fn trouble(Broken { mistake, thrown }: Broken) -> (Trouble, Place) {
    let Mistake {
        message,
        help,
        place,
    } = mistake;
    let thrown = thrown.and_then(|thrown| thrown.try_cast::<Thrown>());
    let trouble = thrown.map(|Thrown(trouble)| trouble).unwrap_or_else(|| {
        let mut trouble = Diagnostic::error(SCRIPT, message);
        trouble.help.extend(help);
        trouble.into()
    });
    (trouble, place)
}

/// Shows what is wrong at a place of a script.
fn show(
    streams: &mut Streams<'_>,
    sources: &Sources,
    file: FileId,
    trouble: Trouble,
    place: Place,
) -> Exit {
    let span = word_at(sources, file, place);
    let reasons = trouble.reasons.into_iter();
    let reasons: Vec<Diagnostic> = reasons.map(|reason| reason.at(span)).collect();
    streams.show(sources, &reasons);
    trouble.exit
}

/// The word that begins at a place, or the character there.
fn word_at(sources: &Sources, file: FileId, (line, column): Place) -> Span {
    let whole = sources.span(file);
    let Some(start) = sources.offset(file, line, column) else {
        return Span::at(sources.line(file, line).map_or(whole.end, |line| line.end));
    };
    let rest = sources.slice(Span::new(start, whole.end));
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    match rest
        .find(|character| !is_word(character))
        .unwrap_or(rest.len())
    {
        0 => sources.character(start),
        length => Span::new(start, start + length as u32),
    }
}
