//! The captures.

mod change;
mod read;

#[cfg(test)]
mod faulty;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use faulty::{fail_in_the_recorder, faulty_format};

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use tokio::sync::broadcast;

use crate::checkpoint::Checkpointer;
use crate::database::{Database, write};
use crate::inner::Inner;
use crate::lock::ServeLock;
use crate::redact::Redactor;
use crate::retention::{Bounds, Retention};
use crate::stream::{Hub, lock};
use crate::writer::Writer;
use crate::{Change, Recorder, Recording, Redaction, StoreError, folder, recovery, workers};

/// A store in memory keeps at most so many bytes.
const IN_MEMORY: u64 = 256 << 20;

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Captures older than so many days are deleted; 0: never.
    pub retention_days: u32,
    /// Captures are deleted, oldest first, when all take more than so many bytes; 0: never.
    pub retention_bytes: u64,
    /// What is redacted beyond the built-in names.
    pub redact: Redaction,
    /// The URL of the dashboard that will serve this store, for the message of a second `serve`. May be
    /// empty; see [`Store::announce`].
    pub addresses: String,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            retention_days: 14,
            retention_bytes: 4 << 30,
            redact: Redaction::default(),
            addresses: String::new(),
        }
    }
}

/// The captures: recorded, listed, read, deleted. Cheap to clone; the last clone [shuts down](Store::shutdown).
#[derive(Clone)]
pub struct Store {
    handle: Arc<Handle>,
}

struct Handle {
    inner: Arc<Inner>,
    lock: Option<ServeLock>,
    bounds: Option<Bounds>,
    /// `None` where the store was opened for reading.
    running: Option<Running>,
}

struct Running {
    checkpointer: Arc<Checkpointer>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    writer: Option<JoinHandle<()>>,
    workers: Vec<JoinHandle<()>>,
    checkpointer: Option<JoinHandle<()>>,
}

impl Store {
    /// Opens the store in `dir` for a `serve`: takes the lock, brings the schema up to date, finishes
    /// captures that were open when teeline stopped, and starts the writer.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, is in use, was written by a newer teeline, or is damaged.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let StoreOptions { retention_days, retention_bytes, redact, addresses } = options;
        folder::make(dir)?;
        let lock = ServeLock::take(dir, &addresses)?;
        let bounds = Bounds { days: retention_days, bytes: retention_bytes };
        Self::start(Database::open(dir)?, &redact, Some(bounds), Some(lock))
    }

    /// A store that leaves nothing behind. It keeps 256 MiB at most.
    ///
    /// # Errors
    ///
    /// SQLite could not be started.
    pub fn in_memory(options: StoreOptions) -> Result<Self, StoreError> {
        let StoreOptions { retention_days, retention_bytes, redact, .. } = options;
        let bytes = match retention_bytes {
            0 => IN_MEMORY,
            bytes => bytes.min(IN_MEMORY),
        };
        let bounds = Bounds { days: retention_days, bytes };
        Self::start(Database::in_memory()?, &redact, Some(bounds), None)
    }

    /// Opens the store in `dir` to list, show and export, also while a `serve` runs.
    ///
    /// # Errors
    ///
    /// There is none, or it is of another version, or damaged.
    pub fn open_read_only(dir: &Path) -> Result<Self, StoreError> {
        let database = Arc::new(Database::open_read_only(dir)?);
        let hub = Arc::new(Hub::new(Redactor::new(&Redaction::default(), [0; 16])));
        hub.close();
        let inner = Arc::new(Inner::new(database, hub));
        Ok(Self { handle: Arc::new(Handle { inner, lock: None, bounds: None, running: None }) })
    }

    /// Opens the store in `dir` to import and delete beside a `serve` that may be running: no recovery,
    /// no retention.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], but never [`StoreError::InUse`].
    pub fn open_beside(dir: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let StoreOptions { redact, .. } = options;
        folder::make(dir)?;
        Self::start(Database::open(dir)?, &redact, None, None)
    }

    fn start(
        database: Database,
        redaction: &Redaction,
        bounds: Option<Bounds>,
        lock: Option<ServeLock>,
    ) -> Result<Self, StoreError> {
        let salt = write::salt(&*database.writer()?)?;
        let hub = Arc::new(Hub::new(Redactor::new(redaction, salt)));
        let inner = Arc::new(Inner::new(Arc::new(database), hub));
        let interrupted = if bounds.is_some() { recovery::recover(&inner)? } else { Vec::new() };
        let checkpointer = Arc::new(Checkpointer::default());
        let threads = Threads {
            checkpointer: checkpointer.start(&inner.database)?,
            workers: workers::start(&inner)?,
            writer: Some(start_writer(&inner, bounds.map(Retention::new), &checkpointer)?),
        };
        let running = Some(Running { checkpointer, threads: Mutex::new(threads) });
        let store = Self { handle: Arc::new(Handle { inner, lock, bounds, running }) };
        recovery::wait(store.inner(), &interrupted);
        Ok(store)
    }

    /// Says in the lock file where the dashboard is, once that is known.
    pub fn announce(&self, dashboard: &str) {
        if let Some(lock) = &self.handle.lock
            && let Err(error) = lock.announce(dashboard)
        {
            tracing::warn!(%error, path = %lock.path().display(), "the lock file could not be written");
        }
    }

    /// Begins captures. Of a store that was opened for reading, one that records nothing.
    pub fn recorder(&self) -> Recorder {
        let running = self.handle.running.is_some();
        Recorder::new(running.then(|| Arc::clone(&self.inner().hub)))
    }

    /// Changes from now on. A receiver that lags more than 1,024 behind loses the oldest.
    pub fn feed(&self) -> broadcast::Receiver<Change> {
        self.inner().feed.subscribe()
    }

    /// Whether exchanges that begin are recorded.
    pub fn recording(&self) -> Recording {
        self.inner().hub.recording()
    }

    /// Pauses recording (`false`) or lets it go on. Exchanges under way are recorded to their end.
    pub fn set_recording(&self, on: bool) -> Recording {
        self.inner().hub.pause(!on);
        let recording = self.recording();
        // Nobody may be listening.
        drop(self.inner().feed.send(Change::Recording(recording)));
        recording
    }

    /// How many writes have failed since the store was opened: the disk was full, the file was held. What
    /// was lost by it is said in the captures.
    pub fn write_failures(&self) -> u64 {
        self.inner().failures.load(Ordering::Relaxed)
    }

    /// Ends: what is queued is written and read, open captures end as `interrupted`, their taps do nothing
    /// any more. Blocks until that is done.
    pub fn shutdown(&self) {
        self.handle.shutdown();
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.handle.inner
    }
}

fn start_writer(
    inner: &Arc<Inner>,
    retention: Option<Retention>,
    checkpointer: &Arc<Checkpointer>,
) -> Result<JoinHandle<()>, StoreError> {
    let writer = Writer::new(Arc::clone(inner), retention, Arc::clone(checkpointer));
    std::thread::Builder::new()
        .name("teeline-writer".to_owned())
        .spawn(move || writer.run())
        .map_err(|source| StoreError::Thread { source })
}

impl Handle {
    fn shutdown(&self) {
        let Some(running) = &self.running else { return };
        let threads = std::mem::take(&mut *lock(&running.threads));
        self.inner.hub.close();
        self.inner.stopping.store(true, Ordering::Release);
        self.inner.hub.mark_urgent();
        // A thread that panicked has said so.
        drop(threads.writer.map(JoinHandle::join));
        self.inner.queue.close();
        for worker in threads.workers {
            drop(worker.join());
        }
        running.checkpointer.close();
        drop(threads.checkpointer.map(JoinHandle::join));
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shutdown();
    }
}
