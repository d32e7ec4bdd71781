//! 1xx answers on their way to an HTTP/1.1 app.
//!
//! hyper's server has no way for them, so they are written below it: between two messages, when hyper
//! holds nothing. That moment comes for sure, since the answer proper is given to hyper only when every
//! 1xx before it is written.

use std::task::{Context, Poll, Waker};

use bytes::{Buf as _, Bytes, BytesMut};
use http::{HeaderMap, StatusCode, Version};

use crate::{head, spelling::spelled};

/// Bytes of 1xx that may wait for an app that does not read. Further ones are not passed on.
const LIMIT: usize = 64 << 10;

/// What waits to be written.
#[derive(Debug, Default)]
pub(crate) struct Interim {
    waiting: BytesMut,
    /// The first of it is written in part: nothing may come between.
    begun: bool,
    /// The connection's task, which writes.
    writer: Option<Waker>,
    /// The answer proper, which waits.
    answer: Option<Waker>,
}

impl Interim {
    /// Adds one.
    pub(crate) fn add(&mut self, head: &[u8]) {
        if self.waiting.len() + head.len() <= LIMIT {
            self.waiting.extend_from_slice(head);
            if let Some(writer) = self.writer.take() {
                writer.wake();
            }
        }
    }

    /// What is to be written now, if anything is. `between`: hyper holds nothing. The task is woken when
    /// there is more.
    pub(crate) fn next(&mut self, between: bool, cx: &Context<'_>) -> Option<Bytes> {
        if self.waiting.is_empty() {
            if !self.writer.as_ref().is_some_and(|writer| writer.will_wake(cx.waker())) {
                self.writer = Some(cx.waker().clone());
            }
            return None;
        }
        (between || self.begun).then(|| Bytes::copy_from_slice(&self.waiting))
    }

    /// So many bytes of it are written.
    pub(crate) fn wrote(&mut self, length: usize) {
        self.waiting.advance(length.min(self.waiting.len()));
        self.begun = !self.waiting.is_empty();
        if !self.begun
            && let Some(answer) = self.answer.take()
        {
            answer.wake();
        }
    }

    /// Ready when all are written.
    pub(crate) fn poll_written(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.waiting.is_empty() {
            return Poll::Ready(());
        }
        self.answer = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// A 1xx as it is passed on: spelled as the upstream did, if `raw` is its head for sure.
pub(crate) fn written(raw: Option<&[u8]>, status: StatusCode, headers: &HeaderMap) -> Vec<u8> {
    let line = raw.and_then(|raw| status_line(raw, status));
    let version = head::version(Version::HTTP_11);
    let usual =
        || format!("{version} {} {}", status.as_str(), status.canonical_reason().unwrap_or(""));
    let mut written = line.map_or_else(|| usual().into_bytes(), <[u8]>::to_vec);
    for (name, value) in spelled(raw, &head::for_app(headers, status)) {
        written.extend([b"\r\n", name.as_bytes(), b": ", &value[..]].concat());
    }
    written.extend(b"\r\n\r\n");
    written
}

fn status_line(raw: &[u8], status: StatusCode) -> Option<&[u8]> {
    let line = raw.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    let code = line.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    (code == status.as_str().as_bytes()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interim_answer_keeps_its_spelling() {
        let status = StatusCode::EARLY_HINTS;
        let mut headers = HeaderMap::new();
        headers.append("link", "</x>".parse().unwrap());
        let own = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";
        for (raw, expected) in [
            (
                &b"HTTP/1.1 103 Hints\r\nLINK:  </x>\r\n\r\n"[..],
                "HTTP/1.1 103 Hints\r\nLINK: </x>\r\n\r\n",
            ),
            // Bare line feeds: the next head is not taken for a part of this one.
            (
                b"HTTP/1.1 103 A\nLink: </x>\n\nHTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.1 103 A\r\nLink: </x>\r\n\r\n",
            ),
            (b"HTTP/1.1 200 OK\r\n\r\n", own),
            (b"", own),
        ] {
            assert_eq!(String::from_utf8(written(Some(raw), status, &headers)).unwrap(), expected);
        }
        assert_eq!(String::from_utf8(written(None, status, &headers)).unwrap(), own);
    }

    #[test]
    fn nothing_comes_between_its_parts_and_it_comes_between_nothing() {
        let cx = Context::from_waker(Waker::noop());
        let mut interim = Interim::default();
        assert_eq!(interim.next(true, &cx), None);
        interim.add(b"one");
        interim.add(b"two");
        assert_eq!(interim.next(false, &cx), None, "hyper is within a message");
        assert!(interim.poll_written(&cx).is_pending());
        assert_eq!(interim.next(true, &cx).as_deref(), Some(&b"onetwo"[..]));
        interim.wrote(4);
        assert_eq!(interim.next(false, &cx).as_deref(), Some(&b"wo"[..]), "it has begun");
        interim.wrote(2);
        assert!(interim.poll_written(&cx).is_ready());
        interim.add(&vec![b'x'; LIMIT]);
        interim.add(b"too much");
        assert_eq!(interim.next(true, &cx).map(|bytes| bytes.len()), Some(LIMIT));
    }
}
