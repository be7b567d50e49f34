//! Named digests over declared fields.
//!
//! Every digest names its scheme, and a scheme never changes its meaning: `keel` is ours ([`keel`]), the others
//! reproduce what existing tools print, byte for byte, and refuse what those refuse ([`fastmcp`], [`hangar`],
//! [`toolpin`]). [`SCHEMES`] says of each what it covers and how.

pub mod fastmcp;
pub mod hangar;
pub mod keel;
pub mod toolpin;

use sha2::{Digest as _, Sha256};

use crate::canonical::jcs;
use crate::keyword_enum::keyword_enum;
use crate::surface::{Component, Kind, Surface};

/// A SHA-256 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of some bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        let halves = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        halves
            .filter_map(|half| char::from_digit(half.into(), 16))
            .collect()
    }

    /// `sha256:` and the hexadecimal digits.
    pub fn tagged(&self) -> String {
        format!("sha256:{}", self.hex())
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The digest schemes that `mcp-keel fingerprint --profile` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The whole definition as sent, in our canonical form.
    Keel,
    /// FastMCP's documented recipe: `tool.key` and `inputSchema`, in Python's JSON.
    FastMcp,
    /// MCP Hangar since 1.2.1: RFC 8785 over the members that are not empty.
    Hangar,
    /// The half of it without the description.
    HangarStructure,
    /// The half of it that is the description.
    HangarDescription,
    /// MCP Hangar 1.2.0: Python's JSON over the members that are not null.
    Hangar120,
    /// ToolPin's three digests of the whole list.
    ToolPin,
    /// RFC 8785 over the whole tool.
    Jcs,
}

keyword_enum!(Profile {
    Keel = "keel",
    FastMcp = "fastmcp",
    Hangar = "hangar",
    HangarStructure = "hangar-structure",
    HangarDescription = "hangar-description",
    Hangar120 = "hangar-1.2.0",
    ToolPin = "toolpin",
    Jcs = "jcs",
});

/// What there is to know of a digest scheme before trusting it.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    /// Which one.
    pub profile: Profile,
    /// The members that it covers. A change of any other leaves the digest as it was.
    pub covers: &'static str,
    /// The text that is hashed.
    pub form: &'static str,
    /// The order of names, and of tools where a list is hashed.
    pub order: &'static str,
    /// What a member that is missing, null or empty counts as.
    pub absent: &'static str,
}

/// Every scheme once. The table in `docs/conventions.md` is this one.
pub const SCHEMES: [Scheme; 8] = [
    Scheme {
        profile: Profile::Keel,
        covers: "the whole definition, vendor members included, volatile ones not; every kind of component",
        form: "RFC 8785 with exact numbers, repeated members and lone surrogates kept",
        order: "UTF-16 units",
        absent: "missing, null and empty are three different things",
    },
    Scheme {
        profile: Profile::FastMcp,
        covers: "tool.key, inputSchema, and what --fields adds",
        form: "Python json.dumps, ASCII, numbers as CPython prints them, beyond a double null",
        order: "code points",
        absent: "inputSchema is required; a missing or null field of --fields is null, an empty one stays",
    },
    Scheme {
        profile: Profile::Hangar,
        covers: "name, description, inputSchema, outputSchema",
        form: "RFC 8785, numbers as doubles; beyond a double, and lone surrogates, refused",
        order: "UTF-16 units",
        absent: "missing, null, empty string, array and object are all left out; false and 0 stay",
    },
    Scheme {
        profile: Profile::HangarStructure,
        covers: "name, inputSchema, outputSchema",
        form: "as hangar",
        order: "UTF-16 units",
        absent: "as hangar",
    },
    Scheme {
        profile: Profile::HangarDescription,
        covers: "description",
        form: "its UTF-8 bytes",
        order: "none",
        absent: "a tool without a description has no digest",
    },
    Scheme {
        profile: Profile::Hangar120,
        covers: "name, description, inputSchema, outputSchema",
        form: "Python json.dumps, ASCII, beyond a double Infinity",
        order: "code points",
        absent: "missing and null are left out, empty stays",
    },
    Scheme {
        profile: Profile::ToolPin,
        covers: "name, description, inputSchema of all tools together",
        form: "JSON.stringify after NFC of names, numbers as doubles, beyond a double null",
        order: "names by UTF-16 unit after array indices; tools by localeCompare in en-US (surface: by UTF-16 unit)",
        absent: "description and manifest: missing and null count as empty; surface: all differ",
    },
    Scheme {
        profile: Profile::Jcs,
        covers: "the whole tool as sent",
        form: "RFC 8785, numbers as doubles; beyond a double, and lone surrogates, refused",
        order: "UTF-16 units",
        absent: "missing, null and empty are three different things",
    },
];

impl Profile {
    /// Whether its original is written in Python, and so reads `NaN` and `Infinity`, which everybody else refuses.
    pub fn is_python(self) -> bool {
        match self {
            Profile::FastMcp
            | Profile::Hangar
            | Profile::HangarStructure
            | Profile::HangarDescription
            | Profile::Hangar120 => true,
            Profile::Keel | Profile::ToolPin | Profile::Jcs => false,
        }
    }
}

/// Why a scheme has no digest for a component. What an original refuses, we refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{component}: {reason}")]
pub struct Refusal {
    /// The component's key.
    pub component: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The digest manifest of a surface: key and hexadecimal digest, in the order listed.
///
/// `fields` adds members to FastMCP's payload; no other scheme takes any. ToolPin's three digests are of the list as
/// a whole, and stand under ToolPin's names for them.
pub fn manifest(
    surface: &Surface,
    profile: Profile,
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
    match profile {
        Profile::Keel => Ok(surface
            .components
            .iter()
            .map(|component| {
                (
                    component.key.to_string(),
                    keel::fingerprint(component).hex(),
                )
            })
            .collect()),
        Profile::FastMcp => tools(&|tool| fastmcp::digest(tool, fields).map(Some)),
        Profile::Hangar => tools(&|tool| hangar::digest(tool).map(Some)),
        Profile::HangarStructure => tools(&|tool| hangar::structure(tool).map(Some)),
        Profile::HangarDescription => tools(&hangar::description),
        Profile::Hangar120 => tools(&|tool| hangar::digest_1_2_0(tool).map(Some)),
        Profile::ToolPin => {
            let hashes = toolpin::hashes(surface)?;
            Ok([
                ("toolDescriptionHash", hashes.description),
                ("toolManifestHash", hashes.manifest),
                ("toolSurfaceHash", hashes.surface),
            ]
            .map(|(name, digest)| (name.to_owned(), digest.hex()))
            .into())
        }
        Profile::Jcs => tools(&|tool| whole_tool(tool).map(Some)),
    }
}

fn whole_tool(tool: &Component) -> Result<Digest, Refusal> {
    match jcs::to_string(&tool.definition) {
        Ok(text) => Ok(Digest::of(text)),
        Err(error) => Err(Refusal {
            component: tool.key.to_string(),
            reason: error.to_string(),
        }),
    }
}
