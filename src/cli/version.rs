//! What `--version` prints: besides the version, the commit and the build, so that a bug report names one binary.

use std::sync::LazyLock;

/// The version alone, as `-V` and the manual page have it.
pub(super) const SHORT: &str = env!("CARGO_PKG_VERSION");

/// The commit and its day, from `.ci/release`. Anyone else builds from sources whose commit is not known here: a build
/// script that asked git would run for everyone who installs from a registry.
const COMMIT: Option<&str> = option_env!("MCP_KEEL_COMMIT");

/// `0.1.0 (1a2b3c4d5e6f 2026-11-16; x86_64 linux, static)`
pub(super) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| format!("{SHORT} ({})", build(COMMIT)));
    LONG.as_str()
}

fn build(commit: Option<&str>) -> String {
    let mut build = format!(
        "{}; {} {}",
        commit.unwrap_or("built from source"),
        std::env::consts::ARCH,
        std::env::consts::OS
    );
    if cfg!(target_feature = "crt-static") {
        build.push_str(", static");
    }
    if cfg!(debug_assertions) {
        build.push_str(", debug");
    }
    build
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_binary_names_its_commit_and_another_one_says_that_it_was_built_from_source() {
        let machine = format!("; {} {}", std::env::consts::ARCH, std::env::consts::OS);
        assert!(
            build(Some("1a2b3c4d5e6f 2026-11-16"))
                .starts_with(&format!("1a2b3c4d5e6f 2026-11-16{machine}"))
        );
        assert!(build(None).starts_with(&format!("built from source{machine}")));
        assert!(long().starts_with(&format!("{SHORT} (")));
    }
}
