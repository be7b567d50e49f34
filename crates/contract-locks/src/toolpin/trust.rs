//! The `trust` of an entry in a ToolPin lock: how it is read, the tier it earns, and whether its
//! claims still hold.

use super::lock::{LockError, given, is_finite, is_string, members, record};
use exact_json::{Json, Text};

/// The trust of an entry, read as ToolPin does: unknown members are dropped, invalid ones are
/// reported.
pub(super) fn trust(value: Option<&Json>, key: &str) -> Result<Json, LockError> {
    let refuse = |what: &str| LockError(format!("Invalid lockfile entry {key}: invalid {what}"));
    let value = record(value).ok_or_else(|| refuse("trust"))?;
    let unless = |member: &str, is: &dyn Fn(&Json) -> bool| match value.get(member) {
        Some(it) if !is(it) => Err(refuse(&format!("trust.{member}"))),
        _ => Ok(()),
    };
    let all = |is: fn(&Json) -> bool| {
        move |value: &Json| value.as_array().is_some_and(|it| it.iter().all(is))
    };
    let text = |value: &Json| value.as_text().is_some();
    let finite = |value: &Json| is_finite(Some(value));
    if !is_finite(value.get("score")) {
        return Err(refuse("trust.score"));
    }
    unless("tier", &|it| {
        it.as_str().is_some_and(|it| rank_of(it).is_some())
    })?;
    unless("gatedBy", &all(text))?;
    unless("evidence", &|it| it.as_array().is_some())?;
    if !value.get("badges").is_some_and(all(text)) {
        return Err(refuse("trust.badges"));
    }
    let issues = value.get("issues").and_then(Json::as_array);
    let issues = issues.ok_or_else(|| refuse("trust.issues"))?;
    unless("overallScore", &finite)?;
    unless("metadataCompleteness", &finite)?;
    unless("capReason", &text)?;
    unless("verifiedProvenance", &|it| it.as_bool().is_some())?;
    unless("gates", &all(is_gate))?;
    unless("vetoes", &all(is_gate))?;
    unless("pillars", &|it| {
        [
            "provenance",
            "integrity",
            "reputation",
            "metadataCompleteness",
        ]
        .iter()
        .all(|member| is_finite(it.get(member)))
    })?;
    let mut kept = members(
        value,
        &[
            "score",
            "overallScore",
            "metadataCompleteness",
            "tier",
            "capReason",
            "verifiedProvenance",
            "gates",
            "vetoes",
            "pillars",
            "gatedBy",
        ],
    );
    if let Some(evidence) = value.get("evidence").and_then(Json::as_array) {
        let evidence = evidence
            .iter()
            .enumerate()
            .map(|(index, entry)| kept_evidence(entry, index, &refuse))
            .collect::<Result<_, _>>()?;
        kept.push("evidence", Json::Array(evidence));
    }
    given(&mut kept, "badges", value.get("badges"));
    let issues = issues
        .iter()
        .enumerate()
        .map(|(index, issue)| kept_issue(issue, index, &refuse))
        .collect::<Result<_, _>>()?;
    kept.push("issues", Json::Array(issues));
    Ok(Json::Object(kept))
}

fn is_gate(value: &Json) -> bool {
    is_string(value.get("code"))
        && is_string(value.get("message"))
        && matches!(
            value.get("tier").and_then(Json::as_str),
            Some("unverified" | "blocked")
        )
}

fn kept_issue(
    value: &Json,
    index: usize,
    refuse: &dyn Fn(&str) -> LockError,
) -> Result<Json, LockError> {
    let at = format!("trust.issues[{index}]");
    if value.as_object().is_none() {
        return Err(refuse(&at));
    }
    if !matches!(
        value.get("severity").and_then(Json::as_str),
        Some("info" | "warning" | "critical")
    ) {
        return Err(refuse(&format!("{at}.severity")));
    }
    for member in ["code", "message"] {
        if !is_string(value.get(member)) {
            return Err(refuse(&format!("{at}.{member}")));
        }
    }
    Ok(Json::Object(members(
        value,
        &["severity", "code", "message"],
    )))
}

fn kept_evidence(
    value: &Json,
    index: usize,
    refuse: &dyn Fn(&str) -> LockError,
) -> Result<Json, LockError> {
    let at = format!("trust.evidence[{index}]");
    if value.as_object().is_none() {
        return Err(refuse(&at));
    }
    let status = value.get("status").and_then(Json::as_str);
    if !matches!(
        status,
        Some("passed" | "declared" | "failed" | "unavailable")
    ) {
        return Err(refuse(&format!("{at}.status")));
    }
    for member in ["code", "message"] {
        if !is_string(value.get(member)) {
            return Err(refuse(&format!("{at}.{member}")));
        }
    }
    let optional = [
        ("required", false),
        ("source", true),
        ("claim", true),
        ("verificationMethod", true),
        ("verifiedByToolPin", false),
        ("trustedAnchor", false),
        ("trustAnchor", true),
        ("verifiedAt", true),
        ("failureReason", true),
    ];
    let mut kept = members(value, &["code", "status", "message"]);
    for (member, is_text) in optional {
        let Some(found) = value.get(member) else {
            continue;
        };
        let fits = if is_text {
            found.as_text().is_some()
        } else {
            found.as_bool().is_some()
        };
        if !fits {
            return Err(refuse(&format!("{at}.{member}")));
        }
        kept.push(member, found.clone());
    }
    Ok(Json::Object(kept))
}

pub(super) fn score(trust: &Json) -> (f64, String) {
    match trust.get("score") {
        Some(Json::Number(number)) => (
            number.to_f64(),
            number
                .to_ecmascript()
                .unwrap_or_else(|| number.literal().to_owned()),
        ),
        _ => (0.0, "0".to_owned()),
    }
}

fn rank_of(tier: &str) -> Option<u8> {
    ["blocked", "unverified", "conditional", "verified"]
        .iter()
        .position(|it| *it == tier)
        .and_then(|rank| u8::try_from(rank).ok())
}

pub(super) fn rank(tier: &str) -> u8 {
    rank_of(tier).unwrap_or_default()
}

fn evidence(trust: &Json) -> &[Json] {
    trust
        .get("evidence")
        .and_then(Json::as_array)
        .unwrap_or_default()
}

fn is(value: &Json, member: &str, wanted: &[&str]) -> bool {
    value
        .get(member)
        .and_then(Json::as_str)
        .is_some_and(|it| wanted.contains(&it))
}

/// The stated tier, or the one earned by score, issues and evidence.
pub(super) fn tier(trust: &Json) -> &str {
    if let Some(tier) = trust.get("tier").and_then(Json::as_str) {
        return tier;
    }
    let issues = trust
        .get("issues")
        .and_then(Json::as_array)
        .unwrap_or_default();
    let critical = || issues.iter().filter(|it| is(it, "severity", &["critical"]));
    let blocked = ["no_install_target", "insecure_remote", "invalid_remote_url"];
    let failed = || {
        evidence(trust)
            .iter()
            .filter(|it| is(it, "status", &["failed"]))
    };
    let required = |it: &Json| it.get("required").and_then(Json::as_bool) == Some(true);
    if critical().any(|it| is(it, "code", &blocked)) || failed().any(required) {
        return "blocked";
    }
    if critical().next().is_some() || failed().next().is_some() {
        return "unverified";
    }
    let pinned = evidence(trust).iter().any(|it| {
        is(it, "status", &["passed", "declared"])
            && is(
                it,
                "code",
                &["package_pin", "digest_present", "file_hash_present"],
            )
    });
    if score(trust).0 >= 40.0 || pinned {
        "conditional"
    } else {
        "unverified"
    }
}

/// What became of the verified artifacts.
pub(super) enum Claims {
    Changed,
    Unavailable,
    Intact,
}

/// Whether the artifacts that were verified when the entry was locked are still claimed, and no
/// others.
pub(super) fn artifact_claims(locked: &Json, current: &Json) -> Claims {
    type ByCode<'a> = std::collections::BTreeMap<&'a str, std::collections::BTreeSet<&'a Text>>;
    fn by_code<'a>(trust: &'a Json, accept: impl Fn(&Json) -> bool) -> ByCode<'a> {
        let artifact = [
            "oci_digest_verified",
            "mcpb_sha256_verified",
            "npm_integrity_verified",
        ];
        let mut claims = ByCode::new();
        for entry in evidence(trust)
            .iter()
            .filter(|it| is(it, "code", &artifact) && accept(it))
        {
            let code = entry.get("code").and_then(Json::as_str);
            if let (Some(code), Some(claim)) = (code, entry.get("claim").and_then(Json::as_text)) {
                claims.entry(code).or_default().insert(claim);
            }
        }
        claims
    }
    let held = |it: &Json, member: &str| it.get(member).and_then(Json::as_bool) == Some(true);
    let locked = by_code(locked, |it| {
        is(it, "status", &["passed"]) && held(it, "verifiedByToolPin") && held(it, "trustedAnchor")
    });
    if locked.is_empty() {
        return Claims::Unavailable;
    }
    let current = by_code(current, |it| is(it, "status", &["passed", "declared"]));
    let changed = locked
        .iter()
        .any(|(code, claims)| current.get(code).is_some_and(|declared| declared != claims));
    if changed {
        Claims::Changed
    } else {
        Claims::Intact
    }
}
