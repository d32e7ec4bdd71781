//! Chat Completions: the examples of `FORMATS.md`, and its rules one by one.

mod deltas;
mod findings;
mod plain;
mod tool_calls;

use serde_json::{Value, json};
use teeline_assembler::Reading;

use crate::support::{example, ids, read, response, rows};

/// The stream blocks of `FORMATS.md` A and H5 give its json blocks, with the findings it names.
#[test]
fn examples() {
    for (name, findings, verdict) in [
        ("A1", &[][..], "finished"),
        ("A2", &["index-reused"], "finished"),
        ("A3", &[], "finished"),
        ("A4", &["error-event"], "did-not-finish"),
        ("H5", &[], "finished"),
    ] {
        example("openai-chat", name, "sse", findings, verdict);
    }
}

/// A finish reason and usage.
const LAST: &str =
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"total_tokens":1}}"#;

/// A stream of these data lines, then `[DONE]`.
fn done<S: AsRef<str>>(frames: &[S]) -> String {
    let frames: String =
        frames.iter().map(|data| ["data: ", data.as_ref(), "\n\n"].concat()).collect();
    format!("{frames}data: [DONE]\n\n")
}

/// A chunk with one choice that has this delta.
fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

fn read_done<S: AsRef<str>>(frames: &[S]) -> Reading {
    read(done(frames).as_bytes(), 0)
}

/// Reads deltas of choice 0, a finish reason and usage, so that nothing else is found.
fn deltas<S: AsRef<str>>(deltas: &[S]) -> Reading {
    let mut frames: Vec<String> = deltas.iter().map(|one| delta(one.as_ref())).collect();
    frames.push(LAST.to_owned());
    read_done(&frames)
}

/// The message that deltas give, without its role, and the findings.
fn message<S: AsRef<str>>(frames: &[S]) -> (Value, Vec<&'static str>) {
    let reading = deltas(frames);
    let mut message = response(&reading)["choices"][0]["message"].take();
    assert_eq!(message["role"], "assistant");
    message.as_object_mut().unwrap().remove("role");
    (message, ids(&reading))
}

/// A.2: top-level fields, frame by frame, and what the response has of them.
#[test]
fn top_level_fields() {
    for (frames, want) in [
        // FIRST+; Azure's empty id, Mistral's string "null"
        (&[r#""id":"""#, r#""id":"null""#, r#""id":"a""#, r#""id":"""#][..], json!({"id": "a"})),
        (&[r#""id":null"#], json!({"id": null})),
        // FIRST, ignoring 0
        (&[r#""created":0"#, r#""created":7"#, r#""created":8"#], json!({"created": 7})),
        // LAST+
        (
            &[r#""model":"""#, r#""model":"m""#, r#""model":null"#, r#""model":"real""#],
            json!({"model": "real"}),
        ),
        // LAST; seen as null only
        (&[r#""system_fingerprint":null"#], json!({"system_fingerprint": null})),
        (
            &[r#""system_fingerprint":"f""#, r#""system_fingerprint":null"#],
            json!({"system_fingerprint": "f"}),
        ),
        // DROP
        (&[r#""obfuscation":"xyz""#], json!({})),
        // LAST (non-empty)
        (
            &[r#""prompt_filter_results":[1]"#, r#""prompt_filter_results":[]"#],
            json!({"prompt_filter_results": [1]}),
        ),
        // MERGE
        (
            &[r#""x_groq":{"id":"r"}"#, r#""x_groq":{"usage":{"total_tokens":3}}"#],
            json!({"x_groq": {"id": "r", "usage": {"total_tokens": 3}}, "usage": {"total_tokens": 3}}),
        ),
        // vendor extras
        (
            &[r#""provider":"p","citations":["a"]"#, r#""citations":["a","b"]"#],
            json!({"provider": "p", "citations": ["a", "b"]}),
        ),
        // CUM
        (
            &[r#""usage":{"total_tokens":2}"#, r#""usage":null"#],
            json!({"usage": {"total_tokens": 2}}),
        ),
        (&[r#""usage":null"#], json!({"usage": null})),
    ] {
        let frames: Vec<String> =
            frames.iter().map(|fields| format!(r#"{{"choices":[],{fields}}}"#)).collect();
        let mut got = response(&read_done(&frames));
        let got = got.as_object_mut().unwrap();
        let constant = (got.remove("object"), got.remove("choices"));
        assert_eq!(constant, (Some("chat.completion".into()), Some(json!([]))));
        assert_eq!(json!(got), want, "{frames:?}");
    }
}

/// Numbers keep their source text, keys their order.
#[test]
fn numbers_and_order_are_kept() {
    let reading = read_done(&[concat!(
        r#"{"id":"a","created":12345678901234567890123,"choices":[],"#,
        r#""usage":{"cost":0.10,"b":1e-7,"a":1},"z":1,"y":[ 1.0 ]}"#
    )]);
    assert_eq!(
        reading.response.unwrap().get(),
        concat!(
            r#"{"id":"a","object":"chat.completion","created":12345678901234567890123,"z":1,"y":[1.0],"#,
            r#""choices":[],"usage":{"cost":0.10,"b":1e-7,"a":1}}"#
        )
    );
    assert_eq!(reading.usage.unwrap().raw.get(), r#"{"cost":0.10,"b":1e-7,"a":1}"#);
}

/// A.3: the fields of a choice.
#[test]
fn choice_fields() {
    for (choices, want) in [
        // index missing means 0
        (
            &[r#"{"delta":{"content":"a"}}"#][..],
            json!({"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": null}),
        ),
        // absent, null and "" are no reason, and take none away
        (
            &[
                r#"{"finish_reason":"stop"}"#,
                r#"{"finish_reason":""}"#,
                r#"{"finish_reason":null}"#,
            ],
            json!({"finish_reason": "stop"}),
        ),
        // Azure's filter has the last word
        (
            &[r#"{"finish_reason":"stop"}"#, r#"{"finish_reason":"content_filter"}"#],
            json!({"finish_reason": "content_filter"}),
        ),
        (
            &[r#"{"native_finish_reason":"STOP"}"#, r#"{"native_finish_reason":null}"#],
            json!({"native_finish_reason": "STOP"}),
        ),
        (&[r#"{"logprobs":null}"#], json!({"logprobs": null})),
        (
            &[
                r#"{"logprobs":null}"#,
                r#"{"logprobs":{"content":[{"token":"a"}],"refusal":null}}"#,
                r#"{"logprobs":{"content":[{"token":"b"}]}}"#,
            ],
            json!({"logprobs": {"content": [{"token": "a"}, {"token": "b"}], "refusal": null}}),
        ),
        (
            &[
                r#"{"content_filter_results":{"hate":{"filtered":false}}}"#,
                r#"{"content_filter_results":{"violence":{"filtered":true}}}"#,
            ],
            json!({"content_filter_results": {"hate": {"filtered": false}, "violence": {"filtered": true}}}),
        ),
        (
            &[r#"{"token_ids":[1,2]}"#, r#"{"token_ids":null}"#, r#"{"token_ids":[3]}"#],
            json!({"token_ids": [1, 2, 3]}),
        ),
        (
            &[r#"{"stop_reason":null}"#, r#"{"stop_reason":151643,"matched_stop":"x"}"#],
            json!({"stop_reason": 151_643, "matched_stop": "x"}),
        ),
        // MiniMax's last frame has a null delta
        (&[r#"{"delta":null,"finish_reason":"stop"}"#], json!({"finish_reason": "stop"})),
    ] {
        let frames: Vec<String> =
            choices.iter().map(|choice| format!(r#"{{"choices":[{choice}]}}"#)).collect();
        let got = response(&read_done(&frames))["choices"][0].take();
        for (key, value) in want.as_object().unwrap() {
            assert_eq!(&got[key], value, "{choices:?}");
        }
    }
}

/// A.3: a full message inside a chunk fills what no delta brought, newest last, and is never appended.
#[test]
fn full_messages_inside_chunks() {
    let choice = |fields: &str| format!(r#"{{"choices":[{{"index":0,{fields}}}]}}"#);
    let message = |content: &str| {
        choice(&format!(r#""message":{{"role":"assistant","content":"{content}"}}"#))
    };
    let both = |content: &str, delta: &str| {
        choice(&format!(r#""message":{{"content":"{content}"}},"delta":{{"content":"{delta}"}}"#))
    };
    for (mut frames, want) in [
        (vec![message("Hi")], "Hi"),
        (vec![message("H"), message("Hi"), message("Hi!")], "Hi!"),
        (vec![both("H", "H"), both("Hi", "i"), both("Hi!", "!")], "Hi!"),
        (vec![both("", "H"), both("", "i")], "Hi"),
        // Writer: the message is the delta once more.
        (vec![both("Su", "Su"), both("re", "re"), both("!", "!")], "Sure!"),
        (
            vec![
                message("old"),
                delta(r#"{"content":"Hi"}"#),
                delta(r#"{"content":"!"}"#),
                message("Hi!"),
            ],
            "Hi!",
        ),
    ] {
        frames.push(LAST.to_owned());
        let reading = read_done(&frames);
        assert_eq!((reading.outputs[0].text.as_str(), ids(&reading)), (want, vec![]), "{frames:?}");
    }
    let call = r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let calls = choice(&format!(r#""message":{{"content":"","tool_calls":[{call}]}}"#));
    let reading = read_done(&[&calls, &calls, LAST]);
    assert_eq!(
        (reading.outputs[0].tool_calls[0].arguments.as_str(), ids(&reading)),
        ("{}", vec![])
    );
}

/// A.6: counts, and where they come from.
#[test]
fn usage() {
    let counted = |frame: &str| {
        let usage = read_done(&[frame]).usage.unwrap();
        [
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.cached_tokens,
            usage.reasoning_tokens,
        ]
    };
    let full = concat!(
        r#"{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":2},"#,
        r#""completion_tokens_details":{"reasoning_tokens":1}}"#
    );
    let all = [Some(5), Some(3), Some(8), Some(2), Some(1)];
    assert_eq!(counted(&format!(r#"{{"choices":[],"usage":{full}}}"#)), all);
    assert_eq!(counted(&format!(r#"{{"choices":[],"x_groq":{{"usage":{full}}}}}"#)), all);
    assert_eq!(
        counted(&format!(r#"{{"choices":[{{"index":0,"delta":{{}},"usage":{full}}}]}}"#)),
        all
    );
    let cached = counted(r#"{"choices":[],"usage":{"prompt_cache_hit_tokens":4}}"#);
    assert_eq!(cached, [None, None, None, Some(4), None]);
}

/// A.7: whoever sends the error, it ends the answer, and `[DONE]` behind it is no finding.
#[test]
fn errors_inside_a_stream() {
    for (frame, error_type, code, known) in [
        (
            r#"data: {"error":{"message":"m","type":"server_error","param":null,"code":"502"}}"#,
            Some("server_error"),
            Some("502"),
            true,
        ),
        ("event: error\ndata: {\"message\":\"m\"}", None, None, false),
        (r#"data: {"error":{"message":"m","http_status_code":429}}"#, None, Some("429"), true),
        (r#"data: {"error":"m","error_type":"overloaded"}"#, Some("overloaded"), None, true),
        (r#"data: {"choices":[],"x_groq":{"error":{"message":"m"}}}"#, None, None, false),
        (
            concat!(
                r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}],"#,
                r#""error":{"message":"m","code":"content_filter","innererror":{}}}"#
            ),
            None,
            Some("content_filter"),
            true,
        ),
    ] {
        let body =
            format!("data: {}\n\n{frame}\n\ndata: [DONE]\n\n", delta(r#"{"content":"par"}"#));
        let reading = read(body.as_bytes(), 0);
        let error = reading.error.as_ref().unwrap();
        assert_eq!(
            (error.message.as_str(), error.error_type.as_deref()),
            ("m", error_type),
            "{frame}"
        );
        assert_eq!((error.code.as_deref(), error.meaning.is_some()), (code, known), "{frame}");
        assert_eq!(
            (reading.verdict.as_str(), ids(&reading)),
            ("did-not-finish", vec!["error-event"]),
            "{frame}"
        );
        assert_eq!(reading.outputs[0].text, "par");
    }
}

/// A.9.
#[test]
fn finish_reasons_are_explained() {
    for (reason, known) in [
        ("stop", true),
        ("length", true),
        ("insufficient_system_resource", true),
        ("repetition", true),
        ("made_up", false),
    ] {
        let frame =
            format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
        let finish = read_done(&[&frame]).outputs[0].finish.clone().unwrap();
        assert_eq!(finish.reason, reason);
        let explained = (finish.meaning.is_some(), finish.source.is_some(), finish.as_of);
        assert_eq!(explained, (known, known, known.then_some("2026-08")));
    }
}

/// F.3: Perplexity's own end marker; `[DONE]` after it is fine, anything else is not.
#[test]
fn perplexity_ends_with_its_own_object() {
    let last = concat!(
        r#"{"object":"chat.completion.done","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"#,
        r#""usage":{"total_tokens":1}}"#
    );
    let body = format!("data: {}\n\ndata: {last}\n\n", delta(r#"{"content":"Hi"}"#));
    for (more, found) in [
        (String::new(), vec![]),
        ("data: [DONE]\n\n".to_owned(), vec![]),
        ("data: [DONE]\n\ndata: [DONE]\n\n".to_owned(), vec!["after-end"]),
        (format!("data: {}\n\n", delta("{}")), vec!["after-end"]),
    ] {
        let reading = read(format!("{body}{more}").as_bytes(), 0);
        assert_eq!((reading.verdict.as_str(), ids(&reading)), ("finished", found));
    }
}

/// What each frame carried, in words, and where it went.
#[test]
fn rows_say_what_frames_carried() {
    let body = done(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"reasoning_content":"hm","reasoning":"hm"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"Héllo"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}"#,
        r#"{"choices":[{"index":1,"delta":{"content":"B"}},{"index":0,"delta":{"content":"A"}}]}"#,
        r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"total_tokens":1}}"#,
        r#"{"x":1}"#,
        "oops",
    ]);
    let body = format!(": ping\n\nid: 1\n\nevent: x\n\n{body}data: {{}}\n\n");
    let got: Vec<_> = rows(body.as_bytes())
        .into_iter()
        .map(|row| row.effect.unwrap())
        .map(|effect| (effect.kind, effect.carried, effect.output, effect.call, effect.snippet))
        .collect();
    let row = |kind, carried: &str, output, call, snippet: &str| {
        (kind, carried.to_owned(), output, call, snippet.to_owned())
    };
    let want = [
        row("keep-alive", "keep-alive", None, None, ""),
        row("control", "", None, None, ""),
        row("other", "no data", None, None, ""),
        row("start", "start, role assistant", Some(0), None, ""),
        row("reasoning", "reasoning +2", Some(0), None, "hm"),
        row("text", "text +5", Some(0), None, "Héllo"),
        row("tool", "tool 0 args +7, tool 0 f", Some(0), Some(0), "{\"a\":1}"),
        row("text", "choice 1 text +1, choice 0 text +1", Some(1), None, "BA"),
        row("control", "finish stop", Some(0), None, ""),
        row("usage", "usage", None, None, ""),
        row("other", "unknown", None, None, ""),
        row("other", "not JSON", None, None, ""),
        row("end", "end", None, None, ""),
        row("other", "after the end", None, None, ""),
    ];
    assert_eq!(got, want);
}
