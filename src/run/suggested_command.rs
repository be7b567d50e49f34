//! The command that a report suggests for accepting what was found.

use super::request::{ServerRequest, UNNAMED};
use crate::capture::http::Template;
use crate::launch::sandbox::Level;
use crate::redact::is_secret;
use crate::settings::{self, Flag, Form, Given, Origin, Scope, Secrecy, Setting, ValueKind};

/// Placeholder for a hidden value.
const HIDDEN: &str = "[redacted]";

/// `mcp-keel pin` with every given setting that pinning understands, to be pasted into a shell.
/// Without them it would be a different server. Secrets are replaced by variables: this line may
/// end up in a public log.
pub(crate) fn pin_command(request: &ServerRequest, name: &str) -> String {
    let given = &request.given;
    if let Some(command) = given.text(settings::PIN_WITH) {
        return command;
    }
    let mut words: Vec<String> = vec!["mcp-keel".into(), "pin".into()];
    for setting in settings::in_scopes(&[Scope::Server, Scope::Source, Scope::Sandbox]) {
        let is_named = |it: Flag| matches!(it.form, Form::Long | Form::Short(_));
        if !setting.flag.is_some_and(is_named)
            || is_default_of_action(given, setting)
            || is_low_floor(given, setting)
            // It names the server to pin.
            || setting.name == settings::SKIP.name
        {
            continue;
        }
        let flag = format!("--{}", setting.name);
        match setting.kind {
            ValueKind::Switch if given.switch(setting) => words.push(flag),
            ValueKind::Switch => {}
            _ => {
                for value in given.texts(setting) {
                    words.extend([flag.clone(), word(setting, &value)]);
                }
            }
        }
    }
    let command = &request.command;
    let is_typed = request.url.is_some() || !command.is_empty();
    match request.servers.first() {
        // As it was typed: the name of a profile is another one.
        Some(typed) if is_typed => words.push(quote(typed)),
        // A typed server without a name gets one when it is pinned.
        _ if is_typed && name == UNNAMED => {}
        _ => words.push(quote(name)),
    }
    if !command.is_empty() {
        words.push("--".to_owned());
        words.extend(command.iter().map(|word| quote(word)));
    }
    words.join(" ")
}

/// Whether a setting has the action's default value.
pub(crate) fn is_default_of_action(given: &Given, setting: &Setting) -> bool {
    let default = setting.input.and_then(|it| it.default);
    given.origin() == Origin::Input
        && default.is_some()
        && given.text(setting).as_deref() == default
}

/// Whether it is a sandbox required by the workflow that does not exceed the action's own. As an
/// input it is a minimum; as a flag it would lower what the configuration sets.
fn is_low_floor(given: &Given, setting: &Setting) -> bool {
    let default = setting.input.and_then(|it| it.default);
    let level = |word: &str| word.parse::<Level>().ok();
    setting.name == settings::SANDBOX.name
        && given.origin() == Origin::Input
        && given.word::<Level>(setting) <= default.and_then(level)
}

/// A value as a shell word.
fn word(setting: &Setting, value: &str) -> String {
    match setting.secrecy {
        Secrecy::Variable => match value.split_once('=') {
            Some((key, value)) if is_secret(key, value) => format!("{key}=\"${key}\""),
            _ => quote(value),
        },
        // Inputs that clients ask for may be secrets.
        Secrecy::Answer => {
            let id = value.split_once('=').map_or(value, |it| it.0);
            format!("{}=\"${}\"", quote(id), variable_for(id))
        }
        _ => quote(&without_secrets(setting, value, |name| {
            format!("${{{}}}", variable_for(name))
        })),
    }
}

/// A value as it may be shown to anyone.
pub(crate) fn shown(setting: &Setting, value: &str) -> String {
    without_secrets(setting, value, |_| HIDDEN.to_owned())
}

/// A value with a placeholder for a secret, derived from the secret's name.
fn without_secrets(setting: &Setting, value: &str, stand_in: fn(&str) -> String) -> String {
    match setting.secrecy {
        Secrecy::Plain => value.to_owned(),
        Secrecy::Url => shown_url(value, stand_in),
        Secrecy::Header => shown_header(value, stand_in),
        Secrecy::Proxy => shown_proxy(value),
        Secrecy::Variable => match value.split_once('=') {
            Some((key, secret)) if is_secret(key, secret) => format!("{key}={}", stand_in(key)),
            _ => value.to_owned(),
        },
        Secrecy::Answer => match value.split_once('=') {
            Some((id, _)) => format!("{id}={}", stand_in(id)),
            None => stand_in(value),
        },
        Secrecy::Hidden => HIDDEN.to_owned(),
    }
}

/// A URL as typed, except for query values that could be secrets.
fn shown_url(url: &str, stand_in: fn(&str) -> String) -> String {
    let Some((address, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if !value.starts_with("${") => format!("{name}={}", stand_in(name)),
        _ => pair.to_owned(),
    });
    format!("{address}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// A header as typed if it names its secret, else with a placeholder.
fn shown_header(header: &str, stand_in: fn(&str) -> String) -> String {
    let (name, value) = header.split_once(':').unwrap_or((header, ""));
    match Template::new(value.trim()).shown() {
        Some(value) => format!("{name}: {value}"),
        None => format!("{name}: {}", stand_in(name)),
    }
}

/// A proxy without the credentials in its URL.
fn shown_proxy(proxy: &str) -> String {
    match proxy.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or(rest)),
        None => proxy.to_owned(),
    }
}

/// A variable that could hold the value of `name`.
fn variable_for(name: &str) -> String {
    let letter = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    name.trim().chars().map(letter).collect()
}

pub(crate) fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => format!("{word:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An example value for a setting, and how it is suggested.
    fn example(setting: &Setting) -> (&'static str, &'static str) {
        match (setting.secrecy, setting.kind) {
            (Secrecy::Variable, _) => ("API_TOKEN=hunter2", "API_TOKEN=\"$API_TOKEN\""),
            (Secrecy::Answer, _) => ("api-key=hunter2", "api-key=\"$API_KEY\""),
            (Secrecy::Header, _) => ("X-Key: hunter2", "'X-Key: ${X_KEY}'"),
            (Secrecy::Url, _) => ("https://x.example/mcp", "https://x.example/mcp"),
            (Secrecy::Proxy, _) => ("http://me:hunter2@proxy:1", "http://proxy:1"),
            (_, ValueKind::Number { .. }) => ("7", "7"),
            (_, ValueKind::Word(words)) => (words[0].name, words[0].name),
            (_, ValueKind::List) => ("roots,sampling", "'roots,sampling'"),
            (_, ValueKind::Switch) => ("true", ""),
            _ => ("a b", "'a b'"),
        }
    }

    #[test]
    fn every_given_setting_is_repeated() {
        let mut given = Given::new(Origin::Flag);
        let mut options = String::new();
        for setting in settings::in_scopes(&[Scope::Server, Scope::Source, Scope::Sandbox]) {
            // What is left out is not what is to be pinned.
            if matches!(setting.name, "servers" | "command" | "skip" | "pin-with") {
                continue;
            }
            let (value, suggested) = example(setting);
            assert_eq!(setting.check(value), Ok(()), "{}", setting.name);
            given.set(setting, vec![value.into()]);
            options += format!(" --{} {suggested}", setting.name).trim_end();
        }
        assert!(options.ends_with("--sandbox off --sandbox-required"));
        let command = |given: &Given| pin_command(&ServerRequest::new(given), "weather");
        // The name under which it was found in the baseline.
        assert_eq!(command(&given), format!("mcp-keel pin{options} weather"));
        given.set(settings::SERVERS, vec!["it".into()]);
        assert_eq!(command(&given), format!("mcp-keel pin{options} it"));

        let mut typed = Given::new(Origin::Flag);
        typed.set(
            settings::COMMAND,
            vec!["node".into(), "my server.js".into()],
        );
        let line = "mcp-keel pin weather -- node 'my server.js'";
        assert_eq!(command(&typed), line);
        let unnamed = pin_command(&ServerRequest::new(&typed), UNNAMED);
        assert_eq!(unnamed, "mcp-keel pin -- node 'my server.js'");
    }

    #[test]
    fn the_actions_defaults_are_not_repeated() {
        let mut given = Given::new(Origin::Input);
        given.set(settings::SANDBOX, vec!["fs".into()]);
        given.set(settings::SANDBOX_REQUIRED, vec!["false".into()]);
        let command = |given: &Given| pin_command(&ServerRequest::new(given), "weather");
        assert_eq!(command(&given), "mcp-keel pin weather");
        // A flag must not lower what the configuration sets.
        given.set(settings::SANDBOX, vec!["off".into()]);
        assert_eq!(command(&given), "mcp-keel pin weather");
        given.set(settings::SANDBOX, vec!["strict".into()]);
        given.set(settings::SANDBOX_REQUIRED, vec!["true".into()]);
        assert_eq!(
            command(&given),
            "mcp-keel pin --sandbox strict --sandbox-required weather"
        );
    }

    #[test]
    fn possible_secrets_are_not_shown() {
        let url = "https://x.example/mcp?key=hunter2&v=${V}&flag";
        for (setting, value, pasted, seen) in [
            (
                settings::URL,
                url,
                "'https://x.example/mcp?key=${KEY}&v=${V}&flag'",
                "https://x.example/mcp?key=[redacted]&v=${V}&flag",
            ),
            (
                settings::HEADER,
                "X-Api-Key: hunter2",
                "'X-Api-Key: ${X_API_KEY}'",
                "X-Api-Key: [redacted]",
            ),
            (
                settings::HEADER,
                "Authorization: Bearer ${TOKEN}",
                "'Authorization: Bearer ${TOKEN}'",
                "Authorization: Bearer ${TOKEN}",
            ),
            (
                settings::PROXY,
                "http://me:pw@proxy:1",
                "http://proxy:1",
                "http://proxy:1",
            ),
            (settings::PROXY, "env", "env", "env"),
            (
                settings::ENV,
                "API_TOKEN=hunter2",
                "API_TOKEN=\"$API_TOKEN\"",
                "API_TOKEN=[redacted]",
            ),
            (settings::ENV, "LANG=de", "'LANG=de'", "LANG=de"),
            (settings::ANSWERS, "id=x", "id=\"$ID\"", "id=[redacted]"),
        ] {
            assert_eq!(word(setting, value), pasted, "{value}");
            assert_eq!(shown(setting, value), seen, "{value}");
        }
    }
}
