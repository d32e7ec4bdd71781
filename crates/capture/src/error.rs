//! What can go wrong with the store. Each message says what to do.

use std::path::PathBuf;

/// A fault of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or the file in it cannot be written.
    #[error(
        "cannot write to {}: {source}; choose another folder with --data-dir, or keep nothing with --no-store",
        path.display()
    )]
    NotWritable {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another `teeline serve` holds the folder.
    #[error(
        "another teeline (process {pid}) uses this data folder, its dashboard is {dashboard}; open that, or choose another folder with --data-dir"
    )]
    InUse {
        /// The URL of its dashboard.
        dashboard: String,
        /// Its process.
        pid: u32,
    },
    /// A newer teeline wrote the store.
    #[error(
        "{} was written by teeline {written_by}, which is newer; update teeline, or choose another folder with --data-dir",
        path.display()
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version that wrote it.
        written_by: String,
    },
    /// An older teeline wrote the store, and this call may not change it.
    #[error("{} was written by an older teeline; start `teeline serve` once, that brings it up to date", path.display())]
    OlderVersion {
        /// The file.
        path: PathBuf,
    },
    /// The file is no store, or damaged.
    #[error("{} is damaged or no store of teeline ({detail}); move it away to start afresh", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        detail: String,
    },
    /// There is no store yet.
    #[error("there are no captures in {} yet; `teeline serve` makes the store", path.display())]
    Missing {
        /// The file that is not there.
        path: PathBuf,
    },
    /// No capture has this id.
    #[error("there is no capture `{0}`; `teeline list` shows those there are")]
    NotFound(String),
    /// Several captures have ids that begin so.
    #[error("`{prefix}` fits {count} captures; give more of the id")]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// How many captures it fits.
        count: u64,
    },
    /// The store was opened for reading.
    #[error("the store was opened for reading only")]
    ReadOnly,
    /// The store was shut down.
    #[error("the store was shut down")]
    Stopped,
    /// The store's files could not be looked after.
    #[error("the store's files could not be looked after: {source}")]
    Upkeep {
        /// What the system says.
        source: std::io::Error,
    },
    /// The system gives no thread.
    #[error("cannot start a thread for the store: {source}")]
    Thread {
        /// What the system says.
        source: std::io::Error,
    },
    /// The disk is full, the file is locked, or SQLite failed in another way.
    #[error("the store failed: {0}")]
    Database(#[from] rusqlite::Error),
}
