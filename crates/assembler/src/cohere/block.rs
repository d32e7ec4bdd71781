//! Blocks of a message: content and tool calls.

use crate::{
    draft::{Draft, PartId},
    json::{Json, Object},
    node::Map,
    response::Writer,
};

use super::string;

/// A block of content: text or thinking.
pub(super) struct Content {
    part: PartId,
    kind: Box<str>,
    /// The member that its text is in.
    member: &'static str,
    fields: Map,
}

/// A tool call.
pub(super) struct Call {
    part: PartId,
    kind: Option<String>,
    fields: Map,
}

impl Content {
    pub(super) fn new(part: PartId, kind: Box<str>, member: &'static str) -> Self {
        Self { part, kind, member, fields: Map::default() }
    }

    /// Text of the block's kind is added, other fields are kept.
    pub(super) fn read(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        for (key, value) in fields.iter() {
            match key {
                "type" => {}
                "text" | "thinking" => match value.text() {
                    Some(text) if key == self.member => draft.append(self.part, &text),
                    Some(text) if text.is_empty() => {}
                    Some(_) => {
                        draft.not_assembled(&format!("`{key}` in content of type `{}`", self.kind));
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(&format!("message.content.{key}"), "a string", value),
                },
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.object(|content| {
            content.string("type", &self.kind);
            content.field(self.member, |value| value.part(self.part));
            content.map(&self.fields);
        });
    }
}

impl Call {
    pub(super) fn new(part: PartId) -> Self {
        Self { part, kind: None, fields: Map::default() }
    }

    pub(super) fn read(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        for (key, value) in fields.iter() {
            match key {
                "id" => {
                    if let Some(id) = string("message.tool_calls.id", value, draft) {
                        draft.call_id(self.part, &id);
                    }
                }
                "type" => {
                    let kind = value.str().filter(|kind| !kind.is_empty());
                    self.kind = self.kind.take().or_else(|| kind.map(std::borrow::Cow::into_owned));
                }
                "function" => self.function(value, draft),
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    fn function(&self, value: Json<'_>, draft: &mut Draft) {
        const FIELD: &str = "message.tool_calls.function";
        let Some(function) = value.object() else {
            if !value.is_null() {
                draft.bad_field(FIELD, "an object", value);
            }
            return;
        };
        for (key, value) in function.iter() {
            match key {
                "name" => {
                    if let Some(name) = string("message.tool_calls.function.name", value, draft) {
                        draft.call_name(self.part, &name);
                    }
                }
                "arguments" => match value.text() {
                    Some(text) => draft.append(self.part, &text),
                    None if value.is_null() => {}
                    None => draft.bad_field(&format!("{FIELD}.arguments"), "a string", value),
                },
                _ if value.is_null() => {}
                _ => draft.not_assembled(&format!("{FIELD}.{key}")),
            }
        }
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let call = &out.draft().get(self.part).call;
        out.object(|fields| {
            if let Some(id) = &call.id {
                fields.string("id", id);
            }
            fields.string("type", self.kind.as_deref().unwrap_or("function"));
            fields.field("function", |value| {
                value.object(|function| {
                    function.field("name", |value| value.string_or_null(call.name.as_deref()));
                    function.field("arguments", |value| value.part(self.part));
                });
            });
            fields.map(&self.fields);
        });
    }
}
