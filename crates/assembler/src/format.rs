//! What a format is, and the table of them.

use std::borrow::Cow;

use teeline_decoder::{Frame, Framing};
use teeline_finding::{Kind, excerpt};

use crate::{
    ag_ui, anthropic_messages, bedrock_converse, bedrock_invoke, cohere, cumulative, dashscope,
    draft::Draft,
    gemini, gemini_interactions,
    json::{Json, Object},
    langserve, llama_cpp, mcp, mistral_conversations, ollama, openai_assistants, openai_chat,
    openai_completions, openai_responses,
    response::Writer,
    salyro_behavior, tgi, vercel_data, vercel_ui,
};

/// Every format that is read. The order means nothing: detection orders the tests.
pub static FORMATS: &[Format] = &[
    openai_assistants::FORMAT,
    openai_completions::FORMAT,
    openai_responses::FORMAT,
    openai_chat::FORMAT,
    gemini::FORMAT,
    salyro_behavior::FORMAT,
    anthropic_messages::FORMAT,
    ollama::FORMAT,
    gemini_interactions::FORMAT,
    cohere::FORMAT,
    mistral_conversations::FORMAT,
    tgi::FORMAT,
    llama_cpp::FORMAT,
    cumulative::FORMAT,
    bedrock_converse::FORMAT,
    bedrock_invoke::FORMAT,
    dashscope::FORMAT,
    langserve::FORMAT,
    vercel_ui::FORMAT,
    vercel_data::FORMAT,
    ag_ui::FORMAT,
    mcp::FORMAT,
];

/// The format of this name (contract 3.1).
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// A stream format: its name, what it demands, its words, and how its frames are read.
#[derive(Debug)]
pub struct Format {
    /// The name of the contract, 3.1.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What the core judges, and how strictly.
    pub rules: Rules,
    /// What the finish reasons mean.
    pub reasons: &'static [Reason],
    /// What the format's own error types and codes mean: `(type or code, meaning)`. The common ones are
    /// in [`Fault::meaning`](crate::Fault::meaning).
    pub errors: &'static [(&'static str, &'static str)],
    /// Makes an assembler for one stream.
    pub start: fn() -> Box<dyn Assembler>,
}

/// A finish reason's meaning.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// The value as the format sends it.
    pub value: &'static str,
    /// What it means, one sentence.
    pub meaning: &'static str,
    /// Where that is from.
    pub source: &'static str,
}

/// When the sources of meanings were read.
pub(crate) const AS_OF: &str = "2026-08";

/// What `data: [DONE]` means to a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentinel {
    /// It ends the stream.
    Ends,
    /// The stream ends before it; it may follow.
    MayFollow,
    /// It is no part of the format.
    Unknown,
}

/// What the core demands of a stream in this format (`FORMATS.md` J).
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a demand of its own, as in the matrix")]
pub struct Rules {
    /// What an output is called: `choice`, `candidate`, `message`.
    pub unit: &'static str,
    /// What ends the stream, in words that `no-end` puts after "without".
    pub end: &'static str,
    /// The event that begins it, for `no-start`; `None` where the format has none.
    pub start: Option<&'static str>,
    /// What `[DONE]` means.
    pub sentinel: Sentinel,
    /// Text comes in deltas by definition: values that look cumulative are noted, never repaired.
    pub deltas: bool,
    /// A call without a name, at the end: `tool-call-incomplete`.
    pub calls_need_name: bool,
    /// A call without an id, at the end: `tool-call-incomplete`.
    pub calls_need_id: bool,
    /// Calls have no end of their own: a call of an output that has stopped is closed at the end of the body.
    pub judge_calls_at_end: bool,
    /// A closed call without arguments: `arguments-not-json`.
    pub empty_arguments: bool,
    /// An ended stream with an output that has no finish reason: `no-finish-reason`.
    pub reasons: bool,
    /// An ended stream without usage: `usage-missing`.
    pub usage: bool,
}

impl Rules {
    /// Nothing is demanded: what a format's rules begin from.
    pub const NONE: Self = Self {
        unit: "answer",
        end: "an end",
        start: None,
        sentinel: Sentinel::Unknown,
        deltas: false,
        calls_need_name: false,
        calls_need_id: false,
        judge_calls_at_end: false,
        empty_arguments: false,
        reasons: false,
        usage: false,
    };
}

/// What the `event:` line is to a format's clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventLine {
    /// The official clients dispatch on it.
    Dispatched,
    /// Nobody needs it.
    Optional,
}

/// A frame as a format reads it.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// The frame: its place, ids, times.
    pub frame: &'a Frame,
    /// The framing it came in.
    pub framing: Framing,
    /// Its data.
    pub json: Json<'a>,
    /// Its data's members, where it is an object.
    pub object: Option<Object<'a>>,
    /// It came inside another format's frame, whose `event` field says nothing of it.
    wrapped: bool,
}

impl<'a> Event<'a> {
    /// Reads a frame's data.
    ///
    /// # Errors
    /// What the JSON parser said, where it is not JSON.
    pub fn parse(frame: &'a Frame, framing: Framing, data: &'a str) -> Result<Self, String> {
        let json = Json::parse(data)?;
        Ok(Self { frame, framing, json, object: json.object(), wrapped: false })
    }

    /// A frame without data of its own.
    pub(crate) fn blank(frame: &'a Frame, framing: Framing) -> Self {
        Self { frame, framing, json: Json::NULL, object: None, wrapped: false }
    }

    /// The same frame with other JSON in it, for formats that wrap another's. It has no name.
    pub fn with_json<'b>(&'b self, json: Json<'b>) -> Event<'b> {
        let (frame, framing) = (self.frame, self.framing);
        Event { frame, framing, json, object: json.object(), wrapped: true }
    }

    /// The `event` field.
    pub fn name(&self) -> Option<&'a str> {
        self.frame.event.as_deref().filter(|_| !self.wrapped)
    }

    /// Whether it is an AWS message of type `exception` or `error`: an error, whatever is in it.
    pub fn is_exception(&self) -> bool {
        let kind = self.frame.headers.iter().rfind(|(name, _)| name == ":message-type");
        kind.is_some_and(|(_, kind)| matches!(&**kind, "exception" | "error"))
    }

    /// The frame's type, in formats that write it in the data's `key` and in the `event:` line: the data's,
    /// or else the line's. Both there and different: `event-mismatch`. No line although clients dispatch on
    /// it: `event-line-missing`, once.
    pub fn kind(&self, key: &str, line: EventLine, draft: &mut Draft) -> Cow<'a, str> {
        let data_type = self.object.as_ref().and_then(|object| object.filled(key));
        match (data_type, self.name()) {
            (Some(data_type), Some(event)) => {
                if data_type != event {
                    let (event, data_type) = (excerpt(event), excerpt(&data_type));
                    draft.report(Kind::EventMismatch { event, data_type });
                }
                data_type
            }
            (Some(data_type), None) => {
                if line == EventLine::Dispatched && self.framing == Framing::Sse {
                    let data_type = excerpt(&data_type);
                    draft.report_once("event line", Kind::EventLineMissing { data_type });
                }
                data_type
            }
            (None, event) => Cow::Borrowed(event.unwrap_or_default()),
        }
    }

    /// The data's `type`.
    pub fn data_type(&self) -> Option<Cow<'a, str>> {
        self.object.as_ref()?.filled("type")
    }
}

/// The reader of one stream in one format. Pure: the same frames give the same draft.
pub trait Assembler: Send {
    /// A frame whose data is JSON. Frames after the end come only if [`passes_end`](Self::passes_end).
    ///
    /// Frames that are nothing but an error object, `[DONE]`, frames without data and data that is not
    /// JSON are the core's. A frame that is not the format's: [`Draft::unknown`].
    fn frame(&mut self, event: &Event<'_>, draft: &mut Draft);

    /// A frame whose data is not JSON. `true` if it is part of the format all the same.
    fn text(&mut self, data: &str, frame: &Frame, draft: &mut Draft) -> bool {
        let _ = (data, frame, draft);
        false
    }

    /// A frame that names an event and has no data. `true` if it is part of the format all the same.
    fn bare(&mut self, event: &str, draft: &mut Draft) -> bool {
        let _ = (event, draft);
        false
    }

    /// A frame after the end. `true` if it may come there: it is then read by [`frame`](Self::frame).
    fn passes_end(&self, event: &Event<'_>) -> bool {
        let _ = event;
        false
    }

    /// Whether a line that is no field of server-sent events is one in this format: it is not reported then.
    fn reads_line(&self, line: &str) -> bool {
        let _ = line;
        false
    }

    /// Whether a stream in which no frame names a format is of this one, by what was read of it so far.
    fn claims(&self, draft: &Draft) -> bool {
        let _ = draft;
        false
    }

    /// A plain, non-streamed body: outputs, usage, id and model. The body itself is the response, an error
    /// object in it is the core's.
    fn document(&mut self, document: Json<'_>, draft: &mut Draft);

    /// The body ended: what only the end can tell. The core judges its own findings after this.
    fn finish(&mut self, draft: &mut Draft) {
        let _ = draft;
    }

    /// Writes the equivalent non-streamed response, one value. Nothing written: there is none.
    fn response(&self, out: &mut Writer<'_>);
}
