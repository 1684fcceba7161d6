//! Secrets: texts that are sealed under a key, which is beside the ledger and never in it.
//!
//! Equal texts are equal when sealed, so that a change of nothing is nothing; that two are equal is all that can be seen. The
//! sum of a text, keyed, is both the start of the stream that covers the text and the proof that it was not changed
//! (a synthetic initialisation vector).

use hence_ledger::value::Sealed;

/// What seals and opens.
#[derive(Clone)]
pub struct Seal {
    sum: [u8; 32],
    stream: [u8; 32],
    fingerprint: [u8; 32],
    receipt: [u8; 32],
}

impl Seal {
    /// What a key seals and opens.
    pub fn new(key: &[u8; 32]) -> Self {
        Self {
            sum: blake3::derive_key("hence ledger 2026: sum of a secret", key),
            stream: blake3::derive_key("hence ledger 2026: stream over a secret", key),
            fingerprint: blake3::derive_key("hence ledger 2026: fingerprint of a secret", key),
            receipt: blake3::derive_key("hence ledger 2026: receipt for a secret", key),
        }
    }

    /// The text, sealed.
    pub fn seal(&self, text: &str) -> Sealed {
        let sum = blake3::keyed_hash(&self.sum, text.as_bytes());
        let mut content = sum.as_bytes().to_vec();
        content.extend(self.cover(sum.as_bytes(), text.as_bytes()));
        let fingerprint = blake3::keyed_hash(&self.fingerprint, text.as_bytes());
        Sealed {
            fingerprint: fingerprint.to_hex()[..16].into(),
            content: hex(&content).into(),
        }
    }

    /// The text that was sealed; nothing if it was sealed under another key, or changed.
    pub fn open(&self, sealed: &Sealed) -> Option<String> {
        let content = bytes(&sealed.content)?;
        let (sum, covered) = content.split_first_chunk::<32>()?;
        let text = self.cover(sum, covered);
        // Compared in constant time.
        let is_whole = blake3::keyed_hash(&self.sum, &text) == blake3::Hash::from_bytes(*sum);
        is_whole.then(|| String::from_utf8(text).ok())?
    }

    /// A receipt for a secret that somebody handed in, which counts until a time. Whoever has the key knows it again.
    pub fn receipt(&self, sealed: &Sealed, token: &str, until: u64) -> String {
        format!("{until}-{}", self.signature(sealed, token, until).to_hex())
    }

    /// Whether something is a receipt that still counts.
    pub fn knows(&self, receipt: &str, sealed: &Sealed, token: &str, now: u64) -> bool {
        let parts = receipt.split_once('-').and_then(|(until, signature)| {
            let signature = blake3::Hash::from_hex(signature).ok()?;
            Some((until.parse::<u64>().ok()?, signature))
        });
        // Compared in constant time.
        parts.is_some_and(|(until, signature)| {
            now < until && signature == self.signature(sealed, token, until)
        })
    }

    fn signature(&self, sealed: &Sealed, token: &str, until: u64) -> blake3::Hash {
        let Sealed {
            fingerprint,
            content,
        } = sealed;
        let words = serde_json::json!([until, fingerprint, content, token]);
        blake3::keyed_hash(&self.receipt, words.to_string().as_bytes())
    }

    /// Covers what is open, and uncovers what is covered.
    fn cover(&self, sum: &[u8; 32], bytes: &[u8]) -> Vec<u8> {
        let mut stream = vec![0; bytes.len()];
        let mut hasher = blake3::Hasher::new_keyed(&self.stream);
        hasher.update(sum);
        hasher.finalize_xof().fill(&mut stream);
        stream
            .iter()
            .zip(bytes)
            .map(|(one, other)| one ^ other)
            .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let is_hex = hex.len().is_multiple_of(2) && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).ok();
    is_hex.then(|| (0..hex.len()).step_by(2).map(digits).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_the_same_key_only_and_only_whole() {
        let (seal, other) = (Seal::new(&[7; 32]), Seal::new(&[8; 32]));
        for text in ["", "x", "correct horse", "é\n\u{0}"] {
            let sealed = seal.seal(text);
            assert_eq!(sealed, seal.seal(text));
            assert!(text.is_empty() || !sealed.content.contains(&hex(text.as_bytes())));
            assert_eq!(seal.open(&sealed).as_deref(), Some(text));
            assert_eq!(other.open(&sealed), None);
            assert_ne!(other.seal(text).fingerprint, sealed.fingerprint);
            for at in 0..sealed.content.len() {
                let mut content = sealed.content.to_string();
                let digit = if &content[at..=at] == "0" { "1" } else { "0" };
                content.replace_range(at..=at, digit);
                let changed = Sealed {
                    content: content.into(),
                    ..sealed.clone()
                };
                assert_eq!(seal.open(&changed), None, "{text} at {at}");
            }
        }
        let odd = Sealed {
            fingerprint: "0".into(),
            content: "abc".into(),
        };
        assert_eq!(seal.open(&odd), None);
    }

    #[test]
    fn a_receipt_is_for_one_secret_one_token_and_a_while() {
        let (seal, other) = (Seal::new(&[7; 32]), Seal::new(&[8; 32]));
        let (secret, another) = (seal.seal("x"), seal.seal("y"));
        let receipt = seal.receipt(&secret, "ann", 100);
        assert!(seal.knows(&receipt, &secret, "ann", 99));
        assert!(!seal.knows(&receipt, &secret, "ann", 100));
        assert!(!seal.knows(&receipt, &secret, "bob", 99));
        assert!(!seal.knows(&receipt, &another, "ann", 99));
        assert!(!other.knows(&receipt, &secret, "ann", 99));
        let longer = receipt.replacen("100-", "900-", 1);
        assert!(!seal.knows(&longer, &secret, "ann", 99));
        for odd in ["", "100", "100-", "100-zz", "-"] {
            assert!(!seal.knows(odd, &secret, "ann", 99), "{odd}");
        }
    }
}
