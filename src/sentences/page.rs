//! The page that a reviewer reads on a pull request, in the job summary and in a Markdown report. Names, links and commands
//! are passed in as the page shows them.

use super::{counted, list};

/// How many changes there are: breaking, risky, and others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) breaking: usize,
    pub(crate) risky: usize,
    pub(crate) other: usize,
}

impl Counts {
    /// `4 breaking, 4 risky, 3 other`
    pub(crate) fn sentence(self) -> String {
        let counts = [
            (self.breaking, "breaking"),
            (self.risky, "risky"),
            (self.other, "other"),
        ];
        let parts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        parts.join(", ")
    }
}

/// What happens to the callers of one or several servers.
pub(crate) fn callers(who: &str, many: bool, counts: Counts) -> String {
    let verb = match (counts, many) {
        (Counts { breaking: 1.., .. }, false) => "breaks callers",
        (Counts { breaking: 1.., .. }, true) => "break callers",
        (Counts { risky: 1.., .. }, _) => "may surprise callers",
        _ => "changed, and no caller breaks",
    };
    format!("{who} {verb} ({})", counts.sentence())
}

/// [`callers`], where every change is accepted.
pub(crate) fn callers_accepted(who: &str, counts: Counts) -> String {
    format!(
        "{who} changed, and all of it is accepted ({})",
        counts.sentence()
    )
}

pub(crate) fn servers_of(some: usize, all: usize) -> String {
    format!("{some} of {all} servers")
}

/// Servers of which nothing is known, next to others.
pub(crate) fn not_known_of(servers: usize) -> String {
    format!("nothing is known about {}", counted(servers, "server"))
}

pub(crate) fn did_not_start(server: &str) -> String {
    format!("{server} did not start, so nothing is known about it")
}

pub(crate) fn captures_differ(server: &str) -> String {
    format!("two captures of {server} differ, so nothing is known about it")
}

pub(crate) fn base_unknown(server: &str) -> String {
    format!("it is not known what merging changes for {server}")
}

pub(crate) fn skipped(server: &str) -> String {
    format!("{server} was skipped, so nothing is known about it")
}

pub(crate) fn not_captured(server: &str) -> String {
    format!("{server} could not be captured, so nothing is known about it")
}

pub(crate) fn not_in_baseline(server: &str, tools: usize) -> String {
    format!(
        "{server} is not in the baseline ({})",
        counted(tools, "tool")
    )
}

pub(crate) fn matches(server: &str, tools: usize) -> String {
    format!(
        "{server} matches its baseline ({})",
        counted(tools, "component")
    )
}

pub(crate) fn all_match(servers: usize) -> String {
    format!("{servers} servers match their baselines")
}

/// What `mcp-keel pin` did.
pub(crate) fn pinned(what: &str) -> String {
    format!("pinned {what}")
}

/// The first baseline of a server.
pub(crate) fn pins_first(server: &str, tools: usize) -> String {
    format!(
        "this pull request pins {server} for the first time ({})",
        counted(tools, "tool")
    )
}

/// What merging changes in the baseline.
pub(crate) fn merging_approves(server: &str, counts: Counts) -> String {
    let effect = match counts {
        Counts { breaking: 1.., .. } => " that break callers",
        Counts { risky: 1.., .. } => " that may surprise callers",
        _ => "",
    };
    format!(
        "merging approves changes of {server}{effect} ({})",
        counts.sentence()
    )
}

/// Only findings are left to be reported.
pub(crate) fn problems(count: usize) -> String {
    format!("{} besides the tool list", counted(count, "problem"))
}

pub(crate) fn fail_now() -> &'static str {
    "These calls worked against the baseline and fail now:"
}

/// [`fail_now`], for what a pull request approves.
pub(crate) fn fail_after_merging() -> &'static str {
    "These calls work against the base branch's baseline and fail after merging:"
}

/// [`fail_now`], for two sources.
pub(crate) fn fail_with_new() -> &'static str {
    "These calls work against the old source and fail against the new one:"
}

pub(crate) fn possible_now() -> &'static str {
    "These results were not allowed before and are possible now:"
}

pub(crate) fn also_breaks() -> &'static str {
    "Also breaking:"
}

/// Rows that a table leaves out.
pub(crate) fn more_rows(count: usize, report: &str) -> String {
    format!("{count} more: see {report}.")
}

pub(crate) fn approver_reads() -> &'static str {
    "An approver has to read:"
}

pub(crate) fn more_to_read(count: usize, report: &str) -> String {
    format!("{} more to read: see {report}.", counted(count, "change"))
}

pub(crate) fn new_component(noun: &str, name: &str) -> String {
    format!("new {noun} {name}")
}

pub(crate) fn all_changes(count: usize) -> String {
    match count {
        1 => "The change in detail".to_owned(),
        many => format!("All {many} changes, by tool"),
    }
}

/// What the page leaves out; the place that has all of it is a link or a command.
pub(crate) fn left_out(count: usize, noun: &str, report: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "{} {are} not listed here: see {report}.",
        counted(count, noun)
    )
}

pub(crate) fn whole_report() -> &'static str {
    "the whole report"
}

pub(crate) fn report_of_command() -> &'static str {
    "`mcp-keel check`"
}

/// Above the list of changes.
pub(crate) fn how_to_accept_one() -> &'static str {
    "To accept one change alone: `mcp-keel accept ID --reason TEXT`, or its line under `[[accept]]` in `mcp-keel.toml`, with a `reason` and an `owner`."
}

/// What happens to the change because it was accepted.
pub(crate) fn is_accepted() -> &'static str {
    "accepted"
}

pub(crate) fn next() -> &'static str {
    "Next:"
}

pub(crate) fn fix_or_accept(command: &str) -> String {
    format!("fix the server, or accept and commit: {command}")
}

/// Its code is not in this repository.
pub(crate) fn stay_or_accept(command: &str) -> String {
    format!("stay on the version that was pinned, or accept and commit: {command}")
}

pub(crate) fn nothing_blocks(command: &str) -> String {
    format!("nothing blocks. To bring the baseline up to date, run and commit: {command}")
}

pub(crate) fn would_block(changes: usize, command: &str) -> String {
    format!(
        "{} would block under enforcement \"block\". To accept, run and commit: {command}",
        counted(changes, "change")
    )
}

pub(crate) fn pin_first(command: &str) -> String {
    format!("read the tools above, pin them and commit: {command}")
}

pub(crate) fn get_it() -> &'static str {
    "get it"
}

pub(crate) fn proposed_in(artifact: &str) -> String {
    format!("The new baseline is in {artifact}.")
}

pub(crate) fn this_artifact() -> &'static str {
    "this run's artifact"
}

/// `Version: 1.4.0 → 1.4.1, needs a major.`
pub(crate) fn version(shown: &str, needs: Option<&str>) -> String {
    match needs {
        Some(bump) => format!("Version: {shown}, needs a {bump}."),
        None => format!("Version: {shown}."),
    }
}

pub(crate) fn run(is_whole: bool) -> &'static str {
    if is_whole {
        "Run"
    } else {
        "Run and full report"
    }
}

pub(crate) fn at_commit(commit: &str) -> String {
    format!("at {commit}")
}

pub(crate) fn merging_changes_nothing() -> &'static str {
    "merging changes nothing in the baseline"
}

pub(crate) fn server_matches() -> &'static str {
    "the running server matches this baseline"
}

pub(crate) fn read_it_once() -> &'static str {
    "Merging approves what a model will be told. Read it once:"
}

pub(crate) fn not_pinned_yet() -> &'static str {
    "This is what the server lists now:"
}

/// No hints at all.
pub(crate) fn no_hints() -> &'static str {
    "none"
}

/// A hint, in a table of tools.
pub(crate) fn hint(name: &str, value: bool) -> Option<&'static str> {
    match (name, value) {
        ("readOnlyHint", true) => Some("read-only"),
        ("destructiveHint", true) => Some("destructive"),
        ("destructiveHint", false) => Some("not destructive"),
        ("idempotentHint", true) => Some("repeatable"),
        ("openWorldHint", true) => Some("reaches out"),
        ("openWorldHint", false) => Some("stays inside"),
        _ => None,
    }
}

/// How a command failed, in its own words.
pub(crate) fn of_command(command: &str, problem: &str) -> String {
    match problem.strip_prefix("the server ") {
        Some(rest) => format!("{command} {rest}"),
        None => format!("{command}: {problem}"),
    }
}

/// In the words of the action's inputs.
pub(crate) fn works_on_your_machine() -> &'static str {
    "If it works on your machine: the server sees neither your variables nor secrets. Name them with `pass-env:`; \
     `sandbox: \"off\"` shows whether the sandbox is in the way. Was it built in an earlier step?"
}

/// [`works_on_your_machine`], in the words of the command line.
pub(crate) fn works_in_your_shell() -> &'static str {
    "If it works in your shell: the server sees almost none of your variables. Name them with `--pass-env NAME`."
}

pub(crate) fn last_lines_of_stderr(lines: usize) -> String {
    match lines {
        1 => "Its stderr".to_owned(),
        many => format!("The last {many} lines of stderr"),
    }
}

pub(crate) fn leave_out_what_varies() -> &'static str {
    "Only a stable contract can be compared: fix the server, or leave out what varies:"
}

pub(crate) fn unchanged(servers: &[String]) -> String {
    let servers = servers.iter().map(String::as_str);
    format!("unchanged: {}", list(servers))
}

pub(crate) fn notes(count: usize) -> String {
    counted(count, "note")
}

pub(crate) fn other_findings() -> &'static str {
    "Notes"
}

pub(crate) fn could_not_check() -> &'static str {
    "the check could not be made"
}

pub(crate) fn no_drift(commit: &str) -> String {
    format!("no drift as of {commit}")
}
