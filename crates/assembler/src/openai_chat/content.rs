//! `content`: mostly a text, for Mistral's reasoning models a list of typed pieces (`FORMATS.md` A.4.2).

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::Str,
};

use super::choice::{How, Slot};

/// The rank of reasoning in content lists among the places that reasoning comes in.
const THINKING_RANK: u8 = 2;

/// A message's content so far.
#[derive(Debug, Default)]
pub(super) struct Content {
    items: Vec<Item>,
    string_seen: bool,
    array_seen: bool,
}

#[derive(Debug)]
enum Item {
    Text(Slot, Map),
    Thinking(Thinking),
    Other(Node),
}

/// Reasoning in pieces: texts and references.
#[derive(Debug, Default)]
struct Thinking {
    pieces: Vec<Node>,
    /// The text that the next one continues, if it is the last piece.
    text: Option<PartId>,
    fields: Map,
    closed: bool,
}

impl Content {
    /// Reads the content of a delta or of a message.
    pub(super) fn read(&mut self, output: u64, value: Json<'_>, draft: &mut Draft, how: How) {
        if let Some(text) = value.text() {
            self.string_seen = true;
            self.text(output, &text, draft, how);
        } else if let Some(pieces) = value.items() {
            if how == How::Snapshot && !self.items.is_empty() {
                return; // compared at the end, where it can be
            }
            self.array_seen = true;
            for piece in pieces {
                self.piece(output, piece, draft);
            }
        } else if !value.is_null() {
            draft.bad_field("delta.content", "a string or an array", value);
        }
    }

    /// Whether deltas brought anything.
    pub(super) fn has_deltas(&self) -> bool {
        self.items.iter().any(|item| match item {
            Item::Text(slot, _) => slot.has_deltas(),
            Item::Thinking(_) | Item::Other(_) => true,
        })
    }

    /// Compares the text with the final one.
    pub(super) fn settle(&mut self, text: &Str<'_>, what: &str, draft: &mut Draft) {
        if let ([Item::Text(slot, _)], false) = (self.items.as_slice(), self.array_seen)
            && slot.has_deltas()
            && let Some(part) = slot.part
        {
            draft.settle(part, text, what);
        }
    }

    fn text(&mut self, output: u64, text: &Str<'_>, draft: &mut Draft, how: How) {
        if text.is_empty() {
            return;
        }
        if !matches!(self.items.last(), Some(Item::Text(..))) {
            self.items.push(Item::Text(Slot::default(), Map::default()));
        }
        if let Some(Item::Text(slot, _)) = self.items.last_mut() {
            slot.take(output, (PartKind::Text, 0), text, draft, how);
        }
    }

    fn piece(&mut self, output: u64, piece: Json<'_>, draft: &mut Draft) {
        let Some(fields) = piece.object() else {
            draft.bad_field("delta.content[]", "an object", piece);
            return;
        };
        match &*fields.str("type").unwrap_or_default() {
            "text" => {
                self.text(
                    output,
                    &fields.get("text").and_then(Json::text).unwrap_or_default(),
                    draft,
                    How::Delta,
                );
                if let Some(Item::Text(_, map)) = self.items.last_mut() {
                    let others = fields.iter().filter(|(key, _)| !matches!(*key, "type" | "text"));
                    others.for_each(|(key, value)| draft.carry(map, key, value, Map::merge));
                }
            }
            "thinking" => self.thinking(output, &fields, draft),
            kind => {
                if draft.admit(piece.raw().len()) {
                    let part = draft.part(output, PartKind::Other(part_kind(kind)));
                    draft.get_mut(part).extra.set("type", Node::string(kind));
                    self.items.push(Item::Other(Node::from(piece)));
                }
            }
        }
    }

    fn thinking(&mut self, output: u64, fields: &Object<'_>, draft: &mut Draft) {
        if !matches!(self.items.last(), Some(Item::Thinking(thinking)) if !thinking.closed) {
            self.items.push(Item::Thinking(Thinking::default()));
        }
        let Some(Item::Thinking(thinking)) = self.items.last_mut() else { return };
        for (key, value) in fields.iter() {
            match key {
                "type" => {}
                "thinking" => thinking.read(output, value, draft),
                _ => draft.carry(&mut thinking.fields, key, value, Map::last),
            }
        }
        thinking.closed = fields.get("closed").and_then(Json::bool).unwrap_or(thinking.closed);
    }

    /// Writes the content of the plain message.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        match self.items.as_slice() {
            _ if self.array_seen => out.array(|items| {
                self.items.iter().for_each(|item| items.item(|value| item.write(value)));
            }),
            [Item::Text(Slot { part: Some(part), .. }, _), ..] => out.part(*part),
            _ if self.string_seen => out.string(""),
            _ => out.null(),
        }
    }
}

impl Thinking {
    fn read(&mut self, output: u64, value: Json<'_>, draft: &mut Draft) {
        if let Some(text) = value.text() {
            self.append(output, &text, draft);
        }
        for piece in value.items().unwrap_or_default() {
            match piece.get("text").and_then(Json::text) {
                Some(text) => self.append(output, &text, draft),
                None if draft.admit(piece.raw().len()) => {
                    self.text = None;
                    self.pieces.push(Node::from(piece));
                }
                None => {}
            }
        }
    }

    fn append(&mut self, output: u64, text: &Str<'_>, draft: &mut Draft) {
        if text.is_empty() {
            return;
        }
        let part = *self.text.get_or_insert_with(|| {
            let part = draft.part(output, PartKind::Reasoning);
            draft.get_mut(part).rank = THINKING_RANK;
            let mut piece = Map::default();
            piece.set("type", Node::string("text"));
            piece.set("text", Node::Part(part));
            self.pieces.push(piece.into());
            part
        });
        draft.append(part, text);
    }
}

impl Item {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            Self::Text(slot, map) => out.object(|fields| {
                fields.string("type", "text");
                fields.field("text", |value| match slot.part {
                    Some(part) => value.part(part),
                    None => value.string(""),
                });
                fields.map(map);
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

fn part_kind(kind: &str) -> &'static str {
    match kind {
        "image_url" => "image",
        "document_url" => "document",
        "reference" => "reference",
        "file" => "file",
        "input_audio" => "audio",
        _ => "other",
    }
}
