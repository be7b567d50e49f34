//! The formats of a report, by name.

use super::{Report, Style, github, gitlab, html, junit, markdown, sarif, terminal, to_json};
use crate::keyword_enum::keyword_enum;

/// A format of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Terminal,
    Json,
    Markdown,
    Html,
    Sarif,
    Junit,
    Github,
    Gitlab,
}

keyword_enum!(Format {
    Terminal = "terminal",
    Json = "json",
    Markdown = "markdown",
    Html = "html",
    Sarif = "sarif",
    Junit = "junit",
    Github = "github",
    Gitlab = "gitlab",
});

impl Format {
    /// What it is for, in a few words.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Terminal => "For people",
            Self::Json => "Everything, versioned",
            Self::Markdown => "For a comment or a job summary",
            Self::Html => "One page that needs nothing else",
            Self::Sarif => "SARIF 2.1.0, for code scanning",
            Self::Junit => "JUnit XML, for test results",
            Self::Github => "Workflow commands, for annotations",
            Self::Gitlab => "GitLab Code Quality",
        }
    }
}

/// The report in a format. The style is the terminal's.
pub fn render(report: &Report, format: Format, style: Style) -> String {
    match format {
        Format::Terminal => terminal(report, style),
        Format::Json => to_json(report),
        // A file and a pipe have no limit; GitHub has one, which is kept where the report is posted.
        Format::Markdown => markdown(report, usize::MAX),
        Format::Html => html(report),
        Format::Sarif => sarif(report),
        Format::Junit => junit(report),
        Format::Github => github(report),
        Format::Gitlab => gitlab(report),
    }
}
