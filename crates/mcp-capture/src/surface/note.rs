//! What is noticed about a server besides its contract.

use super::ComponentKey;

/// Something noticed while a server was captured, or while its lists were read. Never part of the contract.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureNote {
    pub kind: NoteKind,
    /// The component, if it concerns one.
    pub component: Option<ComponentKey>,
    /// One sentence. May quote the server: escape before printing.
    pub message: String,
}

/// What a [`CaptureNote`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// A component has no name, or no URI.
    ComponentMalformed,
    /// Two components have the same key.
    ComponentRepeated,
    /// It uses a feature that the protocol is about to remove.
    DeprecatedFeature,
    /// Clients must not load an icon.
    IconRefused,
    /// A member of an object is written twice.
    MemberRepeated,
    /// It declares something whose content is not read.
    NotObserved,
    /// Processes of the server still run.
    ProcessesLeft,
    /// The server says that the system refused it something.
    SandboxDenied,
    /// A repository appeared where the server could write.
    SandboxRepositoryAppeared,
    /// A restriction that was asked for is not available here.
    SandboxUnavailable,
    /// It sent a secret of this environment.
    SecretInSurface,
    /// The content of a skill is generated.
    SkillDynamic,
    /// It wrote lines to stdout that are not messages.
    StdoutNoise,
    /// A variable that should be passed on is not set.
    VariableMissing,
    /// Clients over HTTP drop the tool.
    XMcpHeaderInvalid,
}

impl CaptureNote {
    pub(crate) fn new(kind: NoteKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            component: None,
            message: message.into(),
        }
    }
}
