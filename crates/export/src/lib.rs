//! What leaves a capture: the forms in which people paste streams elsewhere (contract, section 5); and how it
//! comes back in.
//!
//! ```
//! use teeline_capture::{Ending, RequestHead, ResponseHead, Store, StoreOptions};
//! use teeline_export::{Kind, export};
//!
//! let store = Store::in_memory(StoreOptions::default())?;
//! let tap = store.recorder().begin(RequestHead {
//!     upstream: "openai".into(),
//!     method: "POST".into(),
//!     target: "/openai/v1/chat/completions".into(),
//!     url: "https://api.openai.com/v1/chat/completions".into(),
//!     version: "HTTP/1.1",
//!     headers: vec![("Authorization".into(), "Bearer sk-0123456789".into())],
//!     client: None,
//! });
//! tap.response(ResponseHead { status: 200, reason: None, version: "HTTP/1.1", headers: vec![] });
//! tap.chunk(&"data: [DONE]\n\n".into());
//! tap.end(Ending::Clean);
//! let id = tap.id();
//! drop(tap);
//! store.shutdown();
//!
//! let mut stamped = Vec::new();
//! export(&store, id, Kind::Stamped, &mut stamped)?;
//! let stamped = String::from_utf8(stamped)?;
//! assert!(stamped.lines().all(|line| line.as_bytes()[26] == b'Z'), "{stamped}");
//!
//! let mut curl = Vec::new();
//! export(&store, id, Kind::Curl, &mut curl)?;
//! assert!(String::from_utf8(curl)?.contains(r#"'Authorization: Bearer '"$OPENAI_API_KEY""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod curl;
mod har;
mod import;
mod pretty;
mod stamped;

pub use import::{ImportError, import, stream};

use std::io::Write;

use teeline_assembler::FrameRow;
use teeline_capture::{CaptureId, Piece, Pieces, Store, StoreError};

/// What can be exported (contract 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The body as the client got it, its content coding undone.
    Raw,
    /// The body as it came.
    RawEncoded,
    /// The body's lines, each with the time of its first byte before it.
    Stamped,
    /// The answer's text.
    Text,
    /// The equivalent non-streamed response.
    Response,
    /// The reading with its frames.
    Reading,
    /// The frames, one JSON object a line.
    Frames,
    /// HAR 1.2.
    Har,
    /// A command that repeats the request.
    Curl,
}

impl Kind {
    /// Every kind, in the order of the contract.
    pub const ALL: [Self; 9] = [
        Self::Raw,
        Self::RawEncoded,
        Self::Stamped,
        Self::Text,
        Self::Response,
        Self::Reading,
        Self::Frames,
        Self::Har,
        Self::Curl,
    ];

    /// The name used on the command line and in URLs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::RawEncoded => "raw-encoded",
            Self::Stamped => "stamped",
            Self::Text => "text",
            Self::Response => "response",
            Self::Reading => "reading",
            Self::Frames => "frames",
            Self::Har => "har",
            Self::Curl => "curl",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The media type of the file. Bodies are never given a type that a browser would render.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Raw | Self::RawEncoded => "application/octet-stream",
            Self::Stamped | Self::Text | Self::Curl => "text/plain; charset=utf-8",
            Self::Response | Self::Reading | Self::Har => "application/json",
            Self::Frames => "application/jsonl",
        }
    }

    /// The name of the file.
    pub fn file_name(self, id: CaptureId) -> String {
        let end = match self {
            Self::Raw => "txt",
            Self::RawEncoded => "bin",
            Self::Stamped => "stamped.txt",
            Self::Text => "answer.txt",
            Self::Response => "response.json",
            Self::Reading => "reading.json",
            Self::Frames => "frames.jsonl",
            Self::Har => "har",
            Self::Curl => "sh",
        };
        format!("{id}.{end}")
    }
}

/// Why an export is not possible.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The body is binary.
    #[error("the body is binary and has no lines; use `raw`")]
    Binary,
    /// There is nothing of this kind: no response object, no times.
    #[error("{0}")]
    Nothing(String),
    /// The store failed, or has no such capture.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error("cannot write the export: {0}")]
    Write(#[from] std::io::Error),
}

/// Frames that are fetched at a time.
const PAGE: usize = 1000;

/// Writes a capture as `kind`. What is large is written as it is read, so memory does not grow with it
/// (but for `har`).
///
/// # Errors
///
/// See [`ExportError`]. Something may have been written before.
pub fn export(
    store: &Store,
    id: CaptureId,
    kind: Kind,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    match kind {
        Kind::Raw => bytes(store.body(id)?, out),
        Kind::RawEncoded => encoded(store, id, out),
        Kind::Stamped => stamped::write(store, id, out),
        Kind::Text => text(store, id, out),
        Kind::Response => response(store, id, out),
        Kind::Reading => reading(store, id, out),
        Kind::Frames => each_page(store, id, |rows| rows.iter().try_for_each(|row| line(out, row))),
        Kind::Har => har::write(store, id, out),
        Kind::Curl => Ok(out.write_all(curl::command(&store.exchange(id)?).as_bytes())?),
    }
}

/// What there is of a body. If there is nothing because it cannot be decoded, that is said.
fn bytes(pieces: Pieces, out: &mut dyn Write) -> Result<(), ExportError> {
    let (mut written, mut why) = (false, None);
    for piece in pieces {
        match piece? {
            Piece::Chunk(chunk) => {
                out.write_all(&chunk.bytes)?;
                written = true;
            }
            Piece::Gap { reason, .. } => why = why.or(Some(reason)),
        }
    }
    match why {
        Some(reason) if !written => {
            Err(ExportError::Nothing(format!("nothing of the body can be given: {reason}")))
        }
        _ => Ok(()),
    }
}

fn encoded(store: &Store, id: CaptureId, out: &mut dyn Write) -> Result<(), ExportError> {
    if store.is_kept_decoded(id)? {
        return Err(ExportError::Nothing(
            "this body is kept with its content coding undone (an error's so that no secret is left in it, \
             an imported one as it came in); use `raw`"
                .to_owned(),
        ));
    }
    bytes(store.chunks(id)?, out)
}

/// The answers' texts, a blank line between those of several choices.
fn text(store: &Store, id: CaptureId, out: &mut dyn Write) -> Result<(), ExportError> {
    let reading = store.reading(id)?;
    let texts: Vec<&str> = reading.outputs.iter().map(|output| output.text.as_str()).collect();
    Ok(out.write_all(texts.join("\n\n").as_bytes())?)
}

fn response(store: &Store, id: CaptureId, out: &mut dyn Write) -> Result<(), ExportError> {
    let reading = store.reading(id)?;
    let Some(response) = &reading.response else {
        let format = reading.format;
        return Err(ExportError::Nothing(format!(
            "a stream of format {format} has no equivalent response"
        )));
    };
    out.write_all(pretty::pretty(response.get()).as_bytes())?;
    Ok(out.write_all(b"\n")?)
}

/// The reading's own object, and in it the frames as they are fetched.
fn reading(store: &Store, id: CaptureId, out: &mut dyn Write) -> Result<(), ExportError> {
    let object = serde_json::to_vec(&*store.reading(id)?).map_err(std::io::Error::from)?;
    out.write_all(object.strip_suffix(b"}").unwrap_or(&object))?;
    out.write_all(b",\"frames\":[")?;
    let mut first = true;
    each_page(store, id, |rows| {
        for row in rows {
            if !std::mem::take(&mut first) {
                out.write_all(b",")?;
            }
            serde_json::to_writer(&mut *out, &row).map_err(std::io::Error::from)?;
        }
        Ok::<(), ExportError>(())
    })?;
    Ok(out.write_all(b"]}\n")?)
}

fn line(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), ExportError> {
    serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

pub(crate) fn all_rows(store: &Store, id: CaptureId) -> Result<Vec<FrameRow>, ExportError> {
    let mut all = Vec::new();
    each_page(store, id, |rows| {
        all.extend(rows);
        Ok::<(), StoreError>(())
    })?;
    Ok(all)
}

/// Gives all frames of a capture to `take`, 1,000 at a time, so that memory does not grow with their number.
///
/// # Errors
///
/// The store failed or has no such capture, or `take` failed.
pub fn each_page<E: From<StoreError>>(
    store: &Store,
    id: CaptureId,
    mut take: impl FnMut(Vec<FrameRow>) -> Result<(), E>,
) -> Result<(), E> {
    let mut offset = 0;
    loop {
        let (total, rows) = store.frames(id, offset, PAGE)?;
        offset += rows.len() as u64;
        let last = rows.is_empty() || total <= offset;
        take(rows)?;
        if last {
            return Ok(());
        }
    }
}
