//! A content block: opened, added to, closed (`FORMATS.md` C.3, C.4).

use std::collections::HashMap;

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
};

use super::{key_of, text_of};

/// A block of the message. Its text is a part's; its other fields are what the part shows beside it.
#[derive(Debug)]
pub(super) struct Block {
    shape: Shape,
    /// The vendor's `type`.
    kind: Box<str>,
    part: PartId,
    /// What the start event has for the field that grows, where that is no text: a tool's input, `null`.
    start: Option<Box<str>>,
}

/// What of a block grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Thinking,
    /// A tool's input, JSON in pieces.
    Input,
    Compaction,
    /// Nothing, it comes whole.
    Whole,
    /// It comes whole and nobody knows its type.
    Unknown,
}

impl Shape {
    /// The field that grows.
    const fn field(self) -> Option<&'static str> {
        match self {
            Self::Text => Some("text"),
            Self::Thinking => Some("thinking"),
            Self::Input => Some("input"),
            Self::Compaction => Some("content"),
            Self::Whole | Self::Unknown => None,
        }
    }

    fn of(kind: &str) -> (Self, PartKind) {
        let whole = |name| (Self::Whole, PartKind::Other(name));
        match kind {
            "text" => (Self::Text, PartKind::Text),
            "thinking" => (Self::Thinking, PartKind::Reasoning),
            "tool_use" => (Self::Input, PartKind::Call),
            "server_tool_use" => (Self::Input, PartKind::Other("server-tool-use")),
            "mcp_tool_use" => (Self::Input, PartKind::Other("mcp-tool-use")),
            "compaction" => (Self::Compaction, PartKind::Other("compaction")),
            "redacted_thinking" => whole("redacted-thinking"),
            "web_search_tool_result" => whole("web-search-tool-result"),
            "web_fetch_tool_result" => whole("web-fetch-tool-result"),
            "code_execution_tool_result" => whole("code-execution-tool-result"),
            "bash_code_execution_tool_result" => whole("bash-code-execution-tool-result"),
            "text_editor_code_execution_tool_result" => {
                whole("text-editor-code-execution-tool-result")
            }
            "tool_search_tool_result" => whole("tool-search-tool-result"),
            "mcp_tool_result" => whole("mcp-tool-result"),
            "advisor_tool_result" => whole("advisor-tool-result"),
            "container_upload" => whole("container-upload"),
            "fallback" => whole("fallback"),
            _ => (Self::Unknown, PartKind::Other("block")),
        }
    }
}

impl Block {
    /// Opens a block. `tools`: the names of the provider's tools by call, for their results.
    pub(super) fn open(
        index: u64,
        fields: &Object<'_>,
        draft: &mut Draft,
        tools: &HashMap<Box<str>, Box<str>>,
    ) -> Self {
        let kind = fields.str("type").unwrap_or_default();
        let (shape, part_kind) = Shape::of(&kind);
        let part = draft.open(key_of(index), 0, part_kind);
        draft.get_mut(part).order = index;
        let mut block = Self { shape, kind: (*kind).into(), part, start: None };
        for (field, value) in fields.iter() {
            match field {
                "type" if shape != Shape::Unknown => {}
                _ if shape.field() == Some(field) => block.begin(field, value, draft),
                "id" if part_kind == PartKind::Call => {
                    let id = text_of("content_block.id", value, draft).unwrap_or_default();
                    draft.call_id(part, &id.to_str());
                }
                "name" if shape == Shape::Input => {
                    let name = text_of("content_block.name", value, draft).unwrap_or_default();
                    draft.call_name(part, &name.to_str());
                    if part_kind != PartKind::Call {
                        draft.extra(part, field, value, Map::last);
                    }
                }
                _ => draft.extra(part, field, value, Map::last),
            }
        }
        if let Some((tool, message)) = failure(&kind, fields, tools) {
            draft.report(Kind::ToolFailed { tool, message });
        }
        block
    }

    /// What the start event has of the field that grows.
    fn begin(&mut self, field: &str, value: Json<'_>, draft: &mut Draft) {
        if self.shape == Shape::Input {
            if !matches!(value.raw(), "null" | "\"\"") && draft.admit(value.raw().len()) {
                self.start = Some(value.compact());
            }
        } else if let Some(text) = text_of(&format!("content_block.{field}"), value, draft) {
            draft.append(self.part, &text);
            self.start = Some("\"\"".into());
        }
    }

    /// Adds a delta, if it is one for such a block.
    pub(super) fn delta(&self, index: u64, delta: &Object<'_>, draft: &mut Draft) {
        let kind = delta.str("type").unwrap_or_default();
        let fits = match &*kind {
            "text_delta" | "citations_delta" => self.shape == Shape::Text,
            "thinking_delta" | "signature_delta" => self.shape == Shape::Thinking,
            "input_json_delta" => self.shape == Shape::Input,
            "compaction_delta" => self.shape == Shape::Compaction,
            "" => return draft.not_assembled("a delta without a type"),
            _ => return draft.not_assembled(&kind),
        };
        if !fits {
            return draft.not_assembled(&format!("{kind} on a {} block", self.kind));
        }
        for (field, value) in delta.iter() {
            match (&*kind, field) {
                (_, "type") | ("thinking_delta", "estimated_tokens") => {}
                ("text_delta", "text")
                | ("thinking_delta", "thinking")
                | ("input_json_delta", "partial_json")
                | ("compaction_delta", "content") => {
                    if let Some(text) = text_of(&format!("delta.{field}"), value, draft) {
                        draft.append(self.part, &text);
                    }
                }
                ("signature_delta", "signature") => self.signature(index, value, draft),
                ("compaction_delta", "encrypted_content") => {
                    draft.extra(self.part, field, value, Map::last);
                }
                ("citations_delta", "citation") => {
                    draft.extra_push(self.part, "citations", value);
                    draft.note("citation");
                }
                _ => draft.not_assembled(&format!("delta.{field}")),
            }
        }
    }

    /// REPLACE, as the official SDKs do; another one before it is named.
    fn signature(&self, index: u64, value: Json<'_>, draft: &mut Draft) {
        let Some(signature) = text_of("delta.signature", value, draft) else { return };
        let known = draft.get(self.part).extra.get("signature").and_then(Node::json);
        let known = known.and_then(Json::text).filter(|known| !known.is_empty());
        if known.is_some_and(|known| known != signature) {
            draft.not_assembled(&format!("an earlier signature of block {index}"));
        }
        draft.extra(self.part, "signature", value, Map::last_filled);
        draft.note("signature");
    }

    /// Everything of the block came. Only now is a tool's input JSON; without a delta it is the start's.
    pub(super) fn close(&self, draft: &mut Draft) {
        if self.shape != Shape::Input {
            return;
        }
        if draft.get(self.part).text.to_str().trim().is_empty() {
            draft.call_object(self.part, Json::from_known(self.started_input()));
        } else {
            draft.close_call(self.part);
        }
    }

    fn started_input(&self) -> &str {
        self.start.as_deref().unwrap_or("{}")
    }

    /// Writes the block of the plain message.
    pub(super) fn write(&self, index: u64, out: &mut Writer<'_>) {
        let draft = out.draft();
        let part = draft.get(self.part);
        out.object(|fields| {
            if self.shape != Shape::Unknown {
                fields.string("type", &self.kind);
            }
            if part.kind == PartKind::Call {
                let named = [("id", &part.call.id), ("name", &part.call.name)];
                for (field, value) in named {
                    if let Some(value) = value {
                        fields.string(field, value);
                    }
                }
            }
            let empty = part.text.is_empty();
            match self.shape.field() {
                Some(field) if self.shape != Shape::Input => fields.field(field, |value| {
                    if empty && self.shape == Shape::Compaction && self.start.is_none() {
                        value.null();
                    } else {
                        value.part(self.part);
                    }
                }),
                _ => {}
            }
            fields.map(&part.extra);
            if self.shape == Shape::Input {
                fields.field("input", |value| match (draft.is_open(&key_of(index)), empty) {
                    // What is not known to be whole is not parsed.
                    (true, false) => value.part(self.part),
                    (true, true) => value.json(Json::from_known(self.started_input())),
                    (false, _) => value.part_json(self.part),
                });
            }
        });
    }
}

/// The tool and the error of a result that is one.
fn failure(
    kind: &str,
    fields: &Object<'_>,
    tools: &HashMap<Box<str>, Box<str>>,
) -> Option<(String, String)> {
    let content = fields.get("content").unwrap_or(Json::NULL);
    let error = content.object().filter(|content| {
        content.str("type").is_some_and(|kind| kind.ends_with("_tool_result_error"))
    });
    let said = fields.get("is_error").and_then(Json::bool) == Some(true);
    if !kind.ends_with("_tool_result") || (error.is_none() && !said) {
        return None;
    }
    let id = fields.str("tool_use_id").unwrap_or_default();
    let tool = tools.get(&*id).map_or_else(|| kind.to_owned(), ToString::to_string);
    let first = || content.items()?.first()?.get("text")?.str();
    let message = match &error {
        Some(error) => error.filled("error_message").or_else(|| error.filled("error_code")),
        None => content.str().or_else(first),
    };
    let message = message.map_or_else(|| content.shortened(), |message| excerpt(&message));
    Some((tool, message))
}
