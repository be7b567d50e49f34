//! What can be typed: the flags of every command, and nothing about what they do.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::value_parsers;
use crate::config::{foreign, suggestion};
use crate::report;
use crate::run::request::{MOST_PARTS, Part};

/// Keeps an MCP server's contract from drifting.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-keel",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 pass, 1 drift blocked, 2 usage, configuration or baseline wrong, \
                  3 server could not be captured, 4 verification of bytes failed."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Boot servers, compare them with the committed baseline, report, exit
    Check(CheckArgs),
    /// Capture servers and write the baseline
    Pin(PinArgs),
    /// Print what a server tells its clients, exactly as sent, as JSON
    Capture(CaptureArgs),
    /// Say which servers each part of a run checks (`check --shard I/N`), as a matrix for a workflow too
    Plan(PlanArgs),
    /// Join the JSON reports of the parts of a run into one report and one verdict
    Merge(MergeArgs),
    /// Compare two sources
    Diff(DiffArgs),
    /// Print a digest of every component of a source
    Fingerprint(FingerprintArgs),
    /// Read the texts of a source for what a person should see before a model does (advice, never a verdict)
    Scan(ScanArgs),
    /// Turn the file of another tool into a baseline, and say what could not be carried over
    Import(ImportArgs),
    /// Verify the bytes of servers and how they are launched, without starting anything
    Verify(VerifyArgs),
    /// Chains of tool manifests and their lockfile
    #[command(subcommand)]
    Chain(ChainCommand),
    /// List the rules
    Rules(RulesArgs),
    /// Explain a rule: why it matters, an example, what to do
    Explain {
        /// The rule's id, such as tool-removed
        rule: String,
    },
    /// Print the JSON Schema of one of our own formats
    Schema {
        /// Which format
        format: SchemaName,
    },
    /// Be the GitHub Action: inputs from INPUT_*, context from GITHUB_*
    Action,
    /// Run the whole pipeline on an embedded server that drifts
    Demo(DemoArgs),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Of this command only
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(flatten)]
    pub(super) jobs: JobsArgs,
    #[command(flatten)]
    pub(super) shard: ShardArgs,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

#[derive(Debug, Args)]
pub(super) struct PinArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Sign the ToolPin lock that is written, with this private key (ed25519, PKCS#8 in PEM)
    #[arg(long, value_name = "FILE")]
    pub(super) sign_key: Option<PathBuf>,
    /// Write the signature to this file [default: mcp-lock.sig beside the lock]
    #[arg(long, value_name = "FILE", requires = "sign_key")]
    pub(super) signature: Option<PathBuf>,
    /// The ToolPin policy that the signature covers [default: .toolpin/policy.json, if it is there]
    #[arg(long, value_name = "FILE", requires = "sign_key")]
    pub(super) toolpin_policy: Option<PathBuf>,
    #[command(flatten)]
    pub(super) jobs: JobsArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

/// How many servers at a time.
#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// How many servers are booted at the same time [default: the number of cores, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: Option<u16>,
}

/// Which part of a run, and how long its servers take.
#[derive(Debug, Args)]
pub(super) struct ShardArgs {
    /// Check only this part of the servers, such as 1/4; `mcp-keel merge` joins the JSON reports of all parts
    #[arg(long, value_name = "I/N", value_parser = value_parsers::part, conflicts_with_all = ["servers", "command"])]
    pub(super) shard: Option<Part>,
    /// How long servers took, to make parts of equal length [default: mcp-keel-timings.json, if it is there]
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(super) timings: Option<PathBuf>,
    /// Write down how long each server took
    #[arg(long, value_name = "FILE")]
    pub(super) record_timings: Option<PathBuf>,
}

/// `mcp-keel plan`
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Into how many parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_PARTS)))]
    pub(super) shards: u16,
    /// How long servers took, to make parts of equal length [default: mcp-keel-timings.json, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(super) timings: Option<PathBuf>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = PlanFormat::Terminal)]
    pub(super) format: PlanFormat,
}

/// `mcp-keel merge`
#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// JSON reports, or folders with nothing but JSON reports in them
    #[arg(required = true, value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanFormat {
    /// For people
    Terminal,
    /// {"include": [{"shard": "1/4", "servers": "a b"}]}, the matrix of a GitHub workflow
    GithubMatrix,
    /// Everything
    Json,
}

#[derive(Debug, Args)]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// No progress on the terminal
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Where the list of servers is.
#[derive(Debug, Args)]
pub(super) struct FromArgs {
    /// Take the servers from this file (may be repeated): .mcp.json, claude_desktop_config.json, .vscode/mcp.json,
    /// .cursor/mcp.json, mcp.json, settings of Zed, config.toml of Codex, server.json, manifest.json of a bundle
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url"])]
    pub(super) from: Vec<PathBuf>,
    /// The format of --from [default: recognised]
    #[arg(long, value_name = "FORMAT", requires = "from", value_parser = value_parsers::keyword::<foreign::Format>(foreign::Format::ALL, foreign::Format::word))]
    pub(super) from_format: Option<foreign::Format>,
    /// What a client would ask its user for, such as ${input:ID} (may be repeated); nobody is asked here
    #[arg(long = "input", value_name = "ID=VALUE", value_parser = value_parsers::input)]
    pub(super) inputs: Vec<(String, String)>,
}

/// Which servers, and how they are started.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// Servers of mcp-keel.toml by name (all of them if none is named); with a command, the name to use for it
    #[arg(value_name = "SERVER")]
    pub(super) servers: Vec<String>,
    /// The command that starts the server
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<String>,
    /// The configuration [default: mcp-keel.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) from: FromArgs,
    /// The baseline; {server} in it means one file a server [default: mcp-baseline.json]
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Set a variable for the server, which otherwise starts with an almost empty environment
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = value_parsers::variable)]
    pub(super) env: Vec<(String, String)>,
    /// Let the server see this variable of ours
    #[arg(long, value_name = "NAME")]
    pub(super) pass_env: Vec<String>,
    /// Reach the server over HTTP at this address instead of starting a command
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub(super) url: Option<String>,
    /// Send a header with every request to --url (may be repeated); ${NAME} is a variable of the environment
    // Not parsed by clap: it would show the value of a header that is not well-formed.
    #[arg(long = "header", value_name = "NAME: ${VARIABLE}")]
    pub(super) headers: Vec<String>,
    /// Start the server at --url with this command and wait until it answers; split as a POSIX shell would split it
    #[arg(long, value_name = "CMD")]
    pub(super) start: Option<String>,
    /// Trust the certificates of this PEM file too, beside the system's
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
    /// Go through this proxy, or through what the environment names (`env`) [default: no proxy]
    #[arg(long, value_name = "URL|env")]
    pub(super) proxy: Option<String>,
    /// The transport over HTTP [default: auto: Streamable HTTP, else HTTP+SSE]
    #[arg(long, value_name = "TRANSPORT", value_parser = value_parsers::keyword::<crate::capture::http::HttpTransport>(crate::capture::http::HttpTransport::ALL, crate::capture::http::HttpTransport::word))]
    pub(super) transport: Option<crate::capture::http::HttpTransport>,
    /// How long starting, and each request, may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(super) timeout: Option<u64>,
    /// Which era of the protocol: modern (2026-07-28), legacy (2025-11-25 and before), both to compare them
    /// [default: auto: the one that is pinned, else legacy, else modern]
    #[arg(long, value_name = "ERA", value_parser = value_parsers::keyword::<crate::capture::Eras>(crate::capture::Eras::ALL, crate::capture::Eras::word))]
    pub(super) era: Option<crate::capture::Eras>,
    /// How often a server is booted to see whether it says the same each time [default: 2 for pin; once for check, and
    /// once more before it claims drift]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    pub(super) repeat: Option<u8>,
    /// Wait this long on each connection and list once more, for lists that change after a while
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    pub(super) settle: Option<u64>,
    /// The client that the server sees: claude-code, claude-desktop, codex, cursor, gemini-cli, mcp-inspector, vscode,
    /// windsurf or zed with what it announces, or any other name
    #[arg(long, value_name = "NAME")]
    pub(super) client: Option<String>,
    /// The client capabilities that the server sees, such as roots,sampling (`none` for none)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) capabilities: Option<Vec<String>>,
    #[command(flatten)]
    pub(super) sandbox: SandboxArgs,
}

/// What a server may touch.
#[derive(Debug, Args)]
pub(super) struct SandboxArgs {
    /// Limit the files that the server may touch (fs), and take the network away too (strict); Linux
    #[arg(long, value_name = "LEVEL", value_parser = value_parsers::keyword::<crate::launch::sandbox::Level>(crate::launch::sandbox::Level::ALL, crate::launch::sandbox::Level::word))]
    pub(super) sandbox: Option<crate::launch::sandbox::Level>,
    /// Do not start a server that cannot be limited so on this machine
    #[arg(long)]
    pub(super) sandbox_required: bool,
    /// What the workflow asks for, which a configuration in a pull request can raise and not lower
    #[arg(skip)]
    pub(super) at_least: crate::launch::sandbox::Level,
}

/// What fails.
#[derive(Debug, Args)]
pub(super) struct PolicyArgs {
    /// The lowest level that fails
    #[arg(long, value_name = "LEVEL", value_parser = value_parsers::keyword::<crate::policy::FailOn>(crate::policy::FailOn::ALL, crate::policy::FailOn::word))]
    pub(super) fail_on: Option<crate::policy::FailOn>,
    /// The lowest exposure that fails
    #[arg(long, value_name = "EXPOSURE", value_parser = value_parsers::keyword::<crate::judgement::Exposure>(crate::judgement::Exposure::ALL, crate::judgement::Exposure::word))]
    pub(super) fail_on_exposure: Option<crate::judgement::Exposure>,
    /// What happens when a known component changed or vanished
    #[arg(long, value_name = "ACTION", value_parser = value_parsers::keyword::<crate::policy::Enforcement>(crate::policy::Enforcement::ALL, crate::policy::Enforcement::word))]
    pub(super) enforcement: Option<crate::policy::Enforcement>,
    /// What happens with a component that the baseline does not know [default: as --enforcement]
    #[arg(long, value_name = "ACTION", value_parser = value_parsers::unknown())]
    pub(super) unknown: Option<crate::policy::Unknown>,
}

/// Where the report goes, and how it looks.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The format on stdout
    #[arg(long, value_name = "FORMAT", default_value = "terminal", value_parser = value_parsers::format())]
    pub(super) format: Format,
    /// Write a report to a file too (may be repeated)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file)]
    pub(super) report: Vec<(report::Format, PathBuf)>,
    /// Say only what is not in order; no progress
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    pub(super) color: Color,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// A baseline, a capture, a saved tools/list result, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    pub(super) old: String,
    /// The same
    pub(super) new: String,
    /// Of sources with several servers, compare this one
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
    #[command(flatten)]
    pub(super) sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
pub(super) struct FingerprintArgs {
    /// A baseline, a capture, a saved tools/list result, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    pub(super) source: String,
    /// The digest scheme
    #[arg(long, default_value = "keel", value_parser = value_parsers::keyword::<crate::interop::Profile>(crate::interop::Profile::ALL, crate::interop::Profile::word))]
    pub(super) profile: crate::interop::Profile,
    /// Members that the fastmcp profile covers beside the key and inputSchema
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parsers::keyword::<crate::interop::fastmcp::Field>(crate::interop::fastmcp::Field::ALL, crate::interop::fastmcp::Field::word))]
    pub(super) fields: Vec<crate::interop::fastmcp::Field>,
    /// Of a source with several servers, this one
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = JsonOnly::Json)]
    pub(super) format: JsonOnly,
    #[command(flatten)]
    pub(super) sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
pub(super) struct ScanArgs {
    /// A baseline, a capture, a saved tools/list result, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    pub(super) source: String,
    /// Whose findings: ours, or exactly those of ToolPin
    #[arg(long, value_enum, default_value_t = ScanProfile::Keel)]
    pub(super) profile: ScanProfile,
    /// Of a source with several servers, this one
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
    #[command(flatten)]
    pub(super) sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// A FastMCP manifest, MCP Hangar's pins, an mcp-lock.json, a .mcpc.json, a snapshot, a folder of toolsnaps
    pub(super) file: PathBuf,
    /// The baseline to write
    #[arg(short, long, value_name = "BASELINE", default_value = crate::baseline::DEFAULT_PATH)]
    pub(super) output: PathBuf,
    /// The name of the server in the baseline
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// For a file that stores digests only: a source with the definitions, which must have those digests
    #[arg(long, value_name = "SOURCE")]
    pub(super) with: Option<String>,
    /// Replace a baseline that is there
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Verify this lock of ToolPin (mcp-lock.json, or the draft mcp-lock/1) instead of servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["servers", "command", "baseline", "config"])]
    pub(super) lock: Option<PathBuf>,
    /// The digest that the whole lock must have, from outside of what is being reviewed
    #[arg(long, value_name = "DIGEST", requires = "lock")]
    pub(super) expect_digest: Option<String>,
    /// Verify the lock's ed25519 signature with this public key (PEM), from outside of what is being reviewed
    #[arg(long, value_name = "FILE", requires = "lock")]
    pub(super) public_key: Option<PathBuf>,
    /// The file of the signature [default: mcp-lock.sig beside the lock]
    #[arg(long, value_name = "FILE", requires = "public_key")]
    pub(super) signature: Option<PathBuf>,
    /// The ToolPin policy that the signature covers [default: .toolpin/policy.json, if it is there]
    #[arg(long, value_name = "FILE", requires = "public_key")]
    pub(super) toolpin_policy: Option<PathBuf>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
}

#[derive(Debug, Subcommand)]
pub(super) enum ChainCommand {
    /// Verify and validate a chain, and pin it in a lockfile
    Freeze(FreezeArgs),
    /// Verify every link of a resolved chain, or the manifests of a lockfile
    Verify(ChainArgs),
    /// Print the links of a chain
    Show(ChainArgs),
    /// Print the digest of {"tool_id", "version", "manifest", "files"}
    Integrity(IntegrityArgs),
}

#[derive(Debug, Args)]
pub(super) struct FreezeArgs {
    #[command(flatten)]
    pub(super) chain: ChainArgs,
    /// The lockfile; without it the tool, `@`, its version and .lock.json beside the first file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Put the hash of the chain into the lockfile's default name
    #[arg(long, conflicts_with = "output")]
    pub(super) chain_hash: bool,
    /// The time to write, as Python's isoformat() [default: now; an unchanged chain keeps the time that it has]
    #[arg(long, value_name = "TIME")]
    pub(super) generated_at: Option<String>,
    /// The registry that the chain came from
    #[arg(long, value_name = "URL")]
    pub(super) registry: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ChainArgs {
    /// A resolved chain, a lockfile (then its manifests, if they are elsewhere), or manifests from the tool to its
    /// primitive; one manifest alone is followed through its executor
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// What the digest of a link covers of a file [default: whichever of the two the chain was made with]
    #[arg(long, value_name = "VARIANT", value_parser = value_parsers::keyword::<crate::interop::kiwi::Variant>(crate::interop::kiwi::Variant::ALL, crate::interop::kiwi::Variant::word))]
    pub(super) variant: Option<crate::interop::kiwi::Variant>,
    /// A chain that does not end in a primitive fails (freeze is always so, unless --lenient)
    #[arg(long, conflicts_with = "lenient")]
    pub(super) strict: bool,
    /// A parent without a schema for its child is only a warning
    #[arg(long)]
    pub(super) lenient: bool,
    /// Do not compare digests
    #[arg(long)]
    pub(super) skip_integrity: bool,
    /// Do not let parents judge their children
    #[arg(long)]
    pub(super) skip_validation: bool,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
}

#[derive(Debug, Args)]
pub(super) struct IntegrityArgs {
    /// JSON or YAML with tool_id, version, manifest and files
    pub(super) file: PathBuf,
    /// What the digest covers of a file
    #[arg(long, value_name = "VARIANT", default_value = "current", value_parser = value_parsers::keyword::<crate::interop::kiwi::Variant>(crate::interop::kiwi::Variant::ALL, crate::interop::kiwi::Variant::word))]
    pub(super) variant: crate::interop::kiwi::Variant,
    /// The digest is the same text in both formats
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
}

#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = RulesFormat::Terminal)]
    pub(super) format: RulesFormat,
}

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Be the server instead
    #[arg(long, hide = true, value_enum)]
    pub(super) serve: Option<Edition>,
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Edition {
    Pinned,
    Drifted,
}

/// What `--format` takes: the formats of reports, and the lock that `pin` can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Report(report::Format),
    /// Write a ToolPin lock, and report on the terminal.
    ToolPin,
}

impl Format {
    /// What is printed.
    pub(super) fn printed(self) -> report::Format {
        match self {
            Self::Report(format) => format,
            Self::ToolPin => report::Format::Terminal,
        }
    }
}

/// For commands whose output is JSON anyway, so that scripts can say so everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum JsonOnly {
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScanProfile {
    Keel,
    #[value(name = "toolpin")]
    ToolPin,
}

/// The format of commands that report no drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    Terminal,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RulesFormat {
    Terminal,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaName {
    Baseline,
    Report,
    Config,
}

/// `FORMAT=FILE`
fn report_file(text: &str) -> Result<(report::Format, PathBuf), String> {
    let Some((format, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
        return Err("expected FORMAT=FILE, such as json=report.json".to_owned());
    };
    let format = format.parse::<report::Format>().map_err(|()| {
        let known: Vec<&str> = report::Format::ALL.iter().map(|it| it.word()).collect();
        let help = match suggestion(format, known.iter().copied()) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("known: {}", known.join(", ")),
        };
        format!("there is no format `{format}`; {help}")
    })?;
    Ok((format, PathBuf::from(path)))
}
