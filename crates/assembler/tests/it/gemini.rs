//! Gemini: the examples of `FORMATS.md` D, and its rules one by one.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use teeline_assembler::{Options, Reading, Verdict, format};

use crate::{
    alike::told_alone,
    near::{Pair, check},
    support::{assemble, example, fixture, fixtures, ids, read, response, value},
};

fn json_of(name: &str) -> Value {
    serde_json::from_slice(&fixture("gemini", name)).unwrap()
}

/// A stream of these frames.
fn sse(frames: &[Value]) -> Vec<u8> {
    frames.iter().flat_map(|frame| format!("data: {frame}\n\n").into_bytes()).collect()
}

/// What a stream and the plain body it stands for have to agree in.
fn answer(reading: &Reading) -> Value {
    let reading = value(reading);
    json!([
        reading["format"],
        reading["outputs"],
        reading["usage"],
        reading["id"],
        reading["model"]
    ])
}

/// The stream blocks of `FORMATS.md` D give its json blocks, with the findings it names.
#[test]
fn examples() {
    example("gemini", "D1", "sse", &["crlf"], "finished");
    example("gemini", "D2", "array", &[], "finished");
    example("gemini", "D3", "sse", &[], "finished");
    example("gemini", "D4", "sse", &["prompt-blocked"], "finished");
    // Every line of the bare error is one (`FORMATS.md` G.6); five are listed.
    let lines = ["ignored-line"; 5];
    let findings = [&lines[..], &["error-event"]].concat();
    example("gemini", "D5", "sse", &findings, "did-not-finish");
}

/// The rules of D.1 to D.4 that no example has, and that the plain body gives the same reading.
#[test]
fn streams_equal_their_plain_bodies() {
    for name in ["D1", "D3", "D4", "fields", "snake-case", "parts", "empty-answer"] {
        let stream = read(&fixture("gemini", &format!("{name}.sse")), 0);
        let plain = read(&fixture("gemini", &format!("{name}.json")), 0);
        assert_eq!(response(&stream), json_of(&format!("{name}.json")), "{name}");
        assert_eq!(answer(&stream), answer(&plain), "{name}");
        assert_eq!(
            (stream.verdict, plain.verdict),
            (Verdict::Finished, Verdict::Finished),
            "{name}"
        );
        let calls = ids(&stream).into_iter().filter(|id| *id != "crlf").collect::<Vec<_>>();
        assert_eq!(calls, ids(&plain), "{name}");
    }
}

/// The plain twins of the cases were written by somebody else.
#[test]
fn plain_bodies_of_the_cases() {
    for name in ["g-thought-and-text-not-merged", "g-signature-on-empty-text"] {
        let folder = fixtures().join("cases").join(name);
        let expect = std::fs::read(folder.join("expect.json")).unwrap();
        let expect: Value = serde_json::from_slice(&expect).unwrap();
        let plain = read(expect["nonstream"].to_string().as_bytes(), 0);
        let stream = read(&std::fs::read(folder.join("stream.sse")).unwrap(), 0);
        for reading in [&plain, &stream] {
            let got = value(reading);
            assert_eq!(got["outputs"][0]["text"], expect["text"]["0"], "{name}");
            assert_eq!(
                got["outputs"][0]["finish"]["reason"], expect["finish_reason"]["0"],
                "{name}"
            );
            assert_eq!(got["usage"]["raw"], expect["usage"], "{name}");
        }
        assert_eq!(
            value(&plain)["outputs"][0]["reasoning"],
            value(&stream)["outputs"][0]["reasoning"]
        );
    }
}

/// Each finding fires on its fixture and not on the smallest edit of it.
#[test]
fn findings() {
    let pair = |file, id, from, to| Pair { file, id, from, to };
    check(
        "gemini",
        &[
            pair(
                "no-end",
                "no-end",
                r#""lo"}],"role":"model"}"#,
                r#""lo"}],"role":"model"},"finishReason":"STOP""#,
            ),
            pair(
                "D4",
                "prompt-blocked",
                r#"{"promptFeedback""#,
                r#"{"candidates":[{"finishReason":"SAFETY"}],"promptFeedback""#,
            ),
            pair(
                "error-after-finish",
                "error-event",
                r#""error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}"#,
                r#""usageMetadata":{}"#,
            ),
            pair("error-beside-candidates", "error-event", r#""error":{"#, r#""remark":{"#),
            pair(
                "call-open",
                "block-open",
                r#""willContinue":true}],"willContinue":true}"#,
                r#""willContinue":true}]}"#,
            ),
            pair("call-unstarted", "block-unstarted", r#""id":"c1""#, r#""name":"f""#),
            pair(
                "call-nameless",
                "tool-call-incomplete",
                r#""args":{"a":1}"#,
                r#""name":"f","args":{"a":1}"#,
            ),
            pair("code-failed", "tool-failed", "OUTCOME_FAILED", "OUTCOME_OK"),
            pair("unknown-part", "not-assembled", "hologramData", "inlineData"),
            pair("unknown-frame", "unknown-event", r#"{"progress":50}"#, r#"{"usageMetadata":{}}"#),
            pair("done-sentinel", "unknown-event", "[DONE]", r#"{"usageMetadata":{}}"#),
            pair("id-changes", "id-changed", r#""responseId":"r2""#, r#""responseId":"""#),
            pair("cumulative", "cumulative", "It was a dark and stormy\"", " and stormy\""),
        ],
    );
    let body = String::from_utf8(fixture("gemini", "bad-fields.sse")).unwrap();
    assert_eq!(ids(&read(body.as_bytes(), 0)), ["bad-field", "bad-field"]);
    let text = body.replace(r#"{"text":5}"#, r#"{"text":"5"}"#);
    assert_eq!(ids(&read(text.as_bytes(), 0)), ["bad-field"]);
    let both = text.replace(r#"{"functionCall":"f"}"#, r#"{"functionCall":{"name":"f"}}"#);
    assert_eq!(ids(&read(both.as_bytes(), 0)), [""; 0]);
}

/// A field of another shape than the schema's is reported, and only it is lost.
#[test]
fn bad_fields() {
    let whole = json!({"content": {"parts": [{"text": "ok"}, {"text": "!"}], "role": "model"}, "finishReason": "STOP"});
    for (path, bad) in [
        ("/candidates", json!({})),
        ("/candidates/1", json!("x")),
        ("/candidates/1", json!({"index": -1})),
        ("/candidates/0/content", json!([])),
        ("/candidates/0/content/role", json!(1)),
        ("/candidates/0/content/parts", json!("x")),
        ("/candidates/0/content/parts/1", json!("x")),
        ("/candidates/0/finishReason", json!(true)),
        ("/usageMetadata", json!(7)),
        ("/promptFeedback", json!("no")),
        ("/modelVersion", json!(1)),
        ("/responseId", json!(1)),
    ] {
        let mut frame =
            json!({"candidates": [whole.clone(), {"index": 1, "finishReason": "STOP"}]});
        frame["usageMetadata"] = json!({"totalTokenCount": 1});
        for key in ["promptFeedback", "modelVersion", "responseId"] {
            frame[key] = if key == "promptFeedback" { json!({}) } else { json!("x") };
        }
        assert_eq!(ids(&read(&sse(&[frame.clone()]), 0)), [""; 0]);
        *frame.pointer_mut(path).unwrap() = bad;
        let reading = read(&sse(&[frame]), 0);
        assert!(ids(&reading).contains(&"bad-field"), "{path}: {:?}", ids(&reading));
    }
}

/// The same of calls, whole and in pieces, and what is carried beside what is read.
#[test]
fn bad_fields_of_calls() {
    let whole = |part: Value| vec![part];
    let pieces = |piece: Value| {
        let first = json!({"functionCall": {"name": "f", "willContinue": true}});
        vec![first, json!({"functionCall": piece}), json!({"functionCall": {}})]
    };
    let piece = |key: &str, value: Value| {
        let piece = json!({"jsonPath": "$.a", "stringValue": "x", key: value});
        pieces(json!({"partialArgs": [piece], "willContinue": true}))
    };
    for (id, parts, near) in [
        (
            "bad-field",
            whole(json!({"functionCall": {"name": "f", "args": 1}})),
            whole(json!({"functionCall": {"name": "f", "args": null}})),
        ),
        (
            "bad-field",
            whole(json!({"functionCall": {"name": "f", "id": 1}})),
            whole(json!({"functionCall": {"name": "f", "id": null}})),
        ),
        (
            "bad-field",
            pieces(json!({"partialArgs": 1, "willContinue": true})),
            pieces(json!({"partialArgs": null, "willContinue": true})),
        ),
        (
            "bad-field",
            pieces(json!({"args": 1, "willContinue": true})),
            pieces(json!({"args": null, "willContinue": true})),
        ),
        ("not-assembled", piece("aMood", json!(1)), piece("willContinue", json!(false))),
        (
            "not-assembled",
            whole(json!({"text": "x", "inlineData": {"data": ""}})),
            whole(json!({"text": "x"})),
        ),
    ] {
        let body = |parts: Vec<Value>| {
            let last = json!({"candidates": [{"finishReason": "STOP"}]});
            let frame = |part: Value| json!({"candidates": [{"content": {"parts": [part]}}]});
            sse(&parts.into_iter().map(frame).chain([last]).collect::<Vec<_>>())
        };
        assert_eq!(ids(&read(&body(parts.clone()), 0)), [id], "{parts:?}");
        assert_eq!(ids(&read(&body(near.clone()), 0)), [""; 0], "near miss of {id}: {near:?}");
    }
}

/// What wraps a response may say more beside it, which is named; null is nothing.
#[test]
fn beside_a_wrapped_response() {
    let wrapped = |trace: Value| {
        let answer = json!({"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"});
        let reading =
            read(&sse(&[json!({"response": {"candidates": [answer]}, "traceId": trace})]), 0);
        assert_eq!(reading.outputs[0].text, "Hi");
        ids(&reading)
    };
    assert_eq!(wrapped(json!("t")), ["not-assembled"]);
    assert_eq!(wrapped(Value::Null), [""; 0]);
}

/// The same of a candidate's content.
#[test]
fn beside_the_parts() {
    let beside = |mood: Value| {
        let content = json!({"parts": [{"text": "Hi"}], "role": "model", "mood": mood});
        sse(&[json!({"candidates": [{"content": content, "finishReason": "STOP"}]})])
    };
    let what = json!({"what": "content.mood"});
    told_alone(vec![("not-assembled", 0, what, beside(json!("glad")), beside(Value::Null))]);
}

/// Every finish reason of D.9 has a meaning, and ends the answer; the unused default does neither.
#[test]
fn reasons() {
    let gemini = format("gemini").unwrap();
    for reason in gemini.reasons {
        let frame = json!({"candidates": [{"finishReason": reason.value}]});
        let reading = read(&sse(&[frame]), 0);
        let finish = reading.outputs[0].finish.as_ref().unwrap();
        assert_eq!((&*finish.reason, finish.meaning.is_some()), (reason.value, true));
        assert_eq!(reading.verdict, Verdict::Finished);
    }
    assert_eq!(gemini.reasons.len(), 21);
    for (reason, shown, verdict) in [
        (json!("FINISH_REASON_UNSPECIFIED"), None, Verdict::DidNotFinish),
        (json!(0), None, Verdict::DidNotFinish),
        (json!(5), Some("5"), Verdict::Finished),
        (json!("SOMETHING_NEW"), Some("SOMETHING_NEW"), Verdict::Finished),
    ] {
        let reading = read(&sse(&[json!({"candidates": [{"finishReason": reason}]})]), 0);
        let finish = reading.outputs[0].finish.as_ref();
        assert_eq!(finish.map(|finish| &*finish.reason), shown);
        assert_eq!(finish.and_then(|finish| finish.meaning.as_deref()), None);
        assert_eq!(reading.verdict, verdict, "{reason}");
    }
}

/// Every block reason of D.6; the unused defaults block nothing.
#[test]
fn block_reasons() {
    for reason in [
        "SAFETY",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "JAILBREAK",
    ] {
        let reading = read(&sse(&[json!({"promptFeedback": {"blockReason": reason}})]), 0);
        let finding = value(&reading)["findings"][0].clone();
        assert_eq!(
            (&finding["id"], &finding["args"]["reason"]),
            (&json!("prompt-blocked"), &json!(reason))
        );
        assert_ne!(finding["args"]["meaning"], "");
        assert_eq!(reading.verdict, Verdict::Finished);
    }
    for reason in ["BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED", ""] {
        let reading = read(&sse(&[json!({"promptFeedback": {"blockReason": reason}})]), 0);
        assert_eq!(ids(&reading), ["no-end"], "{reason}");
    }
}

/// D.5: the call's arguments out of pieces, in whatever order they come.
#[test]
fn arguments_in_pieces() {
    let reading = read(&fixture("gemini", "pieces-out-of-order.sse"), 0);
    let call = &reading.outputs[0].tool_calls[0];
    let want = r#"{"a":"xy","b":"new","l":[null,null,{"k":true}],"a b":1000.0}"#;
    assert_eq!((call.arguments.as_str(), call.arguments_valid, call.complete), (want, true, true));
    assert_eq!(call.id.as_deref(), Some("c1"));
    assert_eq!((ids(&reading), reading.verdict), (vec![], Verdict::Finished));

    let reading = read(&fixture("gemini", "pieces-of-several-calls.sse"), 0);
    let calls: Vec<_> = reading.outputs[0]
        .tool_calls
        .iter()
        .map(|call| (call.name.as_deref().unwrap(), call.arguments.as_str(), call.complete))
        .collect();
    let want = [
        ("f", r#"{"a":"x"}"#, true),
        ("g", "{}", true),
        ("h", r#"{"n":12345678901234567890}"#, true),
        ("i", r#"{"b":2}"#, true),
    ];
    assert_eq!(calls, want);
    let parts = &response(&reading)["candidates"][0]["content"]["parts"];
    assert_eq!(
        parts[2]["functionCall"],
        json!({"name": "h", "args": {"n": 12_345_678_901_234_567_890_u64}})
    );
    assert_eq!(ids(&reading), [""; 0]);
}

/// D.5, 7: a call that is open when the stream ends has the arguments that came.
#[test]
fn an_open_call_keeps_what_came() {
    let reading = read(&fixture("gemini", "call-open.sse"), 0);
    let call = &reading.outputs[0].tool_calls[0];
    assert_eq!((call.arguments.as_str(), call.complete), (r#"{"to":"a"}"#, false));
    assert_eq!(reading.verdict, Verdict::NotTheWholeStream);
    let parts = &response(&reading)["candidates"][0]["content"]["parts"];
    assert_eq!(parts[0], json!({"functionCall": {"name": "write", "args": {"to": "a"}}}));
}

/// Paths come from outside: what is no path, or leads too far, is reported and costs nothing.
#[test]
fn bad_paths() {
    for path in ["", "$", "a", "$[0]", "$.a[", "$.a[99999999]", "$..a"] {
        let body = sse(&[json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "f", "partialArgs": [
                {"jsonPath": path, "numberValue": 1}, {"jsonPath": "$.ok", "boolValue": true}]}}
        ]}, "finishReason": "STOP"}]})]);
        let reading = read(&body, 0);
        assert_eq!(ids(&reading), ["bad-field"], "{path}");
        assert_eq!(reading.outputs[0].tool_calls[0].arguments, r#"{"ok":true}"#);
    }
    for piece in [
        json!(1),
        json!({"jsonPath": "$.a", "stringValue": 1}),
        json!({"jsonPath": "$.a", "numberValue": "1"}),
        json!({"jsonPath": "$.a", "boolValue": 1}),
    ] {
        let body = sse(&[json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": "f", "partialArgs": [piece]}}]}, "finishReason": "STOP"}]})]);
        assert_eq!(ids(&read(&body, 0)), ["bad-field"], "{piece}");
    }
}

/// Arguments as JSON, up to three levels deep; no empty containers, which no leaf would make.
fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        Just(Value::Null),
        "[ -~é😀\\n\"\\\\]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z' .\\[\\]]{1,5}", inner, 1..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-z]{1,5}", value, 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()))
}

/// The pieces of arguments, texts in pieces of at most three characters.
fn pieces(path: &str, value: &Value, out: &mut Vec<Value>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = key.replace('\\', "\\\\").replace('\'', "\\'");
                pieces(&format!("{path}['{key}']"), value, out);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                pieces(&format!("{path}[{at}]"), value, out);
            }
        }
        Value::String(text) => {
            let chars: Vec<char> = text.chars().collect();
            for piece in chars.chunks(3) {
                let piece: String = piece.iter().collect();
                out.push(json!({"jsonPath": path, "stringValue": piece, "willContinue": true}));
            }
            out.push(json!({"jsonPath": path, "stringValue": ""}));
        }
        Value::Bool(_) => out.push(json!({"jsonPath": path, "boolValue": value})),
        Value::Null => out.push(json!({"jsonPath": path, "nullValue": null})),
        Value::Number(_) => out.push(json!({"jsonPath": path, "numberValue": value})),
    }
}

proptest! {
    /// Whatever the arguments are: their pieces give them again, and in their own order each piece has
    /// added to the text of the call what the final text holds.
    #[test]
    fn pieces_give_the_arguments(want in arguments(), per_frame in 1_usize..4) {
        let mut all = Vec::new();
        pieces("$", &want, &mut all);
        let part = |call: Value| json!({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]});
        let mut frames = vec![part(json!({"name": "f", "willContinue": true}))];
        for pieces in all.chunks(per_frame) {
            frames.push(part(json!({"partialArgs": pieces, "willContinue": true})));
        }
        let mut last = part(json!({}));
        last["candidates"][0]["finishReason"] = json!("STOP");
        frames.push(last);
        let assembly = assemble(Options::default(), &sse(&frames), 0);
        let reading = assembly.reading();
        let call = &reading.outputs[0].tool_calls[0];
        prop_assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap(), want.clone());
        prop_assert!(call.complete);
        prop_assert_eq!(&call.arguments, &want.to_string());
        prop_assert_eq!(&response(&reading)["candidates"][0]["content"]["parts"][0]["functionCall"]["args"], &want);
        prop_assert!(assembly.provenance().iter().all(|added| added.cut() == 0));
    }
}
