//! Launchers that fetch what they run, and whether their arguments name exactly one thing.
//!
//! `npx server` is not a server, it is whatever the registry answers today. The pin belongs in the arguments, in the
//! launcher's own syntax; a checksum of `npx` says nothing about it. Nothing is resolved here: we read the command and
//! advise. Pure.

use crate::judgement::words;

/// What a pin or a checksum protects against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threat {
    /// Somebody publishes other bytes under the name.
    SupplyChain,
    /// Somebody changes the bytes on this disk.
    LocalTampering,
    /// Nobody means harm, and tomorrow another version runs.
    AccidentalUpgrade,
}

words!(Threat {
    SupplyChain = "supply chain",
    LocalTampering = "local tampering",
    AccidentalUpgrade = "accidental upgrade",
});

/// A launcher, and what it was told to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// As people call it: `npx`, `uv tool run`.
    pub name: &'static str,
    /// What it fetches: the package or image, and what comes with it.
    pub targets: Vec<Target>,
}

/// One thing that a launcher fetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As typed.
    pub spec: String,
    /// Whether it names exactly one thing.
    pub pin: Pin,
}

/// Whether a specifier names exactly one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    /// It does.
    Exact,
    /// It is a file or folder of this disk: nothing is fetched.
    Local,
    /// It does not.
    Open {
        /// What runs instead.
        why: String,
        /// The exact way to write it.
        write: String,
    },
}

impl Launcher {
    /// What is not pinned.
    pub fn open(&self) -> impl Iterator<Item = (&Target, &str, &str)> {
        self.targets.iter().filter_map(|target| match &target.pin {
            Pin::Open { why, write } => Some((target, why.as_str(), write.as_str())),
            Pin::Exact | Pin::Local => None,
        })
    }
}

/// The launcher in a command, if there is one.
pub fn recognise(command: &[String]) -> Option<Launcher> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    of_words(&words, 0)
}

fn of_words(words: &[&str], depth: usize) -> Option<Launcher> {
    let (program, rest) = words.split_first()?;
    let program = base_name(program);
    // Shells and `env` start something else; what that is stands in their arguments.
    if depth < 3 {
        match (program.as_str(), rest) {
            ("env", _) => {
                let skip = rest
                    .iter()
                    .take_while(|word| word.contains('=') || word.starts_with('-'))
                    .count();
                return of_words(&rest[skip..], depth + 1);
            }
            ("cmd", ["/c" | "/C", inner @ ..]) => return of_words(inner, depth + 1),
            ("sh" | "bash" | "zsh" | "dash", [flag, script, ..])
                if flag.starts_with('-') && flag.ends_with('c') =>
            {
                let split = shlex::split(script)?;
                let inner: Vec<&str> = split.iter().map(String::as_str).collect();
                let inner = inner.strip_prefix(&["exec"]).unwrap_or(&inner);
                return of_words(inner, depth + 1);
            }
            _ => {}
        }
    }
    match (program.as_str(), rest) {
        ("npx", _) => Some(node("npx", rest, NPM)),
        ("npm", _) => {
            let (verb, after) = verb(
                rest,
                &[
                    "--prefix",
                    "-C",
                    "--registry",
                    "--cache",
                    "--userconfig",
                    "-w",
                    "--workspace",
                ],
            )?;
            matches!(verb, "exec" | "x").then(|| node("npm exec", after, NPM))
        }
        ("pnpx", _) => Some(node("pnpm dlx", rest, PNPM)),
        ("pnpm", _) => {
            let (verb, after) = verb(rest, &["-C", "--dir", "--reporter", "--filter", "-F"])?;
            (verb == "dlx").then(|| node("pnpm dlx", after, PNPM))
        }
        ("yarn", _) => {
            let (verb, after) = verb(rest, &["--cwd"])?;
            (verb == "dlx").then(|| node("yarn dlx", after, YARN))
        }
        ("bunx", _) => Some(node("bunx", rest, BUN)),
        ("bun", ["x", after @ ..]) => Some(node("bunx", after, BUN)),
        ("uvx", _) => Some(uv_tool("uvx", rest)),
        ("uv", _) => {
            let (verb, after) = verb(rest, UV_VALUES)?;
            match (verb, after) {
                ("tool", ["run", after @ ..]) => Some(uv_tool("uv tool run", after)),
                ("run", _) => uv_run(after),
                _ => None,
            }
        }
        ("pipx", _) => {
            let (verb, after) = verb(rest, &[])?;
            (verb == "run").then(|| pipx(after))
        }
        ("deno", ["run" | "x", after @ ..]) => Some(deno(after)),
        ("docker" | "podman" | "nerdctl", _) => {
            let name = match program.as_str() {
                "docker" => "docker run",
                "podman" => "podman run",
                _ => "nerdctl run",
            };
            let values = &[
                "--context",
                "-c",
                "-H",
                "--host",
                "--config",
                "-l",
                "--log-level",
                "--connection",
                "--url",
                "--root",
                "--namespace",
                "-n",
            ];
            let (verb, after) = verb(rest, values)?;
            match (verb, after) {
                ("run", after) | ("container", ["run", after @ ..]) => Some(container(name, after)),
                _ => None,
            }
        }
        ("go", ["run", after @ ..]) => Some(go(after)),
        ("cargo", _) => {
            let rest = match rest {
                [toolchain, after @ ..] if toolchain.starts_with('+') => after,
                _ => rest,
            };
            let (verb, after) = verb(
                rest,
                &["-C", "-Z", "--config", "--color", "--manifest-path"],
            )?;
            matches!(verb, "run" | "r").then(|| cargo(rest, after))
        }
        ("dnx", _) => Some(dnx(rest)),
        _ => None,
    }
}

/// The name of a program without its folder and the ending that Windows gives it.
fn base_name(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let lower = name.to_ascii_lowercase();
    for ending in [".exe", ".cmd", ".bat", ".ps1"] {
        if let Some(stem) = lower.strip_suffix(ending) {
            return stem.to_owned();
        }
    }
    name.to_owned()
}

/// The first word that is no flag, and what follows it.
fn verb<'a, 'w>(words: &'a [&'w str], values: &[&str]) -> Option<(&'w str, &'a [&'w str])> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.starts_with('-') {
            return Some((word, &words[at + 1..]));
        }
        at += if values.contains(word) { 2 } else { 1 };
    }
    None
}

/// How a launcher's flags are read.
#[derive(Clone, Copy)]
struct Flags {
    /// Flags that take the next word as their value.
    values: &'static [&'static str],
    /// Those of them whose value is the package.
    package: &'static [&'static str],
}

const NPM: Flags = Flags {
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
const PNPM: Flags = Flags {
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
const YARN: Flags = Flags {
    values: &["-p", "--package"],
    package: &["-p", "--package"],
};
const BUN: Flags = Flags {
    values: &["-p", "--package", "--registry", "--cwd"],
    package: &["-p", "--package"],
};

/// Flags with their values, and the first positional word with what follows.
struct Parsed<'w> {
    values: Vec<(&'w str, &'w str)>,
    positional: Option<&'w str>,
}

impl Parsed<'_> {
    fn of(&self, names: &[&str]) -> Vec<String> {
        self.values
            .iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(_, value)| (*value).to_owned())
            .collect()
    }
}

fn parse<'w>(words: &[&'w str], with_value: &[&str]) -> Parsed<'w> {
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if *word == "--" {
            return Parsed {
                values,
                positional: words.get(at + 1).copied(),
            };
        }
        if !word.starts_with('-') || *word == "-" {
            return Parsed {
                values,
                positional: Some(word),
            };
        }
        if let Some((name, value)) = word.split_once('=') {
            values.push((name, value));
        } else if with_value.contains(word) {
            if let Some(value) = words.get(at + 1) {
                values.push((word, value));
            }
            at += 1;
        } else if let Some(name) = with_value.iter().find(|name| {
            // `-pfoo`: a short flag with its value attached.
            name.len() == 2 && !word.starts_with("--") && word.starts_with(**name)
        }) {
            values.push((&word[..name.len()], &word[name.len()..]));
        }
        at += 1;
    }
    Parsed {
        values,
        positional: None,
    }
}

fn node(name: &'static str, words: &[&str], flags: Flags) -> Launcher {
    let parsed = parse(words, flags.values);
    let mut specs = parsed.of(flags.package);
    // With `--package` the first word is a program of that package; without it, it is the package itself.
    if specs.is_empty() {
        specs.extend(parsed.positional.map(str::to_owned));
    }
    let targets = specs
        .into_iter()
        .map(|spec| npm_target(&spec, name))
        .collect();
    Launcher { name, targets }
}

/// An address without who may fetch it: messages and baselines are read by others.
pub fn without_credentials(spec: &str) -> String {
    let Some((before, rest)) = spec.split_once("://") else {
        return spec.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        // `ssh://git@host` names an account that is no secret.
        Some((user, _)) if before.ends_with("ssh") && !user.contains(':') => spec.to_owned(),
        Some((_, host)) => format!("{before}://{host}{path}"),
        None => spec.to_owned(),
    }
}

fn npm_target(spec: &str, launcher: &str) -> Target {
    let spec = without_credentials(spec);
    let pin = npm_pin(&spec, launcher);
    Target { spec, pin }
}

fn npm_pin(spec: &str, launcher: &str) -> Pin {
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
        return match is_commit(commit) {
            true => Pin::Exact,
            false => Pin::Open {
                why: "runs what the branch or tag points to when it starts".to_owned(),
                write: format!("{repository}#COMMIT, with all 40 digits of the commit"),
            },
        };
    }
    if spec.contains("://") {
        return Pin::Open {
            why: "runs whatever that address answers; nothing compares it with a digest".to_owned(),
            write: "NAME@VERSION from a registry, or install it with a lockfile and start the file"
                .to_owned(),
        };
    }
    match version {
        Some(version) if is_exact_semver(version) => Pin::Exact,
        found => Pin::Open {
            why: match found {
                None if matches!(launcher, "npx" | "npm exec") => {
                    "runs a local copy if there is one, else the newest version that the registry has".to_owned()
                }
                None => "runs the newest version that the registry has".to_owned(),
                Some(version) => floating(version),
            },
            write: format!("{name}@VERSION, all three numbers, such as {name}@1.2.3"),
        },
    }
}

/// `@scope/name@version`: the `@` of a scope is no version.
fn split_npm(spec: &str) -> (&str, Option<&str>) {
    let from = usize::from(spec.starts_with('@'));
    match spec[from..].find('@') {
        Some(at) => (&spec[..from + at], Some(&spec[from + at + 1..])),
        None => (spec, None),
    }
}

fn floating(version: &str) -> String {
    let is_range = version
        .bytes()
        .next()
        .is_none_or(|byte| byte.is_ascii_digit() || b"^~<>=*xXvV".contains(&byte));
    match version {
        "latest" => "runs the newest version there is (`latest`)".to_owned(),
        "" => "names no version behind its `@`".to_owned(),
        _ if is_range => format!("runs the newest version that fits `{version}`"),
        _ => format!("runs whatever the tag `{version}` points to when it starts"),
    }
}

fn is_exact_semver(version: &str) -> bool {
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

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_local(spec: &str) -> bool {
    spec.starts_with(['.', '/', '~', '\\'])
        || spec.get(1..3).is_some_and(|it| it == ":\\" || it == ":/")
}

const UV_VALUES: &[&str] = &[
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

fn uv_tool(name: &'static str, words: &[&str]) -> Launcher {
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

/// `uv run` itself goes by the project's lockfile; what `--with` adds does not.
fn uv_run(words: &[&str]) -> Option<Launcher> {
    let targets: Vec<Target> = with(&parse(words, UV_VALUES)).collect();
    (!targets.is_empty()).then_some(Launcher {
        name: "uv run",
        targets,
    })
}

fn with(parsed: &Parsed<'_>) -> impl Iterator<Item = Target> {
    let lists = parsed.of(&["--with", "-w"]);
    let specs: Vec<String> = lists
        .iter()
        .flat_map(|list| list.split(','))
        .map(|spec| spec.trim().to_owned())
        .filter(|spec| !spec.is_empty())
        .collect();
    specs.into_iter().map(|spec| python_target(&spec, false))
}

fn pipx(words: &[&str]) -> Launcher {
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

/// A Python requirement. `at` says that `name@version` is understood.
fn python_target(spec: &str, at: bool) -> Target {
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
                    why: "runs what the branch or tag points to when it starts".to_owned(),
                    write: format!("{repository}@COMMIT, with all 40 digits of the commit"),
                }
            }
        };
    }
    if address.contains("://") {
        return match address.contains("#sha256=") || address.contains("&sha256=") {
            true => Pin::Exact,
            false => Pin::Open {
                why: "runs whatever that address answers; nothing compares it with a digest"
                    .to_owned(),
                write: format!("{address}#sha256=DIGEST"),
            },
        };
    }
    let name_end = requirement
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.[],".contains(c)))
        .unwrap_or(requirement.len());
    let (name, version) = (
        requirement[..name_end].trim(),
        requirement[name_end..].trim(),
    );
    let write = match at {
        true => format!("{name}@VERSION (or --from '{name}==VERSION')"),
        false => format!("'{name}==VERSION'"),
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
            _ if version.is_empty() => "runs the newest version that the index has".to_owned(),
            Some("latest") => "runs the newest version there is (`latest`)".to_owned(),
            Some(word) => format!("`{word}` does not name one version"),
            None => format!("runs the newest version that fits `{version}`"),
        },
        write,
    }
}

fn deno(words: &[&str]) -> Launcher {
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
            // A path into the package follows the version.
            let (name, version) = split_npm(package.trim_start_matches('/'));
            let version = version.map(|it| it.split('/').next().unwrap_or_default());
            return match version {
                Some(version) if is_exact_semver(version) => Pin::Exact,
                found => Pin::Open {
                    why: found.map_or(
                        "runs the newest version that the registry has".to_owned(),
                        floating,
                    ),
                    write: format!("{scheme}{name}@VERSION, all three numbers"),
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
    match versioned {
        true => Pin::Exact,
        false => Pin::Open {
            why: "runs whatever that address answers".to_owned(),
            write: "an address with the version in it (…/NAME@v1.2.3/mod.ts), and --frozen with a deno.lock".to_owned(),
        },
    }
}

fn container(name: &'static str, words: &[&str]) -> Launcher {
    // Far more flags take a value than do not, and new ones appear; these are the ones that stand alone.
    const ALONE: &[&str] = &[
        "--rm",
        "--init",
        "--privileged",
        "--read-only",
        "--detach",
        "--interactive",
        "--tty",
        "--publish-all",
        "--quiet",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--sig-proxy",
        "--use-api-socket",
        "--disable-content-trust",
        "--help",
        "--no-hosts",
        "--no-hostname",
        "--replace",
        "--rmi",
        "--tls-verify",
        "--env-host",
        "--http-proxy",
        "--passwd",
        "--read-only-tmpfs",
        "--preserve-fd",
        "--rootfs",
        "--systemd",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if *word == "--" {
            at += 1;
            break;
        }
        if !word.starts_with('-') {
            break;
        }
        let alone = if word.starts_with("--") {
            word.contains('=') || ALONE.contains(word)
        } else {
            // `-it`, `-i`, `-d`; a value may be attached (`-eKEY=1`), and the last letter of a group may want one.
            let letters = &word[1..];
            let plain = letters.trim_start_matches(['i', 't', 'd', 'P', 'q']);
            plain.is_empty() || plain.len() > 1
        };
        at += if alone { 1 } else { 2 };
    }
    let targets = words.get(at).into_iter().map(|image| Target {
        spec: (*image).to_owned(),
        pin: image_pin(image),
    });
    Launcher {
        name,
        targets: targets.collect(),
    }
}

fn image_pin(image: &str) -> Pin {
    let is_digest =
        |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some((_, digest)) = image.rsplit_once("@sha256:")
        && is_digest(digest)
    {
        return Pin::Exact;
    }
    let image_name = image.split('@').next().unwrap_or(image);
    // The `:` of a port is no tag.
    let tag = image_name
        .rsplit_once(':')
        .filter(|(_, tag)| !tag.contains('/'));
    let name = tag.map_or(image_name, |(name, _)| name);
    Pin::Open {
        why: match (image.contains('@'), tag) {
            (true, _) => "its digest is not `sha256:` and 64 hexadecimal digits".to_owned(),
            (_, Some((_, tag))) => {
                format!("runs whatever the tag `{tag}` points to; a tag can be moved")
            }
            (_, None) => "runs whatever the tag `latest` points to".to_owned(),
        },
        write: format!("{name}@sha256:DIGEST"),
    }
}

fn go(words: &[&str]) -> Launcher {
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
        // Without a version `go run` works only inside a module, whose go.mod and go.sum decide.
        return match is_local(spec) || spec.ends_with(".go") || !spec.contains('.') {
            true => Pin::Local,
            false => Pin::Exact,
        };
    };
    let is_version = version.starts_with('v') && is_exact_semver(version);
    match is_version || is_commit(version) {
        true => Pin::Exact,
        false => Pin::Open {
            why: floating(version),
            write: format!("{module}@vX.Y.Z, all three numbers"),
        },
    }
}

fn cargo(all: &[&str], words: &[&str]) -> Launcher {
    let own = |words: &[&str]| {
        let end = words
            .iter()
            .position(|word| *word == "--")
            .unwrap_or(words.len());
        words[..end]
            .iter()
            .any(|word| matches!(*word, "--locked" | "--frozen"))
    };
    let pin = match own(words) || own(all) {
        true => Pin::Local,
        false => Pin::Open {
            why: "takes other versions of its dependencies when Cargo.lock does not fit Cargo.toml, or is not there".to_owned(),
            write: "cargo run --locked, with a committed Cargo.lock".to_owned(),
        },
    };
    Launcher {
        name: "cargo run",
        targets: vec![Target {
            spec: "its dependencies".to_owned(),
            pin,
        }],
    }
}

fn dnx(words: &[&str]) -> Launcher {
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
        let pin = match exact {
            true => Pin::Exact,
            false => Pin::Open {
                why: version.map_or(
                    "runs the newest version that the feed has".to_owned(),
                    floating,
                ),
                write: format!("{name}@VERSION"),
            },
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

#[cfg(test)]
#[path = "launcher_tests.rs"]
mod tests;
