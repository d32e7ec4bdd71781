//! Text Generation Inference's `/generate_stream` (`FORMATS.md` H11): a frame for each token.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "tgi", format: "tgi", objects: false, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "tgi");
    let text = random.text();
    let tops = random.chance(20);
    let reason = random.pick(&["length", "eos_token", "stop_sequence"]);
    let pieces = random.pieces(&text);
    let mut tokens: Vec<Value> =
        pieces.iter().map(|piece| token(&mut random, piece, false)).collect();
    // A special token is none of the text.
    if reason == "eos_token" {
        tokens.push(token(&mut random, "</s>", true));
    }
    let mut details = json!({
        "finish_reason": reason, "generated_tokens": tokens.len(), "seed": random.below(1 << 60), "input_length": 7,
    });
    let mut body = Sse::new(&mut random, ":").no_space();
    let last = tokens.len() - 1;
    for (place, token) in tokens.iter().enumerate() {
        let ended = place == last;
        let mut frame = json!({
            "index": place + 1, "token": token,
            "generated_text": if ended { json!(text) } else { Value::Null },
            "details": if ended { details.clone() } else { Value::Null },
        });
        if tops {
            frame["top_tokens"] = json!([token]);
        }
        body.data(&frame);
    }
    details["tokens"] = json!(tokens);
    if tops {
        details["top_tokens"] = tokens.iter().map(|token| json!([token])).collect();
    }
    let response = json!({ "generated_text": text, "details": details });
    let finish = Some(reason.to_owned());
    Generated {
        stream: body.stream("tgi", seed),
        response,
        outputs: vec![Answer { text, finish, ..Answer::default() }],
    }
}

fn token(random: &mut Random, text: &str, special: bool) -> Value {
    json!({ "id": random.below(1 << 17), "text": text, "logprob": -0.25, "special": special })
}
