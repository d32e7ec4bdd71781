//! What is kept of every frame.

use teeline_assembler::{Effect, FrameRow, MessageFacts};

use super::{Content, PAGE};
use crate::Timestamp;
use crate::conversation::Direction;

/// As much of a frame as a picture of the whole stream needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameMark {
    /// When its first byte came, in milliseconds since the request was sent; `None`: not known.
    pub at_ms: Option<f64>,
    /// Its bytes.
    pub length: u32,
    /// What it did, as in a [`FrameRow`].
    pub kind: Option<&'static str>,
    /// The output it went to.
    pub output: Option<u32>,
}

/// Where a frame is, and what it did.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) offset: u64,
    line: u64,
    /// Microseconds since the request's start; `i64::MIN`: not known.
    at_us: i64,
    pub(super) length: u32,
    lines: u32,
    /// Where its words are in [`Rows::words`].
    words: u64,
    carried: u16,
    snippet: u16,
    /// `u32::MAX`: none.
    output: u32,
    call: u32,
    kind: Option<&'static str>,
    terminated: bool,
    dispatched: bool,
    dated: bool,
    /// Of a WebSocket message.
    message: Option<Box<MessageFacts>>,
}

impl Entry {
    pub(super) fn end(&self) -> u64 {
        self.offset + u64::from(self.length)
    }

    pub(super) fn direction(&self) -> Option<Direction> {
        self.message.as_ref().map(|message| Direction::from_name(message.direction))
    }

    pub(super) fn mark(&self) -> FrameMark {
        FrameMark {
            at_ms: (self.at_us != NO_TIME).then(|| millis(self.at_us)),
            length: self.length,
            kind: self.kind,
            output: (self.output != NONE).then_some(self.output),
        }
    }
}

#[derive(Default)]
pub(super) struct Rows {
    pub(super) entries: Vec<Entry>,
    words: String,
    /// The moment from which `at_us` counts, in microseconds since the epoch.
    base_us: Option<i64>,
}

const NO_TIME: i64 = i64::MIN;
const NONE: u32 = u32::MAX;

impl Rows {
    pub(super) fn add(&mut self, rows: Vec<FrameRow>) {
        for row in rows {
            let at_us = row.at_ms.map_or(NO_TIME, micros);
            if self.base_us.is_none()
                && let Some(at) = row.at.as_deref().and_then(|at| at.parse::<Timestamp>().ok())
            {
                self.base_us = Some(at.as_micros().saturating_sub(at_us));
            }
            let words = self.words.len() as u64;
            let effect = row.effect.as_ref();
            let carried = effect.map_or("", |effect| &effect.carried);
            let snippet = effect.map_or("", |effect| &effect.snippet);
            self.words.push_str(carried);
            self.words.push_str(snippet);
            let number = |number: Option<u64>| number.map_or(NONE, narrow);
            self.entries.push(Entry {
                offset: row.offset,
                line: row.line,
                at_us,
                length: narrow(row.length),
                lines: narrow(row.lines),
                words,
                carried: u16::try_from(carried.len()).unwrap_or(0),
                snippet: u16::try_from(snippet.len()).unwrap_or(0),
                output: number(effect.and_then(|effect| effect.output)),
                call: number(effect.and_then(|effect| effect.call)),
                kind: effect.map(|effect| effect.kind),
                terminated: row.terminated,
                dispatched: row.dispatched,
                dated: row.at.is_some(),
                message: row.message.map(Box::new),
            });
        }
    }

    fn range(&self, offset: u64, limit: usize) -> &[Entry] {
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let entries = self.entries.get(from..).unwrap_or_default();
        entries.get(..limit).unwrap_or(entries)
    }

    /// The entries of a page: not more than asked for, and not over too much of the body, but one at least.
    pub(super) fn page(&self, offset: u64, limit: usize) -> &[Entry] {
        let entries = self.range(offset, limit);
        let start = entries.first().map_or(0, |entry| entry.offset);
        let fitting = entries.partition_point(|entry| entry.end() <= start.saturating_add(PAGE));
        entries.get(..fitting.max(1)).unwrap_or(entries)
    }

    /// The same where the frames do not stand in one body: not more than so many bytes in all.
    pub(super) fn fitting(&self, offset: u64, limit: usize) -> &[Entry] {
        let entries = self.range(offset, limit);
        let mut bytes = 0;
        let fits = |entry: &&Entry| {
            bytes += u64::from(entry.length);
            bytes <= PAGE
        };
        let fitting = entries.iter().take_while(fits).count();
        entries.get(..fitting.max(1)).unwrap_or(entries)
    }

    pub(super) fn row(&self, entry: &Entry, index: u64, content: &Content) -> FrameRow {
        let timed = entry.at_us != NO_TIME;
        let base = self.base_us.filter(|_| timed && entry.dated);
        let moment = base.map(|base| Timestamp::from_micros(base.saturating_add(entry.at_us)));
        FrameRow {
            index,
            offset: entry.offset,
            length: u64::from(entry.length),
            line: entry.line,
            lines: u64::from(entry.lines),
            at: moment.map(|moment| moment.to_string()),
            at_ms: timed.then(|| millis(entry.at_us)),
            event: content.event.clone(),
            data: content.data.clone(),
            id: content.id.clone(),
            retry: content.retry,
            comments: content.comments.clone(),
            terminated: entry.terminated,
            dispatched: entry.dispatched,
            effect: entry.kind.map(|kind| self.effect(entry, kind)),
            message: entry.message.as_deref().cloned(),
        }
    }

    fn effect(&self, entry: &Entry, kind: &'static str) -> Effect {
        let from = usize::try_from(entry.words).unwrap_or(usize::MAX);
        let middle = from.saturating_add(usize::from(entry.carried));
        let end = middle.saturating_add(usize::from(entry.snippet));
        let words =
            |range: std::ops::Range<usize>| self.words.get(range).unwrap_or_default().to_owned();
        let number = |number: u32| (number != NONE).then(|| u64::from(number));
        Effect {
            kind,
            carried: words(from..middle),
            output: number(entry.output),
            call: number(entry.call),
            snippet: words(middle..end),
        }
    }

    pub(super) fn weight(&self) -> usize {
        let messages = self.entries.iter().filter(|entry| entry.message.is_some()).count();
        self.entries.capacity() * size_of::<Entry>()
            + self.words.capacity()
            + messages * size_of::<MessageFacts>()
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

/// Milliseconds with a fraction to whole microseconds, from which they were made.
fn micros(ms: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates, and times are far from the edge"
    )]
    let micros = (ms * 1000.0).round() as i64;
    micros
}

fn millis(micros: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 microseconds, 285 years")]
    let micros = micros as f64;
    micros / 1000.0
}
