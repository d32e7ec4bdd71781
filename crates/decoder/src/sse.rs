//! Server-sent events as the WHATWG HTML standard has them, with findings that say what a stricter
//! reader would have lost (`FORMATS.md` G.3 to G.6).

use bytes::Bytes;
use teeline_finding::{Findings, Kind, Place};

use crate::{
    block::{Block, Read, reads_whole},
    decoder::{Framer, Start},
    frame::{Data, Frame},
    lines::{Ending, Ends, Line, Lines, Step, line_cap},
    stamp::Stamps,
    text::{Spot, excerpt, report_bom, well_formed},
};

#[derive(Debug)]
pub(crate) struct Sse {
    lines: Lines,
    stamps: Stamps,
    bound: usize,
    block: Option<Block>,
    frames: u64,
    with_data: bool,
    comments: u64,
    line_ends: LineEnds,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// A frame was too large.
    Stopped,
    Ended,
}

/// What the line ends had in common.
#[derive(Debug, Default)]
struct LineEnds {
    crlf: bool,
    others: bool,
}

impl LineEnds {
    const fn saw(&mut self, ending: Ending) {
        match ending {
            Ending::CrLf | Ending::CutCrLf => self.crlf = true,
            Ending::Lf | Ending::Cr => self.others = true,
            Ending::None => {}
        }
    }
}

impl Sse {
    pub(crate) fn new(start: &Start) -> Self {
        Self {
            lines: Lines::new(Ends::Any, line_cap(start.bound), start.offset),
            stamps: Stamps::new(start.stamps, start.bom),
            bound: start.bound,
            block: None,
            frames: 0,
            with_data: false,
            comments: 0,
            line_ends: LineEnds::default(),
            state: State::Reading,
        }
    }

    fn line(&mut self, line: &Line, findings: &mut Findings) -> Option<Frame> {
        self.line_ends.saw(line.ending);
        let stripped = self.stamps.strip(&line.text, line.number);
        if stripped.bom {
            report_bom(findings);
        }
        if line.text.len() == stripped.bytes {
            let mut block = self.block.take()?;
            block.stamp(stripped.stamp);
            return Some(self.frame(block, true));
        }
        let spot = Spot {
            frame: self.frames,
            line: line.number,
            line_offset: line.offset,
            offset: line.offset + stripped.bytes as u64,
            last: line.ending == Ending::None,
        };
        let text = well_formed(line.text.slice(stripped.bytes..), spot, findings);
        let block = self.block.get_or_insert_with(|| Block::new(line));
        block.stamp(stripped.stamp);
        if block.hold(&text, line.ending != Ending::None) > self.bound {
            self.too_large(findings);
            return None;
        }
        match block.read(&text, line.end) {
            Read::Field => {}
            Read::Comment => self.comments += 1,
            Read::Ignored => {
                findings.report(
                    spot.place(),
                    Kind::IgnoredLine { text: excerpt(&text), event_only: false },
                );
            }
        }
        None
    }

    fn frame(&mut self, block: Block, terminated: bool) -> Frame {
        let frame = block.into_frame(self.frames, terminated);
        self.frames += 1;
        self.with_data |= frame.data.is_some();
        frame
    }

    /// Nothing is read any more.
    fn too_large(&mut self, findings: &mut Findings) {
        let (line, offset) = match self.block.take() {
            Some(block) => (block.line, block.offset),
            None => (self.lines.number(), self.lines.offset()),
        };
        let place = Place { frame: None, line: Some(line), offset: Some(offset) };
        findings.report(place, Kind::TooLarge { limit: self.bound as u64, document: false });
        self.lines.clear();
        self.state = State::Stopped;
        self.report_crlf(findings);
    }

    fn end(&mut self, findings: &mut Findings) -> Option<Frame> {
        self.state = State::Ended;
        let last = self.block.take().map(|block| self.frame(block, false));
        if let Some(frame) = &last {
            report_open_end(frame, findings);
        }
        self.report_crlf(findings);
        if !self.with_data {
            findings.report(Place::STREAM, Kind::Empty);
        }
        last
    }

    fn report_crlf(&self, findings: &mut Findings) {
        if self.line_ends.crlf && !self.line_ends.others {
            findings.report(Place::STREAM, Kind::Crlf);
        }
    }
}

/// The body ended before the frame's blank line.
fn report_open_end(frame: &Frame, findings: &mut Findings) {
    let Some(data) = frame.data.as_ref().map(Data::as_str) else { return };
    let kind = if frame.glued || reads_whole(data) {
        Kind::Unterminated { array: false }
    } else {
        Kind::Cut { bytes: frame.length }
    };
    findings.report(Place::frame(frame.index, frame.line, frame.offset), kind);
}

impl Framer for Sse {
    fn push(&mut self, chunk: Bytes) {
        if self.state == State::Reading {
            self.lines.push(chunk);
        }
    }

    fn next(&mut self, ended: bool, findings: &mut Findings) -> Option<Frame> {
        while self.state == State::Reading {
            match self.lines.next(ended) {
                Step::Line(line) => {
                    let frame = self.line(&line, findings);
                    if frame.is_some() {
                        return frame;
                    }
                }
                Step::TooLong => self.too_large(findings),
                Step::More => return None,
                Step::End => return self.end(findings),
            }
        }
        None
    }

    fn held_from(&self) -> u64 {
        self.block.as_ref().map_or(self.lines.offset(), |block| block.offset)
    }

    fn comments(&self) -> u64 {
        self.comments
    }

    fn stopped(&self) -> bool {
        self.state == State::Stopped
    }
}
