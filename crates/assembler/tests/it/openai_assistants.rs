//! Assistants: the example of `FORMATS.md` H2, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse},
    support::{example, fixture, ids, kinds, read, response, value},
};

/// In `tools` nothing closes the message, so that the deltas alone make it; the steps go on elsewhere.
#[test]
fn examples() {
    example("openai-assistants", "H2", "sse", &[], "finished");
    example("openai-assistants", "tools", "sse", &["block-open"], "not-the-whole-stream");
}

/// What the client has to answer, and what the provider ran.
#[test]
fn calls_and_parts() {
    let reading = value(&read(&fixture("openai-assistants", "tools.sse"), 0));
    let output = &reading["outputs"][0];
    assert_eq!((&output["text"], &output["refusal"]), (&json!("See [a]"), &json!("No")));
    let mut calls: Vec<Value> = output["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| json!([call["id"], call["name"], call["arguments"], call["complete"]]))
        .collect();
    calls.sort_by_key(|call| call[0].to_string());
    assert_eq!(json!(calls), json!([["c2", "add", "{\"a\":1}", true], ["c3", "now", "{}", true]]));
    let kinds = kinds(output);
    assert_eq!(
        kinds,
        [
            "code-interpreter-call",
            "logs",
            "file-search-call",
            "text",
            "refusal",
            "tool-call",
            "tool-call"
        ]
    );
    assert_eq!(output["finish"]["reason"], "requires_action");
    assert_eq!(reading["summary"], "Not the whole stream: 1 run, 7 characters, 2 tool calls.");
}

/// Events by name and data.
fn events(events: &[(&str, &str)]) -> String {
    events.iter().map(|(name, data)| ["event: ", name, "\ndata: ", data, "\n\n"].concat()).collect()
}

const CREATED: (&str, &str) = (
    "thread.message.created",
    r#"{"id":"m","object":"thread.message","role":"assistant","content":[]}"#,
);
const DELTA: (&str, &str) = (
    "thread.message.delta",
    r#"{"id":"m","object":"thread.message.delta","delta":{"content":[{"index":0,"type":"text","text":{"value":"Hi"}}]}}"#,
);
const MESSAGE: (&str, &str) = (
    "thread.message.completed",
    r#"{"id":"m","object":"thread.message","role":"assistant","content":[{"type":"text","text":{"value":"Hi","annotations":[]}}]}"#,
);
const COMPLETED: (&str, &str) =
    ("thread.run.completed", r#"{"id":"r","object":"thread.run","status":"completed"}"#);
const DONE: (&str, &str) = ("done", "[DONE]");

/// A message that comes whole, and these events behind it.
fn with(more: &[(&str, &str)]) -> String {
    events(&[&[CREATED, DELTA, MESSAGE], more, &[COMPLETED, DONE]].concat())
}

/// A step with a call that has these arguments.
fn step(arguments: &str) -> String {
    let call = |arguments: &str| {
        format!(
            r#"{{"index":0,"id":"c","type":"function","function":{{"name":"f","arguments":"{arguments}"}}}}"#
        )
    };
    let created = r#"{"id":"s","object":"thread.run.step","step_details":{"type":"tool_calls","tool_calls":[]}}"#;
    let delta = format!(
        r#"{{"id":"s","object":"thread.run.step.delta","delta":{{"step_details":{{"tool_calls":[{}]}}}}}}"#,
        call(arguments)
    );
    let done = created.replace("[]", &format!("[{}]", call(arguments)));
    with(&[
        ("thread.run.step.created", created),
        ("thread.run.step.delta", &delta),
        ("thread.run.step.completed", &done),
    ])
}

fn rows() -> Vec<Row> {
    let good = with(&[]);
    let edit = |from: &str, to: &str| good.replacen(from, to, 1);
    let incomplete = r#"{"id":"r","object":"thread.run","status":"incomplete","incomplete_details":{"reason":"max_prompt_tokens"}}"#;
    vec![
        ("unknown-event", with(&[("thread.run.paused", "{}")]), with(&[("thread.created", "{}")])),
        ("unknown-event", with(&[("thread.message.created", "1")]), good.clone()),
        ("no-end", edit("event: done\ndata: [DONE]\n\n", ""), edit("event: done\n", "")),
        ("after-end", format!("{good}{}", events(&[COMPLETED])), good.clone()),
        ("after-end", format!("{good}{}", events(&[DONE])), good.clone()),
        (
            "block-open",
            edit("event: thread.message.completed", "event: thread.message.in_progress"),
            edit("event: thread.message.completed", "event: thread.message.incomplete"),
        ),
        (
            "block-unstarted",
            edit(
                r#"{"id":"m","object":"thread.message.delta""#,
                r#"{"id":"n","object":"thread.message.delta""#,
            ),
            good.clone(),
        ),
        ("done-mismatch", edit(r#""value":"Hi"}"#, r#""value":"Ho"}"#), good.clone()),
        ("arguments-not-json", step("{"), step("{}")),
        (
            "incomplete",
            good.replace(COMPLETED.0, "thread.run.incomplete").replace(COMPLETED.1, incomplete),
            good.clone(),
        ),
        (
            "bad-field",
            with(&[("thread.message.created", "{}")]),
            with(&[("thread.message.created", r#"{"id":"m"}"#)]),
        ),
        (
            "bad-field",
            edit(r#""status":"completed"}"#, r#""status":"completed","usage":1}"#),
            good.clone(),
        ),
        ("event-line-missing", edit("event: thread.run.completed\n", ""), good.clone()),
        (
            "id-changed",
            with(&[("thread.run.created", r#"{"id":"q"}"#)]),
            with(&[("thread.run.created", r#"{"id":""}"#)]),
        ),
        (
            "error-event",
            good.replace(COMPLETED.0, "thread.run.failed"),
            good.replace(COMPLETED.0, "thread.run.expired"),
        ),
        (
            "error-event",
            edit("event: done\ndata: [DONE]", "event: error\ndata: {\"message\":\"m\"}"),
            good.clone(),
        ),
    ]
}

/// What deltas have.
fn of_deltas() -> Vec<Row> {
    let delta = |fields: &str| {
        with(&[(
            "thread.message.delta",
            &format!(r#"{{"id":"m","object":"thread.message.delta","delta":{fields}}}"#),
        )])
    };
    vec![
        (
            "cumulative",
            delta(
                r#"{"content":[{"index":1,"text":{"value":"Hi there, how"}},{"index":1,"text":{"value":"Hi there, how are you"}}]}"#,
            ),
            delta(
                r#"{"content":[{"index":1,"text":{"value":"Hi there, how"}},{"index":1,"text":{"value":" are you"}}]}"#,
            ),
        ),
        ("not-assembled", delta(r#"{"mood":1}"#), delta(r#"{"mood":null}"#)),
        ("bad-field", delta("1"), delta("{}")),
        ("bad-field", delta(r#"{"content":1}"#), delta(r#"{"content":null}"#)),
        ("bad-field", delta(r#"{"content":[1]}"#), delta(r#"{"content":[{}]}"#)),
        (
            "bad-field",
            delta(r#"{"content":[{"index":-1}]}"#),
            delta(r#"{"content":[{"index":1}]}"#),
        ),
        (
            "bad-field",
            delta(r#"{"content":[{"text":"x"}]}"#),
            delta(r#"{"content":[{"text":{}}]}"#),
        ),
        (
            "bad-field",
            delta(r#"{"content":[{"text":{"value":1}}]}"#),
            delta(r#"{"content":[{"text":{"value":null}}]}"#),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    let good = with(&[]);
    fire_alone(rows());
    fire_alone(of_deltas());
    fire_alone(of_sse(&good));
    end_badly(&good);
}

/// Each way a run ends: event, fields, reason, words of its meaning, verdict.
#[test]
fn ways_to_end() {
    for (state, fields, reason, meaning, verdict) in [
        ("completed", r#""status":"completed""#, "completed", "natural end", Verdict::Finished),
        ("completed", r#""id":"r""#, "completed", "natural end", Verdict::Finished),
        ("requires_action", r#""id":"r""#, "requires_action", "tools called", Verdict::Finished),
        ("cancelled", r#""id":"r""#, "cancelled", "was cancelled", Verdict::Finished),
        ("expired", r#""id":"r""#, "expired", "too long", Verdict::Finished),
        ("incomplete", r#""id":"r""#, "incomplete", "was cut", Verdict::Finished),
        (
            "incomplete",
            r#""incomplete_details":{"reason":"max_completion_tokens"}"#,
            "incomplete",
            "answer tokens",
            Verdict::Finished,
        ),
        (
            "failed",
            r#""last_error":{"code":"rate_limit_exceeded","message":"slow down"}"#,
            "failed",
            "run failed",
            Verdict::DidNotFinish,
        ),
    ] {
        let (name, data) = (format!("thread.run.{state}"), format!("{{{fields}}}"));
        let body = events(&[CREATED, DELTA, MESSAGE, (&name, &data), DONE]);
        let reading = read(body.as_bytes(), 0);
        let finish = reading.outputs[0].finish.clone().unwrap();
        assert_eq!((&*finish.reason, reading.verdict), (reason, verdict), "{name}");
        assert!(finish.meaning.unwrap().contains(meaning), "{name}");
        assert_eq!(reading.error.is_some(), state == "failed");
    }
}

/// What a failed run closes late is no fault.
#[test]
fn steps_may_close_after_the_run_failed() {
    let failed = ("thread.run.failed", r#"{"id":"r","last_error":{"code":"c","message":"m"}}"#);
    let incomplete = ("thread.message.incomplete", MESSAGE.1);
    let body = events(&[CREATED, DELTA, failed, incomplete, DONE]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.verdict), (vec!["error-event"], Verdict::DidNotFinish));
}

/// The stream that outputs are submitted to begins with the answered step: its calls are answered.
#[test]
fn answered_calls_are_no_calls() {
    let step = |output: &str| {
        format!(
            r#"{{"id":"s","object":"thread.run.step","step_details":{{"tool_calls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":"{{}}","output":{output}}}}}]}}}}"#
        )
    };
    for (output, calls) in [("null", 1), ("\"4\"", 0)] {
        let body = with(&[("thread.run.step.completed", &step(output))]);
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.outputs[0].tool_calls.len(), ids(&reading)), (calls, vec![]));
    }
}

/// A run that waits for calls which no step of the stream has.
#[test]
fn calls_that_only_the_run_names() {
    let run = r#"{"id":"r","object":"thread.run","status":"requires_action","required_action":{"submit_tool_outputs":{"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}}}"#;
    for body in [events(&[("thread.run.requires_action", run), DONE]), run.to_owned()] {
        let reading = read(body.as_bytes(), 0);
        let call = &reading.outputs[0].tool_calls[0];
        assert_eq!(
            (call.id.as_deref(), call.name.as_deref(), &*call.arguments, call.complete),
            (Some("c"), Some("f"), "{}", true)
        );
    }
}

/// Plain bodies: a run, a message. Each is its own response.
#[test]
fn plain_bodies() {
    for (body, text, reason) in [
        (COMPLETED.1.to_owned(), "", Some("completed")),
        (r#"{"id":"r","object":"thread.run","status":"queued"}"#.to_owned(), "", None),
        (MESSAGE.1.to_owned(), "Hi", None),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.format, reading.framing), ("openai-assistants", Some("json")));
        assert_eq!((ids(&reading), reading.verdict), (vec![], Verdict::Finished), "{body}");
        assert_eq!(response(&reading), serde_json::from_str::<Value>(&body).unwrap());
        let output = &reading.outputs[0];
        let got = output.finish.as_ref().map(|finish| &*finish.reason);
        assert_eq!((&*output.text, got), (text, reason), "{body}");
    }
}

/// Usage of the run, in both spellings of its details.
#[test]
fn usage() {
    for details in ["prompt_token_details", "prompt_tokens_details"] {
        let run = format!(
            r#"{{"id":"r","usage":{{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"{details}":{{"cached_tokens":3}}}}}}"#
        );
        let body = events(&[CREATED, MESSAGE, ("thread.run.completed", &run), DONE]);
        let usage = read(body.as_bytes(), 0).usage.unwrap();
        assert_eq!(
            [usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.cached_tokens],
            [5, 2, 7, 3].map(Some)
        );
    }
}
