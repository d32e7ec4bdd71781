//! A content block: opened, or not, added to, closed (`FORMATS.md` H6.2).

use std::collections::BTreeMap;

use teeline_finding::{Kind, excerpt};

use crate::{
    base64_text,
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::{Fields, Writer},
    text::{Str, Text},
};

use super::{key_of, text_of};

/// A block of the message. Its text is a part's; its other fields are what the part shows beside it.
#[derive(Debug)]
pub(super) struct Block {
    shape: Shape,
    part: PartId,
    /// No event opened it but its first delta.
    implicit: bool,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Reasoning,
    Redacted,
    Tool,
    ToolResult,
    Image,
    /// A start that does not say; the first delta does.
    Unknown,
}

impl Shape {
    /// The shape of the block that a delta's member goes to.
    pub(super) fn of_delta(field: &str, value: Json<'_>) -> Option<Self> {
        Some(match field {
            "text" | "citation" => Self::Text,
            "reasoningContent" if value.get("redactedContent").is_some() => Self::Redacted,
            "reasoningContent" => Self::Reasoning,
            "toolUse" => Self::Tool,
            "toolResult" => Self::ToolResult,
            "image" => Self::Image,
            _ => return None,
        })
    }

    /// The vendor's name for it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoningContent",
            Self::Redacted => "redactedContent",
            Self::Tool => "toolUse",
            Self::ToolResult => "toolResult",
            Self::Image => "image",
            Self::Unknown => "unknown",
        }
    }

    const fn kind(self) -> PartKind {
        match self {
            Self::Text => PartKind::Text,
            Self::Reasoning => PartKind::Reasoning,
            Self::Redacted => PartKind::Other("redacted-reasoning"),
            Self::Tool => PartKind::Call,
            Self::ToolResult => PartKind::Other("tool-result"),
            Self::Image => PartKind::Other("image"),
            Self::Unknown => PartKind::Other("block"),
        }
    }
}

impl Block {
    /// A start event came.
    pub(super) fn open(index: u64, start: &Object<'_>, draft: &mut Draft) -> Self {
        let known = [Shape::Tool, Shape::ToolResult, Shape::Image].into_iter();
        let mut known = known.filter_map(|shape| Some((shape, start.get(shape.name())?)));
        let (shape, value) = known.next().unwrap_or((Shape::Unknown, Json::NULL));
        let fields = value.object().unwrap_or_default();
        let own = fields.str("type").as_deref() == Some("server_tool_use");
        // What the provider runs itself is no call that the client has to answer.
        let kind = if own { PartKind::Other("server-tool-use") } else { shape.kind() };
        let part = draft.open(key_of(index), 0, kind);
        draft.get_mut(part).order = index;
        if shape == Shape::Unknown {
            start.iter().for_each(|(field, value)| draft.extra(part, field, value, Map::last));
        }
        for (field, value) in fields.iter() {
            match (shape, field) {
                (Shape::Tool, "toolUseId" | "name") => {
                    tool_field(part, kind, field, value, draft);
                }
                (Shape::Tool, "input") => {}
                _ => draft.extra(part, field, value, Map::last),
            }
        }
        Self { shape, part, implicit: false }
    }

    /// A delta came for a block that nothing opened.
    pub(super) fn implied(index: u64, shape: Shape, draft: &mut Draft) -> Self {
        let part = draft.ensure(key_of(index), 0, shape.kind());
        draft.get_mut(part).order = index;
        Self { shape, part, implicit: true }
    }

    /// A block of a plain body.
    pub(super) fn whole(index: u64, item: &Object<'_>, draft: &mut Draft) -> Self {
        let get = |path: &[&str]| {
            let first = item.get(path.first()?)?;
            path.iter().skip(1).try_fold(first, |value, key| value.get(key))
        };
        let cited = get(&["citationsContent", "content"]).and_then(Json::items);
        let reasoning = get(&["reasoningContent", "reasoningText"]);
        let block = if let Some(redacted) =
            get(&["reasoningContent"]).filter(|_| reasoning.is_none())
        {
            let block = Self::implied(index, Shape::Redacted, draft);
            block.reasoning(redacted, draft);
            block
        } else if let Some(reasoning) = reasoning {
            let block = Self::implied(index, Shape::Reasoning, draft);
            block.reasoning(reasoning, draft);
            block
        } else if item.has("text") || item.has("citationsContent") {
            let block = Self::implied(index, Shape::Text, draft);
            let texts = cited.unwrap_or_default().into_iter().filter_map(|one| one.get("text"));
            for text in item.get("text").into_iter().chain(texts).filter_map(Json::text) {
                draft.append(block.part, &text);
            }
            for citation in
                get(&["citationsContent", "citations"]).and_then(Json::items).unwrap_or_default()
            {
                draft.extra_push(block.part, "citations", citation);
            }
            block
        } else {
            Self::open(index, item, draft)
        };
        draft.close(&key_of(index));
        if let Some(input) = get(&["toolUse", "input"]) {
            draft.call_object(block.part, input);
        }
        block
    }

    pub(super) const fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) const fn implicit(&self) -> bool {
        self.implicit
    }

    /// Whether it is of this shape; a block whose start did not say is from now on.
    pub(super) fn becomes(&mut self, shape: Shape, draft: &mut Draft) -> bool {
        if self.shape == Shape::Unknown && shape != Shape::Tool {
            self.shape = shape;
            draft.get_mut(self.part).kind = shape.kind();
        }
        self.shape == shape
    }

    /// Adds a member of a delta.
    pub(super) fn delta(&self, field: &str, value: Json<'_>, draft: &mut Draft) {
        match self.shape {
            Shape::Text if field == "citation" => {
                draft.extra_push(self.part, "citations", value);
                draft.note("citation");
            }
            Shape::Text => {
                let text = text_of("delta.text", Some(value), draft).unwrap_or_default();
                draft.append(self.part, &text);
            }
            Shape::Reasoning | Shape::Redacted => self.reasoning(value, draft),
            Shape::Tool => {
                let input = text_of("delta.toolUse.input", value.get("input"), draft);
                draft.append(self.part, &input.unwrap_or_default());
            }
            Shape::ToolResult => {
                for piece in value.items().unwrap_or_default() {
                    self.result(piece, draft);
                }
            }
            Shape::Image => {
                let bytes = value.get("source").and_then(|source| source.get("bytes"));
                let Some(bytes) = text_of("delta.image.source.bytes", bytes, draft) else {
                    return draft.not_assembled("delta.image");
                };
                if draft.admit(bytes.as_bytes().len()) {
                    let source = draft.get_mut(self.part).extra.entry("source").object();
                    base64_text::append(source.entry("bytes").text(), &bytes);
                }
            }
            Shape::Unknown => {}
        }
    }

    fn reasoning(&self, value: Json<'_>, draft: &mut Draft) {
        for (field, value) in value.object().unwrap_or_default().iter() {
            let name = format!("delta.reasoningContent.{field}");
            match field {
                "text" => {
                    let text = text_of(&name, Some(value), draft).unwrap_or_default();
                    draft.append(self.part, &text);
                }
                "signature" | "redactedContent" => {
                    let verb: fn(&mut Text, &Str<'_>) =
                        if field == "signature" { Text::append } else { base64_text::append };
                    if let Some(text) = text_of(&name, Some(value), draft) {
                        draft.extra_append(self.part, field, &text, verb);
                        draft.note(field);
                    }
                }
                _ => draft.not_assembled(&name),
            }
        }
    }

    /// A text goes on in the one before it, anything else is added.
    fn result(&self, piece: Json<'_>, draft: &mut Draft) {
        let text = piece.get("text").and_then(Json::text);
        if !draft.admit(BLOCK_PIECE + piece.raw().len()) {
            return;
        }
        let content = draft.get_mut(self.part).extra.entry("content").array();
        match (text, content.last_mut()) {
            (Some(text), Some(Node::Object(last))) if last.has("text") => {
                last.entry("text").text().append(&text);
            }
            (Some(text), _) => {
                let mut last = Map::default();
                last.entry("text").text().append(&text);
                content.push(last.into());
            }
            (None, _) => content.push(piece.into()),
        }
    }

    /// Everything of the block came. Only now is a tool's input JSON, and a result an error.
    pub(super) fn close(&self, draft: &mut Draft, blocks: &BTreeMap<u64, Self>) {
        match self.shape {
            Shape::Tool if draft.get(self.part).text.to_str().trim().is_empty() => {
                draft.call_object(self.part, Json::from_known("{}"));
            }
            Shape::Tool => draft.close_call(self.part),
            Shape::ToolResult => self.judge_result(draft, blocks),
            _ => {}
        }
    }

    fn judge_result(&self, draft: &mut Draft, blocks: &BTreeMap<u64, Self>) {
        let word = |part: PartId, key: &str| {
            let node = draft.get(part).extra.get(key).and_then(Node::json);
            node.and_then(Json::str).unwrap_or_default().into_owned()
        };
        if word(self.part, "status") != "error" {
            return;
        }
        let id = word(self.part, "toolUseId");
        let call = blocks.values().take(SEARCHED).find(|block| {
            block.shape == Shape::Tool
                && (word(block.part, "toolUseId") == id
                    || draft.get(block.part).call.id.as_deref() == Some(&id))
        });
        let name = call.and_then(|block| draft.get(block.part).call.name.clone());
        let first = match draft.get(self.part).extra.get("content") {
            Some(Node::Array(content)) => content.first(),
            _ => None,
        };
        let message = match first {
            Some(Node::Object(map)) => match map.get("text") {
                Some(Node::Text(text)) => excerpt(&text.to_str()),
                _ => String::new(),
            },
            Some(node) => node.json().map(Json::shortened).unwrap_or_default(),
            None => String::new(),
        };
        let message = if message.is_empty() { "error".to_owned() } else { message };
        draft.report(Kind::ToolFailed { tool: name.unwrap_or(id), message });
    }

    /// Writes the block of the plain message.
    pub(super) fn write(&self, index: u64, out: &mut Writer<'_>) {
        let part = out.draft().get(self.part);
        out.object(|block| match self.shape {
            Shape::Text if part.extra.has("citations") => {
                block.field("citationsContent", |value| value.object(|cited| self.cited(cited)));
            }
            Shape::Text => block.field("text", |value| value.part(self.part)),
            Shape::Reasoning => block.field("reasoningContent", |value| {
                value.object(|content| {
                    content.field("reasoningText", |value| {
                        value.object(|reasoning| {
                            reasoning.field("text", |value| value.part(self.part));
                            reasoning.map(&part.extra);
                        });
                    });
                });
            }),
            Shape::Redacted => block.field("reasoningContent", |value| {
                value.object(|content| content.map(&part.extra));
            }),
            Shape::Tool => block.field("toolUse", |value| {
                value.object(|tool| self.write_tool(index, tool));
            }),
            Shape::ToolResult | Shape::Image => {
                block.field(self.shape.name(), |value| {
                    value.object(|fields| fields.map(&part.extra));
                });
            }
            Shape::Unknown => {}
        });
    }

    fn cited(&self, cited: &mut Fields<'_, '_>) {
        let part = cited.draft().get(self.part);
        cited.field("content", |value| {
            value.array(|items| {
                if !part.text.is_empty() {
                    items.item(|value| {
                        value.object(|text| text.field("text", |value| value.part(self.part)));
                    });
                }
            });
        });
        cited.map(&part.extra);
    }

    fn write_tool(&self, index: u64, tool: &mut Fields<'_, '_>) {
        let draft = tool.draft();
        let part = draft.get(self.part);
        if part.kind == PartKind::Call {
            for (field, value) in [("toolUseId", &part.call.id), ("name", &part.call.name)] {
                if let Some(value) = value {
                    tool.string(field, value);
                }
            }
        }
        tool.map(&part.extra);
        tool.field("input", |value| {
            if draft.is_open(&key_of(index)) && !part.text.is_empty() {
                // What is not known to be whole is not parsed.
                value.part(self.part);
            } else {
                value.part_json(self.part);
            }
        });
    }
}

/// What a piece of a tool's result costs of the text limit beyond its bytes.
const BLOCK_PIECE: usize = 64;

/// Among so many blocks the call of a failed result is looked for.
const SEARCHED: usize = 1_000;

fn tool_field(part: PartId, kind: PartKind, field: &str, value: Json<'_>, draft: &mut Draft) {
    let name = format!("start.toolUse.{field}");
    let Some(text) = text_of(&name, Some(value), draft) else { return };
    if field == "name" {
        draft.call_name(part, &text.to_str());
    } else if kind == PartKind::Call {
        draft.call_id(part, &text.to_str());
    }
    if kind != PartKind::Call {
        draft.extra(part, field, value, Map::last);
    }
}
