//! The store as the proxy and the dashboard see it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod deletion;
mod fixtures;
mod folder;
mod live;
mod query;
mod recording;
mod redaction;
mod retention;
mod retries;
mod versions;
mod websocket;

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use teeline_capture::{
    CaptureId, Change, Ending, Piece, RequestHead, ResponseHead, State, Store, StoreOptions,
    Summary, Tap,
};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// A chat stream with this answer, a frame a word.
fn chat(answer: &str) -> String {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m-1\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut body = chunk(r#"{"role":"assistant","content":""}"#, "null");
    for word in answer.split_inclusive(' ') {
        let word = serde_json::to_string(word).unwrap();
        body += &chunk(&format!("{{\"content\":{word}}}"), "null");
    }
    body + &chunk("{}", "\"stop\"") + "data: [DONE]\n\n"
}

fn request(target: &str) -> RequestHead {
    RequestHead {
        upstream: target.split('/').nth(1).unwrap_or_default().to_owned(),
        method: "POST".to_owned(),
        target: target.to_owned(),
        url: format!("https://api.example{target}"),
        version: "HTTP/1.1",
        headers: vec![("Host".to_owned(), Bytes::from_static(b"127.0.0.1:4780"))],
        client: None,
    }
}

fn response(status: u16, headers: &[(&str, &str)]) -> ResponseHead {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Bytes::copy_from_slice(value.as_bytes())))
        .collect();
    ResponseHead { status, reason: None, version: "HTTP/1.1", headers }
}

const SSE: [(&str, &str); 1] = [("content-type", "text/event-stream")];

fn open(dir: &Path) -> Store {
    Store::open(dir, StoreOptions::default()).unwrap()
}

fn memory() -> Store {
    Store::in_memory(StoreOptions::default()).unwrap()
}

/// An exchange with this body in one chunk, ended cleanly; not waited for.
fn exchange(store: &Store, target: &str, body: &[u8]) -> CaptureId {
    let tap = store.recorder().begin(request(target));
    tap.response(response(200, &SSE));
    tap.chunk(&Bytes::copy_from_slice(body));
    finish(tap, Ending::Clean)
}

fn finish(tap: Tap, ending: Ending) -> CaptureId {
    tap.end(ending);
    let id = tap.id();
    drop(tap);
    id
}

/// Waits for a change that fits.
fn wait_for<T>(feed: &mut Receiver<Change>, mut fits: impl FnMut(Change) -> Option<T>) -> T {
    loop {
        match feed.blocking_recv() {
            Ok(change) => {
                if let Some(found) = fits(change) {
                    return found;
                }
            }
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => panic!("the feed ended"),
        }
    }
}

/// Waits until the capture's reading is final.
fn settled(feed: &mut Receiver<Change>, id: CaptureId) -> Arc<Summary> {
    wait_for(feed, |change| match change {
        Change::Capture(summary) if summary.id == id && summary.state != State::Open => {
            Some(summary)
        }
        _ => None,
    })
}

/// The bytes of a body, gaps left out.
fn bytes(pieces: teeline_capture::Pieces) -> Vec<u8> {
    let mut all = Vec::new();
    for piece in pieces {
        if let Piece::Chunk(chunk) = piece.unwrap() {
            all.extend_from_slice(&chunk.bytes);
        }
    }
    all
}

/// Whether any file of the folder holds the text.
fn folder_holds(dir: &Path, text: &str) -> Option<String> {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let content = std::fs::read(&path).unwrap();
        if content.windows(text.len()).any(|window| window == text.as_bytes()) {
            return Some(format!("{text:?} in {}", path.display()));
        }
    }
    None
}
