//! The keys of `[server.NAME]` that are about HTTP.

use std::collections::BTreeMap;
use std::path::Path;

use super::node::{ConfigError, Node};
use super::{HttpConfig, Wrong, argv};
use crate::capture::http::{Headers, HttpAddress, HttpTransport, Proxy, SpecError, Template};
use crate::settings::{self, Table};

/// Settings that only apply to a server that mcp-keel starts.
const OF_A_PROCESS: &[&str] = &["cwd", "env", "pass-env", "verify", "checksum"];

/// How a server is reached over HTTP; `None` if it uses stdio.
pub(super) fn read(node: &Node<'_>, folder: &Path) -> Result<Option<HttpConfig>, ConfigError> {
    let Some(url) = node.get("url") else {
        let beside_url = settings::keys(&[Table::Http]);
        return match beside_url.iter().find_map(|key| node.get(key)) {
            Some(found) => Err(found
                .error(&format!("`{}` has no effect without `url`", found.key()))
                .expecting("`url` beside it; a server over stdio has a `command` alone")),
            None => Ok(None),
        };
    };
    if let Some(command) = node.get("command") {
        return Err(command
            .error("`command` and `url` cannot both be set")
            .expecting("one of them; use `start` for a command that starts the server at `url`"));
    }
    let mut wrong = Wrong::default();
    let start = wrong.optional(node, "start", argv);
    if node.get("start").is_none() {
        let idle = OF_A_PROCESS.iter().filter_map(|key| node.get(key));
        wrong.0.extend(idle.map(|found| {
            found
                .error(&format!(
                    "`{}` has no effect here: nothing is started",
                    found.key()
                ))
                .expecting("`start` as well: the command that starts the server at `url`")
        }));
    }
    let mut headers = BTreeMap::new();
    let set = wrong.optional(node, "headers", |it| it.members());
    for (name, value) in set.unwrap_or_default() {
        if wrong.note(check_header(&value, &name)).is_some()
            && let Some(text) = wrong.note(value.string())
        {
            headers.insert(name, Template::new(text));
        }
    }
    let address = wrong.note(url.string()).map(Template::new);
    let endpoint = address.as_ref().and_then(|it| {
        let endpoint = HttpAddress::new(it, &any).map_err(|error| checked(&url, &error));
        wrong.note(endpoint)
    });
    let proxy = wrong.optional(node, "proxy", |it| {
        let proxy = Template::new(it.string()?);
        if let Some(endpoint) = &endpoint {
            Proxy::new(&proxy, endpoint, &any).map_err(|error| checked(it, &error))?;
        }
        Ok(proxy)
    });
    let ca = wrong.optional(node, "ca", |it| it.string());
    let transport = wrong.optional(node, "transport", |it| {
        it.word(HttpTransport::ALL.iter().map(|it| it.word()))
    });
    wrong.none()?;
    Ok(address.map(|url| HttpConfig {
        url,
        headers,
        start: start.unwrap_or_default(),
        ca: ca.map(|it| folder.join(it)),
        proxy,
        transport: transport.unwrap_or_default(),
    }))
}

pub(super) fn check_header(value: &Node<'_>, name: &str) -> Result<(), ConfigError> {
    let template = Template::new(value.string()?);
    Headers::new([(name, &template)], &any).map_err(|error| checked(value, &error))?;
    Ok(())
}

/// The values of variables are not known here; the text around them is.
fn any(_: &str) -> Option<String> {
    Some("x".to_owned())
}

fn checked(node: &Node<'_>, error: &SpecError) -> ConfigError {
    let mut wrong = node.error(&error.to_string());
    if let ConfigError::At { help, .. } = &mut wrong {
        *help = error.help().to_owned();
    }
    wrong
}
