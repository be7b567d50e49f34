//! Rules about what clients accept: a finding if it was already so, a change if it is new.

macro_rules! conformance_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "list-now-refused" ListNowRefused [] Change Breaking None,
        "clients that validate now refuse the whole list",
        "A component no longer matches the protocol's schema of the negotiated revision, or a new one does not. The \
         official SDKs validate a list as a whole: Claude Code, Cursor and others then show no tool of the server, \
         mostly without an error. Risky if the list was refused before.",
        "Fix the component, for example by `\"type\": \"object\"` at the root of `inputSchema`.";
    "list-refused" ListRefused [] Finding Risky None,
        "clients that validate refuse the whole list",
        "A component does not match the protocol's schema of the negotiated revision, and did not before. The official \
         SDKs validate a list as a whole: one bad tool, and Claude Code, Cursor and others show none of the server.",
        "Fix the component. Users of lenient clients notice nothing; the others cannot use the server at all.";
    "schema-now-invalid" SchemaNowInvalid [] Change Breaking None,
        "a tool's schema is no longer valid JSON Schema",
        "`inputSchema` or `outputSchema` does not satisfy the metaschema of its dialect (2020-12 without `$schema`), \
         such as `\"type\": \"int\"`, or declares a dialect that does not exist. Clients pass schemas on to a model's API, which refuses the whole request: no \
         tool of any server can be called.",
        "Fix the schema at the place shown.";
    "schema-invalid" SchemaInvalid [] Finding Risky None,
        "a tool's schema is not valid JSON Schema",
        "`inputSchema` or `outputSchema` does not satisfy the metaschema of its dialect (2020-12 without `$schema`), \
         or declares one that does not exist, and did so before. Clients pass schemas on to a model's API, which refuses the whole request.",
        "Fix the schema at the place shown.";
    "schema-ref-now-external" SchemaRefNowExternal [] Change Breaking Medium,
        "a tool's schema now refers to another document",
        "Clients must not fetch a `$ref` that leads out of the schema, and should reject the schema. One that fetches \
         it anyway reads something that no baseline covers and that can change at any time.",
        "Copy the definition into `$defs`.";
    "schema-ref-external" SchemaRefExternal [] Finding Risky Medium,
        "a tool's schema refers to another document",
        "Clients must not fetch a `$ref` that leads out of the schema, and should reject the schema. What it refers to \
         is not part of the baseline.",
        "Copy the definition into `$defs`.";
    "schema-now-too-large" SchemaNowTooLarge [] Change Risky None,
        "a tool's schema is now larger than clients may accept",
        "The protocol asks clients to bound the depth and number of schemas. No number is prescribed; mcp-keel reports \
         more than 5,000 schemas, or more than 64 inside each other.",
        "Split the tool, or simplify its schema.",
        "a schema in which `properties` is nested 70 times";
    "schema-too-large" SchemaTooLarge [] Finding Risky None,
        "a tool's schema is larger than clients may accept",
        "The protocol asks clients to bound the depth and number of schemas. No number is prescribed; mcp-keel reports \
         more than 5,000 schemas, or more than 64 inside each other.",
        "Split the tool, or simplify its schema.",
        "a schema in which `properties` is nested 70 times, in the baseline too";
    "tool-name-now-invalid" ToolNameNowInvalid [] Change Breaking None,
        "a new tool has a name outside the protocol's rules",
        "Names should have 1 to 128 of `A-Z a-z 0-9 _ . -`. Models' APIs accept no spaces or other signs: a client \
         that passes the name on has its whole request refused, others drop or rename the tool.",
        "Rename the tool before others depend on it.";
    "tool-name-invalid" ToolNameInvalid [] Finding Risky None,
        "a tool's name is outside the protocol's rules",
        "Names should have 1 to 128 of `A-Z a-z 0-9 _ . -`. Models' APIs accept no spaces or other signs: a client \
         that passes the name on has its whole request refused, others drop or rename the tool.",
        "Add the tool under a valid name, and keep the old one for a release.";
    "tool-name-now-too-long" ToolNameNowTooLong [] Change Risky None,
        "a new tool's name is too long once clients prefix it",
        "Clients call a tool `mcp__SERVER__TOOL` or similar, and models' APIs allow 64 characters. Beyond that the \
         request fails. The server is assumed to be called by `serverInfo.name`; users may call it otherwise.",
        "Use a shorter name before others depend on it.";
    "tool-name-too-long" ToolNameTooLong [] Finding Risky None,
        "a tool's name is too long once clients prefix it",
        "Clients call a tool `mcp__SERVER__TOOL` or similar, and models' APIs allow 64 characters. Beyond that the \
         request fails. The server is assumed to be called by `serverInfo.name`; users may call it otherwise.",
        "Use shorter names, or advise users to call the server by a short one.";
    "client-now-refuses-tool" ClientNowRefusesTool [] Change Breaking None,
        "a known client now refuses a tool that the protocol allows",
        "Anthropic's API refuses a whole request for a repeated name, a schema that is not 2020-12, `oneOf`, `anyOf` or \
         `allOf` at the root of `inputSchema`, or a parameter name outside 1 to 64 of `A-Za-z0-9_.-`. The TypeScript SDK \
         lists no tool if an `outputSchema` has a `$ref` without a target or a `pattern` that is not JavaScript. Some \
         clients refuse an `outputSchema` of an older dialect: risky for an existing tool.",
        "Change the schema at the place shown. At the root use one object, and check conditions in the server. If no \
         user has that client, pin.";
    "client-refuses-tool" ClientRefusesTool [] Finding Risky None,
        "a known client refuses a tool that the protocol allows",
        "Anthropic's API refuses a whole request for a repeated name, a schema that is not 2020-12, `oneOf`, `anyOf` or \
         `allOf` at the root of `inputSchema`, or a parameter name outside 1 to 64 of `A-Za-z0-9_.-`. The TypeScript SDK \
         lists no tool if an `outputSchema` has a `$ref` without a target or a `pattern` that is not JavaScript. Some \
         clients refuse an `outputSchema` of an older dialect: risky for an existing tool.",
        "Change the schema at the place shown. At the root use one object, and check conditions in the server.";
    "app-resource-now-missing" AppResourceNowMissing [] Change Breaking None,
        "the document that shows a tool's results can no longer be read",
        "`_meta.ui.resourceUri` must lead to a `ui://` resource that exists. It does not if the address has another \
         scheme, if the server declares no `resources`, or if the document is no longer listed. Hosts then \
         show nothing. A server may leave such documents out of its list from the start; with `read-resources` each is \
         read, and one that is refused is `content-now-unusable`.",
        "Serve and list the document, or remove `_meta.ui.resourceUri`.";
    "app-resource-missing" AppResourceMissing [] Finding Risky None,
        "the document that shows a tool's results cannot be read",
        "`_meta.ui.resourceUri` must lead to a `ui://` resource that exists. It does not if the address has another \
         scheme, or if the server declares no `resources`. Hosts then show nothing.",
        "Serve the document under `ui://` and declare `resources`, or remove `_meta.ui.resourceUri`.";

    } $families $($after)* } };
}
pub(super) use conformance_rules;
