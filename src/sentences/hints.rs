//! What to do about a server that could not be captured, by what happened.

use super::list;

/// How Python reports a module that is not installed.
pub(crate) const NO_MODULE: &str = "No module named";

/// How Node reports a file or package that does not exist.
pub(crate) const NO_NODE_MODULE: &str = "Cannot find module";
pub(crate) const NO_NODE_PACKAGE: &str = "Cannot find package";

/// How npm and uv report a package that the registry does not have.
pub(crate) const NO_REGISTRY_PACKAGE: [&str; 3] = [
    "npm error code E404",
    "npm ERR! code E404",
    "was not found in the package registry",
];

/// How runtimes report a certificate that they do not trust.
pub(crate) const CERTIFICATES: [&str; 7] = [
    "CERTIFICATE_VERIFY_FAILED",
    "SELF_SIGNED_CERT",
    "UNABLE_TO_GET_ISSUER_CERT",
    "self-signed certificate",
    "self signed certificate",
    "UnknownIssuer",
    "unable to get local issuer certificate",
];

pub(crate) fn not_built(path: &str) -> String {
    format!("`{path}` does not exist: build the server first, or correct the path")
}

pub(crate) fn quoted_command(line: &str) -> String {
    format!(
        "the command is one word with spaces in it: write it without quotes around it, `-- {line}`"
    )
}

pub(crate) fn flag_as_command(flag: &str) -> String {
    format!("`{flag}` is a flag, not a program: flags of mcp-keel go before `--`")
}

pub(crate) fn no_folder(path: &str) -> String {
    format!("create `{path}`, or correct `cwd`: it is relative to the folder of mcp-keel.toml")
}

pub(crate) fn no_module(module: &str, python: &str) -> String {
    format!(
        "the module `{module}` is not installed for {python}: install it there, or name the interpreter of the project's environment, such as .venv/bin/python"
    )
}

pub(crate) fn no_package_installed(module: &str) -> String {
    format!(
        "the package `{module}` is not installed: run `npm ci`, or the install step of the project"
    )
}

pub(crate) fn no_such_package(package: &str) -> String {
    format!("the registry has no package `{package}`: check its name and version")
}

pub(crate) fn npx_asks() -> &'static str {
    "npx asks before it installs a package, and no one answers: add `-y`, as in `npx -y PACKAGE`; a first download may also need a longer `--timeout`"
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A certificate that is not trusted; the variables with certificates that are set here and not passed on.
pub(crate) fn certificate(held_back: &[&str]) -> String {
    if held_back.is_empty() {
        return "the server does not trust a certificate: pass it the file of your authority, such as `--env SSL_CERT_FILE=FILE` or `--env NODE_EXTRA_CA_CERTS=FILE`".to_owned();
    }
    let names = list(held_back.iter().copied());
    let flags: Vec<String> = held_back
        .iter()
        .map(|it| format!("--pass-env {it}"))
        .collect();
    format!(
        "the server does not trust a certificate; {names} {} set here and not passed on: add `{}`",
        are(held_back.len()),
        flags.join(" ")
    )
}

/// Variables that a server names, that are set here and that it does not see.
pub(crate) fn held_back(names: &[String]) -> String {
    let flags: Vec<String> = names.iter().map(|it| format!("--pass-env {it}")).collect();
    let names = list(names.iter().map(String::as_str));
    format!(
        "the server asks for {names}, which {} set here and not passed on: add `{}`",
        are(flags.len()),
        flags.join(" ")
    )
}

/// Variables that a server names and that are not set.
pub(crate) fn asked_for(names: &[String]) -> String {
    let first = names.first().map_or("", String::as_str);
    let names = list(names.iter().map(String::as_str));
    format!(
        "the server asks for {names}: set it with `--env {first}=VALUE`, or set it here and pass it with `--pass-env {first}`"
    )
}
