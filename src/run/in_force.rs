//! The settings in force, and where each of them comes from: what `mcp-keel config` prints.
//!
//! Servers and policy are resolved as for a check, so that the same errors are reported.

use std::path::PathBuf;

use super::Error;
use super::check::CheckRequest;
use super::observer::Observer;
use super::plan::{self, Target};
use super::shards;
use super::suggested_command::{is_default_of_action, shown};
use crate::capture::Endpoint;
use crate::config::{Config, WrittenValue};
use crate::settings::{self, ALL, Given, Origin, Setting, Table, Unset, ValueKind};

/// Everything that applies to a run.
pub(crate) struct SettingsInForce {
    /// The configuration file, if any.
    pub(crate) config: Option<PathBuf>,
    /// Settings of the run.
    pub(crate) run: Vec<InForce>,
    /// Settings of each server, by its name.
    pub(crate) servers: Vec<(String, Vec<InForce>)>,
}

pub(crate) struct InForce {
    pub(crate) setting: &'static Setting,
    /// Its values, which may come from several places.
    pub(crate) values: Vec<Value>,
}

/// A value as it may be shown.
pub(crate) struct Value {
    pub(crate) text: String,
    /// Whether the text describes the value, which is only known later.
    pub(crate) is_description: bool,
    pub(crate) source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Not set anywhere.
    Default,
    /// Set by `action.yml` itself.
    ActionDefault,
    /// A line of the configuration.
    File { path: PathBuf, line: usize },
    /// A client or registry file named by `from`.
    ServerList,
    /// The command line.
    Flag,
    /// An input of the action.
    Input,
}

/// The settings that apply with these given.
pub(crate) fn settings_in_force(
    given: &Given,
    observer: &dyn Observer,
) -> Result<SettingsInForce, Error> {
    let request = CheckRequest::new(given);
    let config = plan::config(request.server.config.as_deref())?;
    let has_servers = config.is_some()
        || !request.server.command.is_empty()
        || request.server.url.is_some()
        || !request.server.from.is_empty();
    let targets = if has_servers {
        let plan = plan::resolve(&request.server, Some(&request.policy), observer)?;
        shards::cut(plan, &request.shard)?.targets
    } else {
        Vec::new()
    };
    let of_run = ALL.iter().filter(|it| !is_of_a_server(it));
    let layers = Layers {
        given,
        config: config.as_ref(),
    };
    Ok(SettingsInForce {
        run: of_run.filter_map(|it| layers.of_run(it)).collect(),
        servers: targets
            .iter()
            .map(|target| {
                let of_server = ALL.iter().filter(|it| is_of_a_server(it));
                let in_force = of_server.filter_map(|it| layers.of_server(it, target));
                (target.name.clone(), in_force.collect())
            })
            .collect(),
        config: config.map(|it| it.written.path),
    })
}

/// Whether a setting can differ from server to server.
fn is_of_a_server(setting: &Setting) -> bool {
    let table = setting.key.map(|it| it.table);
    matches!(table, Some(Table::Server | Table::Http | Table::Client))
}

/// What can set a value.
struct Layers<'a> {
    given: &'a Given,
    config: Option<&'a Config>,
}

impl Layers<'_> {
    fn of_run(&self, setting: &'static Setting) -> Option<InForce> {
        let by_action = self.given.origin() == Origin::Input;
        // Tables whose members are settings of their own.
        let is_around_others = [settings::SERVER_TABLES.name, settings::POLICY_TABLE.name];
        if is_around_others.contains(&setting.name) {
            return None;
        }
        let is_only_an_input = setting.flag.is_none() && setting.key.is_none();
        // The format of this listing is its own.
        if (is_only_an_input || setting.name == settings::FORMAT.name) && !by_action {
            return None;
        }
        if setting.name == settings::CONFIG.name && !self.given.has(setting) {
            let found = self.config.map(|it| it.written.path.to_string_lossy());
            let text = found.map_or_else(|| "none".to_owned(), |it| it.into_owned());
            return Some(InForce {
                setting,
                values: vec![Value {
                    is_description: self.config.is_none(),
                    text,
                    source: Source::Default,
                }],
            });
        }
        let key = setting.key.filter(|key| {
            // A flag replaces all of it.
            let is_replaced = key.name == settings::UNKNOWN.name
                && self.given.has(settings::ENFORCEMENT)
                && !self.given.has(settings::UNKNOWN);
            !is_replaced
        });
        let written = match key.map(|it| (it.table, it.name)) {
            Some((Table::Policy, name)) => match self.written(setting, &["policy", name]) {
                // `policy = "strict"`
                none if none.is_empty() && setting.name == settings::POLICY.name => {
                    let mut preset = self.written(setting, &["policy"]);
                    // Not the table that has other keys.
                    preset.retain(|it| !it.is_description);
                    preset
                }
                written => written,
            },
            Some((_, name)) => self.written(setting, &[name]),
            None => Vec::new(),
        };
        self.resolved(setting, vec![written])
    }

    fn of_server(&self, setting: &'static Setting, target: &Target) -> Option<InForce> {
        let key = setting.key?;
        if setting.name == settings::PROFILES.name {
            return None;
        }
        let mut written = Vec::new();
        if self.counts(setting) {
            let server = target.configured_as.as_str();
            let inner: &[&str] = match key.table {
                Table::Client => &["client", key.name],
                _ => &[key.name],
            };
            written.push(self.written(setting, &[&["server", server], inner].concat()));
            if let Some(profile) = &target.profile {
                let start = ["server", server, "profile", profile.profile.as_str()];
                written.push(self.written(setting, &[&start, inner].concat()));
                written.push(self.written(setting, &[&start[..], &[key.name]].concat()));
            }
        }
        if written.iter().all(Vec::is_empty) {
            written.push(self.listed(setting, target));
        }
        let in_force = self.resolved(setting, written)?;
        let is_default = in_force
            .values
            .iter()
            .all(|it| it.source == Source::Default);
        let has_no_meaning = match (&target.endpoint, target.endpoint.launch()) {
            (Endpoint::Http(_), None) => key.table == Table::Server && is_of_a_process(setting),
            (Endpoint::Http(_), Some(_)) => setting.name == settings::COMMAND.name,
            _ => key.table == Table::Http,
        };
        (!is_default || !has_no_meaning).then_some(in_force)
    }

    /// Whether the configuration of a server applies: not with an explicit server list, and for a
    /// server on the command line only what is not about how it is reached.
    fn counts(&self, setting: &Setting) -> bool {
        let typed_url = self.given.has(settings::URL);
        let typed = typed_url || self.given.has(settings::COMMAND);
        let is_reached_by = setting.key.is_some_and(|it| it.table == Table::Http)
            || [settings::COMMAND.name, settings::CWD.name].contains(&setting.name);
        let is_verified = [settings::VERIFY.name, settings::CHECKSUM.name].contains(&setting.name);
        let nothing_is_started = typed_url && !self.given.has(settings::START);
        !(self.given.has(settings::FROM)
            || typed && is_reached_by
            || nothing_is_started && is_verified)
    }

    /// What a client's file sets for a server that is not in the configuration.
    fn listed(&self, setting: &Setting, target: &Target) -> Vec<Value> {
        let is_configured = self
            .config
            .is_some_and(|it| it.servers.contains_key(&target.name));
        let is_typed = self.given.has(settings::URL) || self.given.has(settings::COMMAND);
        if is_typed || is_configured && !self.given.has(settings::FROM) {
            return Vec::new();
        }
        let texts: Vec<String> = match (setting.name, &target.endpoint, target.endpoint.launch()) {
            (name, Endpoint::Stdio(launch), _) if name == settings::COMMAND.name => {
                vec![joined(&launch.command)]
            }
            (name, Endpoint::Http(http), _) if name == settings::URL.name => {
                vec![http.url.place().to_string()]
            }
            (name, _, Some(launch)) if name == settings::ENV.name => {
                let typed = self.given.pairs(setting);
                let env = launch.env.iter();
                env.filter(|(name, _)| !typed.iter().any(|it| it.0 == **name))
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect()
            }
            _ => Vec::new(),
        };
        let value = |text: String| Value {
            text: shown(setting, &text),
            is_description: false,
            source: Source::ServerList,
        };
        texts.into_iter().map(value).collect()
    }

    /// What the configuration sets at these keys.
    fn written(&self, setting: &Setting, keys: &[&str]) -> Vec<Value> {
        let Some(written) = self.config.map(|it| &it.written) else {
            return Vec::new();
        };
        let Some((line, value)) = written.get(keys) else {
            return Vec::new();
        };
        let (texts, is_description) = match (value, setting.kind) {
            (WrittenValue::Texts(texts), ValueKind::Command) => (vec![joined(texts)], false),
            (WrittenValue::Texts(texts), ValueKind::List) => (vec![texts.join(",")], false),
            (WrittenValue::Texts(texts), ValueKind::Table(_)) => (vec![joined(texts)], false),
            (WrittenValue::Texts(texts), _) => (texts.clone(), false),
            (WrittenValue::Pairs(pairs), ValueKind::Pairs | ValueKind::Headers) => {
                let between = if matches!(setting.kind, ValueKind::Pairs) {
                    "="
                } else {
                    ": "
                };
                let pairs = pairs.iter();
                let pairs = pairs.map(|(name, value)| format!("{name}{between}{value}"));
                (pairs.collect(), false)
            }
            (WrittenValue::Pairs(pairs), _) => (vec![entries(pairs.len())], true),
            (WrittenValue::Entries(count), _) => (vec![entries(*count)], true),
        };
        let source = Source::File {
            path: written.path.clone(),
            line,
        };
        let value = |text: String| Value {
            text: shown(setting, &text),
            is_description,
            source: source.clone(),
        };
        texts.into_iter().map(value).collect()
    }

    /// What was set by flags or inputs.
    fn typed(&self, setting: &Setting) -> Vec<Value> {
        let texts = match setting.kind {
            ValueKind::Command if setting.name == settings::COMMAND.name => {
                let words = self.given.texts(setting);
                Some(joined(&words))
                    .filter(|it| !it.is_empty())
                    .into_iter()
                    .collect()
            }
            _ => self.given.texts(setting),
        };
        let source = match self.given.origin() {
            Origin::Flag => Source::Flag,
            Origin::Input if is_default_of_action(self.given, setting) => Source::ActionDefault,
            Origin::Input => Source::Input,
        };
        let value = |text: String| Value {
            text: shown(setting, &text),
            is_description: false,
            source: source.clone(),
        };
        texts.into_iter().map(value).collect()
    }

    /// The values that win, of those written from the least to the most specific place and those
    /// given; else the default. `None` for a setting that is only worth showing if set.
    fn resolved(&self, setting: &'static Setting, written: Vec<Vec<Value>>) -> Option<InForce> {
        let mut layers = written;
        layers.push(self.typed(setting));
        let mut values: Vec<Value> = Vec::new();
        for layer in layers.into_iter().filter(|it| !it.is_empty()) {
            let name = |value: &Value| match setting.kind {
                ValueKind::Pairs => value.text.split('=').next().map(str::to_owned),
                ValueKind::Headers => value.text.split(':').next().map(str::to_ascii_lowercase),
                _ => Some(value.text.clone()),
            };
            let is_floor = setting.name == settings::SANDBOX.name
                && matches!(layer[0].source, Source::Input | Source::ActionDefault);
            match setting.kind {
                ValueKind::Pairs | ValueKind::Headers | ValueKind::Names => {
                    let named: Vec<_> = layer.iter().map(name).collect();
                    values.retain(|it| !named.contains(&name(it)));
                    values.extend(layer);
                }
                // The configuration may raise what the workflow sets, not lower it.
                _ if is_floor && rank(setting, &values) > rank(setting, &layer) => {}
                _ => values = layer,
            }
        }
        if values.is_empty() {
            let is_only_a_key = setting.flag.is_none() && setting.input.is_none();
            let default = match setting.unset {
                Unset::Nothing => None,
                Unset::Value(text) => Some((text, false)),
                Unset::InWords(text) => Some((text, true)),
            };
            if is_only_a_key && !matches!(setting.kind, ValueKind::Switch) {
                return None;
            }
            values.extend(default.map(|(text, is_description)| Value {
                text: text.to_owned(),
                is_description,
                source: Source::Default,
            }));
        }
        Some(InForce { setting, values })
    }
}

/// Whether a setting is about a process that is started.
fn is_of_a_process(setting: &Setting) -> bool {
    let names = [
        settings::COMMAND.name,
        settings::SANDBOX.name,
        settings::SANDBOX_REQUIRED.name,
    ];
    names.contains(&setting.name)
}

/// The position of a value among the words of its setting.
fn rank(setting: &Setting, values: &[Value]) -> Option<usize> {
    let text = &values.first()?.text;
    setting.words().iter().position(|it| it.name == text)
}

fn joined(words: &[String]) -> String {
    let words = words.iter().map(String::as_str);
    shlex::try_join(words.clone()).unwrap_or_else(|_| words.collect::<Vec<_>>().join(" "))
}

fn entries(count: usize) -> String {
    match count {
        1 => "1 entry".to_owned(),
        _ => format!("{count} entries"),
    }
}
