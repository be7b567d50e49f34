//! Which version of a package a launcher fetched: `npx server` and `uvx server` are another program every month.
//!
//! The words of the running processes say where the launcher put it (`…/archive-v0/ID/bin/server`,
//! `…/node_modules/.bin/server`), and the folder there says which version it is. Where the system does not show
//! them, the place is computed for `npx`, whose folders are named after what was asked for. Anything else is
//! unknown, and so is a package of which two versions are found.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha512};

use super::launcher::recognise;
use crate::launch::LaunchSpec;

/// What a launcher fetches and runs as the server.
pub struct Package {
    /// `npx`, `uvx`, `docker run`.
    pub launcher: &'static str,
    /// As it was asked for, without credentials.
    pub spec: String,
}

/// The package of a server; `None` for a command that runs what is here, as `cargo run` and `uv run` do.
pub fn package(launch: &LaunchSpec) -> Option<Package> {
    let launcher = recognise(&launch.command)?;
    let is_local = matches!(launcher.name, "cargo run" | "uv run");
    let target = launcher.targets.into_iter().next().filter(|_| !is_local)?;
    Some(Package {
        launcher: launcher.name,
        spec: target.spec,
    })
}

/// The version of the package that a launcher fetched. `paths` are those of the server's processes: to be asked after the server
/// was started, which is when it is fetched.
pub fn version(launch: &LaunchSpec, paths: &[PathBuf]) -> Option<String> {
    let launcher = recognise(&launch.command)?;
    let specs: Vec<&str> = launcher.targets.iter().map(|it| it.spec.as_str()).collect();
    let spec = specs.first()?;
    match launcher.name {
        "npx" | "npm exec" => {
            node_version(spec, paths).or_else(|| npx_version(spec, &specs, launch))
        }
        "pnpm dlx" | "yarn dlx" | "bunx" => node_version(spec, paths),
        "uvx" | "pipx run" => python_version(spec, paths),
        // The long form of `uvx`.
        name if name.ends_with("tool run") => python_version(spec, paths),
        _ => None,
    }
}

/// The version that one of these paths belongs to, unless they disagree.
fn only(versions: impl Iterator<Item = String>) -> Option<String> {
    let mut versions: BTreeSet<String> = versions.collect();
    let version = versions.pop_first()?;
    versions.is_empty().then_some(version)
}

/// The name and what follows it in `@scope/name@range`.
fn node_name(spec: &str) -> Option<(&str, Option<&str>)> {
    let (name, range) = match spec.get(1..)?.find('@') {
        Some(at) => (&spec[..=at], Some(&spec[at + 2..])),
        None => (spec, None),
    };
    let is_name = |it: char| it.is_ascii_alphanumeric() || "@/-_.".contains(it);
    let is_one = !name.contains("..") && !name.starts_with(['.', '/']);
    (is_one && name.chars().all(is_name)).then_some((name, range))
}

/// The version of a package in the `node_modules` that a process runs from.
fn node_version(spec: &str, paths: &[PathBuf]) -> Option<String> {
    let (name, _) = node_name(spec)?;
    let root = |path: &PathBuf| {
        let path = path.to_str()?;
        let end = path.find("/node_modules/")?;
        Some(PathBuf::from(&path[..end]))
    };
    let roots: BTreeSet<PathBuf> = paths.iter().filter_map(root).collect();
    only(roots.iter().filter_map(|it| installed_version(it, name)))
}

/// The version of a package below `root/node_modules`.
fn installed_version(root: &Path, name: &str) -> Option<String> {
    let manifest = root.join("node_modules").join(name).join("package.json");
    let text = crate::files::read_start(&manifest, 1 << 20).ok()?;
    let text = String::from_utf8(text).ok()?;
    let manifest = crate::canonical::parse_str(&text).ok()?;
    let version = manifest.get("version")?.as_str()?;
    is_version(version).then(|| version.to_owned())
}

fn is_version(text: &str) -> bool {
    let is_usual = |it: char| it.is_ascii_alphanumeric() || ".+-!_".contains(it);
    (1..=100).contains(&text.len()) && text.chars().all(is_usual)
}

/// The version of a package that `npx` runs: the one of the project, else the one in its cache,
/// whose folder is named after a digest of what was asked for.
fn npx_version(spec: &str, specs: &[&str], launch: &LaunchSpec) -> Option<String> {
    let variable = |name: &str| {
        let given = launch.env.get(name).map(PathBuf::from);
        given.or_else(|| crate::own_env::var(name).map(PathBuf::from))
    };
    let cache = variable("npm_config_cache").or_else(|| Some(variable("HOME")?.join(".npm")));
    let folder = launch.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    npx_version_in(spec, specs, &folder, cache.as_deref())
}

fn npx_version_in(
    spec: &str,
    specs: &[&str],
    folder: &Path,
    cache: Option<&Path>,
) -> Option<String> {
    let (name, range) = node_name(spec)?;
    let mut sorted = specs.to_vec();
    sorted.sort_unstable();
    let digest = Sha512::digest(sorted.join("\n").as_bytes());
    let digest: String = digest
        .iter()
        .take(8)
        .map(|it| format!("{it:02x}"))
        .collect();
    let cached = cache.map(|it| it.join("_npx").join(digest));
    // A version that is asked for by name is not taken from the project.
    let project = range.is_none().then(|| folder.to_owned());
    let version = |root: PathBuf| installed_version(&root, name);
    project
        .and_then(version)
        .or_else(|| cached.and_then(version))
}

/// The version of a package in the environment that a process runs from.
fn python_version(spec: &str, paths: &[PathBuf]) -> Option<String> {
    let name = python_name(spec)?;
    // `ENVIRONMENT/bin/server`
    let environment = |path: &PathBuf| {
        let bin = path.parent()?;
        let is_bin = bin.file_name().is_some_and(|it| it == "bin");
        is_bin.then(|| bin.parent().map(Path::to_owned))?
    };
    let environments: BTreeSet<PathBuf> = paths.iter().filter_map(environment).collect();
    only(
        environments
            .iter()
            .flat_map(|it| distributed_versions(it, &name)),
    )
}

/// How many entries of a folder are looked at: the largest environment has a few hundred packages.
const ENTRIES: usize = 10_000;

/// The versions of a package below an environment: `lib/python3.12/site-packages/NAME-VERSION.dist-info`.
fn distributed_versions(environment: &Path, name: &str) -> Vec<String> {
    let entries = |folder: PathBuf| {
        let found = std::fs::read_dir(folder).into_iter().flatten();
        let found = found.take(ENTRIES).filter_map(Result::ok);
        found.map(|it| it.path()).collect::<Vec<_>>()
    };
    let mut versions = Vec::new();
    for python in entries(environment.join("lib")) {
        for entry in entries(python.join("site-packages")) {
            let entry = entry.file_name().and_then(|it| it.to_str());
            let entry = entry.and_then(|it| it.strip_suffix(".dist-info"));
            let Some((package, version)) = entry.and_then(|it| it.split_once('-')) else {
                continue;
            };
            if normal(package) == name && is_version(version) {
                versions.push(version.to_owned());
            }
        }
    }
    versions
}

/// The normal name of a package in `name[extra]>=1`, `name@1.2` or `name`; `None` for an address or a path.
fn python_name(spec: &str) -> Option<String> {
    let end = spec.find(['@', '=', '<', '>', '!', '~', '[', ';', ' ', ',']);
    let name = spec[..end.unwrap_or(spec.len())].trim();
    let is_name = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let is_plain = !name.is_empty() && !name.starts_with('.') && name.chars().all(is_name);
    is_plain.then(|| normal(name))
}

/// As Python compares names: without case, and with one kind of separator.
fn normal(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|it| !it.is_empty());
    let parts: Vec<String> = parts.map(str::to_ascii_lowercase).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, at: &str, text: &str) {
        let at = root.join(at);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    /// The version of the first package of a command, with processes that run these files below `root`.
    fn version_of(root: &Path, command: &str, paths: &[&str]) -> Option<String> {
        let launch = LaunchSpec {
            command: command.split(' ').map(str::to_owned).collect(),
            cwd: Some(root.join("nowhere")),
            env: [("npm_config_cache".to_owned(), "/nonexistent".to_owned())].into(),
            ..LaunchSpec::default()
        };
        let paths: Vec<PathBuf> = paths.iter().map(|it| root.join(it)).collect();
        version(&launch, &paths)
    }

    /// The name of the folder is what npx 10 and 11 compute.
    #[test]
    fn the_version_of_a_package_is_read_where_npx_put_it() {
        let root = tempfile::tempdir().unwrap();
        let (project, cache) = (root.path().join("project"), root.path().join("cache"));
        let put = |at: &str, it: &str| write(root.path(), at, &format!("{{\"version\":\"{it}\"}}"));
        let version = |spec: &str| npx_version_in(spec, &[spec], &project, Some(&cache));
        assert_eq!(version("cowsay"), None);
        put(
            "cache/_npx/8f497369b2d6166e/node_modules/cowsay/package.json",
            "1.6.0",
        );
        assert_eq!(version("cowsay").as_deref(), Some("1.6.0"));
        put("project/node_modules/cowsay/package.json", "1.5.0");
        assert_eq!(version("cowsay").as_deref(), Some("1.5.0"));
        put(
            "cache/_npx/af837f8e47c4c265/node_modules/@modelcontextprotocol/server-filesystem/package.json",
            "2026.8.31",
        );
        let latest = "@modelcontextprotocol/server-filesystem@latest";
        assert_eq!(version(latest).as_deref(), Some("2026.8.31"));
        assert_eq!(version("../../etc"), None);
    }

    #[test]
    fn the_version_of_a_node_package_is_that_of_the_folder_its_process_runs_from() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for (folder, version) in [("pnpm/dlx/x", "2026.8.31"), ("bunx", "1.0.0")] {
            let at = format!("{folder}/node_modules/@scope/memory/package.json");
            write(root, &at, &format!("{{\"version\":\"{version}\"}}"));
        }
        let pnpm = "pnpm/dlx/x/node_modules/.bin/../.pnpm/a/node_modules/@scope/memory/index.js";
        let bunx = "bunx/node_modules/.bin/memory";
        for (command, paths, expected) in [
            ("pnpm dlx @scope/memory", &[pnpm][..], Some("2026.8.31")),
            ("bunx @scope/memory@latest", &[bunx], Some("1.0.0")),
            (
                "npx -y @scope/memory",
                &["usr/bin/node", bunx],
                Some("1.0.0"),
            ),
            // Two versions run: which one answers is not known.
            ("bunx @scope/memory", &[bunx, pnpm], None),
            ("bunx @scope/other", &[bunx], None),
            ("bunx @scope/memory", &[], None),
            ("npx -y github:me/memory", &[bunx], None),
            ("npx -y ../memory", &[bunx], None),
        ] {
            assert_eq!(
                version_of(root, command, paths).as_deref(),
                expected,
                "{command}"
            );
        }
    }

    #[test]
    fn the_version_of_a_python_package_is_that_of_the_environment_its_process_runs_from() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        for package in ["mcp_server_time-2026.1.14", "httpx-0.28.1", "mcp_server-9"] {
            let at = format!("uv/a/lib/python3.12/site-packages/{package}.dist-info/METADATA");
            write(root, &at, "");
        }
        let at = "uv/b/lib/python3.12/site-packages/mcp_server_time-1.0.dist-info/METADATA";
        write(root, at, "");
        let one = &["usr/bin/uv", "uv/a/bin/python", "uv/a/bin/mcp-server-time"][..];
        for (command, paths, expected) in [
            ("uvx mcp-server-time", one, Some("2026.1.14")),
            ("uvx MCP_Server.time@latest", one, Some("2026.1.14")),
            (
                "uvx --from mcp-server-time>=1 serve",
                one,
                Some("2026.1.14"),
            ),
            (
                "uv tool run --from mcp-server-time[x] s",
                one,
                Some("2026.1.14"),
            ),
            ("pipx run mcp-server-time", one, Some("2026.1.14")),
            ("uvx mcp-server-time", &["uv/a/bin/x", "uv/b/bin/x"], None),
            ("uvx mcp-server-git", one, None),
            ("uvx mcp-server-time", &["uv/a/mcp-server-time"], None),
            (
                "uvx --from git+https://example.org/mcp-server-time s",
                one,
                None,
            ),
            ("uvx --from ./mcp-server-time s", one, None),
        ] {
            assert_eq!(
                version_of(root, command, paths).as_deref(),
                expected,
                "{command}"
            );
        }
    }
}
