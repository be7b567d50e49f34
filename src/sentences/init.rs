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
         # A single tool is accepted with `mcp-keel pin --only TOOL`.\n"
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

pub(crate) fn owners_comment() -> &'static str {
    "# Changes to the contract of the MCP server are reviewed by its owners.\n"
}
