//! A long stream costs the proxy no memory: what was read is let go.

use std::{io::Read as _, time::Duration};

use sha2::{Digest as _, Sha256};
use teeline_script::Script;
use teeline_tests::{Client, World, block_on, chat, eventually, hex, sha256, text};

const FRAMES: u64 = 200_000;
const BEFORE: u64 = 1_000;
/// How much the peak may grow after the first frames.
const GROWTH_KIB: u64 = 32 << 10;

/// Frame, gate, the rest; the body is one frame over and over, so that the test holds nothing either.
fn world() -> World {
    let frame = chat::delta(0, &serde_json::json!({ "content": "word " }));
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    World::start(move |_| {
        let before = Script::sse_head().repeat(chunk.clone(), BEFORE).gate("rest");
        // Bursts with a breath between them: an unoptimised recorder is to keep up, this is about memory.
        let breath = Duration::from_millis(5);
        let rest = (1..FRAMES / BEFORE)
            .fold(before, |script, _| script.repeat(chunk.clone(), BEFORE).pause(breath));
        rest.chunk(chat::finish(0, "stop")).chunk(chat::DONE).last_chunk()
    })
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
    let response = client.response();
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
    stream_and_measure(&world(), false);
}

#[test]
fn nor_with_somebody_watching() {
    stream_and_measure(&world(), true);
}
