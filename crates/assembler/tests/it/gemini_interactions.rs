//! Gemini Interactions: the example of `FORMATS.md` D2, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::{Verdict, format};

use crate::{
    alike::{Told, sse, told_alone},
    near::{Pair, check},
    support::{example, fixture, ids, read, value},
};

const FORMAT: &str = "gemini-interactions";

#[test]
fn examples() {
    example(FORMAT, "D2A", "sse", &[], "finished");
    example(FORMAT, "steps", "sse", &[], "finished");
    example(FORMAT, "final-steps-only", "sse", &[], "finished");
    example(FORMAT, "final-steps-written-otherwise", "sse", &[], "finished");
}

/// The plain body gives the same reading.
#[test]
fn streams_equal_their_plain_bodies() {
    for name in ["D2A", "steps", "final-steps-only"] {
        let stream = read(&fixture(FORMAT, &format!("{name}.sse")), 0);
        let plain = read(&fixture(FORMAT, &format!("{name}.json")), 0);
        let (got, want) = (value(&plain), value(&stream));
        for key in ["format", "id", "model", "usage", "verdict", "response", "error"] {
            assert_eq!(got[key], want[key], "{name} {key}");
        }
        for key in ["text", "reasoning", "tool_calls", "finish", "role"] {
            assert_eq!(got["outputs"][0][key], want["outputs"][0][key], "{name} {key}");
        }
        assert_eq!(ids(&plain), ids(&stream), "{name}");
    }
}

/// What the steps are in the reading.
#[test]
fn steps() {
    let reading = value(&read(&fixture(FORMAT, "steps.sse"), 0));
    let output = &reading["outputs"][0];
    assert_eq!(output["reasoning"], "Let me think.Done.");
    assert_eq!(output["text"], "See this: nice.");
    let call = json!({"index": 0, "id": "f1", "name": "now", "arguments": "{}", "arguments_valid": true, "complete": true});
    assert_eq!(output["tool_calls"], json!([call]));
    let kinds: Vec<&Value> =
        output["parts"].as_array().unwrap().iter().map(|part| &part["kind"]).collect();
    let want = [
        "reasoning",
        "image",
        "reasoning",
        "provider-tool-call",
        "provider-tool-result",
        "text",
        "image",
        "text",
        "audio",
        "audio",
        "tool-call",
    ];
    assert_eq!(kinds, want);
    assert_eq!(reading["id"], Value::Null);
    let usage = &reading["usage"];
    assert_eq!(
        json!([
            usage["input_tokens"],
            usage["output_tokens"],
            usage["total_tokens"],
            usage["cached_tokens"],
            usage["reasoning_tokens"]
        ]),
        json!([2, 3, 9, 1, 4])
    );
}

fn pair(file: &'static str, id: &'static str, from: &'static str, to: &'static str) -> Pair {
    Pair { file, id, from, to }
}

/// Each finding fires on its fixture and not on the smallest edit of it.
#[test]
fn findings_of_order() {
    let stop = "data: {\"event_type\":\"step.stop\",\"index\":0}\n\n";
    check(
        FORMAT,
        &[
            pair(
                "no-start",
                "no-start",
                "data: ",
                "data: {\"event_type\":\"interaction.created\",\"interaction\":{}}\n\ndata: ",
            ),
            pair(
                "no-end",
                "no-end",
                stop,
                "data: {\"event_type\":\"step.stop\",\"index\":0}\n\ndata: {\"event_type\":\"interaction.completed\",\"interaction\":{}}\n\n",
            ),
            pair(
                "step-open",
                "block-open",
                r#"data: {"event_type":"interaction.completed"#,
                "data: {\"event_type\":\"step.stop\",\"index\":0}\n\ndata: {\"event_type\":\"interaction.completed",
            ),
            pair(
                "step-open",
                "block-open",
                r#""status":"completed""#,
                r#""status":"completed","steps":[{"type":"model_output","content":[{"type":"text","text":"Hi"}]}]"#,
            ),
            pair(
                "step-unstarted",
                "block-unstarted",
                r#"{"event_type":"step.delta","index":1,"delta":{"type":"text","text":"lost"}}"#,
                r#"{"event_type":"interaction.status_update","status":"in_progress"}"#,
            ),
            pair("step-stopped-twice", "block-unstarted", stop, ""),
            pair(
                "step-restarted",
                "block-restarted",
                "\"Hello\"}}\n\ndata: {\"event_type\":\"step.start\",\"index\":0,\"step\":{\"type\":\"model_output\"}}",
                "\"Hello\"}}",
            ),
        ],
    );
}

#[test]
fn findings_of_contents() {
    check(
        FORMAT,
        &[
            pair("arguments", "arguments-not-json", r#"\"SF\""#, r#"\"SF\"}"#),
            pair("result-failed", "tool-failed", r#""is_error":true"#, r#""is_error":false"#),
            pair("incomplete", "incomplete", r#""status":"incomplete""#, r#""status":"cancelled""#),
            pair("failed", "error-event", r#""status":"failed""#, r#""status":"completed""#),
            pair(
                "error",
                "error-event",
                r#"{"event_type":"error","error":{"code":"quota_exceeded","message":"No quota is left."}}"#,
                r#"{"event_type":"interaction.completed","interaction":{}}"#,
            ),
            pair(
                "after-end",
                "after-end",
                r#"data: {"event_type":"interaction.status_update","interaction_id":"i1","status":"completed"}"#,
                "data: [DONE]",
            ),
            pair("mismatch", "event-mismatch", "event: step.stop", "event: step.delta"),
            pair("unknown-delta", "not-assembled", r#""type":"hologram""#, r#""type":"image""#),
            pair(
                "unknown-event",
                "unknown-event",
                r#"{"event_type":"step.paused","index":0}"#,
                r#"{"event_type":"interaction.status_update","status":"in_progress"}"#,
            ),
            pair("final-steps-differ", "done-mismatch", "Helo", "Hello"),
        ],
    );
}

/// A status that is no string, beside the answer.
#[test]
fn a_status_of_another_shape() {
    let body = |status: &str| {
        let update = format!(r#"{{"event_type":"interaction.status_update","status":{status}}}"#);
        let good = String::from_utf8(fixture(FORMAT, "unknown-event.sse")).unwrap();
        good.replace(r#"{"event_type":"step.paused","index":0}"#, &update)
    };
    assert_eq!(ids(&read(body("1").as_bytes(), 0)), ["bad-field"]);
    assert_eq!(ids(&read(body("null").as_bytes(), 0)), [""; 0]);
}

#[test]
fn verdicts() {
    for (file, verdict) in [
        ("no-start", Verdict::NotTheWholeStream),
        ("no-end", Verdict::DidNotFinish),
        ("step-open", Verdict::NotTheWholeStream),
        ("step-unstarted", Verdict::NotTheWholeStream),
        ("step-restarted", Verdict::NotTheWholeStream),
        ("incomplete", Verdict::Finished),
        ("failed", Verdict::DidNotFinish),
        ("error", Verdict::DidNotFinish),
        ("result-failed", Verdict::Finished),
        ("arguments", Verdict::Finished),
        ("final-steps-differ", Verdict::Finished),
    ] {
        let reading = read(&fixture(FORMAT, &format!("{file}.sse")), 0);
        assert_eq!(reading.verdict, verdict, "{file}");
    }
}

/// A step that is opened again replaces the first; final steps replace what the deltas gave.
#[test]
fn what_is_replaced_counts_nowhere() {
    let again = read(&fixture(FORMAT, "step-restarted.sse"), 0);
    assert_eq!(again.outputs[0].text, "Hi");
    assert!(again.findings[0].kind.message().contains("5 bytes"));
    let finals = read(&fixture(FORMAT, "final-steps-differ.sse"), 0);
    assert_eq!(finals.outputs[0].text, "Hello");
    let args = value(&finals)["findings"][0]["args"].clone();
    assert_eq!(args, json!({"what": "the text of step 0", "kept": "Hello", "assembled": "Helo"}));
}

/// A call that the final steps say otherwise keeps its place among the calls.
#[test]
fn calls_stay_in_the_order_of_their_steps() {
    let names = |body: &str| {
        let calls = read(body.as_bytes(), 0).outputs.remove(0).tool_calls;
        calls.into_iter().filter_map(|call| call.name).collect::<Vec<_>>()
    };
    let body = fixture(FORMAT, "final-steps-written-otherwise.sse");
    let body = String::from_utf8(body).unwrap();
    assert_eq!(names(&body), ["w", "v"]);
    assert_eq!(names(&body.replace(r#"{"c":"Reykjav\u00edk"}"#, r#"{"c":"Oslo"}"#)), ["w", "v"]);
    assert_eq!(names(&body.replace(r#"{"c":"Reykjavík"}"#, r#"{"c":"Oslo"}"#)), ["w", "v"]);
}

/// Arguments of a call are text while it is open; a bad one is shown as it came.
#[test]
fn arguments_in_pieces() {
    let reading = read(&fixture(FORMAT, "arguments.sse"), 0);
    let call = &reading.outputs[0].tool_calls[0];
    assert_eq!((call.arguments.as_str(), call.arguments_valid), (r#"{"c":"SF""#, false));
    let response = &value(&reading)["response"];
    assert_eq!(response["steps"][0]["arguments"], r#"{"c":"SF""#);
    let open: String = String::from_utf8(fixture(FORMAT, "arguments.sse")).unwrap();
    let open = open.split("data: ").take(3).collect::<Vec<_>>().join("data: ");
    let call = &read(open.as_bytes(), 0).outputs[0].tool_calls[0].clone();
    assert_eq!((call.arguments.as_str(), call.arguments_valid, call.complete), ("", false, false));
}

/// A field of another shape is named; the rest is read.
#[test]
fn bad_fields() {
    let body = String::from_utf8(fixture(FORMAT, "bad-fields.sse")).unwrap();
    let reading = read(body.as_bytes(), 0);
    assert_eq!(ids(&reading), ["bad-field"; 4]);
    assert_eq!(reading.outputs[0].text, "Hi");
    for (from, to, left) in [
        (
            r#""index":"0""#,
            r#""index":9"#,
            &["bad-field", "bad-field", "bad-field", "block-open"][..],
        ),
        (r#""text":5"#, r#""text":"""#, &["bad-field"; 3]),
        (r#""delta":"x""#, r#""delta":{"type":"text"}"#, &["bad-field"; 3]),
    ] {
        assert_eq!(ids(&read(body.replacen(from, to, 1).as_bytes(), 0)), left, "{to}");
    }
}

/// An interaction of one step: frame 0 creates it, 1 starts the step, then come these deltas, the step's stop and
/// the end.
fn one_step(step: &Value, deltas: &[Value]) -> Vec<Value> {
    let created = json!({"event_type": "interaction.created", "interaction": {"id": "i"}});
    let start = json!({"event_type": "step.start", "index": 0, "step": step});
    let mut frames = vec![created, start];
    let delta = |delta| json!({"event_type": "step.delta", "index": 0, "delta": delta});
    frames.extend(deltas.iter().map(delta));
    frames.push(json!({"event_type": "step.stop", "index": 0}));
    frames.push(json!({"event_type": "interaction.completed", "interaction": {}}));
    frames
}

fn body(frames: &[Value]) -> String {
    sse(&frames.iter().map(Value::to_string).collect::<Vec<_>>())
}

fn bad(field: &str, expected: &str, value: &Value) -> Value {
    json!({"field": field, "expected": expected, "value": value.to_string()})
}

/// An interaction of an empty step, one of its frames with another member.
fn with(frame: usize, key: &str, value: &Value) -> String {
    let mut frames = one_step(&json!({"type": "model_output"}), &[]);
    frames[frame][key] = value.clone();
    body(&frames)
}

fn of_events() -> Vec<Told> {
    let unread = |key: &str, value: Value| {
        let args = json!({"what": key});
        ("not-assembled", 2, args, with(2, key, &value), with(2, key, &Value::Null))
    };
    let interaction = |frame: u64, value: Value, at: usize| {
        let args = bad("interaction", "an object", &value);
        let near = with(at, "interaction", &json!({"id": "i"}));
        ("bad-field", frame, args, with(at, "interaction", &value), near)
    };
    let again = |first: Value| {
        let delta = json!({"type": "text", "text": "Hi"});
        let frames = one_step(&json!({"type": "model_output"}), &[delta]);
        body(&[vec![first], frames].concat())
    };
    let created = json!({"event_type": "interaction.created", "interaction": {"id": "h"}});
    let update = json!({"event_type": "interaction.status_update", "status": "queued"});
    let restarted = json!({"what": "interaction `i`", "replaced": 0});
    vec![
        unread("step_usage", json!({"total_tokens": 1})),
        unread("mood", json!("glad")),
        interaction(0, json!("i"), 0),
        interaction(3, json!([]), 3),
        ("block-restarted", 1, restarted, again(created), again(update)),
    ]
}

/// Token counts come with a step's stop, with any event's metadata, and in the interaction.
fn of_counts() -> Vec<Told> {
    let counts = |frame: u64, value: Value, body: &dyn Fn(&Value) -> String| {
        let args = bad("usage", "an object", &value);
        ("bad-field", frame, args, body(&value), body(&Value::Null))
    };
    vec![
        counts(2, json!(1), &|value| with(2, "usage", value)),
        counts(2, json!("1"), &|value| with(2, "metadata", &json!({"total_usage": value}))),
        counts(3, json!([1]), &|value| with(3, "interaction", &json!({"usage": value}))),
    ]
}

/// The arguments of a call, which are an object or come in pieces.
fn of_arguments() -> Vec<Told> {
    let call = |arguments: &Value| {
        let step = json!({"type": "function_call", "id": "f", "name": "w", "arguments": arguments});
        body(&one_step(&step, &[]))
    };
    let whole = |value: Value, near: Value| {
        let args = bad("step.arguments", "an object", &value);
        ("bad-field", 2, args, call(&value), call(&near))
    };
    let pieces = |kind: &str| {
        let step = json!({"type": kind, "id": "f", "name": "w", "arguments": {}});
        body(&one_step(&step, &[json!({"type": "arguments_delta", "arguments": "{}"})]))
    };
    let unread = json!({"what": "arguments of a model_output step"});
    vec![
        whole(json!("x"), json!({})),
        whole(json!([1]), Value::Null),
        ("not-assembled", 2, unread, pieces("model_output"), pieces("function_call")),
    ]
}

fn of_content() -> Vec<Told> {
    let list = |kind: &str, key: &str, item: Value| {
        let args = bad(&format!("step.{key}[]"), "an object", &item);
        let step = |items: Value| body(&one_step(&json!({"type": kind, key: items}), &[]));
        ("bad-field", 1, args, step(json!([item])), step(json!([])))
    };
    let summary = |content: &Value| {
        let delta = json!({"type": "thought_summary", "content": content});
        body(&one_step(&json!({"type": "thought"}), &[delta]))
    };
    let notes = |annotations: &Value| {
        let delta = json!({"type": "text_annotation_delta", "annotations": annotations});
        body(&one_step(&json!({"type": "model_output"}), &[delta]))
    };
    let (no_item, no_list) = (json!("x"), json!({}));
    vec![
        list("model_output", "content", json!("x")),
        list("thought", "summary", json!(1)),
        (
            "bad-field",
            2,
            bad("delta.content", "an object", &no_item),
            summary(&no_item),
            summary(&json!({"type": "text", "text": "x"})),
        ),
        (
            "bad-field",
            2,
            bad("delta.annotations", "an array", &no_list),
            notes(&no_list),
            notes(&json!([])),
        ),
    ]
}

/// What of an event, a step or a delta is not read, or has another shape than D2.1 says, is named where it comes.
#[test]
fn what_is_not_read_is_named() {
    told_alone([of_events(), of_counts(), of_arguments(), of_content()].concat());
}

/// Every status has a meaning.
#[test]
fn statuses() {
    for known in format(FORMAT).unwrap().reasons {
        let body = json!({"object": "interaction", "status": known.value, "steps": []}).to_string();
        let finish = read(body.as_bytes(), 0).outputs[0].finish.clone().unwrap();
        assert!(finish.meaning.is_some(), "{}", known.value);
    }
}
