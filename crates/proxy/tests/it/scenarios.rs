//! The scenarios of `tests/fixtures/cases/t-*` that ask for more than equal bytes: what the capture
//! has to say, and when the app has to have what.

use std::{
    io::Write,
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use flate2::{
    Compression,
    write::{GzEncoder, ZlibEncoder},
};
use sha2::{Digest as _, Sha256};
use teeline_capture::{CaptureId, Piece, State, Store, StoreOptions};
use teeline_proxy::{Config, Proxy};
use teeline_script::{Script, Upstream};
use tokio_util::sync::CancellationToken;

use crate::support::{Answer, App, Rig, get, within};

/// A frame of Chat Completions.
fn chat(delta: &str, finish: &str) -> String {
    format!(
        "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
    )
}

/// What is stored of an answer, as it came.
fn stored(store: &Store, id: CaptureId) -> Vec<u8> {
    let pieces = store.chunks(id).unwrap().map(|piece| match piece.unwrap() {
        Piece::Chunk(chunk) => chunk.bytes.to_vec(),
        Piece::Gap { .. } => panic!("something is missing"),
    });
    pieces.collect::<Vec<_>>().concat()
}

/// `t-silence-and-keepalives`: each ping passes as it comes, a silence ends nothing, pings are no
/// answer, and the time to the first text is that of the first frame with text.
#[tokio::test(flavor = "multi_thread")]
async fn pings_and_silence_are_neither_swallowed_nor_taken_for_an_answer() {
    const PINGS: usize = 10;
    let role = chat(r#"{"role":"assistant","content":""}"#, "null");
    let answer = chat(r#"{"content":"Hello"}"#, "null");
    let end = chat("{}", "\"stop\"") + "data: [DONE]\n\n";
    for pings in [PINGS, 0] {
        let mut script = Script::sse_head().chunk(&role);
        for n in 0..pings {
            script = script.gate(&format!("ping {n}")).chunk(": ping\n\n");
        }
        let script = script.gate("answer").chunk(&answer).gate("end").chunk(&end).last_chunk();
        let rig = Rig::new(move |_| script.clone()).await;
        let mut app = rig.app().await;
        app.send(get("/up/v1/chat/completions")).await;
        app.read_through(&role).await;
        for n in 0..pings {
            rig.upstream.open_gate(&format!("ping {n}"));
            app.read_through(": ping\n\n").await;
        }
        // As long as this takes, at least, nothing comes.
        let silence = Instant::now();
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let silence = silence.elapsed();
        rig.upstream.open_gate("answer");
        app.read_through("Hello").await;
        rig.upstream.open_gate("end");
        app.read_through("0\r\n\r\n").await;

        let summary = rig.ended(0).await;
        assert_eq!(summary.state, State::Ended);
        let reading = rig.store.reading(summary.id).unwrap();
        assert_eq!(reading.outputs[0].text, "Hello");
        assert_eq!(reading.counts.comments, pings as u64);
        let gap = reading.timing.unwrap().longest_gap_ms.unwrap();
        assert!(silence.as_secs_f64() * 1000.0 <= gap + 1.0, "{gap} ms, waited {silence:?}");
        let (_, rows) = rig.store.frames(summary.id, 0, 100).unwrap();
        let first =
            rows.iter().find(|row| row.data.as_deref().is_some_and(|it| it.contains("Hello")));
        assert_eq!(summary.first_text_ms, first.unwrap().at_ms, "not that of a ping or a role");
        let raw = String::from_utf8(stored(&rig.store, summary.id)).unwrap();
        assert_eq!(raw.matches(": ping\n\n").count(), pings);
    }
}

/// The frames of one answer, each compressed and flushed by itself: the bytes, and where each ends.
fn flushed<W: Write>(
    mut encoder: W,
    frames: &[String],
    written: fn(&W) -> &Vec<u8>,
) -> (W, Vec<usize>) {
    let mut marks = Vec::new();
    for frame in frames {
        encoder.write_all(frame.as_bytes()).unwrap();
        encoder.flush().unwrap();
        marks.push(written(&encoder).len());
    }
    (encoder, marks)
}

fn encoded(frames: &[String]) -> Vec<(&'static str, Vec<u8>, Vec<usize>)> {
    let level = Compression::default;
    let (gzip, gzip_marks) =
        flushed(GzEncoder::new(Vec::new(), level()), frames, GzEncoder::get_ref);
    let (zlib, zlib_marks) =
        flushed(ZlibEncoder::new(Vec::new(), level()), frames, ZlibEncoder::get_ref);
    let (zstd, zstd_marks) = flushed(
        zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap(),
        frames,
        zstd::stream::write::Encoder::get_ref,
    );
    vec![
        ("gzip", gzip.finish().unwrap(), gzip_marks),
        ("deflate", zlib.finish().unwrap(), zlib_marks),
        ("zstd", zstd.finish().unwrap(), zstd_marks),
    ]
}

/// The upstream's pieces up to each mark, the next only when the app has the one before. Gives what
/// the app got of them.
async fn piece_by_piece(coding: &str, pieces: Vec<Vec<u8>>, cut: bool) -> (Rig, Vec<u8>) {
    let mut script = Script::head(
        "200 OK",
        &[
            ("Content-Type", "text/event-stream"),
            ("Content-Encoding", coding),
            ("Transfer-Encoding", "chunked"),
        ],
    );
    for (n, piece) in pieces.iter().enumerate() {
        script = script.gate(&format!("piece {n}")).chunk(piece);
    }
    script = script.gate("end");
    let script = if cut { script.rst() } else { script.last_chunk() };
    let rig = Rig::new(move |_| script.clone()).await;
    let mut app = rig.app().await;
    app.send(get("/up/v1/chat/completions")).await;
    let head = String::from_utf8(app.read_through("\r\n\r\n").await).unwrap();
    assert!(head.contains(&format!("Content-Encoding: {coding}\r\n")), "{head}");
    let mut got = Vec::new();
    for (n, piece) in pieces.iter().enumerate() {
        rig.upstream.open_gate(&format!("piece {n}"));
        app.read_through(format!("{:X}\r\n", piece.len())).await;
        got.extend(app.read_through(piece).await);
        app.read_through("\r\n").await;
    }
    rig.upstream.open_gate("end");
    if cut {
        assert_ne!(app.answer().await.rest, "0\r\n\r\n");
    } else {
        app.read_through("0\r\n\r\n").await;
    }
    (rig, got)
}

/// `t-gzip-event-stream`: compressed pieces pass at once and as they are; the capture has the frames,
/// each with the time at which its bytes came.
#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_stream_is_passed_piece_by_piece_and_read() {
    let frames = [
        chat(r#"{"role":"assistant","content":"one"}"#, "null"),
        chat(r#"{"content":"two"}"#, "null"),
        chat("{}", "\"stop\"") + "data: [DONE]\n\n",
    ];
    for (coding, body, marks) in encoded(&frames) {
        let mut starts = vec![0];
        starts.extend(&marks);
        let mut pieces: Vec<Vec<u8>> =
            starts.windows(2).map(|pair| body[pair[0]..pair[1]].to_vec()).collect();
        if marks[2] < body.len() {
            pieces.push(body[marks[2]..].to_vec());
        }
        let (rig, got) = piece_by_piece(coding, pieces, false).await;
        assert_eq!(got, body, "{coding}");
        let summary = rig.ended(0).await;
        assert_eq!(stored(&rig.store, summary.id), body, "{coding}: as it came");
        let (_, rows) = rig.store.frames(summary.id, 0, 10).unwrap();
        assert_eq!(rows.len(), 4, "{coding}");
        assert!(rows[0].at_ms < rows[1].at_ms && rows[1].at_ms < rows[2].at_ms, "{coding}");
        let read = |rig: &Rig| {
            let reading = rig.store.reading(summary.id).ok();
            reading.filter(|reading| !reading.outputs.is_empty())
        };
        let reading = rig.until("it is read", read).await;
        let texts: Vec<_> = reading.outputs.iter().map(|output| output.text.as_str()).collect();
        assert_eq!(texts, ["onetwo"], "{coding}: {reading:?}");
        assert_eq!(reading.verdict.as_str(), "finished", "{coding}");
        let wire = rig.exchange(0).await.response.unwrap().headers;
        let named =
            |(name, value): &(String, String)| name == "Content-Encoding" && value == coding;
        assert!(wire.iter().any(named), "{coding}: that it was coded is known");

        // The same, cut within the second frame.
        let cut = marks[0] + (marks[1] - marks[0]) / 2;
        let pieces = vec![body[..marks[0]].to_vec(), body[marks[0]..cut].to_vec()];
        let (rig, got) = piece_by_piece(coding, pieces, true).await;
        assert_eq!(got, body[..cut], "{coding}");
        let summary = rig.ended(0).await;
        assert_eq!(summary.state, State::UpstreamBroke, "{coding}");
        let read = |rig: &Rig| {
            let reading = rig.store.reading(summary.id).ok();
            reading.filter(|reading| !reading.outputs.is_empty())
        };
        let reading = rig.until("it is read", read).await;
        let text = reading.outputs.first().map(|output| output.text.as_str());
        assert!(text.is_some_and(|text| text.starts_with("one")), "{coding}: {reading:?}");
        assert_eq!(reading.verdict.as_str(), "did-not-finish", "{coding}");
        let ids: Vec<_> = reading.findings.iter().map(|finding| finding.kind.id()).collect();
        assert!(ids.contains(&"no-end") || ids.contains(&"cut"), "{coding}: {ids:?}");
    }
}

/// The rest of the same: a coding that nobody knows, and one whose body grows without end.
#[tokio::test(flavor = "multi_thread")]
async fn a_coding_that_is_not_known_is_said_to_be() {
    let (rig, got) =
        piece_by_piece("x-snappy", vec![b"\xff\x06\x00\x00sNaPpY".to_vec()], false).await;
    let summary = rig.ended(0).await;
    assert_eq!(stored(&rig.store, summary.id), got);
    let reading = rig.store.reading(summary.id).unwrap();
    let ids: Vec<_> = reading.findings.iter().map(|finding| finding.kind.id()).collect();
    assert!(ids.contains(&"capture-incomplete") && !ids.contains(&"not-json"), "{ids:?}");
}

/// `t-tee-does-not-lose-the-body`: two streams of 200 frames at the same time, frame by frame in turn.
#[tokio::test(flavor = "multi_thread")]
async fn two_streams_at_once_are_each_kept_to_the_byte() {
    const FRAMES: usize = 200;
    let frames = |name: &str| -> Vec<String> {
        (0..FRAMES).map(|n| chat(&format!("{{\"content\":\"{name}{n} \"}}"), "null")).collect()
    };
    let script = move |name: &str| {
        let all = frames(name).into_iter().enumerate();
        let all = all.fold(Script::sse_head(), |script, (n, frame)| {
            script.gate(&format!("{name}{n}")).chunk(frame)
        });
        all.chunk("data: [DONE]\n\n").last_chunk()
    };
    let rig = Rig::new(move |request| script(request.target.trim_start_matches('/'))).await;
    let mut apps = Vec::new();
    for name in ["a", "b"] {
        let mut app = rig.app().await;
        app.send(get(&format!("/up/{name}"))).await;
        app.read_through("\r\n\r\n").await;
        apps.push((name, app));
    }
    for n in 0..FRAMES {
        for (name, app) in &mut apps {
            rig.upstream.open_gate(&format!("{name}{n}"));
            app.read_through(format!("\"{name}{n} \"")).await;
        }
    }
    for (number, (_, app)) in apps.iter_mut().enumerate() {
        app.read_through("0\r\n\r\n").await;
        let summary = rig.ended(number).await;
        let name = summary.path.trim_start_matches("/up/").to_owned();
        let sent = frames(&name).concat() + "data: [DONE]\n\n";
        assert_eq!(String::from_utf8(stored(&rig.store, summary.id)).unwrap(), sent, "{name}");
        let hash = Sha256::digest(&sent);
        let hash = hash.iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
        assert_eq!(summary.sha256, Some(hash), "{name}");
        assert_eq!(summary.bytes_to_app, sent.len() as u64, "{name}");
    }
}

/// All that is logged, at the highest level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn planted(number: usize) -> String {
    format!("planted-secret-{number:04}")
}

/// A request with a key in every place that is known for keys.
fn request_with_keys() -> String {
    let key = planted;
    let basic = base64(&format!("me:{}", key(3)));
    format!(
        "POST /up/v1/x?key={}&api-key={}&%6Bey={} HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\n\
         AUTHORIZATION: Bearer {}\r\nproxy-Authorization: Basic {basic}\r\nX-Api-Key: {}\r\n\
         api-key: {}\r\nx-goog-api-key: {}\r\nCookie: sid={}\r\nReferer: https://me:{}@h.example/\r\n\
         Content-Length: 2\r\n\r\n{{}}",
        key(0),
        key(1),
        key(2),
        key(4),
        key(5),
        key(6),
        key(7),
        key(8),
        key(9),
    )
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The files below a folder that hold `needle`.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(files_with(&entry.path(), needle));
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

/// Sends the request twice through a proxy, which then stops.
async fn ask_twice(store: Store, upstream: &Upstream) -> (Store, Vec<Answer>) {
    let mut config = Config::default();
    config.upstreams.add("up", &upstream.url()).unwrap();
    let proxy =
        Proxy::bind("127.0.0.1:0".parse().unwrap(), config, store.recorder()).await.unwrap();
    let (addr, shutdown) = (proxy.local_addr(), CancellationToken::new());
    let serving = tokio::spawn(proxy.serve(shutdown.clone()));
    let mut answered = Vec::new();
    for _ in 0..2 {
        let mut app = App::connect(addr).await;
        app.send(request_with_keys()).await;
        answered.push(app.answer().await);
    }
    shutdown.cancel();
    within("the proxy stops", serving).await.unwrap();
    let stopping = tokio::task::spawn_blocking(move || {
        store.shutdown();
        store
    });
    (stopping.await.unwrap(), answered)
}

/// `t-secrets-not-stored`: the keys go upstream and are in no file and no line of the log, also where
/// an error quotes them. Not in parallel with others of this process: the log is theirs as well, which
/// only adds to what is looked through.
#[tokio::test(flavor = "multi_thread")]
async fn keys_go_upstream_and_nowhere_else() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    let quoting = (0..10).map(planted).collect::<Vec<_>>().join(" ");
    let error = format!("{{\"error\":{{\"message\":\"bad: https://h/v1/x?key={quoting}\"}}}}");
    let answers = [
        Script::answer("200 OK", &[("Set-Cookie", "sid=planted-secret-0010")], "{}"),
        Script::answer("400 Bad Request", &[("Content-Type", "application/json")], &error),
    ];
    let upstream = Upstream::start(move |request| {
        answers[usize::try_from(request.number).unwrap().min(1)].clone()
    })
    .await
    .unwrap();
    let (store, answered) = ask_twice(store, &upstream).await;

    // Nothing is changed on the way, in neither direction.
    let sent = String::from_utf8(upstream.requests()[0].head.to_vec()).unwrap();
    assert!((0..10).filter(|n| *n != 3).all(|n| sent.contains(&planted(n))), "{sent}");
    assert!(answered[0].head.contains(&planted(10)));
    assert_eq!(answered[1].text(), error);

    let captures = store.list(&teeline_capture::Query::default(), None, 10).unwrap().captures;
    assert_eq!(captures.len(), 2);
    let shown: Vec<String> = captures
        .iter()
        .map(|summary| {
            let exchange = store.exchange(summary.id).unwrap();
            let reading = store.reading(summary.id).unwrap();
            format!("{exchange:?}{}", serde_json::to_string(&*reading).unwrap())
        })
        .collect();
    let shown = shown.concat();
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(!logged.is_empty());
    for key in (0..=10).map(planted) {
        for needle in [key.clone(), base64(&key), base64(&format!("me:{key}"))] {
            assert_eq!(files_with(folder.path(), &needle), [""; 0], "{needle}");
            assert!(!shown.contains(&needle), "{needle} is shown");
            let line = logged.lines().find(|line| line.contains(&needle));
            assert_eq!(line, None, "{needle} is in the log");
        }
    }
}
