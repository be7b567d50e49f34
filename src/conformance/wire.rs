//! What the protocol's schema requires of a listed component, revision by revision.
//!
//! One table, taken from the official schemas of the five revisions; a test compares the two on
//! thousands of mutated components. Only the components of lists are in it: the rest of an answer
//! is checked while it is read.

use std::borrow::Cow;

use crate::canonical::{Json, pointer};
use crate::surface::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

impl Revision {
    /// The revision of this name. An unknown or unrecorded one counts as the newest, which requires
    /// the least of schemas.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "2024-11-05" => V2024_11_05,
            "2025-03-26" => V2025_03_26,
            "2025-06-18" => V2025_06_18,
            "2025-11-25" => V2025_11_25,
            _ => V2026_07_28,
        }
    }
}

#[derive(Clone, Copy)]
enum Form {
    Text,
    Flag,
    Integer,
    /// A number from 0 to 1.
    Fraction,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// `sha256:` and 64 lowercase hexadecimal digits.
    Digest,
    /// An object with these members, and any others.
    Object(&'static [Member]),
    /// An object whose members all have this form.
    Map(&'static Form),
    List(&'static Form),
    /// This string, or a list.
    WordOrList(&'static str, &'static Form),
}

struct Member {
    name: &'static str,
    form: Form,
    required: bool,
    since: Revision,
    until: Revision,
}

impl Member {
    const fn optional(name: &'static str, form: Form) -> Self {
        Self {
            name,
            form,
            required: false,
            since: V2024_11_05,
            until: V2026_07_28,
        }
    }

    const fn required(name: &'static str, form: Form) -> Self {
        Self {
            required: true,
            ..Self::optional(name, form)
        }
    }

    const fn since(self, since: Revision) -> Self {
        Self { since, ..self }
    }

    const fn until(self, until: Revision) -> Self {
        Self { until, ..self }
    }
}

const ANY_OBJECT: Form = Form::Object(&[]);
const TEXTS: Form = Form::List(&Form::Text);

const ICONS: Form = Form::List(&Form::Object(&[
    Member::required("src", Form::Text),
    Member::optional("mimeType", Form::Text),
    Member::optional("sizes", TEXTS),
    Member::optional("theme", Form::Word(&["light", "dark"])),
]));

const ANNOTATIONS: Form = Form::Object(&[
    Member::optional("audience", Form::List(&Form::Word(&["user", "assistant"]))),
    Member::optional("priority", Form::Fraction),
    Member::optional("lastModified", Form::Text).since(V2025_06_18),
]);

const ROOT_TYPE: Member = Member::required("type", Form::Word(&["object"]));

/// The root of a schema, as far as the revisions before SEP-2106 prescribe it.
const OBJECT_SCHEMA: Form = Form::Object(&[
    ROOT_TYPE,
    Member::optional("properties", Form::Map(&ANY_OBJECT)).until(V2025_11_25),
    Member::optional("required", TEXTS).until(V2025_11_25),
    Member::optional("$schema", Form::Text).since(V2025_11_25),
]);

const TOOL: &[Member] = &[
    Member::required("name", Form::Text),
    Member::optional("title", Form::Text).since(V2025_06_18),
    Member::optional("description", Form::Text),
    Member::required("inputSchema", OBJECT_SCHEMA),
    Member::optional("outputSchema", OBJECT_SCHEMA)
        .since(V2025_06_18)
        .until(V2025_11_25),
    Member::optional(
        "outputSchema",
        Form::Object(&[Member::optional("$schema", Form::Text)]),
    )
    .since(V2026_07_28),
    Member::optional(
        "annotations",
        Form::Object(&[
            Member::optional("title", Form::Text),
            Member::optional("readOnlyHint", Form::Flag),
            Member::optional("destructiveHint", Form::Flag),
            Member::optional("idempotentHint", Form::Flag),
            Member::optional("openWorldHint", Form::Flag),
        ]),
    )
    .since(V2025_03_26),
    Member::optional(
        "execution",
        Form::Object(&[Member::optional(
            "taskSupport",
            Form::Word(&["forbidden", "optional", "required"]),
        )]),
    )
    .since(V2025_11_25)
    .until(V2025_11_25),
    Member::optional("icons", ICONS).since(V2025_11_25),
    Member::optional("_meta", ANY_OBJECT).since(V2025_06_18),
];

const PROMPT: &[Member] = &[
    Member::required("name", Form::Text),
    Member::optional("title", Form::Text).since(V2025_06_18),
    Member::optional("description", Form::Text),
    Member::optional(
        "arguments",
        Form::List(&Form::Object(&[
            Member::required("name", Form::Text),
            Member::optional("title", Form::Text).since(V2025_06_18),
            Member::optional("description", Form::Text),
            Member::optional("required", Form::Flag),
        ])),
    ),
    Member::optional("icons", ICONS).since(V2025_11_25),
    Member::optional("_meta", ANY_OBJECT).since(V2025_06_18),
];

const RESOURCE: &[Member] = &[
    Member::required("uri", Form::Text),
    Member::required("name", Form::Text),
    Member::optional("title", Form::Text).since(V2025_06_18),
    Member::optional("description", Form::Text),
    Member::optional("mimeType", Form::Text),
    Member::optional("size", Form::Integer),
    Member::optional("annotations", ANNOTATIONS),
    Member::optional("icons", ICONS).since(V2025_11_25),
    Member::optional("_meta", ANY_OBJECT).since(V2025_06_18),
];

const TEMPLATE: &[Member] = &[
    Member::required("uriTemplate", Form::Text),
    Member::required("name", Form::Text),
    Member::optional("title", Form::Text).since(V2025_06_18),
    Member::optional("description", Form::Text),
    Member::optional("mimeType", Form::Text),
    Member::optional("annotations", ANNOTATIONS),
    Member::optional("icons", ICONS).since(V2025_11_25),
    Member::optional("_meta", ANY_OBJECT).since(V2025_06_18),
];

/// Of the skills extension (SEP-2640).
const SKILL: &[Member] = &[
    Member::required("uri", Form::Text),
    Member::required(
        "frontmatter",
        Form::Object(&[
            Member::required("name", Form::Text),
            Member::required("description", Form::Text),
        ]),
    ),
    Member::required(
        "resources",
        Form::WordOrList(
            "dynamic",
            &Form::Object(&[
                Member::required("uri", Form::Text),
                Member::required("digest", Form::Digest),
                Member::required("size", Form::Integer),
            ]),
        ),
    ),
];

fn members(kind: Kind) -> &'static [Member] {
    match kind {
        Kind::Tool => TOOL,
        Kind::Prompt => PROMPT,
        Kind::Resource => RESOURCE,
        Kind::Template => TEMPLATE,
        Kind::Skill => SKILL,
        // Written here, not sent.
        Kind::Content => &[],
    }
}

/// A place where a component violates the protocol's schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) pointer: String,
    pub(super) expected: Cow<'static, str>,
    /// `None` if it is missing.
    pub(super) found: Option<&'static str>,
}

/// Every place where a component violates the protocol's schema, at most [`MOST`].
pub(super) fn mismatches(kind: Kind, definition: &Json, revision: Revision) -> Vec<Mismatch> {
    let mut check = Check {
        revision,
        at: String::new(),
        found: Vec::new(),
    };
    check.value(definition, &Form::Object(members(kind)));
    check.found
}

/// The maximum number of mismatches to collect per component.
const MOST: usize = 1_000;

struct Check {
    revision: Revision,
    at: String,
    found: Vec<Mismatch>,
}

impl Check {
    fn value(&mut self, value: &Json, form: &Form) {
        if self.found.len() >= MOST {
            return;
        }
        let fits = match (form, value) {
            (Form::Text, Json::String(_)) | (Form::Flag, Json::Bool(_)) => true,
            (Form::Integer, Json::Number(number)) => number.to_f64().fract() == 0.0,
            (Form::Fraction, Json::Number(number)) => (0.0..=1.0).contains(&number.to_f64()),
            (Form::Word(words), Json::String(text)) => {
                text.as_str().is_some_and(|text| words.contains(&text))
            }
            (Form::Digest, Json::String(text)) => text.as_str().is_some_and(is_digest),
            (Form::Object(members), Json::Object(_)) => {
                self.members(value, members);
                true
            }
            (Form::Map(form), Json::Object(object)) => {
                for (name, value) in object.iter() {
                    self.below(name.to_string_lossy(), |check| check.value(value, form));
                }
                true
            }
            (Form::List(form) | Form::WordOrList(_, form), Json::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(&index.to_string(), |check| check.value(item, form));
                }
                true
            }
            (Form::WordOrList(word, _), Json::String(text)) => text.as_str() == Some(word),
            _ => false,
        };
        if !fits {
            self.found.push(Mismatch {
                pointer: self.at.clone(),
                expected: expected(form),
                found: Some(value.kind()),
            });
        }
    }

    fn members(&mut self, object: &Json, members: &[Member]) {
        for member in members {
            if !(member.since..=member.until).contains(&self.revision) {
                continue;
            }
            match object.get(member.name) {
                Some(value) => self.below(member.name, |check| check.value(value, &member.form)),
                None if member.required => self.found.push(Mismatch {
                    pointer: pointer::join(&self.at, member.name),
                    expected: expected(&member.form),
                    found: None,
                }),
                None => {}
            }
        }
    }

    fn below(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let length = self.at.len();
        pointer::push(&mut self.at, name);
        check(self);
        self.at.truncate(length);
    }
}

fn expected(form: &Form) -> Cow<'static, str> {
    let words = |words: &[&str]| {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        quoted.join(" or ")
    };
    match form {
        Form::Text => "a string".into(),
        Form::Flag => "true or false".into(),
        Form::Integer => "an integer".into(),
        Form::Fraction => "a number from 0 to 1".into(),
        Form::Word(list) => words(list).into(),
        Form::Digest => "`sha256:` and 64 lowercase hexadecimal digits".into(),
        Form::Object(_) | Form::Map(_) => "an object".into(),
        Form::List(_) => "an array".into(),
        Form::WordOrList(word, _) => format!("an array or \"{word}\"").into(),
    }
}

fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    let is_lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    hex.len() == 64 && hex.bytes().all(is_lower_hex)
}
