//! What several test files use: fixtures, chunkings, short ways to read.
use std::path::PathBuf;

use bytes::Bytes;
use serde_json::Value;
use teeline_assembler::{Assembly, End, Options, Reading};

pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// Reads a body in pieces of `size` bytes; 0: whole.
pub(crate) fn read(body: &[u8], size: usize) -> Reading {
    read_with(Options::default(), body, size)
}

pub(crate) fn read_with(options: Options, body: &[u8], size: usize) -> Reading {
    assemble(options, body, size).reading()
}

pub(crate) fn assemble(options: Options, body: &[u8], size: usize) -> Assembly {
    let mut assembly = Assembly::new(options);
    let size = if size == 0 { body.len().max(1) } else { size };
    for chunk in body.chunks(size) {
        assembly.push(Bytes::copy_from_slice(chunk), None);
    }
    assembly.finish(End::Clean);
    assembly
}

/// The chunk sizes that every body is read with.
pub(crate) const SIZES: [usize; 5] = [0, 1, 2, 3, 7];

pub(crate) fn ids(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.kind.id()).collect()
}

pub(crate) fn response(reading: &Reading) -> Value {
    reading.response.as_ref().map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap())
}

pub(crate) fn value(reading: &Reading) -> Value {
    serde_json::to_value(reading).unwrap()
}
