//! Other tools' files with definitions: FastMCP's `inspect`, mcpdesc, mcp-contracts, mcp-toolguard, mcpward.
//!
//! Each reader says which members its file records ([`Recorded`]): what is not among them is not compared. What a file has
//! and a surface has no place for is said, member by member.
//!
//! [`Recorded`]: crate::surface::Recorded

use super::members;
use super::shapes::{Gathered, Loaded};
use crate::canonical::{Json, Object, Text, pointer};
use crate::surface::{Kind, Part, Surface};

/// Reads a document that belongs to one of these tools; `None` if it does not.
pub(super) fn read(document: &Json) -> Option<Result<Loaded, String>> {
    let has = |pointer: &str| pointer::resolve(document, pointer).is_some();
    if has("/mcpdesc") {
        Some(mcpdesc(document))
    } else if has("/environment/fastmcp") && has("/server/generation") {
        Some(fastmcp(document))
    } else if has("/environment/fastmcp") && has("/serverInfo") {
        Some(fastmcp_mcp(document))
    } else if has("/content_hash") && has("/content/snapshot_format") {
        Some(toolguard(document))
    } else if has("/snapshotVersion") && has("/contentHash") {
        Some(mcp_contracts(document))
    } else if has("/meta/mcpwardVersion") {
        Some(mcpward(document))
    } else {
        None
    }
}

/// A file while it is read.
#[derive(Default)]
struct Reading {
    gathered: Gathered,
    greeting: Object,
    /// What it records of the server.
    server: Vec<&'static str>,
    /// What it records of the entries of a list, if that is not all.
    lists: Vec<(Kind, &'static [&'static str])>,
    lost: Vec<String>,
    launch: Vec<String>,
}

impl Reading {
    /// Takes over a member of the server's greeting.
    fn greets(&mut self, member: &'static str, value: Option<&Json>) {
        if let Some(value) = value.filter(|value| !matches!(value, Json::Null)) {
            self.greeting.push(member, value.clone());
            self.server.push(member);
        }
    }

    /// Takes over members of `serverInfo`, those that are there.
    fn identity(&mut self, members: &[(&'static str, Option<&Json>)]) {
        let mut info = Object::new();
        for (member, value) in members {
            if let Some(value) = value.filter(|value| !matches!(value, Json::Null)) {
                let name = member.rsplit('/').next().unwrap_or(member);
                info.push(name, value.clone());
                self.server.push(member);
            }
        }
        self.greeting.push("serverInfo", Json::Object(info));
    }

    fn list(&mut self, kind: Kind, definitions: Vec<Json>, recorded: &'static [&'static str]) {
        let definitions = match recorded {
            [] => definitions,
            _ => {
                self.lists.push((kind, recorded));
                let is_recorded = |name: &str| {
                    let paths = recorded.iter();
                    let mut heads = paths.map(|path| path.split('/').next().unwrap_or(path));
                    heads.any(|head| head == name)
                };
                let printed = definitions.into_iter().map(members::as_sent).collect();
                members::without(printed, |name| !is_recorded(name), &mut Vec::new())
            }
        };
        self.gathered.add(kind, definitions, true);
    }

    fn lost(&mut self, what: impl Into<String>) {
        self.lost.push(what.into());
    }

    /// Says which of these members the document has.
    fn lost_if_there(&mut self, document: &Json, pointers: &[&str]) {
        for pointer in pointers {
            if pointer::resolve(document, pointer).is_some_and(|value| !matches!(value, Json::Null))
            {
                self.lost(format!("`{}`", pointer.trim_start_matches('/')));
            }
        }
    }

    fn loaded(mut self, format: impl Into<String>) -> Result<Loaded, String> {
        // None of these tools keeps the order in which a server lists.
        self.gathered.unordered = true;
        let has_server = !self.server.is_empty();
        if has_server {
            self.gathered.greeting = Some(Json::Object(self.greeting));
        }
        let mut surface: Surface = self.gathered.surface()?;
        if has_server {
            surface.recorded.only(Part::Server, &self.server);
        }
        for (kind, members) in self.lists {
            surface.recorded.only(Part::List(kind), members);
        }
        let name = surface.server_name().map(str::to_owned);
        Ok(Loaded {
            lost: self.lost,
            launch: self.launch,
            ..Loaded::of(format, name.as_deref(), surface)
        })
    }
}

fn items(document: &Json, member: &str) -> Vec<Json> {
    let items = document.get(member).and_then(Json::as_array);
    items.unwrap_or_default().to_vec()
}

fn named(document: &Json, member: &str, identity: &str) -> Vec<Json> {
    match document.get(member).and_then(Json::as_object) {
        Some(by_name) => members::by_name(by_name, identity),
        None => Vec::new(),
    }
}

/// In how many definitions a member is more than null.
fn count(definitions: &[Json], member: &str) -> usize {
    let has = |definition: &&Json| {
        !matches!(
            definition.get(member),
            None | Some(Json::Null | Json::Bool(false))
        )
    };
    definitions.iter().filter(has).count()
}

/// `fastmcp inspect --format mcp`: the lists as a client gets them.
fn fastmcp_mcp(document: &Json) -> Result<Loaded, String> {
    let mut reading = Reading::default();
    let info = document.get("serverInfo").cloned().map(members::as_sent);
    reading.greets("serverInfo", info.as_ref());
    for kind in Kind::ALL.iter().copied() {
        if document.get(kind.list_member()).is_some() {
            reading.list(kind, items(document, kind.list_member()), &[]);
        }
    }
    reading.loaded("what `fastmcp inspect --format mcp` prints")
}

/// `fastmcp inspect`: FastMCP's own view. Its `capabilities` are fixed, and `meta` is not what is sent.
fn fastmcp(document: &Json) -> Result<Loaded, String> {
    let mut reading = Reading::default();
    let server = |member: &str| document.get("server").and_then(|server| server.get(member));
    reading.identity(&[
        ("serverInfo/name", server("name")),
        ("serverInfo/version", server("version")),
        ("serverInfo/websiteUrl", server("website_url")),
    ]);
    reading.server.push("instructions");
    if let Some(Json::String(text)) = server("instructions") {
        let text = Json::String(text.clone());
        reading.greeting.push("instructions", text);
    }
    const TOOL: &[&str] = &[
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "icons",
    ];
    const PROMPT: &[&str] = &["name", "title", "description", "arguments", "icons"];
    const RESOURCE: &[&str] = &[
        "uri",
        "name",
        "title",
        "description",
        "mimeType",
        "annotations",
        "icons",
    ];
    const TEMPLATE: &[&str] = &[
        "uriTemplate",
        "name",
        "title",
        "description",
        "mimeType",
        "annotations",
        "icons",
    ];
    for (kind, member, recorded) in [
        (Kind::Tool, "tools", TOOL),
        (Kind::Prompt, "prompts", PROMPT),
        (Kind::Resource, "resources", RESOURCE),
        (Kind::Template, "templates", TEMPLATE),
    ] {
        let definitions = items(document, member);
        for lost in ["tags", "meta"] {
            let count = count(&definitions, lost);
            if count > 0 {
                reading.lost(format!("`{lost}` of {count} {member}"));
            }
        }
        reading.list(kind, definitions, recorded);
    }
    reading.loaded("what `fastmcp inspect` prints")
}

/// `.toolguard/baseline.json` of mcp-toolguard.
fn toolguard(document: &Json) -> Result<Loaded, String> {
    let mut reading = Reading::default();
    let content = document.get("content").unwrap_or(&Json::Null);
    let server = |member: &str| content.get("server").and_then(|server| server.get(member));
    reading.identity(&[
        ("serverInfo/name", server("name")),
        ("serverInfo/title", server("title")),
        ("serverInfo/version", server("version")),
    ]);
    reading.greets("protocolVersion", content.get("protocol_version"));
    reading.greets("capabilities", content.get("capabilities"));
    reading.greets("instructions", content.get("instructions"));
    if matches!(content.get("instructions"), Some(Json::Null)) {
        reading.server.push("instructions");
    }
    const TOOL: &[&str] = &[
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    ];
    reading.list(Kind::Tool, items(content, "tools"), TOOL);
    reading.lost_if_there(document, &["/content_hash", "/meta"]);
    reading.loaded("a baseline of mcp-toolguard")
}

/// `.mcpc.json` of mcp-contracts, which lists resources and templates in one object.
fn mcp_contracts(document: &Json) -> Result<Loaded, String> {
    let mut reading = Reading::default();
    let server = |member: &str| document.get("server").and_then(|server| server.get(member));
    reading.identity(&[
        ("serverInfo/name", server("name")),
        ("serverInfo/version", server("version")),
    ]);
    reading.greets("protocolVersion", server("protocolVersion"));
    reading.greets("capabilities", server("capabilities"));
    const TOOL: &[&str] = &[
        "name",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    ];
    const PROMPT: &[&str] = &["name", "description", "arguments"];
    const RESOURCE: &[&str] = &["uri", "description", "mimeType"];
    const TEMPLATE: &[&str] = &["uriTemplate", "description", "mimeType"];
    reading.list(
        Kind::Tool,
        without_empty(named(document, "tools", "name")),
        TOOL,
    );
    reading.list(
        Kind::Prompt,
        without_empty(named(document, "prompts", "name")),
        PROMPT,
    );
    let is_template =
        |resource: &Json| resource.get("isTemplate").and_then(Json::as_bool) == Some(true);
    let (templates, resources): (Object, Object) = {
        let all = document.get("resources").and_then(Json::as_object);
        let mut split = (Object::new(), Object::new());
        for (uri, resource) in all.into_iter().flat_map(Object::iter) {
            let of = if is_template(resource) {
                &mut split.0
            } else {
                &mut split.1
            };
            of.push(uri.clone(), resource.clone());
        }
        split
    };
    reading.list(
        Kind::Resource,
        without_empty(members::by_name(&resources, "uri")),
        RESOURCE,
    );
    reading.list(
        Kind::Template,
        without_empty(members::by_name(&templates, "uriTemplate")),
        TEMPLATE,
    );
    reading.lost_if_there(document, &["/contentHash", "/capturedAt", "/capture"]);
    reading.loaded("a contract of mcp-contracts")
}

/// Where a server sends no description, the file has an empty one; where a prompt has no arguments, an empty list.
fn without_empty(definitions: Vec<Json>) -> Vec<Json> {
    let kept = definitions.into_iter().map(|definition| {
        let Json::Object(mut members) = definition else {
            return definition;
        };
        members.retain(|name, value| match name.as_str() {
            Some("description") => value.as_str() != Some(""),
            Some("arguments") => value.as_array().is_none_or(|items| !items.is_empty()),
            _ => true,
        });
        Json::Object(members)
    });
    kept.collect()
}

/// `mcpward.lock.json`. Its `capabilities` are there whether the server has them or not.
fn mcpward(document: &Json) -> Result<Loaded, String> {
    let mut reading = Reading::default();
    let meta = |member: &str| document.get("meta").and_then(|meta| meta.get(member));
    reading.identity(&[
        ("serverInfo/name", meta("serverName")),
        ("serverInfo/version", meta("serverVersion")),
    ]);
    reading.greets("protocolVersion", document.get("protocolVersion"));
    const TOOL: &[&str] = &[
        "name",
        "inputSchema",
        "outputSchema",
        "annotations/readOnlyHint",
        "annotations/destructiveHint",
        "annotations/idempotentHint",
        "annotations/openWorldHint",
    ];
    let tools = named(document, "tools", "name");
    let digests = count(&tools, "descriptionHash");
    reading.list(Kind::Tool, tools, TOOL);
    if digests > 0 {
        reading.lost(format!(
            "`descriptionHash` of {digests} tools: a digest has no text to compare with"
        ));
    }
    reading.lost("`capabilities`: mcpward writes three, whether the server has them or not");
    reading.lost_if_there(document, &["/meta/capturedAt"]);
    reading.loaded("a lock of mcpward")
}

/// The newest revision that servers are asked in by default; those of the next era are listed by newer clients only.
const LEGACY: &str = "2025-11-25";

/// mcpdesc, up to 0.8: what a server offers, perhaps in several revisions of the protocol.
fn mcpdesc(document: &Json) -> Result<Loaded, String> {
    let version = document.get("mcpdesc").and_then(Json::as_str);
    let version = version.ok_or("its `mcpdesc` is not a string")?;
    let mut reading = Reading::default();
    let info = |member: &str| document.get("info").and_then(|info| info.get(member));
    reading.identity(&[
        ("serverInfo/name", info("name")),
        ("serverInfo/version", info("version")),
        ("serverInfo/title", info("title")),
        ("serverInfo/icons", info("icons")),
        ("serverInfo/websiteUrl", info("websiteUrl")),
    ]);
    reading.greets("protocolVersion", info("protocolVersion"));
    let described = items(document, "protocolVersions");
    let described: Vec<&str> = described.iter().filter_map(Json::as_str).collect();
    let legacy = described
        .iter()
        .copied()
        .filter(|revision| *revision <= LEGACY);
    let legacy = legacy.max();
    let view = legacy.or_else(|| described.iter().copied().max());
    reading.greets("instructions", document.get("instructions"));
    let applies = |declaration: &Json| match (view, declaration.get("protocolVersions")) {
        (Some(view), Some(Json::Array(scope))) => {
            scope.iter().any(|revision| revision.as_str() == Some(view))
        }
        _ => true,
    };
    match document.get("capabilities") {
        Some(Json::Array(scoped)) => {
            let applying = scoped.iter().find(|capabilities| applies(capabilities));
            if let Some(Json::Object(capabilities)) = applying {
                let mut capabilities = capabilities.clone();
                capabilities.retain(|name, _| name != "protocolVersions" && !is_extension(name));
                reading.greets("capabilities", Some(&Json::Object(capabilities)));
            }
        }
        other => reading.greets("capabilities", other),
    }
    let mut left_out = Vec::new();
    let mut other_views = 0;
    let mut components = Components::of(document);
    for kind in Kind::ALL.iter().copied() {
        let Some(Json::Array(declared)) = document.get(kind.list_member()) else {
            continue;
        };
        let applying: Vec<&Json> = declared
            .iter()
            .filter(|declaration| applies(declaration))
            .collect();
        other_views += declared.len() - applying.len();
        let resolved = applying
            .into_iter()
            .map(|declaration| components.resolved(declaration, 0))
            .collect::<Result<Vec<Json>, String>>()?;
        let definitions = members::without(
            resolved,
            |name| name.starts_with("x-") || NOT_SENT.contains(&name),
            &mut left_out,
        );
        reading.list(kind, definitions, &[]);
    }
    if other_views > 0
        && let Some(view) = view
    {
        reading.lost(format!(
            "{other_views} declarations for other revisions of the protocol than {view}"
        ));
    }
    for (member, count) in left_out {
        if member != "protocolVersions" {
            reading.lost(format!("`{member}` of {count} components: it is not sent"));
        }
    }
    reading.lost_if_there(
        document,
        &[
            "/info/description",
            "/info/id",
            "/info/contact",
            "/info/license",
            "/security",
            "/securitySchemes",
            "/tags",
            "/provenance",
        ],
    );
    let extensions = document.as_object().into_iter().flat_map(Object::iter);
    let extensions: Vec<String> = extensions
        .filter(|(name, _)| is_extension(name))
        .map(|(name, _)| format!("`{}`", name.to_string_lossy()))
        .collect();
    reading.lost.extend(extensions);
    let transports = items(document, "transports");
    let mut launch: Vec<String> = Vec::new();
    for transport in transports.iter().filter(|transport| applies(transport)) {
        match in_configuration(transport) {
            Some(lines) if launch.is_empty() => launch = lines,
            Some(_) => {
                reading.lost("another of its `transports`: a server of mcp-keel.toml has one")
            }
            None => {}
        }
    }
    reading.launch = launch;
    reading.loaded(format!("mcpdesc {version}"))
}

/// Members that mcpdesc adds to components, and that no server sends.
const NOT_SENT: [&str; 10] = [
    "protocolVersions",
    "tags",
    "deprecated",
    "examples",
    "interactionExamples",
    "completionExamples",
    "clientRequirements",
    "elicitations",
    "security",
    "provenance",
];

fn is_extension(name: &Text) -> bool {
    name.as_str().is_some_and(|name| name.starts_with("x-"))
}

/// A transport as lines of `mcp-keel.toml`.
fn in_configuration(transport: &Json) -> Option<Vec<String>> {
    let text = |member: &str| transport.get(member).and_then(Json::as_str);
    let quoted = |text: &str| crate::canonical::to_compact(&Json::string(text));
    match text("type") {
        Some("stdio") => {
            let arguments = items(transport, "args");
            let arguments = arguments.iter().filter_map(Json::as_str);
            let words: Vec<String> = std::iter::once(text("command")?)
                .chain(arguments)
                .map(quoted)
                .collect();
            let mut lines = vec![format!("command = [{}]", words.join(", "))];
            // Values are somebody's own; the names say what is needed.
            let env = transport.get("env").and_then(Json::as_object);
            let names: Vec<String> = env
                .into_iter()
                .flat_map(Object::iter)
                .map(|(name, _)| quoted(name.to_string_lossy()))
                .collect();
            if !names.is_empty() {
                lines.push(format!("pass-env = [{}]", names.join(", ")));
            }
            Some(lines)
        }
        Some("streamable-http" | "http" | "sse") => {
            Some(vec![format!("url = {}", quoted(text("url")?))])
        }
        _ => None,
    }
}

/// `components` of mcpdesc 0.8, to which `$componentRef` points.
struct Components<'a> {
    document: &'a Json,
    /// How many more values may be copied: references to references can grow without bound.
    values_left: usize,
}

impl<'a> Components<'a> {
    const MAX_DEPTH: usize = 128;
    const MAX_VALUES: usize = 1_000_000;

    fn of(document: &'a Json) -> Self {
        Self {
            document,
            values_left: Self::MAX_VALUES,
        }
    }

    /// A value with each reference replaced by what it points to.
    fn resolved(&mut self, value: &Json, depth: usize) -> Result<Json, String> {
        self.values_left = self.values_left.saturating_sub(1);
        if depth > Self::MAX_DEPTH || self.values_left == 0 {
            return Err("its `$componentRef` lead too deep, or to too much".to_owned());
        }
        match value {
            Json::Object(members) => {
                if let Some(reference) = members.get("$componentRef").and_then(Json::as_str) {
                    let target = reference
                        .strip_prefix('#')
                        .and_then(|at| pointer::resolve(self.document, at))
                        .ok_or_else(|| format!("`$componentRef` {reference} points to nothing"))?;
                    return self.resolved(target, depth + 1);
                }
                let mut resolved = Object::new();
                for (name, value) in members.iter() {
                    resolved.push(name.clone(), self.resolved(value, depth + 1)?);
                }
                Ok(Json::Object(resolved))
            }
            Json::Array(items) => {
                let resolved = items.iter().map(|item| self.resolved(item, depth + 1));
                Ok(Json::Array(resolved.collect::<Result<_, _>>()?))
            }
            other => Ok(other.clone()),
        }
    }
}
