//! The rules for people and programs.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;

use super::Style;
use super::change_text::WHAT_TO_DO;
use crate::canonical::{Json, parse_str, to_pretty};
use crate::drift::{Change, text_diff};
use crate::policy::{Date, Policy};
use crate::rules::{DefaultAction, Example, Rule, RuleId, Subject, all};

/// The web page that explains a rule.
pub fn address(rule: RuleId) -> String {
    format!("https://github.com/mcp-keel/mcp-keel/blob/main/docs/rules.md#{rule}")
}

/// One line per rule.
pub fn table(style: Style) -> String {
    let mut out = String::new();
    let widest = all().map(|rule| rule.id.id().len()).max().unwrap_or(0);
    for rule in all() {
        let judgement = match rule.subject {
            Subject::Change => format!("{:<9} {:<7}", rule.level, rule.exposure),
            Subject::Finding => format!("{:<17}", "finding"),
        };
        let _ = writeln!(out, "{:<widest$}  {judgement}  {}", rule.id, rule.summary);
    }
    let columns = "The columns are the usual level (what it does to callers) and exposure (what it means to \
        the people who approved the server). `mcp-keel explain RULE` has the details.";
    out + "\n" + &textwrap::fill(columns, style.width) + "\n"
}

/// The page of one rule.
pub fn page(rule: &Rule, style: Style) -> String {
    let mut out = String::new();
    let title = if style.color {
        rule.id.id().bold().to_string()
    } else {
        rule.id.to_string()
    };
    let _ = writeln!(out, "{title}\n");
    let paragraph = |text: &str, indent: &str| {
        let options = textwrap::Options::new(style.width.min(88))
            .initial_indent(indent)
            .subsequent_indent(indent);
        textwrap::fill(text, options) + "\n"
    };
    out += &paragraph(&format!("{}.", sentence(rule.summary)), "");
    out += &format!("\n{}\n", judgement(rule));
    let heading = |text: &str| {
        if style.color {
            format!("\n{}\n", text.bold())
        } else {
            format!("\n{text}\n")
        }
    };
    out += &heading("Why it matters");
    out += &paragraph(rule.rationale, "  ");
    out += &heading(WHAT_TO_DO);
    out += &paragraph(rule.advice, "  ");
    out += &heading("Example");
    match rule.example {
        Example::Surfaces { old, new } | Example::Schemas { old, new } => {
            out += &indented(&example_diff(old, new));
        }
        Example::Elsewhere(text) => out += &paragraph(text, "  "),
    }
    out += &heading("In mcp-keel.toml");
    out += &indented(&format!(
        "[policy.rules]\n{} = \"warn\"    # audit, warn, block, or a level\n",
        rule.id.id()
    ));
    out
}

/// Every rule in one Markdown document: `docs/rules.md`.
pub fn markdown() -> String {
    let mut out =
        "# Rules\n\nEvery difference has a rule. `mcp-keel rules --format markdown` prints this page; \
         [policy.md](policy.md) explains levels, exposure and findings.\n\n"
            .to_owned();
    out += "| rule | level | exposure | summary |\n| --- | --- | --- | --- |\n";
    for rule in all() {
        let (level, exposure) = match rule.subject {
            Subject::Change => (rule.level.word(), rule.exposure.word()),
            Subject::Finding => ("finding", ""),
        };
        let _ = writeln!(
            out,
            "| [{0}](#{0}) | {level} | {exposure} | {1} |",
            rule.id, rule.summary
        );
    }
    for rule in all() {
        let _ = write!(
            out,
            "\n## {}\n\n{}. {}\n\n{}\n\n**{WHAT_TO_DO}.** {}\n\n",
            rule.id,
            sentence(rule.summary),
            judgement(rule),
            rule.rationale,
            rule.advice
        );
        let _ = match rule.example {
            Example::Surfaces { old, new } | Example::Schemas { old, new } => {
                write!(out, "```diff\n{}```\n", example_diff(old, new))
            }
            Example::Elsewhere(text) => writeln!(out, "Example: {text}."),
        };
    }
    out
}

/// The action of each rule that `[policy.rules]` does not name: a table of `docs/policy.md`.
pub fn default_actions() -> String {
    let mut out = "| rule | without an entry in `[policy.rules]` |\n| --- | --- |\n".to_owned();
    for action in [
        DefaultAction::Unknown,
        DefaultAction::Enforcement,
        DefaultAction::RequiredBump,
        DefaultAction::Undetermined,
        DefaultAction::Warn,
        DefaultAction::Audit,
    ] {
        let words = match action {
            DefaultAction::Unknown => "as `unknown`; without `unknown`, as `enforcement`",
            DefaultAction::Enforcement => "as `enforcement`",
            DefaultAction::RequiredBump => {
                "as `enforcement` with `require-version-bump`, else `audit`"
            }
            DefaultAction::Undetermined => "the server is `undetermined`, whatever the enforcement",
            DefaultAction::Warn => "`warn`; `audit` under `enforcement = \"audit\"`",
            DefaultAction::Audit => "`audit`",
        };
        let rules = match action {
            DefaultAction::Enforcement => {
                let findings = RuleId::all()
                    .filter(|rule| rule.subject() == Subject::Finding)
                    .filter(|rule| rule.default_action() == action);
                let named = findings.map(|rule| format!(", `{rule}`"));
                format!(
                    "every other change that [blocks](#what-blocks){}",
                    named.collect::<String>()
                )
            }
            DefaultAction::Audit => "every other finding".to_owned(),
            DefaultAction::Unknown
            | DefaultAction::RequiredBump
            | DefaultAction::Undetermined
            | DefaultAction::Warn => {
                let rules = RuleId::all().filter(|rule| rule.default_action() == action);
                let named: Vec<String> = rules.map(|rule| format!("`{rule}`")).collect();
                named.join(", ")
            }
        };
        let _ = writeln!(out, "| {rules} | {words} |");
    }
    out
}

/// What blocks by default and under `strict`, as a Markdown table: the worst action of examples of
/// each kind, as the policy judges them.
pub fn what_blocks() -> String {
    use RuleId as Id;
    let rows: [(&str, &[Id]); 7] = [
        (
            "`breaking`: a call or a use that worked fails now",
            &[Id::ToolRemoved, Id::InputPropertyAddedRequired],
        ),
        (
            "`risky`: a caller may behave differently, such as after a new description",
            &[Id::ToolDescriptionChanged, Id::InstructionsChanged],
        ),
        (
            "exposure `medium` or `high`, whatever the level: an approver has to read it",
            &[Id::ToolHintChanged, Id::AppAccessWidened],
        ),
        (
            "a tool, prompt, resource or template that appears",
            &[
                Id::ToolAdded,
                Id::PromptAdded,
                Id::ResourceAdded,
                Id::TemplateAdded,
            ],
        ),
        (
            "a tool, prompt, resource or template that disappears",
            &[
                Id::ToolRemoved,
                Id::PromptRemoved,
                Id::ResourceRemoved,
                Id::TemplateRemoved,
            ],
        ),
        (
            "`additive` of lower exposure, such as a new optional parameter",
            &[
                Id::InputPropertyAddedOptional,
                Id::OutputSchemaAdded,
                Id::CapabilityAdded,
            ],
        ),
        (
            "`cosmetic`: the server's own version, the order of tools, spelling, titles",
            &[
                Id::ServerVersionChanged,
                Id::ToolOrderChanged,
                Id::DefinitionRespelled,
                Id::ToolTitleChanged,
            ],
        ),
    ];
    let today = Date::from_unix_seconds(0);
    let action = |policy: &Policy, rules: &[Id]| -> String {
        let changes = rules
            .iter()
            .map(|rule| Change::new(*rule, "", String::new()));
        let judged = policy.judge("", changes.collect(), today);
        let mut words: Vec<&str> = judged.iter().map(|it| it.action.word()).collect();
        words.dedup();
        format!("**{}**", words.join("**, **"))
    };
    let mut out =
        "| change | by default | `policy = \"strict\"` |\n| --- | --- | --- |\n".to_owned();
    for (what, rules) in rows {
        let (default, strict) = (
            action(&Policy::default(), rules),
            action(&Policy::strict(), rules),
        );
        let _ = writeln!(out, "| {what} | {default} | {strict} |");
    }
    out
}

/// Every rule as JSON.
pub fn to_json() -> Json {
    let rules = all()
        .map(|rule| {
            Json::object([
                ("id", Json::string(rule.id)),
                (
                    "kind",
                    Json::string(if rule.subject == Subject::Change {
                        "change"
                    } else {
                        "finding"
                    }),
                ),
                ("summary", Json::string(rule.summary)),
                ("level", Json::string(rule.level.word())),
                ("exposure", Json::string(rule.exposure.word())),
                ("rationale", Json::string(rule.rationale)),
                ("advice", Json::string(rule.advice)),
                ("address", Json::string(address(rule.id))),
            ])
        })
        .collect();
    Json::object([
        ("rulesVersion", Json::integer(1)),
        ("rules", Json::Array(rules)),
    ])
}

fn judgement(rule: &Rule) -> String {
    match rule.subject {
        Subject::Change => format!(
            "Usual level: {}. Usual exposure: {}.",
            rule.level, rule.exposure
        ),
        Subject::Finding => {
            let by_default = match rule.id.default_action() {
                DefaultAction::Undetermined => "by default the server is undetermined (exit 3)",
                DefaultAction::Warn => "by default a warning",
                DefaultAction::RequiredBump => "fails only with `require-version-bump`",
                DefaultAction::Audit | DefaultAction::Enforcement | DefaultAction::Unknown => {
                    "never fails the check unless set in `[policy.rules]`"
                }
            };
            format!("A finding, reported next to the drift: {by_default}.")
        }
    }
}

/// The lines that differ between two examples, with a little context.
fn example_diff(old: &str, new: &str) -> String {
    // Formatted alike, so that only real differences show.
    let pretty = |text: &str| {
        parse_str(text).map_or_else(|_| text.to_owned(), |value| to_pretty(&value) + "\n")
    };
    let (old, new) = (&pretty(old), &pretty(new));
    let mut out = String::new();
    for (mark, line) in text_diff::hunks(old, new, 2)
        .iter()
        .flat_map(|it| &it.lines)
    {
        let _ = write!(out, "{mark}{line}");
        if !line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "  {line}");
        out
    })
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(characters).collect()
    })
}
