//! The library in four steps: read, compare, judge, render. Nothing here does I/O, starts a server
//! or reads the clock.

use std::path::Path;

pub use crate::canonical::Json;
pub use crate::config::ConfigError;
pub use crate::drift::Change;
pub use crate::judgement::{Exposure, Level, Proof};
pub use crate::policy::{Action, Date, Judged, Policy, Verdict};
pub use crate::report::{Comparison, Format, Located, Report, ServerReport, Status};
pub use crate::rules::RuleId;
pub use crate::source::{SourceError, Surfaces};
pub use crate::surface::Surface;

/// Reads what one or more servers declare: a baseline (`mcp-baseline.json`), a capture (`mcp-keel
/// capture`), or a saved `tools/list` result. A baseline is verified; `name` identifies the text in
/// errors.
pub fn read(name: &str, text: &[u8]) -> Result<Surfaces, SourceError> {
    crate::source::parse_source(name, text, crate::source::Dialect::Json)
}

/// Every difference between two surfaces, with its effect on callers and how that is known.
pub fn compare(old: &Surface, new: &Surface) -> Vec<Change> {
    crate::drift::compare(old, new)
}

/// The policy of a configuration (`mcp-keel.toml`); without one, [`Policy::default`] applies.
pub fn read_policy(name: &str, text: &str) -> Result<Policy, ConfigError> {
    Ok(crate::config::Config::parse(Path::new(name), text)?.policy)
}

/// Compares server by server and judges each change by the policy, as `mcp-keel diff` does. Two
/// texts with one server each are compared regardless of the servers' names. `today` decides which
/// acceptances have expired.
pub fn judge(old: &Surfaces, new: &Surfaces, policy: &Policy, today: Date) -> Report {
    let servers = crate::run::sources::compare(old, new, policy, today);
    Report::new(Comparison::Diff, servers, Vec::new())
}

/// The report as text, without colours. [`Format::Json`] is versioned and described by `mcp-keel schema report`.
pub fn render(report: &Report, format: Format) -> String {
    crate::report::render(report, format, crate::report::Style::default())
}
