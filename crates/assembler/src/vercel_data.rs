//! Vercel AI SDK: the data stream of versions 3 and 4 (`FORMATS.md` H8.2).
//!
//! Each line is a code, a colon and JSON, so that no line is JSON by itself. There is no plain twin: the
//! response holds what the SDK's reader gives to the application, the message's text, its calls and the data
//! beside it.
//!
//! The SDK's reader throws at an error line, at an unknown code and at a result without its call; here the first
//! ends the stream and the others are findings. It fills in finish reason and usage where none came.

mod calls;

use teeline_decoder::Frame;
use teeline_finding::{Kind, excerpt};

use crate::{
    candidate::name_of,
    draft::{Draft, PartId, PartKind, Tokens},
    failure::Fault,
    format::{Assembler, Event, Format, Rules},
    json::{Json, Object},
    node::Map,
    response::Writer,
    text::{Str, Text},
    vercel_ui::REASONS,
};

use calls::Calls;

pub(crate) const FORMAT: Format = Format {
    name: "vercel-data",
    title: "Vercel AI SDK data stream",
    rules: Rules { unit: "message", end: "a line `d:`", deltas: true, ..Rules::NONE },
    reasons: REASONS,
    errors: &[],
    start: || Box::<Stream>::default(),
};

/// Lines of the versions before, which the reader of version 4 refuses.
const OLDER: &[(&str, &str)] = &[
    ("1", "function_call"),
    ("4", "assistant_message"),
    ("5", "assistant_control_data"),
    ("6", "data_message"),
    ("7", "tool_calls"),
];

/// A stream of coded lines.
#[derive(Default)]
struct Stream {
    /// Anything of the message came.
    came: bool,
    texts: Grown,
    reasoning: Grown,
    calls: Calls,
    sources: Vec<PartId>,
    files: Vec<PartId>,
    redacted: Vec<PartId>,
    /// `data` and `annotations`, which the application adds.
    lists: Map,
}

/// Text in pieces: another one begins where something else came between.
#[derive(Default)]
struct Grown {
    parts: Vec<PartId>,
    is_open: bool,
}

impl Assembler for Stream {
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft) {
        draft.unknown(&name_of(event));
    }

    fn text(&mut self, data: &str, _frame: &Frame, draft: &mut Draft) -> bool {
        let Some((code, Ok(value))) =
            data.split_once(':').map(|(code, value)| (code, Json::parse(value)))
        else {
            return false;
        };
        if !matches!(code.as_bytes(), [b'0'..=b'9' | b'a'..=b'z']) {
            return false;
        }
        if !passes(code, draft) {
            draft.report(Kind::AfterEnd { text: excerpt(data) });
        } else if let Some((_, name)) = OLDER.iter().find(|(known, _)| *known == code) {
            draft.not_assembled(&format!("{name} (code {code})"));
        } else if !self.line(code, value, draft) {
            draft.unknown(code);
        }
        true
    }

    /// There is none: a body that is one JSON document is not read as anything.
    fn document(&mut self, _document: Json<'_>, draft: &mut Draft) {
        draft.end();
    }

    fn finish(&mut self, draft: &mut Draft) {
        self.calls.judge(draft);
    }

    fn response(&self, out: &mut Writer<'_>) {
        if !self.came {
            return;
        }
        let draft = out.draft();
        out.object(|fields| {
            if let Some(id) = &draft.id {
                fields.string("messageId", id);
            }
            fields.field("content", |value| self.texts.write(value));
            if !self.reasoning.parts.is_empty() {
                fields.field("reasoning", |value| self.reasoning.write(value));
            }
            for (key, parts) in [
                ("redactedReasoning", &self.redacted),
                ("sources", &self.sources),
                ("files", &self.files),
            ] {
                if !parts.is_empty() {
                    fields.field(key, |value| write_all(parts, value));
                }
            }
            if !self.calls.is_empty() {
                fields.field("toolInvocations", |value| self.calls.write(value));
            }
            fields.map(&self.lists);
            if let Some(reason) = draft.reason(0) {
                fields.string("finishReason", reason);
            }
            if let Some((_, usage)) = &draft.usage {
                fields.node("usage", usage);
            }
        });
    }
}

/// Whether a line may come here. The application may add data behind the end, and after an error the
/// server still says that the step and the message are over.
fn passes(code: &str, draft: &Draft) -> bool {
    match (draft.has_ended(), draft.has_failed()) {
        (false, false) => true,
        (true, _) => matches!(code, "2" | "8"),
        (false, true) => matches!(code, "2" | "8" | "d" | "e"),
    }
}

impl Stream {
    /// Reads a line; `false` if it is none of this format.
    fn line(&mut self, code: &str, value: Json<'_>, draft: &mut Draft) -> bool {
        match code {
            "0" => self.texts.append(PartKind::Text, code, value, draft),
            "g" => self.reasoning.append(PartKind::Reasoning, code, value, draft),
            "2" => self.list("data", code, value, draft),
            "8" => self.list("annotations", code, value, draft),
            "3" => {
                if value.is_string() {
                    draft.fail(Fault::of_object(value));
                } else {
                    draft.bad_field(code, "a string", value);
                    draft.fail(Fault::of_frame(value));
                }
                return true;
            }
            _ if !matches!(
                code,
                "9" | "a" | "b" | "c" | "d" | "e" | "f" | "h" | "i" | "j" | "k"
            ) =>
            {
                return false;
            }
            _ => match value.object() {
                Some(object) => self.object(code, &object, draft),
                None => draft.bad_field(code, "an object", value),
            },
        }
        self.came = true;
        draft.role(0, "assistant");
        true
    }

    /// The lines whose value is an object.
    fn object(&mut self, code: &str, value: &Object<'_>, draft: &mut Draft) {
        match code {
            "f" => {
                // The first one's id is the message's: each step may name another.
                match value.get("messageId").map(|id| (id, id.str())) {
                    Some((_, Some(id))) if draft.id.is_none() => draft.id("the message", &id),
                    Some((id, None)) => draft.bad_field("f messageId", "a string", id),
                    None => draft.missing_field("f messageId", "a string"),
                    Some(_) => {}
                }
                self.interrupt();
            }
            "e" => {
                over(code, value, draft);
                self.calls.next_step();
                let is_continued = value.get("isContinued").and_then(Json::bool) == Some(true);
                self.texts.is_open &= is_continued;
                self.reasoning.is_open = false;
            }
            "d" => {
                over(code, value, draft);
                draft.end();
            }
            "h" => self.sources.extend(whole("source", value, draft)),
            "k" => self.files.extend(whole("file", value, draft)),
            "i" => self.redacted.extend(whole("redacted-reasoning", value, draft)),
            "j" => match self.reasoning.parts.last() {
                Some(part) => value
                    .iter()
                    .for_each(|(key, value)| draft.extra(*part, key, value, Map::set_json)),
                None => draft.not_assembled("reasoning signature without reasoning"),
            },
            _ => {
                self.interrupt();
                self.calls.read(code, value, draft);
            }
        }
    }

    /// Text that comes now is not a part of the text before.
    fn interrupt(&mut self) {
        self.texts.is_open = false;
        self.reasoning.is_open = false;
    }

    fn list(&mut self, key: &str, code: &str, value: Json<'_>, draft: &mut Draft) {
        if value.is_array() {
            draft.extend(&mut self.lists, key, value);
            draft.note(key);
        } else {
            draft.bad_field(code, "an array", value);
        }
    }
}

impl Grown {
    fn append(&mut self, kind: PartKind, code: &str, value: Json<'_>, draft: &mut Draft) {
        let Some(text) = value.text() else {
            return draft.bad_field(code, "a string", value);
        };
        match self.parts.last() {
            Some(part) if self.is_open => draft.append(*part, &text),
            _ if text.is_empty() => {}
            _ => {
                let part = draft.part(0, kind);
                if !Draft::is_dropped(part) {
                    self.parts.push(part);
                    self.is_open = true;
                }
                draft.append(part, &text);
            }
        }
    }

    fn write(&self, out: &mut Writer<'_>) {
        let mut all = Text::default();
        for part in &self.parts {
            let text: Str<'_> = out.draft().get(*part).text.as_ref();
            all.append(&text);
        }
        out.text(&all);
    }
}

/// The end of a step or of the message: why, and the token counts.
fn over(code: &str, value: &Object<'_>, draft: &mut Draft) {
    match value.get("finishReason").map(|reason| (reason, reason.str())) {
        Some((_, Some(reason))) => draft.stop(0, &reason),
        Some((reason, None)) => {
            draft.bad_field(&format!("{code} finishReason"), "a string", reason);
        }
        None => draft.missing_field(&format!("{code} finishReason"), "a string"),
    }
    if let Some(usage) = value.some("usage") {
        match usage.object() {
            Some(counts) => draft.usage(tokens(&counts), usage),
            None => draft.bad_field(&format!("{code} usage"), "an object", usage),
        }
    }
    for (key, _) in value.iter().filter(|(_, value)| !value.is_null()) {
        if !matches!(key, "finishReason" | "usage" | "isContinued") {
            draft.not_assembled(&format!("{code} {key}"));
        }
    }
}

/// A source, a file or a piece of reasoning that is hidden, whole.
fn whole(name: &'static str, value: &Object<'_>, draft: &mut Draft) -> Option<PartId> {
    let part = draft.part(0, PartKind::Other(name));
    value.iter().for_each(|(key, value)| draft.extra(part, key, value, Map::set_json));
    (!Draft::is_dropped(part)).then_some(part)
}

fn write_all(parts: &[PartId], out: &mut Writer<'_>) {
    let draft = out.draft();
    out.array(|items| {
        for part in parts {
            items.item(|value| value.object(|fields| fields.map(&draft.get(*part).extra)));
        }
    });
}

fn tokens(usage: &Object<'_>) -> Tokens {
    Tokens {
        input: usage.u64("promptTokens"),
        output: usage.u64("completionTokens"),
        total: usage.u64("totalTokens"),
        ..Tokens::default()
    }
}
