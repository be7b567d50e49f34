//! Commands, versions, dates, and the runner's environment.

use std::collections::BTreeMap;

use super::halves;
use mcp_keel::canonical::parse;
use mcp_keel::github::api::encoded;
use mcp_keel::github::{Context, files};
use mcp_keel::interop::hangar;
use mcp_keel::interop::toolpin::targets;
use mcp_keel::judgement::Level;
use mcp_keel::policy::{Bump, Date, Moved, check_version};
use mcp_keel::release::VersionSource;
use mcp_keel::source::Source;
use mcp_keel::verify::launched::{self, LaunchLink};
use mcp_keel::verify::launcher::{self, Pin};

/// One command per line: a recognised launcher has advice on pinning, and no credential of a URL is
/// shown.
pub fn launcher(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let command: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if let Some(found) = launcher::recognise(&command) {
        for target in &found.targets {
            if let Pin::Open { why, write } = &target.pin {
                assert!(!why.is_empty() && !write.is_empty());
            }
        }
        assert!(found.open().count() <= found.targets.len());
    }
    let bare = launcher::without_credentials(&text);
    assert_eq!(launcher::without_credentials(&bare), bare);
    if let Some((scheme, rest)) = bare.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let account = authority.rsplit_once('@').map(|it| it.0);
        assert!(
            account.is_none_or(|it| scheme.ends_with("ssh") && !it.contains(':')),
            "{bare:?}"
        );
    }
    let _ = hangar::stdio_upstream(&command);
    let _ = (targets::is_oci_pin(&text), targets::is_floating(&text));
    let _ = Source::parse(&text);
    // Exactly one prefix is removed; normalising again changes nothing.
    let normal = hangar::normalise(&text);
    if normal.trim() == normal && !normal.starts_with("sha256:") {
        assert_eq!(hangar::normalise(&normal), normal);
    }
    if let Ok(document) = parse(input)
        && let Some(link) = LaunchLink::from_json(&document)
    {
        assert_eq!(LaunchLink::from_json(&link.to_json()), Some(link.clone()));
        let links = [link];
        assert!(launched::compare(&links, &links).is_empty());
        assert_eq!(launched::compare(&links, &[]).len(), 1);
    }
}

/// Dates are consecutive; versions compare without contradiction.
pub fn policy(input: &[u8]) {
    if let Some((seconds, _)) = input.split_first_chunk::<8>() {
        let seconds = u64::from_le_bytes(*seconds);
        let day = Date::from_unix_seconds(seconds);
        assert!((1..=12).contains(&day.month) && (1..=31).contains(&day.day));
        if let Some(next) = seconds.checked_add(86_400)
            && day.year < u16::MAX
        {
            assert!(Date::from_unix_seconds(next) > day);
        }
    }
    let (before, after) = halves(input);
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    for worst in [
        None,
        Some(Level::Cosmetic),
        Some(Level::Additive),
        Some(Level::Breaking),
    ] {
        let there = check_version(Some(&before), Some(&after), worst);
        let back = check_version(Some(&after), Some(&before), worst);
        if before == after {
            assert_eq!(there.moved(), Moved::Not);
            assert_eq!(there.ok, there.required == Bump::None);
        } else {
            assert!(there.moved() != Moved::Down || back.moved() != Moved::Down);
        }
    }
    let _ = VersionSource::parse(&before).name();
}

/// `NAME=VALUE` per line, then the event: a context has a commit and a repository that are safe in
/// a URL, or is rejected; no step output can set another.
pub fn github(input: &[u8]) {
    let (env, event) = halves(input);
    let env = String::from_utf8_lossy(env);
    let env: BTreeMap<String, String> = env
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let event = String::from_utf8_lossy(event);
    for event in [Some(&*event), None] {
        match Context::read(&env, event) {
            Ok(context) => {
                let plain = |part: &str| !part.is_empty() && encoded(part) == part;
                assert!(plain(&context.owner) && plain(&context.repository));
                assert!(context.commit.bytes().all(|it| it.is_ascii_hexdigit()));
                assert!(matches!(context.commit.len(), 40 | 64));
                assert!(context.api.starts_with("http"));
                let _ = (context.pull_request(), context.base_commit());
                if let Some(token) = &context.token {
                    assert_eq!(token.mask_command().lines().count(), 1);
                    assert!(!format!("{context:?}").contains(&format!("Token(\"{token:?}")));
                }
            }
            Err(error) => assert!(!error.to_string().is_empty() && !error.help().is_empty()),
        }
    }
    let text = files::outputs(&[("verdict", event.to_string()), ("report", "r".to_owned())]);
    assert_eq!(outputs(&text), [("verdict", &*event), ("report", "r")]);
    assert!(encoded(&event).bytes().all(|it| it.is_ascii_graphic()));
}

/// Outputs as a runner reads them.
fn outputs(mut text: &str) -> Vec<(&str, &str)> {
    let mut read = Vec::new();
    while let Some((head, rest)) = text.split_once('\n') {
        let (name, delimiter) = head.split_once("<<").expect("a name and a delimiter");
        let end = format!("\n{delimiter}\n");
        let (value, after) = rest.split_once(end.as_str()).expect("the delimiter again");
        read.push((name, value));
        text = after;
    }
    read
}
