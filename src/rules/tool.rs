//! Rules about tools.

macro_rules! tool_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "tool-added" ToolAdded [Unknown] Change Additive High,
        "a tool that the baseline does not know",
        "No caller breaks, but every model that sees this server can now call something that nobody approved. A \
         tool that says it only reads (`readOnlyHint`) counts as medium exposure, any other as high, because the \
         protocol's default for a tool is: may write, may destroy, may reach the open world.",
        "Read its description and its parameters as a reviewer would read new code with the server's credentials. \
         Then pin.";
    "tool-removed" ToolRemoved [Removed] Change Breaking None,
        "a tool is gone",
        "Every prompt, agent and allow-list that names it now fails. A model that expects the tool does not stop: \
         it picks another tool or answers from memory.",
        "Keep the old name as an alias for a release, or release it as a breaking change and pin.";
    "tool-hidden-from-http-clients" ToolHiddenFromHttpClients [] Change Breaking None,
        "a tool breaks a rule of `x-mcp-header`, and clients over HTTP leave it out",
        "Since 2026-07-28 a client over HTTP must drop every tool with an invalid `x-mcp-header` from the list: the name \
         is not the name of a header or stands twice, the parameter is no string, integer or boolean, or something else \
         than `properties` leads to it. The server still lists the tool, and nobody there can call it: for its callers it \
         is removed. Said of a server that was captured over HTTP at that revision; of any other it is the finding \
         `x-mcp-header-invalid`.",
        "Correct the annotation, or take it away.";
    "tool-renamed" ToolRenamed [] Change Breaking Low,
        "a tool has another name",
        "A tool is gone and another one came that takes the same arguments and says the same. For a caller that is a \
         removal: every prompt, agent and allow-list that names the old one now fails. For a reviewer it is one \
         change, not two. Separators and case change most often (`read-query` to `read_query`), or every tool of a \
         server gets a prefix.",
        "Keep the old name as an alias for a release, or release it as a breaking change and pin.";
    "tool-version-changed" ToolVersionChanged [] Change Cosmetic Low,
        "a tool has another version of its own",
        "FastMCP lets a tool carry a version, which is part of its key. Callers that ask for the tool by name get the \
         highest version, so for them it is the same tool, and what changed about it is told beside this. A caller that \
         asks for the old version may no longer get it.",
        "Read the other changes of the tool, then pin.";
    "tool-description-changed" ToolDescriptionChanged [] Change Risky Low,
        "a tool's description changed",
        "The description is the only documentation that the model has, and it is read as an instruction. A changed \
         sentence moves which tool is chosen and how its arguments are filled in. A new address, an order to the \
         model or characters that nobody sees raise the exposure to high: that is how a server that was approved \
         once is turned against its user.",
        "Read the word diff. If the text describes the tool and nothing else, pin.";
    "tool-title-changed" ToolTitleChanged [] Change Cosmetic None,
        "a tool's title changed",
        "The title is what people see in a client's list. Models call the tool by its name.",
        "Nothing for callers. Pin.";
    "tool-hint-changed" ToolHintChanged [] Change Risky High,
        "a tool's behaviour hint means something else now",
        "Clients decide by `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint` whether a call \
         needs a person's consent. The protocol's defaults are applied before comparing (read-only false, \
         destructive true, idempotent false, open world true; destructive and idempotent mean something only for a \
         tool that writes). A hint that became less safe is high exposure: a tool that was auto-approved as read-only \
         may write now. A hint that claims more safety than before is medium: clients may stop asking.",
        "Check what the tool does. If the hint is right now, tell the users who auto-approve it, and pin.";
    "tool-hint-stated" ToolHintStated [] Change Cosmetic None,
        "a behaviour hint is stated, or left out, without meaning anything else",
        "The hint equals the protocol's default, or has no meaning for a read-only tool. Nothing changes for a \
         client that applies the defaults.",
        "Nothing. Pin.";
    "tool-annotation-changed" ToolAnnotationChanged [] Change Cosmetic Low,
        "another annotation of a tool changed",
        "Annotations outside the specification (`category` and the like) are read by single clients only.",
        "Check whether a client of yours reads it, then pin.";
    "tool-execution-changed" ToolExecutionChanged [] Change Risky None,
        "how a tool may be executed changed",
        "`execution.taskSupport` says whether a tool must, may or must not be called as a task. A client that calls \
         it the old way may be refused.",
        "Check that your clients can call it in the new way, then pin.";
    "tool-icons-changed" ToolIconsChanged [] Change Cosmetic Low,
        "a tool's icons changed",
        "Icons are fetched by the client from the address that the server names.",
        "Check that the new address is one you trust, then pin.";
    "tool-meta-changed" ToolMetaChanged [] Change Cosmetic Low,
        "a tool's `_meta` changed",
        "`_meta` carries what frameworks and single clients agreed on: tags, versions, widget addresses. Most \
         callers never read it; the ones that do rely on it.",
        "Check whether a client of yours reads it, then pin.";
    "input-schema-added" InputSchemaAdded [Input] Change Risky None,
        "a tool without an input schema has one now",
        "The protocol demands an input schema. Callers that were free to send anything may be refused now.",
        "Pin.";
    "input-schema-removed" InputSchemaRemoved [Input] Change Risky Medium,
        "a tool has lost its input schema",
        "Without a schema a model guesses the arguments, and clients that validate refuse the tool altogether.",
        "Restore the schema: this is usually a mistake in how the tool is registered.";
    "output-schema-added" OutputSchemaAdded [Output] Change Additive None,
        "a tool declares what it returns",
        "The tool promises structured content from now on. Old callers ignore it.",
        "Nothing for callers. Pin.";
    "output-schema-removed" OutputSchemaRemoved [Output] Change Breaking Medium,
        "a tool no longer declares what it returns",
        "Callers that read `structuredContent` by this schema can rely on nothing any more, and whatever the server \
         returns now goes to the model unchecked.",
        "Restore the schema, or release it as a breaking change and pin.";
    "provider-limit-exceeded" ProviderLimitExceeded [Provider] Change Risky None,
        "a model provider's strict mode no longer takes a tool",
        "MCP allows all of JSON Schema; the providers take a part of it each (OpenAI with `strict`, Anthropic with \
         `strict`, Gemini's function declarations). The server still accepts every old call, but a client that sends \
         this tool to such a provider is refused, often with every other tool of the same request, or has to leave \
         out what the schema demands. What the providers' SDKs rewrite without loss (closing an object, requiring a \
         parameter and letting it be null, inlining a reference) does not count. Reported only for a tool that the \
         provider took before. `docs/providers.md` has the table and its sources.",
        "Say the same in the provider's part of JSON Schema: `anyOf` of objects for conditions, a sentence in the \
         description and a check in the server for bounds. If no client of yours uses that mode, pin.";
    "provider-limit-met" ProviderLimitMet [Provider] Change Additive None,
        "a model provider's strict mode takes a tool that it refused",
        "The tool fits the provider's part of JSON Schema now, so that clients may switch its strict mode on and get \
         arguments that always match the schema. The changed schema is reported beside this, with what it does to \
         callers.",
        "Nothing for callers. Pin.";
    "unclassified-change" UnclassifiedChange [] Change Risky Low,
        "a difference that no other rule explains",
        "mcp-keel reports every byte of difference in a component. This member is not in the specification that \
         this version knows, or has an unexpected form, so nothing can be said about what it does.",
        "Look at the old and the new value, then pin. If it is a member of the specification, tell us.";
    "definition-respelled" DefinitionRespelled [] Change Cosmetic None,
        "the same definition, written differently",
        "Members come in another order, or a number is spelled differently (`1` and `1.0`). No caller can notice, \
         but caches that are keyed by the bytes can.",
        "Nothing. Pin.";

    } $families $($after)* } };
}
pub(super) use tool_rules;
