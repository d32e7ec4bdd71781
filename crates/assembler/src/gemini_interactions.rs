//! The Gemini Interactions API (`FORMATS.md` D2).

mod step;

use std::collections::BTreeMap;

use teeline_finding::Kind;

use crate::{
    draft::{Draft, Key, Tokens},
    failure::Fault,
    format::{Assembler, Event, EventLine, Format, Reason, Rules, Sentinel},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use step::Step;

pub(crate) const FORMAT: Format = Format {
    name: "gemini-interactions",
    title: "Gemini Interactions",
    rules: Rules {
        unit: "interaction",
        end: "`interaction.completed`",
        start: Some("`interaction.created`"),
        sentinel: Sentinel::MayFollow,
        deltas: true,
        ..Rules::NONE
    },
    reasons: &[
        reason("completed", "The interaction came to its natural end."),
        reason("requires_action", "The model wants functions called; answer them to go on."),
        reason("failed", "The interaction failed; see its error."),
        reason("cancelled", "The interaction was cancelled."),
        reason("incomplete", "The interaction stopped before it was done; the answer is partial."),
        reason("budget_exceeded", "Its budget is used up; the answer is partial."),
        reason("in_progress", "The interaction is still running."),
        reason("queued", "The interaction has not begun yet."),
    ],
    errors: crate::gemini::ERRORS,
    start: || Box::<Interaction>::default(),
};

const fn reason(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: "the generated types of Google's Python SDK" }
}

/// What a step costs of the text limit beyond its bytes.
const STEP: usize = 1_024;

/// An interaction.
#[derive(Default)]
struct Interaction {
    /// Its fields; `steps` and `usage` hold a place only.
    head: Map,
    steps: BTreeMap<u64, Step>,
    /// The steps of the final object, where it has any.
    final_steps: Option<Node>,
}

impl Assembler for Interaction {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let kind = event.kind("event_type", EventLine::Optional, draft);
        let fields = event.object.clone().unwrap_or_default();
        match &*kind {
            "interaction.created" => self.created(&fields, draft),
            "interaction.status_update" => {
                draft.output(0);
                self.status(fields.get("status").unwrap_or(Json::NULL), draft);
            }
            "interaction.completed" => self.completed(&fields, draft),
            "step.start" => self.step_start(&fields, draft),
            "step.delta" => self.step_delta(&fields, draft),
            "step.stop" => self.step_stop(&fields, draft),
            _ => {
                draft.unknown(&crate::candidate::name_of(event));
                return;
            }
        }
        others(&fields, draft);
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(interaction) = document.object() else { return };
        draft.output(0);
        self.fields(&interaction, draft);
        let steps = interaction.get("steps").and_then(Json::items).unwrap_or_default();
        for (index, step) in (0..).zip(steps) {
            if let Some(step) = step.object() {
                self.steps.insert(index, Step::whole(&step, index, draft));
            }
        }
        self.terminal(document, draft);
    }

    fn response(&self, out: &mut Writer<'_>) {
        if self.head.is_empty() && self.steps.is_empty() {
            return;
        }
        let usage = out.draft().usage.as_ref().map(|(_, raw)| raw);
        out.object(|fields| {
            let places = ["steps", "usage"];
            let own = self.head.iter().filter(|(key, _)| !places.contains(key));
            own.for_each(|(key, node)| fields.node(key, node));
            fields.field("steps", |value| match &self.final_steps {
                Some(steps) => value.node(steps),
                None => value.array(|items| {
                    self.steps.values().for_each(|step| items.item(|value| step.write(value)));
                }),
            });
            if let Some(usage) = usage.or_else(|| self.head.get("usage")) {
                fields.node("usage", usage);
            }
        });
    }
}

impl Interaction {
    fn created(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        let interaction = interaction(fields, draft);
        if draft.started {
            // Begun anew: what came before is replaced.
            let id = interaction.str("id").unwrap_or_default();
            draft.start_over(&Key::Name("interaction", (&*id).into()));
            *self = Self::default();
        }
        draft.start();
        draft.output(0);
        self.fields(&interaction, draft);
    }

    fn completed(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        let object = interaction(fields, draft);
        self.fields(&object, draft);
        let steps = object.get("steps").filter(|steps| !steps.is_blank());
        if let (Some(json), Some(steps)) = (steps, steps.and_then(Json::items)) {
            self.settle(&steps, draft);
            if draft.admit(json.raw().len()) {
                self.final_steps = Some(Node::from(json));
            }
            draft.rest_on_final();
        }
        self.terminal(fields.get("interaction").unwrap_or(Json::NULL), draft);
    }

    /// The interaction's own fields, MERGE.
    fn fields(&mut self, interaction: &Object<'_>, draft: &mut Draft) {
        for (key, value) in interaction.iter() {
            match key {
                "steps" => {}
                "usage" => {
                    self.head.last(key, Json::NULL);
                    usage(value, draft);
                }
                "status" => self.status(value, draft),
                "id" => {
                    // Without storing there is none.
                    draft.id("the interaction", &value.str().unwrap_or_default());
                    self.head.first_filled(key, value);
                }
                "model" | "agent" => {
                    if let Some(name) =
                        value.str().filter(|_| key == "model" || draft.model.is_none())
                    {
                        draft.model(&name);
                    }
                    self.head.last_filled(key, value);
                }
                _ => draft.carry(&mut self.head, key, value, Map::merge),
            }
        }
    }

    fn status(&mut self, value: Json<'_>, draft: &mut Draft) {
        match value.str() {
            Some(status) => {
                draft.note(&format!("status {status}"));
                self.head.last_filled("status", value);
            }
            None if value.is_null() => {}
            None => draft.bad_field("status", "a string", value),
        }
    }

    /// The final object came.
    fn terminal(&mut self, object: Json<'_>, draft: &mut Draft) {
        let status = self.head.get("status").and_then(Node::json).and_then(Json::str);
        let status = status.unwrap_or_default().into_owned();
        match &*status {
            // The last event ends it, whatever the status was at last.
            "" | "in_progress" | "queued" => draft.stop(0, "completed"),
            status => draft.stop(0, status),
        }
        match &*status {
            "failed" => {
                let error = object.get("error").filter(|error| error.is_truthy());
                draft.fail(error.map_or_else(|| no_error(object), Fault::of_object));
            }
            "incomplete" | "budget_exceeded" => draft.report(Kind::Incomplete { reason: status }),
            _ => {}
        }
        draft.end();
    }

    fn step_start(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        draft.output(0);
        let Some(index) = index(fields, draft) else { return };
        let Some(step) = fields.get("step").and_then(Json::object) else {
            draft.bad_field("step", "an object", fields.get("step"));
            return;
        };
        if !draft.admit(STEP) {
            return;
        }
        let key = Key::Index("step", index);
        if let Some(old) = self.steps.remove(&index) {
            let replaced = old.discard(draft);
            draft.reopen_bare(&key, replaced);
        } else {
            draft.open_bare(key);
        }
        self.steps.insert(index, Step::open(&step, index, draft));
    }

    fn step_delta(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        if let Some(step) = self.opened(fields, draft) {
            match fields.get("delta").and_then(Json::object) {
                Some(delta) => step.delta(&delta, draft),
                None => draft.bad_field("delta", "an object", fields.get("delta")),
            }
        }
    }

    fn step_stop(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        if let Some(step) = self.opened(fields, draft) {
            step.stop(draft);
        }
        if let Some(index) = fields.get("index").and_then(Json::index) {
            let key = Key::Index("step", index);
            if draft.is_open(&key) {
                draft.close(&key);
            }
        }
        if let Some(value) = fields.some("usage") {
            self.head.last("usage", Json::NULL);
            usage(value, draft);
        }
        if fields.some("step_usage").is_some() {
            draft.not_assembled("step_usage");
        }
    }

    /// The open step that an event is for; none: `block-unstarted`.
    fn opened(&mut self, fields: &Object<'_>, draft: &mut Draft) -> Option<&mut Step> {
        draft.output(0);
        let index = index(fields, draft)?;
        let key = Key::Index("step", index);
        if !draft.is_open(&key) {
            draft.unstarted(&key);
            return None;
        }
        self.steps.get_mut(&index)
    }

    /// The final steps count. Where they say something else than the deltas: `done-mismatch`.
    fn settle(&mut self, finals: &[Json<'_>], draft: &mut Draft) {
        let assembled = std::mem::take(&mut self.steps);
        let mut assembled = assembled.into_values();
        for (at, step) in (0..).zip(finals) {
            let Some(last) = step.object() else { continue };
            let step = match assembled.next() {
                Some(step) if step.agrees(&last, at, draft) => step,
                step => {
                    step.map(|step| step.discard(draft));
                    Step::whole(&last, at, draft)
                }
            };
            self.steps.insert(at, step);
        }
        for step in assembled {
            step.discard(draft);
        }
    }
}

/// What else an event carries: usage so far, and what is not read.
fn others(fields: &Object<'_>, draft: &mut Draft) {
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        match key {
            "event_type" | "event_id" | "type" | "index" | "interaction" | "interaction_id"
            | "status" | "step" | "delta" | "usage" | "step_usage" => {}
            "metadata" => {
                let counts = value.get("total_usage").or_else(|| value.get("usage"));
                if let Some(counts) = counts {
                    usage(counts, draft);
                }
            }
            _ => draft.not_assembled(key),
        }
    }
}

fn interaction<'a>(fields: &Object<'a>, draft: &mut Draft) -> Object<'a> {
    let value = fields.get("interaction");
    value.and_then(Json::object).unwrap_or_else(|| {
        draft.bad_field("interaction", "an object", value);
        Object::default()
    })
}

fn index(fields: &Object<'_>, draft: &mut Draft) -> Option<u64> {
    let value = fields.get("index");
    let index = value.and_then(Json::index);
    if index.is_none() {
        draft.bad_field("index", "an integer from 0 to 2147483647", value);
    }
    index
}

/// Cumulative: the newest object is the count.
fn usage(value: Json<'_>, draft: &mut Draft) {
    let Some(counts) = value.object() else {
        if !value.is_null() {
            draft.bad_field("usage", "an object", value);
        }
        return;
    };
    let tokens = Tokens {
        input: counts.u64("total_input_tokens"),
        output: counts.u64("total_output_tokens"),
        total: counts.u64("total_tokens"),
        cached: counts.u64("total_cached_tokens"),
        reasoning: counts.u64("total_thought_tokens"),
    };
    draft.usage(tokens, value);
}

/// A failure that does not say why.
fn no_error(object: Json<'_>) -> Fault {
    Fault {
        message: "The interaction failed and does not say why.".to_owned(),
        error_type: None,
        code: None,
        raw: object.compact(),
    }
}
