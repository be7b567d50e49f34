//! The keys of `[server.NAME]` that are about HTTP.

use std::collections::BTreeMap;
use std::path::Path;

use super::node::{ConfigError, Node};
use super::{HttpConfig, argv};
use crate::capture::http::{Headers, HttpAddress, HttpTransport, Proxy, SpecError, Template};
use crate::settings::{self, Table};

/// Settings that only apply to a server that mcp-keel starts.
const OF_A_PROCESS: &[&str] = &[
    "cwd",
    "env",
    "pass-env",
    "verify",
    "checksum",
    "launch-digests",
];

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
    let start = node.get("start").map(|it| argv(&it)).transpose()?;
    if start.is_none()
        && let Some(found) = OF_A_PROCESS.iter().find_map(|key| node.get(key))
    {
        return Err(found
            .error(&format!(
                "`{}` has no effect here: nothing is started",
                found.key()
            ))
            .expecting("`start` as well: the command that starts the server at `url`"));
    }
    let mut headers = BTreeMap::new();
    if let Some(node) = node.get("headers") {
        for (name, value) in node.members()? {
            headers.insert(name, Template::new(value.string()?));
        }
    }
    let address = Template::new(url.string()?);
    let endpoint = HttpAddress::new(&address, &any).map_err(|error| checked(&url, &error))?;
    for (name, value) in &headers {
        let node = node
            .get("headers")
            .and_then(|it| it.get(name))
            .unwrap_or(node.clone());
        Headers::new([(name.as_str(), value)], &any).map_err(|error| checked(&node, &error))?;
    }
    let proxy = node.get("proxy");
    if let Some(proxy) = &proxy {
        Proxy::new(&Template::new(proxy.string()?), &endpoint, &any)
            .map_err(|error| checked(proxy, &error))?;
    }
    Ok(Some(HttpConfig {
        url: address,
        headers,
        start: start.unwrap_or_default(),
        ca: match node.get("ca") {
            Some(ca) => Some(folder.join(ca.string()?)),
            None => None,
        },
        proxy: match proxy {
            Some(proxy) => Some(Template::new(proxy.string()?)),
            None => None,
        },
        transport: match node.get("transport") {
            Some(word) => word.word(HttpTransport::ALL.iter().map(|it| it.word()))?,
            None => HttpTransport::default(),
        },
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
