//! A snapshot of the messages: what it names is as it says, the rest is gone.

use std::{borrow::Cow, collections::HashSet};

use crate::{
    draft::{Draft, PartId, PartKind},
    equal::equal,
    json::{Json, Object},
    node::Map,
    text::Str,
};

use super::{
    conversation::{Conversation, call_key},
    message::{Message, calls, content},
};

impl Conversation {
    /// The messages as they are now: REPLACE. As in the protocol's own client, what only the client knows
    /// stays, activities, and reasoning where the snapshot has none; and messages keep their order, those
    /// that are new come behind them. The history before the run, which the client knew, comes first.
    pub(super) fn snapshot(&mut self, messages: &[Json<'_>], draft: &mut Draft) {
        draft.give_back(std::mem::take(&mut self.held));
        let bytes = messages.iter().map(|message| message.raw().len()).sum();
        if !draft.admit(bytes) {
            return;
        }
        self.held = bytes;
        let named: Vec<Object<'_>> = messages.iter().filter_map(|json| json.object()).collect();
        if let Some(other) = messages.iter().find(|message| !message.is_object()) {
            draft.bad_field("MESSAGES_SNAPSHOT messages[]", "an object", *other);
        }
        let role = |object: &Object<'_>| object.str("role").unwrap_or_default().into_owned();
        let has_reasoning = named.iter().any(|object| role(object) == "reasoning");
        // What the assistant said before the newest question is not this run's answer.
        let asked = named.iter().rposition(|object| role(object) == "user");
        let ids: HashSet<String> =
            named.iter().filter_map(|object| object.str("id")).map(Cow::into_owned).collect();
        let mut gone = self.take_out(&ids, has_reasoning, draft);
        let is_known =
            |object: &Object<'_>| object.str("id").is_some_and(|id| self.by_id.contains_key(&*id));
        let history = named.iter().position(is_known).or(asked.map(|at| at + 1)).unwrap_or(0);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (at, object) in named.iter().enumerate() {
            let place = object.str("id").and_then(|id| self.by_id.get(&*id).copied());
            if let Some(known) = place.and_then(|place| self.messages.get_mut(place)) {
                let mut message = std::mem::take(known);
                self.settle(&mut message, object, draft);
                if let Some(known) = place.and_then(|place| self.messages.get_mut(place)) {
                    *known = message;
                }
                continue;
            }
            let is_answer = matches!(&*role(object), "assistant" | "reasoning")
                && asked.is_none_or(|asked| at > asked);
            let message = if is_answer {
                self.adopt(object, &mut gone, draft)
            } else {
                Message::whole(object)
            };
            if at < history { before.push(message) } else { after.push(message) }
        }
        before.append(&mut self.messages);
        before.append(&mut after);
        self.messages = before;
        for part in gone {
            draft.discard(part);
        }
        self.index();
        draft.note("messages");
    }

    /// Takes out the messages that a snapshot does not name; returns their parts.
    fn take_out(
        &mut self,
        ids: &HashSet<String>,
        has_reasoning: bool,
        draft: &Draft,
    ) -> Vec<PartId> {
        let mut gone = Vec::new();
        self.messages.retain(|message| {
            let is_open = message.id.as_deref().is_some_and(|id| {
                ["TEXT", "REASONING"]
                    .iter()
                    .any(|kind| draft.is_open(&super::conversation::text_key(kind, id)))
            });
            let stays = message.id.as_deref().is_some_and(|id| ids.contains(id))
                || message.stays(has_reasoning)
                || is_open;
            if !stays {
                gone.extend(message.part);
                gone.extend(&message.calls);
            }
            stays
        });
        self.index();
        gone
    }

    fn index(&mut self) {
        self.by_id = self
            .messages
            .iter()
            .enumerate()
            .filter_map(|(at, message)| Some((message.id.clone()?, at)))
            .collect();
    }

    /// A message that was streamed: the snapshot's text and calls count.
    fn settle(&mut self, message: &mut Message, object: &Object<'_>, draft: &mut Draft) {
        if &*message.role == "activity" {
            return;
        }
        match (content(object), message.part) {
            (Some(text), Some(part)) => {
                let what = format!("message `{}`", message.id.as_deref().unwrap_or_default());
                draft.settle(part, &text, &what);
            }
            (Some(text), None) if text.is_empty() => {}
            _ => {
                if let Some(part) = message.part.take() {
                    draft.discard(part);
                }
                if let Some(content) = object.get("content") {
                    message.extra.set_json("content", content);
                }
            }
        }
        self.settle_calls(message, object, draft);
        for (key, value) in object.iter() {
            if !matches!(key, "id" | "role" | "content" | "toolCalls" | "toolCallId") {
                message.extra.last(key, value);
            }
        }
    }

    fn settle_calls(&mut self, message: &mut Message, object: &Object<'_>, draft: &mut Draft) {
        let mut parts = Vec::new();
        for call in calls(object) {
            let id = call.str("id").unwrap_or_default();
            let function = call.get("function").and_then(Json::object).unwrap_or_default();
            let arguments = function.get("arguments").and_then(Json::text).unwrap_or_default();
            let part = match self.calls.get(&*id) {
                Some(part) => {
                    if !same(&draft.get(*part).text.to_escaped(), &arguments.to_str()) {
                        let what = format!("the arguments of {}", call_key(&id));
                        draft.settle(*part, &arguments, &what);
                    }
                    *part
                }
                None => new_call(&id, &arguments, draft),
            };
            draft.call_name(part, &function.str("name").unwrap_or_default());
            for (key, value) in call.iter() {
                if !matches!(key, "id" | "type" | "function") {
                    draft.extra(part, key, value, Map::last);
                }
            }
            if !draft.is_open(&call_key(&id)) {
                draft.close_call(part);
            }
            if !Draft::is_dropped(part) {
                self.calls.insert((*id).into(), part);
                parts.push(part);
            }
        }
        for part in message.calls.drain(..).filter(|part| !parts.contains(part)) {
            draft.discard(part);
        }
        message.calls = parts;
    }

    /// A message of the run that was not streamed, or that was under another id: servers do not keep
    /// these. A text that was streamed stays where it came.
    fn adopt(&mut self, object: &Object<'_>, gone: &mut Vec<PartId>, draft: &mut Draft) -> Message {
        let role = object.str("role").unwrap_or_default();
        let kind = if role == "reasoning" { PartKind::Reasoning } else { PartKind::Text };
        let mut message = Message::new(object.str("id").as_deref(), &role);
        match content(object) {
            Some(text) if !text.is_empty() => {
                let same = |part: &PartId| {
                    let part = draft.get(*part);
                    part.kind == kind && part.text.as_bytes() == text.as_bytes()
                };
                let streamed = gone.iter().position(same).map(|at| gone.remove(at));
                message.part = Some(streamed.unwrap_or_else(|| {
                    let part = draft.part(0, kind);
                    draft.replace(part, &text);
                    part
                }));
            }
            _ => {
                if let Some(content) = object.get("content") {
                    message.extra.set_json("content", content);
                }
            }
        }
        self.settle_calls(&mut message, object, draft);
        gone.retain(|part| !message.calls.contains(part));
        for (key, value) in object.iter() {
            if !matches!(key, "id" | "role" | "content" | "toolCalls") {
                message.extra.last(key, value);
            }
        }
        message
    }
}

fn new_call(id: &str, arguments: &Str<'_>, draft: &mut Draft) -> PartId {
    let part = draft.part(0, PartKind::Call);
    draft.call_id(part, id);
    draft.replace(part, arguments);
    part
}

/// Whether two texts are the same JSON: servers write arguments anew.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (Json::parse(a), Json::parse(b));
    a.is_ok_and(|a| b.is_ok_and(|b| equal(a, b)))
}
