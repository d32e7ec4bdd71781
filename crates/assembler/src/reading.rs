//! What a stream amounts to: the shapes of the contract, section 3.

use serde::Serialize;
use serde_json::value::RawValue;
use teeline_finding::Finding;

/// The value of `schema`.
pub const SCHEMA: &str = "teeline.reading/1";

/// How a stream ended, by `FORMATS.md` 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The end marker came and nothing is missing.
    Finished,
    /// No end, an error, a cut or a bound.
    DidNotFinish,
    /// The end is there, a piece before it is missing.
    NotTheWholeStream,
    /// Nothing came.
    Empty,
}

impl Verdict {
    /// The name used in JSON and queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::DidNotFinish => "did-not-finish",
            Self::NotTheWholeStream => "not-the-whole-stream",
            Self::Empty => "empty",
        }
    }
}

/// What a client should have built from a stream, and what is wrong with it.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The format's name (contract 3.1), `unknown` if none fits.
    pub format: &'static str,
    /// The framing's name; `None` where none was found.
    pub framing: Option<&'static str>,
    /// How the stream ended.
    pub verdict: Verdict,
    /// One line for people: the verdict and what there is.
    pub summary: String,
    /// The response's id.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// One per choice, candidate, message or run, by ascending index.
    pub outputs: Vec<Output>,
    /// Token counts; `None` when never seen.
    pub usage: Option<Usage>,
    /// The error the stream ended in.
    pub error: Option<Failure>,
    /// The equivalent non-streamed response in the format's own shape.
    pub response: Option<Box<RawValue>>,
    /// What is wrong, in order.
    pub findings: Vec<Finding>,
    /// How much came.
    pub counts: Counts,
    /// `None` if no times are known.
    pub timing: Option<Timing>,
    /// Only where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<Vec<FrameRow>>,
    /// Only of a WebSocket, whose frames are messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub websocket: Option<WebSocketFacts>,
}

/// What both sides of a WebSocket sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WebSocketFacts {
    /// What the app sent.
    pub from_app: SideFacts,
    /// What the upstream sent.
    pub from_upstream: SideFacts,
    /// Who sent the first close frame: `app` or `upstream`; `None`: nobody did.
    pub closed_by: Option<&'static str>,
    /// The extensions that were agreed on, as the upstream named them.
    pub extensions: Option<String>,
    /// The subprotocol that was agreed on.
    pub protocol: Option<String>,
}

/// What one side of a WebSocket sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SideFacts {
    /// Messages, control frames left out.
    pub messages: u64,
    /// Those of them whose payload is compressed, and not decoded.
    pub compressed: u64,
    /// Pings, pongs and closes.
    pub control: u64,
    /// Bytes, the frames' heads included.
    pub bytes: u64,
    /// The first close frame; `None` if it sent none.
    pub close: Option<CloseFacts>,
}

/// A close frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CloseFacts {
    /// Its code, if it has one.
    pub code: Option<u16>,
    /// Its reason, `""` if it gives none.
    pub reason: String,
}

/// An answer: a choice, a candidate, a message or a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Output {
    /// The choice's or candidate's index; 0 in formats with one answer.
    pub index: u64,
    /// Who speaks, mostly `assistant`.
    pub role: Option<String>,
    /// The answer's text, `""` if there is none.
    pub text: String,
    /// The reasoning, `""` if there is none.
    pub reasoning: String,
    /// The refusal, `""` if there is none.
    pub refusal: String,
    /// The calls that the client has to answer.
    pub tool_calls: Vec<ToolCall>,
    /// Every block in stream order, each an object with a `kind`.
    pub parts: Vec<Box<RawValue>>,
    /// Why it stopped.
    pub finish: Option<Finish>,
}

/// A tool call that the client has to answer.
#[derive(Clone, Debug, Serialize)]
pub struct ToolCall {
    /// Its position.
    pub index: u64,
    /// Its id; `None` in formats whose calls need none.
    pub id: Option<String>,
    /// The tool's name.
    pub name: Option<String>,
    /// The joined argument text.
    pub arguments: String,
    /// Whether `arguments` parses as JSON.
    pub arguments_valid: bool,
    /// Whether everything of it came.
    pub complete: bool,
}

/// Why an output stopped.
#[derive(Clone, Debug, Serialize)]
pub struct Finish {
    /// The format's own value.
    pub reason: String,
    /// What that means.
    pub meaning: Option<String>,
    /// Where the meaning is from.
    pub source: Option<String>,
    /// When the source was read, as `YYYY-MM`.
    pub as_of: Option<&'static str>,
}

/// Token counts as the format gives them, with the common ones picked out.
#[derive(Clone, Debug, Serialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer.
    pub output_tokens: Option<u64>,
    /// Both.
    pub total_tokens: Option<u64>,
    /// Prompt tokens that came from a cache.
    pub cached_tokens: Option<u64>,
    /// Answer tokens spent on reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The format's own object, numbers in their source text.
    pub raw: Box<RawValue>,
}

/// The error that a stream ended in.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// What the provider says.
    pub message: String,
    /// Its type.
    #[serde(rename = "type")]
    pub error_type: Option<String>,
    /// Its code.
    pub code: Option<String>,
    /// What the type or code means; `None` if unknown.
    pub meaning: Option<String>,
    /// The error as it came.
    pub raw: Box<RawValue>,
}

/// How much came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Bytes of the decoded body.
    pub bytes: u64,
    /// Frames as they are listed.
    pub frames: u64,
    /// Comment lines.
    pub comments: u64,
    /// Frames with `dispatched` true.
    pub events: u64,
}

/// Milliseconds since the request was sent; in pasted text since the first stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// The first byte of the body.
    pub first_byte_ms: Option<f64>,
    /// The first character of an answer, reasoning or refusal.
    pub first_text_ms: Option<f64>,
    /// The last byte of the body.
    pub last_byte_ms: Option<f64>,
    /// The longest time between two frames.
    pub longest_gap_ms: Option<f64>,
    /// Output tokens by the time from the first text to the last byte.
    pub tokens_per_second: Option<f64>,
}

/// A frame as the contract lists it (3.3).
#[derive(Clone, Debug, Serialize)]
pub struct FrameRow {
    /// Its place among all frames, from 0.
    pub index: u64,
    /// Its first byte in the decoded body.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
    /// Its first line, from 1.
    pub line: u64,
    /// Its lines.
    pub lines: u64,
    /// When its first byte came, UTC, in microseconds; `None` without a date or a time.
    pub at: Option<String>,
    /// The same in milliseconds since the request was sent or the first stamp.
    pub at_ms: Option<f64>,
    /// The event it names.
    pub event: Option<String>,
    /// Its data as text.
    pub data: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// Its retry, in milliseconds.
    pub retry: Option<u64>,
    /// Its comments.
    pub comments: Vec<String>,
    /// Its end came.
    pub terminated: bool,
    /// A WHATWG `EventSource` would dispatch it.
    pub dispatched: bool,
    /// What it did; `None` (left out) where only framing was asked for.
    #[serde(flatten)]
    pub effect: Option<Effect>,
    /// Who sent it and how; `None` (left out) where it is no WebSocket message.
    #[serde(flatten)]
    pub message: Option<MessageFacts>,
}

/// What a row says of a WebSocket message beside what it says of every frame. Its `offset` and `length`
/// are then bytes of its own direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageFacts {
    /// `from-app` or `from-upstream`.
    pub direction: &'static str,
    /// `text`, `binary`, `close`, `ping`, `pong`, `continuation` (of nothing) or `reserved`.
    pub opcode: &'static str,
    /// Bytes of its payload.
    pub size: u64,
    /// Frames that it was in.
    pub fragments: u64,
    /// Its payload is compressed, and not decoded.
    pub compressed: bool,
    /// The code of a close.
    pub close_code: Option<u16>,
    /// What of it RFC 6455 forbids.
    pub faults: Vec<String>,
}

/// What a frame did to the reading.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// `text`, `reasoning`, `refusal`, `tool`, `usage`, `start`, `end`, `error`, `control`, `keep-alive`, `other`.
    pub kind: &'static str,
    /// What it added, in words.
    pub carried: String,
    /// The output it went to.
    pub output: Option<u64>,
    /// The tool call it went to.
    pub call: Option<u64>,
    /// The first 64 characters of new text.
    pub snippet: String,
}
