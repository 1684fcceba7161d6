//! The outer format: a header that says how to decrypt, and content that is authenticated.
//!
//! KDBX 4 authenticates everything before anything is decrypted. KDBX 3.1 encrypts what says that the
//! key is right, hashes the blocks inside, and leaves the hash of the header to the document.

use std::io::Read;

use flate2::read::GzDecoder;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};
use zeroize::Zeroizing;

use crate::Trouble;
use crate::bytes::{Bytes, exactly};
use crate::cipher::{Cipher, Stream};
use crate::derivation::Derivation;

const MOST_CONTENT: usize = 128 << 20;

/// What is inside.
pub struct Content {
    pub xml: Zeroizing<Vec<u8>>,
    /// Decrypts the protected values of the document.
    pub stream: Stream,
    /// What the document must say about the header, if it says anything; KDBX 4 has checked already.
    pub header_hash: Option<[u8; 32]>,
}

/// Decrypts and decompresses a database.
pub fn open(bytes: &[u8], password: &str) -> Result<Content, Trouble> {
    let mut rest = Bytes(bytes);
    let (Ok(0x9AA2_D903), Ok(family)) = (rest.u32(), rest.u32()) else {
        return Err(Trouble::NotADatabase);
    };
    match family {
        0xB54B_FB67 => {}
        0xB54B_FB65 | 0xB54B_FB66 => {
            let older = "its format is older than KDBX; save it as KDBX in KeePass 2 or KeePassXC";
            return Err(Trouble::Unsupported(older.to_owned()));
        }
        _ => return Err(Trouble::NotADatabase),
    }
    let (minor, major) = (rest.u16()?, rest.u16()?);
    match major {
        3 => open_3(bytes, rest, password),
        4 => open_4(bytes, rest, password),
        _ => Err(Trouble::Unsupported(format!(
            "it is KDBX {major}.{minor}, where 3.1 and 4 are known"
        ))),
    }
}

fn open_3(bytes: &[u8], mut rest: Bytes<'_>, password: &str) -> Result<Content, Trouble> {
    let header = Header::read(&mut rest, |bytes| bytes.u16().map(usize::from))?;
    let header_bytes = &bytes[..bytes.len() - rest.0.len()];
    let derivation = Derivation::aes(header.get(TRANSFORM_SEED)?, header.get(TRANSFORM_ROUNDS)?)?;
    let seed: [u8; 32] = exactly(header.get(MASTER_SEED)?)?;
    let (cipher, compression) = (header.cipher()?, header.compression()?);
    let stream_id = u32::from_le_bytes(exactly(header.get(STREAM_ID)?)?);
    let stream = Stream::new(stream_id, header.get(STREAM_KEY)?)?;
    let start: [u8; 32] = exactly(header.get(START)?)?;

    let key = derivation.derive(password)?;
    let mut content = Zeroizing::new(rest.0.to_vec());
    let decrypted = cipher.decrypt(&master_key(&seed, &key), header.get(IV)?, &mut content);
    // A wrong key nearly always leaves bad padding.
    decrypted.map_err(|_| Trouble::WrongPassword)?;
    let mut blocks = Bytes(&content);
    if blocks.take(start.len()) != Ok(&start) {
        return Err(Trouble::WrongPassword);
    }
    Ok(Content {
        xml: compression.undo(hashed_blocks(blocks)?)?,
        stream,
        header_hash: Some(Sha256::digest(header_bytes).into()),
    })
}

fn open_4(bytes: &[u8], mut rest: Bytes<'_>, password: &str) -> Result<Content, Trouble> {
    let header = Header::read(&mut rest, |bytes| bytes.u32().map(|length| length as usize))?;
    let header_bytes = &bytes[..bytes.len() - rest.0.len()];
    if rest.take(32)? != Sha256::digest(header_bytes).as_slice() {
        return Err(Trouble::Corrupt(
            "its header has changed since it was saved",
        ));
    }
    let derivation = Derivation::described(header.get(DERIVATION)?)?;
    let seed: [u8; 32] = exactly(header.get(MASTER_SEED)?)?;
    let (cipher, compression) = (header.cipher()?, header.compression()?);

    let key = derivation.derive(password)?;
    let authentication = Authentication::new(&seed, &key);
    if !authentication.confirms(u64::MAX, &[header_bytes], rest.take(32)?) {
        return Err(Trouble::WrongPassword);
    }
    let mut content = Zeroizing::new(authentication.blocks(rest)?);
    cipher.decrypt(&master_key(&seed, &key), header.get(IV)?, &mut content)?;
    let mut xml = compression.undo(content)?;
    let (stream, length) = inner_header(&xml)?;
    xml.drain(..length);
    Ok(Content {
        xml,
        stream,
        header_hash: None,
    })
}

const END: u8 = 0;
const CIPHER: u8 = 2;
const COMPRESSION: u8 = 3;
const MASTER_SEED: u8 = 4;
const TRANSFORM_SEED: u8 = 5;
const TRANSFORM_ROUNDS: u8 = 6;
const IV: u8 = 7;
const STREAM_KEY: u8 = 8;
const START: u8 = 9;
const STREAM_ID: u8 = 10;
const DERIVATION: u8 = 11;

/// The fields of the outer header, each at its number; numbers beyond are comments and plugins' data.
struct Header<'a>([Option<&'a [u8]>; 12]);

impl<'a> Header<'a> {
    fn read(
        bytes: &mut Bytes<'a>,
        length: impl Fn(&mut Bytes<'a>) -> Result<usize, Trouble>,
    ) -> Result<Header<'a>, Trouble> {
        let mut header = Header([None; 12]);
        loop {
            let id = bytes.u8()?;
            let length = length(bytes)?;
            let value = bytes.take(length)?;
            if id == END {
                return Ok(header);
            }
            if let Some(field) = header.0.get_mut(usize::from(id)) {
                *field = Some(value);
            }
        }
    }

    fn get(&self, id: u8) -> Result<&'a [u8], Trouble> {
        self.0[usize::from(id)].ok_or(Trouble::Corrupt("its header lacks a field"))
    }

    fn cipher(&self) -> Result<Cipher, Trouble> {
        Cipher::named(self.get(CIPHER)?)
    }

    fn compression(&self) -> Result<Compression, Trouble> {
        match u32::from_le_bytes(exactly(self.get(COMPRESSION)?)?) {
            0 => Ok(Compression::None),
            1 => Ok(Compression::Gzip),
            id => Err(Trouble::Unsupported(format!(
                "its compression {id} is not known"
            ))),
        }
    }
}

fn master_key(seed: &[u8; 32], key: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    Zeroizing::new(
        Sha256::new()
            .chain_update(seed)
            .chain_update(key)
            .finalize()
            .into(),
    )
}

/// The content of KDBX 3.1: blocks with their hashes, of which an empty one is the last.
fn hashed_blocks(mut bytes: Bytes<'_>) -> Result<Zeroizing<Vec<u8>>, Trouble> {
    let mut content = Zeroizing::new(Vec::with_capacity(bytes.0.len()));
    for index in 0.. {
        let (stated, hash, block) = (bytes.u32()?, bytes.take(32)?, bytes.counted()?);
        let good = match block {
            [] => hash == [0; 32],
            block => hash == Sha256::digest(block).as_slice(),
        };
        if stated != index || !good {
            return Err(CHANGED);
        }
        if block.is_empty() {
            break;
        }
        content.extend_from_slice(block);
    }
    Ok(content)
}

const CHANGED: Trouble = Trouble::Corrupt("its content has changed since it was saved");

/// What proves that somebody who knew the password wrote the bytes of KDBX 4.
struct Authentication(Zeroizing<[u8; 64]>);

impl Authentication {
    fn new(seed: &[u8; 32], key: &[u8; 32]) -> Authentication {
        let hash = Sha512::new()
            .chain_update(seed)
            .chain_update(key)
            .chain_update([1]);
        Authentication(Zeroizing::new(hash.finalize().into()))
    }

    fn confirms(&self, index: u64, parts: &[&[u8]], code: &[u8]) -> bool {
        let key = Sha512::new()
            .chain_update(index.to_le_bytes())
            .chain_update(*self.0);
        let key = Zeroizing::new(<[u8; 64]>::from(key.finalize()));
        let mut mac = Hmac::<Sha256>::new_from_slice(&*key).expect("any length is a key");
        parts.iter().for_each(|part| mac.update(part));
        mac.verify_slice(code).is_ok()
    }

    /// The content: blocks with their codes, of which an empty one is the last.
    fn blocks(&self, mut bytes: Bytes<'_>) -> Result<Vec<u8>, Trouble> {
        let mut content = Vec::with_capacity(bytes.0.len());
        for index in 0u64.. {
            let (code, block) = (bytes.take(32)?, bytes.counted()?);
            let length = (block.len() as u32).to_le_bytes();
            if !self.confirms(index, &[&index.to_le_bytes(), &length, block], code) {
                return Err(CHANGED);
            }
            if block.is_empty() {
                break;
            }
            content.extend_from_slice(block);
        }
        Ok(content)
    }
}

enum Compression {
    None,
    Gzip,
}

impl Compression {
    fn undo(self, content: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, Trouble> {
        let plain = match self {
            Compression::None => content,
            Compression::Gzip => {
                // The last bytes state the length; growing would leave copies that nobody wipes.
                let stated = content
                    .last_chunk()
                    .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize);
                let mut plain = Zeroizing::new(Vec::with_capacity(stated.min(MOST_CONTENT) + 1));
                let mut decoder = GzDecoder::new(&content[..]).take(MOST_CONTENT as u64 + 1);
                let read = decoder.read_to_end(&mut plain);
                read.map_err(|_| Trouble::Corrupt("its content cannot be decompressed"))?;
                plain
            }
        };
        if plain.len() > MOST_CONTENT {
            return Err(Trouble::Excessive(format!(
                "its content is larger than {} MiB; large attachments count too",
                MOST_CONTENT >> 20
            )));
        }
        Ok(plain)
    }
}

/// What stands before the document of KDBX 4, and how long it is. Attachments are passed over.
fn inner_header(content: &[u8]) -> Result<(Stream, usize), Trouble> {
    let mut bytes = Bytes(content);
    let (mut id, mut key) = (None, None);
    loop {
        match (bytes.u8()?, bytes.counted()?) {
            (0, _) => break,
            (1, value) => id = Some(u32::from_le_bytes(exactly(value)?)),
            (2, value) => key = Some(value),
            _ => {}
        }
    }
    let (Some(id), Some(key)) = (id, key) else {
        return Err(Trouble::Corrupt(
            "it does not say how its values are protected",
        ));
    };
    Ok((Stream::new(id, key)?, content.len() - bytes.0.len()))
}
