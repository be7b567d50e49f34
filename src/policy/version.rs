//! Compares the version bump that the drift requires with the actual one; the two are never mixed.

use serde::{Deserialize, Serialize};

use crate::judgement::Level;
use crate::keyword_enum::keyword_enum;

/// The size of a version bump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bump {
    None,
    /// `1.2.3` to `1.2.4`
    Patch,
    /// `1.2.3` to `1.3.0`
    Minor,
    /// `1.2.3` to `2.0.0`
    Major,
}

keyword_enum!(Bump { None = "none", Patch = "patch", Minor = "minor", Major = "major" });

/// The version of a server, compared with what its drift requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionCheck {
    pub baseline: Option<String>,
    pub current: Option<String>,
    pub required: Bump,
    /// Whether the version was bumped far enough.
    pub ok: bool,
}

/// Where a version went between a baseline and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The same, or one of the two is unknown.
    Not,
    /// To a later one, or to a different one if they cannot be ordered.
    Up,
    Down,
}

impl VersionCheck {
    pub fn moved(&self) -> Moved {
        let (Some(was), Some(is)) = (&self.baseline, &self.current) else {
            return Moved::Not;
        };
        match (parse(was), parse(is)) {
            _ if was == is => Moved::Not,
            (Some(was), Some(is)) if is < was => Moved::Down,
            _ => Moved::Up,
        }
    }
}

/// Compares two versions, given the worst level of the drift between them. The version's own change
/// does not count.
///
/// Below 1.0.0 a minor bump may break and a patch bump may add, as in semantic versioning and
/// package managers. A version that is not `MAJOR.MINOR.PATCH` satisfies any requirement by being
/// different.
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
    fn drift_requires_a_matching_version_bump() {
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
