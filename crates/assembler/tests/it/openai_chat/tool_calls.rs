//! A.4.1: calls out of fragments.

use serde_json::{Value, json};

use super::{deltas, message};
use crate::support::{ids, response};

/// A fragment with these fields and a name and arguments that are whole.
fn whole(fields: &str) -> String {
    format!(r#"{{{fields},"type":"function","function":{{"name":"f","arguments":"{{}}"}}}}"#)
}

/// A fragment with these fields, a name (or none) and these arguments.
fn fragment(fields: &str, name: &str, arguments: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!(r#""name":"{name}","#) };
    format!(r#"{{{fields},"function":{{{name}"arguments":"{arguments}"}}}}"#)
}

/// Reads each fragment as a frame of its own and compares `[id, name, arguments]` and the findings.
fn check(fragments: &[String], want: &Value, found: &[&str]) {
    let frames: Vec<String> =
        fragments.iter().map(|one| format!(r#"{{"tool_calls":[{one}]}}"#)).collect();
    let reading = deltas(&frames);
    let calls = &reading.outputs[0].tool_calls;
    let got: Value = calls.iter().map(|call| json!([call.id, call.name, call.arguments])).collect();
    assert_eq!(&got, want, "{fragments:?}");
    assert_eq!(ids(&reading), found, "{fragments:?}");
    assert!(calls.iter().all(|call| call.complete));
    let response = response(&reading);
    let listed = response["choices"][0]["message"]["tool_calls"].as_array().map_or(0, Vec::len);
    assert_eq!(listed, calls.len());
}

/// Rule 1.
#[test]
fn fragments_without_an_index() {
    let one = json!([["a", "f", "{}"]]);
    check(&[whole(r#""id":"a""#)], &one, &["tool-call-no-index"]);
    let two = json!([["a", "f", "{}"], ["b", "f", "{}"]]);
    check(
        &[whole(r#""id":"a","index":null"#), whole(r#""id":"b","index":"1""#)],
        &two,
        &["tool-call-no-index"],
    );
    check(
        &[
            fragment(r#""id":"a""#, "f", "["),
            fragment(r#""id":"b""#, "g", "2"),
            fragment(r#""id":"a""#, "", "1]"),
        ],
        &json!([["a", "f", "[1]"], ["b", "g", "2"]]),
        &["tool-call-no-index"],
    );
    // One without an id goes on with the last call.
    check(
        &[
            whole(r#""id":"a""#),
            fragment(r#""id":"b""#, "g", "["),
            fragment(r#""type":"function""#, "", "]"),
        ],
        &json!([["a", "f", "{}"], ["b", "g", "[]"]]),
        &["tool-call-no-index"],
    );
}

#[test]
fn indexes_need_not_begin_at_0_nor_be_dense() {
    let two = json!([["a", "f", "{}"], ["b", "f", "{}"]]);
    check(&[whole(r#""index":7,"id":"b""#), whole(r#""index":3,"id":"a""#)], &two, &[]);
}

/// Rule 2.
#[test]
fn one_index_for_several_calls() {
    let two = json!([["a", "f", "{}"], ["b", "f", "{}"]]);
    let three = json!([["a", "f", "{}"], ["b", "f", "{}"], ["c", "f", "{}"]]);
    let (a, b) = (whole(r#""index":0,"id":"a""#), whole(r#""index":0,"id":"b""#));
    check(&[a.clone(), b.clone()], &two, &["index-reused"]);
    // whole arguments and a new id are enough
    let nameless = fragment(r#""index":0,"id":"b""#, "", "{}");
    check(
        &[a.clone(), nameless],
        &json!([["a", "f", "{}"]]),
        &["index-reused", "tool-call-incomplete"],
    );
    // a real second index after that
    check(&[a.clone(), b.clone(), whole(r#""index":1,"id":"c""#)], &three, &["index-reused"]);
    // and back to the first
    check(
        &[
            fragment(r#""index":0,"id":"a""#, "f", "["),
            b,
            fragment(r#""index":0,"id":"a""#, "f", "]"),
        ],
        &json!([["a", "f", "[]"], ["b", "f", "{}"]]),
        &["index-reused"],
    );
    // a new id that is only a new id
    check(
        &[
            fragment(r#""index":0,"id":"a""#, "f", "["),
            fragment(r#""index":0,"id":"b""#, "", "1"),
            fragment(r#""index":0,"id":"c""#, "", "]"),
        ],
        &json!([["a", "f", "[1]"]]),
        &["id-changed"],
    );
}

/// Rules 3 and 4.
#[test]
fn identities_come_first_arguments_in_pieces() {
    check(
        &[
            fragment(r#""index":0,"id":"","type":"function""#, "", "{"),
            fragment(r#""index":0,"id":"a""#, "f", ""),
            fragment(r#""index":0,"id":"a""#, "f", "}"),
        ],
        &json!([["a", "f", "{}"]]),
        &[],
    );
    check(
        &[
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":null}}"#.to_owned(),
            r#"{"index":0,"function":{"arguments":{ "x": 1 }}}"#.to_owned(),
        ],
        &json!([["a", "f", "{\"x\":1}"]]),
        &[],
    );
}

/// Rules 5 and 8.
#[test]
fn free_and_empty_arguments() {
    check(
        &[
            r#"{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":"not "}}"#
                .to_owned(),
            r#"{"index":0,"custom":{"input":"json"}}"#.to_owned(),
        ],
        &json!([["a", "f", "not json"]]),
        &[],
    );
    check(
        &[fragment(r#""index":0,"id":"a""#, "f", "")],
        &json!([["a", "f", ""]]),
        &["arguments-not-json"],
    );
}

/// Rules 6 and 9: other keys are merged into the call, custom calls keep their shape.
#[test]
fn calls_in_the_response() {
    let (message, found) = message(&[
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"x":1}}},{"index":1,"id":"b","custom":{"name":"g","input":"t"}}]}"#,
        r#"{"tool_calls":[{"index":0,"extra_content":{"google":{"y":2}}}]}"#,
    ]);
    let want = json!([
        {
            "id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"},
            "extra_content": {"google": {"x": 1, "y": 2}},
        },
        {"id": "b", "type": "custom", "custom": {"name": "g", "input": "t"}},
    ]);
    assert_eq!((message["tool_calls"].clone(), found), (want, vec![]));
}

/// Fragments of two calls and two choices in any order stay apart.
#[test]
fn choices_have_calls_of_their_own() {
    let call = |choice: u64, id: &str, arguments: &str| {
        let fragment = fragment(&format!(r#""index":0,"id":"{id}""#), "f", arguments);
        format!(
            r#"{{"choices":[{{"index":{choice},"delta":{{"tool_calls":[{fragment}]}},"finish_reason":"stop"}}]}}"#
        )
    };
    let usage = r#"{"choices":[],"usage":{}}"#.to_owned();
    let reading = super::read_done(&[
        call(1, "b", "["),
        call(0, "a", "{"),
        call(1, "b", "]"),
        call(0, "a", "}"),
        usage,
    ]);
    let arguments: Vec<&str> =
        reading.outputs.iter().map(|output| output.tool_calls[0].arguments.as_str()).collect();
    assert_eq!((arguments, ids(&reading)), (vec!["{}", "[]"], vec![]));
}
