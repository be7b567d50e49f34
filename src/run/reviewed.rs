//! Where a pull request's configuration may send what is not its own: variables of the environment, answers and headers of
//! the workflow, and requests to addresses.
//!
//! The base's configuration and the workflow's inputs were reviewed. A variable goes where these send it and nowhere else:
//! to the same command with the same environment, or to the same origin through the same proxy. An address that neither
//! names is not contacted, except that of a server that is started on this machine.

use std::collections::BTreeSet;

use super::base::Base;
use super::endpoint;
use super::request::ServerRequest;
use crate::capture::http::{HttpAddress, header_line};
use crate::config::{HttpConfig, ServerConfig};
use crate::redact;

/// Whose configuration was reviewed.
#[derive(Clone, Copy)]
pub(crate) enum Reviewed<'a> {
    /// That of the working folder, or it was accepted.
    Folder,
    /// That of the base; none if it cannot be read.
    Base(Option<&'a Base>),
}

/// Variables that every process inherits or has anyway.
const HARMLESS: [&str; 9] = [
    "HOME",
    "LANG",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "USERPROFILE",
];

impl Reviewed<'_> {
    /// What this server would get, or would be asked, without having been reviewed: one sentence for each.
    pub(crate) fn unreviewed(
        self,
        request: &ServerRequest,
        name: &str,
        server: &ServerConfig,
    ) -> Vec<String> {
        let Self::Base(base) = self else {
            return Vec::new();
        };
        let known: Vec<&ServerConfig> = base.map(Base::all_servers).unwrap_or_default();
        let of_name = base.and_then(|base| base.server(name));
        let mut found = Vec::new();
        if let Some(names) = to_process(request, server, &known, of_name)
            && !names.is_empty()
        {
            found.push(format!(
                "`{name}` would pass {} to {}",
                listed(&names),
                started(request, server)
            ));
        }
        // An address of the workflow was reviewed, and the configured headers do not apply to it.
        if let Some(http) = server.http.as_ref().filter(|_| request.url.is_none()) {
            found.extend(to_address(request, name, server, http, &known));
        }
        found
    }
}

/// The variables that a process would get and that were not reviewed; none if nothing is started.
fn to_process(
    request: &ServerRequest,
    server: &ServerConfig,
    known: &[&ServerConfig],
    of_name: Option<&ServerConfig>,
) -> Option<BTreeSet<String>> {
    let command = launched(server);
    let is_typed = !request.command.is_empty() || request.start.is_some();
    if command.is_empty() && !is_typed {
        return None;
    }
    let own = uses_of_process(server);
    if is_typed {
        // The workflow names the command, and what it passes on. The rest is as on the base.
        let reviewed = of_name.map(uses_of_process).unwrap_or_default();
        let given: BTreeSet<String> = request.pass_env.iter().cloned().collect();
        return Some(&(&own - &reviewed) - &given);
    }
    let passed = request.pass_env.iter().cloned();
    let set = request.env.iter();
    let set = set.filter(|(name, value)| redact::is_secret(name, value));
    let given: BTreeSet<String> = passed.chain(set.map(|(name, _)| name.clone())).collect();
    let mut same = known
        .iter()
        .filter(|it| is_same_launch(it, server))
        .peekable();
    if same.peek().is_none() {
        return Some(&own | &given);
    }
    let reviewed: BTreeSet<String> = same.flat_map(|it| uses_of_process(it)).collect();
    Some(&(&own - &reviewed) - &given)
}

/// What would be sent to an address without having been reviewed.
fn to_address(
    request: &ServerRequest,
    name: &str,
    server: &ServerConfig,
    http: &HttpConfig,
    known: &[&ServerConfig],
) -> Vec<String> {
    // An address that cannot be used is reported elsewhere, and not contacted.
    let Some(address) = address_of(server, http) else {
        return Vec::new();
    };
    let origin = address.origin();
    // As it is written, where a value was filled in: this is shown to people.
    let shown = if http.url.variables().is_empty() {
        origin.clone()
    } else {
        address.to_string()
    };
    let starts = request.start.is_some() || !http.start.is_empty();
    let same: Vec<(&ServerConfig, &HttpConfig)> = known
        .iter()
        .filter_map(|it| Some((*it, it.http.as_ref()?)))
        .filter(|(it, its)| address_of(it, its).is_some_and(|at| at.origin() == origin))
        // What listens on this machine is what was started.
        .filter(|(it, _)| !address.is_local() || is_same_launch(it, server))
        .collect();
    let mut found = Vec::new();
    if same.is_empty() && !(starts && address.is_local()) {
        found.push(format!(
            "`{name}` would be reached at {shown}, which is not on the base branch"
        ));
    }
    if let Some(proxy) = http.proxy.as_ref().filter(|_| request.proxy.is_none())
        && proxy.typed() != "env"
        && !same
            .iter()
            .any(|(_, its)| its.proxy.as_ref() == Some(proxy))
    {
        found.push(format!(
            "`{name}` would be reached through a proxy that is not on the base branch"
        ));
    }
    let own = uses_of_address(server, http);
    let reviewed = same.iter().flat_map(|(it, its)| uses_of_address(it, its));
    let reviewed: BTreeSet<String> = reviewed.collect();
    let mut names = &own - &reviewed;
    if same.is_empty() {
        // The workflow meant them for a server that the base knows.
        for header in request.headers.iter().filter_map(|it| header_line(it).ok()) {
            let variables = header.1.variables();
            names.extend(variables.iter().map(|it| (*it).to_owned()));
            if variables.is_empty() {
                names.insert(header.0);
            }
        }
    }
    if !names.is_empty() {
        found.push(format!("`{name}` would pass {} to {shown}", listed(&names)));
    }
    found
}

/// The command that starts a server; empty if nothing is started.
fn launched(server: &ServerConfig) -> &[String] {
    match &server.http {
        Some(http) => &http.start,
        None => &server.command,
    }
}

/// Whether two servers are the same program in the same surroundings.
fn is_same_launch(one: &ServerConfig, other: &ServerConfig) -> bool {
    let launch = |it: &ServerConfig| (it.args.clone(), it.cwd.clone(), it.env.clone());
    launched(one) == launched(other) && launch(one) == launch(other)
}

fn uses_of_process(server: &ServerConfig) -> BTreeSet<String> {
    let mut uses = server.pass_env.clone();
    if server.http.is_none() {
        uses.extend(server.uses.iter().cloned());
    }
    uses.retain(|it| !HARMLESS.contains(&it.as_str()));
    uses
}

fn uses_of_address(server: &ServerConfig, http: &HttpConfig) -> BTreeSet<String> {
    let templates = [&http.url].into_iter().chain(http.headers.values());
    let templates = templates.chain(&http.proxy);
    let named = templates.flat_map(|it| it.variables());
    let named = named.filter(|it| !server.values.contains_key(*it));
    let mut uses: BTreeSet<String> = named.map(str::to_owned).collect();
    uses.extend(server.uses.iter().cloned());
    uses
}

fn address_of(server: &ServerConfig, http: &HttpConfig) -> Option<HttpAddress> {
    let variable = |name: &str| {
        let given = server.values.get(name).cloned();
        given.or_else(|| endpoint::variable(name))
    };
    HttpAddress::new(&http.url, &variable).ok()
}

fn listed(names: &BTreeSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.join(", ")
}

/// The command as it is shown: without its arguments, and without a program that was filled in, which may be secrets.
fn started(request: &ServerRequest, server: &ServerConfig) -> String {
    let typed = request.command.first();
    let configured = launched(server).first().filter(|_| server.uses.is_empty());
    let program = typed.or(configured);
    program.map_or_else(|| "its command".to_owned(), |it| format!("`{it}`"))
}
