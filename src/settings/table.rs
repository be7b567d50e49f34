//! The table.
//!
//! Its order is the order of every generated list: common settings come first in their group.

use super::Group::{Capture, Fleet, GitHub, Http, Output, Policy, Sandbox, Server};
use super::Scope::{self, ReportFormat};
use super::{Form, Secrecy, Setting, Split, Table, ValueKind, Word, hidden_word, word};

/// A constant for each setting, and [`ALL`] of them.
macro_rules! table {
    ($($name:ident = $setting:expr;)+) => {
        $(
            #[allow(missing_docs, reason = "the help text of each setting documents it")]
            pub const $name: &Setting = &$setting;
        )+

        pub const ALL: &[&Setting] = &[$($name),+];
    };
}

const FAIL_ON_WORDS: &[Word] = &[
    word("none"),
    word("breaking"),
    word("risky"),
    word("additive"),
    word("any"),
];

table! {
    // Server

    SERVERS = Setting::new("servers", Server, ValueKind::Names,
        "Servers of mcp-keel.toml to use; with a command, the name for it")
        .flag(Scope::Server, "SERVER")
        .typed_as(Form::Positional)
        .input()
        .unset_means("all servers");
    COMMAND = Setting::new("command", Server, ValueKind::Command,
        "The command that starts the server")
        .flag(Scope::Server, "CMD")
        .typed_as(Form::Trailing)
        .key(Table::Server)
        .key_unset("this or `url`")
        .input()
        .input_split(Split::Shell)
        .input_note("Split as a POSIX shell would split it, and run without a shell.")
        .unset_means("`command` in mcp-keel.toml")
        .details("The program and its arguments, such as `[\"node\", \"dist/index.js\"]`. No shell is involved.");
    CONFIG = Setting::new("config", Server, ValueKind::File,
        "The configuration file")
        .flag(Scope::Server, "FILE")
        .input()
        .unset_means("mcp-keel.toml, if it exists");
    BASELINE = Setting::new("baseline", Server, ValueKind::File,
        "The baseline file; use {server} for one file per server")
        .flag(Scope::Server, "FILE")
        .key(Table::Top)
        .input()
        .unset("mcp-baseline.json")
        .details("In the configuration it is relative to the folder of `mcp-keel.toml`, on the command line to the \
            current folder. In `{server}`, characters other than letters, digits, space and `-_.@+` become `_`.");
    ENV = Setting::new("env", Server, ValueKind::Pairs,
        "Set an environment variable for the server, which otherwise starts with an almost empty environment")
        .flag(Scope::Server, "KEY=VALUE")
        .key(Table::Server)
        .key_unset("empty")
        .input()
        .secrecy(Secrecy::Variable)
        .details("In the configuration a table, such as `{ API_BASE = \"http://127.0.0.1:9\" }`.");
    PASS_ENV = Setting::new("pass-env", Server, ValueKind::Names,
        "Pass this environment variable to the server")
        .flag(Scope::Server, "NAME")
        .key(Table::Server)
        .key_unset("empty")
        .input()
        .details("`GITHUB_TOKEN` and `ACTIONS_*` are refused.");
    CWD = Setting::new("cwd", Server, ValueKind::File,
        "The folder in which the server starts")
        .key(Table::Server)
        .unset_means("the folder of this file")
        .details("Relative to the folder of `mcp-keel.toml`.");
    FROM = Setting::new("from", Server, ValueKind::Files,
        "Take the servers from this file of a client or registry, such as .mcp.json or .vscode/mcp.json")
        .flag(Scope::Server, "FILE")
        .conflicts(&["command", "url"])
        .key(Table::Top)
        .key_type("string, or array of strings")
        .key_unset("none")
        .input()
        .unset_means("the servers of mcp-keel.toml")
        .details("In the configuration, a path relative to the folder of `mcp-keel.toml`; its servers are added to \
            those of `[server.NAME]`, and a name that both have is an error. `--from` replaces both. \
            [fleets.md](fleets.md#client-configuration-files) lists the formats.");
    FROM_FORMAT = Setting::new("from-format", Server,
        ValueKind::Word(&[
            word("claude-code"),
            word("claude-desktop"),
            word("vscode"),
            word("cursor"),
            word("mcp"),
            word("zed"),
            word("codex"),
            word("registry"),
            word("mcpb"),
        ]),
        "The format of the file that --from names")
        .flag(Scope::Server, "FORMAT")
        .requires("from")
        .input()
        .unset_means("detected");
    ANSWERS = Setting::new("input", Server, ValueKind::Pairs,
        "Answer a prompt of a client's file, such as ${input:ID}; mcp-keel never prompts")
        .flag(Scope::Server, "ID=VALUE")
        .input_named("inputs")
        .secrecy(Secrecy::Answer);
    SKIP = Setting::new("skip", Server, ValueKind::Names,
        "Leave this server out: it is undetermined, and the others are checked")
        .flag(Scope::Server, "SERVER")
        .conflicts(&["command", "url"])
        .input();
    SERVER_TABLES = Setting::new("server", Server, ValueKind::Table("tables"),
        "The servers under test, `[server.NAME]`")
        .key(Table::Top)
        .unset_means("none");
    PROFILES = Setting::new("profile", Server, ValueKind::Table("tables"),
        "The same server as several clients, accounts or environments see it, `[server.NAME.profile.PROFILE]`")
        .key(Table::Server)
        .unset_means("none")
        .details("See below.");
    VERSION = Setting::new("version", Server, ValueKind::Table("string, or array of strings"),
        "Where to read the version that `require-version-bump` checks")
        .key(Table::Server)
        .unset("auto")
        .details("See below.");
    VERIFY = Setting::new("verify", Server, ValueKind::Table("table"),
        "Which bytes to verify before the server is started, `[server.NAME.verify]`")
        .key(Table::Server)
        .unset_means("not considered")
        .details("See below.");
    CHECKSUM = Setting::new("checksum", Server, ValueKind::Table("string or table"),
        "The old spelling of `verify` with `type = \"command\"`: a digest, or `algorithm` and `value`")
        .key(Table::Server)
        .unset_means("none")
        .details("A finding asks for the new spelling, which wins if both are set.");
    LAUNCH_DIGESTS = Setting::new("launch-digests", Server, ValueKind::Switch,
        "Which links of the launch chain get a digest in the baseline")
        .key(Table::Server)
        .unset_means("scripts in the working copy")
        .details("`true` for every link that is a file on this machine, including the runtime; `false` for none.");

    // HTTP

    URL = Setting::new("url", Http, ValueKind::Text,
        "Connect to the server at this address instead of starting a command")
        .flag(Scope::Server, "URL")
        .conflicts(&["command"])
        .key(Table::Http)
        .key_unset("required")
        .input()
        .secrecy(Secrecy::Url)
        .details("The whole address, with its path. `${NAME}` in it is a variable of mcp-keel's own environment. \
            Credentials in it (`user:password@`) are refused.");
    HEADER = Setting::new("header", Http, ValueKind::Headers,
        "Send this header with every request to --url; ${NAME} is an environment variable")
        .flag(Scope::Server, "NAME: ${VARIABLE}")
        .key_named(Table::Http, "headers")
        .key_unset("empty")
        .input()
        .input_note("Keep the secret in the env of the step, and name its variable here.")
        .secrecy(Secrecy::Header)
        .details("Sent to the origin of the address and to no other. A server whose variable is unset or empty is not checked. \
            A value is never shown.");
    START = Setting::new("start", Http, ValueKind::Command,
        "Start the server at --url with this command, and wait until it answers")
        .flag(Scope::Server, "CMD")
        .key(Table::Http)
        .input()
        .input_note("Split as a POSIX shell would split it, and run without a shell.")
        .unset_means("the server is already running")
        .details("On the command line it is split as a POSIX shell would split it; no shell is involved. The process is \
            ended afterwards. `cwd`, `env`, `pass-env`, `verify`, `checksum` and `launch-digests` apply to it; without \
            `start` they are errors.");
    TRANSPORT = Setting::new("transport", Http,
        ValueKind::Word(&[word("auto"), word("streamable"), word("sse")]),
        "The HTTP transport to speak")
        .flag(Scope::Server, "TRANSPORT")
        .key(Table::Http)
        .input()
        .unset("auto")
        .details("Streamable HTTP (2025-03-26 and later) or HTTP+SSE (2024-11-05). `auto` sends `initialize` by POST; \
            if that is answered with 400, 404 or 405, a GET decides whether the server speaks HTTP+SSE.");
    CA = Setting::new("ca", Http, ValueKind::File,
        "Trust the certificates in this PEM file as well as the system's")
        .flag(Scope::Server, "FILE")
        .key(Table::Http)
        .input()
        .input_note("A file outside the workspace holds for GitHub's API too.")
        .unset_means("the system's certificates only")
        .details("In the configuration relative to the folder of `mcp-keel.toml`. Verification cannot be turned off.");
    PROXY = Setting::new("proxy", Http, ValueKind::Text,
        "Use this proxy, or the one that the environment names (env)")
        .flag(Scope::Server, "URL|env")
        .key(Table::Http)
        .input()
        .unset_means("no proxy")
        .secrecy(Secrecy::Proxy)
        .details("An address (`http://`, with credentials if the proxy needs them), or `env` for `HTTPS_PROXY`, \
            `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, which are ignored otherwise. Encrypted connections are tunnelled \
            (CONNECT).");

    // Capture

    TIMEOUT = Setting::new("timeout", Capture, ValueKind::Number { from: 1, to: 3600 },
        "Seconds that starting the server, and each request, may take")
        .flag(Scope::Server, "SECONDS")
        .key(Table::Server)
        .input()
        .unset("30");
    REPEAT = Setting::new("repeat", Capture, ValueKind::Number { from: 1, to: 10 },
        "How many times to boot each server, to see whether its captures agree")
        .flag(Scope::Server, "N")
        .key(Table::Server)
        .input()
        .unset_means("2 for pin; 1 for check, and one more before it reports drift")
        .details("See [stability.md](stability.md).");
    SETTLE = Setting::new("settle", Capture, ValueKind::Number { from: 1, to: 600 },
        "Seconds to wait on each connection before listing again, for lists that change after a while")
        .flag(Scope::Server, "SECONDS")
        .key(Table::Server)
        .key_unset("none")
        .input()
        .unset_means("list once");
    SUSPICIOUS = Setting::new("suspicious", Capture, ValueKind::Switch,
        "Distrust the server: boot it at least 3 times, list again after at least 2 seconds, and be a known client chosen at random")
        .flag(Scope::Server, "")
        .input()
        .input_default("false")
        .unset("false")
        .details("For a server that may behave while it is checked. A client that is set stays. See [clients.md](clients.md).");
    READ_RESOURCES = Setting::new("read-resources", Capture, ValueKind::Switch,
        "Read the documents of apps (`ui://`) and the files of skills, and pin their digests")
        .flag(Scope::Server, "")
        .key(Table::Server)
        .input()
        .input_default("false")
        .unset("false")
        .details("At most 1,000, and 16 MiB of answers. See [capture.md](capture.md#skills-and-apps).");
    ERA = Setting::new("era", Capture,
        ValueKind::Word(&[word("auto"), word("modern"), word("legacy"), word("both")]),
        "The protocol era: modern (2026-07-28), legacy (2025-11-25 and earlier), or both to compare them")
        .flag(Scope::Server, "ERA")
        .key(Table::Server)
        .input()
        .unset("auto")
        .details("`auto` is the era of the baseline; without one, legacy if the server speaks it, else modern. See \
            [eras.md](eras.md).");
    CLIENT = Setting::new("client", Capture, ValueKind::Text,
        "The client that the server sees: claude-code, claude-desktop, codex, cursor, gemini-cli, mcp-inspector, \
         vscode, windsurf or zed with what it announces, or any other name")
        .flag(Scope::Server, "NAME")
        .key(Table::Server)
        .key_type("string, or table")
        .input()
        .unset_means("the client in the baseline, else mcp-keel")
        .details("See below for the table.");
    CLIENT_NAME = Setting::new("client-name", Capture, ValueKind::Text,
        "`clientInfo.name`")
        .key_named(Table::Client, "name")
        .unset("mcp-keel");
    CLIENT_VERSION = Setting::new("client-version", Capture, ValueKind::Text,
        "`clientInfo.version`")
        .key_named(Table::Client, "version")
        .unset("1")
        .details("Not mcp-keel's own version, so that an upgrade changes nothing for the server.");
    CAPABILITIES = Setting::new("capabilities", Capture, ValueKind::List,
        "The client capabilities that the server sees, such as roots,sampling (none for none)")
        .flag(Scope::Server, "LIST")
        .key(Table::Client)
        .key_unset("`[\"elicitation\", \"roots\", \"sampling\"]`")
        .input()
        .unset_means("those in the baseline, else elicitation,roots,sampling")
        .details("In the configuration, an empty array announces nothing.");
    MASKS = Setting::new("mask", Capture, ValueKind::Table("array of tables"),
        "Texts to leave out of a capture, `[[server.NAME.mask]]`")
        .key(Table::Server)
        .unset_means("empty")
        .details("See below.");

    CAPTURE = Setting::new("capture", Capture, ValueKind::Text,
        "Take what the server lists from this source instead of starting it: a capture, a list of tools, - for stdin")
        .flag(Scope::Source, "SOURCE")
        .conflicts(&["command", "url", "from", "skip", "shard", "repeat", "settle", "suspicious", "read-resources", "era"])
        .details("See [sources.md](sources.md).");
    PIN_WITH = Setting::new("pin-with", Capture, ValueKind::Text,
        "The command that a report names for approving what was found, where it is not mcp-keel pin")
        .flag(Scope::Source, "COMMAND");

    // Sandbox

    SANDBOX = Setting::new("sandbox", Sandbox,
        ValueKind::Word(&[word("off"), word("fs"), word("strict")]),
        "Limit the files that the server may touch (fs), and block the network as well (strict); Linux only")
        .flag(Scope::Sandbox, "LEVEL")
        .key(Table::Server)
        .key_unset("`\"off\"`, in the action `\"fs\"`")
        .input()
        .input_default("fs")
        .input_note("The configuration may raise it, not lower it.")
        .unset("off")
        .details("See [sandbox.md](sandbox.md). In the action, the input is the least that applies.");
    SANDBOX_REQUIRED = Setting::new("sandbox-required", Sandbox, ValueKind::Switch,
        "Fail if the sandbox cannot be enforced")
        .flag(Scope::Sandbox, "")
        .key(Table::Server)
        .input()
        .input_default("false")
        .unset("false");

    // Fleet

    JOBS = Setting::new("jobs", Fleet, ValueKind::Number { from: 1, to: 256 },
        "How many servers to boot at the same time")
        .flag(Scope::Jobs, "N")
        .input()
        .unset_means("the number of cores, at most 8");
    SHARD = Setting::new("shard", Fleet, ValueKind::Part,
        "Check only this part of the servers, such as 1/4; `mcp-keel merge` joins the JSON reports")
        .flag(Scope::Part, "I/N")
        .conflicts(&["servers", "command"])
        .input()
        .input_note("A part writes its JSON report and the job summary, and posts nothing.")
        .unset_means("all servers");
    TIMINGS = Setting::new("timings", Fleet, ValueKind::File,
        "How long servers took, to make parts of equal length")
        .flag(Scope::Timings, "FILE")
        .requires("shard")
        .input()
        .unset_means("mcp-keel-timings.json, if it exists");
    RECORD_TIMINGS = Setting::new("record-timings", Fleet, ValueKind::File,
        "Write how long each server took to this file")
        .flag(Scope::Part, "FILE");
    MERGE = Setting::new("merge", Fleet, ValueKind::Names,
        "Only merge the JSON reports in these files or folders into one verdict, one check run and one \
         comment")
        .input();

    // Policy

    POLICY = Setting::new("policy", Policy, ValueKind::Word(&[word("default"), word("strict")]),
        "What fails the check: default, or strict for every change")
        .flag(Scope::Policy, "PRESET")
        .key_named(Table::Policy, "preset")
        .input()
        .unset("default")
        .details("See [policy.md](policy.md#what-blocks). `policy = \"strict\"` at the top is short for a `[policy]` with \
            nothing but this. As a flag or input it sets the configured thresholds aside.");
    FAIL_ON = Setting::new("fail-on", Policy, ValueKind::Word(FAIL_ON_WORDS),
        "The lowest level that can fail the check")
        .flag(Scope::Policy, "LEVEL")
        .key(Table::Policy)
        .input()
        .unset_means("by --policy: risky, or any with strict")
        .key_unset("by `preset`: `\"risky\"`, or `\"any\"` with `\"strict\"`")
        .details("What is below it is only reported.");
    FAIL_ON_EXPOSURE = Setting::new("fail-on-exposure", Policy,
        ValueKind::Word(&[word("none"), word("low"), word("medium"), word("high")]),
        "The lowest exposure that can fail the check")
        .flag(Scope::Policy, "EXPOSURE")
        .key(Table::Policy)
        .input()
        .unset_means("medium, or none with --fail-on or strict")
        .key_unset("`\"medium\"`, or `\"none\"` with `fail-on` or `\"strict\"`")
        .details("With `none`, exposure alone never fails.");
    ENFORCEMENT = Setting::new("enforcement", Policy,
        ValueKind::Word(&[word("audit"), word("warn"), word("block")]),
        "What to do when a known component changed or disappeared")
        .flag(Scope::Policy, "ACTION")
        .key(Table::Policy)
        .input()
        .unset("block");
    UNKNOWN = Setting::new("unknown", Policy,
        // The second is MCP Hangar's current name for the first.
        ValueKind::Word(&[
            word("allow_degraded"),
            word("warn"),
            word("block"),
            hidden_word("allow_unverified"),
        ]),
        "What to do with a component or server that is not in the baseline")
        .flag(Scope::Policy, "ACTION")
        .key(Table::Policy)
        .input()
        .unset_means("as enforcement");
    CONTEXT_LIMIT = Setting::new("context-limit", Policy, ValueKind::Number { from: 1, to: 100_000_000 },
        "About how many tokens of a model's context the tools of a server may cost")
        .flag(Scope::Policy, "TOKENS")
        .key(Table::Policy)
        .input()
        .unset_means("no limit")
        .details("An estimate; [formats.md](formats.md#context-cost) says how it is made.");
    CONTEXT_GROWTH = Setting::new("context-growth", Policy, ValueKind::Number { from: 0, to: 1_000_000 },
        "By how many percent the tools may cost more context than in the baseline; 0 lets them only shrink")
        .flag(Scope::Policy, "PERCENT")
        .key(Table::Policy)
        .input()
        .unset_means("no limit");
    REQUIRE_VERSION_BUMP = Setting::new("require-version-bump", Policy, ValueKind::Switch,
        "Require a version bump that matches the changes")
        .key(Table::Policy)
        .unset("false");
    RULES = Setting::new("rules", Policy, ValueKind::Table("table"),
        "An action or a level for single rules, `[policy.rules]`")
        .key(Table::Policy)
        .unset_means("empty")
        .details("See below.");
    POLICY_TABLE = Setting::new("policy-table", Policy, ValueKind::Table("table, or a preset"),
        "What to do about a change, `[policy]`")
        .key_named(Table::Top, "policy")
        .unset_means("see below");
    ACCEPT = Setting::new("accept", Policy, ValueKind::Table("array of tables"),
        "Accepted changes, `[[accept]]`")
        .key(Table::Top)
        .unset_means("empty");
    REJECT = Setting::new("reject", Policy, ValueKind::Table("array of tables"),
        "Rejected changes, `[[reject]]`")
        .key(Table::Top)
        .unset_means("empty")
        .details("They block whatever `fail-on` and `[policy.rules]` say.");
    POLICY_FROM = Setting::new("policy-from", Policy, ValueKind::Text,
        "The revision whose policy, acceptances, masks, verify blocks, servers and baseline path apply")
        .flag(Scope::Part, "REF")
        .input()
        .input_default("base")
        .input_note("base: the base branch, on pull requests and in merge queues. head: the pull request itself.")
        .unset_means("the working folder's")
        .details("On the command line it is a revision of the repository, such as `origin/main`. What the working folder \
            changes about them is reported where it weakens the check.");
    COMPARE_BASE = Setting::new("compare-base", Policy, ValueKind::Switch,
        "Compare the committed baseline with the one of the base branch, on pull requests and in merge queues")
        .input()
        .input_default("true");
    BASE_FAIL_ON = Setting::new("base-fail-on", Policy, ValueKind::Word(FAIL_ON_WORDS),
        "The lowest level that can fail the comparison with the base branch")
        .input()
        .input_default("breaking");
    ACCEPT_LABEL = Setting::new("accept-label", Policy, ValueKind::Text,
        "The label with which a maintainer accepts what fails in the comparison with the base branch")
        .input()
        .input_default("mcp-keel: accept-breaking");

    // Output

    FORMAT = Setting::new("format", Output,
        ValueKind::Word(&[
            word("terminal"),
            word("json"),
            word("markdown"),
            word("html"),
            word("sarif"),
            word("junit"),
            word("github"),
            word("gitlab"),
            // `pin` only: write a ToolPin lock, and report on the terminal.
            hidden_word("toolpin"),
        ]),
        "The format of the report on stdout")
        .flag(ReportFormat, "FORMAT")
        .input()
        .input_default("terminal")
        .unset("terminal");
    REPORT = Setting::new("report", Output, ValueKind::Reports,
        "Also write a report to a file, such as sarif=mcp-keel.sarif")
        .flag(Scope::Report, "FORMAT=FILE")
        .input()
        .input_note("A JSON report is always written; the output `report` is its path.");
    QUIET = Setting::new("quiet", Output, ValueKind::Switch,
        "Print only problems, and no progress")
        .flag(Scope::Report, "")
        .typed_as(Form::Short('q'))
        .unset("false");
    COLOR = Setting::new("color", Output,
        ValueKind::Word(&[word("auto"), word("always"), word("never")]),
        "When to use colours")
        .flag(Scope::Report, "WHEN")
        .unset("auto");

    // GitHub

    WORKING_DIRECTORY = Setting::new("working-directory", GitHub, ValueKind::File,
        "The folder to run in, relative to the workspace")
        .input()
        .unset_means("the workspace");
    TOKEN = Setting::new("token", GitHub, ValueKind::Text,
        "The token for the check run, the comment and the labels; without one there are only workflow commands and the \
         job summary")
        .input()
        .input_default("${{ github.token }}")
        .secrecy(Secrecy::Hidden);
    CHECK_RUN = Setting::new("check-run", GitHub, ValueKind::Switch,
        "Post a check run (needs checks: write)")
        .input()
        .input_default("true");
    CHECK_NAME = Setting::new("check-name", GitHub, ValueKind::Text,
        "The name of the check run; two uses of the action on one commit need two names. The values of a matrix are \
         added to it")
        .input()
        .input_default("mcp-keel");
    MATRIX = Setting::new("matrix", GitHub, ValueKind::Text,
        "The values of the job's matrix, which tell its check run and comment from those of the other jobs; leave the \
         default")
        .input()
        .input_default("${{ toJSON(matrix) }}");
    BASELINE_ARTIFACT = Setting::new("baseline-artifact", GitHub, ValueKind::Switch,
        "Link to the artifacts of the run, where the workflow uploads the output `proposed-baseline`")
        .input()
        .input_default("false");
    COMMENT = Setting::new("comment", GitHub, ValueKind::Switch,
        "Keep one comment on the pull request up to date (needs pull-requests: write)")
        .input()
        .input_default("true");
    ANNOTATIONS = Setting::new("annotations", GitHub, ValueKind::Switch,
        "Annotate lines, in the check run or else with workflow commands")
        .input()
        .input_default("true");
    SUMMARY = Setting::new("summary", GitHub, ValueKind::Switch,
        "Write the job summary")
        .input()
        .input_default("true");
}
