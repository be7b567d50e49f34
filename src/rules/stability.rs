//! Findings about captures that cannot be relied on, and about texts that are left out of them.

macro_rules! stability_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "capture-unstable" CaptureUnstable [Undetermined] Finding Cosmetic None,
        "the server does not say the same twice",
        "Two listings on one connection, or two boots, gave different content. A contract that does not stand still cannot be \
         compared: whatever was found against the baseline might be chance. The server is `undetermined` (exit 3), and \
         `pin` writes nothing.",
        "Fix the server, or leave just the varying text out with a `mask`; the error offers the line to paste. \
         `\"capture-unstable\" = \"warn\"` in `[policy.rules]` compares the components that stand still and leaves the \
         others out.",
        "a description that holds the time of day";
    "capture-order-unstable" CaptureOrderUnstable [Undetermined] Finding Cosmetic None,
        "the server lists the same content in another order each time",
        "The order of tools is part of what a model reads, prompt caches depend on it, and the protocol asks for a \
         deterministic one. Content and order are told apart: here only the order varies, of tools in their list or of \
         members in an object, often that of a hash map. The server is `undetermined` (exit 3).",
        "Sort what the server lists. `\"capture-order-unstable\" = \"warn\"` in `[policy.rules]` compares the content and \
         not the order; `pin` then records that there is no order (`\"toolOrder\": []`), and from then on `check` asks for \
         none.",
        "tools kept in a hash map, listed as it iterates";
    "capture-differs-by-client" CaptureDiffersByClient [Undetermined] Finding Cosmetic None,
        "the server says something else to a client of another name",
        "`pin` introduces itself under a second name on its second boot. Two boots under each of the two names gave the same \
         difference: the server decides by `clientInfo.name`. What was reviewed is then not what the users of another \
         client see, by accident or on purpose. The server is `undetermined` (exit 3).",
        "Ask why. If it is meant, pin what each client sees as a profile ([docs/clients.md](clients.md)); \
         `\"capture-differs-by-client\" = \"warn\"` compares what does not depend on it.",
        "a tool that is listed to `claude-ai` only";
    "capture-differs-by-connection" CaptureDiffersByConnection [Undetermined] Finding Cosmetic None,
        "the server says something else on another connection",
        "Two connections to one running server gave different content. Revision 2026-07-28 of the protocol forbids it: lists \
         must not vary by connection. The server is `undetermined` (exit 3).",
        "Fix the server. Where a header decides what is listed, give each of its values a profile of its own. \
         `\"capture-differs-by-connection\" = \"warn\"` compares what stands still.",
        "a server over HTTP that lists a tool on every second connection";
    "text-depends-on-environment" TextDependsOnEnvironment [] Finding Cosmetic None,
        "a text holds something of this machine or this day",
        "The working folder, the home folder, the names of machine and user, the time zone or today's date stand in it. Two \
         boots on one machine agree in such a text, and the next machine drifts. It is a guess.",
        "Take it out of the text, or leave it out with the `mask` that the finding offers.",
        "a description that says where the server runs: `Saves images below /home/me/project`";
    "mask-unused" MaskUnused [] Finding Cosmetic None,
        "a mask in mcp-keel.toml leaves nothing out",
        "The text has changed or is gone, or the mask points at something that no mask may cover: a schema, a name, a word that \
         callers have to obey. A mask that is left behind might hide the next change at this place.",
        "Remove the mask, or correct it.",
        "[[server.time.mask]] component = \"tool:get_tiem@\"";
    "tool-differs-by-profile" ToolDiffersByProfile [] Finding Cosmetic None,
        "a tool is not the same for every profile of its server",
        "The profiles of one server (`[server.NAME.profile.PROFILE]`) are pinned one by one. The same tool with another \
         definition for another client, account or environment means that whoever reviewed one of them has not \
         reviewed the other.",
        "Nothing, if it is meant; each profile is compared with its own baseline. Otherwise look for what decides.",
        "search has the parameter `limit` for the profile `pro` and not for `free`";

    } $families $($after)* } };
}
pub(super) use stability_rules;
