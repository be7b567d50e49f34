//! Rules about parts of the protocol besides schemas and texts: revisions, extensions, caching,
//! tasks, apps.

macro_rules! protocol_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "revision-dropped" RevisionDropped [] Change Breaking None,
        "the server no longer supports a protocol revision",
        "`supportedVersions` of `server/discover` lists what the server speaks. A client that knows only the dropped \
         revision is answered with UnsupportedProtocolVersion (-32022). If no revision up to 2025-11-25 is left, \
         clients that open with `initialize` cannot connect at all.",
        "Support the revision until your users' clients have moved on, or release it as a breaking change and pin.";
    "revision-added" RevisionAdded [] Change Additive None,
        "the server supports another protocol revision",
        "More clients can connect. A client that speaks both revisions may switch to the new one, and be listed \
         something else there.",
        "Nothing for callers. Compare both eras with `--era both` once, then pin.";
    "extension-added" ExtensionAdded [] Change Additive Medium,
        "the server announces a new protocol extension",
        "Extensions add requests, lists and content outside the core protocol: user interfaces, skills, tasks. \
         What a server offers under an extension that mcp-keel does not read is in no baseline.",
        "Check what the extension lets the server do in your clients, then pin.";
    "extension-removed" ExtensionRemoved [] Change Breaking None,
        "the server no longer announces a protocol extension",
        "Clients that negotiated the extension can no longer use it: they fall back to the core protocol, or their \
         requests are rejected. The tools that declare something for it are named. It is cosmetic if the extension \
         only has an effect through such declarations and there were none, or if nothing was in its list.",
        "Announce the extension again, or release it as a breaking change and pin.";
    "extension-changed" ExtensionChanged [] Change Risky Low,
        "the settings of a protocol extension changed",
        "Each extension defines its own settings, and clients adapt to them.",
        "Look up the setting in the extension's specification, then pin.";
    "cache-scope-changed" CacheScopeChanged [] Change Cosmetic Medium,
        "`cacheScope` of a list changed",
        "`public` lets any gateway keep the answer and give it to other users: if the list depends on who asks, they \
         see each other's. A change to `private` exposes nothing.",
        "Check that the list is the same for all users. `public` is for lists without user data. Then pin.";
    "cache-scope-public" CacheScopePublic [] Finding Risky High,
        "a public list differs between profiles",
        "The server marks a list as `public`, so any cache may give one user's list to another. The profiles in \
         mcp-keel.toml see different lists, which proves that it depends on who asks.",
        "Send `cacheScope: \"private\"` with lists that depend on the user.",
        "two profiles that see different tools, and `tools/list` with `cacheScope: \"public\"`";
    "stale-list-cached" StaleListCached [] Finding Cosmetic None,
        "clients may use the old list for a while",
        "`ttlMs` of the pinned list says how long clients may keep it. Until then they send the calls that now \
         fail, and a `list_changed` notification reaches only clients that are connected and subscribed.",
        "Lower `ttlMs` before the release, and wait for the old value to pass.",
        "a tool removed from a list that was pinned with `ttlMs` 300000";
    "not-observed" NotObserved [] Finding Cosmetic None,
        "the server offers something that mcp-keel does not read",
        "Its declaration is compared with the baseline, but what it leads to is not captured: a list or content of \
         an extension, an experimental feature, a member that no protocol revision defines. Drift there goes \
         unnoticed.",
        "Review it by other means. If the protocol defines it, please open an issue.";
    "deprecated-feature" DeprecatedFeature [] Finding Cosmetic None,
        "the server uses a feature that the protocol is going to remove",
        "Logging, roots and sampling are deprecated since 2026-07-28, HTTP+SSE since 2025-03-26. The finding names \
         the earliest revision that may remove the feature. Until then it works, and clients may already stop \
         supporting it.",
        "Migrate as the finding says before you adopt a revision without the feature.";
    "icon-refused" IconRefused [] Finding Cosmetic Medium,
        "clients must reject an icon",
        "Since 2025-11-25 the address of an icon must be `https:` or `data:`. Clients reject others, such as \
         `javascript:` and `file:`; one that does not may run or read what the address names.",
        "Use an `https:` address on the server's own origin, or a `data:` address.";
    "tool-visibility-narrowed" ToolVisibilityNarrowed [] Change Breaking None,
        "a tool is no longer visible to the model or to apps",
        "`_meta.ui.visibility` says who may call a tool; omitted means the model and apps. Without `model`, hosts must \
         not list the tool to the agent; without `app`, they must reject calls from the server's own user \
         interface. The server still lists the tool, so this is easily missed.",
        "Restore the visibility, or release it like the removal of a tool and pin.";
    "tool-visibility-widened" ToolVisibilityWidened [] Change Additive High,
        "a tool is now visible to the model or to apps",
        "With `model`, the agent can call a tool that was reserved for the server's user interface. With `app`, code \
         in that interface can call it without the model. It was not approved for that.",
        "Review the tool like a new one, then pin.";
    "app-access-widened" AppAccessWidened [] Change Cosmetic High,
        "a user interface may reach more domains or devices",
        "`_meta.ui.csp` lists the origins that an app may connect to, load from or embed; `_meta.ui.permissions` asks \
         for camera, microphone, location or clipboard. Hosts enforce these lists, so an addition is what lets data \
         leave to a new place.",
        "Check who runs the new origin and why the app needs it, then pin.";
    "app-access-narrowed" AppAccessNarrowed [] Change Risky None,
        "a user interface may reach fewer domains or devices",
        "Hosts block what is no longer listed. An app that still needs it shows nothing, or fails.",
        "Try the app in a host, then pin.";
    "app-domain-changed" AppDomainChanged [] Change Risky Medium,
        "the origin of a user interface changed",
        "`_meta.ui.domain` is the origin that a host serves the app from. OAuth callbacks, CORS and API keys are bound \
         to it, and stored data stays with the old one.",
        "Update the allow-lists that name the old origin, then pin.";
    "app-resource-changed" AppResourceChanged [] Change Risky Medium,
        "a tool's results are shown by another user interface",
        "`_meta.ui.resourceUri` names the document that a host renders for the tool's results. Another document can \
         show, send and ask for other things. Only its address is compared here.",
        "Review the document behind the new address, then pin.";
    "task-support-narrowed" TaskSupportNarrowed [] Change Breaking None,
        "a tool can no longer be called as before: `execution.taskSupport`",
        "`required` rejects plain calls with -32601, `forbidden` rejects calls as a task; omitted means `forbidden`. \
         The witness is a call that used to work. Only 2025-11-25 defines the member: at other revisions, or without \
         the `tasks` capability, the change is risky.",
        "Use `optional` while clients still call the old way, or release it as a breaking change and pin.";
    "task-support-widened" TaskSupportWidened [] Change Additive None,
        "a tool can now also be called as a task, or without one",
        "`optional` accepts both ways of calling. Every old call is still accepted.",
        "Nothing for callers. Pin.";
    "task-support-stated" TaskSupportStated [] Change Cosmetic None,
        "`execution.taskSupport` is written differently, with the same meaning",
        "`forbidden` is what its absence means.",
        "Nothing for callers. Pin.";
    "object-properties-omitted" ObjectPropertiesOmitted [Provider] Change Risky None,
        "an object parameter no longer has `properties`",
        "JSON Schema allows `type: object` without `properties`, and every call is still accepted. OpenAI's models \
         need the member: without it the API rejects the tool, or the model never fills the parameter in. Serializers \
         that drop empty members cause this.",
        "Send `properties: {}`.";
    "audience-widened" AudienceWidened [] Change Risky Medium,
        "a resource is now also for the model",
        "`annotations.audience` names who a resource is for. A client that showed it only to the user may now put its \
         text into the model's context, where it can act as an instruction.",
        "Read the resource like text for a model, then pin.";
    "template-uri-changed" TemplateUriChanged [] Change Breaking Low,
        "the `uriTemplate` of a resource template changed",
        "Clients build addresses from the template and fill in its variables by name, and `completion/complete` names \
         the same variables. The witness is an address that the old template makes and the new one does not. It is \
         risky if every address that was tried still matches.",
        "Keep the old template for a release, or release it as a breaking change and pin.";

    } $families $($after)* } };
}
pub(super) use protocol_rules;
