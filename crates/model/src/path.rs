//! Paths to values: `s2:web:running`, `s2.web.running`, `v[0]`.

use std::borrow::Cow;
use std::fmt;

use crate::facts::unescape;
use crate::print::Output;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// Into a map.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

/// The way from the top of a configuration to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(pub Vec<Segment>);

impl Path {
    /// What a written path may mean, likeliest first. Parts are joined by `:` or by `.`; as names may
    /// hold dots too, a path with both is first read with `:` alone. A part that is a number, or stands
    /// in brackets, is an index; one that begins with `"` is a name as in JSON.
    pub fn readings(text: &str) -> Vec<Path> {
        let dotted = |text: &str| Path::split(text, &[':', '.']);
        if text.is_empty() {
            return vec![Path::default()];
        }
        if !text.contains('.') {
            return vec![dotted(text)];
        }
        let whole = Path::split(text, &[':']);
        if text.contains(':') {
            vec![whole, dotted(text)]
        } else {
            vec![dotted(text), whole]
        }
    }

    fn split(text: &str, separators: &[char]) -> Path {
        let mut segments = Vec::new();
        let mut rest = Some(text);
        while let Some(text) = rest {
            let (quoted, behind) = match quoted(text) {
                Some((name, behind)) => (Some(name), behind),
                None => (None, text),
            };
            let end = behind.find(separators);
            let part = &behind[..end.unwrap_or(behind.len())];
            rest = end.map(|end| &behind[end + 1..]);
            let (name, indexes) = match part.find('[') {
                Some(at) if part.ends_with(']') => part.split_at(at),
                _ => (part, ""),
            };
            match quoted {
                Some(name) => segments.push(Segment::Key(name)),
                None if name.is_empty() && !indexes.is_empty() => {}
                None => segments.push(Segment::Key(name.to_owned())),
            }
            let inner = indexes.trim_start_matches('[').trim_end_matches(']');
            for index in inner.split("][").filter(|index| !index.is_empty()) {
                segments.push(match index.parse() {
                    Ok(index) => Segment::Index(index),
                    Err(_) => Segment::Key(index.to_owned()),
                });
            }
        }
        Path(segments)
    }

    /// The path as a language writes it that joins names by `separator`. With `:`, which is SmartFrog's, any name can be
    /// read back.
    pub fn joined(&self, separator: char) -> String {
        let mut text = String::new();
        for (number, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) => {
                    if number > 0 {
                        text.push(separator);
                    }
                    match separator {
                        ':' => text.push_str(&name(key)),
                        _ => text.push_str(key),
                    }
                }
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    /// The path one step further down.
    pub fn child(&self, segment: Segment) -> Path {
        let mut segments = self.0.clone();
        segments.push(segment);
        Path(segments)
    }
}

/// A name as it stands in a path of SmartFrog: in quotes if it would be read as something else without.
pub fn name(name: &str) -> Cow<'_, str> {
    let is_read_otherwise = |c: char| c.is_control() || matches!(c, ':' | '"' | '[' | ']');
    if !name.is_empty() && !name.contains(is_read_otherwise) {
        return name.into();
    }
    let mut out = Output::new(Vec::new());
    out.quoted(name);
    let bytes = out.finish().expect("a vector takes everything");
    String::from_utf8(bytes)
        .expect("only text was written")
        .into()
}

/// The name in quotes that a text begins with, up to the end of a part, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inner.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    let behind = &inner[end + 1..];
    let is_whole = behind.is_empty() || behind.starts_with([':', '.', '[']);
    let name = unescape(&inner[..end]).filter(|_| is_whole)?;
    Some((name, behind))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined(':'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_read_back() {
        let names = [
            "b c", "e:f", "1", "x\"y", "", "g.h", "a\\", "a\nb", "[0]", "l[1]", " ", "\"q\"",
            "\u{1}", "ü:", ".",
        ];
        for one in names {
            for other in names {
                let path = Path(vec![
                    Segment::Key(one.into()),
                    Segment::Key(other.into()),
                    Segment::Index(3),
                    Segment::Key(one.into()),
                ]);
                assert_eq!(Path::readings(&path.to_string())[0], path);
            }
            let alone = Path(vec![Segment::Key(one.into())]);
            assert!(Path::readings(&alone.to_string()).contains(&alone), "{one}");
        }
    }

    #[test]
    fn a_path_is_read_in_either_writing() {
        let expected = Path(vec![
            Segment::Key("s2".into()),
            Segment::Key("ports".into()),
            Segment::Index(0),
        ]);
        assert_eq!(Path::readings("s2:ports[0]"), vec![expected.clone()]);
        assert_eq!(Path::readings("s2.ports[0]")[0], expected);
        assert_eq!(expected.to_string(), "s2:ports[0]");
        assert_eq!(expected.joined('.'), "s2.ports[0]");
        let dotted = Path(vec![Segment::Key("a.b".into()), Segment::Key("c".into())]);
        assert_eq!(Path::readings("a.b:c")[0], dotted);
    }
}
