use teeline_capture::{Query, StoreError};

use super::*;

const PHRASE: &str = "the quick brown planted phrase";

#[test]
fn what_is_deleted_for_good_is_in_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut feed = store.feed();
    let mut planted = Vec::new();
    // Small and large ones among others, so that pages are shared, split and joined.
    for number in 0..60_usize {
        let filler = "lorem ipsum ".repeat(1 + number * number % 700);
        let is_planted = number % 3 == 0;
        let answer = if is_planted { format!("{PHRASE} {filler}{PHRASE}") } else { filler };
        let tap = store.recorder().begin(request(&format!("/openai/v1/{number}")));
        let message = format!(r#"{{"messages":[{{"role":"user","content":"{answer}"}}]}}"#);
        tap.request_body(&Bytes::from(message));
        tap.response(response(200, &SSE));
        // Not one frame a word: the phrase is to be in the stored body as it is.
        let body = chat("x").replace("\"content\":\"x\"", &format!("\"content\":\"{answer}\""));
        tap.chunk(&Bytes::from(body));
        let id = finish(tap, Ending::Clean);
        settled(&mut feed, id);
        if is_planted {
            planted.push(id);
        }
    }
    assert!(folder_holds(dir.path(), PHRASE).is_some());
    assert_eq!(store.matching(&Query::parse("\"planted phrase\"").unwrap()).unwrap().len(), 20);
    store.reading(planted[0]).unwrap();
    for some in planted.chunks(7) {
        assert_eq!(store.delete_now(some).unwrap(), some);
    }
    assert_eq!(folder_holds(dir.path(), PHRASE), None);
    assert_eq!(folder_holds(dir.path(), "planted"), None);
    for id in &planted {
        assert!(matches!(store.reading(*id), Err(StoreError::NotFound(_))));
        assert_eq!(folder_holds(dir.path(), &id.to_string()), None);
    }
    let left = store.list(&Query::default(), None, 100).unwrap();
    assert_eq!((left.captures.len(), left.counts.all), (40, 40));
    drop(store);
    assert_eq!(folder_holds(dir.path(), "planted"), None);
}

#[test]
fn a_deletion_can_be_taken_back() {
    let store = memory();
    let mut feed = store.feed();
    let kept = exchange(&store, "/openai/v1/kept", chat("a").as_bytes());
    let gone = exchange(&store, "/openai/v1/gone", chat("b").as_bytes());
    settled(&mut feed, gone);
    store.reading(gone).unwrap();
    let query = Query::parse("path:gone").unwrap();
    assert_eq!(store.delete_matching(&query).unwrap(), [gone]);
    wait_for(&mut feed, |change| matches!(change, Change::Deleted(id) if id == gone).then_some(()));
    assert_eq!(store.delete(&[gone]).unwrap(), [], "it is gone already");
    for result in [
        store.summary(gone).map(drop),
        store.exchange(gone).map(drop),
        store.reading(gone).map(drop),
        store.chunks(gone).map(drop),
        store.frames(gone, 0, 1).map(drop),
        store.find(&gone.to_string()).map(drop),
    ] {
        assert!(matches!(result, Err(StoreError::NotFound(_))));
    }
    assert_eq!(store.list(&Query::default(), None, 10).unwrap().counts.all, 1);
    assert_eq!(store.undelete(&[gone, kept]).unwrap(), [gone]);
    let back = wait_for(&mut feed, |change| match change {
        Change::Capture(summary) if summary.id == gone => Some(summary),
        _ => None,
    });
    assert_eq!(back.preview, "b");
    assert_eq!(store.reading(gone).unwrap().outputs[0].text, "b");
}

#[test]
fn an_open_capture_can_be_deleted_for_good() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    tap.response(response(200, &SSE));
    tap.chunk(&Bytes::from_static(b"data: planted one\n\n"));
    let id = tap.id();
    wait_for(&mut feed, |change| match change {
        Change::Capture(summary) if summary.frames == 1 => Some(()),
        _ => None,
    });
    assert_eq!(store.delete_now(&[id]).unwrap(), [id]);
    tap.chunk(&Bytes::from_static(b"data: planted two\n\n"));
    finish(tap, Ending::Clean);
    let next = exchange(&store, "/openai/v1/next", b"{}");
    settled(&mut feed, next);
    drop(store);
    assert_eq!(folder_holds(dir.path(), "planted"), None);
    let store = open(dir.path());
    assert_eq!(store.list(&Query::default(), None, 10).unwrap().counts.all, 1);
}

#[test]
fn wiping_the_file_harms_nothing_that_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut kept = Vec::new();
    std::thread::scope(|scope| {
        let (sender, deleted) = std::sync::mpsc::sync_channel::<CaptureId>(1000);
        let deleting = scope.spawn(|| {
            for id in deleted {
                assert_eq!(store.delete_now(&[id]).unwrap(), [id]);
            }
        });
        let mut feed = store.feed();
        for number in 0..120_usize {
            let word = if number % 2 == 0 { "staying" } else { "planted" };
            let body = chat(&format!("{word} {number} ").repeat(1 + number * 37 % 200));
            let id = exchange(&store, "/openai/v1/chat/completions", body.as_bytes());
            settled(&mut feed, id);
            if number % 2 == 0 {
                kept.push((id, body));
            } else {
                sender.send(id).unwrap();
            }
        }
        drop(sender);
        deleting.join().unwrap();
    });
    for (id, body) in &kept {
        assert_eq!(bytes(store.chunks(*id).unwrap()), body.as_bytes());
        assert!(store.reading(*id).unwrap().outputs[0].text.starts_with("staying"));
    }
    assert_eq!(store.matching(&Query::parse("staying").unwrap()).unwrap().len(), kept.len());
    drop(store);
    assert_eq!(folder_holds(dir.path(), "planted"), None);
    let file = rusqlite::Connection::open(dir.path().join("teeline.db")).unwrap();
    let check: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}
