//! What the drift demands of the version, against what the version did: two things that are compared, never mixed.

use crate::judgement::Level;
use crate::keyword_enum::keyword_enum;

/// How far a version has to move, or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bump {
    /// Not at all.
    None,
    /// `1.2.3` to `1.2.4`
    Patch,
    /// `1.2.3` to `1.3.0`
    Minor,
    /// `1.2.3` to `2.0.0`
    Major,
}

keyword_enum!(Bump { None = "none", Patch = "patch", Minor = "minor", Major = "major" });

/// The version of a server against what its drift demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCheck {
    /// The version in the baseline.
    pub baseline: Option<String>,
    /// The version now.
    pub current: Option<String>,
    /// What the drift demands.
    pub required: Bump,
    /// Whether the version moved at least so far.
    pub ok: bool,
    /// Which way it moved.
    pub moved: Moved,
}

/// Which way a version moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// It is the same, or one of the two is not known.
    Not,
    /// To a later one, or to another one where the order cannot be told.
    Up,
    /// To an earlier one.
    Down,
}

/// Compares two versions with the worst level of the drift between them. The version's own change does not count.
///
/// Below 1.0.0 a minor step may break and a patch step may add, as semantic versioning and every package manager
/// have it. A version that cannot be read as `MAJOR.MINOR.PATCH` satisfies a demand just by being another one.
pub fn check_version(
    baseline: Option<&str>,
    current: Option<&str>,
    worst: Option<Level>,
) -> VersionCheck {
    let before = baseline.and_then(parse);
    let unstable = before.is_some_and(|version| version[0] == 0);
    let required = match (worst, unstable) {
        (None, _) => Bump::None,
        (Some(Level::Breaking), false) => Bump::Major,
        (Some(Level::Breaking), true) | (Some(Level::Risky | Level::Additive), false) => {
            Bump::Minor
        }
        (Some(_), _) => Bump::Patch,
    };
    let ok = required == Bump::None
        || match (before, current.and_then(parse)) {
            (Some(before), Some(after)) => moved(before, after) >= required,
            _ => baseline != current,
        };
    VersionCheck {
        baseline: baseline.map(str::to_owned),
        current: current.map(str::to_owned),
        required,
        ok,
        moved: direction(baseline, current),
    }
}

/// Which way a version moved.
pub(crate) fn direction(baseline: Option<&str>, current: Option<&str>) -> Moved {
    let (Some(was), Some(is)) = (baseline, current) else {
        return Moved::Not;
    };
    match (parse(was), parse(is)) {
        _ if was == is => Moved::Not,
        (Some(was), Some(is)) if is < was => Moved::Down,
        _ => Moved::Up,
    }
}

fn parse(version: &str) -> Option<[u64; 3]> {
    let core = version
        .trim()
        .trim_start_matches(['v', 'V'])
        .split(['-', '+'])
        .next()?;
    let mut numbers = core.split('.').map(|part| part.parse().ok());
    let parsed = [
        numbers.next()??,
        numbers.next().unwrap_or(Some(0))?,
        numbers.next().unwrap_or(Some(0))?,
    ];
    numbers.next().is_none().then_some(parsed)
}

fn moved(before: [u64; 3], after: [u64; 3]) -> Bump {
    if after <= before {
        Bump::None
    } else if after[0] > before[0] {
        Bump::Major
    } else if after[1] > before[1] {
        Bump::Minor
    } else {
        Bump::Patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_demands_a_version_that_says_so() {
        for (before, after, worst, required, ok) in [
            ("1.4.0", "1.4.1", Some(Level::Breaking), Bump::Major, false),
            ("1.4.0", "2.0.0", Some(Level::Breaking), Bump::Major, true),
            ("1.4.0", "1.5.0", Some(Level::Additive), Bump::Minor, true),
            ("1.4.0", "1.4.1", Some(Level::Risky), Bump::Minor, false),
            ("1.4.0", "1.4.1", Some(Level::Cosmetic), Bump::Patch, true),
            ("1.4.0", "1.4.0", Some(Level::Cosmetic), Bump::Patch, false),
            ("1.4.0", "1.4.0", None, Bump::None, true),
            ("0.4.0", "0.5.0", Some(Level::Breaking), Bump::Minor, true),
            ("0.4.0", "0.4.1", Some(Level::Additive), Bump::Patch, true),
            ("2.0.0", "1.0.0", Some(Level::Cosmetic), Bump::Patch, false),
            (
                "nightly",
                "nightly-2",
                Some(Level::Breaking),
                Bump::Major,
                true,
            ),
            (
                "nightly",
                "nightly",
                Some(Level::Breaking),
                Bump::Major,
                false,
            ),
        ] {
            let check = check_version(Some(before), Some(after), worst);
            assert_eq!(
                (check.required, check.ok),
                (required, ok),
                "{before} {after} {worst:?}"
            );
        }
    }
}
