//! `audio`: base64 in pieces and its transcript.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    draft::{Draft, PartId, PartKind},
    json::Json,
    node::{Map, Node},
    response::Writer,
    text::{Str, Text},
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
                        self.data(&piece);
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

    /// Adds a piece of base64. Pieces that were padded on their own do not join as text: the last group is
    /// taken apart and encoded again with what follows.
    fn data(&mut self, piece: &Str<'_>) {
        if self.data.as_bytes().ends_with(b"=") && !piece.is_empty() {
            let start = self.data.len().saturating_sub(4);
            let tail = self.data.as_bytes().get(start..).unwrap_or_default();
            if let (Ok(mut bytes), Ok(more)) =
                (STANDARD.decode(tail), STANDARD.decode(piece.as_bytes()))
            {
                bytes.extend(more);
                self.data.truncate(start);
                self.data.append(&Str::from(STANDARD.encode(bytes)));
                return;
            }
        }
        self.data.append(piece);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_padded_on_their_own_are_encoded_again() {
        for pieces in [
            &["SGVsbG8h"][..],
            &["SGVs", "bG8h"],
            &["SGU=", "bGxvIQ=="],
            &["SA==", "ZQ==", "bGxvIQ=="],
        ] {
            let mut audio = Audio::default();
            for piece in pieces {
                audio.data(&Str::from(*piece));
            }
            assert_eq!(STANDARD.decode(audio.data.as_bytes()).unwrap(), b"Hello!", "{pieces:?}");
        }
    }
}
