//! Rows of a conformance file and what a decoder makes of them.

use std::path::Path;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use teeline_decoder::{Options, json};
use teeline_finding::{Findings, Kind, Place};

use crate::reading::{Outcome, read, read_all_ways};

/// A row: its input, its chunkings, and whatever its suite expects.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    bytes_b64: Option<String>,
    bytes_parts: Option<Vec<Part>>,
    len: usize,
    chunkings: Vec<Chunking>,
    #[serde(flatten)]
    pub(crate) expected: serde_json::Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Part {
    b64: String,
    repeat: usize,
}

#[derive(Debug, Deserialize)]
struct Chunking {
    name: String,
    at: Vec<usize>,
}

impl Row {
    fn bytes(&self) -> Bytes {
        let parts = match (&self.bytes_b64, &self.bytes_parts) {
            (Some(b64), None) => decode(b64),
            (None, Some(parts)) => {
                parts.iter().flat_map(|part| decode(&part.b64).repeat(part.repeat)).collect()
            }
            _ => panic!("{}: one kind of input", self.id),
        };
        assert_eq!(parts.len(), self.len, "{}", self.id);
        parts.into()
    }

    /// Reads the row in every way; they must agree.
    pub(crate) fn outcome(&self, options: &Options) -> Outcome {
        let bytes = self.bytes();
        let whole = read_all_ways(options, &bytes);
        for chunking in &self.chunkings {
            let mut edges = vec![0];
            edges.extend(&chunking.at);
            edges.push(bytes.len());
            let chunks = edges.windows(2).map(|edge| bytes.slice(edge[0]..edge[1]));
            assert_eq!(read(options, chunks), whole, "{}, chunks {}", self.id, chunking.name);
        }
        whole
    }

    pub(crate) fn list(&self, name: &str) -> &[Value] {
        self.expected.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.expected.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

fn decode(b64: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(b64).expect("base64")
}

/// The rows of a file.
pub(crate) fn rows(file: &str) -> Vec<Row> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/conformance").join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Adds what the assembler reports and the rows list: `not-json`, and events without data.
pub(crate) fn with_the_assemblers(outcome: &Outcome) -> Findings {
    let mut findings = outcome.findings.clone();
    let taken: Vec<Option<u64>> = outcome
        .findings
        .list()
        .iter()
        .filter(|finding| matches!(finding.kind, Kind::Cut { .. } | Kind::Unterminated { .. }))
        .map(|finding| finding.place.frame)
        .collect();
    for frame in &outcome.frames {
        let place = Place::frame(frame.index, frame.line, frame.offset);
        match &frame.data {
            Some(data)
                if !taken.contains(&Some(frame.index))
                    && data.as_str().trim_ascii() != "[DONE]" =>
            {
                if let Err(error) = json::check(data.as_str()) {
                    let (text, error) = (String::new(), error.to_string());
                    findings.report(place, Kind::NotJson { text, error, glued: frame.glued });
                }
            }
            // LangServe's end is exempt.
            None if frame.event.as_deref().is_some_and(|event| event != "end") => {
                findings.report(place, Kind::IgnoredLine { text: String::new(), event_only: true });
            }
            _ => {}
        }
    }
    findings
}

/// Whether a text is the expected one, which may be given by length and hash.
pub(crate) fn text_is(got: Option<&str>, want: &Value) -> bool {
    match want {
        Value::Object(want) => {
            let got = got.unwrap_or_default();
            let hash = Sha256::digest(got)
                .iter()
                .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
            want["utf8_len"] == got.len() && want["sha256"] == hash
        }
        Value::Null => got.is_none(),
        want => want.as_str() == got,
    }
}
