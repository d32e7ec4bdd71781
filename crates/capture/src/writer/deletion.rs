//! Deleting for good, in small steps between the writes of streams.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use rusqlite::TransactionBehavior;

use crate::checkpoint::Checkpointer;
use crate::database::{read, write};
use crate::inner::Inner;
use crate::stream::lock;
use crate::{CaptureId, StoreError, Timestamp};

/// How long a deleted capture can be brought back.
pub(super) const UNDO_US: i64 = 10_000_000;

/// Segments that are removed at a step: about a MiB.
const STEP: u32 = 16;

/// Pages that are given back at a step: 4 MiB.
const PAGES: u32 = 1024;

/// Captures that are being removed.
#[derive(Default)]
pub(crate) struct Deletion {
    jobs: VecDeque<(i64, CaptureId)>,
    /// Something was removed since the file was cleaned.
    dirty: bool,
    /// Who waits until nothing readable is left.
    waiting: Vec<SyncSender<()>>,
    /// There are captures that can still be brought back.
    pub(super) marked: bool,
    /// Somebody asked for what is being removed to be gone.
    by_hand: bool,
    /// Steps that failed in a row, and when the next may be taken.
    failures: u32,
    again: Option<Instant>,
}

/// A step that failed is tried again after this, so many times.
const RETRY: Duration = Duration::from_millis(500);
const RETRIES: u32 = 20;

impl Deletion {
    pub(super) fn new(marked: bool) -> Self {
        Self { marked, ..Self::default() }
    }

    /// Whether there is anything to do, now or later.
    pub(crate) fn has_work(&self) -> bool {
        !self.jobs.is_empty() || self.dirty || !self.waiting.is_empty()
    }

    /// When the next step may be taken; `None` if there is nothing to do.
    pub(super) fn next_step(&self, now: Instant) -> Option<Instant> {
        self.has_work().then(|| self.again.unwrap_or(now))
    }

    /// Removes a capture for good. What is in memory of it goes at once.
    pub(crate) fn add(&mut self, inner: &Inner, seq: i64, id: CaptureId) {
        if self.jobs.iter().any(|(known, _)| *known == seq) {
            return;
        }
        if let Some(live) = inner.live(id) {
            live.hide(true);
            lock(&live.session).finished = true;
            inner.remove_live(id);
        }
        inner.readings.remove(id);
        inner.followers.remove(id);
        self.jobs.push_back((seq, id));
    }

    /// What is being removed is to be gone without delay.
    pub(super) fn by_hand(&mut self) {
        self.by_hand = true;
    }

    /// Says when nothing readable is left of what was added.
    pub(super) fn notify(&mut self, done: SyncSender<()>) {
        self.waiting.push(done);
    }

    /// Whether a capture is being removed.
    pub(super) fn holds(&self, seq: i64) -> bool {
        self.jobs.iter().any(|(known, _)| *known == seq)
    }

    /// What was deleted longer ago than it can be brought back.
    pub(super) fn due(&mut self, inner: &Inner) -> Vec<(i64, CaptureId)> {
        if !self.marked {
            return Vec::new();
        }
        // Clocks are set right by a little all the time; more than that is a step.
        let now = Timestamp::now().as_micros();
        let (before, later) = (now - UNDO_US, now + UNDO_US);
        let (before, later) = (Timestamp::from_micros(before), Timestamp::from_micros(later));
        let due = inner
            .database
            .read(|c| Ok((read::deleted_before(c, before, later)?, read::has_deleted(c)?)));
        let Ok((mut due, marked)) = due else {
            return Vec::new();
        };
        self.marked = marked;
        due.retain(|(seq, _)| !self.holds(*seq));
        due
    }

    /// Takes one step, if it is time for one.
    pub(super) fn step(&mut self, inner: &Inner, checkpointer: &Checkpointer) {
        let now = Instant::now();
        if self.next_step(now).is_none_or(|next| now < next) {
            return;
        }
        let result = if let Some((seq, _)) = self.jobs.front() {
            remove(inner, *seq).map(|gone| {
                self.dirty = true;
                if gone {
                    self.jobs.pop_front();
                }
            })
        } else if self.dirty {
            clean(inner).map(|cleaned| self.dirty = !cleaned)
        } else if !self.waiting.is_empty() {
            checkpointer.clean(std::mem::take(&mut self.waiting), true);
            Ok(())
        } else {
            Ok(())
        };
        if self.jobs.is_empty() && !self.dirty && self.waiting.is_empty() {
            checkpointer.clean(Vec::new(), std::mem::take(&mut self.by_hand));
        }
        match result {
            Ok(()) => (self.failures, self.again) = (0, None),
            Err(error) => self.failed(&error, now),
        }
    }

    fn failed(&mut self, error: &StoreError, now: Instant) {
        tracing::warn!(%error, "deleting captures failed");
        self.failures += 1;
        self.again = Some(now + RETRY);
        if RETRIES < self.failures {
            // They stay marked as deleted, and are looked for again.
            *self = Self::new(true);
        }
    }
}

/// True once nothing of the capture is left in the tables.
fn remove(inner: &Inner, seq: i64) -> Result<bool, StoreError> {
    let mut connection = inner.database.writer()?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let more = write::purge_segments(&transaction, seq, STEP)?;
    if !more {
        write::purge_rows(&transaction, seq)?;
        write::mark_unclean(&transaction)?;
    }
    transaction.commit()?;
    Ok(!more)
}

/// Gives free pages back, if they are many. True once that is done.
fn clean(inner: &Inner) -> Result<bool, StoreError> {
    let connection = inner.database.writer()?;
    let (free, all) = read::free_pages(&connection)?;
    if free <= u64::from(PAGES / 4).max((all - free) / 8) {
        return Ok(true);
    }
    write::give_back(&connection, PAGES)?;
    Ok(false)
}
