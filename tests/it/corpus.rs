//! Laws over recorded streams of other people, read where they stand.

use std::fs;

use bytes::Bytes;
use serde_json::Value;
use teeline_assembler::{Assembly, End, Options};
use teeline_tests::{Need, available, corpus, text};

/// Larger bodies are left to the runs that take longer.
const LARGEST: usize = 300_000;

fn read(body: &[u8], size: usize) -> String {
    let mut assembly = Assembly::new(Options { stamps: true, ..Options::default() });
    assembly.keep_rows(true);
    let mut rows = Vec::new();
    for piece in body.chunks(size.max(1)) {
        assembly.push(Bytes::copy_from_slice(piece), None);
        rows.append(&mut assembly.take_rows());
    }
    assembly.finish(End::Clean);
    rows.append(&mut assembly.take_rows());
    let mut reading = assembly.reading();
    reading.frames = Some(rows);
    serde_json::to_string(&reading).unwrap()
}

#[test]
fn pieces_change_nothing_in_what_live_services_sent() {
    if !available("pieces_change_nothing_in_what_live_services_sent", &[Need::Corpus]) {
        return;
    }
    let folder = corpus().unwrap();
    let manifest = fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let mut compared = 0;
    for row in manifest.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let name = text(&row["file"]);
        let body = fs::read(folder.join(name)).unwrap();
        if LARGEST < body.len() {
            continue;
        }
        let whole = read(&body, body.len());
        // Another size for each file, and the one that cuts everything.
        for size in [1, 2 + body.len() % 13] {
            assert!(
                read(&body, size) == whole,
                "{name} reads differently in pieces of {size} bytes"
            );
        }
        compared += 1;
    }
    assert!(1_000 < compared, "only {compared} streams were found");
}
