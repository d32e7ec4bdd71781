//! What real servers do and the standard does not say: `FORMATS.md` G.4, G.6 and G.10.

use teeline_decoder::{Data, Frame, Framing};
use teeline_finding::Kind;

use crate::reading::{Outcome, as_framing, read_all_ways};

fn sse(body: &str) -> Outcome {
    read_all_ways(&as_framing(Framing::Sse), body)
}

fn texts(values: &[Data]) -> Vec<&str> {
    values.iter().map(Data::as_str).collect()
}

/// (what, body, recovered of its only frame, whether its data is glued, ids of the findings)
type Case = (&'static str, &'static str, &'static [&'static str], bool, &'static [&'static str]);

const CASES: &[Case] = &[
    ("nothing to recover", "data: {\"a\":1}\n\n", &[], false, &[]),
    ("the sentinel alone", "data: [DONE]\n\n", &[], false, &[]),
    ("two values", "data: {\"a\":1}\ndata: {\"b\":2}\n\n", &["{\"a\":1}", "{\"b\":2}"], true, &[]),
    ("with the sentinel", "data: 1\ndata: [DONE]\n\n", &["1", "[DONE]"], true, &[]),
    ("the sentinel padded", "data: 1\ndata:  [DONE] \n\n", &["1", " [DONE] "], true, &[]),
    ("one value over lines", "data: {\ndata: \"a\":1\ndata: }\n\n", &[], false, &[]),
    ("an array over lines, each JSON", "data: [\ndata: 1\ndata: ]\n\n", &[], false, &[]),
    ("one line that is none", "data: 1\ndata: x\n\n", &[], false, &[]),
    ("an empty line among them", "data: 1\ndata:\ndata: 2\n\n", &[], false, &[]),
    ("text", "data: a\ndata: b\n\n", &[], false, &[]),
    (
        "at the end",
        "data: {\"a\":1}\ndata: {\"b\":2}\n",
        &["{\"a\":1}", "{\"b\":2}"],
        true,
        &["unterminated"],
    ),
    ("a comment between them", "data: 1\n: c\ndata: 2\n\n", &["1", "2"], true, &[]),
    // Bare JSON.
    ("a bare value", "{\"error\":1}\n\n", &["{\"error\":1}"], false, &["ignored-line", "empty"]),
    (
        "a bare value over lines",
        "{\n  \"error\": {\n    \"code\": 503\n  }\n}\n\n",
        &["{\n  \"error\": {\n    \"code\": 503\n  }\n}"],
        false,
        &["ignored-line", "ignored-line", "ignored-line", "ignored-line", "ignored-line", "empty"],
    ),
    (
        "a bare array",
        "[{\"error\":1}\n]\n\n",
        &["[{\"error\":1}\n]"],
        false,
        &["ignored-line", "ignored-line", "empty"],
    ),
    ("indented", "  {\"a\":1}\n\n", &["  {\"a\":1}"], false, &["ignored-line", "empty"]),
    (
        "two bare values",
        "{\"a\":1}\n{\"b\":2}\n\n",
        &["{\"a\":1}", "{\"b\":2}"],
        false,
        &["ignored-line", "ignored-line", "empty"],
    ),
    ("behind data", "data: 1\n{\"error\":1}\n\n", &["{\"error\":1}"], false, &["ignored-line"]),
    (
        "behind a comment",
        "{\n: c\n{\"a\":1}\n\n",
        &["{\"a\":1}"],
        false,
        &["ignored-line", "ignored-line", "empty"],
    ),
    (
        "behind glued data",
        "data: 1\ndata: 2\n{\"e\":3}\n\n",
        &["1", "2", "{\"e\":3}"],
        true,
        &["ignored-line"],
    ),
    (
        "broken by a field",
        "{\"a\":\nid: 7\n1}\n\n",
        &[],
        false,
        &["ignored-line", "ignored-line", "empty"],
    ),
    (
        "not from its beginning",
        "x\n{\"a\":1}\n\n",
        &[],
        false,
        &["ignored-line", "ignored-line", "empty"],
    ),
    (
        "not inside unprefixed JSON",
        "data: {\n\"a\": [\n{\"b\":1}\n]}\n\n",
        &[],
        false,
        &["ignored-line", "ignored-line", "ignored-line"],
    ),
    ("never whole", "{\"a\":\n\n", &[], false, &["ignored-line", "empty"]),
    ("at the end of the body", "{\"a\":1}", &["{\"a\":1}"], false, &["ignored-line", "empty"]),
    ("more behind it", "{\"a\":1} x\n\n", &[], false, &["ignored-line", "empty"]),
    ("no scalar", "12\n\n", &[], false, &["ignored-line", "empty"]),
];

#[test]
fn lost_values() {
    for &(what, body, recovered, glued, ids) in CASES {
        let outcome = sse(body);
        let [frame] = &*outcome.frames else { panic!("{what}: {:?}", outcome.frames) };
        assert_eq!((texts(&frame.recovered), frame.glued), (recovered.to_vec(), glued), "{what}");
        assert_eq!(outcome.ids(), ids, "{what}");
    }
}

/// A value does not reach over a blank line.
#[test]
fn a_blank_line_ends_bare_json() {
    let outcome = sse("{\"a\":\n\n1}\n\n");
    assert!(outcome.frames.iter().all(|frame| frame.recovered.is_empty()), "{outcome:?}");
}

/// An error that old llama.cpp servers write where a field's name belongs.
#[test]
fn an_error_in_the_place_of_a_field() {
    for (body, error) in [
        ("error: {\"code\":400}\n\n", Some("{\"code\":400}")),
        ("error:\"text\"\n\n", Some("\"text\"")),
        ("error: text\n\n", None),
        ("Error: {\"code\":400}\n\n", None),
        ("error\n\n", None),
    ] {
        let outcome = sse(body);
        assert_eq!(outcome.frames[0].error.as_ref().map(Data::as_str), error, "{body:?}");
        assert_eq!(outcome.lines("ignored-line"), [Some(1)], "{body:?}");
    }
}

/// The end of a body in the middle of a frame: whole or cut, with the cut part's bytes.
#[test]
fn the_last_frame() {
    for (body, kind) in [
        ("data: {\"a\":1}", Some(Kind::Unterminated { array: false })),
        ("data: {\"a\":1}\n", Some(Kind::Unterminated { array: false })),
        ("data: [DONE]", Some(Kind::Unterminated { array: false })),
        ("data:  [DONE]\t", Some(Kind::Unterminated { array: false })),
        ("data: [DONE] bye", Some(Kind::Cut { bytes: 16 })),
        ("data: {\"a\":", Some(Kind::Cut { bytes: 11 })),
        ("data: 1\n\nevent: x\ndata: {\"a\":\n", Some(Kind::Cut { bytes: 21 })),
        ("data:", Some(Kind::Cut { bytes: 5 })),
        ("data: 1\n\nid: 1", None),
        ("data: 1\n\n: c", None),
        ("data: 1\n\nevent: x", None), // the assembler's affair
    ] {
        let outcome = sse(body);
        assert_eq!(outcome.kinds().first().copied(), kind.as_ref(), "{body:?}");
        let last = outcome.frames.last().expect("a frame");
        assert!(!last.terminated && !last.dispatched, "{body:?}");
        if let Some(finding) = outcome.findings.list().first() {
            let place = finding.place;
            assert_eq!(
                (place.frame, place.line, place.offset),
                (Some(last.index), Some(last.line), Some(last.offset))
            );
        }
    }
}

#[test]
fn crlf_needs_every_line() {
    for (body, crlf) in [
        ("data: 1\r\n\r\n", true),
        ("data: 1\r\n\r", true),
        ("data: 1\r", true),
        ("data: 1\r\n\r\ndata: 2", true),
        ("data: 1\r\n\n", false),
        ("data: 1\n\r\n", false),
        ("data: 1\r\r", false),
        ("data: 1\r\r\n", false),
        ("data: 1\n\n", false),
        ("data: 1", false),
        ("", false),
    ] {
        assert_eq!(sse(body).ids().contains(&"crlf"), crlf, "{body:?}");
    }
}

/// `FORMATS.md` G.10.
#[test]
fn the_example() {
    let body = ": hello\ndata: a\ndata: b\nid: 7\n\nevent: x\ndata:1\n\ndata:\n\nevent: lonely\n\nretry: 100\n\n";
    let outcome = sse(body);
    let dispatched: Vec<(&str, &str)> = outcome
        .frames
        .iter()
        .filter(|frame| frame.dispatched)
        .map(|frame| {
            (
                frame.event.as_deref().unwrap_or("message"),
                frame.data.as_ref().map_or("", Data::as_str),
            )
        })
        .collect();
    assert_eq!(dispatched, [("message", "a\nb"), ("x", "1"), ("message", "")]);
    assert_eq!(outcome.ids(), [""; 0]);
    assert_eq!(outcome.comments, 1);
    let frame = |index: u64, offset, length, line, lines| Frame {
        index,
        offset,
        length,
        line,
        lines,
        terminated: true,
        ..Frame::default()
    };
    let expected = [
        Frame {
            data: Some("a\nb".into()),
            id: Some("7".into()),
            comments: vec!["hello".into()],
            dispatched: true,
            ..frame(0, 0, 30, 1, 4)
        },
        Frame {
            data: Some("1".into()),
            event: Some("x".into()),
            dispatched: true,
            ..frame(1, 31, 16, 6, 2)
        },
        Frame { data: Some("".into()), dispatched: true, ..frame(2, 48, 6, 9, 1) },
        Frame { event: Some("lonely".into()), ..frame(3, 55, 14, 11, 1) },
        Frame { retry: Some(100), ..frame(4, 70, 11, 13, 1) },
    ];
    assert_eq!(outcome.frames, expected);
}

/// Comments are kept without their colon and one space, and counted.
#[test]
fn comments() {
    let outcome = sse(": a\n:b\n:  c\n:\n:d: e\n\n: f\n\ndata: 1\n: g\n\n");
    let comments: Vec<Vec<String>> =
        outcome.frames.iter().map(|frame| frame.comments.clone()).collect();
    assert_eq!(comments, [vec!["a", "b", " c", "", "d: e"], vec!["f"], vec!["g"]]);
    assert_eq!(outcome.comments, 7);
    assert_eq!(outcome.ids(), [""; 0]);
}

/// The last valid `id` and `retry` of a block count, and the last `event`.
#[test]
fn fields() {
    for (body, id, retry, event) in [
        ("id: 1\nid: 2\nretry: 3\nretry: 4\nevent: a\nevent: b", Some("2"), Some(4), Some("b")),
        ("id: 1\nid: 2\0\nretry: 3\nretry: x\nevent: a\nevent", Some("1"), Some(3), Some("")),
        ("id\nretry\nevent:", Some(""), None, Some("")),
        ("retry: 18446744073709551615", None, Some(u64::MAX), None),
        // Longer than any counter: as long as there is.
        ("retry: 18446744073709551616", None, Some(u64::MAX), None),
        ("retry: 99999999999999999999999", None, Some(u64::MAX), None),
        ("data: 1", None, None, None),
    ] {
        let outcome = sse(&format!("{body}\n\n"));
        let frame = &outcome.frames[0];
        assert_eq!(
            (frame.id.as_deref(), frame.retry, frame.event.as_deref()),
            (id, retry, event),
            "{body:?}"
        );
    }
}

/// An ignored line is named with its place and its start.
#[test]
fn ignored_lines_are_named() {
    let outcome = sse(&format!("data: 1\n\ndata: 2\nx{}\n\n", "é".repeat(100)));
    let finding = outcome.listed("ignored-line")[0];
    assert_eq!(
        (finding.place.frame, finding.place.line, finding.place.offset),
        (Some(1), Some(4), Some(17))
    );
    let text = format!("x{}…", "é".repeat(79));
    assert_eq!(finding.kind, Kind::IgnoredLine { text, event_only: false });
}
