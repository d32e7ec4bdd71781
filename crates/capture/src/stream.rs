//! What the tap and the writer share of one exchange, and the bound on all of them.
//!
//! The tap adds under a lock that the writer holds only to swap buffers. Whatever does not fit the bounds
//! is counted with its range and forgotten; nobody waits.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use bytes::Bytes;

use crate::batch::{Batch, CHUNK_COST};
use crate::lost::Lost;
use crate::record::Record;
use crate::redact::{Redactor, Secrets};
use crate::segment::SEGMENT_BYTES;
use crate::{CaptureId, Ending, Moments, Recording, ResponseView, Timestamp};

/// Bytes of one exchange that may wait for the writer whatever the others do (as long as all of them
/// fit). More is counted as lost; one chunk always fits.
pub(crate) const STREAM_QUEUE: usize = 1 << 20;

/// Bytes of one exchange that may wait while less than half of [`TOTAL_QUEUE`] is taken: a burst from a
/// server on the same machine comes faster than any disk takes it.
pub(crate) const BURST_QUEUE: usize = 16 << 20;

/// Bytes of all exchanges that may wait for the writer. More is counted as lost.
pub(crate) const TOTAL_QUEUE: usize = 64 << 20;

/// Bytes of heads that may be held for exchanges which the store does not take (disk full). Further
/// exchanges are not recorded at all.
pub(crate) const HEADS: usize = 16 << 20;

/// Bytes of a request's body that are kept.
pub(crate) const REQUEST_BODY: u64 = 32 << 20;

/// Why bytes are lost that did not fit.
pub(crate) const QUEUE_FULL: &str = "the recorder's queue was full";

/// What all taps and the writer share.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) redactor: Redactor,
    writer: OnceLock<Thread>,
    /// Something waits for the writer.
    dirty: AtomicBool,
    /// It should not wait any longer: a segment is full, an exchange ended, somebody asks.
    urgent: AtomicBool,
    queued: AtomicUsize,
    heads: AtomicUsize,
    /// Each with its record as it is at the start.
    arrivals: Mutex<Vec<(Arc<Stream>, Record)>>,
    closed: AtomicBool,
    /// Exchanges that were not recorded at all.
    refused: AtomicU64,
    paused: AtomicBool,
    /// Exchanges that passed while it was paused.
    passed: AtomicU64,
}

impl Hub {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            writer: OnceLock::new(),
            dirty: AtomicBool::new(false),
            urgent: AtomicBool::new(false),
            queued: AtomicUsize::new(0),
            heads: AtomicUsize::new(0),
            arrivals: Mutex::default(),
            closed: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            paused: AtomicBool::new(false),
            passed: AtomicU64::new(0),
        }
    }

    /// Records no further exchange, or records again.
    pub(crate) fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    /// Whether an exchange that begins now passes unrecorded. It is counted then.
    pub(crate) fn passes(&self) -> bool {
        let paused = self.paused.load(Ordering::Relaxed);
        if paused {
            self.passed.fetch_add(1, Ordering::Relaxed);
        }
        paused
    }

    pub(crate) fn recording(&self) -> Recording {
        Recording {
            on: !self.paused.load(Ordering::Relaxed),
            passed: self.passed.load(Ordering::Relaxed),
        }
    }

    /// The calling thread is the writer.
    pub(crate) fn attach_writer(&self) {
        drop(self.writer.set(std::thread::current()));
    }

    /// Something waits. The first to say so wakes the writer, the others cost one load.
    pub(crate) fn mark_dirty(&self) {
        if !self.dirty.load(Ordering::Relaxed) && !self.dirty.swap(true, Ordering::AcqRel) {
            self.unpark();
        }
    }

    /// Something should be seen to at once.
    pub(crate) fn mark_urgent(&self) {
        self.dirty.store(true, Ordering::Release);
        if !self.urgent.load(Ordering::Relaxed) && !self.urgent.swap(true, Ordering::AcqRel) {
            self.unpark();
        }
    }

    fn unpark(&self) {
        if let Some(writer) = self.writer.get() {
            writer.unpark();
        }
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty.load(Ordering::Acquire)
    }

    pub(crate) fn is_urgent(&self) -> bool {
        self.urgent.load(Ordering::Acquire)
    }

    /// The writer looks at everything after this; what comes later is marked again. (The stream's lock
    /// orders the two: what was added before the writer took it is seen, what is added after sees the mark gone.)
    pub(crate) fn clear_marks(&self) {
        self.dirty.store(false, Ordering::Release);
        self.urgent.store(false, Ordering::Release);
    }

    /// Lets a new exchange in, unless the store does not take any.
    pub(crate) fn admit(&self, stream: &Arc<Stream>, record: Record) -> bool {
        let held = self.heads.fetch_add(stream.head_cost, Ordering::Relaxed) + stream.head_cost;
        if self.closed.load(Ordering::Acquire) || HEADS < held {
            self.heads.fetch_sub(stream.head_cost, Ordering::Relaxed);
            self.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        lock(&self.arrivals).push((Arc::clone(stream), record));
        self.mark_dirty();
        true
    }

    /// The writer is done with an exchange.
    pub(crate) fn dismiss(&self, stream: &Stream) {
        self.heads.fetch_sub(stream.head_cost, Ordering::Relaxed);
    }

    pub(crate) fn take_arrivals(&self) -> Vec<(Arc<Stream>, Record)> {
        std::mem::take(&mut *lock(&self.arrivals))
    }

    /// No exchange is recorded from now on.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// How many exchanges were not recorded since the last call.
    pub(crate) fn take_refused(&self) -> u64 {
        self.refused.swap(0, Ordering::Relaxed)
    }
}

/// What waits for the writer.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct Pending {
    pub(crate) request: Batch,
    pub(crate) body: Batch,
    request_bytes: u64,
    /// Another protocol is spoken: what the app sends is half of the conversation, and kept whole.
    pub(crate) tunnel: bool,
    /// When the last piece came of a tunnel.
    last_us: u64,
    pub(crate) request_truncated: bool,
    pub(crate) request_whole: Option<bool>,
    /// The capture is final: what still comes is dropped.
    pub(crate) sealed: bool,
    /// Bytes of the body that came, kept or not.
    pub(crate) bytes: u64,
    pub(crate) lost: Lost,
    pub(crate) response: Option<ResponseView>,
    pub(crate) trailers: Option<Vec<(String, String)>>,
    pub(crate) informational: Vec<u16>,
    pub(crate) moments: Moments,
    pub(crate) ending: Option<Ending>,
    /// How the app left.
    pub(crate) left: Option<String>,
    pub(crate) changed: bool,
}

/// One exchange.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) id: CaptureId,
    pub(crate) started_at: Timestamp,
    start: Instant,
    pub(crate) secrets: Secrets,
    pub(crate) hub: Arc<Hub>,
    head_cost: usize,
    pending: Mutex<Pending>,
    queued: AtomicUsize,
    written: AtomicU64,
    closed: AtomicBool,
}

impl Pending {
    /// The time of a piece that comes now. In a tunnel no two are the same, so that the order of what both
    /// sides say is kept.
    fn stamp(&mut self, now: u64) -> u64 {
        if self.tunnel {
            self.last_us = now.max(self.last_us + 1);
            return self.last_us;
        }
        now
    }

    /// Whether a request's body came in part and its end is not known.
    pub(crate) fn request_is_open(&self) -> bool {
        0 < self.request_bytes && self.request_whole.is_none()
    }

    /// Whether something waits for the writer.
    pub(crate) fn has_news(&self) -> bool {
        self.changed || 0 < self.request.bytes() + self.body.bytes()
    }
}

impl Stream {
    pub(crate) fn new(hub: Arc<Hub>, record: &Record, secrets: Secrets) -> Self {
        let headers = record.headers.iter().map(|(name, value)| name.len() + value.len() + 64);
        let head_cost = 4096 + record.url.len() + record.target.len() + headers.sum::<usize>();
        Self {
            id: CaptureId::new(),
            started_at: Timestamp::now(),
            start: Instant::now(),
            secrets,
            hub,
            head_cost,
            pending: Mutex::default(),
            queued: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Changes what waits, with the time since the start in microseconds, unless the exchange has ended.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Pending, u64)) {
        let mut pending = self.lock();
        if pending.ending.is_none() {
            change(&mut pending, self.micros());
            pending.changed = true;
            drop(pending);
            self.hub.mark_dirty();
        }
    }

    /// Adds a piece of the response's body.
    pub(crate) fn chunk(&self, chunk: &Bytes) {
        if chunk.is_empty() {
            return;
        }
        let full = {
            let mut pending = self.lock();
            if pending.ending.is_some() {
                return;
            }
            let from = pending.bytes;
            pending.bytes += chunk.len() as u64;
            if self.reserve(chunk.len()) {
                let at = pending.stamp(self.micros());
                pending.body.push(from, at, chunk);
            } else {
                let to = pending.bytes;
                pending.changed = true;
                pending.lost.add(from, to, QUEUE_FULL);
            }
            SEGMENT_BYTES <= pending.body.bytes()
        };
        self.mark(full);
    }

    /// Adds a piece of the request's body. What follows a piece that was lost is not kept either: the
    /// start of a request is worth more than its pieces.
    pub(crate) fn request_chunk(&self, chunk: &Bytes) {
        if chunk.is_empty() {
            return;
        }
        let full = {
            let mut pending = self.lock();
            // The response may end first.
            if pending.sealed || pending.request_truncated {
                return;
            }
            let most = if pending.tunnel { u64::MAX } else { REQUEST_BODY };
            let room = usize::try_from(most.saturating_sub(pending.request_bytes));
            let kept = chunk.slice(..chunk.len().min(room.unwrap_or(usize::MAX)));
            if !kept.is_empty() && self.reserve(kept.len()) {
                let (from, at) = (pending.request_bytes, pending.stamp(self.micros()));
                pending.request.push(from, at, &kept);
                pending.request_bytes += kept.len() as u64;
                pending.request_truncated = kept.len() < chunk.len();
            } else {
                pending.request_truncated = true;
            }
            pending.changed |= pending.request_truncated;
            SEGMENT_BYTES <= pending.request.bytes()
        };
        self.mark(full);
    }

    /// The request's body has ended, perhaps after the response.
    pub(crate) fn request_end(&self, whole: bool) {
        let mut pending = self.lock();
        if !pending.sealed && pending.request_whole.is_none() {
            pending.request_whole = Some(whole);
            pending.moments.request_end_us = Some(self.micros());
            pending.changed = true;
            drop(pending);
            self.hub.mark_dirty();
        }
    }

    fn mark(&self, full: bool) {
        if full {
            self.hub.mark_urgent();
        } else {
            self.hub.mark_dirty();
        }
    }

    /// Takes room in the queue, or does not.
    fn reserve(&self, bytes: usize) -> bool {
        let cost = bytes + CHUNK_COST;
        let mine = self.queued.load(Ordering::Relaxed);
        let all = self.hub.queued.fetch_add(cost, Ordering::Relaxed) + cost;
        let most = if all < TOTAL_QUEUE / 2 { BURST_QUEUE } else { STREAM_QUEUE };
        if TOTAL_QUEUE < all || (0 < mine && most < mine + cost) {
            self.hub.queued.fetch_sub(cost, Ordering::Relaxed);
            return false;
        }
        self.queued.fetch_add(cost, Ordering::Relaxed);
        true
    }

    #[cfg(test)]
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Gives room back once the writer has stored what took it.
    pub(crate) fn release(&self, cost: usize) {
        self.queued.fetch_sub(cost, Ordering::Relaxed);
        self.hub.queued.fetch_sub(cost, Ordering::Relaxed);
    }

    pub(crate) fn add_written(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// The first ending counts.
    pub(crate) fn end(&self, ending: Ending) {
        self.change(|pending, at| {
            pending.ending = Some(ending);
            pending.moments.end_us = Some(at);
        });
        self.hub.mark_urgent();
    }

    /// Nothing more will come: the last tap is gone.
    pub(crate) fn close(&self) {
        self.end(Ending::ClientLeft);
        self.closed.store(true, Ordering::Release);
        self.hub.mark_urgent();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }

    fn micros(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// A lock whose holder panicked is as good as any: what it guards is only ever replaced or added to.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
