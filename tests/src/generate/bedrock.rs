//! Bedrock's `ConverseStream` (`FORMATS.md` H6): binary messages with checksums.

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Style, stream},
};

pub(super) const GENERATOR: Generator = Generator {
    name: "bedrock-converse",
    format: "bedrock-converse",
    objects: false,
    make,
    official: make,
};

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "bedrock-converse");
    let (events, response, answer) = conversation(&mut random);
    let style = Style::of(&mut random);
    let mut body = Vec::new();
    for (name, payload) in events {
        body.extend(message(name, &style.json(&padded(&mut random, payload))));
    }
    Generated {
        stream: stream("bedrock-converse", seed, body.into(), "application/vnd.amazon.eventstream"),
        response,
        outputs: vec![answer],
    }
}

/// A payload with padding against guesses from lengths.
pub(super) fn padded(random: &mut Random, mut payload: Value) -> Value {
    payload["p"] = json!("abcdefghijklmnopqrstuvwxyz"[..random.count(0, 26)]);
    payload
}

/// The events of an answer, and the response that they make up.
pub(super) fn conversation(random: &mut Random) -> (Events, Value, Answer) {
    let mut answer = Answer::default();
    let mut events = vec![("messageStart", json!({ "role": "assistant" }))];
    let mut content = Vec::new();
    if random.chance(40) {
        content.push(reasoning(random, &mut events, content.len(), &mut answer));
    }
    if random.chance(80) {
        content.push(text(random, &mut events, content.len(), &mut answer));
    }
    for _ in 0..if content.is_empty() || random.chance(40) { random.count(1, 3) } else { 0 } {
        content.push(tool_use(random, &mut events, content.len(), &mut answer));
    }
    let reason = if answer.calls.is_empty() {
        random.pick(&["end_turn", "max_tokens", "stop_sequence"])
    } else {
        "tool_use"
    };
    answer.finish = Some(reason.to_owned());
    let (input, output) = (random.below(9000), random.below(9000));
    let usage =
        json!({ "inputTokens": input, "outputTokens": output, "totalTokens": input + output });
    let metrics = json!({ "latencyMs": random.below(9000) });
    events.push(("messageStop", json!({ "stopReason": reason })));
    events.push(("metadata", json!({ "usage": usage, "metrics": metrics })));

    let response = json!({
        "output": { "message": { "role": "assistant", "content": content } },
        "stopReason": reason, "usage": usage, "metrics": metrics,
    });
    (events, response, answer)
}

/// A binary message: lengths, checksum of these, headers, payload, checksum of everything.
pub(super) fn message(event: &str, payload: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in
        [(":event-type", event), (":content-type", "application/json"), (":message-type", "event")]
    {
        headers.push(u8::try_from(name.len()).expect("a short name"));
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).expect("a short value").to_be_bytes());
        headers.extend(value.bytes());
    }
    let length = |bytes: usize| u32::try_from(bytes).expect("a short message").to_be_bytes();
    let mut message = Vec::new();
    message.extend(length(16 + headers.len() + payload.len()));
    message.extend(length(headers.len()));
    message.extend(checksum(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.bytes());
    message.extend(checksum(&message).to_be_bytes());
    message
}

/// CRC-32 (IEEE), bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
        })
    })
}

pub(super) type Events = Vec<(&'static str, Value)>;

fn delta(events: &mut Events, index: usize, delta: &Value) {
    events.push(("contentBlockDelta", json!({ "contentBlockIndex": index, "delta": delta })));
}

fn stop(events: &mut Events, index: usize) {
    events.push(("contentBlockStop", json!({ "contentBlockIndex": index })));
}

fn reasoning(random: &mut Random, events: &mut Events, index: usize, answer: &mut Answer) -> Value {
    let (text, signature) = (random.text(), random.base64());
    for piece in random.pieces(&text) {
        delta(events, index, &json!({ "reasoningContent": { "text": piece } }));
    }
    delta(events, index, &json!({ "reasoningContent": { "signature": signature } }));
    stop(events, index);
    answer.reasoning.clone_from(&text);
    json!({ "reasoningContent": { "reasoningText": { "text": text, "signature": signature } } })
}

fn text(random: &mut Random, events: &mut Events, index: usize, answer: &mut Answer) -> Value {
    let text = random.text();
    for piece in random.pieces(&text) {
        delta(events, index, &json!({ "text": piece }));
    }
    stop(events, index);
    answer.text.clone_from(&text);
    json!({ "text": text })
}

fn tool_use(random: &mut Random, events: &mut Events, index: usize, answer: &mut Answer) -> Value {
    let (id, name, input) = (random.id("tooluse_"), random.name(), random.object(3));
    let start = json!({ "toolUse": { "toolUseId": id, "name": name } });
    events.push(("contentBlockStart", json!({ "contentBlockIndex": index, "start": start })));
    let written = Style::of(random).json(&input);
    for piece in random.pieces(&written) {
        delta(events, index, &json!({ "toolUse": { "input": piece } }));
    }
    stop(events, index);
    answer.calls.push((Some(id.clone()), name.clone(), written));
    json!({ "toolUse": { "toolUseId": id, "name": name, "input": input } })
}
