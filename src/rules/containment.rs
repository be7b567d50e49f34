//! Findings about containment: secrets in the server's output, and access that its sandbox denied.

macro_rules! containment_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "secret-in-surface" SecretInSurface [Warns] Finding Cosmetic None,
        "the server's answers contain a secret",
        "The text contained the value of a secret variable, or something that looks like a token. What a server \
         lists goes to every client and model. mcp-keel replaces it with `[redacted: NAME]` before anything is \
         compared, written or shown; a token keeps a piece of its digest, so another token is drift.",
        "Revoke the secret, and remove it from what the server says.",
        "a tool whose description contains the value of the API_KEY passed to the server";
    "sandbox-network-denied" SandboxNetworkDenied [Warns] Finding Cosmetic None,
        "the sandbox denied the server network access",
        "A server does not need the network to list its tools, and one that uses it anyway talks to someone while it \
         starts. What it lists without an answer may differ.",
        "Find out whom it talks to. If its list depends on it, use `--sandbox fs`.",
        "mcp-keel check --sandbox strict on a server that reports its start to an analytics service";
    "sandbox-file-denied" SandboxFileDenied [Warns] Finding Cosmetic None,
        "the sandbox denied the server access to a file",
        "With `--sandbox strict` the server tried to write outside the working copy and temporary folders, or to \
         read what the sandbox hides, such as credentials.",
        "Find out what it wants there. Configuration that it needs can be put into the working copy.",
        "mcp-keel check --sandbox strict on a server that writes to ~/.bashrc";
    "sandbox-unavailable" SandboxUnavailable [Warns] Finding Cosmetic None,
        "the sandbox is not fully supported on this machine",
        "Landlock or seccomp is missing or old, or this is not Linux: the server was started with as many limits as \
         possible. Or a server in a workflow has no sandbox, and can reach the socket of a container engine.",
        "Use a newer kernel, or accept the difference. `--sandbox-required` fails instead. In a workflow, use \
         `--sandbox fs` at least.",
        "mcp-keel check --sandbox fs on macOS";

    } $families $($after)* } };
}
pub(super) use containment_rules;
