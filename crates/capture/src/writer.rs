//! The one thread that writes.
//!
//! It takes what waits in the streams, at most ten times a second or when a segment is full, and stores
//! all of it in one transaction. A write that fails costs the bytes in it, which are counted and named in
//! their captures; heads, endings and readings are tried again.

mod commands;
mod deletion;
mod entry;

pub(crate) use commands::{Command, ImportRow};

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rusqlite::{ErrorCode, TransactionBehavior};

use self::deletion::Deletion;
use self::entry::Entry;
use crate::checkpoint::Checkpointer;
use crate::database::{IndexRow, write};
use crate::inner::{FinalRow, Inner};
use crate::retention::Retention;
use crate::stream::lock;
use crate::workers::guarded;
use crate::{State, StoreError, Summary};

/// What waits is written after this at the latest.
const COMMIT_EVERY: Duration = Duration::from_millis(100);

/// Deleted and outdated captures are looked for so often.
const HOUSEKEEPING: Duration = Duration::from_secs(1);

/// The same while nothing happens.
const IDLE_HOUSEKEEPING: Duration = Duration::from_mins(1);

/// Text that is made searchable in one transaction, in bytes: an index takes its time, and streams wait.
const SEARCH_BYTES: usize = 256 << 10;

/// About what changing a capture's rows adds to the log: a few pages.
pub(crate) const ROW_BYTES: usize = 16 << 10;

/// About what a byte of searchable text takes in its index.
const INDEX_FACTOR: usize = 5;

/// Why bytes are lost that a fault of ours cost.
const FAULT: &str = "a fault in the recorder";

/// When it stops, a disk that takes nothing is waited for so long.
const LAST_TRIES: Duration = Duration::from_secs(5);

pub(crate) struct Writer {
    inner: Arc<Inner>,
    entries: Vec<Entry>,
    open_rows: HashMap<i64, (Arc<Summary>, IndexRow)>,
    finals: VecDeque<FinalRow>,
    committed: Option<Instant>,
    kept_house: Instant,
    deletion: Deletion,
    retention: Option<Retention>,
    checkpointer: Arc<Checkpointer>,
    /// Something was written since the house was kept.
    wrote_since: bool,
    /// The fault that writes end in, said once.
    fault: Option<String>,
    stopping: Option<Instant>,
}

/// What to do about a write that failed.
enum Remedy {
    /// Another process holds the file: keep everything and try again.
    Wait,
    /// Give up the bytes, for this reason.
    Lose(String),
}

impl Writer {
    pub(crate) fn new(
        inner: Arc<Inner>,
        retention: Option<Retention>,
        checkpointer: Arc<Checkpointer>,
    ) -> Self {
        // What was deleted before the last end is looked for, where that is this process's to do.
        let deletion = Deletion::new(retention.is_some());
        Self {
            inner,
            entries: Vec::new(),
            open_rows: HashMap::new(),
            finals: VecDeque::new(),
            committed: None,
            kept_house: Instant::now(),
            deletion,
            retention,
            checkpointer,
            wrote_since: true,
            fault: None,
            stopping: None,
        }
    }

    /// Writes until the store is shut down and everything is written.
    pub(crate) fn run(mut self) {
        self.inner.hub.attach_writer();
        loop {
            self.wait();
            if let Err(panic) = guarded(|| self.pass()) {
                self.recover(&panic);
            }
            if self.inner.stopping.load(Ordering::Acquire) && self.stop() {
                // Who asks now is told that nobody answers.
                lock(&self.inner.commands).clear();
                return;
            }
        }
    }

    /// A fault of ours costs what was at hand, and the next captures are written.
    fn recover(&mut self, panic: &str) {
        tracing::error!(panic, "a fault in the recorder");
        self.entries.iter_mut().for_each(|entry| entry.lose(FAULT));
        self.open_rows.clear();
        if let Some(row) = self.finals.pop_front() {
            // Nobody will end it: the next start does.
            self.inner.remove_live(row.live.id);
        }
    }

    /// Takes what waits in each stream. A fault of ours with one is that one's.
    fn take(&mut self) {
        for entry in &mut self.entries {
            if let Err(panic) = guarded(|| entry.take()) {
                tracing::error!(panic, "a fault in the recording of an exchange");
                entry.fail();
            }
        }
    }

    /// Sleeps until something is to be done.
    fn wait(&self) {
        loop {
            let hub = &self.inner.hub;
            let now = Instant::now();
            if hub.is_urgent() {
                return;
            }
            let pause = self.committed.map_or(now, |committed| committed + COMMIT_EVERY);
            let next = self.next_look(now);
            let until = if hub.is_dirty() { pause.min(next) } else { next };
            if until <= now {
                return;
            }
            std::thread::park_timeout(until - now);
        }
    }

    /// When to look again though nobody has said that there is anything.
    fn next_look(&self, now: Instant) -> Instant {
        let ended = self.entries.iter().filter_map(Entry::due).min();
        let again = (self.fault.is_some() || self.has_rows()).then(|| now + COMMIT_EVERY);
        let house = self.kept_house + self.house_every();
        let deletion = self.deletion.next_step(now);
        [ended, again, deletion].into_iter().flatten().fold(house, Instant::min)
    }

    fn has_rows(&self) -> bool {
        !self.finals.is_empty() || !self.open_rows.is_empty()
    }

    fn pass(&mut self) {
        self.inner.hub.clear_marks();
        let arrivals = self.inner.hub.take_arrivals();
        self.entries
            .extend(arrivals.into_iter().map(|(stream, record)| Entry::new(stream, record)));
        self.take();
        let updates = self.inner.take_updates();
        self.open_rows.extend(updates.open);
        self.finals.extend(updates.finals);
        self.commit();
        self.hand_over();
        self.run_commands();
        self.keep_house();
    }

    fn commit(&mut self) {
        let nothing = !self.has_rows() && !self.entries.iter().any(Entry::has_rows);
        if nothing {
            return;
        }
        self.committed = Some(Instant::now());
        let mut result = self.write(true);
        if let Err(error) = &result {
            match self.remedy(error) {
                Remedy::Wait => {
                    self.inner.hub.mark_dirty();
                    return;
                }
                Remedy::Lose(reason) => {
                    self.checkpointer.make_room();
                    self.entries.iter_mut().for_each(|entry| entry.lose(&reason));
                    // What is left is small: it may fit where the bytes did not.
                    result = self.write(false);
                }
            }
        }
        match result {
            Ok(finals) => self.wrote(finals),
            Err(error) => {
                drop(self.remedy(&error));
                self.show_unwritten();
            }
        }
    }

    /// The disk takes nothing: what is over is read and shown all the same, and stays to be written.
    fn show_unwritten(&self) {
        self.entries.iter().for_each(|entry| entry.show_unwritten(&self.inner));
        for row in &self.finals {
            if row.live.summary().state == State::Open {
                self.inner.keep_final(row);
                self.inner.tell(&row.live, Arc::clone(&row.summary));
            }
        }
    }

    /// One transaction; gives how many final readings are in it.
    fn write(&mut self, with_search: bool) -> Result<usize, StoreError> {
        let mut connection = self.inner.database.writer()?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for entry in &mut self.entries {
            entry.write(&transaction)?;
        }
        for (seq, (summary, index)) in &self.open_rows {
            write::update_summary(&transaction, *seq, summary, index)?;
        }
        let (mut finals, mut text) = (0, 0);
        for row in &self.finals {
            if SEARCH_BYTES < text || (!with_search && 0 < finals) {
                break;
            }
            // A capture that was deleted for good meanwhile stays away.
            if write::update_summary(&transaction, row.live.seq, &row.summary, &row.index)? {
                write::insert_search(&transaction, row.live.seq, &row.summary, &row.search)?;
            }
            finals += 1;
            text += row.search.bytes();
        }
        transaction.commit()?;
        Ok(finals)
    }

    fn wrote(&mut self, finals: usize) {
        if self.fault.take().is_some() {
            tracing::info!("captures are written again");
        }
        let mut bytes = self.open_rows.len() * ROW_BYTES;
        for entry in &mut self.entries {
            bytes += entry.wrote(&self.inner);
        }
        let text: usize = self.finals.iter().take(finals).map(|row| row.search.bytes()).sum();
        bytes += finals * ROW_BYTES + text * INDEX_FACTOR;
        self.checkpointer.wrote(bytes);
        self.wrote_since = true;
        self.open_rows.clear();
        for row in self.finals.drain(..finals) {
            self.inner.keep_final(&row);
            self.inner.remove_live(row.live.id);
            row.live.show(row.reading);
            self.inner.tell(&row.live, row.summary);
        }
        if !self.finals.is_empty() {
            self.inner.hub.mark_dirty();
        }
    }

    /// Streams that have ended go to the workers.
    fn hand_over(&mut self) {
        let inner = &self.inner;
        self.entries.retain_mut(|entry| !entry.hand_over(inner));
        let refused = inner.hub.take_refused();
        if 0 < refused {
            tracing::error!(refused, "exchanges were not recorded: the store takes nothing");
        }
    }

    fn remedy(&mut self, error: &StoreError) -> Remedy {
        self.inner.failures.fetch_add(1, Ordering::Relaxed);
        let code = match error {
            StoreError::Database(fault) => fault.sqlite_error_code(),
            _ => None,
        };
        let reason = match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                self.say("another program holds the store's file");
                return Remedy::Wait;
            }
            Some(ErrorCode::DiskFull) => "the disk was full".to_owned(),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                "the store's file is damaged".to_owned()
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                "the store's file could not be written".to_owned()
            }
            _ => format!("the store failed: {error}"),
        };
        self.say(&reason);
        Remedy::Lose(reason)
    }

    /// Logs a fault once, until writing works again.
    fn say(&mut self, reason: &str) {
        if self.fault.as_deref() != Some(reason) {
            tracing::error!(
                reason,
                "captures cannot be written; the apps' streams are not touched"
            );
            self.fault = Some(reason.to_owned());
        }
    }

    fn keep_house(&mut self) {
        if self.house_every() <= self.kept_house.elapsed() {
            self.kept_house = Instant::now();
            self.wrote_since = false;
            let mut old = self.deletion.due(&self.inner);
            if !old.is_empty() {
                self.deletion.by_hand();
            }
            if let Some(retention) = self.retention.as_mut().filter(|_| !self.deletion.has_work()) {
                old.extend(retention.outdated(&self.inner));
            }
            for (seq, id) in old {
                self.discard(seq, id);
            }
        }
        self.deletion.step(&self.inner, &self.checkpointer);
    }

    fn house_every(&self) -> Duration {
        let busy = self.wrote_since || self.deletion.marked;
        if busy { HOUSEKEEPING } else { IDLE_HOUSEKEEPING }
    }

    /// True once everything is written, or the disk takes nothing.
    fn stop(&mut self) -> bool {
        let since = *self.stopping.get_or_insert_with(Instant::now);
        self.entries.iter().for_each(Entry::interrupt);
        let idle = self.entries.is_empty() && !self.has_rows() && !self.inner.has_live();
        let idle = idle && !self.deletion.has_work();
        let given_up = self.fault.is_some() && LAST_TRIES <= since.elapsed();
        if given_up {
            tracing::error!("captures could not be written before the end");
        }
        if !idle && !given_up {
            self.inner.hub.mark_dirty();
        }
        idle || given_up
    }
}
