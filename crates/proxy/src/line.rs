//! The app's connection, seen from below hyper: what was really written to it, and whether the app
//! is still there.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use teeline_capture::Tap;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// What a connection's IO, its response bodies and its task know of each other.
#[derive(Default)]
pub(crate) struct Line {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last write did not go through: the app's window is full.
    write_pending: bool,
    /// A body that waits until it has.
    waiting: Option<Waker>,
    delivery: Option<Delivery>,
    /// How the connection is to be closed.
    close: Close,
    /// hyper is out of the game; both sides may end on their own.
    tunnelled: bool,
    /// The socket, given back by hyper.
    returned: Option<TcpStream>,
}

/// How a connection with an app is to be closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Close {
    /// By a FIN.
    #[default]
    Fin,
    /// By a reset: a FIN would make a broken body look complete to the app.
    Reset,
    /// The app closed or broke it already.
    Gone,
}

impl Line {
    /// A response's body begins. `chunked`: in chunked framing.
    pub(crate) fn begin(&self, tap: Tap, chunked: bool) {
        self.lock().delivery = Some(Delivery::new(tap, chunked));
    }

    /// A piece of the body was handed to hyper.
    pub(crate) fn handed(&self, length: usize) {
        if let Some(delivery) = &mut self.lock().delivery {
            delivery.handed(length as u64);
        }
    }

    /// The body has ended; what is still on its way is counted, then the tap is let go.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        if let Some(delivery) = &mut state.delivery {
            delivery.ended = true;
            if delivery.pending.is_empty() {
                state.delivery = None;
            }
        }
    }

    /// Ready when everything that was handed to hyper *and reached the IO* is written. To be asked
    /// in a later turn than the one in which the last piece was handed over.
    pub(crate) fn poll_written(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.write_pending {
            state.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// A FIN would make a broken body look complete to the app.
    pub(crate) fn reset(&self) {
        let close = &mut self.lock().close;
        if *close == Close::Fin {
            *close = Close::Reset;
        }
    }

    /// Another protocol is spoken from now on: the app may end its side and go on reading.
    pub(crate) fn tunnel(&self) {
        self.lock().tunnelled = true;
    }

    /// The socket, once hyper is done with it, and how it is to be closed.
    pub(crate) fn take_socket(&self) -> Option<(TcpStream, Close)> {
        let mut state = self.lock();
        let close = state.close;
        state.returned.take().map(|socket| (socket, close))
    }

    /// A write of `offered` bytes, all that hyper holds, wrote `written` of them.
    fn wrote(&self, offered: usize, written: usize) {
        let mut state = self.lock();
        state.write_pending = false;
        let unsent = offered.saturating_sub(written) as u64;
        if let Some(delivery) = &mut state.delivery {
            delivery.wrote(unsent);
            if unsent == 0 && delivery.ended {
                state.delivery = None;
            }
        }
        if let Some(waiting) = state.waiting.take() {
            waiting.wake();
        }
    }

    fn stuck(&self) {
        self.lock().write_pending = true;
    }

    fn gone(&self) {
        self.lock().close = Close::Gone;
    }

    fn give_back(&self, socket: TcpStream) {
        let mut state = self.lock();
        state.returned = Some(socket);
        state.delivery = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much of a body the app got.
struct Delivery {
    tap: Tap,
    chunked: bool,
    ended: bool,
    /// Lengths of the pieces that are not known to be written, oldest first. hyper holds at most
    /// sixteen.
    pending: VecDeque<u64>,
    /// Bytes of the body that were handed over, and that were written.
    handed: u64,
    written: u64,
}

impl Delivery {
    fn new(tap: Tap, chunked: bool) -> Self {
        Self {
            tap,
            chunked,
            ended: false,
            pending: VecDeque::with_capacity(32),
            handed: 0,
            written: 0,
        }
    }

    fn handed(&mut self, length: u64) {
        self.handed += length;
        self.pending.push_back(length);
    }

    /// All but the last `unsent` bytes on the connection are written. Which of those are the body's
    /// follows from the framing that hyper puts around each piece.
    fn wrote(&mut self, unsent: u64) {
        let (mut left, mut body, mut kept) = (unsent, 0, 0);
        for &length in self.pending.iter().rev() {
            if left == 0 {
                break;
            }
            let (before, after) = if self.chunked { (size_line(length), 2) } else { (0, 0) };
            left = left.saturating_sub(after);
            body += left.min(length);
            left = left.saturating_sub(length).saturating_sub(before);
            kept += 1;
        }
        self.pending.drain(..self.pending.len() - kept);
        let written = self.handed - body;
        if self.written < written {
            self.tap.written(written - self.written);
            self.written = written;
        }
    }
}

/// The length of a chunk-size line.
fn size_line(length: u64) -> u64 {
    let digits = u64::from(length.checked_ilog(16).unwrap_or(0)) + 1;
    digits + 2
}

/// The app's socket as hyper gets it.
pub(crate) struct AppIo {
    /// Taken only when this is dropped.
    stream: Option<TcpStream>,
    line: Arc<Line>,
}

impl AppIo {
    pub(crate) fn new(stream: TcpStream, line: Arc<Line>) -> Self {
        Self { stream: Some(stream), line }
    }

    fn parts(self: Pin<&mut Self>) -> io::Result<(Pin<&mut TcpStream>, &Line)> {
        let this = self.get_mut();
        let stream = this.stream.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok((Pin::new(stream), &this.line))
    }
}

/// Looks whether the app has closed. hyper reads only when it wants something (not while requests
/// are queued, nor while a request's body waits for the upstream), and would not see it.
fn watch(stream: &TcpStream, line: &Line, cx: &mut Context<'_>) -> io::Result<()> {
    if line.lock().tunnelled {
        return Ok(());
    }
    let mut byte = [0];
    match stream.poll_peek(cx, &mut ReadBuf::new(&mut byte)) {
        Poll::Ready(Ok(0)) => {
            line.gone();
            Err(io::ErrorKind::ConnectionAborted.into())
        }
        Poll::Ready(Err(err)) => {
            line.gone();
            Err(err)
        }
        Poll::Ready(Ok(_)) | Poll::Pending => Ok(()),
    }
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
        if result.is_err() || buf.filled().len() == before && 0 < buf.capacity() {
            line.gone();
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
        let offered = bufs.iter().map(|buf| buf.len()).sum();
        match stream.as_mut().poll_write_vectored(cx, bufs) {
            Poll::Ready(Ok(written)) => {
                line.wrote(offered, written);
                Poll::Ready(Ok(written))
            }
            Poll::Ready(Err(err)) => {
                line.gone();
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
        let (stream, line) = self.parts()?;
        watch(&stream, line, cx)?;
        stream.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.parts()?.0.poll_shutdown(cx)
    }
}

impl Drop for AppIo {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            self.line.give_back(stream);
        }
    }
}
