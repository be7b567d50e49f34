//! The versions of MCP SDKs in a lockfile: when most tools change alike, one of them has usually moved.

use std::collections::BTreeSet;

use crate::canonical::Json;

/// Lockfiles, and the SDKs that each may have, the one closest to the server first.
const LOCKFILES: &[(&str, Syntax, &[&str])] = &[
    ("package-lock.json", Syntax::Npm, NODE),
    ("npm-shrinkwrap.json", Syntax::Npm, NODE),
    ("pnpm-lock.yaml", Syntax::Pnpm, NODE),
    ("yarn.lock", Syntax::Yarn, NODE),
    ("uv.lock", Syntax::Toml, PYTHON),
    ("poetry.lock", Syntax::Toml, PYTHON),
    ("Cargo.lock", Syntax::Toml, &["rmcp"]),
];

const NODE: &[&str] = &[
    "fastmcp",
    "@modelcontextprotocol/sdk",
    "@modelcontextprotocol/server",
];
const PYTHON: &[&str] = &["fastmcp", "mcp"];

#[derive(Clone, Copy)]
enum Syntax {
    Npm,
    Pnpm,
    Yarn,
    /// `[[package]]` with `name` and `version`
    Toml,
}

/// An SDK whose version differs between two states of a lockfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdkMoved {
    pub name: &'static str,
    pub was: String,
    pub is: String,
}

/// The names of the lockfiles that are understood.
pub fn names() -> impl Iterator<Item = &'static str> {
    LOCKFILES.iter().map(|it| it.0)
}

/// The SDK that moved between two states of the lockfile of this name. An SDK that is locked in several versions
/// says nothing.
pub fn moved(lockfile: &str, old: &str, new: &str) -> Option<SdkMoved> {
    let (_, syntax, sdks) = LOCKFILES.iter().find(|it| it.0 == lockfile)?;
    let version = |text: &str, name: &str| {
        let mut found = versions(*syntax, text, name);
        let version = found.pop_first()?;
        found.is_empty().then_some(version)
    };
    sdks.iter().find_map(|name| {
        let (was, is) = (version(old, name)?, version(new, name)?);
        (was != is).then_some(SdkMoved { name, was, is })
    })
}

fn versions(syntax: Syntax, text: &str, name: &str) -> BTreeSet<String> {
    let found: Vec<String> = match syntax {
        Syntax::Npm => npm(text, name),
        Syntax::Pnpm => pnpm(text, name),
        Syntax::Yarn => yarn(text, name),
        Syntax::Toml => toml(text, name),
    };
    let is_usual = |it: char| it.is_ascii_alphanumeric() || ".+-!_".contains(it);
    let is_version = |it: &String| (1..=100).contains(&it.len()) && it.chars().all(is_usual);
    found.into_iter().filter(is_version).collect()
}

fn npm(text: &str, name: &str) -> Vec<String> {
    let Ok(lock) = crate::canonical::parse_str(text) else {
        return Vec::new();
    };
    let version = |it: &Json| Some(it.get("version")?.as_str()?.to_owned());
    let packages = lock.get("packages").and_then(Json::as_object);
    let ending = format!("node_modules/{name}");
    let of_packages = packages.into_iter().flat_map(|it| it.iter());
    let of_packages = of_packages.filter(|(path, _)| {
        let path = path.to_string_lossy();
        path == ending || path.ends_with(&format!("/{ending}"))
    });
    let mut found: Vec<String> = of_packages.filter_map(|(_, it)| version(it)).collect();
    if found.is_empty() {
        // The first version of the format.
        let old = lock.get("dependencies").and_then(|it| it.get(name));
        found.extend(old.and_then(version));
    }
    found
}

/// `  '@scope/name@1.2.3(peer@1)':`, and in old files `  /@scope/name/1.2.3:`
fn pnpm(text: &str, name: &str) -> Vec<String> {
    let version = |line: &str| {
        let key = line.trim().trim_matches(|it| "'\"/:".contains(it));
        let rest = key.strip_prefix(name)?.strip_prefix(['@', '/'])?;
        let end = rest.find(['(', '\'', ':', '_']).unwrap_or(rest.len());
        let is_key = line.trim_end().ends_with([':', '}']);
        (is_key && rest.starts_with(|it: char| it.is_ascii_digit())).then(|| rest[..end].to_owned())
    };
    text.lines().filter_map(version).collect()
}

/// `"@scope/name@^1.2.0", …:` and on the next line `  version "1.2.3"` or `  version: 1.2.3`
fn yarn(text: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_ours = false;
    for line in text.lines() {
        if !line.starts_with([' ', '#']) && !line.is_empty() {
            let first = line.trim_start_matches('"');
            let rest = first.strip_prefix(name).and_then(|it| it.strip_prefix('@'));
            is_ours = rest.is_some();
        } else if let (true, Some(rest)) = (is_ours, line.trim().strip_prefix("version")) {
            let version = rest.trim_matches(|it: char| it == ':' || it == '"' || it == ' ');
            found.push(version.to_owned());
            is_ours = false;
        }
    }
    found
}

fn toml(text: &str, name: &str) -> Vec<String> {
    let value = |line: &str, key: &str| {
        let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        Some(rest.trim().trim_matches('"').to_owned())
    };
    let packages = text.split("[[package]]").skip(1);
    let version = |package: &str| {
        // What follows in tables of their own is about other packages.
        let lines = || package.lines().take_while(|it| !it.starts_with('['));
        let named = lines().find_map(|it| value(it, "name"))?;
        (named == name).then(|| lines().find_map(|it| value(it, "version")))?
    };
    packages.filter_map(version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdk_that_moved_is_found_in_every_lockfile() {
        let sdk = "@modelcontextprotocol/sdk";
        for (lockfile, name, text) in [
            (
                "package-lock.json",
                sdk,
                r#"{"lockfileVersion": 3, "packages": {"": {"version": "9.9.9"}, "node_modules/@modelcontextprotocol/sdk": {"version": "VERSION"}}}"#,
            ),
            (
                "package-lock.json",
                sdk,
                r#"{"lockfileVersion": 1, "dependencies": {"@modelcontextprotocol/sdk": {"version": "VERSION"}}}"#,
            ),
            (
                "pnpm-lock.yaml",
                sdk,
                "importers:\n  .:\n    dependencies:\n      '@modelcontextprotocol/sdk':\n        specifier: ^1.0.0\n        version: VERSION(zod@3.25.0)\n\npackages:\n\n  '@modelcontextprotocol/sdk@VERSION':\n    resolution: {integrity: sha512-x}\n\nsnapshots:\n\n  '@modelcontextprotocol/sdk@VERSION(zod@3.25.0)':\n    dependencies:\n",
            ),
            (
                "pnpm-lock.yaml",
                sdk,
                "packages:\n  /@modelcontextprotocol/sdk@VERSION:\n    resolution: {integrity: sha512-x}\n",
            ),
            (
                "yarn.lock",
                sdk,
                "# yarn lockfile v1\n\n\"@modelcontextprotocol/sdk@^1.0.0\":\n  version \"VERSION\"\n  dependencies:\n    ajv \"^8.0.0\"\n\nzod@^3.0.0:\n  version \"3.25.0\"\n",
            ),
            (
                "yarn.lock",
                sdk,
                "\"@modelcontextprotocol/sdk@npm:^1.0.0\":\n  version: VERSION\n  resolution: \"x\"\n",
            ),
            (
                "uv.lock",
                "fastmcp",
                "version = 1\n\n[[package]]\nname = \"fastmcp\"\nversion = \"VERSION\"\ndependencies = [{ name = \"mcp\" }]\n\n[[package]]\nname = \"mcp\"\nversion = \"1.9.0\"\n",
            ),
            (
                "poetry.lock",
                "mcp",
                "[[package]]\nname = \"mcp\"\nversion = \"VERSION\"\n\n[package.dependencies]\nname = \"x\"\n",
            ),
            (
                "Cargo.lock",
                "rmcp",
                "version = 4\n\n[[package]]\nname = \"rmcp\"\nversion = \"VERSION\"\nsource = \"x\"\n\n[[package]]\nname = \"rmcp-macros\"\nversion = \"0.1.0\"\n",
            ),
        ] {
            let (old, new) = (
                text.replace("VERSION", "1.30.0"),
                text.replace("VERSION", "2.0.0"),
            );
            let expected = SdkMoved {
                name,
                was: "1.30.0".to_owned(),
                is: "2.0.0".to_owned(),
            };
            assert_eq!(
                moved(lockfile, &old, &new),
                Some(expected),
                "{lockfile}: {text}"
            );
            assert_eq!(moved(lockfile, &old, &old), None, "{lockfile}");
            assert_eq!(moved(lockfile, &old, ""), None, "{lockfile}");
        }
    }

    #[test]
    fn an_sdk_in_several_versions_says_nothing() {
        let lock = |versions: &[&str]| -> String {
            let package = |it: &&str| format!("[[package]]\nname = \"rmcp\"\nversion = \"{it}\"\n");
            versions.iter().map(package).collect()
        };
        let moved = |old: &[&str], new: &[&str]| moved("Cargo.lock", &lock(old), &lock(new));
        assert!(moved(&["1.0.0"], &["2.0.0"]).is_some());
        assert_eq!(moved(&["1.0.0"], &["1.0.0", "2.0.0"]), None);
        assert_eq!(moved(&[], &["2.0.0"]), None);
    }
}
