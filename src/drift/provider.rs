//! Whether the model providers still accept a tool.

use super::Change;
use crate::canonical::{Json, pointer};
use crate::provider::{Provider, Violation, violations};
use crate::rules::RuleId;
use crate::wording::join_with_and;

/// The first thing in a tool that some providers reject.
struct Obstacle {
    pointer: String,
    /// Each provider that rejects it, with the reason.
    refusals: Vec<(Provider, Violation)>,
}

/// One change per place that makes providers reject a tool they accepted, or the reverse.
///
/// Providers that reject the same place share a change: people read one sentence, and two changes
/// with the same place and value would have the same id.
pub(super) fn compare(old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let same = |member: &str| old.get(member) == new.get(member);
    if same("name") && same("inputSchema") {
        return;
    }
    properties_omitted(old.get("inputSchema"), new.get("inputSchema"), changes);
    let (mut exceeded, mut met) = (Vec::new(), Vec::new());
    for provider in Provider::ALL {
        let before = violations(*provider, old).into_iter().next();
        let after = violations(*provider, new).into_iter().next();
        match (before, after) {
            (None, Some(violation)) => add(&mut exceeded, *provider, violation),
            (Some(violation), None) => add(&mut met, *provider, violation),
            _ => {}
        }
    }
    let mut push = |rule, obstacle: Obstacle, message| {
        let value = |definition| pointer::resolve(definition, &obstacle.pointer);
        let change = Change::new(rule, obstacle.pointer.clone(), message);
        changes.push(change.values(value(old), value(new)));
    };
    for obstacle in exceeded {
        let message = format!("no longer accepted by {}", obstacle.sentence());
        push(RuleId::ProviderLimitExceeded, obstacle, message);
    }
    for obstacle in met {
        let message = format!("now accepted by {}", obstacle.providers());
        push(RuleId::ProviderLimitMet, obstacle, message);
    }
}

/// Objects that had `properties`, and now have none. OpenAI's models need the member, strict or
/// not.
fn properties_omitted(old: Option<&Json>, new: Option<&Json>, changes: &mut Vec<Change>) {
    let (Some(old), Some(new)) = (old, new) else {
        return;
    };
    let mut found = Vec::new();
    omitted_at(old, new, &mut "/inputSchema".to_owned(), &mut found);
    for (place, properties) in found {
        let mut tokens: Vec<_> = pointer::tokens(&place).collect();
        // A branch has no name of its own.
        while let [.., "anyOf" | "oneOf", _] =
            tokens.iter().map(String::as_str).collect::<Vec<_>>()[..]
        {
            tokens.truncate(tokens.len() - 2);
        }
        let parameter = tokens.get(1..).and_then(<[_]>::last).map(String::as_str);
        let message = match parameter {
            Some(name) => format!(
                "`{name}`: `properties` was left out, and OpenAI's models no longer see the parameter"
            ),
            None => "`properties` was left out, and OpenAI's API rejects the tool".to_owned(),
        };
        let at = pointer::join(&place, "properties");
        let change = Change::new(RuleId::ObjectPropertiesOmitted, at, message);
        changes.push(change.values(Some(properties), None));
    }
}

/// Visits the places that both schemas have: parameters, and items. An object that may be `null`
/// is often a branch of a choice.
fn omitted_at<'a>(old: &'a Json, new: &Json, at: &mut String, found: &mut Vec<(String, &'a Json)>) {
    let ((_, old), (below, new)) = (as_object(old), as_object(new));
    let length = at.len();
    at.push_str(&below);
    let is_object = |it: &Json| match it.get("type") {
        Some(Json::Array(types)) => types.iter().any(|it| it.as_str() == Some("object")),
        one => one.and_then(Json::as_str) == Some("object"),
    };
    if let (Some(properties), None) = (old.get("properties"), new.get("properties"))
        && is_object(old)
        && is_object(new)
    {
        found.push((at.clone(), properties));
    }
    if let (Some(Json::Object(was)), Some(Json::Object(is))) =
        (old.get("properties"), new.get("properties"))
    {
        let is = is.by_name();
        pointer::descend(at, "properties", |at| {
            for (name, old) in was.by_name() {
                if let Some(new) = is.get(name) {
                    pointer::descend(at, name.to_string_lossy(), |at| {
                        omitted_at(old, new, at, found);
                    });
                }
            }
        });
    }
    if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
        pointer::descend(at, "items", |at| omitted_at(old, new, at, found));
    }
    at.truncate(length);
}

/// The only branch of a choice that is an object, with its place; else the schema itself.
fn as_object(schema: &Json) -> (String, &Json) {
    for keyword in ["anyOf", "oneOf"] {
        let branches = schema.get(keyword).and_then(Json::as_array);
        let branches = branches.unwrap_or_default().iter().enumerate();
        let mut objects =
            branches.filter(|(_, it)| it.get("type").and_then(Json::as_str) == Some("object"));
        if let (Some((index, branch)), None) = (objects.next(), objects.next()) {
            return (format!("/{keyword}/{index}"), branch);
        }
    }
    (String::new(), schema)
}

fn add(obstacles: &mut Vec<Obstacle>, provider: Provider, violation: Violation) {
    match obstacles
        .iter_mut()
        .find(|it| it.pointer == violation.pointer)
    {
        Some(obstacle) => obstacle.refusals.push((provider, violation)),
        None => obstacles.push(Obstacle {
            pointer: violation.pointer.clone(),
            refusals: vec![(provider, violation)],
        }),
    }
}

impl Obstacle {
    /// "openai-strict and gemini".
    fn providers(&self) -> String {
        join_with_and(self.refusals.iter().map(|(provider, _)| provider.word()))
    }

    /// "openai-strict and gemini: `not` is not supported", with separate reasons if they differ.
    fn sentence(&self) -> String {
        let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
        for (provider, violation) in &self.refusals {
            let reason = format!("`{}` {}", violation.keyword, violation.reason);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, providers)) => providers.push(provider.word()),
                None => reasons.push((reason, vec![provider.word()])),
            }
        }
        let by_reason = reasons.iter().map(|(reason, providers)| {
            format!("{}: {reason}", join_with_and(providers.iter().copied()))
        });
        by_reason.collect::<Vec<_>>().join("; by ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::parse_str;

    /// Rule, pointer and message of each change between two tools with one parameter of these
    /// schemas.
    fn reported(old: &str, new: &str) -> Vec<(RuleId, String, String)> {
        let tool = |schema: &str| {
            let text = format!(r#"{{"name":"t","inputSchema":{{"properties":{{"x":{schema}}}}}}}"#);
            parse_str(&text).unwrap()
        };
        let mut changes = Vec::new();
        compare(&tool(old), &tool(new), &mut changes);
        let changes = changes.into_iter();
        changes
            .map(|it| (it.rule, it.pointer, it.message))
            .collect()
    }

    const PLAIN: &str = r#"{"type":"string"}"#;

    #[test]
    fn providers_that_reject_the_same_place_share_a_change() {
        let at = "/inputSchema/properties/x/not".to_owned();
        let message = "no longer accepted by openai-strict, anthropic-strict and gemini: \
                       `not` is not supported";
        let refused = r#"{"type":"string","not":{"const":"a"}}"#;
        assert_eq!(
            reported(PLAIN, refused),
            [(
                RuleId::ProviderLimitExceeded,
                at.clone(),
                message.to_owned()
            )]
        );
        let message = "now accepted by openai-strict, anthropic-strict and gemini";
        assert_eq!(
            reported(refused, PLAIN),
            [(RuleId::ProviderLimitMet, at, message.to_owned())]
        );
    }

    #[test]
    fn each_provider_has_its_own_reason() {
        let message = "no longer accepted by openai-strict and anthropic-strict: \
                       `propertyNames` is not supported; by gemini: `propertyNames` is an object; \
                       supported: only if it matches every name";
        let new = r#"{"type":"object","propertyNames":{"pattern":"^a"}}"#;
        assert_eq!(reported(PLAIN, new)[0].2, message);
    }

    #[test]
    fn different_places_are_different_changes() {
        let new = r#"{"type":"string","format":"uri","maxLength":9}"#;
        let at: Vec<String> = reported(PLAIN, new).into_iter().map(|it| it.1).collect();
        let x = "/inputSchema/properties/x";
        assert_eq!(at, [format!("{x}/format"), format!("{x}/maxLength")]);
    }

    #[test]
    fn a_tool_that_was_never_accepted_yields_nothing() {
        let old = r#"{"type":"string","not":{"const":"a"}}"#;
        let new = r#"{"type":"object","patternProperties":{"^a":{}}}"#;
        assert!(reported(old, new).is_empty());
        assert!(reported(old, old).is_empty() && reported(PLAIN, PLAIN).is_empty());
    }

    #[test]
    fn a_name_that_a_provider_rejects_is_reported_with_the_rename() {
        let surface = |name: &str| {
            let tool = format!(
                r#"{{"name":"{name}","description":"Reads a file.","inputSchema":{{"properties":{{"x":{PLAIN}}}}}}}"#
            );
            let lists = crate::surface::Lists {
                tools: vec![parse_str(&tool).unwrap()],
                ..Default::default()
            };
            let empty = Json::object([]);
            crate::surface::Surface::new(
                &empty,
                lists,
                Default::default(),
                crate::surface::Scope::FULL,
            )
        };
        let changes = super::super::compare(&surface("read_file"), &surface("read.file"));
        let rules: Vec<RuleId> = changes.iter().map(|it| it.rule).collect();
        assert_eq!(rules, [RuleId::ToolRenamed, RuleId::ProviderLimitExceeded]);
        assert_ne!(changes[0].id("s"), changes[1].id("s"));
    }
}
