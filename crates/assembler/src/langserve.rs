//! `LangServe`'s and `LangGraph`'s streams (`FORMATS.md` F.1).
//!
//! `event: data` holds what a runnable yields: pieces of text, message chunks, messages, or anything else.
//! `LangGraph` names a mode instead: `messages` are pieces, `messages/partial`, `messages/complete` and
//! `values` are all of it so far. Its newer servers put events of their own into one envelope.

mod calls;
mod content;
mod graph;
mod message;
mod messages;
mod output;
mod protocol;
mod usage;

use crate::{
    candidate::name_of,
    draft::{Draft, Hint, PartId, PartKind},
    format::{Assembler, Event, Format, Reason, Rules},
    json::Json,
    node::Map,
    response::Writer,
    text::Str,
};

use graph::Graph;
use messages::Messages;
use output::Output;
use protocol::Protocol;

pub(crate) const FORMAT: Format = Format {
    name: "langserve",
    title: "LangServe and LangGraph",
    rules: Rules { unit: "message", end: "`event: end`", ..Rules::NONE },
    reasons: REASONS,
    errors: &[],
    start: || Box::<Stream>::default(),
};

const PROVIDERS: &str = "the providers' documentation; LangChain passes their word on";

const REASONS: &[Reason] = &[
    reason("stop", "The answer came to its natural end, or a stop sequence matched."),
    reason("STOP", "The answer came to its natural end, or a stop sequence matched."),
    reason("end_turn", "The model finished its turn."),
    reason(
        "length",
        "The token limit of the request or of the model was reached; the answer is cut.",
    ),
    reason("max_tokens", "The request's token limit was reached; the answer is cut."),
    reason("MAX_TOKENS", "The request's token limit was reached; the answer is cut."),
    reason("tool_calls", "The model wants tools called."),
    reason("tool_use", "The model wants tools called."),
    reason("stop_sequence", "One of the request's stop sequences matched."),
    reason("content_filter", "A filter withheld or cut the answer."),
];

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: PROVIDERS }
}

/// How a value is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A piece to be added.
    Delta,
    /// All of it so far.
    Snapshot,
    /// All of it, for good: what pieces gave is compared with it.
    Final,
    /// Either; its class says which is likelier.
    Guess { snapshot: bool },
}

impl How {
    /// Whether it adds to what is known rather than replacing it.
    fn adds(self) -> bool {
        matches!(self, Self::Delta | Self::Guess { snapshot: false })
    }

    /// Takes a text; `what` names it in findings.
    fn take(self, part: PartId, text: &Str<'_>, what: &str, draft: &mut Draft) {
        match self {
            Self::Delta => draft.append(part, text),
            Self::Guess { snapshot } => {
                draft.hinted(part, text, what, Hint { snapshot, tokens: None });
            }
            Self::Final if draft.get(part).has_deltas() => draft.settle(part, text, what),
            Self::Snapshot | Self::Final => draft.snapshot(part, text, what),
        }
    }
}

/// A stream of either.
#[derive(Default)]
struct Stream {
    /// What the first event tells of the run.
    metadata: Map,
    messages: Messages,
    /// What `LangServe` gave.
    output: Output,
    /// What `LangGraph` gave.
    graph: Graph,
    protocol: Protocol,
}

impl Assembler for Stream {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        if let Some(object) = &event.object
            && object.str("type").as_deref() == Some("event")
            && object.has("method")
        {
            return self.enveloped(object, draft);
        }
        let name = event.name().unwrap_or_default();
        match name.split('|').next().unwrap_or_default() {
            "metadata" => self.metadata(event.json, draft),
            "data" | "" | "message" => self.data(event.json, draft),
            "end" => draft.end(),
            mode => {
                let is_root = mode == name;
                if !self.mode(mode, event.json, is_root, draft) {
                    draft.unknown(&name_of(event));
                }
            }
        }
    }

    /// The data of the end, if it has any, says nothing.
    fn text(&mut self, _: &str, frame: &teeline_decoder::Frame, draft: &mut Draft) -> bool {
        frame.event.as_deref().is_some_and(|event| self.bare(event, draft))
    }

    fn bare(&mut self, event: &str, draft: &mut Draft) -> bool {
        if event == "end" && !draft.is_over() {
            draft.end();
        }
        event == "end"
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(body) = document.object() else { return };
        if let Some(metadata) = body.get("metadata") {
            self.metadata(metadata, draft);
        }
        if let Some(output) = body.get("output") {
            let how = How::Snapshot;
            self.output.take(output, how, &mut self.messages, draft);
        }
        if let Some(state) = body.get("values") {
            self.graph.state(state, true, &mut self.messages, draft);
        }
        for (at, message) in
            (0..).zip(body.get("messages").and_then(Json::items).unwrap_or_default())
        {
            self.messages.take(("messages", at), message, How::Final, draft);
        }
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        self.graph.finish(&mut self.messages, draft);
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.graph.came() {
            return self.output.write(&self.metadata, &self.messages, out);
        }
        out.object(|fields| {
            if !self.messages.is_empty() {
                fields.field("messages", |value| {
                    value.array(|items| self.messages.write(items));
                });
            }
            self.graph.write(fields);
        });
    }
}

impl Stream {
    fn metadata(&mut self, value: Json<'_>, draft: &mut Draft) {
        let Some(fields) = value.object() else {
            if !value.is_null() {
                draft.bad_field("metadata", "an object", value);
            }
            return;
        };
        draft.id("the run's id", &fields.str("run_id").unwrap_or_default());
        for (key, value) in fields.iter() {
            draft.carry(&mut self.metadata, key, value, Map::last);
        }
    }

    /// What a runnable yields.
    fn data(&mut self, value: Json<'_>, draft: &mut Draft) {
        let fields = value.object().unwrap_or_default();
        if let Some(operations) = fields.get("ops").and_then(Json::items) {
            return self.operations(&operations, draft);
        }
        if fields.has("event") && fields.has("run_id") && fields.has("data") {
            return draft.not_assembled("the events of a runnable");
        }
        let how = How::Guess { snapshot: !message::is_chunk(value) };
        self.output.take(value, how, &mut self.messages, draft);
    }

    /// `/stream_log`: of the changes of a run's log those of its output.
    fn operations(&mut self, operations: &[Json<'_>], draft: &mut Draft) {
        for operation in operations {
            let operation = operation.object().unwrap_or_default();
            let value = operation.get("value").unwrap_or(Json::NULL);
            match operation.str("path").as_deref() {
                Some("") => {
                    let id = value.get("id").unwrap_or(Json::NULL);
                    draft.id("the run's id", &id.str().unwrap_or_default());
                    draft.carry(&mut self.metadata, "run_id", id, Map::first);
                }
                Some("/streamed_output/-") => {
                    let how = How::Guess { snapshot: !message::is_chunk(value) };
                    self.output.take(value, how, &mut self.messages, draft);
                }
                _ => {}
            }
        }
    }

    /// An event of `LangGraph`, by its mode. Whether there is such a mode.
    fn mode(&mut self, mode: &str, value: Json<'_>, is_root: bool, draft: &mut Draft) -> bool {
        let messages = &mut self.messages;
        match mode {
            "messages" => {
                let pair = value.items().unwrap_or_default();
                let chunk = pair.first().copied().unwrap_or(value);
                let stopped = messages.take(("messages", 0), chunk, How::Delta, draft);
                let model = pair.get(1).and_then(|data| data.get("ls_model_name")?.str());
                if draft.model.is_none() {
                    draft.model(&model.unwrap_or_default());
                }
                draft.open_ended = stopped;
            }
            "messages/partial" | "messages/complete" => {
                let is_whole = mode == "messages/complete";
                let how = if is_whole { How::Final } else { How::Snapshot };
                for (at, message) in (0..).zip(value.items().unwrap_or_default()) {
                    messages.take(("messages", at), message, how, draft);
                }
                draft.open_ended = is_whole;
            }
            "values" => self.graph.state(value, is_root, messages, draft),
            "updates" => self.graph.updates(value, messages, draft),
            "messages/metadata" | "tasks" | "checkpoints" | "feedback" => draft.note(mode),
            "custom" | "debug" | "events" => {
                draft.note(mode);
                draft.not_assembled(&format!("`{mode}` events"));
            }
            _ => return false,
        }
        self.graph.come(draft);
        true
    }
}

/// The text of one kind and the name of its field, by a content block's type.
fn text_field(block: &str) -> Option<(PartKind, &'static str)> {
    Some(match block {
        "text" | "text-plain" | "output_text" | "text_delta" => (PartKind::Text, "text"),
        "thinking" | "thinking_delta" => (PartKind::Reasoning, "thinking"),
        "reasoning" => (PartKind::Reasoning, "reasoning"),
        "refusal" => (PartKind::Refusal, "refusal"),
        _ => return None,
    })
}
