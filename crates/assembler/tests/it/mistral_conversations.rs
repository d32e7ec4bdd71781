//! Mistral's Conversations: the example of `FORMATS.md` H5b, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse},
    support::{example, fixture, ids, kinds, read, response, value},
};

const NAME: &str = "mistral-conversations";

#[test]
fn examples() {
    example(NAME, "H5b", "sse", &[], "finished");
    example(NAME, "agents", "sse", &[], "finished");
    example(NAME, "calls-mixed", "sse", &[], "finished");
}

/// As the entries are, however their events are mixed.
#[test]
fn calls_are_in_the_order_of_their_indexes() {
    let calls = read(&fixture(NAME, "calls-mixed.sse"), 0).outputs.remove(0).tool_calls;
    let names: Vec<_> = calls.iter().filter_map(|call| call.name.as_deref()).collect();
    assert_eq!(names, ["now", "then"]);
}

#[test]
fn plain_bodies_read_as_their_streams() {
    for name in ["H5b", "agents"] {
        let stream = fixture(NAME, &format!("{name}.sse"));
        plain_as_streamed(&stream, &fixture(NAME, &format!("{name}.json")));
    }
}

const START: &str = r#"{"type":"conversation.response.started","conversation_id":"cv"}"#;
const HI: &str = r#"{"type":"message.output.delta","id":"o","output_index":0,"content_index":0,"role":"assistant","model":"m","content":"Hi"}"#;
const CALL: &str = r#"{"type":"function.call.delta","id":"f","output_index":1,"name":"f","tool_call_id":"c","arguments":"{}"}"#;
const OPEN: &str =
    r#"{"type":"tool.execution.started","id":"x","output_index":1,"name":"s","arguments":"{}"}"#;
const CLOSE: &str = r#"{"type":"tool.execution.done","id":"x","output_index":1,"name":"s"}"#;
const END: &str = r#"{"type":"conversation.response.done","usage":{"total_tokens":1}}"#;

fn with(frames: &[&str]) -> String {
    sse(&[&[START, HI], frames, &[END]].concat())
}

fn of_frames() -> Vec<Row> {
    let good = with(&[]);
    vec![
        ("unknown-event", with(&[r#"{"type":"message.output.done"}"#]), good.clone()),
        ("unknown-event", with(&["[DONE]"]), good.clone()),
        ("unknown-event", with(&["5"]), good.clone()),
        ("no-end", sse(&[START, HI]), good.clone()),
        ("no-start", sse(&[HI, END]), good.clone()),
        ("block-open", with(&[OPEN]), with(&[OPEN, CLOSE])),
        ("block-unstarted", with(&[CLOSE]), with(&[OPEN, CLOSE])),
        (
            "block-unstarted",
            with(&[&CLOSE.replace("done", "delta")]),
            with(&[OPEN, &CLOSE.replace("done", "delta"), CLOSE]),
        ),
        ("block-restarted", with(&[OPEN, OPEN, CLOSE]), with(&[OPEN, CLOSE])),
        ("after-end", format!("{good}{}", sse(&[HI])), good.clone()),
        (
            "event-mismatch",
            format!("event: x\n{good}"),
            format!("event: conversation.response.started\n{good}"),
        ),
        (
            "error-event",
            sse(&[START, HI, r#"{"type":"conversation.response.error","message":"m","code":3}"#]),
            good,
        ),
    ]
}

fn of_fields() -> Vec<Row> {
    let hi = |from: &str, to: &str| with(&[&HI.replace(from, to)]);
    let call = |from: &str, to: &str| with(&[&CALL.replace(from, to)]);
    let head = |from: &str, to: &str| with(&[]).replace(from, to);
    vec![
        ("tool-call-incomplete", call(r#""name":"f","#, ""), with(&[CALL])),
        ("tool-call-incomplete", call(r#""c""#, r#""""#), with(&[CALL])),
        ("arguments-not-json", call("{}", "{"), with(&[CALL])),
        ("arguments-not-json", call("{}", "x"), call("{}", "")),
        ("bad-field", call(r#""{}""#, "1"), call(r#""{}""#, "{}")),
        ("bad-field", hi(r#""Hi""#, "1"), hi(r#""Hi""#, "null")),
        ("bad-field", hi(r#""Hi""#, "[1]"), hi(r#""Hi""#, "[{}]")),
        (
            "bad-field",
            hi(r#""output_index":0"#, r#""output_index":-1"#),
            hi(r#""output_index":0"#, r#""output_index":7"#),
        ),
        (
            "bad-field",
            hi(r#""content_index":0"#, r#""content_index":"0""#),
            hi(r#""content_index":0,"#, ""),
        ),
        ("bad-field", hi(r#""assistant""#, "1"), hi(r#""assistant""#, "null")),
        ("bad-field", head(r#""cv""#, "1"), head(r#""cv""#, "null")),
        ("bad-field", head(r#"{"total_tokens":1}"#, "1"), head(r#"{"total_tokens":1}"#, "null")),
        ("id-changed", with(&[START, &START.replace("cv", "cw")]), with(&[START])),
        (
            "cumulative",
            hi("Hi", "Hi there, you")
                .replace("\"Hi\"", "\"\"")
                .replace(END, &format!("{}\n\ndata: {END}", HI.replace("Hi", "Hi there, you two"))),
            hi("Hi", "Hi there, you").replace("\"Hi\"", "\"\""),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_sse(&with(&[])), of_frames(), of_fields()].concat());
}

#[test]
fn endings() {
    end_badly(&with(&[]));
    for (body, verdict) in [
        (with(&[]), Verdict::Finished),
        (sse(&[HI, END]), Verdict::NotTheWholeStream),
        (with(&[OPEN]), Verdict::NotTheWholeStream),
    ] {
        assert_eq!(read(body.as_bytes(), 0).verdict, verdict, "{body}");
    }
    let error = r#"{"type":"conversation.response.error","message":"full","code":3}"#;
    let reading = read(sse(&[START, HI, error]).as_bytes(), 0);
    let error = reading.error.clone().unwrap();
    assert_eq!((error.message.as_str(), error.code.as_deref()), ("full", Some("3")));
    assert_eq!((error.error_type, reading.verdict), (None, Verdict::DidNotFinish));
}

/// Entries and their content are ordered by index, whatever came first, and several may share one.
#[test]
fn entries_are_ordered_by_index() {
    let first = HI.replace("\"Hi\"", "\"A\"").replace("\"o\"", "\"p\"");
    let body = sse(&[START, &HI.replace("output_index\":0", "output_index\":5"), &first, END]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!(reading.outputs[0].text, "AHi");
    let outputs = response(&reading)["outputs"].take();
    let contents: Vec<&Value> =
        outputs.as_array().unwrap().iter().map(|output| &output["content"]).collect();
    assert_eq!(contents, ["A", "Hi"]);
}

/// Texts at several content indexes are a list; what the provider runs is a part and no call.
#[test]
fn parts() {
    let two = with(&[&HI.replace("content_index\":0", "content_index\":1")]);
    assert_eq!(
        response(&read(two.as_bytes(), 0))["outputs"][0]["content"],
        json!([{"type": "text", "text": "Hi"}, {"type": "text", "text": "Hi"}])
    );
    let reading = read(&fixture(NAME, "agents.sse"), 0);
    assert_eq!(reading.outputs[0].reasoning, "hm");
    let calls: Vec<_> = reading.outputs[0]
        .tool_calls
        .iter()
        .map(|call| (call.name.as_deref(), call.id.as_deref(), &*call.arguments, call.complete))
        .collect();
    assert_eq!(
        calls,
        [(Some("now"), Some("c1"), "{\"z\":1}", true), (Some("then"), Some("c2"), "{}", true)]
    );
    assert_eq!(ids(&reading), [""; 0]);
    let view = value(&reading);
    let parts = kinds(&view["outputs"][0]);
    assert_eq!(
        parts,
        [
            "tool-execution",
            "agent-handoff",
            "reasoning",
            "text",
            "content",
            "tool-call",
            "tool-call"
        ]
    );
    assert_eq!(view["usage"]["total_tokens"], 3);
}
