//! A dashboard over a store in memory, in this process: what it shows is put into the store directly.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_capture::{
    CaptureId, Ending, Import, RequestHead, ResponseHead, Store, StoreOptions, Tap, Timestamp,
};
use teeline_dashboard::{Dashboard, serve};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{block_on, chat};

/// A dashboard on a port of its own.
pub struct Board {
    /// What it shows.
    pub store: Store,
    address: SocketAddr,
    shutdown: CancellationToken,
    serving: Option<tokio::task::JoinHandle<()>>,
}

impl Board {
    /// Starts it with nothing in it.
    pub fn start() -> Self {
        let store = Store::in_memory(StoreOptions::default()).expect("a store can be made");
        let address = "127.0.0.1:0".parse().expect("an address");
        let shutdown = CancellationToken::new();
        let mut board = Self { store, address, shutdown, serving: None };
        board.listen();
        board
    }

    fn listen(&mut self) {
        let listener =
            crate::eventually("the port", || block_on(TcpListener::bind(self.address)).ok());
        self.address = listener.local_addr().expect("it is bound");
        self.shutdown = CancellationToken::new();
        let dashboard = Dashboard {
            store: self.store.clone(),
            proxy_url: "http://127.0.0.1:4780".to_owned(),
            upstreams: ["openai", "anthropic", "gemini", "ollama"]
                .map(|name| (name.to_owned(), format!("https://{name}.example")))
                .into(),
            allowed_hosts: vec![],
            address: self.address,
            shutdown: self.shutdown.clone(),
        };
        let serving = async move { serve(listener, dashboard).await.expect("it serves") };
        block_on(async { self.serving = Some(tokio::spawn(serving)) });
    }

    /// Ends it; what it showed stays in the store.
    pub fn stop(&mut self) {
        self.shutdown.cancel();
        if let Some(serving) = self.serving.take() {
            block_on(serving).expect("it ends");
        }
    }

    /// Starts it again at the same address.
    pub fn restart(&mut self) {
        self.stop();
        self.listen();
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Stores an exchange that has ended.
    pub fn put(&self, exchange: Exchange) -> CaptureId {
        self.store.import(exchange.import()).expect("it is stored")
    }

    /// Begins an exchange whose response has begun, and waits until it is listed.
    pub fn begin(&self, exchange: &Exchange) -> Tap {
        let mut feed = self.store.feed();
        let tap = self.store.recorder().begin(exchange.head());
        tap.request_body(&Bytes::from(exchange.request.to_string()));
        tap.request_end(true);
        tap.sent();
        tap.response(exchange.response());
        let id = tap.id();
        block_on(async {
            loop {
                if let Ok(teeline_capture::Change::Capture(summary)) = feed.recv().await
                    && summary.id == id
                {
                    break;
                }
            }
        });
        tap
    }

    /// Waits until a capture is final.
    pub fn ended(&self, id: CaptureId) {
        crate::eventually("the capture's end", || {
            let summary = self.store.summary(id).ok()?;
            (summary.state != teeline_capture::State::Open).then_some(())
        });
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// An exchange as it is to be stored.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The upstream's name.
    pub upstream: &'static str,
    /// The request's path.
    pub path: &'static str,
    /// The request's body.
    pub request: Value,
    /// The status of the response.
    pub status: u16,
    /// Its content type.
    pub content_type: &'static str,
    /// More headers of it.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body's pieces, and when each came, in milliseconds since the request.
    pub chunks: Vec<(Bytes, u64)>,
    /// How it ended.
    pub ending: Ending,
    /// When it began; now, if left out.
    pub at: Option<Timestamp>,
}

impl Exchange {
    /// A Chat Completions exchange that answered with these frames, 50 ms apart from half a second on.
    pub fn chat(frames: impl IntoIterator<Item = String>) -> Self {
        let chunks =
            frames.into_iter().zip(0..).map(|(frame, n)| (Bytes::from(frame), 500 + 50 * n));
        Self {
            upstream: "openai",
            path: "/openai/v1/chat/completions",
            request: json!({
                "model": "test-model", "stream": true, "temperature": 0.2,
                "messages": [{ "role": "user", "content": "Please answer." }],
            }),
            status: 200,
            content_type: "text/event-stream",
            headers: vec![],
            chunks: chunks.collect(),
            ending: Ending::Clean,
            at: None,
        }
    }

    /// One that answered with this text, a word a frame.
    pub fn answer(text: &str) -> Self {
        let pieces: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        Self::chat(chat::answer(&pieces))
    }

    /// The same with another upstream.
    #[must_use]
    pub fn through(mut self, upstream: &'static str) -> Self {
        self.upstream = upstream;
        self
    }

    /// The same with another ending.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The same with a silence of `ms` before piece `n`.
    #[must_use]
    pub fn silent_before(mut self, n: usize, ms: u64) -> Self {
        for (_, at) in self.chunks.iter_mut().skip(n) {
            *at += ms;
        }
        self
    }

    /// The same, begun some time ago.
    #[must_use]
    pub fn ago(mut self, ago: Duration) -> Self {
        let micros = i64::try_from(ago.as_micros()).expect("not that long ago");
        self.at = Some(Timestamp::from_micros(Timestamp::now().as_micros() - micros));
        self
    }

    fn head(&self) -> RequestHead {
        RequestHead {
            upstream: self.upstream.to_owned(),
            method: "POST".to_owned(),
            target: self.path.to_owned(),
            url: format!("https://{}.example{}", self.upstream, self.path),
            version: "HTTP/1.1",
            headers: vec![("Content-Type".to_owned(), Bytes::from_static(b"application/json"))],
            client: None,
        }
    }

    fn response(&self) -> ResponseHead {
        let own = [("Content-Type", self.content_type)];
        let headers = own.iter().chain(&self.headers);
        ResponseHead {
            status: self.status,
            reason: None,
            version: "HTTP/1.1",
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), Bytes::from(*value)))
                .collect(),
        }
    }

    fn import(self) -> Import {
        let (request, response) = (self.head(), self.response());
        Import {
            request,
            request_body: Bytes::from(self.request.to_string()),
            response: Some(response),
            chunks: self.chunks.into_iter().map(|(bytes, ms)| (bytes, Some(ms * 1000))).collect(),
            decoded: false,
            moments: None,
            started_at: self.at,
            ending: self.ending,
            format: None,
            stamps: false,
        }
    }
}
