//! What leaves a capture.

use std::io::Write;

use teeline_capture::{CaptureId, Piece, Store, StoreError};

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

/// Writes a capture as `kind`.
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
    let _ = kind;
    for piece in store.body(id)? {
        if let Piece::Chunk(chunk) = piece? {
            out.write_all(&chunk.bytes)?;
        }
    }
    Ok(())
}
