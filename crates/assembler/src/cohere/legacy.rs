//! The stream of v1: texts on the way, and the whole response in the last event.

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, PartId, PartKind},
    failure::Fault,
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{array, count_tokens, string};

/// What a call costs of the text limit beyond its bytes.
const CALL: usize = 256;

/// Lists that events add to, and that the response has under the same name.
const LISTS: &[&str] = &["citations", "search_queries", "search_results", "documents"];

/// What the events have built so far.
#[derive(Default)]
pub(super) struct Legacy {
    head: Map,
    text: Option<PartId>,
    calls: BTreeMap<u64, PartId>,
    /// The response of the last event.
    response: Option<Node>,
}

impl Legacy {
    pub(super) fn event(
        &mut self,
        kind: &str,
        json: Json<'_>,
        event: &Object<'_>,
        draft: &mut Draft,
    ) {
        match kind {
            "stream-start" => draft.start(),
            "text-generation"
            | "tool-calls-chunk"
            | "tool-calls-generation"
            | "citation-generation"
            | "search-queries-generation"
            | "search-results"
            | "stream-end" => {}
            "debug" => return draft.not_assembled("debug"),
            _ => return draft.unknown(kind),
        }
        draft.output(0);
        for (key, value) in event.iter() {
            match key {
                "generation_id" => {
                    if let Some(id) = string(key, value, draft) {
                        draft.id("the response", &id);
                        self.head.first_filled(key, value);
                    }
                }
                // Beside whole calls it is the text that came in pieces before them.
                "text" if kind != "tool-calls-generation" || self.text.is_none() => {
                    self.append(value, draft);
                }
                "tool_call_delta" => self.call_delta(value, draft),
                "tool_calls" => self.whole_calls(value, draft),
                "finish_reason" => {
                    if let Some(reason) = string(key, value, draft) {
                        draft.stop(0, &reason);
                        self.head.last_filled(key, value);
                    }
                }
                "response" => match value.object() {
                    Some(response) => {
                        self.settle(&response, draft);
                        if draft.admit(value.raw().len()) {
                            self.response = Some(value.into());
                        }
                        draft.rest_on_final();
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "an object", value),
                },
                _ if LISTS.contains(&key) => {
                    if value.is_array() {
                        draft.extend(&mut self.head, key, value);
                    } else if !value.is_null() {
                        draft.bad_field(key, "an array", value);
                    }
                }
                "event_type" | "is_finished" | "text" => {}
                _ => draft.carry(&mut self.head, key, value, Map::last),
            }
        }
        if kind == "stream-end" {
            draft.end();
            if draft.reason(0).is_some_and(|reason| reason.starts_with("ERROR")) {
                draft.fail(Fault::of_object(json));
            }
        }
    }

    /// The whole response, in the last event or as a plain body: what it holds replaces what came.
    pub(super) fn settle(&mut self, response: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        for (key, value) in response.iter() {
            match key {
                "generation_id" => draft.id("the response", &value.str().unwrap_or_default()),
                "text" => {
                    if let Some(text) = value.text().filter(|text| !text.is_empty()) {
                        let part = self.part(draft);
                        draft.replace(part, &text);
                    }
                }
                "tool_calls" => self.whole_calls(value, draft),
                "finish_reason" => draft.stop(0, &value.str().unwrap_or_default()),
                "meta" => count_tokens(key, value, draft),
                _ => {}
            }
        }
    }

    fn part(&mut self, draft: &mut Draft) -> PartId {
        *self.text.get_or_insert_with(|| draft.part(0, PartKind::Text))
    }

    fn append(&mut self, value: Json<'_>, draft: &mut Draft) {
        match value.text() {
            Some(text) if !text.is_empty() => {
                let part = self.part(draft);
                draft.append(part, &text);
            }
            None if !value.is_null() => draft.bad_field("text", "a string", value),
            _ => {}
        }
    }

    fn call(&mut self, index: u64, draft: &mut Draft) -> Option<PartId> {
        if let Some(part) = self.calls.get(&index) {
            return Some(*part);
        }
        draft.admit(CALL).then(|| {
            let part = draft.part(0, PartKind::Call);
            draft.get_mut(part).order = index;
            self.calls.insert(index, part);
            part
        })
    }

    /// A piece of a call: its name, or text of its parameters.
    fn call_delta(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(delta) = value.object() else {
            if !value.is_null() {
                draft.bad_field("tool_call_delta", "an object", value);
            }
            return;
        };
        let index = delta.some("index").and_then(Json::index).unwrap_or(0);
        let Some(part) = self.call(index, draft) else { return };
        draft.call_name(part, &delta.str("name").unwrap_or_default());
        if let Some(text) = delta.get("parameters").and_then(Json::text) {
            draft.append(part, &text);
        }
    }

    /// Whole calls, in their order.
    fn whole_calls(&mut self, value: Json<'_>, draft: &mut Draft) {
        for (index, item) in (0..).zip(array("tool_calls", value, draft)) {
            let Some(call) = item.object() else {
                draft.bad_field("tool_calls[]", "an object", item);
                continue;
            };
            let Some(part) = self.call(index, draft) else { return };
            draft.call_name(part, &call.str("name").unwrap_or_default());
            match call.some("parameters") {
                Some(parameters) if parameters.is_object() => draft.call_object(part, parameters),
                Some(parameters) => {
                    draft.bad_field("tool_calls[].parameters", "an object", parameters);
                }
                None => {}
            }
        }
    }

    /// Writes the plain body: the one that came, or what is known of it.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        if let Some(response) = &self.response {
            return out.node(response);
        }
        if !out.draft().has_outputs() {
            return;
        }
        out.object(|body| {
            body.field("text", |value| match self.text {
                Some(part) => value.part(part),
                None => value.string(""),
            });
            body.map(&self.head);
            if !self.calls.is_empty() {
                body.field("tool_calls", |value| {
                    value.array(|calls| {
                        for part in self.calls.values() {
                            calls.item(|value| write_call(*part, value));
                        }
                    });
                });
            }
        });
    }
}

fn write_call(part: PartId, out: &mut Writer<'_>) {
    let name = out.draft().get(part).call.name.as_deref();
    out.object(|call| {
        call.field("name", |value| value.string_or_null(name));
        call.field("parameters", |value| value.part_json(part));
    });
}
