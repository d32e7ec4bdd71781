//! Where in a message or a step the texts are that deltas build.

use std::collections::BTreeMap;

use crate::{
    draft::PartKind,
    json::{Json, Object},
    node::{Map, Node},
    text::Str,
};

/// The place of a text. Indexes are those of the deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// `content[i].text.value`.
    Value(u64),
    /// `content[i].refusal`.
    Refusal(u64),
    /// `step_details.tool_calls[i].function.arguments`.
    Arguments(u64),
    /// `step_details.tool_calls[i].code_interpreter.input`.
    Input(u64),
    /// `step_details.tool_calls[i].code_interpreter.outputs[j].logs`.
    Logs(u64, u64),
}

impl Spot {
    /// What a text here is in the reading.
    pub(super) const fn kind(self) -> PartKind {
        match self {
            Self::Value(_) => PartKind::Text,
            Self::Refusal(_) => PartKind::Refusal,
            Self::Arguments(_) => PartKind::Call,
            Self::Input(_) => PartKind::Other("code-interpreter-call"),
            Self::Logs(..) => PartKind::Other("logs"),
        }
    }

    /// What a text here is called.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Value(_) => "text",
            Self::Refusal(_) => "refusal",
            Self::Arguments(_) => "arguments",
            Self::Input(_) => "input",
            Self::Logs(..) => "logs",
        }
    }

    /// The tool call whose own text it is.
    pub(super) const fn call(self) -> Option<u64> {
        match self {
            Self::Arguments(index) | Self::Input(index) => Some(index),
            Self::Value(_) | Self::Refusal(_) | Self::Logs(..) => None,
        }
    }

    /// Puts a text there; what leads to it is made where it is missing.
    pub(super) fn put(self, tree: &mut Map, text: Node) {
        match self {
            Self::Value(index) => {
                let part = content(tree, index);
                part.first("type", Json::from_known("\"text\""));
                part.entry("text").object().set("value", text);
            }
            Self::Refusal(index) => {
                let part = content(tree, index);
                part.first("type", Json::from_known("\"refusal\""));
                part.set("refusal", text);
            }
            Self::Arguments(index) => {
                tool_call(tree, index).entry("function").object().set("arguments", text);
            }
            Self::Input(index) => {
                tool_call(tree, index).entry("code_interpreter").object().set("input", text);
            }
            Self::Logs(index, at) => {
                let output = output(tool_call(tree, index), at);
                output.first("type", Json::from_known("\"logs\""));
                output.set("logs", text);
            }
        }
    }

    /// The texts of a whole message or step.
    pub(super) fn all<'a>(object: &Object<'a>) -> BTreeMap<Self, Str<'a>> {
        let mut found = BTreeMap::new();
        for (at, part) in (0..).zip(object.get("content").and_then(Json::items).unwrap_or_default())
        {
            let value = part.get("text").and_then(|text| text.get("value")).and_then(Json::text);
            let refusal = part.get("refusal").and_then(Json::text);
            found.extend(value.map(|text| (Self::Value(at), text)));
            found.extend(refusal.map(|text| (Self::Refusal(at), text)));
        }
        for (at, call) in (0..).zip(tool_calls(object)) {
            let arguments = call.get("function").and_then(|function| function.get("arguments"));
            found.extend(arguments.and_then(Json::text).map(|text| (Self::Arguments(at), text)));
            let Some(interpreter) = call.get("code_interpreter").and_then(Json::object) else {
                continue;
            };
            let input = interpreter.get("input").and_then(Json::text);
            found.extend(input.map(|text| (Self::Input(at), text)));
            let outputs = interpreter.get("outputs").and_then(Json::items).unwrap_or_default();
            let logs = (0..).zip(outputs).filter_map(|(place, output)| {
                Some((Self::Logs(at, place), output.get("logs")?.text()?))
            });
            found.extend(logs);
        }
        found
    }
}

/// The tool calls of a whole step.
pub(super) fn tool_calls<'a>(step: &Object<'a>) -> Vec<Json<'a>> {
    let details = step.get("step_details");
    details.and_then(|details| details.get("tool_calls")).and_then(Json::items).unwrap_or_default()
}

/// A part of a message's content.
pub(super) fn content(tree: &mut Map, index: u64) -> &mut Map {
    slot(tree.entry("content"), index)
}

/// A tool call of a step.
pub(super) fn tool_call(tree: &mut Map, index: u64) -> &mut Map {
    slot(tree.entry("step_details").object().entry("tool_calls"), index)
}

/// An output of the code interpreter.
pub(super) fn output(call: &mut Map, index: u64) -> &mut Map {
    slot(call.entry("code_interpreter").object().entry("outputs"), index)
}

/// An element of a list, to be changed; made where it is missing.
pub(super) fn slot(list: &mut Node, index: u64) -> &mut Map {
    list.slots().entry(index).or_insert_with(|| Map::default().into()).object()
}
