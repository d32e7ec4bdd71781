//! Cumulative streams of no known vendor: `FORMATS.md` F.4 and its test vectors.

use proptest::prelude::*;
use serde_json::{Value, json};
use teeline_assembler::{Options, Reading, Verdict, format};
use teeline_finding::Kind;

use crate::{
    near::{Pair, check},
    support::{example, fixture, ids, read, read_with, value},
};

const FORMAT: &str = "cumulative";

/// A stream of these values of one text.
fn stream(values: &[&str]) -> Vec<u8> {
    let frame = |value: &&str| format!("data: {}\n\n", json!({"content": value})).into_bytes();
    values.iter().flat_map(frame).collect()
}

fn asked_for(body: &[u8]) -> Reading {
    read_with(Options { format: format(FORMAT), ..Options::default() }, body, 0)
}

fn rewritten_at(reading: &Reading) -> Vec<u64> {
    let at = reading.findings.iter().filter_map(|found| match &found.kind {
        Kind::Rewritten { at, .. } => Some(*at),
        _ => None,
    });
    at.collect()
}

#[test]
fn examples() {
    example(FORMAT, "growing", "sse", &["cumulative"], "finished");
    let lines = read(&fixture(FORMAT, "growing-lines.ndjson"), 0);
    assert_eq!((lines.format, lines.framing), (FORMAT, Some("ndjson")));
    assert_eq!(lines.outputs[0].text, read(&fixture(FORMAT, "growing.sse"), 0).outputs[0].text);
}

/// The vectors of F.4, and what follows from its rules, in a stream that was called cumulative.
#[test]
fn decided_by_the_data() {
    for (values, want, rewritten) in [
        (&["Hel", "Hello", "Hello!"][..], "Hello!", &[][..]),
        (&["Hel", "lo", "!"], "Hello!", &[]),
        (
            &["The answer is 41", "The answer is 42 [1]", "The answer is 42 [1]."],
            "The answer is 42 [1].",
            &[15],
        ),
        // No prefix of the old text, and longer ones, are no proof of anything.
        (&["a", "bcd"], "abcd", &[]),
        (&["one", "two", "three", "four"], "onetwothreefour", &[]),
        (&["Hi", "Hi"], "Hi", &[]),
        (&["whole"], "whole", &[]),
        (&["", "Hello", "", "Hello world", ""], "Hello world", &[]),
    ] {
        let reading = asked_for(&stream(values));
        assert_eq!(reading.outputs[0].text, want, "{values:?}");
        assert_eq!(rewritten_at(&reading), rewritten, "{values:?}");
        assert_eq!(reading.verdict, Verdict::Finished);
    }
}

/// Without being told so, a stream is cumulative only if its values pass the test.
#[test]
fn found_by_the_data_only() {
    let growing = String::from_utf8(fixture(FORMAT, "growing.sse")).unwrap();
    let reading = read(growing.as_bytes(), 0);
    assert_eq!((reading.format, ids(&reading)), (FORMAT, vec!["cumulative"]));
    let frames: Vec<&str> = growing.split_inclusive("\n\n").collect();
    for (body, format) in [
        (stream(&["Hel", "lo", "!"]), "unknown"),
        (stream(&["ha", "ha", "haha"]), "unknown"),
        (stream(&["Hel", "Hello", "Hello!"]), "unknown"),
        (stream(&["It was a dark", "It was a dark and stormy night"]), FORMAT),
        (frames[0].as_bytes().to_vec(), "unknown"),
        (frames[..2].concat().into_bytes(), FORMAT),
        (fixture(FORMAT, "with-usage.sse"), FORMAT),
        (growing.replace("answer", "reasons").into_bytes(), "unknown"),
    ] {
        let reading = read(&body, 0);
        assert_eq!(reading.format, format, "{}", String::from_utf8_lossy(&body));
    }
}

/// The article of the seed: the text once, not three times.
#[test]
fn the_text_is_not_doubled() {
    let body = "event: data\ndata: [{\"type\": \"ai\", \"content\": \"Hel\"}]\n\n\
        event: data\ndata: [{\"type\": \"ai\", \"content\": \"Hello\"}]\n\n\
        event: data\ndata: [{\"type\": \"ai\", \"content\": \"Hello!\"}]\n\n";
    let reading = asked_for(body.as_bytes());
    assert_eq!(reading.outputs[0].text, "Hello!");
    assert_eq!(value(&reading)["response"], json!([{"type": "ai", "content": "Hello!"}]));
}

/// Several texts grow side by side; what the user said is none of them.
#[test]
fn texts_are_kept_apart() {
    let reading = value(&read(&fixture(FORMAT, "messages.sse"), 0));
    let text = "It was a dark and stormy night, and the rain fell in torrents.";
    let parts = reading["outputs"][0]["parts"].as_array().unwrap();
    assert_eq!(parts.iter().map(|part| &part["text"]).collect::<Vec<_>>(), [text, text]);
    assert_eq!(reading["response"]["messages"][2]["content"], text);
    assert_eq!(reading["response"]["messages"][0]["role"], "user");
}

/// Each finding fires on its fixture and not on the smallest edit of it.
#[test]
fn findings() {
    let pair = |file, id, from, to| Pair { file, id, from, to };
    check(
        FORMAT,
        &[
            pair("rewritten", "rewritten", "is 41", "is 42"),
            pair("error", "error-event", r#""error":"#, r#""remark":"#),
            pair("ended", "after-end", "event: end", "id: 1"),
        ],
    );
    let twice = read(&fixture(FORMAT, "rewritten.sse"), 0);
    assert_eq!(rewritten_at(&twice), [15]);
    let found = twice.findings.iter().find(|found| found.kind.id() == "rewritten").unwrap();
    assert_eq!(found.place.frame, Some(1));
    let error = read(&fixture(FORMAT, "error.sse"), 0);
    assert_eq!(error.verdict, Verdict::DidNotFinish);
}

/// A body that breaks is not whole, although such streams have no end marker.
#[test]
fn a_broken_body_is_not_whole() {
    let body = fixture(FORMAT, "growing.sse");
    let mut assembly = teeline_assembler::Assembly::new(Options::default());
    assembly.push(body.into(), None);
    assembly.finish(teeline_assembler::End::Broke { how: "reset".to_owned() });
    let reading = assembly.reading();
    assert_eq!((reading.format, reading.verdict), (FORMAT, Verdict::DidNotFinish));
}

proptest! {
    /// A long text sent as the text so far is that text, however it was cut, and sent as deltas, too.
    #[test]
    fn both_readings_give_the_text(
        text in "[a-zé😀 ]{60,120}",
        // The first value is short: the rule asks that the last be half again as long, and eight.
        first in 1_usize..7,
        cuts in prop::collection::btree_set(7_usize..60, 4..12),
    ) {
        let chars: Vec<char> = text.chars().collect();
        let at = |end: usize| chars[..end].iter().collect::<String>();
        let mut ends: Vec<usize> = vec![first];
        ends.extend(cuts);
        ends.push(chars.len());
        let snapshots: Vec<String> = ends.iter().map(|end| at(*end)).collect();
        let snapshots: Vec<&str> = snapshots.iter().map(String::as_str).collect();
        let reading = read(&stream(&snapshots), 0);
        prop_assert_eq!(reading.format, FORMAT);
        prop_assert_eq!(&reading.outputs[0].text, &text);
        prop_assert_eq!(rewritten_at(&reading), [0_u64; 0]);

        let starts = std::iter::once(0).chain(ends.iter().copied());
        let deltas: Vec<String> =
            starts.zip(&ends).map(|(start, end)| chars[start..*end].iter().collect()).collect();
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        // Deltas that begin with the one before by chance are no claim of this law.
        prop_assume!(!deltas.windows(2).any(|pair| pair[1].starts_with(pair[0])));
        prop_assert_eq!(&asked_for(&stream(&deltas)).outputs[0].text, &text);
        let response: Value = value(&reading)["response"].clone();
        prop_assert_eq!(&response["content"], &json!(text));
    }
}
