//! Where reports and errors are written. (The progress line and clap's own messages are the two
//! exceptions.)

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use crate::canonical::{Json, to_pretty};
use crate::report::{Comparison, Format, Report, Style, escape, markdown_in, render};
use crate::run::observer::Observer;
pub(super) use crate::run::secrets::write_file;
use crate::run::{Error, secrets};
use crate::settings::{self, Given};

/// Writes to stdout, without secrets. A closed pipe (`| head`) is success.
pub(super) fn print(text: &str) -> Result<(), Error> {
    print_as_it_is(&secrets::clean(text))
}

/// [`print`] for the one line that must contain a secret, so that the runner masks it in its log.
pub(super) fn print_as_it_is(text: &str) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::usage(
            format!("cannot write to stdout: {error}"),
            "check where stdout leads",
        )),
        _ => Ok(()),
    }
}

/// A document for printing: server text in it has no effect in a log and hides nothing, and the
/// value is the same.
pub(super) fn json(document: &Json) -> String {
    escape::json(to_pretty(document)) + "\n"
}

/// Writes a line to stderr, without secrets.
pub(super) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", secrets::clean(text));
}

/// Asks a question that is answered with yes (also by an empty line) or no; `None` if this is not a terminal.
pub(super) fn asks(question: &str) -> Result<Option<bool>, Error> {
    match answer(&format!("{question} [Y/n] "))? {
        Some(text) => {
            let text = text.trim().to_ascii_lowercase();
            Ok(Some(matches!(text.as_str(), "" | "y" | "yes")))
        }
        None => Ok(None),
    }
}

/// The line that a person answers on a terminal; `None` if this is not a terminal.
pub(super) fn answer(question: &str) -> Result<Option<String>, Error> {
    if !is_attended() {
        return Ok(None);
    }
    print(question)?;
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => Ok(None),
        Ok(_) => Ok(Some(line)),
    }
}

/// Whether a person reads and writes here.
pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Prints the notes of a run, without progress.
pub(super) struct Notes;

impl Observer for Notes {
    fn note(&self, text: &str) {
        complain(&format!("note: {}", escape::line(text)));
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl std::str::FromStr for Color {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err(()),
        }
    }
}

/// Where a report goes, and how it looks.
pub(super) struct Delivery {
    pub(super) format: Format,
    pub(super) files: Vec<(Format, PathBuf)>,
    pub(super) quiet: bool,
    /// Whether `pin` writes a ToolPin lock, and reports on the terminal.
    pub(super) lock: bool,
    color: Color,
}

impl Delivery {
    pub(super) fn new(given: &Given) -> Self {
        let file = |(format, path): (String, String)| Some((format.parse().ok()?, path.into()));
        let files = given.pairs(settings::REPORT).into_iter();
        Self {
            format: given.word(settings::FORMAT).unwrap_or(Format::Terminal),
            files: files.filter_map(file).collect(),
            quiet: given.switch(settings::QUIET),
            lock: given.text(settings::FORMAT).as_deref() == Some("toolpin"),
            color: given.word(settings::COLOR).unwrap_or_default(),
        }
    }
}

/// Writes the report to stdout and to the requested files.
pub(super) fn deliver(report: &Report, delivery: &Delivery) -> Result<(), Error> {
    if delivery.lock && !matches!(report.comparison, Comparison::Pin { .. }) {
        return Err(Error::usage(
            "--format toolpin is for `pin`, which writes a lock",
            "`mcp-keel verify --lock` and `mcp-keel check --baseline` read one",
        ));
    }
    for (format, path) in &delivery.files {
        write_file(path, &rendered(report, *format, Style::default()))?;
    }
    let style = Style {
        quiet: delivery.quiet,
        ..style(delivery.color)
    };
    print(&rendered(report, delivery.format, style))
}

/// The report in a format. A check in a CI leads to its job, its commit and the files of that.
fn rendered(report: &Report, format: Format, style: Style) -> String {
    match (format, &report.comparison) {
        (Format::Markdown, Comparison::Check) => {
            markdown_in(report, usize::MAX, &crate::run::ci::frame())
        }
        _ => render(report, format, style),
    }
}

/// How to write to stdout.
pub(super) fn style(color: Color) -> Style {
    let is_terminal = std::io::stdout().is_terminal();
    let set = |name: &str| crate::own_env::var(name).is_some_and(|value| !value.is_empty());
    Style {
        color: match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR") => false,
            Color::Auto if set("CLICOLOR_FORCE") => true,
            Color::Auto => {
                is_terminal && crate::own_env::var("TERM").is_none_or(|term| term != "dumb")
            }
        },
        width: if is_terminal {
            textwrap::termwidth().max(40)
        } else {
            80
        },
        quiet: false,
    }
}
