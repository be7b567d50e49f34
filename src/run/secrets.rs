//! What must not be shown: mcp-keel's own secrets, and those passed to servers. The last net under
//! everything printed.

use std::path::Path;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::Error;
use crate::redact::Secrets;

static KNOWN: LazyLock<RwLock<Secrets>> = LazyLock::new(|| {
    let ours = crate::own_env::secrets();
    let ours = ours
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    RwLock::new(Secrets::new(ours))
});

pub(crate) fn known() -> Secrets {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Variables (or headers) passed to a server. Those that look like secrets by name or value are
/// secrets from now on.
pub(crate) fn learn<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
    KNOWN
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .learn(variables);
}

/// A text without secrets, for everything that leaves this program.
pub(crate) fn clean(text: &str) -> String {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.clean(text.to_owned())
}

/// Writes a file atomically, without secrets.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Error> {
    crate::files::replace(path, clean(text).as_bytes()).map_err(|error| {
        Error::usage(
            format!("{}: cannot write it: {error}", path.display()),
            "check the path and its permissions",
        )
    })
}
