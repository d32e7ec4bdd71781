//! Wiping what deleted captures leave in the store's file.
//!
//! With `secure_delete` SQLite overwrites what is deleted. It also moves rows from page to page, to fill
//! pages evenly, and the place that a row was moved away from stays as it was: unused, and readable. So
//! after captures were deleted the unused middle of every page is overwritten, by the documented file
//! format (<https://sqlite.org/fileformat2.html>, 1.6).
//!
//! Why that is safe while the store is in use: only bytes are written that no reader of the page looks at,
//! and nobody else writes pages into the file meanwhile. They get there by checkpoints alone, and every
//! checkpoint of ours is made under a [`MaintenanceLock`] (SQLite's own, at the close of the last
//! connection, is switched off). Pages that the writer has in memory might carry old bytes back: so in the
//! end the writer is held, its memory emptied, and what it wrote since the start is wiped once more.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const STEP: usize = 1 << 20;

/// The lock's file in the data folder.
pub(crate) const LOCK: &str = "checkpoint.lock";

/// Nobody else makes a checkpoint while this is held, in this process or another.
#[derive(Debug)]
pub(crate) struct MaintenanceLock {
    file: File,
}

impl MaintenanceLock {
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        options.open(dir.join(LOCK)).map(|file| Self { file })
    }

    /// Runs something under the lock.
    pub(crate) fn hold<T>(&self, run: impl FnOnce() -> T) -> io::Result<T> {
        self.file.lock()?;
        let result = run();
        self.file.unlock()?;
        Ok(result)
    }
}

/// The store's file, to be wiped.
pub(crate) struct Scrubber {
    /// Never closed: on Unix, closing any handle of a file gives up all locks that the process has on it,
    /// and SQLite's are needed.
    file: ManuallyDrop<File>,
    log: PathBuf,
}

/// What the file's header says of its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    page: usize,
    /// Bytes of a page that are used.
    usable: usize,
    /// The file has pointer map pages, for it can shrink.
    mapped: bool,
}

impl Scrubber {
    pub(crate) fn open(database: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(database)?;
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self { file: ManuallyDrop::new(file), log: PathBuf::from(log) })
    }

    /// Wipes every page. Under the lock, with the log moved into the file.
    pub(crate) fn wipe_all(&self) -> io::Result<()> {
        let Some(layout) = self.layout()? else {
            return Ok(());
        };
        let pages = self.file.metadata()?.len() / layout.page as u64;
        let at_once = (STEP / layout.page).max(1);
        let mut buffer = vec![0; at_once * layout.page];
        let mut number = 1;
        while number <= pages {
            let count = usize::try_from(pages - number + 1).unwrap_or(at_once).min(at_once);
            let bytes = buffer.get_mut(..count * layout.page).unwrap_or_default();
            read_at(&self.file, bytes, (number - 1) * layout.page as u64)?;
            for page in bytes.chunks_exact(layout.page) {
                self.wipe(layout, number, page)?;
                number += 1;
            }
        }
        self.file.sync_data()
    }

    /// Wipes some pages. Under the lock, with the log moved into the file.
    pub(crate) fn wipe_pages(&self, numbers: &[u64]) -> io::Result<()> {
        let Some(layout) = self.layout()? else {
            return Ok(());
        };
        let pages = self.file.metadata()?.len() / layout.page as u64;
        let mut page = vec![0; layout.page];
        for number in numbers.iter().copied().filter(|number| (1..=pages).contains(number)) {
            read_at(&self.file, &mut page, (number - 1) * layout.page as u64)?;
            self.wipe(layout, number, &page)?;
        }
        self.file.sync_data()
    }

    /// The numbers of the pages that the log holds.
    pub(crate) fn logged_pages(&self) -> io::Result<Vec<u64>> {
        const HEADER: u64 = 32;
        const FRAME_HEADER: u64 = 24;
        let Some(layout) = self.layout()? else {
            return Ok(Vec::new());
        };
        // Another file than the store's own: it may be closed.
        let log = match File::open(&self.log) {
            Ok(log) => log,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let frame = FRAME_HEADER + layout.page as u64;
        let frames = log.metadata()?.len().saturating_sub(HEADER) / frame;
        let mut numbers = Vec::new();
        for index in 0..frames {
            let mut number = [0; 4];
            read_at(&log, &mut number, HEADER + index * frame)?;
            numbers.push(u64::from(u32::from_be_bytes(number)));
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// `None`: the file is empty, or so large that its pages cannot be told apart.
    fn layout(&self) -> io::Result<Option<Layout>> {
        let mut header = [0; 100];
        if self.file.metadata()?.len() < header.len() as u64 {
            return Ok(None);
        }
        read_at(&self.file, &mut header, 0)?;
        Ok(Layout::of(&header))
    }

    fn wipe(&self, layout: Layout, number: u64, page: &[u8]) -> io::Result<()> {
        let Some(unused) = layout.unused(number, page) else {
            return Ok(());
        };
        let bytes = page.get(unused.clone()).unwrap_or_default();
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let offset = (number - 1) * layout.page as u64 + unused.start as u64;
        write_at(&self.file, &vec![0; bytes.len()], offset)
    }
}

impl Layout {
    fn of(header: &[u8; 100]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = header.get(at..).and_then(<[u8]>::first_chunk::<4>);
            bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
        };
        let page = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let usable = page.checked_sub(usize::from(header[20]))?;
        // From 2^24 pages on the first byte of an overflow page's link may look like a page's kind.
        let small = number(28) < 1 << 24;
        (header.starts_with(b"SQLite format 3\0") && 512 <= page && small).then(|| Self {
            page,
            usable,
            mapped: number(52) != 0,
        })
    }

    /// The unused middle of a page of a tree; `None` of other pages.
    fn unused(self, number: u64, page: &[u8]) -> Option<std::ops::Range<usize>> {
        if self.is_map(number) || number == self.locking() {
            return None;
        }
        let header = if number == 1 { 100 } else { 0 };
        let length = match page.get(header)? {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => return None,
        };
        let short = |at: usize| {
            let bytes = page.get(at..)?.first_chunk::<2>()?;
            Some(usize::from(u16::from_be_bytes(*bytes)))
        };
        let start = header + length + 2 * short(header + 3)?;
        let end = match short(header + 5)? {
            0 => 65_536,
            end => end,
        };
        (start <= end && end <= self.usable).then_some(start..end)
    }

    /// A pointer map page: one before every `usable / 5` others, from page 2 on.
    fn is_map(self, number: u64) -> bool {
        let group = self.usable as u64 / 5 + 1;
        if !self.mapped || number < 2 {
            return false;
        }
        let first = (number - 2) / group * group + 2;
        number == first || (first == self.locking() && number == first + 1)
    }

    /// The page at 1 GiB, which is never used.
    fn locking(self) -> u64 {
        0x4000_0000 / self.page as u64 + 1
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    file.seek(io::SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_unused_middle_of_tree_pages_is_named() {
        let layout = Layout { page: 512, usable: 512, mapped: true };
        let mut leaf = vec![0; 512];
        leaf[..8].copy_from_slice(&[13, 0, 0, 0, 3, 1, 0, 0]); // three cells, content from 256 on
        assert_eq!(layout.unused(3, &leaf), Some(14..256));
        // Page 2 is a pointer map, and so is 2 + 512 / 5 + 1.
        assert_eq!(layout.unused(2, &leaf), None);
        assert_eq!(layout.unused(105, &leaf), None);
        assert_eq!(layout.unused(104, &leaf), Some(14..256));
        // The page at 1 GiB is not used.
        assert_eq!(layout.unused(0x4000_0000 / 512 + 1, &leaf), None);
        let overflow = vec![0; 512];
        assert_eq!(layout.unused(3, &overflow), None);
        leaf[5] = 0xff; // content behind the page's end: not a page of a tree
        assert_eq!(layout.unused(3, &leaf), None);
    }
}
