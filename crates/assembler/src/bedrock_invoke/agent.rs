//! What Bedrock's agents and knowledge bases stream: text, and events about how they came to it.

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    text::Str,
};

/// An agent's answer.
#[derive(Default)]
pub(super) struct Agent {
    text: Option<PartId>,
}

impl Agent {
    /// A piece of the answer, as plain text.
    pub(super) fn chunk(&mut self, text: &str, payload: &Object<'_>, draft: &mut Draft) {
        self.append(&Str::from(text), draft);
        let attribution = payload.get("attribution").and_then(|cited| cited.get("citations"));
        for citation in attribution.and_then(Json::items).unwrap_or_default() {
            self.cite(citation, draft);
        }
    }

    /// Any other event.
    pub(super) fn event(&mut self, name: &str, payload: &Object<'_>, draft: &mut Draft) {
        match name {
            "output" => match payload.get("text").map(|text| (text, text.text())) {
                Some((_, Some(text))) => self.append(&text, draft),
                Some((value, None)) if !value.is_null() => {
                    draft.bad_field("text", "a string", value);
                }
                _ => {}
            },
            "citation" => {
                let citation = payload.get("citation").unwrap_or(Json::NULL);
                self.cite(citation, draft);
            }
            "trace" | "guardrail" => draft.note(name),
            "files" | "returnControl" => draft.not_assembled(&format!("`{name}` events")),
            _ => draft.unknown(name),
        }
    }

    fn append(&mut self, text: &Str<'_>, draft: &mut Draft) {
        let part = self.part(draft);
        draft.append(part, text);
    }

    fn cite(&mut self, citation: Json<'_>, draft: &mut Draft) {
        let part = self.part(draft);
        draft.extra_push(part, "citations", citation);
        draft.note("citation");
    }

    fn part(&mut self, draft: &mut Draft) -> PartId {
        *self.text.get_or_insert_with(|| draft.part(0, PartKind::Text))
    }
}
