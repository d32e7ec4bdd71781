//! When things came: chunk times, frame times, gaps, and new text over time.

use std::collections::VecDeque;

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use teeline_decoder::{Frame, Stamp};

use crate::reading::Timing;

/// How many chunks' times are held for frames that are not whole yet; of older ones some are forgotten,
/// so that a frame in very many pieces is dated to a piece before its true one.
const HELD: usize = 4_096;

/// When a frame's first byte came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moment {
    /// Microseconds since the request was sent, or the first stamp.
    pub(crate) us: Option<i64>,
    /// Microseconds since the epoch.
    pub(crate) wall_us: Option<i64>,
}

impl Moment {
    pub(crate) fn ms(self) -> Option<f64> {
        self.us.map(to_ms)
    }

    /// ISO 8601, UTC, microseconds.
    pub(crate) fn iso(self) -> Option<String> {
        self.wall_us.map(iso)
    }
}

/// The times of one stream.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    started_at_us: Option<i64>,
    chunks: VecDeque<(u64, i64)>,
    first_stamp: Option<Stamp>,
    first_byte: Option<i64>,
    last_byte: Option<i64>,
    first_text: Option<i64>,
    before: Option<i64>,
    longest_gap: Option<i64>,
    spark: Spark,
}

impl Clock {
    /// `started_at_us`: when the request was sent, in microseconds since the epoch.
    pub(crate) fn new(started_at_us: Option<i64>) -> Self {
        Self { started_at_us, ..Self::default() }
    }

    /// A chunk that begins at `offset` came at `at` microseconds after the request was sent.
    pub(crate) fn chunk(&mut self, offset: u64, at: u64) {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        self.first_byte.get_or_insert(at);
        self.last_byte = Some(at);
        self.chunks.push_back((offset, at));
        if self.chunks.len() > HELD {
            let mut keep = false;
            self.chunks.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }

    /// No frame will begin before `offset` any more.
    pub(crate) fn forget_before(&mut self, offset: u64) {
        while self.chunks.get(1).is_some_and(|(start, _)| *start <= offset) {
            self.chunks.pop_front();
        }
    }

    /// When a frame's first byte came, and the gap before it in microseconds.
    pub(crate) fn frame(&mut self, frame: &Frame) -> (Moment, Option<i64>) {
        let moment = match frame.stamp {
            Some(stamp) => self.stamped(stamp),
            None => self.arrived(frame.offset),
        };
        let gap = match (self.before, moment.us) {
            (Some(before), Some(now)) => Some((now - before).max(0)),
            _ => None,
        };
        if moment.us.is_some() {
            self.before = moment.us;
        }
        self.longest_gap = self.longest_gap.max(gap);
        (moment, gap)
    }

    /// A frame brought new text: `answer` bytes of text, reasoning or refusal, `all` with arguments.
    pub(crate) fn text(&mut self, moment: Moment, answer: u64, all: u64) {
        let Some(at) = moment.us else { return };
        if answer > 0 {
            self.first_text.get_or_insert(at);
        }
        self.spark.add(at, all);
    }

    /// Milliseconds from the request to the last byte.
    pub(crate) fn last_ms(&self) -> u64 {
        self.last_byte.map_or(0, |us| u64::try_from(us / 1_000).unwrap_or(0))
    }

    /// New text over time.
    pub(crate) fn spark(&self) -> &Spark {
        &self.spark
    }

    /// The reading's times, `None` if none are known.
    pub(crate) fn timing(&self, output_tokens: Option<u64>) -> Option<Timing> {
        let last = self.last_byte?;
        let writing = self.first_text.map(|first| last - first).filter(|us| *us > 0);
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 52 bits")]
        let rate = |tokens: u64, us: i64| tokens as f64 * 1e6 / us as f64;
        Some(Timing {
            first_byte_ms: self.first_byte.map(to_ms),
            first_text_ms: self.first_text.map(to_ms),
            last_byte_ms: Some(to_ms(last)),
            longest_gap_ms: self.longest_gap.map(to_ms),
            tokens_per_second: output_tokens.zip(writing).map(|(tokens, us)| rate(tokens, us)),
        })
    }

    fn stamped(&mut self, stamp: Stamp) -> Moment {
        let first = *self.first_stamp.get_or_insert(stamp);
        let us = i64::try_from((stamp.ns - first.ns).div_euclid(1_000)).ok();
        if let Some(us) = us {
            self.first_byte.get_or_insert(us);
            self.last_byte = self.last_byte.max(Some(us));
        }
        let wall = || i64::try_from(stamp.ns.div_euclid(1_000)).ok();
        Moment { us, wall_us: stamp.dated.then(wall).flatten() }
    }

    fn arrived(&self, offset: u64) -> Moment {
        let after = self.chunks.partition_point(|(start, _)| *start <= offset);
        let us = after.checked_sub(1).and_then(|at| self.chunks.get(at)).map(|(_, at)| *at);
        let wall_us = us.zip(self.started_at_us).map(|(us, start)| start.saturating_add(us));
        Moment { us, wall_us }
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of 285 years fit into 53 bits")]
fn to_ms(us: i64) -> f64 {
    us as f64 / 1_000.0
}

/// `2026-01-02T03:04:05.678901Z`.
fn iso(us: i64) -> String {
    let (days, us) = (us.div_euclid(86_400_000_000), us.rem_euclid(86_400_000_000));
    let (year, month, day) = civil(days);
    let (seconds, us) = (us / 1_000_000, us % 1_000_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{us:06}Z")
}

/// The Gregorian date of a number of days since 1970-01-01. Years are counted from March, so that the
/// leap day is a year's last.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468; // days since 0000-03-01
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// New text per time slot, for a sparkline: at most 40 slots; when a stream outgrows them, neighbours
/// merge and the slot doubles. In JSON `{"slot_ms":25,"bytes":[…]}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spark {
    slot_ms: u64,
    bytes: Vec<u64>,
}

impl Spark {
    /// How many slots there are at most.
    pub const SLOTS: usize = 40;

    /// Milliseconds of a slot.
    pub fn slot_ms(&self) -> u64 {
        self.slot_ms
    }

    /// Bytes of new text in each slot, from the request on.
    pub fn bytes(&self) -> &[u64] {
        &self.bytes
    }

    fn add(&mut self, us: i64, bytes: u64) {
        let ms = u64::try_from(us / 1_000).unwrap_or(0);
        let mut slot = ms / self.slot_ms;
        while slot >= Self::SLOTS as u64 {
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.slot_ms *= 2;
            slot = ms / self.slot_ms;
        }
        let slot = usize::try_from(slot).unwrap_or(0);
        if self.bytes.len() <= slot {
            self.bytes.resize(slot + 1, 0);
        }
        if let Some(sum) = self.bytes.get_mut(slot) {
            *sum += bytes;
        }
    }
}

impl Default for Spark {
    fn default() -> Self {
        Self { slot_ms: 25, bytes: Vec::new() }
    }
}

impl Serialize for Spark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Spark", 2)?;
        object.serialize_field("slot_ms", &self.slot_ms)?;
        object.serialize_field("bytes", &self.bytes)?;
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_the_contract_has_them() {
        for (us, want) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1_767_323_045_678_901, "2026-01-02T03:04:05.678901Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (1_709_164_799_999_999, "2024-02-28T23:59:59.999999Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(iso(us), want);
        }
    }

    #[test]
    fn slots_merge_when_the_stream_outgrows_them() {
        let mut spark = Spark::default();
        spark.add(10_000, 3);
        spark.add(40_000, 4);
        assert_eq!((spark.slot_ms(), spark.bytes()), (25, &[3, 4][..]));
        spark.add(1_000_000, 5);
        assert_eq!(spark.slot_ms(), 50);
        assert_eq!(spark.bytes().len(), 21);
        assert_eq!((spark.bytes()[0], spark.bytes()[20]), (7, 5));
        spark.add(100_000_000, 1);
        assert!(spark.bytes().len() <= Spark::SLOTS);
        assert_eq!(spark.bytes().iter().sum::<u64>(), 13);
    }

    #[test]
    fn a_frame_is_dated_by_the_chunk_of_its_first_byte() {
        let mut clock = Clock::new(Some(1_000_000));
        clock.chunk(0, 5);
        clock.chunk(10, 7);
        clock.chunk(20, 9);
        for (offset, us) in [(0, 5), (9, 5), (10, 7), (25, 9)] {
            assert_eq!(
                clock.arrived(offset),
                Moment { us: Some(us), wall_us: Some(1_000_000 + us) }
            );
        }
        clock.forget_before(15);
        assert_eq!(clock.arrived(15).us, Some(7));
        assert_eq!(clock.chunks.len(), 2);
    }
}
