//! Keys with dots: `users.alice.0` is the first element of what `users` has as `alice`.

use ecow::EcoString;

use crate::value::{Datum, Value};

/// A key, and the way into its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key as written.
    pub whole: EcoString,
    /// What is looked up.
    pub root: EcoString,
    /// The keys and indexes that lead into the value.
    pub segments: Vec<Datum>,
}

/// Why there is no way into a value.
#[derive(Debug, PartialEq)]
pub enum NoWay {
    /// There is no such element.
    Absent,
    /// The value has no elements that are named like that.
    Unfit(EcoString),
}

impl Key {
    /// Reads a key. None if its dots and quotes make no sense.
    pub fn read(text: &str) -> Option<Self> {
        let mut segments = segments(text)?.into_iter();
        let root = match segments.next()? {
            Datum::Text(root) => root,
            other => crate::text::text(&other),
        };
        Some(Self {
            whole: text.into(),
            root,
            segments: segments.collect(),
        })
    }

    /// The key that leads this way into the data. None if it leads nowhere.
    pub fn new(way: Vec<Datum>) -> Option<Self> {
        let mut segments = way.into_iter();
        let root = crate::text::text(&segments.next()?);
        Some(Self {
            whole: root.clone(),
            root,
            segments: segments.collect(),
        })
    }

    /// The module whose data may have it: `apache` for `apache::port`.
    pub fn module(&self) -> Option<&str> {
        self.root.split_once("::").map(|(module, _)| module)
    }

    /// The way into a value.
    pub fn dig<'v>(&self, mut value: &'v Value) -> Result<&'v Value, NoWay> {
        for segment in &self.segments {
            value = match (&value.datum, segment) {
                (Datum::Undef, _) => return Err(NoWay::Absent),
                (Datum::Array(array), Datum::Integer(index)) => {
                    let index = usize::try_from(*index).ok();
                    index
                        .and_then(|index| array.get(index))
                        .ok_or(NoWay::Absent)?
                }
                (Datum::Hash(hash), key) => hash.get(key).ok_or(NoWay::Absent)?,
                _ => return Err(NoWay::Unfit(crate::text::text(segment))),
            };
        }
        Ok(value)
    }
}

/// The segments between dots; what is in quotes has none. Numbers are indexes.
fn segments(text: &str) -> Option<Vec<Datum>> {
    if !text.contains(['\'', '"', '.']) {
        return Some(vec![text.into()]);
    }
    let mut segments = Vec::new();
    let mut rest = text;
    loop {
        let start = rest.trim_start();
        let quote = start.chars().next().filter(|first| "'\"".contains(*first));
        let segment = match quote {
            Some(quote) => {
                let (inner, behind) = start[1..].split_once(quote)?;
                rest = behind.trim_start();
                (!inner.is_empty()).then(|| Datum::from(inner))?
            }
            None => {
                let end = rest.find(['\'', '"', '.']).unwrap_or(rest.len());
                let (plain, behind) = rest.split_at(end);
                rest = behind;
                (!plain.is_empty()).then(|| plain_segment(plain.trim()))?
            }
        };
        segments.push(segment);
        match rest.strip_prefix('.') {
            Some(behind) => rest = behind,
            None => return rest.is_empty().then_some(segments),
        }
    }
}

fn plain_segment(text: &str) -> Datum {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<i64>() {
        Ok(number) if is_number => number.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_quotes_part_a_key() {
        let parts = |text: &str| {
            let key = Key::read(text)?;
            let segments = key.segments.iter().map(crate::text::text);
            let all: Vec<EcoString> = std::iter::once(key.root.clone()).chain(segments).collect();
            Some(all.join("|"))
        };
        assert_eq!(parts("a").as_deref(), Some("a"));
        assert_eq!(parts("a.b.0").as_deref(), Some("a|b|0"));
        assert_eq!(parts("a. 'b.c' .d").as_deref(), Some("a|b.c|d"));
        assert_eq!(parts("\"a.b\"").as_deref(), Some("a.b"));
        for wrong in ["a.", ".a", "a..b", "a'b'", "'a", "''"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}
