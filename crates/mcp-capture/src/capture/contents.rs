//! Reads the content of resources: the documents of apps (`ui://`) and the files of skills. Only on
//! request.
//!
//! The content is not stored, only its digest. The number of resources is bounded, as are the bytes
//! of all answers together and the time of each. A resource that the server refuses to read is
//! recorded as such; one without an answer fails the capture, and there is no verdict.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::json;

use super::error::CaptureError;
use super::inbox::Answer;
use super::lists::Lister;
use super::opening::incomplete;
use crate::surface::{Era, Kind, Lists, app_document};
use exact_json::{Json, Object, to_canonical};

/// The request that reads a resource.
pub(super) const READ: &str = "resources/read";

/// What a skill's list states about a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Listed<'a> {
    digest: &'a str,
    size: u64,
}

impl Lister<'_> {
    /// Reads the documents of apps and the files of skills. A file that matches its list is
    /// omitted: the list is recorded.
    pub(super) async fn contents(&self, lists: &Lists) -> Result<Vec<Json>, CaptureError> {
        let wanted = wanted(lists);
        if wanted.len() > self.limits.contents {
            return Err(CaptureError::TooManyItems {
                method: READ,
                limit: self.limits.contents,
            });
        }
        let mut contents = Vec::new();
        for (uri, listed) in wanted {
            let limit = self.limits.content_bytes;
            if listed.is_some_and(|it| it.size > limit) {
                contents.push(Json::object([
                    ("uri", Json::string(uri)),
                    ("unread", Json::string(format!("more than {limit} bytes"))),
                ]));
                continue;
            }
            let content = match self.ask(READ, Some(json!({ "uri": uri }))).await? {
                Answer::Error(error) => Json::object([
                    ("uri", Json::string(uri)),
                    ("error", error.get("code").cloned().unwrap_or(Json::Null)),
                ]),
                Answer::Result(result) => {
                    if self.era == Era::Modern
                        && let Some(kind) = incomplete(&result)
                    {
                        return Err(CaptureError::Incomplete { method: READ, kind });
                    }
                    digested(uri, &result)?
                }
            };
            if listed.is_none_or(|listed| !is_as_listed(&content, listed)) {
                contents.push(content);
            }
        }
        Ok(contents)
    }
}

/// Everything to read, in order, each once; a skill's file with what its list states.
fn wanted(lists: &Lists) -> BTreeMap<&str, Option<Listed<'_>>> {
    let mut wanted = BTreeMap::new();
    let listed = lists.of(Kind::Resource).iter();
    let listed = listed.filter_map(|it| it.get("uri")?.as_str());
    let linked = lists.of(Kind::Tool).iter().filter_map(app_document);
    for uri in listed.chain(linked).filter(|it| it.starts_with("ui://")) {
        wanted.insert(uri, None);
    }
    for skill in lists.of(Kind::Skill) {
        let files = skill.get("resources").and_then(Json::as_array);
        for file in files.unwrap_or_default() {
            let text = |member| file.get(member).and_then(Json::as_str);
            let size = match file.get("size") {
                Some(Json::Number(size)) => size.literal().parse().unwrap_or(u64::MAX),
                _ => 0,
            };
            if let Some(uri) = text("uri") {
                let digest = text("digest").unwrap_or_default();
                wanted.insert(uri, Some(Listed { digest, size }));
            }
        }
    }
    wanted
}

fn is_as_listed(content: &Json, listed: Listed<'_>) -> bool {
    let size = Json::integer(i64::try_from(listed.size).unwrap_or(i64::MAX));
    content.get("digest").and_then(Json::as_str) == Some(listed.digest)
        && content.get("size") == Some(&size)
}

/// What was read, by its digest.
fn digested(uri: &str, result: &Json) -> Result<Json, CaptureError> {
    let malformed = |problem: &str| CaptureError::Malformed {
        method: READ,
        problem: problem.to_owned(),
    };
    let contents = result.get("contents").and_then(Json::as_array);
    let contents = contents.ok_or_else(|| malformed("it has no `contents` array"))?;
    let mut members = Object::new();
    members.push("uri", Json::string(uri));
    let bytes = match contents {
        [one] => {
            for member in ["mimeType", "_meta"] {
                if let Some(value) = one.get(member) {
                    members.push(member, value.clone());
                }
            }
            match (one.get("text"), one.get("blob").and_then(Json::as_str)) {
                (Some(Json::String(text)), _) => text.to_string_lossy().as_bytes().to_vec(),
                (None, Some(blob)) => base64::engine::general_purpose::STANDARD
                    .decode(blob)
                    .map_err(|_| malformed("`blob` is not base64"))?,
                _ => return Err(malformed("`contents` has neither `text` nor `blob`")),
            }
        }
        // Several parts have no bytes of their own.
        several => to_canonical(&Json::Array(several.to_vec())).into_bytes(),
    };
    members.push(
        "size",
        Json::integer(i64::try_from(bytes.len()).unwrap_or(i64::MAX)),
    );
    members.push("digest", Json::string(sha256(&bytes)));
    Ok(Json::Object(members))
}

/// `sha256:` and the hexadecimal digest, as in lists of skills.
fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    let digest = Sha256::digest(bytes);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
