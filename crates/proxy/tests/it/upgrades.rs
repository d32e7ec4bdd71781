//! Other protocols on the same connection, such as WebSocket.

use std::{
    io::{BufRead as _, BufReader, ErrorKind},
    process::{Command, Stdio},
};

use teeline_capture::{EndedBy, Piece, State};
use teeline_proxy::Config;
use teeline_script::{Script, Upstream};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{App, Rig, within};

const ASK: &str = "GET /ws/v1/realtime HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n";
const SWITCH: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\n";

/// An app that has asked to switch, and an upstream that has read so: its head.
async fn asked() -> (Rig, App, TcpStream, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = Config::default();
    config.upstreams.add("ws", &format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let rig = Rig::with(Upstream::start(|_| Script::new()).await.unwrap(), config).await;
    let mut app = rig.app().await;
    app.send(ASK).await;
    let (mut upstream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        within("the head", upstream.read_buf(&mut head)).await.unwrap();
    }
    (rig, app, upstream, head)
}

/// An app and an upstream that have agreed to switch.
async fn switched() -> (Rig, App, TcpStream) {
    let (rig, mut app, mut upstream, head) = asked().await;
    let head = String::from_utf8(head).unwrap();
    assert!(
        head.contains("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n"),
        "{head}"
    );
    upstream.write_all(SWITCH.as_bytes()).await.unwrap();
    assert_eq!(String::from_utf8(app.read_through("\r\n\r\n").await).unwrap(), SWITCH);
    (rig, app, upstream)
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_pass_both_ways_and_are_recorded() {
    let (rig, mut app, mut upstream) = switched().await;
    for n in 0..3 {
        let (question, reply) = (format!("ping {n}."), format!("pong {n}."));
        app.send(&question).await;
        let mut got = vec![0; question.len()];
        within("it passes", upstream.read_exact(&mut got)).await.unwrap();
        assert_eq!(got, question.as_bytes());
        upstream.write_all(reply.as_bytes()).await.unwrap();
        app.read_through(&reply).await;
    }
    drop(upstream);
    assert_eq!(app.answer().await.head, "", "the end passes too");
    let exchange = rig.exchange(0).await;
    assert_eq!((exchange.summary.state, exchange.summary.status), (State::Ended, Some(101)));
    assert_eq!(exchange.request.body, "ping 0.ping 1.ping 2.");
    assert_eq!(exchange.summary.bytes_to_app, 21);
    let stored = rig.store.chunks(exchange.summary.id).unwrap().map(|piece| match piece.unwrap() {
        Piece::Chunk(chunk) => String::from_utf8(chunk.bytes.to_vec()).unwrap(),
        Piece::Gap { .. } => panic!("something is missing"),
    });
    assert_eq!(stored.collect::<String>(), "pong 0.pong 1.pong 2.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_leaves_takes_the_upstream_with_it() {
    let (rig, app, mut upstream) = switched().await;
    drop(app);
    let mut rest = Vec::new();
    within("the upstream sees it", upstream.read_to_end(&mut rest)).await.unwrap();
    drop(upstream);
    assert_eq!(rig.ended(0).await.state, State::ClientLeft);
    let end = rig.exchange(0).await.end.unwrap();
    assert_eq!((end.by, end.how.as_str()), (EndedBy::App, "closed"));
}

/// Whoever ends its side goes on reading, for as long as the other goes on sending.
#[tokio::test(flavor = "multi_thread")]
async fn each_side_may_end_on_its_own() {
    let (rig, mut app, mut upstream) = switched().await;
    app.send("last words").await;
    app.stream.shutdown().await.unwrap();
    let mut got = Vec::new();
    within("the app's end passes", upstream.read_to_end(&mut got)).await.unwrap();
    assert_eq!(got, b"last words");
    for word in ["one", "two"] {
        upstream.write_all(word.as_bytes()).await.unwrap();
        app.read_through(word).await;
    }
    drop(upstream);
    assert_eq!(app.answer().await.head, "");
    assert_eq!(rig.ended(0).await.state, State::Ended);

    let (rig, mut app, mut upstream) = switched().await;
    upstream.shutdown().await.unwrap();
    let end = within("the upstream's end passes", app.stream.read_buf(&mut app.buffer)).await;
    assert_eq!(end.unwrap(), 0);
    for word in ["one", "two"] {
        app.send(word).await;
        let mut got = vec![0; word.len()];
        within("it passes", upstream.read_exact(&mut got)).await.unwrap();
        assert_eq!(got, word.as_bytes());
    }
    drop(app);
    let mut rest = Vec::new();
    within("the app's end passes", upstream.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(rig.ended(0).await.state, State::Ended);
}

/// A reset is a reset, on the other side as well.
#[tokio::test(flavor = "multi_thread")]
async fn resets_pass_both_ways() {
    let (rig, app, mut upstream) = switched().await;
    app.stream.set_zero_linger().unwrap();
    drop(app);
    let mut rest = Vec::new();
    let end = within("the upstream sees it", upstream.read_to_end(&mut rest)).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let end = rig.exchange(0).await.end.unwrap();
    assert_eq!((end.by, end.how.as_str()), (EndedBy::App, "reset"));

    let (rig, mut app, upstream) = switched().await;
    upstream.set_zero_linger().unwrap();
    drop(upstream);
    let end = within("the app sees it", app.stream.read_to_end(&mut app.buffer)).await;
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let end = rig.exchange(0).await.end.unwrap();
    assert_eq!((end.by, end.how.as_str()), (EndedBy::Upstream, "reset"));
}

/// A text as a client frames it (RFC 6455, section 5.2).
fn masked(text: &str) -> Vec<u8> {
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let mut frame = vec![0x81, 0x80 | u8::try_from(text.len()).unwrap()];
    frame.extend(mask);
    frame.extend(text.bytes().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    frame
}

/// The messages of both sides, in the order in which each was the answer to the one before; a frame may
/// come together with the switch.
#[tokio::test(flavor = "multi_thread")]
async fn messages_are_listed_in_the_order_in_which_they_were_said() {
    let (rig, mut app, mut upstream, _) = asked().await;
    let first = [SWITCH.as_bytes(), b"\x81\x02s0"].concat();
    upstream.write_all(&first).await.unwrap();
    app.read_through("\x02s0").await;
    let mut expected = vec!["s0".to_owned()];
    for n in 1..10 {
        let (question, reply) = (format!("a{n}"), format!("s{n}"));
        let frame = masked(&question);
        app.send(&frame).await;
        let mut got = vec![0; frame.len()];
        within("it passes", upstream.read_exact(&mut got)).await.unwrap();
        assert_eq!(got, frame);
        upstream.write_all(&[b"\x81\x02", reply.as_bytes()].concat()).await.unwrap();
        app.read_through(&reply).await;
        expected.extend([question, reply]);
    }
    // While it is open, too.
    let id = rig.captures()[0].id;
    let listed = rig
        .until("all is listed", |rig| {
            let (_, rows) = rig.store.frames(id, 0, 100).unwrap();
            (rows.len() == expected.len()).then_some(rows)
        })
        .await;
    let texts: Vec<_> = listed.into_iter().map(|row| row.data.unwrap()).collect();
    assert_eq!(texts, expected);
    upstream.write_all(b"\x88\x02\x03\xe8").await.unwrap();
    drop(upstream);
    assert_eq!(app.answer().await.status(), "");
    let summary = rig.ended(0).await;
    assert_eq!((summary.state, summary.frames), (State::Ended, 20));
    let reading = rig.store.reading(id).unwrap();
    assert_eq!(reading.verdict.as_str(), "finished");
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_breaks_is_recorded() {
    let (rig, app, upstream) = switched().await;
    upstream.set_zero_linger().unwrap();
    drop(upstream);
    assert_eq!(app.answer().await.head, "");
    assert_eq!(rig.ended(0).await.state, State::UpstreamBroke);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_upgrade_is_an_answer_like_any_other() {
    let rig = Rig::new(|_| Script::answer("403 Forbidden", &[], "no")).await;
    let mut app = rig.app().await;
    app.send(ASK.replace("/ws/", "/up/")).await;
    app.read_through("\r\n\r\nno").await;
    assert_eq!(rig.upstream.requests()[0].header("upgrade"), Some("websocket"));
}

/// A switch that nobody asked for would leave both sides speaking different languages.
#[tokio::test(flavor = "multi_thread")]
async fn a_switch_that_was_not_asked_for_is_an_error() {
    let rig = Rig::new(|_| Script::new().bytes(SWITCH)).await;
    let answer = rig.fetch(crate::support::get("/up/x")).await;
    assert_eq!(
        (answer.status(), answer.header("x-teeline-error")),
        ("502", Some("upstream-closed"))
    );
}

/// Greets, sends back what it gets, and closes when it is told to. Prints its port.
const SERVER: &str = r#"
import asyncio, sys, websockets

async def talk(ws):
    await ws.send('{"type":"session.created"}')
    async for message in ws:
        if message == "close":
            return await ws.close(4001, "enough")
        await ws.send(message)

async def main():
    compression = None if sys.argv[1] == "none" else sys.argv[1]
    async with websockets.serve(talk, "127.0.0.1", 0, compression=compression) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()

asyncio.run(main())
"#;

/// Says a few things in every way there is, and prints what came back and how it ended.
const CLIENT: &str = r#"
import asyncio, sys, websockets

async def parts():
    yield "fragment one, "
    yield "fragment two"

async def main():
    compression = None if sys.argv[2] == "none" else sys.argv[2]
    async with websockets.connect(sys.argv[1], compression=compression) as ws:
        seen = [await ws.recv()]
        for message in ['{"type":"response.create"}', "x" * 70000, b"\x00\xff", "", parts()]:
            await ws.send(message)
            seen.append(await ws.recv())
        await (await ws.ping())
        await ws.send("close")
        try:
            await ws.recv()
        except websockets.ConnectionClosed as closed:
            print([len(it) for it in seen], seen[-1], closed.rcvd.code, closed.rcvd.reason)

asyncio.run(main())
"#;

/// The Python of the SDK suite, if it has a WebSocket library.
fn python() -> Option<String> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sdk/.venv/bin/python");
    let has = |python: &&str| {
        let mut command = Command::new(python);
        command.args(["-c", "import websockets.asyncio"]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    [own, "python3"].into_iter().find(has).map(str::to_owned)
}

/// A library on either side, of which neither can tell that something is in between.
#[tokio::test(flavor = "multi_thread")]
async fn a_real_client_and_a_real_server_talk_through_it() {
    let Some(python) = python() else {
        let required = std::env::var("TEELINE_REQUIRE").unwrap_or_default();
        assert!(!required.split(',').any(|need| need == "python"), "no Python with `websockets`");
        return;
    };
    for compression in ["none", "deflate"] {
        let mut server = Command::new(&python)
            .args(["-c", SERVER, compression])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let at = format!("127.0.0.1:{}", port.trim());
        let mut config = Config::default();
        config.upstreams.add("ws", &format!("http://{at}")).unwrap();
        let rig = Rig::with(Upstream::start(|_| Script::new()).await.unwrap(), config).await;
        let mut said = Vec::new();
        for url in [format!("ws://{at}/v1/realtime"), format!("ws://{}/ws/v1/realtime", rig.addr)] {
            let mut client = Command::new(&python);
            client.args(["-c", CLIENT, &url, compression]);
            let output = tokio::task::spawn_blocking(move || client.output().unwrap());
            // Not `within`: starting a Python may take long on a busy machine.
            let output = output.await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            said.push(String::from_utf8(output.stdout).unwrap());
        }
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(said[0], "[26, 26, 70000, 2, 0, 26] fragment one, fragment two 4001 enough\n");
        assert_eq!(said[1], said[0], "{compression}");

        let summary = rig.ended(0).await;
        assert_eq!(summary.state, State::Ended);
        let reading = rig.store.reading(summary.id).unwrap();
        let facts = reading.websocket.clone().unwrap();
        assert_eq!((facts.from_app.messages, facts.from_upstream.messages), (6, 6));
        assert_eq!(facts.closed_by, Some("upstream"));
        let close = facts.from_upstream.close.unwrap();
        assert_eq!((close.code, close.reason.as_str()), (Some(4001), "enough"));
        let faults = reading.findings.iter().filter(|it| it.kind.id() == "websocket-fault");
        assert_eq!(faults.count(), 0, "{:?}", reading.findings);
        let (_, rows) = rig.store.frames(summary.id, 0, 100).unwrap();
        let events: Vec<_> = rows.iter().filter_map(|row| row.event.as_deref()).collect();
        if compression == "none" {
            assert_eq!(events, ["session.created", "response.create", "response.create"]);
            assert_eq!(facts.from_app.compressed + facts.from_upstream.compressed, 0);
        } else {
            assert!(0 < facts.from_app.compressed && 0 < facts.from_upstream.compressed);
            assert!(reading.summary.contains("compressed and not decoded"), "{}", reading.summary);
        }
    }
}
