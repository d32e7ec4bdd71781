//! What several test files use: fixtures, chunkings, short ways to read.

use std::path::PathBuf;

use bytes::Bytes;
use serde_json::{Value, json};
use teeline_assembler::{Assembly, End, FrameRow, Options, Reading};

pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// A fixture of a format.
pub(crate) fn fixture(format: &str, name: &str) -> Vec<u8> {
    std::fs::read(fixtures().join(format).join(name)).unwrap()
}

/// The chunk sizes that every body is read with; 0: whole.
pub(crate) const SIZES: [usize; 6] = [0, 1, 2, 3, 7, 64];

/// Reads a body in pieces of `size` bytes.
pub(crate) fn read(body: &[u8], size: usize) -> Reading {
    read_with(Options::default(), body, size)
}

pub(crate) fn read_with(options: Options, body: &[u8], size: usize) -> Reading {
    assemble(options, body, size).reading()
}

/// Reads a body in pieces of `size` bytes, to its clean end.
pub(crate) fn assemble(options: Options, body: &[u8], size: usize) -> Assembly {
    let mut assembly = Assembly::new(options);
    assembly.keep_rows(true);
    let size = if size == 0 { body.len().max(1) } else { size };
    for chunk in body.chunks(size) {
        assembly.push(Bytes::copy_from_slice(chunk), None);
    }
    assembly.finish(End::Clean);
    assembly
}

/// The frames' rows of a body.
pub(crate) fn rows(body: &[u8]) -> Vec<FrameRow> {
    assemble(Options::default(), body, 0).take_rows()
}

/// The findings' ids in order.
pub(crate) fn ids(reading: &Reading) -> Vec<&'static str> {
    reading.findings.iter().map(|finding| finding.kind.id()).collect()
}

/// The findings in order, each as `[id, frame, arguments]`.
pub(crate) fn told(reading: &Reading) -> Vec<Value> {
    let findings = value(reading)["findings"].take();
    let told = |found: &Value| json!([found["id"], found["frame"], found["args"]]);
    findings.as_array().unwrap().iter().map(told).collect()
}

/// The equivalent response, `null` if there is none.
pub(crate) fn response(reading: &Reading) -> Value {
    reading.response.as_ref().map_or(Value::Null, |raw| serde_json::from_str(raw.get()).unwrap())
}

/// The kinds of an output's parts, in order.
pub(crate) fn kinds(output: &Value) -> Vec<&str> {
    let parts = output["parts"].as_array().unwrap();
    parts.iter().map(|part| part["kind"].as_str().unwrap()).collect()
}

pub(crate) fn value(reading: &Reading) -> Value {
    serde_json::to_value(reading).unwrap()
}

/// A stream example of the specification gives its response, with these findings, in any chunking.
pub(crate) fn example(
    format: &'static str,
    name: &str,
    extension: &str,
    findings: &[&str],
    verdict: &str,
) {
    let body = fixture(format, &format!("{name}.{extension}"));
    let want: Value = serde_json::from_slice(&fixture(format, &format!("{name}.json"))).unwrap();
    for size in SIZES {
        let reading = read(&body, size);
        assert_eq!(reading.format, format, "{name}");
        assert_eq!(response(&reading), want, "{name}, chunks of {size}");
        assert_eq!(ids(&reading), findings, "{name}");
        assert_eq!(reading.verdict.as_str(), verdict, "{name}");
    }
}
