//! Sources as they would be if one stretch of them said something else.

use hence_model::source::{Sources, Span};

/// A stretch of a file, and what stands there instead.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replacement {
    /// The stretch, where the sources have it.
    pub span: Span,
    /// What stands there instead; nothing, if it is removed.
    pub text: String,
}

impl Replacement {
    /// The name of the file, and all of its text with the replacement made.
    pub fn made(&self, sources: &Sources) -> (String, String) {
        let file = sources.file_at(self.span.start);
        let whole = sources.span(file);
        let before = sources.slice(Span::new(whole.start, self.span.start));
        let behind = sources.slice(Span::new(self.span.end, whole.end));
        let text = [before, &self.text, behind].concat();
        (sources.name(file).to_owned(), text)
    }

    /// Where the new text stands in sources that were read with it; none if they do not have the file.
    pub fn span_in(&self, old: &Sources, new: &Sources) -> Option<Span> {
        let file = old.file_at(self.span.start);
        let at = self.span.start - old.span(file).start;
        let start = new.span(new.named(old.name(file))?).start + at;
        Some(Span::new(start, start + self.text.len() as u32))
    }

    /// How many bytes differ: those behind a common beginning and before a common end.
    pub fn size(&self, sources: &Sources) -> usize {
        let (old, new) = (sources.slice(self.span).as_bytes(), self.text.as_bytes());
        let common = old.iter().zip(new).take_while(|(old, new)| old == new);
        let start = common.count();
        let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
        let end = ends.take_while(|(old, new)| old == new).count();
        old.len().max(new.len()) - start - end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_file_stays() {
        let mut sources = Sources::default();
        sources.add("a", "other").unwrap();
        let file = sources.add("b", "port 8080;\n").unwrap();
        let start = sources.span(file).start + 5;
        let replacement = Replacement {
            span: Span::new(start, start + 4),
            text: "80".into(),
        };
        let (name, text) = replacement.made(&sources);
        assert_eq!((name.as_str(), text.as_str()), ("b", "port 80;\n"));
        assert_eq!(replacement.size(&sources), 2);

        let mut edited = Sources::default();
        edited.add("b", &text).unwrap();
        let span = replacement.span_in(&sources, &edited).unwrap();
        assert_eq!(edited.slice(span), "80");
    }
}
