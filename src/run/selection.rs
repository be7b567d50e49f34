//! Which components are meant: names as they are printed, and what is taken over of them.

use std::collections::BTreeSet;

use super::Error;
use crate::config::suggestion;
use crate::drift;
use crate::fingerprint::keel::{self, SERVER};
use crate::surface::{ComponentKey, Surface};

/// Components of one server, and whether its own entry is among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) server: bool,
    pub(crate) keys: BTreeSet<ComponentKey>,
}

impl Chosen {
    pub(crate) fn is_empty(&self) -> bool {
        !self.server && self.keys.is_empty()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.server |= other.server;
        self.keys.extend(other.keys);
    }

    /// With the other half of every component that was renamed.
    pub(crate) fn with_other_halves(mut self, pinned: &Surface, seen: &Surface) -> Self {
        for (old, new) in drift::renames(pinned, seen) {
            if self.keys.contains(&old) || self.keys.contains(&new) {
                self.keys.extend([old, new]);
            }
        }
        self
    }

    /// The pinned surface with what was chosen as it was seen.
    pub(crate) fn taken(&self, pinned: &Surface, seen: &Surface) -> Surface {
        let mut taken = pinned.clone();
        if self.server {
            taken = Surface {
                components: taken.components,
                scope: taken.scope,
                ..seen.clone()
            };
            taken.scope.server = seen.scope.server;
            taken.scope.kinds = taken.scope.kinds.or(seen.scope.kinds);
        }
        let is_chosen = |key: &ComponentKey| self.keys.contains(key);
        taken.components.retain(|it| !is_chosen(&it.key));
        for component in seen.components.iter().filter(|it| is_chosen(&it.key)) {
            taken.scope.kinds = taken.scope.kinds.with(component.kind);
            taken.components.push(component.clone());
        }
        taken.components.sort_by_key(|component| component.kind);
        taken
    }
}

/// What differs between two surfaces, as far as both were seen.
pub(crate) fn differing(pinned: &Surface, seen: &Surface) -> Chosen {
    let is_comparable = |key: &ComponentKey| {
        let kinds = pinned.scope.kinds.and(seen.scope.kinds);
        kinds.contains(key.kind())
    };
    let fingerprint = |surface: &Surface, key: &ComponentKey| {
        let component = surface.component(key);
        component.map(|it| (keel::fingerprint(it), it.definition.clone()))
    };
    let keys = keys(pinned, seen).into_iter();
    let keys = keys.filter(|key| is_comparable(key));
    Chosen {
        server: pinned.scope.server
            && seen.scope.server
            && keel::server_fingerprint(pinned) != keel::server_fingerprint(seen),
        keys: keys
            .filter(|key| fingerprint(pinned, key) != fingerprint(seen, key))
            .collect(),
    }
}

/// The names of what was chosen, each as short as it can be among all components of the server.
pub(crate) fn names(chosen: &Chosen, pinned: &Surface, seen: &Surface) -> Vec<String> {
    let all = keys(pinned, seen);
    let server = chosen.server.then(|| SERVER.to_owned());
    let keys = chosen.keys.iter().map(|key| name(key, &all));
    server.into_iter().chain(keys).collect()
}

fn keys(one: &Surface, other: &Surface) -> BTreeSet<ComponentKey> {
    let components = one.components.iter().chain(&other.components);
    components.map(|it| it.key.clone()).collect()
}

/// A name that means one component: `greet`, or `prompt:greet` where a tool is called so too.
fn name(key: &ComponentKey, all: &BTreeSet<ComponentKey>) -> String {
    let called = key.called();
    let is_taken = |other: &&ComponentKey| *other != key && other.called() == called;
    if called == SERVER || all.iter().any(|other| is_taken(&other)) {
        format!("{}:{called}", key.kind())
    } else {
        called.to_owned()
    }
}

/// A server with what was pinned and what was seen of it.
pub(crate) struct Choice<'a> {
    pub(crate) server: &'a str,
    pub(crate) pinned: &'a Surface,
    pub(crate) seen: &'a Surface,
}

/// What `name` means: the position of the server, and the component.
pub(crate) fn find(name: &str, servers: &[Choice<'_>]) -> Result<(usize, Chosen), Error> {
    let mut found: Vec<(usize, Vec<ComponentKey>)> = Vec::new();
    for (index, server) in servers.iter().enumerate() {
        let matching = matching(name, &keys(server.pinned, server.seen));
        if !matching.is_empty() || name == SERVER {
            found.push((index, matching));
        }
    }
    if let [_, _, ..] = found[..] {
        let names: Vec<&str> = found.iter().map(|(at, _)| servers[*at].server).collect();
        return Err(Error::usage(
            format!("`{name}` is in several servers: {}", names.join(", ")),
            format!("name the server too: `mcp-keel pin {} --only {name}`", names[0]),
        ));
    }
    match found.pop() {
        Some((index, _)) if name == SERVER => Ok((
            index,
            Chosen {
                server: true,
                ..Chosen::default()
            },
        )),
        Some((index, keys)) if keys.len() == 1 => Ok((
            index,
            Chosen {
                keys: keys.into_iter().collect(),
                server: false,
            },
        )),
        Some((index, keys)) => {
            let server = &servers[index];
            let chosen = Chosen {
                keys: keys.into_iter().collect(),
                server: false,
            };
            let names = names(&chosen, server.pinned, server.seen);
            Err(Error::usage(
                format!("`{name}` means several components of {}", server.server),
                format!("name one of them: {}", names.join(", ")),
            ))
        }
        None => {
            let all = servers.iter().flat_map(|it| keys(it.pinned, it.seen));
            let all: Vec<String> = all.map(|key| key.called().to_owned()).collect();
            let help = match suggestion(name, all.iter().map(String::as_str)) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "name it as a report does: `greet`, `prompt:greet`, `server`".to_owned(),
            };
            Err(Error::usage(format!("no server has `{name}`"), help))
        }
    }
}

/// The components that a name means: by its whole name, by kind and name, without its version.
fn matching(name: &str, all: &BTreeSet<ComponentKey>) -> Vec<ComponentKey> {
    let of_kind = name.split_once(':');
    let is_of_kind = |key: &ComponentKey| {
        of_kind.is_some_and(|(kind, rest)| {
            kind == key.kind().word() && (key.called() == rest || key.identity() == rest)
        })
    };
    let ways: [&dyn Fn(&ComponentKey) -> bool; 4] = [
        &|key| name != SERVER && key.called() == name,
        &|key| key.as_str() == name,
        &is_of_kind,
        &|key| name != SERVER && key.identity() == name,
    ];
    for way in ways {
        let found: Vec<ComponentKey> = all.iter().filter(|key| way(key)).cloned().collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    fn surface(text: &str) -> Surface {
        crate::source::from_document(parse_str(text).unwrap()).unwrap().1
    }

    fn found(name: &str, surface: &Surface) -> Result<String, String> {
        let server = Choice {
            server: "it",
            pinned: surface,
            seen: surface,
        };
        match find(name, &[server]) {
            Ok((_, chosen)) if chosen.server => Ok(SERVER.to_owned()),
            Ok((_, chosen)) => Ok(chosen.keys.first().unwrap().to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn a_name_means_what_a_report_calls_so() {
        let it = surface(
            r#"{"tools": [{"name": "greet"}, {"name": "ask"}, {"name": "server"},
                {"name": "calc", "_meta": {"fastmcp": {"version": "1.0"}}},
                {"name": "calc", "_meta": {"fastmcp": {"version": "2.0"}}},
                {"name": "once", "_meta": {"fastmcp": {"version": "3"}}}],
                "prompts": [{"name": "ask"}], "resources": [{"uri": "a://b"}], "resourceTemplates": []}"#,
        );
        for (name, key) in [
            ("greet", "tool:greet@"),
            ("tool:greet", "tool:greet@"),
            ("tool:greet@", "tool:greet@"),
            ("prompt:ask", "prompt:ask@"),
            ("server", "server"),
            ("tool:server", "tool:server@"),
            ("calc@2.0", "tool:calc@2.0"),
            ("once", "tool:once@3"),
            ("a://b", "resource:a://b@"),
        ] {
            assert_eq!(found(name, &it), Ok(key.to_owned()), "{name}");
        }
        for (name, choices) in [
            ("ask", "prompt:ask, tool:ask"),
            ("calc", "calc@1.0, calc@2.0"),
            ("gret", "did you mean `greet`?"),
            ("none at all", "as a report does"),
        ] {
            let error = found(name, &it).unwrap_err();
            assert!(error.contains(choices), "{name}: {error}");
        }
    }

    #[test]
    fn a_rename_is_both_halves_and_everything_else_stays() {
        let schema = r#"{"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}"#;
        let tool = |name: &str, text: &str| {
            format!(r#"{{"name": "{name}", "description": "{text}", "inputSchema": {schema}}}"#)
        };
        let list = |tools: &[String]| surface(&format!(r#"{{"tools": [{}]}}"#, tools.join(",")));
        let long = "Finds a place by its name on the map.";
        let pinned = list(&[tool("find_place", long), tool("other", "Other.")]);
        let seen = list(&[tool("findPlace", long), tool("other", "Another.")]);
        let chosen = Chosen {
            keys: ["tool:findPlace@".parse().unwrap()].into(),
            server: false,
        };
        let taken = chosen.with_other_halves(&pinned, &seen).taken(&pinned, &seen);
        let keys: Vec<&str> = taken.components.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["tool:other@", "tool:findPlace@"]);
        assert_eq!(taken.components[0], pinned.components[1]);
    }
}
