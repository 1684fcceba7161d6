//! Moments and durations, to the nanosecond.

use std::fmt;

use crate::value::Datum;

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
fn date(day: i64) -> (i64, i64, i64) {
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

impl Timestamp {
    /// The moment that a value stands for as a bound.
    pub(super) fn from_datum(datum: &Datum) -> Result<Self, String> {
        match datum {
            Datum::Timestamp(at) => Ok(*at),
            _ => Err("not yet".into()),
        }
    }
}

impl Timespan {
    /// The duration that a value stands for as a bound.
    pub(super) fn from_datum(datum: &Datum) -> Result<Self, String> {
        match datum {
            Datum::Timespan(span) => Ok(*span),
            _ => Err("not yet".into()),
        }
    }
}
