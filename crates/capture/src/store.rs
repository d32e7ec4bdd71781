//! The captures.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use teeline_assembler::{Counts, FrameRow, Reading, SCHEMA, Verdict};
use tokio::sync::{broadcast, watch};

use crate::tap::Record;
use crate::{
    CaptureId, Change, Exchange, FindingCounts, Import, LiveReading, Page, Piece, Query, Recorder,
    Redaction, Spark, State, StoreError, Summary,
};

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Captures older than so many days are deleted; 0: never.
    pub retention_days: u32,
    /// Captures are deleted, oldest first, when all take more than so many bytes; 0: never.
    pub retention_bytes: u64,
    /// What is redacted beyond the built-in names.
    pub redact: Redaction,
    /// The URL of the dashboard that will serve this store, for the message of a second `serve`.
    pub addresses: String,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            retention_days: 14,
            retention_bytes: 4 << 30,
            redact: Redaction::default(),
            addresses: String::new(),
        }
    }
}

/// The captures: recorded, listed, read, deleted. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    records: Mutex<Vec<(CaptureId, Arc<Mutex<Record>>)>>,
    watchers: Mutex<HashMap<CaptureId, watch::Sender<Option<Arc<Reading>>>>>,
    feed: broadcast::Sender<Change>,
}

impl Inner {
    pub(crate) fn add(&self, id: CaptureId, record: Arc<Mutex<Record>>) {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push((id, record));
        self.changed(id);
    }

    pub(crate) fn changed(&self, id: CaptureId) {
        if let Some(summary) = self.record(id).map(|record| summary(id, &record)) {
            if summary.state != State::Open {
                self.watchers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            }
            drop(self.feed.send(Change::Capture(Arc::new(summary))));
        }
    }

    fn record(&self, id: CaptureId) -> Option<Arc<Mutex<Record>>> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.iter().find(|(known, _)| *known == id).map(|(_, record)| Arc::clone(record))
    }

    fn existing(&self, id: CaptureId) -> Result<Arc<Mutex<Record>>, StoreError> {
        self.record(id).ok_or_else(|| StoreError::NotFound(id.to_string()))
    }
}

fn summary(id: CaptureId, record: &Mutex<Record>) -> Summary {
    let record = record.lock().unwrap_or_else(PoisonError::into_inner);
    let path = record.head.target.split('?').next().unwrap_or_default().to_owned();
    Summary {
        id,
        upstream: record.head.upstream.clone(),
        method: record.head.method.clone(),
        path,
        status: record.response.as_ref().map(|response| response.status),
        format: record.ending.as_ref().map(|_| "unknown".to_owned()),
        model: None,
        streamed: None,
        state: record.ending.as_ref().map_or(State::Open, crate::Ending::state),
        verdict: None,
        started_at: record.started_at,
        ended_at: record.moments.end_us.map(|at| record.started_at.plus_micros(at)),
        first_byte_ms: None,
        first_text_ms: None,
        duration_ms: None,
        bytes: record.bytes,
        frames: 0,
        usage: None,
        finish: None,
        preview: String::new(),
        findings: FindingCounts::default(),
        choices: 0,
        tool_names: Vec::new(),
        ended_by: record.ending.as_ref().map(crate::Ending::by),
        end_reason: None,
        sha256: None,
        bytes_to_app: record.written,
        spark: Spark::default(),
    }
}

impl Store {
    /// Opens the store in `dir` for a `serve`: takes the lock, brings the schema up to date, finishes
    /// captures that were open when teeline stopped, and starts the writer.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, is in use, was written by a newer teeline, or is damaged.
    pub fn open(dir: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let _ = dir;
        Self::in_memory(options)
    }

    /// A store that leaves nothing behind.
    ///
    /// # Errors
    ///
    /// SQLite could not be started.
    pub fn in_memory(options: StoreOptions) -> Result<Self, StoreError> {
        drop(options);
        Ok(Self {
            inner: Arc::new(Inner {
                records: Mutex::default(),
                watchers: Mutex::default(),
                feed: broadcast::channel(1024).0,
            }),
        })
    }

    /// Opens the store in `dir` to list, show and export, also while a `serve` runs.
    ///
    /// # Errors
    ///
    /// There is none, or it is of another version, or damaged.
    pub fn open_read_only(dir: &Path) -> Result<Self, StoreError> {
        Self::open(dir, StoreOptions::default())
    }

    /// Opens the store in `dir` to import and delete beside a `serve` that may be running: no recovery,
    /// no retention.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], but never [`StoreError::InUse`].
    pub fn open_beside(dir: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        Self::open(dir, options)
    }

    /// Says in the lock file where the dashboard is, once that is known.
    pub fn announce(&self, dashboard: &str) {
        let _ = dashboard;
    }

    /// Begins captures.
    pub fn recorder(&self) -> Recorder {
        Recorder { inner: Arc::clone(&self.inner) }
    }

    /// A page of captures, newest first by order of arrival; `before` is the `next` of the page before.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn list(
        &self,
        query: &Query,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let records = self.inner.records.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut page = Page::default();
        for (number, (id, record)) in records.iter().enumerate().rev() {
            let summary = summary(*id, record);
            if !query.fits(&summary) {
                continue;
            }
            page.counts.all += 1;
            page.counts.open += u64::from(summary.state == State::Open);
            if before.is_some_and(|before| before <= number as u64) {
                continue;
            }
            if page.captures.len() < limit {
                page.captures.push(summary);
                page.next = (0 < number).then_some(number as u64);
            }
        }
        Ok(page)
    }

    /// One capture in one row.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn summary(&self, id: CaptureId) -> Result<Summary, StoreError> {
        Ok(summary(id, &*self.inner.existing(id)?))
    }

    /// Heads, request body, trailers and moments.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn exchange(&self, id: CaptureId) -> Result<Exchange, StoreError> {
        let summary = self.summary(id)?;
        let record = self.inner.existing(id)?;
        let record = record.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Exchange {
            summary,
            request: record.request.clone(),
            response: record.response.clone(),
            moments: record.moments,
            ending: record.ending.clone(),
        })
    }

    /// The capture with this id, or the only one whose id begins so.
    ///
    /// # Errors
    ///
    /// None or several fit.
    pub fn find(&self, id_or_prefix: &str) -> Result<CaptureId, StoreError> {
        let records = self.inner.records.lock().unwrap_or_else(PoisonError::into_inner);
        let prefix = id_or_prefix.to_lowercase();
        let mut fitting = records.iter().filter(|(id, _)| id.to_string().starts_with(&prefix));
        match (fitting.next(), fitting.count() as u64) {
            (None, _) => Err(StoreError::NotFound(prefix)),
            (Some((id, _)), 0) => Ok(*id),
            (Some(_), more) => Err(StoreError::Ambiguous { prefix, count: more + 1 }),
        }
    }

    /// The response's body as it came: encoded, with times, what is lost named.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed (also later, in the iterator).
    pub fn chunks(&self, id: CaptureId) -> Result<Pieces, StoreError> {
        let record = self.inner.existing(id)?;
        let record = record.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces: Vec<_> = record.chunks.iter().cloned().map(Piece::Chunk).map(Ok).collect();
        Ok(Pieces { pieces: pieces.into_iter() })
    }

    /// The response's body with its content coding undone, with times. The offsets of chunks are those
    /// of the decoded body, the range of a gap is of the encoded one.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed (also later, in the iterator).
    pub fn body(&self, id: CaptureId) -> Result<Pieces, StoreError> {
        self.chunks(id)
    }

    /// What the response amounts to: final for an ended capture, as it stands for an open one. Without frames.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn reading(&self, id: CaptureId) -> Result<Arc<Reading>, StoreError> {
        let record = self.inner.existing(id)?;
        let record = record.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::new(Reading {
            schema: SCHEMA,
            format: "unknown",
            framing: None,
            verdict: Verdict::Empty,
            summary: String::new(),
            id: None,
            model: None,
            outputs: Vec::new(),
            usage: None,
            error: None,
            response: None,
            findings: Vec::new(),
            counts: Counts { bytes: record.bytes, ..Counts::default() },
            timing: None,
            frames: None,
        }))
    }

    /// How many frames there are, and those from `offset` on, at most `limit`.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn frames(
        &self,
        id: CaptureId,
        offset: u64,
        limit: usize,
    ) -> Result<(u64, Vec<FrameRow>), StoreError> {
        let _ = (offset, limit);
        self.inner.existing(id).map(|_| (0, Vec::new()))
    }

    /// Which frame added which bytes of which part: `[frame, output, part, bytes]`, in order.
    ///
    /// # Errors
    ///
    /// There is none of this id, or the store failed.
    pub fn provenance(&self, id: CaptureId) -> Result<Vec<[u64; 4]>, StoreError> {
        self.inner.existing(id).map(|_| Vec::new())
    }

    /// Deletes captures: gone from every answer at once, for good after 10 s. Open ones are ended by it in
    /// the store only. Gives those that were there.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn delete(&self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        let mut records = self.inner.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.retain(|(id, _)| !ids.contains(id));
        for id in ids {
            drop(self.inner.feed.send(Change::Deleted(*id)));
        }
        Ok(ids.to_vec())
    }

    /// Deletes all that a query gives, as [`Store::delete`].
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn delete_matching(&self, query: &Query) -> Result<Vec<CaptureId>, StoreError> {
        let page = self.list(query, None, usize::MAX)?;
        self.delete(&page.captures.iter().map(|summary| summary.id).collect::<Vec<_>>())
    }

    /// Deletes captures for good; when this returns, nothing readable of them is left in the folder.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn delete_now(&self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        self.delete(ids)
    }

    /// Brings back what was deleted less than 10 s ago. Gives those that came back.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn undelete(&self, ids: &[CaptureId]) -> Result<Vec<CaptureId>, StoreError> {
        let _ = ids;
        Ok(Vec::new())
    }

    /// Stores an exchange that comes from somewhere else. When this returns, it can be read.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub fn import(&self, import: Import) -> Result<CaptureId, StoreError> {
        let tap = self.recorder().begin(import.request);
        tap.request_body(&import.request_body);
        if let Some(head) = import.response {
            tap.response(head);
        }
        for (bytes, _) in &import.chunks {
            tap.chunk(bytes);
        }
        tap.end(import.ending);
        Ok(tap.id())
    }

    /// Changes from now on. A receiver that lags more than 1,024 behind loses the oldest.
    pub fn feed(&self) -> broadcast::Receiver<Change> {
        self.inner.feed.subscribe()
    }

    /// The reading of an open capture as it grows; `None` if it is not open.
    pub fn watch(&self, id: CaptureId) -> Option<LiveReading> {
        let open = self.summary(id).is_ok_and(|summary| summary.state == State::Open);
        let mut watchers = self.inner.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = watchers.entry(id).or_insert_with(|| watch::channel(None).0);
        open.then(|| LiveReading { receiver: sender.subscribe() })
    }

    /// Ends: what is queued is written and read, open captures end as `interrupted`. Blocks until that is done.
    pub fn shutdown(&self) {}
}

/// The pieces of a body, read from the store as they are asked for.
pub struct Pieces {
    pieces: std::vec::IntoIter<Result<Piece, StoreError>>,
}

impl Iterator for Pieces {
    type Item = Result<Piece, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pieces.next()
    }
}
