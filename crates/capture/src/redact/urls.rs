//! Secrets in URLs.

use std::borrow::Cow;

use crate::hex::hex;

/// Percent-encoding undone (and `+` read as a space), bytes that are no UTF-8 replaced.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(&byte) = bytes.get(index) {
        let digits =
            bytes.get(index + 1..index + 3).and_then(|pair| std::str::from_utf8(pair).ok());
        match (byte, digits.and_then(|pair| u8::from_str_radix(pair, 16).ok())) {
            (b'%', Some(decoded)) => {
                out.push(decoded);
                index += 3;
                continue;
            }
            (b'+', _) => out.push(b' '),
            _ => out.push(byte),
        }
        index += 1;
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// Every byte that is not unreserved (RFC 3986) percent-encoded.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&hex(&[byte]).to_ascii_uppercase());
        }
    }
    out
}

/// Ends a query value or the authority of a URL, in a URL of its own or in a text.
const ENDS: [char; 9] = ['&', '#', ' ', '\t', '"', '\'', '<', '>', '\\'];

/// Replaces the secret query values and user parts of every URL in `text`.
pub(super) fn replace(
    text: &str,
    is_secret: &dyn Fn(&str) -> bool,
    replacement: &mut dyn FnMut(&str) -> String,
) -> String {
    let without_users = users(text, replacement);
    values(&without_users, is_secret, replacement)
}

/// `https://user:password@host` loses what stands before the `@`.
fn users(text: &str, replacement: &mut dyn FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let end = after.find(|c| c == '/' || c == '?' || ENDS.contains(&c)).unwrap_or(after.len());
        let (authority, behind) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((user, host)) if !user.is_empty() => {
                out.push_str(&replacement(user));
                out.push('@');
                out.push_str(host);
            }
            _ => out.push_str(authority),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// `?key=…` and `&key=…` lose their values.
fn values(
    text: &str,
    is_secret: &dyn Fn(&str) -> bool,
    replacement: &mut dyn FnMut(&str) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['?', '&', ';']) {
        let (before, after) = rest.split_at(at + 1);
        out.push_str(before);
        rest = after;
        let end = after.find(|c| c == ';' || c == '?' || ENDS.contains(&c)).unwrap_or(after.len());
        let (pair, behind) = after.split_at(end);
        if let Some((name, value)) = pair.split_once('=')
            && !value.is_empty()
            && is_secret(name)
        {
            out.push_str(name);
            out.push('=');
            out.push_str(&replacement(value));
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}
