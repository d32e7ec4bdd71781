//! `LangServe`'s streams of what a runnable yields (`FORMATS.md` F.1): texts, pieces of a message, fields, or all of it
//! so far.

use serde_json::{Map, Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse, snapshots};

pub(super) const GENERATOR: Generator =
    Generator { name: "langserve", format: "langserve", objects: true, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "langserve");
    let (frames, output, answer) = match random.below(4) {
        0 => texts(&mut random),
        1 => chunks(&mut random),
        2 => fields(&mut random),
        _ => messages(&mut random),
    };
    let run = random.id("");
    let mut body = Sse::new(&mut random, ": ping - 2026-01-02 03:04:05").line_end("\r\n");
    body.named("metadata", &json!({ "run_id": run }));
    for frame in frames {
        body.named("data", &frame);
    }
    body.bare("end");
    Generated {
        stream: body.stream("langserve", seed),
        response: json!({ "output": output, "metadata": { "run_id": run } }),
        outputs: vec![answer],
    }
}

type Made = (Vec<Value>, Value, Answer);

/// What a parser of strings yields.
fn texts(random: &mut Random) -> Made {
    let text = snapshots::long(random);
    let frames = random.pieces(&text).into_iter().map(Value::from).collect();
    (frames, json!(text), Answer { text, ..Answer::default() })
}

/// What a chat model yields.
fn chunks(random: &mut Random) -> Made {
    let id = random.id("run-");
    let mut answer = Answer { text: snapshots::long(random), ..Answer::default() };
    let chunk = |more: &Value| {
        let mut chunk = json!({
            "content": "", "additional_kwargs": {}, "response_metadata": {}, "type": "AIMessageChunk", "name": null, "id": id,
            "example": false, "tool_calls": [], "invalid_tool_calls": [], "usage_metadata": null, "tool_call_chunks": [],
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            chunk[key] = value.clone();
        }
        chunk
    };
    let mut frames = vec![chunk(&json!({}))];
    frames.extend(
        random.pieces(&answer.text).into_iter().map(|piece| chunk(&json!({ "content": piece }))),
    );
    let mut calls = Vec::new();
    for index in 0..if random.chance(40) { random.count(1, 3) } else { 0 } {
        let (call, name, args) = (random.id("call_"), random.name(), random.object(3));
        let piece = |name: Value, args: &str, id: Value| {
            chunk(
                &json!({ "tool_call_chunks": [{ "name": name, "args": args, "id": id, "index": index, "type": "tool_call_chunk" }] }),
            )
        };
        frames.push(piece(json!(name), "", json!(call)));
        let written = args.to_string();
        frames.extend(
            random.pieces(&written).iter().map(|args| piece(Value::Null, args, Value::Null)),
        );
        answer.calls.push((Some(call.clone()), name.clone(), written));
        calls.push(json!({ "name": name, "args": args, "id": call, "type": "tool_call" }));
    }
    let reason = if calls.is_empty() { random.pick(&["stop", "length"]) } else { "tool_calls" };
    let metadata = json!({ "finish_reason": reason, "model_name": "m-1" });
    frames.push(chunk(&json!({ "response_metadata": metadata })));
    let (input, output) = (random.below(9000), random.below(9000));
    let usage =
        json!({ "input_tokens": input, "output_tokens": output, "total_tokens": input + output });
    frames.push(chunk(&json!({ "usage_metadata": usage })));
    answer.finish = Some(reason.to_owned());
    let message = json!({
        "content": answer.text, "additional_kwargs": {}, "response_metadata": metadata, "type": "ai", "name": null, "id": id,
        "example": false, "tool_calls": calls, "invalid_tool_calls": [], "usage_metadata": usage,
    });
    (frames, message, answer)
}

/// What a chain with several outputs yields: one field at a time, the answer in pieces.
fn fields(random: &mut Random) -> Made {
    let text = snapshots::long(random);
    let context = json!([{ "page_content": random.text(), "metadata": {}, "type": "Document" }]);
    let mut frames = vec![json!({ "context": context })];
    frames.extend(random.pieces(&text).into_iter().map(|piece| json!({ "answer": piece })));
    let output = json!({ "context": context, "answer": text });
    (frames, output, Answer { text, ..Answer::default() })
}

/// What an agent yields: its messages so far.
fn messages(random: &mut Random) -> Made {
    let text = snapshots::long(random);
    let id = random.chance(50).then(|| random.id("run-"));
    let message = |content: &str| {
        let mut message = Map::new();
        message.insert("type".to_owned(), json!("ai"));
        message.insert("content".to_owned(), json!(content));
        message.extend(id.clone().map(|id| ("id".to_owned(), json!(id))));
        json!([message])
    };
    let frames = snapshots::growing(random, &text).iter().map(|value| message(value)).collect();
    (frames, message(&text), Answer { text, ..Answer::default() })
}
