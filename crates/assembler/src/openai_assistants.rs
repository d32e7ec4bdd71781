//! `OpenAI` Assistants: runs, their steps and their messages (`FORMATS.md` H2).
//!
//! Every event but the deltas carries a whole object, known again by its id. The plain twin of a stream is the
//! run alone, so the response here is derived: the run, its messages and its steps.

mod resource;
mod spot;
mod words;

use std::{borrow::Cow, collections::HashMap};

use teeline_finding::{Kind, excerpt};

use crate::{
    candidate::name_of,
    draft::{Draft, Key, PartId, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Rules, Sentinel},
    json::{Json, Object},
    node::Map,
    response::Writer,
};

use resource::Resource;

pub(crate) const FORMAT: Format = Format {
    name: "openai-assistants",
    title: "OpenAI Assistants",
    rules: Rules {
        unit: "run",
        end: "`event: done`",
        sentinel: Sentinel::Ends,
        deltas: true,
        empty_arguments: true,
        ..Rules::NONE
    },
    reasons: words::REASONS,
    errors: &[],
    start: || Box::<Assistants>::default(),
};

/// A stream of a run.
#[derive(Default)]
struct Assistants {
    run: Option<Map>,
    messages: List,
    steps: List,
    /// The run said which calls it waits for.
    waits: bool,
    has_failed: bool,
}

/// Messages or steps, in the order in which they were first named.
#[derive(Default)]
struct List {
    resources: Vec<Resource>,
    by_id: HashMap<String, usize>,
}

impl Assembler for Assistants {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        if event.name() == Some("done") {
            draft.end();
            return;
        }
        let name = event.object.as_ref().and_then(|object| name(event, object, draft));
        let (Some(object), Some(name)) = (&event.object, name) else {
            draft.unknown(&name_of(event));
            return;
        };
        let (subject, state) = name.rsplit_once('.').unwrap_or((&name, ""));
        let raw = event.json.raw().len();
        match (subject, state) {
            ("thread", "created") => draft.note("thread"),
            ("thread.message" | "thread.run.step", "delta") => {
                self.delta(subject, object, draft);
            }
            ("thread.message", "created" | "in_progress" | "completed" | "incomplete")
            | (
                "thread.run.step",
                "created" | "in_progress" | "completed" | "failed" | "cancelled" | "expired",
            ) => {
                let is_final = !matches!(state, "created" | "in_progress");
                self.snapshot(subject, object, raw, is_final, draft);
            }
            (
                "thread.run",
                "created" | "queued" | "in_progress" | "requires_action" | "completed"
                | "incomplete" | "failed" | "cancelling" | "cancelled" | "expired",
            ) => self.run(object, state, draft),
            _ => draft.unknown(&name),
        }
    }

    fn bare(&mut self, event: &str, draft: &mut Draft) -> bool {
        let is_end = event == "done" && !draft.is_over();
        if is_end {
            draft.end();
        }
        is_end
    }

    /// Steps and messages may be closed after the run has failed.
    fn passes_end(&self, event: &Event<'_>) -> bool {
        self.has_failed
            && event.name().is_some_and(|name| {
                name.starts_with("thread.run.step.") || name.starts_with("thread.message.")
            })
    }

    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(object) = document.object() else { return };
        match object.str("object").as_deref() {
            Some("thread.run") => {
                let status = object.filled("status").unwrap_or_default().into_owned();
                draft.output(0);
                self.run(&object, &status, draft);
            }
            Some(subject @ ("thread.message" | "thread.run.step")) => {
                self.snapshot(subject, &object, document.raw().len(), true, draft);
            }
            _ => return,
        }
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        if draft.has_outputs() {
            draft.role(0, "assistant");
        }
    }

    fn response(&self, out: &mut Writer<'_>) {
        if self.run.is_none() && self.messages.is_empty() && self.steps.is_empty() {
            return;
        }
        out.object(|fields| {
            fields.field("run", |value| match &self.run {
                Some(run) => value.object(|fields| fields.map(run)),
                None => value.null(),
            });
            fields.field("messages", |value| self.messages.write(value));
            fields.field("steps", |value| self.steps.write(value));
        });
    }
}

impl Assistants {
    /// The run as a whole object.
    fn run(&mut self, run: &Object<'_>, state: &str, draft: &mut Draft) {
        self.run = Some(Map::from(run));
        draft.id("the run", &run.str("id").unwrap_or_default());
        draft.model(&run.str("model").unwrap_or_default());
        if let Some(usage) = run.some("usage") {
            match usage.object() {
                Some(object) => draft.usage(tokens(&object), usage),
                None => draft.bad_field("usage", "an object", usage),
            }
        }
        let status = run.filled("status").unwrap_or(Cow::Borrowed(state));
        match state {
            "created" | "queued" | "in_progress" | "cancelling" => draft.note(state),
            "failed" => {
                self.has_failed = true;
                draft.fail(fault(run));
                if draft.has_outputs() {
                    draft.stop(0, &status);
                }
            }
            _ => draft.stop(0, &status),
        }
        if state == "requires_action" && !std::mem::replace(&mut self.waits, true) {
            self.wait(run, draft);
        }
        if state == "incomplete" {
            let details = run.get("incomplete_details").and_then(|details| details.get("reason"));
            let reason = details.and_then(Json::str).unwrap_or_default();
            draft.stop_detail(0, &reason);
            if !draft.is_document() {
                draft.report(Kind::Incomplete { reason: excerpt(&reason) });
            }
        }
    }

    /// The run waits for the outputs of calls: its steps go on in another stream.
    fn wait(&mut self, run: &Object<'_>, draft: &mut Draft) {
        let mut known: HashMap<String, (usize, PartId)> = HashMap::new();
        for (at, step) in self.steps.resources.iter().enumerate() {
            for part in step.functions(draft) {
                if let Some(id) = &draft.get(part).call.id {
                    known.insert(id.clone(), (at, part));
                }
            }
            if draft.is_open(&step.key) {
                draft.close(&step.key);
            }
        }
        let action =
            run.get("required_action").and_then(|action| action.get("submit_tool_outputs"));
        let calls = action.and_then(|outputs| outputs.get("tool_calls")).and_then(Json::items);
        for call in calls.unwrap_or_default().into_iter().filter_map(Json::object) {
            let id = call.str("id").unwrap_or_default();
            let part = match known.get(&*id) {
                Some((at, part)) => {
                    if let Some(step) = self.steps.resources.get(*at) {
                        step.require(&call, *part, draft);
                    }
                    *part
                }
                None => new_call(&call, draft),
            };
            draft.close_call(part);
        }
    }

    fn snapshot(
        &mut self,
        subject: &str,
        object: &Object<'_>,
        raw: usize,
        is_final: bool,
        draft: &mut Draft,
    ) {
        let (list, noun) = self.list(subject);
        let Some(id) = object.filled("id") else {
            draft.bad_field("id", "a string", object.get("id"));
            return;
        };
        let key = Key::Name(noun, (&*id).into());
        draft.output(0);
        if !list.by_id.contains_key(&*id) && !list.push(id.into_owned(), key.clone(), draft) {
            return;
        }
        if is_final && draft.is_open(&key) {
            draft.close(&key);
        } else if !is_final && !draft.is_known(&key) {
            draft.open_bare(key.clone());
        }
        if let Some(resource) = list.find(object) {
            resource.snapshot(object, raw, is_final, draft);
        }
    }

    fn delta(&mut self, subject: &str, object: &Object<'_>, draft: &mut Draft) {
        let (list, noun) = self.list(subject);
        let Some(resource) = list.find(object) else {
            let id = object.str("id").unwrap_or_default();
            draft.unstarted(&Key::Name(noun, (&*excerpt(&id)).into()));
            return;
        };
        let value = object.get("delta");
        match value.and_then(Json::object) {
            Some(delta) if subject == "thread.message" => resource.message_delta(&delta, draft),
            Some(delta) => resource.step_delta(&delta, draft),
            None => draft.bad_field("delta", "an object", value),
        }
    }

    fn list(&mut self, subject: &str) -> (&mut List, &'static str) {
        if subject == "thread.message" {
            (&mut self.messages, "message")
        } else {
            (&mut self.steps, "step")
        }
    }
}

impl List {
    fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    fn find(&mut self, object: &Object<'_>) -> Option<&mut Resource> {
        let at = self.by_id.get(&*object.str("id")?)?;
        self.resources.get_mut(*at)
    }

    /// `false` when the bound is reached.
    fn push(&mut self, id: String, key: Key, draft: &mut Draft) -> bool {
        let Some(new) = Resource::new(key, draft) else { return false };
        self.by_id.insert(id, self.resources.len());
        self.resources.push(new);
        true
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.array(|items| {
            for resource in &self.resources {
                items.item(|value| value.object(|fields| fields.map(&resource.tree)));
            }
        });
    }
}

/// An event's name. Where the line is missing it is told from the object: official clients dispatch on it.
fn name<'a>(event: &Event<'a>, object: &Object<'a>, draft: &mut Draft) -> Option<Cow<'a, str>> {
    if let Some(name) = event.name().filter(|name| name.starts_with("thread.")) {
        return Some(name.into());
    }
    let kind = object.filled("object").filter(|kind| kind.starts_with("thread"))?;
    if event.name().is_none() {
        let data_type = excerpt(&kind);
        draft.report_once("event line", Kind::EventLineMissing { data_type });
    }
    if kind.ends_with(".delta") {
        return Some(kind);
    }
    let state = object.filled("status").unwrap_or(Cow::Borrowed("created"));
    Some(format!("{kind}.{state}").into())
}

/// A call that no step of this stream has.
fn new_call(call: &Object<'_>, draft: &mut Draft) -> PartId {
    let part = draft.part(0, PartKind::Call);
    draft.call_id(part, &call.str("id").unwrap_or_default());
    if let Some(function) = call.get("function").and_then(Json::object) {
        draft.call_name(part, &function.str("name").unwrap_or_default());
        draft.replace(part, &function.get("arguments").and_then(Json::text).unwrap_or_default());
    }
    part
}

fn fault(run: &Object<'_>) -> Fault {
    match run.some("last_error") {
        Some(error) => Fault::of_object(error),
        None => Fault {
            message: "the run failed and gave no error".to_owned(),
            error_type: None,
            code: None,
            raw: "null".into(),
        },
    }
}

fn tokens(usage: &Object<'_>) -> Tokens {
    let detail = |objects: [&str; 2], key: &str| {
        objects.iter().find_map(|object| usage.get(object)?.get(key)?.u64())
    };
    Tokens {
        input: usage.u64("prompt_tokens"),
        output: usage.u64("completion_tokens"),
        total: usage.u64("total_tokens"),
        // The schema and the wire spell it in two ways.
        cached: detail(["prompt_token_details", "prompt_tokens_details"], "cached_tokens"),
        reasoning: detail(
            ["completion_tokens_details", "completion_token_details"],
            "reasoning_tokens",
        ),
    }
}
