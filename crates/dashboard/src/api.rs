//! The JSON API over single captures and lists of them.

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as Parameters};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde::{Deserialize, Serialize};
use teeline_assembler::Reading;
use teeline_capture::{
    CaptureId, End, Ending, Moments, Query, RequestView, ResponseView, Store, Summary,
};
use teeline_finding::{Severity, catalogue};

use crate::State;
use crate::error::ApiError;

/// How many captures a page of the list has, unless asked for fewer or more.
const LIST_PAGE: usize = 100;

/// How many it has at most.
const LIST_PAGE_MAX: usize = 1000;

/// Runs what waits for the disk or takes time beside the server's own threads.
pub(crate) async fn blocking<T: Send + 'static>(
    state: &State,
    work: impl FnOnce(&Store) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let store = state.dashboard.store.clone();
    tokio::task::spawn_blocking(move || work(&store)).await.unwrap_or_else(|_| {
        let message = "this could not be answered; teeline's log says why";
        Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}

/// A JSON answer that was written already.
pub(crate) fn json(body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}

#[derive(Deserialize)]
pub(crate) struct ListParameters {
    #[serde(default)]
    q: String,
    before: Option<u64>,
    limit: Option<usize>,
}

/// `GET /api/captures?limit=&before=&q=`
pub(crate) async fn list(
    state: State,
    parameters: Result<Parameters<ListParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(ListParameters { q, before, limit }) = parameters?;
    let query = Query::parse(&q)?;
    let limit = limit.unwrap_or(LIST_PAGE).clamp(1, LIST_PAGE_MAX);
    let body =
        blocking(&state, move |store| Ok(serde_json::to_vec(&store.list(&query, before, limit)?)?));
    Ok(json(body.await?))
}

/// `GET /api/store`: how much it holds, how much it may, and when its oldest capture began.
pub(crate) async fn store(state: State) -> Result<Response, ApiError> {
    let body = blocking(&state, |store| Ok(serde_json::to_vec(&store.size()?)?));
    Ok(json(body.await?))
}

/// A capture as the contract gives it, with the moments and the ending beside it.
#[derive(Serialize)]
struct Capture<'a> {
    summary: Summary,
    request: RequestView,
    response: Option<ResponseView>,
    reading: &'a Reading,
    moments: Moments,
    ending: Option<Ending>,
    end: Option<End>,
}

/// `GET /api/captures/{id}`
pub(crate) async fn capture(state: State, Path(id): Path<String>) -> Result<Response, ApiError> {
    let body = blocking(&state, move |store| {
        let id = store.find(&id)?;
        // The reading first: if the capture ends in between, the state is newer than the reading, never older.
        let reading = store.reading(id)?;
        let exchange = store.exchange(id)?;
        Ok(serde_json::to_vec(&Capture {
            summary: exchange.summary,
            request: exchange.request,
            response: exchange.response,
            reading: &reading,
            moments: exchange.moments,
            ending: exchange.ending,
            end: exchange.end,
        })?)
    });
    Ok(json(body.await?))
}

#[derive(Deserialize)]
pub(crate) struct ProvenanceParameters {
    #[serde(default)]
    from: u64,
}

/// `GET /api/captures/{id}/provenance`, `?from=` leaves out what earlier frames added.
pub(crate) async fn provenance(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<ProvenanceParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Parameters(ProvenanceParameters { from }) = parameters?;
    let body = blocking(&state, move |store| {
        let added = store.provenance(store.find(&id)?)?;
        let added: Vec<_> = added.iter().filter(|added| from <= added.frame()).collect();
        Ok(serde_json::to_vec(&added)?)
    });
    Ok(json(body.await?))
}

/// What the catalogue says of a finding.
#[derive(Serialize)]
struct Entry {
    id: &'static str,
    severity: Severity,
    meaning: &'static str,
    why: &'static str,
    advice: &'static str,
}

/// `GET /api/findings`: every finding there is, with what it means, why it matters and what to do.
pub(crate) async fn findings() -> Result<Response, ApiError> {
    let findings: Vec<Entry> = catalogue::ENTRIES
        .iter()
        .map(|entry| Entry {
            id: entry.id,
            severity: entry.severity,
            meaning: entry.meaning(),
            why: entry.why,
            advice: entry.advice,
        })
        .collect();
    Ok(json(serde_json::to_vec(&serde_json::json!({ "findings": findings }))?))
}

/// The capture that a path names.
pub(crate) async fn find(state: &State, id: String) -> Result<CaptureId, ApiError> {
    blocking(state, move |store| Ok(store.find(&id)?)).await
}
