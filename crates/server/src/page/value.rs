//! Values as people read them: short content as its text, other content by the beginning of its name, and what is long
//! behind its beginning.

use std::ops::Range;

use hence_service::Service;

use super::html::{Html, Piece, html, shortened};

/// So much of a value is seen at once.
const BRIEF: usize = 200;
/// So many letters of a word that differs are marked along with the letter that does.
const WORD: usize = 20;
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

/// Two values with what differs marked; of long ones the text around it, and the rest for who wants it.
pub(super) fn compared(before: &str, after: &str, most: usize, marks: [Mark; 2]) -> [Html; 2] {
    let [old, new] = [before, after].map(|text| text.chars().collect::<Vec<char>>());
    let [deleted, inserted] = marks;
    if old.len().max(new.len()) <= BRIEF {
        return [marked(before, most, deleted), marked(after, most, inserted)];
    }
    let shorter = old.len().min(new.len());
    let alike = old.iter().zip(&new);
    let alike = alike.take_while(|(one, other)| one == other).count();
    let begins_in_a_word = [&old, &new].map(|text| text.get(alike).is_some_and(is_of_a_word));
    let start = match begins_in_a_word {
        [false, false] => alike,
        _ => alike - part_of_a_word(old[..alike].iter().rev()),
    };
    let alike = old.iter().rev().zip(new.iter().rev());
    let alike = alike.take(shorter - start);
    let alike = alike.take_while(|(one, other)| one == other).count();
    let ends_in_a_word = [&old, &new].map(|text| {
        let last = text[start..text.len() - alike].last();
        last.is_some_and(is_of_a_word)
    });
    let end = match ends_in_a_word {
        [false, false] => alike,
        _ => alike - part_of_a_word(old[old.len() - alike..].iter()),
    };
    let side = |text: &[char], mark| {
        let differs = start..text.len() - end;
        let brief = around(text, differs.clone(), BRIEF, mark);
        match text.len() <= BRIEF {
            true => html("<code>{}</code>", &[&brief]),
            false => html(
                "<details><summary><code>{}</code></summary><code>{}</code></details>",
                &[&brief, &around(text, differs, most, mark)],
            ),
        }
    };
    [side(&old, deleted), side(&new, inserted)]
}

/// How many letters are still of a word; none if it is too long to be one.
fn part_of_a_word<'a>(letters: impl Iterator<Item = &'a char>) -> usize {
    let letters = letters.take_while(|letter| is_of_a_word(letter));
    match letters.take(WORD + 1).count() {
        count if count > WORD => 0,
        count => count,
    }
}

fn is_of_a_word(letter: &char) -> bool {
    letter.is_alphanumeric()
}

/// What differs in a text under a mark, and what is beside it as far as there is room.
fn around(text: &[char], differs: Range<usize>, most: usize, mark: Mark) -> Html {
    let room = match text.len() <= most {
        true => most,
        false => most.saturating_sub(differs.len()) / 2,
    };
    let first = differs.start.saturating_sub(room);
    let last = text.len().min(differs.end + room);
    let of = |range: Range<usize>| text[range].iter().collect::<String>();
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let marked = match differs.is_empty() {
        true => Html::default(),
        false => mark(&shortened(&of(differs.clone()), most)),
    };
    html(
        "{}{}{}{}{}",
        &[
            &cut(first > 0),
            &of(first..differs.start),
            &marked,
            &of(differs.end..last),
            &cut(last < text.len()),
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
    fn of_what_is_long_the_text_around_the_difference_is_seen() {
        let marks: [Mark; 2] = [
            |words| html("<del>{}</del>", &[words]),
            |words| html("<ins>{}</ins>", &[words]),
        ];
        let seen =
            |before: &str, after: &str| compared(before, after, 5000, marks).map(Html::into_string);
        let long = "word ".repeat(100);
        let [now, then] = seen(
            &format!("{long}port 8080 is open {long}"),
            &format!("{long}port 8090 is open {long}"),
        );
        let brief = |side: &str| side.split("</summary>").next().unwrap().to_owned();
        assert!(brief(&now).contains("<code>…"), "{now}");
        assert!(
            brief(&now).contains(" port <del>8080</del> is open "),
            "{now}"
        );
        assert!(
            brief(&then).contains(" port <ins>8090</ins> is open "),
            "{then}"
        );
        assert!(brief(&then).chars().count() < 300, "{then}");
        let whole = now.split("</summary>").nth(1).unwrap();
        assert_eq!(whole.matches("word ").count(), 200);
        // What only came is marked on one side.
        let [now, then] = seen(&format!("{long}end"), &format!("{long}end, more"));
        assert!(!now.contains("<del>"), "{now}");
        assert!(
            then.contains("end<ins>, more</ins></code></summary>"),
            "{then}"
        );
        // More than all is never shown.
        let (one, other) = ("é".repeat(9000), "ü".repeat(100));
        let [now, then] = seen(&one, &other);
        assert!(now.matches('é').count() < 5300, "{now}");
        assert_eq!(then, format!("<code><ins>{other}</ins></code>"));
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
