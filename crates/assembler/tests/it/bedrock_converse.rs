//! Bedrock Converse: the examples of `FORMATS.md` H6, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::{Options, Reading, Verdict};

use crate::{
    alike::told_alone,
    eventstream::{event, exception, message},
    support::{SIZES, example, fixture, ids, read, read_with, response, value},
};

#[test]
fn examples() {
    for name in ["H6", "blocks"] {
        example("bedrock-converse", name, "eventstream", &[], "finished");
    }
}

/// What the stream is, written as in `FORMATS.md`: event type, then payload.
type Frame = (&'static str, String);

const ROLE: &str = r#"{"role":"assistant"}"#;
const STOP: &str = r#"{"stopReason":"end_turn"}"#;
const USAGE: &str =
    r#"{"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3},"metrics":{"latencyMs":1}}"#;

fn start(index: u64, start: &str) -> Frame {
    ("contentBlockStart", format!(r#"{{"contentBlockIndex":{index},"start":{start}}}"#))
}

fn delta(index: u64, delta: &str) -> Frame {
    ("contentBlockDelta", format!(r#"{{"contentBlockIndex":{index},"delta":{delta}}}"#))
}

fn stop(index: u64) -> Frame {
    ("contentBlockStop", format!(r#"{{"contentBlockIndex":{index}}}"#))
}

fn tool(name: &str) -> Frame {
    start(0, &format!(r#"{{"toolUse":{{"toolUseId":"t","name":"{name}"}}}}"#))
}

fn input(json: &str) -> Frame {
    delta(0, &format!(r#"{{"toolUse":{{"input":{json}}}}}"#))
}

fn text(text: &str) -> Frame {
    delta(0, &format!(r#"{{"text":"{text}"}}"#))
}

fn encode(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(|(name, payload)| event(name, payload)).collect()
}

/// A whole message with these frames in it.
fn whole(frames: &[Frame]) -> Vec<u8> {
    let mut all = vec![("messageStart", ROLE.to_owned())];
    all.extend(frames.iter().cloned());
    all.extend([("messageStop", STOP.to_owned()), ("metadata", USAGE.to_owned())]);
    encode(&all)
}

fn content(reading: &Reading) -> Value {
    response(reading)["output"]["message"]["content"].take()
}

/// Frames of block 0, and the block that they give (H6.2).
#[test]
fn deltas() {
    let tool_use =
        |input: Value| json!({"toolUse": {"toolUseId": "t", "name": "f", "input": input}});
    for (frames, want) in [
        (vec![text("a"), text("b"), stop(0)], json!([{"text": "ab"}])),
        // an empty text block is a stop and nothing else
        (vec![stop(0)], json!([])),
        // a start that says nothing
        (vec![start(0, "{}"), text("a"), stop(0)], json!([{"text": "a"}])),
        (vec![tool("f"), stop(0)], json!([tool_use(json!({}))])),
        (vec![tool("f"), input("\"\""), input("\" \""), stop(0)], json!([tool_use(json!({}))])),
        (
            vec![tool("f"), input(r#""{\"a\"""#), input(r#"": 1}""#), stop(0)],
            json!([tool_use(json!({"a": 1}))]),
        ),
        (
            vec![
                delta(0, r#"{"reasoningContent":{"signature":"c2"}}"#),
                delta(0, r#"{"reasoningContent":{"signature":"ln"}}"#),
                stop(0),
            ],
            json!([{"reasoningContent": {"reasoningText": {"text": "", "signature": "c2ln"}}}]),
        ),
        // base64 that was padded piece by piece
        (
            vec![
                delta(0, r#"{"reasoningContent":{"redactedContent":"SA=="}}"#),
                delta(0, r#"{"reasoningContent":{"redactedContent":"aQ=="}}"#),
                stop(0),
            ],
            json!([{"reasoningContent": {"redactedContent": "SGk="}}]),
        ),
        (
            vec![delta(0, r#"{"image":{"source":{"bytes":"iVBO"}}}"#), stop(0)],
            json!([{"image": {"source": {"bytes": "iVBO"}}}]),
        ),
    ] {
        let reading = read(&whole(&frames), 0);
        assert_eq!(content(&reading), want, "{frames:?}");
        assert_eq!((ids(&reading), reading.verdict), (vec![], Verdict::Finished), "{frames:?}");
    }
}

/// Calls of the client's tools, and those that the provider runs.
#[test]
fn calls() {
    let own = start(1, r#"{"toolUse":{"toolUseId":"s","name":"g","type":"server_tool_use"}}"#);
    let frames = [tool("f"), input(r#""{\"a\": 1}""#), stop(0), own, stop(1)];
    let reading = read(&whole(&frames), 0);
    let [call] = reading.outputs[0].tool_calls.as_slice() else { panic!("one call") };
    assert_eq!((call.id.as_deref(), call.name.as_deref()), (Some("t"), Some("f")));
    assert_eq!((&*call.arguments, call.arguments_valid, call.complete), ("{\"a\": 1}", true, true));
    let parts: Vec<Value> = reading.outputs[0]
        .parts
        .iter()
        .map(|part| serde_json::from_str(part.get()).unwrap())
        .collect();
    assert_eq!(
        (&parts[0]["kind"], &parts[1]["kind"]),
        (&json!("tool-call"), &json!("server-tool-use"))
    );
    assert_eq!((&parts[1]["name"], &parts[1]["text"]), (&json!("g"), &json!("{}")));
}

/// `metadata` comes after `messageStop` as a rule; recorded streams have it before.
#[test]
fn metadata_may_come_early() {
    let early = encode(&[
        ("messageStart", ROLE.to_owned()),
        text("a"),
        stop(0),
        ("metadata", USAGE.to_owned()),
        ("messageStop", STOP.to_owned()),
    ]);
    let (early, late) = (read(&early, 0), read(&whole(&[text("a"), stop(0)]), 0));
    assert_eq!(response(&early), response(&late));
    assert_eq!((ids(&early), ids(&late)), (vec![], vec![]));
    let usage = late.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(1), Some(2), Some(3))
    );
}

/// Interleaved blocks come out by index.
#[test]
fn blocks_by_index() {
    let at = |index, text: &str| delta(index, &format!(r#"{{"text":"{text}"}}"#));
    let reading =
        read(&whole(&[at(1, "c"), at(0, "a"), at(1, "d"), at(0, "b"), stop(0), stop(1)]), 0);
    assert_eq!(content(&reading), json!([{"text": "ab"}, {"text": "cd"}]));
    assert_eq!(reading.outputs[0].text, "abcd");
}

/// Errors are messages of their own type, with a payload or with headers only.
#[test]
fn exceptions() {
    let partial = encode(&[("messageStart", ROLE.to_owned()), text("par")]);
    let error = message(
        &[(":message-type", "error"), (":error-code", "InternalError"), (":error-message", "down")],
        "",
    );
    for (last, words, kind) in [
        (exception("throttlingException", r#"{"message":"slow"}"#), "slow", "throttlingException"),
        (
            exception(
                "modelStreamErrorException",
                r#"{"message":"m","originalStatusCode":500,"originalMessage":"o"}"#,
            ),
            "m",
            "modelStreamErrorException",
        ),
        (error, "down", "InternalError"),
    ] {
        let body = [partial.clone(), last].concat();
        for size in SIZES {
            let reading = read(&body, size);
            assert_eq!(reading.format, "bedrock-converse");
            assert_eq!(
                (ids(&reading), reading.verdict),
                (vec!["error-event"], Verdict::DidNotFinish)
            );
            assert_eq!(reading.outputs[0].text, "par");
            let failure = reading.error.unwrap();
            assert_eq!((&*failure.message, failure.error_type.as_deref()), (words, Some(kind)));
            assert_eq!(failure.meaning.is_some(), kind != "InternalError");
            assert!(failure.raw.get().starts_with('{'));
        }
    }
    // Alone it names no format; the path may.
    let alone = exception("validationException", r#"{"message":"no"}"#);
    assert_eq!(read(&alone, 0).format, "unknown");
    let options = Options { path: Some("/model/x/converse-stream".into()), ..Options::default() };
    let hinted = read_with(options, &alone, 0);
    assert_eq!(
        (hinted.format, ids(&hinted)),
        ("bedrock-converse", vec!["error-event", "no-start"])
    );
}

/// `(finding, a stream in which it is the only one, the nearest without any, the verdict of the first)`.
type Row = (&'static str, Vec<u8>, Vec<u8>, Verdict);

const FINISHED: Verdict = Verdict::Finished;
const PARTIAL: Verdict = Verdict::NotTheWholeStream;

/// What is missing, doubled or too much among the events.
fn of_events() -> Vec<Row> {
    let good = whole(&[text("a"), stop(0)]);
    let (start, stopped) = (event("messageStart", ROLE), event("messageStop", STOP));
    let usage = event("metadata", USAGE);
    let block = encode(&[text("a"), stop(0)]);
    let twice = |index| {
        let second = self::start(index, r#"{"toolUse":{"toolUseId":"u","name":"g"}}"#);
        whole(&[tool("f"), stop(0), second, stop(index)])
    };
    vec![
        ("no-start", [&*block, &stopped, &usage].concat(), good.clone(), PARTIAL),
        ("no-end", [&*start, &block, &usage].concat(), good.clone(), Verdict::DidNotFinish),
        ("block-open", whole(&[text("a")]), good.clone(), PARTIAL),
        ("block-open", whole(&[tool("f")]), whole(&[tool("f"), stop(0)]), PARTIAL),
        (
            "block-unstarted",
            whole(&[input("\"{}\""), stop(0)]),
            whole(&[tool("f"), input("\"{}\""), stop(0)]),
            PARTIAL,
        ),
        (
            "block-unstarted",
            whole(&[text("a"), stop(0), text("b")]),
            whole(&[text("a"), text("b"), stop(0)]),
            PARTIAL,
        ),
        ("block-restarted", twice(0), twice(1), PARTIAL),
        (
            "block-restarted",
            [&*start, &start, &block, &stopped, &usage].concat(),
            good.clone(),
            PARTIAL,
        ),
        ("after-end", [&*good, &start].concat(), [&*good, &usage].concat(), FINISHED),
        (
            "no-finish-reason",
            [&*start, &block, &event("messageStop", "{}"), &usage].concat(),
            good.clone(),
            FINISHED,
        ),
        ("usage-missing", [&*start, &block, &stopped].concat(), good.clone(), FINISHED),
        (
            "unknown-event",
            whole(&[("messagePause", "{}".to_owned())]),
            whole(&[("metadata", "{}".to_owned())]),
            FINISHED,
        ),
        (
            "not-json",
            whole(&[("metadata", "oops".to_owned())]),
            whole(&[("metadata", "{}".to_owned())]),
            FINISHED,
        ),
    ]
}

/// What blocks and fields hold.
fn of_fields() -> Vec<Row> {
    let good = whole(&[text("a"), stop(0)]);
    let only = |frame: Frame| whole(&[frame, stop(0)]);
    let result = |status: &str| {
        let start = format!(r#"{{"toolResult":{{"toolUseId":"t","status":"{status}"}}}}"#);
        whole(&[self::start(0, &start), delta(0, r#"{"toolResult":[{"text":"no"}]}"#), stop(0)])
    };
    let call = |json: &str| whole(&[tool("f"), input(json), stop(0)]);
    let long = |second: &str| whole(&[text("a long start"), text(second), stop(0)]);
    let bad = |bad: Vec<u8>, near: Vec<u8>| ("bad-field", bad, near, FINISHED);
    let odd = |bad: Vec<u8>, near: Vec<u8>| ("not-assembled", bad, near, FINISHED);
    vec![
        ("arguments-not-json", call("\"{\""), call("\"{}\""), FINISHED),
        ("tool-failed", result("error"), result("success"), FINISHED),
        ("cumulative", long("a long start and more"), long(" and more"), FINISHED),
        bad(call("{}"), call("\"{}\"")),
        bad(only(delta(0, r#"{"text":1}"#)), only(text("1"))),
        bad(whole(&[("contentBlockStop", "{}".to_owned())]), good.clone()),
        bad(whole(&[("contentBlockDelta", r#"{"contentBlockIndex":0}"#.to_owned())]), good.clone()),
        bad(whole(&[("contentBlockStart", r#"{"contentBlockIndex":0}"#.to_owned())]), good.clone()),
        bad(whole(&[("metadata", "[]".to_owned())]), whole(&[("metadata", "{}".to_owned())])),
        bad(
            whole(&[("metadata", r#"{"usage":1}"#.to_owned())]),
            whole(&[("metadata", r#"{"usage":null}"#.to_owned())]),
        ),
        odd(only(delta(0, r#"{"sound":{}}"#)), good.clone()),
        odd(whole(&[tool("f"), text("a"), stop(0)]), whole(&[tool("f"), stop(0)])),
        odd(whole(&[start(0, r#"{"hologram":{}}"#), stop(0)]), whole(&[start(0, "{}"), stop(0)])),
        odd(
            only(delta(0, r#"{"reasoningContent":{"mood":"x"}}"#)),
            only(delta(0, r#"{"reasoningContent":{"text":"x"}}"#)),
        ),
        odd(
            only(delta(0, r#"{"image":{"error":{}}}"#)),
            only(delta(0, r#"{"image":{"source":{"bytes":""}}}"#)),
        ),
    ]
}

#[test]
fn each_finding_fires_alone_and_not_beside() {
    for (n, (id, bad, near, verdict)) in [of_events(), of_fields()].concat().into_iter().enumerate()
    {
        let (bad, near) = (read(&bad, 0), read(&near, 0));
        assert_eq!(bad.format, "bedrock-converse", "{n} {id}");
        assert_eq!(ids(&bad), [id], "{n}");
        assert_eq!(bad.verdict, verdict, "{n} {id}");
        assert_eq!((ids(&near), near.verdict), (vec![], Verdict::Finished), "{n} beside {id}");
    }
}

/// A message without a type of its own holds an event under the event's name, or is none.
#[test]
fn messages_without_a_type() {
    let untyped = |payload: &str| {
        let untyped = message(&[(":message-type", "event")], payload);
        let text = encode(&[text("a"), stop(0)]);
        let (start, stopped) = (event("messageStart", ROLE), event("messageStop", STOP));
        [start, text, untyped, stopped, event("metadata", USAGE)].concat()
    };
    let near = untyped(r#"{"metadata":{}}"#);
    let not_an_object =
        |value: &str| json!({"field": "metadata", "expected": "an object", "value": value});
    told_alone(vec![
        (
            "unknown-event",
            3,
            json!({"name": r#"{"mood":1}"#}),
            untyped(r#"{"mood":1}"#),
            near.clone(),
        ),
        ("bad-field", 3, not_an_object("1"), untyped(r#"{"metadata":1}"#), near.clone()),
        ("bad-field", 3, not_an_object("[]"), untyped(r#"{"metadata":[]}"#), near),
    ]);
}

/// A block that no start opened is open only once the message stopped.
#[test]
fn a_cut_stream_has_no_open_text() {
    let cut = encode(&[("messageStart", ROLE.to_owned()), text("a")]);
    assert_eq!(ids(&read(&cut, 0)), ["no-end"]);
    let call = encode(&[("messageStart", ROLE.to_owned()), tool("f")]);
    assert_eq!(ids(&read(&call, 0)), ["no-end", "block-open"]);
}

/// The tool that failed is named as its call names it.
#[test]
fn a_failed_tool_is_named() {
    let own = start(0, r#"{"toolUse":{"toolUseId":"s","name":"g","type":"server_tool_use"}}"#);
    let result = start(1, r#"{"toolResult":{"toolUseId":"s","status":"error"}}"#);
    let said = delta(1, r#"{"toolResult":[{"text":"no luck"}]}"#);
    let reading = read(&whole(&[own, stop(0), result, said, stop(1)]), 0);
    assert_eq!(reading.findings[0].kind.message(), "The tool `g` failed: no luck.");
}

/// Plain bodies give the reading of the streams they stand for.
#[test]
fn plain_bodies() {
    let taken = |reading: &Reading| {
        let mut all = value(reading);
        for call in all["outputs"][0]["tool_calls"].as_array_mut().unwrap() {
            call["arguments"] = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
        }
        all["outputs"][0]["parts"].take();
        json!([all["format"], all["outputs"], all["usage"]])
    };
    for name in ["H6", "blocks"] {
        let file = |extension: &str| fixture("bedrock-converse", &format!("{name}.{extension}"));
        let (plain, streamed) = (read(&file("json"), 0), read(&file("eventstream"), 0));
        assert_eq!(taken(&plain), taken(&streamed), "{name}");
        assert_eq!((plain.framing, plain.verdict), (Some("json"), Verdict::Finished));
        assert_eq!(ids(&plain), [""; 0]);
        assert_eq!(response(&plain), response(&streamed), "{name}");
        let kinds = |reading: &Reading| -> Vec<Value> {
            let parts = reading.outputs[0].parts.iter();
            parts
                .map(|part| serde_json::from_str::<Value>(part.get()).unwrap()["kind"].clone())
                .collect()
        };
        assert_eq!(kinds(&plain), kinds(&streamed), "{name}");
    }
}
