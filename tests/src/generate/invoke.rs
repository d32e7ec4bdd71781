//! Bedrock's `InvokeModelWithResponseStream` (`FORMATS.md` H7): the model's own stream, an object in each message.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random, anthropic, bedrock,
    body::{Style, stream},
    chat,
};

pub(super) const GENERATOR: Generator = Generator {
    name: "bedrock-invoke",
    format: "bedrock-invoke",
    objects: false,
    make,
    official: make,
};

/// What Bedrock adds to the last object, and to the response.
const METRICS: &str = "amazon-bedrock-invocationMetrics";

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "bedrock-invoke");
    let (mut objects, mut response, answer) = match random.below(7) {
        0 => vendor((anthropic::GENERATOR.make)(seed)),
        1 => single_choice(seed),
        2 => nova(&mut random),
        3 => llama(&mut random),
        4 => titan(&mut random),
        5 => mistral(&mut random),
        _ => cohere(&mut random),
    };
    let metrics = json!({
        "inputTokenCount": random.below(900), "outputTokenCount": random.below(900),
        "invocationLatency": random.below(9000), "firstByteLatency": random.below(900),
    });
    if let Some(last) = objects.last_mut() {
        last[METRICS] = metrics.clone();
    }
    response[METRICS] = metrics;
    let style = Style::of(&mut random);
    let mut body = Vec::new();
    for object in objects {
        let chunk = json!({ "bytes": STANDARD.encode(style.json(&object)) });
        body.extend(bedrock::message("chunk", &style.json(&bedrock::padded(&mut random, chunk))));
    }
    Generated {
        stream: stream("bedrock-invoke", seed, body.into(), "application/vnd.amazon.eventstream"),
        response,
        outputs: vec![answer],
    }
}

type Made = (Vec<Value>, Value, Answer);

/// The objects of a vendor's event stream; its sentinel is not among them.
fn vendor(mut made: Generated) -> Made {
    let body = String::from_utf8(made.stream.body.to_vec()).expect("it was a text");
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    let objects = data.filter(|data| *data != "[DONE]");
    let objects = objects.map(|data| serde_json::from_str(data).expect("it was JSON")).collect();
    (objects, made.response, made.outputs.remove(0))
}

/// Chat Completions with one choice, the first from this seed on that has it.
fn single_choice(seed: u64) -> Made {
    let mut made = (seed..).map(chat::GENERATOR.make);
    vendor(made.find(|made| made.outputs.len() == 1).expect("most are such"))
}

/// Converse's events, each in an object under its name.
fn nova(random: &mut Random) -> Made {
    let (events, response, answer) = bedrock::conversation(random);
    (events.into_iter().map(|(name, payload)| json!({ name: payload })).collect(), response, answer)
}

/// Pieces of a text, and whether each is the last.
fn pieces(random: &mut Random) -> (String, Vec<(String, bool)>) {
    let text = random.text();
    let pieces = random.pieces(&text);
    let last = pieces.len() - 1;
    (text, pieces.into_iter().enumerate().map(|(place, piece)| (piece, place == last)).collect())
}

fn answer(text: String, reason: &str) -> Answer {
    Answer { text, finish: Some(reason.to_owned()), ..Answer::default() }
}

fn llama(random: &mut Random) -> Made {
    let (text, pieces) = pieces(random);
    let reason = random.pick(&["stop", "length"]);
    let prompt = random.below(900);
    let whole = |text: &str, prompt: Value, tokens: usize, reason: Value| {
        json!({
            "generation": text, "prompt_token_count": prompt, "generation_token_count": tokens, "stop_reason": reason,
        })
    };
    let objects = pieces.iter().enumerate().map(|(place, (piece, last))| {
        // Only the first counts the prompt.
        let prompt = if place == 0 { json!(prompt) } else { Value::Null };
        whole(piece, prompt, place + 1, if *last { json!(reason) } else { Value::Null })
    });
    (
        objects.collect(),
        whole(&text, json!(prompt), pieces.len(), json!(reason)),
        answer(text, reason),
    )
}

fn titan(random: &mut Random) -> Made {
    let (text, pieces) = pieces(random);
    let reason = random.pick(&["FINISH", "LENGTH"]);
    let (input, total) = (random.below(900), pieces.len());
    let objects = pieces.iter().map(|(piece, last)| {
        json!({
            "outputText": piece, "index": 0, "inputTextTokenCount": input,
            "totalOutputTextTokenCount": if *last { json!(total) } else { Value::Null },
            "completionReason": if *last { json!(reason) } else { Value::Null },
        })
    });
    let results = json!([{ "tokenCount": total, "outputText": text, "completionReason": reason }]);
    (
        objects.collect(),
        json!({ "inputTextTokenCount": input, "results": results }),
        answer(text, reason),
    )
}

fn mistral(random: &mut Random) -> Made {
    let (text, pieces) = pieces(random);
    let reason = random.pick(&["stop", "length"]);
    let whole =
        |text: &str, reason: Value| json!({ "outputs": [{ "text": text, "stop_reason": reason }] });
    let objects = pieces
        .iter()
        .map(|(piece, last)| whole(piece, if *last { json!(reason) } else { Value::Null }));
    (objects.collect(), whole(&text, json!(reason)), answer(text, reason))
}

fn cohere(random: &mut Random) -> Made {
    let (text, pieces) = pieces(random);
    let reason = random.pick(&["COMPLETE", "MAX_TOKENS"]);
    let mut objects: Vec<Value> =
        pieces.iter().map(|(piece, _)| json!({ "text": piece, "is_finished": false })).collect();
    objects.push(json!({ "is_finished": true, "finish_reason": reason }));
    let generation = json!({ "text": text, "finish_reason": reason });
    (objects, json!({ "generations": [generation] }), answer(text, reason))
}
