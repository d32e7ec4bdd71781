//! Mistral's chat: Chat Completions whose content may come in parts and whose calls come whole (`FORMATS.md` H5).

use serde_json::{Map, Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "mistral-chat", format: "openai-chat", objects: false, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "mistral");
    let mut answer = Answer::default();
    let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
    let mut message = json!({ "role": "assistant" });
    let thinks = random.chance(40);
    let has_calls = random.chance(40);
    if thinks {
        answer.reasoning = random.text();
        for piece in random.pieces(&answer.reasoning) {
            let part =
                json!({ "type": "thinking", "thinking": [{ "type": "text", "text": piece }] });
            deltas.push(json!({ "content": [part] }));
        }
    }
    if thinks || !has_calls || random.chance(50) {
        answer.text = random.text();
        deltas.extend(
            random.pieces(&answer.text).into_iter().map(|piece| json!({ "content": piece })),
        );
    }
    message["content"] = if thinks {
        json!([
            { "type": "thinking", "thinking": [{ "type": "text", "text": answer.reasoning }] },
            { "type": "text", "text": answer.text },
        ])
    } else {
        json!(answer.text)
    };
    if has_calls {
        let calls: Vec<Value> =
            (0..random.count(1, 3)).map(|_| call(&mut random, &mut answer)).collect();
        let indexed = calls.iter().enumerate().map(|(index, call)| {
            let mut call = call.clone();
            call["index"] = json!(index);
            call
        });
        deltas.push(json!({ "content": "", "tool_calls": indexed.collect::<Vec<_>>() }));
        message["tool_calls"] = calls.into();
    }
    let reason = if has_calls { "tool_calls" } else { random.pick(&["stop", "length"]) };
    answer.finish = Some(reason.to_owned());
    let (prompt, completion) = (random.below(9000), random.below(9000));
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion });

    let (body, response) = send(&mut random, deltas, &message, reason, &usage);
    Generated { stream: body.stream("mistral-chat", seed), response, outputs: vec![answer] }
}

/// A chunk for each delta, and the response in one piece.
fn send(
    random: &mut Random,
    deltas: Vec<Value>,
    message: &Value,
    reason: &str,
    usage: &Value,
) -> (Sse, Value) {
    let head = json!({
        "id": random.id(""), "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "magistral-test",
    });
    let mut body = Sse::new(random, "");
    let last = deltas.len() - 1;
    for (place, delta) in deltas.into_iter().enumerate() {
        let mut chunk = head.as_object().cloned().unwrap_or_default();
        let ends = place == last;
        let reason = if ends { json!(reason) } else { Value::Null };
        chunk.insert(
            "choices".to_owned(),
            json!([{ "index": 0, "delta": delta, "finish_reason": reason }]),
        );
        chunk.extend(ends.then(|| ("usage".to_owned(), usage.clone())));
        body.data(&Value::Object(chunk));
    }
    body.raw("[DONE]");
    let mut response: Map<String, Value> = head.as_object().cloned().unwrap_or_default();
    response.insert("object".to_owned(), json!("chat.completion"));
    let choice = json!({ "index": 0, "message": message, "finish_reason": reason });
    response.insert("choices".to_owned(), json!([choice]));
    response.insert("usage".to_owned(), usage.clone());
    (body, Value::Object(response))
}

fn call(random: &mut Random, answer: &mut Answer) -> Value {
    let (id, name, arguments) = (random.id("c"), random.name(), random.object(3).to_string());
    answer.calls.push((Some(id.clone()), name.clone(), arguments.clone()));
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}
