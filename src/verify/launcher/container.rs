//! docker, podman and similar.

use super::{Launcher, Pin, Target};

pub(super) fn container(name: &'static str, words: &[&str]) -> Launcher {
    // Most flags take a value, and new ones appear; these are the ones that do not.
    const ALONE: &[&str] = &[
        "--rm",
        "--init",
        "--privileged",
        "--read-only",
        "--detach",
        "--interactive",
        "--tty",
        "--publish-all",
        "--quiet",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--sig-proxy",
        "--use-api-socket",
        "--disable-content-trust",
        "--help",
        "--no-hosts",
        "--no-hostname",
        "--replace",
        "--rmi",
        "--tls-verify",
        "--env-host",
        "--http-proxy",
        "--passwd",
        "--read-only-tmpfs",
        "--preserve-fd",
        "--rootfs",
        "--systemd",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if *word == "--" {
            at += 1;
            break;
        }
        if !word.starts_with('-') {
            break;
        }
        let alone = if word.starts_with("--") {
            word.contains('=') || ALONE.contains(word)
        } else {
            // `-it`, `-i`, `-d`; a value may be attached (`-eKEY=1`), and the last letter of a
            // group may take one.
            let letters = &word[1..];
            let plain = letters.trim_start_matches(['i', 't', 'd', 'P', 'q']);
            plain.is_empty() || plain.len() > 1
        };
        at += if alone { 1 } else { 2 };
    }
    let targets = words.get(at).into_iter().map(|image| Target {
        spec: (*image).to_owned(),
        pin: image_pin(image),
    });
    Launcher {
        name,
        targets: targets.collect(),
    }
}

fn image_pin(image: &str) -> Pin {
    let is_digest =
        |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some((_, digest)) = image.rsplit_once("@sha256:")
        && is_digest(digest)
    {
        return Pin::Exact;
    }
    let image_name = image.split('@').next().unwrap_or(image);
    // The `:` before a port does not start a tag.
    let tag = image_name
        .rsplit_once(':')
        .filter(|(_, tag)| !tag.contains('/'));
    let name = tag.map_or(image_name, |(name, _)| name);
    Pin::Open {
        why: match (image.contains('@'), tag) {
            (true, _) => "has a digest that is not `sha256:` and 64 hexadecimal digits".to_owned(),
            (_, Some((_, tag))) => {
                format!("runs whatever the tag `{tag}` points to; a tag can be moved")
            }
            (_, None) => "runs whatever the tag `latest` points to; a tag can be moved".to_owned(),
        },
        write: format!("{name}@sha256:DIGEST"),
    }
}
