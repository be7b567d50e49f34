//! Rules about prompts, resources and resource templates.

macro_rules! component_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "prompt-added" PromptAdded [Unknown] Change Additive Medium,
        "a prompt was added",
        "Users can now insert text from this server that was never approved.",
        "Read it, then pin.";
    "prompt-removed" PromptRemoved [Removed] Change Breaking None,
        "a prompt was removed",
        "Slash commands and saved workflows that name it fail.",
        "Keep the old name for a release, or release it as a breaking change and pin.";
    "prompt-description-changed" PromptDescriptionChanged [] Change Risky Low,
        "a prompt's description changed",
        "Users choose a prompt by its description, and some clients show it to the model.",
        "Read the diff, then pin.";
    "prompt-title-changed" PromptTitleChanged [] Change Cosmetic None,
        "a prompt's title changed",
        "Only the display name changed.",
        "Nothing for callers. Pin.";
    "prompt-icons-changed" PromptIconsChanged [] Change Cosmetic Low,
        "a prompt's icons changed",
        "Clients fetch icons from the URL that the server names. Another origin, SVG or `http:` is medium exposure; a \
         scheme such as `javascript:` is high.",
        "Check that you trust the new URL, then pin.";
    "prompt-meta-changed" PromptMetaChanged [] Change Cosmetic Low,
        "a prompt's `_meta` changed",
        "`_meta` carries data for particular frameworks and clients. A member whose name suggests trust, access or \
         secrecy is medium exposure.",
        "Check whether a client of yours reads it, then pin.";
    "prompt-argument-added-required" PromptArgumentAddedRequired [] Change Breaking None,
        "a required argument was added to a prompt",
        "Requests without the argument are rejected.",
        "Make it optional with a default, or release it as a breaking change and pin.";
    "prompt-argument-added-optional" PromptArgumentAddedOptional [] Change Additive None,
        "an optional argument was added to a prompt",
        "Existing uses of the prompt still work.",
        "Nothing for callers. Pin.";
    "prompt-argument-removed" PromptArgumentRemoved [] Change Breaking None,
        "an argument was removed from a prompt",
        "Requests that fill it in are rejected, or the value is silently ignored.",
        "Keep the argument for a release, or release it as a breaking change and pin.";
    "prompt-argument-became-required" PromptArgumentBecameRequired [] Change Breaking None,
        "an optional argument of a prompt became required",
        "Requests without the argument are rejected.",
        "Keep it optional with a default, or release it as a breaking change and pin.";
    "prompt-argument-became-optional" PromptArgumentBecameOptional [] Change Additive None,
        "a required argument of a prompt became optional",
        "Existing uses of the prompt still work.",
        "Nothing for callers. Pin.";
    "prompt-argument-changed" PromptArgumentChanged [] Change Cosmetic Low,
        "the title or description of a prompt's argument changed",
        "It is what users read when they fill the argument in.",
        "Read it, then pin.";
    "resource-added" ResourceAdded [Unknown] Change Additive Low,
        "a resource was added",
        "Clients can read something that was never approved.",
        "Look at what it offers, then pin.";
    "resource-removed" ResourceRemoved [Removed] Change Breaking None,
        "a resource was removed",
        "Reading its URI fails.",
        "Keep the URI for a release, or release it as a breaking change and pin.";
    "resource-name-changed" ResourceNameChanged [] Change Cosmetic None,
        "a resource's name changed",
        "Clients show the name, but read by the URI.",
        "Nothing for callers. Pin.";
    "resource-mime-type-changed" ResourceMimeTypeChanged [] Change Risky None,
        "a resource's `mimeType` changed",
        "Clients choose by the MIME type how to show or parse the content.",
        "Check that readers understand the new type, then pin.";
    "resource-description-changed" ResourceDescriptionChanged [] Change Risky Low,
        "a resource's description changed",
        "Models choose by the description what to read.",
        "Read the diff, then pin.";
    "resource-title-changed" ResourceTitleChanged [] Change Cosmetic None,
        "a resource's title changed",
        "Only the display name changed.",
        "Nothing for callers. Pin.";
    "resource-annotation-changed" ResourceAnnotationChanged [] Change Cosmetic Low,
        "an annotation of a resource changed",
        "`audience` and `priority` tell clients whom a resource is for and whether to include it automatically.",
        "Check that it was intended, then pin.";
    "resource-icons-changed" ResourceIconsChanged [] Change Cosmetic Low,
        "a resource's icons changed",
        "Clients fetch icons from the URL that the server names. Another origin, SVG or `http:` is medium exposure; a \
         scheme such as `javascript:` is high.",
        "Check that you trust the new URL, then pin.";
    "resource-meta-changed" ResourceMetaChanged [] Change Cosmetic Low,
        "a resource's `_meta` changed",
        "`_meta` carries data for particular frameworks and clients. A member whose name suggests trust, access or \
         secrecy is medium exposure.",
        "Check whether a client of yours reads it, then pin.";
    "template-added" TemplateAdded [Unknown] Change Additive Low,
        "a resource template was added",
        "Clients can build and read URIs that were never approved.",
        "Look at what it offers, then pin.";
    "template-removed" TemplateRemoved [Removed] Change Breaking None,
        "a resource template was removed",
        "URIs built from it fail, and so do completions of its variables.",
        "Keep the template for a release, or release it as a breaking change and pin.";
    "template-name-changed" TemplateNameChanged [] Change Cosmetic None,
        "a resource template's name changed",
        "Clients show the name, but build URIs from the template.",
        "Nothing for callers. Pin.";
    "template-mime-type-changed" TemplateMimeTypeChanged [] Change Risky None,
        "a resource template's `mimeType` changed",
        "Clients choose by the MIME type how to show or parse the content.",
        "Check that readers understand the new type, then pin.";
    "template-description-changed" TemplateDescriptionChanged [] Change Risky Low,
        "a resource template's description changed",
        "Models choose by the description which URIs to build.",
        "Read the diff, then pin.";
    "template-title-changed" TemplateTitleChanged [] Change Cosmetic None,
        "a resource template's title changed",
        "Only the display name changed.",
        "Nothing for callers. Pin.";
    "template-annotation-changed" TemplateAnnotationChanged [] Change Cosmetic Low,
        "an annotation of a resource template changed",
        "`audience` and `priority` tell clients whom a resource is for and whether to include it automatically.",
        "Check that it was intended, then pin.";
    "template-icons-changed" TemplateIconsChanged [] Change Cosmetic Low,
        "a resource template's icons changed",
        "Clients fetch icons from the URL that the server names. Another origin, SVG or `http:` is medium exposure; a \
         scheme such as `javascript:` is high.",
        "Check that you trust the new URL, then pin.";
    "template-meta-changed" TemplateMetaChanged [] Change Cosmetic Low,
        "a resource template's `_meta` changed",
        "`_meta` carries data for particular frameworks and clients. A member whose name suggests trust, access or \
         secrecy is medium exposure.",
        "Check whether a client of yours reads it, then pin.";

    } $families $($after)* } };
}
pub(super) use component_rules;
