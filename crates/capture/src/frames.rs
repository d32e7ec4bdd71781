//! The frames of a capture, page by page.
//!
//! All rows of a long stream would take several times the memory of the stream. Kept is where each frame
//! is and what it did (about 100 bytes); what it holds is cut from the stored body again when a page is
//! asked for, by the same decoder.

use std::sync::Arc;

use bytes::Bytes;
use teeline_assembler::{Added, Effect, FrameRow};
use teeline_decoder::{Decoder, FRAME_BOUND, Frame, Framing, Options};
use teeline_finding::Findings;

use crate::database::{Database, Detail};
use crate::pieces::{Pieces, Segments};
use crate::reading::Reader;
use crate::record::Record;
use crate::{Ending, Piece, StoreError, Timestamp};

/// Bytes of the body that one page spans at most; a page then has fewer frames than were asked for.
const PAGE: u64 = 16 << 20;

/// Reads a capture's frames up to what is stored, and goes on from there when asked again.
pub(crate) struct Follower {
    seq: i64,
    reader: Option<Box<Reader>>,
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

/// As much of a frame as a picture of the whole stream needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameMark {
    /// When its first byte came, in milliseconds since the request was sent; `None`: not known.
    pub at_ms: Option<f64>,
    /// Its bytes.
    pub length: u32,
    /// What it did, as in a [`FrameRow`].
    pub kind: Option<&'static str>,
    /// The output it went to.
    pub output: Option<u32>,
}

/// Where a frame is, and what it did.
#[derive(Clone, Copy, Debug)]
struct Entry {
    offset: u64,
    line: u64,
    /// Microseconds since the request's start; `i64::MIN`: not known.
    at_us: i64,
    length: u32,
    lines: u32,
    /// Where its words are in [`Rows::words`].
    words: u64,
    carried: u16,
    snippet: u16,
    /// `u32::MAX`: none.
    output: u32,
    call: u32,
    kind: Option<&'static str>,
    terminated: bool,
    dispatched: bool,
    dated: bool,
}

impl Entry {
    fn mark(&self) -> FrameMark {
        FrameMark {
            at_ms: (self.at_us != NO_TIME).then(|| millis(self.at_us)),
            length: self.length,
            kind: self.kind,
            output: (self.output != NONE).then_some(self.output),
        }
    }
}

#[derive(Default)]
struct Rows {
    entries: Vec<Entry>,
    words: String,
    /// The moment from which `at_us` counts, in microseconds since the epoch.
    base_us: Option<i64>,
}

const NO_TIME: i64 = i64::MIN;
const NONE: u32 = u32::MAX;

impl Rows {
    fn add(&mut self, rows: Vec<FrameRow>) {
        for row in rows {
            let at_us = row.at_ms.map_or(NO_TIME, micros);
            if self.base_us.is_none()
                && let Some(at) = row.at.as_deref().and_then(|at| at.parse::<Timestamp>().ok())
            {
                self.base_us = Some(at.as_micros().saturating_sub(at_us));
            }
            let words = self.words.len() as u64;
            let effect = row.effect.as_ref();
            let carried = effect.map_or("", |effect| &effect.carried);
            let snippet = effect.map_or("", |effect| &effect.snippet);
            self.words.push_str(carried);
            self.words.push_str(snippet);
            let number = |number: Option<u64>| number.map_or(NONE, narrow);
            self.entries.push(Entry {
                offset: row.offset,
                line: row.line,
                at_us,
                length: narrow(row.length),
                lines: narrow(row.lines),
                words,
                carried: u16::try_from(carried.len()).unwrap_or(0),
                snippet: u16::try_from(snippet.len()).unwrap_or(0),
                output: number(effect.and_then(|effect| effect.output)),
                call: number(effect.and_then(|effect| effect.call)),
                kind: effect.map(|effect| effect.kind),
                terminated: row.terminated,
                dispatched: row.dispatched,
                dated: row.at.is_some(),
            });
        }
    }

    /// The entries of a page: not more than asked for, and not over too much of the body, but one at least.
    fn page(&self, offset: u64, limit: usize) -> &[Entry] {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let entries = self.entries.get(from..).unwrap_or_default();
        let entries = entries.get(..limit).unwrap_or(entries);
        let start = entries.first().map_or(0, |entry| entry.offset);
        let fitting = entries.partition_point(|entry| {
            entry.offset + u64::from(entry.length) <= start.saturating_add(PAGE)
        });
        entries.get(..fitting.max(1)).unwrap_or(entries)
    }

    fn row(&self, entry: &Entry, index: u64, content: &Content) -> FrameRow {
        let timed = entry.at_us != NO_TIME;
        let base = self.base_us.filter(|_| timed && entry.dated);
        let moment = base.map(|base| Timestamp::from_micros(base.saturating_add(entry.at_us)));
        FrameRow {
            index,
            offset: entry.offset,
            length: u64::from(entry.length),
            line: entry.line,
            lines: u64::from(entry.lines),
            at: moment.map(|moment| moment.to_string()),
            at_ms: timed.then(|| millis(entry.at_us)),
            event: content.event.clone(),
            data: content.data.clone(),
            id: content.id.clone(),
            retry: content.retry,
            comments: content.comments.clone(),
            terminated: entry.terminated,
            dispatched: entry.dispatched,
            effect: entry.kind.map(|kind| self.effect(entry, kind)),
        }
    }

    fn effect(&self, entry: &Entry, kind: &'static str) -> Effect {
        let from = usize::try_from(entry.words).unwrap_or(usize::MAX);
        let middle = from.saturating_add(usize::from(entry.carried));
        let end = middle.saturating_add(usize::from(entry.snippet));
        let words =
            |range: std::ops::Range<usize>| self.words.get(range).unwrap_or_default().to_owned();
        let number = |number: u32| (number != NONE).then(|| u64::from(number));
        Effect {
            kind,
            carried: words(from..middle),
            output: number(entry.output),
            call: number(entry.call),
            snippet: words(middle..end),
        }
    }

    fn weight(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.words.capacity()
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

/// Milliseconds with a fraction to whole microseconds, from which they were made.
fn micros(ms: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and times are far from the edge"
    )]
    let micros = (ms * 1000.0).round() as i64;
    micros
}

fn millis(micros: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 microseconds, 285 years")]
    let micros = micros as f64;
    micros / 1000.0
}
