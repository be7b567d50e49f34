//! Rules about what validators ignore and models read.

macro_rules! annotation_families {
    ($rules:tt { $($families:tt)* } $next:ident $($after:ident)*) => { $next! { $rules { $($families)*

    "default-changed" DefaultChanged,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 10}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 100}}}"#,
        input InputDefaultChanged: Risky None "the default of a parameter changed",
        "A call that leaves the parameter out is accepted as before and means something else. Nobody gets an error: results are \
         longer, slower, in another unit, or written to another place. Since most calls leave most parameters out, a default is \
         part of the behaviour of nearly every call.",
        "Say it in the release notes. If the old value mattered for safety (dry runs, limits, confirmations), do not change it \
         in a minor release.";
        output OutputDefaultChanged: Cosmetic None "the default of a member of results changed",
        "Nobody fills in defaults when reading a result, so this changes nothing but the text of the schema. Generators write the \
         default of a field into the schema of results all the same.",
        "Accept it.";

    "default-added" DefaultAdded,
        r#"{"type": "object", "properties": {"limit": {"type": "integer"}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 100}}}"#,
        input InputDefaultAdded: Cosmetic None "a parameter has a default now",
        "The schema says what happens when the parameter is left out. Usually the server did that before and only the \
         description of it is new. If the behaviour changed too, the schema cannot show it, because what happened before was \
         not written down.",
        "Accept it after a look at whether the server's behaviour changed with it.";
        output OutputDefaultAdded: Cosmetic None "a member of results has a default now",
        "Nobody fills in defaults when reading a result, so this changes nothing but the text of the schema.",
        "Accept it; a default in a result schema is noise of the generator.";

    "default-removed" DefaultRemoved,
        r#"{"type": "object", "properties": {"limit": {"type": "integer", "default": 100}}}"# =>
        r#"{"type": "object", "properties": {"limit": {"type": "integer"}}}"#,
        input InputDefaultRemoved: Risky None "a parameter no longer has a default",
        "A call without the parameter is accepted, and what it means is no longer written anywhere. Clients that filled in the \
         default before sending now send nothing. If the parameter became required at the same time, that has a line of its \
         own.",
        "Keep the default in the schema as long as the server has one.";
        output OutputDefaultRemoved: Cosmetic None "a member of results no longer has a default",
        "Nobody fills in defaults when reading a result, so this changes nothing but the text of the schema.",
        "Accept it; a default in a result schema is noise of the generator.";

    "description-changed" DescriptionChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city, in English"}}}"#,
        input InputDescriptionChanged: Cosmetic Low "the description of a parameter changed",
        "No validator reads it and every model does: the description decides what an agent sends. Most edits are harmless. The \
         text is also where an instruction can be hidden that no user sees, so a new address or a new order to the model \
         (\"always include the conversation\") raises the exposure to high while the level stays cosmetic.",
        "Read the new text as if it were a prompt that you are about to run, because it is.";
        output OutputDescriptionChanged: Cosmetic Low "the description of a member of results changed",
        "Models that are shown the schema of results read the text; nobody else does. A new address or a new order to the model \
         raises the exposure to high.",
        "Read the new text as if it were a prompt that you are about to run, because it is.";

    "title-changed" TitleChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "title": "City"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "title": "City name"}}}"#,
        input InputTitleChanged: Cosmetic None "the title of a parameter changed",
        "Titles come from generators, which derive them from the name (`Max Results` for `max_results`), and serve forms. No call \
         is affected. Hundreds of them appear or vanish at once when a framework is upgraded.",
        "Accept it. Turning titles off in the generator saves tokens in every session.";
        output OutputTitleChanged: Cosmetic None "the title of a member of results changed",
        "Titles come from generators and serve forms. No reader of results is affected, and no validator looks at them.",
        "Accept it. Turning titles off in the generator saves tokens in every session.";

    "examples-changed" ExamplesChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "examples": ["Oslo"]}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "examples": ["Bergen"]}}}"#,
        input InputExamplesChanged: Cosmetic None "the examples of a parameter changed",
        "Examples are shown to models, and models imitate them: they are the part of a schema that agents copy most faithfully. \
         No call is refused because of them.",
        "See that the examples are valid and harmless: an example is what will be sent by an agent that is unsure.";
        output OutputExamplesChanged: Cosmetic None "the examples of a member of results changed",
        "Examples illustrate what a result may look like. No validator reads them, and no result is refused because of them.",
        "See that the examples are still true.";

    "deprecated-changed" DeprecatedChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "deprecated": true}}}"#,
        input InputDeprecatedChanged: Risky None "a parameter is deprecated now, or no longer",
        "Everything works as before, and the server announces that it will not stay so. Callers who act on the announcement are \
         spared the breaking change that follows. Taking a deprecation back is cosmetic.",
        "Find out what replaces the parameter and move. As an author, name the replacement in the description.";
        output OutputDeprecatedChanged: Risky None "a member of results is deprecated now, or no longer",
        "The member is still returned, and the server announces that it will not be returned for ever. Readers should stop \
         relying on it.",
        "Find out where the information will be and read it from there.";

    "access-changed" AccessChanged,
        r#"{"type": "object", "properties": {"id": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"id": {"type": "string", "readOnly": true}}}"#,
        input InputAccessChanged: Risky None "`readOnly` or `writeOnly` of a parameter changed",
        "The keywords say who may set a value. Validators ignore them, servers may not: a parameter that is read-only now may be \
         dropped or refused when a caller sends it.",
        "Try a call that sends the parameter. If the server ignores it, remove it from the input schema.";
        output OutputAccessChanged: Risky None "`readOnly` or `writeOnly` of a member of results changed",
        "A member that is write-only now may be left out of results. Validators do not notice, and readers do.",
        "Check whether the member is still returned.";

    "vendor-keyword-changed" VendorKeywordChanged,
        r#"{"type": "object", "properties": {"city": {"type": "string", "x-order": 1}}}"# =>
        r#"{"type": "object", "properties": {"city": {"type": "string", "x-order": 2}}}"#,
        input InputVendorKeywordChanged: Cosmetic None "a keyword that JSON Schema does not know changed",
        "Frameworks put notes of their own into schemas. Validators ignore them by definition, so no call is affected by the \
         schema; the framework or the client that knows the keyword may behave differently.",
        "Accept it, unless you are the one who reads the keyword.";
        output OutputVendorKeywordChanged: Cosmetic None "a keyword that JSON Schema does not know changed in results",
        "Frameworks put notes of their own into schemas, such as whether a bare result was wrapped into an object. Validators \
         ignore them; the client library of the same framework may not.",
        "Accept it, unless you are the one who reads the keyword.";

    "mcp-header-added" McpHeaderAdded,
        r#"{"type": "object", "properties": {"region": {"type": "string"}}}"# =>
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Region"}}}"#,
        input InputMcpHeaderAdded: Risky Medium "a parameter is copied into an HTTP header now",
        "With `x-mcp-header` a client copies the value of a parameter into a header of its request. Gateways can route by it, and \
         proxies and access logs on the way can read it, although the body is protected from them. Clients that do not support \
         the header may be refused, and a value with characters that a header cannot carry no longer fits.",
        "See that the parameter never carries anything secret or personal. Approve the header as you would approve a new \
         recipient of the value.";
        output OutputMcpHeaderAdded: Risky Medium "a member of results asks for an HTTP header now",
        "The keyword has a meaning for arguments only. In the schema of results it does nothing today, and says that somebody \
         expects it to do something.",
        "Remove it from the result schema; it was probably meant for an argument.";

    "mcp-header-removed" McpHeaderRemoved,
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Region"}}}"# =>
        r#"{"type": "object", "properties": {"region": {"type": "string"}}}"#,
        input InputMcpHeaderRemoved: Risky None "a parameter is no longer copied into an HTTP header",
        "Clients stop sending the header. Whatever stands between client and server and routes, limits or audits by it sees \
         requests without it and may send them to the wrong place.",
        "Check the gateways and proxies in front of the server before you release.";
        output OutputMcpHeaderRemoved: Risky None "a member of results no longer asks for an HTTP header",
        "The keyword has a meaning for arguments only, so that removing it from the schema of results changes nothing for readers \
         of results.",
        "Accept it, after a look at whether the keyword moved to an argument.";

    "mcp-header-changed" McpHeaderChanged,
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Region"}}}"# =>
        r#"{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "X-Area"}}}"#,
        input InputMcpHeaderChanged: Risky Medium "a parameter is copied into another HTTP header",
        "Clients send the value under another name. What routes, limits or audits by the old header no longer sees it, and what \
         reads the new one does.",
        "Configure the gateways for both names before you release, and check that nobody else uses the new one.";
        output OutputMcpHeaderChanged: Risky Medium "a member of results asks for another HTTP header",
        "The keyword has a meaning for arguments only. In the schema of results it does nothing today, whatever header it may \
         happen to name.",
        "Remove it from the result schema; it was probably meant for an argument.";

    } $($after)* } };
}
pub(in crate::rules) use annotation_families;
