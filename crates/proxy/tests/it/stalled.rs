//! An app that does not read slows its upstream, loses nothing, and holds up nobody else.

use std::time::Duration;

use teeline_capture::State;
use teeline_script::Script;
use tokio::time::{sleep, timeout};

use crate::support::{App, End, Rig, get, within};

const PIECE: usize = 8 << 10;

fn pieces(count: u64) -> Script {
    let chunk =
        [format!("{PIECE:x}\r\n").into_bytes(), vec![b'x'; PIECE], b"\r\n".to_vec()].concat();
    Script::sse_head().repeat(chunk, count)
}

/// An app that has asked and does not read.
async fn stalled(rig: &Rig) -> App {
    let mut app = App::with_small_window(rig.addr).await;
    app.send(get("/up/x")).await;
    app
}

/// How many bytes go through until nothing moves any more. Only to choose sizes by.
async fn capacity() -> u64 {
    let rig = Rig::new(|_| pieces(100_000)).await;
    let _app = stalled(&rig).await;
    let mut now = rig.capture(0, |it| 0 < it.bytes).await.bytes;
    let mut unchanged = 0;
    while unchanged < 5 {
        sleep(Duration::from_millis(100)).await;
        let before = std::mem::replace(&mut now, rig.captures()[0].bytes);
        unchanged = if before == now { unchanged + 1 } else { 0 };
    }
    now
}

/// The body breaks while its last bytes wait for room in the app's window: the app gets them all
/// when it reads, and then the broken end.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_app_is_not_lost_when_the_upstream_breaks() {
    let capacity = capacity().await;
    for reset in [false, true] {
        // Less than fits, so that the proxy has it all; more than the app's window takes.
        let count = (capacity / PIECE as u64).saturating_sub(8);
        let total = count * PIECE as u64;
        let rig = Rig::new(move |_| {
            let script = pieces(count).gate("all came");
            if reset { script.rst() } else { script.fin() }
        })
        .await;
        let app = stalled(&rig).await;
        let waiting = rig.capture(0, |it| it.bytes == total).await;
        assert!(waiting.bytes_to_app < total, "something waits for the app to read");
        rig.upstream.open_gate("all came");
        if reset {
            within("the reset is sent", rig.upstream.client_gone(0)).await;
        }
        let answer = app.answer().await;
        assert_eq!((answer.body.len() as u64, answer.end), (total, End::Cut), "reset: {reset}");
        let summary =
            rig.capture(0, |it| it.bytes_to_app == total && it.state != State::Open).await;
        assert_eq!(summary.state, State::UpstreamBroke);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_app_stops_its_upstream_and_nobody_elses() {
    let count = (64 << 20) / PIECE as u64;
    let rig = Rig::new(move |request| match request.target.as_str() {
        "/x" => pieces(count).mark("all written").last_chunk(),
        _ => Script::answer("200 OK", &[], "ok"),
    })
    .await;
    let mut slow = rig.app().await;
    slow.send(get("/up/x")).await;
    rig.capture(0, |it| 0 < it.bytes).await;

    // Others on the same upstream are served meanwhile.
    for _ in 0..10 {
        assert_eq!(rig.fetch(get("/up/y")).await.text(), "ok");
    }
    // 64 MiB fit in no socket buffer; if they were taken in, it would be by us.
    let early = timeout(Duration::from_millis(500), rig.upstream.reached("all written")).await;
    assert!(early.is_err(), "the upstream was not slowed");
    assert!(rig.captures()[0].bytes < 32 << 20);

    let answer = slow.answer().await;
    assert_eq!((answer.body.len(), answer.end), (64 << 20, End::Whole));
    assert_eq!(rig.ended(0).await.state, State::Ended);
}
