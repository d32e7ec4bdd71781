//! The request's body on its way upstream.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use teeline_capture::Tap;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{
    exchange::Exchange,
    received::{Broken, Received},
};

/// How long an app that asked for `100 Continue` waits for it before it sends the body anyway; the
/// same as curl. RFC 9110, section 10.1.1 forbids to wait forever.
const PATIENCE: Duration = Duration::from_secs(1);

/// Passes every frame on untouched and tells the tap about it.
///
/// Boxed, since hyper keeps room for 32 requests with each upstream connection.
pub(crate) struct Upload(Box<Passing>);

struct Passing {
    inner: Received,
    tap: Tap,
    passage: Passage,
    /// Shut until the upstream wants the body: the first look at it makes hyper tell the app to
    /// send it.
    gate: Option<Gate>,
}

type Gate = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How far a request's body has passed. Its upstream connection is of no use for another request
/// before it has passed whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passage(Arc<AtomicU8>);

const WHOLE: u8 = 1;
const BROKEN_OFF: u8 = 2;

impl Passage {
    pub(crate) fn is_whole(&self) -> bool {
        self.0.load(Ordering::Acquire) == WHOLE
    }

    /// Whether the app's connection ended within the body.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.0.load(Ordering::Acquire) == BROKEN_OFF
    }

    fn set(&self, state: u8) {
        self.0.store(state, Ordering::Release);
    }
}

impl Upload {
    pub(crate) fn new(inner: Received, exchange: &Exchange) -> Self {
        let (tap, passage) = (exchange.tap().clone(), exchange.passage().clone());
        let passing = Passing { inner, tap, passage, gate: None };
        if passing.inner.is_end_stream() {
            passing.finish();
        }
        Self(Box::new(passing))
    }

    /// Holds the body back until `wanted` is cancelled, or a second has passed.
    pub(crate) fn hold(&mut self, wanted: CancellationToken) {
        self.0.gate = Some(Box::pin(async move {
            // Sent either way.
            let _ = timeout(PATIENCE, wanted.cancelled_owned()).await;
        }));
    }
}

impl Passing {
    fn finish(&self) {
        if !self.passage.is_whole() {
            self.passage.set(WHOLE);
            self.tap.request_end(true);
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = &mut *self.0;
        if let Some(gate) = &mut this.gate {
            ready!(gate.as_mut().poll(cx));
            this.gate = None;
        }
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => match frame.data_ref() {
                Some(bytes) => this.tap.request_body(bytes),
                None => this.finish(),
            },
            Some(Err(err)) if err.is_malformed() => {}
            Some(Err(_)) => this.passage.set(BROKEN_OFF),
            None => this.finish(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.inner.size_hint()
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        if self.inner.is_end_stream() {
            self.finish();
        } else if !self.passage.is_whole() {
            self.tap.request_end(false);
        }
    }
}
