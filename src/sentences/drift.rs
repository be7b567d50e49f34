//! What changed between two surfaces, apart from their schemas.

use super::{counted, happened, list};

pub(crate) fn added(noun: &str, description: Option<&str>) -> String {
    match description {
        Some(text) if !text.is_empty() => format!("new {noun}: {text}"),
        _ => format!("new {noun}"),
    }
}

pub(crate) fn removed(noun: &str) -> String {
    format!("{noun} removed")
}

pub(crate) fn renamed(was: &str, is: &str) -> String {
    format!("`{was}` is now called `{is}`")
}

pub(crate) fn own_version_changed(was: &str, is: &str) -> String {
    let said = |version: &str| match version {
        "" => "none".to_owned(),
        version => version.to_owned(),
    };
    format!("the tool's own version: {} → {}", said(was), said(is))
}

pub(crate) fn respelled() -> String {
    "same meaning, written differently: order of members or spelling of a number".to_owned()
}

pub(crate) fn respelled_with_repeats(name: &str) -> String {
    format!("`{name}` is given more than once: which value counts depends on the parser")
}

pub(crate) fn unexplained() -> String {
    "changed in a way that no rule describes".to_owned()
}

/// `` `title` changed ``
pub(crate) fn member<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    format!("`{name}` {}", happened(old, new))
}

/// `description changed`
pub(crate) fn text<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    match (old.is_some(), new.is_some()) {
        (false, _) => format!("{name} added"),
        (_, false) => format!("{name} removed"),
        _ => format!("{name} changed"),
    }
}

pub(crate) fn hidden_from_http(problem: &str) -> String {
    format!("clients over HTTP now drop the tool: {problem}")
}

/// A hint whose effect did not change, or that has an effect on one side only.
pub(crate) fn hint_stated(hint: &str, was: Option<bool>, is: Option<bool>) -> String {
    match (was, is) {
        (None, Some(_)) => format!("`{hint}` now applies: the tool is no longer read-only"),
        (Some(_), None) => format!("`{hint}` no longer applies: the tool is now read-only"),
        _ => format!("`{hint}` is written differently, same meaning"),
    }
}

pub(crate) fn hint_changed(hint: &str, is: bool) -> String {
    match (hint, is) {
        ("readOnlyHint", true) => "now declares that it only reads (`readOnlyHint: true`)",
        ("readOnlyHint", false) => "no longer declares that it only reads (`readOnlyHint`)",
        ("destructiveHint", true) => "may now be destructive (`destructiveHint`)",
        ("destructiveHint", false) => "now declares `destructiveHint: false`",
        ("idempotentHint", true) => {
            "now declares that calls can be repeated (`idempotentHint: true`)"
        }
        ("idempotentHint", false) => "calls can no longer be repeated safely (`idempotentHint`)",
        ("openWorldHint", true) => "may now reach external systems (`openWorldHint`)",
        _ => "now declares `openWorldHint: false`",
    }
    .to_owned()
}

pub(crate) fn annotation_changed(name: &str) -> String {
    format!("annotation `{name}` changed")
}

pub(crate) fn schema_added(member: &str) -> String {
    format!("`{member}` added")
}

pub(crate) fn schema_removed(member: &str) -> String {
    format!("`{member}` removed")
}

pub(crate) fn provider_refuses(reasons: &str) -> String {
    format!("no longer accepted by {reasons}")
}

pub(crate) fn provider_accepts(providers: &str) -> String {
    format!("now accepted by {providers}")
}

/// An object without `properties`; the tool's arguments if it is not a parameter.
pub(crate) fn properties_omitted(parameter: Option<&str>) -> String {
    match parameter {
        Some(name) => format!(
            "`{name}`: `properties` was left out, and OpenAI's models no longer see the parameter"
        ),
        None => "`properties` was left out, and OpenAI's API rejects the tool".to_owned(),
    }
}

/// Who is excluded from a tool's visibility.
pub(crate) fn visibility_narrowed(lost: &[&str]) -> String {
    let effects = lost.iter().map(|who| match *who {
        "model" => "hosts no longer offer the tool to the model".to_owned(),
        "app" => "hosts reject calls from the server's user interface".to_owned(),
        other => format!("`{other}` was removed"),
    });
    format!(
        "`_meta.ui.visibility`: {}",
        effects.collect::<Vec<_>>().join("; ")
    )
}

pub(crate) fn visibility_widened(gained: &[&str]) -> String {
    let effects = gained.iter().map(|who| match *who {
        "model" => "the model can now call the tool".to_owned(),
        "app" => "the server's user interface can now call the tool".to_owned(),
        other => format!("`{other}` was added"),
    });
    format!(
        "`_meta.ui.visibility`: {}",
        effects.collect::<Vec<_>>().join("; ")
    )
}

pub(crate) fn stated_differently(name: &str) -> String {
    format!("`{name}` is written differently, same meaning")
}

/// The document that shows a tool's results.
pub(crate) fn app_resource(was: Option<&str>, is: Option<&str>) -> String {
    match (was, is) {
        (Some(was), Some(is)) => format!("results are shown by another document: {was} → {is}"),
        (None, Some(is)) => format!("results are now shown by the document {is}"),
        _ => "results are no longer shown by a document of the server".to_owned(),
    }
}

/// `connectDomains`, `permissions` and the like, with what is new there.
pub(crate) fn access_widened(list_name: &str, gained: &[&str]) -> String {
    let gained = gained.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    format!(
        "the user interface may reach more: `{list_name}` now has {}",
        quoted(&gained)
    )
}

pub(crate) fn access_narrowed(list_name: &str, lost: &[&str]) -> String {
    let lost = lost.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    format!(
        "the user interface may reach less: `{list_name}` lost {}",
        quoted(&lost)
    )
}

pub(crate) fn app_domain(was: Option<&str>, is: Option<&str>) -> String {
    let said = |domain: Option<&str>| domain.unwrap_or("the host's default").to_owned();
    format!("origin of the user interface: {} → {}", said(was), said(is))
}

pub(crate) fn audience_widened() -> String {
    "`audience` now includes `assistant`: the text may reach the model".to_owned()
}

/// `execution.taskSupport`, by its meaning.
pub(crate) fn task_support(was: &str, is: &str) -> String {
    let effect = match (was, is) {
        _ if was == is => return stated_differently("execution.taskSupport"),
        (_, "required") => ": plain calls are rejected (-32601)",
        (_, "forbidden") => ": calls as a task are rejected (-32601)",
        _ => "",
    };
    format!("`taskSupport`: {was} → {is}{effect}")
}

/// The same at a revision that does not define it.
pub(crate) fn task_support_undefined(was: &str, is: &str, revision: &str) -> String {
    format!("`taskSupport`: {was} → {is}; {revision} does not define it")
}

/// The same where the server does not declare tasks.
pub(crate) fn task_support_undeclared(was: &str, is: &str) -> String {
    format!(
        "`taskSupport`: {was} → {is}; no effect until the server declares `tasks.requests.tools.call`"
    )
}

/// Another `uriTemplate`; the variables, and whether completions name them.
pub(crate) fn template_moved(was: &[String], is: &[String], completed: bool) -> String {
    let named = |variables: &[String]| match variables {
        [] => "none".to_owned(),
        variables => quoted(variables),
    };
    let variables = if was == is {
        format!("variables unchanged: {}", named(was))
    } else {
        format!("variables {} → {}", named(was), named(is))
    };
    let completions = if completed {
        "; `completion/complete` takes the variables as argument names"
    } else {
        ""
    };
    format!("`uriTemplate` changed; {variables}{completions}")
}

pub(crate) fn argument_removed(name: &str) -> String {
    format!("argument `{name}` removed")
}

pub(crate) fn argument_added(name: &str, required: bool) -> String {
    let kind = if required { "required" } else { "optional" };
    format!("new {kind} argument `{name}`")
}

pub(crate) fn argument_became(name: &str, required: bool) -> String {
    let kind = if required { "required" } else { "optional" };
    format!("argument `{name}` became {kind}")
}

pub(crate) fn argument_changed(name: &str, what: &str) -> String {
    format!("argument `{name}`: `{what}` changed")
}

pub(crate) fn arguments_reordered() -> String {
    "the arguments are listed in another order".to_owned()
}

pub(crate) fn no_arguments_spelled_out() -> String {
    "an empty list of arguments was added or removed".to_owned()
}

pub(crate) fn protocol_revision(was: &str, is: &str, lost_era: Option<&str>) -> String {
    let lost = lost_era.map_or(String::new(), |era| {
        format!("; clients of the {era} era can no longer connect")
    });
    format!("protocol revision: {was} → {is}{lost}")
}

pub(crate) fn revisions_dropped(lost: &[String], legacy_era_lost: bool) -> String {
    let lost = list(lost.iter().map(String::as_str));
    let era = if legacy_era_lost {
        ", and with it every revision that opens with `initialize`"
    } else {
        ""
    };
    format!("`supportedVersions` lost {lost}{era}: clients limited to it cannot connect")
}

pub(crate) fn revisions_missing() -> String {
    "`supportedVersions` is missing or not an array: clients cannot agree on a revision".to_owned()
}

pub(crate) fn revisions_added(gained: &[String]) -> String {
    format!(
        "`supportedVersions` now has {}",
        list(gained.iter().map(String::as_str))
    )
}

pub(crate) fn revisions_reordered() -> String {
    "`supportedVersions` is listed in another order".to_owned()
}

pub(crate) fn cache_scope(method: &str, was: &str, is: &str) -> String {
    let effect = if is == "public" {
        ": caches may now give one user's answer to another"
    } else {
        ""
    };
    format!("`{method}`: cacheScope {was} → {is}{effect}")
}

pub(crate) fn hint_valid(method: &str, hint: &str) -> String {
    format!("`{method}`: `{hint}` is valid again")
}

pub(crate) fn client_changed() -> String {
    "the two surfaces were captured as different clients".to_owned()
}

pub(crate) fn instructions<T>(old: Option<T>, new: Option<T>) -> String {
    match (old.is_some(), new.is_some()) {
        (false, _) => "the server now gives instructions to the model",
        (_, false) => "the server no longer gives instructions to the model",
        _ => "the server's instructions to the model changed",
    }
    .to_owned()
}

pub(crate) fn server_respelled() -> String {
    "`serverInfo` or `capabilities` is written differently and means the same".to_owned()
}

pub(crate) fn server_name_changed() -> String {
    "the server's name changed".to_owned()
}

pub(crate) fn server_version_changed() -> String {
    "the server's version changed".to_owned()
}

pub(crate) fn server_info_changed(member: &str) -> String {
    format!("`serverInfo.{member}` changed")
}

pub(crate) fn capability<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    format!("capability `{name}` {}", happened(old, new))
}

/// A removed capability, and what was offered under it.
pub(crate) fn capability_removed(name: &str, offered: &str) -> String {
    format!("capability `{name}` was removed; {offered}")
}

/// Tasks are now declared, and these tools require them.
pub(crate) fn tasks_now_required(name: &str, tools: &[&str]) -> String {
    format!(
        "capability `{name}` is new, and `taskSupport` is `required`: plain calls of {} are now rejected (-32601)",
        quoted(tools)
    )
}

pub(crate) fn nothing_listed() -> &'static str {
    "nothing was listed under it"
}

/// A map of capabilities without a member.
pub(crate) fn capability_empty<T>(name: &str, old: Option<T>, new: Option<T>) -> String {
    let happened = happened(old, new);
    format!("capability `{name}` {happened}; it was empty")
}

/// A flag that is now on or off.
pub(crate) fn capability_flag(name: &str, is: bool) -> String {
    format!("capability `{name}`: {} → {is}", !is)
}

pub(crate) fn capability_stated(name: &str) -> String {
    format!("capability `{name}` is written differently, same meaning")
}

pub(crate) fn offered(count: usize, noun: &str) -> String {
    match count {
        0 => "nothing was listed under it".to_owned(),
        1 => format!("1 {noun} was offered under it"),
        count => format!("{count} {noun}s were offered under it"),
    }
}

pub(crate) fn offered_log_messages() -> String {
    "log messages stop".to_owned()
}

pub(crate) fn offered_unknown() -> String {
    "what it offers is not read".to_owned()
}

pub(crate) fn extension_added(name: &str, tools: &[String]) -> String {
    match tools {
        [] => format!("new extension `{name}`"),
        tools => format!("new extension `{name}`, used by {}", quoted(tools)),
    }
}

pub(crate) fn extension_removed(name: &str, tools: &[String]) -> String {
    match tools {
        [] => format!("extension `{name}` was removed; no tool declares anything for it"),
        tools => format!(
            "extension `{name}` was removed; it was used by {}",
            quoted(tools)
        ),
    }
}

/// A removed extension with a list, and what was listed.
pub(crate) fn extension_list_removed(name: &str, offered: &str) -> String {
    format!("extension `{name}` was removed; {offered}")
}

pub(crate) fn extension_setting<T>(
    name: &str,
    setting: &str,
    old: Option<T>,
    new: Option<T>,
) -> String {
    match setting {
        "" => format!("the settings of extension `{name}` changed"),
        setting => format!("extension `{name}`: `{setting}` {}", happened(old, new)),
    }
}

/// How many names a sentence lists.
const NAMED: usize = 5;

/// `` `a` ``, `` `a` and `b` ``, `` `a`, `b` and 3 more ``
fn quoted(names: &[impl AsRef<str>]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|it| format!("`{}`", it.as_ref()))
        .collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    list(shown.iter().map(String::as_str))
}

/// A server that no longer lists anything, or no tools.
pub(crate) fn surface_emptied(everything: bool, gone: usize) -> String {
    let what = if everything { "nothing" } else { "no tools" };
    format!("the server now lists {what} ({gone} before); often a credential is missing")
}

pub(crate) fn tools_reordered() -> String {
    "the tools are listed in another order".to_owned()
}

pub(crate) fn server_not_pinned(components: usize) -> String {
    let listed = counted(components, "component");
    format!("the baseline has no entry for this server ({listed})")
}

pub(crate) fn server_removed(components: usize) -> String {
    let listed = counted(components, "component");
    format!("the server was removed, with {listed}")
}

pub(crate) fn skill_asks_for_more(tools: &[&str]) -> String {
    format!("`allowed-tools` now also asks for {}", quoted(tools))
}

pub(crate) fn skill_asks_for_less(tools: &[&str]) -> String {
    format!("`allowed-tools` no longer asks for {}", quoted(tools))
}

pub(crate) fn skill_asks_for_the_same() -> String {
    "`allowed-tools` is written differently, same tools".to_owned()
}

pub(crate) fn skill_asks_for_unknown() -> String {
    "`allowed-tools` is neither a string nor an array of strings: hosts may read anything into it"
        .to_owned()
}

pub(crate) fn skill_became_dynamic() -> String {
    "the skill no longer lists its files: its content cannot be pinned".to_owned()
}

pub(crate) fn skill_became_static() -> String {
    "the skill now lists its files with their digests".to_owned()
}

pub(crate) fn skill_file_added(uri: &str) -> String {
    format!("new file `{uri}`")
}

pub(crate) fn skill_file_removed(uri: &str) -> String {
    format!("file `{uri}` removed")
}

/// `member` is what differs in its entry, if it is one that the extension defines.
pub(crate) fn skill_file_changed(uri: &str, member: Option<&str>) -> String {
    let member = member.unwrap_or("its entry");
    format!("file `{uri}` changed ({member} differs)")
}

pub(crate) fn content_changed() -> String {
    "content changed (digest differs)".to_owned()
}

pub(crate) fn scopes(added: bool, scopes: &[&str]) -> String {
    let noun = if scopes.len() == 1 { "scope" } else { "scopes" };
    let what = if added { "new" } else { "removed" };
    format!("{what} {noun} {}", quoted(scopes))
}
