//! Cohere: the example of `FORMATS.md` H4, its rules one by one, and the older stream of v1.

use serde_json::{Value, json};
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse, told_alone},
    support::{SIZES, example, fixture, ids, kinds, read, response, value},
};

#[test]
fn examples() {
    example("cohere", "H4", "sse", &[], "finished");
    example("cohere", "content", "sse", &[], "finished");
    example("cohere", "v1", "ndjson", &[], "finished");
}

#[test]
fn plain_bodies_read_as_their_streams() {
    for (name, extension) in [("H4", "sse"), ("content", "sse"), ("v1", "ndjson")] {
        let stream = fixture("cohere", &format!("{name}.{extension}"));
        plain_as_streamed(&stream, &fixture("cohere", &format!("{name}.json")));
    }
}

const START: &str =
    r#"{"type":"message-start","id":"m","delta":{"message":{"role":"assistant","content":[]}}}"#;
const OPEN: &str = r#"{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}"#;
const HI: &str =
    r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hi"}}}}"#;
const CLOSE: &str = r#"{"type":"content-end","index":0}"#;
const END: &str = r#"{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}"#;

/// A message with a text, and these frames before its end.
fn with(frames: &[&str]) -> String {
    sse(&[&[START, OPEN, HI, CLOSE], frames, &[END]].concat())
}

/// These frames, inside the text.
fn within(frames: &[&str]) -> String {
    sse(&[&[START, OPEN, HI], frames, &[CLOSE, END]].concat())
}

fn call(arguments: &str) -> String {
    with(&[
        &format!(
            r#"{{"type":"tool-call-start","index":0,"delta":{{"message":{{"tool_calls":{{"id":"t","type":"function","function":{{"name":"f","arguments":{arguments}}}}}}}}}}}"#
        ),
        r#"{"type":"tool-call-end","index":0}"#,
    ])
}

fn of_frames() -> Vec<Row> {
    let good = with(&[]);
    let done = "data: [DONE]\n\n";
    vec![
        ("unknown-event", with(&[r#"{"type":"content-pause"}"#]), with(&[])),
        ("unknown-event", format!("{done}{good}"), format!("{good}{done}")),
        ("unknown-event", with(&["null"]), with(&[])),
        ("no-end", sse(&[START, OPEN, HI, CLOSE]), good.clone()),
        ("no-start", sse(&[OPEN, HI, CLOSE, END]), good.clone()),
        ("block-open", sse(&[START, OPEN, HI, END]), good.clone()),
        (
            "block-unstarted",
            with(&[r#"{"type":"citation-end","index":3}"#]),
            with(&[
                r#"{"type":"citation-start","index":3,"delta":{"message":{"citations":{"start":0}}}}"#,
                r#"{"type":"citation-end","index":3}"#,
            ]),
        ),
        // content and calls are numbered apart
        (
            "block-unstarted",
            within(&[r#"{"type":"tool-call-delta","index":0}"#]),
            within(&[r#"{"type":"content-delta","index":0}"#]),
        ),
    ]
}

fn of_order_and_end() -> Vec<Row> {
    let good = with(&[]);
    let done = "data: [DONE]\n\n";
    vec![
        ("block-restarted", sse(&[START, OPEN, HI, OPEN, HI, CLOSE, END]), good.clone()),
        ("block-restarted", sse(&[START, START, OPEN, HI, CLOSE, END]), good.clone()),
        ("after-end", format!("{good}{done}{done}"), format!("{good}{done}")),
        ("after-end", format!("{good}{}", sse(&[START])), good.clone()),
        ("event-mismatch", format!("event: x\n{good}"), format!("event: message-start\n{good}")),
        (
            "error-event",
            good.replace("COMPLETE\"", "ERROR\",\"error\":\"no\""),
            good.replace("COMPLETE\"", "COMPLETE\",\"error\":\"\""),
        ),
        ("no-finish-reason", good.replace("\"COMPLETE\"", "null"), good.clone()),
        (
            "id-changed",
            good.replace("end\",", "end\",\"id\":\"n\","),
            good.replace("end\",", "end\",\"id\":\"m\","),
        ),
        (
            "cumulative",
            sse(&[
                START,
                OPEN,
                &HI.replace("Hi", "Hi there, you"),
                &HI.replace("Hi", "Hi there, you two"),
                CLOSE,
                END,
            ]),
            sse(&[
                START,
                OPEN,
                &HI.replace("Hi", "Hi there, you"),
                &HI.replace("Hi", " two"),
                CLOSE,
                END,
            ]),
        ),
    ]
}

fn of_fields() -> Vec<Row> {
    let content = |content: &str| {
        within(&[&format!(
            r#"{{"type":"content-delta","index":0,"delta":{{"message":{{"content":{content}}}}}}}"#
        )])
    };
    let start = |field: &str| with(&[]).replace("\"content\":[]", field);
    let end = |field: &str| with(&[]).replace("\"finish_reason\":\"COMPLETE\"", field);
    let delta = |delta: &str| {
        within(&[&format!(r#"{{"type":"content-delta","index":0,"delta":{delta}}}"#)])
    };
    vec![
        ("arguments-not-json", call(r#""{""#), call(r#""{}""#)),
        ("arguments-not-json", call(r#"" x""#), call(r#""""#)),
        ("bad-field", call("{}"), call("null")),
        ("bad-field", content(r#"{"text":1}"#), content(r#"{"text":"1"}"#)),
        ("bad-field", content("[]"), content("{}")),
        ("bad-field", delta("1"), delta("{}")),
        ("bad-field", delta(r#"{"message":"x"}"#), delta(r#"{"message":null}"#)),
        (
            "bad-field",
            within(&[&HI.replace(":0", ":-1")]),
            within(&[&HI.replace("\"index\":0,", "")]),
        ),
        ("bad-field", start(r#""content":1"#), start(r#""content":null"#)),
        ("not-assembled", start(r#""mood":1"#), start(r#""mood":null"#)),
        ("bad-field", start(r#""tool_calls":[1]"#), start(r#""tool_calls":[]"#)),
        ("bad-field", start(r#""tool_plan":1"#), start(r#""tool_plan":"1""#)),
        ("bad-field", with(&[]).replace("\"assistant\"", "1"), with(&[])),
        ("bad-field", with(&[]).replace("\"m\"", "1"), with(&[])),
        (
            "bad-field",
            end(r#""finish_reason":"COMPLETE","usage":1"#),
            end(r#""finish_reason":"COMPLETE","usage":null"#),
        ),
        ("not-assembled", with(&[r#"{"type":"debug","prompt":"x"}"#]), with(&[])),
        ("not-assembled", content(r#"{"thinking":"x"}"#), content(r#"{"thinking":""}"#)),
        ("not-assembled", delta(r#"{"mood":"good"}"#), delta(r#"{"mood":null}"#)),
        (
            "not-assembled",
            delta(r#"{"message":{"mood":"good"}}"#),
            delta(r#"{"message":{"mood":""}}"#),
        ),
        ("not-assembled", with(&[]).replace("\"type\":\"text\"", "\"type\":\"song\""), with(&[])),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone(
        [of_sse(&with(&[])), of_frames(), of_order_and_end(), of_fields(), of_v1()].concat(),
    );
}

/// What a piece of a call has in its function.
#[test]
fn functions_of_calls() {
    let event = |kind: &str, calls: Value| {
        let delta = json!({"message": {"tool_calls": calls}});
        json!({"type": kind, "index": 0, "delta": delta}).to_string()
    };
    let function = json!({"name": "f", "arguments": "{}"});
    let start = event("tool-call-start", json!({"id": "t", "function": function}));
    let piece = |function: Value| {
        let delta = event("tool-call-delta", json!({"function": function}));
        with(&[&start, &delta, r#"{"type":"tool-call-end","index":0}"#])
    };
    let field = "message.tool_calls.function";
    told_alone(vec![
        (
            "bad-field",
            5,
            json!({"field": field, "expected": "an object", "value": "[1]"}),
            piece(json!([1])),
            piece(Value::Null),
        ),
        (
            "not-assembled",
            5,
            json!({"what": format!("{field}.mood")}),
            piece(json!({"mood": "glad"})),
            piece(json!({"mood": null})),
        ),
    ]);
}

#[test]
fn endings() {
    end_badly(&with(&[]));
    for (body, verdict) in [
        (with(&[]), Verdict::Finished),
        (sse(&[OPEN, HI, CLOSE, END]), Verdict::NotTheWholeStream),
        (sse(&[START, OPEN, HI, END]), Verdict::NotTheWholeStream),
        (with(&[]).replace("COMPLETE", "ERROR"), Verdict::DidNotFinish),
        (with(&[]).replace("COMPLETE", "TIMEOUT"), Verdict::Finished),
    ] {
        assert_eq!(read(body.as_bytes(), 0).verdict, verdict, "{body}");
    }
}

/// An error at the end is told with its type, and stays in the response.
#[test]
fn error_at_the_end() {
    let fields = r#"ERROR","usage":{},"error":"no call","error_type":"INVALID_TOOL_GENERATION""#;
    let reading = read(with(&[]).replace("COMPLETE\"", fields).as_bytes(), 0);
    let error = reading.error.clone().unwrap();
    assert_eq!(error.message, "no call");
    assert_eq!(error.error_type.as_deref(), Some("INVALID_TOOL_GENERATION"));
    assert!(error.meaning.is_some());
    assert_eq!(response(&reading)["error_type"], "INVALID_TOOL_GENERATION");
}

/// A block or a message that begins anew replaces what came.
#[test]
fn restarts() {
    let again = HI.replace("Hi", "Ho");
    for frames in [
        vec![START, OPEN, HI, OPEN, &again, CLOSE, END],
        vec![START, OPEN, HI, CLOSE, START, OPEN, &again, CLOSE, END],
    ] {
        let reading = read(sse(&frames).as_bytes(), 0);
        assert_eq!(reading.outputs[0].text, "Ho");
        assert_eq!(
            response(&reading)["message"]["content"],
            json!([{"type": "text", "text": "Ho"}])
        );
        assert_eq!(reading.verdict, Verdict::NotTheWholeStream);
    }
}

/// Indexes order the answer, whatever came first; the plan is no text of it.
#[test]
fn blocks_are_ordered_by_index() {
    let one = |frame: &str| frame.replace("\"index\":0", "\"index\":1");
    let plan = r#"{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"P"}}}"#;
    let later = one(HI).replace("Hi", "you");
    let body = sse(&[START, plan, &one(OPEN), &later, &one(CLOSE), OPEN, HI, CLOSE, END]);
    for size in SIZES {
        let reading = read(body.as_bytes(), size);
        assert_eq!((reading.outputs[0].text.as_str(), ids(&reading)), ("Hiyou", vec![]));
        assert_eq!(
            response(&reading)["message"],
            json!({"role": "assistant", "tool_plan": "P", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "you"}]})
        );
    }
}

#[test]
fn usage_and_parts() {
    let view = value(&read(&fixture("cohere", "content.sse"), 0));
    let usage = &view["usage"];
    assert_eq!(
        json!([
            usage["input_tokens"],
            usage["output_tokens"],
            usage["cached_tokens"],
            usage["reasoning_tokens"]
        ]),
        json!([10, 4, 8, 2])
    );
    assert_eq!(view["outputs"][0]["reasoning"], "hm");
    let kinds = kinds(&view["outputs"][0]);
    assert_eq!(kinds, ["reasoning", "text", "citation"]);
    let finish = &view["outputs"][0]["finish"];
    assert_eq!((&finish["reason"], finish["meaning"].is_string()), (&json!("COMPLETE"), true));
}

const V1: [&str; 3] = [
    r#"{"event_type":"stream-start","generation_id":"g"}"#,
    r#"{"event_type":"text-generation","text":"Hi"}"#,
    r#"{"event_type":"stream-end","finish_reason":"COMPLETE","response":{"text":"Hi","generation_id":"g"}}"#,
];

fn v1(frames: &[&str]) -> String {
    sse(&[&V1[..2], frames, &V1[2..]].concat())
}

fn of_v1() -> Vec<Row> {
    let good = v1(&[]);
    vec![
        ("no-end", sse(&V1[..2]), good.clone()),
        ("no-start", sse(&V1[1..]), good.clone()),
        ("after-end", format!("{good}{}", sse(&V1[1..2])), good.clone()),
        ("no-finish-reason", good.replace("\"COMPLETE\"", "null"), good.clone()),
        (
            "error-event",
            good.replace("COMPLETE", "ERROR_LIMIT"),
            good.replace("COMPLETE", "MAX_TOKENS"),
        ),
        (
            "unknown-event",
            v1(&[r#"{"event_type":"x"}"#]),
            v1(&[r#"{"event_type":"search-results"}"#]),
        ),
        ("not-assembled", v1(&[r#"{"event_type":"debug","prompt":"x"}"#]), v1(&[])),
        (
            "bad-field",
            v1(&[&V1[1].replace("\"Hi\"", "1")]),
            v1(&[&V1[1].replace("\"Hi\"", "\"\"")]),
        ),
        ("bad-field", good.replace("\"g\"}\n", "7}\n"), good.clone()),
        (
            "bad-field",
            v1(&[r#"{"event_type":"tool-calls-chunk","tool_call_delta":1}"#]),
            v1(&[r#"{"event_type":"tool-calls-chunk","tool_call_delta":null}"#]),
        ),
        (
            "bad-field",
            v1(&[r#"{"event_type":"tool-calls-generation","tool_calls":[1]}"#]),
            v1(&[r#"{"event_type":"tool-calls-generation","tool_calls":[]}"#]),
        ),
        (
            "bad-field",
            v1(&[
                r#"{"event_type":"tool-calls-generation","tool_calls":[{"name":"f","parameters":"x"}]}"#,
            ]),
            v1(&[
                r#"{"event_type":"tool-calls-generation","tool_calls":[{"name":"f","parameters":{}}]}"#,
            ]),
        ),
        (
            "bad-field",
            v1(&[r#"{"event_type":"citation-generation","citations":{}}"#]),
            v1(&[r#"{"event_type":"citation-generation","citations":[]}"#]),
        ),
        (
            "bad-field",
            good.replace(r#"{"text":"Hi","generation_id":"g"}"#, "1"),
            good.replace(r#"{"text":"Hi","generation_id":"g"}"#, "null"),
        ),
    ]
}

/// Without its last event the response is what is known of it.
#[test]
fn v1_without_its_end() {
    let body = String::from_utf8(fixture("cohere", "v1.ndjson")).unwrap();
    let cut: String = body.split_inclusive('\n').take(6).collect();
    let reading = read(cut.as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::DidNotFinish, vec!["no-end"]));
    assert_eq!(
        response(&reading),
        json!({"generation_id": "g", "text": "I will add.", "tool_calls": [{"name": "add", "parameters": {"a": 1}}]})
    );
}
