//! Whether the document that shows a tool's results can exist (MCP Apps).

use std::collections::BTreeSet;

use crate::canonical::Json;
use crate::surface::{Kind, Surface, app_document};

/// Where a tool names its document.
pub(super) fn pointer(tool: &Json) -> &'static str {
    let nested = tool.get("_meta").and_then(|meta| meta.get("ui"));
    if nested.is_some_and(|ui| ui.get("resourceUri").is_some()) {
        "/_meta/ui/resourceUri"
    } else {
        "/_meta/ui~1resourceUri"
    }
}

/// Why hosts cannot read the document of a tool, as far as one surface shows.
pub(super) fn problem(tool: &Json, surface: &Surface) -> Option<String> {
    let uri = app_document(tool)?;
    if !uri.starts_with("ui://") {
        return Some(format!(
            "`_meta.ui.resourceUri` must start with `ui://`, and is `{uri}`: hosts show nothing"
        ));
    }
    (declares_resources(surface) == Some(false)).then(|| {
        format!("the server declares no `resources`, so hosts cannot read `{uri}` and show nothing")
    })
}

/// Whether the server declares `resources`; `None` if the source does not say.
pub(super) fn declares_resources(surface: &Surface) -> Option<bool> {
    let is_known = surface.scope.server && !surface.protocol_version.is_empty();
    is_known.then(|| surface.capabilities.get("resources").is_some())
}

/// The resources that are listed.
pub(super) fn listed(surface: &Surface) -> BTreeSet<&str> {
    let listed = surface.of_kind(Kind::Resource);
    listed
        .filter_map(|it| it.definition.get("uri")?.as_str())
        .collect()
}

/// The resources that were read.
pub(super) fn read(surface: &Surface) -> BTreeSet<&str> {
    let contents = surface.of_kind(Kind::Content);
    contents
        .filter(|content| content.definition.get("error").is_none())
        .filter_map(|it| it.definition.get("uri")?.as_str())
        .collect()
}
