//! Sources on the command line, live ones included.

use super::Error;
use crate::capture::{Limits, capture_stdio};
use crate::launch::LaunchSpec;
use crate::source::{Dialect, Source, SourceError, Surfaces};
use crate::surface::ClientProfile;

/// The surfaces of a source as it was typed.
pub(super) async fn read(name: &str, dialect: Dialect) -> Result<Surfaces, Error> {
    let source = Source::parse(name).map_err(|problem| {
        Error::usage(problem, "`mcp-keel diff --help` says what a source can be")
    })?;
    let Source::Stdio(command) = &source else {
        return Ok(source.surfaces(dialect)?);
    };
    let launch = LaunchSpec {
        command: command.clone(),
        cwd: None,
        env: Default::default(),
        pass_env: Default::default(),
    };
    let captured = capture_stdio(
        &launch,
        &ClientProfile::default(),
        &Limits::default(),
        &|_| {},
    )
    .await
    .map_err(|failure| SourceError::Capture {
        what: source.name(),
        failure: Box::new(failure),
    })?;
    Ok([("default".to_owned(), captured.surface)].into())
}

/// The surfaces of the server that was asked for, or all of them.
pub(super) fn only(
    surfaces: Surfaces,
    server: Option<&str>,
    what: &str,
) -> Result<Surfaces, Error> {
    let Some(name) = server else {
        return Ok(surfaces);
    };
    let known: Vec<String> = surfaces.keys().cloned().collect();
    let found: Surfaces = surfaces.into_iter().filter(|(it, _)| it == name).collect();
    if found.is_empty() {
        return Err(Error::usage(
            format!("{what} has no server `{name}`"),
            format!("it has: {}", known.join(", ")),
        ));
    }
    Ok(found)
}
