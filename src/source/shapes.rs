//! Which of the known shapes a document has, and the surfaces in it.
//!
//! A capture and an answer of JSON-RPC are taken as they were sent. What a library or a test printed may have members that are
//! null and names in snake case; it becomes what a server sends, so that all shapes of one list are the same list.

use std::collections::BTreeSet;

use super::Surfaces;
use super::capture_document::{self, KNOWN_WITHOUT_CLIENT};
use super::{foreign, members, pins::Pins};
use crate::canonical::{Json, Object};
use crate::interop::Contents;
use crate::surface::{CacheHint, ClientProfile, Kind, KindSet, Lists, Part, Scope, Surface};

/// What a source has.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The name of its format in messages.
    pub format: String,
    /// The surfaces by server name. Most sources have one.
    pub servers: Surfaces,
    /// What it has besides, and is not taken over.
    pub lost: Vec<String>,
    /// How it says that the server is started or reached, as lines of `mcp-keel.toml`.
    pub launch: Vec<String>,
}

impl Loaded {
    pub(super) fn of(format: impl Into<String>, server: Option<&str>, surface: Surface) -> Self {
        let name = server.unwrap_or("default").to_owned();
        Self {
            format: format.into(),
            servers: [(name, surface)].into(),
            ..Self::default()
        }
    }
}

/// Why a document is no source.
pub(super) enum Refused {
    /// No shape that is known, or one that is broken.
    Unusable(String),
    /// Another tool's file with digests instead of definitions.
    DigestsOnly {
        format: &'static str,
        records: String,
    },
}

impl From<String> for Refused {
    fn from(problem: String) -> Self {
        Self::Unusable(problem)
    }
}

/// The lists of a server while they are gathered from one document or several.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) lists: Lists,
    /// The result of `initialize` or `server/discover`.
    pub(super) greeting: Option<Json>,
    /// Members of a server in a document that is not its own answer.
    server: Vec<(&'static str, Json)>,
    kinds: BTreeSet<Kind>,
    /// Lists whose last page names a next one.
    unfinished: BTreeSet<Kind>,
    /// Whether definitions stood in an object by name, or in files: then their order is not the server's.
    pub(super) unordered: bool,
}

impl Gathered {
    /// Takes the lists out of an object that has them by their names. Returns whether it has any.
    pub(super) fn take_lists(
        &mut self,
        document: &mut Json,
        is_printed: bool,
    ) -> Result<bool, String> {
        let Json::Object(members) = document else {
            return Ok(false);
        };
        let mut found = false;
        for kind in Kind::ALL.iter().copied() {
            let name = kind.list_member();
            let definitions = match members.take(name) {
                None => continue,
                Some(Json::Array(definitions)) => definitions,
                Some(Json::Object(definitions)) if is_printed => {
                    self.unordered = true;
                    members::by_name(&definitions, kind.identity())
                }
                Some(other) => return Err(format!("`{name}` is {}, not an array", other.kind())),
            };
            found = true;
            self.add(kind, definitions, is_printed);
        }
        Ok(found)
    }

    pub(super) fn add(&mut self, kind: Kind, definitions: Vec<Json>, is_printed: bool) {
        self.kinds.insert(kind);
        let list = self.lists.of_mut(kind);
        if is_printed {
            list.extend(definitions.into_iter().map(members::as_sent));
        } else {
            list.extend(definitions);
        }
    }

    /// Takes over what an object says of the server itself, where it is not the server's own answer.
    fn take_server(&mut self, document: &Json) {
        let info = ["serverInfo", "server_info", "server"].iter();
        let mut info = info.filter_map(|member| document.get(member));
        if let Some(info) = info.find(|info| info.get("name").is_some()) {
            let info = members::as_sent(info.clone());
            self.server.push(("serverInfo", info));
        }
        if let Some(Json::String(text)) = document.get("instructions") {
            self.server
                .push(("instructions", Json::String(text.clone())));
        }
    }

    /// One answer of a server: a greeting, or a page of a list.
    fn add_result(&mut self, mut result: Json) -> Result<bool, String> {
        let is_greeting =
            result.get("capabilities").is_some() || result.get("supportedVersions").is_some();
        if is_greeting && result.get("tools").is_none() {
            self.greeting = Some(result);
            return Ok(true);
        }
        let hint = CacheHint::of(&result);
        let next = result.get("nextCursor").and_then(Json::as_str).is_some();
        let mut listed = Vec::new();
        for kind in Kind::ALL.iter().copied() {
            if result.get(kind.list_member()).is_some() {
                listed.push(kind);
            }
        }
        for kind in &listed {
            self.lists.caching.add(*kind, hint);
            if next {
                self.unfinished.insert(*kind);
            } else {
                self.unfinished.remove(kind);
            }
        }
        self.take_lists(&mut result, false)
    }

    /// The surface of what was gathered.
    pub(super) fn surface(self) -> Result<Surface, String> {
        if let Some(kind) = self.unfinished.first() {
            return Err(format!(
                "`{}` goes on after its last page (`nextCursor`), so the list is not complete: save every page, in an array or one a line",
                kind.list_member()
            ));
        }
        let mut kinds = KindSet::NONE;
        for kind in &self.kinds {
            kinds = kinds.with(*kind);
        }
        let capabilities = self.greeting.as_ref();
        let capabilities = capabilities.and_then(|greeting| greeting.get("capabilities"));
        let scope = Scope {
            server: self.greeting.is_some() || !self.server.is_empty(),
            kinds: kinds.recorded(|kind| self.kinds.contains(&kind), capabilities),
            order: !self.unordered,
        };
        let members: Vec<&str> = self.server.iter().map(|(name, _)| *name).collect();
        let greeting = match self.greeting {
            Some(greeting) => greeting,
            None => Json::object(self.server.iter().cloned()),
        };
        let mut surface = Surface::new(&greeting, self.lists, ClientProfile::default(), scope);
        if !members.is_empty() {
            surface.recorded.only(Part::Server, &members);
        }
        Ok(surface)
    }
}

/// The surfaces of a document.
pub(super) fn recognise(document: Json) -> Result<Loaded, Refused> {
    match document {
        Json::Array(items) => Ok(of_array(items)?),
        Json::Object(_) => of_object(document),
        other => Err(format!("it is {}", other.kind()).into()),
    }
}

fn of_object(mut document: Json) -> Result<Loaded, Refused> {
    let has = |member: &str| document.get(member).is_some();
    if has("captureVersion") || has("initialize") || has("discover") {
        return Ok(capture_document::read(document)?);
    }
    if let Some(read) = foreign::read(&document) {
        return Ok(read?);
    }
    if let Some(pins) = Pins::recognise(&document) {
        return Err(Refused::DigestsOnly {
            format: pins.format(),
            records: pins.records(),
        });
    }
    if has("jsonrpc") || (!has("tools") && has("result")) || has("response") {
        return Ok(of_messages(vec![document])?);
    }
    if lists_something(&document) {
        return Ok(of_lists(document)?);
    }
    let members = document.as_object().cloned().unwrap_or_default();
    if is_map_of_tools(&members) {
        return Ok(of_tools(
            "an object with the tools by name",
            members::by_name(&members, "name"),
        )?);
    }
    if members::is_tool(&document) {
        return Ok(of_tools("one tool", vec![document])?);
    }
    if let Some(Ok(contents)) = Contents::recognise(&document, "") {
        // An empty object belongs to no tool.
        let is_something = !members.is_empty();
        if is_something {
            return Err(Refused::DigestsOnly {
                format: contents.format(),
                records: contents.records(),
            });
        }
    }
    // Other tools put a list into a member of their own.
    let holder = ["contract", "snapshot", "surface", "server", "data"].iter();
    let mut holder = holder.filter(|member| document.get(member).is_some_and(lists_something));
    if let Some(holder) = holder.next()
        && let Json::Object(members) = &mut document
        && let Some(inner) = members.take(holder)
    {
        return Ok(of_lists(inner)?);
    }
    Err(found(&members).into())
}

fn lists_something(document: &Json) -> bool {
    let mut kinds = Kind::ALL.iter();
    kinds.any(|kind| {
        matches!(
            document.get(kind.list_member()),
            Some(Json::Array(_) | Json::Object(_))
        )
    })
}

/// An object with `tools` and perhaps other lists: what a server answered, or what a library or a test printed.
fn of_lists(mut document: Json) -> Result<Loaded, String> {
    let mut gathered = Gathered::default();
    gathered.take_server(&document);
    let given = document.get("server").and_then(Json::as_str);
    let given = given.map(str::to_owned);
    if is_printed(&document) {
        gathered.unordered = true;
        gathered.take_lists(&mut document, true)?;
    } else {
        gathered.add_result(document)?;
    }
    let surface = gathered.surface()?;
    let name = given.or_else(|| surface.server_name().map(str::to_owned));
    Ok(Loaded::of("a list of tools", name.as_deref(), surface))
}

/// Whether lists were printed by a library instead of sent: an object by name, a member that is null, names in snake case.
fn is_printed(document: &Json) -> bool {
    let Some(members) = document.as_object() else {
        return false;
    };
    let has_null = members.iter().any(|(_, value)| matches!(value, Json::Null));
    has_null
        || Kind::ALL
            .iter()
            .any(|kind| match members.get(kind.list_member()) {
                Some(Json::Object(_)) => true,
                Some(Json::Array(definitions)) => definitions.iter().any(members::is_printed),
                _ => false,
            })
}

fn is_map_of_tools(members: &Object) -> bool {
    let is_named = |(name, tool): (&crate::canonical::Text, &Json)| {
        let own = tool.get("name");
        members::is_tool(tool) && own.is_none_or(|own| own.as_text() == Some(name))
    };
    !members.is_empty() && members.iter().all(is_named)
}

/// Tools that are not an answer: whoever wrote them may have sorted them and their members.
fn of_tools(format: &str, tools: Vec<Json>) -> Result<Loaded, String> {
    let mut gathered = Gathered {
        unordered: true,
        ..Gathered::default()
    };
    gathered.add(Kind::Tool, tools, true);
    Ok(Loaded::of(format, None, gathered.surface()?))
}

/// An array of tools, or of answers.
fn of_array(items: Vec<Json>) -> Result<Loaded, String> {
    if items.iter().all(members::is_tool) {
        return of_tools("an array of tools", items);
    }
    let is_answer = |item: &Json| item.get("jsonrpc").is_some() || lists_something(item);
    if items.iter().all(is_answer) {
        return of_messages(items);
    }
    if items.iter().all(|item| item.as_str().is_some()) {
        return Err("it is an array of names only: a comparison needs the definitions".to_owned());
    }
    match items.iter().position(|item| !members::is_tool(item)) {
        Some(index) if items.iter().any(members::is_tool) => Err(format!(
            "item {} of the array is no definition of a tool: it has no `inputSchema`, and no `name` with a `description`",
            index + 1
        )),
        _ => Err(format!("it is an array of {} other values", items.len())),
    }
}

/// A folder with one file a tool, as (name of the file, content).
pub(super) fn of_folder(files: Vec<(String, Json)>) -> Result<Loaded, String> {
    let mut tools = Vec::new();
    for (file, definition) in files {
        if !members::is_tool(&definition) {
            return Err(format!(
                "{file} is no definition of a tool: it has no `inputSchema`, and no `name` with a `description`"
            ));
        }
        let name = file
            .rsplit_once('.')
            .map_or(file.as_str(), |(stem, _)| stem);
        let mut by_name = Object::new();
        by_name.push(name, definition);
        tools.extend(members::by_name(&by_name, "name"));
    }
    if tools.is_empty() {
        return Err("the folder has no file of a tool: NAME.json or NAME.snap".to_owned());
    }
    of_tools("a folder with one file a tool", tools)
}

/// Messages of JSON-RPC, or results of lists: one answer, several pages, or a whole conversation.
pub(super) fn of_messages(messages: Vec<Json>) -> Result<Loaded, String> {
    let mut gathered = Gathered::default();
    let mut found = false;
    let count = messages.len();
    for mut message in messages {
        if let Some(Json::Object(mut response)) = take(&mut message, "response") {
            message = response
                .take("result")
                .unwrap_or(Json::Object(response.clone()));
        }
        if let Some(error) = message.get("error") {
            let text = error.get("message").and_then(Json::as_str);
            return Err(format!(
                "it is an error of the server: {}",
                text.unwrap_or("without a message")
            ));
        }
        let result = match take(&mut message, "result") {
            Some(result) => result,
            // A request, or a notification.
            None if message.get("method").is_some() => continue,
            None => message,
        };
        found |= gathered.add_result(result)?;
    }
    if !found {
        return Err("none of its messages is an answer with a list".to_owned());
    }
    let is_greeted = gathered.greeting.is_some();
    let mut surface = gathered.surface()?;
    if is_greeted {
        surface.recorded.only(Part::Server, &KNOWN_WITHOUT_CLIENT);
    }
    let name = surface.server_name().map(str::to_owned);
    let format = match count {
        1 => "an answer to a request for a list",
        _ => "several answers of a server",
    };
    Ok(Loaded::of(format, name.as_deref(), surface))
}

fn take(object: &mut Json, member: &str) -> Option<Json> {
    match object {
        Json::Object(members) => members.take(member),
        _ => None,
    }
}

/// What an object has that is no known shape.
fn found(members: &Object) -> String {
    const NAMED: usize = 4;
    let names: Vec<String> = members
        .iter()
        .take(NAMED)
        .map(|(name, _)| format!("`{}`", name.to_string_lossy()))
        .collect();
    match members.len() {
        0 => "it is an empty object".to_owned(),
        count if count > NAMED => format!(
            "it is an object with {} and {} other members, none of them a list of tools",
            names.join(", "),
            count - NAMED
        ),
        _ => format!(
            "it is an object with {}, and no list of tools",
            names.join(", ")
        ),
    }
}
