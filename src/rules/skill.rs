//! Rules about skills, and about the content of resources.

macro_rules! skill_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "skill-added" SkillAdded [Unknown] Change Additive High,
        "a skill was added",
        "A skill is instructions that a model follows, with files that it may run with the host's tools. This one was \
         never approved.",
        "Read all of its files, then pin.";
    "skill-removed" SkillRemoved [Removed] Change Breaking None,
        "a skill is no longer listed",
        "Hosts build their registry from the list, and workflows that name the skill lose it. A server may list only \
         some of its skills, so it may still be readable by its URI.",
        "Keep the skill for a release, or release it as a breaking change and pin.";
    "skill-file-changed" SkillFileChanged [] Change Risky High,
        "a file of a skill changed",
        "The digest in the skill's list is another one. The file is instructions to the model, or a script that the \
         model is asked to run. Hosts revoke what users approved.",
        "Read the difference in the server's repository like a change to a system prompt, then pin.";
    "skill-file-added" SkillFileAdded [] Change Risky High,
        "a file was added to a skill",
        "It is new instructions to the model, or a new script that the model may be asked to run. Hosts revoke what \
         users approved.",
        "Read it, then pin.";
    "skill-file-removed" SkillFileRemoved [] Change Risky Low,
        "a file was removed from a skill",
        "Other files of the skill may still refer to it; reading it fails.",
        "Check that nothing refers to it, then pin.";
    "skill-description-changed" SkillDescriptionChanged [] Change Risky Low,
        "a skill's description changed",
        "Models choose by the description when to load a skill. A new URL or an order to the model raises the exposure \
         to high.",
        "Read the diff, then pin.";
    "skill-frontmatter-changed" SkillFrontmatterChanged [] Change Risky Medium,
        "another field of a skill's frontmatter changed",
        "Hosts read fields such as `name`, `license`, `compatibility`, `metadata` and hooks of their own. What a field \
         does depends on the host.",
        "Check what your host does with the field, then pin.";
    "skill-allowed-tools-widened" SkillAllowedToolsWidened [] Change Risky High,
        "a skill asks to use more tools without confirmation",
        "`allowed-tools` is a request for permission on the host. Hosts must not honour it without approval, and an \
         approval that was given for less must not cover more.",
        "Approve it only if the skill needs these tools.";
    "skill-allowed-tools-narrowed" SkillAllowedToolsNarrowed [] Change Risky None,
        "a skill asks to use fewer tools without confirmation",
        "Hosts that honoured `allowed-tools` ask users again for the others.",
        "Nothing, if it was intended. Pin.";
    "skill-became-dynamic" SkillBecameDynamic [] Change Risky High,
        "a skill no longer lists its files",
        "`resources` is `dynamic`: its content is generated, has no digests, cannot be pinned and may differ for each \
         reader. Hosts may decline to load it.",
        "Ask why. If the content is really generated, pin, and know that its changes go unnoticed.";
    "skill-became-static" SkillBecameStatic [] Change Additive None,
        "a skill now lists its files with digests",
        "It was `dynamic` and could not be pinned. From now on its changes are noticed.",
        "Read its files once, then pin.";
    "skill-dynamic" SkillDynamic [] Finding Risky Medium,
        "a skill's content cannot be pinned",
        "Its `resources` is `dynamic`: the content is generated and has no digests. Only its frontmatter is compared; \
         what the model reads can change without any drift.",
        "List the files with digests if the content is not really generated.";
    "skill-now-invalid" SkillNowInvalid [] Change Breaking None,
        "clients must no longer load a skill",
        "Its entry is not as the skills extension demands: `uri`, `frontmatter` with name and description, and every \
         file once with digest and size, at most 512 files and 16 MiB, below the folder of its `SKILL.md`, which has \
         the skill's name.",
        "Fix the entry at the place shown.";
    "skill-invalid" SkillInvalid [] Finding Risky None,
        "clients must not load a skill",
        "Its entry is not as the skills extension demands: `uri`, `frontmatter` with name and description, and every \
         file once with digest and size, at most 512 files and 16 MiB, below the folder of its `SKILL.md`, which has \
         the skill's name.",
        "Fix the entry at the place shown.";
    "content-added" ContentAdded [Unknown] Change Additive Medium,
        "the document of an app was added",
        "With `read-resources` the documents that tools show their results in are read. Hosts run this one in a \
         sandboxed frame, where it can call the server's tools.",
        "Read it, then pin.";
    "content-removed" ContentRemoved [Removed] Change Cosmetic None,
        "the document of an app is no longer referred to",
        "No tool shows its results in it, or a file of a skill is again what its list says. A tool that lost its \
         document has a change of its own.",
        "Nothing, if it was intended. Pin.";
    "content-changed" ContentChanged [] Change Risky High,
        "the document of an app changed",
        "Its digest is another one. Hosts run the document in a sandboxed frame, where it can call the server's tools \
         and send messages to the model.",
        "Read the difference in the server's repository, then pin.";
    "content-mime-type-changed" ContentMimeTypeChanged [] Change Risky None,
        "the MIME type of an app's document changed",
        "Hosts show only `text/html;profile=mcp-app`.",
        "Check that hosts still show it, then pin.";
    "content-meta-changed" ContentMetaChanged [] Change Cosmetic Medium,
        "the `_meta` of an app's document changed",
        "It says which origins the document may talk to and which permissions it asks for.",
        "Check that you trust the origins, then pin.";
    "content-detail-changed" ContentDetailChanged [] Change Cosmetic None,
        "how much a resource holds, or whether it can be read, changed",
        "The size goes with the digest. A resource that cannot be read any longer has a change of its own.",
        "Read the other changes, then pin.";
    "content-now-unusable" ContentNowUnusable [] Change Breaking None,
        "a resource that clients are pointed to can no longer be read",
        "A tool names a document for its results that the server refuses to read, so hosts have nothing to show; or a \
         file of a skill does not match its listed digest, so hosts must not use it.",
        "Serve the document that `_meta.ui.resourceUri` names, or list the skill's files anew.";
    "content-unusable" ContentUnusable [] Finding Risky None,
        "a resource that clients are pointed to cannot be read",
        "A tool names a document for its results that the server refuses to read, so hosts have nothing to show; or a \
         file of a skill does not match its listed digest, so hosts must not use it.",
        "Serve the document that `_meta.ui.resourceUri` names, or list the skill's files anew.";
    "scope-added" ScopeAdded [] Change Breaking High,
        "the server's authorization knows a new scope",
        "With `read-resources`, `scopes_supported` of `/.well-known/oauth-protected-resource` is recorded over HTTP, \
         and the `scope` that the server asks for when it is called without a token. Tokens that were issued without the scope may be refused, and users are asked to grant more.",
        "Check what the scope allows, and whether old tokens still work. Then pin.";
    "scope-removed" ScopeRemoved [] Change Additive None,
        "the server's authorization no longer knows a scope",
        "Clients that ask for the scope get less, or an error from the authorization server.",
        "Check that nothing asks for it, then pin.";
    "server-card-changed" ServerCardChanged [] Change Cosmetic Low,
        "the server's card was added, removed or changed",
        "With `read-resources`, name, version, title and protocol revisions of `/server-card` are recorded over HTTP. \
         Clients read the card before they connect.",
        "Check that it is what you publish, then pin.";
    "server-card-now-disagrees" ServerCardNowDisagrees [] Change Risky Low,
        "the server's card no longer matches the server",
        "Clients read `/server-card` before they connect: name, version, title and protocol revisions should not \
         contradict the server, or clients choose the wrong server or revision.",
        "Publish a card of this version.";
    "server-card-disagrees" ServerCardDisagrees [] Finding Risky Low,
        "the server's card does not match the server",
        "Clients read `/server-card` before they connect: name, version, title and protocol revisions should not \
         contradict the server, or clients choose the wrong server or revision.",
        "Publish a card of this version.";
    "list-not-compared" ListNotCompared [Warns] Finding Cosmetic None,
        "a list is not compared with the baseline",
        "The baseline was written before mcp-keel read this list, or one side was captured with `read-resources` and \
         the other without. Nothing in it counts as drift.",
        "Pin again, with the same `read-resources`.",
        "a baseline of a server that declares io.modelcontextprotocol/skills, without `\"lists\": [\"skills\"]`";

    } $families $($after)* } };
}
pub(super) use skill_rules;
