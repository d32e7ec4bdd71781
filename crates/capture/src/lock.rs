//! One `serve` a data folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crate::StoreError;
use crate::stream::lock;

/// The file's name in the data folder. It stays when `serve` ends: what counts is the lock on it.
pub(crate) const FILE: &str = "serve.lock";

/// Another `serve` may have the lock and not yet know its addresses: it is asked again so often.
const ASKED: u32 = 20;
const ASK_EVERY: Duration = Duration::from_millis(50);

/// The lock, held until this is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct ServeLock {
    file: Mutex<File>,
    path: PathBuf,
}

impl ServeLock {
    /// Takes the lock and writes who has it.
    pub(crate) fn take(dir: &Path, addresses: &str) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        let not_writable = |source| StoreError::NotWritable { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.create(true).read(true).write(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let mut file = options.open(&path).map_err(not_writable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(holder(&mut file)),
            Err(TryLockError::Error(source)) => return Err(not_writable(source)),
        }
        let this = Self { file: Mutex::new(file), path: path.clone() };
        this.announce(addresses).map_err(not_writable)?;
        Ok(this)
    }

    /// Writes where the dashboard is.
    pub(crate) fn announce(&self, addresses: &str) -> std::io::Result<()> {
        let mut file = lock(&self.file);
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        writeln!(file, "{}\n{addresses}", std::process::id())?;
        file.flush()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Where the dashboard is of the `serve` that was last started on this data folder. Whether it still runs, asking
/// it tells.
pub fn serving(dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
    let url = text.lines().nth(1)?.trim();
    (!url.is_empty()).then(|| url.to_owned())
}

/// Who holds the lock.
fn holder(file: &mut File) -> StoreError {
    let (mut pid, mut dashboard) = (0, String::new());
    for _ in 0..ASKED {
        let mut text = String::new();
        if file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut text)).is_ok() {
            let mut lines = text.lines();
            pid = lines.next().and_then(|line| line.trim().parse().ok()).unwrap_or(0);
            lines.collect::<Vec<_>>().join(" ").trim().clone_into(&mut dashboard);
        }
        if !dashboard.is_empty() {
            break;
        }
        std::thread::sleep(ASK_EVERY);
    }
    if dashboard.is_empty() {
        "not known".clone_into(&mut dashboard);
    }
    StoreError::InUse { dashboard, pid }
}
