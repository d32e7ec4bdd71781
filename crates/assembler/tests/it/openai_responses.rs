//! Responses: the examples of `FORMATS.md` B, and its rules one by one.

mod findings;
mod items;
mod outcome;
mod plain;

use serde_json::{Value, json};
use teeline_assembler::Reading;

use crate::support::{example, fixture, ids, read, response, rows, value};

/// The stream blocks of `FORMATS.md` B give its json blocks, with the findings it names.
#[test]
fn examples() {
    for (name, findings, verdict) in [
        ("B1", &[][..], "finished"),
        ("B2", &["error-event"], "did-not-finish"),
        ("B3", &["no-end", "block-open", "block-open"], "did-not-finish"),
    ] {
        example("openai-responses", name, "sse", findings, verdict);
    }
}

/// B.3: what each of the events does, apart from those that end a response. The items never end by themselves
/// and the final object has no output, so that the events alone make the response.
#[test]
fn every_event() {
    let found = ["tool-failed", "not-assembled", "not-assembled", "tool-failed"];
    example("openai-responses", "every-event", "sse", &found, "finished");
    let reading = value(&read(&fixture("openai-responses", "every-event.sse"), 0));
    let output = &reading["outputs"][0];
    assert_eq!(output["text"], "Hello");
    assert_eq!(output["reasoning"], "Plan");
    assert_eq!(output["refusal"], "No");
    let calls: Vec<Value> = output["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!([call["id"], call["name"], call["arguments"], call["complete"]]))
        .collect();
    assert_eq!(
        json!(calls),
        json!([
            ["c2", "add", "{\"a\":1}", true],
            ["c3", "sh", "ls -a", true],
            ["c10", "shell", "", false],
            ["c12", "apply_patch", "", false],
        ])
    );
    let said: Vec<String> = reading["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect();
    assert!(said[0].contains("`bad` failed: down"), "{said:?}");
    assert!(said[3].contains("`lost` failed: no reason was given"), "{said:?}");
    assert_eq!(
        reading["summary"],
        "Finished: 1 response, 5 characters, 4 tool calls, the final object carried no output."
    );
}

/// What a row says of a frame.
#[test]
fn frame_rows() {
    let body = fixture("openai-responses", "B1.sse");
    let rows: Vec<Value> = rows(&body)
        .iter()
        .map(|row| {
            let row = serde_json::to_value(row).unwrap();
            json!([row["kind"], row["carried"], row["call"], row["snippet"]])
        })
        .collect();
    assert_eq!(
        json!(rows),
        json!([
            ["start", "start, in_progress", null, ""],
            ["control", "output item 0 opened", null, ""],
            ["control", "part added", null, ""],
            ["reasoning", "reasoning +5", null, "Think"],
            ["control", "output item 0 closed", null, ""],
            ["control", "output item 1 opened, role assistant", null, ""],
            ["control", "part added", null, ""],
            ["text", "text +2", null, "Hi"],
            ["control", "annotation", null, ""],
            ["control", "output item 2 opened, tool 0 add", null, ""],
            ["tool", "tool 0 args +5", 0, "{\"a\":"],
            ["tool", "tool 0 args +2", 0, "1}"],
            ["control", "output item 2 closed", null, ""],
            ["control", "output item 1 closed", null, ""],
            ["end", "usage, end, finish completed", null, ""],
        ])
    );
}

/// Events as a server sends them: each with its `event:` line and the next number.
pub(super) fn stream<S: AsRef<str>>(events: &[S]) -> String {
    let mut body = String::new();
    for (number, event) in events.iter().enumerate() {
        let event = event.as_ref();
        let (_, kind) = event.split_once(r#""type":""#).unwrap();
        let (kind, _) = kind.split_once('"').unwrap();
        let rest = event.strip_prefix('{').unwrap();
        body += &format!("event: {kind}\ndata: {{\"sequence_number\":{number},{rest}\n\n");
    }
    body
}

pub(super) const CREATED: &str = r#"{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","model":"m","output":[]}}"#;

/// A final object without an output: what the events built is the answer.
pub(super) const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","model":"m","output":[],"usage":{"total_tokens":1}}}"#;

/// An event about item 0.
pub(super) fn event(kind: &str, fields: &str) -> String {
    format!(r#"{{"type":"response.{kind}","output_index":0,{fields}}}"#)
}

pub(super) fn added(item: &str) -> String {
    event("output_item.added", &format!(r#""item":{item}"#))
}

pub(super) fn done(item: &str) -> String {
    event("output_item.done", &format!(r#""item":{item}"#))
}

/// The final object with this output.
pub(super) fn completed(output: &str) -> String {
    COMPLETED.replace(r#""output":[]"#, &format!(r#""output":{output}"#))
}

/// A stream that begins and ends well around these events.
pub(super) fn whole<S: AsRef<str>>(events: &[S]) -> String {
    let mut all = vec![CREATED];
    all.extend(events.iter().map(AsRef::as_ref));
    all.push(COMPLETED);
    stream(&all)
}

pub(super) fn read_whole<S: AsRef<str>>(events: &[S]) -> Reading {
    read(whole(events).as_bytes(), 0)
}

/// The output that events give, and the findings.
pub(super) fn output<S: AsRef<str>>(events: &[S]) -> (Value, Vec<&'static str>) {
    let reading = read_whole(events);
    (response(&reading)["output"].take(), ids(&reading))
}

pub(super) const MESSAGE: &str = r#"{"id":"i","type":"message","role":"assistant","content":[]}"#;

/// The message with this text.
pub(super) fn message(text: &str) -> String {
    MESSAGE.replace("[]", &format!(r#"[{{"type":"output_text","text":{text}}}]"#))
}

pub(super) fn delta(text: &str) -> String {
    event("output_text.delta", &format!(r#""item_id":"i","content_index":0,"delta":{text}"#))
}
