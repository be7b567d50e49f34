//! What is noticed in one surface, besides its schemas and texts.

pub(crate) fn list_member_not_observed(method: &str, name: &str) -> String {
    format!(
        "the result of `{method}` has the member `{name}`, which no protocol revision defines: it is compared, but not judged"
    )
}

pub(crate) fn member_not_observed(name: &str) -> String {
    format!(
        "the server's first answer has the member `{name}`, which no protocol revision defines: it is compared, but not judged"
    )
}

pub(crate) fn capability_not_observed(name: &str) -> String {
    format!("capability `{name}`: not observed, no protocol revision defines it")
}

pub(crate) fn experimental_not_observed(name: &str) -> String {
    format!("experimental capability `{name}`: not observed, only its declaration is compared")
}

pub(crate) fn extension_not_observed(name: &str) -> String {
    format!("extension `{name}`: not observed, only its declaration is compared")
}

pub(crate) fn more_not_observed(more: usize) -> String {
    format!("{more} more declarations: not observed")
}

/// Since when a feature is deprecated, and when it may be gone.
fn deprecated(feature: &str, since: &str, removal: &str, instead: &str) -> String {
    format!("{feature}: deprecated since {since}, may be removed {removal}; {instead}")
}

/// When features that 2026-07-28 deprecates may be removed.
const A_YEAR_LATER: &str = "by the first revision released on or after 2027-07-28";

pub(crate) fn deprecated_logging() -> String {
    let instead = "log to stderr, or use OpenTelemetry";
    deprecated("capability `logging`", "2026-07-28", A_YEAR_LATER, instead)
}

pub(crate) fn deprecated_roots() -> String {
    let instead = "take folders as parameters, resource URIs or configuration";
    deprecated(
        "the server asks for `roots/list`",
        "2026-07-28",
        A_YEAR_LATER,
        instead,
    )
}

pub(crate) fn deprecated_sampling() -> String {
    let instead = "call the model provider's API";
    let feature = "the server asks for `sampling/createMessage`";
    deprecated(feature, "2026-07-28", A_YEAR_LATER, instead)
}

pub(crate) fn published_not_answered(name: &str) -> String {
    format!("the server failed to answer the request for `{name}`: it is not compared")
}

pub(crate) fn deprecated_sse() -> String {
    let removal = "three months after SEP-2596 becomes final";
    deprecated(
        "HTTP+SSE transport",
        "2025-03-26",
        removal,
        "serve Streamable HTTP",
    )
}

pub(crate) fn deprecated_flat_uri() -> String {
    let removal = "before MCP Apps is generally available";
    deprecated(
        "`_meta[\"ui/resourceUri\"]`",
        "2026-01-26",
        removal,
        "use `_meta.ui.resourceUri`",
    )
}

pub(crate) fn icon_refused(src: &str, scheme_is_unsafe: bool) -> String {
    let shown: String = src.chars().take(80).collect();
    if scheme_is_unsafe {
        format!(
            "clients must reject the icon `{shown}`: its scheme is neither `https:` nor `data:`"
        )
    } else {
        format!("clients must reject the icon `{shown}`: `http:` is not `https:`")
    }
}

pub(crate) fn header_misplaced() -> String {
    "it is not on a property reached through `properties` only".to_owned()
}

pub(crate) fn header_not_a_string(kind: &str) -> String {
    format!("it is {kind}, not a string")
}

pub(crate) fn header_name_invalid(name: &str) -> String {
    format!("`{name}` is not a valid header name")
}

pub(crate) fn header_of_type(kind: &str) -> String {
    format!("the parameter's type is `{kind}`, not string, integer or boolean")
}

pub(crate) fn header_without_type() -> String {
    "the parameter has no single type".to_owned()
}

pub(crate) fn header_taken(name: &str) -> String {
    format!("another parameter already uses the header `{name}`")
}
