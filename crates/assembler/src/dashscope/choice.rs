//! One choice: its message, its reason, its log probabilities.

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{Take, calls::Calls};

/// A choice of the answer.
#[derive(Default)]
pub(super) struct Choice {
    /// The choice's fields in first-seen order; `message` and `logprobs` hold a place only.
    fields: Map,
    /// The message's fields; texts are parts, `tool_calls` holds a place only.
    message: Map,
    calls: Calls,
    logprobs: Logprobs,
    /// The text that the log probabilities are of.
    content: Option<PartId>,
    stopped: bool,
}

/// Lists that come like the text: in pieces, or as all of it so far.
#[derive(Default)]
struct Logprobs {
    pieces: Map,
    newest: Map,
}

impl Choice {
    pub(super) fn read(&mut self, choice: &Object<'_>, take: Take, draft: &mut Draft) {
        for (key, value) in choice.iter() {
            match key {
                "message" => {
                    self.fields.last(key, Json::NULL);
                    match value.object() {
                        Some(message) => self.message(&message, take, draft),
                        None if value.is_null() => {}
                        None => draft.bad_field("choices[].message", "an object", value),
                    }
                }
                "finish_reason" => {
                    let at = (take.choice, "choices[].finish_reason");
                    self.stopped |= reason_of(&mut self.fields, at, value, draft);
                }
                "logprobs" => self.logprobs(value, draft),
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    /// Whether its reason came.
    pub(super) fn has_stopped(&self) -> bool {
        self.stopped
    }

    fn message(&mut self, message: &Object<'_>, take: Take, draft: &mut Draft) {
        for (key, value) in message.iter() {
            match key {
                "role" => match value.str() {
                    Some(role) => {
                        draft.role(take.choice, &role);
                        self.message.first_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field("message.role", "a string", value),
                },
                "content" => self.content(value, take, draft),
                "reasoning_content" => {
                    let path = (key, "message.reasoning_content");
                    self.text(path, PartKind::Reasoning, value, take, draft);
                }
                "tool_calls" => match value.items() {
                    Some(calls) => {
                        self.message.last(key, Json::NULL);
                        self.calls.read(calls, take, draft);
                    }
                    None if value.is_null() => self.message.last(key, value),
                    None => draft.bad_field("message.tool_calls", "an array", value),
                },
                "name" | "tool_call_id" => {
                    draft.carry(&mut self.message, key, value, Map::first_filled);
                }
                _ if value.is_blank() => draft.carry(&mut self.message, key, value, Map::last),
                _ if draft.is_document() => draft.carry(&mut self.message, key, value, Map::last),
                _ => draft.not_assembled(&format!("message.{key}")),
            }
        }
    }

    /// A text, or what the endpoints for more than text have: a list of `{text}`, `{image}` and the like.
    fn content(&mut self, value: Json<'_>, take: Take, draft: &mut Draft) {
        let is_list = matches!(self.message.get("content"), Some(Node::Slots(_)));
        match value.items() {
            Some(items) if is_list || !items.is_empty() => {
                for (at, item) in (0..).zip(items) {
                    self.item(at, item, take, draft);
                }
            }
            Some(_) => self.message.first("content", value),
            None if is_list && value.is_blank() => {}
            None if is_list => draft.bad_field("message.content", "an array", value),
            None => {
                let path = ("content", "message.content");
                let part = self.text(path, PartKind::Text, value, take, draft);
                self.content = self.content.or(part);
            }
        }
    }

    fn item(&mut self, at: u64, json: Json<'_>, take: Take, draft: &mut Draft) {
        let Some(fields) = json.object() else {
            return draft.bad_field("message.content[]", "an object", json);
        };
        if at >= MOST_ITEMS || !draft.admit(ITEM) {
            return draft.not_assembled("message.content[]");
        }
        let known = self.message.entry("content").slots().entry(at).or_insert_with(Node::null);
        for (key, value) in fields.iter() {
            match (key, value.text()) {
                ("text", Some(text)) => {
                    let part = match known.object().get(key) {
                        Some(Node::Part(part)) => *part,
                        _ => draft.part(take.choice, PartKind::Text),
                    };
                    known.object().set(key, Node::Part(part));
                    draft.hinted(part, &text, "the text", take.hint);
                }
                ("text", None) if !value.is_null() => {
                    draft.bad_field("message.content[].text", "a string", value);
                }
                _ => {
                    if !known.object().has(key) && !value.is_null() {
                        let kind = if key == "image" { "image" } else { "content" };
                        draft.part(take.choice, PartKind::Other(kind));
                    }
                    draft.carry(known.object(), key, value, Map::last);
                }
            }
        }
    }

    /// A text under a key of the message, here also under the name that findings give it.
    fn text(
        &mut self,
        (key, path): (&str, &str),
        kind: PartKind,
        value: Json<'_>,
        take: Take,
        draft: &mut Draft,
    ) -> Option<PartId> {
        let known = match self.message.get(key) {
            Some(Node::Part(part)) => Some(*part),
            _ => None,
        };
        match value.text() {
            Some(text) if known.is_none() && text.is_empty() => {
                self.message.last(key, Json::from_known("\"\""));
                None
            }
            Some(text) => {
                let part = known.unwrap_or_else(|| draft.part(take.choice, kind));
                self.message.set(key, Node::Part(part));
                let what = if kind == PartKind::Text { "the text" } else { "the reasoning" };
                draft.hinted(part, &text, &format!("{what} of choice {}", take.choice), take.hint);
                Some(part)
            }
            None if value.is_null() => {
                if known.is_none() {
                    self.message.last(key, value);
                }
                None
            }
            None => {
                draft.bad_field(path, "a string", value);
                None
            }
        }
    }

    fn logprobs(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(lists) = value.object() else {
            return draft.carry(&mut self.fields, "logprobs", value, Map::last);
        };
        self.fields.last("logprobs", Json::NULL);
        self.logprobs.newest = Map::default();
        for (key, list) in lists.iter() {
            draft.extend(&mut self.logprobs.pieces, key, list);
            if draft.admit(list.raw().len()) {
                self.logprobs.newest.set(key, list);
            }
        }
    }

    /// Writes the choice of the plain response.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let draft = out.draft();
        let cumulative = self.content.is_some_and(|part| {
            let part = draft.get(part);
            part.is_cumulative() || part.looks_cumulative()
        });
        let logprobs = if cumulative { &self.logprobs.newest } else { &self.logprobs.pieces };
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                match key {
                    "message" if !self.message.is_empty() => {
                        fields.field(key, |value| self.write_message(value));
                    }
                    "logprobs" if !logprobs.is_empty() => {
                        fields.field(key, |value| value.object(|inner| inner.map(logprobs)));
                    }
                    _ => fields.node(key, node),
                }
            }
        });
    }

    fn write_message(&self, out: &mut Writer<'_>) {
        out.object(|message| {
            for (key, node) in self.message.iter() {
                match key {
                    "tool_calls" => self.calls.write(message),
                    _ => message.node(key, node),
                }
            }
        });
    }
}

/// What an item of a content list costs of the text limit beyond its bytes, and how many there may be.
const ITEM: usize = 64;
const MOST_ITEMS: u64 = 1_000;

/// A finish reason: the string `"null"` is none. Whether one came.
pub(super) fn reason_of(
    map: &mut Map,
    (output, path): (u64, &str),
    value: Json<'_>,
    draft: &mut Draft,
) -> bool {
    match value.str() {
        Some(reason) if !matches!(&*reason, "" | "null") => {
            draft.stop(output, &reason);
            map.set("finish_reason", value);
            return true;
        }
        None if !value.is_null() => draft.bad_field(path, "a string", value),
        _ if map.has("finish_reason") => {}
        _ => map.set("finish_reason", value),
    }
    false
}
