use super::*;
use crate::canonical::parse_str;
use crate::rules::RuleId;
use crate::surface::{ClientProfile, Lists, Scope};

fn surface(tools: &str) -> Surface {
    let Ok(Json::Array(tools)) = parse_str(tools) else {
        panic!("tools are an array");
    };
    let lists = Lists {
        tools,
        ..Lists::default()
    };
    Surface::new(&Json::Null, lists, ClientProfile::default(), Scope::FULL)
}

fn varies(one: &str, other: &str) -> (Vec<String>, bool) {
    let variation = compare(&surface(one), &surface(other));
    let place = |it: Varying| {
        format!(
            "{}{}",
            it.component.as_deref().unwrap_or_default(),
            it.pointer
        )
    };
    (
        variation.places.into_iter().map(place).collect(),
        variation.reordered,
    )
}

const A: &str = r#"{"name":"a","description":"x"}"#;
const B: &str = r#"{"name":"b"}"#;

#[test]
fn equal_captures_do_not_vary() {
    let one = surface(&format!("[{B},{A}]"));
    let mut other = one.clone();
    other.client.name = "another".into();
    other.notes.push(Note {
        rule: RuleId::StdoutNoise,
        component: None,
        message: String::new(),
    });
    assert!(compare(&one, &other).is_none());
    let volatile = format!("[{}]", A.replace("\"x\"", "\"x\",\"ttlMs\":7"));
    assert!(compare(&surface(&format!("[{A}]")), &surface(&volatile)).is_none());
}

#[test]
fn content_and_order_are_distinguished() {
    assert_eq!(
        varies(&format!("[{A},{B}]"), &format!("[{B},{A}]")),
        (vec![], true)
    );
    // Members in hash order.
    let turned = r#"[{"description":"x","name":"a"}]"#;
    assert_eq!(varies(&format!("[{A}]"), turned), (vec![], true));
    let changed = A.replace("\"x\"", "\"y\"");
    assert_eq!(
        varies(&format!("[{A},{B}]"), &format!("[{changed},{B}]")),
        (vec!["tool:a@/description".into()], false)
    );
    assert_eq!(
        varies(&format!("[{A}]"), &format!("[{B},{A}]")),
        (vec!["tool:b@".into()], false)
    );
    assert_eq!(
        varies(&format!("[{A},{B}]"), &format!("[{B},{changed}]")),
        (vec!["tool:a@/description".into()], true)
    );
}

#[test]
fn each_kind_of_instability_has_its_rule() {
    let rule = |between, reordered: bool| {
        let other = if reordered {
            format!("[{B},{A}]")
        } else {
            format!("[{A}]")
        };
        let variation = compare(&surface(&format!("[{A},{B}]")), &surface(&other));
        Instability { between, variation }.rule()
    };
    let clients = || Between::Clients {
        one: "a".into(),
        other: "b".into(),
    };
    assert_eq!(rule(Between::Calls, false), RuleId::CaptureUnstable);
    assert_eq!(rule(Between::Boots, false), RuleId::CaptureUnstable);
    assert_eq!(
        rule(Between::Connections, false),
        RuleId::CaptureDiffersByConnection
    );
    assert_eq!(rule(clients(), false), RuleId::CaptureDiffersByClient);
    assert_eq!(rule(clients(), true), RuleId::CaptureOrderUnstable);
}

#[test]
fn only_what_varies_is_removed() {
    let (one, other) = (surface(&format!("[{A},{B}]")), surface(&format!("[{B}]")));
    let mut left = one.clone();
    leave_out(&mut left, &compare(&one, &other), None);
    assert_eq!(left.components.len(), 1);
    assert!(left.scope.order);
    let mut reference = one.clone();
    reference.instructions = Some("kept".into());
    let mut changed = one.clone();
    changed.instructions = Some("7".into());
    let mut left = changed.clone();
    leave_out(&mut left, &compare(&changed, &one), Some(&reference));
    assert_eq!(left, reference);
}

#[test]
fn notes_are_bounded_and_say_what_happens() {
    let many = |word: &str| {
        let tools: Vec<String> = (0..50)
            .map(|n| format!(r#"{{"name":"t{n}","description":"{word}"}}"#))
            .collect();
        surface(&format!("[{}]", tools.join(",")))
    };
    let instability = Instability {
        between: Between::Boots,
        variation: compare(&many("one"), &many("two")),
    };
    let notes = instability.notes(true);
    assert_eq!(notes.len(), 21);
    assert_eq!(
        notes[0].message,
        "`/description` varies between two boots: `one`, then `two`; the component is left out of the comparison"
    );
    assert_eq!(notes[20].message, "30 more places vary between two boots");
    assert_eq!(
        instability.sentence(),
        "two captures of the server differ: `/description` of tool:t0@ varies between two boots (`one`, then `two`), and 49 more places"
    );
    let help = instability.help("my server");
    assert!(help.contains(r#"under [server."my server"]: mask = [{ component = "tool:t0@", pointer = "/description", reason = "..." }"#), "{help}");
    assert!(
        help.ends_with(r#"[policy.rules] "capture-unstable" = "warn""#),
        "{help}"
    );
}

#[test]
fn a_public_list_that_profiles_see_differently_is_reported() {
    use crate::surface::{CacheHint, CacheScope};
    let cached = |tools: &str, scope| {
        let mut surface = surface(tools);
        let hint = CacheHint {
            scope: Some(scope),
            ttl_ms: None,
        };
        surface.caching.add(Kind::Tool, hint);
        surface
    };
    let found = |one: &Surface, other: &Surface| -> Vec<RuleId> {
        let notes = profiles::differing("it", &[("free", one), ("pro", other)]);
        notes.iter().map(|note| note.rule).collect()
    };
    let (a, both) = (format!("[{A}]"), format!("[{A},{B}]"));
    let public = |tools: &str| cached(tools, CacheScope::Public);
    let private = |tools: &str| cached(tools, CacheScope::Private);
    let expected = [RuleId::CacheScopePublic];
    assert_eq!(found(&public(&a), &public(&both)), expected);
    assert_eq!(found(&private(&a), &public(&both)), expected);
    assert!(found(&public(&a), &public(&a)).is_empty());
    assert!(found(&private(&a), &private(&both)).is_empty());
}
