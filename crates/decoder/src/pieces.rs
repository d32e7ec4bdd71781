//! A body without its stamps, in pieces, for framings that are not cut into lines.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::{
    decoder::Start,
    frame::Stamp,
    stamp::{Stamps, may_start},
};

/// So much of a line is looked at for a stamp, the blanks behind it and a byte-order mark behind those.
const HEAD_BYTES: usize = 256;

/// Some bytes of the body that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// Its first byte.
    pub(crate) offset: u64,
    pub(crate) bytes: Bytes,
    /// A stamp was taken off right before it, at the start of the line.
    pub(crate) stamp: Option<Stamp>,
    /// A byte-order mark was taken off behind that stamp.
    pub(crate) bom: bool,
}

/// Gives chunks as they are, or, where stamps are looked for, at most a line at a time.
#[derive(Debug)]
pub(crate) struct Pieces {
    chunks: VecDeque<Bytes>,
    /// The first byte of the first chunk.
    offset: u64,
    line: u64,
    stamps: Stamps,
    at: At,
}

#[derive(Debug)]
enum At {
    /// The start of a line, as far as it was needed to tell whether it has a stamp.
    LineStart(BytesMut),
    /// Behind a stamp: blanks are part of it.
    Blanks,
    /// Where no stamp can be.
    Line,
}

impl Pieces {
    pub(crate) fn new(start: &Start) -> Self {
        let at = if start.stamps { At::LineStart(BytesMut::new()) } else { At::Line };
        Self {
            chunks: VecDeque::new(),
            offset: start.offset,
            line: start.line,
            stamps: Stamps::new(start.stamps, start.bom),
            at,
        }
    }

    pub(crate) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// Lets go of everything that is held.
    pub(crate) fn clear(&mut self) {
        self.chunks = VecDeque::new();
        self.at = At::Line;
    }

    /// The first byte that was not given yet.
    pub(crate) fn offset(&self) -> u64 {
        match &self.at {
            At::LineStart(head) => self.offset - head.len() as u64,
            At::Blanks | At::Line => self.offset,
        }
    }

    /// The next piece, never an empty one; `None`: more input is needed, or, if `ended`, all is read.
    pub(crate) fn next(&mut self, ended: bool) -> Option<Piece> {
        loop {
            match std::mem::replace(&mut self.at, At::Line) {
                At::LineStart(head) => {
                    let piece = self.line_start(head, ended)?;
                    if !piece.bytes.is_empty() || piece.stamp.is_some() {
                        return Some(piece);
                    }
                }
                At::Blanks => self.skip_blanks()?,
                At::Line if !self.stamps.on() => return self.chunk(),
                At::Line => return self.rest_of_line(),
            }
        }
    }

    fn chunk(&mut self) -> Option<Piece> {
        let bytes = self.chunks.pop_front()?;
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        Some(Piece { offset, bytes, ..Piece::default() })
    }

    fn rest_of_line(&mut self) -> Option<Piece> {
        let Some(chunk) = self.chunks.front() else {
            self.at = At::Line;
            return None;
        };
        let (length, at) = match memchr::memchr(b'\n', chunk) {
            Some(line_feed) => (line_feed + 1, At::LineStart(BytesMut::new())),
            None => (chunk.len(), At::Line),
        };
        self.at = at;
        Some(Piece { offset: self.offset, bytes: self.take(length), ..Piece::default() })
    }

    /// Gathers so much of a line that it can be judged, and judges it.
    fn line_start(&mut self, mut head: BytesMut, ended: bool) -> Option<Piece> {
        loop {
            let whole = head.last() == Some(&b'\n');
            if whole || head.len() >= HEAD_BYTES || !may_start(&head) {
                break;
            }
            let Some(chunk) = self.chunks.front() else {
                if ended && !head.is_empty() {
                    break;
                }
                self.at = At::LineStart(head);
                return None;
            };
            let wanted = chunk.len().min(HEAD_BYTES - head.len());
            let length = memchr::memchr(b'\n', &chunk[..wanted]).map_or(wanted, |at| at + 1);
            head.extend_from_slice(&self.take(length));
        }
        Some(self.judge(head))
    }

    fn judge(&mut self, head: BytesMut) -> Piece {
        let whole = head.last() == Some(&b'\n');
        let line = head.strip_suffix(b"\n").unwrap_or(&head);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let stripped = self.stamps.strip(line, self.line);
        self.at = match (whole, stripped.stamp) {
            (true, _) => At::LineStart(BytesMut::new()),
            (false, Some(_)) if stripped.bytes == head.len() => At::Blanks,
            (false, _) => At::Line,
        };
        let offset = self.offset - (head.len() - stripped.bytes) as u64;
        self.line += 1;
        let bytes = head.freeze().slice(stripped.bytes..);
        Piece { offset, bytes, stamp: stripped.stamp, bom: stripped.bom }
    }

    fn skip_blanks(&mut self) -> Option<()> {
        let Some(chunk) = self.chunks.front() else {
            self.at = At::Blanks;
            return None;
        };
        let blanks = chunk.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        self.at = if blanks == chunk.len() { At::Blanks } else { At::Line };
        self.take(blanks);
        Some(())
    }

    /// The next bytes of the first chunk.
    fn take(&mut self, length: usize) -> Bytes {
        let Some(chunk) = self.chunks.front_mut() else { return Bytes::new() };
        let bytes = chunk.split_to(length);
        if chunk.is_empty() {
            self.chunks.pop_front();
        }
        self.offset += length as u64;
        bytes
    }
}
