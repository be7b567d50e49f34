//! A surface from text or from a file, for tests.

use std::path::Path;

use mcp_keel::source::{Dialect, Source};
use mcp_keel::surface::Surface;

/// The only server of a source file.
#[track_caller]
pub(crate) fn in_file(path: &Path) -> Surface {
    let source = Source::File(path.to_string_lossy().into_owned());
    let surfaces = source.surfaces(Dialect::Json);
    let surfaces = surfaces.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    surfaces.into_values().next().unwrap()
}

/// The only server of a source text.
#[track_caller]
pub(crate) fn of(text: &str) -> Surface {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.json");
    std::fs::write(&path, text).unwrap();
    in_file(&path)
}
