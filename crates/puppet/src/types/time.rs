//! Moments and durations, to the nanosecond, read and written in formats.

use std::fmt;

use ecow::EcoString;

use crate::pattern::Pattern;
use crate::value::{Datum, Hash};

const BILLION: i128 = 1_000_000_000;

/// A moment: seconds since 1970 began in Greenwich.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(Nanoseconds);

/// A duration, which may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timespan(Nanoseconds);

/// Whole seconds and what is beyond them, so that it takes two words, aligned to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Nanoseconds {
    seconds: i64,
    beyond: u32,
}

impl Nanoseconds {
    fn new(nanoseconds: i128) -> Option<Self> {
        let seconds = i64::try_from(nanoseconds.div_euclid(BILLION)).ok()?;
        let beyond = u32::try_from(nanoseconds.rem_euclid(BILLION)).ok()?;
        Some(Self { seconds, beyond })
    }

    fn total(self) -> i128 {
        i128::from(self.seconds) * BILLION + i128::from(self.beyond)
    }
}

impl Timestamp {
    /// A moment so many nanoseconds after 1970 began, if it is within reach.
    pub fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        Nanoseconds::new(nanoseconds).map(Self)
    }

    /// How many nanoseconds after 1970 began it is.
    pub fn nanoseconds(self) -> i128 {
        self.0.total()
    }

    /// The seconds, as a whole number.
    pub fn seconds(self) -> i64 {
        self.0.seconds
    }
}

impl Timespan {
    /// A duration of so many nanoseconds, if it is within reach.
    pub fn from_nanoseconds(nanoseconds: i128) -> Option<Self> {
        Nanoseconds::new(nanoseconds).map(Self)
    }

    /// How many nanoseconds it lasts.
    pub fn nanoseconds(self) -> i128 {
        self.0.total()
    }

    /// The seconds, as a whole number.
    pub fn seconds(self) -> i64 {
        self.0.seconds
    }
}

/// Nanoseconds as seconds.
pub fn to_seconds(nanoseconds: i128) -> f64 {
    // Exact where it can be; what is beyond the digits of a float does not show.
    let (whole, beyond) = (nanoseconds / BILLION, nanoseconds % BILLION);
    match beyond {
        0 => whole as f64,
        _ => nanoseconds as f64 / BILLION as f64,
    }
}

/// Year, month and day of a day counted from the first of January 1970.
pub(crate) fn date(day: i64) -> (i64, i64, i64) {
    // Counted in eras of 400 years from the first of March of year 0, so that leap days come last.
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

impl Timestamp {
    /// Writes the moment in a format, in Greenwich.
    pub fn format(self, format: &str) -> String {
        let mut text = String::new();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            text += &rest[..at];
            rest = &rest[at..];
            let (directive, after) = Directive::read(&rest[1..]);
            match directive.and_then(|directive| self.put(&directive)) {
                Some(put) => text += &put,
                // What means nothing stands for itself.
                None => text += &rest[..rest.len() - after.len()],
            }
            rest = after;
        }
        text + rest
    }

    fn put(self, directive: &Directive) -> Option<String> {
        let day = self.0.seconds.div_euclid(86_400);
        let second = self.0.seconds.rem_euclid(86_400);
        let (year, month, of_month) = date(day);
        let of_year = day - day_of(year, 1, 1);
        let weekday = (day + 4).rem_euclid(7);
        let hour = second / 3_600;
        let hour_of_half = (hour + 11) % 12 + 1;
        let (week_year, week) = week_of(year, of_year, (weekday + 6) % 7);
        let named = |names: &[&str], at: i64| {
            let name = names[usize::try_from(at).expect("it is a position")];
            crate::text::capitalised(name).to_string()
        };
        let half = if hour < 12 { "AM" } else { "PM" };
        let again = |format: &str| Some(directive.text(&self.format(format)));
        Some(match directive.letter {
            'Y' if year < 0 => directive.number(year, 5, '0'),
            'Y' => directive.number(year, 4, '0'),
            'G' => directive.number(week_year, 4, '0'),
            'C' => directive.number(year.div_euclid(100), 2, '0'),
            'y' => directive.number(year.rem_euclid(100), 2, '0'),
            'g' => directive.number(week_year.rem_euclid(100), 2, '0'),
            'm' => directive.number(month, 2, '0'),
            'd' => directive.number(of_month, 2, '0'),
            'e' => directive.number(of_month, 2, ' '),
            'j' => directive.number(of_year + 1, 3, '0'),
            'H' => directive.number(hour, 2, '0'),
            'k' => directive.number(hour, 2, ' '),
            'I' => directive.number(hour_of_half, 2, '0'),
            'l' => directive.number(hour_of_half, 2, ' '),
            'M' => directive.number(second / 60 % 60, 2, '0'),
            'S' => directive.number(second % 60, 2, '0'),
            's' => directive.number(self.0.seconds, 1, '0'),
            'u' => directive.number((weekday + 6) % 7 + 1, 1, '0'),
            'w' => directive.number(weekday, 1, '0'),
            'U' => directive.number((of_year + 7 - weekday) / 7, 2, '0'),
            'W' => directive.number((of_year + 7 - (weekday + 6) % 7) / 7, 2, '0'),
            'V' => directive.number(week, 2, '0'),
            'L' | 'N' => {
                let digits = format!("{:09}", self.0.beyond);
                let usual = if directive.letter == 'L' { 3 } else { 9 };
                let wanted = directive.width.unwrap_or(usual);
                digits
                    .chars()
                    .chain(std::iter::repeat('0'))
                    .take(wanted)
                    .collect()
            }
            'a' => directive.text(&named(&DAYS, weekday)[..3]),
            'A' => directive.text(&named(&DAYS, weekday)),
            'b' | 'h' => directive.text(&named(&MONTHS, month - 1)[..3]),
            'B' => directive.text(&named(&MONTHS, month - 1)),
            'p' if directive.swap => directive.text(&half.to_lowercase()),
            'p' => directive.text(half),
            'P' => directive.text(&half.to_lowercase()),
            'Z' if directive.swap => directive.text("utc"),
            'Z' => directive.text("UTC"),
            'z' => match directive.colons {
                0 => "+0000".into(),
                1 => "+00:00".into(),
                2 => "+00:00:00".into(),
                _ => return None,
            },
            'n' => directive.text("\n"),
            't' => directive.text("\t"),
            '%' => directive.text("%"),
            'F' => return again("%Y-%m-%d"),
            'T' | 'X' => return again("%H:%M:%S"),
            'D' | 'x' => return again("%m/%d/%y"),
            'R' => return again("%H:%M"),
            'r' => return again("%I:%M:%S %p"),
            'c' => return again("%a %b %e %H:%M:%S %Y"),
            'v' => return again("%e-%^b-%Y"),
            _ => return None,
        })
    }
}

/// The week of a day, and the year that the week belongs to (ISO 8601); days count from Monday.
fn week_of(year: i64, of_year: i64, weekday: i64) -> (i64, i64) {
    let weeks = |year: i64| {
        let first = (day_of(year, 1, 1) + 3).rem_euclid(7);
        let leap = day_of(year + 1, 1, 1) - day_of(year, 1, 1) == 366;
        if first == 3 || first == 2 && leap {
            53
        } else {
            52
        }
    };
    match (of_year - weekday + 10) / 7 {
        0 => (year - 1, weeks(year - 1)),
        week if week > weeks(year) => (year + 1, 1),
        week => (year, week),
    }
}

/// A letter behind `%`, and what stands between.
struct Directive {
    letter: char,
    pad: Option<char>,
    bare: bool,
    upper: bool,
    swap: bool,
    colons: u8,
    width: Option<usize>,
}

impl Directive {
    /// A directive, if it is one, and what is behind it.
    fn read(text: &str) -> (Option<Self>, &str) {
        let mut directive = Self {
            letter: ' ',
            pad: None,
            bare: false,
            upper: false,
            swap: false,
            colons: 0,
            width: None,
        };
        for (at, char) in text.char_indices() {
            match char {
                '-' if directive.width.is_none() => directive.bare = true,
                '0' if directive.width.is_none() => directive.pad = Some('0'),
                '_' if directive.width.is_none() => directive.pad = Some(' '),
                '^' if directive.width.is_none() => directive.upper = true,
                '#' if directive.width.is_none() => directive.swap = true,
                ':' => directive.colons += 1,
                '0'..='9' => {
                    let digit = char.to_digit(10).expect("it is a digit") as usize;
                    let width = directive.width.unwrap_or(0) * 10 + digit;
                    directive.width = Some(width.min(WIDEST));
                }
                letter => {
                    directive.letter = letter;
                    return (Some(directive), &text[at + letter.len_utf8()..]);
                }
            }
        }
        (None, "")
    }

    fn number(&self, number: i64, usual: usize, pad: char) -> String {
        if self.bare {
            return number.to_string();
        }
        let width = self.width.unwrap_or(usual);
        match self.pad.unwrap_or(pad) {
            '0' => format!("{number:0width$}"),
            _ => format!("{number:width$}"),
        }
    }

    fn text(&self, text: &str) -> String {
        let text = match self.upper || self.swap && "aAbBhcvr+".contains(self.letter) {
            true => text.to_uppercase(),
            false => text.to_owned(),
        };
        let missing = self.width.unwrap_or(0).saturating_sub(text.chars().count());
        let pad = self.pad.unwrap_or(' ').to_string();
        pad.repeat(missing) + &text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0.seconds.div_euclid(86_400));
        let second = self.0.seconds.rem_euclid(86_400);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        let beyond = self.0.beyond;
        let year = match year {
            0.. => format!("{year:04}"),
            _ => format!("-{:04}", -year),
        };
        write!(
            f,
            "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{beyond:09} UTC"
        )
    }
}

impl fmt::Display for Timespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.nanoseconds();
        if total < 0 {
            f.write_str("-")?;
        }
        let total = total.unsigned_abs();
        let seconds = total / 1_000_000_000;
        let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
        let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
        let mut beyond = total % 1_000_000_000;
        // Zeros at the end go, those at the beginning went before: .05 is shown as .5, as everywhere else.
        while beyond != 0 && beyond.is_multiple_of(10) {
            beyond /= 10;
        }
        write!(f, "{days}-{hours:02}:{minutes:02}:{seconds:02}.{beyond}")
    }
}

/// Numbers as bounds of types and as arguments: seconds.
fn from_number(datum: &Datum) -> Option<i128> {
    match datum {
        Datum::Integer(seconds) => Some(i128::from(*seconds) * BILLION),
        // What is beyond all numbers ends at the greatest of them, and is refused as out of reach.
        Datum::Float(seconds) => Some((seconds * 1e9) as i128),
        _ => None,
    }
}

const OUT_OF_REACH: &str = "time is out of reach";

impl Timestamp {
    /// How moments are written where nothing else is said.
    const FORMATS: [&str; 10] = [
        "%FT%T.%N %Z",
        "%FT%T %Z",
        "%F %T.%N %Z",
        "%F %T %Z",
        "%F %Z",
        "%FT%T.%N",
        "%FT%T",
        "%F %T.%N",
        "%F %T",
        "%F",
    ];

    /// The moment that a value stands for. The trouble with it is told in words.
    pub(super) fn from_datum(datum: &Datum) -> Result<Self, String> {
        match datum {
            Datum::Timestamp(at) => Ok(*at),
            Datum::Text(text) => Self::parse(text, None, None),
            Datum::Hash(hash) => Self::from_hash(hash),
            number => {
                let nanoseconds = from_number(number).ok_or("Unable to create a Timestamp")?;
                Self::from_nanoseconds(nanoseconds).ok_or_else(|| OUT_OF_REACH.into())
            }
        }
    }

    pub(super) fn from_hash(hash: &Hash) -> Result<Self, String> {
        let given = |key: &str| hash.get_text(key).map(|value| &value.datum);
        match given("string") {
            Some(Datum::Text(text)) => {
                let timezone = given("timezone").and_then(as_text);
                Self::parse(text, given("format"), timezone)
            }
            _ => Err("a string is needed".into()),
        }
    }

    /// Reads a moment in one of several formats, in a time zone if one is said.
    pub fn parse(
        text: &str,
        formats: Option<&Datum>,
        timezone: Option<&str>,
    ) -> Result<Self, String> {
        let timezone = timezone.filter(|timezone| !timezone.is_empty());
        let parsed = match formats {
            Some(Datum::Text(format)) => {
                let parsed = Parsed::read(text, format)
                    .ok_or_else(|| format!("Unable to parse '{text}' using format '{format}'"))?;
                if timezone.is_some() && parsed.zone.is_some() {
                    return Err("Using a Timezone designator in format specification is mutually exclusive to providing an explicit timezone argument".into());
                }
                parsed
            }
            other => {
                let formats: Vec<&str> = match other {
                    Some(Datum::Array(formats)) => {
                        formats.iter().filter_map(|it| as_text(&it.datum)).collect()
                    }
                    _ if timezone.is_some() => Self::FORMATS[5..].to_vec(),
                    _ => Self::FORMATS.to_vec(),
                };
                let fits = |parsed: &Parsed| timezone.is_none() || parsed.zone.is_none();
                let parsed = formats
                    .iter()
                    .find_map(|format| Parsed::read(text, format).filter(fits));
                parsed.ok_or_else(|| {
                    let formats = formats.join(", ");
                    format!("Unable to parse '{text}' using any of the formats {formats}")
                })?
            }
        };
        let zone = timezone.map(EcoString::from).or(parsed.zone.clone());
        let offset = match &zone {
            Some(zone) => offset_of(zone).ok_or_else(|| format!("Illegal timezone '{zone}'"))?,
            None => 0,
        };
        let year = parsed
            .year
            .ok_or("can't convert nil into an exact number")?;
        let day = day_of(year, parsed.month.unwrap_or(1), parsed.day.unwrap_or(1));
        let seconds = day * 86_400
            + parsed.hour.unwrap_or(0) * 3_600
            + parsed.minute.unwrap_or(0) * 60
            + parsed.second.unwrap_or(0)
            - offset;
        let nanoseconds = i128::from(seconds) * BILLION + i128::from(parsed.nanoseconds);
        Self::from_nanoseconds(nanoseconds).ok_or_else(|| OUT_OF_REACH.into())
    }
}

fn as_text(datum: &Datum) -> Option<&str> {
    match datum {
        Datum::Text(text) => Some(text),
        _ => None,
    }
}

/// The day of a date, counted from the first of January 1970. Days beyond a month's end count on.
fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// What a text says of a moment.
#[derive(Default)]
struct Parsed {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    hour: Option<i64>,
    afternoon: Option<bool>,
    minute: Option<i64>,
    second: Option<i64>,
    nanoseconds: u32,
    zone: Option<EcoString>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [&str; 7] = [
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
];

impl Parsed {
    /// What a text says in a format; nothing if it is not in it.
    fn read(text: &str, format: &str) -> Option<Self> {
        let mut parsed = Self::default();
        let rest = parsed.take(text, format)?;
        if !rest.is_empty() {
            return None;
        }
        if let (Some(hour), Some(afternoon)) = (parsed.hour, parsed.afternoon) {
            parsed.hour = Some(hour % 12 + if afternoon { 12 } else { 0 });
        }
        Some(parsed)
    }

    fn take<'t>(&mut self, mut text: &'t str, format: &str) -> Option<&'t str> {
        let mut format = format.chars().peekable();
        while let Some(char) = format.next() {
            if char.is_ascii_whitespace() {
                text = text.trim_start();
                continue;
            }
            if char != '%' {
                text = text.strip_prefix(char)?;
                continue;
            }
            let mut directive = format.next()?;
            while matches!(directive, '-' | '_' | '0' | '^' | '#' | 'E' | 'O') {
                directive = format.next()?;
            }
            // A number right before another one is only as long as it must be.
            let number_follows = match format.peek() {
                Some(char) if char.is_ascii_digit() => true,
                Some('%') => {
                    let mut ahead = format.clone();
                    ahead.next();
                    ahead.next().is_some_and(|next| {
                        "CDdeFGgHIjkLlMmNQRrSsTUuVvWwXxYy0123456789".contains(next)
                    })
                }
                _ => false,
            };
            text = self.take_directive(text, directive, number_follows)?;
        }
        Some(text)
    }

    fn take_directive<'t>(
        &mut self,
        text: &'t str,
        directive: char,
        number_follows: bool,
    ) -> Option<&'t str> {
        let field = |limits: std::ops::RangeInclusive<i64>| {
            let text = text
                .strip_prefix(' ')
                .filter(|_| "ekl".contains(directive))
                .unwrap_or(text);
            let (number, rest) = digits(text, 2)?;
            limits.contains(&number).then_some((number, rest))
        };
        match directive {
            'F' => self.take(text, "%Y-%m-%d"),
            'T' | 'X' => self.take(text, "%H:%M:%S"),
            'R' => self.take(text, "%H:%M"),
            'D' | 'x' => self.take(text, "%m/%d/%y"),
            'r' => self.take(text, "%I:%M:%S %p"),
            'c' => self.take(text, "%a %b %e %H:%M:%S %Y"),
            'v' => self.take(text, "%e-%b-%Y"),
            '+' => self.take(text, "%a %b %e %H:%M:%S %Z %Y"),
            'n' | 't' => Some(text.trim_start()),
            '%' => text.strip_prefix('%'),
            'Y' => {
                let (sign, unsigned) = match text.strip_prefix('-') {
                    Some(rest) => (-1, rest),
                    None => (1, text.strip_prefix('+').unwrap_or(text)),
                };
                let (year, rest) = digits(unsigned, if number_follows { 4 } else { 9 })?;
                self.year = Some(sign * year);
                Some(rest)
            }
            'y' => {
                let (year, rest) = digits(text, 2)?;
                self.year = Some(year + if year >= 69 { 1900 } else { 2000 });
                Some(rest)
            }
            'm' => field(1..=12).map(|(month, rest)| {
                self.month = Some(month);
                rest
            }),
            'd' | 'e' => field(1..=31).map(|(day, rest)| {
                self.day = Some(day);
                rest
            }),
            'H' | 'k' => field(0..=24).map(|(hour, rest)| {
                self.hour = Some(hour);
                rest
            }),
            'I' | 'l' => field(1..=12).map(|(hour, rest)| {
                self.hour = Some(hour);
                rest
            }),
            'M' => field(0..=59).map(|(minute, rest)| {
                self.minute = Some(minute);
                rest
            }),
            'S' => field(0..=60).map(|(second, rest)| {
                self.second = Some(second.min(59));
                rest
            }),
            'L' | 'N' => {
                let limit = match (number_follows, directive) {
                    (true, 'L') => 3,
                    (true, _) => 9,
                    (false, _) => usize::MAX,
                };
                let end = text
                    .bytes()
                    .take(limit)
                    .take_while(u8::is_ascii_digit)
                    .count();
                let (fraction, rest) = text.split_at(end);
                if fraction.is_empty() {
                    return None;
                }
                let nine: String = fraction
                    .chars()
                    .chain("000000000".chars())
                    .take(9)
                    .collect();
                self.nanoseconds = nine.parse().ok()?;
                Some(rest)
            }
            'b' | 'B' | 'h' => {
                let (month, rest) = name(text, &MONTHS)?;
                self.month = Some(month + 1);
                Some(rest)
            }
            'a' | 'A' => name(text, &DAYS).map(|(_, rest)| rest),
            'p' | 'P' => {
                let lower = text.get(..2)?.to_ascii_lowercase();
                self.afternoon = match lower.as_str() {
                    "am" => Some(false),
                    "pm" => Some(true),
                    _ => return None,
                };
                Some(&text[2..])
            }
            'z' | 'Z' => {
                let end = text
                    .find(|char: char| !char.is_ascii_alphanumeric() && !"+-:".contains(char))
                    .unwrap_or(text.len());
                let (zone, rest) = text.split_at(end);
                let words = zone.bytes().all(|byte| byte.is_ascii_alphabetic());
                if zone.is_empty() || !words && !zone.contains(['+', '-']) {
                    return None;
                }
                self.zone = Some(zone.into());
                Some(rest)
            }
            _ => None,
        }
    }
}

fn digits(text: &str, most: usize) -> Option<(i64, &str)> {
    let end = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// A name, in full or its first three letters.
fn name<'t>(text: &'t str, names: &[&str]) -> Option<(i64, &'t str)> {
    let lower = text.to_ascii_lowercase();
    let index = names
        .iter()
        .position(|name| lower.starts_with(&name[..3]))?;
    let length = match lower.starts_with(names[index]) {
        true => names[index].len(),
        false => 3,
    };
    Some((i64::try_from(index).ok()?, &text[length..]))
}

/// How many seconds a time zone is ahead.
pub(crate) fn offset_of(zone: &str) -> Option<i64> {
    let lower = zone.to_ascii_lowercase();
    let hours = match lower.as_str() {
        "utc" | "gmt" | "z" | "ut" | "wet" => 0.0,
        "cet" | "bst" | "west" | "met" | "mez" => 1.0,
        "cest" | "eet" | "mest" | "mesz" | "sast" => 2.0,
        "eest" | "msk" | "eat" => 3.0,
        "msd" => 4.0,
        "ist" => 5.5,
        "jst" => 9.0,
        "brt" | "adt" => -3.0,
        "nst" => -3.5,
        "ast" | "edt" => -4.0,
        "est" | "cdt" => -5.0,
        "cst" | "mdt" => -6.0,
        "mst" | "pdt" => -7.0,
        "pst" | "akdt" => -8.0,
        "akst" => -9.0,
        "hst" => -10.0,
        _ => return numeric_offset(&lower),
    };
    Some((hours * 3_600.0) as i64)
}

fn numeric_offset(zone: &str) -> Option<i64> {
    let zone = zone
        .strip_prefix("gmt")
        .or(zone.strip_prefix("utc"))
        .unwrap_or(zone);
    let (sign, rest) = match zone.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, zone.strip_prefix('+')?),
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if rest.len() > 2 => rest.split_at_checked(rest.len() - 2)?,
        None => (rest, "0"),
    };
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 100 && minutes < 100).then(|| sign * (hours * 3_600 + minutes * 60))
}

impl Timespan {
    /// How durations are written where nothing else is said.
    const FORMATS: [&str; 8] = [
        "%D-%H:%M:%S.%-N",
        "%H:%M:%S.%-N",
        "%M:%S.%-N",
        "%S.%-N",
        "%D-%H:%M:%S",
        "%H:%M:%S",
        "%D-%H:%M",
        "%S",
    ];

    /// The duration that a value stands for. The trouble with it is told in words.
    pub(super) fn from_datum(datum: &Datum) -> Result<Self, String> {
        match datum {
            Datum::Timespan(span) => Ok(*span),
            Datum::Text(text) => Self::parse(text, None),
            Datum::Hash(hash) => Self::from_hash(hash),
            number => {
                let nanoseconds = from_number(number).ok_or("Unable to create a Timespan")?;
                Self::from_nanoseconds(nanoseconds).ok_or_else(|| OUT_OF_REACH.into())
            }
        }
    }

    pub(super) fn from_hash(hash: &Hash) -> Result<Self, String> {
        let given = |key: &str| hash.get_text(key).map(|value| &value.datum);
        if let Some(Datum::Text(text)) = given("string") {
            return Self::parse(text, given("format"));
        }
        let number = |key: &str| match given(key) {
            Some(Datum::Integer(number)) => *number,
            _ => 0,
        };
        let fields = [
            "days",
            "hours",
            "minutes",
            "seconds",
            "milliseconds",
            "microseconds",
            "nanoseconds",
        ];
        let negative = matches!(given("negative"), Some(Datum::Bool(true)));
        Self::from_fields(negative, &fields.map(number))
    }

    /// A duration of days, hours, minutes, seconds and thousandths, those left out being 0.
    pub(super) fn from_fields(negative: bool, fields: &[i64]) -> Result<Self, String> {
        let scales = [1, 24, 60, 60, 1_000, 1_000, 1_000];
        let total = scales
            .iter()
            .enumerate()
            .try_fold(0_i128, |total, (index, scale)| {
                let field = fields.get(index).copied().unwrap_or(0);
                total.checked_mul(*scale)?.checked_add(i128::from(field))
            });
        total
            .map(|total| if negative { -total } else { total })
            .and_then(Self::from_nanoseconds)
            .ok_or_else(|| OUT_OF_REACH.into())
    }

    /// Reads a duration in one of several formats.
    pub fn parse(text: &str, formats: Option<&Datum>) -> Result<Self, String> {
        if let Some(Datum::Text(format)) = formats {
            return Layout::read(format)?.parse(text);
        }
        let formats: Vec<&str> = match formats {
            Some(Datum::Array(formats)) => {
                formats.iter().filter_map(|it| as_text(&it.datum)).collect()
            }
            _ => Self::FORMATS.to_vec(),
        };
        for format in &formats {
            if let Ok(span) = Layout::read(format)?.parse(text) {
                return Ok(span);
            }
        }
        let formats = formats.join(", ");
        Err(format!(
            "Unable to parse '{text}' using any of the formats {formats}"
        ))
    }

    /// Writes the duration in a format.
    pub fn format(self, format: &str) -> Result<String, String> {
        Ok(Layout::read(format)?.write(self))
    }
}

/// A format of durations.
struct Layout<'a> {
    source: &'a str,
    segments: Vec<Segment>,
}

enum Segment {
    Literal(String),
    Field(Field),
}

struct Field {
    unit: char,
    pad: Option<char>,
    width: Option<usize>,
    /// The greatest unit takes all there is of it.
    total: bool,
}

/// No number needs more digits than this.
const WIDEST: usize = 1_000;

impl<'a> Layout<'a> {
    fn read(source: &'a str) -> Result<Self, String> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut literal = String::new();
        let mut chars = source.chars().enumerate();
        while let Some((start, char)) = chars.next() {
            if char != '%' {
                literal.push(char);
                continue;
            }
            let (mut pad, mut width, mut first) = (Some('0'), None::<usize>, true);
            loop {
                let next = chars.next();
                let bad = |position: usize| {
                    let part: String = source.chars().skip(start).take(position - start).collect();
                    format!("Bad format specifier '{part}' in '{source}', at position {position}")
                };
                let Some((position, char)) = next else {
                    return Err(bad(source.chars().count() - 1));
                };
                match char {
                    '%' => literal.push('%'),
                    '-' if first => pad = None,
                    '_' if first => pad = Some(' '),
                    '0' if first => pad = Some('0'),
                    'D' | 'H' | 'M' | 'S' | 'L' | 'N' => {
                        if !literal.is_empty() {
                            segments.push(Segment::Literal(std::mem::take(&mut literal)));
                        }
                        segments.push(Segment::Field(Field {
                            unit: char,
                            pad,
                            width,
                            total: false,
                        }));
                    }
                    '0'..='9' => {
                        let digit = char.to_digit(10).expect("it is a digit") as usize;
                        let wider = width.unwrap_or(0) * 10 + digit;
                        width = Some(wider.min(WIDEST));
                    }
                    _ => return Err(bad(position)),
                }
                if char.is_ascii_alphabetic() || char == '%' {
                    break;
                }
                first = false;
            }
        }
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal));
        }
        let order = "DHMSLN";
        let greatest = order.chars().find(|unit| {
            segments
                .iter()
                .any(|segment| matches!(segment, Segment::Field(field) if field.unit == *unit))
        });
        for segment in &mut segments {
            if let Segment::Field(field) = segment
                && Some(field.unit) == greatest
            {
                field.total = true;
                break;
            }
        }
        Ok(Self { source, segments })
    }

    fn parse(&self, text: &str) -> Result<Timespan, String> {
        let trouble = || format!("Unable to parse '{text}' using format '{}'", self.source);
        let mut expression = String::from("\\A-?");
        for segment in &self.segments {
            match segment {
                Segment::Literal(literal) => {
                    let escaped: String = literal.chars().flat_map(escape).collect();
                    expression += &format!("({escaped})");
                }
                Segment::Field(field) => expression += &field.expression(),
            }
        }
        expression += "\\z";
        let pattern = Pattern::new(&expression)?;
        let captures = pattern.captures(text).ok_or_else(trouble)?;
        let mut total: i128 = 0;
        for (segment, group) in self.segments.iter().zip(captures.iter().skip(1)) {
            let Segment::Field(field) = segment else {
                continue;
            };
            let digits = group.unwrap_or("").trim_start();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(trouble());
            }
            let nanoseconds = field.nanoseconds(digits)?;
            total = total
                .checked_add(nanoseconds.ok_or(OUT_OF_REACH)?)
                .ok_or(OUT_OF_REACH)?;
        }
        let total = if text.starts_with('-') { -total } else { total };
        Timespan::from_nanoseconds(total).ok_or_else(|| OUT_OF_REACH.into())
    }

    fn write(&self, span: Timespan) -> String {
        let mut text = String::new();
        let total = span.nanoseconds();
        if total < 0 {
            text.push('-');
        }
        for segment in &self.segments {
            match segment {
                Segment::Literal(literal) => text += literal,
                Segment::Field(field) => text += &field.write(total.unsigned_abs()),
            }
        }
        text
    }
}

fn escape(char: char) -> impl Iterator<Item = char> {
    let special = char.is_ascii_punctuation();
    special.then_some('\\').into_iter().chain([char])
}

impl Field {
    fn default_width(&self) -> usize {
        match self.unit {
            'D' => 1,
            'L' => 3,
            'N' => 9,
            _ => 2,
        }
    }

    fn scale(&self) -> u128 {
        match self.unit {
            'D' => 86_400_000_000_000,
            'H' => 3_600_000_000_000,
            'M' => 60_000_000_000,
            'S' => 1_000_000_000,
            'L' => 1_000_000,
            _ => 1,
        }
    }

    fn expression(&self) -> String {
        let usual = self.default_width();
        match (self.width, self.pad) {
            (None, Some(' ')) if self.total => "\\s*([0-9]+)".into(),
            (None, Some(' ')) => format!("([0-9\\s]{{1,{usual}}})"),
            (None, _) if self.total => "([0-9]+)".into(),
            (None, _) => format!("([0-9]{{1,{usual}}})"),
            (Some(width), None) => format!("([0-9]{{1,{width}}})"),
            (Some(width), Some('0')) => format!("([0-9]{{{width}}})"),
            (Some(width), Some(_)) => format!("([0-9\\s]{{{width}}})"),
        }
    }

    /// What digits stand for; nothing if that is out of reach.
    fn nanoseconds(&self, digits: &str) -> Result<Option<i128>, String> {
        let number: Option<i128> = digits.parse().ok();
        if !matches!(self.unit, 'L' | 'N') {
            let scale = i128::try_from(self.scale()).expect("scales are small");
            return Ok(number.and_then(|number| number.checked_mul(scale)));
        }
        if self.total {
            return Err("Format specifiers %L and %N denotes fractions and must be used together with a specifier of higher magnitude".into());
        }
        let missing = u32::try_from(9_usize.saturating_sub(digits.len())).unwrap_or(0);
        Ok(number.and_then(|number| number.checked_mul(10_i128.pow(missing))))
    }

    fn write(&self, total: u128) -> String {
        let width = self.width.unwrap_or(self.default_width());
        let number = match (self.unit, self.total) {
            ('N', all) if width < 9 => {
                let digits = u32::try_from(9 - width).expect("there are at most 9");
                let number = total / 10_u128.pow(digits);
                let limit = 10_u128.pow(u32::try_from(width).expect("there are at most 9"));
                if all { number } else { number % limit }
            }
            ('N', false) => total % 1_000_000_000,
            (_, true) | ('D', _) => total / self.scale(),
            ('L', _) => total / self.scale() % 1_000,
            ('H', _) => total / self.scale() % 24,
            _ => total / self.scale() % 60,
        };
        match (self.unit, self.pad) {
            ('L' | 'N', pad) => {
                let mut number = number;
                while !self.total && pad != Some('0') && number != 0 && number.is_multiple_of(10) {
                    number /= 10;
                }
                match pad {
                    None => number.to_string(),
                    Some(_) => format!("{number:<width$}"),
                }
            }
            (_, None) => number.to_string(),
            (_, Some(' ')) => format!("{number:width$}"),
            (_, Some(_)) => format!("{number:0width$}"),
        }
    }
}
