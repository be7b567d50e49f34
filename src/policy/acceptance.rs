//! Accepted and rejected changes, each with a reason; acceptances also have an owner and optionally
//! an expiry date.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    pub year: u16,
    /// One-based.
    pub month: u8,
    /// One-based.
    pub day: u8,
}

impl Date {
    /// The UTC date of a time in seconds since 1970.
    ///
    /// Counts in eras of 400 years that begin on 1 March, so that a leap day is the last day of its
    /// year.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        let days = seconds / 86_400 + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: u8::try_from(month).unwrap_or(12),
            day: u8::try_from(day_of_year - (153 * shifted_month + 2) / 5 + 1).unwrap_or(31),
        }
    }
}

impl std::str::FromStr for Date {
    type Err = ();

    /// `2027-01-31`, and only days that exist.
    fn from_str(text: &str) -> Result<Self, ()> {
        let is_shaped = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_shaped {
            return Err(());
        }
        let number = |range: std::ops::Range<usize>| text[range].parse::<u16>().map_err(drop);
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        if (1..=days).contains(&day) {
            let small = |it: u16| u8::try_from(it).map_err(drop);
            Ok(Self {
                year,
                month: small(month)?,
                day: small(day)?,
            })
        } else {
            Err(())
        }
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let problem = || serde::de::Error::custom(format!("`{text}` is not a date"));
        text.parse().map_err(|()| problem())
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// One `[[accept]]` entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub change: String,
    pub reason: String,
    /// Who is responsible for it.
    pub owner: String,
    /// The last day on which it applies.
    pub expires: Option<Date>,
    /// Its line in the configuration.
    pub line: usize,
}

/// One `[[reject]]` entry: a change that blocks whatever the thresholds say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub change: String,
    pub reason: String,
    pub owner: Option<String>,
    /// Its line in the configuration.
    pub line: usize,
}

/// What the configuration says about one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Decision {
    Accepted {
        reason: String,
        owner: String,
        /// The last day.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Date>,
    },
    Rejected {
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
    },
}

impl Acceptance {
    pub(crate) fn is_expired(&self, today: Date) -> bool {
        self.expires.is_some_and(|last| last < today)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_counted_across_leap_years() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_709_164_800, "2024-02-29"),
            (1_794_787_199, "2026-11-15"),
            (1_794_787_200, "2026-11-16"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Date::from_unix_seconds(seconds).to_string(), day);
        }
    }

    #[test]
    fn a_date_is_a_day_that_exists() {
        for day in ["2027-01-31", "2028-02-29", "2000-02-29"] {
            assert_eq!(day.parse::<Date>().unwrap().to_string(), day);
        }
        for wrong in [
            "2027-02-29",
            "2100-02-29",
            "2027-13-01",
            "2027-00-10",
            "2027-01-00",
            "27-01-31",
            "2027-1-31",
            "2027-01-31 ",
            "2027/01/31",
            "tomorrow",
            "",
        ] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
    }
}
