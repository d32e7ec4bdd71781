//! Streams of no known vendor whose events hold the whole text so far (`FORMATS.md` F, F.4).
//!
//! Nothing but the data tells that a stream is one: its texts are found by their keys, and every one of
//! them is kept as a delta and as the text so far until the values tell. A prefix alone decides nothing.

use crate::{
    draft::{Draft, Hint, Tokens},
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    response::Writer,
    values::Values,
};

pub(crate) const FORMAT: Format = Format {
    name: "cumulative",
    title: "Cumulative events",
    rules: Rules { unit: "answer", end: "an end", sentinel: Sentinel::Ends, ..Rules::NONE },
    reasons: &[],
    errors: &[],
    start: || Box::<Stream>::default(),
};

/// What reasons and counters are called.
const REASONS: &[&str] = &["finish_reason", "finishReason", "stop_reason", "stopReason"];
const INPUT: &[&str] = &["input_tokens", "prompt_tokens", "inputTokens", "promptTokens"];
const OUTPUT: &[&str] = &["output_tokens", "completion_tokens", "outputTokens", "completionTokens"];
const TOTAL: &[&str] = &["total_tokens", "totalTokens"];

/// A stream.
#[derive(Default)]
struct Stream {
    values: Values,
}

impl Assembler for Stream {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        if event.json.is_null() {
            return;
        }
        self.read(event.json, draft);
        // Whatever ends it is not known.
        draft.ends_with_body();
    }

    /// `event: end` without data, as some servers close their streams.
    fn bare(&mut self, event: &str, draft: &mut Draft) -> bool {
        let is_end = matches!(event, "end" | "done" | "close" | "complete" | "finish");
        if is_end && !draft.is_over() {
            draft.end();
        }
        is_end
    }

    /// Only what passes the test: a stream that does not is of no known format.
    fn claims(&self, draft: &Draft) -> bool {
        self.values.texts().any(|part| {
            let part = draft.get(part);
            part.is_cumulative() || part.tally.evidence().is_some()
        })
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        self.read(document, draft);
        draft.end();
    }

    fn response(&self, out: &mut Writer<'_>) {
        if let Some(values) = self.values.node() {
            out.node(values);
        }
    }
}

impl Stream {
    fn read(&mut self, value: Json<'_>, draft: &mut Draft) {
        draft.output(0);
        let fields = value.object().unwrap_or_default();
        let usage = fields.get("usage").and_then(Json::object);
        let counts = usage.as_ref().map(tokens);
        let tokens = counts.and_then(|counts| counts.output);
        // Who calls a stream cumulative has reason to: short texts go with it.
        self.values.take(value, 0, Hint { snapshot: true, tokens }, draft);
        if let (Some(counts), Some(raw)) = (counts, fields.get("usage")) {
            draft.usage(counts, raw);
        }
        if let Some(model) = fields.str("model") {
            draft.model(&model);
        }
        if let Some(role) = fields.str("role") {
            draft.role(0, &role);
        }
        let reason = REASONS.iter().find_map(|key| fields.filled(key));
        if let Some(reason) = reason.filter(|reason| *reason != "null") {
            draft.stop(0, &reason);
        }
    }
}

fn tokens(usage: &Object<'_>) -> Tokens {
    let count = |keys: &[&str]| keys.iter().find_map(|key| usage.u64(key));
    Tokens { input: count(INPUT), output: count(OUTPUT), total: count(TOTAL), ..Tokens::default() }
}
