//! A capture's frames: pages of them, those that hold a text, and the bytes they were.

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as Parameters};
use axum::response::{IntoResponse as _, Response};
use bytes::{Bytes, BytesMut};
use http::header;
use serde::Deserialize;
use teeline_assembler::FrameRow;
use teeline_capture::{CaptureId, Piece, Store, StoreError};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::State;
use crate::api::{blocking, find, json};
use crate::error::ApiError;

/// How many frames a page has unless asked for fewer or more. More cost no memory: they are sent as they are read.
const PAGE: u64 = 1000;

/// How many frames are read at once.
const STEP: usize = 200;

/// How many frames a search gives at most.
const MATCHES: usize = 10_000;

/// How many bytes of a body are given at once, at most.
const BYTES: u64 = 4 << 20;

#[derive(Deserialize)]
pub(crate) struct PageParameters {
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
    #[serde(default)]
    data: Option<String>,
}

/// `GET /api/captures/{id}/frames?offset=&limit=`; with `data=no` the frames come without their data.
pub(crate) async fn page(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<PageParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(PageParameters { offset, limit, data }) = parameters?;
    let id = find(&state, id).await?;
    let limit = limit.unwrap_or(PAGE);
    let with_data = data.as_deref() != Some("no");
    let mut pages = Pages { next: offset, end: offset.saturating_add(limit), with_data };
    let (first, mut pages) = blocking(&state, move |store| {
        let first = pages.read(store, id)?;
        Ok((first, pages))
    })
    .await?;
    let (sender, receiver) = mpsc::channel(2);
    let store = state.dashboard.store.clone();
    tokio::task::spawn_blocking(move || {
        // The receiver is gone when the client is: nothing to tell anybody.
        let _ = pages.send(&store, id, first, &sender);
    });
    Ok(json(Body::from_stream(ReceiverStream::new(receiver))))
}

type Sender = mpsc::Sender<Result<Bytes, Broken>>;

/// A fault in the middle of an answer: the connection is broken off, so that nobody takes the part for the whole.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Broken(String);

/// Nobody listens any more.
struct Gone;

/// The frames that were asked for and not sent yet.
struct Pages {
    next: u64,
    end: u64,
    with_data: bool,
}

/// Some frames as JSON, with commas between them, and how many there are in all.
struct Part {
    total: u64,
    json: Vec<u8>,
}

impl Pages {
    /// Reads the next frames; there may be fewer than asked for, and none at the end.
    fn read(&mut self, store: &Store, id: CaptureId) -> Result<Part, ApiError> {
        let limit = usize::try_from(self.end.saturating_sub(self.next)).unwrap_or(STEP).min(STEP);
        let (total, rows) = store.frames(id, self.next, limit)?;
        self.next += rows.len() as u64;
        Ok(Part { total, json: self.json(rows)? })
    }

    fn json(&self, rows: Vec<FrameRow>) -> Result<Vec<u8>, ApiError> {
        let mut json = Vec::new();
        for mut row in rows {
            if !self.with_data {
                row.data = None;
            }
            if !json.is_empty() {
                json.push(b',');
            }
            serde_json::to_writer(&mut json, &row)?;
        }
        Ok(json)
    }

    fn send(
        &mut self,
        store: &Store,
        id: CaptureId,
        first: Part,
        sender: &Sender,
    ) -> Result<(), Gone> {
        let put = |item| sender.blocking_send(item).map_err(|_| Gone);
        put(Ok(Bytes::from(format!("{{\"total\":{},\"frames\":[", first.total))))?;
        let mut part = first;
        let mut is_first = true;
        while !part.json.is_empty() {
            if !is_first {
                put(Ok(Bytes::from_static(b",")))?;
            }
            is_first = false;
            put(Ok(part.json.into()))?;
            if self.next >= self.end {
                break;
            }
            part = match self.read(store, id) {
                Ok(part) => part,
                Err(error) => return put(Err(Broken(error.message))),
            };
        }
        put(Ok(Bytes::from_static(b"]}")))
    }
}

#[derive(Deserialize)]
pub(crate) struct MatchParameters {
    #[serde(default)]
    q: String,
}

/// `GET /api/captures/{id}/matches?q=`: the frames that hold a text, letter case ignored, in their event, their
/// data, a comment or what they carried: `{"frames":[index],"more":bool}`.
pub(crate) async fn matches(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<MatchParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let wanted = parameters?.0.q.to_lowercase();
    let body = blocking(&state, move |store| {
        let id = store.find(&id)?;
        let mut found = Vec::new();
        let mut more = false;
        for_each_row(store, id, 0, |row| {
            more = found.len() == MATCHES;
            if !more && holds(row, &wanted) {
                found.push(row.index);
            }
            !more
        })?;
        Ok(serde_json::to_vec(&serde_json::json!({ "frames": found, "more": more }))?)
    });
    Ok(json(body.await?))
}

/// Visits the frames from `from` on, as long as `visit` says so.
pub(crate) fn for_each_row(
    store: &Store,
    id: CaptureId,
    from: u64,
    mut visit: impl FnMut(&FrameRow) -> bool,
) -> Result<(), StoreError> {
    let mut next = from;
    loop {
        let (_, rows) = store.frames(id, next, STEP * 5)?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in &rows {
            if !visit(row) {
                return Ok(());
            }
        }
        next += rows.len() as u64;
    }
}

fn holds(row: &FrameRow, wanted: &str) -> bool {
    let carried = row.effect.as_ref().map(|effect| effect.carried.as_str());
    let texts = [row.event.as_deref(), row.data.as_deref(), carried, row.id.as_deref()];
    texts
        .into_iter()
        .flatten()
        .chain(row.comments.iter().map(String::as_str))
        .any(|text| text.to_lowercase().contains(wanted))
}

#[derive(Deserialize)]
pub(crate) struct BytesParameters {
    #[serde(default)]
    offset: u64,
    length: Option<u64>,
}

/// `GET /api/captures/{id}/bytes?offset=&length=`: bytes of the decoded body, at most 4 MiB.
pub(crate) async fn bytes(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<BytesParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(BytesParameters { offset, length }) = parameters?;
    let end = offset.saturating_add(length.unwrap_or(BYTES).min(BYTES));
    let body = blocking(&state, move |store| {
        let mut body = BytesMut::new();
        for piece in store.body(store.find(&id)?)? {
            let Piece::Chunk(chunk) = piece? else { continue };
            if end <= chunk.offset {
                break;
            }
            body.extend_from_slice(part(&chunk.bytes, chunk.offset, offset, end));
        }
        Ok(body.freeze())
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body.await?).into_response())
}

/// The part of a chunk that lies in `from..to` of the body.
fn part(chunk: &Bytes, offset: u64, from: u64, to: u64) -> &[u8] {
    let at = |place: u64| {
        usize::try_from(place.saturating_sub(offset)).unwrap_or(usize::MAX).min(chunk.len())
    };
    chunk.get(at(from)..at(to)).unwrap_or_default()
}
