//! What two definitions under different names have in common, for renames of tools and of members.

use std::collections::BTreeMap;

use crate::canonical::{Json, Object};
use json_schema_subsume::words;

/// A name without what is only spelling: case, separators, and the plural of its words.
pub(crate) fn normalised(name: &str) -> String {
    words(name).iter().map(|word| singular(word)).collect()
}

fn singular(word: &str) -> String {
    match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(rest), _) if rest.len() > 1 => format!("{rest}y"),
        (_, Some(rest)) if rest.len() > 2 && !rest.ends_with(['i', 's', 'u']) => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// Whether a description is enough to recognise a definition by.
pub(crate) fn is_telling(description: Option<&Json>) -> bool {
    let description = description.and_then(Json::as_str).unwrap_or_default();
    description.split_whitespace().count() >= 3
}

/// A schema without its own title, which generators make from the name.
pub(crate) fn without_title(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => {
            let mut members: Object = members.clone();
            members.take("title");
            Json::Object(members)
        }
        other => other.clone(),
    }
}

/// What has a mark that nothing else has, by its mark; `None` where several have it.
pub(crate) fn unique<T>(marked: impl Iterator<Item = (String, T)>) -> BTreeMap<String, Option<T>> {
    let mut by_mark = BTreeMap::new();
    for (mark, item) in marked {
        let only = if by_mark.contains_key(&mark) {
            None
        } else {
            Some(item)
        };
        by_mark.insert(mark, only);
    }
    by_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_spelling_only_are_one() {
        for (one, other) in [
            ("sendMail", "send_mail"),
            ("list-bucket", "list_buckets"),
            ("QUERY_ENTRY", "queryEntries"),
            ("APIVersion", "apiVersion"),
            ("docs/search", "docs.search"),
        ] {
            assert_eq!(normalised(one), normalised(other), "{one} {other}");
        }
        for (one, other) in [
            ("start", "stop"),
            ("status", "statu"),
            ("pass", "pas"),
            ("search_v1", "search_v2"),
        ] {
            assert_ne!(normalised(one), normalised(other), "{one} {other}");
        }
    }
}
