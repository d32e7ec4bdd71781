//! `audio`: base64 in pieces and its transcript.

use crate::{
    base64_text,
    draft::{Draft, PartId, PartKind},
    json::Json,
    node::{Map, Node},
    response::Writer,
    text::Text,
};

/// A message's audio so far.
#[derive(Debug, Default)]
pub(super) struct Audio {
    /// The fields in first-seen order; `data` and `transcript` hold a place only.
    fields: Map,
    data: Text,
    part: Option<PartId>,
}

impl Audio {
    /// Whether nothing came.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Reads the audio of a delta or of a message.
    pub(super) fn read(&mut self, output: u64, value: Json<'_>, draft: &mut Draft) {
        let Some(audio) = value.object() else { return };
        for (key, value) in audio.iter() {
            match (key, value.text()) {
                ("id", _) => draft.carry(&mut self.fields, key, value, Map::first_filled),
                ("data", Some(piece)) => {
                    self.fields.last(key, Json::NULL);
                    if draft.admit(piece.as_bytes().len()) {
                        base64_text::append(&mut self.data, &piece);
                    }
                }
                ("transcript", Some(text)) => {
                    let part = *self
                        .part
                        .get_or_insert_with(|| draft.part(output, PartKind::Other("audio")));
                    self.fields.set(key, Node::Part(part));
                    draft.append(part, &text);
                }
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    /// Writes the object.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                match key {
                    "data" => fields.field(key, |value| value.text(&self.data)),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}
