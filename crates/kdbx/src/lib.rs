//! Opens a KeePass database: bytes and a password go in, a tree of named secrets comes out.
//!
//! container   the outer format, KDBX 3.1 and KDBX 4: header, authentication, decryption
//! derivation  from the password to a key, as slowly as the database demands and the limits allow
//! cipher      what encrypts the whole, and what encrypts single values once more
//! document    the XML inside
//! tree        groups, entries and fields under the names a configuration uses
//!
//! Anybody can send a database, so nothing here trusts one. What it asks for is compared with a limit
//! before it is done:
//!
//! | what | at most |
//! |---|---|
//! | memory of Argon2 | 1 GiB |
//! | memory of Argon2, times passes over it | 64 GiB |
//! | rounds of AES-KDF | 2³⁰ |
//! | decompressed content, attachments included | 128 MiB |
//! | nesting of XML elements, and so of groups | 250 levels |
//!
//! No message and no `Debug` shows a password or the value of a field, titles excepted: they are
//! names. Keys, decrypted content and values are wiped from memory when they are dropped; what the
//! libraries for XML and decompression copy on their way is not.

mod bytes;
mod cipher;
mod container;
mod derivation;
mod document;
mod tree;
mod trouble;

pub use tree::{Entry, Group, Member};
pub use trouble::{Duplicate, Kind, Named, Trouble};

/// Opens a database that is protected by a password alone.
pub fn open(bytes: &[u8], password: &str) -> Result<Group, Trouble> {
    let content = container::open(bytes, password)?;
    let document = document::read(&content.xml, content.stream)?;
    if let (Some(noted), Some(hash)) = (&document.header_hash, &content.header_hash)
        && noted != hash
    {
        return Err(Trouble::Corrupt(
            "its header is not the one it was saved with",
        ));
    }
    tree::tree(document)
}
