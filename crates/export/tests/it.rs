//! Every kind, of captures of every fixture.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_assembler::{Assembly, End, Options, Reading};
use teeline_capture::{
    CaptureId, Ending, Import, RequestHead, ResponseHead, Store, StoreOptions, Timestamp,
};
use teeline_export::{ExportError, Kind, export, import};

const CHAT: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, Bytes)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Bytes::copy_from_slice(value.as_bytes())))
        .collect()
}

/// A capture that began at 2026-01-02T03:04:05.678901Z, its chunks 1.5 ms apart.
fn capture(
    store: &Store,
    status: u16,
    response: &[(&str, &str)],
    body: &[u8],
    size: usize,
) -> CaptureId {
    let chunks = body
        .chunks(size)
        .zip(1..)
        .map(|(chunk, number)| (Bytes::copy_from_slice(chunk), Some(number * 1_500)));
    store
        .import(Import {
            request: RequestHead {
                upstream: "openai".to_owned(),
                method: "POST".to_owned(),
                target: "/openai/v1/chat/completions?key=planted-key-1&x=it's".to_owned(),
                url: "https://api.openai.com/v1/chat/completions?key=planted-key-1&x=it's"
                    .to_owned(),
                version: "HTTP/1.1",
                headers: headers(&[
                    ("Host", "127.0.0.1:4780"),
                    ("Authorization", "Bearer planted-key-2"),
                    ("Content-Type", "application/json"),
                    ("X-Odd", "it's $HOME `id` \"and\" \\ more"),
                    ("Content-Length", "7"),
                ]),
                client: None,
            },
            request_body: Bytes::from_static(b"{\"model\":\"m\",\"text\":\"it's $HOME\n`id`\"}"),
            response: Some(ResponseHead {
                status,
                reason: None,
                version: "HTTP/1.1",
                headers: headers(response),
            }),
            chunks: chunks.collect(),
            decoded: false,
            moments: None,
            started_at: Some("2026-01-02T03:04:05.678901Z".parse::<Timestamp>().unwrap()),
            ending: Ending::Clean,
            format: None,
            stamps: false,
        })
        .unwrap()
}

fn memory() -> Store {
    Store::in_memory(StoreOptions::default()).unwrap()
}

fn exported(store: &Store, id: CaptureId, kind: Kind) -> String {
    let mut out = Vec::new();
    export(store, id, kind, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/cases");
    let mut fixtures = Vec::new();
    for entry in root.read_dir().unwrap() {
        for file in entry.unwrap().path().read_dir().into_iter().flatten() {
            let path = file.unwrap().path();
            if path.file_stem().is_some_and(|stem| stem == "stream") {
                fixtures.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    assert!(50 < fixtures.len());
    fixtures
}

/// What a reading says apart from places, bytes and times: stamps move offsets, and a stamped text knows no
/// request whose start times could count from.
fn said(reading: &Reading) -> Value {
    let findings: Vec<Value> = reading
        .findings
        .iter()
        .filter(|finding| finding.kind.id() != "coalesced")
        .map(|finding| {
            json!([finding.kind.id(), finding.place.frame, finding.place.line, finding.count])
        })
        .collect();
    json!([
        reading.format,
        reading.framing,
        reading.verdict,
        reading.id,
        reading.model,
        reading.outputs,
        reading.usage,
        reading.error,
        reading.response,
        findings,
        reading.counts.frames,
        reading.counts.events,
        reading.counts.comments,
    ])
}

#[test]
fn a_stamped_export_reads_back_the_same_with_times() {
    let store = memory();
    for (name, body) in fixtures() {
        let id = capture(&store, 200, &[], &body, 41);
        let mut stamped = Vec::new();
        export(&store, id, Kind::Stamped, &mut stamped).unwrap();
        let path = Some("/openai/v1/chat/completions".to_owned());
        let mut assembly = Assembly::new(Options { stamps: true, path, ..Options::default() });
        assembly.keep_rows(true);
        let again = Bytes::from(stamped);
        assembly.push(again.clone(), None);
        assembly.finish(End::Clean);
        assert_eq!(said(&assembly.reading()), said(&store.reading(id).unwrap()), "{name}");
        let times = |rows: Vec<teeline_assembler::FrameRow>| {
            rows.into_iter().map(|row| row.at).collect::<Vec<_>>()
        };
        let (_, rows) = store.frames(id, 0, 10_000).unwrap();
        assert_eq!(times(assembly.take_rows()), times(rows), "{name}");
        // And as a capture it is the body again, byte for byte, with its times.
        let [import] = <[Import; 1]>::try_from(import(again, None).unwrap()).unwrap();
        let imported = store.import(import).unwrap();
        let raw = |id| {
            let mut out = Vec::new();
            export(&store, id, Kind::Raw, &mut out).unwrap();
            out
        };
        if !body.is_empty() {
            assert_eq!(raw(imported), body, "{name}");
            let (_, rows) = store.frames(id, 0, 10_000).unwrap();
            let (_, again) = store.frames(imported, 0, 10_000).unwrap();
            assert_eq!(times(again), times(rows), "{name}");
        }
    }
}

#[test]
fn raw_is_the_body_after_decoding_and_encoded_before() {
    use std::io::Write as _;
    let store = memory();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(CHAT.as_bytes()).unwrap();
    let coded = encoder.finish().unwrap();
    let id = capture(&store, 200, &[("content-encoding", "gzip")], &coded, 7);
    assert_eq!(exported(&store, id, Kind::Raw), CHAT);
    let mut out = Vec::new();
    export(&store, id, Kind::RawEncoded, &mut out).unwrap();
    assert_eq!(out, coded);
    let unknown = capture(&store, 200, &[("content-encoding", "compress")], &coded, 7);
    let error = export(&store, unknown, Kind::Raw, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("`compress`"), "{error}");
    let failed = capture(&store, 500, &[("content-encoding", "gzip")], &coded, 7);
    assert_eq!(exported(&store, failed, Kind::Raw), CHAT);
    let error = export(&store, failed, Kind::RawEncoded, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("content coding undone"), "{error}");
}

#[test]
fn what_has_no_lines_cannot_be_stamped() {
    let store = memory();
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let id = capture(&store, 200, &[("content-type", "image/png")], picture, 100);
    let result = export(&store, id, Kind::Stamped, &mut Vec::new());
    assert!(matches!(result, Err(ExportError::Binary)));
}

/// A conversation over a WebSocket: what is no body is not exported as one, and browsers' HAR has a place for it.
#[test]
fn what_a_websocket_says_leaves_as_messages() {
    let store = memory();
    let tap = store.recorder().begin(RequestHead {
        upstream: "openai".to_owned(),
        method: "GET".to_owned(),
        target: "/openai/v1/realtime?model=m".to_owned(),
        url: "https://api.openai.com/v1/realtime?model=m".to_owned(),
        version: "HTTP/1.1",
        headers: headers(&[("Connection", "Upgrade"), ("Upgrade", "websocket")]),
        client: None,
    });
    tap.response(ResponseHead {
        status: 101,
        reason: None,
        version: "HTTP/1.1",
        headers: headers(&[("Upgrade", "websocket")]),
    });
    // Masked with 0: "hi" and a ping; then a text, an answer to it and a close.
    tap.request_body(&Bytes::from_static(b"\x81\x82\0\0\0\0hi\x89\x80\0\0\0\0"));
    tap.chunk(&Bytes::from_static(b"\x82\x02{}\x88\x02\x03\xe8"));
    tap.end(Ending::Clean);
    let id = tap.id();
    drop(tap);
    store.shutdown();
    let har: Value = serde_json::from_str(&exported(&store, id, Kind::Har)).unwrap();
    let entry = &har["log"]["entries"][0];
    assert_eq!(entry["request"].get("postData"), None);
    let messages = entry["_webSocketMessages"].as_array().unwrap();
    let seen: Vec<_> = messages
        .iter()
        .map(|message| {
            (message["type"].as_str(), message["opcode"].as_u64(), message["data"].as_str())
        })
        .collect();
    assert_eq!(seen, [(Some("send"), Some(1), Some("hi")), (Some("receive"), Some(2), Some("{}"))]);
    // Seconds since 1970, of this century.
    assert!(messages.iter().all(|message| 1e9 < message["time"].as_f64().unwrap()));
    let frames = exported(&store, id, Kind::Frames);
    assert_eq!(frames.lines().count(), 4);
    assert!(frames.lines().all(|line| line.contains("\"direction\":\"from-")), "{frames}");
    let curl = exported(&store, id, Kind::Curl);
    assert!(curl.contains("--http1.1") && curl.contains("'Connection: Upgrade'"), "{curl}");
    assert!(!curl.contains("--data-raw") && !curl.contains("-X"), "{curl}");
    assert!(matches!(export(&store, id, Kind::Stamped, &mut Vec::new()), Err(ExportError::Binary)));
    let mut raw = Vec::new();
    export(&store, id, Kind::Raw, &mut raw).unwrap();
    assert_eq!(raw, b"\x82\x02{}\x88\x02\x03\xe8");
}

#[test]
fn the_answer_and_its_parts() {
    let store = memory();
    let id = capture(&store, 200, &[("content-type", "text/event-stream")], CHAT.as_bytes(), 50);
    assert_eq!(exported(&store, id, Kind::Text), "Hello");
    let response = exported(&store, id, Kind::Response);
    assert!(response.starts_with("{\n  \""), "{response}");
    let response: Value = serde_json::from_str(&response).unwrap();
    assert_eq!(response["choices"][0]["message"]["content"], "Hello");
    let reading: Value = serde_json::from_str(&exported(&store, id, Kind::Reading)).unwrap();
    let frames: Vec<Value> = exported(&store, id, Kind::Frames)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(reading["frames"], Value::Array(frames.clone()));
    assert_eq!((reading["schema"].as_str(), frames.len()), (Some("teeline.reading/1"), 3));
    assert_eq!(frames[0]["at"], "2026-01-02T03:04:05.680401Z");
    assert_eq!(frames[2]["data"], "[DONE]");
    let plain = capture(&store, 200, &[("content-type", "text/html")], b"<html></html>", 50);
    let result = export(&store, plain, Kind::Response, &mut Vec::new());
    assert!(matches!(result, Err(ExportError::Nothing(_))));
}

/// The fields that HAR 1.2 demands, by object (<http://www.softwareishard.com/blog/har-12-spec/>).
const DEMANDED: [(&str, &[&str]); 9] = [
    ("/log", &["version", "creator", "entries"]),
    ("/log/creator", &["name", "version"]),
    ("/log/entries/0", &["startedDateTime", "time", "request", "response", "cache", "timings"]),
    (
        "/log/entries/0/request",
        &[
            "method",
            "url",
            "httpVersion",
            "cookies",
            "headers",
            "queryString",
            "headersSize",
            "bodySize",
        ],
    ),
    ("/log/entries/0/request/postData", &["mimeType", "params", "text"]),
    (
        "/log/entries/0/response",
        &[
            "status",
            "statusText",
            "httpVersion",
            "cookies",
            "headers",
            "content",
            "redirectURL",
            "headersSize",
            "bodySize",
        ],
    ),
    ("/log/entries/0/response/content", &["size", "mimeType", "text"]),
    ("/log/entries/0/timings", &["send", "wait", "receive"]),
    ("/log/entries/0/request/queryString/0", &["name", "value"]),
];

#[test]
fn har_has_what_the_format_demands() {
    let store = memory();
    let id = capture(&store, 200, &[("content-type", "text/event-stream")], CHAT.as_bytes(), 50);
    let har: Value = serde_json::from_str(&exported(&store, id, Kind::Har)).unwrap();
    for (pointer, fields) in DEMANDED {
        let object = har.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
        for field in fields {
            assert!(object.get(field).is_some(), "{pointer} lacks {field}");
        }
    }
    assert_eq!(har["log"]["version"], "1.2");
    let entry = &har["log"]["entries"][0];
    assert_eq!(entry["startedDateTime"], "2026-01-02T03:04:05.678901Z");
    let timings = &entry["timings"];
    let sum: f64 =
        ["send", "wait", "receive"].iter().map(|name| timings[name].as_f64().unwrap()).sum();
    assert!((entry["time"].as_f64().unwrap() - sum).abs() < 1e-9);
    assert_eq!(entry["response"]["content"]["text"], CHAT);
    assert_eq!(entry["_teeline"]["frames"][0]["at_ms"], 1.5);
    assert!(!har.to_string().contains("planted"));
    let bytes = capture(&store, 200, &[("content-type", "image/png")], b"\x89PNG", 9);
    let har: Value = serde_json::from_str(&exported(&store, bytes, Kind::Har)).unwrap();
    let content = &har["log"]["entries"][0]["response"]["content"];
    assert_eq!((&content["text"], &content["encoding"]), (&json!("iVBORw=="), &json!("base64")));
}

/// What a shell makes of the command is what curl would be given.
#[cfg(unix)]
#[test]
fn the_curl_command_is_what_was_sent() {
    let store = memory();
    let id = capture(&store, 200, &[], b"{}", 9);
    let command = exported(&store, id, Kind::Curl);
    assert!(!command.contains("planted"), "{command}");
    let script =
        format!("curl() {{ for word in \"$@\"; do printf '%s\\0' \"$word\"; done; }}\n{command}");
    let output = Command::new("sh")
        .args(["-eu", "-c", &script])
        .env("OPENAI_API_KEY", "my key")
        .env("API_KEY", "k")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let words = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = words.split_terminator('\0').collect();
    assert_eq!(
        words,
        [
            "-N",
            "https://api.openai.com/v1/chat/completions?key=k&x=it's",
            "-H",
            "Authorization: Bearer my key",
            "-H",
            "Content-Type: application/json",
            "-H",
            "X-Odd: it's $HOME `id` \"and\" \\ more",
            "--data-raw",
            "{\"model\":\"m\",\"text\":\"it's $HOME\n`id`\"}",
        ]
    );
}

/// A HAR that this crate wrote says the same again, with the times.
#[test]
fn a_har_comes_back_in_as_it_left() {
    let store = memory();
    let coded = [("content-type", "text/event-stream"), ("content-encoding", "gzip")];
    let mut bodies = fixtures();
    bodies.push(("nothing".to_owned(), Vec::new()));
    for (name, body) in bodies {
        for (status, headers, body) in [
            (200, &coded[..1], body.clone()),
            (200, &coded[..], gzipped(&body)),
            (429, &coded[..], gzipped(&body)),
        ] {
            let id = capture(&store, status, headers, &body, 41);
            let [import] = <[Import; 1]>::try_from(
                import(exported(&store, id, Kind::Har).into(), None).unwrap(),
            )
            .unwrap();
            let again = store.import(import).unwrap();
            let (before, after) = (store.reading(id).unwrap(), store.reading(again).unwrap());
            assert_eq!(said(&before), said(&after), "{name}");
            let at = |id| {
                let (_, rows) = store.frames(id, 0, 10_000).unwrap();
                rows.into_iter().map(|row| (row.at, row.offset, row.data)).collect::<Vec<_>>()
            };
            assert_eq!(at(id), at(again), "{name}");
            let (before, after) = (store.exchange(id).unwrap(), store.exchange(again).unwrap());
            assert_eq!(before.request, after.request, "{name}");
            assert_eq!(before.response, after.response, "{name}");
            assert_eq!(
                (before.summary.path, before.summary.upstream, before.summary.state),
                (after.summary.path, after.summary.upstream, after.summary.state)
            );
        }
    }
}

fn gzipped(body: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// As a browser writes it: HTTP/2, no times of pieces, a body in Base64, an exchange that failed.
#[test]
fn a_browsers_har_comes_in() {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(CHAT);
    let har = json!({"log": {"version": "1.2", "creator": {"name": "WebInspector", "version": "537.36"}, "pages": [], "entries": [
        {"startedDateTime": "2026-11-30T01:02:03.456Z", "time": 812.0, "cache": {}, "_resourceType": "fetch",
         "request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions?a=b", "httpVersion": "http/2.0",
            "headers": [{"name": ":authority", "value": "api.openai.com"}, {"name": "authorization", "value": "Bearer planted-key-7"}],
            "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 20,
            "postData": {"mimeType": "application/json", "text": "{\"model\":\"m\"}"}},
         "response": {"status": 200, "statusText": "", "httpVersion": "http/2.0", "cookies": [], "redirectURL": "", "headersSize": -1,
            "bodySize": -1, "headers": [{"name": "content-type", "value": "text/event-stream"}, {"name": "content-encoding", "value": "br"}],
            "content": {"size": 3, "mimeType": "text/event-stream", "text": text, "encoding": "base64"}},
         "timings": {"blocked": 2.0, "dns": -1, "connect": -1, "ssl": -1, "send": 0.5, "wait": 300.5, "receive": 509.0}},
        {"startedDateTime": "2026-11-30T01:02:05Z", "time": 1, "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
         "request": {"method": "GET", "url": "https://api.openai.com/v1/models", "httpVersion": "", "headers": [], "queryString": [],
            "cookies": [], "headersSize": -1, "bodySize": 0},
         "response": {"status": 0, "statusText": "", "httpVersion": "", "headers": [], "cookies": [], "content": {"size": 0, "mimeType": "x-unknown"},
            "redirectURL": "", "headersSize": -1, "bodySize": -1, "_error": "net::ERR_CONNECTION_RESET"}},
    ]}})
    .to_string();
    let store = memory();
    let ids: Vec<CaptureId> = import(har.into(), None)
        .unwrap()
        .into_iter()
        .map(|import| store.import(import).unwrap())
        .collect();
    let [whole, failed] = ids[..] else { panic!("{ids:?}") };
    let reading = store.reading(whole).unwrap();
    assert_eq!((reading.format, reading.outputs[0].text.as_str()), ("openai-chat", "Hello"));
    let summary = store.summary(whole).unwrap();
    assert_eq!(summary.upstream, "api.openai.com");
    assert_eq!(summary.path, "/v1/chat/completions");
    assert_eq!(summary.started_at.to_string(), "2026-11-30T01:02:03.456000Z");
    // How long it took is in the HAR; when each piece came is not.
    assert_eq!(summary.duration_ms, Some(812.0));
    assert_eq!(summary.first_byte_ms, None);
    let exchange = store.exchange(whole).unwrap();
    assert_eq!(exchange.response.unwrap().version, "HTTP/2");
    assert!(!format!("{:?}", exchange.request).contains("planted"));
    assert_eq!(exported(&store, whole, Kind::Raw), CHAT);
    let summary = store.summary(failed).unwrap();
    assert_eq!(summary.state.as_str(), "failed");
    assert_eq!(summary.end_reason.as_deref(), Some("upstream-closed: net::ERR_CONNECTION_RESET"));
}

#[test]
fn what_cannot_come_in_is_named() {
    for (file, word) in [
        ("", "nothing"),
        (" \n", "nothing"),
        ("{\"log\":{\"entries\":[]}}", "no entries"),
        ("{\"log\":{\"entries\":[{}]}}", "request"),
        ("{\"log\":", "EOF"),
    ] {
        let error = import(file.into(), None).unwrap_err().to_string();
        assert!(error.contains(word), "{file:?}: {error}");
    }
}
