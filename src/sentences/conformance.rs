//! What clients object to in a list.

use super::counted;
use super::schema::cut;

/// `/inputSchema/type` as people write it: `inputSchema.type`.
fn place(at: &str) -> String {
    at.trim_start_matches('/')
        .replace('/', ".")
        .replace("~1", "/")
        .replace("~0", "~")
}

/// A member that is missing or violates the protocol's schema; `found` is its type.
pub(crate) fn mismatch(at: &str, expected: &str, found: Option<&str>) -> String {
    let place = match at {
        "" => "the component".to_owned(),
        at => format!("`{}`", place(at)),
    };
    match found {
        None => format!("{place} is missing (must be {expected})"),
        Some(_) if expected.starts_with(['"', '`']) => format!("{place} must be {expected}"),
        Some(found) => format!("{place} must be {expected}, and is {found}"),
    }
}

/// What clients do that validate a list as a whole.
pub(crate) fn whole_list_refused(noun: &str, listed: usize) -> String {
    match listed {
        1 => "clients that validate refuse the list".to_owned(),
        listed => format!(
            "clients that validate refuse the whole list ({})",
            counted(listed, noun)
        ),
    }
}

/// A cache hint of a list that violates the protocol's schema.
pub(crate) fn hint_invalid(method: &str, hint: &str) -> String {
    let expected = if hint == "ttlMs" {
        "an integer of at least 0"
    } else {
        "\"public\" or \"private\""
    };
    format!("`{hint}` of `{method}` must be {expected}: clients that validate refuse the list")
}

/// What clients do with an entry that they must not load, while the rest of its list stays.
pub(crate) fn entry_refused(noun: &str) -> String {
    format!("clients must not load the {noun}")
}

pub(crate) fn not_a_schema(at: &str, dialect: &str) -> String {
    format!(
        "not valid JSON Schema ({dialect}) at `{}`: models' APIs reject the whole request",
        place(at)
    )
}

pub(crate) fn unknown_dialect(at: &str, address: &str) -> String {
    format!(
        "`{}` is `{}`, not a known dialect of JSON Schema: clients must refuse the schema",
        place(at),
        cut(address)
    )
}

/// A dialect that some versions of a client refuse.
pub(crate) fn old_output_dialect(dialect: &str) -> String {
    format!("`outputSchema` declares {dialect}: {ONLY_2020_12}")
}

pub(crate) fn old_output_dialects(tools: usize) -> String {
    let tools = counted(tools, "tool");
    format!("{tools} declare a dialect before 2020-12 in `outputSchema`: {ONLY_2020_12}")
}

const ONLY_2020_12: &str =
    "versions of Claude Code that accept only 2020-12 there refuse every call";

pub(crate) fn refused_output_dialect(dialect: &str) -> String {
    format!(
        "`outputSchema` declares {dialect}: clients with the TypeScript SDK 2 refuse every call of the tool"
    )
}

pub(crate) fn external_reference(at: &str, to: &str) -> String {
    format!(
        "`{}` leads to `{to}`, outside the schema: clients must not fetch it and should reject the schema",
        place(at)
    )
}

pub(crate) fn too_large(member: &str, schemas: usize, deepest: usize) -> String {
    format!(
        "`{member}` has {}, nested up to {deepest} deep: clients that bound validation reject it",
        counted(schemas, "schema")
    )
}

pub(crate) fn name_empty() -> String {
    "the name is empty (allowed: 1 to 128 of A-Z a-z 0-9 _ . -)".to_owned()
}

pub(crate) fn name_character(character: char) -> String {
    let shown = if character.is_ascii_graphic() {
        format!("`{character}`")
    } else {
        format!("U+{:04X}", u32::from(character))
    };
    format!("the name contains {shown} (allowed: A-Z a-z 0-9 _ . -)")
}

pub(crate) fn name_long(length: usize, most: usize) -> String {
    format!("the name has {length} characters (allowed: {most})")
}

pub(crate) fn prefixed_name_long(full: &str, length: usize, most: usize) -> String {
    format!("`{full}`, as clients call it, has {length} characters; models' APIs allow {most}")
}

pub(crate) fn name_taken(name: &str) -> String {
    format!(
        "another tool is also called `{}`: Anthropic's API refuses the request, with every tool in it",
        cut(name)
    )
}

pub(crate) fn root_combination(keyword: &str) -> String {
    format!(
        "`{keyword}` at the root of `inputSchema`: Anthropic's API refuses it, and Claude Code leaves the tool out"
    )
}

pub(crate) fn only_2020_12(at: &str) -> String {
    format!(
        "`{}` is not valid in JSON Schema 2020-12, the only dialect of Anthropic's API: it refuses the request, with \
         every tool in it",
        place(at)
    )
}

pub(crate) fn property_name(name: &str) -> String {
    format!(
        "parameter `{}`: Anthropic's API allows only names of 1 to 64 of A-Z a-z 0-9 _ . -, and rejects the whole \
         request",
        cut(name)
    )
}

pub(crate) fn dangling_output(at: &str, to: &str) -> String {
    format!(
        "`{}` leads to `{}`, which the schema does not have: clients with the TypeScript SDK (Claude Code, Cursor) \
         list no tool of the server",
        place(at),
        cut(to)
    )
}

pub(crate) fn dangling_input(at: &str, to: &str) -> String {
    format!(
        "`{}` leads to `{}`, which the schema does not have: models' APIs reject the whole request",
        place(at),
        cut(to)
    )
}

pub(crate) fn pattern_not_ecmascript(at: &str, pattern: &str) -> String {
    format!(
        "`{}` is not a regular expression of JavaScript (`{}`): clients with the TypeScript SDK list no tool of the \
         server",
        place(at),
        cut(pattern)
    )
}

/// Adds to a violation that there are more of its kind.
pub(crate) fn and_others(message: &mut String, others: usize) {
    if others > 0 {
        message.push_str(&format!("; and at {}", counted(others, "more place")));
    }
}

pub(crate) fn skill_without_file() -> String {
    "`uri` must end in `/SKILL.md`".to_owned()
}

pub(crate) fn skill_name(folder: &str) -> String {
    format!("`frontmatter.name` must be the last part of `{folder}`")
}

pub(crate) fn skill_file_outside() -> String {
    "a file is outside the folder of `SKILL.md`".to_owned()
}

pub(crate) fn skill_file_repeated() -> String {
    "a file is listed twice".to_owned()
}

pub(crate) fn skill_file_missing() -> String {
    "`resources` does not list `SKILL.md` itself".to_owned()
}

pub(crate) fn skill_too_large(files: usize, bytes: f64) -> String {
    format!(
        "{} with {bytes} bytes; clients need not load more than 512 files or 16777216 bytes",
        counted(files, "file")
    )
}

pub(crate) fn unreadable(code: &str) -> String {
    format!("it cannot be read (error {code}), but clients are pointed to it")
}

pub(crate) fn app_scheme(uri: &str) -> String {
    format!("`_meta.ui.resourceUri` must start with `ui://`, and is `{uri}`: hosts show nothing")
}

pub(crate) fn app_without_resources(uri: &str) -> String {
    format!("the server declares no `resources`, so hosts cannot read `{uri}` and show nothing")
}

pub(crate) fn app_no_longer_listed(uri: &str) -> String {
    format!(
        "`_meta.ui.resourceUri` points to `{uri}`, which is no longer listed: hosts show nothing"
    )
}

pub(crate) fn not_as_listed() -> String {
    "it does not match its listed digest: clients must not use it".to_owned()
}

pub(crate) fn card_says(member: &str, card: &str, server: &str) -> String {
    format!("`{member}` is {card} in the server's card and {server} in the server")
}
