//! `server.json` of the MCP registry: packages that are started by their ecosystem's runner, and
//! remotes. Both spellings of its members are read (`registryType` and, before September 2025,
//! `registry_type`).

use std::collections::BTreeMap;

use super::fill::{Asked, Piece, Values, given_name, joined, template};
use super::{ConfigError, File};
use crate::capture::http::HttpTransport;
use crate::config::{HttpConfig, ServerConfig};
use crate::files::Tree;

pub(super) fn read(file: &mut File<'_>, root: &Tree, _servers: &str) -> Result<(), ConfigError> {
    let name = root.get("name").and_then(Tree::text);
    let Some(name) = name else {
        return Err(file.error(root, "the server has no `name`", "expected a text"));
    };
    file.once(root)?;
    let packages = file.items(name, root.get("packages"))?;
    let remotes = file.items(name, root.get("remotes"))?;
    let mut ways: Vec<(String, Result<ServerConfig, ConfigError>)> = Vec::new();
    for node in packages {
        let kind = node.either("registryType", "registry_type");
        let kind = kind.and_then(Tree::text).unwrap_or("package");
        let home = node.either("registryBaseUrl", "registry_base_url");
        if let Some(home) = home.and_then(Tree::text) {
            let what = format!(
                "its registry is {home}, but it is fetched from the registry that the runtime is configured for"
            );
            file.note(name, &what);
        }
        ways.push((kind.to_owned(), package(file, name, node, kind)));
    }
    for node in remotes {
        let kind = node.either("type", "transport_type");
        let kind = kind.and_then(Tree::text).unwrap_or("remote");
        ways.push((kind.to_owned(), remote(file, name, node, kind)));
    }
    if ways.is_empty() {
        return Err(file.error(
            root,
            "the server has neither a package nor a remote",
            "expected `packages` or `remotes`",
        ));
    }
    // A server that is reached in several ways becomes several servers, named after the way.
    let only = ways.len() == 1;
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for (kind, server) in ways {
        let nth = count.entry(kind.clone()).or_default();
        *nth += 1;
        let called = match (only, *nth) {
            (true, _) => name.to_owned(),
            (false, 1) => format!("{name}#{kind}"),
            (false, nth) => format!("{name}#{kind}-{nth}"),
        };
        file.insert(&called, server);
    }
    Ok(())
}

/// A package with its arguments and variables filled in.
struct Filled<'f, 'a> {
    file: &'f File<'a>,
    name: &'f str,
    values: Values,
    /// The values of arguments and variables by name: a package's address may refer to them.
    named: NamedValues,
}

/// A name with its value as a piece of text.
type NamedValues = BTreeMap<String, Piece>;

fn package(
    file: &File<'_>,
    name: &str,
    node: &Tree,
    kind: &str,
) -> Result<ServerConfig, ConfigError> {
    let Some(identifier) = node.get("identifier").and_then(Tree::text) else {
        return Err(file.error(node, "a package has no `identifier`", "expected a text"));
    };
    let version = node.get("version").and_then(Tree::text);
    let hint = node.either("runtimeHint", "runtime_hint");
    let hint = hint.and_then(Tree::text);
    let mut filled = Filled {
        file,
        name,
        values: Values::new(),
        named: NamedValues::new(),
    };
    let runtime = filled.arguments(node.either("runtimeArguments", "runtime_arguments"))?;
    let arguments = filled.arguments(node.either("packageArguments", "package_arguments"))?;
    let env = filled.variables(node.either("environmentVariables", "environment_variables"))?;
    let at = |mark: &str| match version {
        Some(version) => format!("{identifier}{mark}{version}"),
        None => identifier.to_owned(),
    };
    let has = |word: &str| runtime.iter().any(|it| it == word);
    let mut words: Vec<String>;
    match kind {
        "npm" => {
            words = vec![hint.unwrap_or("npx").to_owned()];
            if words[0] == "npx" && !has("-y") && !has("--yes") {
                words.push("-y".to_owned());
            }
            words.extend(runtime);
            words.push(at("@"));
        }
        "pypi" => {
            words = vec![hint.unwrap_or("uvx").to_owned()];
            words.extend(runtime);
            words.push(match words[0].as_str() {
                "uvx" | "pipx" => at("@"),
                _ => identifier.to_owned(),
            });
        }
        "oci" => {
            words = vec![hint.unwrap_or("docker").to_owned()];
            if !runtime.iter().any(|it| it == "run") {
                words.extend(["run", "-i", "--rm"].map(str::to_owned));
            }
            // The values stay in docker's own environment, out of its arguments.
            for variable in env.keys() {
                words.extend(["-e".to_owned(), variable.clone()]);
            }
            words.extend(runtime);
            words.push(match identifier.rsplit('/').next() {
                Some(last) if last.contains(':') || last.contains('@') => identifier.to_owned(),
                _ => at(":"),
            });
        }
        "nuget" => {
            words = vec![hint.unwrap_or("dnx").to_owned()];
            words.extend(runtime.iter().cloned());
            words.push(at("@"));
            if !has("--yes") {
                words.push("--yes".to_owned());
            }
            if !arguments.is_empty() {
                words.push("--".to_owned());
            }
        }
        "mcpb" => {
            return Err(file.error(
                node,
                format!("server `{name}`: bundles are not fetched"),
                "unpack it, and pass its manifest.json with --from",
            ));
        }
        other => {
            return Err(file.error(
                node,
                format!("server `{name}`: cannot start a package of `{other}`"),
                "supported: npm, pypi, oci, nuget; or pass its command after `--`",
            ));
        }
    }
    words.extend(arguments);
    let transport = node.get("transport");
    let over = transport
        .and_then(|it| it.get("type"))
        .and_then(Tree::text)
        .unwrap_or("stdio");
    let mut server = ServerConfig {
        cwd: Some(file.folder.clone()),
        env,
        ..ServerConfig::default()
    };
    match transport {
        Some(transport) if over != "stdio" => {
            let mut http = filled.http(transport, over)?;
            http.start = words;
            server.http = Some(http);
        }
        _ => server.command = words,
    }
    server.values = filled.values;
    Ok(server)
}

fn remote(
    file: &File<'_>,
    name: &str,
    node: &Tree,
    kind: &str,
) -> Result<ServerConfig, ConfigError> {
    let mut filled = Filled {
        file,
        name,
        values: Values::new(),
        named: NamedValues::new(),
    };
    let http = filled.http(node, kind)?;
    Ok(ServerConfig {
        http: Some(http),
        values: filled.values,
        ..ServerConfig::default()
    })
}

impl Filled<'_, '_> {
    fn http(&mut self, node: &Tree, kind: &str) -> Result<HttpConfig, ConfigError> {
        let Some(url) = node.get("url") else {
            return Err(self
                .file
                .error(node, "there is no `url`", "expected an address"));
        };
        let mut http = HttpConfig::of("");
        let text = self.file.string(self.name, url)?;
        let pieces = self.braces(url, text, node.get("variables"), Some(&self.named))?;
        let open = pieces.iter().find_map(|piece| match piece {
            Piece::Text(text) if text.ends_with('{') => Some(text.as_str()),
            _ => None,
        });
        if let Some(open) = open {
            return Err(self.file.error(
                url,
                format!("server `{}`: cannot fill in `{open}`", self.name),
                "expected the name of one of `variables`, or of an argument or a variable of the package",
            ));
        }
        http.url = template(pieces, &mut self.values);
        http.transport = match kind {
            "sse" => HttpTransport::Sse,
            "streamable-http" => HttpTransport::Streamable,
            _ => HttpTransport::Auto,
        };
        for header in self.file.items(self.name, node.get("headers"))? {
            let name = self.name_of(header)?;
            if let Some(pieces) = self.input(header, name)? {
                let value = template(pieces, &mut self.values);
                http.headers.insert(name.to_owned(), value);
            }
        }
        Ok(http)
    }

    fn arguments(&mut self, list: Option<&Tree>) -> Result<Vec<String>, ConfigError> {
        let mut words = Vec::new();
        for node in self.file.items(self.name, list)? {
            let named = node.get("type").and_then(Tree::text) == Some("named");
            let flag = node.get("name").and_then(Tree::text).filter(|_| named);
            let hint = node.either("valueHint", "value_hint").and_then(Tree::text);
            let bare = flag.is_some()
                && [
                    "value",
                    "default",
                    "valueHint",
                    "value_hint",
                    "choices",
                    "format",
                ]
                .iter()
                .all(|it| node.get(it).is_none());
            if bare {
                words.extend(flag.map(str::to_owned));
                continue;
            }
            let id = hint.or(flag.map(|it| it.trim_start_matches('-')));
            let Some(pieces) = self.input(node, id.unwrap_or("argument"))? else {
                continue;
            };
            let value = joined(pieces, &mut self.values);
            for called in [hint, flag, flag.map(|it| it.trim_start_matches('-'))] {
                self.tell(called, node, &value);
            }
            words.extend(flag.map(str::to_owned));
            words.push(value);
        }
        Ok(words)
    }

    fn variables(&mut self, list: Option<&Tree>) -> Result<BTreeMap<String, String>, ConfigError> {
        let mut variables = BTreeMap::new();
        for node in self.file.items(self.name, list)? {
            let name = self.name_of(node)?;
            // A variable of this name in mcp-keel's own environment provides the value.
            let ours = (self.file.surroundings.variable)(name).filter(|it| !it.is_empty());
            let given = self.file.surroundings.inputs.contains_key(name);
            let value = if let (Some(value), None, false) = (ours, node.get("value"), given) {
                value
            } else if let Some(pieces) = self.input(node, name)? {
                joined(pieces, &mut self.values)
            } else {
                continue;
            };
            self.tell(Some(name), node, &value);
            variables.insert(name.to_owned(), value);
        }
        Ok(variables)
    }

    fn tell(&mut self, called: Option<&str>, node: &Tree, value: &str) {
        let Some(called) = called else { return };
        let value = value.to_owned();
        let piece = if asked(node).secret {
            Piece::Given {
                name: given_name(called, true),
                value,
            }
        } else {
            Piece::Text(value)
        };
        self.named.insert(called.to_owned(), piece);
    }

    /// The name of a header or a variable.
    fn name_of<'n>(&self, node: &'n Tree) -> Result<&'n str, ConfigError> {
        let name = node.get("name").and_then(Tree::text);
        name.ok_or_else(|| {
            let problem = format!("server `{}`: this has no `name`", self.name);
            self.file.error(node, problem, "expected a text")
        })
    }

    /// An input as the registry describes it: fixed, given, default, or omitted.
    fn input(&self, node: &Tree, id: &str) -> Result<Option<Vec<Piece>>, ConfigError> {
        if let Some(value) = node.get("value") {
            let text = self.file.string(self.name, value)?;
            let variables = node.get("variables");
            return self.braces(value, text, variables, None).map(Some);
        }
        let asked = asked(node);
        let known = asked.default.is_some() || self.file.surroundings.inputs.contains_key(id);
        if asked.optional && !known {
            return Ok(None);
        }
        let piece = self.file.given(self.name, node, id, &asked)?;
        Ok(Some(vec![piece]))
    }

    /// A text in which `{variable}` refers to one of `variables`, or to one of the `known` names.
    fn braces(
        &self,
        node: &Tree,
        text: &str,
        variables: Option<&Tree>,
        named: Option<&NamedValues>,
    ) -> Result<Vec<Piece>, ConfigError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let known = after.split_once('}').and_then(|(id, then)| {
                let variable = variables.and_then(|it| it.get(id));
                let value = named.and_then(|it| it.get(id));
                (variable.is_some() || value.is_some()).then_some((id, variable, value, then))
            });
            let Some((id, variable, value, then)) = known else {
                pieces.push(Piece::Text(format!("{before}{{")));
                rest = after;
                continue;
            };
            pieces.push(Piece::Text(before.to_owned()));
            rest = then;
            let Some(variable) = variable else {
                pieces.extend(value.cloned());
                continue;
            };
            if let Some(value) = variable.get("value").and_then(Tree::scalar) {
                pieces.push(Piece::Text(value));
            } else {
                pieces.push(self.file.given(self.name, node, id, &asked(variable))?);
            }
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(pieces)
    }
}

fn asked(node: &Tree) -> Asked {
    let truth = |one: &str, other: &str| node.either(one, other).and_then(Tree::boolean);
    Asked {
        default: node.get("default").and_then(Tree::scalar),
        secret: truth("isSecret", "is_secret") == Some(true),
        optional: truth("isRequired", "is_required") != Some(true),
    }
}
