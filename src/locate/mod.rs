//! Finds where in the repository a tool is declared.
//!
//! The promise: never a wrong line. Files are read as tokens, so that a name in a comment, a string
//! or a test is not a declaration; a tool is found only where a known form of registration names
//! it; and a place is reported only if it is the only one. Two places, none, or a search that
//! reached its limits: not found. Nothing from the repository is executed.

mod files;
mod forms;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use files::Limits;

/// A line of a file that declares a tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declaration {
    /// Relative to the searched directory.
    pub path: PathBuf,
    /// One-based.
    pub line: usize,
}

/// The languages with known registration forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// TypeScript and JavaScript.
    Script,
    Python,
    Rust,
    Go,
    Java,
    Kotlin,
    CSharp,
}

impl Language {
    /// By file extension.
    fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Self::Script,
            "py" => Self::Python,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" => Self::Java,
            "kt" | "kts" => Self::Kotlin,
            "cs" => Self::CSharp,
            _ => return None,
        })
    }
}

/// The declaration of each of these tools, if there is exactly one.
pub fn locate(folder: &Path, tools: &BTreeSet<&str>) -> BTreeMap<String, Declaration> {
    locate_within(folder, tools, &Limits::default())
}

/// [`locate`] with custom limits.
pub fn locate_within(
    folder: &Path,
    tools: &BTreeSet<&str>,
    limits: &Limits,
) -> BTreeMap<String, Declaration> {
    let mut found: BTreeMap<&str, BTreeSet<Declaration>> = BTreeMap::new();
    if tools.is_empty() {
        return BTreeMap::new();
    }
    let mut sources = files::Sources::new(folder, limits);
    for (path, language) in sources.by_ref() {
        let Some(text) = files::read(&folder.join(&path), limits) else {
            continue;
        };
        for (tool, line) in declarations(&text, language, tools) {
            let path = path.clone();
            found
                .entry(tool)
                .or_default()
                .insert(Declaration { path, line });
        }
    }
    if sources.is_cut() {
        // A file that was not read may contain a second declaration.
        return BTreeMap::new();
    }
    found
        .into_iter()
        .filter(|(_, places)| places.len() == 1)
        .filter_map(|(tool, places)| Some((tool.to_owned(), places.into_iter().next()?)))
        .collect()
}

/// Every line of a source that declares one of these tools.
pub fn declarations<'a>(
    text: &str,
    language: Language,
    tools: &BTreeSet<&'a str>,
) -> Vec<(&'a str, usize)> {
    // Tokenising costs more than searching for a name. C# spells names differently.
    let is_named = |tool: &&str| text.contains(*tool);
    if language != Language::CSharp && !tools.iter().any(is_named) {
        return Vec::new();
    }
    let source = tokens::Source::new(text, language);
    let mut found = Vec::new();
    for named in forms::names(&source, language) {
        let tools = tools.iter().filter(|tool| named.is(tool));
        found.extend(tools.map(|tool| (*tool, named.line)));
    }
    found
}
