//! What this machine has that tests need, asked of the machine and never of the program under test.
//!
//! A test that cannot look must not pass. Where something is missing it fails, unless `MCP_KEEL_WITHOUT` names it
//! (`MCP_KEEL_WITHOUT=sandbox cargo test`): then it says that it was skipped, past the capturing of the test harness.

use std::path::PathBuf;
use std::process::Command;

/// Whether the kernel can limit a process as `--sandbox strict` promises.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn has_sandbox() -> bool {
    use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _};
    use landlock::{Ruleset, RulesetAttr as _};
    // The first version that covers every way to change a file. Creating a set of rules limits nobody yet.
    let landlock = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V3))
        .and_then(|it| it.create());
    let actions = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    let actions = actions.unwrap_or_default();
    if let Err(error) = landlock {
        return is_skipped("sandbox", &format!("this kernel has no Landlock: {error}"));
    }
    if !actions.split_whitespace().any(|it| it == "errno") {
        return is_skipped("sandbox", "this kernel has no seccomp filters");
    }
    true
}

/// `false` where the person who runs the tests has said that this is missing; otherwise the test fails.
#[cfg(target_os = "linux")]
#[track_caller]
fn is_skipped(what: &str, why: &str) -> bool {
    let without = std::env::var("MCP_KEEL_WITHOUT").unwrap_or_default();
    assert!(
        without.split(',').any(|it| it == what),
        "{why}. There is nothing to test here: MCP_KEEL_WITHOUT={what} skips the tests that need it"
    );
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("SKIPPED: {why}\n"));
    false
}

/// The folder that a variable names, for tests that are ignored without it.
#[track_caller]
pub(crate) fn folder_of(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| panic!("this test reads the folder that {variable} names"));
    assert!(
        folder.is_dir(),
        "{variable}={} is no folder",
        folder.display()
    );
    folder
}

/// Runs git in a folder, with nothing of this machine's configuration, and returns what it prints. It must succeed.
#[track_caller]
pub(crate) fn git(folder: &std::path::Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("the tests need git");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Makes a folder a repository with one commit of everything in it, and returns its id.
#[track_caller]
pub(crate) fn repository(folder: &std::path::Path) -> String {
    git(folder, &["init", "-q"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "-qm", "one"]);
    git(folder, &["rev-parse", "HEAD"])
}
