//! What the proxy calls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;

use crate::store::Inner;
use crate::{
    CaptureId, Ending, Moments, RequestHead, RequestView, ResponseHead, ResponseView, StoredChunk,
    Timestamp,
};

/// Begins captures. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Record {
    pub(crate) started_at: Timestamp,
    pub(crate) start: Instant,
    pub(crate) head: RequestHead,
    pub(crate) request: RequestView,
    pub(crate) response: Option<ResponseView>,
    pub(crate) chunks: Vec<StoredChunk>,
    pub(crate) bytes: u64,
    pub(crate) written: u64,
    pub(crate) moments: Moments,
    pub(crate) ending: Option<Ending>,
}

/// The record of one exchange while it happens.
///
/// Clones share the record; the end of the last one ends it. Nothing here waits, fails or panics.
#[derive(Clone)]
pub struct Tap(Arc<Guard>);

struct Guard {
    id: CaptureId,
    record: Arc<Mutex<Record>>,
    inner: Arc<Inner>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        end(&self.record, Ending::ClientLeft);
        self.inner.changed(self.id);
    }
}

impl Recorder {
    /// Begins the record of an exchange.
    pub fn begin(&self, request: RequestHead) -> Tap {
        let id = CaptureId::new();
        let view = RequestView {
            method: request.method.clone(),
            url: request.url.clone(),
            version: request.version.to_owned(),
            headers: text(&request.headers),
            ..RequestView::default()
        };
        let record = Arc::new(Mutex::new(Record {
            started_at: Timestamp::now(),
            start: Instant::now(),
            head: request,
            request: view,
            response: None,
            chunks: Vec::new(),
            bytes: 0,
            written: 0,
            moments: Moments::default(),
            ending: None,
        }));
        self.inner.add(id, Arc::clone(&record));
        Tap(Arc::new(Guard { id, record, inner: Arc::clone(&self.inner) }))
    }
}

fn text(headers: &[(String, Bytes)]) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned()))
        .collect()
}

fn end(record: &Mutex<Record>, ending: Ending) {
    let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
    if record.ending.is_none() {
        record.ending = Some(ending);
        record.moments.end_us = Some(micros(record.start));
    }
}

fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

impl Tap {
    /// The capture that is being recorded.
    pub fn id(&self) -> CaptureId {
        self.0.id
    }

    /// A piece of the request's body, as it came. Kept up to 32 MiB.
    pub fn request_body(&self, chunk: &Bytes) {
        self.with(|record, _| record.request.body.push_str(&String::from_utf8_lossy(chunk)));
    }

    /// The request's body ended; `whole` is false where it was broken off.
    pub fn request_end(&self, whole: bool) {
        self.with(|record, at| {
            record.request.body_truncated |= !whole;
            record.moments.request_end_us = Some(at);
        });
    }

    /// The request's head was written upstream.
    pub fn sent(&self) {
        self.with(|record, at| record.moments.sent_us = Some(at));
    }

    /// A 1xx response came.
    pub fn informational(&self, status: u16) {
        self.with(|record, _| {
            record.response.get_or_insert_default().informational.push(status);
        });
    }

    /// The response's head came.
    pub fn response(&self, head: ResponseHead) {
        self.with(|record, at| {
            record.moments.response_us = Some(at);
            let response = record.response.get_or_insert_default();
            response.status = head.status;
            response.reason = head.reason;
            head.version.clone_into(&mut response.version);
            response.headers = text(&head.headers);
        });
        self.0.inner.changed(self.0.id);
    }

    /// A piece of the response's body, as it came: encoded, uncut.
    pub fn chunk(&self, bytes: &Bytes) {
        self.with(|record, at| {
            let offset = record.bytes;
            record.bytes += bytes.len() as u64;
            record.chunks.push(StoredChunk { offset, at_us: Some(at), bytes: bytes.clone() });
        });
    }

    /// So many bytes of the response's body were written to the app's socket.
    pub fn written(&self, bytes: u64) {
        self.with(|record, _| record.written += bytes);
    }

    /// The response's trailers came.
    pub fn trailers(&self, trailers: Vec<(String, Bytes)>) {
        self.with(|record, _| {
            record.response.get_or_insert_default().trailers = text(&trailers);
        });
        drop(trailers);
    }

    /// The exchange ended so. The first ending counts; without one, the drop of the last clone says
    /// [`Ending::ClientLeft`]. The capture is final when the last clone is dropped (or a second after
    /// its ending), so that what is written to the app until then is counted.
    pub fn end(&self, ending: Ending) {
        end(&self.0.record, ending);
        self.0.inner.changed(self.0.id);
    }

    fn with(&self, change: impl FnOnce(&mut Record, u64)) {
        let mut record = self.0.record.lock().unwrap_or_else(PoisonError::into_inner);
        let at = micros(record.start);
        change(&mut record, at);
    }
}
