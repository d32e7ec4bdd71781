//! Chunks: a start, a piece and an end in one event, the end told by whatever comes next.

use crate::draft::{Draft, Key, PartKind};

use super::{
    Fields,
    conversation::{Conversation, call_key, grow, text_key},
};

/// What the newest chunks build.
pub(super) struct Chunk {
    key: Key,
    /// What kind of chunk builds it.
    kind: Box<str>,
}

impl Conversation {
    pub(super) fn chunk(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        let is_call = fields.kind == "TOOL_CALL_CHUNK";
        let member = if is_call { "toolCallId" } else { "messageId" };
        let id = fields.optional(member, draft).filter(|id| !id.is_empty());
        let key =
            id.as_deref().map(|id| if is_call { call_key(id) } else { text_key(fields.kind, id) });
        let goes_on = self.chunk.as_ref().is_some_and(|open| {
            *open.kind == *fields.kind && key.as_ref().is_none_or(|key| *key == open.key)
        });
        if !goes_on {
            self.close_chunk(draft);
            let (Some(id), Some(key)) = (id, key) else {
                return draft.missing_field(&fields.name(member), "a string");
            };
            if !draft.is_open(&key) {
                match is_call {
                    true if draft.part_of(&key).is_some() => draft.go_on(&key),
                    true => self.open_call(fields, &id, draft),
                    false => self.open_text(fields, &id, draft),
                }
            }
            self.chunk = Some(Chunk { key, kind: fields.kind.into() });
        }
        if let Some(open) = self.chunk.as_ref().filter(|open| draft.is_open(&open.key)) {
            grow(fields, &open.key, draft);
        }
        let known: &[&str] = if is_call {
            &["toolCallId", "toolCallName", "parentMessageId", "delta"]
        } else {
            &["messageId", "role", "name", "delta"]
        };
        fields.unread(known, draft);
    }

    /// What chunks have built is whole.
    pub(super) fn close_chunk(&mut self, draft: &mut Draft) {
        let Some(open) = self.chunk.take() else { return };
        if draft.is_open(&open.key)
            && let Some(part) = draft.close(&open.key)
            && draft.get(part).kind == PartKind::Call
        {
            draft.close_call(part);
        }
    }
}
