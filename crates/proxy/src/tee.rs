//! The response's body on its way to the app.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use teeline_capture::Ending;

use crate::{
    exchange::Exchange,
    head,
    outlet::Outlet,
    received::{Broken, Received},
};

/// Passes every frame on untouched and tells the tap about it. Dropped, it judges how the body ended;
/// without an end or an error it was the app, or we: that is the exchange's to say.
pub(crate) struct Tee {
    inner: Received,
    exchange: Exchange,
    outlet: Outlet,
    framing: Framing,
    progress: Progress,
    /// How the upstream broke, once it has.
    broke: Option<String>,
}

/// How the body ends on the app's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is none: HEAD, 204, 304, a length of 0.
    Empty,
    /// After its length, or with its last chunk.
    Marked {
        /// In chunks.
        chunked: bool,
    },
    /// With the connection: only HTTP/1.0 apps.
    Close,
}

enum Progress {
    Running,
    /// The upstream ended the body in an orderly way.
    Ended,
    /// An error came; it is passed on when everything before it was written.
    Failed(Option<Broken>),
}

impl Tee {
    pub(crate) fn new(
        inner: Received,
        framing: Framing,
        exchange: Exchange,
        outlet: Outlet,
    ) -> Self {
        if framing != Framing::Empty {
            let chunked = framing == Framing::Marked { chunked: true };
            outlet.begin(exchange.tap().clone(), chunked);
        }
        Self { inner, exchange, outlet, framing, progress: Progress::Running, broke: None }
    }

    fn note(&mut self, frame: &Frame<Bytes>) {
        if let Some(bytes) = frame.data_ref() {
            self.exchange.tap().chunk(bytes);
            self.outlet.handed(bytes.len());
        } else if let Some(trailers) = frame.trailers_ref() {
            self.exchange.tap().trailers(head::recorded(trailers));
            self.progress = Progress::Ended;
        }
    }

    /// How the upstream ended the body, if it did.
    fn ending(&mut self) -> Option<Ending> {
        if let Some(how) = self.broke.take() {
            return Some(Ending::UpstreamBroke { how });
        }
        let ended = matches!(self.progress, Progress::Ended) || self.inner.is_end_stream();
        ended.then_some(Ending::Clean)
    }
}

impl Body for Tee {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = &mut *self;
        if let Progress::Failed(error) = &mut this.progress {
            // hyper throws away what it has not yet written when a body fails, and h2 when a stream is
            // reset. They flush after each turn, so what is left by now is what the app's window has
            // no room for.
            ready!(this.outlet.poll_written(cx));
            return Poll::Ready(error.take().map(Err));
        }
        match ready!(Pin::new(&mut this.inner).poll_frame(cx)) {
            Some(Ok(frame)) => {
                this.note(&frame);
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                this.broke = Some(error.how());
                this.progress = Progress::Failed(Some(error));
                // Not in the turn of the last data: let hyper flush first.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => {
                this.progress = Progress::Ended;
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        // Told that there is no body at all, hyper would move or drop the upstream's own length.
        (self.framing != Framing::Empty || self.outlet.is_http2()) && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.framing {
            // The length in the head is that of another answer: of GET, or of the cached body.
            Framing::Empty => SizeHint::default(),
            _ => self.inner.size_hint(),
        }
    }
}

impl Drop for Tee {
    fn drop(&mut self) {
        let ending = self.ending();
        if self.framing == Framing::Close && ending != Some(Ending::Clean) {
            self.outlet.reset();
        }
        if let Some(ending) = ending {
            self.exchange.end(ending);
        }
        self.outlet.end();
    }
}
