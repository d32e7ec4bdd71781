//! `DashScope`'s own API (`FORMATS.md` F.2): every frame has the shape of the whole answer, its texts all of it so far or
//! only what is new.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse, snapshots};

pub(super) const GENERATOR: Generator =
    Generator { name: "dashscope", format: "dashscope", objects: false, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "dashscope");
    let incremental = random.chance(50);
    let reasons = ["stop", "length"];
    if random.chance(30) {
        return plain(&mut random, incremental, reasons, seed);
    }
    let mut answer = Answer::default();
    let mut frames = Vec::new();
    let mut message = json!({ "role": "assistant", "content": "" });
    if random.chance(40) {
        answer.reasoning = snapshots::long(&mut random);
        for value in values(&mut random, incremental, &answer.reasoning) {
            frames.push(json!({ "role": "assistant", "content": "", "reasoning_content": value }));
        }
        message["reasoning_content"] = json!(answer.reasoning);
    }
    let calls = random.chance(40);
    if !calls || random.chance(50) {
        answer.text = snapshots::long(&mut random);
        for value in values(&mut random, incremental, &answer.text) {
            let mut frame = json!({ "role": "assistant", "content": value });
            if !answer.reasoning.is_empty() {
                let so_far = if incremental { "" } else { &answer.reasoning };
                frame["reasoning_content"] = json!(so_far);
            }
            frames.push(frame);
        }
        message["content"] = json!(answer.text);
    }
    if calls {
        message["tool_calls"] = called(&mut random, incremental, &mut answer, &mut frames);
    }
    let reason = if calls { "tool_calls" } else { random.pick(&reasons) };
    answer.finish = Some(reason.to_owned());
    let output = |message: &Value, reason: &str| json!({ "choices": [{ "message": message, "finish_reason": reason }] });
    let last = frames.len() - 1;
    let outputs = frames
        .iter()
        .enumerate()
        .map(|(place, frame)| output(frame, if place == last { reason } else { "null" }));
    let outputs = outputs.collect();
    send(&mut random, outputs, &output(&message, reason), answer, seed)
}

/// The frames of calls, one after the other; beside them stands what was said before.
fn called(
    random: &mut Random,
    incremental: bool,
    answer: &mut Answer,
    frames: &mut Vec<Value>,
) -> Value {
    let calls: Vec<Value> =
        (0..random.count(1, 2)).map(|index| call(random, index, answer)).collect();
    let so_far = |text: &str| json!(if incremental { "" } else { text });
    for (place, call) in calls.iter().enumerate() {
        let written = call["function"]["arguments"].as_str().expect("they are a text").to_owned();
        for (nth, value) in values(random, incremental, &written).into_iter().enumerate() {
            let mut shown = call.clone();
            shown["function"]["arguments"] = json!(value);
            if nth > 0 {
                // Later frames may leave the name empty or out.
                shown["id"] = json!("");
                shown["function"]["name"] = json!("");
            }
            let list = if incremental { vec![shown] } else { [&calls[..place], &[shown]].concat() };
            let content = so_far(&answer.text);
            let mut frame = json!({ "role": "assistant", "content": content, "tool_calls": list });
            if !answer.reasoning.is_empty() {
                frame["reasoning_content"] = so_far(&answer.reasoning);
            }
            frames.push(frame);
        }
    }
    calls.into()
}

/// The older result format: a text and its reason.
fn plain(random: &mut Random, incremental: bool, reasons: [&str; 2], seed: u64) -> Generated {
    let text = snapshots::long(random);
    let reason = random.pick(&reasons).to_owned();
    let values = values(random, incremental, &text);
    let last = values.len() - 1;
    let output = |text: &str, reason: &str| json!({ "text": text, "finish_reason": reason });
    let outputs = values
        .iter()
        .enumerate()
        .map(|(place, value)| output(value, if place == last { &reason } else { "null" }));
    let outputs = outputs.collect();
    let whole = output(&text, &reason);
    let answer = Answer { text, finish: Some(reason), ..Answer::default() };
    send(random, outputs, &whole, answer, seed)
}

/// What a text comes in.
fn values(random: &mut Random, incremental: bool, text: &str) -> Vec<String> {
    if incremental { random.pieces(text) } else { snapshots::growing(random, text) }
}

fn send(
    random: &mut Random,
    outputs: Vec<Value>,
    whole: &Value,
    answer: Answer,
    seed: u64,
) -> Generated {
    let id = random.id("");
    let count = outputs.len();
    let usage = |tokens: usize| json!({ "input_tokens": 9, "output_tokens": tokens, "total_tokens": 9 + tokens });
    let mut body = Sse::new(random, "").no_space();
    for (place, output) in outputs.into_iter().enumerate() {
        body.line(&format!("id:{}", place + 1));
        body.line("event:result");
        body.line(":HTTP_STATUS/200");
        body.data(&json!({ "output": output, "usage": usage(place + 1), "request_id": id }));
    }
    Generated {
        stream: body.stream("dashscope", seed),
        response: json!({ "output": whole, "usage": usage(count), "request_id": id }),
        outputs: vec![answer],
    }
}

fn call(random: &mut Random, index: usize, answer: &mut Answer) -> Value {
    let (id, name) = (random.id("call_"), random.name());
    let arguments = json!({ "what": snapshots::long(random), "more": random.value(1) }).to_string();
    answer.calls.push((Some(id.clone()), name.clone(), arguments.clone()));
    json!({ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}
