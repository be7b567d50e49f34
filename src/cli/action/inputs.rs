//! The inputs of the action, read by the rules of the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser as _;

use crate::cli::args::{Cli, Command};
use crate::run::Error;
use crate::run::pull_request::PullRequestRequest;
use crate::settings::{self, Form, Given, Input, Origin, Secrecy, Setting, Split, ValueKind};

/// mcp-keel's own environment, as far as it is text.
pub(super) type Environment = BTreeMap<String, String>;

/// What is posted, and under which name. It is read even from inputs that do not hold together, so that this can be posted.
pub(super) struct Wanted {
    pub(super) folder: Option<PathBuf>,
    pub(super) check_run: bool,
    pub(super) check_name: String,
    pub(super) comment: bool,
    pub(super) annotations: bool,
    pub(super) summary: bool,
    /// Distinguishes two uses of the action in one repository, and two jobs of a matrix.
    pub(super) identity: Vec<String>,
}

impl Wanted {
    pub(super) fn read(env: &Environment) -> Self {
        let text = |setting: &Setting| input(env, setting.name).unwrap_or_default().to_owned();
        let is_on = |setting: &Setting| text(setting) != "false";
        let mut check_name = text(settings::CHECK_NAME);
        if check_name.is_empty() {
            check_name = "mcp-keel".to_owned();
        }
        let named = [
            settings::WORKING_DIRECTORY,
            settings::CONFIG,
            settings::BASELINE,
            settings::SERVERS,
            settings::COMMAND,
            settings::FROM,
        ];
        let mut identity = vec![check_name.clone()];
        identity.extend(named.map(&text));
        identity.extend(input(env, settings::URL.name).map(str::to_owned));
        let matrix = Matrix::read(&text(settings::MATRIX));
        identity.extend(matrix.identity());
        // A part of a run posts nothing: the job that merges the parts does.
        let part = !text(settings::SHARD).is_empty();
        Self {
            folder: input(env, settings::WORKING_DIRECTORY.name).map(PathBuf::from),
            check_run: is_on(settings::CHECK_RUN) && !part,
            check_name: matrix.named(&check_name),
            comment: is_on(settings::COMMENT) && !part,
            annotations: is_on(settings::ANNOTATIONS) && !part,
            summary: is_on(settings::SUMMARY),
            identity,
        }
    }
}

/// The values of a job's matrix, by name.
struct Matrix(BTreeMap<String, serde_json::Value>);

impl Matrix {
    /// Anything but an object is a job without a matrix: GitHub writes `null`.
    fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    fn is_valid(text: &str) -> bool {
        let value = serde_json::from_str::<serde_json::Value>(text);
        value.is_ok_and(|it| it.is_null() || it.is_object())
    }

    fn identity(&self) -> Option<String> {
        let text = serde_json::to_string(&self.0).unwrap_or_default();
        (!self.0.is_empty()).then_some(text)
    }

    /// A name with the values, as GitHub names jobs, unless it has them already.
    fn named(&self, name: &str) -> String {
        let values: Vec<String> = self
            .0
            .values()
            .map(|it| match it {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            })
            .collect();
        if values.is_empty() || values.iter().all(|it| name.contains(it)) {
            return name.to_owned();
        }
        let values: String = values.join(", ").chars().take(100).collect();
        format!("{name} ({values})")
    }
}

pub(super) struct Inputs {
    /// Every setting that was set, including those only for the action, and the defaults of
    /// `action.yml`.
    pub(super) given: Given,
    pub(super) asked: PullRequestRequest,
    /// Whether the workflow uploads the proposed baseline.
    pub(super) has_artifact: bool,
}

impl Inputs {
    pub(super) fn read(env: &Environment) -> Result<Self, Error> {
        let given = given(env)?;
        let matrix = input(env, settings::MATRIX.name).unwrap_or("null");
        let is_default = Some(matrix) == settings::MATRIX.input.and_then(|it| it.default);
        if !is_default && !Matrix::is_valid(matrix) {
            let name = settings::MATRIX.name;
            return Err(wrong(
                name,
                matrix,
                "leave its default, or give a JSON object",
            ));
        }
        let merge = given.paths(settings::MERGE);
        if given.has(settings::SHARD) && !merge.is_empty() {
            return Err(Error::usage(
                "the inputs shard and merge belong to two different jobs",
                "set shard in the jobs that check, and merge in the one after them",
            ));
        }
        Ok(Self {
            asked: PullRequestRequest {
                merge,
                compare_base: given.switch(settings::COMPARE_BASE),
                policy_from_base: match given.text(settings::POLICY_FROM).as_deref() {
                    Some("base") | None => true,
                    Some("head") => false,
                    Some(other) => {
                        let name = settings::POLICY_FROM.name;
                        return Err(wrong(name, other, "expected base or head"));
                    }
                },
            },
            has_artifact: given.switch(settings::BASELINE_ARTIFACT),
            given,
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

/// The values of an input, or its default in `action.yml`.
fn values(env: &Environment, input: Input) -> Result<Vec<String>, Error> {
    let text = self::input(env, input.name).or(input.default);
    let text = text.unwrap_or_default();
    let values: Vec<&str> = match input.split {
        Split::Whole => vec![text],
        Split::Lines => text.lines().map(str::trim).collect(),
        Split::Words => text.split([',', ' ', '\t', '\n', '\r']).collect(),
        Split::Shell => {
            let words = shlex::split(text).ok_or_else(|| {
                wrong(
                    input.name,
                    text,
                    "expected a command with its quotes closed",
                )
            })?;
            return Ok(words);
        }
    };
    let values = values.into_iter().filter(|it| !it.is_empty());
    Ok(values.map(str::to_owned).collect())
}

fn wrong(name: &str, value: &str, help: &str) -> Error {
    Error::usage(format!("the input {name} is `{value}`"), help)
}

/// Every setting in the inputs. Those of `check` are turned into a command line, so that both
/// follow the same rules.
fn given(env: &Environment) -> Result<Given, Error> {
    let mut words: Vec<String> = vec!["mcp-keel".into(), "check".into(), "--quiet".into()];
    let mut last = Vec::new();
    let mut others = Vec::new();
    for (setting, input) in settings::inputs() {
        let values = values(env, input)?;
        let Some(flag) = setting.flag else {
            for value in &values {
                let checked = setting.check(value);
                checked.map_err(|expected| wrong(input.name, value, &expected))?;
            }
            others.push((setting, values));
            continue;
        };
        match (flag.form, setting.kind) {
            (Form::Positional, _) => {
                if let Some(option) = values.iter().find(|it| it.starts_with('-')) {
                    return Err(wrong(input.name, option, "expected names of servers"));
                }
                words.extend(values);
            }
            (Form::Trailing, _) if values.is_empty() => {}
            (Form::Trailing, _) => {
                last.push("--".to_owned());
                last.extend(values);
            }
            (_, ValueKind::Switch) => {
                for value in values {
                    let checked = setting.check(&value);
                    checked.map_err(|expected| wrong(input.name, &value, &expected))?;
                    if value == "true" {
                        words.push(format!("--{}", setting.name));
                    }
                }
            }
            // As one word: a value may begin with a hyphen.
            _ => words.extend(values.iter().map(|it| format!("--{}={it}", setting.name))),
        }
    }
    words.extend(last);
    let mut given = parse(words)?.given_by(Origin::Input);
    for (setting, values) in others {
        if !values.is_empty() && setting.secrecy != Secrecy::Hidden {
            given.set(setting, values.into_iter().map(Into::into).collect());
        }
    }
    Ok(given)
}

fn parse(words: Vec<String>) -> Result<Given, Error> {
    match Cli::try_parse_from(words) {
        Ok(Cli {
            command: Command::Check(flags),
        }) => Ok(flags.given),
        Ok(_) => Err(Error::usage("the inputs are not a check", "")),
        Err(usage) => {
            let message = usage.to_string();
            let message = message.trim_start_matches("error: ").trim_end();
            let first = message.split("\n\n").next().unwrap_or_default();
            Err(Error::usage(
                format!("in the inputs of the action: {first}"),
                "an input has the name of its flag, without the leading hyphens",
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
    fn a_command_is_split_like_a_shell_does_but_run_without_one() {
        let given = given(&env(&[
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
        assert_eq!(given.texts(settings::COMMAND), words);
        assert_eq!(given.texts(settings::SERVERS), ["weather"]);
        assert_eq!(given.texts(settings::PASS_ENV), ["LANG", "API_KEY"]);
        let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            given.pairs(settings::ENV),
            [variable("A", "1"), variable("B", "two words")]
        );
        assert_eq!(
            given.word(settings::FAIL_ON),
            Some(crate::policy::FailOn::Breaking)
        );
    }

    #[test]
    fn headers_of_a_server_over_http_are_one_per_line() {
        let given = given(&env(&[
            ("INPUT_URL", "https://x.example/mcp"),
            (
                "INPUT_HEADER",
                "Authorization: Bearer ${TOKEN}\nX-Key: ${KEY}\n",
            ),
            ("INPUT_START", "node http.js"),
        ]))
        .expect("arguments");
        assert_eq!(
            given.text(settings::URL).as_deref(),
            Some("https://x.example/mcp")
        );
        assert_eq!(
            given.texts(settings::HEADER),
            ["Authorization: Bearer ${TOKEN}", "X-Key: ${KEY}"]
        );
        assert_eq!(given.text(settings::START).as_deref(), Some("node http.js"));
    }

    #[test]
    fn an_input_cannot_become_another_flag() {
        for inputs in [
            [("INPUT_SERVERS", "--config=evil.toml")],
            [("INPUT_FAIL-ON", "sometimes")],
            [("INPUT_COMMAND", "node 'unclosed")],
            [("INPUT_TIMEOUT", "0")],
        ] {
            let error = given(&env(&inputs)).expect_err("an error");
            assert_eq!(error.exit(), crate::run::Exit::Usage, "{inputs:?}");
        }
        let error = Inputs::read(&env(&[("INPUT_COMMENT", "yes")]));
        assert!(error.is_err_and(|it| it.to_string().contains("true or false")));
    }

    /// A valid value of a setting.
    fn example(setting: &Setting) -> &'static str {
        match setting.kind {
            ValueKind::Switch => "true",
            ValueKind::Number { .. } => "7",
            ValueKind::Word(words) => words[words.len() - 1].name,
            ValueKind::Part => "2/3",
            ValueKind::Pairs => "A=b",
            ValueKind::Headers => "A: b",
            ValueKind::Reports => "json=b.json",
            _ => "b",
        }
    }

    #[test]
    fn every_input_is_read() {
        for (setting, input) in settings::inputs() {
            if setting.secrecy == Secrecy::Hidden {
                continue; // `github::context` reads the token.
            }
            let value = example(setting);
            for name in [
                input.name.to_uppercase(),
                input.name.to_uppercase().replace('-', "_"),
            ] {
                let variable = format!("INPUT_{name}");
                let mut inputs = vec![(variable.as_str(), value)];
                // Some inputs only have an effect together with another one.
                match setting.flag.and_then(|it| it.requires) {
                    Some("shard") => inputs.push(("INPUT_SHARD", "1/2")),
                    Some("from") => inputs.push(("INPUT_FROM", "a.json")),
                    _ => {}
                }
                let given = given(&env(&inputs)).expect(&variable);
                assert_eq!(given.texts(setting), [value], "{variable}");
            }
        }
    }

    #[test]
    fn a_matrix_is_part_of_the_name_and_of_the_identity() {
        let wanted = |matrix: &str, name: &str| {
            let env = env(&[("INPUT_MATRIX", matrix), ("INPUT_CHECK-NAME", name)]);
            Wanted::read(&env)
        };
        let two = |node: &str| format!("{{\n  \"os\": \"linux\",\n  \"node\": {node}\n}}");
        assert_eq!(wanted(&two("20"), "").check_name, "mcp-keel (20, linux)");
        assert_eq!(wanted(&two("20"), "linux-20").check_name, "linux-20");
        assert_ne!(
            wanted(&two("20"), "x").identity,
            wanted(&two("22"), "x").identity
        );
        for none in ["null", "", "{}", "${{ toJSON(matrix) }}"] {
            let wanted = wanted(none, "");
            assert_eq!(wanted.check_name, "mcp-keel");
            assert_eq!(wanted.identity, Wanted::read(&env(&[])).identity);
        }
    }

    #[test]
    fn without_inputs_the_defaults_of_the_action_apply() {
        let inputs = Inputs::read(&Environment::new()).expect("inputs");
        assert_eq!(inputs.given.text(settings::SANDBOX).as_deref(), Some("fs"));
        assert!(!inputs.given.switch(settings::SANDBOX_REQUIRED));
        let wanted = Wanted::read(&Environment::new());
        assert!(wanted.check_run && wanted.comment && wanted.annotations && wanted.summary);
        assert_eq!(wanted.check_name, "mcp-keel");
        assert!(inputs.asked.compare_base && inputs.asked.merge.is_empty());
        assert!(inputs.asked.policy_from_base);
    }
}
