//! The decoder: takes a body in chunks, finds its framing, gives its frames.

use bytes::Bytes;
use teeline_finding::{Findings, Kind, Place};

use crate::{
    array::Array,
    detect::{Decision, Detector, Hint},
    document::Document,
    eventstream::EventStream,
    frame::{Frame, Framing},
    lines::{Ends, Lines, Step},
    ndjson::Ndjson,
    sse::Sse,
    stamp::Stamps,
    text::{BOM, excerpt, is_blank, report_bom},
};

/// The bound that Salyro's own decoder has: UTF-16 units of one frame.
pub const FRAME_BOUND: usize = 1_048_576;

/// How a body is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The framing; `None`: it is found from the bytes.
    pub framing: Option<Framing>,
    /// The body's content type. It only breaks ties.
    pub content_type: Option<String>,
    /// Take time stamps off the lines. For pasted text, never for live traffic.
    pub stamps: bool,
    /// UTF-16 units that one frame, line or element may have. At a larger one reading stops: `too-large`.
    pub bound: usize,
}

impl Default for Options {
    /// The framing is found, there is no content type, stamps are not looked for, the bound is [`FRAME_BOUND`].
    fn default() -> Self {
        Self { framing: None, content_type: None, stamps: false, bound: FRAME_BOUND }
    }
}

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes that were pushed.
    pub bytes: u64,
    /// SSE comment lines that were read.
    pub comments: u64,
}

/// Reads one body. Chunks go in, frames and findings come out; any chunking gives the same ones.
///
/// Held at any time: what was pushed since [`next_frame`](Self::next_frame) last gave `None`, and the frame that is not whole
/// yet, up to three bytes for each UTF-16 unit of the bound (a plain JSON document: 64 MiB, a binary message: 24 MiB). While
/// the framing is not clear, as many bytes as the bound has units. Past a bound nothing is kept, only counted.
#[derive(Debug)]
pub struct Decoder {
    options: Options,
    stage: Stage,
    framing: Option<Framing>,
    guessed: bool,
    bytes: u64,
    ended: bool,
}

#[derive(Debug)]
enum Stage {
    /// The first three bytes may be a byte-order mark.
    Head(Vec<Bytes>),
    /// The framing is not clear.
    Detecting {
        detector: Box<Detector>,
        offset: u64,
    },
    Reading(Box<dyn Framer>),
}

/// One framing's reader.
pub(crate) trait Framer: Send + Sync + std::fmt::Debug {
    /// Takes the next bytes.
    fn push(&mut self, chunk: Bytes);
    /// The next frame; `ended`: no more bytes will come.
    fn next(&mut self, ended: bool, findings: &mut Findings) -> Option<Frame>;
    /// The first byte that is in no frame yet.
    fn held_from(&self) -> u64;
    /// Comment lines read.
    fn comments(&self) -> u64 {
        0
    }
    /// A frame was too large.
    fn stopped(&self) -> bool;
}

/// Where and how a [`Framer`] begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) offset: u64,
    pub(crate) line: u64,
    pub(crate) bound: usize,
    pub(crate) stamps: bool,
    /// A byte-order mark was taken off and reported.
    pub(crate) bom: bool,
}

impl Decoder {
    /// A decoder for one body.
    pub fn new(options: Options) -> Self {
        let framing = options.framing;
        let stage = match framing {
            Some(Framing::AwsEventstream) => Stage::Reading(Box::new(EventStream::new(0))),
            _ => Stage::Head(Vec::new()),
        };
        Self { options, stage, framing, guessed: false, bytes: 0, ended: false }
    }

    /// Takes the next bytes of the body, its content coding undone. Nothing is taken after [`finish`](Self::finish).
    pub fn push(&mut self, chunk: Bytes) {
        if self.ended {
            return;
        }
        self.bytes += chunk.len() as u64;
        self.forward(chunk);
    }

    fn forward(&mut self, chunk: Bytes) {
        match &mut self.stage {
            Stage::Head(head) => head.push(chunk),
            Stage::Detecting { detector, .. } => detector.push(chunk),
            Stage::Reading(framer) => framer.push(chunk),
        }
    }

    /// The body is over.
    pub const fn finish(&mut self) {
        self.ended = true;
    }

    /// The next frame. `None`: more input is needed, or, after [`finish`](Self::finish), all is read.
    pub fn next_frame(&mut self, findings: &mut Findings) -> Option<Frame> {
        loop {
            match &mut self.stage {
                Stage::Head(head) => {
                    let start: Vec<u8> = head.iter().flatten().copied().take(BOM.len()).collect();
                    if !self.ended && start != BOM && BOM.starts_with(&start) {
                        return None;
                    }
                    let head = std::mem::take(head);
                    self.begin(start == BOM, head, findings);
                }
                Stage::Detecting { detector, offset } => {
                    let offset = *offset;
                    let decision = detector.decide(self.ended)?;
                    let (held, rest) = detector.take_held();
                    self.decided(decision, held, offset, findings);
                    for chunk in rest {
                        self.forward(chunk);
                    }
                }
                Stage::Reading(framer) => return framer.next(self.ended, findings),
            }
        }
    }

    /// The framing, once it is clear.
    pub const fn framing(&self) -> Option<Framing> {
        self.framing
    }

    /// Nothing in the body told the framing: the content type was believed, or SSE taken.
    pub const fn guessed(&self) -> bool {
        self.guessed
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        let comments = match &self.stage {
            Stage::Reading(framer) => framer.comments(),
            _ => 0,
        };
        Counts { bytes: self.bytes, comments }
    }

    /// A frame was too large: nothing is read any more.
    pub fn stopped(&self) -> bool {
        matches!(&self.stage, Stage::Reading(framer) if framer.stopped())
    }

    /// The first byte that is in no returned frame yet.
    pub fn held_from(&self) -> u64 {
        match &self.stage {
            Stage::Head(_) => 0,
            Stage::Detecting { offset, .. } => *offset,
            Stage::Reading(framer) => framer.held_from(),
        }
    }

    /// Takes a byte-order mark off and goes on to the next stage.
    fn begin(&mut self, bom: bool, chunks: Vec<Bytes>, findings: &mut Findings) {
        let mut mark = 0;
        if bom {
            report_bom(findings);
            mark = BOM.len();
        }
        let Options { framing, ref content_type, stamps, bound } = self.options;
        let offset = mark as u64;
        if let Some(framing) = framing {
            self.read(framing, &Start { offset, line: 1, bound, stamps, bom });
        } else {
            let hint = content_type.as_deref().map_or(Hint::None, Hint::from_content_type);
            let detector = Box::new(Detector::new(hint, stamps, bound));
            self.stage = Stage::Detecting { detector, offset };
        }
        for mut chunk in chunks {
            let taken = mark.min(chunk.len());
            mark -= taken;
            self.forward(chunk.split_off(taken));
        }
    }

    fn decided(
        &mut self,
        decision: Decision,
        mut held: Bytes,
        offset: u64,
        findings: &mut Findings,
    ) {
        let start = Start {
            offset,
            line: 1,
            bound: self.options.bound,
            stamps: self.options.stamps,
            bom: offset > 0,
        };
        report_skipped(held.split_to(decision.skipped), &start, findings);
        self.guessed = decision.guessed;
        let offset = offset + decision.skipped as u64;
        self.read(decision.framing, &Start { offset, line: decision.line, ..start });
        self.forward(held);
    }

    fn read(&mut self, framing: Framing, start: &Start) {
        self.framing = Some(framing);
        self.stage = Stage::Reading(match framing {
            Framing::Sse => Box::new(Sse::new(start)),
            Framing::Ndjson => Box::new(Ndjson::new(start)),
            Framing::JsonArray => Box::new(Array::new(start)),
            Framing::Json => Box::new(Document::new(start)),
            Framing::AwsEventstream => Box::new(EventStream::new(start.offset)),
        });
    }
}

/// Lines before a pasted JSON body, such as response headers: not part of it.
fn report_skipped(text: Bytes, start: &Start, findings: &mut Findings) {
    let mut lines = Lines::new(Ends::Any, usize::MAX, start.offset);
    let mut stamps = Stamps::new(start.stamps, start.bom);
    lines.push(text);
    while let Step::Line(line) = lines.next(true) {
        let stripped = stamps.strip(&line.text, line.number);
        if stripped.bom {
            report_bom(findings);
        }
        let text = line.text.slice(stripped.bytes..);
        if !is_blank(&text) {
            let place = Place { frame: None, line: Some(line.number), offset: Some(line.offset) };
            findings.report(place, Kind::IgnoredLine { text: excerpt(&text), event_only: false });
        }
    }
}
