//! llama.cpp's `/completion` (`FORMATS.md` H12).

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "llama-cpp", format: "llama-cpp", objects: false, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "llama-cpp");
    let text = if random.chance(90) { random.text() } else { String::new() };
    let scored = random.chance(30);
    let ids = random.chance(70);
    let pieces = random.pieces(&text);
    let score = |piece: &str| json!({ "id": 5, "token": piece, "bytes": piece.as_bytes(), "logprob": -0.5, "top_logprobs": [] });
    let mut body = Sse::new(&mut random, ":");
    for (place, piece) in pieces.iter().enumerate() {
        let mut frame = json!({
            "index": 0, "content": piece, "tokens": if ids { json!([place]) } else { json!([]) }, "stop": false,
            "id_slot": 0, "tokens_predicted": place + 1, "tokens_evaluated": 7,
        });
        if scored {
            frame["completion_probabilities"] = json!([score(piece)]);
        }
        body.data(&frame);
    }
    let stop = random.pick(&["eos", "limit", "word"]);
    let mut last = json!({
        "index": 0, "content": "", "tokens": [], "stop": true, "id_slot": 0, "model": "m.gguf",
        "tokens_predicted": pieces.len(), "tokens_evaluated": 7, "generation_settings": random.object(2),
        "prompt": random.text(), "has_new_line": text.contains('\n'), "truncated": false, "stop_type": stop,
        "stopping_word": if stop == "word" { random.text() } else { String::new() }, "tokens_cached": 9,
        "timings": { "prompt_n": 7, "predicted_n": pieces.len() },
    });
    body.data(&last);
    last["content"] = json!(text);
    if ids {
        last["tokens"] = (0..pieces.len()).collect();
    }
    if scored && !pieces.is_empty() {
        last["completion_probabilities"] =
            pieces.iter().map(|piece| score(piece)).collect::<Value>();
    }
    let finish = Some(stop.to_owned());
    let outputs = vec![Answer { text, finish, ..Answer::default() }];
    Generated { stream: body.stream("llama-cpp", seed), response: last, outputs }
}
