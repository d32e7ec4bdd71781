//! What is kept, and for how long.

use std::time::{Duration, Instant};

use crate::database::read;
use crate::inner::Inner;
use crate::{CaptureId, Timestamp};

/// Captures that are looked at in one go.
const AT_ONCE: usize = 64;

/// Days pass slowly.
const AGE_EVERY: Duration = Duration::from_mins(10);

/// The bounds of the store. Open captures are never deleted for them.
pub(crate) struct Retention {
    days: u32,
    bytes: u64,
    aged: Option<Instant>,
}

impl Retention {
    pub(crate) fn new(days: u32, bytes: u64) -> Self {
        Self { days, bytes, aged: None }
    }

    /// The captures that have to go now, oldest first.
    pub(crate) fn outdated(&mut self, inner: &Inner) -> Vec<(i64, CaptureId)> {
        let outdated = inner.database.read(|connection| {
            let mut outdated = Vec::new();
            if 0 < self.days && self.aged.is_none_or(|aged| AGE_EVERY <= aged.elapsed()) {
                let before = Timestamp::now().as_micros() - i64::from(self.days) * 86_400_000_000;
                let before = Timestamp::from_micros(before);
                outdated.extend(read::oldest_ended(connection, before, AT_ONCE)?);
                if outdated.len() < AT_ONCE {
                    self.aged = Some(Instant::now());
                }
            }
            let used = read::used_bytes(connection)?;
            if 0 < self.bytes && self.bytes < used {
                let mut excess = used - self.bytes;
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
