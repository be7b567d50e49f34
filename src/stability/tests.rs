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
fn what_is_equal_does_not_vary() {
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
fn content_and_order_are_told_apart() {
    assert_eq!(
        varies(&format!("[{A},{B}]"), &format!("[{B},{A}]")),
        (vec![], true)
    );
    // Members in the order of a hash.
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
fn what_varies_is_left_out_and_nothing_else() {
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
        "`/description` is `one` and then `two` in two boots; the component is left out of the comparison"
    );
    assert_eq!(notes[20].message, "30 more places vary in two boots");
    assert_eq!(
        instability.sentence(),
        "the server does not say the same twice: tool:t0@: `/description` is `one` and then `two` in two boots, and 49 more places"
    );
    let help = instability.help("my server");
    assert!(help.contains(r#"under [server."my server"]: mask = [{ component = "tool:t0@", pointer = "/description", reason = "..." }"#), "{help}");
    assert!(
        help.ends_with(r#"[policy.rules] "capture-unstable" = "warn""#),
        "{help}"
    );
}
