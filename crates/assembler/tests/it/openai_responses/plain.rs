//! Plain, non-streamed bodies: the same reading as the stream they stand for.

use serde_json::{Value, json};
use teeline_assembler::Verdict;

use crate::support::{SIZES, fixture, fixtures, ids, read, response, value};

/// Of a reading what a client takes.
fn taken(body: &[u8], size: usize) -> Value {
    let reading = value(&read(body, size));
    let outputs: Vec<Value> = reading["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|output| {
            let keys = ["index", "role", "text", "reasoning", "refusal", "tool_calls", "finish"];
            keys.map(|key| output[key].clone()).into_iter().collect()
        })
        .collect();
    let keys = ["format", "id", "model", "usage", "error", "response", "verdict"];
    json!([outputs, keys.map(|key| reading[key].clone())])
}

fn same(stream: &[u8], plain: &[u8], name: &str) {
    let streamed = taken(stream, 0);
    for size in SIZES {
        assert_eq!(taken(plain, size), streamed, "{name}");
    }
    let reading = read(plain, 0);
    assert_eq!((reading.framing, ids(&reading)), (Some("json"), vec![]), "{name}");
    assert_eq!(response(&reading), serde_json::from_slice::<Value>(plain).unwrap(), "{name}");
}

#[test]
fn examples_read_the_same_plain_and_streamed() {
    same(&fixture("openai-responses", "B1.sse"), &fixture("openai-responses", "B1.json"), "B1");
}

/// A failed response is read, and is an error.
#[test]
fn a_failed_response_reads_the_same_plain_and_streamed() {
    let (stream, plain) =
        (fixture("openai-responses", "B2.sse"), fixture("openai-responses", "B2.json"));
    assert_eq!(ids(&read(&plain, 0)), ["error-event"]);
    let (mut stream, mut plain) = (taken(&stream, 0), taken(&plain, 0));
    // The `error` event and the object's `error` are two objects of one failure.
    let (first, second) = (stream[1][4].take(), plain[1][4].take());
    assert_eq!((&first["message"], &first["code"]), (&second["message"], &second["code"]));
    assert_eq!(plain, stream);
}

#[test]
fn cases_read_the_same_plain_and_streamed() {
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures().join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(expect) = std::fs::read(path.join("expect.json")) else { continue };
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        if expect["format"] == "responses" && expect["nonstream"].is_object() {
            let stream = std::fs::read(path.join(expect["input"].as_str().unwrap())).unwrap();
            same(&stream, expect["nonstream"].to_string().as_bytes(), &path.to_string_lossy());
            seen += 1;
        }
    }
    assert!(seen > 5, "the cases are missing");
}

/// G.1: no finding of a stream is raised, whatever the stream's rules would say.
#[test]
fn nothing_is_asked_of_a_plain_body() {
    for body in [
        r#"{"object":"response","status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{"}]}"#,
        r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}"#,
        r#"{"object":"response","status":"completed","output":[{"type":"mcp_call","status":"failed","arguments":"","error":"x"}]}"#,
        r#"{"object":"response","status":"queued","output":null}"#,
        r#"{"object":"response"}"#,
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]), "{body}");
        assert_eq!(reading.outputs.len(), 1, "{body}");
    }
}
