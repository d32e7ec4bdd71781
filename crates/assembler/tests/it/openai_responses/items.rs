//! B.2 to B.4: the items, how events find them, and what they are in the reading.

use serde_json::{Value, json};

use super::{
    CREATED, MESSAGE, added, completed, delta, done, event, message, output, read_whole, stream,
};
use crate::support::{ids, read, value};

/// B.2: the item by its index, or else its id, or else the last one opened.
#[test]
fn events_find_their_item() {
    let second = MESSAGE.replace("\"i\"", "\"j\"");
    let open = [added(MESSAGE), added(&second).replace("\"output_index\":0", "\"output_index\":4")];
    for (fields, want) in [
        (r#""output_index":0"#, ["a", ""]),
        (r#""output_index":4"#, ["", "a"]),
        (r#""item_id":"i""#, ["a", ""]),
        (r#""item_id":"j""#, ["", "a"]),
        (r#""item_id":"?""#, ["", "a"]),
        (r#""output_index":0,"item_id":"j""#, ["a", ""]),
        (r#""obfuscation":"x""#, ["", "a"]),
    ] {
        let text = format!(r#"{{"type":"response.output_text.delta",{fields},"delta":"a"}}"#);
        let (output, _) = output(&[open[0].as_str(), &open[1], &text]);
        let got = [0, 1]
            .map(|at| output[at]["content"][0]["text"].as_str().unwrap_or_default().to_owned());
        assert_eq!(got, want, "{fields}");
    }
}

/// An index is no place in a vector: the largest one costs nothing, and the output has no holes.
#[test]
fn indexes_are_no_places() {
    let far = |event: &str| event.replace("\"output_index\":0", "\"output_index\":2147483647");
    let part = delta("\"b\"").replace("\"content_index\":0", "\"content_index\":2147483647");
    let (output, found) =
        output(&[&added(MESSAGE), &far(&added(MESSAGE)), &far(&part), &delta("\"a\"")]);
    let text = |at: usize| &output[at]["content"][0]["text"];
    assert_eq!((output.as_array().unwrap().len(), found), (2, vec![]));
    assert_eq!([text(0), text(1)], ["a", "b"]);
}

/// Texts are joined in the order of the output, whatever came first.
#[test]
fn texts_are_in_the_order_of_the_output() {
    let at = |event: &str, output: u64, content: u64| {
        event
            .replace("\"output_index\":0", &format!("\"output_index\":{output}"))
            .replace("\"content_index\":0", &format!("\"content_index\":{content}"))
    };
    let reading = read_whole(&[
        at(&added(MESSAGE), 1, 0),
        at(&delta("\"d\""), 1, 0),
        added(MESSAGE),
        at(&delta("\"b\""), 0, 1),
        at(&delta("\"c\""), 0, 1),
        delta("\"a\""),
        at(&delta("\"e\""), 1, 0),
    ]);
    assert_eq!(reading.outputs[0].text, "abcde");
}

/// What an item without content events gives, and what comes of text that its start already had.
#[test]
fn servers_that_send_less() {
    let text =
        |text: &str| event("output_text.done", &format!(r#""content_index":0,"text":{text}"#));
    for (events, want) in [
        // no content_part.added
        (vec![added(MESSAGE), delta("\"a\"")], "a"),
        // only the whole text
        (vec![added(MESSAGE), text("\"a\"")], "a"),
        // only the whole item
        (vec![added(MESSAGE), done(&message("\"a\""))], "a"),
        // the item had its text when it was added, or some of it
        (vec![added(&message("\"a\""))], "a"),
        (vec![added(&message("\"a\"")), delta("\"b\"")], "ab"),
        (vec![added(&message("null")), delta("\"b\"")], "b"),
        // late events
        (vec![added(MESSAGE), done(&message("\"a\"")), text("\"a\"")], "a"),
    ] {
        let reading = read_whole(&events);
        assert_eq!((&*reading.outputs[0].text, ids(&reading)), (want, vec![]), "{events:?}");
    }
}

/// An item that was opened twice begins anew.
#[test]
fn a_second_start_replaces_the_item() {
    let (output, found) =
        output(&[&added(MESSAGE), &delta("\"old\""), &added(MESSAGE), &delta("\"new\"")]);
    assert_eq!((&output[0]["content"][0]["text"], found), (&json!("new"), vec!["block-restarted"]));
}

/// B.4: which items are calls of the client, and what they are called with.
#[test]
fn calls() {
    for (item, want) in [
        (r#""function_call","call_id":"c","name":"f","arguments":"{}""#, Some(json!(["f", "{}"]))),
        (r#""custom_tool_call","call_id":"c","name":"f","input":"ls""#, Some(json!(["f", "ls"]))),
        (
            r#""computer_call","call_id":"c","action":{"type":"click","x":1}"#,
            Some(json!(["computer", r#"{"type":"click","x":1}"#])),
        ),
        (r#""computer_call","call_id":"c","actions":[ 1 ]"#, Some(json!(["computer", "[1]"]))),
        (
            r#""local_shell_call","call_id":"c","action":{"command":["ls"]}"#,
            Some(json!(["local_shell", r#"{"command":["ls"]}"#])),
        ),
        (
            r#""shell_call","call_id":"c","action":{"commands":["ls"]}"#,
            Some(json!(["shell", r#"{"commands":["ls"]}"#])),
        ),
        (
            r#""apply_patch_call","call_id":"c","operation":{"type":"delete_file"}"#,
            Some(json!(["apply_patch", r#"{"type":"delete_file"}"#])),
        ),
        (
            r#""tool_search_call","call_id":"c","execution":"client","arguments":{"q":1}"#,
            Some(json!(["tool_search", r#"{"q":1}"#])),
        ),
        // what the provider runs
        (r#""tool_search_call","call_id":null,"execution":"server","arguments":{}"#, None),
        (r#""shell_call","call_id":"c","environment":{"type":"container_reference"}"#, None),
        (r#""mcp_call","name":"f","arguments":"{}""#, None),
        (r#""mcp_approval_request","name":"f","arguments":"{}""#, None),
        (r#""web_search_call","call_id":"","name":"f","arguments":"{}""#, None),
        (r#""something_call","call_id":"c","name":"f""#, None),
    ] {
        let item = format!(r#"{{"type":{item}}}"#);
        for events in [vec![added(&item), done(&item)], vec![completed(&format!("[{item}]"))]] {
            let mut all = vec![CREATED.to_owned()];
            all.extend(events);
            let reading = read(stream(&all).as_bytes(), 0);
            let calls: Vec<Value> = reading.outputs[0]
                .tool_calls
                .iter()
                .map(|call| {
                    assert_eq!((call.id.as_deref(), call.complete), (Some("c"), true));
                    json!([call.name, call.arguments])
                })
                .collect();
            assert_eq!(calls, want.clone().into_iter().collect::<Vec<_>>(), "{item}");
        }
    }
}

/// A call whose output is in the same response was run by the provider.
#[test]
fn a_call_with_its_output_is_answered() {
    let call = r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#;
    let result = |id: &str| {
        format!(
            r#"{{"type":"shell_call_output","call_id":"{id}","output":[{{"stdout":"a","stderr":""}}]}}"#
        )
    };
    for (id, calls) in [("c", 0), ("other", 1)] {
        let second = added(&result(id)).replace("\"output_index\":0", "\"output_index\":1");
        let reading = read_whole(&[&added(call), &done(call), &second]);
        assert_eq!(reading.outputs[0].tool_calls.len(), calls, "{id}");
        let last = completed(&format!("[{call},{}]", result(id)));
        let reading = read(stream(&[CREATED, &last]).as_bytes(), 0);
        assert_eq!(reading.outputs[0].tool_calls.len(), calls, "{id}");
    }
}

/// The common view's reasoning is the summary; where there is none, the reasoning itself.
#[test]
fn reasoning_is_the_summary_or_else_the_text() {
    let summary = event("reasoning_summary_text.delta", r#""summary_index":0,"delta":"S""#);
    let text = event("reasoning_text.delta", r#""content_index":0,"delta":"T""#);
    let second = |event: &str| event.replace("\"output_index\":0", "\"output_index\":1");
    let open = added(r#"{"id":"i","type":"reasoning","summary":[]}"#);
    for (events, want) in [
        (vec![open.clone(), summary.clone()], "S"),
        (vec![open.clone(), text.clone()], "T"),
        (vec![open.clone(), summary.clone(), text.clone()], "S"),
        (vec![open.clone(), text.clone(), summary.clone()], "S"),
        // item by item
        (vec![open.clone(), summary.clone(), text.clone(), second(&open), second(&text)], "ST"),
        (vec![open.clone(), text.clone(), second(&open), second(&text), second(&summary)], "TS"),
    ] {
        assert_eq!(read_whole(&events).outputs[0].reasoning, want, "{events:?}");
    }
}

/// Every item has its parts in the reading.
#[test]
fn parts() {
    let mcp = r#"{"id":"i","type":"mcp_call","server_label":"s","name":"f","arguments":"{}","output":"4","error":null}"#;
    for (item, want) in [
        (message("\"Hi\"").replace("\"role\"", "\"phase\":\"commentary\",\"role\""), json!([{"kind": "text", "text": "Hi", "phase": "commentary"}])),
        (r#"{"type":"reasoning","summary":[],"encrypted_content":"abcd"}"#.to_owned(), json!([{"kind": "encrypted-reasoning", "bytes": 4}])),
        (
            mcp.to_owned(),
            json!([{"kind": "mcp-call", "text": "{}", "id": "i", "server_label": "s", "name": "f", "output": "4", "error": null}]),
        ),
        (
            r#"{"type":"web_search_call","status":"completed","action":{"query":"q"}}"#.to_owned(),
            json!([{"kind": "web-search-call", "status": "completed", "action": {"query": "q"}}]),
        ),
        (
            r#"{"type":"code_interpreter_call","code":"1","outputs":null}"#.to_owned(),
            json!([{"kind": "code-interpreter-call", "text": "1", "outputs": null}]),
        ),
        (r#"{"type":"brand_new","x":1}"#.to_owned(), json!([{"kind": "other", "type": "brand_new", "x": 1}])),
        (
            r#"{"id":"i","type":"function_call","call_id":"c","name":"f","arguments":"{}","status":"completed"}"#.to_owned(),
            json!([{"kind": "tool-call", "index": 0, "id": "c", "name": "f", "arguments": "{}", "complete": true, "status": "completed"}]),
        ),
    ] {
        let reading = value(&read_whole(&[added(&item), done(&item)]));
        assert_eq!(reading["outputs"][0]["parts"], want, "{item}");
        // What is large is in the response only.
        let large = item.replacen('{', &format!(r#"{{"large":"{}","#, "x".repeat(5_000)), 1);
        let reading = value(&read_whole(&[added(&large), done(&large)]));
        assert_eq!(reading["outputs"][0]["parts"], want, "{item}");
        assert!(reading["response"]["output"][0]["large"].is_string());
    }
}

/// Snapshots that are longer than what was added give their items; shorter ones take nothing away.
#[test]
fn snapshots_of_the_response() {
    let snapshot = |output: &str| {
        format!(r#"{{"type":"response.in_progress","response":{{"output":{output}}}}}"#)
    };
    let (a, ab) = (message("\"a\""), message("\"ab\""));
    for (events, want) in [
        (vec![snapshot(&format!("[{a}]"))], "a"),
        (vec![snapshot(&format!("[{a}]")), snapshot(&format!("[{ab}]"))], "ab"),
        (vec![snapshot(&format!("[{a}]")), added(MESSAGE), delta("\"b\"")], "b"),
        (vec![snapshot(&format!("[{a}]")), delta("\"b\"")], "ab"),
        (vec![added(MESSAGE), delta("\"b\""), snapshot("[]")], "b"),
        (vec![added(MESSAGE), delta("\"b\""), snapshot(&format!("[{a}]"))], "b"),
    ] {
        let reading = read_whole(&events);
        assert_eq!((&*reading.outputs[0].text, ids(&reading)), (want, vec![]), "{events:?}");
    }
}

/// LAST on the item.
#[test]
fn agents() {
    let named = delta("\"a\"").replace("\"delta\"", r#""agent":{"name":"x"},"delta""#);
    let (output, found) = output(&[&added(MESSAGE), &named]);
    assert_eq!((&output[0]["agent"], found), (&json!({"name": "x"}), vec![]));
}
