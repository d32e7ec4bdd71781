//! Plain, non-streamed bodies: the same reading as the stream they stand for.

use serde_json::{Value, json};
use teeline_assembler::{Reading, Verdict};

use crate::support::{SIZES, fixture, fixtures, ids, read, response, value};

/// What a client takes from a reading. Arguments are compared as values: a plain body has no text for them.
fn taken(reading: &Reading) -> Value {
    let mut all = value(reading);
    for output in all["outputs"].as_array_mut().unwrap() {
        for call in output["tool_calls"].as_array_mut().unwrap() {
            call["arguments"] = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
        }
        output["parts"].take();
    }
    json!([all["format"], all["id"], all["model"], all["outputs"], all["usage"]])
}

fn same(stream: &[u8], plain: &[u8], name: &str) {
    let streamed = read(stream, 0);
    for size in SIZES {
        let reading = read(plain, size);
        assert_eq!(taken(&reading), taken(&streamed), "{name}");
        assert_eq!((reading.framing, reading.verdict), (Some("json"), Verdict::Finished), "{name}");
        assert_eq!(response(&reading), serde_json::from_slice::<Value>(plain).unwrap(), "{name}");
        assert_eq!(
            ids(&reading),
            if name == "C2" { vec!["tool-failed"] } else { vec![] },
            "{name}"
        );
    }
}

#[test]
fn examples_read_the_same_plain_and_streamed() {
    for name in ["C1", "C2", "blocks", "completion"] {
        let file = |extension: &str| fixture("anthropic-messages", &format!("{name}.{extension}"));
        same(&file("sse"), &file("json"), name);
    }
}

#[test]
fn cases_read_the_same_plain_and_streamed() {
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures().join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(expect) = std::fs::read(path.join("expect.json")) else { continue };
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        if expect["format"] == "anthropic" && expect["nonstream"].is_object() {
            let stream = std::fs::read(path.join(expect["input"].as_str().unwrap())).unwrap();
            same(&stream, expect["nonstream"].to_string().as_bytes(), &path.to_string_lossy());
            seen += 1;
        }
    }
    assert!(seen > 8, "the cases are missing");
}

#[test]
fn a_plain_error_is_one() {
    let body = r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#;
    let reading = read(body.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.verdict), (vec!["error-event"], Verdict::DidNotFinish));
    assert_eq!((reading.format, reading.outputs.len()), ("anthropic-messages", 0));
}
