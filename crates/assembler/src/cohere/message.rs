//! The message of v2: content, a plan, tool calls and citations, each opened and closed by its events.

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    failure::Fault,
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
};

use super::{
    array,
    block::{Call, Content},
    count_tokens, string,
};

/// What a block costs of the text limit beyond its bytes.
const BLOCK: usize = 256;

/// What the events have built so far.
#[derive(Default)]
pub(super) struct Message {
    /// Top-level fields of events, apart from those that are read.
    extra: Map,
    plan: Option<PartId>,
    content: BTreeMap<u64, Content>,
    calls: BTreeMap<u64, Call>,
    citations: BTreeMap<u64, PartId>,
    logprobs: Vec<Node>,
    /// An event of the message was read.
    read: bool,
}

impl Message {
    pub(super) fn event(&mut self, kind: &str, event: &Object<'_>, draft: &mut Draft) {
        match kind {
            "message-start" => {
                if draft.started {
                    draft.start_over(&Key::Index("message", 0));
                    *self = Self::default();
                }
                draft.start();
            }
            "content-start" | "content-delta" | "content-end" | "tool-plan-delta"
            | "tool-call-start" | "tool-call-delta" | "tool-call-end" | "citation-start"
            | "citation-end" | "message-end" => {}
            "debug" => return draft.not_assembled("debug"),
            _ => {
                return draft.unknown(if kind.is_empty() {
                    "a frame without a type"
                } else {
                    kind
                });
            }
        }
        self.read = true;
        draft.output(0);
        self.head(kind, event, draft);
        match kind {
            "message-start" | "tool-plan-delta" => {
                self.whole(&inner(kind, None, event, draft), draft);
            }
            "message-end" => self.end(event, draft),
            _ => {
                let Some(index) = index(event, draft) else { return };
                self.block(kind, index, event, draft);
            }
        }
    }

    /// A plain body.
    pub(super) fn document(&mut self, body: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        for (key, value) in body.iter() {
            match key {
                "id" => id(value, draft),
                "finish_reason" => draft.stop(0, &value.str().unwrap_or_default()),
                "message" => self.whole(&value.object().unwrap_or_default(), draft),
                "usage" => count_tokens(key, value, draft),
                _ => {}
            }
        }
    }

    /// The fields at the top of an event.
    fn head(&mut self, kind: &str, event: &Object<'_>, draft: &mut Draft) {
        for (key, value) in event.iter() {
            match key {
                "type" | "index" | "delta" => {}
                "id" => id(value, draft),
                "logprobs" if kind == "content-delta" => {
                    if !value.is_null() && draft.admit(value.raw().len()) {
                        match value.items() {
                            Some(items) => self.logprobs.extend(items.into_iter().map(Node::from)),
                            None => self.logprobs.push(value.into()),
                        }
                    }
                }
                _ => draft.carry(&mut self.extra, key, value, Map::last),
            }
        }
    }

    /// A message, or what a delta gives of one: its blocks are whole.
    fn whole(&mut self, message: &Object<'_>, draft: &mut Draft) {
        for (key, value) in message.iter() {
            let field = format!("message.{key}");
            let blocks = ["content", "tool_calls", "citations"].contains(&key);
            match key {
                "role" => {
                    if let Some(role) = string(&field, value, draft) {
                        draft.role(0, &role);
                    }
                }
                "tool_plan" => self.plan(value, draft),
                _ if blocks => {
                    let items = array(&field, value, draft);
                    for (index, item) in (0..).zip(items) {
                        let Some(fields) = item.object() else {
                            draft.bad_field(&format!("{field}[]"), "an object", item);
                            continue;
                        };
                        let key = match key {
                            "content" => self.open_content(index, &fields, draft),
                            "tool_calls" => self.open_call(index, &fields, draft),
                            _ => self.open_citation(index, &fields, draft),
                        };
                        close(&key, draft);
                    }
                }
                _ if value.is_blank() => {}
                _ => draft.not_assembled(&field),
            }
        }
    }

    fn plan(&mut self, value: Json<'_>, draft: &mut Draft) {
        match value.text() {
            Some(text) if !text.is_empty() => {
                let new = || draft.part(0, PartKind::Other("tool-plan"));
                let part = *self.plan.get_or_insert_with(new);
                draft.append(part, &text);
            }
            None if !value.is_null() => draft.bad_field("message.tool_plan", "a string", value),
            _ => {}
        }
    }

    /// The events of a block.
    fn block(&mut self, kind: &str, index: u64, event: &Object<'_>, draft: &mut Draft) {
        match kind {
            "content-start" => {
                let content = inner(kind, Some("content"), event, draft);
                self.open_content(index, &content, draft);
            }
            "content-delta" => {
                let content = inner(kind, Some("content"), event, draft);
                if draft.opened(&Key::Index("content", index)).is_some()
                    && let Some(known) = self.content.get_mut(&index)
                {
                    known.read(&content, draft);
                }
            }
            "content-end" => close(&Key::Index("content", index), draft),
            "tool-call-start" => {
                let call = inner(kind, Some("tool_calls"), event, draft);
                self.open_call(index, &call, draft);
            }
            "tool-call-delta" => {
                let call = inner(kind, Some("tool_calls"), event, draft);
                if draft.opened(&Key::Index("tool call", index)).is_some()
                    && let Some(known) = self.calls.get_mut(&index)
                {
                    known.read(&call, draft);
                }
            }
            "tool-call-end" => close(&Key::Index("tool call", index), draft),
            "citation-start" => {
                let citation = inner(kind, Some("citations"), event, draft);
                self.open_citation(index, &citation, draft);
            }
            _ => close(&Key::Index("citation", index), draft),
        }
    }

    fn open_content(&mut self, index: u64, fields: &Object<'_>, draft: &mut Draft) -> Key {
        let key = Key::Index("content", index);
        let default = if fields.has("thinking") { "thinking" } else { "text" };
        let kind: Box<str> = fields.filled("type").map_or(default.into(), |kind| (*kind).into());
        let (part_kind, member) = match &*kind {
            "text" => (PartKind::Text, "text"),
            "thinking" => (PartKind::Reasoning, "thinking"),
            _ => {
                draft.not_assembled(&format!("content of type `{kind}`"));
                (PartKind::Other("content"), "text")
            }
        };
        if draft.admit(BLOCK) {
            let part = draft.open(key.clone(), 0, part_kind);
            draft.get_mut(part).order = index;
            let mut content = Content::new(part, kind, member);
            content.read(fields, draft);
            self.content.insert(index, content);
        }
        key
    }

    fn open_call(&mut self, index: u64, fields: &Object<'_>, draft: &mut Draft) -> Key {
        let key = Key::Index("tool call", index);
        if draft.admit(BLOCK) {
            let part = draft.open(key.clone(), 0, PartKind::Call);
            draft.get_mut(part).order = index;
            let mut call = Call::new(part);
            call.read(fields, draft);
            self.calls.insert(index, call);
        }
        key
    }

    fn open_citation(&mut self, index: u64, fields: &Object<'_>, draft: &mut Draft) -> Key {
        let key = Key::Index("citation", index);
        if draft.admit(BLOCK) {
            let part = draft.open(key.clone(), 0, PartKind::Other("citation"));
            fields.iter().for_each(|(name, value)| draft.extra(part, name, value, Map::last));
            self.citations.insert(index, part);
        }
        key
    }

    fn end(&mut self, event: &Object<'_>, draft: &mut Draft) {
        let delta = event.get("delta").unwrap_or(Json::NULL);
        for (key, value) in delta.object().unwrap_or_default().iter() {
            match key {
                "finish_reason" => {
                    if let Some(reason) = string("delta.finish_reason", value, draft) {
                        draft.stop(0, &reason);
                    }
                }
                "usage" => count_tokens("delta.usage", value, draft),
                _ => draft.carry(&mut self.extra, key, value, Map::last),
            }
        }
        draft.end();
        let failed =
            draft.reason(0) == Some("ERROR") || delta.get("error").is_some_and(Json::is_truthy);
        if failed {
            draft.fail(Fault::of_object(delta));
        }
    }

    /// Writes the plain body.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        if !self.read {
            return;
        }
        let draft = out.draft();
        out.object(|body| {
            if let Some(id) = &draft.id {
                body.string("id", id);
            }
            body.field("finish_reason", |value| value.string_or_null(draft.reason(0)));
            body.field("message", |value| {
                value.object(|message| {
                    message.string("role", draft.role_of(0).unwrap_or("assistant"));
                    self.write_blocks(message);
                });
            });
            if let Some((_, usage)) = &draft.usage {
                body.node("usage", usage);
            }
            list(body, "logprobs", &self.logprobs, |entry, value| value.node(entry));
            body.map(&self.extra);
        });
    }

    fn write_blocks(&self, message: &mut Fields<'_, '_>) {
        if let Some(plan) = self.plan {
            message.field("tool_plan", |value| value.part(plan));
        }
        list(message, "tool_calls", self.calls.values(), Call::write);
        list(message, "content", self.content.values(), Content::write);
        list(message, "citations", self.citations.values(), |part, value| {
            let fields = &value.draft().get(*part).extra;
            value.object(|citation| citation.map(fields));
        });
    }
}

fn id(value: Json<'_>, draft: &mut Draft) {
    if let Some(id) = string("id", value, draft) {
        draft.id("the response", &id);
    }
}

fn close(key: &Key, draft: &mut Draft) {
    if let Some(part) = draft.close(key)
        && draft.get(part).kind == PartKind::Call
    {
        draft.close_call(part);
    }
}

/// Writes a list, if there is anything in it.
fn list<T>(
    fields: &mut Fields<'_, '_>,
    key: &str,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(T, &mut Writer<'_>),
) {
    let mut items = items.into_iter().peekable();
    if items.peek().is_some() {
        fields.field(key, |value| {
            value.array(|array| items.for_each(|one| array.item(|value| write(one, value))));
        });
    }
}

/// A block's index; missing means 0. A bad one is reported, and its event not read.
fn index(event: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    match event.some("index") {
        None => Some(0),
        Some(index) => index.index().or_else(|| {
            draft.bad_field("index", "an integer from 0 to 2147483647", index);
            None
        }),
    }
}

/// The object at `delta.message`, or its member `name`; what stands beside it is named and not read.
fn inner<'a>(kind: &str, name: Option<&str>, event: &Object<'a>, draft: &mut Draft) -> Object<'a> {
    let mut object = event.clone();
    let mut path = String::new();
    for step in ["delta", "message"].into_iter().chain(name) {
        if !path.is_empty() {
            let beside = object.iter().filter(|(key, value)| *key != step && !value.is_blank());
            beside.for_each(|(key, _)| draft.not_assembled(&format!("{path}.{key} of {kind}")));
            path.push('.');
        }
        path.push_str(step);
        let value = object.some(step).unwrap_or(Json::NULL);
        if !value.is_object() && !value.is_null() {
            draft.bad_field(&path, "an object", value);
        }
        object = value.object().unwrap_or_default();
    }
    object
}
