//! An app's socket, plain or encrypted, with what was read of it to tell protocols apart.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf as _, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// How a connection begins on which HTTP/2 is spoken (RFC 9113, section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The first byte of a TLS connection: a record of the type `handshake` (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 0x16;

/// How long an app may take to shake hands.
const HANDSHAKE: Duration = Duration::from_secs(30);

pub(crate) struct AppStream {
    socket: Socket,
    /// Read already, and given out first; no longer than [`PREFACE`].
    ahead: BytesMut,
    /// What reading said right behind `ahead`; it is told when `ahead` was given out.
    failed: Option<io::Error>,
}

enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AppStream {
    /// Shakes hands if the app speaks TLS and there is a certificate for it.
    pub(crate) async fn open(stream: TcpStream, tls: Option<&TlsAcceptor>) -> io::Result<Self> {
        let mut first = [0];
        let socket = match tls {
            Some(tls) if 0 < stream.peek(&mut first).await? && first == [TLS_HANDSHAKE] => {
                Socket::Tls(Box::new(timeout(HANDSHAKE, tls.accept(stream)).await??))
            }
            _ => Socket::Plain(stream),
        };
        Ok(Self { socket, ahead: BytesMut::new(), failed: None })
    }

    /// Whether the app speaks HTTP/2, which shows in its first bytes (whatever ALPN said).
    pub(crate) async fn speaks_http2(&mut self) -> io::Result<bool> {
        let mut ahead = BytesMut::with_capacity(PREFACE.len());
        while ahead.len() < PREFACE.len() && PREFACE.starts_with(&ahead) {
            let room = (PREFACE.len() - ahead.len()) as u64;
            if (&mut *self).take(room).read_buf(&mut ahead).await? == 0 {
                break;
            }
        }
        let speaks = ahead == PREFACE;
        self.ahead = ahead;
        Ok(speaks)
    }

    pub(crate) fn is_secure(&self) -> bool {
        matches!(self.socket, Socket::Tls(_))
    }

    /// The socket below.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match &self.socket {
            Socket::Plain(stream) => stream,
            Socket::Tls(stream) => stream.get_ref().0,
        }
    }
}

impl Socket {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncRead for AppStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if let Some(err) = this.failed.take() {
            return Poll::Ready(Err(err));
        }
        if this.ahead.is_empty() {
            return this.socket.poll_read(cx, buf);
        }
        let length = this.ahead.len().min(buf.remaining());
        buf.put_slice(this.ahead.get(..length).unwrap_or_default());
        this.ahead.advance(length);
        // What came with it is given with it: of a part of a head hyper makes room for a second one.
        if buf.remaining() > 0
            && let Poll::Ready(Err(err)) = this.socket.poll_read(cx, buf)
        {
            this.failed = Some(err);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for AppStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Socket::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Socket::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Socket::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
