//! Findings about containment: secrets in the server's output, processes that it leaves, and what its sandbox denies.

macro_rules! containment_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "processes-left" ProcessesLeft [Blocks] Finding Cosmetic None,
        "processes of the server could not be ended",
        "mcp-keel kills everything that a server started, and gives up after 5 seconds. What still runs then starts \
         others faster than they can be killed, and goes on when mcp-keel is done: it can do what the server could.",
        "End them (`ps -ef` shows them below process 1 or a user's `systemd`), and find out why the server starts them.",
        "a server that leaves hundreds of processes, each of which starts another and exits";
    "secret-in-surface" SecretInSurface [Warns] Finding Cosmetic None,
        "the server's answers contain a secret",
        "The text contained the value of a secret variable, or something that looks like a token. What a server \
         lists goes to every client and model. mcp-keel replaces it with `[redacted: NAME]` before anything is \
         compared, written or shown; a token keeps a piece of its digest, so another token is drift.",
        "Revoke the secret, and remove it from what the server says.",
        "a tool whose description contains the value of the API_KEY passed to the server";
    "sandbox-denied" SandboxDenied [Warns] Finding Cosmetic None,
        "the server says that it was denied something in its sandbox",
        "A line of its stderr speaks of a refusal (`EACCES`, `Permission denied`, ...). The sandbox may be the reason, \
         and what the server lists without it may differ. The kernel refuses silently: a server that says nothing is \
         refused all the same, and not reported.",
        "Find out what it wants. Configuration that it needs can be put into the working copy; if its list depends on \
         the network, use `--sandbox fs`.",
        "mcp-keel check --sandbox strict on a server that complains that it cannot write to ~/.bashrc";
    "sandbox-repository-appeared" SandboxRepositoryAppeared [Warns] Finding Cosmetic None,
        "a `.git` appeared in the working copy while the server ran",
        "In a sandbox every `.git` that was there is read-only, but a server can make a new one where it may write. Git \
         runs programs that the settings of a repository name: the next `git status` in that folder, or a prompt or an \
         editor that asks git, would run what the server chose.",
        "Look at it without git, and remove it unless the server is known to clone repositories.",
        "mcp-keel check --sandbox fs on a server that writes src/.git";
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
