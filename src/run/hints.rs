//! What to do about a server that could not be captured, from what happened: its command, its last words, and
//! variables that are set here and not passed on.

use std::path::Path;

use crate::capture::{CaptureError, CaptureFailure, Endpoint};
use crate::launch::{LaunchError, LaunchSpec};
use crate::settings::{self, Origin};
use crate::wording::join_with_and;

/// How npm and uv report a package that the registry does not have.
const NO_REGISTRY_PACKAGE: [&str; 3] = [
    "npm error code E404",
    "npm ERR! code E404",
    "was not found in the package registry",
];

/// How runtimes report a certificate that they do not trust.
const UNTRUSTED_CERTIFICATE: [&str; 7] = [
    "CERTIFICATE_VERIFY_FAILED",
    "SELF_SIGNED_CERT",
    "UNABLE_TO_GET_ISSUER_CERT",
    "self-signed certificate",
    "self signed certificate",
    "UnknownIssuer",
    "unable to get local issuer certificate",
];

/// The help for a failed capture: a hint if what happened is known, else the general one.
pub(crate) fn help(endpoint: &Endpoint, failure: &CaptureFailure) -> String {
    let general = failure.help();
    match hint(endpoint, failure) {
        Some(hint) => hint,
        None => general,
    }
}

/// [`help`] in the words of who reads it: in the action, inputs instead of flags.
pub(crate) fn help_for(origin: Origin, endpoint: &Endpoint, failure: &CaptureFailure) -> String {
    let help = help(endpoint, failure);
    match origin {
        Origin::Flag => help,
        Origin::Input => with_inputs(&help),
    }
}

/// A text with inputs of the action in place of flags: `pass-env: NAME` for `--pass-env NAME`.
fn with_inputs(text: &str) -> String {
    let mut out = text.to_owned();
    for setting in settings::ALL {
        let (Some(input), Some(_)) = (setting.input, setting.flag) else {
            continue;
        };
        let flag = format!("`--{}", setting.name);
        out = out
            .replace(&format!("{flag}`"), &format!("`{}`", input.name))
            .replace(&format!("{flag} "), &format!("`{}: ", input.name));
    }
    out
}

fn hint(endpoint: &Endpoint, failure: &CaptureFailure) -> Option<String> {
    let launch = endpoint.launch()?;
    if let CaptureError::Launch(error) = &failure.error {
        return of_launch(launch, error);
    }
    let ended = matches!(
        failure.error,
        CaptureError::Exited { .. }
            | CaptureError::ClosedStdout { .. }
            | CaptureError::Timeout { .. }
            | CaptureError::NotJsonRpc { .. }
            | CaptureError::Refused { .. }
    );
    if !ended || failure.sandbox.is_some() {
        return None;
    }
    let said = failure.last_lines(60).join("\n");
    let said = match &failure.error {
        CaptureError::Exited { noise, .. } | CaptureError::NotJsonRpc { noise, .. } => {
            format!("{said}\n{}", noise.first)
        }
        CaptureError::Refused { error, .. } => format!("{said}\n{error}"),
        _ => said,
    };
    missing_script(launch)
        .or_else(|| asked_by_npx(launch, failure))
        .or_else(|| of_words(launch, &said))
}

/// A command that could not be started.
pub(crate) fn of_launch(launch: &LaunchSpec, error: &LaunchError) -> Option<String> {
    match error {
        LaunchError::NotFound { command } if command.contains(char::is_whitespace) => {
            let words = shlex::split(command)?;
            Some(format!(
                "the command is one word with spaces in it: write it without quotes around it, `-- {}`",
                words.join(" ")
            ))
        }
        LaunchError::NotFound { command } if command.contains('/') => {
            Some(script_not_built(command))
        }
        LaunchError::NoWorkingDirectory { cwd } => Some(format!(
            "create `{}`, or correct `cwd`: it is relative to the folder of mcp-keel.toml",
            cwd.display()
        )),
        LaunchError::NotFound { command } if launch.command.len() == 1 && is_flag(command) => Some(
            format!("`{command}` is a flag, not a program: flags of mcp-keel go before `--`"),
        ),
        _ => None,
    }
}

fn script_not_built(path: &str) -> String {
    format!("`{path}` does not exist: build the server first, or correct the path")
}

fn is_flag(word: &str) -> bool {
    word.starts_with('-')
}

/// A script that an interpreter is asked to run and that does not exist.
fn missing_script(launch: &LaunchSpec) -> Option<String> {
    let (program, arguments) = launch.command.split_first()?;
    let program = Path::new(program).file_stem()?.to_str()?;
    let is_interpreter =
        ["node", "deno", "bun", "tsx", "java"].contains(&program) || program.starts_with("python");
    if !is_interpreter {
        return None;
    }
    let script = arguments.iter().find(|it| !is_flag(it))?;
    // `-m module` and `-e code` name no file.
    let first = arguments.first()?;
    if matches!(first.as_str(), "-m" | "-c" | "-e" | "-p") || !looks_like_file(script) {
        return None;
    }
    let folder = launch.cwd.clone().unwrap_or_else(|| ".".into());
    (!folder.join(script).exists()).then(|| script_not_built(script))
}

fn looks_like_file(word: &str) -> bool {
    let extensions = [".js", ".mjs", ".cjs", ".ts", ".py", ".jar"];
    extensions.iter().any(|it| word.ends_with(it))
}

/// `npx` without `-y`, which waits for an answer that never comes.
fn asked_by_npx(launch: &LaunchSpec, failure: &CaptureFailure) -> Option<String> {
    let program = Path::new(launch.command.first()?).file_stem()?.to_str()?;
    let is_silent = matches!(failure.error, CaptureError::Timeout { .. });
    let says_yes = launch
        .command
        .iter()
        .any(|it| matches!(it.as_str(), "-y" | "--yes"));
    (program == "npx" && !says_yes && is_silent).then(|| {
        "npx asks before it installs a package, and no one answers: add `-y`, as in `npx -y PACKAGE`; a first \
         download may also need a longer `--timeout`"
            .to_owned()
    })
}

/// What the last words of a server point to.
fn of_words(launch: &LaunchSpec, said: &str) -> Option<String> {
    let after = |mark: &str| {
        let rest = said.split(mark).nth(1)?;
        let name = rest.trim_start_matches(['\'', '"', ' ', ':', '`']);
        let end = name.find(['\'', '"', '\n', ' ', '`', ',']);
        let name = &name[..end.unwrap_or(name.len())];
        (!name.is_empty() && name.len() <= 120).then(|| name.to_owned())
    };
    // Python's words, and then Node's.
    if let Some(module) = after("No module named") {
        let program = launch.command.first().map_or("python3", String::as_str);
        return Some(format!(
            "the module `{module}` is not installed for {program}: install it there, or name the interpreter \
             of the project's environment, such as .venv/bin/python"
        ));
    }
    if let Some(module) = after("Cannot find module").or_else(|| after("Cannot find package")) {
        return Some(if module.starts_with(['/', '.']) {
            script_not_built(&module)
        } else {
            format!(
                "the package `{module}` is not installed: run `npm ci`, or the install step of the project"
            )
        });
    }
    if NO_REGISTRY_PACKAGE.iter().any(|mark| said.contains(mark)) {
        let package = launch.command.iter().skip(1).find(|it| !is_flag(it));
        return Some(format!(
            "the registry has no package `{}`: check its name and version",
            package.map_or("?", String::as_str)
        ));
    }
    if UNTRUSTED_CERTIFICATE.iter().any(|mark| said.contains(mark)) {
        let set = [
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
            "SSL_CERT_DIR",
        ];
        let here: Vec<&str> = set
            .into_iter()
            .filter(|it| is_held_back(launch, it))
            .collect();
        return Some(if here.is_empty() {
            "the server does not trust a certificate: pass it the file of your authority, such as `--env \
             SSL_CERT_FILE=FILE` or `--env NODE_EXTRA_CA_CERTS=FILE`"
                .to_owned()
        } else {
            format!(
                "the server does not trust a certificate; {} {}",
                join_with_and(here.iter().copied()),
                not_passed_on(&here)
            )
        });
    }
    let asked = asked_variables(said);
    let held: Vec<&str> = asked
        .iter()
        .map(String::as_str)
        .filter(|name| is_held_back(launch, name))
        .collect();
    if !held.is_empty() {
        return Some(format!(
            "the server asks for {}, which {}",
            join_with_and(held.iter().copied()),
            not_passed_on(&held)
        ));
    }
    let unset: Vec<&str> = asked
        .iter()
        .map(String::as_str)
        .filter(|name| !is_given(launch, name))
        .collect();
    let first = unset.first()?;
    Some(format!(
        "the server asks for {}: set it with `--env {first}=VALUE`, or set it here and pass it with \
         `--pass-env {first}`",
        join_with_and(unset.iter().copied())
    ))
}

/// What to say of variables that are set here and that the server does not see, after their names.
fn not_passed_on(names: &[&str]) -> String {
    let are = if names.len() == 1 { "is" } else { "are" };
    let flags: Vec<String> = names
        .iter()
        .map(|name| format!("--pass-env {name}"))
        .collect();
    format!(
        "{are} set here and not passed on: add `{}`",
        flags.join(" ")
    )
}

/// Whether a variable is set here and not passed on.
fn is_held_back(launch: &LaunchSpec, name: &str) -> bool {
    crate::own_env::var(name).is_some() && !is_given(launch, name)
}

fn is_given(launch: &LaunchSpec, name: &str) -> bool {
    launch.env.contains_key(name) || launch.pass_env.contains(name)
}

/// Names of environment variables in a server's last words.
pub(crate) fn asked_variables(said: &str) -> Vec<String> {
    const MOST: usize = 5;
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let mut found: Vec<String> = Vec::new();
    for line in said.lines() {
        // A line of a stack trace names constants too.
        if line.trim_start().starts_with("at ") {
            continue;
        }
        for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
            let is_name = word.len() >= 4
                && word.len() <= 64
                && word.contains('_')
                && word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.chars().all(is_part);
            let is_code = word.starts_with("ERR_") || word.starts_with("MODULE_NOT");
            if is_name && !is_code && !found.iter().any(|it| it == word) {
                found.push(word.to_owned());
            }
        }
    }
    found.truncate(MOST);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(words: &[&str]) -> LaunchSpec {
        LaunchSpec {
            command: words.iter().map(|it| (*it).to_owned()).collect(),
            ..LaunchSpec::default()
        }
    }

    #[test]
    fn the_last_words_of_a_server_say_what_it_lacks() {
        for (command, said, hint) in [
            (
                &["python3", "-m", "x"][..],
                "ModuleNotFoundError: No module named 'fastmcp'",
                "`fastmcp` is not installed for python3",
            ),
            (
                &["node", "a"],
                "Error: Cannot find package 'zod' imported from /x",
                "`zod` is not installed",
            ),
            (
                &["npx", "-y", "@a/b"],
                "npm error code E404\nnpm error 404",
                "no package `@a/b`",
            ),
            (
                &["a"],
                "Error: INVENTORY_TOKEN is required",
                "INVENTORY_TOKEN",
            ),
            (
                &["a"],
                "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED]",
                "certificate",
            ),
        ] {
            let found = of_words(&launched(command), said).unwrap();
            assert!(found.contains(hint), "{found}");
        }
        assert_eq!(
            of_words(&launched(&["a"]), "Error: ERR_MODULE_NOT_FOUND"),
            None
        );
    }

    #[test]
    fn a_script_that_does_not_exist_was_not_built() {
        let found = missing_script(&launched(&["node", "dist/none.js"])).unwrap();
        assert!(found.contains("dist/none.js"), "{found}");
        assert_eq!(missing_script(&launched(&["node", "-e", "1"])), None);
        assert_eq!(missing_script(&launched(&["python3", "-m", "a.py"])), None);
    }

    #[test]
    fn in_the_action_hints_name_inputs() {
        assert_eq!(
            with_inputs("add `--pass-env A`, or a longer `--timeout`; see `mcp-keel check --help`"),
            "add `pass-env: A`, or a longer `timeout`; see `mcp-keel check --help`"
        );
    }

    #[test]
    fn variables_are_found_by_their_names() {
        let said = "Missing API_KEY or GITHUB_TOKEN\n    at FOO_BAR (x.js)\nError [ERR_X_Y]: A_B_C";
        assert_eq!(asked_variables(said), ["API_KEY", "GITHUB_TOKEN", "A_B_C"]);
    }
}
