//! What tests need from this machine, probed on the machine and never through the program under
//! test.
//!
//! A test that cannot check must not pass. If something is missing it fails, unless
//! `MCP_KEEL_WITHOUT` names it (`MCP_KEEL_WITHOUT=sandbox cargo test`): then it prints that it was
//! skipped, bypassing the test harness's capture.

use std::path::PathBuf;
use std::process::Command;

/// Whether the kernel supports everything that `--sandbox strict` promises.
#[cfg(target_os = "linux")]
#[track_caller]
pub(crate) fn has_sandbox() -> bool {
    use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _};
    use landlock::{Ruleset, RulesetAttr as _};
    // The first version that covers every way to change a file. Creating a ruleset restricts
    // nothing yet.
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

/// `false` if the person running the tests declared it missing; otherwise the test fails.
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

/// What this thread starts from now on has not root's right to read every process: on a machine of
/// its own root has it, a runner's user and a container do not.
#[cfg(target_os = "linux")]
pub(crate) fn forgo_tracing() {
    use caps::{CapSet, Capability};
    let reading = [
        Capability::CAP_SYS_PTRACE,
        Capability::CAP_SYS_ADMIN,
        Capability::CAP_PERFMON,
    ];
    for right in reading {
        if caps::has_cap(None, CapSet::Permitted, right).expect("rights can be read") {
            let dropped = caps::drop(None, CapSet::Bounding, right);
            dropped.expect("root can give up its rights");
        }
    }
    let _ = caps::clear(None, CapSet::Ambient);
    let _ = caps::clear(None, CapSet::Inheritable);
}

/// The folder in a variable, for tests that are ignored without it.
#[track_caller]
pub(crate) fn folder_of(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| panic!("this test reads the folder that {variable} names"));
    assert!(
        folder.is_dir(),
        "{variable}={} is not a folder",
        folder.display()
    );
    folder
}

/// Runs git in a folder without this machine's configuration, and returns its output. It must
/// succeed.
#[track_caller]
pub(crate) fn git(folder: &std::path::Path, args: &[&str]) -> String {
    git_with(folder, &[], args)
}

/// [`git`] with variables.
#[track_caller]
pub(crate) fn git_with(folder: &std::path::Path, env: &[(&str, &str)], args: &[&str]) -> String {
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
        .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
        .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
        .stdin(std::process::Stdio::null())
        .envs(env.iter().copied())
        .output()
        .expect("the tests need git");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Makes a folder a repository with one commit of everything in it, and returns the commit id.
#[track_caller]
pub(crate) fn repository(folder: &std::path::Path) -> String {
    git(folder, &["init", "-q"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "-qm", "one"]);
    git(folder, &["rev-parse", "HEAD"])
}
