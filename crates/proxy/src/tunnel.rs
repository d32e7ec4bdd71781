//! A connection that both sides have agreed to use for another protocol, such as WebSocket.

use std::{future::Future, io, time::Duration};

use bytes::{Bytes, BytesMut};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use teeline_capture::{Ending, Tap};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split},
    time::timeout,
};

use crate::{
    exchange::Exchange,
    tasks::{Phase, Tasks},
};

/// Bytes read at once. What one side sends waits here for the other side only.
const BUFFER: usize = 16 << 10;

/// How long the upstream has to end its side when the app has ended its own.
const LEAVE: Duration = Duration::from_secs(2);

/// The two ends, and the record: what the app sends is the request's body, what the upstream sends
/// the response's.
pub(crate) struct Tunnel {
    app: OnUpgrade,
    upstream: OnUpgrade,
    exchange: Exchange,
}

/// Which side failed.
enum Fault {
    App,
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
            match tokio::try_join!(app, upstream) {
                Ok((app, upstream)) => pass(app, upstream, exchange.tap()).await,
                Err(err) => Ending::UpstreamBroke { how: err.to_string() },
            }
        };
        tokio::select! {
            ending = pass => exchange.end(ending),
            // The exchange is dropped unfinished.
            () = tasks.reached(Phase::Closing) => {}
        }
    }
}

async fn pass(app: Upgraded, upstream: Upgraded, tap: &Tap) -> Ending {
    let (app_out, app_in) = split(TokioIo::new(app));
    let (upstream_out, upstream_in) = split(TokioIo::new(upstream));
    let up = async {
        let copied = copy(app_out, upstream_in, |bytes| tap.request_body(bytes), |_| ()).await;
        tap.request_end(copied.is_ok());
        copied.map_err(|fault| match fault {
            Side::From(_) => Fault::App,
            Side::To(err) => Fault::Upstream(err),
        })
    };
    let down = async {
        let copied =
            copy(upstream_out, app_in, |bytes| tap.chunk(bytes), |length| tap.written(length));
        copied.await.map_err(|fault| match fault {
            Side::From(err) => Fault::Upstream(err),
            Side::To(_) => Fault::App,
        })
    };
    match both(up, down).await {
        Ok(()) => Ending::Clean,
        Err(Fault::App) => Ending::ClientLeft,
        Err(Fault::Upstream(err)) => Ending::UpstreamBroke { how: how(&err) },
    }
}

/// Runs both directions. An app that has ended its side has mostly left: the upstream sees its end
/// and is given a moment to end too.
async fn both(
    up: impl Future<Output = Result<(), Fault>>,
    down: impl Future<Output = Result<(), Fault>>,
) -> Result<(), Fault> {
    tokio::pin!(up, down);
    tokio::select! {
        result = &mut up => {
            result?;
            timeout(LEAVE, down).await.unwrap_or(Err(Fault::App))
        }
        result = &mut down => {
            result?;
            // The app sees the upstream's end; if it does not leave, nobody listens to it any more.
            timeout(LEAVE, up).await.unwrap_or(Ok(()))
        }
    }
}

enum Side {
    From(io::Error),
    To(io::Error),
}

/// Passes bytes on as they come, then the end.
async fn copy(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    came: impl Fn(&Bytes),
    went: impl Fn(u64),
) -> Result<(), Side> {
    let mut buffer = BytesMut::with_capacity(BUFFER);
    loop {
        buffer.reserve(BUFFER);
        if from.read_buf(&mut buffer).await.map_err(Side::From)? == 0 {
            return to.shutdown().await.map_err(Side::To);
        }
        let bytes = buffer.split().freeze();
        came(&bytes);
        to.write_all(&bytes).await.map_err(Side::To)?;
        to.flush().await.map_err(Side::To)?;
        went(bytes.len() as u64);
    }
}

fn how(err: &io::Error) -> String {
    match err.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "reset".to_owned(),
        io::ErrorKind::UnexpectedEof => "closed early".to_owned(),
        _ => err.to_string(),
    }
}
