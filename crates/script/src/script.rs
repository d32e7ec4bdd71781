//! What the upstream does after a request.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::Frame;

/// One step of a [`Script`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Writes these bytes in one write (the kernel may still cut a large one).
    Write(Bytes),
    /// Writes the same bytes so many times, one write each.
    Repeat(Bytes, u64),
    /// HTTP/2: these frames on the request's stream, in one write.
    Frames(Vec<Frame>),
    /// HTTP/2: DATA with these bytes, so many times, as the client's windows allow.
    Flow(Bytes, u64),
    /// Waits.
    Pause(Duration),
    /// Says that this gate was reached and waits until it is open.
    Gate(Arc<str>),
    /// Says that this mark was reached and goes on.
    Mark(Arc<str>),
    /// Reads so many bytes of the request's body (fewer if it has fewer).
    Read(u64),
    /// Reads what is left of the request's body.
    ReadRest,
    /// Ends the writing side in an orderly way (TLS: `close_notify` first), then reads until the
    /// client closes, for ten seconds at most, so that nothing sent is lost to a reset.
    Fin,
    /// Closes the socket as it is: the kernel sends a FIN, or a reset if something is unread.
    /// Under TLS there is no `close_notify`: a truncation.
    Close,
    /// Resets the connection (`SO_LINGER` 0). What the client has not read stays readable on
    /// Linux; what was not yet sent is thrown away.
    Reset,
}

/// Steps to be performed in order, written as a chain.
///
/// ```
/// use std::time::Duration;
/// use teeline_script::{Script, Step};
///
/// let script = Script::new()
///     .bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
///     .pause(Duration::from_millis(30))
///     .bytes("hel")
///     .fin();
/// assert_eq!(script.steps().len(), 4);
/// assert_eq!(script.steps()[3], Step::Fin);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    steps: Vec<Step>,
}

/// The bare steps.
impl Script {
    /// Does nothing: the client waits, the connection stays open.
    pub fn new() -> Self {
        Self::default()
    }

    /// What will be done.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Writes `bytes` in one write.
    #[must_use]
    pub fn bytes(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Write(bytes.into()))
    }

    /// Writes `bytes`, `size` at a time.
    #[must_use]
    pub fn bytes_by(self, bytes: impl Into<Bytes>, size: usize) -> Self {
        pieces(bytes.into(), size).fold(self, Self::bytes)
    }

    /// Writes `bytes` `times` times.
    #[must_use]
    pub fn repeat(self, bytes: impl Into<Bytes>, times: u64) -> Self {
        self.step(Step::Repeat(bytes.into(), times))
    }

    /// HTTP/2: sends `frames` in one write.
    ///
    /// ```
    /// use teeline_script::{Frame, Script};
    ///
    /// let cancelled = Script::new().frames([
    ///     Frame::Head(200, vec![("content-type".into(), "text/event-stream".into())]),
    ///     Frame::Data("data: one\n\n".into()),
    ///     Frame::Reset(8),
    /// ]);
    /// assert_eq!(cancelled.steps().len(), 1);
    /// ```
    #[must_use]
    pub fn frames(self, frames: impl IntoIterator<Item = Frame>) -> Self {
        self.step(Step::Frames(frames.into_iter().collect()))
    }

    /// HTTP/2: sends `bytes` `times` times, as the client's windows allow.
    #[must_use]
    pub fn flow(self, bytes: impl Into<Bytes>, times: u64) -> Self {
        self.step(Step::Flow(bytes.into(), times))
    }

    /// Waits for `duration`.
    #[must_use]
    pub fn pause(self, duration: Duration) -> Self {
        self.step(Step::Pause(duration))
    }

    /// Waits until the gate `name` is opened with [`Upstream::open_gate`](crate::Upstream::open_gate).
    #[must_use]
    pub fn gate(self, name: &str) -> Self {
        self.step(Step::Gate(name.into()))
    }

    /// Lets [`Upstream::reached`](crate::Upstream::reached) know that everything before was done.
    #[must_use]
    pub fn mark(self, name: &str) -> Self {
        self.step(Step::Mark(name.into()))
    }

    /// Reads `bytes` bytes of the request's body.
    #[must_use]
    pub fn read(self, bytes: u64) -> Self {
        self.step(Step::Read(bytes))
    }

    /// Reads what is left of the request's body.
    #[must_use]
    pub fn read_rest(self) -> Self {
        self.step(Step::ReadRest)
    }

    /// Ends the connection in an orderly way.
    #[must_use]
    pub fn fin(self) -> Self {
        self.step(Step::Fin)
    }

    /// Closes the socket without another word.
    #[must_use]
    pub fn close(self) -> Self {
        self.step(Step::Close)
    }

    /// Resets the connection.
    #[must_use]
    pub fn rst(self) -> Self {
        self.step(Step::Reset)
    }

    /// Adds one step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds the steps of another script.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }
}

/// Whole answers and their parts.
impl Script {
    /// A head: status line and headers as given, in order, in one write.
    ///
    /// ```
    /// use teeline_script::{Script, Step};
    ///
    /// let script = Script::head("200 Fine", &[("X-A", "1"), ("x-a", "2")]);
    /// assert_eq!(script.steps(), [Step::Write("HTTP/1.1 200 Fine\r\nX-A: 1\r\nx-a: 2\r\n\r\n".into())]);
    /// ```
    pub fn head(status: &str, headers: &[(&str, &str)]) -> Self {
        let mut head = format!("HTTP/1.1 {status}\r\n");
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        Self::new().bytes(head)
    }

    /// An answer with a `Content-Length` of the body's true length: head and body in one write.
    pub fn answer(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len().to_string();
        let headers: Vec<_> =
            headers.iter().copied().chain([("Content-Length", length.as_str())]).collect();
        let mut whole = match Self::head(status, &headers).steps.pop() {
            Some(Step::Write(head)) => Vec::from(head),
            _ => Vec::new(),
        };
        whole.extend_from_slice(body);
        Self::new().bytes(whole)
    }

    /// The head of an event stream with chunked framing.
    pub fn sse_head() -> Self {
        Self::head(
            "200 OK",
            &[
                ("Content-Type", "text/event-stream"),
                ("Cache-Control", "no-cache"),
                ("Transfer-Encoding", "chunked"),
            ],
        )
    }

    /// An event stream: each frame is one chunk and one write, then the last chunk.
    pub fn sse(frames: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        frames.into_iter().fold(Self::sse_head(), Self::chunk).last_chunk()
    }

    /// One chunk of a chunked body, in one write.
    ///
    /// ```
    /// use teeline_script::{Script, Step};
    ///
    /// let script = Script::new().chunk("data: x\n\n").last_chunk();
    /// assert_eq!(
    ///     script.steps(),
    ///     [Step::Write("9\r\ndata: x\n\n\r\n".into()), Step::Write("0\r\n\r\n".into())]
    /// );
    /// ```
    #[must_use]
    pub fn chunk(self, data: impl AsRef<[u8]>) -> Self {
        let data = data.as_ref();
        let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
        chunk.extend_from_slice(data);
        chunk.extend_from_slice(b"\r\n");
        self.bytes(chunk)
    }

    /// `data` in chunks of `size` bytes, one write each.
    #[must_use]
    pub fn chunks(self, data: impl Into<Bytes>, size: usize) -> Self {
        pieces(data.into(), size).fold(self, Self::chunk)
    }

    /// The chunk that ends a chunked body.
    #[must_use]
    pub fn last_chunk(self) -> Self {
        self.bytes("0\r\n\r\n")
    }

    /// The chunk that ends a chunked body, followed by trailers.
    #[must_use]
    pub fn last_chunk_with(self, trailers: &[(&str, &str)]) -> Self {
        let mut end = String::from("0\r\n");
        for (name, value) in trailers {
            end.extend([name, ": ", value, "\r\n"]);
        }
        end.push_str("\r\n");
        self.bytes(end)
    }
}

/// `bytes` cut into pieces of `size` (at least 1), without copying.
fn pieces(mut bytes: Bytes, size: usize) -> impl Iterator<Item = Bytes> {
    let size = size.max(1);
    std::iter::from_fn(move || {
        let length = size.min(bytes.len());
        (length != 0).then(|| bytes.split_to(length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_and_of_the_size_asked_for() {
        let cut = |size| pieces(Bytes::from_static(b"abcde"), size).collect::<Vec<_>>();
        assert_eq!(cut(2), ["ab", "cd", "e"]);
        assert_eq!(cut(5), ["abcde"]);
        assert_eq!(cut(9), ["abcde"]);
        assert_eq!(cut(0), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn an_answer_is_one_write_with_its_length_last() {
        let script = Script::answer("404 Not Found", &[("X-A", "1")], "{}");
        assert_eq!(
            script.steps(),
            [Step::Write("HTTP/1.1 404 Not Found\r\nX-A: 1\r\nContent-Length: 2\r\n\r\n{}".into())]
        );
    }

    #[test]
    fn trailers_follow_the_last_chunk() {
        let script = Script::new().last_chunk_with(&[("X-Sum", "7")]);
        assert_eq!(script.steps(), [Step::Write("0\r\nX-Sum: 7\r\n\r\n".into())]);
    }
}
