//! What both sides of a WebSocket say is listed in the order in which it came.

use teeline_assembler::{FrameRow, Verdict};

use super::*;

const SWITCH: [(&str, &str); 2] = [("Connection", "Upgrade"), ("Upgrade", "WebSocket")];

const COMPRESSING: [(&str, &str); 2] = [
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Extensions", "x, permessage-deflate; client_max_window_bits"),
];

fn begin(store: &Store, headers: &[(&str, &str)]) -> Tap {
    let tap = store.recorder().begin(request("/openai/v1/realtime?model=m-live"));
    tap.response(response(101, headers));
    tap
}

/// A frame of the app's, masked.
fn masked(first: u8, payload: impl AsRef<[u8]>) -> Bytes {
    let payload = payload.as_ref();
    let mask = [1, 2, 3, 4];
    let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).unwrap()];
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame.into()
}

/// A frame of the upstream's.
fn plain(first: u8, payload: &str) -> Bytes {
    [&[first, u8::try_from(payload.len()).unwrap()], payload.as_bytes()].concat().into()
}

fn seen(rows: &[FrameRow]) -> Vec<(&str, &str, Option<&str>, Option<&str>)> {
    let facts = |row: &FrameRow| row.message.clone().unwrap();
    rows.iter()
        .map(|row| {
            (facts(row).direction, facts(row).opcode, row.event.as_deref(), row.data.as_deref())
        })
        .collect()
}

#[test]
fn both_sides_are_listed_in_order() {
    let store = memory();
    let tap = begin(&store, &SWITCH);
    let app = |bytes: Bytes| tap.request_body(&bytes);
    let upstream = |bytes: Bytes| tap.chunk(&bytes);
    upstream(plain(0x81, r#"{"type":"session.created"}"#));
    app(masked(0x81, r#"{"type":"response.create"}"#));
    // In two frames with a ping between them, and cut where no frame ends.
    let answer =
        [plain(0x02, r#"{"serverContent":"#), plain(0x89, ""), plain(0x80, "{}}")].concat();
    upstream(Bytes::copy_from_slice(&answer[..7]));
    app(masked(0x8a, ""));
    upstream(Bytes::copy_from_slice(&answer[7..]));
    app(masked(0x88, b"\x03\xe8"));
    upstream(plain(0x88, ""));
    tap.end(Ending::Clean);
    let id = tap.id();
    drop(tap);
    store.shutdown();
    let expected = [
        ("from-upstream", "text", Some("session.created"), Some(r#"{"type":"session.created"}"#)),
        ("from-app", "text", Some("response.create"), Some(r#"{"type":"response.create"}"#)),
        ("from-app", "pong", None, None),
        ("from-upstream", "ping", None, None),
        ("from-upstream", "binary", Some("serverContent"), Some(r#"{"serverContent":{}}"#)),
        ("from-app", "close", None, Some("")),
        ("from-upstream", "close", None, None),
    ];
    let (total, rows) = store.frames(id, 0, 100).unwrap();
    assert_eq!(total, 7);
    let fragments = rows[4].message.as_ref().unwrap();
    assert_eq!((fragments.fragments, fragments.size, rows[4].length), (2, 20, 26));
    assert_eq!(rows[5].message.as_ref().unwrap().close_code, Some(1000));
    assert_eq!(seen(&rows), expected);
    assert!(rows.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms || pair[1].index == 4));
    // A page is the same as the part of the whole.
    for offset in 0..7 {
        let (_, page) = store.frames(id, offset, 2).unwrap();
        let from = usize::try_from(offset).unwrap();
        assert_eq!(seen(&page), seen(&rows)[from..(from + 2).min(7)]);
    }
    let reading = store.reading(id).unwrap();
    let facts = reading.websocket.clone().unwrap();
    assert_eq!((facts.from_app.messages, facts.from_app.control), (1, 2));
    assert_eq!((facts.from_upstream.messages, facts.from_upstream.control), (2, 2));
    assert_eq!(reading.model.as_deref(), Some("m-live"));
    let summary = store.summary(id).unwrap();
    assert_eq!((summary.frames, summary.streamed), (7, Some(true)));
    assert_eq!(summary.preview, r#"{"type":"session.created"}"#);
    // What both sides said can be searched for.
    for words in ["response.create", "session.created"] {
        let query = teeline_capture::Query::parse(&format!("\"{words}\"")).unwrap();
        assert_eq!(store.matching(&query).unwrap(), [id], "{words}");
    }
}

/// What the upstream sends, how it ends, and what is made of it.
type Case = (&'static [u8], Ending, Verdict, &'static str, &'static [&'static str]);

#[test]
fn a_close_frame_makes_it_finished_and_without_one_it_is_not() {
    let close: &[u8] = b"\x88\x05\x03\xe8bye";
    let cases: [Case; 5] = [
        (
            b"\x88\x05\x03\xe8bye",
            Ending::Clean,
            Verdict::Finished,
            "closed by the upstream with 1000 (bye).",
            &[],
        ),
        (
            b"\x88\x00",
            Ending::ClientLeft,
            Verdict::Finished,
            "closed by the upstream with no code.",
            &[],
        ),
        (
            b"\x81\x00",
            Ending::ClientLeft,
            Verdict::DidNotFinish,
            "no close frame came.",
            &["client-left"],
        ),
        (
            b"\x81\x00\x81\x05x",
            Ending::UpstreamBroke { how: "reset".to_owned() },
            Verdict::DidNotFinish,
            "no close frame came.",
            &["connection-broke", "websocket-fault"],
        ),
        (b"", Ending::Clean, Verdict::Empty, "no close frame came.", &[]),
    ];
    for (bytes, ending, verdict, words, findings) in cases {
        let store = memory();
        let tap = begin(&store, &SWITCH);
        tap.chunk(&Bytes::from_static(bytes));
        tap.end(ending);
        let id = tap.id();
        drop(tap);
        store.shutdown();
        let reading = store.reading(id).unwrap();
        assert_eq!(reading.verdict, verdict, "{bytes:?}");
        assert!(reading.summary.ends_with(words), "{}", reading.summary);
        let ids: Vec<_> = reading.findings.iter().map(|finding| finding.kind.id()).collect();
        assert_eq!(ids, findings, "{bytes:?}");
        if bytes == close {
            let facts = reading.websocket.clone().unwrap();
            let close = facts.from_upstream.close.unwrap();
            assert_eq!((close.code, close.reason.as_str()), (Some(1000), "bye"));
        }
    }
}

#[test]
fn compressed_messages_are_said_to_be() {
    let store = memory();
    let tap = begin(&store, &COMPRESSING);
    tap.chunk(&Bytes::from_static(b"\xc1\x03abc\x81\x01x\x88\x00"));
    tap.request_body(&masked(0xc1, "de"));
    tap.end(Ending::Clean);
    let id = tap.id();
    drop(tap);
    store.shutdown();
    let reading = store.reading(id).unwrap();
    assert!(
        reading.summary.contains("2 of them compressed and not decoded"),
        "{}",
        reading.summary
    );
    assert_eq!(reading.findings.len(), 1);
    assert_eq!(reading.findings[0].kind.id(), "websocket-compressed");
    let (_, rows) = store.frames(id, 0, 10).unwrap();
    let first = rows.iter().find(|row| row.message.as_ref().unwrap().compressed).unwrap();
    assert_eq!(first.data, None);
    assert!(first.effect.as_ref().unwrap().carried.ends_with("compressed, not decoded"));
}

/// Faults have their place and their sender.
#[test]
fn what_is_forbidden_is_found_at_its_frame() {
    let store = memory();
    let tap = begin(&store, &SWITCH);
    tap.chunk(&plain(0x81, "fine"));
    tap.request_body(&plain(0x81, "not masked"));
    tap.end(Ending::Clean);
    let id = tap.id();
    drop(tap);
    store.shutdown();
    let reading = store.reading(id).unwrap();
    let [fault] = &reading.findings[..] else { panic!("{:?}", reading.findings) };
    assert_eq!(
        (fault.kind.id(), fault.place.frame, fault.place.offset),
        ("websocket-fault", Some(1), Some(0))
    );
    assert_eq!(
        fault.kind.message(),
        "From the app: a frame is not masked, as a client's has to be."
    );
    let (_, rows) = store.frames(id, 1, 1).unwrap();
    assert_eq!(rows[0].message.as_ref().unwrap().faults.len(), 1);
    assert_eq!(rows[0].data.as_deref(), Some("not masked"));
}

/// Asked for while it grows, it gives the same numbers as read at once, whatever had come when.
#[test]
fn messages_keep_their_numbers_while_the_conversation_grows() {
    let store = memory();
    let tap = begin(&store, &SWITCH);
    let id = tap.id();
    let mut last: Vec<(String, u64, Option<String>)> = Vec::new();
    for n in 0..40 {
        let text = format!("{n}");
        if n % 3 == 0 {
            tap.request_body(&masked(0x81, &text));
        } else {
            tap.chunk(&plain(0x81, &text));
        }
        // What is asked for early may be less, and never something else.
        if n % 5 == 0 {
            last = listed(&store, id, &last);
        }
    }
    tap.end(Ending::Clean);
    drop(tap);
    store.shutdown();
    last = listed(&store, id, &last);
    let texts: Vec<_> = last.iter().map(|(_, _, data)| data.clone().unwrap()).collect();
    assert_eq!(texts, (0..40).map(|n| n.to_string()).collect::<Vec<_>>());
}

fn listed(
    store: &Store,
    id: CaptureId,
    before: &[(String, u64, Option<String>)],
) -> Vec<(String, u64, Option<String>)> {
    let Ok((_, rows)) = store.frames(id, 0, 100) else { return Vec::new() };
    let list: Vec<_> = rows
        .into_iter()
        .map(|row| (row.message.unwrap().direction.to_owned(), row.offset, row.data))
        .collect();
    assert_eq!(list.get(..before.len()), Some(before));
    list
}
