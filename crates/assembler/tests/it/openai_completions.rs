//! Completions: the example of `FORMATS.md` H1, and its rules one by one.

use serde_json::{Value, json};

use crate::{
    alike::{Row, end_badly, fire_alone, of_sse, plain_as_streamed, sse},
    support::{SIZES, example, fixture, ids, read, response, value},
};

/// The example has no usage, and that is noted.
#[test]
fn examples() {
    example("openai-completions", "H1", "sse", &["usage-missing"], "finished");
    example("openai-completions", "vllm", "sse", &[], "finished");
}

#[test]
fn plain_bodies_read_as_their_streams() {
    for name in ["H1", "vllm"] {
        let stream = fixture("openai-completions", &format!("{name}.sse"));
        plain_as_streamed(&stream, &fixture("openai-completions", &format!("{name}.json")));
    }
}

/// A chunk whose first choice has these fields.
fn chunk(fields: &str) -> String {
    format!(r#"{{"object":"text_completion","choices":[{{"index":0,{fields}}}]}}"#)
}

/// Chunks, a reason, usage, the end.
fn with<S: AsRef<str>>(chunks: &[S]) -> String {
    let mut all = vec![chunk(r#""text":"Hi""#)];
    all.extend(chunks.iter().map(|chunk| chunk.as_ref().to_owned()));
    all.push(chunk(r#""text":"","finish_reason":"stop""#));
    all.push(r#"{"object":"text_completion","choices":[],"usage":{"total_tokens":3}}"#.to_owned());
    all.push("[DONE]".to_owned());
    sse(&all)
}

fn rows() -> Vec<Row> {
    let good = with::<&str>(&[]);
    let and = |fields: &str| with(&[chunk(fields)]);
    let head = |field: &str| with(&[format!(r#"{{"object":"text_completion",{field}}}"#)]);
    vec![
        ("unknown-event", head(r#""x":1"#), head(r#""choices":null"#)),
        ("unknown-event", with(&["1"]), good.clone()),
        ("no-end", good.replace("data: [DONE]\n\n", ""), good.clone()),
        ("after-end", format!("{good}{}", sse(&[chunk(r#""text":"x""#)])), good.clone()),
        ("after-end", format!("{good}data: [DONE]\n\n"), good.clone()),
        ("no-finish-reason", good.replace("\"stop\"", "null"), good.clone()),
        (
            "usage-missing",
            good.replace(r#""usage":{"total_tokens":3}"#, r#""usage":null"#),
            good.clone(),
        ),
        ("bad-field", and(r#""text":1"#), and(r#""text":null"#)),
        ("bad-field", and(r#""finish_reason":1"#), and(r#""finish_reason":null"#)),
        (
            "bad-field",
            and(r#""text":"x""#).replacen("\"index\":0", "\"index\":-1", 1),
            and(r#""text":"x""#).replacen("\"index\":0,", "", 1),
        ),
        ("bad-field", head(r#""choices":1"#), head(r#""choices":[]"#)),
        ("bad-field", head(r#""choices":[1]"#), head(r#""choices":[{}]"#)),
        ("bad-field", head(r#""choices":[],"usage":1"#), head(r#""choices":[],"usage":{}"#)),
        ("not-assembled", and(r#""text":"","delta":{}"#), and(r#""text":"","delta":null"#)),
        (
            "id-changed",
            with(&[r#"{"id":"a","choices":[]}"#, r#"{"id":"b","choices":[]}"#].map(of_completions)),
            with(&[r#"{"id":"a","choices":[]}"#, r#"{"id":"","choices":[]}"#].map(of_completions)),
        ),
        (
            "cumulative",
            with(&[chunk(r#""text":"Hi there, how""#), chunk(r#""text":"Hi there, how are you""#)])
                .replacen(r#""text":"Hi""#, r#""text":"""#, 1),
            with(&[chunk(r#""text":"Hi there, how""#), chunk(r#""text":" are you""#)]).replacen(
                r#""text":"Hi""#,
                r#""text":"""#,
                1,
            ),
        ),
        ("error-event", good.replace("[DONE]", r#"{"error":{"message":"m"}}"#), good.clone()),
        (
            "error-event",
            sse(&[chunk(r#""text":"a""#).replace("{\"object", "{\"error\":\"m\",\"object")]),
            good.clone(),
        ),
    ]
}

fn of_completions(chunk: &str) -> String {
    chunk.replacen('{', r#"{"object":"text_completion","#, 1)
}

#[test]
fn each_fires_and_its_near_miss_does_not() {
    let good = with::<&str>(&[]);
    fire_alone(rows());
    fire_alone(of_sse(&good));
    end_badly(&good);
}

/// An error beside choices: they are read before it.
#[test]
fn a_chunk_with_an_error_is_read() {
    let body = sse(&[chunk(r#""text":"part""#).replace("{\"object", "{\"error\":\"m\",\"object")]);
    let reading = read(body.as_bytes(), 0);
    assert_eq!((&*reading.outputs[0].text, ids(&reading)), ("part", vec!["error-event"]));
}

/// What a choice's fields become.
#[test]
fn choice_fields() {
    for (fields, want) in [
        (&[r#""text":"a""#, r#""text":"b""#][..], json!({"text": "Hiab"})),
        // LAST
        (&[r#""stop_reason":null"#, r#""stop_reason":7"#], json!({"text": "Hi", "stop_reason": 7})),
        (
            &[r#""prompt_logprobs":[1]"#, r#""prompt_logprobs":null"#],
            json!({"text": "Hi", "prompt_logprobs": [1]}),
        ),
        // EXTEND
        (
            &[r#""token_ids":[1]"#, r#""token_ids":[2,3]"#],
            json!({"text": "Hi", "token_ids": [1, 2, 3]}),
        ),
        (&[r#""logprobs":null"#], json!({"text": "Hi", "logprobs": null})),
        (
            &[
                r#""logprobs":{"tokens":["a"],"top_logprobs":null}"#,
                r#""logprobs":null"#,
                r#""logprobs":{"tokens":["b"],"top_logprobs":[{}]}"#,
            ],
            json!({"text": "Hi", "logprobs": {"tokens": ["a", "b"], "top_logprobs": [{}]}}),
        ),
        // MERGE
        (
            &[
                r#""content_filter_results":{"hate":{"filtered":false}}"#,
                r#""content_filter_results":{"violence":{"filtered":true}}"#,
            ],
            json!({"text": "Hi", "content_filter_results": {"hate": {"filtered": false}, "violence": {"filtered": true}}}),
        ),
    ] {
        let chunks: Vec<String> = fields.iter().map(|fields| chunk(fields)).collect();
        let mut choice = response(&read(with(&chunks).as_bytes(), 0))["choices"][0].take();
        let constant = (choice["index"].take(), choice["finish_reason"].take());
        assert_eq!(constant, (json!(0), json!("stop")));
        let choice: Value = choice
            .as_object()
            .unwrap()
            .iter()
            .filter(|(key, _)| !matches!(&***key, "index" | "finish_reason"))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(choice, want, "{fields:?}");
    }
}

/// Choices are kept apart, and reasons have the meanings of Chat.
#[test]
fn choices_and_reasons() {
    let body = sse(&[
        r#"{"object":"text_completion","choices":[{"index":1,"text":"b","finish_reason":"length"}]}"#,
        r#"{"object":"text_completion","choices":[{"index":0,"text":"a","finish_reason":"content_filter"}]}"#,
        "[DONE]",
    ]);
    let reading = value(&read(body.as_bytes(), 0));
    for (at, text, reason, meaning) in
        [(0, "a", "content_filter", "filter"), (1, "b", "length", "token limit")]
    {
        let output = &reading["outputs"][at];
        assert_eq!((&output["index"], &output["text"]), (&json!(at), &json!(text)));
        assert_eq!(output["finish"]["reason"], reason);
        assert!(output["finish"]["meaning"].as_str().unwrap().contains(meaning));
    }
}

/// Choices with nothing but a reason are of Chat as well: what names the format are the others.
#[test]
fn choices_without_text_name_no_format() {
    let bare = |reason: &str| format!(r#"{{"choices":[{{"index":0,"finish_reason":{reason}}}]}}"#);
    let text = r#"{"choices":[{"text":"Hi","index":0,"finish_reason":null}]}"#;
    let delta = r#"{"choices":[{"delta":{"content":"Hi"},"index":0,"finish_reason":null}]}"#;
    for (frame, format) in [(text, "openai-completions"), (delta, "openai-chat")] {
        let body = sse(&[&bare("null"), frame, &bare("\"stop\""), "[DONE]"]);
        for size in SIZES {
            let reading = read(body.as_bytes(), size);
            assert_eq!((reading.format, ids(&reading)), (format, vec!["usage-missing"]));
            let output = &reading.outputs[0];
            assert_eq!((output.text.as_str(), output.finish.is_some()), ("Hi", true));
        }
    }
    let alone = read(sse(&[&bare("\"stop\""), "[DONE]"]).as_bytes(), 0);
    assert_eq!((alone.format, alone.outputs.len()), ("openai-chat", 1));
}
