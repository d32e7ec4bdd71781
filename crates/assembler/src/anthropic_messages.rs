//! Anthropic Messages events and their relatives (`FORMATS.md` C).

mod block;
mod completion;
mod words;

use std::collections::{BTreeMap, HashMap};

use crate::{
    candidate::name_of,
    draft::{Draft, Key, Tokens},
    failure::Fault,
    format::{Assembler, Event, EventLine, Format, Rules, Sentinel},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
};

use block::Block;
use completion::Completion;

pub(crate) const FORMAT: Format = Format {
    name: "anthropic-messages",
    title: "Anthropic Messages",
    rules: RULES,
    reasons: words::REASONS,
    errors: words::ERRORS,
    start: || Box::<Messages>::default(),
};

pub(crate) const RULES: Rules = Rules {
    unit: "message",
    end: "`message_stop`",
    start: Some("`message_start`"),
    sentinel: Sentinel::Unknown,
    deltas: true,
    reasons: true,
    usage: true,
    ..Rules::NONE
};

/// A listing of a managed agent's events: nothing of a message is asked of it.
const LISTING: Rules = Rules { unit: "event", ..Rules::NONE };

/// What a block costs of the text limit beyond its bytes.
const BLOCK: usize = 512;

/// A message that grows by events, or one of its relatives.
#[derive(Default)]
pub(crate) struct Messages {
    /// The message's fields in first-seen order; `content` and `usage` hold a place only.
    message: Map,
    /// What frames carry beside the message.
    extras: Map,
    started: bool,
    blocks: BTreeMap<u64, Block>,
    /// The names of the provider's own tools, by the ids of their calls.
    tools: HashMap<Box<str>, Box<str>>,
    completion: Option<Completion>,
    listing: bool,
}

impl Assembler for Messages {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let kind = event.kind("type", EventLine::Dispatched, draft);
        let Some(frame) = &event.object else {
            draft.unknown(&name_of(event));
            return;
        };
        match &*kind {
            "message_start" => self.start(frame, draft),
            "content_block_start" => self.block_start(frame, draft),
            "content_block_delta" => self.block_delta(frame, draft),
            "content_block_stop" => self.block_stop(frame, draft),
            "message_delta" => self.delta(frame, draft),
            "message_stop" => {
                self.beside(frame, &[], draft);
                draft.end();
            }
            "ping" => draft.keep_alive(),
            // Its counters repeat those of the message.
            "vertex_event" => draft.note("vertex_event"),
            "error" => draft.fail(Fault::of_event(event)),
            "completion" if !self.started => self.completion(frame, draft),
            "" if !self.started && frame.has("completion") => self.completion(frame, draft),
            kind if is_agent_event(kind) => self.list(kind, draft),
            _ => draft.unknown(&name_of(event)),
        }
    }

    fn passes_end(&self, event: &Event<'_>) -> bool {
        match event.data_type().as_deref().or(event.name()) {
            Some("ping" | "vertex_event") => true,
            Some(kind) => self.listing && is_agent_event(kind),
            None => false,
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        if body.has("completion") {
            self.completion(&body, draft);
            draft.end();
            return;
        }
        if body.str("type").as_deref() == Some("error") {
            return;
        }
        draft.output(0);
        body.iter().for_each(|(key, value)| self.field(key, value, draft));
        for (index, block) in
            (0..).zip(body.get("content").and_then(Json::items).unwrap_or_default())
        {
            self.open(index, Some(block), draft);
            self.close(index, draft);
        }
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        if draft.has_outputs() {
            draft.role(0, "assistant");
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if let Some(completion) = &self.completion {
            completion.write(out);
        } else if self.started || !self.message.is_empty() || !self.blocks.is_empty() {
            out.object(|fields| self.write(fields));
        }
    }
}

/// The message.
impl Messages {
    fn start(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let message = object_of(frame, "message", draft).unwrap_or_default();
        if self.started {
            let id = message.str("id").unwrap_or_default();
            draft.start_over(&Key::Name("message", id.into()));
            *self = Self::default();
        }
        self.started = true;
        draft.start();
        draft.output(0);
        message.iter().for_each(|(key, value)| self.field(key, value, draft));
        if message.get("content").is_some_and(|content| !content.is_blank()) {
            draft.not_assembled("message.content");
        }
        self.beside(frame, &["message"], draft);
    }

    /// A field of the message, as the start event or a plain body has it.
    fn field(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        match key {
            "content" => self.message.last(key, Json::NULL),
            "usage" => self.usage(value, draft),
            "id" | "model" | "role" | "type" | "stop_reason" | "stop_sequence" => {
                self.string(key, value, draft);
            }
            _ => draft.carry(&mut self.message, key, value, Map::last),
        }
    }

    fn string(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        match value.str() {
            Some(text) => match key {
                "id" => draft.id("the message", &text),
                "model" => draft.model(&text),
                "role" => draft.role(0, &text),
                "stop_reason" => draft.stop(0, &text),
                _ => {}
            },
            None if value.is_null() => {}
            None => return draft.bad_field(key, "a string", value),
        }
        draft.carry(&mut self.message, key, value, Map::last_filled);
    }

    fn delta(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        let delta = object_of(frame, "delta", draft).unwrap_or_default();
        for (key, value) in delta.iter() {
            match key {
                "stop_reason" | "stop_sequence" => self.string(key, value, draft),
                "stop_details" | "container" => {
                    draft.carry(&mut self.message, key, value, Map::last);
                }
                _ => draft.not_assembled(&format!("delta.{key}")),
            }
        }
        if let Some(usage) = frame.get("usage") {
            self.usage(usage, draft);
        }
        if let Some(management) = frame.get("context_management") {
            draft.carry(&mut self.message, "context_management", management, Map::last);
        }
        self.beside(frame, &["delta", "usage", "context_management"], draft);
    }

    /// Totals for the whole message: overwritten, never added.
    fn usage(&mut self, value: Json<'_>, draft: &mut Draft) {
        match value.object() {
            Some(usage) => draft.merge_usage(&usage, tokens),
            None if value.is_null() => {}
            None => return draft.bad_field("usage", "an object", value),
        }
        self.message.last("usage", Json::NULL);
    }

    /// What a frame carries beyond its own fields.
    fn beside(&mut self, frame: &Object<'_>, known: &[&str], draft: &mut Draft) {
        for (key, value) in frame.iter().filter(|(key, _)| *key != "type" && !known.contains(key)) {
            draft.carry(&mut self.extras, key, value, Map::last);
        }
    }

    fn completion(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        self.completion.get_or_insert_with(|| Completion::start(draft)).read(frame, draft);
    }

    /// An event of a managed agent's session is listed, nothing is assembled.
    fn list(&mut self, kind: &str, draft: &mut Draft) {
        if !self.started && !std::mem::replace(&mut self.listing, true) {
            draft.set_rules(LISTING);
            draft.set_ended(true);
        }
        draft.not_assembled(kind);
    }

    fn write(&self, message: &mut Fields<'_, '_>) {
        let usage = message.draft().usage.as_ref().map(|(_, raw)| raw);
        let always: &[&str] = if self.started {
            &["type", "role", "content", "stop_reason", "stop_sequence"]
        } else {
            &["type", "role", "content"]
        };
        let unseen = always.iter().filter(|key| !self.message.has(key)).copied();
        let seen = self.message.iter().map(|(key, _)| key);
        // Without its start the message begins with what is always there.
        let (first, second): (Vec<_>, Vec<_>) = (unseen.collect(), seen.collect());
        let order = if self.started { [second, first] } else { [first, second] };
        for key in order.into_iter().flatten() {
            match (key, self.message.get(key)) {
                ("content", _) => message.field(key, |value| self.write_content(value)),
                ("usage", _) => message.field(key, |value| match usage {
                    Some(usage) => value.node(usage),
                    None => value.null(),
                }),
                (_, Some(node)) => message.node(key, node),
                ("type", None) => message.string(key, "message"),
                ("role", None) => message.string(key, "assistant"),
                (_, None) => message.node(key, &Node::null()),
            }
        }
        for (key, node) in self.extras.iter().filter(|(key, _)| !self.message.has(key)) {
            message.node(key, node);
        }
    }

    fn write_content(&self, out: &mut Writer<'_>) {
        out.array(|items| {
            for (index, block) in &self.blocks {
                items.item(|value| block.write(*index, value));
            }
        });
    }
}

/// The blocks.
impl Messages {
    fn block_start(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        if let Some(index) = index_of(frame, draft) {
            self.open(index, frame.get("content_block"), draft);
        }
        self.beside(frame, &["index", "content_block"], draft);
    }

    fn open(&mut self, index: u64, block: Option<Json<'_>>, draft: &mut Draft) {
        let Some(fields) = block.and_then(Json::object) else {
            return draft.bad_field("content_block", "an object", block);
        };
        if !self.blocks.contains_key(&index) && !draft.admit(BLOCK) {
            return;
        }
        self.blocks.insert(index, Block::open(index, &fields, draft, &self.tools));
        if let (Some(id), Some(name)) = (fields.filled("id"), fields.filled("name"))
            && draft.admit(id.len() + name.len())
        {
            self.tools.insert(id.into(), name.into());
        }
        if fields.str("type").as_deref() == Some("fallback")
            && let Some(model) = fields.get("to").and_then(|to| to.get("model"))
        {
            self.string("model", model, draft);
        }
    }

    fn block_delta(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Some(index) = index_of(frame, draft) else { return };
        let Some(delta) = object_of(frame, "delta", draft) else { return };
        if draft.opened(&key_of(index)).is_some()
            && let Some(block) = self.blocks.get(&index)
        {
            block.delta(index, &delta, draft);
        }
        self.beside(frame, &["index", "delta"], draft);
    }

    fn block_stop(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        if let Some(index) = index_of(frame, draft) {
            self.close(index, draft);
        }
        self.beside(frame, &["index"], draft);
    }

    fn close(&self, index: u64, draft: &mut Draft) {
        if draft.close(&key_of(index)).is_some()
            && let Some(block) = self.blocks.get(&index)
        {
            block.close(draft);
        }
    }
}

fn key_of(index: u64) -> Key {
    Key::Index("block", index)
}

fn index_of(frame: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    let value = frame.get("index");
    let index = value.and_then(Json::index);
    if index.is_none() {
        draft.bad_field("index", "an integer from 0 to 2147483647", value);
    }
    index
}

/// An object that a frame has to have.
fn object_of<'a>(frame: &Object<'a>, key: &str, draft: &mut Draft) -> Option<Object<'a>> {
    let value = frame.get(key);
    let object = value.and_then(Json::object);
    if object.is_none() {
        draft.bad_field(key, "an object", value);
    }
    object
}

/// The events of a managed agent's session (`FORMATS.md` C.10).
fn is_agent_event(kind: &str) -> bool {
    ["agent.", "session.", "span.", "user."].iter().any(|prefix| kind.starts_with(prefix))
        || matches!(kind, "event_start" | "event_delta" | "system.message")
}

fn tokens(usage: &Map) -> Tokens {
    let number = |path: &[&str]| usage.get(path.first()?)?.number_at(path.get(1..)?);
    Tokens {
        input: number(&["input_tokens"]),
        output: number(&["output_tokens"]),
        total: None,
        cached: number(&["cache_read_input_tokens"]),
        reasoning: number(&["output_tokens_details", "thinking_tokens"]),
    }
}

/// A text member of an object; of another type it is reported. `None` if there is none.
fn text_of<'a>(field: &str, value: Json<'a>, draft: &mut Draft) -> Option<crate::text::Str<'a>> {
    let text = value.text();
    if text.is_none() && !value.is_null() {
        draft.bad_field(field, "a string", value);
    }
    text
}
