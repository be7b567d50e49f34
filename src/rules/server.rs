//! Rules about the server itself.

macro_rules! server_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "surface-emptied" SurfaceEmptied [] Change Breaking None,
        "the server lists nothing any more",
        "A server that listed components and now answers every list with nothing has hardly removed them all on \
         purpose. Several published servers answer `tools/list` with an empty list, and no error, when a credential \
         is missing. Read it as \"could not look\" until somebody has looked.",
        "Check which environment variables the server needs and hand them over with `--pass-env NAME` or `env` in \
         mcp-keel.toml: the server under test starts with an almost empty environment. If the components are really \
         gone, pin again.";
    "server-name-changed" ServerNameChanged [] Change Risky Medium,
        "the server calls itself by another name",
        "Clients show `serverInfo.name` to the person who approves calls, and some key their approvals and their \
         configuration by it. Another name may mean another program behind the same command.",
        "Make sure that the command still starts the server that was approved, then pin.";
    "server-version-changed" ServerVersionChanged [] Change Cosmetic None,
        "the server reports another version",
        "`serverInfo.version` moved. By itself that changes nothing for a caller, and in two of three published \
         servers it is not the package's version at all. It is recorded so that drift and version can be read \
         side by side.",
        "Nothing, if the version was meant to move: pin.";
    "server-info-changed" ServerInfoChanged [] Change Cosmetic Low,
        "another member of `serverInfo` changed",
        "Title, website, icons and vendor members of `serverInfo` are what a person sees of the server. They do not \
         change a call, but a website or an icon can lead elsewhere.",
        "Look at the new value, then pin.";
    "instructions-changed" InstructionsChanged [] Change Risky Low,
        "the instructions that the server gives to the model changed",
        "Clients put `instructions` into the model's context, often into the system prompt. Every conversation with \
         this server starts with this text, so a changed sentence can change which tools are called, in which order \
         and with what. A new address or an order to the model raises the exposure to high.",
        "Read the word diff as you would read a change to a system prompt. Then pin.";
    "capability-added" CapabilityAdded [] Change Additive Low,
        "the server announces a capability that it did not have",
        "A new capability lets the server do more: send notifications, offer completions, run tasks. Old clients \
         ignore it.",
        "Nothing for callers. Pin when the capability was meant to come.";
    "capability-removed" CapabilityRemoved [] Change Breaking None,
        "the server no longer announces a capability",
        "Clients decide by the announced capabilities which requests they may send. Without `resources` a client \
         does not list resources any more; without `tools.listChanged` it never hears of a changed list.",
        "Restore the capability, or release it as a breaking change and pin.";
    "capability-changed" CapabilityChanged [] Change Risky None,
        "a capability is announced with other details",
        "The details of a capability (`subscribe`, `listChanged`, vendor members) tell a client what it may rely on. \
         A changed detail can switch a behaviour of the client on or off.",
        "Check that the detail was meant to change, then pin.";
    "protocol-version-changed" ProtocolVersionChanged [] Change Risky None,
        "client and server agreed on another protocol revision",
        "The revision decides which members exist and what they mean. With the same tools it is usually an upgrade \
         of the server's SDK; clients that know only the older revision still negotiate. Between a revision up to \
         2025-11-25 and 2026-07-28 it stands for everything that the two say in different ways: where the server names \
         itself, how changes are announced, what became an extension.",
        "Check that the oldest client you support can speak the new revision, then pin.";
    "tool-order-changed" ToolOrderChanged [] Change Cosmetic None,
        "the same tools are listed in another order",
        "Models read the list from the top, and prompt caches are keyed by its exact bytes: another order costs a \
         cache miss in every client and can shift which of two similar tools is chosen. The protocol asks for a \
         deterministic order.",
        "List tools in a fixed order (registration order or sorted). Pin when the new order is to stay.";
    "client-changed" ClientChanged [] Change Risky None,
        "the two surfaces were captured by different clients",
        "What a server lists depends on the name and the capabilities of the client. A comparison between two \
         client profiles mixes the server's changes with the client's.",
        "Capture both sides with the same `client`, or pin again with the profile that your users have.";
    "server-not-pinned" ServerNotPinned [Unknown] Change Additive High,
        "the baseline does not know this server",
        "Nothing was ever approved for it, so there is nothing to compare with.",
        "Review what it lists and pin it: `mcp-keel pin NAME`.",
        "a baseline with the server `a`, and a mcp-keel.toml with `[server.a]` and `[server.b]`";
    "server-removed" ServerRemoved [] Change Breaking None,
        "a server is in the old manifest only",
        "Everything that it offered is gone for whoever relied on this manifest.",
        "Remove it from the configuration too, and tell its users.",
        "two baselines, of which only the old one has the server `b`";

    } $families $($after)* } };
}
pub(super) use server_rules;
