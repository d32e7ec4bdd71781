//! What is kept, and for how long.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::database::read;
use crate::inner::Inner;
use crate::{CaptureId, Timestamp};

/// Captures that are looked at in one go.
const AT_ONCE: usize = 64;

/// Days pass slowly.
const AGE_EVERY: Duration = Duration::from_mins(10);

/// A wall clock that is ahead of the time that passed by more than this was put forward.
const STEP_US: u64 = 60_000_000;

/// A clock that was put forward is believed after this: most that are wrong are set right by then, and
/// what was deleted for them would be gone.
const BELIEVED_AFTER: Duration = Duration::from_hours(24);

/// How much a store holds, and how much it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StoreSize {
    /// Captures that are not deleted.
    pub captures: u64,
    /// Bytes that the store takes: bodies, index and search, also what was deleted in the last 10 s.
    pub bytes: u64,
    /// Above so many bytes captures are deleted, oldest first; `None`: never.
    pub limit_bytes: Option<u64>,
    /// Captures older than so many days are deleted; `None`: never.
    pub keep_days: Option<u32>,
    /// When the oldest capture began.
    pub oldest: Option<Timestamp>,
}

/// The bounds of a store; 0: none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bounds {
    pub(crate) days: u32,
    pub(crate) bytes: u64,
}

/// Keeps a store within its bounds. Open captures are never deleted for them.
pub(crate) struct Retention {
    bounds: Bounds,
    aged: Option<Instant>,
    calendar: Calendar,
}

/// The date, by which captures age. It follows the wall clock, but does not leap ahead with it at once.
/// (Where the machine slept, no time passed here: then captures stay up to a day longer.)
struct Calendar {
    /// The wall clock when it was last believed, and when that was.
    wall: Timestamp,
    at: Instant,
    doubted: Option<Instant>,
}

impl Calendar {
    fn new(wall: Timestamp, at: Instant) -> Self {
        Self { wall, at, doubted: None }
    }

    /// The date, where the wall clock says `wall` at `at`.
    fn date(&mut self, wall: Timestamp, at: Instant) -> Timestamp {
        let passed = at.saturating_duration_since(self.at).as_micros();
        let expected = self.wall.plus_micros(u64::try_from(passed).unwrap_or(u64::MAX));
        if expected.plus_micros(STEP_US) < wall {
            let doubted = *self.doubted.get_or_insert(at);
            if at.saturating_duration_since(doubted) < BELIEVED_AFTER {
                return expected;
            }
        }
        *self = Self::new(wall, at);
        wall
    }
}

impl Retention {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let calendar = Calendar::new(Timestamp::now(), Instant::now());
        Self { bounds, aged: None, calendar }
    }

    /// The captures that have to go now, oldest first.
    pub(crate) fn outdated(&mut self, inner: &Inner) -> Vec<(i64, CaptureId)> {
        let Bounds { days, bytes } = self.bounds;
        let date = self.calendar.date(Timestamp::now(), Instant::now());
        let outdated = inner.database.read(|connection| {
            let mut outdated = Vec::new();
            if 0 < days && self.aged.is_none_or(|aged| AGE_EVERY <= aged.elapsed()) {
                let before = date.as_micros() - i64::from(days) * 86_400_000_000;
                let before = Timestamp::from_micros(before);
                outdated.extend(read::oldest_ended(connection, before, AT_ONCE)?);
                if outdated.len() < AT_ONCE {
                    self.aged = Some(Instant::now());
                }
            }
            let used = read::used_bytes(connection)?;
            if 0 < bytes && bytes < used {
                let mut excess = used - bytes;
                let ever = Timestamp::from_micros(i64::MAX);
                for row in read::oldest_ended(connection, ever, AT_ONCE)? {
                    excess = excess.saturating_sub(row.2);
                    outdated.push(row);
                    if excess == 0 {
                        break;
                    }
                }
            }
            Ok(outdated)
        });
        match outdated {
            Ok(rows) => rows.into_iter().map(|(seq, id, _)| (seq, id)).collect(),
            Err(error) => {
                tracing::warn!(%error, "the age and size of the captures could not be looked at");
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_put_forward_is_believed_after_a_day_and_one_put_back_at_once() {
        const HOUR: i64 = 3600;
        let begun = Instant::now();
        // Seconds that passed, what the wall clock says, and the date by which captures age.
        for steps in [
            &[(10, 10, 10), (7200, 7230, 7230)][..],
            // A year ahead, and right again after an hour: nothing ages by it.
            &[(10, 10, 10), (20, 8766 * HOUR, 20), (3600, 8767 * HOUR, 3600), (3700, 3700, 3700)],
            // It stays ahead.
            &[
                (20, 8766 * HOUR, 20),
                (24 * HOUR, 8790 * HOUR, 24 * HOUR),
                (25 * HOUR, 8791 * HOUR, 8791 * HOUR),
            ],
            &[(20, -HOUR, -HOUR), (30, 10 - HOUR, 10 - HOUR)],
        ] {
            let mut calendar = Calendar::new(Timestamp::from_micros(0), begun);
            for (passed, wall, date) in steps {
                let at = begun + Duration::from_secs(u64::try_from(*passed).unwrap());
                let wall = Timestamp::from_micros(wall * 1_000_000);
                let found = calendar.date(wall, at);
                assert_eq!(found.as_micros(), date * 1_000_000, "{steps:?} at {passed}");
            }
        }
    }
}
