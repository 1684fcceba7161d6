//! Numbers and texts as `%d`, `%x`, `%e`, `%s` and their like put them.

use ecow::EcoString;

/// What stands between `%` and its letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// `-`: what is too short goes to the left.
    pub left: bool,
    /// `+`: a sign is always there.
    pub plus: bool,
    /// A space where a sign could be.
    pub space: bool,
    /// `0`: zeros fill, instead of spaces.
    pub zero: bool,
    /// `#`: the other way to put it.
    pub alternative: bool,
    /// How long it is at least.
    pub width: Option<usize>,
    /// How many digits there are at least, or characters at most.
    pub precision: Option<usize>,
}

impl Layout {
    /// A text: as much of it as asked for.
    pub fn text(&self, text: &str) -> String {
        let taken: String = match self.precision {
            Some(precision) => text.chars().take(precision).collect(),
            None => text.to_owned(),
        };
        self.filled(&taken)
    }

    fn filled(&self, text: &str) -> String {
        let missing = self.width.unwrap_or(0).saturating_sub(text.chars().count());
        let spaces = " ".repeat(missing);
        match self.left {
            true => format!("{text}{spaces}"),
            false => format!("{spaces}{text}"),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// A whole number; the letter is one of `d`, `x`, `X`, `o`, `b` and `B`.
    pub fn integer(&self, number: impl Into<i128>, letter: char) -> String {
        let number = number.into();
        let (radix, mut prefix, top) = match letter {
            'x' => (16, "0x", 'f'),
            'X' => (16, "0X", 'F'),
            'o' => (8, "0", '7'),
            'b' => (2, "0b", '1'),
            'B' => (2, "0B", '1'),
            _ => (10, "", '9'),
        };
        // Without a sign, a negative number is one with no end to the left.
        let endless = number < 0 && radix != 10 && !self.plus && !self.space;
        if !self.alternative || number == 0 || endless && letter == 'o' {
            prefix = "";
        }
        let mut digits = match endless {
            true => complement(number, radix),
            false => in_radix(number.unsigned_abs(), radix),
        };
        if letter == 'X' {
            digits = digits.to_uppercase();
        }
        if self.precision == Some(0) && number == 0 && !(self.alternative && letter == 'o') {
            digits.clear();
        }
        let (sign, filler) = match endless {
            true => ("..", top),
            false => (self.sign(number < 0), '0'),
        };
        let fill = |digits: String, length: usize| {
            let missing = length.saturating_sub(digits.len());
            format!("{}{digits}", filler.to_string().repeat(missing))
        };
        let taken = sign.len() + prefix.len();
        let digits = match (self.precision, self.width) {
            // Those two dots count as digits.
            (Some(precision), _) if endless => fill(digits, precision.saturating_sub(2)),
            (Some(precision), _) if letter == 'o' => {
                fill(digits, precision.saturating_sub(prefix.len()))
            }
            (Some(precision), _) => fill(digits, precision),
            (None, Some(width)) if self.zero && !self.left => {
                fill(digits, width.saturating_sub(taken))
            }
            _ => digits,
        };
        match endless {
            true => self.filled(&format!("{prefix}{sign}{digits}")),
            false => self.filled(&format!("{sign}{prefix}{digits}")),
        }
    }

    /// Any other number; the letter is one of `e`, `f`, `g`, `a` and their capitals.
    pub fn float(&self, number: f64, letter: char) -> String {
        let sign = self.sign(number.is_sign_negative() && !number.is_nan());
        if !number.is_finite() {
            let word = if number.is_nan() { "NaN" } else { "Inf" };
            return self.filled(&format!("{sign}{word}"));
        }
        let magnitude = number.abs();
        let (prefix, mut digits) = match letter.to_ascii_lowercase() {
            'e' => ("", self.exponential(magnitude, self.precision.unwrap_or(6))),
            'g' => ("", self.general(magnitude)),
            'a' => ("0x", self.hexadecimal(magnitude)),
            _ => {
                let precision = self.precision.unwrap_or(6);
                let point = if precision == 0 && self.alternative {
                    "."
                } else {
                    ""
                };
                ("", format!("{magnitude:.precision$}{point}"))
            }
        };
        let mut prefix = prefix.to_owned();
        if letter.is_ascii_uppercase() {
            digits = digits.to_uppercase();
            prefix = prefix.to_uppercase();
        }
        if self.zero && !self.left {
            let taken = sign.len() + prefix.len() + digits.len();
            let zeros = "0".repeat(self.width.unwrap_or(0).saturating_sub(taken));
            return format!("{sign}{prefix}{zeros}{digits}");
        }
        self.filled(&format!("{sign}{prefix}{digits}"))
    }

    fn exponential(&self, number: f64, precision: usize) -> String {
        let text = format!("{number:.precision$e}");
        let (digits, exponent) = text.split_once('e').expect("there is an exponent");
        let point = if precision == 0 && self.alternative {
            "."
        } else {
            ""
        };
        format!("{digits}{point}{}", exponent_text(exponent))
    }

    fn general(&self, number: f64) -> String {
        let precision = self.precision.unwrap_or(6).max(1);
        let digits = precision - 1;
        let rounded = format!("{number:.digits$e}");
        let (_, exponent) = rounded.split_once('e').expect("there is an exponent");
        let exponent: i64 = exponent.parse().expect("the exponent is a number");
        let precision = i64::try_from(precision).unwrap_or(i64::MAX);
        let (mut text, tail) = if exponent < -4 || exponent >= precision {
            let text = self.exponential(number, digits);
            let at = text.find('e').expect("there is an exponent");
            (text[..at].to_owned(), text[at..].to_owned())
        } else {
            let fraction = usize::try_from(precision - 1 - exponent).unwrap_or(0);
            let mut text = format!("{number:.fraction$}");
            if self.alternative && !text.contains('.') {
                text.push('.');
            }
            (text, String::new())
        };
        if !self.alternative && text.contains('.') {
            text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        }
        text + &tail
    }

    fn hexadecimal(&self, number: f64) -> String {
        let bits = number.to_bits();
        let (mut exponent, mut mantissa) = ((bits >> 52 & 0x7ff) as i64 - 1023, bits << 12 >> 12);
        if number == 0.0 {
            exponent = 0;
        } else if exponent == -1023 {
            // Numbers this small have no hidden 1; they are put as if they had.
            let shift = mantissa.leading_zeros() - 11;
            mantissa = mantissa << shift & ((1 << 52) - 1);
            exponent = -1022 - i64::from(shift);
        }
        let mut whole = u64::from(number != 0.0);
        let mut digits = format!("{mantissa:013x}");
        match self.precision {
            Some(precision) if precision < 13 => {
                let shift = 52 - 4 * precision as u32;
                let kept = (whole << 52 | mantissa) >> shift;
                let beyond = mantissa & ((1u64 << shift) - 1);
                let half = 1u64 << (shift - 1);
                let up = beyond > half || beyond == half && kept & 1 == 1;
                let kept = kept + u64::from(up);
                whole = kept >> (4 * precision);
                if whole == 2 {
                    whole = 1;
                    exponent += 1;
                }
                let fraction = kept & ((1u64 << (4 * precision)) - 1);
                digits = match precision {
                    0 => String::new(),
                    _ => format!("{fraction:0precision$x}"),
                };
            }
            Some(precision) => digits.push_str(&"0".repeat(precision - 13)),
            None => digits.truncate(digits.trim_end_matches('0').len()),
        }
        let point = if digits.is_empty() && !self.alternative {
            ""
        } else {
            "."
        };
        format!("{whole}{point}{digits}p{exponent:+}")
    }
}

/// An exponent with its sign and two digits at least.
fn exponent_text(exponent: &str) -> EcoString {
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    ecow::eco_format!("e{sign}{digits:0>2}")
}

fn in_radix(mut number: u128, radix: u128) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(number % radix).expect("a digit is small");
        digits.push(char::from_digit(digit, 16).expect("the radix is at most 16"));
        number /= radix;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The digits of a negative number that has no end to the left, from the first that differs from all before it,
/// with one of those.
fn complement(mut number: i128, radix: u128) -> String {
    let top = radix - 1;
    let radix = i128::try_from(radix).expect("the radix is at most 16");
    let mut digits = Vec::new();
    while number != -1 {
        let digit = u32::try_from(number.rem_euclid(radix)).expect("a digit is small");
        digits.push(char::from_digit(digit, 16).expect("the radix is at most 16"));
        number = number.div_euclid(radix);
    }
    let top = char::from_digit(u32::try_from(top).expect("a digit is small"), 16)
        .expect("the radix is at most 16");
    while digits.last() == Some(&top) {
        digits.pop();
    }
    digits.push(top);
    digits.iter().rev().collect()
}

/// A text as Ruby would write it: in double quotes.
pub(super) fn inspected(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\x1b' => quoted.push_str("\\e"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0b' => quoted.push_str("\\v"),
            '\x0c' => quoted.push_str("\\f"),
            '#' if matches!(chars.peek(), Some('{' | '$' | '@')) => quoted.push_str("\\#"),
            char if char.is_control() => {
                quoted.push_str(&format!("\\x{:02X}", u32::from(char)));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
