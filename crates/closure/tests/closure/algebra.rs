//! What the paper claims about the language of commands, on random sequences of them.

use hence_closure::language::{self, Order};
use hence_closure::model::{Request, behaviour};
use hence_closure::site::Site;
use hence_closure::words::{Subject, Words};
use hence_ledger::{Command, Key, State};
use hence_model::source::Sources;

use crate::generate::{OWNERS, Pool, Random, are_apart, cases};

/// So many sequences are tried for each claim.
const SEQUENCES: usize = 20_000;

fn pool() -> Pool {
    let endpoints = ["127.0.0.1:8080", "127.0.0.1:8081"];
    Pool::new(endpoints.map(|at| at.parse().unwrap()).to_vec())
}

type Perform = fn(&mut State, &Command);

fn perform(state: &mut State, command: &Command) {
    state.perform(command, 1, &Words);
}

/// The mistake of the paper's first language: what has no host is not accepted.
fn with_precondition(state: &mut State, command: &Command) {
    if let Command::Assert { key, .. } = command
        && let Some(subject) = Subject::of(key)
        && let Some(host) = subject.host()
        && state.get(&Key::new(["host", host.as_str()])).is_none()
        && !matches!(subject, Subject::Host(_))
    {
        return;
    }
    perform(state, command);
}

fn after(perform: Perform, sequences: &[&[Command]]) -> State {
    let mut state = State::default();
    for command in sequences.iter().copied().flatten() {
        perform(&mut state, command);
    }
    state
}

/// Whether the same is asserted, and the same answered to what may be asked.
fn is_same(pool: &Pool, random: &mut Random, one: &State, other: &State) -> bool {
    let (first, second) = (Site::of(one), Site::of(other));
    let answers = (0..8).all(|_| {
        let (host, path) = pool.probe(random);
        let request = Request {
            endpoint: *random.one(&pool.endpoints),
            named: pool.named(random, host),
            host,
            path: &path,
            from: "127.0.0.1".parse().unwrap(),
            user: None,
        };
        behaviour(&first, &pool.by_hash, &request) == behaviour(&second, &pool.by_hash, &request)
    });
    one == other && answers
}

/// How many sequences break a claim.
fn broken(mut claim: impl FnMut(&Pool, &mut Random) -> bool) -> usize {
    let pool = pool();
    let mut broken = 0;
    for seed in 0..cases(SEQUENCES) as u64 {
        let mut random = Random::new(seed + 1);
        broken += usize::from(!claim(&pool, &mut random));
    }
    broken
}

/// A command, others, and the command again.
fn statelessness(perform: Perform) -> usize {
    broken(|pool, random| {
        let command = [pool.command(random)];
        let between = pool.sequence(random, 8);
        let twice = after(perform, &[&command, &between, &command]);
        let once = after(perform, &[&between, &command]);
        is_same(pool, random, &twice, &once)
    })
}

#[test]
fn statelessness_an_earlier_execution_does_not_matter() {
    assert_eq!(statelessness(perform), 0);
}

#[test]
fn a_precondition_in_a_command_would_break_statelessness() {
    assert!(statelessness(with_precondition) > 0);
}

#[test]
fn idempotence_a_sequence_may_be_repeated() {
    let broken = broken(|pool, random| {
        let sequence = pool.sequence(random, 10);
        let once = after(perform, &[&sequence]);
        let twice = after(perform, &[&sequence, &sequence]);
        is_same(pool, random, &once, &twice)
    });
    assert_eq!(broken, 0);
}

/// The assertions in effect, as commands.
fn in_effect(state: &State) -> Vec<Command> {
    let assert = |(key, assertion): (&Key, &hence_ledger::Assertion)| Command::Assert {
        owner: assertion.owner.clone(),
        key: key.clone(),
        value: assertion.value.clone(),
    };
    state.iter().map(assert).collect()
}

#[test]
fn reducibility_every_sequence_comes_to_some_of_its_assertions_in_any_order() {
    let broken = broken(|pool, random| {
        let sequence = pool.sequence(random, 12);
        let state = after(perform, &[&sequence]);
        let mut reduced = in_effect(&state);
        let issued = |assertion: &Command| {
            let Command::Assert { owner, key, value } = assertion else {
                return false;
            };
            sequence.iter().any(|command| match command {
                Command::Apply { owner: layer, set } => {
                    layer == owner && set.contains(&(key.clone(), value.clone()))
                }
                command => command == assertion,
            })
        };
        let is_subset = reduced.iter().all(issued);
        random.shuffle(&mut reduced);
        let again = after(perform, &[&reduced]);
        is_subset && is_same(pool, random, &state, &again)
    });
    assert_eq!(broken, 0);
}

#[test]
fn convergence_what_is_in_effect_may_be_said_again_at_any_time() {
    let broken = broken(|pool, random| {
        let sequence = pool.sequence(random, 12);
        let state = after(perform, &[&sequence]);
        let mut reduced = in_effect(&state);
        random.shuffle(&mut reduced);
        let over = after(perform, &[&sequence, &reduced, &reduced]);
        is_same(pool, random, &state, &over)
    });
    assert_eq!(broken, 0);
}

#[test]
fn convergence_whoever_missed_commands_catches_up_by_the_last_set_alone() {
    let broken = broken(|pool, random| {
        let heard = pool.sequence(random, 8);
        let all = after(perform, &[&heard, &pool.sequence(random, 8)]);
        // What was down heard only some of it. Then each owner's set is applied.
        let mut late = after(perform, &[&heard[..heard.len() / 2]]);
        for owner in OWNERS {
            let set = all.iter().filter(|(_, assertion)| assertion.owner == owner);
            let set = set.map(|(key, assertion)| (key.clone(), assertion.value.clone()));
            perform(&mut late, &Command::apply(owner, set.collect(), &Words));
        }
        is_same(pool, random, &all, &late)
    });
    assert_eq!(broken, 0);
}

#[test]
fn independence_commands_about_other_things_may_change_places() {
    let mut apart = 0;
    let broken = broken(|pool, random| {
        let before = pool.sequence(random, 6);
        let (one, other) = ([pool.command(random)], [pool.command(random)]);
        if !are_apart(&one[0], &other[0]) {
            return true;
        }
        apart += 1;
        let first = after(perform, &[&before, &one, &other]);
        let second = after(perform, &[&before, &other, &one]);
        is_same(pool, random, &first, &second)
    });
    assert_eq!(broken, 0);
    assert!(apart * 2 > cases(SEQUENCES), "{apart} pairs were apart");
}

/// The commands that a text says.
fn read(text: &str, owner: &str) -> Vec<Command> {
    let mut sources = Sources::default();
    let file = sources.add("commands", text).unwrap();
    let orders = language::parse(&sources, file, owner)
        .unwrap_or_else(|troubles| panic!("{text}{troubles:?}"));
    let writes = orders.into_iter().map(|placed| match placed.order {
        Order::Write(commands) => commands,
        other => panic!("{other:?} is no write"),
    });
    writes.flatten().collect()
}

#[test]
fn clarity_a_command_means_what_it_says_whatever_is_asserted() {
    let broken = broken(|pool, random| {
        let command = pool.command(random);
        let owner = match &command {
            Command::Assert { owner, .. } => owner.to_string(),
            _ => "nobody".to_owned(),
        };
        read(&language::written(std::slice::from_ref(&command)), &owner) == [command]
    });
    assert_eq!(broken, 0);
}

#[test]
fn representability_what_is_shown_and_said_again_is_the_same_service() {
    let broken = broken(|pool, random| {
        let state = after(perform, &[&pool.sequence(random, 12)]);
        let layers = OWNERS.map(|owner| {
            let set = state
                .iter()
                .filter(|(_, assertion)| assertion.owner == owner);
            let set = set.map(|(key, assertion)| (key.clone(), assertion.value.clone()));
            Command::apply(owner, set.collect(), &Words)
        });
        let shown = language::written(&layers);
        let again = after(perform, &[&read(&shown, "nobody")]);
        !shown.contains("retract") && is_same(pool, random, &state, &again)
    });
    assert_eq!(broken, 0);
}
