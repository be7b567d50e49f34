//! Changes as a list: one or two lines each, or JSON.

use std::fmt::Write as _;

use super::{Located, change_text, escape};
use crate::canonical::Json;
use crate::policy::Decision;

/// Changes by server, for people; with what was decided about them, if asked.
pub fn list<'a>(
    changes: impl IntoIterator<Item = (&'a str, &'a Located)>,
    with_decisions: bool,
) -> String {
    let mut out = String::new();
    let mut of = None;
    for (server, located) in changes {
        if of != Some(server) {
            let _ = writeln!(out, "\n{}", escape::line(server));
            of = Some(server);
        }
        let judged = &located.judged;
        let _ = writeln!(
            out,
            "  {}  {:<9} {}  {}",
            judged.id,
            judged.change.level,
            judged.change.rule,
            escape::short(change_text::component(located), 120)
        );
        let indent = " ".repeat(16);
        let _ = writeln!(out, "{indent}{}", change_text::sentence(located));
        if with_decisions && let Some(decision) = change_text::decision(located) {
            let _ = writeln!(out, "{indent}{decision}");
        }
    }
    out
}

/// Changes for programs, with servers whose changes are not known.
pub fn document<'a>(
    changes: impl IntoIterator<Item = (&'a str, &'a Located)>,
    unknown: &[(&str, &str)],
) -> Json {
    let change = |(server, located): (&str, &Located)| {
        let judged = &located.judged;
        let change = &judged.change;
        let mut members = vec![
            ("id", Json::string(judged.id.as_str())),
            ("server", Json::string(server)),
            ("component", Json::string(change_text::component(located))),
            ("rule", Json::string(change.rule.id())),
            ("pointer", Json::string(change.pointer.as_str())),
            ("level", Json::string(change.level.word())),
            ("exposure", Json::string(change.exposure.word())),
            ("action", Json::string(judged.action.word())),
            ("message", Json::string(change.message.as_str())),
        ];
        if let Some(Decision::Rejected { reason, .. }) = &judged.decision {
            members.push(("rejected", Json::string(reason.as_str())));
        }
        Json::object(members)
    };
    let failed = |(server, problem): &(&str, &str)| {
        Json::object([
            ("server", Json::string(*server)),
            ("error", Json::string(*problem)),
        ])
    };
    Json::object([
        (
            "pending",
            Json::Array(changes.into_iter().map(change).collect()),
        ),
        (
            "undetermined",
            Json::Array(unknown.iter().map(failed).collect()),
        ),
    ])
}
