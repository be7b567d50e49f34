//! Renders surfaces as a manifest.

use std::collections::BTreeMap;

use super::{MANIFEST_VERSION, signature};
use crate::canonical::{Json, Object, Text, write_pretty_at};
use crate::fingerprint::keel;
use crate::release::Release;
use crate::surface::{Component, Surface};

/// Where the JSON Schema of this format is published.
pub const SCHEMA_URL: &str =
    "https://raw.githubusercontent.com/mcp-keel/mcp-keel/main/docs/schema/baseline.schema.json";

/// The entry of one server. `release` is the version that the policy uses; it is omitted if it equals what the server reports.
pub fn server_entry(surface: &Surface, release: &Release) -> Json {
    let mut entry = Object::new();
    entry.push("scheme", Json::string(keel::SCHEME));
    entry.push("client", surface.client.to_json());
    let fingerprint = keel::server_fingerprint(surface);
    entry.push(
        "server",
        Json::object([
            ("fingerprint", Json::string(fingerprint.tagged())),
            ("definition", keel::server_definition(surface)),
        ]),
    );
    entry.push("observed", keel::observed(surface));
    if *release != Release::of_server(surface) {
        let version = release.version.as_deref().map_or(Json::Null, Json::string);
        let source = Json::string(release.source.as_str());
        entry.push(
            "version",
            Json::object([("source", source), ("value", version)]),
        );
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
    Json::Object(entry)
}

fn component_entry(component: &Component) -> Json {
    let fingerprint = keel::fingerprint(component);
    Json::object([
        ("signature", Json::string(signature(component))),
        ("fingerprint", Json::string(fingerprint.tagged())),
        ("definition", component.contract().into_owned()),
    ])
}

pub(super) enum Entry<'a> {
    New(Json),
    /// Kept byte for byte.
    Kept(&'a str),
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
    let mut out = String::from("{\n");
    member(&mut out, 1, "$schema", |out| {
        write_pretty_at(out, &Json::string(SCHEMA_URL), 1);
    });
    out.push_str(",\n");
    member(&mut out, 1, "manifestVersion", |out| {
        write_pretty_at(out, &Json::integer(MANIFEST_VERSION), 1);
    });
    out.push_str(",\n  \"servers\": {");
    for (index, (name, entry)) in servers.iter().enumerate() {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        member(&mut out, 2, name, |out| match entry {
            Entry::New(value) => write_pretty_at(out, value, 2),
            Entry::Kept(bytes) => out.push_str(bytes),
        });
    }
    out.push_str(if servers.is_empty() { "}" } else { "\n  }" });
    out.push_str("\n}\n");
    out
}

fn member(out: &mut String, level: usize, name: &str, value: impl FnOnce(&mut String)) {
    out.extend(std::iter::repeat_n("  ", level));
    write_pretty_at(out, &Json::string(name), level);
    out.push_str(": ");
    value(out);
}
