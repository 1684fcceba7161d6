//! Where each value of a node comes from: every assertion that had a say in it, the lowest first.

use std::fmt;

use ecow::EcoString;
use hence_ledger::key::fold;
use hence_ledger::{Key, Value};

use crate::derive::partial_of;
use crate::partial::{Operator, Resolved, operator};
use crate::pool::{DEFAULT_GROUP, Pool, SKELETON_GROUP};
use crate::tags;
use crate::words::Kind;

/// Where the value of a parameter of a node comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The node, as it is spelled.
    pub node: EcoString,
    /// The parameter, as it is spelled.
    pub parameter: EcoString,
    /// Its value.
    pub value: Resolved,
    /// All that had a say, the lowest first.
    pub chain: Vec<Contribution>,
}

/// One assertion that had a say in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The assertion.
    pub key: Key,
    /// What it says.
    pub given: Value,
    /// Whether what counts is the parameter's default, as nothing was given.
    pub is_default: bool,
    /// How it bears on what is below.
    pub operator: Operator,
    /// What it brings, without the operator.
    pub operand: Resolved,
    /// The value before; `None` if the parameter was not there.
    pub before: Option<Resolved>,
    /// The value after.
    pub after: Resolved,
    /// What became of it.
    pub effect: Effect,
    /// The features from the one that is installed down to the one that binds the parameter; none if the group itself
    /// does.
    pub features: Vec<EcoString>,
    /// The group, as it is spelled; of an identity group, the node.
    pub group: EcoString,
    /// How the node came to be in the group.
    pub membership: Membership,
}

/// How a node came to be in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// Every node is in it.
    Default,
    /// The group new nodes are put in.
    Skeleton {
        /// Its rank among the node's groups.
        rank: i64,
    },
    /// Somebody said so.
    Explicit {
        /// Its rank among the node's groups.
        rank: i64,
    },
    /// A fact of the node says so.
    Fact {
        /// Its rank among the node's groups.
        rank: i64,
    },
    /// It is the node's own.
    Identity,
}

/// What became of what an assertion says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is in the value.
    Stands,
    /// Something above cut it off.
    Lost,
    /// It never was in a value: nothing to add, or something was there already.
    None,
}

impl Pool {
    /// Where a value of a node comes from; `None` if there is no such node, or the parameter is not in its configuration.
    pub fn explain(&self, node: &str, parameter: &str) -> Option<Explanation> {
        let number = self.node(node)?;
        let param = self.params.known(&fold(parameter))?;
        let mut walk = Walk {
            pool: self,
            param,
            value: None,
            chain: Vec::new(),
        };
        let row = self.nodes.get(number);
        for group in self.groups_of(number) {
            let rank = row.groups.iter().find(|(_, other)| *other == group);
            let rank = rank.map_or(0, |&(rank, _)| rank);
            let membership = match group {
                DEFAULT_GROUP => Membership::Default,
                SKELETON_GROUP => Membership::Skeleton { rank },
                _ if rank >= tags::RANK => Membership::Fact { rank },
                _ => Membership::Explicit { rank },
            };
            let body = &self.groups.get(group).body;
            let place = Place {
                top: Kind::Group.key(self.groups.name(group)),
                group: self.groups.called(group),
                membership,
            };
            walk.group(&body.features, body.params.get(&param), &place);
        }
        if let Some(own) = &row.own {
            let place = Place {
                top: Kind::Node.key(&row.entity.name),
                group: self.nodes.called(number),
                membership: Membership::Identity,
            };
            walk.group(&own.body.features, own.body.params.get(&param), &place);
        }
        let value = walk.value?;
        Some(Explanation {
            node: self.nodes.called(number),
            parameter: self.params.called(param),
            value,
            chain: walk.chain,
        })
    }

    /// Where all values of a node come from, in the order of the parameters; `None` if there is no such node.
    pub fn explain_all(&self, node: &str) -> Option<Vec<Explanation>> {
        let config = self.config(node)?;
        let explanations = config.keys().map(|parameter| self.explain(node, parameter));
        explanations.collect()
    }
}

/// A group on the way.
struct Place {
    top: Key,
    group: EcoString,
    membership: Membership,
}

/// Applies one parameter's bindings in the order of figure 3, and notes each.
struct Walk<'p> {
    pool: &'p Pool,
    param: u32,
    value: Option<Resolved>,
    chain: Vec<Contribution>,
}

/// What is still to be done, the next last.
enum Step {
    /// A feature that is included, or installed.
    Enter(u32),
    /// Its own parameters, after what it includes.
    Bind(u32),
}

impl Walk<'_> {
    fn group(&mut self, features: &[(i64, u32)], own: Option<&Value>, place: &Place) {
        let pool = self.pool;
        let mut path: Vec<EcoString> = Vec::new();
        // What comes first is the lowest priority, so it is pushed last.
        let mut steps: Vec<Step> = features
            .iter()
            .map(|&(_, feature)| Step::Enter(feature))
            .collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(number) => {
                    let feature = pool.features.get(number);
                    let has = feature
                        .partials
                        .binary_search_by_key(&self.param, |(param, _)| *param);
                    if has.is_err() {
                        continue;
                    }
                    path.push(pool.features.called(number));
                    steps.push(Step::Bind(number));
                    let included = feature.include.iter().map(|&(_, included)| included);
                    let forward = included
                        .filter(|&other| !pool.features.get(other).installs.contains(number));
                    steps.extend(forward.map(Step::Enter));
                }
                Step::Bind(number) => {
                    if let Some(value) = pool.features.get(number).params.get(&self.param) {
                        self.bind(pool.feature_key(number), value, path.clone(), place);
                    }
                    path.pop();
                }
            }
        }
        if let Some(value) = own {
            self.bind(place.top.clone(), value, Vec::new(), place);
        }
    }

    fn bind(&mut self, top: Key, given: &Value, features: Vec<EcoString>, place: &Place) {
        let param = self.pool.params.get(self.param);
        let partial = partial_of(param, given);
        let default = param.default.as_ref().filter(|_| !param.must_change);
        let is_default = matches!(given, Value::Nothing) && default.is_some();
        let counts = match (given, default) {
            (Value::Nothing, Some(default)) => Value::Text(default.clone()),
            _ => given.clone(),
        };
        let (operator, operand) = match &counts {
            Value::Nothing => (Operator::Bare, Resolved::default()),
            Value::Text(text) => {
                let (operator, rest) = operator(text);
                (operator, Resolved::text(rest))
            }
            Value::Sealed(_) => (Operator::Set, partial.apply(None)),
        };
        let before = self.value.take();
        let after = partial.apply(before.as_ref());
        let was_there = before.as_ref().is_some_and(|before| !before.is_empty());
        let effect = match operator {
            Operator::Bare => Effect::None,
            Operator::Else if was_there => Effect::None,
            _ => Effect::Stands,
        };
        if operator == Operator::Set {
            for earlier in self
                .chain
                .iter_mut()
                .filter(|earlier| earlier.effect == Effect::Stands)
            {
                earlier.effect = Effect::Lost;
            }
        }
        self.value = Some(after.clone());
        self.chain.push(Contribution {
            key: top.child("param").child(&param.entity.name),
            given: given.clone(),
            is_default,
            operator,
            operand,
            before,
            after,
            effect,
            features,
            group: place.group.clone(),
            membership: place.membership,
        });
    }
}

impl Explanation {
    /// What is in the value, the lowest first.
    pub fn standing(&self) -> impl Iterator<Item = &Contribution> {
        self.chain
            .iter()
            .filter(|contribution| contribution.effect == Effect::Stands)
    }

    /// What was cut off, the lowest first.
    pub fn lost(&self) -> impl Iterator<Item = &Contribution> {
        self.chain
            .iter()
            .filter(|contribution| contribution.effect == Effect::Lost)
    }
}

impl Contribution {
    /// What it does and where it stands, as a sentence without its full stop.
    pub fn sentence(&self, node: &str, parameter: &str) -> String {
        let operand = one_line(&self.operand.to_string());
        let does = match self.operator {
            Operator::Bare => format!("{parameter} is there without a value"),
            Operator::Set if self.is_default => {
                format!("{parameter} is set to its default {operand}")
            }
            Operator::Set => format!("{parameter} is set to {operand}"),
            Operator::Else if self.effect == Effect::None => {
                format!("{parameter} would be {operand} if it had no value")
            }
            Operator::Else => format!("{parameter} is {operand} as it had no value"),
            Operator::List | Operator::And | Operator::Or => {
                format!(
                    "{parameter} is extended by {operand} ({})",
                    self.operator.sign()
                )
            }
        };
        let mut sentence = does;
        let mut features = self.features.iter().rev();
        if let Some(feature) = features.next() {
            sentence.push_str(&format!(" in feature {feature}"));
            for feature in features {
                sentence.push_str(&format!(", which is included in feature {feature}"));
            }
            sentence.push_str(", which is installed");
        }
        let group = &self.group;
        sentence.push_str(&match self.membership {
            Membership::Default => " on the default group".to_owned(),
            Membership::Skeleton { .. } => {
                format!(" on the skeleton group, of which {node} is a member")
            }
            Membership::Explicit { .. } => {
                format!(" on group {group}, of which {node} is a member")
            }
            Membership::Fact { .. } => {
                format!(" on group {group}, of which {node} is a member by a fact")
            }
            Membership::Identity => format!(" on {node} itself"),
        });
        if self.effect == Effect::Lost {
            sentence.push_str("; this is overridden below");
        }
        sentence
    }
}

impl fmt::Display for Explanation {
    /// As configuration text: comments, then the value (figure 10).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for contribution in &self.chain {
            let sentence = contribution.sentence(&self.node, &self.parameter);
            comment(f, &format!("{sentence}."))?;
        }
        write_parameter(f, &self.parameter, &self.value.to_string())
    }
}

/// A parameter and its value as configuration text. A value of several lines stands between a word and its repetition, as
/// does one whose last backslash would join the next line to it. A name with spaces is for somebody who does not read this
/// text: it is a comment.
pub fn write_parameter(f: &mut dyn fmt::Write, name: &str, value: &str) -> fmt::Result {
    if name.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        let comment = format!("# {} = {}", one_line(name), one_line(value));
        // A comment may go on behind a backslash, too.
        let end = if comment.ends_with('\\') { " #" } else { "" };
        return writeln!(f, "{comment}{end}");
    }
    if !value.contains(['\n', '\r']) && !value.trim_end().ends_with('\\') {
        return match value.is_empty() {
            true => writeln!(f, "{name} ="),
            false => writeln!(f, "{name} = {value}"),
        };
    }
    let mut word = "end".to_owned();
    while value.contains(&format!("@{word}")) {
        word.push('_');
    }
    writeln!(f, "{name} @={word}\n{value}\n@{word}")
}

/// Words in comment lines of a readable width.
fn comment(f: &mut fmt::Formatter<'_>, words: &str) -> fmt::Result {
    let mut width = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 76 {
            writeln!(f)?;
            width = 0;
        }
        match width {
            0 => {
                write!(f, "# {word}")?;
                width = 2 + length;
            }
            _ => {
                write!(f, " {word}")?;
                width += 1 + length;
            }
        }
    }
    writeln!(f)
}

/// A value as it can stand in a comment.
fn one_line(value: &str) -> String {
    let mut line = String::with_capacity(value.len());
    for character in value.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}
