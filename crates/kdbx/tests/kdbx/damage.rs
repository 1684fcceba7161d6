//! Whatever happens to a database on its way, it is noticed, and nothing panics.

use std::io::Read;

use flate2::Compression;
use flate2::read::GzEncoder;
use hence_kdbx::{Trouble, open};

use crate::hostile;

/// Small enough that every bit can be flipped: KDBX 3.1 and KDBX 4 with AES-KDF, and KDBX 4 with Argon2.
const DATABASES: [(&[u8], &str); 3] = [
    (database!("paper-3.1.kdbx"), "Grüße 世界 🔑"),
    (database!("aes-4.1.kdbx"), "correct horse"),
    (database!("paper-4.0.kdbx"), "Grüße 世界 🔑"),
];

#[test]
fn every_flipped_bit_is_noticed() {
    for (bytes, password) in DATABASES {
        let slow = rounds(bytes).map_or(0..0, |at| at + 2..at + 4);
        for at in (0..bytes.len()).filter(|at| !slow.contains(at)) {
            for bit in 0..8 {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 1 << bit;
                assert!(open(&damaged, password).is_err(), "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    for (bytes, password) in DATABASES {
        for length in 0..bytes.len() {
            assert!(open(&bytes[..length], password).is_err(), "{length} bytes");
        }
    }
}

// KDBX 3.1 authenticates its header last, so a flipped bit there asks for up to 2³⁰ rounds, and gets
// them.
fn rounds(bytes: &[u8]) -> Option<usize> {
    let field = [6, 8, 0, 60, 0, 0, 0, 0, 0, 0, 0];
    let at = bytes
        .windows(field.len())
        .position(|window| window == field)?;
    Some(at + 3)
}

#[test]
fn no_header_is_trusted_because_its_hash_is_right() {
    for derivation in [hostile::aes_kdf(1), hostile::argon2id(64 << 10, 1, 1)] {
        let header = hostile::header(&derivation, 1);
        let refused = |header: &[u8]| open(&hostile::sealed(header), "").is_err();
        let work: Vec<usize> = work(&header).collect();
        for (at, byte) in changes(&header).filter(|(at, _)| !work.contains(at)) {
            let mut changed = header.clone();
            changed[at] = byte;
            assert!(refused(&changed), "{byte} as byte {at}");
        }
        for length in 0..header.len() {
            assert!(refused(&header[..length]), "{length} bytes");
        }
    }
}

/// Where a header says how much work there is: changed within the limits, it is work for minutes.
fn work(header: &[u8]) -> impl Iterator<Item = usize> {
    let numbers = header
        .windows(10)
        .enumerate()
        .filter(|(_, window)| matches!(window, [5, 1, 0, 0, 0, b'R' | b'M' | b'I', 8, 0, 0, 0]));
    numbers.flat_map(|(at, _)| at + 10..at + 18)
}

#[test]
fn no_content_is_trusted_because_its_author_knew_the_password() {
    let content = hostile::content(DOCUMENT);
    assert!(open(&hostile::holding(&content, 0), hostile::PASSWORD).is_ok());
    for (at, byte) in changes(&content) {
        let mut changed = content.clone();
        changed[at] = byte;
        never_panics(&changed, 0);
    }
    for length in 0..content.len() {
        never_panics(&content[..length], 0);
    }
}

#[test]
fn no_compressed_content_is_trusted_either() {
    let content = hostile::content(DOCUMENT);
    let mut compressed = Vec::new();
    let mut encoder = GzEncoder::new(&content[..], Compression::best());
    encoder.read_to_end(&mut compressed).unwrap();
    assert!(open(&hostile::holding(&compressed, 1), hostile::PASSWORD).is_ok());
    for (at, byte) in changes(&compressed) {
        let mut changed = compressed.clone();
        changed[at] = byte;
        never_panics(&changed, 1);
    }
}

#[test]
fn documents_that_are_torn_and_stitched_do_no_harm() {
    let pieces: Vec<&str> = PIECES.split_whitespace().collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let content = hostile::content(DOCUMENT);
    for _ in 0..30_000 {
        let mut changed = content.clone();
        for _ in 0..1 + next(6) {
            let from = next(changed.len());
            let to = changed.len().min(from + next(50));
            let piece = pieces[next(pieces.len())].as_bytes();
            match next(3) {
                0 => drop(changed.splice(from..from, piece.iter().copied())),
                1 => drop(changed.splice(from..to, piece.iter().copied())),
                _ => changed.extend_from_within(from..to),
            }
        }
        never_panics(&changed, 0);
    }
}

const PIECES: &str = r#"
    <KeePassFile> </KeePassFile> <Root> </Root> <Meta> </Meta> <Group> </Group> <Group/> <Entry>
    </Entry> <String> </String> <Key> </Key> <Value> </Value> Protected="True" <Name> </Name> <UUID/>
    <HeaderHash> </HeaderHash> Title AAAA ★ &amp; &#x110000; &#0; &x; & < > </ /> <> </> = " ' /
    <![CDATA[ ]]> <!-- --> <? ?> <!DOCTYPE [ ]
"#;

fn never_panics(content: &[u8], compression: u32) {
    // Whoever knows the password may change what is inside; but it is never the password that is wrong.
    let opened = open(&hostile::holding(content, compression), hostile::PASSWORD);
    assert!(
        !matches!(opened, Err(Trouble::WrongPassword | Trouble::NotADatabase)),
        "{opened:?}"
    );
}

/// Every byte, in turn, as something else.
fn changes(bytes: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    bytes.iter().enumerate().flat_map(|(at, &byte)| {
        let near = [byte ^ 1, byte.wrapping_add(1), byte.wrapping_sub(1)];
        let others = b"\x00\x01\x7F\x80\xFF<>&/".iter().copied().chain(near);
        others
            .filter(move |&other| other != byte)
            .map(move |other| (at, other))
    })
}

const DOCUMENT: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<KeePassFile>
  <Meta><RecycleBinEnabled>True</RecycleBinEnabled><RecycleBinUUID>AAAA</RecycleBinUUID></Meta>
  <Root><Group><UUID>BBBB</UUID><Name>Top</Name>
    <Entry>
      <String><Key>Title</Key><Value>a &amp; b &#x2605;</Value></String>
      <String><Key>Password</Key><Value Protected="True">E73pU10=</Value></String>
      <History><Entry><String><Key>Title</Key><Value Protected="True"/></String></Entry></History>
    </Entry>
    <Group><UUID>AAAA</UUID><Name>Bin</Name></Group>
    <Group><Name><![CDATA[in]]>ner<!-- --></Name></Group>
  </Group></Root>
</KeePassFile>"#;
