//! One exchange, as the writer has it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::batch::Batch;
use crate::database::{NewSegment, Part, write};
use crate::inner::Inner;
use crate::intake::{self, Intake};
use crate::live::{Live, Progress};
use crate::record::Record;
use crate::stream::Stream;
use crate::{Ending, summarise};

/// After its ending an exchange is final when its last tap is gone, or after this.
const GRACE: Duration = Duration::from_secs(1);

/// The same where the request's body is still being sent.
const UPLOAD_GRACE: Duration = Duration::from_secs(10);

pub(super) struct Entry {
    stream: Arc<Stream>,
    record: Record,
    /// The record as it was written last.
    shared: Arc<Record>,
    /// The record is not written as it is.
    changed: bool,
    /// `None` after a fault of ours in it: what still comes is named as lost.
    intake: Option<Intake>,
    request: Batch,
    body: Batch,
    rows: Vec<NewSegment>,
    /// What the rows take of the queue's bound.
    cost: usize,
    /// What the transaction that is under way calls it.
    seq: Option<i64>,
    live: Option<Arc<Live>>,
    ended: Option<Instant>,
    /// The bytes that went to the app are counted for good.
    closed: bool,
    /// The capture was deleted for good: what still comes is dropped.
    discarded: bool,
}

impl Entry {
    pub(super) fn new(stream: Arc<Stream>, record: Record) -> Self {
        Self {
            shared: Arc::new(record.clone()),
            record,
            stream,
            changed: true,
            intake: Some(Intake::new()),
            request: Batch::default(),
            body: Batch::default(),
            rows: Vec::new(),
            cost: 0,
            seq: None,
            live: None,
            ended: None,
            closed: false,
            discarded: false,
        }
    }

    /// Takes what waits, unless what was taken before is not written yet.
    pub(super) fn take(&mut self) {
        if !self.rows.is_empty() || self.closed {
            return;
        }
        {
            let mut pending = self.stream.lock();
            self.changed |= Intake::update(&mut self.record, &mut pending);
            std::mem::swap(&mut pending.request, &mut self.request);
            std::mem::swap(&mut pending.body, &mut self.body);
        }
        self.cost = self.request.cost() + self.body.cost();
        self.cut();
        if self.record.ending.is_some() && self.ended.is_none() {
            self.ended = Some(Instant::now());
            self.record.sha256 = self.intake.as_ref().and_then(|intake| intake.hash(&self.record));
            self.changed = true;
        }
        if self.rows.is_empty() {
            // What was taken is held back (a secret may begin in it) or there was nothing.
            self.release();
        }
        self.close();
    }

    /// Makes rows of what was taken.
    fn cut(&mut self) {
        let Some(intake) = &mut self.intake else {
            self.forget();
            return;
        };
        let marks = (self.record.lost.ranges().len(), self.record.kept_decoded);
        self.rows = intake::request(self.request.chunks());
        let secrets = &self.stream.secrets;
        self.rows.extend(intake.response(self.body.chunks(), secrets, &mut self.record));
        if self.discarded {
            self.rows.clear();
        }
        self.changed |= marks != (self.record.lost.ranges().len(), self.record.kept_decoded);
        if self.record.moments.request_end_us.is_some() {
            // No more comes, and the answer may take hours.
            self.request = Batch::default();
        } else {
            self.request.clear();
        }
        self.body.clear();
    }

    /// Names what was taken as lost.
    fn forget(&mut self) {
        for chunk in self.body.chunks() {
            let end = chunk.offset + chunk.bytes.len() as u64;
            self.record.lost.add(chunk.offset, end, super::FAULT);
            self.changed = true;
        }
        if 0 < self.request.bytes() {
            self.record.request_truncated = true;
            self.changed = true;
        }
        self.request.clear();
        self.body.clear();
    }

    /// Taking what waits failed by a fault of ours: it is lost, and so is what still comes.
    pub(super) fn fail(&mut self) {
        self.intake = None;
        self.rows.clear();
        self.forget();
        self.release();
    }

    /// Counts what went to the app, once that is over.
    fn close(&mut self) {
        let Some(ended) = self.ended else { return };
        let is_last = self.stream.is_closed();
        let mut pending = self.stream.lock();
        let open = pending.request_is_open();
        let over = (if open { UPLOAD_GRACE } else { GRACE }) <= ended.elapsed();
        if !(over || is_last) || pending.has_news() {
            return;
        }
        pending.sealed = true;
        drop(pending);
        self.record.request_truncated |= open;
        self.closed = true;
        self.record.bytes_to_app = self.stream.written();
        self.changed = true;
    }

    /// When it is to be looked at though nobody says so.
    pub(super) fn due(&self) -> Option<Instant> {
        let ended = self.ended.filter(|_| !self.closed)?;
        Some(ended + if ended.elapsed() < GRACE { GRACE } else { UPLOAD_GRACE })
    }

    pub(super) fn has_rows(&self) -> bool {
        !self.discarded && self.has_news()
    }

    fn has_news(&self) -> bool {
        self.changed || !self.rows.is_empty() || self.live.is_none()
    }

    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.discarded {
            return Ok(());
        }
        let seq = if let Some(live) = &self.live {
            live.seq
        } else {
            let (id, started_at) = (self.stream.id, self.stream.started_at);
            let summary = summarise::start(id, &self.record, started_at);
            write::insert_capture(connection, id, &self.record, &summary)?
        };
        self.seq = Some(seq);
        if self.changed && self.live.is_some() {
            write::update_record(connection, seq, &self.record)?;
        }
        self.rows.iter().try_for_each(|row| write::insert_segment(connection, seq, row))
    }

    /// The transaction is committed. Gives the bytes that were written.
    pub(super) fn wrote(&mut self, inner: &Inner) -> usize {
        let mut bytes = self.rows.iter().map(|row| row.data.len() + row.times.len()).sum::<usize>();
        let news = self.has_news();
        if self.changed {
            bytes += super::ROW_BYTES;
        }
        if self.changed {
            self.shared = Arc::new(self.record.clone());
            self.changed = false;
        }
        self.rows.clear();
        self.release();
        if self.discarded {
            return 0;
        }
        let progress = Progress {
            record: Arc::clone(&self.shared),
            bytes: self.record.bytes,
            bytes_to_app: self.stream.written(),
            finished: false,
        };
        match (&self.live, self.seq) {
            (Some(live), _) if news => {
                live.set_progress(progress);
                inner.queue.push(live);
            }
            (None, Some(seq)) => {
                let summary =
                    summarise::start(self.stream.id, &self.record, self.stream.started_at);
                let (id, started_at) = (self.stream.id, self.stream.started_at);
                let live = Arc::new(Live::new(id, seq, started_at, progress, summary));
                inner.add_live(&live);
                inner.tell(&live, live.summary());
                inner.queue.push(&live);
                self.live = Some(live);
            }
            _ => {}
        }
        bytes
    }

    /// The rows cannot be written, for this reason: the record says so.
    pub(super) fn lose(&mut self, reason: &str) {
        for row in std::mem::take(&mut self.rows) {
            match row.part {
                Part::Request => self.record.request_truncated = true,
                Part::Response => {
                    self.record.lost.add(row.start, row.start + row.data.len() as u64, reason);
                }
            }
            self.changed = true;
        }
        self.release();
    }

    fn release(&mut self) {
        self.stream.release(std::mem::take(&mut self.cost));
    }

    /// Gives the exchange to the workers if it is over and written; true if so.
    pub(super) fn hand_over(&mut self, inner: &Inner) -> bool {
        if self.discarded && self.closed {
            inner.hub.dismiss(&self.stream);
            return true;
        }
        let Some(live) = self.live.as_ref().filter(|_| self.closed && !self.has_rows()) else {
            return false;
        };
        live.set_progress(Progress {
            record: Arc::clone(&self.shared),
            bytes: self.record.bytes,
            bytes_to_app: self.record.bytes_to_app,
            finished: true,
        });
        inner.queue.push(live);
        inner.hub.dismiss(&self.stream);
        true
    }

    /// Gives an exchange that is over to the workers though its end cannot be written.
    pub(super) fn show_unwritten(&self, inner: &Inner) {
        let Some(live) = self.live.as_ref().filter(|_| self.closed && self.rows.is_empty()) else {
            return;
        };
        if !live.progress().finished {
            live.set_progress(Progress {
                record: Arc::new(self.record.clone()),
                bytes: self.record.bytes,
                bytes_to_app: self.record.bytes_to_app,
                finished: true,
            });
            inner.queue.push(live);
        }
    }

    /// The capture of this number was deleted for good.
    pub(super) fn discard(&mut self, seq: i64) {
        if self.live.as_ref().is_some_and(|live| live.seq == seq) {
            self.discarded = true;
            self.rows.clear();
            self.release();
        }
    }

    /// teeline stops.
    pub(super) fn interrupt(&self) {
        self.stream.end(Ending::Interrupted);
        self.stream.close();
    }
}
