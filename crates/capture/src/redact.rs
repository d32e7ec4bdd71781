//! Secrets never reach the disk.
//!
//! What is redacted goes by name: headers, query values, the user part of URLs. What is kept of a value is
//! its length and a salted hash, so that equal keys can be told apart and nothing can be recovered. The
//! exact values of a request are remembered for as long as it is open ([`Secrets`]), since providers quote
//! keys back in error bodies, redirects and messages.

mod names;
mod secrets;
mod urls;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

pub(crate) use secrets::Secrets;

use crate::hex::hex;

/// What is redacted beyond the built-in names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Further header names.
    pub headers: Vec<String>,
    /// Further names of query values.
    pub query: Vec<String>,
}

/// Redacts heads. The salt is the store's own: hashes of one store can be compared with each other only.
#[derive(Debug)]
pub(crate) struct Redactor {
    salt: [u8; 16],
    headers: Vec<String>,
    query: Vec<String>,
}

impl Redactor {
    pub(crate) fn new(redaction: &Redaction, salt: [u8; 16]) -> Self {
        let plain = |names: &[String]| names.iter().map(|name| names::plain(name)).collect();
        Self { salt, headers: plain(&redaction.headers), query: plain(&redaction.query) }
    }

    /// Headers as they are kept; their secrets are added to `secrets`.
    pub(crate) fn headers(
        &self,
        headers: &[(String, Bytes)],
        secrets: &mut Secrets,
    ) -> Vec<(String, String)> {
        headers
            .iter()
            .map(|(name, value)| {
                let text = String::from_utf8_lossy(value);
                (name.clone(), self.header(name, &text, secrets))
            })
            .collect()
    }

    fn header(&self, name: &str, value: &str, secrets: &mut Secrets) -> String {
        let plain = names::plain(name);
        if plain == "sec-websocket-protocol" {
            return self.protocols(value, secrets);
        }
        if names::is_secret_header(&plain) || self.headers.contains(&plain) {
            return self.credential(&plain, value, secrets);
        }
        self.url(value, secrets)
    }

    /// `Bearer [redacted 51 bytes, a1b2c3d4]`: the scheme's word stays.
    fn credential(&self, name: &str, value: &str, secrets: &mut Secrets) -> String {
        let value = value.trim();
        if value.is_empty() {
            return String::new();
        }
        if name == "cookie" || name == "set-cookie" {
            secrets.add_cookies(value);
            return format!("[{}]", self.kept(value, ' ', ", "));
        }
        let (scheme, secret) = names::scheme(value);
        secrets.add(value);
        secrets.add(secret);
        if scheme.eq_ignore_ascii_case("basic") {
            secrets.add_basic(secret);
        }
        let space = if scheme.is_empty() { "" } else { " " };
        format!("{scheme}{space}[{}]", self.kept(secret, ' ', ", "))
    }

    /// `realtime, openai-insecure-api-key.[redacted 51 bytes, a1b2c3d4]`.
    fn protocols(&self, value: &str, secrets: &mut Secrets) -> String {
        let parts: Vec<String> = value
            .split(',')
            .map(|part| match names::secret_of_protocol(part.trim()) {
                Some((before, secret)) => {
                    secrets.add(secret);
                    format!("{before}[{}]", self.kept(secret, ' ', ", "))
                }
                None => part.trim().to_owned(),
            })
            .collect();
        parts.join(", ")
    }

    /// A URL, a path with its query, or text with such in it: secret query values and user parts replaced.
    pub(crate) fn url(&self, text: &str, secrets: &mut Secrets) -> String {
        let is_secret = |name: &str| {
            let plain = names::plain(name);
            names::is_secret_query(&plain) || self.query.contains(&plain)
        };
        urls::replace(text, &is_secret, &mut |secret| {
            secrets.add_encoded(secret);
            self.kept(secret, '-', "-").replacen("redacted", "REDACTED", 1)
        })
    }

    /// `redacted 51 bytes, a1b2c3d4`. What was redacted before stays as it is: an export that comes back in.
    fn kept(&self, secret: &str, space: char, comma: &str) -> String {
        if let Some(before) = redacted_before(secret, space, comma) {
            return before;
        }
        let mut hash = Sha256::new();
        hash.update(self.salt);
        hash.update(secret.as_bytes());
        let digest = hash.finalize();
        let tag = hex(digest.get(..4).unwrap_or_default());
        format!("redacted{space}{}{space}bytes{comma}{tag}", secret.len())
    }
}

/// The text of [`Redactor::kept`], if `secret` is one.
fn redacted_before(secret: &str, space: char, comma: &str) -> Option<String> {
    let text = secret.trim_start_matches('[').trim_end_matches(']');
    let rest = text.get("redacted".len()..)?.strip_prefix(space)?;
    let (length, rest) = rest.split_once(space)?;
    let tag = rest.strip_prefix("bytes")?.strip_prefix(comma)?;
    let whole = text.len() <= 40
        && text.get(..8)?.eq_ignore_ascii_case("redacted")
        && !length.is_empty()
        && length.bytes().all(|byte| byte.is_ascii_digit())
        && tag.len() == 8
        && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| text.replacen("REDACTED", "redacted", 1))
}

#[cfg(test)]
mod tests;
