//! One JSON document: a plain, non-streamed body (`FORMATS.md` G.1).

use bytes::{Bytes, BytesMut};
use teeline_finding::{Findings, Kind, Place};

use crate::{
    decoder::{Framer, Start},
    frame::{Data, Frame, Stamp},
    json::{JsonError, Scanner},
    pieces::Pieces,
    text::{Spot, leading_space, report_bom, trim_end, well_formed},
};

/// The most bytes of a document that are held. A larger one is not read: `too-large`.
pub(crate) const DOCUMENT_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Document {
    pieces: Pieces,
    line: u64,
    line_stamp: Option<Stamp>,
    limit: usize,
    text: Option<Text>,
    state: State,
}

/// The document so far.
#[derive(Debug)]
struct Text {
    offset: u64,
    /// The byte after the last one that is no white space.
    end: u64,
    line: u64,
    last_line: u64,
    stamp: Option<Stamp>,
    held: BytesMut,
    /// Bytes of `held` up to `end`.
    length: usize,
    scanner: Result<Scanner, JsonError>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Reading,
    Stopped,
    Ended,
}

impl Document {
    pub(crate) fn new(start: &Start) -> Self {
        Self::with_limit(start, DOCUMENT_BYTES)
    }

    fn with_limit(start: &Start, limit: usize) -> Self {
        Self {
            pieces: Pieces::new(start),
            line: start.line,
            line_stamp: None,
            limit,
            text: None,
            state: State::Reading,
        }
    }

    fn read(&mut self, offset: u64, bytes: &[u8], findings: &mut Findings) {
        let blanks = leading_space(bytes);
        let text = match &mut self.text {
            Some(text) => text,
            None if blanks == bytes.len() => return self.count_lines(bytes),
            None => {
                self.count_lines(&bytes[..blanks]);
                return self.begin(offset + blanks as u64, &bytes[blanks..], findings);
            }
        };
        if text.held.len() + bytes.len() > self.limit {
            let place = Place { frame: None, line: Some(text.line), offset: Some(text.offset) };
            findings.report(place, Kind::TooLarge { limit: self.limit as u64, document: true });
            self.pieces.clear();
            self.text = None;
            self.state = State::Stopped;
            return;
        }
        let solid = trim_end(bytes);
        if !solid.is_empty() {
            text.length = text.held.len() + solid.len();
            text.end = offset + solid.len() as u64;
            text.last_line = self.line + memchr::memchr_iter(b'\n', solid).count() as u64;
        }
        text.held.extend_from_slice(bytes);
        if let Ok(scanner) = &mut text.scanner
            && let Err(error) = scanner.feed(bytes)
        {
            text.scanner = Err(error);
        }
        self.count_lines(bytes);
    }

    fn begin(&mut self, offset: u64, bytes: &[u8], findings: &mut Findings) {
        self.text = Some(Text {
            offset,
            end: offset,
            line: self.line,
            last_line: self.line,
            stamp: self.line_stamp,
            held: BytesMut::new(),
            length: 0,
            scanner: Ok(Scanner::new()),
        });
        self.read(offset, bytes, findings);
    }

    fn count_lines(&mut self, bytes: &[u8]) {
        let line_feeds = memchr::memchr_iter(b'\n', bytes).count() as u64;
        if line_feeds > 0 {
            self.line += line_feeds;
            self.line_stamp = None;
        }
    }

    fn end(&mut self, findings: &mut Findings) -> Option<Frame> {
        self.state = State::Ended;
        let Some(text) = self.text.take() else {
            findings.report(Place::STREAM, Kind::Empty);
            return None;
        };
        let cut = text.scanner.as_ref().is_ok_and(|scanner| !scanner.is_complete());
        let spot = Spot {
            frame: 0,
            line: text.line,
            line_offset: text.offset,
            offset: text.offset,
            last: cut,
        };
        let length = text.end - text.offset;
        if cut {
            findings.report(spot.place(), Kind::Cut { bytes: length });
        }
        let bytes = text.held.freeze().slice(..text.length);
        Some(Frame {
            offset: text.offset,
            length,
            line: text.line,
            lines: text.last_line - text.line + 1,
            data: Some(Data::from_well_formed(well_formed(bytes, spot, findings))),
            terminated: !cut,
            dispatched: true,
            stamp: text.stamp,
            ..Frame::default()
        })
    }
}

impl Framer for Document {
    fn push(&mut self, chunk: Bytes) {
        if self.state == State::Reading {
            self.pieces.push(chunk);
        }
    }

    fn next(&mut self, ended: bool, findings: &mut Findings) -> Option<Frame> {
        while self.state == State::Reading {
            let Some(piece) = self.pieces.next(ended) else {
                return if ended { self.end(findings) } else { None };
            };
            if piece.stamp.is_some() {
                self.line_stamp = piece.stamp;
                if let Some(text) = &mut self.text {
                    text.stamp = text.stamp.or(piece.stamp);
                }
            }
            if piece.bom {
                report_bom(findings);
            }
            self.read(piece.offset, &piece.bytes, findings);
        }
        None
    }

    fn held_from(&self) -> u64 {
        self.text.as_ref().map_or(self.pieces.offset(), |text| text.offset)
    }

    fn stopped(&self) -> bool {
        self.state == State::Stopped
    }
}
