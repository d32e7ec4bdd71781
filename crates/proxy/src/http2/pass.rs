//! A body on its way out on an HTTP/2 stream.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use h2::{Reason, SendStream};
use http_body::Body;

/// Why a body did not go out whole.
pub(super) enum Stopped<E> {
    /// The other side wants no more of it, or its connection is gone.
    Unwanted,
    /// The body itself broke.
    Broke(E),
}

/// Passes every frame on as soon as it came and the other side has room for it; no more than a
/// window's worth is asked of the body. `unwanted` is told of it with the code, if there is one.
pub(super) async fn pass<B>(
    body: B,
    stream: &mut SendStream<Bytes>,
    unwanted: impl Fn(Option<Reason>),
) -> Result<(), Stopped<B::Error>>
where
    B: Body<Data = Bytes>,
{
    let mut body = std::pin::pin!(body);
    let mut rest = Bytes::new();
    poll_fn(|cx| {
        let passed = ready!(poll_pass(body.as_mut(), &mut rest, stream, cx));
        if let Err(Stopped::Unwanted) = passed {
            // Told before the body is dropped, who says how it ended.
            unwanted(match stream.poll_reset(cx) {
                Poll::Ready(Ok(reason)) => Some(reason),
                _ => None,
            });
        }
        Poll::Ready(passed)
    })
    .await
}

fn poll_pass<B>(
    mut body: Pin<&mut B>,
    rest: &mut Bytes,
    stream: &mut SendStream<Bytes>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Stopped<B::Error>>>
where
    B: Body<Data = Bytes>,
{
    loop {
        if stream.poll_reset(cx).is_ready() {
            return Poll::Ready(Err(Stopped::Unwanted));
        }
        if !rest.is_empty() {
            stream.reserve_capacity(rest.len());
            if stream.capacity() == 0 {
                match ready!(stream.poll_capacity(cx)) {
                    Some(Ok(_)) => continue,
                    Some(Err(_)) | None => return Poll::Ready(Err(Stopped::Unwanted)),
                }
            }
            let piece = rest.split_to(rest.len().min(stream.capacity()));
            let last = rest.is_empty() && body.is_end_stream();
            if stream.send_data(piece, last).is_err() {
                return Poll::Ready(Err(Stopped::Unwanted));
            }
            if last {
                return Poll::Ready(Ok(()));
            }
            continue;
        }
        let sent = match ready!(body.as_mut().poll_frame(cx)) {
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => {
                    *rest = data;
                    if !rest.is_empty() || !body.is_end_stream() {
                        continue;
                    }
                    stream.send_data(Bytes::new(), true)
                }
                Err(frame) => match frame.into_trailers() {
                    Ok(trailers) => stream.send_trailers(trailers),
                    Err(_) => continue,
                },
            },
            Some(Err(err)) => return Poll::Ready(Err(Stopped::Broke(err))),
            None => stream.send_data(Bytes::new(), true),
        };
        return Poll::Ready(sent.map_err(|_| Stopped::Unwanted));
    }
}
