//! Asks the running teeline's dashboard: what another process of the same user is doing right now.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use teeline_capture::serving;
use teeline_decoder::{Decoder, Frame, Framing, Options};
use teeline_finding::Findings;
use tokio::net::TcpStream;

/// A reading may be as large as a pasted stream.
const EVENT_BOUND: usize = 256 << 20;

/// An error's answer is not read further than this.
const ERROR_BYTES: usize = 1 << 16;

/// The address of the dashboard that serves the store in `dir`.
///
/// # Errors
///
/// Nothing serves it.
pub(crate) fn of_store(dir: &Path) -> Result<String> {
    let url = serving(dir).with_context(|| {
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
        let response = get(address, path).await?;
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

/// A GET whose answer is 200.
async fn get(address: &str, path: &str) -> Result<Response<Incoming>> {
    let connection = TcpStream::connect(address)
        .await
        .with_context(|| format!("no teeline answers at {address}; is it running?"))?;
    let (mut sender, driver) =
        hyper::client::conn::http1::handshake(TokioIo::new(connection)).await?;
    // It ends with the response, or with this program.
    tokio::spawn(driver);
    let request = Request::get(path).header("host", address).body(Empty::<Bytes>::new())?;
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
    let body = http_body_util::Limited::new(response.into_body(), ERROR_BYTES);
    let body = body.collect().await.map_err(|error| anyhow::anyhow!(error))?.to_bytes();
    let error: serde_json::Value = serde_json::from_slice(&body)?;
    let message = error["error"]["message"].as_str().unwrap_or_default();
    ensure!(!message.is_empty(), "no message");
    Ok(message.to_owned())
}
