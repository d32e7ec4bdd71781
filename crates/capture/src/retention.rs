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
}

impl Retention {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, aged: None }
    }

    /// The captures that have to go now, oldest first.
    pub(crate) fn outdated(&mut self, inner: &Inner) -> Vec<(i64, CaptureId)> {
        let Bounds { days, bytes } = self.bounds;
        let outdated = inner.database.read(|connection| {
            let mut outdated = Vec::new();
            if 0 < days && self.aged.is_none_or(|aged| AGE_EVERY <= aged.elapsed()) {
                let before = Timestamp::now().as_micros() - i64::from(days) * 86_400_000_000;
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
