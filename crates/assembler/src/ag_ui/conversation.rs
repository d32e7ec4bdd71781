//! The messages of a run, in the order in which they began.

use std::collections::HashMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::Json,
    json_patch,
    node::{Map, Node},
    response::Writer,
};

use super::{Fields, chunk::Chunk, message::Message};

/// What a message costs of the text limit beyond its part.
const MESSAGE: usize = 256;

/// The conversation so far.
#[derive(Default)]
pub(super) struct Conversation {
    pub(super) messages: Vec<Message>,
    pub(super) by_id: HashMap<Box<str>, usize>,
    /// The tool calls by id.
    pub(super) calls: HashMap<Box<str>, PartId>,
    /// The message or call that chunks build.
    pub(super) chunk: Option<Chunk>,
    /// What the newest snapshot counts for against the bound.
    pub(super) held: usize,
    /// How many messages and phases of the deprecated thinking events there were.
    thoughts: u64,
    phases: u64,
}

impl Conversation {
    /// Reads an event of a message; `false` if it is none.
    pub(super) fn event(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) -> bool {
        let closes = !matches!(
            fields.kind,
            "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA" | "REASONING_ENCRYPTED_VALUE"
        ) && !fields.kind.ends_with("_CHUNK");
        if closes {
            self.close_chunk(draft);
        }
        match fields.kind {
            "TEXT_MESSAGE_START" | "REASONING_MESSAGE_START" => {
                if let Some(id) = fields.text("messageId", draft) {
                    self.open_text(fields, &id, draft);
                }
                fields.unread(&["messageId", "role", "name"], draft);
            }
            "TEXT_MESSAGE_CONTENT"
            | "TEXT_MESSAGE_END"
            | "REASONING_MESSAGE_CONTENT"
            | "REASONING_MESSAGE_END" => {
                if let Some(id) = fields.text("messageId", draft) {
                    grow(fields, &text_key(fields.kind, &id), draft);
                }
                fields.unread(&["messageId", "delta"], draft);
            }
            "TOOL_CALL_START" => {
                if let Some(id) = fields.text("toolCallId", draft) {
                    self.open_call(fields, &id, draft);
                }
                fields.unread(&["toolCallId", "toolCallName", "parentMessageId"], draft);
            }
            "TOOL_CALL_ARGS" | "TOOL_CALL_END" => {
                if let Some(id) = fields.text("toolCallId", draft) {
                    grow(fields, &call_key(&id), draft);
                }
                fields.unread(&["toolCallId", "delta"], draft);
            }
            "TEXT_MESSAGE_CHUNK" | "REASONING_MESSAGE_CHUNK" | "TOOL_CALL_CHUNK" => {
                self.chunk(fields, draft);
            }
            "TOOL_CALL_RESULT" => self.result(fields, draft),
            "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA" => self.activity(fields, draft),
            "REASONING_ENCRYPTED_VALUE" => self.encrypted(fields, draft),
            "REASONING_START" | "REASONING_END" => {
                if let Some(id) = fields.text("messageId", draft) {
                    phase(fields, Key::Name("reasoning phase", id.into()), draft);
                }
                fields.unread(&["messageId"], draft);
            }
            _ => return self.thinking(fields, draft),
        }
        true
    }

    /// A text or a reasoning begins, or goes on in a message that has ended or that a call began.
    pub(super) fn open_text(&mut self, fields: Fields<'_, '_>, id: &str, draft: &mut Draft) {
        let key = text_key(fields.kind, id);
        if draft.part_of(&key).is_some() && !draft.is_open(&key) {
            draft.go_on(&key);
            return;
        }
        let is_reasoning = fields.kind.starts_with("REASONING");
        let role = if is_reasoning { None } else { fields.optional("role", draft) };
        let role = role.filter(|role| !role.is_empty());
        let role = role.as_deref().unwrap_or(if is_reasoning { "reasoning" } else { "assistant" });
        let kind = match role {
            "reasoning" => PartKind::Reasoning,
            "assistant" => PartKind::Text,
            // What somebody else says is no answer.
            _ => PartKind::Other("message"),
        };
        let Some(at) = self.message(Some(id), role, draft) else { return };
        let part = draft.open(key, 0, kind);
        if let Some(message) = self.messages.get_mut(at).filter(|_| !Draft::is_dropped(part)) {
            message.part = Some(part);
            if let Some(name) = fields.object.some("name") {
                draft.carry(&mut message.extra, "name", name, Map::last);
            }
        }
    }

    /// A tool call begins: in its parent, in the newest message if that is the assistant's, or in one of
    /// its own.
    pub(super) fn open_call(&mut self, fields: Fields<'_, '_>, id: &str, draft: &mut Draft) {
        let name = fields.text("toolCallName", draft);
        let key = call_key(id);
        let again = draft.is_known(&key);
        let parent = fields.optional("parentMessageId", draft);
        let is_assistant = |message: &Message| &*message.role == "assistant";
        let at = match parent.as_deref().filter(|parent| !parent.is_empty()) {
            Some(parent) => match self.by_id.get(parent).map(|at| (*at, self.messages.get(*at))) {
                Some((at, Some(message))) if is_assistant(message) => Some(at),
                Some(_) => self.message(Some(id), "assistant", draft),
                None => self.message(Some(parent), "assistant", draft),
            },
            None if self.messages.last().is_some_and(is_assistant) => Some(self.messages.len() - 1),
            None => self.message(Some(id), "assistant", draft),
        };
        let Some(at) = at else { return };
        let part = draft.open(key, 0, PartKind::Call);
        if Draft::is_dropped(part) {
            return;
        }
        draft.call_id(part, id);
        draft.call_name(part, &name.unwrap_or_default());
        self.calls.insert(id.into(), part);
        if let Some(message) = self.messages.get_mut(at).filter(|_| !again) {
            message.calls.push(part);
        }
    }

    /// The message of this id, made if there is none.
    pub(super) fn message(
        &mut self,
        id: Option<&str>,
        role: &str,
        draft: &mut Draft,
    ) -> Option<usize> {
        if let Some(at) = id.and_then(|id| self.by_id.get(id)) {
            return Some(*at);
        }
        if !draft.admit(MESSAGE) {
            return None;
        }
        let at = self.messages.len();
        if let Some(id) = id {
            self.by_id.insert(id.into(), at);
        }
        self.messages.push(Message::new(id, role));
        Some(at)
    }

    /// What a tool gave, a message of its own.
    fn result(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        let id = fields.text("messageId", draft);
        fields.text("toolCallId", draft);
        let Some(at) = self.message(id.as_deref(), "tool", draft) else { return };
        let part = draft.part(0, PartKind::Other("tool-result"));
        if Draft::is_dropped(part) {
            return;
        }
        match fields.object.some("content").map(|content| (content, content.text())) {
            Some((_, Some(text))) => draft.append(part, &text),
            // Pieces of several kinds.
            Some((pieces, None)) if pieces.is_array() => draft.extra_set(part, "content", pieces),
            Some((content, None)) => draft.bad_field(&fields.name("content"), "a string", content),
            None => draft.missing_field(&fields.name("content"), "a string"),
        }
        if let Some(call) = fields.object.some("toolCallId") {
            draft.extra_set(part, "toolCallId", call);
        }
        if let Some(message) = self.messages.get_mut(at) {
            message.part = Some(part);
        }
        fields.unread(&["messageId", "toolCallId", "content", "role"], draft);
    }

    /// What the agent does, as a value and patches of it.
    fn activity(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        let Some(id) = fields.text("messageId", draft) else { return };
        let known = self.by_id.get(&*id).and_then(|at| self.messages.get(*at));
        let part = known.filter(|message| &*message.role == "activity").and_then(|it| it.part);
        if fields.kind == "ACTIVITY_DELTA" {
            match part {
                Some(part) => patch_activity(fields, part, draft),
                None => draft.unstarted(&Key::Name("activity", id.into())),
            }
            return;
        }
        let replaces = fields.object.get("replace").and_then(Json::bool) != Some(false);
        fields.unread(&["messageId", "activityType", "content", "replace"], draft);
        if known.is_some() && !replaces {
            return draft.note("activity");
        }
        let Some(at) = self.message(Some(&id), "activity", draft) else { return };
        let part = part.unwrap_or_else(|| draft.part(0, PartKind::Other("activity")));
        for key in ["activityType", "content"] {
            match fields.object.get(key) {
                Some(value) => draft.extra_set(part, key, value),
                None => draft.missing_field(&fields.name(key), "a value"),
            }
        }
        if let Some(message) = self.messages.get_mut(at).filter(|_| !Draft::is_dropped(part)) {
            message.role = "activity".into();
            message.part = Some(part);
        }
        draft.note("activity");
    }

    /// Reasoning that only the provider can read, for a message or a call.
    fn encrypted(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        let Some(id) = fields.text("entityId", draft) else { return };
        fields.text("encryptedValue", draft);
        let value = fields.object.some("encryptedValue").unwrap_or(Json::NULL);
        if fields.object.str("subtype").as_deref() == Some("tool-call") {
            match self.calls.get(&*id) {
                Some(part) => draft.extra_set(*part, "encryptedValue", value),
                None => draft.unstarted(&call_key(&id)),
            }
        } else {
            match self.by_id.get(&*id).and_then(|at| self.messages.get_mut(*at)) {
                Some(message) => {
                    draft.carry(&mut message.extra, "encryptedValue", value, Map::set_json);
                }
                None => draft.unstarted(&Key::Name("message", id.into())),
            }
        }
        fields.unread(&["subtype", "entityId", "encryptedValue"], draft);
    }

    /// The deprecated events of reasoning, which have no ids.
    fn thinking(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) -> bool {
        match fields.kind {
            "THINKING_START" | "THINKING_END" => {
                self.phases += u64::from(fields.kind == "THINKING_START");
                phase(fields, Key::Index("thinking phase", self.phases), draft);
                fields.unread(&["title"], draft);
            }
            "THINKING_TEXT_MESSAGE_START" => {
                self.thoughts += 1;
                if let Some(at) = self.message(None, "reasoning", draft) {
                    let part = draft.open(thought_key(self.thoughts), 0, PartKind::Reasoning);
                    if let Some(message) =
                        self.messages.get_mut(at).filter(|_| !Draft::is_dropped(part))
                    {
                        message.part = Some(part);
                    }
                }
            }
            "THINKING_TEXT_MESSAGE_CONTENT" | "THINKING_TEXT_MESSAGE_END" => {
                grow(fields, &thought_key(self.thoughts), draft);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.array(|items| {
            self.messages.iter().for_each(|message| items.item(|value| message.write(value)));
        });
    }
}

/// A text, a reasoning or a call's arguments grow or end.
pub(super) fn grow(fields: Fields<'_, '_>, key: &Key, draft: &mut Draft) {
    if fields.kind.ends_with("_END") {
        if let Some(part) = draft.close(key)
            && draft.get(part).kind == PartKind::Call
        {
            draft.close_call(part);
        }
        return;
    }
    let Some(part) = draft.opened(key) else { return };
    match fields.object.some("delta").map(|delta| (delta, delta.text())) {
        Some((_, Some(text))) => draft.append(part, &text),
        Some((delta, None)) => draft.bad_field(&fields.name("delta"), "a string", delta),
        None if fields.kind.ends_with("_CHUNK") => {}
        None => draft.missing_field(&fields.name("delta"), "a string"),
    }
}

/// A time of reasoning begins or ends.
fn phase(fields: Fields<'_, '_>, key: Key, draft: &mut Draft) {
    if fields.kind.ends_with("_START") {
        draft.open_bare(key);
    } else {
        super::end_bare(&key, draft);
    }
}

fn patch_activity(fields: Fields<'_, '_>, part: PartId, draft: &mut Draft) {
    let Some(patch) = fields.object.get("patch") else {
        return draft.missing_field(&fields.name("patch"), "an array");
    };
    if !draft.admit(patch.raw().len()) {
        return;
    }
    let mut extra = std::mem::take(&mut draft.get_mut(part).extra);
    let content = extra.entry("content");
    if content.is_null() {
        *content = Node::Raw("{}".into());
    }
    let done = json_patch::apply(content, patch, &mut |bytes| draft.admit(bytes));
    draft.get_mut(part).extra = extra;
    if let Some(activity) = fields.object.some("activityType") {
        draft.extra_set(part, "activityType", activity);
    }
    if let Err(refused) = done {
        let operation = patch.items().and_then(|items| items.get(refused.operation).copied());
        let field = format!("ACTIVITY_DELTA patch[{}]", refused.operation);
        draft.bad_field(&field, refused.expected, operation.unwrap_or(patch));
    }
    fields.unread(&["messageId", "activityType", "patch"], draft);
    draft.note("activity");
}

pub(super) fn text_key(kind: &str, id: &str) -> Key {
    let noun = if kind.starts_with("REASONING") { "reasoning" } else { "message" };
    Key::Name(noun, id.into())
}

pub(super) fn call_key(id: &str) -> Key {
    Key::Name("tool call", id.into())
}

fn thought_key(number: u64) -> Key {
    Key::Index("thinking", number)
}
