//! Every finding that can fire in Chat, and the smallest edit with which it does not.

use serde_json::{Value, json};
use teeline_assembler::{Options, Reading, Verdict};
use teeline_finding::{Kind, Severity};

use super::{LAST, delta, done};
use crate::support::{ids, read, read_with, told};

const CHUNK: &str = r#"{"choices":[{"index":0,"delta":{"content":"Hi"}}]}"#;

fn whole(frames: &[&str]) -> String {
    let mut all = vec![CHUNK];
    all.extend(frames);
    all.push(LAST);
    done(&all)
}

fn call(fields: &str) -> String {
    whole(&[&delta(&format!(r#"{{"tool_calls":[{{{fields}}}]}}"#))])
}

/// `(finding, a body in which it is the only one, the nearest body without any)`.
type Row = (&'static str, String, String);

/// What frames are.
fn of_frames() -> Vec<Row> {
    let good = whole(&[]);
    vec![
        ("bom", format!("\u{feff}{good}"), good.clone()),
        ("crlf", good.replace('\n', "\r\n"), good.replacen('\n', "\r\n", 1)),
        ("ignored-line", format!("Data: x\n{good}"), format!("data: {CHUNK}\n\n{good}")),
        ("ignored-line", format!("event: x\n\n{good}"), format!("id: x\n\n{good}")),
        ("not-json", whole(&["oops"]), good.clone()),
        ("not-json", whole(&[""]), good.clone()),
        (
            "not-json",
            whole(&[&format!("{CHUNK}\ndata: {CHUNK}")]),
            whole(&[&format!("{CHUNK}\n\ndata: {CHUNK}")]),
        ),
        ("not-json", good.replace("[DONE]", "[DONE] bye"), good.replace("[DONE]", " [DONE] ")),
        ("unterminated", good.trim_end().to_owned(), good.clone()),
    ]
}

/// What fields are.
fn of_fields() -> Vec<Row> {
    let good = whole(&[]);
    vec![
        ("unknown-event", whole(&[r#"{"id":"x"}"#]), whole(&[r#"{"id":"x","choices":[]}"#])),
        ("unknown-event", whole(&["null"]), whole(&[r#"{"choices":null}"#])),
        ("no-end", good.replace("data: [DONE]\n\n", ""), good.clone()),
        ("bad-field", whole(&[&delta(r#"{"content":1}"#)]), whole(&[&delta(r#"{"content":"1"}"#)])),
        ("bad-field", whole(&[r#"{"choices":1}"#]), whole(&[r#"{"choices":[]}"#])),
        (
            "bad-field",
            whole(&[r#"{"choices":[{"index":-1}]}"#]),
            whole(&[r#"{"choices":[{"index":0}]}"#]),
        ),
        ("after-end", format!("{good}data: {CHUNK}\n\n"), format!("data: {CHUNK}\n\n{good}")),
        ("after-end", format!("{good}data: [DONE]\n\n"), format!("{good}: bye\n\n")),
        (
            "done-mismatch",
            whole(&[r#"{"choices":[{"index":0,"message":{"content":"Ho"}}]}"#]),
            whole(&[r#"{"choices":[{"index":0,"message":{"content":"Hi"}}]}"#]),
        ),
        (
            "not-assembled",
            whole(&[&delta(r#"{"mood":"good"}"#)]),
            whole(&[&delta(r#"{"mood":null}"#)]),
        ),
        (
            "not-assembled",
            whole(&[r#"{"choices":[{"index":0,"delta":{},"text":"x"}]}"#]),
            whole(&[r#"{"choices":[{"index":0,"delta":{}}]}"#]),
        ),
        ("no-finish-reason", good.replace(r#""stop""#, "null"), good.clone()),
        (
            "cumulative",
            whole(&[
                &delta(r#"{"content":"Hi there,"}"#),
                &delta(r#"{"content":"Hi there, how are you"}"#),
            ]),
            whole(&[&delta(r#"{"content":"Hi there,"}"#), &delta(r#"{"content":" how are you"}"#)]),
        ),
        ("usage-missing", good.replace(r#","usage":{"total_tokens":1}"#, ""), good.clone()),
        (
            "usage-missing",
            done(&[CHUNK, &LAST.replace("usage", "cost")]),
            done(&[r#"{"object":"chat.completion.chunk","choices":[]}"#]),
        ),
        (
            "id-changed",
            whole(&[r#"{"id":"a","choices":[]}"#, r#"{"id":"b","choices":[]}"#]),
            whole(&[r#"{"id":"a","choices":[]}"#, r#"{"id":"","choices":[]}"#]),
        ),
    ]
}

/// What has another shape than it should have; null is nothing.
fn of_shapes() -> Vec<Row> {
    let chunk = |fields: &str| whole(&[&format!(r#"{{"choices":[{{"index":0,{fields}}}]}}"#)]);
    let message = |fields: &str| whole(&[&delta(&format!("{{{fields}}}"))]);
    let again = |field: &str| {
        let first = r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#;
        message(&format!(r#""tool_calls":[{first},{{"index":0,{field}}}]"#))
    };
    let bad = |bad: String, near: String| ("bad-field", bad, near);
    vec![
        bad(whole(&[r#"{"choices":["x"]}"#]), whole(&[r#"{"choices":[]}"#])),
        bad(chunk(r#""delta":1"#), chunk(r#""delta":null"#)),
        bad(chunk(r#""finish_reason":1"#), chunk(r#""finish_reason":null"#)),
        bad(chunk(r#""message":1"#), chunk(r#""message":null"#)),
        bad(message(r#""role":1"#), message(r#""role":null"#)),
        bad(message(r#""tool_calls":1"#), message(r#""tool_calls":null"#)),
        bad(message(r#""tool_calls":[1]"#), message(r#""tool_calls":[]"#)),
        bad(again(r#""id":1"#), again(r#""id":null"#)),
        bad(again(r#""function":1"#), again(r#""function":null"#)),
        bad(again(r#""function":{"arguments":1}"#), again(r#""function":{"arguments":null}"#)),
        bad(message(r#""content":[1]"#), message(r#""content":[]"#)),
        bad(whole(&[r#"{"id":1,"choices":[]}"#]), whole(&[r#"{"id":null,"choices":[]}"#])),
        bad(whole(&[r#"{"model":1,"choices":[]}"#]), whole(&[r#"{"model":null,"choices":[]}"#])),
        bad(whole(&[r#"{"created":"","choices":[]}"#]), whole(&[r#"{"created":0,"choices":[]}"#])),
        ("not-assembled", again(r#""function":{"mood":1}"#), again(r#""function":{"mood":null}"#)),
        (
            "not-assembled",
            message(r#""reasoning_content":{}"#),
            message(r#""reasoning_content":null"#),
        ),
    ]
}

/// What calls are.
fn of_calls() -> Vec<Row> {
    vec![
        (
            "tool-call-incomplete",
            call(r#""index":0,"id":"a","function":{"name":null,"arguments":"{}"}"#),
            call(r#""index":0,"id":"a","function":{"name":"f","arguments":"{}"}"#),
        ),
        (
            "tool-call-incomplete",
            call(r#""index":0,"function":{"name":"f","arguments":"{}"}"#),
            call(r#""index":0,"id":"a","function":{"name":"f","arguments":"{}"}"#),
        ),
        (
            "tool-call-no-index",
            call(r#""id":"a","function":{"name":"f","arguments":"{}"}"#),
            call(r#""index":0,"id":"a","function":{"name":"f","arguments":"{}"}"#),
        ),
        (
            "arguments-not-json",
            call(r#""index":0,"id":"a","function":{"name":"f","arguments":"{"}"#),
            call(r#""index":0,"id":"a","function":{"name":"f","arguments":"{}"}"#),
        ),
        (
            "index-reused",
            whole(&[&delta(
                r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]}"#,
            )]),
            whole(&[&delta(
                r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}]}"#,
            )]),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    for (id, bad, near) in [of_frames(), of_fields(), of_shapes(), of_calls()].concat() {
        assert_eq!(ids(&read(bad.as_bytes(), 0)), [id], "{bad}");
        assert_eq!(ids(&read(near.as_bytes(), 0)), [""; 0], "near miss of {id}: {near}");
    }
}

/// The lines of a glued frame are read one by one: each of them is after the end, the frame is not once more.
#[test]
fn glued_after_the_end() {
    let late = format!("{}data: {CHUNK}\ndata: {CHUNK}\n\n", whole(&[]));
    assert_eq!(ids(&read(late.as_bytes(), 0)), ["after-end", "after-end", "not-json"]);
}

/// Findings that come with others, or that say something about the verdict.
#[test]
fn endings() {
    let good = whole(&[]);
    let large = format!("data: \"{}\"\n\n{good}", "x".repeat(1_048_577));
    for (body, verdict, found) in [
        (String::new(), Verdict::Empty, vec!["empty"]),
        (": only\n\n".to_owned(), Verdict::Empty, vec!["empty"]),
        (good.clone(), Verdict::Finished, vec![]),
        (good[..good.len() - 20].to_owned(), Verdict::DidNotFinish, vec!["cut", "no-end"]),
        (format!("data: {CHUNK}\n\n{large}"), Verdict::DidNotFinish, vec!["too-large"]),
        (
            good.replace("[DONE]", r#"{"error":{"message":"m"}}"#),
            Verdict::DidNotFinish,
            vec!["error-event"],
        ),
        (
            good.replace(
                "[DONE]",
                r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#,
            ),
            Verdict::DidNotFinish,
            vec!["mixed", "error-event"],
        ),
        (
            format!("event: message_start\ndata: {{\"type\":\"message_start\"}}\n\n{good}"),
            Verdict::Finished,
            vec!["mixed", "unknown-event"],
        ),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.verdict, ids(&reading)), (verdict, found), "{body:.200}");
    }
}

#[test]
fn sentences_have_the_facts() {
    let message = |reading: &Reading| reading.findings[0].kind.message();
    for (body, want) in [
        (
            whole(&[]).replace("data: [DONE]\n\n", ""),
            "The stream ended without `data: [DONE]`, though every choice has its finish reason.",
        ),
        (
            call(r#""index":2,"function":{"arguments":"{\"a\":1}"}"#),
            "Tool call 2 never received its id and name and was left out; its arguments are `{\"a\":1}`.",
        ),
        (
            whole(&[]).replace(r#""stop""#, "null"),
            "The stream ended and choice 0 has no finish reason.",
        ),
        (
            whole(&[r#"{"choices":[{"index":0,"message":{"content":"Ho"}}]}"#]),
            "The final value of the text of choice 0 is `Ho`, but its deltas gave `Hi`.",
        ),
    ] {
        assert_eq!(message(&read(body.as_bytes(), 0)), want);
    }
}

/// A call without arguments is common; it is told, as a note.
#[test]
fn empty_arguments_are_a_note() {
    let reading =
        read(call(r#""index":0,"id":"a","function":{"name":"f","arguments":""}"#).as_bytes(), 0);
    assert_eq!(
        (ids(&reading), reading.findings[0].severity()),
        (vec!["arguments-not-json"], Severity::Note)
    );
    assert!(matches!(reading.findings[0].kind, Kind::ArgumentsNotJson { empty: true, .. }));
}

/// A finding names its frame, line and offset.
#[test]
fn places() {
    let body = whole(&["oops"]);
    let place = read(body.as_bytes(), 0).findings[0].place;
    assert_eq!(
        (place.frame, place.line, place.offset),
        (Some(1), Some(3), body.find("data: oops").map(|at| at as u64))
    );
}

/// At any text limit: what exceeds it is left out and that is said, frames are read on.
#[test]
fn text_limit() {
    let body = whole(&[&delta(r#"{"content":" and a long text behind it"}"#)]);
    let mut lengths = Vec::new();
    for text_limit in 0..4_000 {
        let reading = read_with(Options { text_limit, ..Options::default() }, body.as_bytes(), 0);
        let text = reading.outputs.first().map_or("", |output| &output.text);
        assert!(["", "Hi", "Hi and a long text behind it"].contains(&text), "{text_limit}: {text}");
        if text.len() > 2 {
            assert_eq!(
                (ids(&reading), reading.verdict),
                (vec![], Verdict::Finished),
                "{text_limit}"
            );
        } else {
            assert!(ids(&reading).contains(&"not-assembled"), "{text_limit}");
        }
        lengths.push(text.len());
    }
    assert!(lengths.is_sorted() && lengths.first() == Some(&0) && lengths.last() == Some(&28));
    lengths.dedup();
    assert_eq!(lengths, [0, 2, 28]);
}

/// A full message counts in reasoning and arguments, too; that deltas gave something else shows at the end, which is
/// no frame (A.3).
#[test]
fn a_full_message_that_differs() {
    let call = |arguments: &str| {
        let function = json!({"name": "f", "arguments": arguments});
        json!([{"index": 0, "id": "c", "type": "function", "function": function}])
    };
    let found = |key: &str, deltas: &Value, last: &Value| {
        let last = json!({"choices": [{"index": 0, "message": {"content": "Hi", key: last}}]});
        told(&read(
            whole(&[&delta(&json!({key: deltas}).to_string()), &last.to_string()]).as_bytes(),
            0,
        ))
    };
    for (key, what, deltas, last, assembled, kept) in [
        (
            "reasoning_content",
            "`reasoning_content` of choice 0",
            json!("Hm"),
            json!("Hmm"),
            "Hm",
            "Hmm",
        ),
        (
            "tool_calls",
            "the arguments of tool call 0 of choice 0",
            call("{}"),
            call("[]"),
            "{}",
            "[]",
        ),
    ] {
        let args = json!({"what": what, "kept": kept, "assembled": assembled});
        assert_eq!(found(key, &deltas, &last), [json!(["done-mismatch", null, args])]);
        assert_eq!(found(key, &deltas, &deltas), [Value::Null; 0], "{key}");
    }
}
