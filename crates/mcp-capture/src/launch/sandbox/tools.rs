//! What a home folder has to run programs: toolchains, caches of package launchers, and what of it stays hidden.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use super::repositories::has_address_with_credentials;

/// Toolchains in a home folder, and what of each runs programs. A tool keeps its settings and credentials beside that, so
/// none is shown as a whole. `*` is any folder; at the end of a name, any rest of it.
const TOOLS: [(&str, &[&str]); 34] = [
    (
        ".asdf",
        &["bin", "installs", "lib", "libexec", "plugins", "shims"],
    ),
    (".bun", &["bin", "install/global"]),
    (".cargo", &["bin"]),
    (".conda", &["envs"]),
    (".deno", &["bin"]),
    (
        ".dotnet",
        &[
            "dotnet",
            "host",
            "packs",
            "sdk",
            "sdk-manifests",
            "shared",
            "templates",
            "tools",
        ],
    ),
    (".fnm", &["aliases", "node-versions"]),
    (".gem/ruby", &["*"]),
    (".ghcup", &["bin", "ghc", "hls", "share"]),
    (
        ".jenv",
        &["bin", "libexec", "plugins", "shims", "version", "versions"],
    ),
    (".local", &["bin", "lib"]),
    (".local/pipx", &["shared", "venvs"]),
    (".local/share/fnm", &["aliases", "node-versions"]),
    (".local/share/mise", &["installs", "plugins", "shims"]),
    (".local/share/nvm", &["alias", "versions"]),
    (".local/share/pipx", &["py", "shared", "venvs"]),
    (
        ".local/share/pnpm",
        &[".tools", "global", "nodejs", "pnpm", "pnpx"],
    ),
    (".local/share/uv", &["python", "tools"]),
    (".local/share/virtualenvs", &["*"]),
    (".npm-global", &["bin", "lib"]),
    (".nvm", &["alias", "nvm-exec", "nvm.sh", "versions"]),
    (".opam", &["*/bin", "*/lib", "*/share"]),
    (
        ".proto",
        &[".prototools", "bin", "plugins", "shims", "tools"],
    ),
    (
        ".pyenv",
        &[
            "bin", "libexec", "plugins", "pyenv.d", "shims", "version", "versions",
        ],
    ),
    (
        ".rbenv",
        &[
            "bin", "libexec", "plugins", "rbenv.d", "shims", "version", "versions",
        ],
    ),
    (".rustup", &["settings.toml", "toolchains"]),
    (".sdkman", &["candidates"]),
    (".volta", &["bin", "tools"]),
    (".yarn", &["berry/cache", "bin", "releases"]),
    ("anaconda3", CONDA),
    ("go", &["bin"]),
    ("miniconda3", CONDA),
    ("miniforge3", CONDA),
    ("n", &["bin", "lib", "n/versions"]),
];

const CONDA: &[&str] = &[
    "bin",
    "condabin",
    "conda-meta",
    "envs",
    "etc",
    "lib",
    "libexec",
    "share",
    "ssl",
];

/// What package launchers write in a home folder: what they downloaded, never what they installed. Of two tools also a file
/// without content.
const CACHES: [&str; 16] = [
    ".bun/install/cache",
    ".cache",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm/store",
    UV_LOCK,
    ".m2/repository",
    ".npm/_cacache",
    ".npm/_logs",
    ".npm/_npx",
    ".npm/_prebuilds",
    NPM_CHECKED,
    ".nuget/packages",
    "go/pkg/mod",
    "go/pkg/sumdb",
];

/// Locked by `uvx` while it looks whether a tool is installed.
const UV_LOCK: &str = ".local/share/uv/tools/.lock";

/// Its time is when npm looked for a newer version of itself.
const NPM_CHECKED: &str = ".npm/_update-notifier-last-checked";

/// Programs that are kept in a cache and that others run: package managers, hooks, browsers, toolchains, lines of a shell.
const INSTALLED_IN_CACHES: [&str; 9] = [
    ".cache/gitstatus",
    ".cache/ms-playwright*",
    ".cache/node/corepack",
    ".cache/p10k-*",
    ".cache/pre-commit",
    ".cache/puppeteer",
    ".cache/pypoetry/virtualenvs",
    ".cache/selenium",
    "go/pkg/mod/golang.org/toolchain@*",
];

/// What a cache holds of somebody's sessions: pages, mail and profiles of browsers, also of those that are driven by programs;
/// sockets of keyrings.
const PRIVATE_IN_CACHES: [&str; 14] = [
    ".cache/BraveSoftware",
    ".cache/chrome-devtools-mcp",
    ".cache/chromium",
    ".cache/epiphany",
    ".cache/evolution",
    ".cache/git/credential",
    ".cache/google-chrome*",
    ".cache/keyring-*",
    ".cache/microsoft-edge*",
    ".cache/mozilla",
    ".cache/ms-playwright/mcp-*",
    ".cache/opera",
    ".cache/thunderbird",
    ".cache/vivaldi",
];

/// What a launcher creates on first use, and cannot create inside the sandbox: folders, and files with their content.
struct Created {
    launchers: &'static [&'static str],
    folders: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
}

const CREATED: [Created; 5] = [
    Created {
        launchers: &["npm", "npx"],
        folders: &[
            ".cache/node-gyp",
            ".npm/_cacache",
            ".npm/_logs",
            ".npm/_npx",
            ".npm/_prebuilds",
        ],
        files: &[(NPM_CHECKED, "")],
    },
    Created {
        launchers: &["pnpm", "pnpx"],
        folders: &[".cache/pnpm", ".local/share/pnpm/store"],
        files: &[],
    },
    Created {
        launchers: &["yarn"],
        folders: &[".cache/yarn"],
        files: &[],
    },
    Created {
        launchers: &["bun", "bunx"],
        folders: &[".bun/install/cache"],
        files: &[],
    },
    Created {
        launchers: &["pipx", "uv", "uvx"],
        folders: &[".cache/pipx", ".cache/uv", ".local/share/uv/tools"],
        files: &[(".local/share/uv/tools/.gitignore", "*"), (UV_LOCK, "")],
    },
];

/// Creates the caches that a launcher would create, so that they can be allowed. They belong to
/// the user that the server runs as. A launcher that cannot create its cache has the better error message.
pub(super) fn make_caches(home: Option<&Path>, program: &str, user: Option<(u32, u32)>) {
    let name = Path::new(program).file_name().and_then(|it| it.to_str());
    let created = CREATED
        .iter()
        .find(|it| name.is_some_and(|name| it.launchers.contains(&name)));
    let (Some(home), Some(created)) = (home.filter(|it| it.is_dir()), created) else {
        return;
    };
    let own = |path: &Path, is_new: bool| {
        if let Some((user, group)) = user.filter(|_| is_new) {
            let _ = std::os::unix::fs::lchown(path, Some(user), Some(group));
        }
    };
    for folder in created.folders {
        let mut path = home.to_owned();
        for part in Path::new(folder) {
            path.push(part);
            own(&path, std::fs::create_dir(&path).is_ok());
        }
    }
    for (file, content) in created.files {
        let path = home.join(file);
        if path.symlink_metadata().is_err() {
            own(&path, create(&path, content).is_ok());
        }
    }
}

/// A file that was not there.
#[allow(clippy::disallowed_methods, reason = "it only creates")]
fn create(path: &Path, content: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?;
    file.write_all(content.as_bytes())
}

/// The parts of toolchains that exist in a home folder, without links.
pub(super) fn tools(home: &Path) -> Vec<PathBuf> {
    let tools = TOOLS.iter().flat_map(|(tool, parts)| {
        let parts = parts.iter();
        parts.flat_map(move |part| existing(home, &format!("{tool}/{part}")))
    });
    tools.collect()
}

/// The caches that exist in a home folder, without links.
pub(super) fn caches(home: &Path) -> Vec<PathBuf> {
    CACHES.iter().flat_map(|it| existing(home, it)).collect()
}

/// What the caches of a home folder hold that is installed.
pub(super) fn installed_in_caches(home: &Path) -> Vec<PathBuf> {
    let patterns = INSTALLED_IN_CACHES.iter();
    patterns.flat_map(|it| existing(home, it)).collect()
}

/// What the caches of a home folder hold that no server sees.
pub(super) fn private_in_caches(home: &Path) -> Vec<PathBuf> {
    let patterns = PRIVATE_IN_CACHES.iter();
    patterns.flat_map(|it| existing(home, it)).collect()
}

/// What fits a pattern below a home folder, without links: none leads out of it.
fn existing(home: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![home.to_owned()];
    for part in pattern.split('/') {
        found = match part.strip_suffix('*') {
            None => found.iter().map(|it| it.join(part)).collect(),
            Some(start) => {
                let entries = found.iter().flat_map(|it| super::allowed::entries(it));
                let fits = |it: &PathBuf| {
                    let name = it.file_name().unwrap_or_default();
                    name.to_string_lossy().starts_with(start)
                };
                entries.filter(fits).collect()
            }
        };
    }
    let real = found.into_iter().filter_map(|it| it.canonicalize().ok());
    real.filter(|it| it.starts_with(home) && it != home)
        .collect()
}

/// How many folders are searched for credentials.
const MOST_FOLDERS: usize = 20_000;

/// Files and folders of a tool or a cache that look like credentials, near its top: down to `deepest` folders, and in an
/// `etc`. Trees of packages are not searched, where any name can be that of code. A folder that is one too many to be
/// searched is among them.
pub(super) fn credentials(folder: &Path, deepest: usize) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let is_tree = |name: &str| TREES.contains(&name);
    if folder
        .file_name()
        .is_some_and(|it| it.to_str().is_some_and(is_tree))
    {
        return found;
    }
    let mut ahead = VecDeque::from([(folder.to_owned(), 0)]);
    let mut searched = 0;
    while let Some((folder, depth)) = ahead.pop_front() {
        searched += 1;
        if searched > MOST_FOLDERS {
            found.insert(folder);
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let Ok(entry) = entry else {
                continue;
            };
            let as_written = entry.file_name().to_string_lossy().into_owned();
            let name = as_written.to_ascii_lowercase();
            let kind = entry.file_type();
            let is_folder = kind.as_ref().is_ok_and(std::fs::FileType::is_dir);
            let is_link = kind.is_ok_and(|it| it.is_symlink());
            let is_found = match (is_folder, is_link) {
                // What it leads to is found where it is.
                (_, true) => false,
                (true, _) => KEEPERS.contains(&name.as_str()),
                (false, _) => is_file_of_credentials(&entry.path(), &as_written),
            };
            if is_found {
                found.insert(entry.path());
            } else if is_folder && (depth < deepest || name == "etc") && !is_tree(&name) {
                ahead.push_back((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// Folders of credentials.
const KEEPERS: [&str; 8] = [
    ".auth",
    ".credentials",
    ".secrets",
    "auth",
    "credentials",
    "secrets",
    "tokens",
    "x509stores",
];

/// Trees of packages, libraries and documents.
const TREES: [&str; 11] = [
    "dist-packages",
    "gems",
    "include",
    "lib",
    "lib32",
    "lib64",
    "libexec",
    "node_modules",
    "share",
    "site-packages",
    "src",
];

/// By its name, and by its content where programs, certificates and harmless settings have such names.
fn is_file_of_credentials(path: &Path, name: &str) -> bool {
    const WORDS: [&str; 21] = [
        "apikey",
        "auth",
        "authtoken",
        "cookie",
        "cookies",
        "cred",
        "credential",
        "credentials",
        "creds",
        "htpasswd",
        "netrc",
        "oauth",
        "passwd",
        "password",
        "passwords",
        "pgpass",
        "pypirc",
        "secret",
        "secrets",
        "token",
        "tokens",
    ];
    const DATA: [&str; 17] = [
        "bak",
        "cfg",
        "conf",
        "config",
        "db",
        "enc",
        "env",
        "ini",
        "json",
        "old",
        "properties",
        "sqlite",
        "toml",
        "txt",
        "xml",
        "yaml",
        "yml",
    ];
    const STORES: [&str; 6] = ["jks", "kdbx", "keystore", "p12", "pfx", "token"];
    /// Settings of package managers, which can have a password beside an address or in it.
    const SETTINGS: [&str; 14] = [
        ".bunfig.toml",
        ".condarc",
        ".gemrc",
        ".npmrc",
        ".yarnrc.yml",
        "bunfig.toml",
        "condarc",
        "gemrc",
        "hosts.yml",
        "npmrc",
        "nuget.config",
        "pip.conf",
        "settings.xml",
        "uv.toml",
    ];
    const IN_SETTINGS: [&str; 4] = ["_auth", "npmauth", "password", "token"];
    let start = || {
        let start = crate::files::read_start(path, 16 * 1024).unwrap_or_default();
        String::from_utf8_lossy(&start).to_ascii_lowercase()
    };
    let as_written = name;
    let name = &*name.to_ascii_lowercase();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem, ending),
        _ => (name, ""),
    };
    if STORES.contains(&ending) || name == ".env" || name.starts_with(".env.") {
        return true;
    }
    match name {
        _ if SETTINGS.contains(&name) => {
            let start = start();
            return IN_SETTINGS.iter().any(|it| start.contains(it))
                || start.lines().any(has_address_with_credentials);
        }
        "id_rsa" | "id_ecdsa" | "id_ed25519" => return true,
        _ if matches!(ending, "pem" | "key") => return start().contains("private key"),
        _ => {}
    }
    let words = words_of(&as_written[..stem.len()]);
    let is_named = words.iter().any(|it| WORDS.contains(&&**it))
        || words.windows(2).any(|it| it == ["api", "key"]);
    // A program without an ending can have any name.
    is_named && (DATA.contains(&ending) || ending.is_empty() && !is_program(path))
}

/// The words of `accessToken`, `access_token` and `access-token`, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_small = false;
    for letter in name.chars() {
        let begins = letter.is_ascii_uppercase() && is_after_small;
        if begins || !letter.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        is_after_small = letter.is_ascii_lowercase();
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|it| it.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let path = folder.path().canonicalize().unwrap();
        (folder, path)
    }

    fn inside(paths: impl IntoIterator<Item = PathBuf>, root: &Path) -> Vec<String> {
        let inside = paths.into_iter().map(|it| {
            let inside = it.strip_prefix(root).unwrap();
            inside.display().to_string()
        });
        inside.collect()
    }

    #[test]
    fn of_a_tool_only_what_runs_programs_is_shown() {
        let (_guard, home) = tree(&[
            ".deno/bin/deno",
            ".deno/credentials.json",
            ".dotnet/corefx/cryptography/x509stores/my/1.pfx",
            ".dotnet/sdk/8/x",
            ".gem/credentials",
            ".gem/ruby/3.0.0/bin/x",
            ".local/share/uv/credentials/credentials.toml",
            ".local/share/uv/tools/ruff/bin/ruff",
            ".opam/5.1.0/lib/x",
            ".opam/plugins/opam-publish/a.token",
        ]);
        assert_eq!(
            inside(tools(&home), &home),
            [
                ".deno/bin",
                ".dotnet/sdk",
                ".gem/ruby/3.0.0",
                ".local/share/uv/tools",
                ".opam/5.1.0/lib"
            ]
        );
    }

    #[test]
    fn what_looks_like_credentials_is_found_and_code_is_not() {
        let hidden = [
            ".credentials",
            ".env",
            ".netrc",
            "access_token.json",
            "accessTokens.json",
            "auth",
            "auth.json",
            "credentials",
            "credentials.toml",
            "huggingface/stored_tokens",
            "huggingface/token",
            "my-api-key.txt",
            "my.pfx",
            "node/v20/etc/npm_token",
            "publish.token",
            "tool/tokens/one",
        ];
        let shown = [
            "authors.txt",
            "bin/git-credential-store",
            "ca.pem",
            "lib/node_modules/token-types/index.js",
            "lib/node_modules/tokens/credentials.json",
            "lib/site-packages/x/token.json",
            "lib/token.py",
            "secrets.py",
            "token-types/index.js",
            "tokenize.py",
            "tokenizer.json",
            "tool/condarc",
            "versions/2/lib/python2.7/test/token.json",
        ];
        let (_guard, root) = tree(&[&hidden[..], &shown[..], &["npmrc", "own.pem"]].concat());
        std::fs::write(root.join("ca.pem"), "-----BEGIN CERTIFICATE-----").unwrap();
        std::fs::write(root.join("own.pem"), "-----BEGIN PRIVATE KEY-----").unwrap();
        std::fs::write(root.join("npmrc"), "registry=https://example.org\n").unwrap();
        std::fs::write(
            root.join("pip.conf"),
            "index-url = https://example.org/x@y\n",
        )
        .unwrap();
        let program = root.join("bin/git-credential-store");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(program, mode).unwrap();
        let found = || inside(credentials(&root, 2), &root);
        let mut expected: Vec<&str> = hidden.to_vec();
        expected.retain(|it| *it != "tool/tokens/one");
        expected.extend(["own.pem", "tool/tokens"]);
        expected.sort_unstable();
        assert_eq!(found(), expected);
        std::fs::write(root.join("npmrc"), "//example.org/:_authToken=x\n").unwrap();
        assert!(found().contains(&"npmrc".to_owned()));
        std::fs::write(
            root.join("pip.conf"),
            "index-url = https://me:word@example.org\n",
        )
        .unwrap();
        assert!(found().contains(&"pip.conf".to_owned()));
    }

    #[test]
    fn what_is_installed_in_a_cache_is_known() {
        let (_guard, home) = tree(&[
            ".cache/node/corepack/v1/pnpm/1/pnpm.cjs",
            ".cache/p10k-instant-prompt-me.zsh",
            ".cache/uv/x",
            ".npm/_npx/1/x",
            ".npm/other",
            "go/pkg/mod/github.com/x",
            "go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22/bin/go",
        ]);
        let found = inside(installed_in_caches(&home), &home);
        assert_eq!(
            found,
            [
                ".cache/node/corepack",
                ".cache/p10k-instant-prompt-me.zsh",
                "go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22"
            ]
        );
        let caches = inside(caches(&home), &home);
        assert_eq!(caches, [".cache", ".npm/_npx", "go/pkg/mod"]);
        let profiles = [
            ".cache/mozilla/x",
            ".cache/ms-playwright/mcp-chrome-profile/x",
        ];
        let (_guard, home) =
            tree(&[&profiles[..], &[".cache/ms-playwright/chromium-1/x"]].concat());
        let private = inside(private_in_caches(&home), &home);
        assert_eq!(
            private,
            [".cache/mozilla", ".cache/ms-playwright/mcp-chrome-profile"]
        );
    }
}
