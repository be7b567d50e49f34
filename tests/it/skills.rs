//! Skills and apps: captured, pinned and compared like any other list; their content is only read
//! on request.

use mcp_keel::canonical::to_compact;
use mcp_keel::rules::RuleId;
use mcp_keel::surface::Kind;

use crate::keel::{Keel, rules_of};
use crate::scripted::Capture;

const SKILL: &str = r#"{"uri":"skill://acme/refunds/SKILL.md","frontmatter":{"name":"refunds","description":"Refunds."},"resources":[{"uri":"skill://acme/refunds/SKILL.md","digest":"sha256:DIGEST","size":5}]}"#;
/// The digest of `hello`.
const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
const TOOL: &str = r#"{"name":"a","description":"A.","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://a/b"}}}"#;

/// A server with these skills, one tool that has a document, and answers to `resources/read`.
fn scenario(skills: &str, read: &str) -> String {
    format!(
        r#"{{"tools":[{TOOL}],"capabilities":{{"tools":{{}},"resources":{{}},"extensions":{{"io.modelcontextprotocol/skills":{{}}}}}},
        "on":{{"resources/list":[{{"result":{{"resources":[]}}}}],"resources/templates/list":[{{"result":{{"resourceTemplates":[]}}}}],
        "skills/list":[{{"result":{{"skills":[{skills}]}}}}],"resources/read":{read}}}}}"#
    )
}

fn skill(digest: &str) -> String {
    SKILL.replace("DIGEST", digest)
}

const TEXT: &str = r#"[{"result":{"contents":[{"uri":"x","mimeType":"text/html;profile=mcp-app","text":"hello"}]}}]"#;
const REFUSED: &str = r#"[{"error":{"code":-32002,"message":"not found"}}]"#;

/// The rules of the changes and the findings of a check.
fn rules(keel: &Keel) -> (Vec<String>, Vec<String>) {
    let report = keel.run(&["check", "--format", "json"]).json();
    let read = |list| -> Vec<String> { rules_of(list).into_iter().map(str::to_owned).collect() };
    let server = &report["servers"][0];
    (read(&server["changes"]), read(&server["findings"]))
}

#[test]
fn skills_are_listed_if_the_server_declares_them() {
    let captured = Capture::of(&scenario(&skill(HELLO), REFUSED))
        .run()
        .unwrap();
    let skills: Vec<String> = captured
        .lists
        .of(Kind::Skill)
        .iter()
        .map(to_compact)
        .collect();
    assert_eq!(skills, [skill(HELLO)]);
    assert!(
        captured.lists.of(Kind::Content).is_empty(),
        "nothing is read"
    );
    let without = scenario("7", REFUSED).replace("io.modelcontextprotocol/skills", "other");
    let captured = Capture::of(&without).run().unwrap();
    assert!(captured.lists.of(Kind::Skill).is_empty());
}

#[test]
fn a_skill_is_pinned_and_its_file_that_changed_is_drift_of_high_exposure() {
    let keel = Keel::following(&scenario(&skill(HELLO), TEXT), "");
    keel.run(&["pin"]).exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(baseline.contains("\"skills\""), "{baseline}");
    keel.run(&["check"]).exits(0);
    keel.follow(&scenario(&skill(&"0".repeat(64)), TEXT), "");
    let run = keel.run(&["check", "--format", "json"]).exits(1);
    let change = &run.json()["servers"][0]["changes"][0];
    assert_eq!(change["rule"], RuleId::SkillFileChanged.id());
    assert_eq!(change["exposure"], "high");
    assert_eq!(change["component"], "skill:skill://acme/refunds/SKILL.md@");
    assert_eq!(change["pointer"], "/resources/0");
}

#[test]
fn a_baseline_that_was_written_before_skills_were_read_has_no_drift() {
    let keel = Keel::following(&scenario("", TEXT), "");
    keel.run(&["pin"]).exits(0);
    // Listed and empty: later additions are drift.
    keel.follow(&scenario(&skill(HELLO), TEXT), "");
    assert_eq!(rules(&keel).0, [RuleId::SkillAdded.id()]);
    // A saved capture without the list says nothing about it.
    let list = format!(
        r#"{{"initialize":{{"protocolVersion":"2025-11-25","serverInfo":{{"name":"s","version":"1"}},"capabilities":{{"tools":{{}},"resources":{{}},"extensions":{{"io.modelcontextprotocol/skills":{{}}}}}}}},"tools":[{TOOL}],"prompts":[],"resources":[],"resourceTemplates":[]SKILLS}}"#
    );
    keel.write("old.json", &list.replace("SKILLS", ""));
    let skills = format!(r#","skills":[{}]"#, skill(HELLO));
    keel.write("new.json", &list.replace("SKILLS", &skills));
    let report = keel
        .run(&["diff", "old.json", "new.json", "--format", "json"])
        .json();
    assert_eq!(report["servers"][0]["changes"], serde_json::json!([]));
    assert_eq!(
        report["servers"][0]["findings"][0]["rule"],
        RuleId::ListNotCompared.id()
    );
}

#[test]
fn a_dynamic_skill_cannot_be_pinned_and_is_reported() {
    let dynamic = r#"{"uri":"skill://daily/SKILL.md","frontmatter":{"name":"daily","description":"D."},"resources":"dynamic"}"#;
    let keel = Keel::following(&scenario(dynamic, TEXT), "");
    keel.run(&["pin"]).exits(0).says(RuleId::SkillDynamic.id());
    assert_eq!(
        rules(&keel),
        (vec![], vec![RuleId::SkillDynamic.id().to_owned()])
    );
}

#[test]
fn the_content_of_apps_and_skills_is_read_on_request() {
    let more = "read-resources = true";
    let keel = Keel::following(&scenario(&skill(HELLO), TEXT), more);
    keel.run(&["pin"]).exits(0);
    let baseline = keel.read("mcp-baseline.json");
    assert!(baseline.contains("content:ui://a/b@"));
    assert!(!baseline.contains("content:skill://"), "its list has it");
    assert_eq!(rules(&keel), (vec![], vec![]));
    // A different document.
    let other = TEXT.replace("hello", "world");
    keel.follow(&scenario("", &other), more);
    let changed = rules(&keel).0;
    assert!(
        changed.contains(&RuleId::ContentChanged.id().to_owned()),
        "{changed:?}"
    );
    // A file that does not match its list, and a removed document.
    keel.follow(&scenario(&skill(HELLO), &other), more);
    let changed = rules(&keel).0;
    assert!(
        changed.contains(&RuleId::ContentNowUnusable.id().to_owned()),
        "{changed:?}"
    );
    keel.follow(&scenario(&skill(HELLO), REFUSED), more);
    let changed = rules(&keel).0;
    assert!(
        changed.contains(&RuleId::ContentNowUnusable.id().to_owned()),
        "{changed:?}"
    );
    keel.run(&["pin"]).exits(0);
    let unusable = RuleId::ContentUnusable.id().to_owned();
    assert_eq!(rules(&keel), (vec![], vec![unusable.clone(), unusable]));
    // Without reading, nothing is claimed.
    keel.follow(&scenario(&skill(HELLO), REFUSED), "");
    assert_eq!(
        rules(&keel),
        (vec![], vec![RuleId::ListNotCompared.id().to_owned()])
    );
}

#[test]
fn reading_is_bounded_in_count_bytes_and_time() {
    let reading = |scenario: &str| {
        Capture::of(scenario)
            .impatient()
            .limits(|it| it.read_contents = true)
    };
    // A document that never answers: no verdict.
    let error = reading(&scenario("", r#"["hang"]"#)).fails();
    assert!(error.contains("resources/read"), "{error}");
    // A file of a gigabyte is not requested.
    let huge = skill(HELLO).replace(r#""size":5"#, r#""size":1073741824"#);
    let captured = reading(&scenario(&huge, TEXT)).run().unwrap();
    let contents: Vec<String> = captured
        .lists
        .of(Kind::Content)
        .iter()
        .map(to_compact)
        .collect();
    assert!(
        contents[0].contains("unread") && !contents[0].contains("digest"),
        "{contents:?}"
    );
    // More files than the limit.
    let file = |at: usize| format!(r#"{{"uri":"skill://a/{at}","digest":"sha256:0","size":1}}"#);
    let files: Vec<String> = (0..2_000).map(file).collect();
    let many = format!(
        r#"{{"uri":"skill://a/SKILL.md","resources":[{}]}}"#,
        files.join(",")
    );
    let error = reading(&scenario(&many, TEXT)).fails();
    assert!(error.contains("1000"), "{error}");
    // An invalid answer.
    let error = reading(&scenario("", r#"[{"result":{}}]"#)).fails();
    assert!(error.contains("`contents`"), "{error}");
}

#[test]
fn names_with_control_characters_have_no_effect_in_any_report() {
    let hostile = skill(HELLO)
        .replace("acme", r"a\u001b[31m\u202ecme")
        .replace("Refunds.", r"\u001b]0;x\u0007");
    let keel = Keel::following(&scenario("", TEXT), "");
    keel.run(&["pin"]).exits(0);
    keel.follow(&scenario(&hostile, TEXT), "");
    for format in ["terminal", "markdown", "json", "github"] {
        let run = keel.run(&["check", "--format", format]);
        run.says_nothing_of("\u{1b}[31m")
            .says_nothing_of("\u{202e}");
    }
}
