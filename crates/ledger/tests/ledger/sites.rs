//! A small vocabulary with everything that a vocabulary can have: hosts, files and trees on them, and redirections; and
//! random commands in it.

use hence_ledger::vocabulary::Reach;
use hence_ledger::{Command, Fault, Key, Keys, State, Value, Vocabulary};
use hence_model::random::Random;

/// Hosts, and what is at their paths. A file cannot be where something below it is, nor a redirection where a file is.
pub struct Sites;

impl Vocabulary for Sites {
    fn assertion(&self, names: &[String], value: Value) -> Result<(Key, Value), Fault> {
        Ok((self.key(names)?, value))
    }

    fn key(&self, names: &[String]) -> Result<Key, Fault> {
        match names[0].as_str() {
            "host" | "file" | "redirect" => Ok(Key::new(names.iter().map(String::as_str))),
            other => Err(Fault::new(format!("there is no `{other}`"))),
        }
    }

    fn conflicts(&self, key: &Key) -> Vec<Keys> {
        let names: Vec<_> = key.names().collect();
        let at = |kind: &'static str, len: usize| {
            let place = names[1..len].iter().map(|name| &**name);
            Key::new(std::iter::once(kind).chain(place))
        };
        match &*names[0] {
            "file" => {
                let above = (3..names.len()).map(|len| Keys::Only(at("file", len)));
                let below = |name| Keys::Under(key.child(name));
                let mut keys: Vec<Keys> = above.collect();
                keys.extend(["a", "b", "c d"].map(below));
                keys.push(Keys::Only(at("redirect", names.len())));
                keys
            }
            "redirect" => vec![Keys::Only(at("file", names.len()))],
            _ => Vec::new(),
        }
    }

    fn supports(&self, key: &Key) -> Vec<Key> {
        let names: Vec<_> = key.names().collect();
        match &*names[0] {
            "host" => Vec::new(),
            _ => vec![Key::new(["host", &names[1]])],
        }
    }

    fn reach(&self, key: &Key) -> Reach {
        match key.as_str().starts_with("host/") {
            true => Reach::Anywhere,
            false => Reach::Nowhere,
        }
    }
}

/// Who there is.
pub const OWNERS: [&str; 3] = ["ann", "site file", "op"];

/// A random key.
pub fn key(random: &mut Random) -> Key {
    let kind = *random.pick(&["host", "file", "file", "redirect"]);
    let mut names = vec![kind, *random.pick(&["h", "Ü#"])];
    if kind != "host" {
        for _ in 0..=random.below(3) {
            names.push(*random.pick(&["a", "b", "c d"]));
        }
    }
    Key::new(names)
}

/// A random value.
pub fn value(random: &mut Random) -> Value {
    match random.below(4) {
        0 => Value::Nothing,
        1 => {
            Value::text(*random.pick(&["", "x y", "\"\\\n\t\u{1}", "#;{}", " >= é", "sealed(a b)"]))
        }
        _ => Value::text(random.below(3).to_string()),
    }
}

/// A random command.
pub fn command(random: &mut Random) -> Command {
    match random.below(6) {
        0 => Command::Retract(Keys::Only(key(random))),
        1 => Command::Retract(Keys::Under(key(random))),
        2 => {
            let count = random.below(5);
            let set = (0..count).map(|_| (key(random), value(random))).collect();
            Command::apply(*random.pick(&OWNERS), set, &Sites)
        }
        _ => Command::Assert {
            owner: (*random.pick(&OWNERS)).into(),
            key: key(random),
            value: value(random),
        },
    }
}

/// Some random commands.
pub fn commands(random: &mut Random) -> Vec<Command> {
    let count = random.below(8);
    (0..count).map(|_| command(random)).collect()
}

/// Does commands one after another.
pub fn perform<'c>(state: &mut State, commands: impl IntoIterator<Item = &'c Command>) {
    for command in commands {
        state.perform(command, 1, &Sites);
    }
}

/// What comes of commands on an empty ledger.
pub fn state<'c>(commands: impl IntoIterator<Item = &'c Command>) -> State {
    let mut state = State::default();
    perform(&mut state, commands);
    state
}
