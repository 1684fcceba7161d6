//! What stands in the sources and is not shown: what a secret is made of.

use hence_model::explanation::{Explanation, Role, Shown};
use hence_model::source::{Sources, Span};

use crate::configuration::Configuration;

/// The literals that are not shown. Only in Puppet are secrets written in sources as they are; the databases of CF2
/// are shown by the names in them alone.
pub fn written(compiled: &Configuration<'_>, explanation: &Explanation) -> Vec<Span> {
    let mut secrets = marked(compiled);
    if matches!(compiled, Configuration::Puppet(_)) {
        secrets.extend(made_of(explanation));
    }
    secrets
}

/// The literals that are marked as secret, wherever they go.
pub fn marked(compiled: &Configuration<'_>) -> Vec<Span> {
    match compiled {
        Configuration::Puppet(_) => sensitive(&compiled.unit().sources),
        _ => Vec::new(),
    }
}

/// The literals that a value is made of, if it is secret.
pub fn made_of(explanation: &Explanation) -> Vec<Span> {
    if explanation.value != Shown::Secret {
        return Vec::new();
    }
    let depends = explanation.depends.iter();
    let mut spans: Vec<Span> = depends
        .filter(|dependence| matches!(dependence.role, Role::Value | Role::Operand))
        .map(|dependence| dependence.span)
        .collect();
    // What is around another is the call or the list that the literal stands in.
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let inner = spans.iter().enumerate().filter(|(at, span)| {
        let next = spans.get(at + 1);
        next.is_none_or(|next| next == *span || next.start >= span.end)
    });
    inner.map(|(_, span)| *span).collect()
}

/// So far a parenthesis is looked for that closes.
const FARTHEST: usize = 1 << 16;

/// The texts and numbers in `Sensitive(…)`, wherever it is written.
fn sensitive(sources: &Sources) -> Vec<Span> {
    const MARK: &str = "Sensitive";
    let text = sources.text();
    let mut spans = Vec::new();
    for (at, _) in text.match_indices(MARK) {
        let rest = &text[at + MARK.len()..];
        let rest = rest.strip_prefix(".new").unwrap_or(rest);
        if let Some(arguments) = rest.strip_prefix('(') {
            let start = text.len() - arguments.len();
            let end = arguments.floor_char_boundary(FARTHEST);
            literals(&arguments[..end], start, &mut spans);
        }
    }
    spans
}

/// The literals up to the parenthesis that closes.
fn literals(arguments: &str, start: usize, spans: &mut Vec<Span>) {
    let bytes = arguments.as_bytes();
    let span = |from: usize, to: usize| Span::new((start + from) as u32, (start + to) as u32);
    let mut open = 1;
    let mut at = 0;
    while at < bytes.len() && open > 0 {
        let from = at;
        at += 1;
        match bytes[from] {
            b'(' => open += 1,
            b')' => open -= 1,
            quote @ (b'\'' | b'"') => {
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = arguments.ceil_char_boundary((at + 1).min(bytes.len()));
                spans.push(span(from, at));
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'_') => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                at += bytes[at..].iter().take_while(|byte| is_word(byte)).count();
                if byte.is_ascii_digit() {
                    spans.push(span(from, at));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_as_sensitive_is_found_in_the_text() {
        let mut sources = Sources::default();
        let text =
            "a(1, Sensitive('it\\'s', 42, $b2), 'c') Sensitive.new(\"x${d['e']}\") Sensitive";
        sources.add("a.pp", text).unwrap();
        let found = sensitive(&sources);
        let found: Vec<&str> = found.iter().map(|&span| sources.slice(span)).collect();
        assert_eq!(found, ["'it\\'s'", "42", "\"x${d['e']}\""]);
    }
}
