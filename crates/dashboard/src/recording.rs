//! Pausing and resuming: exchanges that begin meanwhile pass unrecorded.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::response::Response;
use serde::Deserialize;

use crate::State;
use crate::api::json;
use crate::error::ApiError;

/// `GET /api/recording`: `{"on","passed"}`.
pub(crate) async fn show(state: State) -> Result<Response, ApiError> {
    Ok(json(serde_json::to_vec(&state.dashboard.store.recording())?))
}

/// What is wanted.
#[derive(Deserialize)]
pub(crate) struct Wanted {
    on: bool,
}

/// `PUT /api/recording` with `{"on":false}` pauses, with `true` resumes; answers as `GET` does.
pub(crate) async fn set(
    state: State,
    body: Result<Json<Wanted>, JsonRejection>,
) -> Result<Response, ApiError> {
    let Json(Wanted { on }) = body?;
    Ok(json(serde_json::to_vec(&state.dashboard.store.set_recording(on))?))
}
