use super::*;
use crate::canonical::Json;
use crate::rules::RuleId;

fn change(rule: RuleId) -> Change {
    Change::new(rule, "", String::new())
}

const TODAY: Date = Date {
    year: 2026,
    month: 6,
    day: 15,
};

fn action(policy: &Policy, rule: RuleId) -> Action {
    policy.judge("s", vec![change(rule)], TODAY)[0].action
}

#[test]
fn by_default_cosmetic_changes_and_additions_of_low_exposure_warn() {
    for (rule, expected) in [
        (RuleId::ToolRemoved, Action::Block),
        (RuleId::ToolDescriptionChanged, Action::Block),
        (RuleId::ToolAdded, Action::Block),
        // High exposure, though no caller notices.
        (RuleId::AppAccessWidened, Action::Block),
        // Components that appear or disappear, whatever their level and exposure.
        (RuleId::ResourceAdded, Action::Block),
        (RuleId::ContentRemoved, Action::Block),
        (RuleId::CapabilityAdded, Action::Warn),
        (RuleId::ServerVersionChanged, Action::Warn),
        (RuleId::ToolOrderChanged, Action::Warn),
        (RuleId::DefinitionRespelled, Action::Warn),
        (RuleId::ToolTitleChanged, Action::Warn),
    ] {
        assert_eq!(action(&Policy::default(), rule), expected, "{rule}");
        assert_eq!(action(&Policy::strict(), rule), Action::Block, "{rule}");
    }
}

#[test]
fn what_the_preset_does_not_fail_follows_its_rule_and_never_exceeds_enforcement() {
    let mut policy = Policy::default();
    policy
        .rules
        .insert(RuleId::ToolOrderChanged, RuleSetting::Action(Action::Block));
    policy
        .rules
        .insert(RuleId::ToolTitleChanged, RuleSetting::Action(Action::Audit));
    assert_eq!(action(&policy, RuleId::ToolOrderChanged), Action::Block);
    assert_eq!(action(&policy, RuleId::ToolTitleChanged), Action::Audit);
    policy.enforcement = Enforcement::Audit;
    assert_eq!(action(&policy, RuleId::ToolOrderChanged), Action::Audit);
    assert_eq!(action(&policy, RuleId::ServerVersionChanged), Action::Audit);
}

#[test]
fn a_threshold_replaces_those_of_the_preset() {
    let policy = Policy {
        fail_on: Some(FailOn::Breaking),
        ..Policy::default()
    };
    assert_eq!(policy.fail_on_exposure(), Exposure::None);
    for rule in [
        RuleId::ToolAdded,
        RuleId::ResourceAdded,
        RuleId::ContentRemoved,
    ] {
        assert_eq!(action(&policy, rule), Action::Audit, "{rule}");
    }
    let policy = Policy {
        fail_on_exposure: Some(Exposure::High),
        ..Policy::default()
    };
    assert_eq!(policy.fail_on(), FailOn::Risky);
    assert_eq!(action(&policy, RuleId::CacheScopeChanged), Action::Warn);
    assert_eq!(action(&policy, RuleId::ResourceAdded), Action::Block);
}

#[test]
fn enforcement_applies_to_known_components_and_unknown_to_new_ones() {
    let policy = |enforcement, unknown| Policy {
        enforcement,
        unknown,
        ..Policy::default()
    };
    for (enforcement, unknown, changed, added) in [
        (Enforcement::Audit, None, Action::Audit, Action::Audit),
        (Enforcement::Warn, None, Action::Warn, Action::Warn),
        (
            Enforcement::Block,
            Some(Unknown::Allow),
            Action::Block,
            Action::Audit,
        ),
        (
            Enforcement::Block,
            Some(Unknown::Warn),
            Action::Block,
            Action::Warn,
        ),
        (
            Enforcement::Warn,
            Some(Unknown::Block),
            Action::Warn,
            Action::Block,
        ),
        (
            Enforcement::Audit,
            Some(Unknown::Block),
            Action::Audit,
            Action::Block,
        ),
        (
            Enforcement::Audit,
            Some(Unknown::Warn),
            Action::Audit,
            Action::Warn,
        ),
    ] {
        let policy = policy(enforcement, unknown);
        assert_eq!(
            action(&policy, RuleId::ToolRemoved),
            changed,
            "{enforcement} {unknown:?}"
        );
        assert_eq!(
            action(&policy, RuleId::ToolAdded),
            added,
            "{enforcement} {unknown:?}"
        );
    }
}

#[test]
fn a_change_below_both_thresholds_is_only_reported() {
    let mut policy = Policy {
        fail_on: Some(FailOn::Breaking),
        ..Policy::default()
    };
    assert_eq!(action(&policy, RuleId::ToolRemoved), Action::Block);
    assert_eq!(action(&policy, RuleId::ToolAdded), Action::Audit);
    policy.fail_on_exposure = Some(Exposure::High);
    assert_eq!(action(&policy, RuleId::ToolAdded), Action::Block);
    policy.fail_on = Some(FailOn::None);
    assert_eq!(action(&policy, RuleId::ToolRemoved), Action::Audit);
}

#[test]
fn a_rule_has_the_configured_action_or_level() {
    let mut policy = Policy {
        enforcement: Enforcement::Warn,
        ..Policy::default()
    };
    policy
        .rules
        .insert(RuleId::ToolRemoved, RuleSetting::Action(Action::Block));
    assert_eq!(action(&policy, RuleId::ToolRemoved), Action::Block);
    assert_eq!(action(&policy, RuleId::PromptRemoved), Action::Warn);

    let mut policy = Policy {
        fail_on: Some(FailOn::Breaking),
        ..Policy::default()
    };
    policy.rules.insert(
        RuleId::ToolTitleChanged,
        RuleSetting::Level(Level::Breaking),
    );
    assert_eq!(action(&policy, RuleId::ToolTitleChanged), Action::Block);
}

#[test]
fn would_block_does_not_depend_on_enforcement() {
    for enforcement in [Enforcement::Audit, Enforcement::Warn, Enforcement::Block] {
        let policy = Policy {
            enforcement,
            ..Policy::default()
        };
        for rule in [RuleId::ToolAdded, RuleId::ToolRemoved] {
            assert!(
                policy.judge("s", vec![change(rule)], TODAY)[0].would_block,
                "{enforcement} {rule}"
            );
        }
    }
}

#[test]
fn a_finding_fails_only_if_its_rule_is_configured_to() {
    let note = Note {
        rule: RuleId::StdoutNoise,
        component: None,
        message: String::new(),
    };
    let mut policy = Policy {
        fail_on: Some(FailOn::Breaking),
        ..Policy::default()
    };
    assert_eq!(policy.judge_note(&note), Action::Audit);
    for (setting, expected) in [
        (RuleSetting::Action(Action::Block), Action::Block),
        (RuleSetting::Action(Action::Warn), Action::Warn),
        (RuleSetting::Level(Level::Breaking), Action::Block),
        (RuleSetting::Level(Level::Risky), Action::Audit),
    ] {
        policy.rules.insert(RuleId::StdoutNoise, setting);
        assert_eq!(policy.judge_note(&note), expected);
    }
    policy.enforcement = Enforcement::Audit;
    policy
        .rules
        .insert(RuleId::StdoutNoise, RuleSetting::Action(Action::Block));
    assert_eq!(policy.judge_note(&note), Action::Audit);
}

#[test]
fn audit_is_a_cap_and_shows_what_would_have_blocked() {
    let mut policy = Policy {
        enforcement: Enforcement::Audit,
        ..Policy::default()
    };
    policy
        .rules
        .insert(RuleId::ToolRemoved, RuleSetting::Action(Action::Block));
    let judged = policy.judge("s", vec![change(RuleId::ToolRemoved)], TODAY);
    assert_eq!(judged[0].action, Action::Audit);
    assert!(judged[0].would_block);
}

fn accepting(change: &str, expires: Option<Date>) -> Policy {
    Policy {
        accept: vec![Acceptance {
            change: change.into(),
            reason: "r".into(),
            owner: "@o".into(),
            expires,
            line: 3,
        }],
        ..Policy::strict()
    }
}

#[test]
fn an_accepted_change_does_not_block_until_the_day_after_it_expires() {
    let id = change(RuleId::ToolRemoved).id("s");
    let until = |day| Some(Date { day, ..TODAY });
    for (expires, expected) in [
        (None, Action::Accepted),
        (until(15), Action::Accepted),
        (until(14), Action::Block),
    ] {
        assert_eq!(
            action(&accepting(&id, expires), RuleId::ToolRemoved),
            expected
        );
    }
}

#[test]
fn an_acceptance_covers_one_value_only() {
    let accepted = change(RuleId::ToolTitleChanged).values(None, Some(&Json::string("a")));
    let policy = accepting(&accepted.id("s"), None);
    let next = change(RuleId::ToolTitleChanged).values(None, Some(&Json::string("b")));
    let judged = policy.judge("s", vec![accepted, next], TODAY);
    assert_eq!(judged[0].action, Action::Accepted);
    assert_eq!(judged[1].action, Action::Block);
}

#[test]
fn stale_acceptances_are_findings() {
    let policy = accepting("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", None);
    let notes = policy.acceptance_notes(TODAY);
    assert_eq!(notes[0].0.rule, RuleId::AcceptanceUnused);
    assert_eq!(
        notes[0].1.as_deref(),
        Some("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
    );
    let expired = accepting(
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        Some(Date {
            year: 2025,
            ..TODAY
        }),
    );
    let notes = expired.acceptance_notes(TODAY);
    assert_eq!(notes[0].0.rule, RuleId::AcceptanceExpired);
    assert_eq!(notes[0].1, None);
}
