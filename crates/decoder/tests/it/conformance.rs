//! Every row of `tests/fixtures/conformance`, with every chunking that it lists.
//!
//! The rows come from the WHATWG standard (checked with a browser), from AWS's published framing and from the rules
//! written beside them; nothing in them is this decoder's own output.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use teeline_decoder::{Data, Frame, Framing};
use teeline_finding::Findings;

use crate::{
    reading::{Outcome, as_framing, pasted, read_all_ways, stamped},
    row::{Row, rows, text_is, with_the_assemblers},
};

const FRAMING_FINDINGS: [&str; 8] =
    ["empty", "bom", "ignored-line", "not-json", "cut", "unterminated", "too-large", "crlf"];

fn data(frame: &Frame) -> Option<&str> {
    frame.data.as_ref().map(Data::as_str)
}

/// The frames that have data, and from each frame's index to its place among those.
fn data_frames(outcome: &Outcome) -> (Vec<&Frame>, BTreeMap<u64, usize>) {
    let frames: Vec<&Frame> = outcome.frames.iter().filter(|frame| frame.data.is_some()).collect();
    let places = frames.iter().enumerate().map(|(place, frame)| (frame.index, place)).collect();
    (frames, places)
}

/// Kinds and numbers of findings agree; where all of a kind are listed, lines and frames do, too.
fn assert_findings(row: &Row, got: &Findings, kinds: &[&str], places: &BTreeMap<u64, usize>) {
    for &kind in kinds {
        let want: Vec<&Value> =
            row.list("findings").iter().filter(|finding| finding["kind"] == kind).collect();
        assert_eq!(got.count(kind), want.len() as u64, "{}: {kind} of {:?}", row.id, got.list());
        if want.len() > Findings::LISTED {
            continue;
        }
        let listed: Vec<_> =
            got.list().iter().filter(|finding| finding.kind.id() == kind).collect();
        let named = |name: &str| -> BTreeSet<u64> {
            want.iter().filter_map(|finding| finding[name].as_u64()).collect()
        };
        let lines: BTreeSet<u64> = listed.iter().filter_map(|finding| finding.place.line).collect();
        if want.iter().all(|finding| finding["line"].is_u64()) {
            assert_eq!(lines, named("line"), "{}: lines of {kind}", row.id);
        }
        let frames: BTreeSet<u64> = listed
            .iter()
            .filter_map(|finding| places.get(&finding.place.frame?))
            .map(|&place| place as u64)
            .collect();
        if want.iter().all(|finding| finding["frame"].is_u64()) {
            assert_eq!(frames, named("frame"), "{}: frames of {kind}", row.id);
        }
    }
}

#[test]
fn whatwg() {
    for row in rows("whatwg.jsonl") {
        let outcome = row.outcome(&as_framing(Framing::Sse));
        let mut last_id = String::new();
        let mut got = Vec::new();
        for frame in outcome.frames.iter().filter(|frame| frame.terminated) {
            if let Some(id) = &frame.id {
                last_id.clone_from(id);
            }
            if frame.dispatched {
                got.push((frame, last_id.clone()));
            }
        }
        assert_eq!(got.len(), row.list("expected").len(), "{}: events", row.id);
        for ((frame, id), want) in got.iter().zip(row.list("expected")) {
            let event =
                frame.event.as_deref().filter(|event| !event.is_empty()).unwrap_or("message");
            for (name, agrees) in [
                ("event", text_is(Some(event), &want["event"])),
                ("data", text_is(data(frame), &want["data"])),
                ("id", text_is(Some(id), &want["id"])),
                ("block_retry", json!(frame.retry) == want["block_retry"]),
            ] {
                assert!(agrees || want[name] == "*", "{}: {name} of {frame:?}", row.id);
            }
        }
    }
}

#[test]
fn tolerant() {
    for row in rows("tolerant.jsonl") {
        let outcome = row.outcome(&as_framing(Framing::Sse));
        let (frames, places) = data_frames(&outcome);
        assert_eq!(frames.len(), row.list("frames").len(), "{}: frames", row.id);
        for (frame, want) in frames.iter().zip(row.list("frames")) {
            assert_eq!(
                json!([frame.offset, frame.offset + frame.length]),
                json!([want["byte_start"], want["byte_end"]]),
                "{}",
                row.id
            );
            assert_eq!(
                json!([frame.line, frame.line + frame.lines - 1]),
                want["lines"],
                "{}",
                row.id
            );
            assert_eq!(
                json!(frame.event.as_deref().filter(|event| !event.is_empty())),
                want["event"],
                "{}",
                row.id
            );
            assert_eq!(frame.terminated, want["terminated"], "{}", row.id);
            assert!(text_is(data(frame), &want["data"]), "{}: {frame:?}", row.id);
        }
        assert_findings(&row, &with_the_assemblers(&outcome), &FRAMING_FINDINGS, &places);
        assert_eq!(outcome.stopped, outcome.findings.count("too-large") > 0, "{}", row.id);
    }
}

#[test]
fn timestamps() {
    for row in rows("timestamps.jsonl") {
        let outcome = row.outcome(&stamped(Framing::Sse));
        let (frames, places) = data_frames(&outcome);
        assert_eq!(frames.len(), row.list("frames").len(), "{}: frames", row.id);
        for (frame, want) in frames.iter().zip(row.list("frames")) {
            assert!(text_is(data(frame), &want["data"]), "{}: {frame:?}", row.id);
            assert_eq!(json!(frame.event), want["event"], "{}", row.id);
            assert_eq!(
                json!([frame.line, frame.line + frame.lines - 1]),
                want["lines"],
                "{}",
                row.id
            );
            assert_eq!(frame.terminated, want["terminated"], "{}", row.id);
            let arrival = &want["arrival"];
            let got = frame.stamp.map(|stamp| stamp.ns.to_string());
            assert_eq!(json!(got), arrival["ns"], "{}", row.id);
            assert_eq!(
                frame.stamp.is_some_and(|stamp| stamp.dated),
                arrival["kind"].is_string() && arrival["kind"] != "time-of-day",
                "{}",
                row.id
            );
        }
        assert_findings(&row, &with_the_assemblers(&outcome), &FRAMING_FINDINGS, &places);
    }
}

/// What is left of a stamped text reads the same without looking for stamps.
#[test]
fn stripped() {
    for row in rows("timestamps.jsonl") {
        let plain = BASE64_STANDARD.decode(row.text("stripped_b64")).expect("base64");
        let plain = read_all_ways(&as_framing(Framing::Sse), plain);
        let stamped = row.outcome(&stamped(Framing::Sse));
        let texts = |outcome: &Outcome| -> Vec<Option<String>> {
            outcome.frames.iter().map(|frame| data(frame).map(str::to_owned)).collect()
        };
        assert_eq!(texts(&stamped), texts(&plain), "{}", row.id);
    }
}

#[test]
fn ndjson() {
    records("ndjson.jsonl", "records");
}

#[test]
fn json_array() {
    records("jsonarray.jsonl", "elements");
}

fn records(file: &str, key: &str) {
    for row in rows(file) {
        let outcome = row.outcome(&pasted());
        let framing = row.text("format");
        if framing == "none" {
            assert!(outcome.guessed, "{}", row.id);
            continue;
        }
        assert_eq!(outcome.framing.map(Framing::as_str), Some(framing), "{}", row.id);
        if framing == "sse" {
            continue; // these rows are about detection only
        }
        let (frames, _) = data_frames(&outcome);
        let got: Vec<Value> =
            frames.iter().map(|frame| json!([frame.offset, frame.offset + frame.length])).collect();
        let want: Vec<Value> = row
            .list(key)
            .iter()
            .map(|want| json!([want["byte_start"], want["byte_end"]]))
            .collect();
        assert_eq!(got, want, "{}: ranges", row.id);
        let read: Vec<bool> = frames
            .iter()
            .map(|frame| teeline_decoder::json::check(data(frame).unwrap_or_default()).is_ok())
            .collect();
        let json: Vec<bool> = row.list(key).iter().map(|want| want["json"] == true).collect();
        assert_eq!(read, json, "{}: json", row.id);
        if framing == "ndjson" {
            let lines: Vec<u64> = frames.iter().map(|frame| frame.line).collect();
            let want: Vec<u64> =
                row.list(key).iter().filter_map(|want| want["line"].as_u64()).collect();
            assert_eq!(lines, want, "{}: lines", row.id);
        }
        let mut kinds = vec!["not-json", "cut", "bom"];
        if framing == "json-array" {
            kinds.extend(["unterminated", "empty", "after-end"]);
        }
        assert_findings(&row, &with_the_assemblers(&outcome), &kinds, &BTreeMap::new());
    }
}

#[test]
fn eventstream() {
    let options = as_framing(Framing::AwsEventstream);
    for row in rows("eventstream.jsonl") {
        let outcome = row.outcome(&options);
        assert_messages(&row, &outcome);
        let got: BTreeSet<&str> =
            outcome.findings.list().iter().map(|finding| finding.kind.id()).collect();
        let want: BTreeSet<&str> = row
            .list("errors")
            .iter()
            .map(|error| match error["kind"].as_str() {
                Some("prelude-crc" | "message-crc") => "crc-mismatch",
                Some("truncated" | "bad-length") => "cut",
                Some("bad-header") => "bad-field",
                other => panic!("{}: {other:?}", row.id),
            })
            .collect();
        let got: BTreeSet<&str> =
            got.difference(&BTreeSet::from(["empty", "bad-utf8"])).copied().collect();
        assert_eq!(got, want, "{}", row.id);
        for error in row.list("errors") {
            let offsets: Vec<Option<u64>> =
                outcome.findings.list().iter().map(|finding| finding.place.offset).collect();
            assert!(offsets.contains(&error["offset"].as_u64()), "{}: {offsets:?}", row.id);
        }
    }
}

fn assert_messages(row: &Row, outcome: &Outcome) {
    let offsets: Vec<u64> = outcome.frames.iter().map(|frame| frame.offset).collect();
    let want: Vec<u64> =
        row.list("messages").iter().filter_map(|message| message["offset"].as_u64()).collect();
    assert_eq!(offsets, want, "{}", row.id);
    for (frame, want) in outcome.frames.iter().zip(row.list("messages")) {
        let value = |wanted: &str| {
            let headers = want["headers"].as_array()?;
            headers.iter().rfind(|header| header["name"] == wanted)?["value"].as_str()
        };
        let event = value(":event-type").or(value(":exception-type")).or(value(":error-code"));
        assert_eq!(frame.event.as_deref(), event, "{}", row.id);
        if let Some(payload) = want["payload_b64"].as_str() {
            let payload = BASE64_STANDARD.decode(payload).expect("base64");
            assert_eq!(data(frame), Some(&*String::from_utf8_lossy(&payload)), "{}", row.id);
        }
        let texts = want["headers"].as_array().into_iter().flatten();
        for header in texts.filter(|header| header["type"] == "string" || header["type"] == 7) {
            let pair = (header["name"].as_str(), header["value"].as_str());
            let found =
                frame.headers.iter().any(|(name, value)| (Some(&**name), Some(&**value)) == pair);
            assert!(found, "{}: {pair:?} of {:?}", row.id, frame.headers);
        }
    }
}
