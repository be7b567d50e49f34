//! What changed in the content of a resource, which is only known by its digest.

use std::collections::BTreeSet;

use super::component::Member;
use super::{Change, quoted_list};
use crate::canonical::Json;
use crate::rules::RuleId;

/// What a content is about.
pub(super) enum Subject {
    /// A document of an app, or a file of a skill.
    Document,
    /// The scopes of the server's authorization.
    Scopes,
    /// The server's card.
    Card,
}

pub(super) fn subject(content: &Json) -> Subject {
    if content.get("scopes").is_some() {
        Subject::Scopes
    } else if content.get("uri").and_then(Json::as_str) == Some("/server-card") {
        Subject::Card
    } else {
        Subject::Document
    }
}

/// One member that differs.
pub(super) fn member(member: &Member<'_>, changes: &mut Vec<Change>) {
    match member.name {
        "digest" => {
            let message = "content changed (digest differs)".to_owned();
            let change = Change::new(RuleId::ContentChanged, "/digest", message);
            changes.push(change.values(member.old, member.new));
        }
        "scopes" => scopes(member, changes),
        "mimeType" => member.whole(changes, RuleId::ContentMimeTypeChanged),
        // Only a card has these.
        "name" | "version" | "title" | "supportedProtocolVersions" => {
            member.whole(changes, RuleId::ServerCardChanged);
        }
        // It follows the digest; whether it can be read at all is reported separately.
        _ => member.whole(changes, RuleId::ContentDetailChanged),
    }
}

/// The scopes of the server's authorization.
fn scopes(member: &Member<'_>, changes: &mut Vec<Change>) {
    let read = |scopes: Option<&Json>| -> BTreeSet<String> {
        let scopes = scopes.and_then(Json::as_array).unwrap_or_default().iter();
        scopes.filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let (was, is) = (read(member.old), read(member.new));
    for (rule, what, scopes) in [
        (RuleId::ScopeAdded, "new", is.difference(&was)),
        (RuleId::ScopeRemoved, "removed", was.difference(&is)),
    ] {
        let scopes: Vec<&str> = scopes.map(String::as_str).collect();
        if !scopes.is_empty() {
            let noun = if scopes.len() == 1 { "scope" } else { "scopes" };
            let message = format!("{what} {noun} {}", quoted_list(&scopes));
            changes.push(Change::new(rule, "/scopes", message).values(member.old, member.new));
        }
    }
}
