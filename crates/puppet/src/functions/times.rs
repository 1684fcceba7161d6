//! Moments and durations as text.

use super::{Function, plain};
use crate::evaluate::{Evaluator, Invocation, Outcome};
use crate::types::time::{Timestamp, date, offset_of};
use crate::value::Datum;

pub(super) const FUNCTIONS: &[Function] = &[plain(
    "strftime",
    (1, 3),
    "strftime(Variant[Timestamp, Timespan] $time, String $format, String $timezone = 'UTC') >> String: a moment or a duration as text",
    strftime,
)];

fn strftime<'t>(evaluator: &mut Evaluator<'t>, call: Invocation<'t>) -> Outcome {
    let text = match &call.arguments[0].datum {
        Datum::Timespan(span) if call.arguments.len() == 2 => {
            let format = call.text(evaluator, 1)?;
            match span.format(format) {
                Ok(text) => text,
                Err(why) => return call.wrong(1, why),
            }
        }
        Datum::Timestamp(at) if call.arguments.len() > 1 => {
            let format = call.text(evaluator, 1)?;
            let offset = match call.optional_text(evaluator, 2)? {
                Some(zone) if !zone.is_empty() => match offset_of(zone) {
                    Some(offset) => Some(offset),
                    None => return call.wrong(2, format!("'{zone}' is no time zone")),
                },
                _ => None,
            };
            let moment = Moment::new(*at, offset);
            let mut text = String::new();
            match moment.write(&mut text, format, 0) {
                Written::Whole => {}
                Written::TooLong => return call.too_long(),
                Written::Cut => return call.wrong(1, "a `%` at the end is written as `%%`"),
            }
            text
        }
        Datum::Text(_) => {
            return call.wrong(
                0,
                "a format alone would be of the time of day; give a Timestamp",
            );
        }
        _ => return call.unexpected(evaluator, 0, "a Timestamp or a Timespan, and a format"),
    };
    call.text_result(evaluator, text)
}

/// A moment as clocks and calendars of a time zone show it.
struct Moment {
    year: i64,
    month: i64,
    day: i64,
    /// From 0, the first of January.
    day_of_year: i64,
    /// From 0, Sunday.
    weekday: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: i128,
    seconds: i64,
    offset: i64,
    is_utc: bool,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// How writing a moment ended.
enum Written {
    Whole,
    /// It would be too long.
    TooLong,
    /// The format ends within a field.
    Cut,
}

/// What stands between `%` and its letter.
#[derive(Clone, Copy, Default)]
struct Flags {
    /// `-`, `0`, `_`: what fills.
    fill: Option<char>,
    upper: bool,
    swap: bool,
    colons: usize,
    width: usize,
}

impl Moment {
    fn new(at: Timestamp, offset: Option<i64>) -> Self {
        let seconds = at.seconds();
        let local = seconds.saturating_add(offset.unwrap_or(0));
        let day_number = local.div_euclid(86_400);
        let (year, month, day) = date(day_number);
        let second = local.rem_euclid(86_400);
        // The first of January is as many days back as there are months before, each counted.
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
        let leap_day = i64::from(leap && month > 2);
        let day_of_year = before[(month - 1).clamp(0, 11) as usize] + leap_day + day - 1;
        Self {
            year,
            month,
            day,
            day_of_year,
            weekday: (day_number + 4).rem_euclid(7),
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            nanosecond: at.nanoseconds().rem_euclid(1_000_000_000),
            seconds,
            offset: offset.unwrap_or(0),
            is_utc: offset.is_none(),
        }
    }

    /// Appends the moment in a format.
    fn write(&self, out: &mut String, format: &str, level: u8) -> Written {
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some((flags, letter, length)) = directive(&rest[1..]) else {
                return Written::Cut;
            };
            if flags.width > 1 << 20 || out.len() > 1 << 22 {
                return Written::TooLong;
            }
            if !self.field(out, flags, letter, level) {
                out.push_str(&rest[..1 + length]);
            }
            rest = &rest[1 + length..];
        }
        out.push_str(rest);
        Written::Whole
    }

    /// Appends one field; false if there is no such one.
    fn field(&self, out: &mut String, flags: Flags, letter: char, level: u8) -> bool {
        let number = |out: &mut String, number: i64, width: usize, fill: char| {
            let fill = flags.fill.unwrap_or(fill);
            let width = if flags.width > 0 { flags.width } else { width };
            let digits = number.unsigned_abs().to_string();
            let sign = if number < 0 { "-" } else { "" };
            let missing = match fill {
                '-' => 0,
                _ => width.saturating_sub(digits.len() + sign.len()),
            };
            match fill {
                '_' => {
                    out.extend(std::iter::repeat_n(' ', missing));
                    out.push_str(sign);
                }
                _ => {
                    out.push_str(sign);
                    out.extend(std::iter::repeat_n('0', missing));
                }
            }
            out.push_str(&digits);
        };
        let word = |out: &mut String, word: &str| {
            let word = match (flags.upper, flags.swap) {
                (true, _) => word.to_uppercase(),
                (_, true) if letter == 'p' => word.to_lowercase(),
                (_, true) => word.to_uppercase(),
                _ => word.to_owned(),
            };
            let missing = flags.width.saturating_sub(word.chars().count());
            let fill = if flags.fill == Some('0') { '0' } else { ' ' };
            if flags.fill != Some('-') {
                out.extend(std::iter::repeat_n(fill, missing));
            }
            out.push_str(&word);
        };
        let combined = |out: &mut String, format: &str| {
            let mut text = String::new();
            self.write(&mut text, format, level + 1);
            word(out, &text);
        };
        let hour_of_twelve = (self.hour + 11) % 12 + 1;
        let (week_year, week) = self.week();
        let month = MONTHS[(self.month - 1).clamp(0, 11) as usize];
        let weekday = DAYS[self.weekday.clamp(0, 6) as usize];
        match letter {
            'Y' => number(out, self.year, if self.year < 0 { 5 } else { 4 }, '0'),
            'C' => number(out, self.year.div_euclid(100), 2, '0'),
            'y' => number(out, self.year.rem_euclid(100), 2, '0'),
            'm' => number(out, self.month, 2, '0'),
            'B' => word(out, month),
            'b' | 'h' => word(out, &month[..3]),
            'd' => number(out, self.day, 2, '0'),
            'e' => number(out, self.day, 2, '_'),
            'j' => number(out, self.day_of_year + 1, 3, '0'),
            'H' => number(out, self.hour, 2, '0'),
            'k' => number(out, self.hour, 2, '_'),
            'I' => number(out, hour_of_twelve, 2, '0'),
            'l' => number(out, hour_of_twelve, 2, '_'),
            'P' => word(out, if self.hour < 12 { "am" } else { "pm" }),
            'p' => word(out, if self.hour < 12 { "AM" } else { "PM" }),
            'M' => number(out, self.minute, 2, '0'),
            'S' => number(out, self.second, 2, '0'),
            'L' | 'N' => {
                let usual = if letter == 'L' { 3 } else { 9 };
                let width = if flags.width > 0 { flags.width } else { usual };
                let digits = format!("{:09}", self.nanosecond);
                let digits: String = digits
                    .chars()
                    .chain(std::iter::repeat('0'))
                    .take(width)
                    .collect();
                out.push_str(&digits);
            }
            'z' => {
                let (sign, offset) = (if self.offset < 0 { '-' } else { '+' }, self.offset.abs());
                let (hours, minutes, seconds) = (offset / 3_600, offset / 60 % 60, offset % 60);
                let tail = match flags.colons {
                    0 => format!("{minutes:02}"),
                    1 => format!(":{minutes:02}"),
                    _ => format!(":{minutes:02}:{seconds:02}"),
                };
                let width = flags.width.saturating_sub(tail.len() + 1).max(2);
                out.push_str(&format!("{sign}{hours:0width$}{tail}"));
            }
            'Z' => word(out, if self.is_utc { "UTC" } else { "" }),
            'A' => word(out, weekday),
            'a' => word(out, &weekday[..3]),
            'u' => number(out, (self.weekday + 6) % 7 + 1, 1, '0'),
            'w' => number(out, self.weekday, 1, '0'),
            'G' => number(out, week_year, 4, '0'),
            'g' => number(out, week_year.rem_euclid(100), 2, '0'),
            'V' => number(out, week, 2, '0'),
            'U' => number(out, (self.day_of_year + 7 - self.weekday) / 7, 2, '0'),
            'W' => number(
                out,
                (self.day_of_year + 7 - (self.weekday + 6) % 7) / 7,
                2,
                '0',
            ),
            's' => number(out, self.seconds, 1, '0'),
            'n' => word(out, "\n"),
            't' => word(out, "\t"),
            '%' => word(out, "%"),
            'c' => combined(out, "%a %b %e %H:%M:%S %Y"),
            'D' | 'x' => combined(out, "%m/%d/%y"),
            'F' => combined(out, "%Y-%m-%d"),
            'v' => combined(out, "%e-%^b-%Y"),
            'X' | 'T' => combined(out, "%H:%M:%S"),
            'r' => combined(out, "%I:%M:%S %p"),
            'R' => combined(out, "%H:%M"),
            _ => return false,
        }
        true
    }

    /// The week as ISO 8601 counts it, and the year it belongs to.
    fn week(&self) -> (i64, i64) {
        let monday = (self.weekday + 6) % 7;
        let week = (self.day_of_year - monday + 10) / 7;
        let weeks_of = |year: i64| {
            let first = |year: i64| {
                (year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400))
                    .rem_euclid(7)
            };
            if first(year) == 4 || first(year - 1) == 3 {
                53
            } else {
                52
            }
        };
        if week < 1 {
            (self.year - 1, weeks_of(self.year - 1))
        } else if week > weeks_of(self.year) {
            (self.year + 1, 1)
        } else {
            (self.year, week)
        }
    }
}

/// The flags, the letter and the length of what stands behind a `%`.
fn directive(text: &str) -> Option<(Flags, char, usize)> {
    let mut flags = Flags::default();
    for (at, char) in text.char_indices() {
        match char {
            '-' | '_' => flags.fill = Some(char),
            '0' if flags.width == 0 => flags.fill = Some('0'),
            '^' => flags.upper = true,
            '#' => flags.swap = true,
            ':' => flags.colons += 1,
            '0'..='9' => {
                let digit = char as usize - '0' as usize;
                flags.width = flags.width.saturating_mul(10).saturating_add(digit);
            }
            letter => return Some((flags, letter, at + letter.len_utf8())),
        }
    }
    None
}
