//! npx, npm, pnpm, yarn and bun.

use super::{ANY_ANSWER, BRANCH_OR_TAG, LATEST};
use super::{Launcher, Pin, Target, is_commit, is_local, parse, without_credentials};

#[derive(Clone, Copy)]
pub(super) struct Flags {
    /// Flags that take the next word as their value.
    values: &'static [&'static str],
    /// Those of them whose value is the package.
    package: &'static [&'static str],
}

pub(super) const NPM: Flags = Flags {
    values: &[
        "-p",
        "--package",
        "-c",
        "--call",
        "--registry",
        "--cache",
        "--userconfig",
        "--globalconfig",
        "-w",
        "--workspace",
        "--prefix",
        "-C",
        "--node-options",
        "--script-shell",
        "--loglevel",
        "--location",
        "--before",
        "-n",
        "--node-arg",
        "--shell",
        "--tag",
    ],
    package: &["-p", "--package"],
};
pub(super) const PNPM: Flags = Flags {
    values: &[
        "--package",
        "--reporter",
        "--registry",
        "-C",
        "--dir",
        "--loglevel",
        "--store-dir",
    ],
    package: &["--package"],
};
pub(super) const YARN: Flags = Flags {
    values: &["-p", "--package"],
    package: &["-p", "--package"],
};
pub(super) const BUN: Flags = Flags {
    values: &["-p", "--package", "--registry", "--cwd"],
    package: &["-p", "--package"],
};

pub(super) fn node(name: &'static str, words: &[&str], flags: Flags) -> Launcher {
    let parsed = parse(words, flags.values);
    let mut specs = parsed.of(flags.package);
    // With `--package` the first word is a program from that package; otherwise it is the package.
    if specs.is_empty() {
        specs.extend(parsed.positional.map(str::to_owned));
    }
    let targets = specs
        .into_iter()
        .map(|spec| npm_target(&spec, name))
        .collect();
    Launcher { name, targets }
}

pub(super) fn npm_target(spec: &str, launcher: &str) -> Target {
    let spec = without_credentials(spec);
    let pin = npm_pin(&spec, launcher);
    Target { spec, pin }
}

pub(super) fn npm_pin(spec: &str, launcher: &str) -> Pin {
    if is_local(spec) || spec.starts_with("file:") {
        return Pin::Local;
    }
    let (name, version) = split_npm(spec);
    if let Some(alias) = version.and_then(|it| it.strip_prefix("npm:")) {
        return npm_pin(alias, launcher);
    }
    let is_git = ["git+", "git:", "github:", "gitlab:", "bitbucket:", "gist:"]
        .iter()
        .any(|it| spec.starts_with(it))
        || (!spec.starts_with('@') && spec.contains('/') && !spec.contains("://"));
    if is_git {
        let (repository, commit) = spec.split_once('#').unwrap_or((spec, ""));
        return if is_commit(commit) {
            Pin::Exact
        } else {
            Pin::Open {
                why: BRANCH_OR_TAG.to_owned(),
                write: format!(
                    "{repository}{}COMMIT, with all 40 digits of the commit",
                    '#'
                ),
            }
        };
    }
    if spec.contains("://") {
        return Pin::Open {
            why: ANY_ANSWER.to_owned(),
            write: "NAME@VERSION from a registry, or install it with a lockfile and start the file"
                .to_owned(),
        };
    }
    match version {
        Some(version) if is_exact_semver(version) => Pin::Exact,
        found => Pin::Open {
            why: match found {
                None if matches!(launcher, "npx" | "npm exec") => {
                    "runs a local copy if there is one, else the newest version in the registry"
                        .to_owned()
                }
                None => "runs the newest version in the registry".to_owned(),
                Some(version) => floating(version),
            },
            write: format!("{name}@VERSION, all three numbers, such as {name}@1.2.3"),
        },
    }
}

/// `@scope/name@version`: the `@` of a scope does not start a version.
pub(super) fn split_npm(spec: &str) -> (&str, Option<&str>) {
    let from = usize::from(spec.starts_with('@'));
    match spec[from..].find('@') {
        Some(at) => (&spec[..from + at], Some(&spec[from + at + 1..])),
        None => (spec, None),
    }
}

pub(super) fn floating(version: &str) -> String {
    let is_range = version
        .bytes()
        .next()
        .is_none_or(|byte| byte.is_ascii_digit() || b"^~<>=*xXvV".contains(&byte));
    match version {
        "latest" => LATEST.to_owned(),
        "" => "names no version after its `@`".to_owned(),
        _ if is_range => format!("runs the newest version that fits `{version}`"),
        _ => format!("runs whatever the tag `{version}` points to when it starts"),
    }
}

pub(super) fn is_exact_semver(version: &str) -> bool {
    let version = version.strip_prefix('=').unwrap_or(version);
    let version = version.strip_prefix('v').unwrap_or(version);
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let tail = &version[core.len()..];
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3
        && parts
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        && tail
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-+.".contains(&byte))
        && !matches!(tail, "-" | "+")
}
