//! `kill -9` loses nothing that the app got more than a moment before.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use teeline_script::Script;
use teeline_tests::{Dechunk, World, chat, eventually, text};

const KILLS: u64 = 20;
/// What the app got longer ago than this has to be on disk.
const MAY_BE_LOST: Duration = Duration::from_millis(250);

#[test]
fn what_the_app_got_survives_twenty_kills() {
    let frame = chat::delta(0, &serde_json::json!({ "content": "kept " }));
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    let mut world = World::start(move |_| {
        let step = |script: Script, _| script.bytes(chunk.clone()).pause(Duration::from_millis(2));
        (0..5_000).fold(Script::sse_head(), step).last_chunk()
    });
    for round in 0..KILLS {
        let (bytes, times, killed_at) = stream_until_killed(&mut world, round);
        let list = world.api("/api/captures?limit=1");
        let summary = &list["captures"][0];
        assert_eq!(summary["state"], "interrupted", "round {round}");
        let stored = world.export(text(&summary["id"]), "raw");
        assert!(
            bytes.starts_with(&stored),
            "round {round}: the capture is no beginning of what the app got"
        );
        let due = times
            .iter()
            .take_while(|(at, _)| *at + MAY_BE_LOST <= killed_at)
            .last()
            .map_or(0, |(_, length)| *length);
        assert!(
            due <= stored.len(),
            "round {round}: {} bytes are stored, {due} had to be",
            stored.len()
        );
        assert!(0 < due, "round {round}: the kill came before anything was due");
    }
    let list = world.api("/api/captures?limit=100");
    assert_eq!(list["counts"]["all"], KILLS);
    assert_eq!(list["counts"]["open"], 0);
}

type Times = Vec<(Instant, usize)>;

/// Streams, kills teeline in the middle of it and starts it again. Gives the body that the app got, after each
/// read the time and the length so far, and the time of the kill.
fn stream_until_killed(world: &mut World, round: u64) -> (Vec<u8>, Times, Instant) {
    let mut client = world.ask();
    let log = Arc::new(Mutex::new((Vec::new(), Times::new())));
    let reader = thread::spawn({
        let log = Arc::clone(&log);
        move || {
            let head = client.read_head();
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            let mut decoder = Dechunk::default();
            while let Ok(read) = client.read_some() {
                if read.is_empty() {
                    break;
                }
                let mut log = log.lock().unwrap();
                decoder.push(&read, &mut log.0);
                let length = log.0.len();
                log.1.push((Instant::now(), length));
            }
        }
    });
    // Different moments in the life of a stream and of the writer's batches.
    let pause = Duration::from_millis(420 + 37 * round);
    eventually("the first bytes", || (!log.lock().unwrap().0.is_empty()).then_some(()));
    thread::sleep(pause);
    let killed_at = Instant::now();
    world.kill_and_restart();
    reader.join().expect("the reader ends with the connection");
    let log = std::mem::take(&mut *log.lock().unwrap());
    (log.0, log.1, killed_at)
}
