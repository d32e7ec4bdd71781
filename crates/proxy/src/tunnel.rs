//! A connection that both sides have agreed to use for another protocol, such as WebSocket.
//!
//! Bytes pass both ways as they come, and so do ends: one side's FIN is the other's, after which it may go
//! on sending, and a reset is a reset.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use bytes::{Bytes, BytesMut};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use teeline_capture::{Ending, Tap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};

use crate::{
    app_io::AppIo,
    exchange::Exchange,
    line::Left,
    tasks::{Phase, Tasks},
    upstream_io::UpstreamIo,
};

/// Bytes read at once. What one side sends waits here for the other side only.
const BUFFER: usize = 16 << 10;

/// The two ends, and the record: what the app sends is the request's body, what the upstream sends
/// the response's.
pub(crate) struct Tunnel {
    app: OnUpgrade,
    upstream: OnUpgrade,
    exchange: Exchange,
}

/// Which side failed.
#[derive(Debug)]
enum Fault {
    App(io::Error),
    Upstream(io::Error),
}

impl Tunnel {
    pub(crate) fn new(app: OnUpgrade, upstream: OnUpgrade, exchange: Exchange) -> Self {
        Self { app, upstream, exchange }
    }

    /// Passes bytes both ways until both sides have ended, one of them fails, or the proxy closes.
    pub(crate) async fn run(self, tasks: &Tasks) {
        let Self { app, upstream, exchange } = self;
        let pass = async {
            let (app, upstream) = tokio::try_join!(app, upstream).map_err(|err| err.to_string())?;
            let (app, upstream) = (Socket::<AppIo>::of(app)?, Socket::<UpstreamIo>::of(upstream)?);
            Ok::<_, String>(pass(app, upstream, exchange.tap()).await)
        };
        tokio::select! {
            ending = pass => {
                exchange.end(ending.unwrap_or_else(|how| Ending::UpstreamBroke { how }));
            }
            // The exchange is dropped unfinished.
            () = tasks.reached(Phase::Closing) => {}
        }
    }
}

/// A connection that hyper has given up, and what it had read of it.
struct Socket<T> {
    io: T,
    ahead: Bytes,
}

impl<T> Socket<T>
where
    TokioIo<T>: hyper::rt::Read + hyper::rt::Write + Unpin + 'static,
{
    fn of(upgraded: Upgraded) -> Result<Self, String> {
        let parts = upgraded
            .downcast::<TokioIo<T>>()
            .map_err(|_| "the connection cannot be used for another protocol".to_owned())?;
        Ok(Self { io: parts.io.into_inner(), ahead: parts.read_buf })
    }
}

async fn pass(app: Socket<AppIo>, upstream: Socket<UpstreamIo>, tap: &Tap) -> Ending {
    let ((mut app_out, mut app_in), app_ahead) = (split(app.io), app.ahead);
    let ((mut upstream_out, mut upstream_in), upstream_ahead) =
        (split(upstream.io), upstream.ahead);
    // Whether the app ended its side, and nothing came for it since.
    let left = AtomicBool::new(false);
    let over = AtomicBool::new(false);
    let up = async {
        let came = |bytes: &Bytes| tap.request_body(bytes);
        let copied = copy(app_ahead, &mut app_out, &mut upstream_in, came, |_| ()).await;
        left.store(copied.is_ok() && !over.load(Ordering::Relaxed), Ordering::Relaxed);
        tap.request_end(copied.is_ok());
        copied.map_err(|side| match side {
            Side::From(err) => Fault::App(err),
            Side::To(err) => Fault::Upstream(err),
        })
    };
    let down = async {
        let came = |bytes: &Bytes| {
            left.store(false, Ordering::Relaxed);
            tap.chunk(bytes);
        };
        let went = |length| tap.written(length);
        let copied = copy(upstream_ahead, &mut upstream_out, &mut app_in, came, went).await;
        over.store(copied.is_ok(), Ordering::Relaxed);
        copied.map_err(|side| match side {
            Side::From(err) => Fault::Upstream(err),
            Side::To(err) => Fault::App(err),
        })
    };
    let result = tokio::try_join!(up, down);
    let (app, upstream) = (app_out.unsplit(app_in), upstream_out.unsplit(upstream_in));
    match result {
        Ok(_) if left.into_inner() => {
            tap.left(&Left::Closed.how());
            Ending::ClientLeft
        }
        Ok(_) => Ending::Clean,
        Err(Fault::App(err)) => {
            upstream.reset();
            tap.left(&Left::of(&err).how());
            Ending::ClientLeft
        }
        Err(Fault::Upstream(err)) => {
            app.reset();
            // Its own side had ended before: what it took no more is the app's.
            if over.into_inner() { Ending::Clean } else { Ending::UpstreamBroke { how: how(&err) } }
        }
    }
}

enum Side {
    From(io::Error),
    To(io::Error),
}

/// Passes on what was read ahead, then bytes as they come, then the end.
async fn copy(
    ahead: Bytes,
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    came: impl Fn(&Bytes),
    went: impl Fn(u64),
) -> Result<(), Side> {
    let mut buffer = BytesMut::from(ahead);
    loop {
        if !buffer.is_empty() {
            let bytes = buffer.split().freeze();
            came(&bytes);
            to.write_all(&bytes).await.map_err(Side::To)?;
            to.flush().await.map_err(Side::To)?;
            went(bytes.len() as u64);
        }
        buffer.reserve(BUFFER);
        if from.read_buf(&mut buffer).await.map_err(Side::From)? == 0 {
            return to.shutdown().await.map_err(Side::To);
        }
    }
}

fn how(err: &io::Error) -> String {
    match err.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset".to_owned(),
        io::ErrorKind::UnexpectedEof => "closed early".to_owned(),
        _ => err.to_string(),
    }
}
