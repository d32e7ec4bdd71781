//! The way to the assembler: one body, its content coding undone, read as it comes.

use std::sync::Arc;

use bytes::Bytes;
use teeline_assembler::{
    Added, Assembly, Counts, End, FORMATS, Format, FrameRow, Options, Reading, SCHEMA, Spark,
    Verdict, format,
};
use teeline_finding::{Finding, Kind, Place};

use crate::coding::Decoding;
use crate::record::Record;
use crate::{Ending, Piece, StoredChunk, Timestamp};

/// The names of all formats, and of none.
pub(crate) fn formats() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).chain(["unknown"]).collect()
}

/// The format that a record names, if it does.
fn named(record: &Record) -> Option<&'static Format> {
    #[cfg(test)]
    if let Some(faulty) = crate::store::faulty_format(record) {
        return Some(faulty);
    }
    record.format.as_deref().and_then(format)
}

/// Reads one body.
pub(crate) struct Reader {
    assembly: Assembly,
    undo: Undo,
    /// The encoded body's next byte.
    position: u64,
}

/// What is to be undone before the bytes are read.
enum Undo {
    Nothing,
    Coding(Box<Decoding>),
    /// The coding cannot be undone from here on.
    Stopped {
        from: u64,
        why: String,
    },
}

impl Reader {
    /// For the body of an exchange that began at `started_at`. `rows`: frames are kept to be taken, and what
    /// each of them added is traced.
    pub(crate) fn new(
        record: &Record,
        started_at: Timestamp,
        asked: Option<bool>,
        rows: bool,
    ) -> Self {
        let mut options = Options {
            format: named(record),
            content_type: record.response_header("content-type"),
            path: Some(record.target.clone()),
            request_streamed: asked,
            stamps: record.stamps,
            started_at_us: (!record.untimed).then(|| started_at.as_micros()),
            ..Options::default()
        };
        if !rows {
            options.trace_limit = 0;
        }
        let mut assembly = Assembly::new(options);
        assembly.keep_rows(rows);
        Self { assembly, undo: Undo::of(record), position: 0 }
    }

    /// Takes the next piece of the stored body.
    pub(crate) fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Chunk(chunk) => self.chunk(chunk),
            Piece::Gap { from, to, reason } => self.gap(*from, *to, reason),
        }
    }

    fn chunk(&mut self, chunk: &StoredChunk) {
        self.position = chunk.offset + chunk.bytes.len() as u64;
        let (assembly, at_us) = (&mut self.assembly, chunk.at_us);
        if let Err(why) = self.undo.push(chunk, &mut |bytes| assembly.push(bytes, at_us)) {
            self.undo = Undo::Stopped { from: chunk.offset, why };
        }
    }

    fn gap(&mut self, from: u64, to: u64, reason: &str) {
        self.assembly.gap(from, to, reason);
        self.undo.gap(to);
        self.position = self.position.max(to);
    }

    /// The body ended.
    pub(crate) fn finish(&mut self, ending: &Ending) {
        if let Undo::Stopped { from, why } = &self.undo
            && *from < self.position
        {
            self.assembly.gap(*from, self.position, why);
        }
        self.assembly.finish(match ending {
            // Where no response came, nothing can be missing in what came.
            Ending::Clean | Ending::Failed { .. } => End::Clean,
            Ending::UpstreamBroke { how } => End::Broke { how: how.clone() },
            Ending::ClientLeft => End::ClientLeft,
            Ending::Interrupted => End::Interrupted,
        });
    }

    pub(crate) fn reading(&self) -> Reading {
        self.assembly.reading()
    }

    pub(crate) fn preview(&self) -> String {
        self.assembly.preview()
    }

    pub(crate) fn spark(&self) -> &Spark {
        self.assembly.spark()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.assembly.counts()
    }

    pub(crate) fn take_rows(&mut self) -> Vec<FrameRow> {
        self.assembly.take_rows()
    }

    pub(crate) fn provenance(&self) -> Arc<[Added]> {
        self.assembly.provenance().into()
    }
}

impl Undo {
    fn of(record: &Record) -> Self {
        if record.kept_decoded {
            return Self::Nothing;
        }
        Self::codings(record.response_header("content-encoding").as_deref())
    }

    fn codings(header: Option<&str>) -> Self {
        match Decoding::new(header.unwrap_or_default()) {
            Ok(None) => Self::Nothing,
            Ok(Some(decoding)) => Self::Coding(Box::new(decoding)),
            Err(why) => Self::Stopped { from: 0, why },
        }
    }

    fn push(&mut self, chunk: &StoredChunk, sink: &mut dyn FnMut(Bytes)) -> Result<(), String> {
        match self {
            Self::Nothing => sink(chunk.bytes.clone()),
            Self::Coding(decoding) => decoding.push(&chunk.bytes, sink)?,
            Self::Stopped { .. } => {}
        }
        Ok(())
    }

    fn gap(&mut self, to: u64) {
        if matches!(self, Self::Coding(_)) {
            let why = "its content coding cannot be undone behind a gap".to_owned();
            *self = Self::Stopped { from: to, why };
        }
    }
}

/// A body's chunks with the content coding undone, without reading them.
pub(crate) struct Undoing {
    undo: Undo,
    /// The decoded body's next byte.
    offset: u64,
}

impl Undoing {
    pub(crate) fn response(record: &Record) -> Self {
        Self { undo: Undo::of(record), offset: 0 }
    }

    pub(crate) fn request(record: &Record) -> Self {
        let header = record.request_header("content-encoding");
        Self { undo: Undo::codings(header.as_deref()), offset: 0 }
    }

    /// Gives the decoded bytes of a chunk to `sink`, at their place in the decoded body.
    ///
    /// # Errors
    ///
    /// Why decoding stopped, once; chunks behind it give nothing.
    pub(crate) fn push(
        &mut self,
        chunk: &StoredChunk,
        sink: &mut dyn FnMut(StoredChunk),
    ) -> Result<(), String> {
        let offset = &mut self.offset;
        let result = self.undo.push(chunk, &mut |bytes| {
            let end = *offset + bytes.len() as u64;
            sink(StoredChunk { offset: std::mem::replace(offset, end), at_us: chunk.at_us, bytes });
        });
        if let Err(why) = &result {
            self.undo = Undo::Stopped { from: chunk.offset, why: why.clone() };
        }
        result
    }

    /// The encoded bytes up to `to` are missing.
    pub(crate) fn gap(&mut self, to: u64) {
        self.undo.gap(to);
    }

    /// Why nothing can be decoded from here on.
    pub(crate) fn stopped(&self) -> Option<&str> {
        match &self.undo {
            Undo::Stopped { why, .. } => Some(why),
            Undo::Nothing | Undo::Coding(_) => None,
        }
    }
}

/// What is shown of a body whose reading failed by a fault of ours.
pub(crate) fn unread(record: &Record, why: &str) -> Reading {
    let kind = Kind::CaptureIncomplete {
        from: 0,
        to: record.bytes,
        reason: format!("teeline failed to read them: {why}"),
    };
    Reading {
        schema: SCHEMA,
        format: "unknown",
        framing: None,
        verdict: Verdict::DidNotFinish,
        summary: format!("Not read: {why}."),
        id: None,
        model: None,
        outputs: Vec::new(),
        usage: None,
        error: None,
        response: None,
        findings: vec![Finding { kind, place: Place::STREAM, count: 1 }],
        counts: Counts { bytes: record.bytes, ..Counts::default() },
        timing: None,
        frames: None,
        websocket: None,
    }
}
