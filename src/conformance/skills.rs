//! What the skills extension requires of an entry beyond its shape, and whether contents match
//! their lists.

use std::collections::BTreeSet;

use crate::canonical::Json;
use crate::wording::counted;

/// Every host must load a skill with this many files.
const MOST_FILES: usize = 512;
/// Every host must load a skill of this size.
const MOST_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// What is wrong with the entry of a skill, with its place.
pub(super) fn problems(skill: &Json) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some(uri) = skill.get("uri").and_then(Json::as_str) else {
        return found;
    };
    let Some(folder) = uri.strip_suffix("/SKILL.md") else {
        found.push((
            "/uri".to_owned(),
            "`uri` must end in `/SKILL.md`".to_owned(),
        ));
        return found;
    };
    let name = skill.get("frontmatter").and_then(|it| it.get("name"));
    if let Some(name) = name.and_then(Json::as_str)
        && folder.rsplit('/').next() != Some(name)
    {
        found.push((
            "/frontmatter/name".to_owned(),
            format!("`frontmatter.name` must be the last part of `{folder}`"),
        ));
    }
    let Some(files) = skill.get("resources").and_then(Json::as_array) else {
        return found;
    };
    let mut seen = BTreeSet::new();
    let mut bytes = 0.0;
    for (place, file) in files.iter().enumerate() {
        if let Some(Json::Number(size)) = file.get("size") {
            bytes += size.to_f64().max(0.0);
        }
        let Some(file) = file.get("uri").and_then(Json::as_str) else {
            continue;
        };
        let inside = file.strip_prefix(folder).unwrap_or_default();
        let is_inside = inside.starts_with('/') && !inside.split('/').any(|part| part == "..");
        if !is_inside {
            found.push((
                format!("/resources/{place}/uri"),
                "a file is outside the folder of `SKILL.md`".to_owned(),
            ));
        } else if !seen.insert(file) {
            found.push((
                format!("/resources/{place}/uri"),
                "a file is listed twice".to_owned(),
            ));
        }
    }
    if !seen.contains(uri) {
        found.push((
            "/resources".to_owned(),
            "`resources` does not list `SKILL.md` itself".to_owned(),
        ));
    }
    if files.len() > MOST_FILES || bytes > MOST_BYTES {
        found.push((
            "/resources".to_owned(),
            format!("{} with {bytes} bytes; clients need not load more than 512 files or 16777216 bytes", counted(files.len(), "file")),
        ));
    }
    found
}

/// The files that a skill lists.
pub(super) fn files(skill: &Json) -> impl Iterator<Item = &str> {
    let files = skill.get("resources").and_then(Json::as_array);
    let files = files.unwrap_or_default().iter();
    files.filter_map(|file| file.get("uri")?.as_str())
}

/// Why hosts cannot use the content of a resource.
pub(super) fn content_problem(content: &Json, is_of_skill: bool) -> Option<(String, String)> {
    if let Some(code) = content.get("error") {
        return Some((
            "/error".to_owned(),
            format!("it cannot be read (error {code}), but clients are pointed to it"),
        ));
    }
    let is_read = is_of_skill && content.get("digest").is_some();
    is_read.then(|| {
        (
            "/digest".to_owned(),
            "it does not match its listed digest: clients must not use it".to_owned(),
        )
    })
}
