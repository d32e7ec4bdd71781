//! What was sent and what came back.

use std::net::SocketAddr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use teeline_assembler::Verdict;

use crate::{State, Summary, Timestamp, summary::EndedBy};

/// The status after which another protocol is spoken.
pub(crate) const SWITCHING_PROTOCOLS: u16 = 101;

/// The head of a request, as the proxy saw it. Secrets are redacted before any of it is kept.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// The upstream's name.
    pub upstream: String,
    /// The method.
    pub method: String,
    /// Path and query as the app sent them, the upstream's segment included.
    pub target: String,
    /// The URL that it goes to.
    pub url: String,
    /// The app's HTTP version, such as `HTTP/1.1`.
    pub version: &'static str,
    /// Its headers in order, names as they were spelled.
    pub headers: Vec<(String, Bytes)>,
    /// Who sent it.
    pub client: Option<SocketAddr>,
}

/// The head of a response, as the upstream sent it.
#[derive(Clone, Debug)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// The reason phrase, where it is not the usual one.
    pub reason: Option<String>,
    /// The upstream's HTTP version.
    pub version: &'static str,
    /// Its headers in order, names as they were spelled.
    pub headers: Vec<(String, Bytes)>,
}

/// How an exchange ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The upstream ended the body, and all of it went to the app.
    Clean,
    /// The upstream broke off.
    UpstreamBroke {
        /// In a word or two: `reset`, `closed early`, `timeout`.
        how: String,
    },
    /// The app went away.
    ClientLeft,
    /// No response came.
    Failed {
        /// The contract's KIND, such as `connect-failed`.
        kind: String,
        /// What happened, for people.
        message: String,
    },
    /// teeline itself stopped.
    Interrupted,
}

impl Ending {
    /// The state that this ending leaves.
    pub const fn state(&self) -> State {
        match self {
            Self::Clean => State::Ended,
            Self::UpstreamBroke { .. } => State::UpstreamBroke,
            Self::ClientLeft => State::ClientLeft,
            Self::Failed { .. } => State::Failed,
            Self::Interrupted => State::Interrupted,
        }
    }

    /// Whose doing it is.
    pub const fn by(&self) -> EndedBy {
        match self {
            Self::Clean | Self::UpstreamBroke { .. } => EndedBy::Upstream,
            Self::ClientLeft => EndedBy::App,
            Self::Failed { .. } | Self::Interrupted => EndedBy::Teeline,
        }
    }
}

/// A request as it is shown: secrets redacted, bytes that are no UTF-8 replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestView {
    /// The method.
    pub method: String,
    /// The URL that it went to.
    pub url: String,
    /// The app's HTTP version.
    pub version: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body as text, its content coding undone.
    pub body: String,
    /// The body was longer than what is kept (32 MiB), or did not come whole.
    pub body_truncated: bool,
}

/// A response's head and trailers as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseView {
    /// The status.
    pub status: u16,
    /// The reason phrase, where it is not the usual one.
    pub reason: Option<String>,
    /// The upstream's HTTP version.
    pub version: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The trailers.
    pub trailers: Vec<(String, String)>,
    /// The 1xx statuses that came before.
    pub informational: Vec<u16>,
}

impl ResponseView {
    /// It agrees to speak WebSocket (RFC 6455, section 4.2.2).
    pub(crate) fn is_websocket(&self) -> bool {
        let upgrade = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("upgrade") && value.trim().eq_ignore_ascii_case("websocket")
        };
        self.status == SWITCHING_PROTOCOLS && self.headers.iter().any(upgrade)
    }
}

/// Moments of an exchange, in microseconds since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// The request's head was written upstream.
    pub sent_us: Option<u64>,
    /// The request's body had come whole.
    pub request_end_us: Option<u64>,
    /// The response's head came.
    pub response_us: Option<u64>,
    /// The response ended.
    pub end_us: Option<u64>,
}

/// Exactly how an exchange ended: who, how, where and when.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct End {
    /// Whose doing it was.
    pub by: EndedBy,
    /// In a word or two: `whole`; of an upstream `closed early`, `reset`, `reset (INTERNAL_ERROR)`, `timeout`; of
    /// an app `closed`, `reset`, `reset CANCEL`, or `left` where no more is known; of teeline the KIND of its
    /// answer, or `stopped`.
    pub how: String,
    /// The last frame that came whole or in part; `None`: none did.
    pub frame: Option<u64>,
    /// Bytes of the body that came, content coding and all: the end is behind them.
    pub byte: u64,
    /// Those of them that were written to the app's socket.
    pub to_app: u64,
    /// Milliseconds since the request's start.
    pub after_ms: Option<f64>,
    /// What the frames say beside it: whether what came is a whole stream.
    pub verdict: Option<Verdict>,
}

impl End {
    pub(crate) fn new(summary: &Summary, ending: &Ending, left: Option<&str>) -> Self {
        let how = match ending {
            Ending::Clean => "whole",
            Ending::UpstreamBroke { how } => how,
            Ending::ClientLeft => left.unwrap_or("left"),
            Ending::Failed { kind, .. } => kind,
            Ending::Interrupted => "stopped",
        };
        Self {
            by: ending.by(),
            how: how.to_owned(),
            frame: summary.frames.checked_sub(1),
            byte: summary.bytes,
            to_app: summary.bytes_to_app,
            after_ms: summary.duration_ms,
            verdict: summary.verdict,
        }
    }
}

/// All of a capture but the response's body and its reading.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The capture in one row.
    pub summary: Summary,
    /// What the app sent.
    pub request: RequestView,
    /// What the upstream answered; `None` if nothing came.
    pub response: Option<ResponseView>,
    /// When what happened.
    pub moments: Moments,
    /// How it ended; `None` while it is open.
    pub ending: Option<Ending>,
    /// The same exactly, once its reading is final.
    pub end: Option<End>,
}

impl Exchange {
    /// Both sides have agreed to speak WebSocket: the request's body is what the app sent then, in frames.
    pub fn is_websocket(&self) -> bool {
        self.response.as_ref().is_some_and(ResponseView::is_websocket)
    }
}

/// A piece of a captured body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes.
    Chunk(StoredChunk),
    /// Bytes that the capture lacks.
    Gap {
        /// The first byte that is missing, of the encoded body.
        from: u64,
        /// The byte after the last that is missing.
        to: u64,
        /// Why.
        reason: String,
    },
}

/// Bytes of a body, as they came in one read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    /// The first byte's place in the body.
    pub offset: u64,
    /// When it came, in microseconds since the request's start; `None` for an imported body without times.
    pub at_us: Option<u64>,
    /// The bytes.
    pub bytes: Bytes,
}

/// An exchange that comes from somewhere else: a pasted stream, a file, a HAR entry.
#[derive(Clone, Debug)]
pub struct Import {
    /// Its request; for a bare body `method` and `url` may be empty.
    pub request: RequestHead,
    /// Its request's body.
    pub request_body: Bytes,
    /// Its response.
    pub response: Option<ResponseHead>,
    /// The body with the time of each piece, in microseconds since the start; `None` where no time is known.
    pub chunks: Vec<(Bytes, Option<u64>)>,
    /// The chunks have their content coding undone, whatever the response's headers say.
    pub decoded: bool,
    /// Its moments, where they are known from elsewhere than the chunks.
    pub moments: Option<Moments>,
    /// When it began; `None`: now.
    pub started_at: Option<Timestamp>,
    /// How it ended.
    pub ending: Ending,
    /// The format to read it as; `None`: detect.
    pub format: Option<String>,
    /// Read time stamps off the lines (pasted text only).
    pub stamps: bool,
}
