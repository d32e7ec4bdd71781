use teeline_assembler::Verdict;
use teeline_capture::{EndedBy, Moments, Query};

use super::*;

/// An exchange with everything that a tap can be told, its body in chunks around every bound: copied or
/// kept, and larger than a segment.
fn whole_exchange(store: &Store, body: &str) -> (CaptureId, Vec<Bytes>) {
    let tap = store.recorder().begin(request("/openai/v1/chat/completions?x=1"));
    tap.request_body(&Bytes::from_static(br#"{"model":"m-asked","messages":"#));
    tap.request_body(&Bytes::from_static(br#"[{"role":"user","content":"hi"}]}"#));
    tap.request_end(true);
    tap.sent();
    tap.informational(103);
    tap.response(response(200, &SSE));
    let mut sent = Vec::new();
    let mut rest = Bytes::copy_from_slice(body.as_bytes());
    for size in [1, 20, 4095, 4096, 4097, 65_535, 65_537, 200_000].into_iter().cycle() {
        let chunk = rest.split_to(rest.len().min(size));
        tap.chunk(&chunk);
        tap.written(chunk.len() as u64);
        sent.push(chunk);
        if rest.is_empty() {
            break;
        }
    }
    tap.trailers(vec![("x-sum".to_owned(), Bytes::from_static(b"1"))]);
    tap.end(Ending::Clean);
    tap.written(5);
    (tap.id(), sent)
}

#[test]
fn a_stream_is_kept_as_it_came() {
    let store = memory();
    let (id, sent) = whole_exchange(&store, &chat(&"word ".repeat(4000)));
    store.shutdown();
    let mut offset = 0;
    let mut last = None;
    for (piece, sent) in store.chunks(id).unwrap().zip(&sent) {
        let Piece::Chunk(chunk) = piece.unwrap() else { panic!("a gap") };
        assert_eq!((chunk.offset, &chunk.bytes), (offset, sent));
        assert!(last <= chunk.at_us);
        last = chunk.at_us;
        offset += sent.len() as u64;
    }
    assert_eq!(store.chunks(id).unwrap().count(), sent.len());
    let exchange = store.exchange(id).unwrap();
    let body = r#"{"model":"m-asked","messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!((exchange.request.body.as_str(), exchange.request.body_truncated), (body, false));
    let answer = exchange.response.unwrap();
    assert_eq!(answer.trailers, [("x-sum".to_owned(), "1".to_owned())]);
    assert_eq!(answer.informational, [103]);
    let Moments { sent_us, request_end_us, response_us, end_us } = exchange.moments;
    assert!(request_end_us <= sent_us && sent_us <= response_us && response_us <= end_us);
    assert!(request_end_us.is_some());
}

#[test]
fn a_stream_is_read_and_summed_up() {
    let store = memory();
    let body = chat(&"word ".repeat(4000));
    let (id, _) = whole_exchange(&store, &body);
    store.shutdown();
    let summary = store.summary(id).unwrap();
    assert_eq!((summary.bytes, summary.bytes_to_app), (body.len() as u64, body.len() as u64 + 5));
    assert_eq!((summary.state, summary.ended_by), (State::Ended, Some(EndedBy::Upstream)));
    assert_eq!((summary.verdict, summary.end_reason.as_deref()), (Some(Verdict::Finished), None));
    assert_eq!(summary.format.as_deref(), Some("openai-chat"));
    assert_eq!((summary.model.as_deref(), summary.streamed), (Some("m-1"), Some(true)));
    assert_eq!((summary.status, summary.choices, summary.frames), (Some(200), 1, 4003));
    assert_eq!(summary.finish.as_ref().map(|finish| finish.reason.as_str()), Some("stop"));
    assert_eq!(summary.preview, "word ".repeat(40));
    assert_eq!(summary.path, "/openai/v1/chat/completions");
    assert_eq!(summary.spark.bytes.iter().sum::<u64>(), 20_000);
    assert!(summary.first_byte_ms.is_some() && summary.duration_ms.is_some());
    let end_us = store.exchange(id).unwrap().moments.end_us.unwrap();
    assert_eq!(summary.ended_at, Some(summary.started_at.plus_micros(end_us)));
    assert_eq!(store.reading(id).unwrap().outputs[0].text, "word ".repeat(4000));
    assert_eq!(store.find(&id.to_string()[..20]).unwrap(), id);
}

#[test]
fn the_hash_is_of_the_body_as_it_came() {
    // FIPS 180-2, appendix B.2.
    let body = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    let hash = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
    let store = memory();
    let (id, _) = whole_exchange(&store, body);
    store.shutdown();
    assert_eq!(store.summary(id).unwrap().sha256.as_deref(), Some(hash));
}

type Expected = (State, EndedBy, Option<&'static str>, Verdict);

fn endings() -> Vec<(usize, Ending, Expected)> {
    let failed = Ending::Failed {
        kind: "connect-failed".to_owned(),
        message: "nothing listens on 127.0.0.1:8000".to_owned(),
    };
    let broke = |how: &str| Ending::UpstreamBroke { how: how.to_owned() };
    let (upstream, app, teeline) = (EndedBy::Upstream, EndedBy::App, EndedBy::Teeline);
    let cut = Verdict::DidNotFinish;
    let nothing_listens = Some("connect-failed: nothing listens on 127.0.0.1:8000");
    vec![
        (9, Ending::Clean, (State::Ended, upstream, None, Verdict::Finished)),
        (
            2,
            broke("reset"),
            (State::UpstreamBroke, upstream, Some("reset after frame 1 and {bytes} bytes"), cut),
        ),
        (
            0,
            broke("closed early"),
            (
                State::UpstreamBroke,
                upstream,
                Some("closed early before the first byte"),
                Verdict::Empty,
            ),
        ),
        (
            1,
            Ending::ClientLeft,
            (
                State::ClientLeft,
                app,
                Some("left (reset CANCEL) after frame 0 and {bytes} bytes"),
                cut,
            ),
        ),
        (
            3,
            Ending::Interrupted,
            (
                State::Interrupted,
                teeline,
                Some("teeline stopped after frame 2 and {bytes} bytes"),
                cut,
            ),
        ),
        (0, failed, (State::Failed, teeline, nothing_listens, Verdict::Empty)),
    ]
}

#[test]
fn every_ending_has_its_state_and_words() {
    let whole = chat("hello");
    for (frames, ending, (state, by, reason, verdict)) in endings() {
        let store = memory();
        let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
        if state != State::Failed {
            tap.response(response(200, &SSE));
        }
        let body: String = whole.split_inclusive("\n\n").take(frames).collect();
        let bytes = body.len() as u64;
        let came = body.matches("\n\n").count() as u64;
        tap.chunk(&Bytes::from(body));
        if ending == Ending::ClientLeft {
            tap.left("reset CANCEL");
            tap.left("closed");
        }
        let id = finish(tap, ending);
        store.shutdown();
        let summary = store.summary(id).unwrap();
        assert_eq!((summary.state, summary.ended_by), (state, Some(by)), "{state:?}");
        let reason = reason.map(|words| words.replace("{bytes}", &bytes.to_string()));
        assert_eq!(summary.end_reason, reason);
        let end = store.exchange(id).unwrap().end.unwrap();
        assert_eq!((end.by, end.byte, end.verdict), (by, bytes, Some(verdict)));
        assert_eq!(end.frame, came.checked_sub(1));
        assert_eq!(end.after_ms, summary.duration_ms);
        let hows = ["whole", "reset", "closed early", "reset CANCEL", "stopped", "connect-failed"];
        assert!(hows.contains(&end.how.as_str()), "{end:?}");
        assert_eq!(summary.verdict, Some(verdict), "{state:?}");
        assert_eq!(summary.sha256.is_some(), state != State::Failed);
        let reading = store.reading(id).unwrap();
        let first = reading.findings.first().map(|finding| finding.kind.id());
        match state {
            // Why it broke explains the rest.
            State::UpstreamBroke => assert_eq!(first, Some("connection-broke")),
            State::Failed => assert_eq!(first, None, "no response is no empty response"),
            _ => {}
        }
    }
}

#[test]
fn the_first_ending_counts_and_the_last_clone_is_one() {
    let store = memory();
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    tap.response(response(200, &SSE));
    let id = tap.id();
    let other = tap.clone();
    drop(tap);
    other.chunk(&Bytes::from(chat("x")));
    drop(other);
    assert_eq!(settled(&mut feed, id).state, State::ClientLeft);

    let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
    tap.end(Ending::UpstreamBroke { how: "reset".to_owned() });
    tap.chunk(&Bytes::from_static(b"too late"));
    let id = finish(tap, Ending::Clean);
    let summary = settled(&mut feed, id);
    assert_eq!((summary.state, summary.bytes), (State::UpstreamBroke, 0));
}

#[test]
fn pages_follow_the_order_of_arrival() {
    let store = memory();
    let ids: Vec<_> = (0..25).map(|n| exchange(&store, &format!("/x/{n}"), b"{}")).collect();
    store.shutdown();
    let (mut listed, mut before) = (Vec::new(), None);
    for _ in 0..9 {
        let page = store.list(&Query::default(), before, 10).unwrap();
        assert_eq!(page.counts.all, 25);
        listed.extend(page.captures.iter().map(|summary| summary.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    listed.reverse();
    assert_eq!(listed, ids);
    assert_eq!(store.list(&Query::default(), None, 25).unwrap().next, None);
    let one = ids[3].to_string();
    assert_eq!(store.find(&one).unwrap(), ids[3]);
    assert!(store.find("01").unwrap_err().to_string().contains("25 captures"));
    assert!(store.find("zzz").is_err() && store.find("").is_err());
}

#[test]
fn a_plain_body_of_no_format_is_kept_too() {
    let store = memory();
    let tap = store.recorder().begin(request("/openai/v1/models"));
    tap.response(response(200, &[("content-type", "application/json")]));
    tap.chunk(&Bytes::from_static(br#"{"object":"list","data":[]}"#));
    let id = finish(tap, Ending::Clean);
    store.shutdown();
    let summary = store.summary(id).unwrap();
    assert_eq!(summary.format.as_deref(), Some("unknown"));
    assert_eq!((summary.verdict, summary.streamed), (Some(Verdict::Finished), Some(false)));
    assert_eq!(summary.findings, teeline_capture::FindingCounts::default());
}

#[test]
fn a_long_request_is_kept_to_its_bound() {
    let store = Store::in_memory(StoreOptions { retention_bytes: 0, ..StoreOptions::default() });
    let store = store.unwrap();
    let mut feed = store.feed();
    let tap = store.recorder().begin(request("/x/upload"));
    let id = tap.id();
    let mib = Bytes::from(vec![b'a'; 1 << 20]);
    for stored in 1..=33_usize {
        tap.request_body(&mib);
        // Each is written before the next comes, so that the queue has room.
        let kept = || store.exchange(id).map_or(0, |exchange| exchange.request.body.len());
        while kept() < stored.min(32) << 20 {
            std::thread::yield_now();
        }
    }
    finish(tap, Ending::Clean);
    settled(&mut feed, id);
    let request = store.exchange(id).unwrap().request;
    assert!(request.body_truncated);
    assert_eq!(request.body.len(), 32 << 20);
}

#[test]
fn a_refusal_has_an_error_with_its_meaning_whatever_its_body_is() {
    /// Message and a word of the meaning.
    type Expected = Option<(&'static str, &'static str)>;
    let store = memory();
    let mut feed = store.feed();
    // The status's meaning stands in where neither the type nor the code has one (FORMATS.md, the errors' table).
    let table: [(u16, &str, Expected); 5] = [
        (404, r#"{"detail":"Not Found"}"#, Some(("HTTP 404", "does not exist"))),
        (502, "<html>Bad Gateway</html>", Some(("HTTP 502", "gateway"))),
        (503, "", Some(("HTTP 503", "try again later"))),
        (403, r#"{"error":{"message":"m","type":"homemade"}}"#, Some(("m", "may not use"))),
        (200, r#"{"detail":"fine"}"#, None),
    ];
    for (status, body, expected) in table {
        let tap = store.recorder().begin(request("/openai/v1/chat/completions"));
        tap.response(response(status, &[("content-type", "application/json")]));
        tap.chunk(&Bytes::from_static(body.as_bytes()));
        let id = finish(tap, Ending::Clean);
        settled(&mut feed, id);
        let reading = store.reading(id).unwrap();
        let error = reading.error.as_ref();
        let found = error.map(|error| (error.message.as_str(), error.meaning.as_deref()));
        match (found, expected) {
            (Some((message, Some(meaning))), Some((wanted, word))) => {
                assert!(
                    message == wanted && meaning.contains(word),
                    "{status}: {message}: {meaning}"
                );
            }
            (None, None) => {}
            _ => panic!("{status}: {found:?}"),
        }
    }
}

/// A stream that ends in an error came whole, and did not finish: the error is how it ended.
#[test]
fn an_error_in_the_stream_is_how_it_ended() {
    let table = [
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            200,
            Some("overloaded_error in frame 1"),
        ),
        // A refusal has its status.
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            529,
            None,
        ),
    ];
    let start = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    for (error, status, reason) in table {
        let store = memory();
        let tap = store.recorder().begin(request("/anthropic/v1/messages"));
        tap.response(response(status, &SSE));
        tap.chunk(&Bytes::from(format!(
            "event: message_start\ndata: {start}\n\nevent: error\ndata: {error}\n\n"
        )));
        let id = finish(tap, Ending::Clean);
        store.shutdown();
        let summary = store.summary(id).unwrap();
        assert_eq!((summary.state, summary.verdict), (State::Ended, Some(Verdict::DidNotFinish)));
        assert_eq!(summary.end_reason.as_deref(), reason);
    }
}
