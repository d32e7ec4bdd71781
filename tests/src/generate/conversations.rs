//! Mistral's Conversations (`FORMATS.md` H5b): entries of several kinds, each with an output index.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "mistral-conversations",
    format: "mistral-conversations",
    objects: false,
    make,
    official: make,
};

/// The events of an entry and what it is in the end.
struct Entry {
    events: Vec<Value>,
    whole: Value,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "mistral-conversations");
    let mut answer = Answer::default();
    let mut entries = Vec::new();
    for _ in 0..random.count(0, 2) {
        entries.push(if random.chance(70) { execution(&mut random) } else { handoff(&mut random) });
    }
    if entries.is_empty() || random.chance(80) {
        entries.push(message(&mut random, &mut answer));
    }
    for _ in 0..if random.chance(40) { random.count(1, 3) } else { 0 } {
        entries.push(call(&mut random, &mut answer));
    }
    let id = random.id("conv_");
    let (prompt, completion) = (random.below(9000), random.below(9000));
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion });

    let mut body = Sse::new(&mut random, "");
    body.event(&json!({ "type": "conversation.response.started", "conversation_id": id, "created_at": "2026-01-02T03:04:05Z" }));
    let mut outputs = Vec::new();
    let mut sequences = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let events = entry.events.into_iter().map(|mut event| {
            event["output_index"] = json!(index);
            event["created_at"] = json!("2026-01-02T03:04:06Z");
            event
        });
        sequences.push(events.collect::<Vec<_>>());
        let mut whole = entry.whole;
        whole["created_at"] = json!("2026-01-02T03:04:06Z");
        outputs.push(whole);
    }
    // Entries come one after the other, or mixed: they are told apart by their index.
    let events = if random.chance(70) { sequences.concat() } else { random.interleave(sequences) };
    for event in &events {
        body.event(event);
    }
    body.event(&json!({ "type": "conversation.response.done", "created_at": "2026-01-02T03:04:07Z", "usage": usage }));
    Generated {
        stream: body.stream("mistral-conversations", seed),
        response: json!({ "object": "conversation.response", "conversation_id": id, "outputs": outputs, "usage": usage }),
        outputs: vec![answer],
    }
}

/// A tool that the service runs: its arguments in pieces, then what came of it.
fn execution(random: &mut Random) -> Entry {
    let (id, arguments) = (random.id("tool_"), random.object(2).to_string());
    let event = |kind: &str| json!({ "type": format!("tool.execution.{kind}"), "id": id, "name": "web_search" });
    let mut started = event("started");
    started["arguments"] = json!("");
    let mut events = vec![started];
    for piece in random.pieces(&arguments) {
        let mut delta = event("delta");
        delta["arguments"] = json!(piece);
        events.push(delta);
    }
    let info = random.object(2);
    let mut done = event("done");
    done["info"] = info.clone();
    events.push(done);
    let whole = json!({ "type": "tool.execution", "id": id, "name": "web_search", "arguments": arguments, "info": info });
    Entry { events, whole }
}

fn handoff(random: &mut Random) -> Entry {
    let id = random.id("handoff_");
    let (from, to) = (random.id("ag_"), random.id("ag_"));
    let started = json!({ "type": "agent.handoff.started", "id": id, "previous_agent_id": from, "previous_agent_name": "A" });
    let done = json!({ "type": "agent.handoff.done", "id": id, "next_agent_id": to, "next_agent_name": "B" });
    let whole = json!({
        "type": "agent.handoff", "id": id, "previous_agent_id": from, "previous_agent_name": "A",
        "next_agent_id": to, "next_agent_name": "B",
    });
    Entry { events: vec![started, done], whole }
}

/// A message: a text, or thinking, text and what a tool found, each at its content index.
fn message(random: &mut Random, answer: &mut Answer) -> Entry {
    let id = random.id("msg_");
    let mut events = Vec::new();
    let mut delta = |index: usize, content: Value| {
        events.push(json!({
            "type": "message.output.delta", "id": id, "content_index": index, "role": "assistant", "model": "mistral-test",
            "content": content,
        }));
    };
    let thinks = random.chance(40);
    let refers = random.chance(20);
    let mut content = Vec::new();
    if thinks {
        answer.reasoning = random.text();
        for piece in random.pieces(&answer.reasoning) {
            delta(
                0,
                json!({ "type": "thinking", "thinking": [{ "type": "text", "text": piece }] }),
            );
        }
        content.push(json!({ "type": "thinking", "thinking": [{ "type": "text", "text": answer.reasoning }] }));
    }
    answer.text = random.text();
    for piece in random.pieces(&answer.text) {
        delta(content.len(), json!(piece));
    }
    content.push(json!({ "type": "text", "text": answer.text }));
    if refers {
        let reference =
            json!({ "type": "tool_reference", "tool": "web_search", "title": random.text() });
        delta(content.len(), reference.clone());
        content.push(reference);
    }
    let content = if thinks || refers { content.into() } else { json!(answer.text) };
    let whole = json!({ "type": "message.output", "id": id, "role": "assistant", "model": "mistral-test", "content": content });
    Entry { events, whole }
}

fn call(random: &mut Random, answer: &mut Answer) -> Entry {
    let (id, call, name) = (random.id("fc_"), random.id("call_"), random.name());
    let arguments = random.object(3).to_string();
    let event = |arguments: &str| {
        json!({
            "type": "function.call.delta", "id": id, "name": name, "tool_call_id": call, "arguments": arguments,
        })
    };
    // In pieces, or whole.
    let pieces =
        if random.chance(70) { random.pieces(&arguments) } else { vec![arguments.clone()] };
    let events = pieces.iter().map(|piece| event(piece)).collect();
    let mut whole = event(&arguments);
    whole["type"] = json!("function.call");
    answer.calls.push((Some(call.clone()), name.clone(), arguments));
    Entry { events, whole }
}
