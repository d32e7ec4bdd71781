use teeline_capture::{Import, Query, Timestamp};

use super::*;

#[test]
fn the_oldest_go_first_and_open_ones_stay() {
    let dir = tempfile::tempdir().unwrap();
    let retention_bytes = 4 << 20;
    let options = StoreOptions { retention_bytes, ..StoreOptions::default() };
    let store = Store::open(dir.path(), options).unwrap();
    let (mut feed, mut deletions) = (store.feed(), store.feed());
    let open = store.recorder().begin(request("/x/open"));
    open.response(response(200, &[]));
    open.chunk(&Bytes::from(vec![b'o'; 500_000]));
    let mut ids = Vec::new();
    for number in 0..12 {
        let id = exchange(&store, &format!("/x/{number}"), &vec![b'x'; 900_000]);
        settled(&mut feed, id);
        ids.push(id);
    }
    let mut deleted = Vec::new();
    wait_for(&mut deletions, |change| {
        if let Change::Deleted(id) = change {
            deleted.push(id);
        }
        (8 <= deleted.len()).then_some(())
    });
    assert_eq!(deleted, ids[..8]);
    assert!(store.summary(open.id()).is_ok());
    store.shutdown();
    let held = store.size().unwrap();
    assert_eq!(held.limit_bytes, Some(retention_bytes));
    assert_eq!(held.captures, 13 - said_gone(&mut deletions, deleted.len()));
    assert!((3 * 900_000..=retention_bytes).contains(&held.bytes), "{} bytes", held.bytes);
    let size: u64 =
        dir.path().read_dir().unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(size < retention_bytes + (2 << 20), "{size} bytes are left");
    assert_eq!(bytes(store.chunks(ids[11]).unwrap()).len(), 900_000);
}

/// How many deletions were said in all, when no more can come.
fn said_gone(feed: &mut tokio::sync::broadcast::Receiver<Change>, before: usize) -> u64 {
    let more = std::iter::from_fn(|| feed.try_recv().ok());
    (before + more.filter(|change| matches!(change, Change::Deleted(_))).count()) as u64
}

/// Streams that are open may take more than there is room for: everything else goes, and they go when they have ended.
#[test]
fn open_streams_outgrow_the_bound_and_it_holds_when_they_have_ended() {
    let dir = tempfile::tempdir().unwrap();
    let retention_bytes = 2 << 20;
    let options = StoreOptions { retention_bytes, ..StoreOptions::default() };
    let store = Store::open(dir.path(), options).unwrap();
    let (mut feed, mut deletions) = (store.feed(), store.feed());
    let mut deleted = |count: usize| {
        let next = || {
            wait_for(&mut deletions, |change| match change {
                Change::Deleted(id) => Some(id),
                _ => None,
            })
        };
        std::iter::repeat_with(next).take(count).collect::<Vec<_>>()
    };
    let grow = |tap: &Tap| tap.chunk(&Bytes::from(vec![b'o'; 900_000]));
    let open: Vec<Tap> = (0..4)
        .map(|number| {
            let tap = store.recorder().begin(request(&format!("/x/open/{number}")));
            tap.response(response(200, &[]));
            grow(&tap);
            tap
        })
        .collect();
    let ended: Vec<_> = (0..3)
        .map(|number| {
            let id = exchange(&store, &format!("/x/{number}"), &vec![b'x'; 300_000]);
            settled(&mut feed, id);
            id
        })
        .collect();
    assert_eq!(deleted(3), ended, "there is no room beside the open ones");
    for tap in &open {
        grow(tap);
        assert_eq!(store.summary(tap.id()).unwrap().state, State::Open);
    }
    let ids: Vec<_> = open.into_iter().map(|tap| finish(tap, Ending::Clean)).collect();
    assert_eq!(deleted(3), ids[..3], "the oldest go, one fits");
    store.shutdown();
    let size: u64 =
        dir.path().read_dir().unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    assert!(size < retention_bytes + (1 << 20), "{size} bytes are left");
    assert_eq!(bytes(store.chunks(ids[3]).unwrap()).len(), 1_800_000, "nothing of it was lost");
}

#[test]
fn what_is_too_old_goes() {
    let dir = tempfile::tempdir().unwrap();
    let forever = StoreOptions { retention_days: 0, ..StoreOptions::default() };
    let store = Store::open(dir.path(), forever).unwrap();
    let import = |days_ago: i64| {
        let started_us = Timestamp::now().as_micros() - days_ago * 86_400_000_000;
        store.import(Import {
            request: request("/x/y"),
            request_body: Bytes::new(),
            response: Some(response(200, &SSE)),
            chunks: vec![(Bytes::from(chat("x")), Some(5))],
            decoded: false,
            moments: None,
            started_at: Some(Timestamp::from_micros(started_us)),
            ending: Ending::Clean,
            format: None,
            stamps: false,
        })
    };
    let empty = store.size().unwrap();
    assert_eq!((empty.captures, empty.oldest, empty.keep_days), (0, None, None));
    let (old, new) = (import(15).unwrap(), import(13).unwrap());
    let size = store.size().unwrap();
    assert_eq!(size.captures, 2);
    assert_eq!(size.oldest, Some(store.summary(old).unwrap().started_at));
    // What is deleted is not counted, also while it can be brought back.
    store.delete(&[old]).unwrap();
    let size = store.size().unwrap();
    assert_eq!((size.captures, size.oldest), (1, Some(store.summary(new).unwrap().started_at)));
    store.undelete(&[old]).unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.size().unwrap().keep_days, Some(14));
    let gone = wait_for(&mut store.feed(), |change| match change {
        Change::Deleted(id) => Some(id),
        Change::Capture(_) | Change::Recording(_) => None,
    });
    assert_eq!(gone, old);
    store.shutdown();
    let left = store.list(&Query::default(), None, 9).unwrap().captures;
    assert_eq!(left.iter().map(|summary| summary.id).collect::<Vec<_>>(), [new]);
}
