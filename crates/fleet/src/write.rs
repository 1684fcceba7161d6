//! How assertions come into the tables of a pool.

use std::collections::BTreeMap;

use ecow::EcoString;
use hence_ledger::{Key, Value};

use crate::bits::Bits;
use crate::derive::Dirt;
use crate::pool::{Body, DEFAULT_GROUP, Feature, Param, Pool};
use crate::table::{Named, Table};
use crate::words::{Kind, Phrase, rank};

impl Pool {
    /// Writes what is asserted about a key, and notes what has to be derived again.
    pub(crate) fn put(&mut self, key: &Key, value: Option<&Value>, dirt: &mut Dirt) {
        let Some(phrase) = Phrase::of(key) else {
            return;
        };
        let text = || value.and_then(Value::as_text).map(EcoString::from);
        let Some((clause, about)) = phrase.clause else {
            let spelling = value.map(|_| text().unwrap_or_else(|| phrase.name.as_ref().into()));
            self.put_entity(phrase.kind, &phrase.name, spelling, dirt);
            return;
        };
        let ranked = value.map(|value| value.as_text().and_then(rank).unwrap_or_default());
        let other = about.as_deref().unwrap_or_default();
        match phrase.kind {
            Kind::Node => {
                let number = self.nodes.number(&phrase.name);
                match clause.word {
                    "walk-in" => self.nodes.get_mut(number).walk_in = value.is_some(),
                    "annotation" => self.nodes.get_mut(number).entity.annotation = text(),
                    "group" => {
                        let group = self.groups.number(other);
                        let groups = &mut self.nodes.get_mut(number).groups;
                        put_ranked(groups, group, ranked, &self.groups);
                    }
                    word => {
                        dirt.nodes.insert(number);
                        let node = self.nodes.get_mut(number);
                        let own = node.own.get_or_insert_default();
                        put_body(
                            &mut own.body,
                            word,
                            other,
                            ranked,
                            value,
                            &mut self.features,
                            &mut self.params,
                        );
                        if own.body.features.is_empty() && own.body.params.is_empty() {
                            node.own = None;
                        }
                    }
                }
            }
            Kind::Group => {
                let number = self.groups.number(&phrase.name);
                let group = self.groups.get_mut(number);
                match clause.word {
                    "annotation" => group.entity.annotation = text(),
                    word => {
                        dirt.groups.insert(number);
                        put_body(
                            &mut group.body,
                            word,
                            other,
                            ranked,
                            value,
                            &mut self.features,
                            &mut self.params,
                        );
                    }
                }
            }
            Kind::Feature => {
                self.put_feature(&phrase.name, clause.word, other, ranked, value, dirt)
            }
            Kind::Param => self.put_param(&phrase.name, clause.word, other, value, dirt),
            Kind::Subsystem => {
                let number = self.subsystems.number(&phrase.name);
                let subsystem = self.subsystems.get_mut(number);
                match clause.word {
                    "annotation" => subsystem.entity.annotation = text(),
                    _ => set_bit(
                        &mut subsystem.params,
                        self.params.number(other),
                        value.is_some(),
                    ),
                }
            }
        }
    }

    fn put_entity(&mut self, kind: Kind, name: &str, spelling: Option<EcoString>, dirt: &mut Dirt) {
        match kind {
            Kind::Node => {
                let number = self.nodes.number(name);
                self.nodes.spell(number, spelling);
            }
            Kind::Group => {
                let number = self.groups.number(name);
                if number != DEFAULT_GROUP {
                    self.groups.spell(number, spelling);
                }
            }
            Kind::Feature => {
                let number = self.features.number(name);
                if self.features.spell(number, spelling) {
                    dirt.features.insert(number);
                    dirt.feature_graph = true;
                }
            }
            Kind::Param => {
                let number = self.params.number(name);
                if self.params.spell(number, spelling) {
                    dirt.params.insert(number);
                    dirt.param_graph = true;
                }
            }
            Kind::Subsystem => {
                let number = self.subsystems.number(name);
                self.subsystems.spell(number, spelling);
            }
        }
    }

    fn put_feature(
        &mut self,
        name: &str,
        word: &str,
        other: &str,
        ranked: Option<i64>,
        value: Option<&Value>,
        dirt: &mut Dirt,
    ) {
        let number = self.features.number(name);
        if word == "annotation" {
            let text = value.and_then(Value::as_text).map(EcoString::from);
            self.features.get_mut(number).entity.annotation = text;
            return;
        }
        dirt.features.insert(number);
        if word == "param" {
            let param = self.params.number(other);
            put_value(&mut self.features.get_mut(number).params, param, value);
            return;
        }
        dirt.feature_graph = true;
        let other = self.features.number(other);
        match word {
            "include" => {
                let mut include = std::mem::take(&mut self.features.get_mut(number).include);
                put_ranked(&mut include, other, ranked, &self.features);
                self.features.get_mut(number).include = include;
            }
            "depend" => {
                set_bit(
                    &mut self.features.get_mut(number).depend,
                    other,
                    value.is_some(),
                );
            }
            _ => set_bit(
                &mut self.features.get_mut(number).conflict,
                other,
                value.is_some(),
            ),
        }
    }

    fn put_param(
        &mut self,
        name: &str,
        word: &str,
        other: &str,
        value: Option<&Value>,
        dirt: &mut Dirt,
    ) {
        let text = || value.and_then(Value::as_text).map(EcoString::from);
        let number = self.params.number(name);
        if matches!(word, "depend" | "conflict") {
            dirt.param_graph = true;
            let other = self.params.number(other);
            let param = self.params.get_mut(number);
            match word {
                "depend" => set_bit(&mut param.depend, other, value.is_some()),
                _ => set_bit(&mut param.conflict, other, value.is_some()),
            }
            return;
        }
        let param = self.params.get_mut(number);
        match word {
            "kind" => param.kind = text(),
            "description" => param.description = text(),
            "annotation" => param.entity.annotation = text(),
            "level" => param.level = text(),
            "restart" => param.restart = value.is_some(),
            "default" => {
                param.default = text();
                dirt.params.insert(number);
            }
            _ => {
                param.must_change = value.is_some();
                dirt.params.insert(number);
            }
        }
    }
}

fn put_body(
    body: &mut Body,
    word: &str,
    other: &str,
    ranked: Option<i64>,
    value: Option<&Value>,
    features: &mut Table<Feature>,
    params: &mut Table<Param>,
) {
    match word {
        "feature" => {
            let feature = features.number(other);
            put_ranked(&mut body.features, feature, ranked, features);
        }
        _ => put_value(&mut body.params, params.number(other), value),
    }
}

/// Puts something at its place in an order, or takes it out.
fn put_ranked<T: Named>(
    ranked: &mut Vec<(i64, u32)>,
    number: u32,
    rank: Option<i64>,
    table: &Table<T>,
) {
    ranked.retain(|&(_, other)| other != number);
    let Some(rank) = rank else {
        return;
    };
    let name = |number| &table.get(number).entity().name;
    let order =
        |&(other_rank, other): &(i64, u32)| (other_rank, name(other)) < (rank, name(number));
    let at = ranked.partition_point(order);
    // Most lists are short, and there are many of them.
    ranked.reserve_exact(1);
    ranked.insert(at, (rank, number));
}

fn put_value(values: &mut BTreeMap<u32, Value>, param: u32, value: Option<&Value>) {
    match value {
        Some(value) => {
            values.insert(param, value.clone());
        }
        None => {
            values.remove(&param);
        }
    }
}

fn set_bit(bits: &mut Bits, number: u32, is_so: bool) {
    match is_so {
        true => {
            bits.insert(number);
        }
        false => bits.remove(number),
    }
}
