//! The formats of a report, by name.

use super::{Report, Style, github, gitlab, html, junit, markdown, sarif, terminal, to_json};
use crate::keyword_enum::keyword_enum;

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
    /// The extension of a file in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Terminal | Self::Github => "txt",
            Self::Json | Self::Sarif | Self::Gitlab => "json",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Junit => "xml",
        }
    }
}

/// The report in a format. The style is the terminal's.
pub fn render(report: &Report, format: Format, style: Style) -> String {
    match format {
        Format::Terminal => terminal(report, style),
        Format::Json => to_json(report),
        // A file and a pipe have no limit; GitHub's is applied where the report is posted.
        Format::Markdown => markdown(report, usize::MAX),
        Format::Html => html(report),
        Format::Sarif => sarif(report),
        Format::Junit => junit(report),
        Format::Github => github(report),
        Format::Gitlab => gitlab(report),
    }
}
