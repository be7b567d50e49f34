//! Rules about prompts, resources and resource templates.

macro_rules! component_rules {
    ({ $($rules:tt)* } $families:tt $next:ident $($after:ident)*) => { $next! { { $($rules)*

    "prompt-added" PromptAdded [Unknown] Change Additive Medium,
        "a prompt that the baseline does not know",
        "People can now insert a text from this server into their conversations that nobody approved.",
        "Read it, then pin.";
    "prompt-removed" PromptRemoved [Removed] Change Breaking None,
        "a prompt is gone",
        "Slash commands and saved workflows that name it fail.",
        "Keep the old name for a release, or release it as a breaking change and pin.";
    "prompt-description-changed" PromptDescriptionChanged [] Change Risky Low,
        "a prompt's description changed",
        "People choose a prompt by its description, and some clients show it to the model.",
        "Read the word diff, then pin.";
    "prompt-title-changed" PromptTitleChanged [] Change Cosmetic None,
        "a prompt's title changed",
        "Only what people see in a list changed.",
        "Nothing for callers. Pin.";
    "prompt-icons-changed" PromptIconsChanged [] Change Cosmetic Low,
        "a prompt's icons changed",
        "Icons are fetched by the client from the address that the server names.",
        "Check that the new address is one you trust, then pin.";
    "prompt-meta-changed" PromptMetaChanged [] Change Cosmetic Low,
        "a prompt's `_meta` changed",
        "`_meta` carries what frameworks and single clients agreed on.",
        "Check whether a client of yours reads it, then pin.";
    "prompt-argument-added-required" PromptArgumentAddedRequired [] Change Breaking None,
        "a prompt asks for an argument that it did not have",
        "Whoever gets the prompt without it is refused.",
        "Give the argument a default and make it optional, or release it as a breaking change and pin.";
    "prompt-argument-added-optional" PromptArgumentAddedOptional [] Change Additive None,
        "a prompt takes one more optional argument",
        "Old uses of the prompt go on working.",
        "Nothing for callers. Pin.";
    "prompt-argument-removed" PromptArgumentRemoved [] Change Breaking None,
        "a prompt no longer takes an argument",
        "Uses that fill it in are refused or, worse, silently lose what they said.",
        "Keep the argument for a release, or release it as a breaking change and pin.";
    "prompt-argument-became-required" PromptArgumentBecameRequired [] Change Breaking None,
        "an optional argument of a prompt became required",
        "Uses that leave it out are refused.",
        "Keep it optional with a default, or release it as a breaking change and pin.";
    "prompt-argument-became-optional" PromptArgumentBecameOptional [] Change Additive None,
        "a required argument of a prompt became optional",
        "Old uses of the prompt go on working.",
        "Nothing for callers. Pin.";
    "prompt-argument-changed" PromptArgumentChanged [] Change Cosmetic Low,
        "the text of a prompt's argument changed",
        "Title or description of an argument: what people read when they fill it in.",
        "Read it, then pin.";
    "resource-added" ResourceAdded [Unknown] Change Additive Low,
        "a resource that the baseline does not know",
        "Clients can now read something from this server that nobody approved.",
        "Look at what it offers, then pin.";
    "resource-removed" ResourceRemoved [Removed] Change Breaking None,
        "a resource is gone",
        "Whoever reads its address gets an error.",
        "Keep the address for a release, or release it as a breaking change and pin.";
    "resource-name-changed" ResourceNameChanged [] Change Cosmetic None,
        "a resource's name changed",
        "Clients show the name; they read by the address.",
        "Nothing for callers. Pin.";
    "resource-mime-type-changed" ResourceMimeTypeChanged [] Change Risky None,
        "a resource's MIME type changed",
        "Clients choose by the MIME type how to show or parse what they read.",
        "Check that readers understand the new type, then pin.";
    "resource-description-changed" ResourceDescriptionChanged [] Change Risky Low,
        "a resource's description changed",
        "Models choose by the description what to read.",
        "Read the word diff, then pin.";
    "resource-title-changed" ResourceTitleChanged [] Change Cosmetic None,
        "a resource's title changed",
        "Only what people see in a list changed.",
        "Nothing for callers. Pin.";
    "resource-annotation-changed" ResourceAnnotationChanged [] Change Cosmetic Low,
        "an annotation of a resource changed",
        "Audience and priority tell clients whom a resource is for and whether to include it by themselves.",
        "Check that it was meant to change, then pin.";
    "resource-icons-changed" ResourceIconsChanged [] Change Cosmetic Low,
        "a resource's icons changed",
        "Icons are fetched by the client from the address that the server names.",
        "Check that the new address is one you trust, then pin.";
    "resource-meta-changed" ResourceMetaChanged [] Change Cosmetic Low,
        "a resource's `_meta` changed",
        "`_meta` carries what frameworks and single clients agreed on.",
        "Check whether a client of yours reads it, then pin.";
    "template-added" TemplateAdded [Unknown] Change Additive Low,
        "a resource template that the baseline does not know",
        "Clients can now build addresses, and read them, that nobody approved.",
        "Look at what it offers, then pin.";
    "template-removed" TemplateRemoved [Removed] Change Breaking None,
        "a resource template is gone",
        "Whoever builds addresses from it gets errors. A template whose variables changed is a new template: its text \
         is its identity.",
        "Keep the template for a release, or release it as a breaking change and pin.";
    "template-name-changed" TemplateNameChanged [] Change Cosmetic None,
        "a resource template's name changed",
        "Clients show the name; they build addresses from the template.",
        "Nothing for callers. Pin.";
    "template-mime-type-changed" TemplateMimeTypeChanged [] Change Risky None,
        "a resource template's MIME type changed",
        "Clients choose by the MIME type how to show or parse what they read.",
        "Check that readers understand the new type, then pin.";
    "template-description-changed" TemplateDescriptionChanged [] Change Risky Low,
        "a resource template's description changed",
        "Models choose by the description which addresses to build.",
        "Read the word diff, then pin.";
    "template-title-changed" TemplateTitleChanged [] Change Cosmetic None,
        "a resource template's title changed",
        "Only what people see in a list changed.",
        "Nothing for callers. Pin.";
    "template-annotation-changed" TemplateAnnotationChanged [] Change Cosmetic Low,
        "an annotation of a resource template changed",
        "Audience and priority tell clients whom a resource is for and whether to include it by themselves.",
        "Check that it was meant to change, then pin.";
    "template-icons-changed" TemplateIconsChanged [] Change Cosmetic Low,
        "a resource template's icons changed",
        "Icons are fetched by the client from the address that the server names.",
        "Check that the new address is one you trust, then pin.";
    "template-meta-changed" TemplateMetaChanged [] Change Cosmetic Low,
        "a resource template's `_meta` changed",
        "`_meta` carries what frameworks and single clients agreed on.",
        "Check whether a client of yours reads it, then pin.";

    } $families $($after)* } };
}
pub(super) use component_rules;
