//! From the password to a key: slow on purpose, and only as slow as the limits allow.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes256, Block};
use argon2::{Algorithm, Argon2, Params, Version};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::Trouble;
use crate::bytes::{Bytes, exactly};

const GIB: u64 = 1 << 30;
const MOST_MEMORY: u64 = GIB;
const MOST_MEMORY_TIMES_PASSES: u64 = 64 * GIB;
const MOST_ROUNDS: u64 = 1 << 30;

/// A way to derive the key that is within the limits.
pub enum Derivation<'a> {
    Aes {
        seed: [u8; 32],
        rounds: u64,
    },
    Argon2 {
        function: Argon2<'static>,
        salt: &'a [u8],
    },
}

impl<'a> Derivation<'a> {
    /// The derivation of KDBX 3.1.
    pub fn aes(seed: &[u8], rounds: &[u8]) -> Result<Derivation<'a>, Trouble> {
        let rounds = u64::from_le_bytes(exactly(rounds)?);
        if rounds > MOST_ROUNDS {
            return Err(Trouble::Excessive(format!(
                "{rounds} rounds of AES-KDF, where {MOST_ROUNDS} are allowed"
            )));
        }
        Ok(Derivation::Aes {
            seed: exactly(seed)?,
            rounds,
        })
    }

    /// The derivation that the header of a KDBX 4 database describes.
    pub fn described(description: &'a [u8]) -> Result<Derivation<'a>, Trouble> {
        let description = Description::read(description)?;
        match u128::from_be_bytes(exactly(description.get("$UUID")?)?) {
            // KeePass and KeePassXC have an identifier each for the same derivation.
            0xc9d9f39a_628a_4460_bf74_0d08c18a4fea | 0x7c02bb82_79a7_4ac0_927d_114a00648238 => {
                Derivation::aes(description.get("S")?, description.get("R")?)
            }
            0xef636ddf_8c29_444b_91f7_a9a403e30a0c => {
                Derivation::argon2(Algorithm::Argon2d, &description)
            }
            0x9e298b19_56db_4773_b23d_fc3ec6f0a1e6 => {
                Derivation::argon2(Algorithm::Argon2id, &description)
            }
            id => Err(Trouble::Unsupported(format!(
                "its key derivation {id:032x} is not known"
            ))),
        }
    }

    fn argon2(
        algorithm: Algorithm,
        description: &Description<'a>,
    ) -> Result<Derivation<'a>, Trouble> {
        let memory = u64::from_le_bytes(exactly(description.get("M")?)?);
        let passes = u64::from_le_bytes(exactly(description.get("I")?)?);
        let lanes = u32::from_le_bytes(exactly(description.get("P")?)?);
        let version = u32::from_le_bytes(exactly(description.get("V")?)?);
        let more = [description.get("K"), description.get("A")];
        if more.into_iter().flatten().any(|more| !more.is_empty()) {
            return Err(Trouble::Unsupported(
                "its key derivation takes more than a password".to_owned(),
            ));
        }
        if memory > MOST_MEMORY {
            return Err(Trouble::Excessive(format!(
                "Argon2 with {} MiB of memory, where {} MiB are allowed",
                memory >> 20,
                MOST_MEMORY >> 20
            )));
        }
        if memory.saturating_mul(passes) > MOST_MEMORY_TIMES_PASSES {
            return Err(Trouble::Excessive(format!(
                "{passes} passes of Argon2 over {} MiB, where {} are allowed",
                memory >> 20,
                MOST_MEMORY_TIMES_PASSES / memory
            )));
        }
        let Ok(version) = Version::try_from(version) else {
            let version = "its version of Argon2 is not known".to_owned();
            return Err(Trouble::Unsupported(version));
        };
        let impossible = Trouble::Corrupt("no Argon2 has the parameters it asks for");
        let (Ok(passes), Ok(kib)) = (u32::try_from(passes), u32::try_from(memory >> 10)) else {
            return Err(impossible);
        };
        let params = Params::new(kib, passes, lanes, Some(32)).map_err(|_| impossible)?;
        Ok(Derivation::Argon2 {
            function: Argon2::new(algorithm, version, params),
            salt: description.get("S")?,
        })
    }

    /// Derives the key.
    pub fn derive(self, password: &str) -> Result<Zeroizing<[u8; 32]>, Trouble> {
        let hash = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(password)));
        let key = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(*hash)));
        match self {
            Derivation::Aes { seed, rounds } => Ok(aes(&key, seed, rounds)),
            Derivation::Argon2 { function, salt } => argon2(&key, &function, salt),
        }
    }
}

fn aes(key: &[u8; 32], seed: [u8; 32], rounds: u64) -> Zeroizing<[u8; 32]> {
    let cipher = Aes256::new(&seed.into());
    let mut halves = [Block::default(); 2];
    halves[0].copy_from_slice(&key[..16]);
    halves[1].copy_from_slice(&key[16..]);
    for _ in 0..rounds {
        cipher.encrypt_blocks(&mut halves);
    }
    let hash = Sha256::new()
        .chain_update(halves[0])
        .chain_update(halves[1]);
    halves.zeroize();
    Zeroizing::new(hash.finalize().into())
}

fn argon2(
    key: &[u8; 32],
    function: &Argon2<'_>,
    salt: &[u8],
) -> Result<Zeroizing<[u8; 32]>, Trouble> {
    let blocks = function.params().block_count();
    let mut memory = Vec::new();
    if memory.try_reserve_exact(blocks).is_err() {
        let memory = format!("{blocks} KiB of memory, which are not to be had");
        return Err(Trouble::Excessive(memory));
    }
    memory.resize(blocks, argon2::Block::default());
    let mut derived = Zeroizing::new([0; 32]);
    let result = function.hash_password_into_with_memory(key, salt, &mut *derived, &mut memory);
    memory.iter_mut().for_each(Zeroize::zeroize);
    result.map_err(|_| Trouble::Corrupt("no Argon2 has the salt it gives"))?;
    Ok(derived)
}

/// Names and values, as KDBX 4 writes them into its header.
struct Description<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> Description<'a> {
    fn read(bytes: &'a [u8]) -> Result<Description<'a>, Trouble> {
        let mut bytes = Bytes(bytes);
        if bytes.u16()? >> 8 != 1 {
            return Err(Trouble::Unsupported(
                "its way to describe a key derivation is not known".to_owned(),
            ));
        }
        let mut values = Vec::new();
        while bytes.u8()? != 0 {
            values.push((bytes.counted()?, bytes.counted()?));
        }
        Ok(Description(values))
    }

    fn get(&self, name: &str) -> Result<&'a [u8], Trouble> {
        let found = self.0.iter().find(|(other, _)| *other == name.as_bytes());
        let (_, value) = found.ok_or(Trouble::Corrupt(
            "its key derivation is not fully described",
        ))?;
        Ok(value)
    }
}
