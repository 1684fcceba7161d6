//! SmartFrog's own syntax: what is printed compiles to the same value again.

use std::io::{self, Write};

use hence_model::cell::Cell;
use hence_model::print::Output;
use hence_model::source::Span;
use hence_model::unit::Unit;
use hence_model::value::{Event, Sink};

use crate::lexer::{Dialect, Keyword, Lexer, Token};

/// Prints SmartFrog.
pub struct SmartFrog<W: Write> {
    out: Output<W>,
    /// The language that is to read it again.
    dialect: Dialect,
    levels: usize,
    /// The lists that are open; text between their elements depends on it.
    lists: usize,
    after_element: bool,
}

impl<W: Write> SmartFrog<W> {
    /// SmartFrog of a dialect that goes to `writer`.
    pub fn new(writer: W, dialect: Dialect) -> Self {
        let mut out = Output::new(writer);
        out.text("sfConfig");
        Self {
            out,
            dialect,
            levels: 0,
            lists: 0,
            after_element: false,
        }
    }

    /// Ends the last line, and tells how the writing went.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.byte(b'\n');
        self.out.finish()
    }

    fn separate(&mut self) {
        match self.lists {
            0 => self.out.byte(b' '),
            _ if self.after_element => self.out.text(", "),
            _ => {}
        }
    }

    fn end_value(&mut self) {
        self.after_element = true;
        if self.lists == 0 {
            self.out.byte(b';');
        }
    }
}

impl<W: Write> Sink for SmartFrog<W> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Key(key) => {
                self.out.line(self.levels);
                print_name(&mut self.out, key, self.dialect);
            }
            Event::MapStart => {
                self.out.text(" extends {");
                self.levels += 1;
            }
            Event::MapEnd => {
                self.levels -= 1;
                self.out.line(self.levels);
                self.out.byte(b'}');
            }
            Event::ListStart => {
                self.separate();
                self.out.byte(b'[');
                self.lists += 1;
                self.after_element = false;
            }
            Event::ListEnd => {
                self.out.byte(b']');
                self.lists -= 1;
                self.end_value();
            }
            scalar => {
                self.separate();
                print_scalar(&mut self.out, scalar, self.dialect);
                self.end_value();
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.out.is_closed()
    }
}

fn print_name<W: Write>(out: &mut Output<W>, name: &str, dialect: Dialect) {
    match is_word(name, dialect) {
        true => out.text(name),
        false => out.quoted(name),
    }
}

fn print_scalar<W: Write>(out: &mut Output<W>, scalar: Event<'_>, dialect: Dialect) {
    match scalar {
        Event::Null => out.text("NULL"),
        Event::Bool(true) => out.text("true"),
        Event::Bool(false) => out.text("false"),
        Event::Integer(integer) => out.integer(integer),
        Event::Float(float) => out.float(float),
        Event::Text(text) => out.quoted(text),
        // What is left to the run time is written as it is.
        Event::Reference(text) if dialect == Dialect::Production && is_of_run_time(text) => {
            out.text(text);
        }
        Event::Reference(text) => {
            out.text("DATA ");
            out.text(text);
        }
        _ => unreachable!("not a scalar"),
    }
}

/// Whether a reference of the production language begins with a word that leaves it to the run time.
pub(crate) fn is_of_run_time(text: &str) -> bool {
    use Keyword::*;
    let word = text.split([' ', '(', ':']).next().unwrap_or("");
    Keyword::from_text(word).is_some_and(|keyword| {
        keyword.is_of_run_time() || matches!(keyword, Lazy | Optional | Apply | Assert | Var)
    })
}

/// A name as it is written: in quotes if it must be.
pub(crate) fn name(name: &str, dialect: Dialect) -> String {
    let mut out = Output::new(Vec::new());
    print_name(&mut out, name, dialect);
    text_of(out)
}

/// Whether a name can be written without quotes. Only the production language has names that cannot.
fn is_word(name: &str, dialect: Dialect) -> bool {
    let mut lexer = Lexer {
        position: 0,
        end: name.len() as u32,
        dialect,
    };
    let (token, span) = lexer.next(name, &mut Vec::new());
    token == Token::Word && span == Span::new(0, name.len() as u32)
}

/// A literal as the production language writes it.
pub fn literal(unit: &Unit, cell: Cell) -> String {
    let mut printer = SmartFrog {
        out: Output::new(Vec::new()),
        dialect: Dialect::Production,
        levels: 0,
        // As in a list, nothing stands before or behind it.
        lists: 1,
        after_element: false,
    };
    unit.literals.send(&unit.sources, cell, &mut printer);
    text_of(printer.out)
}

fn text_of(out: Output<Vec<u8>>) -> String {
    let bytes = out.finish().expect("a vector takes everything");
    String::from_utf8(bytes).expect("only text was printed")
}
