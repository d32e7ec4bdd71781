//! The SQLite file: opening, versions, and the connections.
//!
//! Writes go through one connection. Reads of a file have their own connections, which never wait for
//! the writer (WAL). A store in memory has the one connection for both.

pub(crate) mod read;
mod schema;
pub(crate) mod write;

pub(crate) use read::Detail;
pub(crate) use write::{IndexRow, NewSegment, Part, SearchText};

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::StoreError;
use crate::scrub::{MaintenanceLock, Scrubber};

/// The file's name in the data folder.
pub(crate) const FILE: &str = "teeline.db";

/// How long a reader waits for another process's lock.
const READER_WAIT: Duration = Duration::from_secs(5);

/// How long the writer waits for another process's lock (`import` and `delete` beside a running `serve`)
/// before it tries again later.
const WRITER_WAIT: Duration = Duration::from_millis(500);

/// Pages that a reader keeps, as SQLite counts: KiB, negative. The system has them all; what is kept here is kept for
/// each reader.
const READER_CACHE: i64 = -512;

/// Idle connections that are kept.
const IDLE: usize = 4;

/// What the checkpoints and the wiping of the file need.
pub(crate) struct Upkeep {
    pub(crate) lock: MaintenanceLock,
    pub(crate) scrubber: Scrubber,
}

/// The store's connections.
pub(crate) struct Database {
    /// `None` where the store was opened for reading.
    writer: Option<Arc<Mutex<Connection>>>,
    /// `None` for a store in memory.
    path: Option<PathBuf>,
    /// `None` in memory and where the store was opened for reading.
    upkeep: Option<Upkeep>,
    idle: Mutex<Vec<Connection>>,
}

impl Database {
    /// Opens or makes the file in `dir` and brings it up to date.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        make_private(&path)?;
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(WRITER_WAIT)?;
        schema::prepare(&connection, true)
            .and_then(|()| schema::migrate(&connection, &path))
            .map_err(|error| explain(error, &path))?;
        let not_writable = |source| StoreError::NotWritable { path: path.clone(), source };
        let upkeep = Upkeep {
            lock: MaintenanceLock::open(dir).map_err(not_writable)?,
            scrubber: Scrubber::open(&path).map_err(not_writable)?,
        };
        Ok(Self { upkeep: Some(upkeep), ..Self::new(Some(connection), Some(path)) })
    }

    /// Opens the file in `dir` for reading.
    pub(crate) fn open_read_only(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        if !path.exists() {
            return Err(StoreError::Missing { path });
        }
        let connection = reader(&path)?;
        schema::check(&connection, &path).map_err(|error| explain(error, &path))?;
        let database = Self::new(None, Some(path));
        database.give_back(connection);
        Ok(database)
    }

    /// A store that is gone with its last connection.
    pub(crate) fn in_memory() -> Result<Self, StoreError> {
        let connection = Connection::open_in_memory()?;
        schema::prepare(&connection, false)?;
        schema::migrate(&connection, Path::new(":memory:"))?;
        Ok(Self::new(Some(connection), None))
    }

    fn new(writer: Option<Connection>, path: Option<PathBuf>) -> Self {
        let writer = writer.map(|connection| Arc::new(Mutex::new(connection)));
        Self { writer, path, upkeep: None, idle: Mutex::default() }
    }

    /// The writer's connection. Only the writer's thread asks for it, except in memory and where there is no other.
    pub(crate) fn writer(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        let writer = self.writer.as_ref().ok_or(StoreError::ReadOnly)?;
        Ok(writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs a read.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let Some(path) = &self.path else {
            return Ok(read(&*self.writer()?)?);
        };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // One state of the store for all that is asked: between two statements the writer may commit, and a
        // segment that the first did not find would be taken for missing by the second.
        let read_at_once = |connection: &Connection| {
            let result = connection.unchecked_transaction().and_then(|state| read(&state));
            result.map_err(|error| explain(error.into(), path))
        };
        match idle.map_or_else(|| reader(path), Ok) {
            Ok(connection) => {
                let result = read_at_once(&connection);
                self.give_back(connection);
                result
            }
            // The process is out of descriptors, say. The writer has a connection, and takes its turn.
            Err(_) if self.writer.is_some() => read_at_once(&*self.writer()?),
            Err(error) => Err(error),
        }
    }

    /// What checkpoints need beside a connection; `None` in memory.
    pub(crate) fn upkeep(&self) -> Option<&Upkeep> {
        self.upkeep.as_ref()
    }

    /// A connection of its own for checkpoints; `None` in memory.
    pub(crate) fn checkpointer(&self) -> Result<Option<Connection>, StoreError> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(READER_WAIT)?;
        schema::prepare(&connection, true)?;
        Ok(Some(connection))
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }
}

fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(READER_WAIT)?;
    // It looks into the file, which may be none of ours.
    let cached = connection.pragma_update(None, "cache_size", READER_CACHE);
    cached.map_err(|error| explain(error.into(), path))?;
    Ok(connection)
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let connect = || {
        let connection =
            Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        // Checkpoints are ours to make, under the lock.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(connection)
    };
    connect().map_err(|error: rusqlite::Error| explain(error.into(), path))
}

/// Makes the file before SQLite does, readable by its owner alone. SQLite gives the files beside it the
/// same rights.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    // One that is there is not opened: closing it would give up the locks that this process may have on it.
    options.create_new(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                // If that is not allowed, opening it will say so.
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).ok();
            }
            Ok(())
        }
        Err(source) => Err(StoreError::NotWritable { path: path.to_owned(), source }),
    }
}

/// Tells a damaged file and one that cannot be written from other faults.
fn explain(error: StoreError, path: &Path) -> StoreError {
    let StoreError::Database(fault) = &error else {
        return error;
    };
    match fault.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Corrupt { path: path.to_owned(), detail: fault.to_string() }
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            let source = std::io::Error::other(fault.to_string());
            StoreError::NotWritable { path: path.to_owned(), source }
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_further_connection_can_be_made_the_writers_reads() {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(dir.path()).unwrap();
        let captures = |connection: &Connection| {
            connection.query_row("SELECT COUNT(*) FROM capture", [], |row| row.get::<_, i64>(0))
        };
        // As without descriptors: what is open goes on, and nothing more can be opened.
        std::fs::rename(dir.path().join(FILE), dir.path().join("away")).unwrap();
        assert!(reader(&dir.path().join(FILE)).is_err());
        assert_eq!(database.read(captures).unwrap(), 0);
    }
}
