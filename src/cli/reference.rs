//! The commands that only print: rules, explain, schema, completions, man.

use super::args::{RulesFormat, SchemaName};
use super::output::{self, Color};
use crate::canonical::to_pretty;
use crate::config::suggestion;
use crate::report;
use crate::rules::RuleId;
use crate::run::{Error, Exit};

pub(super) fn rules(format: RulesFormat) -> Result<Exit, Error> {
    let style = output::style(Color::Auto);
    output::print(&match format {
        RulesFormat::Terminal => report::rules::table(style),
        RulesFormat::Json => to_pretty(&report::rules::to_json()) + "\n",
        RulesFormat::Markdown => report::rules::markdown(),
    })?;
    Ok(Exit::Pass)
}

pub(super) fn explain(id: &str) -> Result<Exit, Error> {
    let Ok(rule) = id.parse::<RuleId>() else {
        let help = match suggestion(id, RuleId::all().map(RuleId::id)) {
            Some(close) => format!("did you mean `{close}`? `mcp-keel rules` lists all of them"),
            None => "`mcp-keel rules` lists all of them".to_owned(),
        };
        return Err(Error::usage(format!("there is no rule `{id}`"), help));
    };
    output::print(&report::rules::page(
        rule.rule(),
        output::style(Color::Auto),
    ))?;
    Ok(Exit::Pass)
}

pub(super) fn schema(format: SchemaName) -> Result<Exit, Error> {
    output::print(match format {
        SchemaName::Baseline => include_str!("../../docs/schema/baseline.schema.json"),
        SchemaName::Report => include_str!("../../docs/schema/report.schema.json"),
        SchemaName::Config => include_str!("../../docs/schema/config.schema.json"),
    })?;
    Ok(Exit::Pass)
}

pub(super) fn completions(
    shell: clap_complete::Shell,
    mut command: clap::Command,
) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "mcp-keel", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Pass)
}

pub(super) fn man(name: Option<&str>, mut command: clap::Command) -> Result<Exit, Error> {
    command.build();
    let command = match name {
        // The page is the same for every build of a version.
        None => command.long_version(super::version::SHORT),
        Some(name) => {
            let known: Vec<String> = command
                .get_subcommands()
                .map(|it| it.get_name().to_owned())
                .collect();
            let found = command
                .get_subcommands()
                .find(|it| it.get_name() == name)
                .cloned();
            found.ok_or_else(|| {
                Error::usage(
                    format!("there is no command `{name}`"),
                    format!("known: {}", known.join(", ")),
                )
            })?
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(|error| Error::usage(format!("cannot make the manual page: {error}"), ""))?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Pass)
}
