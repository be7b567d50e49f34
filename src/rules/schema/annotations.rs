//! Rules about keywords that validators ignore and models read.

macro_rules! annotation_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "default-changed" DefaultChanged,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 10}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 100}}}"#,
        input InputDefaultChanged: Risky None "`default` of a parameter changed",
        "Calls without the parameter are accepted as before and mean something else. No one gets an error: results \
         are longer, slower, or in another unit.",
        "Mention it in the release notes. If the old default mattered for safety (dry runs, limits), do not change \
         it in a minor release.";
        output OutputDefaultChanged: Cosmetic None "`default` of a result member changed",
        "Defaults have no effect on results; generators write them anyway.",
        "Accept it.";

    "default-added" DefaultAdded,
        r#"{"type": "object", "properties": {"limit": {"type": "integer"}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 100}}}"#,
        input InputDefaultAdded: Cosmetic None "a parameter now has a default",
        "Usually the server behaved like that before. If the behaviour changed too, the schema cannot show it.",
        "Check whether the server's behaviour changed, then accept it.";
        output OutputDefaultAdded: Cosmetic None "a result member now has a default",
        "Defaults have no effect on results.",
        "Accept it.";

    "default-removed" DefaultRemoved,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 100}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer"}}}"#,
        input InputDefaultRemoved: Risky None "a parameter no longer has a default",
        "Calls without the parameter are still accepted, but what they mean is no longer documented. Clients that \
         filled in the default now send nothing.",
        "Keep the default in the schema while the server has one.";
        output OutputDefaultRemoved: Cosmetic None "a result member no longer has a default",
        "Defaults have no effect on results.",
        "Accept it.";

    "description-changed" DescriptionChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city, in English"}}}"#,
        input InputDescriptionChanged: Cosmetic Low "the description of a parameter changed",
        "Validators ignore it; models do what it says. Most edits are harmless, but an instruction can hide here: a \
         new URL or an order to the model raises the exposure to high.",
        "Read the new text like a prompt that you are about to run.";
        output OutputDescriptionChanged: Cosmetic Low "the description of a result member changed",
        "Models that see the result schema read the text. A new URL or an order to the model raises the exposure to \
         high.",
        "Read the new text like a prompt that you are about to run.";

    "title-changed" TitleChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "title": "City"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "title": "City name"}}}"#,
        input InputTitleChanged: Cosmetic None "the title of a parameter changed",
        "Generators derive titles from names, for forms. No call is affected.",
        "Accept it. Turning titles off in the generator saves tokens.";
        output OutputTitleChanged: Cosmetic None "the title of a result member changed",
        "Generators derive titles from names, for forms. No reader is affected.",
        "Accept it. Turning titles off in the generator saves tokens.";

    "examples-changed" ExamplesChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "examples": ["Oslo"]}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "examples": ["Bergen"]}}}"#,
        input InputExamplesChanged: Cosmetic None "the examples of a parameter changed",
        "Models imitate examples. No call is rejected because of them.",
        "Check that the examples are valid and harmless.";
        output OutputExamplesChanged: Cosmetic None "the examples of a result member changed",
        "No result is rejected because of examples.",
        "Check that the examples are still true.";

    "deprecated-changed" DeprecatedChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "deprecated": true}}}"#,
        input InputDeprecatedChanged: Risky None "`deprecated` of a parameter changed",
        "Everything still works, but the server announces that it will not. Removing `deprecated` is cosmetic.",
        "Find the replacement and move to it. As an author, name it in the description.";
        output OutputDeprecatedChanged: Risky None "`deprecated` of a result member changed",
        "The member is still returned, but the server announces that it will not always be.",
        "Find out where the information will be, and read it there.";

    "access-changed" AccessChanged,
        r#"{"type": "object", "properties": {"id": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"id": {"type": "string", "readOnly": true}}}"#,
        input InputAccessChanged: Risky None "`readOnly` or `writeOnly` of a parameter changed",
        "Validators ignore these keywords, servers may not: a parameter that became `readOnly` may be dropped or \
         rejected.",
        "Try a call with the parameter. If the server ignores it, remove it from the input schema.";
        output OutputAccessChanged: Risky None "`readOnly` or `writeOnly` of a result member changed",
        "A member that became `writeOnly` may be missing from results. Validators do not notice.",
        "Check whether the member is still returned.";

    "vendor-keyword-changed" VendorKeywordChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "x-order": 1}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "x-order": 2}}}"#,
        input InputVendorKeywordChanged: Cosmetic None "a keyword outside JSON Schema changed",
        "Validators ignore it, so no call is affected. The framework or client that knows the keyword may behave \
         differently.",
        "Accept it, unless you use the keyword.";
        output OutputVendorKeywordChanged: Cosmetic None "a keyword outside JSON Schema changed in results",
        "Validators ignore it; the client library of the same framework may not.",
        "Accept it, unless you use the keyword.";

    "mcp-header-added" McpHeaderAdded,
        r#"{"type": "object", "properties": {"region": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Region"}}}"#,
        input InputMcpHeaderAdded: Risky Medium "a parameter is now copied into an HTTP header",
        "With `x-mcp-header`, gateways can route by the value, and proxies and access logs can read it. Clients \
         without support, and values that a header cannot carry, may be rejected. If the parameter's name suggests \
         a secret (`token`, `password`), the exposure is high.",
        "Check that the parameter never carries anything secret or personal.";
        output OutputMcpHeaderAdded: Risky Medium "`x-mcp-header` was added to a result member",
        "The keyword has an effect on arguments only.",
        "Remove it; it was probably meant for an argument.";

    "mcp-header-removed" McpHeaderRemoved,
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Region"}}}"# =>
        r#"{"type": "object", "properties": {"region": {"type": "string"}}}"#,
        input InputMcpHeaderRemoved: Risky None "a parameter is no longer copied into an HTTP header",
        "Gateways that route, limit or audit by the header see requests without it.",
        "Check the gateways and proxies in front of the server before the release.";
        output OutputMcpHeaderRemoved: Risky None "`x-mcp-header` was removed from a result member",
        "The keyword has an effect on arguments only.",
        "Accept it. Check whether it moved to an argument.";

    "mcp-header-changed" McpHeaderChanged,
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Region"}}}"# =>
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Area"}}}"#,
        input InputMcpHeaderChanged: Risky Medium "a parameter is copied into a different HTTP header",
        "What routes, limits or audits by the old header no longer sees the value, and what reads the new one does.",
        "Configure gateways for both names before the release.";
        output OutputMcpHeaderChanged: Risky Medium "`x-mcp-header` of a result member changed",
        "The keyword has an effect on arguments only.",
        "Remove it; it was probably meant for an argument.";

    } $($after)* } };
}
pub(in crate::rules) use annotation_families;
