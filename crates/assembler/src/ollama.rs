//! Ollama's `/api/chat` and `/api/generate` (`FORMATS.md` H3).

use crate::{
    draft::{Draft, PartId, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Reason, Rules},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

pub(crate) const FORMAT: Format = Format {
    name: "ollama",
    title: "Ollama",
    rules: Rules {
        unit: "message",
        end: "a line with `\"done\":true`",
        deltas: true,
        ..Rules::NONE
    },
    reasons: REASONS,
    errors: &[],
    start: || Box::<Ollama>::default(),
};

const SERVER: &str = "the source of Ollama's server";

const REASONS: &[Reason] = &[
    Reason {
        value: "stop",
        meaning: "The answer came to its natural end, or a stop sequence matched.",
        source: SERVER,
    },
    Reason {
        value: "length",
        meaning: "The token limit of the request or of the context was reached; the answer is cut.",
        source: SERVER,
    },
    Reason {
        value: "load",
        meaning: "The request had no prompt: it only loaded the model.",
        source: SERVER,
    },
    Reason {
        value: "unload",
        meaning: "The request had no prompt: it only unloaded the model.",
        source: SERVER,
    },
];

/// Any of these makes an object a line of an answer. Progress lines of `/api/pull` have none.
const LINE_KEYS: &[&str] = &["message", "response", "thinking", "done"];

/// A stream of lines: each is the response so far, with the newest piece of its texts.
#[derive(Default)]
struct Ollama {
    /// The line's fields; texts are parts.
    head: Map,
    message: Map,
    texts: Texts,
    /// Texts of `/api/generate`, which has no message.
    bare: Texts,
    image: bool,
}

/// The texts of a message, or of a line.
#[derive(Default)]
struct Texts {
    answer: Option<PartId>,
    thinking: Option<PartId>,
}

impl Assembler for Ollama {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(line) =
            event.object.as_ref().filter(|line| LINE_KEYS.iter().any(|key| line.has(key)))
        else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        self.line(line, draft);
        if line.get("error").is_some_and(Json::is_truthy) {
            draft.fail(Fault::of_frame(event.json));
        } else if line.get("done").and_then(Json::bool) == Some(true) {
            draft.end();
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        if let Some(line) = document.object() {
            self.line(&line, draft);
            // A stream that was cut behind its first line looks like a document, but for this.
            if line.get("done").and_then(Json::bool) == Some(false) {
                draft.set_piece();
            } else {
                draft.end();
            }
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if self.head.is_empty() {
            return;
        }
        out.object(|fields| {
            for (key, node) in self.head.iter() {
                if key == "message" {
                    fields.field(key, |value| value.object(|inner| inner.map(&self.message)));
                } else {
                    fields.node(key, node);
                }
            }
        });
    }
}

impl Ollama {
    fn line(&mut self, line: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        for (key, value) in line.iter() {
            match key {
                "error" => {}
                "message" => self.message(value, draft),
                "response" | "thinking" => {
                    let kind = if key == "response" { PartKind::Text } else { PartKind::Reasoning };
                    self.bare.append(&mut self.head, (key, key), kind, value, draft);
                }
                "logprobs" => extend(&mut self.head, (key, key), value, draft),
                "model" => match value.str() {
                    Some(model) => {
                        draft.model(&model);
                        self.head.last_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "a string", value),
                },
                "done_reason" => match value.str() {
                    Some(reason) => {
                        draft.stop(0, &reason);
                        self.head.last_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "a string", value),
                },
                "done" if value.bool().is_none() => draft.bad_field(key, "true or false", value),
                _ => draft.carry(&mut self.head, key, value, Map::last),
            }
        }
        if line.get("image").is_some_and(Json::is_truthy)
            && !std::mem::replace(&mut self.image, true)
        {
            draft.part(0, PartKind::Other("image"));
        }
        usage(line, draft);
    }

    fn message(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(message) = value.object() else {
            if !value.is_null() {
                draft.bad_field("message", "an object", value);
            }
            return;
        };
        self.head.set("message", Node::null()); // its place; `message` has what came
        for (key, value) in message.iter() {
            match key {
                "role" => match value.str() {
                    Some(role) => {
                        draft.role(0, &role);
                        self.message.first_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field("message.role", "a string", value),
                },
                "content" | "thinking" => {
                    let (kind, path) = match key {
                        "content" => (PartKind::Text, "message.content"),
                        _ => (PartKind::Reasoning, "message.thinking"),
                    };
                    self.texts.append(&mut self.message, (key, path), kind, value, draft);
                }
                "tool_calls" => match value.items() {
                    Some(calls) => calls.into_iter().for_each(|call| self.call(call, draft)),
                    None if value.is_null() => {}
                    None => draft.bad_field("message.tool_calls", "an array", value),
                },
                "images" => {
                    for _ in value.items().unwrap_or_default() {
                        draft.part(0, PartKind::Other("image"));
                    }
                    extend(&mut self.message, (key, "message.images"), value, draft);
                }
                "tool_name" | "tool_call_id" => {
                    draft.carry(&mut self.message, key, value, Map::last);
                }
                _ if value.is_null() => {}
                _ => draft.not_assembled(&format!("message.{key}")),
            }
        }
    }

    /// A call comes whole: it is added to the answer, whatever its index.
    fn call(&mut self, json: Json<'_>, draft: &mut Draft) {
        let Some(call) = json.object() else {
            draft.bad_field("message.tool_calls[]", "an object", json);
            return;
        };
        if !draft.admit(json.raw().len()) {
            return;
        }
        let part = draft.part(0, PartKind::Call);
        draft.call_id(part, &call.str("id").unwrap_or_default());
        let mut node = Map::from(&call);
        match call.get("function").and_then(Json::object) {
            Some(function) => {
                let mut inner = Map::from(&function);
                draft.call_name(part, &function.str("name").unwrap_or_default());
                match function.some("arguments") {
                    Some(arguments) if arguments.is_object() => draft.call_object(part, arguments),
                    Some(arguments) => {
                        let field = "message.tool_calls[].function.arguments";
                        draft.bad_field(field, "an object", arguments);
                        inner.remove("arguments");
                    }
                    None => {}
                }
                node.set("function", inner);
            }
            None => draft.bad_field("message.tool_calls[]", "a call with a `function`", json),
        }
        draft.get_mut(part).call.complete = true;
        draft.get_mut(part).call.judged = true;
        self.message.entry("tool_calls").array().push(node.into());
    }
}

impl Texts {
    /// APPEND to the text of a key, here under the name that findings give it.
    fn append(
        &mut self,
        map: &mut Map,
        (key, path): (&str, &str),
        kind: PartKind,
        value: Json<'_>,
        draft: &mut Draft,
    ) {
        let Some(text) = value.text() else {
            if !value.is_null() {
                draft.bad_field(path, "a string", value);
            }
            return;
        };
        if !map.has(key) {
            map.set(key, Node::string(""));
        }
        if text.is_empty() {
            return;
        }
        let part = if kind == PartKind::Text { &mut self.answer } else { &mut self.thinking };
        let part = *part.get_or_insert_with(|| {
            let part = draft.part(0, kind);
            map.set(key, Node::Part(part));
            part
        });
        draft.append(part, &text);
    }
}

/// EXTEND, where the field is an array.
fn extend(map: &mut Map, (key, path): (&str, &str), value: Json<'_>, draft: &mut Draft) {
    if value.is_array() {
        draft.extend(map, key, value);
    } else if !value.is_null() {
        draft.bad_field(path, "an array", value);
    }
}

/// The counters and durations of a line, if it has any: only the last one does.
fn usage(line: &Object<'_>, draft: &mut Draft) {
    let mut raw = Map::default();
    for (key, value) in line.iter() {
        if (key.ends_with("_count") || key.ends_with("_duration")) && value.is_number() {
            raw.set(key, value);
        }
    }
    if !raw.is_empty() {
        let (input, output) = (line.u64("prompt_eval_count"), line.u64("eval_count"));
        draft.usage(Tokens { input, output, ..Tokens::default() }, raw);
    }
}
