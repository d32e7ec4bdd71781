//! Who is answered, and with which headers.

use crate::support::{bench, bench_at};
use axum::body::Body;
use http::{Method, Request};

/// Contract 4: a Host whose name (port ignored) is not loopback, the bound IP or in `allowed_hosts` gets 403.
#[tokio::test]
async fn only_known_hosts_are_answered() {
    let table = [
        ("127.0.0.1:4781", 200),
        ("127.0.0.1", 200),
        ("127.0.0.1:1", 200),
        ("127.9.9.9:4781", 200),
        ("localhost:4781", 200),
        ("LocalHost", 200),
        ("[::1]:4781", 200),
        ("[::1]", 200),
        ("[::ffff:127.0.0.1]", 200),
        ("debug.internal", 200),
        ("Debug.Internal:8080", 200),
        ("192.0.2.7:4781", 200),
        ("example.com", 403),
        ("localhost.example.com", 403),
        ("127.0.0.1.example.com", 403),
        ("example.com:4781", 403),
        ("user@localhost", 403),
        ("localhost@example.com", 403),
        ("192.0.2.8:4781", 403),
        ("10.0.0.1", 403),
        ("0.0.0.0:4781", 403),
        ("[::2]:4781", 403),
        ("[::1", 403),
        ("[::1]x", 403),
        ("2130706433", 403),
        ("", 403),
    ];
    let bench = bench_at("192.0.2.7:4781", &["debug.internal"]);
    for (host, status) in table {
        for path in ["/", "/healthz", "/api/captures", "/read"] {
            let request = Request::get(path).header("host", host).body(Body::empty()).unwrap();
            assert_eq!(bench.send(request).await.status, status, "{host} {path}");
        }
    }
}

#[tokio::test]
async fn bound_to_all_addresses_every_address_is_its_own() {
    let bench = bench_at("0.0.0.0:4781", &[]);
    for (host, status) in [("192.0.2.8:4781", 200), ("[2001:db8::1]", 200), ("example.com", 403)] {
        let request = Request::get("/").header("host", host).body(Body::empty()).unwrap();
        assert_eq!(bench.send(request).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn exactly_one_host_is_needed() {
    let bench = bench();
    let none = Request::get("/").body(Body::empty()).unwrap();
    assert_eq!(bench.send(none).await.status, 403);
    let two = Request::get("/").header("host", "localhost").header("host", "localhost");
    assert_eq!(bench.send(two.body(Body::empty()).unwrap()).await.status, 403);
    let absolute = Request::get("http://example.com/").header("host", "localhost");
    assert_eq!(bench.send(absolute.body(Body::empty()).unwrap()).await.status, 403);
}

/// Contract 4: an `Origin` that is not the dashboard's own gets 403.
#[tokio::test]
async fn only_its_own_origin_is_answered() {
    let table = [
        ("127.0.0.1:4781", "http://127.0.0.1:4781", 200),
        ("localhost:4781", "http://localhost:4781", 200),
        ("localhost:4781", "HTTP://LOCALHOST:4781", 200),
        ("localhost:9000", "http://localhost:9000", 200),
        ("debug.internal", "http://debug.internal", 200),
        ("debug.internal", "https://debug.internal", 200),
        ("127.0.0.1:4781", "http://localhost:4781", 403),
        ("127.0.0.1:4781", "http://127.0.0.1:3000", 403),
        ("127.0.0.1:4781", "http://127.0.0.1", 403),
        ("127.0.0.1:4781", "https://127.0.0.1:4781", 403),
        ("127.0.0.1:4781", "http://example.com", 403),
        ("127.0.0.1:4781", "http://127.0.0.1:4781.example.com", 403),
        ("127.0.0.1:4781", "null", 403),
        ("127.0.0.1:4781", "", 403),
    ];
    let bench = bench_at("127.0.0.1:4781", &["debug.internal"]);
    for (host, origin, status) in table {
        let request = Request::get("/api/captures").header("host", host).header("origin", origin);
        let answer = bench.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, status, "{host} {origin}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"));
    }
}

/// What browsers say of where a request comes from: a link may be followed, nothing else may cross sites.
#[tokio::test]
async fn what_crosses_sites_is_refused() {
    let table = [
        (Method::GET, "/", "cross-site", "navigate", "document", 200),
        (Method::GET, "/", "none", "navigate", "document", 200),
        (Method::GET, "/", "same-origin", "cors", "empty", 200),
        (Method::GET, "/", "cross-site", "navigate", "iframe", 403),
        (Method::GET, "/api/captures", "cross-site", "no-cors", "script", 403),
        (Method::GET, "/api/captures", "same-site", "cors", "empty", 403),
        (Method::DELETE, "/api/captures?q=", "same-origin", "cors", "empty", 204),
        (Method::DELETE, "/api/captures?q=", "same-site", "cors", "empty", 403),
        (Method::DELETE, "/api/captures?q=", "cross-site", "no-cors", "empty", 403),
        (Method::POST, "/api/read", "cross-site", "navigate", "document", 403),
    ];
    let bench = bench();
    for (method, path, site, mode, dest, status) in table {
        let request = Request::builder()
            .method(&method)
            .uri(path)
            .header("host", "localhost:4781")
            .header("sec-fetch-site", site)
            .header("sec-fetch-mode", mode)
            .header("sec-fetch-dest", dest)
            .body(Body::empty())
            .unwrap();
        assert_eq!(
            bench.send(request).await.status,
            status,
            "{method} {path} {site} {mode} {dest}"
        );
    }
}

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_it_inert() {
    let bench = bench();
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
        connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
    let paths = [
        "/",
        "/read",
        "/nothing",
        "/captures/nothing",
        "/healthz",
        "/favicon.ico",
        "/assets/x/tokens.css",
        "/assets/x/nothing.css",
        "/api/captures",
        "/api/captures?limit=x",
        "/api/captures/nothing",
        "/api/findings",
        "/api/nothing",
    ];
    for path in paths {
        let answer = bench.get(path).await;
        assert_eq!(answer.header("content-security-policy"), policy, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    }
    let refused = Request::get("/").header("host", "example.com").body(Body::empty()).unwrap();
    assert_eq!(bench.send(refused).await.header("content-security-policy"), policy);
}

/// Pages hold no script or style of their own and name nothing outside: the policy would refuse it.
#[tokio::test]
async fn pages_hold_no_inline_script_or_style() {
    let bench = bench();
    let id = bench.record(crate::support::WHOLE, teeline_capture::Ending::Clean).await;
    for path in
        ["/".to_owned(), "/read".to_owned(), format!("/captures/{id}"), "/nothing".to_owned()]
    {
        let html = bench.get(&path).await.text();
        for tag in html.split('<').skip(1) {
            let tag = tag.split('>').next().unwrap();
            if tag.starts_with("script") {
                assert!(tag.contains(" src=\"/assets/"), "{path}: <{tag}>");
            }
            assert!(!tag.starts_with("style"), "{path}: <{tag}>");
            assert!(!tag.contains(" style="), "{path}: <{tag}>");
            assert!(!tag.contains(" on"), "{path}: <{tag}>");
            let outside =
                tag.contains("//") && !tag.contains("xmlns") && !tag.contains("data-proxy");
            assert!(!outside, "{path}: <{tag}>");
        }
    }
}
