//! `DashScope`: the example of `FORMATS.md` F.2, and its rules one by one.

use serde_json::{Value, json};
use teeline_assembler::{Options, Verdict, format};

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse, told_alone},
    support::{example, fixture, ids, read, read_with, response, value},
};

const FORMAT: &str = "dashscope";

#[test]
fn examples() {
    example(FORMAT, "F2", "sse", &["cumulative"], "finished");
    example(FORMAT, "tools", "sse", &[], "finished");
    example(FORMAT, "choices", "sse", &["cumulative"], "finished");
    example(FORMAT, "text", "sse", &["cumulative"], "finished");
    example(FORMAT, "thinking", "sse", &["cumulative"], "finished");
    example(FORMAT, "content", "sse", &[], "finished");
}

#[test]
fn plain_bodies_read_as_their_streams() {
    for name in ["F2", "tools", "choices", "text", "thinking", "content"] {
        plain_as_streamed(
            &fixture(FORMAT, &format!("{name}.sse")),
            &fixture(FORMAT, &format!("{name}.json")),
        );
    }
}

/// A frame with a message, a reason and a count of the answer's tokens.
fn frame(message: &str, reason: &str, tokens: u64) -> String {
    let usage = json!({"input_tokens": 3, "output_tokens": tokens, "total_tokens": 3 + tokens});
    format!(
        r#"{{"output":{{"choices":[{{"message":{message},"finish_reason":"{reason}"}}]}},"usage":{usage},"request_id":"q"}}"#
    )
}

fn said(text: &str, reason: &str, tokens: u64) -> String {
    frame(&json!({"role": "assistant", "content": text}).to_string(), reason, tokens)
}

fn called(call: &str, reason: &str) -> String {
    frame(&format!(r#"{{"role":"assistant","content":"","tool_calls":[{call}]}}"#), reason, 2)
}

/// Two deltas; in the place of the second another frame.
fn with(frame: &str) -> String {
    sse(&[&said("Good ", "null", 1), frame, &said("day", "stop", 2)])
}

fn good() -> String {
    with(&said("new ", "null", 2))
}

fn rows() -> Vec<Row> {
    let good = good();
    let edit = |from: &str, to: &str| good.replace(from, to);
    let call = r#"{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let calls = |from: &str, to: &str| sse(&[called(&call.replacen(from, to, 1), "tool_calls")]);
    let last = sse(&[said("day", "stop", 2)]);
    vec![
        ("unknown-event", with(r#"{"x":1}"#), with(r#"{"usage":null}"#)),
        ("unknown-event", with("[DONE]"), with(r#"{"request_id":"q"}"#)),
        ("no-end", edit(r#""stop""#, r#""null""#), edit(r#""stop""#, r#""length""#)),
        ("no-end", edit(r#""stop""#, r#""""#), good.clone()),
        ("after-end", format!("{good}{last}"), format!("{good}data: {{\"usage\":null}}\n\n")),
        (
            "error-event",
            edit(r#""request_id":"q"}"#, r#""request_id":"q"}"#)
                .replace(&last, "event:error\ndata:{\"code\":\"c\",\"message\":\"m\"}\n\n"),
            good.clone(),
        ),
        (
            "error-event",
            good.replace(&last, "data:{\"code\":\"c\",\"message\":\"m\",\"request_id\":\"q\"}\n\n"),
            good.replace(&last, &last.replace("{\"output\"", "{\"code\":\"\",\"output\"")),
        ),
        ("id-changed", edit(r#""q"}"#, r#""q"}"#).replacen(r#""q""#, r#""r""#, 1), good.clone()),
        ("usage-missing", edit(r#""usage":{"#, r#""used":{"#), good.clone()),
        (
            "cumulative",
            with(&said("Good new ", "null", 2)).replace("day", "Good new day"),
            good.clone(),
        ),
        ("tool-call-no-index", calls(r#""index":0,"#, ""), calls("", "")),
        ("tool-call-no-index", calls(r#""index":0"#, r#""index":-1"#), calls(":0", ":7")),
        ("tool-call-incomplete", calls(r#""id":"c","#, ""), calls(r#""type":"function","#, "")),
        ("tool-call-incomplete", calls(r#""name":"f","#, ""), calls("", "")),
        ("arguments-not-json", calls("{}", "{"), calls("{}", "[]")),
        ("arguments-not-json", calls("{}", ""), calls("{}", "null")),
        (
            "not-assembled",
            edit(r#""role":"#, r#""mood":"glad","role":"#),
            edit(r#""role":"#, r#""mood":null,"role":"#),
        ),
        (
            "not-assembled",
            with(r#"{"output":{"audio":{"data":"AA==","id":"a"}}}"#),
            with(r#"{"output":{"audio":{"data":"","url":"u"}}}"#),
        ),
    ]
}

/// Fields of another shape, each beside the same field as `null`.
fn bad_fields() -> Vec<Row> {
    let message = |fields: &str| with(&frame(fields, "null", 1));
    let call = |fields: &str| {
        let call = format!(
            r#"{{"index":0,"id":"c","function":{{"name":"f","arguments":"{{}}"}}}},{fields}"#
        );
        with(&called(&call, "null"))
    };
    let pair = |body: fn(&str) -> String, key: &str| {
        ("bad-field", body(&key.replace('?', "1")), body(&key.replace('?', "null")))
    };
    let mut rows: Vec<Row> = [
        r#"{"output":?}"#,
        r#"{"usage":?}"#,
        r#"{"request_id":?,"usage":null}"#,
        r#"{"output":{"text":?}}"#,
        r#"{"output":{"choices":?}}"#,
        r#"{"output":{"finish_reason":?}}"#,
        r#"{"output":{"choices":[{"message":?}]}}"#,
        r#"{"output":{"choices":[{"finish_reason":?}]}}"#,
    ]
    .map(|key| pair(with, key))
    .into();
    for key in ["role", "content", "reasoning_content", "tool_calls"] {
        let field = |value: &str| message(&format!("{{\"{key}\":{value}}}"));
        rows.push(("bad-field", field("1"), field("null")));
    }
    for fields in [
        r#"{"index":0,"id":?}"#,
        r#"{"index":0,"function":?}"#,
        r#"{"index":0,"function":{"name":?}}"#,
        r#"{"index":0,"function":{"arguments":?}}"#,
    ] {
        rows.push((
            "bad-field",
            call(&fields.replace('?', "1")),
            call(&fields.replace('?', "null")),
        ));
    }
    rows.push((
        "bad-field",
        with(r#"{"output":{"choices":[1]}}"#),
        with(r#"{"output":{"choices":[{}]}}"#),
    ));
    rows.push(("bad-field", call("1"), call(r#"{"index":0}"#)));
    rows
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    fire_alone([of_sse(&good()), rows(), bad_fields()].concat());
}

#[test]
fn endings() {
    end_badly(&good());
    let error = "id:2\nevent:error\n:HTTP_STATUS/429\ndata:{\"code\":\"Throttling.RateQuota\",\"message\":\"Slow down.\",\"request_id\":\"q\"}\n\n";
    let body = format!("{}{error}", sse(&[said("Good ", "null", 1)]));
    let reading = read(body.as_bytes(), 0);
    let error = reading.error.clone().unwrap();
    assert_eq!(
        (error.message.as_str(), error.code.as_deref()),
        ("Slow down.", Some("Throttling.RateQuota"))
    );
    assert!(error.meaning.is_some());
    assert_eq!(
        (reading.verdict, reading.outputs[0].text.as_str()),
        (Verdict::DidNotFinish, "Good ")
    );
}

/// The error that the API answers instead of an answer.
#[test]
fn a_plain_error() {
    let body =
        br#"{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"q"}"#;
    let reading = read(body, 0);
    assert_eq!((reading.format, reading.verdict), (FORMAT, Verdict::DidNotFinish));
    assert_eq!(ids(&reading), ["error-event"]);
    let error = value(&reading)["error"].clone();
    assert_eq!((&error["code"], error["meaning"].is_string()), (&json!("InvalidApiKey"), true));
    let other = read(br#"{"code":"c","message":"m"}"#, 0);
    assert_eq!((other.format, ids(&other)), ("unknown", vec![]));
}

/// The status is a comment, or, of older servers, a line of its own: both are the format's.
#[test]
fn the_status_line_is_the_formats() {
    let body = good().replace("data: ", "id:1\nevent:result\nstatus:200\n:HTTP_STATUS/200\ndata:");
    assert_eq!(ids(&read(body.as_bytes(), 0)), [""; 0]);
    let other = body.replace("status:200", "state:200");
    assert_eq!(ids(&read(other.as_bytes(), 0)), ["ignored-line"; 3]);
    let chat = "status:200\ndata: {\"object\":\"chat.completion.chunk\",\"choices\":[]}\n\n";
    assert!(ids(&read(chat.as_bytes(), 0)).contains(&"ignored-line"));
}

/// Values, the tokens counted with them, and what they give: the text so far or deltas (`FORMATS.md` F.4).
#[test]
fn values_and_tokens_decide() {
    for (values, want) in [
        (&[("Hel", 1), ("Hello", 2), ("Hello", 2)][..], "Hello"),
        (&[("Hi", 1), ("Hi", 1)], "Hi"),
        (&[("Hi", 1), ("", 1)], "Hi"),
        (&[("ha", 1), ("ha", 2), ("haha", 4)], "hahahaha"),
        (&[("1", 1), (",", 2), (" ", 3), ("2", 4), ("", 4)], "1, 2"),
        (&[("1", 1), ("1,", 2), ("1, ", 3), ("1, 2", 4)], "1, 2"),
        (
            &[("The answer is 41", 4), ("The answer is 42", 4), ("The answer is 42.", 5)],
            "The answer is 42.",
        ),
    ] {
        let mut frames: Vec<String> =
            values.iter().map(|(text, tokens)| said(text, "null", *tokens)).collect();
        let last = frames.pop().unwrap().replace(r#""null""#, r#""stop""#);
        frames.push(last);
        let reading = read(sse(&frames).as_bytes(), 0);
        assert_eq!(reading.outputs[0].text, want, "{values:?}");
        assert_eq!(response(&reading)["output"]["choices"][0]["message"]["content"], want);
    }
}

/// A call sent whole in every frame is no call twice; in pieces it is joined.
#[test]
fn arguments_in_pieces_or_whole() {
    let call = |arguments: &str| {
        json!({"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}).to_string()
    };
    for (values, want) in [
        (&["{\"a\":", "{\"a\": 1", "{\"a\": 12}"][..], "{\"a\": 12}"),
        (&["{\"a\":", " 1", "2}"], "{\"a\": 12}"),
        (&["{\"a\": 12}", "{\"a\": 12}"], "{\"a\": 12}"),
        (&["{\"a\": 12}", ""], "{\"a\": 12}"),
    ] {
        let last = values.len() - 1;
        let frames: Vec<String> = values
            .iter()
            .enumerate()
            .map(|(at, value)| called(&call(value), if at == last { "tool_calls" } else { "null" }))
            .collect();
        let reading = read(sse(&frames).as_bytes(), 0);
        let calls = &reading.outputs[0].tool_calls;
        assert_eq!((calls.len(), calls[0].arguments.as_str()), (1, want), "{values:?}");
        assert!(calls[0].arguments_valid && calls[0].complete);
    }
}

/// Calls without an index are told apart by their ids, or else by their places in the list.
#[test]
fn calls_without_an_index() {
    let call = |id: &str, arguments: &str| {
        json!({"id": id, "function": {"name": "f", "arguments": arguments}}).to_string()
    };
    for (frames, want) in [
        (vec![call("a", "{}"), call("b", "[]")], vec![("a", "{}"), ("b", "[]")]),
        (vec![call("a", "{\"n\""), call("", ":1}")], vec![("a", "{\"n\":1}")]),
        (vec![[call("a", "1"), call("b", "2")].join(",")], vec![("a", "1"), ("b", "2")]),
    ] {
        let frames: Vec<String> = frames.iter().map(|call| called(call, "null")).collect();
        let reading = read(sse(&frames).as_bytes(), 0);
        let calls = reading.outputs[0].tool_calls.iter();
        let got: Vec<_> =
            calls.map(|call| (call.id.as_deref().unwrap(), call.arguments.as_str())).collect();
        assert_eq!(got, want, "{frames:?}");
    }
}

/// One choice stops before the other: the stream has ended when both have.
#[test]
fn choices_stop_one_by_one() {
    let body = String::from_utf8(fixture(FORMAT, "choices.sse")).unwrap();
    let (all_but_one, last) = body.trim_end().rsplit_once("\n\n").unwrap();
    let reading = read(format!("{all_but_one}\n\n").as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading).contains(&"no-end")), (Verdict::DidNotFinish, true));
    let twice = read(format!("{body}{last}\n\n").as_bytes(), 0);
    assert_eq!((twice.verdict, ids(&twice)), (Verdict::Finished, vec!["after-end", "cumulative"]));
}

/// Log probabilities come as the text does.
#[test]
fn log_probabilities() {
    let frame = |text: &str, tokens: &[&str], reason: &str| {
        let list: Vec<Value> = tokens.iter().map(|token| json!({"token": token})).collect();
        json!({"output": {"choices": [{
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": list}, "finish_reason": reason,
        }]}, "usage": {"output_tokens": tokens.len()}, "request_id": "q"})
        .to_string()
    };
    let first = "It was a dark";
    for second in [" night", "It was a dark night"] {
        let whole = second.starts_with(first);
        let tokens: &[&str] = if whole { &[first, " night"] } else { &[" night"] };
        let body = sse(&[frame(first, &[first], "null"), frame(second, tokens, "stop")]);
        let choice = &response(&read(body.as_bytes(), 0))["output"]["choices"][0];
        assert_eq!(choice["message"]["content"], "It was a dark night");
        let want = json!([{"token": first}, {"token": " night"}]);
        assert_eq!(choice["logprobs"]["content"], want, "{second}");
    }
}

/// Speech has no text; what is left of it is where it can be fetched.
#[test]
fn speech() {
    let frame = |audio: &str, reason: &str| {
        format!(
            r#"{{"output":{{"finish_reason":"{reason}","audio":{audio}}},"usage":{{"characters":3}},"request_id":"q"}}"#
        )
    };
    let body = sse(&[
        frame(r#"{"data":"AAAA","expires_at":1,"id":"a","url":""}"#, "null"),
        frame(r#"{"data":"","expires_at":2,"id":"a","url":"https://e.x/a.wav"}"#, "stop"),
    ]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((reading.verdict, ids(&reading)), (Verdict::Finished, vec!["not-assembled"]));
    assert_eq!(
        response(&reading)["output"]["audio"],
        json!({"expires_at": 2, "id": "a", "url": "https://e.x/a.wav", "data": ""})
    );
}

/// Lists of content: a text goes on at its place, an image is one.
#[test]
fn a_list_that_becomes_a_text_is_reported() {
    let begun = frame(r#"{"role":"assistant","content":[{"text":"Hi"}]}"#, "null", 1);
    for (content, found) in [
        (r#""x""#, vec!["bad-field"]),
        (r#""""#, vec![]),
        ("[]", vec![]),
        ("[1]", vec!["bad-field"]),
        (r#"[{"text":1}]"#, vec!["bad-field"]),
    ] {
        let last = frame(&format!(r#"{{"content":{content}}}"#), "stop", 1);
        let reading = read(sse(&[&begun, &last]).as_bytes(), 0);
        assert_eq!((ids(&reading), reading.outputs[0].text.as_str()), (found, "Hi"), "{content}");
    }
}

/// Content has at most a thousand places.
#[test]
fn more_places_than_there_are() {
    let list = |places: usize| {
        let content = vec![json!({"text": "x"}); places];
        let message = json!({"role": "assistant", "content": content});
        sse(&[frame(&message.to_string(), "stop", 1)])
    };
    let what = json!({"what": "message.content[]"});
    told_alone(vec![("not-assembled", 0, what, list(1_001), list(1_000))]);
    assert_eq!(read(list(1_001).as_bytes(), 0).outputs[0].text, "x".repeat(1_000));
}

/// Asked for by name, anything is read as far as it goes.
#[test]
fn asked_for() {
    let options = Options { format: format(FORMAT), ..Options::default() };
    let reading = read_with(options, b"data: {\"choices\":[]}\n\n", 0);
    assert_eq!((reading.format, ids(&reading)), (FORMAT, vec!["unknown-event", "no-end"]));
}
