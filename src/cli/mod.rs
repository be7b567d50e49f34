//! The command line: what can be typed, and what each command prints.
//!
//! A command turns what was typed ([`args`]) into a request for `run`, and prints the result.
//! Nothing outside this room depends on clap. Commands return an [`Exit`] or an [`Error`]; only
//! `main` ends the process.

mod action;
mod args;
mod baseline;
mod chain;
mod config;
mod demo;
mod flags;
mod help;
mod history;
mod import;
mod init;
mod interrupt;
mod keys;
mod output;
mod progress;
mod reference;
mod review;
mod servers;
mod shards;
mod sources;
mod value_parsers;
mod verify;
mod verify_lock;
mod version;

use std::ffi::OsString;

use clap::{CommandFactory as _, FromArgMatches as _};

use args::{Cli, Command};

pub use crate::run::{Error, Exit};

/// Runs the command line and returns the exit code. Errors are printed here, on stderr.
// Not generic: the whole program would be compiled into its caller.
pub fn main(arguments: Vec<OsString>) -> u8 {
    let parsed = help::arranged(Cli::command()).try_get_matches_from(arguments);
    let cli = match parsed.and_then(|it| Cli::from_arg_matches(&it)) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version come this way too, with code 0. A closed pipe is not an error.
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
    crate::launch::own_programs::find();
    let code = runtime.block_on(async {
        // Outside of `select!`, which would drop it, and so kill the servers, before they are asked
        // to exit.
        let mut running = std::pin::pin!(run(cli.command));
        tokio::select! {
            // Signals first: the other thread may have ended the server by now, which is not a
            // finding then.
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
    // A blocking read of standard input must not delay the exit.
    runtime.shutdown_background();
    // Whatever path led here, no server outlives the program.
    crate::launch::kill_all();
    code
}

async fn run(command: Command) -> Result<Exit, Error> {
    match command {
        Command::Init(args) => init::run(args).await,
        Command::Check(flags) => servers::check(&flags.given).await,
        Command::Pin(args) => servers::pin(args).await,
        Command::Config(args) => config::run(&args),
        Command::Capture(args) => servers::capture(args).await,
        Command::Baseline(command) => baseline::run(command),
        Command::Review(args) => review::run(args).await,
        Command::Log(args) => history::log(args),
        Command::Changelog(args) => history::changelog(args),
        Command::Plan(args) => shards::plan(&args),
        Command::Merge(args) => shards::merge(&args),
        Command::Diff(args) => sources::diff(args).await,
        Command::Fingerprint(args) => sources::fingerprint(args).await,
        Command::Scan(args) => sources::scan(args).await,
        Command::Import(args) => import::run(args).await,
        Command::Verify(args) => verify::run(&args),
        Command::Chain(command) => chain::run(command),
        Command::Rules(args) => reference::rules(args.format),
        Command::Explain { rule } => reference::explain(&rule),
        Command::Schema { format } => reference::schema(format),
        Command::Action => action::run().await,
        Command::Demo(args) => demo::run(args).await,
        Command::Completions { shell } => reference::completions(shell, Cli::command()),
        Command::Man { command } => {
            reference::man(command.as_deref(), help::arranged(Cli::command()))
        }
    }
}
