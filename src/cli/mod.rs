//! The command line: what can be typed, and one file a command.
//!
//! What was typed ([`Cli`]) is turned once into what it means (`plan`); nothing outside this room knows clap. Commands
//! return an [`Exit`] or an [`Error`]; only `main` ends the process.

mod action;
mod approval;
mod capture;
mod chain;
mod check;
mod check_pins;
mod compared;
mod demo;
mod diff;
mod eras;
mod error;
mod fingerprint;
mod fleet;
mod from;
mod import;
mod interrupt;
mod live;
mod output;
mod paste;
mod pin;
mod pin_pins;
mod plan;
mod progress;
mod reach;
mod reference;
mod repeat;
mod scan;
mod secrets;
mod shards;
mod sources;
mod verify;
mod verify_lock;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub use error::{Error, Exit};

/// Keeps an MCP server's contract from drifting.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-keel",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 pass, 1 drift blocked, 2 usage, configuration or baseline wrong, \
                  3 server could not be captured, 4 verification of bytes failed."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Boot servers, compare them with the committed baseline, report, exit
    Check(CheckArgs),
    /// Capture servers and write the baseline
    Pin(PinArgs),
    /// Print what a server tells its clients, exactly as sent, as JSON
    Capture(CaptureArgs),
    /// Say which servers each part of a run checks (`check --shard I/N`), as a matrix for a workflow too
    Plan(shards::PlanArgs),
    /// Join the JSON reports of the parts of a run into one report and one verdict
    Merge(shards::MergeArgs),
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
struct CheckArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    jobs: fleet::JobsArgs,
    #[command(flatten)]
    shard: shards::ShardArgs,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Args)]
struct PinArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Sign the ToolPin lock that is written with this private key (ed25519, PKCS#8 in PEM)
    #[arg(long, value_name = "FILE")]
    sign_key: Option<PathBuf>,
    /// Write the signature here [default: mcp-lock.sig beside the lock]
    #[arg(long, value_name = "FILE", requires = "sign_key")]
    signature: Option<PathBuf>,
    /// Cover ToolPin's policy file with the signature [default: .toolpin/policy.json, if it is there]
    #[arg(long, value_name = "FILE", requires = "sign_key")]
    toolpin_policy: Option<PathBuf>,
    #[command(flatten)]
    jobs: fleet::JobsArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Args)]
struct CaptureArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// No progress on the terminal
    #[arg(short, long)]
    quiet: bool,
}

/// Which servers, and how they are started.
#[derive(Debug, Args)]
struct ServerArgs {
    /// Servers of mcp-keel.toml by name (all of them if none is named); with a command, the name to use for it
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// The command that starts the server
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
    /// The configuration [default: mcp-keel.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    from: from::FromArgs,
    /// The baseline; {server} in it means one file a server [default: mcp-baseline.json]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Set a variable for the server, which otherwise starts with an almost empty environment
    #[arg(long = "env", value_name = "KEY=VALUE", value_parser = words::variable)]
    env: Vec<(String, String)>,
    /// Let the server see this variable of ours
    #[arg(long, value_name = "NAME")]
    pass_env: Vec<String>,
    /// Reach the server over HTTP at this address instead of starting a command
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// Send a header with every request to --url (may be repeated); ${NAME} is a variable of the environment
    // Not parsed by clap: it would show the value of a header that is not well-formed.
    #[arg(long = "header", value_name = "NAME: ${VARIABLE}")]
    headers: Vec<String>,
    /// Start the server at --url with this command and wait until it answers; split as a POSIX shell would split it
    #[arg(long, value_name = "CMD")]
    start: Option<String>,
    /// Trust the certificates of this PEM file too, beside the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Go through this proxy, or through what the environment names (`env`) [default: no proxy]
    #[arg(long, value_name = "URL|env")]
    proxy: Option<String>,
    /// The transport over HTTP [default: auto: Streamable HTTP, else HTTP+SSE]
    #[arg(long, value_name = "TRANSPORT", value_parser = words::words::<crate::capture::http::HttpTransport>(crate::capture::http::HttpTransport::ALL, crate::capture::http::HttpTransport::word))]
    transport: Option<crate::capture::http::HttpTransport>,
    /// How long starting, and each request, may take
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
    /// Which era of the protocol: modern (2026-07-28), legacy (2025-11-25 and before), both to compare them
    /// [default: auto: the one that is pinned, else legacy, else modern]
    #[arg(long, value_name = "ERA", value_parser = words::words::<crate::capture::Eras>(crate::capture::Eras::ALL, crate::capture::Eras::word))]
    era: Option<crate::capture::Eras>,
    /// How often a server is booted to see whether it says the same each time [default: 2 for pin; once for check, and
    /// once more before it claims drift]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    repeat: Option<u8>,
    /// Wait this long on each connection and list once more, for lists that change after a while
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=600))]
    settle: Option<u64>,
    /// The client that the server sees: claude-code, claude-desktop, codex, cursor, gemini-cli, mcp-inspector, vscode,
    /// windsurf or zed with what it announces, or any other name
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The client capabilities that the server sees, such as roots,sampling (`none` for none)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    capabilities: Option<Vec<String>>,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

/// What a server may touch.
#[derive(Debug, Args)]
struct SandboxArgs {
    /// Limit the files that the server may touch (fs), and take the network away too (strict); Linux
    #[arg(long, value_name = "LEVEL", value_parser = words::words::<crate::launch::sandbox::Level>(crate::launch::sandbox::Level::ALL, crate::launch::sandbox::Level::word))]
    sandbox: Option<crate::launch::sandbox::Level>,
    /// Do not start a server that cannot be limited so on this machine
    #[arg(long)]
    sandbox_required: bool,
    /// What the workflow asks for, which a configuration in a pull request can raise and not lower
    #[arg(skip)]
    at_least: crate::launch::sandbox::Level,
}

impl SandboxArgs {
    /// With what the configuration says.
    fn with(
        &self,
        configured: Option<crate::launch::sandbox::Level>,
        required: bool,
    ) -> crate::launch::sandbox::Sandbox {
        crate::launch::sandbox::Sandbox {
            level: self
                .sandbox
                .or(configured)
                .unwrap_or_default()
                .max(self.at_least),
            required: self.sandbox_required || required,
            unwatched: false,
        }
    }
}

/// What fails.
#[derive(Debug, Args)]
struct PolicyArgs {
    /// The lowest level that fails
    #[arg(long, value_name = "LEVEL", value_parser = words::words::<crate::policy::FailOn>(crate::policy::FailOn::ALL, crate::policy::FailOn::word))]
    fail_on: Option<crate::policy::FailOn>,
    /// The lowest exposure that fails
    #[arg(long, value_name = "EXPOSURE", value_parser = words::words::<crate::judgement::Exposure>(crate::judgement::Exposure::ALL, crate::judgement::Exposure::word))]
    fail_on_exposure: Option<crate::judgement::Exposure>,
    /// What happens when a known component changed or vanished
    #[arg(long, value_name = "ACTION", value_parser = words::words::<crate::policy::Enforcement>(crate::policy::Enforcement::ALL, crate::policy::Enforcement::word))]
    enforcement: Option<crate::policy::Enforcement>,
    /// What happens with a component that the baseline does not know [default: as --enforcement]
    #[arg(long, value_name = "ACTION", value_parser = words::unknown())]
    unknown: Option<crate::policy::Unknown>,
}

/// Where the report goes, and how it looks.
#[derive(Debug, Args)]
struct ReportArgs {
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    format: Format,
    /// Write a report to a file too (may be repeated)
    #[arg(long, value_name = "FORMAT=FILE", value_parser = words::report_file)]
    report: Vec<(Format, PathBuf)>,
    /// Say only what is not in order; no progress
    #[arg(short, long)]
    quiet: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Debug, Args)]
struct DiffArgs {
    /// A baseline, a capture, a saved tools/list result, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    old: String,
    /// The same
    new: String,
    /// Of sources with several servers, compare this one
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
struct FingerprintArgs {
    /// A baseline, a capture, a saved tools/list result, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    source: String,
    /// The digest scheme
    #[arg(long, default_value = "keel", value_parser = words::words::<crate::interop::Profile>(crate::interop::Profile::ALL, crate::interop::Profile::word))]
    profile: crate::interop::Profile,
    /// Members that the fastmcp profile covers beside the key and inputSchema
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = words::words::<crate::interop::fastmcp::Field>(crate::interop::fastmcp::Field::ALL, crate::interop::fastmcp::Field::word))]
    fields: Vec<crate::interop::fastmcp::Field>,
    /// Of a source with several servers, this one
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = JsonOnly::Json)]
    format: JsonOnly,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
struct ScanArgs {
    /// A baseline, a capture, a saved tools/list result, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    source: String,
    /// Whose findings: ours, or exactly those of ToolPin
    #[arg(long, value_enum, default_value_t = ScanProfile::Keel)]
    profile: ScanProfile,
    /// Of a source with several servers, this one
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = Answer::Terminal)]
    format: Answer,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
struct ImportArgs {
    /// A FastMCP manifest, MCP Hangar's pins, an mcp-lock.json, a .mcpc.json, a snapshot, a folder of toolsnaps
    file: PathBuf,
    /// The baseline to write
    #[arg(short, long, value_name = "BASELINE", default_value = crate::baseline::DEFAULT_PATH)]
    output: PathBuf,
    /// The name of the server in the baseline
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// For a file that stores digests only: a source with the definitions, which must have those digests
    #[arg(long, value_name = "SOURCE")]
    with: Option<String>,
    /// Replace a baseline that is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Verify this lock of ToolPin (mcp-lock.json, or the draft mcp-lock/1) instead of servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["servers", "command", "baseline", "config"])]
    lock: Option<PathBuf>,
    /// The digest that the whole lock must have, from outside of what is being reviewed
    #[arg(long, value_name = "DIGEST", requires = "lock")]
    expect_digest: Option<String>,
    /// Verify the lock's ed25519 signature with this key (PEM), from outside of what is being reviewed
    #[arg(long, value_name = "FILE", requires = "lock")]
    public_key: Option<PathBuf>,
    /// The signature [default: mcp-lock.sig beside the lock]
    #[arg(long, value_name = "FILE", requires = "public_key")]
    signature: Option<PathBuf>,
    /// ToolPin's policy file, which the signature covers [default: .toolpin/policy.json, if it is there]
    #[arg(long, value_name = "FILE", requires = "public_key")]
    toolpin_policy: Option<PathBuf>,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = Answer::Terminal)]
    format: Answer,
}

#[derive(Debug, Subcommand)]
enum ChainCommand {
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
struct FreezeArgs {
    #[command(flatten)]
    chain: ChainArgs,
    /// The lockfile; without it the tool, `@`, its version and .lock.json beside the first file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Put the hash of the chain into the lockfile's default name
    #[arg(long, conflicts_with = "output")]
    chain_hash: bool,
    /// The time to write, as Python's isoformat() [default: now; an unchanged chain keeps the time that it has]
    #[arg(long, value_name = "TIME")]
    generated_at: Option<String>,
    /// The registry that the chain came from
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
}

#[derive(Debug, Args)]
struct ChainArgs {
    /// A resolved chain, a lockfile (then its manifests, if they are elsewhere), or manifests from the tool to its
    /// primitive; one manifest alone is followed through its executor
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What the digest of a link covers of a file [default: whichever of the two the chain was made with]
    #[arg(long, value_name = "VARIANT", value_parser = words::words::<crate::interop::kiwi::Variant>(crate::interop::kiwi::Variant::ALL, crate::interop::kiwi::Variant::word))]
    variant: Option<crate::interop::kiwi::Variant>,
    /// A chain that does not end in a primitive fails (freeze is always so, unless --lenient)
    #[arg(long, conflicts_with = "lenient")]
    strict: bool,
    /// A parent without a schema for its child is only a warning
    #[arg(long)]
    lenient: bool,
    /// Do not compare digests
    #[arg(long)]
    skip_integrity: bool,
    /// Do not let parents judge their children
    #[arg(long)]
    skip_validation: bool,
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = Answer::Terminal)]
    format: Answer,
}

#[derive(Debug, Args)]
struct IntegrityArgs {
    /// JSON or YAML with tool_id, version, manifest and files
    file: PathBuf,
    /// What the digest covers of a file
    #[arg(long, value_name = "VARIANT", default_value = "current", value_parser = words::words::<crate::interop::kiwi::Variant>(crate::interop::kiwi::Variant::ALL, crate::interop::kiwi::Variant::word))]
    variant: crate::interop::kiwi::Variant,
    /// The digest is the same text in both formats
    #[arg(long, value_enum, default_value_t = Answer::Terminal)]
    format: Answer,
}

#[derive(Debug, Args)]
struct RulesArgs {
    /// The format on stdout
    #[arg(long, value_enum, default_value_t = RulesFormat::Terminal)]
    format: RulesFormat,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// Be the server instead
    #[arg(long, hide = true, value_enum)]
    serve: Option<Edition>,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Edition {
    Pinned,
    Drifted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Terminal,
    /// Everything, versioned
    Json,
    /// For a comment or a job summary
    Markdown,
    /// One page that needs nothing else
    Html,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test results
    Junit,
    /// Workflow commands, for annotations
    Github,
    /// GitLab Code Quality
    Gitlab,
    /// `pin` only: write a ToolPin lock, and report on the terminal
    #[value(hide = true, name = "toolpin")]
    ToolPin,
}

/// For commands whose output is JSON anyway, so that scripts can say so everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum JsonOnly {
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScanProfile {
    Keel,
    #[value(name = "toolpin")]
    ToolPin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    Terminal,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RulesFormat {
    Terminal,
    Json,
    Markdown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemaName {
    Baseline,
    Report,
    Config,
}

/// Runs what was typed and returns the exit code. Errors are printed here, on stderr.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version come this way too, with code 0. A closed pipe is nobody's problem.
            let _ = usage.print();
            return u8::try_from(usage.exit_code()).unwrap_or(2);
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::complain(&format!("error: cannot start: {error}"));
            return Exit::Undetermined.code();
        }
    };
    interrupt::watch();
    let code = runtime.block_on(async {
        // Outside of `select!`, which would drop it, and with it kill the servers, before they are asked to end.
        let mut running = std::pin::pin!(run(cli.command));
        tokio::select! {
            // A signal first: the other thread may have ended the server by now, which is then no finding.
            biased;
            code = crate::launch::interrupted() => {
                interrupt::end().await;
                u8::try_from(code).unwrap_or(130)
            }
            outcome = &mut running => match outcome {
                Ok(exit) => exit.code(),
                Err(error) => {
                    output::complain(&error.to_string());
                    error.exit().code()
                }
            },
        }
    });
    // A blocking read of standard input must not hold up the end.
    runtime.shutdown_background();
    code
}

async fn run(command: Command) -> Result<Exit, Error> {
    match command {
        Command::Check(args) => check::run(args).await,
        Command::Pin(args) => pin::run(args).await,
        Command::Capture(args) => capture::run(args).await,
        Command::Plan(args) => shards::plan(&args),
        Command::Merge(args) => shards::merge(&args),
        Command::Diff(args) => diff::run(args).await,
        Command::Fingerprint(args) => fingerprint::run(args).await,
        Command::Scan(args) => scan::run(args).await,
        Command::Import(args) => import::run(args).await,
        Command::Verify(args) => verify::run(&args),
        Command::Chain(command) => chain::run(command),
        Command::Rules(args) => reference::rules(args.format),
        Command::Explain { rule } => reference::explain(&rule),
        Command::Schema { format } => reference::schema(format),
        Command::Action => action::run().await,
        Command::Demo(args) => demo::run(args).await,
        Command::Completions { shell } => reference::completions(shell, Cli::command()),
        Command::Man { command } => reference::man(command.as_deref(), Cli::command()),
    }
}
