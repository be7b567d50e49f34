//! Bytes on disk, and launchers that fetch what they run.

/// What a launcher runs instead of one exact version.
pub(crate) fn unpinned(
    launcher: &str,
    target: &str,
    why: &str,
    write: &str,
    threats: &str,
) -> String {
    format!("`{launcher}` with `{target}` {why}: write {write} (threat: {threats})")
}

pub(crate) mod runs {
    //! What a launcher runs where a specifier names no exact version.

    pub(crate) fn branch_or_tag() -> String {
        "runs what the branch or tag points to when it starts".to_owned()
    }

    pub(crate) fn address() -> String {
        "runs whatever that address returns; nothing compares it with a digest".to_owned()
    }

    pub(crate) fn newest(of: &str) -> String {
        format!("runs the newest version in the {of}")
    }

    pub(crate) fn local_or_newest() -> String {
        "runs a local copy if there is one, else the newest version in the registry".to_owned()
    }

    pub(crate) fn latest() -> String {
        "runs the newest version (`latest`)".to_owned()
    }

    pub(crate) fn newest_that_fits(range: &str) -> String {
        format!("runs the newest version that fits `{range}`")
    }

    pub(crate) fn tag(tag: &str) -> String {
        format!("runs whatever the tag `{tag}` points to when it starts")
    }

    pub(crate) fn image_tag(tag: &str) -> String {
        format!("runs whatever the tag `{tag}` points to; a tag can be moved")
    }

    pub(crate) fn no_version() -> String {
        "names no version after its `@`".to_owned()
    }

    pub(crate) fn not_one_version(word: &str) -> String {
        format!("is followed by `{word}`, which is not one version")
    }

    pub(crate) fn not_a_digest() -> String {
        "has a digest that is not `sha256:` and 64 hexadecimal digits".to_owned()
    }

    pub(crate) fn unlocked_dependencies() -> String {
        "uses other versions of its dependencies if Cargo.lock is missing or does not match Cargo.toml"
            .to_owned()
    }
}

pub(crate) mod write {
    //! What to write instead.

    pub(crate) fn commit(repository: &str, mark: char) -> String {
        format!("{repository}{mark}COMMIT, with all 40 digits of the commit")
    }

    pub(crate) fn registry_version() -> String {
        "NAME@VERSION from a registry, or install it with a lockfile and start the file".to_owned()
    }

    pub(crate) fn exact_version(name: &str) -> String {
        format!("{name}@VERSION, all three numbers, such as {name}@1.2.3")
    }

    pub(crate) fn go_version(module: &str) -> String {
        format!("{module}@vX.Y.Z, all three numbers")
    }

    pub(crate) fn versioned_address() -> String {
        "an address with the version in it (…/NAME@v1.2.3/mod.ts), and --frozen with a deno.lock"
            .to_owned()
    }

    pub(crate) fn cargo_locked() -> String {
        "cargo run --locked, with a committed Cargo.lock".to_owned()
    }
}

pub(crate) fn old_checksum(line: usize) -> String {
    format!(
        "line {line} of the configuration uses the old spelling `checksum`: write [server.NAME.verify] with type = \"command\""
    )
}

pub(crate) fn sha1() -> String {
    "the bytes are verified with sha1, which is not collision-resistant".to_owned()
}

pub(crate) fn not_verified() -> String {
    "its bytes are deliberately not verified (verify.type = \"none\")".to_owned()
}

/// A checksum of a launcher, which protects from one threat and not from the other.
pub(crate) fn launcher_only(
    program: &str,
    protects: &str,
    target: &str,
    threat: &str,
    write: &str,
) -> String {
    format!(
        "incomplete protection: the checksum covers `{program}` itself (threat: {protects}), but not `{target}`, which it fetches (threat: {threat}). Write {write}"
    )
}
