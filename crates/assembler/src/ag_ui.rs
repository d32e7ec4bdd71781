//! AG-UI, the Agent User Interaction protocol (`FORMATS.md` H9).
//!
//! Events build a conversation and a state. There is no plain twin: the response is what the protocol's own
//! client holds at the end, the run with its messages and the state.
//!
//! The client throws at events out of order; here they are findings. It puts a tool's result behind its call's
//! message, here messages are in the order in which they came. A call without a parent goes to the assistant's
//! message if that is the newest, where newer clients always make one of its own. What the client knew before
//! the run, the history and its state, is not in the stream and so not in the response, unless a snapshot tells it.

mod chunk;
mod conversation;
mod message;
mod snapshot;
mod state;

use std::borrow::Cow;

use teeline_finding::excerpt;

use crate::{
    candidate::name_of,
    draft::{Draft, Key, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Reason, Rules},
    json::{Json, Object},
    node::Map,
    response::Writer,
};

use conversation::Conversation;
use state::State;

pub(crate) const FORMAT: Format = Format {
    name: "ag-ui",
    title: "AG-UI",
    rules: Rules {
        unit: "run",
        end: "`RUN_FINISHED`",
        start: Some("`RUN_STARTED`"),
        deltas: true,
        ..Rules::NONE
    },
    reasons: REASONS,
    errors: &[],
    start: || Box::<Stream>::default(),
};

const CLIENT: &str = "the source of AG-UI's TypeScript client";

/// What a run's `outcome` means.
const REASONS: &[Reason] = &[
    Reason { value: "success", meaning: "The run came to its end.", source: CLIENT },
    Reason {
        value: "interrupt",
        meaning: "The run waits for the answers to its interrupts; another run goes on from there.",
        source: CLIENT,
    },
];

/// Members that any event may have and that say nothing of the answer.
const COMMON: &[&str] = &["type", "timestamp", "rawEvent", "metadata"];

/// Events of sub-agents, whose messages come as the run's own.
const SUBAGENTS: &[&str] = &["SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"];

/// A stream of a run, or of several one after another.
#[derive(Default)]
struct Stream {
    /// Anything of a run came.
    came: bool,
    /// The newest run has not ended.
    running: bool,
    /// `threadId`, `runId` and what else the runs say of themselves.
    head: Map,
    conversation: Conversation,
    state: State,
}

impl Assembler for Stream {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let (Some(object), Some(kind)) = (&event.object, event.data_type()) else {
            draft.unknown(&name_of(event));
            return;
        };
        let fields = Fields { kind: &kind, object };
        if !self.came && kind == "RUN_ERROR" {
            draft.start();
        }
        let is_first = !self.came;
        match &*kind {
            "RUN_STARTED" => self.started(fields, is_first, draft),
            "RUN_FINISHED" => self.finished(fields, draft),
            "RUN_ERROR" => {
                self.running = false;
                let fault = Fault { error_type: None, ..Fault::of_object(event.json) };
                return draft.fail(fault);
            }
            "STATE_SNAPSHOT" | "STATE_DELTA" | "MESSAGES_SNAPSHOT" => {
                self.conversation.close_chunk(draft);
                self.snapshot(fields, draft);
            }
            "STEP_STARTED" | "STEP_FINISHED" => {
                self.conversation.close_chunk(draft);
                step(fields, draft);
            }
            "RAW" => draft.note("raw event"),
            "CUSTOM" => {
                self.conversation.close_chunk(draft);
                let name = excerpt(&object.str("name").unwrap_or_default());
                draft.note(&format!("custom event {name}"));
            }
            _ if SUBAGENTS.contains(&&*kind) => draft.not_assembled(&kind),
            _ if self.conversation.event(fields, draft) => {}
            _ => return draft.unknown(&kind),
        }
        self.came = true;
        draft.output(0);
        draft.role(0, "assistant");
    }

    /// A stream may hold several runs, and a run may fail after it said that it is finished.
    fn passes_end(&self, event: &Event<'_>) -> bool {
        !self.running
            && event.data_type().is_some_and(|kind| kind == "RUN_STARTED" || kind == "RUN_ERROR")
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        draft.id("the run", &body.str("runId").unwrap_or_default());
        draft.role(0, "assistant");
        if let Some(messages) = body.get("messages").and_then(Json::items) {
            self.conversation.snapshot(&messages, draft);
        }
        self.outcome(&body, draft);
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        self.conversation.close_chunk(draft);
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.came {
            return;
        }
        let draft = out.draft();
        out.object(|fields| {
            let first = ["threadId", "runId"];
            for (key, node) in first.iter().filter_map(|key| Some((key, self.head.get(key)?))) {
                fields.node(key, node);
            }
            fields.field("messages", |value| self.conversation.write(value));
            self.state.write(fields);
            for (key, node) in self.head.iter().filter(|(key, _)| !first.contains(key)) {
                match (key, &draft.usage) {
                    ("usage", Some((_, usage))) => fields.node(key, usage),
                    _ => fields.node(key, node),
                }
            }
        });
    }
}

impl Stream {
    fn started(&mut self, fields: Fields<'_, '_>, is_first: bool, draft: &mut Draft) {
        self.conversation.close_chunk(draft);
        let run = fields.text("runId", draft).unwrap_or_default();
        if self.running {
            draft.restarted(&Key::Name("run", (*run).into()), 0);
        } else if draft.has_ended() {
            draft.set_ended(false);
        } else {
            draft.id("the run", &run);
        }
        self.running = true;
        // It begins the stream only where nothing came before it.
        if is_first {
            draft.start();
        }
        self.ids(fields, draft);
        // The input is what the client sent with its request.
        fields.unread(&["threadId", "runId", "parentRunId", "input"], draft);
    }

    fn ids(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        for key in ["threadId", "runId", "parentRunId"] {
            let Some(value) = fields.object.some(key) else { continue };
            if value.is_string() {
                draft.carry(&mut self.head, key, value, Map::set_json);
            } else {
                draft.bad_field(&fields.name(key), "a string", value);
            }
        }
    }

    fn finished(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        self.conversation.close_chunk(draft);
        self.running = false;
        self.ids(fields, draft);
        self.outcome(fields.object, draft);
        fields.unread(&["threadId", "runId", "result", "outcome", "usage"], draft);
        draft.end();
    }

    /// What a run gives at its end.
    fn outcome(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        for key in ["result", "outcome", "usage"] {
            let Some(value) = fields.some(key) else { continue };
            match key {
                "usage" => count_tokens(value, draft),
                "outcome" => {
                    let word = value.get("type").and_then(Json::str).or_else(|| value.str());
                    draft.stop(0, &word.unwrap_or_default());
                }
                _ => {}
            }
            if key == "usage" {
                self.head.set_json(key, Json::NULL);
            } else {
                draft.carry(&mut self.head, key, value, Map::set_json);
            }
        }
    }

    fn snapshot(&mut self, fields: Fields<'_, '_>, draft: &mut Draft) {
        match fields.kind {
            "STATE_SNAPSHOT" => match fields.object.get("snapshot") {
                Some(state) => self.state.replace(state, draft),
                None => draft.missing_field(&fields.name("snapshot"), "a state"),
            },
            "STATE_DELTA" => self.state.patch(fields, draft),
            _ => match fields.object.get("messages").map(|value| (value, value.items())) {
                Some((_, Some(messages))) => self.conversation.snapshot(&messages, draft),
                Some((value, None)) => draft.bad_field(&fields.name("messages"), "an array", value),
                None => draft.missing_field(&fields.name("messages"), "an array"),
            },
        }
        fields.unread(&["snapshot", "delta", "messages"], draft);
    }
}

/// An event's type and its members.
#[derive(Clone, Copy)]
struct Fields<'e, 'a> {
    kind: &'e str,
    object: &'e Object<'a>,
}

impl<'a> Fields<'_, 'a> {
    /// A member's name for a finding.
    fn name(self, key: &str) -> String {
        format!("{} {key}", self.kind)
    }

    /// A member that has to be a string.
    fn text(self, key: &str, draft: &mut Draft) -> Option<Cow<'a, str>> {
        if self.object.some(key).is_none() {
            draft.missing_field(&self.name(key), "a string");
        }
        self.optional(key, draft)
    }

    /// A member that may be a string. `null` is as good as none.
    fn optional(self, key: &str, draft: &mut Draft) -> Option<Cow<'a, str>> {
        let value = self.object.some(key)?;
        let text = value.str();
        if text.is_none() {
            draft.bad_field(&self.name(key), "a string", value);
        }
        text
    }

    /// Names the members that are not read.
    fn unread(self, known: &[&str], draft: &mut Draft) {
        for (key, value) in self.object.iter() {
            if !known.contains(&key) && !COMMON.contains(&key) && !value.is_null() {
                draft.not_assembled(&self.name(key));
            }
        }
    }
}

/// A step begins or ends. Another one of the same name may follow.
fn step(fields: Fields<'_, '_>, draft: &mut Draft) {
    let Some(name) = fields.text("stepName", draft) else { return };
    let key = Key::Name("step", name.into());
    if fields.kind == "STEP_STARTED" {
        draft.open_bare(key);
    } else {
        end_bare(&key, draft);
    }
    fields.unread(&["stepName"], draft);
}

/// What was opened bare ends: another one under the same key may follow.
fn end_bare(key: &Key, draft: &mut Draft) {
    if draft.is_open(key) {
        draft.close(key);
        draft.release(key);
    } else {
        draft.unstarted(key);
    }
}

/// Token counts: a list with an entry for each provider and model, all of it kept.
fn count_tokens(value: Json<'_>, draft: &mut Draft) {
    let Some(entries) = value.items() else {
        return draft.bad_field("RUN_FINISHED usage", "an array", value);
    };
    let entries: Vec<Object<'_>> = entries.into_iter().filter_map(Json::object).collect();
    let sum = |key: &str| {
        let counts = entries.iter().filter_map(|entry| entry.u64(key));
        counts.reduce(u64::saturating_add)
    };
    let tokens = Tokens {
        input: sum("inputTokens"),
        output: sum("outputTokens"),
        total: sum("totalTokens"),
        cached: sum("cachedInputTokens"),
        reasoning: sum("reasoningTokens"),
    };
    draft.usage(tokens, value);
    if let [entry] = entries.as_slice() {
        draft.model(&entry.str("model").unwrap_or_default());
    }
}
