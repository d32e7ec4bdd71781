//! What chunks of Chat Completions and of Completions have at the top (`FORMATS.md` A.2, A.6).

use crate::{
    draft::{Draft, Tokens},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
};

/// The top-level fields, apart from `object` and `choices`.
#[derive(Debug, Default)]
pub(crate) struct Head {
    fields: Map,
    usage_seen: bool,
}

impl Head {
    /// Reads a field.
    pub(crate) fn field(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let head = &mut self.fields;
        match key {
            "object" | "obfuscation" | "error" => {}
            "id" => match value.str() {
                // Mistral's SDK prints a missing id as a string.
                Some(id) if id == "null" => {}
                Some(id) => {
                    draft.id("the response", &id);
                    head.first_filled(key, value);
                }
                None if value.is_null() => head.first_filled(key, value),
                None => draft.bad_field(key, "a string", value),
            },
            "model" => match value.str() {
                Some(model) => {
                    draft.model(&model);
                    head.last_filled(key, value);
                }
                None if value.is_null() => head.last_filled(key, value),
                None => draft.bad_field(key, "a string", value),
            },
            "created" if value.is_null() || value.is_number() => {
                let vacant = |node: &Node| node.is_null() || node.u64() == Some(0);
                if head.get(key).is_none_or(vacant) {
                    head.last(key, value);
                }
            }
            "created" => draft.bad_field(key, "a number", value),
            "usage" => self.usage(value, draft),
            "prompt_filter_results" | "prompt_annotations" => {
                if !value.is_blank() || !head.has(key) {
                    draft.carry(head, key, value, Map::set_json);
                }
            }
            _ => draft.carry(head, key, value, Map::last),
        }
    }

    /// CUM: the newest object is the count.
    pub(crate) fn usage(&mut self, value: Json<'_>, draft: &mut Draft) {
        self.usage_seen = true;
        match value.object() {
            Some(usage) => draft.usage(tokens(&usage), value),
            None if value.is_null() => {}
            None => draft.bad_field("usage", "an object", value),
        }
    }

    /// MERGE, for vendors that send a field in pieces.
    pub(super) fn merge(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        draft.carry(&mut self.fields, key, value, Map::merge);
    }

    /// Writes the plain response: these fields around `choices`.
    pub(crate) fn write(
        &self,
        object: &str,
        out: &mut Writer<'_>,
        choices: impl FnOnce(&mut Writer<'_>),
    ) {
        out.object(|fields| {
            if let Some(id) = self.fields.get("id") {
                fields.node("id", id);
            }
            fields.string("object", object);
            for (key, node) in self.fields.iter().filter(|(key, _)| *key != "id") {
                fields.node(key, node);
            }
            fields.field("choices", choices);
            self.write_usage(fields);
        });
    }

    fn write_usage(&self, fields: &mut Fields<'_, '_>) {
        match fields.draft().usage.as_ref() {
            Some((_, usage)) => fields.node("usage", usage),
            None if self.usage_seen => fields.field("usage", Writer::null),
            None => {}
        }
    }
}

/// A choice's index; missing means 0. A bad one is reported, and its choice not read.
pub(crate) fn choice_index(fields: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    match fields.some("index") {
        None => Some(0),
        Some(index) => index.index().or_else(|| {
            draft.bad_field("choices[].index", "an integer from 0 to 2147483647", index);
            None
        }),
    }
}

fn tokens(usage: &Object<'_>) -> Tokens {
    let detail = |object: &str, key: &str| usage.get(object)?.get(key)?.u64();
    Tokens {
        input: usage.u64("prompt_tokens"),
        output: usage.u64("completion_tokens"),
        total: usage.u64("total_tokens"),
        cached: detail("prompt_tokens_details", "cached_tokens")
            .or_else(|| usage.u64("prompt_cache_hit_tokens")),
        reasoning: detail("completion_tokens_details", "reasoning_tokens"),
    }
}
