//! The parts of a candidate's content (`FORMATS.md` D.4).

use teeline_finding::{Kind, excerpt};

use crate::{
    draft::{Draft, PartId, PartKind},
    json::{Json, Object},
    node::{Map, Node},
    response::Writer,
    text::Str,
};

use super::{
    call::{Call, Calls},
    camel, either,
};

/// What a part costs of the text limit beyond its bytes.
const PART: usize = 256;

/// What may stand beside the one field that says what a part is.
const MARKERS: &[&str] =
    &["thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"];

/// The parts so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    items: Vec<Item>,
    calls: Calls,
    /// Something came that is no part by itself: an empty text.
    empty: bool,
}

#[derive(Debug)]
enum Item {
    Text { part: PartId, thought: bool, signed: bool, fields: Map },
    Call(Box<Call>),
    Other(Map),
}

impl Parts {
    /// Reads a part of a frame.
    pub(super) fn read(&mut self, candidate: u64, json: Json<'_>, draft: &mut Draft) {
        let Some(fields) = json.object() else {
            draft.bad_field("parts[]", "an object", json);
            return;
        };
        let mut data = fields
            .iter()
            .filter(|(key, value)| !value.is_null() && !MARKERS.contains(&&*camel(key)));
        match data.next() {
            Some(("text", value)) => match value.text() {
                Some(text) => self.text(candidate, &fields, &text, draft),
                None => draft.bad_field("parts[].text", "a string", value),
            },
            Some((key, value)) if camel(key) == "functionCall" => match value.object() {
                Some(call) => self.call(candidate, &fields, (key, &call), draft),
                None => draft.bad_field("parts[].functionCall", "an object", value),
            },
            Some((key, value)) => self.other(candidate, &fields, Some((key, value)), draft),
            None if is_signed(&fields) => self.other(candidate, &fields, None, draft),
            None => self.empty = true,
        }
        data.for_each(|(key, _)| draft.not_assembled(&format!("parts[].{key} beside another")));
    }

    /// Texts of one kind in a row are one part, up to a signature.
    fn text(&mut self, candidate: u64, fields: &Object<'_>, text: &Str<'_>, draft: &mut Draft) {
        let is_thought = either(fields, "thought").and_then(Json::bool) == Some(true);
        let signature = is_signed(fields);
        let continues = matches!(self.items.last(), Some(Item::Text { thought, signed, .. })
            if *thought == is_thought && !signed);
        if !continues {
            if text.is_empty() && !signature {
                self.empty = true;
                return;
            }
            if !draft.admit(PART) {
                return;
            }
            let kind = if is_thought { PartKind::Reasoning } else { PartKind::Text };
            let part = draft.part(candidate, kind);
            let mut fields = Map::default();
            fields.set("text", Node::Part(part));
            self.items.push(Item::Text { part, thought: is_thought, signed: false, fields });
        }
        if let Some(Item::Text { part, signed, fields: known, .. }) = self.items.last_mut() {
            draft.append(*part, text);
            markers(known, fields, draft);
            if signature {
                *signed = true;
                draft.get_mut(*part).extra.set("signed", Node::bool(true));
            }
        }
    }

    fn call(
        &mut self,
        candidate: u64,
        fields: &Object<'_>,
        (key, call): (&str, &Object<'_>),
        draft: &mut Draft,
    ) {
        if let Some(Item::Call(open)) = self.calls.open().and_then(|at| self.items.get_mut(at)) {
            if Call::goes_on(call) {
                markers(open.fields(), fields, draft);
                self.calls.go_on(open, call, draft);
                return;
            }
            self.calls.close(open, draft);
        }
        if !draft.admit(PART) {
            return;
        }
        let place = self.items.len();
        if let Some(mut made) = self.calls.begin(candidate, (key, call), place, draft) {
            markers(made.fields(), fields, draft);
            self.items.push(Item::Call(Box::new(made)));
        }
    }

    /// Code, its result, media, files, tools that the provider runs: kept whole.
    fn other(
        &mut self,
        candidate: u64,
        fields: &Object<'_>,
        data: Option<(&str, Json<'_>)>,
        draft: &mut Draft,
    ) {
        let (key, value) = data.unwrap_or(("", Json::NULL));
        if !draft.admit(PART + value.raw().len()) {
            return;
        }
        let inner = value.object().unwrap_or_default();
        let kind = part_kind(&camel(key), &inner);
        let part = draft.part(candidate, PartKind::Other(kind.unwrap_or("other")));
        match kind {
            Some("executable-code") => {
                draft.append(part, &text_of(&inner, "code"));
                extra(draft, part, &inner, "language");
            }
            Some("code-execution-result") => {
                draft.append(part, &text_of(&inner, "output"));
                extra(draft, part, &inner, "outcome");
                code_failed(&inner, draft);
            }
            Some(_) => {
                extra(draft, part, &inner, "mimeType");
                extra(draft, part, &inner, "name");
                if let Some(bytes) = inner.str("data").map(|data| data.len() as u64) {
                    draft.get_mut(part).extra.set("bytes", bytes);
                }
            }
            None => {
                draft.get_mut(part).extra.set("type", Node::string(&excerpt(key)));
                if data.is_some() {
                    draft.not_assembled(&format!("parts[].{key}"));
                }
            }
        }
        let mut item = Map::default();
        markers(&mut item, fields, draft);
        if data.is_some() {
            item.set(key, value);
        }
        self.items.push(Item::Other(item));
    }

    /// The body ended: a call in pieces that is still open stays as far as it came.
    pub(super) fn finish(&mut self, draft: &mut Draft) {
        if let Some(Item::Call(open)) = self.calls.open().and_then(|at| self.items.get(at)) {
            open.show(draft);
        }
    }

    /// Writes the list. Calls that cannot be answered are left out; of an answer that is empty altogether
    /// one empty text is kept.
    pub(super) fn write(&self, out: &mut Writer<'_>) {
        let draft = out.draft();
        let is_whole = |item: &&Item| !matches!(item, Item::Call(call) if call.is_nameless(draft));
        out.array(|items| {
            if self.items.is_empty() && self.empty {
                items.item(|value| value.object(|fields| fields.string("text", "")));
            }
            for item in self.items.iter().filter(is_whole) {
                items.item(|value| match item {
                    Item::Call(call) => call.write(value),
                    Item::Text { fields, .. } | Item::Other(fields) => {
                        value.object(|object| object.map(fields));
                    }
                });
            }
        });
    }
}

/// What stands beside a part's data: LAST, of signatures the first.
fn markers(map: &mut Map, fields: &Object<'_>, draft: &mut Draft) {
    for (key, value) in fields.iter() {
        match &*camel(key) {
            "thoughtSignature" => draft.carry(map, key, value, Map::first_filled),
            name if MARKERS.contains(&name) => draft.carry(map, key, value, Map::last),
            _ => {}
        }
    }
}

fn is_signed(fields: &Object<'_>) -> bool {
    either(fields, "thoughtSignature").is_some_and(|signature| !signature.is_blank())
}

/// What a part with this data is in the reading.
fn part_kind(name: &str, inner: &Object<'_>) -> Option<&'static str> {
    Some(match name {
        "inlineData" | "fileData" => {
            let mime = either(inner, "mimeType").and_then(Json::str).unwrap_or_default();
            match mime.split('/').next().unwrap_or_default() {
                "image" => "image",
                "audio" => "audio",
                "video" => "video",
                _ => "file",
            }
        }
        "executableCode" => "executable-code",
        "codeExecutionResult" => "code-execution-result",
        "functionResponse" => "function-response",
        "toolCall" => "provider-tool-call",
        "toolResponse" => "provider-tool-result",
        "audioTranscription" => "audio-transcription",
        _ => return None,
    })
}

fn text_of<'a>(inner: &Object<'a>, key: &str) -> Str<'a> {
    inner.get(key).and_then(Json::text).unwrap_or_default()
}

/// A short field of the part's data, for the reading's part.
fn extra(draft: &mut Draft, part: PartId, inner: &Object<'_>, name: &str) {
    if let Some(value) = either(inner, name).and_then(Json::str) {
        draft.get_mut(part).extra.set(name, Node::string(&excerpt(&value)));
    }
}

/// Code that failed: the model is told, and the answer goes on.
fn code_failed(result: &Object<'_>, draft: &mut Draft) {
    let outcome = result.str("outcome").unwrap_or_default();
    if matches!(&*outcome, "OUTCOME_FAILED" | "OUTCOME_DEADLINE_EXCEEDED") {
        let output = result.filled("output").unwrap_or(outcome);
        let (tool, message) = ("code execution".to_owned(), excerpt(output.trim()));
        draft.report(Kind::ToolFailed { tool, message });
    }
}
