//! The tool calls of a data stream: begun, grown, made, answered.

use std::collections::HashMap;

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::Object,
    response::Writer,
};

/// What a call costs of the text limit beyond its part.
const CALL: usize = 256;

/// A call as far as it has come.
struct Invocation {
    part: PartId,
    state: State,
    /// The steps that were over when it began.
    step: u64,
}

#[derive(Clone, Copy)]
enum State {
    Partial,
    Call,
    Result,
}

impl State {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Partial => "partial-call",
            Self::Call => "call",
            Self::Result => "result",
        }
    }
}

/// The calls in the order in which they began.
#[derive(Default)]
pub(super) struct Calls {
    all: Vec<Invocation>,
    by_id: HashMap<Box<str>, usize>,
    step: u64,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A step is over.
    pub(super) fn next_step(&mut self) {
        self.step += 1;
    }

    /// A line about a call.
    pub(super) fn read(&mut self, code: &str, value: &Object<'_>, draft: &mut Draft) {
        let Some(id) = string(code, value, "toolCallId", draft) else { return };
        let key = Key::Name("tool call", (&*id).into());
        let member = match code {
            "9" => "args",
            "a" => "result",
            "b" => "toolName",
            _ => "argsTextDelta",
        };
        match code {
            "b" => {
                if let Some(call) = self.open(&id, &key, value, draft) {
                    call.state = State::Partial;
                }
            }
            "c" => Self::delta(&key, value, draft),
            "9" => {
                let known = draft.part_of(&key).is_some();
                let at = self.by_id.get(&*id).copied().filter(|_| known);
                let call = match at {
                    Some(at) => self.all.get_mut(at),
                    None => self.open(&id, &key, value, draft),
                };
                if let Some(call) = call {
                    call.make(&key, value, draft);
                }
            }
            _ => self.answer(&id, &key, value, draft),
        }
        for (name, _) in value.iter().filter(|(_, value)| !value.is_null()) {
            if name != member && !matches!(name, "toolCallId" | "toolName") {
                draft.not_assembled(&format!("{code} {name}"));
            }
        }
    }

    fn open(
        &mut self,
        id: &str,
        key: &Key,
        value: &Object<'_>,
        draft: &mut Draft,
    ) -> Option<&mut Invocation> {
        let name = string("a call", value, "toolName", draft);
        let again = draft.is_known(key);
        if !again && !draft.admit(CALL) {
            return None;
        }
        let part = draft.open(key.clone(), 0, PartKind::Call);
        if Draft::is_dropped(part) {
            return None;
        }
        draft.call_id(part, id);
        draft.call_name(part, &name.unwrap_or_default());
        if !again {
            self.by_id.insert(id.into(), self.all.len());
            self.all.push(Invocation { part, state: State::Call, step: self.step });
        }
        self.by_id.get(id).and_then(|at| self.all.get_mut(*at))
    }

    fn delta(key: &Key, value: &Object<'_>, draft: &mut Draft) {
        let Some(part) = draft.opened(key) else { return };
        match value.get("argsTextDelta").map(|delta| (delta, delta.text())) {
            Some((_, Some(text))) => draft.append(part, &text),
            Some((delta, None)) => draft.bad_field("c argsTextDelta", "a string", delta),
            None => draft.missing_field("c argsTextDelta", "a string"),
        }
    }

    fn answer(&mut self, id: &str, key: &Key, value: &Object<'_>, draft: &mut Draft) {
        let Some(call) = self.by_id.get(id).and_then(|at| self.all.get_mut(*at)) else {
            return draft.unstarted(key);
        };
        if draft.is_open(key) {
            draft.close(key);
            draft.close_call(call.part);
        }
        match value.get("result") {
            Some(result) => draft.extra_set(call.part, "result", result),
            None => draft.missing_field("a result", "a value"),
        }
        call.state = State::Result;
    }

    /// The body ended: what was collected for calls that were never made is judged.
    pub(super) fn judge(&self, draft: &mut Draft) {
        if !draft.has_ended() {
            return;
        }
        for Invocation { part, .. } in &self.all {
            if !draft.get(*part).call.complete {
                draft.close_call(*part);
                draft.get_mut(*part).call.complete = false;
            }
        }
    }

    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let draft = out.draft();
        out.array(|items| {
            for Invocation { part, state, step } in &self.all {
                let known = draft.get(*part);
                items.item(|value| {
                    value.object(|fields| {
                        fields.string("state", state.as_str());
                        fields.field("step", |value| value.number(*step));
                        fields.string("toolCallId", known.call.id.as_deref().unwrap_or_default());
                        fields.string("toolName", known.call.name.as_deref().unwrap_or_default());
                        if !known.text.is_empty() {
                            fields.field("args", |value| value.part_json(*part));
                        }
                        fields.map(&known.extra);
                    });
                });
            }
        });
    }
}

impl Invocation {
    /// The call is made: its arguments as a value count, whatever their text gave.
    fn make(&mut self, key: &Key, value: &Object<'_>, draft: &mut Draft) {
        match value.get("args") {
            Some(args) => draft.settle_call(self.part, args, &format!("the arguments of {key}")),
            None => draft.missing_field("9 args", "an object"),
        }
        if draft.is_open(key) {
            draft.close(key);
        }
        self.state = State::Call;
    }
}

fn string<'a>(
    code: &str,
    value: &Object<'a>,
    key: &str,
    draft: &mut Draft,
) -> Option<std::borrow::Cow<'a, str>> {
    let field = || format!("{code} {key}");
    let text = value.get(key).map(|value| (value, value.str()));
    match text {
        Some((_, Some(text))) => return Some(text),
        Some((value, None)) => draft.bad_field(&field(), "a string", value),
        None => draft.missing_field(&field(), "a string"),
    }
    None
}
