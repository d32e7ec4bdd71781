//! Which framing a body has, told from its bytes (`FORMATS.md` G.2).

use bytes::{Bytes, BytesMut};

use crate::{
    eventstream::{PRELUDE_BYTES, Prelude},
    frame::Framing,
    json::{self, Scanner},
    stamp::Stamps,
    text::{is_blank, leading_space},
};

/// What the content type says. It breaks ties only: several servers mislabel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    None,
    Json,
    Ndjson,
    AwsEventstream,
}

impl Hint {
    pub(crate) fn from_content_type(content_type: &str) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let is = |name: &str| essence.eq_ignore_ascii_case(name);
        if is("application/json") {
            Self::Json
        } else if is("application/x-ndjson")
            || is("application/ndjson")
            || is("application/jsonl")
            || is("application/json-lines")
        {
            Self::Ndjson
        } else if is("application/vnd.amazon.eventstream") {
            Self::AwsEventstream
        } else {
            Self::None
        }
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) framing: Framing,
    /// Bytes held before the line that decided, if the framing begins there.
    pub(crate) skipped: usize,
    /// That line.
    pub(crate) line: u64,
    /// Nothing in the body decided.
    pub(crate) guessed: bool,
}

/// Holds a body's start until its framing is clear.
#[derive(Debug)]
pub(crate) struct Detector {
    hint: Hint,
    stamps: bool,
    /// So many bytes are looked at.
    limit: usize,
    /// They and one more, by which it is known that there are more.
    held: BytesMut,
    /// What came behind them.
    rest: Vec<Bytes>,
    /// It is no binary body.
    text: bool,
    /// The first line that was not judged yet.
    start: usize,
    line: u64,
    /// From where on its end is looked for.
    searched: usize,
    candidate: Candidate,
}

/// What the lines so far may be.
#[derive(Debug)]
enum Candidate {
    /// No line decided anything.
    None,
    /// JSON that began with `{`.
    Document { at: LineStart, scanner: Box<Scanner>, lone_brace: bool, one_line: bool },
    /// A line that is a whole array. A later one makes it NDJSON.
    Array { at: LineStart, next_seen: bool },
    /// A line that is another whole value.
    Value,
}

#[derive(Clone, Copy, Debug)]
struct LineStart {
    byte: usize,
    number: u64,
}

/// How a line came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whole {
    /// By a line end or the end of the body.
    Yes,
    /// It goes on, but no more is looked at.
    No,
}

impl Detector {
    pub(crate) fn new(hint: Hint, stamps: bool, limit: usize) -> Self {
        Self {
            hint,
            stamps,
            limit,
            held: BytesMut::new(),
            rest: Vec::new(),
            text: false,
            start: 0,
            line: 1,
            searched: 0,
            candidate: Candidate::None,
        }
    }

    pub(crate) fn push(&mut self, mut chunk: Bytes) {
        let room = self.limit.saturating_add(1).saturating_sub(self.held.len());
        self.held.extend_from_slice(&chunk.split_to(room.min(chunk.len())));
        if !chunk.is_empty() {
            self.rest.push(chunk);
        }
    }

    /// Everything that was pushed. The detector is of no use afterwards.
    pub(crate) fn take_held(&mut self) -> (Bytes, Vec<Bytes>) {
        (std::mem::take(&mut self.held).freeze(), std::mem::take(&mut self.rest))
    }

    /// The framing, if it is clear by now; always if `ended`.
    pub(crate) fn decide(&mut self, ended: bool) -> Option<Decision> {
        if !self.text {
            match self.binary(ended) {
                Some(true) => return Some(Self::decision(Framing::AwsEventstream)),
                Some(false) => self.text = true,
                None => return None,
            }
        }
        // The same bytes decide however they came, so those beyond the limit are never looked at.
        let visible = self.held.len().min(self.limit);
        let whole = if self.held.len() > self.limit { Whole::No } else { Whole::Yes };
        let all = ended || whole == Whole::No;
        while let Some((end, next)) = self.line_end(visible, all) {
            let decision = self.judge(end, Whole::Yes);
            (self.start, self.searched) = (next, next);
            self.line += 1;
            if decision.is_some() {
                return decision;
            }
        }
        if all {
            let last = if self.start < visible { self.judge(visible, whole) } else { None };
            return Some(last.unwrap_or_else(|| self.fall_back(whole)));
        }
        self.early_sse()
    }

    /// Whether the body is binary; `None`: not clear yet.
    fn binary(&self, ended: bool) -> Option<bool> {
        // No message is longer than 24 MiB and a little, so its first byte is 0 or 1.
        match self.held.first() {
            Some(0 | 1) if self.hint == Hint::AwsEventstream => Some(true),
            Some(0 | 1) if self.held.len() < PRELUDE_BYTES && !ended => None,
            Some(0 | 1) => Some(Prelude::read(&self.held).is_some_and(|prelude| prelude.is_good())),
            Some(_) => Some(false),
            None => ended.then_some(false),
        }
    }

    /// Where the current line ends and where the next begins.
    fn line_end(&mut self, visible: usize, all: bool) -> Option<(usize, usize)> {
        let Some(found) = memchr::memchr2(b'\n', b'\r', &self.held[self.searched..visible]) else {
            self.searched = visible;
            return None;
        };
        let end = self.searched + found;
        let next = match self.held.get(end..visible) {
            Some([b'\r', b'\n', ..]) => end + 2,
            Some([b'\r']) if !all => {
                self.searched = end;
                return None;
            }
            _ => end + 1,
        };
        Some((end, next))
    }

    fn judge(&mut self, end: usize, whole: Whole) -> Option<Decision> {
        let line = &self.held[self.start..end];
        let stripped = Stamps::new(self.stamps, false).strip(line, self.line);
        let line = &line[stripped.bytes..];
        if is_blank(line) {
            return None;
        }
        let sse = is_sse(line, whole);
        let here = LineStart { byte: self.start, number: self.line };
        match &mut self.candidate {
            Candidate::None if sse => Some(Self::decision(Framing::Sse)),
            Candidate::None => {
                let (candidate, decision) = self.first_line(line, here, whole);
                self.candidate = candidate;
                decision
            }
            Candidate::Document { scanner, .. } if scanner.is_complete() => {
                Some(if sse { Self::decision(Framing::Sse) } else { self.several() })
            }
            Candidate::Document { scanner, .. } => {
                let broken = scanner.feed(line).is_err()
                    || (whole == Whole::Yes && scanner.feed(b"\n").is_err());
                broken.then(|| self.several())
            }
            Candidate::Array { next_seen: false, .. } | Candidate::Value if sse => {
                Some(Self::decision(Framing::Sse))
            }
            Candidate::Value => Some(Self::decision(Framing::Ndjson)),
            Candidate::Array { next_seen, .. } => {
                *next_seen = true;
                is_json(line, whole).then(|| Self::decision(Framing::Ndjson))
            }
        }
    }

    /// Judges the first line that may decide.
    fn first_line(
        &self,
        line: &[u8],
        at: LineStart,
        whole: Whole,
    ) -> (Candidate, Option<Decision>) {
        let ndjson = Some(Self::decision(Framing::Ndjson));
        match line.get(leading_space(line)) {
            Some(b'{') if is_curl_note(line) => (Candidate::None, None),
            Some(b'{') => {
                let mut scanner = Box::new(Scanner::new());
                let broken = scanner.feed(line).is_err();
                let one_line = !broken && whole == Whole::Yes && scanner.is_complete();
                let lone_brace = line.trim_ascii() == b"{";
                let decision = if one_line && self.hint == Hint::Ndjson {
                    ndjson
                } else if broken && self.hint == Hint::Json {
                    Some(Self::begin(Framing::Json, at))
                } else if broken {
                    ndjson
                } else {
                    None
                };
                (Candidate::Document { at, scanner, lone_brace, one_line }, decision)
            }
            Some(b'[') if !is_json(line, whole) => {
                (Candidate::None, Some(Self::begin(Framing::JsonArray, at)))
            }
            Some(b'[') if self.hint == Hint::Ndjson => (Candidate::None, ndjson),
            Some(b'[') => (Candidate::Array { at, next_seen: false }, None),
            _ if is_json(line, whole) => (Candidate::Value, None),
            _ if coded(line, whole) => (Candidate::None, ndjson),
            _ => (Candidate::None, None),
        }
    }

    /// What began with `{` is not one document.
    fn several(&self) -> Decision {
        match &self.candidate {
            Candidate::Document { at, lone_brace, one_line, .. }
                if *lone_brace || (self.hint == Hint::Json && !one_line) =>
            {
                Self::begin(Framing::Json, *at)
            }
            _ => Self::decision(Framing::Ndjson),
        }
    }

    /// No more lines: what they were so far. `whole`: the body is over.
    fn fall_back(&self, whole: Whole) -> Decision {
        match &self.candidate {
            Candidate::Document { at, scanner, lone_brace, .. } => {
                // A first line that is too long to look at is one of NDJSON only if the content type says so.
                let one_document = *lone_brace
                    || self.hint == Hint::Json
                    || scanner.is_complete()
                    || (whole == Whole::No && self.hint != Hint::Ndjson);
                if one_document {
                    Self::begin(Framing::Json, *at)
                } else {
                    Self::decision(Framing::Ndjson)
                }
            }
            Candidate::Array { at, .. } => Self::begin(Framing::JsonArray, *at),
            Candidate::Value => Self::decision(Framing::Ndjson),
            Candidate::None => {
                let framing = match self.hint {
                    Hint::Ndjson => Framing::Ndjson,
                    Hint::AwsEventstream => Framing::AwsEventstream,
                    Hint::None | Hint::Json => Framing::Sse,
                };
                Decision { guessed: true, ..Self::decision(framing) }
            }
        }
    }

    /// The start of a line is enough to tell SSE, however long the line is.
    fn early_sse(&self) -> Option<Decision> {
        if !matches!(self.candidate, Candidate::None | Candidate::Value) {
            return None;
        }
        // A stamp is over before anything of SSE can begin, so more bytes would not change what is left.
        let line = &self.held[self.start..];
        let stripped = Stamps::new(self.stamps, false).strip(line, self.line);
        is_sse(&line[stripped.bytes..], Whole::No).then(|| Self::decision(Framing::Sse))
    }

    const fn decision(framing: Framing) -> Decision {
        Decision { framing, skipped: 0, line: 1, guessed: false }
    }

    const fn begin(framing: Framing, at: LineStart) -> Decision {
        Decision { framing, skipped: at.byte, line: at.number, guessed: false }
    }
}

/// A line that only SSE has.
fn is_sse(line: &[u8], whole: Whole) -> bool {
    let prefixes: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    prefixes.iter().any(|prefix| line.starts_with(prefix))
        || (line == b"data" && whole == Whole::Yes)
}

fn is_json(line: &[u8], whole: Whole) -> bool {
    // What is ill-formed becomes U+FFFD, so it is as good as any character.
    whole == Whole::Yes && json::check(&String::from_utf8_lossy(line)).is_ok()
}

/// A line of Vercel's data stream v1, `0:"text"`: a code, a colon and JSON.
pub(crate) fn is_coded(line: &[u8]) -> bool {
    coded(line, Whole::Yes)
}

fn coded(line: &[u8], whole: Whole) -> bool {
    match line {
        [b'0'..=b'9' | b'a'..=b'k', b':', value @ ..] => {
            !value.first().is_some_and(u8::is_ascii_whitespace) && is_json(value, whole)
        }
        _ => false,
    }
}

/// What `curl -v` prints between the lines of a body: `{ [1256 bytes data]`.
fn is_curl_note(line: &[u8]) -> bool {
    line.strip_prefix(b"{ [")
        .and_then(|rest| rest.strip_suffix(b" bytes data]"))
        .is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}
