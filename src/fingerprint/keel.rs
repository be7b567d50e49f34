//! mcp-keel's own scheme, `keel-1`: the whole definition, and one digest per facet a reviewer asks
//! about.

use super::Digest;
use crate::canonical::{Json, canonical_object, to_canonical};
use crate::surface::Component;

/// The name of this scheme, recorded in every baseline; a later scheme gets its own name.
pub const SCHEME: &str = "keel-1";

/// The digest of the whole definition as sent, including vendor members but not volatile ones.
pub fn fingerprint(component: &Component) -> Digest {
    of(&component.contract())
}

/// The digest of each facet that the component has, by name.
///
/// `contract` covers what a caller depends on: the key with the schemas of a tool, the arguments of
/// a prompt, or the MIME type of a resource.
pub fn facets(component: &Component) -> Vec<(&'static str, Digest)> {
    let contract = component.contract();
    let key = Json::string(component.key.as_str());
    let members = component.kind.contract().iter();
    let members = members.filter_map(|member| Some((*member, contract.get(member)?)));
    let promise: Vec<_> = std::iter::once(("key", &key)).chain(members).collect();
    let mut digests = vec![("contract", Digest::of(canonical_object(&promise)))];
    for (facet, member) in [
        ("input", "inputSchema"),
        ("output", "outputSchema"),
        ("description", "description"),
        ("annotations", "annotations"),
        ("meta", "_meta"),
    ] {
        if let Some(value) = contract.get(member) {
            digests.push((facet, of(value)));
        }
    }
    digests
}

fn of(value: &Json) -> Digest {
    Digest::of(to_canonical(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;
    use crate::surface::{ComponentKey, Kind};

    fn tool(definition: &str) -> Component {
        let definition = parse_str(definition).unwrap();
        Component {
            kind: Kind::Tool,
            key: ComponentKey::of(Kind::Tool, &definition),
            definition,
        }
    }

    fn moved(old: &str, new: &str) -> Vec<&'static str> {
        let (old, new) = (facets(&tool(old)), facets(&tool(new)));
        old.iter()
            .filter(|facet| !new.contains(facet))
            .map(|(name, _)| *name)
            .collect()
    }

    #[test]
    fn each_facet_changes_with_its_own_member() {
        let base = r#"{"name":"a","description":"d","inputSchema":{},"annotations":{"readOnlyHint":true},"_meta":{"x":1}}"#;
        assert_eq!(
            moved(base, &base.replace("\"d\"", "\"e\"")),
            ["description"]
        );
        assert_eq!(
            moved(base, &base.replace("{},", "{\"type\":\"object\"},")),
            ["contract", "input"]
        );
        assert_eq!(moved(base, &base.replace("true", "false")), ["annotations"]);
        assert_eq!(
            moved(base, &base.replace("{\"x\":1}", "{\"x\":2}")),
            ["meta"]
        );
    }

    #[test]
    fn the_fingerprint_covers_vendor_members_but_not_volatile_ones() {
        let plain = fingerprint(&tool(r#"{"name":"a"}"#));
        assert_ne!(
            plain,
            fingerprint(&tool(
                r#"{"name":"a","execution":{"taskSupport":"forbidden"}}"#
            ))
        );
        assert_eq!(plain, fingerprint(&tool(r#"{"name":"a","ttlMs":3}"#)));
    }
}
