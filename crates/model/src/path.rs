//! Paths to values: `s2:web:running`, `s2.web.running`, `v[0]`.

use std::fmt;

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
    /// in brackets, is an index.
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
        for part in text.split(separators) {
            let (name, indexes) = match part.find('[') {
                Some(at) if part.ends_with(']') => part.split_at(at),
                _ => (part, ""),
            };
            if !name.is_empty() || indexes.is_empty() {
                segments.push(Segment::Key(name.to_owned()));
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

    /// The path as a language writes it that joins names by `separator`.
    pub fn joined(&self, separator: char) -> String {
        let mut text = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Key(key) => {
                    if !text.is_empty() {
                        text.push(separator);
                    }
                    text.push_str(key);
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

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined(':'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
