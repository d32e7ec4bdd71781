//! What a runnable yields, as one value.

use crate::{
    draft::{Draft, Hint, PartId, PartKind},
    json::Json,
    node::{Map, Node},
    response::Writer,
    values::Values,
};

use super::{How, message, messages::Messages};

/// The values of `event: data`, as one.
#[derive(Default)]
pub(super) struct Output {
    shape: Shape,
}

#[derive(Default)]
enum Shape {
    #[default]
    None,
    /// Pieces of a text.
    Text(PartId),
    /// A message.
    Message(usize),
    /// A list of messages; those of others than the model as they came.
    List(Vec<Slot>),
    /// Anything else.
    Values(Values),
}

enum Slot {
    Known(usize),
    Raw(Node),
}

impl Output {
    pub(super) fn take(
        &mut self,
        value: Json<'_>,
        how: How,
        messages: &mut Messages,
        draft: &mut Draft,
    ) {
        let list = value.items().unwrap_or_default();
        if !list.is_empty() && list.iter().all(|item| message::is_message(*item)) {
            return self.list(&list, how, messages, draft);
        }
        if message::is_answer(value) {
            if let Some(at) = messages.place(("data", 0), value, draft) {
                messages.read(at, value, how, draft);
                self.shape = Shape::Message(at);
            }
            return;
        }
        if let Some(text) = value.text() {
            let part = match self.shape {
                Shape::Text(part) => part,
                _ => draft.part(0, PartKind::Text),
            };
            self.shape = Shape::Text(part);
            return draft.hinted(part, &text, "the text", Hint::default());
        }
        if let Shape::Values(values) = &mut self.shape {
            values.take(value, 0, Hint::default(), draft);
        } else if !value.is_null() {
            draft.output(0);
            let mut values = Values::default();
            values.take(value, 0, Hint::default(), draft);
            self.shape = Shape::Values(values);
        }
    }

    fn list(&mut self, list: &[Json<'_>], how: How, messages: &mut Messages, draft: &mut Draft) {
        let mut slots = Vec::new();
        for (at, item) in (0..).zip(list) {
            let known = messages.place(("data", at), *item, draft);
            match known {
                Some(known) => {
                    messages.read(known, *item, how, draft);
                    slots.push(Slot::Known(known));
                }
                None => slots.push(Slot::Raw(Node::from(*item))),
            }
        }
        self.shape = Shape::List(slots);
    }

    /// Writes what `/invoke` would have answered.
    pub(super) fn write(&self, metadata: &Map, messages: &Messages, out: &mut Writer<'_>) {
        if matches!(self.shape, Shape::None) && metadata.is_empty() {
            return;
        }
        out.object(|fields| {
            fields.field("output", |value| match &self.shape {
                Shape::None => value.null(),
                Shape::Text(part) => value.part(*part),
                Shape::Message(at) => messages.write_one(*at, value),
                Shape::List(slots) => value.array(|items| {
                    for slot in slots {
                        match slot {
                            Slot::Known(at) => items.item(|value| messages.write_one(*at, value)),
                            Slot::Raw(node) => items.node(node),
                        }
                    }
                }),
                Shape::Values(values) => match values.node() {
                    Some(node) => value.node(node),
                    None => value.null(),
                },
            });
            if !metadata.is_empty() {
                fields.field("metadata", |value| value.object(|inner| inner.map(metadata)));
            }
        });
    }
}
