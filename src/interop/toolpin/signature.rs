//! The detached signature of a lock, `mcp-lock.sig`: ed25519 over the digest of the lock, the
//! digest of a policy file, the fingerprint of the key and the time. Made and verified as ToolPin
//! 0.5 does, and in the form of the draft `mcp-lock/1`.
//!
//! A signature shows that the holder of a key saw this lock. It is worth something only if the
//! public key comes from somewhere other than the pull request that changes the lock.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};

use super::lock::LockError;
use super::write::iso_time;
use super::{canonical, policy_file};
use crate::canonical::{Json, Object, Text, parse, to_pretty};
use contract_locks::sri;

/// ToolPin's name for the file, next to the lock.
pub const FILE_NAME: &str = "mcp-lock.sig";

/// The DER prefix of the 32 bytes of an ed25519 key (SubjectPublicKeyInfo, RFC 8410).
const SPKI_PREFIX: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// Larger than any file with a key or a signature.
const MAX_BYTES: u64 = 64 * 1024;

/// The form of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// ToolPin's, for a lock of version 2.
    ToolPin,
    /// That of the draft `mcp-lock/1`.
    Draft,
}

impl Schema {
    fn name(self) -> &'static str {
        match self {
            Self::ToolPin => "dev.toolpin.lock-signature",
            Self::Draft => "mcp-lock-signature",
        }
    }

    fn version(self) -> i64 {
        match self {
            Self::ToolPin => 2,
            Self::Draft => 1,
        }
    }
}

/// Why a lock cannot be signed, or a signature cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    #[error("{}: cannot read it: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    /// Not the right kind of key. The content of the file is never shown.
    #[error("{}: {problem}", path.display())]
    Key {
        path: PathBuf,
        problem: &'static str,
    },
    /// An envelope or a policy that ToolPin would reject, in its words.
    #[error(transparent)]
    Unsound(#[from] LockError),
}

impl SignatureError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check the path and its permissions",
            Self::Key { .. } => {
                "make a pair with `openssl genpkey -algorithm ed25519 -out private.pem` and `openssl pkey -in private.pem \
                 -pubout -out public.pem`"
            }
            Self::Unsound(_) => "restore the committed file, or sign the lock again",
        }
    }
}

pub struct PublicKey {
    bytes: [u8; 32],
    fingerprint: String,
}

impl PublicKey {
    /// From a PEM file (`BEGIN PUBLIC KEY`).
    pub fn read(path: &Path) -> Result<Self, SignatureError> {
        let key = |problem| SignatureError::Key {
            path: path.to_owned(),
            problem,
        };
        let text = read(path)?;
        let der = SubjectPublicKeyInfoDer::from_pem_slice(&text)
            .map_err(|_| key("not a public key in PEM (`-----BEGIN PUBLIC KEY-----`)"))?;
        let bytes = der.strip_prefix(&SPKI_PREFIX);
        let bytes = bytes.and_then(|it| <[u8; 32]>::try_from(it).ok());
        let bytes = bytes.ok_or_else(|| key("a public key, but not an ed25519 one"))?;
        Ok(Self::from(bytes))
    }

    /// `sha256-` and base64 of its DER form.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
}

impl From<[u8; 32]> for PublicKey {
    fn from(bytes: [u8; 32]) -> Self {
        let der: Vec<u8> = SPKI_PREFIX.into_iter().chain(bytes).collect();
        Self {
            bytes,
            fingerprint: sri(der),
        }
    }
}

/// Not printable: it implements neither `Debug` nor `Display`.
pub struct PrivateKey(Ed25519KeyPair);

impl PrivateKey {
    /// From a PEM file (`BEGIN PRIVATE KEY`, PKCS#8, without a passphrase).
    pub fn read(path: &Path) -> Result<Self, SignatureError> {
        let key = |problem| SignatureError::Key {
            path: path.to_owned(),
            problem,
        };
        let text = read(path)?;
        let der = PrivatePkcs8KeyDer::from_pem_slice(&text).map_err(|_| {
            key("not a private key in PEM (`-----BEGIN PRIVATE KEY-----`, without a passphrase)")
        })?;
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der())
            .map(Self)
            .map_err(|_| key("a private key, but not an ed25519 one"))
    }

    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.public_key().as_ref());
        PublicKey::from(bytes)
    }
}

/// What a signature covers besides the key and the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    pub schema: Schema,
    /// The digest of the lock.
    pub lock: String,
    /// The digest of the policy file, if any.
    pub policy: Option<String>,
}

/// A signature as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    schema: Schema,
    lock: Text,
    policy: Option<Text>,
    fingerprint: Text,
    signed_at: Text,
    signature: Text,
}

impl Envelope {
    /// Signs at a time since 1970.
    pub fn sign(covered: &Covered, key: &PrivateKey, now: Duration) -> Result<Self, LockError> {
        let mut envelope = Self {
            schema: covered.schema,
            lock: Text::from(covered.lock.as_str()),
            policy: covered.policy.as_deref().map(Text::from),
            fingerprint: Text::from(key.public().fingerprint()),
            signed_at: Text::from(iso_time(now)),
            signature: Text::from(""),
        };
        let payload = canonical::to_string(&Json::Object(envelope.payload()))?;
        let signature = key.0.sign(payload.as_bytes());
        envelope.signature = Text::from(STANDARD.encode(signature.as_ref()));
        Ok(envelope)
    }

    pub fn read(path: &Path, schema: Schema) -> Result<Self, SignatureError> {
        let name = path.display();
        let document = parse(&read(path)?).map_err(|error| {
            LockError(format!("Invalid lock signature JSON in {name}: {error}"))
        })?;
        Ok(Self::from_json(&document, &name.to_string(), schema)?)
    }

    /// From a document. `path` is for ToolPin's messages.
    pub fn from_json(document: &Json, path: &str, schema: Schema) -> Result<Self, LockError> {
        let refuse =
            |what: &str| LockError(format!("Invalid lock signature schema in {path}: {what}"));
        if document.as_object().is_none() {
            return Err(refuse("expected object"));
        }
        let text = |member: &str| document.get(member).and_then(Json::as_text).cloned();
        let is = |member: &str, wanted: &str| text(member).is_some_and(|it| it == *wanted);
        if !is("schema", schema.name()) {
            return Err(refuse("unsupported schema"));
        }
        #[expect(clippy::cast_precision_loss, reason = "1 or 2")]
        let version = schema.version() as f64;
        if !matches!(document.get("version"), Some(Json::Number(it)) if it.to_f64() == version) {
            return Err(refuse("unsupported version"));
        }
        if !is("algorithm", "ed25519") {
            return Err(refuse("unsupported algorithm"));
        }
        let digest = |member: &str| {
            text(member)
                .filter(|it| it.to_string_lossy().starts_with("sha256-"))
                .ok_or_else(|| refuse(&format!("invalid {member}")))
        };
        Ok(Self {
            schema,
            lock: digest("lockfileDigest")?,
            policy: match document.get("policyDigest") {
                None => None,
                Some(_) => Some(digest("policyDigest")?),
            },
            fingerprint: digest("publicKeyFingerprint")?,
            signed_at: text("signedAt").ok_or_else(|| refuse("invalid signedAt"))?,
            signature: text("signature")
                .filter(|it| *it != *"")
                .ok_or_else(|| refuse("invalid signature"))?,
        })
    }

    /// The stated time of signing.
    pub fn signed_at(&self) -> &str {
        self.signed_at.to_string_lossy()
    }

    /// Everything but the signature, in ToolPin's order.
    fn payload(&self) -> Object {
        let text = |it: &Text| Json::String(it.clone());
        let mut payload = Object::new();
        payload.push("schema", Json::string(self.schema.name()));
        payload.push("version", Json::integer(self.schema.version()));
        payload.push("algorithm", Json::string("ed25519"));
        payload.push("lockfileDigest", text(&self.lock));
        if let Some(policy) = &self.policy {
            payload.push("policyDigest", text(policy));
        }
        payload.push("publicKeyFingerprint", text(&self.fingerprint));
        payload.push("signedAt", text(&self.signed_at));
        payload
    }

    /// The text that ToolPin writes.
    pub fn to_text(&self) -> String {
        let mut envelope = self.payload();
        envelope.push("signature", Json::String(self.signature.clone()));
        to_pretty(&Json::Object(envelope)) + "\n"
    }

    /// What is wrong with it, in ToolPin's words and order; `None` if the key signed exactly this.
    pub fn problem(&self, covered: &Covered, key: &PublicKey) -> Result<Option<String>, LockError> {
        let shown = |digest: &Text| digest.to_string_lossy().to_owned();
        if self.lock != *covered.lock.as_str() {
            return Ok(Some(format!(
                "Lockfile digest mismatch: signature covers {}, current lockfile is {}",
                shown(&self.lock),
                covered.lock
            )));
        }
        if self.policy.as_ref().map(shown) != covered.policy {
            let none = || "no policy".to_owned();
            return Ok(Some(format!(
                "Policy digest mismatch: signature covers {}, current policy is {}",
                self.policy.as_ref().map_or_else(none, shown),
                covered.policy.clone().unwrap_or_else(none)
            )));
        }
        if self.fingerprint != *key.fingerprint() {
            return Ok(Some(format!(
                "Public key fingerprint mismatch: signature requires {}, provided key is {}",
                shown(&self.fingerprint),
                key.fingerprint()
            )));
        }
        let payload = canonical::to_string(&Json::Object(self.payload()))?;
        let signature = self.signature.as_str().map(|it| STANDARD.decode(it));
        let holds = signature.is_some_and(|it| {
            it.is_ok_and(|bytes| {
                let key = UnparsedPublicKey::new(&ED25519, key.bytes);
                key.verify(payload.as_bytes(), &bytes).is_ok()
            })
        });
        Ok((!holds).then(|| "Signature verification failed.".to_owned()))
    }
}

/// What is known about the signature of a lock.
#[derive(Debug)]
pub enum Status {
    /// Missing, and not required.
    Absent,
    /// Present, but there is no key to verify it with.
    Unchecked(PathBuf),
    Valid {
        fingerprint: String,
        /// The stated time of signing.
        signed_at: String,
    },
    /// Does not verify, or is missing although required.
    Invalid(String),
}

impl Status {
    /// The word in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Unchecked(_) => "unchecked",
            Self::Valid { .. } => "valid",
            Self::Invalid(_) => "invalid",
        }
    }
}

/// Where the signature of a lock is: the named file, or next to the lock.
pub fn file(lock: &Path, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| lock.with_file_name(FILE_NAME), Path::to_owned)
}

/// The digest of the named policy file, or of ToolPin's default one if it exists. As in ToolPin, a
/// missing file means no policy.
pub fn policy_digest(named: Option<&Path>) -> Result<Option<String>, SignatureError> {
    let path = named.unwrap_or(Path::new(policy_file::DEFAULT_PATH));
    let bytes = match read(path) {
        Err(SignatureError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        read => read?,
    };
    let name = path.display();
    let document = parse(&bytes)
        .map_err(|error| LockError(format!("Invalid policy JSON in {name}: {error}")))?;
    Ok(Some(policy_file::digest(&document, &name.to_string())?))
}

/// Checks the signature in a file, which may be missing, with the named key.
pub fn status(
    file: &Path,
    covered: impl FnOnce() -> Result<Covered, SignatureError>,
    key: Option<&Path>,
) -> Result<Status, SignatureError> {
    let Some(key) = key else {
        return Ok(if file.exists() {
            Status::Unchecked(file.to_owned())
        } else {
            Status::Absent
        });
    };
    let key = PublicKey::read(key)?;
    let covered = covered()?;
    let envelope = match Envelope::read(file, covered.schema) {
        Err(SignatureError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            let problem = format!("{} does not exist", file.display());
            return Ok(Status::Invalid(problem));
        }
        read => read?,
    };
    Ok(match envelope.problem(&covered, &key)? {
        Some(problem) => Status::Invalid(problem),
        None => Status::Valid {
            fingerprint: key.fingerprint,
            signed_at: envelope.signed_at().to_owned(),
        },
    })
}

fn read(path: &Path) -> Result<Vec<u8>, SignatureError> {
    let io = |source| SignatureError::Io {
        path: path.to_owned(),
        source,
    };
    // `files` accepts streams such as /dev/stdin; a key must not come from one.
    if !std::fs::metadata(path).map_err(io)?.is_file() {
        let problem = "not a regular file (pipe or device)";
        return Err(io(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            problem,
        )));
    }
    crate::files::read_at_most(path, MAX_BYTES).map_err(io)
}
