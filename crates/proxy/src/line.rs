//! The app's connection, seen from below hyper: what was really written to it, and whether the app
//! is still there.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use crate::{
    app_stream::AppStream, delivery::Delivery, interim::Interim, received::code,
    spelling::HeadWatch,
};
use bytes::Bytes;
use h2::Reason;
use http::StatusCode;
use teeline_capture::Tap;

/// What a connection's IO, its response bodies and its task know of each other.
#[derive(Default)]
pub(crate) struct Line {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The head of the next request as it comes.
    watch: HeadWatch,
    answer: Answer,
    /// The status that hyper wanted to answer a request with which it could not read.
    unreadable: Option<StatusCode>,
    /// The last write did not go through: the app's window is full.
    write_pending: bool,
    /// A body that waits until it has.
    waiting: Option<Waker>,
    /// The body under way, and who counts what was written of it.
    delivery: Option<(Delivery, Tap)>,
    /// 1xx answers on their way.
    interim: Interim,
    /// How the connection is to be closed.
    close: Close,
    /// How the app went away, once it has.
    left: Option<Left>,
    /// hyper is out of the game; both sides may end on their own.
    tunnelled: bool,
    /// The socket, given back by hyper.
    returned: Option<AppStream>,
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

/// How an app went away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It closed its connection (FIN).
    Closed,
    /// It reset its connection, or closed it with something unread, which is the same on the wire.
    Reset,
    /// The network gave it up.
    TimedOut,
    /// It reset its HTTP/2 stream with this code.
    Stream(Reason),
    /// It gave up its HTTP/2 connection with this code.
    WentAway(Reason),
}

impl Left {
    pub(crate) fn of(err: &io::Error) -> Self {
        match err.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionAborted => Self::Closed,
            io::ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Reset,
        }
    }

    /// In a word or two, for the capture.
    pub(crate) fn how(self) -> String {
        match self {
            Self::Closed => "closed".to_owned(),
            Self::Reset => "reset".to_owned(),
            Self::TimedOut => "timeout".to_owned(),
            Self::Stream(reason) => format!("reset {}", code(reason)),
            Self::WentAway(reason) => format!("went away {}", code(reason)),
        }
    }
}

/// Whether what hyper writes can be the answer to a request that it has handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    /// No request is under way.
    #[default]
    None,
    /// One was handed over.
    Asked,
    /// hyper has all of the answer; the next write that leaves nothing ends it.
    Given,
}

impl Line {
    pub(crate) fn new() -> Self {
        let line = Self::default();
        line.lock().watch.expect();
        line
    }

    /// A request was taken: gives its head, if it is known for sure. `body`: one follows.
    pub(crate) fn asked(&self, body: bool) -> Option<Vec<u8>> {
        let mut state = self.lock();
        state.answer = Answer::Asked;
        let head = state.watch.take();
        if body {
            state.watch.stop();
        } else {
            state.watch.go_on();
        }
        head
    }

    /// Writes a 1xx answer, before the one that hyper gets.
    pub(crate) fn interim(&self, head: &[u8]) {
        self.lock().interim.add(head);
    }

    /// What of the 1xx answers is to be written now. `between`: hyper holds nothing.
    pub(crate) fn next_interim(&self, between: bool, cx: &Context<'_>) -> Option<Bytes> {
        self.lock().interim.next(between, cx)
    }

    /// So many bytes of them are written.
    pub(crate) fn wrote_interim(&self, length: usize) {
        self.lock().interim.wrote(length);
        self.flushed();
    }

    /// Ready when all of them are written, so that the answer may follow.
    pub(crate) fn poll_interim_written(&self, cx: &Context<'_>) -> Poll<()> {
        self.lock().interim.poll_written(cx)
    }

    /// hyper has all of the answer.
    pub(crate) fn answered(&self) {
        self.lock().answer = Answer::Given;
    }

    /// A request's body was read whole: the next head follows.
    pub(crate) fn expect(&self) {
        self.lock().watch.expect();
    }

    /// The status that hyper had for a request it could not read.
    pub(crate) fn unreadable(&self) -> Option<StatusCode> {
        self.lock().unreadable
    }

    /// A response's body begins. `chunked`: in chunked framing.
    pub(crate) fn begin(&self, tap: Tap, chunked: bool) {
        self.lock().delivery = Some((Delivery::new(chunked), tap));
    }

    /// A piece of the body was handed to hyper.
    pub(crate) fn handed(&self, length: usize) {
        if let Some((delivery, _)) = &mut self.lock().delivery {
            delivery.handed(length as u64);
        }
    }

    /// The body has ended; what is still on its way is counted, then the tap is let go.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.answer = Answer::Given;
        if let Some((delivery, _)) = &mut state.delivery {
            delivery.end();
            if delivery.is_done() {
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

    /// Bytes came from the app.
    pub(crate) fn saw(&self, bytes: &[u8]) {
        self.lock().watch.saw(bytes);
    }

    pub(crate) fn is_tunnel(&self) -> bool {
        self.lock().tunnelled
    }

    /// Another protocol is spoken from now on: the app may end its side and go on reading.
    pub(crate) fn tunnel(&self) {
        self.lock().tunnelled = true;
    }

    /// The socket, once hyper is done with it, and how it is to be closed.
    pub(crate) fn take_socket(&self) -> Option<(AppStream, Close)> {
        let mut state = self.lock();
        let close = state.close;
        state.returned.take().map(|socket| (socket, close))
    }

    /// A write of `offered` bytes, all that hyper holds, wrote `written` of them.
    pub(crate) fn wrote(&self, offered: usize, written: usize) {
        let mut state = self.lock();
        state.write_pending = false;
        let unsent = offered.saturating_sub(written) as u64;
        if unsent == 0 && state.answer == Answer::Given {
            state.answer = Answer::None;
        }
        if let Some((delivery, tap)) = &mut state.delivery {
            tap.written(delivery.wrote(unsent));
            if delivery.is_done() {
                state.delivery = None;
            }
        }
        if let Some(waiting) = state.waiting.take() {
            waiting.wake();
        }
    }

    /// Whether `bytes`, all that hyper holds, are its own answer to a request it could not read. It
    /// says nothing to the app's developer; there will be a better one.
    pub(crate) fn withholds(&self, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        if state.tunnelled || state.answer != Answer::None || state.delivery.is_some() {
            return false;
        }
        state.unreadable = automatic(bytes).or(state.unreadable);
        automatic(bytes).is_some()
    }

    /// All that was written has left for the app.
    pub(crate) fn flushed(&self) {
        let mut state = self.lock();
        state.write_pending = false;
        if let Some(waiting) = state.waiting.take() {
            waiting.wake();
        }
    }

    /// The last write found no room in the app's window.
    pub(crate) fn stuck(&self) {
        self.lock().write_pending = true;
    }

    /// The app closed or broke the connection. The first word counts.
    pub(crate) fn gone(&self, how: Left) {
        let mut state = self.lock();
        state.close = Close::Gone;
        state.left.get_or_insert(how);
    }

    /// How the app went, if it did.
    pub(crate) fn left(&self) -> Option<Left> {
        self.lock().left
    }

    /// hyper is done with the socket.
    pub(crate) fn give_back(&self, socket: AppStream) {
        let mut state = self.lock();
        state.returned = Some(socket);
        state.delivery = None;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock can leave the state half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The status, if these bytes are hyper's answer to a request that cannot be read.
fn automatic(bytes: &[u8]) -> Option<StatusCode> {
    let bytes = bytes.strip_prefix(b"HTTP/1.1 ")?;
    let line = bytes.strip_suffix(b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")?;
    let status = StatusCode::from_bytes(line.get(..3)?).ok()?;
    (status.is_client_error() && !line.contains(&b'\n')).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hypers_own_words_are_withheld() {
        let own = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        let line = Line::new();
        assert!(!line.withholds(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"));
        assert!(
            !line.withholds(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        );
        assert_eq!(line.unreadable(), None);
        // An upstream may say the very same.
        line.asked(false);
        assert!(!line.withholds(own));
        line.wrote(25, 25);
        assert!(!line.withholds(own), "a 100 Continue is not the answer");
        line.end();
        assert!(!line.withholds(own), "it is not written yet");
        line.wrote(own.len(), 10);
        assert!(!line.withholds(own), "it is not all written yet");
        line.wrote(own.len() - 10, own.len() - 10);
        assert!(line.withholds(own));
        assert_eq!(line.unreadable(), Some(StatusCode::BAD_REQUEST));
    }
}
