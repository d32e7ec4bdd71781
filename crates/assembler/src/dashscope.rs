//! `DashScope`, Alibaba Cloud Model Studio's own API (`FORMATS.md` F.2).
//!
//! Every frame has the shape of the whole answer. Whether its texts are deltas or all of the text so far is
//! the request's `incremental_output` and the model's default, neither of which is in the stream: the values
//! and the counts of tokens beside them tell.

mod calls;
mod choice;

use std::collections::BTreeMap;

use crate::{
    candidate::name_of,
    draft::{Draft, Hint, PartId, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Reason, Rules},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
};

use choice::{Choice, reason_of};

pub(crate) const FORMAT: Format = Format {
    name: "dashscope",
    title: "DashScope",
    rules: Rules {
        unit: "choice",
        end: "a `finish_reason`",
        calls_need_name: true,
        calls_need_id: true,
        judge_calls_at_end: true,
        empty_arguments: true,
        usage: true,
        ..Rules::NONE
    },
    reasons: REASONS,
    errors: ERRORS,
    start: || Box::<DashScope>::default(),
};

const DOCUMENTED: &str = "Alibaba Cloud's documentation of Model Studio";

const REASONS: &[Reason] = &[
    reason("stop", "The answer came to its natural end, or a stop sequence matched."),
    reason(
        "length",
        "The token limit of the request or of the model was reached; the answer is cut.",
    ),
    reason("tool_calls", "The model wants tools called."),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: DOCUMENTED }
}

const ERRORS: &[(&str, &str)] = &[
    ("InvalidApiKey", "The API key is missing, wrong or revoked."),
    ("Arrearage", "The account is in arrears; waiting does not help."),
    ("InvalidParameter", "A parameter of the request is missing or not valid for the model."),
    ("DataInspectionFailed", "A filter withheld the prompt or the answer."),
    ("ModelNotFound", "The model does not exist, or the key cannot see it."),
    ("Model.AccessDenied", "The key may not use this model."),
    ("Throttling", "Too many requests or tokens in a short time; wait and try again."),
    ("Throttling.RateQuota", "Too many requests in a short time; wait and try again."),
    ("Throttling.AllocationQuota", "The limit on tokens in a time is used up; wait and try again."),
    ("InternalError", "The provider failed; the same request may work later."),
    ("ModelServiceFailed", "The model failed; the same request may work later."),
    ("RequestTimeOut", "The provider took too long and gave up."),
];

/// Any of these makes an object a frame of an answer.
const FRAME_KEYS: &[&str] = &["output", "usage", "request_id"];

/// What a choice costs of the text limit beyond its bytes.
const CHOICE: usize = 1_024;

/// How the texts of a frame are to be taken.
#[derive(Clone, Copy)]
struct Take {
    choice: u64,
    hint: Hint,
}

/// An answer that every frame has a state of.
#[derive(Default)]
struct DashScope {
    /// The fields of the frame in first-seen order; `output` and `usage` hold a place only.
    head: Map,
    /// The fields of `output`; `choices` holds a place only.
    output: Map,
    /// The text of the older result format, which has no choices.
    text: Option<PartId>,
    choices: BTreeMap<u64, Choice>,
}

impl Assembler for DashScope {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let object = event.object.as_ref();
        let has_failed = event.name() == Some("error")
            || object.is_some_and(|frame| !frame.has("output") && frame.filled("code").is_some());
        match object.filter(|frame| FRAME_KEYS.iter().any(|key| frame.has(key))) {
            Some(frame) if frame.has("output") || !has_failed => self.body(frame, draft),
            None if !has_failed => draft.unknown(&name_of(event)),
            _ => {}
        }
        if has_failed {
            draft.fail(Fault::of_frame(event.json));
        } else {
            draft.set_ended(self.is_whole(draft));
        }
    }

    /// Counts only, or a choice that has not stopped: with several of them, one stops before the other.
    fn passes_end(&self, event: &Event<'_>) -> bool {
        let Some(frame) = &event.object else { return false };
        let output = frame.get("output").and_then(Json::object).unwrap_or_default();
        let choices = output.get("choices").and_then(Json::items).unwrap_or_default();
        let stopped = |(at, choice): (u64, &Json<'_>)| {
            self.choices.get(&index_of(*choice, at)).is_some_and(Choice::has_stopped)
        };
        let is_text = output.filled("text").is_some();
        FRAME_KEYS.iter().any(|key| frame.has(key))
            && !is_text
            && (choices.is_empty() || !(0..).zip(&choices).all(stopped))
            && frame.filled("code").is_none()
    }

    /// Older servers send the status as a field of its own, newer ones as a comment.
    fn reads_line(&self, line: &str) -> bool {
        line.starts_with("status:")
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        if body.filled("code").is_some() && body.get("output").is_none_or(Json::is_blank) {
            return draft.fail(Fault::of_object(document));
        }
        self.body(&body, draft);
        draft.end();
    }

    fn response(&self, out: &mut Writer<'_>) {
        if self.head.is_empty() {
            return;
        }
        let draft = out.draft();
        out.object(|fields| {
            for (key, node) in self.head.iter() {
                match (key, &draft.usage) {
                    ("output", _) if !self.output.is_empty() => {
                        fields.field(key, |value| value.object(|inner| self.write_output(inner)));
                    }
                    ("usage", Some((_, usage))) => fields.node(key, usage),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}

impl DashScope {
    fn body(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let counts = frame.get("usage").and_then(Json::object).map(|usage| tokens(&usage));
        for (key, value) in frame.iter() {
            match key {
                "output" => {
                    self.head.last(key, Json::NULL);
                    match value.object() {
                        Some(output) => {
                            // The count says something of a text only where the frame has one.
                            let is_one = texts(&output) == 1;
                            let tokens = counts.and_then(|counts| counts.output);
                            let hint = Hint { snapshot: true, tokens: tokens.filter(|_| is_one) };
                            self.output(&output, hint, draft);
                        }
                        None if value.is_null() => {}
                        None => draft.bad_field(key, "an object", value),
                    }
                }
                "usage" => {
                    self.head.last(key, Json::NULL);
                    match counts {
                        Some(counts) => draft.usage(counts, value),
                        None if value.is_null() => {}
                        None => draft.bad_field(key, "an object", value),
                    }
                }
                "request_id" => match value.str() {
                    Some(id) => {
                        draft.id("the request's id", &id);
                        self.head.first_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "a string", value),
                },
                _ => draft.carry(&mut self.head, key, value, Map::last),
            }
        }
    }

    fn output(&mut self, output: &Object<'_>, hint: Hint, draft: &mut Draft) {
        for (key, value) in output.iter() {
            match key {
                "text" => match value.text() {
                    Some(text) => {
                        let part = *self.text.get_or_insert_with(|| draft.part(0, PartKind::Text));
                        self.output.set(key, Node::Part(part));
                        draft.hinted(part, &text, "the text", hint);
                    }
                    None if value.is_null() => self.output.last(key, value),
                    None => draft.bad_field("output.text", "a string", value),
                },
                "finish_reason" => {
                    reason_of(&mut self.output, (0, "output.finish_reason"), value, draft);
                }
                "choices" => match value.items() {
                    Some(choices) => {
                        self.output.set(key, Json::NULL);
                        for (at, choice) in (0..).zip(choices) {
                            self.choice(at, choice, hint, draft);
                        }
                    }
                    None if value.is_null() => self.output.last(key, value),
                    None => draft.bad_field("output.choices", "an array", value),
                },
                "audio" => self.audio(value, draft),
                _ => draft.carry(&mut self.output, key, value, Map::last),
            }
        }
    }

    fn choice(&mut self, at: u64, json: Json<'_>, hint: Hint, draft: &mut Draft) {
        let Some(fields) = json.object() else {
            return draft.bad_field("output.choices[]", "an object", json);
        };
        let index = index_of(json, at);
        if !self.choices.contains_key(&index) && !draft.admit(CHOICE) {
            return;
        }
        draft.output(index);
        self.choices.entry(index).or_default().read(&fields, Take { choice: index, hint }, draft);
    }

    /// Speech: its pieces are no text of the answer, and the whole of it is behind the `url` of the last one.
    fn audio(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(audio) = value.object() else {
            return draft.carry(&mut self.output, "audio", value, Map::last);
        };
        let mut known = self.output.remove("audio").unwrap_or_else(Node::null);
        for (key, value) in audio.iter() {
            if key == "data" && !value.is_blank() {
                draft.not_assembled("output.audio.data");
            } else {
                draft.carry(known.object(), key, value, Map::last_filled);
            }
        }
        self.output.set("audio", known);
    }

    /// Whether every answer has stopped.
    fn is_whole(&self, draft: &Draft) -> bool {
        if self.choices.is_empty() {
            return draft.reason(0).is_some();
        }
        self.choices.values().all(Choice::has_stopped)
    }

    fn write_output(&self, output: &mut Fields<'_, '_>) {
        for (key, node) in self.output.iter() {
            if key == "choices" && !self.choices.is_empty() {
                output.field(key, |value| {
                    value.array(|items| {
                        for choice in self.choices.values() {
                            items.item(|value| choice.write(value));
                        }
                    });
                });
            } else {
                output.node(key, node);
            }
        }
    }
}

/// A choice's index; with one choice it may be left out.
fn index_of(choice: Json<'_>, at: u64) -> u64 {
    choice.get("index").and_then(Json::index).unwrap_or(at)
}

/// How many texts of a frame are not empty.
fn texts(output: &Object<'_>) -> usize {
    let filled = |value: Option<Json<'_>>| {
        usize::from(value.and_then(Json::text).is_some_and(|text| !text.is_empty()))
    };
    let mut count = filled(output.get("text"));
    for choice in output.get("choices").and_then(Json::items).unwrap_or_default() {
        let message = choice.get("message").and_then(Json::object).unwrap_or_default();
        count += filled(message.get("content")) + filled(message.get("reasoning_content"));
        for item in message.get("content").and_then(Json::items).unwrap_or_default() {
            count += filled(item.get("text"));
        }
        for call in message.get("tool_calls").and_then(Json::items).unwrap_or_default() {
            count += filled(call.get("function").and_then(|function| function.get("arguments")));
        }
    }
    count
}

fn tokens(usage: &Object<'_>) -> Tokens {
    let detail = |key: &str, inner: &str| usage.get(key)?.get(inner)?.u64();
    Tokens {
        input: usage.u64("input_tokens"),
        output: usage.u64("output_tokens"),
        total: usage.u64("total_tokens"),
        cached: detail("prompt_tokens_details", "cached_tokens"),
        reasoning: detail("output_tokens_details", "reasoning_tokens"),
    }
}
