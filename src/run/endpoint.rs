//! How a server is reached, from the request and the configuration. The one place that reads the
//! environment for `${NAME}` and for `--proxy env`.

use super::request::ServerRequest;
use super::{Error, hints, secrets};
use crate::capture::Endpoint;
use crate::capture::http::{
    Headers, HttpAddress, HttpSpec, Proxy, SpecError, Template, certificates, header_line,
};
use crate::config::{HttpConfig, ServerConfig};
use crate::launch::{LaunchError, LaunchSpec, sandbox};

/// Rejects flags without effect, or with a dangerous one, for these servers.
pub(crate) fn check_flags<'a>(
    request: &ServerRequest,
    servers: impl Iterator<Item = (&'a String, &'a ServerConfig)>,
) -> Result<(), Error> {
    let over_http: Vec<&str> = servers
        .filter(|(_, server)| server.http.is_some())
        .map(|(name, _)| name.as_str())
        .collect();
    let typed = [
        ("--header", !request.headers.is_empty()),
        ("--start", request.start.is_some()),
        ("--ca", request.ca.is_some()),
        ("--proxy", request.proxy.is_some()),
        ("--transport", request.transport.is_some()),
    ];
    for (flag, _) in typed.into_iter().filter(|(_, typed)| *typed) {
        if over_http.is_empty() {
            return Err(Error::usage(
                format!("{flag} is for a server over HTTP, but there is none"),
                "set its address with --url, or as `url` in mcp-keel.toml",
            ));
        }
        // A credential for one server must not be sent to all of them.
        if matches!(flag, "--header" | "--start") && over_http.len() > 1 {
            return Err(Error::usage(
                format!(
                    "{flag} is for one server, but there are {}: {}",
                    over_http.len(),
                    over_http.join(", ")
                ),
                "name one of them, or set it in its [server.NAME]",
            ));
        }
    }
    Ok(())
}

/// How a server is reached. Mistakes are reported before anything is started, as usage errors and
/// not as a failing server.
pub(crate) fn endpoint(
    request: &ServerRequest,
    name: &str,
    server: &ServerConfig,
) -> Result<Endpoint, Error> {
    let given = server.values.iter();
    secrets::learn(given.map(|(name, value)| (name.as_str(), value.as_str())));
    let wrong = |error: SpecError| {
        let make = if error.is_unset() {
            Error::unset
        } else {
            Error::usage
        };
        make(format!("{name}: {error}"), error.help().to_owned())
    };
    let launch = |mut command: Vec<String>| -> Result<LaunchSpec, Error> {
        command.extend(server.args.iter().cloned());
        let mut env = server.env.clone();
        env.extend(request.env.iter().cloned());
        secrets::learn(
            env.iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let mut pass_env = server.pass_env.clone();
        pass_env.extend(request.pass_env.iter().cloned());
        let launch = LaunchSpec {
            command,
            cwd: server.cwd.clone(),
            env,
            pass_env,
            // What the user typed, or keeps outside of the workspace, is the user's own word.
            may_widen: server.is_from_outside || !request.command.is_empty(),
            sandbox: request
                .sandbox
                .with(server.sandbox, server.sandbox_required),
        };
        launch.verify(crate::own_env::vars()).map_err(|error| {
            let help = hints::of_launch(&launch, &error).unwrap_or_else(|| error.help());
            Error::usage(format!("{name}: {error}"), help)
        })?;
        Ok(launch)
    };
    let Some(http) = &server.http else {
        return Ok(Endpoint::Stdio(launch(server.command.clone())?));
    };
    let variable = |name: &str| {
        let given = server.values.get(name).cloned();
        given.or_else(|| variable(name))
    };
    let typed = request
        .headers
        .iter()
        .map(|it| header_line(it))
        .collect::<Result<Vec<(String, Template)>, _>>()
        .map_err(wrong)?;
    let typed_proxy = request.proxy.as_ref().map(Template::new);
    let templates = [&http.url].into_iter().chain(http.headers.values());
    let templates = templates.chain(&http.proxy).chain(&typed_proxy);
    let mut named = templates
        .chain(typed.iter().map(|it| &it.1))
        .flat_map(|it| it.variables());
    if let Some(withheld) = named.find(|it| !server.values.contains_key(*it) && is_withheld(it)) {
        let error = LaunchError::RunnersVariable {
            name: withheld.to_owned(),
        };
        return Err(Error::usage(format!("{name}: {error}"), error.help()));
    }
    let url = HttpAddress::new(&http.url, &variable).map_err(wrong)?;
    let configured = http
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value));
    let typed = typed.iter().map(|(name, value)| (name.as_str(), value));
    let headers = Headers::new(configured.chain(typed), &variable).map_err(wrong)?;
    let proxy = match typed_proxy.clone().or_else(|| http.proxy.clone()) {
        Some(proxy) => Proxy::new(&proxy, &url, &variable).map_err(wrong)?,
        None => None,
    };
    let start = match &request.start {
        Some(typed) => split(typed)?,
        None => http.start.clone(),
    };
    let start = if start.is_empty() {
        None
    } else {
        Some(launch(start)?)
    };
    if start
        .as_ref()
        .is_some_and(|it| it.sandbox.level == sandbox::Level::Strict)
    {
        return Err(Error::usage(
            format!(
                "{name}: a server over HTTP cannot be started without a network, which `strict` blocks"
            ),
            "use --sandbox fs, or check it over stdio",
        ));
    }
    if start.is_none()
        && !(request.env.is_empty() && request.pass_env.is_empty())
        && request.url.is_some()
    {
        return Err(Error::usage(
            "--env and --pass-env are for a server that is started, but nothing is started",
            "set the command that starts it with --start",
        ));
    }
    let ca = request.ca.clone().or_else(|| http.ca.clone());
    if let Some(ca) = &ca {
        certificates(ca).map_err(wrong)?;
    }
    let spec = HttpSpec {
        url,
        headers,
        start,
        ca,
        proxy,
        transport: request.transport.unwrap_or(http.transport),
    };
    let filled = spec.secrets();
    secrets::learn(filled.iter().map(|value| ("HEADER_SECRET", value.as_str())));
    Ok(Endpoint::Http(Box::new(spec)))
}

/// A server at a typed address. Headers and the like in the configuration belong to the configured
/// address, so they do not apply here.
pub(crate) fn typed(url: &str) -> HttpConfig {
    HttpConfig::of(url)
}

fn split(command: &str) -> Result<Vec<String>, Error> {
    match shlex::split(command) {
        Some(words) if !words.is_empty() => Ok(words),
        _ => Err(Error::usage(
            "--start is not a command",
            "write it as in a shell, such as --start \"node dist/http.js --port 3000\"; no shell reads it",
        )),
    }
}

/// A variable of mcp-keel's environment, if it may be looked up for a server.
pub(crate) fn variable(name: &str) -> Option<String> {
    crate::own_env::available(name)?.into_string().ok()
}

/// Whether a variable is kept from everything that a configuration names.
pub(crate) fn is_withheld(name: &str) -> bool {
    crate::own_env::is_withheld(name, &crate::own_env::vars())
}
