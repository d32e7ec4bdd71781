//! Anthropic Messages: the examples of `FORMATS.md` C, and its rules one by one.

mod findings;
mod plain;

use serde_json::{Value, json};
use teeline_assembler::{Options, Reading, Verdict, format};

use crate::support::{example, ids, read, read_with, response, rows};

#[test]
fn examples() {
    example("anthropic-messages", "C1", "sse", &[], "finished");
    example("anthropic-messages", "C2", "sse", &["tool-failed"], "finished");
    example("anthropic-messages", "blocks", "sse", &[], "finished");
    example("anthropic-messages", "completion", "sse", &[], "finished");
}

const START: &str = r#"{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#;
const DELTA: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

/// A stream of these data, each under an `event:` line that says its type.
fn sse<S: AsRef<str>>(frames: &[S]) -> String {
    let frame = |data: &S| {
        let json: Value = serde_json::from_str(data.as_ref()).unwrap();
        format!("event: {}\ndata: {}\n\n", json["type"].as_str().unwrap(), data.as_ref())
    };
    frames.iter().map(frame).collect()
}

/// The frames of a block with this index.
fn block(index: u64, start: &str, deltas: &[&str]) -> Vec<String> {
    let mut frames = vec![format!(
        r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#
    )];
    frames.extend(deltas.iter().map(|delta| {
        format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
    }));
    frames.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
    frames
}

/// A whole message with these frames in it.
fn whole<S: AsRef<str>>(frames: &[S]) -> String {
    let mut all = vec![START];
    all.extend(frames.iter().map(AsRef::as_ref));
    all.extend([DELTA, STOP]);
    sse(&all)
}

fn text_block(text: &str) -> Vec<String> {
    let delta = format!(r#"{{"type":"text_delta","text":"{text}"}}"#);
    block(0, r#"{"type":"text","text":""}"#, &[&delta])
}

fn read_whole<S: AsRef<str>>(frames: &[S]) -> Reading {
    read(whole(frames).as_bytes(), 0)
}

/// A block's start and deltas, the block that they give, and what is found (C.3, C.4).
type Row = (&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const BLOCKS: &[Row] = &[
    (
        r#"{"type":"text","text":""}"#,
        &[r#"{"type":"text_delta","text":"a"}"#, r#"{"type":"text_delta","text":"b"}"#],
        r#"{"type":"text","text":"ab"}"#,
        &[],
    ),
    // MiniMax: what came already stands in the start
    (
        r#"{"type":"text","text":"Sure"}"#,
        &[r#"{"type":"text_delta","text":", done"}"#],
        r#"{"type":"text","text":"Sure, done"}"#,
        &[],
    ),
    (
        r#"{"type":"text","text":"","citations":null}"#,
        &[
            r#"{"type":"citations_delta","citation":{"cited_text":"x"}}"#,
            r#"{"type":"citations_delta","citation":{"cited_text":"y"}}"#,
        ],
        r#"{"type":"text","text":"","citations":[{"cited_text":"x"},{"cited_text":"y"}]}"#,
        &[],
    ),
    (
        r#"{"type":"thinking","thinking":"","signature":""}"#,
        &[
            r#"{"type":"thinking_delta","thinking":"hm","estimated_tokens":3}"#,
            r#"{"type":"signature_delta","signature":"c2ln"}"#,
        ],
        r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#,
        &[],
    ),
    // with the display omitted there is a signature only
    (
        r#"{"type":"thinking","thinking":""}"#,
        &[r#"{"type":"signature_delta","signature":"c2ln"}"#],
        r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#,
        &[],
    ),
    // both official SDKs replace
    (
        r#"{"type":"thinking","thinking":"","signature":""}"#,
        &[
            r#"{"type":"signature_delta","signature":"AAA"}"#,
            r#"{"type":"signature_delta","signature":"BBB"}"#,
        ],
        r#"{"type":"thinking","thinking":"","signature":"BBB"}"#,
        &["not-assembled"],
    ),
    (
        r#"{"type":"redacted_thinking","data":"b3Bh"}"#,
        &[],
        r#"{"type":"redacted_thinking","data":"b3Bh"}"#,
        &[],
    ),
    (
        r#"{"type":"compaction","content":null}"#,
        &[
            r#"{"type":"compaction_delta","content":"a","encrypted_content":"e"}"#,
            r#"{"type":"compaction_delta","content":"b","encrypted_content":"f"}"#,
        ],
        r#"{"type":"compaction","content":"ab","encrypted_content":"f"}"#,
        &[],
    ),
    (
        r#"{"type":"compaction","content":null}"#,
        &[r#"{"type":"compaction_delta","content":null}"#],
        r#"{"type":"compaction","content":null}"#,
        &[],
    ),
    (
        r#"{"type":"hologram","beam":[1]}"#,
        &[r#"{"type":"hologram_delta","beam":2}"#, r#"{"type":"text_delta","text":"x"}"#],
        r#"{"type":"hologram","beam":[1]}"#,
        &["not-assembled", "not-assembled"],
    ),
];

#[test]
fn blocks() {
    for (start, deltas, want, found) in BLOCKS {
        let reading = read_whole(&block(0, start, deltas));
        let want: Value = serde_json::from_str(want).unwrap();
        assert_eq!(response(&reading)["content"], json!([want]), "{start} {deltas:?}");
        assert_eq!(ids(&reading), *found, "{start} {deltas:?}");
        assert_eq!(reading.verdict, Verdict::Finished);
    }
}

/// The input rule of C.4: `(input in the start, pieces, input, arguments, valid)`.
#[test]
fn tool_inputs() {
    let piece =
        |json: &str| format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, json!(json));
    for (input, pieces, want, arguments, found) in [
        ("{}", &["", "{\"a\":", " 1}"][..], json!({"a": 1}), "{\"a\": 1}", &[][..]),
        ("{}", &[], json!({}), "{}", &[]),
        ("{}", &["", "  "], json!({}), "{}", &[]),
        (r#"{ "q" : "x" }"#, &[], json!({"q": "x"}), r#"{"q":"x"}"#, &[]),
        (r#"{"q":"x"}"#, &[r#" {"q":"y"} "#], json!({"q": "y"}), r#" {"q":"y"} "#, &[]),
        ("null", &[], json!({}), "{}", &[]),
        ("{}", &["{\"a\":"], json!("{\"a\":"), "{\"a\":", &["arguments-not-json"]),
    ] {
        let deltas: Vec<String> = pieces.iter().map(|json| piece(json)).collect();
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        for kind in ["tool_use", "server_tool_use", "mcp_tool_use"] {
            let start = format!(r#"{{"type":"{kind}","id":"t","name":"f","input":{input}}}"#);
            let reading = read_whole(&block(0, &start, &deltas));
            let block = &response(&reading)["content"][0];
            assert_eq!(
                block,
                &json!({"type": kind, "id": "t", "name": "f", "input": want}),
                "{pieces:?}"
            );
            assert_eq!(ids(&reading), found, "{pieces:?}");
            let calls = &reading.outputs[0].tool_calls;
            if kind == "tool_use" {
                let call = &calls[0];
                assert_eq!((call.id.as_deref(), call.name.as_deref()), (Some("t"), Some("f")));
                assert_eq!(call.arguments, arguments);
                assert_eq!((call.arguments_valid, call.complete), (found.is_empty(), true));
            } else {
                assert!(calls.is_empty(), "the provider runs it");
                let part: Value = serde_json::from_str(reading.outputs[0].parts[0].get()).unwrap();
                assert_eq!(part["kind"], kind.replace('_', "-"));
                assert_eq!((&part["name"], &part["text"]), (&json!("f"), &json!(arguments)));
            }
        }
    }
}

/// A block that is not stopped is not parsed.
#[test]
fn an_open_input_is_raw() {
    let frames = |deltas: &[&str]| {
        let start = r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#;
        let mut frames = block(0, start, deltas);
        frames.pop();
        frames
    };
    let piece = r#"{"type":"input_json_delta","partial_json":"{}"}"#;
    for (deltas, input, arguments, valid) in
        [(&[piece][..], json!("{}"), "{}", true), (&[], json!({}), "", false)]
    {
        let reading = read_whole(&frames(deltas));
        assert_eq!(response(&reading)["content"][0]["input"], input);
        let call = &reading.outputs[0].tool_calls[0];
        assert_eq!((&*call.arguments, call.arguments_valid), (arguments, valid));
        assert!(!call.complete);
        assert_eq!(ids(&reading), ["block-open"]);
        assert_eq!(reading.verdict, Verdict::NotTheWholeStream);
    }
}

/// Blocks may interleave and skip indexes; the answer has them by index.
#[test]
fn blocks_by_index() {
    let (late, early) = (
        block(7, r#"{"type":"text","text":""}"#, &[r#"{"type":"text_delta","text":"b"}"#]),
        block(2, r#"{"type":"text","text":""}"#, &[r#"{"type":"text_delta","text":"a"}"#]),
    );
    let mixed: Vec<String> = late.into_iter().zip(early).flat_map(|(a, b)| [a, b]).collect();
    let reading = read_whole(&mixed);
    assert_eq!(
        response(&reading)["content"],
        json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    );
    assert_eq!((&*reading.outputs[0].text, ids(&reading)), ("ab", vec![]));
}

/// C.5: counters are totals; a trailing delta does not take the reason away.
#[test]
fn later_values_win() {
    let delta =
        |delta: &str, rest: &str| format!(r#"{{"type":"message_delta","delta":{delta}{rest}}}"#);
    let frames = [
        START.to_owned(),
        delta(
            r#"{"stop_reason":"stop_sequence","stop_sequence":"X","stop_details":{"a":1},"container":{"id":"c"}}"#,
            r#","usage":{"input_tokens":20,"cache_read_input_tokens":null,"output_tokens":5,"server_tool_use":{"web_search_requests":1}},"context_management":{"applied_edits":[]}"#,
        ),
        delta(
            r#"{"stop_reason":null,"stop_sequence":null,"container":null}"#,
            r#","usage":{"output_tokens":7,"cache_read_input_tokens":3,"output_tokens_details":{"thinking_tokens":2}}"#,
        ),
        STOP.to_owned(),
    ];
    let reading = read(sse(&frames).as_bytes(), 0);
    assert_eq!(ids(&reading), [""; 0]);
    assert_eq!(
        response(&reading),
        json!({
            "id": "m1", "type": "message", "role": "assistant", "model": "claude-x", "content": [],
            "stop_reason": "stop_sequence", "stop_sequence": "X",
            "usage": {"input_tokens": 20, "output_tokens": 7, "cache_read_input_tokens": 3,
                "server_tool_use": {"web_search_requests": 1}, "output_tokens_details": {"thinking_tokens": 2}},
            "stop_details": {"a": 1}, "container": {"id": "c"}, "context_management": {"applied_edits": []},
        })
    );
    let usage = reading.usage.unwrap();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(20), Some(7), None)
    );
    assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (Some(3), Some(2)));
    let finish = reading.outputs[0].finish.as_ref().unwrap();
    assert_eq!(finish.reason, "stop_sequence");
    assert!(finish.meaning.is_some() && finish.source.is_some());
}

/// C.2: a second start replaces what came before it.
#[test]
fn a_second_start_starts_over() {
    let second = START.replace("m1", "m2").replace(r#""input_tokens":9,"#, "");
    let mut frames = text_block("old");
    frames.push(second);
    frames.extend(text_block("new"));
    let reading = read_whole(&frames);
    assert_eq!(ids(&reading), ["block-restarted"]);
    assert_eq!(
        reading.findings[0].kind.message(),
        "message `m2` was opened again; the later one replaced 3 bytes."
    );
    assert_eq!(reading.id.as_deref(), Some("m2"));
    assert_eq!(reading.outputs[0].text, "new");
    let response = response(&reading);
    assert_eq!(response["id"], "m2");
    assert_eq!(response["content"], json!([{"type": "text", "text": "new"}]));
    assert_eq!(response["usage"], json!({"output_tokens": 5}));
    assert_eq!(reading.verdict, Verdict::NotTheWholeStream);
}

/// C.4: a fallback block says which model goes on.
#[test]
fn a_fallback_changes_the_model() {
    let start = r#"{"type":"fallback","from":{"model":"claude-x"},"to":{"model":"claude-y"}}"#;
    let reading = read_whole(&block(0, start, &[]));
    assert_eq!(reading.model.as_deref(), Some("claude-y"));
    assert_eq!(response(&reading)["model"], "claude-y");
    assert_eq!(ids(&reading), [""; 0]);
}

/// Bedrock's metrics and other fields beside the events' own are kept beside the message.
#[test]
fn fields_beside_the_events_are_carried() {
    let stop = r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":9},"id":"other"}"#;
    let reading = read(sse(&[START, DELTA, stop]).as_bytes(), 0);
    let response = response(&reading);
    assert_eq!(response["amazon-bedrock-invocationMetrics"], json!({"inputTokenCount": 9}));
    assert_eq!(response["id"], "m1");
    assert_eq!(ids(&reading), [""; 0]);
}

/// C.6: without its start a message has what came.
#[test]
fn without_a_start() {
    let mut frames = text_block("a");
    frames.extend([DELTA.to_owned(), STOP.to_owned()]);
    let reading = read(sse(&frames).as_bytes(), 0);
    assert_eq!(
        response(&reading),
        json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "a"}],
            "stop_reason": "end_turn", "stop_sequence": null, "usage": {"output_tokens": 5}})
    );
    assert_eq!(ids(&reading), ["no-start"]);
    assert_eq!(reading.verdict, Verdict::NotTheWholeStream);
}

/// C.7: errors before, in and instead of an answer.
#[test]
fn errors() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}"#;
    let mut frames = vec![START.to_owned()];
    frames.extend(text_block("par"));
    frames.push(error.to_owned());
    let reading = read(sse(&frames).as_bytes(), 0);
    assert_eq!((ids(&reading), reading.verdict), (vec!["error-event"], Verdict::DidNotFinish));
    assert_eq!(reading.outputs[0].text, "par");
    let failure = reading.error.unwrap();
    assert_eq!(
        (&*failure.message, failure.error_type.as_deref()),
        ("Overloaded", Some("overloaded_error"))
    );
    assert!(failure.meaning.unwrap().contains("overloaded"));

    let alone = read(sse(&[error]).as_bytes(), 0);
    assert_eq!(ids(&alone), ["error-event", "no-start"]);
    assert_eq!((alone.format, alone.outputs.len()), ("anthropic-messages", 0));
    assert!(alone.response.is_none());
}

/// Pings and `vertex_event`s carry nothing, wherever they stand.
#[test]
fn pings_and_vertex_events_are_dropped() {
    let (ping, vertex) =
        (r#"{"type":"ping"}"#, r#"{"type":"vertex_event","usage":{"input_tokens":99}}"#);
    let mut frames = vec![ping.to_owned(), START.to_owned(), ping.to_owned()];
    frames.extend(text_block("a"));
    frames.extend([vertex, DELTA, STOP, ping, vertex].map(str::to_owned));
    let with = read(sse(&frames).as_bytes(), 0);
    let without = read_whole(&text_block("a"));
    assert_eq!(response(&with), response(&without));
    assert_eq!((ids(&with), with.verdict), (vec![], Verdict::Finished));
    let rows = rows(sse(&frames).as_bytes());
    let kinds: Vec<&str> =
        rows.iter().filter_map(|row| row.effect.as_ref()).map(|row| row.kind).collect();
    assert_eq!(kinds[1..5], ["start", "keep-alive", "control", "text"]);
    assert_eq!(kinds[5..], ["control", "control", "usage", "end", "keep-alive", "control"]);
}

/// C.10: before 2023-06-01 a completion was cumulative, had no type and no event line, and `[DONE]` followed.
#[test]
fn old_completions_are_cumulative() {
    let texts =
        [" Hello", " Hello there,", " Hello there, how", " Hello there, how are you today?"];
    let frame = |text: &str, reason: Value| {
        format!("data: {}\n\n", json!({"completion": text, "stop_reason": reason, "model": "c"}))
    };
    let mut body: String = texts.map(|text| frame(text, Value::Null)).concat();
    body.push_str(&frame(texts[3], json!("stop_sequence")));
    body.push_str("data: [DONE]\n\n");
    let reading = read(body.as_bytes(), 0);
    assert_eq!(reading.format, "anthropic-messages");
    assert_eq!(
        response(&reading),
        json!({"completion": texts[3], "stop_reason": "stop_sequence", "model": "c"})
    );
    assert_eq!((ids(&reading), reading.verdict), (vec!["cumulative"], Verdict::Finished));
}

/// C.10: the events of a managed agent's session are listed; nothing is assembled, nothing is missing.
#[test]
fn sessions_of_managed_agents_are_listed() {
    let body = sse(&[
        r#"{"type":"session.status_running","id":"e1"}"#,
        r#"{"type":"agent.message","id":"e2","content":[{"type":"text","text":"Hi"}]}"#,
        r#"{"type":"agent.message","id":"e3","content":[]}"#,
        r#"{"type":"session.status_idle","id":"e4"}"#,
    ]);
    let options = Options { format: format("anthropic-messages"), ..Options::default() };
    let reading = read_with(options, body.as_bytes(), 0);
    assert_eq!(ids(&reading), ["not-assembled"; 3]);
    assert_eq!((reading.verdict, reading.outputs.len()), (Verdict::Finished, 0));
    assert!(reading.response.is_none());
}
