//! The digest schemes of `mcp-keel fingerprint --profile`, in one table.
//!
//! A scheme is a name with a fixed meaning; a new one gets a new row. The table in
//! `docs/conventions.md` is this one.

use super::{fastmcp, hangar, toolpin};
use crate::fingerprint::{Digest, Refusal, keel, whole_tool};
use crate::surface::{Component, Kind, Surface};

/// What to know about a digest scheme before trusting it, and how it is computed.
#[derive(Clone, Copy, Debug)]
pub struct DigestScheme {
    /// Its name in `--profile`.
    pub name: &'static str,
    /// The members that it covers. Changes to others do not affect the digest.
    pub covers: &'static str,
    /// The text that is hashed.
    pub form: &'static str,
    /// The order of names, and of tools if a list is hashed.
    pub order: &'static str,
    /// What a missing, null or empty member counts as.
    pub absent: &'static str,
    /// Whether its original is written in Python and so reads `NaN` and `Infinity`, which all
    /// others reject.
    pub is_python: bool,
    pub hashes: Hashes,
}

/// Digests of a list, each under the original's name.
pub type NamedDigests = Vec<(&'static str, Digest)>;

#[derive(Clone, Copy, Debug)]
pub enum Hashes {
    /// Each component, of any kind.
    Components(fn(&Component) -> Digest),
    /// Each tool; `None` if there is nothing to hash.
    Tools(fn(&Component) -> Result<Option<Digest>, Refusal>),
    /// Each tool, with the members that `--fields` adds.
    ToolsWithFields(fn(&Component, &[fastmcp::Field]) -> Result<Digest, Refusal>),
    /// The list as a whole, under the original's names.
    List(fn(&Surface) -> Result<NamedDigests, Refusal>),
}

const KEEL: DigestScheme = DigestScheme {
    name: "keel",
    covers: "the key, and the whole definition including vendor members but not volatile ones; every kind of component",
    form: "RFC 8785 with exact numbers, repeated members and lone surrogates kept",
    order: "UTF-16 units",
    absent: "missing, null and empty all differ",
    is_python: false,
    hashes: Hashes::Components(keel::fingerprint),
};

const KEEL_SURFACE: DigestScheme = DigestScheme {
    name: "keel-surface",
    covers: "every key with its fingerprint, and the server's own: one digest for all that it says",
    form: "RFC 8785 of `{key: fingerprint}`",
    order: "UTF-16 units; the order listed does not count",
    absent: "as in `keel`",
    is_python: false,
    hashes: Hashes::List(|surface| Ok(vec![("surface", keel::surface_digest(surface))])),
};

const JCS: DigestScheme = DigestScheme {
    name: "jcs",
    covers: "the whole tool as sent",
    form: "RFC 8785, numbers as doubles; rejects numbers beyond a double and lone surrogates",
    order: "UTF-16 units",
    absent: "missing, null and empty all differ",
    is_python: false,
    hashes: Hashes::Tools(|tool| whole_tool(tool).map(Some)),
};

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Profile(&'static DigestScheme);

impl std::ops::Deref for Profile {
    type Target = DigestScheme;

    fn deref(&self) -> &DigestScheme {
        self.0
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name)
    }
}

impl std::str::FromStr for Profile {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL
            .iter()
            .copied()
            .find(|it| it.name == word)
            .ok_or(())
    }
}

impl Profile {
    /// Every scheme, mcp-keel's own first.
    pub const ALL: &'static [Self] = &[
        Self(&KEEL),
        Self(&KEEL_SURFACE),
        Self(&fastmcp::digest::SCHEME),
        Self(&hangar::digest::SCHEME),
        Self(&hangar::digest::STRUCTURE),
        Self(&hangar::digest::DESCRIPTION),
        Self(&hangar::digest::RELEASE_1_2_0),
        Self(&toolpin::digest::SCHEME),
        Self(&JCS),
    ];

    /// Its name in every format.
    pub fn word(self) -> &'static str {
        self.name
    }

    /// Whether `--fields` adds to what it covers.
    pub fn takes_fields(self) -> bool {
        matches!(self.hashes, Hashes::ToolsWithFields(_))
    }

    /// The digests of a surface: key and hexadecimal digest, in the order listed. `fields` only
    /// applies if [`Profile::takes_fields`].
    pub fn manifest(
        self,
        surface: &Surface,
        fields: &[fastmcp::Field],
    ) -> Result<Vec<(String, String)>, Refusal> {
        let tools = |digest: &dyn Fn(&Component) -> Result<Option<Digest>, Refusal>| {
            surface
                .of_kind(Kind::Tool)
                .filter_map(|tool| match digest(tool) {
                    Ok(digest) => digest.map(|digest| Ok((tool.key.to_string(), digest.hex()))),
                    Err(refusal) => Some(Err(refusal)),
                })
                .collect()
        };
        match self.hashes {
            Hashes::Components(digest) => Ok(surface
                .components
                .iter()
                .map(|component| (component.key.to_string(), digest(component).hex()))
                .collect()),
            Hashes::Tools(digest) => tools(&digest),
            Hashes::ToolsWithFields(digest) => tools(&|tool| digest(tool, fields).map(Some)),
            Hashes::List(digests) => Ok(digests(surface)?
                .into_iter()
                .map(|(name, digest)| (name.to_owned(), digest.hex()))
                .collect()),
        }
    }
}
