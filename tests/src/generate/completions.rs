//! The older completions, as `OpenAI` and vLLM stream them (`FORMATS.md` H1).

use serde_json::{Map, Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator = Generator {
    name: "openai-completions",
    format: "openai-completions",
    objects: false,
    make,
    official: make,
};

/// Where the counts are: nowhere, in a frame of their own, or also on every frame so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    Not,
    Last,
    Always,
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "openai-completions");
    let vllm = random.chance(50);
    let scored = random.chance(40);
    let counting = *random.pick(&[&Counting::Not, &Counting::Last, &Counting::Always]);
    let count: u64 = *random.pick(&[&1, &1, &2, &3]);
    let mut head = Map::new();
    head.insert("id".to_owned(), json!(random.id("cmpl-")));
    head.insert("object".to_owned(), json!("text_completion"));
    head.insert("created".to_owned(), json!(1_700_000_000 + random.below(100_000_000)));
    head.insert("model".to_owned(), json!("davinci-test"));
    if !vllm {
        head.insert("system_fingerprint".to_owned(), json!(random.id("fp_")));
    }

    let (mut parts, mut choices, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..count {
        let (pieces, whole, answer) = choice(&mut random, index, vllm, scored);
        parts.push(pieces);
        choices.push(whole);
        outputs.push(answer);
    }
    let usage = |completion: usize| json!({ "prompt_tokens": 7, "completion_tokens": completion, "total_tokens": 7 + completion });
    let parts = random.interleave(parts);
    let tokens = parts.len();
    let mut body = Sse::new(&mut random, if vllm { "" } else { ": keep-alive" });
    let mut write = |choices: Value, usage: Option<Value>| {
        let mut chunk = head.clone();
        chunk.insert("choices".to_owned(), choices);
        chunk.extend(usage.map(|usage| ("usage".to_owned(), usage)));
        body.data(&Value::Object(chunk));
    };
    for (place, part) in parts.into_iter().enumerate() {
        write(
            json!([part]),
            match counting {
                Counting::Not => None,
                Counting::Last => Some(Value::Null),
                Counting::Always => Some(usage(place + 1)),
            },
        );
    }
    let mut response = head.clone();
    response.insert("choices".to_owned(), choices.into());
    if counting != Counting::Not {
        write(json!([]), Some(usage(tokens)));
        response.insert("usage".to_owned(), usage(tokens));
    }
    body.raw("[DONE]");
    Generated {
        stream: body.stream("openai-completions", seed),
        response: Value::Object(response),
        outputs,
    }
}

/// The log probabilities of some pieces, which stand at these characters.
fn scores(pieces: &[(usize, &str)]) -> Value {
    let of = |one: fn(&(usize, &str)) -> Value| pieces.iter().map(one).collect::<Value>();
    json!({
        "tokens": of(|(_, piece)| json!(piece)),
        "token_logprobs": of(|(at, _)| json!(-0.25 - f64::from(u32::try_from(*at).expect("a short text")))),
        "top_logprobs": of(|(_, piece)| json!({ *piece: -0.25, "other": -2.5 })),
        "text_offset": of(|(at, _)| json!(at)),
    })
}

fn choice(
    random: &mut Random,
    index: u64,
    vllm: bool,
    scored: bool,
) -> (Vec<Value>, Value, Answer) {
    let text = if random.chance(90) { random.text() } else { String::new() };
    let reason = random.pick(&["stop", "length", "content_filter"]);
    let stop = if random.chance(40) { json!(random.text()) } else { Value::Null };
    let cut = random.pieces(&text);
    let mut at = 0;
    let mut pieces: Vec<(usize, &str)> = Vec::new();
    for piece in &cut {
        pieces.push((at, piece));
        at += piece.chars().count();
    }
    let make = |text: &str, logprobs: Value, reason: Value| json!({ "index": index, "text": text, "logprobs": logprobs, "finish_reason": reason });
    let mut parts = Vec::new();
    for (place, piece) in pieces.iter().enumerate() {
        let logprobs = if scored { scores(&[*piece]) } else { Value::Null };
        let mut part = make(piece.1, logprobs, Value::Null);
        if vllm {
            part["stop_reason"] = Value::Null;
            part["token_ids"] = json!([place]);
        }
        parts.push(part);
    }
    let mut last = make("", Value::Null, json!(reason));
    let logprobs = if scored && !pieces.is_empty() { scores(&pieces) } else { Value::Null };
    let mut whole = make(&text, logprobs, json!(reason));
    if vllm {
        last["stop_reason"] = stop.clone();
        last["token_ids"] = json!([]);
        whole["stop_reason"] = stop;
        whole["token_ids"] = (0..pieces.len()).collect();
    }
    parts.push(last);
    let answer = Answer { text, finish: Some(reason.to_owned()), ..Answer::default() };
    (parts, whole, answer)
}
