//! However an answer ends, the app gets every byte of it and then the same end, and the capture
//! says who ended it.

use teeline_capture::{EndedBy, Ending, State, Summary};
use teeline_script::Script;
use tokio::io::AsyncReadExt as _;

use crate::support::{End, Rig, get};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const LENGTH_9: &str = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
const UNMARKED: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

const THREE: &str = "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n";

/// What the upstream does after its only write.
#[derive(Clone, Copy)]
enum Then {
    Stay,
    Fin,
    Rst,
}
use Then::{Fin, Rst, Stay};

struct Case {
    name: &'static str,
    /// What the upstream sends, in one write.
    sends: &'static [&'static str],
    then: Then,
    /// The body that the app gets, and how it ends.
    body: &'static str,
    end: End,
    /// How the capture says that the upstream broke; nothing: it ended.
    how: Option<&'static str>,
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "chunks", sends: &[CHUNKED, THREE, "0\r\n\r\n"], then: Stay, body: "abc", end: End::Whole, how: None },
    Case { name: "length", sends: &[LENGTH_9, "abcdefghi"], then: Stay, body: "abcdefghi", end: End::Whole, how: None },
    Case { name: "more than its length", sends: &[LENGTH_9, "abcdefghijk"], then: Stay, body: "abcdefghi", end: End::Whole, how: None },
    Case { name: "by close", sends: &[UNMARKED, "abc"], then: Fin, body: "abc", end: End::Whole, how: None },
    Case { name: "by close, empty", sends: &[UNMARKED], then: Fin, body: "", end: End::Whole, how: None },
    Case { name: "by close, reset", sends: &[UNMARKED, "abc"], then: Rst, body: "abc", end: End::Cut, how: Some("reset") },
    Case { name: "head, FIN", sends: &[CHUNKED], then: Fin, body: "", end: End::Cut, how: Some("closed early") },
    Case { name: "head, reset", sends: &[CHUNKED], then: Rst, body: "", end: End::Cut, how: Some("reset") },
    Case { name: "between chunks, FIN", sends: &[CHUNKED, THREE], then: Fin, body: "abc", end: End::Cut, how: Some("closed early") },
    Case { name: "between chunks, reset", sends: &[CHUNKED, THREE], then: Rst, body: "abc", end: End::Cut, how: Some("reset") },
    Case { name: "in a chunk, FIN", sends: &[CHUNKED, THREE, "9\r\ndef"], then: Fin, body: "abcdef", end: End::Cut, how: Some("closed early") },
    Case { name: "in a chunk, reset", sends: &[CHUNKED, THREE, "9\r\ndef"], then: Rst, body: "abcdef", end: End::Cut, how: Some("reset") },
    Case { name: "in a chunk's size, FIN", sends: &[CHUNKED, THREE, "9"], then: Fin, body: "abc", end: End::Cut, how: Some("closed early") },
    Case { name: "in the last chunk, FIN", sends: &[CHUNKED, THREE, "0\r\n"], then: Fin, body: "abc", end: End::Cut, how: Some("closed early") },
    Case { name: "short of its length, FIN", sends: &[LENGTH_9, "abc"], then: Fin, body: "abc", end: End::Cut, how: Some("closed early") },
    Case { name: "short of its length, reset", sends: &[LENGTH_9, "abc"], then: Rst, body: "abc", end: End::Cut, how: Some("reset") },
    Case { name: "a malformed chunk", sends: &[CHUNKED, THREE, "zz\r\n"], then: Stay, body: "abc", end: End::Cut, how: Some("malformed") },
];

fn one_write(pieces: &[&str]) -> Script {
    Script::new().bytes(pieces.concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_ends_for_the_app_as_the_upstream_ended_it() {
    for Case { name, sends, then, body, end, how } in CASES {
        let rig = Rig::new(move |_| match then {
            Stay => one_write(sends),
            Fin => one_write(sends).fin(),
            Rst => one_write(sends).rst(),
        })
        .await;
        let answer = rig.fetch(get("/up/x")).await;
        assert_eq!((answer.text().as_str(), answer.end), (*body, *end), "{name}");
        assert_eq!(answer.status(), "200", "{name}");

        let length = body.len() as u64;
        let all = |it: &Summary| it.state != State::Open && it.bytes_to_app == length;
        assert_eq!(rig.capture(0, all).await.bytes, length, "{name}");
        let exchange = rig.exchange(0).await;
        let end = exchange.end.unwrap();
        assert_eq!((end.by, end.byte, end.to_app), (EndedBy::Upstream, length, length), "{name}");
        assert!(end.how.contains(how.unwrap_or("whole")), "{name}: {end:?}");
        assert!(0.0 < end.after_ms.unwrap(), "{name}");
        match (exchange.ending.unwrap(), how) {
            (Ending::Clean, None) => {}
            (Ending::UpstreamBroke { how }, Some(expected)) => {
                assert!(how.contains(expected), "{name}: {how}");
            }
            (ending, expected) => panic!("{name}: {ending:?}, expected {expected:?}"),
        }
    }
}

/// The reset comes while the app already has what came before.
#[tokio::test(flavor = "multi_thread")]
async fn a_reset_after_a_pause_ends_the_same() {
    let rig = Rig::new(|_| Script::sse_head().chunk("a").chunk("b").gate("now").rst()).await;
    let mut app = rig.app().await;
    app.send(get("/up/x")).await;
    app.read_through("b").await;
    rig.upstream.open_gate("now");
    app.buffer.clear();
    let end = app.stream.read_to_end(&mut app.buffer).await;
    assert!(end.is_ok() && !app.buffer.ends_with(b"0\r\n\r\n"), "{end:?} {:?}", app.buffer);
    let ending = rig.exchange(0).await.ending;
    assert_eq!(ending, Some(Ending::UpstreamBroke { how: "reset".to_owned() }));
}

/// Who ended it and how is one thing, what the frames say of it another; the capture has both, and the
/// frame and the byte after which it was.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_frames_say_stands_beside_it() {
    let text = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let done = "data: [DONE]\n\n";
    let cases = [
        ("whole", Script::sse([text, done]), "whole", 1, "finished"),
        (
            "all but the mark",
            Script::sse_head().chunk(text).chunk(done).rst(),
            "reset",
            1,
            "finished",
        ),
        (
            "a frame short",
            Script::sse_head().chunk(text).fin(),
            "closed early",
            0,
            "did-not-finish",
        ),
        ("ended short", Script::sse([text]), "whole", 0, "did-not-finish"),
        (
            "in a frame",
            Script::sse_head().chunk(text).chunk("data: [DO").rst(),
            "reset",
            1,
            "did-not-finish",
        ),
    ];
    for (name, script, how, frame, verdict) in cases {
        let rig = Rig::new(move |_| script.clone()).await;
        let body = rig.fetch(get("/up/v1/chat/completions")).await.body.len() as u64;
        let exchange = rig.exchange(0).await;
        let end = exchange.end.unwrap();
        assert_eq!((end.how.as_str(), end.frame, end.byte), (how, Some(frame), body), "{name}");
        assert_eq!(end.verdict.unwrap().as_str(), verdict, "{name}");
        if how != "whole" {
            let words = format!("{how} after frame {frame} and {body} bytes");
            assert_eq!(exchange.summary.end_reason, Some(words), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_head_the_app_is_told_what_happened() {
    let cases = [
        ("FIN", Script::new().fin(), "closed the connection"),
        ("reset", Script::new().rst(), "reset the connection"),
        (
            "in the head, FIN",
            Script::new().bytes("HTTP/1.1 200 OK\r\nContent-").fin(),
            "closed the connection",
        ),
        (
            "no HTTP",
            Script::new().bytes("SSH-2.0-OpenSSH_9.6\r\n").fin(),
            "did not answer in HTTP/1.1",
        ),
    ];
    for (name, script, words) in cases {
        let rig = Rig::new(move |_| script.clone()).await;
        let answer = rig.fetch(get("/up/x")).await;
        assert_eq!((answer.status(), answer.end), ("502", End::Whole), "{name}");
        assert_eq!(answer.header("x-teeline-error"), Some("upstream-closed"), "{name}");
        assert!(answer.text().contains(words), "{name}: {}", answer.text());
        assert_eq!(rig.ended(0).await.state, State::Failed, "{name}");
        let end = rig.exchange(0).await.end.unwrap();
        assert_eq!((end.by, end.how.as_str()), (EndedBy::Teeline, "upstream-closed"), "{name}");
        assert_eq!((end.frame, end.byte, end.to_app), (None, 0, 0), "{name}");
        assert_eq!(rig.upstream.requests().len(), 1, "{name}: not sent again");
    }
}

/// HTTP/1.0 has no chunks: the end of the connection is the end of the body, so that only a reset
/// can say that it broke.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_app_sees_a_broken_end_as_a_reset() {
    let request = "GET /up/x HTTP/1.0\r\n\r\n";
    let clean = Rig::new(|_| one_write(&[CHUNKED, "3\r\nabc\r\n", "0\r\n\r\n"])).await;
    let answer = clean.fetch(request).await;
    assert_eq!((answer.text().as_str(), answer.end), ("abc", End::Close));
    let broken = Rig::new(|_| one_write(&[CHUNKED, "3\r\nabc\r\n"]).fin()).await;
    let answer = broken.fetch(request).await;
    assert_eq!((answer.text().as_str(), answer.end), ("abc", End::Reset));
}

/// An upstream's HTTP/1.0 answer passes as one.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_upstream_is_not_dressed_up() {
    let head = "HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\n";
    for (script, end) in [
        (one_write(&[head, "abc"]).fin(), End::Close),
        (one_write(&[head, "abc"]).rst(), End::Reset),
    ] {
        let rig = Rig::new(move |_| script.clone()).await;
        let answer = rig.fetch(get("/up/x")).await;
        assert!(answer.head.starts_with("HTTP/1.0 200 OK\r\nX-A: 1\r\n"), "{}", answer.head);
        assert_eq!((answer.text().as_str(), answer.end), ("abc", end));
    }
}
