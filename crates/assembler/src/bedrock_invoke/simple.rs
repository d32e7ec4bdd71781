//! The streams of vendors that have no format of their own: pieces of text, a reason, counts.

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, PartId, PartKind, Tokens},
    format::Rules,
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

/// What an answer costs of the text limit beyond its bytes.
const ANSWER: usize = 512;

/// Whose stream it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vendor {
    /// `{generation, stop_reason, prompt_token_count, generation_token_count}`; the plain body is the same.
    Meta,
    /// `{outputText, index, completionReason, …}`; the plain body lists `results`.
    Titan,
    /// `{outputs:[{text, stop_reason}]}`; the plain body is the same.
    Mistral,
    /// `{text, is_finished, finish_reason}`; the plain body lists `generations`.
    Cohere,
}

/// A stream.
pub(super) struct Simple {
    vendor: Vendor,
    /// The fields beside the answers, in first-seen order.
    head: Map,
    answers: BTreeMap<u64, Answer>,
    /// Said apart from any reason.
    finished: bool,
}

#[derive(Default)]
struct Answer {
    text: Option<PartId>,
    fields: Map,
    stopped: bool,
}

/// What the fields of an answer are called.
struct Names {
    text: &'static str,
    reason: &'static str,
    /// The list of answers in the plain body; none where the body is the answer.
    list: Option<&'static str>,
}

impl Vendor {
    const fn names(self) -> Names {
        match self {
            Self::Meta => Names { text: "generation", reason: "stop_reason", list: None },
            Self::Titan => {
                Names { text: "outputText", reason: "completionReason", list: Some("results") }
            }
            Self::Mistral => Names { text: "text", reason: "stop_reason", list: Some("outputs") },
            Self::Cohere => {
                Names { text: "text", reason: "finish_reason", list: Some("generations") }
            }
        }
    }
}

impl Simple {
    /// Whose stream an object is of.
    pub(super) fn of(object: &Object<'_>) -> Option<Self> {
        let lists = |key: &str, inner: &str| {
            let first = object.get(key).and_then(Json::items);
            first.is_some_and(|list| list.first().is_some_and(|item| item.get(inner).is_some()))
        };
        let vendor = if object.has("generation") {
            Vendor::Meta
        } else if object.has("outputText") || lists("results", "outputText") {
            Vendor::Titan
        } else if lists("outputs", "text") {
            Vendor::Mistral
        } else if lists("generations", "text")
            || (object.has("is_finished") || object.get("text").is_some_and(Json::is_string))
        {
            Vendor::Cohere
        } else {
            return None;
        };
        let (head, answers) = (Map::default(), BTreeMap::new());
        Some(Self { vendor, head, answers, finished: false })
    }

    pub(super) fn rules(&self) -> Rules {
        let end = match self.vendor {
            Vendor::Meta | Vendor::Mistral => "a `stop_reason`",
            Vendor::Titan => "a `completionReason`",
            Vendor::Cohere => "`\"is_finished\":true`",
        };
        Rules { end, deltas: true, usage: true, ..Rules::NONE }
    }

    /// Whether every answer has stopped.
    pub(super) fn has_stopped(&self) -> bool {
        let stopped = !self.answers.is_empty() && self.answers.values().all(|one| one.stopped);
        self.finished || stopped
    }

    /// A piece.
    pub(super) fn read(&mut self, object: &Object<'_>, draft: &mut Draft) {
        let names = self.vendor.names();
        let index = object.get("index").and_then(index_of).unwrap_or(0);
        for (key, value) in object.iter() {
            match key {
                "index" => {}
                _ if Some(key) == names.list => {
                    let Some(list) = value.items() else {
                        draft.bad_field(key, "an array", value);
                        continue;
                    };
                    for (at, item) in (0..).zip(list) {
                        self.item(at, item, draft);
                    }
                }
                _ if key == names.text || key == names.reason => {
                    self.field(index, key, value, draft);
                }
                "is_finished" => self.finished |= value.bool() == Some(true),
                "totalOutputTextTokenCount" => self.count_of(index, value, draft),
                _ => draft.carry(&mut self.head, key, value, Map::last),
            }
        }
        self.count(draft);
    }

    /// A plain body: the answers are whole.
    pub(super) fn document(&mut self, body: &Object<'_>, draft: &mut Draft) {
        self.read(body, draft);
    }

    /// An answer in a list.
    fn item(&mut self, at: u64, item: Json<'_>, draft: &mut Draft) {
        let Some(fields) = item.object() else {
            let list = self.vendor.names().list.unwrap_or_default();
            return draft.bad_field(&format!("{list}[]"), "an object", item);
        };
        let index = fields.get("index").and_then(index_of).unwrap_or(at);
        for (key, value) in fields.iter() {
            self.field(index, key, value, draft);
        }
    }

    fn field(&mut self, index: u64, key: &str, value: Json<'_>, draft: &mut Draft) {
        let names = self.vendor.names();
        if !self.answers.contains_key(&index) && !draft.admit(ANSWER) {
            return;
        }
        draft.output(index);
        let answer = self.answers.entry(index).or_default();
        if key == names.text {
            match value.text() {
                Some(text) => {
                    let part =
                        *answer.text.get_or_insert_with(|| draft.part(index, PartKind::Text));
                    answer.fields.set(key, Node::Part(part));
                    draft.append(part, &text);
                }
                None if value.is_null() => {}
                None => draft.bad_field(key, "a string", value),
            }
        } else if key == names.reason {
            match value.str() {
                Some(reason) => {
                    draft.stop(index, &reason);
                    answer.stopped |= !reason.is_empty();
                }
                None if value.is_null() => {}
                None => return draft.bad_field(key, "a string", value),
            }
            answer.fields.last_filled(key, value);
        } else if key != "index" || value.index() != Some(index) {
            draft.carry(&mut answer.fields, key, value, Map::last);
        }
    }

    /// Titan's count of an answer's tokens, which the plain body has under another name.
    fn count_of(&mut self, index: u64, value: Json<'_>, draft: &mut Draft) {
        if !value.is_null() {
            self.field(index, "tokenCount", value, draft);
        }
    }

    fn count(&self, draft: &mut Draft) {
        let of_first = |key: &str| {
            let first = self.answers.values().next()?;
            first.fields.get(key).and_then(Node::json)
        };
        let of_head = |key: &str| self.head.get(key).and_then(Node::json);
        let counts = match self.vendor {
            Vendor::Meta => {
                ["prompt_token_count", "generation_token_count"].map(|key| (key, of_head(key)))
            }
            Vendor::Titan => [
                ("inputTextTokenCount", of_head("inputTextTokenCount")),
                ("totalOutputTextTokenCount", of_first("tokenCount")),
            ],
            Vendor::Mistral | Vendor::Cohere => return,
        };
        let mut raw = Map::default();
        for (key, value) in counts {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                raw.set(key, value);
            }
        }
        if !raw.is_empty() {
            let [input, output] = counts.map(|(_, value)| value.and_then(index_of));
            draft.usage(Tokens { input, output, ..Tokens::default() }, raw);
        }
    }

    pub(super) fn response(&self, out: &mut Writer<'_>) {
        let list = self.vendor.names().list;
        out.object(|fields| {
            match list {
                Some(list) => fields.field(list, |value| {
                    value.array(|items| {
                        for answer in self.answers.values() {
                            items.item(|value| value.object(|inner| inner.map(&answer.fields)));
                        }
                    });
                }),
                None => {
                    self.answers.values().take(1).for_each(|answer| fields.map(&answer.fields));
                }
            }
            fields.map(&self.head);
        });
    }
}

/// A whole number; some models write `0.0`.
fn index_of(value: Json<'_>) -> Option<u64> {
    value.index().or_else(|| Json::from_known(value.raw().strip_suffix(".0")?).index())
}
