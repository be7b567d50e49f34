//! The report as one self-contained HTML page: no font, no image, nothing fetched.
//!
//! Everything can be read without the script, which only adds searching, filtering and copying. The
//! page's own policy allows this style and this script, by their digests, and nothing else: a
//! mistake in escaping would still run nothing.

mod call;
mod picture;
mod tree;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use super::fold::by_rule;
use super::{
    Cost, Definition, Failure, FailureKind, Finding, Located, Report, ServerReport, Status,
    change_text, context_cost, escape, headline, rules,
};
use crate::canonical::{Json, to_pretty};
use crate::drift::text_diff::Run;
use crate::judgement::{Exposure, Level, Proof};
use crate::rules::RuleId;
use crate::surface::ComponentKey;
use crate::wording::capitalized;

/// How much of a value is shown.
const VALUE_CHARACTERS: usize = 20_000;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The report as a page, with a final newline.
pub fn html(report: &Report) -> String {
    let mut page = Page {
        out: head(report),
        tree_room: tree::MOST_MEMBERS,
        copies: 0,
    };
    page.summary(report);
    if report.servers.len() > 1 {
        page.index(report);
    }
    if report.changes().next().is_some() {
        page.controls(report);
    }
    for (at, server) in report.servers.iter().enumerate() {
        if report.servers.len() == 1 || has_section(server) {
            page.server(at, server);
        }
    }
    page.findings(&report.findings);
    let _ = write!(
        page.out,
        "</main>\n<p id=\"said\" role=\"status\" class=\"quiet\"></p>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    );
    page.out
}

fn head(report: &Report) -> String {
    let digest = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        base64::engine::general_purpose::STANDARD.encode(digest)
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; \
         script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>mcp-keel: {}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<main>\n",
        digest(STYLE),
        digest(SCRIPT),
        report.verdict,
    )
}

struct Page {
    out: String,
    /// How many members of schema trees may still be shown.
    tree_room: usize,
    /// How many texts can be copied so far: the number in the id of the next one.
    copies: usize,
}

impl Page {
    fn summary(&mut self, report: &Report) {
        let code = |text: &str| format!("<code>{}</code>", escape::html(text));
        let (sentence, _) = headline::headline(report, code);
        let (_, command) = headline::headline(report, escape::html);
        let _ = writeln!(
            self.out,
            "<h1>mcp-keel: <span class=\"{0}\">{0}</span></h1>\n<p>{1}</p>",
            report.verdict,
            capitalized(&sentence),
        );
        if let Some(command) = command {
            let text = self.copied_text("Command", &command);
            let _ = writeln!(self.out, "<div class=\"next\">{text}</div>");
        }
    }

    /// One line for each server, those with the worst verdict first.
    fn index(&mut self, report: &Report) {
        let _ = write!(
            self.out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All servers, the worst first\">\n\
             <table>\n<caption class=\"quiet\">All servers, the worst first</caption>\n\
             <thead><tr><th scope=\"col\">server</th>"
        );
        let _ = write!(self.out, "<th scope=\"col\">status</th>");
        for level in Level::ALL.iter().rev() {
            let _ = write!(self.out, "<th scope=\"col\" class=\"number\">{level}</th>");
        }
        let _ = writeln!(
            self.out,
            "<th scope=\"col\" class=\"number\">high exposure</th>\
             <th scope=\"col\" class=\"number\">≈ tokens</th></tr></thead>\n<tbody>"
        );
        let mut servers: Vec<(usize, &ServerReport)> = report.servers.iter().enumerate().collect();
        servers.sort_by_key(|(at, server)| (std::cmp::Reverse(server.verdict()), *at));
        for (at, server) in servers {
            let name = format!(
                "<code>{}</code>",
                escape::html(&escape::short(&server.name, 80))
            );
            let name = if has_section(server) {
                format!("<a href=\"#s{at}\">{name}</a>")
            } else {
                name
            };
            let _ = write!(
                self.out,
                "<tr><th scope=\"row\">{name}</th><td><span class=\"badge {}\">{}</span></td>",
                server.verdict(),
                server.status.word(),
            );
            let is_known = !matches!(server.status, Status::Undetermined(_));
            let levels = Level::ALL.iter().rev().map(|level| server.count(*level));
            for count in levels.chain([server.exposed(Exposure::High)]) {
                let _ = match count {
                    // Nothing is known, which is not the same as nothing changed.
                    _ if !is_known => write!(self.out, "<td class=\"number quiet\">?</td>"),
                    0 => write!(self.out, "<td class=\"number quiet\">0</td>"),
                    _ => write!(self.out, "<td class=\"number\">{count}</td>"),
                };
            }
            let _ = writeln!(
                self.out,
                "<td class=\"number\">{}</td></tr>",
                tokens(&server.cost)
            );
        }
        self.out += "</tbody>\n</table>\n</div>\n";
    }

    /// Search and filters. Hidden until the script that they need runs.
    fn controls(&mut self, report: &Report) {
        let _ = write!(
            self.out,
            "<div class=\"controls\" id=\"controls\" role=\"search\" aria-label=\"Filter the changes\" \
             data-shown=\"{{n}} of {{all}} changes shown\" hidden>\n\
             <label class=\"field\">Search <input type=\"search\" id=\"search\" accesskey=\"s\"></label>\n\
             <label class=\"field\">Tool <select id=\"tool\"><option value=\"\">all</option>"
        );
        let mut names: Vec<&str> = report.changes().map(change_text::component).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let name = escape::html(&escape::short(name, 120));
            let _ = write!(self.out, "<option value=\"{name}\">{name}</option>");
        }
        self.out += "</select></label>\n";
        let levels: Vec<&str> = Level::ALL.iter().rev().map(|it| it.word()).collect();
        let exposures: Vec<&str> = Exposure::ALL.iter().rev().map(|it| it.word()).collect();
        for (name, label, values) in [
            ("level", "Level", levels),
            ("exposure", "Exposure", exposures),
        ] {
            let _ = write!(self.out, "<fieldset><legend>{label}</legend>");
            for value in values {
                let _ = write!(
                    self.out,
                    "<label><input type=\"checkbox\" name=\"{name}\" value=\"{value}\" checked>{value}</label>"
                );
            }
            self.out += "</fieldset>\n";
        }
        let _ = writeln!(
            self.out,
            "<button type=\"button\" id=\"reset\">Show all</button>\n\
             <output id=\"shown\" class=\"quiet\"></output>\n</div>"
        );
    }

    fn server(&mut self, at: usize, server: &ServerReport) {
        let _ = writeln!(
            self.out,
            "<section id=\"s{at}\" aria-labelledby=\"s{at}h\">\n<h2 id=\"s{at}h\"><code>{}</code> <span class=\"badge {}\">{}</span></h2>",
            escape::html(&server.name),
            server.verdict(),
            server.status.word()
        );
        let mut facts = Vec::new();
        if let (Some(was), Some(is)) = (&server.version.baseline, &server.version.current) {
            let (was, is) = (escape::short(was, 80), escape::short(is, 80));
            let shown = if was == is {
                format!("Version {is}")
            } else {
                format!("Version {was} → {is}")
            };
            facts.push(escape::html(&escape::Visible::of_parts(shown)));
        }
        let cost = &server.cost;
        if cost.baseline + cost.current > 0 && !matches!(server.status, Status::Undetermined(_)) {
            facts.push(escape::html(&context_cost(
                if cost.baseline == 0 {
                    cost.current
                } else {
                    cost.baseline
                },
                cost.current,
            )));
        }
        if !facts.is_empty() {
            let _ = writeln!(self.out, "<p class=\"quiet\">{}</p>", facts.join(" · "));
        }
        if let Status::Undetermined(it) = &server.status {
            self.failure(it);
        }
        if let Some(alike) = server.alike() {
            let _ = writeln!(self.out, "<p>{}</p>", escape::html(&alike));
        }
        let components = grouped(&server.changes);
        let anchors: BTreeMap<&str, String> = components
            .iter()
            .enumerate()
            .map(|(index, (name, _))| (*name, format!("s{at}t{index}")))
            .collect();
        if !server.changes.is_empty() {
            self.out += &picture::picture(at, server, &anchors);
        }
        let definitions = server.definitions.iter();
        let definitions: BTreeMap<_, _> = definitions.map(|it| (&it.component, it)).collect();
        for (name, changes) in &components {
            self.component(&definitions, &anchors[name], name, changes);
        }
        if !server.changes.is_empty() {
            self.costs(&server.cost);
        }
        self.findings(&server.findings);
        self.out += "</section>\n";
    }

    fn failure(&mut self, failure: &Failure) {
        let _ = writeln!(
            self.out,
            "<p>{}</p>\n<p>{}</p>\n<p>{}</p>",
            if failure.kind == FailureKind::Skipped {
                "It was skipped. No verdict."
            } else {
                "It could not be captured. No verdict."
            },
            escape::html(&failure.message),
            escape::html(&failure.help)
        );
        if !failure.stderr.trim().is_empty() {
            let _ = writeln!(
                self.out,
                "<pre tabindex=\"0\" aria-label=\"stderr\">{}</pre>",
                escape::html_block(&failure.stderr)
            );
        }
    }

    fn component(
        &mut self,
        definitions: &BTreeMap<&ComponentKey, &Definition>,
        anchor: &str,
        name: &str,
        changes: &[&Located],
    ) {
        let key = changes[0].judged.change.component.as_ref();
        let (kind, shown) = match key {
            Some(key) => (key.kind().noun(), display_name(key)),
            None => ("", "server".to_owned()),
        };
        let _ = writeln!(
            self.out,
            "<section class=\"component\" id=\"{anchor}\">\n<h3><span class=\"quiet\">{kind}</span> <code>{}</code></h3>",
            escape::html(&escape::short(&shown, 200))
        );
        self.places(changes);
        for located in changes {
            self.change(name, located);
        }
        if let Some(definition) = key.and_then(|key| definitions.get(key)) {
            let pointers: Vec<&str> = changes
                .iter()
                .map(|it| it.judged.change.pointer.as_str())
                .collect();
            self.out += &tree::trees(definition, &pointers, &mut self.tree_room);
        }
        self.out += "</section>\n";
    }

    /// Where it is declared, and its first line in the baseline.
    fn places(&mut self, changes: &[&Located]) {
        let source = changes.iter().find_map(|it| it.source.as_ref());
        let baseline = changes.iter().find_map(|it| it.location.as_ref());
        let mut shown = Vec::new();
        for (word, place) in [("Declared in", source), ("Pinned in", baseline)] {
            if let Some(place) = place {
                let path = escape::html(&place.slashed());
                shown.push(format!("{word} <code>{path}:{}</code>", place.line));
            }
        }
        if !shown.is_empty() {
            let _ = writeln!(self.out, "<p class=\"quiet\">{}</p>", shown.join(" · "));
        }
    }

    fn change(&mut self, name: &str, located: &Located) {
        let judged = &located.judged;
        let change = &judged.change;
        let _ = writeln!(
            self.out,
            "<article class=\"change {0}\" data-level=\"{0}\" data-exposure=\"{1}\" data-tool=\"{2}\">\n<h4>{3}</h4>",
            change.level,
            change.exposure,
            escape::html(&escape::short(name, 120)),
            with_code(&escape::html(&escape::short(&change.message, 2_000))),
        );
        let exposure = if change.exposure >= Exposure::Medium {
            format!(
                "<span class=\"badge high\">Exposure {}</span>",
                change.exposure
            )
        } else {
            String::new()
        };
        let pointer = if change.pointer.is_empty() {
            String::new()
        } else {
            format!(
                "<code>{}</code>",
                escape::html(&escape::short(&change.pointer, 400))
            )
        };
        let _ = writeln!(
            self.out,
            "<div class=\"facts\"><span class=\"badge {0}\">{0}</span>\
             {exposure}<span>{1}</span>{pointer}{2}<span>id <code>{3}</code></span></div>",
            change.level,
            judged.action,
            rule_link(change.rule),
            judged.id,
        );
        if let Some(decision) = change_text::decision(located) {
            let _ = writeln!(self.out, "<p>{}</p>", escape::html(&decision));
        }
        if let Some(alike) = change_text::look_alike(change) {
            let _ = writeln!(self.out, "<p>{}</p>", escape::html(&alike));
        }
        self.values(located);
        match &change.proof {
            Some(Proof::Witness(instance)) => {
                let label = change_text::witness_label(change);
                let _ = writeln!(self.out, "<p>{}:</p>", capitalized(label));
                let tool = change.component.as_ref().and_then(ComponentKey::tool_name);
                for form in call::forms(change.rule.side(), tool, instance) {
                    self.copyable(&form);
                }
            }
            Some(Proof::Undecided(reason)) => {
                let reason = escape::html(reason);
                let _ = writeln!(self.out, "<p>not decided: {reason}</p>");
            }
            Some(Proof::Subsumed) | None => {}
        }
        let advice = escape::html(change.rule.rule().advice);
        let _ = writeln!(
            self.out,
            "<p class=\"quiet\">{}: {advice}</p>\n</article>",
            change_text::WHAT_TO_DO
        );
    }

    fn values(&mut self, located: &Located) {
        let change = &located.judged.change;
        if !change.words.is_empty() {
            let _ = writeln!(self.out, "<p>{}</p>", words(&change.words));
        } else if let Some(compared) = change_text::compared(change) {
            let _ = writeln!(self.out, "<p><code>{}</code></p>", escape::html(&compared));
            return;
        }
        if change.old.is_none() && change.new.is_none() {
            return;
        }
        let is_text = !change.words.is_empty();
        let is_large =
            |value: &Option<Json>| value.as_ref().is_some_and(|it| to_pretty(it).len() > 600);
        let folded = is_text || is_large(&change.old) || is_large(&change.new);
        if folded {
            let _ = writeln!(
                self.out,
                "<details><summary>The whole of it, before and now</summary>"
            );
        }
        self.out += "<div class=\"sides\">\n";
        for (word, value) in [("before", &change.old), ("now", &change.new)] {
            if let Some(value) = value {
                let _ = writeln!(self.out, "<div><h5>{word}</h5>{}</div>", pre(value, word));
            }
        }
        self.out += "</div>\n";
        if folded {
            self.out += "</details>\n";
        }
    }

    /// A text with a button that copies it. The first form of a call is open.
    fn copyable(&mut self, form: &call::Form) {
        let open = if form.is_open { " open" } else { "" };
        let text = self.copied_text(form.label, &escape::html_block(&form.text));
        let _ = writeln!(
            self.out,
            "<details class=\"call\"{open}><summary>{}</summary>{text}</details>",
            form.label,
        );
    }

    /// Text, escaped already, and the button that copies it.
    fn copied_text(&mut self, label: &str, escaped: &str) -> String {
        let id = self.copies;
        self.copies += 1;
        format!(
            "<pre id=\"t{id}\" tabindex=\"0\" aria-label=\"{label}\">{escaped}</pre>\
             <button type=\"button\" data-copies=\"t{id}\" data-done=\"Copied\" \
             data-selected=\"Selected: copy it with the keyboard\" aria-label=\"Copy: {label}\" \
             hidden>Copy</button>"
        )
    }

    fn costs(&mut self, cost: &Cost) {
        let mut tools: Vec<_> = cost.tools.iter().collect();
        if tools.is_empty() {
            return;
        }
        let moved =
            |it: &super::ToolCost| it.current.unwrap_or(0).abs_diff(it.baseline.unwrap_or(0));
        tools.sort_by_key(|it| (std::cmp::Reverse(moved(it)), std::cmp::Reverse(it.current)));
        let _ = writeln!(
            self.out,
            "<details><summary>Context cost of each tool, ≈ tokens</summary>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Context cost of each tool, ≈ tokens\">\n\
             <table>\n<thead><tr><th scope=\"col\">Tool</th><th scope=\"col\" class=\"number\">before</th>\
             <th scope=\"col\" class=\"number\">now</th><th scope=\"col\" class=\"number\">difference</th></tr></thead>\n\
             <tbody>"
        );
        for tool in tools {
            let number = |it: Option<usize>| it.map_or_else(String::new, |it| it.to_string());
            let (was, is) = (tool.baseline.unwrap_or(0), tool.current.unwrap_or(0));
            let sign = match was.cmp(&is) {
                std::cmp::Ordering::Less => "+",
                std::cmp::Ordering::Equal => "",
                std::cmp::Ordering::Greater => "−",
            };
            let _ = writeln!(
                self.out,
                "<tr><th scope=\"row\"><code>{}</code></th><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{sign}{}</td></tr>",
                escape::html(&escape::short(&display_name(&tool.component), 120)),
                number(tool.baseline),
                number(tool.current),
                is.abs_diff(was),
            );
        }
        self.out += "</tbody>\n</table>\n</div>\n</details>\n";
    }

    fn findings(&mut self, findings: &[Finding]) {
        if findings.is_empty() {
            return;
        }
        let _ = writeln!(self.out, "<h3>Also noticed</h3>\n<ul>");
        for group in by_rule(findings) {
            let first = group[0];
            let texts: Vec<String> = group.iter().map(|it| finding(it)).collect();
            let rule = rule_link(first.note.rule);
            let _ = writeln!(
                self.out,
                "<li><span class=\"badge {0}\">{0}</span> {1} ({rule})</li>",
                first.action,
                texts.join("\n"),
            );
        }
        self.out += "</ul>\n";
    }
}

/// Whether there is more to say about a server of several than its line in the index.
fn has_section(server: &ServerReport) -> bool {
    let is_undetermined = matches!(server.status, Status::Undetermined(_));
    !server.changes.is_empty() || !server.findings.is_empty() || is_undetermined
}

/// The changes by component, the worst first; equals in key order.
fn grouped(changes: &[Located]) -> Vec<(&str, Vec<&Located>)> {
    let mut by_component: BTreeMap<&str, Vec<&Located>> = BTreeMap::new();
    for located in changes {
        let name = change_text::component(located);
        by_component.entry(name).or_default().push(located);
    }
    let mut groups: Vec<_> = by_component.into_iter().collect();
    for (_, changes) in &mut groups {
        changes.sort_by_key(|it| std::cmp::Reverse(super::annotations::severity(it)));
    }
    groups.sort_by_key(|(_, changes)| std::cmp::Reverse(super::annotations::severity(changes[0])));
    groups
}

/// Text between two backticks as code. The text is escaped already, and stays so.
fn with_code(escaped: &str) -> String {
    let parts: Vec<&str> = escaped.split('`').collect();
    // Without an even number of them it is anyone's guess.
    if parts.len().is_multiple_of(2) {
        return escaped.to_owned();
    }
    let part = |(at, text): (usize, &&str)| match at % 2 {
        1 => format!("<code>{text}</code>"),
        _ => (*text).to_owned(),
    };
    parts.iter().enumerate().map(part).collect()
}

/// What a finding is about, and what it says.
fn finding(finding: &Finding) -> String {
    let note = &finding.note;
    let about = note.component.as_ref().map_or_else(String::new, |key| {
        let name = escape::html(&escape::short(&display_name(key), 120));
        format!("<code>{name}</code>: ")
    });
    let message = escape::html(&escape::short(&note.message, 1_000));
    format!("{about}{}", with_code(&message))
}

/// `get_forecast`, and with its version `get_forecast@1.0`.
fn display_name(key: &ComponentKey) -> String {
    if key.is_versioned() {
        format!("{}@{}", key.identity(), key.version())
    } else {
        key.identity().to_owned()
    }
}

fn tokens(cost: &Cost) -> String {
    match (cost.baseline, cost.current) {
        (0, is) => is.to_string(),
        // Nothing is known about it now.
        (was, 0) => was.to_string(),
        (was, is) if was == is => is.to_string(),
        (was, is) => format!("{was} → {is}"),
    }
}

fn words(runs: &[Run]) -> String {
    let shown = |text: &str| escape::html_block(&escape::short_block(text, VALUE_CHARACTERS));
    runs.iter()
        .map(|run| match run {
            Run::Same(text) => shown(text),
            Run::Removed(text) => format!("<del>{}</del>", shown(text)),
            Run::Added(text) => format!("<ins>{}</ins>", shown(text)),
        })
        .collect()
}

fn pre(value: &Json, label: &str) -> String {
    // JSON's own escapes show what is invisible, so that a copy is still the value.
    let text = escape::short_block(
        &escape::Visible::of_parts(escape::json(to_pretty(value))),
        VALUE_CHARACTERS,
    );
    format!(
        "<pre tabindex=\"0\" aria-label=\"{label}\">{}</pre>",
        escape::html_block(&text)
    )
}

fn rule_link(rule: RuleId) -> String {
    let address = escape::html(&rules::address(rule));
    format!("<a href=\"{address}\">{rule}</a>")
}
