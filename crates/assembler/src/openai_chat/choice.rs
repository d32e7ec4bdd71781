//! One choice: its own fields and its message (`FORMATS.md` A.3, A.4).

use std::collections::{BTreeMap, HashSet};

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
    text::Str,
};

use super::{audio::Audio, calls::Calls, content::Content, details::Details};

/// How a field of a message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A piece to be added.
    Delta,
    /// The whole value: a full message inside a chunk, or a plain body's.
    Snapshot,
}

/// A text of the message that grows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub(super) part: Option<PartId>,
    /// What it holds came whole, and deltas after it begin anew.
    snapshot: bool,
}

/// The message's keys that hold text of one kind, and which of them is shown where several hold the same.
const TEXT_KEYS: &[(&str, PartKind, u8)] = &[
    ("refusal", PartKind::Refusal, 0),
    ("reasoning_content", PartKind::Reasoning, 0),
    ("reasoning", PartKind::Reasoning, 1),
    ("thinking", PartKind::Reasoning, 2),
    ("thoughts", PartKind::Reasoning, 3),
    ("reasoning_text", PartKind::Reasoning, 4),
];

/// A choice of the answer.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// The choice's fields, apart from `index`, `message` and `finish_reason`.
    fields: Map,
    /// The message's fields in first-seen order, apart from `role` and `content`. Those with a reader of
    /// their own hold a place only.
    message: Map,
    content: Content,
    texts: BTreeMap<&'static str, Slot>,
    calls: Calls,
    function_call: Option<PartId>,
    details: Details,
    audio: Audio,
    executed_tools: BTreeMap<u64, Map>,
    annotations: HashSet<Box<str>>,
    /// The newest full message that came inside a chunk.
    last_message: Option<Box<str>>,
}

impl Choice {
    /// Reads a choice of a chunk.
    pub(super) fn read(&mut self, index: u64, choice: &Object<'_>, draft: &mut Draft) {
        let delta = choice.some("delta");
        if let Some(delta) = delta {
            match delta.object() {
                Some(delta) => self.message(index, &delta, draft, How::Delta),
                None => draft.bad_field("choices[].delta", "an object", delta),
            }
        }
        for (key, value) in choice.iter() {
            // Writer sends each delta a second time under this name: that is no message so far.
            let copied =
                key == "message" && delta.is_some_and(|delta| delta.compact() == value.compact());
            if !copied {
                self.field(index, key, value, draft);
            }
        }
    }

    fn field(&mut self, index: u64, key: &str, value: Json<'_>, draft: &mut Draft) {
        match key {
            "index" | "delta" | "usage" => {}
            "message" => self.full_message(index, value, draft),
            "finish_reason" => match value.str() {
                Some(reason) => draft.stop(index, &reason),
                None if value.is_null() => {}
                None => draft.bad_field("choices[].finish_reason", "a string", value),
            },
            "native_finish_reason" => draft.carry(&mut self.fields, key, value, Map::last_filled),
            "logprobs" => self.logprobs(value, draft),
            "content_filter_results" => draft.carry(&mut self.fields, key, value, Map::merge),
            "token_ids" => draft.extend(&mut self.fields, key, value),
            "text" if !value.is_null() => draft.not_assembled("choices[].text"),
            _ => draft.carry(&mut self.fields, key, value, Map::last),
        }
    }

    /// Each list of log probabilities is continued, apart from the other.
    fn logprobs(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(lists) = value.object() else {
            draft.carry(&mut self.fields, "logprobs", value, Map::last);
            return;
        };
        let logprobs = self.fields.entry("logprobs").object();
        for (key, list) in lists.iter() {
            draft.extend(logprobs, key, list);
        }
    }

    /// A full message inside a chunk: never appended. It fills what no delta brought, and is compared with
    /// the rest at the end.
    fn full_message(&mut self, index: u64, value: Json<'_>, draft: &mut Draft) {
        let Some(message) = value.object() else {
            if !value.is_null() {
                draft.bad_field("choices[].message", "an object", value);
            }
            return;
        };
        if message.get("content").is_none_or(Json::is_blank) && self.content.has_deltas() {
            return;
        }
        self.message(index, &message, draft, How::Snapshot);
        self.last_message = Some(value.compact());
    }

    /// Reads the fields of a delta or of a message.
    pub(super) fn message(
        &mut self,
        index: u64,
        message: &Object<'_>,
        draft: &mut Draft,
        how: How,
    ) {
        for (key, value) in message.iter() {
            match key {
                "role" => match value.str() {
                    Some(role) => draft.role(index, &role),
                    None if value.is_null() => {}
                    None => draft.bad_field("delta.role", "a string", value),
                },
                "content" => self.content.read(index, value, draft, how),
                "tool_calls" => {
                    self.message.last(key, Json::NULL);
                    self.calls.read(index, value, draft, how);
                }
                _ => match TEXT_KEYS.iter().find(|(name, ..)| *name == key) {
                    Some((name, kind, rank)) => {
                        self.text(index, (name, *kind, *rank), value, draft, how);
                    }
                    None => self.extra(index, key, value, draft, how),
                },
            }
        }
    }

    fn text(
        &mut self,
        index: u64,
        key: (&'static str, PartKind, u8),
        value: Json<'_>,
        draft: &mut Draft,
        how: How,
    ) {
        let (name, kind, rank) = key;
        let Some(text) = value.text() else {
            if value.is_null() {
                self.message.last(name, value);
            } else {
                draft.not_assembled(&format!("delta.{name}"));
            }
            return;
        };
        let slot = self.texts.entry(name).or_default();
        match slot.take(index, (kind, rank), &text, draft, how) {
            Some(part) => self.message.set(name, Node::Part(part)),
            None => self.message.last(name, Json::from_known("\"\"")),
        }
    }

    fn extra(&mut self, index: u64, key: &str, value: Json<'_>, draft: &mut Draft, how: How) {
        match key {
            "index" => {}
            "function_call" => self.function_call(index, value, draft, how),
            "audio" => {
                self.message.last(key, Json::NULL);
                self.audio.read(index, value, draft);
            }
            "reasoning_details" => {
                self.message.last(key, Json::NULL);
                self.details.read(index, value, draft, how);
            }
            "annotations" => self.annotations(value, draft),
            "executed_tools" => self.executed_tools(value, draft),
            "reasoning_steps" => draft.extend(&mut self.message, key, value),
            "images" | "videos" => {
                for item in value.items().unwrap_or_default() {
                    let part = draft.part(
                        index,
                        PartKind::Other(if key == "images" { "image" } else { "video" }),
                    );
                    draft.get_mut(part).extra.set("bytes", item.raw().len() as u64);
                }
                draft.extend(&mut self.message, key, value);
            }
            "extra_content" => draft.carry(&mut self.message, key, value, Map::merge),
            "tool_call_id" | "name" => {
                draft.carry(&mut self.message, key, value, Map::first_filled);
            }
            // A message's own fields are carried, a delta's are not guessed at.
            _ if how == How::Snapshot => draft.carry(&mut self.message, key, value, Map::last),
            _ if value.is_null() => {}
            _ => draft.not_assembled(&format!("delta.{key}")),
        }
    }

    /// The deprecated single call: no id, one in a choice.
    fn function_call(&mut self, index: u64, value: Json<'_>, draft: &mut Draft, how: How) {
        self.message.last("function_call", Json::NULL);
        let Some(call) = value.object() else { return };
        let part = *self.function_call.get_or_insert_with(|| draft.part(index, PartKind::Call));
        draft.get_mut(part).call.anonymous = true;
        draft.call_name(part, &call.str("name").unwrap_or_default());
        let arguments = call.get("arguments").and_then(Json::text).unwrap_or_default();
        match how {
            How::Delta => draft.append(part, &arguments),
            How::Snapshot if !draft.get(part).has_deltas() => draft.replace(part, &arguments),
            How::Snapshot => {}
        }
    }

    /// Exact repeats are left out, so that lists which are sent whole each time give each entry once.
    fn annotations(&mut self, value: Json<'_>, draft: &mut Draft) {
        self.message
            .extend("annotations", Json::from_known(if value.is_null() { "null" } else { "[]" }));
        for item in value.items().unwrap_or_default() {
            if draft.admit(2 * item.raw().len()) && self.annotations.insert(item.compact()) {
                self.message.entry("annotations").array().push(Node::from(item));
            }
        }
    }

    fn executed_tools(&mut self, value: Json<'_>, draft: &mut Draft) {
        self.message.last("executed_tools", Json::NULL);
        for (at, item) in value.items().unwrap_or_default().into_iter().enumerate() {
            let Some(tool) = item.object() else { continue };
            let index = tool.get("index").and_then(Json::index).unwrap_or(at as u64);
            let known = self.executed_tools.entry(index).or_default();
            tool.iter().for_each(|(key, value)| draft.carry(known, key, value, Map::merge));
        }
    }

    /// The parts of the choice's calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = PartId> {
        self.calls.parts().chain(self.function_call)
    }

    /// The body ended: what the deltas gave is compared with the full message, if one came.
    pub(super) fn settle(&mut self, index: u64, draft: &mut Draft) {
        let Some(raw) = self.last_message.take() else { return };
        let Some(message) = Json::from_known(&raw).object() else { return };
        if let Some(text) = message.get("content").and_then(Json::text) {
            self.content.settle(&text, &format!("the text of choice {index}"), draft);
        }
        for (name, slot) in &self.texts {
            let text = message.get(name).and_then(Json::text).filter(|text| !text.is_empty());
            if let (Some(text), Some(part)) = (text, slot.part.filter(|_| !slot.snapshot)) {
                draft.settle(part, &text, &format!("`{name}` of choice {index}"));
            }
        }
        self.calls.settle(
            index,
            message.get("tool_calls").and_then(Json::items).unwrap_or_default(),
            draft,
        );
    }

    /// Writes the choice of the plain response.
    pub(super) fn write(&self, index: u64, out: &mut Writer<'_>) {
        let reason = out.draft().reason(index).map(str::to_owned);
        let role = out.draft().role_of(index).unwrap_or("assistant").to_owned();
        out.object(|fields| {
            fields.field("index", |value| value.number(index));
            fields.field("message", |value| {
                value.object(|message| {
                    message.string("role", &role);
                    message.field("content", |value| self.content.write(value));
                    self.message
                        .iter()
                        .for_each(|(key, node)| self.write_field(key, node, message));
                });
            });
            fields.map(&self.fields);
            fields.field("finish_reason", |value| value.string_or_null(reason.as_deref()));
        });
    }

    fn write_field(&self, key: &str, node: &Node, message: &mut Fields<'_, '_>) {
        match key {
            "tool_calls" => self.calls.write(message),
            "reasoning_details" if !self.details.is_empty() => {
                message.field(key, |value| self.details.write(value));
            }
            "audio" if !self.audio.is_empty() => {
                message.field(key, |value| self.audio.write(value));
            }
            "function_call" if self.function_call.is_some() => {
                let Some(part) = self.function_call else { return };
                message.field(key, |value| {
                    let name = value.draft().get(part).call.name.clone();
                    value.object(|call| {
                        call.field("name", |value| value.string_or_null(name.as_deref()));
                        call.field("arguments", |value| value.part(part));
                    });
                });
            }
            "executed_tools" if !self.executed_tools.is_empty() => message.field(key, |value| {
                value.array(|items| {
                    for tool in self.executed_tools.values() {
                        items.item(|value| value.object(|fields| fields.map(tool)));
                    }
                });
            }),
            _ => message.node(key, node),
        }
    }
}

impl Slot {
    /// Takes a piece or a whole text; the part, once there is any text.
    pub(super) fn take(
        &mut self,
        output: u64,
        (kind, rank): (PartKind, u8),
        text: &Str<'_>,
        draft: &mut Draft,
        how: How,
    ) -> Option<PartId> {
        if text.is_empty() {
            return self.part;
        }
        let fresh = self.part.is_none();
        let part = *self.part.get_or_insert_with(|| {
            let part = draft.part(output, kind);
            draft.get_mut(part).rank = rank;
            part
        });
        match how {
            How::Delta => {
                if std::mem::replace(&mut self.snapshot, false) {
                    draft.replace(part, &Str::default());
                }
                draft.append(part, text);
            }
            How::Snapshot if fresh || self.snapshot => {
                self.snapshot = true;
                draft.replace(part, text);
            }
            How::Snapshot => {}
        }
        Some(part)
    }

    /// Whether deltas brought text.
    pub(super) fn has_deltas(self) -> bool {
        self.part.is_some() && !self.snapshot
    }
}
