//! Bytes as letters, four for three.

use ecow::EcoString;

use super::Failure;

/// Bytes as letters, digits, `+` and `/`, four for three bytes.
pub fn encode(bytes: &[u8]) -> EcoString {
    encode_with(
        bytes,
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    )
}

/// The same with `-` and `_`, for addresses.
pub fn encode_for_urls(bytes: &[u8]) -> EcoString {
    encode_with(
        bytes,
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    )
}

fn encode_with(bytes: &[u8], letters: &[u8; 64]) -> EcoString {
    let mut text = EcoString::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            if position > chunk.len() {
                text.push('=');
            } else {
                let letter = bits >> (18 - 6 * position) & 63;
                text.push(char::from(letters[letter as usize]));
            }
        }
    }
    text
}

fn sextet(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// Bytes of base64, whatever else is in between left out.
pub(super) fn decode(text: &str) -> Vec<u8> {
    let sextets = text.bytes().take_while(|byte| *byte != b'=');
    bytes_of(sextets.filter_map(sextet))
}

fn bytes_of(sextets: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for sextet in sextets {
        bits = bits << 6 | sextet;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}

/// Bytes of base64 with nothing else in it.
pub(super) fn decode_strictly(text: &str) -> Result<Vec<u8>, Failure> {
    let invalid = || Failure::new("invalid base64");
    let content = text
        .strip_suffix("==")
        .or(text.strip_suffix('='))
        .unwrap_or(text);
    let sextets: Option<Vec<u32>> = content.bytes().map(sextet).collect();
    let sextets = sextets.ok_or_else(invalid)?;
    // What the last letter says beyond the last byte must be nothing.
    let spare = match sextets.len() % 4 {
        0 => 0,
        2 => 0b1111,
        3 => 0b11,
        _ => return Err(invalid()),
    };
    let last = sextets.last().copied().unwrap_or(0);
    if !text.len().is_multiple_of(4) || last & spare != 0 {
        return Err(invalid());
    }
    Ok(bytes_of(sextets.into_iter()))
}
