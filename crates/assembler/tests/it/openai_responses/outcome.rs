//! B.5, B.6, B.9: how a response ends, and which output is the answer.

use serde_json::{Value, json};
use teeline_assembler::Verdict;

use super::{
    COMPLETED, CREATED, MESSAGE, added, completed, delta, done, event, message, read_whole, stream,
};
use crate::support::{ids, read, response, told};

/// Each rule of B.5: events, and the response they give.
#[test]
fn which_output_is_the_answer() {
    let hi = message("\"Hi\"");
    let item: Value = serde_json::from_str(&hi).unwrap();
    let built = [added(MESSAGE), delta("\"Hi\""), done(&hi)];
    let with = |last: &str| {
        let mut all = vec![CREATED.to_owned()];
        all.extend(built.iter().cloned());
        all.push(last.to_owned());
        stream(&all)
    };
    let object = |status: &str, output: Value| json!({"id": "r", "object": "response", "status": status, "model": "m", "output": output});
    let ended = |mut object: Value| {
        object["usage"] = json!({"total_tokens": 1});
        object
    };
    let other = r#"[{"type":"message","id":"other","content":[{"type":"output_text","text":"Hi","x":1.50}],"role":"assistant"}]"#;
    for (body, want) in [
        // 1: the final object word for word
        (with(&completed(other)), ended(object("completed", serde_json::from_str(other).unwrap()))),
        // 2: without an output, that of the events
        (with(COMPLETED), ended(object("completed", json!([item])))),
        (with(&completed("null")), ended(object("completed", json!([item])))),
        (
            with(&COMPLETED.replace(r#","output":[]"#, "")),
            ended(object("completed", json!([item]))),
        ),
        // 3: no terminal event
        (with(r#"{"type":"keepalive"}"#), object("in_progress", json!([item]))),
        (
            with(r#"{"type":"response.in_progress","response":{"id":"r","status":"cancelled"}}"#),
            json!({"id": "r", "status": "cancelled", "output": [item]}),
        ),
        // 4: neither start nor end
        (stream(&built), json!({"object": "response", "output": [item]})),
    ] {
        assert_eq!(response(&read(body.as_bytes(), 0)), want, "{body}");
    }
    // 5: never from `output_text`
    let reading = read(
        with(&completed(other).replace("\"model\"", "\"output_text\":\"\",\"model\"")).as_bytes(),
        0,
    );
    assert_eq!((&*reading.outputs[0].text, &response(&reading)["output_text"]), ("Hi", &json!("")));
}

/// A final object that is none is named, and what the events built is the answer.
#[test]
fn a_final_object_of_another_shape() {
    let with = |last: &str| {
        let built = [added(MESSAGE), delta("\"Hi\""), done(&message("\"Hi\""))];
        let last = format!(r#"{{"type":"response.completed","response":{last}}}"#);
        let body = stream(&[&[CREATED.to_owned()], &built[..], &[last]].concat());
        let reading = read(body.as_bytes(), 0);
        assert_eq!((&*reading.outputs[0].text, reading.verdict), ("Hi", Verdict::Finished));
        told(&reading)
    };
    let uncounted = json!(["usage-missing", null, {}]);
    let args = json!({"field": "response", "expected": "an object", "value": "[1]"});
    assert_eq!(with("[1]"), [json!(["bad-field", 4, args]), uncounted.clone()]);
    assert_eq!(with("null"), [uncounted]);
}

/// Numbers and order of the final object are kept.
#[test]
fn the_final_object_is_kept_word_for_word() {
    let last = r#"{"z":1e400,"id":"r","output":[{"type":"message","content":[{"text":"\ud83d","type":"output_text"}]}],"a":1.0}"#;
    let reading = read(
        stream(&[CREATED, &format!(r#"{{"type":"response.completed","response":{last}}}"#)])
            .as_bytes(),
        0,
    );
    assert_eq!(reading.response.unwrap().get(), last);
    assert_eq!(reading.outputs[0].text, "\u{fffd}");
}

/// The last event, the reading's reason, words of its meaning, the verdict.
type Ending = (&'static str, Option<&'static str>, Option<&'static str>, Verdict);

const ENDINGS: &[Ending] = &[
    (
        r#"completed","response":{"status":"completed""#,
        Some("completed"),
        Some("natural end"),
        Verdict::Finished,
    ),
    // the event's name, where the object has no status
    (
        r#"completed","response":{"id":"r""#,
        Some("completed"),
        Some("natural end"),
        Verdict::Finished,
    ),
    (
        r#"incomplete","response":{"id":"r""#,
        Some("incomplete"),
        Some("real and partial"),
        Verdict::Finished,
    ),
    (
        r#"incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}"#,
        Some("incomplete"),
        Some("budget of output tokens"),
        Verdict::Finished,
    ),
    (
        r#"incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}"#,
        Some("incomplete"),
        Some("a filter stopped it"),
        Verdict::Finished,
    ),
    (
        r#"incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"mood"}"#,
        Some("incomplete"),
        Some("real and partial"),
        Verdict::Finished,
    ),
    (
        r#"failed","response":{"status":"failed","error":{"code":"c","message":"m"}"#,
        Some("failed"),
        Some("Generating failed"),
        Verdict::DidNotFinish,
    ),
    (
        r#"in_progress","response":{"status":"cancelled""#,
        Some("cancelled"),
        Some("was cancelled"),
        Verdict::DidNotFinish,
    ),
    (r#"in_progress","response":{"status":"in_progress""#, None, None, Verdict::DidNotFinish),
    (r#"completed","response":{"status":"odd""#, Some("odd"), None, Verdict::Finished),
];

#[test]
fn statuses_and_their_meanings() {
    for (last, reason, meaning, verdict) in ENDINGS {
        let body =
            stream(&[CREATED, &added(MESSAGE), &format!(r#"{{"type":"response.{last}}}}}"#)]);
        let reading = read(body.as_bytes(), 0);
        let finish = reading.outputs[0].finish.clone();
        assert_eq!(finish.as_ref().map(|finish| &*finish.reason), *reason, "{body}");
        let got = finish.and_then(|finish| finish.meaning).unwrap_or_default();
        assert!(
            got.contains(meaning.unwrap_or_default()) && got.is_empty() == meaning.is_none(),
            "{body}: {got}"
        );
        assert_eq!(reading.verdict, *verdict, "{body}");
    }
}

/// B.6: the shapes of errors, and what is said of them.
#[test]
fn errors() {
    for (event, message, code, meaning) in [
        (
            r#"{"type":"error","code":"server_error","message":"boom","param":null}"#,
            "boom",
            Some("server_error"),
            Some("The provider failed"),
        ),
        (
            r#"{"type":"error","error":{"type":"invalid_request_error","code":"image_too_large","message":"boom"}}"#,
            "boom",
            Some("image_too_large"),
            Some("too many pixels"),
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"bio_policy","message":"no"}}}"#,
            "no",
            Some("bio_policy"),
            Some("biological"),
        ),
        (
            r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#,
            "the response failed and gave no error",
            None,
            None,
        ),
        (r#"{"type":"response.failed"}"#, "the response failed and gave no error", None, None),
    ] {
        let reading = read(stream(&[CREATED, event]).as_bytes(), 0);
        assert_eq!((ids(&reading), reading.verdict), (vec!["error-event"], Verdict::DidNotFinish));
        let error = reading.error.unwrap();
        assert_eq!((&*error.message, error.code.as_deref()), (message, code), "{event}");
        assert_eq!(error.meaning.is_some(), meaning.is_some(), "{event}");
        assert!(error.meaning.unwrap_or_default().contains(meaning.unwrap_or_default()), "{event}");
        assert!(reading.outputs.is_empty(), "only an error came: {event}");
    }
}

/// B.7: the newest object counts, and the common counters are picked out of it.
#[test]
fn usage() {
    let body = stream(&[
        r#"{"type":"response.created","response":{"usage":null}}"#,
        r#"{"type":"response.in_progress","response":{"usage":{"input_tokens":1}}}"#,
        r#"{"type":"response.completed","response":{"usage":{"input_tokens":12345678901234567890,"input_tokens_details":{"cached_tokens":3,"cache_write_tokens":1},"output_tokens":4,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":9,"cost":0.10}}}"#,
    ]);
    let usage = read(body.as_bytes(), 0).usage.unwrap();
    assert_eq!(
        (
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens
        ),
        (Some(12_345_678_901_234_567_890), Some(4), Some(9), Some(3), Some(2))
    );
    assert!(usage.raw.get().ends_with(r#""cost":0.10}"#));
}

/// Events, an item of the final object, and whether the two agree.
fn agree(events: &str, last: &str, agrees: bool) {
    let mut all: Vec<&str> = vec![CREATED];
    all.extend(events.lines());
    let last = completed(&format!("[{last}]"));
    all.push(&last);
    let want = if agrees { vec![] } else { vec!["done-mismatch"] };
    assert_eq!(ids(&read(stream(&all).as_bytes(), 0)), want, "{events}\n{last}");
}

#[test]
fn a_text_is_compared_with_the_final_object() {
    let text = |text: &str| added(MESSAGE) + "\n" + &delta(text);
    for (events, last, agrees) in [
        (text("\"Hi\""), message("\"Hi\""), true),
        (text("\"Hi\""), message("\"Hi \""), false),
        // ids, statuses, keys on one side only, key order
        (
            text("\"Hi\""),
            message("\"Hi\"").replace("\"i\"", "\"j\",\"status\":\"in_progress\",\"phase\":\"x\""),
            true,
        ),
        // a text that is missing says nothing
        (text("\"Hi\""), message("null"), true),
        (text("\"Hi\""), MESSAGE.to_owned(), true),
        (text("\"Hi\""), MESSAGE.replace(r#","content":[]"#, ""), true),
        // a list that has other parts does
        (
            text("\"Hi\"")
                + "\n"
                + &delta("\"Ho\"").replace("\"content_index\":0", "\"content_index\":1"),
            message("\"Hi\""),
            false,
        ),
        // as many parts, counted otherwise
        (
            text("\"Hi\"").replace("\"content_index\":0", "\"content_index\":1"),
            message("\"Hi\""),
            true,
        ),
    ] {
        agree(&events, &last, agrees);
    }
}

/// What else is compared, and what is left out of every comparison.
#[test]
fn an_item_is_compared_with_the_final_object() {
    let reasoning = |summary: &str| {
        format!(r#"{{"id":"i","type":"reasoning","summary":[{summary}],"encrypted_content":"A"}}"#)
    };
    let summary = event("reasoning_summary_text.delta", r#""summary_index":0,"delta":"Plan""#);
    let call =
        |fields: &str| format!(r#"{{"type":"function_call","call_id":"c","name":"f",{fields}}}"#);
    let arguments = event("function_call_arguments.delta", r#""delta":"{}""#);
    let code = |fields: &str| format!(r#"{{"type":"code_interpreter_call",{fields}}}"#);
    for (events, last, agrees) in [
        (
            added(&reasoning("")) + "\n" + &summary,
            reasoning(r#"{"type":"summary_text","text":"Plan"}"#).replace("\"A\"", "\"B\""),
            true,
        ),
        (
            added(&reasoning("")) + "\n" + &summary,
            reasoning(r#"{"type":"summary_text","text":"Plan!"}"#),
            false,
        ),
        (
            added(&call("\"arguments\":\"\"")) + "\n" + &arguments,
            call("\"arguments\":\"{}\""),
            true,
        ),
        (
            added(&call("\"arguments\":\"\"")) + "\n" + &arguments,
            call("\"arguments\":\"{ }\""),
            false,
        ),
        // what came with the item only is replaced without a word
        (
            added(&code("\"code\":\"a\",\"outputs\":[1]")),
            code("\"code\":\"b\",\"outputs\":[2]"),
            true,
        ),
    ] {
        agree(&events, &last, agrees);
    }
}

/// The final object's items are told apart though the events numbered them otherwise, sent them in another
/// order, or left some out.
#[test]
fn final_items_find_those_that_were_built() {
    let at = |event: &str, index: u64| {
        event.replace("\"output_index\":0", &format!("\"output_index\":{index}"))
    };
    let built = |index: u64, text: &str| [at(&added(MESSAGE), index), at(&delta(text), index)];
    let reasoning = r#"{"type":"reasoning","summary":[]}"#;
    for (events, output, text) in [
        // numbered otherwise
        (built(1, "\"a\"").to_vec(), vec![message("\"a\"")], "a"),
        (
            [built(3, "\"a\""), built(7, "\"b\"")].concat(),
            vec![message("\"a\""), message("\"b\"")],
            "ab",
        ),
        // the first ones were not seen
        (built(1, "\"b\"").to_vec(), vec![message("\"a\""), message("\"b\"")], "ab"),
        // another order
        (
            [built(0, "\"a\"").to_vec(), vec![at(&added(reasoning), 1)]].concat(),
            vec![reasoning.to_owned(), message("\"a\"")],
            "a",
        ),
        // streamed the other way round
        (
            [built(1, "\"b\""), built(0, "\"a\"")].concat(),
            vec![message("\"a\""), message("\"b\"")],
            "ab",
        ),
    ] {
        let last = completed(&format!("[{}]", output.join(",")));
        let mut all: Vec<&str> = vec![CREATED];
        all.extend(events.iter().map(String::as_str));
        all.push(&last);
        let reading = read(stream(&all).as_bytes(), 0);
        assert_eq!((&*reading.outputs[0].text, ids(&reading)), (text, vec![]), "{events:?}");
    }
}

/// Text that the final object has no item for is no longer of the answer.
#[test]
fn an_item_that_is_not_in_the_final_object_gives_way() {
    let other = added(MESSAGE).replace("\"output_index\":0", "\"output_index\":1");
    let text = delta("\"lost\"").replace("\"output_index\":0", "\"output_index\":1");
    let last = completed(&format!("[{}]", message("\"Hi\"")));
    let body = stream(&[CREATED, &added(MESSAGE), &delta("\"Hi\""), &other, &text, &last]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((&*reading.outputs[0].text, ids(&reading)), ("Hi", vec!["done-mismatch"]));
}

/// With nothing but a start and an end there is one answer, and it is empty.
#[test]
fn an_empty_answer() {
    let reading = read_whole::<&str>(&[]);
    assert_eq!((reading.outputs.len(), reading.verdict), (1, Verdict::Finished));
    assert_eq!(reading.summary, "Finished: 1 response, 0 characters.");
    assert_eq!(reading.outputs[0].role.as_deref(), Some("assistant"));
}
