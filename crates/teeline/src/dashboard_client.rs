//! Asks the running teeline's dashboard: what another process of the same user is doing right now.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, Response, body::Incoming, http::request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use teeline_capture::serving;
use teeline_decoder::{Decoder, Frame, Framing, Options};
use teeline_finding::Findings;
use tokio::{net::TcpStream, time::timeout};

use crate::{args::RunningArgs, config};

/// A reading may be as large as a pasted stream.
const EVENT_BOUND: usize = 256 << 20;

/// How long whoever has the dashboard's port may take to say that it is teeline.
const HEALTH: Duration = Duration::from_secs(2);

/// An answer that is no stream is not read further than this.
const ANSWER_BYTES: usize = 1 << 16;

/// The address of the dashboard that is meant: the one that was named, else the one that serves the store.
///
/// # Errors
///
/// Nothing serves the store, or the configuration cannot be read.
pub(crate) fn address(args: &RunningArgs) -> Result<String> {
    if let Some(address) = args.dashboard {
        return Ok(address.to_string());
    }
    let dir = config::store_dir(&args.store)?;
    let url = serving(&dir).with_context(|| {
        format!(
            "no teeline serves the store in {}; start `teeline`, or pass --dashboard ADDR",
            dir.display()
        )
    })?;
    Ok(url.trim_start_matches("http://").to_owned())
}

/// Events of the dashboard, as they come.
pub(crate) struct Events {
    body: Incoming,
    decoder: Decoder,
    findings: Findings,
}

impl Events {
    /// Asks for `path` at `address`.
    ///
    /// # Errors
    ///
    /// Nothing answers there, or it refuses.
    pub(crate) async fn open(address: &str, path: &str) -> Result<Self> {
        let response = ask(address, Request::get(path), Bytes::new()).await?;
        let options =
            Options { framing: Some(Framing::Sse), bound: EVENT_BOUND, ..Options::default() };
        Ok(Self {
            body: response.into_body(),
            decoder: Decoder::new(options),
            findings: Findings::default(),
        })
    }

    /// The next event; `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// The connection broke.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.decoder.next_frame(&mut self.findings) {
                if frame.dispatched {
                    return Ok(Some(frame));
                }
                continue;
            }
            match self.body.frame().await {
                Some(piece) => {
                    let piece = piece.context("the connection to the dashboard broke")?;
                    if let Ok(bytes) = piece.into_data() {
                        self.decoder.push(bytes);
                    }
                }
                None => return Ok(None),
            }
        }
    }
}

/// Whether a teeline's dashboard answers there within two seconds.
pub(crate) async fn is_healthy(address: SocketAddr) -> bool {
    let asked = async {
        let response = ask(&address.to_string(), Request::get("/healthz"), Bytes::new()).await?;
        whole(response).await
    };
    matches!(timeout(HEALTH, asked).await, Ok(Ok(body)) if body == "ok")
}

/// Sends a small JSON body and gives the JSON that is answered.
///
/// # Errors
///
/// Nothing answers there, or it refuses.
pub(crate) async fn put(address: &str, path: &str, body: &Value) -> Result<Value> {
    let request = Request::put(path).header("content-type", "application/json");
    let response = ask(address, request, body.to_string().into()).await?;
    Ok(serde_json::from_slice(&whole(response).await?)?)
}

/// The body of an answer that is no stream.
async fn whole(response: Response<Incoming>) -> Result<Bytes> {
    let body = Limited::new(response.into_body(), ANSWER_BYTES).collect().await;
    Ok(body.map_err(|error| anyhow!(error))?.to_bytes())
}

/// Sends a request whose answer has to be a success.
async fn ask(address: &str, request: request::Builder, body: Bytes) -> Result<Response<Incoming>> {
    let connection = TcpStream::connect(address)
        .await
        .with_context(|| format!("no teeline answers at {address}; is it running?"))?;
    let (mut sender, driver) =
        hyper::client::conn::http1::handshake(TokioIo::new(connection)).await?;
    // It ends with the response, or with this program.
    tokio::spawn(driver);
    let request = request.header("host", address).body(Full::new(body))?;
    let response = sender
        .send_request(request)
        .await
        .with_context(|| format!("what listens at {address} does not answer as teeline does"))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    bail!("{}", refusal(response).await.unwrap_or_else(|_| format!("{address} answers {status}")))
}

/// The message of the dashboard's error.
async fn refusal(response: Response<Incoming>) -> Result<String> {
    let error: Value = serde_json::from_slice(&whole(response).await?)?;
    let message = error["error"]["message"].as_str().unwrap_or_default();
    ensure!(!message.is_empty(), "no message");
    Ok(message.to_owned())
}
