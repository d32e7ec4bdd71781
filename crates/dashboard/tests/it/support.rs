//! A dashboard over a store in memory, asked without a socket.

use axum::Router;
use axum::body::{Body, to_bytes};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use teeline_capture::{
    CaptureId, Change, Ending, RequestHead, ResponseHead, State, Store, StoreOptions, Summary, Tap,
};
use teeline_dashboard::{Dashboard, router};
use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// The address that the dashboard under test believes to be bound to.
pub(crate) const ADDRESS: &str = "127.0.0.1:4781";

/// A dashboard and what can be done to its store.
pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) shutdown: CancellationToken,
    pub(crate) router: Router,
}

/// An answer, read whole.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) fn bench() -> Bench {
    bench_at(ADDRESS, &[])
}

pub(crate) fn bench_at(address: &str, allowed_hosts: &[&str]) -> Bench {
    let store = Store::in_memory(StoreOptions::default()).unwrap();
    let shutdown = CancellationToken::new();
    let router = router(Dashboard {
        store: store.clone(),
        proxy_url: "http://127.0.0.1:4780".to_owned(),
        upstreams: vec![("openai".to_owned(), "https://api.openai.com".to_owned())],
        allowed_hosts: allowed_hosts.iter().map(|&host| host.to_owned()).collect(),
        address: address.parse().unwrap(),
        shutdown: shutdown.clone(),
    });
    Bench { store, shutdown, router }
}

impl Bench {
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, Body::empty())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(request(Method::DELETE, path, Body::empty())).await
    }

    /// Begins an exchange, and waits until the store has it.
    pub(crate) async fn begin(&self, head: RequestHead) -> Tap {
        let mut feed = self.store.feed();
        let tap = self.store.recorder().begin(head);
        let id = tap.id();
        wait(&mut feed, |summary| summary.id == id).await;
        tap
    }

    /// Records a Chat Completions exchange with this body, and waits until it is final.
    pub(crate) async fn record(&self, body: &'static [u8], ending: Ending) -> CaptureId {
        let mut feed = self.store.feed();
        let tap = self.store.recorder().begin(request_head("/openai/v1/chat/completions"));
        tap.request_body(&Bytes::from_static(br#"{"model":"m-1","messages":[]}"#));
        tap.request_end(true);
        tap.sent();
        tap.response(response_head());
        tap.chunk(&Bytes::from_static(body));
        tap.written(body.len() as u64);
        tap.end(ending);
        let id = tap.id();
        drop(tap);
        wait(&mut feed, |summary| summary.id == id && summary.state != State::Open).await;
        id
    }
}

/// Waits for a change of a capture.
pub(crate) async fn wait(feed: &mut Receiver<Change>, is_it: impl Fn(&Summary) -> bool) {
    loop {
        if let Change::Capture(summary) = feed.recv().await.unwrap()
            && is_it(&summary)
        {
            return;
        }
    }
}

pub(crate) fn request(method: Method, path: &str, body: Body) -> Request<Body> {
    Request::builder().method(method).uri(path).header("host", ADDRESS).body(body).unwrap()
}

pub(crate) fn request_head(target: &str) -> RequestHead {
    RequestHead {
        upstream: "openai".to_owned(),
        method: "POST".to_owned(),
        target: target.to_owned(),
        url: format!("https://api.openai.com{target}"),
        version: "HTTP/1.1",
        headers: vec![("Content-Type".to_owned(), Bytes::from_static(b"application/json"))],
        client: None,
    }
}

pub(crate) fn response_head() -> ResponseHead {
    ResponseHead {
        status: 200,
        reason: None,
        version: "HTTP/1.1",
        headers: vec![("Content-Type".to_owned(), Bytes::from_static(b"text/event-stream"))],
    }
}

/// A whole answer of two pieces of text.
pub(crate) const WHOLE: &[u8] = concat!(
    r#"data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}"#,
    "\n\n",
    r#"data: {"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#,
    "\n\n",
    "data: [DONE]\n\n",
)
.as_bytes();
