//! The commands that decide about single changes: `pending`, `accept` and `reject`.

use std::ffi::OsString;
use std::sync::Arc;

use super::args::{AcceptArgs, PendingArgs, RejectArgs, SelectionArgs, TextOrJson};
use super::output;
use super::progress::Progress;
use crate::config::edit::Entry;
use crate::policy::Decision;
use crate::report::pending::{document, list};
use crate::run::check::CheckRequest;
use crate::run::decide::{self, ChangesRequest, Pending, Selection};
use crate::run::{Error, Exit};
use crate::sentences::decide as sentences;
use crate::settings::{CONFIG, Given, SERVERS};

/// `mcp-keel pending`: what is neither pinned nor accepted.
pub(super) async fn pending(args: PendingArgs) -> Result<Exit, Error> {
    let given = &args.flags.given;
    let request = ChangesRequest {
        check: CheckRequest::new(given),
        report: args.report,
    };
    let progress = Arc::new(Progress::start(false));
    let report = decide::changes(&request, progress).await?;
    let servers = given.texts(SERVERS);
    let is_asked = |name: &str| servers.is_empty() || servers.iter().any(|it| it == name);
    let mut pending = decide::pending(&report);
    pending.retain(|it| is_asked(it.server));
    let mut unknown = decide::unknown(&report);
    unknown.retain(|(name, _)| is_asked(name));
    match args.format {
        TextOrJson::Json => {
            output::print(&output::json(&document(pairs(&pending), &unknown)))?;
        }
        TextOrJson::Terminal => {
            let mut text = sentences::pending(pending.len()) + "\n";
            text += &list(pairs(&pending), true);
            if !pending.is_empty() {
                text += &format!("\n{}\n", sentences::how_to_decide());
            }
            output::print(&text)?;
            for (server, problem) in &unknown {
                output::complain(&format!(
                    "warning: {}",
                    crate::report::escape::line(&sentences::not_captured(server, problem))
                ));
            }
        }
    }
    Ok(if unknown.is_empty() {
        Exit::Pass
    } else {
        Exit::Undetermined
    })
}

fn pairs<'a>(
    changes: &'a [Pending<'a>],
) -> impl Iterator<Item = (&'a str, &'a crate::report::Located)> {
    changes.iter().map(|it| (it.server, it.located))
}

/// `mcp-keel accept`: entries for single changes, with owner and last day.
pub(super) async fn accept(args: AcceptArgs) -> Result<Exit, Error> {
    let reason = decide::reason(&args.selection.reason)?;
    let until = args.until.as_deref().map(decide::last_day).transpose()?;
    let owner = decide::owner(args.selection.owner.as_deref())?;
    let decision = Decision::Accepted {
        reason,
        owner,
        until,
    };
    decide_about(args.selection, &args.flags.given, &decision).await
}

/// `mcp-keel reject`: changes that block whatever the thresholds say.
pub(super) async fn reject(args: RejectArgs) -> Result<Exit, Error> {
    let decision = Decision::Rejected {
        reason: decide::reason(&args.selection.reason)?,
        owner: args
            .selection
            .owner
            .as_deref()
            .map(|it| decide::owner(Some(it)))
            .transpose()?,
    };
    decide_about(args.selection, &args.flags.given, &decision).await
}

async fn decide_about(
    args: SelectionArgs,
    given: &Given,
    decision: &Decision,
) -> Result<Exit, Error> {
    let mut given = given.clone();
    if !args.server.is_empty() {
        given.set(SERVERS, args.server.iter().map(OsString::from).collect());
    }
    let request = ChangesRequest {
        check: CheckRequest::new(&given),
        report: args.report,
    };
    let progress = Arc::new(Progress::start(false));
    let report = decide::changes(&request, progress).await?;
    let selection = Selection {
        ids: args.ids,
        all: args.all,
        rules: args.rule,
        tools: args.tool,
        servers: args.server,
    };
    let meant = decide::select(&report, &selection)?;
    let entry = |it| decide::entry(it, decision.clone());
    let entries: Vec<Entry> = meant.iter().map(entry).collect();
    let path = decide::write(given.path(CONFIG).as_deref(), &entries)?;
    let count = entries.len();
    let (accepted, rejected) = match decision {
        Decision::Accepted { .. } => (count, 0),
        Decision::Rejected { .. } => (0, count),
    };
    let mut text = sentences::decided(accepted, rejected, &path.display().to_string()) + "\n";
    text += &list(pairs(&meant), false);
    let left = decide::pending(&report)
        .iter()
        .filter(|it| !entries.iter().any(|e| e.change == it.located.judged.id))
        .count();
    text += &format!("\n{}\n", sentences::left(left));
    output::print(&text)?;
    Ok(Exit::Pass)
}
