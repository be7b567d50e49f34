//! Parses a manifest, trusting nothing that its digests do not cover.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::render::{Entry, render_entries};
use super::{BaselineError, MANIFEST_VERSION, signature};
use crate::canonical::{Document, Json, Object, parse_document, pointer};
use crate::fingerprint::{Digest, keel};
use crate::release::Release;
use crate::surface::{Caching, ClientProfile, Component, ComponentKey, Recorded, Scope, Surface};

#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    text: String,
    document: Document,
    servers: BTreeMap<String, Pinned>,
    /// Why entries that are about to be replaced were not read.
    dropped: Vec<BaselineError>,
}

/// One server as it was pinned.
#[derive(Debug, Clone)]
pub struct Pinned {
    pub surface: Surface,
    /// The version at the time, from the source that the policy uses.
    pub release: Release,
}

impl Manifest {
    /// Reads and verifies a manifest: its shape, every signature and every fingerprint.
    pub fn parse(path: &Path, text: String) -> Result<Self, BaselineError> {
        Self::parse_for_update(path, text, &[])
    }

    /// [`Manifest::parse`] for `pin`: an entry about to be replaced may be invalid, and is dropped then.
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

    /// Identifies the file by its bytes.
    pub fn identity(&self) -> String {
        Digest::of(&self.text).tagged()
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
        let of_server = pointer::tokens(inside).next();
        let entry = match (component, of_server.as_deref()) {
            (Some(key), _) => vec!["components", key],
            (None, None | Some("client" | "components")) => Vec::new(),
            (None, Some(_)) => vec!["server"],
        };
        for token in &entry {
            pointer::push(&mut at, token);
        }
        let is_there = self.document.span(&at).is_some();
        if is_there && !inside.is_empty() {
            at.push_str(if entry.is_empty() { "" } else { "/definition" });
            at.push_str(inside);
        }
        self.document.line(&at)
    }

    /// The bytes of this manifest with these servers' entries replaced. Other entries are kept unchanged.
    pub fn with_servers(&self, new: BTreeMap<String, Json>) -> String {
        let kept = self.servers.keys();
        let mut entries: BTreeMap<String, Entry<'_>> = kept
            .filter_map(|name| Some((name.clone(), Entry::Kept(self.entry_text(name)?))))
            .collect();
        for (name, entry) in new {
            entries.insert(name, Entry::New(entry));
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
        let kept = self.servers.keys();
        let entries = kept
            .filter_map(|kept| Some((name(kept)?, Entry::Kept(self.entry_text(kept)?))))
            .collect();
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
            Some(Json::Number(number)) if number.literal() == "1" => {
                return Err(BaselineError::Earlier {
                    path: self.path.to_owned(),
                    line: document.line("/manifestVersion"),
                    found: "1".to_owned(),
                });
            }
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
        let known = ["$schema", "manifestVersion", "servers"];
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
        Ok(Manifest {
            path: self.path.to_owned(),
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
            "client",
            "server",
            "observed",
            "version",
            "components",
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
        let mut surface = self.own_entry(document, name, &at)?;
        let components = below("components");
        for (key, entry) in self.object(document, &components, "`components`")?.iter() {
            let at = pointer::join(&components, key.to_string_lossy());
            let component = self.component(document, name, &at, key.to_string_lossy(), entry)?;
            surface.components.push(component);
        }
        // In the order of kinds, as they are listed.
        surface.components.sort_by_key(|component| component.kind);
        let release = self.release(document, &below("version"), &surface)?;
        Ok(Pinned { surface, release })
    }

    /// The server's own entry: who asked, what it said about itself, what was seen of it.
    fn own_entry(
        &self,
        document: &Document,
        name: &str,
        at: &str,
    ) -> Result<Surface, BaselineError> {
        let below = |member: &str| format!("{at}/{member}");
        let client = self.object(document, &below("client"), "`client`")?;
        let client = Json::Object(client.clone());
        let observed_at = below("observed");
        let observed = pointer::resolve(&document.value, &observed_at);
        let observed = observed.and_then(Json::as_array).ok_or_else(|| {
            let problem = "`observed` must be an array of words".to_owned();
            self.shape(document, &observed_at, problem)
        })?;
        let own = self.object(document, &below("server"), "`server`")?;
        self.only(
            document,
            &below("server"),
            own,
            &["fingerprint", "definition"],
        )?;
        let definition_at = below("server/definition");
        let definition = self.object(document, &definition_at, "the server's `definition`")?;
        let known = [
            "serverInfo",
            "protocolVersion",
            "supportedVersions",
            "capabilities",
            "instructions",
            "cacheScope",
            "otherMembers",
        ];
        self.only(document, &definition_at, definition, &known)?;
        let fingerprint_at = below("server/fingerprint");
        let found = self.string(document, &fingerprint_at)?;
        let expected = keel::server_fingerprint_of(
            &client,
            &Json::Object(definition.clone()),
            &Json::Array(observed.to_vec()),
        );
        if found != expected.tagged() {
            let named = format!("`server` of {name}");
            let what = "its `fingerprint` is not that of its definition, `client` and `observed`";
            return Err(self.edited(document, &fingerprint_at, &named, what));
        }
        let words: Vec<&str> = observed.iter().filter_map(Json::as_str).collect();
        let (scope, recorded) = Recorded::read(&words).map_err(|word| {
            let problem = format!("`observed` names `{word}`, which is no list");
            self.shape(document, &observed_at, problem)
        })?;
        let sent = |member: &str| definition.get(member).cloned();
        let empty = || Json::object([]);
        let mut surface = Surface {
            protocol_version: definition
                .get("protocolVersion")
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned(),
            server_info: sent("serverInfo").unwrap_or_else(empty),
            capabilities: sent("capabilities").unwrap_or_else(empty),
            instructions: definition
                .get("instructions")
                .and_then(Json::as_text)
                .cloned(),
            supported_versions: self
                .supported_versions(document, &format!("{definition_at}/supportedVersions"))?,
            other_members: None,
            caching: definition
                .get("cacheScope")
                .map(Caching::from_scopes)
                .unwrap_or_default(),
            components: Vec::new(),
            client: ClientProfile::from_json(&client),
            over_http: false,
            notes: Vec::new(),
            scope: Scope {
                // The order of tools is not recorded.
                order: false,
                ..scope
            },
            recorded,
        };
        let is_server_seen = scope.server;
        surface.scope.kinds = scope.kinds.recorded(
            |kind| scope.kinds.contains(kind),
            is_server_seen.then_some(&surface.capabilities),
        );
        surface.other_members = is_server_seen.then(|| sent("otherMembers").unwrap_or_else(empty));
        Ok(surface)
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
        let known = ["signature", "fingerprint", "definition"];
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
        for (member, expected) in [
            ("fingerprint", keel::fingerprint(&component).tagged()),
            ("signature", signature(&component)),
        ] {
            let member_at = format!("{at}/{member}");
            let found = self.as_string(document, &member_at, entry.get(member))?;
            if found != expected {
                let what = format!("its `{member}` is not that of its definition");
                return Err(self.edited(document, &member_at, &named, &what));
            }
        }
        Ok(component)
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
                let problem = format!("`{name}` is not allowed here in a baseline");
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
pub fn conflict_marker(text: &str) -> Option<usize> {
    let is_marker = |line: &str| {
        ["<<<<<<< ", ">>>>>>> ", "||||||| "]
            .iter()
            .any(|marker| line.starts_with(marker))
            || line.trim_end() == "======="
    };
    text.lines().position(is_marker).map(|index| index + 1)
}
