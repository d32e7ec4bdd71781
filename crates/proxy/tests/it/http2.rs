//! HTTP/2 on both sides.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use h2::{Reason, RecvStream, client};
use http::{HeaderMap, Request, Response};
use teeline_capture::{EndedBy, Ending, State};
use teeline_proxy::Config;
use teeline_script::{Frame, Script, Upstream};
use tokio::net::TcpStream;

use crate::support::{Rig, within};

/// An app's HTTP/2 connection. Dropped, it is closed.
pub(crate) struct App {
    sender: client::SendRequest<Bytes>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for App {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer as the app got it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
    /// The code of a reset; `None`: the stream ended.
    pub(crate) reset: Option<u32>,
}

impl App {
    pub(crate) async fn connect(rig: &Rig) -> Self {
        Self::over(TcpStream::connect(rig.addr).await.unwrap(), &client::Builder::new()).await
    }

    pub(crate) async fn over<S>(stream: S, builder: &client::Builder) -> Self
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = builder.handshake(stream).await.unwrap();
        let task = tokio::spawn(async move {
            let _ = connection.await;
        });
        Self { sender, task }
    }

    /// Sends a request without a body.
    pub(crate) async fn ask(&self, target: &str) -> client::ResponseFuture {
        self.send(get(target)).await
    }

    pub(crate) async fn send(&self, request: Request<()>) -> client::ResponseFuture {
        let mut sender = within("a stream", self.sender.clone().ready()).await.unwrap();
        sender.send_request(request, true).unwrap().0
    }

    /// Begins a request whose body has so many bytes and does not end; none: no body.
    pub(crate) async fn begin(
        &self,
        request: Request<()>,
        upload: usize,
    ) -> (client::ResponseFuture, h2::SendStream<Bytes>) {
        let mut sender = within("a stream", self.sender.clone().ready()).await.unwrap();
        let (response, mut sending) = sender.send_request(request, upload == 0).unwrap();
        if 0 < upload {
            // An upstream may have answered and reset the stream already.
            let _ = sending.send_data(vec![b'u'; upload].into(), false);
        }
        (response, sending)
    }

    pub(crate) async fn fetch(&self, target: &str) -> Result<Seen, h2::Error> {
        let response = self.ask(target).await;
        read(within("a response", response).await?).await
    }
}

pub(crate) fn get(target: &str) -> Request<()> {
    Request::get(format!("http://proxy{target}")).body(()).unwrap()
}

/// Reads an answer to its end.
pub(crate) async fn read(response: Response<RecvStream>) -> Result<Seen, h2::Error> {
    let (parts, mut body) = response.into_parts();
    let (mut bytes, mut reset, mut trailers) = (Vec::new(), None, None);
    loop {
        match within("a frame", body.data()).await {
            Some(Ok(data)) => {
                bytes.extend_from_slice(&data);
                body.flow_control().release_capacity(data.len())?;
            }
            Some(Err(err)) => {
                reset = Some(err.reason().map(u32::from).ok_or(err)?);
                break;
            }
            None => {
                trailers = body.trailers().await?;
                break;
            }
        }
    }
    let (status, headers) = (parts.status.as_u16(), parts.headers);
    Ok(Seen { status, headers, body: bytes.into(), trailers, reset })
}

pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> Frame {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Frame::Head(status, headers.iter().map(owned).collect())
}

pub(crate) fn data(bytes: &'static str) -> Frame {
    Frame::Data(bytes.into())
}

pub(crate) async fn rig(
    handler: impl Fn(&teeline_script::Request) -> Script + Send + Sync + 'static,
) -> Rig {
    let upstream = Upstream::builder().http2().start(handler).await.unwrap();
    Rig::with(upstream, Config::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http2_app_has_an_http2_upstream() {
    let rig = rig(|_| {
        let sum = vec![("x-sum".to_owned(), "7".to_owned())];
        Script::new().frames([
            head(200, &[("content-type", "text/event-stream"), ("x-a", "1"), ("x-b", "")]),
            data("data: one\n\n"),
            data("data: two\n\n"),
            Frame::Trailers(sum),
        ])
    })
    .await;
    let app = App::connect(&rig).await;
    let request = Request::post("http://proxy/up//a/../b%2F?q=%20")
        .header("x-first", "1")
        .header("te", "trailers")
        .header("authorization", "Bearer k");
    let response = app.send(request.body(()).unwrap()).await;
    let seen = read(within("a response", response).await.unwrap()).await.unwrap();
    assert_eq!((seen.status, seen.reset), (200, None));
    let headers: Vec<_> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headers, ["content-type", "x-a", "x-b"]);
    assert_eq!(seen.body, "data: one\n\ndata: two\n\n");
    assert_eq!(seen.trailers.unwrap()["x-sum"], "7");

    let received = &rig.upstream.requests()[0];
    assert_eq!((received.version.as_str(), received.method.as_str()), ("HTTP/2", "POST"));
    assert_eq!(received.target, "//a/../b%2F?q=%20");
    let authority = rig.upstream.addr().to_string();
    let pairs = received.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    assert_eq!(
        pairs.collect::<Vec<_>>(),
        [
            (":scheme", "http"),
            (":authority", authority.as_str()),
            ("x-first", "1"),
            ("te", "trailers"),
            ("authorization", "Bearer k")
        ]
    );

    let summary = rig.capture(0, |it| it.bytes_to_app == 22 && it.state != State::Open).await;
    assert_eq!((summary.state, summary.bytes), (State::Ended, 22));
    let exchange = rig.exchange(0).await;
    assert_eq!(exchange.request.version, "HTTP/2");
    let response = exchange.response.unwrap();
    assert_eq!(response.version, "HTTP/2");
    assert_eq!(response.trailers, [("x-sum".to_owned(), "7".to_owned())]);
    assert!(exchange.moments.sent_us.is_some());
}

/// Whatever code it has, a reset in mid-body is a broken end.
#[tokio::test(flavor = "multi_thread")]
async fn a_reset_stream_is_broken() {
    for (code, name, seen_code) in [
        (0, "NO_ERROR", 2),
        (8, "CANCEL", 8),
        (2, "INTERNAL_ERROR", 2),
        (11, "ENHANCE_YOUR_CALM", 11),
        (99, "99", 99),
    ] {
        let rig = rig(move |_| {
            let frames = [head(200, &[]), data("a"), data("b"), data("c"), Frame::Reset(code)];
            Script::new().frames(frames)
        })
        .await;
        let app = App::connect(&rig).await;
        let seen = app.fetch("/up/x").await.unwrap();
        assert_eq!((seen.status, &seen.body[..], seen.reset), (200, &b"abc"[..], Some(seen_code)));
        let exchange = rig.exchange(0).await;
        assert_eq!(exchange.ending, Some(Ending::UpstreamBroke { how: format!("reset ({name})") }));
        let summary = rig.capture(0, |it| it.bytes_to_app == 3).await;
        assert_eq!(summary.state, State::UpstreamBroke);
    }
}

/// The app leaves a stream: its upstream is told at once, the connection and the others go on.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_resets_a_stream_cancels_its_request() {
    let rig = rig(|request| {
        let script = Script::new().frames([head(200, &[]), data("a")]);
        match request.target.as_str() {
            "/other" => script.gate("go").frames([Frame::DataEnd("b".into())]),
            _ => script.gate("never"),
        }
    })
    .await;
    let app = App::connect(&rig).await;
    let other = within("a response", app.ask("/up/other").await).await.unwrap();
    for target in ["/up/head", "/up/body"] {
        let response = app.ask(target).await;
        let response = within("a response", response).await.unwrap();
        drop(response);
        let number = if target == "/up/head" { 1 } else { 2 };
        assert_eq!(within("it is told", rig.upstream.stream_reset(number)).await, 8);
        let exchange = rig.exchange(usize::try_from(number).unwrap()).await;
        assert_eq!(exchange.ending, Some(Ending::ClientLeft));
    }
    rig.upstream.open_gate("go");
    assert_eq!(read(other).await.unwrap().body, "ab");
    // The app's connection takes all with it.
    let open = app.ask("/up/y").await;
    rig.upstream.reached_times("never", 3).await;
    drop((app, open));
    within("it closes", rig.upstream.client_gone(0)).await;
    assert_eq!(rig.exchange(3).await.ending, Some(Ending::ClientLeft));
}

/// An upstream without HTTP/2 serves an app that speaks it, every stream on a connection of its own.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_without_http2_is_spoken_to_in_http1() {
    let rig = Rig::new(|request| {
        let script = Script::sse_head().chunk("a");
        match request.target.as_str() {
            "/slow" => script.gate("go").last_chunk(),
            _ => script.last_chunk(),
        }
    })
    .await;
    let app = App::connect(&rig).await;
    let slow = app.ask("/up/slow").await;
    rig.upstream.reached("go").await;
    for _ in 0..3 {
        let seen = app.fetch("/up/x").await.unwrap();
        assert_eq!((seen.status, &seen.body[..], seen.reset), (200, &b"a"[..], None));
        assert!(!seen.headers.contains_key("transfer-encoding"));
    }
    rig.upstream.open_gate("go");
    assert_eq!(read(within("slow", slow).await.unwrap()).await.unwrap().body, "a");
    // (The first connection is the one on which HTTP/2 was tried.)
    let requests = rig.upstream.requests();
    let asked = requests.iter().filter(|request| request.version == "HTTP/1.1");
    let connections: Vec<_> = asked.map(|request| request.connection).collect();
    assert_eq!(connections, [1, 2, 2, 2]);
    assert_eq!(rig.exchange(1).await.response.unwrap().version, "HTTP/1.1");
}

/// 200 at once where the upstream takes 100.
#[tokio::test(flavor = "multi_thread")]
async fn more_streams_than_the_upstream_takes_wait_their_turn() {
    let upstream = Upstream::builder().http2().max_streams(100).start(|_| {
        Script::new().frames([head(200, &[])]).gate("go").frames([Frame::DataEnd("ok".into())])
    });
    let rig = Rig::with(upstream.await.unwrap(), Config::default()).await;
    let app = App::connect(&rig).await;
    let mut all = Vec::new();
    for n in 0..200 {
        all.push(app.ask(&format!("/up/{n}")).await);
    }
    within("a hundred", rig.upstream.reached_times("go", 100)).await;
    rig.upstream.open_gate("go");
    for response in all {
        let seen = read(within("a response", response).await.unwrap()).await.unwrap();
        assert_eq!((seen.status, &seen.body[..], seen.reset), (200, &b"ok"[..], None));
    }
    let connections: Vec<_> =
        rig.upstream.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0; 200]);
}

/// Each part is sent only after the app has the one before.
#[tokio::test(flavor = "multi_thread")]
async fn each_part_arrives_before_the_next_is_sent() {
    let rig = rig(|_| {
        let script = Script::new().frames([head(200, &[])]);
        let parts = ["a", "b", "c"];
        let script = parts
            .iter()
            .fold(script, |script, part| script.gate(part).frames([Frame::Data((*part).into())]));
        script.gate("end").frames([Frame::DataEnd(Bytes::new())])
    })
    .await;
    let app = App::connect(&rig).await;
    let response = within("head", app.ask("/up/x").await).await.unwrap();
    let mut body = response.into_body();
    for part in ["a", "b", "c"] {
        rig.upstream.open_gate(part);
        assert_eq!(within(part, body.data()).await.unwrap().unwrap(), part);
    }
    rig.upstream.open_gate("end");
    // An empty frame with the end of the stream, or the end alone.
    let end = within("the end", body.data()).await;
    assert!(end.is_none_or(|end| end.unwrap().is_empty()) && body.is_end_stream());
    assert_eq!(rig.ended(0).await.state, State::Ended);
}

/// 1xx responses have a way in HTTP/2.
#[tokio::test(flavor = "multi_thread")]
async fn interim_responses_are_passed_on() {
    let rig = rig(|_| {
        Script::new()
            .frames([head(103, &[("link", "</x>")])])
            .gate("hint seen")
            .frames([head(200, &[]), Frame::DataEnd("ok".into())])
    })
    .await;
    let app = App::connect(&rig).await;
    let mut response = app.ask("/up/x").await;
    let hint = std::future::poll_fn(|cx| response.poll_informational(cx));
    let hint = within("the hint", hint).await.unwrap().unwrap();
    assert_eq!((hint.status().as_u16(), &hint.headers()["link"]), (103, &"</x>".parse().unwrap()));
    rig.upstream.open_gate("hint seen");
    assert_eq!(read(within("head", response).await.unwrap()).await.unwrap().body, "ok");
    assert_eq!(rig.exchange(0).await.response.unwrap().informational, [103]);
}

/// GOAWAY: what is under way goes on, what comes next goes on a new connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_leaving_upstream_finishes_what_it_has() {
    let rig = rig(|request| match request.number {
        0 => Script::new()
            .frames([head(200, &[]), data("a"), Frame::Leave])
            .gate("left")
            .frames([data("behind it")])
            .gate("go")
            .frames([Frame::DataEnd("b".into())]),
        _ => Script::new().frames([head(200, &[]), Frame::DataEnd("next".into())]),
    })
    .await;
    let app = App::connect(&rig).await;
    let first = within("head", app.ask("/up/x").await).await.unwrap();
    let mut body = first.into_body();
    assert_eq!(within("a", body.data()).await.unwrap().unwrap(), "a");
    rig.upstream.reached("left").await;
    rig.upstream.open_gate("left");
    // What came behind the GOAWAY is here: teeline knows of it.
    assert_eq!(within("behind it", body.data()).await.unwrap().unwrap(), "behind it");
    assert_eq!(app.fetch("/up/y").await.unwrap().body, "next");
    rig.upstream.open_gate("go");
    let b = within("b", body.data()).await.unwrap();
    assert_eq!(b.unwrap(), "b");
    assert!(body.is_end_stream());
    let connections: Vec<_> =
        rig.upstream.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 1]);
    assert_eq!(rig.ended(0).await.state, State::Ended);
}

/// GOAWAY with an error and the end of the connection in mid-stream.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_goes_away_breaks_what_it_had() {
    let rig = rig(|_| Script::new().frames([head(200, &[]), data("abc"), Frame::Abort(2)])).await;
    let app = App::connect(&rig).await;
    let seen = app.fetch("/up/x").await.unwrap();
    assert_eq!((&seen.body[..], seen.reset), (&b"abc"[..], Some(2)));
    let exchange = rig.exchange(0).await;
    let how = "went away (INTERNAL_ERROR)".to_owned();
    assert_eq!(exchange.ending, Some(Ending::UpstreamBroke { how }));
    // The app's connection has not suffered.
    assert_eq!(app.fetch("/up/y").await.unwrap().status, 200);
}

/// Five apps' streams that are not read, beside one that is, all on one connection.
#[tokio::test(flavor = "multi_thread")]
async fn stalled_streams_hold_up_no_other() {
    let rig = rig(|request| {
        let script = Script::new().frames([head(200, &[])]);
        match request.target.as_str() {
            "/fast" => script.flow(vec![b'f'; 64 << 10], 64).frames([Frame::DataEnd(Bytes::new())]),
            _ => script.flow(vec![b's'; 64 << 10], 1024).mark("all sent"),
        }
    })
    .await;
    let stream = TcpStream::connect(rig.addr).await.unwrap();
    // The app's own connection window is not what is tried here.
    let app = App::over(
        stream,
        client::Builder::new()
            .initial_window_size(64 << 10)
            .initial_connection_window_size(16 << 20),
    )
    .await;
    let stalled = Arc::new(Mutex::new(Vec::new()));
    for n in 0..5 {
        let response = within("head", app.ask(&format!("/up/{n}")).await).await.unwrap();
        stalled.lock().unwrap().push(response);
        rig.capture(n, |it| 64 << 10 <= it.bytes).await;
    }
    let seen = app.fetch("/up/fast").await.unwrap();
    assert_eq!((seen.body.len(), seen.reset), (4 << 20, None));
    for n in 0..5 {
        // The app's window, ours, and what is between.
        let summary = rig.captures().remove(n);
        assert!(summary.bytes <= 1 << 20, "{} bytes were taken in", summary.bytes);
        assert_eq!(summary.state, State::Open);
    }
}

/// Codes that tell the app's library what to do pass; others are told as over HTTP/1.1.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_reset_before_its_answer() {
    for (code, name, passes) in
        [(7, "REFUSED_STREAM", true), (13, "HTTP_1_1_REQUIRED", true), (8, "CANCEL", false)]
    {
        let rig = rig(move |_| Script::new().frames([Frame::Reset(code)])).await;
        let app = App::connect(&rig).await;
        let body = bytes::Bytes::from_static(b"{}");
        let mut sender = app.sender.clone().ready().await.unwrap();
        let request = Request::post("http://proxy/up/x").body(()).unwrap();
        let (response, mut stream) = sender.send_request(request, false).unwrap();
        stream.send_data(body, true).unwrap();
        match within("an answer", response).await {
            Err(err) => {
                assert!(passes, "{name}");
                assert_eq!(err.reason().map(u32::from), Some(code));
            }
            Ok(response) => {
                assert!(!passes, "{name}");
                let seen = read(response).await.unwrap();
                assert_eq!(
                    (seen.status, &seen.headers["x-teeline-error"]),
                    (502, &"upstream-closed".parse().unwrap())
                );
                assert!(String::from_utf8_lossy(&seen.body).contains(name), "{:?}", seen.body);
            }
        }
        assert_eq!(rig.upstream.requests().len(), 1, "it is not repeated");
        assert_eq!(rig.ended(0).await.state, State::Failed);
    }
}

/// How an app gave up a stream is recorded with its code, and how it gave up its connection.
#[tokio::test(flavor = "multi_thread")]
async fn how_an_app_leaves_is_recorded() {
    let script = || Script::new().frames([head(200, &[]), data("abc")]).gate("silent");
    let silent = Script::new().gate("silent");
    for (name, script, reset, how) in [
        ("in mid-body", script(), Some(Reason::ENHANCE_YOUR_CALM), "reset ENHANCE_YOUR_CALM"),
        ("by a number", script(), Some(Reason::from(4711)), "reset 4711"),
        ("before the head", silent.clone(), Some(Reason::CANCEL), "reset CANCEL"),
        ("with its connection", script(), None, "closed"),
        ("with its connection, before the head", silent, None, "closed"),
    ] {
        let answered = !name.ends_with("before the head");
        let upstream = Upstream::builder().http2().start(move |_| script.clone()).await.unwrap();
        let rig = Rig::with(upstream, Config::default()).await;
        let app = App::connect(&rig).await;
        let (response, mut sending) = app.begin(get("/up/x"), 0).await;
        rig.upstream.reached("silent").await;
        let mut body = None;
        if answered {
            let mut coming = within("a response", response).await.unwrap().into_body();
            assert_eq!(within("data", coming.data()).await.unwrap().unwrap(), "abc");
            body = Some(coming);
        }
        match reset {
            Some(reason) => sending.send_reset(reason),
            None => drop(app),
        }
        let end = rig.exchange(0).await.end.unwrap();
        assert_eq!((end.by, end.how.as_str()), (EndedBy::App, how), "{name}");
        let bytes = if answered { 3 } else { 0 };
        assert_eq!((end.byte, end.to_app), (bytes, bytes), "{name}");
        drop(body);
    }
}
