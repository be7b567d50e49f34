//! Each part of the protocol gets its verdict, in every revision that has it.
//!
//! A row is a difference between two captures, with the rule, level, exposure and witness that it
//! must have. The same rows are the table in `docs/protocol.md`.

use mcp_keel::conformance;
use mcp_keel::drift::{Change, compare};
use mcp_keel::judgement::{Exposure, Level, Proof};
use mcp_keel::rules::{RuleId, Subject};
use mcp_keel::surface::Surface;
use serde_json::{Map, Value, json};

use crate::generated::assert_blocks_current;
use crate::keel::Keel;
use crate::surfaces::of;

const ALL: &[&str] = &["2025-06-18", "2025-11-25", "2026-07-28"];
const TASKS: &[&str] = &["2025-11-25"];
const MODERN: &[&str] = &["2026-07-28"];

/// One row: what differs, and its verdict.
struct Row {
    change: &'static str,
    revisions: &'static [&'static str],
    old: Value,
    new: Value,
    rule: RuleId,
    level: Level,
    exposure: Exposure,
    /// What the witness contains.
    witness: Option<&'static str>,
}

impl Row {
    /// A row with the level and the exposure of its rule.
    fn new(
        change: &'static str,
        revisions: &'static [&'static str],
        pair: [Value; 2],
        rule: RuleId,
    ) -> Self {
        let [old, new] = pair;
        Self {
            change,
            revisions,
            old,
            new,
            rule,
            level: rule.rule().level,
            exposure: rule.rule().exposure,
            witness: None,
        }
    }

    fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    fn exposure(mut self, exposure: Exposure) -> Self {
        self.exposure = exposure;
        self
    }

    fn witness(mut self, text: &'static str) -> Self {
        self.witness = Some(text);
        self
    }
}

/// A capture at a revision. `parts` may have `capabilities`, `first` (further members of the first answer), `info`,
/// `caching`, `listMembers`, the four lists, `skills` and `contents`.
fn capture(revision: &str, parts: &Value) -> Value {
    let list = |name: &str| parts.get(name).cloned().unwrap_or(json!([]));
    let capabilities = parts
        .get("capabilities")
        .cloned()
        .unwrap_or(json!({"tools": {}}));
    let mut info = json!({"name": "weather", "version": "1.4.0"});
    merge(&mut info, parts.get("info"));
    let mut first = if revision == "2026-07-28" {
        json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
            "ttlMs": 0, "cacheScope": "public", "_meta": {"io.modelcontextprotocol/serverInfo": info}})
    } else {
        json!({"protocolVersion": revision, "capabilities": capabilities, "serverInfo": info})
    };
    merge(&mut first, parts.get("first"));
    let mut capture = json!({"tools": list("tools"), "prompts": list("prompts"), "resources": list("resources"),
        "resourceTemplates": list("resourceTemplates")});
    let members = if revision == "2026-07-28" {
        json!({"protocolVersion": revision, "discover": first})
    } else {
        json!({"initialize": first})
    };
    merge(&mut capture, Some(&members));
    for list in ["skills", "contents"] {
        if let Some(entries) = parts.get(list) {
            merge(&mut capture, Some(&json!({ list: entries })));
        }
    }
    for member in ["caching", "listMembers"] {
        if let Some(value) = parts.get(member) {
            merge(&mut capture, Some(&json!({ member: value })));
        }
    }
    capture
}

fn merge(into: &mut Value, more: Option<&Value>) {
    let empty = Map::new();
    let more = more.and_then(Value::as_object).unwrap_or(&empty);
    into.as_object_mut().unwrap().extend(more.clone());
}

fn surface(revision: &str, parts: &Value) -> Surface {
    of(&capture(revision, parts).to_string())
}

/// A tool with further members.
fn tool(more: Value) -> Value {
    let mut tool = json!({"name": "forecast", "description": "Forecast for a city.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}});
    merge(&mut tool, Some(&more));
    json!({"tools": [tool]})
}

/// A tool with `_meta.ui`.
fn ui(ui: Value) -> Value {
    tool(json!({"_meta": {"ui": ui}}))
}

/// A resource with further members.
fn resource(more: Value) -> Value {
    let mut resource = json!({"uri": "weather://stations", "name": "stations"});
    merge(&mut resource, Some(&more));
    json!({"capabilities": {"tools": {}, "resources": {}}, "resources": [resource]})
}

fn template(uri: &str, capabilities: Value) -> Value {
    json!({"capabilities": capabilities, "resourceTemplates": [{"uriTemplate": uri, "name": "station"}]})
}

fn declares(capabilities: Value) -> Value {
    json!({ "capabilities": capabilities })
}

fn extensions(names: &[&str], more: Value) -> Value {
    let extensions: Map<String, Value> = names
        .iter()
        .map(|it| ((*it).to_owned(), json!({})))
        .collect();
    let mut parts = json!({"capabilities": {"tools": {}, "extensions": extensions}});
    merge(&mut parts, Some(&more));
    parts
}

fn task(support: &str) -> Value {
    let mut parts = tool(json!({"execution": {"taskSupport": support}}));
    let tasks =
        json!({"capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}});
    merge(&mut parts, Some(&tasks));
    parts
}

fn cached(scope: &str) -> Value {
    json!({"caching": {"tools/list": {"cacheScope": scope, "ttlMs": 60000}}})
}

fn versions(versions: &[&str]) -> Value {
    json!({"first": {"supportedVersions": versions}})
}

fn header(name: &str, header: Option<&str>) -> Value {
    let mut schema = json!({"type": "string"});
    merge(
        &mut schema,
        header.map(|it| json!({"x-mcp-header": it})).as_ref(),
    );
    tool(json!({"inputSchema": {"type": "object", "properties": {name: schema}}}))
}

fn icon(src: &str) -> Value {
    tool(json!({"icons": [{"src": src}]}))
}

const APPS: &str = "io.modelcontextprotocol/ui";
const SKILLS: &str = "io.modelcontextprotocol/skills";
const DIGEST: &str = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const OTHER_DIGEST: &str =
    "sha256:486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7";
const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";
const SEARCH: &str = "com.example/search";

fn revisions() -> Vec<Row> {
    use RuleId::{RevisionAdded, RevisionDropped, UnclassifiedChange};
    let both = versions(&["2025-11-25", "2026-07-28"]);
    let one = versions(&["2026-07-28"]);
    vec![
        Row::new(
            "`supportedVersions` loses a revision, or every one of the `initialize` era",
            MODERN,
            [both.clone(), one.clone()],
            RevisionDropped,
        )
        .witness("\"initialize\""),
        Row::new(
            "`supportedVersions` is no longer an array",
            MODERN,
            [
                one.clone(),
                json!({"first": {"supportedVersions": "2026-07-28"}}),
            ],
            RevisionDropped,
        ),
        Row::new(
            "`supportedVersions` gains a revision",
            MODERN,
            [one, both],
            RevisionAdded,
        ),
        Row::new(
            "a member of the first answer that no revision defines",
            ALL,
            [json!({}), json!({"first": {"quota": 5}})],
            UnclassifiedChange,
        ),
        Row::new(
            "a member of a list result that no revision defines",
            ALL,
            [
                json!({}),
                json!({"listMembers": {"tools/list": {"partial": true}}}),
            ],
            UnclassifiedChange,
        ),
    ]
}

fn capabilities() -> Vec<Row> {
    use RuleId::{CapabilityChanged, CapabilityRemoved};
    let less = || declares(json!({"tools": {}}));
    let prompt = json!({"name": "trip", "arguments": [{"name": "city"}]});
    let with = |capabilities: Value| json!({"capabilities": capabilities, "prompts": [prompt]});
    let app_only = |capabilities: Value| {
        let mut parts = ui(json!({"visibility": ["model"]}));
        merge(&mut parts, Some(&declares(capabilities)));
        parts
    };
    vec![
        Row::new(
            "`prompts` removed, no prompt was listed",
            ALL,
            [declares(json!({"tools": {}, "prompts": {}})), less()],
            CapabilityRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`resources` removed, nothing was listed",
            ALL,
            [
                declares(json!({"tools": {}, "resources": {"subscribe": false}})),
                less(),
            ],
            CapabilityRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`resources` removed, a tool has `_meta.ui` but no document",
            ALL,
            [
                app_only(json!({"tools": {}, "resources": {}})),
                app_only(json!({"tools": {}})),
            ],
            CapabilityRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`prompts` removed, prompts were listed",
            ALL,
            [with(json!({"tools": {}, "prompts": {}})), less()],
            CapabilityRemoved,
        ),
        Row::new(
            "`completions` removed, prompts have arguments",
            ALL,
            [
                with(json!({"prompts": {}, "completions": {}})),
                with(json!({"prompts": {}})),
            ],
            CapabilityRemoved,
        ),
        Row::new(
            "`completions` removed, nothing to complete",
            ALL,
            [declares(json!({"tools": {}, "completions": {}})), less()],
            CapabilityRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`logging` removed",
            ALL,
            [declares(json!({"tools": {}, "logging": {}})), less()],
            CapabilityRemoved,
        )
        .level(Level::Risky),
        Row::new(
            "`experimental: {}` removed",
            ALL,
            [declares(json!({"tools": {}, "experimental": {}})), less()],
            CapabilityChanged,
        )
        .level(Level::Cosmetic),
        Row::new(
            "an experimental capability removed",
            ALL,
            [
                declares(json!({"tools": {}, "experimental": {"x": {}}})),
                less(),
            ],
            CapabilityRemoved,
        )
        .level(Level::Risky),
        Row::new(
            "`listChanged: false` left out",
            ALL,
            [declares(json!({"tools": {"listChanged": false}})), less()],
            CapabilityChanged,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`tools.listChanged` lost, tools are listed",
            ALL,
            [
                json!({"capabilities": {"tools": {"listChanged": true}}, "tools": [{"name": "a"}]}),
                json!({"capabilities": {"tools": {}}, "tools": [{"name": "a"}]}),
            ],
            CapabilityChanged,
        ),
        Row::new(
            "`prompts.listChanged` lost, no prompt is listed",
            ALL,
            [
                declares(json!({"prompts": {"listChanged": true}})),
                declares(json!({"prompts": {}})),
            ],
            CapabilityChanged,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`tasks` removed, no tool may be called as a task",
            TASKS,
            [declares(json!({"tools": {}, "tasks": {}})), less()],
            CapabilityRemoved,
        )
        .level(Level::Cosmetic),
    ]
}

fn extension_rows() -> Vec<Row> {
    use RuleId::{ExtensionAdded, ExtensionChanged, ExtensionRemoved};
    let shown = || ui(json!({"resourceUri": "ui://weather/map"}));
    vec![
        Row::new(
            "one extension of several removed, tools use it",
            ALL,
            [
                extensions(&[APPS, SEARCH], shown()),
                extensions(&[SEARCH], shown()),
            ],
            ExtensionRemoved,
        ),
        Row::new(
            "MCP Apps removed, no tool has a user interface",
            ALL,
            [
                extensions(&[APPS, SEARCH], json!({})),
                extensions(&[SEARCH], json!({})),
            ],
            ExtensionRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "skills removed, no skill was listed",
            ALL,
            [
                extensions(&[SKILLS, SEARCH], json!({"skills": []})),
                extensions(&[SEARCH], json!({})),
            ],
            ExtensionRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "an extension removed that is not observed",
            ALL,
            [extensions(&[SEARCH], json!({})), extensions(&[], json!({}))],
            ExtensionRemoved,
        ),
        Row::new(
            "an extension added",
            ALL,
            [extensions(&[], json!({})), extensions(&[SEARCH], json!({}))],
            ExtensionAdded,
        ),
        Row::new(
            "the settings of an extension changed",
            ALL,
            [
                declares(json!({"extensions": {SEARCH: {"a": 1}}})),
                declares(json!({"extensions": {SEARCH: {"a": 2}}})),
            ],
            ExtensionChanged,
        ),
    ]
}

fn apps() -> Vec<Row> {
    use RuleId::{
        AppAccessNarrowed, AppAccessWidened, AppDomainChanged, AppResourceChanged,
        AppResourceNowMissing, ContentChanged, ContentNowUnusable, ResourceAdded,
        ResourceMetaChanged, ToolMetaChanged, ToolVisibilityNarrowed, ToolVisibilityWidened,
    };
    let with_csp = |csp: Value| resource(json!({"_meta": {"ui": {"csp": csp}}}));
    let connects = |domains: &[&str]| with_csp(json!({ "connectDomains": domains }));
    let asks =
        |permissions: Value| resource(json!({"_meta": {"ui": {"permissions": permissions}}}));
    let lives = |domain: &str| resource(json!({"_meta": {"ui": {"domain": domain}}}));
    let shows = |uri: &str| ui(json!({"resourceUri": uri}));
    let named_twice = |nested: &str, flat: &str| {
        tool(json!({"_meta": {"ui": {"resourceUri": nested}, "ui/resourceUri": flat}}))
    };
    let with_resources = |mut parts: Value, more: Value| {
        merge(
            &mut parts,
            Some(&json!({"capabilities": {"tools": {}, "resources": {}}})),
        );
        merge(&mut parts, Some(&more));
        parts
    };
    let shows_with_resources = |uri: &str| with_resources(shows(uri), json!({}));
    let listing = |uris: &[&str]| {
        let resources: Vec<Value> = uris
            .iter()
            .map(|uri| json!({"uri": uri, "name": uri}))
            .collect();
        with_resources(shows("ui://weather/a"), json!({ "resources": resources }))
    };
    let reading = |content: Value| {
        let mut document = json!({"uri": "ui://weather/a"});
        merge(&mut document, Some(&content));
        with_resources(shows("ui://weather/a"), json!({"contents": [document]}))
    };
    vec![
        Row::new(
            "`_meta.ui.visibility` loses `model`",
            ALL,
            [tool(json!({})), ui(json!({"visibility": ["app"]}))],
            ToolVisibilityNarrowed,
        )
        .witness("\"forecast\""),
        Row::new(
            "`visibility` loses `app`",
            ALL,
            [
                ui(json!({"visibility": ["app", "model"]})),
                ui(json!({"visibility": ["model"]})),
            ],
            ToolVisibilityNarrowed,
        )
        .witness("\"forecast\""),
        Row::new(
            "`visibility` gains `model`",
            ALL,
            [ui(json!({"visibility": ["app"]})), ui(json!({}))],
            ToolVisibilityWidened,
        ),
        Row::new(
            "`visibility` gains `app`",
            ALL,
            [
                ui(json!({"visibility": ["model"]})),
                ui(json!({"visibility": ["model", "app"]})),
            ],
            ToolVisibilityWidened,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "an empty `_meta.ui` left out",
            ALL,
            [
                tool(json!({"_meta": {"a": 1, "ui": {}}})),
                tool(json!({"_meta": {"a": 1}})),
            ],
            ToolMetaChanged,
        ),
        Row::new(
            "`visibility` states the default",
            ALL,
            [
                ui(json!({"prefersBorder": true})),
                ui(json!({"prefersBorder": true, "visibility": ["app", "model"]})),
            ],
            ToolMetaChanged,
        ),
        Row::new(
            "`csp.connectDomains` grows",
            ALL,
            [
                connects(&["https://a.example"]),
                connects(&["https://a.example", "https://b.example"]),
            ],
            AppAccessWidened,
        ),
        Row::new(
            "`csp.connectDomains` grows beside a list that no specification has",
            ALL,
            [
                connects(&["https://a.example"]),
                with_csp(
                    json!({"connectDomains": ["https://a.example", "https://b.example"], "x": []}),
                ),
            ],
            AppAccessWidened,
        ),
        Row::new(
            "`csp.connectDomains` grows beside something that is not a string",
            ALL,
            [
                connects(&["https://a.example"]),
                with_csp(json!({"connectDomains": ["https://a.example", "https://b.example", 7]})),
            ],
            AppAccessWidened,
        ),
        Row::new(
            "`csp` gains a list that no specification has",
            ALL,
            [
                connects(&["https://a.example"]),
                with_csp(json!({"connectDomains": ["https://a.example"], "workerDomains": ["*"]})),
            ],
            ResourceMetaChanged,
        )
        .exposure(Exposure::High),
        Row::new(
            "`permissions` becomes an array",
            ALL,
            [asks(json!({})), asks(json!(["camera"]))],
            ResourceMetaChanged,
        )
        .exposure(Exposure::High),
        Row::new(
            "`permissions` was an array and becomes an object",
            ALL,
            [asks(json!([])), asks(json!({"camera": {}}))],
            AppAccessWidened,
        ),
        Row::new(
            "`csp` of a tool appears",
            ALL,
            [
                tool(json!({})),
                ui(json!({"csp": {"frameDomains": ["https://b.example"]}})),
            ],
            AppAccessWidened,
        ),
        Row::new(
            "`permissions.camera` added",
            ALL,
            [asks(json!({})), asks(json!({"camera": {}}))],
            AppAccessWidened,
        ),
        Row::new(
            "`permissions` shrinks",
            ALL,
            [asks(json!({"camera": {}})), asks(json!({}))],
            AppAccessNarrowed,
        ),
        Row::new(
            "`domain` changed",
            ALL,
            [lives("a.example"), lives("b.example")],
            AppDomainChanged,
        ),
        Row::new(
            "`resourceUri` changed",
            ALL,
            [shows("ui://weather/a"), shows("ui://weather/b")],
            AppResourceChanged,
        ),
        Row::new(
            "`resourceUri` leads to a document that is no longer listed",
            ALL,
            [
                listing(&["ui://weather/a", "ui://weather/b"]),
                listing(&["ui://weather/b"]),
            ],
            AppResourceNowMissing,
        ),
        Row::new(
            "`resourceUri` is not `ui://`",
            ALL,
            [
                shows_with_resources("ui://weather/a"),
                shows_with_resources("https://weather.example/a"),
            ],
            AppResourceNowMissing,
        ),
        Row::new(
            "`resourceUri` appears, and the server declares no `resources`",
            ALL,
            [tool(json!({})), shows("ui://weather/a")],
            AppResourceNowMissing,
        ),
        Row::new(
            "`resourceUri` leads to a document that the server refuses to read (`read-resources`)",
            ALL,
            [
                reading(json!({"digest": DIGEST, "size": 5})),
                reading(json!({"error": -32002})),
            ],
            ContentNowUnusable,
        ),
        Row::new(
            "the document of a tool changed (`read-resources`)",
            ALL,
            [
                reading(json!({"digest": DIGEST, "size": 5})),
                reading(json!({"digest": OTHER_DIGEST, "size": 5})),
            ],
            ContentChanged,
        ),
        Row::new(
            "a new resource that asks for origins or devices",
            ALL,
            [
                json!({"capabilities": {"tools": {}, "resources": {}}}),
                asks(json!({"camera": {}})),
            ],
            ResourceAdded,
        )
        .exposure(Exposure::High),
        Row::new(
            "`ui/resourceUri` leads elsewhere, `ui.resourceUri` stays",
            ALL,
            [
                named_twice("ui://weather/a", "ui://weather/a"),
                named_twice("ui://weather/a", "ui://other/a"),
            ],
            AppResourceChanged,
        ),
        Row::new(
            "`ui/resourceUri` appears and says the same as `ui.resourceUri`",
            ALL,
            [
                shows("ui://weather/a"),
                named_twice("ui://weather/a", "ui://weather/a"),
            ],
            ToolMetaChanged,
        ),
        Row::new(
            "`ui/resourceUri` moved to `ui.resourceUri`",
            ALL,
            [
                tool(json!({"_meta": {"ui/resourceUri": "ui://weather/a"}})),
                shows("ui://weather/a"),
            ],
            ToolMetaChanged,
        ),
    ]
}

fn tasks() -> Vec<Row> {
    use RuleId::{
        CapabilityAdded, CapabilityChanged, CapabilityRemoved, TaskSupportNarrowed,
        TaskSupportStated, TaskSupportWidened,
    };
    let undeclared = |support: &str| tool(json!({"execution": {"taskSupport": support}}));
    let without_requests = |support: &str| {
        let mut parts = task(support);
        merge(
            &mut parts,
            Some(&json!({"capabilities": {"tools": {}, "tasks": {}}})),
        );
        parts
    };
    let with_cancel = |mut parts: Value| {
        parts["capabilities"]["tasks"]["cancel"] = json!({});
        parts
    };
    vec![
        Row::new(
            "`taskSupport` optional to required",
            TASKS,
            [task("optional"), task("required")],
            TaskSupportNarrowed,
        )
        .witness("{\"name\":\"forecast\",\"arguments\":"),
        Row::new(
            "`taskSupport` required to forbidden",
            TASKS,
            [task("required"), task("forbidden")],
            TaskSupportNarrowed,
        )
        .witness("\"task\":{}"),
        Row::new(
            "`taskSupport` optional to forbidden",
            TASKS,
            [task("optional"), task("forbidden")],
            TaskSupportNarrowed,
        )
        .witness("\"task\":{}"),
        Row::new(
            "`taskSupport` forbidden to optional",
            TASKS,
            [task("forbidden"), task("optional")],
            TaskSupportWidened,
        ),
        Row::new(
            "`taskSupport` absent to forbidden",
            ALL,
            [tool(json!({})), undeclared("forbidden")],
            TaskSupportStated,
        ),
        Row::new(
            "`tasks` declared, `taskSupport` was `required` before",
            TASKS,
            [undeclared("required"), task("required")],
            CapabilityAdded,
        )
        .level(Level::Breaking)
        .witness("{\"name\":\"forecast\",\"arguments\":"),
        Row::new(
            "`tasks` declared, `taskSupport` is `optional`",
            TASKS,
            [undeclared("optional"), task("optional")],
            CapabilityAdded,
        ),
        Row::new(
            "`tasks.requests` removed, a tool may be called as a task",
            TASKS,
            [task("optional"), without_requests("optional")],
            CapabilityRemoved,
        ),
        Row::new(
            "`tasks.cancel` removed, a tool may be called as a task",
            TASKS,
            [with_cancel(task("optional")), task("optional")],
            CapabilityChanged,
        ),
        Row::new(
            "`tasks.requests` removed, no tool may be called as a task",
            TASKS,
            [task("forbidden"), without_requests("forbidden")],
            CapabilityRemoved,
        )
        .level(Level::Cosmetic),
        Row::new(
            "`taskSupport` required where no revision or capability gives it a meaning",
            ALL,
            [undeclared("optional"), undeclared("required")],
            TaskSupportNarrowed,
        )
        .level(Level::Risky),
    ]
}

fn caching() -> Vec<Row> {
    use RuleId::{CacheScopeChanged, ListNowRefused};
    let lasting =
        |ttl: Value| json!({"caching": {"tools/list": {"cacheScope": "public", "ttlMs": ttl}}});
    vec![
        Row::new(
            "`cacheScope` private to public",
            MODERN,
            [cached("private"), cached("public")],
            CacheScopeChanged,
        ),
        Row::new(
            "`cacheScope` public to private",
            MODERN,
            [cached("public"), cached("private")],
            CacheScopeChanged,
        )
        .exposure(Exposure::None),
        Row::new(
            "`cacheScope` public to missing",
            MODERN,
            [cached("public"), json!({})],
            CacheScopeChanged,
        )
        .exposure(Exposure::None),
        Row::new(
            "`cacheScope` neither `public` nor `private`",
            MODERN,
            [cached("public"), cached("shared")],
            ListNowRefused,
        ),
        Row::new(
            "`ttlMs` below 0, or not an integer",
            MODERN,
            [lasting(json!(60)), lasting(json!("60"))],
            ListNowRefused,
        ),
        Row::new(
            "`ttlMs` is valid again",
            MODERN,
            [lasting(json!(-5)), lasting(json!(60))],
            CacheScopeChanged,
        )
        .exposure(Exposure::None),
        Row::new(
            "`cacheScope` missing to public",
            MODERN,
            [json!({}), cached("public")],
            CacheScopeChanged,
        ),
    ]
}

fn parameters() -> Vec<Row> {
    use RuleId::{
        InputAdditionalPropertiesClosed, InputMcpHeaderAdded, ObjectPropertiesOmitted, ToolAdded,
    };
    let password = json!({"type": "string", "x-mcp-header": "Password"});
    let auth = json!({"type": "object", "properties": {"password": password}});
    let nested_header = tool(json!({"annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"auth": auth}}}));
    let options = |schema: Value| {
        tool(json!({"inputSchema": {"type": "object", "properties": {"options": schema}}}))
    };
    let strict = json!({"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    vec![
        Row::new(
            "`properties: {}` of an object parameter left out",
            ALL,
            [
                options(json!({"type": "object", "properties": {}})),
                options(json!({"type": "object"})),
            ],
            ObjectPropertiesOmitted,
        ),
        Row::new(
            "`properties: {}` of a parameter that may be `null` left out",
            ALL,
            [
                options(json!({"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]})),
                options(json!({"anyOf": [{"type": "object"}, {"type": "null"}]})),
            ],
            ObjectPropertiesOmitted,
        ),
        Row::new(
            "`additionalProperties: false` added",
            ALL,
            [
                tool(json!({"inputSchema": open})),
                tool(json!({"inputSchema": strict})),
            ],
            InputAdditionalPropertiesClosed,
        ),
        Row::new(
            "`x-mcp-header` on a parameter",
            ALL,
            [header("region", None), header("region", Some("Region"))],
            InputMcpHeaderAdded,
        ),
        Row::new(
            "a new read-only tool with `x-mcp-header` on a nested parameter that names a secret",
            ALL,
            [json!({}), nested_header],
            ToolAdded,
        )
        .exposure(Exposure::High),
        Row::new(
            "`x-mcp-header` on a parameter that names a secret",
            ALL,
            [header("api_token", None), header("api_token", Some("Key"))],
            InputMcpHeaderAdded,
        )
        .exposure(Exposure::High),
    ]
}

fn icons() -> Vec<Row> {
    use RuleId::{ResourceAdded, ServerInfoChanged, ToolIconsChanged};
    let no_resource = || json!({"capabilities": {"tools": {}, "resources": {}}});
    let own = || icon("https://weather.example/a.png");
    let of_server = |src: &str| json!({"info": {"icons": [{"src": src}]}});
    vec![
        Row::new(
            "an icon of the same origin",
            ALL,
            [own(), icon("https://weather.example/b.png")],
            ToolIconsChanged,
        ),
        Row::new(
            "an icon of another origin",
            ALL,
            [own(), icon("https://other.example/a.png")],
            ToolIconsChanged,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "an SVG icon",
            ALL,
            [own(), icon("https://weather.example/a.svg")],
            ToolIconsChanged,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "an icon that is neither `https:` nor `data:`",
            ALL,
            [own(), icon("javascript:alert(1)")],
            ToolIconsChanged,
        )
        .exposure(Exposure::High),
        Row::new(
            "a new resource with an icon of some origin",
            ALL,
            [
                no_resource(),
                resource(json!({"icons": [{"src": "https://other.example/a.svg"}]})),
            ],
            ResourceAdded,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "a new resource with an icon that is neither `https:` nor `data:`",
            ALL,
            [
                no_resource(),
                resource(json!({"icons": [{"src": "file:///etc/passwd"}]})),
            ],
            ResourceAdded,
        )
        .exposure(Exposure::High),
        Row::new(
            "an icon of the server of another origin",
            ALL,
            [
                of_server("https://weather.example/a.png"),
                of_server("https://other.example/a.png"),
            ],
            ServerInfoChanged,
        )
        .exposure(Exposure::Medium),
    ]
}

fn resources() -> Vec<Row> {
    use RuleId::{AudienceWidened, ResourceAnnotationChanged, TemplateUriChanged};
    let audience = |roles: &[&str]| resource(json!({"annotations": {"audience": roles}}));
    let plain = json!({"resources": {}});
    let completes = json!({"resources": {}, "completions": {}});
    vec![
        Row::new(
            "`audience` user to assistant",
            ALL,
            [audience(&["user"]), audience(&["assistant"])],
            AudienceWidened,
        ),
        Row::new(
            "`audience` assistant to user",
            ALL,
            [audience(&["assistant"]), audience(&["user"])],
            ResourceAnnotationChanged,
        ),
        Row::new(
            "`audience` user left out: both are meant",
            ALL,
            [audience(&["user"]), resource(json!({"annotations": {}}))],
            AudienceWidened,
        ),
        Row::new(
            "`uriTemplate` makes other addresses",
            ALL,
            [
                template("weather://{id}", plain.clone()),
                template("weather://{country}/{id}", plain.clone()),
            ],
            TemplateUriChanged,
        )
        .witness("\"weather://1\""),
        Row::new(
            "`uriTemplate` no longer takes a path (`{+path}` to `{path}`)",
            ALL,
            [
                template("file:///{+path}", plain.clone()),
                template("file:///{path}", plain.clone()),
            ],
            TemplateUriChanged,
        )
        .witness("\"file:///a/b\""),
        Row::new(
            "`uriTemplate` with its literal percent-encoded",
            ALL,
            [
                template("docs://café/{id}", plain.clone()),
                template("docs://caf%C3%A9/{id}", plain.clone()),
            ],
            TemplateUriChanged,
        )
        .level(Level::Risky),
        Row::new(
            "`uriTemplate` with other variables, the same addresses",
            ALL,
            [
                template("weather://{id}", completes.clone()),
                template("weather://{station}", completes),
            ],
            TemplateUriChanged,
        )
        .level(Level::Risky),
    ]
}

/// The roots of schemas (SEP-2106), and what clients refuse as a whole.
fn lists() -> Vec<Row> {
    use RuleId::{
        ClientNowRefusesTool, InputDialectChanged, InputPropertyTypeChanged, ListNowRefused,
        OutputPropertyTypeChanged, SchemaNowInvalid, SchemaNowTooLarge, SchemaRefNowExternal,
        ToolNameNowInvalid, ToolNameNowTooLong,
    };
    let input = |schema: Value| tool(json!({ "inputSchema": schema }));
    let output = |schema: Value| tool(json!({ "outputSchema": schema }));
    let list = |of: &str| output(json!({"type": "array", "items": {"type": of}}));
    let city = || json!({"city": {"type": "string"}});
    let object = || input(json!({"type": "object", "properties": city()}));
    let named = |name: &str| json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]});
    let twice = |times: usize| {
        let tool = json!({"name": "forecast", "inputSchema": {"type": "object"}});
        json!({ "tools": vec![tool; times] })
    };
    let dangling = || json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Screen"}}});
    let complete = || {
        let mut schema = dangling();
        merge(
            &mut schema,
            Some(&json!({"$defs": {"Screen": {"type": "string"}}})),
        );
        schema
    };
    let matching = |pattern: &str| {
        output(
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}),
        )
    };
    let spoken = |dialect: Option<&str>| {
        let mut schema = json!({"type": "object"});
        merge(
            &mut schema,
            dialect.map(|it| json!({ "$schema": it })).as_ref(),
        );
        output(schema)
    };
    let deep = (0..70).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    );
    vec![
        Row::new(
            "the root of `outputSchema`: `string` to `number`",
            MODERN,
            [
                output(json!({"type": "string"})),
                output(json!({"type": "number"})),
            ],
            OutputPropertyTypeChanged,
        )
        .witness("1"),
        Row::new(
            "the root of `outputSchema`: `array` to `object`",
            MODERN,
            [list("string"), output(json!({"type": "object"}))],
            OutputPropertyTypeChanged,
        )
        .witness("{}"),
        Row::new(
            "`items` of a root array: `string` to `number`",
            MODERN,
            [list("string"), list("number")],
            OutputPropertyTypeChanged,
        )
        .witness("[1]"),
        Row::new(
            "the root of `inputSchema`: `object` to `string`",
            ALL,
            [object(), input(json!({"type": "string"}))],
            InputPropertyTypeChanged,
        )
        .witness("{}"),
        Row::new(
            "the root of `inputSchema` without `type: object`",
            ALL,
            [object(), input(json!({"properties": city()}))],
            ListNowRefused,
        ),
        Row::new(
            "the root of `inputSchema`: `anyOf` instead of `type: object`",
            ALL,
            [
                object(),
                input(json!({"anyOf": [{"type": "object", "properties": city()}]})),
            ],
            ListNowRefused,
        ),
        Row::new(
            "`anyOf` beside `type: object` at the root of `inputSchema`",
            ALL,
            [
                object(),
                input(
                    json!({"type": "object", "properties": city(), "anyOf": [{"required": ["city"]}, {}]}),
                ),
            ],
            ClientNowRefusesTool,
        ),
        Row::new(
            "a root of `outputSchema` that is not an object, where the revision demands one",
            &["2025-06-18", "2025-11-25"],
            [tool(json!({})), list("string")],
            ListNowRefused,
        ),
        Row::new(
            "a new tool with a schema that is not JSON Schema (`\"type\": \"int\"`)",
            ALL,
            [
                json!({}),
                input(json!({"type": "object", "properties": {"days": {"type": "int"}}})),
            ],
            SchemaNowInvalid,
        ),
        Row::new(
            "a `$ref` to another document",
            ALL,
            [
                json!({}),
                input(
                    json!({"type": "object", "properties": {"days": {"$ref": "https://schemas.example/days.json"}}}),
                ),
            ],
            SchemaRefNowExternal,
        ),
        Row::new(
            "a new tool with a `$ref` in `outputSchema` that leads nowhere",
            ALL,
            [json!({}), output(dangling())],
            ClientNowRefusesTool,
        ),
        Row::new(
            "`$defs` of `outputSchema` left out, a `$ref` stays",
            ALL,
            [output(complete()), output(dangling())],
            ClientNowRefusesTool,
        ),
        Row::new(
            "`$defs` of `inputSchema` left out, a `$ref` stays",
            ALL,
            [input(complete()), input(dangling())],
            ClientNowRefusesTool,
        ),
        Row::new(
            "`outputSchema` of an existing tool declares draft-07",
            ALL,
            [spoken(None), spoken(Some(DRAFT_07))],
            ClientNowRefusesTool,
        )
        .level(Level::Risky),
        Row::new(
            "`outputSchema` declares draft-04",
            ALL,
            [
                spoken(None),
                spoken(Some("http://json-schema.org/draft-04/schema#")),
            ],
            ClientNowRefusesTool,
        ),
        Row::new(
            "`outputSchema` declares a dialect that does not exist",
            ALL,
            [spoken(None), spoken(Some("https://example.com/mine"))],
            SchemaNowInvalid,
        ),
        Row::new(
            "`inputSchema` declares draft-07",
            ALL,
            [
                object(),
                input(json!({"$schema": DRAFT_07, "type": "object", "properties": city()})),
            ],
            InputDialectChanged,
        ),
        Row::new(
            "a `pattern` in `outputSchema` that JavaScript does not compile",
            ALL,
            [matching("^a"), matching("(?i)^a")],
            ClientNowRefusesTool,
        ),
        Row::new(
            "a schema of more than 5,000 schemas, or 64 deep",
            ALL,
            [json!({}), input(deep)],
            SchemaNowTooLarge,
        ),
        Row::new(
            "a second tool of the same name",
            ALL,
            [twice(1), twice(2)],
            ClientNowRefusesTool,
        ),
        Row::new(
            "a new tool with a name of 200 characters",
            ALL,
            [json!({}), named(&"a".repeat(200))],
            ToolNameNowInvalid,
        ),
        Row::new(
            "a new tool with spaces in its name",
            ALL,
            [json!({}), named("get forecast")],
            ToolNameNowInvalid,
        ),
        Row::new(
            "a new tool with a name over 64 once clients prefix it",
            ALL,
            [json!({}), named(&"a".repeat(60))],
            ToolNameNowTooLong,
        ),
    ]
}

fn renames() -> Vec<Row> {
    use RuleId::{InputPropertyRenamed, ToolRenamed};
    let takes = |names: &[&str]| {
        let properties: Map<String, Value> = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "string"})))
            .collect();
        tool(
            json!({"inputSchema": {"type": "object", "properties": properties, "required": names}}),
        )
    };
    let called = |name: &str| {
        json!({"tools": [{"name": name, "description": "Looks for stations.", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]})
    };
    vec![
        Row::new(
            "one parameter renamed",
            ALL,
            [takes(&["startRef"]), takes(&["start_ref"])],
            InputPropertyRenamed,
        )
        .witness("\"startRef\""),
        Row::new(
            "a tool under another spelling of its name",
            ALL,
            [called("search_stations"), called("searchStations")],
            ToolRenamed,
        )
        .exposure(Exposure::Low)
        .witness("\"search_stations\""),
        Row::new(
            "a tool under another name, with its description and schemas",
            ALL,
            [called("search_v1"), called("search_v2")],
            ToolRenamed,
        )
        .exposure(Exposure::Medium)
        .witness("\"search_v1\""),
    ]
}

fn skills() -> Vec<Row> {
    use RuleId::{
        DefinitionRespelled, SkillAdded, SkillAllowedToolsNarrowed, SkillAllowedToolsWidened,
        SkillBecameDynamic, SkillBecameStatic, SkillDescriptionChanged, SkillDynamic,
        SkillFileAdded, SkillFileChanged, SkillFileRemoved, SkillFrontmatterChanged,
        SkillNowInvalid, SkillRemoved,
    };
    let main = "skill://acme/refunds/SKILL.md";
    let file = |uri: &str, digest: &str| json!({"uri": uri, "digest": digest, "size": 5});
    let listed = |skills: Value| {
        let mut parts = extensions(&[SKILLS], json!({"tools": [], "skills": skills}));
        merge(
            &mut parts,
            Some(
                &json!({"capabilities": {"tools": {}, "resources": {}, "extensions": {SKILLS: {}}}}),
            ),
        );
        parts
    };
    let skill = |front: Value, resources: Value| {
        let mut frontmatter = json!({"name": "refunds", "description": "Refunds."});
        merge(&mut frontmatter, Some(&front));
        listed(json!([{"uri": main, "frontmatter": frontmatter, "resources": resources}]))
    };
    let one = || json!([file(main, DIGEST)]);
    let two = || {
        json!([
            file(main, DIGEST),
            file("skill://acme/refunds/run.sh", DIGEST)
        ])
    };
    let plain = || skill(json!({}), one());
    let allowed = |tools: &str| skill(json!({"allowed-tools": tools}), one());
    vec![
        Row::new(
            "a skill added",
            ALL,
            [listed(json!([])), plain()],
            SkillAdded,
        ),
        Row::new(
            "a skill removed",
            ALL,
            [
                listed(
                    json!([{"uri": main, "frontmatter": {"name": "refunds", "description": "Refunds."}, "resources": one()},
                    {"uri": "skill://acme/other/SKILL.md", "frontmatter": {"name": "other", "description": "Others."},
                     "resources": [file("skill://acme/other/SKILL.md", OTHER_DIGEST)]}]),
                ),
                plain(),
            ],
            SkillRemoved,
        ),
        Row::new(
            "the digest of a file moved",
            ALL,
            [plain(), skill(json!({}), json!([file(main, OTHER_DIGEST)]))],
            SkillFileChanged,
        ),
        Row::new(
            "a file added",
            ALL,
            [plain(), skill(json!({}), two())],
            SkillFileAdded,
        ),
        Row::new(
            "a file removed",
            ALL,
            [skill(json!({}), two()), plain()],
            SkillFileRemoved,
        ),
        Row::new(
            "the description changed",
            ALL,
            [
                plain(),
                skill(json!({"description": "Refunds and returns."}), one()),
            ],
            SkillDescriptionChanged,
        ),
        Row::new(
            "another field of the frontmatter changed",
            ALL,
            [plain(), skill(json!({"license": "MIT"}), one())],
            SkillFrontmatterChanged,
        ),
        Row::new(
            "`allowed-tools` grew",
            ALL,
            [allowed("Read"), allowed("Read Bash(git *)")],
            SkillAllowedToolsWidened,
        ),
        Row::new(
            "`allowed-tools` in a form that hosts do not read",
            ALL,
            [
                allowed("Read"),
                skill(json!({"allowed-tools": {"Bash": true}}), one()),
            ],
            SkillAllowedToolsWidened,
        ),
        Row::new(
            "`allowed-tools` written differently, same tools",
            ALL,
            [allowed("Read Grep"), allowed("Grep, Read")],
            DefinitionRespelled,
        ),
        Row::new(
            "`allowed-tools` shrank",
            ALL,
            [allowed("Read Bash(git *)"), allowed("Read")],
            SkillAllowedToolsNarrowed,
        ),
        Row::new(
            "`dynamic`: cannot be pinned any more",
            ALL,
            [plain(), skill(json!({}), json!("dynamic"))],
            SkillBecameDynamic,
        ),
        Row::new(
            "no longer `dynamic`",
            ALL,
            [skill(json!({}), json!("dynamic")), plain()],
            SkillBecameStatic,
        ),
        Row::new(
            "an entry that clients must not load",
            ALL,
            [
                plain(),
                skill(
                    json!({}),
                    json!([file(main, DIGEST), file("skill://acme/x", DIGEST)]),
                ),
            ],
            SkillNowInvalid,
        ),
        Row::new(
            "a `dynamic` skill",
            ALL,
            [plain(), skill(json!({}), json!("dynamic"))],
            SkillDynamic,
        ),
    ]
}

/// What is published beside the endpoint, over HTTP and with `read-resources`.
fn published() -> Vec<Row> {
    use RuleId::{
        ScopeAdded, ScopeRemoved, ServerCardChanged, ServerCardDisagrees, ServerCardNowDisagrees,
    };
    let contents = |contents: Value| {
        let mut parts = tool(json!({}));
        merge(&mut parts, Some(&json!({"contents": contents})));
        parts
    };
    let scopes = |uri: &str, scopes: &[&str]| contents(json!([{"uri": uri, "scopes": scopes}]));
    let metadata = "/.well-known/oauth-protected-resource";
    let card = |version: &str| {
        contents(json!([{"uri": "/server-card", "name": "weather", "version": version}]))
    };
    vec![
        Row::new(
            "`scopes_supported` grows",
            ALL,
            [
                scopes(metadata, &["read"]),
                scopes(metadata, &["read", "write"]),
            ],
            ScopeAdded,
        ),
        Row::new(
            "`scope` of the 401 challenge grows",
            ALL,
            [
                scopes("WWW-Authenticate", &["read"]),
                scopes("WWW-Authenticate", &["read", "write"]),
            ],
            ScopeAdded,
        ),
        Row::new(
            "authorization appears",
            ALL,
            [contents(json!([])), scopes(metadata, &["read"])],
            ScopeAdded,
        ),
        Row::new(
            "`scopes_supported` shrinks",
            ALL,
            [
                scopes(metadata, &["read", "write"]),
                scopes(metadata, &["read"]),
            ],
            ScopeRemoved,
        ),
        Row::new(
            "authorization disappears",
            ALL,
            [scopes(metadata, &["read"]), contents(json!([]))],
            ScopeRemoved,
        ),
        Row::new(
            "a server card appears",
            ALL,
            [contents(json!([])), card("1.4.0")],
            ServerCardChanged,
        ),
        Row::new(
            "card and server disagree",
            ALL,
            [card("1.4.0"), card("1.3.0")],
            ServerCardNowDisagrees,
        ),
        Row::new(
            "card and server disagree, as before",
            ALL,
            [card("1.4.0"), card("1.3.0")],
            ServerCardDisagrees,
        ),
    ]
}

fn metadata() -> Vec<Row> {
    use RuleId::{ResourceMetaChanged, ToolAnnotationChanged, ToolMetaChanged};
    let meta = |meta: Value| tool(json!({ "_meta": meta }));
    vec![
        Row::new(
            "`_meta` without a known meaning",
            ALL,
            [meta(json!({"team": "a"})), meta(json!({"team": "b"}))],
            ToolMetaChanged,
        ),
        Row::new(
            "`_meta` whose name suggests security (`privateHint`, groups)",
            ALL,
            [
                meta(json!({})),
                meta(json!({"io.example/groups": ["admin"]})),
            ],
            ToolMetaChanged,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "`_meta` whose name is a short word for security (`acl`, `pii`, `token`)",
            ALL,
            [meta(json!({})), meta(json!({"acl": ["ops"]}))],
            ToolMetaChanged,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "the same of a resource",
            ALL,
            [
                resource(json!({"_meta": {"sensitiveHint": "low"}})),
                resource(json!({"_meta": {"sensitiveHint": "high"}})),
            ],
            ResourceMetaChanged,
        )
        .exposure(Exposure::Medium),
        Row::new(
            "an annotation that suggests security (`sensitiveHint`)",
            ALL,
            [
                tool(json!({})),
                tool(json!({"annotations": {"sensitiveHint": true}})),
            ],
            ToolAnnotationChanged,
        )
        .exposure(Exposure::Medium),
    ]
}

fn findings() -> Vec<Row> {
    use RuleId::{
        AppResourceMissing, ClientRefusesTool, DeprecatedFeature, IconRefused, ListRefused,
        NotObserved, SchemaInvalid, SchemaRefExternal, ToolNameInvalid, ToolNameTooLong,
    };
    let plain = || json!({});
    let takes = |schema: Value| {
        tool(json!({"inputSchema": {"type": "object", "properties": {"days": schema}}}))
    };
    let named = |name: &str| json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]});
    vec![
        Row::new(
            "a list that clients refuse, as before",
            ALL,
            [plain(), tool(json!({"inputSchema": {}}))],
            ListRefused,
        ),
        Row::new(
            "a tool that a known client refuses, as before",
            ALL,
            [
                plain(),
                tool(json!({"inputSchema": {"type": "object", "oneOf": [{}]}})),
            ],
            ClientRefusesTool,
        ),
        Row::new(
            "a tool whose `outputSchema` declares draft-07, new or as before",
            ALL,
            [
                plain(),
                tool(json!({"outputSchema": {"$schema": DRAFT_07, "type": "object"}})),
            ],
            ClientRefusesTool,
        ),
        Row::new(
            "a `$ref` that leads nowhere, as before",
            ALL,
            [
                plain(),
                tool(
                    json!({"outputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}),
                ),
            ],
            ClientRefusesTool,
        ),
        Row::new(
            "a schema that is not JSON Schema, as before",
            ALL,
            [plain(), takes(json!({"type": "int"}))],
            SchemaInvalid,
        ),
        Row::new(
            "a `$ref` to another document, as before",
            ALL,
            [
                plain(),
                takes(json!({"$ref": "https://schemas.example/days.json"})),
            ],
            SchemaRefExternal,
        ),
        Row::new(
            "a name outside the rules, as before",
            ALL,
            [plain(), named("get forecast")],
            ToolNameInvalid,
        ),
        Row::new(
            "a name over 64 with the prefix of clients, as before",
            ALL,
            [plain(), named(&"a".repeat(60))],
            ToolNameTooLong,
        ),
        Row::new(
            "a document of an app that cannot be read, as before",
            ALL,
            [
                plain(),
                ui(json!({"resourceUri": "https://weather.example/a"})),
            ],
            AppResourceMissing,
        ),
        Row::new(
            "an extension whose lists are not read",
            ALL,
            [plain(), extensions(&[SEARCH], json!({}))],
            NotObserved,
        ),
        Row::new(
            "an experimental capability",
            ALL,
            [
                plain(),
                declares(json!({"tools": {}, "experimental": {"x": {}}})),
            ],
            NotObserved,
        ),
        Row::new(
            "a capability that no revision defines",
            ALL,
            [plain(), declares(json!({"tools": {}, "teleport": {}}))],
            NotObserved,
        ),
        Row::new(
            "a member of the first answer that no revision defines",
            ALL,
            [plain(), json!({"first": {"quota": 5}})],
            NotObserved,
        ),
        Row::new(
            "a member of a list result that no revision defines",
            ALL,
            [
                plain(),
                json!({"listMembers": {"tools/list": {"partial": true}}}),
            ],
            NotObserved,
        ),
        Row::new(
            "`logging` declared",
            ALL,
            [plain(), declares(json!({"tools": {}, "logging": {}}))],
            DeprecatedFeature,
        ),
        Row::new(
            "the flat `ui/resourceUri`",
            ALL,
            [
                plain(),
                tool(json!({"_meta": {"ui/resourceUri": "ui://weather/a"}})),
            ],
            DeprecatedFeature,
        ),
        Row::new(
            "an icon that clients must reject",
            ALL,
            [plain(), icon("file:///a.png")],
            IconRefused,
        ),
    ]
}

/// The parts, each with the test that checks its rows.
fn parts() -> Vec<(&'static str, &'static str, Vec<Row>)> {
    vec![
        (
            "Revisions",
            "a_lost_revision_breaks_its_clients",
            revisions(),
        ),
        (
            "Capabilities",
            "a_capability_matters_as_far_as_something_is_offered_under_it",
            capabilities(),
        ),
        (
            "Extensions",
            "each_extension_is_judged_on_its_own",
            extension_rows(),
        ),
        (
            "MCP Apps",
            "an_app_is_judged_by_who_may_call_and_what_it_may_reach",
            apps(),
        ),
        (
            "Tasks",
            "a_call_that_task_support_refuses_is_a_witness",
            tasks(),
        ),
        (
            "Caching",
            "a_list_that_caches_may_share_is_exposed",
            caching(),
        ),
        (
            "Parameters",
            "parameters_that_models_or_proxies_see_differently",
            parameters(),
        ),
        ("Icons", "an_icon_is_judged_by_where_it_comes_from", icons()),
        (
            "Resources",
            "resources_are_judged_by_their_audience_and_addresses",
            resources(),
        ),
        ("Lists", "a_list_is_judged_as_clients_judge_it", lists()),
        ("Renames", "a_rename_is_one_change", renames()),
        (
            "Skills",
            "a_skill_is_judged_by_what_it_tells_and_may_do",
            skills(),
        ),
        (
            "Published over HTTP",
            "scopes_and_the_card_are_compared",
            published(),
        ),
        (
            "Metadata",
            "metadata_that_speaks_of_security_is_exposed",
            metadata(),
        ),
        (
            "Findings",
            "what_is_not_read_or_deprecated_is_a_finding",
            findings(),
        ),
    ]
}

/// Checks each row in each of its revisions, and that nothing else is at least as severe.
fn check(rows: Vec<Row>) {
    assert!(!rows.is_empty());
    for row in rows {
        for revision in row.revisions {
            let what = format!("{} at {revision}", row.change);
            let (old, new) = (surface(revision, &row.old), surface(revision, &row.new));
            if row.rule.subject() == Subject::Finding {
                let noted = |it: &Surface| {
                    let refused = conformance::notes(it, |_, _| false);
                    let mut notes = it.notes.iter().chain(&refused);
                    notes.any(|note| note.rule == row.rule)
                };
                assert!(noted(&new) && !noted(&old), "{what}");
                continue;
            }
            let changes = compare(&old, &new);
            let found: Vec<&Change> = changes.iter().filter(|it| it.rule == row.rule).collect();
            let [change] = found.as_slice() else {
                panic!("{what}: {changes:#?}");
            };
            assert_eq!(
                (change.level, change.exposure),
                (row.level, row.exposure),
                "{what}: {change:#?}"
            );
            let witness = match &change.proof {
                Some(Proof::Witness(witness)) => witness.to_string(),
                _ => String::new(),
            };
            match row.witness {
                Some(expected) => assert!(witness.contains(expected), "{what}: {witness}"),
                None if row.rule.side().is_none() => assert_eq!(witness, "", "{what}"),
                None => {}
            }
            let worse = changes.iter().find(|it| it.level > row.level);
            assert!(worse.is_none(), "{what}: {worse:#?}");
            assert!(compare(&new, &new).is_empty(), "{what}");
        }
    }
}

#[test]
fn a_lost_revision_breaks_its_clients() {
    check(revisions());
}

#[test]
fn a_capability_matters_as_far_as_something_is_offered_under_it() {
    check(capabilities());
}

#[test]
fn each_extension_is_judged_on_its_own() {
    check(extension_rows());
    let message = |rows: Vec<Row>| {
        let row = &rows[0];
        compare(
            &surface("2026-07-28", &row.old),
            &surface("2026-07-28", &row.new),
        )[0]
        .message
        .clone()
    };
    assert_eq!(
        message(extension_rows()),
        "extension `io.modelcontextprotocol/ui` was removed; it was used by `forecast`"
    );
}

/// Moving to another era explains the extensions that the legacy era had in other terms, and no other.
#[test]
fn an_extension_is_gained_or_lost_across_eras() {
    let rules = |old: &Surface, new: &Surface| -> Vec<RuleId> {
        let changes = compare(old, new).into_iter().map(|it| it.rule);
        changes
            .filter(|it| *it != RuleId::ProtocolVersionChanged)
            .collect()
    };
    let shown = || ui(json!({"resourceUri": "ui://weather/a", "visibility": ["app"]}));
    let with_resources = |mut parts: Value, names: &[&str]| {
        let extensions = extensions(names, json!({}))["capabilities"]["extensions"].clone();
        let mut capabilities = json!({"tools": {}, "resources": {}});
        if !names.is_empty() {
            merge(
                &mut capabilities,
                Some(&json!({ "extensions": extensions })),
            );
        }
        merge(&mut parts, Some(&json!({ "capabilities": capabilities })));
        parts
    };
    let legacy = |names: &[&str]| surface("2025-11-25", &with_resources(shown(), names));
    let modern = |names: &[&str]| surface("2026-07-28", &with_resources(shown(), names));
    assert_eq!(rules(&legacy(&[]), &modern(&[APPS])), []);
    assert_eq!(
        rules(&legacy(&[]), &modern(&[APPS, SEARCH])),
        [RuleId::ExtensionAdded]
    );
    assert_eq!(
        rules(&modern(&[APPS, SEARCH]), &legacy(&[])),
        [RuleId::ExtensionRemoved]
    );
}

#[test]
fn an_app_is_judged_by_who_may_call_and_what_it_may_reach() {
    check(apps());
    // An empty `ui` that gains a member was not removed.
    let pair = [json!({}), json!({"resourceUri": "ui://weather/a"})].map(|it| {
        let mut parts = ui(it);
        let capabilities = json!({"capabilities": {"tools": {}, "resources": {}}});
        merge(&mut parts, Some(&capabilities));
        surface("2025-11-25", &parts)
    });
    let changes = compare(&pair[0], &pair[1]);
    let rules: Vec<RuleId> = changes.iter().map(|it| it.rule).collect();
    assert_eq!(rules, [RuleId::AppResourceChanged], "{changes:#?}");
    // What is beside the judged members has its own place.
    let pair = [json!({}), json!({"workerDomains": ["*"]})].map(|more| {
        let mut csp = json!({"connectDomains": ["https://a.example"]});
        merge(&mut csp, Some(&more));
        surface("2025-11-25", &ui(json!({ "csp": csp })))
    });
    let changes = compare(&pair[0], &pair[1]);
    assert_eq!(changes[0].message, "`_meta.ui.csp.workerDomains` is new");
}

/// A document may be unlisted. That it was read once does not make it listed.
#[test]
fn a_document_that_was_never_listed_is_not_missing_when_it_is_not_read() {
    let app = |contents: Value| {
        let mut parts = ui(json!({"resourceUri": "ui://weather/a"}));
        merge(
            &mut parts,
            Some(&json!({"capabilities": {"tools": {}, "resources": {}}})),
        );
        merge(&mut parts, Some(&contents));
        surface("2025-11-25", &parts)
    };
    let read = app(json!({"contents": [{"uri": "ui://weather/a", "digest": DIGEST, "size": 5}]}));
    assert_eq!(compare(&read, &app(json!({}))), []);
    let gone = compare(&read, &app(json!({"contents": []})));
    let rules: Vec<RuleId> = gone.iter().map(|it| it.rule).collect();
    assert_eq!(rules, [RuleId::ContentRemoved]);
}

#[test]
fn a_call_that_task_support_refuses_is_a_witness() {
    check(tasks());
    // Without an effect, none is claimed.
    for revision in ALL {
        let of = |support: &str| {
            surface(
                revision,
                &tool(json!({"execution": {"taskSupport": support}})),
            )
        };
        let changes = compare(&of("optional"), &of("required"));
        assert!(!changes[0].message.contains("-32601"), "{changes:#?}");
    }
}

#[test]
fn a_list_that_caches_may_share_is_exposed() {
    check(caching());
}

#[test]
fn parameters_that_models_or_proxies_see_differently() {
    check(parameters());
}

#[test]
fn an_icon_is_judged_by_where_it_comes_from() {
    check(icons());
}

#[test]
fn resources_are_judged_by_their_audience_and_addresses() {
    check(resources());
    let row = resources().into_iter().next_back().unwrap();
    let changes = compare(
        &surface("2025-11-25", &row.old),
        &surface("2025-11-25", &row.new),
    );
    assert_eq!(
        changes[0].message,
        "`uriTemplate` changed; variables `id` → `station`; `completion/complete` takes the variables as argument names"
    );
    assert_eq!(changes.len(), 1, "{changes:#?}");
}

#[test]
fn a_list_is_judged_as_clients_judge_it() {
    check(lists());
    // Common, and no caller loses anything: a new tool of such a server is a finding, once for all.
    let tools: Vec<Value> = ["a", "b"]
        .map(|name| {
            json!({"name": name, "inputSchema": {"type": "object"},
                "outputSchema": {"$schema": DRAFT_07, "type": "object"}})
        })
        .into();
    let both = surface("2025-11-25", &json!({ "tools": tools }));
    let one = surface("2025-11-25", &json!({"tools": [tools[0]]}));
    let rules: Vec<RuleId> = compare(&one, &both).iter().map(|it| it.rule).collect();
    assert_eq!(rules, [RuleId::ToolAdded]);
    let notes = conformance::notes(&both, |_, _| false);
    assert_eq!(notes.len(), 1, "{notes:#?}");
    assert!(
        notes[0].message.starts_with("2 tools declare"),
        "{notes:#?}"
    );
}

#[test]
fn a_rename_is_one_change() {
    check(renames());
}

#[test]
fn a_skill_is_judged_by_what_it_tells_and_may_do() {
    check(skills());
    let sized = |size: u32| {
        let main = "skill://acme/refunds/SKILL.md";
        let frontmatter = json!({"name": "refunds", "description": "Refunds."});
        let skill = json!({"uri": main, "frontmatter": frontmatter,
            "resources": [{"uri": main, "digest": DIGEST, "size": size}]});
        let capabilities = json!({"resources": {}, "extensions": {SKILLS: {}}});
        surface(
            "2025-11-25",
            &json!({"capabilities": capabilities, "skills": [skill]}),
        )
    };
    let changes = compare(&sized(5), &sized(6));
    let message = "file `skill://acme/refunds/SKILL.md` changed (size differs)";
    assert_eq!(changes[0].message, message);
}

#[test]
fn scopes_and_the_card_are_compared() {
    check(published());
}

#[test]
fn metadata_that_speaks_of_security_is_exposed() {
    check(metadata());
}

#[test]
fn what_is_not_read_or_deprecated_is_a_finding() {
    check(findings());
}

#[test]
fn the_table_of_the_protocol_is_current() {
    let source = include_str!("protocol.rs");
    let mut table = "\n| part | what changes | revisions | rule | level | exposure | test |\n|---|---|---|---|---|---|---|\n".to_owned();
    for (part, test, rows) in parts() {
        assert!(source.contains(&format!("#[test]\nfn {test}(")), "{test}");
        for row in rows {
            let revisions = if row.revisions == ALL {
                "all".to_owned()
            } else {
                row.revisions.join(", ")
            };
            let level = match (row.rule.subject(), row.witness) {
                (Subject::Finding, _) => "finding".to_owned(),
                (_, Some(_)) => format!("{}, witness", row.level.word()),
                _ => row.level.word().to_owned(),
            };
            let id = row.rule.id();
            table += &format!(
                "| {part} | {} | {revisions} | [{id}](rules.md#{id}) | {level} | {} | `{test}` |\n",
                row.change,
                row.exposure.word(),
            );
        }
    }
    table.push('\n');
    assert_blocks_current("docs/protocol.md", &[("table", table)]);
}

/// What a report finds, by rule.
fn findings_of(report: &Value) -> Vec<(String, String)> {
    let list = report["servers"][0]["findings"].as_array().unwrap();
    let text = |it: &Value, member: &str| it[member].as_str().unwrap().to_owned();
    list.iter()
        .map(|it| (text(it, "rule"), text(it, "message")))
        .collect()
}

#[test]
fn stale_lists_name_how_long_the_old_calls_come() {
    let keel = Keel::new();
    let with = |tools: Value, ttl: u64| {
        capture(
            "2026-07-28",
            &json!({"tools": tools, "caching": {"tools/list": {"cacheScope": "public", "ttlMs": ttl}}}),
        )
    };
    let two = json!([{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b", "inputSchema": {"type": "object"}}]);
    let one = json!([{"name": "a", "inputSchema": {"type": "object"}}]);
    let diff = |old: Value, new: Value| {
        keel.write("old.json", &old.to_string());
        keel.write("new.json", &new.to_string());
        let report = keel
            .run(&["diff", "old.json", "new.json", "--format", "json"])
            .exits(1)
            .json();
        findings_of(&report)
    };
    let message = "clients may use the pinned `tools` for up to 5 min (`ttlMs`), and send what now fails: 1 breaking change";
    assert_eq!(
        diff(with(two.clone(), 300_000), with(one.clone(), 0)),
        [(RuleId::StaleListCached.to_string(), message.to_owned())]
    );
    assert_eq!(diff(with(two.clone(), 0), with(one.clone(), 300_000)), []);
    assert_eq!(diff(with(one, 300_000), with(two, 300_000)), []);
}

#[test]
fn a_baseline_from_before_a_member_was_recorded_has_no_drift() {
    let keel = Keel::new();
    let parts = json!({"first": {"supportedVersions": ["2025-11-25", "2026-07-28"], "quota": 5},
        "tools": [{"name": "a", "inputSchema": {"type": "object"}}], "caching": {"tools/list": {"cacheScope": "public", "ttlMs": 5}}});
    let full = surface("2026-07-28", &parts);
    let mut before = full.clone();
    before.supported_versions = None;
    before.other_members = None;
    before.caching = Default::default();
    assert!(compare(&before, &full).is_empty());
    // What is recorded is read back.
    let release = mcp_keel::release::Release::of_server(&full);
    let read = |surface: &Surface| {
        let entry = mcp_keel::baseline::server_entry(surface, &release);
        let text = mcp_keel::baseline::render(&[("it".to_owned(), entry)].into());
        keel.write("mcp-baseline.json", &text);
        let manifest =
            mcp_keel::baseline::Manifest::parse(std::path::Path::new("it.json"), text).unwrap();
        manifest.servers()["it"].surface.clone()
    };
    let back = read(&full);
    assert!(compare(&back, &full).is_empty());
    assert_eq!(back.supported_versions, full.supported_versions);
    assert_eq!(back.other_members, full.other_members);
    assert_eq!(back.caching, full.caching);
    let old = read(&before);
    assert_eq!((old.supported_versions, old.other_members), (None, None));
    // A server of the legacy era has no revisions to record, and its members are known all the same.
    let legacy = |parts: Value| surface("2025-11-25", &parts);
    let back_then = read(&legacy(json!({})));
    assert_eq!(compare(&back_then, &legacy(json!({}))), []);
    for more in [
        json!({"first": {"quota": 5}}),
        json!({"listMembers": {"tools/list": {"partial": true}}}),
    ] {
        let rules: Vec<RuleId> = compare(&back_then, &legacy(more))
            .iter()
            .map(|it| it.rule)
            .collect();
        assert_eq!(rules, [RuleId::UnclassifiedChange]);
    }
    let moved = surface(
        "2026-07-28",
        &json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}),
    );
    let rules: Vec<RuleId> = compare(&back, &moved).iter().map(|it| it.rule).collect();
    let expected = [
        RuleId::RevisionDropped,
        RuleId::UnclassifiedChange,
        RuleId::CacheScopeChanged,
    ];
    assert_eq!(rules, expected);
}

#[test]
fn every_test_that_the_document_names_exists() {
    fn read(folder: &std::path::Path, out: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, out);
            } else if path.extension().is_some_and(|it| it == "rs") {
                out.push_str(&std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["tests/it", "src", "crates"] {
        read(&root.join(folder), &mut sources);
    }
    let document = std::fs::read_to_string(root.join("docs/protocol.md")).unwrap();
    let quoted = document.split('`').skip(1).step_by(2);
    let tests: Vec<&str> = quoted
        .filter(|it| it.matches('_').count() >= 3 && !it.contains([' ', '.', '/']))
        .collect();
    assert!(tests.len() > 20, "{tests:?}");
    let missing: Vec<&&str> = tests
        .iter()
        .filter(|it| !sources.contains(&format!("fn {it}()")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// `forbidden` is what an absent `taskSupport` means, also in revisions that do not know tasks.
#[test]
fn forbidden_task_support_means_the_same_as_none_in_every_revision() {
    let keel = crate::keel::Keel::new();
    let capture = |revision: &str, execution: &str| {
        format!(
            r#"{{"initialize": {{"protocolVersion": "{revision}", "capabilities": {{"tools": {{}}}},
                "serverInfo": {{"name": "s", "version": "1"}}}},
                "tools": [{{"name": "t"{execution}, "inputSchema": {{"type": "object"}}}}]}}"#
        )
    };
    let forms = [
        "",
        r#", "execution": {}"#,
        r#", "execution": {"taskSupport": "forbidden"}"#,
    ];
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        for (old, new) in [(0, 2), (2, 0), (1, 2), (0, 1)] {
            keel.write("old.json", &capture(revision, forms[old]));
            keel.write("new.json", &capture(revision, forms[new]));
            let args = ["diff", "old.json", "new.json", "--format", "json"];
            let run = keel.run(&args).exits(0);
            let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            let changes = report["servers"][0]["changes"].as_array().unwrap();
            assert_eq!(changes.len(), 1, "{revision}: {changes:?}");
            assert_eq!(changes[0]["rule"], "task-support-stated", "{revision}");
            assert_eq!(changes[0]["level"], "cosmetic");
            assert_eq!(changes[0]["exposure"], "none");
        }
    }
}
