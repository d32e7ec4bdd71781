//! A message as a plain body, as applications store it.

use crate::{
    draft::{Draft, PartKind},
    json::{Json, Object},
};

use super::{message::Message, tool::Tool};

impl Message {
    /// A message as a plain body.
    pub(super) fn document(&mut self, message: &Object<'_>, draft: &mut Draft) {
        draft.role(0, &message.str("role").unwrap_or_default());
        draft.id("the message", &message.str("id").unwrap_or_default());
        for part in message.get("parts").and_then(Json::items).unwrap_or_default() {
            let Some(fields) = part.object() else { continue };
            let kind = fields.str("type").unwrap_or_default();
            let text = fields.get("text").and_then(Json::text).unwrap_or_default();
            match &*kind {
                "text" => {
                    let part = draft.part(0, PartKind::Text);
                    draft.append(part, &text);
                }
                "reasoning" => {
                    let part = draft.part(0, PartKind::Reasoning);
                    draft.append(part, &text);
                }
                "step-start" => {}
                _ if kind.starts_with("tool-") || kind == "dynamic-tool" => {
                    Tool::whole(&kind, &fields, draft);
                }
                _ => {
                    self.whole(&kind, &fields, draft);
                }
            }
        }
    }
}
