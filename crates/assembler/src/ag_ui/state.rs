//! The state that agent and application share: snapshots, and patches of it.

use crate::{draft::Draft, json::Json, json_patch, node::Node, response};

use super::Fields;

/// What is known of the state.
#[derive(Default)]
pub(super) struct State {
    document: Option<Node>,
    /// A snapshot came, so that patches have to fit.
    is_known: bool,
    /// What it counts for against the bound.
    held: usize,
}

impl State {
    /// A whole state: REPLACE.
    pub(super) fn replace(&mut self, state: Json<'_>, draft: &mut Draft) {
        draft.give_back(std::mem::take(&mut self.held));
        self.is_known = true;
        let bytes = state.raw().len();
        if draft.admit(bytes) {
            self.held = bytes;
            self.document = Some(state.into());
        } else {
            self.document = None;
            self.is_known = false;
        }
        draft.note("state");
    }

    /// JSON Patch operations: all of them or none.
    pub(super) fn patch(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        let Some(patch) = fields.object.get("delta") else {
            return draft.missing_field(&fields.name("delta"), "an array");
        };
        if !draft.admit(patch.raw().len()) {
            return;
        }
        self.held += patch.raw().len();
        let mut document = self.document.take().unwrap_or_else(|| Node::Raw("{}".into()));
        let mut held = 0;
        let done = json_patch::apply(&mut document, patch, &mut |bytes| {
            let admitted = draft.admit(bytes);
            held += if admitted { bytes } else { 0 };
            admitted
        });
        self.held += held;
        match done {
            Ok(()) => self.document = Some(document),
            Err(refused) => {
                self.document = self.is_known.then_some(document);
                if self.is_known {
                    let operation =
                        patch.items().and_then(|items| items.get(refused.operation).copied());
                    let field = format!("STATE_DELTA delta[{}]", refused.operation);
                    draft.bad_field(&field, refused.expected, operation.unwrap_or(patch));
                } else {
                    // The client's own state, which the stream does not tell, may be what it changes.
                    draft.not_assembled("STATE_DELTA before any STATE_SNAPSHOT");
                }
            }
        }
        draft.note("state");
    }

    pub(super) fn write(&self, fields: &mut response::Fields<'_, '_>) {
        if let Some(document) = &self.document {
            fields.node("state", document);
        }
    }
}
