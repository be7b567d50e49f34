//! What known clients reject although the protocol allows it, together with the whole list or the
//! whole request.
//!
//! One entry per rejection, each with its source. A rejection that costs one tool of a strict mode
//! is covered by `provider`; those here cost users every tool.

use super::dotted;
use super::ecmascript;
use crate::canonical::{Json, pointer};
use crate::schema::dialect::{self, Dialect};
use crate::schema::shortened;

/// A rejection: the first place in a tool that causes it, and the sentence about it.
type Refusal = fn(&Json) -> Option<(String, String)>;

pub(super) const REFUSALS: &[Refusal] = &[
    // claude-code#4886, #95504: HTTP 400 for the whole request; later versions drop the tool.
    |tool| {
        let schema = tool.get("inputSchema")?;
        let keyword = ["oneOf", "anyOf", "allOf"]
            .into_iter()
            .find(|keyword| schema.get(keyword).is_some())?;
        let pointer = format!("/inputSchema/{keyword}");
        let message = format!(
            "`{keyword}` at the root of `inputSchema`: Anthropic's API refuses it, and Claude Code leaves the \
             tool out"
        );
        Some((pointer, message))
    },
    // Kuadrant/mcp-gateway#662: "It must match JSON Schema draft 2020-12".
    |tool| {
        let schema = tool.get("inputSchema")?;
        let at = dialect::invalid(schema, Dialect::Y2020)?;
        if dialect::invalid(schema, Dialect::DeclaredOrGuessed).is_some() {
            return None;
        }
        let pointer = format!("/inputSchema{}", at.pointer);
        let message = format!(
            "`{}` is not valid in JSON Schema 2020-12, the only dialect of Anthropic's API: it refuses the \
             request, with every tool in it",
            dotted(&pointer)
        );
        Some((pointer, message))
    },
    // "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
    |tool| {
        let properties = tool.get("inputSchema")?.get("properties")?.as_object()?;
        let is_name = |name: &str| {
            (1..=64).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        };
        let mut names = properties.iter().map(|(name, _)| name.to_string_lossy());
        let name = names.find(|name| !is_name(name))?;
        let pointer = pointer::join("/inputSchema/properties", name);
        let message = format!(
            "parameter `{}`: Anthropic's API allows only names of 1 to 64 of A-Z a-z 0-9 _ . -, and rejects \
             the whole request",
            shortened(name)
        );
        Some((pointer, message))
    },
    // typescript-sdk#1175, google-labs-code/stitch-sdk#367: `listTools` of the official client
    // compiles every `outputSchema`, and fails as a whole.
    |tool| {
        let (at, to) = dangling(tool, "outputSchema")?;
        let message = format!(
            "`{}` leads to `{}`, which the schema does not have: clients with the TypeScript SDK (Claude Code, \
             Cursor) list no tool of the server",
            dotted(&at),
            shortened(&to)
        );
        Some((at, message))
    },
    // open-webui/computer#87: models' APIs reject the request.
    |tool| {
        let (at, to) = dangling(tool, "inputSchema")?;
        let message = format!(
            "`{}` leads to `{}`, which the schema does not have: models' APIs reject the whole request",
            dotted(&at),
            shortened(&to)
        );
        Some((at, message))
    },
    // typescript-sdk, `declaredDialect` since 2.0: "declares an unsupported dialect".
    |tool| {
        let dialect = dialect::declared(tool.get("outputSchema")?)?;
        let pointer = "/outputSchema/$schema".to_owned();
        (dialect == "draft-04").then(|| {
            (
                pointer,
                format!(
                    "`outputSchema` declares {dialect}: clients with the TypeScript SDK 2 refuse every call of \
                     the tool"
                ),
            )
        })
    },
    // anomalyco/opencode#35624: the same for a `pattern` that JavaScript does not compile.
    |tool| {
        let patterns = dialect::patterns(tool.get("outputSchema")?);
        let mut patterns = patterns.into_iter();
        let (at, pattern) = patterns.find(|(_, pattern)| !ecmascript::compiles(pattern))?;
        let pointer = format!("/outputSchema{at}");
        let message = format!(
            "`{}` is not a regular expression of JavaScript (`{}`): clients with the TypeScript SDK list no \
             tool of the server",
            dotted(&pointer),
            shortened(pattern)
        );
        Some((pointer, message))
    },
];

/// A dialect of `outputSchema` that some versions of Claude Code refuse, and the current SDK does not
/// (claude-code#86142, #90549; typescript-sdk#2534). A dialect of `inputSchema` is ignored
/// (typescript-sdk#2721).
pub(super) fn old_output_dialect(tool: &Json) -> Option<(String, &'static str)> {
    let dialect = dialect::declared(tool.get("outputSchema")?)?;
    let is_refused_by_some = matches!(dialect, "draft-06" | "draft-07" | "2019-09");
    is_refused_by_some.then(|| ("/outputSchema/$schema".to_owned(), dialect))
}

/// The first reference of a schema that leads nowhere.
fn dangling(tool: &Json, member: &str) -> Option<(String, String)> {
    let found = dialect::unresolved_references(tool.get(member)?);
    let (at, to) = found.into_iter().next()?;
    Some((format!("/{member}{at}"), to))
}
