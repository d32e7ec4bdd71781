//! Vercel AI SDK, data stream: the example of `FORMATS.md` H8.2, and its rules one by one.

use serde_json::json;
use teeline_assembler::Verdict;

use crate::{
    alike::{Row, fire_alone},
    support::{example, fixture, ids, kinds, read, response, told, value},
};

#[test]
fn examples() {
    example("vercel-data", "H8b", "txt", &[], "finished");
    example("vercel-data", "calls", "txt", &[], "finished");
}

/// A text that something interrupts is two parts and one content.
#[test]
fn outputs_of_calls() {
    let view = value(&read(&fixture("vercel-data", "calls.txt"), 0));
    let output = &view["outputs"][0];
    assert_eq!(output["text"], "Let me 😀 look. Two hits.");
    assert_eq!(output["reasoning"], "Look it up.");
    assert_eq!(
        output["tool_calls"],
        json!([
            {"index": 0, "id": "c1", "name": "find", "arguments": "{\"q\": \"ab\"}", "arguments_valid": true, "complete": true},
            {"index": 1, "id": "c2", "name": "ask", "arguments": "{}", "arguments_valid": true, "complete": true}
        ])
    );
    let kinds = kinds(output);
    let want = "reasoning redacted-reasoning text tool-call tool-call text source file";
    assert_eq!(kinds, want.split(' ').collect::<Vec<_>>());
    assert_eq!(output["parts"][0]["signature"], "s");
    let usage = &view["usage"];
    assert_eq!((&usage["input_tokens"], &usage["output_tokens"]), (&json!(14), &json!(10)));
    assert_eq!((&view["id"], &output["finish"]["reason"]), (&json!("m1"), &json!("stop")));
}

const START: &str = r#"f:{"messageId":"m"}"#;
const HI: &str = r#"0:"Hi""#;
const STEP: &str = r#"e:{"finishReason":"stop","isContinued":false}"#;
const END: &str = r#"d:{"finishReason":"stop"}"#;
const BEGIN: &str = r#"b:{"toolCallId":"c","toolName":"f"}"#;
const MAKE: &str = r#"9:{"toolCallId":"c","toolName":"f","args":{}}"#;
const RESULT: &str = r#"a:{"toolCallId":"c","result":1}"#;

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| [line, "\n"].concat()).collect()
}

/// A message with a text, and these lines before its end.
fn with(more: &[&str]) -> String {
    lines(&[&[START, HI], more, &[STEP, END]].concat())
}

fn grow(arguments: &str) -> String {
    format!(r#"c:{{"toolCallId":"c","argsTextDelta":"{arguments}"}}"#)
}

fn of_order() -> Vec<Row> {
    let good = with(&[]);
    vec![
        ("bom", format!("\u{feff}{good}"), good.clone()),
        ("not-json", with(&["oops"]), good.clone()),
        ("not-json", with(&["0:oops"]), with(&["0:\"oops\""])),
        ("unknown-event", with(&["z:1"]), good.clone()),
        ("unknown-event", with(&["{}"]), good.clone()),
        ("no-end", lines(&[START, HI, STEP]), good.clone()),
        ("block-open", with(&[BEGIN]), with(&[BEGIN, MAKE])),
        ("block-unstarted", with(&[&grow("{}")]), with(&[BEGIN, &grow("{}"), MAKE])),
        ("block-unstarted", with(&[RESULT]), with(&[MAKE, RESULT])),
        ("block-restarted", with(&[BEGIN, BEGIN, MAKE]), with(&[BEGIN, MAKE])),
        ("after-end", format!("{good}{HI}\n"), format!("{good}8:[]\n")),
        ("error-event", with(&["3:\"no\""]), good.clone()),
        (
            "arguments-not-json",
            with(&[BEGIN, &grow("{"), RESULT]),
            with(&[BEGIN, &grow("{}"), RESULT]),
        ),
        ("done-mismatch", with(&[BEGIN, &grow("[]"), MAKE]), with(&[BEGIN, &grow(" { }"), MAKE])),
        ("not-assembled", with(&[r#"1:{"function_call":{}}"#]), good.clone()),
        (
            "not-assembled",
            with(&[r#"j:{"signature":"s"}"#]),
            with(&["g:\"x\"", r#"j:{"signature":"s"}"#]),
        ),
        ("not-assembled", with(&[&MAKE.replace("{}", "{},\"mood\":1")]), with(&[MAKE])),
        ("not-assembled", with(&[&STEP.replace("false", "false,\"mood\":1")]), with(&[STEP])),
        (
            "cumulative",
            with(&[r#"0:"Hi there, you""#, r#"0:"Hi there, you two""#]),
            with(&[r#"0:"Hi there, you""#, r#"0:" two""#]),
        ),
    ]
}

fn of_fields() -> Vec<Row> {
    let good = with(&[]);
    vec![
        ("bad-field", with(&["0:1"]), with(&["0:\"1\""])),
        ("bad-field", with(&["g:null"]), with(&["g:\"null\""])),
        ("bad-field", with(&["2:{}"]), with(&["2:[{}]"])),
        ("bad-field", with(&["8:\"x\""]), with(&["8:[\"x\"]"])),
        ("bad-field", with(&["9:[]"]), with(&[MAKE])),
        ("bad-field", with(&[&MAKE.replace(",\"args\":{}", "")]), with(&[MAKE])),
        ("bad-field", with(&[&MAKE.replace("\"f\"", "7")]), with(&[MAKE])),
        ("bad-field", with(&[&MAKE.replace("\"c\"", "7")]), with(&[MAKE])),
        ("bad-field", with(&[MAKE, r#"a:{"toolCallId":"c"}"#]), with(&[MAKE, RESULT])),
        (
            "bad-field",
            with(&[BEGIN, r#"c:{"toolCallId":"c","argsTextDelta":{}}"#, MAKE]),
            with(&[BEGIN, r#"c:{"toolCallId":"c","argsTextDelta":""}"#, MAKE]),
        ),
        (
            "bad-field",
            with(&[BEGIN, r#"c:{"toolCallId":"c"}"#, MAKE]),
            with(&[BEGIN, r#"c:{"toolCallId":"c","argsTextDelta":""}"#, MAKE]),
        ),
        ("bad-field", with(&[&MAKE.replace(",\"toolName\":\"f\"", "")]), with(&[MAKE])),
        ("bad-field", good.replace("\"messageId\":\"m\"", ""), good.clone()),
        ("bad-field", good.replacen("\"finishReason\":\"stop\",", "", 1), good.clone()),
        ("bad-field", good.replace("\"m\"", "7"), good.clone()),
        ("bad-field", good.replacen("\"stop\"", "null", 1), good.clone()),
        (
            "bad-field",
            good.replace("\"stop\"}", "\"stop\",\"usage\":1}"),
            good.replace("\"stop\"}", "\"stop\",\"usage\":null}"),
        ),
    ]
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_order(), of_fields()].concat());
}

#[test]
fn endings() {
    let good = with(&[]);
    let error = "3:\"no\"";
    for (body, verdict, found) in [
        (good.clone(), Verdict::Finished, vec![]),
        // A last line needs no line end if it is whole.
        (good.trim_end().to_owned(), Verdict::Finished, vec![]),
        (good[..good.len() - 3].to_owned(), Verdict::DidNotFinish, vec!["cut", "no-end"]),
        (lines(&[START, HI, error]), Verdict::DidNotFinish, vec!["error-event"]),
        (lines(&[START, HI, error, STEP, END]), Verdict::DidNotFinish, vec!["error-event"]),
        (with(&[BEGIN]), Verdict::NotTheWholeStream, vec!["block-open"]),
    ] {
        let reading = read(body.as_bytes(), 0);
        assert_eq!((reading.verdict, ids(&reading)), (verdict, found), "{body}");
    }
}

/// An error of another shape ends the stream all the same.
#[test]
fn an_error_that_is_no_string() {
    let reading = read(lines(&[START, HI, r#"3:{"message":"no"}"#]).as_bytes(), 0);
    let bad = json!({"field": "3", "expected": "a string", "value": r#"{"message":"no"}"#});
    let error = json!({"message": "no", "error_type": ""});
    let want = [json!(["bad-field", 2, bad]), json!(["error-event", 2, error])];
    assert_eq!((told(&reading), reading.verdict), (want.to_vec(), Verdict::DidNotFinish));
}

#[test]
fn errors() {
    let reading = read(b"3:\"An error occurred.\"\n", 0);
    assert_eq!(reading.error.as_ref().unwrap().message, "An error occurred.");
    assert_eq!((reading.format, reading.outputs.len()), ("vercel-data", 0));
    assert_eq!(response(&reading), json!(null));
}

/// Arguments that their text contradicts are those of the call as it was made.
#[test]
fn made_calls_count() {
    let body = with(&[BEGIN, &grow(r#"{\"a\":1}"#), &MAKE.replace("{}", "{\"a\":2}")]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!(response(&reading)["toolInvocations"][0]["args"], json!({"a": 2}));
    assert_eq!(reading.outputs[0].tool_calls[0].arguments, "{\"a\":2}");
}
