//! Gemini's `streamGenerateContent` (`FORMATS.md` D): an event stream, or one JSON array.

use serde_json::{Map, Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Sse, Style, stream},
};

pub(super) const GENERATOR: Generator = Generator {
    name: "gemini",
    format: "gemini",
    objects: true,
    make: |seed| make_as(seed, seed % 4 == 3),
    official: |seed| make_as(seed, false),
};

/// A candidate: its chunks and what they add up to.
struct Candidate {
    chunks: Vec<Value>,
    whole: Value,
    answer: Answer,
}

fn make_as(seed: u64, array: bool) -> Generated {
    let mut random = Random::new(seed, "gemini");
    let count = *random.pick(&[&1_u64, &1, &1, &2]);
    let numbered = count > 1 || random.chance(50);
    let mut candidates: Vec<Candidate> =
        (0..count).map(|index| candidate(&mut random, numbered.then_some(index))).collect();
    let sequences =
        candidates.iter_mut().map(|candidate| std::mem::take(&mut candidate.chunks)).collect();
    let chunks = random.interleave(sequences);

    let tail = json!({ "modelVersion": "gemini-test", "responseId": random.id("") });
    let prompt = random.below(9000);
    let last = chunks.len() - 1;
    let mut usage = Value::Null;
    let mut frames = Vec::new();
    for (place, chunk) in chunks.into_iter().enumerate() {
        // Counts so far, on every frame.
        let written = 10 * place;
        usage = json!({ "promptTokenCount": prompt, "candidatesTokenCount": written, "totalTokenCount": prompt + written as u64 });
        if place == last {
            usage["thoughtsTokenCount"] = json!(random.below(100));
            usage["promptTokensDetails"] = json!([{ "modality": "TEXT", "tokenCount": prompt }]);
        }
        let mut frame = Map::new();
        frame.insert("candidates".to_owned(), json!([chunk]));
        frame.insert("usageMetadata".to_owned(), usage.clone());
        frame.extend(tail.as_object().cloned().into_iter().flatten());
        frames.push(Value::Object(frame));
    }
    let mut response = Map::new();
    response.insert(
        "candidates".to_owned(),
        candidates.iter().map(|candidate| candidate.whole.clone()).collect(),
    );
    response.insert("usageMetadata".to_owned(), usage);
    response.extend(tail.as_object().cloned().into_iter().flatten());
    let stream = if array {
        let style = Style::of(&mut random);
        let elements: Vec<String> = frames.iter().map(|frame| style.json(frame)).collect();
        stream(
            "gemini",
            seed,
            format!("[{}\n]", elements.join("\n,\r\n")).into(),
            "application/json",
        )
    } else {
        let mut body = Sse::new(&mut random, "").line_end("\r\n");
        for frame in &frames {
            body.data(frame);
        }
        body.stream("gemini", seed)
    };
    Generated {
        stream,
        response: Value::Object(response),
        outputs: candidates.into_iter().map(|candidate| candidate.answer).collect(),
    }
}

fn candidate(random: &mut Random, index: Option<u64>) -> Candidate {
    let mut answer = Answer::default();
    let mut parts = Vec::new();
    let mut whole_parts: Vec<Value> = Vec::new();
    for _ in 0..random.count(1, 4) {
        let after_text = whole_parts.last().is_some_and(|part| part.get("text").is_some());
        match random.below(5) {
            // A thought before a text and the other way round are parts of their own; the same twice is one part,
            // which is one run here.
            0 if !after_text => {
                run(random, true, &mut parts, &mut whole_parts, &mut answer.reasoning);
            }
            1 | 2 if !after_text => {
                run(random, false, &mut parts, &mut whole_parts, &mut answer.text);
            }
            3 => {
                let call = call(random, &mut answer);
                parts.push(vec![call.clone()]);
                whole_parts.push(call);
            }
            4 => {
                let code =
                    json!({ "executableCode": { "language": "PYTHON", "code": random.text() } });
                let result = json!({ "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": random.text() } });
                parts.push(vec![code.clone(), result.clone()]);
                whole_parts.extend([code, result]);
            }
            _ => {}
        }
    }
    if whole_parts.is_empty() {
        run(random, true, &mut parts, &mut whole_parts, &mut answer.reasoning);
        run(random, false, &mut parts, &mut whole_parts, &mut answer.text);
    }
    let reason = random.pick(&["STOP", "STOP", "MAX_TOKENS", "SAFETY"]);
    answer.finish = Some(reason.to_owned());
    let ratings = random
        .chance(40)
        .then(|| json!([{ "category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE" }]));
    let mut rest = Map::new();
    rest.extend(index.map(|index| ("index".to_owned(), json!(index))));
    rest.extend(ratings.map(|ratings| ("safetyRatings".to_owned(), ratings)));

    let last = parts.len() - 1;
    let shell = |parts: &[Value], ends: bool| {
        let mut chunk = Map::new();
        chunk.insert("content".to_owned(), json!({ "parts": parts, "role": "model" }));
        chunk.extend(ends.then(|| ("finishReason".to_owned(), json!(reason))));
        chunk.extend(rest.clone());
        Value::Object(chunk)
    };
    let chunks =
        parts.iter().enumerate().map(|(place, parts)| shell(parts, place == last)).collect();
    Candidate { chunks, whole: shell(&whole_parts, true), answer }
}

/// A run of thought or text, a piece of it in each chunk; its signature comes with the last piece or on its own.
fn run(
    random: &mut Random,
    thought: bool,
    parts: &mut Vec<Vec<Value>>,
    whole: &mut Vec<Value>,
    answer: &mut String,
) {
    let text = random.text();
    answer.push_str(&text);
    let part = |text: &str| {
        let mut part = json!({ "text": text });
        if thought {
            part["thought"] = json!(true);
        }
        part
    };
    let mut pieces: Vec<Value> = random.pieces(&text).iter().map(|piece| part(piece)).collect();
    let mut joined = part(&text);
    if random.chance(25) {
        let signature = json!(random.base64());
        if random.chance(50) {
            pieces.push(part(""));
        }
        if let Some(last) = pieces.last_mut() {
            last["thoughtSignature"] = signature.clone();
        }
        joined["thoughtSignature"] = signature;
    }
    parts.extend(pieces.into_iter().map(|piece| vec![piece]));
    whole.push(joined);
}

fn call(random: &mut Random, answer: &mut Answer) -> Value {
    let (name, args) = (random.name(), random.object(3));
    let id = random.chance(40).then(|| random.id("fc_"));
    answer.calls.push((id.clone(), name.clone(), args.to_string()));
    let mut call = json!({ "name": name, "args": args });
    if let Some(id) = id {
        call["id"] = json!(id);
    }
    let mut part = json!({ "functionCall": call });
    if random.chance(30) {
        part["thoughtSignature"] = json!(random.base64());
    }
    part
}
