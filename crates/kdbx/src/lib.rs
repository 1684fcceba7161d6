//! Opens a KeePass database: bytes and a password go in, a tree of named secrets comes out.
