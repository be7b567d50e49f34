//! uv, uvx and pipx.

use super::{ANY_ANSWER, BRANCH_OR_TAG, LATEST};
use super::{Launcher, Parsed, Pin, Target, is_commit, is_local, parse, without_credentials};

pub(super) const UV_VALUES: &[&str] = &[
    "--from",
    "--with",
    "-w",
    "--with-editable",
    "--with-requirements",
    "-p",
    "--python",
    "--index",
    "--default-index",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-f",
    "--find-links",
    "-P",
    "--upgrade-package",
    "--index-strategy",
    "--keyring-provider",
    "--resolution",
    "--prerelease",
    "--exclude-newer",
    "--link-mode",
    "--config-file",
    "--directory",
    "--project",
    "--cache-dir",
    "--color",
    "--env-file",
    "-c",
    "--constraints",
    "-b",
    "--build-constraints",
    "--overrides",
    "--refresh-package",
    "--no-build-package",
    "--no-binary-package",
    "--allow-insecure-host",
    "--torch-backend",
    "--python-platform",
    "--fork-strategy",
    "-C",
    "--config-setting",
    "--config-settings-package",
    "--no-build-isolation-package",
    "--reinstall-package",
    "--extra",
    "--group",
    "--only-group",
    "--no-group",
    "--no-extra",
    "--package",
    "--script",
];

pub(super) fn uv_tool(name: &'static str, words: &[&str]) -> Launcher {
    let parsed = parse(words, UV_VALUES);
    let mut specs = parsed.of(&["--from"]);
    if specs.is_empty() {
        specs.extend(parsed.positional.map(str::to_owned));
    }
    let mut targets: Vec<Target> = specs
        .into_iter()
        .map(|spec| python_target(&spec, true))
        .collect();
    targets.extend(with(&parsed));
    Launcher { name, targets }
}

/// `uv run` itself follows the project's lockfile; packages added by `--with` do not.
pub(super) fn uv_run(words: &[&str]) -> Option<Launcher> {
    let targets: Vec<Target> = with(&parse(words, UV_VALUES)).collect();
    (!targets.is_empty()).then_some(Launcher {
        name: "uv run",
        targets,
    })
}

pub(super) fn with(parsed: &Parsed<'_>) -> impl Iterator<Item = Target> {
    let lists = parsed.of(&["--with", "-w"]);
    let specs: Vec<String> = lists
        .iter()
        .flat_map(|list| list.split(','))
        .map(|spec| spec.trim().to_owned())
        .filter(|spec| !spec.is_empty())
        .collect();
    specs.into_iter().map(|spec| python_target(&spec, false))
}

pub(super) fn pipx(words: &[&str]) -> Launcher {
    let values = &[
        "--spec",
        "--python",
        "--pip-args",
        "-i",
        "--index-url",
        "--fetch-missing-python",
        "--with",
        "--backend",
    ];
    let parsed = parse(words, values);
    let mut specs = parsed.of(&["--spec"]);
    if specs.is_empty() {
        specs.extend(parsed.positional.map(str::to_owned));
    }
    let mut targets: Vec<Target> = specs
        .into_iter()
        .map(|spec| python_target(&spec, false))
        .collect();
    targets.extend(with(&parsed));
    Launcher {
        name: "pipx run",
        targets,
    }
}

/// A Python requirement. `at`: whether `name@version` is supported.
pub(super) fn python_target(spec: &str, at: bool) -> Target {
    let spec = without_credentials(spec);
    let pin = python_pin(&spec, at);
    Target { spec, pin }
}

fn python_pin(spec: &str, at: bool) -> Pin {
    let requirement = spec.split(';').next().unwrap_or_default().trim();
    if is_local(requirement) || requirement.ends_with(".py") {
        return Pin::Local;
    }
    let address = match requirement.split_once('@') {
        Some((_, address)) if address.trim_start().contains("://") => address.trim_start(),
        _ => requirement,
    };
    if address.starts_with("git+")
        || (address.contains("://")
            && address
                .split(['#', '@'])
                .next()
                .is_some_and(|it| it.ends_with(".git")))
    {
        let reference = address
            .split('#')
            .next()
            .unwrap_or_default()
            .rsplit_once('@');
        return match reference {
            Some((_, commit)) if is_commit(commit) => Pin::Exact,
            _ => {
                let repository = reference
                    .filter(|(_, it)| !it.contains('/'))
                    .map_or(address, |(before, _)| before);
                Pin::Open {
                    why: BRANCH_OR_TAG.to_owned(),
                    write: format!(
                        "{repository}{}COMMIT, with all 40 digits of the commit",
                        '@'
                    ),
                }
            }
        };
    }
    if address.contains("://") {
        return if address.contains("#sha256=") || address.contains("&sha256=") {
            Pin::Exact
        } else {
            Pin::Open {
                why: ANY_ANSWER.to_owned(),
                write: format!("{address}#sha256=DIGEST"),
            }
        };
    }
    let name_end = requirement
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.[],".contains(c)))
        .unwrap_or(requirement.len());
    let (name, version) = (
        requirement[..name_end].trim(),
        requirement[name_end..].trim(),
    );
    let write = if at {
        format!("{name}@VERSION (or --from '{name}==VERSION')")
    } else {
        format!("'{name}==VERSION'")
    };
    let exact = |version: &str| {
        let version = version.trim();
        version
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit() || byte == b'v')
            && version.bytes().any(|byte| byte.is_ascii_digit())
            && version
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".+!-_".contains(&byte))
    };
    let pinned = match version
        .strip_prefix("===")
        .or_else(|| version.strip_prefix("=="))
    {
        Some(version) => exact(version),
        None => at && version.strip_prefix('@').is_some_and(exact),
    };
    if pinned {
        return Pin::Exact;
    }
    Pin::Open {
        why: match version.strip_prefix('@').map(str::trim) {
            _ if version.is_empty() => "runs the newest version in the index".to_owned(),
            Some("latest") => LATEST.to_owned(),
            Some(word) => format!("is followed by `{word}`, which is not one version"),
            None => format!("runs the newest version that fits `{version}`"),
        },
        write,
    }
}
