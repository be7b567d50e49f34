//! Each part of the protocol gets its verdict, in every revision that has it.
//!
//! A row is a difference between two captures, with the rule, level, exposure and witness that it
//! must have. The same rows are the table in `docs/protocol.md`.

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
/// `caching` and the four lists.
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
    if let Some(caching) = parts.get("caching") {
        merge(&mut capture, Some(&json!({ "caching": caching })));
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
    ]
}

fn capabilities() -> Vec<Row> {
    use RuleId::{CapabilityChanged, CapabilityRemoved};
    let less = || declares(json!({"tools": {}}));
    let prompt = json!({"name": "trip", "arguments": [{"name": "city"}]});
    let with = |capabilities: Value| json!({"capabilities": capabilities, "prompts": [prompt]});
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
        AppAccessNarrowed, AppAccessWidened, AppDomainChanged, AppResourceChanged, ToolMetaChanged,
        ToolVisibilityNarrowed, ToolVisibilityWidened,
    };
    let connects =
        |domains: &[&str]| resource(json!({"_meta": {"ui": {"csp": {"connectDomains": domains}}}}));
    let asks =
        |permissions: Value| resource(json!({"_meta": {"ui": {"permissions": permissions}}}));
    let lives = |domain: &str| resource(json!({"_meta": {"ui": {"domain": domain}}}));
    let shows = |uri: &str| ui(json!({"resourceUri": uri}));
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
    use RuleId::{TaskSupportNarrowed, TaskSupportStated, TaskSupportWidened};
    let undeclared = |support: &str| tool(json!({"execution": {"taskSupport": support}}));
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
            "`taskSupport` required where no revision or capability gives it a meaning",
            ALL,
            [undeclared("optional"), undeclared("required")],
            TaskSupportNarrowed,
        )
        .level(Level::Risky),
    ]
}

fn caching() -> Vec<Row> {
    use RuleId::CacheScopeChanged;
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
            "`cacheScope` missing to public",
            MODERN,
            [json!({}), cached("public")],
            CacheScopeChanged,
        ),
    ]
}

fn parameters() -> Vec<Row> {
    use RuleId::{InputAdditionalPropertiesClosed, InputMcpHeaderAdded, ObjectPropertiesOmitted};
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
            "`x-mcp-header` on a parameter that names a secret",
            ALL,
            [header("api_token", None), header("api_token", Some("Key"))],
            InputMcpHeaderAdded,
        )
        .exposure(Exposure::High),
    ]
}

fn icons() -> Vec<Row> {
    use RuleId::{ServerInfoChanged, ToolIconsChanged};
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
    use RuleId::{DeprecatedFeature, IconRefused, NotObserved};
    let plain = || json!({});
    vec![
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
                let noted = |it: &Surface| it.notes.iter().any(|note| note.rule == row.rule);
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

#[test]
fn an_app_is_judged_by_who_may_call_and_what_it_may_reach() {
    check(apps());
}

#[test]
fn a_call_that_task_support_refuses_is_a_witness() {
    check(tasks());
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
