//! One report value, and pure renderers over it.
//!
//! Renderers never compute a verdict and never print: they return text. All text from a server
//! passes through [`escape`] on its way into any of them.

mod annotations;
mod change_text;
pub mod changelog;
mod cost;
mod document;
mod fold;
mod format;
mod github;
mod gitlab;
mod headline;
mod html;
mod junit;
mod links;
mod listing;
mod markdown;
pub mod pending;
pub mod rules;
mod sarif;
mod shard;
pub mod signature;
mod terminal;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};

use crate::canonical::Json;
use crate::judgement::{Exposure, Level};
use crate::policy::{Action, Judged, Verdict, VersionCheck, check_version};
use crate::surface::{ComponentKey, Note, Surface};
use crate::wording::counted;

pub use crate::escape;
pub use annotations::{Annotation, AnnotationLevel, annotations};
pub use cost::{Cost, ToolCost};
pub use document::{ReadReportError, from_json, from_json_within, to_json};
pub use format::{Format, render};
pub use github::github;
pub use gitlab::gitlab;
pub use html::html;
pub use junit::junit;
pub use links::Frame;
pub use listing::listing;
pub use markdown::{
    About, CHECK_RUN_LIMIT, COMMENT_LIMIT, Pages, SUMMARY_LIMIT, Section, markdown, markdown_in,
    title,
};
pub use sarif::sarif;
pub(crate) use shard::{Differs, MISSING_FROM_EVERY_PART, RUN_PART_AGAIN};
pub use shard::{MergeError, RunFinding, Shard, merge, resolve_findings, unconditional_findings};
pub use terminal::{Style, one_change, terminal};

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Report {
    pub verdict: Verdict,
    /// By name.
    pub servers: Vec<ServerReport>,
    /// Findings about the policy and the run, not about one server.
    pub findings: Vec<Finding>,
    /// What was compared, for the headline.
    pub comparison: Comparison,
    /// Which part of a run it is, if it is one.
    pub shard: Option<Shard>,
}

/// What was compared with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Live servers with the committed baseline.
    Check,
    /// Two sources.
    Diff,
    /// Live servers with the baseline that they replace.
    Pin { written: Vec<PathBuf> },
}

/// The outcome for one server.
#[derive(Clone, Debug)]
pub struct ServerReport {
    /// Its name in the configuration.
    pub name: String,
    pub status: Status,
    /// The judged changes, each with its place in the baseline.
    pub changes: Vec<Located>,
    /// What was noticed but is not drift.
    pub findings: Vec<Finding>,
    /// The version, compared with what the drift requires.
    pub version: VersionCheck,
    /// What the tools cost in a model's context.
    pub cost: Cost,
    /// The components that changed, as they were and as they are. Not part of the JSON report, which
    /// has the old and new value of every change.
    pub definitions: Vec<Definition>,
    /// The number of components compared.
    pub components: usize,
    /// The command that accepts the drift.
    pub accept_with: String,
    /// Whether it is a package or an address of a third party, which cannot be fixed here.
    pub third_party: bool,
    /// The tools of a server that is new. Not part of the JSON report.
    pub listed: Vec<Listed>,
}

impl ServerReport {
    /// A server about which nothing is known, and why.
    pub fn undetermined(name: &str, why: Failure) -> Self {
        Self {
            name: name.to_owned(),
            status: Status::Undetermined(why),
            changes: Vec::new(),
            findings: Vec::new(),
            version: check_version(None, None, None),
            cost: Cost::default(),
            definitions: Vec::new(),
            components: 0,
            accept_with: String::new(),
            third_party: false,
            listed: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Status {
    Clean,
    Drifted,
    /// Not in the baseline.
    New,
    /// It could not be captured.
    Undetermined(Failure),
}

impl Status {
    /// Its keyword in every format.
    pub fn word(&self) -> &'static str {
        match self {
            Status::Clean => "clean",
            Status::Drifted => "drifted",
            Status::New => "new",
            Status::Undetermined(_) => "undetermined",
        }
    }
}

/// Why a server could not be captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub kind: FailureKind,
    /// One sentence.
    pub message: String,
    /// How to go on.
    pub help: String,
    /// The tail of its stderr, as written.
    pub stderr: String,
    /// The command that was started, if one was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// What to paste into the configuration, if that helps.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paste: String,
}

impl Failure {
    /// A failure of no special kind.
    pub fn new(message: String, help: String) -> Self {
        Self {
            kind: FailureKind::Other,
            message,
            help,
            stderr: String::new(),
            command: String::new(),
            paste: String::new(),
        }
    }
}

/// What a reader sees first of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureKind {
    /// It ended before it answered.
    NotStarted,
    /// Two captures differ.
    Unstable,
    /// The base branch's baseline is not known.
    Base,
    /// The user leaves it out.
    Skipped,
    #[default]
    Other,
}

crate::keyword_enum::keyword_enum!(FailureKind {
    NotStarted = "not-started",
    Unstable = "unstable",
    Base = "base",
    Skipped = "skipped",
    Other = "other",
});

/// A tool of a server that is new, as an approver sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    /// Its description.
    pub says: String,
    /// Its hints that are set.
    pub hints: Vec<(String, bool)>,
    /// Its line in the baseline.
    pub place: Option<Place>,
}

/// A judged change and its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    into = "document::ChangeDocument",
    try_from = "document::ChangeDocument"
)]
pub struct Located {
    pub judged: Judged,
    /// Its place in the committed baseline.
    pub location: Option<Place>,
    /// Where the repository declares the component, if in exactly one place.
    pub source: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    #[serde(serialize_with = "slashed")]
    pub path: PathBuf,
    /// One-based.
    pub line: usize,
}

impl Place {
    /// The path with `/` separators, as every format and platform reads it.
    pub fn slashed(&self) -> String {
        let path = self.path.to_string_lossy().replace('\\', "/");
        path.strip_prefix("./").map(str::to_owned).unwrap_or(path)
    }
}

fn slashed<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    let place = Place {
        path: path.to_owned(),
        line: 1,
    };
    serializer.serialize_str(&place.slashed())
}

/// A component on both sides of a comparison.
#[derive(Clone, Debug)]
pub struct Definition {
    pub component: ComponentKey,
    pub old: Option<Json>,
    pub new: Option<Json>,
}

impl Definition {
    /// Every component that one of the changes is about.
    pub fn of_changed<'s>(
        old: Option<&'s Surface>,
        new: Option<&'s Surface>,
        changes: &[Located],
    ) -> Vec<Self> {
        let changed = changes.iter().map(|it| &it.judged.change);
        let changed: BTreeSet<&ComponentKey> =
            changed.filter_map(|it| it.component.as_ref()).collect();
        let by_key = |surface: Option<&'s Surface>| -> BTreeMap<&ComponentKey, &'s Json> {
            let all = surface.into_iter().flat_map(|it| &it.components);
            let wanted = all.filter(|it| changed.contains(&it.key));
            wanted.map(|it| (&it.key, &it.definition)).collect()
        };
        let (old, new) = (by_key(old), by_key(new));
        let definition = |key: &&ComponentKey| Self {
            component: (*key).clone(),
            old: old.get(key).copied().cloned(),
            new: new.get(key).copied().cloned(),
        };
        changed.iter().map(definition).collect()
    }
}

/// A note and its action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    into = "document::FindingDocument",
    try_from = "document::FindingDocument"
)]
pub struct Finding {
    pub note: Note,
    pub action: Action,
}

impl ServerReport {
    /// The number of changes with this level, including accepted ones.
    pub fn count(&self, level: Level) -> usize {
        self.changes
            .iter()
            .filter(|it| it.judged.change.level == level)
            .count()
    }

    /// The number of changes with this exposure.
    pub fn exposed(&self, exposure: Exposure) -> usize {
        self.changes
            .iter()
            .filter(|it| it.judged.change.exposure == exposure)
            .count()
    }

    /// How many of its tools changed alike, if that is most of them.
    pub(crate) fn changed_alike(&self) -> Option<(usize, usize)> {
        fold::most_alike(self)
    }

    /// The sentence for [`ServerReport::changed_alike`], with the likely cause.
    fn alike(&self) -> Option<String> {
        let (alike, of) = self.changed_alike()?;
        let tools = counted(of, "tool");
        Some(if self.third_party {
            format!(
                "{alike} of {tools} changed alike: a new version of the server's SDK is the likely cause."
            )
        } else {
            format!(
                "{alike} of {tools} changed alike: a new version of the SDK or of the library that writes the \
                 schemas is the likely cause. Compare the lockfile."
            )
        })
    }

    /// What the tools cost in a model's context, where that changed with them.
    fn cost_changed(&self) -> Option<String> {
        let (was, is) = (self.cost.baseline, self.cost.current);
        let is_news = was != is && was > 0 && !self.changes.is_empty();
        is_news.then(|| context_cost(was, is))
    }

    /// What one of the tools costs in a model's context, where that changed.
    fn tool_cost_changed(&self, located: &Located) -> Option<String> {
        let key = located.judged.change.component.as_ref()?;
        let tools = &self.cost.tools;
        let at = tools.binary_search_by(|it| it.component.cmp(key)).ok()?;
        let tool = &tools[at];
        if tool.baseline == tool.current {
            return None;
        }
        let current = tool.current.unwrap_or_default();
        let tokens = match tool.baseline {
            None => current.to_string(),
            Some(baseline) => format!("{baseline} → {current}"),
        };
        Some(format!("Context cost of the tool: ≈ {tokens} tokens."))
    }

    /// Whether the user left it out.
    fn is_skipped(&self) -> bool {
        matches!(&self.status, Status::Undetermined(failure) if failure.kind == FailureKind::Skipped)
    }

    /// That there is no verdict about it, with its name.
    fn no_capture(&self) -> String {
        if self.is_skipped() {
            format!("{} was skipped", self.name)
        } else {
            format!("{} could not be captured", self.name)
        }
    }

    /// The verdict for this server alone.
    pub fn verdict(&self) -> Verdict {
        if matches!(self.status, Status::Undetermined(_)) {
            return Verdict::Undetermined;
        }
        let changes = self.changes.iter().map(|it| it.judged.action);
        crate::policy::verdict(changes.chain(self.findings.iter().map(|it| it.action)))
    }
}

fn context_cost(was: usize, is: usize) -> String {
    let sign = if is > was { "+" } else { "-" };
    let by = is.abs_diff(was);
    if was == is {
        return format!("Context cost of the tools: ≈ {is} tokens.");
    }
    format!("Context cost of the tools: ≈ {was} → {is} tokens ({sign}{by}).")
}

impl Report {
    /// From its parts; the verdict is the worst of theirs.
    pub fn new(comparison: Comparison, servers: Vec<ServerReport>, findings: Vec<Finding>) -> Self {
        let of_servers = servers
            .iter()
            .map(ServerReport::verdict)
            .max()
            .unwrap_or(Verdict::Pass);
        let of_findings = crate::policy::verdict(findings.iter().map(|it| it.action));
        Self {
            verdict: of_servers.max(of_findings),
            servers,
            findings,
            comparison,
            shard: None,
        }
    }

    /// The result of the run and what to do next, as plain text in one or two sentences.
    pub fn headline(&self) -> escape::Visible {
        headline::plain(self)
    }

    pub fn changes(&self) -> impl Iterator<Item = &Located> {
        self.servers.iter().flat_map(|server| &server.changes)
    }
}
