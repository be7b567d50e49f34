//! kiwi-mcp's lockfile, version 1: read, written and compared as the original does.

use super::{Link, short};
use exact_json::python::{NonFinite, dumps};
use exact_json::reader::parse_python;
use exact_json::{Json, Object};

use super::python;

/// The only version.
pub const VERSION: i64 = 1;

/// Why a lockfile cannot be used, in the original's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockfileError {
    #[error("Cannot create lockfile from empty chain")]
    Empty,
    #[error("Invalid lockfile JSON: {0}")]
    NotJson(String),
    #[error("Unsupported lockfile version: {0} (expected {VERSION})")]
    Version(String),
    /// A member that is not known, or missing.
    #[error("{0}")]
    Shape(String),
}

/// A lockfile: the resolved chain, link by link. Values are kept as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lockfile {
    pub generated_at: Json,
    /// The tool that was requested.
    pub root: Json,
    /// Its chain, leaf first: `{tool_id, version, integrity, executor}`.
    pub chain: Vec<Json>,
    /// `{url, fetched_at}`, or null.
    pub registry: Json,
}

impl Lockfile {
    /// Pins a chain. The caller has verified it: this only records it.
    pub fn of(
        chain: &[Link],
        generated_at: &str,
        registry: Option<&str>,
    ) -> Result<Self, LockfileError> {
        let Some(leaf) = chain.first() else {
            return Err(LockfileError::Empty);
        };
        let text = |link: &Link, name: &str| link.0.get(name).cloned().unwrap_or(Json::string(""));
        let integrity = |link: &Link| Json::string(link.stored().unwrap_or_default());
        let now = Json::string(generated_at);
        Ok(Self {
            root: Json::object([
                ("tool_id", text(leaf, "tool_id")),
                ("version", text(leaf, "version")),
                ("integrity", integrity(leaf)),
            ]),
            chain: chain
                .iter()
                .map(|link| {
                    Json::object([
                        ("tool_id", text(link, "tool_id")),
                        ("version", text(link, "version")),
                        ("integrity", integrity(link)),
                        (
                            "executor",
                            link.0.get("executor_id").cloned().unwrap_or(Json::Null),
                        ),
                    ])
                })
                .collect(),
            registry: registry.map_or(Json::Null, |url| {
                Json::object([("url", Json::string(url)), ("fetched_at", now.clone())])
            }),
            generated_at: now,
        })
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, LockfileError> {
        let document =
            parse_python(bytes).map_err(|error| LockfileError::NotJson(error.to_string()))?;
        Self::from_json(&document)
    }

    /// From JSON. As in the original, unknown members of the file are dropped, and unknown members
    /// of an entry are rejected.
    pub fn from_json(document: &Json) -> Result<Self, LockfileError> {
        let version = document.get("lockfile_version");
        if !version.is_some_and(|it| python::equal(it, &Json::integer(VERSION))) {
            return Err(LockfileError::Version(python::text(version)));
        }
        let member = |name: &str| {
            let missing = || LockfileError::Shape(format!("the lockfile has no `{name}`"));
            document.get(name).cloned().ok_or_else(missing)
        };
        let root = entry(
            &member("root")?,
            "LockfileRoot",
            &["tool_id", "version", "integrity"],
            &[],
        )?;
        let chain = member("resolved_chain")?;
        let chain = chain
            .as_array()
            .ok_or_else(|| LockfileError::Shape("`resolved_chain` is not an array".to_owned()))?
            .iter()
            .map(|it| {
                entry(
                    it,
                    "LockfileEntry",
                    &["tool_id", "version", "integrity"],
                    &["executor"],
                )
            })
            .collect::<Result<_, _>>()?;
        let registry = match document.get("registry").filter(|it| python::truthy(it)) {
            Some(found) => entry(found, "LockfileRegistry", &["url", "fetched_at"], &[])?,
            None => Json::Null,
        };
        Ok(Self {
            generated_at: member("generated_at")?,
            root,
            chain,
            registry,
        })
    }

    /// As a JSON value, members in the original's order.
    pub fn to_json(&self) -> Json {
        Json::object([
            ("lockfile_version", Json::integer(VERSION)),
            ("generated_at", self.generated_at.clone()),
            ("root", self.root.clone()),
            ("resolved_chain", Json::Array(self.chain.clone())),
            ("registry", self.registry.clone()),
        ])
    }

    /// The text of the file: `json.dump(..., indent=2)`, without a final newline.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        write(&mut out, &self.to_json(), 0);
        out
    }

    /// How a resolved chain differs from the locked one, with the position of each difference.
    /// Digests are compared if both sides have one.
    pub fn differences(&self, chain: &[Link]) -> Vec<(usize, String)> {
        if self.chain.len() != chain.len() {
            let (locked, found) = (self.chain.len(), chain.len());
            let message =
                format!("Chain length mismatch: lockfile has {locked}, resolved has {found}");
            return vec![(locked.min(found), message)];
        }
        let empty = Json::string("");
        let mut issues = Vec::new();
        for (index, (locked, link)) in self.chain.iter().zip(chain).enumerate() {
            let of_lock = |name: &str| locked.get(name).cloned().unwrap_or(Json::Null);
            let of_link = |name: &str| link.0.get(name).unwrap_or(&empty).clone();
            let id = python::text(Some(&of_lock("tool_id")));
            if !python::equal(&of_lock("tool_id"), &of_link("tool_id")) {
                let found = python::text(Some(&of_link("tool_id")));
                issues.push((
                    index,
                    format!(
                        "Tool ID mismatch at position {index}: lockfile={id}, resolved={found}"
                    ),
                ));
            }
            let version = python::text(Some(&of_lock("version")));
            if !python::equal(&of_lock("version"), &of_link("version")) {
                let found = python::text(Some(&of_link("version")));
                issues.push((
                    index,
                    format!("Version mismatch for {id}: lockfile={version}, resolved={found}"),
                ));
            }
            let integrity = of_lock("integrity");
            if let (Some(locked), Some(found)) = (
                integrity.as_str().filter(|it| !it.is_empty()),
                link.stored(),
            ) && locked != found
            {
                issues.push((
                    index,
                    format!(
                        "Integrity mismatch for {id}@{version}: lockfile={}, resolved={}",
                        short(locked),
                        short(found)
                    ),
                ));
            }
        }
        issues
    }

    /// The links whose bytes it does not pin: the original compares digests only if both sides have
    /// one.
    pub fn unpinned(&self) -> Vec<String> {
        let open = |entry: &&Json| !entry.get("integrity").is_some_and(python::truthy);
        self.chain
            .iter()
            .filter(open)
            .map(|entry| python::text(entry.get("tool_id")))
            .collect()
    }

    /// The pinned versions by id, in the order of the chain.
    pub fn pinned_versions(&self) -> Vec<(String, String)> {
        let text = |entry: &Json, name: &str| python::text(entry.get(name));
        self.chain
            .iter()
            .map(|entry| (text(entry, "tool_id"), text(entry, "version")))
            .collect()
    }

    /// The file name in the original's store.
    pub fn file_name(&self, chain_hash: Option<&str>) -> String {
        let text = |name: &str| python::text(self.root.get(name));
        let hash = chain_hash
            .map(|hash| format!(".{hash}"))
            .unwrap_or_default();
        format!("{}@{}{hash}.lock.json", text("tool_id"), text("version"))
    }
}

/// The identity of a whole chain: 12 hexadecimal digits over `id@version:integrity` of every link.
pub fn chain_hash(chain: &[Link]) -> String {
    let links: Vec<String> = chain
        .iter()
        .map(|link| {
            format!(
                "{}@{}:{}",
                link.id(),
                link.version(),
                link.stored().unwrap_or_default()
            )
        })
        .collect();
    short(&crate::sha256_hex(links.join("|")))
}

/// One of the lockfile's records, with exactly these members.
fn entry(
    found: &Json,
    class: &str,
    required: &[&str],
    optional: &[&str],
) -> Result<Json, LockfileError> {
    let shape = |problem: String| Err(LockfileError::Shape(problem));
    let Some(object) = found.as_object() else {
        return shape(format!("{class}: expected an object, not {}", found.kind()));
    };
    for (name, _) in object.iter() {
        let name = name.to_string_lossy();
        if !required.contains(&name) && !optional.contains(&name) {
            return shape(format!(
                "{class}.__init__() got an unexpected keyword argument '{name}'"
            ));
        }
    }
    let mut out = Object::new();
    for name in required {
        match object.get(name) {
            Some(value) => out.push(*name, value.clone()),
            None => {
                return shape(format!(
                    "{class}.__init__() missing 1 required positional argument: '{name}'"
                ));
            }
        }
    }
    for name in optional {
        out.push(*name, object.get(name).cloned().unwrap_or(Json::Null));
    }
    Ok(Json::Object(out))
}

/// `json.dumps(value, indent=2)`: members in their order, everything outside ASCII escaped.
fn write(out: &mut String, value: &Json, level: usize) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    // Scalars and empty containers look the same at every level.
    let plain = |value: &Json| dumps(value, NonFinite::Infinity).unwrap_or_default();
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, level + 1);
                write(out, item, level + 1);
            }
            line(out, level);
            out.push(']');
        }
        Json::Object(object) if !object.is_empty() => {
            out.push('{');
            for (index, (name, value)) in object.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, level + 1);
                out.push_str(&plain(&Json::String(name.clone())));
                out.push_str(": ");
                write(out, value, level + 1);
            }
            line(out, level);
            out.push('}');
        }
        scalar => out.push_str(&plain(scalar)),
    }
}
