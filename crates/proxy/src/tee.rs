//! The response's body on its way to the app.

use std::{
    error::Error,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use teeline_capture::Ending;

use crate::{exchange::Exchange, head, line::Line};

/// Passes every frame on untouched and tells the tap about it. Dropped, it judges how the body ended;
/// without an end or an error it was the app, or we: that is the exchange's to say.
pub(crate) struct Tee {
    inner: Incoming,
    exchange: Exchange,
    line: Arc<Line>,
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
    Failed(Option<hyper::Error>),
}

impl Tee {
    pub(crate) fn new(
        inner: Incoming,
        framing: Framing,
        exchange: Exchange,
        line: Arc<Line>,
    ) -> Self {
        if framing != Framing::Empty {
            let chunked = framing == Framing::Marked { chunked: true };
            line.begin(exchange.tap().clone(), chunked);
        }
        Self { inner, exchange, line, framing, progress: Progress::Running, broke: None }
    }

    fn note(&mut self, frame: &Frame<Bytes>) {
        if let Some(bytes) = frame.data_ref() {
            self.exchange.tap().chunk(bytes);
            self.line.handed(bytes.len());
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
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        if let Progress::Failed(error) = &mut this.progress {
            // hyper throws away what it has not yet written when a body fails. It flushes after
            // each turn, so what is left by now is what the app's window has no room for.
            ready!(this.line.poll_written(cx));
            return Poll::Ready(error.take().map(Err));
        }
        match ready!(Pin::new(&mut this.inner).poll_frame(cx)) {
            Some(Ok(frame)) => {
                this.note(&frame);
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                this.broke = Some(how(&error));
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
        self.framing != Framing::Empty && self.inner.is_end_stream()
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
            self.line.reset();
        }
        if let Some(ending) = ending {
            self.exchange.end(ending);
        }
        self.line.end();
    }
}

/// How the upstream's connection broke, in a few words.
pub(crate) fn how(error: &hyper::Error) -> String {
    let Some(cause) = io_cause(error) else {
        let early = error.is_incomplete_message();
        return if early { "closed early".to_owned() } else { error.to_string() };
    };
    match cause.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset".to_owned(),
        io::ErrorKind::UnexpectedEof => "closed early".to_owned(),
        io::ErrorKind::TimedOut => "timeout".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => format!("malformed: {cause}"),
        _ => cause.to_string(),
    }
}

/// The IO error behind an error of hyper's, if there is one.
pub(crate) fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref() {
            return Some(io);
        }
        cause = error.source();
    }
    None
}
