//! Upstreams that speak TLS.

use teeline_capture::{Ending, State};
use teeline_proxy::{Config, certificates};
use teeline_script::{Authority, Script, Upstream};

use crate::support::{End, Rig, get, within};

async fn rig(authority: &Authority, trusted: &Authority, script: Script) -> Rig {
    let upstream = Upstream::builder().tls(authority).start(move |_| script.clone()).await.unwrap();
    let extra_ca = certificates(trusted.pem().as_bytes()).unwrap();
    Rig::with(upstream, Config { extra_ca, ..Config::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_upstream_is_used() {
    let authority = Authority::new().unwrap();
    let rig = rig(&authority, &authority, Script::sse(["data: 1\n\n", "data: 2\n\n"])).await;
    let mut app = rig.app().await;
    for _ in 0..2 {
        app.send("GET /up/x HTTP/1.1\r\nHost: h\r\n\r\n").await;
        app.read_through("data: 2\n\n").await;
        app.read_through("0\r\n\r\n").await;
    }
    let requests = rig.upstream.requests();
    assert_eq!((requests[0].connection, requests[1].connection), (0, 0));
    assert_eq!(requests[0].header("host"), Some(rig.upstream.addr().to_string().as_str()));
    drop(app);
    within("it closes", rig.upstream.client_gone(0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_not_trusted() {
    let (authority, other) = (Authority::new().unwrap(), Authority::new().unwrap());
    let rig = rig(&authority, &other, Script::answer("200 OK", &[], "ok")).await;
    let answer = rig.fetch(get("/up/x")).await;
    assert_eq!((answer.status(), answer.header("x-teeline-error")), ("502", Some("tls-failed")));
    assert!(answer.text().contains("CA file"), "{}", answer.text());
    assert!(rig.upstream.requests().is_empty());
    assert_eq!(rig.ended(0).await.state, State::Failed);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_without_tls_is_recognised() {
    // Answers whatever comes with plain HTTP, as servers do.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
    });
    let mut config = Config::default();
    config.upstreams.add("plain", &url).unwrap();
    let upstream = Upstream::start(|_| Script::new()).await.unwrap();
    let rig = Rig::with(upstream, config).await;
    let answer = rig.fetch(get("/plain/x")).await;
    assert_eq!(answer.header("x-teeline-error"), Some("tls-failed"));
    assert!(answer.text().contains("begin with http://"), "{}", answer.text());
}

/// Broken ends under TLS: an end of the body by a close needs `close_notify`.
#[tokio::test(flavor = "multi_thread")]
async fn ends_are_passed_on() {
    let authority = Authority::new().unwrap();
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    let unmarked = "HTTP/1.1 200 OK\r\n\r\nabc";
    let table = [
        ("chunks, reset", Script::new().bytes(chunked).rst(), End::Cut, Some("reset")),
        ("chunks, notified", Script::new().bytes(chunked).fin(), End::Cut, Some("closed early")),
        ("chunks, cut", Script::new().bytes(chunked).close(), End::Cut, Some("closed early")),
        ("by close, notified", Script::new().bytes(unmarked).fin(), End::Whole, None),
        ("by close, cut", Script::new().bytes(unmarked).close(), End::Cut, Some("closed early")),
    ];
    for (name, script, end, how) in table {
        let rig = rig(&authority, &authority, script).await;
        let answer = rig.fetch(get("/up/x")).await;
        assert_eq!((answer.text().as_str(), answer.end), ("abc", end), "{name}");
        let expected =
            how.map_or(Ending::Clean, |how| Ending::UpstreamBroke { how: how.to_owned() });
        assert_eq!(rig.exchange(0).await.ending, Some(expected), "{name}");
    }
}
