//! `mcp-keel baseline`: the entries of the baseline.

use super::args::{BaselineCommand, TextOrJson};
use super::output;
use crate::canonical::Json;
use crate::report::escape;
use crate::run::{Error, Exit, entries};
use crate::sentences::pin as sentences;
use crate::surface::Kind;

pub(super) fn run(command: BaselineCommand) -> Result<Exit, Error> {
    match command {
        BaselineCommand::List(args) => {
            let manifests = entries::manifests(args.place.baseline, args.place.config)?;
            let mut listed = Vec::new();
            let mut text = String::new();
            for manifest in &manifests {
                let path = manifest.path().display().to_string();
                for (name, pinned) in manifest.servers() {
                    let version = pinned.release.version.as_deref();
                    let all = pinned.surface.components.len();
                    let tools = pinned.surface.of_kind(Kind::Tool).count();
                    let about = sentences::entry(version, tools, all - tools);
                    let line = escape::line(&format!("{name}  {about}  ({path})"));
                    text += &format!("{line}\n");
                    listed.push(Json::object([
                        ("name", Json::string(name.as_str())),
                        ("version", version.map_or(Json::Null, Json::string)),
                        ("tools", count(tools)),
                        ("components", count(all)),
                        ("file", Json::string(path.as_str())),
                    ]));
                }
            }
            match args.format {
                TextOrJson::Terminal => output::print(&text)?,
                TextOrJson::Json => {
                    let document = Json::object([("servers", Json::Array(listed))]);
                    output::print(&output::json(&document))?;
                }
            }
        }
        BaselineCommand::Remove { name, place } => {
            let manifests = entries::manifests(place.baseline, place.config)?;
            let path = entries::remove(&manifests, &name)?;
            said(&sentences::removed(&name, &path.display().to_string()))?;
        }
        BaselineCommand::Rename { old, new, place } => {
            let manifests = entries::manifests(place.baseline, place.config)?;
            let path = entries::rename(&manifests, &old, &new)?;
            said(&sentences::renamed(&old, &new, &path.display().to_string()))?;
        }
    }
    Ok(Exit::Pass)
}

fn count(number: usize) -> Json {
    Json::integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn said(sentence: &str) -> Result<(), Error> {
    output::print(&format!("{}\n", escape::line(sentence)))
}
