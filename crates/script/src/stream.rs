//! A plain or encrypted connection.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    /// Read already, and given out first.
    ahead: BytesMut,
}

#[derive(Debug)]
enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    pub(crate) fn plain(stream: TcpStream) -> Self {
        Self { socket: Socket::Plain(stream), ahead: BytesMut::new() }
    }

    pub(crate) fn tls(stream: TlsStream<TcpStream>) -> Self {
        Self { socket: Socket::Tls(Box::new(stream)), ahead: BytesMut::new() }
    }

    /// Puts back what was read.
    pub(crate) fn unread(&mut self, bytes: BytesMut) {
        self.ahead = bytes;
    }

    /// Makes the close that follows a reset.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        match &self.socket {
            Socket::Plain(stream) => stream.set_zero_linger(),
            Socket::Tls(stream) => stream.get_ref().0.set_zero_linger(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.ahead.is_empty() {
            let length = this.ahead.len().min(buf.remaining());
            buf.put_slice(&this.ahead.split_to(length));
            return Poll::Ready(Ok(()));
        }
        match &mut this.socket {
            Socket::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Socket::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Stream {
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
