//! Findings: noticed in one surface, in the run or in the policy. They are no drift.

macro_rules! finding_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "component-repeated" ComponentRepeated [] Finding Risky Medium,
        "two components have the same key",
        "Clients keep one of the two, and which one differs between clients. The second is compared under its key \
         with `#2` behind it, so that neither hides the other.",
        "Give each tool a name of its own.";
    "component-malformed" ComponentMalformed [] Finding Risky None,
        "a listed component has no name",
        "A tool or prompt without a `name`, a resource without a `uri`: clients drop it or refuse the whole list.",
        "Fix the server: the protocol demands the member.";
    "member-repeated" MemberRepeated [] Finding Risky Medium,
        "a JSON object names a member more than once",
        "Parsers keep the last one, most without a word; a reviewer who reads the raw text sees the first. Two \
         readers of one definition can so see two different things.",
        "Fix the server's serialiser. Until then the definition is compared as sent, both members included.";
    "x-mcp-header-invalid" XMcpHeaderInvalid [] Finding Risky None,
        "a tool breaks a rule of `x-mcp-header`",
        "Since 2026-07-28 a client over HTTP repeats such a parameter in a header, and must leave a tool out of the list \
         if the annotation is invalid. Over stdio, and at older revisions, nobody reads it. A tool that becomes invalid \
         on a server over HTTP is the change `tool-hidden-from-http-clients`.",
        "Correct the annotation: a name of a header, each only once, on a string, integer or boolean, below \
         `properties` alone.";
    "era-fallback" EraFallback [] Finding Cosmetic None,
        "the server no longer speaks the era of the protocol that it was pinned in",
        "`--era auto` asks in the era that the baseline records, and in the other one only if the server does not speak \
         it. The capture is complete and was compared; `protocol-version-changed` is the drift.",
        "Check that the clients you support speak what the server speaks now, then pin.",
        "a baseline with protocolVersion 2026-07-28, and a server that answers `initialize` only";
    "era-not-spoken" EraNotSpoken [] Finding Cosmetic None,
        "the server speaks one era of the protocol only",
        "`--era both` was asked for. There is nothing to compare with, and the one capture counts.",
        "Nothing. `--era auto` does not ask for the other one.",
        "--era both, and a server that answers `server/discover` with \"Method not found\"";
    "era-surfaces-differ" EraSurfacesDiffer [] Finding Cosmetic None,
        "the server tells clients of the two eras different things",
        "Clients up to 2025-11-25 and clients since 2026-07-28 see different contracts of the same server. Only one of \
         them is compared with the baseline, so a drift in the other passes unseen.",
        "Let both eras list the same. If the difference is meant, pin each era under a name of its own, with `era` in \
         its `[server.NAME]`.",
        "--era both, and a server that lists a tool to `initialize` clients only";
    "stdout-noise" StdoutNoise [] Finding Cosmetic None,
        "the server prints lines on stdout that are not JSON-RPC",
        "On stdio the protocol reserves stdout for messages. mcp-keel skips such lines; stricter clients drop the \
         connection.",
        "Send logs and banners to stderr.",
        "a server that prints `Server started` on stdout before its first answer";
    "variable-missing" VariableMissing [] Finding Cosmetic None,
        "a variable that the server was to see is not set",
        "`pass-env` names it, and it is not set where mcp-keel runs. Several published servers list fewer tools, or none, \
         without their credentials, and say nothing about it.",
        "Set the variable, for example as a secret of the workflow, or take it out of `pass-env`.",
        "pass-env = [\"API_KEY\"] in a job that does not set API_KEY";
    "acceptance-unused" AcceptanceUnused [Warns] Finding Cosmetic None,
        "an acceptance in mcp-keel.toml matches no change",
        "The change was pinned, reverted or has become another change. An acceptance that is left behind would \
         silently accept the same change when it comes back.",
        "Remove the `[[accept]]` entry.",
        "[[accept]] change = \"9f2c01ab77de\" although no change has this id";
    "acceptance-expired" AcceptanceExpired [Warns] Finding Cosmetic None,
        "an acceptance in mcp-keel.toml has expired",
        "Whoever accepted the change said until when. It counts as not accepted from the day after.",
        "Pin the change, fix it, or accept it again with a new date and a reason.",
        "[[accept]] ... expires = 2024-01-31";
    "server-not-checked" ServerNotChecked [] Finding Cosmetic None,
        "the baseline holds a server that was not checked",
        "The baseline has an entry for which the configuration has no server, so its contract is watched by nobody.",
        "Add the server to mcp-keel.toml, or remove its entry from the baseline.",
        "a baseline with the servers `a` and `b`, and a mcp-keel.toml with `[server.a]` only";
    "version-not-bumped" VersionNotBumped [RequiredBump] Finding Cosmetic None,
        "the version does not say what the drift does",
        "With `require-version-bump = true` a breaking change needs a new major version, anything that adds or may \
         change behaviour a new minor one, the rest a new patch. Below 1.0.0 a minor step may break and a patch step \
         may add.",
        "Raise the server's version, or take the change back.",
        "a tool removed between versions 1.4.0 and 1.4.1";
    "version-decreased" VersionDecreased [RequiredBump] Finding Cosmetic None,
        "the version is lower than the one in the baseline",
        "An older build is being checked, or the version was set back. Package managers do not offer a lower version to \
         anybody who has the higher one.",
        "Check which build was started. If the version is right, pin.",
        "a baseline pinned at 1.4.0, and a server at 1.3.9";
    "version-without-drift" VersionWithoutDrift [] Finding Cosmetic None,
        "the version moved and the contract did not",
        "Nothing that a caller can see changed. That is usual for a fix inside the server; it is said so that version \
         and drift can be read side by side.",
        "Nothing. The next `mcp-keel pin` records the new version.",
        "package.json went from 1.4.0 to 1.4.1, and every tool is as it was";
    "version-disagrees" VersionDisagrees [] Finding Cosmetic None,
        "the server reports another version than its package has",
        "`serverInfo.version` is what clients show and log. In 226 of 347 captures of published servers it was not the \
         package's version: it was the SDK's, or a constant that nobody raised.",
        "Let the server report the version of its package.",
        "package.json says 2.3.0, and serverInfo.version says 1.0.0";
    "tool-version-not-bumped" ToolVersionNotBumped [] Finding Cosmetic None,
        "a versioned tool changed under the same version",
        "FastMCP lets a tool carry a version of its own, and callers can ask for it. A contract that changes under a \
         version that stands defeats that.",
        "Register the changed tool under a new version and keep the old one for a while.",
        "tool:calc@1.0 lost a parameter and is still tool:calc@1.0";
    "launch-link-changed" LaunchLinkChanged [] Finding Cosmetic None,
        "a link of what is launched is not the one that was pinned",
        "The baseline keeps what was launched: the entry point, the runtime or launcher that starts it, down to the \
         process. Another package version, another runtime or other bytes of the entry point can behave differently \
         under the same contract. It is a finding and no drift, because what callers see did not change.",
        "Check that the change was meant. The next `mcp-keel pin` records it. `\"launch-link-changed\" = \"block\"` \
         in `[policy.rules]` makes it fail.",
        "pinned as `npx server@1.2.3`, and checked as `npx server@1.2.4`";
    "launcher-unpinned" LauncherUnpinned [] Finding Cosmetic None,
        "a launcher is not told exactly what to run",
        "`npx server`, `uvx server` or `docker run image:latest` run whatever the registry answers today. What was \
         reviewed and what runs on the next machine can be two different programs. This answers the threats of the supply \
         chain and of an accidental upgrade.",
        "Name one version, or the digest of an image, in the arguments; the finding has the launcher's own syntax.",
        "command = [\"npx\", \"-y\", \"@scope/server\"]";
    "launcher-checksum-only" LauncherChecksumOnly [] Finding Cosmetic None,
        "a checksum covers the launcher, and not what it fetches",
        "`verify.type = \"command\"` on `npx` or `uvx` verifies the launcher's own bytes. That answers local tampering \
         with the launcher; the package that it downloads is not covered at all, although the configuration reads as if \
         it were.",
        "Pin the package in the arguments. To verify its bytes, install it with a lockfile and use \
         `verify.type = \"file\"` on its entry point.",
        "command = [\"uvx\", \"kagimcp\"] with [server.kagi.verify] type = \"command\"";
    "verify-algorithm-weak" VerifyAlgorithmWeak [] Finding Cosmetic None,
        "bytes are verified with sha1",
        "Two files with the same SHA-1 digest can be made for a few thousand dollars. It still notices an accidental \
         change; it does not answer deliberate tampering.",
        "Write algorithm = \"sha256\" and the digest that `sha256sum` prints.",
        "[server.weather.verify] algorithm = \"sha1\"";
    "verify-checksum-deprecated" VerifyChecksumDeprecated [] Finding Cosmetic None,
        "the old spelling of the verify block",
        "`checksum` means the command's own bytes. `[server.NAME.verify]` says which bytes are meant and wins where both \
         stand.",
        "Write `[server.NAME.verify]` with type = \"command\", algorithm and value, and remove `checksum`.",
        "[server.weather] checksum = { algorithm = \"sha256\", value = \"...\" }";
    "verify-none" VerifyNone [] Finding Cosmetic None,
        "somebody decided not to verify the bytes",
        "`verify.type = \"none\"` says that it was considered. A server without a verify block says nothing at all.",
        "Nothing, as long as the decision stands.",
        "[server.weather.verify] type = \"none\"";

    } $families $($after)* } };
}
pub(super) use finding_rules;
