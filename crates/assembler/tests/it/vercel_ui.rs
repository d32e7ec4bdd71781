//! Vercel AI SDK, UI message stream: the example of `FORMATS.md` H8, and its rules one by one.

use serde_json::json;
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, sse},
    support::{SIZES, example, fixture, ids, kinds, read, response, value},
};

#[test]
fn examples() {
    example("vercel-ui", "H8", "sse", &[], "finished");
    example("vercel-ui", "steps", "sse", &[], "finished");
}

/// What the client takes: the calls that the provider runs itself are parts, and those that were reset are
/// gone.
#[test]
fn outputs_of_steps() {
    let view = value(&read(&fixture("vercel-ui", "steps.sse"), 0));
    let output = &view["outputs"][0];
    assert_eq!(output["text"], "Let me 😀 look.Two hits.");
    assert_eq!(output["reasoning"], "Look it up.");
    assert_eq!(
        output["tool_calls"],
        json!([
            {"index": 0, "id": "c1", "name": "find", "arguments": "{\"q\": \"ab\", \"n\": 1.0}", "arguments_valid": true, "complete": true},
            {"index": 1, "id": "c2", "name": "run", "arguments": "{}", "arguments_valid": true, "complete": true}
        ])
    );
    assert_eq!((&view["id"], &output["role"]), (&json!("msg-1"), &json!("assistant")));
    let finish = &output["finish"];
    assert_eq!((&finish["reason"], finish["meaning"].is_string()), (&json!("stop"), true));
    let kinds = kinds(output);
    let want = "step-start reasoning text tool-call tool-call step-start text source source file provider-tool \
                data data";
    assert_eq!(kinds, want.split_whitespace().collect::<Vec<_>>());
}

/// A message as applications store it gives what its stream gave.
#[test]
fn plain_messages() {
    for name in ["H8", "steps"] {
        let stream = value(&read(&fixture("vercel-ui", &format!("{name}.sse")), 0));
        let plain = fixture("vercel-ui", &format!("{name}.json"));
        for size in SIZES {
            let reading = read(&plain, size);
            let view = value(&reading);
            assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]));
            assert_eq!((reading.format, reading.framing), ("vercel-ui", Some("json")));
            for key in ["text", "reasoning", "role"] {
                assert_eq!(view["outputs"][0][key], stream["outputs"][0][key], "{name} {key}");
            }
            for (at, call) in
                stream["outputs"][0]["tool_calls"].as_array().unwrap().iter().enumerate()
            {
                let plain = &view["outputs"][0]["tool_calls"][at];
                assert_eq!((&plain["id"], &plain["name"]), (&call["id"], &call["name"]));
                assert_eq!(plain["complete"], true);
            }
        }
    }
}

const START: &str = r#"{"type":"start","messageId":"u"}"#;
const STEP: &str = r#"{"type":"start-step"}"#;
const OPEN: &str = r#"{"type":"text-start","id":"0"}"#;
const HI: &str = r#"{"type":"text-delta","id":"0","delta":"Hi"}"#;
const CLOSE: &str = r#"{"type":"text-end","id":"0"}"#;
const FINISH: &str = r#"{"type":"finish","finishReason":"stop"}"#;
const DONE: &str = "[DONE]";

/// A message with a text, and these chunks before its end.
fn with(chunks: &[&str]) -> String {
    sse(&[&[START, STEP, OPEN, HI, CLOSE], chunks, &[FINISH, DONE]].concat())
}

/// These chunks, inside the text.
fn within(chunks: &[&str]) -> String {
    sse(&[&[START, STEP, OPEN, HI], chunks, &[CLOSE, FINISH, DONE]].concat())
}

const ASK: &str = r#"{"type":"tool-input-start","toolCallId":"c","toolName":"f"}"#;
const GIVEN: &str = r#"{"type":"tool-input-available","toolCallId":"c","toolName":"f","input":{}}"#;
const RESULT: &str = r#"{"type":"tool-output-available","toolCallId":"c","output":1}"#;

fn arguments(text: &str) -> String {
    format!(r#"{{"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{text}"}}"#)
}

fn of_order() -> Vec<Row> {
    let good = with(&[]);
    vec![
        ("unknown-event", with(&[r#"{"type":"text-pause"}"#]), good.clone()),
        ("unknown-event", with(&["null"]), good.clone()),
        ("unknown-event", with(&[r#"{"type":"tool-input-paused"}"#]), with(&[ASK, GIVEN])),
        ("no-end", sse(&[START, OPEN, HI, CLOSE, FINISH]), good.clone()),
        ("no-start", sse(&[OPEN, HI, CLOSE, FINISH, DONE]), good.clone()),
        ("block-open", sse(&[START, OPEN, HI, FINISH, DONE]), good.clone()),
        (
            "block-open",
            sse(&[START, STEP, OPEN, HI, FINISH, DONE]),
            sse(&[START, STEP, OPEN, HI, r#"{"type":"finish-step"}"#, FINISH, DONE]),
        ),
        ("block-open", with(&[ASK]), with(&[ASK, GIVEN])),
        ("block-unstarted", sse(&[START, HI, FINISH, DONE]), good.clone()),
        ("block-unstarted", with(&[HI]), with(&[OPEN, HI, CLOSE])),
        ("block-unstarted", with(&[CLOSE]), with(&[OPEN, CLOSE])),
        (
            "block-unstarted",
            within(&[r#"{"type":"reasoning-delta","id":"0","delta":""}"#]),
            within(&[r#"{"type":"text-delta","id":"0","delta":""}"#]),
        ),
        ("block-unstarted", with(&[&arguments("{}")]), with(&[ASK, &arguments("{}"), GIVEN])),
        ("block-unstarted", with(&[RESULT]), with(&[GIVEN, RESULT])),
        (
            "block-unstarted",
            with(&[
                GIVEN,
                r#"{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}"#,
                r#"{"type":"tool-approval-response","approvalId":"b","approved":true}"#,
            ]),
            with(&[
                GIVEN,
                r#"{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"}"#,
                r#"{"type":"tool-approval-response","approvalId":"a","approved":true}"#,
            ]),
        ),
        ("block-restarted", within(&[OPEN]), within(&[])),
        ("block-restarted", with(&[ASK, ASK, GIVEN]), with(&[ASK, GIVEN])),
        ("block-restarted", with(&[GIVEN, ASK, GIVEN]), with(&[GIVEN, STEP, ASK, GIVEN])),
        ("after-end", format!("{good}{}", sse(&[STEP])), good.clone()),
        ("after-end", format!("{good}{}", sse(&[DONE])), good.clone()),
    ]
}

fn of_content() -> Vec<Row> {
    let good = with(&[]);
    let error = r#"{"type":"error","errorText":"no"}"#;
    let failed = r#"{"type":"tool-output-error","toolCallId":"c","errorText":"no"}"#;
    let refused = r#"{"type":"tool-input-error","toolCallId":"c","toolName":"f","input":"x","errorText":"no"}"#;
    let again = |delta: &str| HI.replace("Hi", delta);
    let given = |input: &str| GIVEN.replace("{}", input);
    vec![
        ("error-event", with(&[error]), good.clone()),
        ("error-event", sse(&[START, error, DONE]), good.clone()),
        ("error-event", sse(&[START, r#"{"type":"abort"}"#, DONE]), good.clone()),
        ("tool-failed", with(&[GIVEN, failed]), with(&[GIVEN, RESULT])),
        ("tool-failed", with(&[refused]), with(&[GIVEN])),
        ("tool-failed", with(&[refused, failed]), with(&[GIVEN])),
        (
            "arguments-not-json",
            with(&[ASK, &arguments("{"), RESULT]),
            with(&[ASK, &arguments("{}"), RESULT]),
        ),
        (
            "done-mismatch",
            with(&[ASK, &arguments(r#"{\"a\":1}"#), &given(r#"{"a":2}"#)]),
            with(&[ASK, &arguments(r#" { \"a\" :1.0}"#), &given(r#"{"a":1}"#)]),
        ),
        (
            "done-mismatch",
            with(&[ASK, &arguments("{"), GIVEN]),
            with(&[ASK, &arguments("{}"), GIVEN]),
        ),
        (
            "id-changed",
            with(&[r#"{"type":"start","messageId":"v"}"#]),
            with(&[r#"{"type":"start","messageId":"u"}"#]),
        ),
        (
            "cumulative",
            within(&[&again("Hi there, you"), &again("Hi there, you two")]),
            within(&[&again("Hi there, you"), &again(" two")]),
        ),
    ]
}

fn of_fields() -> Vec<Row> {
    let start = |field: &str| with(&[]).replace(r#""messageId":"u""#, field);
    let finish = |reason: &str| with(&[]).replace(r#":"stop""#, reason);
    vec![
        ("bad-field", within(&[&HI.replace("\"Hi\"", "1")]), within(&[&HI.replace("Hi", "1")])),
        ("bad-field", within(&[&HI.replace("\"Hi\"", "null")]), within(&[HI])),
        ("bad-field", within(&[r#"{"type":"text-delta","id":"0"}"#]), within(&[HI])),
        ("bad-field", within(&[&HI.replace("\"0\"", "0")]), within(&[HI])),
        ("bad-field", with(&[r#"{"type":"text-start"}"#]), with(&[OPEN, CLOSE])),
        (
            "bad-field",
            with(&[ASK, r#"{"type":"tool-input-delta","toolCallId":"c"}"#, GIVEN]),
            with(&[ASK, GIVEN]),
        ),
        ("bad-field", with(&[r#"{"type":"tool-input-start","toolName":"f"}"#]), with(&[GIVEN])),
        ("bad-field", with(&[&GIVEN.replace(r#""toolName":"f","#, "")]), with(&[GIVEN])),
        (
            "bad-field",
            with(&[ASK, &arguments("x").replace("\"x\"", "{}"), GIVEN]),
            with(&[ASK, &arguments("{}"), GIVEN]),
        ),
        ("bad-field", with(&[GIVEN, &RESULT.replace(",\"output\":1", "")]), with(&[GIVEN, RESULT])),
        ("bad-field", start(r#""messageId":1"#), start(r#""messageId":null"#)),
        ("bad-field", finish(":1"), finish(":null")),
        (
            "not-assembled",
            within(&[&HI.replace("\"Hi\"", "\"\",\"mood\":\"good\"")]),
            within(&[&HI.replace("\"Hi\"", "\"\",\"mood\":null")]),
        ),
        ("not-assembled", with(&[&GIVEN.replace("{}", "{},\"_meta\":{}")]), with(&[GIVEN])),
        ("not-assembled", start(r#""messageId":"u","mood":1"#), start(r#""messageId":"u""#)),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_sse(&with(&[])), of_order(), of_content(), of_fields()].concat());
}

#[test]
fn endings() {
    end_badly(&with(&[]));
    let error = r#"{"type":"error","errorText":"no"}"#;
    let finish_step = r#"{"type":"finish-step"}"#;
    for (body, verdict) in [
        (with(&[]), Verdict::Finished),
        (sse(&[START, STEP, OPEN, HI, finish_step, FINISH]), Verdict::DidNotFinish),
        (sse(&[OPEN, HI, CLOSE, FINISH, DONE]), Verdict::NotTheWholeStream),
        (with(&[ASK]), Verdict::NotTheWholeStream),
        // The stream goes on after an error, or does not.
        (sse(&[START, error, finish_step, FINISH, DONE]), Verdict::Finished),
        (sse(&[START, error, DONE]), Verdict::DidNotFinish),
        (sse(&[START, error]), Verdict::DidNotFinish),
        (
            sse(&[START, OPEN, HI, r#"{"type":"abort","reason":"user"}"#, DONE]),
            Verdict::DidNotFinish,
        ),
    ] {
        assert_eq!(read(body.as_bytes(), 0).verdict, verdict, "{body}");
    }
}

/// Errors are told with what they say; without an answer there is no response.
#[test]
fn errors() {
    let reading = read(sse(&[r#"{"type":"error","errorText":"no"}"#, DONE]).as_bytes(), 0);
    assert_eq!(reading.error.as_ref().unwrap().message, "no");
    assert_eq!((reading.outputs.len(), response(&reading)), (0, json!(null)));
    let reading = read(sse(&[START, r#"{"type":"abort","reason":"user"}"#, DONE]).as_bytes(), 0);
    let error = reading.error.as_ref().unwrap();
    assert_eq!(error.message, "the answer was aborted: user");
    assert!(error.meaning.is_some());
}

/// A text that begins anew replaces what came; calls of the same id in two steps are two.
#[test]
fn restarts_and_repeats() {
    let reading = read(within(&[OPEN, &HI.replace("Hi", "Ho")]).as_bytes(), 0);
    assert_eq!(
        response(&reading)["parts"],
        json!([{"type": "step-start"}, {"type": "text", "text": "Ho", "state": "done"}])
    );
    let reading = read(with(&[GIVEN, STEP, GIVEN, RESULT]).as_bytes(), 0);
    let states: Vec<_> = response(&reading)["parts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["type"] == "tool-f")
        .map(|part| part["state"].clone())
        .collect();
    assert_eq!(states, ["input-available", "output-available"]);
}

/// An input that the tool could not take is kept apart, unless the tool is dynamic.
#[test]
fn refused_inputs() {
    let refused = |more: &str| {
        let chunk = format!(
            r#"{{"type":"tool-input-error","toolCallId":"c","toolName":"f","input":{{"a":1}},"errorText":"no"{more}}}"#
        );
        let reading = read(with(&[&chunk]).as_bytes(), 0);
        response(&reading)["parts"][2].clone()
    };
    assert_eq!(
        refused(""),
        json!({"type": "tool-f", "toolCallId": "c", "state": "output-error", "rawInput": {"a": 1}, "errorText": "no"})
    );
    assert_eq!(
        refused(",\"dynamic\":true"),
        json!({"type": "dynamic-tool", "toolName": "f", "toolCallId": "c", "state": "output-error", "input": {"a": 1}, "errorText": "no"})
    );
}
