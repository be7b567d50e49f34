//! The report as Markdown, for the comment on a pull request, the job summary, the check run and a file.
//!
//! A reviewer has twenty seconds. The first line says what happens to callers; then come the calls that fail, then the texts
//! that an approver has to read, unfolded; everything else is folded, by tool. GitHub's limits differ by place, so the page
//! is made with fewer rows until it fits; what is left out is counted, the least severe first.

mod section;
mod texts;
mod title;

use std::fmt::Write as _;

use super::escape;
use super::links::Frame;
use super::{Comparison, Report};
use crate::policy::Verdict;
use section::Rendered;
pub use title::title;

/// GitHub's limit for a comment. Counted here in bytes, which are never fewer than characters.
pub const COMMENT_LIMIT: usize = 65_536;

/// GitHub's limit for a check run's summary, and for its text.
pub const CHECK_RUN_LIMIT: usize = 65_535;

/// GitHub's limit for a step's summary.
pub const SUMMARY_LIMIT: usize = 1 << 20;

/// How much of each kind is shown.
#[derive(Clone, Copy)]
struct Budget {
    /// Changes in the folded list, of all servers.
    rows: usize,
    /// Calls that fail, per server.
    calls: usize,
    /// Texts that an approver has to read, per server.
    texts: usize,
    servers: usize,
}

/// What a page says: one comparison, or both of a pull request.
pub struct Pages<'a> {
    pub frame: &'a Frame,
    /// The first line, without its icon and the name of the check.
    pub title: String,
    pub verdict: Verdict,
    /// Right below the first line.
    pub first: String,
    pub sections: Vec<Section<'a>>,
    /// Below everything but the last line.
    pub last: String,
    /// In the last line.
    pub facts: Vec<String>,
}

/// One comparison.
pub struct Section<'a> {
    pub report: &'a Report,
    pub about: About,
    /// Before its first table.
    pub intro: String,
}

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The server with its baseline.
    Live,
    /// The baseline with that of the base branch.
    Merging,
    /// Two sources.
    Sources,
    /// What was pinned.
    Pinned,
}

/// The report as Markdown of at most `limit` bytes, with a final newline.
pub fn markdown(report: &Report, limit: usize) -> String {
    markdown_in(report, limit, &Frame::default())
}

/// The same, with links.
pub fn markdown_in(report: &Report, limit: usize, frame: &Frame) -> String {
    let about = match report.comparison {
        Comparison::Check => About::Live,
        Comparison::Diff => About::Sources,
        Comparison::Pin { .. } => About::Pinned,
    };
    let page = Pages {
        frame,
        title: title(report, about, code),
        verdict: report.verdict,
        first: String::new(),
        sections: vec![Section {
            report,
            about,
            intro: String::new(),
        }],
        last: String::new(),
        facts: Vec::new(),
    };
    page.markdown(limit)
}

/// How a page shows an untrusted name.
fn code(text: &str) -> String {
    escape::code(&escape::short(text, 120))
}

fn icon(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Warn | Verdict::Undetermined => "⚠️",
        Verdict::Block => "❌",
    }
}

impl Pages<'_> {
    /// The page, of at most `limit` bytes, with a final newline.
    pub fn markdown(&self, limit: usize) -> String {
        let reports = || self.sections.iter().map(|it| it.report);
        let all: usize = reports().map(|it| it.changes().count()).sum();
        let rows = self.frame.rows.min(all);
        let most = self.frame.rows.max(1);
        for step in 0_usize.. {
            // Rows go first, then everything else.
            let fewer = |most: usize, from: usize| most >> step.saturating_sub(from).min(63);
            let budget = Budget {
                rows: fewer(rows, 0),
                calls: fewer(most.min(all), 4),
                texts: fewer(most.min(all).min(10), 6),
                servers: fewer(reports().map(|it| it.servers.len()).sum(), 6),
            };
            let page = self.render(budget);
            if page.len() <= limit {
                return page;
            }
            if budget.rows + budget.calls + budget.texts + budget.servers == 0 {
                break;
            }
        }
        // The first line is always there: the rest means nothing without it.
        self.heading()
    }

    fn heading(&self) -> String {
        let (icon, name) = (icon(self.verdict), &self.frame.name);
        let name = match name.as_str() {
            "mcp-keel" => name.clone(),
            other => escape::markdown(&escape::short(other, 120)),
        };
        format!("### {icon} {name}: {}\n", self.title)
    }

    fn render(&self, budget: Budget) -> String {
        let mut out = self.heading();
        if !self.first.is_empty() {
            let _ = write!(out, "\n{}\n", self.first.trim_end());
        }
        let mut rows = budget.rows;
        for section in &self.sections {
            let one = Rendered {
                frame: self.frame,
                about: section.about,
                budget,
            };
            one.section(section, &mut rows, &mut out);
        }
        if !self.last.is_empty() {
            let _ = write!(out, "\n{}\n", self.last.trim_end());
        }
        let _ = write!(out, "\n{}\n", self.footer());
        out
    }

    fn footer(&self) -> String {
        let mut facts = Vec::new();
        if let Some(run) = &self.frame.run {
            // A table of tools says all that there is.
            let mut servers = self.sections.iter().flat_map(|it| &it.report.servers);
            let is_whole = servers.all(|it| it.changes.is_empty() || !it.listed.is_empty());
            let word = if is_whole {
                "Run"
            } else {
                "Run and full report"
            };
            facts.push(format!("[{word}]({run})"));
        }
        if let Some((commit, address)) = &self.frame.commit {
            facts.push(format!("at [{commit}]({address})"));
        }
        facts.extend(self.facts.iter().cloned());
        facts.push(format!("mcp-keel {}", env!("CARGO_PKG_VERSION")));
        format!("<sub>{}</sub>", facts.join(" · "))
    }
}
