//! The command that a report suggests: it accepts what was found.

use super::request::ServerRequest;
use crate::capture::http::Template;
use crate::launch::sandbox::Level;
use crate::redact::is_secret;

/// `mcp-keel pin` with everything that was asked for and that pinning understands, to be pasted into a shell. Without it the
/// server would be another one.
pub(crate) fn pin_command(request: &ServerRequest, name: &str) -> String {
    let mut words: Vec<String> = vec!["mcp-keel".into(), "pin".into()];
    let mut option = |flag: &str, value: &str| {
        words.push(flag.to_owned());
        words.push(quote(value));
    };
    if let Some(config) = &request.config {
        option("--config", &config.to_string_lossy());
    }
    for file in &request.from {
        option("--from", &file.to_string_lossy());
    }
    if let Some(format) = request.from_format {
        option("--from-format", format.word());
    }
    if let Some(baseline) = &request.baseline {
        option("--baseline", &baseline.to_string_lossy());
    }
    for name in &request.pass_env {
        option("--pass-env", name);
    }
    if let Some(url) = &request.url {
        option("--url", &shown_url(url));
    }
    for header in &request.headers {
        option("--header", &shown_header(header));
    }
    if let Some(start) = &request.start {
        option("--start", start);
    }
    if let Some(ca) = &request.ca {
        option("--ca", &ca.to_string_lossy());
    }
    if let Some(proxy) = &request.proxy {
        option("--proxy", &shown_proxy(proxy));
    }
    if let Some(transport) = request.transport {
        option("--transport", transport.word());
    }
    if let Some(seconds) = request.timeout {
        option("--timeout", &seconds.to_string());
    }
    if let Some(eras) = request.era {
        option("--era", eras.word());
    }
    if let Some(boots) = request.repeat {
        option("--repeat", &boots.to_string());
    }
    if let Some(seconds) = request.settle {
        option("--settle", &seconds.to_string());
    }
    if let Some(client) = &request.client {
        option("--client", client);
    }
    if let Some(capabilities) = &request.capabilities {
        option("--capabilities", &capabilities.join(","));
    }
    // `fs` is what a workflow gets that asks for nothing.
    let demanded = Some(request.sandbox.at_least).filter(|it| *it > Level::Fs);
    if let Some(level) = request.sandbox.level.max(demanded) {
        option("--sandbox", level.word());
    }
    if request.sandbox.required {
        words.push("--sandbox-required".to_owned());
    }
    for (id, _) in &request.inputs {
        words.push("--input".to_owned());
        // Clients ask for secrets.
        words.push(format!("{}=\"${}\"", quote(id), variable_for(id)));
    }
    for (key, value) in &request.env {
        words.push("--env".to_owned());
        // The value may be a secret, and this line may end up in a public log.
        words.push(if is_secret(key, value) {
            format!("{key}=\"${key}\"")
        } else {
            quote(&format!("{key}={value}"))
        });
    }
    if request.url.is_some() {
        words.extend(request.servers.first().map(|name| quote(name)));
    } else if request.command.is_empty() {
        words.push(quote(name));
    } else {
        if let [name] = &request.servers[..] {
            words.push(quote(name));
        }
        words.push("--".to_owned());
        words.extend(request.command.iter().map(|word| quote(word)));
    }
    words.join(" ")
}

/// An address as it was typed, but for values of its query that could be secrets.
fn shown_url(url: &str) -> String {
    let Some((address, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if !value.starts_with("${") => {
            format!("{name}=${{{}}}", variable_for(name))
        }
        _ => pair.to_owned(),
    });
    format!("{address}?{}", pairs.collect::<Vec<_>>().join("&"))
}

/// A header as it was typed if it names its secret, else with a variable in its place.
fn shown_header(header: &str) -> String {
    let (name, value) = header.split_once(':').unwrap_or((header, ""));
    match Template::new(value.trim()).shown() {
        Some(value) => format!("{name}: {value}"),
        None => format!("{name}: ${{{}}}", variable_for(name)),
    }
}

/// A proxy without the credentials in its address.
fn shown_proxy(proxy: &str) -> String {
    match proxy.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or(rest)),
        None => proxy.to_owned(),
    }
}

/// A variable that somebody could keep the value of `name` in.
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

fn quote(word: &str) -> String {
    match shlex::try_quote(word) {
        Ok(quoted) => quoted.into_owned(),
        Err(_) => format!("{word:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Eras;
    use crate::capture::http::HttpTransport;
    use crate::config::foreign;
    use crate::run::request::SandboxRequest;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    /// A request with everything in it. No `..`: a new member does not compile until somebody decides about it here.
    fn everything() -> ServerRequest {
        ServerRequest {
            servers: vec!["weather".into()],
            command: vec!["node".into(), "my server.js".into()],
            config: Some("keel.toml".into()),
            from: vec![".mcp.json".into()],
            from_format: Some(foreign::Format::ALL[0]),
            inputs: vec![pair("api-key", "hunter2")],
            baseline: Some("pins.json".into()),
            env: vec![pair("LANG", "de"), pair("API_TOKEN", "hunter2")],
            pass_env: vec!["HOME".into()],
            url: None,
            headers: vec!["X-Key: hunter2".into()],
            start: Some("node http.js".into()),
            ca: Some("ca.pem".into()),
            proxy: Some("env".into()),
            transport: Some(HttpTransport::ALL[0]),
            timeout: Some(7),
            era: Some(Eras::Both),
            repeat: Some(3),
            settle: Some(5),
            client: Some("zed".into()),
            capabilities: Some(vec!["roots".into(), "sampling".into()]),
            sandbox: SandboxRequest {
                level: Some(Level::Strict),
                required: true,
                at_least: Level::default(),
            },
        }
    }

    #[test]
    fn every_setting_that_was_given_comes_back() {
        let format = foreign::Format::ALL[0].word();
        let transport = HttpTransport::ALL[0].word();
        let options = format!(
            "--config keel.toml --from .mcp.json --from-format {format} --baseline pins.json --pass-env HOME"
        );
        let reached = format!(
            "--header 'X-Key: ${{X_KEY}}' --start 'node http.js' --ca ca.pem --proxy env --transport {transport}"
        );
        let asked = "--timeout 7 --era both --repeat 3 --settle 5 --client zed --capabilities 'roots,sampling' \
                     --sandbox strict --sandbox-required --input api-key=\"$API_KEY\" --env 'LANG=de' \
                     --env API_TOKEN=\"$API_TOKEN\"";
        assert_eq!(
            pin_command(&everything(), "weather"),
            format!("mcp-keel pin {options} {reached} {asked} weather -- node 'my server.js'")
        );
        let by_workflow = ServerRequest {
            sandbox: SandboxRequest {
                at_least: Level::Strict,
                ..SandboxRequest::default()
            },
            ..ServerRequest::default()
        };
        assert_eq!(
            pin_command(&by_workflow, "weather"),
            "mcp-keel pin --sandbox strict weather"
        );
        let over_http = ServerRequest {
            url: Some("https://x.example/mcp".into()),
            command: Vec::new(),
            ..everything()
        };
        assert_eq!(
            pin_command(&over_http, "weather"),
            format!("mcp-keel pin {options} --url https://x.example/mcp {reached} {asked} weather")
        );
    }

    #[test]
    fn what_may_be_secret_in_an_address_is_named_and_not_shown() {
        assert_eq!(
            shown_url("https://x.example/mcp?key=hunter2&v=${V}&flag"),
            "https://x.example/mcp?key=${KEY}&v=${V}&flag"
        );
        assert_eq!(
            shown_header("X-Api-Key: hunter2"),
            "X-Api-Key: ${X_API_KEY}"
        );
        assert_eq!(
            shown_header("Authorization: Bearer ${TOKEN}"),
            "Authorization: Bearer ${TOKEN}"
        );
        assert_eq!(shown_proxy("http://me:pw@proxy:1"), "http://proxy:1");
        assert_eq!(shown_proxy("env"), "env");
    }
}
