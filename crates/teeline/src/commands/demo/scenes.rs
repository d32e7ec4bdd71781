//! What the scripted API of the demo answers: a handful of streams worth looking at.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::examples::examples;

/// How a scene's connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The body ends as it should.
    Clean,
    /// The connection is reset in the middle of the last frame.
    Reset,
}

/// One answer of the scripted API, and the request that asks for it.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    /// Where the client asks, with which the API finds the scene, together with the request's model.
    pub(super) path: &'static str,
    /// What the client asks.
    pub(super) request: Value,
    /// The response's content type.
    pub(super) content_type: &'static str,
    /// The body in pieces, each with the pause before it.
    pub(super) pieces: Vec<(Duration, Bytes)>,
    /// How it ends.
    pub(super) ending: Ending,
}

/// Every scene, in the order in which the demo's client asks for them: the ones worth a long look come last, and so
/// stand at the top of the list.
pub(super) fn scenes() -> Vec<Scene> {
    let mut scenes = examples();
    scenes.extend([two_choices(), lost_index(), broken(), tool_calls(), answer()]);
    scenes
}

/// Chat Completions.
fn chat(request: Value, pieces: Vec<(Duration, String)>, ending: Ending) -> Scene {
    Scene {
        path: "/v1/chat/completions",
        request,
        content_type: "text/event-stream",
        pieces: pieces.into_iter().map(|(pause, piece)| (pause, piece.into())).collect(),
        ending,
    }
}

fn request(model: &str, prompt: &str, more: Value) -> Value {
    let mut request = json!({
        "model": model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": [
            { "role": "system", "content": "You are a careful assistant." },
            { "role": "user", "content": prompt },
        ],
    });
    if let (Some(request), Value::Object(more)) = (request.as_object_mut(), more) {
        request.extend(more);
    }
    request
}

/// A Chat Completions chunk as one frame.
fn chunk(model: &str, choices: &Value, usage: &Value) -> String {
    let chunk = json!({
        "id": format!("chatcmpl-{model}"),
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": model,
        "choices": choices,
        "usage": usage,
    });
    format!("data: {chunk}\n\n")
}

fn delta(model: &str, choice: u64, delta: &Value) -> String {
    chunk(model, &json!([{ "index": choice, "delta": delta, "finish_reason": null }]), &Value::Null)
}

fn finish(model: &str, choice: u64, reason: &str) -> String {
    chunk(model, &json!([{ "index": choice, "delta": {}, "finish_reason": reason }]), &Value::Null)
}

fn usage(model: &str, prompt: u64, completion: u64) -> String {
    let usage = json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    });
    chunk(model, &json!([]), &usage)
}

const DONE: &str = "data: [DONE]\n\n";

/// Words with the space before them, as a model's tokens mostly come.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Pauses that look like a model's: mostly short, now and then a longer one.
pub(super) fn pause(position: usize) -> Duration {
    ms(match position % 11 {
        3 => 70,
        7 => 120,
        other => 14 + 3 * other as u64,
    })
}

fn answer() -> Scene {
    let model = "demo-answer";
    let mut pieces =
        vec![(ms(350), delta(model, 0, &json!({ "role": "assistant", "content": "" })))];
    let thought = "The user wants a short explanation. Start with what the wire carries, then say why frames matter.";
    for (position, word) in words(thought).enumerate() {
        pieces.push((pause(position), delta(model, 0, &json!({ "reasoning_content": word }))));
    }
    pieces.push((ms(1250), ": keep-alive\n\n".to_owned()));
    let text = "A streamed reply is a row of small frames. Each one carries a **delta**: the few characters that are new.\n\n\
                1. The client appends every delta to what it has.\n2. A frame ends at a blank line, not at the end of a read.\n\
                3. The last frame is `[DONE]`, and without it nobody can tell a finished answer from a broken one.\n\n\
                Works in any language: 流式输出, поток, ροή 🙂";
    for (position, word) in words(text).enumerate() {
        pieces.push((pause(position), delta(model, 0, &json!({ "content": word }))));
    }
    pieces.push((ms(20), finish(model, 0, "stop")));
    pieces.push((ms(5), usage(model, 41, 118)));
    pieces.push((ms(1), DONE.to_owned()));
    let request = request(model, "What is a streamed reply made of?", json!({}));
    chat(request, pieces, Ending::Clean)
}

fn tool_calls() -> Scene {
    let model = "demo-tools";
    let call = |index: u64, fragment: &str| {
        delta(
            model,
            0,
            &json!({ "tool_calls": [{ "index": index, "function": { "arguments": fragment } }] }),
        )
    };
    let open = |index: u64, id: &str, name: &str| {
        let function = json!({ "name": name, "arguments": "" });
        delta(
            model,
            0,
            &json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }),
        )
    };
    let mut frames = vec![delta(model, 0, &json!({ "role": "assistant", "content": null }))];
    frames.push(open(0, "call_weather", "get_weather"));
    frames.extend(
        ["{\"ci", "ty\": \"Rey", "kjavík\", ", "\"days\"", ": 3}"]
            .map(|fragment| call(0, fragment)),
    );
    frames.push(open(1, "call_time", "get_time"));
    frames.extend(["{\"zone\":", " \"Atlantic/", "Reykjavik\"}"].map(|fragment| call(1, fragment)));
    frames.push(finish(model, 0, "tool_calls"));
    frames.push(usage(model, 96, 44));
    frames.push(DONE.to_owned());
    let tool = |name: &str| json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } });
    let request = request(
        model,
        "What will the weather be in Reykjavík, and what time is it there?",
        json!({ "tools": [tool("get_weather"), tool("get_time")] }),
    );
    chat(request, paced(frames, 280), Ending::Clean)
}

fn two_choices() -> Scene {
    let model = "demo-choices";
    let texts = [
        "Streams arrive in pieces, and pieces make a whole.",
        "Bytes first, meaning after; never the other way round.",
    ];
    let mut frames: Vec<String> = (0..2)
        .map(|choice| delta(model, choice, &json!({ "role": "assistant", "content": "" })))
        .collect();
    let [mut first, mut second] = texts.map(words);
    loop {
        let pair = [first.next(), second.next()];
        if pair == [None, None] {
            break;
        }
        for (choice, word) in (0..).zip(pair) {
            frames.extend(word.map(|word| delta(model, choice, &json!({ "content": word }))));
        }
    }
    frames.extend([
        finish(model, 0, "stop"),
        finish(model, 1, "stop"),
        usage(model, 23, 24),
        DONE.to_owned(),
    ]);
    let request = request(model, "Two mottos for a stream debugger, please.", json!({ "n": 2 }));
    chat(request, paced(frames, 220), Ending::Clean)
}

fn lost_index() -> Scene {
    let model = "demo-lost-index";
    let call = |fragment: &Value| delta(model, 0, &json!({ "tool_calls": [fragment] }));
    let frames = vec![
        delta(model, 0, &json!({ "role": "assistant", "content": "Let me look that up." })),
        call(
            &json!({ "id": "call_a", "type": "function", "function": { "name": "search", "arguments": "{\"q\":" } }),
        ),
        call(&json!({ "function": { "arguments": "\"frames\"" } })),
        finish(model, 0, "length"),
        DONE.to_owned(),
    ];
    let request = request(model, "Search for frames.", json!({ "max_tokens": 12 }));
    chat(request, paced(frames, 200), Ending::Clean)
}

fn broken() -> Scene {
    let model = "demo-broken";
    let mut frames = vec![delta(model, 0, &json!({ "role": "assistant", "content": "" }))];
    frames.extend(
        words("This answer will not be finished, because the server resets the connection in the")
            .map(|word| delta(model, 0, &json!({ "content": word }))),
    );
    let last = delta(model, 0, &json!({ "content": " middle" }));
    frames.push(last.chars().take(last.chars().count() / 2).collect());
    let request = request(model, "Tell me how this ends.", json!({}));
    chat(request, paced(frames, 300), Ending::Reset)
}

fn paced(frames: Vec<String>, first: u64) -> Vec<(Duration, String)> {
    let pauses = std::iter::once(ms(first)).chain((1..).map(pause));
    pauses.zip(frames).collect()
}
