//! Tool calls out of fragments (`FORMATS.md` A.4.1).

use std::collections::{BTreeMap, HashMap};

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
    text::Str,
};

use super::choice::How;

/// What a call costs of the text limit beyond its bytes.
const CALL: usize = 512;

/// The calls of a choice.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// By position in the answer.
    states: BTreeMap<u64, State>,
    /// Which call an index stands for now: servers use one index for several calls.
    by_index: BTreeMap<u64, u64>,
    /// The positions of the calls by id.
    by_id: HashMap<String, u64>,
    /// The call that the last fragment without an index went to.
    last: Option<u64>,
    /// The calls came whole, in a full message.
    snapshot: bool,
    null_seen: bool,
}

#[derive(Debug)]
struct State {
    part: PartId,
    /// FIRST+.
    kind: Option<String>,
    custom: bool,
    fields: Map,
}

/// What of a fragment tells the call it belongs to.
struct Identity<'f> {
    index: Option<u64>,
    id: &'f str,
    has_name: bool,
}

impl Calls {
    /// Reads `tool_calls` of a delta or of a message.
    pub(super) fn read(&mut self, choice: u64, value: Json<'_>, draft: &mut Draft, how: How) {
        let Some(fragments) = value.items() else {
            self.null_seen |= value.is_null();
            if !value.is_null() {
                draft.bad_field("delta.tool_calls", "an array", value);
            }
            return;
        };
        if how == How::Snapshot {
            if self.states.is_empty() || self.snapshot {
                self.snapshot = !fragments.is_empty();
                self.whole(choice, &fragments, draft);
            }
            return;
        }
        for fragment in fragments {
            match fragment.object() {
                Some(fragment) => self.fragment(choice, &fragment, draft),
                None => draft.bad_field("delta.tool_calls[]", "an object", fragment),
            }
        }
    }

    /// The calls' parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = PartId> {
        self.states.values().map(|call| call.part)
    }

    /// The calls of a full message, by their position.
    fn whole(&mut self, choice: u64, calls: &[Json<'_>], draft: &mut Draft) {
        for (at, call) in calls.iter().enumerate() {
            let Some(call) = call.object() else { continue };
            let at = at as u64;
            self.make(at, choice, draft);
            self.by_index.insert(at, at);
            if let Some(state) = self.states.get_mut(&at) {
                state.read(&call, draft, How::Snapshot);
            }
        }
    }

    fn fragment(&mut self, choice: u64, fragment: &Object<'_>, draft: &mut Draft) {
        let id = fragment.filled("id").unwrap_or_default();
        let inner = ["function", "custom"].into_iter().filter_map(|key| fragment.get(key));
        let has_name =
            inner.filter_map(|inner| inner.get("name")?.str()).any(|name| !name.is_empty());
        let index = fragment.get("index").and_then(Json::index);
        if std::mem::replace(&mut self.snapshot, false) {
            *self = Self { null_seen: self.null_seen, ..Self::default() };
        }
        let at = self.position(choice, &Identity { index, id: &id, has_name }, draft);
        self.make(at, choice, draft);
        if let Some(state) = self.states.get_mut(&at) {
            state.read(fragment, draft, How::Delta);
            let known = draft.get(state.part).call.id.as_deref() == Some(&*id);
            if known && !self.by_id.contains_key(&*id) {
                self.by_id.insert(id.into_owned(), at);
            }
        }
    }

    /// The position of the call that a fragment belongs to.
    fn position(&mut self, choice: u64, fragment: &Identity<'_>, draft: &mut Draft) -> u64 {
        let Some(index) = fragment.index else {
            draft.report_once(&format!("no index {choice}"), Kind::ToolCallNoIndex { choice });
            let at = self.without_index(fragment, draft);
            self.by_index.entry(at).or_insert(at);
            self.last = Some(at);
            return at;
        };
        let Some(at) = self.by_index.get(&index).copied() else {
            let at = if self.states.contains_key(&index) { self.next() } else { index };
            self.by_index.insert(index, at);
            return at;
        };
        let Some(state) = self.states.get(&at) else { return at };
        let part = draft.get(state.part);
        let known = part.call.id.clone().unwrap_or_default();
        if known.is_empty() || fragment.id.is_empty() || known == fragment.id {
            return at;
        }
        if let Some(other) = self.find(fragment.id) {
            self.by_index.insert(index, other);
            return other;
        }
        if fragment.has_name || is_json(&part.text.to_escaped()) {
            let at = self.next();
            self.by_index.insert(index, at);
            draft.report(Kind::IndexReused { index, id: excerpt(fragment.id) });
            return at;
        }
        let what = format!("tool call {at}");
        let (first, second) = (excerpt(&known), excerpt(fragment.id));
        draft.report_once(&format!("id {choice} {at}"), Kind::IdChanged { what, first, second });
        at
    }

    /// A new id begins a new call, a known one continues its call, none continues the last one.
    fn without_index(&self, fragment: &Identity<'_>, draft: &Draft) -> u64 {
        if fragment.id.is_empty() {
            return self.last.unwrap_or(0);
        }
        if let Some(known) = self.find(fragment.id) {
            return known;
        }
        let first = self.states.get(&0).map(|state| draft.get(state.part));
        match first {
            Some(first) if first.call.id.is_some() => self.next(),
            _ => 0,
        }
    }

    fn find(&self, id: &str) -> Option<u64> {
        self.by_id.get(id).copied()
    }

    fn next(&self) -> u64 {
        self.states.last_key_value().map_or(0, |(at, _)| at + 1)
    }

    fn make(&mut self, at: u64, choice: u64, draft: &mut Draft) {
        if !self.states.contains_key(&at) && draft.admit(CALL) {
            let part = draft.part(choice, PartKind::Call);
            draft.get_mut(part).call.index = at;
            let state = State { part, kind: None, custom: false, fields: Map::default() };
            self.states.insert(at, state);
        }
    }

    /// Compares with the calls of a full message.
    pub(super) fn settle(&mut self, choice: u64, finals: Vec<Json<'_>>, draft: &mut Draft) {
        if self.snapshot || self.states.len() != finals.len() {
            return;
        }
        for ((at, state), last) in self.states.iter().zip(finals) {
            let arguments = last
                .get("function")
                .and_then(|function| function.get("arguments"))
                .and_then(Json::text);
            if let Some(arguments) = arguments {
                draft.settle(
                    state.part,
                    &arguments,
                    &format!("the arguments of tool call {at} of choice {choice}"),
                );
            }
        }
    }

    /// Writes the member, if there is a call that can be answered, or `null` if only that came.
    pub(super) fn write(&self, message: &mut Fields<'_, '_>) {
        let draft = message.draft();
        let whole: Vec<&State> = self
            .states
            .values()
            .filter(|state| draft.get(state.part).call.missing(true).is_none())
            .collect();
        if !whole.is_empty() {
            message.field("tool_calls", |value| {
                value.array(|items| {
                    for state in &whole {
                        items.item(|value| state.write(value));
                    }
                });
            });
        } else if self.null_seen && self.states.is_empty() {
            message.field("tool_calls", Writer::null);
        }
    }
}

impl State {
    fn read(&mut self, fragment: &Object<'_>, draft: &mut Draft, how: How) {
        for (key, value) in fragment.iter() {
            match key {
                "index" => {}
                "id" => match value.str() {
                    Some(id) => draft.call_id(self.part, &id),
                    None if value.is_null() => {}
                    None => draft.bad_field("tool_calls[].id", "a string", value),
                },
                "type" => {
                    let kind = value.str().filter(|kind| !kind.is_empty());
                    self.kind = self.kind.take().or_else(|| kind.map(std::borrow::Cow::into_owned));
                }
                "function" => self.function(value, draft, how),
                "custom" => self.custom(value, draft, how),
                _ => draft.carry(&mut self.fields, key, value, Map::merge),
            }
        }
    }

    fn function(&mut self, value: Json<'_>, draft: &mut Draft, how: How) {
        let Some(function) = value.object() else {
            if !value.is_null() {
                draft.bad_field("tool_calls[].function", "an object", value);
            }
            return;
        };
        for (key, value) in function.iter() {
            match key {
                "name" => self.name(&value.str().unwrap_or_default(), draft),
                "arguments" => match value.text() {
                    Some(text) => self.append(&text, draft, how),
                    None if value.is_object() => draft.call_object(self.part, value),
                    None if value.is_null() => {}
                    None => draft.bad_field("tool_calls[].function.arguments", "a string", value),
                },
                _ if value.is_null() => {}
                _ => draft.not_assembled(&format!("tool_calls[].function.{key}")),
            }
        }
    }

    fn custom(&mut self, value: Json<'_>, draft: &mut Draft, how: How) {
        let Some(custom) = value.object() else { return };
        self.custom = true;
        draft.get_mut(self.part).call.free = true;
        self.name(&custom.str("name").unwrap_or_default(), draft);
        self.append(&custom.get("input").and_then(Json::text).unwrap_or_default(), draft, how);
    }

    /// FIRST+; another one later is noted in the call's part.
    fn name(&self, name: &str, draft: &mut Draft) {
        draft.call_name(self.part, name);
        let part = draft.get_mut(self.part);
        if !name.is_empty() && part.call.name.as_deref() != Some(name) {
            part.extra.set("other_name", Node::string(name));
        }
    }

    fn append(&self, text: &Str<'_>, draft: &mut Draft, how: How) {
        match how {
            How::Delta => draft.append(self.part, text),
            How::Snapshot => draft.replace(self.part, text),
        }
    }

    fn write(&self, out: &mut Writer<'_>) {
        let call = &out.draft().get(self.part).call;
        let default = if self.custom { "custom" } else { "function" };
        out.object(|fields| {
            fields.field("id", |value| value.string_or_null(call.id.as_deref()));
            fields.string("type", self.kind.as_deref().unwrap_or(default));
            let (member, text) =
                if self.custom { ("custom", "input") } else { ("function", "arguments") };
            fields.field(member, |value| {
                value.object(|inner| {
                    inner.field("name", |value| value.string_or_null(call.name.as_deref()));
                    inner.field(text, |value| value.part(self.part));
                });
            });
            fields.map(&self.fields);
        });
    }
}

/// Whether arguments are whole. Texts that do not end like JSON are not parsed, so that many fragments
/// with many ids stay cheap.
fn is_json(text: &str) -> bool {
    let text = text.trim_ascii();
    text.ends_with(['}', ']', '"']) && Json::parse(text).is_ok()
}
