//! OpenAI Responses (`FORMATS.md` B).

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "openai-responses",
    format: "openai-responses",
    objects: false,
    make,
    official: make,
};

/// The events of a response, numbered.
struct Events {
    body: Sse,
    number: u64,
}

impl Events {
    fn send(&mut self, kind: &str, mut event: Value) {
        event["type"] = json!(format!("response.{kind}"));
        event["sequence_number"] = json!(self.number);
        self.number += 1;
        self.body.event(&event);
    }

    /// Deltas of a member and the event that ends them with the whole value.
    fn grow(&mut self, random: &mut Random, kind: &str, place: &Value, member: &str, whole: &str) {
        for piece in random.pieces(whole) {
            let mut event = place.clone();
            event["delta"] = json!(piece);
            if kind == "output_text" {
                event["logprobs"] = json!([]);
            }
            if random.chance(30) {
                event["obfuscation"] = json!(random.id(""));
            }
            self.send(&format!("{kind}.delta"), event);
        }
        let mut event = place.clone();
        event[member] = json!(whole);
        if kind == "output_text" {
            event["logprobs"] = json!([]);
        }
        self.send(&format!("{kind}.done"), event);
    }
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "openai-responses");
    let mut answer = Answer::default();
    let status = if random.chance(15) { "incomplete" } else { "completed" };
    let mut response = json!({
        "id": random.id("resp_"), "object": "response", "created_at": 1_700_000_000 + random.below(1_000_000),
        "status": "in_progress", "error": null, "incomplete_details": null, "instructions": null,
        "max_output_tokens": null, "model": "gpt-5.2", "output": [], "parallel_tool_calls": true,
        "previous_response_id": null, "reasoning": { "effort": "medium", "summary": "auto" }, "store": true,
        "temperature": 1.0, "text": { "format": { "type": "text" } }, "tool_choice": "auto", "tools": [],
        "top_p": 1.0, "truncation": "disabled", "usage": null, "user": null, "metadata": {},
    });
    let mut events = Events { body: Sse::new(&mut random, ""), number: 0 };
    events.send("created", json!({ "response": response }));
    events.send("in_progress", json!({ "response": response }));
    let mut output = Vec::new();
    if random.chance(50) {
        output.push(reasoning(&mut random, &mut events, output.len(), &mut answer));
    }
    for _ in 0..random.count(1, 3) {
        let make = match random.below(6) {
            0 | 1 => message,
            2 => function_call,
            3 => custom_call,
            4 => web_search,
            _ => code_interpreter,
        };
        output.push(make(&mut random, &mut events, output.len(), &mut answer));
    }
    let (input, written) = (random.below(9000), random.below(9000));
    response["status"] = json!(status);
    if status == "incomplete" {
        response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
    }
    response["output"] = output.into();
    response["usage"] = json!({
        "input_tokens": input, "input_tokens_details": { "cached_tokens": random.below(1 + input) },
        "output_tokens": written, "output_tokens_details": { "reasoning_tokens": random.below(1 + written) },
        "total_tokens": input + written,
    });
    answer.finish = Some(status.to_owned());
    events.send(status, json!({ "response": response }));
    Generated {
        stream: events.body.stream("openai-responses", seed),
        response,
        outputs: vec![answer],
    }
}

/// Opens an item as `begun`, lets `grow` stream it, closes it as `whole`.
fn item(
    events: &mut Events,
    index: usize,
    begun: &Value,
    whole: &Value,
    grow: impl FnOnce(&mut Events, Value),
) {
    events.send("output_item.added", json!({ "output_index": index, "item": begun }));
    grow(events, json!({ "item_id": whole["id"], "output_index": index }));
    events.send("output_item.done", json!({ "output_index": index, "item": whole }));
}

fn with(value: &Value, members: &Value) -> Value {
    let mut value = value.clone();
    for (name, member) in members.as_object().into_iter().flatten() {
        value[name] = member.clone();
    }
    value
}

fn reasoning(random: &mut Random, events: &mut Events, index: usize, answer: &mut Answer) -> Value {
    let summary: Vec<Value> = (0..random.count(0, 3))
        .map(|_| json!({ "type": "summary_text", "text": random.text() }))
        .collect();
    for part in &summary {
        answer.reasoning.push_str(part["text"].as_str().unwrap_or_default());
    }
    let mut begun = json!({ "id": random.id("rs_"), "type": "reasoning", "summary": [] });
    if random.chance(40) {
        begun["encrypted_content"] = json!(random.base64());
    }
    let whole = with(&begun, &json!({ "summary": summary }));
    item(events, index, &begun, &whole, |events, place| {
        for (at, part) in summary.iter().enumerate() {
            let place = with(&place, &json!({ "summary_index": at }));
            let empty = json!({ "part": { "type": "summary_text", "text": "" } });
            events.send("reasoning_summary_part.added", with(&place, &empty));
            let text = part["text"].as_str().unwrap_or_default();
            events.grow(random, "reasoning_summary_text", &place, "text", text);
            events.send("reasoning_summary_part.done", with(&place, &json!({ "part": part })));
        }
    });
    whole
}

fn message(random: &mut Random, events: &mut Events, index: usize, answer: &mut Answer) -> Value {
    let parts: Vec<Value> = (0..random.count(1, 2)).map(|_| content(random, answer)).collect();
    let begun = json!({
        "id": random.id("msg_"), "type": "message", "status": "in_progress", "role": "assistant", "content": [],
    });
    let whole = with(&begun, &json!({ "status": "completed", "content": parts }));
    item(events, index, &begun, &whole, |events, place| {
        for (at, part) in parts.iter().enumerate() {
            let place = with(&place, &json!({ "content_index": at }));
            let refuses = part["type"] == "refusal";
            let empty = if refuses {
                json!({ "refusal": "" })
            } else {
                json!({ "text": "", "annotations": [] })
            };
            events.send("content_part.added", with(&place, &json!({ "part": with(part, &empty) })));
            let (kind, member) =
                if refuses { ("refusal", "refusal") } else { ("output_text", "text") };
            let text = part[member].as_str().unwrap_or_default();
            let annotations = part["annotations"].as_array().cloned().unwrap_or_default();
            for (number, annotation) in annotations.iter().enumerate() {
                let event = json!({ "annotation_index": number, "annotation": annotation });
                events.send("output_text.annotation.added", with(&place, &event));
            }
            events.grow(random, kind, &place, member, text);
            events.send("content_part.done", with(&place, &json!({ "part": part })));
        }
    });
    whole
}

fn content(random: &mut Random, answer: &mut Answer) -> Value {
    let text = random.text();
    if random.chance(15) {
        answer.refusal.push_str(&text);
        return json!({ "type": "refusal", "refusal": text });
    }
    answer.text.push_str(&text);
    let annotations: Vec<Value> = (0..if random.chance(30) { random.count(1, 2) } else { 0 })
        .map(|_| {
            json!({
                "type": "url_citation", "start_index": random.below(5), "end_index": 5 + random.below(5),
                "url": "https://example.org/", "title": random.text(),
            })
        })
        .collect();
    json!({ "type": "output_text", "annotations": annotations, "logprobs": [], "text": text })
}

fn function_call(
    random: &mut Random,
    events: &mut Events,
    index: usize,
    answer: &mut Answer,
) -> Value {
    let (call, name, arguments) = (random.id("call_"), random.name(), random.object(3).to_string());
    answer.calls.push((Some(call.clone()), name.clone(), arguments.clone()));
    let begun = json!({
        "id": random.id("fc_"), "type": "function_call", "status": "in_progress", "arguments": "",
        "call_id": call, "name": name,
    });
    let whole = with(&begun, &json!({ "status": "completed", "arguments": arguments }));
    item(events, index, &begun, &whole, |events, place| {
        events.grow(random, "function_call_arguments", &place, "arguments", &arguments);
    });
    whole
}

/// A call whose input is free text.
fn custom_call(
    random: &mut Random,
    events: &mut Events,
    index: usize,
    answer: &mut Answer,
) -> Value {
    let (call, name, input) = (random.id("call_"), random.name(), random.text());
    answer.calls.push((Some(call.clone()), name.clone(), input.clone()));
    let begun = json!({
        "id": random.id("ctc_"), "type": "custom_tool_call", "status": "in_progress", "input": "",
        "call_id": call, "name": name,
    });
    let whole = with(&begun, &json!({ "status": "completed", "input": input }));
    item(events, index, &begun, &whole, |events, place| {
        events.grow(random, "custom_tool_call_input", &place, "input", &input);
    });
    whole
}

/// A call that the service answers itself: only its status moves.
fn web_search(random: &mut Random, events: &mut Events, index: usize, _: &mut Answer) -> Value {
    let begun =
        json!({ "id": random.id("ws_"), "type": "web_search_call", "status": "in_progress" });
    let action = json!({ "type": "search", "query": random.text() });
    let whole = with(&begun, &json!({ "status": "completed", "action": action }));
    item(events, index, &begun, &whole, |events, place| {
        for step in ["in_progress", "searching", "completed"] {
            events.send(&format!("web_search_call.{step}"), place.clone());
        }
    });
    whole
}

fn code_interpreter(
    random: &mut Random,
    events: &mut Events,
    index: usize,
    _: &mut Answer,
) -> Value {
    let code = random.text();
    let begun = json!({
        "id": random.id("ci_"), "type": "code_interpreter_call", "status": "in_progress", "code": "",
        "container_id": random.id("cntr_"), "outputs": null,
    });
    let whole = with(&begun, &json!({ "status": "completed", "code": code }));
    item(events, index, &begun, &whole, |events, place| {
        events.send("code_interpreter_call.in_progress", place.clone());
        events.grow(random, "code_interpreter_call_code", &place, "code", &code);
        for step in ["interpreting", "completed"] {
            events.send(&format!("code_interpreter_call.{step}"), place.clone());
        }
    });
    whole
}
