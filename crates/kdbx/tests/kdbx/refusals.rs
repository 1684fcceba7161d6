//! What does not open, and what it says then.

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use hence_kdbx::{Trouble, open};

use crate::hostile;

fn refusal(bytes: &[u8], password: &str) -> String {
    open(bytes, password)
        .expect_err("it is refused")
        .to_string()
}

#[test]
fn a_wrong_password() {
    let databases = [
        database!("aes-3.1.kdbx"),
        database!("aes-4.1.kdbx"),
        database!("argon2id-chacha20-4.1.kdbx"),
    ];
    for bytes in databases {
        for password in [
            "",
            "correct",
            "correct horse ",
            "Correct horse",
            &"long".repeat(10_000),
        ] {
            assert_eq!(open(bytes, password), Err(Trouble::WrongPassword));
        }
    }
}

#[test]
fn what_is_no_database() {
    let others: [&[u8]; 5] = [
        b"",
        b"PK",
        b"<?xml version='1.0'?>",
        &[0; 10_000],
        &database!("aes-4.1.kdbx")[1..],
    ];
    for bytes in others {
        assert_eq!(open(bytes, ""), Err(Trouble::NotADatabase));
    }
}

#[test]
fn formats_that_are_too_old_or_too_new() {
    assert_eq!(
        refusal(database!("keepass-1.kdb"), "correct horse"),
        "this KeePass database cannot be read: \
         its format is older than KDBX; save it as KDBX in KeePass 2 or KeePassXC"
    );
    let mut newer = database!("aes-4.1.kdbx").to_vec();
    newer[10] = 5;
    assert_eq!(
        refusal(&newer, "correct horse"),
        "this KeePass database cannot be read: it is KDBX 5.1, where 3.1 and 4 are known"
    );
}

#[test]
fn a_header_that_is_not_the_one_it_was_saved_with() {
    assert_eq!(
        refusal(database!("stale-header-hash.kdbx"), "Grüße 世界 🔑"),
        "this KeePass database is damaged: its header is not the one it was saved with"
    );
}

#[test]
fn two_things_with_one_key_are_named_but_their_values_are_not() {
    let databases = [
        (
            database!("two-entries.kdbx"),
            "entry `a-b` and entry `a b` in `Web/Blue-green` of the KeePass database would both be called `a★b`",
        ),
        (
            database!("two-groups.kdbx"),
            "group `1st` and group `2st` at the top of the KeePass database would both be called `★st`",
        ),
        (
            database!("entry-and-group.kdbx"),
            "entry `web` and group `web` at the top of the KeePass database would both be called `web`",
        ),
        (
            database!("two-fields.kdbx"),
            "field `x y` and field `x-y` in `Web/a-b` of the KeePass database would both be called `x★y`",
        ),
    ];
    for (bytes, expected) in databases {
        let trouble = open(bytes, "correct horse").unwrap_err();
        assert_eq!(
            trouble.to_string(),
            format!("{expected}; rename one of them")
        );
        assert!(!format!("{trouble:?}").contains("secret"));
    }
}

#[test]
fn names_cannot_command_a_terminal() {
    let group = "<Group><Name>\u{1b}[2J</Name></Group>";
    let refusal = refusal(&around(&document(&group.repeat(2))), hostile::PASSWORD);
    assert!(
        refusal.starts_with("group `\u{FFFD}[2J` and group"),
        "{refusal}"
    );
}

#[test]
fn key_derivations_beyond_the_limits() {
    let descriptions = [
        (
            hostile::aes_kdf(1 << 63),
            "9223372036854775808 rounds of AES-KDF, where 1073741824 are allowed",
        ),
        (
            hostile::argon2id(64 << 30, 1, 1),
            "Argon2 with 65536 MiB of memory, where 1024 MiB are allowed",
        ),
        (
            hostile::argon2id(u64::MAX, u64::MAX, 1),
            "Argon2 with 17592186044415 MiB of memory, where 1024 MiB are allowed",
        ),
        (
            hostile::argon2id(64 << 20, 1 << 63, 1),
            "9223372036854775808 passes of Argon2 over 64 MiB, where 1024 are allowed",
        ),
        (
            hostile::argon2id(1 << 30, 65, 4),
            "65 passes of Argon2 over 1024 MiB, where 64 are allowed",
        ),
    ];
    // What is refused would take hours, and is not begun.
    let start = Instant::now();
    for (description, expected) in descriptions {
        let refusal = refusal(&asking_for(&description), "");
        assert_eq!(
            refusal,
            format!("this KeePass database asks for too much: {expected}")
        );
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn key_derivations_that_make_no_sense() {
    let descriptions = [
        hostile::argon2id(0, 0, 0),
        hostile::argon2id(0, u64::MAX, 1),
        hostile::argon2id(64 << 10, 0, 1),
        hostile::argon2id(64 << 10, 1, 0),
        hostile::argon2id(64 << 10, 1, u32::MAX),
        hostile::argon2id(7 << 10, 1, 1),
        hostile::dictionary(&[]),
        hostile::dictionary(&[(0x42, "$UUID", &hostile::ARGON2ID)]),
        hostile::dictionary(&[(0x42, "$UUID", &[])]),
        vec![],
        vec![0, 1],
        vec![0, 1, 0x42, 0xFF, 0xFF, 0xFF, 0xFF],
    ];
    for description in descriptions {
        let trouble = open(&asking_for(&description), "").unwrap_err();
        assert!(matches!(trouble, Trouble::Corrupt(_)), "{trouble}");
    }
}

#[test]
fn content_that_grows_beyond_the_limit() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        bomb.write_all(&zeros).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    assert_eq!(
        refusal(&hostile::holding(&bomb, 1), hostile::PASSWORD),
        "this KeePass database asks for too much: its content is larger than 128 MiB; large attachments count too"
    );
}

#[test]
fn groups_and_elements_that_are_nested_too_deep() {
    let deep = |depth: usize, inner: &str| {
        format!(
            "{}{inner}{}",
            "<Group>".repeat(depth),
            "</Group>".repeat(depth)
        )
    };
    assert!(open(&around(&document(&deep(200, ""))), hostile::PASSWORD).is_ok());
    let expected =
        "this KeePass database asks for too much: its document is nested more than 250 deep";
    for depth in [1_000, 1_000_000] {
        assert_eq!(
            refusal(&around(&document(&deep(depth, ""))), hostile::PASSWORD),
            expected
        );
        assert_eq!(
            refusal(&around(&document(&"<x>".repeat(depth))), hostile::PASSWORD),
            expected
        );
    }
}

#[test]
fn documents_that_are_not_of_keepass() {
    let documents = [
        "",
        "<KeePassFile/>",
        "<KeePassFile>",
        "<KeePassFile></Root>",
        "<html/>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><KeePassFile><Meta><x>&b;</x></Meta></KeePassFile>",
        "<KeePassFile><Meta><x Protected='True'>not base64!</x></Meta></KeePassFile>",
        "<KeePassFile><Meta><x Protected=True></x></Meta></KeePassFile>",
    ];
    for xml in documents {
        let trouble = open(&around(xml), hostile::PASSWORD).unwrap_err();
        assert!(matches!(trouble, Trouble::Corrupt(_)), "{xml}: {trouble}");
    }
    let without_inner_header = hostile::holding(&[0, 0, 0, 0, 0], 0);
    assert!(matches!(
        open(&without_inner_header, hostile::PASSWORD),
        Err(Trouble::Corrupt(_))
    ));
}

fn document(members: &str) -> String {
    format!("<KeePassFile><Root><Group>{members}</Group></Root></KeePassFile>")
}

fn around(xml: &str) -> Vec<u8> {
    hostile::holding(&hostile::content(xml), 0)
}

fn asking_for(derivation: &[u8]) -> Vec<u8> {
    hostile::sealed(&hostile::header(derivation, 0))
}
