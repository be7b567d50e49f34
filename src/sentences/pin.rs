//! What `pin` and `baseline` say beside the report.

use crate::wording::{counted, join_with_and};

pub(crate) fn offer_to_save() -> &'static str {
    "Save this to mcp-keel.toml, so that `mcp-keel check` needs no arguments?"
}

pub(crate) fn saved(path: &str) -> String {
    format!(
        "Saved to {path}. Commit it with the baseline; `mcp-keel check` now needs no arguments."
    )
}

pub(crate) fn secret_not_saved(name: &str) -> String {
    format!(
        "the value of {name} looks like a secret and is not written: `pass-env` passes the variable"
    )
}

pub(crate) fn header_not_saved(name: &str) -> String {
    format!(
        "the header {name} is not written: its value may be a secret; write `${{VARIABLE}}` in its place"
    )
}

pub(crate) fn not_saved() -> &'static str {
    "To check it without arguments, pin it once with --save."
}

pub(crate) fn some_pinned(pinned: usize, all: usize) -> String {
    let failed = all - pinned;
    format!(
        "{pinned} of {} pinned, {failed} failed:",
        counted(all, "server")
    )
}

pub(crate) fn pruned(names: &[String]) -> String {
    let names = join_with_and(names.iter().map(String::as_str));
    format!("Removed from the baseline: {names}.")
}

/// One entry of the baseline.
pub(crate) fn entry(version: Option<&str>, tools: usize, others: usize) -> String {
    let version = version.map_or_else(String::new, |it| format!("version {it}, "));
    let others = if others > 0 {
        format!(", {}", counted(others, "other component"))
    } else {
        String::new()
    };
    format!("{version}{}{others}", counted(tools, "tool"))
}

pub(crate) fn removed(name: &str, path: &str) -> String {
    format!("Removed {name} from {path}. Commit the file.")
}

pub(crate) fn renamed(old: &str, new: &str, path: &str) -> String {
    format!(
        "Renamed {old} to {new} in {path}. Rename its table in the configuration too; ids of changes contain the name."
    )
}
