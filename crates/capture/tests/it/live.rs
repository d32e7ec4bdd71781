use super::*;

fn current<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn who_watches_sees_the_answer_grow_and_end() {
    let store = memory();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    tap.response(response(200, &SSE));
    let id = tap.id();
    let mut feed = store.feed();
    let body = chat("one two three");
    let frames: Vec<&str> = body.split_inclusive("\n\n").collect();
    tap.chunk(&Bytes::from(frames[..2].concat()));
    wait_for(&mut feed, |change| match change {
        Change::Capture(summary) if summary.preview == "one " => Some(()),
        _ => None,
    });
    let mut watch = store.watch(id).unwrap();
    current(async {
        let first = watch.next().await.unwrap();
        assert_eq!(first.outputs[0].text, "one ", "what is known is shown at once");
        assert_eq!(store.reading(id).unwrap().outputs[0].text, "one ");
        tap.chunk(&Bytes::from(frames[2..4].concat()));
        let mut text = String::new();
        while text != "one two three" {
            text = watch.next().await.unwrap().outputs[0].text.clone();
        }
        assert_eq!(store.frames(id, 0, 9).unwrap().0, 4);
        tap.chunk(&Bytes::from(frames[4..].concat()));
        finish(tap, Ending::Clean);
        let mut last = None;
        while let Some(reading) = watch.next().await {
            last = Some(reading);
        }
        assert_eq!(last.unwrap().verdict, teeline_assembler::Verdict::Finished);
    });
    assert!(store.watch(id).is_none());
    assert_eq!(store.frames(id, 4, 9).unwrap().1.len(), frames.len() - 4);
}

#[test]
fn a_watcher_of_a_deleted_capture_is_told_the_end() {
    let store = memory();
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    let id = tap.id();
    wait_for(&mut feed, |change| matches!(change, Change::Capture(_)).then_some(()));
    let mut watch = store.watch(id).unwrap();
    store.delete_now(&[id]).unwrap();
    drop(tap);
    store.shutdown();
    current(async { assert!(watch.next().await.is_none()) });
}

#[test]
fn the_feed_says_a_beginning_changes_and_an_end() {
    let store = memory();
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    let mut next = || {
        wait_for(&mut feed, |change| match change {
            Change::Capture(summary) => Some(summary),
            Change::Deleted(_) | Change::Recording(_) => None,
        })
    };
    let first = next();
    assert_eq!((first.state, first.status, first.bytes), (State::Open, None, 0));
    tap.response(response(200, &SSE));
    while next().status.is_none() {}
    tap.chunk(&Bytes::from(chat("hello")));
    while next().preview != "hello" {}
    finish(tap, Ending::Clean);
    let last = loop {
        let summary = next();
        if summary.state != State::Open {
            break summary;
        }
    };
    assert_eq!(last.state, State::Ended);
    // What is asked for after the last change is what it said.
    let stored = store.summary(last.id).unwrap();
    assert_eq!(serde_json::to_string(&stored).unwrap(), serde_json::to_string(&*last).unwrap());
}
