//! Detached signatures of a ToolPin lock: signatures by ToolPin are accepted, ours are byte for
//! byte what ToolPin would write, and tampering is rejected in its words
//! (`fixtures/golden/toolpin_signatures.json`).

use std::path::Path;
use std::time::Duration;

use mcp_keel::canonical::{Json, parse, parse_str};
use mcp_keel::interop::toolpin::ToolPinLock;
use mcp_keel::interop::toolpin::policy_file;
use mcp_keel::interop::toolpin::signature::{Covered, Envelope, PrivateKey, PublicKey, Schema};

use crate::interop::conventions::{rows, text};
use crate::keel::{Keel, serving};

fn vectors() -> Json {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/golden/toolpin_signatures.json");
    parse(&std::fs::read(path).unwrap()).unwrap()
}

fn digest(raw: &str) -> String {
    let document = parse_str(raw).unwrap();
    let lock = ToolPinLock::read(&document, "<path>").unwrap();
    lock.digest().unwrap()
}

/// The digest of the policy that a row names.
fn policy(file: &Json, row: &Json) -> Option<String> {
    let id = row.get("policy")?.as_str()?;
    let mut policies = rows(file, "policies").iter();
    let policy = policies.find(|it| text(it, "id") == id).unwrap();
    Some(text(policy, "digest").to_owned())
}

fn key_file(file: &Json, name: &str, half: &str) -> tempfile::NamedTempFile {
    let pem = file.get("keys").and_then(|it| it.get(name)).unwrap();
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), text(pem, half)).unwrap();
    key
}

fn public(file: &Json, name: &str) -> PublicKey {
    PublicKey::read(key_file(file, name, "public").path()).unwrap()
}

/// `2026-10-14T09:08:07.006Z` as a time since 1970.
fn since_1970(time: &str) -> Duration {
    let number = |from: usize, to: usize| time[from..to].parse::<u64>().unwrap();
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    // Days from civil, for years after 1970.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + number(11, 13) * 3600 + number(14, 16) * 60 + number(17, 19);
    Duration::from_millis(seconds * 1000 + number(20, 23))
}

#[test]
fn the_policy_file_has_toolpins_digest_and_errors() {
    let file = vectors();
    for row in rows(&file, "policies") {
        let document = parse_str(text(row, "raw")).unwrap();
        assert_eq!(
            policy_file::digest(&document, "<path>").unwrap(),
            text(row, "digest"),
            "{}",
            text(row, "id")
        );
    }
    for row in rows(&file, "refused_policies") {
        let document = parse_str(text(row, "raw")).unwrap();
        let error = policy_file::digest(&document, "<path>").unwrap_err();
        assert_eq!(error.to_string(), text(row, "error"), "{}", text(row, "id"));
    }
}

#[test]
fn our_signatures_match_toolpins() {
    let file = vectors();
    for row in rows(&file, "signed") {
        let theirs = text(row, "envelope");
        let covered = Covered {
            schema: Schema::ToolPin,
            lock: digest(text(&file, "lock")),
            policy: policy(&file, row),
        };
        let document = parse_str(theirs).unwrap();
        let now = since_1970(text(&document, "signedAt"));
        let key = PrivateKey::read(key_file(&file, text(row, "key"), "private").path()).unwrap();
        let ours = Envelope::sign(&covered, &key, now).unwrap();
        assert_eq!(ours.to_text(), theirs, "{}", text(row, "id"));
    }
}

#[test]
fn signatures_are_verified_with_toolpins_results() {
    let file = vectors();
    for row in rows(&file, "verified") {
        let id = text(row, "id");
        let covered = Covered {
            schema: Schema::ToolPin,
            lock: digest(text(&file, text(row, "lock"))),
            policy: policy(&file, row),
        };
        let document = parse_str(text(row, "envelope")).unwrap();
        let envelope = Envelope::from_json(&document, "<path>", Schema::ToolPin).unwrap();
        let problem = envelope.problem(&covered, &public(&file, text(row, "key")));
        let expected = match row.get("ok") {
            Some(Json::Bool(true)) => None,
            _ => Some(text(row, "message").to_owned()),
        };
        assert_eq!(problem.unwrap(), expected, "{id}");
    }
    for row in rows(&file, "refused_envelopes") {
        let document = parse_str(text(row, "envelope")).unwrap();
        let error = Envelope::from_json(&document, "<path>", Schema::ToolPin).unwrap_err();
        assert_eq!(error.to_string(), text(row, "error"), "{}", text(row, "id"));
    }
}

#[test]
fn the_drafts_own_vector_verifies() {
    // From the fixtures of the draft mcp-lock/1.
    let envelope = parse_str(
        r#"{"schema":"mcp-lock-signature","version":1,"algorithm":"ed25519",
            "lockfileDigest":"sha256-hDXbW/JOOwyIjQK3UzkNQw39rrvqQgwzuwEqxVO+atg=",
            "policyDigest":"sha256-+yE+TFdV1p+a0Xg9KRk+L+yVKO33UfKk3nPW39HqUDI=",
            "publicKeyFingerprint":"sha256-nR1xVXWS38aTJYIRol9+L91TyGO7JiYnaeD7toPLCNE=",
            "signedAt":"2026-07-07T12:00:01.000Z",
            "signature":"ofrpbMls3H7hU4S0cH5rOEsruWXsJ6Wgv+PPKqTPy80+LSlydkHde5HYSjTw10LaT8/ixtb7P33WyOrKilbcDg=="}"#,
    )
    .unwrap();
    let key = tempfile::NamedTempFile::new().unwrap();
    let pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAYKDeXBMUZgUMaTzVBvX7eYVZ+Qgelsc8pV5r2hDzuTE=\n-----END PUBLIC KEY-----\n";
    std::fs::write(key.path(), pem).unwrap();
    let key = PublicKey::read(key.path()).unwrap();
    let mut covered = Covered {
        schema: Schema::Draft,
        lock: "sha256-hDXbW/JOOwyIjQK3UzkNQw39rrvqQgwzuwEqxVO+atg=".to_owned(),
        policy: Some("sha256-+yE+TFdV1p+a0Xg9KRk+L+yVKO33UfKk3nPW39HqUDI=".to_owned()),
    };
    let envelope = Envelope::from_json(&envelope, "<path>", Schema::Draft).unwrap();
    assert_eq!(envelope.problem(&covered, &key).unwrap(), None);
    covered.policy = None;
    assert!(envelope.problem(&covered, &key).unwrap().is_some());
    // A signature of one form is not valid in the other.
    let document = parse_str(&envelope.to_text()).unwrap();
    assert!(Envelope::from_json(&document, "<path>", Schema::ToolPin).is_err());
}

#[test]
fn a_key_is_a_regular_file_with_an_ed25519_key_and_is_never_shown() {
    let file = vectors();
    let folder = tempfile::tempdir().unwrap();
    let private = text(file.get("keys").unwrap().get("one").unwrap(), "private");
    let refused = |name: &str, content: &str, says: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let private = PrivateKey::read(&path).err().unwrap().to_string();
        let public = PublicKey::read(&path).err().unwrap().to_string();
        assert!(private.contains(says), "{name}: {private}");
        for (line, text) in content
            .lines()
            .filter(|it| it.len() > 20 && !it.starts_with("--"))
            .flat_map(|line| [(line, &private), (line, &public)])
        {
            assert!(!text.contains(line), "{name} is shown: {text}");
        }
    };
    refused("empty.pem", "", "not a private key in PEM");
    refused(
        "cut.pem",
        &private[..private.len() - 30],
        "not a private key in PEM",
    );
    refused(
        "broken.pem",
        &private.replace("BEGIN PRIVATE KEY-----\n", "BEGIN PRIVATE KEY-----"),
        "not a private key in PEM",
    );
    refused(
        "x25519.pem",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIHcHbQpzGKV9PBbBclGyZkXfTC+H68CZKrF3+6UduSwq\n-----END PRIVATE KEY-----\n",
        "not an ed25519 one",
    );
    let error = PrivateKey::read(folder.path()).err().unwrap();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    #[cfg(unix)]
    {
        let fifo = folder.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        for error in [
            PrivateKey::read(&fifo).err().unwrap(),
            PublicKey::read(&fifo).err().unwrap(),
            Envelope::read(&fifo, Schema::ToolPin).err().unwrap(),
        ] {
            assert!(error.to_string().contains("not a regular file"), "{error}");
        }
    }
}

const TOOLS: &str =
    r#"[{"name":"read_file","description":"Reads a file.","inputSchema":{"type":"object"}}]"#;

#[test]
fn a_lock_is_signed_when_it_is_pinned_and_its_signature_is_verified_with_the_key() {
    let file = vectors();
    let keel = Keel::new();
    for name in ["one", "two"] {
        for half in ["private", "public"] {
            let pem = file.get("keys").and_then(|it| it.get(name)).unwrap();
            keel.write(&format!("{name}.{half}.pem"), text(pem, half));
        }
    }
    let [program, scenario] = serving(TOOLS);
    let pin = |flags: &[&str], tools: &str| {
        let [_, scenario] = serving(tools);
        let mut args = vec!["pin", "--format", "toolpin", "files"];
        args.extend(flags);
        args.extend(["--", &program, &scenario]);
        keel.run(&args)
    };
    let verify = |flags: &[&str]| {
        let mut args = vec!["verify", "--lock", "mcp-lock.json", "--format", "json"];
        args.extend(flags);
        keel.run(&args)
    };
    let status = |run: &crate::keel::Run| run.json()["signature"]["status"].clone();
    let signed = ["--sign-key", "one.private.pem"];
    let known = ["--public-key", "one.public.pem"];

    pin(&[], TOOLS).exits(0);
    assert_eq!(status(&verify(&[]).exits(0)), "absent");
    verify(&known).exits(4).says("mcp-lock.sig does not exist");

    pin(&signed, TOOLS).exits(0);
    assert_eq!(status(&verify(&[]).exits(0)), "unchecked");
    let valid = verify(&known).exits(0).json();
    assert_eq!(valid["signature"]["status"], "valid");
    let fingerprint = text(file.get("keys").unwrap().get("one").unwrap(), "fingerprint");
    assert_eq!(valid["signature"]["publicKeyFingerprint"], fingerprint);

    // An existing signature is not renewed: only the time would change.
    let before = keel.read("mcp-lock.sig");
    pin(&signed, TOOLS).exits(0);
    assert_eq!(keel.read("mcp-lock.sig"), before);

    let other = verify(&["--public-key", "two.public.pem"]).exits(4);
    let other = other.says("Public key fingerprint mismatch");
    assert_eq!(status(&other), "invalid");
    keel.write(".toolpin/policy.json", r#"{"version":1}"#);
    verify(&known).exits(4).says("Policy digest mismatch");
    pin(&signed, TOOLS).exits(0);
    verify(&known).exits(0);
    verify(&[
        "--public-key",
        "one.public.pem",
        "--toolpin-policy",
        "none.json",
    ])
    .exits(4)
    .says("current policy is no policy");

    // A changed lock is no longer covered until it is signed again.
    let drifted = TOOLS.replace("Reads a file.", "Reads any file.");
    pin(&[], &drifted)
        .exits(0)
        .says("mcp-lock.sig no longer covers mcp-lock.json");
    verify(&known).exits(4).says("Lockfile digest mismatch");
    pin(&["--sign-key", "two.private.pem"], &drifted).exits(0);
    verify(&["--public-key", "two.public.pem"]).exits(0);

    // A tampered signature, and one that is not a signature.
    let tampered = keel
        .read("mcp-lock.sig")
        .replace("\"signedAt\": \"2", "\"signedAt\": \"1");
    keel.write("mcp-lock.sig", &tampered);
    verify(&["--public-key", "two.public.pem"])
        .exits(4)
        .says("Signature verification failed.");
    keel.write("mcp-lock.sig", "{}");
    verify(&known)
        .exits(2)
        .says("Invalid lock signature schema in mcp-lock.sig: unsupported schema");

    // Keys are required where they are used, and an invalid lock is not signed.
    verify(&["--public-key", "one.private.pem"])
        .exits(2)
        .says("not a public key in PEM");
    pin(&["--sign-key", "one.public.pem"], &drifted)
        .exits(2)
        .says("not a private key in PEM");
    keel.run(&[
        "pin",
        "--sign-key",
        "one.private.pem",
        "--",
        &program,
        &scenario,
    ])
    .exits(2)
    .says("--sign-key signs a ToolPin lock");
    let lock = keel.read("mcp-lock.json");
    keel.write("mcp-lock.json", &lock.replace("Locked by", "Blessed by"));
    pin(&["--sign-key", "two.private.pem"], &drifted)
        .exits(2)
        .says("files:generic: locked entry integrity does not match its contents");
    assert_eq!(keel.read("mcp-lock.sig"), "{}");
}
