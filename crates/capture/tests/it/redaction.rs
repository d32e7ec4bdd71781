//! The scenario `t-secrets-not-stored`: no planted key is in any file of the folder, nor given back.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::*;

const KEYS: [&str; 12] = [
    "planted-authorization-0001",
    "planted-x-api-key-0002",
    "planted-goog-key-0003",
    "planted-cookie-value-0004",
    "planted-proxy-auth-0005",
    "planted-query-key-0006",
    "planted-encoded-name-0007",
    "planted-url-password-0008",
    "planted-custom-token-0009",
    "planted-basic-pass-0010",
    "planted-protocol-key-0011",
    "planted-set-cookie-0012",
];

fn request_with_keys() -> RequestHead {
    let query = format!("?key={}&%6Bey={}&alt=sse", KEYS[5], KEYS[6]);
    let headers = [
        ("Authorization", format!("Bearer {}", KEYS[0])),
        ("X-API-Key", KEYS[1].to_owned()),
        ("x-goog-api-key", KEYS[2].to_owned()),
        ("cookie", format!("session={}; theme=dark", KEYS[3])),
        ("Proxy-Authorization", format!("Basic {}", STANDARD.encode(format!("me:{}", KEYS[9])))),
        ("X-Vendor-Token", KEYS[8].to_owned()),
        ("Sec-WebSocket-Protocol", format!("realtime, openai-insecure-api-key.{}", KEYS[10])),
        ("Referer", format!("https://me:{}@host.example/", KEYS[7])),
        ("X-Service-Auth", KEYS[4].to_owned()),
        ("x-ratelimit-remaining-tokens", "4711".to_owned()),
    ];
    RequestHead {
        upstream: "gemini".to_owned(),
        method: "POST".to_owned(),
        target: format!("/gemini/v1beta/models/m:streamGenerateContent{query}"),
        url: format!("https://me:{}@host.example/v1beta/models/m:stream{query}", KEYS[7]),
        version: "HTTP/1.1",
        headers: headers.iter().map(|(n, v)| ((*n).to_owned(), Bytes::from(v.clone()))).collect(),
        client: None,
    }
}

/// An error body that quotes every key of the request.
fn quoting() -> String {
    let keys = KEYS[..11].join(" and ");
    format!(
        "{{\"error\":{{\"message\":\"bad key: {keys}; basic {}\"}}}}",
        STANDARD.encode(format!("me:{}", KEYS[9]))
    )
}

fn no_key_in(place: &str, text: &str) {
    for key in KEYS {
        assert!(!text.contains(key), "{key} in {place}: {text}");
        let coded = STANDARD.encode(format!("me:{key}"));
        assert!(!text.contains(&coded), "{key} in base64 in {place}");
    }
}

fn nothing_left(dir: &Path, store: &Store, id: CaptureId) {
    let exchange = store.exchange(id).unwrap();
    no_key_in("the exchange", &format!("{exchange:?}"));
    no_key_in("the body", &String::from_utf8_lossy(&bytes(store.body(id).unwrap())));
    no_key_in("the reading", &serde_json::to_string(&*store.reading(id).unwrap()).unwrap());
    let (_, rows) = store.frames(id, 0, 100).unwrap();
    no_key_in("the frames", &serde_json::to_string(&rows).unwrap());
    for key in KEYS {
        assert_eq!(folder_holds(dir, key), None);
        assert_eq!(folder_holds(dir, &STANDARD.encode(key)), None);
        assert_eq!(folder_holds(dir, &STANDARD.encode(format!("me:{key}"))), None);
    }
}

fn record(store: &Store, headers: &[(&str, &str)], chunks: &[&[u8]]) -> CaptureId {
    let mut feed = store.feed();
    let tap = store.recorder().begin(request_with_keys());
    let cookie = format!("session={}; HttpOnly", KEYS[11]);
    let location = format!("https://host.example/login?access_token={}", KEYS[0]);
    let mut headers = headers.to_vec();
    headers.extend([("Set-Cookie", cookie.as_str()), ("Location", location.as_str())]);
    tap.response(response(400, &headers));
    for chunk in chunks {
        tap.chunk(&Bytes::copy_from_slice(chunk));
    }
    let how = format!("reset by https://me:{}@host.example/?key={}", KEYS[7], KEYS[5]);
    let id = finish(tap, Ending::UpstreamBroke { how });
    settled(&mut feed, id);
    id
}

#[test]
fn planted_keys_are_nowhere_whatever_the_chunks() {
    let body = quoting();
    for size in [body.len(), 100, 7, 1] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let chunks: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
        let id = record(&store, &[("content-type", "application/json")], &chunks);
        nothing_left(dir.path(), &store, id);
        let kept = String::from_utf8(bytes(store.body(id).unwrap())).unwrap();
        assert_eq!(kept.len(), body.len(), "the length stays");
        assert!(kept.starts_with("{\"error\":{\"message\":\"bad key: ****"), "{kept}");
        let summary = store.summary(id).unwrap();
        assert_eq!(summary.bytes, body.len() as u64);
        let headers = store.exchange(id).unwrap().request.headers;
        let value = |name: &str| {
            headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap()
        };
        assert!(value("Authorization").starts_with("Bearer [redacted 26 bytes, "));
        assert_eq!(value("x-ratelimit-remaining-tokens"), "4711");
        store.shutdown();
        nothing_left(dir.path(), &store, id);
    }
}

#[test]
fn a_key_that_is_cut_between_two_writes_is_masked() {
    let (before, key) = ("{\"error\":{\"message\":\"bad key: ", KEYS[1]);
    for cut in [1, key.len() / 2, key.len() - 1] {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        let mut feed = store.feed();
        let tap = store.recorder().begin(request_with_keys());
        tap.response(response(400, &[("content-type", "application/json")]));
        let (start, rest) = key.split_at(cut);
        let first = format!("{before}{start}");
        tap.chunk(&Bytes::from(first.clone()));
        // So much is written before the rest comes.
        wait_for(&mut feed, |change| match change {
            Change::Capture(summary) => (summary.bytes == first.len() as u64).then_some(()),
            _ => None,
        });
        tap.chunk(&Bytes::from(format!("{rest}\"}}}}")));
        let id = finish(tap, Ending::Clean);
        settled(&mut feed, id);
        nothing_left(dir.path(), &store, id);
        let kept = String::from_utf8(bytes(store.body(id).unwrap())).unwrap();
        assert_eq!(kept, format!("{before}{}\"}}}}", "*".repeat(key.len())), "cut at {cut}");
    }
}

#[test]
fn a_coded_error_is_kept_decoded_and_masked() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(quoting().as_bytes()).unwrap();
    let coded = encoder.finish().unwrap();
    let chunks: Vec<&[u8]> = coded.chunks(50).collect();
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let id = record(&store, &headers, &chunks);
    nothing_left(dir.path(), &store, id);
    assert!(store.is_kept_decoded(id).unwrap());
    let kept = bytes(store.body(id).unwrap());
    assert_eq!(kept.len(), quoting().len());
    assert_eq!(store.summary(id).unwrap().bytes, coded.len() as u64);
    let reading = store.reading(id).unwrap();
    assert!(reading.error.as_ref().unwrap().message.starts_with("bad key: ***"), "{reading:?}");
}

#[test]
fn other_bodies_are_never_altered() {
    let store = memory();
    let tap = store.recorder().begin(request_with_keys());
    tap.response(response(200, &SSE));
    let body = format!("data: {}\n\n", quoting());
    tap.chunk(&Bytes::from(body.clone()));
    let id = finish(tap, Ending::Clean);
    store.shutdown();
    assert_eq!(bytes(store.chunks(id).unwrap()), body.as_bytes());
}
