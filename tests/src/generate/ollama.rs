//! Ollama's `/api/chat` (`FORMATS.md` H3): a line of JSON for each piece.

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Style, stream},
};

pub(super) const GENERATOR: Generator =
    Generator { name: "ollama", format: "ollama", objects: true, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "ollama");
    let mut answer = Answer::default();
    let mut messages = Vec::new();
    if random.chance(40) {
        answer.reasoning = random.text();
        let pieces = random.pieces(&answer.reasoning).into_iter();
        messages.extend(
            pieces.map(|piece| json!({ "role": "assistant", "content": "", "thinking": piece })),
        );
    }
    if random.chance(80) {
        answer.text = random.text();
        let pieces = random.pieces(&answer.text).into_iter();
        messages.extend(pieces.map(|piece| json!({ "role": "assistant", "content": piece })));
    }
    let calls: Vec<Value> = (0..if random.chance(40) { random.count(1, 3) } else { 0 })
        .map(|index| call(&mut random, index, &mut answer))
        .collect();
    // All calls in one line, or a line for each.
    let size = if random.chance(50) { calls.len().max(1) } else { 1 };
    for calls in calls.chunks(size) {
        messages.push(json!({ "role": "assistant", "content": "", "tool_calls": calls }));
    }

    let reason = random.pick(&["stop", "length"]);
    answer.finish = Some(reason.to_owned());
    let counts = counts(&mut random);
    let style = Style::go();
    let at = |second: usize| {
        format!("2026-01-02T03:{:02}:{:02}.123456789Z", second / 60 % 60, second % 60)
    };
    let mut body = String::new();
    for (place, message) in messages.iter().enumerate() {
        let line =
            json!({ "model": "q", "created_at": at(place), "message": message, "done": false });
        body.push_str(&(style.json(&line) + "\n"));
    }
    let end = |message: Value| {
        let mut line = json!({
            "model": "q", "created_at": at(messages.len()), "message": message, "done": true, "done_reason": reason,
        });
        for (name, count) in counts.as_object().into_iter().flatten() {
            line[name] = count.clone();
        }
        line
    };
    body.push_str(&(style.json(&end(json!({ "role": "assistant", "content": "" }))) + "\n"));

    let mut message = json!({ "role": "assistant", "content": answer.text });
    if !answer.reasoning.is_empty() {
        message["thinking"] = json!(answer.reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    Generated {
        stream: stream("ollama", seed, body.into(), "application/x-ndjson"),
        response: end(message),
        outputs: vec![answer],
    }
}

fn counts(random: &mut Random) -> Value {
    json!({
        "total_duration": random.below(1 << 40), "load_duration": random.below(1 << 30),
        "prompt_eval_count": random.below(9000), "prompt_eval_duration": random.below(1 << 40),
        "eval_count": random.below(9000), "eval_duration": random.below(1 << 40),
    })
}

/// A call, which comes whole.
fn call(random: &mut Random, index: usize, answer: &mut Answer) -> Value {
    let (name, arguments) = (random.name(), random.object(3));
    let id = random.chance(70).then(|| random.id("call_"));
    answer.calls.push((id.clone(), name.clone(), arguments.to_string()));
    let mut call = json!({ "function": { "index": index, "name": name, "arguments": arguments } });
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    call
}
