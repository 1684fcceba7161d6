//! Random specifications, and what they mean.
//!
//! The text is written with the definitions running beside it: where a reference is to stand, it is
//! chosen from the store as it is at that very point, from every namespace around. So most
//! specifications have a value however tangled they are, and one that has none was meant to.

mod literal;

use std::fmt::Write;

use hence_model::source::{Files, ReadError};
use hence_model::unit::Unit;
use hence_model::value::Value;

use crate::definitional::core::{
    Evaluation, Identifier, ORDER, Reference, Store, Value as Stored, bind, concatenate, constrain,
    find, inherit, resolve,
};
use crate::definitional::{Budget, ErrorRule, forward, hand_out};
use crate::evaluate::Links;
use crate::lexer::Dialect;
use crate::tree;

pub use hence_model::random::Random;

/// For which semantics a specification is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The core semantics.
    Core,
    /// The forward semantics: links look ahead.
    Forward,
}

impl Kind {
    /// When links are followed.
    pub fn links(self) -> Links {
        match self {
            Kind::Core => Links::AtOnce,
            Kind::Forward => Links::Later,
        }
    }
}

/// A specification that nobody wrote.
#[derive(Clone, Debug)]
pub struct Specification {
    /// Names and texts; the first is the one to compile, and includes the others.
    pub files: Vec<(String, String)>,
    /// What it means.
    pub expected: Result<Value, ErrorRule>,
}

impl Files for Specification {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        read(&self.files, name, text)
    }
}

fn read(files: &[(String, String)], name: &str, text: &mut String) -> Result<(), ReadError> {
    let file = files.iter().find(|(file, _)| file == name);
    let (_, content) = file.ok_or(ReadError::Missing)?;
    text.push_str(content);
    Ok(())
}

/// The specification that belongs to a seed; of about `size` statements.
pub fn specification(kind: Kind, seed: u64, size: usize) -> Specification {
    let mut writer = Writer::new(kind, seed, size);
    writer.specification();
    writer.finish()
}

/// How deep blocks are nested in the text.
const DEEPEST: usize = 6;

/// How much the second pass of the forward semantics may do.
const SECOND_PASS: Budget = Budget(20_000);

struct Writer {
    random: Random,
    kind: Kind,
    names: Vec<Identifier>,
    /// How many statements may still be written.
    left: usize,
    /// How many values the store may hold: copies of blocks with copies in them explode.
    bound: u64,
    /// Whether there are order constraints.
    ordered: bool,
    /// What is to go wrong, if there is a chance.
    mischief: Option<ErrorRule>,
    /// How often, in a hundred.
    mischievous: usize,
    files: Vec<(String, String)>,
    /// The files being written, the innermost last.
    open: Vec<usize>,
    levels: usize,
    /// The store as the text so far makes it; no longer changed after the first error.
    s: Store,
    error: Option<ErrorRule>,
    /// The namespaces of links that are to be chosen when all is written.
    ahead: Vec<Reference>,
}

/// The order constraints that a body has given so far.
type Order = Vec<(Identifier, Identifier)>;

impl Writer {
    fn new(kind: Kind, seed: u64, size: usize) -> Self {
        let mut random = Random::new(seed);
        let count = if random.chance(12) {
            26
        } else {
            3 + random.below(6)
        };
        let letters = ('a'..='z').take(count);
        let mut names: Vec<Identifier> = letters.map(|c| c.to_string().into()).collect();
        for unusual in [
            "é",
            "trueish",
            "order",
            "_x1",
            "NULLs",
            "sfConfigs",
            "DATA_",
        ] {
            if random.chance(6) {
                names.push(unusual.into());
            }
        }
        use ErrorRule::*;
        let mischief = random
            .chance(30)
            .then(|| *random.pick(&[Err1, Err2, Err4, Err5, Err7]));
        Self {
            kind,
            names,
            left: size,
            bound: 100 + 8 * size as u64,
            ordered: random.chance(20),
            mischief,
            mischievous: 1 + 200 / (size + 1),
            files: vec![("main.sf".into(), String::new())],
            open: vec![0],
            levels: 0,
            s: Store::default(),
            error: None,
            ahead: Vec::new(),
            random,
        }
    }

    /// Some statements, `sfConfig`, and some more.
    fn specification(&mut self) {
        let mut order = Order::new();
        let size = self.left;
        self.left = self.random.below(size * 2 / 3 + 1);
        self.statements(&[], size, &mut order);
        self.left = size / 2 + 1;
        self.configuration();
        self.left = self.random.below(size / 8 + 1);
        self.statements(&[], size, &mut order);
        if self.mischief == Some(ErrorRule::Err7) && self.random.chance(30) {
            self.assign_literal(&[], &["sfConfig".into()], None);
        }
    }

    fn configuration(&mut self) {
        let target = ["sfConfig".into()];
        let wrong = self.mischief == Some(ErrorRule::Err7);
        match self.random.below(10) {
            0..4 if wrong => {}
            4..7 if wrong => self.assign_literal(&[], &target, None),
            0 => match self.store_reference(&[], &target) {
                Some(reference) => self.assign_link(&[], &target, None, &reference),
                None => self.assign_block(&[], &target, None),
            },
            _ => self.assign_block(&[], &target, None),
        }
    }

    /// Up to so many statements in a namespace.
    fn statements(&mut self, ns: &[Identifier], count: usize, order: &mut Order) {
        for _ in 0..count {
            let Some(left) = self.left.checked_sub(1) else {
                return;
            };
            self.left = left;
            match self.random.below(100) {
                0..3 if self.open.len() < 4 => self.include(ns, order),
                3..5 => self.include_again(ns, order),
                5..15 if self.ordered => self.constrain(ns, order),
                15..18 => {
                    let comment = *self
                        .random
                        .pick(&["// a; b 1;", "/* } */", "/* a\n*b */ // c"]);
                    self.line(comment);
                    self.assignment(ns);
                }
                _ => self.assignment(ns),
            }
        }
    }

    fn assignment(&mut self, ns: &[Identifier]) {
        let (target, error) = self.target(ns);
        match self.random.below(100) {
            0..38 => self.assign_literal(ns, &target, error),
            38..65 => match self.link_reference(ns) {
                Some(reference) => self.assign_link(ns, &target, error, &reference),
                None => self.assign_literal(ns, &target, error),
            },
            _ => self.assign_block(ns, &target, error),
        }
    }

    /// A left side, and what is wrong with it.
    fn target(&mut self, ns: &[Identifier]) -> (Reference, Option<ErrorRule>) {
        match self.mischief() {
            Some(ErrorRule::Err1) => {
                if let Some(mut target) = self.path(ns, |v| !matches!(v, Stored::Store(_))) {
                    target.push(self.name(ns));
                    return (target, Some(ErrorRule::Err1));
                }
            }
            Some(ErrorRule::Err2) => {
                let within = self.path(ns, |v| matches!(v, Stored::Store(_)));
                let mut target = within
                    .filter(|_| self.random.chance(50))
                    .unwrap_or_default();
                target.push(self.name(ns));
                if find(&self.s, &concatenate(ns, &target)).is_none() {
                    target.push(self.name(ns));
                    return (target, Some(ErrorRule::Err2));
                }
            }
            _ => {}
        }
        let mut target = Vec::new();
        if self.random.chance(20)
            && let Some(parent) = self.path(ns, |v| matches!(v, Stored::Store(_)))
        {
            target = parent;
        }
        target.push(self.name(ns));
        (target, None)
    }

    fn assign_literal(
        &mut self,
        ns: &[Identifier],
        target: &[Identifier],
        error: Option<ErrorRule>,
    ) {
        let (text, value) = literal::literal(&mut self.random, &self.names);
        let left = self.reference_text(target);
        self.line(&format!("{left} {text};"));
        self.apply(error, |s| {
            bind(s, &concatenate(ns, target), Stored::Basic(value))
        });
    }

    fn assign_link(
        &mut self,
        ns: &[Identifier],
        target: &[Identifier],
        error: Option<ErrorRule>,
        reference: &[Identifier],
    ) {
        let left = self.reference_text(target);
        let right = self.reference_text(reference);
        self.line(&format!("{left} {right};"));
        let r = concatenate(ns, target);
        if self.kind == Kind::Forward {
            let link = Stored::Link(reference.to_vec());
            return self.apply(error, |s| bind(s, &r, link));
        }
        // The link is resolved before its place is looked at.
        match resolve(&self.s, ns, reference) {
            None => self.apply(Some(ErrorRule::Err5), Ok),
            Some((_, v)) => {
                let v = v.clone();
                self.apply(error, |s| bind(s, &r, v));
            }
        }
    }

    fn assign_block(&mut self, ns: &[Identifier], target: &[Identifier], error: Option<ErrorRule>) {
        let left = self.reference_text(target);
        self.indent();
        self.write(&format!("{left} extends "));
        let r = concatenate(ns, target);
        self.apply(error, |s| bind(s, &r, Stored::Store(Store::default())));
        let count = 1 + [0, 0, 0, 1, 1, 2][self.random.below(6)];
        for i in 1..=count {
            if i > 1 {
                self.write(", ");
            }
            let references = match self.levels {
                0 if i == count => 10,
                DEEPEST.. => 90,
                _ => 45,
            };
            let reference = match self.random.chance(references) {
                true => self.prototype_reference(ns, &r),
                false => None,
            };
            match reference {
                Some(reference) => self.prototype(ns, &r, &reference),
                None => self.body(&r),
            }
        }
        self.write("\n");
    }

    fn prototype(&mut self, ns: &[Identifier], r: &[Identifier], reference: &[Identifier]) {
        let text = self.reference_text(reference);
        self.write(&text);
        let exists = forward::prototype(&self.s, ns, reference).is_some();
        let error = (!exists).then_some(ErrorRule::Err4);
        self.apply(error, |s| {
            inherit(s, ns, reference, r, &mut Budget(u64::MAX))
        });
    }

    fn body(&mut self, r: &[Identifier]) {
        let most = if self.names.len() > 20 { 40 } else { 10 };
        let count = match self.levels {
            0 => self.left.min(most),
            DEEPEST.. => 0,
            _ => self.random.below(self.left.min(most) + 1),
        };
        if count == 0 {
            return self.write("{}");
        }
        self.write("{\n");
        self.levels += 1;
        self.statements(r, count, &mut Order::new());
        self.levels -= 1;
        self.indent();
        self.write("}");
    }

    fn constrain(&mut self, ns: &[Identifier], order: &mut Order) {
        let mut chosen: Vec<usize> = (0..self.names.len())
            .filter(|_| self.random.chance(40))
            .collect();
        if chosen.len() < 2 {
            chosen = vec![0, self.names.len() - 1];
        }
        // Constraints that agree with one order of the names cannot contradict each other.
        if self.random.chance(3) {
            chosen.reverse();
        }
        let names: Reference = chosen.iter().map(|&i| self.names[i].clone()).collect();
        self.line(&format!("order {};", names.join(" < ")));
        self.apply(None, |s| constrain(s, ns, order, &names));
    }

    /// Writes the next statements into a file of their own.
    fn include(&mut self, ns: &[Identifier], order: &mut Order) {
        let folder = *self.random.pick(&["", "parts/"]);
        let name = format!("{folder}part{}.sf", self.files.len());
        self.include_directive(&name);
        self.files.push((name, String::new()));
        self.open.push(self.files.len() - 1);
        let levels = std::mem::take(&mut self.levels);
        let count = self.random.below(self.left.min(8) + 1);
        self.statements(ns, count, order);
        self.levels = levels;
        self.open.pop();
    }

    /// Includes a file that was included before, if that makes sense here.
    fn include_again(&mut self, ns: &[Identifier], order: &mut Order) {
        let file = self.random.below(self.files.len());
        if self.open.contains(&file) || self.error.is_some() {
            return;
        }
        let name = self.files[file].0.clone();
        let mut unit = Unit::default();
        let Ok(id) = unit.load(&SoFar(&self.files), &name) else {
            return;
        };
        let body = tree::read(&mut unit, &SoFar(&self.files), id, Dialect::Core);
        // A link that is still to be chosen cannot be read.
        if unit.has_errors() {
            return;
        }
        let mut evaluation = Evaluation {
            unit: &unit,
            links: self.kind.links(),
            budget: Budget(self.bound),
        };
        let mut more = order.clone();
        if let Ok(s) = evaluation.statements(&body, ns, &mut more, self.s.clone())
            && s.size() <= self.bound
        {
            (self.s, *order) = (s, more);
            self.include_directive(&name);
        }
    }

    fn include_directive(&mut self, name: &str) {
        let folder = |name: &str| name.starts_with("parts/");
        let includer = self.files[self.file()].0.as_str();
        let relative = match (folder(includer), folder(name)) {
            (false, _) => name.to_owned(),
            (true, false) => format!("../{name}"),
            (true, true) => format!("./{}", &name["parts/".len()..]),
        };
        let end = if self.random.chance(50) { ";" } else { "" };
        self.line(&format!("#include \"{relative}\"{end}"));
    }
}

/// Choosing names and references.
impl Writer {
    /// Whether something is to go wrong here, and what.
    fn mischief(&mut self) -> Option<ErrorRule> {
        let now = self.error.is_none() && self.random.chance(self.mischievous);
        self.mischief.filter(|_| now)
    }

    fn name(&mut self, ns: &[Identifier]) -> Identifier {
        // At the top level it would replace the configuration.
        if !ns.is_empty() && self.random.chance(2) {
            return "sfConfig".into();
        }
        self.random.pick(&self.names).clone()
    }

    fn link_reference(&mut self, ns: &[Identifier]) -> Option<Reference> {
        if self.mischief() == Some(ErrorRule::Err5) {
            return Some(self.nowhere(ns));
        }
        if self.kind == Kind::Forward {
            if self.random.chance(50) {
                self.ahead.push(ns.to_vec());
                return Some(vec![hole(self.ahead.len() - 1)]);
            }
            return self.around(ns);
        }
        let room = self.bound.saturating_sub(self.s.size());
        (0..4).find_map(|_| {
            let reference = self.around(ns)?;
            let (_, v) = resolve(&self.s, ns, &reference)?;
            (v.size() <= room).then_some(reference)
        })
    }

    /// What a block `r` that stands in `ns` may extend.
    fn prototype_reference(&mut self, ns: &[Identifier], r: &[Identifier]) -> Option<Reference> {
        if self.mischief() == Some(ErrorRule::Err4) {
            if self.random.chance(50) {
                return Some(self.nowhere(ns));
            }
            let plain = self.around(ns)?;
            let (_, v) = resolve(&self.s, ns, &plain)?;
            return matches!(v, Stored::Basic(_)).then_some(plain);
        }
        self.store_reference(ns, r)
    }

    fn store_reference(&mut self, ns: &[Identifier], r: &[Identifier]) -> Option<Reference> {
        let room = self.bound.saturating_sub(self.s.size());
        (0..8).find_map(|_| {
            // A block may extend itself, or one around it.
            let reference = match self.random.chance(15) {
                true => vec![self.random.pick(r).clone()],
                false => self.around(ns)?,
            };
            let v = forward::prototype(&self.s, ns, &reference)?;
            (v.size() <= room).then_some(reference)
        })
    }

    /// A reference to something in a namespace or in one of those around it.
    fn around(&mut self, ns: &[Identifier]) -> Option<Reference> {
        let level = &ns[..self.random.below(ns.len() + 1)];
        let mut reference = self.path(level, |_| true)?;
        let at = concatenate(level, &reference);
        if let Some(Stored::Link(_)) = find(&self.s, &at)
            && self.random.chance(20)
        {
            // Whatever the link leads to may have this name.
            reference.push(self.name(ns));
        }
        Some(reference)
    }

    /// A reference that leads nowhere, or nearly.
    fn nowhere(&mut self, ns: &[Identifier]) -> Reference {
        for _ in 0..10 {
            let mut reference = match self.random.chance(50) {
                true => self.around(ns).unwrap_or_default(),
                false => Vec::new(),
            };
            reference.push(self.name(ns));
            if resolve(&self.s, ns, &reference).is_none() {
                return reference;
            }
        }
        vec!["nowhere".into()]
    }

    /// The way from a namespace to some value in it that is wanted.
    fn path(&mut self, ns: &[Identifier], is_wanted: fn(&Stored) -> bool) -> Option<Reference> {
        let mut s = store_at(&self.s, ns)?;
        let mut path = Reference::new();
        let mut found = None;
        loop {
            let written = s.0.iter().filter(|(id, _)| **id != *ORDER);
            let entries: Vec<&(Identifier, Stored)> = written.collect();
            if entries.is_empty() {
                return found;
            }
            let (id, v) = self.random.pick(&entries);
            path.push(id.clone());
            if is_wanted(v) {
                found = Some(path.clone());
            }
            match v {
                Stored::Store(inner) if found.is_none() || self.random.chance(50) => s = inner,
                _ => return found,
            }
        }
    }
}

fn store_at<'s>(s: &'s Store, ns: &[Identifier]) -> Option<&'s Store> {
    match find(s, ns) {
        _ if ns.is_empty() => Some(s),
        Some(Stored::Store(inner)) => Some(inner),
        _ => None,
    }
}

/// Writing.
impl Writer {
    /// Takes a step of the evaluation, or takes note that it cannot be taken.
    fn apply(
        &mut self,
        error: Option<ErrorRule>,
        step: impl FnOnce(Store) -> Result<Store, ErrorRule>,
    ) {
        if self.error.is_none() {
            match error {
                Some(_) => self.error = error,
                None => {
                    let s = std::mem::take(&mut self.s);
                    self.s = step(s).expect("what can go wrong was looked at before");
                }
            }
        }
    }

    /// The file that is being written.
    fn file(&self) -> usize {
        *self.open.last().expect("the main file stays open")
    }

    fn write(&mut self, text: &str) {
        let file = self.file();
        self.files[file].1.push_str(text);
    }

    fn indent(&mut self) {
        let blanks = "  ".repeat(self.levels);
        self.write(&blanks);
    }

    fn line(&mut self, text: &str) {
        self.indent();
        self.write(text);
        self.write("\n");
    }

    fn reference_text(&mut self, reference: &[Identifier]) -> String {
        let mut text = String::new();
        for (i, identifier) in reference.iter().enumerate() {
            if i > 0 {
                text.push_str(if self.random.chance(2) { " : " } else { ":" });
            }
            text.push_str(identifier);
        }
        text
    }

    /// Chooses the links that look ahead, and finds out what all of it means.
    fn finish(mut self) -> Specification {
        if self.kind == Kind::Core {
            let expected = match (self.error, find(&self.s, &["sfConfig".into()])) {
                (Some(error), _) => Err(error),
                (None, Some(Stored::Store(v))) => hand_out(v.clone()),
                (None, _) => Err(ErrorRule::Err7),
            };
            let files = self.files;
            return Specification { files, expected };
        }
        // Links chosen blindly often go round in circles: other choices are tried, but not for ever.
        let tries = 1 + self.random.below(8);
        let mut choice = self.choose();
        for _ in 1..tries {
            if choice.1.is_ok() || self.error.is_some() {
                break;
            }
            choice = self.choose();
        }
        let (chosen, expected) = choice;
        for (i, reference) in chosen.iter().enumerate() {
            let hole = hole(i);
            for (_, text) in &mut self.files {
                if let Some(at) = text.find(&*hole) {
                    text.replace_range(at..at + hole.len(), &reference.join(":"));
                }
            }
        }
        let files = self.files;
        let expected = self.error.map_or(expected, Err);
        Specification { files, expected }
    }

    fn choose(&mut self) -> (Vec<Reference>, Result<Value, ErrorRule>) {
        let namespaces = std::mem::take(&mut self.ahead);
        let chosen: Vec<Reference> = namespaces
            .iter()
            .map(|ns| self.around(ns).unwrap_or_else(|| self.nowhere(ns)))
            .collect();
        self.ahead = namespaces;
        let s = filled(&self.s, &chosen);
        let value = forward::specification(&s, &mut SECOND_PASS.clone());
        (chosen, value.and_then(hand_out))
    }
}

/// The store with each link that was left open led to what was chosen for it.
fn filled(s: &Store, chosen: &[Reference]) -> Store {
    let entries = s.0.iter().map(|(id, v)| {
        let v = match v {
            Stored::Store(inner) => Stored::Store(filled(inner, chosen)),
            Stored::Link(r) => Stored::Link(match number(&r[0]) {
                Some(hole) => chosen[hole].clone(),
                None => r.clone(),
            }),
            v => v.clone(),
        };
        (id.clone(), v)
    });
    Store(entries.collect())
}

/// Stands where a link will be; no text has such a name.
fn hole(number: usize) -> Identifier {
    let mut name = String::from("<");
    write!(name, "{number}>").expect("a text takes everything");
    name.into()
}

fn number(hole: &str) -> Option<usize> {
    hole.strip_prefix('<')?.strip_suffix('>')?.parse().ok()
}

/// The files that are written so far.
struct SoFar<'a>(&'a [(String, String)]);

impl Files for SoFar<'_> {
    fn read(&self, name: &str, text: &mut String) -> Result<(), ReadError> {
        read(self.0, name, text)
    }
}
