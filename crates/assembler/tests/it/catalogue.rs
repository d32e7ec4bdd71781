//! Every finding of the catalogue: a body in which it fires, and the smallest edit after which it does not.
//!
//! The cases are `tests/fixtures/findings/ID.json`, a list for each id: a `body` in pieces (a text, `hex`, or
//! a text to `repeat`), what else belongs to it (`content_type`; for live streams `at_us` for each piece, the
//! `end`, a `gap`), the `place` of the finding (frame, line and its first byte; `null` for each where it is about
//! the whole stream), and either an `edit` of the body or one thing that is other in the `near` miss. What only
//! another crate can tell names the test there.

use std::{collections::BTreeSet, fs, path::PathBuf};

use bytes::Bytes;
use serde_json::Value;
use teeline_assembler::{Assembly, End, Options, Reading, format};
use teeline_finding::{Finding, catalogue::ENTRIES};

use crate::support::{SIZES, fixtures, ids, value};

/// How much an edit may take out or put in, in bytes.
const SMALL: usize = 100;

/// Bodies up to this size are read in all chunkings.
const CUT: usize = 20_000;

fn folder() -> PathBuf {
    fixtures().join("findings")
}

fn cases(id: &str) -> Vec<Value> {
    let path = folder().join(format!("{id}.json"));
    let text = fs::read(&path).unwrap_or_else(|error| panic!("no case of `{id}`: {error}"));
    serde_json::from_slice(&text).unwrap()
}

/// Every id has its cases, and every file is an id's.
#[test]
fn every_finding_has_a_case() {
    let known: BTreeSet<String> = ENTRIES.iter().map(|entry| entry.id.to_owned()).collect();
    let found: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, known);
    let is_elsewhere = |id: &&str| cases(id).iter().all(|case| case["elsewhere"].is_string());
    let elsewhere: Vec<&str> = ENTRIES.iter().map(|entry| entry.id).filter(is_elsewhere).collect();
    // A 404 and a conversation are no bodies of a stream.
    let no_body = ["base-url", "websocket-fault", "websocket-compressed"];
    assert_eq!(
        BTreeSet::from_iter(elsewhere),
        BTreeSet::from(no_body),
        "what a body can fire has a body"
    );
}

#[test]
fn every_finding_fires_and_its_near_miss_does_not() {
    let mut faults = Vec::new();
    for entry in ENTRIES {
        let cases = cases(entry.id);
        assert!(!cases.is_empty(), "{} has no case", entry.id);
        for case in &cases {
            if let Err(fault) = judged(entry.id, case) {
                faults.push(format!("{}: {fault}", entry.id));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn judged(id: &str, case: &Value) -> Result<(), String> {
    if let Some(file) = case["elsewhere"].as_str() {
        return elsewhere(file, case["test"].as_str().unwrap());
    }
    let near = near_miss(case)?;
    let (fires, misses) = (read(case, 0), read(&near, 0));
    for (case, whole) in [(case, &fires), (&near, &misses)] {
        let sizes =
            if body(case).len() <= CUT && case["at_us"].is_null() { &SIZES[..] } else { &[] };
        for size in sizes {
            if value(&read(case, *size)) != value(whole) {
                return Err(format!("another reading in pieces of {size}"));
            }
        }
    }
    if fires.format != case["format"] {
        return Err(format!("read as {}", fires.format));
    }
    let (found, left) = (ids(&fires), ids(&misses));
    let finding = fires.findings.iter().find(|finding| finding.kind.id() == id);
    let Some(finding) = finding else {
        return Err(format!("it does not fire; found {found:?}"));
    };
    placed(finding, case)?;
    if let Some(wrong) = left.iter().find(|other| **other == id || !found.contains(other)) {
        return Err(format!("the near miss has `{wrong}`"));
    }
    Ok(())
}

/// The finding is at the place that the case names, and a line with its first byte is one of the body's.
fn placed(finding: &Finding, case: &Value) -> Result<(), String> {
    let shown = serde_json::to_value(finding).unwrap();
    let place = ["frame", "line", "offset"].map(|key| shown[key].clone());
    let want = ["frame", "line", "offset"].map(|key| case["place"][key].clone());
    if !case["place"].is_object() || place != want {
        return Err(format!("it is at {place:?}, not at {}", case["place"]));
    }
    if let [_, Value::Number(line), Value::Number(offset)] = place {
        let body = body(case);
        let before = &body[..usize::try_from(offset.as_u64().unwrap()).unwrap()];
        let begins = before.is_empty() || before.ends_with(b"\n");
        let lines = before.split(|byte| *byte == b'\n').count() as u64;
        if !begins || lines != line.as_u64().unwrap() {
            return Err(format!("line {line} does not begin at byte {offset}"));
        }
    }
    Ok(())
}

/// The test that another crate has of it is there.
fn elsewhere(file: &str, test: &str) -> Result<(), String> {
    let path = fixtures().join("../..").join(file);
    let source = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
    source.contains(&format!("fn {test}(")).then_some(()).ok_or(format!("{file} has no `{test}`"))
}

/// The case with its edit made, or with the one thing that is other.
fn near_miss(case: &Value) -> Result<Value, String> {
    let mut near = case.clone();
    if let Some(changes) = case["near"].as_object() {
        if changes.len() != 1 || !case["edit"].is_null() {
            return Err("a near miss is one change away".to_owned());
        }
        for (key, value) in changes {
            near[key] = value.clone();
        }
    } else {
        let (from, to) = (piece(&case["edit"]["replace"]), piece(&case["edit"]["with"]));
        let whole = body(case);
        let at = (0..whole.len()).find(|at| whole[*at..].starts_with(&from));
        let at = at.filter(|_| !from.is_empty()).ok_or("the body has nothing to edit")?;
        let edited = [&whole[..at], &to, &whole[at + from.len()..]].concat();
        near["body"] = serde_json::json!([{"hex": hex(&edited)}]);
    }
    let (before, after) = (body(case), body(&near));
    let same = |(a, b): &(&u8, &u8)| a == b;
    let head = before.iter().zip(&after).take_while(same).count();
    let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(same).count();
    if before.len().max(after.len()) - head - tail > SMALL {
        return Err("the edit is not a small one".to_owned());
    }
    Ok(near)
}

fn read(case: &Value, size: usize) -> Reading {
    let content_type = case["content_type"].as_str().map(str::to_owned);
    let mut assembly = Assembly::new(Options { content_type, ..Options::default() });
    if let Some(times) = case["at_us"].as_array() {
        let pieces = case["body"].as_array().unwrap();
        assert_eq!(pieces.len(), times.len(), "a time for each piece");
        for (content, at) in pieces.iter().zip(times) {
            assembly.push(Bytes::from(piece(content)), at.as_u64());
        }
    } else {
        let whole = body(case);
        let size = if size == 0 { whole.len().max(1) } else { size };
        for chunk in whole.chunks(size) {
            assembly.push(Bytes::copy_from_slice(chunk), None);
        }
    }
    if let Some([from, to]) = case["gap"].as_array().map(Vec::as_slice) {
        assembly.gap(from.as_u64().unwrap(), to.as_u64().unwrap(), "the queue was full");
    }
    assembly.finish(match case["end"].as_str() {
        Some("broke") => End::Broke { how: "connection reset".to_owned() },
        Some("client-left") => End::ClientLeft,
        _ => End::Clean,
    });
    assembly.reading()
}

/// The bodies of all cases, small ones: format, name, body.
pub(crate) fn bodies() -> Vec<(&'static str, String, Vec<u8>)> {
    let all = ENTRIES.iter().flat_map(|entry| {
        let name = format!("findings/{}", entry.id);
        cases(entry.id).into_iter().map(move |case| (name.clone(), case))
    });
    all.map(|(name, case)| {
        let format = format(case["format"].as_str().unwrap_or_default());
        (format.map_or("unknown", |format| format.name), name, body(&case))
    })
    .filter(|(.., body)| !body.is_empty() && body.len() <= CUT)
    .collect()
}

fn body(case: &Value) -> Vec<u8> {
    case["body"].as_array().into_iter().flatten().flat_map(piece).collect()
}

/// A piece of a body: a text, bytes in `hex`, or a text to `repeat` so many `times`.
fn piece(value: &Value) -> Vec<u8> {
    if let Some(text) = value.as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(digits) = value["hex"].as_str() {
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        return (0..digits.len()).step_by(2).map(byte).collect();
    }
    let times = usize::try_from(value["times"].as_u64().unwrap()).unwrap();
    value["repeat"].as_str().unwrap().repeat(times).into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
