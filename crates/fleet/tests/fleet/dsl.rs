//! A fleet described in the language of the ledger, and short ways to ask about it.

use hence_fleet::definitional::Assertions;
use hence_fleet::{Pool, Words};
use hence_ledger::rights::Rights;
use hence_ledger::{Admission, Change, Command, State, admit, parser};
use hence_model::diagnostic::Diagnostic;
use hence_model::source::Sources;

/// A state, and the pool that follows it.
#[derive(Clone, Default)]
pub struct Fleet {
    pub state: State,
    pub pool: Pool,
}

/// The fleet that some commands describe. They must be in order.
pub fn fleet(commands: &str) -> Fleet {
    let mut fleet = Fleet::default();
    fleet.tell(commands);
    fleet
}

impl Fleet {
    /// Does commands that nothing is wrong with, and says what they changed.
    pub fn tell(&mut self, commands: &str) -> Vec<Change> {
        let told = self.try_to(commands);
        told.unwrap_or_else(|troubles| panic!("{commands}\n{}", codes(&troubles)))
    }

    /// Does commands, or says what is wrong with them and leaves everything as it was.
    pub fn try_to(&mut self, commands: &str) -> Result<Vec<Change>, Vec<Diagnostic>> {
        let commands = parse(commands)?;
        let admission = Admission {
            owner: "test",
            commands: &commands,
            take: &[],
            dormant: true,
            rights: &Rights::default(),
            version: 1,
        };
        let pool = &mut self.pool;
        let check = &mut |_: &State, changes: &[Change]| {
            pool.apply(changes);
            let troubles = hence_fleet::check(pool, changes);
            if troubles.iter().any(Diagnostic::is_error) {
                pool.take_back(changes);
            }
            troubles
        };
        admit(&mut self.state, &admission, &Words, check).map(|admitted| admitted.changes)
    }

    /// What is wrong with commands: the codes.
    pub fn refuses(&mut self, commands: &str) -> String {
        let before = self.state.clone();
        let troubles = self.try_to(commands).expect_err(commands);
        assert!(
            self.state == before,
            "a refused change left something behind"
        );
        codes(&troubles)
    }

    /// The configuration of a node, one `NAME = value` a line.
    pub fn config(&self, node: &str) -> String {
        let config = self.pool.config(node).expect("the node is there");
        let lines = config
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// One value of a node.
    pub fn value(&self, node: &str, parameter: &str) -> String {
        let value = self.pool.value(node, parameter);
        value.map_or("(absent)".to_owned(), |value| value.to_string())
    }

    /// All failures, one `node code names` a line.
    pub fn failures(&self) -> String {
        let failures = self.pool.validate();
        let line = |failure: &hence_fleet::Failure| {
            let names = failure.names.join(" ");
            let code = failure.code.name.trim_start_matches("fleet.");
            format!("{} {code} {names}", failure.node)
        };
        failures.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// The assertions of a state.
pub fn assertions(state: &State) -> Assertions {
    let assertions = state.iter();
    assertions
        .map(|(key, assertion)| (key.clone(), assertion.value.clone()))
        .collect()
}

/// The commands in a text.
pub fn parse(commands: &str) -> Result<Vec<Command>, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let file = sources.add("test", commands).expect("there is room");
    Ok(parser::parse(&sources, file, "test", &Words)?.commands)
}

/// The codes and headlines of diagnostics.
pub fn codes(troubles: &[Diagnostic]) -> String {
    let lines = troubles
        .iter()
        .map(|trouble| format!("{}: {}", trouble.code.name, trouble.message));
    lines.collect::<Vec<_>>().join("\n")
}
