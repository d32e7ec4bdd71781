//! `LangGraph`'s streams (`FORMATS.md` F.1): pieces of messages, messages so far, the state so far.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "langgraph", format: "langserve", objects: true, make, official: make };

/// How a server sends messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// `messages`: pieces, each with what is known of its origin.
    Pieces,
    /// `messages/partial`: all of the message so far, then `messages/complete`.
    Partial,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "langgraph");
    let mode = *random.pick(&[&Mode::Pieces, &Mode::Partial]);
    let with_values = random.chance(60);
    let mut body = Sse::new(&mut random, ": heartbeat");
    body.named("metadata", &json!({ "run_id": random.id(""), "attempt": 1 }));
    let mut state =
        vec![json!({ "type": "human", "content": random.text(), "id": random.id("h") })];
    let (mut said, mut outputs) = (Vec::new(), Vec::new());
    if with_values {
        body.named("values", &json!({ "messages": state }));
    }
    let turns = random.count(1, 3);
    for turn in 0..turns {
        let calls = turn + 1 < turns;
        let message = answer(&mut random, &mut body, mode, calls, &mut outputs);
        let node = json!({ "agent": { "messages": [message] } });
        said.push(message.clone());
        state.push(message.clone());
        if random.chance(40) {
            body.named("updates", &node);
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let result = json!({ "type": "tool", "content": random.text(), "id": random.id("t"), "name": call["name"], "tool_call_id": call["id"] });
            match mode {
                Mode::Pieces => {
                    body.named("messages", &json!([result, { "langgraph_node": "tools" }]));
                }
                Mode::Partial => {
                    body.named("messages/complete", &json!([result]));
                }
            }
            said.push(result.clone());
            state.push(result);
        }
        if with_values {
            body.named("values", &json!({ "messages": state }));
        }
    }
    body.bare("end");
    let mut response = json!({ "messages": said });
    if with_values {
        response["values"] = json!({ "messages": state });
    }
    Generated { stream: body.stream("langgraph", seed), response, outputs }
}

/// A message of the model. Calls are answered by tools in the same stream, so none is left to the client.
fn answer(
    random: &mut Random,
    body: &mut Sse,
    mode: Mode,
    calls: bool,
    outputs: &mut Vec<Answer>,
) -> Value {
    let id = random.id("run-");
    let text = if calls && random.chance(50) { String::new() } else { random.text() };
    let reason = if calls { "tool_calls" } else { random.pick(&["stop", "length"]) };
    let usage =
        json!({ "input_tokens": 5, "output_tokens": random.below(900), "total_tokens": 905 });
    let calls_made: Vec<Value> = (0..if calls { random.count(1, 2) } else { 0 })
        .map(|_| json!({ "name": random.name(), "args": random.object(2), "id": random.id("call_"), "type": "tool_call" }))
        .collect();
    let mut message = json!({ "type": "ai", "content": text, "id": id });
    if !calls_made.is_empty() {
        message["tool_calls"] = json!(calls_made);
    }
    message["response_metadata"] = json!({ "finish_reason": reason });
    message["usage_metadata"] = usage.clone();
    match mode {
        Mode::Partial => {
            let mut so_far = String::new();
            for piece in random.pieces(&text) {
                so_far.push_str(&piece);
                body.named(
                    "messages/partial",
                    &json!([{ "type": "ai", "content": so_far, "id": id }]),
                );
            }
            body.named("messages/complete", &json!([message]));
        }
        Mode::Pieces => {
            let mut piece = |mut more: Value| {
                more["type"] = json!("AIMessageChunk");
                more["id"] = json!(id);
                body.named("messages", &json!([more, { "langgraph_node": "agent" }]));
            };
            piece(json!({ "content": "" }));
            for text in random.pieces(&text) {
                piece(json!({ "content": text }));
            }
            for (index, call) in calls_made.iter().enumerate() {
                let chunk = |name: &Value, args: &str, id: &Value| {
                    json!({ "content": "", "tool_call_chunks": [
                    { "name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk" }
                ] })
                };
                piece(chunk(&call["name"], "", &call["id"]));
                for args in random.pieces(&call["args"].to_string()) {
                    piece(chunk(&Value::Null, &args, &Value::Null));
                }
            }
            piece(
                json!({ "content": "", "response_metadata": { "finish_reason": reason }, "usage_metadata": usage }),
            );
        }
    }
    outputs.push(Answer { text, finish: Some(reason.to_owned()), ..Answer::default() });
    message
}
