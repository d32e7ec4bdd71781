//! One JSON value a line (`FORMATS.md` G.8).

use bytes::Bytes;
use teeline_finding::{Findings, Kind, Place};

use crate::{
    block::reads_whole,
    decoder::{Framer, Start},
    detect::is_coded,
    frame::{Data, Frame},
    lines::{Ending, Ends, Line, Lines, Step, line_cap},
    stamp::Stamps,
    text::{Spot, is_blank, report_bom, utf16_units, well_formed},
};

#[derive(Debug)]
pub(crate) struct Ndjson {
    lines: Lines,
    stamps: Stamps,
    bound: usize,
    frames: u64,
    stopped: bool,
    ended: bool,
}

impl Ndjson {
    pub(crate) fn new(start: &Start) -> Self {
        Self {
            lines: Lines::new(Ends::Lf, line_cap(start.bound), start.offset),
            stamps: Stamps::new(start.stamps, start.bom),
            bound: start.bound,
            frames: 0,
            stopped: false,
            ended: false,
        }
    }

    fn line(&mut self, line: &Line, findings: &mut Findings) -> Option<Frame> {
        let text = line.text.strip_suffix(b"\r").unwrap_or(&line.text);
        let stripped = self.stamps.strip(text, line.number);
        if stripped.bom {
            report_bom(findings);
        }
        let text = line.text.slice(stripped.bytes..text.len());
        if is_blank(&text) {
            return None;
        }
        let spot = Spot {
            frame: self.frames,
            line: line.number,
            line_offset: line.offset,
            offset: line.offset + stripped.bytes as u64,
            last: line.ending == Ending::None,
        };
        let length = text.len() as u64;
        let text = well_formed(text, spot, findings);
        if utf16_units(&text) > self.bound {
            self.too_large(line.number, line.offset, findings);
            return None;
        }
        self.frames += 1;
        let frame = Frame {
            index: spot.frame,
            offset: spot.offset,
            length,
            line: line.number,
            lines: 1,
            data: Some(Data::from_well_formed(text)),
            terminated: line.ending != Ending::None,
            dispatched: true,
            stamp: stripped.stamp,
            ..Frame::default()
        };
        let is_whole = |data: &Data| reads_whole(data.as_str()) || is_coded(data.as_bytes());
        if !frame.terminated && !frame.data.as_ref().is_some_and(is_whole) {
            findings.report(spot.place(), Kind::Cut { bytes: length });
        }
        Some(frame)
    }

    fn too_large(&mut self, line: u64, offset: u64, findings: &mut Findings) {
        let place = Place { frame: None, line: Some(line), offset: Some(offset) };
        findings.report(place, Kind::TooLarge { limit: self.bound as u64, document: false });
        self.lines.clear();
        self.stopped = true;
    }
}

impl Framer for Ndjson {
    fn push(&mut self, chunk: Bytes) {
        if !self.stopped {
            self.lines.push(chunk);
        }
    }

    fn next(&mut self, ended: bool, findings: &mut Findings) -> Option<Frame> {
        while !self.stopped && !self.ended {
            match self.lines.next(ended) {
                Step::Line(line) => {
                    let frame = self.line(&line, findings);
                    if frame.is_some() {
                        return frame;
                    }
                }
                Step::TooLong => self.too_large(self.lines.number(), self.lines.offset(), findings),
                Step::More => return None,
                Step::End => {
                    self.ended = true;
                    if self.frames == 0 {
                        findings.report(Place::STREAM, Kind::Empty);
                    }
                }
            }
        }
        None
    }

    fn held_from(&self) -> u64 {
        self.lines.offset()
    }

    fn stopped(&self) -> bool {
        self.stopped
    }
}
