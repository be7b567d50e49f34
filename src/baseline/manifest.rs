//! Parses a manifest, trusting nothing that its digests do not cover.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::render::{Entry, earlier_layout, entry_digest, integrity, render_entries};
use super::{BaselineError, MANIFEST_VERSION};
use crate::canonical::{Document, Json, Object, parse_document, pointer};
use crate::fingerprint::keel;
use crate::interop::digest::stored;
use crate::release::Release;
use crate::surface::{
    Caching, ClientProfile, Component, ComponentKey, Era, Kind, Recorded, Scope, Surface,
};
use crate::verify::launched::LaunchLink;

#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    text: String,
    document: Document,
    servers: BTreeMap<String, Pinned>,
    integrity: String,
    integrity_holds: bool,
    /// Why entries that are about to be replaced were not read.
    dropped: Vec<BaselineError>,
}

/// One server as it was pinned.
#[derive(Debug, Clone)]
pub struct Pinned {
    pub surface: Surface,
    /// The version at the time, from the source that the policy uses.
    pub release: Release,
    /// The launch chain at the time; empty if the baseline has none.
    pub launch: Vec<LaunchLink>,
}

impl Manifest {
    /// Reads and verifies a manifest: shape, every digest, integrity.
    pub fn parse(path: &Path, text: String) -> Result<Self, BaselineError> {
        let manifest = Self::parse_for_update(path, text, &[])?;
        if !manifest.integrity_holds {
            return Err(BaselineError::Edited {
                path: path.to_owned(),
                line: manifest.document.line("/integrity"),
                entry: "the manifest".to_owned(),
                what: "its `integrity` does not match its content".to_owned(),
            });
        }
        Ok(manifest)
    }

    /// [`Manifest::parse`] for `pin`, which writes a new integrity: each entry must be valid, but a
    /// stale `integrity` (two branches that each pinned a server, merged) is allowed, because
    /// pinning fixes it.
    ///
    /// An entry about to be replaced may be invalid; it is dropped then.
    pub fn parse_for_update(
        path: &Path,
        text: String,
        replacing: &[&str],
    ) -> Result<Self, BaselineError> {
        Reader { path, replacing }.manifest(text)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Covers the whole file, and so identifies it.
    pub fn integrity(&self) -> &str {
        &self.integrity
    }

    pub fn into_servers(self) -> BTreeMap<String, Pinned> {
        self.servers
    }

    pub fn servers(&self) -> &BTreeMap<String, Pinned> {
        &self.servers
    }

    /// The one-based line of a component's definition, or of the nearest value to `inside` in it;
    /// without a component, of the server's entry.
    pub fn line(&self, server: &str, component: Option<&str>, inside: &str) -> usize {
        let mut at = pointer::join("/servers", server);
        match component {
            Some(key) => {
                pointer::push(&mut at, "components");
                pointer::push(&mut at, key);
                if self.document.span(&at).is_some() && !inside.is_empty() {
                    at.push_str("/definition");
                    at.push_str(inside);
                }
            }
            None => at.push_str(inside),
        }
        self.document.line(&at)
    }

    /// The bytes of this manifest with these servers' entries replaced. Other entries are kept
    /// unchanged, and so is one that says the same in an earlier layout.
    pub fn with_servers(&self, new: BTreeMap<String, Json>) -> String {
        let mut entries: BTreeMap<String, Entry<'_>> = self
            .servers
            .keys()
            .filter_map(|kept| {
                let at = pointer::join("/servers", kept);
                let bytes = &self.text[self.document.span(&at)?];
                let value = pointer::resolve(&self.document.value, &at)?;
                Some((kept.clone(), Entry::Kept(bytes, value)))
            })
            .collect();
        for (name, entry) in new {
            let same = matches!(entries.get(&name), Some(Entry::Kept(bytes, _)) if *bytes == earlier_layout(&entry));
            if !same {
                entries.insert(name, Entry::New(entry));
            }
        }
        render_entries(&entries)
    }

    /// An entry about to be replaced that was changed by hand.
    pub fn edited(&self) -> Option<&BaselineError> {
        let is_edited = |it: &&BaselineError| matches!(it, BaselineError::Edited { .. });
        self.dropped.iter().find(is_edited)
    }

    /// The bytes of this manifest without some servers, and with others under a new name. Entries are kept
    /// unchanged.
    pub fn rearranged(&self, name: impl Fn(&str) -> Option<String>) -> String {
        let mut entries: BTreeMap<String, Entry<'_>> = BTreeMap::new();
        for kept in self.servers.keys() {
            let at = pointer::join("/servers", kept);
            let bytes = self.document.span(&at).map(|span| &self.text[span]);
            let value = pointer::resolve(&self.document.value, &at);
            if let (Some(name), Some(bytes), Some(value)) = (name(kept), bytes, value) {
                entries.insert(name, Entry::Kept(bytes, value));
            }
        }
        render_entries(&entries)
    }

    /// A server's entry as it is written.
    pub fn entry(&self, server: &str) -> Option<&Json> {
        pointer::resolve(&self.document.value, &pointer::join("/servers", server))
    }

    /// The bytes of a server's entry, valid or not.
    pub(super) fn entry_text(&self, server: &str) -> Option<&str> {
        let at = pointer::join("/servers", server);
        self.text.get(self.document.span(&at)?)
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// From how many entries on verifying them is worth more than starting threads.
const WORTH_A_THREAD: usize = 16;

struct Reader<'a> {
    path: &'a Path,
    replacing: &'a [&'a str],
}

impl Reader<'_> {
    fn manifest(&self, text: String) -> Result<Manifest, BaselineError> {
        if let Some(line) = conflict_marker(&text) {
            return Err(BaselineError::Conflict {
                path: self.path.to_owned(),
                line,
            });
        }
        let document = parse_document(text.as_bytes()).map_err(|error| BaselineError::NotJson {
            path: self.path.to_owned(),
            line: error.line,
            column: error.column,
            problem: error.problem.to_string(),
        })?;
        let root = self.object(&document, "", "the manifest")?;
        match root.get("manifestVersion") {
            Some(Json::Number(number)) if number.literal() == MANIFEST_VERSION.to_string() => {}
            Some(other) => {
                return Err(BaselineError::Version {
                    path: self.path.to_owned(),
                    line: document.line("/manifestVersion"),
                    found: other.to_string(),
                });
            }
            None => {
                return Err(self.shape(
                    &document,
                    "",
                    "not a baseline: `manifestVersion` is missing".to_owned(),
                ));
            }
        }
        let known = ["$schema", "manifestVersion", "servers", "integrity"];
        self.only(&document, "", root, &known)?;
        let mut servers = BTreeMap::new();
        let mut dropped = Vec::new();
        let listed = self.object(&document, "/servers", "`servers`")?;
        let names = listed.iter().map(|(name, _)| name.to_string_lossy());
        for (name, read) in self.servers(&document, names.collect()) {
            match read {
                Ok(pinned) => {
                    servers.insert(name.to_owned(), pinned);
                }
                Err(error) if self.replacing.contains(&name) => dropped.push(error),
                Err(error) => return Err(error),
            }
        }
        let found = self.string(&document, "/integrity")?.to_owned();
        Ok(Manifest {
            path: self.path.to_owned(),
            integrity_holds: found == integrity(root),
            integrity: found,
            dropped,
            servers,
            document,
            text,
        })
    }

    /// The entries of servers, in order; those of a fleet are verified on all cores.
    fn servers<'n>(
        &self,
        document: &Document,
        names: Vec<&'n str>,
    ) -> Vec<(&'n str, Result<Pinned, BaselineError>)> {
        let read = |names: &[&'n str]| -> Vec<_> {
            let read = names
                .iter()
                .map(|name| (*name, self.server(document, name)));
            read.collect()
        };
        if names.len() < WORTH_A_THREAD {
            return read(&names);
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores == 1 {
            return read(&names);
        }
        std::thread::scope(|scope| {
            let read = &read;
            let parts = names.chunks(names.len().div_ceil(cores));
            let started: Vec<_> = parts
                .map(|part| {
                    let thread =
                        std::thread::Builder::new().spawn_scoped(scope, move || read(part));
                    (part, thread)
                })
                .collect();
            let finished = started.into_iter().map(|(part, thread)| match thread {
                Ok(thread) => match thread.join() {
                    Ok(read) => read,
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                // Without another thread it is done on this one.
                Err(_) => read(part),
            });
            finished.flatten().collect()
        })
    }

    fn server(&self, document: &Document, name: &str) -> Result<Pinned, BaselineError> {
        let at = pointer::join("/servers", name);
        let entry = self.object(document, &at, "a server's entry")?;
        let known = [
            "scheme",
            "serverInfo",
            "version",
            "protocolVersion",
            "client",
            "capabilities",
            "instructions",
            "supportedVersions",
            "otherMembers",
            "caching",
            "toolOrder",
            "lists",
            "components",
            "surface",
            "launch",
        ];
        self.only(document, &at, entry, &known)?;
        let below = |member: &str| format!("{at}/{member}");
        let scheme = self.string(document, &below("scheme"))?;
        if scheme != keel::SCHEME {
            let problem = format!(
                "unknown digest scheme `{scheme}`; this mcp-keel supports `{}`",
                keel::SCHEME
            );
            return Err(self.shape(document, &below("scheme"), problem));
        }
        let mut surface = Surface {
            protocol_version: self.string(document, &below("protocolVersion"))?.to_owned(),
            server_info: self.sent(document, &below("serverInfo"))?,
            capabilities: self.sent(document, &below("capabilities"))?,
            instructions: entry.get("instructions").and_then(Json::as_text).cloned(),
            supported_versions: self.supported_versions(document, &below("supportedVersions"))?,
            other_members: None,
            caching: entry
                .get("caching")
                .map(Caching::from_json)
                .unwrap_or_default(),
            components: Vec::new(),
            client: ClientProfile::from_json(&Json::Object(
                self.object(document, &below("client"), "`client`")?.clone(),
            )),
            over_http: false,
            notes: Vec::new(),
            scope: Scope::FULL,
            recorded: Recorded::default(),
        };
        // Recorded together with the revisions. In older baselines of the modern era neither is
        // known; a server of the legacy era names none.
        let is_recorded = surface.supported_versions.is_some() || surface.era() == Era::Legacy;
        surface.other_members = match entry.get("otherMembers") {
            Some(members) => Some(members.clone()),
            None => is_recorded.then(|| Json::object([])),
        };
        let stated = entry.get("lists").and_then(Json::as_array);
        let stated = stated.unwrap_or_default().iter().filter_map(Json::as_str);
        let stated: Vec<Kind> = stated.filter_map(Kind::of_member).collect();
        surface.scope.kinds = surface
            .scope
            .kinds
            .recorded(|kind| stated.contains(&kind), Some(&surface.capabilities));
        let components = below("components");
        for (key, entry) in self.object(document, &components, "`components`")?.iter() {
            let at = pointer::join(&components, key.to_string_lossy());
            let component = self.component(document, name, &at, key.to_string_lossy(), entry)?;
            surface.components.push(component);
        }
        self.order(document, &below("toolOrder"), &mut surface)?;
        let found = self.string(document, &below("surface"))?;
        if found != entry_digest(entry).tagged() {
            return Err(self.edited(
                document,
                &below("surface"),
                name,
                "its `surface` digest does not match",
            ));
        }
        let release = self.release(document, &below("version"), &surface)?;
        Ok(Pinned {
            surface,
            release,
            launch: self.launch(document, &below("launch"))?,
        })
    }

    fn supported_versions(
        &self,
        document: &Document,
        at: &str,
    ) -> Result<Option<Vec<String>>, BaselineError> {
        let Some(found) = pointer::resolve(&document.value, at) else {
            return Ok(None);
        };
        let versions = found.as_array().and_then(|versions| {
            let versions = versions.iter().map(|it| it.as_str().map(str::to_owned));
            versions.collect::<Option<Vec<String>>>()
        });
        match versions {
            Some(versions) => Ok(Some(versions)),
            None => {
                let problem = "`supportedVersions` must be an array of strings".to_owned();
                Err(self.shape(document, at, problem))
            }
        }
    }

    fn launch(&self, document: &Document, at: &str) -> Result<Vec<LaunchLink>, BaselineError> {
        let Some(found) = pointer::resolve(&document.value, at) else {
            return Ok(Vec::new());
        };
        let links: Option<Vec<LaunchLink>> = found
            .as_array()
            .and_then(|links| links.iter().map(LaunchLink::from_json).collect());
        links.ok_or_else(|| {
            let problem =
                "`launch` must be an array of links with `role`, `name` and optionally `sha256`";
            self.shape(document, at, problem.to_owned())
        })
    }

    fn release(
        &self,
        document: &Document,
        at: &str,
        surface: &Surface,
    ) -> Result<Release, BaselineError> {
        let Some(entry) = pointer::resolve(&document.value, at) else {
            return Ok(Release::of_server(surface));
        };
        Ok(Release {
            source: self.string(document, &format!("{at}/source"))?.to_owned(),
            version: entry.get("value").and_then(Json::as_str).map(str::to_owned),
        })
    }

    fn component(
        &self,
        document: &Document,
        server: &str,
        at: &str,
        key: &str,
        entry: &Json,
    ) -> Result<Component, BaselineError> {
        let entry = self.as_object(document, at, Some(entry), "a component's entry")?;
        let known = ["fingerprint", "digests", "definition"];
        self.only(document, at, entry, &known)?;
        let key: ComponentKey = key.parse().map_err(|_| {
            let problem = format!("`{key}` is not a component's key, such as `tool:name@`");
            self.shape(document, at, problem)
        })?;
        let definition_at = format!("{at}/definition");
        let definition = entry
            .get("definition")
            .ok_or_else(|| self.shape(document, at, format!("`{key}` has no `definition`")))?;
        let kind = key.kind();
        let component = Component {
            kind,
            key: key.clone(),
            definition: definition.clone(),
        };
        let named = format!("{key} of {server}");
        let expected = ComponentKey::of(kind, definition);
        if !key.is_repeated_from(&expected) {
            let what = format!("its definition belongs to `{expected}`");
            return Err(self.edited(document, &definition_at, &named, &what));
        }
        let fingerprint_at = format!("{at}/fingerprint");
        let found = self.as_string(document, &fingerprint_at, entry.get("fingerprint"))?;
        if found != keel::fingerprint(&component).tagged() {
            let what = "its `fingerprint` does not match its definition";
            return Err(self.edited(document, &fingerprint_at, &named, what));
        }
        let digests_at = format!("{at}/digests");
        let ours = keel::facets(&component).into_iter();
        let expected: Vec<(&str, String)> = ours
            .map(|(facet, digest)| (facet, digest.tagged()))
            .chain(stored(&component))
            .collect();
        let digests = entry.get("digests");
        let digests = self.as_object(document, &digests_at, digests, "`digests`")?;
        for (facet, found) in digests.iter() {
            let facet = facet.to_string_lossy();
            let expected = expected
                .iter()
                .find(|(name, _)| *name == facet)
                .map(|(_, digest)| digest);
            if expected.is_none() || found.as_str() != expected.map(String::as_str) {
                let what = format!("its digest `{facet}` does not match its definition");
                let place = pointer::join(&digests_at, facet);
                return Err(self.edited(document, &place, &named, &what));
            }
        }
        Ok(component)
    }

    /// Sorts the tools into the order in which the server listed them.
    fn order(
        &self,
        document: &Document,
        at: &str,
        surface: &mut Surface,
    ) -> Result<(), BaselineError> {
        let Some(order) = pointer::resolve(&document.value, at) else {
            return Ok(());
        };
        let order = order.as_array().ok_or_else(|| {
            self.shape(
                document,
                at,
                "`toolOrder` must be an array of keys".to_owned(),
            )
        })?;
        surface.scope.order = !order.is_empty();
        let place: BTreeMap<&str, usize> = order
            .iter()
            .enumerate()
            .filter_map(|(place, key)| Some((key.as_str()?, place)))
            .collect();
        surface.components.sort_by_key(|component| {
            (
                component.kind,
                place
                    .get(component.key.as_str())
                    .copied()
                    .unwrap_or(usize::MAX),
            )
        });
        Ok(())
    }

    fn object<'d>(
        &self,
        document: &'d Document,
        at: &str,
        what: &str,
    ) -> Result<&'d Object, BaselineError> {
        self.as_object(document, at, pointer::resolve(&document.value, at), what)
    }

    /// `found`, which is at `at`, as an object. Use it when the value is at hand: a lookup from the
    /// root is linear in the members on the way, and there may be thousands.
    fn as_object<'d>(
        &self,
        document: &Document,
        at: &str,
        found: Option<&'d Json>,
        what: &str,
    ) -> Result<&'d Object, BaselineError> {
        match found {
            Some(Json::Object(object)) => {
                self.distinct(document, at, object)?;
                Ok(object)
            }
            Some(other) => Err(self.shape(
                document,
                at,
                format!("{what} must be an object, not {}", other.kind()),
            )),
            None => Err(self.shape(document, at, format!("{what} is missing"))),
        }
    }

    /// A value that the server sent, whatever it is.
    fn sent(&self, document: &Document, at: &str) -> Result<Json, BaselineError> {
        pointer::resolve(&document.value, at)
            .cloned()
            .ok_or_else(|| {
                let member = at.rsplit('/').next().unwrap_or_default();
                self.shape(document, at, format!("`{member}` is missing"))
            })
    }

    /// mcp-keel's own members must be unique. Values that a server sent (`definition` and the like)
    /// are not checked: a repeated member is pinned as sent.
    fn distinct(
        &self,
        document: &Document,
        at: &str,
        object: &Object,
    ) -> Result<(), BaselineError> {
        if object.by_name().len() == object.len() {
            return Ok(());
        }
        let mut seen = std::collections::BTreeSet::new();
        for (name, _) in object.iter() {
            if !seen.insert(name) {
                let name = name.to_string_lossy();
                let problem = format!("duplicate member `{name}`");
                return Err(self.shape(document, &pointer::join(at, name), problem));
            }
        }
        Ok(())
    }

    fn string<'d>(&self, document: &'d Document, at: &str) -> Result<&'d str, BaselineError> {
        self.as_string(document, at, pointer::resolve(&document.value, at))
    }

    fn as_string<'d>(
        &self,
        document: &Document,
        at: &str,
        found: Option<&'d Json>,
    ) -> Result<&'d str, BaselineError> {
        found.and_then(Json::as_str).ok_or_else(|| {
            let member = at.rsplit('/').next().unwrap_or_default();
            self.shape(document, at, format!("`{member}` must be a string"))
        })
    }

    fn only(
        &self,
        document: &Document,
        at: &str,
        object: &Object,
        known: &[&str],
    ) -> Result<(), BaselineError> {
        match object
            .iter()
            .find(|(name, _)| !known.contains(&name.to_string_lossy()))
        {
            None => Ok(()),
            Some((name, _)) => {
                let name = name.to_string_lossy();
                let problem = format!("`{name}` is not allowed here in a version 1 baseline");
                Err(self.shape(document, &pointer::join(at, name), problem))
            }
        }
    }

    fn shape(&self, document: &Document, at: &str, problem: String) -> BaselineError {
        BaselineError::Shape {
            path: self.path.to_owned(),
            line: document.line(at),
            problem,
        }
    }

    fn edited(&self, document: &Document, at: &str, entry: &str, what: &str) -> BaselineError {
        BaselineError::Edited {
            path: self.path.to_owned(),
            line: document.line(at),
            entry: entry.to_owned(),
            what: what.to_owned(),
        }
    }
}

/// The one-based line of the first merge conflict marker. No line of valid JSON starts with one.
fn conflict_marker(text: &str) -> Option<usize> {
    let is_marker = |line: &str| {
        ["<<<<<<< ", ">>>>>>> ", "||||||| "]
            .iter()
            .any(|marker| line.starts_with(marker))
            || line.trim_end() == "======="
    };
    text.lines().position(is_marker).map(|index| index + 1)
}
