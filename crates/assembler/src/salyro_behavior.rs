//! Salyro Behavior Run events (`FORMATS.md` E).
//!
//! What the events are and which findings they give is documented; the names of most fields are not, so
//! several are taken.

use std::collections::HashMap;

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, Key, PartId, PartKind, Tokens},
    format::{Assembler, Event, EventLine, Format, Rules, Sentinel},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::Str,
};

pub(crate) const FORMAT: Format = Format {
    name: "salyro-behavior",
    title: "Salyro Behavior Run",
    rules: Rules {
        unit: "run",
        end: "`response.completed`",
        start: Some("`response.started`"),
        sentinel: Sentinel::Unknown,
        ..Rules::NONE
    },
    reasons: &[],
    errors: &[],
    start: || Box::<Run>::default(),
};

/// What the deltas' text may be called, the run's id, and what tells tool steps apart.
const TEXT_KEYS: &[&str] = &["delta", "text", "content"];
const ID_KEYS: &[&str] = &["id", "run_id", "runId"];
const STEP_KEYS: &[&str] = &["step", "step_id", "stepId", "tool_call_id", "id"];

/// What says nothing of the answer.
const UNCOUNTED: &[&str] = &["type", "sequence_number"];

/// What a step costs of the text limit beyond its bytes.
const STEP: usize = 512;

/// A run.
#[derive(Default)]
struct Run {
    /// What `response.started` and `response.completed` carry, apart from the usage.
    head: Map,
    /// The answer's text.
    text: Option<PartId>,
    steps: Vec<Step>,
    /// The newest step under a key.
    by_key: HashMap<Key, usize>,
    /// How many steps came without anything that tells them apart, and which of them are open.
    nameless: u64,
    open_nameless: Vec<u64>,
}

/// A tool step.
struct Step {
    part: PartId,
    fields: Map,
}

impl Assembler for Run {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        let kind = event.kind("type", EventLine::Optional, draft);
        let fields = event.object.clone().unwrap_or_default();
        match &*kind {
            "response.started" => self.started(&fields, draft),
            "output_text.delta" => self.delta(event.json, draft),
            "tool.started" => self.step_started(&fields, draft),
            "tool.completed" => self.step_ended(&fields, "completed", draft),
            "tool.failed" => self.step_ended(&fields, "failed", draft),
            "response.completed" => self.completed(&fields, draft),
            _ => {
                draft.unknown(&crate::candidate::name_of(event));
                return;
            }
        }
        draft.output(0);
        draft.remark("the plain response in a shape that is not documented");
    }

    /// The plain response is not documented: what the stream would give is read.
    fn document(&mut self, document: Json<'_>, draft: &mut Draft) {
        let Some(run) = document.object() else { return };
        draft.output(0);
        if let Some(id) = run_id(&run) {
            draft.id("the run", &id);
        }
        if let Some(text) = run.get("output_text").and_then(Json::text) {
            self.append(&text, draft);
        }
        for tool in run.get("tools").and_then(Json::items).unwrap_or_default() {
            let part = draft.part(0, PartKind::Other("tool"));
            for (key, value) in tool.object().unwrap_or_default().iter() {
                draft.extra(part, key, value, Map::last);
            }
        }
        if run.has("usage") {
            read_usage(run.get("usage"), draft);
        }
        draft.end();
    }

    fn response(&self, out: &mut Writer<'_>) {
        let draft = out.draft();
        if !draft.has_outputs() {
            return;
        }
        out.object(|fields| {
            if let Some(id) = &draft.id {
                fields.string("id", id);
            }
            fields.map(&self.head);
            fields.field("output_text", |value| match self.text {
                Some(part) => value.part(part),
                None => value.string(""),
            });
            if let Some((_, usage)) = &draft.usage {
                fields.node("usage", usage);
            }
            fields.field("tools", |value| {
                value.array(|items| {
                    for step in &self.steps {
                        items.item(|value| value.object(|fields| fields.map(&step.fields)));
                    }
                });
            });
        });
    }
}

impl Run {
    fn started(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        draft.start();
        if let Some(id) = run_id(fields) {
            draft.id("the run", &id);
        }
        match fields.get("behavior") {
            Some(behavior) if behavior.is_string() => self.head.first("behavior", behavior),
            Some(behavior) => draft.bad_field("behavior", "a string", behavior),
            None => draft.missing_field("behavior", "a string"),
        }
        match fields.get("version") {
            Some(version) if version.is_number() || version.is_null() => {
                self.head.first("version", version);
            }
            Some(version) => draft.bad_field("version", "a number or null", version),
            None => draft.missing_field("version", "a number or null"),
        }
        self.others(fields, &["behavior", "version"], draft);
    }

    fn delta(&mut self, data: Json<'_>, draft: &mut Draft) {
        let fields = data.object().unwrap_or_default();
        let text = data
            .text()
            .or_else(|| TEXT_KEYS.iter().find_map(|key| fields.get(key).and_then(Json::text)));
        match text {
            Some(text) => self.append(&text, draft),
            None => draft.bad_field("delta", "a string", data),
        }
        let is_known = |key: &str| {
            TEXT_KEYS.contains(&key) || ID_KEYS.contains(&key) || UNCOUNTED.contains(&key)
        };
        for (key, _) in fields.iter().filter(|(key, value)| !is_known(key) && !value.is_null()) {
            draft.not_assembled(&format!("output_text.delta {key}"));
        }
    }

    fn append(&mut self, text: &Str<'_>, draft: &mut Draft) {
        let part = *self.text.get_or_insert_with(|| draft.part(0, PartKind::Text));
        draft.append(part, text);
    }

    fn step_started(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        if !draft.admit(STEP) {
            return;
        }
        let key = step_key(fields).unwrap_or_else(|| {
            self.nameless += 1;
            self.open_nameless.push(self.nameless);
            Key::Index("step", self.nameless)
        });
        // One that is started again is listed again: the first one's end is not known.
        draft.open_bare(key.clone());
        let part = draft.part(0, PartKind::Other("tool"));
        self.by_key.insert(key, self.steps.len());
        let mut step = Step { part, fields: Map::default() };
        step.read(fields, "started", draft);
        self.steps.push(step);
    }

    fn step_ended(&mut self, fields: &Object<'_>, status: &str, draft: &mut Draft) {
        let key = step_key(fields).unwrap_or_else(|| self.newest_nameless());
        let mut tool = fields.filled("name").map(std::borrow::Cow::into_owned);
        if draft.is_open(&key) {
            let at = self.by_key.get(&key).copied();
            if let Some(step) = at.and_then(|at| self.steps.get_mut(at)) {
                step.read(fields, status, draft);
                let name = step.fields.get("name").and_then(Node::json).and_then(Json::str);
                tool = name.map(std::borrow::Cow::into_owned).or(tool);
            }
        }
        draft.close(&key);
        if status == "failed" {
            let tool = excerpt(&tool.unwrap_or_else(|| key.to_string()));
            draft.report(Kind::ToolFailed { tool, message: failure(fields) });
        }
    }

    /// The key of the newest step that is open and that nothing tells apart.
    fn newest_nameless(&mut self) -> Key {
        Key::Index("step", self.open_nameless.pop().unwrap_or(self.nameless + 1))
    }

    fn completed(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        if let Some(id) = run_id(fields) {
            match &draft.id {
                Some(first) if *first != id => {
                    let (kept, assembled) = (excerpt(&id), excerpt(first));
                    let what = "the run's id".to_owned();
                    draft.report(Kind::DoneMismatch { what, kept, assembled });
                }
                _ => draft.id("the run", &id),
            }
        }
        read_usage(fields.get("usage"), draft);
        self.others(fields, &["usage"], draft);
        draft.end();
    }

    /// What else an event carries.
    fn others(&mut self, fields: &Object<'_>, known: &[&str], draft: &mut Draft) {
        for (key, value) in fields.iter() {
            let known = known.contains(&key)
                || ID_KEYS.contains(&key)
                || UNCOUNTED.contains(&key)
                || key == "response";
            if key == "model" {
                draft.model(&value.str().unwrap_or_default());
            }
            if !known {
                draft.carry(&mut self.head, key, value, Map::last);
            }
        }
    }
}

impl Step {
    fn read(&mut self, fields: &Object<'_>, status: &str, draft: &mut Draft) {
        for (key, value) in fields.iter() {
            if !UNCOUNTED.contains(&key) {
                draft.carry(&mut self.fields, key, value, Map::last);
                draft.extra(self.part, key, value, Map::last);
            }
        }
        self.fields.set("status", Node::string(status));
        draft.get_mut(self.part).extra.set("status", Node::string(status));
    }
}

fn run_id(fields: &Object<'_>) -> Option<String> {
    let own = ID_KEYS.iter().find_map(|key| fields.filled(key));
    let inner = || fields.get("response")?.get("id")?.str();
    own.or_else(inner).map(std::borrow::Cow::into_owned).filter(|id| !id.is_empty())
}

/// What tells a step apart: a string or a number.
fn step_key(fields: &Object<'_>) -> Option<Key> {
    STEP_KEYS.iter().find_map(|key| {
        let value = fields.get(key)?;
        let number = || value.is_number().then(|| value.raw().into());
        let name = value.str().filter(|name| !name.is_empty()).or_else(number)?;
        Some(Key::Name("step", name.into()))
    })
}

/// Why a tool failed, as far as it is told.
fn failure(fields: &Object<'_>) -> String {
    let error = ["error", "message", "reason"].into_iter().find_map(|key| fields.some(key));
    let text = error.and_then(|error| error.str().or_else(|| error.get("message")?.str()));
    match (text, error) {
        (Some(text), _) if !text.is_empty() => excerpt(&text),
        (None, Some(error)) => error.shortened(),
        _ => "it does not say why".to_owned(),
    }
}

/// The three counts; anything else is no usage.
fn read_usage(value: Option<Json<'_>>, draft: &mut Draft) {
    let expected = "the counts `inputTokens`, `outputTokens` and `totalTokens`";
    let Some(value) = value else { return draft.missing_field("usage", expected) };
    let counts = value.object().unwrap_or_default();
    let [input, output, total] =
        ["inputTokens", "outputTokens", "totalTokens"].map(|key| counts.u64(key));
    if input.is_some() && output.is_some() && total.is_some() {
        draft.usage(Tokens { input, output, total, ..Tokens::default() }, value);
    } else {
        draft.bad_field("usage", expected, value);
    }
}
