//! The IO of an HTTP/2 connection, with a [`Watch`] on what is written.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::oneshot,
};

use super::watch::Watch;
use crate::line::Left;

/// A frame's head (RFC 9113, section 4.1), and as much of a payload as is looked at.
const HEAD: usize = 9;
const LOOKED_AT: usize = HEAD + 8;

/// How a server that speaks HTTP/2 begins (RFC 9113, section 3.4).
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

pub(super) struct Watched<S> {
    inner: S,
    watch: Arc<Watch>,
    incoming: Option<Incoming>,
}

/// What comes from an upstream, cut into frames: whether it begins as HTTP/2 does, and the code of
/// a GOAWAY, which h2 does not tell the streams that go on after it.
struct Incoming {
    /// The frame's head, and the beginning of its payload.
    frame: Vec<u8>,
    /// Bytes until the next frame.
    skip: usize,
    /// Who waits for the first frame.
    greeting: Option<oneshot::Sender<bool>>,
}

impl<S> Watched<S> {
    pub(super) fn new(inner: S, watch: Arc<Watch>) -> Self {
        Self { inner, watch, incoming: None }
    }

    /// Looks at what comes as well, and tells `greeting` whether it begins as HTTP/2 does.
    pub(super) fn greeted(mut self, greeting: oneshot::Sender<bool>) -> Self {
        let frame = Vec::with_capacity(LOOKED_AT);
        self.incoming = Some(Incoming { frame, skip: 0, greeting: Some(greeting) });
        self
    }

    fn wrote(&self, result: io::Result<usize>) -> io::Result<usize> {
        if let Err(err) = &result {
            self.watch.leave(Left::of(err));
        }
        result
    }

    fn read(&mut self, bytes: &[u8]) {
        let Some(incoming) = &mut self.incoming else { return };
        if bytes.is_empty() {
            incoming.greet(false);
        }
        incoming.advance(bytes, &self.watch);
    }
}

impl Incoming {
    fn advance(&mut self, mut bytes: &[u8], watch: &Watch) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if 0 < self.skip {
                let here = self.skip.min(bytes.len());
                self.skip -= here;
                bytes = bytes.get(here..).unwrap_or_default();
                continue;
            }
            self.frame.push(byte);
            bytes = rest;
            if self.greeting.is_some() && byte != 0 && self.frame.len() == 1 {
                // A letter, as HTTP/1 begins; the first frame is shorter than 65,536 bytes.
                self.greet(false);
            }
            let [a, b, c, kind, ..] = *self.frame else { continue };
            self.greet(kind == SETTINGS);
            let length = HEAD + u32::from_be_bytes([0, a, b, c]) as usize;
            let wanted = if kind == GOAWAY { length.min(LOOKED_AT) } else { HEAD };
            if self.frame.len() < wanted {
                continue;
            }
            if let [.., c3, c2, c1, c0] = *self.frame
                && kind == GOAWAY
            {
                watch.went_away(u32::from_be_bytes([c3, c2, c1, c0]));
            }
            self.skip = length - self.frame.len();
            self.frame.clear();
        }
    }

    fn greet(&mut self, speaks: bool) {
        if let Some(greeting) = self.greeting.take() {
            // Who waited may have gone.
            let _ = greeting.send(speaks);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let result = ready!(Pin::new(&mut this.inner).poll_read(cx, buf));
        let came = buf.filled().get(before..).unwrap_or_default();
        match &result {
            Err(err) => this.watch.leave(Left::of(err)),
            Ok(()) if came.is_empty() => this.watch.leave(Left::Closed),
            Ok(()) => {}
        }
        this.read(came);
        Poll::Ready(result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.inner).poll_write(cx, buf));
        let written = this.wrote(written)?;
        this.watch.wrote(buf.get(..written).unwrap_or_default());
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.inner).poll_write_vectored(cx, bufs));
        let written = this.wrote(written)?;
        let mut left = written;
        for buf in bufs {
            let here = left.min(buf.len());
            this.watch.wrote(buf.get(..here).unwrap_or_default());
            left -= here;
        }
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }
}
