//! Definitions 7–27 of the paper.
//!
//! The names of the definitions are kept, and of their variables: `s` a store, `ns` a namespace, `r` a
//! reference, `id` an identifier, `v` a value.

use std::rc::Rc;

use hence_model::cell::{Cell, Content};
use hence_model::unit::Unit;
use hence_model::value::Value as Basic;

use super::{Budget, ErrorRule, forward};
use crate::evaluate::Links;
use crate::parser::Part;
use crate::tree::{self, Assignment, Body, Prototype, Statement};

/// An identifier (5).
pub type Identifier = Rc<str>;

/// A reference: the identifiers on the way to an attribute (5).
pub type Reference = Vec<Identifier>;

/// A list of identifiers and their values (6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store(pub Vec<(Identifier, Value)>);

/// What a store holds (6), and two things that the paper has only in passing.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A basic value.
    Basic(Basic),
    /// A store in the store.
    Store(Store),
    /// A link that has not been followed: the forward semantics only (§9.2.2).
    Link(Reference),
    /// Which attribute comes before which (§10.4). It is inherited in the same way as the others.
    Order(Vec<(Identifier, Identifier)>),
}

/// The identifier of a block's order constraints. No text can write it.
pub const ORDER: &str = "";

impl Store {
    /// How many values are in it, at any depth.
    pub fn size(&self) -> u64 {
        self.0.iter().map(|(_, v)| v.size()).sum()
    }
}

impl Value {
    /// How many values it is, itself and those in it.
    pub fn size(&self) -> u64 {
        match self {
            Value::Store(s) => 1 + s.size(),
            _ => 1,
        }
    }
}

/// ⊕: one reference behind the other (7).
pub fn concatenate(r1: &[Identifier], r2: &[Identifier]) -> Reference {
    [r1, r2].concat()
}

/// The longest strict prefix (11).
pub fn prefix(r: &[Identifier]) -> &[Identifier] {
    match r {
        [] => &[],
        [r @ .., _] => r,
    }
}

/// Updates the value of an identifier, or adds it behind the others (12).
pub fn put(mut s: Store, id: &Identifier, v: Value) -> Store {
    for (id_s, v_s) in &mut s.0 {
        if id_s == id {
            *v_s = v;
            return s;
        }
    }
    s.0.push((id.clone(), v));
    s
}

/// Updates the value of a reference, whose parent must be a store (13).
pub fn bind(mut s: Store, r: &[Identifier], v: Value) -> Result<Store, ErrorRule> {
    match r {
        [] => Err(ErrorRule::Err3),
        [id] => Ok(put(s, id, v)),
        [id, r @ ..] => {
            for (id_s, v_s) in &mut s.0 {
                if id_s == id {
                    let Value::Store(inner) = v_s else {
                        return Err(ErrorRule::Err1);
                    };
                    *inner = bind(std::mem::take(inner), r, v)?;
                    return Ok(s);
                }
            }
            Err(ErrorRule::Err2)
        }
    }
}

/// Looks up the value of a reference in a store (14). Nobody asks for that of the empty one, which
/// would be the store itself.
pub fn find<'s>(s: &'s Store, r: &[Identifier]) -> Option<&'s Value> {
    let (id, r) = r.split_first()?;
    let (_, v_s) = s.0.iter().find(|(id_s, _)| id_s == id)?;
    match v_s {
        _ if r.is_empty() => Some(v_s),
        Value::Store(inner) => find(inner, r),
        _ => None,
    }
}

/// Looks up a reference in a namespace and then in those around it (16): the namespace in which it is
/// found, and the value.
pub fn resolve<'s, 'n>(
    s: &'s Store,
    ns: &'n [Identifier],
    r: &[Identifier],
) -> Option<(&'n [Identifier], &'s Value)> {
    match (ns, find(s, &concatenate(ns, r))) {
        (_, Some(v)) => Some((ns, v)),
        ([], None) => None,
        (_, None) => resolve(s, prefix(ns), r),
    }
}

/// Copies every attribute of the second store to the first, below a prefix (17).
pub fn copy(mut s1: Store, s2: Store, pfx: &[Identifier]) -> Result<Store, ErrorRule> {
    for (id, v) in s2.0 {
        s1 = bind(s1, &concatenate(pfx, &[id]), v)?;
    }
    Ok(s1)
}

/// Copies the values of a prototype to a store (18). Without links to follow, `forward::prototype` is
/// `resolve` and the test for a store.
pub fn inherit(
    s: Store,
    ns: &[Identifier],
    proto: &[Identifier],
    r: &[Identifier],
    budget: &mut Budget,
) -> Result<Store, ErrorRule> {
    let v_p = forward::prototype(&s, ns, proto).ok_or(ErrorRule::Err4)?;
    budget.spend(v_p.size())?;
    let v_p = v_p.clone();
    copy(s, v_p, r)
}

/// The valuation functions, and what they need beside their arguments.
pub struct Evaluation<'u> {
    /// What the names and literals of the syntax tree mean.
    pub unit: &'u Unit,
    /// When links are followed.
    pub links: Links,
    /// How much may still be copied.
    pub budget: Budget,
}

/// Deeper namespaces than this would be too much for a function that calls itself.
const DEEPEST: usize = 256;

impl Evaluation<'_> {
    /// **R**: a reference is its identifiers (20).
    fn reference(&self, parts: &[Part]) -> Reference {
        let symbols = &self.unit.symbols;
        parts
            .iter()
            .map(|part| symbols.name(&self.unit.sources, part.name).into())
            .collect()
    }

    /// **Vec**: each element is evaluated (21).
    fn vector(&self, elements: impl Iterator<Item = Cell>) -> Basic {
        let elements: Vec<Basic> = elements.map(|bv| self.basic_value(bv)).collect();
        Basic::List(elements.into())
    }

    /// **BV**: terminals in the obvious way (19, 22).
    fn basic_value(&self, bv: Cell) -> Basic {
        let (sources, literals) = (&self.unit.sources, &self.unit.literals);
        match bv.content(literals) {
            Content::Bool(bool) => Basic::Bool(bool),
            Content::Integer(number) => Basic::Integer(number),
            Content::Float(number) => Basic::Float(number),
            Content::Text(string) => Basic::Text(literals.read(sources, string).to_owned()),
            Content::Reference(r) => Basic::Reference(literals.read(sources, r).to_owned()),
            Content::List(items) => self.vector(literals.items(items).iter().map(|item| item.cell)),
            Content::Null => Basic::Null,
            Content::Block(_) | Content::Late(_) => unreachable!("it is written out"),
        }
    }

    /// **P**: a body is evaluated in the namespace of what is being made, a reference is resolved where
    /// the prototype stands; later ones override (23).
    fn prototype(
        &mut self,
        p: &[Prototype],
        ns: &[Identifier],
        r: &[Identifier],
        mut s: Store,
    ) -> Result<Store, ErrorRule> {
        for p in p {
            s = match p {
                Prototype::Body(b, _) => self.body(b, r, s)?,
                Prototype::Reference(parts) => {
                    let proto = self.reference(parts);
                    inherit(s, ns, &proto, r, &mut self.budget)?
                }
            };
        }
        Ok(s)
    }

    /// **V**: a basic value is bound, a link is resolved and bound, and prototypes fill a store that is
    /// bound empty (24).
    fn value(
        &mut self,
        v: &tree::Value,
        ns: &[Identifier],
        r: &[Identifier],
        s: Store,
    ) -> Result<Store, ErrorRule> {
        match v {
            tree::Value::Literal(bv, _) => bind(s, r, Value::Basic(self.basic_value(*bv))),
            tree::Value::Extends(p) => {
                let s = bind(s, r, Value::Store(Store::default()))?;
                self.prototype(&p.prototypes, ns, r, s)
            }
            tree::Value::Link(lr) if self.links == Links::Later => {
                bind(s, r, Value::Link(self.reference(lr)))
            }
            tree::Value::Link(lr) => {
                let (_, v) = resolve(&s, ns, &self.reference(lr)).ok_or(ErrorRule::Err5)?;
                self.budget.spend(v.size())?;
                let v = v.clone();
                bind(s, r, v)
            }
            tree::Value::Expression(_) => unreachable!("the core language has no expressions"),
        }
    }

    /// **A**: the left side stands in the present namespace (25).
    fn assignment(
        &mut self,
        a: &Assignment,
        ns: &[Identifier],
        s: Store,
    ) -> Result<Store, ErrorRule> {
        let r = concatenate(ns, &self.reference(&a.target));
        self.value(&a.value, ns, &r, s)
    }

    /// **B**: one assignment after the other (26).
    pub fn body(&mut self, b: &Body, ns: &[Identifier], s: Store) -> Result<Store, ErrorRule> {
        if ns.len() > DEEPEST {
            return Err(ErrorRule::TooLarge);
        }
        self.statements(b, ns, &mut Vec::new(), s)
    }

    /// What is included is part of the body, and so are its order constraints.
    pub fn statements(
        &mut self,
        b: &Body,
        ns: &[Identifier],
        order: &mut Vec<(Identifier, Identifier)>,
        mut s: Store,
    ) -> Result<Store, ErrorRule> {
        for statement in b {
            self.budget.spend(1)?;
            s = match statement {
                Statement::Assignment(a) => self.assignment(a, ns, s)?,
                Statement::Include { body, .. } => self.statements(body, ns, order, s)?,
                Statement::Order { names, .. } => constrain(s, ns, order, &self.reference(names))?,
            };
        }
        Ok(s)
    }

    /// **SF**: the value of `sfConfig` (27).
    pub fn specification(&mut self, b: &Body) -> Result<Store, ErrorRule> {
        let s = self.body(b, &[], Store::default())?;
        match find(&s, &["sfConfig".into()]) {
            Some(Value::Store(v)) => Ok(v.clone()),
            _ => Err(ErrorRule::Err7),
        }
    }
}

/// Binds the constraints of a body: those it had, and each of `names` before the next. They replace
/// what was inherited (§10.4).
pub fn constrain(
    s: Store,
    ns: &[Identifier],
    order: &mut Vec<(Identifier, Identifier)>,
    names: &[Identifier],
) -> Result<Store, ErrorRule> {
    let pairs = names.windows(2);
    order.extend(pairs.map(|pair| (pair[0].clone(), pair[1].clone())));
    let r = concatenate(ns, &[ORDER.into()]);
    bind(s, &r, Value::Order(order.clone()))
}
