//! Every finding of C.9, and the smallest edit with which it does not fire.

use teeline_assembler::Verdict;

use super::{DELTA, START, STOP, block, sse, text_block, whole};
use crate::support::{ids, read};

const FINISHED: Verdict = Verdict::Finished;
const PARTIAL: Verdict = Verdict::NotTheWholeStream;
const UNFINISHED: Verdict = Verdict::DidNotFinish;

const TOOL: &str = r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#;
const RESULT: &str = r#"{"type":"web_fetch_tool_result","tool_use_id":"t","content":{"type":"web_fetch_tool_result_error","error_code":"unavailable"}}"#;

/// `(finding, a body in which it is the only one, the nearest body without any, the verdict of the first)`.
type Row = (&'static str, String, String, Verdict);

fn with(frame: &str) -> String {
    let mut frames = text_block("Hi");
    frames.push(frame.to_owned());
    whole(&frames)
}

fn deltas(deltas: &[&str]) -> String {
    whole(&block(0, r#"{"type":"text","text":""}"#, deltas))
}

/// What is missing, doubled or too much among the events.
fn of_events() -> Vec<Row> {
    let good = whole(&text_block("Hi"));
    let without = |frame: &str| good.replace(&sse(&[frame]), "");
    let error = r#"{"type":"error","error":{"type":"api_error","message":"m"}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let late =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}"#;
    let twice = |second| whole(&[block(0, TOOL, &[]), block(second, TOOL, &[])].concat());
    let ping = r#"{"type":"ping"}"#;
    let after = |frame: &str| good.clone() + frame;
    vec![
        ("no-start", without(START), good.clone(), PARTIAL),
        ("no-end", without(STOP), good.clone(), UNFINISHED),
        ("block-open", without(stop), good.clone(), PARTIAL),
        ("block-unstarted", with(&stop.replace('0', "1")), with(ping), PARTIAL),
        ("block-unstarted", with(late), good.clone(), PARTIAL),
        ("block-restarted", twice(0), twice(1), PARTIAL),
        ("error-event", good.replace(&sse(&[STOP]), &sse(&[error])), good.clone(), UNFINISHED),
        ("after-end", after(&sse(&[DELTA])), after(&sse(&[ping])), FINISHED),
        ("after-end", after(&sse(&[START])), good.clone(), FINISHED),
        ("after-end", after("data: [DONE]\n\n"), after(": [DONE]\n\n"), FINISHED),
        ("no-finish-reason", good.replace("\"end_turn\"", "null"), good.clone(), FINISHED),
        (
            "usage-missing",
            good.replace("\"usage\"", "\"cost\""),
            good.replacen("\"usage\"", "\"cost\"", 1),
            FINISHED,
        ),
    ]
}

/// What events say they are.
fn of_names() -> Vec<Row> {
    let good = whole(&text_block("Hi"));
    let named = |event: &str| good.replace("event: message_stop", event);
    let row = |id, bad: String, near: String| (id, bad, near, FINISHED);
    vec![
        row("event-mismatch", named("event: message"), good.clone()),
        row(
            "event-line-missing",
            good.replace("event: message_stop\n", ""),
            named("event:message_stop"),
        ),
        row("unknown-event", with(r#"{"type":"message_pause"}"#), with(r#"{"type":"ping"}"#)),
        row("unknown-event", with(r#"{"type":"completion","completion":"x"}"#), good.clone()),
        row(
            "unknown-event",
            named("event: ping\ndata: 5\n\nevent: message_stop"),
            named("event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop"),
        ),
        row(
            "unknown-event",
            named("data: [DONE]\n\nevent: message_stop"),
            named(": [DONE]\n\nevent: message_stop"),
        ),
        row(
            "mixed",
            with(r#"{"object":"chat.completion.chunk","type":"x"}"#),
            with(r#"{"object":"message","type":"ping"}"#),
        ),
    ]
}

/// What blocks and deltas hold.
fn of_blocks() -> Vec<Row> {
    let piece = |json: &str| format!(r#"{{"type":"input_json_delta","partial_json":"{json}"}}"#);
    let call = |json: &str| whole(&block(0, TOOL, &[&piece(json)]));
    let result = |fields: &str| {
        let start = format!(r#"{{"type":"mcp_tool_result",{fields}}}"#);
        whole(&block(0, &start, &[]))
    };
    let text = r#"{"type":"text_delta","text":"x"}"#;
    let long = r#"{"type":"text_delta","text":"a long start"}"#;
    let longer = r#"{"type":"text_delta","text":"a long start and more"}"#;
    let row = |id, bad: String, near: String| (id, bad, near, FINISHED);
    let odd = |delta: &str| ("not-assembled", deltas(&[delta]), deltas(&[text]), FINISHED);
    vec![
        row("arguments-not-json", call("{"), call("{}")),
        row(
            "tool-failed",
            whole(&block(0, RESULT, &[])),
            whole(&block(0, &RESULT.replace("_error\"", "\""), &[])),
        ),
        row(
            "tool-failed",
            result(r#""is_error":true,"content":[{"type":"text","text":"no"}]"#),
            result(r#""is_error":false,"content":[{"type":"text","text":"no"}]"#),
        ),
        odd(r#"{"type":"sound_delta","text":"x"}"#),
        odd(r#"{"type":"text_delta","text":"x","mood":1}"#),
        odd(r#"{"type":"thinking_delta","thinking":"x"}"#),
        odd(r#"{"text":"x"}"#),
        row(
            "cumulative",
            deltas(&[long, longer]),
            deltas(&[long, &longer.replace("a long start", "")]),
        ),
    ]
}

/// What fields are.
fn of_fields() -> Vec<Row> {
    let good = whole(&text_block("Hi"));
    let delta = |rest: &str| with(&format!(r#"{{"type":"message_delta","delta":{rest}}}"#));
    let named = |fields: &str| {
        whole(&block(0, &format!(r#"{{"type":"tool_use",{fields},"input":{{}}}}"#), &[]))
    };
    let row = |bad: String, near: String| ("bad-field", bad, near, FINISHED);
    let odd = |bad: String, near: String| ("not-assembled", bad, near, FINISHED);
    vec![
        row(
            deltas(&[r#"{"type":"text_delta","text":1}"#]),
            deltas(&[r#"{"type":"text_delta","text":null}"#]),
        ),
        row(with(r#"{"type":"content_block_stop","index":"0"}"#), good.clone()),
        row(with(r#"{"type":"content_block_start","index":1}"#), good.clone()),
        row(good.replace("\"m1\"", "1"), good.clone()),
        row(named(r#""id":1,"name":"f""#), named(r#""id":"1","name":"f""#)),
        row(delta("1"), delta("{}")),
        row(delta(r#"{"stop_reason":1}"#), delta(r#"{"stop_reason":null}"#)),
        row(delta(r#"{},"usage":1"#), delta(r#"{},"usage":null"#)),
        odd(good.replace("\"content\":[]", "\"content\":[{}]"), good.clone()),
        odd(delta(r#"{"mood":1}"#), delta(r#"{"container":1}"#)),
    ]
}

#[test]
fn each_fires_alone_and_not_beside() {
    for (id, bad, near, verdict) in [of_events(), of_names(), of_blocks(), of_fields()].concat() {
        let (reading, near) = (read(bad.as_bytes(), 0), read(near.as_bytes(), 0));
        assert_eq!(reading.format, "anthropic-messages", "{bad}");
        let wanted = if id == "mixed" { vec!["mixed", "unknown-event"] } else { vec![id] };
        assert_eq!(ids(&reading), wanted, "{bad}");
        assert_eq!(reading.verdict, verdict, "{bad}");
        assert_eq!(ids(&near), [""; 0], "beside {id}: {bad}");
        assert_eq!(near.verdict, Verdict::Finished, "beside {id}");
    }
}

/// C.9 and J: what never fires here, whatever comes.
#[test]
fn what_does_not_apply() {
    let call = whole(&block(0, r#"{"type":"tool_use","input":{}}"#, &[]));
    let reading = read(call.as_bytes(), 0);
    assert_eq!((ids(&reading), reading.verdict), (vec![], Verdict::Finished));
    assert_eq!(reading.outputs[0].tool_calls.len(), 1);
}

/// The finding names the tool that failed and what it said.
#[test]
fn a_failed_tool_is_named() {
    let call = r#"{"type":"server_tool_use","id":"t","name":"web_fetch","input":{}}"#;
    let body = whole(&[block(0, call, &[]), block(1, RESULT, &[])].concat());
    let reading = read(body.as_bytes(), 0);
    assert_eq!(reading.findings[0].kind.message(), "The tool `web_fetch` failed: unavailable.");
}

/// A completion that stops short, and one that does not.
#[test]
fn completions() {
    let frame = |reason: &str| {
        format!(
            r#"{{"type":"completion","id":"c1","completion":" Hi","stop_reason":{reason},"model":"claude-2.1"}}"#
        )
    };
    for (frames, found) in [
        (vec![frame("null")], &["no-end"][..]),
        (vec![frame("null"), frame("\"max_tokens\"")], &[]),
        (vec![frame("\"max_tokens\""), frame("null")], &["after-end"]),
        (vec![frame("\"max_tokens\""), r#"{"type":"ping"}"#.to_owned()], &[]),
        (vec![frame("null"), frame("\"stop_sequence\"").replace("c1", "c2")], &["id-changed"]),
        (vec![frame("1")], &["bad-field", "no-end"]),
    ] {
        let reading = read(sse(&frames).as_bytes(), 0);
        assert_eq!(ids(&reading), found, "{frames:?}");
        assert_eq!(reading.outputs[0].role.as_deref(), Some("assistant"));
    }
}
