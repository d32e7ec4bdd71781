//! What the proxy calls. Nothing here waits, fails or panics: a fault of the recorder is the capture's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;

use crate::exchange::SWITCHING_PROTOCOLS;
use crate::record::Record;
use crate::redact::Secrets;
use crate::stream::{Hub, Stream};
use crate::{CaptureId, Ending, RequestHead, ResponseHead};

/// More 1xx responses than these are not listed.
const INFORMATIONAL: usize = 16;

/// Begins captures. Cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    /// `None` where the store was opened for reading.
    hub: Option<Arc<Hub>>,
}

impl Recorder {
    pub(crate) fn new(hub: Option<Arc<Hub>>) -> Self {
        Self { hub }
    }

    /// Begins the record of an exchange: its start is now. Secrets in the head are redacted before this returns.
    pub fn begin(&self, request: RequestHead) -> Tap {
        let stream = self.hub.as_ref().and_then(|hub| {
            // A fault of the redaction must not reach the app, nor a head that was not redacted the disk.
            catch_unwind(AssertUnwindSafe(|| admit(hub, request))).ok().flatten()
        });
        match stream {
            Some(stream) => Tap { id: stream.id, guard: Some(Arc::new(Guard(stream))) },
            None => Tap { id: CaptureId::new(), guard: None },
        }
    }
}

fn admit(hub: &Arc<Hub>, request: RequestHead) -> Option<Arc<Stream>> {
    if hub.passes() {
        return None;
    }
    let (record, secrets) = redacted(hub, request);
    let stream = Arc::new(Stream::new(Arc::clone(hub), &record, secrets));
    hub.admit(&stream, record).then_some(stream)
}

/// The record at the start of an exchange, and the secrets that were in its head.
pub(crate) fn redacted(hub: &Hub, request: RequestHead) -> (Record, Secrets) {
    let mut secrets = Secrets::default();
    let record = Record {
        upstream: request.upstream,
        method: request.method,
        target: hub.redactor.url(&request.target, &mut secrets),
        url: hub.redactor.url(&request.url, &mut secrets),
        version: request.version.to_owned(),
        client: request.client.map(|client| client.to_string()),
        headers: hub.redactor.headers(&request.headers, &mut secrets),
        ..Record::default()
    };
    (record, secrets)
}

/// Headers of a response, without its own secrets and without those of the request that it quotes.
pub(crate) fn redacted_headers(
    hub: &Hub,
    secrets: &Secrets,
    headers: &[(String, Bytes)],
) -> Vec<(String, String)> {
    let mut kept = hub.redactor.headers(headers, &mut Secrets::default());
    for (_, value) in &mut kept {
        *value = secrets.mask_text(value);
    }
    kept
}

/// The record of one exchange while it happens.
///
/// Clones share the record. The end of the last one ends it, so that nothing can lose the end; when it is
/// gone (or a second after [`Tap::end`], and ten where the request is still being sent) the capture is final.
#[derive(Clone)]
pub struct Tap {
    id: CaptureId,
    /// `None`: this exchange is not recorded.
    guard: Option<Arc<Guard>>,
}

struct Guard(Arc<Stream>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Tap {
    /// The capture that is being recorded.
    pub fn id(&self) -> CaptureId {
        self.id
    }

    /// A piece of the request's body, as it came. Kept up to 32 MiB.
    pub fn request_body(&self, chunk: &Bytes) {
        if let Some(stream) = self.stream() {
            stream.request_chunk(chunk);
        }
    }

    /// The request's body ended; `whole` is false where it was broken off. The first call counts, and
    /// may come after the response's end: some answer before they have read the request.
    pub fn request_end(&self, whole: bool) {
        if let Some(stream) = self.stream() {
            stream.request_end(whole);
        }
    }

    /// The request's head was written upstream.
    pub fn sent(&self) {
        if let Some(stream) = self.stream() {
            stream.change(|pending, at| pending.moments.sent_us = Some(at));
        }
    }

    /// A 1xx response came.
    pub fn informational(&self, status: u16) {
        if let Some(stream) = self.stream() {
            stream.change(|pending, _| {
                if pending.informational.len() < INFORMATIONAL {
                    pending.informational.push(status);
                }
            });
        }
    }

    /// The response's head came.
    pub fn response(&self, head: ResponseHead) {
        let Some(stream) = self.stream() else { return };
        let headers = catch_unwind(AssertUnwindSafe(|| {
            redacted_headers(&stream.hub, &stream.secrets, &head.headers)
        }));
        stream.change(|pending, at| {
            pending.moments.response_us = Some(at);
            pending.tunnel = head.status == SWITCHING_PROTOCOLS;
            let response = pending.response.get_or_insert_default();
            response.status = head.status;
            response.reason = head.reason.map(|reason| stream.secrets.mask_text(&reason));
            head.version.clone_into(&mut response.version);
            response.headers = headers.unwrap_or_default();
        });
    }

    /// A piece of the response's body, as it came: encoded, uncut.
    pub fn chunk(&self, bytes: &Bytes) {
        if let Some(stream) = self.stream() {
            stream.chunk(bytes);
        }
    }

    /// So many bytes of the response's body were written to the app's socket.
    pub fn written(&self, bytes: u64) {
        if let Some(stream) = self.stream() {
            stream.add_written(bytes);
        }
    }

    /// The response's trailers came.
    pub fn trailers(&self, trailers: Vec<(String, Bytes)>) {
        let Some(stream) = self.stream() else { return };
        let kept = catch_unwind(AssertUnwindSafe(|| {
            redacted_headers(&stream.hub, &stream.secrets, &trailers)
        }));
        stream.change(|pending, _| pending.trailers = kept.ok());
        drop(trailers);
    }

    /// The app went away, in a word or two: `closed`, `reset`, `reset CANCEL`. To be told before the end, which
    /// it does not make; the first word counts.
    pub fn left(&self, how: &str) {
        if let Some(stream) = self.stream() {
            stream.change(|pending, _| _ = pending.left.get_or_insert_with(|| how.to_owned()));
        }
    }

    /// The exchange ended so. The first ending counts; without one, the drop of the last clone says
    /// [`Ending::ClientLeft`]. What is written to the app after it is still counted.
    pub fn end(&self, ending: Ending) {
        let Some(stream) = self.stream() else { return };
        let mask = |text: &str| {
            let text = stream.hub.redactor.url(text, &mut Secrets::default());
            stream.secrets.mask_text(&text)
        };
        let ending = match ending {
            Ending::UpstreamBroke { how } => Ending::UpstreamBroke { how: mask(&how) },
            Ending::Failed { kind, message } => Ending::Failed { kind, message: mask(&message) },
            other => other,
        };
        stream.end(ending);
    }

    /// What it records into; `None` where it records nothing.
    pub(crate) fn stream(&self) -> Option<&Stream> {
        self.guard.as_ref().map(|guard| &*guard.0)
    }
}
