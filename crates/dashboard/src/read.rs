//! Reads a pasted stream. It is not stored unless asked for.

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest as _, Query as Parameters, Request};
use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use teeline_assembler::{Assembly, End, FORMATS, Format, Options};
use teeline_capture::{CaptureId, Store};

use crate::State;
use crate::api::{blocking, json};
use crate::error::ApiError;

/// How many pasted streams are read at once; a further one waits, so that their texts do not add up.
pub(crate) const AT_ONCE: usize = 2;

#[derive(Deserialize)]
pub(crate) struct ReadParameters {
    #[serde(rename = "as")]
    format: Option<String>,
    save: Option<String>,
}

/// `POST /api/read?as=&save=1`: a Reading with `frames` and `provenance`. Saved, its `id` is the capture's
/// (also as `capture_id`), not the response's.
pub(crate) async fn read(
    state: State,
    parameters: Result<Parameters<ReadParameters>, QueryRejection>,
    request: Request<Body>,
) -> Result<Response, ApiError> {
    let Parameters(ReadParameters { format, save }) = parameters?;
    let format = format.filter(|name| !name.is_empty()).map(|name| known(&name)).transpose()?;
    let save = save.is_some_and(|save| save == "1" || save == "true");
    let _turn = state
        .reads
        .acquire()
        .await
        .map_err(|_| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "teeline is stopping"))?;
    let body = Bytes::from_request(request, &()).await?;
    let answer = blocking(&state, move |store| {
        let id = save.then(|| import(store, &body, format)).transpose()?;
        answer(body, format, id)
    });
    Ok(json(answer.await?))
}

fn known(name: &str) -> Result<&'static Format, ApiError> {
    teeline_assembler::format(name).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        ApiError::bad_request(format!(
            "there is no format `{name}`; known are {}",
            names.join(", ")
        ))
    })
}

/// The reading as JSON, with what the page needs beside it.
fn answer(
    body: Bytes,
    format: Option<&'static Format>,
    id: Option<CaptureId>,
) -> Result<Vec<u8>, ApiError> {
    let mut reading = assemble(body.clone(), format, false).reading();
    // Rows say what frames did in the format that led when they came, so they are made once it is known.
    let format = teeline_assembler::format(reading.format);
    let mut traced = assemble(body, format, true);
    reading.frames = Some(traced.take_rows());
    if let Some(id) = id {
        reading.id = Some(id.to_string());
    }
    let mut answer = serde_json::to_vec(&reading)?;
    // One more member, without building a second tree of what may be 64 MiB.
    answer.pop();
    answer.extend_from_slice(b",\"provenance\":");
    serde_json::to_writer(&mut answer, &traced.provenance())?;
    if let Some(id) = id {
        answer.extend_from_slice(format!(",\"capture_id\":\"{id}\"").as_bytes());
    }
    answer.push(b'}');
    Ok(answer)
}

fn assemble(body: Bytes, format: Option<&'static Format>, keep_rows: bool) -> Assembly {
    let mut assembly = Assembly::new(Options { format, stamps: true, ..Options::default() });
    assembly.keep_rows(keep_rows);
    assembly.push(body, None);
    assembly.finish(End::Clean);
    assembly
}

/// What a pasted stream is listed under.
const PASTED: &str = "pasted";

/// Stores the text as a capture whose request is not known.
fn import(
    store: &Store,
    body: &Bytes,
    format: Option<&'static Format>,
) -> Result<CaptureId, ApiError> {
    let import = teeline_export::stream(body.clone(), PASTED, format.map(|format| format.name));
    Ok(store.import(import)?)
}

/// The names of the formats, for the picker.
pub(crate) fn format_names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}
