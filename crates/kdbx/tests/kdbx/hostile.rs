//! Writes databases that no tool would write: whoever knows the password can send anything.

use aes::cipher::{BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher};
use chacha20::ChaCha20;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256, Sha512};

pub const PASSWORD: &str = "hostile";

const AES_KDF: [u8; 16] = 0xc9d9f39a_628a_4460_bf74_0d08c18a4feau128.to_be_bytes();
pub const ARGON2ID: [u8; 16] = 0x9e298b19_56db_4773_b23d_fc3ec6f0a1e6u128.to_be_bytes();
const CHACHA20: [u8; 16] = 0xd6038a2b_8b6f_4cb5_a524_339a31dbb59au128.to_be_bytes();

/// The inner header and a document whose values are protected by ChaCha20.
pub fn content(xml: &str) -> Vec<u8> {
    let fields = [(1, &3u32.to_le_bytes()[..]), (2, &[7; 64]), (0, &[])];
    let fields = fields.map(|(id, value)| field(id, value)).concat();
    [&fields[..], xml.as_bytes()].concat()
}

/// A KDBX 4 database with any content, compressed or not.
pub fn holding(content: &[u8], compression: u32) -> Vec<u8> {
    let seed = [1; 32];
    let header = header(&aes_kdf(1), compression);

    let mut halves = [aes::Block::default(); 2];
    let composite = Sha256::digest(Sha256::digest(PASSWORD));
    halves[0].copy_from_slice(&composite[..16]);
    halves[1].copy_from_slice(&composite[16..]);
    aes::Aes256::new(&[2; 32].into()).encrypt_blocks(&mut halves);
    let key = Sha256::digest(halves.concat());

    let master = Sha256::digest([&seed[..], &key].concat());
    let hmac = Sha512::digest([&seed[..], &key, &[1]].concat());
    let code = |index: u64, bytes: &[u8]| {
        let key = Sha512::digest([&index.to_le_bytes()[..], &hmac].concat());
        let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.chain_update(bytes).finalize().into_bytes()
    };

    let mut encrypted = content.to_vec();
    ChaCha20::new(&master, &[3; 12].into()).apply_keystream(&mut encrypted);
    let (hash, proof) = (Sha256::digest(&header), code(u64::MAX, &header));
    let mut database = [&header[..], &hash, &proof].concat();
    for (index, block) in [&encrypted[..], &[]].into_iter().enumerate() {
        let index = index as u64;
        let counted = [&(block.len() as u32).to_le_bytes(), block].concat();
        database.extend_from_slice(&code(index, &[&index.to_le_bytes(), &counted[..]].concat()));
        database.extend_from_slice(&counted);
    }
    database
}

/// A header with its hash, and nothing after it that could be right.
pub fn sealed(header: &[u8]) -> Vec<u8> {
    let hash = Sha256::digest(header);
    [header, &hash, &[0; 100]].concat()
}

/// The header of a KDBX 4 database.
pub fn header(derivation: &[u8], compression: u32) -> Vec<u8> {
    let start = [0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0, 0, 4, 0];
    let compression = compression.to_le_bytes();
    let fields = [
        (2, &CHACHA20[..]),
        (3, &compression),
        (4, &[1; 32]),
        (7, &[3; 12]),
        (11, derivation),
        (0, b"\r\n\r\n"),
    ];
    let fields = fields.map(|(id, value)| field(id, value)).concat();
    [&start[..], &fields].concat()
}

fn field(id: u8, value: &[u8]) -> Vec<u8> {
    [&[id], &(value.len() as u32).to_le_bytes()[..], value].concat()
}

pub fn aes_kdf(rounds: u64) -> Vec<u8> {
    dictionary(&[
        (0x42, "$UUID", &AES_KDF),
        (0x05, "R", &rounds.to_le_bytes()),
        (0x42, "S", &[2; 32]),
    ])
}

pub fn argon2id(memory: u64, passes: u64, lanes: u32) -> Vec<u8> {
    dictionary(&[
        (0x42, "$UUID", &ARGON2ID),
        (0x05, "M", &memory.to_le_bytes()),
        (0x05, "I", &passes.to_le_bytes()),
        (0x04, "P", &lanes.to_le_bytes()),
        (0x04, "V", &0x13u32.to_le_bytes()),
        (0x42, "S", &[2; 32]),
    ])
}

pub fn dictionary(values: &[(u8, &str, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0, 1];
    for (kind, name, value) in values {
        bytes.push(*kind);
        for part in [name.as_bytes(), value] {
            bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
            bytes.extend_from_slice(part);
        }
    }
    bytes.push(0);
    bytes
}
