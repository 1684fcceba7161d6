//! HTML that text gets into only as text.
//!
//! Markup is what stands in this program's own source; everything else is escaped on its way in, and what a reader could
//! not see (control characters, changes of direction) is shown by its number.

use std::fmt::Write as _;

use ecow::EcoString;

/// A piece of HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Html(String);

/// What can be put into HTML.
pub(crate) trait Piece {
    /// Adds itself, escaped.
    fn add_to(&self, html: &mut Html);
}

/// A template of our own with pieces in the place of each `{}`.
pub(crate) fn html(template: &'static str, pieces: &[&dyn Piece]) -> Html {
    let mut html = Html::default();
    html.add(template, pieces);
    html
}

impl Html {
    /// Adds a template with pieces in the place of each `{}`.
    pub fn add(&mut self, template: &'static str, pieces: &[&dyn Piece]) {
        let mut pieces = pieces.iter();
        for (number, markup) in template.split("{}").enumerate() {
            if number > 0 {
                let piece = pieces.next();
                piece.expect("each place has its piece").add_to(self);
            }
            self.0.push_str(markup);
        }
        assert!(pieces.next().is_none(), "each piece has its place");
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of a document.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Piece for Html {
    fn add_to(&self, html: &mut Html) {
        html.0.push_str(&self.0);
    }
}

impl Piece for &str {
    fn add_to(&self, html: &mut Html) {
        for letter in self.chars() {
            match letter {
                '&' => html.0.push_str("&amp;"),
                '<' => html.0.push_str("&lt;"),
                '>' => html.0.push_str("&gt;"),
                '"' => html.0.push_str("&quot;"),
                '\'' => html.0.push_str("&#39;"),
                '\n' | '\t' => html.0.push(letter),
                _ if is_unseen(letter) => {
                    let _ = write!(html.0, "⟨U+{:04X}⟩", u32::from(letter));
                }
                _ => html.0.push(letter),
            }
        }
    }
}

impl Piece for String {
    fn add_to(&self, html: &mut Html) {
        self.as_str().add_to(html);
    }
}

impl Piece for EcoString {
    fn add_to(&self, html: &mut Html) {
        self.as_str().add_to(html);
    }
}

impl Piece for u64 {
    fn add_to(&self, html: &mut Html) {
        let _ = write!(html.0, "{self}");
    }
}

impl Piece for usize {
    fn add_to(&self, html: &mut Html) {
        (*self as u64).add_to(html);
    }
}

impl Piece for i32 {
    fn add_to(&self, html: &mut Html) {
        let _ = write!(html.0, "{self}");
    }
}

impl<P: Piece> Piece for Option<P> {
    fn add_to(&self, html: &mut Html) {
        if let Some(piece) = self {
            piece.add_to(html);
        }
    }
}

impl<P: Piece> Piece for Vec<P> {
    fn add_to(&self, html: &mut Html) {
        for piece in self {
            piece.add_to(html);
        }
    }
}

/// Whether a character is a control character, changes the direction of writing, or takes no room.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The address of something of ours, whatever stands in its names.
pub(crate) fn address(names: &[&str]) -> String {
    let mut address = String::new();
    for name in names {
        address.push('/');
        address.push_str(&encoded(name));
    }
    address
}

/// A text as it can stand in an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) {
            true => encoded.push(char::from(byte)),
            // A dot is among these, as a name of dots only would lead elsewhere.
            false => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// A link.
pub(crate) fn link(to: &str, words: &dyn Piece) -> Html {
    html("<a href=\"{}\">{}</a>", &[&to, words])
}

/// A name that breaks behind what joins its parts, where there is no room for all of it.
pub(crate) fn breaking(name: &str) -> Html {
    let mut breaking = Html::default();
    for part in name.split_inclusive(['/', '_', '.']) {
        if !breaking.is_empty() {
            breaking.add("<wbr>", &[]);
        }
        part.add_to(&mut breaking);
    }
    breaking
}

/// So many letters of a name stay together.
const WHOLE: usize = 30;

/// A name that stays whole if it is short, even at its hyphens, and breaks where its parts meet if it is long.
pub(crate) fn spelled(name: &str) -> Html {
    match name.chars().count() <= WHOLE {
        true if name.contains('-') => html("<span class=\"whole\">{}</span>", &[&name]),
        true => html("{}", &[&name]),
        false => html("<span class=\"long\">{}</span>", &[&breaking(name)]),
    }
}

/// Words in which what stands between backticks is code.
pub(crate) fn coded(words: &str) -> Html {
    let mut coded = Html::default();
    for (at, piece) in words.split('`').enumerate() {
        match at % 2 {
            0 => piece.add_to(&mut coded),
            _ => coded.add("<code>{}</code>", &[&piece]),
        }
    }
    coded
}

/// So many, in words: `1 node`, `3 nodes`.
pub(crate) fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", grouped(number)),
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The beginning of a text, if all of it is too much.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.chars().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
            short.push('…');
            short
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        let hostile = "<script>'\"&\u{202e}\0";
        let seen = html("<p title=\"{}\">{}</p>", &[&hostile, &hostile]).into_string();
        let escaped = "&lt;script&gt;&#39;&quot;&amp;⟨U+202E⟩⟨U+0000⟩";
        assert_eq!(seen, format!("<p title=\"{escaped}\">{escaped}</p>"));
    }

    #[test]
    fn what_looks_like_a_place_in_a_text_is_none() {
        assert_eq!(html("<b>{}</b>", &[&"{}"]).into_string(), "<b>{}</b>");
    }

    #[test]
    fn code_is_told_from_words() {
        let seen = coded("no `<b>` here").into_string();
        assert_eq!(seen, "no <code>&lt;b&gt;</code> here");
    }

    #[test]
    fn names_break_where_their_parts_meet() {
        let seen = breaking("group/web_1/<b>").into_string();
        assert_eq!(seen, "group/<wbr>web_<wbr>1/<wbr>&lt;b&gt;");
        assert_eq!(breaking("web1").into_string(), "web1");
        let seen = |name| spelled(name).into_string();
        assert_eq!(seen("web_1"), "web_1");
        assert_eq!(seen("web-1"), "<span class=\"whole\">web-1</span>");
        assert!(seen("A_NAME_THAT_IS_MUCH_LONGER_THAN_OTHERS").contains("_<wbr>LONGER"));
    }

    #[test]
    fn names_stay_names_in_addresses() {
        assert_eq!(
            address(&["nodes", "a/b?c#d é.."]),
            "/nodes/a%2Fb%3Fc%23d%20%C3%A9%2E%2E"
        );
    }

    #[test]
    fn large_numbers_can_be_read() {
        assert_eq!(count(1, "node"), "1 node");
        assert_eq!(count(1_234_567, "node"), "1,234,567 nodes");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
