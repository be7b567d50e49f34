//! What can be typed: the flags of every command, and nothing about what they do.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::flags::{
    Flags, OfCheck, OfConfig, OfDecide, OfDiff, OfPending, OfPin, OfPlan, OfReport, OfServers,
    OfSource,
};
use super::value_parsers;
use super::version;
use crate::run::init::Ci;
use crate::settings::MOST_PARTS;

/// Keeps an MCP server's contract from drifting.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-keel",
    version = version::SHORT,
    long_version = version::long(),
    max_term_width = 100,
    after_help = "Exit codes: 0 pass, 1 drift blocked, 2 wrong usage, configuration or baseline,\n\
                  3 a server could not be captured, 4 verification of bytes failed."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Set up this folder: find how its server starts, write configuration, baseline and CI
    Init(InitArgs),
    /// Boot servers, compare them with the committed baseline, and report
    Check(Flags<OfCheck>),
    /// Capture servers and write the baseline
    Pin(PinArgs),
    /// List the changes that are neither pinned nor accepted, with their ids
    Pending(PendingArgs),
    /// Accept single changes: writes [[accept]] entries into the configuration
    Accept(AcceptArgs),
    /// Reject single changes, which then block whatever the policy's thresholds say
    Reject(RejectArgs),
    /// Print the settings in force, and where each of them comes from
    Config(ConfigArgs),
    /// Print what a server tells its clients, exactly as sent, as JSON
    Capture(CaptureArgs),
    /// List, remove or rename entries of the baseline
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Go through the changes on a terminal, and accept, reject or skip each
    Review(ReviewArgs),
    /// List the commits that changed the contract, or one tool of it
    Log(LogArgs),
    /// Write release notes from the changes between two revisions
    Changelog(ChangelogArgs),
    /// Show a change of the baseline: a diff and textconv driver for git
    GitDiff {
        /// As git passes them
        #[arg(required = true, num_args = 1.., value_name = "ARGUMENT", allow_hyphen_values = true)]
        arguments: Vec<PathBuf>,
    },
    /// Merge two versions of the baseline: a merge driver for git
    GitMerge {
        /// The common ancestor (%O)
        ancestor: PathBuf,
        /// Our version, which gets the result (%A)
        ours: PathBuf,
        /// Their version (%B)
        theirs: PathBuf,
        /// The name of the file (%P)
        path: Option<String>,
    },
    /// List which servers each part of a run checks (`check --shard I/N`)
    Plan(PlanArgs),
    /// Join the JSON reports of the parts of a run into one report and one verdict
    Merge(MergeArgs),
    /// Compare two sources
    Diff(DiffArgs),
    /// Print a digest of every component of a source
    Fingerprint(FingerprintArgs),
    /// Scan descriptions for text a reviewer should see before a model does
    Scan(ScanArgs),
    /// Turn another tool's file into a baseline, and list what could not be converted
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
    /// Print the JSON Schema of one of mcp-keel's formats
    Schema {
        /// Which format
        format: SchemaName,
    },
    /// Run as the GitHub Action: inputs from INPUT_*, context from GITHUB_*
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
        /// Limit the page to one command
        command: Option<String>,
    },
}

/// `mcp-keel pin`
#[derive(Debug, Args)]
pub(super) struct PinArgs {
    #[command(flatten)]
    pub(super) flags: Flags<OfPin>,
    /// Write the command or address to the configuration, so that `mcp-keel check` needs no arguments
    #[arg(long)]
    pub(super) save: bool,
    /// Remove entries of servers that the configuration no longer has
    #[arg(long)]
    pub(super) prune: bool,
    /// Replace an entry that was changed by hand
    #[arg(long)]
    pub(super) force: bool,
    /// Ask nothing, and pin on the default branch in CI too
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Sign the ToolPin lock that is written, with this private key (ed25519, PKCS#8 in PEM)
    #[arg(long, value_name = "FILE")]
    pub(super) sign_key: Option<PathBuf>,
    /// Write the signature to this file [default: mcp-lock.sig next to the lock]
    #[arg(long, value_name = "FILE", requires = "sign_key")]
    pub(super) signature: Option<PathBuf>,
    /// The ToolPin policy that the signature covers [default: .toolpin/policy.json, if it exists]
    #[arg(long, value_name = "FILE", requires = "sign_key")]
    pub(super) toolpin_policy: Option<PathBuf>,
}

/// `mcp-keel pending`
#[derive(Debug, Args)]
pub(super) struct PendingArgs {
    /// Read the JSON report of an earlier check instead of booting servers
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(super) report: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
    #[command(flatten)]
    pub(super) flags: Flags<OfPending>,
}

/// Which changes `accept` and `reject` are about.
#[derive(Debug, Args)]
pub(super) struct SelectionArgs {
    /// Ids of changes, as a report and `mcp-keel pending` show them
    #[arg(value_name = "ID", required_unless_present = "all")]
    pub(super) ids: Vec<String>,
    /// Why; it is shown beside the change
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: String,
    /// Who answers for it [default: git's user.name]
    #[arg(long, value_name = "NAME")]
    pub(super) owner: Option<String>,
    /// Every pending change, or every one of --rule, --tool and --server
    #[arg(long)]
    pub(super) all: bool,
    /// With --all: only changes of this rule (repeatable)
    #[arg(long, value_name = "RULE", requires = "all")]
    pub(super) rule: Vec<String>,
    /// With --all: only changes of this tool, or of a component's key (repeatable)
    #[arg(long, value_name = "NAME", requires = "all")]
    pub(super) tool: Vec<String>,
    /// Only this server (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(super) server: Vec<String>,
    /// Read the JSON report of an earlier check instead of booting servers
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(super) report: Option<PathBuf>,
}

/// `mcp-keel accept`
#[derive(Debug, Args)]
pub(super) struct AcceptArgs {
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    /// The last day of the acceptance, such as 2027-01-31, or a number of days such as 30d
    #[arg(long, value_name = "DATE")]
    pub(super) until: Option<String>,
    #[command(flatten)]
    pub(super) flags: Flags<OfDecide>,
}

/// `mcp-keel reject`
#[derive(Debug, Args)]
pub(super) struct RejectArgs {
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    #[command(flatten)]
    pub(super) flags: Flags<OfDecide>,
}

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// List the servers of the baseline
    List(BaselineListArgs),
    /// Remove a server's entry
    Remove {
        /// The name of the entry
        name: String,
        #[command(flatten)]
        place: BaselinePlace,
    },
    /// Rename a server's entry
    Rename {
        /// The name of the entry
        old: String,
        /// Its new name
        new: String,
        #[command(flatten)]
        place: BaselinePlace,
    },
}

#[derive(Debug, Args)]
pub(super) struct BaselineListArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
    #[command(flatten)]
    pub(super) place: BaselinePlace,
}

/// Where the baseline is.
#[derive(Debug, Args)]
pub(super) struct BaselinePlace {
    /// The baseline [default: that of the configuration, else mcp-baseline.json]
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// The configuration [default: mcp-keel.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

/// `mcp-keel plan`
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) flags: Flags<OfPlan>,
    /// The number of parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_PARTS)))]
    pub(super) shards: u16,
    /// The output format
    #[arg(long, value_enum, default_value_t = PlanFormat::Terminal)]
    pub(super) format: PlanFormat,
}

/// `mcp-keel merge`
#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// JSON reports, or folders that contain only JSON reports
    #[arg(required = true, value_name = "REPORT")]
    pub(super) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) flags: Flags<OfReport>,
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

/// `mcp-keel config`
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    pub(super) flags: Flags<OfConfig>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
}

#[derive(Debug, Args)]
pub(super) struct CaptureArgs {
    #[command(flatten)]
    pub(super) flags: Flags<OfServers>,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Show no progress
    #[arg(short, long)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// A baseline, a capture, a list of tools, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    pub(super) old: String,
    /// As OLD
    pub(super) new: String,
    /// The server to compare, if the sources have several
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    #[command(flatten)]
    pub(super) flags: Flags<OfDiff>,
}

#[derive(Debug, Args)]
pub(super) struct FingerprintArgs {
    /// A baseline, a capture, a list of tools, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    pub(super) source: String,
    /// The digest scheme
    #[arg(long, default_value = "keel", value_parser = value_parsers::keyword::<crate::interop::Profile>(crate::interop::Profile::ALL, crate::interop::Profile::word))]
    pub(super) profile: crate::interop::Profile,
    /// Members that the fastmcp profile covers in addition to the key and inputSchema
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = value_parsers::keyword::<crate::interop::fastmcp::Field>(crate::interop::fastmcp::Field::ALL, crate::interop::fastmcp::Field::word))]
    pub(super) fields: Vec<crate::interop::fastmcp::Field>,
    /// The server to use, if the source has several
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = JsonOnly::Json)]
    pub(super) format: JsonOnly,
    #[command(flatten)]
    pub(super) flags: Flags<OfSource>,
}

#[derive(Debug, Args)]
pub(super) struct ScanArgs {
    /// A baseline, a capture, a list of tools, `-`, git:REF:PATH, stdio:COMMAND or the URL of a server
    pub(super) source: String,
    /// The rule set to scan with
    #[arg(long, value_enum, default_value_t = ScanProfile::Keel)]
    pub(super) profile: ScanProfile,
    /// The server to use, if the source has several
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
    #[command(flatten)]
    pub(super) flags: Flags<OfSource>,
}

#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    /// A list of tools as a test keeps it (a file, a folder with one file a tool, -), mcpdesc, or the file of another tool
    pub(super) file: String,
    /// The baseline to write
    #[arg(short, long, value_name = "BASELINE", default_value = crate::baseline::DEFAULT_PATH)]
    pub(super) output: PathBuf,
    /// The name of the server in the baseline [default: as the file calls it]
    #[arg(long, value_name = "NAME")]
    pub(super) server: Option<String>,
    /// For a file that stores digests only: a source with the definitions, which must have those digests
    #[arg(long, value_name = "SOURCE")]
    pub(super) with: Option<String>,
    /// Replace an existing baseline
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) flags: Flags<OfSource>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    pub(super) flags: Flags<OfServers>,
    /// Verify this lock of ToolPin (mcp-lock.json, or the draft mcp-lock/1) instead of servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["servers", "command", "baseline", "config"])]
    pub(super) lock: Option<PathBuf>,
    /// The digest that the whole lock must have, from a source other than the reviewed change
    #[arg(long, value_name = "DIGEST", requires = "lock")]
    pub(super) expect_digest: Option<String>,
    /// Verify the lock's ed25519 signature with this public key (PEM), from a source other than the reviewed change
    #[arg(long, value_name = "FILE", requires = "lock")]
    pub(super) public_key: Option<PathBuf>,
    /// The file of the signature [default: mcp-lock.sig next to the lock]
    #[arg(long, value_name = "FILE", requires = "public_key")]
    pub(super) signature: Option<PathBuf>,
    /// The ToolPin policy that the signature covers [default: .toolpin/policy.json, if it exists]
    #[arg(long, value_name = "FILE", requires = "public_key")]
    pub(super) toolpin_policy: Option<PathBuf>,
    /// The output format
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
    /// The lockfile [default: TOOL@VERSION.lock.json next to the first file]
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Put the hash of the chain into the lockfile's default name
    #[arg(long, conflicts_with = "output")]
    pub(super) chain_hash: bool,
    /// The time to write, as Python's isoformat() [default: now; an unchanged chain keeps its time]
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
    /// Which parts of a file the digest of a link covers [default: the variant that the chain was made with]
    #[arg(long, value_name = "VARIANT", value_parser = value_parsers::keyword::<crate::interop::kiwi::Variant>(crate::interop::kiwi::Variant::ALL, crate::interop::kiwi::Variant::word))]
    pub(super) variant: Option<crate::interop::kiwi::Variant>,
    /// Fail if the chain does not end in a primitive (always for freeze, unless --lenient)
    #[arg(long, conflicts_with = "lenient")]
    pub(super) strict: bool,
    /// Only warn about a parent without a schema for its child
    #[arg(long)]
    pub(super) lenient: bool,
    /// Do not compare digests
    #[arg(long)]
    pub(super) skip_integrity: bool,
    /// Do not validate children against their parents
    #[arg(long)]
    pub(super) skip_validation: bool,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
}

#[derive(Debug, Args)]
pub(super) struct IntegrityArgs {
    /// JSON or YAML with tool_id, version, manifest and files
    pub(super) file: PathBuf,
    /// Which parts of a file the digest covers
    #[arg(long, value_name = "VARIANT", default_value = "current", value_parser = value_parsers::keyword::<crate::interop::kiwi::Variant>(crate::interop::kiwi::Variant::ALL, crate::interop::kiwi::Variant::word))]
    pub(super) variant: crate::interop::kiwi::Variant,
    /// The digest is the same text in both formats
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
}

#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t = RulesFormat::Terminal)]
    pub(super) format: RulesFormat,
}

#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Run the demo server instead
    #[arg(long, hide = true, value_enum)]
    pub(super) serve: Option<Edition>,
    #[command(flatten)]
    pub(super) flags: Flags<OfReport>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Edition {
    Pinned,
    Drifted,
}

/// For commands whose output is always JSON, so that scripts can use the same flag everywhere.
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

/// The format of commands that do not report drift.
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
pub(super) enum SchemaName {
    Baseline,
    Report,
    Config,
}

/// `mcp-keel init`
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The command that starts the server, if it cannot be found
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Ask nothing: take the first command that starts a server
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Which CI to write a file for [default: gitlab if there is a .gitlab-ci.yml, else github]
    #[arg(long, value_parser = value_parsers::keyword(Ci::ALL, Ci::word))]
    pub(super) ci: Option<Ci>,
    /// Write .pre-commit-config.yaml as well
    #[arg(long)]
    pub(super) pre_commit: bool,
    /// Make these owners of the baseline and the configuration in CODEOWNERS
    #[arg(long, value_name = "OWNERS")]
    pub(super) codeowners: Option<String>,
    /// Replace files that exist
    #[arg(long)]
    pub(super) force: bool,
    /// Set an environment variable for the server (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = value_parsers::pair)]
    pub(super) env: Vec<(String, String)>,
    /// Pass this environment variable to the server (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(super) pass_env: Vec<String>,
}

/// `mcp-keel review`
#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// Who answers for acceptances [default: git's user.name]
    #[arg(long, value_name = "NAME")]
    pub(super) owner: Option<String>,
    #[command(flatten)]
    pub(super) flags: Flags<OfPending>,
}

/// `mcp-keel log`
#[derive(Debug, Args)]
pub(super) struct LogArgs {
    /// Only this tool, or the component with this key
    #[arg(value_name = "TOOL")]
    pub(super) tool: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Terminal)]
    pub(super) format: TextOrJson,
    #[command(flatten)]
    pub(super) place: BaselinePlace,
}

/// `mcp-keel changelog`
#[derive(Debug, Args)]
pub(super) struct ChangelogArgs {
    /// Two revisions, such as v1.2.0..v1.3.0; without the second one, up to the working folder
    #[arg(value_name = "FROM..TO")]
    pub(super) range: String,
    /// How to write them
    #[arg(long, default_value = "markdown", value_parser = value_parsers::keyword::<crate::report::changelog::ChangelogStyle>(crate::report::changelog::ChangelogStyle::ALL, crate::report::changelog::ChangelogStyle::word))]
    pub(super) style: crate::report::changelog::ChangelogStyle,
    #[command(flatten)]
    pub(super) place: BaselinePlace,
}
