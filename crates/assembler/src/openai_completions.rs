//! `OpenAI` Completions, the older endpoint, and the servers that still have it (`FORMATS.md` H1).

use std::collections::BTreeMap;

use crate::{
    candidate::name_of,
    draft::{Draft, PartId, PartKind},
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    node::Map,
    openai_chat::{Head, REASONS, choice_index},
    response::Writer,
};

pub(crate) const FORMAT: Format = Format {
    name: "openai-completions",
    title: "OpenAI Completions",
    rules: Rules {
        unit: "choice",
        end: "`data: [DONE]`",
        sentinel: Sentinel::Ends,
        deltas: true,
        reasons: true,
        usage: true,
        ..Rules::NONE
    },
    reasons: REASONS,
    errors: &[],
    start: || Box::<Completions>::default(),
};

/// Any of these makes an object a chunk.
const CHUNK_KEYS: &[&str] = &["choices", "error", "usage", "prompt_filter_results"];

/// What a choice costs of the text limit beyond its bytes.
const CHOICE: usize = 1_024;

/// A stream of chunks.
#[derive(Default)]
struct Completions {
    head: Head,
    choices: BTreeMap<u64, Choice>,
    /// A chunk was read that is more than an error.
    read: bool,
}

/// A choice: its text, and its other fields apart from `index` and `finish_reason`.
#[derive(Default)]
struct Choice {
    text: Option<PartId>,
    fields: Map,
}

impl Assembler for Completions {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(chunk) =
            event.object.as_ref().filter(|chunk| CHUNK_KEYS.iter().any(|key| chunk.has(key)))
        else {
            draft.unknown(&name_of(event));
            return;
        };
        if !draft.started {
            draft.start();
        }
        let has_failed =
            chunk.get("error").is_some_and(Json::is_truthy) || event.name() == Some("error");
        if !has_failed || chunk.has("choices") {
            self.body(chunk, draft);
        }
        if has_failed {
            draft.fail(Fault::of_frame(event.json));
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        if let Some(body) = document.object() {
            self.body(&body, draft);
            draft.end();
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.read {
            return;
        }
        self.head.write("text_completion", out, |value| {
            value.array(|items| {
                for (index, choice) in &self.choices {
                    items.item(|value| choice.write(*index, value));
                }
            });
        });
    }
}

impl Completions {
    /// A chunk or a plain body: they have the same fields.
    fn body(&mut self, body: &Object<'_>, draft: &mut Draft) {
        self.read = true;
        for (key, value) in body.iter() {
            match (key, value.items()) {
                ("choices", Some(choices)) => {
                    for choice in choices {
                        self.choice(choice, draft);
                    }
                }
                ("choices", None) if value.is_null() => {}
                ("choices", None) => draft.bad_field(key, "an array", value),
                _ => self.head.field(key, value, draft),
            }
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
        let choice = self.choices.entry(index).or_default();
        for (key, value) in fields.iter() {
            choice.field(index, key, value, draft);
        }
    }
}

impl Choice {
    fn field(&mut self, index: u64, key: &str, value: Json<'_>, draft: &mut Draft) {
        match key {
            "text" => match value.text() {
                Some(text) => {
                    let part = *self.text.get_or_insert_with(|| draft.part(index, PartKind::Text));
                    draft.append(part, &text);
                }
                None if value.is_null() => {}
                None => draft.bad_field("choices[].text", "a string", value),
            },
            "finish_reason" => match value.str() {
                Some(reason) => draft.stop(index, &reason),
                None if value.is_null() => {}
                None => draft.bad_field("choices[].finish_reason", "a string", value),
            },
            // The offsets count from the start of the text already.
            "logprobs" => match value.object() {
                Some(lists) => {
                    let known = self.fields.entry(key).object();
                    lists.iter().for_each(|(name, list)| draft.extend(known, name, list));
                }
                None => draft.carry(&mut self.fields, key, value, Map::last),
            },
            "token_ids" => draft.extend(&mut self.fields, key, value),
            "content_filter_results" => draft.carry(&mut self.fields, key, value, Map::merge),
            "delta" | "message" if !value.is_null() => {
                draft.not_assembled(&format!("choices[].{key}"));
            }
            "index" | "delta" | "message" => {}
            _ => draft.carry(&mut self.fields, key, value, Map::last),
        }
    }

    fn write(&self, index: u64, out: &mut Writer<'_>) {
        let reason = out.draft().reason(index).map(str::to_owned);
        out.object(|fields| {
            fields.field("index", |value| value.number(index));
            fields.field("text", |value| match self.text {
                Some(text) => value.part(text),
                None => value.string(""),
            });
            fields.map(&self.fields);
            fields.field("finish_reason", |value| value.string_or_null(reason.as_deref()));
        });
    }
}
