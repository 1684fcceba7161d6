//! A state is kept as objects, of which a change makes few anew.

use std::collections::HashMap;
use std::convert::Infallible;

use crate::sites::Sites;
use hence_ledger::{Command, Hash, Key, State, Value};
use hence_model::random::Random;

type Objects = HashMap<Hash, Vec<u8>>;

fn read(address: Hash, objects: &Objects) -> State {
    let mut read = |hashes: &[Hash]| {
        let found = hashes.iter().map(|hash| objects[hash].clone());
        Ok::<_, Infallible>(found.collect())
    };
    let Ok(read) = State::read(address, &mut read);
    read.expect("nothing is damaged")
}

fn assert(state: &mut State, number: usize) {
    let command = Command::Assert {
        owner: "ann".into(),
        key: Key::new(["host", &number.to_string()]),
        value: Value::text(number.to_string()),
    };
    state.perform(&command, 1, &Sites);
}

#[test]
fn a_state_is_read_as_it_was_written_at_any_time() {
    let mut objects = Objects::new();
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut state = State::default();
        let mut versions = Vec::new();
        for _ in 0..random.below(20) {
            for _ in 0..random.below(60) {
                let number = random.below(400);
                match random.chance(60) {
                    true => assert(&mut state, number),
                    false => {
                        let key = Key::new(["host", &number.to_string()]);
                        let retract = Command::Retract(hence_ledger::Keys::Only(key));
                        state.perform(&retract, 1, &Sites);
                    }
                }
            }
            let (address, written) = state.objects();
            objects.extend(written);
            versions.push((address, state.clone()));
        }
        for (address, mut state) in versions {
            let mut again = read(address, &objects);
            assert_eq!(again, state);
            assert_eq!(again.identity(), state.identity());
            assert_eq!(again.objects(), (address, Vec::new()), "all of it is there");
            let number = random.below(400).to_string();
            let key = Key::new(["host", &number]);
            let mut object = |hash: Hash| Ok::<_, Infallible>(objects[&hash].clone());
            let Ok(found) = hence_ledger::state::find(address, &key, &mut object);
            assert_eq!(found.unwrap().as_ref(), state.get(&key));
        }
    }
}

#[test]
fn a_change_makes_few_objects_anew() {
    let mut state = State::default();
    for number in 0..100_000 {
        assert(&mut state, number);
    }
    let (_, all) = state.objects();
    assert!(all.len() < 20_000, "{} objects", all.len());
    assert(&mut state, 100_000);
    let (_, few) = state.objects();
    assert!(few.len() <= 6, "{} objects", few.len());
    let bytes: usize = few.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 12_000, "{bytes} bytes");
}

#[test]
fn a_damaged_object_is_named() {
    let mut state = State::default();
    for number in 0..200 {
        assert(&mut state, number);
    }
    let (address, written) = state.objects();
    let objects: Objects = written.into_iter().collect();
    for damaged in objects.keys() {
        let object = |hash: &Hash| {
            let mut bytes = objects[hash].clone();
            if hash == damaged {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            bytes
        };
        let mut read =
            |hashes: &[Hash]| Ok::<_, Infallible>(hashes.iter().map(object).collect::<Vec<_>>());
        let Ok(read) = State::read(address, &mut read);
        assert_eq!(read.unwrap_err().0, *damaged);
    }
}

/// Branches that name one object sixteen times, as nothing that is asserted ever looks.
#[test]
fn what_would_never_end_is_damaged() {
    let mut objects = Objects::new();
    let mut address = State::default().objects().0;
    for (hash, bytes) in State::default().objects().1 {
        objects.insert(hash, bytes);
    }
    for _ in 0..15 {
        let ways = vec![format!("\"{address}\""); 16].join(",");
        let bytes = format!("{{\"Branch\":[{ways}]}}").into_bytes();
        address = Hash::of(&bytes);
        objects.insert(address, bytes);
    }
    let mut asked = 0;
    let mut read = |hashes: &[Hash]| {
        asked += hashes.len();
        let found = hashes.iter().map(|hash| objects[hash].clone());
        Ok::<_, Infallible>(found.collect())
    };
    let Ok(read) = State::read(address, &mut read);
    assert!(read.is_err());
    assert!(asked < 20, "{asked} objects were asked for");
}
