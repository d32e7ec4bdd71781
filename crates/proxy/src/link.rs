//! Connections to upstreams. Each belongs to one connection of an app and closes with it, as it
//! would be without us: nothing is shared between apps, so nothing of one can hold up another.

use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use teeline_capture::Tap;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::client::TlsStream;

use crate::{
    Config, dial,
    failure::{Failure, Kind},
    tasks::{Owned, Tasks},
    tls::Tls,
    upload::{Passage, Upload},
    upstreams::Upstream,
};

/// More headers than hyper's 100, in requests and responses alike: heads are passed on, not judged.
pub(crate) const MAX_HEADERS: usize = 512;

/// So many idle upstream connections are kept for an app's connection; an app seldom uses one
/// connection for two upstreams, and a hostile one shall not make us keep any number.
const LINKS_KEPT: usize = 4;

/// A connection to an upstream. Dropped, it is closed at once.
pub(crate) struct Link {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) sender: SendRequest<Upload>,
    /// How far the last request sent on it has passed.
    pub(crate) passage: Passage,
    wire: Arc<Wire>,
    _task: Owned,
}

impl Link {
    /// Connects to `upstream` within the configured time.
    pub(crate) async fn open(
        upstream: &Arc<Upstream>,
        config: &Config,
        tls: &Tls,
        tasks: &Tasks,
        own: SocketAddr,
    ) -> Result<Self, Failure> {
        let stream = timeout(config.connect_timeout, open(upstream, tls, own)).await;
        let stream = stream.map_err(|_| late(upstream, config))??;
        let wire = Arc::new(Wire::default());
        let io = UpstreamIo::new(stream, Arc::clone(&wire));
        let (sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .max_headers(MAX_HEADERS)
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .handshake(TokioIo::new(io))
            .await
            .map_err(|err| Failure::new(Kind::UpstreamClosed, err.to_string()))?;
        let task = tasks.spawn_owned(async move {
            // Its errors are those of the request and the response that are under way.
            let _ = connection.with_upgrades().await;
        });
        Ok(Self {
            upstream: Arc::clone(upstream),
            sender,
            passage: Passage::default(),
            wire,
            _task: task,
        })
    }

    /// Tells `tap` when the next bytes are written.
    pub(crate) fn announce(&self, tap: Tap) {
        self.wire.announce(tap);
    }
}

/// The upstream connections of one app connection.
#[derive(Default)]
pub(crate) struct Links(Mutex<Vec<Link>>);

impl Links {
    /// The connection to `upstream`, if one is open and its last request is out of the way.
    pub(crate) fn take(&self, upstream: &Arc<Upstream>) -> Option<Link> {
        let mut links = self.lock();
        let index = links.iter().position(|link| Arc::ptr_eq(&link.upstream, upstream))?;
        let link = links.swap_remove(index);
        (link.passage.is_whole() && !link.sender.is_closed()).then_some(link)
    }

    /// Keeps a connection: for its response, which may still be coming, and for the next request.
    pub(crate) fn keep(&self, link: Link) {
        let mut links = self.lock();
        if LINKS_KEPT <= links.len() {
            links.remove(0);
        }
        links.push(link);
    }

    /// Closes all.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn open(upstream: &Upstream, tls: &Tls, own: SocketAddr) -> Result<Stream, Failure> {
    let stream = dial::connect(upstream.host(), upstream.port(), own).await?;
    if upstream.uses_tls() {
        Ok(Stream::Tls(Box::new(tls.connect(upstream.host(), stream).await?)))
    } else {
        Ok(Stream::Plain(stream))
    }
}

fn late(upstream: &Upstream, config: &Config) -> Failure {
    let (host, port, limit) = (upstream.host(), upstream.port(), config.connect_timeout);
    Failure::new(
        Kind::UpstreamTimeout,
        format!(
            "no connection to {host} port {port} within {limit:?}; is the network, a VPN or a firewall in the way?"
        ),
    )
}

/// What an upstream connection's IO is told from above.
#[derive(Default)]
struct Wire {
    armed: AtomicBool,
    tap: Mutex<Option<Tap>>,
}

impl Wire {
    fn announce(&self, tap: Tap) {
        *self.tap.lock().unwrap_or_else(PoisonError::into_inner) = Some(tap);
        self.armed.store(true, Ordering::Release);
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

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// An upstream's socket as hyper gets it.
///
/// A failed write does not fail the exchange: an upstream may answer and close before it has read
/// the request, and its answer still stands in our receive buffer. hyper would throw it away. So
/// writing waits from then on, and reading says how it ended.
struct UpstreamIo {
    stream: Stream,
    wire: Arc<Wire>,
    /// Why writing is over.
    failed: Option<io::ErrorKind>,
    /// The end was read.
    finished: bool,
}

impl UpstreamIo {
    fn new(stream: Stream, wire: Arc<Wire>) -> Self {
        Self { stream, wire, failed: None, finished: false }
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
        this.finished = result.is_err() || buf.filled().len() == before;
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
