//! The Vercel AI SDK's stream of UI messages (`FORMATS.md` H8.1).

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Sse, Style},
};

pub(super) const GENERATOR: Generator =
    Generator { name: "vercel-ui", format: "vercel-ui", objects: true, make, official: make };

/// Chunks that may come among others, and the parts that come of them, in the order in which they begin.
#[derive(Default)]
struct Step {
    sequences: Vec<Vec<Value>>,
    parts: Vec<Value>,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "vercel-ui");
    let mut answer = Answer::default();
    let id = random.id("msg_");
    let metadata = random.chance(40).then(|| random.object(2));
    let mut body = Sse::new(&mut random, "");
    let mut start = json!({ "type": "start", "messageId": id });
    if let Some(metadata) = &metadata {
        start["messageMetadata"] = metadata.clone();
    }
    body.data(&start);
    let mut parts = Vec::new();
    for number in 0..random.count(1, 3) {
        body.data(&json!({ "type": "start-step" }));
        parts.push(json!({ "type": "step-start" }));
        if random.chance(10) {
            // A step that was begun again: nothing of the first attempt stays.
            body.data(&json!({ "type": "text-start", "id": "0" }));
            body.data(&json!({ "type": "text-delta", "id": "0", "delta": random.text() }));
            body.data(&json!({ "type": "reset-step" }));
        }
        let step = step(&mut random, number, &mut answer);
        // Parts begin in order; what follows of each may be mixed.
        let mut sequences = step.sequences;
        if random.chance(50) {
            let firsts: Vec<Value> =
                sequences.iter_mut().map(|sequence| sequence.remove(0)).collect();
            for chunk in &firsts {
                body.data(chunk);
            }
            sequences = vec![random.interleave(sequences)];
        }
        sequences.concat().iter().for_each(|chunk| body.data(chunk));
        parts.extend(step.parts);
        body.data(&json!({ "type": "finish-step" }));
    }
    let reason = random.pick(&["stop", "length", "tool-calls", "content-filter", "other"]);
    answer.finish = Some(reason.to_owned());
    body.data(&json!({ "type": "finish", "finishReason": reason }));
    body.raw("[DONE]");
    let mut response = json!({ "id": id, "role": "assistant", "parts": parts });
    if let Some(metadata) = metadata {
        response["metadata"] = metadata;
    }
    Generated { stream: body.stream("vercel-ui", seed), response, outputs: vec![answer] }
}

fn step(random: &mut Random, number: usize, answer: &mut Answer) -> Step {
    let mut step = Step::default();
    if random.chance(40) {
        text(random, "reasoning", &format!("r{number}"), &mut step, &mut answer.reasoning);
    }
    if random.chance(80) {
        // The same id in every step.
        text(random, "text", "0", &mut step, &mut answer.text);
    }
    for _ in 0..if random.chance(40) { random.count(1, 2) } else { 0 } {
        tool(random, &mut step, answer);
    }
    if random.chance(30) {
        let source = json!({ "type": "source-url", "sourceId": random.id("s"), "url": "https://example.org/", "title": random.text() });
        step.sequences.push(vec![source.clone()]);
        step.parts.push(source);
    }
    if random.chance(30) {
        let (id, first, last) = (random.id("d"), random.value(1), random.value(1));
        let data = |value: &Value| json!({ "type": "data-chart", "id": id, "data": value });
        let passing = json!({ "type": "data-progress", "data": 1, "transient": true });
        step.sequences.push(vec![data(&first), passing, data(&last)]);
        step.parts.push(data(&last));
    }
    step
}

fn text(random: &mut Random, kind: &str, id: &str, step: &mut Step, all: &mut String) {
    let text = random.text();
    let mut chunks = vec![json!({ "type": format!("{kind}-start"), "id": id })];
    let delta =
        |piece: String| json!({ "type": format!("{kind}-delta"), "id": id, "delta": piece });
    chunks.extend(random.pieces(&text).into_iter().map(delta));
    let mut end = json!({ "type": format!("{kind}-end"), "id": id });
    let mut part = json!({ "type": kind, "text": text, "state": "done" });
    if kind == "reasoning" {
        let provider = json!({ "test": { "signature": random.base64() } });
        end["providerMetadata"] = provider.clone();
        part["id"] = json!(id);
        part["providerMetadata"] = provider;
    }
    chunks.push(end);
    all.push_str(&text);
    step.sequences.push(chunks);
    step.parts.push(part);
}

/// A call whose input comes in pieces and then as a value, or only so; a result may follow.
fn tool(random: &mut Random, step: &mut Step, answer: &mut Answer) {
    let (id, name, input) = (random.id("call_"), random.name(), random.object(3));
    let dynamic = random.chance(30);
    let chunk = |kind: &str| {
        let mut chunk = json!({ "type": kind, "toolCallId": id, "toolName": name });
        if dynamic {
            chunk["dynamic"] = json!(true);
        }
        chunk
    };
    let mut chunks = Vec::new();
    if random.chance(80) {
        chunks.push(chunk("tool-input-start"));
        let written = Style::of(random).json(&input);
        for piece in random.pieces(&written) {
            chunks.push(
                json!({ "type": "tool-input-delta", "toolCallId": id, "inputTextDelta": piece }),
            );
        }
    }
    let mut available = chunk("tool-input-available");
    available["input"] = input.clone();
    chunks.push(available);
    let mut part = json!({ "type": format!("tool-{name}"), "toolCallId": id, "state": "input-available", "input": input });
    if dynamic {
        part["type"] = json!("dynamic-tool");
        part["toolName"] = json!(name);
    }
    if random.chance(50) {
        let output = random.value(2);
        if random.chance(30) {
            chunks.push(json!({ "type": "tool-output-available", "toolCallId": id, "output": random.value(2), "preliminary": true }));
        }
        chunks.push(json!({ "type": "tool-output-available", "toolCallId": id, "output": output }));
        part["state"] = json!("output-available");
        part["output"] = output;
    }
    answer.calls.push((Some(id.clone()), name.clone(), input.to_string()));
    step.sequences.push(chunks);
    step.parts.push(part);
}
