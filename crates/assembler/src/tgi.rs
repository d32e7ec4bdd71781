//! Hugging Face TGI's `/generate_stream` (`FORMATS.md` H11). Its chat is `openai-chat`.

use crate::{
    draft::{Draft, PartId, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Reason, Rules},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

pub(crate) const FORMAT: Format = Format {
    name: "tgi",
    title: "Hugging Face TGI",
    rules: Rules { end: "an object with `generated_text`", deltas: true, ..Rules::NONE },
    reasons: REASONS,
    errors: &[
        ("overloaded", "The server has no capacity for the request now; try again later."),
        ("generation", "The server failed while it generated."),
        ("validation", "The request's values are not valid for the model."),
        ("incomplete_generation", "The server stopped before the answer was whole."),
    ],
    start: || Box::<Tgi>::default(),
};

const SCHEMA: &str = "the published schema of Hugging Face TGI";

const REASONS: &[Reason] = &[
    Reason {
        value: "length",
        meaning: "The token limit of the request was reached; the answer is cut.",
        source: SCHEMA,
    },
    Reason {
        value: "eos_token",
        meaning: "The model wrote its end token: a natural end.",
        source: SCHEMA,
    },
    Reason { value: "stop_sequence", meaning: "A stop sequence matched.", source: SCHEMA },
];

/// A stream of tokens.
#[derive(Default)]
struct Tgi {
    /// Top-level fields, apart from those that are read.
    extra: Map,
    text: Option<PartId>,
    details: Option<Map>,
    tokens: Vec<Node>,
    top_tokens: Vec<Node>,
    read: bool,
}

impl Assembler for Tgi {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let object = event.object.as_ref();
        let Some(object) =
            object.filter(|object| object.has("token") || object.has("generated_text"))
        else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        self.object(object, draft);
        if object.get("error").is_some_and(Json::is_truthy) {
            draft.fail(Fault::of_frame(event.json));
        } else if object.some("generated_text").is_some() {
            draft.end();
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        if let Some(body) = document.object() {
            self.object(&body, draft);
            draft.end();
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.read {
            return;
        }
        out.object(|fields| {
            fields.field("generated_text", |value| match self.text {
                Some(part) => value.part(part),
                None => value.string(""),
            });
            if let Some(details) = &self.details {
                fields.field("details", |value| {
                    value.object(|inner| {
                        inner.map(details);
                        for (key, list) in
                            [("tokens", &self.tokens), ("top_tokens", &self.top_tokens)]
                        {
                            if !list.is_empty() && !details.has(key) {
                                inner.field(key, |value| {
                                    value
                                        .array(|items| list.iter().for_each(|one| items.node(one)));
                                });
                            }
                        }
                    });
                });
            }
            fields.map(&self.extra);
        });
    }
}

impl Tgi {
    fn object(&mut self, object: &Object<'_>, draft: &mut Draft) {
        self.read = true;
        draft.output(0);
        for (key, value) in object.iter() {
            match key {
                // The text is settled after the token that may come beside it.
                "index" | "error" | "error_type" | "generated_text" => {}
                "token" => self.token(value, draft),
                "top_tokens" => {
                    if value.is_array() && draft.admit(value.raw().len()) {
                        self.top_tokens.push(value.into());
                    } else if !value.is_null() && !value.is_array() {
                        draft.bad_field(key, "an array", value);
                    }
                }
                "details" => self.details(value, draft),
                _ => draft.carry(&mut self.extra, key, value, Map::last),
            }
        }
        self.settle(object.get("generated_text").unwrap_or(Json::NULL), draft);
    }

    /// APPEND; special tokens are no part of the answer.
    fn token(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(token) = value.object() else {
            if !value.is_null() {
                draft.bad_field("token", "an object", value);
            }
            return;
        };
        if draft.admit(value.raw().len()) {
            self.tokens.push(value.into());
        }
        let text = token.get("text").unwrap_or(Json::NULL);
        match text.text() {
            Some(_) if token.get("special").and_then(Json::bool) == Some(true) => {}
            Some(text) => {
                let part = self.part(draft);
                draft.append(part, &text);
            }
            None if text.is_null() => {}
            None => draft.bad_field("token.text", "a string", text),
        }
    }

    /// The final text counts. It may differ from the tokens' by white space around it.
    fn settle(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(text) = value.text() else {
            if !value.is_null() {
                draft.bad_field("generated_text", "a string", value);
            }
            return;
        };
        let part = self.part(draft);
        let known = draft.get(part).text.to_str();
        if known.trim() == text.to_str().trim() {
            draft.replace(part, &text);
        } else {
            draft.settle(part, &text, "`generated_text`");
        }
    }

    fn details(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(details) = value.object() else {
            if !value.is_null() {
                draft.bad_field("details", "an object", value);
            }
            return;
        };
        let known = self.details.get_or_insert_default();
        details.iter().for_each(|(key, value)| draft.carry(known, key, value, Map::last));
        match details.get("finish_reason").map(|reason| (reason, reason.str())) {
            Some((_, Some(reason))) => draft.stop(0, &reason),
            Some((reason, None)) if !reason.is_null() => {
                draft.bad_field("details.finish_reason", "a string", reason);
            }
            _ => {}
        }
        let counts = ["input_length", "generated_tokens"].map(|key| (key, details.some(key)));
        let mut raw = Map::default();
        for (key, value) in counts {
            if let Some(value) = value {
                raw.set(key, value);
            }
        }
        if !raw.is_empty() {
            let [input, output] = counts.map(|(_, value)| value.and_then(Json::u64));
            draft.usage(Tokens { input, output, ..Tokens::default() }, raw);
        }
    }

    fn part(&mut self, draft: &mut Draft) -> PartId {
        *self.text.get_or_insert_with(|| draft.part(0, PartKind::Text))
    }
}
