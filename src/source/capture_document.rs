//! The file that `mcp-keel capture` writes: the lists exactly as sent.

use super::shapes::{Gathered, Loaded};
use crate::canonical::Json;
use crate::capture::Captured;
use crate::surface::{
    Caching, ClientProfile, Era, Kind, Lists, Part, Recorded, Scope, Surface, list_members,
};

/// A capture as JSON: the lists exactly as sent, with nothing added.
pub fn capture_document(server: &str, captured: &Captured) -> Json {
    let notes = captured
        .surface
        .notes
        .iter()
        .map(|note| {
            Json::object([
                ("rule", Json::string(note.rule)),
                (
                    "component",
                    note.component.as_deref().map_or(Json::Null, Json::string),
                ),
                ("message", Json::string(note.message.as_str())),
            ])
        })
        .collect();
    let mut members = vec![
        ("captureVersion", Json::integer(1)),
        ("server", Json::string(server)),
    ];
    match captured.era {
        Era::Legacy => members.push(("initialize", captured.greeting.clone())),
        Era::Modern => {
            // The response lists what the server supports, not what was negotiated.
            let revision = captured.surface.protocol_version.as_str();
            members.push(("protocolVersion", Json::string(revision)));
            members.push(("discover", captured.greeting.clone()));
        }
    }
    if captured.surface.over_http {
        members.push(("transport", Json::string("http")));
    }
    let stated = captured.surface.scope.kinds;
    let stated = stated.to_state(&captured.surface.capabilities);
    let core = Kind::ALL.iter().copied().filter(|kind| kind.is_core());
    for kind in core.chain(stated) {
        members.push((
            kind.list_member(),
            Json::Array(captured.lists.of(kind).to_vec()),
        ));
    }
    let caching = &captured.lists.caching;
    if !caching.is_empty() {
        members.push(("caching", caching.to_json()));
    }
    let others = &captured.lists.other_members;
    if !others.is_empty() {
        let by_method = others.iter().map(|(method, it)| (*method, it.clone()));
        members.push(("listMembers", Json::object(by_method)));
    }
    members.push(("client", captured.surface.client.to_json()));
    members.push(("notes", Json::Array(notes)));
    Json::object(members)
}

/// Reads a capture. What one has that was made elsewhere, such as in a test, its `observed` says.
pub(super) fn read(mut document: Json) -> Result<Loaded, String> {
    let mut gathered = Gathered::default();
    gathered.take_lists(&mut document, false)?;
    if let Some(caching) = document.get("caching") {
        gathered.lists.caching = Caching::from_json(caching);
    }
    for kind in Kind::ALL.iter().copied() {
        let Some(listing) = kind.listing() else {
            continue;
        };
        let method = listing.method;
        let in_document = |member: &str| document.get(member).and_then(|it| it.get(method));
        // In a file of others, a wrong hint may be where a right one would be.
        let hints = in_document("caching").map(|hints| list_members(kind, hints));
        let mut members = in_document("listMembers")
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        for (name, value) in hints.iter().flat_map(|hints| hints.iter()) {
            members.push(name.clone(), value.clone());
        }
        if !members.is_empty() {
            let members = Json::Object(members);
            gathered.lists.other_members.insert(method, members);
        }
    }
    gathered.greeting = document
        .get("initialize")
        .or_else(|| document.get("discover"))
        .cloned();
    let mut surface = gathered.surface()?;
    match document.get("client") {
        Some(client) => surface.client = ClientProfile::from_json(client),
        // Made elsewhere: as which client is not known.
        None if document.get("captureVersion").is_some() => {
            surface.recorded.only(Part::Server, &KNOWN_WITHOUT_CLIENT);
        }
        None => {}
    }
    if let Some(observed) = document.get("observed") {
        let names = observed.as_array().unwrap_or_default();
        let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
        let (scope, recorded) = Recorded::read(&names)
            .map_err(|name| format!("`observed` has `{name}`, which is no part of a capture"))?;
        // Whoever made it elsewhere may have sorted it.
        let order = false;
        (surface.scope, surface.recorded) = (Scope { order, ..scope }, recorded);
    }
    if let Some(revision) = document.get("protocolVersion").and_then(Json::as_str) {
        revision.clone_into(&mut surface.protocol_version);
    }
    surface.over_http = document.get("transport").and_then(Json::as_str) == Some("http");
    let name = document.get("server").and_then(Json::as_str);
    Ok(Loaded::of("a capture", name, surface))
}

/// What is recorded of a server by whoever does not say as which client it was asked.
pub(super) const KNOWN_WITHOUT_CLIENT: [&str; 6] = [
    "serverInfo",
    "protocolVersion",
    "capabilities",
    "instructions",
    "caching",
    "otherMembers",
];

/// The capture around a surface that another source has.
pub(crate) fn captured(surface: Surface) -> Captured {
    Captured {
        greeting: Json::Null,
        era: surface.era(),
        lists: Lists::default(),
        surface,
        again: None,
        stderr: Vec::new(),
        paths: Vec::new(),
    }
}
