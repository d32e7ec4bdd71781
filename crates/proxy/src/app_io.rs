//! The app's socket as hyper gets it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    app_stream::AppStream,
    line::{Left, Line},
};

/// Tells its [`Line`] what happens on the socket, and gives the socket back to it in the end.
pub(crate) struct AppIo {
    /// Taken only when this is dropped.
    stream: Option<AppStream>,
    line: Arc<Line>,
}

impl AppIo {
    pub(crate) fn new(stream: AppStream, line: Arc<Line>) -> Self {
        Self { stream: Some(stream), line }
    }

    /// The connection is to be reset when it is given up.
    pub(crate) fn reset(&self) {
        self.line.reset();
    }

    fn parts(self: Pin<&mut Self>) -> io::Result<(Pin<&mut AppStream>, &Line)> {
        let this = self.get_mut();
        let stream = this.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok((Pin::new(stream), &this.line))
    }
}

/// Looks whether the app has closed. hyper reads only when it wants something (not while requests
/// are queued, nor while a request's body waits for the upstream), and would not see it.
fn watch(stream: &AppStream, line: &Line, cx: &mut Context<'_>) -> io::Result<()> {
    if line.is_tunnel() {
        return Ok(());
    }
    let mut byte = [0];
    match stream.tcp().poll_peek(cx, &mut ReadBuf::new(&mut byte)) {
        Poll::Ready(Ok(0)) => {
            line.gone(Left::Closed);
            Err(io::ErrorKind::ConnectionAborted.into())
        }
        Poll::Ready(Err(err)) => {
            line.gone(Left::of(&err));
            Err(err)
        }
        Poll::Ready(Ok(_)) | Poll::Pending => Ok(()),
    }
}

/// Writes what there is of 1xx answers. `between`: hyper holds nothing.
fn write_interim(
    mut stream: Pin<&mut AppStream>,
    line: &Line,
    between: bool,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    while let Some(bytes) = line.next_interim(between, cx) {
        match stream.as_mut().poll_write(cx, &bytes) {
            Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Poll::Ready(Ok(written)) => line.wrote_interim(written),
            Poll::Ready(Err(err)) => {
                line.gone(Left::of(&err));
                return Poll::Ready(Err(err));
            }
            Poll::Pending => {
                line.stuck();
                watch(&stream, line, cx)?;
                return Poll::Pending;
            }
        }
    }
    Poll::Ready(Ok(()))
}

impl AsyncRead for AppIo {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (stream, line) = self.parts()?;
        let before = buf.filled().len();
        let result = ready!(stream.poll_read(cx, buf));
        let came = buf.filled().get(before..).unwrap_or_default();
        match &result {
            Err(err) => line.gone(Left::of(err)),
            Ok(()) if came.is_empty() && !line.is_tunnel() => line.gone(Left::Closed),
            Ok(()) => line.saw(came),
        }
        Poll::Ready(result)
    }
}

impl AsyncWrite for AppIo {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let (mut stream, line) = self.parts()?;
        ready!(write_interim(stream.as_mut(), line, false, cx))?;
        let offered = bufs.iter().map(|buf| buf.len()).sum();
        if let [head] = bufs
            && line.withholds(head)
        {
            return Poll::Ready(Ok(offered));
        }
        match stream.as_mut().poll_write_vectored(cx, bufs) {
            Poll::Ready(Ok(written)) => {
                line.wrote(offered, written);
                Poll::Ready(Ok(written))
            }
            Poll::Ready(Err(err)) => {
                line.gone(Left::of(&err));
                Poll::Ready(Err(err))
            }
            Poll::Pending => {
                line.stuck();
                watch(&stream, line, cx)?;
                Poll::Pending
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (mut stream, line) = self.parts()?;
        watch(&stream, line, cx)?;
        // hyper flushes only when it holds nothing.
        ready!(write_interim(stream.as_mut(), line, true, cx))?;
        // Only TLS holds anything back.
        let secure = stream.is_secure();
        let flushed = stream.poll_flush(cx);
        if secure {
            if flushed.is_pending() { line.stuck() } else { line.flushed() }
        }
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (stream, line) = self.parts()?;
        if line.unreadable().is_some() {
            // The better answer is still to be written.
            return Poll::Ready(Ok(()));
        }
        stream.poll_shutdown(cx)
    }
}

impl Drop for AppIo {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.line.give_back(stream);
        }
    }
}
