//! Which names hold secrets.

/// A name for comparing: percent-encoding undone, lower case, `-` for `_`.
pub(super) fn plain(name: &str) -> String {
    super::urls::decode(name).trim().to_ascii_lowercase().replace('_', "-")
}

const HEADERS: [&str; 9] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-goog-api-key",
    "x-amz-security-token",
];

const QUERY: [&str; 8] =
    ["key", "api-key", "apikey", "access-token", "token", "x-amz-signature", "sig", "password"];

/// Whether a header of this plain name holds a secret.
pub(super) fn is_secret_header(plain: &str) -> bool {
    HEADERS.contains(&plain) || has_secret_end(plain)
}

/// Whether a query value of this plain name is a secret.
pub(super) fn is_secret_query(plain: &str) -> bool {
    QUERY.contains(&plain) || has_secret_end(plain)
}

fn has_secret_end(plain: &str) -> bool {
    // `x-ratelimit-remaining-tokens` and its like are counters that people need to see.
    let counter = plain.contains("ratelimit") && plain.contains("token");
    let ends = ["-api-key", "-token", "-secret", "-auth", "-authorization"];
    !counter && ends.iter().any(|end| plain.ends_with(end))
}

/// Words before a credential that are no part of it.
const SCHEMES: [&str; 10] = [
    "basic",
    "bearer",
    "digest",
    "token",
    "apikey",
    "key",
    "negotiate",
    "ntlm",
    "hmac",
    "aws4-hmac-sha256",
];

/// A credential's scheme (`""` if none) and the rest.
pub(super) fn scheme(value: &str) -> (&str, &str) {
    match value.split_once(' ') {
        Some((word, rest))
            if SCHEMES.contains(&word.to_ascii_lowercase().as_str()) && !rest.trim().is_empty() =>
        {
            (word, rest.trim())
        }
        _ => ("", value),
    }
}

/// The secret in an entry of `sec-websocket-protocol` and what stands before it.
pub(super) fn secret_of_protocol(entry: &str) -> Option<(&str, &str)> {
    let lower = entry.to_ascii_lowercase();
    let marks = ["api-key", "api_key", "apikey", "token", "secret", "auth", "bearer", "jwt"];
    let looks_like_key = lower.starts_with("sk-") || 40 <= entry.len();
    if !looks_like_key && !marks.iter().any(|mark| lower.contains(mark)) {
        return None;
    }
    match entry.split_once('.') {
        Some((before, secret)) if !secret.is_empty() && before.len() < 40 => {
            Some((entry.get(..=before.len())?, secret))
        }
        // A bare word such as `auth` names a protocol; a key is longer.
        _ if looks_like_key || 16 <= entry.len() => Some(("", entry)),
        _ => None,
    }
}
