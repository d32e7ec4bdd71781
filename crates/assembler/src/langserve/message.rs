//! One message: pieces of it, or all of it so far.

use std::borrow::Cow;

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{How, calls::Calls, content::Content, usage};

/// What the classes of messages are called: by type, or by the class's own name.
const AI: &[&str] = &["ai", "AIMessage", "AIMessageChunk", "assistant"];
const TOOL: &[&str] = &["tool", "ToolMessage", "ToolMessageChunk"];
const HUMAN: &[&str] = &["human", "HumanMessage", "HumanMessageChunk", "user"];
const OTHERS: &[&str] = &[
    "system",
    "SystemMessage",
    "SystemMessageChunk",
    "function",
    "FunctionMessageChunk",
    "chat",
    "ChatMessageChunk",
    "remove",
];

pub(super) fn is_ai(class: &str) -> bool {
    AI.contains(&class)
}

pub(super) fn is_tool(class: &str) -> bool {
    TOOL.contains(&class)
}

/// A message's class and its fields; a serialized object has them one level deeper.
pub(super) fn unwrap(json: Json<'_>) -> Option<(Cow<'_, str>, Object<'_>)> {
    let object = json.object()?;
    let class = object.str("type")?;
    if class != "constructor" {
        return Some((class, object));
    }
    let class = object.get("id")?.items()?.last()?.str()?;
    Some((class, object.get("kwargs")?.object()?))
}

/// Whether it is a message, whoever says it.
pub(super) fn is_message(json: Json<'_>) -> bool {
    unwrap(json).is_some_and(|(class, _)| {
        [AI, TOOL, HUMAN, OTHERS].iter().any(|known| known.contains(&&*class))
    })
}

/// Whether the model says it, or a tool.
pub(super) fn is_answer(json: Json<'_>) -> bool {
    unwrap(json).is_some_and(|(class, _)| is_ai(&class) || is_tool(&class))
}

/// Whether the user says it.
pub(super) fn is_question(json: Json<'_>) -> bool {
    unwrap(json).is_some_and(|(class, _)| HUMAN.contains(&&*class))
}

/// Whether its class is that of a piece.
pub(super) fn is_chunk(json: Json<'_>) -> bool {
    let class = |json| unwrap(json).is_some_and(|(class, _)| class.ends_with("Chunk"));
    class(json) || json.items().is_some_and(|items| items.first().is_some_and(|item| class(*item)))
}

/// A message's id, where it has one.
pub(super) fn id_of(json: Json<'_>) -> Option<String> {
    let (_, fields) = unwrap(json)?;
    fields.filled("id").map(Cow::into_owned)
}

/// A message of the model, or what a tool said.
pub(super) struct Message {
    output: u64,
    is_answer: bool,
    /// Its fields in first-seen order; what has a reader of its own holds a place only.
    fields: Map,
    content: Content,
    calls: Calls,
    reasoning: Option<PartId>,
    answers: Option<String>,
    usage: Map,
    /// What changed in the usage: what was there, and what is instead.
    change: Option<(Map, Map)>,
    stopped: bool,
    /// The whole message as it came last.
    whole: Option<Box<str>>,
}

impl Message {
    pub(super) fn new(output: u64, is_answer: bool) -> Self {
        Self {
            output,
            is_answer,
            fields: Map::default(),
            content: Content::new(output, is_answer),
            calls: Calls::new(output),
            reasoning: None,
            answers: None,
            usage: Map::default(),
            change: None,
            stopped: false,
            whole: None,
        }
    }

    /// The blocks of the content, and the calls, for events that name them.
    pub(super) fn parts(&mut self) -> (&mut Content, &mut Calls) {
        (&mut self.content, &mut self.calls)
    }

    pub(super) fn read(&mut self, json: Json<'_>, how: How, draft: &mut Draft) {
        let Some((class, fields)) = unwrap(json) else { return };
        if !how.adds() && draft.admit(json.raw().len().saturating_sub(self.known())) {
            self.whole = Some(json.compact());
        }
        let class = class.strip_suffix("MessageChunk").or_else(|| class.strip_suffix("Message"));
        for (key, value) in fields.iter() {
            match (key, class) {
                ("type", Some(class)) => {
                    self.fields.first("type", Json::from_known(lower(class)));
                }
                _ => self.field(key, value, how, draft),
            }
        }
        if self.is_answer {
            self.calls.read(&fields, how, draft);
        }
    }

    /// So many bytes of it are held as it came.
    fn known(&self) -> usize {
        self.whole.as_ref().map_or(0, |whole| whole.len())
    }

    fn field(&mut self, key: &str, value: Json<'_>, how: How, draft: &mut Draft) {
        match key {
            "content" => {
                self.fields.last(key, Json::NULL);
                self.content.read(value, how, draft);
            }
            "tool_calls" | "tool_call_chunks" | "chunk_position" => {
                if key == "tool_calls" {
                    self.fields.last(key, Json::from_known("[]"));
                }
                if key == "chunk_position" && value.str().as_deref() == Some("last") {
                    self.end(draft);
                }
            }
            "usage_metadata" => match value.object() {
                Some(counts) => {
                    self.fields.last(key, Json::NULL);
                    self.count(Map::from(&counts), how.adds());
                }
                None => draft.carry(&mut self.fields, key, value, Map::last),
            },
            "response_metadata" => {
                self.response(value, draft);
                draft.carry(&mut self.fields, key, value, Map::merge);
            }
            "additional_kwargs" => self.kwargs(value, how, draft),
            "tool_call_id" => {
                self.answers = value.str().map(Cow::into_owned);
                draft.carry(&mut self.fields, key, value, Map::last_filled);
            }
            "id" | "name" => draft.carry(&mut self.fields, key, value, Map::last_filled),
            _ => draft.carry(&mut self.fields, key, value, Map::last),
        }
    }

    /// The provider's own fields: why it stopped, and which model answered.
    fn response(&mut self, value: Json<'_>, draft: &mut Draft) {
        let fields = value.object().unwrap_or_default();
        let word = |keys: &[&str]| keys.iter().find_map(|key| fields.filled(key));
        if let Some(reason) = word(&["finish_reason", "stop_reason", "done_reason", "stopReason"])
            && self.is_answer
        {
            self.stop(&reason, draft);
        }
        draft.model(&word(&["model_name", "model"]).unwrap_or_default());
    }

    pub(super) fn stop(&mut self, reason: &str, draft: &mut Draft) {
        self.end(draft);
        draft.stop(self.output, reason);
    }

    /// Nothing more comes for it.
    pub(super) fn end(&mut self, draft: &mut Draft) {
        self.stopped = true;
        self.calls.close_all(draft);
    }

    /// Counts of a piece are added up, those of a message are all of it.
    pub(super) fn count(&mut self, counts: Map, adds: bool) {
        let before = if adds { Map::default() } else { std::mem::take(&mut self.usage) };
        usage::combine(&mut self.usage, &counts, u64::saturating_add);
        match &mut self.change {
            Some((_, more)) => usage::combine(more, &counts, u64::saturating_add),
            None => self.change = Some((before, counts)),
        }
    }

    /// Fields that a provider adds; its reasoning is a text.
    fn kwargs(&mut self, value: Json<'_>, how: How, draft: &mut Draft) {
        let Some(fields) = value.object() else {
            return draft.carry(&mut self.fields, "additional_kwargs", value, Map::last);
        };
        let mut known = self.fields.remove("additional_kwargs").unwrap_or_else(Node::null);
        for (key, value) in fields.iter() {
            match (key, value.text()) {
                ("reasoning_content", Some(text)) if self.is_answer => {
                    let part = match self.reasoning {
                        Some(part) => part,
                        None if text.is_empty() => continue,
                        None => draft.part(self.output, PartKind::Reasoning),
                    };
                    self.reasoning = Some(part);
                    known.object().set(key, Node::Part(part));
                    how.take(part, &text, "the reasoning", draft);
                }
                // Calls are read as such; their pieces here are the same.
                ("tool_calls" | "function_call", _) if how.adds() => {}
                _ => draft.carry(known.object(), key, value, Map::last),
            }
        }
        known.object();
        self.fields.set("additional_kwargs", known);
    }

    /// Whether its reason came, or all of it.
    pub(super) fn has_stopped(&self, draft: &Draft) -> bool {
        self.stopped || draft.reason(self.output).is_some() && self.is_answer
    }

    /// The id of the call that it is the result of.
    pub(super) fn answers(&self) -> Option<&str> {
        self.answers.as_deref()
    }

    /// The calls whose ids are new.
    pub(super) fn new_calls(&mut self, draft: &Draft) -> Vec<(String, PartId)> {
        self.calls.named(draft)
    }

    pub(super) fn take_usage(&mut self) -> Option<(Map, Map)> {
        self.change.take()
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        if let Some(whole) = &self.whole
            && !self.content.is_guessed(out.draft())
        {
            return out.json(Json::from_known(whole));
        }
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                match key {
                    "content" => fields.field(key, |value| self.content.write(value)),
                    "tool_calls" if !self.calls.is_empty() => {
                        fields.field(key, |value| self.calls.write(value));
                    }
                    "usage_metadata" if !self.usage.is_empty() => {
                        fields.field(key, |value| value.object(|inner| inner.map(&self.usage)));
                    }
                    _ => fields.node(key, node),
                }
            }
            if !self.fields.has("content") && !self.content.is_empty() {
                fields.field("content", |value| self.content.write(value));
            }
            if !self.fields.has("tool_calls") && !self.calls.is_empty() {
                fields.field("tool_calls", |value| self.calls.write(value));
            }
            if !self.fields.has("usage_metadata") && !self.usage.is_empty() {
                fields
                    .field("usage_metadata", |value| value.object(|inner| inner.map(&self.usage)));
            }
        });
    }

    /// Sets a field that an event names.
    pub(super) fn set(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        self.field(key, value, How::Delta, draft);
    }
}

/// The type of a message of this class, as JSON.
fn lower(class: &str) -> &'static str {
    match class {
        "Tool" => "\"tool\"",
        _ => "\"ai\"",
    }
}
