//! What is said around the rules: their list, their pages, and the table of what happens because of them.

pub(crate) use super::report::what_to_do;
use crate::judgement::{Exposure, Level};
use crate::rules::DefaultAction;

pub(crate) fn columns() -> &'static str {
    "The columns are the usual level (what it does to callers) and exposure (what it means to the people who approved the server). `mcp-keel explain RULE` has the details."
}

pub(crate) fn why_it_matters() -> &'static str {
    "Why it matters"
}

pub(crate) fn in_configuration() -> &'static str {
    "In mcp-keel.toml"
}

pub(crate) fn introduction() -> &'static str {
    "Every difference has a rule. `mcp-keel rules --format markdown` prints this page; [policy.md](policy.md) explains levels, exposure and findings."
}

pub(crate) fn without_entry() -> &'static str {
    "without an entry in `[policy.rules]`"
}

pub(crate) fn default_action(action: DefaultAction) -> &'static str {
    match action {
        DefaultAction::Unknown => "as `unknown`; without `unknown`, as `enforcement`",
        DefaultAction::Enforcement => "as `enforcement`",
        DefaultAction::RequiredBump => "as `enforcement` with `require-version-bump`, else `audit`",
        DefaultAction::Undetermined => "the server is `undetermined`, whatever the enforcement",
        DefaultAction::Warn => "`warn`; `audit` under `enforcement = \"audit\"`",
        DefaultAction::Audit => "`audit`",
    }
}

pub(crate) fn every_other_change() -> &'static str {
    "every other change that [blocks](#what-blocks)"
}

pub(crate) fn blocks_breaking() -> &'static str {
    "`breaking`: a call or a use that worked fails now"
}

pub(crate) fn blocks_risky() -> &'static str {
    "`risky`: a caller may behave differently, such as after a new description"
}

pub(crate) fn blocks_exposure() -> &'static str {
    "exposure `medium` or `high`, whatever the level: an approver has to read it"
}

pub(crate) fn blocks_added() -> &'static str {
    "a tool, prompt, resource or template that appears"
}

pub(crate) fn blocks_removed() -> &'static str {
    "a tool, prompt, resource or template that disappears"
}

pub(crate) fn blocks_additive() -> &'static str {
    "`additive` of lower exposure, such as a new optional parameter"
}

pub(crate) fn blocks_cosmetic() -> &'static str {
    "`cosmetic`: the server's own version, the order of tools, spelling, titles"
}

pub(crate) fn every_other_finding() -> &'static str {
    "every other finding"
}

pub(crate) fn usual_judgement(level: Level, exposure: Exposure) -> String {
    format!("Usual level: {level}. Usual exposure: {exposure}.")
}

pub(crate) fn finding(action: DefaultAction) -> String {
    let by_default = match action {
        DefaultAction::Undetermined => "by default the server is undetermined (exit 3)",
        DefaultAction::Warn => "by default a warning",
        DefaultAction::RequiredBump => "fails only with `require-version-bump`",
        DefaultAction::Audit | DefaultAction::Enforcement | DefaultAction::Unknown => {
            "never fails the check unless set in `[policy.rules]`"
        }
    };
    format!("A finding, reported next to the drift: {by_default}.")
}

pub(crate) fn setting(rule: &str) -> String {
    format!("[policy.rules]\n{rule} = \"warn\"    # audit, warn, block, or a level\n")
}
