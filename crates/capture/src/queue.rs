//! Which captures wait for a worker. Each is in it at most once, so that its length is bounded by the
//! number of open captures.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use crate::live::Live;
use crate::stream::lock;

#[derive(Default)]
struct Waiting {
    ready: VecDeque<Arc<Live>>,
    later: Vec<(Instant, Arc<Live>)>,
    closed: bool,
}

/// Captures with something to read or to show.
#[derive(Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    condvar: Condvar,
}

impl Queue {
    /// A worker should look at it.
    pub(crate) fn push(&self, live: &Arc<Live>) {
        if live.enqueue() {
            lock(&self.waiting).ready.push_back(Arc::clone(live));
            self.condvar.notify_one();
        }
    }

    /// A worker should look at it at `due`.
    pub(crate) fn push_later(&self, due: Instant, live: &Arc<Live>) {
        let mut waiting = lock(&self.waiting);
        if !waiting.later.iter().any(|(_, known)| Arc::ptr_eq(known, live)) {
            waiting.later.push((due, Arc::clone(live)));
            self.condvar.notify_one();
        }
    }

    /// The next capture, waited for; `None` once the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<Arc<Live>> {
        let mut waiting = lock(&self.waiting);
        loop {
            let now = Instant::now();
            let due = waiting.later.extract_if(.., |(due, _)| *due <= now);
            let due: Vec<_> = due.map(|(_, live)| live).filter(|live| live.enqueue()).collect();
            waiting.ready.extend(due);
            if let Some(live) = waiting.ready.pop_front() {
                live.dequeue();
                return Some(live);
            }
            if waiting.closed {
                // Whoever watches one of these would wait for as long as the store is held.
                waiting.later.clear();
                return None;
            }
            waiting = match waiting.later.iter().map(|(due, _)| *due).min() {
                Some(next) => {
                    let wait = next.saturating_duration_since(now);
                    let woken = self.condvar.wait_timeout(waiting, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.condvar.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// The workers end once nothing is ready.
    pub(crate) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.condvar.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::live::Progress;
    use crate::record::Record;
    use crate::{CaptureId, Timestamp, summarise};

    #[test]
    fn a_closed_queue_holds_nothing() {
        let (id, at) = (CaptureId::new(), Timestamp::now());
        let record = Arc::new(Record::default());
        let summary = summarise::start(id, &record, at);
        let progress = Progress { record, bytes: 0, bytes_to_app: 0, finished: false };
        let live = Arc::new(Live::new(id, 1, at, progress, summary));
        let queue = Queue::default();
        queue.push(&live);
        queue.push_later(Instant::now() + Duration::from_hours(1), &live);
        queue.close();
        assert!(queue.take().is_some_and(|taken| Arc::ptr_eq(&taken, &live)));
        assert!(queue.take().is_none());
        assert_eq!(Arc::strong_count(&live), 1);
    }
}
