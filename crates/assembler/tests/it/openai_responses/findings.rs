//! Every finding that can fire in Responses, and the smallest edit with which it does not.

use teeline_assembler::{Options, Verdict};
use teeline_finding::{Kind, Severity};

use super::{
    COMPLETED, CREATED, MESSAGE, added, completed, delta, done, event, message, stream, whole,
};
use crate::support::{fixture, ids, read, read_with};

/// `(finding, a body in which it is the only one, the nearest body without any)`.
type Row = (&'static str, String, String);

/// A message that comes whole.
fn good() -> String {
    whole(&[added(MESSAGE), delta("\"Hi\""), done(&message("\"Hi\""))])
}

/// Events between the start and the end of a message.
fn inside(events: &[String]) -> String {
    let mut all = vec![added(MESSAGE)];
    all.extend(events.iter().cloned());
    all.push(done(MESSAGE));
    whole(&all)
}

/// A call with these arguments, as its item ends.
fn call(kind: &str, fields: &str, arguments: &str) -> String {
    let item = |arguments: &str| {
        format!(r#"{{"id":"i","type":"{kind}",{fields},"arguments":"{arguments}"}}"#)
    };
    whole(&[added(&item("")), done(&item(arguments))])
}

fn of_frames() -> Vec<Row> {
    let good = good();
    let frame = format!("data: {CREATED}\n\n");
    vec![
        ("bom", format!("\u{feff}{good}"), good.clone()),
        ("crlf", good.replace('\n', "\r\n"), good.replacen('\n', "\r\n", 1)),
        ("ignored-line", format!("Data: x\n{good}"), format!(": x\n{good}")),
        ("ignored-line", format!("event: ping\n\n{good}"), format!("id: x\n\n{good}")),
        ("unknown-event", format!("{frame}data: 5\n\n{good}"), format!("{frame}: 5\n\n{good}")),
        ("not-json", format!("{frame}data: oops\n\n{good}"), format!("{frame}: oops\n\n{good}")),
        ("unterminated", good.trim_end().to_owned(), good.clone()),
        (
            "event-mismatch",
            good.replacen("event: response.created", "event: response.in_progress", 1),
            good.replacen("event: response.created\n", "", 1),
        ),
        ("sequence-gap", good.replace(r#"number":4"#, r#"number":5"#), good.clone()),
        (
            "sequence-gap",
            good.replace(r#"number":4"#, r#"number":3"#),
            good.replace(r#""sequence_number":4,"#, ""),
        ),
        (
            "no-end",
            good[..good.find("event: response.completed").unwrap()].to_owned(),
            good.clone(),
        ),
        ("after-end", format!("{good}{frame}"), format!("{good}data: [DONE]\n\n")),
        (
            "after-end",
            format!("{good}data: [DONE]\n\ndata: [DONE]\n\n"),
            format!("{good}data: {{\"type\":\"keepalive\",\"sequence_number\":5}}\n\n"),
        ),
    ]
}

fn of_events() -> Vec<Row> {
    let strange = |kind: &str| inside(&[format!(r#"{{"type":"{kind}"}}"#)]);
    vec![
        ("unknown-event", strange("response.audio.cut"), strange("response.audio.done")),
        ("unknown-event", strange("response.reasoning_part.added"), strange("keepalive")),
        (
            "unknown-event",
            strange("response.new"),
            inside(&[r#"{"type":"response.new","response":{"id":"r"}}"#.to_owned()]),
        ),
        (
            "not-assembled",
            inside(&[r#"{"type":"response.audio.delta","delta":"AA=="}"#.to_owned()]),
            inside(&[r#"{"type":"response.audio.done"}"#.to_owned()]),
        ),
        (
            "not-assembled",
            inside(&[delta("\"\"").replace("\"delta\"", "\"mood\":1,\"delta\"")]),
            inside(&[delta("\"\"").replace("\"delta\"", "\"obfuscation\":1,\"delta\"")]),
        ),
        (
            "not-assembled",
            inside(&[r#"{"type":"response.in_progress","agent":{"name":"a"}}"#.to_owned()]),
            inside(&[delta("\"\"").replace("\"delta\"", "\"agent\":{\"name\":\"a\"},\"delta\"")]),
        ),
    ]
}

fn of_fields() -> Vec<Row> {
    vec![
        ("bad-field", inside(&[delta("1")]), inside(&[delta("null")])),
        (
            "bad-field",
            inside(&[delta("\"a\"").replace("\"content_index\":0", "\"content_index\":-1")]),
            inside(&[delta("\"a\"").replace("\"content_index\":0,", "")]),
        ),
        (
            "bad-field",
            inside(&[delta("\"a\"").replace("\"output_index\":0", "\"output_index\":\"0\"")]),
            inside(&[delta("\"a\"").replace("\"output_index\":0,", "")]),
        ),
        ("bad-field", whole(&[added("null")]), whole(&[added(MESSAGE), done(MESSAGE)])),
        (
            "bad-field",
            inside(&[r#"{"type":"response.in_progress","response":1}"#.to_owned()]),
            inside(&[r#"{"type":"response.in_progress"}"#.to_owned()]),
        ),
        (
            "bad-field",
            inside(&[r#"{"type":"response.in_progress","response":{"usage":1}}"#.to_owned()]),
            inside(&[r#"{"type":"response.in_progress","response":{"usage":null}}"#.to_owned()]),
        ),
        (
            "id-changed",
            inside(&[delta("\"a\"").replace("\"item_id\":\"i\"", "\"item_id\":\"j\"")]),
            inside(&[delta("\"a\"").replace("\"item_id\":\"i\",", "")]),
        ),
        (
            "id-changed",
            good().replacen("\"id\":\"r\"", "\"id\":\"q\"", 1),
            good().replacen("\"id\":\"r\"", "\"id\":\"\"", 1),
        ),
        (
            "cumulative",
            inside(&[delta("\"Hi there, you\""), delta("\"Hi there, you and others\"")]),
            inside(&[delta("\"Hi there, you\""), delta("\" and others\"")]),
        ),
        ("usage-missing", good().replace(r#","usage":{"total_tokens":1}"#, ""), good()),
    ]
}

/// What has another shape than it should have.
fn of_shapes() -> Vec<Row> {
    let piece = |kind: &str, fields: &str| {
        inside(&[event(kind, &format!(r#""item_id":"i","content_index":0,{fields}"#))])
    };
    let shell = |kind: &str, fields: &str| {
        let item = r#"{"id":"i","type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#;
        let output = r#"{"id":"i","type":"shell_call_output","call_id":"c","output":[]}"#;
        let item = if kind.contains("output") { output } else { item };
        whole(&[added(item), event(kind, fields), done(item)])
    };
    let bad = |bad: String, near: String| ("bad-field", bad, near);
    let last = inside(&[]).replace("\"sequence_number\":3", "\"sequence_number\":?");
    vec![
        bad(last.replace('?', "\"3\""), last.replace('?', "null")),
        bad(piece("output_text.done", r#""text":1"#), piece("output_text.done", r#""text":null"#)),
        bad(
            piece("content_part.added", r#""part":1"#),
            piece("content_part.added", r#""part":{"type":"output_text","text":""}"#),
        ),
        bad(
            shell("shell_call_command.added", r#""command_index":0,"command":1"#),
            shell("shell_call_command.added", r#""command_index":0,"command":"ls""#),
        ),
        bad(
            shell("shell_call_output_content.delta", r#""command_index":0,"delta":1"#),
            shell("shell_call_output_content.delta", r#""command_index":0,"delta":{}"#),
        ),
    ]
}

fn of_blocks() -> Vec<Row> {
    let item = |index: &str| added(MESSAGE).replace("\"output_index\":0", index);
    vec![
        (
            "block-unstarted",
            whole(&[
                added(MESSAGE),
                done(MESSAGE),
                delta("\"a\"").replace("\"output_index\":0", "\"output_index\":1"),
            ]),
            whole(&[added(MESSAGE), done(MESSAGE), delta("\"a\"")]),
        ),
        ("block-unstarted", whole(&[done(MESSAGE)]), whole(&[added(MESSAGE), done(MESSAGE)])),
        (
            "block-unstarted",
            whole(&[event("web_search_call.searching", "\"item_id\":\"i\"")]),
            whole(&[
                added(r#"{"id":"i","type":"web_search_call"}"#),
                event("web_search_call.searching", "\"item_id\":\"i\""),
            ]),
        ),
        (
            "block-restarted",
            whole(&[added(MESSAGE), added(MESSAGE), done(MESSAGE)]),
            whole(&[added(MESSAGE), item("\"output_index\":1"), done(MESSAGE)]),
        ),
        (
            "block-restarted",
            whole(&[added(MESSAGE), done(MESSAGE), added(MESSAGE), done(MESSAGE)]),
            whole(&[added(MESSAGE), done(MESSAGE), item("\"output_index\":1")]),
        ),
    ]
}

fn of_values() -> Vec<Row> {
    let function = r#""call_id":"c","name":"f""#;
    let failed = |kind: &str, status: &str| {
        let item = format!(r#"{{"id":"i","type":"{kind}","status":"{status}"}}"#);
        whole(&[added(&item), done(&item)])
    };
    let ended = |deltas: &[&str], text: &str, last: &str| {
        let mut all = vec![CREATED.to_owned(), added(MESSAGE)];
        all.extend(deltas.iter().map(|text| delta(text)));
        all.extend([done(&message(text)), completed(&format!("[{}]", message(last)))]);
        stream(&all)
    };
    vec![
        (
            "done-mismatch",
            ended(&["\"Hi\"", "\" \""], "\"Hi\"", "\"Hi\""),
            ended(&["\"H\"", "\"i\""], "\"Hi\"", "\"Hi\""),
        ),
        ("done-mismatch", ended(&["\"Hi\""], "\"Hi\"", "\"Ho\""), ended(&[], "\"Hi\"", "\"Ho\"")),
        (
            "arguments-not-json",
            call("function_call", function, "{"),
            call("function_call", function, "{}"),
        ),
        ("arguments-not-json", call("mcp_call", function, "{"), call("mcp_call", function, "{}")),
        (
            "arguments-not-json",
            call("function_call", function, "{"),
            call("custom_tool_call", function, "{"),
        ),
        (
            "tool-failed",
            failed("web_search_call", "failed"),
            failed("web_search_call", "completed"),
        ),
        ("tool-failed", failed("image_generation_call", "failed"), failed("message", "failed")),
        (
            "tool-failed",
            whole(&[
                added(r#"{"type":"mcp_list_tools"}"#),
                event("mcp_list_tools.failed", "\"x\":null"),
            ]),
            whole(&[
                added(r#"{"type":"mcp_list_tools"}"#),
                event("mcp_list_tools.completed", "\"x\":null"),
            ]),
        ),
        (
            "incomplete",
            good().replace("response.completed", "response.incomplete").replace(
                r#""status":"completed""#,
                r#""status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#,
            ),
            good(),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    for (id, bad, near) in
        [of_frames(), of_events(), of_fields(), of_shapes(), of_blocks(), of_values()].concat()
    {
        assert_eq!(ids(&read(bad.as_bytes(), 0)), [id], "{bad}");
        assert_eq!(ids(&read(near.as_bytes(), 0)), [""; 0], "near miss of {id}: {near}");
    }
}

/// Findings that come with others, or that say something about the verdict.
#[test]
fn endings() {
    let good = good();
    let error = r#"{"type":"error","code":"server_error","message":"m","param":null}"#;
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"c","message":"m"}}}"#;
    let open = [CREATED.to_owned(), added(MESSAGE), delta("\"Hi\"")];
    let and = |more: &[&str]| {
        let mut all: Vec<&str> = open.iter().map(String::as_str).collect();
        all.extend(more);
        stream(&all)
    };
    for (body, verdict, found) in [
        (String::new(), Verdict::Empty, vec!["empty"]),
        (good.clone(), Verdict::Finished, vec![]),
        (good[..good.len() - 9].to_owned(), Verdict::DidNotFinish, vec!["cut", "no-end"]),
        // Opened, never closed: only where no final object came
        (and(&[]), Verdict::DidNotFinish, vec!["no-end", "block-open"]),
        (and(&[COMPLETED]), Verdict::Finished, vec![]),
        (
            and(&[r#"{"type":"response.completed"}"#]),
            Verdict::NotTheWholeStream,
            vec!["block-open", "usage-missing"],
        ),
        // Something from before is missing: the final object makes up for it, where there is one
        (
            stream(&[CREATED, &delta("\"Hi\""), COMPLETED]),
            Verdict::Finished,
            vec!["block-unstarted"],
        ),
        (
            stream(&[CREATED, &delta("\"Hi\""), r#"{"type":"response.completed"}"#]),
            Verdict::NotTheWholeStream,
            vec!["block-unstarted", "usage-missing"],
        ),
        // Errors
        (and(&[error]), Verdict::DidNotFinish, vec!["error-event", "block-open"]),
        (and(&[failed]), Verdict::DidNotFinish, vec!["error-event"]),
        (and(&[error, failed]), Verdict::DidNotFinish, vec!["error-event"]),
        (and(&[failed, failed]), Verdict::DidNotFinish, vec!["error-event", "after-end"]),
        (
            and(&[error, COMPLETED]),
            Verdict::DidNotFinish,
            vec!["error-event", "after-end", "block-open"],
        ),
        (format!("{good}{}", stream(&[error])), Verdict::Finished, vec!["after-end"]),
        (
            format!("{}data: {{\"error\":{{\"message\":\"m\"}}}}\n\n", and(&[])),
            Verdict::DidNotFinish,
            vec!["error-event", "block-open"],
        ),
        (format!("data: [DONE]\n\n{good}"), Verdict::Finished, vec!["unknown-event"]),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.verdict, ids(&reading)), (verdict, found), "{body}");
    }
}

#[test]
fn sentences_have_the_facts() {
    let message = |body: String| read(body.as_bytes(), 0).findings[0].kind.message();
    for (body, want) in [
        (
            whole(&[delta("\"a\"")]),
            "An event came for output item 0, which was never opened; it is not part of the answer.",
        ),
        (
            whole(&[added(MESSAGE), delta("\"four\""), added(MESSAGE)]),
            "output item 0 was opened again; the later one replaced 4 bytes.",
        ),
        (
            whole(&[added(MESSAGE), delta("\"Ho\""), done(&super::message("\"Hi\""))]),
            "The final value of the text of output item 0 is `Hi`, but its deltas gave `Ho`.",
        ),
        (
            stream(&[CREATED, COMPLETED]).replace("\"sequence_number\":1", "\"sequence_number\":9"),
            "Sequence number 9 came where 1 was due.",
        ),
        (
            stream(&[CREATED]),
            "The stream ended without `response.completed` or another event that ends it.",
        ),
    ] {
        assert_eq!(message(body), want);
    }
}

/// A second response in one capture is after the end of the first, and nothing of it is merged.
#[test]
fn a_second_response_is_after_the_end() {
    let body = format!("{}{}", good(), good());
    let reading = read(body.as_bytes(), 0);
    let of_kind: u64 = reading.findings.iter().map(|finding| finding.count).sum();
    assert_eq!((ids(&reading), of_kind), (vec!["after-end"; 5], 5));
    assert_eq!((reading.verdict, &*reading.outputs[0].text), (Verdict::Finished, "Hi"));
}

/// B.10: heartbeats are numbered, frames without a number are not counted, the first number is free.
#[test]
fn sequence_numbers() {
    for (numbers, gaps) in [
        (&["0", "1", "2"][..], 0),
        (&["7", "8", "9"], 0),
        (&["0", "", "1"], 0),
        (&["", "", ""], 0),
        (&["0", "2", "3"], 1),
        (&["0", "2", "1"], 2),
        (&["0", "0", "0"], 2),
        (&["18446744073709551615", "0", "1"], 1),
    ] {
        let mut body = String::new();
        let frames = [CREATED, r#"{"type":"keepalive"}"#, COMPLETED];
        for (frame, number) in frames.iter().zip(numbers) {
            let number = match *number {
                "" => String::new(),
                number => format!("\"sequence_number\":{number},"),
            };
            body += &format!("data: {{{number}{}\n\n", &frame[1..]);
        }
        let reading = read(body.as_bytes(), 0);
        assert_eq!(ids(&reading), vec!["sequence-gap"; gaps], "{numbers:?}");
    }
}

/// A call without arguments is common; it is told, as a note.
#[test]
fn empty_arguments_are_a_note() {
    let reading = read(call("function_call", r#""call_id":"c","name":"f""#, "").as_bytes(), 0);
    assert_eq!(
        (ids(&reading), reading.findings[0].severity()),
        (vec!["arguments-not-json"], Severity::Note)
    );
    assert!(
        matches!(&reading.findings[0].kind, Kind::ArgumentsNotJson { tool, .. } if tool == "f")
    );
}

/// At any text limit: what exceeds it is left out and that is said, frames are read on.
#[test]
fn text_limit() {
    let body = String::from_utf8(fixture("openai-responses", "every-event.sse")).unwrap();
    let mut texts = Vec::new();
    for text_limit in (0..40_000).step_by(61) {
        let reading = read_with(Options { text_limit, ..Options::default() }, body.as_bytes(), 0);
        let text = reading.outputs.first().map_or("", |output| &output.text).to_owned();
        let is_cut = reading
            .findings
            .iter()
            .any(|finding| finding.kind.message().contains("bytes that a reading holds"));
        assert!(is_cut || text == "Hello", "{text_limit}");
        assert_eq!(reading.verdict, Verdict::Finished, "{text_limit}");
        assert!(["", "Hel", "Hello"].contains(&&*text), "{text_limit}: {text}");
        texts.push(text.len());
    }
    assert!(texts.is_sorted() && texts.first() == Some(&0) && texts.last() == Some(&5));
}
