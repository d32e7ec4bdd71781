//! What is really written on an HTTP/2 connection, seen from below h2: a reset throws away what of
//! its stream was not written yet, and the capture counts what the app got.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use h2::Reason;
use teeline_capture::Tap;

use crate::{app_stream::PREFACE, line::Left};

/// A frame's head (RFC 9113, section 4.1).
const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;

/// Follows what is written on one connection. Never holds bytes, only counts.
pub(crate) struct Watch(Mutex<State>);

struct State {
    frames: Frames,
    /// The streams whose bytes are counted.
    streams: HashMap<u32, Outgoing>,
    /// Requests of which it is to be said when their head is written.
    announced: HashMap<u32, Tap>,
    /// The highest stream whose head is written: those of a client are opened in order.
    opened: u32,
    /// The code of the other side's GOAWAY.
    away: Option<u32>,
    /// How the app on the other side went, once it has.
    left: Option<Left>,
}

/// A response on its way to an app.
struct Outgoing {
    tap: Option<Tap>,
    head: bool,
    handed: u64,
    written: u64,
    /// Nothing more will be handed over.
    ended: bool,
    waiting: Option<Waker>,
}

impl Watch {
    /// For the server's side of a connection.
    pub(crate) fn server() -> Self {
        Self::new(0)
    }

    /// For the client's side, which begins with the preface.
    pub(crate) fn client() -> Self {
        Self::new(PREFACE.len())
    }

    fn new(preface: usize) -> Self {
        Self(Mutex::new(State {
            frames: Frames { head: [0; HEAD], have: 0, skip: preface, data: None },
            streams: HashMap::new(),
            announced: HashMap::new(),
            opened: 0,
            away: None,
            left: None,
        }))
    }

    /// These bytes are written.
    pub(crate) fn wrote(&self, bytes: &[u8]) {
        let State { frames, streams, announced, opened, .. } = &mut *self.lock();
        frames.advance(bytes, |event| match event {
            Event::Head { stream } => {
                *opened = (*opened).max(stream);
                if let Some(tap) = announced.remove(&stream) {
                    tap.sent();
                }
                if let Some(outgoing) = streams.get_mut(&stream) {
                    outgoing.head = true;
                    outgoing.wake();
                }
            }
            Event::Data { stream, length } => {
                let Some(outgoing) = streams.get_mut(&stream) else { return };
                outgoing.written += length;
                if let Some(tap) = &outgoing.tap {
                    tap.written(length);
                }
                if outgoing.is_done() {
                    streams.remove(&stream);
                } else if outgoing.written == outgoing.handed {
                    outgoing.wake();
                }
            }
        });
    }

    /// A response is to be written on `stream`.
    pub(crate) fn expect(&self, stream: u32) {
        let outgoing =
            Outgoing { tap: None, head: false, handed: 0, written: 0, ended: false, waiting: None };
        self.lock().streams.insert(stream, outgoing);
    }

    /// What is written of its body is told to `tap`.
    pub(crate) fn begin(&self, stream: u32, tap: Tap) {
        if let Some(outgoing) = self.lock().streams.get_mut(&stream) {
            outgoing.tap = Some(tap);
        }
    }

    /// A piece of the body was handed over.
    pub(crate) fn handed(&self, stream: u32, length: usize) {
        if let Some(outgoing) = self.lock().streams.get_mut(&stream) {
            outgoing.handed += length as u64;
        }
    }

    /// Nothing more will be handed over.
    pub(crate) fn end(&self, stream: u32) {
        let mut state = self.lock();
        if let Some(outgoing) = state.streams.get_mut(&stream) {
            outgoing.ended = true;
            if outgoing.is_done() {
                state.streams.remove(&stream);
            }
        }
    }

    /// Nothing more will be written of `stream`: it was reset.
    pub(crate) fn forget(&self, stream: u32) {
        self.lock().streams.remove(&stream);
    }

    /// Ready when the response's head and everything handed over is written.
    pub(crate) fn poll_written(&self, stream: u32, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        match state.streams.get_mut(&stream) {
            Some(outgoing) if !outgoing.head || outgoing.written < outgoing.handed => {
                outgoing.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// Tells `tap` when the head of the request on `stream` is written.
    pub(crate) fn announce(&self, stream: u32, tap: Tap) {
        let mut state = self.lock();
        if stream <= state.opened {
            tap.sent();
        } else {
            state.announced.insert(stream, tap);
        }
    }

    /// The request on `stream` is over; gives whether its head was written.
    pub(crate) fn retire(&self, stream: u32) -> bool {
        let mut state = self.lock();
        state.announced.remove(&stream);
        stream <= state.opened
    }

    /// The app on the other side went away. The first word counts.
    pub(super) fn leave(&self, how: Left) {
        self.lock().left.get_or_insert(how);
    }

    /// How the app went, if it did.
    pub(crate) fn left(&self) -> Option<Left> {
        self.lock().left
    }

    /// The other side said that it goes away.
    pub(super) fn went_away(&self, code: u32) {
        self.lock().away = Some(code);
    }

    /// By which code it said so, if that is an error.
    pub(super) fn away(&self) -> Option<Reason> {
        self.lock().away.map(Reason::from).filter(|reason| *reason != Reason::NO_ERROR)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the state half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outgoing {
    fn is_done(&self) -> bool {
        self.ended && self.handed <= self.written
    }

    fn wake(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }
}

enum Event {
    /// The head of a stream is written, or of its trailers.
    Head { stream: u32 },
    /// So many bytes of a body are written.
    Data { stream: u32, length: u64 },
}

/// Cuts what is written into frames. h2 never pads its DATA, so that all of one is the body's.
struct Frames {
    head: [u8; HEAD],
    have: usize,
    /// Bytes until the next frame's head.
    skip: usize,
    /// The stream whose DATA these bytes are.
    data: Option<u32>,
}

impl Frames {
    fn advance(&mut self, mut bytes: &[u8], mut tell: impl FnMut(Event)) {
        while let Some(&byte) = bytes.first() {
            if 0 < self.skip {
                let (here, rest) = bytes.split_at(self.skip.min(bytes.len()));
                self.skip -= here.len();
                if let Some(stream) = self.data {
                    tell(Event::Data { stream, length: here.len() as u64 });
                }
                bytes = rest;
                continue;
            }
            if let Some(slot) = self.head.get_mut(self.have) {
                *slot = byte;
                self.have += 1;
                bytes = bytes.get(1..).unwrap_or_default();
            }
            if self.have == HEAD {
                self.have = 0;
                let [a, b, c, kind, _, s3, s2, s1, s0] = self.head;
                self.skip = u32::from_be_bytes([0, a, b, c]) as usize;
                let stream = u32::from_be_bytes([s3 & 0x7f, s2, s1, s0]);
                self.data = (kind == DATA).then_some(stream);
                if kind == HEADERS {
                    tell(Event::Head { stream });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut frame = u32::try_from(payload.len()).unwrap().to_be_bytes()[1..].to_vec();
        frame.extend([kind, 0]);
        frame.extend(stream.to_be_bytes());
        frame.extend_from_slice(payload);
        frame
    }

    #[test]
    fn the_bytes_of_each_body_are_counted_however_they_are_written() {
        let written = [
            PREFACE.to_vec(),
            frame(4, 0, &[0; 6]),
            frame(HEADERS, 1, b"xyz"),
            frame(DATA, 1, b"abc"),
            frame(HEADERS, 3, b""),
            frame(DATA, 3, b""),
            frame(8, 0, &[0; 4]),
            frame(DATA, 3, b"de"),
            frame(DATA, 1, &[7; 300]),
        ]
        .concat();
        for size in 1..=written.len() {
            let mut frames = Frames { head: [0; HEAD], have: 0, skip: PREFACE.len(), data: None };
            let (mut heads, mut counts) = (Vec::new(), HashMap::new());
            for piece in written.chunks(size) {
                frames.advance(piece, |event| match event {
                    Event::Head { stream } => heads.push(stream),
                    Event::Data { stream, length } => *counts.entry(stream).or_default() += length,
                });
            }
            assert_eq!((heads, counts), (vec![1, 3], HashMap::from([(1, 303_u64), (3, 2)])));
        }
    }

    #[test]
    fn a_reset_has_to_wait_for_the_head_and_for_all_of_the_body() {
        let watch = Watch::server();
        let ready =
            || watch.poll_written(1, &mut Context::from_waker(Waker::noop())) == Poll::Ready(());
        watch.expect(1);
        assert!(!ready());
        watch.wrote(&frame(HEADERS, 1, b"x"));
        assert!(ready());
        watch.handed(1, 3);
        assert!(!ready());
        let data = frame(DATA, 1, b"abc");
        watch.wrote(&data[..11]);
        assert!(!ready());
        watch.wrote(&data[11..]);
        assert!(ready());
    }
}
