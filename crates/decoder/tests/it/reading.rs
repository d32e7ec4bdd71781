//! Decoding a whole body, and what came of it.

use bytes::Bytes;
use teeline_decoder::{Data, Decoder, Frame, Framing, Options};
use teeline_finding::{Finding, Findings, Kind};

/// What came out.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) framing: Option<Framing>,
    pub(crate) guessed: bool,
    pub(crate) frames: Vec<Frame>,
    pub(crate) findings: Findings,
    pub(crate) comments: u64,
    pub(crate) bytes: u64,
    pub(crate) stopped: bool,
}

impl Outcome {
    /// The data of each frame, `None` where it has none.
    pub(crate) fn data(&self) -> Vec<Option<&str>> {
        self.frames.iter().map(|frame| frame.data.as_ref().map(Data::as_str)).collect()
    }

    /// The ids of the findings, in order, each as often as it is listed.
    pub(crate) fn ids(&self) -> Vec<&'static str> {
        self.findings.list().iter().map(|finding| finding.kind.id()).collect()
    }

    /// The findings with this id that are listed.
    pub(crate) fn listed(&self, id: &str) -> Vec<&Finding> {
        self.findings.list().iter().filter(|finding| finding.kind.id() == id).collect()
    }

    /// The lines of the findings with this id.
    pub(crate) fn lines(&self, id: &str) -> Vec<Option<u64>> {
        self.listed(id).iter().map(|finding| finding.place.line).collect()
    }

    /// The kinds of the findings, in order.
    pub(crate) fn kinds(&self) -> Vec<&Kind> {
        self.findings.list().iter().map(|finding| &finding.kind).collect()
    }
}

/// A forced framing.
pub(crate) fn as_framing(framing: Framing) -> Options {
    Options { framing: Some(framing), ..Options::default() }
}

/// A forced framing, with stamps.
pub(crate) fn stamped(framing: Framing) -> Options {
    Options { stamps: true, ..as_framing(framing) }
}

/// Detection, with stamps, as pasted text is read.
pub(crate) fn pasted() -> Options {
    Options { stamps: true, ..Options::default() }
}

/// Decodes chunks, taking frames after each.
pub(crate) fn read(options: &Options, chunks: impl IntoIterator<Item = Bytes>) -> Outcome {
    let mut decoder = Decoder::new(options.clone());
    let mut findings = Findings::default();
    let mut frames = Vec::new();
    let mut held_from = 0;
    for chunk in chunks {
        decoder.push(chunk);
        while let Some(frame) = decoder.next_frame(&mut findings) {
            assert!(held_from <= frame.offset, "{held_from} was let go before {frame:?}");
            frames.push(frame);
            assert!(decoder.held_from() >= held_from, "{} after {held_from}", decoder.held_from());
            held_from = decoder.held_from();
        }
    }
    decoder.finish();
    while let Some(frame) = decoder.next_frame(&mut findings) {
        frames.push(frame);
    }
    assert_eq!(decoder.next_frame(&mut findings), None, "nothing comes after the end");
    Outcome {
        framing: decoder.framing(),
        guessed: decoder.guessed(),
        frames,
        findings,
        comments: decoder.counts().comments,
        bytes: decoder.counts().bytes,
        stopped: decoder.stopped(),
    }
}

/// Decodes a body whole and in pieces of 1, 2, 3 and 7 bytes; all must agree.
pub(crate) fn read_all_ways(options: &Options, body: impl AsRef<[u8]>) -> Outcome {
    let body = Bytes::copy_from_slice(body.as_ref());
    let whole = read(options, [body.clone()]);
    for size in [1, 2, 3, 7] {
        assert_eq!(read(options, pieces(&body, size)), whole, "pieces of {size} of {body:?}");
    }
    assert_ranges(&whole.frames, &body);
    whole
}

/// A body in pieces of `size` bytes.
pub(crate) fn pieces(body: &Bytes, size: usize) -> impl Iterator<Item = Bytes> {
    (0..body.len()).step_by(size).map(move |at| body.slice(at..body.len().min(at + size)))
}

/// Frames are numbered, come in order and do not overlap; lines agree with offsets.
pub(crate) fn assert_ranges(frames: &[Frame], body: &Bytes) {
    let (mut end, mut line) = (0, 0);
    for (index, frame) in frames.iter().enumerate() {
        assert_eq!(frame.index, index as u64);
        assert!(frame.offset >= end && frame.length > 0, "frame {index} at {}", frame.offset);
        assert!(frame.line >= line && frame.lines > 0, "frame {index} in line {}", frame.line);
        end = frame.offset + frame.length;
        line = frame.line;
    }
    assert!(end <= body.len() as u64);
}

/// The part of a body that is a frame's.
pub(crate) fn range<'a>(body: &'a str, frame: &Frame) -> &'a str {
    let at = |offset: u64| usize::try_from(offset).expect("small");
    &body[at(frame.offset)..at(frame.offset + frame.length)]
}
