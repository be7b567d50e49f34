//! What a report says around its changes. Names, paths and commands are passed in as the format
//! shows them.

use super::counted;
use crate::rules::Side;

pub(crate) fn sources_differ() -> String {
    "the two sources differ".to_owned()
}

pub(crate) fn one_drifted(server: &str) -> String {
    format!("{server} drifted")
}

pub(crate) fn many_drifted(drifted: usize, of: usize) -> String {
    format!("{drifted} of {of} servers drifted")
}

pub(crate) fn not_in_baseline(servers: &[String]) -> String {
    format!("not in the baseline: {}.", servers.join(", "))
}

pub(crate) fn skipped(servers: &[String]) -> String {
    format!("skipped: {}. No verdict.", servers.join(", "))
}

pub(crate) fn not_captured(servers: &[String]) -> String {
    format!("could not be captured: {}. No verdict.", servers.join(", "))
}

pub(crate) fn no_difference(components: usize) -> String {
    format!(
        "no difference ({} compared).",
        counted(components, "component")
    )
}

pub(crate) fn one_clean(server: &str, components: usize) -> String {
    format!(
        "{server} matches the baseline ({}).",
        counted(components, "component")
    )
}

pub(crate) fn many_clean(servers: usize, components: usize) -> String {
    format!(
        "{servers} servers match the baseline ({}).",
        counted(components, "component")
    )
}

/// What was pinned, what that accepts (counts by level, if any) and the files to commit.
pub(crate) fn pinned(
    servers: &[String],
    components: usize,
    accepted: &str,
    files: &[String],
) -> String {
    let what = format!(
        "{} ({})",
        servers.join(", "),
        counted(components, "component")
    );
    let accepted = match accepted {
        "" => String::new(),
        counts => format!(" This accepts: {counts}."),
    };
    match files {
        [] => format!("{what}: already up to date."),
        files => format!("{what}.{accepted} Commit {}.", files.join(", ")),
    }
}

/// The sentence before the command that accepts everything.
pub(crate) fn next_step(blocked: usize, would_block: usize) -> String {
    if blocked > 0 {
        "Fix the server, or accept the changes:".to_owned()
    } else if would_block > 0 {
        let changes = counted(would_block, "change");
        format!("{changes} would block under enforcement \"block\". To accept:")
    } else {
        "Nothing blocks, but the baseline is behind. To update it:".to_owned()
    }
}

/// Its code is not in this repository.
pub(crate) fn next_step_of_third_party(blocked: usize, would_block: usize) -> String {
    if blocked > 0 {
        "Stay on the version that was pinned, or accept the changes:".to_owned()
    } else {
        next_step(blocked, would_block)
    }
}

/// One cause is likelier than as many decisions.
pub(crate) fn most_alike(alike: usize, of: usize) -> String {
    format!(
        "{alike} of {} changed alike: a new version of the SDK or of the library that writes the schemas is the likely cause. \
         Compare the lockfile.",
        counted(of, "tool")
    )
}

pub(crate) fn alike_by_sdk(alike: usize, of: usize, sdk: &str, was: &str, is: &str) -> String {
    format!(
        "{alike} of {} changed alike. The likely cause: the lockfile moved `{sdk}` from {was} to {is}.",
        counted(of, "tool")
    )
}

/// A package that a launcher fetched.
pub(crate) fn alike_by_package(
    alike: usize,
    of: usize,
    package: &str,
    was: &str,
    is: &str,
) -> String {
    format!(
        "{alike} of {} changed alike. The likely cause: `{package}` moved from {was} to {is}.",
        counted(of, "tool")
    )
}

/// A server whose lockfile is not here.
pub(crate) fn alike_elsewhere(alike: usize, of: usize) -> String {
    format!(
        "{alike} of {} changed alike: a new version of the server's SDK is the likely cause.",
        counted(of, "tool")
    )
}

pub(crate) fn became_required() -> String {
    from_to("required", "no", "yes")
}

pub(crate) fn became_optional() -> String {
    from_to("required", "yes", "no")
}

/// `maximum: 10 → 7`
pub(crate) fn from_to(of: &str, was: &str, is: &str) -> String {
    if of.is_empty() {
        format!("{was} → {is}")
    } else {
        format!("{of}: {was} → {is}")
    }
}

pub(crate) fn moved(tool: &str, was: usize, is: usize) -> String {
    format!("{tool} moved from {} to {}", ordinal(was), ordinal(is))
}

pub(crate) fn more_listed(count: usize) -> String {
    format!("and {count} more")
}

pub(crate) fn more_moved(count: usize) -> String {
    format!("{count} more moved")
}

/// `1st`, `12th`
fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

pub(crate) fn where_ids_are() -> &'static str {
    "To accept one of them: `mcp-keel pin --only TOOL`, or `mcp-keel review`."
}

pub(crate) fn more_alike(count: usize) -> String {
    format!("and {count} more like it")
}

pub(crate) fn on_servers(servers: &[String]) -> String {
    format!(
        "on {}: {}",
        counted(servers.len(), "server"),
        servers.join(", ")
    )
}

pub(crate) fn summary_of_servers(drifted: usize, of: usize) -> String {
    format!("in {drifted} of {}", counted(of, "server"))
}

pub(crate) fn requires_bump(bump: &str) -> String {
    format!("These changes require a {bump} version bump.")
}

pub(crate) fn context_cost(was: usize, is: usize) -> String {
    let sign = if is > was { "+" } else { "-" };
    let by = is.abs_diff(was);
    if was == is {
        return format!("Context cost of the tools: ≈ {is} tokens.");
    }
    format!("Context cost of the tools: ≈ {was} → {is} tokens ({sign}{by}).")
}

/// What one tool costs; nothing where it does not exist.
pub(crate) fn context_cost_of_tool(was: Option<usize>, is: Option<usize>) -> String {
    let of = match (was, is) {
        (None, is) => is.unwrap_or_default().to_string(),
        (Some(was), is) => format!("{was} → {}", is.unwrap_or_default()),
    };
    format!("Context cost of the tool: ≈ {of} tokens.")
}

pub(crate) fn no_verdict() -> &'static str {
    "It could not be captured. No verdict."
}

pub(crate) fn no_verdict_if_skipped() -> &'static str {
    "It was skipped. No verdict."
}

pub(crate) fn last_of_stderr() -> &'static str {
    "The last lines of its stderr:"
}

/// The name for changes without a component.
pub(crate) fn server_itself() -> &'static str {
    "server"
}

pub(crate) fn values_differ() -> &'static str {
    "(old and new values differ between them; the JSON report has them all)"
}

pub(crate) fn look_alike(old: &str, new: &str) -> String {
    format!("the two look alike but differ: {old} → {new}")
}

/// What a witness shows.
pub(crate) fn witness(side: Option<Side>) -> &'static str {
    match side {
        Some(Side::Output) => "can now be returned, and the old contract forbids it",
        _ => "worked before, fails now",
    }
}

pub(crate) fn undecided() -> &'static str {
    "not decided"
}

pub(crate) fn what_to_do() -> &'static str {
    "What to do"
}

/// Both judgements, the action, and the id for accepting the change.
pub(crate) fn judgement(level: &str, exposure: &str, id: &str, happens: &str) -> String {
    format!("Level {level}, exposure {exposure}; change {id} {happens}.")
}

/// The rule and the id of a change, for accepting it.
pub(crate) fn id(rule: &str, id: &str) -> String {
    format!("{rule}, change = \"{id}\"")
}

pub(crate) fn declared_here(component: &str) -> String {
    format!("{component} is declared here.")
}

pub(crate) fn against_baseline(component: &str, changes: usize) -> String {
    format!(
        "{component}: {} against the baseline",
        counted(changes, "change")
    )
}

pub(crate) fn against_base_branch(message: &str) -> String {
    format!("against the base branch: {message}")
}

pub(crate) fn unchanged_components(count: usize) -> String {
    format!("unchanged components: {count}")
}

pub(crate) fn could_not_be_captured(server: &str) -> String {
    format!("{server} could not be captured")
}

pub(crate) fn was_skipped(server: &str) -> String {
    format!("{server} was skipped")
}

pub(crate) fn not_all_annotated() -> String {
    "mcp-keel: not everything is shown".to_owned()
}

/// What a log cannot annotate, in total and by level.
pub(crate) fn more_than_annotated(
    all: usize,
    errors: usize,
    warnings: usize,
    notices: usize,
) -> String {
    format!(
        "{all} more than a log can annotate: {errors} errors, {warnings} warnings, {notices} notices. The job summary and \
         `mcp-keel check` have all of them."
    )
}

pub(crate) fn no_part_has_it() -> String {
    "missing from every part of the run".to_owned()
}

pub(crate) fn part_missing(absent: &[String]) -> String {
    format!(
        "the report of its part of the run is missing ({} not merged)",
        absent.join(", ")
    )
}

pub(crate) fn run_part_again() -> String {
    "look at the job of that part and run it again; every part needs the same plan and --timings"
        .to_owned()
}

/// What a change that is only audited does.
pub(crate) fn does_not_fail() -> &'static str {
    "does not fail"
}

/// In what two parts of a run differ that belong to different runs.
pub(crate) enum Differs {
    Parts,
    Servers,
    Terms,
    Findings,
}

pub(crate) fn part_differs(differs: Differs) -> &'static str {
    match differs {
        Differs::Parts => "the number of parts",
        Differs::Servers => "the list of servers",
        Differs::Terms => "the baseline, the policy or the version of mcp-keel",
        Differs::Findings => "the findings about the whole run",
    }
}

/// Who accepted a change, until when, and why.
pub(crate) fn accepted(owner: &str, until: Option<&str>, reason: &str) -> String {
    let until = until.map_or_else(String::new, |it| format!(" until {it}"));
    format!("accepted by {owner}{until}: {reason}")
}

/// Who rejected a change, and why.
pub(crate) fn rejected(owner: Option<&str>, reason: &str) -> String {
    let owner = owner.map_or_else(String::new, |it| format!(" by {it}"));
    format!("rejected{owner}: {reason}")
}
