//! One JSON array whose elements are the frames (`FORMATS.md` G.8).
//!
//! Elements are found by strings, escapes and depth alone, so that a bad one does not lose the others.

use bytes::{Bytes, BytesMut};
use teeline_finding::{Findings, Kind, Place};

use crate::{
    decoder::{Framer, Start},
    frame::{Data, Frame, Stamp},
    pieces::{Piece, Pieces},
    text::{
        Spot, excerpt, is_space, leading_space, most_bytes, report_bom, trim_end, utf16_units,
        well_formed,
    },
};

/// Bytes kept of what comes behind the closing bracket: enough for a finding's sentence.
const TAIL_BYTES: usize = 4 * (teeline_finding::EXCERPT_CHARS + 1);

#[derive(Debug)]
pub(crate) struct Array {
    pieces: Pieces,
    /// What is left of the piece that is being read.
    piece: Piece,
    bound: usize,
    line: u64,
    line_stamp: Option<Stamp>,
    frames: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Before the opening bracket.
    Start,
    /// Between elements, before the first, or behind the last.
    Between,
    Element(Element),
    /// Behind the closing bracket.
    Closed,
    /// Behind the closing bracket, where nothing but white space belongs.
    Tail {
        line: u64,
        offset: u64,
        text: BytesMut,
    },
    /// An element was too large.
    Stopped,
    Ended,
}

#[derive(Debug)]
struct Element {
    offset: u64,
    end: u64,
    line: u64,
    lines: u64,
    stamp: Option<Stamp>,
    /// What came in earlier pieces.
    held: BytesMut,
    shape: Shape,
}

/// How far the element is read.
#[derive(Debug)]
struct Shape {
    depth: u64,
    quote: Quote,
    /// Neither string, object nor array: ends before a comma, a bracket or white space.
    bare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    Outside,
    Inside,
    Escaped,
}

impl Shape {
    /// An element that begins with this byte.
    const fn new(first: u8) -> Self {
        Self { depth: 0, quote: Quote::Outside, bare: !matches!(first, b'"' | b'{' | b'[') }
    }

    /// Reads on; where in `bytes` the element ends, if it does.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.bare {
            return bytes.iter().position(|byte| matches!(byte, b',' | b']') || is_space(*byte));
        }
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            match (self.quote, byte) {
                (Quote::Inside, b'\\') => self.quote = Quote::Escaped,
                (Quote::Inside, b'"') => {
                    self.quote = Quote::Outside;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                (Quote::Inside, _) => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    at += memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                }
                (Quote::Escaped, _) | (Quote::Outside, b'"') => self.quote = Quote::Inside,
                (Quote::Outside, b'{' | b'[') => self.depth += 1,
                (Quote::Outside, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                (Quote::Outside, _) => {}
            }
        }
        None
    }
}

impl Array {
    pub(crate) fn new(start: &Start) -> Self {
        Self {
            pieces: Pieces::new(start),
            piece: Piece::default(),
            bound: start.bound,
            line: start.line,
            line_stamp: None,
            frames: 0,
            state: State::Start,
        }
    }

    /// Takes the next piece, if the one at hand is read; whether there is something to read.
    fn refill(&mut self, ended: bool, findings: &mut Findings) -> bool {
        while self.piece.bytes.is_empty() {
            let Some(piece) = self.pieces.next(ended) else { return false };
            if piece.stamp.is_some() {
                self.line_stamp = piece.stamp;
                if let State::Element(element) = &mut self.state {
                    element.stamp = element.stamp.or(piece.stamp);
                }
            }
            if piece.bom {
                report_bom(findings);
            }
            self.piece = piece;
        }
        true
    }

    /// Takes bytes off the piece and counts their lines.
    fn take(&mut self, length: usize) -> Bytes {
        let bytes = self.piece.bytes.split_to(length);
        self.piece.offset += length as u64;
        let line_feeds = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        if line_feeds > 0 {
            self.line += line_feeds;
            self.line_stamp = None;
        }
        bytes
    }

    fn between(&mut self) {
        let skipped =
            self.piece.bytes.iter().take_while(|byte| is_space(**byte) || **byte == b',').count();
        self.take(skipped);
        match self.piece.bytes.first() {
            None => {}
            Some(b']') => {
                self.take(1);
                self.state = State::Closed;
            }
            Some(&first) => {
                self.state = State::Element(Element {
                    offset: self.piece.offset,
                    end: self.piece.offset,
                    line: self.line,
                    lines: 1,
                    stamp: self.line_stamp,
                    held: BytesMut::new(),
                    shape: Shape::new(first),
                });
            }
        }
    }

    fn element(&mut self, mut element: Element, findings: &mut Findings) -> Option<Frame> {
        let end = element.shape.end(&self.piece.bytes);
        let lines_before = self.line;
        let bytes = self.take(end.unwrap_or(self.piece.bytes.len()));
        element.lines += self.line - lines_before;
        element.end = self.piece.offset;
        if element.held.len() + bytes.len() > most_bytes(self.bound) {
            self.too_large(&element, findings);
            return None;
        }
        if end.is_none() {
            element.held.extend_from_slice(&bytes);
            self.state = State::Element(element);
            return None;
        }
        self.state = State::Between;
        let bytes = if element.held.is_empty() {
            bytes
        } else {
            element.held.extend_from_slice(&bytes);
            element.held.split().freeze()
        };
        self.frame(&element, bytes, true, findings)
    }

    fn frame(
        &mut self,
        element: &Element,
        bytes: Bytes,
        terminated: bool,
        findings: &mut Findings,
    ) -> Option<Frame> {
        let spot = Spot {
            frame: self.frames,
            line: element.line,
            line_offset: element.offset,
            offset: element.offset,
            last: !terminated,
        };
        let text = well_formed(bytes, spot, findings);
        if utf16_units(&text) > self.bound {
            self.too_large(element, findings);
            return None;
        }
        self.frames += 1;
        Some(Frame {
            index: spot.frame,
            offset: element.offset,
            length: element.end - element.offset,
            line: element.line,
            lines: element.lines,
            data: Some(Data::from_well_formed(text)),
            terminated,
            dispatched: true,
            stamp: element.stamp,
            ..Frame::default()
        })
    }

    fn too_large(&mut self, element: &Element, findings: &mut Findings) {
        let place = Place { frame: None, line: Some(element.line), offset: Some(element.offset) };
        findings.report(place, Kind::TooLarge { limit: self.bound as u64, document: false });
        self.pieces.clear();
        self.piece = Piece::default();
        self.state = State::Stopped;
    }

    fn closed(&mut self) {
        let skipped = leading_space(&self.piece.bytes);
        self.take(skipped);
        if !self.piece.bytes.is_empty() {
            self.state =
                State::Tail { line: self.line, offset: self.piece.offset, text: BytesMut::new() };
        }
    }

    fn end(&mut self, findings: &mut Findings) -> Option<Frame> {
        let mut last = None;
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Element(mut element) => {
                let bytes = element.held.split().freeze();
                last = self.frame(&element, bytes, false, findings);
                if let Some(frame) = &last {
                    let place = Place::frame(frame.index, frame.line, frame.offset);
                    findings.report(place, Kind::Cut { bytes: frame.length });
                }
            }
            State::Between => findings.report(Place::STREAM, Kind::Unterminated { array: true }),
            State::Tail { line, offset, text } => {
                let place = Place { frame: None, line: Some(line), offset: Some(offset) };
                findings.report(place, Kind::AfterEnd { text: excerpt(trim_end(&text)) });
            }
            State::Start | State::Closed | State::Stopped | State::Ended => {}
        }
        if self.frames == 0 && !self.stopped() {
            findings.report(Place::STREAM, Kind::Empty);
        }
        last
    }
}

impl Framer for Array {
    fn push(&mut self, chunk: Bytes) {
        if !self.stopped() {
            self.pieces.push(chunk);
        }
    }

    fn next(&mut self, ended: bool, findings: &mut Findings) -> Option<Frame> {
        loop {
            if matches!(self.state, State::Stopped | State::Ended) {
                return None;
            }
            if !self.refill(ended, findings) {
                return if ended { self.end(findings) } else { None };
            }
            match std::mem::replace(&mut self.state, State::Between) {
                State::Start => {
                    let skipped = leading_space(&self.piece.bytes);
                    self.take(skipped);
                    match self.piece.bytes.first() {
                        None => self.state = State::Start,
                        Some(b'[') => drop(self.take(1)),
                        // The capture lacks the array's beginning.
                        Some(_) => {}
                    }
                }
                State::Between => self.between(),
                State::Element(element) => {
                    let frame = self.element(element, findings);
                    if frame.is_some() {
                        return frame;
                    }
                }
                State::Closed => {
                    self.state = State::Closed;
                    self.closed();
                }
                State::Tail { line, offset, mut text } => {
                    let room = TAIL_BYTES.saturating_sub(text.len()).min(self.piece.bytes.len());
                    text.extend_from_slice(&self.piece.bytes[..room]);
                    self.piece.bytes.clear();
                    self.state = State::Tail { line, offset, text };
                }
                state @ (State::Stopped | State::Ended) => self.state = state,
            }
        }
    }

    fn held_from(&self) -> u64 {
        match &self.state {
            State::Element(element) => element.offset,
            _ if self.piece.bytes.is_empty() => self.pieces.offset(),
            _ => self.piece.offset,
        }
    }

    fn stopped(&self) -> bool {
        matches!(self.state, State::Stopped)
    }
}
