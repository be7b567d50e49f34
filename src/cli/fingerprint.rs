//! `mcp-keel fingerprint`: a digest manifest `{key: hex}`.

use super::args::{FingerprintArgs, JsonOnly};
use super::output;
use super::progress::Progress;
use crate::canonical::{Json, Object, Text};
use crate::run::request::SandboxRequest;
use crate::run::{Error, Exit, sources};
use crate::source::Dialect;

pub(super) async fn run(args: FingerprintArgs) -> Result<Exit, Error> {
    let JsonOnly::Json = args.format;
    if !args.fields.is_empty() && !args.profile.takes_fields() {
        return Err(Error::usage(
            "--fields belongs to --profile fastmcp",
            format!("what the {} profile covers is fixed", args.profile),
        ));
    }
    let dialect = if args.profile.is_python {
        Dialect::Python
    } else {
        Dialect::Json
    };
    let surfaces = sources::read(
        &args.source,
        dialect,
        &SandboxRequest::new(&args.flags.given),
        &Progress::start(false),
    )
    .await?;
    let surface = sources::one(surfaces, args.server.as_deref(), &args.source)?;
    let digests = args
        .profile
        .manifest(&surface, &args.fields)
        .map_err(|refusal| {
            Error::usage(
                format!("{}: {refusal}", args.source),
                format!("the {} profile has no digest for such a tool", args.profile),
            )
        })?;
    let object: Object = digests
        .into_iter()
        .map(|(key, hex)| (Text::from(key), Json::string(hex)))
        .collect();
    output::print(&output::json(&Json::Object(object)))?;
    Ok(Exit::Pass)
}
