//! What `init` says, and the comments in the files that it writes.

use super::list;

/// A command that answered.
pub(crate) fn works(command: &str, origin: &str, tools: usize) -> String {
    let tools = super::counted(tools, "tool");
    format!("found   {command}  ({origin}; {tools})")
}

/// A command that did not.
pub(crate) fn does_not_work(command: &str, origin: &str, problem: &str) -> String {
    format!("tried   {command}  ({origin}): {problem}")
}

pub(crate) fn from_list(path: &str) -> String {
    format!("found   {path}, a list of servers")
}

pub(crate) fn not_built(path: &str) -> String {
    format!("{path} does not exist")
}

pub(crate) fn build_first(build: &str) -> String {
    format!("build the server first, then run `mcp-keel init` again: {build}")
}

pub(crate) fn name_the_command() -> &'static str {
    "pass the command that starts it: `mcp-keel init -- COMMAND ARGUMENTS`"
}

pub(crate) fn name_the_server() -> &'static str {
    "For one run, name the server: a command after `--` (`mcp-keel check -- node dist/index.js`), --url ADDRESS, or --from FILE for a client's list of servers"
}

pub(crate) fn several_fit() -> &'static str {
    "Which one is the server? Its number"
}

pub(crate) fn wrote(path: &str) -> String {
    format!("wrote   {path}")
}

/// git's settings for the drivers. Where mcp-keel is not on the PATH (it was run through npx, or by someone
/// else), git shows and merges the file as text: a driver that is missing would end `git diff` with an
/// error.
pub(crate) fn drivers() -> [(&'static str, String); 3] {
    let or_else = |ours: &str, otherwise: &str| {
        format!("sh -c 'command -v mcp-keel >/dev/null && exec mcp-keel {ours}; {otherwise}' --")
    };
    let as_text = "git --no-pager diff --no-ext-diff --no-index -- \"$2\" \"$5\"; exit 0";
    let merged = or_else("git-merge \"$@\"", "git merge-file \"$2\" \"$1\" \"$3\"");
    [
        ("diff.mcp-keel.command", or_else("git-diff \"$@\"", as_text)),
        (
            "diff.mcp-keel.textconv",
            or_else("git-diff \"$1\"", "cat \"$1\""),
        ),
        ("merge.mcp-keel.driver", merged + " %O %A %B %P"),
    ]
}

pub(crate) fn set_drivers() -> &'static str {
    "set     git's diff and merge drivers for the baseline, in this clone"
}

pub(crate) fn kept(path: &str) -> String {
    format!("kept    {path}: it exists; `mcp-keel init --force` replaces it")
}

pub(crate) fn to_commit(paths: &[String]) -> String {
    format!("Commit them: git add {}", paths.join(" "))
}

pub(crate) fn next() -> &'static str {
    "From now on `mcp-keel check` compares the server with its baseline."
}

pub(crate) fn already(paths: &[String]) -> String {
    let is = if paths.len() == 1 { "exists" } else { "exist" };
    let paths = list(paths.iter().map(String::as_str));
    format!("{paths} {is} already")
}

/// The configuration, with comments.
pub(crate) fn configuration(servers: &str) -> String {
    format!(
        "# mcp-keel: which servers are checked, and what fails. Every key: docs/configuration.md in\n\
         # https://github.com/mcp-keel/mcp-keel\n\
         \n\
         {servers}\n\
         # What fails. Without this table the defaults hold.\n\
         # [policy]\n\
         # fail-on = \"risky\"              # additive and cosmetic changes pass\n\
         # require-version-bump = true    # drift needs a new version of the package\n\
         \n\
         # A single change is accepted with `mcp-keel accept ID --reason TEXT`, which adds an entry here.\n"
    )
}

/// The list of servers in the configuration.
pub(crate) fn list_of_servers(paths: &str) -> String {
    format!("# The servers of this file are checked.\nfrom = {paths}\n")
}

/// Where a command comes from that was typed.
pub(crate) fn typed() -> &'static str {
    "the command line"
}

/// The step in docs/workflows/check.yml that builds the server.
pub(crate) const EXAMPLE_STEP: &str =
    "      # Build your server here.\n      - run: npm ci && npm run build\n";

/// The step that builds this server.
pub(crate) fn build_step(build: Option<&str>) -> String {
    match build {
        Some(build) => format!("      - run: {build}\n"),
        None => "      # If the server has to be built, build it here.\n".to_owned(),
    }
}

/// Comments in the table of a server.
pub(crate) fn server_comment(origin: &str) -> String {
    format!(
        "# Found in {origin}. The server starts with an almost empty environment: `env` and `pass-env` add to it.\n"
    )
}

pub(crate) fn attributes_comment() -> &'static str {
    "# `git diff` shows what changed for callers, and `git merge` joins entries of different servers and tools:\n\
     # git config diff.mcp-keel.command \"mcp-keel git-diff\"\n\
     # git config diff.mcp-keel.textconv \"mcp-keel git-diff\"\n\
     # git config merge.mcp-keel.driver \"mcp-keel git-merge %O %A %B %P\"\n"
}

pub(crate) fn owners_comment() -> &'static str {
    "# Changes to the contract of the MCP server are reviewed by its owners.\n"
}
