//! Input that is meant to do harm: to the upstream behind the proxy, to this machine's memory, to the dashboard.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;
use teeline_script::Script;
use teeline_tests::{
    Browser, Client, Need, World, available, chat, eventually, get, request, run_with_input, text,
};

/// What a bomb may cost beside what the program needs anyway, in KiB.
const BOUND_KIB: u64 = 160 << 10;

/// The bytes, and all that comes back until the proxy closes or keeps quiet.
fn raw(world: &World, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(world.teeline.proxy).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(2))).expect("an option");
    // It may close before it has read all.
    let _ = socket.write_all(bytes);
    let (mut seen, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(read) = socket.read(&mut piece) {
        if read == 0 {
            break;
        }
        seen.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
    String::from_utf8_lossy(&seen).into_owned()
}

/// RFC 9112, sections 5.2, 6.1, 6.3, 7.1 and 11.2: whatever one server might read otherwise than another.
#[test]
fn no_request_is_smuggled() {
    let world = World::start(|_| Script::answer("200 OK", &[], "fine"));
    let inner = "GET /test/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = inner.len();
    let heads: [String; 12] = [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n0\r\n\r\n{inner}"),
        format!("Content-Length: 0\r\nContent-Length: {length}\r\n\r\n{inner}"),
        format!("Content-Length: 0, {length}\r\n\r\n{inner}"),
        format!("Content-Length: +{length}\r\n\r\n{inner}"),
        format!("Content-Length: 0x{length:x}\r\n\r\n{inner}"),
        format!("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n{inner}"),
        format!("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("X: a\r\n Content-Length: {length}\r\n\r\n{inner}"),
        format!("X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
        format!("Transfer-Encoding: chunked\r\n\r\n0;\nx\r\n\r\n{inner}"),
    ];
    for head in heads {
        let before = world.upstream.requests().len();
        let answer =
            raw(&world, format!("POST /test/outer HTTP/1.1\r\nHost: x\r\n{head}").as_bytes());
        let requests = world.upstream.requests();
        let new = requests.get(before..).unwrap_or_default();
        for request in new {
            let raw = String::from_utf8_lossy(&request.head).to_ascii_lowercase();
            let framings = raw.matches("\r\ncontent-length:").count()
                + raw.matches("\r\ntransfer-encoding:").count();
            assert!(framings <= 1, "two framings went on: {raw:?}");
            assert!(!raw.contains("\r\n ") && !raw.replace("\r\n", "").contains('\r'), "{raw:?}");
        }
        // Refused, or read by one rule that the upstream gets no second opinion on: then what follows the body is
        // a request of its own, as this app sent it.
        let refused = answer.starts_with("HTTP/1.1 400") && new.is_empty();
        let paths: Vec<&str> = new.iter().map(|request| request.target.as_str()).collect();
        let one_reading = paths == ["/outer"] || paths == ["/outer", "/smuggled"];
        assert!(refused || one_reading, "{head:?}: {paths:?}, {answer}");
        if one_reading {
            let answers = answer.matches("HTTP/1.1 ").count();
            assert_eq!(answers, paths.len(), "{head:?}: the app is answered as often as it asked");
        }
    }
}

#[test]
fn floods_of_headers_and_connections_are_withstood() {
    let world = World::start(|_| Script::answer("200 OK", &[], "fine"));
    let many = (0..20_000).fold(String::new(), |all, n| all + &format!("x-{n}: y\r\n"));
    let long = format!("x: {}\r\n", "y".repeat(4 << 20));
    let path = "/".repeat(1 << 20);
    for flood in [
        format!("GET /test/ HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        format!("GET /test/ HTTP/1.1\r\nHost: x\r\n{long}\r\n"),
        format!("GET /test{path} HTTP/1.1\r\nHost: x\r\n\r\n"),
    ] {
        let answer = raw(&world, flood.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    assert!(world.upstream.requests().is_empty());
    // Idle connections to both ports do not keep others out.
    let idle: Vec<TcpStream> = (0..300)
        .flat_map(|_| [world.teeline.proxy, world.teeline.dashboard])
        .map(|address| TcpStream::connect(address).expect("it listens"))
        .collect();
    assert_eq!(get(world.teeline.proxy, "/test/").status(), 200);
    assert_eq!(get(world.teeline.dashboard, "/healthz").status(), 200);
    drop(idle);
    assert!(world.teeline.memory_kib("VmHWM") < BOUND_KIB * 2);
}

/// A gibibyte of zeros in a mebibyte of gzip: the app gets it as it is, the recorder stops at its bound.
#[test]
fn a_decompression_bomb_costs_little() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..1024 {
        bomb.write_all(&zeros).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let served = bomb.clone();
    let world = World::start(move |_| {
        let headers = [("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip")];
        Script::answer("200 OK", &headers, &served)
    });
    let before = world.teeline.memory_kib("VmHWM");
    let response = world.ask().response();
    assert!(response.body == bomb, "the app's bytes are the upstream's");
    let capture = world.ended();
    assert_eq!(capture["summary"]["bytes"], bomb.len());
    let peak = world.teeline.memory_kib("VmHWM");
    assert!(peak - before < BOUND_KIB, "{before} KiB before, {peak} KiB at the peak");
}

#[test]
fn nesting_and_endless_lines_are_survived() {
    let deep = "[".repeat(200_000);
    let nested = format!("data: {deep}\n\ndata: {{\"choices\":{deep}\n\n{}", chat::DONE);
    let line = format!("data: {}", "x".repeat(64 << 20));
    let (first, second) = (nested.clone(), line.clone());
    let world = World::start(move |request| match request.target.as_str() {
        "/deep" => Script::sse_head().chunks(first.clone(), 1 << 16).last_chunk(),
        _ => Script::sse_head().chunks(second.clone(), 1 << 16).last_chunk(),
    });
    let before = world.teeline.memory_kib("VmHWM");
    // The request's own body is looked into as well.
    let asked = format!("{{\"messages\":{deep}");
    let response = request(
        world.teeline.proxy,
        "POST",
        "/test/deep",
        &[("Content-Type", "application/json")],
        asked.as_bytes(),
    );
    assert!(response.body == nested.as_bytes());
    assert_eq!(world.ended()["summary"]["state"], "ended");
    let response = request(world.teeline.proxy, "POST", "/test/line", &[], b"{}");
    assert!(response.body == line.as_bytes());
    let capture = eventually("the second capture", || {
        let capture = world.ended();
        (text(&capture["summary"]["path"]) == "/test/line").then_some(capture)
    });
    let findings = capture["reading"]["findings"].as_array().expect("findings");
    assert!(findings.iter().any(|finding| finding["id"] == "too-large"), "{findings:?}");
    let peak = world.teeline.memory_kib("VmHWM");
    assert!(peak - before < BOUND_KIB, "{before} KiB before, {peak} KiB at the peak");
    // The same pasted, and on the command line.
    let pasted = request(world.teeline.dashboard, "POST", "/api/read", &[], nested.as_bytes());
    assert_eq!(pasted.status(), 200);
    for input in [nested, line] {
        let output = run_with_input(["read", "--json"], input.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Markup, quotes, an entity, a direction mark and a control character.
const EVIL: &str =
    "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=2</script>'\"&lt;\u{202e}\u{7}";

/// Everything that is shown and comes from outside, as markup that would run if it were ever taken for such.
#[test]
fn nothing_captured_runs_in_the_dashboard() {
    if !available("nothing_captured_runs_in_the_dashboard", &[Need::Chromium]) {
        return;
    }
    let world = World::start(|_| {
        let calls = json!([{ "index": 0, "id": EVIL, "type": "function", "function": { "name": EVIL, "arguments": EVIL } }]);
        let first = json!({ "id": EVIL, "object": "chat.completion.chunk", "model": EVIL, "system_fingerprint": EVIL,
            "choices": [{ "index": 0, "delta": { "role": "assistant", "content": EVIL, "refusal": EVIL, "reasoning_content": EVIL, "tool_calls": calls }, "finish_reason": EVIL }] });
        let error = json!({ "error": { "message": EVIL, "type": EVIL, "code": EVIL } });
        let headers = [
            ("Content-Type", "text/event-stream"),
            ("X-Evil", "<script>window.pwned=3</script>"),
            ("Transfer-Encoding", "chunked"),
        ];
        Script::head("200 <b>OK</b>", &headers)
            .chunk(format!("event: {EVIL}\nid: {EVIL}\n: {EVIL}\ndata: {first}\n\n"))
            .chunk(format!("{EVIL}\n\ndata: {error}\n\ndata: {EVIL}\n\n"))
            .last_chunk()
    });
    let mut client = Client::connect(world.teeline.proxy);
    let body = json!({ "model": EVIL, "messages": [{ "role": "user", "content": EVIL }], "tools": [{ "type": "function", "function": { "name": EVIL, "description": EVIL } }] });
    client.request(
        "POST",
        "/test/v1/chat/completions?%3Cscript%3E",
        &[("X-Evil", "<script>window.pwned=4</script>")],
        body.to_string().as_bytes(),
    );
    client.response();
    let id = text(&world.ended()["summary"]["id"]).to_owned();
    let mut browser = Browser::start();
    let home = format!("http://{}", world.teeline.dashboard);
    for page in [
        "/",
        "/?q=%3Cscript%3E",
        &format!("/captures/{id}"),
        &format!("/compare?a={id}&b={id}"),
        "/read",
        "/%3Cscript%3E",
    ] {
        browser.goto(&format!("{home}{page}"));
        browser.wait("body");
        if page.contains(&id) {
            browser.wait_text("body", "onerror");
        }
        for key in ["1", "2", "3", "4", "5"] {
            browser.press(key);
            assert_eq!(browser.evaluate("window.pwned ?? null"), json!(null), "{page} {key}");
        }
        assert_eq!(
            browser.evaluate("document.querySelectorAll('img[src=x]').length"),
            json!(0),
            "{page}"
        );
    }
    let problems: Vec<String> =
        browser.problems().into_iter().filter(|problem| !problem.contains("404")).collect();
    assert_eq!(problems, Vec::<String>::new());
}
