//! The app leaves: its request is cancelled at once, for tokens cost money.

use teeline_capture::{EndedBy, State};
use teeline_proxy::Config;
use teeline_script::{Gone, Script, Upstream};

use crate::support::{App, Rig, get, post, within};

/// The upstream is silent, so it can learn of it only by the close of its connection.
#[tokio::test(flavor = "multi_thread")]
async fn the_upstream_sees_it_whenever_it_happens() {
    let table = [
        ("before the head", Script::new().gate("silent"), "", 0, None),
        ("after the head", Script::sse_head().gate("silent"), "\r\n\r\n", 0, None),
        (
            "in mid-stream",
            Script::sse_head().chunk("data: 1\n\n").gate("silent"),
            "data: 1\n\n",
            9,
            Some(0),
        ),
        (
            "in a body with a length",
            Script::head("200 OK", &[("Content-Length", "100")]).bytes("abc").gate("silent"),
            "abc",
            3,
            Some(0),
        ),
    ];
    for (name, script, seen, bytes, frame) in table {
        for reset in [false, true] {
            let script = script.clone();
            let rig = Rig::new(move |_| script.clone()).await;
            let mut app = rig.app().await;
            app.send(post("/up/x", "{\"stream\":true}")).await;
            rig.upstream.reached("silent").await;
            if !seen.is_empty() {
                app.read_through(seen).await;
            }
            leave(app, reset);
            let gone = within(name, rig.upstream.client_gone(0)).await;
            assert_ne!(gone, Gone::Ended, "{name}");
            assert_eq!(rig.ended(0).await.state, State::ClientLeft, "{name}");
            let exchange = rig.exchange(0).await;
            let end = exchange.end.unwrap();
            let how = if reset { "reset" } else { "closed" };
            assert_eq!((end.by, end.how.as_str()), (EndedBy::App, how), "{name}");
            assert_eq!((end.byte, end.to_app, end.frame), (bytes, bytes, frame), "{name}");
            let reason = exchange.summary.end_reason.unwrap();
            assert!(reason.starts_with(&format!("left ({how}) ")), "{name}: {reason}");
        }
    }
}

fn leave(app: App, reset: bool) {
    if reset {
        app.stream.set_zero_linger().unwrap();
    }
    drop(app);
}

/// More requests wait on the connection, so that hyper does not read from it.
#[tokio::test(flavor = "multi_thread")]
async fn queued_requests_do_not_hide_it() {
    let rig = Rig::new(|_| Script::new().gate("silent")).await;
    let mut app = rig.app().await;
    app.send([post("/up/a", "1"), post("/up/b", "2"), post("/up/c", "3")].concat()).await;
    rig.upstream.reached("silent").await;
    drop(app);
    within("the close", rig.upstream.client_gone(0)).await;
    assert_eq!(rig.ended(0).await.state, State::ClientLeft);
    assert_eq!(rig.captures().len(), 1, "what was not begun is not recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_stream_ends_with_its_app() {
    let rig = Rig::new(|_| {
        Script::sse_head().repeat("400\r\n".to_owned() + &"x".repeat(1024) + "\r\n", u64::MAX)
    })
    .await;
    let mut app = rig.app().await;
    app.send(get("/up/x")).await;
    app.read_through("x".repeat(100)).await;
    drop(app);
    assert_eq!(within("the close", rig.upstream.client_gone(0)).await, Gone::Reset);
    let summary = rig.ended(0).await;
    assert_eq!(summary.state, State::ClientLeft);
    assert!(summary.bytes_to_app <= summary.bytes);
}

/// While the connection to the upstream is still being made.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_called_for_an_app_that_has_left() {
    let rig = Rig::with(
        // A handshake that never ends: the proxy speaks TLS, the upstream does not.
        Upstream::start(|_| Script::new()).await.unwrap(),
        Config::default(),
    )
    .await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = Config::default();
    config.upstreams.add("mute", &format!("https://{}", listener.local_addr().unwrap())).unwrap();
    let rig = Rig::with(rig.upstream, config).await;
    let mut app = rig.app().await;
    app.send(get("/mute/x")).await;
    let (mut stream, _) = listener.accept().await.unwrap();
    drop(app);
    let mut hello = Vec::new();
    within("the handshake is given up", async {
        use tokio::io::AsyncReadExt as _;
        stream.read_to_end(&mut hello).await
    })
    .await
    .unwrap();
    assert_eq!(rig.ended(0).await.state, State::ClientLeft);
}
