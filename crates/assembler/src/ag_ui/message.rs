//! A message, as the protocol's client keeps it.

use crate::{
    draft::PartId,
    json::{Json, Object},
    node::Map,
    response::Writer,
};

/// A message. Its text is a part of the answer, or it is kept as it came.
#[derive(Default)]
pub(super) struct Message {
    /// Deprecated events have none.
    pub(super) id: Option<Box<str>>,
    pub(super) role: Box<str>,
    /// Its text is the `content`; an activity's has none.
    pub(super) part: Option<PartId>,
    pub(super) calls: Vec<PartId>,
    /// Further fields.
    pub(super) extra: Map,
}

impl Message {
    pub(super) fn new(id: Option<&str>, role: &str) -> Self {
        Self { id: id.map(Into::into), role: role.into(), ..Self::default() }
    }

    /// A message of the time before the run, or of somebody else.
    pub(super) fn whole(object: &Object<'_>) -> Self {
        let mut message =
            Self::new(object.str("id").as_deref(), &object.str("role").unwrap_or_default());
        for (key, value) in object.iter().filter(|(key, _)| !matches!(*key, "id" | "role")) {
            message.extra.set_json(key, value);
        }
        message
    }

    /// Whether a snapshot says nothing of messages of this kind that it does not name.
    pub(super) fn stays(&self, snapshot_has_reasoning: bool) -> bool {
        &*self.role == "activity" || (&*self.role == "reasoning" && !snapshot_has_reasoning)
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let draft = out.draft();
        out.object(|fields| {
            if let Some(id) = &self.id {
                fields.string("id", id);
            }
            fields.string("role", &self.role);
            if let Some(part) = self.part {
                if &*self.role != "activity" && !draft.get(part).extra.has("content") {
                    fields.field("content", |value| value.part(part));
                }
                fields.map(&draft.get(part).extra);
            }
            if !self.calls.is_empty() {
                fields.field("toolCalls", |value| {
                    value.array(|items| {
                        self.calls.iter().for_each(|call| items.item(|out| write_call(*call, out)));
                    });
                });
            }
            fields.map(&self.extra);
        });
    }
}

fn write_call(part: PartId, out: &mut Writer<'_>) {
    let known = out.draft().get(part);
    out.object(|fields| {
        fields.string("id", known.call.id.as_deref().unwrap_or_default());
        fields.string("type", "function");
        fields.field("function", |value| {
            value.object(|function| {
                function.string("name", known.call.name.as_deref().unwrap_or_default());
                function.field("arguments", |value| value.part(part));
            });
        });
        fields.map(&known.extra);
    });
}

/// The text of a message's content, where it is one.
pub(super) fn content<'a>(object: &Object<'a>) -> Option<crate::text::Str<'a>> {
    match object.some("content") {
        Some(content) => content.text(),
        None => Some(crate::text::Str::default()),
    }
}

/// The calls of a message.
pub(super) fn calls<'a>(object: &Object<'a>) -> Vec<Object<'a>> {
    let calls = object.get("toolCalls").and_then(Json::items).unwrap_or_default();
    calls.into_iter().filter_map(Json::object).collect()
}
