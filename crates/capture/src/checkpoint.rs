//! Moving what was written from the write-ahead log into the file, on a thread and a connection of its
//! own: the writer never waits for the disk to sync. The same thread wipes what deletions leave.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::StoreError;
use crate::database::{Database, Upkeep, read, write};
use crate::stream::lock;

/// Bytes in the log after which it is moved.
const LOG_BYTES: usize = 4 << 20;

/// Pages in the log (256 MiB) after which writes wait until it is empty: readers must have kept it from
/// being reused.
const LOG_PAGES: i64 = 65_536;

/// The file is wiped so often at most for what went by its age or for room.
const WIPE_EVERY: Duration = Duration::from_hours(1);

/// How long the writer is held for readers to finish, and how often that is tried.
const HELD: Duration = Duration::from_millis(100);
const TRIES: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(50);

/// How long a checkpoint waits for readers while the writer goes on.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "wishes that do not depend on each other")]
struct Wanted {
    bytes: usize,
    /// Something was deleted: the log is to be emptied.
    clean: bool,
    /// The file is to be wiped now.
    wipe: bool,
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
        database: &Arc<Database>,
    ) -> Result<Option<JoinHandle<()>>, StoreError> {
        let Some(connection) = database.checkpointer()? else {
            return Ok(None);
        };
        {
            let mut wanted = lock(&self.wanted);
            wanted.running = true;
            // It stopped before it was done with a deletion.
            wanted.clean = database.read(read::is_unclean)?;
            wanted.wipe = wanted.clean;
        }
        let (this, database) = (Arc::clone(self), Arc::clone(database));
        let thread = std::thread::Builder::new()
            .name("teeline-checkpoint".to_owned())
            .spawn(move || this.run(&connection, &database));
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

    /// The log cannot grow: what is in it is moved into the file, so that it is begun anew and takes what is small.
    pub(crate) fn make_room(&self) {
        lock(&self.wanted).bytes = LOG_BYTES;
        self.condvar.notify_one();
    }

    /// Empties the log and (if `wipe`, else now and then) wipes the file, so that nothing that was deleted
    /// is left in them, and then tells those who wait.
    pub(crate) fn clean(&self, waiting: Vec<SyncSender<()>>, wipe: bool) {
        let mut wanted = lock(&self.wanted);
        if !wanted.running {
            for waiting in waiting {
                waiting.send(()).ok();
            }
            return;
        }
        wanted.clean = true;
        wanted.wipe |= wipe;
        wanted.waiting.extend(waiting);
        self.condvar.notify_one();
    }

    /// Empties the log a last time and ends the thread.
    pub(crate) fn close(&self) {
        let mut wanted = lock(&self.wanted);
        wanted.closed = true;
        wanted.clean = true;
        self.condvar.notify_one();
    }

    fn run(&self, connection: &Connection, database: &Database) {
        let Some(upkeep) = database.upkeep() else { return };
        let mut wiped: Option<Instant> = None;
        loop {
            let mut wanted = self.next();
            let outdated = wiped.is_none_or(|wiped| WIPE_EVERY <= wiped.elapsed());
            let wipe = wanted.wipe || (wanted.clean && !wanted.closed && outdated);
            let result = upkeep
                .lock
                .hold(|| checkpoint(connection, database, upkeep, wanted.clean, wipe))
                .unwrap_or_else(|source| Err(StoreError::Upkeep { source }));
            match result {
                Ok(()) if wipe => wiped = Some(Instant::now()),
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(%error, "the store's log could not be moved into its file");
                }
            }
            for waiting in wanted.waiting.drain(..) {
                // Nobody waits any longer if it cannot be sent.
                waiting.send(()).ok();
            }
            if wanted.closed {
                return;
            }
        }
    }

    /// What is wanted next, waited for.
    fn next(&self) -> Wanted {
        let mut wanted = lock(&self.wanted);
        while wanted.bytes < LOG_BYTES && !wanted.clean {
            wanted = self.condvar.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::replace(&mut *wanted, Wanted { running: true, ..Wanted::default() })
    }
}

fn checkpoint(
    connection: &Connection,
    database: &Database,
    upkeep: &Upkeep,
    clean: bool,
    wipe: bool,
) -> Result<(), StoreError> {
    // First without a lock: what is left to do under one is then little.
    let (_, pages) = run(connection, "PASSIVE")?;
    if clean || LOG_PAGES < pages {
        run(connection, "TRUNCATE")?;
    }
    if wipe && database.read(read::is_unclean)? {
        self::wipe(connection, database, upkeep)?;
    }
    Ok(())
}

/// See [`crate::scrub`] for why it takes these steps.
fn wipe(connection: &Connection, database: &Database, upkeep: &Upkeep) -> Result<(), StoreError> {
    let failed = |source| StoreError::Upkeep { source };
    upkeep.scrubber.wipe_all().map_err(failed)?;
    connection.busy_timeout(HELD)?;
    let mut done = false;
    for _ in 0..TRIES {
        {
            let writer = database.writer()?;
            writer.execute_batch("PRAGMA shrink_memory")?;
            let pages = upkeep.scrubber.logged_pages().map_err(failed)?;
            if let (false, _) = run(connection, "TRUNCATE")? {
                upkeep.scrubber.wipe_pages(&pages).map_err(failed)?;
                write::mark_clean(&writer)?;
                done = true;
            }
        }
        if done {
            break;
        }
        std::thread::sleep(BETWEEN);
    }
    connection.busy_timeout(PATIENCE)?;
    // If readers never let go, the mark stays, and it is tried again.
    Ok(())
}

/// Whether readers kept it from being done, and how many pages are in the log.
fn run(connection: &Connection, mode: &str) -> rusqlite::Result<(bool, i64)> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use rusqlite::params;

    use super::*;

    /// Numbers that look random and are the same each time.
    fn random(state: &mut u64, below: u32) -> u32 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(*state >> 33).unwrap() % below
    }

    /// Rows that come out of order, grow and go, so that SQLite moves them about.
    fn shuffle(connection: &Connection, state: &mut u64) {
        connection
            .execute_batch("CREATE TABLE shuffled (id INTEGER PRIMARY KEY, text TEXT)")
            .unwrap();
        let insert = "INSERT OR REPLACE INTO shuffled VALUES (?1, ?2)";
        for _ in 0..600 {
            let planted = random(state, 2) == 0;
            let repeat = usize::try_from(1 + random(state, 120)).unwrap();
            let text = if planted { "planted " } else { "staying " }.repeat(repeat);
            connection.execute(insert, params![random(state, 400), text]).unwrap();
        }
        connection.execute("DELETE FROM shuffled WHERE text LIKE 'planted%'", []).unwrap();
    }

    #[test]
    fn what_moving_rows_leaves_is_wiped() {
        let mut seen_before = 0;
        for mut state in 0..6 {
            let dir = tempfile::tempdir().unwrap();
            let database = Arc::new(Database::open(dir.path()).unwrap());
            let holds = |word: &str| {
                let file = std::fs::read(dir.path().join(crate::database::FILE)).unwrap();
                memchr::memmem::find(&file, word.as_bytes()).is_some()
            };
            shuffle(&database.writer().unwrap(), &mut state);
            run(&database.checkpointer().unwrap().unwrap(), "TRUNCATE").unwrap();
            seen_before += usize::from(holds("planted"));
            write::mark_unclean(&database.writer().unwrap()).unwrap();
            let count = "SELECT COUNT(*), SUM(LENGTH(text)) FROM shuffled";
            let rows = |database: &Database| {
                database
                    .read(|c| c.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?))))
                    .unwrap()
            };
            let before: (i64, i64) = rows(&database);
            let checkpointer = Arc::new(Checkpointer::default());
            let thread = checkpointer.start(&database).unwrap().unwrap();
            let (done, wiped) = sync_channel(1);
            checkpointer.clean(vec![done], true);
            wiped.recv().unwrap();
            assert!(!holds("planted") && holds("staying"), "round {state}");
            assert!(!database.read(read::is_unclean).unwrap());
            checkpointer.close();
            thread.join().unwrap();
            assert_eq!(rows(&database), before);
            let check: String = database
                .read(|c| c.query_row("PRAGMA integrity_check", [], |row| row.get(0)))
                .unwrap();
            assert_eq!(check, "ok");
        }
        assert!(0 < seen_before, "SQLite alone leaves something, or this proves nothing");
    }
}
