//! A.4: what the fields of a delta give.

use serde_json::json;

use super::{deltas, message};
use crate::support::ids;

/// Each field's verb, and that nothing is found.
#[test]
fn fields() {
    for (frames, want) in [
        (&[r"{}"][..], json!({"content": null})),
        (&[r#"{"content":null}"#], json!({"content": null})),
        (&[r#"{"role":"assistant","content":""}"#], json!({"content": ""})),
        // a repeated role stays one
        (
            &[
                r#"{"role":"assistant","content":"a"}"#,
                r#"{"role":"assistant","content":"b"}"#,
                r#"{"role":"","content":null}"#,
            ],
            json!({"content": "ab"}),
        ),
        (
            &[r#"{"refusal":null}"#, r#"{"refusal":"No"}"#, r#"{"refusal":"."}"#],
            json!({"content": null, "refusal": "No."}),
        ),
        (
            &[
                r#"{"reasoning_content":"a","content":null}"#,
                r#"{"reasoning_content":"b"}"#,
                r#"{"content":"c","reasoning_content":null}"#,
            ],
            json!({"content": "c", "reasoning_content": "ab"}),
        ),
        (
            &[
                r#"{"reasoning":null}"#,
                r#"{"thinking":"t"}"#,
                r#"{"thoughts":"u"}"#,
                r#"{"reasoning_text":""}"#,
            ],
            json!({"content": null, "reasoning": null, "thinking": "t", "thoughts": "u", "reasoning_text": ""}),
        ),
        (
            &[
                r#"{"function_call":{"name":"f","arguments":""}}"#,
                r#"{"function_call":{"arguments":"{\"a\""}}"#,
                r#"{"function_call":{"arguments":":1}"}}"#,
            ],
            json!({"content": null, "function_call": {"name": "f", "arguments": "{\"a\":1}"}}),
        ),
        (
            &[r#"{"function_call":null,"tool_calls":null}"#],
            json!({"content": null, "function_call": null, "tool_calls": null}),
        ),
        (
            &[
                r#"{"audio":{"id":"a","transcript":"Hi"}}"#,
                r#"{"audio":{"data":"QUJD"}}"#,
                r#"{"audio":{"id":"","data":"REVG","transcript":"!","expires_at":9}}"#,
            ],
            json!({"content": null, "audio": {"id": "a", "transcript": "Hi!", "data": "QUJDREVG", "expires_at": 9}}),
        ),
    ] {
        assert_eq!(message(frames), (want, vec![]), "{frames:?}");
    }
}

#[test]
fn lists_and_objects() {
    for (frames, want) in [
        // search proxies send the list again and again
        (
            &[
                r#"{"annotations":[{"url":"1"}]}"#,
                r#"{"annotations":[{"url":"1"},{"url":"2"}]}"#,
                r#"{"annotations":[]}"#,
            ][..],
            json!({"content": null, "annotations": [{"url": "1"}, {"url": "2"}]}),
        ),
        (&[r#"{"annotations":[]}"#], json!({"content": null, "annotations": []})),
        (
            &[r#"{"reasoning_steps":[{"a":1}]}"#, r#"{"reasoning_steps":[{"a":2}]}"#],
            json!({"content": null, "reasoning_steps": [{"a": 1}, {"a": 2}]}),
        ),
        (
            &[r#"{"extra_content":{"google":{"a":1}}}"#, r#"{"extra_content":{"google":{"b":2}}}"#],
            json!({"content": null, "extra_content": {"google": {"a": 1, "b": 2}}}),
        ),
        (
            &[
                r#"{"executed_tools":[{"index":0,"type":"search"}]}"#,
                r#"{"executed_tools":[{"index":1,"type":"python"},{"index":0,"output":"x"}]}"#,
            ],
            json!({"content": null, "executed_tools": [
                {"index": 0, "type": "search", "output": "x"},
                {"index": 1, "type": "python"},
            ]}),
        ),
        (
            &[r#"{"images":[{"n":1}]}"#, r#"{"images":[{"n":2}],"index":0}"#],
            json!({"content": null, "images": [{"n": 1}, {"n": 2}]}),
        ),
        (
            &[r#"{"tool_call_id":"t","name":null}"#, r#"{"name":"n"}"#],
            json!({"content": null, "tool_call_id": "t", "name": "n"}),
        ),
    ] {
        assert_eq!(message(frames), (want, vec![]), "{frames:?}");
    }
}

/// Of the places that reasoning comes in one is shown.
#[test]
fn one_reasoning_is_shown() {
    let detail = r#"{"type":"reasoning.text","text":"c"}"#;
    for (frame, want) in [
        (
            format!(
                r#"{{"reasoning":"a","reasoning_content":"b","reasoning_details":[{detail}]}}"#
            ),
            "b",
        ),
        (r#"{"thinking":"t","reasoning":"a"}"#.to_owned(), "a"),
        (r#"{"thoughts":"t","reasoning_content":""}"#.to_owned(), "t"),
        (
            format!(
                r#"{{"reasoning_details":[{detail},{{"type":"reasoning.summary","summary":"d"}}]}}"#
            ),
            "cd",
        ),
        (
            r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"m"}]}]}"#
                .to_owned(),
            "m",
        ),
    ] {
        assert_eq!(deltas(&[&frame]).outputs[0].reasoning, want, "{frame}");
    }
}

/// A.4.2.
#[test]
fn content_lists() {
    let thinking = |text: &str, more: &str| {
        let inner = format!(r#"{{"type":"text","text":"{text}"}}"#);
        format!(r#"{{"content":[{{"type":"thinking","thinking":[{inner}]{more}}}]}}"#)
    };
    let piece =
        |text: &str| json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]});
    let text = |text: &str| format!(r#"{{"content":"{text}"}}"#);
    for (frames, want) in [
        (vec![r#"{"content":[]}"#.to_owned()], json!([])),
        (
            vec![text(""), r#"{"content":[{"type":"text","text":"a"}]}"#.to_owned(), text("b")],
            json!([{"type": "text", "text": "ab"}]),
        ),
        (
            vec![thinking("h", ""), thinking("m", ""), text("4"), text("2")],
            json!([piece("hm"), {"type": "text", "text": "42"}]),
        ),
        (
            vec![thinking("a", r#","signature":"s","closed":true"#), thinking("b", "")],
            json!([
                {"type": "thinking", "thinking": [{"type": "text", "text": "a"}], "signature": "s", "closed": true},
                piece("b"),
            ]),
        ),
        (
            vec![
                text("See "),
                r#"{"content":[{"type":"reference","reference_ids":[1]}]}"#.to_owned(),
                text("."),
            ],
            json!([
                {"type": "text", "text": "See "},
                {"type": "reference", "reference_ids": [1]},
                {"type": "text", "text": "."},
            ]),
        ),
    ] {
        let (message, found) = message(&frames);
        assert_eq!((message["content"].clone(), found), (want, vec![]), "{frames:?}");
    }
}

/// A.4.3.
#[test]
fn reasoning_details() {
    let list = |item: &str| format!(r#"{{"reasoning_details":[{item}]}}"#);
    let text = |text: &str, more: &str| {
        list(&format!(r#"{{"type":"reasoning.text","text":"{text}"{more}}}"#))
    };
    for (frames, want) in [
        (
            vec![text("a", r#","format":"f""#), text("b", r#","signature":"s","format":"g""#)],
            json!([{"type": "reasoning.text", "text": "ab", "format": "f", "signature": "s"}]),
        ),
        (
            vec![
                text("a", ""),
                list(r#"{"type":"reasoning.encrypted","data":"x"}"#),
                text("b", ""),
            ],
            json!([
                {"type": "reasoning.text", "text": "a"},
                {"type": "reasoning.encrypted", "data": "x"},
                {"type": "reasoning.text", "text": "b"},
            ]),
        ),
        (
            vec![
                text("a", r#","index":0"#),
                text("z", r#","index":1"#),
                text("b", r#","index":0"#),
            ],
            json!([
                {"type": "reasoning.text", "text": "ab", "index": 0},
                {"type": "reasoning.text", "text": "z", "index": 1},
            ]),
        ),
    ] {
        let (message, found) = message(&frames);
        assert_eq!((message["reasoning_details"].clone(), found), (want, vec![]), "{frames:?}");
    }
}

/// A half of a character in one delta, the other in the next; and one that stays alone.
#[test]
fn surrogate_halves() {
    let reading = deltas(&[
        r#"{"content":"a\ud83d","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"\ud83d\"}"}}]}"#,
        r#"{"content":"\ude00b\ud83d"}"#,
    ]);
    assert_eq!(reading.outputs[0].text, "a😀b\u{fffd}");
    let call = &reading.outputs[0].tool_calls[0];
    assert_eq!((call.arguments.as_str(), call.arguments_valid), (r#"{"x":"\ud83d"}"#, true));
    let response = reading.response.as_ref().unwrap().get();
    assert!(response.contains(r#""content":"a😀b\ud83d""#), "{response}");
    assert_eq!(reading.outputs[0].parts[0].get(), "{\"kind\":\"text\",\"text\":\"a😀b\u{fffd}\"}");
    assert_eq!(ids(&reading), [""; 0]);
}
