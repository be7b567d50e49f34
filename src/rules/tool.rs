//! Rules about tools.

macro_rules! tool_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "tool-added" ToolAdded [Unknown] Change Additive High,
        "a tool was added",
        "No caller breaks, but models can now call something that was never approved. A tool with `readOnlyHint: \
         true` is medium exposure; any other is high, because by default a tool may write, destroy and reach the \
         open world.",
        "Review its description and parameters like new code that runs with the server's credentials, then pin.";
    "tool-removed" ToolRemoved [Removed] Change Breaking None,
        "a tool was removed",
        "Every prompt, agent and allow-list that names it fails. A model that expects the tool picks another one, or \
         answers from memory.",
        "Keep the old name as an alias for a release, or release it as a breaking change and pin.";
    "tool-hidden-from-http-clients" ToolHiddenFromHttpClients [] Change Breaking None,
        "an invalid `x-mcp-header` hides a tool from HTTP clients",
        "Since 2026-07-28 HTTP clients must drop a tool whose `x-mcp-header` is not a valid or unique header name, \
         or is not on a string, integer or boolean reached through `properties` only. The server still lists it, \
         but no client can call it. Reported for servers captured over HTTP at that revision; otherwise it is \
         `x-mcp-header-invalid`.",
        "Correct or remove the annotation.";
    "tool-renamed" ToolRenamed [] Change Breaking Low,
        "a tool was renamed",
        "A tool is gone, and a new one has the same description and schemas, or a name that differs in spelling only. \
         For callers this is a removal: everything that names the old tool fails. Unless only the spelling of the \
         name changed, the exposure is that of a new tool.",
        "Keep the old name as an alias for a release, or release it as a breaking change and pin.";
    "tool-version-changed" ToolVersionChanged [] Change Cosmetic Low,
        "a tool's own version changed",
        "A FastMCP tool can have a version, which is part of its key. Callers by name get the highest version; a \
         caller that asks for the old one may no longer get it. Other changes of the tool are reported separately.",
        "Read the other changes of the tool, then pin.";
    "tool-description-changed" ToolDescriptionChanged [] Change Risky Low,
        "a tool's description changed",
        "The description is the model's only documentation, and is read as an instruction: it decides which tool is \
         called, and how. A new URL, an order to the model or invisible characters raise the exposure to high, \
         because that is how an approved server is turned against its user.",
        "Read the diff. If the text only describes the tool, pin.";
    "tool-title-changed" ToolTitleChanged [] Change Cosmetic None,
        "a tool's title changed",
        "Users see the title; models call the tool by its name.",
        "Nothing for callers. Pin.";
    "tool-hint-changed" ToolHintChanged [] Change Risky High,
        "a tool's behaviour hint changed",
        "Clients decide by `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint` whether a call \
         needs consent; the protocol's defaults are applied before comparing. A less safe hint is high exposure: an \
         auto-approved tool may now write. A safer one is medium: clients may stop asking.",
        "Check what the tool does. If the new hint is right, tell users who auto-approve the tool, and pin.";
    "tool-hint-stated" ToolHintStated [] Change Cosmetic None,
        "a behaviour hint was added or removed without effect",
        "The hint equals the protocol's default, or does not apply to a read-only tool.",
        "Nothing for callers. Pin.";
    "tool-annotation-changed" ToolAnnotationChanged [] Change Cosmetic Low,
        "an annotation outside the specification changed",
        "Only particular clients read such annotations. One whose name suggests trust, access or secrecy is medium \
         exposure.",
        "Check whether a client of yours reads it, then pin.";
    "tool-execution-changed" ToolExecutionChanged [] Change Risky None,
        "another member of a tool's `execution` changed",
        "`execution` says how a tool is to be called. `taskSupport` has rules of its own; no protocol revision defines \
         other members, and particular clients may read them.",
        "Check whether a client of yours reads it, then pin.";
    "tool-icons-changed" ToolIconsChanged [] Change Cosmetic Low,
        "a tool's icons changed",
        "Clients fetch icons from the URL that the server names. Another origin, SVG or `http:` is medium exposure; a \
         scheme such as `javascript:` is high.",
        "Check that you trust the new URL, then pin.";
    "tool-meta-changed" ToolMetaChanged [] Change Cosmetic Low,
        "a tool's `_meta` changed",
        "`_meta` carries data for particular frameworks and clients: tags, versions, widget URLs. A member whose name \
         suggests trust, access or secrecy (`sensitiveHint`, `groups`) is medium exposure.",
        "Check whether a client of yours reads it, then pin.";
    "input-schema-added" InputSchemaAdded [Input] Change Risky None,
        "a tool now has an input schema",
        "The protocol requires one. Callers that could send anything may be rejected.",
        "Check the schema, then pin.";
    "input-schema-removed" InputSchemaRemoved [Input] Change Risky Medium,
        "a tool lost its input schema",
        "Models have to guess the arguments, and clients that validate reject the tool.",
        "Restore the schema: usually the tool is registered incorrectly.";
    "output-schema-added" OutputSchemaAdded [Output] Change Additive None,
        "a tool now has an output schema",
        "The tool promises structured content. Old callers ignore it.",
        "Nothing for callers. Pin.";
    "output-schema-removed" OutputSchemaRemoved [Output] Change Breaking Medium,
        "a tool lost its output schema",
        "Callers can no longer rely on `structuredContent`, and what the server returns goes to the model unchecked.",
        "Restore the schema, or release it as a breaking change and pin.";
    "provider-limit-exceeded" ProviderLimitExceeded [Provider] Change Risky None,
        "a model provider's strict mode no longer accepts a tool",
        "Each provider accepts a part of JSON Schema (OpenAI and Anthropic with `strict`, Gemini's function \
         declarations). The server still accepts every old call, but a client of that provider is rejected, often \
         with all tools of the request. Reported only for a tool that the provider accepted before; \
         `docs/providers.md` has the table.",
        "Use the provider's part of JSON Schema: `anyOf` for conditions, the description and a check in the server \
         for bounds. If no client of yours uses that mode, pin.";
    "provider-limit-met" ProviderLimitMet [Provider] Change Additive None,
        "a model provider's strict mode now accepts a tool",
        "Clients may turn on strict mode and get arguments that always match the schema. The schema change itself is \
         reported separately.",
        "Nothing for callers. Pin.";
    "unclassified-change" UnclassifiedChange [] Change Risky Low,
        "a difference that no other rule explains",
        "mcp-keel reports every difference. This member is not in the specification that this version knows, or has \
         an unexpected form, so its effect is unknown.",
        "Look at the old and new values, then pin. If the specification has this member, please open an issue.";
    "definition-respelled" DefinitionRespelled [] Change Cosmetic None,
        "the same definition, written differently",
        "Members are in a different order, or a number is spelled differently (`1` and `1.0`). Callers cannot \
         notice; caches keyed by the bytes can. If a member is given more than once, clients disagree about its \
         value: risky, of high exposure.",
        "Nothing for callers. Pin.";

    } $families $($after)* } };
}
pub(super) use tool_rules;
