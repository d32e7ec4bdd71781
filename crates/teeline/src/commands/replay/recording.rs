//! What an upstream answered, ready to be answered again.

use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use teeline_capture::{CaptureId, Ending, Exchange, Piece, ResponseView, Store};
use teeline_export::each_page;
use teeline_script::Script;

use super::{faults::Faults, player::Speed};
use crate::output::{escaped_line, say};

/// Of the connection and not of the answer, so made anew.
const FRAMING: [&str; 7] = [
    "transfer-encoding",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "upgrade",
    "trailer",
];

/// A piece of the body and the time it came, from the request on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    pub(super) at: Duration,
    pub(super) bytes: Bytes,
    /// The frame that it is, where the body was cut into frames.
    pub(super) frame: Option<u64>,
}

/// How the answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As an answer should.
    Clean,
    /// The connection is closed before the body's end.
    Early,
    /// The connection is reset.
    Reset,
}

/// One recorded answer.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    name: String,
    pub(super) method: String,
    /// Where the request went, without host and query; empty if it is not known.
    pub(super) path: String,
    /// `None`: the upstream closed the connection without an answer.
    head: Option<Head>,
    pieces: Vec<Timed>,
    end: End,
}

#[derive(Clone, Debug)]
struct Head {
    at: Duration,
    status: String,
    headers: Vec<(String, String)>,
    trailers: Vec<(String, String)>,
    /// The body's length was told, and is still true.
    sized: bool,
}

impl Recording {
    /// Loads a capture and adds the faults.
    pub(super) fn load(store: &Store, id: CaptureId, faults: &Faults) -> Result<Self> {
        let exchange = store.exchange(id)?;
        let reading = store.reading(id)?;
        let decoded = faults.need_frames() || store.is_kept_decoded(id)?;
        let pieces = if faults.need_frames() {
            faults.add(frames(store, id)?)?
        } else {
            chunks(store, id, decoded)?
        };
        let framing = reading.framing;
        let end = faults.end().unwrap_or_else(|| end(exchange.ending.as_ref()));
        let head = match &exchange.response {
            Some(response) => Some(head(&exchange, response, framing, decoded, end)),
            // A bare stream: what an upstream would have said of it.
            None if !matches!(exchange.ending, Some(Ending::Failed { .. })) => {
                Some(bare_head(framing))
            }
            None => None,
        };
        let url = &exchange.request.url;
        let path = url.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..]));
        Ok(Self {
            name: id.to_string(),
            method: exchange.request.method.clone(),
            path: path.unwrap_or_default().split('?').next().unwrap_or_default().to_owned(),
            head,
            pieces,
            end,
        })
    }

    /// One line about it.
    pub(super) fn in_words(&self) -> String {
        let request = if self.method.is_empty() {
            "any request".to_owned()
        } else {
            format!("{} {}", escaped_line(&self.method), escaped_line(&self.path))
        };
        let Some(head) = &self.head else {
            return format!("{request}: closes the connection ({})", self.name);
        };
        let bytes: usize = self.pieces.iter().map(|piece| piece.bytes.len()).sum();
        let end = match self.end {
            End::Clean => "",
            End::Early => ", then closes early",
            End::Reset => ", then resets",
        };
        format!("{request}: {}, {bytes} bytes{end} ({})", escaped_line(&head.status), self.name)
    }

    /// The steps of the answer.
    pub(super) fn script(&self, speed: Speed) -> Script {
        let Some(head) = &self.head else { return Script::new().close() };
        let mut clock = Duration::ZERO;
        let mut wait = |script: Script, at: Duration| {
            let pause = speed.pause(at.saturating_sub(clock));
            clock = clock.max(at);
            if pause.is_zero() { script } else { script.pause(pause) }
        };
        let headers: Vec<(&str, &str)> =
            head.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut script = wait(Script::new(), head.at);
        script = script.then(Script::head(&head.status, &headers));
        for piece in self.pieces.iter().filter(|piece| !piece.bytes.is_empty()) {
            script = wait(script, piece.at);
            script = if head.sized {
                script.bytes(piece.bytes.clone())
            } else {
                script.chunk(&piece.bytes)
            };
        }
        let trailers: Vec<(&str, &str)> =
            head.trailers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        match self.end {
            End::Clean if head.sized => script,
            End::Clean if trailers.is_empty() => script.last_chunk(),
            End::Clean => script.last_chunk_with(&trailers),
            End::Early => script.fin(),
            End::Reset => script.rst(),
        }
    }
}

fn end(ending: Option<&Ending>) -> End {
    match ending {
        Some(Ending::UpstreamBroke { how }) if how.contains("reset") => End::Reset,
        // What would have come is not known where the app or teeline itself ended it.
        None | Some(Ending::UpstreamBroke { .. } | Ending::ClientLeft | Ending::Interrupted) => {
            End::Early
        }
        Some(Ending::Clean | Ending::Failed { .. }) => End::Clean,
    }
}

fn head(
    exchange: &Exchange,
    response: &ResponseView,
    framing: Option<&str>,
    decoded: bool,
    end: End,
) -> Head {
    let length = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-length");
    let had_length = response.headers.iter().find(length).is_some();
    let bodiless = matches!(response.status, 204 | 304);
    let sized = bodiless || (had_length && !decoded && end == End::Clean);
    let dropped = |name: &str| {
        FRAMING.iter().any(|known| name.eq_ignore_ascii_case(known))
            || (decoded && name.eq_ignore_ascii_case("content-encoding"))
    };
    let mut headers: Vec<(String, String)> =
        response.headers.iter().filter(|(name, _)| !dropped(name)).cloned().collect();
    if sized {
        headers.extend(response.headers.iter().filter(length).cloned());
    } else {
        headers.extend(chunked(&response.trailers));
    }
    let reason = response.reason.as_deref().or_else(|| reason(response.status)).unwrap_or_default();
    if headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("content-type")) && !bodiless {
        headers.extend(content_type(framing));
    }
    Head {
        at: Duration::from_micros(exchange.moments.response_us.unwrap_or_default()),
        status: format!("{} {reason}", response.status),
        headers,
        trailers: response.trailers.clone(),
        sized,
    }
}

/// The usual reason phrase.
fn reason(status: u16) -> Option<&'static str> {
    hyper::StatusCode::from_u16(status).ok()?.canonical_reason()
}

fn chunked(trailers: &[(String, String)]) -> Vec<(String, String)> {
    let mut headers = vec![("Transfer-Encoding".to_owned(), "chunked".to_owned())];
    if !trailers.is_empty() {
        let names: Vec<&str> = trailers.iter().map(|(name, _)| name.as_str()).collect();
        headers.push(("Trailer".to_owned(), names.join(", ")));
    }
    headers
}

fn bare_head(framing: Option<&str>) -> Head {
    let mut headers: Vec<(String, String)> = content_type(framing).into_iter().collect();
    headers.extend(chunked(&[]));
    Head {
        at: Duration::ZERO,
        status: "200 OK".to_owned(),
        headers,
        trailers: Vec::new(),
        sized: false,
    }
}

fn content_type(framing: Option<&str>) -> Option<(String, String)> {
    let value = match framing? {
        "sse" => "text/event-stream",
        "ndjson" => "application/x-ndjson",
        "json-array" | "json" => "application/json",
        "aws-eventstream" => "application/vnd.amazon.eventstream",
        _ => return None,
    };
    Some(("Content-Type".to_owned(), value.to_owned()))
}

/// The body in the pieces in which it came; what the capture lacks is left out, and said.
fn chunks(store: &Store, id: CaptureId, decoded: bool) -> Result<Vec<Timed>> {
    let pieces = if decoded { store.body(id)? } else { store.chunks(id)? };
    let mut chunks = Vec::new();
    for piece in pieces {
        match piece? {
            Piece::Chunk(chunk) => chunks.push(Timed {
                at: Duration::from_micros(chunk.at_us.unwrap_or_default()),
                bytes: chunk.bytes,
                frame: None,
            }),
            Piece::Gap { from, to, reason } => {
                say(&format!("{id} lacks the bytes {from} to {to}: {}", escaped_line(&reason)));
            }
        }
    }
    Ok(chunks)
}

/// The decoded body cut into its frames: each from its first byte to the next one's.
fn frames(store: &Store, id: CaptureId) -> Result<Vec<Timed>> {
    let mut body = Vec::new();
    for chunk in chunks(store, id, true)? {
        body.extend_from_slice(&chunk.bytes);
    }
    let mut body = Bytes::from(body);
    let (mut frames, mut taken): (Vec<Timed>, u64) = (Vec::new(), 0);
    let mut last: Option<(u64, Duration)> = None;
    each_page(store, id, |rows| {
        for row in rows {
            if let Some((index, at)) = last {
                let length =
                    usize::try_from(row.offset.saturating_sub(taken)).unwrap_or(usize::MAX);
                let bytes = body.split_to(length.min(body.len()));
                frames.push(Timed { at, bytes, frame: Some(index) });
                taken = row.offset;
            }
            let at = row.at_ms.filter(|ms| 0.0 < *ms).unwrap_or_default();
            last = Some((row.index, Duration::from_secs_f64(at / 1000.0)));
        }
        anyhow::Ok(())
    })?;
    let (index, at) = last.context("it has no frames to put a fault into")?;
    frames.push(Timed { at, bytes: body, frame: Some(index) });
    Ok(frames)
}
