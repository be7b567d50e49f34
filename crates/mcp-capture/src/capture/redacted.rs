//! Removes secrets from a capture.
//!
//! Done before anything is compared, stored or shown, so that digests, baselines and reports refer
//! to the same text.

use super::{CaptureFailure, Captured};
use crate::launch::STDERR_KEPT;
use crate::redact::{Found, Secrets};
use crate::surface::{CaptureNote, ComponentKey, Kind, Lists, NoteKind, Surface};
use exact_json::Json;

impl Captured {
    /// Removes secrets from everything that the server sent, and notes which component contained
    /// one.
    pub fn redact(&mut self, secrets: &Secrets) {
        self.stderr = secrets.clean_end(&self.stderr, self.stderr.len() >= STDERR_KEPT);
        if let Some(again) = self.again.take() {
            self.again = Some(redacted(again, &self.greeting, secrets));
        }
        let mut greeting = self.greeting.clone();
        let mut lists = self.lists.clone();
        let mut of_server = Found::new();
        secrets.redact_json(&mut greeting, &mut of_server);
        for members in lists.other_members.values_mut() {
            secrets.redact_json(members, &mut of_server);
        }
        let mut of_components = Vec::new();
        for kind in Kind::ALL.iter().copied() {
            for definition in lists.of_mut(kind) {
                let mut found = Found::new();
                secrets.redact_json(definition, &mut found);
                of_components.push(found);
            }
        }
        // Notes may quote the server too.
        let of_definitions = |captured: &Self| {
            let (client, scope) = (captured.surface.client.clone(), captured.surface.scope);
            let over_http = captured.surface.over_http;
            Surface {
                over_http,
                ..Surface::new(&captured.greeting, captured.lists.clone(), client, scope)
            }
        };
        if of_server.is_empty() && of_components.iter().all(Found::is_empty) {
            for note in &mut self.surface.notes {
                note.message = secrets.clean_cut(std::mem::take(&mut note.message));
            }
            return;
        }
        let noticed = self.surface.notes.split_off(
            of_definitions(self)
                .notes
                .len()
                .min(self.surface.notes.len()),
        );
        self.greeting = greeting;
        self.lists = lists;
        self.surface = of_definitions(self);
        for mut note in noticed {
            note.message = secrets.clean_cut(note.message);
            self.surface.notes.push(note);
        }
        if !of_server.is_empty() {
            self.surface
                .note(NoteKind::SecretInSurface, None, contains_secret(of_server));
        }
        let keys: Vec<ComponentKey> = self
            .surface
            .components
            .iter()
            .map(|component| component.key.clone())
            .collect();
        for (key, found) in keys.iter().zip(of_components) {
            if !found.is_empty() {
                self.surface
                    .note(NoteKind::SecretInSurface, Some(key), contains_secret(found));
            }
        }
    }
}

fn contains_secret(found: Found) -> String {
    let found: Vec<String> = found.into_iter().collect();
    format!("output contains a secret: {}", found.join(", "))
}

impl<N: From<CaptureNote>> Surface<N> {
    /// Removes secrets from a surface that was listed elsewhere.
    pub fn redact(&mut self, secrets: &Secrets) {
        let mut of_server = Found::new();
        secrets.redact_json(&mut self.server_info, &mut of_server);
        secrets.redact_json(&mut self.capabilities, &mut of_server);
        if let Some(instructions) = self.instructions.take() {
            let mut text = Json::String(instructions);
            secrets.redact_json(&mut text, &mut of_server);
            self.instructions = text.as_text().cloned();
        }
        let mut notes = Vec::new();
        if !of_server.is_empty() {
            notes.push((None, of_server));
        }
        for component in &mut self.components {
            let mut found = Found::new();
            secrets.redact_json(&mut component.definition, &mut found);
            if !found.is_empty() {
                notes.push((Some(component.key.clone()), found));
            }
        }
        for (key, found) in notes {
            self.note(
                NoteKind::SecretInSurface,
                key.as_ref(),
                contains_secret(found),
            );
        }
    }
}

/// A second listing without its secrets. They are only noted for the first.
fn redacted(surface: Surface, greeting: &Json, secrets: &Secrets) -> Surface {
    let mut lists = Lists {
        caching: surface.caching.clone(),
        other_members: surface.other_members_of_lists(),
        ..Lists::default()
    };
    for members in lists.other_members.values_mut() {
        secrets.redact_json(members, &mut Found::new());
    }
    for component in surface.components {
        lists.of_mut(component.kind).push(component.definition);
    }
    let mut greeting = greeting.clone();
    secrets.redact_json(&mut greeting, &mut Found::new());
    for kind in Kind::ALL.iter().copied() {
        for definition in lists.of_mut(kind) {
            secrets.redact_json(definition, &mut Found::new());
        }
    }
    Surface {
        over_http: surface.over_http,
        ..Surface::new(&greeting, lists, surface.client, surface.scope)
    }
}

impl CaptureFailure {
    /// Removes secrets from everything that quotes the server.
    pub fn redact(&mut self, secrets: &Secrets) {
        self.stderr = secrets.clean_end(&self.stderr, self.stderr.len() >= STDERR_KEPT);
        for text in self.error.quoted_mut() {
            *text = secrets.clean_cut(std::mem::take(text));
        }
    }
}
