//! Findings in one surface, in the run or in the policy. They are not drift.

macro_rules! finding_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "component-repeated" ComponentRepeated [] Finding Risky Medium,
        "two components have the same key",
        "Clients keep one of the two, and not all keep the same one. The second is compared under its key with `#2` \
         appended.",
        "Give each component its own name.";
    "component-malformed" ComponentMalformed [] Finding Risky None,
        "a listed component has no name",
        "A tool or prompt without `name`, or a resource without `uri`, is dropped by clients, or they reject the \
         whole list.",
        "Fix the server: the protocol requires the member.";
    "member-repeated" MemberRepeated [] Finding Risky Medium,
        "a JSON object has the same member twice",
        "Most parsers silently keep the last one, while a reviewer of the raw text sees the first. Two readers can \
         see two different definitions.",
        "Fix the server's serializer. Until then both members are compared.";
    "x-mcp-header-invalid" XMcpHeaderInvalid [] Finding Risky None,
        "a tool has an invalid `x-mcp-header`",
        "Since 2026-07-28 HTTP clients repeat such a parameter in a header, and must drop the tool if the annotation \
         is invalid. Over stdio and at older revisions it is ignored.",
        "Use a valid header name, each only once, on a string, integer or boolean reached through `properties` only.";
    "era-fallback" EraFallback [] Finding Cosmetic None,
        "the server no longer speaks the protocol era that was pinned",
        "`--era auto` asks in the era recorded in the baseline, then in the other one. The capture is complete and \
         was compared; `protocol-version-changed` is the drift.",
        "Check that the clients you support speak the new era, then pin.",
        "a baseline with protocolVersion 2026-07-28, and a server that answers `initialize` only";
    "era-not-spoken" EraNotSpoken [] Finding Cosmetic None,
        "the server speaks only one protocol era",
        "`--era both` was requested, and there is no second capture to compare with.",
        "Nothing to do. `--era auto` asks only once.",
        "--era both, and a server that answers `server/discover` with \"Method not found\"";
    "era-surfaces-differ" EraSurfacesDiffer [] Finding Cosmetic None,
        "the server lists different things in the two protocol eras",
        "Clients up to 2025-11-25 and clients since 2026-07-28 see different contracts. Only one is compared with \
         the baseline, so drift in the other goes unnoticed.",
        "List the same in both eras. If the difference is intended, pin each era as a server of its own with `era`.",
        "--era both, and a server that lists a tool to `initialize` clients only";
    "stdout-noise" StdoutNoise [] Finding Cosmetic None,
        "the server prints lines to stdout that are not JSON-RPC",
        "Over stdio, stdout is reserved for messages. mcp-keel skips such lines; stricter clients drop the \
         connection.",
        "Write logs and banners to stderr.",
        "a server that prints `Server started` on stdout before its first answer";
    "variable-missing" VariableMissing [] Finding Cosmetic None,
        "a variable in `pass-env` is not set",
        "Several published servers list fewer tools, or none, without their credentials, and report no error.",
        "Set the variable, for example from a secret of the workflow, or remove it from `pass-env`.",
        "pass-env = [\"API_KEY\"] in a job that does not set API_KEY";
    "acceptance-unused" AcceptanceUnused [Warns] Finding Cosmetic None,
        "an acceptance in mcp-keel.toml matches no change",
        "The change was pinned or reverted, or became another change. A leftover entry would silently accept the \
         same change if it came back.",
        "Remove the `[[accept]]` entry.",
        "[[accept]] change = \"9f2c01ab77de4b60a1c5d38e92f47b06\" although no change has this id";
    "acceptance-expired" AcceptanceExpired [Warns] Finding Cosmetic None,
        "an acceptance in mcp-keel.toml has expired",
        "The acceptance has expired. The change counts as not accepted.",
        "Pin the change, fix it, or accept it again with a new date.",
        "[[accept]] ... expires = 2024-01-31";
    "check-weakened" CheckWeakened [Warns] Finding Cosmetic None,
        "the change under review weakens its own check",
        "Policy, acceptances, masks, verify blocks, the list of servers and the path of the baseline come from the base \
         branch. What a pull request changes about them applies after the merge, and less would fail because of it.",
        "Review it as a change of its own, or revert it. Code owners of mcp-keel.toml and of the workflow are asked by GitHub.",
        "a pull request that sets fail-on to `none`, adds a mask, or removes a server from mcp-keel.toml";
    "server-not-checked" ServerNotChecked [] Finding Cosmetic None,
        "the baseline has a server that was not checked",
        "The configuration has no server for this entry, so its contract is not watched.",
        "Add the server to mcp-keel.toml, or remove its entry: `mcp-keel baseline remove NAME`.",
        "a baseline with the servers `a` and `b`, and a mcp-keel.toml with `[server.a]` only";
    "version-not-bumped" VersionNotBumped [RequiredBump] Finding Cosmetic None,
        "the version does not reflect the changes",
        "With `require-version-bump = true`, breaking changes require a new major version, risky and additive ones a \
         minor, the rest a patch. Below 1.0.0, breaking changes require a minor version and the rest a patch.",
        "Raise the server's version, or revert the change.",
        "a tool removed between versions 1.4.0 and 1.4.1";
    "context-limit-exceeded" ContextLimitExceeded [Blocks] Finding Cosmetic None,
        "the tools cost more of a model's context than the policy allows",
        "Every tool is sent to the model with every request. Definitions that grow leave less room for the task and \
         cost money on each call. Off unless `context-limit` or `context-growth` is set.",
        "Shorten descriptions and schemas, or raise the limit. The report lists the tokens of each tool.",
        "[policy] context-growth = 0, and a tool whose description got longer";
    "version-decreased" VersionDecreased [RequiredBump] Finding Cosmetic None,
        "the version is lower than in the baseline",
        "An older build is being checked, or the version was reset. Package managers do not offer a lower version to \
         users of a higher one.",
        "Check which build was started. If the version is right, pin.",
        "a baseline pinned at 1.4.0, and a server at 1.3.9";
    "version-without-drift" VersionWithoutDrift [] Finding Cosmetic None,
        "the version changed but the contract did not",
        "This is usual for a fix inside the server. It is reported so that version and drift can be read together.",
        "Nothing to do. The next `mcp-keel pin` records the new version.",
        "package.json went from 1.4.0 to 1.4.1, and every tool is as it was";
    "version-disagrees" VersionDisagrees [] Finding Cosmetic None,
        "`serverInfo.version` is not the package's version",
        "Clients show and log `serverInfo.version`. In 226 of 347 captures of published servers it was the SDK's \
         version or a stale constant.",
        "Report the version of the package.",
        "package.json says 2.3.0, and serverInfo.version says 1.0.0";
    "tool-version-not-bumped" ToolVersionNotBumped [] Finding Cosmetic None,
        "a versioned tool changed without a new version",
        "A FastMCP tool can have a version that callers ask for. Changing the contract under the same version \
         defeats that.",
        "Register the changed tool under a new version, and keep the old one for a while.",
        "tool:calc@1.0 lost a parameter and is still tool:calc@1.0";
    "launch-link-changed" LaunchLinkChanged [] Finding Cosmetic None,
        "what is launched is not what was pinned",
        "The baseline records the entry point, the runtime or launcher and the process. Another package version, \
         runtime or script can behave differently under the same contract. Callers see no difference, so this is \
         not drift.",
        "Check that it was intended; the next `pin` records it. `\"launch-link-changed\" = \"block\"` in \
         `[policy.rules]` makes it fail.",
        "pinned as `npx server@1.2.3`, and checked as `npx server@1.2.4`";
    "launcher-unpinned" LauncherUnpinned [] Finding Cosmetic None,
        "a launcher does not name an exact version",
        "`npx server`, `uvx server` and `docker run image:latest` run whatever the registry serves today. What runs \
         on the next machine may not be what was reviewed.",
        "Name an exact version, or an image digest; the finding shows the launcher's syntax.",
        "command = [\"npx\", \"-y\", \"@scope/server\"]";
    "launcher-checksum-only" LauncherChecksumOnly [] Finding Cosmetic None,
        "a checksum covers the launcher but not what it fetches",
        "`verify.type = \"command\"` on `npx` or `uvx` verifies the launcher. The package that it downloads is not \
         covered, although the configuration looks as if it were.",
        "Pin the package in the arguments. To verify its bytes, install it with a lock file and use `verify.type = \
         \"file\"`.",
        "command = [\"uvx\", \"kagimcp\"] with [server.kagi.verify] type = \"command\"";
    "verify-algorithm-weak" VerifyAlgorithmWeak [] Finding Cosmetic None,
        "bytes are verified with sha1",
        "SHA-1 collisions are affordable. It detects accidents, not deliberate tampering.",
        "Write algorithm = \"sha256\" and the digest that `sha256sum` prints.",
        "[server.weather.verify] algorithm = \"sha1\"";
    "verify-checksum-deprecated" VerifyChecksumDeprecated [] Finding Cosmetic None,
        "`checksum` is the old form of the verify block",
        "`[server.NAME.verify]` says which bytes are meant, and wins if both are given.",
        "Write `[server.NAME.verify]` with type = \"command\", algorithm and value, and remove `checksum`.",
        "[server.weather] checksum = { algorithm = \"sha256\", value = \"...\" }";
    "verify-none" VerifyNone [] Finding Cosmetic None,
        "the bytes are deliberately not verified",
        "`verify.type = \"none\"` records the decision. A server without a verify block makes no claim.",
        "Nothing, unless you want to reconsider.",
        "[server.weather.verify] type = \"none\"";

    } $families $($after)* } };
}
pub(super) use finding_rules;
