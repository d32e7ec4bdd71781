//! Anthropic Messages (`FORMATS.md` C).

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "anthropic-messages",
    format: "anthropic-messages",
    objects: false,
    make,
    official: make,
};

/// A content block: how it starts, the deltas, and what it is in the end.
struct Block {
    start: Value,
    deltas: Vec<Value>,
    whole: Value,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "anthropic-messages");
    let mut answer = Answer::default();
    let mut blocks = Vec::new();
    if random.chance(40) {
        blocks.push(thinking(&mut random, &mut answer));
    }
    for _ in 0..random.count(0, 3) {
        match random.below(6) {
            0 | 1 => blocks.push(text(&mut random, &mut answer)),
            2 => blocks.push(cited(&mut random, &mut answer)),
            3 => blocks.extend(web_search(&mut random)),
            4 => blocks
                .push(whole_block(json!({ "type": "redacted_thinking", "data": random.base64() }))),
            _ => blocks.push(container_upload(&mut random)),
        }
    }
    for _ in 0..if random.chance(40) { random.count(1, 3) } else { 0 } {
        blocks.push(tool_use(&mut random, &mut answer));
    }
    let reason = if answer.calls.is_empty() {
        random.pick(&["end_turn", "max_tokens", "stop_sequence", "pause_turn", "refusal"])
    } else {
        "tool_use"
    };
    answer.finish = Some(reason.to_owned());
    let sequence = if reason == "stop_sequence" { json!(random.text()) } else { Value::Null };

    let started = started_usage(&mut random);
    let counts = final_usage(&mut random);
    let mut usage = started.clone();
    for (name, value) in counts.as_object().into_iter().flatten() {
        usage[name] = value.clone();
    }
    let mut response = json!({
        "id": random.id("msg_"), "type": "message", "role": "assistant", "model": "claude-test",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": started,
    });
    let mut body = Sse::new(&mut random, "event: ping\ndata: {\"type\": \"ping\"}");
    body.event(&json!({ "type": "message_start", "message": response }));
    for (index, block) in blocks.iter().enumerate() {
        body.event(
            &json!({ "type": "content_block_start", "index": index, "content_block": block.start }),
        );
        for delta in &block.deltas {
            body.event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        body.event(&json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": reason, "stop_sequence": sequence });
    body.event(&json!({ "type": "message_delta", "delta": delta, "usage": counts }));
    body.event(&json!({ "type": "message_stop" }));

    response["content"] = blocks.into_iter().map(|block| block.whole).collect();
    response["stop_reason"] = json!(reason);
    response["stop_sequence"] = sequence;
    response["usage"] = usage;
    Generated { stream: body.stream("anthropic-messages", seed), response, outputs: vec![answer] }
}

fn started_usage(random: &mut Random) -> Value {
    json!({
        "input_tokens": random.below(9000), "cache_creation_input_tokens": random.below(100),
        "cache_read_input_tokens": random.below(100), "output_tokens": 1, "service_tier": "standard",
        "cache_creation": { "ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0 },
    })
}

/// Totals so far: they overwrite those of the start.
fn final_usage(random: &mut Random) -> Value {
    let mut usage = json!({ "output_tokens": random.below(9000) });
    if random.chance(50) {
        usage["input_tokens"] = json!(9000 + random.below(9000));
        usage["cache_read_input_tokens"] = json!(random.below(9000));
    }
    if random.chance(30) {
        usage["server_tool_use"] =
            json!({ "web_search_requests": random.below(5), "web_fetch_requests": 0 });
    }
    usage
}

fn whole_block(block: Value) -> Block {
    Block { start: block.clone(), deltas: Vec::new(), whole: block }
}

fn thinking(random: &mut Random, answer: &mut Answer) -> Block {
    // Its display may be left out: nothing but the signature comes then.
    let thinking = if random.chance(15) { String::new() } else { random.text() };
    let signature = random.base64();
    let mut deltas: Vec<Value> = random
        .pieces(&thinking)
        .into_iter()
        .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
        .collect();
    deltas.push(json!({ "type": "signature_delta", "signature": signature }));
    answer.reasoning.push_str(&thinking);
    Block {
        start: json!({ "type": "thinking", "thinking": "", "signature": "" }),
        deltas,
        whole: json!({ "type": "thinking", "thinking": thinking, "signature": signature }),
    }
}

fn text_deltas(random: &mut Random, text: &str) -> Vec<Value> {
    let pieces = random.pieces(text).into_iter();
    pieces.map(|piece| json!({ "type": "text_delta", "text": piece })).collect()
}

fn text(random: &mut Random, answer: &mut Answer) -> Block {
    let text = random.text();
    answer.text.push_str(&text);
    Block {
        start: json!({ "type": "text", "text": "" }),
        deltas: text_deltas(random, &text),
        whole: json!({ "type": "text", "text": text }),
    }
}

fn cited(random: &mut Random, answer: &mut Answer) -> Block {
    let text = random.text();
    answer.text.push_str(&text);
    let citations: Vec<Value> = (0..random.count(0, 3))
        .map(|place| {
            json!({
                "type": "char_location", "cited_text": random.text(), "document_index": place,
                "document_title": if random.chance(50) { json!(random.text()) } else { Value::Null },
                "start_char_index": random.below(100), "end_char_index": 100 + random.below(100),
                "file_id": null,
            })
        })
        .collect();
    let cites = citations
        .iter()
        .map(|citation| json!({ "type": "citations_delta", "citation": citation }))
        .collect();
    let texts = text_deltas(random, &text);
    Block {
        start: json!({ "type": "text", "text": "", "citations": [] }),
        deltas: random.interleave(vec![texts, cites]),
        whole: json!({ "type": "text", "text": text, "citations": citations }),
    }
}

fn input_deltas(random: &mut Random, input: &Value) -> Vec<Value> {
    let written = super::body::Style::of(random).json(input);
    let mut pieces = random.pieces(&written);
    pieces.insert(0, String::new());
    pieces
        .into_iter()
        .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
        .collect()
}

fn tool_use(random: &mut Random, answer: &mut Answer) -> Block {
    let (id, name) = (random.id("toolu_"), random.name());
    // A call without arguments comes with no fragment or an empty one.
    let (input, deltas, arguments) = if random.chance(15) {
        let empty = vec![json!({ "type": "input_json_delta", "partial_json": "" })];
        (json!({}), if random.chance(50) { empty } else { Vec::new() }, "{}".to_owned())
    } else {
        let input = random.object(3);
        let deltas = input_deltas(random, &input);
        let text = deltas.iter().filter_map(|delta| delta["partial_json"].as_str()).collect();
        (input, deltas, text)
    };
    answer.calls.push((Some(id.clone()), name.clone(), arguments));
    let block =
        |input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    Block { start: block(json!({})), deltas, whole: block(input) }
}

/// A call that the service answers itself, and its result, which comes in one piece.
fn web_search(random: &mut Random) -> [Block; 2] {
    let id = random.id("srvtoolu_");
    let input = json!({ "query": random.text() });
    let call = |input: Value| json!({ "type": "server_tool_use", "id": id, "name": "web_search", "input": input });
    let results: Vec<Value> = (0..random.count(0, 2))
        .map(|_| {
            json!({
                "type": "web_search_result", "title": random.text(), "url": "https://example.org/",
                "encrypted_content": random.base64(), "page_age": null,
            })
        })
        .collect();
    let result = json!({ "type": "web_search_tool_result", "tool_use_id": id, "content": results });
    let deltas = input_deltas(random, &input);
    [Block { start: call(json!({})), deltas, whole: call(input) }, whole_block(result)]
}

fn container_upload(random: &mut Random) -> Block {
    whole_block(json!({ "type": "container_upload", "file_id": random.id("file_") }))
}
