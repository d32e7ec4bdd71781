//! Faults that only the inside can bring about. What the app would see is that every call on the tap
//! returns; that these tests end proves it, since the tap is used on their own thread.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::write::GzEncoder;
use rusqlite::Connection;
use teeline_assembler::Reading;
use teeline_finding::Kind;

use super::*;
use crate::database::Detail;
use crate::frames::Follower;
use crate::live::{Live, Progress};
use crate::lost::Lost;
use crate::record::Record;
use crate::session::{Session, Turn};
use crate::stream::{BURST_QUEUE, TOTAL_QUEUE};
use crate::{
    CaptureId, Ending, Piece, RequestHead, ResponseHead, ResponseView, State, Summary, Tap,
    summarise,
};

const SSE: &str = "text/event-stream";

fn begin(store: &Store) -> Tap {
    begin_at(store, "/x", SSE)
}

fn begin_at(store: &Store, target: &str, content_type: &'static str) -> Tap {
    let tap = store.recorder().begin(head_of(target));
    let headers = vec![("content-type".to_owned(), Bytes::from(content_type))];
    tap.response(ResponseHead { status: 200, reason: None, version: "HTTP/1.1", headers });
    tap
}

fn end(tap: Tap) -> CaptureId {
    tap.end(Ending::Clean);
    let id = tap.id();
    drop(tap);
    id
}

fn settled(feed: &mut broadcast::Receiver<Change>, id: CaptureId) -> Arc<Summary> {
    shown(feed, id, |summary| summary.state != State::Open)
}

/// Waits until the capture is shown so.
fn shown(
    feed: &mut broadcast::Receiver<Change>,
    id: CaptureId,
    fits: impl Fn(&Summary) -> bool,
) -> Arc<Summary> {
    loop {
        match feed.blocking_recv() {
            Ok(Change::Capture(summary)) if summary.id == id && fits(&summary) => {
                return summary;
            }
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// As [`settled`], where it may have been so already.
fn settled_since(
    store: &Store,
    feed: &mut broadcast::Receiver<Change>,
    id: CaptureId,
) -> Arc<Summary> {
    match store.summary(id) {
        Ok(summary) if summary.state != State::Open => Arc::new(summary),
        _ => settled(feed, id),
    }
}

/// The ranges that the reading says are missing, and why.
fn missing(store: &Store, id: CaptureId) -> Vec<(u64, u64, String)> {
    let findings = store.reading(id).unwrap().findings.clone();
    let incomplete = findings.into_iter().filter_map(|finding| match finding.kind {
        Kind::CaptureIncomplete { from, to, reason } => Some((from, to, reason)),
        _ => None,
    });
    incomplete.collect()
}

fn kept(store: &Store, id: CaptureId) -> u64 {
    let pieces = store.chunks(id).unwrap().map(Result::unwrap);
    let chunks = pieces.filter_map(|piece| match piece {
        Piece::Chunk(chunk) => Some(chunk.bytes.len() as u64),
        Piece::Gap { .. } => None,
    });
    chunks.sum()
}

fn file_store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), StoreOptions::default()).unwrap();
    (dir, store)
}

fn set(store: &Store, pragma: &str) {
    store.inner().database.writer().unwrap().execute_batch(pragma).unwrap();
}

#[test]
fn a_full_queue_loses_bytes_and_says_which_and_keeps_the_end() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let chunk = Bytes::from(vec![b'.'; 64 << 10]);
    let total = 20_u64 << 20;
    let tap = {
        // The writer hangs in the middle of a write.
        let _hung = store.inner().database.writer().unwrap();
        let tap = begin(&store);
        for _ in 0..total / (64 << 10) {
            tap.chunk(&chunk);
        }
        tap
    };
    let id = end(tap);
    let summary = settled(&mut feed, id);
    assert_eq!((summary.state, summary.bytes), (State::Ended, total));
    assert_eq!(summary.sha256, None, "not all of it was seen");
    assert!(0 < summary.findings.error);
    let kept = kept(&store, id);
    assert!(0 < kept && kept <= BURST_QUEUE as u64, "{kept}");
    let [(from, to, reason)] = &missing(&store, id)[..] else {
        panic!("{:?}", missing(&store, id))
    };
    assert_eq!((*from, *to), (kept, total));
    assert!(reason.contains("queue was full"), "{reason}");
}

#[test]
fn all_queues_together_are_bounded_and_each_stream_gets_a_share() {
    let (_dir, store) = file_store();
    let hung = store.inner().database.writer().unwrap();
    let taps: Vec<Tap> = (0..100).map(|_| begin(&store)).collect();
    let chunk = Bytes::from(vec![b'.'; 100_000]);
    for _ in 0..200 {
        taps[0].chunk(&chunk);
    }
    for _ in 0..20 {
        for tap in &taps {
            tap.chunk(&chunk);
        }
    }
    let queued: Vec<usize> = taps.iter().map(|tap| tap.stream().unwrap().queued()).collect();
    assert!(queued.iter().sum::<usize>() <= TOTAL_QUEUE);
    assert!(queued[1..].iter().filter(|queued| 0 < **queued).count() == 99, "{queued:?}");
    drop(hung);
}

#[test]
fn a_full_disk_loses_bytes_and_says_so_and_recording_goes_on_when_there_is_room() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let before = end(begin(&store));
    settled(&mut feed, before);
    let used: i64 = {
        let writer = store.inner().database.writer().unwrap();
        writer.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
    };
    set(&store, &format!("PRAGMA max_page_count = {}", used + 40));
    let tap = begin(&store);
    let chunk = Bytes::from(vec![b'.'; 300_000]);
    for _ in 0..3 {
        tap.chunk(&chunk);
    }
    let id = end(tap);
    let summary = settled(&mut feed, id);
    assert_eq!((summary.state, summary.bytes), (State::Ended, 900_000));
    assert!(summary.sha256.is_some(), "every byte was seen");
    let lost: u64 = missing(&store, id).iter().map(|(from, to, _)| to - from).sum();
    assert_eq!(kept(&store, id) + lost, 900_000);
    assert!(missing(&store, id).iter().all(|(_, _, reason)| reason == "the disk was full"));
    assert!(0 < lost);
    set(&store, "PRAGMA max_page_count = 1000000");
    let tap = begin(&store);
    tap.chunk(&chunk);
    let id = end(tap);
    settled(&mut feed, id);
    assert_eq!((kept(&store, id), missing(&store, id)), (300_000, Vec::new()));
}

#[test]
fn a_file_that_another_program_holds_is_waited_for() {
    let (dir, store) = file_store();
    let mut feed = store.feed();
    let other = Connection::open(dir.path().join(crate::database::FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let tap = begin(&store);
    tap.chunk(&Bytes::from_static(b"data: {}\n\n"));
    let id = end(tap);
    while store.write_failures() == 0 {
        std::thread::yield_now();
    }
    other.execute_batch("ROLLBACK").unwrap();
    settled(&mut feed, id);
    assert_eq!((kept(&store, id), missing(&store, id)), (10, Vec::new()));
}

#[test]
fn a_panic_under_the_lock_does_not_reach_the_app() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let tap = begin(&store);
    let other = tap.clone();
    let poison = std::thread::spawn(move || {
        let _pending = other.stream().unwrap().lock();
        panic!("on purpose");
    });
    assert!(poison.join().is_err());
    tap.chunk(&Bytes::from_static(b"data: {}\n\n"));
    let id = end(tap);
    assert_eq!(settled(&mut feed, id).bytes, 10);
    assert_eq!(kept(&store, id), 10);
}

#[test]
fn nothing_is_recorded_once_the_store_is_shut_down() {
    let (dir, store) = file_store();
    let recorder = store.recorder();
    let open = begin(&store);
    open.chunk(&Bytes::from_static(b"data: {}\n\n"));
    store.shutdown();
    let summary = store.summary(open.id()).unwrap();
    assert_eq!((summary.state, summary.bytes), (State::Interrupted, 10));
    open.chunk(&Bytes::from_static(b"late"));
    assert!(recorder.begin(head()).stream().is_none());
    assert!(matches!(store.delete(&[open.id()]), Err(StoreError::Stopped)));
    store.shutdown();
    drop(store);
    let left = std::fs::metadata(dir.path().join("teeline.db-wal")).map_or(0, |file| file.len());
    assert_eq!(left, 0, "the log is emptied into the file");
}

/// A worker that looks at a capture with what was known of it at `early`, and then with all.
fn read_in_two_turns(
    store: &Store,
    id: CaptureId,
    early: impl FnOnce(&mut Record),
) -> (Reading, u64, u64) {
    let inner = store.inner();
    let whole = store.detail(id).unwrap();
    let mut record = whole.record.as_ref().clone();
    (record.ending, record.moments.end_us) = (None, None);
    early(&mut record);
    let early = Detail { seq: whole.seq, record: Arc::new(record), summary: whole.summary.clone() };
    let progress = |detail: &Detail, finished| Progress {
        record: Arc::clone(&detail.record),
        bytes: detail.record.bytes,
        bytes_to_app: 0,
        finished,
    };
    let start = summarise::start(id, &early.record, whole.summary.started_at);
    let progress_then = progress(&early, false);
    let live = Live::new(id, whole.seq, start.started_at, progress_then.clone(), start);
    let mut session = Session::default();
    assert_eq!(session.advance(&live, &progress_then, inner).unwrap(), Turn::Reached);
    let progress = progress(&whole, true);
    while session.advance(&live, &progress, inner).unwrap() == Turn::More {}
    let reading = session.finish(&live, &progress, inner).reading;

    let mut follower = Follower::new(whole.seq);
    follower.advance(&inner.database, &early, false).unwrap();
    let frames_then = follower.total();
    follower.advance(&inner.database, &whole, true).unwrap();
    (reading, frames_then, follower.total())
}

#[test]
fn a_body_that_was_stored_since_is_read_with_its_head() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let body = "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\
                \"delta\":{\"content\":\"hi\"}}]}\n\n";
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(body.as_bytes()).unwrap();
    let tap = store.recorder().begin(head());
    let header = |name: &str, value| (name.to_owned(), Bytes::from_static(value));
    let headers =
        vec![header("content-type", b"text/event-stream"), header("content-encoding", b"gzip")];
    tap.response(ResponseHead { status: 200, reason: None, version: "HTTP/1.1", headers });
    tap.chunk(&Bytes::from(encoder.finish().unwrap()));
    let id = end(tap);
    settled(&mut feed, id);
    // Nothing, or an early hint, is known of the answer while all of it is there already.
    for response in [None, Some(ResponseView { informational: vec![103], ..Default::default() })] {
        let (reading, frames_then, frames) = read_in_two_turns(&store, id, |record| {
            (record.bytes, record.response) = (0, response);
        });
        let texts: Vec<_> = reading.outputs.iter().map(|output| &output.text[..]).collect();
        assert_eq!((texts, frames_then, frames), (vec!["hi"], 0, 1), "{:?}", reading.findings);
    }
}

#[test]
fn a_gap_is_read_with_its_reason() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let tap = begin(&store);
    let chunk = Bytes::from_static(b"data: {}\n\n");
    tap.chunk(&chunk);
    shown(&mut feed, tap.id(), |summary| summary.bytes == 10);
    {
        let hung = store.inner().database.writer().unwrap();
        tap.chunk(&Bytes::from(vec![b'.'; BURST_QUEUE]));
        tap.chunk(&chunk);
        drop(hung);
    }
    shown(&mut feed, tap.id(), |summary| 20 < summary.bytes);
    tap.chunk(&chunk);
    let id = end(tap);
    settled(&mut feed, id);
    let known = missing(&store, id);
    let [(_, _, reason)] = &known[..] else { panic!("{known:?}") };
    let (reading, ..) = read_in_two_turns(&store, id, |record| {
        (record.bytes, record.lost) = (10, Lost::default());
    });
    let ranges = reading.findings.iter().filter_map(|finding| match &finding.kind {
        Kind::CaptureIncomplete { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(ranges.collect::<Vec<_>>(), [reason]);
}

/// Every chunk is there with its bytes.
fn raw(store: &Store, id: CaptureId) -> Vec<u8> {
    let pieces = store.chunks(id).unwrap().map(Result::unwrap);
    let chunks = pieces.map(|piece| match piece {
        Piece::Chunk(chunk) => chunk.bytes,
        Piece::Gap { from, to, reason } => panic!("{from} to {to} is missing: {reason}"),
    });
    chunks.flatten().collect()
}

#[test]
fn a_format_that_panics_costs_its_own_reading_and_nothing_else() {
    let (dir, store) = file_store();
    let mut feed = store.feed();
    // More faults than there are readers: one that died would be missed.
    let places = ["frame", "finish", "response", "document"].repeat(4);
    let mut captures = Vec::new();
    for place in places {
        let is_stream = place != "document";
        let tap = begin_at(&store, "/faulty", if is_stream { SSE } else { "application/json" });
        let body = if is_stream {
            format!("data: {{\"panic\":\"{place}\"}}\n\n{}", "data: {\"more\":1}\n\n".repeat(3))
        } else {
            "{\"more\":1}".to_owned()
        };
        for chunk in body.as_bytes().chunks(7) {
            tap.chunk(&Bytes::copy_from_slice(chunk));
        }
        captures.push((place, end(tap), body));
    }
    for (place, id, body) in &captures {
        let summary = settled_since(&store, &mut feed, *id);
        assert_eq!((summary.state, summary.bytes), (State::Ended, body.len() as u64), "{place}");
        assert!(summary.sha256.is_some(), "{place}: all of it was seen");
        assert_eq!(raw(&store, *id), body.as_bytes(), "{place}");
        let missing = missing(&store, *id);
        let [(0, to, reason)] = &missing[..] else { panic!("{place}: {missing:?}") };
        assert_eq!(*to, body.len() as u64, "{place}");
        assert!(reason.contains(&format!("on purpose, in the {place}")), "{place}: {reason}");
        assert!(0 < summary.findings.error, "{place}");
        assert!(store.frames(*id, 0, 9).is_ok() && store.exchange(*id).is_ok(), "{place}");
    }
    // The others are read as ever.
    let tap = begin(&store);
    tap.chunk(&Bytes::from_static(b"data: {}\n\n"));
    let id = end(tap);
    assert_eq!(settled(&mut feed, id).frames, 1);
    assert_eq!(missing(&store, id), []);
    store.shutdown();
    drop(store);
    // And after the next start, when a newer version may read it.
    let store = Store::open(dir.path(), StoreOptions::default()).unwrap();
    for (_, id, body) in &captures {
        assert_eq!(raw(&store, *id), body.as_bytes());
        assert!(store.reading(*id).is_ok());
    }
}

#[test]
fn an_open_capture_whose_reading_panics_goes_on() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let tap = begin_at(&store, "/faulty", SSE);
    let id = tap.id();
    let first = Bytes::from_static(b"data: {\"panic\":\"frame\"}\n\n");
    tap.chunk(&first);
    shown(&mut feed, id, |summary| 0 < summary.findings.error);
    assert_eq!(store.summary(id).unwrap().state, State::Open);
    assert!(store.reading(id).unwrap().summary.contains("on purpose"));
    tap.chunk(&first);
    let id = end(tap);
    settled(&mut feed, id);
    assert_eq!(raw(&store, id), first.repeat(2));
}

#[test]
fn a_recorder_that_panics_loses_that_exchange_and_says_so() {
    let (_dir, store) = file_store();
    let mut feed = store.feed();
    let (bad, good) = (begin(&store), begin(&store));
    bad.chunk(&Bytes::from_static(b"data: 1\n\n"));
    shown(&mut feed, bad.id(), |summary| summary.bytes == 9);
    bad.chunk(&Bytes::from_static(faulty::UNBEARABLE));
    for _ in 0..4 {
        good.chunk(&Bytes::from_static(b"data: {}\n\n"));
        bad.chunk(&Bytes::from_static(b"data: 2\n\n"));
    }
    let (bad, good) = (end(bad), end(good));
    let total = 9 + 10 + 4 * 9;
    let summary = settled_since(&store, &mut feed, bad);
    assert_eq!((summary.state, summary.bytes), (State::Ended, total));
    assert_eq!(kept(&store, bad), 9);
    assert_eq!(missing(&store, bad), [(9, total, "a fault in the recorder".to_owned())]);
    settled_since(&store, &mut feed, good);
    assert_eq!((kept(&store, good), missing(&store, good)), (40, Vec::new()));
    store.shutdown();
}

fn head() -> RequestHead {
    head_of("/x")
}

fn head_of(target: &str) -> RequestHead {
    RequestHead {
        upstream: "x".to_owned(),
        method: "GET".to_owned(),
        target: target.to_owned(),
        url: "https://x.example/".to_owned(),
        version: "HTTP/1.1",
        headers: Vec::new(),
        client: None,
    }
}
