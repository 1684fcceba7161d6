//! Links that look ahead (§9.2.2), over the same stores.
//!
//! The first pass is the core semantics with links stored as they are, so that a copy of a link is a
//! link. The second takes `sfConfig` out. A value is asked for by its *place*, the reference that
//! leads to it from the root: what a link means depends on where it stands.

use super::core::{Identifier, Reference, Store, Value, concatenate, find, prefix, resolve};
use super::{Budget, ErrorRule};

/// The store that a prototype names at this moment. Links to it are followed, each from the namespace
/// in which it stands; none that leads back to itself.
pub fn prototype<'s>(s: &'s Store, ns: &[Identifier], r: &[Identifier]) -> Option<&'s Store> {
    let (mut ns, mut r) = (ns.to_vec(), r.to_vec());
    let mut visited: Vec<Reference> = Vec::new();
    loop {
        let (level, v) = resolve(s, &ns, &r)?;
        let place = concatenate(level, &r);
        match v {
            Value::Store(v) => return Some(v),
            Value::Link(_) if visited.contains(&place) => return None,
            Value::Link(next) => {
                ns = prefix(&place).to_vec();
                r = next.clone();
                visited.push(place);
            }
            _ => return None,
        }
    }
}

/// The value of `sfConfig`, all links in it followed.
pub fn specification(s: &Store, budget: &mut Budget) -> Result<Store, ErrorRule> {
    let place = vec!["sfConfig".into()];
    if find(s, &place).is_none() {
        return Err(ErrorRule::Err7);
    }
    let mut pass = SecondPass {
        s,
        budget,
        making: Vec::new(),
        following: Vec::new(),
    };
    match pass.value(&place)? {
        Value::Store(v) => Ok(v),
        _ => Err(ErrorRule::Err7),
    }
}

struct SecondPass<'s, 'b> {
    s: &'s Store,
    budget: &'b mut Budget,
    /// The places of the stores whose values are being made, each for the one before it.
    making: Vec<Reference>,
    /// The places of the links that are being followed, each for the one before it.
    following: Vec<Reference>,
}

impl SecondPass<'_, '_> {
    /// The value at a place that exists. That of a link is the value at the place that it names.
    fn value(&mut self, place: &Reference) -> Result<Value, ErrorRule> {
        self.budget.spend(1)?;
        match find(self.s, place).expect("only places that exist are asked for") {
            Value::Link(_) => {
                let target = self.target(place)?;
                self.value(&target)
            }
            Value::Store(inner) => {
                if self.making.contains(place) {
                    return Err(ErrorRule::Cycle);
                }
                self.making.push(place.clone());
                let mut made = Store::default();
                for (id, _) in &inner.0 {
                    let v = self.value(&concatenate(place, std::slice::from_ref(id)))?;
                    made.0.push((id.clone(), v));
                }
                self.making.pop();
                Ok(Value::Store(made))
            }
            v => Ok(v.clone()),
        }
    }

    /// The place that the link at `place` leads to in the end: one without a link. The link is resolved
    /// from the namespace in which it stands outwards.
    fn target(&mut self, place: &Reference) -> Result<Reference, ErrorRule> {
        let Some(Value::Link(r)) = find(self.s, place) else {
            unreachable!("there is a link");
        };
        if self.following.contains(place) {
            return Err(ErrorRule::Cycle);
        }
        self.budget.spend(1)?;
        self.following.push(place.clone());
        let mut ns = prefix(place);
        let target = loop {
            match (ns, self.walk(ns, r)?) {
                (_, Some(target)) => break target,
                ([], None) => return Err(ErrorRule::Err5),
                (_, None) => ns = prefix(ns),
            }
        };
        self.following.pop();
        Ok(target)
    }

    /// The place that a whole reference leads to from a namespace; links on the way are followed.
    fn walk(
        &mut self,
        ns: &[Identifier],
        r: &[Identifier],
    ) -> Result<Option<Reference>, ErrorRule> {
        let mut place = ns.to_vec();
        for id in r {
            place.push(id.clone());
            match find(self.s, &place) {
                None => return Ok(None),
                Some(Value::Link(_)) => place = self.target(&place)?,
                Some(_) => {}
            }
        }
        Ok(Some(place))
    }
}
