//! JUnit XML, for every CI that shows test results: a suite for each server, a case for each
//! component that changed, and one case for all that did not.
//!
//! A case fails if a change of its component blocks. A server that could not be captured is an
//! error, not a failure: there is no verdict about it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape::{self, Shown, Visible};
use super::{Failure, Finding, Located, Place, Report, ServerReport, Status, change_text};
use crate::policy::Action;

/// The report as JUnit XML, with a final newline.
pub fn junit(report: &Report) -> String {
    let mut suites: Vec<Suite> = report.servers.iter().map(Suite::of).collect();
    if !report.findings.is_empty() {
        let mut suite = Suite::new("run".to_owned());
        suite.findings(&report.findings);
        suites.push(suite);
    }
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"mcp-keel\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        sum(|suite| suite.cases.len()),
        sum(Suite::failures),
        sum(Suite::errors),
    );
    for suite in &suites {
        suite.write(&mut out);
    }
    out + "</testsuites>\n"
}

struct Suite {
    name: String,
    cases: Vec<Case>,
    /// Tokens of the tools, in the baseline and now.
    cost: Option<(usize, usize)>,
}

struct Case {
    name: Visible,
    outcome: Outcome,
    /// Reported without failing.
    output: Vec<Visible>,
}

enum Outcome {
    Passed,
    Failed {
        kind: String,
        message: Visible,
        text: Visible,
    },
    Error {
        message: Visible,
        text: Visible,
    },
}

impl Suite {
    fn new(name: String) -> Self {
        Self {
            name,
            cases: Vec::new(),
            cost: None,
        }
    }

    fn of(server: &ServerReport) -> Self {
        let mut suite = Self::new(server.name.clone());
        if let Status::Undetermined(failure) = &server.status {
            suite.cases.push(undetermined(failure));
            return suite;
        }
        let mut by_component: BTreeMap<&str, Vec<&Located>> = BTreeMap::new();
        for located in &server.changes {
            by_component
                .entry(change_text::component(located))
                .or_default()
                .push(located);
        }
        let known = by_component
            .values()
            .filter(|changes| {
                let change = &changes[0].judged.change;
                change.component.is_some() && !change.rule.removes_component()
            })
            .count();
        // Nothing of a server that is not in the baseline was compared, so nothing is unchanged.
        let unchanged = match server.status {
            Status::New => 0,
            _ => server.components.saturating_sub(known),
        };
        if unchanged > 0 || by_component.is_empty() {
            suite.cases.push(Case {
                name: Visible::of_parts(format!("unchanged components: {unchanged}")),
                outcome: Outcome::Passed,
                output: Vec::new(),
            });
        }
        suite.cost = Some((server.cost.baseline, server.cost.current));
        for (component, changes) in by_component {
            suite.cases.push(changed(component, &changes));
        }
        suite.findings(&server.findings);
        suite
    }

    fn findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            let text = change_text::finding(finding);
            let name = match &finding.note.component {
                Some(key) => format!("{} {key}", finding.note.rule),
                None => finding.note.rule.to_string(),
            };
            let (outcome, output) = match finding.action {
                Action::Block => (
                    Outcome::Failed {
                        kind: finding.note.rule.to_string(),
                        message: text.clone(),
                        text,
                    },
                    Vec::new(),
                ),
                _ => (Outcome::Passed, vec![text]),
            };
            self.cases.push(Case {
                name: escape::line(&name),
                outcome,
                output,
            });
        }
    }

    fn failures(&self) -> usize {
        let failed = |case: &&Case| matches!(case.outcome, Outcome::Failed { .. });
        self.cases.iter().filter(failed).count()
    }

    fn errors(&self) -> usize {
        let failed = |case: &&Case| matches!(case.outcome, Outcome::Error { .. });
        self.cases.iter().filter(failed).count()
    }

    fn write(&self, out: &mut String) {
        let name = attribute(&self.name);
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">",
            self.cases.len(),
            self.failures(),
            self.errors(),
        );
        if let Some((baseline, current)) = self.cost {
            let _ = writeln!(
                out,
                "    <properties>\n      <property name=\"baselineTokens\" value=\"{baseline}\"/>\n      <property name=\"currentTokens\" value=\"{current}\"/>\n    </properties>"
            );
        }
        for case in &self.cases {
            case.write(out, &name);
        }
        *out += "  </testsuite>\n";
    }
}

impl Case {
    fn write(&self, out: &mut String, suite: &str) {
        let name = attribute(&self.name);
        let _ = writeln!(out, "    <testcase classname=\"{suite}\" name=\"{name}\">");
        match &self.outcome {
            Outcome::Passed => {}
            Outcome::Failed {
                kind,
                message,
                text,
            } => {
                let (message, text) = (attribute(message), escape::xml(text));
                let _ = writeln!(
                    out,
                    "      <failure type=\"{kind}\" message=\"{message}\">{text}</failure>"
                );
            }
            Outcome::Error { message, text } => {
                let (message, text) = (attribute(message), escape::xml(text));
                let _ = writeln!(
                    out,
                    "      <error type=\"undetermined\" message=\"{message}\">{text}</error>"
                );
            }
        }
        if !self.output.is_empty() {
            let output = escape::xml(&change_text::joined(&self.output, "\n\n"));
            let _ = writeln!(out, "      <system-out>{output}</system-out>");
        }
        *out += "    </testcase>\n";
    }
}

/// A line break in an attribute would be read back as a space.
fn attribute(text: &(impl Shown + ?Sized)) -> String {
    escape::xml(&escape::short(text, 400))
}

fn undetermined(failure: &Failure) -> Case {
    Case {
        name: Visible::of_parts("capture".to_owned()),
        outcome: Outcome::Error {
            message: escape::line(&failure.message),
            text: Visible::of_parts(format!(
                "{}\n{}\n\n{}",
                escape::line(&failure.message),
                escape::block(&failure.help),
                escape::block(&failure.stderr)
            )),
        },
        output: Vec::new(),
    }
}

fn at(place: &Place) -> String {
    format!("{}:{}", escape::line(&place.slashed()), place.line)
}

fn changed(component: &str, changes: &[&Located]) -> Case {
    let text = |located: &&&Located| {
        let mut text = format!(
            "{}\n{}",
            change_text::title(located),
            change_text::joined(&change_text::lines(located), "\n")
        );
        if let Some(place) = &located.location {
            let _ = write!(text, "\nBaseline: {}", at(place));
        }
        if let Some(place) = &located.source {
            let _ = write!(text, "\nSource: {}", at(place));
        }
        Visible::of_parts(text)
    };
    let (mut failing, passing): (Vec<&&Located>, Vec<&&Located>) = changes
        .iter()
        .partition(|it| it.judged.action == Action::Block);
    failing.sort_by_key(|it| std::cmp::Reverse(super::annotations::severity(it)));
    let outcome = match failing.first() {
        None => Outcome::Passed,
        Some(worst) => Outcome::Failed {
            kind: worst.judged.change.rule.to_string(),
            message: match failing.len() {
                1 => change_text::sentence(worst),
                many => {
                    let sentence = change_text::sentence(worst);
                    Visible::of_parts(format!("{sentence} (and {} more)", many - 1))
                }
            },
            text: change_text::joined(&failing.iter().map(text).collect::<Vec<_>>(), "\n\n"),
        },
    };
    Case {
        name: escape::line(component),
        outcome,
        output: passing.iter().map(text).collect(),
    }
}
