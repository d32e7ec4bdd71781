//! A body as it is received, in either version of HTTP, and how it can break.

use std::{
    error::Error,
    fmt, io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::{Reason, RecvStream};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::{http2::Claim, link::Keeper};

/// A request's or response's body on its way in.
pub(crate) enum Received {
    /// HTTP/1, and the connection where it is this body's alone.
    Http1(Incoming, Option<Keeper>),
    /// HTTP/2, and the claim on the stream, where it is an upstream's.
    Http2(RecvStream, Option<Claim>),
}

impl Body for Received {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Self::Http1(body, keeper) => {
                let frame = ready!(Pin::new(&mut *body).poll_frame(cx));
                if let Some(keeper) = keeper
                    && (frame.is_none() || body.is_end_stream())
                {
                    keeper.settle();
                }
                Poll::Ready(frame.map(|it| it.map_err(Broken::Http1)))
            }
            Self::Http2(body, claim) => {
                let frame = ready!(poll_stream(body, cx));
                if let Some(claim) = claim
                    && body.is_end_stream()
                {
                    claim.settle();
                }
                Poll::Ready(frame.map(|it| {
                    it.map_err(|err| match claim {
                        Some(claim) => claim.explain(err),
                        None => Broken::Http2(err),
                    })
                }))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Http1(body, _) => body.is_end_stream(),
            Self::Http2(body, _) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Http1(body, _) => body.size_hint(),
            Self::Http2(..) => SizeHint::default(),
        }
    }
}

fn poll_stream(
    body: &mut RecvStream,
    cx: &mut Context<'_>,
) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
    match ready!(body.poll_data(cx)) {
        Some(Ok(bytes)) => {
            // Whoever asked for it has taken it; who does not ask holds the window shut.
            let released = body.flow_control().release_capacity(bytes.len());
            Poll::Ready(Some(released.map(|()| Frame::data(bytes))))
        }
        Some(Err(err)) => Poll::Ready(Some(Err(err))),
        None => Poll::Ready(
            ready!(body.poll_trailers(cx)).map(|it| it.map(Frame::trailers)).transpose(),
        ),
    }
}

/// How a body, or the connection under it, broke.
#[derive(Debug)]
pub(crate) enum Broken {
    Http1(hyper::Error),
    Http2(h2::Error),
    /// The connection ended, and this is why.
    WentAway(Reason),
}

impl Broken {
    /// In a few words, for the capture.
    pub(crate) fn how(&self) -> String {
        match self {
            Self::Http1(err) => how(err),
            Self::Http2(err) => how_http2(err),
            Self::WentAway(reason) => format!("went away ({})", code(*reason)),
        }
    }

    /// The code by which an HTTP/2 app is told. A reset without an error would look like an orderly
    /// end to many.
    pub(crate) fn code(&self) -> Reason {
        match self {
            Self::Http2(err) if err.is_reset() && err.is_remote() => match err.reason() {
                Some(Reason::NO_ERROR) | None => Reason::INTERNAL_ERROR,
                Some(reason) => reason,
            },
            _ => Reason::INTERNAL_ERROR,
        }
    }

    /// Whether the other side is there and its framing is broken.
    pub(crate) fn is_malformed(&self) -> bool {
        let Self::Http1(err) = self else { return false };
        let kind = io_cause(err).map(io::Error::kind);
        matches!(kind, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData))
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http1(err) => err.fmt(f),
            Self::Http2(err) => err.fmt(f),
            Self::WentAway(reason) => write!(f, "the connection ended ({})", code(*reason)),
        }
    }
}

impl Error for Broken {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Http1(err) => Some(err),
            Self::Http2(err) => Some(err),
            Self::WentAway(_) => None,
        }
    }
}

/// How a connection broke on which HTTP/1 was spoken, in a few words.
pub(crate) fn how(error: &hyper::Error) -> String {
    let Some(cause) = io_cause(error) else {
        let early = error.is_incomplete_message();
        return if early { "closed early".to_owned() } else { error.to_string() };
    };
    match cause.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset".to_owned(),
        io::ErrorKind::UnexpectedEof => "closed early".to_owned(),
        io::ErrorKind::TimedOut => "timeout".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => format!("malformed: {cause}"),
        _ => cause.to_string(),
    }
}

/// The same for HTTP/2. The code is named as in RFC 9113, section 7.
pub(crate) fn how_http2(error: &h2::Error) -> String {
    if let Some(io) = error.get_io() {
        return match io.kind() {
            // h2 says the former of a mere end.
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => "closed early".to_owned(),
            io::ErrorKind::ConnectionReset => "reset".to_owned(),
            io::ErrorKind::TimedOut => "timeout".to_owned(),
            _ => io.to_string(),
        };
    }
    let Some(reason) = error.reason() else { return error.to_string() };
    let code = code(reason);
    match (error.is_remote(), error.is_go_away()) {
        (true, true) => format!("went away ({code})"),
        (true, false) => format!("reset ({code})"),
        (false, _) => format!("malformed: HTTP/2 {code}"),
    }
}

/// An error code's name (RFC 9113, section 7), or its number.
pub(crate) fn code(reason: Reason) -> String {
    // `Debug` gives the name, and `Reason(14)` for one that has none.
    let name = format!("{reason:?}");
    if name.contains('(') { u32::from(reason).to_string() } else { name }
}

/// The IO error behind an error of hyper's, if there is one.
pub(crate) fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref() {
            return Some(io);
        }
        cause = error.source();
    }
    None
}
