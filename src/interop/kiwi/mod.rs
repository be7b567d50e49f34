//! kiwi-mcp's chains of tool manifests on disk.

pub mod disk;
pub mod look;

use crate::policy::Date;

pub use contract_locks::chain::*;

/// A time since 1970, formatted like Python's `datetime.isoformat`.
pub fn isoformat(since: std::time::Duration) -> String {
    let Date { year, month, day } = Date::from_unix_seconds(since.as_secs());
    let (seconds, micros) = (since.as_secs() % 86_400, since.subsec_micros());
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    // Python omits a zero fraction.
    let fraction = if micros > 0 {
        format!(".{micros:06}")
    } else {
        String::new()
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}+00:00")
}

#[cfg(test)]
mod tests {
    use super::isoformat;
    use std::time::Duration;

    #[test]
    fn time_is_written_like_pythons_isoformat() {
        assert_eq!(
            isoformat(Duration::from_secs(1_769_256_000)),
            "2026-01-24T12:00:00+00:00"
        );
        assert_eq!(
            isoformat(Duration::from_micros(1_794_795_902_043_016)),
            "2026-11-16T02:25:02.043016+00:00"
        );
    }
}
