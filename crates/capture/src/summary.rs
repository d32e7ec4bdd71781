//! A capture in one row: the contract's Summary.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use teeline_assembler::Verdict;

use crate::{CaptureId, Timestamp};

/// Where an exchange stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It goes on, or its reading is not finished yet.
    Open,
    /// The upstream ended it cleanly.
    Ended,
    /// The upstream broke it off.
    UpstreamBroke,
    /// The app left.
    ClientLeft,
    /// No response came.
    Failed,
    /// teeline itself stopped.
    Interrupted,
}

impl State {
    /// Every state, in the order of the contract.
    pub const ALL: [Self; 6] = [
        Self::Open,
        Self::Ended,
        Self::UpstreamBroke,
        Self::ClientLeft,
        Self::Failed,
        Self::Interrupted,
    ];

    /// The name used in JSON and queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ended => "ended",
            Self::UpstreamBroke => "upstream-broke",
            Self::ClientLeft => "client-left",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Whose doing an ending was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// The upstream, cleanly or not.
    Upstream,
    /// The app.
    App,
    /// teeline: it stopped, or could not reach the upstream.
    Teeline,
}

/// How many findings there are of each severity, repeats counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCounts {
    /// A client is missing something, or breaks.
    pub error: u64,
    /// Some clients break.
    pub warning: u64,
    /// Worth knowing.
    pub note: u64,
}

/// New text over time: one number a time slot, from the request on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spark {
    /// How long a slot is, in milliseconds.
    pub slot_ms: u64,
    /// Bytes of new text in each slot, at most 40.
    pub bytes: Vec<u64>,
}

/// Token counts, as in a reading.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// The format's own object.
    pub raw: Box<RawValue>,
}

impl From<&teeline_assembler::Usage> for Usage {
    fn from(usage: &teeline_assembler::Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.total_tokens,
            cached_tokens: usage.cached_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            raw: usage.raw.clone(),
        }
    }
}

/// Why the first output that stopped did so, as in a reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finish {
    /// The format's own value.
    pub reason: String,
    /// What that means.
    pub meaning: Option<String>,
    /// Where the meaning is from.
    pub source: Option<String>,
    /// When the source was read, as `YYYY-MM`.
    pub as_of: Option<String>,
}

impl From<&teeline_assembler::Finish> for Finish {
    fn from(finish: &teeline_assembler::Finish) -> Self {
        Self {
            reason: finish.reason.clone(),
            meaning: finish.meaning.clone(),
            source: finish.source.clone(),
            as_of: finish.as_of.map(str::to_owned),
        }
    }
}

/// A capture in one row, as in the contract, section 4.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The capture.
    pub id: CaptureId,
    /// The upstream's name.
    pub upstream: String,
    /// The request's method.
    pub method: String,
    /// The path as the app sent it, without its query.
    pub path: String,
    /// The response's status.
    pub status: Option<u16>,
    /// The format's name; `None` until one was recognised.
    pub format: Option<String>,
    /// The model that answered, else the one that was asked for.
    pub model: Option<String>,
    /// Whether the body came in frames; `None` until that is known.
    pub streamed: Option<bool>,
    /// Where the exchange stands.
    pub state: State,
    /// How the stream ended; `None` while it is open.
    #[serde(deserialize_with = "verdict")]
    pub verdict: Option<Verdict>,
    /// When the request came.
    pub started_at: Timestamp,
    /// When the response ended, however it did.
    pub ended_at: Option<Timestamp>,
    /// Milliseconds from the request's start to the body's first byte.
    pub first_byte_ms: Option<f64>,
    /// Milliseconds from the request's start to the first character of an answer.
    pub first_text_ms: Option<f64>,
    /// Milliseconds from the request's start to its end.
    pub duration_ms: Option<f64>,
    /// Bytes of the body as it came, content coding and all.
    pub bytes: u64,
    /// Frames read.
    pub frames: u64,
    /// Token counts.
    pub usage: Option<Usage>,
    /// Why the first output stopped.
    pub finish: Option<Finish>,
    /// The first 200 characters of the answer.
    pub preview: String,
    /// What was found.
    pub findings: FindingCounts,
    /// How many choices, candidates or messages.
    pub choices: u64,
    /// The names of the tools that were called, in order, repeats included (at most 64).
    pub tool_names: Vec<String>,
    /// Whose doing the ending was.
    pub ended_by: Option<EndedBy>,
    /// How it ended, in a few words: what was done to the connection, else the error in which the stream ended; `None`
    /// otherwise.
    pub end_reason: Option<String>,
    /// SHA-256 of the body as it came, in hexadecimal; `None` while open and where the recorder lost bytes.
    pub sha256: Option<String>,
    /// What of the body was written to the app's socket.
    pub bytes_to_app: u64,
    /// New text over time.
    pub spark: Spark,
    /// The how manieth retry of a request it is, as the client counts or as the same request failed within the
    /// minute before; `None`: the first try.
    #[serde(default)]
    pub retry: Option<u64>,
    /// The try before, if it was recorded.
    #[serde(default)]
    pub retry_of: Option<CaptureId>,
}

fn verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Verdict>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    Ok(name.as_deref().and_then(verdict_from_name))
}

/// Every verdict, in the order of the contract.
pub(crate) const VERDICTS: [Verdict; 4] =
    [Verdict::Finished, Verdict::DidNotFinish, Verdict::NotTheWholeStream, Verdict::Empty];

pub(crate) fn verdict_from_name(name: &str) -> Option<Verdict> {
    VERDICTS.into_iter().find(|verdict| verdict.as_str() == name)
}

/// How many captures a list's segments hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentCounts {
    /// All.
    pub all: u64,
    /// Those still open.
    pub open: u64,
    /// Those that broke (`state:broken`).
    pub broken: u64,
    /// Those with a finding of severity error or warning or a note (`finding:any`).
    pub findings: u64,
}

/// A page of the list, newest first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// The captures.
    pub captures: Vec<Summary>,
    /// What to give as `before` for the page after this one; `None` at the end.
    pub next: Option<u64>,
    /// How many captures the query has in each segment.
    pub counts: SegmentCounts,
}
