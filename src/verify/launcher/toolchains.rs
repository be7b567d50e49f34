//! Deno, Go, Cargo and .NET.

use super::ANY_ANSWER;
use super::node::{floating, is_exact_semver, split_npm};
use super::{Launcher, Pin, Target, is_commit, is_local, parse, without_credentials};

pub(super) fn deno(words: &[&str]) -> Launcher {
    let values = &[
        "-c",
        "--config",
        "--import-map",
        "--lock",
        "--cert",
        "--location",
        "--seed",
        "-L",
        "--log-level",
        "--ext",
        "--preload",
        "--import",
    ];
    let parsed = parse(words, values);
    let targets = parsed.positional.into_iter().map(|spec| Target {
        spec: without_credentials(spec),
        pin: deno_pin(spec),
    });
    Launcher {
        name: "deno run",
        targets: targets.collect(),
    }
}

fn deno_pin(spec: &str) -> Pin {
    for scheme in ["npm:", "jsr:"] {
        if let Some(package) = spec.strip_prefix(scheme) {
            // The version may be followed by a path into the package.
            let (name, version) = split_npm(package.trim_start_matches('/'));
            let version = version.map(|it| it.split('/').next().unwrap_or_default());
            return match version {
                Some(version) if is_exact_semver(version) => Pin::Exact,
                found => Pin::Open {
                    why: found.map_or_else(
                        || "runs the newest version in the registry".to_owned(),
                        floating,
                    ),
                    write: format!(
                        "{name}@VERSION, all three numbers, such as {name}@1.2.3",
                        name = format!("{scheme}{name}")
                    ),
                },
            };
        }
    }
    if !spec.contains("://") {
        return Pin::Local;
    }
    let versioned = spec.split(['@', '/']).any(|part| {
        let part = part.strip_prefix('v').unwrap_or(part);
        is_exact_semver(part) || is_commit(part)
    });
    if versioned {
        Pin::Exact
    } else {
        Pin::Open {
            why: ANY_ANSWER.to_owned(),
            write: "an address with the version in it (…/NAME@v1.2.3/mod.ts), and --frozen with a deno.lock"
        .to_owned(),
        }
    }
}

pub(super) fn go(words: &[&str]) -> Launcher {
    let values = &[
        "-C",
        "-exec",
        "-tags",
        "-mod",
        "-modfile",
        "-overlay",
        "-p",
        "-ldflags",
        "-gcflags",
        "-asmflags",
        "-pkgdir",
        "-toolexec",
        "-buildmode",
        "-compiler",
        "-pgo",
    ];
    let parsed = parse(words, values);
    let targets = parsed.positional.into_iter().map(|spec| Target {
        spec: spec.to_owned(),
        pin: go_pin(spec),
    });
    Launcher {
        name: "go run",
        targets: targets.collect(),
    }
}

fn go_pin(spec: &str) -> Pin {
    let Some((module, version)) = spec.rsplit_once('@') else {
        // Without a version `go run` works only inside a module, where go.mod and go.sum decide.
        return if is_local(spec) || spec.ends_with(".go") || !spec.contains('.') {
            Pin::Local
        } else {
            Pin::Exact
        };
    };
    let is_version = version.starts_with('v') && is_exact_semver(version);
    if is_version || is_commit(version) {
        Pin::Exact
    } else {
        Pin::Open {
            why: floating(version),
            write: format!("{module}@vX.Y.Z, all three numbers"),
        }
    }
}

pub(super) fn cargo(all: &[&str], words: &[&str]) -> Launcher {
    let own = |words: &[&str]| {
        let end = words
            .iter()
            .position(|word| *word == "--")
            .unwrap_or(words.len());
        words[..end]
            .iter()
            .any(|word| matches!(*word, "--locked" | "--frozen"))
    };
    let pin = if own(words) || own(all) {
        Pin::Local
    } else {
        Pin::Open {
            why: "uses other versions of its dependencies if Cargo.lock is missing or does not match Cargo.toml"
        .to_owned(),
            write: "cargo run --locked, with a committed Cargo.lock".to_owned(),
        }
    };
    Launcher {
        name: "cargo run",
        targets: vec![Target {
            spec: "its dependencies".to_owned(),
            pin,
        }],
    }
}

pub(super) fn dnx(words: &[&str]) -> Launcher {
    let parsed = parse(
        words,
        &[
            "--version",
            "--source",
            "--add-source",
            "--configfile",
            "--framework",
            "-v",
            "--verbosity",
        ],
    );
    let version = parsed.of(&["--version"]).pop();
    let targets = parsed.positional.into_iter().map(|spec| {
        let (name, at) = spec
            .split_once('@')
            .map_or((spec, None), |(name, version)| (name, Some(version)));
        let version = at.or(version.as_deref());
        let exact = version.is_some_and(|it| {
            it.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
                && !it.contains(['*', '[', '(', ','])
        });
        let pin = if exact {
            Pin::Exact
        } else {
            Pin::Open {
                why: version.map_or_else(
                    || "runs the newest version in the feed".to_owned(),
                    floating,
                ),
                write: format!("{name}@VERSION"),
            }
        };
        Target {
            spec: spec.to_owned(),
            pin,
        }
    });
    Launcher {
        name: "dnx",
        targets: targets.collect(),
    }
}
