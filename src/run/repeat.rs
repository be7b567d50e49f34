//! Captures a server as often as needed to know whether its captures agree.
//!
//! `pin` boots twice and uses another client name the second time: equal surfaces rule out at once
//! that the server is flapping, that it depends on the boot, and that it depends on the client. If
//! they differ, two more boots show which it is. `check` boots once; before it reports drift, it
//! boots again. A capture that is not reproducible does not count, unless the policy accepts the
//! stable parts.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::observer::{Boot, Observer};
use super::plan::Target;
use super::{Error, boot, secrets, suggested_command};
use crate::baseline::Pinned;
use crate::capture::{CaptureFailure, Captured, Eras, Limits};
use crate::policy::{Action, Policy, check_version};
use crate::report::{Cost, Failure, FailureKind, Finding, ServerReport, Status};
use crate::rules::RuleId;
use crate::stability::{self, Between, Instability, Variation, mask};
use crate::surface::{ClientProfile, Era, Note, Surface};

/// What a capture is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Pin,
    Check,
    Print,
}

impl Purpose {
    /// How often to boot a server by default.
    fn boots(self) -> usize {
        match self {
            Self::Pin => 2,
            Self::Check | Self::Print => 1,
        }
    }
}

/// What a server lists, as far as it is stable.
pub(crate) struct Observed {
    /// The first capture. What varies is removed from its surface, and noted.
    pub(crate) captured: Captured,
    /// What varies, and is tolerated.
    varying: Vec<Variation>,
}

impl Observed {
    /// A surface to compare with, reduced to what is compared.
    pub(crate) fn reference<'s>(&self, target: &Target, pinned: &'s Surface) -> Cow<'s, Surface> {
        if target.masks.is_empty() && self.varying.is_empty() && !target.is_suspicious {
            return Cow::Borrowed(pinned);
        }
        let mut reference = target.masked(pinned);
        if target.is_suspicious {
            reference.client = self.captured.surface.client.clone();
        }
        for variation in &self.varying {
            stability::leave_out(&mut reference, variation, None);
        }
        Cow::Owned(reference)
    }
}

/// Why there is nothing to compare.
enum Unobserved {
    Failed(Box<CaptureFailure>),
    /// Two captures of it differ.
    Unstable(Box<Instability>),
}

impl Unobserved {
    /// The report of a server without a verdict.
    fn report(&self, target: &Target, pinned: Option<&Pinned>) -> ServerReport {
        let (failure, notes) = match self {
            Self::Failed(failure) => (
                Failure {
                    kind: if target.is_skipped() {
                        FailureKind::Skipped
                    } else if failure.error.is_early_end() {
                        FailureKind::NotStarted
                    } else {
                        FailureKind::Other
                    },
                    stderr: String::from_utf8_lossy(&failure.stderr).into_owned(),
                    command: command(target),
                    ..Failure::new(
                        failure.to_string(),
                        super::hints::help_for(target.origin, &target.endpoint, failure),
                    )
                },
                failure.notes().into_iter().map(Note::from).collect(),
            ),
            Self::Unstable(instability) => (
                Failure {
                    kind: FailureKind::Unstable,
                    paste: instability.paste(&target.configured_as),
                    ..Failure::new(
                        instability.sentence(),
                        instability.help(&target.configured_as),
                    )
                },
                instability.notes(false),
            ),
        };
        // The status has the consequence; each finding says where it varies.
        let finding = |note| Finding {
            note,
            action: Action::Warn,
        };
        let version = pinned.and_then(|pinned| pinned.release.version.as_deref());
        ServerReport {
            findings: notes.into_iter().map(finding).collect(),
            version: check_version(version, None, None),
            cost: Cost::new(pinned.map(|pinned| &pinned.surface), None),
            accept_with: target.pin_command.clone(),
            ..ServerReport::undetermined(&target.name, failure)
        }
    }

    /// For a command that needs the server.
    fn error(self, target: &Target) -> Error {
        let instability = match self {
            Self::Failed(failure) => {
                return boot::not_captured(&target.name, &target.endpoint, *failure);
            }
            Self::Unstable(instability) => instability,
        };
        let mut message = format!("{}: {}", target.name, instability.sentence());
        for note in instability.notes(false) {
            let component = note.component.as_deref().unwrap_or("server");
            message.push_str(&format!("\n  {} {component}: {}", note.rule, note.message));
        }
        Error::undetermined(message, instability.help(&target.configured_as))
    }
}

/// The command of a server as a shell takes it, without secrets.
fn command(target: &Target) -> String {
    let words = target.endpoint.launch().into_iter();
    let words = words.flat_map(|it| &it.command);
    let words: Vec<String> = words
        .map(|word| suggested_command::quote(&secrets::clean(word)))
        .collect();
    words.join(" ")
}

/// Captures a server as often as needed, as the client that pinned it unless the user names
/// another.
async fn capture_repeatedly(
    target: &Target,
    pinned: Option<&Surface>,
    policy: &Policy,
    purpose: Purpose,
    observer: &dyn Observer,
) -> Result<Observed, Unobserved> {
    if let Some(surface) = &target.capture {
        return Ok(given(target, surface.clone()));
    }
    let boots = target.repeat.unwrap_or(purpose.boots());
    let repeated = Repeated {
        target,
        policy,
        pinned,
        observer,
        limits: limits(target, boots > 1),
        booted: AtomicUsize::new(0),
        planned: boots,
    };
    let client = target.client(pinned);
    let first = repeated.boot(&client, None).await?;
    let mut found = repeated.within(&first)?;
    for boot in 1..boots {
        let other = match purpose {
            Purpose::Pin if boot % 2 == 1 => another_name(&client),
            _ => client.clone(),
        };
        let next = repeated.boot(&other, Some(&first)).await?;
        found.extend(repeated.within(&next)?);
        let variation = stability::compare(&first.surface, &next.surface);
        if !variation.is_none() {
            let instability = repeated.explained(&first, &next, variation).await?;
            found.push(repeated.tolerated(instability)?);
        }
    }
    Ok(repeated.observed(first, found))
}

/// What was listed elsewhere, without the texts that the configuration masks.
fn given(target: &Target, mut surface: Surface) -> Observed {
    let applied = mask::apply(&target.masks, &mut surface);
    surface.notes.extend(applied.unused(&target.masks));
    if target.profile.is_some() {
        target.seen.get_or_init(|| surface.clone());
    }
    Observed {
        captured: crate::source::captured(surface),
        varying: Vec::new(),
    }
}

/// [`capture_repeatedly`] for a command that needs a capture.
pub(crate) async fn require(
    target: &Target,
    pinned: Option<&Surface>,
    policy: &Policy,
    purpose: Purpose,
    observer: &dyn Observer,
) -> Result<Observed, Error> {
    capture_repeatedly(target, pinned, policy, purpose, observer)
        .await
        .map_err(|unobserved| unobserved.error(target))
}

/// Captures a server for `check` and compares it. Drift is only reported if two boots agree, and
/// nothing is claimed about a server that could not be captured.
pub(crate) async fn capture_and_compare<E>(
    target: &Target,
    pinned: Option<&Pinned>,
    policy: &Policy,
    observer: &dyn Observer,
    compare: impl Fn(&Observed) -> Result<ServerReport, E>,
) -> Result<ServerReport, E> {
    let surface = pinned.map(|pinned| &pinned.surface);
    let observed = match capture_repeatedly(target, surface, policy, Purpose::Check, observer).await
    {
        Ok(observed) => observed,
        Err(unobserved) => return Ok(unobserved.report(target, pinned)),
    };
    let report = compare(&observed)?;
    // A revision is negotiated, not listed: a second boot adds nothing.
    let is_agreed = |rule: RuleId| rule == RuleId::ProtocolVersionChanged;
    let mut changes = report.changes.iter();
    if target.capture.is_some()
        || !matches!(report.status, Status::Drifted)
        || changes.all(|it| is_agreed(it.judged.change.rule))
    {
        return Ok(report);
    }
    match confirm(target, surface, policy, &observed, observer).await {
        Ok(None) => Ok(report),
        Ok(Some(observed)) => compare(&observed),
        Err(unobserved) => Ok(unobserved.report(target, pinned)),
    }
}

/// Boots a server once more before drift is reported, unless the number of boots was set. `None` if
/// the second capture agrees.
async fn confirm(
    target: &Target,
    pinned: Option<&Surface>,
    policy: &Policy,
    observed: &Observed,
    observer: &dyn Observer,
) -> Result<Option<Observed>, Unobserved> {
    if target.repeat.is_some() {
        return Ok(None);
    }
    let repeated = Repeated {
        target,
        policy,
        pinned,
        observer,
        limits: limits(target, true),
        booted: AtomicUsize::new(1),
        planned: 2,
    };
    let first = &observed.captured;
    let next = repeated.boot(&first.surface.client, Some(first)).await?;
    let mut found = repeated.within(&next)?;
    let variation = stability::compare(&first.surface, &next.surface);
    if !variation.is_none() {
        found.push(repeated.tolerated(Instability {
            between: repeated.between(),
            variation,
        })?);
    }
    Ok((!found.is_empty()).then(|| repeated.observed(first.clone(), found)))
}

fn limits(target: &Target, twice: bool) -> Limits {
    let mut limits = target.limits.clone();
    limits.relist_after = limits.relist_after.or(twice.then_some(Duration::ZERO));
    limits
}

/// A common client's name, or mcp-keel's if the current one is that. Everything else stays: one
/// thing at a time.
fn another_name(client: &ClientProfile) -> ClientProfile {
    const COMMON: &str = "claude-ai";
    let name = match client.name.as_str() {
        COMMON => ClientProfile::default().name,
        _ => COMMON.to_owned(),
    };
    ClientProfile {
        name,
        ..client.clone()
    }
}

struct Repeated<'a> {
    target: &'a Target,
    policy: &'a Policy,
    pinned: Option<&'a Surface>,
    observer: &'a dyn Observer,
    limits: Limits,
    /// How often it was booted so far, and how often it will be at least.
    booted: AtomicUsize,
    planned: usize,
}

impl Repeated<'_> {
    /// One boot; in the era of another one if it is to be compared with it.
    async fn boot(
        &self,
        client: &ClientProfile,
        like: Option<&Captured>,
    ) -> Result<Captured, Unobserved> {
        let number = self.booted.fetch_add(1, Ordering::Relaxed) + 1;
        let boot = Boot {
            number,
            of: self.planned.max(number),
            limit: self.limits.request,
        };
        self.observer.boot(&self.target.name, boot);
        let eras = match like.map(|like| like.era) {
            None => (self.target.eras, boot::recorded(self.pinned)),
            Some(Era::Legacy) => (Eras::Legacy, None),
            Some(Era::Modern) => (Eras::Modern, None),
        };
        boot::capture_once(self.target, client, eras, &self.limits, self.observer)
            .await
            .map_err(|failure| Unobserved::Failed(Box::new(failure)))
    }

    /// What a second capture is: another boot, or another connection to a running server.
    fn between(&self) -> Between {
        match self.target.endpoint.launch() {
            Some(_) => Between::Boots,
            None => Between::Connections,
        }
    }

    /// What varies on one connection.
    fn within(&self, captured: &Captured) -> Result<Vec<Instability>, Unobserved> {
        let Some(again) = &captured.again else {
            return Ok(Vec::new());
        };
        let variation = stability::compare(&captured.surface, again);
        if variation.is_none() {
            return Ok(Vec::new());
        }
        let between = match self.limits.relist_after.map_or(0, |pause| pause.as_secs()) {
            0 => Between::Calls,
            seconds => Between::Seconds(seconds),
        };
        let instability = Instability { between, variation };
        Ok(vec![self.tolerated(instability)?])
    }

    /// Why two captures differ. If the client name differed, the second name is used again, and
    /// then the first: only if both get the same as before, the name is the reason. (In this order,
    /// because a server that changes with every boot would agree with itself on every second one.)
    async fn explained(
        &self,
        one: &Captured,
        other: &Captured,
        variation: Variation,
    ) -> Result<Instability, Unobserved> {
        let (first, second) = (&one.surface.client, &other.surface.client);
        if first.name != second.name && !variation.places.is_empty() {
            for before in [other, one] {
                let again = self.boot(&before.surface.client, Some(before)).await?;
                let moved = stability::compare(&before.surface, &again.surface);
                if !moved.places.is_empty() {
                    let between = self.between();
                    return Ok(Instability { between, variation });
                }
            }
            let between = Between::Clients {
                one: first.name.clone(),
                other: second.name.clone(),
            };
            return Ok(Instability { between, variation });
        }
        let between = self.between();
        Ok(Instability { between, variation })
    }

    /// Returns an instability if the policy accepts the stable parts.
    fn tolerated(&self, instability: Instability) -> Result<Instability, Unobserved> {
        if self.policy.tolerates(instability.rule()) {
            Ok(instability)
        } else {
            Err(Unobserved::Unstable(Box::new(instability)))
        }
    }

    fn observed(&self, mut captured: Captured, found: Vec<Instability>) -> Observed {
        let reference = self.pinned.map(|pinned| self.target.masked(pinned));
        let mut notes: Vec<Note> = Vec::new();
        for instability in &found {
            let surface = &mut captured.surface;
            stability::leave_out(surface, &instability.variation, reference.as_ref());
            let new = instability.notes(true).into_iter();
            notes.extend(new.filter(|note| !notes.contains(note)).collect::<Vec<_>>());
        }
        captured.surface.notes.extend(notes);
        if self.target.profile.is_some() {
            self.target.seen.get_or_init(|| captured.surface.clone());
        }
        Observed {
            captured,
            varying: found.into_iter().map(|it| it.variation).collect(),
        }
    }
}
