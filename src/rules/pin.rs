//! Changes that only a digest shows: the baseline is another tool's file, which stores no
//! definitions.

macro_rules! pin_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "pin-digest-changed" PinDigestChanged [] Change Risky Medium,
        "a tool's digest is not the pinned one",
        "The file (a FastMCP manifest or MCP Hangar pins) stores digests without definitions, so what changed is \
         unknown.",
        "Compare the two versions with `mcp-keel diff`, or use `mcp-keel pin` so that the next change explains \
         itself.",
        "{\"tool:greet@\": \"b870...\"} and a server whose greet has the digest 4daa...";
    "pin-upstream-changed" PinUpstreamChanged [] Change Risky High,
        "the pins were taken from a different server",
        "MCP Hangar binds pins to the command or URL that they were read from. They say nothing about another server \
         of the same name.",
        "Check which server is started. If it moved on purpose, take the pins again.",
        "pins bound to stdio:node:0f3a... and a server started with other arguments";
    "lock-surface-changed" LockSurfaceChanged [] Change Risky Medium,
        "the tools are not those that a lock file pins",
        "An mcp-lock.json pins one digest over all names, descriptions and input schemas. It cannot say which tool \
         changed.",
        "Compare the two versions with `mcp-keel diff`. If the change is intended, update the lock: `mcp-keel pin \
         --baseline mcp-lock.json`.",
        "toolSurfaceHash in mcp-lock.json, and a server with one more tool";
    "lock-target" LockTarget [] Finding Risky Medium,
        "a lock file points at something that can change",
        "ToolPin calls it mutable_oci_tag, missing_mcpb_hash, npm_version_missing, insecure_remote and so on: the \
         next install may differ from what was locked.",
        "Lock an image by digest, a bundle by fileSha256, a package by exact version, a URL by https.",
        "\"identifier\": \"ghcr.io/x/y:latest\" in selectedTarget";

    } $families $($after)* } };
}
pub(super) use pin_rules;
