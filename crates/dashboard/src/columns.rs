//! The frames of a capture as columns of numbers: all that the time lane and the frame table need to know of
//! every frame at once. JSON of 100,000 frames would be thirty times as large.

use std::collections::HashMap;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as Parameters};
use axum::response::{IntoResponse as _, Response};
use http::header;
use serde::Deserialize;
use teeline_assembler::FrameRow;

use crate::State;
use crate::api::blocking;
use crate::error::ApiError;
use crate::frames::for_each_row;

/// The kinds of contract 3.3, by their number in the column.
const KINDS: [&str; 11] = [
    "other",
    "text",
    "reasoning",
    "refusal",
    "tool",
    "usage",
    "start",
    "end",
    "error",
    "control",
    "keep-alive",
];

/// No output.
const NONE: u8 = u8::MAX;

#[derive(Deserialize)]
pub(crate) struct ColumnParameters {
    #[serde(default)]
    from: u64,
}

/// `GET /api/captures/{id}/columns?from=`: the frames from `from` on.
///
/// Little-endian: `u32` number of frames *n*, `u32` index of the first, then columns of *n*: `f64` milliseconds
/// since the request (NaN: unknown), `u32` length, `u32` bytes of new text, `u8` kind, `u8` output (255: none),
/// `u8` flags (1: names an event).
pub(crate) async fn columns(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<ColumnParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let from = parameters?.0.from;
    let body = blocking(&state, move |store| {
        let id = store.find(&id)?;
        let mut added: HashMap<u64, u64> = HashMap::new();
        for entry in store.provenance(id)?.iter().filter(|entry| from <= entry.frame()) {
            *added.entry(entry.frame()).or_default() += entry.bytes();
        }
        let mut columns = Columns::default();
        for_each_row(store, id, from, |row| {
            columns.push(row, added.get(&row.index).copied().unwrap_or(0));
            true
        })?;
        Ok(columns.pack(from))
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body.await?).into_response())
}

#[derive(Default)]
struct Columns {
    at: Vec<f64>,
    length: Vec<u32>,
    added: Vec<u32>,
    kind: Vec<u8>,
    output: Vec<u8>,
    flags: Vec<u8>,
}

impl Columns {
    fn push(&mut self, row: &FrameRow, added: u64) {
        let effect = row.effect.as_ref();
        let kind = effect.and_then(|effect| KINDS.iter().position(|kind| *kind == effect.kind));
        let output = effect.and_then(|effect| effect.output);
        self.at.push(row.at_ms.unwrap_or(f64::NAN));
        self.length.push(clamp(row.length));
        self.added.push(clamp(added));
        self.kind.push(kind.and_then(|kind| u8::try_from(kind).ok()).unwrap_or(0));
        self.output.push(output.map_or(NONE, |output| u8::try_from(output).unwrap_or(NONE - 1)));
        self.flags.push(u8::from(row.event.is_some()));
    }

    fn pack(self, from: u64) -> Vec<u8> {
        let mut packed = Vec::with_capacity(8 + self.at.len() * 19);
        packed.extend(clamp(self.at.len() as u64).to_le_bytes());
        packed.extend(clamp(from).to_le_bytes());
        packed.extend(self.at.iter().flat_map(|at| at.to_le_bytes()));
        packed.extend(self.length.iter().flat_map(|length| length.to_le_bytes()));
        packed.extend(self.added.iter().flat_map(|added| added.to_le_bytes()));
        packed.extend(self.kind);
        packed.extend(self.output);
        packed.extend(self.flags);
        packed
    }
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_each_other_without_gaps() {
        let columns = Columns {
            at: vec![1.5, f64::NAN],
            length: vec![7, 8],
            added: vec![0, 3],
            kind: vec![1, 10],
            output: vec![0, NONE],
            flags: vec![1, 0],
        };
        let packed = columns.pack(5);
        assert_eq!(packed.len(), 8 + 2 * 19);
        assert_eq!(packed[..8], [2, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!(packed[8..16], 1.5f64.to_le_bytes());
        assert_eq!(packed[24..32], [7, 0, 0, 0, 8, 0, 0, 0]);
        assert_eq!(packed[40..], [1, 10, 0, NONE, 1, 0]);
    }
}
