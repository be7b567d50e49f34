//! What a pull request changes about its own check: policy, acceptances, masks, verify blocks, servers, the baseline's
//! path. The base's word counts until it is merged; what would weaken the check blocks unless it is accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use super::Error;
use super::base::Base;
use super::observer::Silent;
use super::request::ServerRequest;
use super::server_lists;
use crate::config::{Config, ServerConfig};
use crate::judgement::Exposure;
use crate::policy::{Acceptance, Action, Policy, RuleSetting};
use crate::stability::mask::Mask;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckChange {
    pub(crate) message: String,
    /// Whether less may fail because of it.
    pub(crate) weakens: bool,
}

/// Everything that the working folder says otherwise than the base, what weakens the check first. `unreviewed` is what
/// would go elsewhere than on the base.
pub(crate) fn check_changes(
    base: &Base,
    head: Option<&Config>,
    patterns: (&Path, &Path),
    request: &ServerRequest,
    unreviewed: Vec<String>,
) -> Result<Vec<CheckChange>, Error> {
    let mut changes = Changes::default();
    for message in unreviewed {
        changes.weakens(message);
    }
    let (none, default) = (Config::default(), Policy::default());
    let of_base = base.config.read();
    changes.policy(
        of_base.map_or(&default, |it| &it.policy),
        head.map_or(&default, |it| &it.policy),
    );
    if patterns.0 != patterns.1 {
        let (old, new) = (patterns.0.display(), patterns.1.display());
        changes.weakens(format!("the baseline's path: was {old}, now {new}"));
    }
    // A command or an address of the workflow is checked whatever the lists say.
    let is_typed = !request.command.is_empty() || request.url.is_some();
    let known: BTreeMap<String, Option<ServerConfig>> = if is_typed {
        let servers = head.unwrap_or(&none).servers.clone();
        servers
            .into_iter()
            .map(|(name, it)| (name, Some(it)))
            .collect()
    } else {
        let known = server_lists::known(request, head, &Silent)?;
        known
            .into_iter()
            .map(|(name, it)| (name, it.ok()))
            .collect()
    };
    let is_asked = |name: &String| request.servers.is_empty() || request.servers.contains(name);
    let names: BTreeSet<String> = base
        .names()
        .into_iter()
        .chain(known.keys().cloned())
        .collect();
    for name in names.iter().filter(|name| is_asked(name)) {
        match (base.names().contains(name), known.get(name)) {
            (true, None) if is_typed => {}
            (true, None) => changes.weakens(format!(
                "`{name}` is no longer checked (removed or disabled)"
            )),
            (false, Some(server)) => {
                changes.other(format!("`{name}` is new in the list of servers"));
                let masks = server.as_ref().map_or(&[][..], |it| &it.masks);
                changes.masks(name, &[], masks);
            }
            (_, server) => {
                let server = server.and_then(Option::as_ref);
                if let (Some(old), Some(new)) = (base.server(name), server) {
                    changes.server(name, old, new);
                }
            }
        }
    }
    changes.0.sort_by_key(|it| !it.weakens);
    Ok(changes.0)
}

#[derive(Default)]
struct Changes(Vec<CheckChange>);

impl Changes {
    fn weakens(&mut self, message: String) {
        self.0.push(CheckChange {
            message,
            weakens: true,
        });
    }

    fn other(&mut self, message: String) {
        self.0.push(CheckChange {
            message,
            weakens: false,
        });
    }

    /// A value, with how strict it is.
    fn value(&mut self, what: &str, old: (impl Display, usize), new: (impl Display, usize)) {
        let message = format!("{what}: was {}, now {}", old.0, new.0);
        if new.1 < old.1 {
            self.weakens(message);
        } else if new.1 > old.1 {
            self.other(message);
        }
    }

    fn policy(&mut self, old: &Policy, new: &Policy) {
        // Without `..`: whether a new key can weaken the check is decided here.
        let Policy {
            enforcement: _,
            unknown: _,
            // Seen in what can fail by it.
            preset: _,
            fail_on: _,
            fail_on_exposure: _,
            require_version_bump: _,
            context_limit: _,
            context_growth: _,
            rules: _,
            accept: _,
            reject: _,
        } = new;
        fn rank<T: PartialEq>(all: &[T], it: &T) -> usize {
            all.iter().position(|other| other == it).unwrap_or(0)
        }
        use crate::policy::{Enforcement, FailOn, Unknown};
        let enforcement = |it: &Policy| {
            let it = it.enforcement;
            (it.word(), rank(Enforcement::ALL, &it))
        };
        self.value("enforcement", enforcement(old), enforcement(new));
        let unknown = |it: &Policy| {
            let action = it.unknown.map_or(it.enforcement.word(), Unknown::word);
            let strict = match it.unknown {
                Some(unknown) => rank(Unknown::ALL, &unknown),
                None => rank(Enforcement::ALL, &it.enforcement),
            };
            (action, strict)
        };
        if old.unknown != new.unknown {
            self.value("unknown", unknown(old), unknown(new));
        }
        let fail_on = |it: &Policy| (it.fail_on().word(), rank(FailOn::ALL, &it.fail_on()));
        self.value("fail-on", fail_on(old), fail_on(new));
        let exposure = |it: &Policy| {
            let it = it.fail_on_exposure();
            let strict = match it {
                Exposure::None => 0,
                Exposure::High => 1,
                Exposure::Medium => 2,
                Exposure::Low => 3,
            };
            (it.word(), strict)
        };
        self.value("fail-on-exposure", exposure(old), exposure(new));
        // With a threshold of its own a policy lets components come and go below it. Where another
        // line says that the policy is weaker, this one would repeat it.
        let components = |it: &Policy| usize::from(it.fails_on_components());
        if fail_on(old).1 == fail_on(new).1 && exposure(old).1 == exposure(new).1 {
            let shown = |it: &Policy| {
                if it.fails_on_components() {
                    "blocked"
                } else {
                    "below `fail-on`"
                }
            };
            self.value(
                "added and removed components",
                (shown(old), components(old)),
                (shown(new), components(new)),
            );
        }
        let shown = |it: Option<usize>| it.map_or_else(|| "none".to_owned(), |it| it.to_string());
        for (what, was, is) in [
            ("context-limit", old.context_limit, new.context_limit),
            ("context-growth", old.context_growth, new.context_growth),
        ] {
            // The lower the stricter.
            let strict = |it: Option<usize>| usize::MAX - it.unwrap_or(usize::MAX);
            self.value(what, (shown(was), strict(was)), (shown(is), strict(is)));
        }
        let bump = |it: &Policy| {
            (
                it.require_version_bump,
                usize::from(it.require_version_bump),
            )
        };
        self.value("require-version-bump", bump(old), bump(new));
        let rules: BTreeSet<_> = old.rules.keys().chain(new.rules.keys()).collect();
        for rule in rules {
            let (was, is) = (old.rules.get(rule), new.rules.get(rule));
            if was == is {
                continue;
            }
            let word = |it: Option<&RuleSetting>| match it {
                Some(RuleSetting::Action(action)) => action.word().to_owned(),
                Some(RuleSetting::Level(level)) => level.word().to_owned(),
                None => "as usual".to_owned(),
            };
            let message = format!("the rule {rule}: was {}, now {}", word(was), word(is));
            // Whether another level is stricter depends on the rest of the policy.
            match is {
                Some(RuleSetting::Action(Action::Block)) => self.other(message),
                _ => self.weakens(message),
            }
        }
        let said = |it: &Acceptance| (it.change.clone(), it.expires);
        let before: Vec<_> = old.accept.iter().map(said).collect();
        for it in new.accept.iter().filter(|it| !before.contains(&said(it))) {
            self.weakens(format!(
                "would accept change {}: {} ({})",
                it.change, it.reason, it.owner
            ));
        }
        let after: Vec<_> = new.accept.iter().map(said).collect();
        for it in old.accept.iter().filter(|it| !after.contains(&said(it))) {
            self.other(format!("the acceptance of {} is removed", it.change));
        }
        let rejects = |of: &Policy, id: &str| of.reject.iter().any(|it| it.change == id);
        for it in old.reject.iter().filter(|it| !rejects(new, &it.change)) {
            self.weakens(format!(
                "the rejection of {} is removed ({})",
                it.change, it.reason
            ));
        }
        for it in new.reject.iter().filter(|it| !rejects(old, &it.change)) {
            self.other(format!("{} is rejected: {}", it.change, it.reason));
        }
    }

    fn masks(&mut self, server: &str, old: &[Mask], new: &[Mask]) {
        let before: Vec<_> = old.iter().map(covered).collect();
        for mask in new.iter().filter(|it| !before.contains(&covered(it))) {
            self.weakens(format!(
                "adds a mask to `{server}` that covers {}: {}",
                covers(mask),
                mask.reason
            ));
        }
        let after: Vec<_> = new.iter().map(covered).collect();
        for mask in old.iter().filter(|it| !after.contains(&covered(it))) {
            self.other(format!(
                "the mask of `{server}` over {} is removed",
                covers(mask)
            ));
        }
    }

    fn server(&mut self, name: &str, old: &ServerConfig, new: &ServerConfig) {
        self.masks(name, &old.masks, &new.masks);
        let is_verified = |it: &ServerConfig| {
            use crate::verify::jp::Verify;
            !matches!(it.verify, None | Some(Verify::None))
        };
        if old.verify != new.verify {
            if is_verified(old) {
                self.weakens(verify_changed(name, is_verified(new)));
            } else {
                self.other(verify_changed(name, is_verified(new)));
            }
        }
        // Without `..`: whether a new key can weaken the check is decided here.
        let ServerConfig {
            command,
            args,
            http,
            cwd,
            env,
            pass_env,
            client,
            era,
            timeout,
            repeat,
            settle,
            read_resources,
            version,
            launch_digests,
            sandbox,
            sandbox_required,
            // Compared above.
            masks: _,
            verify: _,
            checksum_line: _,
            // Part of the name.
            profile: _,
            // Where the values above come from.
            values: _,
            uses: _,
            is_from_outside: _,
        } = old;
        for (setting, is_weaker) in [
            ("client", *client != new.client),
            ("era", *era != new.era),
            ("version", *version != new.version),
            ("repeat", repeat.unwrap_or(1) > new.repeat.unwrap_or(1)),
            ("settle", *settle > new.settle),
            ("read-resources", *read_resources && !new.read_resources),
            ("launch-digests", *launch_digests != new.launch_digests),
            ("sandbox", *sandbox > new.sandbox),
            (
                "sandbox-required",
                *sandbox_required && !new.sandbox_required,
            ),
        ] {
            if is_weaker {
                self.weakens(format!("`{setting}` of `{name}` changed"));
            }
        }
        for (setting, differs) in [
            ("cwd", *cwd != new.cwd),
            ("env", *env != new.env),
            ("pass-env", *pass_env != new.pass_env),
            ("timeout", *timeout != new.timeout),
        ] {
            if differs {
                self.other(format!("`{setting}` of `{name}` changed"));
            }
        }
        if (command, args, http) != (&new.command, &new.args, &new.http) {
            self.other(format!("the command or address of `{name}` changed"));
        }
    }
}

fn verify_changed(server: &str, is_verified: bool) -> String {
    if is_verified {
        format!("the verify digest of `{server}` changed")
    } else {
        format!("the bytes of `{server}` would no longer be verified")
    }
}

/// What a mask covers, whatever its line and its reason.
fn covered(mask: &Mask) -> (String, Option<String>, Option<String>) {
    let pattern = mask.pattern.as_ref().map(|it| it.as_str().to_owned());
    (mask.component.clone(), mask.pointer.clone(), pattern)
}

/// [`covered`] in one line.
pub(super) fn covers(mask: &Mask) -> String {
    let (component, pointer, pattern) = covered(mask);
    [Some(component), pointer, pattern]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}
