//! Streams of no known vendor whose every event holds all of the answer so far (`FORMATS.md` F.4), long enough for the
//! values to tell that.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    Answer, Generated, Generator, Random,
    body::{Sse, Style, stream},
};

pub(super) const GENERATOR: Generator =
    Generator { name: "cumulative", format: "cumulative", objects: false, make, official: make };

/// What a text grows through, at least three values: the last is the whole text, and it is longer than the first by a
/// half and eight characters.
pub(super) fn growing(random: &mut Random, text: &str) -> Vec<String> {
    let whole: Vec<char> = text.chars().collect();
    assert!(whole.len() >= 24, "a text this short tells nothing");
    let most = (whole.len() - 8) * 2 / 3;
    let mut lengths = vec![random.count(1, most as u64 / 2)];
    while lengths[lengths.len() - 1] < whole.len() {
        let longest: u64 = *random.pick(&[&3, &9, &40]);
        // So that there are always three: the second stops short of the end.
        let bound = if lengths.len() == 1 { whole.len() - 1 } else { whole.len() };
        lengths.push((lengths[lengths.len() - 1] + random.count(1, longest)).min(bound));
    }
    lengths.into_iter().map(|length| whole[..length].iter().collect()).collect()
}

/// A text that is long enough for [`growing`].
pub(super) fn long(random: &mut Random) -> String {
    let mut text = random.text();
    while text.chars().count() < 24 {
        text.push(' ');
        text.push_str(&random.text());
    }
    text
}

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "cumulative");
    let text = long(&mut random);
    let values = growing(&mut random, &text);
    let reason = random.chance(50).then(|| random.pick(&["stop", "length"]));
    let counted = random.chance(50);
    let sources: Vec<Value> =
        (0..random.count(0, 3)).map(|_| json!({ "id": random.id("s") })).collect();
    let key = random.pick(&["answer", "reply", "nested"]);
    let last = values.len() - 1;
    let frame = |place: usize, value: &str| {
        let shown = sources.len() * place / last;
        let mut frame = json!({ "sources": sources[..shown], "final": place == last });
        match key {
            "nested" => frame["reply"] = json!({ "text": value, "role": "assistant" }),
            key => frame[key] = json!(value),
        }
        if counted {
            frame["usage"] = json!({ "input_tokens": 9, "output_tokens": value.chars().count() });
        }
        if let Some(reason) = reason.filter(|_| place == last) {
            frame["finish_reason"] = json!(reason);
        }
        frame
    };
    let frames: Vec<Value> =
        values.iter().enumerate().map(|(place, value)| frame(place, value)).collect();
    let stream = if random.chance(30) {
        let style = Style::of(&mut random);
        let mut lines = String::new();
        for frame in &frames {
            writeln!(lines, "{}", style.json(frame)).expect("a text takes everything");
        }
        stream("cumulative", seed, lines.into(), "application/x-ndjson")
    } else {
        let mut body = Sse::new(&mut random, ": keep-alive");
        for frame in &frames {
            body.data(frame);
        }
        match random.below(3) {
            0 => body.raw("[DONE]"),
            1 => body.bare("end"),
            _ => {}
        }
        body.stream("cumulative", seed)
    };
    let finish = reason.map(str::to_owned);
    let outputs = vec![Answer { text, finish, ..Answer::default() }];
    Generated { stream, response: frames[last].clone(), outputs }
}
