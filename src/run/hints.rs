//! What to do about a server that could not be captured, from what happened: its command, its last words, and
//! variables that are set here and not passed on.

use std::path::Path;

use crate::capture::{CaptureError, CaptureFailure, Endpoint};
use crate::launch::{LaunchError, LaunchSpec};
use crate::sentences::hints as sentences;
use crate::settings::{self, Origin};

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
            Some(sentences::quoted_command(&words.join(" ")))
        }
        LaunchError::NotFound { command } if command.contains('/') => {
            Some(sentences::not_built(command))
        }
        LaunchError::NoWorkingDirectory { cwd } => {
            Some(sentences::no_folder(&cwd.display().to_string()))
        }
        LaunchError::NotFound { command } if launch.command.len() == 1 && is_flag(command) => {
            Some(sentences::flag_as_command(command))
        }
        _ => None,
    }
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
    (!folder.join(script).exists()).then(|| sentences::not_built(script))
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
    (program == "npx" && !says_yes && is_silent).then(|| sentences::npx_asks().to_owned())
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
    if let Some(module) = after(sentences::NO_MODULE) {
        let program = launch.command.first().map_or("python3", String::as_str);
        return Some(sentences::no_module(&module, program));
    }
    if let Some(module) =
        after(sentences::NO_NODE_MODULE).or_else(|| after(sentences::NO_NODE_PACKAGE))
    {
        return Some(if module.starts_with(['/', '.']) {
            sentences::not_built(&module)
        } else {
            sentences::no_package_installed(&module)
        });
    }
    let no_package = sentences::NO_REGISTRY_PACKAGE;
    if no_package.iter().any(|it| said.contains(it)) {
        let package = launch.command.iter().skip(1).find(|it| !is_flag(it));
        return Some(sentences::no_such_package(
            package.map_or("?", String::as_str),
        ));
    }
    if sentences::CERTIFICATES.iter().any(|it| said.contains(it)) {
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
        return Some(sentences::certificate(&here));
    }
    let asked = asked_variables(said);
    let held: Vec<String> = asked
        .iter()
        .filter(|it| is_held_back(launch, it))
        .cloned()
        .collect();
    if !held.is_empty() {
        return Some(sentences::held_back(&held));
    }
    let unset: Vec<String> = asked
        .into_iter()
        .filter(|it| !is_given(launch, it))
        .collect();
    (!unset.is_empty()).then(|| sentences::asked_for(&unset))
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
