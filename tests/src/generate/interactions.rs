//! Gemini's Interactions (`FORMATS.md` D2): an interaction in steps.

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Sse, Style},
};

pub(super) const GENERATOR: Generator = Generator {
    name: "gemini-interactions",
    format: "gemini-interactions",
    objects: false,
    make,
    official: make,
};

/// A step: how it starts, the deltas, and what it is in the end.
struct Step {
    start: Value,
    deltas: Vec<Value>,
    whole: Value,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "gemini-interactions");
    let mut answer = Answer::default();
    let steps = steps(&mut random, &mut answer);
    let status = if answer.calls.is_empty() {
        random.pick(&["completed", "completed", "incomplete", "budget_exceeded"])
    } else {
        "requires_action"
    };
    answer.finish = Some(status.to_owned());
    // Without `store` there is no id.
    let id = if random.chance(80) { random.id("v1_") } else { String::new() };
    let (input, output) = (random.below(9000), random.below(9000));
    let usage = json!({ "total_input_tokens": input, "total_output_tokens": output, "total_tokens": input + output });
    let interaction = |status: &str| json!({ "id": id, "status": status, "object": "interaction", "model": "gemini-test" });

    let named = random.chance(30);
    let mut body = Sse::new(&mut random, ": keep-alive");
    let mut number = 0;
    let mut write = |event: &Value| {
        let mut event = event.clone();
        number += 1;
        event["event_id"] = json!(format!("e{number}"));
        match event["event_type"].as_str().filter(|_| named) {
            Some(name) => body.named(name, &event),
            None => body.data(&event),
        }
    };
    write(
        &json!({ "event_type": "interaction.created", "interaction": interaction("in_progress") }),
    );
    if random.chance(50) {
        write(
            &json!({ "event_type": "interaction.status_update", "interaction_id": id, "status": "in_progress" }),
        );
    }
    for (index, step) in steps.iter().enumerate() {
        write(&json!({ "event_type": "step.start", "index": index, "step": step.start }));
        for delta in &step.deltas {
            write(&json!({ "event_type": "step.delta", "index": index, "delta": delta }));
        }
        write(&json!({ "event_type": "step.stop", "index": index }));
    }
    let mut response = interaction(status);
    response["usage"] = usage;
    let steps: Value = steps.into_iter().map(|step| step.whole).collect();
    let mut last = response.clone();
    if random.chance(20) {
        last["steps"] = steps.clone();
    }
    write(&json!({ "event_type": "interaction.completed", "interaction": last }));
    body.raw("[DONE]");
    response["steps"] = steps;
    Generated { stream: body.stream("gemini-interactions", seed), response, outputs: vec![answer] }
}

/// What is thought, searched, said and called.
fn steps(random: &mut Random, answer: &mut Answer) -> Vec<Step> {
    let mut steps = Vec::new();
    if random.chance(50) {
        steps.push(thought(random, answer));
    }
    if random.chance(30) {
        steps.extend(search(random));
    }
    if random.chance(80) {
        steps.push(output(random, answer));
    }
    for _ in 0..if steps.is_empty() || random.chance(40) { random.count(1, 3) } else { 0 } {
        steps.push(call(random, answer));
    }
    steps
}

fn thought(random: &mut Random, answer: &mut Answer) -> Step {
    let signature = random.base64();
    let text = if random.chance(70) { random.text() } else { String::new() };
    let mut deltas: Vec<Value> = random
        .pieces(&text)
        .into_iter()
        .map(|piece| json!({ "type": "thought_summary", "content": { "type": "text", "text": piece } }))
        .collect();
    deltas.push(json!({ "type": "thought_signature", "signature": signature }));
    let mut whole = json!({ "type": "thought", "signature": signature });
    if !text.is_empty() {
        whole["summary"] = json!([{ "type": "text", "text": text }]);
    }
    answer.reasoning = text;
    Step { start: json!({ "type": "thought" }), deltas, whole }
}

/// A search that the service makes itself, and what it found.
fn search(random: &mut Random) -> [Step; 2] {
    let id = random.id("");
    let arguments = json!({ "queries": [random.text()] });
    let result = json!([{ "title": random.text(), "url": "https://example.org/" }]);
    let step = |kind: &str, key: &str, deltas: Value| {
        let start = json!({ "type": kind, key: id, "signature": "" });
        let mut whole = json!({ "type": kind, key: id });
        let mut delta = json!({ "type": kind });
        for (name, value) in deltas.as_object().into_iter().flatten() {
            whole[name] = value.clone();
            delta[name] = value.clone();
        }
        Step { start, deltas: vec![delta], whole }
    };
    [
        step("google_search_call", "id", json!({ "arguments": arguments })),
        step("google_search_result", "call_id", json!({ "result": result, "is_error": false })),
    ]
}

/// Text with citations, and a picture between two texts now and then.
fn output(random: &mut Random, answer: &mut Answer) -> Step {
    let (mut deltas, mut content) = (Vec::new(), Vec::new());
    for place in 0..if random.chance(20) { 2 } else { 1 } {
        if place > 0 {
            let image =
                json!({ "type": "image", "mime_type": "image/png", "data": random.base64() });
            deltas.push(image.clone());
            content.push(image);
        }
        let text = random.text();
        deltas.extend(
            random.pieces(&text).into_iter().map(|piece| json!({ "type": "text", "text": piece })),
        );
        let mut part = json!({ "type": "text", "text": text });
        if random.chance(30) {
            let annotations: Vec<Value> = (0..random.count(1, 3))
                .map(|at| json!({ "type": "url_citation", "start_index": 0, "end_index": at, "url": "https://example.org/" }))
                .collect();
            let (first, rest) = annotations.split_at(1);
            for some in [first, rest].into_iter().filter(|some| !some.is_empty()) {
                deltas.push(json!({ "type": "text_annotation_delta", "annotations": some }));
            }
            part["annotations"] = annotations.into();
        }
        content.push(part);
        answer.text.push_str(&text);
    }
    Step {
        start: json!({ "type": "model_output" }),
        deltas,
        whole: json!({ "type": "model_output", "content": content }),
    }
}

fn call(random: &mut Random, answer: &mut Answer) -> Step {
    let (id, name) = (random.id("call_"), random.name());
    let arguments = if random.chance(15) { json!({}) } else { random.object(3) };
    let written = Style::of(random).json(&arguments);
    // Without arguments nothing but the start may come.
    let deltas: Vec<Value> = if written == "{}" && random.chance(50) {
        Vec::new()
    } else {
        random
            .pieces(&written)
            .into_iter()
            .map(|piece| json!({ "type": "arguments_delta", "arguments": piece }))
            .collect()
    };
    answer.calls.push((Some(id.clone()), name.clone(), written));
    let step = |arguments: Value| json!({ "type": "function_call", "id": id, "name": name, "arguments": arguments });
    let mut start = step(json!({}));
    if random.chance(50) {
        start["signature"] = json!("");
    }
    Step { start, deltas, whole: step(arguments) }
}
