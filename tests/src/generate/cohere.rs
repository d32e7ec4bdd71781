//! Cohere's v2 chat (`FORMATS.md` H4).

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "cohere", format: "cohere", objects: false, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "cohere");
    let mut answer = Answer::default();
    let mut body = Sse::new(&mut random, "");
    let id = random.id("");
    let started = json!({ "role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": [] });
    body.event(&json!({ "type": "message-start", "id": id, "delta": { "message": started } }));

    let mut message = json!({ "role": "assistant" });
    let reason = if random.chance(40) {
        let plan = random.text();
        for piece in random.pieces(&plan) {
            body.event(&json!({ "type": "tool-plan-delta", "delta": { "message": { "tool_plan": piece } } }));
        }
        message["tool_plan"] = json!(plan);
        let calls = random.count(1, 3);
        message["tool_calls"] =
            (0..calls).map(|index| call(&mut random, &mut body, index, &mut answer)).collect();
        "TOOL_CALL"
    } else {
        contents(&mut random, &mut body, &mut message, &mut answer);
        random.pick(&["COMPLETE", "MAX_TOKENS", "STOP_SEQUENCE"])
    };
    answer.finish = Some(reason.to_owned());
    let usage = json!({
        "billed_units": { "input_tokens": random.below(9000), "output_tokens": random.below(9000) },
        "tokens": { "input_tokens": random.below(9000), "output_tokens": random.below(9000) },
    });
    body.event(
        &json!({ "type": "message-end", "delta": { "finish_reason": reason, "usage": usage } }),
    );
    let response = json!({ "id": id, "finish_reason": reason, "message": message, "usage": usage });
    Generated { stream: body.stream("cohere", seed), response, outputs: vec![answer] }
}

/// Thinking and text, each a block, and what the text cites.
fn contents(random: &mut Random, body: &mut Sse, message: &mut Value, answer: &mut Answer) {
    let mut contents = Vec::new();
    if random.chance(40) {
        answer.reasoning = random.text();
        contents.push(content(random, body, contents.len(), "thinking", &answer.reasoning));
    }
    answer.text = random.text();
    contents.push(content(random, body, contents.len(), "text", &answer.text));
    let place = contents.len() - 1;
    message["content"] = contents.into();
    let citations: Vec<Value> = (0..if random.chance(30) { random.count(1, 3) } else { 0 })
        .map(|index| {
            let citation = json!({
                "start": random.below(10), "end": 10 + random.below(10), "text": random.text(),
                "sources": [{ "type": "document", "id": random.id("doc_"), "document": { "snippet": random.text() } }],
                "content_index": place, "type": "TEXT_CONTENT",
            });
            let delta = json!({ "message": { "citations": citation } });
            body.event(&json!({ "type": "citation-start", "index": index, "delta": delta }));
            body.event(&json!({ "type": "citation-end", "index": index }));
            citation
        })
        .collect();
    if !citations.is_empty() {
        message["citations"] = citations.into();
    }
}

fn content(random: &mut Random, body: &mut Sse, index: usize, kind: &str, whole: &str) -> Value {
    let delta = |text: &str| json!({ "message": { "content": { kind: text } } });
    let mut start = delta("");
    start["message"]["content"]["type"] = json!(kind);
    body.event(&json!({ "type": "content-start", "index": index, "delta": start }));
    for piece in random.pieces(whole) {
        body.event(&json!({ "type": "content-delta", "index": index, "delta": delta(&piece) }));
    }
    body.event(&json!({ "type": "content-end", "index": index }));
    json!({ "type": kind, kind: whole })
}

fn call(random: &mut Random, body: &mut Sse, index: usize, answer: &mut Answer) -> Value {
    let (id, name, arguments) = (random.id("call_"), random.name(), random.object(3).to_string());
    let call = |arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let event = |kind: &str, calls: Value| json!({ "type": kind, "index": index, "delta": { "message": { "tool_calls": calls } } });
    body.event(&event("tool-call-start", call("")));
    for piece in random.pieces(&arguments) {
        body.event(&event("tool-call-delta", json!({ "function": { "arguments": piece } })));
    }
    body.event(&json!({ "type": "tool-call-end", "index": index }));
    answer.calls.push((Some(id.clone()), name.clone(), arguments.clone()));
    call(&arguments)
}
