//! AG-UI: the example of `FORMATS.md` H9, and its rules one by one.

mod members;
mod states;

use serde_json::{Value, json};
use teeline_assembler::{Reading, Verdict};

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, sse},
    support::{SIZES, example, fixture, ids, kinds, read, response, value},
};

#[test]
fn examples() {
    example("ag-ui", "H9", "sse", &[], "finished");
    example("ag-ui", "run", "sse", &[], "finished");
}

/// What the client takes. A message that the snapshot has under another id stays where it was streamed.
#[test]
fn outputs_of_a_run() {
    let view = value(&read(&fixture("ag-ui", "run.sse"), 0));
    let output = &view["outputs"][0];
    assert_eq!(output["text"], "Let me 😀 look.Two hits.");
    assert_eq!(output["reasoning"], "Look it up.");
    assert_eq!(
        output["tool_calls"],
        json!([
            {"index": 0, "id": "c1", "name": "find", "arguments": "{\"q\":\"ab\"}", "arguments_valid": true, "complete": true},
            {"index": 1, "id": "c2", "name": "ask", "arguments": "", "arguments_valid": false, "complete": true}
        ])
    );
    let kinds = kinds(output);
    let want = "reasoning text tool-call tool-call tool-result activity text";
    assert_eq!(kinds, want.split(' ').collect::<Vec<_>>());
    assert_eq!((&view["id"], &output["finish"]["reason"]), (&json!("r1"), &json!("success")));
    let usage = &view["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(6), &json!(9)));
    assert_eq!(usage["raw"].as_array().unwrap().len(), 2);
}

/// What a client holds at the end gives the same when it is read as a plain body.
#[test]
fn plain_runs() {
    for name in ["H9", "run"] {
        let stream = value(&read(&fixture("ag-ui", &format!("{name}.sse")), 0));
        for size in SIZES {
            let reading = read(&fixture("ag-ui", &format!("{name}.json")), size);
            assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec![]), "{name}");
            assert_eq!((reading.format, reading.framing), ("ag-ui", Some("json")));
            let view = value(&reading);
            for key in ["text", "reasoning", "tool_calls", "role"] {
                assert_eq!(view["outputs"][0][key], stream["outputs"][0][key], "{name} {key}");
            }
            assert_eq!(view["usage"], stream["usage"]);
        }
    }
}

const START: &str = r#"{"type":"RUN_STARTED","threadId":"t","runId":"r"}"#;
const OPEN: &str = r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#;
const HI: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi"}"#;
const CLOSE: &str = r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#;
const END: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
const CALL: &str = r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}"#;
const CALLED: &str = r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#;

/// A message with a text, and these events before its end.
fn with(events: &[&str]) -> String {
    sse(&[&[START, OPEN, HI, CLOSE], events, &[END]].concat())
}

/// These events, inside the text.
fn within(events: &[&str]) -> String {
    sse(&[&[START, OPEN, HI], events, &[CLOSE, END]].concat())
}

/// An event of this type with these further members.
fn event(kind: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{"type":"{kind}"{comma}{members}}}"#)
}

fn arguments(text: &str) -> String {
    event("TOOL_CALL_ARGS", &format!(r#""toolCallId":"c","delta":"{text}""#))
}

/// Each of these pairs of events has to come as a pair.
fn of_pairs() -> Vec<Row> {
    let thought = r#""messageId":"h""#;
    let mut rows = Vec::new();
    for (start, end) in [
        (event("STEP_STARTED", r#""stepName":"s""#), event("STEP_FINISHED", r#""stepName":"s""#)),
        (event("REASONING_START", thought), event("REASONING_END", thought)),
        (event("REASONING_MESSAGE_START", thought), event("REASONING_MESSAGE_END", thought)),
        (event("THINKING_START", ""), event("THINKING_END", "")),
        (event("THINKING_TEXT_MESSAGE_START", ""), event("THINKING_TEXT_MESSAGE_END", "")),
        (CALL.to_owned(), CALLED.to_owned()),
        (OPEN.replace("\"m\"", "\"n\""), CLOSE.replace("\"m\"", "\"n\"")),
    ] {
        rows.push(("block-open", with(&[&start]), with(&[&start, &end])));
        rows.push(("block-unstarted", with(&[&end]), with(&[&start, &end])));
    }
    rows
}

fn of_order() -> Vec<Row> {
    let good = with(&[]);
    let step = event("STEP_STARTED", r#""stepName":"s""#);
    let stepped = event("STEP_FINISHED", r#""stepName":"s""#);
    let activity =
        event("ACTIVITY_SNAPSHOT", r#""messageId":"a","activityType":"x","content":{"n":1}"#);
    let change = event("ACTIVITY_DELTA", r#""messageId":"a","activityType":"x","patch":[]"#);
    let encrypted = |subtype: &str, id: &str| {
        let members = format!(r#""subtype":"{subtype}","entityId":"{id}","encryptedValue":"e""#);
        event("REASONING_ENCRYPTED_VALUE", &members)
    };
    vec![
        ("unknown-event", with(&[&event("TEXT_MESSAGE_PAUSE", "")]), good.clone()),
        ("unknown-event", with(&["null"]), good.clone()),
        ("no-end", sse(&[START, OPEN, HI, CLOSE]), good.clone()),
        ("no-start", sse(&[OPEN, HI, CLOSE, END]), good.clone()),
        ("no-start", sse(&[OPEN, START, HI, CLOSE, END]), good.clone()),
        ("block-unstarted", with(&[HI]), with(&[OPEN, HI, CLOSE])),
        ("block-unstarted", with(&[&arguments("{}")]), with(&[CALL, &arguments("{}"), CALLED])),
        ("block-unstarted", with(&[&change]), with(&[&activity, &change])),
        (
            "block-unstarted",
            with(&[&encrypted("message", "n")]),
            with(&[&encrypted("message", "m")]),
        ),
        (
            "block-unstarted",
            with(&[CALL, CALLED, &encrypted("tool-call", "m")]),
            with(&[CALL, CALLED, &encrypted("tool-call", "c")]),
        ),
        ("block-restarted", within(&[OPEN]), within(&[CLOSE, OPEN])),
        ("block-restarted", with(&[CALL, CALL, CALLED]), with(&[CALL, CALLED])),
        (
            "block-restarted",
            with(&[&step, &step, &stepped]),
            with(&[&step, &stepped, &step, &stepped]),
        ),
        ("block-restarted", sse(&[START, START, END]), sse(&[START, END, START, END])),
        ("after-end", format!("{good}{}", sse(&[OPEN])), format!("{good}{good}")),
    ]
}

fn of_content() -> Vec<Row> {
    let good = with(&[]);
    let error = event("RUN_ERROR", r#""message":"no","code":"c""#);
    let state = event("STATE_SNAPSHOT", r#""snapshot":{"n":1}"#);
    let delta = |patch: &str| event("STATE_DELTA", &format!(r#""delta":{patch}"#));
    let messages = |text: &str| {
        event(
            "MESSAGES_SNAPSHOT",
            &format!(r#""messages":[{{"id":"m","role":"assistant","content":"{text}"}}]"#),
        )
    };
    let again = |delta: &str| HI.replace("Hi", delta);
    vec![
        ("error-event", sse(&[START, OPEN, HI, CLOSE, &error]), good.clone()),
        ("error-event", sse(&[&error]), good.clone()),
        ("error-event", format!("{good}{}", sse(&[&error])), good.clone()),
        (
            "arguments-not-json",
            with(&[CALL, &arguments("{"), CALLED]),
            with(&[CALL, &arguments("{}"), CALLED]),
        ),
        ("done-mismatch", with(&[&messages("Ho")]), with(&[&messages("Hi")])),
        ("done-mismatch", within(&[&messages("Ho")]), within(&[&messages("Hi")])),
        (
            "bad-field",
            with(&[&state, &delta(r#"[{"op":"remove","path":"/m"}]"#)]),
            with(&[&state, &delta(r#"[{"op":"remove","path":"/n"}]"#)]),
        ),
        (
            "not-assembled",
            with(&[&delta(r#"[{"op":"remove","path":"/n"}]"#)]),
            with(&[&state, &delta(r#"[{"op":"remove","path":"/n"}]"#)]),
        ),
        ("not-assembled", with(&[&event("SUBAGENT_STARTED", r#""name":"x""#)]), good.clone()),
        (
            "cumulative",
            within(&[&again("Hi there, you"), &again("Hi there, you two")]),
            within(&[&again("Hi there, you"), &again(" two")]),
        ),
    ]
}

fn of_fields() -> Vec<Row> {
    let good = with(&[]);
    let chunk = |members: &str| event("TEXT_MESSAGE_CHUNK", members);
    let call = |members: &str| event("TOOL_CALL_CHUNK", members);
    let result = |content: &str| {
        event(
            "TOOL_CALL_RESULT",
            &format!(r#""messageId":"x","toolCallId":"c","content":{content}"#),
        )
    };
    vec![
        ("bad-field", within(&[&HI.replace("\"Hi\"", "1")]), within(&[&HI.replace("Hi", "1")])),
        (
            "bad-field",
            within(&[&event("TEXT_MESSAGE_CONTENT", r#""messageId":"m""#)]),
            within(&[HI]),
        ),
        ("bad-field", within(&[&HI.replace("\"m\"", "null")]), within(&[HI])),
        (
            "bad-field",
            with(&[&CALL.replace(r#","toolCallName":"f""#, ""), CALLED]),
            with(&[CALL, CALLED]),
        ),
        (
            "bad-field",
            with(&[&chunk(r#""delta":"x""#)]),
            with(&[&chunk(r#""messageId":"n","delta":"x""#)]),
        ),
        (
            "bad-field",
            with(&[&call(r#""toolCallName":"f""#)]),
            with(&[&call(r#""toolCallId":"c","toolCallName":"f""#)]),
        ),
        ("bad-field", with(&[&result("1")]), with(&[&result("\"1\"")])),
        (
            "bad-field",
            with(&[&event("MESSAGES_SNAPSHOT", r#""messages":{}"#)]),
            with(&[&event("MESSAGES_SNAPSHOT", r#""messages":[]"#)]),
        ),
        (
            "bad-field",
            with(&[&event("MESSAGES_SNAPSHOT", r#""messages":[1]"#)]),
            with(&[&event("MESSAGES_SNAPSHOT", r#""messages":[]"#)]),
        ),
        ("bad-field", with(&[&event("STEP_STARTED", "")]), good.clone()),
        (
            "not-assembled",
            within(&[&HI.replace("\"Hi\"", "\"\",\"mood\":1")]),
            within(&[&HI.replace("\"Hi\"", "\"\",\"mood\":null")]),
        ),
        ("bad-field", good.replace("\"t\"", "7").replacen('7', "\"t\"", 1), good.clone()),
    ]
}

/// What has to be there and is not.
fn of_absences() -> Vec<Row> {
    let activity = |members: &str| {
        let members = format!(r#""messageId":"a","activityType":"x"{members}"#);
        event("ACTIVITY_SNAPSHOT", &members)
    };
    let patch = |members: &str| {
        let change = event("ACTIVITY_DELTA", &format!(r#""messageId":"a"{members}"#));
        with(&[&activity(r#","content":{}"#), &change])
    };
    let alone = |kind: &str, member: &str| {
        ("bad-field", with(&[&event(kind, "")]), with(&[&event(kind, member)]))
    };
    let result = |members: &str| {
        event("TOOL_CALL_RESULT", &format!(r#""messageId":"x","toolCallId":"c"{members}"#))
    };
    vec![
        alone("STATE_SNAPSHOT", r#""snapshot":{}"#),
        alone("STATE_DELTA", r#""delta":[]"#),
        alone("MESSAGES_SNAPSHOT", r#""messages":[]"#),
        ("bad-field", with(&[&activity("")]), with(&[&activity(r#","content":{}"#)])),
        ("bad-field", patch(""), patch(r#","patch":[]"#)),
        ("bad-field", with(&[&result("")]), with(&[&result(r#","content":"1""#)])),
        (
            "bad-field",
            with(&[&event("TEXT_MESSAGE_CHUNK", r#""messageId":"n","delta":1"#)]),
            with(&[&event("TEXT_MESSAGE_CHUNK", r#""messageId":"n","delta":null"#)]),
        ),
    ]
}

fn of_ends() -> Vec<Row> {
    let finished = |members: &str| {
        sse(&[START, OPEN, HI, CLOSE, &END.replace(r#""r"}"#, &format!(r#""r"{members}}}"#))])
    };
    vec![
        ("bad-field", finished(r#","usage":{}"#), finished(r#","usage":[]"#)),
        ("not-assembled", finished(r#","mood":1"#), finished(r#","metadata":1"#)),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone(
        [
            of_sse(&with(&[])),
            of_pairs(),
            of_order(),
            of_content(),
            of_fields(),
            of_absences(),
            of_ends(),
        ]
        .concat(),
    );
}

#[test]
fn endings() {
    end_badly(&with(&[]));
    let error = event("RUN_ERROR", r#""message":"no""#);
    for (body, verdict) in [
        (with(&[]), Verdict::Finished),
        (sse(&[START, OPEN, HI, CLOSE]), Verdict::DidNotFinish),
        (sse(&[START, OPEN, HI, &error]), Verdict::DidNotFinish),
        (sse(&[OPEN, HI, CLOSE, END]), Verdict::NotTheWholeStream),
        (sse(&[START, OPEN, HI, END]), Verdict::NotTheWholeStream),
        // A second run that does not end.
        (format!("{}{}", with(&[]), sse(&[START])), Verdict::DidNotFinish),
    ] {
        assert_eq!(read(body.as_bytes(), 0).verdict, verdict, "{body}");
    }
    let reading = read(sse(&[START, &error]).as_bytes(), 0);
    assert_eq!(reading.error.as_ref().unwrap().message, "no");
    assert_eq!(reading.error.as_ref().unwrap().error_type, None);
}

fn messages(reading: &Reading) -> Value {
    response(reading)["messages"].clone()
}

/// Chunks end with whatever comes next, and go on under the same id.
#[test]
fn chunks() {
    let chunk = |members: &str| event("TEXT_MESSAGE_CHUNK", members);
    let body = sse(&[
        START,
        &chunk(r#""messageId":"a","role":"assistant","delta":"1""#),
        &chunk(r#""messageId":"b","delta":"2""#),
        &chunk(r#""delta":"3""#),
        &chunk(r#""messageId":"a","delta":"4""#),
        &event("STATE_SNAPSHOT", r#""snapshot":null"#),
        &event("REASONING_MESSAGE_CHUNK", r#""messageId":"h","delta":"5""#),
        END,
    ]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.verdict), (vec![], Verdict::Finished));
    assert_eq!(
        messages(&reading),
        json!([
            {"id": "a", "role": "assistant", "content": "14"},
            {"id": "b", "role": "assistant", "content": "23"},
            {"id": "h", "role": "reasoning", "content": "5"}
        ])
    );
    // Without the end of the run they are whole all the same.
    let cut = body
        .replace("data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n", "");
    assert_eq!(ids(&read(cut.as_bytes(), 0)), ["no-end"]);
}

/// Where calls go: to their parent, to the assistant's newest message, or to one of their own.
#[test]
fn parents_of_calls() {
    let call = |id: &str, parent: &str| {
        let parent = if parent.is_empty() {
            String::new()
        } else {
            format!(r#","parentMessageId":"{parent}""#)
        };
        let members = format!(r#""toolCallId":"{id}","toolCallName":"f"{parent},"delta":"{{}}""#);
        event("TOOL_CALL_CHUNK", &members)
    };
    let result = event("TOOL_CALL_RESULT", r#""messageId":"x","toolCallId":"c1","content":"ok""#);
    let body = with(&[
        &call("c1", ""),
        &result,
        &call("c2", ""),
        &call("c3", "m"),
        &call("c4", "p"),
        &call("c5", "x"),
    ]);
    let all = messages(&read(body.as_bytes(), 0));
    let shape: Vec<Value> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let calls: Vec<&Value> = message["toolCalls"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|call| &call["id"])
                .collect();
            json!([message["id"], calls])
        })
        .collect();
    assert_eq!(
        json!(shape),
        json!([["m", ["c1", "c3"]], ["x", []], ["c2", ["c2"]], ["p", ["c4"]], ["c5", ["c5"]]])
    );
}

/// What somebody else says in the stream is a message and no answer.
#[test]
fn roles() {
    let user = OPEN.replace("assistant", "user").replace("\"m\"", "\"u\"");
    let said = HI.replace("\"m\"", "\"u\"").replace("Hi", "Hello");
    let body = with(&[&user, &said, &CLOSE.replace("\"m\"", "\"u\"")]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!(reading.outputs[0].text, "Hi");
    assert_eq!(messages(&reading)[1], json!({"id": "u", "role": "user", "content": "Hello"}));
}

/// Snapshots: the history is no answer, and what is not named is gone, but for what only clients know.
#[test]
fn snapshots() {
    let snapshot = event(
        "MESSAGES_SNAPSHOT",
        r#""messages":[{"id":"a0","role":"assistant","content":"Old"},{"id":"u","role":"user","content":"?"},{"id":"n","role":"assistant","content":"New","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}]"#,
    );
    let activity =
        event("ACTIVITY_SNAPSHOT", r#""messageId":"act","activityType":"x","content":{}"#);
    let body = with(&[&activity, &snapshot]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!(ids(&reading), [""; 0]);
    assert_eq!(reading.outputs[0].text, "New");
    assert_eq!(reading.outputs[0].tool_calls.len(), 1);
    let order: Vec<_> =
        messages(&reading).as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(order, ["a0", "u", "act", "n"]);
}

/// Arguments that are written anew are the same ones.
#[test]
fn arguments_in_snapshots() {
    let snapshot = |arguments: &str| {
        event(
            "MESSAGES_SNAPSHOT",
            &format!(
                r#""messages":[{{"id":"m","role":"assistant","content":"Hi","toolCalls":[{{"id":"c","type":"function","function":{{"name":"f","arguments":"{arguments}"}}}}]}}]"#
            ),
        )
    };
    for (told, found) in [(r#"{ \"a\": 1.0 }"#, vec![]), (r#"{\"a\":2}"#, vec!["done-mismatch"])] {
        let call = [CALL, &arguments(r#"{\"a\":1}"#), CALLED, &snapshot(told)];
        assert_eq!(ids(&read(with(&call).as_bytes(), 0)), found, "{told}");
    }
}

/// A call that goes on is judged when it is whole.
#[test]
fn calls_that_go_on() {
    let chunk = |delta: &str| {
        event(
            "TOOL_CALL_CHUNK",
            &format!(r#""toolCallId":"c","toolCallName":"f","delta":"{delta}""#),
        )
    };
    let step = event("STATE_SNAPSHOT", r#""snapshot":1"#);
    let found = |more: &str| ids(&read(with(&[&chunk("{}"), &step, &chunk(more)]).as_bytes(), 0));
    assert_eq!((found("x"), found(" ")), (vec!["arguments-not-json"], vec![]));
}

/// A patch that fails changes nothing, an activity's neither.
/// Deprecated reasoning has no ids.
#[test]
fn thinking() {
    let body = with(&[
        &event("THINKING_START", r#""title":null"#),
        &event("THINKING_TEXT_MESSAGE_START", ""),
        &event("THINKING_TEXT_MESSAGE_CONTENT", r#""delta":"hm""#),
        &event("THINKING_TEXT_MESSAGE_END", ""),
        &event("THINKING_END", ""),
    ]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.outputs[0].reasoning.as_str()), (vec![], "hm"));
    assert_eq!(messages(&reading)[1], json!({"role": "reasoning", "content": "hm"}));
}
