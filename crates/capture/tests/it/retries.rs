//! An exchange that repeats another says so.

use teeline_capture::{Import, Timestamp};

use super::*;

fn try_it(
    store: &Store,
    at: &str,
    status: u16,
    body: &'static str,
    count: Option<&str>,
) -> CaptureId {
    let mut head = request("/openai/v1/chat/completions");
    if let Some(count) = count {
        head.headers.push(("x-stainless-retry-count".to_owned(), count.to_owned().into()));
    }
    store
        .import(Import {
            request: head,
            request_body: Bytes::from_static(body.as_bytes()),
            response: Some(response(status, &SSE)),
            chunks: vec![(Bytes::from_static(b"data: [DONE]\n\n"), Some(1000))],
            decoded: false,
            moments: None,
            started_at: Some(format!("2026-01-02T12:{at}Z").parse::<Timestamp>().unwrap()),
            ending: Ending::Clean,
            format: None,
            stamps: false,
        })
        .unwrap()
}

#[test]
fn a_retry_names_the_try_before_it() {
    let store = memory();
    let of = |id| {
        let summary = store.summary(id).unwrap();
        (summary.retry, summary.retry_of)
    };
    let first = try_it(&store, "00:00", 429, "{}", None);
    let second = try_it(&store, "00:01", 503, "{}", None);
    let third = try_it(&store, "00:03", 200, "{}", None);
    assert_eq!(of(first), (None, None));
    assert_eq!(of(second), (Some(1), Some(first)));
    assert_eq!(of(third), (Some(2), Some(second)));
    // The same question again after an answer is a question, and so is another one, or one much later.
    assert_eq!(of(try_it(&store, "00:04", 429, "{}", None)), (None, None));
    assert_eq!(of(try_it(&store, "00:05", 200, "{\"a\":1}", None)), (None, None));
    // The client knows best: it counts, also what was not recorded.
    assert_eq!(of(try_it(&store, "00:06", 200, "{\"a\":2}", Some("2"))), (Some(2), None));
    assert_eq!(of(try_it(&store, "00:07", 200, "{\"a\":3}", Some("0"))), (None, None));
    let slow = try_it(&store, "00:08", 200, "{\"a\":3}", Some("0"));
    let again = try_it(&store, "00:09", 200, "{\"a\":3}", Some("1"));
    assert_eq!((of(slow), of(again)), ((None, None), (Some(1), Some(slow))));
}

#[test]
fn a_minute_later_it_is_another_request() {
    let store = memory();
    for (at, retry) in [("00:00", None), ("01:00", Some(1)), ("02:00.000001", None)] {
        let id = try_it(&store, at, 429, "{}", None);
        assert_eq!(store.summary(id).unwrap().retry, retry, "{at}");
    }
}

#[test]
fn what_passes_while_paused_is_not_recorded_but_counted() {
    let store = memory();
    let mut feed = store.feed();
    let under_way = store.recorder().begin(request("/openai/v1/a"));
    assert!(!store.set_recording(false).on);
    let recording = wait_for(&mut feed, |change| match change {
        Change::Recording(recording) => Some(recording),
        _ => None,
    });
    assert_eq!((recording.on, recording.passed), (false, 0));
    let unseen = store.recorder().begin(request("/openai/v1/b"));
    unseen.chunk(&Bytes::from_static(b"data: x\n\n"));
    unseen.end(Ending::Clean);
    let (unseen_id, id) = (unseen.id(), under_way.id());
    drop(unseen);
    // What was under way is recorded to its end.
    under_way.response(response(200, &SSE));
    under_way.chunk(&Bytes::from_static(b"data: [DONE]\n\n"));
    under_way.end(Ending::Clean);
    drop(under_way);
    settled(&mut feed, id);
    assert!(store.summary(unseen_id).is_err());
    assert_eq!(store.summary(id).unwrap().bytes, 14);
    let recording = store.set_recording(true);
    assert_eq!((recording.on, recording.passed), (true, 1));
    let seen = store.recorder().begin(request("/openai/v1/c"));
    let id = seen.id();
    drop(seen);
    settled(&mut feed, id);
    assert_eq!(store.list(&teeline_capture::Query::default(), None, 9).unwrap().captures.len(), 2);
}
