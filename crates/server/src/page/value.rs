//! Values as people read them: short content as its text, other content by the beginning of its name, and what is long
//! behind its beginning.

use hence_service::Service;

use super::html::{Html, Piece, html, shortened};

/// So much of a value is seen at once.
const BRIEF: usize = 200;
/// What names content, and how many digits of its hash are told.
const CONTENT: [&str; 2] = ["blob:", "tree:"];
const DIGITS: usize = 8;
/// So many digits of a hash find it.
const SOUGHT: usize = 6;
/// So many digits a whole hash has.
const HASH: usize = 64;

/// Words with short content as its text, and other content by the beginning of its hash.
pub(super) fn legible(service: &Service, words: &str) -> String {
    abbreviated(&service.legible(words))
}

/// A text in which content is named by the beginnings of its hashes.
pub(super) fn abbreviated(text: &str) -> String {
    let (hashes, rest) = taken_apart(text);
    let mut short = String::new();
    for (before, hash) in hashes {
        short.push_str(before);
        short.push_str(&hash[..DIGITS]);
        short.push('…');
    }
    short.push_str(rest);
    short
}

/// Whether something is in a folded value. Of a hash only its beginning counts: any few digits are somewhere in it.
pub(super) fn has(value: &str, wanted: &str) -> bool {
    let digits = CONTENT.iter().find_map(|name| wanted.strip_prefix(name));
    let digits = digits.unwrap_or(wanted);
    let is_beginning =
        digits.len() >= SOUGHT && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (hashes, rest) = taken_apart(value);
    let mut hashes = hashes.into_iter();
    rest.contains(wanted)
        || hashes.any(|(before, hash)| {
            before.contains(wanted) || is_beginning && hash.starts_with(digits)
        })
}

/// Each hash of content in a text behind what is before it, and what is behind the last.
fn taken_apart(text: &str) -> (Vec<(&str, &str)>, &str) {
    let (mut hashes, mut rest, mut from) = (Vec::new(), text, 0);
    loop {
        let next = CONTENT.iter().filter_map(|name| {
            let at = rest[from..].find(name)?;
            Some(from + at + name.len())
        });
        let Some(start) = next.min() else {
            return (hashes, rest);
        };
        let digits = rest[start..].bytes().take_while(u8::is_ascii_hexdigit);
        let end = start + digits.count();
        if end - start < HASH {
            from = start;
            continue;
        }
        hashes.push((&rest[..start], &rest[start..end]));
        (rest, from) = (&rest[end..], 0);
    }
}

/// Whether a value names content.
pub(super) fn names_content(value: &str) -> bool {
    CONTENT.iter().any(|name| value.starts_with(name))
}

/// A value in words, with all of it for who asks.
pub(super) fn shown(service: &Service, value: &str, most: usize) -> Html {
    let words = legible(service, value);
    match words == value {
        true => html("{}", &[&shortened(value, most)]),
        false => html(
            "<span title=\"{}\">{}</span>",
            &[&shortened(value, most), &shortened(&words, most)],
        ),
    }
}

/// A mark around words.
pub(super) type Mark = fn(&dyn Piece) -> Html;

/// Words under a mark: all of them, or their beginning and the rest for who wants it.
pub(super) fn marked(words: &str, most: usize, mark: Mark) -> Html {
    if words.chars().count() <= BRIEF {
        return html("<code>{}</code>", &[&mark(&words)]);
    }
    html(
        "<details><summary><code>{}</code></summary><code>{}</code></details>",
        &[
            &mark(&shortened(words, BRIEF)),
            &mark(&shortened(words, most)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_told_by_its_beginning() {
        let hash = "69b769ef".repeat(8);
        let text = format!("blob:{hash} text/plain, tree:{hash}, blob:1");
        assert_eq!(
            abbreviated(&text),
            "blob:69b769ef… text/plain, tree:69b769ef…, blob:1"
        );
        assert_eq!(abbreviated("blob:é"), "blob:é");
    }

    #[test]
    fn a_hash_is_found_by_its_beginning_only() {
        let value = format!("blob:{} text/plain", "69b769ef".repeat(8));
        for (wanted, found) in [
            ("69b769", true),
            ("blob:69b769e", true),
            ("69b7", false),
            ("b769ef", false),
            ("plain", true),
            ("69", false),
        ] {
            assert_eq!(has(&value, wanted), found, "{wanted}");
        }
        assert!(has("port 12", "12"));
    }

    #[test]
    fn what_is_long_is_opened() {
        let mark: Mark = |words| html("<ins>{}</ins>", &[words]);
        let short = marked("80", 1000, mark).into_string();
        assert_eq!(short, "<code><ins>80</ins></code>");
        let long = marked(&"<".repeat(300), 1000, mark).into_string();
        assert!(
            long.starts_with("<details><summary><code><ins>&lt;"),
            "{long}"
        );
        assert_eq!(long.matches("&lt;").count(), 199 + 300);
    }
}
