//! What teeline answers itself.

use std::time::Duration;

use teeline_capture::{Ending, State};
use teeline_proxy::{Config, Upstreams};
use teeline_script::{Script, Upstream};
use tokio::{io::AsyncWriteExt as _, net::TcpListener};

use crate::support::{Answer, End, Rig, get};

async fn rig(upstreams: &[(&str, &str)]) -> Rig {
    let mut config = Config { connect_timeout: Duration::from_millis(300), ..Config::default() };
    for (name, url) in upstreams {
        config.upstreams.add(name, url).unwrap();
    }
    config.dashboard_url = Some("http://127.0.0.1:4781".to_owned());
    Rig::with(Upstream::start(|_| Script::answer("200 OK", &[], "ok")).await.unwrap(), config).await
}

fn check(answer: &Answer, status: &str, kind: &str, words: &str) {
    assert_eq!((answer.status(), answer.header("x-teeline-error")), (status, Some(kind)));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    let error = &body["error"];
    assert_eq!((&error["type"], &error["kind"]), (&"teeline_error".into(), &kind.into()));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_is_told_the_base_urls() {
    let rig = rig(&[]).await;
    for target in ["/v1/chat/completions", "/", "//up/x", "/UP/x"] {
        let request = format!(
            "POST {target} HTTP/1.1\r\nHost: 127.0.0.1:4780\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        let answer = rig.fetch(request).await;
        check(&answer, "404", "no-upstream", "http://127.0.0.1:4780/openai");
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(body["error"]["base_urls"]["up"], "http://127.0.0.1:4780/up");
        assert_eq!(body["error"]["dashboard"], "http://127.0.0.1:4781");
    }
    // Whoever looks for the stream in the dashboard finds why there is none.
    for number in 0..4 {
        let capture = rig.ended(number).await;
        assert_eq!((capture.state, capture.upstream.as_str()), (State::Failed, ""));
        let reason = capture.end_reason.unwrap();
        assert!(reason.starts_with("no-upstream") && reason.contains("/openai"), "{reason}");
    }
    let icon = "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:4780\r\nConnection: close\r\n\r\n";
    assert_eq!(rig.fetch(icon).await.status(), "404");
    assert_eq!(rig.captures().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_goes_to_the_default() {
    let other = Upstream::start(|request| Script::answer("200 OK", &[], request.target.clone()))
        .await
        .unwrap();
    let rig = rig(&[("default", &format!("{}/base", other.url()))]).await;
    assert_eq!(
        rig.fetch(get("/openai/deployments/x?v=1")).await.text(),
        "/base/openai/deployments/x?v=1"
    );
    assert_eq!(rig.fetch(get("/up/x")).await.text(), "ok");
    for (number, upstream) in ["default", "up"].into_iter().enumerate() {
        assert_eq!(rig.ended(number).await.upstream, upstream);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forward_proxy_requests_are_refused() {
    let rig = rig(&[]).await;
    for request in [
        get("http://api.openai.com/v1/models").replace("Host: proxy", "Host: api.openai.com"),
        "CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\nConnection: close\r\n\r\n".to_owned(),
    ] {
        check(&rig.fetch(request).await, "400", "not-a-proxy", &format!("http://{}/NAME", rig.addr));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_under_a_strange_name_is_refused() {
    let rig = rig(&[]).await;
    let request = |host: &str, more: &str| {
        format!("GET /up/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n")
    };
    let answer = rig.fetch(request("evil.example", "Origin: http://evil.example\r\n")).await;
    check(&answer, "403", "forbidden-host", "--allowed-host");
    assert_eq!(answer.header("access-control-allow-origin"), None);
    for (host, more) in [("evil.example", ""), ("localhost:1", "Origin: http://evil.example\r\n")] {
        assert_eq!(rig.fetch(request(host, more)).await.status(), "200", "{host}");
    }
    assert_eq!(rig.upstream.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browsers_page_may_read_the_error() {
    let rig = rig(&[]).await;
    let answer = rig
        .fetch("GET /x HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\nConnection: close\r\n\r\n")
        .await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(answer.header("vary"), Some("origin"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_gets_a_page_that_links_to_the_dashboard() {
    let rig = rig(&[]).await;
    let answer = rig
        .fetch("GET / HTTP/1.1\r\nHost: localhost:4780\r\nAccept: text/html,*/*\r\nConnection: close\r\n\r\n")
        .await;
    assert_eq!(answer.status(), "200");
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let page = answer.text();
    assert!(page.contains("<a href=\"http://127.0.0.1:4781\">"), "{page}");
    for upstream in Upstreams::default().iter() {
        assert!(page.contains(&format!("http://localhost:4780/{}<", upstream.name())), "{page}");
    }
}

/// hyper would answer with a bare status.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_request_is_told_why() {
    let rig = rig(&[]).await;
    let table = [
        ("no HTTP at all\r\n\r\n".to_owned(), "400"),
        ("GET /up/<x> HTTP/1.1\r\nHost: h\r\n\r\n".to_owned(), "400"),
        ("GET /up/x HTTP/1.1\r\nHost: h\r\nBad Name: x\r\n\r\n".to_owned(), "400"),
        ("POST /up/x HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n".to_owned(), "400"),
        (format!("GET /up/{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), "414"),
        (format!("GET /up/x HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1_000_000)), "431"),
    ];
    for (request, status) in table {
        let mut app = rig.app().await;
        // What came before on the connection does not matter.
        app.send("HEAD /up/x HTTP/1.1\r\nHost: h\r\n\r\n").await;
        app.read_through("\r\n\r\n").await;
        // A long one may be cut off while it is sent.
        let _ = app.stream.write_all(request.as_bytes()).await;
        let answer = app.answer().await;
        check(&answer, status, "bad-request", "cannot be read");
        assert_eq!((answer.header("connection"), answer.end), (Some("close"), End::Whole));
    }
}

/// An answer of an upstream that looks the same passes.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstreams_bare_refusal_passes() {
    let bare = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let rig = Rig::new(move |_| Script::new().bytes(bare).fin()).await;
    let answer = rig.fetch(get("/up/x")).await;
    assert_eq!(answer.head, bare);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_cannot_be_reached_is_named() {
    let dead = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    // Accepts and says nothing.
    let mute = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let rig = rig(&[
        ("dead", &format!("http://{dead}")),
        ("nameless", "http://no-such-host.invalid"),
        ("mute", &format!("https://{}", mute.local_addr().unwrap())),
    ])
    .await;
    let table = [
        ("/dead/x", "502", "connect-failed", format!("127.0.0.1 port {}", dead.port())),
        (
            "/nameless/x",
            "502",
            "connect-failed",
            "no-such-host.invalid cannot be resolved".to_owned(),
        ),
        ("/mute/x", "504", "upstream-timeout", "within 300ms".to_owned()),
    ];
    for (number, (target, status, kind, words)) in table.into_iter().enumerate() {
        let answer = rig.fetch(get(target)).await;
        check(&answer, status, kind, &words);
        assert_eq!(rig.ended(number).await.state, State::Failed);
        let Some(Ending::Failed { kind: stored, .. }) = rig.exchange(number).await.ending else {
            panic!("it failed");
        };
        assert_eq!(stored, kind);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_does_not_talk_to_itself() {
    let placeholder = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = placeholder.local_addr().unwrap();
    drop(placeholder);
    let mut config = Config::default();
    config.upstreams.add("default", &format!("http://{addr}")).unwrap();
    let store =
        teeline_capture::Store::in_memory(teeline_capture::StoreOptions::default()).unwrap();
    let proxy = teeline_proxy::Proxy::bind(addr, config, store.recorder()).await.unwrap();
    let shutdown = tokio_util::sync::CancellationToken::new();
    let _stop = shutdown.clone().drop_guard();
    tokio::spawn(proxy.serve(shutdown));
    let mut app = crate::support::App::connect(addr).await;
    app.send(get("/x")).await;
    check(&app.answer().await, "502", "connect-failed", "this proxy itself");
}
