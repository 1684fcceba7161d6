//! The propositions of the closure paper, corrected: over random commands, from random states.

use crate::sites::{OWNERS, Sites, command, commands, perform, state};
use hence_ledger::rights::Rights;
use hence_ledger::{Command, Key, Keys, State, Value, Vocabulary};
use hence_model::random::Random;

const CASES: u64 = 20_000;

fn for_random_cases(mut case: impl FnMut(&mut Random)) {
    for seed in 0..CASES {
        case(&mut Random::new(seed));
    }
}

#[test]
fn only_the_last_time_counts_of_a_command_that_is_repeated() {
    for_random_cases(|random| {
        let start = state(&commands(random));
        let (first, between) = (command(random), commands(random));
        let mut repeated = start.clone();
        perform(&mut repeated, [&first]);
        perform(&mut repeated, &between);
        perform(&mut repeated, [&first]);
        let mut once = start;
        perform(&mut once, &between);
        perform(&mut once, [&first]);
        assert_eq!(repeated, once, "{first} … {between:?}");
        assert_eq!(repeated.identity(), once.identity());
    });
}

#[test]
fn a_sequence_may_be_repeated() {
    for_random_cases(|random| {
        let mut once = state(&commands(random));
        let sequence = commands(random);
        perform(&mut once, &sequence);
        let mut twice = once.clone();
        perform(&mut twice, &sequence);
        assert_eq!(once, twice, "{sequence:?}");
    });
}

/// The assertions in a state, as commands.
fn reduced(state: &State) -> Vec<Command> {
    let assert = |(key, assertion): (&Key, &hence_ledger::Assertion)| Command::Assert {
        owner: assertion.owner.clone(),
        key: key.clone(),
        value: assertion.value.clone(),
    };
    state.iter().map(assert).collect()
}

#[test]
fn every_sequence_comes_to_a_set_of_its_assertions_in_any_order() {
    for_random_cases(|random| {
        let sequence = commands(random);
        let end = state(&sequence);
        let mut set = reduced(&end);
        for place in (1..set.len()).rev() {
            set.swap(place, random.below(place + 1));
        }
        assert_eq!(state(&set), end, "{sequence:?}");
        let was_issued = |wanted: &Command| {
            let Command::Assert { owner, key, value } = wanted else {
                unreachable!("a reduced set has assertions");
            };
            sequence.iter().any(|command| match command {
                Command::Assert { .. } => command == wanted,
                Command::Apply { owner: by, set } => {
                    by == owner && set.contains(&(key.clone(), value.clone()))
                }
                Command::Retract(_) => false,
            })
        };
        assert!(set.iter().all(was_issued), "{sequence:?}");
    });
}

#[test]
fn what_a_sequence_writes_is_the_same_wherever_it_began() {
    for_random_cases(|random| {
        let (mut here, mut there) = (state(&commands(random)), state(&commands(random)));
        let sequence = commands(random);
        perform(&mut here, &sequence);
        perform(&mut there, &sequence);
        let written: Vec<Keys> = sequence
            .iter()
            .flat_map(|command| command.writes(&Sites))
            .collect();
        let applies = |owner: &str| {
            sequence
                .iter()
                .any(|command| matches!(command, Command::Apply { owner: by, .. } if by == owner))
        };
        let agree = |one: &State, other: &State| {
            let mut assertions = one.iter();
            assertions.all(|(key, assertion)| {
                let is_written = written.iter().any(|keys| keys.contains(key));
                let is_layer = applies(&assertion.owner);
                !is_written && !is_layer || other.get(key) == Some(assertion)
            })
        };
        // A key that only one of two starts gave to an owner who then applied is gone from both layers.
        assert!(agree(&here, &there), "{sequence:?}");
        assert!(agree(&there, &here), "{sequence:?}");
    });
}

#[test]
fn a_state_is_rebuilt_from_its_text_with_the_same_identity() {
    for_random_cases(|random| {
        let mut end = state(&commands(random));
        let mut sources = hence_model::source::Sources::with_limit(1 << 20);
        let file = sources.add("state", &end.to_string()).unwrap();
        let read = hence_ledger::parser::parse(&sources, file, "nobody", &Sites).unwrap();
        let mut again = state(&read.commands);
        assert_eq!(again, end);
        assert_eq!(again.identity(), end.identity());
    });
}

#[test]
fn a_command_is_read_as_it_was_written() {
    for_random_cases(|random| {
        let command = command(random);
        let mut sources = hence_model::source::Sources::with_limit(1 << 20);
        let file = sources.add("command", &command.to_string()).unwrap();
        let owner = match &command {
            Command::Assert { owner, .. } => owner.as_str(),
            _ => "nobody",
        };
        let read = hence_ledger::parser::parse(&sources, file, owner, &Sites).unwrap();
        assert_eq!(read.commands, [command]);
    });
}

#[test]
fn equal_states_and_only_those_have_equal_identities() {
    for_random_cases(|random| {
        let (mut one, mut other) = (state(&commands(random)), state(&commands(random)));
        assert_eq!(one == other, one.identity() == other.identity());
        // However it came about.
        perform(&mut one, &commands(random));
        assert_eq!(state(&reduced(&one)).identity(), one.identity());
    });
}

#[test]
fn changes_are_made_and_taken_back() {
    for_random_cases(|random| {
        let mut now = state(&commands(random));
        let before = now.clone();
        let mut changes = Vec::new();
        for command in commands(random) {
            changes.extend(now.perform(&command, 2, &Sites));
        }
        let mut made = before.clone();
        made.make(&hence_ledger::state::net(changes.clone()));
        assert_eq!(made, now);
        now.take_back(&changes);
        assert_eq!(now, before);
        assert_eq!(now.identity(), before.clone().identity());
    });
}

#[test]
fn rights_are_decided_by_keys_alone() {
    let mut allowed_cases = 0;
    let mut forbidden_cases = 0;
    for_random_cases(|random| {
        let mut rights = Rights::default();
        let allowed = [
            Keys::Under(Key::new(["file", *random.pick(&["h", "Ü#"])])),
            Keys::Under(Key::new(["redirect", "h"])),
            Keys::Only(Key::new(["host", "h"])),
        ];
        let allowed = &allowed[..1 + random.below(3)];
        for keys in allowed {
            rights.confine("ann", keys.clone());
        }
        let is_allowed = |key: &Key| allowed.iter().any(|keys| keys.contains(key));
        let command = match command(random) {
            Command::Assert { key, value, .. } => Command::Assert {
                owner: "ann".into(),
                key,
                value,
            },
            Command::Apply { set, .. } => Command::apply("ann", set, &Sites),
            retract => retract,
        };
        // In a state where others hold whatever the command could write, it writes outside of what is allowed
        // exactly if it is forbidden.
        let mut full = State::default();
        for keys in command.writes(&Sites) {
            let (Keys::Only(key) | Keys::Under(key)) = &keys;
            let mut names: Vec<Key> = vec![key.clone()];
            if matches!(keys, Keys::Under(_)) {
                names.push(key.child("a"));
            }
            for key in names {
                full.make(&[hence_ledger::Change {
                    key,
                    before: None,
                    after: Some(hence_ledger::Assertion {
                        owner: "op".into(),
                        value: hence_ledger::Value::text("full"),
                        since: 0,
                    }),
                }]);
            }
        }
        let changes = full.perform(&command, 1, &Sites);
        let outside = changes.iter().any(|change| !is_allowed(&change.key));
        let forbidden = !rights.forbidden("ann", &command, &Sites).is_empty();
        match forbidden {
            true => forbidden_cases += 1,
            false => allowed_cases += 1,
        }
        assert_eq!(outside, forbidden, "{command} with {allowed:?}");
        assert!(rights.forbidden(OWNERS[1], &command, &Sites).is_empty());
    });
    assert!(allowed_cases > 1_000 && forbidden_cases > 1_000);
}

#[test]
fn no_state_holds_what_cannot_stand_together() {
    for_random_cases(|random| {
        let end = state(&commands(random));
        for (key, _) in end.iter() {
            for keys in Sites.conflicts(key) {
                assert_eq!(end.among(keys.clone()).count(), 0, "{key} beside {keys:?}");
            }
        }
    });
}

#[test]
fn who_may_write_here_and_there_may_not_empty_what_another_says() {
    let mut rights = Rights::default();
    rights.confine("ann", Keys::Under(Key::new(["host", "a"])));
    let says = |owner: &str, keys: &[&str]| {
        let set = keys
            .iter()
            .map(|key| (Key::from_text(key), Value::text("x")));
        Command::apply(owner, set.collect(), &Sites)
    };
    let mut before = State::default();
    before.perform(&says("bob", &["host/a", "host/b"]), 1, &Sites);
    let admitted = |owner: &str, command: Command| {
        let mut state = before.clone();
        let admission = hence_ledger::Admission {
            owner,
            commands: &[command],
            take: &[],
            dormant: true,
            rights: &rights,
            version: 2,
        };
        let admitted = hence_ledger::admit(&mut state, &admission, &Sites, &mut |_, _| Vec::new());
        admitted.map(|_| state)
    };
    // What is missing in it stands in no command, and is not hers.
    let refused = admitted("ann", says("bob", &[])).unwrap_err();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].code, hence_ledger::admission::FORBIDDEN);
    assert_eq!(refused[0].path.as_deref(), Some("host/b"));
    assert!(
        admitted("ann", says("bob", &["host/b"])).is_err(),
        "it names what is not hers"
    );
    assert_eq!(admitted("carl", says("bob", &[])), Ok(State::default()));
}

#[test]
fn what_takes_much_from_others_is_admitted_without_comparing_all_with_all() {
    // If each loss were held against each command and each leave, this would take minutes.
    let keys: Vec<Key> = (0..200_000)
        .map(|number| Key::new(["redirect", "host", &number.to_string()]))
        .collect();
    let mut state = State::default();
    let said = keys.iter().map(|key| (key.clone(), Value::text("x")));
    state.perform(&Command::apply("ann", said.collect(), &Sites), 1, &Sites);
    let retract = |key: &Key| Command::Retract(Keys::Only(key.clone()));
    let admission = hence_ledger::Admission {
        owner: "bob",
        commands: &keys.iter().map(retract).collect::<Vec<_>>(),
        take: &keys,
        dormant: true,
        rights: &Rights::default(),
        version: 2,
    };
    let admitted = hence_ledger::admit(&mut state, &admission, &Sites, &mut |_, _| Vec::new());
    assert_eq!(admitted.unwrap().lost.len(), keys.len());
    assert_eq!(state, State::default());
}
