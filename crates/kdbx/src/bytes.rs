//! Reading bytes that may end at any point.

use crate::Trouble;

/// What is still to be read. Numbers are little-endian, as everywhere in the format.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Trouble> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(Trouble::Corrupt("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Trouble> {
        Ok(self
            .take(N)?
            .try_into()
            .expect("as many bytes as were asked for"))
    }

    pub fn u8(&mut self) -> Result<u8, Trouble> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub fn u16(&mut self) -> Result<u16, Trouble> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub fn u32(&mut self) -> Result<u32, Trouble> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// As many bytes as the number before them says.
    pub fn counted(&mut self) -> Result<&'a [u8], Trouble> {
        let length = self.u32()?;
        self.take(length as usize)
    }
}

/// Bytes that must be exactly so many.
pub fn exactly<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Trouble> {
    bytes
        .try_into()
        .map_err(|_| Trouble::Corrupt("a value in its header has the wrong length"))
}
