//! Rules about the server itself.

macro_rules! server_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "surface-emptied" SurfaceEmptied [] Change Breaking None,
        "the server no longer lists anything",
        "Several published servers answer with an empty list, and no error, if a credential is missing. It is more \
         likely that than a removal of everything.",
        "Pass the variables that the server needs with `--pass-env NAME` or `env`. If the components are really \
         gone, pin.";
    "server-name-changed" ServerNameChanged [] Change Risky Medium,
        "`serverInfo.name` changed",
        "Clients show the name to the user who approves calls, and some store approvals under it. Another name may \
         mean another program behind the same command.",
        "Check that the command still starts the approved server, then pin.";
    "server-version-changed" ServerVersionChanged [] Change Cosmetic None,
        "`serverInfo.version` changed",
        "This changes nothing for callers. In two of three published servers it is not the package's version.",
        "Pin if the version was meant to change.";
    "server-info-changed" ServerInfoChanged [] Change Cosmetic Low,
        "another member of `serverInfo` changed",
        "Title, website and icons are what users see of the server. No call is affected, but a website or icon can \
         lead elsewhere.",
        "Look at the new value, then pin.";
    "instructions-changed" InstructionsChanged [] Change Risky Low,
        "the server's instructions to the model changed",
        "Clients put `instructions` into the model's context, often into the system prompt, so they affect every \
         conversation. A new URL or an order to the model raises the exposure to high.",
        "Read the diff like a change to a system prompt, then pin.";
    "capability-added" CapabilityAdded [] Change Additive Low,
        "the server announces a new capability",
        "The server can do more: send notifications, offer completions, run tasks. Old clients ignore it. It is \
         breaking if `tasks` appears while a tool has `taskSupport: \"required\"`: plain calls of that tool are \
         rejected from then on.",
        "Nothing for callers, unless it is breaking. Pin if it was intended.";
    "capability-removed" CapabilityRemoved [] Change Breaking None,
        "the server no longer announces a capability",
        "Clients decide by capabilities which requests to send: without `resources` they list no resources. It is \
         cosmetic if nothing was listed under the capability, and risky for `logging`, which is deprecated, and for \
         an experimental capability.",
        "Restore the capability, or release it as a breaking change and pin.";
    "capability-changed" CapabilityChanged [] Change Risky None,
        "the details of a capability changed",
        "Details such as `subscribe` and `listChanged` tell a client what it may rely on: without `listChanged` it never \
         learns that a list changed. It is cosmetic if nothing is listed under the capability or the meaning stays \
         the same, and additive if the server can now do more.",
        "Check that the change was intended, then pin.";
    "protocol-version-changed" ProtocolVersionChanged [] Change Risky None,
        "client and server agreed on another protocol revision",
        "The revision decides which members exist and what they mean. With the same tools it is usually an SDK \
         upgrade. Between 2025-11-25 and 2026-07-28 it also covers what the two eras express differently. If the \
         server refused the pinned era, it is breaking: clients of that era cannot connect.",
        "Check that the oldest client you support speaks the new revision, then pin.";
    "tool-order-changed" ToolOrderChanged [] Change Cosmetic None,
        "the tools are listed in a different order",
        "Prompt caches are keyed by the exact bytes of the list, and its order can affect which of two similar tools \
         a model picks. The protocol asks for a deterministic order.",
        "List tools in a fixed order, and pin.";
    "client-changed" ClientChanged [] Change Risky None,
        "the two sides were captured by different clients",
        "What a server lists depends on the client's name and capabilities, so this comparison mixes the server's \
         changes with the client's.",
        "Capture both sides with the same `client`, or pin again with the client that your users have.";
    "server-not-pinned" ServerNotPinned [Unknown] Change Additive High,
        "the server is not in the baseline",
        "Nothing was approved for it yet, so there is nothing to compare with.",
        "Review what it lists and pin it: `mcp-keel pin NAME`.",
        "a baseline with the server `a`, and a mcp-keel.toml with `[server.a]` and `[server.b]`";
    "server-removed" ServerRemoved [] Change Breaking None,
        "a server is only in the old manifest",
        "Everything that it offered is gone.",
        "Remove it from the configuration too, and tell its users.",
        "two baselines, of which only the old one has the server `b`";

    } $families $($after)* } };
}
pub(super) use server_rules;
