//! What the store, the writer and the workers share.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use teeline_assembler::Reading;
use tokio::sync::broadcast;

use crate::cache::Cache;
use crate::database::{Database, IndexRow, SearchText};
use crate::frames::Follower;
use crate::live::Live;
use crate::queue::Queue;
use crate::retries::Retries;
use crate::stream::{Hub, lock};
use crate::writer::Command;
use crate::{CaptureId, Change, Summary};

/// Changes that a slow listener may be behind.
const FEED: usize = 1024;

/// Bytes of readings that are kept, and as much again of frames.
const CACHED: usize = 32 << 20;

/// Final readings that may wait for the writer. Workers wait for room: they read from the store and lose nothing.
const FINALS: usize = 64;

/// A capture whose reading is final, to be written.
pub(crate) struct FinalRow {
    pub(crate) live: Arc<Live>,
    pub(crate) summary: Arc<Summary>,
    pub(crate) index: IndexRow,
    pub(crate) search: SearchText,
    pub(crate) reading: Arc<Reading>,
}

/// What workers have for the writer.
#[derive(Default)]
pub(crate) struct Updates {
    /// The newest summary of open captures, by number.
    pub(crate) open: HashMap<i64, (Arc<Summary>, IndexRow)>,
    pub(crate) finals: VecDeque<FinalRow>,
}

pub(crate) struct Inner {
    pub(crate) database: Arc<Database>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) feed: broadcast::Sender<Change>,
    pub(crate) readings: Cache<Arc<Reading>>,
    pub(crate) followers: Cache<Arc<Mutex<Follower>>>,
    pub(crate) queue: Queue,
    pub(crate) commands: Mutex<Vec<Command>>,
    pub(crate) stopping: AtomicBool,
    pub(crate) retries: Mutex<Retries>,
    /// Writes that failed.
    pub(crate) failures: AtomicU64,
    open: Mutex<HashMap<CaptureId, Arc<Live>>>,
    settled: Condvar,
    updates: Mutex<Updates>,
    room: Condvar,
}

impl Inner {
    pub(crate) fn new(database: Arc<Database>, hub: Arc<Hub>) -> Self {
        Self {
            database,
            hub,
            feed: broadcast::channel(FEED).0,
            readings: Cache::new(CACHED),
            followers: Cache::new(CACHED),
            queue: Queue::default(),
            commands: Mutex::default(),
            stopping: AtomicBool::new(false),
            retries: Mutex::default(),
            failures: AtomicU64::new(0),
            open: Mutex::default(),
            settled: Condvar::new(),
            updates: Mutex::default(),
            room: Condvar::new(),
        }
    }

    /// The capture, if its reading is not final yet.
    pub(crate) fn live(&self, id: CaptureId) -> Option<Arc<Live>> {
        lock(&self.open).get(&id).map(Arc::clone)
    }

    pub(crate) fn add_live(&self, live: &Arc<Live>) {
        lock(&self.open).insert(live.id, Arc::clone(live));
    }

    pub(crate) fn remove_live(&self, id: CaptureId) {
        lock(&self.open).remove(&id);
        self.settled.notify_all();
    }

    pub(crate) fn has_live(&self) -> bool {
        !lock(&self.open).is_empty()
    }

    /// Waits until none of these captures is open, or the time is over. True if none is.
    pub(crate) fn wait_settled(&self, ids: &[CaptureId], most: Duration) -> bool {
        let end = Instant::now() + most;
        let mut open = lock(&self.open);
        while ids.iter().any(|id| open.contains_key(id)) {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return false;
            };
            let woken = self.settled.wait_timeout(open, left);
            open = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Tells those who listen, unless the capture is deleted.
    pub(crate) fn tell(&self, live: &Live, summary: Arc<Summary>) {
        if !live.is_hidden() {
            drop(self.feed.send(Change::Capture(summary)));
        }
    }

    /// The newest summary of an open capture is to be written.
    pub(crate) fn save_open(&self, seq: i64, summary: Arc<Summary>, index: IndexRow) {
        lock(&self.updates).open.insert(seq, (summary, index));
        self.hub.mark_dirty();
    }

    /// A final reading is to be written. Waits for room.
    pub(crate) fn save_final(&self, row: FinalRow) {
        let mut updates = lock(&self.updates);
        while FINALS <= updates.finals.len() {
            updates = self.room.wait(updates).unwrap_or_else(PoisonError::into_inner);
        }
        updates.open.remove(&row.live.seq);
        updates.finals.push_back(row);
        drop(updates);
        self.hub.mark_urgent();
    }

    /// From now on this is what is shown of the capture.
    pub(crate) fn keep_final(&self, row: &FinalRow) {
        let weight = crate::cache::weight(&row.reading);
        self.readings.put(row.live.id, Arc::clone(&row.reading), weight);
        row.live.set_summary(Arc::clone(&row.summary));
    }

    pub(crate) fn take_updates(&self) -> Updates {
        let updates = std::mem::take(&mut *lock(&self.updates));
        self.room.notify_all();
        updates
    }
}
