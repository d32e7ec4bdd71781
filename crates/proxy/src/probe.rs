//! Whether an upstream can be reached from here, as the proxy would reach it.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::{
    Config, Upstream,
    connector::Connector,
    failure::{Failure, Kind},
    upstream_io::UpstreamIo,
};

/// What an upstream answered to a request without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status; what it is says nothing about a request with credentials.
    pub status: u16,
    /// The upstream's clock: its `Date` header.
    pub date: Option<String>,
    /// How long it took, from resolving the name to the answer's head.
    pub took: Duration,
}

/// Asks an upstream for the head of its base URL, within the configured time to connect.
///
/// # Errors
///
/// It cannot be reached; the text says why, as an app would be told.
pub async fn probe(upstream: &Upstream, config: &Config) -> Result<Answer, String> {
    let started = Instant::now();
    let limit = upstream.connect_timeout(config);
    let asked = timeout(limit, ask(upstream, config)).await;
    let (status, date) = match asked {
        Ok(answer) => answer.map_err(|failure| failure.message)?,
        Err(_) => return Err(format!("no answer within {limit:?}")),
    };
    Ok(Answer { status, date, took: started.elapsed() })
}

async fn ask(upstream: &Upstream, config: &Config) -> Result<(u16, Option<String>), Failure> {
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let connector = Connector::new(config, nowhere)
        .map_err(|err| Failure::new(Kind::ConnectFailed, err.to_string()))?;
    let stream = connector.open(upstream, false).await?;
    head(upstream, UpstreamIo::new(stream, Arc::default())).await
}

async fn head(upstream: &Upstream, stream: UpstreamIo) -> Result<(u16, Option<String>), Failure> {
    let closed = |err: &dyn std::error::Error| Failure::new(Kind::UpstreamClosed, err.to_string());
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|err| closed(&err))?;
    let request = Request::head("/")
        .header(header::HOST, upstream.authority().clone())
        .body(Empty::<Bytes>::new())
        .map_err(|err| closed(&err))?;
    let answer = async { sender.send_request(request).await };
    tokio::pin!(answer, connection);
    let response = loop {
        tokio::select! {
            response = &mut answer => break response.map_err(|err| closed(&err))?,
            result = &mut connection => if let Err(err) = result { return Err(closed(&err)) },
        }
    };
    let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
    Ok((response.status().as_u16(), date.map(str::to_owned)))
}
