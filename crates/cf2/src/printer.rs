//! CF2's own syntax: what is printed compiles to the same value again.
//!
//! Two spaces for each level, one resource a line, lists on one line, and no quotes where none are needed.

use std::io::{self, Write};

use hence_model::cell::Cell;
use hence_model::print::Output;
use hence_model::unit::Unit;
use hence_model::value::{Event, Sink};

use crate::lexer::is_bare;

/// Prints CF2.
pub struct Cf2<W: Write> {
    out: Output<W>,
    /// The blocks and lists that are open, outermost first.
    open: Vec<Open>,
    /// How many of them are blocks, but for the configuration itself.
    levels: usize,
}

struct Open {
    kind: Container,
    /// Whether something stands in it already.
    filled: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    /// The configuration itself: its braces are not written.
    Configuration,
    Block,
    List,
}

impl<W: Write> Cf2<W> {
    /// CF2 that goes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            out: Output::new(writer),
            open: Vec::new(),
            levels: 0,
        }
    }

    /// Ends the last line, and tells how the writing went.
    pub fn finish(self) -> io::Result<W> {
        self.out.finish()
    }

    fn separate(&mut self) {
        if let Some(Open {
            kind: Container::List,
            filled,
        }) = self.open.last_mut()
            && std::mem::replace(filled, true)
        {
            self.out.byte(b',');
        }
    }

    fn start(&mut self, kind: Container) {
        self.separate();
        let kind = match (kind, self.open.is_empty()) {
            (Container::Block, true) => Container::Configuration,
            (kind, _) => kind,
        };
        match kind {
            Container::Configuration => {}
            Container::Block => {
                self.levels += 1;
                self.out.byte(b'{');
            }
            Container::List => self.out.byte(b'['),
        }
        self.open.push(Open {
            kind,
            filled: false,
        });
    }

    fn end(&mut self) {
        let closed = self.open.pop().expect("an end follows its start");
        if closed.kind == Container::Block {
            self.levels -= 1;
        }
        match (closed.kind, closed.filled) {
            (Container::Configuration, true) => self.out.byte(b'\n'),
            (Container::Configuration, false) => {}
            (Container::Block, true) => {
                self.out.line(self.levels);
                self.out.byte(b'}');
            }
            (Container::Block, false) => self.out.byte(b'}'),
            (Container::List, _) => self.out.byte(b']'),
        }
    }
}

impl<W: Write> Sink for Cf2<W> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::MapStart => self.start(Container::Block),
            Event::ListStart => self.start(Container::List),
            Event::MapEnd | Event::ListEnd => self.end(),
            Event::Key(key) => {
                let levels = self.levels;
                let open = self.open.last_mut().expect("a key is in a block");
                let is_first = !std::mem::replace(&mut open.filled, true);
                if open.kind == Container::Block || !is_first {
                    self.out.line(levels);
                }
                self.out.text(key);
                self.out.text(" => ");
            }
            scalar => {
                self.separate();
                print_scalar(&mut self.out, scalar);
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.out.is_closed()
    }
}

fn print_scalar<W: Write>(out: &mut Output<W>, scalar: Event<'_>) {
    match scalar {
        Event::Null => out.byte(b'?'),
        Event::Bool(bool) => out.text(if bool { "true" } else { "false" }),
        Event::Integer(integer) => out.integer(integer),
        // Never with an exponent: the grammar has none. A whole one has a point, so that it is no integer.
        Event::Float(float) => {
            out.text(&float.to_string());
            if float.fract() == 0.0 {
                out.text(".0");
            }
        }
        Event::Text(text) | Event::Reference(text) if is_bare(text) => out.text(text),
        Event::Text(text) | Event::Reference(text) => quote(out, text),
        _ => unreachable!("a container is no scalar"),
    }
}

fn quote<W: Write>(out: &mut Output<W>, text: &str) {
    out.byte(b'\'');
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '\\', '\n', '\t']) {
        out.text(&rest[..at]);
        out.text(match rest.as_bytes()[at] {
            b'\'' => "\\'",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            _ => "\\t",
        });
        rest = &rest[at + 1..];
    }
    out.text(rest);
    out.byte(b'\'');
}

/// A scalar as CF2 writes it.
pub(crate) fn scalar(cell: Cell, unit: &Unit) -> String {
    let mut out = Output::new(Vec::new());
    if let Some(scalar) = unit.literals.scalar(&unit.sources, cell) {
        print_scalar(&mut out, scalar);
    }
    text(out.finish())
}

/// A list of literals as CF2 writes it.
pub(crate) fn list(cell: Cell, unit: &Unit) -> String {
    let mut cf2 = Cf2::new(Vec::new());
    unit.literals.send(&unit.sources, cell, &mut cf2);
    text(cf2.finish())
}

fn text(bytes: io::Result<Vec<u8>>) -> String {
    let bytes = bytes.expect("a vector takes everything");
    String::from_utf8(bytes).expect("CF2 is text")
}
