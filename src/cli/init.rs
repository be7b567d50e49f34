//! `mcp-keel init`: sets up the current folder.

use std::sync::Arc;

use super::args::InitArgs;
use super::output;
use super::progress::Progress;
use crate::report::{escape, listing};
use crate::run::init::{self, Choice, Fit, InitRequest};
use crate::run::{Error, Exit};
use crate::sentences::pin;

pub(super) async fn run(args: InitArgs) -> Result<Exit, Error> {
    let asks = !args.yes && output::is_attended();
    let request = InitRequest {
        command: args.command,
        env: args.env,
        pass_env: args.pass_env,
        ci: args.ci,
        pre_commit: args.pre_commit,
        owners: args.codeowners,
        force: args.force,
        try_all: asks,
    };
    init::check_free(&request)?;
    let progress = Arc::new(Progress::start(false));
    let mut lines = Vec::new();
    let found = init::find(&request, &*progress, &mut |line| {
        lines.push(escape::short(line, 400).into_string());
    })
    .await;
    for line in &lines {
        output::print(&format!("{line}\n"))?;
    }
    let (fits, lists) = found?;
    let choice = match &fits[..] {
        [] => {
            let list = lists.into_iter().next().unwrap_or_default();
            output::print(&format!(
                "{}\n",
                escape::line(&format!("found   {list}, a list of servers"))
            ))?;
            Choice::List(list)
        }
        [fit] => Choice::Command(Box::new(fit.clone())),
        several if asks => Choice::Command(Box::new(chosen(several)?)),
        [fit, ..] => Choice::Command(Box::new(fit.clone())),
    };
    let written = init::write(&request, &choice, progress).await?;
    let mut text = String::new();
    for line in &written.lines {
        text += &format!("{line}\n");
    }
    for (name, surface) in &written.pinned.new {
        text += &format!("\n{}\n{}", escape::line(name), listing(surface));
    }
    output::print(&text)?;
    let (pinned, failed) = (&written.pinned.report.servers, &written.pinned.failed);
    if !failed.is_empty() {
        output::complain(&pin::some_pinned(pinned.len(), pinned.len() + failed.len()));
        for (_, error) in failed {
            output::complain(&error.to_string());
        }
    }
    output::print(&format!(
        "\nCommit them: git add {}\nFrom now on `mcp-keel check` compares the server with its baseline.\n",
        written.commit.join(" ")
    ))?;
    Ok(if failed.is_empty() {
        Exit::Pass
    } else {
        Exit::Undetermined
    })
}

/// The command that a person chooses.
fn chosen(fits: &[Fit]) -> Result<Fit, Error> {
    for (index, fit) in fits.iter().enumerate() {
        output::print(&format!("  {}  {}\n", index + 1, escape::line(&fit.line())))?;
    }
    let answer = output::answer("Which one is the server? Its number [1]: ")?;
    let answer = answer.unwrap_or_default();
    let number = match answer.trim() {
        "" => 1,
        text => text.parse::<usize>().unwrap_or(0),
    };
    let fit = number.checked_sub(1).and_then(|it| fits.get(it));
    fit.cloned().ok_or_else(|| {
        Error::usage(
            format!("`{}` is not one of the numbers", answer.trim()),
            "run `mcp-keel init` again, or pass the command after `--`",
        )
    })
}
