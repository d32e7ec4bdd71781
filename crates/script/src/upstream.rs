//! The server.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::AsyncReadExt as _,
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    Authority, Gone, Request, Script,
    connection::{Connection, Shared},
    http2::{self, PREFACE},
    journal::Journal,
    stream::Stream,
};

/// How long a client may take over the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// A scripted server on a real socket. It stops, and its connections close, when this value is
/// dropped.
pub struct Upstream {
    addr: SocketAddr,
    shared: Arc<Shared>,
    ca_pem: Option<String>,
    server: AbortHandle,
}

/// How an [`Upstream`] is to be started.
#[must_use = "nothing is started yet"]
#[derive(Debug)]
pub struct Builder<'a> {
    addr: SocketAddr,
    authority: Option<&'a Authority>,
    early: bool,
    http2: bool,
    max_streams: u32,
    keep_body: usize,
    keep_requests: usize,
}

impl Upstream {
    /// Starts a plain server on a free port of 127.0.0.1. The handler is asked for each request,
    /// when it is there whole, and says what to do.
    ///
    /// # Errors
    ///
    /// Where no socket can be had.
    pub async fn start(
        handler: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::builder().start(handler).await
    }

    /// Where more is to be said than a handler.
    pub fn builder() -> Builder<'static> {
        Builder {
            addr: SocketAddr::from(([127, 0, 0, 1], 0)),
            authority: None,
            early: false,
            http2: false,
            max_streams: 250,
            keep_body: 16 << 20,
            keep_requests: 1_000,
        }
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its base URL, like `http://127.0.0.1:41234` (`https` with TLS).
    pub fn url(&self) -> String {
        let scheme = if self.ca_pem.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.addr)
    }

    /// The certificate a client has to trust, if this server speaks TLS.
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// The last requests, oldest first, each with what was read of its body so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.journal.requests()
    }

    /// Opens a gate for good: every script that stands at it, or comes to it, goes on.
    pub fn open_gate(&self, name: &str) {
        self.shared.journal.open(name);
    }

    /// Waits until a script reached the gate or mark `name`: all its steps before are done.
    pub async fn reached(&self, name: &str) {
        self.reached_times(name, 1).await;
    }

    /// Waits until the gate or mark `name` was reached so many times.
    pub async fn reached_times(&self, name: &str, times: u64) {
        self.shared.journal.until_reached(name, times).await;
    }

    /// Waits until so many request heads came in all.
    pub async fn received(&self, count: u64) {
        self.shared.journal.until_received(count).await;
    }

    /// Waits until `length` bytes of the body of request `number` were read, or it ended before.
    pub async fn received_body(&self, number: u64, length: u64) {
        self.shared.journal.until_body(number, length).await;
    }

    /// HTTP/2: waits until the client has reset the stream of request `number`, and gives the code
    /// (`u32::MAX`: its connection went).
    pub async fn stream_reset(&self, number: u64) -> u32 {
        self.shared.journal.until_reset(number).await
    }

    /// Waits until the connection `number` (from 0, in order of acceptance) is over, and says how.
    /// A client's end is noticed whenever the server reads or waits with the request read whole.
    pub async fn client_gone(&self, number: u64) -> Gone {
        self.shared.journal.until_gone(number).await
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl<'a> Builder<'a> {
    /// Listens on this address instead of a free port of 127.0.0.1.
    pub fn addr(self, addr: SocketAddr) -> Self {
        Self { addr, ..self }
    }

    /// Speaks TLS with a certificate by `authority` for `localhost`, the loopback addresses and
    /// the address it listens on.
    pub fn tls(self, authority: &'a Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// Asks the handler as soon as a head came. Reading the body is then the script's affair; what
    /// it leaves is read after its last step, before the next request.
    pub fn early(self) -> Self {
        Self { early: true, ..self }
    }

    /// Speaks HTTP/2 with clients that begin with its preface, and under TLS offers it first.
    pub fn http2(self) -> Self {
        Self { http2: true, ..self }
    }

    /// HTTP/2: a client may have so many streams open at once (250 unless told otherwise).
    pub fn max_streams(self, max_streams: u32) -> Self {
        Self { max_streams, ..self }
    }

    /// Keeps so many bytes of each body; the rest is counted.
    pub fn keep_body(self, bytes: usize) -> Self {
        Self { keep_body: bytes, ..self }
    }

    /// Keeps so many requests, the last ones.
    pub fn keep_requests(self, requests: usize) -> Self {
        Self { keep_requests: requests.max(1), ..self }
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// Where the address cannot be had, or no certificate can be made for it.
    pub async fn start(
        self,
        handler: impl Fn(&Request) -> Script + Send + Sync + 'static,
    ) -> io::Result<Upstream> {
        let listener = TcpListener::bind(self.addr).await?;
        let addr = listener.local_addr()?;
        let acceptor = match self.authority {
            Some(authority) => Some(acceptor(authority, addr, self.http2)?),
            None => None,
        };
        let journal = Journal::new(self.keep_requests, self.keep_body);
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            journal,
            early: self.early,
            http2: self.http2,
            max_streams: self.max_streams,
        });
        let server = tokio::spawn(accept(listener, acceptor, Arc::clone(&shared))).abort_handle();
        Ok(Upstream { addr, shared, ca_pem: self.authority.map(Authority::pem), server })
    }
}

fn acceptor(authority: &Authority, addr: SocketAddr, http2: bool) -> io::Result<TlsAcceptor> {
    let own = addr.ip().to_string();
    let protocols: &[_] = if http2 { &["h2", "http/1.1"] } else { &["http/1.1"] };
    let config = authority
        .server_config(&["localhost", "127.0.0.1", "::1", &own], protocols)
        .map_err(io::Error::other)?;
    Ok(TlsAcceptor::from(config))
}

/// Accepts until it is aborted; then its connections are aborted with it.
async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        let stream = loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                // No descriptor left, or the client is gone again: neither is the end of a server.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let (acceptor, shared) = (acceptor.clone(), Arc::clone(&shared));
        connections.spawn(async move {
            match open(stream, acceptor).await {
                Ok(stream) => serve(number, stream, shared).await,
                Err(_) => shared.journal.gone(number, Gone::Reset),
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// In the version that the client begins with.
async fn serve(number: u64, mut stream: Stream, shared: Arc<Shared>) {
    let mut begun = BytesMut::new();
    if shared.http2 {
        while begun.len() < PREFACE.len() && PREFACE.starts_with(&begun) {
            if !matches!(stream.read_buf(&mut begun).await, Ok(1..)) {
                break;
            }
        }
    }
    if begun.starts_with(PREFACE) {
        stream.unread(begun);
        http2::serve(number, stream, shared).await;
    } else {
        Connection::new(number, stream, begun, shared).serve().await;
    }
}

async fn open(stream: TcpStream, acceptor: Option<TlsAcceptor>) -> io::Result<Stream> {
    // Each step's write leaves at once.
    stream.set_nodelay(true)?;
    match acceptor {
        None => Ok(Stream::plain(stream)),
        Some(acceptor) => {
            let stream = timeout(HANDSHAKE, acceptor.accept(stream)).await??;
            Ok(Stream::tls(stream))
        }
    }
}
