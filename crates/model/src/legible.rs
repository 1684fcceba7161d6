//! Texts of others, as people can read and use them: a terminal obeys some characters, and a shell takes some apart.

use std::borrow::Cow;
use std::fmt::Write;

/// A text as one line of a terminal: what would steer the terminal, or turn letters around, is shown by its number.
pub fn line(text: &str) -> Cow<'_, str> {
    fit(text, is_steering)
}

/// The same for a text of several lines.
pub fn lines(text: &str) -> Cow<'_, str> {
    fit(text, |letter| letter != '\n' && is_steering(letter))
}

/// A text as one word of a shell.
pub fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@+,=%".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}

fn fit(text: &str, is_shown_by_number: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_shown_by_number) {
        return Cow::Borrowed(text);
    }
    let mut fitting = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_shown_by_number(letter) {
            true => write!(fitting, "⟨U+{:04X}⟩", u32::from(letter))
                .expect("a string can be written to"),
            false => fitting.push(letter),
        }
    }
    Cow::Owned(fitting)
}

fn is_steering(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{061c}'
        )
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_by_its_number() {
        assert_eq!(
            line("a\u{1b}[2Jb\nc\u{202e}"),
            "a⟨U+001B⟩[2Jb⟨U+000A⟩c⟨U+202E⟩"
        );
        assert_eq!(lines("a\nb\r"), "a\nb⟨U+000D⟩");
        assert_eq!(line("Grüße 👋"), "Grüße 👋");
    }

    #[test]
    fn a_word_is_one_to_a_shell() {
        assert_eq!(word("web-1.example"), "web-1.example");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }
}
