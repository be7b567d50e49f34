//! The command line: what can be typed, and one file per command.
//!
//! A command turns what was typed ([`args`]) into a request for `run`, and prints what comes of it. Nothing outside this room
//! knows clap. Commands return an [`Exit`] or an [`Error`]; only `main` ends the process.

mod action;
mod args;
mod capture;
mod chain;
mod check;
mod config;
mod demo;
mod diff;
mod fingerprint;
mod flags;
mod import;
mod interrupt;
mod output;
mod pin;
mod progress;
mod reference;
mod scan;
mod shards;
mod value_parsers;
mod verify;
mod verify_lock;

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser as _};

use args::{Cli, Command};

pub use crate::run::{Error, Exit};

/// Runs what was typed and returns the exit code. Errors are printed here, on stderr.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version come this way too, with code 0. A closed pipe is nobody's problem.
            let _ = usage.print();
            return u8::try_from(usage.exit_code()).unwrap_or(2);
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain(&format!("error: cannot start: {error}"));
            return Exit::Undetermined.code();
        }
    };
    interrupt::watch();
    let code = runtime.block_on(async {
        // Outside of `select!`, which would drop it, and with it kill the servers, before they are asked to end.
        let mut running = std::pin::pin!(run(cli.command));
        tokio::select! {
            // A signal first: the other thread may have ended the server by now, which is then no finding.
            biased;
            code = crate::launch::interrupted() => {
                interrupt::end().await;
                u8::try_from(code).unwrap_or(130)
            }
            outcome = &mut running => match outcome {
                Ok(exit) => exit.code(),
                Err(error) => {
                    output::complain(&error.to_string());
                    error.exit().code()
                }
            },
        }
    });
    // A blocking read of standard input must not hold up the end.
    runtime.shutdown_background();
    code
}

async fn run(command: Command) -> Result<Exit, Error> {
    match command {
        Command::Check(flags) => check::run(&flags.given).await,
        Command::Pin(args) => pin::run(args).await,
        Command::Config(args) => config::run(&args),
        Command::Capture(args) => capture::run(args).await,
        Command::Plan(args) => shards::plan(&args),
        Command::Merge(args) => shards::merge(&args),
        Command::Diff(args) => diff::run(args).await,
        Command::Fingerprint(args) => fingerprint::run(args).await,
        Command::Scan(args) => scan::run(args).await,
        Command::Import(args) => import::run(args).await,
        Command::Verify(args) => verify::run(&args),
        Command::Chain(command) => chain::run(command),
        Command::Rules(args) => reference::rules(args.format),
        Command::Explain { rule } => reference::explain(&rule),
        Command::Schema { format } => reference::schema(format),
        Command::Action => action::run().await,
        Command::Demo(args) => demo::run(args).await,
        Command::Completions { shell } => reference::completions(shell, Cli::command()),
        Command::Man { command } => reference::man(command.as_deref(), Cli::command()),
    }
}
