//! The layout of `--help`: commands on one screen, everyday ones first, and examples at the end of
//! each command.

use clap::Command;

use crate::rules::RuleId;

/// Commands that get a line of their own, by heading. All others are named in one list after them.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Every day",
        &["init", "check", "pin", "review"],
    ),
    (
        "Look and compare",
        &[
            "diff",
            "capture",
            "log",
            "changelog",
            "scan",
            "rules",
            "explain",
            "demo",
        ],
    ),
    ("In CI", &["plan", "merge", "verify", "docs"]),
];

/// Examples, by command. A test parses each of them.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "check",
        &[
            "mcp-keel check                               # every server of mcp-keel.toml",
            "mcp-keel check -- node dist/index.js         # one server, by its command",
            "mcp-keel check --url https://search.example/mcp",
            "mcp-keel check --report html=report.html --report sarif=keel.sarif",
        ],
    ),
    (
        "pin",
        &[
            "mcp-keel pin -- node dist/index.js           # writes mcp-baseline.json; commit it",
            "mcp-keel pin weather                         # only this server of mcp-keel.toml",
        ],
    ),
    (
        "diff",
        &[
            "mcp-keel diff git:main:mcp-baseline.json mcp-baseline.json",
            "mcp-keel diff old.json new.json --format html",
        ],
    ),
    (
        "capture",
        &["mcp-keel capture -o capture.json -- node dist/index.js"],
    ),
    (
        "config",
        &["mcp-keel config                              # which setting came from where"],
    ),
    ("plan", &["mcp-keel plan --shards 4 --format github-matrix"]),
    ("merge", &["mcp-keel merge parts --report html=report.html"]),
    (
        "fingerprint",
        &["mcp-keel fingerprint mcp-baseline.json --profile keel"],
    ),
    ("scan", &["mcp-keel scan mcp-baseline.json"]),
    ("verify", &["mcp-keel verify"]),
    ("rules", &["mcp-keel rules"]),
    ("schema", &["mcp-keel schema report"]),
    ("demo", &["mcp-keel demo --format html"]),
    (
        "completions",
        &[
            "mcp-keel completions bash > ~/.local/share/bash-completion/completions/mcp-keel",
            "mcp-keel completions zsh > ~/.zfunc/_mcp-keel      # with fpath+=~/.zfunc before compinit",
            "mcp-keel completions fish > ~/.config/fish/completions/mcp-keel.fish",
        ],
    ),
    ("man", &["mcp-keel man > mcp-keel.1"]),
];

/// The command line with its help laid out.
pub(super) fn arranged(mut command: Command) -> Command {
    for (name, examples) in EXAMPLES {
        if command.find_subcommand(name).is_some() {
            let text = format!("Examples:\n  {}", examples.join("\n  "));
            command = command.mut_subcommand(name, |it| it.after_help(text));
        }
    }
    // Any rule will do.
    let explained = format!("Examples:\n  mcp-keel explain {}", RuleId::ToolRemoved);
    command = command.mut_subcommand("explain", |it| it.after_help(explained));
    let list = list(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n{{options}}{{after-help}}"
    ))
}

fn list(command: &Command) -> String {
    let mut out = String::new();
    let mut named = vec!["help"];
    for (heading, names) in GROUPS {
        let found = names
            .iter()
            .filter_map(|name| command.find_subcommand(name));
        let found: Vec<&Command> = found.filter(|it| !it.is_hide_set()).collect();
        if found.is_empty() {
            continue;
        }
        out += &format!("{heading}:\n");
        for it in found {
            let about = it.get_about().map(ToString::to_string).unwrap_or_default();
            out += &format!("  {:<11}  {about}\n", it.get_name());
            named.extend(names.iter().filter(|name| **name == it.get_name()));
        }
        out.push('\n');
    }
    let others = command.get_subcommands().filter(|it| !it.is_hide_set());
    let others: Vec<&str> = others
        .map(Command::get_name)
        .filter(|name| !named.contains(name))
        .collect();
    let others = textwrap::fill(
        &others.join(", "),
        textwrap::Options::new(90)
            .initial_indent("  ")
            .subsequent_indent("  "),
    );
    out + &format!("Also:\n{others}\n\n`mcp-keel help COMMAND` has flags and examples.\n\nOptions:")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_example_is_a_command_line_that_parses() {
        let mut examples = 0;
        for (name, lines) in EXAMPLES {
            assert!(Cli::command().find_subcommand(name).is_some(), "{name}");
            for line in *lines {
                let typed = line.split(" #").next().unwrap_or_default();
                let typed = typed.split(" > ").next().unwrap_or_default();
                let words = shlex::split(typed).unwrap();
                let parsed = arranged(Cli::command()).try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                examples += 1;
            }
        }
        assert!(examples >= 20, "{examples}");
    }

    /// The commands in the documents, without what a shell does with them.
    #[test]
    fn every_command_in_the_documents_parses() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let folders = [root.to_owned(), root.join("docs")];
        let pages = folders.iter().flat_map(|it| std::fs::read_dir(it).unwrap());
        let mut commands = 0;
        for page in pages.map(|it| it.unwrap().path()) {
            if page.extension().is_none_or(|it| it != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&page).unwrap().replace("\\\n", " ");
            let mut in_block = false;
            for line in text.lines() {
                if let Some(word) = line.trim_start().strip_prefix("```") {
                    in_block = ["console", "sh", "bash"].contains(&word);
                    continue;
                }
                let line = line.trim_start().trim_start_matches("$ ");
                if !in_block || !line.starts_with("mcp-keel ") {
                    continue;
                }
                let ends = [" # ", "  #", " > ", " | ", " && ", " || ", "; ", " 2>"];
                let end = ends.iter().filter_map(|it| line.find(it)).min();
                let typed = &line[..end.unwrap_or(line.len())];
                let words = shlex::split(typed).unwrap_or_else(|| panic!("{typed}"));
                let parsed = arranged(Cli::command()).try_get_matches_from(&words);
                let is_help = |it: &clap::Error| !it.use_stderr();
                assert!(
                    parsed.as_ref().err().is_none_or(is_help),
                    "{}: {line}\n{}",
                    page.display(),
                    parsed.unwrap_err()
                );
                commands += 1;
            }
        }
        assert!(commands >= 20, "{commands}");
    }

    #[test]
    fn the_list_of_commands_fits_on_a_screen_and_names_each_once() {
        let help = arranged(Cli::command()).render_help().to_string();
        assert!(help.lines().count() <= 45, "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{help}"
        );
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let is_word = |line: &str| {
                let words = line.split([' ', ',']).map(str::trim);
                line.starts_with("  ") && words.filter(|word| !word.is_empty()).any(|it| it == name)
            };
            let in_list = help.lines().filter(|line| {
                // In a line of its own, or in the list of all others.
                line.trim_start().starts_with(&format!("{name} "))
                    || (line.contains(", ") && is_word(line))
            });
            assert!(in_list.count() >= 1, "{name} is not in\n{help}");
        }
    }
}
