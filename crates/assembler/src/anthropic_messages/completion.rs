//! The legacy Text Completions of Anthropic (`FORMATS.md` C.10).

use crate::{
    draft::{Draft, PartId, PartKind},
    format::{Rules, Sentinel},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::text_of;

/// A completion ends with its reason; before 2023-06-01 `[DONE]` followed.
const RULES: Rules = Rules {
    unit: "completion",
    end: "a frame with a `stop_reason`",
    sentinel: Sentinel::Ends,
    reasons: true,
    ..Rules::NONE
};

/// A completion so far.
#[derive(Debug)]
pub(super) struct Completion {
    /// Its fields in first-seen order.
    fields: Map,
    part: PartId,
}

impl Completion {
    /// The first frame came.
    pub(super) fn start(draft: &mut Draft) -> Self {
        draft.set_rules(RULES);
        draft.start();
        draft.role(0, "assistant");
        Self { fields: Map::default(), part: draft.part(0, PartKind::Text) }
    }

    /// Reads a frame, or a plain body.
    pub(super) fn read(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        for (key, value) in frame.iter() {
            match key {
                "completion" => {
                    self.fields.set(key, Node::Part(self.part));
                    if let Some(text) = text_of(key, value, draft) {
                        // Up to 2023 each held the whole text so far.
                        draft.undecided(self.part, &text, "The completion");
                    }
                }
                "id" | "model" | "stop_reason" => self.string(key, value, draft),
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    fn string(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let Some(text) = text_of(key, value, draft) else {
            if value.is_null() {
                self.fields.last(key, value);
            }
            return;
        };
        let text = text.to_str();
        match key {
            "id" => draft.id("the completion", &text),
            "model" => draft.model(&text),
            _ => {
                draft.stop(0, &text);
                draft.end();
            }
        }
        draft.carry(&mut self.fields, key, value, Map::last_filled);
    }

    /// Writes the plain completion.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            fields.map(&self.fields);
            if !self.fields.has("completion") {
                fields.node("completion", &Node::Part(self.part));
            }
            if !self.fields.has("stop_reason") {
                fields.node("stop_reason", &Node::null());
            }
        });
    }
}
