//! Live events.

use crate::support::{Bench, WHOLE, bench, request, request_head, response_head};
use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt as _;
use http::Method;
use serde_json::Value;
use teeline_capture::Ending;
use tower::ServiceExt as _;

/// The events of a stream, one at a time.
struct Events {
    body: BodyDataStream,
    text: String,
}

async fn events(bench: &Bench, path: &str) -> Events {
    let response =
        bench.router.clone().oneshot(request(Method::GET, path, Body::empty())).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    Events { body: response.into_body().into_data_stream(), text: String::new() }
}

impl Events {
    /// The next event that is not the summary beside a reading.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            let event = self.any().await?;
            if event.0 != "summary" {
                return Some(event);
            }
        }
    }

    /// The next event's name and data; `None` at the end.
    async fn any(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
                };
                let found = field("event: ").zip(field("data: "));
                self.text = rest.into();
                if let Some((name, data)) = found {
                    return Some((name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            self.text.push_str(std::str::from_utf8(&self.body.next().await?.unwrap()).unwrap());
        }
    }
}

#[tokio::test]
async fn the_feed_says_what_starts_ends_and_goes() {
    let bench = bench();
    let mut events = events(&bench, "/api/live").await;
    let id = bench.record(WHOLE, Ending::Clean).await;
    let mut states = Vec::new();
    while states.last().map(String::as_str) != Some("ended") {
        let (name, data) = events.next().await.unwrap();
        assert_eq!(
            (name.as_str(), data["id"].as_str()),
            ("capture", Some(id.to_string().as_str()))
        );
        states.push(data["state"].as_str().unwrap().to_owned());
    }
    assert_eq!(states.first().map(String::as_str), Some("open"));
    bench.store.delete(&[id]).unwrap();
    let (name, data) = loop {
        let event = events.next().await.unwrap();
        if event.0 != "capture" {
            break event;
        }
    };
    assert_eq!((name.as_str(), data["id"].as_str()), ("deleted", Some(id.to_string().as_str())));
}

#[tokio::test]
async fn an_ended_capture_gives_its_reading_and_the_end() {
    let bench = bench();
    let id = bench.record(WHOLE, Ending::Clean).await;
    let mut events = events(&bench, &format!("/api/captures/{id}/live")).await;
    let (name, reading) = events.next().await.unwrap();
    assert_eq!((name.as_str(), reading["schema"].as_str()), ("reading", Some("teeline.reading/1")));
    let (name, summary) = events.next().await.unwrap();
    assert_eq!((name.as_str(), summary["state"].as_str()), ("end", Some("ended")));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn an_open_capture_is_followed_to_its_end() {
    let bench = bench();
    let tap = bench.begin(request_head("/openai/v1/chat/completions")).await;
    tap.response(response_head());
    let mut events = events(&bench, &format!("/api/captures/{}/live", tap.id())).await;
    assert_eq!(events.next().await.unwrap().0, "reading");
    tap.chunk(&bytes::Bytes::from_static(WHOLE));
    tap.end(Ending::Clean);
    drop(tap);
    let mut names = Vec::new();
    while let Some((name, _)) = events.next().await {
        names.push(name);
    }
    assert_eq!(names.pop().as_deref(), Some("end"));
    assert_eq!(names.pop().as_deref(), Some("reading"));
}

/// Shutting down must not wait for viewers: live events have no end of their own.
#[tokio::test]
async fn shutting_down_ends_the_events() {
    let bench = bench();
    let mut events = events(&bench, "/api/live").await;
    bench.shutdown.cancel();
    assert!(events.next().await.is_none());
}
