//! Changes that only a digest shows: the baseline is another tool's file, which stores no definitions.

macro_rules! pin_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "pin-digest-changed" PinDigestChanged [] Change Risky Medium,
        "a tool has another digest than the one that is pinned",
        "The file (a FastMCP manifest, MCP Hangar's pins) holds digests and no definitions: that the tool changed is \
         certain, what changed and whom it breaks is not known.",
        "Compare the two versions with `mcp-keel diff`, or pin definitions with `mcp-keel pin` so that the next change \
         explains itself.",
        "{\"tool:greet@\": \"b870...\"} and a server whose greet has the digest 4daa...";
    "pin-upstream-changed" PinUpstreamChanged [] Change Risky High,
        "the pins were taken from another server",
        "MCP Hangar binds pins to where they were read: the program and its arguments, or the address. Pins of one \
         server say nothing about another of the same name.",
        "Check which server is started. If it moved on purpose, take the pins anew.",
        "pins bound to stdio:node:0f3a... and a server started with other arguments";
    "lock-surface-changed" LockSurfaceChanged [] Change Risky Medium,
        "the tools are not those that a lock pins",
        "A lock (mcp-lock.json) pins one digest of the whole list: names, descriptions and input schemas. It cannot say \
         which tool moved.",
        "Compare the two versions with `mcp-keel diff`. If the change is meant, update the lock: \
         `mcp-keel pin --baseline mcp-lock.json`.",
        "toolSurfaceHash in mcp-lock.json, and a server with one more tool";
    "lock-target" LockTarget [] Finding Risky Medium,
        "a lock points at something that can change under it",
        "ToolPin calls it mutable_oci_tag, missing_mcpb_hash, npm_version_missing, insecure_remote and so on: what is \
         installed next time need not be what was locked.",
        "Lock an image by digest, a bundle by fileSha256, a package by exact version, an address by https.",
        "\"identifier\": \"ghcr.io/x/y:latest\" in selectedTarget";

    } $families $($after)* } };
}
pub(super) use pin_rules;
