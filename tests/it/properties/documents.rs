//! Files in a repository: mcp-keel's baseline, other tools' locks, the configuration.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_keel::baseline::{Manifest, render, server_entry};
use mcp_keel::canonical::reader::{MAX_DEPTH, parse_python};
use mcp_keel::canonical::{Json, parse, to_canonical};
use mcp_keel::config::{Config, ConfigError};
use mcp_keel::interop::kiwi::lockfile::Lockfile;
use mcp_keel::interop::kiwi::{self as chain, Mode, Variant, disk, yaml};
use mcp_keel::interop::toolpin::canonical;
use mcp_keel::interop::toolpin::lock::DriftOptions;
use mcp_keel::interop::toolpin::targets::{self, Probe, Subject};
use mcp_keel::interop::{Contents, lock_v1};
use mcp_keel::policy::Date;
use mcp_keel::release::Release;
use mcp_keel::surface::Surface;

const PATH: &str = "mcp-baseline.json";

/// The surface of a capture or of a saved list.
pub(super) fn surface(input: &[u8]) -> Option<Surface> {
    let read = mcp_keel::read("input", input).ok()?;
    read.into_values().next()
}

/// Any text is read or rejected. A manifest rendered from a capture reads back as that capture;
/// after any edit of its bytes it is rejected, or still means the same.
pub fn baseline(input: &[u8]) {
    let manifest = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        Manifest::parse(Path::new(PATH), text).ok()
    };
    if let Some(read) = manifest(input) {
        queried(&read);
    }
    if let Ok(text) = String::from_utf8(input.to_vec()) {
        let _ = Manifest::parse_for_update(Path::new(PATH), text, &["a"]);
    }
    let Some((edit, document)) = input.split_first_chunk::<4>() else {
        return;
    };
    let Some(surface) = surface(document) else {
        return;
    };
    let release = Release::of_server(&surface);
    let entry = server_entry(&surface, &release);
    let text = render(&BTreeMap::from([("a".to_owned(), entry)]));
    let read = manifest(text.as_bytes()).expect("a rendered manifest can be read");
    let pinned = &read.servers()["a"].surface;
    // Volatile members are not pinned.
    let mut order: Vec<_> = surface.components.clone();
    for component in &mut order {
        component.definition = component.contract().into_owned();
    }
    let mut read_order = pinned.components.clone();
    order.sort_by(|one, other| one.key.cmp(&other.key));
    read_order.sort_by(|one, other| one.key.cmp(&other.key));
    assert_eq!(order, read_order);
    assert_eq!(surface.server_info, pinned.server_info);
    assert_eq!(surface.instructions, pinned.instructions);
    assert!(mcp_keel::drift::compare(pinned, &surface).is_empty());
    queried(&read);
    assert_eq!(
        read.with_servers([("a".to_owned(), server_entry(pinned, &release))].into()),
        text,
        "pinning what is pinned changes nothing"
    );

    let mut edited = text.clone().into_bytes();
    let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % edited.len();
    match edit[2] % 3 {
        0 => edited[at] = edit[3],
        1 => drop(edited.remove(at)),
        _ => edited.insert(at, edit[3]),
    }
    if let Some(passed) = manifest(&edited) {
        let canonical = |text: &[u8]| parse(text).map(|it| to_canonical(&it));
        assert_eq!(canonical(&edited), canonical(text.as_bytes()));
        assert_eq!(passed.servers()["a"].surface, *pinned);
    }
}

fn queried(manifest: &Manifest) {
    let lines = manifest.text().lines().count().max(1);
    for (name, pinned) in manifest.servers() {
        for component in &pinned.surface.components {
            let line = manifest.line(name, Some(&component.key), "/inputSchema/properties/a");
            assert!((1..=lines).contains(&line));
        }
        assert!((1..=lines).contains(&manifest.line(name, None, "/serverInfo")));
    }
}

/// Every reader of other tools' files, and everything computed from what they read.
pub fn locks(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input)
        && let Ok(document) = yaml::parse(text)
    {
        assert!(depth(&document) <= MAX_DEPTH + 1);
        of_chain(&document);
    }
    if let Ok(lockfile) = Lockfile::parse(input) {
        let text = lockfile.to_text();
        let again = Lockfile::parse(text.as_bytes()).expect("a written lockfile can be read");
        assert_eq!(again.to_text(), text);
        let _ = (lockfile.unpinned(), lockfile.pinned_versions());
        let _ = lockfile.file_name(Some("abc"));
        assert!(lockfile.differences(&[]).len() <= 1);
    }
    let Ok(document) = parse_python(input) else {
        return;
    };
    of_chain(&document);
    match Contents::recognise(&document, "mcp.lock") {
        Some(Ok(Contents::ToolPin(lock))) => {
            let _ = lock.digest();
            for (_, plan) in &lock.entries {
                let _ = (
                    plan.computed(),
                    plan.integrity(),
                    plan.pinned("toolsListHash"),
                );
                if let Ok(drift) = plan.drift(plan, DriftOptions::default()) {
                    assert!(drift.is_empty(), "a plan drifts from itself: {drift:?}");
                }
                let _ = plan.surface_drift(plan);
                let subject = Subject {
                    name: plan.name.to_string_lossy(),
                    version: plan.version.to_string_lossy(),
                    description: "",
                    target: Some(&plan.target),
                    meta: plan.manifest.as_ref(),
                };
                for probe in [Probe::NotAsked, Probe::Skipped, Probe::Seen] {
                    let _ = targets::verify(subject, &probe).ok();
                }
            }
        }
        Some(Ok(Contents::LockV1(lock))) => {
            let _ = (lock.digest(), lock.violations());
            for entry in lock.entries() {
                let _ = lock_v1::entry_integrity(entry);
            }
        }
        Some(Ok(Contents::Hangar(servers))) => {
            for pins in servers.values() {
                let observed = pins.tools.iter().filter_map(|(tool, pins)| {
                    let pin = pins.iter().next()?;
                    Some((tool.clone(), pin.clone()))
                });
                let observed: BTreeMap<String, String> = observed.collect();
                let drift = pins.drift(&observed, pins.upstream.as_deref());
                assert!(drift.is_empty(), "pins drift from themselves: {drift:?}");
            }
        }
        Some(Ok(Contents::FastMcp(manifest))) => {
            let _ = manifest.drift(&[]);
        }
        Some(Err(_)) | None => {}
    }
}

fn of_chain(document: &Json) {
    let _ = canonical::to_string(document);
    for variant in [Variant::Current, Variant::Documented] {
        let _ = chain::integrity(document, variant);
        let Some(links) = chain::links(document) else {
            continue;
        };
        for mode in [Mode::Strict, Mode::Usual, Mode::Lenient] {
            let _ = chain::validate(&links, mode).ok();
        }
        // A document may state a wrong digest; a link that cannot have one gets none.
        let is_open = |link: &chain::Link| {
            link.stored().is_none() && chain::integrity(&link.0, variant).is_ok()
        };
        let all_open = links.iter().all(is_open);
        let digested = disk::with_digests(links, variant);
        assert!(!all_open || chain::verify(&digested, variant).ok() || digested.is_empty());
        let _ = chain::lockfile::chain_hash(&digested);
    }
    let _ = chain::document_integrity(document);
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(object) => 1 + object.iter().map(|it| depth(it.1)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Any text is a configuration or an error that points into it and says how to go on.
pub fn config(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let lines = text.bytes().filter(|it| *it == b'\n').count() + 1;
    match Config::parse(Path::new("mcp-keel.toml"), text) {
        Ok(config) => {
            let today = Date::from_unix_seconds(1_800_000_000);
            for accepted in &config.policy.accept {
                assert!((1..=lines).contains(&accepted.line));
            }
            let stale = config.policy.acceptance_notes(today);
            assert!(stale.len() >= config.policy.accept.len());
        }
        Err(ConfigError::Several(errors)) => {
            assert!(errors.len() > 1);
            errors.iter().for_each(|it| config_error(it, lines));
        }
        Err(error) => config_error(&error, lines),
    }
}

fn config_error(error: &ConfigError, lines: usize) {
    match error {
        ConfigError::At {
            line,
            problem,
            help,
            ..
        }
        | ConfigError::Unset {
            line,
            problem,
            help,
            ..
        } => {
            assert!((1..=lines).contains(line), "line {line} of {lines}");
            assert!(!problem.is_empty() && !help.is_empty());
        }
        // Errors are not nested, and nothing is read from disk.
        other => panic!("{other}"),
    }
}
