//! `reasoning_details`, as `OpenRouter` and `MiniMax` send them (`FORMATS.md` A.4.3).

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::choice::How;

/// The rank of these texts among the places that reasoning comes in: the last.
const RANK: u8 = 5;

/// What a detail costs of the text limit beyond its bytes.
const DETAIL: usize = 256;

/// The details so far.
#[derive(Debug, Default)]
pub(super) struct Details {
    items: Vec<Detail>,
    /// The places of those with an index, by index and type.
    places: BTreeMap<(u64, String), usize>,
}

#[derive(Debug)]
struct Detail {
    kind: String,
    index: Option<u64>,
    fields: Map,
    text: Option<PartId>,
}

impl Details {
    /// Whether none came.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Reads the list of a delta or of a message.
    pub(super) fn read(&mut self, output: u64, value: Json<'_>, draft: &mut Draft, how: How) {
        if how == How::Snapshot && !self.items.is_empty() {
            return;
        }
        for item in value.items().unwrap_or_default() {
            if let Some(fields) = item.object() {
                self.item(output, &fields, draft);
            }
        }
    }

    fn item(&mut self, output: u64, fields: &Object<'_>, draft: &mut Draft) {
        let kind = fields.str("type").unwrap_or_default().into_owned();
        let index = fields.get("index").and_then(Json::index);
        let last = self.items.last().filter(|last| last.kind == kind && last.index.is_none());
        let known = match index {
            Some(index) => self.places.get(&(index, kind.clone())).copied(),
            None if kind == "reasoning.text" => last.map(|_| self.items.len() - 1),
            None => None,
        };
        let at = match known {
            Some(at) => at,
            None if !draft.admit(DETAIL) => return,
            None => {
                let at = self.items.len();
                if let Some(index) = index {
                    self.places.insert((index, kind.clone()), at);
                }
                self.items.push(Detail { kind, index, fields: Map::default(), text: None });
                at
            }
        };
        if let Some(detail) = self.items.get_mut(at) {
            fields.iter().for_each(|(key, value)| detail.field(output, key, value, draft));
        }
    }

    /// Writes the list.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.array(|items| {
            for detail in &self.items {
                items.item(|value| value.object(|fields| fields.map(&detail.fields)));
            }
        });
    }
}

impl Detail {
    fn field(&mut self, output: u64, key: &str, value: Json<'_>, draft: &mut Draft) {
        match (key, value.text()) {
            ("text" | "summary", Some(text)) => {
                if text.is_empty() && self.text.is_none() {
                    self.fields.last(key, value);
                    return;
                }
                let part = *self.text.get_or_insert_with(|| {
                    let part = draft.part(output, PartKind::Reasoning);
                    draft.get_mut(part).rank = RANK;
                    part
                });
                self.fields.set(key, Node::Part(part));
                draft.append(part, &text);
            }
            ("signature" | "format", _) => draft.carry(&mut self.fields, key, value, Map::first),
            _ => draft.carry(&mut self.fields, key, value, Map::last),
        }
    }
}
