//! The two eras of the protocol, which open a connection in incompatible ways.

use crate::keyword_enum::keyword_enum;

/// How client and server learn about each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// A handshake, `initialize`: 2024-11-05 to 2025-11-25.
    Legacy,
    /// No handshake: every request identifies the client, and `server/discover` the server.
    /// 2026-07-28 and later.
    Modern,
}

keyword_enum!(Era { Legacy = "legacy", Modern = "modern" });

impl Era {
    /// The revision that mcp-keel requests in this era.
    pub const fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }

    /// The era of a protocol revision. Revisions are dates; anything else counts as older than all
    /// of them.
    pub fn of(revision: &str) -> Self {
        let is_date = revision.len() == 10
            && revision.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if is_date && revision >= Self::Modern.revision() {
            Self::Modern
        } else {
            Self::Legacy
        }
    }

    pub fn other(self) -> Self {
        match self {
            Self::Legacy => Self::Modern,
            Self::Modern => Self::Legacy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Era;

    #[test]
    fn the_era_follows_from_the_date_of_the_revision() {
        for legacy in ["2024-11-05", "2025-11-25", "", "DRAFT-2026-v1", "zzzz"] {
            assert_eq!(Era::of(legacy), Era::Legacy, "{legacy}");
        }
        for modern in ["2026-07-28", "2027-01-01"] {
            assert_eq!(Era::of(modern), Era::Modern, "{modern}");
        }
    }
}
