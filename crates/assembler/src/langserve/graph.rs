//! The state of a graph: what `values` and `updates` bring.

use std::collections::HashSet;

use crate::{
    draft::Draft,
    json::{Json, Object},
    response::Fields,
};

use super::{How, message, messages::Messages};

/// The state so far.
#[derive(Default)]
pub(super) struct Graph {
    came: bool,
    /// The newest state of the graph itself, not of a part of it.
    state: Option<Box<str>>,
    /// So much of the text limit it takes.
    held: usize,
    /// The messages that the run began with, by their ids or else their places.
    history: HashSet<String>,
    begun: bool,
}

impl Graph {
    /// An event of a graph came.
    pub(super) fn come(&mut self, draft: &mut Draft) {
        self.came = true;
        draft.remark("derived, as its plain twin has the state only");
    }

    pub(super) fn came(&self) -> bool {
        self.came
    }

    /// The whole state, CUM. What the first one holds of the model was said before.
    pub(super) fn state(
        &mut self,
        value: Json<'_>,
        is_root: bool,
        messages: &mut Messages,
        draft: &mut Draft,
    ) {
        self.came = true;
        let list = value.get("messages").and_then(Json::items).unwrap_or_default();
        let first = is_root && !self.begun;
        self.begun |= is_root;
        for (at, json) in (0..).zip(list) {
            let id = message::id_of(json).unwrap_or_else(|| format!("#{at}"));
            if first && message::is_answer(json) && !messages.knows(&id) && draft.admit(id.len()) {
                self.history.insert(id);
            } else if !self.history.contains(&id) {
                messages.take(("values", at), json, How::Final, draft);
            }
        }
        if is_root {
            self.keep(value, draft);
            draft.note("state");
            draft.ends_with_body();
        }
    }

    /// What each node changed: its messages are whole.
    pub(super) fn updates(&mut self, value: Json<'_>, messages: &mut Messages, draft: &mut Draft) {
        self.came = true;
        for (node, change) in value.object().unwrap_or_default().iter() {
            let changed = change.get("messages");
            let list =
                changed.and_then(Json::items).unwrap_or_else(|| changed.into_iter().collect());
            for (at, json) in (0..).zip(list) {
                messages.take(("updates", at), json, How::Final, draft);
            }
            draft.note(node);
        }
        draft.ends_with_body();
    }

    /// The body ended. If nothing but one state came, its end is the answer.
    pub(super) fn finish(&mut self, messages: &mut Messages, draft: &mut Draft) {
        let Some(state) = self.state.clone().filter(|_| messages.is_empty()) else { return };
        let list = Json::from_known(&state).get("messages").and_then(Json::items);
        let list = list.unwrap_or_default();
        let asked = list.iter().rposition(|json| message::is_question(*json));
        for (at, json) in (0..).zip(list).skip(asked.map_or(0, |at| at + 1)) {
            messages.take(("values", at), json, How::Final, draft);
        }
    }

    pub(super) fn write(&self, fields: &mut Fields<'_, '_>) {
        if let Some(state) = &self.state {
            fields.field("values", |value| value.json(Json::from_known(state)));
        }
    }

    fn keep(&mut self, value: Json<'_>, draft: &mut Draft) {
        let more = value.raw().len().saturating_sub(self.held);
        if draft.admit(more) {
            self.held += more;
            self.state = Some(value.compact());
        }
    }
}

/// The run as a whole began, ended or failed, or a part of it did.
pub(super) fn lifecycle(data: &Object<'_>, is_root: bool, draft: &mut Draft) {
    let event = data.str("event").unwrap_or_default();
    match &*event {
        "completed" | "interrupted" if is_root => draft.end(),
        "failed" | "error" if is_root => {
            let error = data.get("error").filter(|error| error.is_truthy());
            let fault = error.map_or_else(
                || crate::failure::Fault::of_object(Json::from_known("\"the run failed\"")),
                crate::failure::Fault::of_object,
            );
            draft.fail(fault);
        }
        _ => draft.note(&event),
    }
}
