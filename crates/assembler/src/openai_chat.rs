//! `OpenAI` Chat Completions chunks, and everybody who sends them (`FORMATS.md` A).

mod audio;
mod calls;
mod choice;
mod content;
mod details;
mod head;
mod words;

use std::collections::BTreeMap;

use crate::{
    draft::Draft,
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    response::Writer,
};

use choice::{Choice, How};
pub(crate) use head::{Head, choice_index};
pub(crate) use words::REASONS;

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
    reasons: REASONS,
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
    head: Head,
    /// Boxed: a node of the map has room for eleven, and most streams have one.
    choices: BTreeMap<u64, Box<Choice>>,
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
                "id" | "model" | "usage" => self.head.field(key, value, draft),
                "choices" => {
                    for choice in value.items().unwrap_or_default() {
                        self.document_choice(choice, draft);
                    }
                }
                _ => {}
            }
        }
        draft.end();
        let calls: Vec<_> = self.choices.values().flat_map(|choice| choice.calls()).collect();
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
        self.head.write("chat.completion", out, |value| {
            value.array(|items| {
                for (index, choice) in &self.choices {
                    items.item(|value| choice.write(*index, value));
                }
            });
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
                    self.head.merge(key, value, draft);
                    if let Some(usage) =
                        value.get("usage").filter(|usage| usage.is_object() && !chunk.has("usage"))
                    {
                        self.head.field("usage", usage, draft);
                    }
                }
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
        self.choices.entry(index).or_default().read(index, &fields, draft);
        // Older Moonshot streams count inside the choice.
        if let Some(usage) = fields.get("usage").filter(|usage| usage.is_object()) {
            self.head.usage(usage, draft);
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

/// The error that a chunk carries beside or instead of choices.
fn fault(event: &Event<'_>, chunk: &Object<'_>) -> Option<Fault> {
    if chunk.get("error").is_some_and(Json::is_truthy) || event.name() == Some("error") {
        return Some(Fault::of_frame(event.json));
    }
    let groq = chunk.get("x_groq")?.get("error").filter(|error| error.is_truthy())?;
    Some(Fault::of_object(groq))
}
