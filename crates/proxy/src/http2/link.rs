//! A connection to an upstream on which HTTP/2 is spoken, and the requests on it.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use bytes::Bytes;
use h2::{
    Reason, SendStream,
    client::{self, ResponseFuture, SendRequest},
};
use http::{Request, Response};
use http_body::Body as _;
use teeline_capture::Tap;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    CONNECTION_WINDOW, MAX_HEAD, SEND_BUFFER, STREAM_WINDOW, Watch,
    io::Watched,
    pass::{Stopped, pass},
};
use crate::{
    received::{Broken, Received},
    tasks::{Owned, Tasks},
    upload::Upload,
    upstream_io::UpstreamIo,
};

/// A connection that all streams of one app connection share. Dropped, it is closed at once.
pub(crate) struct Link {
    sender: SendRequest<Bytes>,
    watch: Arc<Watch>,
    _task: Owned,
}

/// What came of an attempt to speak HTTP/2.
pub(crate) enum Opened {
    Link(Arc<Link>),
    /// The other side speaks something else.
    Not,
}

/// A request was not answered.
pub(crate) enum Unanswered {
    /// The upstream has not seen it, nor will it, and here it is.
    Unseen(Box<Request<Upload>>),
    Broken(Broken),
}

impl Link {
    /// Speaks HTTP/2 over `io`. Where that was not agreed on (`sure`), the other side's first frame
    /// has to say that it does: servers that do not answer in HTTP/1.1, and no request was sent.
    pub(crate) async fn open(io: UpstreamIo, sure: bool, tasks: &Tasks) -> Result<Opened, Broken> {
        let watch = Arc::new(Watch::client());
        let (greeting, greeted) = oneshot::channel();
        let io = Watched::new(io, Arc::clone(&watch)).greeted(greeting);
        let (sender, connection) = client::Builder::new()
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buffer_size(SEND_BUFFER)
            .max_header_list_size(MAX_HEAD)
            .handshake(io)
            .await
            .map_err(Broken::Http2)?;
        let task = tasks.spawn_owned(async move {
            // Its errors are those of the streams that are under way.
            let _ = connection.await;
        });
        let link = Arc::new(Self { sender, watch, _task: task });
        let speaks = sure || greeted.await.unwrap_or(false);
        Ok(if speaks { Opened::Link(link) } else { Opened::Not })
    }

    fn explain(&self, err: h2::Error) -> Broken {
        match self.watch.away() {
            Some(reason) if err.is_io() => Broken::WentAway(reason),
            _ => Broken::Http2(err),
        }
    }

    /// Sends a request whose URI is absolute; 1xx responses are given to `informational`.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request<Upload>,
        tap: Tap,
        tasks: &Tasks,
        informational: impl FnMut(Response<()>),
    ) -> Result<Response<Received>, Unanswered> {
        let Ok(mut sender) = self.sender.clone().ready().await else {
            return Err(Unanswered::Unseen(Box::new(request)));
        };
        let (parts, upload) = request.into_parts();
        let end = upload.is_end_stream();
        let head = Request::from_parts(parts.clone(), ());
        let (response, stream) = match sender.send_request(head, end) {
            Ok(sent) => sent,
            // The connection has just gone, unless the head cannot be sent at all.
            Err(err) if err.is_io() || err.is_go_away() => {
                return Err(Unanswered::Unseen(Box::new(Request::from_parts(parts, upload))));
            }
            Err(err) => return Err(Unanswered::Broken(Broken::Http2(err))),
        };
        let id = response.stream_id().as_u32();
        self.watch.announce(id, tap);
        let mut claim = Claim { link: Arc::clone(self), id, cancel: None };
        let upload = if end {
            Some(upload)
        } else {
            let cancel = CancellationToken::new();
            claim.cancel = Some(cancel.clone().drop_guard());
            tasks.spawn(send_body(upload, stream, cancel));
            None
        };
        match answer(response, informational).await {
            Ok(response) => Ok(response.map(|body| {
                if body.is_end_stream() {
                    claim.settle();
                }
                Received::Http2(body, Some(claim))
            })),
            Err(err) => {
                let unseen = is_unprocessed(&err) || err.is_io() && !self.watch.retire(id);
                Err(match upload {
                    Some(upload) if unseen => {
                        Unanswered::Unseen(Box::new(Request::from_parts(parts, upload)))
                    }
                    _ => Unanswered::Broken(self.explain(err)),
                })
            }
        }
    }
}

/// Whether the other side says that it did nothing with the request (RFC 9113, section 8.7).
pub(crate) fn is_unprocessed(err: &h2::Error) -> bool {
    err.is_remote() && (err.is_go_away() || err.reason() == Some(Reason::REFUSED_STREAM))
}

/// The response, and the 1xx before it.
async fn answer(
    mut response: ResponseFuture,
    mut informational: impl FnMut(Response<()>),
) -> Result<Response<h2::RecvStream>, h2::Error> {
    poll_fn(|cx| {
        while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(cx) {
            informational(interim);
        }
        Pin::new(&mut response).poll(cx)
    })
    .await
}

/// The request's body goes on until it ends, the upstream wants no more of it, or nobody waits for
/// the response any more.
async fn send_body(upload: Upload, mut stream: SendStream<Bytes>, cancel: CancellationToken) {
    tokio::select! {
        passed = pass(upload, &mut stream, |_| ()) => if let Err(Stopped::Broke(_)) = passed {
            stream.send_reset(Reason::CANCEL);
        },
        () = cancel.cancelled() => stream.send_reset(Reason::CANCEL),
    }
}

/// A stream on a [`Link`], which lives as long as it. Dropped before the response has ended, it
/// cancels the request.
pub(crate) struct Claim {
    link: Arc<Link>,
    id: u32,
    cancel: Option<DropGuard>,
}

impl Claim {
    /// How a stream broke: where its connection ended, by what was said before.
    pub(crate) fn explain(&self, err: h2::Error) -> Broken {
        self.link.explain(err)
    }

    /// The response has ended; the request may go on.
    pub(crate) fn settle(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.disarm();
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.link.watch.retire(self.id);
    }
}
