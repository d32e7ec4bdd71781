//! The threads that read. They may fall behind: what they read is in the store.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::inner::{FinalRow, Inner};
use crate::live::{Live, Progress};
use crate::session::{Session, Turn};
use crate::stream::lock;
use crate::{StoreError, summarise};

/// More threads than these read no faster: the disk and the writer are behind them.
const MOST: usize = 4;

/// A read that failed is tried again after this, so many times.
const RETRY: Duration = Duration::from_millis(500);
const RETRIES: u32 = 10;

/// Starts the workers.
pub(crate) fn start(inner: &Arc<Inner>) -> Result<Vec<JoinHandle<()>>, StoreError> {
    let count = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST);
    (0..count)
        .map(|number| {
            let inner = Arc::clone(inner);
            std::thread::Builder::new()
                .name(format!("teeline-reader-{number}"))
                .spawn(move || run(&inner))
                .map_err(|source| StoreError::Thread { source })
        })
        .collect()
}

fn run(inner: &Inner) {
    while let Some(live) = inner.queue.take() {
        if let Err(panic) = guarded(|| turn(inner, &live)) {
            tracing::error!(capture = %live.id, panic, "a fault in the reading of a capture");
            // Nobody will end it: the next start does.
            inner.remove_live(live.id);
        }
    }
}

fn turn(inner: &Inner, live: &Arc<Live>) {
    // Taken before reading: what is final is stored, so everything of it is seen.
    let progress = live.progress();
    let mut session = lock(&live.session);
    if session.finished {
        return;
    }
    let result = guarded(|| session.advance(live, &progress, inner));
    if let Ok(Ok(_)) = result {
        session.failures = 0;
    }
    match result {
        Ok(Ok(Turn::More)) => {
            show(inner, live, &mut session, &progress);
            inner.queue.push(live);
        }
        Ok(Ok(Turn::Reached)) => end_or_show(inner, live, session, &progress),
        Ok(Err(error)) if session.failures < RETRIES => {
            tracing::warn!(capture = %live.id, %error, "reading a capture failed; trying again");
            session.failures += 1;
            inner.queue.push_later(Instant::now() + RETRY, live);
        }
        Ok(Err(error)) => {
            session.give_up(error.to_string());
            end_or_show(inner, live, session, &progress);
        }
        Err(panic) => {
            tracing::error!(capture = %live.id, panic, "a fault in the reading of a capture");
            session.give_up(panic);
            end_or_show(inner, live, session, &progress);
        }
    }
}

fn end_or_show(
    inner: &Inner,
    live: &Arc<Live>,
    mut session: std::sync::MutexGuard<'_, Session>,
    progress: &Progress,
) {
    if !progress.finished {
        show(inner, live, &mut session, progress);
        return;
    }
    let mut finish = || guarded(|| session.finish(live, progress, inner));
    let last = match finish() {
        Ok(last) => last,
        Err(panic) => {
            tracing::error!(capture = %live.id, panic, "a fault in the reading of a capture");
            session.give_up(panic);
            session.finish(live, progress, inner)
        }
    };
    // The writer may wait for this lock: nothing is waited for under it.
    drop(session);
    lock(&inner.retries).ended(&last.summary);
    let reading = Arc::new(last.reading);
    inner.save_final(FinalRow {
        live: Arc::clone(live),
        summary: Arc::new(last.summary),
        index: summarise::index(Some(&reading)),
        search: last.search,
        reading,
    });
}

/// Shows an open capture as it stands, unless that was done a moment ago: then later.
fn show(inner: &Inner, live: &Arc<Live>, session: &mut Session, progress: &Progress) {
    let wanted = live.is_wanted();
    if !wanted && !session.has_news(progress) {
        return;
    }
    if let Some(due) = session.due().filter(|due| Instant::now() < *due) {
        inner.queue.push_later(due, live);
        return;
    }
    live.want(false);
    let snapshot = match guarded(|| session.snapshot(live, progress)) {
        Ok(snapshot) => snapshot,
        Err(panic) => {
            tracing::error!(capture = %live.id, panic, "a fault in the reading of a capture");
            session.give_up(panic);
            return;
        }
    };
    let summary = Arc::new(snapshot.summary);
    live.set_summary(Arc::clone(&summary));
    if snapshot.save {
        let index = summarise::index(snapshot.reading.as_ref());
        inner.save_open(live.seq, Arc::clone(&summary), index);
    }
    if live.is_watched()
        && let Some(reading) = snapshot.reading
    {
        live.show(Arc::new(reading));
    }
    inner.tell(live, summary);
}

/// Runs what depends on what came from outside. A panic in it is a fault of ours and costs this reading only.
pub(crate) fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read)).map_err(|panic| words(&*panic))
}

fn words(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
