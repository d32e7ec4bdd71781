//! Moving what was written from the write-ahead log into the file, on a thread and a connection of its
//! own: the writer never waits for the disk to sync.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::StoreError;
use crate::database::Database;
use crate::stream::lock;

/// Bytes in the log after which it is moved.
const LOG_BYTES: usize = 4 << 20;

/// Pages in the log (256 MiB) after which writes wait until it is empty: readers must have kept it from
/// being reused.
const LOG_PAGES: i64 = 65_536;

#[derive(Default)]
struct Wanted {
    bytes: usize,
    truncate: bool,
    waiting: Vec<SyncSender<()>>,
    closed: bool,
    /// There is a log: not for a store in memory.
    running: bool,
}

/// What the writer says to the thread.
#[derive(Default)]
pub(crate) struct Checkpointer {
    wanted: Mutex<Wanted>,
    condvar: Condvar,
}

impl Checkpointer {
    /// Starts the thread; none for a store in memory.
    pub(crate) fn start(
        self: &Arc<Self>,
        database: &Database,
    ) -> Result<Option<JoinHandle<()>>, StoreError> {
        let Some(connection) = database.checkpointer()? else {
            return Ok(None);
        };
        lock(&self.wanted).running = true;
        let this = Arc::clone(self);
        let thread = std::thread::Builder::new()
            .name("teeline-checkpoint".to_owned())
            .spawn(move || this.run(&connection));
        thread.map(Some).map_err(|source| StoreError::Thread { source })
    }

    /// So many bytes went into the log.
    pub(crate) fn wrote(&self, bytes: usize) {
        let mut wanted = lock(&self.wanted);
        wanted.bytes += bytes;
        if LOG_BYTES <= wanted.bytes {
            self.condvar.notify_one();
        }
    }

    /// Empties the log, so that nothing that was deleted is left in it, and then tells those who wait.
    pub(crate) fn truncate(&self, waiting: Vec<SyncSender<()>>) {
        let mut wanted = lock(&self.wanted);
        if !wanted.running {
            for waiting in waiting {
                waiting.send(()).ok();
            }
            return;
        }
        wanted.truncate = true;
        wanted.waiting.extend(waiting);
        self.condvar.notify_one();
    }

    /// Empties the log a last time and ends the thread.
    pub(crate) fn close(&self) {
        let mut wanted = lock(&self.wanted);
        wanted.closed = true;
        wanted.truncate = true;
        self.condvar.notify_one();
    }

    fn run(&self, connection: &Connection) {
        loop {
            let (truncate, waiting, closed) = self.next();
            let result = checkpoint(connection, truncate);
            if let Err(error) = &result {
                tracing::warn!(%error, "the store's log could not be moved into its file; trying again");
            }
            for waiting in waiting {
                // Nobody waits any longer if it cannot be sent.
                waiting.send(()).ok();
            }
            if closed {
                return;
            }
        }
    }

    fn next(&self) -> (bool, Vec<SyncSender<()>>, bool) {
        let mut wanted = lock(&self.wanted);
        while wanted.bytes < LOG_BYTES && !wanted.truncate {
            wanted = self.condvar.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
        wanted.bytes = 0;
        let truncate = std::mem::take(&mut wanted.truncate);
        (truncate, std::mem::take(&mut wanted.waiting), wanted.closed)
    }
}

fn checkpoint(connection: &Connection, truncate: bool) -> rusqlite::Result<()> {
    // First without a lock: what is left to do under one is then little.
    let pages = run(connection, "PASSIVE")?;
    if truncate || LOG_PAGES < pages {
        run(connection, "TRUNCATE")?;
    }
    Ok(())
}

/// Gives the pages in the log.
fn run(connection: &Connection, mode: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(1))
}
