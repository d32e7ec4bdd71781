//! The frames of a capture as columns of numbers: all that the time lane and the frame table need to know of
//! every frame at once. JSON of 100,000 frames would be thirty times as large.

use std::collections::HashMap;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as Parameters};
use axum::response::{IntoResponse as _, Response};
use http::header;
use serde::Deserialize;
use teeline_capture::FrameMark;

use crate::State;
use crate::api::blocking;
use crate::error::ApiError;

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

/// How many frames are looked at to see whether they name events.
const LOOKED_AT: usize = 100;

/// No output.
const NONE: u8 = u8::MAX;

#[derive(Deserialize)]
pub(crate) struct ColumnParameters {
    #[serde(default)]
    from: u64,
}

/// `GET /api/captures/{id}/columns?from=`: the frames from `from` on.
///
/// Little-endian: `u32` number of frames *n*, `u32` index of the first, `u32` 1 if frames name events, `u32` 0; then
/// columns of *n*: `f64` milliseconds since the request (NaN: unknown), `u32` length, `u32` bytes of new text, `u8`
/// kind, `u8` output (255: none).
pub(crate) async fn columns(
    state: State,
    Path(id): Path<String>,
    parameters: Result<Parameters<ColumnParameters>, QueryRejection>,
) -> Result<Response, ApiError> {
    let from = parameters?.0.from;
    let body = blocking(&state, move |store| {
        let id = store.find(&id)?;
        // The marks first: of each of them the provenance then knows everything.
        let marks = store.frame_marks(id, from)?;
        let mut added: HashMap<u64, u64> = HashMap::new();
        for entry in store.provenance(id)?.iter().filter(|entry| from <= entry.frame()) {
            *added.entry(entry.frame()).or_default() += entry.bytes();
        }
        let (_, first) = store.frames(id, 0, LOOKED_AT)?;
        let names_events = first.iter().any(|row| row.event.is_some());
        Ok(pack(&marks, from, &added, names_events))
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body.await?).into_response())
}

fn pack(marks: &[FrameMark], from: u64, added: &HashMap<u64, u64>, names_events: bool) -> Vec<u8> {
    let mut packed = Vec::with_capacity(16 + marks.len() * 18);
    for number in [clamp(marks.len() as u64), clamp(from), u32::from(names_events), 0] {
        packed.extend(number.to_le_bytes());
    }
    packed.extend(marks.iter().flat_map(|mark| mark.at_ms.unwrap_or(f64::NAN).to_le_bytes()));
    packed.extend(marks.iter().flat_map(|mark| mark.length.to_le_bytes()));
    let new_text = (from..).take(marks.len()).map(|frame| added.get(&frame).copied());
    packed.extend(new_text.flat_map(|bytes| clamp(bytes.unwrap_or(0)).to_le_bytes()));
    packed.extend(marks.iter().map(|mark| {
        let kind = KINDS.iter().position(|kind| mark.kind == Some(kind));
        kind.and_then(|kind| u8::try_from(kind).ok()).unwrap_or(0)
    }));
    packed.extend(marks.iter().map(|mark| {
        mark.output.map_or(NONE, |output| u8::try_from(output).unwrap_or(NONE).min(NONE - 1))
    }));
    packed
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_each_other_without_gaps() {
        let mark = |at_ms, length, kind, output| FrameMark { at_ms, length, kind, output };
        let marks = [
            mark(Some(1.5), 7, Some("text"), Some(0)),
            mark(None, 8, Some("keep-alive"), None),
            mark(Some(2.5), 9, None, Some(300)),
        ];
        let packed = pack(&marks, 5, &HashMap::from([(5, 3)]), true);
        assert_eq!(packed.len(), 16 + 3 * 18);
        assert_eq!(packed[..16], [3, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(packed[16..24], 1.5f64.to_le_bytes());
        assert!(f64::from_le_bytes(packed[24..32].try_into().unwrap()).is_nan());
        assert_eq!(packed[40..52], [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(packed[52..64], [3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(packed[64..], [1, 10, 0, 0, NONE, NONE - 1]);
    }
}
