//! Findings about captures that cannot be relied on, and about texts that are masked.

macro_rules! stability_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "capture-unstable" CaptureUnstable [Undetermined] Finding Cosmetic None,
        "two captures of the server differ",
        "Two listings on one connection, or two starts, gave different content, so a difference from the baseline \
         might be chance. The server is `undetermined` (exit 3), and `pin` writes nothing.",
        "Fix the server, or leave the varying text out with the suggested `mask`. `\"capture-unstable\" = \"warn\"` \
         in `[policy.rules]` compares only the stable components.",
        "a description that holds the time of day";
    "capture-order-unstable" CaptureOrderUnstable [Undetermined] Finding Cosmetic None,
        "the server lists the same content in a different order each time",
        "Models read the order, prompt caches depend on it, and the protocol asks for a deterministic one. Only the \
         order of tools or of object members varies, often that of a hash map. The server is `undetermined` (exit \
         3).",
        "Sort what the server lists. `\"capture-order-unstable\" = \"warn\"` in `[policy.rules]` ignores the order; \
         `pin` then records `\"toolOrder\": []`.",
        "tools kept in a hash map, listed as it iterates";
    "capture-differs-by-client" CaptureDiffersByClient [Undetermined] Finding Cosmetic None,
        "the server answers differently depending on the client's name",
        "`pin` uses a second client name for its second start. Two starts under each name gave the same difference, \
         so the server decides by `clientInfo.name`, and what was reviewed is not what users of another client see. \
         The server is `undetermined` (exit 3).",
        "Ask why. If it is intended, pin a profile per client ([docs/clients.md](clients.md)); \
         `\"capture-differs-by-client\" = \"warn\"` compares the rest.",
        "a tool that is listed to `claude-ai` only";
    "capture-differs-by-connection" CaptureDiffersByConnection [Undetermined] Finding Cosmetic None,
        "the server answers differently on another connection",
        "Two connections to one running server gave different content, which protocol 2026-07-28 forbids. The server \
         is `undetermined` (exit 3).",
        "Fix the server. If a header decides what is listed, use a profile per value; \
         `\"capture-differs-by-connection\" = \"warn\"` compares the rest.",
        "a server over HTTP that lists a tool on every second connection";
    "text-depends-on-environment" TextDependsOnEnvironment [] Finding Cosmetic None,
        "text depends on this machine or date",
        "It contains the working folder, home folder, host or user name, time zone or today's date, and would drift \
         on another machine. This is a guess.",
        "Remove it from the text, or use the suggested `mask`.",
        "a description that says where the server runs: `Saves images below /home/me/project`";
    "mask-unused" MaskUnused [] Finding Cosmetic None,
        "a mask in mcp-keel.toml matches nothing",
        "The text changed or is gone, or the mask points at something that no mask may cover, such as a schema or a \
         name. A leftover mask might hide the next change there.",
        "Remove or correct the mask.",
        "[[server.time.mask]] component = \"tool:get_tiem@\"";
    "tool-differs-by-profile" ToolDiffersByProfile [] Finding Cosmetic None,
        "a tool differs between profiles of its server",
        "Profiles are pinned separately. A reviewer of one profile has not reviewed the tool as another client, \
         account or environment sees it.",
        "Nothing, if it is intended: each profile has its own baseline entry. Otherwise find out what decides.",
        "search has the parameter `limit` for the profile `pro` and not for `free`";

    } $families $($after)* } };
}
pub(super) use stability_rules;
