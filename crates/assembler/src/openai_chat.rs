//! `OpenAI` Chat Completions chunks, and everybody who sends them (`FORMATS.md` A).

mod audio;
mod calls;
mod choice;
mod content;
mod details;
mod words;

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use choice::{Choice, How};

pub(crate) const FORMAT: Format = Format {
    name: "openai-chat",
    title: "OpenAI Chat Completions",
    rules: Rules {
        unit: "choice",
        end: "`data: [DONE]`",
        start: None,
        sentinel: Sentinel::Ends,
        deltas: true,
        calls_need_name: true,
        calls_need_id: true,
        judge_calls_at_end: true,
        empty_arguments: true,
        reasons: true,
        usage: true,
    },
    reasons: words::REASONS,
    errors: words::ERRORS,
    start: || Box::<Chat>::default(),
};

/// Any of these makes an object a chunk.
const CHUNK_KEYS: &[&str] =
    &["choices", "error", "usage", "prompt_filter_results", "prompt_annotations", "x_groq"];

/// What a choice costs of the text limit beyond its bytes.
const CHOICE: usize = 1_024;

/// A stream of chunks.
#[derive(Default)]
struct Chat {
    /// The top-level fields, apart from `object`, `choices` and `usage`.
    head: Map,
    choices: BTreeMap<u64, Choice>,
    usage_seen: bool,
    /// A chunk was read that is more than an error.
    read: bool,
}

impl Assembler for Chat {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(chunk) =
            event.object.as_ref().filter(|chunk| CHUNK_KEYS.iter().any(|key| chunk.has(key)))
        else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        if !draft.started {
            draft.start();
        }
        let fault = fault(event, chunk);
        if fault.is_none() || chunk.has("choices") {
            self.chunk(chunk, draft);
        }
        if let Some(fault) = fault {
            draft.fail(fault);
        } else if chunk.str("object").as_deref() == Some("chat.completion.done") {
            draft.end();
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        for (key, value) in body.iter() {
            match key {
                "id" | "model" | "usage" => self.head_field(key, value, draft),
                "choices" => {
                    for choice in value.items().unwrap_or_default() {
                        self.document_choice(choice, draft);
                    }
                }
                _ => {}
            }
        }
        draft.end();
        let calls: Vec<_> = self.choices.values().flat_map(Choice::calls).collect();
        for call in calls {
            draft.get_mut(call).call.complete = true;
        }
    }

    fn finish(&mut self, draft: &mut Draft) {
        for (index, choice) in &mut self.choices {
            choice.settle(*index, draft);
            draft.role(*index, "assistant");
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.read {
            return;
        }
        let usage = out.draft().usage.as_ref().map(|(_, raw)| raw);
        out.object(|fields| {
            if let Some(id) = self.head.get("id") {
                fields.node("id", id);
            }
            fields.string("object", "chat.completion");
            for (key, node) in self.head.iter().filter(|(key, _)| *key != "id") {
                fields.node(key, node);
            }
            fields.field("choices", |value| {
                value.array(|items| {
                    for (index, choice) in &self.choices {
                        items.item(|value| choice.write(*index, value));
                    }
                });
            });
            match usage {
                Some(usage) => fields.node("usage", usage),
                None if self.usage_seen => fields.field("usage", Writer::null),
                None => {}
            }
        });
    }
}

impl Chat {
    fn chunk(&mut self, chunk: &Object<'_>, draft: &mut Draft) {
        self.read = true;
        for (key, value) in chunk.iter() {
            match key {
                "choices" => match value.items() {
                    Some(choices) => {
                        for choice in choices {
                            self.choice(choice, draft);
                        }
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field("choices", "an array", value),
                },
                "x_groq" => {
                    draft.carry(&mut self.head, key, value, Map::merge);
                    if let Some(usage) =
                        value.get("usage").filter(|usage| usage.is_object() && !chunk.has("usage"))
                    {
                        self.head_field("usage", usage, draft);
                    }
                }
                _ => self.head_field(key, value, draft),
            }
        }
    }

    fn head_field(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let head = &mut self.head;
        match key {
            "object" | "obfuscation" | "error" => {}
            "id" => match value.str() {
                // Mistral's SDK prints a missing id as a string.
                Some(id) if id == "null" => {}
                Some(id) => {
                    draft.id("the response", &id);
                    head.first_filled(key, value);
                }
                None if value.is_null() => head.first_filled(key, value),
                None => draft.bad_field(key, "a string", value),
            },
            "model" => match value.str() {
                Some(model) => {
                    draft.model(&model);
                    head.last_filled(key, value);
                }
                None if value.is_null() => head.last_filled(key, value),
                None => draft.bad_field(key, "a string", value),
            },
            "created" if value.is_null() || value.is_number() => {
                let vacant = |node: &Node| node.is_null() || node.u64() == Some(0);
                if head.get(key).is_none_or(vacant) {
                    head.last(key, value);
                }
            }
            "created" => draft.bad_field(key, "a number", value),
            "usage" => self.usage(value, draft),
            "prompt_filter_results" | "prompt_annotations" => {
                if !value.is_blank() || !head.has(key) {
                    draft.carry(head, key, value, Map::set_json);
                }
            }
            _ => draft.carry(head, key, value, Map::last),
        }
    }

    /// CUM: the newest object is the count.
    fn usage(&mut self, value: Json<'_>, draft: &mut Draft) {
        self.usage_seen = true;
        match value.object() {
            Some(usage) => draft.usage(tokens(&usage), value),
            None if value.is_null() => {}
            None => draft.bad_field("usage", "an object", value),
        }
    }

    fn choice(&mut self, json: Json<'_>, draft: &mut Draft) {
        let Some(fields) = json.object() else {
            draft.bad_field("choices[]", "an object", json);
            return;
        };
        let Some(index) = choice_index(&fields, draft) else { return };
        if !self.choices.contains_key(&index) && !draft.admit(CHOICE) {
            return;
        }
        draft.output(index);
        self.choices.entry(index).or_default().read(index, &fields, draft);
        // Older Moonshot streams count inside the choice.
        if let Some(usage) = fields.get("usage").filter(|usage| usage.is_object()) {
            self.usage(usage, draft);
        }
    }

    fn document_choice(&mut self, json: Json<'_>, draft: &mut Draft) {
        let Some(fields) = json.object() else { return };
        let Some(index) = choice_index(&fields, draft) else { return };
        draft.output(index);
        let choice = self.choices.entry(index).or_default();
        if let Some(message) = fields.get("message").and_then(Json::object) {
            choice.message(index, &message, draft, How::Snapshot);
        }
        if let Some(reason) = fields.filled("finish_reason") {
            draft.stop(index, &reason);
        }
    }
}

/// A choice's index; missing means 0. A bad one is reported, and its choice not read.
fn choice_index(fields: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    match fields.some("index") {
        None => Some(0),
        Some(index) => index.index().or_else(|| {
            draft.bad_field("choices[].index", "an integer from 0 to 2147483647", index);
            None
        }),
    }
}

/// The error that a chunk carries beside or instead of choices.
fn fault(event: &Event<'_>, chunk: &Object<'_>) -> Option<Fault> {
    if chunk.get("error").is_some_and(Json::is_truthy) || event.name() == Some("error") {
        return Some(Fault::of_frame(event.json));
    }
    let groq = chunk.get("x_groq")?.get("error").filter(|error| error.is_truthy())?;
    Some(Fault::of_object(groq))
}

fn tokens(usage: &Object<'_>) -> Tokens {
    let detail = |object: &str, key: &str| usage.get(object)?.get(key)?.u64();
    Tokens {
        input: usage.u64("prompt_tokens"),
        output: usage.u64("completion_tokens"),
        total: usage.u64("total_tokens"),
        cached: detail("prompt_tokens_details", "cached_tokens")
            .or_else(|| usage.u64("prompt_cache_hit_tokens")),
        reasoning: detail("completion_tokens_details", "reasoning_tokens"),
    }
}
