//! Request bodies go on as they come.

use teeline_capture::{Ending, State};
use teeline_proxy::Config;
use teeline_script::{Script, Upstream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Answer, End, Rig, post, within};

/// 100 MiB, of which the upstream has the first before the app sends the second.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_upload_is_not_collected() {
    const MIB: usize = 1 << 20;
    let upstream = Upstream::builder()
        .early()
        .keep_body(MIB)
        .start(|_| Script::new().read_rest().then(Script::answer("200 OK", &[], "got it")))
        .await
        .unwrap();
    let rig = Rig::with(upstream, Config::default()).await;
    let mut app = rig.app().await;
    let block = vec![b'u'; MIB];
    app.send(format!("POST /up/x HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 100 * MIB))
        .await;
    for sent in 1..=100 {
        app.send(&block).await;
        if sent <= 3 {
            within("it arrives", rig.upstream.received_body(0, (sent * MIB) as u64)).await;
        }
    }
    app.read_through("got it").await;
    let received = &rig.upstream.requests()[0];
    assert_eq!((received.body_length, received.body_whole), (100 * MIB as u64, true));
    assert_eq!(received.header("content-length"), Some("104857600"));
    assert_eq!(rig.ended(0).await.state, State::Ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_upload_stays_chunked() {
    let upstream = Upstream::builder()
        .early()
        .start(|_| Script::new().read_rest().then(Script::answer("200 OK", &[], "ok")))
        .await
        .unwrap();
    let rig = Rig::with(upstream, Config::default()).await;
    let mut app = rig.app().await;
    app.send(
        "POST /up/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n",
    )
    .await;
    for (n, part) in ["a", "bc", "def"].iter().enumerate() {
        app.send(format!("{:x}\r\n{part}\r\n", part.len())).await;
        within("it arrives", rig.upstream.received_body(0, [1, 3, 6][n])).await;
    }
    app.send("0\r\nX-T: 1\r\n\r\n").await;
    app.read_through("ok").await;
    let received = &rig.upstream.requests()[0];
    assert_eq!((received.body.as_ref(), received.body_whole), (&b"abcdef"[..], true));
    assert_eq!(received.header("transfer-encoding"), Some("chunked"));
    assert_eq!(received.header("content-length"), None);
    assert_eq!(received.trailers, [("x-t".to_owned(), "1".to_owned())]);
    assert_eq!(rig.exchange(0).await.request.body, "abcdef");
}

/// The body is held back until the upstream wants it, and the app is told then.
#[tokio::test(flavor = "multi_thread")]
async fn an_expecting_app_is_told_when_the_upstream_wants_the_body() {
    let upstream = Upstream::builder()
        .early()
        .start(|request| match request.target.as_str() {
            "/wanted" => Script::new()
                .gate("wanted")
                .bytes("HTTP/1.1 100 Continue\r\n\r\n")
                .read_rest()
                .then(Script::answer("200 OK", &[], "ok")),
            "/refused" => Script::answer("413 Content Too Large", &[], "no").fin(),
            _ => Script::new().read_rest().then(Script::answer("200 OK", &[], "ok")),
        })
        .await
        .unwrap();
    let rig = Rig::with(upstream, Config::default()).await;
    let head = |target: &str| {
        format!(
            "POST /up{target} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        )
    };

    let mut app = rig.app().await;
    app.send(head("/wanted")).await;
    rig.upstream.reached("wanted").await;
    assert_eq!(rig.upstream.requests()[0].header("expect"), Some("100-continue"));
    rig.upstream.open_gate("wanted");
    assert_eq!(app.read_through("\r\n\r\n").await, b"HTTP/1.1 100 Continue\r\n\r\n");
    app.send("abc").await;
    app.read_through("ok").await;
    assert_eq!(rig.exchange(0).await.response.unwrap().informational, [100]);

    // Refused: the answer comes without an invitation before it.
    let mut app = rig.app().await;
    app.send(head("/refused")).await;
    let answer = app.answer().await;
    assert_eq!((answer.status(), answer.text().as_str()), ("413", "no"));
    rig.truncated_request(1).await;

    // An upstream that says nothing gets the body in the end.
    let mut app = rig.app().await;
    app.send(head("/silent")).await;
    app.read_through("100 Continue\r\n\r\n").await;
    app.send("abc").await;
    app.read_through("ok").await;
}

/// The upstream answers and closes before it has read the request
/// (t-early-response-then-reset, HTTP/1.1).
///
/// On one thread: the answer and the reset are both there before the proxy sees either.
#[tokio::test]
async fn an_early_answer_reaches_the_app() {
    // Several reads of hyper's, one window of the kernel's.
    let body = format!("{{\"error\":\"{}\"}}", "too large".repeat(4_000));
    let head = [("Connection", "close"), ("Content-Type", "application/json")];
    let answer = Script::answer("413 Content Too Large", &head, &body);
    // With the rest unread, a close resets the connection.
    for script in [answer.clone().fin(), answer.clone().close(), answer.rst()] {
        let (rig, answer) = upload_against(script).await;
        assert_eq!((answer.status(), answer.end), ("413", End::Whole));
        assert!(answer.text() == body, "{} of {} bytes", answer.body.len(), body.len());
        let exchange = rig.exchange(0).await;
        assert_eq!(exchange.ending, Some(Ending::Clean));
        assert_eq!(exchange.response.unwrap().status, 413);
        rig.truncated_request(0).await;
    }
}

/// The same where only the end of the connection can say whether the answer is whole.
///
/// On one thread: the answer and the reset are both there before the proxy sees either.
#[tokio::test]
async fn an_early_answer_that_is_reset_does_not_become_whole() {
    let head = Script::head("413 Content Too Large", &[("Connection", "close")]).bytes("too l");
    for (script, end) in [(head.clone().fin(), End::Whole), (head.rst(), End::Cut)] {
        let (_rig, answer) = upload_against(script).await;
        assert_eq!((answer.status(), answer.text().as_str(), answer.end), ("413", "too l", end));
    }
}

/// What an app gets that sends 50 MB to an upstream that reads one of them.
async fn upload_against(script: Script) -> (Rig, Answer) {
    // The upload is well under way, and what follows fills every buffer.
    let script = Script::new().read(1 << 20).then(script);
    let upstream = Upstream::builder().early().start(move |_| script.clone()).await.unwrap();
    let rig = Rig::with(upstream, Config::default()).await;
    let mut app = rig.app().await;
    let sending = vec![b'p'; 50_000_000];
    let length = sending.len();
    app.send(format!("POST /up/x HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n")).await;
    let (mut read, mut write) = app.stream.into_split();
    let upload = tokio::spawn(async move {
        // The end of the connection may stop it.
        let _ = write.write_all(&sending).await;
        write
    });
    let mut bytes = Vec::new();
    let end = within("the answer", read.read_to_end(&mut bytes)).await;
    drop(upload.await.unwrap());
    (rig, Answer::parse(&bytes, end.err().map(|err| err.kind())))
}

/// Closing with something unread would reset the app's connection, and it might lose the answer.
#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_a_refused_request_is_taken_in() {
    let mut config = Config::default();
    config.upstreams.add("dead", "http://127.0.0.1:9").unwrap();
    let upstream = Upstream::start(|_| Script::new()).await.unwrap();
    let rig = Rig::with(upstream, config).await;
    let mut app = rig.app().await;
    app.send("POST /dead/x HTTP/1.1\r\nHost: h\r\nContent-Length: 3000\r\n\r\n").await;
    app.read_through("connect-failed").await;
    app.read_through("}\n").await;
    let end = within("the proxy ends its side", app.stream.read(&mut [0; 1])).await;
    assert_eq!(end.unwrap(), 0);
    for _ in 0..3 {
        // After a reset the second would fail.
        app.send([b'x'; 1000]).await;
    }
}

/// An early answer on a connection that stays: the rest of the upload goes through, and the
/// connection serves the next request.
#[tokio::test(flavor = "multi_thread")]
async fn an_early_answer_does_not_stop_the_upload() {
    let upstream = Upstream::builder()
        .early()
        .start(|request| Script::answer("200 OK", &[], format!("answer {}", request.number)))
        .await
        .unwrap();
    let rig = Rig::with(upstream, Config::default()).await;
    let mut app = rig.app().await;
    app.send("POST /up/x HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc").await;
    app.read_through("answer 0").await;
    app.send("def").await;
    within("the rest", rig.upstream.received_body(0, 6)).await;
    app.send(post("/up/y", "second")).await;
    app.read_through("answer 1").await;
    let requests = rig.upstream.requests();
    assert_eq!((&requests[0].body[..], requests[0].body_whole), (&b"abcdef"[..], true));
    // What came after the answer is part of the request.
    let request = rig.exchange(0).await.request;
    assert_eq!((request.body.as_str(), request.body_truncated), ("abcdef", false));
}

/// A body that breaks off is not made whole.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_upload_stays_broken() {
    let upstream = Upstream::builder()
        .early()
        .start(|_| Script::new().read_rest().then(Script::answer("200 OK", &[], "ok")))
        .await
        .unwrap();
    let rig = Rig::with(upstream, Config::default()).await;
    let mut app = rig.app().await;
    app.send("POST /up/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        .await;
    within("it arrives", rig.upstream.received_body(0, 3)).await;
    drop(app);
    within("the upstream sees it", rig.upstream.client_gone(0)).await;
    assert!(!rig.upstream.requests()[0].body_whole);
    let exchange = rig.exchange(0).await;
    assert_eq!(exchange.ending, Some(Ending::ClientLeft));
    rig.truncated_request(0).await;

    // Malformed framing is the app's fault, and said so.
    let answer = rig
        .fetch("POST /up/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        .await;
    assert_eq!((answer.status(), answer.header("x-teeline-error")), ("400", Some("bad-request")));
}
