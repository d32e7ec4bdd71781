//! What a decoder gives: frames, and the framings they come in.

use bytes::Bytes;

/// How a body is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// `text/event-stream`, as the WHATWG standard has it.
    Sse,
    /// One JSON value a line.
    Ndjson,
    /// One JSON array, its elements are the frames.
    JsonArray,
    /// One JSON document: a plain, non-streamed body.
    Json,
    /// `application/vnd.amazon.eventstream`: binary messages with checksums.
    AwsEventstream,
}

impl Framing {
    /// Every framing, in the order in which the command line names them.
    pub const ALL: [Self; 5] =
        [Self::Sse, Self::Ndjson, Self::JsonArray, Self::Json, Self::AwsEventstream];

    /// The name used in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sse => "sse",
            Self::Ndjson => "ndjson",
            Self::JsonArray => "json-array",
            Self::Json => "json",
            Self::AwsEventstream => "aws-eventstream",
        }
    }

    /// The framing of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|framing| framing.as_str() == name)
    }
}

/// Text of a frame: bytes that are UTF-8. A slice of the input where nothing had to be replaced or joined.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Data(Bytes);

impl Data {
    /// Bytes that are known to be UTF-8.
    pub(crate) const fn from_well_formed(bytes: Bytes) -> Self {
        Self(bytes)
    }

    /// The bytes as text, ill-formed parts replaced by U+FFFD (the SSE standard's rule).
    pub fn from_lossy(bytes: Bytes) -> Self {
        match std::str::from_utf8(&bytes) {
            Ok(_) => Self(bytes),
            Err(_) => Self(Bytes::from(String::from_utf8_lossy(&bytes).into_owned())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // The constructors admit UTF-8 only, so the fallback is never taken.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Its bytes, to be kept or sliced.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        Self(Bytes::from(text))
    }
}

impl From<&'static str> for Data {
    fn from(text: &'static str) -> Self {
        Self(Bytes::from_static(text.as_bytes()))
    }
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// The time at the start of a pasted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since 1970-01-01T00:00:00Z, or, without a date, since midnight (of the first stamp's day:
    /// a time of day that goes backwards by more than 12 hours is the next day's).
    pub ns: i128,
    /// Whether the stamp had a date.
    pub dated: bool,
}

/// A frame of a stream: for SSE every run of non-empty lines, also one of comments only; for NDJSON a line;
/// for a JSON array an element; for the AWS event stream a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its place among all frames, from 0.
    pub index: u64,
    /// Its first byte in the decoded body (content coding undone; BOM and stamps count).
    pub offset: u64,
    /// Bytes from there to its end. SSE: its last line's line end is part of it, the blank line is not; NDJSON: the line
    /// without stamp and line end; array: the element; AWS event stream: the whole message.
    pub length: u64,
    /// Its first line, from 1. (Binary messages have no lines: always 1.)
    pub line: u64,
    /// How many lines it is in.
    pub lines: u64,
    /// The `event` field, `None` if the frame has none; for the AWS event stream `:event-type`,
    /// `:exception-type` or `:error-code`.
    pub event: Option<String>,
    /// The data lines joined by LF; `None` if there is no data line.
    pub data: Option<Data>,
    /// The last valid `id` of the block.
    pub id: Option<String>,
    /// The last valid `retry` of the block, in milliseconds.
    pub retry: Option<u64>,
    /// Its comment lines, without the colon and one space behind it.
    pub comments: Vec<String>,
    /// Its end came: a blank line, a line end, a comma or bracket, the whole message.
    pub terminated: bool,
    /// A WHATWG `EventSource` would dispatch it (other framings: always).
    pub dispatched: bool,
    /// The first stamp among its lines and its blank line, where the input is stamped.
    pub stamp: Option<Stamp>,
    /// JSON values that the framing's own rules lose and a tolerant reader recovers (`FORMATS.md` G.6), in
    /// order: the data lines of a [`glued`](Self::glued) frame, then values in bare JSON lines of the frame.
    pub recovered: Vec<Data>,
    /// The data is not JSON, but each of its lines is: blank lines are missing between several frames.
    pub glued: bool,
    /// The value of an ignored line `error: …`, if it is JSON: how old llama.cpp servers report a failure.
    pub error: Option<Data>,
    /// The text headers of an AWS message, in order; empty in other framings.
    pub headers: Vec<(String, String)>,
}
