//! How assertions come into the tables of a pool.

use std::collections::BTreeMap;

use ecow::EcoString;
use hence_ledger::{Key, Value};

use crate::bits::Bits;
use crate::derive::Dirt;
use crate::pool::{Body, DEFAULT_GROUP, Feature, Param, Pool};
use crate::table::{Named, Table};
use crate::words::{Kind, Phrase, rank};

/// What is said about a thing; no value says that nobody says it any more.
struct Saying<'a> {
    word: &'static str,
    /// The name that it is about, if there is one.
    about: &'a str,
    value: Option<&'a Value>,
}

impl Saying<'_> {
    fn is_so(&self) -> bool {
        self.value.is_some()
    }

    fn text(&self) -> Option<EcoString> {
        self.value.and_then(Value::as_text).map(EcoString::from)
    }

    /// What the vocabulary let in is a number.
    fn rank(&self) -> Option<i64> {
        let number = |value: &Value| value.as_text().and_then(rank).unwrap_or_default();
        self.value.map(number)
    }
}

impl Pool {
    /// Writes what is asserted about a key, and notes what has to be derived again.
    pub(crate) fn put(&mut self, key: &Key, value: Option<&Value>, dirt: &mut Dirt) {
        let Some(phrase) = Phrase::of(key) else {
            return;
        };
        let name = phrase.name.as_ref();
        let Some((clause, about)) = &phrase.clause else {
            let spelling = value.map(|value| value.as_text().unwrap_or(name).into());
            self.put_entity(phrase.kind, name, spelling, dirt);
            return;
        };
        let said = Saying {
            word: clause.word,
            about: about.as_deref().unwrap_or_default(),
            value,
        };
        match phrase.kind {
            Kind::Node => self.put_node(name, &said, dirt),
            Kind::Group => self.put_group(name, &said, dirt),
            Kind::Feature => self.put_feature(name, &said, dirt),
            Kind::Param => self.put_param(name, &said, dirt),
            Kind::Subsystem => self.put_subsystem(name, &said),
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

    fn put_node(&mut self, name: &str, said: &Saying<'_>, dirt: &mut Dirt) {
        let number = self.nodes.number(name);
        let node = self.nodes.get_mut(number);
        match said.word {
            "walk-in" => node.walk_in = said.is_so(),
            "annotation" => node.entity.annotation = said.text(),
            "group" => {
                let group = self.groups.number(said.about);
                put_ranked(&mut node.groups, group, said.rank(), &self.groups);
            }
            _ => {
                dirt.nodes.insert(number);
                let own = node.own.get_or_insert_default();
                own.body.put(said, &mut self.features, &mut self.params);
                if own.body.features.is_empty() && own.body.params.is_empty() {
                    node.own = None;
                }
            }
        }
    }

    fn put_group(&mut self, name: &str, said: &Saying<'_>, dirt: &mut Dirt) {
        let number = self.groups.number(name);
        let group = self.groups.get_mut(number);
        match said.word {
            "annotation" => group.entity.annotation = said.text(),
            _ => {
                dirt.groups.insert(number);
                group.body.put(said, &mut self.features, &mut self.params);
            }
        }
    }

    fn put_feature(&mut self, name: &str, said: &Saying<'_>, dirt: &mut Dirt) {
        let number = self.features.number(name);
        match said.word {
            "annotation" => self.features.get_mut(number).entity.annotation = said.text(),
            "param" => {
                dirt.features.insert(number);
                let param = self.params.number(said.about);
                let params = &mut self.features.get_mut(number).params;
                put_value(params, param, said.value);
            }
            relation => {
                dirt.features.insert(number);
                dirt.feature_graph = true;
                let other = self.features.number(said.about);
                let feature = self.features.get_mut(number);
                match relation {
                    "depend" => put_bit(&mut feature.depend, other, said.is_so()),
                    "conflict" => put_bit(&mut feature.conflict, other, said.is_so()),
                    _ => {
                        let mut include = std::mem::take(&mut feature.include);
                        put_ranked(&mut include, other, said.rank(), &self.features);
                        self.features.get_mut(number).include = include;
                    }
                }
            }
        }
    }

    fn put_param(&mut self, name: &str, said: &Saying<'_>, dirt: &mut Dirt) {
        let number = self.params.number(name);
        if let "depend" | "conflict" = said.word {
            dirt.param_graph = true;
            let other = self.params.number(said.about);
            let param = self.params.get_mut(number);
            let relation = match said.word {
                "depend" => &mut param.depend,
                _ => &mut param.conflict,
            };
            put_bit(relation, other, said.is_so());
            return;
        }
        let param = self.params.get_mut(number);
        match said.word {
            "kind" => param.kind = said.text(),
            "description" => param.description = said.text(),
            "annotation" => param.entity.annotation = said.text(),
            "level" => param.level = said.text(),
            "restart" => param.restart = said.is_so(),
            "default" => {
                param.default = said.text();
                dirt.params.insert(number);
            }
            _ => {
                param.must_change = said.is_so();
                dirt.params.insert(number);
            }
        }
    }

    fn put_subsystem(&mut self, name: &str, said: &Saying<'_>) {
        let number = self.subsystems.number(name);
        let subsystem = self.subsystems.get_mut(number);
        match said.word {
            "annotation" => subsystem.entity.annotation = said.text(),
            _ => {
                let param = self.params.number(said.about);
                put_bit(&mut subsystem.params, param, said.is_so());
            }
        }
    }
}

impl Body {
    fn put(&mut self, said: &Saying<'_>, features: &mut Table<Feature>, params: &mut Table<Param>) {
        match said.word {
            "feature" => {
                let feature = features.number(said.about);
                put_ranked(&mut self.features, feature, said.rank(), features);
            }
            _ => put_value(&mut self.params, params.number(said.about), said.value),
        }
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
    let place = (rank, table.name(number));
    let at = ranked.partition_point(|&(rank, other)| (rank, table.name(other)) < place);
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

fn put_bit(bits: &mut Bits, number: u32, is_so: bool) {
    match is_so {
        true => {
            bits.insert(number);
        }
        false => bits.remove(number),
    }
}
