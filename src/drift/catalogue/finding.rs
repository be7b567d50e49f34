//! Findings: noticed in one surface, in the run or in the policy. They are no drift.

use super::{Example, Rule, Subject, rule};
use crate::judgement::{Exposure, Level};

const fn elsewhere(
    id: &'static str,
    summary: &'static str,
    rationale: &'static str,
    advice: &'static str,
    example: &'static str,
) -> Rule {
    Rule {
        id,
        subject: Subject::Finding,
        summary,
        level: Level::Cosmetic,
        exposure: Exposure::None,
        rationale,
        advice,
        example: Example::Elsewhere(example),
    }
}

pub(super) const RULES: &[Rule] = &[
    rule!(Finding "component-repeated", Risky, Medium,
        "two components have the same key",
        "Clients keep one of the two, and which one differs between clients. The second is compared under its key \
         with `#2` behind it, so that neither hides the other.",
        "Give each tool a name of its own."),
    rule!(Finding "component-malformed", Risky, None,
        "a listed component has no name",
        "A tool or prompt without a `name`, a resource without a `uri`: clients drop it or refuse the whole list.",
        "Fix the server: the protocol demands the member."),
    rule!(Finding "member-repeated", Risky, Medium,
        "a JSON object names a member more than once",
        "Parsers keep the last one, most without a word; a reviewer who reads the raw text sees the first. Two \
         readers of one definition can so see two different things.",
        "Fix the server's serialiser. Until then the definition is compared as sent, both members included."),
    elsewhere(
        "stdout-noise",
        "the server prints lines on stdout that are not JSON-RPC",
        "On stdio the protocol reserves stdout for messages. mcp-keel skips such lines; stricter clients drop the \
         connection.",
        "Send logs and banners to stderr.",
        "a server that prints `Server started` on stdout before its first answer",
    ),
    elsewhere(
        "acceptance-unused",
        "an acceptance in mcp-keel.toml matches no change",
        "The change was pinned, reverted or has become another change. An acceptance that is left behind would \
         silently accept the same change when it comes back.",
        "Remove the `[[accept]]` entry.",
        "[[accept]] change = \"9f2c01ab77de\" although no change has this id",
    ),
    elsewhere(
        "acceptance-expired",
        "an acceptance in mcp-keel.toml has expired",
        "Whoever accepted the change said until when. It counts as not accepted from the day after.",
        "Pin the change, fix it, or accept it again with a new date and a reason.",
        "[[accept]] ... expires = 2024-01-31",
    ),
    elsewhere(
        "server-not-checked",
        "the baseline holds a server that was not checked",
        "The baseline has an entry for which the configuration has no server, so its contract is watched by nobody.",
        "Add the server to mcp-keel.toml, or remove its entry from the baseline.",
        "a baseline with the servers `a` and `b`, and a mcp-keel.toml with `[server.a]` only",
    ),
    elsewhere(
        "version-not-bumped",
        "the version does not say what the drift does",
        "With `require-version-bump = true` a breaking change needs a new major version, anything that adds or may \
         change behaviour a new minor one, the rest a new patch. Below 1.0.0 a minor step may break and a patch step \
         may add.",
        "Raise the server's version, or take the change back.",
        "a tool removed between versions 1.4.0 and 1.4.1",
    ),
];
