//! Bytes go on as they come.

use teeline_capture::{Piece, State};
use teeline_script::Script;

use crate::support::{End, Rig, get};

/// Each part is sent only after the app has the one before, so none can be held back.
#[tokio::test(flavor = "multi_thread")]
async fn each_part_arrives_before_the_next_is_sent() {
    let parts: Vec<String> = (0..20).map(|n| format!("data: part {n}\n\n")).collect();
    let script = parts.iter().enumerate().fold(Script::sse_head(), |script, (n, part)| {
        script.gate(&format!("part {n}")).chunk(part)
    });
    let script = script.gate("end").last_chunk();
    let rig = Rig::new(move |_| script.clone()).await;
    let mut app = rig.app().await;
    app.send(get("/up/x")).await;
    app.read_through("\r\n\r\n").await;
    for (n, part) in parts.iter().enumerate() {
        rig.upstream.open_gate(&format!("part {n}"));
        app.read_through(part).await;
    }
    rig.upstream.open_gate("end");
    app.read_through("0\r\n\r\n").await;
    // Each came in a read of its own, and the capture has them so.
    let summary = rig.ended(0).await;
    let chunks: Vec<_> = rig.store.chunks(summary.id).unwrap().map(Result::unwrap).collect();
    let chunks: Vec<_> = chunks
        .into_iter()
        .map(|piece| match piece {
            Piece::Chunk(chunk) => String::from_utf8(chunk.bytes.to_vec()).unwrap(),
            Piece::Gap { .. } => panic!("something is missing"),
        })
        .collect();
    assert_eq!(chunks.concat(), parts.concat());
}

/// A character, and a frame, cut anywhere: the bytes are the app's business.
#[tokio::test(flavor = "multi_thread")]
async fn bytes_arrive_equal_however_they_are_cut() {
    let body = "data: {\"text\":\"žluťoučký 🦀\"}\r\n\r\n".repeat(50).into_bytes();
    for size in [1, 2, 3, 7, 1000, body.len()] {
        let (head, sent) = (Script::sse_head(), body.clone());
        let rig = Rig::new(move |_| head.clone().chunks(sent.clone(), size).last_chunk()).await;
        let answer = rig.fetch(get("/up/x")).await;
        assert_eq!((&answer.body, answer.end), (&body, End::Whole), "chunks of {size}");
        assert_eq!(rig.ended(0).await.bytes, body.len() as u64);
    }
}

/// Written byte by byte, framing included.
#[tokio::test(flavor = "multi_thread")]
async fn framing_cut_between_any_two_bytes_is_read_right() {
    let whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n\
                  3\r\nabc\r\n2;ext=\"1\"\r\nde\r\n0\r\nX-T: 1\r\n\r\n";
    let rig = Rig::new(|_| Script::new().bytes_by(&whole[..], 1)).await;
    let answer = rig.fetch(get("/up/x")).await;
    assert_eq!((answer.text().as_str(), answer.end), ("abcde", End::Whole));
}

/// A compressed body and what says so pass as they are.
#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_body_is_not_touched() {
    // `gzip -n` of "data: hi\n\n".
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x49\x2c\x49\xb4\x52\xc8\xc8\xe4\xe2\x02\x00\x8e\x46\x48\x5e\x0a\x00\x00\x00";
    let rig = Rig::new(move |_| {
        let head = [("Content-Encoding", "gzip"), ("Content-Type", "text/event-stream")];
        Script::answer("200 OK", &head, gzip).fin()
    })
    .await;
    let request = "GET /up/x HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip;q=0.9, br\r\nConnection: close\r\n\r\n";
    let answer = rig.fetch(request).await;
    let direct = rig.fetch_directly(request).await;
    assert_eq!((&answer.body, answer.end), (&direct.body, direct.end));
    assert_eq!(answer.body, gzip);
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    let received = &rig.upstream.requests()[0];
    assert_eq!(received.header("accept-encoding"), Some("gzip;q=0.9, br"));
    assert_eq!(rig.ended(0).await.bytes, gzip.len() as u64);

    rig.fetch(get("/up/x")).await;
    assert_eq!(rig.upstream.requests()[2].header("accept-encoding"), None, "absent stays absent");
}

/// Two streams at once keep apart (t-tee-does-not-lose-the-body).
#[tokio::test(flavor = "multi_thread")]
async fn two_apps_get_their_own_streams_and_captures() {
    let frames = |name: &str| (0..200).map(|n| format!("data: {name} {n}\n\n")).collect::<Vec<_>>();
    let rig = Rig::new(move |request| {
        let mut script = Script::sse_head();
        for (n, frame) in frames(&request.target).into_iter().enumerate() {
            script = script.chunk(frame);
            if n == 100 {
                // Both are under way before either goes on.
                script = script.gate(&format!("go {}", request.target));
            }
        }
        script.last_chunk()
    })
    .await;
    let (mut a, mut b) = (rig.app().await, rig.app().await);
    a.send(get("/up/a")).await;
    rig.upstream.reached("go /a").await;
    b.send(get("/up/b")).await;
    rig.upstream.reached("go /b").await;
    rig.upstream.open_gate("go /b");
    let b = b.answer().await;
    rig.upstream.open_gate("go /a");
    let a = a.answer().await;
    assert_eq!(a.text(), frames("/a").concat());
    assert_eq!(b.text(), frames("/b").concat());
    for (number, body) in [(0, &a.body), (1, &b.body)] {
        let summary = rig.ended(number).await;
        assert_eq!((summary.state, summary.bytes), (State::Ended, body.len() as u64));
        let stored = rig.store.chunks(summary.id).unwrap().map(|piece| match piece.unwrap() {
            Piece::Chunk(chunk) => chunk.bytes.to_vec(),
            Piece::Gap { .. } => panic!("something is missing"),
        });
        assert_eq!(&stored.collect::<Vec<_>>().concat(), body);
    }
}

/// The upstream says that it is done and keeps the connection: so does the proxy
/// (t-upstream-stays-open-after-end).
#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_does_not_end_what_the_upstream_keeps_open() {
    let rig = Rig::new(|_| {
        Script::sse_head().chunk("data: [DONE]\n\n").gate("later").chunk(": ping\n\n").last_chunk()
    })
    .await;
    let mut app = rig.app().await;
    app.send(get("/up/x")).await;
    app.read_through("data: [DONE]\n\n").await;
    assert_eq!(rig.capture(0, |it| it.bytes == 14).await.state, State::Open);
    rig.upstream.open_gate("later");
    app.read_through(": ping\n\n").await;
    app.read_through("0\r\n\r\n").await;
    assert_eq!(rig.ended(0).await.state, State::Ended);
}
