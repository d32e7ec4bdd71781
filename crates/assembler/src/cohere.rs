//! Cohere's chat: the events of v2, and the older stream of v1 (`FORMATS.md` H4).

mod block;
mod legacy;
mod message;

use std::borrow::Cow;

use crate::{
    draft::{Draft, Tokens},
    format::{Assembler, Event, EventLine, Format, Reason, Rules, Sentinel},
    json::{Json, Object},
    response::Writer,
};

use legacy::Legacy;
use message::Message;

pub(crate) const FORMAT: Format = Format {
    name: "cohere",
    title: "Cohere Chat",
    rules: Rules {
        unit: "message",
        end: "`message-end`",
        start: Some("`message-start`"),
        sentinel: Sentinel::MayFollow,
        deltas: true,
        reasons: true,
        ..Rules::NONE
    },
    reasons: REASONS,
    errors: &[(
        "INVALID_TOOL_GENERATION",
        "The model wrote a tool call that cannot be read; the same request may work again.",
    )],
    start: || Box::<Cohere>::default(),
};

const SDK: &str = "the source of Cohere's Python client";

const REASONS: &[Reason] = &[
    reason("COMPLETE", "The answer came to its natural end."),
    reason("STOP_SEQUENCE", "A stop sequence matched."),
    reason(
        "MAX_TOKENS",
        "The token limit of the request or of the context was reached; the answer is cut.",
    ),
    reason("TOOL_CALL", "The model wants tools called."),
    reason("ERROR", "Generating failed."),
    reason("TIMEOUT", "Generating took too long and was given up."),
    reason("ERROR_TOXIC", "The answer was withheld as toxic (v1)."),
    reason("ERROR_LIMIT", "Prompt and answer together do not fit the model's context (v1)."),
    reason("USER_CANCEL", "The request was cancelled (v1)."),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: SDK }
}

/// A stream of events, of v2 unless one of v1 came first.
#[derive(Default)]
struct Cohere {
    message: Message,
    legacy: Option<Legacy>,
}

impl Assembler for Cohere {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(object) = &event.object else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        if object.has("event_type") && !object.has("type") {
            let kind = event.kind("event_type", EventLine::Optional, draft);
            let legacy = self.legacy.get_or_insert_with(|| {
                draft.set_rules(Rules {
                    end: "`stream-end`",
                    start: Some("`stream-start`"),
                    ..FORMAT.rules
                });
                Legacy::default()
            });
            legacy.event(&kind, event.json, object, draft);
        } else {
            let kind = event.kind("type", EventLine::Optional, draft);
            self.message.event(&kind, object, draft);
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        if body.has("message") {
            self.message.document(&body, draft);
        } else {
            self.legacy.get_or_insert_default().settle(&body, draft);
        }
        // A stream that was cut behind its first line looks like a document, but for this.
        if body.get("is_finished").and_then(Json::bool) == Some(false) {
            draft.set_piece();
        } else {
            draft.end();
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        match &self.legacy {
            Some(legacy) => legacy.write(out),
            None => self.message.write(out),
        }
    }
}

/// Token counts, of v2's `usage` and of v1's `meta`.
fn tokens(usage: &Object<'_>) -> Tokens {
    let count = |group: &str, key: &str| usage.get(group)?.get(key)?.u64();
    let either = |key: &str| count("tokens", key).or_else(|| count("billed_units", key));
    Tokens {
        input: either("input_tokens"),
        output: either("output_tokens"),
        total: None,
        cached: usage.u64("cached_tokens"),
        reasoning: count("tokens", "reasoning_tokens"),
    }
}

/// REPLACE: the newest object is the count.
fn count_tokens(field: &str, value: Json<'_>, draft: &mut Draft) {
    match value.object() {
        Some(usage) => draft.usage(tokens(&usage), value),
        None if value.is_null() => {}
        None => draft.bad_field(field, "an object", value),
    }
}

/// A member that has to be a string; another shape is reported.
fn string<'a>(field: &str, value: Json<'a>, draft: &mut Draft) -> Option<Cow<'a, str>> {
    let text = value.str();
    if text.is_none() && !value.is_null() {
        draft.bad_field(field, "a string", value);
    }
    text
}

/// A member's elements; another shape is reported.
fn array<'a>(field: &str, value: Json<'a>, draft: &mut Draft) -> Vec<Json<'a>> {
    value.items().unwrap_or_else(|| {
        if !value.is_null() {
            draft.bad_field(field, "an array", value);
        }
        Vec::new()
    })
}
