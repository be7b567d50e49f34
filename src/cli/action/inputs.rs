//! The inputs of the action, read by the rules of the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser as _;

use crate::cli::args::{CheckArgs, Cli, Command};
use crate::launch::sandbox;
use crate::policy::FailOn;
use crate::run::Error;
use crate::run::pull_request::PullRequestRequest;

/// Our own environment, as far as it is text.
pub(super) type Environment = BTreeMap<String, String>;

/// The check run's name when nobody gives it another.
const CHECK_NAME: &str = "mcp-keel";

/// The label by which a maintainer accepts what would block.
const ACCEPT_LABEL: &str = "mcp-keel: accept-breaking";

/// Inputs that become a flag of `check` as they are.
const FLAGS: &[&str] = &[
    "config",
    "baseline",
    "url",
    "start",
    "timeout",
    "client",
    "capabilities",
    "era",
    "repeat",
    "fail-on",
    "fail-on-exposure",
    "enforcement",
    "unknown",
    "format",
    "sandbox",
    "jobs",
    "shard",
    "timings",
    "from-format",
];

/// What the workflow says.
pub(super) struct Inputs {
    pub(super) check: CheckArgs,
    pub(super) folder: Option<PathBuf>,
    pub(super) check_run: bool,
    pub(super) check_name: String,
    pub(super) comment: bool,
    pub(super) annotations: bool,
    pub(super) summary: bool,
    pub(super) asked: PullRequestRequest,
    /// What tells two uses of the action in one repository apart.
    pub(super) identity: Vec<String>,
}

impl Inputs {
    pub(super) fn read(env: &Environment) -> Result<Self, Error> {
        let input = |name: &str| input(env, name);
        let on = |name: &str| -> Result<bool, Error> {
            match input(name).unwrap_or("true") {
                "true" => Ok(true),
                "false" => Ok(false),
                other => Err(wrong(name, other, "true or false")),
            }
        };
        let base_fail_on = input("base-fail-on").unwrap_or("breaking");
        let base_fail_on = base_fail_on.parse().map_err(|()| {
            let words: Vec<&str> = FailOn::ALL.iter().map(|it| it.word()).collect();
            wrong("base-fail-on", base_fail_on, &words.join(", "))
        })?;
        let check_name = input("check-name").unwrap_or(CHECK_NAME).to_owned();
        let named = [
            "working-directory",
            "config",
            "baseline",
            "servers",
            "command",
            "from",
        ];
        let mut identity = vec![check_name.clone()];
        identity.extend(named.map(|name| input(name).unwrap_or_default().to_owned()));
        identity.extend(input("url").map(str::to_owned));
        let check = check_args(env)?;
        let merge: Vec<PathBuf> = listed(env, "merge")
            .into_iter()
            .map(PathBuf::from)
            .collect();
        // A part of a run posts nothing: that is for whoever joins the parts.
        let part = check.shard.shard.is_some();
        if part && !merge.is_empty() {
            return Err(Error::usage(
                "the inputs shard and merge are two jobs",
                "give shard to those that check, and merge to the one after them",
            ));
        }
        Ok(Self {
            check,
            asked: PullRequestRequest {
                merge,
                compare_base: on("compare-base")?,
                base_fail_on,
                accept_label: input("accept-label").unwrap_or(ACCEPT_LABEL).to_owned(),
            },
            folder: input("working-directory").map(PathBuf::from),
            check_run: on("check-run")? && !part,
            check_name,
            comment: on("comment")? && !part,
            annotations: on("annotations")? && !part,
            summary: on("summary")?,
            identity,
        })
    }
}

/// An input of the action. The runner keeps the hyphens of its name; a shell in between may not.
fn input<'a>(env: &'a Environment, name: &str) -> Option<&'a str> {
    let name = name.to_ascii_uppercase();
    let value = env
        .get(&format!("INPUT_{name}"))
        .or_else(|| env.get(&format!("INPUT_{}", name.replace('-', "_"))))?;
    Some(value.trim()).filter(|it| !it.is_empty())
}

/// An input that is a list.
fn listed(env: &Environment, name: &str) -> Vec<String> {
    let list = input(env, name).unwrap_or_default();
    list.split([',', ' ', '\t', '\n', '\r'])
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

fn wrong(name: &str, value: &str, expected: &str) -> Error {
    Error::usage(
        format!("the input {name} is `{value}`"),
        format!("expected: {expected}"),
    )
}

/// The inputs as the command line that somebody would have typed, so that both are read by the same rules.
fn check_args(env: &Environment) -> Result<CheckArgs, Error> {
    let mut words: Vec<String> = vec!["mcp-keel".into(), "check".into(), "--quiet".into()];
    for name in FLAGS {
        if let Some(value) = input(env, name) {
            // In one word: a value that begins with a hyphen is a value all the same.
            words.push(format!("--{name}={value}"));
        }
    }
    match input(env, "sandbox-required") {
        Some("true") => words.push("--sandbox-required".to_owned()),
        None | Some("false") => {}
        Some(other) => return Err(wrong("sandbox-required", other, "true or false")),
    }
    for (name, flag) in [
        ("env", "--env"),
        ("from", "--from"),
        ("inputs", "--input"),
        ("header", "--header"),
        ("report", "--report"),
    ] {
        let lines = input(env, name).unwrap_or_default().lines();
        for line in lines.map(str::trim).filter(|it| !it.is_empty()) {
            words.push(format!("{flag}={line}"));
        }
    }
    words.extend(
        listed(env, "pass-env")
            .iter()
            .map(|it| format!("--pass-env={it}")),
    );
    let servers = listed(env, "servers");
    if let Some(option) = servers.iter().find(|it| it.starts_with('-')) {
        return Err(wrong("servers", option, "names of servers"));
    }
    words.extend(servers);
    if let Some(command) = input(env, "command") {
        let command = shlex::split(command)
            .filter(|it| !it.is_empty())
            .ok_or_else(|| wrong("command", command, "a command with its quotes closed"))?;
        words.push("--".to_owned());
        words.extend(command);
    }
    match Cli::try_parse_from(words) {
        Ok(Cli {
            command: Command::Check(mut args),
        }) => {
            let asked = args.server.sandbox.sandbox.take();
            args.server.sandbox.at_least = asked.unwrap_or(sandbox::Level::Fs);
            Ok(args)
        }
        Ok(_) => Err(Error::usage("the inputs are no check", "")),
        Err(usage) => {
            let said = usage.to_string();
            let said = said.trim_start_matches("error: ").trim_end();
            let first = said.split("\n\n").next().unwrap_or_default();
            Err(Error::usage(
                format!("in the inputs of the action: {first}"),
                "an input is named as its flag, without the hyphens in front",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(inputs: &[(&str, &str)]) -> Environment {
        inputs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_command_is_split_as_a_shell_would_and_given_to_none() {
        let args = check_args(&env(&[
            (
                "INPUT_COMMAND",
                r#"node "my server.js" --flag='$(id)' ; rm"#,
            ),
            ("INPUT_SERVERS", "weather"),
            ("INPUT_PASS-ENV", "LANG, API_KEY"),
            ("INPUT_ENV", "A=1\n\nB=two words\n"),
            ("INPUT_FAIL_ON", "breaking"),
        ]))
        .expect("arguments");
        let words = ["node", "my server.js", "--flag=$(id)", ";", "rm"];
        assert_eq!(args.server.command, words);
        assert_eq!(args.server.servers, ["weather"]);
        assert_eq!(args.server.pass_env, ["LANG", "API_KEY"]);
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            args.server.env,
            [variable("A", "1"), variable("B", "two words")]
        );
        assert_eq!(args.policy.fail_on, Some(FailOn::Breaking));
    }

    #[test]
    fn a_server_over_http_is_reached_with_headers_a_line_each() {
        let args = check_args(&env(&[
            ("INPUT_URL", "https://x.example/mcp"),
            (
                "INPUT_HEADER",
                "Authorization: Bearer ${TOKEN}\nX-Key: ${KEY}\n",
            ),
            ("INPUT_START", "node http.js"),
        ]))
        .expect("arguments");
        assert_eq!(args.server.url.as_deref(), Some("https://x.example/mcp"));
        assert_eq!(
            args.server.headers,
            ["Authorization: Bearer ${TOKEN}", "X-Key: ${KEY}"]
        );
        assert_eq!(args.server.start.as_deref(), Some("node http.js"));
    }

    #[test]
    fn an_input_cannot_become_another_flag() {
        for inputs in [
            [("INPUT_SERVERS", "--config=evil.toml")],
            [("INPUT_FAIL-ON", "sometimes")],
            [("INPUT_COMMAND", "node 'unclosed")],
            [("INPUT_TIMEOUT", "0")],
        ] {
            let error = check_args(&env(&inputs)).expect_err("an error");
            assert_eq!(error.exit(), crate::run::Exit::Usage, "{inputs:?}");
        }
        let error = Inputs::read(&env(&[("INPUT_COMMENT", "yes")]));
        assert!(error.is_err_and(|it| it.to_string().contains("true or false")));
    }
}
