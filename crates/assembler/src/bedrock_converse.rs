//! Bedrock `ConverseStream` (`FORMATS.md` H6).

mod block;
mod words;

use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    draft::{Draft, Key, Tokens},
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    node::Map,
    response::Writer,
};

use block::{Block, Shape};

pub(crate) use words::{ERRORS, REASONS};

pub(crate) const FORMAT: Format = Format {
    name: "bedrock-converse",
    title: "Bedrock Converse",
    rules: RULES,
    reasons: REASONS,
    errors: ERRORS,
    start: || Box::<Converse>::default(),
};

pub(crate) const RULES: Rules = Rules {
    unit: "message",
    end: "`messageStop`",
    start: Some("`messageStart`"),
    sentinel: Sentinel::Unknown,
    deltas: true,
    reasons: true,
    usage: true,
    ..Rules::NONE
};

/// The members of the stream's union.
const EVENTS: &[&str] = &[
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
];

/// What a block costs of the text limit beyond its bytes.
const BLOCK: usize = 512;

/// A message that grows by events.
#[derive(Default)]
pub(crate) struct Converse {
    /// The response's fields beside `output` and `stopReason`, in first-seen order; `usage` holds a place
    /// only.
    fields: Map,
    role: Option<Box<str>>,
    /// Anything of the message came.
    came: bool,
    blocks: BTreeMap<u64, Block>,
}

impl Assembler for Converse {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        match (event.name(), &event.object) {
            (Some(name), Some(payload)) => self.event(name, payload, draft),
            (Some(name), None) => draft.bad_field(name, "an object", event.json),
            (None, Some(wrapper)) if is_wrapper(wrapper) => self.wrapped(wrapper, draft),
            (None, _) => draft.unknown(&crate::candidate::name_of(event)),
        }
    }

    fn passes_end(&self, event: &Event<'_>) -> bool {
        let has_metadata = |wrapper: &Object<'_>| wrapper.has("metadata") || !is_event(wrapper);
        match event.name() {
            Some(name) => name == "metadata",
            None => event.object.as_ref().is_some_and(|it| is_wrapper(it) && has_metadata(it)),
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        let message = body.get("output").and_then(|output| output.get("message"));
        let message = message.and_then(Json::object).unwrap_or_default();
        draft.role(0, &message.str("role").unwrap_or_default());
        for (index, item) in
            (0..).zip(message.get("content").and_then(Json::items).unwrap_or_default())
        {
            if let Some(item) = item.object() {
                self.blocks.insert(index, Block::whole(index, &item, draft));
            }
        }
        draft.stop(0, &body.str("stopReason").unwrap_or_default());
        if let Some(usage) = body.get("usage") {
            self.usage(usage, draft);
        }
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        if draft.has_outputs() {
            draft.role(0, "assistant");
        }
        // Blocks that nothing opened had to be closed only once the message stopped.
        if !draft.has_ended() {
            let implicit = self.blocks.iter().filter(|(_, block)| block.implicit());
            for (index, _) in
                implicit.filter(|(index, _)| draft.is_open(&key_of(**index))).collect::<Vec<_>>()
            {
                draft.close(&key_of(*index));
            }
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.came {
            return;
        }
        let draft = out.draft();
        out.object(|fields| {
            fields.field("output", |value| {
                value.object(|output| output.field("message", |value| self.write_message(value)));
            });
            fields.field("stopReason", |value| value.string_or_null(draft.reason(0)));
            for (key, node) in self.fields.iter() {
                match (key, &draft.usage) {
                    ("usage", Some((_, usage))) => fields.node(key, usage),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}

impl Converse {
    /// An event inside an object that has its name for a key, as `InvokeModel` streams of Nova have it.
    fn wrapped(&mut self, wrapper: &Object<'_>, draft: &mut Draft) {
        for (key, value) in wrapper.iter() {
            match value.object() {
                Some(payload) if EVENTS.contains(&key) => self.event(key, &payload, draft),
                None if EVENTS.contains(&key) => draft.bad_field(key, "an object", value),
                _ => draft.carry(&mut self.fields, key, value, Map::last),
            }
        }
    }

    fn event(&mut self, name: &str, payload: &Object<'_>, draft: &mut Draft) {
        let known: &[&str] = match name {
            "messageStart" => {
                self.start(payload, draft);
                &["role"]
            }
            "contentBlockStart" => {
                self.block_start(payload, draft);
                &["contentBlockIndex", "start"]
            }
            "contentBlockDelta" => {
                self.block_delta(payload, draft);
                &["contentBlockIndex", "delta"]
            }
            "contentBlockStop" => {
                self.block_stop(payload, draft);
                &["contentBlockIndex"]
            }
            "messageStop" => {
                let reason = text_of("stopReason", payload.get("stopReason"), draft);
                draft.output(0);
                draft.stop(0, &reason.unwrap_or_default().to_str());
                draft.end();
                &["stopReason"]
            }
            "metadata" => {
                if let Some(usage) = payload.get("usage") {
                    self.usage(usage, draft);
                }
                &["usage"]
            }
            _ => return draft.unknown(name),
        };
        self.came = true;
        // `p` is padding.
        for (key, value) in payload.iter().filter(|(key, _)| *key != "p" && !known.contains(key)) {
            draft.carry(&mut self.fields, key, value, Map::set_json);
        }
    }

    fn start(&mut self, payload: &Object<'_>, draft: &mut Draft) {
        if draft.started {
            draft.start_over(&Key::Index("message", 0));
            *self = Self::default();
        }
        draft.start();
        let role = text_of("role", payload.get("role"), draft).unwrap_or_default();
        draft.output(0);
        draft.role(0, &role.to_str());
        self.role = Some((*role.to_str()).into());
    }

    fn usage(&mut self, value: Json<'_>, draft: &mut Draft) {
        match value.object() {
            Some(usage) => draft.usage(tokens(&usage), value),
            None if value.is_null() => return,
            None => return draft.bad_field("usage", "an object", value),
        }
        self.fields.last("usage", Json::NULL);
    }

    fn block_start(&mut self, payload: &Object<'_>, draft: &mut Draft) {
        let Some(index) = index_of(payload, draft) else { return };
        let value = payload.get("start");
        let Some(start) = value.and_then(Json::object) else {
            return draft.bad_field("start", "an object", value);
        };
        if self.blocks.contains_key(&index) || draft.admit(BLOCK) {
            let block = Block::open(index, &start, draft);
            if block.shape() == Shape::Unknown {
                start.iter().for_each(|(field, _)| draft.not_assembled(&format!("start.{field}")));
            }
            self.blocks.insert(index, block);
        }
    }

    fn block_delta(&mut self, payload: &Object<'_>, draft: &mut Draft) {
        let Some(index) = index_of(payload, draft) else { return };
        let value = payload.get("delta");
        let Some(delta) = value.and_then(Json::object) else {
            return draft.bad_field("delta", "an object", value);
        };
        for (field, value) in delta.iter() {
            let Some(shape) = Shape::of_delta(field, value) else {
                draft.not_assembled(&format!("delta.{field}"));
                continue;
            };
            if let Some(block) = self.open_block(index, shape, draft) {
                block.delta(field, value, draft);
            }
        }
    }

    /// The block that a delta of this shape goes to. Apart from tools, a delta opens its block.
    fn open_block(&mut self, index: u64, shape: Shape, draft: &mut Draft) -> Option<&mut Block> {
        let key = key_of(index);
        let block = match self.blocks.entry(index) {
            Entry::Vacant(_) if shape == Shape::Tool => {
                draft.unstarted(&key);
                return None;
            }
            Entry::Vacant(free) => {
                let admitted = draft.admit(BLOCK);
                return admitted.then(|| free.insert(Block::implied(index, shape, draft)));
            }
            Entry::Occupied(known) => known.into_mut(),
        };
        draft.opened(&key)?;
        if block.becomes(shape, draft) {
            return Some(block);
        }
        draft.not_assembled(&format!("{} on a {} block", shape.name(), block.shape().name()));
        None
    }

    /// A stop alone is a text block with nothing in it.
    fn block_stop(&mut self, payload: &Object<'_>, draft: &mut Draft) {
        let Some(index) = index_of(payload, draft) else { return };
        let Some(block) = self.blocks.get(&index) else { return };
        if draft.close(&key_of(index)).is_some() {
            block.close(draft, &self.blocks);
        }
    }

    fn write_message(&self, out: &mut Writer<'_>) {
        out.object(|message| {
            message.string("role", self.role.as_deref().unwrap_or("assistant"));
            message.field("content", |value| {
                value.array(|items| {
                    for (index, block) in &self.blocks {
                        if block.shape() != Shape::Unknown {
                            items.item(|value| block.write(*index, value));
                        }
                    }
                });
            });
        });
    }
}

fn is_event(object: &Object<'_>) -> bool {
    object.iter().any(|(key, _)| EVENTS.contains(&key))
}

/// Whether an object holds an event under its name, or what Bedrock says beside one.
pub(crate) fn is_wrapper(object: &Object<'_>) -> bool {
    is_event(object)
        || (!object.is_empty() && object.iter().all(|(key, _)| key.starts_with("amazon-bedrock-")))
}

fn key_of(index: u64) -> Key {
    Key::Index("block", index)
}

fn index_of(payload: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    let value = payload.get("contentBlockIndex");
    let index = value.and_then(Json::index);
    if index.is_none() {
        draft.bad_field("contentBlockIndex", "an integer from 0 to 2147483647", value);
    }
    index
}

/// A text member; of another type it is reported. `None` if there is none.
fn text_of<'a>(
    field: &str,
    value: Option<Json<'a>>,
    draft: &mut Draft,
) -> Option<crate::text::Str<'a>> {
    let value = value.filter(|value| !value.is_null())?;
    let text = value.text();
    if text.is_none() {
        draft.bad_field(field, "a string", value);
    }
    text
}

fn tokens(usage: &Object<'_>) -> Tokens {
    Tokens {
        input: usage.u64("inputTokens"),
        output: usage.u64("outputTokens"),
        total: usage.u64("totalTokens"),
        cached: usage.u64("cacheReadInputTokens").or_else(|| usage.u64("cacheReadInputTokenCount")),
        reasoning: None,
    }
}
