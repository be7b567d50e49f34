#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod document;
mod example_values;
mod interpretation;
pub mod keywords;
pub mod kinds;
pub mod pair;
mod pattern;
mod reason;
mod solve;
mod validator;
pub mod value;

use exact_json::Json;

pub use example_values::words;
pub use pair::Verdict;
pub use reason::Reason;
pub use solve::{References, bounds_of, item_of};
pub use validator::guard;

use kinds::Kinds;
use pair::Pair;

/// How much work one question may take. Work is counted, never timed, so that no answer depends on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of the search: 100,000 take less than a second in a release build.
    pub steps: u64,
    /// Values in the two schemas together. Reading them takes time and memory before any step is counted.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 90_000,
            values: 100_000,
        }
    }
}

impl Limits {
    /// Whether two schemas have more values than are looked at.
    pub fn are_exceeded_by(&self, old: &Json, new: &Json) -> bool {
        fn count(value: &Json, left: &mut usize) -> bool {
            *left = left.saturating_sub(1);
            *left > 0
                && match value {
                    Json::Array(items) => items.iter().all(|item| count(item, left)),
                    Json::Object(members) => members.iter().all(|(_, member)| count(member, left)),
                    _ => true,
                }
        }
        let mut left = self.values;
        !(count(old, &mut left) && count(new, &mut left))
    }
}

/// Whether `new` accepts every value that `old` accepts and declares.
///
/// Nothing is fetched, and nothing is guessed: what is neither shown nor refuted within the limits is undecided.
pub fn subsume(old: &Json, new: &Json, limits: &Limits) -> Verdict {
    if old.same_value(new) {
        return Verdict::Subsumed;
    }
    if limits.are_exceeded_by(old, new) {
        return Verdict::Undecided(Reason::TooLarge);
    }
    let pair = Pair::new(old, new, Kinds::ANY, limits.steps, 0);
    pair.verdict(&pair.open())
}
