//! The tool calls of a message.

use std::collections::HashMap;

use crate::{
    draft::{Draft, Hint, PartId, PartKind},
    json::{Json, Object},
    response::Writer,
};

use super::How;

/// What a call costs of the text limit beyond its bytes.
const CALL: usize = 512;

/// The calls of a message.
pub(super) struct Calls {
    output: u64,
    list: Vec<PartId>,
    /// Which call an index, as it came, stands for now.
    by_index: HashMap<String, usize>,
    by_id: HashMap<String, usize>,
    /// The calls that got an id since somebody asked.
    late: Vec<usize>,
}

impl Calls {
    pub(super) fn new(output: u64) -> Self {
        Self {
            output,
            list: Vec::new(),
            by_index: HashMap::new(),
            by_id: HashMap::new(),
            late: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The calls of a message or of a piece of one: pieces with the arguments' text, or all of them as objects.
    pub(super) fn read(&mut self, message: &Object<'_>, how: How, draft: &mut Draft) {
        let list = |key: &str| message.get(key).and_then(Json::items).unwrap_or_default();
        let (calls, chunks) = (list("tool_calls"), list("tool_call_chunks"));
        if how.adds() && !chunks.is_empty() || calls.is_empty() {
            for chunk in chunks {
                if let Some(chunk) = chunk.object() {
                    self.chunk(&chunk, how, draft);
                }
            }
            return;
        }
        for (at, call) in calls.into_iter().enumerate() {
            let Some(call) = call.object() else {
                draft.bad_field("tool_calls[]", "an object", call);
                continue;
            };
            let id = call.str("id").unwrap_or_default();
            let place = self.by_id.get(&*id).copied();
            let place = place.or_else(|| (at < self.list.len()).then_some(at));
            if let Some(place) = place.or_else(|| self.push(draft)) {
                self.name(place, &call, draft);
                self.whole(place, call.get("args").unwrap_or(Json::NULL), draft);
            }
        }
    }

    fn chunk(&mut self, chunk: &Object<'_>, how: How, draft: &mut Draft) {
        let id = chunk.str("id").unwrap_or_default();
        let index = chunk.some("index").map(Json::raw);
        let by_id = self.by_id.get(&*id).copied();
        let place = match index.and_then(|index| self.by_index.get(index)).copied() {
            Some(known) if by_id.is_none() && self.is_another(known, &id, draft) => None,
            Some(known) => by_id.or(Some(known)),
            None if index.is_some() || !id.is_empty() => by_id,
            None => self.list.len().checked_sub(1),
        };
        let Some(place) = place.or_else(|| self.push(draft)) else { return };
        if let Some(index) = index {
            self.by_index.insert(index.to_owned(), place);
        }
        self.name(place, chunk, draft);
        let Some(part) = self.list.get(place).copied() else { return };
        let text = chunk.get("args").and_then(Json::text).unwrap_or_default();
        match how {
            How::Delta => draft.append(part, &text),
            How::Guess { snapshot } => {
                draft.hinted(part, &text, "the arguments", Hint { snapshot, tokens: None });
            }
            How::Snapshot | How::Final => draft.replace(part, &text),
        }
    }

    /// Whether a call has another id than this one.
    fn is_another(&self, at: usize, id: &str, draft: &Draft) -> bool {
        let known = self.list.get(at).and_then(|part| draft.get(*part).call.id.as_deref());
        !id.is_empty() && known.is_some_and(|known| known != id)
    }

    /// The call at an index, made if it is not there.
    pub(super) fn at(&mut self, index: &str, draft: &mut Draft) -> Option<usize> {
        if let Some(at) = self.known(index) {
            return Some(at);
        }
        let at = self.push(draft)?;
        self.by_index.insert(index.to_owned(), at);
        Some(at)
    }

    /// The call at an index.
    pub(super) fn known(&self, index: &str) -> Option<usize> {
        self.by_index.get(index).copied()
    }

    fn push(&mut self, draft: &mut Draft) -> Option<usize> {
        if !draft.admit(CALL) {
            return None;
        }
        self.list.push(draft.part(self.output, PartKind::Call));
        Some(self.list.len() - 1)
    }

    /// Its id and its tool.
    pub(super) fn name(&mut self, at: usize, call: &Object<'_>, draft: &mut Draft) {
        let Some(part) = self.list.get(at).copied() else { return };
        if let Some(id) = call.filled("id") {
            draft.call_id(part, &id);
            if !self.by_id.contains_key(&*id) {
                self.by_id.insert(id.into_owned(), at);
                self.late.push(at);
            }
        }
        draft.call_name(part, &call.str("name").unwrap_or_default());
    }

    /// A piece of the arguments' text.
    pub(super) fn append(&mut self, at: usize, args: Json<'_>, draft: &mut Draft) {
        if let (Some(part), Some(text)) = (self.list.get(at), args.text()) {
            draft.append(*part, &text);
        }
    }

    /// All of the arguments: as text, or as an object. A text that pieces gave is kept as the model wrote it.
    pub(super) fn whole(&mut self, at: usize, args: Json<'_>, draft: &mut Draft) {
        let Some(part) = self.list.get(at).copied() else { return };
        match args.text() {
            Some(text) => draft.replace(part, &text),
            None if args.is_null() => {}
            None if is_same(&draft.get(part).text.to_escaped(), args) => {
                draft.get_mut(part).call.complete = true;
            }
            None => draft.call_object(part, args),
        }
    }

    /// Nothing more comes for it.
    pub(super) fn close(&mut self, at: usize, draft: &mut Draft) {
        if let Some(part) = self.list.get(at) {
            draft.get_mut(*part).call.complete = true;
        }
    }

    /// Nothing more comes for any of them.
    pub(super) fn close_all(&mut self, draft: &mut Draft) {
        for at in 0..self.list.len() {
            self.close(at, draft);
        }
    }

    /// The calls that got an id since the last time.
    pub(super) fn named(&mut self, draft: &Draft) -> Vec<(String, PartId)> {
        let parts = std::mem::take(&mut self.late).into_iter();
        let parts = parts.filter_map(|at| self.list.get(at).copied());
        parts.filter_map(|part| Some((draft.get(part).call.id.clone()?, part))).collect()
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let draft = out.draft();
        out.array(|items| {
            for part in &self.list {
                let call = &draft.get(*part).call;
                items.item(|value| {
                    value.object(|fields| {
                        fields.field("name", |value| value.string_or_null(call.name.as_deref()));
                        fields.field("args", |value| value.part_json(*part));
                        fields.field("id", |value| value.string_or_null(call.id.as_deref()));
                        fields.string("type", "tool_call");
                    });
                });
            }
        });
    }
}

fn is_same(text: &str, args: Json<'_>) -> bool {
    Json::parse(text).is_ok_and(|known| crate::equal::equal(known, args))
}
