//! Chat Completions streams to serve: frames as OpenAI sends them.

use serde_json::{Value, json};

/// A chunk as one frame.
pub fn chunk(choices: &Value, usage: &Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-test",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "test-model",
        "choices": choices,
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}

/// A chunk with one delta.
pub fn delta(choice: u64, delta: &Value) -> String {
    chunk(&json!([{ "index": choice, "delta": delta, "finish_reason": null }]), &Value::Null)
}

/// A chunk that ends a choice.
pub fn finish(choice: u64, reason: &str) -> String {
    chunk(&json!([{ "index": choice, "delta": {}, "finish_reason": reason }]), &Value::Null)
}

/// The chunk with the token counts.
pub fn usage() -> String {
    chunk(&json!([]), &json!({ "prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16 }))
}

/// The end marker.
pub const DONE: &str = "data: [DONE]\n\n";

/// A whole answer in one choice, a frame for each piece of text.
pub fn answer(pieces: &[&str]) -> Vec<String> {
    let mut frames = vec![delta(0, &json!({ "role": "assistant", "content": "" }))];
    frames.extend(pieces.iter().map(|piece| delta(0, &json!({ "content": piece }))));
    frames.extend([finish(0, "stop"), usage(), DONE.to_owned()]);
    frames
}

/// Two parallel tool calls in fragments.
pub fn tool_calls() -> Vec<String> {
    let fragment = |index: u64, text: &str| {
        delta(0, &json!({ "tool_calls": [{ "index": index, "function": { "arguments": text } }] }))
    };
    let open = |index: u64, id: &str, name: &str| {
        let function = json!({ "name": name, "arguments": "" });
        delta(
            0,
            &json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }),
        )
    };
    vec![
        delta(0, &json!({ "role": "assistant", "content": null })),
        open(0, "call_a", "get_weather"),
        fragment(0, "{\"city\":"),
        fragment(0, "\"Reykjavík\"}"),
        open(1, "call_b", "get_time"),
        fragment(1, "{\"zone\""),
        fragment(1, ":\"Atlantic/Reykjavik\"}"),
        finish(0, "tool_calls"),
        usage(),
        DONE.to_owned(),
    ]
}

/// Two choices whose frames interleave.
pub fn two_choices() -> Vec<String> {
    let mut frames: Vec<String> = (0..2)
        .map(|choice| delta(choice, &json!({ "role": "assistant", "content": "" })))
        .collect();
    for piece in ["One", " two", " three 🙂"] {
        for choice in 0..2 {
            frames.push(delta(choice, &json!({ "content": format!("{piece}{choice}") })));
        }
    }
    frames.extend([finish(1, "stop"), finish(0, "stop"), usage(), DONE.to_owned()]);
    frames
}

/// A request for a streamed answer.
pub fn request() -> Value {
    json!({
        "model": "test-model",
        "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "Please answer." }],
    })
}
