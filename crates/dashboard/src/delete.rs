//! Deleting, and bringing back within ten seconds.

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query as Parameters};
use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, StatusCode};
use serde::Deserialize;
use teeline_capture::{CaptureId, Query};

use crate::State;
use crate::api::{blocking, json};
use crate::error::ApiError;

/// The number under which a deletion by query can be undone.
const UNDO: HeaderName = HeaderName::from_static("x-teeline-undo");

/// `DELETE /api/captures/{id}`
pub(crate) async fn one(state: State, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    blocking(&state, move |store| {
        store.delete(&[store.find(&id)?])?;
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct DeleteParameters {
    q: Option<String>,
}

/// `DELETE /api/captures?q=`; an empty `q` is every capture, a missing one is taken for a slip.
pub(crate) async fn matching(
    state: State,
    parameters: Result<Parameters<DeleteParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Some(q) = parameters?.0.q else {
        return Err(ApiError::bad_request("say which captures with ?q=; empty means all of them"));
    };
    let query = Query::parse(&q)?;
    let ids = blocking(&state, move |store| Ok(store.delete_matching(&query)?)).await?;
    let undo = state.undo.remember(ids);
    Ok((StatusCode::NO_CONTENT, [(UNDO, undo.to_string())]).into_response())
}

/// Which deletion is undone.
#[derive(Deserialize)]
pub(crate) struct Undelete {
    /// The captures.
    #[serde(default)]
    ids: Vec<String>,
    /// What `x-teeline-undo` said.
    undo: Option<u64>,
}

/// `POST /api/captures/undelete`: answers with the ids of those that came back.
pub(crate) async fn undelete(
    state: State,
    body: Result<Json<Undelete>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(Undelete { ids, undo }) = body?;
    let mut wanted: Vec<CaptureId> = ids
        .iter()
        .map(|id| id.parse())
        .collect::<Result<_, _>>()
        .map_err(|error: teeline_capture::IdError| ApiError::bad_request(error.to_string()))?;
    if let Some(number) = undo {
        wanted.extend(state.undo.take(number).unwrap_or_default());
    }
    let body = blocking(&state, move |store| {
        let ids = store.undelete(&wanted)?;
        Ok(serde_json::to_vec(&serde_json::json!({ "ids": ids }))?)
    });
    Ok(json(body.await?))
}
