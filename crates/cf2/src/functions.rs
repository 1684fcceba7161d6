//! Functions: the standard ones (figures 2 and 3), and those that users write (§6).

use std::sync::Arc;

use hence_model::cell::{Cell, Content};
use hence_model::diagnostic::{Code, Diagnostic, similar};
use hence_model::explanation::Role;
use hence_model::function::{self, Arguments, Failure, Passing, Types};
use hence_model::source::{FileId, Location, Span};
use hence_model::symbol::Symbol;
use hence_model::value::{List as ValueList, Map, Value};

use crate::datum::{
    Contribution, Datum, Elements, EntryId, Extent, Form, Home, List, Parts, Ranking, Says,
    ScopeId, Source, Stage, State,
};
use crate::evaluate::{Evaluated, Evaluator, Stop, TYPE, UNDEFINED, form, literal_datum};
use crate::lexer::is_name;
use crate::mutate::Candidate;
use crate::operators::{self, Number};
use crate::reasons::Node;
use crate::references::Selected;
use crate::syntax::{ExpressionId, Expressions, Kind};
use crate::text;
use crate::world::Custom;

/// There is no such function.
pub const UNKNOWN_FUNCTION: Code = Code::new("cf2.unknown-function");
/// A function gets too many arguments, or too few.
pub const ARGUMENTS: Code = Code::new("cf2.arguments");
/// A function refuses its arguments.
pub const FAIL: Code = Code::new("cf2.fail");
/// A configuration warns.
pub const WARN: Code = Code::new("cf2.warn");
/// A function that a user wrote is wrong.
pub const BROKEN_FUNCTION: Code = Code::new("cf2.broken-function");
/// A function cannot combine values.
pub const NOT_A_MUTATION: Code = Code::new("cf2.not-a-mutation");

const STANDARD: [&str; 11] = [
    "defined", "downcase", "fail", "join", "max", "min", "sum", "topdir", "typeof", "upcase",
    "warn",
];

/// A value that a function gets may have so many parts.
const PARTS: usize = 1 << 20;
/// A text of so many bytes counts as one of them.
const SHORT: usize = 64;

/// Whether that is a standard function.
pub fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name)
}

/// What to say to too many arguments, or too few.
pub(crate) fn wrong_count(function: &str, expected: usize, given: usize) -> String {
    let arguments = match expected {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        expected => format!("{expected} arguments"),
    };
    let are = if given == 1 { "is" } else { "are" };
    format!("`{function}` takes {arguments}, and here {are} {given}")
}

/// What is not shown.
const SECRET: &str = "‹secret›";

impl Evaluator<'_> {
    /// A call of a function.
    pub(crate) fn call(
        &mut self,
        id: ExpressionId,
        name: Symbol,
        arguments: Expressions,
        scope: ScopeId,
        home: Home,
    ) -> Evaluated {
        let span = self.span(id);
        self.because_written(span, Role::Operation);
        let arguments = self.tree.list(arguments).to_vec();
        let function = self.name(name).to_owned();
        if !is_standard(&function) {
            return self.call_custom(id, name, &arguments, scope, home);
        }
        let expected = match function.as_str() {
            "topdir" => 0,
            "join" => 2,
            _ => 1,
        };
        self.expect_arguments(&function, expected, arguments.len(), span)?;
        match (function.as_str(), arguments.as_slice()) {
            ("topdir", _) => {
                let directory = self.options.topdir.clone();
                Ok(Datum::scalar(self.unit.literals.made_text(&directory)))
            }
            ("defined", &[argument]) => {
                let defined = self.is_defined(argument, scope, home)?;
                Ok(Datum::scalar(Cell::bool(defined)))
            }
            ("typeof", &[argument]) => {
                let matters = !self.has_one_type(argument);
                let datum = self.noted_if(matters, |evaluator| {
                    evaluator.evaluate(argument, scope, home)
                })?;
                let name = self.type_of(datum);
                Ok(Datum::scalar(self.unit.literals.made_text(name)))
            }
            ("upcase" | "downcase", &[argument]) => {
                let datum = self.evaluate(argument, scope, home)?;
                let cell = self.as_scalar(datum, argument, &function)?;
                self.compute_from(self.weight(cell), span)?;
                let text = operators::text(cell, &self.unit);
                let changed = match function.as_str() {
                    "upcase" => text.to_uppercase(),
                    _ => text.to_lowercase(),
                };
                Ok(self.made_text(&changed, span)?.marked(datum.secret))
            }
            ("warn" | "fail", &[argument]) => {
                let datum = self.evaluate(argument, scope, home)?;
                let cell = self.as_scalar(datum, argument, &function)?;
                let message = match datum.secret {
                    true => SECRET.to_owned(),
                    false => operators::text(cell, &self.unit),
                };
                if function == "fail" {
                    return self.stop(Diagnostic::error(FAIL, message).at(span));
                }
                if !self.quiet {
                    self.unit
                        .report(Diagnostic::warning(WARN, message).at(span));
                }
                Ok(Datum::UNDEFINED)
            }
            ("join", &[separator, list]) => {
                let datum = self.evaluate(separator, scope, home)?;
                let cell = self.as_scalar(datum, separator, "join")?;
                let separator = operators::text(cell, &self.unit);
                let list_datum = self.evaluate(list, scope, home)?;
                let elements = self.elements(list_datum, list, "join")?;
                let mut secret = datum.secret || list_datum.secret;
                let mut joined = String::new();
                for (index, element) in elements.into_iter().enumerate() {
                    let cell = self.as_scalar(element, list, "join")?;
                    secret |= element.secret;
                    let more = self.weight(cell) + separator.len() as u64;
                    self.room_for(joined.len() as u64 + more, span)?;
                    self.compute_from(more, span)?;
                    if index > 0 {
                        joined.push_str(&separator);
                    }
                    joined.push_str(&operators::text(cell, &self.unit));
                }
                Ok(self.made_text(&joined, span)?.marked(secret))
            }
            (_, &[list]) => {
                let datum = self.evaluate(list, scope, home)?;
                let elements = self.elements(datum, list, &function)?;
                let combined = self.combine_standard(&function, &elements, span)?;
                Ok(combined.marked(datum.secret))
            }
            _ => unreachable!("the arguments were counted"),
        }
    }

    fn expect_arguments(
        &mut self,
        function: &str,
        expected: usize,
        given: usize,
        span: Span,
    ) -> Evaluated<()> {
        if given == expected {
            return Ok(());
        }
        let message = wrong_count(function, expected, given);
        self.stop(Diagnostic::error(ARGUMENTS, message).at(span))
    }

    /// The name of a value's type, as `typeof` has it.
    pub(crate) fn type_of(&self, datum: Datum) -> &'static str {
        match datum.form {
            Form::Undefined => "undef",
            Form::Block(_) => "block",
            Form::List(_) | Form::Literals(_) => "list",
            Form::Scalar(cell) => match cell.content(&self.unit.literals) {
                Content::Bool(_) => "bool",
                Content::Integer(_) | Content::Float(_) => "number",
                _ => "literal",
            },
        }
    }

    /// Whether something has a value. What does not exist has none.
    fn is_defined(&mut self, id: ExpressionId, scope: ScopeId, home: Home) -> Evaluated<bool> {
        let span = self.span(id);
        let datum = match self.tree.expression(id).kind {
            Kind::Reference(name) => {
                let root = self.scope(scope).root;
                match self.find(root, name, span)? {
                    Some(entry) => self.definedness(entry, span)?,
                    None => return Ok(false),
                }
            }
            Kind::Parameter(number) => {
                let (argument, outer) = self.argument_of(scope, number as usize);
                return self.deeper(span, |evaluator| {
                    evaluator.is_defined(argument, outer, home)
                });
            }
            Kind::Select(of, by) => {
                let has_base =
                    self.deeper(span, |evaluator| evaluator.is_defined(of, scope, home))?;
                if !has_base {
                    return Ok(false);
                }
                let base = self.evaluate(of, scope, home)?;
                match self.try_select(base, by, scope, home)? {
                    Ok(Selected::Entry(entry)) => self.definedness(entry, span)?,
                    Ok(Selected::Element(list, index)) => self.element(list, index, span)?,
                    Ok(Selected::Literal(item)) => literal_datum(item.cell),
                    Err(_) => return Ok(false),
                }
            }
            _ => self.evaluate(id, scope, home)?,
        };
        Ok(!datum.is_undefined())
    }

    /// The value of an entry of which only matters whether it is defined.
    fn definedness(&mut self, entry: EntryId, span: Span) -> Evaluated {
        let matters = self.reasons.is_none() || !self.is_always_defined(entry);
        self.noted_if(matters, |evaluator| evaluator.value(entry, span))
    }

    /// The elements of a list, all computed.
    fn elements(&mut self, datum: Datum, id: ExpressionId, by: &str) -> Evaluated<Vec<Datum>> {
        let span = self.span(id);
        match datum.form {
            Form::Literals(cell) => {
                let items = self.unit.literals.elements(cell).to_vec();
                for &item in &items {
                    self.because_item(item);
                }
                Ok(items.iter().map(|item| literal_datum(item.cell)).collect())
            }
            Form::List(list) => {
                let count = self.lists[list.0 as usize].states.len();
                (0..count)
                    .map(|index| self.element(list, index, span))
                    .collect()
            }
            Form::Undefined => {
                let message = format!("`{by}` needs a list, and this is undefined");
                self.stop(Diagnostic::error(UNDEFINED, message).at(span))
            }
            _ => {
                let type_ = self.type_name(datum);
                let message = format!("`{by}` needs a list, and this is {type_}");
                self.stop(Diagnostic::error(TYPE, message).at(span))
            }
        }
    }

    /// `max`, `min` or `sum` of values.
    fn combine_standard(&mut self, function: &str, values: &[Datum], span: Span) -> Evaluated {
        let secret = values.iter().any(|value| value.secret);
        let mut cells = Vec::with_capacity(values.len());
        for value in values {
            match value.form {
                Form::Scalar(cell) => cells.push(cell),
                _ => {
                    let type_ = self.type_name(*value);
                    let message = format!("`{function}` combines numbers, and here is {type_}");
                    return self.stop(Diagnostic::error(TYPE, message).at(span));
                }
            }
        }
        let numbers: Option<Vec<Number>> = cells
            .iter()
            .map(|&cell| Number::of(cell, &self.unit))
            .collect();
        let is_text = |&cell: &Cell| matches!(cell.content(&self.unit.literals), Content::Text(_));
        let all_text = cells.iter().all(is_text);
        let best = |is_better: &dyn Fn(usize, usize) -> bool| {
            (0..cells.len()).reduce(|best, next| if is_better(next, best) { next } else { best })
        };
        let chosen = match (function, numbers) {
            ("sum", Some(numbers)) => {
                let mut total = self.unit.literals.integer(0);
                for number in numbers {
                    let so_far = Number::of(total, &self.unit).expect("a sum is a number");
                    total = match operators::add(so_far, number, &mut self.unit) {
                        Ok(total) => total,
                        Err(trouble) => {
                            return self
                                .stop(Diagnostic::error(trouble.code, trouble.message).at(span));
                        }
                    };
                }
                return Ok(Datum::scalar(total).marked(secret));
            }
            ("max", Some(numbers)) => best(&|one, other| numbers[one] > numbers[other]),
            ("min", Some(numbers)) => best(&|one, other| numbers[one] < numbers[other]),
            ("max" | "min", None) if all_text => {
                let bytes = cells.iter().map(|&cell| self.weight(cell)).sum();
                self.compute_from(bytes, span)?;
                let texts: Vec<String> = cells
                    .iter()
                    .map(|&cell| operators::text(cell, &self.unit))
                    .collect();
                match function {
                    "max" => best(&|one, other| texts[one] > texts[other]),
                    _ => best(&|one, other| texts[one] < texts[other]),
                }
            }
            _ => {
                let message = match function {
                    "sum" => "`sum` adds numbers, and not all of these are".to_owned(),
                    _ => {
                        format!("`{function}` compares numbers with numbers, and texts with texts")
                    }
                };
                return self.stop(Diagnostic::error(TYPE, message).at(span));
            }
        };
        match chosen {
            Some(chosen) => Ok(Datum::scalar(cells[chosen]).marked(secret)),
            None => Ok(Datum::UNDEFINED),
        }
    }

    /// How a function combines values, if it can.
    pub(crate) fn mutation(&mut self, name: Symbol, span: Span) -> Evaluated<function::Mutation> {
        let text = self.name(name).to_owned();
        let span = self.named_behind(span, &text);
        let mutation = match text.as_str() {
            "max" | "min" | "sum" => Some(function::Mutation::Commutative),
            standard if is_standard(standard) => None,
            _ => self.custom(name, span)?.get().mutation(),
        };
        match mutation {
            Some(mutation) => Ok(mutation),
            None => {
                let message = format!("`{text}` cannot combine the values of a resource");
                self.stop(Diagnostic::error(NOT_A_MUTATION, message).at(span).help(
                    "`max`, `min` and `sum` can, and functions of yours that have a `mutate`",
                ))
            }
        }
    }

    /// The place of a function in the operator behind a resource: `X ~(function)> …`; that of the resource, if there is
    /// something else between them.
    fn named_behind(&self, resource: Span, function: &str) -> Span {
        let sources = &self.unit.sources;
        let end = sources.span(sources.file_at(resource.start)).end;
        let rest = sources.slice(Span::new(resource.end, end));
        let behind = rest.trim_start_matches([' ', '\t', '~', '(']);
        if !behind.starts_with(function) {
            return resource;
        }
        let start = end - behind.len() as u32;
        Span::new(start, start + function.len() as u32)
    }

    /// Combines the values of the highest candidates with what is below them (§4.3).
    pub(crate) fn mutate(
        &mut self,
        name: Symbol,
        highest: &[Candidate],
        values: Vec<(Datum, Span)>,
        rest: Vec<Candidate>,
        home: Home,
    ) -> Evaluated {
        let span = highest[0].span;
        let text = self.name(name).to_owned();
        if is_standard(&text) {
            let below = self.deeper(span, |evaluator| evaluator.combine(rest, home))?;
            let below = (!below.is_undefined()).then_some((below, span));
            return self.mutate_values(name, values, below, span);
        }
        let function = self.custom(name, span)?;
        let count = values.len();
        let mut given: Vec<Given> = values
            .into_iter()
            .map(|(datum, span)| Given::Datum(datum, span))
            .collect();
        if !rest.is_empty() {
            given.push(Given::Below(rest));
        }
        self.run(&function, name, given, span, home, Use::Mutation(count))
    }

    /// Combines values that are known.
    pub(crate) fn mutate_values(
        &mut self,
        name: Symbol,
        values: Vec<(Datum, Span)>,
        below: Option<(Datum, Span)>,
        span: Span,
    ) -> Evaluated {
        let text = self.name(name).to_owned();
        let count = values.len();
        let all = values.into_iter().chain(below);
        if is_standard(&text) {
            let all: Vec<Datum> = all.map(|value| value.0).collect();
            return match all.as_slice() {
                [only] => Ok(*only),
                all => self.combine_standard(&text, all, span),
            };
        }
        let function = self.custom(name, span)?;
        let given = all.map(|(datum, span)| Given::Datum(datum, span)).collect();
        let home = Home {
            order: crate::datum::OrderId(0),
            entry: None,
        };
        self.run(&function, name, given, span, home, Use::Mutation(count))
    }

    /// A function that a user wrote.
    fn custom(&mut self, name: Symbol, span: Span) -> Evaluated<Function> {
        let text = self.name(name).to_owned();
        match self.world.function(&text) {
            Some(Ok(custom)) => {
                let Err(faults) = &custom.function else {
                    return Ok(Function(custom));
                };
                for fault in faults {
                    let mut diagnostic = Diagnostic::error(BROKEN_FUNCTION, fault.message.clone());
                    diagnostic.help.extend(fault.help.clone());
                    let diagnostic = match self.place_in_function(&custom, fault.place) {
                        Some(place) => diagnostic.at(place).label(span, "it is used here"),
                        None => diagnostic.at(span),
                    };
                    let _: Evaluated<()> = self.stop(diagnostic);
                }
                Err(Stop)
            }
            Some(Err(trouble)) => {
                let message = format!("the function `{text}` cannot be read: {trouble}");
                self.stop(Diagnostic::error(BROKEN_FUNCTION, message).at(span))
            }
            None => {
                let message = format!("there is no function `{text}`");
                let mut diagnostic = Diagnostic::error(UNKNOWN_FUNCTION, message).at(span);
                let file = self.unit.sources.file_at(span.start);
                if let Some(defined) = self.tree.macro_named(file, name) {
                    // The name stands above the use, and the definition does not end above it.
                    let help = match defined.end <= span.start {
                        true => "a macro cannot use itself",
                        false => "a macro can be used only below its definition: move it up",
                    };
                    diagnostic = diagnostic
                        .label(defined, "a macro of that name is defined here")
                        .help(help);
                } else if let Some(near) = self.function_like(&text, file, span) {
                    diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
                } else {
                    diagnostic = diagnostic
                        .help("functions of yours are found in the directories given with `-F`");
                }
                self.stop(diagnostic)
            }
        }
    }

    /// The standard function, or macro that can be used there, whose name is most like one that nothing has.
    fn function_like(&self, text: &str, file: FileId, place: Span) -> Option<String> {
        let macros = self.tree.macros_above(file, place);
        let macros: Vec<String> = macros.map(|name| self.name(name).to_owned()).collect();
        let names = STANDARD
            .into_iter()
            .chain(macros.iter().map(String::as_str));
        Some((*similar(text, names).first()?).to_owned())
    }

    /// A place in the text of a function, which becomes a source for it.
    fn place_in_function(&mut self, custom: &Custom, place: (u32, u32)) -> Option<Span> {
        let sources = &mut self.unit.sources;
        let file = match sources.named(&custom.path) {
            Some(file) => file,
            None => sources.add(&custom.path, &custom.text).ok()?,
        };
        let (line, column) = place;
        let at = match sources.offset(file, line, column) {
            Some(at) => at,
            None => sources.line(file, line)?.end,
        };
        Some(sources.character(at))
    }

    fn call_custom(
        &mut self,
        id: ExpressionId,
        name: Symbol,
        arguments: &[ExpressionId],
        scope: ScopeId,
        home: Home,
    ) -> Evaluated {
        let span = self.span(id);
        let function = self.custom(name, span)?;
        let text = self.name(name).to_owned();
        let count = function.get().parameters().len();
        self.expect_arguments(&text, count, arguments.len(), span)?;
        let mut given = Vec::with_capacity(count);
        for (parameter, &argument) in function.get().parameters().iter().zip(arguments) {
            if parameter.passing == Passing::Unevaluated {
                given.push(Given::Unevaluated(argument, scope, parameter.types));
                continue;
            }
            let datum = self.evaluate(argument, scope, home)?;
            self.check_type(&text, datum, parameter.types, self.span(argument))?;
            given.push(Given::Datum(datum, self.span(argument)));
        }
        self.calls.insert(id, (scope, home));
        self.run(&function, name, given, span, home, Use::Call(id))
    }

    fn check_type(
        &mut self,
        function: &str,
        datum: Datum,
        types: Types,
        span: Span,
    ) -> Evaluated<()> {
        let is = match self.type_of(datum) {
            "undef" => Types::UNDEF,
            "block" => Types::BLOCK,
            "list" => Types::LIST,
            "bool" => Types::BOOL,
            "number" => Types::NUMBER,
            _ => Types::LITERAL,
        };
        if types.contain(is) {
            return Ok(());
        }
        let message = format!(
            "`{function}` takes {} here, and this is {}",
            types.words(),
            self.type_name(datum)
        );
        self.stop(Diagnostic::error(TYPE, message).at(span))
    }

    /// Runs a function that a user wrote.
    fn run(
        &mut self,
        function: &Function,
        name: Symbol,
        given: Vec<Given>,
        span: Span,
        home: Home,
        use_: Use,
    ) -> Evaluated {
        let mut arguments = Call {
            evaluator: self,
            name,
            given,
            home,
            secret: false,
        };
        let result = match use_ {
            Use::Call(_) => function.get().call(&mut arguments),
            Use::Mutation(highest) => function.get().mutate(&mut arguments, highest),
        };
        let secret = arguments.secret;
        let text = self.name(name).to_owned();
        let diagnostic = match result {
            Ok(value) => {
                let origin = match use_ {
                    Use::Call(id) => id,
                    // A place to name in explanations: the function where it is used.
                    Use::Mutation(_) => self.tree.add(Kind::Undefined, span),
                };
                return match self.made(&value, origin, home) {
                    Ok(datum) => Ok(datum.marked(secret)),
                    Err(trouble) => {
                        let message = format!("`{text}` answered with {trouble}");
                        self.stop(Diagnostic::error(BROKEN_FUNCTION, message).at(span))
                    }
                };
            }
            Err(Failure::Argument) => return Err(Stop),
            Err(Failure::Said(_)) if secret => {
                Diagnostic::error(FAIL, format!("`{text}` failed: {SECRET}"))
            }
            Err(Failure::Said(message)) => {
                Diagnostic::error(FAIL, format!("`{text}` failed: {message}"))
            }
            Err(Failure::Broken { message, place }) => {
                let message = if secret { SECRET } else { &message };
                let message = format!("`{text}` went wrong: {message}");
                let diagnostic = Diagnostic::error(BROKEN_FUNCTION, message);
                let place = place.and_then(|place| self.place_in_function(&function.0, place));
                match place {
                    Some(place) => {
                        return self.stop(diagnostic.at(place).label(span, "it is used here"));
                    }
                    None => diagnostic,
                }
            }
        };
        self.stop(diagnostic.at(span))
    }

    /// A value that a function gets: all of it is computed.
    pub(crate) fn owned(&mut self, datum: Datum, span: Span) -> Evaluated<(Value, bool)> {
        let mut parts = 0;
        let mut secret = datum.secret;
        let value = self.owned_part(datum, span, &mut parts, &mut secret)?;
        Ok((value, secret))
    }

    fn owned_part(
        &mut self,
        datum: Datum,
        span: Span,
        parts: &mut usize,
        secret: &mut bool,
    ) -> Evaluated<Value> {
        *parts += 1;
        *secret |= datum.secret;
        if *parts > PARTS {
            let message = format!("a function gets at most {PARTS} values at once");
            return self
                .stop(Diagnostic::error(hence_model::unit::OUTPUT_TOO_LARGE, message).at(span));
        }
        Ok(match datum.form {
            Form::Undefined => Value::Null,
            Form::Scalar(cell) => match cell.content(&self.unit.literals) {
                Content::Bool(bool) => Value::Bool(bool),
                Content::Integer(integer) => Value::Integer(integer),
                Content::Float(float) => Value::Float(float),
                _ => {
                    self.compute_from(self.weight(cell), span)?;
                    // A long text counts as several values.
                    *parts += self.weight(cell) as usize / SHORT;
                    Value::Text(operators::text(cell, &self.unit))
                }
            },
            Form::Literals(_) | Form::List(_) => {
                let count = match datum.form {
                    Form::List(list) => self.lists[list.0 as usize].states.len(),
                    Form::Literals(cell) => self.unit.literals.elements(cell).len(),
                    _ => unreachable!("it is a list"),
                };
                let mut values = Vec::with_capacity(count);
                for index in 0..count {
                    let element = match datum.form {
                        Form::List(list) => self.element(list, index, span)?,
                        Form::Literals(cell) => {
                            let item = self.unit.literals.elements(cell)[index];
                            self.because_item(item);
                            literal_datum(item.cell)
                        }
                        _ => unreachable!("it is a list"),
                    };
                    values.push(self.deeper(span, |evaluator| {
                        evaluator.owned_part(element, span, parts, secret)
                    })?);
                }
                Value::List(ValueList::from(values))
            }
            Form::Block(block) => {
                self.build(block, span)?;
                self.because_node(Node::Names(block));
                let mut map = Map::default();
                for entry in self.slots_of(block).to_vec() {
                    let datum = self.value(entry, span)?;
                    let value = self.deeper(span, |evaluator| {
                        evaluator.owned_part(datum, span, parts, secret)
                    })?;
                    let name = self.name(self.entry(entry).name).to_owned();
                    map.insert(name, value);
                }
                Value::Map(map)
            }
        })
    }

    /// A value that a function answered with.
    fn made(&mut self, value: &Value, origin: ExpressionId, home: Home) -> Result<Datum, String> {
        let literals = &mut self.unit.literals;
        Ok(match value {
            Value::Text(text) | Value::Reference(text) => Datum::scalar(self.unit.made_text(text)?),
            Value::Null => Datum::UNDEFINED,
            Value::Bool(bool) => Datum::scalar(Cell::bool(*bool)),
            Value::Integer(integer) => Datum::scalar(literals.integer(*integer)),
            Value::Float(float) => match text::decimal(*float, literals) {
                Some(cell) => Datum::scalar(cell),
                None => return Err("a number that is none".to_owned()),
            },
            Value::List(list) => {
                let mut states = Vec::with_capacity(list.as_slice().len());
                for element in list.as_slice() {
                    states.push(State::Done(self.made(element, origin, home)?));
                }
                self.new_list(List {
                    elements: Elements::Made(origin),
                    home,
                    states,
                    extent: Extent::Unknown,
                })
            }
            Value::Map(map) => {
                let block = self.new_block(Parts::Many(Box::new([])), Ranking::Files, home);
                let mut entries: Vec<EntryId> = Vec::with_capacity(map.len());
                for (key, value) in map.iter() {
                    if !is_name(key) {
                        return Err(format!("a block that has `{key}`, which cannot be a name"));
                    }
                    let name = self.unit.symbols.intern_text(&self.unit.sources, key);
                    let says = Contribution {
                        source: Source::Made(origin),
                        scope: ScopeId(0),
                        rank: 0,
                    };
                    let entry = self.new_entry(block, name, Says::One(says));
                    let inner = Home {
                        entry: Some(entry),
                        ..home
                    };
                    let datum = self.made(value, origin, inner)?;
                    self.entries[entry.0 as usize].state = State::Done(datum);
                    entries.push(entry);
                }
                let start = self.slots.len() as u32;
                self.slots.extend(entries);
                let made = &mut self.blocks[block.0 as usize];
                made.slots = (start, self.slots.len() as u32);
                made.stage = Stage::Built;
                form(Form::Block(block))
            }
        })
    }

    /// Whether two values are the same; both are computed as far as is needed to tell. If they are not, there
    /// is no result: so no value depends on it.
    pub(crate) fn equal(&mut self, one: Datum, other: Datum, span: Span) -> Evaluated<bool> {
        self.unnoted(|evaluator| {
            let (one, _) = evaluator.owned(one, span)?;
            let (other, _) = evaluator.owned(other, span)?;
            Ok(same(&one, &other))
        })
    }
}

/// Equality of values whose blocks are unordered (§3.4).
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Map(one), Value::Map(other)) => {
            let matches = |(key, value): (&str, &Value)| {
                other.get(key).is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(matches)
        }
        (Value::List(one), Value::List(other)) => {
            let (one, other) = (one.as_slice(), other.as_slice());
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (one, other) => one == other,
    }
}

/// A function that a user wrote, and that can be used.
struct Function(Arc<Custom>);

impl Function {
    fn get(&self) -> &dyn function::Function {
        match &self.0.function {
            Ok(function) => &**function,
            Err(_) => unreachable!("one that cannot be used is refused"),
        }
    }
}

/// What a function is used for.
#[derive(Clone, Copy)]
enum Use {
    Call(ExpressionId),
    /// To combine values, so many of which have the highest priority.
    Mutation(usize),
}

/// An argument.
enum Given {
    Datum(Datum, Span),
    Unevaluated(ExpressionId, ScopeId, Types),
    /// What everything of lower priority comes to.
    Below(Vec<Candidate>),
}

/// A call of a function that a user wrote.
struct Call<'c, 'w> {
    evaluator: &'c mut Evaluator<'w>,
    name: Symbol,
    given: Vec<Given>,
    home: Home,
    /// Whether a secret was given away.
    secret: bool,
}

impl Call<'_, '_> {
    fn span(&self, index: usize) -> Span {
        match &self.given[index] {
            Given::Datum(_, span) => *span,
            Given::Unevaluated(id, ..) => self.evaluator.span(*id),
            Given::Below(rest) => rest[0].span,
        }
    }

    fn evaluated(&mut self, index: usize) -> Evaluated<Value> {
        let span = self.span(index);
        let datum = match &self.given[index] {
            Given::Datum(datum, _) => *datum,
            &Given::Unevaluated(id, scope, types) => {
                let datum = self.evaluator.evaluate(id, scope, self.home)?;
                let name = self.evaluator.name(self.name).to_owned();
                self.evaluator.check_type(&name, datum, types, span)?;
                datum
            }
            Given::Below(rest) => {
                let rest = rest.clone();
                let home = self.home;
                self.evaluator
                    .deeper(span, |evaluator| evaluator.combine(rest, home))?
            }
        };
        let (value, secret) = self.evaluator.owned(datum, span)?;
        self.secret |= secret;
        Ok(value)
    }
}

impl Arguments for Call<'_, '_> {
    fn count(&self) -> usize {
        self.given.len()
    }

    fn value(&mut self, index: usize) -> Result<Value, Failure> {
        self.evaluated(index).map_err(|Stop| Failure::Argument)
    }

    fn place(&self, index: usize) -> Location {
        let span = self.span(index);
        self.evaluator.unit.sources.location(span.start)
    }

    fn text(&self, index: usize) -> String {
        self.evaluator.source(self.span(index)).to_owned()
    }
}
