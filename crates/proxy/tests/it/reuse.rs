//! An upstream connection belongs to one connection of an app and is used again on it.

use teeline_capture::State;
use teeline_script::Script;

use crate::support::{Rig, get, post, within};

fn connections(rig: &Rig) -> Vec<u64> {
    rig.upstream.requests().iter().map(|request| request.connection).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_one_app_connection_share_an_upstream_connection() {
    let rig = Rig::new(|request| match request.target.as_str() {
        "/sse" => Script::sse(["data: 1\n\n", "data: 2\n\n"]),
        target => Script::answer("200 OK", &[], format!("answer {target}")),
    })
    .await;
    let mut app = rig.app().await;
    for n in 0..3 {
        app.send(post(&format!("/up/{n}"), "body")).await;
        app.read_through(format!("answer /{n}")).await;
        app.send(post("/up/sse", "")).await;
        app.read_through("0\r\n\r\n").await;
    }
    let mut other = rig.app().await;
    other.send(post("/up/other", "")).await;
    other.read_through("answer /other").await;
    assert_eq!(connections(&rig), [0, 0, 0, 0, 0, 0, 1]);
    // The app's connection takes its upstream connection with it.
    drop(app);
    within("it closes", rig.upstream.client_gone(0)).await;
    other.send(post("/up/more", "")).await;
    other.read_through("answer /more").await;
    assert_eq!(connections(&rig).pop(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_requests_are_answered_in_order() {
    let rig = Rig::new(|request| Script::sse([format!("answer {}\n", request.target)])).await;
    let mut app = rig.app().await;
    let requests: String = (0..20).map(|n| post(&format!("/up/{n}"), "body")).collect();
    app.send(requests).await;
    for n in 0..20 {
        app.read_through(format!("answer /{n}\n")).await;
    }
    assert_eq!(connections(&rig), [0; 20]);
    for n in 0..20 {
        let length = format!("answer /{n}\n").len() as u64;
        rig.capture(n, |it| it.state == State::Ended && it.bytes == length).await;
    }
}

/// The upstream closes while nothing is under way: the next request goes on a new connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_closed_while_idle_is_opened_again() {
    let rig = Rig::new(|_| Script::answer("200 OK", &[], "ok").fin()).await;
    let mut app = rig.app().await;
    for n in 0..3 {
        app.send(post("/up/x", "body")).await;
        app.read_through("ok").await;
        // It has been closed on both sides before the next request is sent.
        within("it closes", rig.upstream.client_gone(n)).await;
    }
    assert_eq!(connections(&rig), [0, 1, 2]);
    assert_eq!(rig.ended(2).await.state, State::Ended);
}

/// It may have been carried out, and paid for.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_sent_is_never_sent_again() {
    let rig = Rig::new(|request| {
        if request.number == 0 { Script::answer("200 OK", &[], "ok") } else { Script::new().rst() }
    })
    .await;
    let mut app = rig.app().await;
    app.send(post("/up/x", "first")).await;
    app.read_through("ok").await;
    app.send(post("/up/x", "second")).await;
    let head = String::from_utf8(app.read_through("\r\n\r\n").await).unwrap();
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    assert!(head.contains("x-teeline-error: upstream-closed\r\n"), "{head}");
    let bodies: Vec<_> = rig.upstream.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, ["first", "second"]);

    // The app's connection has not suffered.
    app.read_through("}\n").await;
    app.send(post("/nobody", "third")).await;
    app.read_through("HTTP/1.1 404 ").await;
}

/// `Connection: close` of either side closes both.
#[tokio::test(flavor = "multi_thread")]
async fn a_close_that_is_announced_is_passed_on() {
    let rig = Rig::new(|request| {
        let head: &[_] = if request.target == "/close" { &[("Connection", "close")] } else { &[] };
        Script::answer("200 OK", head, "ok")
    })
    .await;
    let mut app = rig.app().await;
    app.send(post("/up/close", "")).await;
    let answer = app.answer().await;
    assert_eq!(answer.header("connection"), Some("close"));
    rig.fetch(get("/up/x")).await;
    assert_eq!(rig.upstream.requests()[1].header("connection"), Some("close"));
}
