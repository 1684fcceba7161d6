//! Moments as people read them.

/// A moment as people and programs read it: the day and the time, in UTC, and saying so.
pub fn moment(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day after the first of January 1970, in a calendar whose years begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_dates() {
        assert_eq!(moment(0), "1970-01-01 00:00:00Z");
        assert_eq!(moment(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(moment(1_769_860_799_999), "2026-01-31 11:59:59Z");
    }
}
