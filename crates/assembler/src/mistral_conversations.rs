//! Mistral's Conversations and Agents API (`FORMATS.md` H5b). Its chat is `openai-chat`.

mod entry;

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, EventLine, Format, Rules},
    json::{Json, Object},
    node::Map,
    response::Writer,
};

use entry::{Entry, Kind};

pub(crate) const FORMAT: Format = Format {
    name: "mistral-conversations",
    title: "Mistral Conversations",
    rules: Rules {
        unit: "message",
        end: "`conversation.response.done`",
        start: Some("`conversation.response.started`"),
        deltas: true,
        calls_need_name: true,
        calls_need_id: true,
        judge_calls_at_end: true,
        ..Rules::NONE
    },
    reasons: &[],
    errors: &[],
    start: || Box::<Conversation>::default(),
};

/// What an entry costs of the text limit beyond its bytes.
const ENTRY: usize = 512;

/// A stream of events: each adds to an entry of the conversation.
#[derive(Default)]
struct Conversation {
    /// Top-level fields of the events that are about the whole response.
    head: Map,
    /// By output index, kind and id: several entries may share an index.
    entries: BTreeMap<(u64, Kind, Box<str>), Entry>,
    read: bool,
}

impl Assembler for Conversation {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let kind = event.kind("type", EventLine::Optional, draft);
        let Some(object) = &event.object else {
            draft.unknown(&crate::candidate::name_of(event));
            return;
        };
        match &*kind {
            "conversation.response.started" => {
                draft.start();
                self.head(object, draft);
            }
            "conversation.response.done" => {
                self.head(object, draft);
                draft.end();
            }
            "conversation.response.error" => {
                let mut fault = Fault::of_object(event.json);
                fault.error_type = None; // the event's own type is no type of error
                draft.fail(fault);
            }
            "message.output.delta" => {
                if let Some(entry) = self.entry(Kind::Message, object, draft) {
                    entry.delta(object, draft);
                }
            }
            "function.call.delta" => {
                if let Some(entry) = self.entry(Kind::Function, object, draft) {
                    entry.delta(object, draft);
                }
            }
            "tool.execution.started" | "agent.handoff.started" => {
                self.block(Kind::of(&kind), object, draft, true);
            }
            "tool.execution.delta" | "tool.execution.done" | "agent.handoff.done" => {
                let block = Kind::of(&kind);
                let key = block.key(object);
                if draft.opened(&key).is_some() {
                    self.block(block, object, draft, false);
                }
                if kind.ends_with(".done") && draft.is_open(&key) {
                    draft.close(&key);
                }
            }
            _ => draft.unknown(&kind),
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        self.head(&body, draft);
        for (index, output) in
            (0..).zip(body.get("outputs").and_then(Json::items).unwrap_or_default())
        {
            let Some(fields) = output.object() else { continue };
            let kind = Kind::of(&fields.str("type").unwrap_or_default());
            if kind == Kind::Other {
                draft.part(0, PartKind::Other("entry"));
                continue;
            }
            let mut entry = Entry::new(kind, index);
            entry.part = (kind != Kind::Message).then(|| draft.part(0, kind.part()));
            entry.delta(&fields, draft);
            if let Some(part) = entry.part.filter(|_| kind == Kind::Function) {
                draft.close_call(part);
            }
        }
        draft.end();
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.read {
            return;
        }
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|((index, ..), entry)| (*index, entry.nth));
        let usage = out.draft().usage.as_ref().map(|(_, raw)| raw);
        out.object(|fields| {
            fields.string("object", "conversation.response");
            fields.map(&self.head);
            fields.field("outputs", |value| {
                value.array(|items| {
                    for (_, entry) in &entries {
                        items.item(|value| entry.write(value));
                    }
                });
            });
            if let Some(usage) = usage {
                fields.node("usage", usage);
            }
        });
    }
}

impl Conversation {
    /// The fields of an event about the whole response, or of a plain body.
    fn head(&mut self, event: &Object<'_>, draft: &mut Draft) {
        self.read = true;
        draft.output(0);
        for (key, value) in event.iter() {
            match key {
                "type" | "object" | "outputs" | "created_at" => {}
                "conversation_id" => match value.str() {
                    Some(id) => {
                        draft.id("the conversation", &id);
                        self.head.first_filled(key, value);
                    }
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "a string", value),
                },
                "usage" => match value.object() {
                    Some(usage) => draft.usage(tokens(&usage), value),
                    None if value.is_null() => {}
                    None => draft.bad_field(key, "an object", value),
                },
                _ => draft.carry(&mut self.head, key, value, Map::last),
            }
        }
    }

    /// The entry that an event adds to; made where it is not there.
    fn entry(&mut self, kind: Kind, event: &Object<'_>, draft: &mut Draft) -> Option<&mut Entry> {
        let index = match event.some("output_index") {
            None => 0,
            Some(index) => index.index().or_else(|| {
                draft.bad_field("output_index", "an integer from 0 to 2147483647", index);
                None
            })?,
        };
        self.read = true;
        draft.output(0);
        let id: Box<str> = (*event.str("id").unwrap_or_default()).into();
        // Without an id it is the first one at its index.
        let key = if id.is_empty() {
            let all = self.entries.range((index, kind, "".into())..).next();
            let first = all.map(|(key, _)| key).filter(|key| (key.0, key.1) == (index, kind));
            first.cloned().unwrap_or((index, kind, id))
        } else {
            (index, kind, id)
        };
        let nth = self.entries.len();
        if !self.entries.contains_key(&key) && !draft.admit(ENTRY) {
            return None;
        }
        Some(self.entries.entry(key).or_insert_with(|| {
            let mut entry = Entry::new(kind, index);
            entry.nth = nth;
            if kind == Kind::Function {
                let part = draft.part(0, kind.part());
                draft.get_mut(part).order = entry.order(0);
                entry.part = Some(part);
            }
            entry
        }))
    }

    /// What the provider runs itself: opened, added to and closed.
    fn block(&mut self, kind: Kind, event: &Object<'_>, draft: &mut Draft, start: bool) {
        let key = kind.key(event);
        let Some(entry) = self.entry(kind, event, draft) else { return };
        if start {
            let part = draft.open(key, 0, kind.part());
            let (index, nth) = (entry.index, entry.nth);
            *entry = Entry::new(kind, index);
            (entry.part, entry.nth) = (Some(part), nth);
        }
        entry.delta(event, draft);
    }
}

fn tokens(usage: &Object<'_>) -> Tokens {
    Tokens {
        input: usage.u64("prompt_tokens"),
        output: usage.u64("completion_tokens"),
        total: usage.u64("total_tokens"),
        ..Tokens::default()
    }
}
