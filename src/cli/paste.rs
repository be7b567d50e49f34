//! Commands of ours to be pasted into a shell.

use super::ServerArgs;
use crate::redact::is_secret;

/// `mcp-keel pin` with the same words that were typed, to be pasted into a shell.
pub(super) fn pin_command(args: &ServerArgs, name: &str) -> String {
    let mut words: Vec<String> = vec!["mcp-keel".into(), "pin".into()];
    let mut option = |flag: &str, value: &str| {
        words.push(flag.to_owned());
        words.push(quote(value));
    };
    if let Some(config) = &args.config {
        option("--config", &config.to_string_lossy());
    }
    if let Some(baseline) = &args.baseline {
        option("--baseline", &baseline.to_string_lossy());
    }
    for name in &args.pass_env {
        option("--pass-env", name);
    }
    if let Some(seconds) = args.timeout {
        option("--timeout", &seconds.to_string());
    }
    if let Some(client) = &args.client {
        option("--client", client);
    }
    if let Some(capabilities) = &args.capabilities {
        option("--capabilities", &capabilities.join(","));
    }
    if let Some(level) = args.sandbox.sandbox {
        option("--sandbox", level.word());
    }
    for (key, value) in &args.env {
        words.push("--env".to_owned());
        // The value may be a secret, and this line may end up in a public log.
        words.push(match is_secret(key, value) {
            true => format!("{key}=\"${key}\""),
            false => quote(&format!("{key}={value}")),
        });
    }
    if args.command.is_empty() {
        words.push(quote(name));
    } else {
        if let [name] = &args.servers[..] {
            words.push(quote(name));
        }
        words.push("--".to_owned());
        words.extend(args.command.iter().map(|word| quote(word)));
    }
    words.join(" ")
}

fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => format!("{word:?}"),
    }
}
