//! The first version of Cohere's chat (`FORMATS.md` H4): events whose last one holds the whole response.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Sse, Style, stream},
};

pub(super) const GENERATOR: Generator =
    Generator { name: "cohere-v1", format: "cohere", objects: true, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "cohere-v1");
    let mut answer = Answer::default();
    let mut response = json!({ "response_id": random.id(""), "generation_id": random.id("") });
    let mut events = vec![("stream-start", json!({ "generation_id": response["generation_id"] }))];
    if random.chance(20) {
        let query = json!([{ "text": random.text(), "generation_id": "q" }]);
        events.push(("search-queries-generation", json!({ "search_queries": query })));
        response["search_queries"] = query;
        let documents =
            json!([{ "id": "web_0", "title": random.text(), "url": "https://example.org/" }]);
        events.push(("search-results", json!({ "search_results": [], "documents": documents })));
        response["search_results"] = json!([]);
        response["documents"] = documents;
    }
    answer.text = random.text();
    events.extend(
        random
            .pieces(&answer.text)
            .into_iter()
            .map(|piece| ("text-generation", json!({ "text": piece }))),
    );
    response["text"] = json!(answer.text);
    if random.chance(30) {
        let citation =
            json!([{ "start": 0, "end": 3, "text": random.text(), "document_ids": ["web_0"] }]);
        events.push(("citation-generation", json!({ "citations": citation })));
        response["citations"] = citation;
    }
    if random.chance(40) {
        let calls: Value = (0..random.count(1, 3))
            .map(|index| call(&mut random, index, &mut events, &mut answer))
            .collect();
        events.push(("tool-calls-generation", json!({ "text": answer.text, "tool_calls": calls })));
        response["tool_calls"] = calls;
    }
    let reason = random.pick(&["COMPLETE", "MAX_TOKENS"]);
    answer.finish = Some(reason.to_owned());
    response["finish_reason"] = json!(reason);
    response["meta"] = json!({
        "api_version": { "version": "1" },
        "billed_units": { "input_tokens": random.below(9000), "output_tokens": random.below(9000) },
        "tokens": { "input_tokens": random.below(9000), "output_tokens": random.below(9000) },
    });
    events.push(("stream-end", json!({ "finish_reason": reason, "response": response })));
    Generated { stream: write(&mut random, events, seed), response, outputs: vec![answer] }
}

/// Lines of JSON, or an event stream, as the request's `Accept` has it.
fn write(random: &mut Random, events: Vec<(&str, Value)>, seed: u64) -> crate::sdk::Stream {
    let last = events.len() - 1;
    let frames = events.into_iter().enumerate().map(|(place, (kind, mut event))| {
        event["is_finished"] = json!(place == last);
        event["event_type"] = json!(kind);
        event
    });
    if random.chance(50) {
        let style = Style::of(random);
        let mut lines = String::new();
        for frame in frames {
            writeln!(lines, "{}", style.json(&frame)).expect("a text takes everything");
        }
        return stream("cohere-v1", seed, lines.into(), "application/x-ndjson");
    }
    let mut body = Sse::new(random, "");
    frames.for_each(|frame| body.data(&frame));
    body.stream("cohere-v1", seed)
}

fn call(
    random: &mut Random,
    index: usize,
    events: &mut Vec<(&'static str, Value)>,
    answer: &mut Answer,
) -> Value {
    let (name, parameters) = (random.name(), random.object(3));
    let mut delta =
        |delta: Value| events.push(("tool-calls-chunk", json!({ "tool_call_delta": delta })));
    delta(json!({ "index": index, "name": name }));
    for piece in random.pieces(&parameters.to_string()) {
        delta(json!({ "index": index, "parameters": piece }));
    }
    answer.calls.push((None, name.clone(), parameters.to_string()));
    json!({ "name": name, "parameters": parameters })
}
