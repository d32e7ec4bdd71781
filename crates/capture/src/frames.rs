//! The frames of a capture, page by page.
//!
//! All rows of a long stream would take several times the memory of the stream. Kept is where each frame
//! is and what it did (about 100 bytes); what it holds is cut from the stored body again when a page is
//! asked for, by the same decoder.

mod messages;
mod rows;

use std::sync::Arc;

use bytes::Bytes;
use teeline_assembler::{Added, FrameRow};
use teeline_decoder::{Decoder, FRAME_BOUND, Frame, Framing, Options};
use teeline_finding::Findings;

use crate::conversation::Conversation;
use crate::database::{Database, Detail};
use crate::pieces::{Pieces, Segments};
use crate::reading::Reader;
use crate::record::Record;
use crate::{Ending, Piece, StoreError};

use rows::{Entry, Rows};

pub use rows::FrameMark;

/// Bytes of the body that one page spans at most; a page then has fewer frames than were asked for.
const PAGE: u64 = 16 << 20;

/// Reads a capture's frames up to what is stored, and goes on from there when asked again.
pub(crate) struct Follower {
    seq: i64,
    reader: Option<Box<Reader>>,
    /// In place of the reader, of a WebSocket.
    conversation: Option<Box<Conversation>>,
    /// The stored body's next byte.
    position: u64,
    rows: Rows,
    framing: Option<Framing>,
    provenance: Arc<[Added]>,
    finished: bool,
}

impl Follower {
    pub(crate) fn new(seq: i64) -> Self {
        Self {
            seq,
            reader: None,
            conversation: None,
            position: 0,
            rows: Rows::default(),
            framing: None,
            provenance: Arc::from([]),
            finished: false,
        }
    }

    /// Reads what is stored and was not read.
    pub(crate) fn advance(
        &mut self,
        database: &Arc<Database>,
        detail: &Detail,
        ended: bool,
    ) -> Result<(), StoreError> {
        if self.finished {
            return Ok(());
        }
        let record = &detail.record;
        if record.is_websocket() {
            return self.listen(database, detail, ended);
        }
        let mut segments = Segments::response(Arc::clone(database), self.seq, Arc::clone(record))
            .from(self.position);
        let mut pieces = Vec::new();
        while segments.next(&mut pieces)? {
            self.take(&mut pieces, detail);
            self.position = segments.position();
        }
        if ended {
            segments.finish(&mut pieces);
            self.take(&mut pieces, detail);
            if let Some(reader) = &mut self.reader {
                reader.finish(record.ending.as_ref().unwrap_or(&Ending::Interrupted));
            }
            self.finished = true;
        }
        if let Some(reader) = &mut self.reader {
            self.rows.add(reader.take_rows());
            if self.framing.is_none() {
                self.framing = reader.reading().framing.and_then(Framing::from_name);
            }
            self.provenance = reader.provenance();
        }
        if ended {
            self.reader = None;
        }
        Ok(())
    }

    fn take(&mut self, pieces: &mut Vec<Piece>, detail: &Detail) {
        let reader = self.reader.get_or_insert_with(|| {
            let started_at = detail.summary.started_at;
            Box::new(Reader::new(&detail.record, started_at, None, true))
        });
        for piece in pieces.drain(..) {
            reader.piece(&piece);
            self.rows.add(reader.take_rows());
        }
    }

    /// Bytes that it takes.
    pub(crate) fn weight(&self) -> usize {
        let reader = self
            .reader
            .as_ref()
            .map_or(0, |reader| usize::try_from(reader.counts().bytes).unwrap_or(usize::MAX));
        self.rows.weight() + self.provenance.len() * size_of::<Added>() + reader
    }

    pub(crate) fn total(&self) -> u64 {
        self.rows.entries.len() as u64
    }

    pub(crate) fn provenance(&self) -> Arc<[Added]> {
        Arc::clone(&self.provenance)
    }

    /// What is kept of the frames from `from` on; nothing is read for it.
    pub(crate) fn marks(&self, from: u64) -> Vec<FrameMark> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        self.rows.entries.get(from..).unwrap_or_default().iter().map(Entry::mark).collect()
    }

    /// The frames from `offset` on.
    pub(crate) fn page(
        &self,
        database: &Arc<Database>,
        detail: &Detail,
        offset: u64,
        limit: usize,
    ) -> Result<Vec<FrameRow>, StoreError> {
        if detail.record.is_websocket() {
            return self.messages(database, detail, offset, limit);
        }
        let entries = self.rows.page(offset, limit);
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return Ok(Vec::new());
        };
        let to = last.offset + u64::from(last.length);
        let body = decoded_range(database, detail, first.offset, to)?;
        let rows = entries.iter().zip(offset..).map(|(entry, index)| {
            let from = usize::try_from(entry.offset - first.offset).unwrap_or(usize::MAX);
            let end = from.saturating_add(entry.length as usize).min(body.len());
            let bytes = if from <= end { body.slice(from..end) } else { Bytes::new() };
            self.rows.row(entry, index, &content(self.framing, detail.record.stamps, &bytes))
        });
        Ok(rows.collect())
    }
}

/// What a frame holds, cut from its own bytes.
#[derive(Default)]
struct Content {
    event: Option<String>,
    data: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
    comments: Vec<String>,
}

fn content(framing: Option<Framing>, stamps: bool, bytes: &Bytes) -> Content {
    let Some(framing) = framing else {
        return Content::default();
    };
    let options =
        Options { framing: Some(framing), content_type: None, stamps, bound: FRAME_BOUND };
    let mut decoder = Decoder::new(options);
    match framing {
        // The bytes are not at the start of a body, so that a U+FEFF in them is no byte order mark.
        Framing::Sse | Framing::Ndjson => decoder.push(Bytes::from_static(b"\n")),
        // An element is not an array.
        Framing::JsonArray => decoder.push(Bytes::from_static(b"[")),
        Framing::Json | Framing::AwsEventstream => {}
    }
    decoder.push(bytes.clone());
    decoder.finish();
    decoder.next_frame(&mut Findings::default()).map(Content::from).unwrap_or_default()
}

impl From<Frame> for Content {
    fn from(frame: Frame) -> Self {
        Self {
            event: frame.event,
            data: frame.data.map(|data| data.as_str().to_owned()),
            id: frame.id,
            retry: frame.retry,
            comments: frame.comments,
        }
    }
}

/// Bytes of the decoded body. Where nothing is to be undone only what is asked for is read.
fn decoded_range(
    database: &Arc<Database>,
    detail: &Detail,
    from: u64,
    to: u64,
) -> Result<Bytes, StoreError> {
    let record = &detail.record;
    let plain = is_plain(record);
    let mut pieces = Pieces::response(Arc::clone(database), detail.seq, Arc::clone(record), !plain);
    if plain {
        pieces.skip_to(from);
    }
    let mut range = Vec::new();
    // Counted here: a gap moves the offsets of what is stored, and not those of what was read.
    let mut position = None;
    for piece in pieces {
        let Piece::Chunk(chunk) = piece? else { continue };
        let start = if plain { chunk.offset } else { position.unwrap_or(0) };
        let end = start + chunk.bytes.len() as u64;
        position = Some(end);
        let inside = |place: u64| usize::try_from(place.clamp(start, end) - start).unwrap_or(0);
        range.extend_from_slice(chunk.bytes.get(inside(from)..inside(to)).unwrap_or_default());
        if to <= end {
            break;
        }
    }
    Ok(Bytes::from(range))
}

/// What is stored is what was read: no coding, and nothing is missing.
fn is_plain(record: &Record) -> bool {
    let coded = record.response_header("content-encoding").is_some();
    record.lost.is_empty() && (record.kept_decoded || !coded)
}
