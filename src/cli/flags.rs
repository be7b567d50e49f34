//! Settings of the table as command-line flags.
//!
//! A command names the scopes of settings that it takes; name, value, help and heading of each flag
//! come from the table.

use std::ffi::OsString;
use std::marker::PhantomData;

use clap::builder::{
    OsStringValueParser, PossibleValue, PossibleValuesParser, RangedU64ValueParser,
    StringValueParser, TypedValueParser as _, ValueParser,
};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::settings::{Form, Given, Origin, SERVERS, Scope, Setting, Unset, ValueKind, in_scopes};

/// Which settings a command takes.
pub(super) trait Takes {
    const SCOPES: &'static [Scope];
    /// Whether servers are named by position.
    const NAMES: bool = true;

    fn settings() -> impl Iterator<Item = &'static Setting> {
        in_scopes(Self::SCOPES).filter(|it| Self::NAMES || it.name != SERVERS.name)
    }
}

/// Commands by the settings that they take.
macro_rules! takes {
    ($($name:ident: $($scope:ident),+;)+) => {
        $(
            #[derive(Debug)]
            pub(super) enum $name {}

            impl Takes for $name {
                const SCOPES: &'static [Scope] = &[$(Scope::$scope),+];
            }
        )+
    };
}

takes! {
    OfCheck: Server, Source, Sandbox, Jobs, Part, Timings, Policy, ReportFormat, Report;
    OfConfig: Server, Sandbox, Jobs, Part, Timings, Policy, Report;
    OfPin: Server, Source, Sandbox, Jobs, ReportFormat, Report;
    OfServers: Server, Sandbox;
    OfPlan: Server, Sandbox, Timings;
    OfDiff: Sandbox, Policy, ReportFormat, Report;
    OfSource: Sandbox;
    OfPending: Server, Sandbox, Jobs;
    OfReport: ReportFormat, Report;
}

/// `accept` and `reject`, whose positional arguments are ids.
#[derive(Debug)]
pub(super) enum OfDecide {}

impl Takes for OfDecide {
    const SCOPES: &'static [Scope] = OfPending::SCOPES;
    const NAMES: bool = false;
}

/// The settings that were typed, of those that a command takes.
#[derive(Debug)]
pub(super) struct Flags<T> {
    pub(super) given: Given,
    of: PhantomData<T>,
}

impl<T: Takes> Args for Flags<T> {
    fn augment_args(command: Command) -> Command {
        // When the command is used: a run needs the flags of one command only.
        command.defer(|command| {
            let taken: Vec<&Setting> = T::settings().collect();
            let is_taken = |name: &str| taken.iter().any(|it| it.name == name);
            command.args(taken.iter().filter_map(|it| arg(it, &is_taken)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Takes> FromArgMatches for Flags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Given::new(Origin::Flag);
        for setting in T::settings() {
            // Switches have a value even if they were not typed.
            if matches.value_source(setting.name) != Some(ValueSource::CommandLine) {
                continue;
            }
            let values = match setting.kind {
                ValueKind::Switch => vec![OsString::from("true")],
                _ => {
                    let values = matches.get_many::<OsString>(setting.name);
                    values.into_iter().flatten().cloned().collect()
                }
            };
            given.set(setting, values);
        }
        Ok(Self {
            given,
            of: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A setting as a clap argument; `None` if it is not a flag.
fn arg(setting: &'static Setting, is_taken: &dyn Fn(&str) -> bool) -> Option<Arg> {
    let flag = setting.flag?;
    let arg = Arg::new(setting.name).help(help(setting));
    let arg = match flag.form {
        Form::Positional => arg,
        Form::Trailing => arg.last(true),
        Form::Long => arg.long(setting.name),
        Form::Short(letter) => arg.long(setting.name).short(letter),
    };
    let arg = match flag.form {
        Form::Positional | Form::Trailing => arg.num_args(1..),
        _ => arg.help_heading(setting.group.heading()),
    };
    let arg = match setting.kind {
        ValueKind::Switch => return Some(arg.action(ArgAction::SetTrue)),
        kind if kind.repeats() || flag.form == Form::Trailing => arg.action(ArgAction::Append),
        _ => arg.action(ArgAction::Set),
    };
    let conflicts = flag.conflicts.iter().filter(|it| is_taken(it));
    let requires = flag.requires.filter(|it| is_taken(it));
    let arg = arg
        .value_name(flag.value)
        .value_parser(parser(setting))
        .conflicts_with_all(conflicts);
    Some(match requires {
        Some(other) => arg.requires(other),
        None => arg,
    })
}

fn help(setting: &Setting) -> String {
    let repeated = match setting.flag {
        Some(flag) if flag.form != Form::Long || matches!(setting.kind, ValueKind::List) => "",
        Some(_) if setting.kind.repeats() => " (repeatable)",
        _ => "",
    };
    let default = match setting.unset {
        // A switch is off by default, which need not be said.
        Unset::Value(_) | Unset::InWords(_) if matches!(setting.kind, ValueKind::Switch) => None,
        unset => unset.text(),
    };
    let default = default.map_or_else(String::new, |it| format!(" [default: {it}]"));
    format!("{}{repeated}{default}", setting.help)
}

/// Parses a value, and knows what to list and to suggest.
fn parser(setting: &'static Setting) -> ValueParser {
    match setting.kind {
        ValueKind::Number { from, to } => RangedU64ValueParser::<u64>::new()
            .range(from..=to)
            .map(|number| OsString::from(number.to_string()))
            .into(),
        ValueKind::Word(words) => {
            let word = |it: &crate::settings::Word| PossibleValue::new(it.name).hide(it.hidden);
            PossibleValuesParser::new(words.iter().map(word))
                .map(OsString::from)
                .into()
        }
        ValueKind::File | ValueKind::Files => OsStringValueParser::new().into(),
        _ => StringValueParser::new()
            .try_map(|text| setting.check(&text).map(|()| OsString::from(text)))
            .into(),
    }
}
