//! Baselines of other tools: what they record, and what changed against them.

pub(crate) fn upstream_differs(pinned: &str, now: &str) -> String {
    format!("the pins were taken from {pinned}, but this is {now}")
}

pub(crate) fn upstream_changed(was: &str, is: &str) -> String {
    format!("the pins were bound to {was}, now to {is}")
}

pub(crate) fn entry_without_tools(entry: &str) -> String {
    format!("{entry} pins no tools: it was locked with no tools listed")
}

pub(crate) fn entry_without_surface() -> String {
    "the entry pins no tools: it has no `surface`".to_owned()
}

pub(crate) fn surface_hash_changed(coverage: &str) -> String {
    format!("the surface hash over {coverage} changed")
}

pub(crate) fn digest_changed(profile: &str) -> String {
    format!(
        "its {profile} digest changed. The file stores no definition, so it does not show what changed"
    )
}

pub(crate) fn new_tool() -> String {
    "new tool".to_owned()
}

pub(crate) fn server_not_in_baseline() -> String {
    "the baseline did not have this server".to_owned()
}

pub(crate) fn server_no_longer_pinned() -> String {
    "the baseline no longer pins this server".to_owned()
}

pub(crate) fn entry_gone(entry: &str) -> String {
    format!("{entry}: entry removed")
}

pub(crate) fn entry_new(entry: &str) -> String {
    format!("{entry}: entry added")
}

pub(crate) fn pinned_over_more(entry: &str) -> String {
    format!("{entry}: the tools were pinned again with wider coverage")
}

pub(crate) fn entry_surface_changed() -> String {
    "the entry pins a different surface".to_owned()
}

pub(crate) fn entry_changed_beside_surface(entry: &str) -> String {
    format!("{entry}: the entry changed, but not the surface that it pins")
}

pub(crate) fn format_fastmcp() -> &'static str {
    "a FastMCP manifest"
}

pub(crate) fn format_hangar() -> &'static str {
    "MCP Hangar's pins"
}

pub(crate) fn format_toolpin() -> &'static str {
    "a ToolPin lock"
}

pub(crate) fn format_lock_v1() -> &'static str {
    "an mcp-lock/1 lock"
}

pub(crate) fn format_own() -> &'static str {
    "an mcp-keel baseline"
}

pub(crate) fn fastmcp_records(digests: usize) -> String {
    format!(
        "it stores {digests} digests of key and inputSchema, but no definitions, descriptions, annotations or output schemas"
    )
}

pub(crate) fn hangar_records(tools: usize) -> String {
    format!(
        "it stores digests of {tools} tools (name, description, inputSchema, outputSchema), but no definitions; annotations are not covered"
    )
}

pub(crate) fn toolpin_records(entries: usize) -> String {
    format!(
        "it stores one digest of the whole tool list for each of {entries} entries, but no definitions; output schemas and annotations are not covered; trust, evidence and client configuration remain in the lock"
    )
}

pub(crate) fn lock_v1_records(entries: usize) -> String {
    format!(
        "it stores one digest of the tool list for each of {entries} entries, but no definitions"
    )
}

pub(crate) fn no_integrity(tool: &str) -> String {
    format!("the lockfile has no integrity for '{tool}': its bytes are not compared")
}

/// ToolPin's words.
pub(crate) fn invalid_lock(file: &str) -> String {
    format!("Invalid lockfile schema in {file}")
}

pub(crate) fn restore_lock() -> &'static str {
    "a lock is written by ToolPin or by `mcp-keel pin --format toolpin`; restore the committed file"
}

pub(crate) fn not_a_lock(format: &str) -> String {
    format!("this is {format}, not a lock; `mcp-keel check --baseline` reads it")
}
