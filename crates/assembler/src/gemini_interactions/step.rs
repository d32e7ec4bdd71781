//! One step of an interaction: thoughts, output, calls, results (`FORMATS.md` D2.1).

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, PartId, PartKind, difference},
    equal::equal,
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::Str,
};

/// What an element of a list costs of the text limit beyond its bytes.
const ITEM: usize = 256;

/// A step.
#[derive(Debug)]
pub(super) struct Step {
    kind: String,
    /// Its fields; `content`, `summary` and streamed `arguments` hold a place only.
    fields: Map,
    content: List,
    summary: List,
    /// Of a call or result: its part, whose text is the arguments.
    part: Option<PartId>,
    /// The arguments came in pieces.
    streamed: bool,
    failed: bool,
}

/// Texts and media.
#[derive(Debug)]
struct List {
    /// What a finding calls one of them.
    name: &'static str,
    /// Where their step stands among the others.
    order: u64,
    items: Vec<Item>,
}

#[derive(Debug)]
enum Item {
    Text(PartId, Map),
    Other(PartId, Node),
}

impl Step {
    /// Opens a step as its start event has it.
    pub(super) fn open(step: &Object<'_>, index: u64, draft: &mut Draft) -> Self {
        let kind = step.str("type").unwrap_or_default().into_owned();
        let part = match &*kind {
            "model_output" | "thought" | "user_input" => None,
            "function_call" => Some(draft.part(0, PartKind::Call)),
            kind => Some(draft.part(0, PartKind::Other(part_kind(kind)))),
        };
        if let Some(part) = part {
            draft.get_mut(part).order = index;
        }
        let mut made = Self {
            kind,
            fields: Map::default(),
            content: List { name: "step.content[]", order: index, items: Vec::new() },
            summary: List { name: "step.summary[]", order: index, items: Vec::new() },
            part,
            streamed: false,
            failed: false,
        };
        for (key, value) in step.iter() {
            made.field(key, value, draft);
        }
        made.judge(draft);
        made
    }

    /// A step that came whole.
    pub(super) fn whole(step: &Object<'_>, index: u64, draft: &mut Draft) -> Self {
        let mut made = Self::open(step, index, draft);
        made.stop(draft);
        made
    }

    fn field(&mut self, key: &str, value: Json<'_>, draft: &mut Draft) {
        let kind = self.text_kind();
        match (key, value.items()) {
            ("content", Some(items)) => {
                self.fields.last(key, Json::NULL);
                for item in items {
                    self.content.item(item, kind, draft);
                }
                return;
            }
            ("summary", Some(items)) => {
                self.fields.last(key, Json::NULL);
                for item in items {
                    self.summary.item(item, kind, draft);
                }
                return;
            }
            _ => {}
        }
        if let (Some(part), Some(text)) = (self.part, value.str()) {
            match key {
                "id" => draft.call_id(part, &text),
                "name" => draft.call_name(part, &text),
                _ => {}
            }
        }
        if let (Some(part), "id" | "call_id" | "name" | "type") = (self.part, key)
            && self.kind != "function_call"
        {
            draft.extra(part, key, value, Map::last_filled);
        }
        let is_identity = matches!(key, "id" | "call_id" | "name" | "signature");
        let verb = if is_identity { Map::last_filled } else { Map::merge };
        draft.carry(&mut self.fields, key, value, verb);
    }

    /// Reads a delta.
    pub(super) fn delta(&mut self, delta: &Object<'_>, draft: &mut Draft) {
        let kind = delta.str("type").unwrap_or_default();
        match &*kind {
            "text" => {
                self.fields.last("content", Json::NULL);
                let text = text_of(delta.get("text"), "delta.text", draft);
                self.content.append(&text, self.text_kind(), draft);
                unread(delta, &["type", "text"], draft);
            }
            "text_annotation_delta" => {
                self.fields.last("content", Json::NULL);
                self.content.annotate(delta.get("annotations"), self.text_kind(), draft);
                unread(delta, &["type", "annotations"], draft);
            }
            "thought_summary" => {
                self.fields.last("summary", Json::NULL);
                self.summarize(delta.get("content"), draft);
                unread(delta, &["type", "content"], draft);
            }
            "thought_signature" => {
                let signature = delta.get("signature").unwrap_or(Json::NULL);
                draft.carry(&mut self.fields, "signature", signature, Map::last_filled);
                unread(delta, &["type", "signature"], draft);
            }
            "arguments_delta" => {
                let text = text_of(delta.get("arguments"), "delta.arguments", draft);
                self.arguments(&text, draft);
                unread(delta, &["type", "arguments"], draft);
            }
            "image" | "audio" | "video" | "document" => {
                self.fields.last("content", Json::NULL);
                self.content.media(delta, draft);
            }
            kind if kind.ends_with("_call") || kind.ends_with("_result") => {
                for (key, value) in delta.iter().filter(|(key, _)| *key != "type") {
                    self.field(key, value, draft);
                }
                self.judge(draft);
            }
            kind => draft.not_assembled(&format!("delta {kind}")),
        }
    }

    /// Everything of it came.
    pub(super) fn stop(&mut self, draft: &mut Draft) {
        let Some(part) = self.part else { return };
        if self.streamed {
            draft.close_call(part);
        } else if self.kind == "function_call" {
            let arguments = self.fields.get("arguments").and_then(Node::json);
            match arguments.unwrap_or(Json::NULL) {
                arguments if arguments.is_object() => draft.call_object(part, arguments),
                arguments if arguments.is_null() => {
                    draft.call_object(part, Json::from_known("{}"));
                }
                arguments => draft.bad_field("step.arguments", "an object", arguments),
            }
        }
    }

    fn arguments(&mut self, text: &Str<'_>, draft: &mut Draft) {
        let Some(part) = self.part else {
            draft.not_assembled(&format!("arguments of a {} step", self.kind));
            return;
        };
        self.streamed |= !text.is_empty();
        self.fields.last("arguments", Json::NULL);
        draft.append(part, text);
    }

    /// Texts are joined to the one before.
    fn summarize(&mut self, content: Option<Json<'_>>, draft: &mut Draft) {
        let kind = PartKind::Reasoning;
        let Some(item) = content.filter(|item| item.is_object()) else {
            return draft.bad_field("delta.content", "an object", content);
        };
        match item.get("text").and_then(Json::text) {
            Some(text) => self.summary.append(&text, kind, draft),
            None => self.summary.item(item, kind, draft),
        }
    }

    /// A result that is an error: the model is told, and the interaction goes on.
    fn judge(&mut self, draft: &mut Draft) {
        let is_error = self.fields.get("is_error").and_then(Node::json).and_then(Json::bool);
        if is_error != Some(true) || std::mem::replace(&mut self.failed, true) {
            return;
        }
        let text = |key: &str| self.fields.get(key).and_then(Node::json);
        let name = text("name").and_then(Json::str).filter(|name| !name.is_empty());
        let tool = excerpt(&name.unwrap_or(self.kind.as_str().into()));
        let result = text("result").unwrap_or(Json::NULL);
        let message = result.str().map_or_else(|| result.shortened(), |text| excerpt(&text));
        draft.report(Kind::ToolFailed { tool, message });
    }

    fn text_kind(&self) -> PartKind {
        match &*self.kind {
            "model_output" => PartKind::Text,
            "thought" => PartKind::Reasoning,
            kind => PartKind::Other(part_kind(kind)),
        }
    }

    /// Whether a final step says what the deltas gave; `done-mismatch` where not.
    pub(super) fn agrees(&self, last: &Object<'_>, index: u64, draft: &mut Draft) -> bool {
        let kind = last.str("type").unwrap_or_default();
        let last = [
            ("type", kind.into_owned()),
            ("text", joined(last.get("content"))),
            ("summary", joined(last.get("summary"))),
            ("arguments", source(last.get("arguments"))),
        ];
        let mine = [
            self.kind.clone(),
            self.content.text(draft),
            self.summary.text(draft),
            self.assembled_arguments(draft),
        ];
        let mut agrees = true;
        for ((what, last), mine) in last.into_iter().zip(mine) {
            if last == mine || (what == "arguments" && same_value(&last, &mine)) {
                continue;
            }
            agrees = false;
            if !mine.is_empty() {
                let (kept, assembled) = difference(&last, &mine);
                let what = format!("the {what} of step {index}");
                draft.report(Kind::DoneMismatch { what, kept, assembled });
            }
        }
        agrees
    }

    fn assembled_arguments(&self, draft: &Draft) -> String {
        match self.part {
            Some(part) if self.streamed || self.kind == "function_call" => {
                let text = draft.get(part).text.to_escaped();
                match Json::parse(&text) {
                    Ok(json) => json.compact().into(),
                    Err(_) => text.into_owned(),
                }
            }
            _ => source(self.fields.get("arguments").and_then(Node::json)),
        }
    }

    /// Takes the step out of the answer; how many bytes of text it had.
    pub(super) fn discard(self, draft: &mut Draft) -> u64 {
        let items = self.content.items.iter().chain(&self.summary.items);
        let parts: Vec<PartId> = items.map(Item::part).chain(self.part).collect();
        let bytes = parts.iter().map(|part| draft.get(*part).text.len() as u64).sum();
        for part in parts {
            draft.discard(part);
        }
        bytes
    }

    /// Writes the step of the plain response. An empty signature has no counterpart there.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let streamed = self.part.filter(|_| self.streamed);
        out.object(|fields| {
            for (key, node) in self.fields.iter() {
                match (key, streamed) {
                    ("content", _) => fields.field(key, |value| self.content.write(value)),
                    ("summary", _) => fields.field(key, |value| self.summary.write(value)),
                    ("arguments", Some(part)) => fields.node(key, &Node::PartJson(part)),
                    ("signature", _) if node.json().is_some_and(Json::is_blank) => {}
                    _ => fields.node(key, node),
                }
            }
        });
    }
}

impl List {
    /// An element as it came.
    fn item(&mut self, item: Json<'_>, kind: PartKind, draft: &mut Draft) {
        let Some(fields) = item.object() else {
            draft.bad_field(self.name, "an object", item);
            return;
        };
        let Some(text) = fields.get("text").and_then(Json::text) else {
            self.media(&fields, draft);
            return;
        };
        if let Some((part, map)) = self.push(kind, draft) {
            for (key, value) in fields.iter().filter(|(key, _)| *key != "text") {
                draft.carry(map, key, value, Map::last);
            }
            map.set("text", Node::Part(part));
            draft.append(part, &text);
        }
    }

    /// A new text at the end.
    fn push(&mut self, kind: PartKind, draft: &mut Draft) -> Option<(PartId, &mut Map)> {
        if !draft.admit(ITEM) {
            return None;
        }
        let part = draft.part(0, kind);
        draft.get_mut(part).order = self.order;
        let mut map = Map::default();
        map.set("type", Node::string("text"));
        map.set("text", Node::Part(part));
        self.items.push(Item::Text(part, map));
        self.last()
    }

    /// The text at the end.
    fn last(&mut self) -> Option<(PartId, &mut Map)> {
        match self.items.last_mut() {
            Some(Item::Text(part, map)) => Some((*part, map)),
            _ => None,
        }
    }

    /// The text at the end, made if there is none.
    fn text_at_end(&mut self, kind: PartKind, draft: &mut Draft) -> Option<(PartId, &mut Map)> {
        if self.last().is_none() {
            return self.push(kind, draft);
        }
        self.last()
    }

    fn append(&mut self, text: &Str<'_>, kind: PartKind, draft: &mut Draft) {
        if let Some((part, _)) = self.text_at_end(kind, draft) {
            draft.append(part, text);
        }
    }

    fn annotate(&mut self, annotations: Option<Json<'_>>, kind: PartKind, draft: &mut Draft) {
        let Some(list) = annotations.filter(|list| list.is_array()) else {
            return draft.bad_field("delta.annotations", "an array", annotations);
        };
        if let Some((_, map)) = self.text_at_end(kind, draft) {
            draft.extend(map, "annotations", list);
        }
    }

    /// An image or another medium: kept whole, also where several of one kind come in a row.
    fn media(&mut self, fields: &Object<'_>, draft: &mut Draft) {
        let size = fields.iter().map(|(key, value)| key.len() + value.raw().len()).sum::<usize>();
        if !draft.admit(ITEM + size) {
            return;
        }
        let kind = match &*fields.str("type").unwrap_or_default() {
            "image" => "image",
            "audio" => "audio",
            "video" => "video",
            "document" => "document",
            _ => "other",
        };
        let part = draft.part(0, PartKind::Other(kind));
        draft.get_mut(part).order = self.order;
        if let Some(mime) = fields.get("mime_type") {
            draft.extra(part, "mime_type", mime, Map::last);
        }
        if let Some(data) = fields.str("data") {
            draft.get_mut(part).extra.set("bytes", data.len() as u64);
        }
        self.items.push(Item::Other(part, Map::from(fields).into()));
    }

    fn text(&self, draft: &Draft) -> String {
        let texts = self.items.iter().filter_map(|item| match item {
            Item::Text(part, _) => Some(draft.get(*part).text.to_escaped()),
            Item::Other(..) => None,
        });
        texts.collect()
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.array(|items| {
            for item in &self.items {
                match item {
                    Item::Text(_, map) => {
                        items.item(|value| value.object(|fields| fields.map(map)));
                    }
                    Item::Other(_, node) => items.node(node),
                }
            }
        });
    }
}

impl Item {
    fn part(&self) -> PartId {
        match self {
            Self::Text(part, _) | Self::Other(part, _) => *part,
        }
    }
}

/// What a step that is neither thought nor output is in the reading.
fn part_kind(kind: &str) -> &'static str {
    match kind {
        "user_input" => "user-input",
        "function_result" => "function-result",
        kind if kind.ends_with("_call") => "provider-tool-call",
        kind if kind.ends_with("_result") => "provider-tool-result",
        _ => "step",
    }
}

fn text_of<'a>(value: Option<Json<'a>>, field: &str, draft: &mut Draft) -> Str<'a> {
    let value = value.unwrap_or(Json::NULL);
    if !value.is_string() && !value.is_null() {
        draft.bad_field(field, "a string", value);
    }
    value.text().unwrap_or_default()
}

/// Whether two sources are of one value, however strings and numbers are written.
fn same_value(one: &str, other: &str) -> bool {
    matches!((Json::parse(one), Json::parse(other)), (Ok(one), Ok(other)) if equal(one, other))
}

/// The source of an object, `""` if it is none.
fn source(json: Option<Json<'_>>) -> String {
    json.filter(|json| json.is_object()).map_or_else(String::new, |json| json.compact().into())
}

/// The texts of a list.
fn joined(list: Option<Json<'_>>) -> String {
    let items = list.and_then(Json::items).unwrap_or_default();
    let texts = items.into_iter().filter_map(|item| item.get("text")?.text());
    texts.map(|text| text.to_str().into_owned()).collect()
}

/// What of a delta nothing is made of.
fn unread(delta: &Object<'_>, known: &[&str], draft: &mut Draft) {
    let unknown = delta.iter().filter(|(key, value)| !known.contains(key) && !value.is_null());
    unknown.for_each(|(key, _)| draft.not_assembled(&format!("delta.{key}")));
}
