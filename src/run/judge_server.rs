//! Compares and judges two surfaces of one server: shared by `check`, `pin`, `diff` and `demo`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::baseline::LockBaseline;
use crate::baseline::Manifest;
use crate::canonical::Json;
use crate::conformance;
use crate::drift::{self, Change};
use crate::interop::compare::Placed;
use crate::judgement::Level;
use crate::policy::{Date, Moved, Policy, VersionCheck, check_version};
use crate::release::Release;
use crate::report::{Cost, Definition, Finding, Listed, Located, Place, ServerReport, Status};
use crate::rules::RuleId;
use crate::schema::Work;
use crate::surface::{ComponentKey, Kind, Note, Surface};
use crate::wording::counted;

/// A surface with the version that the policy uses.
pub(crate) type Versioned<'a> = (&'a Surface, &'a Release);

/// What to compare.
pub(crate) struct SurfacePair<'a> {
    pub(crate) name: &'a str,
    pub(crate) old: Option<Versioned<'a>>,
    pub(crate) new: Option<Versioned<'a>>,
    /// Where the old one is stored, for the lines of changes.
    pub(crate) manifest: Option<&'a Manifest>,
    pub(crate) accept_with: &'a str,
    /// The number of servers that share the work of the run.
    pub(crate) servers: usize,
    /// Additional notes: how the server was started.
    pub(crate) notes: &'a [Note],
}

impl SurfacePair<'_> {
    pub(crate) fn judge_server(&self, policy: &Policy, today: Date) -> ServerReport {
        let (old, new) = (self.old.map(|it| it.0), self.new.map(|it| it.0));
        let changes = match (old, new) {
            (Some(old), Some(new)) => {
                drift::compare_within(old, new, &Work::for_one_of(self.servers))
            }
            (None, Some(new)) => vec![drift::server_not_pinned(new)],
            (Some(old), None) => vec![drift::server_removed(old)],
            (None, None) => Vec::new(),
        };
        let status = match old {
            None => Status::New,
            Some(_) if changes.is_empty() => Status::Clean,
            Some(_) => Status::Drifted,
        };
        let mut findings: Vec<Finding> = new
            .into_iter()
            .flat_map(|surface| &surface.notes)
            .chain(self.notes)
            .cloned()
            .chain(new.into_iter().flat_map(crate::scan::keel::notes))
            .chain(
                new.into_iter()
                    .flat_map(|surface| refused(surface, &changes)),
            )
            .chain(
                old.zip(new)
                    .into_iter()
                    .flat_map(|(old, new)| not_compared(old, new)),
            )
            .map(|note| finding(policy, note))
            .collect();
        let judged = policy.judge(self.name, changes, today);
        // After the policy was applied: a rule that it calls cosmetic requires no new version.
        let changes: Vec<&Change> = judged.iter().map(|it| &it.change).collect();
        let version = self.version(&changes);
        findings.extend(self.version_findings(&changes, &version, policy));
        let stale = old.into_iter().flat_map(|old| stale_lists(old, &changes));
        findings.extend(stale.map(|note| finding(policy, note)));
        let located = |judged: crate::policy::Judged| Located {
            location: self.place(&judged.change),
            source: None,
            judged,
        };
        let changes: Vec<Located> = judged.into_iter().map(located).collect();
        let cost = Cost::new(old, new);
        findings.extend(over_context_limit(
            &cost,
            old.is_some(),
            new.is_some(),
            policy,
        ));
        ServerReport {
            name: self.name.to_owned(),
            status,
            definitions: Definition::of_changed(old, new, &changes),
            changes,
            findings,
            version,
            cost,
            components: new.map_or(0, |surface| surface.components.len()),
            accept_with: self.accept_with.to_owned(),
            third_party: false,
            listed: match (old, new) {
                (None, Some(new)) => self.listed(new),
                _ => Vec::new(),
            },
        }
    }

    /// The tools of a server that is new.
    fn listed(&self, new: &Surface) -> Vec<Listed> {
        let tools = new.of_kind(Kind::Tool).map(|tool| {
            let text = |member: &str| tool.definition.get(member).and_then(Json::as_str);
            let hints = tool.definition.get("annotations").and_then(Json::as_object);
            let hints = hints.into_iter().flat_map(|it| it.iter());
            let hints = hints.filter_map(|(name, value)| match value {
                Json::Bool(value) => Some((name.to_string_lossy().to_owned(), *value)),
                _ => None,
            });
            Listed {
                name: tool.key.tool_name().unwrap_or_default().to_owned(),
                says: text("description").unwrap_or_default().to_owned(),
                hints: hints.collect(),
                place: self.manifest.and_then(|manifest| {
                    let is_pinned = manifest.servers().contains_key(self.name);
                    is_pinned.then(|| Place {
                        path: manifest.path().to_owned(),
                        line: manifest.line(self.name, Some(&tool.key), ""),
                    })
                }),
            }
        });
        tools.collect()
    }

    fn version(&self, changes: &[&Change]) -> VersionCheck {
        let worst: Option<Level> = changes
            .iter()
            .filter(|change| is_drift(change))
            .map(|change| change.level)
            .max();
        let version =
            |of: Option<Versioned<'_>>| of.and_then(|(_, release)| release.version.clone());
        let comparable =
            matches!((self.old, self.new), (Some(old), Some(new)) if old.1.source == new.1.source);
        let baseline = version(self.old).filter(|_| comparable || self.new.is_none());
        check_version(
            baseline.as_deref(),
            version(self.new).as_deref(),
            worst.filter(|_| self.old.is_some()),
        )
    }

    fn version_findings(
        &self,
        changes: &[&Change],
        version: &VersionCheck,
        policy: &Policy,
    ) -> Vec<Finding> {
        let Some((surface, release)) = self.new else {
            return Vec::new();
        };
        let disagrees = |(surface, release): Versioned<'_>| {
            let reported = surface.server_version();
            release.source != "serverInfo"
                && reported.is_some()
                && reported != release.version.as_deref()
        };
        let shown = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
        let (was, is) = (shown(&version.baseline), shown(&version.current));
        let note = |rule, component: Option<&ComponentKey>, message| Note {
            rule,
            component: component.cloned(),
            message,
        };
        let mut findings = Vec::new();
        // Said when it is new: two of three published servers report another version for ever.
        if disagrees((surface, release)) && !self.old.is_some_and(disagrees) {
            let message = format!(
                "serverInfo.version is {}, but {} says {}",
                surface.server_version().unwrap_or_default(),
                release.source,
                shown(&release.version)
            );
            findings.push(finding(
                policy,
                note(RuleId::VersionDisagrees, None, message),
            ));
        }
        if self.old.is_none() {
            return findings;
        }
        if !version.ok {
            let message = format!(
                "version {was} → {is} ({}), but the changes require a {} version bump",
                release.source,
                version.required.word()
            );
            let note = note(RuleId::VersionNotBumped, None, message);
            // Without `require-version-bump` the report's `version` is enough.
            if policy.require_version_bump || policy.rules.contains_key(&note.rule) {
                findings.push(finding(policy, note));
            }
        }
        if version.moved() == Moved::Down {
            let message = format!("the version went down: {was} → {is} ({})", release.source);
            findings.push(finding(
                policy,
                note(RuleId::VersionDecreased, None, message),
            ));
        }
        // Where the server reports its version, that it changed is a change already.
        if version.moved() == Moved::Up && changes.is_empty() {
            let message = format!(
                "version {was} → {is} ({}), but the contract did not change",
                release.source
            );
            findings.push(finding(
                policy,
                note(RuleId::VersionWithoutDrift, None, message),
            ));
        }
        for key in changed_versioned_tools(changes) {
            let message = "its contract changed, but its own version did not".to_owned();
            findings.push(finding(
                policy,
                note(RuleId::ToolVersionNotBumped, Some(key), message),
            ));
        }
        findings
    }

    fn place(&self, change: &Change) -> Option<Place> {
        let manifest = self.manifest?;
        self.old?;
        Some(Place {
            path: manifest.path().to_owned(),
            line: manifest.line(self.name, change.component.as_deref(), &change.pointer),
        })
    }
}

/// The comparison of a server with another tool's pins. Such pins have no versions to compare with
/// the drift.
pub(crate) struct AgainstLock<'a> {
    pub(crate) name: &'a str,
    pub(crate) changes: Vec<Placed>,
    /// Where the changes are, if lines are to be reported.
    pub(crate) places: Option<&'a LockBaseline>,
    /// The live server; `None` if two files are compared.
    pub(crate) surface: Option<&'a Surface>,
    pub(crate) notes: Vec<Note>,
    pub(crate) accept_with: &'a str,
}

impl AgainstLock<'_> {
    pub(crate) fn judge_server(self, policy: &Policy, today: Date) -> ServerReport {
        let (changes, places): (Vec<_>, Vec<String>) = self.changes.into_iter().unzip();
        let status = if changes.is_empty() {
            Status::Clean
        } else {
            Status::Drifted
        };
        let location = |at: &String| {
            self.places.map(|it| Place {
                path: it.path.clone(),
                line: it.lock.line(at),
            })
        };
        let judged = policy.judge(self.name, changes, today).into_iter();
        let changes = judged.zip(&places).map(|(judged, at)| Located {
            judged,
            location: location(at),
            source: None,
        });
        let notes = self.notes.into_iter();
        ServerReport {
            name: self.name.to_owned(),
            status,
            changes: changes.collect(),
            findings: notes.map(|note| finding(policy, note)).collect(),
            version: check_version(None, self.surface.and_then(Surface::server_version), None),
            cost: Cost::new(None, self.surface),
            definitions: Vec::new(),
            components: self.surface.map_or(0, |it| it.components.len()),
            accept_with: self.accept_with.to_owned(),
            third_party: false,
            listed: Vec::new(),
        }
    }
}

/// Fills in where the working copy declares the tools that changed. A removed tool has no such
/// place, and a renamed one is declared by its new name.
pub(crate) fn locate(servers: &mut [ServerReport]) {
    let names: Vec<Vec<Option<String>>> = servers.iter().map(declared_names).collect();
    let wanted: BTreeSet<&str> = names
        .iter()
        .flatten()
        .flatten()
        .map(String::as_str)
        .collect();
    let found = crate::locate::locate(Path::new("."), &wanted);
    for (server, names) in servers.iter_mut().zip(&names) {
        for (located, name) in server.changes.iter_mut().zip(names) {
            let declaration = name.as_ref().and_then(|name| found.get(name));
            located.source = declaration.map(|declaration| Place {
                path: declaration.path.clone(),
                line: declaration.line,
            });
        }
    }
}

/// For each change, the name under which its tool is declared now.
fn declared_names(server: &ServerReport) -> Vec<Option<String>> {
    let changes = || server.changes.iter().map(|located| &located.judged.change);
    let renamed: BTreeMap<&ComponentKey, Option<&str>> = changes()
        .filter(|change| change.rule == RuleId::ToolRenamed)
        .filter_map(|change| {
            let new = change.new.as_ref().and_then(Json::as_str);
            Some((change.component.as_ref()?, new))
        })
        .collect();
    let name = |change: &Change| {
        let key = change.component.as_ref()?;
        let name = key.tool_name()?;
        match renamed.get(key) {
            _ if change.rule == RuleId::ToolRemoved => None,
            Some(new) => new.map(str::to_owned),
            None => Some(name.to_owned()),
        }
    };
    changes().map(name).collect()
}

/// What the policy says about the tools' place in a model's context.
fn over_context_limit(cost: &Cost, has_old: bool, has_new: bool, policy: &Policy) -> Vec<Finding> {
    let note = |message| Note {
        rule: RuleId::ContextLimitExceeded,
        component: None,
        message,
    };
    let mut notes = Vec::new();
    if !has_new {
        return Vec::new();
    }
    if let Some(limit) = policy.context_limit.filter(|it| cost.current > *it) {
        notes.push(note(format!(
            "the tools cost ≈ {} tokens of context, and the policy allows {limit} (`context-limit`)",
            cost.current
        )));
    }
    if let Some(percent) = policy.context_growth.filter(|_| has_old) {
        // In whole tokens, rounded down: with 0 percent every token counts.
        let most = cost.baseline + cost.baseline.saturating_mul(percent) / 100;
        if cost.current > most {
            let message = format!(
                "the tools cost ≈ {} → {} tokens of context, and the policy allows {percent}% more than the \
                 baseline (`context-growth`)",
                cost.baseline, cost.current
            );
            notes.push(note(message));
        }
    }
    notes.into_iter().map(|it| finding(policy, it)).collect()
}

/// Lists that clients may still cache, and that name what no longer works.
fn stale_lists(old: &Surface, changes: &[&Change]) -> Vec<Note> {
    let breaking = |kind| {
        let of_kind = |change: &&&Change| {
            let key = change.component.as_ref();
            change.level == Level::Breaking && key.is_some_and(|key| key.kind() == kind)
        };
        changes.iter().filter(of_kind).count()
    };
    let kinds = Kind::ALL.iter().copied();
    let stale = kinds.filter_map(|kind| {
        let ttl = old.caching.of(kind).ttl_ms.filter(|ttl| *ttl > 0)?;
        let breaking = breaking(kind);
        (breaking > 0).then(|| Note {
            rule: RuleId::StaleListCached,
            component: None,
            message: format!(
                "clients may use the pinned `{}` for up to {} (`ttlMs`), and send what now fails: {}",
                kind.list_member(),
                shown_duration(ttl),
                counted(breaking, "breaking change")
            ),
        })
    });
    stale.collect()
}

/// `300 ms`, `5 s`, `2 min`, `3 h`: the largest unit that divides it.
fn shown_duration(milliseconds: i64) -> String {
    let units = [(3_600_000, "h"), (60_000, "min"), (1000, "s")];
    match units.iter().find(|(length, _)| milliseconds % length == 0) {
        Some((length, unit)) => format!("{} {unit}", milliseconds / length),
        None => format!("{milliseconds} ms"),
    }
}

/// Whether a change counts against the version: its own change does not.
fn is_drift(change: &Change) -> bool {
    change.rule != RuleId::ServerVersionChanged
}

/// Tools with a version in their key whose contract changed without a new one.
fn changed_versioned_tools<'a>(changes: &[&'a Change]) -> BTreeSet<&'a ComponentKey> {
    let moved: BTreeSet<_> = changes
        .iter()
        .filter(|change| {
            matches!(
                change.rule,
                RuleId::ToolVersionChanged | RuleId::ToolRenamed
            )
        })
        .map(|change| &change.component)
        .collect();
    changes
        .iter()
        .filter(|change| !moved.contains(&change.component))
        .filter(|change| {
            change.level > Level::Cosmetic
                && !change.pointer.is_empty()
                && change.rule != RuleId::ToolRenamed
        })
        .filter_map(|change| change.component.as_ref())
        .filter(|key| key.kind() == Kind::Tool && key.is_versioned())
        .collect()
}

/// Lists that only one of two surfaces has recorded.
fn not_compared(old: &Surface, new: &Surface) -> Vec<Note> {
    let mut notes = Vec::new();
    for kind in Kind::ALL.iter().copied().filter(|kind| !kind.is_core()) {
        let has = |of: &Surface| of.scope.kinds.contains(kind);
        let count = |of: &Surface| of.of_kind(kind).count();
        let (not_pinned, count) = match (has(old), has(new)) {
            (false, true) => (true, count(new)),
            (true, false) => (false, count(old)),
            _ => continue,
        };
        if count > 0 {
            let list = kind.list_member();
            notes.push(Note {
                rule: RuleId::ListNotCompared,
                component: None,
                message: if not_pinned {
                    format!("`{list}`: {count} listed, and the baseline does not record that list")
                } else {
                    format!("`{list}`: {count} in the baseline, not read in this run")
                },
            });
        }
    }
    notes
}

/// What clients object to in a surface, except what is already drift.
fn refused(surface: &Surface, changes: &[Change]) -> Vec<Note> {
    let drift = changes.iter();
    let drift: BTreeSet<(RuleId, Option<&ComponentKey>)> =
        drift.map(|it| (it.rule, it.component.as_ref())).collect();
    conformance::notes(surface, |rule, key| drift.contains(&(rule, key)))
}

/// A note with its action under the policy.
pub(crate) fn finding(policy: &Policy, note: Note) -> Finding {
    Finding {
        action: policy.judge_note(&note),
        note,
    }
}
