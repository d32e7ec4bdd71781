//! The names are those of DESIGN.md 4, "Security", and of the scenario `t-secrets-not-stored`.

use super::*;

const KEY: &str = "sk-planted-0123456789abcdef0123456789abcdef0123456";

fn redactor() -> Redactor {
    let redaction =
        Redaction { headers: vec!["X-Our-Pass".to_owned()], query: vec!["our_pass".to_owned()] };
    Redactor::new(&redaction, [7; 16])
}

fn header(name: &str, value: &str) -> (String, Secrets) {
    let mut secrets = Secrets::default();
    let kept = redactor().header(name, value, &mut secrets);
    (kept, secrets)
}

#[test]
fn secret_headers_are_redacted_in_any_case() {
    for name in [
        "authorization",
        "Authorization",
        "AUTHORIZATION",
        "proxy-authorization",
        "Cookie",
        "Set-Cookie",
        "x-api-key",
        "X-Api-Key",
        "api-key",
        "x-goog-api-key",
        "x-amz-security-token",
        "X-Portkey-Api-Key",
        "x-auth-token",
        "X-Client-Secret",
        "x-service-auth",
        "x_api_key",
        "x-our-pass",
        "Sec-WebSocket-Protocol",
    ] {
        let (kept, secrets) = header(name, KEY);
        assert!(!kept.contains("planted"), "{name}: {kept}");
        assert!(kept.contains(&format!("redacted {} bytes, ", KEY.len())), "{name}: {kept}");
        assert!(!secrets.is_empty(), "{name}");
    }
}

#[test]
fn other_headers_stay() {
    for (name, value) in [
        ("x-ratelimit-remaining-tokens", "149984"),
        ("x-ratelimit-limit-tokens", "150000"),
        ("anthropic-ratelimit-input-tokens-remaining", "39000"),
        ("content-type", "text/event-stream"),
        ("openai-organization", "org-1"),
        ("x-request-id", "req_0123456789abcdef0123456789abcdef"),
        ("sec-websocket-protocol", "realtime, openai-beta.realtime-v1"),
        ("user-agent", "x (a; b=c) y?z"),
    ] {
        assert_eq!(header(name, value).0, value, "{name}");
    }
}

#[test]
fn the_scheme_stays_and_equal_keys_can_be_told_apart() {
    let (kept, _) = header("Authorization", &format!("Bearer {KEY}"));
    assert!(kept.starts_with(&format!("Bearer [redacted {} bytes, ", KEY.len())), "{kept}");
    let tag = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    assert_eq!(tag(&kept).len(), "a1b2c3d4]".len());
    assert_eq!(tag(&kept), tag(&header("x-api-key", KEY).0));
    assert_ne!(tag(&kept), tag(&header("x-api-key", "sk-another").0));
    let other = Redactor::new(&Redaction::default(), [8; 16]);
    assert_ne!(tag(&kept), tag(&other.header("x-api-key", KEY, &mut Secrets::default())));
}

#[test]
fn a_key_among_websocket_protocols_is_found() {
    let value = format!("realtime, openai-insecure-api-key.{KEY}, openai-beta.realtime-v1");
    let (kept, _) = header("sec-websocket-protocol", &value);
    assert!(!kept.contains("planted"), "{kept}");
    assert!(kept.starts_with("realtime, openai-insecure-api-key.[redacted "), "{kept}");
    assert!(kept.ends_with(", openai-beta.realtime-v1"), "{kept}");
}

#[test]
fn query_values_and_user_parts_are_redacted() {
    for url in [
        "/gemini/v1beta/models/m:streamGenerateContent?key={}",
        "/x?alt=sse&key={}&z=1",
        "/x?api_key={}",
        "/x?api-key={}",
        "/x?access_token={}",
        "/x?token={}#part",
        "/x?X-Amz-Signature={}",
        "/x?x-amz-security-token={}",
        "/x?sig={}",
        "/x?%6Bey={}",
        "/x?%6b%65%79={}",
        "/x?api%5Fkey={}",
        "/x?our_pass={}",
        "/x?a=1;key={}",
        "https://me:{}@host.example/path?a=b",
        "https://host.example/path?key={}&a=b",
        "see <https://host.example/?key={}>; rel=\"next\"",
    ] {
        let url = url.replace("{}", KEY);
        let mut secrets = Secrets::default();
        let kept = redactor().url(&url, &mut secrets);
        assert!(!kept.contains("planted"), "{url}: {kept}");
        assert!(kept.contains("REDACTED-"), "{url}: {kept}");
        let quoted = secrets.mask_text(&format!("bad request: {url}"));
        assert!(!quoted.contains("planted"), "{quoted}");
    }
}

#[test]
fn the_rest_of_a_url_stays_byte_for_byte() {
    for url in [
        "/openai//v1/a%2Fb/../c?x=1&&y=%41&monkey=2&keys=3&page=4?",
        "https://host.example:8080/a@b?c=d",
        "/x?key=",
        "/x?key",
        "",
    ] {
        assert_eq!(redactor().url(url, &mut Secrets::default()), url);
    }
    let kept = redactor().url("/x?a=%20&key=abcd&b=+", &mut Secrets::default());
    assert!(kept.starts_with("/x?a=%20&key=REDACTED-4-bytes-") && kept.ends_with("&b=+"), "{kept}");
}

#[test]
fn quoted_secrets_are_masked_in_every_spelling() {
    let mut secrets = Secrets::default();
    let redactor = redactor();
    redactor.header("authorization", "Basic bWU6cGxhbnRlZC9wYXNz", &mut secrets);
    redactor.url("/x?key=plan%2Fted%22key", &mut secrets);
    for (text, masked) in [
        (r#"{"error":"user me:planted/pass"}"#, r#"{"error":"user ***************"}"#),
        (r#"{"error":"planted/pass"}"#, r#"{"error":"************"}"#),
        ("bWU6cGxhbnRlZC9wYXNz!", "********************!"),
        ("?key=plan%2Fted%22key&", "?key=****************&"),
        ("?key=plan%2fted%22key&", "?key=****************&"),
        (r#""plan/ted\"key""#, r#""*************""#),
        ("nothing of it: planted", "nothing of it: planted"),
    ] {
        assert_eq!(secrets.mask_text(text), masked);
    }
}

#[test]
fn a_secret_over_a_chunk_edge_is_held() {
    let mut secrets = Secrets::default();
    secrets.add("abcdabce");
    for (data, held) in
        [("xxabcd", 4), ("xxabcdab", 6), ("xxabcdabce", 0), ("abcdabcda", 5), ("xyz", 0), ("", 0)]
    {
        assert_eq!(secrets.held(data.as_bytes()), held, "{data}");
    }
}

#[test]
fn what_was_redacted_before_stays() {
    let (once, _) = header("Authorization", &format!("Bearer {KEY}"));
    let (twice, secrets) = header("Authorization", &once);
    assert_eq!(once, twice);
    // And only that: a key that merely begins so is redacted.
    drop(secrets);
    for odd in ["[redacted]", "redacted 51 bytes, 0123456z", "redacted x bytes, 01234567 sk-key"] {
        let (kept, _) = header("X-Api-Key", odd);
        assert_ne!(kept, format!("[{odd}]"), "{odd}");
        assert!(!kept.contains("sk-key"), "{kept}");
    }
    let mut secrets = Secrets::default();
    let once = redactor().url(&format!("https://h/v1?key={KEY}&x=1"), &mut secrets);
    assert_eq!(redactor().url(&once, &mut secrets), once);
}
