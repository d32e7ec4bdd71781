//! Exports: sent as they are made, so that a body of any size costs no memory.

use std::io::{self, Write};

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as Parameters};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{StatusCode, header};
use serde::Deserialize;
use teeline_export::{ExportError, Kind};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::State;
use crate::api::find;
use crate::error::ApiError;

/// How many bytes are sent at once.
const PIECE: usize = 64 << 10;

/// How many pieces may wait for the client.
const AHEAD: usize = 4;

#[derive(Deserialize)]
pub(crate) struct ExportParameters {
    #[serde(rename = "as")]
    kind: Option<String>,
}

/// `GET /api/captures/{id}/export?as=KIND`
pub(crate) async fn export(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<ExportParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let kind = kind(&parameters?.0.kind.unwrap_or_default())?;
    let id = find(&state, id).await?;
    let store = state.dashboard.store.clone();
    let (sender, mut receiver) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || {
        let mut out = Pieces { buffer: Vec::with_capacity(PIECE), sender };
        let written = teeline_export::export(&store, id, kind, &mut out);
        if let Err(error) = written.and_then(|()| Ok(out.flush()?)) {
            // If the client is gone, nobody has to be told.
            let _ = out.sender.blocking_send(Err(error));
        }
    });
    // Until the first piece the answer can still be an error.
    let first = match receiver.recv().await {
        Some(Err(error)) => return Err(error.into()),
        Some(Ok(first)) => first,
        None => Bytes::new(),
    };
    let body = stream::iter([Ok(first)]).chain(ReceiverStream::new(receiver));
    let file = format!("attachment; filename=\"{}\"", kind.file_name(id));
    let headers =
        [(header::CONTENT_TYPE, kind.content_type()), (header::CONTENT_DISPOSITION, &file)];
    Ok((headers, Body::from_stream(body)).into_response())
}

fn kind(name: &str) -> Result<Kind, ApiError> {
    Kind::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        ApiError::bad_request(format!("say which export with ?as=; these are: {}", known.join(" ")))
    })
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        let status = match error {
            ExportError::Store(error) => return error.into(),
            ExportError::Binary => StatusCode::CONFLICT,
            ExportError::Nothing(_) => StatusCode::NOT_FOUND,
            ExportError::Write(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

/// Cuts what is written into pieces and hands them on.
struct Pieces {
    buffer: Vec<u8>,
    sender: mpsc::Sender<Result<Bytes, ExportError>>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.buffer));
        self.sender.blocking_send(Ok(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
