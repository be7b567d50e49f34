//! The settings of mcp-keel: one table with an entry for every configuration key, every action input
//! and every flag that several commands share. A flag of a single command is in `cli::args`.
//!
//! This room promises:
//!
//! - **One source.** The command-line flags, the keys of `mcp-keel.toml` and its JSON Schema, the
//!   inputs of the two actions, the tables in the documentation and the command that a report
//!   suggests are all generated from [`ALL`].
//! - **Pure data.** Nothing here reads a file, the environment or the command line, or depends on
//!   clap.
//!
//! To add a setting, add an entry to `table.rs` and use it (`Given::number(TIMEOUT)` and the like);
//! `MCP_KEEL_UPDATE=1 cargo test` writes the rest.

mod given;
mod table;

pub use given::{Given, Origin};
pub use table::*;

#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, which is also that of its flag, key and input unless they override it.
    pub name: &'static str,
    /// Where it is listed.
    pub group: Group,
    pub kind: ValueKind,
    pub flag: Option<Flag>,
    pub key: Option<Key>,
    pub input: Option<Input>,
    /// What applies if it is not set.
    pub unset: Unset,
    /// One line, for `--help`, `action.yml` and the documentation. Flags are written as flags.
    pub help: &'static str,
    /// More sentences for the documentation, in Markdown.
    pub details: &'static str,
    /// How much of a value may be shown.
    pub secrecy: Secrecy,
}

/// The headings under which settings are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Which servers, and how they are started.
    Server,
    /// How a server is reached over HTTP.
    Http,
    /// How a server is captured.
    Capture,
    Sandbox,
    /// Many servers in one run.
    Fleet,
    /// What fails.
    Policy,
    /// Where the report goes.
    Output,
    /// What the action posts.
    GitHub,
}

impl Group {
    /// In the order in which they are listed.
    pub const ALL: &'static [Self] = &[
        Self::Server,
        Self::Http,
        Self::Capture,
        Self::Sandbox,
        Self::Fleet,
        Self::Policy,
        Self::Output,
        Self::GitHub,
    ];

    pub const fn heading(self) -> &'static str {
        match self {
            Self::Server => "Server",
            Self::Http => "HTTP",
            Self::Capture => "Capture",
            Self::Sandbox => "Sandbox",
            Self::Fleet => "Fleet",
            Self::Policy => "Policy",
            Self::Output => "Output",
            Self::GitHub => "GitHub",
        }
    }
}

/// The type of a setting.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    Switch,
    Text,
    File,
    Files,
    /// An integer in a range.
    Number {
        from: u64,
        to: u64,
    },
    /// One of a fixed set of words.
    Word(&'static [Word]),
    Names,
    /// Names in one string, separated by commas.
    List,
    /// `NAME=VALUE`; a table in the configuration.
    Pairs,
    /// `Name: value`; a table in the configuration.
    Headers,
    /// A program and its arguments: an array in the configuration, elsewhere split like a POSIX
    /// shell does.
    Command,
    /// `I/N`, with N at most [`MOST_PARTS`].
    Part,
    /// `FORMAT=FILE`
    Reports,
    /// Only in the configuration, and made of more than one value; described in words.
    Table(&'static str),
}

impl ValueKind {
    /// Whether it can be set more than once.
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Files | Self::Names | Self::List | Self::Pairs | Self::Headers | Self::Reports
        )
    }
}

/// The maximum number of jobs in a GitHub Actions matrix.
pub const MOST_PARTS: u16 = 256;

#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub name: &'static str,
    /// Accepted, but not listed.
    pub hidden: bool,
}

const fn word(name: &'static str) -> Word {
    Word {
        name,
        hidden: false,
    }
}

const fn hidden_word(name: &'static str) -> Word {
    Word { name, hidden: true }
}

#[derive(Clone, Copy, Debug)]
pub struct Flag {
    pub scope: Scope,
    pub form: Form,
    /// The placeholder for its value in the help.
    pub value: &'static str,
    /// Settings that cannot be combined with it.
    pub conflicts: &'static [&'static str],
    /// A setting without which it has no effect.
    pub requires: Option<&'static str>,
}

/// How a setting is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `--name`
    Long,
    /// `-n`, `--name`
    Short(char),
    /// A positional argument.
    Positional,
    /// Everything after `--`.
    Trailing,
}

/// Commands that take the same settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every command that takes servers.
    Server,
    /// Every command that can start a server, also as a source.
    Sandbox,
    /// `check` and `pin`
    Source,
    /// `check` and `pin`
    Jobs,
    /// `check`
    Part,
    /// `check` and `plan`
    Timings,
    /// `check` and `diff`
    Policy,
    /// Every command that prints a report.
    Report,
    /// The format of that report.
    ReportFormat,
}

/// A setting in `mcp-keel.toml`.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub table: Table,
    pub name: &'static str,
    /// Its type in words, if that differs from the setting's.
    pub type_in_words: Option<&'static str>,
    /// Its default in words, if that differs from the flag's.
    pub unset: Option<&'static str>,
}

/// The tables of `mcp-keel.toml` whose keys are settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Top,
    /// `[server.NAME]`
    Server,
    /// `[server.NAME]`, for a server over HTTP.
    Http,
    /// `client` in `[server.NAME]`
    Client,
    /// `[policy]`
    Policy,
}

/// A setting as an input of the action.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    pub name: &'static str,
    pub split: Split,
    /// The default in `action.yml`, if the action's differs from that of `check`.
    pub default: Option<&'static str>,
    /// An additional remark.
    pub note: &'static str,
}

/// How the value of an input is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// One value.
    Whole,
    /// One value per line.
    Lines,
    /// Separated by spaces, commas or lines.
    Words,
    /// As a POSIX shell splits words.
    Shell,
}

/// What applies to a setting that is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unset {
    Nothing,
    Value(&'static str),
    /// Described in words.
    InWords(&'static str),
}

impl Unset {
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Value(text) | Self::InWords(text) => Some(text),
        }
    }
}

/// How much of a value may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    Plain,
    /// A URL without the values of its query.
    Url,
    /// A header; its value is shown only if it is the name of a variable.
    Header,
    /// A URL without its credentials.
    Proxy,
    /// `NAME=VALUE`; the value is shown unless it looks like a secret.
    Variable,
    /// `ID=VALUE`; the value is never shown.
    Answer,
    /// Nothing.
    Hidden,
}

impl Setting {
    const fn new(name: &'static str, group: Group, kind: ValueKind, help: &'static str) -> Self {
        Self {
            name,
            group,
            kind,
            flag: None,
            key: None,
            input: None,
            unset: Unset::Nothing,
            help,
            details: "",
            secrecy: Secrecy::Plain,
        }
    }

    const fn flag(mut self, scope: Scope, value: &'static str) -> Self {
        self.flag = Some(Flag {
            scope,
            form: Form::Long,
            value,
            conflicts: &[],
            requires: None,
        });
        self
    }

    const fn typed_as(mut self, form: Form) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.form = form;
        }
        self
    }

    const fn conflicts(mut self, conflicts: &'static [&'static str]) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.conflicts = conflicts;
        }
        self
    }

    const fn requires(mut self, other: &'static str) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.requires = Some(other);
        }
        self
    }

    const fn key(self, table: Table) -> Self {
        let name = self.name;
        self.key_named(table, name)
    }

    const fn key_named(mut self, table: Table, name: &'static str) -> Self {
        self.key = Some(Key {
            table,
            name,
            type_in_words: None,
            unset: None,
        });
        self
    }

    const fn key_type(mut self, type_in_words: &'static str) -> Self {
        if let Some(key) = &mut self.key {
            key.type_in_words = Some(type_in_words);
        }
        self
    }

    const fn key_unset(mut self, unset: &'static str) -> Self {
        if let Some(key) = &mut self.key {
            key.unset = Some(unset);
        }
        self
    }

    const fn input(self) -> Self {
        let name = self.name;
        self.input_named(name)
    }

    const fn input_named(mut self, name: &'static str) -> Self {
        self.input = Some(Input {
            name,
            split: match self.kind {
                ValueKind::Files | ValueKind::Pairs | ValueKind::Headers | ValueKind::Reports => {
                    Split::Lines
                }
                ValueKind::Names => Split::Words,
                _ => Split::Whole,
            },
            default: None,
            note: "",
        });
        self
    }

    const fn input_split(mut self, split: Split) -> Self {
        if let Some(input) = &mut self.input {
            input.split = split;
        }
        self
    }

    const fn input_default(mut self, default: &'static str) -> Self {
        if let Some(input) = &mut self.input {
            input.default = Some(default);
        }
        self
    }

    const fn input_note(mut self, note: &'static str) -> Self {
        if let Some(input) = &mut self.input {
            input.note = note;
        }
        self
    }

    const fn unset(mut self, value: &'static str) -> Self {
        self.unset = Unset::Value(value);
        self
    }

    const fn unset_means(mut self, text: &'static str) -> Self {
        self.unset = Unset::InWords(text);
        self
    }

    const fn details(mut self, details: &'static str) -> Self {
        self.details = details;
        self
    }

    const fn secrecy(mut self, secrecy: Secrecy) -> Self {
        self.secrecy = secrecy;
        self
    }

    /// What to type to set it.
    pub fn typed(&self) -> String {
        match self.flag {
            Some(flag) if flag.form == Form::Positional => flag.value.to_owned(),
            Some(flag) if flag.form == Form::Trailing => format!("-- {}", flag.value),
            _ => format!("--{}", self.name),
        }
    }

    /// Its possible values, if they are a fixed set of words.
    pub const fn words(&self) -> &'static [Word] {
        match self.kind {
            ValueKind::Word(words) => words,
            _ => &[],
        }
    }

    /// Its listed words, without those that are only accepted.
    pub fn listed_words(&self) -> Vec<&'static str> {
        let listed = self.words().iter().filter(|it| !it.hidden);
        listed.map(|it| it.name).collect()
    }

    /// Validates a value, as far as its type shows.
    pub fn check(&self, value: &str) -> Result<(), String> {
        match self.kind {
            ValueKind::Number { from, to } => match value.parse::<u64>() {
                Ok(number) if (from..=to).contains(&number) => Ok(()),
                _ => Err(format!("expected an integer from {from} to {to}")),
            },
            ValueKind::Word(words) if words.iter().any(|it| it.name == value) => Ok(()),
            ValueKind::Word(_) => Err(format!("expected {}", self.listed_words().join(", "))),
            ValueKind::Switch if !matches!(value, "true" | "false") => {
                Err("expected true or false".to_owned())
            }
            ValueKind::Part => part(value).map(drop),
            // The text may be a secret, so it is not repeated.
            ValueKind::Pairs if value.split_once('=').is_none_or(|it| it.0.is_empty()) => {
                let form = self.flag.map_or("NAME=VALUE", |it| it.value);
                Err(match self.name {
                    "env" => format!(
                        "expected {form}; --pass-env NAME passes a variable that is set here"
                    ),
                    _ => format!("expected {form}"),
                })
            }
            ValueKind::Reports => report_file(value).map(drop),
            _ => Ok(()),
        }
    }
}

/// `2/4`: the second of four parts.
pub fn part(text: &str) -> Result<(usize, usize), String> {
    let read = || -> Option<(usize, usize)> {
        let (index, of) = text.split_once('/')?;
        let (index, of) = (index.parse().ok()?, of.parse().ok()?);
        (1 <= index && index <= of && of <= usize::from(MOST_PARTS)).then_some((index, of))
    };
    read().ok_or_else(|| format!("expected I/N, such as 1/4, with N at most {MOST_PARTS}"))
}

/// `json=report.json`: a format and a file.
pub fn report_file(text: &str) -> Result<(&str, &str), String> {
    let Some((format, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err("expected FORMAT=FILE, such as json=report.json".to_owned());
    };
    let known = FORMAT.listed_words();
    if known.contains(&format) {
        return Ok((format, path));
    }
    let help = match suggestion(format, known.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("known: {}", known.join(", ")),
    };
    Err(format!("there is no format `{format}`; {help}"))
}

/// The known word that was probably meant.
pub fn suggestion<'w>(found: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    known
        .map(|word| (strsim::jaro_winkler(found, word), word))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, word)| word)
}

/// The settings of these commands' flags, in table order.
pub fn in_scopes(scopes: &[Scope]) -> impl Iterator<Item = &'static Setting> {
    let of_scope = |it: &&Setting| it.flag.is_some_and(|flag| scopes.contains(&flag.scope));
    ALL.iter().copied().filter(of_scope)
}

/// The keys of these tables, in the order of the settings.
pub fn keys(tables: &[Table]) -> Vec<&'static str> {
    let keys = ALL.iter().filter_map(|it| it.key);
    keys.filter(|key| tables.contains(&key.table))
        .map(|key| key.name)
        .collect()
}

/// Whether the action has an input of this name.
pub(crate) fn is_input(name: &str) -> bool {
    inputs().any(|(_, input)| input.name == name)
}

/// The settings that are inputs of the action.
pub fn inputs() -> impl Iterator<Item = (&'static Setting, Input)> {
    ALL.iter().filter_map(|it| Some((*it, it.input?)))
}
