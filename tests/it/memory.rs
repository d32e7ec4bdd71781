//! A long stream costs the proxy no memory: what was read is let go.

use std::{io::Read as _, net::SocketAddr, time::Duration};

use h2::{RecvStream, client};
use sha2::{Digest as _, Sha256};
use teeline_script::{Frame, Script, Upstream};
use teeline_tests::{
    Client, Teeline, Turn, World, block_on, chat, eventually, get_json, hex, sha256, text,
};
use tokio::net::TcpStream;

const FRAMES: u64 = 200_000;
const BEFORE: u64 = 1_000;
/// How much the peak may grow after the first frames.
const GROWTH_KIB: u64 = 32 << 10;

/// How many frames may be on their way to the record: an unoptimised recorder is to keep up, this is about memory.
const AHEAD: u64 = 10_000;

/// The gate before a burst of frames.
fn burst(number: u64) -> String {
    format!("burst {number}")
}

/// Frame, gate, the rest; the body is one frame over and over, so that the test holds nothing either.
fn world() -> World {
    let frame = chat::delta(0, &serde_json::json!({ "content": "word " }));
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    World::start(move |_| {
        let before = Script::sse_head().repeat(chunk.clone(), BEFORE).gate("rest");
        let rest = (1..FRAMES / BEFORE).fold(before, |script, number| {
            script.gate(&burst(number)).repeat(chunk.clone(), BEFORE)
        });
        rest.chunk(chat::finish(0, "stop")).chunk(chat::DONE).last_chunk()
    })
}

/// Lets the bursts go as the recorder comes along.
fn open_gates(world: &World) {
    for number in 1..FRAMES / BEFORE {
        eventually("the frames before", || {
            let recorded = world.newest()["frames"].as_u64()?;
            (number * BEFORE <= recorded + AHEAD).then_some(())
        });
        world.upstream.open_gate(&burst(number));
    }
}

fn stream_and_measure(world: &World, watch: bool) {
    let mut client = world.ask();
    block_on(world.upstream.reached("rest"));
    let id = eventually("the first frames", || {
        let newest = world.newest();
        (newest["frames"].as_u64() == Some(BEFORE)).then(|| text(&newest["id"]).to_owned())
    });
    let viewer = watch.then(|| {
        let mut viewer = Client::connect(world.teeline.dashboard);
        viewer.request(
            "GET",
            &format!("/api/captures/{id}/live"),
            &[("Accept", "text/event-stream")],
            b"",
        );
        assert!(viewer.read_head().contains("text/event-stream"));
        let mut socket = viewer.socket().try_clone().expect("a socket can be cloned");
        std::thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while socket.read(&mut buffer).is_ok_and(|read| 0 < read) {}
        });
        viewer
    });

    let before = world.teeline.memory_kib("VmRSS");
    world.upstream.open_gate("rest");
    let response = std::thread::scope(|scope| {
        scope.spawn(|| open_gates(world));
        client.response()
    });
    assert!(response.whole);
    let frame = chat::delta(0, &serde_json::json!({ "content": "word " }));
    let mut hash = Sha256::new();
    for _ in 0..FRAMES {
        hash.update(&frame);
    }
    hash.update(chat::finish(0, "stop"));
    hash.update(chat::DONE);
    let expected = hex(&hash.finalize());
    assert_eq!(sha256(&response.body), expected, "the app's bytes");

    let capture = world.ended();
    let peak = world.teeline.memory_kib("VmHWM");
    assert_eq!(capture["summary"]["sha256"], expected.as_str(), "the stored bytes");
    assert_eq!(
        capture["summary"]["frames"],
        FRAMES + 2,
        "{} {}",
        capture["reading"]["counts"],
        capture["reading"]["findings"]
    );
    let growth = peak.saturating_sub(before);
    assert!(
        growth <= GROWTH_KIB,
        "the peak is {peak} KiB, {growth} KiB over the {before} KiB after {BEFORE} frames"
    );
    drop(viewer);
}

#[test]
fn two_hundred_thousand_frames_leave_no_trace_in_memory() {
    let _turn = Turn::alone();
    stream_and_measure(&world(), false);
}

#[test]
fn nor_with_somebody_watching() {
    let _turn = Turn::alone();
    stream_and_measure(&world(), true);
}

/// A frame of 16 KiB, and how many of them a stream has: 64 MiB.
const LARGE: usize = 16 << 10;
const LARGE_FRAMES: u64 = 4096;
const STALLED: usize = 5;
/// The recorder's queue takes 64 MiB at most, for all streams, where it cannot keep up, and the rest is small: far less than the
/// 320 MiB that the stalled ones have to come.
const WITH_QUEUE_KIB: u64 = (64 + 32) << 10;

/// An app's HTTP/2 connection with one request on it; its answer is not read yet.
async fn ask_http2(proxy: SocketAddr) -> (client::SendRequest<bytes::Bytes>, RecvStream) {
    let socket = TcpStream::connect(proxy).await.expect("it listens");
    let (sender, connection) = client::handshake(socket).await.expect("it speaks HTTP/2");
    tokio::spawn(connection);
    let mut sender = sender.ready().await.expect("it takes requests");
    let request = http::Request::get(format!("http://{proxy}/test/x")).body(()).expect("a request");
    let (response, _) = sender.send_request(request, true).expect("it is sent");
    let response = response.await.expect("it is answered");
    assert_eq!(response.status(), 200);
    (sender, response.into_body())
}

#[test]
fn readers_that_stall_over_http2_cost_no_memory() {
    let _turn = Turn::alone();
    let frame = format!(": {}\n\n", "x".repeat(LARGE - 4));
    let head = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let upstream = block_on(Upstream::builder().http2().start(move |_| {
        Script::new()
            .frames([Frame::Head(200, head.clone())])
            .flow(frame.clone(), LARGE_FRAMES)
            .frames([Frame::DataEnd("data: end\n\n".into())])
    }))
    .expect("a port is free");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let named = format!("test={}", upstream.url());
    let teeline = Teeline::start(folder.path(), &["--upstream", &named]);
    let stalled: Vec<_> = (0..STALLED).map(|_| block_on(ask_http2(teeline.proxy))).collect();
    let before = teeline.memory_kib("VmRSS");
    let total = block_on(async {
        let (_sender, mut body) = ask_http2(teeline.proxy).await;
        let mut total = 0;
        while let Some(data) = body.data().await {
            let length = data.expect("the stream goes on").len();
            total += length;
            // A slow reader: a breath before it takes more.
            tokio::time::sleep(Duration::from_micros(200)).await;
            body.flow_control().release_capacity(length).expect("it was taken");
        }
        total
    });
    assert_eq!(total as u64, LARGE_FRAMES * LARGE as u64 + 11);
    let peak = teeline.memory_kib("VmHWM");
    let growth = peak.saturating_sub(before);
    assert!(growth < WITH_QUEUE_KIB, "{growth} KiB over the {before} KiB before");
    // The stalled ones have got what the windows hold, and no more was asked of their upstream.
    let open = eventually("the fast one's end", || {
        let list = get_json(teeline.dashboard, "/api/captures?q=state:open");
        let open = list["captures"].as_array().expect("a list");
        (open.len() == STALLED).then(|| open.clone())
    });
    for capture in open {
        let bytes = capture["bytes"].as_u64().expect("a number");
        assert!(bytes < 1 << 20, "{bytes} bytes were taken of a stream that nobody reads");
    }
    drop(stalled);
}
