//! Holds back what h2 writes until all of a step is there, and knows what of each stream was
//! written.

use std::{
    collections::HashMap,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::Notify,
};

use crate::stream::Stream;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;

/// Of one stream, counted: HEADERS frames, bytes of DATA, `RST_STREAM` frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) heads: u64,
    pub(super) data: u64,
    pub(super) resets: u64,
}

#[derive(Default)]
pub(super) struct Cork {
    state: Mutex<State>,
    changed: Notify,
    /// The socket's close is to be a reset.
    pub(super) reset: AtomicBool,
}

#[derive(Default)]
struct State {
    /// So many steps hold everything back.
    holds: usize,
    held: Vec<u8>,
    head: Vec<u8>,
    /// Bytes until the next frame.
    skip: usize,
    /// What left h2 of each stream.
    streams: HashMap<u32, Count>,
}

impl Cork {
    pub(super) fn hold(&self) {
        self.lock().holds += 1;
    }

    pub(super) fn release(&self) {
        self.lock().holds -= 1;
    }

    /// Waits until as much of a stream has left h2.
    pub(super) async fn left(&self, stream: u32, all: Count) {
        loop {
            // Registered before the look, so that a change in between is not missed.
            let changed = self.changed.notified();
            let so_far = self.lock().streams.get(&stream).copied().unwrap_or_default();
            let Count { heads, data, resets } = so_far;
            if all.heads <= heads && all.data <= data && all.resets <= resets {
                return;
            }
            changed.await;
        }
    }

    fn wrote(&self, bytes: &[u8]) {
        self.lock().wrote(bytes);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_held(&self) -> bool {
        0 < self.holds
    }

    /// Holds `bytes` back, if that is wanted.
    fn keep(&mut self, bytes: &[u8]) -> bool {
        if self.is_held() {
            self.held.extend_from_slice(bytes);
        }
        self.is_held()
    }

    fn wrote(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (here, rest) = bytes.split_at(self.skip.min(bytes.len()));
            self.skip -= here.len();
            bytes = rest;
            if let Some((&byte, rest)) = bytes.split_first() {
                self.head.push(byte);
                bytes = rest;
            }
            if let [a, b, c, kind, _, s3, s2, s1, s0] = *self.head {
                self.head.clear();
                self.skip = u32::from_be_bytes([0, a, b, c]) as usize;
                let stream = u32::from_be_bytes([s3 & 0x7f, s2, s1, s0]);
                let count = self.streams.entry(stream).or_default();
                match kind {
                    HEADERS => count.heads += 1,
                    DATA => count.data += self.skip as u64,
                    RST_STREAM => count.resets += 1,
                    _ => {}
                }
            }
        }
    }
}

pub(super) struct Corked {
    inner: Stream,
    cork: Arc<Cork>,
}

impl Corked {
    pub(super) fn new(inner: Stream, cork: Arc<Cork>) -> Self {
        Self { inner, cork }
    }

    /// Writes what was held back.
    fn poll_held(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.cork.lock();
        while !state.is_held() && !state.held.is_empty() {
            let written = ready!(Pin::new(&mut self.inner).poll_write(cx, &state.held))?;
            state.held.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Corked {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buf)
    }
}

impl AsyncWrite for Corked {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_held(cx))?;
        let written = if this.cork.lock().keep(buf) {
            buf.len()
        } else {
            ready!(Pin::new(&mut this.inner).poll_write(cx, buf))?
        };
        this.cork.wrote(buf.get(..written).unwrap_or_default());
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_held(cx))?;
        Pin::new(&mut this.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_held(cx))?;
        if this.cork.lock().is_held() {
            // Whoever pulls the cork wakes the connection.
            return Poll::Pending;
        }
        Pin::new(&mut this.inner).poll_shutdown(cx)
    }
}

impl Drop for Corked {
    fn drop(&mut self) {
        if self.cork.reset.load(Ordering::Acquire) {
            // If it fails the end is orderly, and the test that wants a reset fails.
            let _ = self.inner.reset_on_close();
        }
    }
}
