//! A message or a step: its tree, and its parts in the reading.

use std::collections::BTreeMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
};

use super::spot::{self, Spot};

/// What a resource, an element or a text costs of the text limit beyond its bytes.
const OVERHEAD: usize = 256;

/// Fields up to this size are shown with a tool call's part; larger ones are in the response only.
const SHOWN: usize = 4 * 1024;

/// A message or a step of a run.
#[derive(Debug)]
pub(super) struct Resource {
    /// What findings call it.
    pub(super) key: Key,
    /// The object as the newest snapshot has it, with what the deltas added; texts are put in as parts.
    pub(super) tree: Map,
    texts: BTreeMap<Spot, PartId>,
    /// The parts of a step's tool calls.
    calls: BTreeMap<u64, PartId>,
}

impl Resource {
    /// A resource that is not known yet. `None` when the bound is reached.
    pub(super) fn new(key: Key, draft: &mut Draft) -> Option<Self> {
        draft.admit(OVERHEAD).then(|| Self {
            key,
            tree: Map::default(),
            texts: BTreeMap::new(),
            calls: BTreeMap::new(),
        })
    }

    /// The whole object: REPLACE. `is_final`: its texts are compared with what the deltas gave, and its calls
    /// are whole.
    pub(super) fn snapshot(
        &mut self,
        object: &Object<'_>,
        raw: usize,
        is_final: bool,
        draft: &mut Draft,
    ) {
        if !draft.admit(raw) {
            return;
        }
        self.tree = Map::from(object);
        for (spot, part) in &self.texts {
            spot.put(&mut self.tree, Node::Part(*part));
        }
        draft.role(0, &object.str("role").unwrap_or_default());
        for (index, call) in (0..).zip(spot::tool_calls(object)) {
            if let Some(call) = call.object() {
                self.call(index, &call, draft);
            }
        }
        for (spot, text) in Spot::all(object) {
            let Some(part) = self.part(spot, draft) else { continue };
            if is_final {
                let what = format!("the {} of {}", spot.words(), self.key);
                draft.settle(part, &text, &what);
            } else {
                draft.replace(part, &text);
            }
        }
        if is_final {
            self.close(draft);
        }
    }

    /// `thread.message.delta`.
    pub(super) fn message_delta(&mut self, delta: &Object<'_>, draft: &mut Draft) {
        draft.role(0, &delta.str("role").unwrap_or_default());
        if let Some(role) = delta.some("role") {
            self.tree.first_filled("role", role);
        }
        for (index, part) in elements(delta, "content", draft) {
            for (key, value) in part.iter() {
                match key {
                    "index" => {}
                    "text" => self.text(index, value, draft),
                    "refusal" => self.append(Spot::Refusal(index), value, draft),
                    "type" => self.content(index, key, value, Map::first_filled, draft),
                    _ => self.content(index, key, value, Map::merge, draft),
                }
            }
        }
        others(delta, &["role", "content"], draft);
    }

    /// `thread.run.step.delta`.
    pub(super) fn step_delta(&mut self, delta: &Object<'_>, draft: &mut Draft) {
        others(delta, &["step_details"], draft);
        let Some(details) = delta.get("step_details").and_then(Json::object) else { return };
        for (key, value) in details.iter().filter(|(key, _)| *key != "tool_calls") {
            let known = self.tree.entry("step_details").object();
            draft.carry(known, key, value, Map::merge);
        }
        for (index, call) in elements(&details, "tool_calls", draft) {
            self.call(index, &call, draft);
            for (key, value) in call.iter() {
                match (key, value.object()) {
                    ("index", _) => {}
                    ("function", Some(function)) => self.function(index, &function, draft),
                    ("code_interpreter", Some(interpreter)) => {
                        self.interpreter(index, &interpreter, draft);
                    }
                    ("id" | "type", _) => {
                        let known = spot::tool_call(&mut self.tree, index);
                        draft.carry(known, key, value, Map::first_filled);
                    }
                    _ => {
                        let known = spot::tool_call(&mut self.tree, index);
                        draft.carry(known, key, value, Map::merge);
                    }
                }
            }
        }
    }

    /// Everything of its calls came.
    pub(super) fn close(&self, draft: &mut Draft) {
        for part in self.functions(draft) {
            draft.close_call(part);
        }
    }

    /// The parts of the calls that the client has to answer.
    pub(super) fn functions(&self, draft: &Draft) -> Vec<PartId> {
        let is_call = |part: &PartId| draft.get(*part).kind == PartKind::Call;
        self.calls.values().copied().filter(is_call).collect()
    }

    fn text(&mut self, index: u64, value: Json<'_>, draft: &mut Draft) {
        let Some(text) = value.object() else {
            draft.bad_field("delta.content[].text", "an object", value);
            return;
        };
        for (key, value) in text.iter() {
            match key {
                "value" => self.append(Spot::Value(index), value, draft),
                "annotations" => {
                    for (at, annotation) in elements(&text, key, draft) {
                        let known = spot::content(&mut self.tree, index).entry("text").object();
                        let known = spot::slot(known.entry(key), at);
                        for (key, value) in annotation.iter().filter(|(key, _)| *key != "index") {
                            draft.carry(known, key, value, Map::merge);
                        }
                    }
                    let known = spot::content(&mut self.tree, index).entry("text").object();
                    known.entry(key).slots();
                }
                _ => {
                    let known = spot::content(&mut self.tree, index).entry("text").object();
                    draft.carry(known, key, value, Map::last);
                }
            }
        }
    }

    fn content(
        &mut self,
        index: u64,
        key: &str,
        value: Json<'_>,
        verb: fn(&mut Map, &str, Json<'_>),
        draft: &mut Draft,
    ) {
        draft.carry(spot::content(&mut self.tree, index), key, value, verb);
    }

    fn function(&mut self, index: u64, function: &Object<'_>, draft: &mut Draft) {
        for (key, value) in function.iter() {
            if key == "arguments" {
                self.append(Spot::Arguments(index), value, draft);
            } else {
                let known = spot::tool_call(&mut self.tree, index).entry("function").object();
                let verb = if key == "name" { Map::first_filled } else { Map::last };
                draft.carry(known, key, value, verb);
            }
        }
    }

    fn interpreter(&mut self, index: u64, interpreter: &Object<'_>, draft: &mut Draft) {
        for (key, value) in interpreter.iter() {
            match key {
                "input" => self.append(Spot::Input(index), value, draft),
                "outputs" => {
                    for (at, output) in elements(interpreter, key, draft) {
                        self.output((index, at), &output, draft);
                    }
                }
                _ => {
                    let call = spot::tool_call(&mut self.tree, index);
                    let known = call.entry("code_interpreter").object();
                    draft.carry(known, key, value, Map::last);
                }
            }
        }
    }

    fn output(&mut self, (index, at): (u64, u64), output: &Object<'_>, draft: &mut Draft) {
        for (key, value) in output.iter().filter(|(key, _)| *key != "index") {
            if key == "logs" {
                self.append(Spot::Logs(index, at), value, draft);
            } else {
                let known = spot::output(spot::tool_call(&mut self.tree, index), at);
                draft.carry(known, key, value, Map::last);
            }
        }
    }

    /// A tool call's part, made where it is missing, with its id and name. A function whose output is there has
    /// been answered.
    fn call(&mut self, index: u64, call: &Object<'_>, draft: &mut Draft) {
        let function = call.get("function").and_then(Json::object);
        let kind = match call.str("type").as_deref() {
            Some("code_interpreter") => PartKind::Other("code-interpreter-call"),
            Some("file_search") => PartKind::Other("file-search-call"),
            Some("function") => PartKind::Call,
            _ if function.is_some() => PartKind::Call,
            _ if call.has("code_interpreter") => PartKind::Other("code-interpreter-call"),
            _ => PartKind::Other("other"),
        };
        let Some(part) = self.own(index, kind, draft) else { return };
        draft.call_id(part, &call.str("id").unwrap_or_default());
        if let Some(function) = function {
            draft.call_name(part, &function.str("name").unwrap_or_default());
            if function.some("output").is_some() {
                draft.get_mut(part).kind = PartKind::Other("answered-call");
            }
        }
        for (key, value) in call.iter() {
            let is_said = matches!(key, "index" | "id" | "function" | "code_interpreter");
            if !is_said && value.raw().len() <= SHOWN {
                draft.extra(part, key, value, Map::merge);
            }
        }
    }

    fn own(&mut self, index: u64, kind: PartKind, draft: &mut Draft) -> Option<PartId> {
        if let Some(part) = self.calls.get(&index) {
            return Some(*part);
        }
        let part = draft.admit(OVERHEAD).then(|| draft.part(0, kind))?;
        self.calls.insert(index, part);
        Some(part)
    }

    /// The part of a text, made where it is missing.
    fn part(&mut self, spot: Spot, draft: &mut Draft) -> Option<PartId> {
        if let Some(part) = self.texts.get(&spot) {
            return Some(*part);
        }
        if !draft.admit(OVERHEAD) {
            return None;
        }
        let part = match spot.call() {
            Some(index) => self.own(index, spot.kind(), draft)?,
            None => draft.part(0, spot.kind()),
        };
        spot.put(&mut self.tree, Node::Part(part));
        self.texts.insert(spot, part);
        Some(part)
    }

    fn append(&mut self, spot: Spot, value: Json<'_>, draft: &mut Draft) {
        match value.text() {
            Some(text) => {
                if let Some(part) = self.part(spot, draft) {
                    draft.append(part, &text);
                }
            }
            None if value.is_null() => drop(self.part(spot, draft)),
            None => draft.bad_field(spot.words(), "a string", value),
        }
    }

    /// A call that the run names among those to be answered.
    pub(super) fn require(&self, call: &Object<'_>, part: PartId, draft: &mut Draft) {
        let arguments = call.get("function").and_then(|function| function.get("arguments"));
        if let Some(arguments) = arguments.and_then(Json::text) {
            draft.settle(part, &arguments, &format!("the arguments of {}", self.key));
        }
    }
}

/// The elements of a list in a delta, by their index or else their position; bad ones are reported.
fn elements<'a>(delta: &Object<'a>, key: &str, draft: &mut Draft) -> Vec<(u64, Object<'a>)> {
    let value = delta.get(key).unwrap_or(Json::NULL);
    let Some(items) = value.items() else {
        if !value.is_null() {
            draft.bad_field(&format!("delta.{key}"), "an array", value);
        }
        return Vec::new();
    };
    let mut found = Vec::with_capacity(items.len());
    for (at, item) in (0..).zip(items) {
        let Some(element) = item.object() else {
            draft.bad_field(&format!("delta.{key}[]"), "an object", item);
            continue;
        };
        let index = match element.some("index") {
            None => Some(at),
            Some(index) => index.index(),
        };
        match index {
            Some(index) if draft.admit(OVERHEAD) => found.push((index, element)),
            Some(_) => {}
            None => {
                let value = element.get("index").unwrap_or(Json::NULL);
                let field = format!("delta.{key}[].index");
                draft.bad_field(&field, "an integer from 0 to 2147483647", value);
            }
        }
    }
    found
}

/// What a delta has besides.
fn others(delta: &Object<'_>, known: &[&str], draft: &mut Draft) {
    for (key, value) in delta.iter() {
        if !known.contains(&key) && !value.is_null() {
            draft.not_assembled(&format!("delta.{key}"));
        }
    }
}
