//! The entries of a conversation: messages, calls, the provider's own tools, handoffs.

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::Str,
};

/// What a piece of content costs of the text limit beyond its bytes.
const PIECE: usize = 256;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Message,
    Function,
    Execution,
    Handoff,
    Other,
}

impl Kind {
    /// The kind that an event or an entry is of, by its type.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "message.output" => Self::Message,
            "function.call" => Self::Function,
            _ if name.starts_with("tool.execution") => Self::Execution,
            _ if name.starts_with("agent.handoff") => Self::Handoff,
            _ => Self::Other,
        }
    }

    /// The type of the entry.
    const fn name(self) -> &'static str {
        match self {
            Self::Message => "message.output",
            Self::Function => "function.call",
            Self::Execution => "tool.execution",
            Self::Handoff => "agent.handoff",
            Self::Other => "",
        }
    }

    pub(super) const fn part(self) -> PartKind {
        match self {
            Self::Message => PartKind::Text,
            Self::Function => PartKind::Call,
            Self::Execution => PartKind::Other("tool-execution"),
            Self::Handoff => PartKind::Other("agent-handoff"),
            Self::Other => PartKind::Other("entry"),
        }
    }

    /// How the entry is opened and closed: by its id, or else by its index.
    pub(super) fn key(self, event: &Object<'_>) -> Key {
        let noun = if self == Self::Handoff { "handoff" } else { "tool execution" };
        match event.filled("id") {
            Some(id) => Key::Name(noun, (*id).into()),
            None => Key::Index(noun, event.u64("output_index").unwrap_or(0)),
        }
    }
}

/// An entry.
pub(super) struct Entry {
    kind: Kind,
    pub(super) index: u64,
    /// Which entry of the stream it was.
    pub(super) nth: usize,
    fields: Map,
    /// A call's or a tool's arguments.
    pub(super) part: Option<PartId>,
    arguments_seen: bool,
    content: BTreeMap<u64, Vec<Piece>>,
    /// Content came as more than texts.
    typed: bool,
}

/// A piece of a message's content.
enum Piece {
    Text(PartId),
    Thinking(Thinking),
    Other(Node),
}

/// Reasoning: texts and references, with a signature.
#[derive(Default)]
struct Thinking {
    pieces: Vec<Node>,
    text: Option<PartId>,
    fields: Map,
    closed: bool,
}

impl Entry {
    pub(super) fn new(kind: Kind, index: u64) -> Self {
        Self {
            kind,
            index,
            nth: 0,
            fields: Map::default(),
            part: None,
            arguments_seen: false,
            content: BTreeMap::new(),
            typed: false,
        }
    }

    /// What an event adds, or the fields of a whole entry.
    pub(super) fn delta(&mut self, event: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        for (key, value) in event.iter() {
            match key {
                "type" | "output_index" | "content_index" | "object" => {}
                "content" if self.kind == Kind::Message => self.content(event, value, draft),
                "arguments" if self.part.is_some() => self.arguments(value, draft),
                "id" | "role" | "model" | "name" | "tool_call_id" | "agent_id" => {
                    match value.str() {
                        Some(text) => self.identity(key, &text, draft),
                        None if value.is_null() => {}
                        None => {
                            draft.bad_field(key, "a string", value);
                            continue;
                        }
                    }
                    self.fields.first_filled(key, value);
                }
                "created_at" => self.fields.first(key, value),
                _ => {
                    draft.carry(&mut self.fields, key, value, Map::last);
                    if let Some(part) = self.part.filter(|_| self.kind != Kind::Function) {
                        draft.extra(part, key, value, Map::last);
                    }
                }
            }
        }
    }

    fn identity(&self, key: &str, text: &str, draft: &mut Draft) {
        match (key, self.kind, self.part) {
            ("role", ..) => draft.role(0, text),
            ("model", Kind::Message, _) => draft.model(text),
            ("name", Kind::Function, Some(part)) => draft.call_name(part, text),
            ("tool_call_id", Kind::Function, Some(part)) => draft.call_id(part, text),
            ("name" | "id", Kind::Execution | Kind::Handoff, Some(part)) => {
                draft.get_mut(part).extra.set(key, Node::string(text));
            }
            _ => {}
        }
    }

    /// APPEND; an object is the whole of them.
    fn arguments(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(part) = self.part else { return };
        self.arguments_seen |= !value.is_null();
        match value.text() {
            Some(text) => draft.append(part, &text),
            None if value.is_object() => draft.call_object(part, value),
            None if value.is_null() => {}
            None => draft.bad_field("arguments", "a string or an object", value),
        }
    }

    /// A string, one typed piece, or in a plain body a list of them.
    fn content(&mut self, event: &Object<'_>, value: Json<'_>, draft: &mut Draft) {
        let index = match event.some("content_index") {
            None => Some(0),
            Some(index) => index.index(),
        };
        let Some(index) = index else {
            let bad = event.get("content_index").unwrap_or(Json::NULL);
            draft.bad_field("content_index", "an integer from 0 to 2147483647", bad);
            return;
        };
        if let Some(text) = value.text() {
            self.text(index, &text, draft);
        } else if let Some(pieces) = value.items() {
            self.typed = true;
            for (index, piece) in (index..).zip(pieces) {
                self.piece(index, piece, draft);
            }
        } else if value.is_object() {
            self.typed = true;
            self.piece(index, value, draft);
        } else if !value.is_null() {
            draft.bad_field("content", "a string or an object", value);
        }
    }

    fn piece(&mut self, index: u64, piece: Json<'_>, draft: &mut Draft) {
        let Some(fields) = piece.object() else {
            draft.bad_field("content[]", "an object", piece);
            return;
        };
        match &*fields.str("type").unwrap_or_default() {
            "text" => {
                let text = fields.get("text").and_then(Json::text).unwrap_or_default();
                self.text(index, &text, draft);
            }
            "thinking" => {
                let order = self.order(index);
                let slot = self.content.entry(index).or_default();
                if !matches!(slot.last(), Some(Piece::Thinking(last)) if !last.closed) {
                    if !draft.admit(PIECE) {
                        return;
                    }
                    slot.push(Piece::Thinking(Thinking::default()));
                }
                if let Some(Piece::Thinking(thinking)) = slot.last_mut() {
                    thinking.read(&fields, order, draft);
                }
            }
            kind => {
                if draft.admit(PIECE + piece.raw().len()) {
                    let part = draft.part(0, PartKind::Other("content"));
                    draft.get_mut(part).extra.set("type", Node::string(kind));
                    self.content.entry(index).or_default().push(Piece::Other(piece.into()));
                }
            }
        }
    }

    fn text(&mut self, index: u64, text: &Str<'_>, draft: &mut Draft) {
        let order = self.order(index);
        let slot = self.content.entry(index).or_default();
        let part = match slot.last() {
            Some(Piece::Text(part)) => *part,
            _ if !draft.admit(PIECE) => return,
            _ => {
                let part = draft.part(0, PartKind::Text);
                draft.get_mut(part).order = order;
                slot.push(Piece::Text(part));
                part
            }
        };
        draft.append(part, text);
    }

    /// Where a text or a call belongs in the answer.
    pub(super) fn order(&self, index: u64) -> u64 {
        (self.index << 32) | index
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            fields.string("type", self.kind.name());
            fields.map(&self.fields);
            match (self.kind, self.part) {
                (Kind::Message, _) => fields.field("content", |value| self.write_content(value)),
                (Kind::Function | Kind::Execution, Some(part)) if self.arguments_seen => {
                    fields.field("arguments", |value| value.part(part));
                }
                _ => {}
            }
        });
    }

    /// Texts only: a string. Otherwise a list of typed pieces.
    fn write_content(&self, out: &mut Writer<'_>) {
        let mut pieces = self.content.values().flatten();
        match (pieces.next(), pieces.next()) {
            (None, _) => out.string(""),
            (Some(Piece::Text(part)), None) if !self.typed => out.part(*part),
            _ => out.array(|items| {
                for piece in self.content.values().flatten() {
                    items.item(|value| piece.write(value));
                }
            }),
        }
    }
}

impl Thinking {
    fn read(&mut self, fields: &Object<'_>, order: u64, draft: &mut Draft) {
        for (key, value) in fields.iter() {
            match key {
                "type" => {}
                "thinking" => {
                    if let Some(text) = value.text() {
                        self.append(&text, order, draft);
                    }
                    for piece in value.items().unwrap_or_default() {
                        match piece.get("text").and_then(Json::text) {
                            Some(text) => self.append(&text, order, draft),
                            None if draft.admit(piece.raw().len()) => {
                                self.text = None;
                                self.pieces.push(piece.into());
                            }
                            None => {}
                        }
                    }
                }
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
        self.closed |= fields.get("closed").and_then(Json::bool).unwrap_or(false);
    }

    fn append(&mut self, text: &Str<'_>, order: u64, draft: &mut Draft) {
        let part = *self.text.get_or_insert_with(|| {
            let part = draft.part(0, PartKind::Reasoning);
            draft.get_mut(part).order = order;
            let mut piece = Map::default();
            piece.set("type", Node::string("text"));
            piece.set("text", Node::Part(part));
            self.pieces.push(piece.into());
            part
        });
        draft.append(part, text);
    }
}

impl Piece {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            Self::Text(part) => out.object(|fields| {
                fields.string("type", "text");
                fields.field("text", |value| value.part(*part));
            }),
            Self::Thinking(thinking) => out.object(|fields| {
                fields.string("type", "thinking");
                fields.field("thinking", |value| {
                    value.array(|items| thinking.pieces.iter().for_each(|piece| items.node(piece)));
                });
                fields.map(&thinking.fields);
            }),
            Self::Other(node) => out.node(node),
        }
    }
}
