//! The tool calls of a choice.

use std::collections::{BTreeMap, HashMap, btree_map::Entry};

use teeline_finding::Kind;

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
};

use super::Take;

/// What a call costs of the text limit beyond its bytes.
const CALL: usize = 512;

/// The calls of a choice by their indexes.
#[derive(Default)]
pub(super) struct Calls {
    known: BTreeMap<u64, Call>,
    by_id: HashMap<String, u64>,
}

struct Call {
    part: PartId,
    /// The call's fields in first-seen order; `function` holds a place only.
    fields: Map,
    function: Map,
}

impl Calls {
    pub(super) fn read(&mut self, calls: Vec<Json<'_>>, take: Take, draft: &mut Draft) {
        for (at, json) in (0..).zip(calls) {
            let Some(call) = json.object() else {
                draft.bad_field("tool_calls[]", "an object", json);
                continue;
            };
            let index = match call.get("index").and_then(Json::index) {
                Some(index) => index,
                None => self.without_index(at, &call, take.choice, draft),
            };
            let known = match self.known.entry(index) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(_) if !draft.admit(CALL) => return,
                Entry::Vacant(free) => free.insert(Call::new(index, take.choice, draft)),
            };
            known.read(index, &call, take, draft);
            let id = draft.get(known.part).call.id.as_deref().unwrap_or_default();
            if !self.by_id.contains_key(id) {
                self.by_id.insert(id.to_owned(), index);
            }
        }
    }

    /// A call that is known by its id, or else the one at this place of the list; another id begins a new one.
    fn without_index(&self, at: u64, call: &Object<'_>, choice: u64, draft: &mut Draft) -> u64 {
        if !draft.is_document() {
            draft.report_once(&format!("no index {choice}"), Kind::ToolCallNoIndex { choice });
        }
        let Some(id) = call.filled("id") else { return at };
        let at_place = self.known.get(&at).map(|known| draft.get(known.part).call.id.is_some());
        match (self.by_id.get(&*id), at_place) {
            (Some(index), _) => *index,
            (None, Some(true)) => self.known.last_key_value().map_or(at, |(last, _)| last + 1),
            (None, _) => at,
        }
    }

    /// Writes the member, if there is a call that can be answered.
    pub(super) fn write(&self, message: &mut Fields<'_, '_>) {
        let draft = message.draft();
        let is_whole = |call: &&Call| draft.get(call.part).call.missing(true).is_none();
        let whole: Vec<&Call> = self.known.values().filter(is_whole).collect();
        if !whole.is_empty() {
            message.field("tool_calls", |value| {
                value.array(|items| {
                    for call in &whole {
                        items.item(|value| call.write(value));
                    }
                });
            });
        }
    }
}

impl Call {
    fn new(index: u64, choice: u64, draft: &mut Draft) -> Self {
        let part = draft.part(choice, PartKind::Call);
        draft.get_mut(part).order = index;
        Self { part, fields: Map::default(), function: Map::default() }
    }

    fn read(&mut self, index: u64, call: &Object<'_>, take: Take, draft: &mut Draft) {
        for (key, value) in call.iter() {
            match key {
                "id" => match value.str() {
                    Some(id) => {
                        draft.call_id(self.part, &id);
                        self.fields.first_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field("tool_calls[].id", "a string", value),
                },
                "function" => {
                    self.fields.last(key, Json::NULL);
                    self.function(index, value, take, draft);
                }
                _ => draft.carry(&mut self.fields, key, value, Map::last_filled),
            }
        }
    }

    fn function(&mut self, index: u64, value: Json<'_>, take: Take, draft: &mut Draft) {
        let Some(function) = value.object() else {
            if !value.is_null() {
                draft.bad_field("tool_calls[].function", "an object", value);
            }
            return;
        };
        for (key, value) in function.iter() {
            match key {
                "name" => match value.str() {
                    Some(name) => {
                        draft.call_name(self.part, &name);
                        self.function.first_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field("tool_calls[].function.name", "a string", value),
                },
                "arguments" => match value.text() {
                    Some(text) => {
                        self.function.set(key, Node::Part(self.part));
                        let what = format!("the arguments of tool call {index}");
                        draft.hinted(self.part, &text, &what, take.hint);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field("tool_calls[].function.arguments", "a string", value),
                },
                _ => draft.carry(&mut self.function, key, value, Map::last_filled),
            }
        }
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                if key == "function" {
                    fields.field(key, |value| value.object(|inner| inner.map(&self.function)));
                } else {
                    fields.node(key, node);
                }
            }
        });
    }
}
