//! One block of an SSE stream: a run of non-empty lines.

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::{
    frame::{Data, Frame, Stamp},
    json::{self, Scanner},
    lines::Line,
    text::utf16_units,
};

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A field that SSE has.
    Field,
    Comment,
    /// Nothing that SSE knows.
    Ignored,
}

/// The lines of a frame, until its blank line comes.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) offset: u64,
    pub(crate) line: u64,
    end: u64,
    lines: u64,
    /// UTF-16 units, each line end as one.
    units: usize,
    event: Option<String>,
    data: Vec<Bytes>,
    id: Option<String>,
    retry: Option<u64>,
    comments: Vec<String>,
    stamp: Option<Stamp>,
    bare: Bare,
    recovered: Vec<Data>,
    error: Option<Data>,
}

impl Block {
    /// A block that begins with this line.
    pub(crate) fn new(first: &Line) -> Self {
        Self {
            offset: first.offset,
            line: first.number,
            end: first.offset,
            lines: 0,
            units: 0,
            event: None,
            data: Vec::new(),
            id: None,
            retry: None,
            comments: Vec::new(),
            stamp: None,
            bare: Bare::Fresh,
            recovered: Vec::new(),
            error: None,
        }
    }

    /// Keeps the first stamp.
    pub(crate) fn stamp(&mut self, stamp: Option<Stamp>) {
        self.stamp = self.stamp.or(stamp);
    }

    /// Counts a line of `text`: how many UTF-16 units are held now.
    pub(crate) fn hold(&mut self, text: &[u8], line_end: bool) -> usize {
        self.units += utf16_units(text) + usize::from(line_end);
        self.units
    }

    /// Reads a line that is not empty, its stamp taken off; `end`: the byte after its line end.
    pub(crate) fn read(&mut self, text: &Bytes, end: u64) -> Read {
        self.end = end;
        self.lines += 1;
        let read = self.field(text);
        if read == Read::Ignored {
            self.recovered.extend(self.bare.line(text));
        } else {
            self.bare = Bare::Fresh;
        }
        read
    }

    fn field(&mut self, text: &Bytes) -> Read {
        let colon = memchr::memchr(b':', text).unwrap_or(text.len());
        let (name, value) = text.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"" => {
                self.comments.push(string(value));
                return Read::Comment;
            }
            b"data" => self.data.push(text.slice_ref(value)),
            b"event" => self.event = Some(string(value)),
            b"id" if value.contains(&0) => {}
            b"id" => self.id = Some(string(value)),
            b"retry" => self.retry = milliseconds(value).or(self.retry),
            b"error" => {
                let value = Data::from_well_formed(text.slice_ref(value));
                if json::check(value.as_str()).is_ok() {
                    self.error = Some(value);
                }
                return Read::Ignored;
            }
            _ => return Read::Ignored,
        }
        Read::Field
    }

    /// The frame; `terminated`: its blank line came.
    pub(crate) fn into_frame(mut self, index: u64, terminated: bool) -> Frame {
        let data = self.join();
        let glued = is_glued(&self.data);
        let mut recovered = self.recovered;
        if glued {
            recovered.splice(..0, self.data.drain(..).map(Data::from_well_formed));
        }
        Frame {
            index,
            offset: self.offset,
            length: self.end - self.offset,
            line: self.line,
            lines: self.lines,
            event: self.event,
            dispatched: terminated && data.is_some(),
            data,
            id: self.id,
            retry: self.retry,
            comments: self.comments,
            terminated,
            stamp: self.stamp,
            recovered,
            glued,
            error: self.error,
            headers: Vec::new(),
        }
    }

    fn join(&self) -> Option<Data> {
        match &*self.data {
            [] => None,
            [one] => Some(Data::from_well_formed(one.clone())),
            many => Some(Data::from_well_formed(join(many))),
        }
    }
}

/// Several values where the framing allows one: each line is JSON (or `[DONE]`), so the whole is not.
fn is_glued(lines: &[Bytes]) -> bool {
    let reads = |line: &Bytes| std::str::from_utf8(line).is_ok_and(reads_whole);
    lines.len() > 1 && lines.iter().all(reads)
}

/// Whether data is whole: JSON, or the sentinel.
pub(crate) fn reads_whole(data: &str) -> bool {
    is_sentinel(data) || json::check(data).is_ok()
}

/// `[DONE]`, ASCII white space around it allowed.
pub(crate) fn is_sentinel(data: &str) -> bool {
    data.trim_ascii() == "[DONE]"
}

fn join(lines: &[Bytes]) -> Bytes {
    let mut joined = BytesMut::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            joined.put_u8(b'\n');
        }
        joined.extend_from_slice(line);
    }
    joined.freeze()
}

fn string(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The value of `retry`: ASCII digits only. One that no counter holds is as long as there is.
fn milliseconds(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit) && !value.is_empty();
    digits.then(|| {
        value.iter().fold(0_u64, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
        })
    })
}

/// JSON in consecutive lines that lack their `data:` (`FORMATS.md` G.6).
#[derive(Debug)]
enum Bare {
    /// A value may begin in the next line.
    Fresh,
    /// The lines of a value that is not whole yet.
    Open { scanner: Box<Scanner>, lines: Vec<Bytes> },
    /// The lines do not begin with JSON; what is in the middle of them is not guessed at.
    No,
}

impl Bare {
    /// Takes a line; the value that it completes.
    fn line(&mut self, text: &Bytes) -> Option<Data> {
        let (mut scanner, mut lines) = match std::mem::replace(self, Self::No) {
            Self::Open { scanner, lines } => (scanner, lines),
            Self::Fresh if matches!(text.trim_ascii_start().first(), Some(b'{' | b'[')) => {
                (Box::new(Scanner::new()), Vec::new())
            }
            Self::No | Self::Fresh => return None,
        };
        lines.push(text.clone());
        if scanner.feed(text).and_then(|()| scanner.feed(b"\n")).is_err() {
            return None;
        }
        if scanner.is_complete() {
            *self = Self::Fresh;
            return Some(Data::from_well_formed(join(&lines)));
        }
        *self = Self::Open { scanner, lines };
        None
    }
}
