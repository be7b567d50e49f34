//! `[[server.NAME.mask]]`: text to ignore in what a server lists.

use regex::Regex;

use super::ConfigError;
use super::node::Node;
use crate::stability::mask::{Mask, SERVER, is_text};

/// One mask. A mask that covers more than text is rejected, here if the pointer shows it, else by
/// [`is_text`] once the server is captured.
pub(super) fn read(node: &Node<'_>) -> Result<Mask, ConfigError> {
    node.only(&["component", "pointer", "pattern", "reason"])?;
    let component = node
        .require(
            "component",
            "the key of a component such as \"tool:get_time@\", \"server\", or a pattern of keys with `*`",
        )?
        .string()?
        .to_owned();
    let pattern =
        match node.get("pattern") {
            Some(found) => Some(Regex::new(found.string()?).map_err(|error| {
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default();
                let why = why.strip_prefix("error: ").unwrap_or(why);
                found
                .error(&format!("`pattern` is not a valid regular expression: {why}"))
                .expecting(
                    "the syntax of the Rust crate `regex`, without look-around and backreferences",
                )
            })?),
            None => None,
        };
    let pointer = match node.get("pointer") {
        Some(found) => {
            let pointer = found.string()?;
            if !pointer.starts_with('/') {
                return Err(found
                    .error(&format!("`{pointer}` is not a valid JSON pointer"))
                    .expecting("a pointer to a text, such as \"/description\""));
            }
            let of_server = component == SERVER;
            if !is_text((!of_server).then_some(component.as_str()), pointer) {
                return Err(found
                    .error(&format!("a mask may only cover text, and `{pointer}` covers more"))
                    .expecting(if of_server { "\"/instructions\" or a text of \"/serverInfo\"" } else { "a description, a title, a default or another text that callers need not obey" }));
            }
            Some(pointer.to_owned())
        }
        None => None,
    };
    if pointer.is_none() && pattern.is_none() {
        return Err(node
            .error("a mask without `pointer` and `pattern` would cover everything")
            .expecting("at least one of them"));
    }
    let reason = node.require("reason", "why the text is ignored")?;
    if reason.string()?.trim().is_empty() {
        return Err(reason
            .error("`reason` is empty")
            .expecting("why the text is ignored"));
    }
    Ok(Mask {
        component,
        pointer,
        pattern,
        reason: reason.string()?.to_owned(),
        line: node.line(),
    })
}
