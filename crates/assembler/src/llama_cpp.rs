//! llama.cpp's `/completion` (`FORMATS.md` H12). Its chat is `openai-chat`.

use std::collections::BTreeMap;

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, PartId, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Reason, Rules},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

pub(crate) const FORMAT: Format = Format {
    name: "llama-cpp",
    title: "llama.cpp completion",
    rules: Rules { end: "an object with `\"stop\":true`", deltas: true, ..Rules::NONE },
    reasons: REASONS,
    errors: &[],
    start: || Box::<LlamaCpp>::default(),
};

const SERVER: &str = "the source of llama.cpp's server";

const REASONS: &[Reason] = &[
    reason("eos", "The model wrote its end token: a natural end."),
    reason(
        "limit",
        "The token limit of the request or of the context was reached; the answer is cut.",
    ),
    reason("word", "A stop word of the request came up; `stopping_word` is the one."),
    reason("none", "The answer did not stop by itself."),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: SERVER }
}

/// What an answer costs of the text limit beyond its bytes.
const ANSWER: usize = 1_024;

/// A stream of pieces, for one answer or for several beside each other.
#[derive(Default)]
struct LlamaCpp {
    answers: BTreeMap<u64, Answer>,
}

/// An answer: the object so far, with its text as a part.
#[derive(Default)]
struct Answer {
    fields: Map,
    text: Option<PartId>,
    stopped: bool,
}

impl Assembler for LlamaCpp {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let object = event.object.as_ref();
        let Some(object) = object.filter(|object| object.has("content") || object.has("stop"))
        else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        self.piece(event.json, object, draft);
        if object.get("error").is_some_and(Json::is_truthy) {
            draft.fail(Fault::of_frame(event.json));
        } else if self.answers.values().all(|answer| answer.stopped) && !self.answers.is_empty() {
            draft.end();
        } else {
            draft.set_ended(false); // one of several answers came to its end
        }
    }

    /// Of several answers another one may go on, or begin.
    fn passes_end(&self, event: &Event<'_>) -> bool {
        let Some(object) = event.object.as_ref().filter(|object| object.has("content")) else {
            return false;
        };
        let index = object.some("index").map_or(Some(0), Json::index);
        index.is_some_and(|index| self.answers.get(&index).is_none_or(|answer| !answer.stopped))
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        if let Some(body) = document.object() {
            self.piece(document, &body, draft);
            draft.end();
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        let mut answers = self.answers.values();
        match (answers.next(), answers.next()) {
            (None, _) => {}
            (Some(only), None) => out.object(|fields| fields.map(&only.fields)),
            _ => out.array(|items| {
                for answer in self.answers.values() {
                    items.item(|value| value.object(|fields| fields.map(&answer.fields)));
                }
            }),
        }
    }
}

impl LlamaCpp {
    fn piece(&mut self, json: Json<'_>, object: &Object<'_>, draft: &mut Draft) {
        let Some(index) = object.some("index").map_or(Some(0), Json::index) else {
            let index = object.get("index").unwrap_or(Json::NULL);
            draft.bad_field("index", "an integer from 0 to 2147483647", index);
            return;
        };
        match self.answers.get(&index) {
            // The stream goes on for another answer, not for this one.
            Some(answer) if answer.stopped => {
                return draft.report(Kind::AfterEnd { text: excerpt(json.raw()) });
            }
            None if !draft.admit(ANSWER) => return,
            _ => {}
        }
        draft.output(index);
        self.answers.entry(index).or_default().read(index, object, draft);
    }
}

impl Answer {
    fn read(&mut self, index: u64, object: &Object<'_>, draft: &mut Draft) {
        for (key, value) in object.iter() {
            match key {
                "error" => {}
                "content" => self.content(index, value, draft),
                "tokens" | "completion_probabilities" | "probs" => {
                    if value.is_array() {
                        draft.extend(&mut self.fields, key, value);
                    } else if !value.is_null() {
                        draft.bad_field(key, "an array", value);
                    }
                }
                "stop" if value.bool().is_none() => draft.bad_field(key, "true or false", value),
                "stop_type" | "model" => match value.str() {
                    Some(text) => {
                        if key == "model" {
                            draft.model(&text);
                        } else {
                            draft.stop(index, &text);
                        }
                        self.fields.last_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "a string", value),
                },
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
        if object.get("stop").and_then(Json::bool) == Some(true) {
            self.stopped = true;
            usage(object, draft);
        }
    }

    fn content(&mut self, index: u64, value: Json<'_>, draft: &mut Draft) {
        let Some(text) = value.text() else {
            if !value.is_null() {
                draft.bad_field("content", "a string", value);
            }
            return;
        };
        if !self.fields.has("content") {
            self.fields.set("content", Node::string(""));
        }
        if text.is_empty() {
            return;
        }
        let part = *self.text.get_or_insert_with(|| {
            let part = draft.part(index, PartKind::Text);
            self.fields.set("content", Node::Part(part));
            part
        });
        draft.append(part, &text);
    }
}

/// The counters of the last object, if it has any.
fn usage(object: &Object<'_>, draft: &mut Draft) {
    let mut raw = Map::default();
    for key in ["tokens_evaluated", "tokens_predicted", "tokens_cached"] {
        if let Some(value) = object.some(key) {
            raw.set(key, value);
        }
    }
    if !raw.is_empty() {
        let (input, output) = (object.u64("tokens_evaluated"), object.u64("tokens_predicted"));
        draft.usage(Tokens { input, output, ..Tokens::default() }, raw);
    }
}
