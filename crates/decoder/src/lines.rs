//! Bytes to lines, however they are cut into chunks.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes, BytesMut};

use crate::{stamp::DECIDING_BYTES, text::most_bytes};

/// The longest line, in bytes, that can hold no more than `bound` UTF-16 units behind a stamp.
pub(crate) const fn line_cap(bound: usize) -> usize {
    most_bytes(bound).saturating_add(DECIDING_BYTES)
}

/// Which line ends there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// LF, CR LF and CR alone, as in SSE.
    Any,
    /// LF only; a CR before it stays in the line.
    Lf,
}

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
    Cr,
    /// CR as the body's very last byte: a CR LF that was cut.
    CutCrLf,
    /// The body ended.
    None,
}

/// A line without its line end.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: Bytes,
    /// Its first byte.
    pub(crate) offset: u64,
    /// The byte after its line end.
    pub(crate) end: u64,
    /// From 1.
    pub(crate) number: u64,
    pub(crate) ending: Ending,
}

/// What came of asking for a line.
#[derive(Debug)]
pub(crate) enum Step {
    Line(Line),
    /// The next line is longer than the cap. Nothing more can be read.
    TooLong,
    /// More input is needed.
    More,
    /// The body is read.
    End,
}

/// Cuts chunks into lines. A line inside one chunk is a slice of it, others are copied once.
#[derive(Debug)]
pub(crate) struct Lines {
    ends: Ends,
    /// Bytes of a line beyond which it is not held.
    cap: usize,
    chunks: VecDeque<Bytes>,
    /// The start of a line whose end is not here yet.
    partial: BytesMut,
    /// A line that ended in the last CR of a chunk; LF may follow.
    before_cr: Option<Bytes>,
    offset: u64,
    number: u64,
}

impl Lines {
    /// `offset`: where the first chunk stands in the body.
    pub(crate) fn new(ends: Ends, cap: usize, offset: u64) -> Self {
        Self {
            ends,
            cap,
            chunks: VecDeque::new(),
            partial: BytesMut::new(),
            before_cr: None,
            offset,
            number: 1,
        }
    }

    pub(crate) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// Lets go of everything that is held.
    pub(crate) fn clear(&mut self) {
        self.chunks = VecDeque::new();
        self.partial = BytesMut::new();
        self.before_cr = None;
    }

    /// The first byte of the line that comes next.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the line that comes next.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `ended`: no chunk will follow.
    pub(crate) fn next(&mut self, ended: bool) -> Step {
        loop {
            if let Some(step) = self.behind_cr(ended) {
                return step;
            }
            let Some(chunk) = self.chunks.front_mut() else {
                return if ended { self.last() } else { Step::More };
            };
            let found = match self.ends {
                Ends::Any => memchr::memchr2(b'\n', b'\r', chunk),
                Ends::Lf => memchr::memchr(b'\n', chunk),
            };
            let Some(at) = found else {
                self.partial.extend_from_slice(chunk);
                self.chunks.pop_front();
                if self.partial.len() > self.cap {
                    return Step::TooLong;
                }
                continue;
            };
            let carriage_return = chunk[at] == b'\r';
            let text = if self.partial.is_empty() {
                chunk.split_to(at)
            } else {
                self.partial.extend_from_slice(&chunk[..at]);
                chunk.advance(at);
                self.partial.split().freeze()
            };
            chunk.advance(1);
            if chunk.is_empty() {
                self.chunks.pop_front();
            }
            if text.len() > self.cap {
                return Step::TooLong;
            }
            if carriage_return {
                self.before_cr = Some(text);
            } else {
                return self.line(text, 1, Ending::Lf);
            }
        }
    }

    /// Ends the line before a CR, once it is known what follows.
    fn behind_cr(&mut self, ended: bool) -> Option<Step> {
        let text = self.before_cr.take()?;
        Some(match self.chunks.front_mut() {
            Some(chunk) if chunk.first() == Some(&b'\n') => {
                chunk.advance(1);
                if chunk.is_empty() {
                    self.chunks.pop_front();
                }
                self.line(text, 2, Ending::CrLf)
            }
            Some(_) => self.line(text, 1, Ending::Cr),
            None if ended => self.line(text, 1, Ending::CutCrLf),
            None => {
                self.before_cr = Some(text);
                Step::More
            }
        })
    }

    fn last(&mut self) -> Step {
        if self.partial.is_empty() {
            return Step::End;
        }
        let text = self.partial.split().freeze();
        self.line(text, 0, Ending::None)
    }

    fn line(&mut self, text: Bytes, ending_bytes: u64, ending: Ending) -> Step {
        let (offset, number) = (self.offset, self.number);
        let end = offset + text.len() as u64 + ending_bytes;
        self.offset = end;
        self.number += 1;
        Step::Line(Line { text, offset, end, number, ending })
    }
}
