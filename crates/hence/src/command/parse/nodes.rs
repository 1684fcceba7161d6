//! Nodes of a syntax tree, as JSON.

use std::io::Write;

use hence_model::cell::Cell;
use hence_model::print::json::Json;
use hence_model::source::Span;
use hence_model::unit::Unit;
use hence_model::value::{Event, Sink};

use crate::places::Places;

/// Writes nodes: each has a `kind` first and its `span` last.
pub struct Nodes<'a, W: Write> {
    /// What the tree is about.
    pub unit: &'a Unit,
    /// Where it stands.
    pub places: Places<'a>,
    /// Where it goes.
    pub json: Json<W>,
}

impl<W: Write> Nodes<'_, W> {
    /// A literal.
    pub fn literal(&mut self, cell: Cell, span: Span) {
        self.begin("literal");
        self.json.event(Event::Key("value"));
        self.value(cell);
        self.end(span);
    }

    /// A value as JSON.
    pub fn value(&mut self, cell: Cell) {
        let unit = self.unit;
        unit.literals.send(&unit.sources, cell, &mut self.json);
    }

    /// Begins a node.
    pub fn begin(&mut self, kind: &str) {
        self.json.event(Event::MapStart);
        self.text("kind", kind);
    }

    /// Ends a node.
    pub fn end(&mut self, span: Span) {
        self.json.event(Event::Key("span"));
        self.json.event(Event::MapStart);
        for (key, number) in self.places.of(span).entries() {
            self.json.event(Event::Key(key));
            self.json.event(Event::Integer(number.into()));
        }
        self.json.event(Event::MapEnd);
        self.json.event(Event::MapEnd);
    }

    /// Begins a list.
    pub fn begin_list(&mut self, key: &str) {
        self.json.event(Event::Key(key));
        self.json.event(Event::ListStart);
    }

    /// Adds a text.
    pub fn text(&mut self, key: &str, text: &str) {
        self.json.event(Event::Key(key));
        self.json.event(Event::Text(text));
    }
}
