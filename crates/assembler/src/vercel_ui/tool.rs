//! A tool call: its input comes as text, then as a value; then an approval or a result may follow.

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, Key, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Fields,
};

use super::{message::set, string, unread};

/// Members that every chunk of a call may have.
const COMMON: &[&str] = &[
    "toolCallId",
    "toolName",
    "dynamic",
    "title",
    "toolMetadata",
    "providerExecuted",
    "providerMetadata",
];

/// What is the format's own of a tool call.
#[derive(Default)]
pub(super) struct Tool {
    /// It is of no tool that the application knows by type; `None` before anything came.
    dynamic: Option<bool>,
    /// Its input is a value that the tool could not take.
    refused: bool,
    failed: bool,
}

impl Tool {
    /// What the part of a call is that begins with this chunk.
    pub(super) fn kind(chunk: &Object<'_>) -> PartKind {
        if chunk.get("providerExecuted").and_then(Json::bool) == Some(true) {
            PartKind::Other("provider-tool")
        } else {
            PartKind::Call
        }
    }

    /// Reads a chunk of the call.
    pub(super) fn read(
        &mut self,
        kind: &str,
        key: &Key,
        part: PartId,
        chunk: &Object<'_>,
        draft: &mut Draft,
    ) {
        if kind.starts_with("tool-input") {
            draft.call_id(part, &chunk.str("toolCallId").unwrap_or_default());
            if kind != "tool-input-delta"
                && let Some(name) = string(kind, chunk, "toolName", draft)
            {
                draft.call_name(part, &name);
            }
        }
        if !kind.starts_with("tool-approval") {
            self.common(kind, part, chunk, draft);
        }
        let state = match kind {
            "tool-input-start" => "input-streaming",
            "tool-input-delta" => return Self::delta(part, chunk, draft),
            "tool-input-available" => {
                settle(key, part, chunk.get("input"), draft);
                "input-available"
            }
            "tool-input-error" => {
                self.refused = self.dynamic != Some(true);
                settle(key, part, chunk.get("input"), draft);
                self.failure(part, kind, chunk, draft);
                "output-error"
            }
            "tool-approval-request" | "tool-approval-response" => {
                approval(kind, part, chunk, draft)
            }
            "tool-output-available" => {
                result(kind, part, chunk, draft);
                "output-available"
            }
            "tool-output-error" => {
                self.failure(part, kind, chunk, draft);
                "output-error"
            }
            _ => "output-denied",
        };
        if kind != "tool-input-start" && draft.is_open(key) {
            draft.close(key);
            draft.close_call(part);
        }
        set(part, "state", state, draft);
    }

    fn common(&mut self, kind: &str, part: PartId, chunk: &Object<'_>, draft: &mut Draft) {
        let is_result = kind.starts_with("tool-output") || kind == "tool-input-error";
        for (key, value) in chunk.iter().filter(|(_, value)| !value.is_null()) {
            match key {
                // What comes later says again how the call was made.
                "dynamic" if !is_result || self.dynamic.is_none() => self.dynamic = value.bool(),
                "title" | "toolMetadata" | "providerExecuted" => draft.extra_set(part, key, value),
                "providerMetadata" if is_result => {
                    draft.extra_set(part, "resultProviderMetadata", value);
                }
                "providerMetadata" => draft.extra_set(part, "callProviderMetadata", value),
                _ => {}
            }
        }
        let own: &[&str] = match kind {
            "tool-input-start" | "tool-output-denied" => &[],
            "tool-input-delta" => &["inputTextDelta"],
            "tool-input-available" => &["input"],
            "tool-input-error" => &["input", "errorText"],
            "tool-output-error" => &["errorText"],
            _ => &["output", "preliminary"],
        };
        self.dynamic.get_or_insert(false);
        unread(kind, chunk, &[COMMON, own].concat(), draft);
    }

    /// The input's text grows.
    fn delta(part: PartId, chunk: &Object<'_>, draft: &mut Draft) {
        let field = "tool-input-delta inputTextDelta";
        match chunk.get("inputTextDelta").map(|delta| (delta, delta.text())) {
            Some((_, Some(text))) => draft.append(part, &text),
            Some((delta, None)) => draft.bad_field(field, "a string", delta),
            None => draft.missing_field(field, "a string"),
        }
    }

    /// The call failed: told once, since a bad input and its result both say so.
    fn failure(&mut self, part: PartId, kind: &str, chunk: &Object<'_>, draft: &mut Draft) {
        let text = string(kind, chunk, "errorText", draft);
        if let Some(text) = &text {
            set(part, "errorText", text, draft);
        }
        if !std::mem::replace(&mut self.failed, true) {
            let tool = excerpt(draft.get(part).call.name.as_deref().unwrap_or_default());
            let message = excerpt(&text.unwrap_or_default());
            draft.report(Kind::ToolFailed { tool, message });
        }
    }

    /// A call as a part of a plain message.
    pub(super) fn whole(kind: &str, fields: &Object<'_>, draft: &mut Draft) {
        let part = draft.part(0, Self::kind(fields));
        draft.call_id(part, &fields.str("toolCallId").unwrap_or_default());
        let name = fields.str("toolName").unwrap_or_default();
        draft.call_name(part, kind.strip_prefix("tool-").unwrap_or(&name));
        if let Some(input) = fields.get("input").or_else(|| fields.get("rawInput")) {
            draft.call_object(part, input);
        }
        let read = ["type", "toolCallId", "toolName", "input", "rawInput"];
        for (key, value) in fields.iter().filter(|(key, _)| !read.contains(key)) {
            draft.extra(part, key, value, Map::set_json);
        }
    }

    /// The members that are not the part's extra ones.
    pub(super) fn write(&self, part: PartId, fields: &mut Fields<'_, '_>) {
        let known = fields.draft().get(part);
        let call = &known.call;
        let name = call.name.as_deref().unwrap_or_default();
        if self.dynamic == Some(true) {
            fields.string("type", "dynamic-tool");
            fields.string("toolName", name);
        } else {
            fields.string("type", &format!("tool-{name}"));
        }
        fields.string("toolCallId", call.id.as_deref().unwrap_or_default());
        if !known.text.is_empty() {
            let member = if self.refused { "rawInput" } else { "input" };
            fields.field(member, |value| value.part_json(part));
        }
    }
}

/// The input as a value: it counts, whatever the text gave.
fn settle(key: &Key, part: PartId, input: Option<Json<'_>>, draft: &mut Draft) {
    if let Some(input) = input {
        draft.settle_call(part, input, &format!("the input of {key}"));
    }
}

/// A result: a later one replaces those that were preliminary.
fn result(kind: &str, part: PartId, chunk: &Object<'_>, draft: &mut Draft) {
    match chunk.get("output") {
        Some(output) => draft.extra_set(part, "output", output),
        None => draft.missing_field(&format!("{kind} output"), "a value"),
    }
    match chunk.some("preliminary") {
        Some(preliminary) => draft.extra_set(part, "preliminary", preliminary),
        None => drop(draft.get_mut(part).extra.remove("preliminary")),
    }
}

/// Somebody is asked whether the call may be made, or answered. Returns the call's state.
fn approval(kind: &str, part: PartId, chunk: &Object<'_>, draft: &mut Draft) -> &'static str {
    let asks = kind == "tool-approval-request";
    let mut approval = match draft.get_mut(part).extra.remove("approval") {
        Some(mut known) if !asks => std::mem::take(known.object()),
        _ => Map::default(),
    };
    for (key, value) in chunk.iter().filter(|(_, value)| !value.is_null()) {
        match key {
            "approvalId" => draft.carry(&mut approval, "id", value, Map::set_json),
            "approvalDescriptor" => {
                draft.carry(&mut approval, "descriptor", value, Map::set_json);
            }
            "type" | "toolCallId" | "providerMetadata" | "providerExecuted" => {}
            _ => draft.carry(&mut approval, key, value, Map::set_json),
        }
    }
    draft.get_mut(part).extra.set("approval", Node::Object(approval));
    if asks { "approval-requested" } else { "approval-responded" }
}
