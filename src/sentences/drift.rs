//! What changed between two surfaces, beside their schemas.

use super::{counted, happened};

pub(crate) fn added(noun: &str, description: Option<&str>) -> String {
    match description {
        Some(text) if !text.is_empty() => format!("new {noun}: {text}"),
        _ => format!("new {noun}"),
    }
}

pub(crate) fn removed(noun: &str) -> String {
    format!("{noun} removed")
}

pub(crate) fn renamed(was: &str, is: &str, similarity: f64) -> String {
    let alike = similarity * 100.0;
    format!("`{was}` is now called `{is}` ({alike:.0}% alike)")
}

pub(crate) fn own_version_changed(was: &str, is: &str) -> String {
    let said = |version: &str| match version {
        "" => "none".to_owned(),
        version => version.to_owned(),
    };
    format!("the tool's own version: {} → {}", said(was), said(is))
}

pub(crate) fn respelled() -> String {
    "same meaning, written differently: order of members or spelling of a number".to_owned()
}

pub(crate) fn unexplained() -> String {
    "changed in a way that no rule describes".to_owned()
}

/// `` `title` changed ``
pub(crate) fn member<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    format!("`{name}` {}", happened(old, new))
}

/// `description changed`
pub(crate) fn text<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    match (old.is_some(), new.is_some()) {
        (false, _) => format!("{name} added"),
        (_, false) => format!("{name} removed"),
        _ => format!("{name} changed"),
    }
}

pub(crate) fn hidden_from_http(problem: &str) -> String {
    format!("clients over HTTP now drop the tool: {problem}")
}

/// A hint whose effect did not change, or that has an effect on one side only.
pub(crate) fn hint_stated(hint: &str, was: Option<bool>, is: Option<bool>) -> String {
    match (was, is) {
        (None, Some(_)) => format!("`{hint}` now applies: the tool is no longer read-only"),
        (Some(_), None) => format!("`{hint}` no longer applies: the tool is now read-only"),
        _ => format!("`{hint}` is stated differently and means the same"),
    }
}

pub(crate) fn hint_changed(hint: &str, is: bool) -> String {
    match (hint, is) {
        ("readOnlyHint", true) => "now declares that it only reads (`readOnlyHint: true`)",
        ("readOnlyHint", false) => "no longer declares that it only reads (`readOnlyHint`)",
        ("destructiveHint", true) => "may now be destructive (`destructiveHint`)",
        ("destructiveHint", false) => "now declares `destructiveHint: false`",
        ("idempotentHint", true) => {
            "now declares that calls can be repeated (`idempotentHint: true`)"
        }
        ("idempotentHint", false) => "calls can no longer be repeated safely (`idempotentHint`)",
        ("openWorldHint", true) => "may now reach external systems (`openWorldHint`)",
        _ => "now declares `openWorldHint: false`",
    }
    .to_owned()
}

pub(crate) fn annotation_changed(name: &str) -> String {
    format!("annotation `{name}` changed")
}

pub(crate) fn schema_added(member: &str) -> String {
    format!("`{member}` added")
}

pub(crate) fn schema_removed(member: &str) -> String {
    format!("`{member}` removed")
}

pub(crate) fn provider_refuses(reasons: &str) -> String {
    format!("no longer accepted by {reasons}")
}

pub(crate) fn provider_accepts(providers: &str) -> String {
    format!("now accepted by {providers}")
}

pub(crate) fn argument_removed(name: &str) -> String {
    format!("argument `{name}` removed")
}

pub(crate) fn argument_added(name: &str, required: bool) -> String {
    let kind = if required { "required" } else { "optional" };
    format!("new {kind} argument `{name}`")
}

pub(crate) fn argument_became(name: &str, required: bool) -> String {
    let kind = if required { "required" } else { "optional" };
    format!("argument `{name}` became {kind}")
}

pub(crate) fn argument_changed(name: &str, what: &str) -> String {
    format!("argument `{name}`: `{what}` changed")
}

pub(crate) fn arguments_reordered() -> String {
    "the arguments are listed in another order".to_owned()
}

pub(crate) fn no_arguments_spelled_out() -> String {
    "an empty list of arguments was added or removed".to_owned()
}

pub(crate) fn protocol_revision(was: &str, is: &str) -> String {
    format!("protocol revision: {was} → {is}")
}

pub(crate) fn client_changed() -> String {
    "the two surfaces were captured as different clients".to_owned()
}

pub(crate) fn instructions<T>(old: Option<T>, new: Option<T>) -> String {
    match (old.is_some(), new.is_some()) {
        (false, _) => "the server now gives instructions to the model",
        (_, false) => "the server no longer gives instructions to the model",
        _ => "the server's instructions to the model changed",
    }
    .to_owned()
}

pub(crate) fn server_respelled() -> String {
    "`serverInfo` or `capabilities` is written differently and means the same".to_owned()
}

pub(crate) fn server_name_changed() -> String {
    "the server's name changed".to_owned()
}

pub(crate) fn server_version_changed() -> String {
    "the server's version changed".to_owned()
}

pub(crate) fn server_info_changed(member: &str) -> String {
    format!("`serverInfo.{member}` changed")
}

pub(crate) fn capability<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    format!("capability `{name}` {}", happened(old, new))
}

/// A server that lists nothing any more, or no tool.
pub(crate) fn surface_emptied(everything: bool, gone: usize) -> String {
    let what = if everything { "nothing" } else { "no tools" };
    format!("the server now lists {what} ({gone} before); often a credential is missing")
}

pub(crate) fn tools_reordered() -> String {
    "the tools are listed in another order".to_owned()
}

pub(crate) fn server_not_pinned(components: usize) -> String {
    let listed = counted(components, "component");
    format!("the baseline has no entry for this server ({listed})")
}

pub(crate) fn server_removed(components: usize) -> String {
    let listed = counted(components, "component");
    format!("the server was removed, with {listed}")
}
