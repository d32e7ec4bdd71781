//! The parts of the message.

use crate::{draft::PartId, response::Writer};

use super::tool::Tool;

/// A part of the message.
pub(super) struct Piece {
    /// Its fields beyond text and input are the part's extra ones.
    pub(super) part: PartId,
    pub(super) shape: Shape,
}

pub(super) enum Shape {
    Step,
    Text,
    Reasoning(Box<str>),
    Tool(Tool),
    /// Sources, files, data: the chunk as it came.
    Whole(Box<str>),
}

impl Piece {
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let known = out.draft().get(self.part);
        out.object(|fields| {
            match &self.shape {
                Shape::Step => fields.string("type", "step-start"),
                Shape::Whole(kind) => fields.string("type", kind),
                Shape::Tool(tool) => tool.write(self.part, fields),
                Shape::Text => fields.string("type", "text"),
                Shape::Reasoning(id) => {
                    fields.string("type", "reasoning");
                    fields.string("id", id);
                }
            }
            if matches!(self.shape, Shape::Text | Shape::Reasoning(_)) {
                fields.field("text", |value| value.part(self.part));
            }
            fields.map(&known.extra);
        });
    }
}
