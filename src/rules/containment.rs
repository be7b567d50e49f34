//! Findings about what a server was kept from: secrets in what it says, and access that its sandbox refused.

macro_rules! containment_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "secret-in-surface" SecretInSurface [Warns] Finding Cosmetic None,
        "what the server says holds a secret",
        "The text held the value of a secret variable, or something of the shape of a well-known kind of token. Whatever a \
         server lists goes to every client and into every model's context, so the secret has left the building. mcp-keel \
         puts `[redacted: NAME]` in its place before anything is compared, written or shown; a token that is known by its \
         shape keeps a few digits of its digest, so that another one is another text.",
        "Revoke the secret, and take it out of what the server says.",
        "a tool whose description holds the value of the API_KEY that the server was given";
    "sandbox-network-denied" SandboxNetworkDenied [Warns] Finding Cosmetic None,
        "the sandbox refused the server a network connection",
        "With `--sandbox strict` no socket can be made. A server that lists its tools does not need one; a server that asks \
         for one anyway talks to somebody while it boots. What it lists without an answer may differ from what it lists \
         with one.",
        "Find out whom it talks to. If its list depends on it, check it with `--sandbox fs`.",
        "mcp-keel check --sandbox strict on a server that reports its start to an analytics service";
    "sandbox-file-denied" SandboxFileDenied [Warns] Finding Cosmetic None,
        "the sandbox refused the server a file",
        "With `--sandbox strict` the server tried to write outside of the working copy and the temporary folders, or to \
         read what the sandbox hides, such as credentials in the home folder. docs/sandbox.md says what is allowed.",
        "Find out what it wants there. A tool that only reads its own configuration can be given it in the working copy.",
        "mcp-keel check --sandbox strict on a server that writes to ~/.bashrc";
    "sandbox-unavailable" SandboxUnavailable [Warns] Finding Cosmetic None,
        "the sandbox is not whole on this machine",
        "The kernel has no Landlock or no seccomp, or an old one, or it is not Linux. The server was started all the same, \
         with as many of the limits as could be had; `--sandbox-required` refuses to start it then.",
        "Run the check on a newer kernel, or accept that the server may touch what its user may.",
        "mcp-keel check --sandbox fs on macOS";

    } $families $($after)* } };
}
pub(super) use containment_rules;
