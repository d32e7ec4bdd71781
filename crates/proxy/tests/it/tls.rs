//! Upstreams that speak TLS.

use teeline_capture::{Ending, State};
use teeline_proxy::{Certificate, Config, certificates};
use teeline_script::{Authority, Frame, Script, Upstream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    http2,
    support::{Answer, End, Rig, get, within},
};

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

/// What the proxy tells an app by ALPN, and an upstream by what the app chose.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_may_speak_tls_and_its_version_is_mirrored() {
    let authority = Authority::new().unwrap();
    for (offered, upstream_speaks, app, upstream) in [
        (&[&b"h2"[..], b"http/1.1"][..], true, "HTTP/2", "HTTP/2"),
        (&[b"h2"], false, "HTTP/2", "HTTP/1.1"),
        (&[b"http/1.1"], true, "HTTP/1.1", "HTTP/1.1"),
        (&[], true, "HTTP/1.1", "HTTP/1.1"),
    ] {
        let builder = Upstream::builder().tls(&authority);
        let builder = if upstream_speaks { builder.http2() } else { builder };
        let started = builder.start(|request| match request.version.as_str() {
            "HTTP/2" => Script::new().frames([
                Frame::Head(200, vec![("x-version".into(), "2".into())]),
                Frame::DataEnd("ok".into()),
            ]),
            _ => Script::answer("200 OK", &[("X-Version", "1.1")], "ok"),
        });
        let (chain, key) = authority.certificate(&["localhost"]).unwrap();
        let config = Config {
            extra_ca: certificates(authority.pem().as_bytes()).unwrap(),
            certificate: Some(Certificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap()),
            ..Config::default()
        };
        let rig = Rig::with(started.await.unwrap(), config).await;
        let stream = authority.connect(rig.addr, "localhost", offered).await.unwrap();
        if app == "HTTP/2" {
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            let app = http2::App::over(stream, &h2::client::Builder::new()).await;
            assert_eq!(app.fetch("/up/x").await.unwrap().body, "ok");
        } else {
            let (mut stream, mut answer) = (stream, String::new());
            stream.write_all(get("/up/x").as_bytes()).await.unwrap();
            within("the answer", stream.read_to_string(&mut answer)).await.unwrap();
            assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
        }
        let exchange = rig.exchange(0).await;
        assert_eq!(
            (exchange.request.version.as_str(), exchange.ending),
            (app, Some(Ending::Clean))
        );
        assert_eq!(exchange.response.unwrap().version, upstream);
        assert_eq!(rig.upstream.requests()[0].version, upstream);
        // Plain connections are served on the same address.
        assert_eq!(rig.fetch(get("/up/x")).await.text(), "ok");
    }
}

/// A broken end under TLS on the app's side: everything before it arrives.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_end_reaches_an_app_that_speaks_tls() {
    let authority = Authority::new().unwrap();
    let body = "x".repeat(200_000);
    let script = Script::sse_head().chunk(&body).gate("all came").rst();
    let upstream = Upstream::start(move |_| script.clone()).await.unwrap();
    let (chain, key) = authority.certificate(&["localhost"]).unwrap();
    let certificate = Certificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap();
    let config = Config { certificate: Some(certificate), ..Config::default() };
    let rig = Rig::with(upstream, config).await;
    let mut stream = authority.connect(rig.addr, "localhost", &[]).await.unwrap();
    stream.write_all(get("/up/x").as_bytes()).await.unwrap();
    rig.capture(0, |it| it.bytes == 200_000).await;
    rig.upstream.open_gate("all came");
    let mut bytes = Vec::new();
    let end = within("the answer", stream.read_to_end(&mut bytes)).await;
    let answer = Answer::parse(&bytes, end.err().map(|err| err.kind()));
    assert_eq!(answer.body.len(), body.len());
    assert!(matches!(answer.end, End::Cut | End::Reset), "{:?}", answer.end);
}
