//! An upstream's socket as hyper gets it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use teeline_capture::Tap;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

use crate::spelling::HeadWatch;

/// What an upstream connection's IO is told from above.
#[derive(Default)]
pub(crate) struct Wire {
    /// The next write is to be told to the tap.
    armed: AtomicBool,
    tap: Mutex<Option<Tap>>,
    /// A response's head is expected.
    watching: AtomicBool,
    watch: Mutex<HeadWatch>,
}

/// The connection on which a request travels, once it does.
#[derive(Clone, Default)]
pub(crate) struct Travels(Arc<Mutex<Option<Arc<Wire>>>>);

impl Travels {
    /// It goes on this one; again on another if nothing of it was sent.
    pub(crate) fn set(&self, wire: Arc<Wire>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wire);
    }

    /// The head of the 1xx that has just come, if it is known.
    pub(crate) fn take_interim(&self) -> Option<Vec<u8>> {
        let wire = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        wire?.take_interim()
    }
}

impl Wire {
    /// Tells `tap` when the next bytes are written, and watches for the head that answers them.
    pub(crate) fn announce(&self, tap: Tap) {
        *self.tap.lock().unwrap_or_else(PoisonError::into_inner) = Some(tap);
        self.armed.store(true, Ordering::Release);
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).expect();
        self.watching.store(true, Ordering::Release);
    }

    fn read(&self, bytes: &[u8]) {
        if self.watching.load(Ordering::Acquire) {
            self.watch.lock().unwrap_or_else(PoisonError::into_inner).saw(bytes);
        }
    }

    /// The head of the response that came, without the 1xx before it.
    pub(crate) fn take_head(&self) -> Option<Vec<u8>> {
        self.watching.store(false, Ordering::Release);
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let head = std::iter::from_fn(|| watch.take()).find(|head| !is_interim(head));
        watch.stop();
        head
    }

    /// The head of the 1xx that has just come, if it is known.
    pub(crate) fn take_interim(&self) -> Option<Vec<u8>> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn wrote(&self) {
        if self.armed.load(Ordering::Acquire) && self.armed.swap(false, Ordering::AcqRel) {
            let tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(tap) = tap {
                tap.sent();
            }
        }
    }
}

/// Whether another head follows: a 1xx, but not the last of HTTP/1.1 on a connection.
fn is_interim(head: &[u8]) -> bool {
    let status = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    status.starts_with(b"1") && !status.starts_with(b"101")
}

pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Tells its [`Wire`] what happens on the socket.
///
/// A failed write does not fail the exchange: an upstream may answer and close before it has read
/// the request, and its answer still stands in our receive buffer. hyper would throw it away. So
/// writing waits from then on, and reading says how it ended.
pub(crate) struct UpstreamIo {
    stream: Stream,
    wire: Arc<Wire>,
    /// Why writing is over.
    failed: Option<io::ErrorKind>,
    /// The end was read.
    finished: bool,
}

impl UpstreamIo {
    pub(crate) fn new(stream: Stream, wire: Arc<Wire>) -> Self {
        Self { stream, wire, failed: None, finished: false }
    }

    /// The connection is to be reset when it is given up.
    pub(crate) fn reset(&self) {
        let tcp = match &self.stream {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref().0,
        };
        // If it fails, the end looks orderly; nothing else can be done.
        let _ = tcp.set_zero_linger();
    }

    fn written(&mut self, result: io::Result<usize>) -> Poll<io::Result<usize>> {
        match result {
            Ok(length) => {
                self.wire.wrote();
                Poll::Ready(Ok(length))
            }
            Err(err) => {
                self.failed = Some(err.kind());
                self.stopped()
            }
        }
    }

    /// After a failed write. Reading, by the same task, wakes it.
    fn stopped(&self) -> Poll<io::Result<usize>> {
        match self.failed {
            Some(kind) if self.finished => Poll::Ready(Err(kind.into())),
            _ => Poll::Pending,
        }
    }
}

impl AsyncRead for UpstreamIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let result = ready!(match &mut this.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        });
        let came = buf.filled().get(before..).unwrap_or_default();
        this.finished = result.is_err() || came.is_empty();
        this.wire.read(came);
        // The kernel reports a reset once; where the write got it, reading sees a mere end.
        if this.finished && this.failed == Some(io::ErrorKind::ConnectionReset) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for UpstreamIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.failed.is_some() {
            return this.stopped();
        }
        let result = ready!(match &mut this.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        });
        this.written(result)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.failed.is_some() {
            return this.stopped();
        }
        let result = ready!(match &mut this.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        });
        this.written(result)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.failed.is_some() {
            return this.stopped().map_ok(|_| ());
        }
        let result = ready!(match &mut this.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        });
        match result {
            Ok(()) => Poll::Ready(Ok(())),
            Err(err) => this.written(Err(err)).map_ok(|_| ()),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
