//! Which eras of the protocol a server is captured in, and what is reported about it.

use crate::capture::{CaptureFailure, Captured, Eras, Limits, Order};
use crate::drift;
use crate::rules::RuleId;
use crate::stability::mask::{self, Mask};
use crate::surface::{Era, Note, Surface};

/// Captures a server in the requested eras. `recorded` is the era of its baseline, and `once` makes
/// one capture.
pub(crate) async fn capture_in_eras(
    (eras, recorded): (Eras, Option<Era>),
    masks: &[Mask],
    limits: &Limits,
    once: impl AsyncFn(Order, &Limits) -> Result<Captured, CaptureFailure>,
) -> Result<Captured, CaptureFailure> {
    match eras {
        // Almost every published server supports the legacy era, many of them both. What was pinned
        // stays comparable, and a server is not disturbed by a request it does not know.
        Eras::Auto => {
            let first = recorded.unwrap_or(Era::Legacy);
            let mut captured = once(Order::First(first), limits).await?;
            // The revision that a server names need not belong to the era in which it responds.
            let spoken = [captured.era, captured.surface.era()];
            if recorded.is_some_and(|recorded| !spoken.contains(&recorded)) {
                let message = format!(
                    "pinned in the {} era of the protocol; the server now speaks only the {} one",
                    first.word(),
                    captured.era.word()
                );
                captured.surface.notes.push(Note {
                    rule: RuleId::EraFallback,
                    component: None,
                    message,
                });
            }
            Ok(captured)
        }
        Eras::Legacy => once(Order::Only(Era::Legacy), limits).await,
        Eras::Modern => once(Order::Only(Era::Modern), limits).await,
        Eras::Both => {
            let begun = tokio::time::Instant::now();
            let legacy = once(Order::Only(Era::Legacy), limits).await;
            // A server that ignores unknown requests gets no more time than it took to respond to
            // the other.
            let took = 2 * begun.elapsed() + std::time::Duration::from_secs(1);
            let limits = Limits {
                start: match legacy {
                    Ok(_) => limits.start.min(took),
                    Err(_) => limits.start,
                },
                ..limits.clone()
            };
            let modern = once(Order::Only(Era::Modern), &limits).await;
            both(legacy, modern, recorded, masks)
        }
    }
}

/// The main capture, with the differences of the other one.
fn both(
    legacy: Result<Captured, CaptureFailure>,
    modern: Result<Captured, CaptureFailure>,
    recorded: Option<Era>,
    masks: &[Mask],
) -> Result<Captured, CaptureFailure> {
    let (mut counts, other) = match (legacy, modern, recorded) {
        (Ok(legacy), Ok(modern), Some(Era::Legacy)) => (legacy, Ok(modern)),
        (Ok(legacy), Ok(modern), _) => (modern, Ok(legacy)),
        // A server that opened in an era and failed later supports it: there is no verdict about
        // its contract there.
        (Err(failure), _, _) | (_, Err(failure), _) if !failure.error.is_of_the_opening() => {
            return Err(failure);
        }
        (Ok(legacy), Err(failure), _) => (legacy, Err(failure)),
        (Err(failure), Ok(modern), _) => (modern, Err(failure)),
        (Err(failure), Err(_), Some(Era::Legacy) | None) | (Err(_), Err(failure), _) => {
            return Err(failure);
        }
    };
    let notes = match other {
        Ok(other) => differences(counts.surface.clone(), other.surface, masks),
        Err(failure) => vec![Note {
            rule: RuleId::EraNotSpoken,
            component: None,
            message: format!(
                "the server speaks only the {} era of the protocol: {failure}",
                counts.era.word()
            ),
        }],
    };
    counts.surface.notes.extend(notes);
    Ok(counts)
}

/// What clients of the two eras see differently, component by component.
fn differences(mut counts: Surface, mut other: Surface, masks: &[Mask]) -> Vec<Note> {
    for surface in [&mut counts, &mut other] {
        mask::apply(masks, surface);
    }
    let changes = drift::compare(&other, &counts);
    let mut notes: Vec<Note> = Vec::new();
    for change in changes {
        if change.rule == RuleId::ProtocolVersionChanged {
            continue;
        }
        let text = format!("{}: {}", change.rule, change.message);
        match notes.last_mut() {
            Some(last) if last.component == change.component => {
                last.message.push_str("; ");
                last.message.push_str(&text);
            }
            _ => notes.push(Note {
                rule: RuleId::EraSurfacesDiffer,
                component: change.component,
                message: format!(
                    "from {} to {}: {text}",
                    other.protocol_version, counts.protocol_version
                ),
            }),
        }
    }
    notes
}
