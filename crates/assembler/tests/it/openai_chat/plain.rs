//! Plain, non-streamed bodies: the same reading as the stream they stand for.

use serde_json::{Value, json};
use teeline_assembler::{Options, Reading, Verdict};

use crate::support::{SIZES, fixture, fixtures, ids, read, read_with, response, value};

/// Of two readings what a client takes from them; `""` is as good as nothing.
fn taken(reading: &Reading) -> Value {
    let outputs: Value = reading
        .outputs
        .iter()
        .map(|output| {
            let calls: Value = output
                .tool_calls
                .iter()
                .map(|call| json!([call.id, call.name, call.arguments]))
                .collect();
            let reason = output.finish.as_ref().map(|finish| finish.reason.clone());
            json!([output.index, output.text, output.reasoning, output.refusal, calls, reason])
        })
        .collect();
    let usage: Value = reading
        .usage
        .as_ref()
        .map_or(Value::Null, |usage| serde_json::from_str(usage.raw.get()).unwrap());
    json!([reading.format, reading.id, reading.model, outputs, usage])
}

fn same(stream: &[u8], plain: &[u8], name: &str) {
    let streamed = read(stream, 0);
    for size in SIZES {
        let reading = read(plain, size);
        assert_eq!(taken(&reading), taken(&streamed), "{name}");
        assert_eq!(
            (reading.framing, reading.verdict, ids(&reading)),
            (Some("json"), Verdict::Finished, vec![]),
            "{name}"
        );
        assert_eq!(
            response(&reading),
            serde_json::from_slice::<Value>(plain).unwrap(),
            "{name}: the body is its response"
        );
    }
}

#[test]
fn examples_read_the_same_plain_and_streamed() {
    for name in ["A1", "A2", "A3", "H5"] {
        same(
            &fixture("openai-chat", &format!("{name}.sse")),
            &fixture("openai-chat", &format!("{name}.json")),
            name,
        );
    }
}

#[test]
fn cases_read_the_same_plain_and_streamed() {
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures().join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(expect) = std::fs::read(path.join("expect.json")) else { continue };
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        if expect["format"] == "chat" && expect["nonstream"].is_object() {
            let stream = std::fs::read(path.join(expect["input"].as_str().unwrap())).unwrap();
            same(&stream, expect["nonstream"].to_string().as_bytes(), &path.to_string_lossy());
            seen += 1;
        }
    }
    assert!(seen > 15, "the cases are missing");
}

/// G.1: no finding of a stream is raised, whatever the stream's rules would say.
#[test]
fn nothing_is_asked_of_a_plain_body() {
    let body = r#"{"object":"chat.completion","choices":[{"message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}"#;
    let reading = read(body.as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]));
    let call = &reading.outputs[0].tool_calls[0];
    assert_eq!((call.arguments_valid, call.complete), (false, true));
}

#[test]
fn errors_and_cut_bodies() {
    let chat = || Options { path: Some("/v1/chat/completions".into()), ..Options::default() };
    let error = r#"{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"}}"#;
    for (options, format) in [(chat(), "openai-chat"), (Options::default(), "unknown")] {
        let reading = read_with(options, error.as_bytes(), 0);
        assert_eq!(
            (reading.format, reading.verdict, ids(&reading)),
            (format, Verdict::DidNotFinish, vec!["error-event"])
        );
        assert_eq!(reading.error.as_ref().unwrap().message, "bad key");
        assert!(reading.error.as_ref().unwrap().meaning.as_ref().unwrap().contains("API key"));
        assert_eq!(value(&reading)["response"], Value::Null);
    }
    let json = Options { content_type: Some("application/json".into()), ..chat() };
    let reading = read_with(json, br#"{"object":"chat.completion","choices":[{"mess"#, 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::DidNotFinish, vec!["cut"]));
}
