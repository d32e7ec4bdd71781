//! The message: its parts in the order in which they began.

use std::collections::HashMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{
    piece::{Piece, Shape},
    string,
    tool::Tool,
    unread,
};

/// What a piece of the message costs of the text limit beyond its part.
const PIECE: usize = 256;

/// What the chunks have built so far.
#[derive(Default)]
pub(super) struct Message {
    /// Anything of it came.
    came: bool,
    id: Option<Box<str>>,
    /// `metadata`, if there is any.
    metadata: Map,
    pieces: Vec<Piece>,
    /// The texts that are open.
    open: Vec<Key>,
    /// The newest piece of each tool call.
    tools: HashMap<Box<str>, usize>,
    /// The tool calls by what asks for their approval.
    approvals: HashMap<Box<str>, Box<str>>,
    /// The pieces of data that have an id, by type and id.
    data: HashMap<(Box<str>, Box<str>), usize>,
    /// Where the pieces of the current step begin.
    step: usize,
}

impl Message {
    /// Reads a chunk; `false` if it is none of this format.
    pub(super) fn chunk(&mut self, kind: &str, chunk: &Object<'_>, draft: &mut Draft) -> bool {
        match kind {
            "start" => {
                draft.start();
                self.head(kind, chunk, draft);
            }
            "message-metadata" => self.head(kind, chunk, draft),
            "start-step" => {
                if let Some(at) = self.push(PartKind::Other("step-start"), Shape::Step, draft) {
                    self.step = at + 1;
                }
            }
            "finish-step" => self.close_all(draft),
            "reset-step" => self.reset(draft),
            "text-start" | "reasoning-start" => self.open(kind, chunk, draft),
            "text-delta" | "text-end" | "reasoning-delta" | "reasoning-end" => {
                self.grow(kind, chunk, draft);
            }
            "source-url" | "source-document" | "file" | "reasoning-file" | "custom" => {
                self.whole(kind, chunk, draft);
            }
            _ if kind.starts_with("tool-") => {
                if !self.tool(kind, chunk, draft) {
                    return false;
                }
            }
            _ if kind.starts_with("data-") => self.data(kind, chunk, draft),
            _ => return false,
        }
        self.came = true;
        draft.output(0);
        draft.role(0, "assistant");
        true
    }

    /// `finish`: why it stopped.
    pub(super) fn finished(&mut self, chunk: &Object<'_>, draft: &mut Draft) {
        self.came = true;
        draft.role(0, "assistant");
        if chunk.some("finishReason").is_some()
            && let Some(reason) = string("finish", chunk, "finishReason", draft)
        {
            draft.stop(0, &reason);
        }
        self.head("finish", chunk, draft);
    }

    /// What `start`, `message-metadata` and `finish` say of the message.
    fn head(&mut self, kind: &str, chunk: &Object<'_>, draft: &mut Draft) {
        if chunk.some("messageId").is_some()
            && let Some(id) = string(kind, chunk, "messageId", draft)
        {
            draft.id("the message", &id);
            self.id = Some((*id).into());
        }
        if let Some(metadata) = chunk.some("messageMetadata")
            && draft.admit(metadata.raw().len())
        {
            self.metadata.merge("metadata", metadata);
        }
        unread(kind, chunk, &["messageId", "messageMetadata", "finishReason"], draft);
    }

    /// A text or a reasoning begins.
    fn open(&mut self, kind: &str, chunk: &Object<'_>, draft: &mut Draft) {
        let Some(id) = string(kind, chunk, "id", draft) else { return };
        let is_text = kind == "text-start";
        let key = text_key(kind, &id);
        let (part_kind, shape) = if is_text {
            (PartKind::Text, Shape::Text)
        } else {
            (PartKind::Reasoning, Shape::Reasoning((*id).into()))
        };
        let again = draft.is_open(&key);
        if !again && !draft.admit(PIECE) {
            return;
        }
        let part = draft.open(key.clone(), 0, part_kind);
        if Draft::is_dropped(part) {
            return;
        }
        if !again {
            self.open.push(key);
            self.pieces.push(Piece { part, shape });
        }
        set(part, "state", "streaming", draft);
        Self::provider(part, chunk, draft);
        unread(kind, chunk, &["id", "providerMetadata"], draft);
    }

    /// A text or a reasoning grows or ends. Its id is free for another one then.
    fn grow(&mut self, kind: &str, chunk: &Object<'_>, draft: &mut Draft) {
        let Some(id) = string(kind, chunk, "id", draft) else { return };
        let key = text_key(kind, &id);
        let is_end = kind.ends_with("-end");
        let part = if is_end { draft.close(&key) } else { draft.opened(&key) };
        let Some(part) = part else { return };
        if is_end {
            draft.release(&key);
            self.open.retain(|known| *known != key);
            set(part, "state", "done", draft);
        } else {
            match chunk.get("delta").map(|delta| (delta, delta.text())) {
                Some((_, Some(text))) => draft.append(part, &text),
                Some((delta, None)) => {
                    draft.bad_field(&format!("{kind} delta"), "a string", delta);
                }
                None => draft.missing_field(&format!("{kind} delta"), "a string"),
            }
        }
        Self::provider(part, chunk, draft);
        unread(kind, chunk, &["id", "delta", "providerMetadata"], draft);
    }

    fn provider(part: PartId, chunk: &Object<'_>, draft: &mut Draft) {
        if let Some(metadata) = chunk.some("providerMetadata") {
            draft.extra_set(part, "providerMetadata", metadata);
        }
    }

    /// The step is over: so are its texts.
    fn close_all(&mut self, draft: &mut Draft) {
        for key in self.open.drain(..) {
            draft.close(&key);
            draft.release(&key);
        }
    }

    /// The step begins anew: what it brought is no part of the message.
    fn reset(&mut self, draft: &mut Draft) {
        self.close_all(draft);
        let from = self.step;
        for piece in self.pieces.drain(from..) {
            draft.discard(piece.part);
        }
        let mut gone = Vec::new();
        self.tools.retain(|id, at| {
            let stays = *at < from;
            if !stays {
                gone.push(tool_key(id));
            }
            stays
        });
        for key in &gone {
            draft.release(key);
        }
        self.data.retain(|_, at| *at < from);
        draft.note("step begins anew");
    }

    /// A source, a file or data, whole.
    pub(super) fn whole(
        &mut self,
        kind: &str,
        chunk: &Object<'_>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let name = match kind {
            "file" | "reasoning-file" => "file",
            "custom" => "custom",
            _ if kind.starts_with("source-") => "source",
            _ => "data",
        };
        let at = self.push(PartKind::Other(name), Shape::Whole(kind.into()), draft)?;
        let part = self.pieces.get(at)?.part;
        for (key, value) in chunk.iter().filter(|(key, _)| *key != "type") {
            draft.extra(part, key, value, Map::set_json);
        }
        Some(at)
    }

    /// Data of the application's own: under an id the newest counts.
    fn data(&mut self, kind: &str, chunk: &Object<'_>, draft: &mut Draft) {
        let data = chunk.get("data").unwrap_or(Json::NULL);
        if chunk.get("transient").and_then(Json::bool) == Some(true) {
            return draft.note("transient data");
        }
        let Some(id) = chunk.str("id") else {
            self.whole(kind, chunk, draft);
            return;
        };
        let place = (kind.into(), (*id).into());
        match self.data.get(&place).and_then(|at| self.pieces.get(*at)) {
            Some(known) => draft.extra_set(known.part, "data", data),
            None => {
                if let Some(at) = self.whole(kind, chunk, draft) {
                    self.data.insert(place, at);
                }
            }
        }
    }

    /// The chunks of tool calls.
    fn tool(&mut self, kind: &str, chunk: &Object<'_>, draft: &mut Draft) -> bool {
        let asked = match kind {
            "tool-approval-response" => {
                let Some(approval) = string(kind, chunk, "approvalId", draft) else { return true };
                let Some(id) = self.approvals.get(&*approval) else {
                    draft.unstarted(&Key::Name("approval", approval.into()));
                    return true;
                };
                id.clone()
            }
            "tool-input-start"
            | "tool-input-delta"
            | "tool-input-available"
            | "tool-input-error"
            | "tool-approval-request"
            | "tool-output-available"
            | "tool-output-error"
            | "tool-output-denied" => {
                let Some(id) = string(kind, chunk, "toolCallId", draft) else { return true };
                (*id).into()
            }
            _ => return false,
        };
        let Some(at) = self.call(kind, &asked, chunk, draft) else { return true };
        if kind == "tool-approval-request"
            && let Some(approval) = chunk.str("approvalId")
            && draft.admit(PIECE)
        {
            self.approvals.insert((*approval).into(), asked.clone());
        }
        if let Some(Piece { part, shape: Shape::Tool(tool) }) = self.pieces.get_mut(at) {
            tool.read(kind, &tool_key(&asked), *part, chunk, draft);
        }
        true
    }

    /// The piece that a chunk is for. Inputs begin a call, in each step another one.
    fn call(
        &mut self,
        kind: &str,
        id: &str,
        chunk: &Object<'_>,
        draft: &mut Draft,
    ) -> Option<usize> {
        let key = tool_key(id);
        let known = self.tools.get(id).copied();
        let begins = match kind {
            "tool-input-start" => true,
            "tool-input-available" | "tool-input-error" => !draft.is_open(&key),
            "tool-input-delta" => return draft.opened(&key).and(known),
            _ if known.is_none() => {
                draft.unstarted(&key);
                return None;
            }
            _ => return known,
        };
        let is_open = draft.is_open(&key);
        let here = known.filter(|at| *at >= self.step || is_open);
        if !begins || (here.is_some() && kind != "tool-input-start") {
            return here.or(known);
        }
        if let Some(at) = here {
            let kind = Tool::kind(chunk);
            draft.open(key, 0, kind);
            self.pieces.get_mut(at)?.shape = Shape::Tool(Tool::default());
            return Some(at);
        }
        if !draft.admit(PIECE) {
            return None;
        }
        draft.release(&key);
        let part = draft.open(key, 0, Tool::kind(chunk));
        if Draft::is_dropped(part) {
            return None;
        }
        self.tools.insert(id.into(), self.pieces.len());
        self.pieces.push(Piece { part, shape: Shape::Tool(Tool::default()) });
        Some(self.pieces.len() - 1)
    }

    fn push(&mut self, kind: PartKind, shape: Shape, draft: &mut Draft) -> Option<usize> {
        draft.output(0);
        if !draft.admit(PIECE) {
            return None;
        }
        let part = draft.part(0, kind);
        if Draft::is_dropped(part) {
            return None;
        }
        self.pieces.push(Piece { part, shape });
        Some(self.pieces.len() - 1)
    }

    /// The body ended: what was collected for calls that nothing closed is judged.
    pub(super) fn judge(&mut self, draft: &mut Draft) {
        if !draft.has_ended() {
            return;
        }
        for Piece { part, shape } in &self.pieces {
            if matches!(shape, Shape::Tool(_)) && !draft.get(*part).call.complete {
                draft.close_call(*part);
                draft.get_mut(*part).call.complete = false;
            }
        }
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        if !self.came {
            return;
        }
        out.object(|fields| {
            if let Some(id) = &self.id {
                fields.string("id", id);
            }
            fields.string("role", "assistant");
            fields.map(&self.metadata);
            fields.field("parts", |value| {
                value.array(|items| {
                    self.pieces.iter().for_each(|piece| items.item(|value| piece.write(value)));
                });
            });
        });
    }
}

/// Sets a word in what a part shows.
pub(super) fn set(part: PartId, key: &str, word: &str, draft: &mut Draft) {
    if let Some(word) = Node::string(word).json() {
        draft.extra_set(part, key, word);
    }
}

fn text_key(kind: &str, id: &str) -> Key {
    let noun = if kind.starts_with("text") { "text" } else { "reasoning" };
    Key::Name(noun, id.into())
}

fn tool_key(id: &str) -> Key {
    Key::Name("tool call", id.into())
}
