//! Captures that are open, and what changes for those who watch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use teeline_assembler::Reading;
use tokio::sync::watch;

use crate::record::Record;
use crate::session::Session;
use crate::stream::lock;
use crate::{CaptureId, Summary, Timestamp};

/// A change of the store.
#[derive(Clone, Debug)]
pub enum Change {
    /// A capture began, changed (at most ten times a second), ended, or was brought back.
    Capture(Arc<Summary>),
    /// A capture was deleted.
    Deleted(CaptureId),
    /// Recording was paused, or goes on.
    Recording(Recording),
}

/// Whether exchanges that begin are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Recording {
    /// They are.
    pub on: bool,
    /// How many passed unrecorded since the store was opened.
    pub passed: u64,
}

/// The reading of an open capture as it grows.
#[derive(Debug)]
pub struct LiveReading {
    receiver: watch::Receiver<Option<Arc<Reading>>>,
}

impl LiveReading {
    /// The newest reading that was not given yet, waited for; at most ten a second. `None` after the
    /// final one, or when the capture was deleted. Cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Reading>> {
        loop {
            self.receiver.changed().await.ok()?;
            let newest = self.receiver.borrow_and_update().clone();
            if newest.is_some() {
                return newest;
            }
        }
    }
}

/// How far the writer is with a capture.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) record: Arc<Record>,
    /// Bytes of the body that came.
    pub(crate) bytes: u64,
    pub(crate) bytes_to_app: u64,
    /// Nothing more will be stored: the record is final.
    pub(crate) finished: bool,
}

/// A capture whose reading is not final yet.
pub(crate) struct Live {
    pub(crate) id: CaptureId,
    pub(crate) seq: i64,
    pub(crate) started_at: Timestamp,
    progress: Mutex<Progress>,
    pub(crate) session: Mutex<Session>,
    summary: Mutex<Arc<Summary>>,
    readings: watch::Sender<Option<Arc<Reading>>>,
    /// It waits for a worker.
    queued: AtomicBool,
    /// It was deleted, perhaps not for good.
    hidden: AtomicBool,
    /// Somebody has begun to watch.
    wanted: AtomicBool,
}

impl Live {
    pub(crate) fn new(
        id: CaptureId,
        seq: i64,
        started_at: Timestamp,
        progress: Progress,
        summary: Summary,
    ) -> Self {
        Self {
            id,
            seq,
            started_at,
            progress: Mutex::new(progress),
            session: Mutex::default(),
            summary: Mutex::new(Arc::new(summary)),
            readings: watch::channel(None).0,
            queued: AtomicBool::new(false),
            hidden: AtomicBool::new(false),
            wanted: AtomicBool::new(false),
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        lock(&self.progress).clone()
    }

    pub(crate) fn set_progress(&self, progress: Progress) {
        *lock(&self.progress) = progress;
    }

    pub(crate) fn summary(&self) -> Arc<Summary> {
        Arc::clone(&lock(&self.summary))
    }

    pub(crate) fn set_summary(&self, summary: Arc<Summary>) {
        *lock(&self.summary) = summary;
    }

    /// Whether somebody watches the reading.
    pub(crate) fn is_watched(&self) -> bool {
        0 < self.readings.receiver_count()
    }

    pub(crate) fn watch(&self) -> LiveReading {
        LiveReading { receiver: self.readings.subscribe() }
    }

    pub(crate) fn show(&self, reading: Arc<Reading>) {
        self.readings.send_replace(Some(reading));
    }

    /// True if it was not waiting yet.
    pub(crate) fn enqueue(&self) -> bool {
        !self.queued.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn dequeue(&self) {
        self.queued.store(false, Ordering::Release);
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden.load(Ordering::Acquire)
    }

    pub(crate) fn hide(&self, hidden: bool) {
        self.hidden.store(hidden, Ordering::Release);
    }

    /// Somebody has begun to watch, and has not seen anything yet.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }

    pub(crate) fn want(&self, wanted: bool) {
        self.wanted.store(wanted, Ordering::Release);
    }
}
