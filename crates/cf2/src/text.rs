//! What is between the quotes, and the digits of numbers.

use hence_model::cell::{Cell, Literals};

/// The characters that the text between two quotes stands for. A backslash before a character that needs
/// none stands for that character, and before the end of a line for a newline (§3.1).
pub fn unescape(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            character => text.push(character),
        }
    }
    text
}

/// A number as it is written, `12` or `4.50`; none if it cannot be kept.
pub fn number(text: &str, literals: &mut Literals) -> Option<Cell> {
    match text.contains('.') {
        false => text.parse().ok().map(|integer| literals.integer(integer)),
        true => decimal(text.parse().ok()?, literals),
    }
}

/// A number that was computed or written with a point: to 15 significant digits, as Perl has it, so that
/// 0.1 + 0.2 is 0.3; a whole number if it is one. None if it is out of range.
pub fn decimal(float: f64, literals: &mut Literals) -> Option<Cell> {
    if !float.is_finite() {
        return None;
    }
    let digits = format!("{float:.14e}");
    let rounded: f64 = digits.parse().expect("digits are a number");
    // A whole number is one, however it was computed, as far as 64 bits hold it.
    if rounded.fract() == 0.0 && rounded.abs() < 2f64.powi(63) {
        return Some(literals.integer(whole(&digits).unwrap_or(rounded as i64)));
    }
    Some(literals.float(rounded))
}

/// A whole number of more than 15 digits, such as `4.61168601842739e18`. The floating point number next to it would
/// have other digits behind those.
fn whole(digits: &str) -> Option<i64> {
    let (digits, exponent) = digits.split_once('e')?;
    let zeros = exponent.parse::<u32>().ok()?.checked_sub(14)?;
    let digits: i64 = digits.replace('.', "").parse().ok()?;
    digits.checked_mul(10i64.checked_pow(zeros)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hence_model::cell::Content;

    #[test]
    fn decimals_have_fifteen_digits() {
        let mut literals = Literals::default();
        let mut content = |float| {
            let cell = decimal(float, &mut literals).unwrap();
            cell.content(&literals)
        };
        assert_eq!(content(0.1 + 0.2), Content::Float(0.3));
        assert_eq!(content(2.0), Content::Integer(2));
        assert_eq!(content(-0.0), Content::Integer(0));
        assert_eq!(content(1.0 / 3.0), Content::Float(0.333333333333333));
        assert_eq!(content(1e18), Content::Integer(1_000_000_000_000_000_000));
        assert_eq!(content(1e20), Content::Float(1e20));
        let half = i64::MAX as f64 / 2.0;
        assert_eq!(content(half), Content::Integer(4_611_686_018_427_390_000));
        assert_eq!(content(-half), Content::Integer(-4_611_686_018_427_390_000));
        assert_eq!(decimal(f64::INFINITY, &mut literals), None);
    }

    #[test]
    fn a_backslash_quotes_what_follows() {
        assert_eq!(unescape(r"a\'b\\c\nd\te\q"), "a'b\\c\nd\teq");
        assert_eq!(unescape("a\\\nb"), "a\nb");
    }
}
