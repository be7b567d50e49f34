//! Whether a server's card contradicts the server.

use crate::canonical::Json;
use crate::surface::Surface;

/// Where a card contradicts the server. Contents that are not a card are ignored.
pub(super) fn disagreements(card: &Json, surface: &Surface) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let text = |of: &Json, member: &str| of.get(member)?.as_str().map(str::to_owned);
    if text(card, "uri").as_deref() != Some("/server-card") {
        return found;
    }
    let mut add = |member: &str, card: String, server: String| {
        let message =
            format!("`{member}` is {card} in the server's card and {server} in the server");
        found.push((format!("/{member}"), message));
    };
    for member in ["name", "version", "title"] {
        let (said, is) = (text(card, member), text(&surface.server_info, member));
        let (Some(said), Some(is)) = (said, is) else {
            continue;
        };
        // A card's name is prefixed with its publisher's domain.
        let short = said.rsplit('/').next().unwrap_or_default();
        if said != is && !(member == "name" && short == is) {
            add(member, said, is);
        }
    }
    let revisions = card
        .get("supportedProtocolVersions")
        .and_then(Json::as_array);
    let revisions: Vec<&str> = revisions
        .unwrap_or_default()
        .iter()
        .filter_map(Json::as_str)
        .collect();
    let spoken = surface.protocol_version.as_str();
    if !revisions.is_empty() && !spoken.is_empty() && !revisions.contains(&spoken) {
        let member = "supportedProtocolVersions";
        add(member, revisions.join(", "), spoken.to_owned());
    }
    found
}
