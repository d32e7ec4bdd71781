//! What of a head is passed on: everything that is not about one connection only.
//!
//! `HeaderMap::remove` moves another entry into the gap, so heads are rebuilt by appending what is
//! kept. The letter case of names travels in the request's and response's extensions.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Version, header};

/// Of no meaning beyond the connection (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [HeaderName; 2] =
    [HeaderName::from_static("keep-alive"), HeaderName::from_static("proxy-connection")];

/// The head that goes upstream: the app's own, with the upstream's `Host` (which HTTP/2 does
/// without).
pub(crate) fn for_upstream(head: &HeaderMap, version: Version, host: &HeaderValue) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(head.len() + 1);
    if version != Version::HTTP_2 && !head.contains_key(header::HOST) {
        kept.append(header::HOST, host.clone());
    }
    append_kept(head, &mut kept, asks_for_upgrade(head));
    if let Some(own) = kept.get_mut(header::HOST) {
        own.clone_from(host);
    }
    kept
}

/// Whether a header is about one connection or about where a body ends.
pub(crate) fn is_of_connection(name: &HeaderName) -> bool {
    let others = [
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::EXPECT,
        header::HOST,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ];
    HOP_BY_HOP.contains(name) || others.contains(name)
}

/// Puts the headers of `own` in the place of those of the same name.
pub(crate) fn put(own: &HeaderMap, head: &mut HeaderMap) {
    own.iter().for_each(|(name, value)| _ = head.insert(name.clone(), value.clone()));
}

/// The head that goes to the app: the upstream's own.
pub(crate) fn for_app(head: &HeaderMap, status: StatusCode) -> HeaderMap {
    let mut kept = HeaderMap::with_capacity(head.len());
    append_kept(head, &mut kept, status == StatusCode::SWITCHING_PROTOCOLS);
    if kept.contains_key(header::TRANSFER_ENCODING) {
        // It has no meaning beside the other (RFC 9112, section 6.3), and hyper refuses both.
        let length = |name: &HeaderName| name == header::CONTENT_LENGTH;
        kept = kept.iter().filter(|(name, _)| !length(name)).map(owned).collect();
    }
    kept
}

/// An HTTP/2 request's head in HTTP/1.1, where `host` is the upstream.
pub(crate) fn in_http1(head: &HeaderMap, host: &HeaderValue) -> HeaderMap {
    let mut lines = HeaderMap::with_capacity(head.len() + 1);
    lines.append(header::HOST, host.clone());
    let mut cookies: Vec<u8> = Vec::new();
    for (name, value) in head {
        match *name {
            header::HOST => {}
            header::COOKIE => {
                // HTTP/2 sends each on its own (RFC 9113, section 8.2.3).
                let separator = if cookies.is_empty() { &b""[..] } else { b"; " };
                cookies.extend([separator, value.as_bytes()].concat());
            }
            _ => _ = lines.append(name, value.clone()),
        }
    }
    if let Ok(cookies) = HeaderValue::from_bytes(&cookies)
        && !cookies.is_empty()
    {
        lines.append(header::COOKIE, cookies);
    }
    lines
}

/// A response's head without what HTTP/2 has no place for (RFC 9113, section 8.2.2).
pub(crate) fn in_http2(head: &HeaderMap) -> HeaderMap {
    let of_http1 = [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE, header::TE];
    head.iter().filter(|(name, _)| !of_http1.contains(name)).map(owned).collect()
}

/// Whether the app asks to speak another protocol on this connection. HTTP/2 over cleartext is
/// left out: it would be between the app and the next hop, which is us.
pub(crate) fn asks_for_upgrade(head: &HeaderMap) -> bool {
    let wanted = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"h2c");
    tokens(head, &header::CONNECTION).any(|token| token.eq_ignore_ascii_case("upgrade"))
        && head.get(header::UPGRADE).is_some_and(wanted)
}

/// Whether the app waits for a `100 Continue` before it sends the body.
pub(crate) fn expects_continue(head: &HeaderMap) -> bool {
    head.get(header::EXPECT)
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Headers or trailers as the capture takes them.
pub(crate) fn recorded(head: &HeaderMap) -> Vec<(String, Bytes)> {
    let entry = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), Bytes::copy_from_slice(value.as_bytes()))
    };
    head.iter().map(entry).collect()
}

/// A version as it stands in a head.
pub(crate) fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    }
}

fn append_kept(head: &HeaderMap, kept: &mut HeaderMap, upgrade: bool) {
    let named: Vec<&str> = tokens(head, &header::CONNECTION).collect();
    for (name, value) in head {
        let value = match *name {
            header::CONNECTION => connection(value, upgrade),
            header::TE => trailers_only(value),
            header::UPGRADE => upgrade.then(|| value.clone()),
            _ if HOP_BY_HOP.contains(name) => None,
            _ if named.iter().any(|token| name.as_str().eq_ignore_ascii_case(token)) => None,
            _ => Some(value.clone()),
        };
        if let Some(value) = value {
            kept.append(name, value);
        }
    }
}

/// Each of the two connections exists for the other, so whether they stay open is passed on.
fn connection(value: &HeaderValue, upgrade: bool) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    let stays = |token: &&str| {
        ["close", "keep-alive", "te"].iter().any(|kept| token.eq_ignore_ascii_case(kept))
            || upgrade && token.eq_ignore_ascii_case("upgrade")
    };
    let all: Vec<&str> = split(text).collect();
    let kept: Vec<&str> = all.iter().copied().filter(stays).collect();
    match kept.len() {
        0 => None,
        length if length == all.len() => Some(value.clone()),
        _ => HeaderValue::from_str(&kept.join(", ")).ok(),
    }
}

/// Trailers are passed on; other transfer codings are between neighbours.
fn trailers_only(value: &HeaderValue) -> Option<HeaderValue> {
    let mut tokens = split(value.to_str().ok()?);
    tokens
        .any(|token| token.eq_ignore_ascii_case("trailers"))
        .then(|| HeaderValue::from_static("trailers"))
}

fn tokens<'a>(head: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    head.get_all(name).into_iter().filter_map(|value| value.to_str().ok()).flat_map(split)
}

fn split(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|token| !token.is_empty())
}

fn owned((name, value): (&HeaderName, &HeaderValue)) -> (HeaderName, HeaderValue) {
    (name.clone(), value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(head: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in head {
            map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        map
    }

    fn list(map: &HeaderMap) -> Vec<(&str, &str)> {
        map.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect()
    }

    #[test]
    fn what_concerns_one_connection_only_is_not_passed_on() {
        type Head = &'static [(&'static str, &'static str)];
        let table: &[(Head, Head)] = &[
            (
                &[
                    ("a", "1"),
                    ("keep-alive", "timeout=5"),
                    ("b", "2"),
                    ("proxy-connection", "x"),
                    ("c", "3"),
                ],
                &[("a", "1"), ("b", "2"), ("c", "3")],
            ),
            (
                &[("connection", "keep-alive, X-Hop"), ("x-hop", "1"), ("x-end", "2")],
                &[("connection", "keep-alive"), ("x-end", "2")],
            ),
            (&[("connection", "close")], &[("connection", "close")]),
            (&[("connection", "x-only"), ("x-only", "1")], &[]),
            (
                &[("te", "gzip, trailers;q=0.5, trailers"), ("connection", "TE")],
                &[("te", "trailers"), ("connection", "TE")],
            ),
            (&[("te", "gzip")], &[]),
            (
                &[("transfer-encoding", "chunked"), ("trailer", "x-sum")],
                &[("transfer-encoding", "chunked"), ("trailer", "x-sum")],
            ),
            (
                &[
                    ("connection", "Upgrade, HTTP2-Settings"),
                    ("upgrade", "h2c"),
                    ("http2-settings", "A"),
                ],
                &[],
            ),
            (&[("upgrade", "websocket")], &[]),
            (
                &[
                    ("connection", "keep-alive, Upgrade"),
                    ("upgrade", "websocket"),
                    ("sec-websocket-key", "k"),
                ],
                &[
                    ("connection", "keep-alive, Upgrade"),
                    ("upgrade", "websocket"),
                    ("sec-websocket-key", "k"),
                ],
            ),
        ];
        for (head, expected) in table {
            let kept = for_upstream(&map(head), Version::HTTP_11, &HeaderValue::from_static("h"));
            // The host was added in front.
            assert_eq!(&list(&kept)[1..], *expected, "{head:?}");
        }
    }

    #[test]
    fn the_host_is_the_upstreams_and_stays_in_its_place() {
        let host = HeaderValue::from_static("api.example");
        let kept = for_upstream(
            &map(&[("a", "1"), ("host", "127.0.0.1:4780"), ("b", "2")]),
            Version::HTTP_11,
            &host,
        );
        assert_eq!(list(&kept), [("a", "1"), ("host", "api.example"), ("b", "2")]);
        let kept = for_upstream(&map(&[("a", "1")]), Version::HTTP_11, &host);
        assert_eq!(list(&kept), [("host", "api.example"), ("a", "1")]);
    }

    #[test]
    fn heads_change_their_version() {
        let head = map(&[("a", "1"), ("cookie", "x=1"), ("b", "2"), ("cookie", "y=2")]);
        assert_eq!(
            list(&in_http1(&head, &HeaderValue::from_static("h"))),
            [("host", "h"), ("a", "1"), ("b", "2"), ("cookie", "x=1; y=2")]
        );
        let head = map(&[("connection", "close"), ("transfer-encoding", "chunked"), ("a", "1")]);
        assert_eq!(list(&in_http2(&head)), [("a", "1")]);
    }

    #[test]
    fn a_length_beside_chunks_is_dropped() {
        let head = map(&[("content-length", "3"), ("transfer-encoding", "chunked"), ("a", "1")]);
        assert_eq!(
            list(&for_app(&head, StatusCode::OK)),
            [("transfer-encoding", "chunked"), ("a", "1")]
        );
    }
}
