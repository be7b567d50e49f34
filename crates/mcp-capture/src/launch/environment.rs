//! The environment of the server under test: a pure function of the settings and of mcp-keel's own
//! environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::{LaunchError, LaunchSpec};

/// What a program needs to run at all, inherited from mcp-keel's environment.
const INHERITED: &[&str] = &["PATH", "HOME", "TMPDIR", "TERM", "USER", "SHELL"];

/// The same for Windows, where hardly any program starts without them.
const INHERITED_ON_WINDOWS: &[&str] = &[
    "SystemRoot",
    "SystemDrive",
    "windir",
    "TEMP",
    "TMP",
    "PATHEXT",
    "COMSPEC",
    "USERNAME",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "PROCESSOR_ARCHITECTURE",
    "NUMBER_OF_PROCESSORS",
];

/// Fixed, because real servers put the time zone, the language and the order of a Python set into
/// descriptions.
const FIXED: &[(&str, &str)] = &[("LANG", "C.UTF-8"), ("PYTHONHASHSEED", "0"), ("TZ", "UTC")];

/// The environment of one launch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// Every variable that the server sees.
    pub variables: BTreeMap<OsString, OsString>,
    /// Variables in `pass_env` that are not set. A server without its credentials often lists fewer
    /// tools instead of failing, so this is reported.
    pub missing: Vec<String>,
}

/// The environment for `spec`, given mcp-keel's own.
///
/// Later ones win: inherited variables, the fixed ones, `pass_env`, `env`.
pub fn environment(
    spec: &LaunchSpec,
    ours: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Environment, LaunchError> {
    let names = spec.env.keys().chain(&spec.pass_env);
    if let Some(name) = names
        .into_iter()
        .find(|name| name.is_empty() || name.contains(['=', '\0', '*', '?']))
    {
        return Err(LaunchError::BadVariable { name: name.clone() });
    }
    let ours: Vec<(OsString, OsString)> = ours.into_iter().collect();
    // No server under test gets them: its code is what a pull request changes.
    let is_withheld = |name: &&String| crate::own_env::is_withheld(name, &ours);
    if let Some(name) = spec.pass_env.iter().find(is_withheld) {
        return Err(LaunchError::RunnersVariable { name: name.clone() });
    }

    let ours: BTreeMap<OsString, OsString> = ours.into_iter().collect();
    let mut environment = Environment::default();
    let variables = &mut environment.variables;
    let inherited = INHERITED.iter().chain(if cfg!(windows) {
        INHERITED_ON_WINDOWS
    } else {
        &[]
    });
    for name in inherited {
        if let Some(value) = lookup(&ours, name) {
            variables.insert((*name).into(), value.clone());
        }
    }
    for (name, value) in FIXED {
        variables.insert((*name).into(), (*value).into());
    }
    for name in &spec.pass_env {
        match lookup(&ours, name) {
            Some(value) => {
                variables.insert(name.into(), value.clone());
            }
            None if spec.env.contains_key(name) => {}
            None => environment.missing.push(name.clone()),
        }
    }
    for (name, value) in &spec.env {
        variables.insert(name.into(), value.into());
    }
    Ok(environment)
}

fn lookup<'a>(ours: &'a BTreeMap<OsString, OsString>, name: &str) -> Option<&'a OsString> {
    ours.get(OsStr::new(name)).or_else(|| {
        // Names of variables are case-insensitive on Windows.
        let found = ours
            .iter()
            .find(|(ours, _)| cfg!(windows) && ours.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(env: &[(&str, &str)], pass_env: &[&str]) -> LaunchSpec {
        LaunchSpec {
            command: vec!["server".into()],
            cwd: None,
            env: env
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            pass_env: pass_env.iter().map(|name| (*name).into()).collect(),
            may_widen: false,
            sandbox: Default::default(),
        }
    }

    const OURS: &[(&str, &str)] = &[
        ("PATH", "/bin"),
        ("HOME", "/home/me"),
        ("LANG", "de_DE.UTF-8"),
        ("TZ", "Europe/Oslo"),
        ("SECRET", "s"),
        ("GITHUB_TOKEN", "t"),
        ("ACTIONS_RUNTIME_TOKEN", "t"),
        ("NODE_OPTIONS", "--inspect"),
    ];

    fn seen(env: &[(&str, &str)], pass_env: &[&str]) -> Result<(String, Vec<String>), LaunchError> {
        let ours = OURS.iter().map(|(name, value)| (name.into(), value.into()));
        let environment = environment(&spec(env, pass_env), ours)?;
        let variables: Vec<String> = environment
            .variables
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        Ok((variables.join(" "), environment.missing))
    }

    #[test]
    fn only_what_a_program_needs_is_inherited() {
        let (variables, missing) = seen(&[], &[]).unwrap();
        assert_eq!(
            variables,
            "HOME=/home/me LANG=C.UTF-8 PATH=/bin PYTHONHASHSEED=0 TZ=UTC"
        );
        assert!(missing.is_empty());
    }

    #[test]
    fn pass_env_and_env_take_precedence() {
        let (variables, missing) = seen(
            &[("TZ", "Asia/Tokyo"), ("HOME", "/h")],
            &["LANG", "SECRET", "NOT_SET", "TZ"],
        )
        .unwrap();
        assert_eq!(
            variables,
            "HOME=/h LANG=de_DE.UTF-8 PATH=/bin PYTHONHASHSEED=0 SECRET=s TZ=Asia/Tokyo"
        );
        assert_eq!(missing, ["NOT_SET"]);
    }

    #[test]
    fn the_privileges_of_the_run_are_never_passed_on() {
        for name in [
            "GITHUB_TOKEN",
            "ACTIONS_RUNTIME_TOKEN",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
            "github_token",
            "INPUT_TOKEN",
            "GH_TOKEN",
            "GITHUB_OUTPUT",
        ] {
            assert!(matches!(
                seen(&[], &[name]),
                Err(LaunchError::RunnersVariable { name: found }) if found == name
            ));
        }
        // An explicit value is the user's decision.
        let (variables, _) = seen(&[("GITHUB_TOKEN", "mine")], &[]).unwrap();
        assert!(variables.contains("GITHUB_TOKEN=mine"));
    }

    #[test]
    fn invalid_names_of_variables_are_rejected() {
        for name in ["", "A=B", "A\0B"] {
            assert!(matches!(
                seen(&[(name, "")], &[]),
                Err(LaunchError::BadVariable { .. })
            ));
            assert!(matches!(
                seen(&[], &[name]),
                Err(LaunchError::BadVariable { .. })
            ));
        }
    }
}
