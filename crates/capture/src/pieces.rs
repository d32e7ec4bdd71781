//! Bodies out of the store, a segment at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::database::{Database, Part, read};
use crate::reading::Undoing;
use crate::record::Record;
use crate::stream::REQUEST_BODY;
use crate::{Piece, StoreError, StoredChunk, segment};

/// The pieces of a body, read from the store as they are asked for.
pub struct Pieces {
    source: Segments,
    undoing: Option<Undoing>,
    ready: VecDeque<Piece>,
    /// Decoding stopped, and that was said.
    stopped: bool,
    done: bool,
}

impl Pieces {
    /// The response's body. `decoded`: with its content coding undone.
    pub(crate) fn response(
        database: Arc<Database>,
        seq: i64,
        record: Arc<Record>,
        decoded: bool,
    ) -> Self {
        let undoing = decoded.then(|| Undoing::response(&record));
        let source = Segments::response(database, seq, record);
        Self { source, undoing, ready: VecDeque::new(), stopped: false, done: false }
    }

    /// Goes on with the segment that holds this byte of the stored body.
    pub(crate) fn skip_to(&mut self, position: u64) {
        self.source.position = position;
    }

    fn fill(&mut self) -> Result<(), StoreError> {
        let mut pieces = Vec::new();
        if !self.source.next(&mut pieces)? {
            self.source.finish(&mut pieces);
            self.done = true;
        }
        for piece in pieces {
            self.add(piece);
        }
        Ok(())
    }

    fn add(&mut self, piece: Piece) {
        let Some(undoing) = &mut self.undoing else {
            self.ready.push_back(piece);
            return;
        };
        let from = match piece {
            Piece::Chunk(chunk) => {
                let ready = &mut self.ready;
                // Why decoding stopped is asked below.
                drop(undoing.push(&chunk, &mut |decoded| ready.push_back(Piece::Chunk(decoded))));
                chunk.offset
            }
            Piece::Gap { to, .. } => {
                undoing.gap(to);
                self.ready.push_back(piece);
                to
            }
        };
        let to = self.source.end();
        if let Some(why) = undoing.stopped()
            && from < to
            && !std::mem::replace(&mut self.stopped, true)
        {
            self.ready.push_back(Piece::Gap { from, to, reason: why.to_owned() });
        }
    }
}

impl Iterator for Pieces {
    type Item = Result<Piece, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.done {
            if let Err(error) = self.fill() {
                self.done = true;
                return Some(Err(error));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

/// A body's segments in order, with what is missing between them.
pub(crate) struct Segments {
    database: Arc<Database>,
    seq: i64,
    part: Part,
    record: Arc<Record>,
    /// The stored body's next byte.
    position: u64,
}

impl Segments {
    /// Of the response's body.
    pub(crate) fn response(database: Arc<Database>, seq: i64, record: Arc<Record>) -> Self {
        Self { database, seq, part: Part::Response, record, position: 0 }
    }

    /// Of the request's body.
    pub(crate) fn request(database: Arc<Database>, seq: i64, record: Arc<Record>) -> Self {
        Self { database, seq, part: Part::Request, record, position: 0 }
    }

    /// From a place on that was reached before.
    pub(crate) fn from(mut self, position: u64) -> Self {
        self.position = position;
        self
    }

    /// The stored body's next byte.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Adds what the next segment holds; false at the end of what is stored.
    pub(crate) fn next(&mut self, pieces: &mut Vec<Piece>) -> Result<bool, StoreError> {
        if self.is_ahead() {
            return Ok(false);
        }
        let position = self.position;
        let row = self.database.read(|c| read::segment(c, self.seq, self.part, position))?;
        let Some(row) = row else {
            return Ok(false);
        };
        if self.gaps_show() {
            self.gap(row.start, pieces);
        }
        for chunk in segment::chunks(row.start, &row.times, row.data, !self.record.untimed) {
            self.position = chunk.offset + chunk.bytes.len() as u64;
            pieces.push(Piece::Chunk(chunk));
        }
        Ok(true)
    }

    /// The record is from before the response's head, without which nobody knows the content coding of what
    /// may have been stored since.
    fn is_ahead(&self) -> bool {
        let record = &self.record;
        self.part == Part::Response && record.status().is_none() && record.ending.is_none()
    }

    /// Where the whole body ends, as far as is known.
    fn end(&self) -> u64 {
        self.position.max(self.record.bytes)
    }

    /// The stored offsets are those of the body as it came.
    fn gaps_show(&self) -> bool {
        self.part == Part::Response && !self.record.kept_decoded
    }

    /// Adds what is missing at the end, once no more will be stored.
    pub(crate) fn finish(&mut self, pieces: &mut Vec<Piece>) {
        if self.record.ending.is_none() {
            return;
        }
        if self.gaps_show() {
            self.gap(self.record.bytes, pieces);
        } else if self.part == Part::Response {
            pieces.extend(self.record.lost.ranges().iter().map(|range| Piece::Gap {
                from: range.from,
                to: range.to,
                reason: range.reason.clone(),
            }));
        }
    }

    fn gap(&mut self, to: u64, pieces: &mut Vec<Piece>) {
        if self.position < to {
            let (from, reason) = (self.position, self.record.lost.reason_at(self.position));
            pieces.push(Piece::Gap { from, to, reason: reason.to_owned() });
            self.position = to;
        }
    }
}

/// The request's body with its content coding undone, and whether that went to its end.
pub(crate) fn request_body(
    database: &Arc<Database>,
    seq: i64,
    record: &Arc<Record>,
) -> Result<(Vec<u8>, bool), StoreError> {
    let mut segments = Segments::request(Arc::clone(database), seq, Arc::clone(record));
    let mut undoing = Undoing::request(record);
    let (mut body, mut pieces, mut whole) = (Vec::new(), Vec::new(), true);
    while segments.next(&mut pieces)? {
        // Of a tunnel there may be more than fits into memory.
        if REQUEST_BODY <= body.len() as u64 {
            return Ok((body, false));
        }
        for piece in pieces.drain(..) {
            if let Piece::Chunk(chunk) = piece {
                let sink = &mut |part: StoredChunk| body.extend_from_slice(&part.bytes);
                whole &= undoing.push(&chunk, sink).is_ok() && undoing.stopped().is_none();
            }
        }
    }
    Ok((body, whole))
}
