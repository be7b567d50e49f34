//! Renders surfaces as a manifest.

use std::collections::BTreeMap;

use base64::Engine as _;

use super::MANIFEST_VERSION;
use crate::canonical::{
    Json, Object, Text, to_canonical, write_line, write_members_at, write_pretty_at,
};
use crate::fingerprint::{Digest, keel};
use crate::interop::digest::stored;
use crate::release::Release;
use crate::surface::{Component, Kind, Surface};
use crate::verify::launched::LaunchLink;

/// Where the JSON Schema of this format is published.
pub const SCHEMA_URL: &str =
    "https://raw.githubusercontent.com/mcp-keel/mcp-keel/main/docs/schema/baseline.schema.json";

/// The entry of one server, with its digests. `release` is the version that the policy uses; it is
/// omitted if it equals what the server reports.
pub fn server_entry(surface: &Surface, release: &Release) -> Json {
    let mut entry = Object::new();
    entry.push("scheme", Json::string(keel::SCHEME));
    entry.push("serverInfo", surface.server_info.clone());
    if *release != Release::of_server(surface) {
        let version = release.version.as_deref().map_or(Json::Null, Json::string);
        entry.push(
            "version",
            Json::object([
                ("source", Json::string(release.source.as_str())),
                ("value", version),
            ]),
        );
    }
    entry.push(
        "protocolVersion",
        Json::string(surface.protocol_version.as_str()),
    );
    entry.push("client", surface.client.to_json());
    entry.push("capabilities", surface.capabilities.clone());
    if let Some(instructions) = &surface.instructions {
        entry.push("instructions", Json::String(instructions.clone()));
    }
    if let Some(versions) = &surface.supported_versions {
        let versions = versions.iter().map(|it| Json::string(it.as_str()));
        entry.push("supportedVersions", Json::Array(versions.collect()));
    }
    let others = surface.other_members.as_ref();
    if let Some(others) = others.filter(|it| it.as_object().is_some_and(|it| !it.is_empty())) {
        entry.push("otherMembers", others.clone());
    }
    if !surface.caching.is_empty() {
        entry.push("caching", surface.caching.to_json());
    }
    let listed: Vec<&str> = surface
        .of_kind(Kind::Tool)
        .map(|tool| tool.key.as_str())
        .collect();
    // Components are sorted by key, so an order that differs is recorded. A server whose order
    // varies has none, and none is recorded.
    if !surface.scope.order {
        entry.push("toolOrder", Json::Array(Vec::new()));
    } else if !listed.is_sorted() {
        let order = listed.into_iter().map(Json::string).collect();
        entry.push("toolOrder", Json::Array(order));
    }
    // A server without such lists keeps the same entry as before.
    let stated = surface.scope.kinds.to_state(&surface.capabilities);
    let stated: Vec<Json> = stated
        .map(|kind| Json::string(kind.list_member()))
        .collect();
    if !stated.is_empty() {
        entry.push("lists", Json::Array(stated));
    }
    let components: BTreeMap<&str, &Component> = surface
        .components
        .iter()
        .map(|component| (component.key.as_str(), component))
        .collect();
    let components = components
        .into_iter()
        .map(|(key, component)| (Text::from(key), component_entry(component)))
        .collect::<Object>();
    entry.push("components", Json::Object(components));
    let digest = entry_digest(&entry);
    entry.push("surface", Json::string(digest.tagged()));
    Json::Object(entry)
}

/// An entry with its launch chain.
pub fn with_launch(mut entry: Json, launch: &[LaunchLink]) -> Json {
    if let Json::Object(object) = &mut entry
        && !launch.is_empty()
    {
        let links = launch.iter().map(LaunchLink::to_json).collect();
        object.push("launch", Json::Array(links));
    }
    entry
}

fn component_entry(component: &Component) -> Json {
    let mut digests = Object::new();
    for (facet, digest) in keel::facets(component) {
        digests.push(facet, Json::string(digest.tagged()));
    }
    // The digests of other tools, as those print them, for comparison. A tool that one of them
    // rejects has no such digest.
    for (scheme, hex) in stored(component) {
        digests.push(scheme, Json::string(hex));
    }
    Json::object([
        (
            "fingerprint",
            Json::string(keel::fingerprint(component).tagged()),
        ),
        ("digests", Json::Object(digests)),
        ("definition", component.contract().into_owned()),
    ])
}

/// The `surface` digest of an entry: everything in it except the digest itself, each component by
/// its fingerprint.
pub(super) fn entry_digest(entry: &Object) -> Digest {
    let covered = entry
        .iter()
        // How a server was launched is not part of its contract: `integrity` covers it, the
        // `surface` digest does not.
        .filter(|(name, _)| *name != "surface" && *name != "launch")
        .map(|(name, value)| {
            let value = match (name.as_str(), value) {
                (Some("components"), Json::Object(components)) => components
                    .iter()
                    .map(|(key, component)| {
                        let fingerprint = component.get("fingerprint").cloned();
                        (key.clone(), fingerprint.unwrap_or(Json::Null))
                    })
                    .collect::<Object>()
                    .into(),
                _ => value.clone(),
            };
            (name.clone(), value)
        })
        .collect::<Object>();
    Digest::of(to_canonical(&Json::Object(covered)))
}

pub(super) enum Entry<'a> {
    New(Json),
    /// Kept byte for byte, with the parsed value.
    Kept(&'a str, &'a Json),
}

/// The whole file, with a final newline.
pub fn render(servers: &BTreeMap<String, Json>) -> String {
    let entries = servers
        .iter()
        .map(|(name, entry)| (name.clone(), Entry::New(entry.clone())))
        .collect();
    render_entries(&entries)
}

pub(super) fn render_entries(servers: &BTreeMap<String, Entry<'_>>) -> String {
    let values: Object = servers
        .iter()
        .map(|(name, entry)| {
            let value = match entry {
                Entry::New(value) => value.clone(),
                Entry::Kept(_, value) => (*value).clone(),
            };
            (Text::from(name.as_str()), value)
        })
        .collect();
    let mut manifest = Object::new();
    manifest.push("$schema", Json::string(SCHEMA_URL));
    manifest.push("manifestVersion", Json::integer(MANIFEST_VERSION));
    manifest.push("servers", Json::Object(values));
    let integrity = integrity(&manifest);

    let mut out = String::from("{\n");
    for (name, value) in manifest.iter().filter(|(name, _)| *name != "servers") {
        member(&mut out, 1, name, |out| write_pretty_at(out, value, 1));
        out.push_str(",\n");
    }
    out.push_str("  \"servers\": {");
    for (index, (name, entry)) in servers.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        member(&mut out, 2, &Text::from(name.as_str()), |out| match entry {
            Entry::New(value) => write_entry(out, value),
            Entry::Kept(bytes, _) => out.push_str(bytes),
        });
    }
    out.push_str(if servers.is_empty() {
        "},\n"
    } else {
        "\n  },\n"
    });
    member(&mut out, 1, &Text::from("integrity"), |out| {
        write_pretty_at(out, &Json::string(integrity), 1);
    });
    out.push_str("\n}\n");
    out
}

/// One member per line, except that a component's `digests` share one: they change together, whatever
/// changes in its definition, and no one reads them.
fn write_entry(out: &mut String, entry: &Json) {
    let object = |value: &Json| value.as_object().cloned().unwrap_or_default();
    write_members_at(out, &object(entry), 2, |out, name, value| {
        if name.as_str() != Some("components") {
            return write_pretty_at(out, value, 3);
        }
        write_members_at(out, &object(value), 3, |out, _, component| {
            write_members_at(out, &object(component), 4, |out, name, value| {
                if name.as_str() == Some("digests") {
                    write_line(out, value);
                } else {
                    write_pretty_at(out, value, 5);
                }
            });
        });
    });
}

/// An entry as it was written before the digests of a component shared a line.
pub(super) fn earlier_layout(entry: &Json) -> String {
    let mut out = String::new();
    write_pretty_at(&mut out, entry, 2);
    out
}

fn member(out: &mut String, level: usize, name: &Text, value: impl FnOnce(&mut String)) {
    out.extend(std::iter::repeat_n("  ", level));
    write_pretty_at(out, &Json::String(name.clone()), level);
    out.push_str(": ");
    value(out);
}

/// `sha256-` plus the base64 digest of the canonical manifest without its `integrity`.
pub fn integrity(manifest: &Object) -> String {
    let mut covered = manifest.clone();
    covered.retain(|name, _| name != "integrity");
    let digest = Digest::of(to_canonical(&Json::Object(covered)));
    let base64 = base64::engine::general_purpose::STANDARD.encode(digest.bytes());
    format!("sha256-{base64}")
}
