//! Events in an envelope, as `LangGraph`'s newer servers send them: `{"type":"event","method":…,"params":…}`.
//!
//! What is read here of the envelope is that of the public sources of `LangGraph`'s clients and of
//! `LangChain`: a message begins, its blocks begin, get deltas and finish, and it finishes.

use std::collections::HashMap;

use crate::{
    draft::Draft,
    failure::Fault,
    json::{Json, Object},
    node::Map,
};

use super::{How, Stream, calls::Calls, content::Content, graph, messages::Messages, text_field};

/// The messages that are being said, by who says them.
#[derive(Default)]
pub(super) struct Protocol {
    active: HashMap<String, Option<usize>>,
    /// How many messages have begun.
    begun: u64,
}

impl Stream {
    pub(super) fn enveloped(&mut self, event: &Object<'_>, draft: &mut Draft) {
        self.graph.come(draft);
        let params = event.get("params").and_then(Json::object).unwrap_or_default();
        let data = params.get("data").unwrap_or(Json::NULL);
        let namespace = params.get("namespace").unwrap_or(Json::NULL);
        let is_root = namespace.is_blank();
        let method = event.str("method").unwrap_or_default();
        match &*method {
            "messages" => {
                // Some servers send the event with what is known of the run.
                let data = data.items().and_then(|pair| pair.first().copied()).unwrap_or(data);
                let event = data.object().unwrap_or_default();
                if event.has("event") {
                    let node = params.str("node").unwrap_or_default();
                    let speaker = format!("{} {node}", namespace.raw());
                    self.protocol.message(&speaker, &event, &mut self.messages, draft);
                } else {
                    self.mode("messages", data, is_root, draft);
                }
            }
            "lifecycle" => {
                graph::lifecycle(&data.object().unwrap_or_default(), is_root, draft);
            }
            "tools" | "input" | "input.requested" => draft.note(&method),
            mode => {
                if !self.mode(mode, data, is_root, draft) {
                    draft.not_assembled(&format!("`{mode}` events"));
                }
            }
        }
    }
}

impl Protocol {
    fn message(
        &mut self,
        speaker: &str,
        event: &Object<'_>,
        messages: &mut Messages,
        draft: &mut Draft,
    ) {
        let name = event.str("event").unwrap_or_default();
        if name == "message-start" || !self.active.contains_key(speaker) {
            self.begin(speaker, event, messages, draft);
        }
        let Some(at) = self.active.get(speaker).copied().flatten() else { return };
        let Some(message) = messages.get_mut(at) else { return };
        match &*name {
            "message-start" => {
                for key in ["tool_call_id", "name"] {
                    if let Some(value) = event.some(key) {
                        message.set(key, value, draft);
                    }
                }
            }
            "content-block-start" | "content-block-delta" | "content-block-finish" => {
                let index = event.get("index").unwrap_or(Json::from_known("0")).raw();
                let (content, calls) = message.parts();
                let mut block = Block { index, content, calls };
                block.event(&name, event, draft);
            }
            "usage" | "message-finish" => {
                if let Some(usage) = event.get("usage").and_then(Json::object) {
                    message.count(Map::from(&usage), false);
                }
                if let Some(reason) = event.filled("reason") {
                    message.stop(&reason, draft);
                }
                if name == "message-finish" {
                    draft.note("message finished");
                    self.active.remove(speaker);
                }
            }
            "error" => draft.fail_and_go_on(Fault::of_object(
                event.get("message").unwrap_or(Json::from_known("\"the message failed\"")),
            )),
            _ => draft.not_assembled(&format!("`{name}` of a message")),
        }
        messages.settle(at, draft);
    }

    /// A message begins; without a word of who says it, the model does.
    fn begin(
        &mut self,
        speaker: &str,
        event: &Object<'_>,
        messages: &mut Messages,
        draft: &mut Draft,
    ) {
        if !draft.admit(speaker.len()) {
            return;
        }
        let role = event.str("role").unwrap_or_default();
        let is_answer = matches!(&*role, "" | "ai" | "assistant");
        let id = event.filled("id").or_else(|| event.filled("message_id"));
        let key = id.map_or_else(|| format!("begun {}", self.begun), std::borrow::Cow::into_owned);
        self.begun += 1;
        let id = (!key.starts_with("begun ")).then(|| crate::node::Node::string(&key));
        let known = is_answer || role == "tool";
        let at = if known { messages.at(key, is_answer, draft) } else { None };
        if let Some(message) = at.and_then(|at| messages.get_mut(at)) {
            let kind = if is_answer { "\"ai\"" } else { "\"tool\"" };
            message.set("type", Json::from_known(kind), draft);
            if let Some(id) = id.as_ref().and_then(crate::node::Node::json) {
                message.set("id", id, draft);
            }
        }
        self.active.insert(speaker.to_owned(), at);
    }
}

/// A block of a message, named by its index.
struct Block<'a> {
    index: &'a str,
    content: &'a mut Content,
    calls: &'a mut Calls,
}

impl Block<'_> {
    fn event(&mut self, name: &str, event: &Object<'_>, draft: &mut Draft) {
        let content = event.get("content").or_else(|| event.get("content_block"));
        let content = content.and_then(Json::object).unwrap_or_default();
        match name {
            "content-block-start" => self.read(&content, How::Delta, draft),
            "content-block-finish" => {
                self.read(&content, How::Final, draft);
                if let Some(at) = self.calls.known(self.index) {
                    self.calls.close(at, draft);
                }
            }
            _ => match event.get("delta").and_then(Json::object) {
                Some(delta) => self.delta(&delta, draft),
                // Older servers send a piece in the shape of the block.
                None => self.read(&content, How::Delta, draft),
            },
        }
    }

    fn delta(&mut self, delta: &Object<'_>, draft: &mut Draft) {
        let kind = delta.str("type").unwrap_or_default();
        match &*kind {
            "text-delta" | "reasoning-delta" => {
                let (kind, field) = if kind == "text-delta" {
                    ("text", "text")
                } else {
                    ("reasoning", "reasoning")
                };
                let value = delta.get(field);
                let Some(text) = value.and_then(Json::text) else {
                    let field = format!("delta.{field}");
                    return draft.bad_field(&field, "a string", value);
                };
                if let Some(at) = self.content.at(self.index, kind, draft) {
                    self.content.show(at, kind, field);
                    self.content.take(at, &text, How::Delta, draft);
                }
            }
            // Its fields are all of the block so far.
            "block-delta" => {
                let fields = delta.get("fields").and_then(Json::object).unwrap_or_default();
                self.read(&fields, How::Snapshot, draft);
            }
            _ => draft.not_assembled(&format!("`{kind}` of a block")),
        }
    }

    /// A block or what is known of it.
    fn read(&mut self, fields: &Object<'_>, how: How, draft: &mut Draft) {
        let kind = fields.str("type").unwrap_or_default();
        if let Some((_, field)) = text_field(&kind) {
            let Some(at) = self.content.at(self.index, &kind, draft) else { return };
            self.content.show(at, &kind, field);
            self.content.fill(at, fields, how, draft);
        } else if is_call(&kind) {
            let Some(at) = self.calls.at(self.index, draft) else { return };
            self.calls.name(at, fields, draft);
            match fields.some("args") {
                Some(args) if how == How::Delta && args.is_string() => {
                    self.calls.append(at, args, draft);
                }
                Some(args) if !args.is_blank() || how == How::Final => {
                    self.calls.whole(at, args, draft);
                }
                _ => {}
            }
        } else if !kind.is_empty()
            && let Some(at) = self.content.at(self.index, &kind, draft)
        {
            self.content.fill(at, fields, how, draft);
        }
    }
}

/// A provider's own pieces of a call's arguments come beside those in `LangChain`'s shape.
fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "tool_call_chunk" | "tool_call" | "tool_use" | "input_json_delta" | "invalid_tool_call"
    )
}
