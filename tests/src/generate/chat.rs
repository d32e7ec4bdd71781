//! Chat Completions as `OpenAI`, `DeepSeek` and `OpenRouter` stream them (`FORMATS.md` A).

use serde_json::{Map, Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "openai-chat",
    format: "openai-chat",
    objects: false,
    make,
    official: |seed| make_as(seed, Vendor::OpenAi),
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Vendor {
    OpenAi,
    DeepSeek,
    OpenRouter,
}

fn make(seed: u64) -> Generated {
    make_as(
        seed,
        match seed % 4 {
            0 | 1 => Vendor::OpenAi,
            2 => Vendor::DeepSeek,
            _ => Vendor::OpenRouter,
        },
    )
}

/// One choice: its chunks' parts and what they add up to.
struct Choice {
    parts: Vec<Value>,
    whole: Value,
    answer: Answer,
}

fn make_as(seed: u64, vendor: Vendor) -> Generated {
    let mut random = Random::new(seed, "openai-chat");
    let count = if vendor == Vendor::OpenAi { random.pick(&[&1, &1, &2, &4]) } else { &1 };
    let mut choices: Vec<Choice> =
        (0..*count).map(|index| choice(&mut random, vendor, index)).collect();

    let mut head = Map::new();
    head.insert("id".to_owned(), json!(random.id("chatcmpl-")));
    head.insert("object".to_owned(), json!("chat.completion.chunk"));
    head.insert("created".to_owned(), json!(1_700_000_000 + random.below(100_000_000)));
    head.insert(
        "model".to_owned(),
        json!(random.pick(&["gpt-5.2", "deepseek-reasoner", "o5-mini"])),
    );
    if random.chance(50) {
        head.insert("service_tier".to_owned(), json!("default"));
    }
    let fingerprint = if random.chance(70) { json!(random.id("fp_")) } else { Value::Null };
    head.insert("system_fingerprint".to_owned(), fingerprint);
    if vendor == Vendor::OpenRouter {
        head.insert("provider".to_owned(), json!("Test"));
    }
    let usage = random.chance(75).then(|| usage(&mut random));
    let padded = vendor == Vendor::OpenAi && random.chance(50);

    let mut response = head.clone();
    response.insert("object".to_owned(), json!("chat.completion"));
    response
        .insert("choices".to_owned(), choices.iter().map(|choice| choice.whole.clone()).collect());
    response.extend(usage.clone().map(|usage| ("usage".to_owned(), usage)));

    // The first chunk of every choice in order, then in any: OpenAI's SDK for Python knows no other beginning.
    let mut parts: Vec<Value> = choices.iter_mut().map(|choice| choice.parts.remove(0)).collect();
    let rest = choices.iter_mut().map(|choice| std::mem::take(&mut choice.parts)).collect();
    parts.extend(random.interleave(rest));

    let mut body =
        Sse::new(&mut random, if vendor == Vendor::OpenAi { "" } else { ": keep-alive" });
    let mut write = |choices: Value, usage: Option<&Value>| {
        let mut chunk = head.clone();
        chunk.insert("choices".to_owned(), choices);
        chunk.extend(usage.map(|usage| ("usage".to_owned(), usage.clone())));
        if padded {
            chunk.insert("obfuscation".to_owned(), json!(random.id("")));
        }
        body.data(&Value::Object(chunk));
    };
    let last = parts.len() - 1;
    for (place, part) in parts.into_iter().enumerate() {
        // OpenAI sends the counts in a chunk of their own, the others with the last choice.
        let counts = if vendor == Vendor::OpenAi {
            usage.as_ref().map(|_| &Value::Null)
        } else {
            usage.as_ref().filter(|_| place == last)
        };
        write(json!([part]), counts);
    }
    if let (Vendor::OpenAi, Some(usage)) = (vendor, &usage) {
        write(json!([]), Some(usage));
    }
    body.raw("[DONE]");
    Generated {
        stream: body.stream("openai-chat", seed),
        response: Value::Object(response),
        outputs: choices.into_iter().map(|choice| choice.answer).collect(),
    }
}

fn usage(random: &mut Random) -> Value {
    let (prompt, completion) = (random.below(5000), random.below(5000));
    json!({
        "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        "prompt_tokens_details": { "cached_tokens": random.below(1 + prompt), "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": random.below(1 + completion) },
    })
}

fn choice(random: &mut Random, vendor: Vendor, index: u64) -> Choice {
    let mut answer = Answer::default();
    let mut deltas = Vec::new();
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let kind = random.below(if vendor == Vendor::OpenAi { 4 } else { 3 });
    let (has_text, calls, refuses) = (kind != 1 && kind != 3, kind == 1 || kind == 2, kind == 3);

    if vendor != Vendor::OpenAi && random.chance(80) {
        let key = if vendor == Vendor::DeepSeek { "reasoning_content" } else { "reasoning" };
        answer.reasoning = random.text();
        for piece in random.pieces(&answer.reasoning) {
            deltas.push(json!({ "content": null, key: piece }));
        }
        message.insert(key.to_owned(), json!(answer.reasoning));
    }
    let first = if refuses {
        json!({ "role": "assistant", "content": null, "refusal": "" })
    } else if vendor == Vendor::OpenAi {
        json!({ "role": "assistant", "content": if has_text { json!("") } else { Value::Null }, "refusal": null })
    } else {
        json!({ "role": "assistant", "content": if has_text { json!("") } else { Value::Null } })
    };
    if has_text {
        answer.text = random.text();
        deltas.extend(
            random.pieces(&answer.text).into_iter().map(|piece| json!({ "content": piece })),
        );
    }
    message.insert("content".to_owned(), if has_text { json!(answer.text) } else { Value::Null });
    if refuses {
        answer.refusal = random.text();
        deltas.extend(
            random.pieces(&answer.refusal).into_iter().map(|piece| json!({ "refusal": piece })),
        );
        message.insert("refusal".to_owned(), json!(answer.refusal));
    } else if vendor == Vendor::OpenAi {
        message.insert("refusal".to_owned(), Value::Null);
    }
    if calls {
        let made: Value = (0..random.count(1, 3))
            .map(|place| call(random, place, &mut deltas, &mut answer))
            .collect();
        message.insert("tool_calls".to_owned(), made);
    }
    let reason =
        if calls { "tool_calls" } else { random.pick(&["stop", "length", "content_filter"]) };
    answer.finish = Some(reason.to_owned());

    deltas.insert(0, first);
    deltas.push(json!({}));
    let with_logprobs = vendor == Vendor::OpenAi && has_text && random.chance(30);
    let (parts, logprobs) = as_parts(index, deltas, reason, with_logprobs);
    let whole = json!({ "index": index, "message": message, "finish_reason": reason, "logprobs": logprobs });
    let choice = Choice { parts, whole, answer };
    if vendor == Vendor::OpenRouter { as_router(choice) } else { choice }
}

/// As a router passes a choice on: the role on every chunk, the provider's own reason, no log probabilities.
fn as_router(mut choice: Choice) -> Choice {
    for part in choice.parts.iter_mut().chain([&mut choice.whole]) {
        part["native_finish_reason"] =
            if part["finish_reason"].is_null() { Value::Null } else { json!("completed") };
        part.as_object_mut().map(|part| part.remove("logprobs"));
    }
    for part in &mut choice.parts {
        part["delta"]["role"] = json!("assistant");
    }
    choice
}

/// The deltas as members of `choices`, and the log probabilities of all.
fn as_parts(
    index: u64,
    deltas: Vec<Value>,
    reason: &str,
    with_logprobs: bool,
) -> (Vec<Value>, Value) {
    let mut all = Vec::new();
    let last = deltas.len() - 1;
    let parts = deltas
        .into_iter()
        .enumerate()
        .map(|(place, delta)| {
            let piece = delta["content"].as_str().filter(|piece| with_logprobs && !piece.is_empty());
            let logprobs = piece.map_or(Value::Null, |piece| {
                let token = json!({ "token": piece, "logprob": -0.25, "bytes": piece.as_bytes(), "top_logprobs": [] });
                all.push(token.clone());
                json!({ "content": [token], "refusal": null })
            });
            let reason = if place == last { json!(reason) } else { Value::Null };
            json!({ "index": index, "delta": delta, "logprobs": logprobs, "finish_reason": reason })
        })
        .collect();
    (parts, if all.is_empty() { Value::Null } else { json!({ "content": all, "refusal": null }) })
}

/// A tool call: its fragments go to the deltas; the answer is the whole one.
fn call(random: &mut Random, place: usize, deltas: &mut Vec<Value>, answer: &mut Answer) -> Value {
    let (id, name) = (random.id("call_"), random.name());
    let arguments = if random.chance(10) { "{}".to_owned() } else { random.object(3).to_string() };
    let open = json!({ "index": place, "id": id, "type": "function", "function": { "name": name, "arguments": "" } });
    deltas.push(json!({ "tool_calls": [open] }));
    for piece in random.pieces(&arguments) {
        let fragment = json!({ "index": place, "function": { "arguments": piece } });
        deltas.push(json!({ "tool_calls": [fragment] }));
    }
    answer.calls.push((Some(id.clone()), name.clone(), arguments.clone()));
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}
