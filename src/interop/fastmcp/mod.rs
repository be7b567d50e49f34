//! FastMCP's flat manifest, `{key: hex}`, and its documented `check_drift`.

pub mod digest;

pub use digest::Field;

use crate::canonical::Json;
use crate::fingerprint::Refusal;
use crate::surface::{Kind, Surface};

/// Keys and digests, in file order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatManifest {
    /// `tool:name@version` and the digest, whose shape is not checked.
    pub digests: Vec<(String, String)>,
}

impl FlatManifest {
    /// From a document in which every value is a string and every name a component key.
    pub fn read(document: &Json) -> Option<Self> {
        let object = document.as_object()?;
        let mut digests: Vec<(String, String)> = Vec::new();
        for (key, value) in object.iter() {
            let (key, value) = (key.as_str()?, value.as_str()?);
            key.parse::<crate::surface::ComponentKey>().ok()?;
            match digests.iter_mut().find(|(it, _)| it == key) {
                Some((_, before)) => value.clone_into(before),
                None => digests.push((key.to_owned(), value.to_owned())),
            }
        }
        Some(Self { digests })
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.digests.iter().find(|(it, _)| it == key);
        found.map(|(_, digest)| digest.as_str())
    }

    /// The keys that differ: changed or added ones in the order of `current`, then removed ones in
    /// the order of the manifest. A new version of a tool is a new key, so it is one added and one
    /// removed.
    pub fn drift<'a>(&'a self, current: &'a [(String, String)]) -> Vec<Moved<'a>> {
        let changed = current
            .iter()
            .filter_map(|(key, digest)| match self.get(key) {
                Some(before) if before == digest => None,
                Some(before) => Some(Moved::Changed(key, before, digest)),
                None => Some(Moved::Added(key, digest)),
            });
        let removed = self
            .digests
            .iter()
            .filter(|(key, _)| !current.iter().any(|(it, _)| it == key))
            .map(|(key, digest)| Moved::Removed(key, digest));
        changed.chain(removed).collect()
    }
}

/// A key that differs, with the old and the new digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved<'a> {
    Changed(&'a str, &'a str, &'a str),
    Added(&'a str, &'a str),
    Removed(&'a str, &'a str),
}

impl<'a> Moved<'a> {
    pub fn key(&self) -> &'a str {
        match self {
            Self::Changed(key, _, _) | Self::Added(key, _) | Self::Removed(key, _) => key,
        }
    }
}

/// The digest of each tool of a surface by its key, in the order listed.
pub fn digests(surface: &Surface) -> Result<Vec<(String, String)>, Refusal> {
    surface
        .of_kind(Kind::Tool)
        .map(|tool| Ok((tool.key.to_string(), digest::digest(tool, &[])?.hex())))
        .collect()
}
