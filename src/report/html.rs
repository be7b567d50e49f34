//! The report as one self-contained HTML page: no script, no font, no image, nothing fetched.
//!
//! The page's own policy forbids what it does not use, so that a mistake in escaping would still
//! run nothing.

use std::fmt::Write as _;

use super::{Failure, Finding, Located, Report, ServerReport, Status, change_text, escape, rules};
use crate::canonical::{Json, to_pretty};
use crate::judgement::Proof;
use crate::rules::RuleId;
use crate::sentences::report as sentences;

/// How much of a value is shown.
const VALUE_CHARACTERS: usize = 20_000;

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mcp-keel</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
p, li, code { white-space: pre-wrap; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.875rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid; padding: 0.5rem; margin: 0; }
section.change { border-left: 4px solid; padding-left: 1rem; margin: 1.5rem 0; }
.breaking { border-color: #b3261e; } .risky { border-color: #a15c00; }
.additive { border-color: #1b6e3c; } .cosmetic { border-color: #777; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem; }
</style>
</head>
<body>
"#;

/// The report as a page, with a final newline.
pub fn html(report: &Report) -> String {
    let mut out = String::from(HEAD);
    let _ = writeln!(out, "<h1>mcp-keel: {}</h1>", report.verdict);
    let _ = writeln!(out, "<p>{}</p>", escape::html(&report.headline()));
    for one in &report.servers {
        server(&mut out, one);
    }
    findings(&mut out, &report.findings);
    out + "</body>\n</html>\n"
}

fn server(out: &mut String, server: &ServerReport) {
    let name = escape::html(&server.name);
    let _ = writeln!(
        out,
        "<h2><code>{name}</code>: {}</h2>",
        server.status.word()
    );
    if let Status::Undetermined(it) = &server.status {
        failure(out, it);
    }
    let mut changes: Vec<&Located> = server.changes.iter().collect();
    changes.sort_by_key(|it| std::cmp::Reverse(super::annotations::severity(it)));
    for located in changes {
        change(out, located);
    }
    findings(out, &server.findings);
}

fn failure(out: &mut String, failure: &Failure) {
    let _ = writeln!(
        out,
        "<p>{}</p>\n<p>{}</p>\n<p>{}</p>",
        sentences::no_verdict(),
        escape::html(&failure.message),
        escape::html(&failure.help)
    );
    if !failure.stderr.trim().is_empty() {
        let _ = writeln!(out, "<pre>{}</pre>", escape::html_block(&failure.stderr));
    }
}

fn change(out: &mut String, located: &Located) {
    let judged = &located.judged;
    let change = &judged.change;
    let component = escape::html(change_text::component(located));
    let _ = writeln!(
        out,
        "<section class=\"change {0}\">\n<h3><code>{component}</code> {1}</h3>\n<p>{0}, exposure {2}, {3}, id <code>{4}</code></p>",
        change.level,
        rule_link(change.rule),
        change.exposure,
        judged.action,
        judged.id
    );
    let _ = writeln!(
        out,
        "<p>{}</p>",
        escape::html(&change_text::sentence(located))
    );
    if let Some(decision) = change_text::decision(located) {
        let _ = writeln!(out, "<p>{}</p>", escape::html(&decision));
    }
    for (word, place) in [("Baseline", &located.location), ("Source", &located.source)] {
        if let Some(place) = place {
            let path = escape::html(&place.slashed());
            let _ = writeln!(out, "<p>{word}: <code>{path}:{}</code></p>", place.line);
        }
    }
    if !change.words.is_empty() {
        let words = escape::html_block(&change_text::words(&change.words));
        let _ = writeln!(out, "<pre>{words}</pre>");
    }
    *out += "<div class=\"sides\">\n";
    for (word, value) in [("old", &change.old), ("new", &change.new)] {
        if let Some(value) = value {
            let _ = writeln!(out, "<div><p>{word}</p>{}</div>", pre(value));
        }
    }
    *out += "</div>\n";
    match &change.proof {
        Some(Proof::Witness(instance)) => {
            let label = change_text::witness_label(located);
            let _ = writeln!(out, "<p>{label}:</p>\n{}", pre(instance));
        }
        Some(Proof::Undecided(reason)) => {
            let _ = writeln!(
                out,
                "<p>{}: {}</p>",
                sentences::undecided(),
                escape::html(reason)
            );
        }
        Some(Proof::Subsumed) | None => {}
    }
    let advice = escape::html(change.rule.rule().advice);
    let _ = writeln!(out, "<p>{}: {advice}</p>", sentences::what_to_do());
    *out += "</section>\n";
}

fn pre(value: &Json) -> String {
    let text = escape::short_block(&to_pretty(value), VALUE_CHARACTERS);
    format!("<pre>{}</pre>", escape::html_block(&text))
}

fn rule_link(rule: RuleId) -> String {
    let address = escape::html(&rules::address(rule));
    format!("<a href=\"{address}\">{rule}</a>")
}

fn findings(out: &mut String, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    *out += "<ul>\n";
    for finding in findings {
        let text = escape::html(&change_text::finding(finding));
        let rule = rule_link(finding.note.rule);
        let _ = writeln!(out, "<li>{}: {text} ({rule})</li>", finding.action);
    }
    *out += "</ul>\n";
}
