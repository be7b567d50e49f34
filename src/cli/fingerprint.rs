//! `mcp-keel fingerprint`: a digest manifest `{key: hex}`.

use super::{Error, Exit, FingerprintArgs, output, sources};
use crate::canonical::{Json, Object, Text, to_pretty};
use crate::fingerprint::{Profile, manifest};
use crate::source::Dialect;

pub(super) async fn run(args: FingerprintArgs) -> Result<Exit, Error> {
    if !args.fields.is_empty() && args.profile != Profile::FastMcp {
        return Err(Error::usage(
            "--fields belongs to --profile fastmcp",
            "the keel profile covers the whole definition already",
        ));
    }
    let dialect = match args.profile {
        Profile::FastMcp => Dialect::Python,
        Profile::Keel => Dialect::Json,
    };
    let surfaces = sources::only(
        sources::read(&args.source, dialect).await?,
        args.server.as_deref(),
        &args.source,
    )?;
    let mut found = surfaces.iter();
    let (Some((_, surface)), None) = (found.next(), found.next()) else {
        let names: Vec<&str> = surfaces.keys().map(String::as_str).collect();
        return Err(Error::usage(
            format!("{} holds {} servers", args.source, surfaces.len()),
            format!("choose one with --server: {}", names.join(", ")),
        ));
    };
    let digests = manifest(surface, args.profile, &args.fields).map_err(|refusal| {
        Error::usage(
            format!("{}: {refusal}", args.source),
            format!("the {} profile has no digest for such a tool", args.profile),
        )
    })?;
    let object: Object = digests
        .into_iter()
        .map(|(key, hex)| (Text::from(key), Json::string(hex)))
        .collect();
    output::print(&(to_pretty(&Json::Object(object)) + "\n"))?;
    Ok(Exit::Pass)
}
