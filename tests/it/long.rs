//! What takes longer than a CI run may: run by `.ci/long`, with the release profile.

use std::{
    net::SocketAddr,
    sync::mpsc::{SyncSender, sync_channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use teeline_script::Script;
use teeline_tests::{Dechunk, World, block_on, chat, eventually, text};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};

/// Reads one streamed answer to its end, or to the connection's: the body, and whether it came whole. With times, after
/// each read the moment and the length so far.
async fn stream(proxy: SocketAddr, mut seen: impl FnMut(Instant, usize)) -> (Vec<u8>, bool) {
    let mut socket = TcpStream::connect(proxy).await.expect("it listens");
    let body = chat::request().to_string();
    let head = format!(
        "POST /test/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.expect("it takes the request");
    let (mut head, mut body, mut dechunk) = (Vec::new(), Vec::new(), Dechunk::default());
    let mut piece = vec![0; 1 << 14];
    loop {
        let read = match socket.read(&mut piece).await {
            Ok(0) | Err(_) => return (body, false),
            Ok(read) => piece.get(..read).unwrap_or_default(),
        };
        if head.ends_with(b"\r\n\r\n") {
            dechunk.push(read, &mut body);
        } else {
            head.extend_from_slice(read);
            let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") else {
                continue;
            };
            let rest = head.split_off(end + 4);
            assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
            dechunk.push(&rest, &mut body);
        }
        seen(Instant::now(), body.len());
        if body.ends_with(chat::DONE.as_bytes()) {
            return (body, true);
        }
    }
}

const KILLS: u64 = 200;
const STREAMS: usize = 50;
/// What the app got longer ago than this has to be on disk.
const MAY_BE_LOST: Duration = Duration::from_millis(250);

/// A body, and after each read the moment and the length so far.
type Read = (Vec<u8>, Vec<(Instant, usize)>);

/// Streams `STREAMS` answers at once; tells when each has begun.
fn stream_all(proxy: SocketAddr, begun: &SyncSender<()>) -> Vec<Read> {
    block_on(async {
        let mut streams = JoinSet::new();
        for _ in 0..STREAMS {
            let begun = begun.clone();
            streams.spawn(async move {
                let mut times = Vec::new();
                let (body, _) = stream(proxy, |at, length| {
                    if times.is_empty() {
                        // Nobody waits any longer once all have begun.
                        let _ = begun.send(());
                    }
                    times.push((at, length));
                })
                .await;
                (body, times)
            });
        }
        streams.join_all().await
    })
}

#[test]
#[ignore = "takes minutes; .ci/long kills"]
fn two_hundred_kills_under_fifty_streams_lose_nothing_that_was_due() {
    let frame = chat::delta(0, &json!({ "content": "kept " }));
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    let mut world = World::start(move |_| {
        let step = |script: Script, _| script.bytes(chunk.clone()).pause(Duration::from_millis(10));
        (0..2_000).fold(Script::sse_head(), step).last_chunk()
    });
    for round in 0..KILLS {
        let proxy = world.teeline.proxy;
        let (sender, started) = sync_channel(STREAMS);
        let reading = std::thread::spawn(move || stream_all(proxy, &sender));
        (0..STREAMS).for_each(|_| started.recv().expect("every stream begins"));
        std::thread::sleep(Duration::from_millis(400 + 7 * (round % 50)));
        let killed_at = Instant::now();
        world.kill_and_restart();
        let streams = reading.join().expect("the clients end with their connections");
        compare(&world, &streams, killed_at, round);
        assert_integrity(&world);
    }
}

/// What is stored is a beginning of what was streamed, and no shorter than it has to be. All bodies are beginnings of
/// one text, so captures and streams are paired by their length.
fn compare(world: &World, streams: &[Read], killed_at: Instant, round: u64) {
    let list = world.api(&format!("/api/captures?limit={STREAMS}"));
    let captures = list["captures"].as_array().expect("a list");
    assert_eq!(captures.len(), STREAMS, "round {round}");
    let longest = streams.iter().map(|(body, _)| body).max_by_key(|body| body.len());
    let longest = longest.expect("there are streams");
    let mut kept: Vec<usize> = captures
        .iter()
        .map(|summary| {
            assert_eq!(summary["state"], "interrupted", "round {round}");
            let stored = world.export(text(&summary["id"]), "raw");
            assert!(
                longest.starts_with(&stored),
                "round {round}: a capture holds what was not sent"
            );
            stored.len()
        })
        .collect();
    let due = |times: &[(Instant, usize)]| {
        let old = times.iter().take_while(|(at, _)| *at + MAY_BE_LOST <= killed_at);
        old.last().map_or(0, |(_, length)| *length)
    };
    let mut owed: Vec<usize> = streams.iter().map(|(_, times)| due(times)).collect();
    kept.sort_unstable();
    owed.sort_unstable();
    for (kept, owed) in kept.iter().zip(&owed) {
        assert!(owed <= kept, "round {round}: {kept} bytes are stored, {owed} had to be");
    }
}

fn assert_integrity(world: &World) {
    let path = std::path::Path::new(&world.data_dir()).join("teeline.db");
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let store = rusqlite::Connection::open_with_flags(path, flags).expect("the store is there");
    let result: String =
        store.query_row("PRAGMA quick_check", [], |row| row.get(0)).expect("it can be checked");
    assert_eq!(result, "ok");
}

const AT_ONCE: usize = 2_000;
/// Half a second apart.
const FRAMES: usize = 120;
/// What an open stream may cost, over what the program takes idle.
const PER_STREAM_KIB: u64 = 40;
const IDLE_KIB: u64 = 40 << 10;

#[test]
#[ignore = "takes minutes; .ci/long load"]
fn two_thousand_streams_at_once_for_a_minute() {
    let frame = chat::delta(0, &json!({ "content": "word " }));
    let chunk = format!("{:x}\r\n{frame}\r\n", frame.len());
    let served = chunk.clone();
    let world = World::start(move |_| {
        let step =
            |script: Script, _| script.bytes(served.clone()).pause(Duration::from_millis(500));
        (0..FRAMES)
            .fold(Script::sse_head(), step)
            .chunk(chat::finish(0, "stop"))
            .chunk(chat::DONE)
            .last_chunk()
    });
    let idle = world.teeline.memory_kib("VmRSS");
    let proxy = world.teeline.proxy;
    let expected = frame.repeat(FRAMES) + &chat::finish(0, "stop") + chat::DONE;
    let begun = Instant::now();
    let streams = block_on(async {
        let mut streams = JoinSet::new();
        for _ in 0..AT_ONCE {
            streams.spawn(stream(proxy, |_, _| {}));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        streams.join_all().await
    });
    let streamed = begun.elapsed();
    let peak = world.teeline.memory_kib("VmHWM");
    assert!(
        streams.iter().all(|(body, whole)| *whole && body == expected.as_bytes()),
        "a stream lost something"
    );
    eventually("every capture's end", || {
        let list: Value = world.api("/api/captures?limit=1");
        (list["counts"]["open"] == 0).then_some(())
    });
    let captures = every_capture(&world);
    assert_eq!(captures.len(), AT_ONCE);
    for capture in &captures {
        assert_eq!(
            (&capture["verdict"], &capture["bytes"]),
            (&json!("finished"), &json!(expected.len()))
        );
        assert_eq!(capture["findings"]["error"], 0, "{capture}");
    }
    let per_stream = peak.saturating_sub(IDLE_KIB.max(idle)) / AT_ONCE as u64;
    println!(
        "{AT_ONCE} streams in {streamed:?}: idle {idle} KiB, peak {peak} KiB, {per_stream} KiB a stream"
    );
    assert!(per_stream <= PER_STREAM_KIB, "{per_stream} KiB a stream");
}

/// The list, page by page.
fn every_capture(world: &World) -> Vec<Value> {
    let mut captures = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.api(&format!("/api/captures?limit=1000{cursor}"));
        captures.extend(page["captures"].as_array().expect("a list").iter().cloned());
        match page["next"].as_u64() {
            Some(next) => cursor = format!("&before={next}"),
            None => return captures,
        }
    }
}
