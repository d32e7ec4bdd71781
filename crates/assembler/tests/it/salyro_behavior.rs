//! Salyro Behavior Run: the example of `FORMATS.md` E, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::{Options, Verdict, format};

use crate::{
    near::{Pair, check},
    support::{example, fixture, ids, read, read_with, value},
};

const FORMAT: &str = "salyro-behavior";

#[test]
fn examples() {
    example(FORMAT, "E1", "sse", &["tool-failed"], "finished");
    example(FORMAT, "types-in-data", "sse", &[], "finished");
}

/// Each finding fires on its fixture and not on the smallest edit of it.
#[test]
fn findings() {
    let pair = |file, id, from, to| Pair { file, id, from, to };
    check(
        FORMAT,
        &[
            pair(
                "no-start",
                "no-start",
                "event: output_text.delta",
                "event: response.started\ndata: {\"behavior\":\"b\",\"version\":1}\n\nevent: output_text.delta",
            ),
            pair(
                "no-end",
                "no-end",
                r#"{"delta":"Hi"}"#,
                "\"Hi\"\n\nevent: response.completed\ndata: {\"usage\":{\"inputTokens\":0,\"outputTokens\":0,\"totalTokens\":0}}",
            ),
            pair(
                "step-open",
                "block-open",
                r#"{"step":2,"output":"x"}"#,
                "{\"step\":2}\n\nevent: tool.completed\ndata: {\"step\":\"s1\"}",
            ),
            pair(
                "step-unstarted",
                "block-unstarted",
                "tool.completed\ndata: {\"step\":\"s1\"}\n\nevent: tool.completed",
                "tool.completed\ndata: {\"step\":\"s1\"}\n\nevent: tool.started\ndata: {\"step\":\"s2\"}\n\nevent: tool.completed",
            ),
            pair(
                "step-restarted",
                "block-restarted",
                r#"{"step":"s1","name":"a"}"#,
                "{\"step\":\"s0\"}\n\nevent: tool.completed\ndata: {\"step\":\"s0\"}",
            ),
            pair("failed-and-told-why", "tool-failed", "tool.failed", "tool.completed"),
            pair(
                "error",
                "error-event",
                "event: error\ndata: {\"message\":\"The run failed.\",\"code\":\"run_failed\"}",
                "event: response.completed\ndata: {\"usage\":{\"inputTokens\":0,\"outputTokens\":0,\"totalTokens\":0}}",
            ),
            pair("mismatch", "event-mismatch", "event: output_text.delta", "event: tool.started"),
            pair("id-differs", "done-mismatch", "run_2", "run_1"),
            pair(
                "unknown-event",
                "unknown-event",
                "event: run.paused\ndata: {\"type\":\"run.paused\"}",
                ": paused",
            ),
            pair("after-end", "after-end", "data: [DONE]", ": done"),
            pair("not-assembled", "not-assembled", r#""logprob":-1"#, r#""logprob":null"#),
        ],
    );
}

/// Verdicts of E.1: without its start or with a step that nothing started it is not the whole stream.
#[test]
fn verdicts() {
    for (file, verdict) in [
        ("E1", Verdict::Finished),
        ("failed-and-told-why", Verdict::Finished),
        ("no-start", Verdict::NotTheWholeStream),
        ("step-open", Verdict::NotTheWholeStream),
        ("step-unstarted", Verdict::NotTheWholeStream),
        ("step-restarted", Verdict::NotTheWholeStream),
        ("no-end", Verdict::DidNotFinish),
        ("error", Verdict::DidNotFinish),
        ("after-end", Verdict::Finished),
    ] {
        let reading = read(&fixture(FORMAT, &format!("{file}.sse")), 0);
        assert_eq!((reading.verdict, reading.outputs.len()), (verdict, 1), "{file}");
    }
}

/// A field of another shape is named, and its value is unknown.
#[test]
fn bad_fields() {
    let body = String::from_utf8(fixture(FORMAT, "bad-fields.sse")).unwrap();
    let reading = read(body.as_bytes(), 0);
    assert_eq!(ids(&reading), ["bad-field"; 4]);
    assert_eq!(reading.verdict, Verdict::Finished);
    let got = value(&reading);
    assert_eq!((&got["usage"], &got["outputs"][0]["text"]), (&Value::Null, &json!("i")));
    assert_eq!(got["response"], json!({"id": "run_1", "output_text": "i", "tools": []}));
    for (from, to) in [
        (r#""behavior":7"#, r#""behavior":"b""#),
        (r#""version":"3""#, r#""version":null"#),
        (r#""version":"3""#, r#""version":3"#),
        (r#"["H"]"#, r#""H""#),
        (r#"{"inputTokens":3}"#, r#"{"inputTokens":3,"outputTokens":2,"totalTokens":5}"#),
    ] {
        let edited = body.replace(from, to);
        assert_eq!(ids(&read(edited.as_bytes(), 0)), ["bad-field"; 3], "{to}");
    }
    for (from, to) in
        [(r#""behavior":7,"#, ""), (r#","version":"3""#, ""), (r#","usage":{"inputTokens":3}"#, "")]
    {
        let reading = read(body.replace(from, to).as_bytes(), 0);
        assert_eq!(ids(&reading), ["bad-field"; 4], "{from}");
        assert!(reading.findings.iter().any(|found| found.kind.message().contains("is missing")));
    }
    for usage in [
        "null",
        "[]",
        "3",
        r#"{"inputTokens":3,"outputTokens":2,"totalTokens":"5"}"#,
        r#"{"inputTokens":3,"outputTokens":2,"totalTokens":-5}"#,
    ] {
        let edited = body.replace(r#"{"inputTokens":3}"#, usage);
        assert_eq!(ids(&read(edited.as_bytes(), 0)), ["bad-field"; 4], "{usage}");
    }
}

/// A failed tool is named, with its reason; a step that came twice is listed twice.
#[test]
fn steps() {
    let failed = value(&read(&fixture(FORMAT, "failed-and-told-why.sse"), 0));
    let args = &failed["findings"][0]["args"];
    assert_eq!((&args["tool"], &args["message"]), (&json!("lookup"), &json!("no such city")));
    let parts = failed["outputs"][0]["parts"].clone();
    assert_eq!((&parts[0]["kind"], &parts[0]["status"]), (&json!("tool"), &json!("failed")));
    assert_eq!(parts[1], json!({"kind": "text", "text": "Hi"}));
    let twice = value(&read(&fixture(FORMAT, "step-restarted.sse"), 0));
    assert_eq!(
        twice["response"]["tools"],
        json!([{"step": "s1", "name": "a", "status": "started"}, {"step": "s1", "name": "b", "status": "completed"}])
    );
}

/// The shape of the plain response is not documented. What the stream gives is read back.
#[test]
fn plain_body() {
    for name in ["E1", "types-in-data"] {
        let options = Options { format: format(FORMAT), ..Options::default() };
        let plain = read_with(options, &fixture(FORMAT, &format!("{name}.json")), 0);
        let stream = value(&read(&fixture(FORMAT, &format!("{name}.sse")), 0));
        let got = value(&plain);
        for key in ["id", "usage", "response"] {
            assert_eq!(got[key], stream[key], "{name} {key}");
        }
        assert_eq!(got["outputs"][0]["text"], stream["outputs"][0]["text"]);
        assert_eq!((plain.verdict, ids(&plain)), (Verdict::Finished, vec![]));
    }
}
