#!/bin/sh
# Installs the mcp-keel binary: downloads the archive for this platform, verifies its checksum and unpacks it. No root.
#
#   curl -fsSL https://github.com/mcp-keel/mcp-keel/releases/latest/download/install.sh | sh
#   sh install.sh --version v0.1.0 --to ./bin
set -eu

# The install.sh of a release names that release here.
version=latest
folder="${HOME:-}/.local/bin"
# A mirror has the same layout: VERSION/mcp-keel-TARGET.tar.gz and VERSION/SHA256SUMS.
releases="${MCP_KEEL_RELEASES:-https://github.com/mcp-keel/mcp-keel/releases/download}"

fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

usage() {
    cat << 'HELP'
Usage: install.sh [--version VERSION] [--to FOLDER]

  --version VERSION   a release such as v0.1.0, or latest
  --to FOLDER         where the binary goes (default: ~/.local/bin)

MCP_KEEL_RELEASES=URL downloads from a mirror.
HELP
}

# One function, called in the last line: a download that was cut off does nothing.
main() {
    while [ $# -gt 0 ]; do
        case "$1" in
            --version) [ $# -ge 2 ] || fail "--version needs a release, such as v0.1.0"; version="$2"; shift 2 ;;
            --to) [ $# -ge 2 ] || fail "--to needs a folder"; folder="$2"; shift 2 ;;
            -h | --help) usage; exit 0 ;;
            *) usage >&2; fail "unknown argument: $1" ;;
        esac
    done
    case "$version" in
        latest) ;;
        [0-9]*) version="v$version" ;;
    esac
    [ "$folder" != /.local/bin ] || fail "HOME is not set; name a folder with --to"

    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) target=x86_64-unknown-linux-musl ;;
        Linux-aarch64 | Linux-arm64) target=aarch64-unknown-linux-musl ;;
        Darwin-arm64) target=aarch64-apple-darwin ;;
        Darwin-x86_64) target=x86_64-apple-darwin ;;
        *) fail "there is no binary for $(uname -s) on $(uname -m); with Rust: cargo install --locked mcp-keel" ;;
    esac

    if [ "$version" = latest ] && [ -z "${MCP_KEEL_RELEASES:-}" ]; then
        from=https://github.com/mcp-keel/mcp-keel/releases/latest/download
    else
        from="$releases/$version"
    fi

    if command -v curl > /dev/null 2>&1; then
        download() { curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"; }
    elif command -v wget > /dev/null 2>&1; then
        download() { wget -q -O "$2" "$1"; }
    else
        fail "neither curl nor wget is installed"
    fi

    if command -v sha256sum > /dev/null 2>&1; then
        digest() { sha256sum "$1" | cut -d ' ' -f 1; }
    elif command -v shasum > /dev/null 2>&1; then
        digest() { shasum -a 256 "$1" | cut -d ' ' -f 1; }
    else
        fail "neither sha256sum nor shasum is installed, so the download cannot be verified"
    fi

    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM

    archive="mcp-keel-$target.tar.gz"
    download "$from/SHA256SUMS" "$work/SHA256SUMS" || fail "cannot download $from/SHA256SUMS; is there a release $version?"
    expected="$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")"
    [ -n "$expected" ] || fail "SHA256SUMS of $version does not list $archive"
    download "$from/$archive" "$work/$archive" || fail "cannot download $from/$archive"
    actual="$(digest "$work/$archive")"
    [ "$actual" = "$expected" ] || fail "$archive has the SHA-256 $actual, not $expected; nothing was installed"

    tar -xzf "$work/$archive" -C "$work" mcp-keel
    mkdir -p "$folder"
    # Beside its place first, then renamed: a running mcp-keel is not overwritten, and no half file is ever there.
    cp "$work/mcp-keel" "$folder/.mcp-keel.$$"
    chmod 755 "$folder/.mcp-keel.$$"
    mv "$folder/.mcp-keel.$$" "$folder/mcp-keel"

    "$folder/mcp-keel" --version
    printf 'installed in %s\n' "$folder"
    case ":${PATH:-}:" in
        *":$folder:"*) ;;
        *) printf 'add it to PATH: export PATH="%s:%sPATH"\n' "$folder" '$' ;;
    esac
}

main "$@"
