//! Which format is it: frames vote, and every format that got a vote reads along (`FORMATS.md` 1.2).
//!
//! A format begins at its first vote and is given the frames before it that named none; frames that name
//! another are `unknown-event`s to it. Whoever has most votes is the reading. So memory is bounded however
//! long a stream is, and a snapshot can be taken before the end.

use teeline_decoder::{Frame, Framing};
use teeline_finding::{Finding, Findings, Kind, Place};

use crate::{
    candidate::{Candidate, is_error, name_of},
    detect,
    draft::Bounds,
    format::{Event, Format, format},
    judge::Close,
};

/// How many frames before the first vote are given to the formats that begin later, and how many bytes.
const PRELUDE_FRAMES: usize = 64;
const PRELUDE_BYTES: usize = 256 * 1024;

/// The format of streams that are of no other.
const FALLBACK: &str = "cumulative";

/// A format that frames named.
#[derive(Debug)]
struct Votes {
    name: &'static str,
    /// None, if frames only had its shape: it is read then as long as none is named.
    count: u64,
    foreign: Foreign,
    /// Its place among the candidates; `None` if nothing reads this format.
    candidate: Option<usize>,
}

/// The frames that named a format, as another one sees them: `unknown-event`s, of which as many are listed as in
/// [`Findings`], but smaller, since every stream has one of these.
#[derive(Debug, Default)]
struct Foreign {
    /// Where, and what the event is called.
    listed: Vec<(Place, String)>,
    further: u64,
}

impl Foreign {
    fn add(&mut self, place: Place, called: &str) {
        if self.listed.len() < Findings::LISTED {
            self.listed.push((place, teeline_finding::excerpt(called)));
        } else {
            self.further += 1;
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let finding = |(place, name): &(Place, String)| {
            let kind = Kind::UnknownEvent { name: name.clone() };
            Finding { kind, place: *place, count: 1 }
        };
        let mut findings: Vec<_> = self.listed.iter().map(finding).collect();
        if let Some(last) = findings.last_mut() {
            last.count += self.further;
        }
        findings
    }
}

/// What a frame is to the formats.
enum Input<'a> {
    Event(Event<'a>),
    /// The value of an `error:` line.
    Fault(Event<'a>),
    Sentinel,
    /// Data that is not JSON, what the parser said, and whether its frame is whole.
    Text(&'a str, String, bool),
    Bare(&'a str),
    Comment,
    /// Ids and times only, or lines that are no fields.
    Meta,
}

/// The formats that read a stream side by side.
#[derive(Debug)]
pub(crate) struct Contest {
    /// The first one reads no format: it takes what none is known to read.
    candidates: Vec<Candidate>,
    votes: Vec<Votes>,
    /// The one asked for; nothing is voted on then.
    forced: bool,
    hint: Option<usize>,
    prelude: Vec<(Frame, Framing)>,
    prelude_bytes: usize,
    /// Reads no format either, and only the frames that are not in the prelude: what a format that begins
    /// later has missed. There is one if there was a fault.
    missed: Option<Box<Candidate>>,
    /// Reads what no frame has named a format of, and may find by the data that it is its own.
    fallback: Option<Box<Candidate>>,
    bounds: Bounds,
    any_error: bool,
    document: bool,
}

impl Contest {
    pub(crate) fn new(forced: Option<&'static Format>, path: Option<&str>, bounds: Bounds) -> Self {
        let mut candidates = vec![Candidate::new(None, bounds)];
        // Mostly one more comes; thousands of streams may be open, and a vector's own first step is to four.
        candidates.reserve_exact(1);
        let hinted = forced.or_else(|| path.and_then(detect::path_hint).and_then(format));
        let hint = hinted.map(|format| {
            candidates.push(Candidate::new(Some(format), bounds));
            candidates.len() - 1
        });
        Self {
            candidates,
            votes: Vec::with_capacity(1),
            forced: forced.is_some(),
            hint,
            prelude: Vec::new(),
            prelude_bytes: 0,
            missed: None,
            fallback: format(FALLBACK)
                .filter(|_| hinted.is_none())
                .map(|format| Box::new(Candidate::new(Some(format), bounds))),
            bounds,
            any_error: false,
            document: false,
        }
    }

    /// Gives a frame to every format that reads along.
    pub(crate) fn read(&mut self, frame: &Frame, framing: Framing, rows: bool) {
        self.document |= framing == Framing::Json;
        for candidate in &mut self.candidates {
            candidate.begin(frame, rows);
        }
        let inputs = inputs(frame, framing);
        for input in &inputs {
            self.take(input, frame, rows);
        }
        self.read_along(&inputs, frame, rows);
        if self.forced || (!self.is_named() && self.remember(frame, framing)) {
            return;
        }
        let bounds = self.bounds;
        for fault in inputs.iter().filter(|input| matches!(input, Input::Text(..) | Input::Bare(_)))
        {
            let missed = self.missed.get_or_insert_with(|| Box::new(Candidate::new(None, bounds)));
            missed.begin(frame, false);
            replay(missed, fault, frame);
        }
    }

    /// Gives a frame to the fallback, until one names a format.
    fn read_along(&mut self, inputs: &[Input<'_>], frame: &Frame, rows: bool) {
        if self.document || self.is_named() {
            self.fallback = None;
        }
        if let Some(fallback) = &mut self.fallback {
            fallback.begin(frame, rows);
            for input in inputs {
                replay(fallback, input, frame);
            }
        }
    }

    /// The format that is read: the one asked for, the one that most frames name, the one that the path
    /// suggests, or none.
    pub(crate) fn leader(&self) -> &Candidate {
        match (self.place(), &self.fallback) {
            (None, Some(fallback)) if fallback.claims() => fallback,
            // There always is a first one.
            (at, _) => &self.candidates[at.unwrap_or(0)],
        }
    }

    /// The format's name.
    pub(crate) fn name(&self) -> Option<&'static str> {
        match self.winner() {
            Some(votes) if votes.count > 0 && !self.forced => Some(votes.name),
            _ => self.leader().name(),
        }
    }

    /// `mixed`, if frames name more than one format.
    pub(crate) fn mixed(&self) -> Option<Kind> {
        let named = || self.votes.iter().filter(|votes| votes.count > 0);
        let winner = self.winner().filter(|_| named().nth(1).is_some() && !self.forced)?;
        let formats: Vec<String> =
            named().map(|votes| format!("{} {}", votes.name, votes.count)).collect();
        Some(Kind::Mixed { formats: formats.join(", "), read_as: winner.name.to_owned() })
    }

    /// The body ended: what the end tells to the format that is read.
    pub(crate) fn finish(
        &mut self,
        came: bool,
        stopped: bool,
        is_stream: bool,
    ) -> Vec<(Place, Kind)> {
        let candidate = match (self.place(), &mut self.fallback) {
            (None, Some(fallback)) if fallback.claims() => Some(&mut **fallback),
            (at, _) => self.candidates.get_mut(at.unwrap_or(0)),
        };
        match candidate {
            Some(candidate) if is_stream => candidate.finish(Close { came, stopped }),
            _ => Vec::new(),
        }
    }

    /// The place of the format that is read.
    fn place(&self) -> Option<usize> {
        if self.forced { self.hint } else { self.elected() }
    }

    /// Whether a frame named a format.
    fn is_named(&self) -> bool {
        self.votes.iter().any(|votes| votes.count > 0)
    }

    fn winner(&self) -> Option<&Votes> {
        // Of equals the earliest: `max_by_key` takes the last, so look from the end.
        self.votes.iter().rev().max_by_key(|votes| votes.count)
    }

    fn elected(&self) -> Option<usize> {
        match self.winner() {
            Some(votes) if votes.count > 0 => votes.candidate,
            // A plain document that names no format is of none, unless it is an error.
            shape => self
                .hint
                .filter(|_| !self.document || self.any_error)
                .or_else(|| shape.and_then(|votes| votes.candidate)),
        }
    }

    fn take(&mut self, input: &Input<'_>, frame: &Frame, rows: bool) {
        match input {
            Input::Event(event) => self.event(event, rows),
            Input::Fault(event) => {
                self.any_error = true;
                self.each(|candidate| candidate.fault(event));
            }
            Input::Text(data, error, whole) => {
                if let Some(name) = detect::vote_text(data).filter(|_| !self.forced) {
                    self.vote(name, data, frame, rows);
                }
                self.each(|candidate| candidate.text(data, error, frame, *whole));
            }
            Input::Sentinel => self.each(Candidate::sentinel),
            Input::Bare(name) => self.each(|candidate| candidate.bare(name)),
            Input::Comment => self.each(Candidate::comment),
            Input::Meta => self.each(Candidate::meta),
        }
    }

    fn event(&mut self, event: &Event<'_>, rows: bool) {
        self.any_error |= is_error(event);
        let document = event.framing == Framing::Json;
        let name = if document { detect::vote_document(event) } else { detect::vote(event) };
        let voted = match name {
            Some(name) if !self.forced => self.vote(name, &name_of(event), event.frame, rows),
            _ => None,
        };
        if let Some(shape) = detect::shape(event).filter(|_| name.is_none() && !self.forced) {
            self.known(shape, event.frame, rows);
        }
        let neutral = name.is_none();
        for (at, candidate) in self.candidates.iter_mut().enumerate() {
            if document {
                candidate.read_document(event, name.is_some() && candidate.name() == name);
            } else if self.forced || neutral || voted == Some(at) {
                candidate.read(event, neutral);
            } else {
                candidate.read_foreign(event);
            }
        }
    }

    /// Counts a vote; the place of the format's reader.
    fn vote(
        &mut self,
        name: &'static str,
        called: &str,
        frame: &Frame,
        rows: bool,
    ) -> Option<usize> {
        let at = self.known(name, frame, rows);
        let votes = self.votes.get_mut(at)?;
        votes.count += 1;
        votes.foreign.add(crate::assembly::place_of(frame), called);
        votes.candidate
    }

    /// A format's place among those that frames named, or had the shape of.
    fn known(&mut self, name: &'static str, frame: &Frame, rows: bool) -> usize {
        let known = self.votes.iter().position(|votes| votes.name == name);
        known.unwrap_or_else(|| {
            let candidate = self.begin(name, frame, rows);
            self.votes.push(Votes { name, count: 0, foreign: Foreign::default(), candidate });
            self.votes.len() - 1
        })
    }

    /// Begins to read a format: what came before is made up for.
    fn begin(&mut self, name: &'static str, frame: &Frame, rows: bool) -> Option<usize> {
        let hinted =
            self.hint.filter(|at| self.candidates.get(*at).and_then(Candidate::name) == Some(name));
        if hinted.is_some() {
            return hinted;
        }
        let mut candidate = Candidate::new(Some(format(name)?), self.bounds);
        for (earlier, framing) in &self.prelude {
            candidate.begin(earlier, false);
            for input in inputs(earlier, *framing) {
                replay(&mut candidate, &input, earlier);
            }
        }
        candidate.inherit(self.unseen());
        candidate.begin(frame, rows);
        self.candidates.push(candidate);
        Some(self.candidates.len() - 1)
    }

    /// What a format that begins now has not seen: frames of others, and faults behind the prelude.
    fn unseen(&self) -> Vec<Finding> {
        let missed = self.missed.iter().flat_map(|missed| missed.findings().list());
        let mut unseen: Vec<Finding> = missed.cloned().collect();
        unseen.extend(self.votes.iter().flat_map(|votes| votes.foreign.findings()));
        unseen.sort_by_key(|finding| finding.place.frame);
        unseen
    }

    /// Keeps a frame for formats that begin later, if there is room.
    fn remember(&mut self, frame: &Frame, framing: Framing) -> bool {
        let bytes = frame.data.as_ref().map_or(0, |data| data.as_bytes().len()) + 64;
        let fits =
            self.prelude.len() < PRELUDE_FRAMES && self.prelude_bytes + bytes <= PRELUDE_BYTES;
        if fits {
            self.prelude_bytes += bytes;
            self.prelude.push((frame.clone(), framing));
        }
        fits
    }

    fn each(&mut self, act: impl Fn(&mut Candidate)) {
        self.candidates.iter_mut().for_each(act);
    }
}

/// Gives one thing of a frame that names no format to a format.
fn replay(candidate: &mut Candidate, input: &Input<'_>, frame: &Frame) {
    match input {
        Input::Event(event) => candidate.read(event, true),
        Input::Fault(event) => candidate.fault(event),
        Input::Text(data, error, whole) => candidate.text(data, error, frame, *whole),
        Input::Sentinel => candidate.sentinel(),
        Input::Bare(name) => candidate.bare(name),
        Input::Comment | Input::Meta => {}
    }
}

/// What is in a frame, in order: mostly one thing, several where values were recovered.
fn inputs(frame: &Frame, framing: Framing) -> Vec<Input<'_>> {
    let mut inputs = Vec::with_capacity(1);
    match &frame.data {
        Some(data) => data_input(data.as_str(), frame, framing, &mut inputs),
        None => inputs.push(match (&frame.event, frame.comments.is_empty()) {
            (Some(event), _) => Input::Bare(event),
            (None, false) if frame.recovered.is_empty() => Input::Comment,
            _ => Input::Meta,
        }),
    }
    let lines = frame.recovered.iter().enumerate();
    for (at, data) in lines {
        let glued = frame.glued && at < glued_lines(frame);
        match value_input(data.as_str(), frame, framing) {
            // A value out of bare lines counts only if it is an error (`FORMATS.md` G.6).
            Ok(Input::Event(event)) if !glued && !is_error(&event) => {}
            Ok(input) => inputs.push(input),
            Err(_) => {}
        }
    }
    if frame.glued {
        // The format that its lines name has to be there when the frame itself is judged.
        inputs.rotate_left(1);
    }
    if let Some(data) = &frame.error
        && let Ok(event) = Event::parse(frame, framing, data.as_str())
    {
        inputs.push(Input::Fault(event));
    }
    inputs
}

fn data_input<'a>(data: &'a str, frame: &'a Frame, framing: Framing, inputs: &mut Vec<Input<'a>>) {
    match value_input(data, frame, framing) {
        Ok(input) => inputs.push(input),
        Err(_) if Event::blank(frame, framing).is_exception() => {
            inputs.push(Input::Fault(Event::blank(frame, framing)));
        }
        Err(error) => inputs.push(Input::Text(data, error, frame.terminated || frame.glued)),
    }
}

fn value_input<'a>(data: &'a str, frame: &'a Frame, framing: Framing) -> Result<Input<'a>, String> {
    if data.trim_ascii() == "[DONE]" {
        return Ok(Input::Sentinel);
    }
    Event::parse(frame, framing, data).map(Input::Event)
}

/// How many of the recovered values are data lines of a glued frame.
fn glued_lines(frame: &Frame) -> usize {
    frame.data.as_ref().map_or(0, |data| data.as_str().lines().count())
}
