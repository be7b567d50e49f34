//! Launchers that fetch what they run, and whether their arguments are pinned.
//!
//! `npx server` is not a server, it is whatever the registry serves today. The pin belongs in the
//! arguments, in the launcher's own syntax; a checksum of `npx` says nothing about it. Nothing is
//! resolved here: this only reads the command and advises. Pure.

mod container;
mod node;
mod python;
mod toolchains;

use container::container;
use node::{BUN, NPM, PNPM, YARN, node};
use python::{UV_VALUES, pipx, uv_run, uv_tool};
use toolchains::{cargo, deno, dnx, go};

use crate::keyword_enum::keyword_enum;

// What a launcher runs where a specifier names no exact version.
const BRANCH_OR_TAG: &str = "runs what the branch or tag points to when it starts";
const ANY_ANSWER: &str = "runs whatever that address returns; nothing compares it with a digest";
const LATEST: &str = "runs the newest version (`latest`)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threat {
    /// Someone publishes different bytes under the same name.
    SupplyChain,
    /// Someone changes the bytes on this disk.
    LocalTampering,
    /// No bad intent: another version runs tomorrow.
    AccidentalUpgrade,
}

keyword_enum!(Threat {
    SupplyChain = "supply chain",
    LocalTampering = "local tampering",
    AccidentalUpgrade = "accidental upgrade",
});

/// A launcher, and what it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its usual name: `npx`, `uv tool run`.
    pub name: &'static str,
    /// What it fetches: the package or image, and any additions.
    pub targets: Vec<Target>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As typed.
    pub spec: String,
    pub pin: Pin,
}

/// Whether a specifier names exactly one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pin {
    Exact,
    /// A local file or directory: nothing is fetched.
    Local,
    Open {
        /// What runs instead.
        why: String,
        /// How to pin it.
        write: String,
    },
}

impl Launcher {
    /// The unpinned targets, each with the reason and the fix.
    pub fn open(&self) -> impl Iterator<Item = (&Target, &str, &str)> {
        self.targets.iter().filter_map(|target| match &target.pin {
            Pin::Open { why, write } => Some((target, why.as_str(), write.as_str())),
            Pin::Exact | Pin::Local => None,
        })
    }
}

/// The launcher in a command, if any.
pub fn recognise(command: &[String]) -> Option<Launcher> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    of_words(&words, 0)
}

fn of_words(words: &[&str], depth: usize) -> Option<Launcher> {
    let (program, rest) = words.split_first()?;
    let program = base_name(program);
    // Shells and `env` start another program, named in their arguments.
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

/// A program's name without its directory and Windows extension.
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

/// The first word that is not a flag, and the rest.
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

/// Flags with their values, then the first positional word and the rest.
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

/// A URL without credentials: other people read messages and baselines.
pub fn without_credentials(spec: &str) -> String {
    let Some((before, rest)) = spec.split_once("://") else {
        return spec.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        // The account in `ssh://git@host` is not a secret.
        Some((user, _)) if before.ends_with("ssh") && !user.contains(':') => spec.to_owned(),
        Some((_, host)) => format!("{before}://{host}{path}"),
        None => spec.to_owned(),
    }
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_local(spec: &str) -> bool {
    spec.starts_with(['.', '/', '~', '\\'])
        || spec.get(1..3).is_some_and(|it| it == ":\\" || it == ":/")
}

#[cfg(test)]
mod tests;
