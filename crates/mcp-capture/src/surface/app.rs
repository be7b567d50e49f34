//! Apps: tools whose results a host shows in a document of the server (`_meta.ui`).

use exact_json::Json;

/// The document that shows a tool's results: `_meta.ui.resourceUri`, or its earlier flat form.
pub fn app_document(tool: &Json) -> Option<&str> {
    let meta = tool.get("_meta")?;
    let nested = meta.get("ui").and_then(|ui| ui.get("resourceUri"));
    nested.or_else(|| meta.get("ui/resourceUri"))?.as_str()
}
