//! A sum in front of what is written, so that what is read is that or an error.

use hence_ledger::Hash;

/// Bytes behind the sum of what they are about and of themselves.
pub(crate) fn with_sum(about: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut row = sum(about, bytes).as_bytes().to_vec();
    row.extend_from_slice(bytes);
    row
}

/// The bytes behind a sum, if it is theirs.
pub(crate) fn summed<'r>(about: &[u8], row: &'r [u8]) -> Option<&'r [u8]> {
    let (noted, bytes) = row.split_first_chunk::<32>()?;
    (sum(about, bytes).as_bytes() == noted).then_some(bytes)
}

/// The sum of some bytes and of what they are about.
pub(crate) fn sum(about: &[u8], bytes: &[u8]) -> Hash {
    let mut parts = about.to_vec();
    parts.extend_from_slice(Hash::of(bytes).as_bytes());
    Hash::of(&parts)
}
