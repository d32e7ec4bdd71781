//! NDJSON, JSON arrays and documents: `FORMATS.md` G.1, G.8, beyond the conformance rows.

use teeline_decoder::{Decoder, Framing};
use teeline_finding::{Findings, Kind};

use crate::reading::{as_framing, read_all_ways};

/// (body, data and range of each frame, ids of the findings)
type Case = (&'static str, &'static [(&'static str, u64, u64)], &'static [&'static str]);

fn assert_cases(framing: Framing, cases: &[Case]) {
    for &(body, frames, ids) in cases {
        let outcome = read_all_ways(&as_framing(framing), body);
        let got: Vec<(&str, u64, u64)> = outcome
            .frames
            .iter()
            .zip(outcome.data())
            .map(|(frame, data)| {
                (data.unwrap_or_default(), frame.offset, frame.offset + frame.length)
            })
            .collect();
        assert_eq!(got, frames, "{framing:?} {body:?}");
        assert_eq!(outcome.ids(), ids, "{framing:?} {body:?}");
        assert!(outcome.frames.iter().all(|frame| frame.dispatched), "{body:?}");
    }
}

#[test]
fn ndjson() {
    assert_cases(
        Framing::Ndjson,
        &[
            ("", &[], &["empty"]),
            ("\n \t\r\n\n", &[], &["empty"]),
            ("1", &[("1", 0, 1)], &[]),
            ("1\r", &[("1", 0, 1)], &[]),
            ("1\r\n2\n", &[("1", 0, 1), ("2", 3, 4)], &[]),
            ("1\r\r\n", &[("1\r", 0, 2)], &[]),
            (" 1 \n", &[(" 1 ", 0, 3)], &[]),
            ("1\r2\n", &[("1\r2", 0, 3)], &[]),
            ("bad\n1\n", &[("bad", 0, 3), ("1", 4, 5)], &[]),
            ("1\n[DONE]", &[("1", 0, 1), ("[DONE]", 2, 8)], &[]),
            ("1\n[DON", &[("1", 0, 1), ("[DON", 2, 6)], &["cut"]),
            ("1\nbad", &[("1", 0, 1), ("bad", 2, 5)], &["cut"]),
            ("bad", &[("bad", 0, 3)], &["cut"]),
            (": c\n", &[(": c", 0, 3)], &[]),
        ],
    );
}

/// A body ends once.
#[test]
fn nothing_is_taken_after_the_end() {
    for framing in Framing::ALL {
        let mut decoder = Decoder::new(as_framing(framing));
        let mut findings = Findings::default();
        decoder.push("1\n".into());
        decoder.finish();
        while decoder.next_frame(&mut findings).is_some() {}
        let before = findings.clone();
        decoder.push("data: 2\n\n2\n".into());
        assert_eq!(decoder.next_frame(&mut findings), None, "{framing:?}");
        assert_eq!((decoder.counts().bytes, &findings), (2, &before), "{framing:?}");
    }
}

#[test]
fn lines_of_ndjson() {
    let outcome = read_all_ways(&as_framing(Framing::Ndjson), "1\n\n\r\n2\n3");
    let lines: Vec<(u64, u64, bool)> =
        outcome.frames.iter().map(|frame| (frame.line, frame.lines, frame.terminated)).collect();
    assert_eq!(lines, [(1, 1, true), (4, 1, true), (5, 1, false)]);
}

#[test]
fn json_array() {
    assert_cases(
        Framing::JsonArray,
        &[
            ("", &[], &["empty"]),
            ("  ", &[], &["empty"]),
            ("[]", &[], &["empty"]),
            ("[", &[], &["unterminated", "empty"]),
            ("[1", &[("1", 1, 2)], &["cut"]),
            ("[1,", &[("1", 1, 2)], &["unterminated"]),
            ("[1 ", &[("1", 1, 2)], &["unterminated"]),
            ("[1,{", &[("1", 1, 2), ("{", 3, 4)], &["cut"]),
            ("[\"a\\\"]\",2]", &[("\"a\\\"]\"", 1, 7), ("2", 8, 9)], &[]),
            ("[\"a\\\\\",2]", &[("\"a\\\\\"", 1, 6), ("2", 7, 8)], &[]),
            ("[{\"}\":[{}]},[[]]]", &[("{\"}\":[{}]}", 1, 11), ("[[]]", 12, 16)], &[]),
            // A bad element, a comma too many or too few: the others are read.
            ("[oops,{\"a\":1}]", &[("oops", 1, 5), ("{\"a\":1}", 6, 13)], &[]),
            ("[{\"a\":},1]", &[("{\"a\":}", 1, 7), ("1", 8, 9)], &[]),
            ("[}{,1]", &[("}{", 1, 3), ("1", 4, 5)], &[]),
            ("[,,1,,2,]", &[("1", 3, 4), ("2", 6, 7)], &[]),
            (
                "[{}{}[]1 2\"a\"]",
                &[("{}", 1, 3), ("{}", 3, 5), ("[]", 5, 7), ("1", 7, 8), ("2\"a\"", 9, 13)],
                &[],
            ),
            // What follows the closing bracket.
            ("[1]\n", &[("1", 1, 2)], &[]),
            ("[1] [2]\n", &[("1", 1, 2)], &["after-end"]),
            ("[1]]", &[("1", 1, 2)], &["after-end"]),
            ("[] x", &[], &["after-end", "empty"]),
            // The beginning is missing.
            ("1},{\"a\":2}]", &[("1}", 0, 2), ("{\"a\":2}", 3, 10)], &[]),
        ],
    );
}

#[test]
fn lines_of_an_array() {
    let outcome = read_all_ways(
        &as_framing(Framing::JsonArray),
        "[1\n,\r\n{\n\"a\n\":1\n}, 2\n,\n\n3]\n\nx y \n",
    );
    let lines: Vec<(u64, u64)> =
        outcome.frames.iter().map(|frame| (frame.line, frame.lines)).collect();
    assert_eq!(lines, [(1, 1), (3, 4), (6, 1), (9, 1)]);
    let after = outcome.listed("after-end")[0];
    assert_eq!(
        (after.place.frame, after.place.line, after.place.offset),
        (None, Some(11), Some(27))
    );
    assert_eq!(after.kind, Kind::AfterEnd { text: "x y".into() });
}

#[test]
fn a_long_tail_is_shortened() {
    let outcome =
        read_all_ways(&as_framing(Framing::JsonArray), format!("[1]{}", "é".repeat(5_000)));
    assert_eq!(outcome.kinds(), [&Kind::AfterEnd { text: format!("{}…", "é".repeat(80)) }]);
}

#[test]
fn the_cut_part_is_measured() {
    for (framing, body, bytes) in [
        (Framing::Ndjson, "1\n{\"a\":", 5),
        (Framing::JsonArray, "[1, {\"a\":", 5),
        (Framing::Json, " {\"a\":1\n\n", 6),
    ] {
        let outcome = read_all_ways(&as_framing(framing), body);
        assert_eq!(outcome.kinds(), [&Kind::Cut { bytes }], "{framing:?}");
        let (last, place) =
            (outcome.frames.last().expect("a frame"), outcome.listed("cut")[0].place);
        assert_eq!(
            (place.frame, place.offset),
            (Some(last.index), Some(last.offset)),
            "{framing:?}"
        );
        assert!(!last.terminated, "{framing:?}");
    }
}

#[test]
fn json_document() {
    assert_cases(
        Framing::Json,
        &[
            ("", &[], &["empty"]),
            (" \n\t\r", &[], &["empty"]),
            ("{}", &[("{}", 0, 2)], &[]),
            ("\n {\"a\":\r\n1} \r\n\n", &[("{\"a\":\r\n1}", 2, 11)], &[]),
            ("[1,2]", &[("[1,2]", 0, 5)], &[]),
            ("12", &[("12", 0, 2)], &[]),
            ("{\"a\":", &[("{\"a\":", 0, 5)], &["cut"]),
            ("{\"a\": \"b \n", &[("{\"a\": \"b", 0, 8)], &[]), // a line feed in a string is no JSON, however it goes on
            ("-", &[("-", 0, 1)], &["cut"]),
            // Not JSON is another thing than cut short.
            ("{bad", &[("{bad", 0, 4)], &[]),
            ("{} {}", &[("{} {}", 0, 5)], &[]),
            ("{}\u{c}", &[("{}\u{c}", 0, 3)], &[]),
        ],
    );
}

#[test]
fn lines_of_a_document() {
    let outcome = read_all_ways(&as_framing(Framing::Json), "\n\r\n{\n\n\"a\": 1 }\n\n");
    let frame = &outcome.frames[0];
    assert_eq!((frame.line, frame.lines, frame.terminated), (3, 3, true));
}
