//! Stopping: what is under way goes on for a while, then ends as interrupted.

use std::time::Duration;

use teeline_capture::{Query, State};
use teeline_proxy::Config;
use teeline_script::{Script, Upstream};
use tokio::net::TcpStream;

use crate::support::{End, Rig, get, post};

async fn rig(grace: Duration) -> Rig {
    let upstream = Upstream::start(|request| match request.target.as_str() {
        "/stream" => {
            Script::sse_head().chunk("data: 1\n\n").gate("more").chunk("data: 2\n\n").last_chunk()
        }
        "/silent" => Script::new().gate("never"),
        _ => Script::answer("200 OK", &[], "ok"),
    });
    Rig::with(upstream.await.unwrap(), Config { grace, ..Config::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_under_way_is_finished() {
    let rig = rig(Duration::from_mins(1)).await;
    let mut idle = rig.app().await;
    idle.send(post("/up/x", "")).await;
    idle.read_through("ok").await;
    let mut app = rig.app().await;
    app.send(post("/up/stream", "")).await;
    app.read_through("data: 1\n\n").await;
    rig.begin_shutdown();
    // An idle connection is closed at once, and nothing new is accepted.
    assert_eq!(idle.answer().await.head, "");
    assert!(TcpStream::connect(rig.addr).await.is_err());
    rig.upstream.open_gate("more");
    let rest = String::from_utf8(app.read_through("0\r\n\r\n").await).unwrap();
    assert!(rest.contains("data: 2\n\n"));
    drop(app);
    let store = rig.stopped().await;
    let page = store.list(&Query::default(), None, 10).unwrap();
    assert!(page.captures.iter().all(|it| it.state == State::Ended));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_takes_longer_than_the_grace_is_interrupted() {
    let rig = rig(Duration::from_millis(50)).await;
    let mut app = rig.app().await;
    app.send(get("/up/stream")).await;
    app.read_through("data: 1\n\n").await;
    let mut silent = rig.app().await;
    silent.send(get("/up/silent")).await;
    rig.upstream.reached("never").await;
    let mut old = rig.app().await;
    old.send("GET /up/stream HTTP/1.0\r\n\r\n").await;
    old.read_through("data: 1\n\n").await;
    rig.begin_shutdown();
    let answer = app.answer().await;
    assert_eq!(answer.end, End::Cut, "incomplete stays incomplete");
    assert_eq!(silent.answer().await.head, "");
    assert_eq!(old.answer().await.end, End::Reset, "nor does it look complete without framing");
    let store = rig.stopped().await;
    let states: Vec<_> = store
        .list(&Query::default(), None, 10)
        .unwrap()
        .captures
        .iter()
        .map(|it| it.state)
        .collect();
    assert_eq!(states, [State::Interrupted; 3]);
}
