//! `mcp-keel.toml`: the servers, the baseline's path and the policy.
//!
//! The promise: nothing in the file is silently ignored. An unknown key, rule or word is an error
//! that names the line and suggests what was probably meant, because a typo in a policy must not
//! weaken it.

mod client;
pub mod edit;
pub mod foreign;
mod http;
mod mask;
mod node;
mod profile;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use node::Node;

use crate::capture::Eras;
use crate::capture::http::{HttpTransport, Template};
use crate::judgement::Exposure;
use crate::launch::sandbox::Level;
use crate::policy::{
    Acceptance, Date, Enforcement, FailOn, Policy, Preset, Rejection, RuleSetting, Unknown,
};
use crate::release::VersionSource;
use crate::rules::RuleId;
use crate::settings::{self, REPEAT, SETTLE, Setting, TIMEOUT, Table};
use crate::stability::mask::Mask;
use crate::verify::bytes::Algorithm;
use crate::verify::jp::{Expected, Verify, VerifyKind};

pub use client::ClientChoice;
pub use node::ConfigError;
pub use profile::{ProfileName, SEPARATOR};
pub use written::{Written, WrittenValue};

pub use crate::settings::suggestion;

/// The default file name.
pub const DEFAULT_PATH: &str = "mcp-keel.toml";

#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The directory of the file, to which its paths are relative.
    pub folder: PathBuf,
    /// The baseline's path; with `{server}`, one file per server.
    pub baseline: Option<PathBuf>,
    /// Server lists in other formats.
    pub from: Vec<PathBuf>,
    pub servers: BTreeMap<String, ServerConfig>,
    pub policy: Policy,
    /// What was set on which line.
    pub written: Written,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// Program and arguments; empty for a server over HTTP.
    pub command: Vec<String>,
    /// A profile's arguments, appended to the command.
    pub args: Vec<String>,
    pub profile: Option<ProfileName>,
    pub http: Option<HttpConfig>,
    /// The working directory.
    pub cwd: Option<PathBuf>,
    pub env: BTreeMap<String, String>,
    /// The variables of mcp-keel's environment that are passed to it.
    pub pass_env: BTreeSet<String>,
    /// The client identity it sees.
    pub client: ClientChoice,
    /// The protocol eras to capture.
    pub era: Eras,
    /// The time limit for starting and for each request.
    pub timeout: Option<Duration>,
    /// How often to boot it.
    pub repeat: Option<usize>,
    /// How long to wait before listing again.
    pub settle: Option<Duration>,
    /// Whether to read the documents of apps and the files of skills.
    pub read_resources: bool,
    /// Texts to ignore in what it lists.
    pub masks: Vec<Mask>,
    pub version: VersionSource,
    /// The bytes to verify before it is started; `None` if not configured.
    pub verify: Option<Verify>,
    /// The line of a `checksum` in the old spelling.
    pub checksum_line: Option<usize>,
    /// What it may access; `None` if not configured.
    pub sandbox: Option<Level>,
    /// Whether to fail if the sandbox cannot be enforced.
    pub sandbox_required: bool,
    /// Values for `${NAME}` in `http`, which take precedence over the environment, and everything
    /// else that the user set for this server. May contain secrets.
    pub values: BTreeMap<String, String>,
    /// The variables, and as `input:ID` the inputs, that a client's file filled in anywhere. Those
    /// in `pass_env` and `http` come on top.
    pub uses: BTreeSet<String>,
    /// Whether a file outside of the workspace says all this. A pull request cannot change that one.
    pub is_from_outside: bool,
}

/// The settings of `[server.NAME]` for a server over HTTP. `command` is empty then, and `env` and
/// the like apply to `start`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    pub url: Template,
    pub headers: BTreeMap<String, Template>,
    /// Program and arguments that start it; empty if it is already running.
    pub start: Vec<String>,
    /// Trusted certificates in addition to the system's.
    pub ca: Option<PathBuf>,
    /// `env`, or an address.
    pub proxy: Option<Template>,
    pub transport: HttpTransport,
}

impl HttpConfig {
    /// A server at this address with default settings.
    pub fn of(url: impl Into<String>) -> Self {
        Self {
            url: Template::new(url),
            headers: BTreeMap::new(),
            start: Vec::new(),
            ca: None,
            proxy: None,
            transport: HttpTransport::default(),
        }
    }
}

impl Config {
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = crate::files::read_to_string(path).map_err(|source| ConfigError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// The server of this name, or all of its profiles.
    pub fn named(&self, name: &str) -> Vec<(String, ServerConfig)> {
        let is_meant = |(full, server): &(&String, &ServerConfig)| {
            let profile = server.profile.as_ref();
            *full == name || profile.is_some_and(|profile| profile.server == name)
        };
        let found = self.servers.iter().filter(is_meant);
        found
            .map(|(name, server)| (name.clone(), server.clone()))
            .collect()
    }

    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let tree = node::from_toml(path, text)?;
        let root = Node::root(path, &tree);
        // Everything that is wrong is reported at once.
        let mut wrong = Wrong::default();
        wrong.note(root.only(&settings::keys(&[Table::Top])));
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let baseline = root
            .get("baseline")
            .map(|node| node.string())
            .transpose()?
            .map(|it| folder.join(it));
        let from = match root.get("from") {
            Some(node) if node.is_array() => node.strings()?,
            Some(node) => vec![node.string()?.to_owned()],
            None => Vec::new(),
        };
        let mut servers = BTreeMap::new();
        if let Some(node) = root.get("server") {
            for (name, node) in node.members()? {
                let Some(server) = wrong.note(server(&node, &folder)) else {
                    continue;
                };
                let found = match node.get("profile") {
                    Some(profiles) => match wrong.note(profile::read(&profiles, &name, &server)) {
                        Some(found) => found,
                        None => continue,
                    },
                    None => [(name, server)].into(),
                };
                for (name, server) in found {
                    if servers.insert(name.clone(), server).is_some() {
                        return Err(node
                            .error(&format!("duplicate server `{name}`"))
                            .expecting("another name for the server or for the profile"));
                    }
                }
            }
        }
        let mut policy = match root.get("policy") {
            Some(node) => wrong.note(read_policy(&node)).unwrap_or_default(),
            None => Policy::default(),
        };
        if let Some(node) = root.get("accept") {
            let items = wrong.note(node.items()).unwrap_or_default();
            let entries = items.iter().map(acceptance);
            policy.accept = entries.filter_map(|it| wrong.note(it)).collect();
        }
        if let Some(node) = root.get("reject") {
            let items = wrong.note(node.items()).unwrap_or_default();
            let entries = items.iter().map(rejection);
            policy.reject = entries.filter_map(|it| wrong.note(it)).collect();
        }
        wrong.none()?;
        Ok(Self {
            from: from.iter().map(|it| folder.join(it)).collect(),
            folder,
            baseline,
            servers,
            policy,
            written: Written::read(path, &root)?,
        })
    }
}

/// Errors of a file, collected.
#[derive(Default)]
struct Wrong(Vec<ConfigError>);

impl Wrong {
    /// The value, or nothing and its error noted.
    fn note<T>(&mut self, result: Result<T, ConfigError>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// A member of a table, read by `read`; nothing if it is not set, and if it is wrong, which is noted.
    fn optional<'n, T>(
        &mut self,
        table: &Node<'n>,
        name: &str,
        read: impl FnOnce(&Node<'n>) -> Result<T, ConfigError>,
    ) -> Option<T> {
        let node = table.get(name)?;
        self.note(read(&node))
    }

    /// What `read` takes from a table that must have the member `name`. If not all of its keys are known, the
    /// unknown one is probably meant, and that the member is missing is not said as well.
    fn required<T: Default>(
        &mut self,
        table: &Node<'_>,
        name: &str,
        is_known: bool,
        read: impl FnOnce(&Node<'_>) -> Result<T, ConfigError>,
    ) -> T {
        if table.get(name).is_none() && !is_known {
            return T::default();
        }
        self.note(read(table)).unwrap_or_default()
    }

    /// An error with all that was noted, in the order of the file.
    fn none(self) -> Result<(), ConfigError> {
        ConfigError::of_all(self.0)
    }
}

fn server(node: &Node<'_>, folder: &Path) -> Result<ServerConfig, ConfigError> {
    node.members()?;
    let mut wrong = Wrong::default();
    let known = wrong.note(node.only(&settings::keys(&[Table::Server, Table::Http])));
    let http = wrong.note(http::read(node, folder));
    let command = match (&http, node.get("command")) {
        // Without an address, or none that can be read.
        (Some(Some(_)) | None, _) => None,
        // It is probably misspelt, and that was said.
        (Some(None), None) if known.is_none() => None,
        (Some(None), _) => wrong.note(command(node)),
    };
    let (env, pass_env) = wrong.note(environment(node)).unwrap_or_default();
    let cwd = match wrong.optional(node, "cwd", |it| it.string()) {
        Some(cwd) => folder.join(cwd),
        None => folder.to_owned(),
    };
    // The new spelling wins over the old one; the old one is still validated.
    let legacy = wrong.optional(node, "checksum", checksum);
    let block = wrong.optional(node, "verify", |it| verify(it, folder));
    let mask_nodes = wrong.optional(node, "mask", |it| it.items());
    let mask_nodes = mask_nodes.unwrap_or_default();
    let masks = mask_nodes
        .iter()
        .filter_map(|it| wrong.note(mask::read(it)));
    let masks = masks.collect();
    let words = || Level::ALL.iter().map(|it| it.word());
    let read = ServerConfig {
        command: command.unwrap_or_default(),
        http: http.flatten(),
        cwd: Some(cwd),
        env,
        pass_env,
        args: Vec::new(),
        profile: None,
        client: wrong
            .optional(node, "client", client::read)
            .unwrap_or_default(),
        era: wrong
            .optional(node, "era", |it| {
                it.word(Eras::ALL.iter().map(|it| it.word()))
            })
            .unwrap_or_default(),
        timeout: wrong
            .note(number(node, TIMEOUT))
            .flatten()
            .map(Duration::from_secs),
        repeat: wrong
            .note(number(node, REPEAT))
            .flatten()
            .and_then(|it| usize::try_from(it).ok()),
        settle: wrong
            .note(number(node, SETTLE))
            .flatten()
            .map(Duration::from_secs),
        read_resources: wrong
            .optional(node, "read-resources", |it| it.boolean())
            .unwrap_or_default(),
        masks,
        version: wrong
            .optional(node, "version", |version| {
                Ok(if version.is_array() {
                    VersionSource::Command(version.strings()?)
                } else {
                    VersionSource::parse(version.string()?)
                })
            })
            .unwrap_or(VersionSource::Auto),
        verify: block.or(legacy),
        checksum_line: node.get("checksum").map(|it| it.line()),
        sandbox: wrong.optional(node, "sandbox", |it| it.word(words())),
        sandbox_required: wrong
            .optional(node, "sandbox-required", |it| it.boolean())
            .unwrap_or_default(),
        values: BTreeMap::new(),
        uses: BTreeSet::new(),
        is_from_outside: false,
    };
    wrong.none()?;
    Ok(read)
}

fn command(node: &Node<'_>) -> Result<Vec<String>, ConfigError> {
    argv(&node.require(
        "command",
        "an array of the program and its arguments, such as [\"node\", \"dist/index.js\"], or a `url`",
    )?)
}

/// A program and its arguments.
fn argv(node: &Node<'_>) -> Result<Vec<String>, ConfigError> {
    if let Ok(line) = node.string()
        && let Some(words) = shlex::split(line).filter(|it| !it.is_empty())
    {
        let array = edit::NewValue::Texts(words).written();
        return Err(node
            .error(&format!("`{}` is a string", node.name()))
            .expecting(&format!("an array: {} = {array}", node.key())));
    }
    match node.strings()? {
        words if words.first().is_none_or(String::is_empty) => Err(node
            .error(&format!("`{}` is empty", node.key()))
            .expecting("the program and its arguments")),
        words => Ok(words),
    }
}

/// `[server.NAME.verify]`
fn verify(node: &Node<'_>, folder: &Path) -> Result<Verify, ConfigError> {
    node.only(&["type", "path", "algorithm", "value"])?;
    let kind_node = node.require("type", "\"command\", \"file\" or \"none\"")?;
    let kind: VerifyKind = kind_node.word(VerifyKind::ALL.iter().map(|it| it.word()))?;
    let refuse = |member: &str, why: &str| match node.get(member) {
        Some(found) => Err(found
            .error(&format!("`{member}` has no effect here"))
            .expecting(why)),
        None => Ok(()),
    };
    match kind {
        VerifyKind::None => {
            for member in ["path", "algorithm", "value"] {
                refuse(member, "type = \"none\" alone: nothing is verified")?;
            }
            Ok(Verify::None)
        }
        VerifyKind::Command => {
            refuse(
                "path",
                "type = \"file\" with `path`; type = \"command\" verifies the command itself",
            )?;
            Ok(Verify::Command(expected(node)?))
        }
        VerifyKind::File => {
            let path = node.require(
                "path",
                "the file to verify, relative to the folder of mcp-keel.toml",
            )?;
            let path = folder.join(path.string()?);
            Ok(Verify::File {
                path: path.strip_prefix(".").map(Path::to_owned).unwrap_or(path),
                expected: expected(node)?,
            })
        }
    }
}

/// JP's old spelling: a bare digest, which applies to the command.
fn checksum(node: &Node<'_>) -> Result<Verify, ConfigError> {
    if let Ok(value) = node.string() {
        return Ok(Verify::Command(Expected {
            algorithm: Algorithm::default(),
            value: value.to_owned(),
        }));
    }
    node.only(&["algorithm", "value"])?;
    Ok(Verify::Command(expected(node)?))
}

fn expected(node: &Node<'_>) -> Result<Expected, ConfigError> {
    Ok(Expected {
        algorithm: match node.get("algorithm") {
            Some(found) => found.word(Algorithm::ALL.iter().map(|it| it.word()))?,
            None => Algorithm::default(),
        },
        value: node
            .require(
                "value",
                "the digest in hexadecimal digits, as printed by `sha256sum FILE`",
            )?
            .string()?
            .to_owned(),
    })
}

/// Variables that are set for the server, and those of mcp-keel's environment that are passed to
/// it.
fn environment(
    node: &Node<'_>,
) -> Result<(BTreeMap<String, String>, BTreeSet<String>), ConfigError> {
    let mut wrong = Wrong::default();
    let mut env = BTreeMap::new();
    let set = wrong.optional(node, "env", |it| it.members());
    for (name, value) in set.unwrap_or_default() {
        if let Some(value) = wrong.note(value.string()) {
            env.insert(name, value.to_owned());
        }
    }
    let pass_env = wrong.optional(node, "pass-env", |it| it.strings());
    if let (Some(found), Some(list)) = (node.get("pass-env"), &pass_env)
        && let Some(name) = list.iter().find(|it| it.contains(['*', '?']))
    {
        wrong.0.push(
            found
                .error(&format!("`{name}` is a pattern"))
                .expecting("the name of each variable, so that nothing is passed on by accident"),
        );
    }
    wrong.none()?;
    Ok((env, pass_env.unwrap_or_default().into_iter().collect()))
}

/// The value of a numeric setting in a table, if set.
fn number(table: &Node<'_>, setting: &Setting) -> Result<Option<u64>, ConfigError> {
    let Some(node) = table.get(setting.name) else {
        return Ok(None);
    };
    let found = node.integer()?.to_string();
    match setting.check(&found) {
        Ok(()) => Ok(found.parse().ok()),
        Err(expected) => {
            let expected = expected.trim_start_matches("expected ");
            Err(node.error("out of range").expecting(expected))
        }
    }
}

fn read_policy(node: &Node<'_>) -> Result<Policy, ConfigError> {
    let mut policy = Policy::default();
    let preset = |node: &Node<'_>| node.word(Preset::ALL.iter().map(|it| it.word()));
    // `policy = "strict"`, where nothing else is set.
    if node.string().is_ok() {
        policy.preset = preset(node)?;
        return Ok(policy);
    }
    node.members()?;
    let mut wrong = Wrong::default();
    wrong.note(node.only(&settings::keys(&[Table::Policy])));
    policy.preset = wrong
        .optional(node, "preset", preset)
        .unwrap_or(policy.preset);
    let enforcement = |it: &Node<'_>| it.word(Enforcement::ALL.iter().map(|it| it.word()));
    policy.enforcement = wrong
        .optional(node, "enforcement", enforcement)
        .unwrap_or(policy.enforcement);
    let unknown = |it: &Node<'_>| it.word::<Unknown>(Unknown::ALL.iter().map(|it| it.word()));
    policy.unknown = wrong.optional(node, "unknown", unknown);
    let fail_on = |it: &Node<'_>| it.word(FailOn::ALL.iter().map(|it| it.word()));
    policy.fail_on = wrong.optional(node, "fail-on", fail_on);
    let exposure = |it: &Node<'_>| it.word(Exposure::ALL.iter().map(|it| it.word()));
    policy.fail_on_exposure = wrong.optional(node, "fail-on-exposure", exposure);
    policy.require_version_bump = wrong
        .optional(node, "require-version-bump", |it| it.boolean())
        .unwrap_or(policy.require_version_bump);
    let mut count = |setting| {
        let found = wrong.note(number(node, setting)).flatten();
        found.and_then(|it| usize::try_from(it).ok())
    };
    policy.context_limit = count(settings::CONTEXT_LIMIT);
    policy.context_growth = count(settings::CONTEXT_GROWTH);
    if let Some(node) = node.get("rules") {
        let known: Vec<&str> = RuleId::all().map(RuleId::id).collect();
        wrong.note(node.only_of("rule", &known, "`mcp-keel rules` lists them"));
        for (rule, setting) in node.members().unwrap_or_default() {
            let setting = setting.word::<RuleSetting>(RuleSetting::WORDS.into_iter());
            if let (Some(setting), Ok(rule)) = (wrong.note(setting), rule.parse()) {
                policy.rules.insert(rule, setting);
            }
        }
    }
    wrong.none()?;
    Ok(policy)
}

fn acceptance(node: &Node<'_>) -> Result<Acceptance, ConfigError> {
    node.members()?;
    let mut wrong = Wrong::default();
    let is_known = node.only(&["change", "reason", "owner", "expires"]);
    let is_known = wrong.note(is_known).is_some();
    let read = Acceptance {
        change: wrong.required(node, "change", is_known, change_id),
        reason: wrong.required(node, "reason", is_known, |it| {
            said(it, "reason", "why the change is accepted")
        }),
        owner: wrong.required(node, "owner", is_known, |it| {
            said(it, "owner", "the owner, such as \"@team\"")
        }),
        expires: wrong.optional(node, "expires", |it| {
            let (year, month, day) = it.date()?;
            Ok(Date { year, month, day })
        }),
        line: node.line(),
    };
    wrong.none()?;
    Ok(read)
}

fn rejection(node: &Node<'_>) -> Result<Rejection, ConfigError> {
    node.members()?;
    let mut wrong = Wrong::default();
    let is_known = wrong.note(node.only(&["change", "reason", "owner"]));
    let is_known = is_known.is_some();
    let owner = "who rejected it, such as \"@team\"";
    let read = Rejection {
        change: wrong.required(node, "change", is_known, change_id),
        reason: wrong.required(node, "reason", is_known, |it| {
            said(it, "reason", "why the change is rejected")
        }),
        owner: wrong.optional(node, "owner", |_| said(node, "owner", owner)),
        line: node.line(),
    };
    wrong.none()?;
    Ok(read)
}

/// `change` of an entry: the id of a change.
fn change_id(node: &Node<'_>) -> Result<String, ConfigError> {
    let change_node = node.require("change", "the id of a change, as a report shows it")?;
    let change = change_node.string()?;
    if !crate::drift::is_change_id(change) {
        return Err(change_node
            .error(&format!("`{change}` is not the id of a change"))
            .expecting(
                "all of its 32 hexadecimal digits, as `mcp-keel check --format json` shows them",
            ));
    }
    Ok(change.to_owned())
}

/// A text of an entry that must not be empty.
fn said(node: &Node<'_>, name: &str, expected: &str) -> Result<String, ConfigError> {
    let node = node.require(name, expected)?;
    match node.string()?.trim() {
        "" => Err(node
            .error(&format!("`{name}` is empty"))
            .expecting(expected)),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests;
