//! One candidate: its own fields and its content (`FORMATS.md` D.3).

use std::collections::{HashMap, HashSet};

use crate::{
    draft::Draft,
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{camel, is_set, parts::Parts};

/// A candidate of the answer.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    /// The candidate's fields; `content` holds a place only.
    fields: Map,
    /// The content's fields; `parts` holds a place only. `None`: no object came.
    content: Option<Map>,
    parts: Parts,
    /// Where the rating of a category stands among the safety ratings.
    ratings: HashMap<String, usize>,
    /// The citations so far.
    citations: HashSet<Box<str>>,
}

impl Candidate {
    /// Reads a candidate of a frame.
    pub(super) fn read(&mut self, index: u64, candidate: &Object<'_>, draft: &mut Draft) {
        for (key, value) in candidate.iter() {
            match &*camel(key) {
                "content" => self.content(index, value, draft),
                "finishReason" => self.reason(index, key, value, draft),
                "finishMessage" => draft.carry(&mut self.fields, key, value, Map::last_filled),
                "safetyRatings" => self.ratings(key, value, draft),
                "citationMetadata" => self.citations(key, value, draft),
                "groundingMetadata" => draft.carry(&mut self.fields, key, value, Map::merge),
                "urlContextMetadata" if value.is_blank() && self.fields.has(key) => {}
                "logprobsResult" => self.logprobs(key, value, draft),
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    fn content(&mut self, index: u64, value: Json<'_>, draft: &mut Draft) {
        self.fields.last("content", Json::NULL);
        let Some(content) = value.object() else {
            if !value.is_null() {
                draft.bad_field("candidates[].content", "an object", value);
            }
            return;
        };
        let known = self.content.get_or_insert_default();
        for (key, value) in content.iter() {
            match (key, value.items()) {
                ("role", _) if value.is_string() || value.is_null() => {
                    draft.role(index, &value.str().unwrap_or_default());
                    known.first_filled(key, value);
                }
                ("role", _) => draft.bad_field("content.role", "a string", value),
                ("parts", Some(parts)) => {
                    known.last(key, Json::NULL);
                    for part in parts {
                        self.parts.read(index, part, draft);
                    }
                }
                ("parts", None) if value.is_null() => {}
                ("parts", None) => draft.bad_field("content.parts", "an array", value),
                _ if value.is_null() => {}
                _ => draft.not_assembled(&format!("content.{key}")),
            }
        }
    }

    /// LAST, but the unused default is none. A number is shown as it is: the two protos count differently.
    fn reason(&mut self, index: u64, key: &str, value: Json<'_>, draft: &mut Draft) {
        match value.str() {
            Some(reason) if is_set(&reason) => {
                draft.stop(index, &reason);
                self.fields.set(key, value);
            }
            Some(_) => {}
            None if value.is_number() && value.u64() == Some(0) => {}
            None if value.is_number() => {
                draft.stop(index, value.raw());
                self.fields.set(key, value);
            }
            None if value.is_null() => self.fields.last(key, value),
            None => draft.bad_field("candidates[].finishReason", "a string", value),
        }
    }

    /// Of every category the newest.
    fn ratings(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let Some(ratings) = value.items() else {
            draft.carry(&mut self.fields, key, value, Map::last);
            return;
        };
        let known = self.fields.entry(key).array();
        for rating in ratings {
            if !draft.admit(rating.raw().len()) {
                return;
            }
            let category = rating.get("category").and_then(Json::str).unwrap_or_default();
            let at = *self.ratings.entry(category.into_owned()).or_insert(known.len());
            match known.get_mut(at) {
                Some(known) => *known = Node::from(rating),
                None => known.push(Node::from(rating)),
            }
        }
    }

    /// The lists inside are continued; exact repeats are left out, since some servers send all of them
    /// again.
    fn citations(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let Some(metadata) = value.object() else {
            draft.carry(&mut self.fields, key, value, Map::last);
            return;
        };
        let known = self.fields.entry(key).object();
        for (key, value) in metadata.iter() {
            let Some(citations) = value.items() else {
                draft.carry(known, key, value, Map::last);
                continue;
            };
            let list = known.entry(key).array();
            for citation in citations {
                let size = 2 * citation.raw().len();
                if draft.admit(size) && self.citations.insert(citation.compact()) {
                    list.push(Node::from(citation));
                }
            }
        }
    }

    /// The lists are continued, the sum is the newest.
    fn logprobs(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let Some(result) = value.object() else {
            draft.carry(&mut self.fields, key, value, Map::last);
            return;
        };
        let known = self.fields.entry(key).object();
        for (key, value) in result.iter() {
            if value.is_array() {
                draft.extend(known, key, value);
            } else {
                draft.carry(known, key, value, Map::last);
            }
        }
    }

    /// The body ended.
    pub(super) fn finish(&mut self, draft: &mut Draft) {
        self.parts.finish(draft);
    }

    /// Writes the candidate of the plain response.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                match (key, &self.content) {
                    ("content", Some(content)) => {
                        fields.field(key, |value| self.write_content(content, value));
                    }
                    _ => fields.node(key, node),
                }
            }
        });
    }

    fn write_content(&self, content: &Map, out: &mut Writer<'_>) {
        out.object(|fields| {
            for (key, node) in content.iter() {
                match key {
                    "parts" => fields.field(key, |value| self.parts.write(value)),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}
