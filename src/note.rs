//! What is said about a server besides the changes of its contract: findings before they are judged.

use crate::rules::RuleId;
use mcp_capture::surface::{CaptureNote, ComponentKey, NoteKind};

/// Something noticed: reported as a finding, never as drift.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    pub rule: RuleId,
    /// The component's key, if it concerns one.
    pub component: Option<ComponentKey>,
    /// One sentence. May quote the server: escape before printing.
    pub message: String,
}

impl From<CaptureNote> for Note {
    fn from(note: CaptureNote) -> Self {
        let rule = match note.kind {
            NoteKind::ComponentMalformed => RuleId::ComponentMalformed,
            NoteKind::ComponentRepeated => RuleId::ComponentRepeated,
            NoteKind::DeprecatedFeature => RuleId::DeprecatedFeature,
            NoteKind::IconRefused => RuleId::IconRefused,
            NoteKind::MemberRepeated => RuleId::MemberRepeated,
            NoteKind::NotObserved => RuleId::NotObserved,
            NoteKind::ProcessesLeft => RuleId::ProcessesLeft,
            NoteKind::SandboxDenied => RuleId::SandboxDenied,
            NoteKind::SandboxRepositoryAppeared => RuleId::SandboxRepositoryAppeared,
            NoteKind::SandboxUnavailable => RuleId::SandboxUnavailable,
            NoteKind::SecretInSurface => RuleId::SecretInSurface,
            NoteKind::SkillDynamic => RuleId::SkillDynamic,
            NoteKind::StdoutNoise => RuleId::StdoutNoise,
            NoteKind::VariableMissing => RuleId::VariableMissing,
            NoteKind::XMcpHeaderInvalid => RuleId::XMcpHeaderInvalid,
        };
        Self {
            rule,
            component: note.component,
            message: note.message,
        }
    }
}
