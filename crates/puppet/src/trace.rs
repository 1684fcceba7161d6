//! Where values come from, recorded once while a catalog is made.
//!
//! An origin is 32 bits: the offset of what is written, or the number of a [`Node`] for what travelled or was
//! computed. Conditions are a linked list that definitions point to. What did *not* happen is recorded too, as
//! the code that was passed by: it is looked into only when somebody asks why.

use ecow::EcoString;
use hence_model::source::Span;
use hence_model::work;
use rustc_hash::FxHashMap;

use crate::compile::Recording;
use crate::scope::ScopeId;
use crate::syntax::{Block, Definition as Defined, Expression, Kind, Lambda, Operator, Parameter};
use crate::value::Value;

/// Where a value comes from: an offset in the sources for what is written, otherwise a node of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin(u32);

const NODE: u32 = 1 << 31;

impl Origin {
    /// The origin of what comes from nowhere in particular.
    pub const NOWHERE: Self = Self(NODE - 1);

    /// The origin of something written at an offset.
    pub fn written(at: u32) -> Self {
        debug_assert!(at & NODE == 0, "sources are smaller than 2 GiB");
        Self(at)
    }

    /// The offset of what is written.
    pub fn offset(self) -> Option<u32> {
        (self.0 & NODE == 0 && self != Self::NOWHERE).then_some(self.0)
    }

    /// The number of its node, if it has one.
    pub fn node(self) -> Option<usize> {
        (self.0 & NODE != 0).then_some((self.0 & !NODE) as usize)
    }
}

/// An origin, unpacked.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a, 't> {
    /// From nowhere in particular.
    Nowhere,
    /// Written at this offset.
    Written(u32),
    /// Travelled or computed.
    Node(&'a Node<'t>),
}

/// How a value that was not written in its place came to be.
#[derive(Clone, Debug)]
pub enum Node<'t> {
    /// It came in from outside of all texts, under this name.
    Outside(EcoString),
    /// It is what a variable was defined as. The look-up began in `scope`, after `passed` pieces of code had
    /// been passed by.
    Variable {
        /// The definition that was found.
        definition: DefinitionId,
        /// Where the look-up began.
        scope: ScopeId,
        /// How much had not happened by then.
        passed: u32,
        /// The variable, as written.
        at: &'t Expression,
    },
    /// It is `undef`, as nothing defines the variable.
    Unknown {
        /// Where the look-up began.
        scope: ScopeId,
        /// How much had not happened by then.
        passed: u32,
        /// The variable, as written.
        at: &'t Expression,
    },
    /// It is an element of something: the element (`undef` if there is none), what it is an element of, and the
    /// key or index.
    Element {
        /// The access, as written.
        at: &'t Expression,
        /// The three.
        operands: Operands,
    },
    /// It was computed.
    Operation {
        /// The operator or function, as written.
        at: &'t Expression,
        /// What it was computed from.
        operands: Operands,
    },
    /// It is text with values in it.
    Interpolation {
        /// The text, as written.
        at: &'t Expression,
        /// The values; see [`Trace::pieces`].
        operands: Operands,
    },
    /// A function chose it among values, or handed it on.
    Chosen {
        /// The value.
        value: Origin,
        /// The function, as written.
        at: &'t Expression,
        /// What it looked at: the value and those before it.
        operands: Operands,
    },
    /// It is what a key was looked up as in data.
    Found {
        /// What was found; the default if nothing was.
        value: Origin,
        /// The key that was asked for.
        key: Origin,
        /// What else decided: see [`Trace::decided`].
        decided: Operands,
    },
    /// A data file was asked, and did not have the key: any key in it could have been the one.
    Lacking {
        /// Where the text of the file begins.
        start: u32,
    },
    /// A data file has the key: it could be another one, and any key behind it could have replaced it.
    Having {
        /// Where the text of the file begins.
        start: u32,
        /// How many keys stand before it.
        before: u32,
    },
    /// Something could have been said in a stretch of data.
    Unsaid {
        /// Where that begins.
        start: u32,
        /// And ends.
        end: u32,
    },
    /// Data were made into it.
    Made {
        /// How.
        by: Making,
        /// What it was made from.
        operands: Operands,
    },
    /// It was the outcome of code that ran under conditions.
    Outcome {
        /// The value.
        value: Origin,
        /// The conditions.
        control: ControlId,
        /// The conditional whose value it is, if it is that of one.
        of: Option<&'t Expression>,
    },
    /// It only depends on which elements something has: an index, or a length.
    Structure(Origin),
    /// It is so because a resource or class is there.
    Present(ResourceId),
    /// It is so because of what is said about an attribute of a resource.
    Attribute {
        /// The resource.
        of: ResourceId,
        /// The attribute.
        name: EcoString,
    },
    /// It is so because of what a look-up of a variable by its name passed, and came to.
    LookUp(Box<LookUp>),
    /// It is so because of the tags that a resource, and what contains it, has or has not.
    Tagged(ResourceId),
    /// It is so because nothing more was taken out of an iterator, after `passed` pieces of code had been passed by.
    Untaken {
        /// How much had not happened by then.
        passed: u32,
    },
    /// It is so because a resource is not there, after `passed` pieces of code had been passed by.
    Absent {
        /// How much had not happened by then.
        passed: u32,
        /// The type of the resource, in lower case.
        type_name: EcoString,
    },
}

impl<'t> Node<'t> {
    /// What is written where a value travelled, was computed or was chosen.
    pub(crate) fn written(&self) -> Option<&'t Expression> {
        match self {
            Node::Variable { at, .. }
            | Node::Unknown { at, .. }
            | Node::Element { at, .. }
            | Node::Operation { at, .. }
            | Node::Interpolation { at, .. }
            | Node::Chosen { at, .. } => Some(at),
            Node::Outcome { of, .. } => *of,
            _ => None,
        }
    }
}

/// The look-up of a variable that is named by a value.
#[derive(Clone, Debug)]
pub struct LookUp {
    /// The name.
    pub name: EcoString,
    /// The definition that was found.
    pub found: Option<DefinitionId>,
    /// Where the look-up began.
    pub scope: ScopeId,
    /// How much had not happened by then.
    pub passed: u32,
}

/// How data are made into values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Making {
    /// Values of several files were merged.
    Merge,
    /// `%{…}` in a text was replaced.
    Interpolation,
    /// A value was converted to a type, as `convert_to` says.
    Conversion,
    /// The slashes at the end of a file's title were left out.
    Path,
    /// A value was added to what an attribute had: `+>`.
    Addition,
    /// The arrays in an array were opened, as an attribute with references in it shows them.
    Flattening,
}

/// What an operation was computed from: see [`Trace::operands`].
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    start: u32,
    len: u32,
}

/// A definition of a variable, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DefinitionId(u32);

impl DefinitionId {
    /// A small number, for tables indexed by definition.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable's value, and how it got it.
#[derive(Clone, Debug)]
pub struct Definition<'t> {
    /// The value.
    pub value: Value,
    /// Under which conditions it was defined.
    pub control: ControlId,
    /// How.
    pub how: How<'t>,
}

/// How a variable was defined.
#[derive(Clone, Copy, Debug)]
pub enum How<'t> {
    /// `$a = …`
    Assigned(&'t Expression),
    /// Given to a parameter.
    Given(&'t Parameter),
    /// The default of a parameter.
    Default(&'t Parameter),
    /// Found in the data for a parameter.
    Data(&'t Parameter),
    /// By the language: `$title`, `$facts`.
    Language,
}

impl<'t> How<'t> {
    /// The name of the variable, if it is defined alone.
    pub(crate) fn name(self) -> Option<&'t str> {
        match self {
            How::Assigned(at) => match &at.kind {
                Kind::Assign(sides) => match &sides[0].kind {
                    Kind::Variable(name) => Some(name),
                    _ => None,
                },
                _ => None,
            },
            How::Given(parameter) | How::Default(parameter) | How::Data(parameter) => {
                Some(&parameter.name)
            }
            How::Language => None,
        }
    }

    /// Where it is written, if it is.
    pub(crate) fn written(self) -> Option<Span> {
        match self {
            How::Assigned(at) => Some(at.span),
            How::Given(parameter) | How::Default(parameter) | How::Data(parameter) => {
                Some(parameter.span)
            }
            How::Language => None,
        }
    }
}

/// Conditions, by the number of the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ControlId(u32);

impl ControlId {
    /// No condition at all.
    pub const NONE: ControlId = ControlId(0);

    /// A small number, for tables indexed by conditions.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A condition, and those around it.
#[derive(Clone, Debug)]
pub struct Control<'t> {
    /// The conditions around it.
    pub around: ControlId,
    /// What code ran because of.
    pub cause: Cause<'t>,
}

impl Cause<'_> {
    /// What is written where that was decided.
    pub(crate) fn written(&self) -> Option<Span> {
        match self {
            Cause::Test { at, .. } | Cause::Element { at, .. } | Cause::Called(at) => Some(at.span),
            Cause::Node(definition) => Some(definition.span),
            Cause::Always | Cause::Stayed { .. } | Cause::Declared(_) => None,
        }
    }
}

/// What code ran because of.
#[derive(Clone, Debug)]
pub enum Cause<'t> {
    /// Nothing: the top.
    Always,
    /// A test came out as it did.
    Test {
        /// What was tested.
        outcome: Origin,
        /// The conditional.
        at: &'t Expression,
    },
    /// Code that would have left this was passed by.
    Stayed {
        /// What decided that.
        outcome: Origin,
    },
    /// There was something to go through.
    Element {
        /// What was gone through.
        of: Origin,
        /// The call.
        at: &'t Expression,
    },
    /// A function was called.
    Called(&'t Expression),
    /// A resource of a defined type, or a class, was declared.
    Declared(ResourceId),
    /// The node has that name.
    Node(&'t Defined),
}

/// A resource, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(u32);

impl ResourceId {
    /// The resource with that number.
    pub fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// A small number, for tables indexed by resource.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Code that did not run, or could have run more often.
#[derive(Clone, Debug)]
pub struct Passed<'t> {
    /// What decided that.
    pub outcome: Origin,
    /// Under which conditions it was decided.
    pub control: ControlId,
    /// In which scope the code would have run.
    pub scope: ScopeId,
    /// The code.
    pub code: Code<'t>,
}

/// A piece of code.
#[derive(Clone, Copy, Debug)]
pub enum Code<'t> {
    /// A body.
    Block(&'t Block),
    /// An expression.
    Expression(&'t Expression),
    /// A lambda, which would run once more with another element.
    Lambda(&'t Lambda),
}

impl Code<'_> {
    /// What tells it from other pieces.
    pub(crate) fn address(self) -> usize {
        match self {
            Code::Block(block) => std::ptr::from_ref(block).addr(),
            Code::Expression(expression) => std::ptr::from_ref(expression).addr(),
            Code::Lambda(lambda) => std::ptr::from_ref(lambda).addr(),
        }
    }
}

/// The record of one compilation: arenas that only grow.
#[derive(Debug)]
pub struct Trace<'t> {
    recording: Recording,
    nodes: Vec<Node<'t>>,
    operands: Vec<Value>,
    definitions: Vec<Definition<'t>>,
    controls: Vec<Control<'t>>,
    passed: Vec<Passed<'t>>,
    /// What decided what look-ups in data came to.
    decided: Vec<Origin>,
    /// By the offset of a parameter of a class: what was asked in vain for it.
    missed: FxHashMap<u32, Operands>,
}

/// How much room a trace takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    nodes: usize,
    operands: usize,
    definitions: usize,
    controls: usize,
    passed: usize,
}

impl Default for Trace<'_> {
    fn default() -> Self {
        Self::new(Recording::Everything, Room::default())
    }
}

impl<'t> Trace<'t> {
    /// A trace in which nothing is recorded yet.
    pub(crate) fn new(recording: Recording, room: Room) -> Self {
        let around = ControlId::NONE;
        let cause = Cause::Always;
        let mut controls = Vec::with_capacity(room.controls);
        controls.push(Control { around, cause });
        Self {
            recording,
            nodes: Vec::with_capacity(room.nodes),
            operands: Vec::with_capacity(room.operands),
            definitions: Vec::with_capacity(room.definitions),
            controls,
            passed: Vec::with_capacity(room.passed),
            decided: Vec::new(),
            missed: FxHashMap::default(),
        }
    }

    /// How much room it takes.
    pub(crate) fn room(&self) -> Room {
        Room {
            nodes: self.nodes.len(),
            operands: self.operands.len(),
            definitions: self.definitions.len(),
            controls: self.controls.len(),
            passed: self.passed.len(),
        }
    }

    /// Records something else from now on; what was recorded so far.
    pub(crate) fn record(&mut self, recording: Recording) -> Recording {
        std::mem::replace(&mut self.recording, recording)
    }

    /// The conditionals that were decided, each as often as it was.
    pub(crate) fn decided_tests(&self) -> impl Iterator<Item = &'t Expression> + '_ {
        self.controls
            .iter()
            .filter_map(|control| match control.cause {
                Cause::Test { at, .. } => Some(at),
                _ => None,
            })
    }

    /// The `and` and `or` that were computed, each as often as it was.
    pub(crate) fn computed_logic(&self) -> impl Iterator<Item = &'t Expression> + '_ {
        self.nodes.iter().filter_map(|node| match node {
            Node::Operation { at, .. } => match at.kind {
                Kind::Binary(Operator::And | Operator::Or, _) => Some(*at),
                _ => None,
            },
            _ => None,
        })
    }

    /// Unpacks an origin.
    pub fn source(&self, origin: Origin) -> Source<'_, 't> {
        match origin.0 & NODE {
            0 if origin == Origin::NOWHERE => Source::Nowhere,
            0 => Source::Written(origin.0),
            _ => Source::Node(&self.nodes[(origin.0 & !NODE) as usize]),
        }
    }

    /// What an operation was computed from.
    pub fn operands(&self, operands: Operands) -> &[Value] {
        &self.operands[operands.start as usize..][..operands.len as usize]
    }

    /// A definition.
    pub fn definition(&self, id: DefinitionId) -> &Definition<'t> {
        &self.definitions[id.0 as usize]
    }

    /// A condition.
    pub fn control(&self, id: ControlId) -> &Control<'t> {
        &self.controls[id.0 as usize]
    }

    /// The code that was passed by so far.
    pub fn passed(&self) -> &[Passed<'t>] {
        &self.passed
    }

    /// Takes note of how a value came to be.
    pub fn add(&mut self, node: Node<'t>) -> Origin {
        work::step();
        if self.recording == Recording::Nothing {
            return Origin::NOWHERE;
        }
        self.nodes.push(node);
        Origin((self.nodes.len() - 1) as u32 | NODE)
    }

    /// Takes note of a computation.
    pub fn operation<V: Into<Value>>(
        &mut self,
        at: &'t Expression,
        operands: impl IntoIterator<Item = V>,
    ) -> Origin {
        let operands = self.keep(operands);
        self.add(Node::Operation { at, operands })
    }

    /// Takes note of a text with values in it.
    pub fn interpolation(
        &mut self,
        at: &'t Expression,
        values: impl IntoIterator<Item = Value>,
    ) -> Origin {
        let operands = self.keep(values);
        self.add(Node::Interpolation { at, operands })
    }

    /// What a text with values in it consists of: the values, and the text between them as it is written.
    pub fn pieces(&self, at: &Expression, operands: Operands) -> Vec<Value> {
        let Kind::Interpolated(pieces) = &at.kind else {
            return Vec::new();
        };
        let mut values = self.operands(operands).iter();
        let piece = |piece: &Expression| match &piece.kind {
            Kind::Text(text) => Some(Value::new(text.clone(), Origin::written(piece.span.start))),
            _ => values.next().cloned(),
        };
        pieces.iter().filter_map(piece).collect()
    }

    /// Takes note of a choice among values.
    pub fn choice<V: Into<Value>>(
        &mut self,
        at: &'t Expression,
        value: Origin,
        operands: impl IntoIterator<Item = V>,
    ) -> Origin {
        let operands = self.keep(operands);
        self.add(Node::Chosen {
            value,
            at,
            operands,
        })
    }

    /// Takes note of what decided something that is no value.
    pub fn reasons(&mut self, reasons: impl IntoIterator<Item = Origin>) -> Origin {
        self.found(Origin::NOWHERE, Origin::NOWHERE, reasons)
    }

    /// Takes note of how data were made into a value.
    pub fn made<V: Into<Value>>(
        &mut self,
        by: Making,
        operands: impl IntoIterator<Item = V>,
    ) -> Origin {
        let operands = self.keep(operands);
        self.add(Node::Made { by, operands })
    }

    /// Where data are written, or the first of those that they were made from.
    pub fn begins(&self, mut origin: Origin) -> Option<u32> {
        while let Source::Node(Node::Made { operands, .. }) = self.source(origin) {
            origin = self.operands(*operands).first()?.origin;
        }
        origin.offset()
    }

    /// Takes note of what a look-up in data came to, and what decided that.
    pub fn found(
        &mut self,
        value: Origin,
        key: Origin,
        decided: impl IntoIterator<Item = Origin>,
    ) -> Origin {
        let decided = self.keep_decided(decided);
        self.add(Node::Found {
            value,
            key,
            decided,
        })
    }

    /// Takes note of what was asked in vain for a parameter of a class.
    pub fn miss(&mut self, parameter: Span, decided: impl IntoIterator<Item = Origin>) {
        let decided = self.keep_decided(decided);
        self.missed.insert(parameter.start, decided);
    }

    /// What was asked in vain for a parameter of a class that got its default.
    pub fn missed(&self, parameter: Span) -> &[Origin] {
        let missed = self.missed.get(&parameter.start);
        missed.map_or(&[], |decided| self.decided(*decided))
    }

    /// What decided what a look-up in data came to: the options of the key, what the paths of data files were
    /// made from, and which files were asked and did not have the key.
    pub fn decided(&self, decided: Operands) -> &[Origin] {
        &self.decided[decided.start as usize..][..decided.len as usize]
    }

    fn keep_decided(&mut self, decided: impl IntoIterator<Item = Origin>) -> Operands {
        let start = self.decided.len() as u32;
        self.decided.extend(decided);
        let len = self.decided.len() as u32 - start;
        Operands { start, len }
    }

    /// Takes note that a value is an element of another.
    pub fn element(&mut self, at: &'t Expression, parts: [Value; 3]) -> Origin {
        let operands = self.keep(parts);
        self.add(Node::Element { at, operands })
    }

    fn keep<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> Operands {
        let start = self.operands.len() as u32;
        if self.recording == Recording::Nothing {
            return Operands { start, len: 0 };
        }
        let values = values.into_iter().inspect(|_| work::step());
        self.operands.extend(values.map(Into::into));
        let len = self.operands.len() as u32 - start;
        Operands { start, len }
    }

    /// Takes note of a definition.
    pub fn define(&mut self, definition: Definition<'t>) -> DefinitionId {
        self.definitions.push(definition);
        DefinitionId(self.definitions.len() as u32 - 1)
    }

    /// Takes note of a condition.
    pub fn under(&mut self, around: ControlId, cause: Cause<'t>) -> ControlId {
        if self.recording == Recording::Nothing {
            return around;
        }
        self.controls.push(Control { around, cause });
        ControlId(self.controls.len() as u32 - 1)
    }

    /// Takes note of code that did not run.
    pub fn pass(&mut self, passed: Passed<'t>) {
        if self.recording == Recording::Everything {
            self.passed.push(passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_very_much_of_is_small() {
        assert_eq!(size_of::<Node<'_>>(), 24);
        assert_eq!(size_of::<Control<'_>>(), 24);
        assert_eq!(size_of::<Passed<'_>>(), 32);
        assert_eq!(size_of::<Definition<'_>>(), 56);
    }
}
