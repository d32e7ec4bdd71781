//! Scripts in HTTP/1.1 that must look the same on both sides.

use teeline_script::Script;

use super::{Act, Case};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
const LENGTH_9: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\n";

/// Three frames in a chunk each.
const FRAMES: &str = "9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n";

const GET: &str = "GET {up}/x HTTP/1.1\r\nHost: {host}\r\n\r\n";
const GET_CLOSE: &str = "GET {up}/x HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n";

pub(crate) fn all() -> Vec<Case> {
    [framings(), endings(), heads(), bodiless(), interims(), arrivals(), uploads(), connections()]
        .concat()
}

fn whole(parts: &[&str]) -> Vec<u8> {
    parts.concat().into_bytes()
}

fn framings() -> Vec<Case> {
    // `gzip -n` of "data: hi\n\n".
    let gzip: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\x49\x2c\x49\xb4\x52\xc8\xc8\xe4\xe2\x02\x00\x8e\x46\x48\x5e\x0a\x00\x00\x00";
    let encoded = [("Connection", "close"), ("Content-Encoding", "gzip"), ("Vary", "x")];
    vec![
        Case::bytes("a length", whole(&[LENGTH_9, "abcdefghi"])).fin().get(),
        Case::bytes("chunks", whole(&[CHUNKED, FRAMES, "0\r\n\r\n"]))
            .fin()
            .get()
            .scenario("t-content-length-untouched"),
        Case::new("an encoded body", Script::answer("200 OK", &encoded, gzip))
            .fin()
            .get()
            .scenario("t-content-encoding-header-and-body-agree"),
        Case::new(
            "an encoded stream",
            Script::head(
                "200 OK",
                &[
                    ("Content-Encoding", "gzip"),
                    ("Transfer-Encoding", "chunked"),
                    ("Connection", "close"),
                ],
            )
            .chunks(gzip, 7)
            .last_chunk(),
        )
        .fin()
        .get()
        .scenario("t-gzip-event-stream"),
        Case::bytes(
            "HTTP/1.0 by close",
            whole(&["HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n", "abc"]),
        )
        .fin()
        .get(),
    ]
}

/// Where an answer can end before it is whole; each by FIN and by reset.
fn endings() -> Vec<Case> {
    let table: &[(&str, &[&str])] = &[
        ("after the head", &[CHUNKED]),
        ("between chunks", &[CHUNKED, FRAMES]),
        ("in a frame", &[CHUNKED, FRAMES, "8\r\ndata: {\"\r\n"]),
        ("in a character", &[CHUNKED, FRAMES, "8\r\ndata: \u{1f980}"]),
        ("in a chunk", &[CHUNKED, FRAMES, "64\r\ndata: 4"]),
        ("in a chunk's size", &[CHUNKED, FRAMES, "6"]),
        ("in the last chunk", &[CHUNKED, FRAMES, "0\r\n"]),
        ("short of its length", &[LENGTH_9, "abc"]),
        (
            "after all frames, without the last chunk",
            &[CHUNKED, FRAMES, "e\r\ndata: [DONE]\n\n\r\n"],
        ),
    ];
    let mut cases = Vec::new();
    for (name, parts) in table {
        // In the middle of the four bytes of a character.
        let mut bytes = whole(parts);
        if *name == "in a character" {
            bytes.truncate(bytes.len() - 2);
        }
        for reset in [false, true] {
            let how = if reset { "reset" } else { "FIN" };
            let case = Case::bytes(&format!("{how} {name}"), bytes.clone());
            let case = if reset { case.rst() } else { case.fin() };
            cases.push(case.clone().get().scenario("t-truncated-chunked-body"));
            if reset {
                // An app that reads only when all of it is over.
                let late = case.send(GET_CLOSE).act(Act::Gone).act(Act::End);
                cases.push(Case { name: format!("{how} {name}, read late"), ..late });
            }
        }
    }
    cases.push(Case::bytes("reset after the end", whole(&[LENGTH_9, "abcdefghi"])).rst().get());
    cases
}

fn heads() -> Vec<Case> {
    let long = "k".repeat(60_000);
    let many: Vec<String> = (0..300).map(|n| format!("X-Header-{n}: {n}\r\n")).collect();
    let many = many.concat();
    let odd = "X-First: 1\r\nhOST: {host}\r\naccept: */*\r\nX-Dup: a\r\nx-dup: b\r\nX-DUP:\r\n\
               Cookie: a=b; c=\"d\"\r\nAccept-Encoding: gzip;q=0.9, br\r\nX-Bytes: \u{e9}\u{2028}\r\n";
    let answers = [
        "HTTP/1.1 200 Fine With Me\r\nX-B: 1\r\nX-A: 2\r\ncontent-LENGTH: 2\r\nx-last: \r\n\r\nok",
        "HTTP/1.1 599 \r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nSET-COOKIE: c=3\r\nContent-Length: 2\r\nX-After: 1\r\n\r\nok",
        "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 301 Moved Permanently\r\nLocation: https://elsewhere.example/\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nX-Bytes: \u{e9}\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nok",
    ];
    let mut cases: Vec<Case> = answers
        .iter()
        .map(|answer| Case::bytes(answer, *answer).send(GET).until("\r\n\r\nok"))
        .collect();
    let ok = || Script::answer("200 OK", &[], "ok");
    for line in [
        "GET {up}/v1/models?limit=1&after=%2F",
        "GET {up}//a/../b%2Fc/./%2e%2e//?q=%20//&&=",
        "GET {up}/\"\u{17e}{}|^\\?x={}|^`\\[]'\u{17e}",
        "PROPFIND {up}/x",
        "OPTIONS {up}/x",
    ] {
        let request = format!("{line} HTTP/1.1\r\n{odd}\r\n");
        cases.push(Case::new(line, ok()).send(&request).until("\r\n\r\nok"));
    }
    let secrets = "GET {up}/x?key=sk-1&a=b HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer sk-2\r\nx-api-key: sk-3\r\n\r\n";
    cases.push(
        Case::new("secrets", ok())
            .send(secrets)
            .until("\r\n\r\nok")
            .scenario("t-secrets-not-stored"),
    );
    let answer = format!("HTTP/1.1 200 OK\r\n{many}X-Long: {long}\r\nContent-Length: 2\r\n\r\nok");
    let request =
        format!("GET {{up}}/x?{long} HTTP/1.1\r\nHost: {{host}}\r\n{many}X-Long: {long}\r\n\r\n");
    cases.push(Case::bytes("large heads", answer).send(&request).until("\r\n\r\nok"));
    cases
}

/// Each twice on one connection: the second shows that nothing was left over.
fn bodiless() -> Vec<Case> {
    let table = [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nX-A: 1\r\n\r\n"),
        ("HEAD", "HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: \"x\"\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"),
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: 1\r\n\r\n"),
        ("OPTIONS", "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\r\n"),
    ];
    let cases = table.iter().map(|(method, head)| {
        let request = GET.replacen("GET", method, 1);
        Case::bytes(&format!("{method} {head}"), *head)
            .send(&request)
            .until("\r\n\r\n")
            .send(&request)
            .until("\r\n\r\n")
    });
    cases.collect()
}

/// 1xx answers come before the answer, each as soon as it came and as it was spelled.
fn interims() -> Vec<Case> {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nLINK: </y>\r\nX-After: 1\r\n\r\n";
    let processing = "HTTP/1.1 102 Working On It\r\n\r\n";
    let several = [processing, hints, "HTTP/1.1 100 Continue\r\n\r\n", ok].concat();
    let post = "POST {up}/x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{}";
    let parts = Script::new().bytes(processing).gate("hints").bytes(hints).gate("answer");
    let mut large = "HTTP/1.1 103 Early Hints\r\n".to_owned();
    large.extend((0..200).map(|n| format!("Link: </{n}>; rel=preload\r\n")));
    vec![
        Case::bytes("hints", [hints, ok].concat()).send(GET).until("\r\n\r\nok"),
        Case::bytes("several 1xx", several).send(GET).until("\r\n\r\nok"),
        Case::bytes("a large 103", [&large, "\r\n", ok].concat()).send(GET).until("\r\n\r\nok"),
        Case::new("1xx one by one", parts.bytes(ok))
            .send(post)
            .until("Working On It\r\n\r\n")
            .act(Act::Open("hints"))
            .until("X-After: 1\r\n\r\n")
            .act(Act::Open("answer"))
            .until("\r\n\r\nok"),
        // Each answer's own, and behind what came before.
        Case::bytes("pipelined, with hints", [hints, ok].concat())
            .and(Script::new().bytes(processing).then(Script::sse(["two"])))
            .and(Script::new().bytes([hints, ok].concat()))
            .send(&[GET, post, GET].concat())
            .until("\r\n\r\nok")
            .until("0\r\n\r\n")
            .until("\r\n\r\nok"),
        Case::bytes("hints and no body", [hints, "HTTP/1.1 204 No Content\r\n\r\n"].concat())
            .send(GET)
            .until("204 No Content\r\n\r\n"),
        Case::bytes("hints, then nothing", [hints, ok.split_at(20).0].concat())
            .send(GET)
            .until("X-After: 1\r\n\r\n"),
    ]
}

/// The upstream sends each part only when the app has the one before.
fn arrivals() -> Vec<Case> {
    let parts = ["data: one\n\n", ": ping\n\n", "data: \u{1f980}", "\n\n", "data: [DONE]\n\n"];
    let gates = ["one", "two", "three", "four", "five"];
    let mut script = Script::sse_head();
    let mut case = Case::new("part by part", Script::new()).send(GET).until("\r\n\r\n");
    for (part, gate) in parts.into_iter().zip(gates) {
        script = script.gate(gate).chunk(part);
        case = case.act(Act::Open(gate)).until(part);
    }
    case = case.act(Act::Open("end")).until("0\r\n\r\n");
    case.scripts = vec![script.gate("end").last_chunk()];
    let piece = format!("2000\r\n{}\r\n", "x".repeat(0x2000));
    let large =
        Script::head("200 OK", &[("Connection", "close"), ("Transfer-Encoding", "chunked")])
            .repeat(piece, 1024)
            .last_chunk();
    let open =
        Script::sse_head().chunk("data: [DONE]\n\n").gate("later").chunk(": ping\n\n").last_chunk();
    vec![
        Case { name: "pings in silence".to_owned(), ..case.clone() }
            .scenario("t-silence-and-keepalives"),
        case.scenario("t-frame-over-many-reads"),
        Case::new("8 MiB to a slow reader", large)
            .fin()
            .send(GET_CLOSE)
            .until("xxxx")
            .act(Act::End)
            .scenario("t-tee-does-not-lose-the-body"),
        Case::new("open after the end", open)
            .send(GET)
            .until("[DONE]\n\n")
            .act(Act::Open("later"))
            .until("0\r\n\r\n")
            .scenario("t-upstream-stays-open-after-end"),
    ]
}

fn uploads() -> Vec<Case> {
    let answer = || Script::answer("200 OK", &[], "ok");
    let post = "POST {up}/x HTTP/1.1\r\nHost: {host}\r\n";
    let mut slow = Case::new("a slow upload", Script::new().read_rest().then(answer()))
        .early()
        .send(&format!("{post}Content-Length: 9\r\n\r\n"));
    for (n, part) in ["abc", "def", "ghi"].iter().enumerate() {
        slow =
            slow.act(Act::Bytes(part.as_bytes().to_vec())).act(Act::Received(3 * (n as u64 + 1)));
    }
    let chunked = Case::new("a chunked upload", Script::new().read_rest().then(answer()))
        .early()
        .send(&format!("{post}Transfer-Encoding: chunked\r\n\r\n"))
        .act(Act::Bytes(b"3\r\nabc\r\n".to_vec()))
        .act(Act::Received(3))
        .act(Act::Bytes(b"3\r\ndef\r\n0\r\n\r\n".to_vec()))
        .until("\r\n\r\nok");
    let large = Case::new("an upload of 8 MiB", Script::new().read_rest().then(answer()))
        .early()
        .send(&format!("{post}Content-Length: {}\r\n\r\n", 8 << 20))
        .act(Act::Bytes(vec![b'u'; 8 << 20]))
        .until("\r\n\r\nok");
    let wanted = Script::new().bytes("HTTP/1.1 100 Continue\r\n\r\n").read_rest().then(answer());
    let expecting = Case::new("100 Continue", wanted)
        .early()
        .send(&format!("{post}Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"))
        .until("100 Continue\r\n\r\n")
        .act(Act::Bytes(b"abc".to_vec()))
        .until("\r\n\r\nok");
    let refused = Case::new("an early answer", Script::answer("413 Content Too Large", &[], "no"))
        .early()
        .send(&format!("{post}Content-Length: 6\r\n\r\nabc"))
        .until("\r\n\r\nno")
        .act(Act::Bytes(b"def".to_vec()))
        .act(Act::Received(6))
        .scenario("t-early-response-then-reset");
    let broken = Case::new("an upload that breaks off", Script::new().read_rest().then(answer()))
        .early()
        .send(&format!("{post}Transfer-Encoding: chunked\r\n\r\n"))
        .act(Act::Bytes(b"3\r\nabc\r\n".to_vec()))
        .act(Act::Received(3));
    vec![slow.until("\r\n\r\nok"), chunked, large, expecting, refused, broken]
}

fn connections() -> Vec<Case> {
    let ok = |text: &str| Script::answer("200 OK", &[], text);
    let post = "POST {up}/x HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{}";
    vec![
        Case::new("requests after one another", ok("one"))
            .and(ok("two"))
            .send(post)
            .until("\r\n\r\none")
            .send(post)
            .until("\r\n\r\ntwo"),
        Case::new("pipelined requests", ok("one"))
            .and(Script::sse(["two"]))
            .and(ok("three"))
            .send(&[post, GET, post].concat())
            .until("\r\n\r\none")
            .until("0\r\n\r\n")
            .until("\r\n\r\nthree"),
        Case::new("the answer closes", Script::answer("200 OK", &[("Connection", "close")], "ok"))
            .fin()
            .send(post)
            .act(Act::End),
        // The app goes before anything came.
        Case::new("the app leaves", Script::new().mark("asked").gate("never"))
            .send(post)
            .act(Act::Reached("asked"))
            .scenario("t-client-leaves-before-first-byte"),
        Case::bytes("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .fin()
            .send("GET {up}/x HTTP/1.0\r\nHost: {host}\r\n\r\n")
            .act(Act::End),
    ]
}
