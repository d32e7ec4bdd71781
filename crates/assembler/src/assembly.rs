//! One body: decoded, detected, assembled, timed.

use std::borrow::Cow;

use bytes::Bytes;
use teeline_decoder::{Decoder, FRAME_BOUND, Frame, Framing};
use teeline_finding::{Findings, Kind, Place};

use crate::{
    clock::{Clock, Moment, Spark},
    contest::Contest,
    draft::Bounds,
    format::Format,
    provenance::{Added, TRACE_LIMIT},
    reading::{Counts, FrameRow, Reading},
    view::{View, preview},
};

/// How much text a reading holds unless told otherwise.
pub const TEXT_LIMIT: usize = 64 * 1024 * 1024;

/// A gap of this many microseconds is `stalled`.
pub const STALLED_US: i64 = 20_000_000;

/// So many frames with data in one read are `coalesced`.
const COALESCED: u64 = 10;

/// How a body is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format; `None`: it is told from the frames.
    pub format: Option<&'static Format>,
    /// The framing; `None`: it is found from the bytes.
    pub framing: Option<Framing>,
    /// The response's content type: it breaks ties and is compared with what was found.
    pub content_type: Option<String>,
    /// The request's path, a hint where the frames name no format.
    pub path: Option<String>,
    /// Whether the request asked for a stream, where that is known.
    pub request_streamed: Option<bool>,
    /// Take time stamps off the lines: for pasted text, never for live traffic.
    pub stamps: bool,
    /// When the request was sent, in microseconds since the epoch.
    pub started_at_us: Option<i64>,
    /// How many bytes of text and of other content are held. At the limit nothing more is added to the
    /// answer, and `not-assembled` says so; frames are read on.
    pub text_limit: usize,
    /// How many pieces of text are traced to their frames, at 20 bytes each: the entries of
    /// [`provenance`](Assembly::provenance). What comes after that is read and not traced.
    pub trace_limit: usize,
}

impl Default for Options {
    /// Everything is found from the bytes; [`TEXT_LIMIT`].
    fn default() -> Self {
        Self {
            format: None,
            framing: None,
            content_type: None,
            path: None,
            request_streamed: None,
            stamps: false,
            started_at_us: None,
            text_limit: TEXT_LIMIT,
            trace_limit: TRACE_LIMIT,
        }
    }
}

/// How a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// As HTTP has it: the last chunk, or all of the announced length.
    Clean,
    /// The upstream broke the connection.
    Broke {
        /// In which way, as `connection-broke` says it.
        how: String,
    },
    /// The app closed its connection.
    ClientLeft,
    /// teeline itself stopped.
    Interrupted,
    /// The capture stops here, the body went on; [`Assembly::gap`] says what is missing.
    Capped,
}

/// Reads one body as it comes. Chunks go in; a [`Reading`] can be taken at any time.
#[derive(Debug)]
pub struct Assembly {
    pub(crate) options: Options,
    pub(crate) decoder: Decoder,
    /// What the decoder found.
    pub(crate) transport: Findings,
    /// What the times and the connection tell.
    pub(crate) live: Findings,
    pub(crate) closing: Findings,
    pub(crate) contest: Contest,
    pub(crate) clock: Clock,
    pub(crate) counts: Counts,
    /// Frames with data, or with something recovered from their lines.
    pub(crate) with_data: u64,
    /// The first byte that is no white space.
    pub(crate) first: Option<u8>,
    pub(crate) end: Option<End>,
    content_type_judged: bool,
    keep_rows: bool,
    rows: Vec<FrameRow>,
}

impl Assembly {
    /// A reader for one body.
    pub fn new(options: Options) -> Self {
        let decoder = Decoder::new(teeline_decoder::Options {
            framing: options.framing,
            content_type: options.content_type.clone(),
            stamps: options.stamps,
            bound: FRAME_BOUND,
        });
        let bounds = Bounds { text: options.text_limit, trace: options.trace_limit };
        Self {
            decoder,
            transport: Findings::default(),
            live: Findings::default(),
            closing: Findings::default(),
            contest: Contest::new(options.format, options.path.as_deref(), bounds),
            clock: Clock::new(options.started_at_us),
            counts: Counts::default(),
            with_data: 0,
            first: None,
            end: None,
            content_type_judged: false,
            keep_rows: false,
            rows: Vec::new(),
            options,
        }
    }

    /// Takes the next bytes, their content coding undone. `at_us`: when they came, in microseconds since the
    /// request was sent, where that is known. Nothing is taken after [`finish`](Self::finish).
    pub fn push(&mut self, chunk: Bytes, at_us: Option<u64>) {
        if chunk.is_empty() || self.end.is_some() {
            return;
        }
        if let (None, Some(first)) = (self.first, chunk.trim_ascii_start().first()) {
            self.first = Some(*first);
        }
        if let Some(at) = at_us {
            self.clock.chunk(self.counts.bytes, at);
        }
        self.decoder.push(chunk);
        self.drain(at_us.is_some());
    }

    /// Rows read since the last call, if they are [kept](Self::keep_rows).
    pub fn take_rows(&mut self) -> Vec<FrameRow> {
        std::mem::take(&mut self.rows)
    }

    /// Whether a row is made for every frame from now on. A row says what the frame did in the format that
    /// led when it came.
    pub fn keep_rows(&mut self, on: bool) {
        self.keep_rows = on;
    }

    /// Bytes `from..to` of the encoded body are missing in what is pushed.
    pub fn gap(&mut self, from: u64, to: u64, reason: &str) {
        self.live
            .report(Place::STREAM, Kind::CaptureIncomplete { from, to, reason: reason.to_owned() });
    }

    /// The body ended. To be called once; later calls do nothing.
    pub fn finish(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        self.decoder.finish();
        self.drain(false);
        let stopped = self.decoder.stopped() || end == End::Capped;
        let is_stream = self.decoder.framing() != Some(Framing::Json);
        let closing = self.contest.finish(self.with_data > 0, stopped, is_stream);
        for (place, kind) in closing {
            self.closing.report(place, kind);
        }
        let (frames, bytes, after_ms) =
            (self.counts.frames, self.counts.bytes, self.clock.last_ms());
        match &end {
            End::Broke { how } => {
                let how = how.clone();
                self.closing
                    .report(Place::STREAM, Kind::ConnectionBroke { how, frames, bytes, after_ms });
            }
            End::ClientLeft if !self.contest.leader().draft.is_over() => {
                self.closing.report(Place::STREAM, Kind::ClientLeft { frames, bytes, after_ms });
            }
            _ => {}
        }
        self.end = Some(end);
    }

    /// What the body amounts to: so far, or, after [`finish`](Self::finish), for good. Without `frames`.
    pub fn reading(&self) -> Reading {
        View::new(self).reading()
    }

    /// Which frame added which bytes of which part, in order.
    pub fn provenance(&self) -> Cow<'_, [Added]> {
        self.contest.leader().draft.provenance()
    }

    /// The first 200 characters of the answer: its text, or else its refusal, or else its reasoning.
    pub fn preview(&self) -> String {
        preview(&self.contest.leader().draft)
    }

    /// New text over time.
    pub fn spark(&self) -> &Spark {
        self.clock.spark()
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn drain(&mut self, live: bool) {
        let mut burst: Option<(Place, u64)> = None;
        while let Some(frame) = self.decoder.next_frame(&mut self.transport) {
            if frame.data.is_some() {
                let (_, frames) = burst.get_or_insert((place_of(&frame), 0));
                *frames += 1;
            }
            self.read(&frame);
        }
        if let Some((place, frames)) = burst.filter(|(_, frames)| live && *frames >= COALESCED) {
            self.live.report(place, Kind::Coalesced { frames });
        }
        let counts = self.decoder.counts();
        self.counts.bytes = counts.bytes;
        self.counts.comments = counts.comments;
        self.clock.forget_before(self.decoder.held_from());
        self.judge_content_type();
    }

    fn read(&mut self, frame: &Frame) {
        self.counts.frames += 1;
        self.counts.events += u64::from(frame.dispatched);
        self.with_data +=
            u64::from(frame.data.is_some() || !frame.recovered.is_empty() || frame.error.is_some());
        let (moment, gap) = self.clock.frame(frame);
        if let Some(gap) = gap.filter(|gap| *gap >= STALLED_US) {
            let ms = u64::try_from(gap / 1_000).unwrap_or(0);
            self.live.report(place_of(frame), Kind::Stalled { ms });
        }
        let framing = self.decoder.framing().unwrap_or(Framing::Sse);
        self.contest.read(frame, framing, self.keep_rows);
        let log = &self.contest.leader().draft.log;
        self.clock.text(moment, log.text_bytes, log.text_bytes + log.call_bytes);
        if self.keep_rows {
            self.rows.push(self.row(frame, moment));
        }
    }

    fn row(&self, frame: &Frame, moment: Moment) -> FrameRow {
        let draft = &self.contest.leader().draft;
        FrameRow {
            index: frame.index,
            offset: frame.offset,
            length: frame.length,
            line: frame.line,
            lines: frame.lines,
            at: moment.iso(),
            at_ms: moment.ms(),
            event: frame.event.clone(),
            data: frame.data.as_ref().map(|data| data.as_str().to_owned()),
            id: frame.id.clone(),
            retry: frame.retry,
            comments: frame.comments.clone(),
            terminated: frame.terminated,
            dispatched: frame.dispatched,
            effect: Some(draft.log.effect(draft.rules().unit)),
            message: None,
        }
    }

    /// `content-type`, once, as soon as there is a frame to compare it with.
    fn judge_content_type(&mut self) {
        let (Some(declared), Some(framing)) = (&self.options.content_type, self.decoder.framing())
        else {
            return;
        };
        if self.content_type_judged || self.with_data == 0 {
            return;
        }
        self.content_type_judged = true;
        if contradicts(declared, framing) {
            let (declared, found) = (declared.clone(), framing.as_str().to_owned());
            self.live.report(Place::STREAM, Kind::ContentType { declared, found });
        }
    }
}

/// Reads a whole body.
pub fn read_all(
    options: Options,
    chunks: impl IntoIterator<Item = (Bytes, Option<u64>)>,
    end: End,
) -> Reading {
    let mut assembly = Assembly::new(options);
    chunks.into_iter().for_each(|(chunk, at_us)| assembly.push(chunk, at_us));
    assembly.finish(end);
    assembly.reading()
}

pub(crate) fn place_of(frame: &Frame) -> Place {
    Place::frame(frame.index, frame.line, frame.offset)
}

/// The media type of a content type, without its parameters, in lower case.
pub(crate) fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a content type promises another framing. `text/plain` and unknown types promise none, but an
/// `EventSource` takes nothing except `text/event-stream`.
fn contradicts(content_type: &str, found: Framing) -> bool {
    let found_one_of = |allowed: &[Framing]| !allowed.contains(&found);
    match media_type(content_type).as_str() {
        "" | "application/octet-stream" => false,
        "text/event-stream" => found_one_of(&[Framing::Sse]),
        "application/x-ndjson"
        | "application/jsonl"
        | "application/json-lines"
        | "application/x-jsonlines" => found_one_of(&[Framing::Ndjson, Framing::Json]),
        "application/vnd.amazon.eventstream" => found_one_of(&[Framing::AwsEventstream]),
        "application/json" => found_one_of(&[Framing::Json, Framing::JsonArray]),
        _ => found == Framing::Sse,
    }
}
