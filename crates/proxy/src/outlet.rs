//! Where a response goes, in either version of HTTP.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use h2::{Reason, server::SendResponse};
use http::Response;
use teeline_capture::Tap;

use crate::{
    http2::Watch,
    interim,
    line::{Left, Line},
};

/// The app's connection, or its stream on it, as one request and its response see it.
#[derive(Clone)]
pub(crate) enum Outlet {
    Http1(Arc<Line>),
    Http2(Arc<Stream>),
}

/// An app's HTTP/2 stream.
pub(crate) struct Stream {
    pub(crate) id: u32,
    pub(crate) watch: Arc<Watch>,
    pub(crate) respond: Mutex<SendResponse<Bytes>>,
    /// How the app gave it up, once it has.
    left: Mutex<Option<Left>>,
}

impl Stream {
    pub(crate) fn new(watch: Arc<Watch>, respond: SendResponse<Bytes>) -> Self {
        let id = respond.stream_id().as_u32();
        Self { id, watch, respond: Mutex::new(respond), left: Mutex::default() }
    }

    /// The app gave it up, with its connection if there is no code. The first word counts.
    pub(crate) fn leave(&self, reason: Option<Reason>) {
        let how = reason.map(Left::Stream).or_else(|| self.watch.left());
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.or(how);
    }

    fn left(&self) -> Option<Left> {
        let left = *self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.or_else(|| self.watch.left())
    }
}

impl Outlet {
    pub(crate) fn is_http2(&self) -> bool {
        matches!(self, Self::Http2(_))
    }

    /// How the app went away, if it did.
    pub(crate) fn left(&self) -> Option<Left> {
        match self {
            Self::Http1(line) => line.left(),
            Self::Http2(stream) => stream.left(),
        }
    }

    /// A request was taken: gives its head as it was spelled, if that is known for sure. `body`: one
    /// follows.
    pub(crate) fn asked(&self, body: bool) -> Option<Vec<u8>> {
        match self {
            Self::Http1(line) => line.asked(body),
            Self::Http2(_) => None,
        }
    }

    /// The request was answered by us. `read`: its body was read whole.
    pub(crate) fn answered(&self, own: bool, read: bool) {
        if let Self::Http1(line) = self {
            if read {
                line.expect();
            }
            if own {
                line.answered();
            }
        }
    }

    /// Passes a 1xx on. `raw`: its head as it was spelled, if that is known.
    pub(crate) fn informational(&self, response: Response<()>, raw: Option<&[u8]>) {
        match self {
            Self::Http1(line) => {
                line.interim(&interim::written(raw, response.status(), response.headers()));
            }
            Self::Http2(stream) => {
                let mut respond = stream.respond.lock().unwrap_or_else(PoisonError::into_inner);
                // It fails when the stream is over, which is seen elsewhere.
                let _ = respond.send_informational(response);
            }
        }
    }

    /// Waits until every 1xx is written: the answer comes after them.
    pub(crate) async fn informed(&self) {
        if let Self::Http1(line) = self {
            poll_fn(|cx| line.poll_interim_written(cx)).await;
        }
    }

    /// The response's body begins. `chunked`: in chunked framing.
    pub(crate) fn begin(&self, tap: Tap, chunked: bool) {
        match self {
            Self::Http1(line) => line.begin(tap, chunked),
            Self::Http2(stream) => stream.watch.begin(stream.id, tap),
        }
    }

    /// A piece of the body was handed over.
    pub(crate) fn handed(&self, length: usize) {
        match self {
            Self::Http1(line) => line.handed(length),
            Self::Http2(stream) => stream.watch.handed(stream.id, length),
        }
    }

    /// Ready when everything that was handed over is written. To be asked in a later turn than the
    /// one in which the last piece was handed over.
    pub(crate) fn poll_written(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            Self::Http1(line) => line.poll_written(cx),
            Self::Http2(stream) => stream.watch.poll_written(stream.id, cx),
        }
    }

    /// The body has ended; what is still on its way is counted, then the tap is let go.
    pub(crate) fn end(&self) {
        match self {
            Self::Http1(line) => line.end(),
            Self::Http2(stream) => stream.watch.end(stream.id),
        }
    }

    /// An orderly end would make a broken body look complete to the app. (On HTTP/2 a stream has an
    /// end of its own.)
    pub(crate) fn reset(&self) {
        if let Self::Http1(line) = self {
            line.reset();
        }
    }
}
