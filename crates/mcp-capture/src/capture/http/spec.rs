//! How a server over HTTP is reached: its address, the headers, and a proxy.
//!
//! Credentials come from the environment, by `${NAME}`, and are never shown: a [`Template`] is
//! shown as typed and only if it names its secrets, a filled-in value is marked as sensitive, and
//! an [`HttpAddress`] is shown without its query.

use std::fmt;
use std::path::PathBuf;

use http::{HeaderMap, HeaderName, HeaderValue};
use hyper_util::client::proxy::matcher::Matcher;
use url::Url;

use crate::keyword_enum::keyword_enum;
use crate::launch::LaunchSpec;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSpec {
    pub url: HttpAddress,
    /// The user's headers, sent with every request to that origin only.
    pub headers: Headers,
    /// The command that starts it; `None` if it is already running.
    pub start: Option<LaunchSpec>,
    /// A file with trusted certificates in addition to the system's.
    pub ca: Option<PathBuf>,
    pub proxy: Option<Proxy>,
    pub transport: HttpTransport,
}

impl HttpSpec {
    /// A running server with default settings.
    pub fn of(url: HttpAddress) -> Self {
        Self {
            url,
            headers: Headers::default(),
            start: None,
            ca: None,
            proxy: None,
            transport: HttpTransport::default(),
        }
    }

    /// Everything that must not appear in any output: filled-in values, and the values of headers.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets = self.url.filled.0.clone();
        secrets.extend(self.headers.filled.iter().cloned());
        let proxy = self.proxy.as_ref();
        secrets.extend(proxy.iter().flat_map(|it| it.filled.iter().cloned()));
        let proxy = proxy.and_then(|it| it.authorization.as_ref());
        let values = self.headers.map.values().chain(proxy);
        secrets.extend(values.filter_map(|it| Some(it.to_str().ok()?.to_owned())));
        secrets
    }
}

/// Which of MCP's HTTP transports a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, and HTTP+SSE if the server does not support it.
    #[default]
    Auto,
    /// Streamable HTTP, of 2025-03-26 and later.
    Streamable,
    /// HTTP+SSE, of 2024-11-05.
    Sse,
}

keyword_enum!(HttpTransport {
    Auto = "auto",
    Streamable = "streamable",
    Sse = "sse",
});

/// An address or a header that cannot be used. Never quotes a value that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SpecError {
    problem: String,
    help: String,
    is_unset: bool,
}

impl SpecError {
    pub(super) fn new(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            help: help.into(),
            is_unset: false,
        }
    }

    /// Whether only a variable is missing on this machine.
    pub fn is_unset(&self) -> bool {
        self.is_unset
    }

    pub fn help(&self) -> &str {
        &self.help
    }
}

/// A text in which `${NAME}` refers to an environment variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Template(String);

impl Template {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its parts: literal text, and names of variables.
    fn parts(&self) -> Result<Vec<Part<'_>>, SpecError> {
        let mut parts = Vec::new();
        let mut rest = self.0.as_str();
        while let Some(at) = rest.find("${") {
            let (before, after) = rest.split_at(at);
            let Some((name, then)) = after[2..].split_once('}') else {
                return Err(SpecError::new(
                    "`${` is not closed",
                    "write ${NAME} for the variable NAME of the environment",
                ));
            };
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty()
                || !name.chars().all(word)
                || name.starts_with(|c: char| c.is_ascii_digit())
            {
                return Err(SpecError::new(
                    "the text between `${` and `}` is not the name of a variable",
                    "write ${NAME} for the variable NAME of the environment",
                ));
            }
            parts.push(Part::Text(before));
            parts.push(Part::Variable(name));
            rest = then;
        }
        parts.push(Part::Text(rest));
        Ok(parts)
    }

    /// The names of its variables.
    pub fn variables(&self) -> Vec<&str> {
        let parts = self.parts().unwrap_or_default();
        let parts = parts.into_iter();
        parts
            .filter_map(|it| match it {
                Part::Variable(name) => Some(name),
                Part::Text(_) => None,
            })
            .collect()
    }

    /// As typed: for comparing, never for messages.
    pub fn typed(&self) -> &str {
        &self.0
    }

    /// The text with its variables filled in, and their values. An empty variable counts as unset:
    /// a workflow passes a missing secret as an empty string.
    fn filled(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(String, Vec<String>), SpecError> {
        let mut text = String::new();
        let mut values = Vec::new();
        for part in self.parts()? {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Variable(name) => {
                    let value = variable(name).filter(|it| !it.trim().is_empty()).ok_or_else(|| {
                        SpecError {
                            is_unset: true,
                            ..SpecError::new(
                                format!("the variable {name} is not set here"),
                                format!("set {name} in the environment of mcp-keel; in a workflow, in the `env` of the step"),
                            )
                        }
                    })?;
                    // A secret read from a file often ends with a newline.
                    let value = value.trim().to_owned();
                    text.push_str(&value);
                    values.push(value);
                }
            }
        }
        Ok((text, values))
    }

    /// As typed, if every possible secret in it is named and not literal: `Bearer ${TOKEN}`.
    pub fn shown(&self) -> Option<&str> {
        let parts = self.parts().ok()?;
        let plain = |text: &str| {
            text.chars().all(|c| c.is_ascii_alphabetic() || c == ' ') && text.len() <= 16
        };
        let named = parts.iter().any(|it| matches!(it, Part::Variable(_)));
        let harmless = parts.iter().all(|it| match it {
            Part::Variable(_) => true,
            Part::Text(text) => plain(text),
        });
        (named && harmless).then_some(self.0.as_str())
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown().unwrap_or("Template(***)"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// The address of a server. It is shown without its query, and with `${NAME}` where a variable was
/// filled in.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpAddress {
    url: Url,
    shown: String,
    filled: Secrets,
}

impl HttpAddress {
    /// From what was typed; `variable` reads the environment.
    pub fn new(
        typed: &Template,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SpecError> {
        let (text, filled) = typed.filled(variable)?;
        let url = address(&text, "--url https://example.com/mcp")?;
        // The query may contain a key, and a fragment is never sent.
        let shown = if filled.is_empty() {
            without_query(&url)
        } else {
            typed
                .0
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        Ok(Self {
            url,
            shown,
            filled: Secrets(filled),
        })
    }

    /// The whole URL, including the query: for requests, never for messages.
    pub(in crate::capture) fn url(&self) -> &Url {
        &self.url
    }

    /// `scheme://host[:port]`, to which MCP Hangar binds pins.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The server's address for a committed file: without a query, and for this machine without the
    /// port, which is arbitrary.
    pub fn place(&self) -> String {
        if !self.is_local() || !self.filled.is_empty() {
            return self.shown.clone();
        }
        let mut url = self.url.clone();
        // Only fails for a URL without a host.
        let _ = url.set_port(None);
        without_query(&url)
    }

    /// Whether it is this machine.
    pub fn is_local(&self) -> bool {
        match self.url.host() {
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }
}

impl fmt::Display for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for HttpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpAddress({})", self.shown)
    }
}

fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// An HTTP URL without credentials.
fn address(text: &str, example: &str) -> Result<Url, SpecError> {
    let expected = format!("write the whole address, such as {example}");
    let url = Url::parse(text.trim()).map_err(|error| {
        SpecError::new(
            format!("the address is not a URL: {error}"),
            expected.clone(),
        )
    })?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        let problem = format!(
            "the address begins with `{}:`, not with http:// or https://",
            url.scheme()
        );
        return Err(SpecError::new(problem, expected));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(SpecError::new(
            "the address contains credentials (user:password@)",
            "an address ends up in logs and process lists: pass them as --header \"Authorization: Basic ${NAME}\"",
        ));
    }
    Ok(url)
}

/// The user's headers. Their values are never shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers {
    map: HeaderMap,
    filled: Secrets,
}

/// Texts that `Debug` does not show.
#[derive(Clone, PartialEq, Eq, Default)]
struct Secrets(Vec<String>);

impl std::ops::Deref for Secrets {
    type Target = Vec<String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Headers that the protocol sets, or that would change how an answer must be read.
const OURS: &[&str] = &[
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Headers {
    /// From names and values as typed; `variable` reads the environment. A repeated name replaces
    /// its value: the command line comes after the configuration.
    pub fn new<'t>(
        typed: impl IntoIterator<Item = (&'t str, &'t Template)>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SpecError> {
        let mut headers = Self::default();
        for (name, template) in typed {
            let expected = "write --header \"Name: ${VARIABLE}\"";
            let name: HeaderName = name
                .trim()
                .parse()
                .map_err(|_| SpecError::new("invalid header name", expected))?;
            if OURS.contains(&name.as_str()) {
                return Err(SpecError::new(
                    format!("the header {name} is set by mcp-keel itself"),
                    "omit it: it belongs to the protocol",
                ));
            }
            let about = |error: SpecError| SpecError {
                problem: format!("the header {name}: {error}"),
                ..error
            };
            let (text, values) = template.filled(variable).map_err(about)?;
            let mut value: HeaderValue = text.trim().parse().map_err(|_| {
                SpecError::new(
                    format!("the header {name} has an invalid value"),
                    "a value must be one line of visible ASCII characters and spaces",
                )
            })?;
            value.set_sensitive(true);
            headers.map.insert(name, value);
            headers.filled.0.extend(values);
        }
        Ok(headers)
    }

    pub(in crate::capture) fn map(&self) -> &HeaderMap {
        &self.map
    }

    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

/// Splits `Name: value` as typed after `--header`.
pub fn header_line(typed: &str) -> Result<(String, Template), SpecError> {
    match typed.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), Template::new(value.trim())))
        }
        // Not quoted: the text may be the secret itself.
        _ => Err(SpecError::new(
            "a header is not of the form `Name: value`",
            "write --header 'Authorization: Bearer ${TOKEN}'",
        )),
    }
}

/// A proxy, and its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    address: http::Uri,
    authorization: Option<HeaderValue>,
    filled: Secrets,
}

impl Proxy {
    /// The proxy for `endpoint`: `env` for the one that the environment sets for it (possibly
    /// none), or a URL.
    pub fn new(
        typed: &Template,
        endpoint: &HttpAddress,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, SpecError> {
        let expected = "write --proxy http://proxy.example:3128, or --proxy env for what HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say";
        let both = |name: &str| {
            let lower = variable(&name.to_ascii_lowercase());
            lower.or_else(|| variable(name)).unwrap_or_default()
        };
        let (typed, filled) = typed.filled(variable)?;
        let matcher = match typed.as_str() {
            "env" => {
                let all = both("ALL_PROXY");
                let or_all = |value: String| if value.is_empty() { all.clone() } else { value };
                Matcher::builder()
                    .http(or_all(both("HTTP_PROXY")))
                    .https(or_all(both("HTTPS_PROXY")))
                    .no(both("NO_PROXY"))
                    .build()
            }
            // Only `http:`: the tunnel itself is encrypted end to end, and few proxies support
            // anything else.
            address if address.starts_with("http://") => {
                Matcher::builder().all(address.to_owned()).build()
            }
            _ => {
                return Err(SpecError::new(
                    "the proxy is not an address that begins with http://",
                    expected,
                ));
            }
        };
        let target: http::Uri = endpoint.url.as_str().parse().map_err(|_| {
            SpecError::new("the address of the server is not one for a proxy", expected)
        })?;
        let Some(found) = matcher.intercept(&target) else {
            return match typed.as_str() {
                "env" => Ok(None),
                _ => Err(SpecError::new(
                    "the address of the proxy is not a URL",
                    expected,
                )),
            };
        };
        if found.uri().scheme_str() != Some("http") {
            return Err(SpecError::new(
                "the proxy that the environment names does not speak HTTP",
                expected,
            ));
        }
        let mut authorization = found.basic_auth().cloned();
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        Ok(Some(Self {
            address: found.uri().clone(),
            authorization,
            filled: Secrets(filled),
        }))
    }

    pub(in crate::capture) fn address(&self) -> &http::Uri {
        &self.address
    }

    pub(in crate::capture) fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        let known = [
            ("TOKEN", "hunter2\n"),
            ("HOST", "x.example"),
            ("EMPTY", " "),
            ("http_proxy", "http://me:pw@proxy:3128"),
            ("NO_PROXY", "y.example"),
        ];
        known
            .iter()
            .find(|(it, _)| *it == name)
            .map(|(_, value)| (*value).to_owned())
    }

    fn endpoint(typed: &str) -> HttpAddress {
        HttpAddress::new(&Template::new(typed), &variable).expect("an address")
    }

    fn wrong(typed: &str) -> String {
        HttpAddress::new(&Template::new(typed), &variable)
            .expect_err("no address")
            .to_string()
    }

    #[test]
    fn an_address_is_shown_without_possible_secrets() {
        let shown =
            |typed: &str| format!("{0} {0:?} {1}", endpoint(typed), endpoint(typed).place());
        let plain = "https://x.example/mcp";
        assert_eq!(
            shown("https://x.example/mcp?key=1#f"),
            format!("{plain} HttpAddress({plain}) {plain}")
        );
        let filled = "https://${HOST}/s/${TOKEN}/mcp";
        assert_eq!(
            shown(&format!("{filled}?k=${{TOKEN}}")),
            format!("{filled} HttpAddress({filled}) {filled}")
        );
        assert_eq!(
            endpoint(filled).url().as_str(),
            "https://x.example/s/hunter2/mcp"
        );
        assert_eq!(
            endpoint("http://127.0.0.1:3000/mcp").place(),
            "http://127.0.0.1/mcp"
        );
        assert_eq!(
            endpoint("http://[::1]:3000/mcp").place(),
            "http://[::1]/mcp"
        );
        assert_eq!(
            endpoint("http://x.example:3000/mcp").place(),
            "http://x.example:3000/mcp"
        );
        assert_eq!(
            endpoint("https://x.example:443/mcp").origin(),
            "https://x.example"
        );
    }

    #[test]
    fn an_invalid_address_is_rejected_without_being_quoted() {
        assert_eq!(
            wrong("https://me:hunter2@x.example/"),
            "the address contains credentials (user:password@)"
        );
        assert_eq!(
            wrong("file:///etc/passwd"),
            "the address begins with `file:`, not with http:// or https://"
        );
        assert_eq!(
            wrong("https://${MISSING}/"),
            "the variable MISSING is not set here"
        );
        assert_eq!(
            wrong("https://${EMPTY}/"),
            "the variable EMPTY is not set here"
        );
        assert_eq!(wrong("https://${HOST/"), "`${` is not closed");
        assert!(wrong("https://").starts_with("the address is not a URL"));
    }

    #[test]
    fn a_template_is_shown_only_if_it_names_its_secret() {
        assert_eq!(
            Template::new("Bearer ${TOKEN}").shown(),
            Some("Bearer ${TOKEN}")
        );
        assert_eq!(Template::new("Bearer hunter2").shown(), None);
        assert_eq!(Template::new("abc").shown(), None);
        assert_eq!(Template::new("hunter2 ${TOKEN}").shown(), None);
        assert_eq!(format!("{:?}", Template::new("hunter2")), "Template(***)");
    }

    #[test]
    fn header_values_are_filled_in_and_debug_does_not_show_them() {
        let (name, value) = header_line("Authorization: Bearer ${TOKEN}").expect("a header");
        let headers = Headers::new([(name.as_str(), &value)], &variable).expect("headers");
        assert_eq!(headers.map()["authorization"], "Bearer hunter2");
        let mut spec = HttpSpec::of(endpoint("https://${HOST}/"));
        spec.headers = headers;
        assert!(!format!("{spec:?}").contains("hunter2"), "{spec:?}");
        assert_eq!(spec.secrets(), ["x.example", "hunter2", "Bearer hunter2"]);
        let two_lines = Template::new("a\nb");
        assert!(Headers::new([("X", &two_lines)], &variable).is_err());
        assert!(Headers::new([("X Y", &value)], &variable).is_err());
    }

    #[test]
    fn a_proxy_is_the_typed_one_or_on_request_that_of_the_environment() {
        let proxy =
            |typed: &str, url: &str| Proxy::new(&Template::new(typed), &endpoint(url), &variable);
        let found = proxy("env", "http://x.example/")
            .expect("read")
            .expect("a proxy");
        assert_eq!(
            (found.address().host(), found.address().port_u16()),
            (Some("proxy"), Some(3128))
        );
        assert_eq!(
            found.authorization().expect("credentials"),
            "Basic bWU6cHc="
        );
        assert_eq!(proxy("env", "https://x.example/").expect("read"), None);
        assert_eq!(proxy("env", "http://y.example/").expect("read"), None);
        let typed = proxy("http://me:${TOKEN}@p:1", "https://y.example/")
            .expect("read")
            .expect("a proxy");
        assert_eq!(typed.address().host(), Some("p"));
        assert!(!format!("{typed:?}").contains("hunter2"), "{typed:?}");
        assert!(proxy("https://p:1", "http://x.example/").is_err());
        assert!(proxy("p:1", "http://x.example/").is_err());
    }
}
