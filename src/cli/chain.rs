//! `mcp-keel chain`: chains of tool manifests, verified link by link and pinned in kiwi-mcp's
//! lockfile.

use std::path::{Path, PathBuf};

use super::args::{ChainArgs, ChainCommand, FreezeArgs, IntegrityArgs, TextOrJson};
use super::output;
use crate::canonical::Json;
use crate::interop::kiwi::disk::{self, DiskError, Found};
use crate::interop::kiwi::lockfile::{Lockfile, chain_hash};
use crate::interop::kiwi::look::{Asked, load, look};
use crate::interop::kiwi::{Link, Mode, Variant, document_integrity, integrity, isoformat, short};
use crate::report::escape;
use crate::run::{Error, Exit};

pub(super) fn run(command: ChainCommand) -> Result<Exit, Error> {
    match command {
        ChainCommand::Freeze(args) => freeze(&args),
        ChainCommand::Verify(args) => check(&args),
        ChainCommand::Show(args) => show(&args),
        ChainCommand::Integrity(args) => print_integrity(&args),
    }
}

impl From<DiskError> for Error {
    fn from(error: DiskError) -> Self {
        Self::usage(error.to_string(), error.help())
    }
}

impl ChainArgs {
    fn asked(&self) -> Asked {
        Asked {
            files: self.files.clone(),
            variant: self.variant,
            skip_integrity: self.skip_integrity,
            skip_validation: self.skip_validation,
        }
    }
}

fn check(args: &ChainArgs) -> Result<Exit, Error> {
    let mode = match (args.strict, args.lenient) {
        (true, _) => Mode::Strict,
        (_, true) => Mode::Lenient,
        _ => Mode::Usual,
    };
    let outcome = look(&args.asked(), mode)?;
    let texts =
        |texts: &[String]| Json::Array(texts.iter().map(|it| Json::string(it.as_str())).collect());
    let text = match args.format {
        TextOrJson::Json => {
            let failed_at = outcome.failed_at.map_or(Json::Null, number);
            let mut members = vec![
                ("verified", Json::Bool(outcome.verified)),
                ("valid", Json::Bool(outcome.valid)),
                ("failedAt", failed_at),
                ("issues", texts(&outcome.issues)),
            ];
            if !outcome.warnings.is_empty() {
                members.push(("warnings", texts(&outcome.warnings)));
            }
            output::json(&Json::object(members))
        }
        TextOrJson::Terminal => {
            let mut lines = Vec::new();
            for (index, link) in outcome.links.iter().enumerate() {
                let mark = match outcome.failed_at {
                    Some(at) if index == at => "FAILED",
                    Some(at) if index > at => "-     ",
                    _ if args.skip_integrity => "-     ",
                    _ => "ok    ",
                };
                lines.push(format!("{mark} {index} {}", one_line(link)));
            }
            lines.extend(
                outcome
                    .issues
                    .iter()
                    .map(|it| format!("issue: {}", escape::block(it))),
            );
            lines.extend(
                outcome
                    .warnings
                    .iter()
                    .map(|it| format!("warning: {}", escape::block(it))),
            );
            lines.push(match (outcome.verified, outcome.valid) {
                (true, true) => format!("{} links hold", outcome.links.len()),
                (false, _) => "the chain is not intact".to_owned(),
                (true, false) => {
                    "every link is intact, but a parent does not accept its child".to_owned()
                }
            });
            lines.join("\n") + "\n"
        }
    };
    output::print(&text)?;
    Ok(if outcome.verified && outcome.valid {
        Exit::Pass
    } else {
        Exit::Verification
    })
}

/// The original's `freeze` trusts its input; its description says to verify first, and so does
/// this.
fn freeze(args: &FreezeArgs) -> Result<Exit, Error> {
    let mode = if args.chain.lenient {
        Mode::Lenient
    } else {
        Mode::Strict
    };
    let outcome = look(&args.chain.asked(), mode)?;
    if !outcome.verified || !outcome.valid {
        return Err(Error::verification(
            format!("the chain is not frozen:\n{}", outcome.issues.join("\n")),
            "fix the link that is named, or freeze with --lenient if only schemas are missing",
        ));
    }
    for warning in &outcome.warnings {
        output::complain(&format!("warning: {}", escape::block(warning)));
    }
    let time = args
        .generated_at
        .clone()
        .unwrap_or_else(|| isoformat(now()));
    let mut lock = Lockfile::of(&outcome.links, &time, args.registry.as_deref())
        .map_err(|error| Error::usage(error.to_string(), "name the manifests of a chain"))?;
    let path = match &args.output {
        Some(path) => path.clone(),
        None => default_path(
            &args.chain.files,
            &lock,
            args.chain_hash.then(|| chain_hash(&outcome.links)),
        )?,
    };
    // The same chain gives the same bytes: an unchanged chain keeps its time.
    if args.generated_at.is_none()
        && let Ok(Found::Lock(before)) = disk::read(&path)
        && before.chain == lock.chain
        && before.root == lock.root
        && before.registry.get("url") == lock.registry.get("url")
    {
        lock = before;
    }
    crate::files::replace(&path, lock.to_text().as_bytes()).map_err(|error| {
        Error::usage(
            format!("{}: cannot write it: {error}", path.display()),
            "check the path and its permissions",
        )
    })?;
    let text = match args.chain.format {
        TextOrJson::Json => output::json(&lock.to_json()),
        TextOrJson::Terminal => format!(
            "FROZEN  {} links, chain {}, in {}\n",
            outcome.links.len(),
            chain_hash(&outcome.links),
            path.display()
        ),
    };
    output::print(&text)?;
    Ok(Exit::Pass)
}

/// Next to the first file, under the name in the original's store.
fn default_path(
    files: &[PathBuf],
    lock: &Lockfile,
    hash: Option<String>,
) -> Result<PathBuf, Error> {
    let name = lock.file_name(hash.as_deref());
    if name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(Error::usage(
            format!("`{name}` is not a valid file name"),
            "name the lockfile with --output",
        ));
    }
    let folder = disk::folder_of(files.first().map_or(Path::new("."), PathBuf::as_path));
    Ok(folder.strip_prefix(".").unwrap_or(&folder).join(name))
}

fn show(args: &ChainArgs) -> Result<Exit, Error> {
    let (links, _) = load(&args.files, args.variant.unwrap_or(Variant::Current))?;
    let text = match args.format {
        TextOrJson::Json => {
            let chain = links.iter().map(|link| link.0.clone()).collect();
            let document = Json::object([
                ("chainHash", Json::string(chain_hash(&links))),
                ("chain", Json::Array(chain)),
            ]);
            output::json(&document)
        }
        TextOrJson::Terminal => {
            let mut lines: Vec<String> = Vec::new();
            for (index, link) in links.iter().enumerate() {
                lines.push(format!("{index} {}", one_line(link)));
                let files = ["files", "file_hashes"]
                    .into_iter()
                    .find_map(|name| link.0.get(name).and_then(Json::as_array));
                for file in files.unwrap_or_default() {
                    let text =
                        |name: &str| file.get(name).and_then(Json::as_str).unwrap_or_default();
                    lines.push(format!(
                        "    {} {}",
                        short(text("sha256")),
                        escape::line(text("path"))
                    ));
                }
            }
            lines.push(format!("chain {}", chain_hash(&links)));
            lines.join("\n") + "\n"
        }
    };
    output::print(&text)?;
    Ok(Exit::Pass)
}

fn one_line(link: &Link) -> String {
    let kind = link
        .member("tool_type")
        .and_then(Json::as_str)
        .unwrap_or("tool");
    let digest = link.stored().map_or_else(|| "no digest".to_owned(), short);
    escape::line(&format!("{kind} {}@{} {digest}", link.id(), link.version())).into()
}

fn print_integrity(args: &IntegrityArgs) -> Result<Exit, Error> {
    let document = disk::read_document(&args.file)?;
    if document.as_object().is_none() {
        return Err(Error::usage(
            format!(
                "{}: expected an object, not {}",
                args.file.display(),
                document.kind()
            ),
            "it has the members tool_id, version, manifest and files",
        ));
    }
    let digest = match document_integrity(&document) {
        Some(digest) => digest,
        None => integrity(&document, args.variant),
    };
    let digest = digest.map_err(|refused| {
        Error::usage(
            format!("{}: {refused}", args.file.display()),
            "the original has no digest for such a tool either",
        )
    })?;
    let _ = args.format;
    output::print(&format!("{digest}\n"))?;
    Ok(Exit::Pass)
}

fn now() -> std::time::Duration {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

fn number(index: usize) -> Json {
    Json::integer(i64::try_from(index).unwrap_or(i64::MAX))
}
