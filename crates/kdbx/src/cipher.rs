//! What encrypts the whole content, and what encrypts single values once more.

use aes::Aes256;
use aes::cipher::block_padding::Pkcs7;
use aes::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit, StreamCipher};
use chacha20::ChaCha20;
use salsa20::Salsa20;
use sha2::{Digest, Sha256, Sha512};
use twofish::Twofish;
use zeroize::Zeroizing;

use crate::Trouble;
use crate::bytes::exactly;

/// A cipher for the whole content.
#[derive(Clone, Copy)]
pub enum Cipher {
    Aes,
    Twofish,
    ChaCha20,
}

impl Cipher {
    pub fn named(id: &[u8]) -> Result<Cipher, Trouble> {
        match u128::from_be_bytes(exactly(id)?) {
            0x31c1f2e6_bf71_4350_be58_05216afc5aff => Ok(Cipher::Aes),
            0xad68f29f_576f_4bb9_a36a_d47af965346c => Ok(Cipher::Twofish),
            0xd6038a2b_8b6f_4cb5_a524_339a31dbb59a => Ok(Cipher::ChaCha20),
            id => Err(Trouble::Unsupported(format!(
                "its cipher {id:032x} is not known"
            ))),
        }
    }

    /// Decrypts in place. Nothing but bad padding says that the key is wrong.
    pub fn decrypt(self, key: &[u8; 32], iv: &[u8], content: &mut Vec<u8>) -> Result<(), Trouble> {
        match self {
            Cipher::Aes => decrypt_blocks::<Aes256>(key, iv, content),
            Cipher::Twofish => decrypt_blocks::<Twofish>(key, iv, content),
            Cipher::ChaCha20 => {
                let iv: [u8; 12] = exactly(iv)?;
                apply(&mut ChaCha20::new(key.into(), &iv.into()), content)
            }
        }
    }
}

fn decrypt_blocks<C>(key: &[u8; 32], iv: &[u8], content: &mut Vec<u8>) -> Result<(), Trouble>
where
    C: BlockCipherDecrypt + KeyInit,
    cbc::Decryptor<C>: KeyIvInit + BlockModeDecrypt,
{
    let iv: [u8; 16] = exactly(iv)?;
    let cipher =
        cbc::Decryptor::<C>::new_from_slices(key, &iv).expect("both ciphers take 32 bytes and 16");
    let length = match cipher.decrypt_padded::<Pkcs7>(content) {
        Ok(plain) => plain.len(),
        Err(_) => return Err(Trouble::Corrupt("its content does not end as it should")),
    };
    content.truncate(length);
    Ok(())
}

/// A stream that encrypts single values, one after the other as they stand in the document.
pub enum Stream {
    Salsa20(Salsa20),
    ChaCha20(ChaCha20),
}

impl Stream {
    pub fn new(id: u32, key: &[u8]) -> Result<Stream, Trouble> {
        match id {
            2 => {
                let key = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(key)));
                let nonce = [0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A];
                Ok(Stream::Salsa20(Salsa20::new((&*key).into(), &nonce.into())))
            }
            3 => {
                let hash = Zeroizing::new(<[u8; 64]>::from(Sha512::digest(key)));
                let stream = ChaCha20::new_from_slices(&hash[..32], &hash[32..44]);
                Ok(Stream::ChaCha20(stream.expect("it takes 32 bytes and 12")))
            }
            _ => Err(Trouble::Unsupported(format!(
                "the cipher {id} of its protected values is not known"
            ))),
        }
    }

    /// Decrypts the value that comes next.
    pub fn decrypt(&mut self, value: &mut [u8]) -> Result<(), Trouble> {
        match self {
            Stream::Salsa20(stream) => apply(stream, value),
            Stream::ChaCha20(stream) => apply(stream, value),
        }
    }
}

fn apply(stream: &mut impl StreamCipher, bytes: &mut [u8]) -> Result<(), Trouble> {
    let applied = stream.try_apply_keystream(bytes);
    applied.map_err(|_| Trouble::Corrupt("it is longer than its cipher allows"))
}
