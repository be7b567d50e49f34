//! mcp-keel's own scheme, `keel-2`: one digest for each component, one for the server itself.
//!
//! Each is over `{"definition": D, "key": K}` in RFC 8785 with exact numbers: D as sent, without its volatile members, K the key. The
//! server's has `client` and `observed` beside them, because what a server says depends on who asks and on what was asked.

use super::Digest;
use crate::canonical::{Json, Object, canonical_object};
use crate::surface::{CacheScope, Component, Scope, Surface};

/// The name of this scheme, recorded in every baseline; a later scheme gets its own name.
pub const SCHEME: &str = "keel-2";

/// What stands for the server itself where components have their keys.
pub const SERVER: &str = "server";

/// The fingerprint of a component.
pub fn fingerprint(component: &Component) -> Digest {
    let key = Json::string(component.key.as_str());
    Digest::of(canonical_object(&[
        ("definition", &component.contract()),
        ("key", &key),
    ]))
}

/// The fingerprint of the server itself.
pub fn server_fingerprint(surface: &Surface) -> Digest {
    server_fingerprint_of(
        &surface.client.to_json(),
        &server_definition(surface),
        &observed(surface),
    )
}

/// The fingerprint of a server's entry in a file.
pub fn server_fingerprint_of(client: &Json, definition: &Json, observed: &Json) -> Digest {
    Digest::of(canonical_object(&[
        ("client", client),
        ("definition", definition),
        ("key", &Json::string(SERVER)),
        ("observed", observed),
    ]))
}

/// The digest of a whole surface: over every key with its fingerprint.
pub fn surface_digest(surface: &Surface) -> Digest {
    let rows: Object = fingerprints(surface)
        .into_iter()
        .map(|(key, digest)| (key.into(), Json::string(digest.tagged())))
        .collect();
    let rows = Json::Object(rows);
    Digest::of(crate::canonical::to_canonical(&rows))
}

/// Every fingerprint of a surface: the server's, if it was observed, and those of its components in the order listed.
pub fn fingerprints(surface: &Surface) -> Vec<(String, Digest)> {
    let server = surface.scope.server.then(|| server_fingerprint(surface));
    let server = server.map(|digest| (SERVER.to_owned(), digest));
    let components = surface.components.iter();
    let components = components.map(|it| (it.key.to_string(), fingerprint(it)));
    server.into_iter().chain(components).collect()
}

/// What a server says about itself, without what is volatile; an empty object if it was not observed.
pub fn server_definition(surface: &Surface) -> Json {
    let mut definition = Object::new();
    if surface.scope.server {
        definition.push("serverInfo", surface.server_info.clone());
    }
    if !surface.protocol_version.is_empty() {
        let revision = Json::string(surface.protocol_version.as_str());
        definition.push("protocolVersion", revision);
    }
    if !surface.scope.server {
        return Json::Object(definition);
    }
    if let Some(versions) = &surface.supported_versions {
        let versions = versions.iter().map(|it| Json::string(it.as_str()));
        definition.push("supportedVersions", Json::Array(versions.collect()));
    }
    definition.push("capabilities", surface.capabilities.clone());
    if let Some(instructions) = &surface.instructions {
        definition.push("instructions", Json::String(instructions.clone()));
    }
    let scopes: Object = surface
        .caching
        .iter()
        .filter_map(|(method, hint)| Some((method.into(), hint.scope?)))
        .map(|(method, scope): (_, CacheScope)| (method, Json::string(scope.word())))
        .collect();
    if !scopes.is_empty() {
        definition.push("cacheScope", Json::Object(scopes));
    }
    let others = surface.other_members.as_ref();
    if let Some(others) = others.filter(|it| it.as_object().is_some_and(|it| !it.is_empty())) {
        definition.push("otherMembers", others.clone());
    }
    Json::Object(definition)
}

/// What was seen of a server: itself, which lists, and of those that were seen in part which members.
pub fn observed(surface: &Surface) -> Json {
    let scope = Scope {
        kinds: surface.scope.kinds.observed(&surface.capabilities),
        ..surface.scope
    };
    let words = surface.recorded.observed(scope).into_iter();
    Json::Array(words.map(Json::string).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::surface::{ComponentKey, Kind};

    fn component(kind: Kind, definition: &str) -> Component {
        let definition = parse_str(definition).unwrap();
        Component {
            kind,
            key: ComponentKey::of(kind, &definition),
            definition,
        }
    }

    fn tool(definition: &str) -> Component {
        component(Kind::Tool, definition)
    }

    #[test]
    fn the_fingerprint_is_over_key_and_definition() {
        let digest = |text: &str| Digest::of(text).tagged();
        assert_eq!(
            fingerprint(&tool(r#"{"name": "a", "description": "b"}"#)).tagged(),
            digest(r#"{"definition":{"description":"b","name":"a"},"key":"tool:a@"}"#)
        );
        // The same text as another kind is another component.
        assert_eq!(
            fingerprint(&component(Kind::Prompt, r#"{"name": "a"}"#)).tagged(),
            digest(r#"{"definition":{"name":"a"},"key":"prompt:a@"}"#)
        );
    }

    #[test]
    fn the_fingerprint_covers_vendor_members_but_not_volatile_ones() {
        let plain = fingerprint(&tool(r#"{"name":"a"}"#));
        assert_ne!(
            plain,
            fingerprint(&tool(
                r#"{"name":"a","execution":{"taskSupport":"forbidden"}}"#
            ))
        );
        assert_eq!(plain, fingerprint(&tool(r#"{"name":"a","ttlMs":3}"#)));
        // A member is volatile only with its own type.
        assert_ne!(plain, fingerprint(&tool(r#"{"name":"a","ttlMs":"obey"}"#)));
    }

    #[test]
    fn the_fingerprint_of_the_server_covers_who_asked_and_what_was_seen() {
        let captured = |more: &str| {
            let text = format!(
                r#"{{"tools": [], "prompts": [], "resources": [], "resourceTemplates": [], "initialize": {{
                    "protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "a"}}}}{more}}}"#
            );
            crate::source::from_document(parse_str(&text).unwrap())
                .unwrap()
                .1
        };
        let surface = captured("");
        let expected = r#"{"client":{"capabilities":["elicitation","roots","sampling"],"name":"mcp-keel"},"definition":{"capabilities":{"tools":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"a"}},"key":"server","observed":["server","tools","prompts","resources","templates"]}"#;
        assert_eq!(server_fingerprint(&surface), Digest::of(expected));
        let another = captured(r#", "client": {"name": "b", "capabilities": []}"#);
        assert_ne!(server_fingerprint(&surface), server_fingerprint(&another));
    }

    #[test]
    fn the_digest_of_a_surface_covers_every_fingerprint_in_any_order() {
        let list = |tools: &str| {
            let text = format!(r#"{{"tools": [{tools}]}}"#);
            crate::source::from_document(parse_str(&text).unwrap())
                .unwrap()
                .1
        };
        let (a, b) = (r#"{"name": "a"}"#, r#"{"name": "b"}"#);
        let both = surface_digest(&list(&format!("{a}, {b}")));
        assert_eq!(both, surface_digest(&list(&format!("{b}, {a}"))));
        assert_ne!(both, surface_digest(&list(a)));
    }
}
