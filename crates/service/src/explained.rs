//! The story of a value in words: as a configuration file with comments, and for programs.

use hence_fleet::explain::{Effect, Membership, write_parameter};
use hence_fleet::{Contribution, Explanation, Kind};
use hence_ledger::Key;
use hence_ledger::key::fold;
use hence_model::legible;
use serde::Serialize;

use crate::moment::moment;
use crate::pushed::{Archive, Written, WrittenStep};

/// Comments that tell the story, and the value as a configuration file has it.
pub fn text(archive: &Archive<'_>, explanation: &Explanation) -> String {
    let mut text = String::new();
    for contribution in &explanation.chain {
        let sentence = contribution.sentence(&explanation.node, &explanation.parameter);
        text.push_str(&format!("# {}\n", legible::line(&sentence)));
        for line in story(archive, &contribution.key) {
            text.push_str(&format!("#   {}\n", legible::line(&line)));
        }
        if let Membership::Fact { .. } = contribution.membership {
            let member = Kind::Node.key(&explanation.node).child("group");
            for line in story(archive, &member.child(&fold(&contribution.group))) {
                text.push_str(&format!("#   {}\n", legible::line(&line)));
            }
        }
    }
    let value = explanation.value.to_string();
    let written = write_parameter(&mut text, &explanation.parameter, &value);
    written.expect("a string can be written to");
    text
}

/// How an assertion came to be, in lines: who made it, where it is written, and how it came from there.
pub fn story(archive: &Archive<'_>, key: &Key) -> Vec<String> {
    let Some(assertion) = archive.assertion(key) else {
        return vec![key.to_string()];
    };
    let mut lines = Vec::new();
    lines.push(match archive.made(&assertion) {
        None => key.to_string(),
        Some(made) => {
            let (author, since, time) = (&made.author, assertion.since, moment(made.time));
            let said = match made.message.is_empty() {
                true => String::new(),
                false => format!(", \"{}\"", made.message),
            };
            format!("{key}, by {author} in version {since} ({time}{said})")
        }
    });
    if let Some(written) = archive.written(key, &assertion) {
        let line_of = |place: &str| place.rsplit_once(':').map(|(line, _)| line.to_owned());
        let mut told = vec![line_of(&written.place)];
        lines.push(match written.line {
            Some(line) => format!("{}   {line}", written.place),
            None => written.place,
        });
        lines.extend(written.computed.map(|words| format!("computed as {words}")));
        lines.extend(written.commit);
        for WrittenStep { step, line } in written.steps {
            // A line that was shown already says no more.
            let of = line_of(&step.place);
            if !told.contains(&of) {
                let line = line.map(|line| format!(": {line}")).unwrap_or_default();
                lines.push(format!("  {}   {}{line}", step.place, step.words));
                told.push(of);
            }
        }
    }
    lines
}

/// The story of a value, for programs.
#[derive(Serialize)]
pub struct Told<'a> {
    node: &'a str,
    parameter: &'a str,
    value: String,
    chain: Vec<ToldStep<'a>>,
}

/// One of those that had a say.
#[derive(Serialize)]
struct ToldStep<'a> {
    key: String,
    given: Option<String>,
    operator: &'static str,
    is_default: bool,
    before: Option<String>,
    after: String,
    effect: &'static str,
    features: Vec<&'a str>,
    group: &'a str,
    membership: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rank: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(flatten)]
    written: Option<Written>,
}

/// The story of a value, for programs.
pub fn told<'a>(archive: &Archive<'_>, explanation: &'a Explanation) -> Told<'a> {
    Told {
        node: &explanation.node,
        parameter: &explanation.parameter,
        value: explanation.value.to_string(),
        chain: explanation
            .chain
            .iter()
            .map(|step| told_step(archive, step))
            .collect(),
    }
}

fn told_step<'a>(archive: &Archive<'_>, step: &'a Contribution) -> ToldStep<'a> {
    let assertion = archive.assertion(&step.key);
    let assertion = assertion.as_ref();
    let made = assertion.and_then(|assertion| archive.made(assertion));
    let written = assertion.and_then(|assertion| archive.written(&step.key, assertion));
    let (membership, rank) = match step.membership {
        Membership::Default => ("default", None),
        Membership::Skeleton { rank } => ("skeleton", Some(rank)),
        Membership::Explicit { rank } => ("explicit", Some(rank)),
        Membership::Fact { rank } => ("fact", Some(rank)),
        Membership::Identity => ("identity", None),
    };
    ToldStep {
        key: step.key.to_string(),
        given: shown(&step.given),
        operator: match step.operator {
            hence_fleet::Operator::Set => "=",
            hence_fleet::Operator::Bare => "bare",
            other => other.sign(),
        },
        is_default: step.is_default,
        before: step.before.as_ref().map(ToString::to_string),
        after: step.after.to_string(),
        effect: match step.effect {
            Effect::Stands => "stands",
            Effect::Lost => "lost",
            Effect::None => "none",
        },
        features: step.features.iter().map(|name| name.as_str()).collect(),
        group: &step.group,
        membership,
        rank,
        owner: assertion.map(|assertion| assertion.owner.to_string()),
        version: assertion.map(|assertion| assertion.since),
        author: made.map(|made| made.author.clone()),
        written,
    }
}

/// A value as it is shown; of a secret, its fingerprint.
pub fn shown(value: &hence_ledger::Value) -> Option<String> {
    match value {
        hence_ledger::Value::Nothing => None,
        hence_ledger::Value::Text(text) => Some(text.to_string()),
        hence_ledger::Value::Sealed(sealed) => Some(format!("sealed({})", sealed.fingerprint)),
    }
}
