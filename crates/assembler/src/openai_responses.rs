//! `OpenAI` Responses events, and everybody who sends them (`FORMATS.md` B).
//!
//! The output is a list of items that stream side by side, each under its `output_index`. The terminal event
//! carries the whole response once more: where that has an output, it is the answer, and the items that the
//! deltas built are compared with it.

mod events;
mod item;
mod items;
mod kind;
mod outcome;
mod place;
mod words;

use crate::{
    candidate::name_of,
    draft::{Draft, Tokens},
    failure::Fault,
    format::{Assembler, Event, EventLine, Format, Rules, Sentinel},
    json::{Json, Object},
    node::Map,
    response::Writer,
};

use events::Deed;
use items::Items;
use place::{List, Place};

pub(crate) const FORMAT: Format = Format {
    name: "openai-responses",
    title: "OpenAI Responses",
    rules: Rules {
        unit: "response",
        end: "`response.completed` or another event that ends it",
        start: None,
        sentinel: Sentinel::MayFollow,
        deltas: true,
        calls_need_name: false,
        calls_need_id: false,
        judge_calls_at_end: false,
        empty_arguments: true,
        reasons: false,
        usage: true,
    },
    reasons: words::REASONS,
    errors: words::ERRORS,
    start: || Box::<Responses>::default(),
};

/// A stream of events.
#[derive(Default)]
struct Responses {
    /// The newest response object, its output apart.
    head: Map,
    /// A response object came.
    has_head: bool,
    items: Items,
    /// The number of the newest event.
    number: Option<u64>,
    /// The final object, where it has an output: the answer, word for word.
    verbatim: Option<Box<str>>,
    /// The terminal event came.
    is_terminated: bool,
}

impl Assembler for Responses {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let Some(frame) = &event.object else {
            draft.unknown(&name_of(event));
            return;
        };
        let kind = event.kind("type", EventLine::Optional, draft);
        self.number(frame, draft);
        match events::find(&kind) {
            Some(deed) => {
                self.deed(deed, event, frame, draft);
                self.others(&kind, frame, draft);
            }
            None if kind.starts_with("response.")
                && frame.get("response").is_some_and(Json::is_object) =>
            {
                self.progress(frame, draft);
            }
            None => draft.unknown(&name_of(event)),
        }
    }

    fn passes_end(&self, event: &Event<'_>) -> bool {
        match event.data_type().as_deref() {
            Some("keepalive") => true,
            // After an error.
            Some("response.failed") => !self.is_terminated,
            _ => false,
        }
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(response) = document.object() else { return };
        self.terminate(Some((document, &response)), "", draft);
        self.items.finish(draft);
    }

    fn finish(&mut self, draft: &mut Draft) {
        self.items.finish(draft);
        if draft.has_outputs() {
            draft.role(0, "assistant");
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if let Some(verbatim) = &self.verbatim {
            out.json(Json::from_known(verbatim));
            return;
        }
        if !self.has_head && self.items.is_empty() {
            return;
        }
        out.object(|fields| {
            if !self.has_head {
                fields.string("object", "response");
            }
            for (key, node) in self.head.iter() {
                match key {
                    "output" => fields.field(key, |value| self.items.write(value)),
                    _ => fields.node(key, node),
                }
            }
            if !self.head.has("output") {
                fields.field("output", |value| self.items.write(value));
            }
        });
    }
}

impl Responses {
    fn deed(&mut self, deed: Deed, event: &Event<'_>, frame: &Object<'_>, draft: &mut Draft) {
        match deed {
            Deed::Created => {
                draft.start();
                self.progress(frame, draft);
            }
            Deed::Progress => self.progress(frame, draft),
            Deed::Terminal(status) => self.terminal(frame, status, draft),
            Deed::Error => draft.fail(Fault::of_frame(event.json)),
            Deed::ItemAdded => self.items.add(frame, draft),
            Deed::ItemDone => self.items.done(frame, draft),
            Deed::ElementAdded(list) => self.items.element(list, false, frame, draft),
            Deed::ElementDone(list) => self.items.element(list, true, frame, draft),
            Deed::Delta(place) => self.items.delta(place, frame, draft),
            Deed::Done(place, key) => self.items.settle(place, key, frame, draft),
            Deed::CommandAdded => self.items.command(frame, draft),
            Deed::OutputDelta => self.items.output_delta(frame, draft),
            Deed::OutputDone => self.items.element(List::Output, true, frame, draft),
            Deed::Annotation => self.items.annotation(frame, draft),
            Deed::Status(status) => self.items.status(status, frame, draft),
            Deed::ToolFailed => self.items.tool_failed(frame, draft),
            Deed::Preview => self.items.preview(frame, draft),
            Deed::Audio => draft.not_assembled("response.audio.delta"),
            Deed::Transcript => self.items.transcript(frame, draft),
            Deed::Nothing(words) => draft.note(words),
            Deed::KeepAlive => draft.keep_alive(),
        }
    }

    /// Numbers rise by one, whatever the event.
    fn number(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let Some(value) = frame.some("sequence_number") else { return };
        let Some(got) = value.u64() else {
            draft.bad_field("sequence_number", "a whole number", value);
            return;
        };
        let expected = self.number.map_or(got, |last| last.saturating_add(1));
        if got != expected {
            draft.report(teeline_finding::Kind::SequenceGap { expected, got });
        }
        self.number = Some(got);
    }

    /// Members of a frame that no row of the table reads.
    fn others(&mut self, kind: &str, frame: &Object<'_>, draft: &mut Draft) {
        for (key, value) in frame.iter().filter(|(_, value)| !value.is_null()) {
            match key {
                "agent" => self.items.agent(frame, value, draft),
                _ if events::FIELDS.contains(&key) || kind == "error" => {}
                _ => draft.not_assembled(&format!("{kind}: {key}")),
            }
        }
    }

    /// A snapshot of the response. Some gateways send the bare event to keep the connection alive.
    fn progress(&mut self, frame: &Object<'_>, draft: &mut Draft) {
        let value = frame.get("response").unwrap_or(Json::NULL);
        match value.object() {
            Some(response) => {
                self.head(&response, draft);
                self.items.seed(&response, draft);
                let status = response.filled("status").unwrap_or_default();
                if status == "cancelled" && draft.has_outputs() {
                    draft.stop(0, &status);
                }
                draft.note(&status);
            }
            None if value.is_null() => draft.keep_alive(),
            None => draft.bad_field("response", "an object", value),
        }
    }

    fn head(&mut self, response: &Object<'_>, draft: &mut Draft) {
        self.has_head = true;
        self.head = Map::from(response);
        if self.head.has("output") {
            self.head.set("output", Json::NULL);
        }
        draft.id("the response", &response.str("id").unwrap_or_default());
        draft.model(&response.str("model").unwrap_or_default());
        if let Some(usage) = response.some("usage") {
            match usage.object() {
                Some(object) => draft.usage(tokens(&object), usage),
                None => draft.bad_field("response.usage", "an object", usage),
            }
        }
    }
}

fn tokens(usage: &Object<'_>) -> Tokens {
    let detail = |object: &str, key: &str| usage.get(object)?.get(key)?.u64();
    Tokens {
        input: usage.u64("input_tokens"),
        output: usage.u64("output_tokens"),
        total: usage.u64("total_tokens"),
        cached: detail("input_tokens_details", "cached_tokens"),
        reasoning: detail("output_tokens_details", "reasoning_tokens"),
    }
}

/// An index that is none, which was reported: what came with it is not read.
struct BadIndex;

/// A place under its index in a frame; missing means 0.
fn place_in(
    place: fn(u64) -> Place,
    frame: &Object<'_>,
    draft: &mut Draft,
) -> Result<Place, BadIndex> {
    index_in(frame, events::index_key(place(0)), draft).map(|index| place(index.unwrap_or(0)))
}

/// An index of a frame, if it has one.
fn index_in(frame: &Object<'_>, key: &str, draft: &mut Draft) -> Result<Option<u64>, BadIndex> {
    let Some(value) = frame.some(key) else { return Ok(None) };
    let index = value.index();
    if index.is_none() {
        draft.bad_field(key, "an integer from 0 to 2147483647", value);
    }
    index.map(Some).ok_or(BadIndex)
}
